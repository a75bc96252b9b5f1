"""What bad input once broke, each with the smallest input that did it."""

import asyncio
import gzip
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from batonpass import checkpoint
from batonpass.agents import get
from batonpass.agents.base import Binding
from batonpass.clock import iso
from batonpass.config import load_lenient
from batonpass.cycle import receipt
from batonpass.facts.epic import read_epic
from batonpass.handoff.chain import link
from batonpass.handoff.document import Handoff, Section
from batonpass.handoff.markdown import NotAHandoff, parse, render
from batonpass.handoff.seal import checksum_ok, seal
from batonpass.serve.api import Api
from batonpass.session import State
from batonpass.store import default_url, open_store
from batonpass.supervisor.spool import Spool
from batonpass.terminals.base import Screen
from batonpass.transcripts.events import Prompted, Said
from batonpass.transcripts.tail import Tail
from batonpass.transcripts.whole import all_events, last
from batonpass.untrusted import decode

DEEP = b"[" * 200_000


def said(text: str) -> bytes:
    return json.dumps({"at": 1.8e9, "event": "said", "text": text, "message_id": "m"}).encode() + b"\n"


# -- transcripts and states ------------------------------------------------------------------------


def test_a_line_of_100_mb_is_skipped_with_a_note_and_its_neighbours_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    with path.open("wb") as file:
        file.write(said("before"))
        file.writelines(b"x" * (1 << 20) for _ in range(100))
        file.write(b"\n" + said("after"))
    batch = Tail(path, get("scripted").reader()).read()
    assert [event.text for event in batch.events if isinstance(event, Said)] == ["before", "after"]
    assert batch.notes == (
        f"A line of {path} was too long to be held in memory and was skipped (1 in all, the first at byte "
        f"{len(said('before'))}); everything else was read.",
    )
    assert len(list(all_events(path, get("scripted").reader()))) == 2


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path)])
def test_what_is_no_regular_file_is_no_transcript_and_nobody_waits_for_it(tmp_path: Path, make: Any) -> None:
    path = tmp_path / "record.jsonl"
    make(path)
    assert Tail(path, get("claude").reader()).read().events == ()
    assert list(all_events(path, get("claude").reader())) == []
    assert last(path, get("claude").reader(), Said) is None


def test_a_torn_line_that_is_written_anew_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    path.write_bytes(b"\0")
    tail = Tail(path, get("scripted").reader())
    assert tail.read().events == ()
    with path.open("r+b") as file:  # the same file by its number, as after a removal and a new beginning
        file.write(said("first"))
    assert [event.text for event in tail.read().events if isinstance(event, Said)] == ["first"]


def test_a_transcript_whose_name_holds_a_nul_is_not_there() -> None:
    assert Tail(Path("/tmp/a\0b"), get("claude").reader()).read().events == ()


@pytest.mark.parametrize("at", ["1e300", "-1", "1" + "0" * 400, "NaN", "Infinity", "true", '"soon"'])
def test_an_event_without_a_date_that_can_be_written_is_none(at: str) -> None:
    assert list(get("scripted").reader()(b'{"at": %s, "event": "said", "text": "x"}' % at.encode())) == []


def test_a_date_before_all_dates_becomes_one_that_can_be_written() -> None:
    line = {"type": "user", "timestamp": "0001-01-01T00:00:00+23:59", "message": {"content": "x"}}
    [event] = get("claude").reader()(json.dumps(line).encode())
    assert iso(event.at) == "1970-01-01T00:00:00Z"


@pytest.mark.parametrize("text", ["\\ud800", "\\u0000"])
def test_a_prompt_that_no_file_can_hold_still_reaches_the_handoff(text: str) -> None:
    line = f'{{"at": 1.8e9, "event": "prompted", "text": "go {text} on", "origin": "human"}}'
    [event] = get("scripted").reader()(line.encode())
    assert isinstance(event, Prompted)
    assert event.text == "go \ufffd on"


def test_a_nul_in_claude_codes_record_does_not_reach_a_command_line() -> None:
    line = b'{"type": "user", "timestamp": "2027-01-15T08:00:00Z", "message": {"content": "a\\u0000b"}}'
    [event] = get("claude").reader()(line)
    assert isinstance(event, Prompted)
    assert event.text == "a\ufffdb"


def test_counts_that_are_none_are_not_counted() -> None:
    usage = {"input_tokens": "many", "output_tokens": -5, "cache_read_input_tokens": 10**30}
    payload = {
        "session_id": "s",
        "model": {"id": 7},
        "context_window": {"current_usage": usage, "context_window_size": True},
    }
    reading = get("claude").statusline(payload, 1.8e9, {})
    assert reading is not None
    assert (reading.used, reading.window, reading.model) == (None, 200_000, None)


@pytest.mark.parametrize("name", ["claude", "scripted"])
@pytest.mark.parametrize("session", ["../../../etc/passwd", "a/b", "", "x" * 200, "a\0b", 7, None, ["s"]])
def test_an_id_that_could_leave_a_folder_is_no_id(name: str, session: object) -> None:
    agent = get(name)
    payload = {"session_id": session, "session": session, "hook_event_name": "Stop", "hook": "stop", "window": 200_000}
    assert agent.report(payload) is None
    assert agent.statusline({**payload, "context_window": {}}, 1.8e9, {}) is None


def test_a_state_file_of_garbage_says_nothing(tmp_path: Path) -> None:
    binding = Binding(os.getpid(), None, None, tmp_path, {"CLAUDE_CONFIG_DIR": str(tmp_path)})
    file = get("claude").state_files(binding)[0]
    file.parent.mkdir()
    for data in (DEEP, b"\xff\xfe\0", b'{"sessionId": "../x", "status": [], "statusUpdatedAt": 1e300}'):
        file.write_bytes(data)
        status = get("claude").status(binding)
        assert (status.state, status.agent_session, status.since) == (State.UNKNOWN, None, None)


@pytest.mark.parametrize(
    "shown", ["Token usage: ,/,", f"context: {'9' * 400}k tokens (1%)", "context: 1.2.3k tokens (0%)"]
)
def test_figures_on_a_screen_that_are_none_give_no_reading(shown: str) -> None:
    for name in ("claude", "scripted"):
        assert get(name).screen_reading(Screen((shown,), 0, 0), 1.8e9, "s") is None


# -- documents -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["## Recorded by Baton", "## Instructions\n\ngo", "````\n```\n## Instructions\n```\n````"]
)
def test_a_heading_with_nothing_under_it_is_no_handoff(text: str) -> None:
    with pytest.raises(NotAHandoff):
        parse(text)


@pytest.mark.parametrize("field", ["Window", "Context Usage", "Handoff", "Created"])
def test_a_header_with_an_absurd_number_is_kept_as_it_is_written(field: str) -> None:
    text = f"**{field}**: {'9' * 5_000}\n\n## Current Task\n\nthe reader\n"
    document = parse(text)
    assert document.headers == ((f"{field} (as written)", "9" * 5_000),)
    assert parse(render(document)) == document


def test_a_last_line_that_is_nested_too_deeply_says_nothing() -> None:
    trailer = f"<!-- baton: {'{' + chr(34) + 'a' + chr(34) + ':'}{'[' * 100_000} }} -->"
    assert parse(f"## Current Task\n\nx\n\n{trailer}\n").number is None


def test_a_secret_in_the_name_of_a_branch_is_not_written() -> None:
    key = "sk-ant-" + "a1" * 20
    document = Handoff(branch=key, epic=key, project=key, title=key, sections=(Section("Current Task", "x"),))
    sealed = seal(document)
    assert key not in sealed.text
    assert checksum_ok(sealed.text)


def test_a_receipt_that_is_nested_too_deeply_is_none() -> None:
    good = '```json\n{"baton_receipt": "7f3a91c2"}\n```'
    assert receipt.find(f"```json\n{'[' * 100_000}\n```\n{good}") == {"baton_receipt": "7f3a91c2"}


def test_a_checkpoint_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("batonpass.checkpoint.file._LARGEST", 1 << 20)
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(gzip.compress(b" " * (64 << 20)))
    assert checkpoint.verify(path) == (
        f"The checkpoint {path} cannot be read (it holds more than 1,048,576 bytes); use an older one."
    )


@pytest.mark.parametrize("data", [DEEP, b"\x1f\x8b", b"{}"])
def test_a_checkpoint_of_garbage_is_refused_in_one_sentence(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.json.gz"
    path.write_bytes(gzip.compress(data) if data is DEEP else data)
    said = checkpoint.verify(path)
    assert said is not None
    assert said.startswith(f"The checkpoint {path} cannot be read")


def test_pipes_are_no_handoffs_epics_or_settings_and_nobody_waits_for_them(tmp_path: Path) -> None:
    for name in (".bmad/handoffs/handoff-2027-01-15-080000.md", ".bmad/epics/epic-001-x.md", ".baton/config.yaml"):
        (tmp_path / name).parent.mkdir(parents=True)
        os.mkfifo(tmp_path / name)
    assert link(tmp_path / ".bmad/handoffs/handoff-2027-01-15-080000.md") is None
    assert read_epic(tmp_path) is None
    _, problems = load_lenient(tmp_path, tmp_path / "home", {})
    assert [str(problem) for problem in problems] == [
        f"{tmp_path}/.baton/config.yaml: this file cannot be read: this is no regular file"
    ]


# -- the daemon's doors ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line", [DEEP, b"\xff\xfe", b"7", b"null", b'{"op": []}', b'{"op": "nothing"}', b"", b'{"op":"\\ud800"}']
)
async def test_a_request_that_cannot_be_read_is_told_so(tmp_path: Path, line: bytes) -> None:
    reply = await Api(tmp_path / "socket", {}).answer(line)
    assert reply == {"ok": False, "error": "the daemon does not know this request", "exit": 2}


async def test_a_caller_that_sends_too_much_does_not_disturb_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ping(request: Mapping[str, Any]) -> object:
        return "pong"

    monkeypatch.setattr("batonpass.serve.api._LINE_LIMIT", 1000)
    folder = tmp_path / "run"
    api = Api(folder / "s", {"ping": ping})
    await api.start()
    try:
        for line, answer in ((b"x" * 5000 + b"\n", b""), (b'{"op": "ping"}\n', b'{"ok": true, "result": "pong"}\n')):
            reader, writer = await asyncio.open_unix_connection(folder / "s")
            writer.write(line)
            assert await reader.read() == answer
            writer.close()
    finally:
        await api.stop()


async def test_bad_reports_in_the_spool_do_not_keep_the_good_ones_or_the_daemon_back(tmp_path: Path) -> None:
    spool = tmp_path / "spool" / "hooks.jsonl"
    spool.parent.mkdir()
    bad = [DEEP, b"\xff\xfe\0", b"[]", b'{"torn": ', b'{"fails": 1}', b"NaN"]
    spool.write_bytes(
        b"\n".join(line for pair in zip(bad, [b'{"good": %d}' % n for n in range(6)], strict=True) for line in pair)
    )
    heard: list[object] = []

    async def take(report: Mapping[str, Any]) -> None:
        if "fails" in report:
            raise OverflowError("int too large to convert to float")
        heard.append(report["good"])

    with open_store(default_url(tmp_path)) as store:
        assert await Spool(tmp_path, store).replay(take) == 6
    assert heard == [0, 1, 2, 3, 4, 5]


def test_json_that_nobody_means_is_refused_or_made_plain() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        decode(DEEP)
    assert decode(b'{"a\\u0000": ["\\ud800", NaN, "\\ud83d\\ude00"]}') == {"a\ufffd": ["\ufffd", None, "\U0001f600"]}
