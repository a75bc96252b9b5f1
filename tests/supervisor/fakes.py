"""A session without processes: an agent whose word the test gives, and a terminal that is only an input box."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from batonpass.agents.base import Binding, Box, BoxState, HookKind, HookReport, Status
from batonpass.agents.scripted import Scripted
from batonpass.clock import Clock, ManualClock
from batonpass.session import Kind, PaneRef, Session, State
from batonpass.supervisor.panes import Panes
from batonpass.supervisor.watch import Watch
from batonpass.terminals.base import PaneGone, PaneInfo, Screen

TALK = "58c74e71-66d4-451c-a1a0-f4373e55ba3c"
OTHER = "d8f5303a-2003-4878-a873-14da583d07ec"
PANE = PaneRef("", 4711, "%1")
NO_BOX = "(no box)"


class HastyClock(ManualClock):
    """Waiting takes no time: a sleeper lets everyone else act and then finds that its time has come."""

    async def sleep(self, seconds: float) -> None:
        due = self.ticks() + seconds
        for _ in range(20):
            await asyncio.sleep(0)
        if self.ticks() < due:
            self.advance(due - self.ticks())


class ToldAgent(Scripted):
    """The scripted agent's formats, with the state that the test says it is in."""

    def __init__(self) -> None:
        self.says = Status(State.IDLE, TALK, since=0.0)
        self.dialog_shown: str | None = None

    def status(self, binding: Binding) -> Status:
        return self.says

    def state_files(self, binding: Binding) -> Sequence[Path]:
        return []

    def dialog(self, screen: Screen) -> str | None:
        return self.dialog_shown

    def box(self, screen: Screen) -> Box:
        if screen.text == NO_BOX:
            return Box(BoxState.UNKNOWN)
        return Box(BoxState.TEXT, screen.text) if screen.text else Box(BoxState.EMPTY)


class FakePanes(Panes):
    """One pane that is an input box. `sent` is what was entered, `typed` every paste and key in order."""

    def __init__(self) -> None:
        super().__init__()
        self.box = ""
        self.mode = ""
        self.dead: int | None = None
        self.gone = False
        self.sent: list[str] = []
        self.typed: list[str] = []
        self.swallow = 0  # Enters that are not heard
        self.on_paste: Callable[[], None] = lambda: None
        self.on_enter: Callable[[str], None] = lambda text: None

    async def info(self, pane: PaneRef) -> PaneInfo:
        self._look()
        dead = self.dead is not None
        return PaneInfo(pane, 1, dead, self.dead, self.mode, 80, 24, "", "agent", Path("/"), "shop", 0)

    async def screen(self, pane: PaneRef) -> Screen:
        self._look()
        return Screen((self.box,), 0, 0)

    async def paste(self, pane: PaneRef, text: str) -> None:
        self._look()
        self.typed.append(text)
        self.box += text
        self.on_paste()

    async def press(self, pane: PaneRef, key: str) -> None:
        self._look()
        self.typed.append(key)
        if self.swallow:
            self.swallow -= 1
            return
        text, self.box = self.box, ""
        self.sent.append(text)
        self.on_enter(text)

    async def leave_mode(self, pane: PaneRef) -> None:
        self.mode = ""

    async def tell(self, pane: PaneRef, text: str) -> None:
        return

    def _look(self) -> None:
        if self.gone:
            raise PaneGone("pane %1 is gone")


class Talk:
    """A transcript that the test writes."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self.path, self._clock = path, clock
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    def add(self, event: str, **fields: object) -> None:
        line = json.dumps({"event": event, "at": self._clock.now(), **fields})
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def prompt(self, text: str, origin: str = "human") -> None:
        self.add("prompted", text=text, origin=origin, prompt_id="p")

    def say(self, text: str, used: int | None = None) -> None:
        self.add("said", text=text, message_id="m")
        if used is not None:
            self.add("used", used=used, output=1, model="scripted-1", message_id="m")


def a_session(project: Path, transcript: Path | None = None) -> Session:
    return Session(
        id="5e55a001", name="shop", agent="scripted", kind=Kind.INTERACTIVE, project=project, host="here", pane=PANE,
        pid=4712, agent_session=TALK, transcript=transcript, model=None, permission_mode=None, ladder=None, chain=0,
        adopted=False, created=0.0, state=State.IDLE,
    )  # fmt: skip


def a_watch(folder: Path, clock: Clock, agent: ToldAgent | None = None, **fields: object) -> tuple[Watch, Talk]:
    """A watch over a session in a folder of its own, and the transcript it follows."""
    talk = Talk(folder / "talk.jsonl", clock)
    private = folder / "private"
    private.mkdir(exist_ok=True)
    project = folder / "project"
    project.mkdir(exist_ok=True)
    session = replace(a_session(project, talk.path), **fields)  # type: ignore[arg-type]
    return Watch(session, agent or ToldAgent(), private, {}, clock), talk


def stop(last: str | None = None, talk: str = TALK) -> HookReport:
    return HookReport(HookKind.STOP, talk, last_message=last)


def start(talk: str, source: str = "clear", transcript: Path | None = None) -> HookReport:
    return HookReport(HookKind.SESSION_START, talk, transcript, source=source)
