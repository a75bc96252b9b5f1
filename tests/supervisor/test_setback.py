"""When to wait for a provider, when to go on with another agent, and when to call a person."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batonpass.config.schema import Quota
from batonpass.supervisor.setback import (
    MOST_TRIES,
    Call,
    Phase,
    Setback,
    Switch,
    Wait,
    choose,
    kept,
    put_off,
    read,
    serves_again,
)

NOW = 1_000_000.0
LIMITS = Quota()
KINDS = ("rate_limit", "quota", "overloaded", "authentication")


def test_a_limit_that_ends_soon_is_waited_for_even_where_others_could_go_on() -> None:
    assert serves_again("quota", NOW + 300, 0, NOW, LIMITS) == NOW + 300
    assert choose("quota", NOW + 300, NOW, {"codex": 0.0}, LIMITS) == Wait(NOW + 300)


def test_a_quota_that_lasts_longer_sends_the_work_to_the_next_agent_who_serves() -> None:
    assert serves_again("quota", NOW + 7200, 0, NOW, LIMITS) == NOW + 7200
    assert choose("quota", NOW + 7200, NOW, {"codex": NOW + 60, "gemini": NOW}, LIMITS) == Switch("gemini")


def test_a_quota_of_unknown_end_is_tried_again_after_an_hour() -> None:
    assert serves_again("quota", None, 0, NOW, LIMITS) == NOW + 3600


def test_a_rate_limit_is_waited_for_ever_longer_and_then_taken_for_the_end() -> None:
    dates = [serves_again("rate_limit", None, tries, NOW, LIMITS) for tries in range(MOST_TRIES + 1)]
    assert dates == [*(NOW + 30 * 2**tries for tries in range(MOST_TRIES)), NOW + 3600]


@pytest.mark.parametrize("seconds", [0.014, 41.8])
def test_a_short_date_that_does_not_come_true_is_believed_ever_less_and_then_no_more(seconds: float) -> None:
    dates = [serves_again("rate_limit", NOW + seconds, tries, NOW, LIMITS) for tries in range(MOST_TRIES + 1)]
    pauses = [0.0, 30.0, 60.0, 120.0, 240.0]
    assert dates == [*(NOW + max(seconds, pause) for pause in pauses), NOW + 3600]


def test_where_nothing_is_waited_for_a_date_that_does_not_come_true_is_no_prompt_at_every_look_either() -> None:
    dates = [serves_again("quota", NOW + 1, tries, NOW, Quota(wait_minutes=0)) for tries in (0, 1, 5, 50)]
    assert dates == [NOW + 1, NOW + 30, NOW + 480, NOW + 3600]


def test_with_nobody_else_a_quota_is_waited_for_and_a_lost_sign_in_is_a_persons() -> None:
    assert choose("quota", NOW + 7200, NOW, {}, LIMITS) == Wait(NOW + 7200)
    assert choose("authentication", NOW + 3600, NOW, {}, LIMITS) == Call()
    assert choose("authentication", NOW + 60, NOW, {"codex": 0.0}, LIMITS) == Switch("codex")


def test_whoever_serves_first_is_waited_for() -> None:
    assert choose("quota", NOW + 6 * 86400, NOW, {"claude": NOW + 3600}, LIMITS) == Wait(NOW + 3600)
    assert choose("quota", NOW + 1800, NOW, {"claude": NOW + 3600}, LIMITS) == Wait(NOW + 1800)
    assert choose("authentication", NOW + 1800, NOW, {"claude": NOW + 3600}, LIMITS) == Wait(NOW + 3600)


def test_an_agent_that_never_takes_over_is_tried_ever_more_rarely() -> None:
    assert [put_off(missed, NOW, LIMITS) - NOW for missed in range(4)] == [3600, 7200, 14400, 28800]


@given(
    st.sampled_from(KINDS),
    st.none() | st.floats(NOW + 1, NOW + 1e6),
    st.integers(0, 20),
    st.dictionaries(st.sampled_from(["codex", "gemini"]), st.floats(NOW - 1e6, NOW + 1e6)),
)
def test_whatever_happens_nothing_is_tried_in_the_past_nor_for_ever(
    kind: str, resets: float | None, tries: int, others: dict[str, float]
) -> None:
    back = serves_again(kind, resets, tries, NOW, LIMITS)
    assert back > NOW
    match choose(kind, back, NOW, others, LIMITS):
        case Wait(until):
            assert NOW < until <= max(back, *others.values(), NOW)
        case Switch(to):
            assert others[to] <= NOW
        case Call():
            assert not others


def test_what_was_kept_is_read_again_and_rubbish_is_none() -> None:
    away = Setback(Phase.AWAY, 5.0, "quota", first="claude", down={"claude": 9.0})
    assert read(kept(away)) == away
    assert away.due == 9.0
    assert read(None) == read({"phase": "odd"}) == read([1]) == Setback()


def test_a_session_that_an_earlier_version_left_away_comes_back_at_the_date_of_its_first_agent() -> None:
    old = {"phase": "away", "at": 5.0, "kind": "quota", "until": 9.0, "tries": 0, "mark": "", "first": "claude"}
    assert read({**old, "down": {"claude": 9.0}}).due == 9.0
    assert read({**old, "down": {}}).due == 0.0


def test_a_switch_has_happened_when_its_heir_is_there_also_before_anybody_looked() -> None:
    switching = Setback(Phase.SWITCHING, 5.0, "quota", first="claude", to="codex", down={"claude": 9.0})
    assert switching.seen("claude") is switching
    assert switching.seen("codex").phase is Phase.AWAY
