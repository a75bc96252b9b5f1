"""All facts of a session, from its events and its folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from batonpass.agents.base import BackgroundTask
from batonpass.facts import Facts, Todo, gather
from batonpass.transcripts.events import Event, Origin, Prompted, Said, ToolCalled, ToolReturned


def facts_of(project: Path, *events: Event) -> Facts:
    return gather(project, "claude", "a1", None, events, (), at=9.0, is_own=lambda path: path.startswith(".bmad/"))


def test_prompts_of_people_are_kept_word_for_word_and_batons_are_not(tmp_path: Path) -> None:
    first = "Build it.\n\n  Two  spaces, and `code`.\n"
    facts = facts_of(
        tmp_path,
        Prompted(1, first, Origin.HUMAN),
        Prompted(2, "[baton 7f3a91c2 ask 1] Write the handoff", Origin.HUMAN),
        Prompted(3, "Stop hook feedback: [baton 7f3a91c2 ask 1] Write", Origin.HOOK),
        Prompted(4, "<task-notification>", Origin.SYSTEM),
        Prompted(5, "What does [baton 7f3a91c2 ask 1] mean?", Origin.HUMAN),
    )
    assert [prompt.text for prompt in facts.prompts] == [first, "What does [baton 7f3a91c2 ask 1] mean?"]
    assert facts.last_request is not None
    assert facts.last_request.at == 5


def test_the_last_five_texts_of_the_agent_are_kept(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, *(Said(n, f"text {n}", f"m{n}") for n in range(8)), Said(9, " ", "m9"))
    assert [said.text for said in facts.said] == [f"text {n}" for n in range(3, 8)]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Write", {"file_path": "{project}/src/a.py", "content": ""}),
        ("Edit", {"file_path": "{project}/src/a.py"}),
        ("NotebookEdit", {"notebook_path": "{project}/src/a.py"}),
        ("write", {"path": "src/a.py", "content": ""}),
        ("write_file", {"file_path": "./src/a.py"}),
        ("edit", {"filePath": "{project}/src/a.py"}),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: src/a.py\n@@\n*** End Patch"}),
    ],
)
def test_files_written_by_tools_are_known(tmp_path: Path, tool: str, arguments: dict[str, str]) -> None:
    given = {key: value.replace("{project}", str(tmp_path)) for key, value in arguments.items()}
    facts = facts_of(tmp_path, ToolCalled(1, "1", tool, given), ToolReturned(2, "1", True, "ok"))
    assert facts.touched == ("src/a.py",)


def test_a_write_that_was_refused_touched_nothing(tmp_path: Path) -> None:
    called = ToolCalled(1, "1", "Write", {"file_path": "a.py"})
    assert facts_of(tmp_path, called, ToolReturned(2, "1", False, "denied")).touched == ()
    assert facts_of(tmp_path, called).touched == ("a.py",)


def test_batons_own_files_are_not_touched_files(tmp_path: Path) -> None:
    called = ToolCalled(1, "1", "Write", {"file_path": str(tmp_path / ".bmad/handoffs/drafts/d.md")})
    assert facts_of(tmp_path, called).touched == ()


def test_commands_carry_their_result(tmp_path: Path) -> None:
    facts = facts_of(
        tmp_path,
        ToolCalled(1, "1", "Bash", {"command": "make"}),
        ToolReturned(2, "1", True, "built"),
        ToolCalled(3, "2", "shell", {"command": ["pytest", "-q"]}),
        ToolReturned(4, "2", False, "Exit code 2\nerror: no such file"),
        ToolCalled(5, "3", "Bash", {"command": "sleep 100"}),
    )
    assert [(command.command, command.ok, command.exit) for command in facts.commands] == [
        ("make", True, 0),
        ("pytest -q", False, 2),
        ("sleep 100", None, None),
    ]
    assert facts.commands[1].tail == "Exit code 2\nerror: no such file"


def test_only_the_last_fifteen_commands_are_kept_but_the_last_test_stays(tmp_path: Path) -> None:
    test = (ToolCalled(0, "t", "Bash", {"command": "npm test"}), ToolReturned(0, "t", False, "1 failed"))
    rest: list[Event] = []
    for n in range(20):
        rest += [ToolCalled(n, str(n), "Bash", {"command": f"echo {n}"}), ToolReturned(n, str(n), True, "")]
    facts = facts_of(tmp_path, *test, *rest)
    assert [command.command for command in facts.commands] == [f"echo {n}" for n in range(5, 20)]
    assert facts.last_test is not None
    assert (facts.last_test.command, facts.last_test.ok) == ("npm test", False)


def test_a_record_that_holds_calls_twice_is_still_read(tmp_path: Path) -> None:
    calls = [ToolCalled(n, str(n % 3), "Bash", {"command": f"echo {n}"}) for n in range(40)]
    rest = [ToolCalled(n, f"x{n}", "Bash", {"command": f"ls {n}"}) for n in range(14)]
    assert len(facts_of(tmp_path, *calls, *rest).commands) == 15


@pytest.mark.parametrize(
    ("command", "is_test"),
    [
        ("cd x && python -m pytest tests -q", True),
        ("cargo test --all", True),
        ("go test ./...", True),
        ("scripts/test", True),
        ("pip install pytest-xdist", False),
        ("cat tests/test_a.py", False),
    ],
)
def test_a_test_run_is_told_by_its_command(tmp_path: Path, command: str, is_test: bool) -> None:
    called = (ToolCalled(1, "1", "Bash", {"command": command}), ToolReturned(2, "1", True, ""))
    assert facts_of(tmp_path, *called).commands[0].test is is_test


def test_a_long_result_is_kept_by_its_last_whole_lines(tmp_path: Path) -> None:
    result = "\n".join(["x" * 5000, *(f"line {n}" for n in range(5))])
    called = (ToolCalled(1, "1", "Bash", {"command": "make"}), ToolReturned(2, "1", True, result))
    assert facts_of(tmp_path, *called).commands[0].tail == "[…]\nline 0\nline 1\nline 2\nline 3\nline 4"


def test_the_latest_todo_list_is_the_one_that_counts(tmp_path: Path) -> None:
    old = {"todos": [{"content": "a", "status": "pending"}]}
    new = {"todos": [{"content": "a", "status": "completed"}, {"content": "b", "status": "in_progress"}]}
    facts = facts_of(tmp_path, ToolCalled(1, "1", "TodoWrite", old), ToolCalled(2, "2", "TodoWrite", new))
    assert facts.todos == (Todo("a", "completed"), Todo("b", "in_progress"))


def test_tasks_made_one_by_one_are_followed(tmp_path: Path) -> None:
    facts = facts_of(
        tmp_path,
        ToolCalled(1, "1", "TaskCreate", {"subject": "a", "description": "long"}),
        ToolReturned(1, "1", True, "Task #1 created successfully: a"),
        ToolCalled(2, "2", "TaskCreate", {"subject": "b"}),
        ToolReturned(2, "2", True, "Task #2 created successfully: b"),
        ToolCalled(3, "3", "TaskUpdate", {"taskId": "1", "status": "completed"}),
        ToolCalled(4, "4", "TaskUpdate", {"taskId": "2", "status": "deleted"}),
    )
    assert facts.todos == (Todo("a", "completed"),)


def test_plans_of_other_agents_are_todos_too(tmp_path: Path) -> None:
    plan = {"plan": [{"step": "look", "status": "completed"}, {"step": "leap", "status": "pending"}]}
    facts = facts_of(tmp_path, ToolCalled(1, "1", "update_plan", plan))
    assert facts.todos == (Todo("look", "completed"), Todo("leap", "pending"))


def test_the_epic_at_hand_is_the_incomplete_one(tmp_path: Path) -> None:
    epics = tmp_path / ".bmad" / "epics"
    epics.mkdir(parents=True)
    (epics / "epic-001-old.md").write_text("# Old\nStatus: Complete\n- [ ] left\n", encoding="utf-8")
    (epics / "epic-002-ticked.md").write_text("# Ticked\n- [x] all\n", encoding="utf-8")
    text = "# Epic 3: Reader\n**Phase**: Implement\n- [x] plan\n- [ ] build\n"
    (epics / "epic-003-new.md").write_text(text, encoding="utf-8")
    epic = facts_of(tmp_path).epic
    assert epic is not None
    assert (epic.path, epic.title) == (".bmad/epics/epic-003-new.md", "Epic 3: Reader")
    assert (epic.phase, epic.done, epic.open) == ("Implement", ("plan",), ("build",))


def test_what_cannot_be_gathered_is_said_and_the_rest_is_kept(tmp_path: Path) -> None:
    def torn() -> Iterator[Event]:
        yield Prompted(1, "Build it.", Origin.HUMAN)
        raise OSError("disk gone")

    task = BackgroundTask("b1", "shell", "running", "npm run dev")
    facts = gather(tmp_path, "claude", None, None, torn(), [task], at=9.0, is_own=lambda _: False)
    assert [prompt.text for prompt in facts.prompts] == ["Build it."]
    assert facts.background == (task,)
    assert any("disk gone" in sentence for sentence in facts.missing)
    assert any("not in a git repository" in sentence for sentence in facts.missing)
