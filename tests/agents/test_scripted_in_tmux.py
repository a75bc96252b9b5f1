"""The scripted agent and its adapter together, in a terminal as Baton uses it."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from batonpass.agents.base import Binding, BoxState, Launch, LaunchOrder
from batonpass.agents.scripted import Scripted
from batonpass.session import State
from batonpass.sim.tmux_server import private_tmux, run_tmux
from batonpass.terminals.base import Screen
from batonpass.transcripts.events import Event, Origin, Prompted, Said, ToolReturned, TurnEnded

AGENT = Scripted()
ANSWERS = """
import os, sys
folder, role = sys.argv[1], "-".join(sys.argv[2:])
with open(os.path.join(folder, "log"), "ab") as log:
    log.write(role.encode() + b" " + sys.stdin.buffer.read() + b"\\n")
try:
    os.rename(os.path.join(folder, role), os.path.join(folder, role + ".taken"))
    sys.stdout.write(open(os.path.join(folder, role + ".taken"), encoding="utf-8").read())
except FileNotFoundError:
    pass
"""


class Pane:
    """One scripted agent in one pane of a private server."""

    def __init__(self, socket: str, launch: Launch, order: LaunchOrder) -> None:
        self.socket = socket
        env = [f"{name}={value}" for name, value in launch.env.items()]
        words = ["new-session", "-d", "-x", "90", "-y", "24", "-c", str(order.project)]
        run_tmux(socket, *words, "-P", "-F", "#{pane_id}", "--", "env", "-i", *env, *launch.argv)
        pid = run_tmux(socket, "display-message", "-p", "#{pane_pid}")
        self.binding = Binding(int(pid), launch.agent_session, launch.transcript, order.folder, launch.env)
        self.transcript = launch.transcript

    def screen(self) -> Screen:
        rows = run_tmux(self.socket, "capture-pane", "-e", "-p").split("\n")
        x, y = run_tmux(self.socket, "display-message", "-p", "#{cursor_x} #{cursor_y}").split()
        return Screen(tuple(rows), int(x), int(y))

    def press(self, *keys: str) -> None:
        run_tmux(self.socket, "send-keys", *keys)

    def paste(self, text: str) -> None:
        run_tmux(self.socket, "set-buffer", text, ";", "paste-buffer", "-p", "-d")

    def until(self, seen: Callable[[], object]) -> None:
        """tmux tells of no change inside a pane that a test could wait for: look again until it is seen."""
        deadline = time.monotonic() + 30
        while not seen():
            assert time.monotonic() < deadline, self.screen().text
            time.sleep(0.01)

    def state(self) -> State:
        return AGENT.status(self.binding).state

    def events(self) -> list[Event]:
        assert self.transcript is not None
        if not self.transcript.exists():
            return []
        lines = self.transcript.read_bytes().split(b"\n")[:-1]
        return [event for line in lines for event in AGENT.reader()(line)]

    def ended(self, turns: int = 1) -> bool:
        return sum(isinstance(event, TurnEnded) for event in self.events()) >= turns


@pytest.fixture
def socket() -> Iterator[str]:
    with private_tmux() as path:
        yield path


@pytest.fixture
def order(tmp_path: Path) -> LaunchOrder:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "hook.py").write_text(ANSWERS, encoding="utf-8")
    (tmp_path / "project").mkdir()
    return LaunchOrder(
        session="s1",
        folder=folder,
        project=tmp_path / "project",
        args=(),
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
        draft_dir=tmp_path / "project" / "drafts",
        hook=(sys.executable, str(folder / "hook.py"), str(folder)),
        statusline=("/bin/sh", "-c", "cat > /dev/null; echo seen by baton"),
    )


def test_text_in_the_box_is_told_from_an_empty_one(socket: str, order: LaunchOrder) -> None:
    pane = Pane(socket, AGENT.launch(order), order)
    pane.until(lambda: pane.state() is State.IDLE)
    pane.until(lambda: AGENT.box(pane.screen()).state is BoxState.EMPTY)
    pane.press("-l", "   ")
    pane.until(lambda: AGENT.box(pane.screen()).state is BoxState.TEXT)
    pane.press("C-c")
    pane.until(lambda: AGENT.box(pane.screen()).state is BoxState.EMPTY)
    pane.paste("one 世界\ntwo")
    pane.until(lambda: AGENT.box(pane.screen()).text == "one 世界\ntwo")
    assert not any(isinstance(event, Prompted) for event in pane.events())
    pane.press("Enter")
    pane.until(pane.ended)
    pane.until(lambda: AGENT.box(pane.screen()).state is BoxState.EMPTY)
    assert [e.text for e in pane.events() if isinstance(e, Prompted)] == ["one 世界\ntwo"]
    pane.until(lambda: "seen by baton" in pane.screen().text)


def test_an_agent_that_runs_already_is_found(socket: str, order: LaunchOrder) -> None:
    launch = AGENT.launch(order)
    inner = replace(launch, argv=("/bin/sh", "-c", '"$@"; exit 0', "sh", *launch.argv))
    pane = Pane(socket, inner, order)
    shell = pane.binding.pid
    assert shell is not None
    pane.until(lambda: (found := AGENT.find(shell)) is not None and found.agent_session)
    found = AGENT.find(shell)
    assert found is not None
    assert found.pid != shell
    assert (found.agent_session, found.transcript) == (launch.agent_session, launch.transcript)
    binding = Binding(found.pid, found.agent_session, found.transcript, order.folder, found.env)
    pane.until(lambda: AGENT.status(binding).state is State.IDLE)


def test_a_dialog_hides_the_box_and_is_reported_as_waiting(socket: str, order: LaunchOrder) -> None:
    faults = json.dumps([{"fault": "dialog", "at": "turn"}])
    pane = Pane(socket, AGENT.launch(replace(order, args=(f"--faults={faults}", "go"))), order)
    pane.until(lambda: pane.state() is State.WAITING)
    pane.until(lambda: AGENT.dialog(pane.screen()) == "Do you want to go on?")
    assert AGENT.box(pane.screen()).state is BoxState.UNKNOWN
    pane.press("Enter")
    pane.until(pane.ended)
    pane.until(lambda: AGENT.dialog(pane.screen()) is None)


def test_an_ask_at_the_stop_writes_the_draft_without_a_dialog(socket: str, order: LaunchOrder) -> None:
    draft = order.draft_dir / "draft.md"
    ask = f"[baton 7f3a91c2 ask 1] Hand over.\nWrite it to: {draft}\n"
    (order.folder / "ask").write_text(AGENT.render_ask(ask), encoding="utf-8")
    for number in (1, 2, 3):
        (order.folder / f"prime-{number}").write_text(AGENT.render_prime(f"part {number}"), encoding="utf-8")
    pane = Pane(socket, AGENT.launch(replace(order, kick="begin")), order)
    pane.until(pane.ended)
    assert "## Next Steps" in draft.read_text(encoding="utf-8")
    begun, asked = (event for event in pane.events() if isinstance(event, Prompted))
    assert (begun.text, begun.origin) == ("begin", Origin.HUMAN)
    assert asked.origin is Origin.HOOK
    assert "[baton 7f3a91c2 ask 1]" in asked.text
    assert all(event.ok for event in pane.events() if isinstance(event, ToolReturned))
    log = (order.folder / "log").read_text(encoding="utf-8").split("\n")
    assert sorted(line.split(" ")[0] for line in log[:3]) == ["prime-1", "prime-2", "prime-3"]


def test_a_killed_agent_is_dead_and_can_be_brought_back(socket: str, order: LaunchOrder) -> None:
    faults = json.dumps([{"fault": "die", "at": "prompt", "turn": 2}])
    first = replace(order, args=(f"--faults={faults}", "go"))
    pane = Pane(socket, AGENT.launch(first), first)
    pane.until(pane.ended)
    pane.until(lambda: pane.state() is State.IDLE)
    pane.paste("again")
    pane.press("Enter")
    pane.until(lambda: pane.state() is State.DEAD)
    back = replace(order, resume=pane.binding.agent_session)
    pane = Pane(socket, AGENT.launch(back), back)
    pane.until(lambda: pane.state() is State.IDLE)
    assert AGENT.status(pane.binding).agent_session == back.resume
    assert any(isinstance(event, Said) for event in pane.events())
