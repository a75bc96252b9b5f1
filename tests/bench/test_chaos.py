"""The kills of the daemon: a tiny run ends well, and the judge sees every kind of loss."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from batonpass.handoff.document import Handoff, Section
from batonpass.handoff.seal import seal
from batonpass.store import CycleRecord, CycleState, HandoffRecord, StepRecord
from tests.bench.test_bench import ROOT, bench

sys.path.insert(0, str(ROOT / "bench"))

from _judge import (
    CLEARED_BY_HAND,
    Start,
    Story,
    asked_again,
    misdirected,
    sealed_times,
    story_of,
    twice,
    unsealed,
)
from _pages import write_block

A, B = Start(1.0, "a", "startup"), Start(5.0, "b", "clear")


def test_a_few_kills_lose_nothing() -> None:
    lines, figures = bench("chaos.py", "--kills", "1", "--sessions", "1", timeout=220)
    assert any(line.startswith("| lost") for line in lines)
    assert (figures["kills"], sum(figures["by_point"].values())) == (1, 1)
    assert (figures["lost"], figures["typed_twice"], figures["cleared_unsealed"], figures["unfinished"]) == (0, 0, 0, 0)
    assert figures["cycles"] >= figures["done"]


@pytest.mark.long
@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_a_crew_survives_kills_at_random_points(store: str) -> None:
    _, figures = bench("chaos.py", "--kills", "3", "--sessions", "3", "--store", store, "--json", timeout=230)
    assert (figures["kills"], figures["store"]) == (3, store)
    assert (figures["lost"], figures["typed_twice"], figures["cleared_unsealed"]) == (0, 0, 0)
    assert figures["done"] >= 1


def test_a_clear_after_the_seal_is_as_it_should_be() -> None:
    assert unsealed(Story([A, B], [(2.0, "a", "hello")]), {"a": [4.0]}) == []


def test_a_clear_before_the_seal_is_seen() -> None:
    ((sentence, lost),) = unsealed(Story([A, B], [(2.0, "a", "hello")]), {"a": [6.0]})
    assert not lost
    assert "sealed later" in sentence


def test_a_conversation_that_was_never_sealed_is_lost() -> None:
    ((sentence, lost),) = unsealed(Story([A, B], [(2.0, "a", "hello")]), {})
    assert lost
    assert "sealed never" in sentence


def test_a_conversation_in_which_nothing_was_said_holds_nothing_that_could_be_lost() -> None:
    assert unsealed(Story([A, B], []), {}) == []
    third = Start(7.0, "c", "startup")
    assert len(unsealed(Story([A, B, third], [(2.0, "a", "hello")]), {})) == 2


def test_a_successor_that_gives_way_to_its_predecessor_needs_no_handoff_but_the_predecessor_a_new_one() -> None:
    back, third = Start(8.0, "a", "resume"), Start(9.0, "c", "startup")
    prompts = [(2.0, "a", "hello"), (6.0, "b", "go on"), (8.5, "a", "that was wrong")]
    assert unsealed(Story([A, B, back, third], prompts), {"a": [4.0, 8.7]}) == []
    assert len(unsealed(Story([A, B, back, third], prompts), {"a": [4.0]})) == 1


def test_a_successor_that_died_with_nothing_but_its_kick_needs_no_handoff_of_its_own() -> None:
    third = Start(7.0, "c", "startup")
    prompts = [(2.0, "a", "hello"), (6.0, "b", "[baton 7f3a91c2 kick 1] go")]
    story = Story([A, B, third], prompts)
    assert unsealed(story, {"a": [4.0]}, frozenset({"b"})) == []
    assert len(unsealed(story, {"a": [4.0]})) == 1


def test_a_conversation_that_a_person_cleared_or_left_was_theirs_unless_it_was_being_handed_off() -> None:
    cycle = CycleRecord("7f3a91c2", "s", "h", "full", started=3.0, ended=9.0, old_agent_session="a")
    said = [(2.0, "a", "hello"), (6.0, "b", "and now?")]
    commands = (CLEARED_BY_HAND, f"{CLEARED_BY_HAND}keep the public names")  # of the second, the first Enter was lost
    for left in (*(Start(5.0, "b", "clear", one) for one in commands), Start(5.0, "b", "resume", "/resume b")):
        story = Story([A, left, Start(8.0, "c", "clear")], said)
        assert unsealed(story, {"b": [7.0]}) == []
    cleared = Story([A, Start(5.0, "b", "clear", CLEARED_BY_HAND)], said)
    ((sentence, lost),) = unsealed(cleared, {}, cycles=[cycle])
    assert lost
    assert "sealed never" in sentence
    assert unsealed(cleared, {"a": [6.0]}, cycles=[cycle]) == [], "later will do: it was left before anybody could"
    assert unsealed(cleared, {}, cycles=[replace(cycle, state=CycleState.POSTPONED)]) == []


def test_a_request_in_another_conversation_than_it_was_about_is_seen() -> None:
    cycle = CycleRecord("7f3a91c2", "s", "h", "full", started=3.0, old_agent_session="a")
    ask, kick = "[baton 7f3a91c2 ask 1] write", "[baton 7f3a91c2 kick 1] go"
    assert misdirected(Story([A, B], [(4.0, "a", ask), (6.0, "b", kick)]), [cycle]) == []
    assert len(misdirected(Story([A, B], [(6.0, "b", ask)]), [cycle])) == 1
    assert len(misdirected(Story([A, B], [(4.0, "a", kick)]), [cycle])) == 1


def test_a_prompt_of_batons_that_arrives_twice_is_seen_also_across_conversations() -> None:
    tag = "[baton 7f3a91c2 kick 1]"
    assert twice(Story([A, B], [(2.0, "a", f"{tag} go"), (6.0, "b", f"{tag} go")])) == {tag: 2}
    assert twice(Story([A, B], [(2.0, "a", f"{tag} go"), (6.0, "b", "go")])) == {}


def _steps(*ended: tuple[str, str, int]) -> dict[str, list[StepRecord]]:
    return {
        "7f3a91c2": [
            StepRecord("7f3a91c2", seq, step, attempt, state, float(seq), seq + 0.5, None, {})
            for seq, (step, state, attempt) in enumerate(ended)
        ]
    }


def test_a_second_request_of_a_cycle_is_seen_unless_something_that_came_of_the_first_called_for_it() -> None:
    asks = [(2.0, "a", "[baton 7f3a91c2 ask 1] write"), (4.0, "a", "[baton 7f3a91c2 ask 2] write")]
    story = Story([A, B], asks)
    unheard = _steps(("ask", "not_seen", 1), ("safe_point", "ok", 1), ("ask", "ok", 2), ("check", "gaps", 1))
    (sentence,) = asked_again(story, unheard)
    assert sentence == "ask 2 of cycle 7f3a91c2 arrived after ask 1, which nothing called for"
    for reason in (("check", "gaps", 1), ("await", "no_document", 1), ("pass", "new_prompt", 1), ("back", "ok", 1)):
        assert asked_again(story, _steps(("ask", "ok", 1), reason, ("ask", "ok", 2))) == []
    assert asked_again(Story([A, B], asks[1:]), unheard) == [], "the first was never heard"
    assert asked_again(story, {}) != []


def test_a_second_kick_of_a_cycle_is_seen_unless_the_first_was_answered_wrongly_or_its_successor_died() -> None:
    story = Story([A, B], [(6.0, "b", "[baton 7f3a91c2 kick 1] go"), (8.0, "b", "[baton 7f3a91c2 kick 2] go")])
    assert len(asked_again(story, _steps(("prime", "not_seen", 1), ("prime", "ok", 2), ("verify", "ok", 2)))) == 1
    assert asked_again(story, _steps(("prime", "ok", 1), ("verify", "rejected", 1), ("prime", "ok", 2))) == []
    assert asked_again(story, _steps(("prime", "gone", 1), ("pass", "ok", 2), ("prime", "ok", 2))) == []


def test_a_sealed_file_counts_from_when_it_came_to_its_name(tmp_path: Path) -> None:
    path, copy = tmp_path / "handoff.md", tmp_path / "copy.md"
    for file in (path, copy):
        file.write_text(seal(Handoff(number=1, sections=(Section("Current Task", "Count."),))).text, encoding="utf-8")
        os.utime(file, (5.0, 5.0))
    gone = HandoffRecord("one", tmp_path / "deleted.md", 1, 5.0, "s", tmp_path, "scripted", agent_session="b")
    found = sealed_times([replace(gone, path=path, agent_session="a"), gone], {gone.path: copy})
    assert found["a"] == [path.stat().st_ctime]
    assert found["a"][0] > 5.0
    assert found["b"] == [5.0]


def test_the_story_of_a_project_is_told_by_its_own_transcripts_only() -> None:
    def talk(name: str, cwd: str) -> list[dict[str, object]]:
        started = {"event": "session", "at": 1.0, "session": name, "source": "startup", "cwd": cwd}
        return [started, {"event": "prompted", "at": 2.0, "text": "hello"}]

    story = story_of([talk("a", "/here"), talk("b", "/there"), []], "/here")
    assert [start.conversation for start in story.starts] == ["a"]
    assert story.prompts == [(2.0, "a", "hello")]


def test_a_block_is_replaced_between_its_marks_and_the_rest_of_the_page_stays(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n<!-- x -->\n<!-- /x -->\n\nMore words.\n", encoding="utf-8")
    for lost in (1, 2):
        write_block("x", "bench/x.py", [["lost"], [f"{lost} of 9"]], {"lost": lost}, page=page)
        write_block("y", "bench/y.py", [["lost"], ["7"]], {}, page=page)
    text = page.read_text(encoding="utf-8")
    assert (text.count("`bench/x.py`"), text.count("`bench/y.py`")) == (1, 1)
    assert "| 2 of 9 |" in text
    assert "1 of 9" not in text
    assert text.index("bench/x.py") < text.index("More words.") < text.index("bench/y.py")


def test_a_conversation_that_was_brought_back_and_ended_again_at_once_needs_no_second_handoff() -> None:
    again, third = Start(8.0, "a", "resume"), Start(9.0, "c", "startup")
    prompts = [(2.0, "a", "hello"), (8.5, "a", "[baton 7f3a91c2 restored 1] This machine was restarted")]
    assert unsealed(Story([A, again, third], prompts, [(3.0, "a")]), {"a": [4.0]}) == []
    assert len(unsealed(Story([A, again, third], prompts, [(3.0, "a"), (8.7, "a")]), {"a": [4.0]})) == 1
