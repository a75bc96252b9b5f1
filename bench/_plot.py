"""Curves over time as one SVG that needs no font, script or network."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _GAP = 860, 120, 70, 24, 46, 46
_COLOURS = ("#2f6fb5", "#c4622d", "#3d8b57", "#8a5aa8")
_INK, _FAINT, _PAPER = "#4a4a48", "#dcdad4", "#fbfaf7"
_MOST_POINTS = 600
Scale = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Panel:
    """One set of axes: curves by their names, each a value for every time; None leaves a gap."""

    title: str
    curves: dict[str, Sequence[float | None]]


def svg(title: str, minutes: Sequence[float], panels: Sequence[Panel]) -> str:
    """The picture; `minutes` are the times of all curves."""
    height = _TOP + len(panels) * (_HEIGHT + _GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" '
        f'font-size="12" fill="{_INK}" role="img" aria-label="{escape(title)}">',
        f'<rect width="{_WIDTH}" height="{height}" rx="6" fill="{_PAPER}"/>',
        f'<text x="{_LEFT}" y="24" font-size="15" font-weight="bold">{escape(title)}</text>',
    ]
    for number, panel in enumerate(panels):
        parts += _panel(panel, minutes, _TOP + 18 + number * (_HEIGHT + _GAP), last=number == len(panels) - 1)
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: Panel, minutes: Sequence[float], top: float, *, last: bool) -> list[str]:
    most = _round_up(max((value for curve in panel.curves.values() for value in curve if value is not None), default=1))
    end = max(minutes, default=1.0) or 1.0
    bottom, right = top + _HEIGHT, _WIDTH - _RIGHT

    def x(minute: float) -> float:
        return _LEFT + (right - _LEFT) * minute / end

    def y(value: float) -> float:
        return bottom - _HEIGHT * value / most

    parts = [f'<text x="{_LEFT}" y="{top - 8}" font-weight="bold">{escape(panel.title)}</text>']
    for share in (0, 0.5, 1):
        height = y(most * share)
        parts.append(f'<path d="M{_LEFT} {height:.1f}H{right}" stroke="{_FAINT}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{height + 4:.1f}" text-anchor="end">{most * share:g}</text>')
    if last:
        for share in (0, 0.25, 0.5, 0.75, 1):
            where = f'x="{x(end * share):.1f}" y="{bottom + 18}"'
            parts.append(f'<text {where} text-anchor="middle">{end * share:.3g} min</text>')
    legend = right
    for index, (name, values) in reversed(list(enumerate(panel.curves.items()))):
        colour = _COLOURS[index % len(_COLOURS)]
        parts.append(f'<path d="{_line(minutes, values, x, y)}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        parts.append(f'<text x="{legend}" y="{top - 8}" text-anchor="end" fill="{colour}">{escape(name)}</text>')
        legend -= 8 * len(name) + 14
    return parts


def _line(minutes: Sequence[float], values: Sequence[float | None], x: Scale, y: Scale) -> str:
    every = max(1, len(minutes) // _MOST_POINTS)
    words, drawing = [], False
    for minute, value in list(zip(minutes, values, strict=True))[::every]:
        if value is None:
            drawing = False
            continue
        words.append(f"{'L' if drawing else 'M'}{x(minute):.1f} {y(value):.1f}")
        drawing = True
    return "".join(words)


def _round_up(value: float) -> float:
    """The next number with one leading digit, or two when that would waste half of the picture."""
    if value <= 0:
        return 1.0
    size = 10.0 ** (len(str(int(value))) - 1) if value >= 1 else 0.1
    steps = next(step for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * size >= value)
    return steps * size
