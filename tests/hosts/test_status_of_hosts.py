"""How `baton status` reads when there are several hosts, or when the database is away."""

import io
from pathlib import Path
from typing import Any

from rich.console import Console

from batonpass.cli.status_view import view
from tests.cli.samples import NOW, session, three_sessions


def _read(**changes: Any) -> str:
    status: Any = {**three_sessions(), "notifications": [], **changes}
    out = io.StringIO()
    Console(file=out, width=120).print(view(status, now=NOW, home=Path("/home/kim")))
    return out.getvalue()


def _host(name: str, **changes: Any) -> dict[str, Any]:
    host = {"host": name, "name": name, "version": "0.1.0", "age": 3.0, "alive": True, "here": False, "sessions": 1}
    return host | changes


def test_sessions_are_shown_below_their_hosts_and_a_dead_one_is_named_dead() -> None:
    seen = _read(
        hosts=[_host("box", here=True), _host("far", alive=False, age=7500.0)],
        sessions=[session(), session(session="s-9", name="there", host="far", state="unreachable", guard=None)],
    )
    places = [seen.index(words) for words in ("■ box", "api ", "■ far", "there  ")]
    assert places == sorted(places)
    assert "■ box (this host) · 1 session" in seen
    assert "■ far · dead, last heard of 2 h 5 min ago · 1 session unreachable until Baton runs there again" in seen
    assert "claude · unreacha" in seen


def test_a_store_that_is_away_is_told_first_and_the_sessions_are_still_shown() -> None:
    seen = _read(store="The store x cannot be reached.", sessions=[session(guard=None)])
    assert seen.index("cannot be reached") < seen.index("api")
