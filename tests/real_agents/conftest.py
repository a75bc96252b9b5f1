"""Real agent CLIs against the scripted model: private homes, private tmux servers, nothing shared.

A test that takes `claude_cli` runs on every version; `@pytest.mark.long_on("2.1.197")` moves that version to the long
matrices, and `@pytest.mark.newest` leaves it out, for cases in which Claude Code does the same as in their neighbours.
"""

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.gemini_api import GeminiModel
from batonpass.sim.openai_chat import ChatModel
from batonpass.sim.openai_responses import ResponsesModel
from batonpass.sim.rehearsal import claude_environment, codex_environment, gemini_environment, opencode_environment
from batonpass.sim.worker import Worker
from tests.real_agents.baton import Baton
from tests.real_agents.harness import Bell, PrivateTmux
from tests.wanted import missing

AGENTS = Path(__file__).parents[2] / ".agents"
VERSIONS = ("2.1.197", "2.1.325")
CODEX = "0.166.0"
GEMINI = "0.61.0"
OPENCODE = "1.18.33"
# A test ends before the highest tier of their compiler has paid for itself: without it they need a quarter less.
_SHORT_LIVED = {"BUN_JSC_useDFGJIT": "0"}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long_on(*versions): on these versions, part of the long matrices")
    config.addinivalue_line("markers", "newest: on the newest Claude Code alone")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    older = [item for item in items if item.get_closest_marker("newest") and _version(item) != VERSIONS[-1]]
    items[:] = [item for item in items if item not in older]
    config.hook.pytest_deselected(items=older)
    for item in items:
        if {"codex_cli", "gemini_cli", "opencode_cli"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.real_agent)


def _version(item: pytest.Item) -> str:
    """The Claude Code that a test runs on."""
    return str(item.callspec.params["claude_cli"]) if isinstance(item, pytest.Function) else ""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "claude_cli" not in metafunc.fixturenames:
        return
    mark = metafunc.definition.get_closest_marker("long_on")
    late = mark.args if mark else ()
    params = [
        pytest.param(version, marks=[pytest.mark.real_agent, *([pytest.mark.long] if version in late else [])])
        for version in VERSIONS
    ]
    metafunc.parametrize("claude_cli", params, indirect=True)


def installed(name: str, version: str, called: str) -> Path:
    """The program of that version of an agent; without it the test cannot be run."""
    program = AGENTS / f"{name}-{version}" / "node_modules" / ".bin" / name
    if not os.access(program, os.X_OK):
        missing(f"NOT TESTED with the real {called} {version}: scripts/agents has not installed it")
    return program


@contextlib.contextmanager
def own_baton(project: Path, env: Mapping[str, str], **programs: Path) -> Iterator[Baton]:
    """A Baton of one test's own; nothing runs before its first command."""
    with tempfile.TemporaryDirectory(prefix="b", dir="/tmp", ignore_cleanup_errors=True) as folder:
        own = Baton(Path(folder), project, {**env, **{f"BATON_{name}": str(path) for name, path in programs.items()}})
        try:
            yield own
        finally:
            own.close()


@pytest.fixture
def claude_cli(request: pytest.FixtureRequest) -> Path:
    """The program of one version of Claude Code."""
    return installed("claude", request.param, "Claude Code")


@pytest.fixture
def bodies(tmp_path: Path) -> Path:
    """Where the model keeps every request as it came."""
    return tmp_path / "requests"


@pytest.fixture
def model(bodies: Path) -> Iterator[AnthropicModel]:
    """The scripted model with a worker; set `model.brain` for another."""
    with AnthropicModel(Worker(), record_dir=bodies) as running:
        yield running


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git repository on branch `main` with one commit."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "README.md").write_text("# A project\n", encoding="utf-8")
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.invalid")
    for args in (("init", "-q", "-b", "main"), ("add", "."), (*who, "commit", "-q", "-m", "Begin")):
        subprocess.run(["git", *args], cwd=folder, check=True, timeout=20)
    return folder


@pytest.fixture
def claude_home(tmp_path: Path, project: Path, model: AnthropicModel) -> dict[str, str]:
    """The environment of a Claude Code that starts with no dialog and knows only the scripted model."""
    return {**claude_environment(tmp_path / "home", project, model.url), **_SHORT_LIVED}


@pytest.fixture
def codex_cli() -> Path:
    """The program of Codex."""
    return installed("codex", CODEX, "Codex")


@pytest.fixture
def codex_model(bodies: Path) -> Iterator[ResponsesModel]:
    """The scripted model for Codex with a worker; set `codex_model.brain` for another."""
    with ResponsesModel(Worker(), record_dir=bodies) as running:
        yield running


@pytest.fixture
def codex_home(tmp_path: Path, project: Path, codex_model: ResponsesModel) -> dict[str, str]:
    """The environment of a Codex that starts with no dialog and knows only the scripted model."""
    return codex_environment(tmp_path / "home", project, codex_model.url)


@pytest.fixture
def gemini_cli() -> Path:
    """The program of Gemini CLI."""
    return installed("gemini", GEMINI, "Gemini CLI")


@pytest.fixture
def gemini_model(bodies: Path) -> Iterator[GeminiModel]:
    """The scripted model for Gemini CLI with a worker; set `gemini_model.brain` for another."""
    with GeminiModel(Worker(), record_dir=bodies) as running:
        yield running


@pytest.fixture
def gemini_home(tmp_path: Path, project: Path, gemini_model: GeminiModel) -> dict[str, str]:
    """The environment of a Gemini CLI that starts with no dialog and knows only the scripted model."""
    return gemini_environment(tmp_path / "home", project, gemini_model.url)


@pytest.fixture
def opencode_cli() -> Path:
    """The program of opencode."""
    return installed("opencode", OPENCODE, "opencode")


@pytest.fixture
def opencode_model(bodies: Path) -> Iterator[ChatModel]:
    """The scripted model for opencode with a worker; set `opencode_model.brain` for another."""
    with ChatModel(Worker(), record_dir=bodies) as running:
        yield running


@pytest.fixture
def opencode_home(tmp_path: Path, project: Path, opencode_model: ChatModel) -> dict[str, str]:
    """The environment of an opencode that knows only the scripted model."""
    return {**opencode_environment(tmp_path / "home", project, opencode_model.url), **_SHORT_LIVED}


@pytest.fixture
def tmux() -> Iterator[PrivateTmux]:
    """A tmux server of this test's own."""
    with tempfile.TemporaryDirectory(prefix="bt-", dir="/tmp") as folder:
        server = PrivateTmux(Path(folder))
        try:
            yield server
        finally:
            server.close()


@pytest.fixture
def baton(claude_cli: Path, claude_home: dict[str, str], project: Path) -> Iterator[Baton]:
    """A Baton of this test's own; nothing runs before its first command."""
    with own_baton(project, claude_home, CLAUDE=claude_cli) as own:
        yield own


@pytest.fixture
def codex_baton(codex_cli: Path, codex_home: dict[str, str], project: Path) -> Iterator[Baton]:
    """A Baton of this test's own for Codex; nothing runs before its first command."""
    with own_baton(project, codex_home, CODEX=codex_cli) as own:
        yield own


@pytest.fixture
def gemini_baton(gemini_cli: Path, gemini_home: dict[str, str], project: Path) -> Iterator[Baton]:
    """A Baton of this test's own for Gemini CLI; nothing runs before its first command."""
    with own_baton(project, gemini_home, GEMINI=gemini_cli) as own:
        yield own


@pytest.fixture
def opencode_baton(opencode_cli: Path, opencode_home: dict[str, str], project: Path) -> Iterator[Baton]:
    """A Baton of this test's own for opencode; nothing runs before its first command."""
    with own_baton(project, opencode_home, OPENCODE=opencode_cli) as own:
        yield own


@pytest.fixture
def every_baton(
    claude_home: dict[str, str], codex_home: dict[str, str], gemini_home: dict[str, str], opencode_home: dict[str, str],
    codex_cli: Path, gemini_cli: Path, opencode_cli: Path, project: Path,
) -> Iterator[Baton]:  # fmt: skip
    """A Baton of this test's own for a user of all four agents; nothing runs before its first command."""
    claude_cli = installed("claude", VERSIONS[-1], "Claude Code")
    env = {**claude_home, **codex_home, **gemini_home, **opencode_home}
    programs = {"CLAUDE": claude_cli, "CODEX": codex_cli, "GEMINI": gemini_cli, "OPENCODE": opencode_cli}
    with own_baton(project, env, **programs) as own:
        yield own


@pytest.fixture
def bell(tmp_path: Path) -> Iterator[Bell]:
    """What hooks ring; see Bell.settings."""
    ringing = Bell(tmp_path / "bell")
    yield ringing
    ringing.close()
