import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import Result

from batonpass.cli.client import Refused
from batonpass.cli.records import SessionRow, Status
from batonpass.cli.status import live
from batonpass.cli.status_view import view
from tests.cli.fake_daemon import FakeDaemon
from tests.cli.samples import NOW, session, three_sessions

Baton = Callable[..., Result]
SNAPSHOT = Path(__file__).parent / "status-of-three-sessions.txt"


def read(status: object, *, width: int = 100, colour: bool = False) -> str:
    """What a person sees."""
    console = Console(file=io.StringIO(), width=width, force_terminal=colour, color_system="256" if colour else None)
    console.print(view(status, now=NOW, home=Path("/home/kim")))  # type: ignore[arg-type]
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"  # type: ignore[attr-defined]


def one(**changes: object) -> dict[str, object]:
    return {**three_sessions(), "sessions": [session(**changes)], "notifications": []}


def test_three_sessions_read_as_in_the_snapshot() -> None:
    assert read(three_sessions()) == SNAPSHOT.read_text(encoding="utf-8")


def test_nothing_is_cut_off_in_eighty_columns() -> None:
    seen = read(three_sessions(), width=80)
    for words in (
        "87 %",
        "mandatory",
        "36 %",
        "monitoring",
        "? %",
        "unknown",
        "passing the baton: safe point for 12 s",
    ):
        assert words in seen


def test_a_bar_has_the_colour_of_its_zone() -> None:
    assert "\x1b[32m━" in read(one(zone="normal", percent=10.0), colour=True)
    assert "\x1b[33m━" in read(one(zone="warning", percent=55.0), colour=True)
    assert "\x1b[1;31m━" in read(one(zone="mandatory", percent=90.0), colour=True)


def test_a_zone_that_a_user_named_is_coloured_by_how_full_the_session_is() -> None:
    assert "\x1b[1;31m━" in read(one(zone="pack your things", percent=90.0), colour=True)


def test_unknown_usage_is_not_shown_as_empty() -> None:
    seen = read(one(used=None, percent=None, zone="unknown"))
    assert "usage not known yet" in seen
    assert " 0 %" not in seen


def test_a_session_in_which_no_hooks_run_says_so() -> None:
    assert "no hooks run here" in read(one(hooks=False))
    assert "no hooks run here" not in read(one(hooks=None))


def test_a_session_whose_port_does_not_answer_says_so() -> None:
    assert "its port does not answer" in read(one(answers=False))
    assert "its port" not in read(one(answers=True))


def test_a_session_that_is_held_back_says_why_and_what_helps() -> None:
    held = {"session": "s", "name": "api", "handoffs_in_the_last_hour": 3, "threshold_raised_by": 0.0, "until": None}
    why = "3 handoffs in a row left the project unchanged"
    assert f"⏹ api: paused until `baton breaker reset api`: {why}." in read(
        one(guard={**held, "guard": "no progress", "why": why})
    )
    assert "⏹" not in read(one(guard={**held, "guard": None, "why": None}))


def test_a_handoff_that_waits_for_its_turn_among_others_says_so() -> None:
    cycle = {"id": "7f3a91c2", "step": "safe_point", "since": 0.0}
    assert "passing the baton: waits for its turn" in read(one(cycle={**cycle, "queued": True}))
    assert "passing the baton: safe point" in read(one(cycle={**cycle, "queued": False}))


def test_an_overfull_session_says_so() -> None:
    assert "104 %" in read(one(percent=104.2, zone="mandatory"))


def test_names_cannot_command_the_terminal_or_the_layout() -> None:
    seen = read(one(name="a\x1b[2Jb\x07", zone="[red]z", project="/p/\x1b]0;owned\x07q\nr"))
    assert "ab" in seen
    assert "[red]z" in seen
    assert "/p/q r" in seen
    assert "\x1b" not in seen
    assert "owned" not in seen


def test_mistakes_in_the_configuration_are_shown() -> None:
    seen = read({**three_sessions(), "problems": ["/p/.baton/config.yaml:2:1: treshold: no such key"]})
    assert "Configuration: these are not followed until they are mended" in seen
    assert "/p/.baton/config.yaml:2:1: treshold: no such key" in seen


def test_a_notification_names_its_session_once() -> None:
    notes = [
        {"at": NOW, "session": "s-1", "text": "api passed the baton"},
        {"at": NOW, "session": "s-1", "text": "the baton was passed"},
    ]
    seen = read({**three_sessions(), "notifications": notes})
    assert "  0 s ago  api passed the baton" in seen
    assert "  0 s ago  api: the baton was passed" in seen


def test_without_sessions_it_says_how_to_start_one() -> None:
    seen = read({**three_sessions(), "sessions": [], "notifications": []})
    assert "0 sessions" in seen
    assert "Start one with: baton run" in seen


def test_json_is_the_daemons_answer_and_nothing_else(daemon: FakeDaemon, baton: Baton) -> None:
    daemon.answers["status"] = three_sessions()
    result = baton("status", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == three_sessions()
    assert daemon.asked("status") == {"session": None, "all": False, "all_hosts": False}


def test_a_session_has_every_field_that_is_promised() -> None:
    promised = (
        "session name project agent agent_session state used window usable percent zone source confidence "
        "forecast chain pane host"
    )
    assert set(promised.split(" ")) <= SessionRow.__required_keys__
    assert set(session()) == SessionRow.__required_keys__


def test_the_plain_command_prints_the_view(daemon: FakeDaemon, baton: Baton) -> None:
    daemon.answers["status"] = three_sessions()
    result = baton("status", "--all")
    assert result.exit_code == 0
    assert "87 %  mandatory" in result.stdout
    assert daemon.asked("status") == {"session": None, "all": True, "all_hosts": False}


def test_one_session_is_shown_alone_if_it_is_named(daemon: FakeDaemon, baton: Baton) -> None:
    daemon.answers["status"] = {**three_sessions(), "sessions": [session(name="shop")]}
    assert baton("status", "shop").exit_code == 0
    assert daemon.asked("status") == {"session": "shop", "all": False, "all_hosts": False}
    result = baton("status", "shop", "--all-hosts")
    assert (result.exit_code, result.stderr) == (2, "baton: Name a session of this host, or take --all-hosts.\n")


def test_json_and_watch_together_are_wrong_usage(baton: Baton) -> None:
    result = baton("status", "--json", "--watch")
    assert result.exit_code == 2
    assert result.stderr == "baton: Choose one of --json and --watch.\n"


def test_watching_goes_on_until_ctrl_c_and_survives_a_daemon_that_is_away() -> None:
    answers: list[Status | Refused] = [
        one(name="first"),  # type: ignore[list-item]
        Refused("The daemon is away."),
        one(name="last"),  # type: ignore[list-item]
    ]
    seen: list[str] = []
    out = io.StringIO()

    def fetch() -> Status:
        answer = answers.pop(0)
        if isinstance(answer, Refused):
            raise answer
        return answer

    def pause() -> None:
        seen.append(out.getvalue())
        if not answers:
            raise KeyboardInterrupt

    live(Console(file=out, width=100, force_terminal=True, _environ={"TERM": "xterm"}), fetch, pause)
    assert "first" in seen[0]
    assert "The daemon is away." in seen[1]
    assert "last" in seen[2]
    assert "last" in out.getvalue()[len(seen[2]) :], "the last view stays on the screen"


@pytest.mark.parametrize(
    ("phase", "words"),
    [
        ("waiting", "stopped by its provider (rate limit), goes on in 5 min"),
        ("switching", "codex takes over (rate limit)"),
        ("away", "stands in for claude (rate limit), which is tried again in 5 min"),
        ("stuck", "sign in in its pane"),
    ],
)
def test_what_a_provider_keeps_a_session_from_is_said_with_what_is_done_about_it(phase: str, words: str) -> None:
    setback = {"phase": phase, "kind": "rate_limit", "until": NOW + 300, "first": "claude", "to": "codex"}
    assert words in read(one(setback=setback))
