"""What is broken now: commands that fail and tests that fail, by name."""

from pathlib import Path

import pytest

from batonpass.transcripts.events import ToolCalled, ToolReturned
from tests.facts.said import facts_of, ran


def test_a_command_is_open_until_it_succeeds(tmp_path: Path) -> None:
    failed = ran(1, "cd api && make build 2>&1 | tail -5", "error: no rule", ok=False)
    assert [command.tail for command in facts_of(tmp_path, failed).errors] == ["error: no rule"]
    assert facts_of(tmp_path, failed, ran(2, "make build", "ok")).errors == ()


def test_a_search_that_found_nothing_is_no_error(tmp_path: Path) -> None:
    assert facts_of(tmp_path, ran(1, "grep -r nothing src", "", ok=False)).errors == ()


@pytest.mark.parametrize(
    ("command", "output", "names"),
    [
        ("pytest -q", "FAILED tests/test_a.py::test_one - assert 1 == 2\nERROR tests/test_b.py\n1 failed",
         ("tests/test_a.py::test_one", "tests/test_b.py")),
        ("python -m unittest", "FAIL: test_one (pkg.test_a.Case)\n----", ("test_one (pkg.test_a.Case)",)),
        ("go test ./...", "--- FAIL: TestTorn (0.00s)\n    --- FAIL: TestTorn/half (0.00s)",
         ("TestTorn", "TestTorn/half")),
        ("cargo test", "test reader::torn ... FAILED\ntest reader::whole ... ok", ("reader::torn",)),
        ("npx vitest run", " FAIL  src/a.test.ts > reader > keeps half a line\n",
         ("src/a.test.ts > reader > keeps half a line",)),
        ("npx jest", "  ✕ keeps half a line (5 ms)\n  ✓ reads (2 ms)", ("keeps half a line",)),
    ],
)  # fmt: skip
def test_failing_tests_are_known_by_name(tmp_path: Path, command: str, output: str, names: tuple[str, ...]) -> None:
    assert facts_of(tmp_path, ran(1, command, output, ok=False)).failing == names


FAILED = "FAILED tests/test_a.py::test_one - x\nFAILED tests/test_b.py::test_two - y"


@pytest.mark.parametrize(
    ("then", "left"),
    [
        ("pytest", ()),
        ("pytest tests/test_a.py", ("tests/test_b.py::test_two",)),
        ("pytest -k test_two", ("tests/test_a.py::test_one",)),
        ("go test ./...", ("tests/test_a.py::test_one", "tests/test_b.py::test_two")),
    ],
)
def test_a_test_that_passed_since_is_not_failing(tmp_path: Path, then: str, left: tuple[str, ...]) -> None:
    facts = facts_of(tmp_path, ran(1, "pytest", FAILED, ok=False), ran(2, then, "all passed"))
    assert facts.failing == left


@pytest.mark.parametrize("command", ["cat .env", "cat config/prod.secret", "head -3 .env.local", "printenv"])
def test_what_shows_a_file_of_secrets_is_not_kept(tmp_path: Path, command: str) -> None:
    facts = facts_of(tmp_path, ran(1, command, "COLOUR=mauve-7"))
    assert "mauve" not in str(facts)
    assert facts.commands[0].tail == "[not kept: this shows a file of secrets]"


def test_what_is_written_to_a_file_of_secrets_is_not_kept(tmp_path: Path) -> None:
    facts = facts_of(
        tmp_path,
        ran(1, "cat > .env <<'EOF'\nCOLOUR=mauve-7\nEOF"),
        ran(2, "echo 'COLOUR=mauve-7' >> .env"),
        [
            ToolCalled(3, "w", "Write", {"file_path": ".env", "content": "mauve-7"}),
            ToolReturned(3, "w", True, "mauve-7"),
        ],
    )
    assert "mauve" not in str(facts)
    assert facts.touched == (".env",)


def test_a_sample_of_such_a_file_is_no_secret(tmp_path: Path) -> None:
    assert facts_of(tmp_path, ran(1, "cat .env.example", "COLOUR=")).commands[0].tail == "COLOUR="


def test_a_run_of_one_test_by_name_says_nothing_of_the_others_in_its_file(tmp_path: Path) -> None:
    failed = " FAIL  a.test.ts > late retry\n FAIL  a.test.ts > two at once\n"
    facts = facts_of(
        tmp_path,
        ran(1, "npx vitest run a.test.ts", failed, ok=False),
        ran(2, 'npx vitest run a.test.ts -t "two at once"', "1 passed"),
    )
    assert facts.failing == ("a.test.ts > late retry",)
