"""Attacks on what agents leave behind: transcripts, state files, status lines, screens."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from _fuzz_values import Target, broken, encoded, mangled, samples, texts, values
from hypothesis import strategies as st

from batonpass import agents
from batonpass.agents.base import Agent, Binding
from batonpass.clock import iso
from batonpass.reading import Reading
from batonpass.terminals.base import Screen
from batonpass.transcripts.events import Compacted, Event, Prompted, Said, ToolReturned, Used
from batonpass.transcripts.tail import Tail
from batonpass.transcripts.whole import all_events, end, last

CLAUDE, SCRIPTED = agents.get("claude"), agents.get("scripted")
_EVENTS = ("prompted", "said", "tool_called", "tool_returned", "used", "compacted", "failed", "turn_ended", "context")
SCRIPTED_LINES: list[Any] = [
    {
        "at": 1.8e9 + number,
        "event": event,
        "text": "words",
        "origin": "human",
        "prompt_id": "p1",
        "message_id": "m1",
        "call_id": "c1",
        "tool": "write",
        "arguments": {"path": "a.py", "command": "pytest"},
        "ok": True,
        "used": 12_000,
        "output": 40,
        "model": "scripted-1",
        "trigger": "auto",
        "before": 160_000,
        "kind": "other",
    }
    for number, event in enumerate(_EVENTS)
]
CLAUDE_LINES = samples("transcripts/*.jsonl")
scripted_lines = broken(mangled(SCRIPTED_LINES).map(encoded))
claude_lines = broken(mangled(CLAUDE_LINES).map(encoded))
_LIMIT = 4_096  # of a line, so that small files are enough


def sound(events: Iterable[Event]) -> None:
    """Everything else relies on this: dates can be written, counts be stored, texts go into any file."""
    for event in events:
        iso(event.at)
        if isinstance(event, Prompted | Said | ToolReturned):
            storable(event.text)
        if isinstance(event, Used):
            assert 0 <= event.used < 2**56
            assert 0 <= event.output < 2**56
            storable(event.model)
        if isinstance(event, Compacted):
            assert event.before is None or 0 <= event.before < 2**56


def storable(text: object) -> None:
    assert isinstance(text, str), text
    assert "\0" not in text
    text.encode("utf-8")


def _parses(agent: Agent) -> Any:
    read = agent.reader()
    return lambda line: sound(read(line))


def _file(steps: list[tuple[str, bytes]]) -> None:
    """A file that grows, tears, shrinks and is replaced while it is followed: a whole line is always seen."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "record.jsonl"
        tail = Tail(path, SCRIPTED.reader(), line_limit=_LIMIT)
        for way, data in steps:
            _change(path, way, data)
            sound(tail.read().events)
        mark = encoded({"at": 1.9e9, "event": "said", "text": "the last word", "message_id": "z"})
        with path.open("ab") as file:
            file.write(b"\n" + mark + b"\n")
        seen = tail.read().events
        assert isinstance(seen[-1], Said), "a whole line was not seen"
        assert seen[-1].text == "the last word"
        assert not tail.read().events, "a line was seen twice"
        assert list(all_events(path, SCRIPTED.reader()))[-1] == seen[-1]
        assert last(path, SCRIPTED.reader(), Said) == seen[-1]
        assert not Tail(path, SCRIPTED.reader(), end(path)).read().events


def _change(path: Path, way: str, data: bytes) -> None:
    if way == "append":
        with path.open("ab") as file:
            file.write(data)
    elif way == "replace":
        other = path.with_name("other")
        other.write_bytes(data)
        os.replace(other, path)
    elif way == "truncate" and path.exists():
        os.truncate(path, min(len(data), path.stat().st_size))
    elif way == "remove":
        path.unlink(missing_ok=True)
    elif way == "pipe":
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        return_later = path.with_name("pipe")
        Tail(path, SCRIPTED.reader()).read()  # must not wait for a writer
        os.replace(path, return_later)


_ways = st.sampled_from(["append"] * 6 + ["replace", "truncate", "remove", "pipe"])
_chunks = st.one_of(
    scripted_lines.map(lambda line: line + b"\n"), scripted_lines, st.binary(max_size=3 * _LIMIT), st.just(b"\n")
)


def _state(agent: Agent, path_of: Any) -> Any:
    def check(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            binding = path_of(Path(folder))
            file = agent.state_files(binding)[0]
            file.parent.mkdir(parents=True)
            file.write_bytes(data)
            status = agent.status(binding)
            assert status.since is None or status.since >= 0
            assert status.agent_session is None or "/" not in status.agent_session

    return check


def _claude_binding(folder: Path) -> Binding:
    return Binding(os.getpid(), None, None, folder, {"CLAUDE_CONFIG_DIR": str(folder)})


def _scripted_binding(folder: Path) -> Binding:
    return Binding(os.getpid(), None, None, folder, {"BATON_SCRIPTED_HOME": str(folder)})


def _status_line(agent: Agent) -> Any:
    def check(payload: Any) -> None:
        if isinstance(payload, dict):
            _reading(agent.statusline(payload, 1.8e9, {}))
            report = agent.report(payload)
            assert report is None or "/" not in report.agent_session

    return check


def _reading(reading: Reading | None) -> None:
    for count in (reading.used, reading.window, reading.usable) if reading else ():
        assert count is None or (isinstance(count, int) and 0 <= count < 2**56), reading
    assert reading is None or reading.percent is None or reading.percent >= 0


def _screen(shown: tuple[list[str], int, int]) -> None:
    screen = Screen(tuple(shown[0]), shown[1], shown[2])
    for agent in (CLAUDE, SCRIPTED):
        agent.box(screen)
        agent.dialog(screen)
        _reading(agent.screen_reading(screen, 1.8e9, "abc"))


_SHOWN = (
    "─" * 40,
    "❯\u00a0text",
    "❯ ",
    "❯",
    "!\u00a0ls",
    "❯ 1. Yes",
    "2. No  Esc to cancel",
    "Do you want to go on?",
    "Token usage: 63153/200000; 136847 remaining",
    "Context: 63.2% (126400/200000 tokens)",
    "Token usage: ,/,",
    "context: 45.2k tokens (23%)",
    "context: 1.2.3k tokens (0%)",
    "context: ,k tokens (..%)",
    "context: 9e9m tokens (1%)",
    "Token usage: " + "9" * 400 + "/1",
    "context: " + "9" * 400 + "k tokens (1%)",
    "\x1b[2m",
    "\x1b[38;5;",
    "\x1b[38;2;1m",
)
_rows = st.lists(st.one_of(st.sampled_from(_SHOWN), texts, st.builds(str.__add__, st.sampled_from(_SHOWN), texts)))

CLAUDE_STATUS = samples("statusline/*.json")
CLAUDE_HOOKS = samples("hooks/*.json")
SCRIPTED_STATUS = [{"session": "s1", "window": 200_000, "used": 12_000, "model": "scripted-1"}]
SCRIPTED_HOOKS = [
    {
        "hook": kind,
        "session": "s1",
        "transcript": "/nowhere/s1.jsonl",
        "source": "startup",
        "prompt": "/handoff now",
        "origin": "human",
        "prompt_id": "p",
        "last_message": "said",
        "continued": False,
        "tool": "write",
        "error": None,
        "background": [{"id": "1", "kind": "shell", "state": "running", "description": "make"}],
        "model": "scripted-1",
        "permission_mode": "accept",
    }
    for kind in ("session_start", "prompt", "stop", "tool", "session_end", "permission", "stop_failed", "notification")
]
_junk = st.one_of(
    values.map(encoded), st.binary(max_size=200), broken(st.just(b'{"status": "idle", "sessionId": "x"}'))
)
_scripted_state = {"session": "s1", "status": "idle", "since": 1.8e9, "waiting_for": None, "proc_start": None}

TARGETS = (
    Target("transcript line, claude", claude_lines, _parses(CLAUDE)),
    Target("transcript line, scripted", scripted_lines, _parses(SCRIPTED)),
    Target("transcript file", st.lists(st.tuples(_ways, _chunks), max_size=8), _file),
    Target(
        "state file, claude", mangled(samples("sessions/*.json")).map(encoded) | _junk, _state(CLAUDE, _claude_binding)
    ),
    Target(
        "state file, scripted", mangled([_scripted_state]).map(encoded) | _junk, _state(SCRIPTED, _scripted_binding)
    ),
    Target("payload, claude", mangled(CLAUDE_STATUS + CLAUDE_HOOKS), _status_line(CLAUDE)),
    Target("payload, scripted", mangled(SCRIPTED_STATUS + SCRIPTED_HOOKS), _status_line(SCRIPTED)),
    Target("screen", st.tuples(_rows, st.integers(0, 200), st.integers(0, 60)), _screen),
)
