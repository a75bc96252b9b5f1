"""What agents say when their provider does not serve them, told apart and dated."""

from datetime import UTC, datetime

import pytest

from batonpass.agents.setbacks import kind_of, resets_at

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("kind", "text", "meant"),
    [
        ("rate_limit", "API Error: Request rejected (429) · This request would exceed the rate limit.", "rate_limit"),
        ("rate_limit", "Claude AI usage limit reached|1772460000", "quota"),
        ("rate_limit", "You've hit your session limit · resets 3pm (Europe/Berlin)", "quota"),
        ("other", "You exceeded your current quota, please check your plan and billing details.", "quota"),
        ("other", "You've hit your usage limit. Try again in 3 days 4 hours.", "quota"),
        ("overloaded", "Overloaded", "overloaded"),
        ("authentication", "invalid x-api-key", "authentication"),
        ("too_long", "prompt is too long", None),
        ("other", "Internal server error", None),
        (
            "rate_limit",
            "API Error: Server is temporarily limiting requests (not your usage limit) · Rate limited",
            "rate_limit",
        ),
        ("other", "Maximum context length limit reached", None),
        ("other", "output token limit reached", None),
        ("other", "Conversation limit reached", None),
        ("other", "You have hit your context limit", None),
        ("other", "cannot import /home/me/billing/app.py", None),
        ("other", "Claude usage limit reached. Your context is kept.", "quota"),
        ("rate_limit", "5-hour limit reached ∙ resets 3pm", "quota"),
        ("rate_limit", "[API Error: You have exhausted your daily quota on this model.]", "quota"),
        ("rate_limit", "Quota exceeded: GenerateRequestsPerDayPerProjectPerModel. Please retry in 41.8s.", "quota"),
    ],
)
def test_a_failure_is_told_apart_from_a_full_context(kind: str, text: str, meant: str | None) -> None:
    assert kind_of(kind, text) == meant


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Claude AI usage limit reached|1772460000", 1772460000 - NOON),
        ("Rate limit reached. Please try again in 1s.", 1),
        ("Please retry in 33.25s.", 33.25),
        ("You've hit your usage limit. Try again in 3 days 4 hours 5 minutes.", 3 * 86400 + 4 * 3600 + 300),
        ("limit reached, resets at 2026-03-02T14:30:00Z", 9000),
        ("You've hit your limit · resets 3pm (UTC)", 3 * 3600),
        ("Your limit for 5 hours is used up · resets 1:30am (Europe/Berlin)", 12.5 * 3600),
        ("You've hit your weekly limit · resets Mar 9, 3pm (UTC)", 7 * 86400 + 3 * 3600),
        ("You've hit your weekly limit · resets Mar 15 at 7pm (UTC)", 13 * 86400 + 7 * 3600),
        ("You've hit your usage limit. Try again at Mar 4th, 2026 11:30 AM. (UTC)", 2 * 86400 - 1800),
        ("resets today at 3pm (UTC)", 3 * 3600),
        ("Overloaded", None),
        ("resets 99pm", None),
        ("", None),
    ],
)
def test_the_end_of_a_limit_is_read_from_its_words(text: str, seconds: float | None) -> None:
    found = resets_at(text, NOON)
    if seconds is None:
        assert found is None or NOON < found <= NOON + 86400
    else:
        assert found == pytest.approx(NOON + seconds)


@pytest.mark.parametrize(
    "text",
    [
        "resets Feb 31 at 7pm (UTC)",
        "resets Monday at 7pm (UTC)",
        "resets 9 March at 7pm (UTC)",
        "resets Dec 24, 7pm (UTC)",  # further away than any limit lasts
        "resets Mar 1, 2026 7pm (UTC)",  # has passed
        "Quota exceeded: GenerateRequestsPerDayPerProjectPerModel. Please retry in 41.8s.",
    ],
)
def test_a_day_that_cannot_be_read_is_none_rather_than_today(text: str) -> None:
    assert resets_at(text, NOON) is None


def test_a_day_without_a_year_may_be_in_the_next_one() -> None:
    eve = datetime(2026, 12, 30, 12, 0, tzinfo=UTC).timestamp()
    assert resets_at("resets Jan 2 at 12pm (UTC)", eve) == eve + 3 * 86400


@pytest.mark.parametrize(
    ("text", "read", "ends"),
    [
        ("Try again at 12:04 AM (UTC)", "00:04:20", "00:05:00"),  # its own minute is not over: seconds are not told
        ("Try again at 12:04 AM (UTC)", "00:04:00", "00:05:00"),
        ("Try again at 12:04 AM (UTC)", "00:07:30", "00:07:30"),
        ("Try again at 11:58 PM (UTC)", "00:01:00", "00:01:00"),  # yesterday's
        ("Try again at Mar 2nd, 2026 12:04 AM (UTC)", "00:04:20", "00:05:00"),
    ],
)
def test_a_time_of_day_that_passed_just_now_means_now_and_not_tomorrow(text: str, read: str, ends: str) -> None:
    at, until = (datetime.fromisoformat(f"2026-03-02T{time}Z").timestamp() for time in (read, ends))
    assert resets_at(text, at) == until


def test_a_time_of_day_that_passed_long_ago_is_tomorrows() -> None:
    assert resets_at("resets 11am (UTC)", NOON) == NOON + 23 * 3600
