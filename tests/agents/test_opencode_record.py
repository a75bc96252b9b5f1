"""opencode's own record: its database, and the same conversations as its API gives them."""

import json
import shutil
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from batonpass.agents.opencode.database import Rows, last_turn, talks, transcript
from batonpass.agents.opencode.record import parse
from batonpass.facts.tools import Tools
from batonpass.transcripts.events import (
    Compacted,
    Event,
    Failed,
    Interrupted,
    Origin,
    Prompted,
    Said,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    Used,
)

E = TypeVar("E", bound=Event)

FOLDER = Path(__file__).parents[1] / "fixtures" / "opencode"
DATABASE = FOLDER / "opencode.db"

LAST_USED = {
    "messages-turns-and-tools": 150_040,
    "messages-new-session-then-compact": 17_040,
    "messages-abort-and-autocompact": 21_040,
    "messages-subagent-parent": 17_040,
    "messages-subagent-child": 13_040,
    "export-headless": 17_040,
}


def exported(name: str) -> tuple[str, list[dict[str, Any]]]:
    whole = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return whole["info"]["id"], whole["messages"]


def of(kind: type[E], found: Sequence[Event]) -> list[E]:
    return [event for event in found if isinstance(event, kind)]


def rows(name: str, path: Path = DATABASE, window: int | None = 200_000) -> Rows:
    return Rows(transcript(path, exported(name)[0]), lambda model: window)


@pytest.mark.parametrize("name", LAST_USED)
def test_the_last_usage_is_the_expected_figure_in_the_database_and_over_the_api(name: str) -> None:
    found = of(Used, rows(name).read().events)[-1]
    assert (found.used, found.window, found.model) == (LAST_USED[name], 200_000, "scripted/scripted-1")
    told = [event for message in exported(name)[1] for event in parse(json.dumps(message).encode())]
    assert of(Used, told)[-1].used == LAST_USED[name]


def test_a_window_that_nobody_knows_stays_unknown() -> None:
    assert of(Used, rows("export-headless", window=None).read().events)[-1].window is None


def test_a_message_without_an_answer_has_no_usage() -> None:
    _, messages = exported("messages-abort-and-autocompact")
    aborted = next(m for m in messages if m["info"].get("error"))
    assert parse(json.dumps(aborted).encode()) == [Interrupted(aborted["info"]["time"]["completed"] / 1000)]


def test_prompts_texts_and_ends_of_turns_come_in_order() -> None:
    found = rows("messages-subagent-parent").read().events
    kinds = [type(event) for event in found]
    assert kinds == [Prompted, ToolCalled, ToolReturned, Used, Said, Used, TurnEnded]
    assert of(Said, found)[0].text == "Parent done."
    assert all(event.at > 1_700_000_000 for event in found)


def test_a_compaction_is_no_prompt_and_what_opencode_says_to_itself_after_it_is_no_persons() -> None:
    found = rows("messages-abort-and-autocompact").read().events
    assert [event.trigger for event in of(Compacted, found)] == ["auto"]
    assert not [event for event in of(Said, found) if "SUMMARY" in event.text]
    origins = {event.text.split("\n")[0]: event.origin for event in of(Prompted, found)}
    assert [origin for text, origin in origins.items() if text.startswith("Continue if")] == [Origin.SYSTEM]
    assert origins["After auto-compaction."] is Origin.HUMAN
    place = next(n for n, event in enumerate(found) if isinstance(event, Compacted))
    assert [event.used for event in of(Used, found[:place])] == [193_040]
    assert [event.trigger for event in of(Compacted, rows("messages-new-session-then-compact").read().events)] == [
        "manual"
    ]


def test_what_the_tools_did_is_known_by_the_same_rules_as_for_every_agent() -> None:
    tools = Tools(Path("/home/dev/project"), lambda path: False)
    for event in rows("messages-turns-and-tools").read().events:
        tools.see(event)
    assert tools.touched == ("HANDOFF.md",)
    assert [command.command for command in tools.commands] == ["ls"]


def test_a_command_that_failed_and_a_tool_that_was_refused_are_failures() -> None:
    def tool(state: dict[str, object]) -> list[Event]:
        part = {"id": "prt_1", "messageID": "msg_1", "type": "tool", "tool": "bash", "callID": "call_1", "state": state}
        info = {"id": "msg_1", "role": "assistant", "time": {"created": 1_794_771_000_000}}
        return parse(json.dumps({"info": info, "parts": [part]}).encode())

    given = {"input": {"command": "false"}, "time": {"start": 1_794_771_000_000, "end": 1_794_771_001_000}}
    failed = tool({"status": "completed", "output": "no\n", "metadata": {"exit": 2}, **given})
    assert [(e.ok, e.text) for e in of(ToolReturned, failed)] == [(False, "Exit code: 2\nno\n")]
    refused = tool({"status": "error", "error": "The user rejected permission", **given})
    assert [(e.ok, e.text) for e in of(ToolReturned, refused)] == [(False, "The user rejected permission")]
    assert [type(e) for e in tool({"status": "running", **given})] == [ToolCalled]
    assert tool({"status": "pending", "input": {}}) == []


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"name": "APIError", "data": {"message": "slow down", "statusCode": 429}}, "rate_limit"),
        ({"name": "APIError", "data": {"message": "busy", "statusCode": 529}}, "overloaded"),
        ({"name": "ProviderAuthError", "data": {"message": "no key", "providerID": "x"}}, "authentication"),
        ({"name": "ContextOverflowError", "data": {"message": "too long"}}, "too_long"),
        ({"name": "UnknownError", "data": {"message": "?"}}, "other"),
    ],
)
def test_errors_that_end_a_turn_are_told_apart(error: dict[str, object], kind: str) -> None:
    info = {"id": "m", "role": "assistant", "time": {"created": 1, "completed": 2}, "error": error}
    (found,) = parse(json.dumps({"info": info, "parts": []}).encode())
    assert isinstance(found, Failed)
    assert found.kind == kind


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b"null", b'{"info": 3, "parts": 4}', b'{"info": {"role": "user"}}'])
def test_what_is_no_message_says_nothing(line: bytes) -> None:
    assert parse(line) == []


@pytest.fixture
def live(tmp_path: Path) -> Path:
    """A copy of the database that is written to as opencode does."""
    path = tmp_path / "opencode.db"
    shutil.copy(DATABASE, path)
    with sqlite3.connect(path) as connection:
        connection.execute("pragma journal_mode = wal")
    return path


def execute(path: Path, statement: str, *values: object) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(statement, values)


def add_message(path: Path, session: str, identity: str, at: int, **data: object) -> None:
    execute(path, "insert or replace into message values (?, ?, ?, ?, ?)", identity, session, at, at, json.dumps(data))


def add_part(path: Path, session: str, message: str, identity: str, **data: object) -> None:
    row = (identity, message, session, 1, 1, json.dumps(data))
    execute(path, "insert or replace into part values (?, ?, ?, ?, ?, ?)", *row)


def test_a_turn_is_told_bit_by_bit_and_each_bit_once(live: Path) -> None:
    session, _ = exported("export-headless")
    follower = rows("export-headless", live)
    assert follower.read().events
    assert follower.read().events == ()
    now = 1_794_779_000_000
    add_message(live, session, "msg_2", now, role="user", time={"created": now})
    assert follower.read().events == ()
    last = last_turn(transcript(live, session))
    assert last is not None
    assert last.open
    add_part(live, session, "msg_2", "prt_20", type="text", text="go on [baton 00000001 ask 1]")
    assert [e.text for e in of(Prompted, follower.read().events)] == ["go on [baton 00000001 ask 1]"]
    add_part(live, session, "msg_2", "prt_21", type="text", text="read file x", synthetic=True)
    assert follower.read().events == ()
    began: dict[str, object] = {"role": "assistant", "providerID": "scripted", "modelID": "scripted-1"}
    add_message(live, session, "msg_3", now + 9, time={"created": now + 9}, **began)
    add_part(live, session, "msg_3", "prt_30", type="text", text="I wri", time={"start": now})
    assert follower.read().events == ()
    add_part(live, session, "msg_3", "prt_30", type="text", text="I write.", time={"start": now, "end": now + 10})
    assert [e.text for e in of(Said, follower.read().events)] == ["I write."]
    ended = {"created": now + 9, "completed": now + 20}
    add_message(live, session, "msg_3", now + 9, time=ended, finish="stop", tokens={"total": 42_000}, **began)
    assert [type(e) for e in follower.read().events] == [Used, TurnEnded]
    assert follower.read().events == ()
    last = last_turn(transcript(live, session))
    assert last is not None
    assert not last.open


def test_what_the_user_took_back_is_forgotten(live: Path) -> None:
    session, _ = exported("messages-new-session-then-compact")
    follower = rows("messages-new-session-then-compact", live)
    before = follower.read()
    assert not before.reset
    execute(live, "delete from message where session_id = ? and id = 'msg_1e0b43cb90018SVquWJNN4MZYQ'", session)
    after = follower.read()
    assert after.reset
    texts = [e.text for e in of(Prompted, after.events)]
    assert texts
    assert not [text for text in texts if text.startswith("Carry on.")]
    assert follower.read().events == ()


def test_other_conversations_and_sub_agents_are_kept_apart(live: Path) -> None:
    parent, child = exported("messages-subagent-parent")[0], exported("messages-subagent-child")[0]
    follower = rows("messages-subagent-parent", live)
    follower.read()
    add_message(live, child, "msg_9", 1_794_779_000_000, role="user", time={"created": 1_794_779_000_000})
    add_part(live, child, "msg_9", "prt_9", type="text", text="for the child")
    assert follower.read().events == ()
    listed = {talk.id: talk.parent for talk in talks(live, folder=Path("/home/dev/project"))}
    assert listed[child] == parent
    assert listed[parent] is None
    assert len(listed) == 6
    assert talks(live, folder=Path("/elsewhere")) == []
    assert [talk.id for talk in talks(live, identity=parent)] == [parent]


def test_a_database_that_is_not_there_or_is_none_says_nothing(tmp_path: Path) -> None:
    for path in (tmp_path / "opencode.db", tmp_path / "notes"):
        assert rows("export-headless", path).read().events == ()
        assert last_turn(transcript(path, "ses_1")) is None
        assert talks(path) == []
        (tmp_path / "notes").write_text("no database", encoding="utf-8")


def test_reading_leaves_nothing_beside_a_database_that_nobody_has_open(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    shutil.copy(DATABASE, path)
    assert rows("export-headless", path).read().events
    assert [entry.name for entry in tmp_path.iterdir()] == ["opencode.db"]


def test_a_time_beyond_all_times_is_none() -> None:
    far = {"info": {"role": "user", "time": {"created": 10**400}}, "parts": [{"id": "p", "type": "text", "text": "x"}]}
    (said,) = parse(json.dumps(far).encode())
    assert said.at == 0.0


def test_what_was_taken_back_is_told_as_such_also_when_the_database_was_busy_in_that_moment(
    live: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = talks(live)[0].id
    rows = Rows(transcript(live, talk))
    assert rows.read().events
    execute(live, "delete from message where session_id = ?", talk)

    def busy(*_: object) -> None:
        raise sqlite3.OperationalError("database is locked")

    with monkeypatch.context() as patched:
        patched.setattr(sys.modules[Rows.__module__], "_messages", busy)
        assert not rows.read().events
    assert rows.read().reset
