"""The real Gemini CLI under Baton, in tmux, with the scripted model."""

from pathlib import Path

import pytest

from batonpass.sim.gemini_api import GeminiModel
from batonpass.sim.model_wire import Kind
from batonpass.sim.worker import Worker, WorkerSettings
from tests.real_agents.baton import Baton
from tests.real_agents.checker import assert_passed
from tests.real_agents.users import UsersHome, end, prints

# One start serves all of this, for it takes its time to start.
OWN = '{"name": "mine", "version": "1.0.0", "contextFileName": "MINE.md"}'


def test_a_jump_over_the_threshold_is_handed_off_in_place_and_no_file_of_the_users_is_changed(
    gemini_baton: Baton, gemini_model: GeminiModel, gemini_home: dict[str, str], project: Path
) -> None:
    home = Path(gemini_home["HOME"]) / ".gemini"
    own = home / "extensions" / "mine"
    own.mkdir(parents=True)
    (own / "gemini-extension.json").write_text(OWN, encoding="utf-8")
    (own / "MINE.md").write_text("The user's extension is heard.\n", encoding="utf-8")
    (home / "oauth_creds.json").write_text('{"access_token": "the user\'s own"}', encoding="utf-8")
    owned = (project / "README.md", project / ".git" / "config")
    before, users_home = prints(*owned), UsersHome("gemini", gemini_home)
    gemini_model.brain = Worker(WorkerSettings(start=104_858, step=0, jumps={2: 480_000}))
    bound = gemini_baton.run_gemini(prompt="please begin")["agent_session"]
    status = gemini_baton.rest()
    assert status["agent_session"] == bound
    assert (status["used"], status["window"], status["usable"]) == (104_858, 1_048_576, 524_288)
    first = gemini_model.main_requests()[0]
    assert "The user's extension is heard." in first.system + first.context
    pid = status["pid"]
    gemini_baton.say("now read everything")
    cycle = gemini_baton.cycle()
    assert_passed(gemini_baton, gemini_model, cycle)
    assert cycle.percent == pytest.approx(91.6, abs=0.5)
    assert not [request for request in gemini_model.requests if request.kind is Kind.COMPACT]
    after = gemini_baton.rest()
    assert after["percent"] < 50
    assert (after["pid"], after["agent_session"]) == (pid, cycle.new_agent_session)
    end(gemini_baton, "/quit", shown="Exit the cli")
    users_home.assert_kept(gemini_baton.home)
    assert prints(*owned) == before
