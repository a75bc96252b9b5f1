"""What the agent said that no rule knows how to name, and what was said later about the same thing."""

from pathlib import Path

from batonpass.facts.later import Later, beside
from batonpass.facts.remarks import substance
from batonpass.facts.wording import says
from tests.facts.said import agent, facts_of, user


def test_findings_are_kept_and_the_course_of_the_work_is_not(tmp_path: Path) -> None:
    facts = facts_of(
        tmp_path,
        agent(1, "Let me look at the tests. The border check refuses dates without a zone, guessing went wrong twice."),
        agent(2, "Now I run them. Done."),
    )
    assert [note.text for note in facts.remarks] == [
        "The border check refuses dates without a zone, guessing went wrong twice."
    ]


def test_of_very_many_remarks_those_that_tell_most_are_kept(tmp_path: Path) -> None:
    said = [agent(n, f"The piece of number {n} looks fine to me today.") for n in range(1, 400)]
    facts = facts_of(tmp_path, agent(0.5, "src/cache.py needs LEASE_LIMIT_7, otherwise two runs would clash."), *said)
    assert 100 <= len(facts.remarks) <= 200
    assert facts.remarks[0].text.startswith("src/cache.py needs LEASE_LIMIT_7")


def test_a_reason_is_worth_more_than_a_step() -> None:
    assert substance("I will look at the next file now.") < substance("A dict is enough; a class would be overkill.")


def test_a_later_sentence_about_the_same_stands_beside_the_earlier_one(tmp_path: Path) -> None:
    facts = facts_of(
        tmp_path,
        user(1, "The tariff importer must not change before Tom is back."),
        user(2, "The harbour mailer must stay as it is."),
        user(3, "Tom looks after the tariff importer himself."),
    )
    later = Later(facts)
    tariff, harbour = facts.constraints[:2]
    assert later.of_user(tariff) == "Tom looks after the tariff importer himself."
    assert later.of_user(harbour) is None
    assert beside(harbour.text, later.of_user(harbour)) == harbour.text
    assert beside("Never.", "Now and then.") == "Never. (said later: Now and then.)"


def test_words_that_all_of_a_kind_have_do_not_tell_which_one_is_meant() -> None:
    todos = ["Split the tariff importer into two modules", "Split the ferry mailer into two modules"]
    text = "- still open: split the ferry mailer into two modules"
    assert says(text, todos[1], among=todos)
    assert not says(text, todos[0], among=todos)


def test_two_items_of_a_list_are_two_places() -> None:
    assert not says("- split the report\n- mail the tariff", "Split the tariff report", share=0.8)
    assert says("split the\ntariff report", "Split the tariff report", share=0.8)
