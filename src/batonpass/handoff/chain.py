"""The chain: every handoff has a number and names its predecessor."""

from collections.abc import Iterable, Iterator, Sequence
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


def link(path: Path, holding: str = "") -> Link | None:
    """What a file says of its place in the chain; None when it cannot be read as a handoff, or lacks that text."""
    try:
        text = read_plain(path, follow=False).decode("utf-8")
        if holding not in text:
            return None
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


def is_intact(path: Path) -> bool:
    """Whether a sealed document is there as it was sealed."""
    try:
        return checksum_ok(read_plain(path, follow=False).decode("utf-8")) is True
    except (OSError, UnicodeDecodeError):
        return False


def links(layouts: Iterable[Layout]) -> Iterator[Link]:
    """Every handoff of these layouts, those in place before archived ones; what cannot be read as one is left out."""
    for layout in layouts:
        for path in (*layout.list(), *reversed(layout.archived())):
            if found := link(path):
                yield found


def last_of(layouts: Iterable[Layout], session: str) -> Path | None:
    """The latest handoff that a session wrote, wherever it lies by now: archived, or in another layout."""
    found = [each for layout in layouts for each in (_by(layout, session, layout.archived()),
                                                     _by(layout, session, layout.list())) if each]  # fmt: skip
    return max(found, key=lambda each: each[0])[1] if found else None


def _by(layout: Layout, session: str, paths: Sequence[Path]) -> tuple[int, Path] | None:
    """The last of these that the session wrote, with its number."""
    for path in reversed(paths):
        found = link(path, session)
        if found and found.session == session and _counts(layout, found):
            return found.number or 0, path
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
        if place and place.number is not None and _counts(layout, place):
            return place.number, path.name
    return None


def _counts(layout: Layout, place: Link) -> bool:
    """Only what is sealed; but people write into a document that is kept in place, and that breaks no chain."""
    return place.sealed or layout.name == "living"
