import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from tests.cli.fake_daemon import FakeDaemon, Refuse
from tests.cli.samples import cycle, handoff

Baton = Callable[..., Result]


def test_a_handoff_waits_and_shows_how_the_cycle_went(daemon: FakeDaemon, baton: Baton, project: Path) -> None:
    daemon.answers |= {"handoff": {"cycle": "7f3a91c2", "session": "s-2"}, "handoff_wait": cycle()}
    result = baton("handoff", "shop", "--why", "lunch")
    assert result.exit_code == 0
    assert daemon.asked("handoff") == {"session": "shop", "cwd": str(project), "why": "lunch", "to": None}
    assert daemon.asked("handoff_wait") == {"cycle": "7f3a91c2"}
    assert "Session s-2 hands off in cycle 7f3a91c2." in result.stdout
    assert "Cycle 7f3a91c2 of session s-2: done" in result.stdout


@pytest.mark.parametrize("state", ["failed", "pending", "postponed", "unverified"])
def test_a_cycle_that_did_not_pass_the_baton_is_a_failure(daemon: FakeDaemon, baton: Baton, state: str) -> None:
    daemon.answers |= {"handoff": {"cycle": "c", "session": "s"}, "handoff_wait": cycle(state=state)}
    result = baton("handoff", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout) == cycle(state=state)


def test_a_handoff_need_not_be_waited_for(daemon: FakeDaemon, baton: Baton, project: Path) -> None:
    daemon.answers["handoff"] = {"cycle": "7f3a91c2", "session": "s-2"}
    result = baton("handoff", "--no-wait")
    assert result.exit_code == 0
    assert "baton cycles show 7f3a91c2" in result.stdout
    assert daemon.asked("handoff") == {"session": None, "cwd": str(project), "why": None, "to": None}
    assert json.loads(baton("handoff", "--no-wait", "--json").stdout) == {
        "cycle": "7f3a91c2",
        "session": "s-2",
    }


def test_a_folder_without_a_session_is_a_no(daemon: FakeDaemon, baton: Baton) -> None:
    daemon.answers["handoff"] = Refuse("No session runs here.", 3)
    result = baton("handoff")
    assert (result.exit_code, result.stderr) == (3, "baton: No session runs here.\n")


def test_a_cycle_reads_as_its_steps(daemon: FakeDaemon, baton: Baton) -> None:
    daemon.answers["cycles_show"] = cycle(note="the user typed meanwhile")
    result = baton("cycles", "show")
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines == [
        "Cycle 7f3a91c2 of session s-2: done",
        "because: threshold, at 87 %, by clear, 1 min 14 s in all",
        "handoff: /srv/shop/.bmad/handoffs/h.md",
        "note: the user typed meanwhile",
        "",
        "STEP STATE TOOK TRIES NOTE",
        "prepare ok 0.4 s 1",
        "safe point ok 3 s 1",
        "ask not seen 1 min 1 s 2 the hook was not heard",
    ]
    assert daemon.asked("cycles_show") == {"id": None}


def test_a_cycle_as_json_has_every_field(daemon: FakeDaemon, baton: Baton) -> None:
    daemon.answers["cycles_show"] = cycle()
    shown = json.loads(baton("cycles", "show", "7f3a91c2", "--json").stdout)
    assert shown == cycle()
    assert set(shown["steps"][0]) == {"step", "state", "started", "seconds", "attempts", "note"}
    assert daemon.asked("cycles_show") == {"id": "7f3a91c2"}


def test_cycles_are_listed(daemon: FakeDaemon, baton: Baton) -> None:
    daemon.answers["cycles_list"] = [cycle(), cycle(id="00000001", state="failed", seconds=None, way=None)]
    result = baton("cycles", "list", "shop")
    assert "7f3a91c2" in result.stdout
    assert "00000001" in result.stdout
    assert "failed" in result.stdout
    assert daemon.asked("cycles_list") == {"session": "shop"}


def test_no_cycles_are_said_to_be_none(daemon: FakeDaemon, baton: Baton) -> None:
    daemon.answers["cycles_list"] = []
    assert "No baton has been passed yet" in baton("cycles", "list").stdout
    assert json.loads(baton("cycles", "list", "--json").stdout) == []


def test_handoffs_of_this_project_are_listed(daemon: FakeDaemon, baton: Baton, project: Path) -> None:
    daemon.answers["handoffs_list"] = [
        handoff(path=f"{project}/.bmad/handoffs/h.md"),
        handoff(path="/srv/shop/.bmad/handoffs/g.md", previous=None, percent=None, sealed=False),
    ]
    result = baton("handoffs", "list")
    assert "87 %" in result.stdout
    assert "  .bmad/handoffs/h.md" in result.stdout, "as it can be typed here"
    assert "/srv/shop/.bmad/handoffs/g.md" in result.stdout
    assert daemon.asked("handoffs_list") == {"project": str(project), "all": False}


def test_handoffs_of_all_projects_as_json(daemon: FakeDaemon, baton: Baton, project: Path) -> None:
    daemon.answers["handoffs_list"] = [handoff()]
    shown = json.loads(baton("handoffs", "list", "--all", "--json").stdout)
    assert shown == [handoff()]
    assert set(shown[0]) == {"path", "number", "previous", "created", "session", "percent", "sealed"}
    assert daemon.asked("handoffs_list") == {"project": None, "all": True}


def test_no_handoffs_are_said_to_be_none(daemon: FakeDaemon, baton: Baton) -> None:
    daemon.answers["handoffs_list"] = []
    assert "No handoffs in this project yet" in baton("handoffs", "list").stdout


@pytest.mark.parametrize(
    ("typed", "file", "number"), [([], None, None), (["12"], None, 12), (["sub/h.md"], "sub/h.md", None)]
)
def test_a_handoff_is_shown_by_file_by_number_or_as_the_latest(
    daemon: FakeDaemon, baton: Baton, project: Path, typed: list[str], file: str | None, number: int | None
) -> None:
    daemon.answers["handoffs_show"] = handoff(text="# Handoff\n\nGo on [here].\n")
    result = baton("handoffs", "show", *typed)
    assert result.stdout == "# Handoff\n\nGo on [here].\n"
    expected = {"file": str(project / file) if file else None, "number": number, "cwd": str(project)}
    assert daemon.asked("handoffs_show") == expected


def test_a_shown_handoff_cannot_command_the_terminal(daemon: FakeDaemon, baton: Baton) -> None:
    daemon.answers["handoffs_show"] = handoff(text="a\x1b[2J\x1b]52;c;bad\x07b\r\n\tc\u202e")
    assert baton("handoffs", "show").stdout == "ab\n\tc\n"


def test_ctrl_c_stops_the_waiting_and_says_that_the_cycle_goes_on(
    daemon: FakeDaemon, baton: Baton, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(op: str, **fields: object) -> dict[str, str]:
        if op == "handoff_wait":
            raise KeyboardInterrupt
        return {"cycle": "7f3a91c2", "session": "s-2"}

    monkeypatch.setattr("batonpass.cli.handoff.call", interrupted)
    result = baton("handoff")
    assert result.exit_code == 130
    assert result.stderr == "baton: The cycle goes on without you; see `baton cycles show 7f3a91c2`.\n"
