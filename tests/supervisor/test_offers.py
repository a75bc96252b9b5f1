import json
import os
from pathlib import Path

import pytest

from batonpass.supervisor.offers import Offers
from tests.supervisor.fakes import OTHER, TALK, ToldAgent


@pytest.fixture
def offers(tmp_path: Path) -> Offers:
    return Offers(tmp_path, ToldAgent())


def take(offers: Offers, name: str) -> None:
    """What the hook does: claim by a rename."""
    os.rename(offers.folder / name, offers.folder / f"{name}.taken")


def test_an_ask_lies_ready_for_its_conversation_and_for_its_owner_only(offers: Offers) -> None:
    offers.ask(TALK, "write")
    assert offers.ask_pending(TALK)
    assert not offers.ask_pending(OTHER)
    file = offers.folder / f"ask.{TALK}"
    assert json.loads(file.read_text(encoding="utf-8")) == {"decision": "block", "reason": "write"}
    assert file.stat().st_mode & 0o777 == 0o600


def test_an_ask_is_taken_or_withdrawn_and_never_both(offers: Offers) -> None:
    offers.ask(TALK, "write")
    take(offers, f"ask.{TALK}")
    assert offers.asked(TALK)
    assert not offers.withdraw_ask(TALK)
    offers.forget_ask(TALK)
    offers.ask(TALK, "write again")
    assert offers.withdraw_ask(TALK)
    assert not offers.asked(TALK)
    assert not offers.ask_pending(TALK)


def test_withdrawing_what_was_never_offered_leaves_the_way_free(offers: Offers) -> None:
    assert offers.withdraw_ask(TALK)


def test_a_later_note_takes_the_place_of_an_earlier_one(offers: Offers) -> None:
    offers.note(TALK, "half full")
    take(offers, f"note.{TALK}")
    offers.note(TALK, "nearly full")
    assert sorted(path.name for path in offers.folder.iterdir()) == [f"note.{TALK}"]
    assert "nearly full" in (offers.folder / f"note.{TALK}").read_text(encoding="utf-8")


def test_priming_anew_leaves_no_part_of_the_longer_one_before(offers: Offers) -> None:
    offers.prime(["clear", "startup"], ["one", "two", "three"])
    offers.prime(["clear"], ["only"])
    names = sorted(path.name for path in offers.folder.glob("prime.*"))
    assert names == ["prime.clear.1", "prime.startup.1", "prime.startup.2", "prime.startup.3"]


def test_the_end_of_a_cycle_takes_everything_back_but_notes_and_the_status_line(offers: Offers, tmp_path: Path) -> None:
    offers.ask(TALK, "write")
    offers.ask(OTHER, "write")
    take(offers, f"ask.{OTHER}")
    offers.prime(["clear"], ["one"])
    offers.permit(tmp_path / "drafts")
    offers.note(TALK, "half full")
    offers.line("baton")
    offers.clear()
    assert sorted(path.name for path in offers.folder.iterdir()) == ["line", f"note.{TALK}"]
