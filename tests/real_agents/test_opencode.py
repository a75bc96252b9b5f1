"""The real opencode under Baton, in tmux, with the scripted model. It starts slowly, so one start serves many looks."""

from pathlib import Path

import pytest

from batonpass.delivery import Channel
from batonpass.sim.model_wire import Kind
from batonpass.sim.openai_chat import ChatModel
from batonpass.sim.worker import Worker, WorkerSettings
from tests.real_agents.baton import Baton
from tests.real_agents.checker import assert_passed
from tests.real_agents.users import UsersHome, end, prints


def test_a_jump_over_the_threshold_is_handed_off_over_the_port_before_opencode_compacts(
    opencode_baton: Baton, opencode_model: ChatModel, opencode_home: dict[str, str], project: Path
) -> None:
    signed_in = Path(opencode_home["HOME"]) / ".local" / "share" / "opencode" / "auth.json"
    signed_in.parent.mkdir(parents=True, exist_ok=True)
    signed_in.write_text('{"another": {"type": "api", "key": "the user\'s own"}}', encoding="utf-8")
    owned = (project / "README.md", project / ".git" / "config")
    before, users_home = prints(*owned), UsersHome("opencode", opencode_home)
    opencode_model.brain = Worker(WorkerSettings(start=76_723, step=0, jumps={2: 178_381}))
    status = opencode_baton.run_opencode(prompt="please begin")
    first = opencode_baton.rest()
    assert (first["used"], first["window"], first["usable"]) == (76_723, 200_000, 191_808)
    assert (first["percent"], first["model"]) == (40, "rehearsal/rehearsal-1")
    opencode_baton.say("now read everything")
    cycle = opencode_baton.cycle(timeout=300)
    assert_passed(opencode_baton, opencode_model, cycle)
    assert (cycle.way, cycle.old_agent_session) == ("clear", first["agent_session"])
    assert cycle.percent == pytest.approx(93, abs=0.5)
    assert {given.channel for given in opencode_baton.store.deliveries(cycle=cycle.id)} == {Channel.API}
    assert not [request for request in opencode_model.requests if request.kind is Kind.COMPACT]
    after = opencode_baton.rest()
    assert (after["used"], after["window"], after["usable"], after["confidence"]) == (76_723, 200_000, 191_808, 0.95)
    assert (after["pid"], after["agent_session"]) == (status["pid"], cycle.new_agent_session)
    assert "baton_receipt" in opencode_baton.screen()
    assert prints(*owned) == before
    _no_password_is_written_down(opencode_baton, after["pid"])
    end(opencode_baton, "/exit")
    users_home.assert_kept(opencode_baton.home)


def _no_password_is_written_down(baton: Baton, pid: int) -> None:
    given = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    (secret,) = [word.partition(b"=")[2] for word in given if word.startswith(b"OPENCODE_SERVER_PASSWORD=")]
    assert len(secret) >= 32
    assert secret not in Path(f"/proc/{pid}/cmdline").read_bytes()
    holders = [path for path in baton.home.rglob("*") if path.is_file() and secret in path.read_bytes()]
    assert [path.name for path in holders] == ["launch.json"]
    assert holders[0].stat().st_mode & 0o077 == 0
