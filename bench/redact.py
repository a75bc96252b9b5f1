"""How long it takes to take the secrets out of a handoff of 20 KB, against one pass of a trivial pattern.

    .venv/bin/python bench/redact.py [--rounds N] [--json]

`ratio` is the median redaction to the median of the floor: the shortest pattern that looks at every letter.
`document_ms` must stay below 50.
"""

import hashlib
import re
import sys
import time
from collections.abc import Callable

from _common import Figures, interleave, median, parser, percentile, show

_SIZE = 20_000
_TRIVIAL = re.compile(r"\w+")


def document(secrets: bool = True) -> str:
    """A handoff as they are: prose, paths, commits and output, and a secret here and there."""
    lines, number = ["# Context Handoff", "", "## Current Task", ""], 0
    while sum(map(len, lines)) + len(lines) < _SIZE:
        number += 1
        digest = hashlib.sha256(str(number).encode()).hexdigest()
        lines += [
            f"- (P{number}) Make the reader of src/shop/reader_{number}.py keep a torn line for the next read.",
            f"- Commit {digest[:12]}: name the error after what the caller sees; see docs/adr/{number:03}-torn.md",
            f"  assert parse(line) == {{'id': '{digest[:8]}-{digest[8:12]}', 'at': {number * 7919}, 'state': 'idle'}}",
        ]
        if secrets and number % 10 == 0:
            lines += [f"export DB_PASSWORD={digest[:16]}", f"Authorization: Bearer {digest}", "mail ada@engine.co.uk"]
    return "\n".join(lines)[:_SIZE]


def timed(work: Callable[[], object]) -> Callable[[], float]:
    def run() -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    return run


def main() -> int:
    options = parser(__doc__ or "")
    options.add_argument("--rounds", type=int, default=30, help="times that each is run (30)")
    given = options.parse_args()
    from batonpass.handoff.redact import redact

    text, clean, line = document(), document(secrets=False), "cycle 7f3a91c2 waits in step ask for the store"
    times = interleave(
        {
            "floor": timed(lambda: _TRIVIAL.sub(lambda found: found[0], text)),
            "document": timed(lambda: redact(text)),
            "clean": timed(lambda: redact(clean)),
            "line": timed(lambda: redact(line)),
        },
        given.rounds,
    )
    ms = {name: 1000 * median(values) for name, values in times.items()}
    figures: Figures = {
        "rounds": given.rounds,
        "bytes": len(text.encode()),
        "taken_out": sum(redact(text)[1].values()),
        "ratio": round(ms["document"] / ms["floor"], 2),
        "document_ms": round(ms["document"], 2),
        "document_p99_ms": round(1000 * percentile(times["document"], 99), 2),
        "clean_document_ms": round(ms["clean"], 2),
        "line_ms": round(ms["line"], 3),
        "floor_ms": round(ms["floor"], 3),
    }
    table = [
        ["what", "median", "p99"],
        *(
            [name, f"{ms[key]:.2f} ms", f"{1000 * percentile(times[key], 99):.2f} ms"]
            for name, key in (
                ("20 KB with secrets", "document"), ("20 KB without", "clean"), ("one line of the log", "line"),
                ("floor: one trivial pass", "floor"),
            )
        ),
    ]  # fmt: skip
    return show(table, figures, only_json=given.json)


if __name__ == "__main__":
    sys.exit(main())
