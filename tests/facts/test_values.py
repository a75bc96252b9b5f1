"""Ports, addresses, versions and names, with what they stand for."""

from pathlib import Path

from tests.facts.said import agent, facts_of, user


def test_values_are_kept_with_their_sentence(tmp_path: Path) -> None:
    facts = facts_of(
        tmp_path,
        user(1, "The broker listens on port 5672. See https://example.org/spec/v2 and ticket PAY-481."),
        agent(2, "The staging host runs node 20.11.1 and the queue is `orders-v2`; FEATURE_LEDGER is on."),
    )
    known = {(value.kind, value.value) for value in facts.values}
    assert known >= {
        ("port", "5672"), ("url", "https://example.org/spec/v2"), ("id", "PAY-481"), ("version", "20.11.1"),
        ("id", "orders-v2"), ("id", "FEATURE_LEDGER"),
    }  # fmt: skip
    assert next(v.text for v in facts.values if v.value == "5672") == "The broker listens on port 5672."


def test_a_value_that_was_replaced_is_stale(tmp_path: Path) -> None:
    facts = facts_of(
        tmp_path,
        user(1, "The dev server runs on port 3000. The database is on port 5432."),
        agent(2, "I moved the dev server from port 3000 to port 5173."),
        user(3, "The API pins version 1.4.2 of the client."),
        user(4, "The API now pins version 1.5.0 of the client."),
    )
    current = {value.value for value in facts.values}
    assert current >= {"5173", "5432", "1.5.0"}
    assert {value.value for value in facts.stale} == {"3000", "1.4.2"}
    assert not current & {"3000", "1.4.2"}


def test_a_new_value_of_the_very_same_thing_needs_no_word_of_change(tmp_path: Path) -> None:
    facts = facts_of(
        tmp_path,
        user(1, "Image tag of the cargo mailer: 7.21.41. The ferry mailer is on 4411. The visa mailer is on 5511."),
        user(2, "Image tag of the cargo mailer is 8.41.21. The ferry mailer is on 6622 these days, 4411 was taken."),
    )
    assert {value.value for value in facts.stale} == {"7.21.41", "4411"}
    assert {value.value for value in facts.values} >= {"8.41.21", "6622", "5511"}
