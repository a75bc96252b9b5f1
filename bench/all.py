"""Run every benchmark and, with --write, put its table into docs/benchmarks.md.

    .venv/bin/python bench/all.py [--write] [--json] [NAME ...]

The figures are honest only on a machine that does nothing else: the load is written down beside them.
"""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

from _common import ROOT, Figures, environment, machine, parser, show

PAGE = ROOT / "docs" / "benchmarks.md"
COMMANDS: dict[str, list[str]] = {
    "hook": ["hook.py", "--rounds", "60"],
    "cycle": ["cycle.py", "--rounds", "10"],
    "cycle-codex": ["cycle.py", "--agent", "codex", "--rounds", "10"],
    "cycle-gemini": ["cycle.py", "--agent", "gemini", "--rounds", "10"],
    "cycle-opencode": ["cycle.py", "--agent", "opencode", "--rounds", "10"],
    "cycle-scripted": ["cycle.py", "--agent", "scripted", "--rounds", "10"],
    "latency": ["latency.py"],
    "facts": ["facts.py"],
    "continuity": ["continuity.py", "--seed", "1"],
    "continuity-7": ["continuity.py", "--seed", "7"],
    "continuity-11": ["continuity.py", "--seed", "11"],
    "redact": ["redact.py"],
}
_SECONDS = 1_200


def run(name: str) -> tuple[str, Figures]:
    """What one benchmark printed for people, and its figures. Raises SystemExit with its own words."""
    argv = [sys.executable, str(ROOT / "bench" / COMMANDS[name][0]), *COMMANDS[name][1:]]
    done = subprocess.run(argv, env=environment(), capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode:
        raise SystemExit(f"bench {name} failed: {done.stderr.strip() or done.stdout.strip()}")
    *lines, last = done.stdout.rstrip("\n").splitlines()
    return "\n".join(lines).strip(), json.loads(last)


def section(name: str, table: str, figures: Figures) -> str:
    """A block of the page, with the command that made it and where it was made."""
    where = ", ".join(f"{key} {value}" for key, value in machine().items())
    command = " ".join(["bench/" + COMMANDS[name][0], *COMMANDS[name][1:]])
    return f"`{command}` ({where})\n\n{table}\n\n```json\n{json.dumps(figures)}\n```"


def put(page: str, name: str, text: str) -> str:
    """The page with this block between its marks; a page without them is left as it is."""
    marks = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- /{re.escape(name)} -->)", re.DOTALL)
    return marks.sub(lambda found: f"{found[1]}{text}\n{found[2]}", page)


def main() -> int:
    options = parser(__doc__ or "")
    options.add_argument("--write", action="store_true", help="put the tables into docs/benchmarks.md")
    options.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(COMMANDS)}; all if none is given")
    options.add_argument("--names-only", action="store_true", help="run nothing, say which there are")
    given = options.parse_args()
    if given.names_only:
        return show([["benchmark"], *([name] for name in COMMANDS)], {"names": list(COMMANDS)}, only_json=given.json)
    wanted = given.names or list(COMMANDS)
    if unknown := [name for name in wanted if name not in COMMANDS]:
        options.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(COMMANDS)}")
    found: Figures = {}
    rows = [["benchmark", "ratio to the floor", "seconds"]]
    for name in wanted:
        began = time.monotonic()
        table, figures = run(name)
        found[name] = figures
        ratio = f"{figures['ratio']:.2f}" if "ratio" in figures else "-"  # recall has no floor
        rows.append([name, ratio, f"{time.monotonic() - began:.0f}"])
        if given.write:
            _write(PAGE, name, section(name, table, figures))
        if not given.json:
            print(f"{name}\n{table}\n")
    return show(rows, found, only_json=given.json)


def _write(page: Path, name: str, text: str) -> None:
    page.write_text(put(page.read_text(encoding="utf-8"), name, text), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
