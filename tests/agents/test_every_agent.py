"""What holds for every agent that Baton drives, and for whoever adds another."""

import ast
import inspect
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import batonpass
from batonpass import agents
from batonpass.agents.base import Agent, Binding, BoxState
from batonpass.agents.wishes import Approval, Size, Wishes
from batonpass.session import State
from batonpass.terminals.base import Screen

SOURCE = Path(batonpass.__file__).parent
REAL = tuple(name for name in agents.names() if agents.get(name).package)
_NAMES = {*REAL, *agents.experimental_names(), "anthropic", "openai"}  # all of them, and who makes some of them
# At the beginning of a word, or of one within a name.
_NAMED = re.compile(rf"(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z]))(?i:{'|'.join(sorted(_NAMES))})")
MAY_BE_NAMED = {
    # Kinds of secrets, whichever agent they are found with: who issued a key is what tells its form.
    "handoff/redact.py": {"anthropic-key", "openai-key"},
}
every_agent = pytest.mark.parametrize("name", agents.names())


def _asked_of(protocol: type) -> dict[str, object]:
    methods = {name: value for name, value in vars(protocol).items() if inspect.isfunction(value) and name[0] != "_"}
    return {**dict.fromkeys(protocol.__annotations__), **methods}


def test_at_least_four_are_there_each_with_the_package_that_brings_it() -> None:
    assert {"claude", "codex", "gemini", "opencode"} <= set(REAL)


@every_agent
def test_an_agent_has_everything_that_is_asked_of_one_and_its_methods_take_the_same(name: str) -> None:
    agent = agents.get(name)
    assert agent.name == name
    for asked, method in _asked_of(Agent).items():
        assert hasattr(agent, asked), f"{name} lacks {asked}"
        if method is not None:
            wanted = [p.name for p in inspect.signature(method).parameters.values()][1:]  # type: ignore[arg-type]
            given = [p.name for p in inspect.signature(getattr(agent, asked)).parameters.values()]
            assert given == wanted, f"{name}.{asked} takes {given}, and not {wanted}"


@every_agent
def test_an_agent_is_one_module_and_knows_of_no_other_agent(name: str) -> None:
    module = inspect.getmodule(agents.get(name))
    assert module is not None
    assert module.__name__.startswith("batonpass.agents.")
    folder = Path(str(module.__file__)).parent
    others = {f"batonpass.agents.{other}" for other in (*agents.names(), *agents.experimental_names())}
    for path in folder.rglob("*.py"):
        imported = {one for one in _imports(path) if any(one == o or one.startswith(f"{o}.") for o in others)}
        assert all(one.startswith(module.__name__) for one in imported), f"{path.name}: {imported}"


@every_agent
def test_what_is_malformed_says_nothing_and_breaks_nothing(name: str, tmp_path: Path) -> None:
    agent, read = agents.get(name), agents.get(name).reader()
    for line in (b"", b"{", b"null", b"[1]", b'{"type": 7}', b'{"payload": []}', b"\xff\xfe", b'{"a": "\\ud800"}'):
        assert list(read(line)) == []
    malformed: list[dict[str, object]] = [{}, {"hook_event_name": 7}, {"session_id": []}]
    assert [agent.report(payload) for payload in malformed] == [None, None, None]
    empty = Screen((), 0, 0)
    assert agent.dialog(empty) is None
    assert agent.box(empty).state is BoxState.UNKNOWN
    assert agent.screen_reading(empty, 0.0, "x") is None
    nobody = Binding(None, None, None, tmp_path, {"HOME": str(tmp_path)})
    assert agent.status(nobody).state in (State.UNKNOWN, State.DEAD)
    assert agent.control(nobody) is None
    assert agent.past("no-such-conversation", {"HOME": str(tmp_path)}) is None
    assert agent.find(os.getpid()) is None


@every_agent
def test_a_window_is_larger_than_what_of_it_can_be_used(name: str) -> None:
    window = agents.get(name).window(None, {})
    assert 0 < agents.get(name).usable(window, {}) <= window


@every_agent
@pytest.mark.parametrize("approval", [Approval.PLAN, Approval.ASK, Approval.EDITS])
def test_a_switch_never_lets_an_agent_do_more_than_its_user_allowed(name: str, approval: Approval) -> None:
    agent, order = agents.get(name), list(Approval)
    read = agent.wishes(agent.arguments(Wishes(approval=approval), {}), None, None).approval or Approval.ASK
    assert order.index(read) <= order.index(approval)


@every_agent
def test_the_users_model_for_a_size_is_handed_over(name: str) -> None:
    assert "tiny-1" in " ".join(agents.get(name).arguments(Wishes(size=Size.SMALL), {"small": "tiny-1"}))


def test_nothing_but_agents_and_rehearsals_names_an_agent_or_who_makes_it() -> None:
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).parts[0] in ("agents", "sim"):
            continue
        named = {text for text in _texts(path) if _NAMED.search(text)}
        known = MAY_BE_NAMED.get(path.relative_to(SOURCE).as_posix(), set())
        assert named == known, f"{path.relative_to(SOURCE)} names {named ^ known}"


@pytest.mark.parametrize(
    "text", ["claude", "run claude now", "CLAUDE_CONFIG_DIR", "claude-opus", "ClaudeRecord", "myClaude", "OpenAI"]
)
def test_a_name_is_found_in_whatever_holds_it(text: str) -> None:
    assert _NAMED.search(text)
    assert not _NAMED.search("the raider said so")


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _texts(path: Path) -> Iterator[str]:
    """Every string that a program could act on or print, and every identifier: all but comments and docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {id(body[0].value) for node in ast.walk(tree) if (body := _begins_with_text(node))}
    for node in ast.walk(tree):
        if id(node) in docstrings:
            continue
        for _, value in ast.iter_fields(node):
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, str | bytes):
                    yield one if isinstance(one, str) else one.decode("utf-8", "replace")


def _begins_with_text(node: ast.AST) -> list[ast.Expr]:
    """The first statement of a module, class or function, if it is its docstring."""
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return []
    return [one for one in node.body[:1] if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)]
