"""An agent whose session-start hook comes with the first prompt: until then its own word tells what is in front."""

from pathlib import Path

import pytest

from batonpass.agents.base import Found, HookKind, HookReport, Status
from batonpass.clock import Clock
from batonpass.session import State
from batonpass.supervisor.watch import Watch
from tests.supervisor.fakes import OTHER, TALK, HastyClock, ToldAgent, a_watch


class LateAgent(ToldAgent):
    starts_with_prompt = True

    def __init__(self) -> None:
        super().__init__()
        self.says = Status(State.IDLE, TALK)
        self.found: Found | None = None

    def find(self, pid: int) -> Found | None:
        return self.found


@pytest.fixture
def agent() -> LateAgent:
    return LateAgent()


@pytest.fixture
def watch(tmp_path: Path, agent: LateAgent) -> Watch:
    clock: Clock = HastyClock()
    made, _ = a_watch(tmp_path, clock, agent)
    made.hooks_seen = 3
    made.begin(TALK, None, "startup", clock.now())
    return made


def says(watch: Watch, agent: LateAgent, conversation: str) -> bool:
    agent.says = Status(State.IDLE, conversation)
    watch.refresh()
    return watch.follow_word()


def test_a_conversation_that_the_agent_names_is_followed_before_its_hook(watch: Watch, agent: LateAgent) -> None:
    assert says(watch, agent, OTHER)
    assert watch.conversation.agent_session == OTHER
    assert watch.starts[-1].source == "clear"
    assert not watch.follow_word()


def test_a_hook_that_comes_later_tells_nothing_new_but_where_the_record_is(watch: Watch, agent: LateAgent) -> None:
    says(watch, agent, OTHER)
    transcript = watch.folder / "rollout.jsonl"
    report = HookReport(HookKind.SESSION_START, OTHER, transcript, source="clear")
    assert watch.knows_start(report)
    assert not watch.take_hook(report, watch.clock.now())
    assert watch.conversation.transcript == transcript


def test_a_conversation_that_was_left_is_not_gone_back_to_on_the_agents_word(watch: Watch, agent: LateAgent) -> None:
    says(watch, agent, OTHER)
    watch.take_hook(HookReport(HookKind.SESSION_START, TALK, source="resume"), watch.clock.now())
    assert not says(watch, agent, OTHER)
    assert watch.conversation.agent_session == TALK


def test_where_hooks_tell_at_once_they_are_waited_for(tmp_path: Path) -> None:
    agent = LateAgent()
    agent.starts_with_prompt = False
    watch, _ = a_watch(tmp_path, HastyClock(), agent)
    watch.hooks_seen = 1
    assert not says(watch, agent, OTHER)


def test_where_a_hook_was_lost_the_agents_word_is_followed_after_a_while(tmp_path: Path) -> None:
    agent, clock = LateAgent(), HastyClock()
    agent.starts_with_prompt = False
    agent.found = Found(4712, OTHER, tmp_path / "other.jsonl")
    watch, _ = a_watch(tmp_path, clock, agent)
    watch.hooks_seen = 1
    assert not says(watch, agent, OTHER)
    assert watch.left_for == OTHER
    clock.advance(3)
    assert watch.follow_word()
    assert (watch.conversation.agent_session, watch.starts[-1].source) == (OTHER, "clear")


def test_a_word_that_is_older_than_what_a_hook_has_just_told_is_given_time_to_change(tmp_path: Path) -> None:
    agent, clock = LateAgent(), HastyClock()
    agent.starts_with_prompt = False
    watch, _ = a_watch(tmp_path, clock, agent)
    assert not says(watch, agent, TALK)
    clock.advance(60)
    watch.take_hook(HookReport(HookKind.SESSION_START, OTHER, source="clear"), clock.now())
    assert not watch.follow_word()
