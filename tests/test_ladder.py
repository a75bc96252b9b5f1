"""The ladder decides by facts alone: inclusive, once, in order, and early enough."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batonpass.ladder import (
    NORMAL,
    PRESETS,
    UNKNOWN,
    Action,
    Decision,
    History,
    Ladder,
    Rung,
    admit,
    decide,
    reserve,
)
from batonpass.reading import Forecast, Reading, Source

NOW = 1_800_000_000.0
GRADUATED = PRESETS["graduated"]
SEVERITY = {"ok": 0, "warning": 1, "critical": 2}

usables = st.integers(min_value=1_000, max_value=2_000_000)
growths = st.none() | st.integers(min_value=-50_000, max_value=300_000)
ladders = st.sampled_from(sorted(PRESETS.values(), key=lambda ladder: ladder.name))
shares = st.floats(min_value=0, max_value=1.2)


def reading(used: int | None, usable: int | None = 100_000) -> Reading:
    return Reading(NOW, "conversation", used, usable, usable, Source.TRANSCRIPT, 0.95)


def at(used: int | None, usable: int | None = 100_000, **more: object) -> Decision:
    ladder = more.pop("ladder", GRADUATED)
    assert isinstance(ladder, Ladder)
    return decide(reading(used, usable), None, History(**more), ladder, NOW)  # type: ignore[arg-type]


def is_silent(decision: Decision) -> bool:
    flags = (decision.hand_off, decision.force, decision.nudge)
    return not (any(flags) or decision.actions or decision.crossed)


def climb(ladder: Ladder, usable: int, uses: Sequence[int]) -> list[Decision]:
    """Decisions over a whole conversation, each acted on."""
    history, decisions = History(), []
    for minute, used in enumerate(uses):
        now = NOW + 60 * minute
        decision = decide(reading(used, usable), None, history, ladder, now)
        history = history.after(decision, now)
        decisions.append(decision)
    return decisions


@pytest.mark.parametrize(
    ("used", "zone", "status", "limit"),
    [
        (29_999, NORMAL, "ok", None),
        (30_000, "monitoring", "ok", None),
        (49_999, "monitoring", "ok", None),
        (50_000, "warning", "warning", 5_000),
        (69_999, "warning", "warning", 5_000),
        (70_000, "critical", "critical", 2_000),
        (84_999, "critical", "critical", 2_000),
        (85_000, "mandatory", "critical", 0),
        (95_000, "forced", "critical", 0),
    ],
)
def test_graduated_zones_begin_exactly_at_their_percentage(
    used: int, zone: str, status: str, limit: int | None
) -> None:
    decision = at(used)
    assert (decision.zone, decision.status, decision.admit) == (zone, status, limit)


@pytest.mark.parametrize(
    ("name", "usable", "due"),
    [("early", 200_000, 140_000), ("graduated", 200_000, 170_000), ("tokens", 200_000, 100_000)],
)
def test_each_preset_hands_off_where_its_document_says(name: str, usable: int, due: int) -> None:
    below, there = (at(used, usable, ladder=PRESETS[name]) for used in (due - 1, due))
    assert (below.hand_off, there.hand_off) == (False, True)
    assert there.at_tokens == due


def test_staged_checkpoints_twice_and_forces_at_98_percent() -> None:
    decisions = climb(PRESETS["staged"], 100_000, [79_999, 80_000, 90_000, 95_000, 97_999, 98_000])
    assert [decision.actions for decision in decisions] == [
        (),
        (Action.LOG,),
        (Action.CHECKPOINT,),
        (Action.CHECKPOINT,),
        (),
        (Action.FORCE,),
    ]
    assert [decision.force for decision in decisions] == [False] * 5 + [True]


def test_a_jump_over_several_rungs_fires_all_of_them_in_order() -> None:
    before, after = climb(GRADUATED, 100_000, [40_000, 96_000])
    assert before.actions == (Action.LOG,)
    assert after.actions == (
        Action.WARN,
        Action.RESTRICT,
        Action.RESTRICT,
        Action.NUDGE,
        Action.HAND_OFF,
        Action.FORCE,
    )
    assert after.hand_off
    assert after.force
    assert not after.nudge  # the handoff is due: no reminder of it


def test_hand_off_and_force_stay_due_while_the_session_is_above_them() -> None:
    decisions = climb(GRADUATED, 100_000, [86_000, 87_000, 96_000, 97_000])
    assert [decision.hand_off for decision in decisions] == [True] * 4
    assert [decision.force for decision in decisions] == [False, False, True, True]
    assert decisions[1].actions == ()


def test_a_nudge_repeats_after_ten_minutes_and_not_before() -> None:
    decisions = climb(GRADUATED, 100_000, [75_000] * 22)  # a reading every minute
    nudged = [minute for minute, decision in enumerate(decisions) if decision.nudge]
    assert nudged == [0, 10, 20]
    assert decisions[10].actions == (Action.NUDGE,)


def test_a_nudge_without_repetition_comes_once() -> None:
    decisions = climb(PRESETS["early"], 100_000, [61_000] * 30)
    assert [decision.nudge for decision in decisions] == [True] + [False] * 29


@pytest.mark.parametrize("unknown", [reading(None), reading(5, None), reading(5, 0), reading(None, None)])
def test_an_unknown_reading_asks_for_nothing(unknown: Reading) -> None:
    decision = decide(unknown, None, History(), GRADUATED, NOW)
    assert decision.zone == UNKNOWN
    assert is_silent(decision)
    assert admit(10**9, decision)


def test_a_turn_that_grew_fast_brings_the_handoff_forward() -> None:
    assert at(1, 200_000, growth=7_500).at_tokens == 170_000
    assert at(1, 200_000, growth=20_000).at_tokens == 160_000
    assert at(1, 200_000, growth=90_000).at_tokens == 150_000  # the reserve is never over a quarter


def test_the_burn_rate_stands_in_for_a_growth_that_is_not_known() -> None:
    rate = Forecast(tokens_per_message=20_000, messages_left=None, seconds_left=None)
    fresh, known = History(), History(growth=100)
    assert decide(reading(1, 200_000), rate, fresh, GRADUATED, NOW).at_tokens == 160_000
    assert decide(reading(1, 200_000), rate, known, GRADUATED, NOW).at_tokens == 170_000


def test_an_absolute_rung_above_a_small_window_is_pulled_down() -> None:
    assert at(1, 90_000, ladder=PRESETS["tokens"]).at_tokens == 75_000
    assert at(1, 40_000, ladder=PRESETS["tokens"]).at_tokens == 30_000


def test_a_rung_with_both_percent_and_tokens_takes_whichever_comes_first() -> None:
    ladder = Ladder("both", (Rung(50, 80_000, "mandatory", (Action.HAND_OFF,)),))
    assert at(1, 100_000, ladder=ladder).at_tokens == 50_000
    assert at(1, 1_000_000, ladder=ladder).at_tokens == 80_000


def test_a_raised_threshold_puts_the_handoff_off_but_keeps_the_reserve() -> None:
    assert at(1, 200_000, raised=5).at_tokens == 180_000
    assert at(1, 200_000, raised=50).at_tokens == 185_000
    assert not at(171_000, 200_000, raised=5).hand_off


def test_a_handoff_moved_below_milder_rungs_still_names_the_zone() -> None:
    ladder = GRADUATED.moved(Action.HAND_OFF, "mandatory", percent=40)
    assert at(45_000, ladder=ladder).zone == "mandatory"
    above = at(75_000, ladder=ladder)
    assert (above.zone, above.admit, above.nudge) == ("mandatory", 0, False)


def test_moving_a_rung_that_a_ladder_lacks_adds_it_in_order_of_severity() -> None:
    staged = PRESETS["staged"].moved(Action.HAND_OFF, "mandatory", percent=60)
    assert [rung.zone for rung in staged.rungs] == [
        "monitoring",
        "checkpoint",
        "fallback",
        "mandatory",
        "forced",
    ]
    assert at(60_000, ladder=staged).hand_off


def test_a_disabled_ladder_tells_the_zone_and_only_logs() -> None:
    decision = at(96_000, ladder=replace(GRADUATED, enabled=False))
    assert (decision.zone, decision.status, decision.actions) == ("forced", "critical", (Action.LOG,))
    assert not any((decision.hand_off, decision.force, decision.nudge))
    assert admit(4_000, decision)


def test_a_suspended_ladder_takes_up_again_where_it_was() -> None:
    silent = at(96_000, suspended=True)
    assert silent.zone == "forced"
    assert is_silent(silent)
    again = decide(reading(96_000), None, History().after(silent, NOW), GRADUATED, NOW)
    assert again.hand_off
    assert Action.HAND_OFF in again.actions


@pytest.mark.parametrize(
    ("used", "tokens", "yes"),
    [
        (10_000, 60_000, True),
        (10_000, 90_001, False),  # would not fit at all
        (50_000, 4_999, True),
        (50_000, 5_000, False),
        (70_000, 1_999, True),
        (70_000, 2_000, False),
        (85_000, 0, False),
    ],
)
def test_admission_follows_the_zone_and_what_is_left(used: int, tokens: int, yes: bool) -> None:
    assert admit(tokens, at(used)) is yes


def test_the_reason_names_usage_zone_and_where_the_handoff_is_due() -> None:
    assert at(75_000).reason == (
        "75,000 of 100,000 usable tokens (75.0 %), zone critical; the handoff is due at 85,000."
    )


def test_a_rung_without_a_place_is_refused() -> None:
    with pytest.raises(ValueError, match="'lost' needs a percentage"):
        Rung(None, None, "lost", (Action.LOG,))


@given(ladder=ladders, usable=usables, uses=st.lists(shares, max_size=30))
def test_every_rung_fires_exactly_once_in_a_conversation(ladder: Ladder, usable: int, uses: list[float]) -> None:
    decisions = climb(ladder, usable, [int(share * usable) for share in uses])
    crossed = [index for decision in decisions for index in decision.crossed]
    assert len(crossed) == len(set(crossed))
    highest = max((int(share * usable) for share in uses), default=-1)
    reached = decide(reading(highest, usable), None, History(), ladder, NOW).crossed if uses else ()
    assert set(crossed) == set(reached)
    for decision in decisions:
        due = tuple(action for index in decision.crossed for action in ladder.rungs[index].actions)
        assert decision.actions[: len(due)] == due


@given(ladder=ladders, usable=usables, growth=growths, low=shares, high=shares)
def test_more_usage_never_asks_for_less(
    ladder: Ladder, usable: int, growth: int | None, low: float, high: float
) -> None:
    less, more = (int(share * usable) for share in sorted((low, high)))
    before, after = (
        at(less, usable, growth=growth, ladder=ladder),
        at(more, usable, growth=growth, ladder=ladder),
    )
    assert SEVERITY[before.status] <= SEVERITY[after.status]
    assert (before.hand_off, before.force) <= (after.hand_off, after.force)
    assert after.admit is None or before.admit is None or after.admit <= before.admit
    assert before.at_tokens == after.at_tokens


@given(ladder=ladders, usable=usables, growth=growths, raised=st.floats(min_value=0, max_value=60))
def test_a_handoff_always_leaves_its_reserve(ladder: Ladder, usable: int, growth: int | None, raised: float) -> None:
    kept = reserve(usable, growth)
    assert kept <= usable / 4
    assert kept == usable // 4 or kept >= max(15_000, 2 * (growth or 0))
    latest = usable - kept
    decision = at(latest, usable, growth=growth, raised=raised, ladder=ladder)
    has_handoff = ladder.first(Action.HAND_OFF) is not None
    assert decision.hand_off or not has_handoff
    if has_handoff:
        assert decision.at_tokens is not None
        assert decision.at_tokens <= latest


@given(ladder=ladders, usable=usables, growth=growths)
def test_the_handoff_is_due_at_its_place_and_not_a_token_before(
    ladder: Ladder, usable: int, growth: int | None
) -> None:
    due = at(1, usable, growth=growth, ladder=ladder).at_tokens
    assert due is not None
    assert at(due, usable, growth=growth, ladder=ladder).hand_off
    assert not at(due - 1, usable, growth=growth, ladder=ladder).hand_off


@given(ladder=ladders, usable=usables, share=shares, times=st.lists(st.floats(0, 5_000), max_size=20))
def test_nudges_are_never_closer_than_their_interval(
    ladder: Ladder, usable: int, share: float, times: list[float]
) -> None:
    history, nudges = History(), []
    for offset in sorted(times):
        decision = decide(reading(int(share * usable), usable), None, history, ladder, NOW + offset)
        history = history.after(decision, NOW + offset)
        if decision.nudge:
            nudges.append(offset)
    assert all(later - earlier >= 599.999 for earlier, later in pairwise(nudges))
