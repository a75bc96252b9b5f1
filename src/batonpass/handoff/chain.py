"""The chain: every handoff has a number and names its predecessor."""

from dataclasses import dataclass
from pathlib import Path

from batonpass.handoff.layouts.base import Layout


@dataclass(frozen=True, slots=True)
class Link:
    """One sealed handoff, as its header tells."""

    path: Path
    number: int | None
    previous: str | None
    created: int | None
    session: str | None
    percent: float | None
    sealed: bool  # the checksum is there and right


def links(layout: Layout) -> list[Link]:
    """Every handoff of the layout, oldest first; files that cannot be read as one are left out."""
    raise NotImplementedError


def following(layout: Layout) -> tuple[int, str | None]:
    """The number of the next handoff and the file name of its predecessor."""
    raise NotImplementedError
