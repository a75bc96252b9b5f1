"""Sessions and hosts."""

from dataclasses import replace
from pathlib import Path

import pytest

from batonpass.session import PaneRef, State
from batonpass.store import AmbiguousSession, HostRecord, Store, StoreError
from tests.store.samples import SESSION, session


def test_a_session_comes_back_as_it_was_saved(store: Store) -> None:
    store.save_session(SESSION)
    assert store.session(SESSION.id) == SESSION


def test_a_session_with_nothing_known_comes_back_too(store: Store) -> None:
    bare = session(pane=None, pid=None, agent_session=None, transcript=None, model=None, ladder=None)
    store.save_session(bare)
    assert store.session(bare.id) == bare


def test_an_unknown_session_is_none(store: Store) -> None:
    assert store.session("nobody") is None


def test_saving_again_replaces_every_value(store: Store) -> None:
    store.save_session(SESSION)
    later = session(name="api", pane=None, chain=3, state=State.IDLE, project=Path("/projects/api"))
    store.save_session(later)
    assert store.sessions() == [later]


def test_update_changes_only_the_fields_named(store: Store) -> None:
    store.save_session(SESSION)
    moved = PaneRef("baton", 99, "%3")
    updated = store.update_session(SESSION.id, pane=moved, state=State.BUSY)
    assert updated == replace(SESSION, pane=moved, state=State.BUSY)
    assert store.session(SESSION.id) == updated


def test_update_of_a_session_that_is_not_there_says_so(store: Store) -> None:
    with pytest.raises(StoreError, match="no session nobody"):
        store.update_session("nobody", chain=1)


def test_update_of_a_field_that_sessions_do_not_have_is_a_programming_error(store: Store) -> None:
    store.save_session(SESSION)
    with pytest.raises(TypeError, match="colour"):
        store.update_session(SESSION.id, colour="red")


def test_live_sessions_are_those_that_have_not_ended(store: Store) -> None:
    store.save_session(session("a", created=2.0, state=State.DEAD))
    store.save_session(session("b", created=1.0, state=State.IDLE))
    store.save_session(session("c", created=3.0, ended=9.0))
    store.save_session(session("d", created=3.0, state=State.ENDED))
    assert [one.id for one in store.sessions(live=True)] == ["b", "a"]


def test_sessions_can_be_listed_for_one_host(store: Store) -> None:
    store.save_session(session("a", host="here"))
    store.save_session(session("b", host="there"))
    assert [one.id for one in store.sessions(host="there")] == ["b"]


@pytest.mark.parametrize("text", ["5e55a001", "web", "%12", "5e55"])
def test_a_session_is_found_by_id_name_pane_or_the_beginning_of_its_id(store: Store, text: str) -> None:
    store.save_session(SESSION)
    store.save_session(session("77777777", name="api", pane=PaneRef("", 4711, "%13")))
    assert store.find_session(text) == SESSION


@pytest.mark.parametrize("text", ["", "%", "web_", "nobody"])
def test_text_that_fits_no_session_finds_none(store: Store, text: str) -> None:
    store.save_session(SESSION)
    assert store.find_session(text) is None


def test_a_name_means_the_live_session_before_an_ended_one(store: Store) -> None:
    store.save_session(session("old", created=1.0, ended=2.0))
    store.save_session(session("now", created=3.0))
    store.save_session(session("gone", created=4.0, ended=5.0))
    found = store.find_session("web")
    assert found is not None
    assert found.id == "now"


def test_a_name_that_only_ended_sessions_had_means_the_last_of_them(store: Store) -> None:
    store.save_session(session("newer", created=4.0, ended=5.0))
    store.save_session(session("older", created=1.0, ended=2.0))
    found = store.find_session("web")
    assert found is not None
    assert found.id == "newer"


def test_a_name_of_two_live_sessions_is_refused_with_their_ids(store: Store) -> None:
    store.save_session(session("a1", created=1.0))
    store.save_session(session("b2", created=2.0))
    with pytest.raises(AmbiguousSession, match="'web' fits 2 sessions") as refusal:
        store.find_session("web")
    assert refusal.value.ids == ("a1", "b2")


def test_an_id_prefix_of_two_sessions_is_refused(store: Store) -> None:
    store.save_session(session("abc1", name="one", ended=1.0))
    store.save_session(session("abc2", name="two", ended=1.0))
    with pytest.raises(AmbiguousSession):
        store.find_session("abc")


def test_a_whole_id_is_never_ambiguous(store: Store) -> None:
    store.save_session(session("abc", name="one"))
    store.save_session(session("abcd", name="abc"))
    found = store.find_session("abc")
    assert found is not None
    assert found.id == "abc"


def test_finding_can_be_limited_to_one_host(store: Store) -> None:
    store.save_session(session("a1", host="here"))
    store.save_session(session("b2", host="there"))
    found = store.find_session("web", host="there")
    assert found is not None
    assert found.id == "b2"


def test_a_heartbeat_makes_the_host_known_and_later_ones_move_it(store: Store) -> None:
    store.beat("h1", 10.0, name="laptop", version="0.1.0")
    store.beat("h1", 20.0, name="laptop", version="0.1.0")
    store.beat("h2", 15.0)
    assert store.hosts() == [HostRecord("h1", "laptop", 20.0, "0.1.0"), HostRecord("h2", "h2", 15.0, None)]


def test_a_bare_heartbeat_does_not_forget_name_and_version(store: Store) -> None:
    store.beat("h1", 10.0, name="laptop", version="0.1.0")
    store.beat("h1", 20.0)
    assert store.hosts() == [HostRecord("h1", "laptop", 20.0, "0.1.0")]
