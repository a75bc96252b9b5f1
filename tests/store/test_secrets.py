"""Secrets do not reach the database; what the user's configuration allows does."""

from pathlib import Path

from batonpass.handoff.redact import patterns
from batonpass.store import default_url, open_store
from tests.store.samples import SESSION, cycle, delivery, session

TEXT = "tell ada@analytical.org and bob@other.org"


def test_events_and_deliveries_keep_what_is_allowed_and_nothing_more(tmp_path: Path) -> None:
    allowed = [r"@analytical\.org$"]
    with open_store(default_url(tmp_path), lambda: patterns(allowed)) as store:
        store.save_session(session())
        store.add_event("NOTIFICATION", 1.0, SESSION.id, None, {"text": TEXT})
        store.start_cycle(cycle())
        store.save_delivery(delivery(text=TEXT))
        allowed.clear()  # the configuration is asked anew every time
        store.add_event("NOTIFICATION", 2.0, SESSION.id, None, {"text": TEXT})
        texts = [event.data["text"] for event in store.events()]
        (given,) = store.deliveries()
    half, none = "tell ada@analytical.org and [REDACTED:email]", "tell [REDACTED:email] and [REDACTED:email]"
    assert texts == [half, none]
    assert given.text == half
