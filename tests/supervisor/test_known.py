"""What is known of a session is read while it runs, each line once, and is at hand when it is wanted."""

from collections.abc import Callable
from pathlib import Path

from batonpass.clock import Clock
from batonpass.config import PROJECT_FILE
from batonpass.facts.model import Facts
from batonpass.supervisor.known import Known
from batonpass.supervisor.settings import Settings
from batonpass.supervisor.watch import Watch
from batonpass.transcripts.events import Event
from tests.supervisor.fakes import HastyClock, Talk, ToldAgent, a_watch


class CountingAgent(ToldAgent):
    """Notes every line that somebody reads."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[bytes] = []

    def reader(self) -> Callable[[bytes], list[Event]]:
        return self._read

    def _read(self, line: bytes) -> list[Event]:
        self.lines.append(line)
        return list(super().reader()(line))


def facts(known: Known, watch: Watch, clock: Clock, max_age: float = 0.0) -> Facts:
    return known.facts(watch, watch.conversation, at=clock.now(), previous=None, max_age=max_age)


async def test_lines_that_were_followed_are_not_read_again_for_the_handoff(tmp_path: Path, clock: HastyClock) -> None:
    agent = CountingAgent()
    watch, talk = a_watch(tmp_path, clock, agent)
    known = Known(Settings(tmp_path / "home", {}))
    talk.prompt("never touch the lexer")
    talk.say("I will not.", used=1_000)
    await known.follow(watch)
    followed = len(agent.lines)
    assert followed >= 2
    talk.prompt("and go on")
    assert [said.text for said in facts(known, watch, clock).prompts] == ["never touch the lexer", "and go on"]
    assert len(agent.lines) == followed + 1


async def test_facts_of_a_moment_ago_are_taken_again_until_something_is_said(tmp_path: Path, clock: HastyClock) -> None:
    watch, talk = a_watch(tmp_path, clock)
    known = Known(Settings(tmp_path / "home", {}))
    talk.prompt("go on")
    first = facts(known, watch, clock)
    assert facts(known, watch, clock, max_age=5.0) is first
    assert facts(known, watch, clock) is not first
    talk.prompt("stop, something else")
    assert len(facts(known, watch, clock, max_age=5.0).prompts) == 2


async def test_a_folder_of_handoffs_that_was_renamed_is_told_apart_at_once(tmp_path: Path, clock: HastyClock) -> None:
    watch, talk = a_watch(tmp_path, clock)
    known = Known(Settings(tmp_path / "home", {}))
    talk.prompt("go on")
    before = facts(known, watch, clock)
    settings = watch.session.project / PROJECT_FILE
    settings.parent.mkdir()
    settings.write_text("handoff_dir: elsewhere\n", encoding="utf-8")
    assert facts(known, watch, clock, max_age=5.0) is not before


async def test_a_session_without_a_record_has_facts_that_say_so(tmp_path: Path, clock: HastyClock) -> None:
    watch, _ = a_watch(tmp_path, clock, transcript=None)
    known = Known(Settings(tmp_path / "home", {}))
    await known.follow(watch)
    assert "no events" in facts(known, watch, clock).missing[0]


async def test_facts_of_a_conversation_that_was_left_are_let_go_once_no_handoff_needs_them(
    tmp_path: Path, clock: HastyClock
) -> None:
    agent = CountingAgent()
    watch, talk = a_watch(tmp_path, clock, agent)
    known = Known(Settings(tmp_path / "home", {}))
    talk.prompt("never touch the lexer")
    left, watch.step = watch.conversation, "prime"
    await known.follow(watch)
    begun = Talk(tmp_path / "next.jsonl", clock)
    watch.begin("another", begun.path, "clear", clock.now())
    begun.prompt("go on")
    await known.follow(watch)
    read = len(agent.lines)
    assert known.facts(watch, left, at=clock.now(), previous=None).prompts
    assert len(agent.lines) == read, "they are at hand for the handoff that is under way"
    watch.step = None
    await known.follow(watch)
    assert known.last(left) is None
    read = len(agent.lines)
    assert known.facts(watch, left, at=clock.now(), previous=None).prompts
    assert len(agent.lines) > read, "whoever still asks has its record read anew"
