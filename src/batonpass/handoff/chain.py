"""The chain: every handoff has a number and names its predecessor."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from batonpass.disk import read_plain
from batonpass.handoff.layouts.base import Layout
from batonpass.handoff.markdown import NotAHandoff, parse
from batonpass.handoff.seal import checksum_ok


@dataclass(frozen=True, slots=True)
class Link:
    """One handoff, as its header tells."""

    path: Path
    number: int | None
    previous: str | None
    created: int | None
    session: str | None
    percent: float | None
    sealed: bool  # the checksum is there and right


def link(path: Path) -> Link | None:
    """What a file says of its place in the chain; None when it cannot be read as a handoff."""
    try:
        text = read_plain(path, follow=False).decode("utf-8")
        handoff = parse(text)
    except (OSError, UnicodeDecodeError, NotAHandoff):
        return None
    return Link(
        path,
        handoff.number,
        handoff.previous,
        handoff.created,
        handoff.session,
        handoff.percent,
        sealed=bool(checksum_ok(text)),
    )


def links(layout: Layout) -> list[Link]:
    """Every handoff of the layout, oldest first; files that cannot be read as one are left out."""
    return [found for path in layout.list() if (found := link(path))]


def last_of(layout: Layout, session: str) -> Path | None:
    """The handoff that a session began with: the latest sealed one that it, or its predecessor in its place, wrote."""
    for path in reversed(layout.list()):
        found = link(path)
        if found and found.sealed and found.session == session:
            return path
    return None


def following(layout: Layout) -> tuple[int, str | None]:
    """The number of the next handoff and the file name of its predecessor.

    Only sealed documents count: a draft that somebody put there, or one that was changed, gives no number.
    """
    return following_of([layout])


def following_of(layouts: Iterable[Layout]) -> tuple[int, str | None]:
    """As `following`, over several layouts: the chain goes on when the layout is changed."""
    last = [_last(layout, found) for layout in layouts for found in (layout.archived(), layout.list())]
    number, name = max((each for each in last if each), default=(0, None), key=lambda each: each[0])
    return number + 1, name


def _last(layout: Layout, found: Sequence[Path]) -> tuple[int, str] | None:
    """The number and name of the last of these handoffs that has one."""
    for path in reversed(found):
        place = link(path)
        # People write into a document that is kept in place; that breaks its seal and not its number.
        if place and place.number is not None and (place.sealed or layout.name == "living"):
            return place.number, path.name
    return None
