"""How long a whole handoff takes, against the same steps by the barest possible script on the same agent and model.

    .venv/bin/python bench/cycle.py [--agent claude|codex|gemini|opencode|scripted] [--rounds N] [--json]

Both sides have one live session each and take turns. A round begins with the answer that crosses the threshold and
ends, for Baton, with the accepted receipt, and for the script with the end of the successor's first turn. The
model answers at once, so all that is measured is what happens between its answers.
"""

import contextlib
import sys
import time
from collections.abc import Mapping, Sequence

from _common import Figures, Table, median, parser, show
from _floor import Floor
from _floors import floor
from _ours import Ours
from _place import NAMES, Failed, model, place, program

from batonpass.cycle.moves import Step

_PROMPT = "Please go on with the work."
_REST_SECONDS = 0.5  # in which the other side's programs finish what they do after a round: both share the machine
_PARTS = (
    ("write", "crossed", "written", "ask, and the document is written"),
    ("clear", "written", "cleared", "check, seal, clear"),
    ("answer", "cleared", "answered", "kick, and the first answer"),
    ("all", "crossed", "answered", "the whole"),
)
Times = Sequence[Mapping[str, float]]


def race(agent: str, rounds: int) -> tuple[Times, Times]:
    """The times of Baton and of the floor, from rounds that took turns."""
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(model(agent)) if agent in NAMES else None
        places = [stack.enter_context(place(agent, url)) for _ in range(2)]
        sides: tuple[Ours | Floor, ...] = (Ours(places[0]), floor(places[1]))
        for side in sides:
            stack.callback(side.close)
            side.start()
        taken: tuple[list[dict[str, float]], ...] = ([], [])
        for number in range(rounds + 1):
            for side, where, times in zip(sides, places, taken, strict=True):
                where.progress(number)
                time.sleep(_REST_SECONDS)
                found = side.round(_PROMPT)
                if number:  # the first one warms both sides up
                    times.append(found)
    return taken[0], taken[1]


def _spans(times: Times, begin: str, end: str) -> list[float]:
    return [one[end] - one[begin] for one in times]


def report(agent: str, ours: Times, floor: Times) -> tuple[Table, Figures]:
    """Medians of all rounds, and the best round beside them."""
    rows = [["part", "Baton s", "best", "script s", "best", "ratio"]]
    parts: dict[str, list[float]] = {}
    for name, begin, end, words in _PARTS:
        a, b = _spans(ours, begin, end), _spans(floor, begin, end)
        parts[name] = [round(median(a), 3), round(median(b), 3)]
        figures = (median(a), min(a), median(b), min(b), median(a) / median(b))
        rows.append([words, *(f"{figure:.2f}" for figure in figures)])
    a, b = _spans(ours, "crossed", "answered"), _spans(floor, "crossed", "answered")
    found = {step: median([one[f"step {step}"] for one in ours if f"step {step}" in one] or [0.0]) for step in Step}
    return rows, {
        "ratio": round(median(a) / median(b), 3),
        "best_ratio": round(min(a) / min(b), 3),
        "baton_s": round(median(a), 3),
        "floor_s": round(median(b), 3),
        "rounds": len(ours),
        "agent": agent,
        "parts": parts,
        "steps": {str(step): round(seconds, 3) for step, seconds in found.items() if seconds},
        "before_cycle_s": round(median(_spans(ours, "crossed", "opened")), 3),
    }


def main() -> int:
    options = parser(__doc__ or "")
    options.add_argument("--agent", choices=(*NAMES, "scripted"), default="claude")
    options.add_argument("--rounds", type=int, default=10)
    given = options.parse_args()
    if given.agent in NAMES and program(given.agent) is None:
        raise Failed(f"{NAMES[given.agent]} is not installed; run scripts/agents, or take --agent scripted.")
    table, figures = report(given.agent, *race(given.agent, given.rounds))
    return show(table, figures, only_json=given.json)


if __name__ == "__main__":
    sys.exit(main())
