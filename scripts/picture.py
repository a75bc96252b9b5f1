"""Run the demo in a private tmux, keep its telling moments, and draw them as one SVG that needs no font or network."""

import re
import sys
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape

from rich.cells import cell_len
from rich.color import Color
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from batonpass.sim.tmux_server import private_tmux, run_tmux

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "pictures" / "demo.svg"
COLUMNS, ROWS = 120, 40
CELL, LINE, FONT = 8.4, 18.0, 14
MARGIN, BAR = 14.0, 34.0
SECONDS = 3.0  # for which each moment is shown
PATIENCE = 240.0
INK, PAPER = "#d0d7de", "#0d1117"
# What a moment shows; the first one is also the picture where nothing moves.
MOMENTS = (
    r"works on, by itself.*receipt +accepted",
    r"Checked, not claimed",
    r"Prompt 1.* (17|22|27) %",
    r"Prompt 3.* (46|51|56) %",
    r"The agent writes its handoff",
    r"/clear: the old conversation ends",
    r"The successor states what it took over",
)
THEME = TerminalTheme(
    (13, 17, 23), (208, 215, 222),
    [(72, 79, 88), (229, 83, 75), (108, 192, 112), (227, 179, 65),
     (88, 166, 255), (179, 146, 240), (77, 182, 196), (208, 215, 222)],
    [(110, 118, 129), (255, 123, 114), (126, 231, 135), (242, 204, 96),
     (121, 192, 255), (210, 168, 255), (118, 227, 234), (240, 246, 252)],
)  # fmt: skip
# Which sides of its cell a line leaves by: left, right, up, down.
STROKES = {
    "─": "lr", "━": "lr", "╌": "lr", "│": "ud", "╎": "ud", "┤": "lud", "├": "rud", "┬": "lrd", "┴": "lru",
    "╭": "rd", "╮": "ld", "╰": "ru", "╯": "lu", "┌": "rd", "┐": "ld", "└": "ru", "┘": "lu", "⎿": "ru",
}  # fmt: skip


def captured(agent: str) -> list[str]:
    """What the terminal showed while the demo ran, with its colours, each picture once."""
    frames: list[str] = []
    demo = f"{sys.executable} -m batonpass._entry demo --agent {agent}"
    command = f"COLORTERM=truecolor {demo}; echo exit $?; read _"
    with private_tmux() as socket:
        size = ("-x", str(COLUMNS), "-y", str(ROWS))
        run_tmux(socket, "set-option", "-g", "default-terminal", "screen-256color")
        run_tmux(socket, "new-session", "-d", *size, "sh", "-c", command)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and not (frames and "\nexit " in plain(frames[-1])):
            frame = run_tmux(socket, "capture-pane", "-e", "-p")
            if not frames or frames[-1] != frame:
                frames.append(frame)
            time.sleep(0.1)
    return frames


# Signs that few fonts have, by ones that most have.
COMMON = str.maketrans("⏵⏺✻✽", "▸●✳✳")


def plain(frame: str) -> str:
    return Text.from_ansi(frame).plain


def chosen(frames: list[str]) -> list[str]:
    """The last picture of each moment."""
    found = []
    for moment in MOMENTS:
        matching = [frame for frame in frames if re.search(moment, plain(frame), re.DOTALL)]
        if not matching:
            sys.exit(f"The demo never showed “{moment}”; its last picture was:\n{plain(frames[-1])}")
        found.append(re.sub(r"exit \d+", "", matching[-1]).translate(COMMON))
    return found


def colour(value: Color | None, otherwise: str) -> str:
    if value is None or value.is_default:
        return otherwise
    return value.get_truecolor(THEME).hex


def drawn(frame: str) -> Iterator[str]:
    """The shapes of one picture."""
    for row, line in enumerate(Text.from_ansi(frame).split("\n")[:ROWS]):
        column = 0
        for style, run in groupby(cells(line), key=lambda cell: cell[1]):
            text = "".join(character for character, _ in run)
            yield from run_of(text, style, MARGIN + column * CELL, BAR + row * LINE)
            column += cell_len(text)


def cells(line: Text) -> Iterator[tuple[str, Style]]:
    styles = [Style()] * len(line)
    for start, end, style in line.spans:
        if isinstance(style, Style):
            styles[start:end] = [before + style for before in styles[start:end]]
    yield from zip(line.plain, styles, strict=True)


def run_of(text: str, style: Style, x: float, y: float) -> Iterator[str]:
    ink, paper = colour(style.color, INK), colour(style.bgcolor, PAPER)
    if style.reverse:
        ink, paper = paper, ink
    if paper != PAPER:
        yield f'<rect x="{x:.1f}" y="{y:.1f}" width="{cell_len(text) * CELL:.1f}" height="{LINE}" fill="{paper}"/>'
    look = (' class="b"' if style.bold else "") + (' opacity=".6"' if style.dim else "")
    for kind, group in groupby(text, key=kind_of):
        part = "".join(group)
        width = cell_len(part) * CELL
        if kind == "block":
            yield from blocks(part, ink, x, y, look)
        elif kind == "stroke":
            yield strokes(part, ink, x, y)
        elif kind == "ascii" and part.strip():
            size = f'textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs"'
            yield f'<text x="{x:.1f}" y="{y + 13.5:.1f}" fill="{ink}" {size}{look}>{escape(part)}</text>'
        elif kind == "other":
            for number, character in enumerate(part):
                at = x + number * CELL
                yield f'<text x="{at:.1f}" y="{y + 13.5:.1f}" fill="{ink}"{look}>{escape(character)}</text>'
        x += width


def kind_of(character: str) -> str:
    if character == " ":
        return "space"
    if "▁" <= character <= "█" or character == "░":
        return "block"
    return "stroke" if character in STROKES else "ascii" if character.isascii() else "other"


def blocks(part: str, ink: str, x: float, y: float, look: str) -> Iterator[str]:
    """Bars: drawn, so that they touch whatever the font is."""
    for character, group in groupby(part):
        width = len(list(group)) * CELL
        share = 1.0 if character == "░" else (ord(character) - ord("▁") + 1) / 8
        height, faint = share * LINE, ' opacity=".22"' if character == "░" else look
        place = f'x="{x:.1f}" y="{y + LINE - height:.2f}" width="{width:.1f}" height="{height:.2f}"'
        yield f'<rect {place} fill="{ink}"{faint} shape-rendering="crispEdges"/>'
        x += width


def strokes(part: str, ink: str, x: float, y: float) -> str:
    ends = {"l": "h-{w:.1f}", "r": "h{w:.1f}", "u": "v-{h:.1f}", "d": "v{h:.1f}"}
    path = []
    for character, group in groupby(part):
        count = len(list(group))
        middle = y + LINE / 2
        if STROKES[character] == "lr":
            path.append(f"M{x:.1f} {middle:.1f}h{count * CELL:.1f}")
        else:
            for number in range(count):
                centre = f"M{x + (number + 0.5) * CELL:.1f} {middle:.1f}"
                path += [centre + ends[side].format(w=CELL / 2, h=LINE / 2) for side in STROKES[character]]
        x += count * CELL
    dashes = ' stroke-dasharray="3 3"' if "╎" in part or "╌" in part else ""
    width = 3.2 if "━" in part else 1.2
    return f'<path d="{"".join(path)}" fill="none" stroke="{ink}" stroke-width="{width}"{dashes}/>'


def svg(frames: list[str]) -> str:
    """All moments in one picture: each in its turn, the first one where nothing may move."""
    width, height = 2 * MARGIN + COLUMNS * CELL, BAR + ROWS * LINE + MARGIN
    share = 100 / len(frames)
    whole = SECONDS * len(frames)
    rules = [f".m{n}{{animation-delay:{n * SECONDS - whole if n else 0:g}s}}" for n in range(len(frames))]
    groups = [f'<g class="m m{n}">\n' + "\n".join(drawn(frame)) + "\n</g>\n" for n, frame in enumerate(frames)]
    dots = enumerate(("#ff5f57", "#febc2e", "#28c840"))
    lights = [f'<circle cx="{20 + 18 * n}" cy="17" r="5.5" fill="{ink}"/>' for n, ink in dots]
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img">
<title>baton demo: an agent climbs the ladder, writes its handoff, is cleared, and its successor goes on</title>
<style>
text{{font:{FONT}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}}
.b{{font-weight:bold}}
.m{{visibility:hidden;animation:m {whole:g}s step-end infinite}}
.m0{{visibility:visible}}
{"".join(rules)}
@keyframes m{{0%{{visibility:visible}}{share:.3f}%{{visibility:hidden}}}}
@media(prefers-reduced-motion:reduce){{.m{{animation:none}}}}
</style>
<rect width="100%" height="100%" rx="10" fill="{PAPER}" stroke="#30363d"/>
{"".join(lights)}
<text x="{width / 2:.0f}" y="22" fill="#8b949e" text-anchor="middle">baton demo</text>
{"".join(groups)}
</svg>
"""


def main() -> None:
    agent = sys.argv[1] if len(sys.argv) > 1 else "claude"
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(svg(chosen(captured(agent))), encoding="utf-8")
    print(f"{TARGET.relative_to(ROOT)}: {TARGET.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
