"""Which setting moves which rung."""

import pytest

from batonpass.config import ConfigError
from batonpass.ladder import PRESETS, Action, History, Ladder, Rung, decide
from batonpass.reading import Reading, Source
from tests.config.conftest import Desk
from tests.config.test_load import FILE_OF_000


def rung(ladder: Ladder, zone: str) -> Rung:
    return next(rung for rung in ladder.rungs if rung.zone == zone)


def test_the_default_is_graduated_for_sessions_and_staged_for_tasks(desk: Desk) -> None:
    config = desk.load()
    assert config.ladder_for() == PRESETS["graduated"]
    assert config.ladder_for(headless=True) == PRESETS["staged"]


def test_a_session_may_choose_another_ladder(desk: Desk) -> None:
    desk.write(desk.project_file, "ladder: {preset: early}\n")
    assert desk.load().ladder_for() == PRESETS["early"]
    assert desk.load().ladder_for("tokens") == PRESETS["tokens"]


def test_a_ladder_that_does_not_exist_is_named_with_the_nearest(desk: Desk) -> None:
    with pytest.raises(ConfigError, match=r"--ladder: there is no ladder 'erly'.*did you mean 'early'"):
        desk.load().ladder_for("erly")


def test_a_file_with_only_the_keys_of_000_keeps_the_graduated_ladder(desk: Desk) -> None:
    desk.write(desk.handoff_file, FILE_OF_000)
    ladder = desk.load().ladder_for()
    assert ladder.name == "graduated"
    assert rung(ladder, "mandatory").percent == 70
    assert rung(ladder, "warning").percent == 50
    assert rung(ladder, "forced") == rung(PRESETS["graduated"], "forced")


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_threshold_moves_the_handoff_of_whatever_ladder_is_active(desk: Desk, name: str) -> None:
    desk.write(desk.project_file, "threshold: 62\n")
    ladder = desk.load().ladder_for(name)
    reading = Reading(0, "c", 61_999, 100_000, 100_000, Source.API, 1.0)
    assert decide(reading, None, History(), ladder, 0).at_tokens == 62_000


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_notify_user_at_moves_the_first_warning_of_whatever_ladder_is_active(desk: Desk, name: str) -> None:
    desk.write(desk.project_file, "notify_user_at: 41\n")
    ladder = desk.load().ladder_for(name)
    index = ladder.first(Action.WARN)
    assert index is not None
    assert ladder.rungs[index].percent == 41


def test_remind_at_moves_the_first_reminder(desk: Desk) -> None:
    desk.write(desk.project_file, "remind_at: 55\n")
    assert rung(desk.load().ladder_for("early"), "reminder").percent == 55
    assert rung(desk.load().ladder_for("graduated"), "critical").percent == 55


def test_a_threshold_above_the_forcing_rung_pushes_it_on(desk: Desk) -> None:
    desk.write(desk.project_file, "threshold: 96\n")
    assert rung(desk.load().ladder_for(), "forced").percent == 98


def test_context_threshold_sets_an_absolute_handoff(desk: Desk) -> None:
    desk.write(desk.project_file, "context_threshold: 120000\n")
    mandatory = rung(desk.load().ladder_for(), "mandatory")
    assert (mandatory.percent, mandatory.tokens) == (None, 120_000)
    desk.write(desk.project_file, "context_threshold: 120000\nthreshold: 70\n")
    mandatory = rung(desk.load().ladder_for(), "mandatory")
    assert (mandatory.percent, mandatory.tokens) == (70, 120_000)


def test_disabled_leaves_only_logging(desk: Desk) -> None:
    desk.write(desk.handoff_file, "handoff: {enabled: false}\n")
    ladder = desk.load().ladder_for()
    reading = Reading(0, "c", 97_000, 100_000, 100_000, Source.API, 1.0)
    decision = decide(reading, None, History(), ladder, 0)
    assert (decision.actions, decision.hand_off, decision.force) == ((Action.LOG,), False, False)


def test_sizes_and_reminders_of_the_zones_can_be_set(desk: Desk) -> None:
    desk.write(desk.project_file, "small_task_tokens: 8000\ntiny_task_tokens: 900\nreminder_minutes: 3\n")
    ladder = desk.load().ladder_for()
    assert rung(ladder, "warning").admit == 8000
    assert (rung(ladder, "critical").admit, rung(ladder, "critical").every) == (900, 180)
    assert rung(ladder, "mandatory").admit == 0


def test_any_rung_of_a_preset_can_be_changed_by_its_zone(desk: Desk) -> None:
    desk.write(
        desk.project_file,
        """
        ladder:
          rungs:
            - {zone: critical, percent: 75, admit: 1000, every_minutes: 5}
            - {zone: monitoring, actions: [log, warn]}
            - {zone: forced, tokens: 160000}
        """,
    )
    ladder = desk.load().ladder_for()
    assert rung(ladder, "critical") == Rung(75, None, "critical", (Action.RESTRICT, Action.NUDGE), 1000, 300)
    assert rung(ladder, "monitoring") == Rung(30, None, "monitoring", (Action.LOG, Action.WARN))
    assert rung(ladder, "forced") == Rung(None, 160_000, "forced", (Action.FORCE,), 0)
    assert rung(ladder, "mandatory") == rung(PRESETS["graduated"], "mandatory")


def test_a_ladder_of_ones_own_is_taken_whole(desk: Desk) -> None:
    desk.write(
        desk.project_file,
        """
        ladder:
          preset: custom
          rungs:
            - {zone: soon, percent: 40, actions: [warn]}
            - {zone: now, percent: 45, tokens: 90000, actions: [hand_off], admit: 0}
        """,
    )
    config = desk.load()
    assert config.ladder_for() == Ladder(
        "custom",
        (Rung(40, None, "soon", (Action.WARN,)), Rung(45, 90_000, "now", (Action.HAND_OFF,), 0)),
    )
    assert config.ladder_for("graduated") == PRESETS["graduated"]


def test_who_names_a_preset_starts_from_it(desk: Desk) -> None:
    desk.write(desk.home_file, "ladder: {rungs: [{zone: critical, percent: 60}]}\n")
    assert rung(desk.load().ladder_for(), "critical").percent == 60
    desk.write(desk.project_file, "ladder: {preset: tokens}\n")
    assert desk.load().ladder_for() == PRESETS["tokens"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "ladder:\n  rungs:\n    - {zone: critcal, percent: 60}\n",
            "3:8: ladder.rungs.0.zone: 'critcal' is no zone of the ladder graduated or staged: monitoring, "
            "warning, critical, mandatory, forced, checkpoint, fallback (did you mean 'critical'?)",
        ),
        (
            "ladder: {preset: tokens, rungs: [{zone: warning, percent: 60}]}\n",
            "1:35: ladder.rungs.0.zone: 'warning' is no zone of the ladder tokens: mandatory, forced",
        ),
        (
            "ladder: {rungs: [{zone: forced, percent: 60}, {zone: forced, percent: 61}]}\n",
            "1:48: ladder.rungs.1.zone: the zone 'forced' is given twice",
        ),
        (
            "ladder: {preset: custom}\n",
            "1:1: ladder.rungs: a custom ladder needs a rung with the action hand_off or force",
        ),
        (
            "ladder: {preset: custom, rungs: [{zone: a, actions: [force]}]}\n",
            "1:34: ladder.rungs.0: the zone 'a' needs percent or tokens",
        ),
        (
            "ladder: {preset: custom, rungs: [{zone: b, tokens: 5}, {zone: a, tokens: 6, actions: [force]}]}",
            "1:34: ladder.rungs.0: the zone 'b' needs actions",
        ),
    ],
)
def test_a_ladder_that_cannot_work_is_refused(desk: Desk, text: str, said: str) -> None:
    desk.write(desk.project_file, text)
    assert desk.complaints() == [f".baton/config.yaml:{said}"]
