"""No shell stands between data and a program, and nothing that was said is obeyed by a terminal."""

import ast
import io
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import batonpass
from batonpass.cli import screen
from batonpass.cli.words import clean

SOURCE = Path(batonpass.__file__).parent
HOSTILE = "a\x1b[2J\x1b]0;owned\x07\x9b31mb\u202e\u2028\x7fc"


def _calls() -> Iterator[tuple[str, ast.Call]]:
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield path.relative_to(SOURCE).as_posix(), node


def test_a_shell_runs_nothing_but_the_users_own_status_line() -> None:
    shells = {
        path
        for path, call in _calls()
        if any(
            word.arg == "shell" and not (isinstance(word.value, ast.Constant) and not word.value.value)
            for word in call.keywords
        )
    }
    assert shells == {"_hook.py"}
    named = {ast.unparse(call.func).rpartition(".")[2] for _, call in _calls()}
    assert not named & {"system", "popen", "create_subprocess_shell", "getoutput", "getstatusoutput", "spawnlp"}


def test_programs_are_given_lists_and_never_one_string() -> None:
    runners = {"subprocess.run", "subprocess.Popen", "subprocess.check_output", "asyncio.create_subprocess_exec"}
    for path, call in _calls():
        if ast.unparse(call.func) in runners and call.args and path != "_hook.py":
            assert not isinstance(call.args[0], ast.Constant | ast.JoinedStr | ast.BinOp), f"{path}:{call.lineno}"


def test_what_is_said_to_a_person_holds_nothing_that_a_terminal_obeys() -> None:
    out = io.StringIO()
    with redirect_stdout(out):
        screen.say(f"Session {HOSTILE} runs.")
    assert out.getvalue() == "Session abc runs.\n"


def test_json_for_programs_escapes_what_a_terminal_would_obey_and_loses_nothing() -> None:
    out = io.StringIO()
    with redirect_stdout(out):
        screen.print_json({"name": HOSTILE, "half": "\ud800", "plain": "é 日本"})
    text = out.getvalue()
    assert json.loads(text) == {"name": HOSTILE, "half": "\ud800", "plain": "é 日本"}
    assert "é 日本" in text
    assert all(character == "\n" or character.isprintable() for character in text)


@pytest.mark.parametrize("text", [HOSTILE, "a\nb\tc", "\x1b", "\x1b[", "\u2066x\u2069", "\ud800"])
def test_a_cleaned_line_is_one_line_of_printable_characters(text: str) -> None:
    assert clean(text).isprintable()
