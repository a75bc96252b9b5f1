"""Starting an agent in a pane, and starting it again: the user's files stay as they are."""

import json
import os
import secrets
import shutil
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from batonpass import _entry, agents
from batonpass.agents.base import Launch, LaunchError, LaunchOrder, Status
from batonpass.agents.processes import end
from batonpass.clock import Clock
from batonpass.disk import read_document, stay_inside, write_private
from batonpass.handoff.prime import parts
from batonpass.home import session_folder
from batonpass.session import Kind, Session, State
from batonpass.supervisor import orders
from batonpass.supervisor.offers import Offers
from batonpass.supervisor.orders import Order, Start, Successor
from batonpass.supervisor.watch import Watch
from batonpass.terminals.base import Terminal, TerminalError
from batonpass.terminals.last_words import last_words

ENTRY = (sys.executable, "-I", "-S", os.path.abspath(_entry.__file__))
_LAST_LOOKS = 20
_BEGAN = "began"  # the file that names the handoff which a session was started from
# What a pane's own environment must decide, not that of whoever asked for the session.
_OF_THE_PANE = ("TMUX", "TMUX_PANE", "BATON_SESSION", "STY", "WINDOWID")


@dataclass(frozen=True, slots=True)
class Request:
    """What a person asks for with `baton run`."""

    agent: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    project: Path
    name: str
    ladder: str | None = None
    kick: str | None = None
    document: Path | None = None  # a handoff that the new session starts from
    width: int = 200
    height: int = 50
    like: Start | None = None  # as it was in another session, which this one goes on from


class PaneLauncher:
    """Writes the launch file of a session and has its pane become the agent.

    `tell` is given what a person should know of how an agent was started again: session, sentence. At its first
    start whoever asked for it tells that.
    """

    def __init__(
        self,
        home: Path,
        host: str,
        clock: Clock,
        terminal: Callable[[str], Terminal],
        tell: Callable[[str, str], Awaitable[None]],
    ) -> None:
        self._home, self._host, self._clock, self._terminal, self._tell = home, host, clock, terminal, tell

    def folder(self, session: str) -> Path:
        return Path(session_folder(str(self._home), session))

    def draft_dir(self, watch: Watch) -> Path:
        return self._drafts(watch.session.project, watch.session.id)

    def _drafts(self, project: Path, session: str) -> Path:
        return project / ".baton" / "drafts" / session

    async def start(self, request: Request, socket: str) -> Watch:
        """A new session in a new pane. Raises NotInstalled, TerminalError, OSError; then nothing was left behind."""
        session = secrets.token_hex(4)
        stay_inside(request.project, self._drafts(request.project, session))
        folder = self.folder(session)
        folder.mkdir(parents=True, mode=0o700)
        try:
            return await self._start(session, folder, request, socket)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)  # it holds the user's environment
            raise

    async def _start(self, session: str, folder: Path, request: Request, socket: str) -> Watch:
        env = {k: v for k, v in request.env.items() if k not in _OF_THE_PANE}
        like = {request.agent: request.like} if request.like else {}
        orders.write(folder, Order(request.agent, request.args, env, like))
        launch = self._write(session, request.agent, request.project, request.kick, None)
        if request.document is not None:
            agent, text = agents.get(request.agent), read_document(request.document)
            Offers(folder, agent).prime(["startup"], parts(text, request.document, agent.prime_cap, agent.prime_parts))
            write_private(folder / _BEGAN, str(request.document))
        info = await self._terminal(socket).open(
            request.name, request.project, self._argv(session), width=request.width, height=request.height
        )
        record = Session(
            id=session,
            name=info.session_name,
            agent=request.agent,
            kind=Kind.INTERACTIVE,
            project=request.project,
            host=self._host,
            pane=info.ref,
            pid=info.pid,
            agent_session=launch.agent_session,
            transcript=launch.transcript,
            model=None,
            permission_mode=None,
            ladder=request.ladder,
            chain=0,
            adopted=False,
            created=self._clock.now(),
        )
        watch = Watch(record, agents.get(request.agent), folder, launch.env, self._clock)
        watch.notice = launch.notice
        return watch

    async def respawn(
        self, watch: Watch, *, kick: str | None, resume: str | None = None, to: Successor | None = None
    ) -> str | None:
        """End what runs in the session's pane and start the agent anew there, or another one, with the same wishes.

        Raises LaunchError, TerminalError, OSError; then the session is as it was.
        """
        session = watch.session
        if session.pane is None:
            raise TerminalError(f"session {session.name} has no pane")
        left = watch.agent.leftovers(watch.binding)
        undo: Callable[[], None] | None = None
        if to is not None and to.agent != session.agent:
            if resume is None:  # else it is gone back to, as it was left
                orders.write(watch.folder, orders.passed_on(self._order(session.id, session.agent), session, to))
            launch = self._write(session.id, to.agent, session.project, kick, resume)
            undo = watch.become(agents.get(to.agent))
        else:
            launch = self._again(session, kick, resume)
        watch.env = dict(launch.env)
        try:
            terminal = self._terminal(session.pane.socket)
            info = await terminal.respawn(session.pane, session.project, self._argv(session.id))
        except BaseException:
            if undo is not None:
                undo()
            raise
        await end(left, self._clock)
        watch.session = replace(watch.session, pane=info.ref, pid=info.pid, state=State.STARTING)
        self._starts(watch)
        await self._note(watch, launch)
        return launch.agent_session

    async def reopen_pane(self, watch: Watch, *, kick: str | None, resume: str | None, socket: str) -> None:
        """The session's agent in a new pane of the session's own name. Raises LaunchError, TerminalError, OSError."""
        session = watch.session
        launch = self._again(session, kick, resume)
        info = await self._terminal(socket).open(session.name, session.project, self._argv(session.id))
        watch.env = dict(launch.env)
        watch.leaving = False
        watch.session = replace(
            session, name=info.session_name, pane=info.ref, pid=info.pid, state=State.STARTING, ended=None
        )
        self._starts(watch)
        await self._note(watch, launch)

    async def _note(self, watch: Watch, launch: Launch) -> None:
        """Say what holds for this start, as it was said at the first."""
        watch.notice = launch.notice
        if launch.notice:
            await self._tell(watch.session.id, launch.notice)

    def _starts(self, watch: Watch) -> None:
        """Another process: what the one before said of itself does not hold for it."""
        watch.status = Status(State.STARTING)
        watch.see_title("")
        watch.dialog = None
        watch.changed()

    async def replaced(self, watch: Watch, pid: int | None) -> bool:
        """Whether another process than this one runs in the pane already; the session is then bound to it."""
        pane = watch.session.pane
        if pane is None:
            return False
        info = await self._terminal(pane.socket).info(pane)
        if info.dead or info.pid == pid:
            return False
        if watch.session.pid != info.pid:
            watch.session = replace(watch.session, pid=info.pid, state=State.STARTING)
            self._starts(watch)
        return True

    async def last_words(self, watch: Watch) -> str:
        """What the session's pane shows last, all of it where its process has ended; "" where nobody can tell."""
        pane = watch.session.pane
        if pane is None:
            return ""
        terminal = self._terminal(pane.socket)
        with suppress(TerminalError):
            for _ in range(_LAST_LOOKS):
                if not watch.gone or (await terminal.info(pane)).dead:
                    break
                await self._clock.sleep(0.1)  # what it printed is still on its way to the screen
        return await last_words(terminal, pane)

    def _argv(self, session: str) -> list[str]:
        return [*ENTRY, "become", session, str(self._home)]

    def _order(self, session: str, agent: str) -> Order:
        order = orders.read(self.folder(session), agent)
        if order is None:
            raise LaunchError(f"how session {session} was started is not kept any more, so it cannot be started again")
        return order

    def _again(self, session: Session, kick: str | None, resume: str | None) -> Launch:
        """The session's own agent, with model and mode as they were last."""
        return self._write(
            session.id, session.agent, session.project, kick, resume, session.model, session.permission_mode
        )

    def _write(
        self,
        session: str,
        agent: str,
        project: Path,
        kick: str | None,
        resume: str | None,
        model: str | None = None,
        permission_mode: str | None = None,
    ) -> Launch:
        folder = self.folder(session)
        order = self._order(session, agent)
        start = order.start(agent)
        launch = agents.get(agent).launch(
            LaunchOrder(
                session=session,
                folder=folder,
                project=project,
                args=start.args,
                env=order.env,
                draft_dir=self._drafts(project, session),
                hook=(*ENTRY, "hook"),
                statusline=(*ENTRY, "statusline"),
                kick=kick,
                resume=resume,
                model=model or start.model,
                permission_mode=permission_mode or start.permission_mode,
                approval=start.approval,
            )
        )
        env = {**launch.env, "BATON_SESSION": session, "BATON_HOME": str(self._home)}
        content = {"argv": list(launch.argv), "env": env, "cwd": str(project)}
        write_private(folder / "launch.json", json.dumps(content))
        if launch.chained_statusline:
            write_private(folder / "chain", launch.chained_statusline)
        return replace(launch, env=env)

    def reopen(self, session: Session) -> Watch:
        """The watch of a session that was started before this daemon."""
        folder = self.folder(session.id)
        try:
            env = json.loads((folder / "launch.json").read_text(encoding="utf-8"))["env"]
        except (OSError, ValueError, KeyError):
            env = {}
        return Watch(session, agents.get(session.agent), folder, env, self._clock)


def began_with(folder: Path) -> Path | None:
    """The handoff that the session of this folder was started from; None when it was started without one."""
    try:
        return Path((folder / _BEGAN).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
