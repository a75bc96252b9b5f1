"""What was written is deleted, changed, or cannot be written at all: it is noticed, and nothing is cleared for it."""

import os
import resource
import subprocess
from pathlib import Path

import pytest

from batonpass.handoff.seal import checksum_ok
from tests.system.house import House, Session

TASK = "make the reader survive torn lines"
_LONG = pytest.mark.long


def _draft(session: Session) -> Path:
    (draft,) = (session.project / ".baton" / "drafts" / session.id).glob("*.md")
    return draft


def _sealed(session: Session) -> Path:
    (path,) = (session.project / ".bmad" / "handoffs").glob("handoff-*.md")
    return path


def _attempts(cycle: dict[str, object]) -> dict[str, int]:
    steps = cycle["steps"]
    assert isinstance(steps, list)
    return {step["step"]: step["attempts"] for step in steps}


def test_a_document_that_was_written_and_deleted_again_is_asked_for_once_more(shared: House) -> None:
    session = shared.run("deleted")
    session.hold("check")
    session.say(TASK)
    session.until_held("check")
    _draft(session).unlink()
    session.go_on("check")
    cycle = session.cycle()
    assert (cycle["state"], _attempts(cycle)["ask"]) == ("done", 2)
    assert "The public names must stay as they are." in session.documents()[0]
    assert set(session.tags().values()) == {1}


@_LONG
def test_a_document_deleted_after_its_check_is_sealed_all_the_same(shared: House) -> None:
    session = shared.run("deleted-late")
    session.hold("seal")
    session.say(TASK)
    session.until_held("seal")
    _draft(session).unlink()
    session.go_on("seal")
    cycle = session.cycle()
    assert (cycle["state"], _attempts(cycle)["ask"]) == ("done", 1)
    assert "The public names must stay as they are." in session.documents()[0]


@pytest.mark.parametrize("spoil", ["deleted", pytest.param("changed", marks=_LONG)])
def test_a_handoff_spoiled_between_its_seal_and_the_clear_is_whole_when_it_is_passed(shared: House, spoil: str) -> None:
    session = shared.run(f"sealed-{spoil}")
    session.hold("pass")
    session.say(TASK)
    session.until_held("pass")
    path = _sealed(session)
    whole = path.read_text(encoding="utf-8")
    if spoil == "deleted":
        path.unlink()
    else:
        path.write_text(whole.replace("public names", "private names"), encoding="utf-8")
    session.go_on("pass")
    cycle = session.cycle()
    assert cycle["state"] == "done", cycle
    assert path.read_text(encoding="utf-8") == whole
    assert not any("private names" in text for text in session.told())
    assert any(f"was {'removed' if spoil == 'deleted' else 'changed'} after its seal" in n for n in shared.notices())


def test_a_disk_that_is_full_at_the_seal_leaves_the_session_as_it_is_and_calls_a_person(house: House) -> None:
    house.env["BATON_CHAOS"] = "seal:writing*2=ENOSPC"
    house.configure("cooldown_minutes: 0\n")
    house.start()
    session = house.run()
    session.say(TASK)
    cycle = session.cycle()
    assert cycle["state"] == "failed"
    status = session.until_state("idle")
    assert (status["agent_session"], session.documents(), session.arrived()) == (session.first, [], ["ask"])
    assert "No space left on device" in status["notice"]
    assert "nothing was cleared" in status["notice"]
    house.call("handoff", session=session.id, why="there is room again")
    again = session.cycle(2)
    assert again["state"] == "done"
    assert "The public names must stay as they are." in session.documents()[0]
    assert set(session.tags().values()) == {1}


@_LONG
def test_a_disk_that_has_room_again_at_the_second_try_costs_nothing(house: House) -> None:
    house.env["BATON_CHAOS"] = "seal:writing=ENOSPC"
    house.start()
    session = house.run()
    session.say(TASK)
    cycle = session.cycle()
    assert (cycle["state"], _attempts(cycle)["seal"]) == ("done", 2)
    assert session.arrived() == ["ask", "kick"]


@_LONG
def test_a_handoff_folder_that_cannot_be_written_to_is_named_to_a_person(shared: House) -> None:
    session = shared.run("no-folder")
    session.hold("seal")
    session.say(TASK)
    session.until_held("seal")
    (session.project / ".bmad").write_text("in the way", encoding="utf-8")
    session.go_on("seal")
    assert session.cycle()["state"] == "failed"
    assert session.until_state("idle")["agent_session"] == session.first
    assert str(session.project / ".bmad") in session.status["notice"]


@pytest.mark.parametrize("step", ["await", pytest.param("seal", marks=_LONG), pytest.param("prime", marks=_LONG)])
def test_a_daemon_whose_disk_is_full_for_a_while_goes_on_when_there_is_room(baton: House, step: str) -> None:
    session = baton.run()
    session.hold(step)
    session.say(TASK)
    session.until_held(step)
    pid = baton.daemon_pid()
    assert pid is not None
    soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))  # it can write nothing any more, to no file
    session.go_on(step)
    baton.wait("people are told", lambda: baton.call("status")["store"])
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))
    cycle = session.cycle()
    assert cycle["state"] == "done", cycle
    assert baton.daemon_pid() == pid
    assert session.arrived() == ["ask", "kick"]
    assert all(checksum_ok(text) for text in session.documents())
    assert baton.call("status")["store"] is None


@pytest.mark.parametrize("what", ["index.lock", pytest.param("rebase-merge", marks=_LONG)])
def test_nothing_is_typed_while_git_is_in_the_middle_of_something(shared: House, what: str) -> None:
    session = shared.run(f"git-{what.replace('.', '-')}", brain={"jumps": {}})
    session.say("look around")
    shared.wait("the first turn is over", lambda: session.status["used"] and session.status["state"] == "idle")
    mark = session.project / ".git" / what
    mark.touch() if what.endswith("lock") else mark.mkdir()
    shared.call("handoff", session=session.id)
    session.until_looked("safe_point")
    assert session.tags() == {}
    mark.unlink() if what.endswith("lock") else mark.rmdir()
    assert session.cycle()["state"] == "done"
    assert session.arrived() == ["ask", "kick"]


@_LONG
def test_a_commit_that_git_refuses_is_said_and_the_baton_is_passed(shared: House) -> None:
    project = shared.project("locked")
    shared.configure("layout: living\n", project)
    session = shared.run("locked", project=project)
    session.hold("seal")
    session.say(TASK)
    session.until_held("seal")
    (project / ".git" / "index.lock").touch()
    session.go_on("seal")
    cycle = session.cycle()
    assert cycle["state"] == "done", cycle
    (seal,) = [step for step in cycle["steps"] if step["step"] == "seal"]
    assert "not committed" in seal["note"]
    assert TASK in (project / "docs" / "HANDOFF.md").read_text(encoding="utf-8")
    os.unlink(project / ".git" / "index.lock")
    log = subprocess.run(["git", "-C", str(project), "log", "--oneline"], capture_output=True, text=True, check=True)
    assert len(log.stdout.splitlines()) == 1
