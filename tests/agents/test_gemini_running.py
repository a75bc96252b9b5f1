"""Which conversation a running Gemini CLI has in front; with processes and files as they are found."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from batonpass.agents import processes
from batonpass.agents.base import Binding
from batonpass.agents.gemini import Gemini
from batonpass.agents.gemini.running import leftovers

MINE, THEIRS, CLEARED, NEXT = (f"{n}0000000-d8e1-4710-a248-2b738870c017" for n in "abcd")
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
        self.notes: list[dict[str, object]] = []

    def start(self, pid: int, *args: str, began: float = BEGAN, parent: int = 1, **env: str) -> None:
        words = ["node", "/usr/bin/gemini", *args]
        self.running[pid] = Process(words, began, {"HOME": str(self.home), **env}, self.shop, parent)

    def record(self, session: str, began: float, kind: str = "main") -> Path:
        start = datetime.fromtimestamp(began, UTC)
        path = self.chats / f"session-{start:%Y-%m-%dT%H-%M}-{session[:8]}.jsonl"
        header = {"sessionId": session, "startTime": start.isoformat(), "kind": kind}
        path.write_text(json.dumps(header) + "\n", encoding="utf-8")
        return path

    def types(self, session: str, at: float, text: str) -> None:
        """Something is typed into the process that began with this conversation."""
        entry = {"sessionId": session, "messageId": 0, "type": "user", "message": text}
        self.notes.append({**entry, "timestamp": datetime.fromtimestamp(at, UTC).isoformat()})
        (self.chats.parent / "logs.json").write_text(json.dumps(self.notes), encoding="utf-8")

    def front(self, pid: int) -> tuple[str | None, Path | None]:
        found = Gemini().find(pid)
        assert found is not None
        return found.agent_session, found.transcript

    def children(self, pid: int) -> list[int]:
        below = [child for child, process in self.running.items() if process.parent == pid]
        return [pid, *(found for child in below for found in self.children(child))]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path)
    known = made.running

    def tell(name: str, answer: object) -> None:
        monkeypatch.setattr(processes, name, answer)

    tell("alive", lambda pid: pid in known)
    tell("everyone", lambda: list(known))
    tell("arguments", lambda pid: known[pid].words if pid in known else [])
    tell("environment", lambda pid: dict(known[pid].env))
    tell("folder", lambda pid: known[pid].folder if pid in known else None)
    tell("started", lambda pid: known[pid].began if pid in known else None)
    tell("parent", lambda pid: known[pid].parent if pid in known else None)
    tell("with_descendants", made.children)
    return made


def test_the_only_one_of_a_folder_has_what_it_began_with_until_it_clears(machine: Machine) -> None:
    machine.record(THEIRS, BEGAN - 3_600)
    first = machine.record(MINE, BEGAN + 4)
    machine.start(7)
    assert machine.front(7) == (MINE, first)
    machine.types(MINE, BEGAN + 599, "/clear")
    assert machine.front(7) == (MINE, first), "its new record is not there yet"
    cleared = machine.record(CLEARED, BEGAN + 600)
    assert machine.front(7) == (CLEARED, cleared)


def test_the_second_clear_of_a_process_is_noted_under_the_first_conversation(machine: Machine) -> None:
    machine.start(7, "--session-id", MINE)
    for at, session in enumerate((MINE, THEIRS, CLEARED)):
        machine.record(session, BEGAN + 4 + 600 * at)
    machine.types(MINE, BEGAN + 603, "/clear")
    machine.types(MINE, BEGAN + 1_203, "/new")
    assert machine.front(7)[0] == CLEARED


def test_what_a_run_that_has_ended_left_in_the_folder_is_not_taken_for_a_clear(machine: Machine) -> None:
    first = machine.record(MINE, BEGAN + 4)
    machine.start(7)
    machine.record(THEIRS, BEGAN + 600)
    assert machine.front(7) == (MINE, first)
    machine.types(THEIRS, BEGAN + 700, "/clear")
    machine.record(CLEARED, BEGAN + 701)
    assert machine.front(7) == (MINE, first), "it was another process that cleared"


def test_of_what_was_begun_at_the_same_time_that_is_its_own_into_which_somebody_typed(machine: Machine) -> None:
    machine.record(THEIRS, BEGAN + 3)
    first = machine.record(MINE, BEGAN + 9)
    machine.start(7)
    assert machine.front(7) == (None, None)
    machine.types(MINE, BEGAN + 30, "please begin")
    assert machine.front(7) == (MINE, first)


def test_a_process_in_which_another_conversation_was_chosen_is_not_told_where_it_is(machine: Machine) -> None:
    machine.record(MINE, BEGAN + 4)
    machine.start(7)
    machine.types(MINE, BEGAN + 60, "/resume")
    assert machine.front(7) == (None, None)


def test_a_clear_of_an_earlier_process_says_nothing_of_one_that_resumed_the_conversation(machine: Machine) -> None:
    first = machine.record(MINE, BEGAN - 3_600)
    machine.types(MINE, BEGAN - 600, "/clear")
    machine.record(CLEARED, BEGAN - 599)
    machine.start(7, "--resume", MINE)
    assert machine.front(7) == (MINE, first)


def test_one_that_was_started_anew_for_a_trusted_folder_has_what_the_second_start_began(machine: Machine) -> None:
    machine.record(THEIRS, BEGAN + 4)
    machine.start(7)
    machine.start(8, began=BEGAN + 90, parent=7)
    second = machine.record(MINE, BEGAN + 94)
    assert machine.front(7) == (MINE, second)


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


def test_where_either_of_two_could_have_begun_a_record_none_is_named(machine: Machine) -> None:
    machine.record(MINE, BEGAN + 4)
    machine.record(THEIRS, BEGAN + 304)
    machine.start(7)
    machine.start(9, began=BEGAN + 300)
    for session, at in ((MINE, 899.0), (THEIRS, 899.5)):
        machine.types(session, BEGAN + at, "/clear")
    machine.record(CLEARED, BEGAN + 900)
    machine.record(NEXT, BEGAN + 901)
    assert machine.front(7) == (None, None)


def test_a_resumed_one_goes_on_in_its_first_file_and_not_in_the_second(machine: Machine) -> None:
    old = machine.record(MINE, BEGAN - 3_600)
    machine.record(MINE, BEGAN + 4)
    machine.start(7, "--resume", MINE)
    found = Gemini().find(7)
    assert found is not None
    assert (found.agent_session, found.transcript) == (MINE, old)


@pytest.mark.parametrize(
    "words",
    [
        ["vim", "notes/about-gemini"],
        ["tail", "-f", "/var/log/gemini"],
        ["python", "-m", "batonpass", "run", "gemini"],
        ["node", "server.js", "gemini"],
        ["node", "--version"],
    ],
)
def test_other_programs_are_not_found(machine: Machine, words: list[str]) -> None:
    machine.start(7, BATON_SESSION="ab12")
    machine.running[7].words = words
    assert Gemini().find(7) is None
    assert leftovers(Binding(5, MINE, None, Path(), {"BATON_SESSION": "ab12"})) == []


@pytest.mark.parametrize(
    "words",
    [
        ["node", "/opt/gemini/node_modules/.bin/gemini", "--yolo"],
        ["/usr/bin/node", "--max-old-space-size=12051", "/opt/gemini/node_modules/.bin/gemini", "--yolo"],
        ["bun", "/opt/gemini/bundle/gemini.js"],
    ],
)
def test_the_launcher_and_the_program_behind_it_are_found(machine: Machine, words: list[str]) -> None:
    machine.start(7)
    machine.running[7].words = words
    assert Gemini().find(7) is not None


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


def test_where_no_hook_is_heard_a_session_of_batons_own_is_followed_by_its_record(machine: Machine) -> None:
    first, agent = machine.record(MINE, BEGAN + 4), Gemini()
    machine.start(7, "--session-id", MINE, BATON_SESSION="ab12")
    bound = Binding(7, MINE, first, Path(), {"BATON_SESSION": "ab12"})
    assert agent.status(bound).agent_session == MINE
    machine.types(MINE, BEGAN + 60, "/clear")
    begun = machine.record(CLEARED, BEGAN + 61)
    header = begun.read_text(encoding="utf-8")
    begun.write_text("", encoding="utf-8")
    assert agent.status(bound).agent_session == MINE, "its record says nothing yet"
    begun.write_text(header, encoding="utf-8")
    assert agent.status(bound).agent_session == CLEARED
    machine.start(9, "--session-id", NEXT, began=BEGAN + 90, BATON_SESSION="ab12")
    machine.record(NEXT, BEGAN + 94)
    assert agent.status(replace(bound, pid=9)).agent_session == NEXT, "another process was started in its pane"
    machine.start(11, "--resume", MINE, began=BEGAN + 120, BATON_SESSION="ab12")
    assert agent.status(replace(bound, pid=11, agent_session=NEXT)).agent_session == MINE, "and one that begins nothing"


def test_a_clear_that_its_hook_does_not_tell_of_is_told_by_its_record(machine: Machine) -> None:
    first, agent = machine.record(MINE, BEGAN + 4), Gemini()
    machine.start(7, "--session-id", MINE)
    agent.report({"hook_event_name": "SessionStart", "session_id": MINE, "source": "startup"})
    machine.types(MINE, BEGAN + 60, "/clear")
    machine.record(CLEARED, BEGAN + 61)
    assert agent.status(Binding(7, MINE, first, Path())).agent_session == CLEARED
    agent.report({"hook_event_name": "SessionStart", "session_id": CLEARED, "source": "clear"})
    agent.report({"hook_event_name": "SessionStart", "session_id": MINE, "source": "resume"})
    assert agent.status(Binding(7, MINE, first, Path())).agent_session == MINE, (
        "it was gone back to, by its hooks' word"
    )


@pytest.mark.parametrize("event", ["BeforeAgent", "AfterAgent", "Notification"])
def test_only_the_hook_of_its_start_tells_that_a_conversation_began(machine: Machine, event: str) -> None:
    first, agent = machine.record(MINE, BEGAN + 4), Gemini()
    machine.start(7, "--session-id", MINE)
    agent.report({"hook_event_name": "SessionStart", "session_id": MINE, "source": "startup"})
    machine.types(MINE, BEGAN + 60, "/clear")
    machine.record(CLEARED, BEGAN + 61)
    agent.report({"hook_event_name": event, "session_id": CLEARED})
    assert agent.status(Binding(7, MINE, first, Path())).agent_session == CLEARED, "the one of its start was lost"
