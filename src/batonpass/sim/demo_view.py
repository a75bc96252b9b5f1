"""How the demo looks: pure functions from a scene to what a terminal shows."""

import math

from rich.console import Group, RenderableType
from rich.text import Text

from batonpass.cli.words import tokens
from batonpass.cycle.moves import Step
from batonpass.ladder import NORMAL, PRESETS
from batonpass.sim.demo_scene import Point, Scene

RUNGS = [(rung.percent, rung.zone) for rung in PRESETS["graduated"].rungs if rung.percent is not None]
COLOURS = {
    NORMAL: "#6cc070",
    "monitoring": "#4db6c4",
    "warning": "#e3b341",
    "critical": "#ee8a3c",
    "mandatory": "#e5534b",
    "forced": "#b62f5a",
    "unknown": "#8b949e",
}
DIM = "#6e7681"
ACCENT = "#b392f0"
GOOD = "#6cc070"
BAD = "#e5534b"
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_EIGHTHS = " ▁▂▃▄▅▆▇█"

# The ten steps of a passing that goes well, for somebody who sees them for the first time.
MEANING = {
    Step.PREPARE: "facts, and a first draft",
    Step.SAFE_POINT: "the turn is over",
    Step.ASK: "ask the agent for its handoff",
    Step.AWAIT: "the agent writes it",
    Step.CHECK: "compare it with git and facts",
    Step.SEAL: "checksummed, on disk for good",
    Step.PASS: "/clear: a new conversation",
    Step.PRIME: "hand it over, and the kick",
    Step.VERIFY: "the successor's receipt",
    Step.CLOSE: "the records are in order",
}


def zone_at(percent: float) -> str:
    """The zone that this share of the window lies in."""
    return next((zone for at, zone in reversed(RUNGS) if percent >= at), NORMAL)


def ladder_bar(percent: float | None, width: int) -> Text:
    """The bar, each cell in the colour of its zone, and below it the rungs."""
    full = 0 if percent is None else math.ceil(min(percent, 100.0) * width / 100)
    bar = Text()
    for cell in range(width):
        colour = COLOURS[zone_at(100 * (cell + 0.5) / width)]
        bar.append("█" if cell < full else "░", colour if cell < full else f"dim {colour}")
    marks = [" "] * (width + 3)
    for at, _ in RUNGS:
        place = round(at * width / 100)
        marks[place : place + 2] = f"{at:.0f}"
    return Text("\n").join([bar, Text("".join(marks)[:width].rstrip(), DIM)])


def figures(scene: Scene) -> Text:
    """Percent, zone and state; tokens and forecast."""
    row = scene.session
    if row is None or row["percent"] is None:
        state = row["state"] if row else "not started"
        return Text.assemble(("  ? %", f"bold {COLOURS['unknown']}"), (f"   {state}", DIM), "\n")
    colour = COLOURS.get(row["zone"], COLOURS["unknown"])
    used, usable = tokens(row["used"]), tokens(row["usable"])
    ahead = row["forecast"]
    left = ""
    if ahead and ahead["messages_left"] is not None:
        left = f" · about {ahead['messages_left']:.0f} messages left"
    return Text.assemble(
        (f"{row['percent']:3.0f} %", f"bold {colour}"), (f"  {row['zone']}", colour), (f"  {row['state']}", DIM),
        (f"\n{used} of {usable} usable tokens{left}", DIM),
    )  # fmt: skip


def chart(climb: tuple[Point, ...], width: int, rows: int = 10) -> Text:
    """The readings as columns, in the colours of their zones; a dashed line where a new conversation begins."""
    columns = _columns(climb)[-max(1, (width - 4) // 2) :]
    lines = []
    for row in reversed(range(rows)):
        low, high = 100 * row / rows, 100 * (row + 1) / rows
        rung = next((at for at, _ in RUNGS if low <= at < high), None)
        line = Text(f"{rung:3.0f}┤" if rung is not None else "   │", DIM)
        for percent in columns:
            if percent is None:
                line.append("╎ ", DIM)
                continue
            eighths = round(8 * min(1.0, max(0.0, (percent - low) / (high - low))))
            line.append(_EIGHTHS[eighths] * 2, COLOURS[zone_at(percent)])
        lines.append(line)
    return Text("\n").join([*lines, Text("   └" + "─" * (width - 4), DIM)])


def _columns(climb: tuple[Point, ...]) -> list[float | None]:
    columns: list[float | None] = []
    before = ""
    for point in climb:
        if before and point.agent_session != before:
            columns.append(None)
        columns.append(point.percent)
        before = point.agent_session
    return columns


def steps(scene: Scene, *, compact: bool = False) -> Text:
    """The ten steps: done, under way, still to come; in two columns when `compact`."""
    lines = [_step(scene, step, compact=compact) for step in MEANING]
    if not compact:
        return Text("\n").join(lines)
    half = len(lines) // 2
    pairs = zip(lines[:half], lines[half:], strict=True)
    return Text("\n").join(Text.assemble(left, "   ", right) for left, right in pairs)


def _step(scene: Scene, step: Step, *, compact: bool) -> Text:
    name = f"{step.replace('_', ' '):<11}"
    row = scene.step(step)
    meaning = ("" if compact else f"  {MEANING[step]}", DIM)
    if row is None:
        return Text.assemble((f"· {name}        ", DIM), meaning)
    took = f"{row['seconds'] or 0.0:5.2f} s"
    if row["state"] == "ok":
        return Text.assemble(("✔ ", GOOD), name, (f" {took}", GOOD), meaning)
    if row["state"] == "running":
        spin = SPINNER[int(scene.seconds * 5) % len(SPINNER)]
        return Text.assemble((f"{spin} {name}", f"bold {ACCENT}"), (f" {took}", ACCENT), meaning)
    return Text.assemble((f"↻ {name}", COLOURS["warning"]), (f" {took}", COLOURS["warning"]), meaning)


def outcome(scene: Scene, width: int) -> Text:
    """The sealed handoff, the two conversations, the receipt; each as soon as it is there."""
    cycle, row = scene.cycle, scene.session
    lines = []
    if cycle and cycle["document"]:
        lines.append(("handoff", _tail(cycle["document"], row["project"] if row else "", width - 9), GOOD))
    new = cycle.get("new_agent_session") if cycle else None
    if cycle and new:
        old = str(cycle.get("old_agent_session"))
        lines.append(("session", f"{old[:8]} ▸ /clear ▸ {str(new)[:8]}", GOOD))
    if scene.done(Step.VERIFY):
        lines.append(("receipt", "accepted", GOOD))
    return Text("\n").join(Text.assemble((f"{name:<9}", DIM), (text, colour)) for name, text, colour in lines)


def _tail(path: str, project: str, width: int) -> str:
    short = path.removeprefix(project).lstrip("/")
    return short if len(short) <= width else "…" + short[-(width - 1) :]


def baton_view(scene: Scene, width: int, height: int) -> RenderableType:
    """Baton's side of the stage, in the room that there is."""
    parts: list[RenderableType] = [ladder_bar(scene.session["percent"] if scene.session else None, width)]
    if height < 20:
        return Group(*parts, figures(scene), steps(scene, compact=True), outcome(scene, width))
    parts += [figures(scene), Text()]
    if height >= 32:
        parts += [chart(scene.climb, width), Text()]
    title = f"passing the baton · cycle {scene.cycle['id']}" if scene.cycle else "the cycle, when it is due"
    return Group(*parts, Text(title, ACCENT if scene.cycle else DIM), steps(scene), Text(), outcome(scene, width))
