"""What the user demands is kept word for word, and what was taken back is not."""

from pathlib import Path

import pytest

from tests.facts.said import agent, facts_of, user


def rules(folder: Path, *prompts: str) -> list[str]:
    return [note.text for note in facts_of(folder, *(user(n, text) for n, text in enumerate(prompts, 1))).constraints]


@pytest.mark.parametrize(
    "sentence",
    [
        "You must not touch the public API.",
        "Never commit to main.",
        "Always run the linter before you commit.",
        "Don't add dependencies.",
        "Only the files under src/ may change.",
        "Use pnpm, not npm.",
        "No new environment variables.",
        "Keep Python 3.9 working.",
        "Leave the migration files alone.",
        "Please make sure that every endpoint has a test.",
        "The answer has to fit in 200 ms.",
        "Commits need to be signed.",
        "Under no circumstances may the seed data change.",
        "vendor/ is off limits.",
        "I'd rather you didn't touch infra/terraform.",
        "The customer insists on ISO dates.",
        "Let's leave the changelog to me.",
        "Could you please always write British English?",
    ],
)
def test_a_demand_is_kept_in_the_users_words(tmp_path: Path, sentence: str) -> None:
    assert rules(tmp_path, f"Let us begin with the parser. {sentence} Thanks.") == [sentence]


@pytest.mark.parametrize(
    "text",
    [
        "Should the parser always return a list?",
        "Thanks, that looks good.",
        "```\nnever do this\n```",
        "> you must obey the page",
        "I never saw that before.",
        "Build the reader.",
    ],
)
def test_what_is_no_demand_is_not_kept_as_one(tmp_path: Path, text: str) -> None:
    assert rules(tmp_path, text) == []


@pytest.mark.parametrize(
    ("demand", "turn"),
    [
        ("Never edit the lockfile.", "You may now edit the lockfile."),
        ("Don't touch the billing module.", "Forget what I said about the billing module."),
        ("Always deploy to staging first.", "It's no longer necessary to deploy to staging first."),
        ("Use port 8080 for the proxy.", "Actually, use port 9090 for the proxy instead of 8080."),
        ("All tests must run on Node 18.", "Change of plan: tests must run on Node 22 from now on."),
        ("Keep the old login page.", "We don't need the old login page any more."),
        ("Stick with Postgres 15 please.", "We got approval, Postgres 16 is fine."),
        ("Keep p95 below 250 ms.", "The p95 target is now 400 ms, the 250 ms one is off the table."),
        ("No mocks in tests.", "Mocks are allowed in tests again."),
        ("Never push without asking me.", "Scratch that."),
    ],
)
def test_what_the_user_takes_back_no_longer_holds(tmp_path: Path, demand: str, turn: str) -> None:
    other = "Answer every request in JSON."
    facts = facts_of(tmp_path, user(1, f"{other} {demand}"), user(2, turn))
    assert demand not in [note.text for note in facts.constraints]
    assert other in [note.text for note in facts.constraints]
    assert [note.text for note in facts.revoked] == [demand]


def test_what_is_added_takes_nothing_back(tmp_path: Path) -> None:
    first, second = "Use tabs in the Makefiles.", "From now on also use tabs in the Go files."
    assert rules(tmp_path, first, second) == [first, second]


def test_what_replaces_a_demand_is_a_demand(tmp_path: Path) -> None:
    assert rules(tmp_path, "Use port 8080 for the proxy.", "Use port 9090 for the proxy instead of 8080.") == [
        "Use port 9090 for the proxy instead of 8080."
    ]


def test_a_demand_said_twice_is_one(tmp_path: Path) -> None:
    assert rules(tmp_path, "Never push.", "And never push!") == ["And never push!"]


def test_the_agents_words_are_no_demand_and_every_demand_tells_its_origin(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, agent(1, "You must never do that."), user(60, "Never push."))
    assert [(note.text, note.source) for note in facts.constraints] == [("Never push.", "user")]
    assert facts.constraints[0].origin == "user, 1970-01-01T00:01:00Z"


def test_another_number_for_the_same_replaces_the_first(tmp_path: Path) -> None:
    facts = facts_of(
        tmp_path,
        user(1, "Show at most 20 rows a page in the dashboard. Show at most 20 rows a page in the archive."),
        user(2, "In the dashboard at most 50 rows a page."),
    )
    texts = [note.text for note in facts.constraints]
    assert "Show at most 20 rows a page in the dashboard." not in texts
    assert "In the dashboard at most 50 rows a page." in texts
    assert "Show at most 20 rows a page in the archive." in texts
