"""A screen cell by cell, with the attributes that tell a hint from what somebody typed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

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


def cells(rows: tuple[str, ...]) -> Iterator[list[Cell]]:
    """Each row as cells; attributes run on from row to row, as terminals send them."""
    dim = inverse = False
    for row in rows:
        found: list[Cell] = []
        position = 0
        while position < len(row):
            if match := _SGR.match(row, position):
                dim, inverse = _attributes(match.group(1), dim, inverse)
                position = match.end()
            elif match := _OTHER_ESCAPE.match(row, position):
                position = match.end()
            else:
                found.append(Cell(row[position], dim, inverse))
                position += 1
        yield found


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
