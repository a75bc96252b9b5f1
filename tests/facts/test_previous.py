"""What the previous handoff left: its constraints hold on, its open items are followed."""

import subprocess
from pathlib import Path

from batonpass.handoff.draft import Meta, from_facts
from batonpass.handoff.markdown import parse
from batonpass.handoff.seal import seal
from batonpass.transcripts.events import ToolCalled, ToolReturned
from tests.facts.said import agent, facts_of, ran, user

META = Meta(2, None, 40.0, "s1", "claude", "5f0c", "shop", "threshold")
LATER = 4e9  # the session began after the commit
DOCUMENT = """## Current Task
Build the ledger.

## Progress Summary
### In Progress
- Import the old bookings

### Pending
- Measure the import of a million rows
- Write the guide

## Next Steps
1. Go on

## Important Context
- Never edit the lockfile.
- Use pnpm, not npm.
"""


def before(folder: Path) -> Path:
    path = folder / "handoff-2026-01-20-141523.md"
    path.write_text(seal(parse(DOCUMENT)).text, encoding="utf-8")
    return path


def test_the_task_is_carried_on_in_its_first_words_however_often_nobody_wrote_a_document(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, previous=before(tmp_path))
    assert facts.task == "Build the ledger."
    carried = tmp_path / "handoff-2026-01-20-141524.md"
    carried.write_text(seal(from_facts(facts, META)).text, encoding="utf-8")
    document = parse(carried.read_text(encoding="utf-8"))
    assert document.section("Current Task") == '- The task until now: "Build the ledger."'
    assert "Go on: Import the old bookings" in (document.section("Next Steps") or "")
    assert facts_of(tmp_path, previous=carried).task == "Build the ledger."


def test_a_previous_handoff_that_knew_no_task_has_none_to_carry(tmp_path: Path) -> None:
    unknown = tmp_path / "handoff-2026-01-20-141525.md"
    unknown.write_text(seal(from_facts(facts_of(tmp_path), META)).text, encoding="utf-8")
    assert facts_of(tmp_path, previous=unknown).task is None


def test_constraints_are_inherited_until_they_are_taken_back(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, user(1, "You may now edit the lockfile."), previous=before(tmp_path))
    assert [(n.text, n.key) for n in facts.constraints if n.key] == [("Use pnpm, not npm.", "C2")]
    assert [note.text for note in facts.revoked] == ["Never edit the lockfile."]


def test_open_items_are_done_when_something_says_so(tmp_path: Path) -> None:
    todos = {"todos": [{"content": "Measure importing a million rows", "status": "completed"}]}
    facts = facts_of(tmp_path, ToolCalled(1, "t", "TodoWrite", todos), previous=before(tmp_path))
    assert [(item.id, item.done) for item in facts.carried] == [("I1", False), ("P1", True), ("P2", False)]
    assert facts.carried[0].origin == "handoff-2026-01-20-141523.md (I1)"


def test_a_file_that_was_taken_back_is_not_in_work(tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text("1\n", encoding="utf-8")
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    wrote = [
        event
        for name in ("a.py", "b.py", "c.py")
        for event in (ToolCalled(LATER, name, "Write", {"file_path": name}), ToolReturned(LATER, name, True, ""))
    ]
    (tmp_path / "c.py").write_text("2\n", encoding="utf-8")
    facts = facts_of(tmp_path, wrote, ran(LATER, "git checkout -- a.py"))
    assert facts.touched == ("c.py",)
    assert facts.reverted == ("a.py", "b.py")


def test_commits_of_this_session_are_told_from_older_ones(tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True, capture_output=True)
    for day, name in (("2001-01-01", "old"), ("2031-01-01", "new one")):
        (tmp_path / name).write_text("1\n", encoding="utf-8")
        date = {
            "GIT_COMMITTER_DATE": f"{day}T00:00:00Z",
            "GIT_AUTHOR_DATE": f"{day}T00:00:00Z",
            "PATH": "/usr/bin:/bin",
        }
        subprocess.run([*git, "add", "-A"], check=True, capture_output=True)
        subprocess.run([*git, "commit", "-qm", name], check=True, capture_output=True, env=date)
    facts = facts_of(tmp_path, user(1_000_000_000, "Go."))
    assert facts.git is not None
    assert [(c.subject, c.files) for c in facts.git.session_commits] == [("new one", ("new one",))]


def test_plans_and_decisions_of_the_project_are_named(tmp_path: Path) -> None:
    for folder, name in (("plans", "ledger.md"), ("adr", "005-money.md")):
        (tmp_path / ".bmad" / folder).mkdir(parents=True)
        (tmp_path / ".bmad" / folder / name).write_text(f"# About {name}\n", encoding="utf-8")
    assert [(ref.kind, ref.path, ref.title) for ref in facts_of(tmp_path).references] == [
        ("plan", ".bmad/plans/ledger.md", "About ledger.md"),
        ("adr", ".bmad/adr/005-money.md", "About 005-money.md"),
    ]


def test_decisions_failures_and_values_are_remembered_until_they_are_turned_round(tmp_path: Path) -> None:
    first = facts_of(
        tmp_path,
        user(0.5, "Build the shop."),
        agent(1, "I decided to store sessions in Redis because it is fast. I chose zod for validation."),
        agent(2, "Locking the file didn't work on NFS. The broker listens on port 5672. The proxy runs on port 4000."),
        user(3, "British spelling in the report, please."),
        *(user(n, f"Part {n} next.") for n in range(4, 9)),
    )
    path = tmp_path / "handoff-2026-01-20-141526.md"
    path.write_text(seal(from_facts(first, META)).text, encoding="utf-8")
    facts = facts_of(
        tmp_path,
        agent(50, "On second thought I switched sessions from Redis to PostgreSQL because it survives a restart."),
        agent(51, "I moved the proxy from port 4000 to port 4100."),
        previous=path,
    )
    decided = [note.text for note in facts.decisions]
    assert "I chose zod for validation." in decided
    assert not any("Redis because it is fast" in text for text in decided)
    assert "Locking the file didn't work on NFS." in [note.text for note in facts.failures]
    assert {"5672", "4100"} <= {value.value for value in facts.values}
    assert "4000" not in {value.value for value in facts.values}
    assert "British spelling in the report, please." in [note.text for note in facts.heard]
    assert "British spelling in the report, please." in seal(from_facts(facts, META)).text
