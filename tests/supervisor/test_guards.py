"""What past cycles say about starting another one."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from batonpass.store.records import CycleRecord, CycleState
from batonpass.supervisor.guards import BREAKER, COOLING, HOUR, NO_PROGRESS, Limits, judge

LIMITS = Limits(cooldown_minutes=5, breaker_per_hour=3)
NOW = 1_800_000_000.0


def cycle(
    minutes_ago: float, state: CycleState = CycleState.DONE, data: Mapping[str, object] | None = None
) -> CycleRecord:
    started = NOW - 60 * minutes_ago
    return CycleRecord("0" * 8, "s", "h", "full", started, state, ended=started + 10, data=data or {})


def test_a_session_that_never_handed_off_is_free() -> None:
    assert judge([], NOW, LIMITS).free


def test_one_handoff_an_hour_is_nothing_special() -> None:
    verdict = judge([cycle(30)], NOW, LIMITS)
    assert (verdict.free, verdict.raised) == (True, 0.0)


def test_two_handoffs_within_an_hour_put_the_threshold_off_for_a_while() -> None:
    assert judge([cycle(30), cycle(10)], NOW, LIMITS).raised > 0
    assert judge([cycle(90), cycle(10)], NOW, LIMITS).raised == 0


def test_the_third_handoff_within_an_hour_trips_the_breaker_until_the_first_is_an_hour_old() -> None:
    verdict = judge([cycle(50), cycle(30), cycle(10)], NOW, LIMITS)
    assert (verdict.guard, verdict.until) == (BREAKER, NOW - 50 * 60 + HOUR)
    assert judge([cycle(61), cycle(30), cycle(10)], NOW, LIMITS).free


def test_cycles_that_failed_count_for_the_breaker_too() -> None:
    failed = [cycle(minutes, CycleState.FAILED) for minutes in (50, 30, 10)]
    assert judge(failed, NOW, LIMITS).guard == BREAKER


def test_a_reset_by_a_person_starts_the_count_anew() -> None:
    cycles = [cycle(50), cycle(30), cycle(10)]
    assert judge(cycles, NOW, LIMITS, reset_at=NOW - 60).free


def test_what_a_person_asked_for_is_not_counted() -> None:
    assert judge([cycle(m, data={"by_person": True}) for m in (50, 30, 10)], NOW, LIMITS).free


def test_after_a_cycle_that_did_not_end_well_the_next_one_waits() -> None:
    assert judge([cycle(2, CycleState.FAILED)], NOW, LIMITS).guard == COOLING
    assert judge([cycle(6, CycleState.FAILED)], NOW, LIMITS).free


def test_three_handoffs_in_a_row_that_changed_nothing_stop_until_a_person_comes() -> None:
    same = [cycle(60 * hours, data={"fingerprint": "a"}) for hours in (8, 6, 4, 2)]
    verdict = judge(same, NOW, LIMITS)
    assert (verdict.guard, verdict.until) == (NO_PROGRESS, None)


def test_a_project_that_changed_once_in_between_is_progress() -> None:
    marks = ["a", "a", "b", "b"]
    cycles = [cycle(60 * (8 - 2 * index), data={"fingerprint": mark}) for index, mark in enumerate(marks)]
    assert judge(cycles, NOW, LIMITS).free


def test_without_a_fingerprint_nobody_is_judged() -> None:
    assert judge([cycle(60 * hours) for hours in (8, 6, 4, 2)], NOW, LIMITS).free


@given(st.lists(st.floats(0, 600), max_size=12), st.integers(1, 6))
def test_never_more_than_the_allowed_number_start_within_an_hour(waits: list[float], allowed: int) -> None:
    limits = Limits(cooldown_minutes=0, breaker_per_hour=allowed)
    now, started = NOW, list[CycleRecord]()
    for wait in waits:
        now += wait
        if judge(started, now, limits).free:
            started.append(CycleRecord("0" * 8, "s", "h", "full", now, CycleState.DONE, ended=now))
    for record in started:
        assert sum(1 for other in started if 0 <= other.started - record.started < HOUR) <= allowed
