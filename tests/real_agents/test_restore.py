"""After a reboot two real sessions in one folder come back, each as itself; one that was at work is told to go on."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.gemini_api import GeminiModel
from batonpass.sim.openai_chat import ChatModel
from batonpass.sim.openai_responses import ResponsesModel
from batonpass.sim.scripted_model import ScriptedModel
from tests.real_agents.baton import Baton
from tests.real_agents.conftest import VERSIONS, installed, own_baton
from tests.real_agents.harness import Gate

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]
READER, WRITER = "Begin with the reader.", "Begin with the writer."
_SECONDS = 400.0  # for one that starts slowly, beside others


def _comes_back(baton: Baton, model: ScriptedModel, run: Callable[..., object]) -> None:
    """Two sessions are started in one folder, one rests and one works, all is lost, and both are brought back."""
    sessions = {}
    for task in (READER, WRITER):
        run(prompt=task)
        sessions[task] = baton.wait_for(lambda s: s["state"] == "idle" and s["used"] is not None, _SECONDS)
    gate = Gate(model, "Now the index")
    baton.say("Now the index.")
    assert gate.reached.wait(_SECONDS)
    baton.until(lambda: _kept(baton) == "busy", "that it is at work in the store")
    baton.reboot()
    gate.open()
    asked = len(model.requests)
    found = {one["session"]: one for one in json.loads(baton.command("restore", "--json", within=_SECONDS))}
    idle, busy = (sessions[task]["session"] for task in (READER, WRITER))
    assert {session: one["how"] for session, one in found.items()} == dict.fromkeys((idle, busy), "resumed"), found
    assert "told to go on" in found[busy]["why"]
    for before in sessions.values():
        baton.session = before["session"]
        after = baton.wait_for(lambda status: status["state"] in ("idle", "busy"))
        same = ("agent_session", "project", "name", "agent")
        assert [after[key] for key in same] == [before[key] for key in same]
        assert after["pid"] != before["pid"]
    told = model.wait_for(lambda request: " restored 1]" in request.text, _SECONDS)
    assert (WRITER in told.context, READER in told.context) == (True, False)
    baton.session, baton._pane = idle, _pane(found[idle], baton)
    baton.say("And now the tests.")
    model.wait_for(lambda request: "And now the tests." in request.text, _SECONDS)
    heard = next(request for request in model.requests[asked:] if "And now the tests." in request.text)
    assert (READER in heard.context, WRITER in heard.context) == (True, False)
    assert " restored 1]" not in heard.context, "it was idle, so it is not told to go on"
    assert max(sum(" restored 1]" in text for text in request.user_texts) for request in model.requests) == 1


def _kept(baton: Baton) -> str | None:
    """The session's state as a later daemon will find it."""
    session = baton.store.session(baton.session)
    return session.state if session else None


def _pane(found: dict[str, Any], baton: Baton) -> str:
    return str(next(s["pane"] for s in baton.call("status", all=True)["sessions"] if s["session"] == found["session"]))


def test_two_of_claude_come_back_as_themselves(
    claude_home: dict[str, str], project: Path, model: AnthropicModel
) -> None:
    program = installed("claude", VERSIONS[-1], "Claude Code")
    with own_baton(project, claude_home, CLAUDE=program) as baton:
        _comes_back(baton, model, baton.run)


def test_two_of_codex_come_back_as_themselves(codex_baton: Baton, codex_model: ResponsesModel) -> None:
    _comes_back(codex_baton, codex_model, codex_baton.run_codex)


def test_a_codex_that_was_allowed_less_since_its_start_comes_back_with_that(
    codex_baton: Baton, codex_model: ResponsesModel
) -> None:
    baton = codex_baton
    baton.run_codex(prompt=READER)  # with full access
    baton.wait_for(lambda s: s["state"] == "idle" and s["used"] is not None, _SECONDS)
    baton.say("/permissions")
    baton.until(lambda: "4. Read Only" in baton.screen(), "the choice of permissions")
    baton.press("4")
    baton.until(lambda: "Permission selection requested: Read Only" in baton.screen(), "that it was chosen")
    baton.until(lambda: _mode(baton) == "on-request user :read-only", "what was chosen in the store")
    baton.reboot()
    (found,) = json.loads(baton.command("restore", "--json", within=_SECONDS))
    assert found["how"] == "resumed", found
    baton._pane = _pane(found, baton)
    baton.wait_for(lambda status: status["state"] == "idle")
    baton.say("And now the tests.")
    codex_model.wait_for(lambda request: "And now the tests." in request.text, _SECONDS)
    assert len([text for text in baton.told() if "vouched for its own hooks" in text]) == 2, "at each start"
    baton.until(
        lambda: _sandboxes(baton) == ["danger-full-access", "read-only"], "its second turn, without that access"
    )


def _mode(baton: Baton) -> str | None:
    session = baton.store.session(baton.session)
    return session.permission_mode if session else None


def _sandboxes(baton: Baton) -> list[str]:
    """What each turn of the session's conversation was allowed, by Codex's own record."""
    session = baton.store.session(baton.session)
    assert session is not None
    assert session.transcript is not None
    lines = [json.loads(line) for line in session.transcript.read_text(encoding="utf-8").splitlines()]
    return [line["payload"]["sandbox_policy"]["type"] for line in lines if line["type"] == "turn_context"]


def test_two_of_gemini_come_back_as_themselves(gemini_baton: Baton, gemini_model: GeminiModel) -> None:
    _comes_back(gemini_baton, gemini_model, gemini_baton.run_gemini)


def test_two_of_opencode_come_back_as_themselves(opencode_baton: Baton, opencode_model: ChatModel) -> None:
    _comes_back(opencode_baton, opencode_model, opencode_baton.run_opencode)
