"""Which tests fail, by their names, after everything that was run."""

import re
from collections.abc import Iterator

_MOST = 200
_LONGEST = 200  # characters of a name
_NAMES = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^(?:FAILED|ERROR) ([\w./\\-]+\.py(?:::[^\s]+)?)",  # pytest's summary
        r"^([\w./-]+\.py::\S+) (?:FAILED|ERROR)\b",  # pytest -v
        r"^(?:FAIL|ERROR): (\w+ \([\w.]+\))",  # unittest
        r"^\s*--- FAIL: (\S+)",  # go
        r"^test (\S+) \.\.\. FAILED",  # cargo
        r"^\s*[✕×✗✘] (.+?)(?:\s+\(?\d+(?:\.\d+)? ?m?s\)?)?\s*$",  # jest, vitest
        r"^\s*FAIL\s+(\S+\.(?:test|spec)\.\w+(?: > .+)?)",  # jest, vitest
        r"^\s*● (?!Console|Test suite)(.+ › .+?)\s*$",  # jest, in detail
        r"^rspec (\./\S+)",
        r"^not ok \d+ -? ?(.+)$",
    )
)
_PASSED = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^([\w./-]+\.py::\S+) PASSED\b",
        r"^\s*--- PASS: (\S+)",
        r"^test (\S+) \.\.\. ok",
        r"^\s*[✓✔] (.+?)(?:\s+\(?\d+(?:\.\d+)? ?m?s\)?)?\s*$",
    )
)
_RUNNER = re.compile(
    r"\b(pytest|unittest|jest|vitest|mocha|rspec|cargo|go|npm|pnpm|yarn|bun|tox|nox|make"
    r"|gradle|mvn)\b"
)
_BY_NAME = re.compile(r"(?<!\S)(?:-k|-t|-run|--grep|--filter|--testNamePattern)[ =](?:'([^']+)'|\"([^\"]+)\"|(\S+))")
_BY_PATH = re.compile(r"(?<!\S)(?!-)([\w./-]*[/.:][\w./:\[\]-]*)")


class TestRuns:
    """Is told of every test run that ended; holds the names that failed and have not passed since."""

    __test__ = False  # no test of ours, whatever the name

    def __init__(self) -> None:
        self._failing: dict[str, str] = {}  # name -> runner

    def ended(self, command: str, ok: bool, text: str) -> bool:
        """Take in a run; gives whether it named tests that failed."""
        found = _RUNNER.search(command)
        runner = found[1] if found else ""
        failed = tuple(dict.fromkeys(_all(_NAMES, text)))
        for name in _all(_PASSED, text):
            self._failing.pop(name, None)
        if ok and not failed:
            self._passed(runner, command)
        for name in failed:
            self._failing[name] = runner
        while len(self._failing) > _MOST:
            del self._failing[next(iter(self._failing))]
        return bool(failed)

    @property
    def failing(self) -> tuple[str, ...]:
        """A file that failed is left out where single tests of it are known."""
        named = tuple(self._failing)
        return tuple(name for name in named if not any(other.startswith(f"{name}:") for other in named))

    def _passed(self, runner: str, command: str) -> None:
        """A run that passed clears the tests that it chose by name and by path; all of its runner if it chose none."""
        by_name = [next(filter(None, quoted)) for quoted in _BY_NAME.findall(command)]
        by_path = _BY_PATH.findall(_BY_NAME.sub(" ", command))
        for name in [name for name, by in self._failing.items() if by == runner]:
            chosen = (not words or any(_is_about(word, name) for word in words) for words in (by_name, by_path))
            if all(chosen):
                del self._failing[name]


def _is_about(word: str, name: str) -> bool:
    """Whether a part of a command line chooses a test."""
    return word in name or name.startswith(word.rstrip("/").removeprefix("./")) or word in (".", "./...")


def _all(patterns: tuple[re.Pattern[str], ...], text: str) -> Iterator[str]:
    for pattern in patterns:
        for name in pattern.findall(text):
            yield name.strip()[:_LONGEST]
