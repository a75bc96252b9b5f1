"""The head and the last line of the document: who, when, how full, which number."""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeAlias

from batonpass.handoff.document import FIELDS, Handoff
from batonpass.untrusted import count

Value: TypeAlias = str | int | float | None

_FIELD = re.compile(r"^\*\*([^*]+?)(?::\*\*|\*\*:)[ \t]*(.*)$")
_NUMBER = r"(\d[\d,]{0,17})"  # what is longer counts nothing, and is kept as it is written
_PERCENT = r"\(?(?P<percent>\d{1,6}(?:\.\d{1,6})?) ?%\)?"
_USAGES = (
    re.compile(rf"^(?P<used>)(?P<usable>){_PERCENT}$"),
    re.compile(
        rf"^(?:(?P<used>\d[\d,]{{0,17}})|unknown)(?: ?/ ?(?P<usable>\d[\d,]{{0,17}}))?(?: tokens)?(?: {_PERCENT})?$"
    ),
)
_LINK = re.compile(r"^(?:#(?P<number>\d{1,9}))?(?:, )?(?:previous: (?P<previous>.+))?$")
_TRAILER = re.compile(r"^<!-- baton: (\{.*\}) -->\s*$")
_NOBODY = {"unknown", "none"}


def lines(handoff: Handoff) -> list[str]:
    """The fields of the header that are known, as markdown lines."""
    written = {
        "Created": None if handoff.created is None else _moment(handoff.created),
        "Handoff": _link(handoff),
        "Previous Instance": handoff.agent_session or "unknown",
        "Session": handoff.session,
        "Agent": handoff.agent,
        "Context Usage": _usage(handoff),
        "Window": None if handoff.window is None else f"{handoff.window:,} tokens",
        "Project": handoff.project,
        "Current Epic": handoff.epic,
        "Branch": handoff.branch,
        "Reason": handoff.reason,
    }
    own = [(name, written[name]) for name in FIELDS]
    return [f"**{name}**: {value}" for name, value in (*own, *handoff.headers) if value is not None]


def read(top: Iterable[tuple[str, bool]]) -> Handoff:
    """A document that has only its head, from the lines before the first section.

    A field of the standard header that cannot be understood is kept as it is written, under another name.
    """
    known: dict[str, Value] = {}
    title: str | None = None
    others: list[tuple[str, str]] = []
    loose: list[str] = []
    for line, plain in top:
        found = _FIELD.match(line) if plain else None
        if plain and title is None and re.match(r"^#(\s|$)", line):
            title = line[1:].strip()
        elif found:
            _take(found[1].strip(), found[2].strip(), known, others)
        else:
            loose.append(line)
    # The names in `known` come from _READERS, which names fields of Handoff only.
    return replace(
        Handoff(),
        **known,  # type: ignore[arg-type]
        title=title or "Context Handoff",
        headers=tuple(others),
        preamble="\n".join(loose),
    )


def trailer(handoff: Handoff) -> str | None:
    """The last line: number and checksum for machines; None for a document that has neither."""
    if handoff.number is None and handoff.checksum is None:
        return None
    return f"<!-- baton: {json.dumps({'number': handoff.number, 'checksum': handoff.checksum})} -->"


def with_trailer(handoff: Handoff, line: str | None) -> Handoff:
    """The document with what its last line says; a torn last line says nothing."""
    found = _TRAILER.match(line or "")
    try:
        said = json.loads(found[1]) if found else {}
    except (ValueError, RecursionError):
        return handoff
    number, checksum = count(said.get("number")), said.get("checksum")
    return replace(
        handoff,
        number=handoff.number if handoff.number is not None else number,
        checksum=checksum if isinstance(checksum, str) else None,
    )


def _take(name: str, text: str, known: dict[str, Value], others: list[tuple[str, str]]) -> None:
    reader = _READERS.get(name.lower())
    if reader is None:
        plain = " ".join(name.replace(":", " ").split())
        if plain:
            others.append((plain, text))
        return
    found = reader(text)
    if found is None or any(known.get(key) is not None for key in found):
        others.append((f"{name} (as written)", text))
        return
    known.update(found)


def _moment(created: int) -> str:
    return datetime.fromtimestamp(created, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _link(handoff: Handoff) -> str | None:
    if handoff.number is None and handoff.previous is None:
        return None
    number = "" if handoff.number is None else f"#{handoff.number}, "
    return f"{number}previous: {handoff.previous or 'none'}"


def _usage(handoff: Handoff) -> str | None:
    used, usable, percent = handoff.used, handoff.usable, handoff.percent
    if used is None and usable is None:
        return None if percent is None else f"{_figure(percent)}%"
    of = "" if usable is None else f" / {usable:,}"
    share = "" if percent is None else f" ({_figure(percent)}%)"
    return f"{'unknown' if used is None else f'{used:,}'}{of} tokens{share}"


def _figure(percent: float) -> str:
    return f"{percent:.1f}".removesuffix(".0")


def _read_created(text: str) -> dict[str, Value] | None:
    bare = text.removesuffix(" UTC").removesuffix("Z").replace("T", " ").strip()
    for form in ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"):
        try:
            moment = datetime.strptime(bare, form).replace(tzinfo=UTC)
        except ValueError:
            continue
        # A date from before there were such documents stays as it is written.
        return {"created": int(moment.timestamp())} if moment.year >= 1970 else None
    return None


def _read_usage(text: str) -> dict[str, Value] | None:
    found = next((match for form in _USAGES if (match := form.match(text))), None)
    if not found:
        return None
    used, usable, percent = found["used"], found["usable"], found["percent"]
    return {
        "used": int(used.replace(",", "")) if used else None,
        "usable": int(usable.replace(",", "")) if usable else None,
        "percent": float(percent) if percent else None,
    }


def _read_window(text: str) -> dict[str, Value] | None:
    found = re.match(rf"^{_NUMBER}(?: tokens)?$", text)
    return {"window": int(found[1].replace(",", ""))} if found else None


def _read_link(text: str) -> dict[str, Value] | None:
    found = _LINK.match(text)
    if not text or not found:
        return None
    previous = found["previous"]
    return {
        "number": int(found["number"]) if found["number"] else None,
        "previous": None if previous is None or previous.lower() in _NOBODY else previous,
    }


def _read_text(name: str) -> Callable[[str], dict[str, Value] | None]:
    return lambda text: {name: text or None}


def _read_instance(text: str) -> dict[str, Value] | None:
    return {"agent_session": None if text.lower() in _NOBODY else text or None}


_READERS: dict[str, Callable[[str], dict[str, Value] | None]] = {
    "created": _read_created,
    "handoff": _read_link,
    "previous instance": _read_instance,
    "session": _read_text("session"),
    "agent": _read_text("agent"),
    "context usage": _read_usage,
    "window": _read_window,
    "project": _read_text("project"),
    "current epic": _read_text("epic"),
    "branch": _read_text("branch"),
    "reason": _read_text("reason"),
}
