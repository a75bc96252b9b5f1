"""A screen cell by cell, with the attributes that tell a hint from what somebody typed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_SGR = re.compile(r"\x1b\[([0-9;:]*)m")
_OTHER_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")


@dataclass(frozen=True, slots=True)
class Cell:
    char: str
    dim: bool
    inverse: bool


def plain(row: list[Cell]) -> str:
    """The text of a row of cells."""
    return "".join(cell.char for cell in row)


class _Drawn(dict[str, Cell]):
    """The cells of one set of attributes by their characters: a screen has thousands of cells, and few that differ."""

    def __init__(self, dim: bool, inverse: bool) -> None:
        super().__init__()
        self._attributes = dim, inverse

    def __missing__(self, char: str) -> Cell:
        cell = Cell(char, *self._attributes)
        if len(self) < _MOST_DRAWN:
            self[char] = cell
        return cell


_MOST_DRAWN = 4_096
_DRAWN = {(dim, inverse): _Drawn(dim, inverse) for dim in (False, True) for inverse in (False, True)}


def cells(rows: tuple[str, ...]) -> Iterator[list[Cell]]:
    """Each row as cells; attributes run on from row to row, as terminals send them."""
    dim = inverse = False
    for row in rows:
        found: list[Cell] = []
        position = 0
        while position < len(row):
            escape = row.find("\x1b", position)
            if escape != position:
                until = len(row) if escape < 0 else escape
                found += map(_DRAWN[dim, inverse].__getitem__, row[position:until])
                position = until
            elif match := _SGR.match(row, position):
                dim, inverse = _attributes(match.group(1), dim, inverse)
                position = match.end()
            elif match := _OTHER_ESCAPE.match(row, position):
                position = match.end()
            else:
                found.append(_DRAWN[dim, inverse][row[position]])
                position += 1
        yield found


@lru_cache(maxsize=1_024)
def _attributes(codes: str, dim: bool, inverse: bool) -> tuple[bool, bool]:
    numbers = iter(re.split("[;:]", codes))
    for number in numbers:
        match number:
            case "" | "0":
                dim = inverse = False
            case "2":
                dim = True
            case "22":
                dim = False
            case "7":
                inverse = True
            case "27":
                inverse = False
            case "38" | "48" | "58":  # a colour: its own numbers (5;n or 2;r;g;b) are no attributes
                for _ in range(1 if next(numbers, "") == "5" else 3):
                    next(numbers, "")
            case _:
                pass
    return dim, inverse
