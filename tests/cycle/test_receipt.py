"""The receipt: a true one is accepted, and each way of being wrong is found."""

import json
from pathlib import Path

import pytest

from batonpass.cycle.receipt import expected, find, verify
from batonpass.facts import Change, GitFacts
from batonpass.handoff import prompts
from batonpass.handoff.document import Handoff, Section
from batonpass.handoff.items import with_ids

CYCLE = "7f3a91c2"
HANDOFF = with_ids(
    Handoff(
        number=1,
        branch="feature/torn",
        sections=(
            Section("Current Task", "Make the transcript reader survive torn lines, as users saw crashes."),
            Section("Progress Summary", "### In Progress\n- the failing test\n\n### Pending\n- measuring\n- docs"),
            Section("Files Modified", "- src/reader.py (kept lines)\n- `a b.txt`\n- README.md (committed)"),
            Section("Next Steps", "1. Run the tests of the reader\n2. Measure a large file"),
            Section("Important Context", "- Public names stay\n- Port 5000 is taken"),
        ),
        recorded=(Section("Files written by tools", "- tmp/scratch.py"),),
    )
)
GIT = GitFacts("feature/torn", "abc", changes=(Change("src/reader.py", "modified"), Change("a b.txt", "untracked")))
EXPECTED = expected(HANDOFF, GIT)
TRUE: dict[str, object] = {
    "baton_receipt": CYCLE,
    "task": "Make the transcript reader survive torn lines",
    "next_step": "N1",
    "branch": "feature/torn",
    "files": ["src/reader.py", "a b.txt"],
    "constraints": ["C1", "C2"],
    "open_items": ["I1", "P1", "P2"],
}


def problems(**changes: object) -> tuple[str, ...]:
    return verify({**TRUE, **changes}, EXPECTED, CYCLE)


def test_a_true_receipt_is_accepted() -> None:
    assert problems() == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"task": "Fixing the reader so torn transcript lines no longer crash it"},
        {"next_step": "N2"},
        {"next_step": "(N1) Run the tests"},
        {"next_step": "run the reader's tests"},
        {"files": ["./src/reader.py", "a b.txt", "README.md", "tmp/scratch.py"]},
        {"files": ["/home/ada/p/src/reader.py (modified)", "`a b.txt`"]},
        {"open_items": ["I1", "P1", "P2", "N1", "N2"]},
        {"constraints": ["C1: Public names stay", "(C2)"]},
    ],
)
def test_other_true_words_are_accepted(changes: dict[str, object]) -> None:
    assert problems(**changes) == ()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"baton_receipt": "00000000"}, "is for another handoff"),
        ({"baton_receipt": None}, "is for another handoff"),
        ({"task": "Write a poem about the sea"}, "not the handoff's current task"),
        ({"task": ""}, '"task" is empty'),
        ({"next_step": "N9"}, '"next_step" is N9, but the handoff has N1, N2'),
        ({"next_step": "P1"}, '"next_step" is P1'),
        ({"next_step": None}, "must be the id of a next step: N1, N2"),
        ({"next_step": "whatever comes"}, "must be the id of a next step"),
        ({"branch": "main"}, '"branch" is "main", but the work is on "feature/torn"'),
        ({"branch": None}, '"branch" is "null"'),
        ({"files": ["src/reader.py"]}, '"files" lacks a b.txt'),
        ({"files": []}, '"files" lacks a b.txt, src/reader.py'),
        ({"files": ["src/reader.py", "a b.txt", "src/invented.py"]}, "not in the handoff: src/invented.py"),
        ({"constraints": ["C1"]}, '"constraints" lacks C2'),
        ({"constraints": ["C1", "C2", "C3"]}, "not in the handoff: C3"),
        ({"constraints": ["C1", "C2", "be nice"]}, "not in the handoff: be nice"),
        ({"open_items": ["I1", "P1"]}, '"open_items" lacks P2'),
        ({"open_items": ["I1", "P1", "P2", "P3"]}, "not in the handoff: P3"),
        ({"open_items": None}, '"open_items" lacks I1, P1, P2'),
    ],
)
def test_each_wrong_statement_is_found_alone(changes: dict[str, object], said: str) -> None:
    found = problems(**changes)
    assert len(found) == 1
    assert said in found[0]


@pytest.mark.parametrize("key", ["next_step", "branch", "constraints", "open_items", "files", "task"])
def test_a_field_that_is_not_there_is_found(key: str) -> None:
    assert len(verify({name: value for name, value in TRUE.items() if name != key}, EXPECTED, CYCLE)) == 1


def test_a_copy_of_the_template_is_refused() -> None:
    copied = find(prompts.kick("[t]", CYCLE, Path("/p/h.md")))
    assert copied is not None
    assert verify(copied, EXPECTED, CYCLE) == ("The receipt is the template, not filled in from the handoff.",)


def test_a_half_filled_template_is_refused() -> None:
    assert problems(constraints=["C1", "<every C id>"]) == (
        "The receipt is the template, not filled in from the handoff.",
    )


def test_where_no_branch_is_checked_out_none_may_be_named() -> None:
    detached = expected(HANDOFF, GitFacts(None, "abc"))
    given = {**TRUE, "files": []}
    assert verify({**given, "branch": None}, detached, CYCLE) == ()
    assert verify({**given, "branch": "none"}, detached, CYCLE) == ()
    assert len(verify({**given, "branch": "main"}, detached, CYCLE)) == 1


def test_a_file_that_was_committed_need_not_be_named() -> None:
    assert "README.md" in EXPECTED.known_files
    assert "README.md" not in EXPECTED.required_files


def test_a_handoff_with_nothing_open_wants_no_ids() -> None:
    bare = expected(Handoff(sections=(Section("Current Task", "Mend the reader."),)), None)
    given = {"baton_receipt": CYCLE, "task": "Mend the reader", "files": [], "constraints": [], "open_items": ["None"]}
    assert verify(given, bare, CYCLE) == ()


def test_the_receipt_is_found_in_an_answer() -> None:
    answer = f"Good.\n```json\n{{}}\n```\n```json\n{json.dumps(TRUE)}\n```\nContinuing."
    assert find(answer) == TRUE


@pytest.mark.parametrize(
    "answer", ["", "baton_receipt", "```json\n{torn\n```", '```json\n["baton_receipt"]\n```', '{"baton_receipt": "x"}']
)
def test_an_answer_without_a_receipt_has_none(answer: str) -> None:
    assert find(answer) is None


def test_a_successor_that_knows_no_task_is_right_where_the_handoff_knows_none() -> None:
    nothing = "None known: the agent wrote nothing; see Recorded by Baton."
    given = {"baton_receipt": CYCLE, "task": nothing, "files": [], "constraints": [], "open_items": []}
    unknown, known = (Handoff(sections=(Section("Current Task", task),)) for task in (nothing, "Build the ledger."))
    assert verify(given, expected(unknown, None), CYCLE) == ()
    (problem,) = verify(given, expected(known, None), CYCLE)
    assert problem.startswith('"task" is empty')
