"""Decisions with their reasons, and ways that failed."""

from pathlib import Path

from tests.facts.said import agent, facts_of, ran, user


def test_decisions_are_kept_with_their_reasons(tmp_path: Path) -> None:
    facts = facts_of(
        tmp_path,
        agent(1, "I looked at it. I decided to keep bytes. Because a character may be cut in two. Now the tests."),
        user(2, "We chose PostgreSQL over MySQL because of partial indexes."),
        agent(3, "Should we go with Redis?"),
    )
    assert [(note.text, note.source) for note in facts.decisions] == [
        ("I decided to keep bytes. Because a character may be cut in two.", "agent"),
        ("We chose PostgreSQL over MySQL because of partial indexes.", "user"),
    ]


def test_a_decision_that_was_turned_round_is_gone(tmp_path: Path) -> None:
    facts = facts_of(
        tmp_path,
        agent(1, "I decided to store sessions in Redis because it is fast."),
        agent(2, "I chose zod for validation."),
        agent(3, "On second thought I switched sessions from Redis to PostgreSQL because it survives a restart."),
    )
    texts = [note.text for note in facts.decisions]
    assert "I chose zod for validation." in texts
    assert any("PostgreSQL" in text for text in texts)
    assert not any("because it is fast" in text for text in texts)


def test_ways_that_failed_are_kept(tmp_path: Path) -> None:
    facts = facts_of(
        tmp_path,
        agent(1, "I tried a bigger buffer but the reader still loses the line."),
        agent(2, "Locking the file didn't work on NFS."),
        agent(3, "All good now."),
    )
    assert [note.text for note in facts.failures] == [
        "I tried a bigger buffer but the reader still loses the line.",
        "Locking the file didn't work on NFS.",
    ]


def test_a_command_that_failed_before_another_way_worked_is_a_way_that_failed(tmp_path: Path) -> None:
    facts = facts_of(
        tmp_path,
        ran(1, "npm install", "ERESOLVE could not resolve", ok=False),
        ran(2, "npm install --legacy-peer-deps", "added 12 packages"),
    )
    assert [note.text for note in facts.failures] == [
        "`npm install` failed with `ERESOLVE could not resolve`; `npm install --legacy-peer-deps` worked."
    ]
    assert facts.errors == ()
