"""The size budget and the seal."""

from dataclasses import replace
from pathlib import Path

import pytest

from batonpass.facts import Change, Command, Facts, GitFacts, Utterance
from batonpass.handoff import record
from batonpass.handoff.document import Handoff
from batonpass.handoff.draft import Meta, from_facts
from batonpass.handoff.fit import KEPT_WHOLE, MAX_CHARS, STEPS, fit
from batonpass.handoff.items import items
from batonpass.handoff.markdown import parse, render
from batonpass.handoff.seal import checksum_ok, seal

META = Meta(1, None, 1e9, "s1", "claude", None, "p", "by hand", checkpoint="/p/tmp/x.json.gz")
SECRET = "sk-ant-api03-" + "Ab1" * 20


def big_facts() -> Facts:
    return Facts(
        at=1,
        project=Path("/p"),
        agent="claude",
        agent_session=None,
        transcript=None,
        git=GitFacts("main", "a" * 40, changes=tuple(Change(f"src/file{n}.py", "modified") for n in range(30))),
        prompts=tuple(Utterance(n, f"Prompt number {n}. " + "words " * 400) for n in range(20)),
        said=tuple(Utterance(n, f"Answer number {n}. " + "words " * 900) for n in range(5)),
        commands=tuple(Command(n, f"make step{n}", True, 0, "output " * 150) for n in range(15)),
        missing=("The screen could not be read.",),
    )


def recorded(handoff: Handoff, title: str) -> str:
    return next(section.body for section in handoff.recorded if section.title == title)


def test_a_document_within_the_budget_is_not_touched() -> None:
    handoff = from_facts(replace(big_facts(), prompts=(), said=(), commands=()), META)
    assert fit(handoff) == handoff


def test_a_large_document_is_brought_within_the_budget() -> None:
    handoff = from_facts(big_facts(), META)
    assert len(render(handoff)) > 50_000
    assert len(render(fit(handoff))) <= MAX_CHARS


def test_what_must_never_be_dropped_is_whole_even_in_the_smallest_document() -> None:
    handoff = from_facts(big_facts(), META)
    small = fit(handoff, max_chars=100)
    assert small.sections == handoff.sections
    for title in KEPT_WHOLE & {section.title for section in handoff.recorded}:
        assert recorded(small, title) == recorded(handoff, title)


def test_the_users_last_prompt_outlives_every_older_one() -> None:
    small = fit(from_facts(big_facts(), META), max_chars=12_000)
    assert "Prompt number 19. " + "words " * 400 in recorded(small, record.PROMPTS)
    assert "words " * 400 not in recorded(small, record.PROMPTS).split("#### Prompt 20")[0]


def test_the_agents_oldest_texts_go_first() -> None:
    whole = from_facts(big_facts(), META)
    slightly = fit(whole, max_chars=len(render(whole)) - 1_000)
    assert recorded(slightly, record.PROMPTS) == recorded(whole, record.PROMPTS)
    assert recorded(slightly, record.COMMANDS) == recorded(whole, record.COMMANDS)
    assert recorded(slightly, record.SAID) != recorded(whole, record.SAID)


def test_what_was_cut_points_to_the_full_record() -> None:
    small = fit(from_facts(big_facts(), META))
    assert recorded(small, record.SAID).startswith("#### 4 older ones left out; see the checkpoint under Sources")
    assert "/p/tmp/x.json.gz" in recorded(small, record.SOURCES)


def test_nothing_that_is_kept_whole_is_ever_cut() -> None:
    assert not KEPT_WHOLE & {title for title, _ in STEPS}


def test_a_sealed_text_proves_itself() -> None:
    sealed = seal(from_facts(big_facts(), META))
    assert checksum_ok(sealed.text) is True
    assert parse(sealed.text) == sealed.handoff
    assert sealed.text.rstrip().split("\n")[-1].startswith('<!-- baton: {"number": 1, "checksum": "sha256:')


@pytest.mark.parametrize("change", [("main", "mein"), ("# Context", "# Kontext"), ("\n\n<!--", "\n\nmore\n\n<!--")])
def test_a_changed_text_does_not(change: tuple[str, str]) -> None:
    text = seal(from_facts(big_facts(), META)).text
    assert checksum_ok(text.replace(*change)) is False


def test_a_text_without_a_seal_is_neither_right_nor_wrong() -> None:
    assert checksum_ok("## Current Task\nx\n") is None


def test_the_seal_gives_ids_and_takes_secrets_out() -> None:
    facts = replace(big_facts(), prompts=(Utterance(1, f"Use {SECRET} please"),))
    sealed = seal(from_facts(facts, META))
    assert SECRET not in sealed.text
    assert sealed.redacted["anthropic-key"] >= 1
    assert [item.id for item in items(sealed.handoff)] == ["N1"]


def test_a_secret_at_the_place_of_a_cut_leaves_no_half() -> None:
    prompt = "x" * 270 + " " + SECRET + " tail"
    for ahead in range(0, 60, 7):
        facts = replace(big_facts(), prompts=(Utterance(1, "y" * ahead + prompt),), said=(), commands=())
        assert SECRET[:14] not in seal(from_facts(facts, META)).text
