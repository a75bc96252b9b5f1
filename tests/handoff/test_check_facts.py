"""Each kind of omission is found by the check, and a document that leaves nothing out has none."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from batonpass.agents.base import BackgroundTask
from batonpass.facts import Change, Command, Facts, GitFacts, Note, OpenItem, Subagent, Todo
from batonpass.handoff import names
from batonpass.handoff.check import Gap, check, check_text
from batonpass.handoff.markdown import parse, render
from batonpass.handoff.seal import seal

DOCUMENT = """\
## Current Task
Build the ledger import, on the branch given above.

## Progress Summary
### Completed
- The reader of old bookings

### In Progress
- Mapping accounts of the old system to new ones

### Pending
- Measure a run with a million rows
- Write the operator's guide

## Active Subagents
- a34b: surveys the parsers of other banks, running
- shell bq7: the importer's dev server (make serve-ledger)

## Recent Decisions
- Amounts are integers in cents, because floats lose money.

## Files Modified
- src/ledger.py (import)

## Next Steps
1. Make tests/test_ledger.py::test_rounding pass

## Important Context
- The lockfile is never to be edited.
- pnpm is to be used, not npm; the broker is on port 5672.
- test_rounding fails with off by one.

## Links
- Epic: epic.md
"""


@pytest.fixture
def facts(tmp_path: Path) -> Facts:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "ledger.py").write_text("", encoding="utf-8")
    (tmp_path / "epic.md").write_text("", encoding="utf-8")
    return Facts(
        at=1.0,
        project=tmp_path,
        agent="claude",
        agent_session=None,
        transcript=None,
        git=GitFacts("ledger", "abc", changes=(Change("src/ledger.py", "modified"),)),
        last_test=Command(1, "pytest", False, 1, "", True),
        todos=(
            Todo("Map the old accounts to the new ones", "in_progress"),
            Todo("Measure with a million rows", "pending"),
            Todo("Delete the legacy importer", "completed"),
        ),
        subagents=(
            Subagent("a34b", "survey the parsers", "running", 1.0),
            Subagent("a99", "look around", "completed", 1.0),
        ),
        background=(
            BackgroundTask("bq7", "shell", "running", "make serve-ledger"),
            BackgroundTask("b00", "shell", "completed", "make build"),
            BackgroundTask("a34b", "subagent", "running", "survey the parsers"),
        ),
        failing=("tests/test_ledger.py::test_rounding",),
        constraints=(Note(1, "Never edit the lockfile.", "user"), Note(2, "Use pnpm, not npm.", "user")),
        carried=(
            OpenItem("P1", "Write the guide for operators", False, "handoff-1.md"),
            OpenItem("P2", "Rename the database", True, "handoff-1.md"),
        ),
    )


def found(text: str, facts: Facts) -> list[tuple[str, str]]:
    return [(gap.kind, gap.subject) for gap in check(parse(text), facts, is_own=lambda _: False)]


def test_a_document_that_says_it_all_in_its_own_words_has_no_gap(facts: Facts) -> None:
    gaps = check(parse(DOCUMENT), facts, is_own=lambda _: False)
    assert gaps.score == 100
    assert gaps == ()


@pytest.mark.parametrize(
    ("old", "new", "kind", "subject"),
    [
        ("- src/ledger.py (import)", "- epic.md", "file", "src/ledger.py"),
        ("- Mapping accounts of the old system to new ones", "- Mapping", "todo",
         "Map the old accounts to the new ones"),
        ("- Measure a run with a million rows\n", "", "todo", "Measure with a million rows"),
        ("a34b: surveys", "surveys", "subagent", "a34b"),
        ("- shell bq7: the importer's dev server (make serve-ledger)\n", "", "process", "bq7"),
        ("- The lockfile is never to be edited.\n", "", "constraint", "Never edit the lockfile."),
        ("- pnpm is to be used, not npm; t", "- T", "constraint", "Use pnpm, not npm."),
        ("- Write the operator's guide", "- Rest", "carried", "Write the guide for operators"),
        ("- Epic: epic.md", "- Epic: .bmad/epics/epic-009.md", "dead", ".bmad/epics/epic-009.md"),
        ("- Epic: epic.md", "- [the plan](docs/plan.md)", "dead", "docs/plan.md"),
        ("- src/ledger.py (import)", "- src/ledger.py (import)\n- src/gone.py (new)", "dead", "src/gone.py"),
        ("- src/ledger.py (import)", "- src/ledger.py (import, committed)", "contradiction", "src/ledger.py"),
        ("off by one.", "off by one.\n- Everything is committed.", "contradiction", "committed"),
        ("off by one.", "off by one.\n- Branch: main", "contradiction", "branch"),
        ("- Write the operator's guide", "- Write the operator's guide\n- <task description>", "placeholder",
         names.PROGRESS),
    ],
)  # fmt: skip
def test_each_omission_is_found(facts: Facts, old: str, new: str, kind: str, subject: str) -> None:
    assert old in DOCUMENT
    assert found(DOCUMENT.replace(old, new), facts) == [(kind, subject)]


def test_a_failing_test_that_is_not_named_is_found(facts: Facts) -> None:
    without = DOCUMENT.replace("tests/test_ledger.py::test_rounding", "the tests").replace("test_rounding", "a test")
    assert found(without, facts) == [("test", "tests/test_ledger.py::test_rounding")]


def test_a_failed_run_without_names_is_to_be_told_too(facts: Facts) -> None:
    without = DOCUMENT.replace("test_rounding fails with off by one", "so it is")
    assert found(without, replace(facts, failing=())) == [("test", "pytest")]


@pytest.mark.parametrize("told", ["bq7 still runs", "the dev server runs: `make serve-ledger`"])
def test_background_work_is_told_by_its_id_or_by_what_it_runs(facts: Facts, told: str) -> None:
    line = "shell bq7: the importer's dev server (make serve-ledger)"
    assert found(DOCUMENT.replace(line, told), facts) == []


def test_a_path_that_was_deleted_or_committed_is_not_dead(facts: Facts) -> None:
    deleted = DOCUMENT.replace("- src/ledger.py (import)", "- src/ledger.py (import)\n- src/old.py (deleted)")
    assert found(deleted, facts) == []


def test_a_wrong_header_is_a_contradiction(facts: Facts) -> None:
    assert found(f"# Context Handoff\n\n**Branch**: main\n\n{DOCUMENT}", facts) == [("contradiction", "branch")]


def test_a_changed_seal_is_found_and_a_right_one_is_not(facts: Facts) -> None:
    text = seal(parse(DOCUMENT)).text
    assert check_text(text, facts, is_own=lambda _: False) == ()
    changed = check_text(text.replace("million", "billion"), facts, is_own=lambda _: False)
    assert "checksum" in {gap.kind for gap in changed}


def test_what_baton_recorded_counts_for_a_file_but_not_for_the_agent(facts: Facts) -> None:
    recorded = "\n## Recorded by Baton\n\n### Background work\n- agent a34b\n"
    text = DOCUMENT.replace("a34b: surveys", "surveys") + recorded
    assert found(text, facts) == [("subagent", "a34b")]
    assert check_text(text, facts, is_own=lambda _: False) == ()


def test_the_score_falls_with_every_gap_and_never_below_nothing(facts: Facts) -> None:
    one = check(parse(DOCUMENT.replace("a34b: surveys", "surveys")), facts, is_own=lambda _: False)
    many = replace(facts, constraints=tuple(Note(n, f"Never touch module{n}.", "user") for n in range(30)))
    assert 0 < one.score < 100
    assert check(parse(DOCUMENT), many, is_own=lambda _: False).score == 0


WORDS = (
    "ledger", "import", "parser", "booking", "account", "rounding", "export", "invoice", "currency", "mapping", "audit",
    "journal", "period",
)  # fmt: skip


def said(text: str) -> str:
    return " ".join(text.rstrip(".").split()[2:])


def generated(seed: int, folder: Path) -> tuple[str, Facts]:
    """A project's facts, and a document by somebody who tells them all in other words and another order."""
    rng = random.Random(seed)

    def pick() -> str:
        return " ".join(rng.sample(WORDS, 3))

    todos = [f"Finish the {pick()}" for _ in range(rng.randint(1, 4))]
    rules = [f"Never change the {pick()}." for _ in range(rng.randint(1, 4))]
    files = [f"src/{'_'.join(pick().split())}.py" for _ in range(rng.randint(1, 4))]
    left = [f"Check the {pick()}" for _ in range(rng.randint(0, 3))]
    tests = [f"tests/test_{rng.choice(WORDS)}.py::test_{rng.choice(WORDS)}_{n}" for n in range(rng.randint(0, 3))]
    shells = [f"make {rng.choice(WORDS)}-{n}" for n in range(rng.randint(0, 2))]
    agents = [Subagent(f"a{rng.randrange(16**6):06x}", f"survey the {pick()}", "running", 1.0) for _ in range(2)]
    for file in files:
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text("", encoding="utf-8")
    facts = Facts(
        1.0, folder, "claude", None, None,
        GitFacts("work", "abc", changes=tuple(Change(file, "modified") for file in files)),
        todos=tuple(Todo(text, "pending") for text in todos),
        constraints=tuple(Note(1, text, "user") for text in rules),
        failing=tuple(tests),
        background=tuple(BackgroundTask(f"b{n}x", "shell", "running", text) for n, text in enumerate(shells)),
        subagents=tuple(agents),
        carried=tuple(OpenItem(f"P{n}", text, False, "h.md") for n, text in enumerate(left, 1)),
    )  # fmt: skip
    document = "\n".join([
        "## Current Task\nBring the books over, so that the old system can be switched off in spring.",
        "## Progress Summary\n### Completed\n- Reading\n### Pending",
        *(f"- {said(text)} is to be finished" for text in todos),
        *(f"- still to be looked at: {said(text)}" for text in left),
        "## Active Subagents", *(f"- {one.id} is at work" for one in agents),
        *(f"- in the background: {text}" for text in shells),
        "## Recent Decisions\n- Cents, because floats lose money.",
        "## Files Modified", *(f"- `{file}`: changed" for file in files),
        "## Next Steps\n1. Go on with the first that is pending",
        "## Important Context",
        *(f"- the {said(text)} must be left as it is" for text in rules),
        *(f"- {name.split('::')[1]} is red" for name in tests),
    ])  # fmt: skip
    return document, facts


@pytest.mark.parametrize("seed", range(50))
def test_a_correct_document_raises_no_false_alarm(tmp_path: Path, seed: int) -> None:
    document, facts = generated(seed, tmp_path)
    gaps: tuple[Gap, ...] = check(parse(document), facts, is_own=lambda _: False)
    assert gaps == ()
    assert check(parse(render(parse(document))), facts, is_own=lambda _: False) == ()
