"""What it costs to know a session: following it while it works, and gathering its facts when the baton is passed.

    .venv/bin/python bench/facts.py [--megabytes N] [--lines N] [--json]

A busy session writes two lines a second. Its transcript is followed line by line; the processor time that this takes
is set against the time in which a session would have written them. Then the facts are gathered as at a handoff, from a
transcript of that size that was followed all along, and, beside it, from one that nobody has read yet.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from _common import Figures, Table, median, parser, show

from batonpass.agents.claude.record import parse
from batonpass.facts.kept import Kept
from batonpass.sim.corpus import transcript
from batonpass.sim.corpus_made import made
from batonpass.transcripts.tail import Tail

_LINES_A_SECOND = 2.0
_OUTPUT = 9_000  # characters of a tool's result: what makes transcripts large
_SESSIONS = 6
_AT = 1_800_000_000.0
_ROUNDS = 5


def busy(megabytes: float) -> Iterator[bytes]:
    """The lines of a long session: hundreds of prompts and thousands of tool calls, so many megabytes in all."""
    said = [line for seed in range(_SESSIONS) for line in transcript(made(seed)).splitlines(keepends=True)]
    fill = max(0, int(megabytes * 1e6 - sum(map(len, said))))
    pairs = fill // (_OUTPUT + 900)
    for number, line in enumerate(said):
        yield line
        for n in range(pairs * number // len(said), pairs * (number + 1) // len(said)):
            yield from _command(n)


def _command(number: int) -> Iterator[bytes]:
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(_AT - 500_000 + number))
    call = f"toolu_fill{number:06d}"
    use = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": f"rg -n ledger src/part_{number}"}}
    output = "\n".join(f"src/part_{number}.py:{n}: ledger.add(row[{n}], amount={n * 7})" for n in range(_OUTPUT // 50))
    result = {"type": "tool_result", "tool_use_id": call, "content": output}
    usage = {"input_tokens": 20_000, "output_tokens": 40}
    message = {"id": f"m{number}", "role": "assistant", "model": "m", "content": [use], "usage": usage}
    for kind, body in (("assistant", message), ("user", {"role": "user", "content": [result]})):
        line = {"type": kind, "timestamp": stamp, "sessionId": "s", "isSidechain": False, "message": body}
        yield json.dumps(line).encode() + b"\n"


def project(folder: Path) -> Path:
    """A repository with a commit and something changed."""
    (folder / "src").mkdir(parents=True)
    for n in range(200):
        (folder / "src" / f"part_{n}.py").write_text("LEDGER = 1\n", encoding="utf-8")
    who = ("-c", "user.name=Bench", "-c", "user.email=bench@example.invalid")
    for words in (("init", "-q", "-b", "main"), ("add", "."), (*who, "commit", "-q", "-m", "Begin")):
        subprocess.run(["git", *words], cwd=folder, check=True, timeout=30)
    (folder / "src" / "part_7.py").write_text("LEDGER = 2\n", encoding="utf-8")
    return folder


def followed(path: Path, kept: Kept, lines: list[bytes]) -> float:
    """Processor seconds for reading each of these lines as it comes."""
    spent = 0.0
    with open(path, "ab", buffering=0) as out:
        for line in lines:
            out.write(line)
            began = time.thread_time()
            kept.read()
            spent += time.thread_time() - began
    return spent


def gathered(kept: Kept) -> float:
    """Seconds from asking to having the facts."""
    began = time.perf_counter()
    kept.facts("claude", None, (), at=_AT)
    return time.perf_counter() - began


def run(megabytes: float, count: int) -> tuple[Table, Figures]:
    lines = list(busy(megabytes))
    count = min(count, len(lines) // 2)
    with tempfile.TemporaryDirectory(prefix="bf-") as folder:
        root = project(Path(folder) / "project")
        path = Path(folder) / "transcript.jsonl"
        path.touch()

        def fresh() -> Kept:
            return Kept(path, Tail(path, parse), root, lambda _: False)

        kept = fresh()
        followed(path, kept, lines[: len(lines) - count])
        spent = followed(path, kept, lines[len(lines) - count :])
        percent = 100 * spent / (count / _LINES_A_SECOND)
        warm = [_one_more(path, kept, lines[-1]) for _ in range(_ROUNDS)]
        cold = [gathered(fresh()) for _ in range(_ROUNDS)]
        size = path.stat().st_size / 1e6
    rows = [
        ["what", "measured", "aim"],
        ["following a session that writes 2 lines a second", f"{percent:.2f} % of a core", "under 5 %"],
        [f"facts at the handoff, {size:.0f} MB followed all along", f"{1000 * median(warm):.0f} ms", "under 150 ms"],
        ["the same, best of all rounds", f"{1000 * min(warm):.0f} ms", ""],
        [f"facts of {size:.0f} MB that nobody has read yet", f"{1000 * median(cold):.0f} ms", ""],
    ]
    return rows, {
        "ratio": round(median(warm) / median(cold), 4),
        "follow_percent": round(percent, 3),
        "facts_ms": round(1000 * median(warm), 1),
        "facts_best_ms": round(1000 * min(warm), 1),
        "cold_ms": round(1000 * median(cold), 1),
        "megabytes": round(size, 1),
        "lines": len(lines),
        "rounds": _ROUNDS,
    }


def _one_more(path: Path, kept: Kept, line: bytes) -> float:
    with open(path, "ab", buffering=0) as out:
        out.write(line)
    return gathered(kept)


def main() -> int:
    options = parser(__doc__ or "")
    options.add_argument("--megabytes", type=float, default=100.0)
    options.add_argument("--lines", type=int, default=600, help="followed one by one, of the last ones")
    given = options.parse_args()
    return show(*run(given.megabytes, given.lines), only_json=given.json)


if __name__ == "__main__":
    sys.exit(main())
