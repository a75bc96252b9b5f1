"""How the demo ends: the climb, the timeline of the ten steps, and what was proven."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from batonpass.cli.records import CycleRow
from batonpass.cli.words import moment
from batonpass.cycle.moves import Step
from batonpass.sim.demo_proof import Proof
from batonpass.sim.demo_scene import Scene
from batonpass.sim.demo_view import ACCENT, BAD, DIM, GOOD, MEANING, chart

_WIDEST = 44
_COLOURS = ("#4db6c4", "#b392f0")  # before the clear, and after it


def closing(scene: Scene, proofs: Sequence[Proof], width: int) -> RenderableType:
    """Everything that is left to say when the play is over, for a terminal of this width."""
    parts: list[RenderableType] = [_title("How full the context was, in percent of what is usable")]
    parts += [chart(scene.climb, 4 + 2 * (len(scene.climb) + 2)), Text()]
    if scene.cycle:
        headline = f"The ten steps, in {scene.cycle['seconds'] or 0.0:.1f} s"
        parts += [_title(headline), timeline(scene.cycle, max(8, min(_WIDEST, width - 58))), Text()]
    parts.append(_title("Checked, not claimed"))
    parts += [_proof(proof) for proof in proofs]
    return Group(*parts)


def timeline(cycle: CycleRow, width: int) -> Text:
    """The steps as bars on one axis of seconds, `width` cells long."""
    began = moment(cycle["started"]) or 0.0
    whole = max(cycle["seconds"] or 0.0, 0.001)
    after = False
    lines = []
    for row in cycle["steps"]:
        after = after or row["step"] == Step.PASS
        took = row["seconds"] or 0.0
        start = min(width - 1, max(0, round(((moment(row["started"]) or began) - began) / whole * width)))
        length = min(width - start, max(1, round(took / whole * width)))
        bar = " " * start + "━" * length + " " * (width - start - length)
        tries = f"  ×{row['attempts']}" if row["attempts"] > 1 else ""
        name, meaning = row["step"].replace("_", " "), MEANING.get(Step(row["step"]), "")
        figures = (f" {took:5.2f} s  ", "")
        lines.append(Text.assemble(f"  {name:<11}", (bar, _COLOURS[after]), figures, (meaning + tries, DIM)))
    return Text("\n").join(lines)


def _title(text: str) -> Text:
    return Text(text, f"bold {ACCENT}")


def _proof(proof: Proof) -> Text:
    sign, colour = ("✔", GOOD) if proof.ok else ("✘", BAD)
    return Text.assemble((f"  {sign} ", f"bold {colour}"), f"{proof.claim}\n", (f"      {proof.seen}", DIM))
