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
        ("try again at 11:59 AM. (UTC)", None),
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
