"""What a daemon survives, and what it leaves behind."""

import contextlib
import os
import shutil
import signal
import sqlite3
from pathlib import Path

import pytest

from batonpass.sim.tmux_server import private_tmux, run_tmux, server_pid, start_server
from batonpass.store import default_url, open_store
from tests.system.house import ROOT, House, Refused

TASK = "make the reader survive torn lines"
_LONG = pytest.mark.long


@pytest.fixture
def house(house: House) -> House:
    """With daemons that are no forks of anything: these tests look at processes and their environment."""
    house.by_name = True
    return house


def _processes(house: House) -> dict[int, str]:
    """Every process of this house, by what it runs."""
    mark, found = f"BATON_HOME={house.home}".encode(), {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                told = Path(entry.path, "environ").read_bytes().split(b"\0")
                if mark in told and ") Z " not in Path(entry.path, "stat").read_text(encoding="utf-8"):
                    found[int(entry.name)] = Path(entry.path, "cmdline").read_text(encoding="utf-8").replace("\0", " ")
            except OSError:
                continue
    return found


def test_a_stopped_daemon_leaves_no_process_behind_but_the_agents(baton: House) -> None:
    session = baton.run(brain={"delay": 0.3})
    session.hold("check")
    session.say(TASK)
    session.until_held("check")
    agent = session.status["pid"]
    baton.baton("daemon", "stop")
    baton.wait("only the agent is left", lambda: set(_processes(baton)) <= {agent})
    assert list(_processes(baton)) == [agent]
    session.go_on("check")
    baton.start()
    assert session.cycle()["state"] == "done"
    session.press("C-c")
    session.press("C-c")
    session.until_state("ended")
    baton.baton("daemon", "stop")
    baton.wait("nothing is left", lambda: not _processes(baton))


def _in_engine(house: House, cycle: str, rows: str) -> int:
    """How many of these rows the engine of cycles has of one."""
    with contextlib.closing(sqlite3.connect(house.home / "baton.db")) as database:
        found = database.execute(f"SELECT count(*) FROM {rows} AND workflow_uuid = ?", (cycle,))
        return int(found.fetchone()[0])


def test_with_a_cycle_goes_what_the_engine_kept_of_it(baton: House) -> None:
    session = baton.run()
    session.say(TASK)
    cycle = str(session.cycle()["id"])
    baton.wait("the engine knows it too", lambda: _in_engine(baton, cycle, "workflow_status WHERE status = 'SUCCESS'"))
    assert _in_engine(baton, cycle, "operation_outputs WHERE true") > 1
    baton.kill_daemon(stay_away=True)
    with open_store(default_url(baton.home)) as store:
        store.update_cycle(cycle, ended=1.0)
        baton.start()
        baton.wait("the cycle is forgotten", lambda: store.cycle(cycle) is None)
    assert not _in_engine(baton, cycle, "workflow_status WHERE true")
    assert not _in_engine(baton, cycle, "operation_outputs WHERE true")


@pytest.mark.parametrize("busy", [False, pytest.param(True, marks=_LONG)])
def test_sessions_of_a_tmux_server_that_died_are_kept_and_new_ones_run_on_the_next(house: House, busy: bool) -> None:
    house.start()
    session = house.run(brain={} if busy else {"jumps": {}})
    if busy:
        session.hold("await")
    session.say(TASK)
    if busy:
        session.until_held("await")
    else:
        house.wait("the first turn is over", lambda: session.status["used"] and session.status["state"] == "idle")
    pid, agent = server_pid(house.tmux), session.status["pid"]
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    house.wait("the agent has ended with its terminal", lambda: agent not in _processes(house))
    if busy:
        session.go_on("await")
        cycle = session.cycle()
        assert cycle["state"] == "pending", cycle
    assert house.answers()
    start_server(house.tmux)
    assert session.until_state("dead")["pane"] == session.pane
    if not busy:
        house.call("handoff", session=session.id)
        cycle = session.cycle()
        assert cycle["state"] == "pending", cycle
    (document,) = session.documents()
    assert TASK in document
    words = ["--json", "--agent", "scripted", "--name", "next", "--", "--brain", '{"start": 20000}']
    house.baton("continue", *words, cwd=session.project)
    house.wait("the handoff is its context", lambda: any(TASK in text for text in session.told()))
    house.wait("it gives its receipt", lambda: '"baton_receipt"' in "".join(session.said()))


@_LONG
def test_while_tmux_is_away_sessions_are_refused_with_a_sentence_and_come_when_it_is_back(house: House) -> None:
    house.start()
    pid = server_pid(house.tmux)
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(Refused, match="tmux could not open a pane for x"):
            house.call("run", agent="scripted", args=[], cwd=str(house.folder), env=house.env, name="x")
    finally:
        os.kill(pid, signal.SIGCONT)
    session = house.run(brain={"jumps": {}})
    assert session.until_state("idle")["pane"]
    assert run_tmux(house.tmux, "list-panes", "-a")


@pytest.mark.parametrize("step", ["await", pytest.param("pass", marks=_LONG), pytest.param("verify", marks=_LONG)])
def test_cycles_under_way_go_on_after_an_upgrade(tmp_path: Path, step: str) -> None:
    library = tmp_path / "lib"
    shutil.copytree(ROOT / "src", library, ignore=shutil.ignore_patterns("__pycache__"))
    with private_tmux() as tmux:
        house = House(tmp_path, tmux, {"PYTHONPATH": str(library), "BATON_CHAOS": "-"}).start()
        try:
            session = house.run(brain={"delay": 0.3})
            session.hold(step)
            session.say(TASK)
            session.until_held(step)
            before = house.call("ping")["version"]
            house.baton("daemon", "stop")
            package = library / "batonpass" / "__init__.py"
            package.write_text(package.read_text(encoding="utf-8").replace(before, "99.0"), encoding="utf-8")
            plan = library / "batonpass" / "cycle" / "plan.py"
            plan.write_text(plan.read_text(encoding="utf-8") + "# another release\n", encoding="utf-8")
            session.go_on(step)
            house.start()
            assert house.call("ping")["version"] == "99.0"
            cycle = session.cycle()
            assert cycle["state"] == "done", cycle
            assert set(session.tags().values()) == {1}
            assert len(session.documents()) == len(house.cycles(session.id)) == 1
        finally:
            house.close()
