"""One cycle over a session without processes: a real store, real files, and a terminal that is only a box."""

import subprocess
from dataclasses import replace
from pathlib import Path

from batonpass.agents.base import Status
from batonpass.cycle.case import Case
from batonpass.cycle.stage import Stage
from batonpass.handoff.layouts import FilesLayout
from batonpass.session import State
from batonpass.store import CycleRecord, Store
from batonpass.supervisor.act import Supervisor
from batonpass.supervisor.keys import Keys
from batonpass.supervisor.offers import Offers
from batonpass.supervisor.orders import Successor
from batonpass.supervisor.settings import Settings
from batonpass.supervisor.slots import Slots
from batonpass.supervisor.watch import Watch
from batonpass.terminals.base import TerminalError
from tests.supervisor.fakes import OTHER, TALK, FakePanes, HastyClock, Talk, ToldAgent, a_watch, start

CYCLE = "7f3a91c2"
DOCUMENT = """## Current Task
Make the reader survive torn lines.

## Progress Summary
### Completed
- A failing test for a torn line, in tests/test_reader.py, which cuts a line in the middle of a character.

### In Progress
- The reader keeps the torn line for the next read.

### Pending
- Measure a file of a million lines.

## Recent Decisions
- Keep the torn bytes and not the torn text, because a character may be cut in two.

## Files Modified
- reader.py (changed, not committed)

## Next Steps
1. Make the reader keep the torn line.

## Important Context
- The public names must stay as they are.
"""


class FakeLauncher:
    """Starts nothing; `begins` is the conversation that a respawn is to begin."""

    def __init__(self, scene: "Scene") -> None:
        self._scene = scene
        self.kicks: list[str | None] = []
        self.resumed: list[str | None] = []
        self.fails = False
        self.begin = OTHER
        self.words = ""  # that an agent left in the pane

    async def replaced(self, watch: Watch, pid: int | None) -> bool:
        return watch.session.pid != pid

    async def respawn(
        self, watch: Watch, *, kick: str | None, resume: str | None = None, to: Successor | None = None
    ) -> str | None:
        if self.fails:
            raise TerminalError("no such pane")
        self.kicks.append(kick)
        self.resumed.append(resume)
        self._scene.agent.says = Status(State.IDLE, self.begin, since=self._scene.clock.now())
        watch.session = replace(watch.session, state=State.STARTING)
        watch.status = self._scene.agent.says
        self._scene.begins(self.begin, "startup")
        return self.begin

    async def last_words(self, watch: Watch) -> str:
        return self.words

    def draft_dir(self, watch: Watch) -> Path:
        return watch.session.project / ".baton" / "drafts" / watch.session.id


class Scene:
    def __init__(self, folder: Path, store: Store, clock: HastyClock) -> None:
        self.folder, self.store, self.clock = folder, store, clock
        self.agent, self.panes, self.told = ToldAgent(), FakePanes(), list[str]()
        self.watch, self.talk = a_watch(folder, clock, self.agent)
        self.project = self.watch.session.project
        self.settings = Settings(folder / "home", {})
        self.supervisor = Supervisor(store, clock, self.settings, self._notify)
        self.supervisor.add(self.watch)
        self.launcher = FakeLauncher(self)
        self.stage = Stage(
            store=store, clock=clock, keys=Keys(self.panes, clock), slots=Slots(1), launcher=self.launcher, host="here",
            watch=self.supervisor.watch, config=self.settings, notify=self._notify,
            known=self.supervisor.known,
        )  # fmt: skip
        record = CycleRecord(
            CYCLE, self.watch.session.id, "here", "threshold", clock.now(), percent=87.0, used=145_000,
            old_agent_session=TALK, data={"usable": 167_000, "window": 200_000},
        )  # fmt: skip
        store.start_cycle(record)
        self.offers = Offers(self.watch.folder, self.agent)
        self._git_project()
        self.talk.prompt("make the reader survive torn lines")
        self.talk.say("I will.", used=145_000)
        self.watch.read()

    def _git_project(self) -> None:
        (self.project / "reader.py").write_text("torn = None\n", encoding="utf-8")
        git = ["git", "-C", str(self.project), "-c", "user.name=a", "-c", "user.email=a@example.org"]
        for words in (["init", "-q", "-b", "torn-lines"], ["add", "-A"], ["commit", "-qm", "first"]):
            subprocess.run([*git, *words], check=True, capture_output=True)
        (self.project / "reader.py").write_text("torn = b''\n", encoding="utf-8")

    async def _notify(self, session: str, text: str) -> None:
        self.told.append(text)

    @property
    def case(self) -> Case:
        """The cycle as a step finds it: also after a crash it has nothing but what was stored."""
        cycle = self.store.cycle(CYCLE)
        assert cycle is not None
        return Case(self.stage, cycle, self.watch, self.settings(self.project))

    def configure(self, text: str) -> None:
        path = self.project / ".baton" / "config.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def says(self, state: State, **fields: object) -> None:
        front = self.watch.conversation.agent_session
        self.agent.says = Status(state, front, since=self.clock.now(), **fields)  # type: ignore[arg-type]
        self.watch.refresh()

    def hears(self, text: str) -> None:
        """What is entered reaches the agent's record."""
        self.talk.prompt(text)
        self.supervisor.take_news(self.watch)

    def begins(self, talk: str, source: str) -> None:
        """The agent's session-start hook tells of a conversation, after the agent's own word."""
        self.names(talk)
        self.talk = Talk(self.folder / f"{talk}.jsonl", self.clock)
        self.watch.take_hook(start(talk, source, self.talk.path), self.clock.now())
        self.supervisor.started(self.watch, source, self.clock.now())

    def names(self, talk: str) -> None:
        """The agent's own word tells of a conversation."""
        self.agent.says = replace(self.agent.says, agent_session=talk)
        self.watch.refresh()

    def documents(self) -> list[Path]:
        return FilesLayout(self.project).list()
