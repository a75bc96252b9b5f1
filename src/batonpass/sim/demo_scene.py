"""What the demo shows at one moment, as plain values: made by the play, drawn by the views, kept by nobody."""

from dataclasses import dataclass

from batonpass.cli.records import CycleRow, SessionRow, StepRow
from batonpass.cycle.moves import Step


@dataclass(frozen=True, slots=True)
class Point:
    """One reading: how full the conversation was, and which conversation it was."""

    percent: float
    agent_session: str


@dataclass(frozen=True, slots=True)
class Scene:
    """One moment of the play."""

    agent: str  # in words, with its version where it is known
    seconds: float  # since the curtain rose
    caption: str  # what is happening, in one line
    screen: str  # the agent's pane with its colours, rows separated by newlines
    session: SessionRow | None
    cycle: CycleRow | None
    climb: tuple[Point, ...]

    def step(self, step: Step) -> StepRow | None:
        """The row of a step of the cycle; None when it has not begun."""
        rows = self.cycle["steps"] if self.cycle else []
        return next((row for row in rows if row["step"] == step), None)

    def done(self, step: Step) -> bool:
        """Whether a step has ended well."""
        row = self.step(step)
        return row is not None and row["state"] == "ok"
