"""The long matrix with the real Codex."""

import os
import signal

import pytest

from batonpass.sim.model_wire import Kind
from batonpass.sim.openai_responses import ResponsesModel
from batonpass.sim.worker import Worker, WorkerSettings
from tests.real_agents.baton import Baton
from tests.real_agents.brains import CalmAfter
from tests.real_agents.checker import assert_passed

pytestmark = [pytest.mark.long, pytest.mark.timeout(240)]


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
    codex_baton.run_codex(prompt="please begin")
    os.kill(codex_baton.rest()["pid"], signal.SIGKILL)
    codex_baton.wait_for(lambda status: status["state"] == "dead")
    dead = codex_baton.status()
    codex_baton.command("continue", "--from", dead["session"], "--detach")
    codex_model.wait_for(lambda request: request.session != dead["agent_session"] and "[baton " in request.text, 60)
