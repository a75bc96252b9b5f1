"""opencode's database, which holds every conversation of its user: only ever read.

A conversation's transcript is written as a path: the database, and below it the conversation's id.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from batonpass.agents.opencode.opened import Opened
from batonpass.agents.opencode.record import Entry, events, is_between, is_open, is_settled, mapping
from batonpass.transcripts.events import Event, Origin, Prompted, Used
from batonpass.transcripts.tail import Batch
from batonpass.untrusted import decode, identifier

WindowOf = Callable[[str], int | None]  # by the model's name
Message = tuple[int, str, Entry, list[Entry]]  # when it began, its id, itself, its parts

_FIRST = (0, "")


def database(env: Mapping[str, str]) -> Path:
    """Where opencode keeps its conversations for this environment."""
    home = Path(env.get("HOME") or Path.home())
    folder = Path(env.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode"
    return folder / (env.get("OPENCODE_DB") or "opencode.db")


def transcript(path: Path, conversation: str) -> Path:
    return path / conversation


_opened = Opened()


class Rows:
    """One conversation, followed: what was added to it since the last look, as events.

    Messages that will not change any more are not looked at again. Where some of them are gone (the user took a
    prompt back), everything is read anew.
    """

    def __init__(self, path: Path, window_of: WindowOf = lambda model: None) -> None:
        self._database, self._conversation = path.parent, path.name
        self._window_of = window_of
        self._next: tuple[int, str] = _FIRST  # the first message that may still change
        self._settled = 0  # how many come before it
        self._told: set[str] = set()  # keys of events of messages that may still change
        self._open: frozenset[str] = frozenset()
        self._anew = False  # everything is to be told again, and that was not said yet

    def read(self) -> Batch:
        """Every event that is new; nothing as long as there is no such database, or it cannot be read now."""
        if not self._database.is_file():
            return Batch()
        try:
            with _opened.reading(self._database) as connection:
                if self._is_shorter(connection):
                    self._next, self._settled, self._told, self._open = _FIRST, 0, set(), frozenset()
                    self._anew = True
                found = self._take(list(_messages(connection, self._conversation, self._next)))
        except sqlite3.Error:
            return Batch()
        reset, self._anew = self._anew, False
        return Batch(tuple(found), reset)

    def _is_shorter(self, connection: sqlite3.Connection) -> bool:
        where = "from message where session_id = ? and (time_created, id) < (?, ?)"
        (settled,) = connection.execute(f"select count(*) {where}", (self._conversation, *self._next)).fetchone()
        rest = "select id from message where session_id = ? and (time_created, id) >= (?, ?)"
        there = {row[0] for row in connection.execute(rest, (self._conversation, *self._next))}
        return bool(settled != self._settled or not self._open <= there)

    def _take(self, messages: list[Message]) -> list[Event]:
        found: list[Event] = []
        still: set[str] = set()
        for place, (_, _, info, parts) in enumerate(messages):
            for key, event in events(info, parts):
                if key not in self._told:
                    found.append(self._with_window(event))
                    self._told.add(key)
            if not is_settled(info, parts, place == len(messages) - 1):
                still.add(str(info["id"]))
        self._advance(messages, still)
        return found

    def _advance(self, messages: list[Message], still: set[str]) -> None:
        """Leave behind what comes before the first message that may still change."""
        left = next((n for n, message in enumerate(messages) if message[1] in still), len(messages))
        if left:
            self._settled += left
            at, identity = messages[left - 1][:2]
            self._next = (at, identity + "\0") if left == len(messages) else messages[left][:2]
        self._open = frozenset(message[1] for message in messages[left:])
        if not self._open:
            self._told.clear()

    def _with_window(self, event: Event) -> Event:
        return replace(event, window=self._window_of(event.model)) if isinstance(event, Used) else event


def _messages(connection: sqlite3.Connection, conversation: str, begin: tuple[int, str]) -> Iterator[Message]:
    rows = connection.execute(
        "select id, time_created, data from message where session_id = ? and (time_created, id) >= (?, ?) "
        "order by time_created, id",
        (conversation, *begin),
    ).fetchall()
    for identity, at, data in rows:
        yield int(at), str(identity), {**_entry(data), "id": identity}, _parts(connection, identity)


def _parts(connection: sqlite3.Connection, message: str) -> list[Entry]:
    found = connection.execute("select id, data from part where message_id = ? order by id", (message,))
    return [{**_entry(given), "id": part, "messageID": message} for part, given in found]


def _entry(data: object) -> Entry:
    try:
        return mapping(decode(data.encode())) if isinstance(data, str) else {}
    except ValueError:
        return {}


@dataclass(frozen=True, slots=True)
class Turn:
    """What the record says of a conversation's last turn."""

    open: bool
    since: float
    between: bool = False  # open, with every answer so far whole


def last_turn(path: Path) -> Turn | None:
    """The last turn of the conversation with this transcript; None where nothing was said or can be read."""
    query = "select data, time_updated from message where session_id = ? order by time_created desc, id desc limit 1"
    try:
        with _opened.reading(path.parent) as connection:
            row = connection.execute(query, (path.name,)).fetchone()
    except sqlite3.Error:
        return None
    if row is None:
        return None
    message = _entry(row[0])
    return Turn(is_open(message), row[1] / 1000, is_between(message))


def first_prompt(path: Path) -> str | None:
    """The words with which the conversation with this transcript began; None where it has none, or cannot be read."""
    query = "select id, data from message where session_id = ? order by time_created, id limit 1"
    try:
        with _opened.reading(path.parent) as connection:
            row = connection.execute(query, (path.name,)).fetchone()
            said = events(_entry(row[1]), _parts(connection, row[0])) if row else ()
    except sqlite3.Error:
        return None
    words = [event.text for _, event in said if isinstance(event, Prompted) and event.origin is Origin.HUMAN]
    return "".join(words).strip() or None


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation as the database lists it."""

    id: str
    parent: str | None  # whose sub-agent it is
    folder: str
    created: float
    updated: float
    agent: str | None  # the mode in which its user works
    model: Entry  # as the session names it: providerID, id, variant


def talks(path: Path, *, folder: Path | None = None, identity: str | None = None) -> list[Talk]:
    """Conversations, the one that was used last first: all, those of a folder, or the one of an id."""
    wanted = {"directory": str(folder) if folder else None, "id": identity}
    asked = {column: value for column, value in wanted.items() if value is not None}
    where = " and ".join(["true", *(f"{column} = ?" for column in asked)])
    query = f"select id, parent_id, directory, time_created, time_updated, agent, model from session where {where}"
    try:
        with _opened.reading(path) as connection:
            rows = connection.execute(f"{query} order by time_updated desc", [*asked.values()]).fetchall()
    except sqlite3.Error:
        return []
    return [
        Talk(row[0], row[1], row[2], row[3] / 1000, row[4] / 1000, row[5], _entry(row[6]))
        for row in rows
        if identifier(row[0])
    ]
