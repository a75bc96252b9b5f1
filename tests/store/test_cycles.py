"""Cycles and their steps."""

from dataclasses import replace
from pathlib import Path

import pytest

from batonpass.store import CycleState, Store, StoreError
from tests.store.samples import SESSION, cycle, session


@pytest.fixture(autouse=True)
def known(store: Store) -> None:
    store.save_session(SESSION)


def test_a_cycle_comes_back_as_it_was_started(store: Store) -> None:
    whole = cycle(
        state=CycleState.PENDING,
        way="respawn",
        percent=86.5,
        used=144_455,
        ended=200.0,
        deadline=400.0,
        document=Path("/projects/web/h.md"),
        old_agent_session="a",
        new_agent_session="b",
        note="the pane was gone",
        data={"attempts": [1, 2], "why": None},
    )
    assert store.start_cycle(whole) == whole
    assert store.cycle(whole.id) == whole
    assert store.cycle("nothing") is None


def test_starting_a_cycle_twice_keeps_what_it_has_done_since(store: Store) -> None:
    store.start_cycle(cycle())
    moved = store.update_cycle(cycle().id, way="clear")
    assert store.start_cycle(cycle()) == moved
    assert store.cycles() == [moved]


def test_update_changes_only_the_fields_named(store: Store) -> None:
    store.start_cycle(cycle())
    done = store.update_cycle(cycle().id, state=CycleState.DONE, ended=300.0, data={"receipt": "accepted"})
    assert done == replace(cycle(), state=CycleState.DONE, ended=300.0, data={"receipt": "accepted"})
    assert store.cycle(cycle().id) == done


def test_update_of_a_cycle_that_is_not_there_says_so(store: Store) -> None:
    with pytest.raises(StoreError, match="no cycle nothing"):
        store.update_cycle("nothing", way="clear")


def test_update_of_a_field_that_cycles_do_not_have_is_a_programming_error(store: Store) -> None:
    store.start_cycle(cycle())
    with pytest.raises(TypeError, match="colour"):
        store.update_cycle(cycle().id, colour="red")


def test_the_last_cycles_are_listed_oldest_first(store: Store) -> None:
    store.save_session(session("other"))
    for number in range(4):
        store.start_cycle(cycle(f"c{number}", started=float(number)))
    store.start_cycle(cycle("x", session="other", started=9.0))
    assert [one.id for one in store.cycles(SESSION.id, limit=2)] == ["c2", "c3"]
    assert [one.id for one in store.cycles()][-1] == "x"


def test_the_running_cycle_of_a_session_is_found_until_it_ends(store: Store) -> None:
    assert store.running_cycle(SESSION.id) is None
    store.start_cycle(cycle("c0", state=CycleState.DONE))
    store.start_cycle(cycle("c1"))
    running = store.running_cycle(SESSION.id)
    assert running is not None
    assert running.id == "c1"
    store.update_cycle("c1", state=CycleState.FAILED)
    assert store.running_cycle(SESSION.id) is None


def test_a_cycle_of_a_session_that_is_not_stored_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="does not have"):
        store.start_cycle(cycle(session="nobody"))


def test_steps_are_numbered_in_the_order_in_which_they_begin(store: Store) -> None:
    store.start_cycle(cycle())
    first = store.begin_step(cycle().id, "prepare", 1, 10.0)
    store.end_step(cycle().id, first, "done", 11.0, "draft written", {"facts": 12})
    second = store.begin_step(cycle().id, "ask", 1, 12.0)
    assert (first, second) == (1, 2)
    prepare, ask = store.steps(cycle().id)
    assert (prepare.step, prepare.state, prepare.started, prepare.ended) == ("prepare", "done", 10.0, 11.0)
    assert (prepare.note, prepare.data) == ("draft written", {"facts": 12})
    assert (ask.step, ask.attempt, ask.state, ask.ended) == ("ask", 1, "running", None)


def test_a_step_that_a_crash_left_open_goes_on_under_its_number(store: Store) -> None:
    store.start_cycle(cycle())
    seq = store.begin_step(cycle().id, "ask", 1, 10.0)
    assert store.begin_step(cycle().id, "ask", 1, 50.0) == seq
    assert [one.started for one in store.steps(cycle().id)] == [10.0]


def test_another_attempt_is_another_step(store: Store) -> None:
    store.start_cycle(cycle())
    assert store.begin_step(cycle().id, "ask", 1, 10.0) == 1
    assert store.begin_step(cycle().id, "ask", 2, 20.0) == 2


def test_going_back_to_a_step_that_has_ended_is_a_new_step(store: Store) -> None:
    store.start_cycle(cycle())
    seq = store.begin_step(cycle().id, "ask", 1, 10.0)
    store.end_step(cycle().id, seq, "done", 11.0)
    assert store.begin_step(cycle().id, "ask", 1, 20.0) == 2


def test_the_first_ending_of_a_step_stands(store: Store) -> None:
    store.start_cycle(cycle())
    seq = store.begin_step(cycle().id, "ask", 1, 10.0)
    store.end_step(cycle().id, seq, "done", 11.0, "seen")
    store.end_step(cycle().id, seq, "failed", 99.0, "again")
    (step,) = store.steps(cycle().id)
    assert (step.state, step.ended, step.note) == ("done", 11.0, "seen")


def test_a_step_of_a_cycle_that_is_not_stored_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="no cycle nothing"):
        store.begin_step("nothing", "ask", 1, 10.0)
