import pytest

from batonpass.reading import Forecast, Reading, Source, forecast


def reading(used: int | None, at: float = 0.0, session: str = "s", usable: int | None = 167_000) -> Reading:
    return Reading(at, session, used, 200_000, usable, Source.TRANSCRIPT, 0.95)


def test_percent_is_of_the_usable_window() -> None:
    assert reading(83_500).percent == 50.0


@pytest.mark.parametrize("unknown", [reading(None), reading(1, usable=None), reading(1, usable=0)])
def test_percent_is_unknown_and_not_zero_when_a_figure_is_missing(unknown: Reading) -> None:
    assert unknown.percent is None


def test_a_steady_climb_is_forecast_exactly() -> None:
    climb = [reading(20_000 + 5_000 * step, at=60.0 * step) for step in range(6)]
    assert forecast(climb) == Forecast(5_000.0, (167_000 - 45_000) / 5_000, 60.0 * (167_000 - 45_000) / 5_000)


def test_the_goal_can_be_a_rung_below_the_usable_window() -> None:
    climb = [reading(20_000, 0.0), reading(30_000, 60.0)]
    assert forecast(climb, until=80_000).messages_left == 5.0


def test_one_reading_foretells_nothing() -> None:
    assert forecast([]) == forecast([reading(None)]) == forecast([reading(9)]) == Forecast(None, None, None)


def test_repeated_and_unknown_readings_are_not_messages() -> None:
    plain = [reading(10_000, 0.0), reading(20_000, 10.0)]
    noisy = [plain[0], reading(None, 1.0), reading(10_000, 2.0), plain[1], reading(20_000, 30.0)]
    assert forecast(noisy) == forecast(plain)


def test_a_fall_starts_the_count_anew() -> None:
    before = [reading(100_000, 0.0), reading(150_000, 10.0)]
    after = [reading(20_000, 20.0), reading(22_000, 30.0)]
    assert forecast([*before, *after]) == forecast(after)
    assert forecast([*before, after[0]]).tokens_per_message is None


def test_a_new_conversation_starts_the_count_anew() -> None:
    other = [reading(160_000, 20.0, "t"), reading(161_000, 30.0, "t")]
    assert forecast([reading(100_000), reading(150_000, 10.0), *other]) == forecast(other)


def test_a_rounded_figure_from_the_screen_is_no_fall() -> None:
    climb = [reading(40_000, 0.0), reading(45_230, 60.0), reading(45_200, 61.0), reading(50_230, 120.0)]
    assert forecast(climb).tokens_per_message == pytest.approx(5_115)


def test_a_pause_of_a_night_does_not_change_the_pace() -> None:
    climb = [reading(10_000 * step, at=60.0 * step) for step in range(1, 6)]
    climb.append(reading(60_000, at=climb[-1].at + 40_000))
    assert forecast(climb, until=70_000).seconds_left == 60.0


def test_a_session_over_its_goal_has_nothing_left() -> None:
    assert forecast([reading(170_000)]) == Forecast(None, 0.0, 0.0)
    assert forecast([reading(160_000), reading(170_000, 5.0)]).messages_left == 0.0
