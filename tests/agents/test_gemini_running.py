"""Which conversation a running Gemini CLI has in front; with processes and files as they are found."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from batonpass.agents import processes
from batonpass.agents.base import Binding
from batonpass.agents.gemini import Gemini
from batonpass.agents.gemini.running import leftovers

MINE, THEIRS, CLEARED = (f"{n}0000000-d8e1-4710-a248-2b738870c017" for n in "abc")
BEGAN = 1_800_000_000.0


@dataclass
class Process:
    words: list[str]
    began: float
    env: Mapping[str, str]
    folder: Path
    parent: int = 1


class Machine:
    """Processes that a test makes up, and a home with sessions."""

    def __init__(self, root: Path) -> None:
        self.home, self.shop = root / "home", root / "shop"
        self.chats = self.home / ".gemini" / "tmp" / "shop" / "chats"
        self.chats.mkdir(parents=True)
        (self.chats.parent / ".project_root").write_text(str(self.shop), encoding="utf-8")
        self.running: dict[int, Process] = {}

    def start(self, pid: int, *args: str, began: float = BEGAN, parent: int = 1, **env: str) -> None:
        words = ["node", "/usr/bin/gemini", *args]
        self.running[pid] = Process(words, began, {"HOME": str(self.home), **env}, self.shop, parent)

    def record(self, session: str, began: float, kind: str = "main") -> Path:
        start = datetime.fromtimestamp(began, UTC)
        path = self.chats / f"session-{start:%Y-%m-%dT%H-%M}-{session[:8]}.jsonl"
        header = {"sessionId": session, "startTime": start.isoformat(), "kind": kind}
        path.write_text(json.dumps(header) + "\n", encoding="utf-8")
        return path

    def children(self, pid: int) -> list[int]:
        below = [child for child, process in self.running.items() if process.parent == pid]
        return [pid, *(found for child in below for found in self.children(child))]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path)
    known = made.running

    def tell(name: str, answer: object) -> None:
        monkeypatch.setattr(processes, name, answer)

    tell("everyone", lambda: list(known))
    tell("arguments", lambda pid: known[pid].words if pid in known else [])
    tell("environment", lambda pid: dict(known[pid].env))
    tell("folder", lambda pid: known[pid].folder if pid in known else None)
    tell("started", lambda pid: known[pid].began if pid in known else None)
    tell("parent", lambda pid: known[pid].parent if pid in known else None)
    tell("with_descendants", made.children)
    return made


def test_the_only_one_of_a_folder_has_the_record_that_was_begun_last(machine: Machine) -> None:
    machine.record(THEIRS, BEGAN - 3_600)
    first = machine.record(MINE, BEGAN + 4)
    machine.start(7)
    found = Gemini().find(7)
    assert found is not None
    assert (found.pid, found.agent_session, found.transcript) == (7, MINE, first)
    cleared = machine.record(CLEARED, BEGAN + 600)
    again = Gemini().find(7)
    assert again is not None
    assert (again.agent_session, again.transcript) == (CLEARED, cleared)


def test_the_program_behind_its_launcher_is_one_session_with_it(machine: Machine) -> None:
    machine.record(MINE, BEGAN + 4)
    machine.start(7)
    machine.start(8, began=BEGAN + 1, parent=7)
    found = Gemini().find(7)
    assert found is not None
    assert found.agent_session == MINE


def test_two_in_one_folder_are_told_apart_by_what_each_began_with(machine: Machine) -> None:
    machine.record(MINE, BEGAN + 4)
    machine.record(THEIRS, BEGAN + 304)
    machine.start(7)
    machine.start(9, began=BEGAN + 300)
    assert [found.agent_session for pid in (7, 9) if (found := Gemini().find(pid))] == [MINE, THEIRS]


def test_where_either_of_two_could_have_cleared_none_is_named(machine: Machine) -> None:
    machine.record(MINE, BEGAN + 4)
    machine.record(THEIRS, BEGAN + 304)
    machine.record(CLEARED, BEGAN + 900)
    machine.start(7)
    machine.start(9, began=BEGAN + 300)
    found = Gemini().find(7)
    assert found is not None
    assert (found.agent_session, found.transcript) == (None, None)


def test_a_resumed_one_goes_on_in_its_first_file_and_not_in_the_second(machine: Machine) -> None:
    old = machine.record(MINE, BEGAN - 3_600)
    machine.record(MINE, BEGAN + 4)
    machine.start(7, "--resume", MINE)
    found = Gemini().find(7)
    assert found is not None
    assert (found.agent_session, found.transcript) == (MINE, old)


def test_other_programs_are_not_found(machine: Machine) -> None:
    machine.start(7)
    machine.running[7].words = ["vim", "notes/about-gemini"]
    assert Gemini().find(7) is None


def test_a_conversation_on_record_is_found_by_id_and_by_file_and_a_sub_agents_is_not(machine: Machine) -> None:
    record = machine.record(MINE, BEGAN + 4)
    env = {"HOME": str(machine.home)}
    by_id, by_file = Gemini().past(MINE, env), Gemini().past(str(record), env)
    assert by_id == by_file
    assert by_id is not None
    assert (by_id.agent_session, by_id.folder, by_id.pid) == (MINE, machine.shop, None)
    machine.start(7)
    running = Gemini().past(MINE, env)
    assert running is not None
    assert running.pid == 7
    sub = machine.record(THEIRS, BEGAN, kind="subagent")
    assert Gemini().past(str(sub), env) is None
    assert Gemini().past(CLEARED, env) is None


def test_what_is_left_of_a_session_is_its_own_program_and_nobody_elses(machine: Machine) -> None:
    machine.start(7, BATON_SESSION="ab12")
    machine.start(8, parent=7, BATON_SESSION="ab12")
    machine.start(9, BATON_SESSION="cd34")
    machine.start(10)
    machine.start(11, parent=8, BATON_SESSION="ab12")
    machine.running[11].words = ["bash", "-c", "sleep 60"]
    assert leftovers(Binding(7, MINE, None, Path(), {"BATON_SESSION": "ab12"})) == [8]
    assert leftovers(Binding(7, MINE, None, Path())) == []
