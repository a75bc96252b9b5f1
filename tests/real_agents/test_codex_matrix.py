"""The long matrix with the real Codex."""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from batonpass.agents import processes
from batonpass.delivery import Channel
from batonpass.sim.brain import Asked, Reply, ToolUse
from batonpass.sim.model_wire import Kind
from batonpass.sim.openai_responses import ResponsesModel
from batonpass.sim.worker import Worker, WorkerSettings
from tests.real_agents.baton import Baton
from tests.real_agents.brains import CalmAfter
from tests.real_agents.checker import assert_passed, rescued

pytestmark = pytest.mark.long


def test_two_batons_are_passed_in_a_row_and_no_compaction_comes_first(
    codex_baton: Baton, codex_model: ResponsesModel
) -> None:
    codex_model.brain = CalmAfter(2, WorkerSettings(start=70_000, step=40_000, steps=4))
    codex_baton.run_codex(prompt="please make the reader survive torn lines")
    codex_baton.cycle(2)
    assert codex_baton.rest()["chain"] == 2
    for cycle in codex_baton.cycles():
        assert_passed(codex_baton, codex_model, cycle)
    people = [text for text in codex_model.user_texts() if "[baton " not in text]
    assert people == ["please make the reader survive torn lines"]
    assert not [request for request in codex_model.requests if request.kind is Kind.COMPACT]


def test_a_handoff_by_hand_of_an_idle_session_is_asked_for_by_keys(
    codex_baton: Baton, codex_model: ResponsesModel
) -> None:
    codex_model.brain = Worker(WorkerSettings(step=100))
    codex_baton.run_codex(prompt="please begin")
    codex_baton.rest()
    codex_baton.command("handoff", "--why", "to see it")
    assert_passed(codex_baton, codex_model, codex_baton.cycle())


def test_a_handoff_is_asked_for_within_codex_by_a_line_for_the_shell(
    codex_baton: Baton, codex_model: ResponsesModel
) -> None:
    codex_model.brain = Worker(WorkerSettings(step=100))
    codex_baton.run_codex(prompt="please begin")
    codex_baton.rest()
    codex_baton.press("!")
    codex_baton.say(f"{sys.executable} -m batonpass._entry handoff --no-wait")
    assert_passed(codex_baton, codex_model, codex_baton.cycle())


def test_two_sessions_in_one_folder_are_never_taken_for_each_other(
    codex_baton: Baton, codex_model: ResponsesModel
) -> None:
    codex_model.brain = Worker(WorkerSettings(start=97_920, step=0, jumps={2: 227_664}))
    codex_baton.run_codex(prompt="please begin with the writer")
    other, untouched = codex_baton.session, codex_baton.rest()["agent_session"]
    codex_baton.run_codex(prompt="please begin with the reader")
    codex_baton.rest()
    codex_baton.say("now read everything")
    assert_passed(codex_baton, codex_model, codex_baton.cycle())
    codex_baton.session = other
    assert codex_baton.status()["agent_session"] == untouched
    assert not codex_baton.cycles()


def test_a_session_that_was_killed_is_rescued_from_its_record(codex_baton: Baton, codex_model: ResponsesModel) -> None:
    codex_model.brain = Worker(WorkerSettings(step=100))
    codex_baton.run_codex(prompt="please begin, and never touch the ledger table")
    dead = codex_baton.rest()
    os.kill(dead["pid"], signal.SIGKILL)
    codex_baton.wait_for(lambda status: status["state"] == "dead")
    cycle = rescued(codex_baton, codex_model, "never touch the ledger table", dead["session"])
    assert cycle.new_agent_session != dead["agent_session"]


def test_a_receipt_that_stays_wrong_brings_the_predecessor_back_which_passes_to_one_that_understands(
    codex_baton: Baton, codex_model: ResponsesModel
) -> None:
    codex_model.brain = Worker(WorkerSettings(faults=frozenset({"parrot"}), fault_attempts=2))
    before = codex_baton.run_codex(prompt="please begin")
    old = codex_baton.rest()["agent_session"]
    codex_baton.command("handoff", "--no-wait")
    cycle = codex_baton.cycle()
    assert_passed(codex_baton, codex_model, cycle)
    assert cycle.way == "respawn"
    began = [(event.data["agent_session"], event.data["source"]) for event in codex_baton.events("SESSION_STARTED")]
    assert (old, "resume") in began
    after = codex_baton.rest()
    assert (after["pane"], after["agent_session"]) == (before["pane"], cycle.new_agent_session)


def test_a_sub_agent_that_works_on_is_kept_apart_and_the_successor_is_told_of_it(
    codex_baton: Baton, codex_model: ResponsesModel
) -> None:
    hold = threading.Event()

    def at_work(asked: Asked) -> Reply:
        hold.wait(120)
        return Reply("The survey is done.", used=99_000)

    delegated = ToolUse("multi_agent_v1__spawn_agent", {"message": "Survey the parsers."})
    codex_model.script(Reply("I delegate.", tools=(delegated,), used=41_000), match="please begin")
    codex_model.script(Reply("It is at work.", used=42_000), match="please begin")
    codex_model.script(at_work, kind=Kind.SUB)
    codex_baton.run_codex(prompt="please begin")
    try:
        sub = codex_model.wait_for(lambda request: request.kind is Kind.SUB)
        status = codex_baton.rest()
        assert (status["used"], status["agent_session"] == sub.session) == (42_000, False)
        codex_baton.command("handoff", "--no-wait")
        cycle = codex_baton.cycle()
        assert_passed(codex_baton, codex_model, cycle)
        assert cycle.old_agent_session == status["agent_session"]
        assert cycle.document is not None
        listed = [line for line in cycle.document.read_text(encoding="utf-8").splitlines() if str(sub.session) in line]
        assert any("running" in line and "Survey the parsers." in line for line in listed), listed
    finally:
        hold.set()


def test_where_hooks_are_switched_off_the_session_is_followed_by_its_record_and_handed_off_by_keys(
    codex_baton: Baton, codex_model: ResponsesModel, codex_home: dict[str, str]
) -> None:
    with (Path(codex_home["CODEX_HOME"]) / "config.toml").open("a", encoding="utf-8") as config:
        config.write("\n[features]\nhooks = false\n")
    _is_handed_off_without_hooks(codex_baton, codex_model)
    (found,) = [check for check in _doctor(codex_baton) if check["name"] == "codex hooks"]
    assert not found["ok"]


def test_where_an_administrator_forbids_hooks_it_is_seen_that_none_came_and_keys_hand_it_off(
    codex_baton: Baton, codex_model: ResponsesModel, codex_cli: Path, tmp_path: Path
) -> None:
    settings = tmp_path / "etc"
    subprocess.run(["cp", "-a", "/etc", settings], check=False, timeout=60)
    (settings / "codex").mkdir()
    (settings / "codex" / "requirements.toml").write_text("allow_managed_hooks_only = true\n", encoding="utf-8")
    governed = tmp_path / "governed-codex"
    within = f'mount --bind {shlex.quote(str(settings))} /etc && exec "$@"'
    inside = ("unshare", "--mount", "sh", "-c", within, "sh")
    if subprocess.run([*inside, "true"], capture_output=True, timeout=20, check=False).returncode:
        pytest.skip("NOT TESTED with an administrator's file: this user may not give a program another /etc")
    governed.write_text(f'#!/bin/sh\nexec {shlex.join((*inside, str(codex_cli)))} "$@"\n', encoding="utf-8")
    governed.chmod(0o755)
    codex_baton.env["BATON_CODEX"] = str(governed)
    _is_handed_off_without_hooks(codex_baton, codex_model)


def _is_handed_off_without_hooks(baton: Baton, model: ResponsesModel) -> None:
    model.brain = Worker(WorkerSettings(start=97_920, step=0, jumps={2: 227_664}))
    baton.run_codex(prompt="please begin")
    first = baton.wait_for(lambda status: status["hooks"] is False and status["state"] == "idle")
    assert (first["used"], first["window"]) == (97_920, 258_400)
    baton.until(lambda: [t for t in baton.told() if "does not run Baton's hooks" in t], "word of the hooks")
    baton.say("now read everything")
    cycle = baton.cycle()
    assert_passed(baton, model, cycle)
    assert {d.channel for d in baton.store.deliveries(cycle=cycle.id)} == {Channel.KEYS}
    assert baton.rest()["agent_session"] == cycle.new_agent_session


def _doctor(baton: Baton) -> list[dict[str, Any]]:
    return list(json.loads(baton.command("doctor", "--json"))["checks"])


def test_one_that_runs_already_is_adopted_with_its_conversation_and_handed_off_by_keys(
    codex_baton: Baton, codex_model: ResponsesModel, codex_cli: Path
) -> None:
    codex_model.brain = Worker(WorkerSettings(start=60_000, step=100))
    _is_adopted(codex_baton, _opened(codex_baton, codex_cli, "--no-daemon"))
    _is_handed_off_by_keys(codex_baton)


def test_two_behind_the_shared_server_are_told_apart_and_a_clear_there_is_followed(
    codex_baton: Baton, codex_model: ResponsesModel, codex_cli: Path, codex_home: dict[str, str]
) -> None:
    codex_model.brain = Worker(WorkerSettings(start=60_000, step=100))
    try:
        first, second = _opened(codex_baton, codex_cli), _opened(codex_baton, codex_cli)
        other = _is_adopted(codex_baton, second)
        mine = _is_adopted(codex_baton, first)
        assert mine["agent_session"] != other["agent_session"]
        codex_baton.say("/clear")
        codex_baton.wait_for(lambda status: status["agent_session"] not in (mine["agent_session"], None))
        codex_baton.say("please begin again")
        codex_baton.rest()
        _is_handed_off_by_keys(codex_baton)
        codex_baton.session = other["session"]
        assert codex_baton.status()["agent_session"] == other["agent_session"]
        _shows_what_another_has(codex_baton, codex_cli, other["agent_session"])
    finally:
        subprocess.run([codex_cli, "app-server", "daemon", "stop"], env=codex_home, timeout=60, check=False)
        _end_what_runs_from(Path(codex_home["CODEX_HOME"]))


def _opened(baton: Baton, codex: Path, *options: str) -> str:
    pane = baton.open_pane([str(codex), *options, "-a", "never", "-s", "danger-full-access", "--", "please begin"])
    baton.until(lambda: "Done so far: 1 steps." in baton.screen(), "the end of its turn")
    return pane


def _is_adopted(baton: Baton, pane: str) -> dict[str, Any]:
    baton.adopt(pane)
    adopted = baton.rest()
    assert (adopted["agent"], adopted["used"], adopted["hooks"]) == ("codex", 60_100, False)
    return adopted


def _is_handed_off_by_keys(baton: Baton) -> None:
    baton.command("handoff", baton.session, "--no-wait", "--why", "to see it")
    cycle = baton.cycle()
    assert cycle.state == "done", baton.story()
    assert {given.channel for given in baton.store.deliveries(cycle=cycle.id)} == {"keys"}
    assert baton.rest()["agent_session"] == cycle.new_agent_session


def _shows_what_another_has(baton: Baton, codex: Path, conversation: str) -> None:
    """A window that shows another's conversation is refused, and not taken for anybody."""
    pane = baton.open_pane([str(codex), "resume", conversation])
    baton.until(lambda: "Done so far: 1 steps." in baton.screen(), "the other's conversation")
    with pytest.raises(AssertionError, match="does not tell which conversation is in front"):
        baton.adopt(pane)


def _end_what_runs_from(home: Path) -> None:
    """The server's updater stays behind when it stops."""
    for pid in processes.everyone():
        if (words := processes.arguments(pid)) and words[0].startswith(f"{home}/packages/"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
