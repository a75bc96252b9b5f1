"""Recorded sessions of any origin: read from a folder, made into documents, measured."""

import json
import shutil
from pathlib import Path

import pytest

from batonpass.sim.corpus_measure import measure
from batonpass.sim.corpus_recorded import NotACorpus, handed_over, recordings

ROOT = Path(__file__).parents[2]
FIXTURE = ROOT / "tests" / "fixtures" / "continuity"


@pytest.mark.parametrize("manner", ["silent", "careless"])
def test_a_recorded_session_loses_nothing_and_keeps_nothing_that_was_taken_back(tmp_path: Path, manner: str) -> None:
    (session,) = recordings(FIXTURE)
    found = measure(session.corpus, handed_over(session, manner, tmp_path))
    assert found.lost == ()
    assert found.stale == ()


def test_a_document_that_nobody_wrote_is_not_there(tmp_path: Path) -> None:
    (session,) = recordings(FIXTURE)
    with pytest.raises(FileNotFoundError):
        handed_over(session, "cooperative", tmp_path)


def test_what_was_deleted_and_what_is_new_is_uncommitted(tmp_path: Path) -> None:
    shutil.copytree(FIXTURE, tmp_path / "corpus")
    (tmp_path / "corpus" / "webhooks" / "project" / "app" / "billing.ts").unlink()
    (session,) = recordings(tmp_path / "corpus")
    (tmp_path / "work").mkdir()
    text = handed_over(session, "silent", tmp_path / "work")
    assert "- app/billing.ts (deleted)" in text
    assert "- migrations/0042_seen_events.sql (untracked)" in text


def test_a_folder_without_a_list_is_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(NotACorpus, match=r"facts\.json"):
        recordings(tmp_path)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"agent": "nobody"}, "nobody"),
        ({"transcript": "gone.jsonl"}, r"gone\.jsonl"),
        ({"must": [{"kind": "todo"}]}, "said"),
        ({"must": 7}, "TypeError"),
    ],
)
def test_a_list_that_cannot_be_used_says_why(tmp_path: Path, given: dict[str, object], told: str) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "transcript.jsonl").touch()
    (folder / "facts.json").write_text(json.dumps(given), encoding="utf-8")
    with pytest.raises(NotACorpus, match=told):
        recordings(tmp_path)


def test_the_handoff_in_the_guide_is_what_is_made_today(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (session,) = recordings(FIXTURE.relative_to(ROOT))
    made = handed_over(session, "silent", tmp_path)
    assert made == (ROOT / "docs" / "guide" / "example-handoff.md").read_text(encoding="utf-8")
