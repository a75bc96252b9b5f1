"""Where the demo is shown: a live picture in a terminal, lines one after the other elsewhere."""

import contextlib
from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.layout import Layout
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from batonpass.cycle.moves import Step
from batonpass.sim.demo_play import Show
from batonpass.sim.demo_scene import Scene
from batonpass.sim.demo_view import ACCENT, COLOURS, DIM, GOOD, MEANING, baton_view, zone_at

_BATON_WIDTH = 56
_STACKED_ROWS = 14
_LEAST_ROWS = 30  # of the agent's pane, also where only its end can be shown: agents need room for their box


@contextlib.contextmanager
def show_on(console: Console) -> Iterator[tuple[Show, int, int]]:
    """The show that suits this console, and the size of the agent's pane in it."""
    if not console.is_terminal or console.is_dumb_terminal:
        yield PlainShow(console), 100, 30
        return
    stacked = _stacked(console)
    width = console.width - 4 - (0 if stacked else _BATON_WIDTH)
    height = console.height - 4 - (_STACKED_ROWS if stacked else 0)
    with Live(console=console, screen=True, auto_refresh=False, vertical_overflow="crop") as live:
        yield LiveShow(live), max(width, 60), max(height, _LEAST_ROWS)


def _stacked(console: Console) -> bool:
    return console.width < 2 * _BATON_WIDTH


class LiveShow:
    """The agent's pane and Baton's view, drawn anew at every look."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def show(self, scene: Scene) -> None:
        self._live.update(frame(scene, self._live.console), refresh=True)


def frame(scene: Scene, console: Console) -> RenderableType:
    """The whole picture."""
    stacked = _stacked(console)
    width = (console.width if stacked else _BATON_WIDTH) - 4
    height = (_STACKED_ROWS if stacked else console.height - 2) - 2
    rows = console.height - 4 - (_STACKED_ROWS if stacked else 0)
    theirs = Layout(Panel(_pane(scene.screen, rows), title=scene.agent, title_align="left", border_style=DIM))
    ours = Layout(
        Panel(baton_view(scene, width, height), title="Baton", title_align="left", border_style=ACCENT),
        size=_STACKED_ROWS if stacked else _BATON_WIDTH,
    )
    body = Layout()
    (body.split_column if stacked else body.split_row)(theirs, ours)
    whole = Layout()
    whole.split_column(Layout(_heading(scene), size=2), body)
    return whole


def _heading(scene: Scene) -> RenderableType:
    title = Text.assemble(
        (" Baton ", f"bold reverse {ACCENT}"), ("  a whole handoff, live", "bold"), (f"   {scene.seconds:5.1f} s", DIM)
    )
    caption = Text(f" {scene.caption}", no_wrap=True, overflow="ellipsis")
    return Group(title, caption)


def _pane(screen: str, rows: int) -> Text:
    """The end of the agent's screen, as far as there is room."""
    lines = Text.from_ansi(screen.rstrip()).split("\n")
    text = Text("\n").join(lines[-max(rows, 1) :])
    text.no_wrap, text.overflow = True, "crop"
    return text


class PlainShow:
    """One line for everything that is new since the last look."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last: Scene | None = None

    def show(self, scene: Scene) -> None:
        before, self._last = self._last, scene
        if before is None or scene.caption != before.caption:
            self._line(scene, Text(scene.caption, "bold"))
        for point in scene.climb[len(before.climb) if before else 0 :]:
            zone = zone_at(point.percent)
            full = round(point.percent * 40 / 100)
            bar = Text.assemble(("█" * full, COLOURS[zone]), ("░" * (40 - full), DIM))
            self._line(scene, Text.assemble(bar, (f" {point.percent:3.0f} %  {zone}", COLOURS[zone])))
        for step in MEANING:
            if scene.done(step) and not (before and before.done(step)):
                self._step(scene, step)

    def _step(self, scene: Scene, step: Step) -> None:
        row = scene.step(step)
        assert row is not None
        said = f"{step.replace('_', ' '):<11} {row['seconds'] or 0.0:5.2f} s  {MEANING[step]}"
        self._line(scene, Text.assemble(("✔ ", GOOD), said))
        if step is Step.SEAL and scene.cycle:
            self._line(scene, Text(f"    sealed: {scene.cycle['document']}", GOOD))
        if step is Step.PASS and scene.cycle:
            self._line(scene, Text(f"    new conversation: {scene.cycle.get('new_agent_session')}", GOOD))
        if step is Step.VERIFY:
            self._line(scene, Text("    receipt accepted", GOOD))

    def _line(self, scene: Scene, text: Text) -> None:
        self._console.print(Text.assemble((f"{scene.seconds:6.1f} s  ", DIM), text), soft_wrap=True)
