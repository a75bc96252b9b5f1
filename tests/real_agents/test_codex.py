"""The real Codex under Baton, in tmux, with the scripted model."""

import tomllib
from pathlib import Path

import pytest

from batonpass.sim.brain import Reply, ToolUse
from batonpass.sim.model_wire import Kind
from batonpass.sim.openai_responses import ResponsesModel
from batonpass.sim.worker import Worker, WorkerSettings
from tests.real_agents.baton import Baton
from tests.real_agents.checker import assert_passed
from tests.real_agents.users import UsersHome, end, prints


def test_a_session_is_bound_before_its_first_prompt_and_its_usage_is_not_known_yet(
    codex_baton: Baton, project: Path
) -> None:
    before = prints(project)
    status = codex_baton.run_codex()
    assert status["state"] == "idle"
    assert status["agent_session"]
    assert (status["used"], status["percent"]) == (None, None)
    assert "Ask Codex to do anything" in codex_baton.screen()
    assert [text for text in codex_baton.told() if "no file of yours was changed" in text]
    assert prints(project) == before


def test_readings_are_exact_and_busy_and_idle_are_codexs_own_word(
    codex_baton: Baton, codex_model: ResponsesModel
) -> None:
    codex_model.brain = Worker(WorkerSettings(start=61_234, steps=1))
    bound = codex_baton.run_codex()["agent_session"]
    codex_baton.say("Begin with the reader.")
    status = codex_baton.rest()
    assert status["agent_session"] == bound
    assert (status["used"], status["window"], status["usable"]) == (66_234, 258_400, 244_800)
    assert codex_model.user_texts() == ["Begin with the reader."]


def test_a_jump_over_the_threshold_is_handed_off_in_place_before_codex_compacts(
    codex_baton: Baton, codex_model: ResponsesModel, codex_home: dict[str, str], project: Path
) -> None:
    home = Path(codex_home["CODEX_HOME"])
    (home / "auth.json").write_text('{"OPENAI_API_KEY": "the user\'s own", "tokens": null}', encoding="utf-8")
    (home / "AGENTS.md").write_text("Be brief.\n", encoding="utf-8")
    (home / "hooks.json").write_text('{"hooks": {}}', encoding="utf-8")
    owned = (project / "README.md", project / ".git" / "config")
    before, users_home = prints(*owned), UsersHome("codex", codex_home)
    codex_model.brain = Worker(WorkerSettings(start=97_920, step=0, jumps={2: 227_664}))
    codex_baton.run_codex(prompt="please begin")
    assert codex_baton.rest()["percent"] == 40
    pid = codex_baton.status()["pid"]
    codex_baton.say("now read everything")
    cycle = codex_baton.cycle()
    assert_passed(codex_baton, codex_model, cycle)
    assert cycle.percent == pytest.approx(93, abs=0.5)
    assert not [request for request in codex_model.requests if request.kind is Kind.COMPACT]
    after = codex_baton.rest()
    assert after["percent"] < 50
    assert (after["pid"], after["agent_session"]) == (pid, cycle.new_agent_session)
    end(codex_baton, "/quit")
    users_home.assert_kept(codex_baton.home)
    assert prints(*owned) == before


def test_the_users_own_clear_is_followed_before_anything_is_said_again(
    codex_baton: Baton, codex_model: ResponsesModel
) -> None:
    codex_model.brain = Worker(WorkerSettings(start=30_000))
    codex_baton.run_codex(prompt="please begin")
    first = codex_baton.rest()["agent_session"]
    codex_baton.say("/clear")
    second = codex_baton.wait_for(lambda s: s["agent_session"] != first)
    assert (second["state"], second["used"]) == ("idle", None)
    codex_baton.say("something else")
    third = codex_baton.rest()
    assert third["agent_session"] == second["agent_session"]
    assert codex_model.main_requests()[-1].session == third["agent_session"]


@pytest.mark.long
def test_a_dialog_at_the_start_is_told_and_left_to_a_person_and_then_the_session_is_bound_and_works(
    codex_baton: Baton, codex_model: ResponsesModel, codex_home: dict[str, str], project: Path
) -> None:
    codex_model.brain = Worker(WorkerSettings(start=61_234, tool="none"))
    config = Path(codex_home["CODEX_HOME"]) / "config.toml"
    settled = config.read_text(encoding="utf-8")
    config.write_text(settled.replace('trust_level = "trusted"', ""), encoding="utf-8")
    codex_baton.start_codex("--", "please begin")
    codex_baton.until(lambda: [t for t in codex_baton.told() if "trust this folder" in t], "word of the dialog")
    assert "Trust this folder?" in codex_baton.screen()
    waiting = codex_baton.status()
    assert (waiting["agent_session"], waiting["state"]) == (None, "waiting")
    assert not codex_model.requests
    codex_baton.press("Enter")  # the person's own
    bound = codex_baton.rest()
    assert (bound["pid"], bound["used"], bound["hooks"]) == (waiting["pid"], 61_234, True)
    assert bound["agent_session"] == codex_model.main_requests()[-1].session
    assert codex_model.user_texts() == ["please begin"]
    trusted = tomllib.loads(config.read_text(encoding="utf-8"))["projects"][str(project.resolve())]
    assert trusted["trust_level"] == "trusted"


@pytest.mark.long
def test_a_permission_dialog_is_left_to_a_person_who_is_told_of_it(
    codex_baton: Baton, codex_model: ResponsesModel
) -> None:
    escalated = {"cmd": "true", "sandbox_permissions": "require_escalated", "justification": "to see"}
    codex_model.script(Reply("I ask.", tools=(ToolUse("exec_command", escalated),)))
    codex_baton.start_codex("-a", "on-request", "-s", "workspace-write", "--", "please begin")
    codex_baton.until(lambda: [t for t in codex_baton.told() if "asks for permission" in t], "word of the dialog")
    assert "Would you like to run" in codex_baton.screen()
