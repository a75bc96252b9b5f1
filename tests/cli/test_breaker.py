"""What holds handoffs back, as people see it."""

import json
from collections.abc import Callable

from typer.testing import Result

from tests.cli.fake_daemon import FakeDaemon
from tests.cli.samples import NOW, guard

Baton = Callable[..., Result]


def test_a_free_session_is_said_to_be_free(daemon: FakeDaemon, baton: Baton) -> None:
    daemon.answers["breaker_show"] = [guard(handoffs_in_the_last_hour=2, threshold_raised_by=5.0)]
    result = baton("breaker", "show")
    assert result.stdout == "api: free (2 handoffs in the last hour, threshold 5 points higher for now).\n"


def test_a_paused_session_is_said_to_be_paused_with_the_cause_and_the_end(daemon: FakeDaemon, baton: Baton) -> None:
    daemon.answers["breaker_show"] = [guard(guard="breaker", why="3 handoffs within an hour", until=NOW)]
    result = baton("breaker", "show", "api")
    assert result.stdout == "api: paused until 2027-01-15T08:00:00Z: 3 handoffs within an hour.\n"


def test_a_pause_that_only_a_person_ends_names_the_command(daemon: FakeDaemon, baton: Baton) -> None:
    daemon.answers["breaker_show"] = [guard(guard="no progress", why="nothing changed")]
    assert "until `baton breaker reset api`" in baton("breaker", "show").stdout


def test_show_gives_the_record_as_json(daemon: FakeDaemon, baton: Baton) -> None:
    daemon.answers["breaker_show"] = [guard()]
    assert json.loads(baton("breaker", "show", "--json").stdout) == [guard()]


def test_reset_asks_the_daemon_for_the_named_session(daemon: FakeDaemon, baton: Baton) -> None:
    daemon.answers["breaker_reset"] = guard()
    result = baton("breaker", "reset", "api")
    asked = daemon.asked("breaker_reset")
    assert (result.stdout, asked["session"]) == ("api: the count starts anew.\n", "api")
