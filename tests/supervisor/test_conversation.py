from pathlib import Path

import pytest

from batonpass.clock import ManualClock
from batonpass.supervisor.conversation import Conversation
from tests.supervisor.fakes import TALK, Talk, ToldAgent

ASK = "[baton 7f3a91c2 ask 1]"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1000.0)


@pytest.fixture
def talk(tmp_path: Path, clock: ManualClock) -> Talk:
    return Talk(tmp_path / "talk.jsonl", clock)


@pytest.fixture
def conversation(talk: Talk) -> Conversation:
    return Conversation(TALK, talk.path, ToldAgent().record)


def test_a_read_brings_only_what_is_new(conversation: Conversation, talk: Talk) -> None:
    talk.prompt("hello")
    talk.say("hi", used=500)
    news = conversation.read()
    assert ([usage.used for usage in news.used], news.any) == ([500], True)
    assert conversation.prompts == 1
    assert not conversation.read().any
    talk.say("more", used=700)
    assert [usage.used for usage in conversation.read().used] == [700]


def test_a_tag_has_arrived_when_a_prompt_carries_it_and_not_when_the_agent_repeats_it(
    conversation: Conversation, talk: Talk
) -> None:
    talk.say(f"I was told {ASK}")
    assert conversation.read().tags == ()
    assert conversation.prompted(ASK) is None
    talk.prompt(f"{ASK} write it")
    assert conversation.read().tags == ((ASK, 1000.0),)
    assert conversation.prompted(ASK) == 1


def test_what_the_agent_said_in_a_turn_ends_where_another_turn_begins(conversation: Conversation, talk: Talk) -> None:
    talk.say("before")
    talk.prompt(f"{ASK} write it")
    talk.say("one")
    talk.prompt("feedback of a hook", origin="hook")
    talk.say("two")
    talk.prompt("a background task ended", origin="system")
    talk.say("three")
    conversation.read()
    assert conversation.said_after(ASK) == ["one", "two"]
    assert conversation.last_said() == "three"


def test_a_persons_prompts_are_told_from_batons_and_from_the_systems(conversation: Conversation, talk: Talk) -> None:
    talk.prompt("too early")
    talk.prompt(f"{ASK} write it", origin="hook")
    talk.prompt("a task ended", origin="system")
    talk.prompt("[baton 7f3a91c2 ask 2] once more")
    talk.prompt("by the way")
    conversation.read()
    assert [prompt.text for prompt in conversation.human_after(ASK)] == ["by the way"]
    assert conversation.human_after("[baton 00000000 ask 1]") == []


@pytest.mark.parametrize("event", ["turn_ended", "interrupted", "failed"])
def test_a_turn_is_over_by_the_record_only_after_its_prompt(conversation: Conversation, talk: Talk, event: str) -> None:
    talk.add(event)
    talk.prompt(f"{ASK} write it")
    conversation.read()
    assert not conversation.ended_after(ASK)
    talk.add(event)
    conversation.read()
    assert conversation.ended_after(ASK)


def test_a_file_that_was_replaced_is_read_anew_and_the_old_is_forgotten(conversation: Conversation, talk: Talk) -> None:
    talk.prompt("old")
    conversation.read()
    talk.path.unlink()
    talk.prompt("new")
    talk.say("newer")
    assert conversation.read().any
    assert [getattr(event, "text", None) for event in conversation.log] == ["new", "newer"]
    assert conversation.prompts == 1


def test_a_torn_line_is_waited_for(conversation: Conversation, talk: Talk) -> None:
    talk.prompt("whole")
    whole = talk.path.read_bytes()
    talk.path.write_bytes(whole + whole[:20])
    conversation.read()
    assert conversation.prompts == 1
    with talk.path.open("ab") as file:
        file.write(whole[20:])
    conversation.read()
    assert conversation.prompts == 2
