"""Attacks on what agents other than Claude Code and ours leave behind: records, payloads, screens, a port's events."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _common import ROOT
from _fuzz_records import sound
from _fuzz_values import Target, broken, encoded, mangled, texts
from hypothesis import strategies as st

from batonpass import agents
from batonpass.agents.base import HookKind
from batonpass.agents.opencode.server import Server, ServerAway
from batonpass.agents.opencode.word import Word
from batonpass.terminals.base import Screen

_FIXTURES = ROOT / "tests" / "fixtures"
_NAMES = ("codex", "gemini", "opencode")
_CONVERSATION = "ses_e1f4befc6ffeLBFl8ZctIjkMGw"  # of the recorded events


def _lines(pattern: str) -> list[Any]:
    """Recorded JSON lines of the real program; what it exported whole is taken apart into its messages."""
    found: list[Any] = []
    for path in sorted(_FIXTURES.glob(pattern)):
        text = path.read_text(encoding="utf-8")
        found += json.loads(text)["messages"] if path.suffix == ".json" else map(json.loads, text.splitlines())
    return found


_RECORDS = {
    "codex": _lines("codex/rollout-*.jsonl"),
    "gemini": _lines("gemini/session-*.jsonl"),
    "opencode": _lines("opencode/messages-*.json"),
}


def _follows(name: str) -> Callable[[list[bytes]], None]:
    """One record from its start: a reader of these knows of the lines before."""

    def check(lines: list[bytes]) -> None:
        read = agents.get(name).reader()
        for line in lines:
            sound(read(line))

    return check


def _payload(name: str) -> Callable[[Any], None]:
    def check(payload: Any) -> None:
        if isinstance(payload, dict):
            report = agents.get(name).report(payload)
            assert report is None or ("/" not in report.agent_session and isinstance(report.kind, HookKind))

    return check


def _shown(name: str) -> list[tuple[list[str], int, int]]:
    screens = [json.loads(path.read_text("utf-8")) for path in sorted(_FIXTURES.glob(f"{name}/screens/*.json"))]
    return [(list(one["rows"]), *one["cursor"]) for one in screens]


@st.composite
def _screens(draw: st.DrawFn, name: str) -> Screen:
    """A screen of the program's in which some rows say something else, or are gone, and the caret is anywhere."""
    rows, x, y = draw(st.sampled_from(_shown(name)))
    rows = list(rows)
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, max(0, len(rows) - 1)))
        rows[place : place + 1] = draw(st.lists(texts | st.sampled_from(rows or [""]), max_size=2))
    return Screen(tuple(rows), draw(st.just(x) | st.integers(0, 300)), draw(st.just(y) | st.integers(0, 80)))


def _looks(name: str) -> Callable[[Screen], None]:
    def check(screen: Screen) -> None:
        agent = agents.get(name)
        box, dialog = agent.box(screen), agent.dialog(screen)
        assert dialog is None or "\n" not in dialog
        failed = agent.refused(screen, 1.8e9)
        assert failed is None or dialog is not None, "only a dialog says that a provider does not serve"
        agent.abridges(box.text, "words")

    return check


class _Nobody(Server):
    """A port that answers to nothing."""

    def get(self, path: str) -> object:
        raise ServerAway("nobody is there")

    def post(self, path: str, body: object) -> object:
        raise ServerAway("nobody is there")


def _hears(events: list[Any]) -> None:
    """Whatever a port says is taken in, and what follows from it can be asked for."""
    with tempfile.TemporaryDirectory() as folder:
        word = Word(_Nobody(1, "", ""), 1, Path(folder))
        for event in events:
            if isinstance(event, dict):
                word.hear(event)
        word.busy(_CONVERSATION)
        word.asks(_CONVERSATION)
        again = word.tries_again(_CONVERSATION)
        assert again is None or again.at is None or again.at >= 0
        assert word.front is None or "/" not in word.front


TARGETS = (
    *(
        Target(f"record, {name}", st.lists(broken(mangled(_RECORDS[name]).map(encoded)), max_size=6), _follows(name))
        for name in _NAMES
    ),
    *(Target(f"payload, {name}", mangled(_lines(f"{name}/hook-stdin.jsonl")), _payload(name)) for name in _NAMES[:2]),
    *(Target(f"screen, {name}", _screens(name), _looks(name)) for name in _NAMES),
    Target("events, opencode", st.lists(mangled(_lines("opencode/event-stream.jsonl")), max_size=6), _hears),
)
