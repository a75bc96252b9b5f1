"""Handoffs, events, notes, and what is forgotten."""

from dataclasses import replace
from pathlib import Path

import pytest

from batonpass.store import Author, CycleState, Store, StoreError
from tests.store.samples import SESSION, cycle, delivery, handoff, reading, session


def test_a_handoff_comes_back_as_it_was_added(store: Store) -> None:
    whole = handoff(
        previous="handoff-0.md",
        agent_session="0d7c",
        percent=86.0,
        used=143_000,
        usable=167_000,
        checksum="sha256:00",
        cycle="7f3a91c2",
        source=Author.FACTS,
    )
    store.add_handoff(whole)
    assert store.handoffs() == [whole]


def test_sealing_a_known_handoff_replaces_its_record(store: Store) -> None:
    store.add_handoff(handoff(sealed=False))
    store.add_handoff(handoff(checksum="sha256:00"))
    assert store.handoffs() == [handoff(checksum="sha256:00")]


def test_handoffs_are_listed_by_project_and_by_session_oldest_first(store: Store) -> None:
    elsewhere = Path("/projects/api")
    for record in (handoff(2), handoff(1), handoff(3, project=elsewhere, session="other")):
        store.add_handoff(record)
    assert [one.number for one in store.handoffs(project=SESSION.project)] == [1, 2]
    assert [one.number for one in store.handoffs(session="other")] == [3]
    assert store.last_handoff(project=SESSION.project) == handoff(2)
    assert store.last_handoff(session="other") == handoff(3, project=elsewhere, session="other")
    assert store.last_handoff(session="nobody") is None


def test_events_are_numbered_and_filtered(store: Store) -> None:
    first = store.add_event("TOKEN_BUDGET", 1.0, "a", None, {"used": 5})
    second = store.add_event("HANDOFF_DECISION", 2.0, "a", "7f3a91c2", {"why": "✓ 85 %"})
    third = store.add_event("TOKEN_BUDGET", 3.0, "b")
    assert first < second < third
    assert [one.id for one in store.events()] == [first, second, third]
    assert [one.id for one in store.events(session="a")] == [first, second]
    assert [one.id for one in store.events(name="TOKEN_BUDGET", limit=1)] == [third]
    (decision,) = store.events(name="HANDOFF_DECISION")
    assert (decision.at, decision.session, decision.cycle) == (2.0, "a", "7f3a91c2")
    assert decision.data == {"why": "✓ 85 %"}


def test_json_holds_whatever_a_transcript_held(store: Store) -> None:
    odd = {"nul": "a\0b", "lone": "\ud800", "deep": [{"x": None}], "big": 2**60}
    store.add_event("NOTIFICATION", 1.0, data=odd)
    assert store.events()[0].data == odd


def test_what_is_not_json_is_refused_and_nothing_is_written(store: Store) -> None:
    with pytest.raises(StoreError, match="nothing was changed"):
        store.add_event("TOKEN_BUDGET", 1.0, data={"percent": float("nan")})
    assert store.events() == []


def test_a_note_is_kept_until_it_is_put_again(store: Store) -> None:
    assert store.get("spool") is None
    store.put("spool", {"offset": 12})
    store.put("spool", {"offset": 40})
    assert store.get("spool") == {"offset": 40}
    store.put("spool", None)
    assert store.get("spool") is None


def test_purge_forgets_what_is_older_and_keeps_the_rest(store: Store) -> None:
    for id, ended in (("old", 50.0), ("new", 150.0)):
        store.save_session(session(id, created=1.0, ended=ended))
        store.start_cycle(cycle(id, session=id, started=10.0, ended=ended, state=CycleState.DONE))
        store.begin_step(id, "ask", 1, ended)
        store.save_delivery(delivery(id, session=id, offered=ended))
        store.add_event("COMPACTED", ended, id)
        store.add_health(id, SESSION.project, "context", "ok", {}, None, ended)
    assert store.purge(100.0) == 5
    assert [one.id for one in store.sessions()] == ["new"]
    assert [one.id for one in store.cycles()] == ["new"]
    assert store.steps("old") == []
    assert len(store.steps("new")) == 1
    assert [one.step for one in store.deliveries()] == ["new"]
    assert [one.session for one in store.events()] == ["new"]
    assert [one.session for one in store.health_checks()] == ["new"]


def test_notes_about_a_session_go_with_it_and_others_stay(store: Store) -> None:
    store.save_session(session("aa00", ended=50.0))
    store.save_session(session("bb00", ended=None))
    keys = ("setback aa00", "told futile aa00", "setback bb00", "spool here", "answers")
    for key in keys:
        store.put(key, True)
    assert store.purge(100.0) == 3
    assert [key for key in keys if store.get(key)] == ["setback bb00", "spool here", "answers"]


def test_the_cycles_that_a_purge_would_forget_can_be_told_before(store: Store) -> None:
    for id, ended in (("old", 50.0), ("new", None)):
        store.save_session(session(id, ended=ended))
        store.start_cycle(cycle(f"{id} cycle", session=id, ended=150.0, state=CycleState.DONE))
    store.start_cycle(cycle("short", session="new", ended=60.0, state=CycleState.DONE))
    told, before = store.outlived(100.0), {one.id for one in store.cycles()}
    store.purge(100.0)
    assert sorted(told) == sorted(before - {one.id for one in store.cycles()}) == ["old cycle", "short"]


def test_purge_never_touches_what_is_under_way(store: Store) -> None:
    store.save_session(SESSION)
    store.start_cycle(cycle(started=1.0))
    assert store.purge(1e9) == 0
    assert store.session(SESSION.id) == SESSION
    assert store.running_cycle(SESSION.id) == cycle(started=1.0)


def test_purge_keeps_the_last_reading_of_a_session(store: Store) -> None:
    store.save_session(SESSION)
    store.add_reading(SESSION.id, reading(1.0))
    store.add_reading(SESSION.id, reading(2.0))
    assert store.purge(100.0) == 1
    assert store.latest_reading(SESSION.id) == reading(2.0)


def test_purge_keeps_the_last_handoff_of_each_project_so_that_the_chain_goes_on(store: Store) -> None:
    other = replace(handoff(3), project=Path("/projects/api"))
    for record in (handoff(1), handoff(2), other):
        store.add_handoff(record)
    assert store.purge(1e9) == 1
    assert [one.number for one in store.handoffs()] == [2, 3]
