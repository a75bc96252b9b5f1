"""Five sources, the last one wins; faults are told with file, line, column and key."""

import os
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from batonpass.config import Config, explain, load, load_lenient
from tests.config.conftest import Desk

FILE_OF_000 = """
    handoff:
      enabled: true
      threshold: 70  # Percentage of context used before creating handoff
      auto_continue_cli: true  # Auto-spawn new CLI instance
      auto_continue_browser: false  # Can't auto-spawn browser, always false
      retention_days: 90  # How long to keep archived handoffs
      notify_user_at: 50  # Warn user at 50% context usage
"""


def test_without_any_file_all_is_at_its_default(desk: Desk) -> None:
    config = desk.load()
    assert config == Config()
    assert config.origins == {}
    assert (config.max_concurrent, config.breaker_per_hour, config.timeouts.pass_) == (2, 3, 60)


def test_without_a_project_only_the_host_is_configured(desk: Desk) -> None:
    desk.write(desk.home_file, "max_concurrent: 4\n")
    assert load(None, desk.home, {}).max_concurrent == 4


def test_each_source_goes_over_the_ones_below_it(desk: Desk) -> None:
    desk.write(desk.home_file, "threshold: 60\nretention_days: 10\nnotify_user_at: 30\ntimeouts: {ask: 100}\n")
    desk.write(desk.handoff_file, "handoff: {threshold: 70, retention_days: 20}\n")
    desk.write(desk.project_file, "threshold: 80\ntimeouts: {verify: 90}\n")
    config = desk.load()
    assert (config.threshold, config.retention_days, config.notify_user_at) == (80, 20, 30)
    assert (config.timeouts.ask, config.timeouts.verify, config.timeouts.prime) == (100, 90, 60)


def test_the_file_of_the_first_document_is_read_as_it_stands(desk: Desk) -> None:
    desk.write(desk.handoff_file, FILE_OF_000)
    config = desk.load()
    assert (config.enabled, config.threshold, config.notify_user_at) == (True, 70, 50)


def test_the_environment_names_store_and_tmux(desk: Desk) -> None:
    desk.write(desk.home_file, "store: sqlite:///a.db\n")
    config = desk.load({"BATON_STORE": "postgresql://db/baton", "BATON_TMUX": "own"})
    assert (config.store, config.tmux.socket) == ("postgresql://db/baton", "own")
    assert config.origins[("store",)] == "BATON_STORE"
    assert desk.load({"BATON_STORE": ""}).store == "sqlite:///a.db"


def test_an_empty_section_is_as_good_as_none(desk: Desk) -> None:
    desk.write(desk.project_file, "timeouts:\nladder:\n")
    desk.write(desk.handoff_file, "handoff:\n")
    assert desk.load() == Config()


def test_null_takes_a_setting_of_a_lower_file_back(desk: Desk) -> None:
    desk.write(desk.home_file, "threshold: 60\n")
    desk.write(desk.project_file, "threshold: null\n")
    assert desk.load().threshold is None


@pytest.mark.parametrize("section", ["ladder", "timeouts", "prompts", "agents", "quota", "tmux", "notify"])
def test_a_section_with_nothing_in_it_is_as_good_as_none(desk: Desk, section: str) -> None:
    desk.write(desk.home_file, f"{section}:\nthreshold: 60\n")
    assert desk.load().threshold == 60


def test_prompt_files_are_named_from_where_the_configuration_stands(desk: Desk) -> None:
    desk.write(desk.home_file, "prompts: {ask: ask.md, kick: kick.md}\n")
    desk.write(desk.project_file, "prompts: {kick: docs/kick.md}\n")
    prompts = desk.load().prompts
    assert (prompts.ask, prompts.kick) == (desk.home / "ask.md", desk.project / "docs/kick.md")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\ntreshold: 70\n", "2:1: treshold: unknown key (did you mean 'threshold'?)"),
        ("handoff-dir: x\n", "1:1: handoff-dir: unknown key (did you mean 'handoff_dir'?)"),
        ("timeouts:\n  asks: 3\n", "2:3: timeouts.asks: unknown key (did you mean 'ask'?)"),
        ("timeouts: {passe: 3}\n", "1:12: timeouts.passe: unknown key (did you mean 'pass'?)"),
        ("zzz: 1\n", "1:1: zzz: unknown key"),
        ("enabled: off\n", "1:1: enabled: must be true or false, not 'off'"),
        ("enabled:\n", "1:1: enabled: must be true or false, not empty"),
        ("threshold: '70'\n", "1:1: threshold: must be a number, not '70'"),
        ("threshold: 070\n", "1:1: threshold: must be a number, not '070'"),
        ("threshold: true\n", "1:1: threshold: must be a number, not true"),
        ("threshold: 0.7\n", "1:1: threshold: must be at least 1, not 0.7"),
        ("threshold: 120\n", "1:1: threshold: must be at most 100, not 120"),
        ("retention_days: 1.5\n", "1:1: retention_days: must be a whole number, not 1.5"),
        ("timeouts: {ask: 12:30}\n", "1:12: timeouts.ask: must be a number, not '12:30'"),
        ("timeouts: {ask: 0}\n", "1:12: timeouts.ask: must be more than 0, not 0"),
        ("timeouts: 5\n", "1:1: timeouts: must have keys of its own, not 5"),
        (
            "layout: file\n",
            "1:1: layout: must be one of files, living, sandbox, not 'file' (did you mean 'files'?)",
        ),
        (
            "auto_continue_browser: true\n",
            "1:1: auto_continue_browser: must be false: nobody can open a browser session but its user",
        ),
        ("handoff_dir: ../x\n", "1:1: handoff_dir: must be a path inside the project, such as docs/handoffs"),
        ("handoff_dir: /x\n", "1:1: handoff_dir: must be a path inside the project, such as docs/handoffs"),
        (
            "handoff_dir: .\n",
            "1:1: handoff_dir: must be a place of its own in the project, such as docs/handoffs",
        ),
        (
            "checkpoint_dir: .git/x\n",
            "1:1: checkpoint_dir: must be a place of its own in the project, such as docs/handoffs",
        ),
        (
            "ladder: {preset: gradated}\n",
            "1:10: ladder.preset: must be one of early, graduated, tokens, staged, custom, not 'gradated'"
            " (did you mean 'graduated'?)",
        ),
        ("ladder: {rungs: [{percent: 5}]}\n", "1:18: ladder.rungs.0.zone: this key is missing"),
        (
            "prompts: {ask: /etc/hosts}\n",
            "1:11: prompts.ask: must be a path inside the project, such as docs/handoffs",
        ),
    ],
)
def test_a_fault_names_file_line_column_key_and_the_nearest_right_one(desk: Desk, text: str, said: str) -> None:
    desk.write(desk.project_file, "x")
    desk.project_file.write_text(text, encoding="utf-8")
    assert desk.complaints() == [f".baton/config.yaml:{said}"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "handoff: {remind_at: 60}\n",
            "1:11: handoff.remind_at: this is no key of this file; set it in .baton/config.yaml",
        ),
        ("handoff: {treshold: 60}\n", "1:11: handoff.treshold: unknown key (did you mean 'threshold'?)"),
        ("threshold: 60\n", "1:1: threshold: this key belongs under 'handoff:'"),
        ("hand_off: {}\n", "1:1: hand_off: unknown key (did you mean 'handoff'?)"),
        ("handoff: 70\n", "1:1: handoff: must have keys of its own"),
    ],
)
def test_the_file_of_the_first_document_takes_exactly_its_keys(desk: Desk, text: str, said: str) -> None:
    desk.write(desk.handoff_file, text)
    assert desk.complaints() == [f".supervisor-specific/handoff-config.yaml:{said}"]


def test_all_faults_of_all_files_are_told_at_once_from_top_to_bottom(desk: Desk) -> None:
    desk.write(desk.home_file, "retention_days: 0\nenabled: no\n")
    desk.write(desk.project_file, "zone: 1\nthreshold: x\n")
    places = [line.split(": ")[0] for line in desk.complaints()]
    assert places == [
        "home/config.yaml:1:1",
        "home/config.yaml:2:1",
        ".baton/config.yaml:1:1",
        ".baton/config.yaml:2:1",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "notify: {command: [sh, -c, id]}",
        "agents: {claude: {args: [--dangerous]}}",
        "store: sqlite:///x",
        "tmux: {socket: x}",
        "max_concurrent: 9",
    ],
)
def test_a_cloned_project_cannot_run_programs_or_speak_for_the_host(desk: Desk, text: str) -> None:
    desk.write(desk.project_file, text)
    assert "may only be set in home/config.yaml" in desk.complaints()[0]
    config, _ = load_lenient(desk.project, desk.home, {})
    assert config == Config()


def test_a_home_inside_the_project_folder_is_read_as_the_users_file_only(desk: Desk) -> None:
    home = desk.project / ".baton"
    desk.write(home / "config.yaml", "max_concurrent: 7\n")
    assert load(desk.project, home, {}).max_concurrent == 7


def test_a_broken_file_leaves_the_last_good_configuration_in_force(desk: Desk) -> None:
    desk.write(desk.project_file, "threshold: 60\n")
    good = desk.load()
    desk.write(desk.project_file, "threshold: [\n")
    config, problems = load_lenient(desk.project, desk.home, {}, last=good)
    assert config is good
    assert len(problems) == 1


def test_without_a_last_good_one_whatever_is_sound_stays_in_force(desk: Desk) -> None:
    desk.write(desk.home_file, "threshold: 60\nretention_days: many\n")
    desk.write(desk.project_file, "enabled: false\nladder: {rungs: [{zone: nowhere, percent: 3}]}\nlayot: files\n")
    config, problems = load_lenient(desk.project, desk.home, {})
    assert (config.threshold, config.retention_days, config.enabled) == (60, 90, False)
    assert config.ladder_for().rungs
    assert len(problems) == 3
    assert all(row.origin for row in explain(config))


def test_a_file_that_changes_counts_at_the_next_load(desk: Desk) -> None:
    for threshold in (60, 61, 60):
        desk.write(desk.project_file, f"threshold: {threshold}\ntimeouts: {{ask: {threshold}}}\n")
        desk.write(desk.home_file, "timeouts: {verify: 5}\n")
        config = desk.load()
        assert (config.threshold, config.timeouts.ask, config.timeouts.verify) == (threshold, threshold, 5)


@pytest.mark.parametrize("bad", ["directory", "binary", "loop"])
def test_a_file_that_cannot_be_read_is_a_fault_and_no_crash(desk: Desk, bad: str) -> None:
    desk.project_file.parent.mkdir()
    if bad == "directory":
        desk.project_file.mkdir()
    elif bad == "binary":
        desk.project_file.write_bytes(b"a: \xff\xfe\n")
    else:
        os.symlink(desk.project_file, desk.project_file)
    config, problems = load_lenient(desk.project, desk.home, {})
    assert config == Config()
    assert [problem.file for problem in problems] == [str(desk.project_file)]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
keys = st.sampled_from([*Config.model_fields, "handoff", "~x"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=60)
@given(data=st.dictionaries(keys, values, max_size=4))
def test_no_content_takes_the_daemon_down(tmp_path: Path, data: dict[str, object]) -> None:
    folder = tmp_path / ".baton"
    folder.mkdir(exist_ok=True)
    for file in (folder / "config.yaml", tmp_path / "config.yaml"):
        file.write_text(yaml.safe_dump(data), encoding="utf-8")
    config, _ = load_lenient(tmp_path, tmp_path, {})
    assert config.ladder_for().rungs
    assert explain(config)
