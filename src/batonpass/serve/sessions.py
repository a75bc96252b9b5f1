"""Operations on sessions: start one, take one over, show them all, and find the one that is meant."""

import errno
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from batonpass import agents
from batonpass.agents.base import Agent, Found, FrontUnknown, LaunchError
from batonpass.config import ConfigError
from batonpass.project import find
from batonpass.serve import views
from batonpass.serve.api import Operation, Refusal
from batonpass.serve.hosts import where_else
from batonpass.serve.lately import Lately
from batonpass.serve.status import status
from batonpass.session import Kind, PaneRef, Session, State
from batonpass.store import AmbiguousSession
from batonpass.supervisor import orders
from batonpass.supervisor.daemon import Daemon
from batonpass.supervisor.launch import Request
from batonpass.supervisor.orders import Start
from batonpass.supervisor.watch import Watch
from batonpass.terminals.base import PaneInfo, TerminalError

_NAME = re.compile(r"[^\w-]+")
_LOOKS, _LOOK_SECONDS = 5, 0.5
_UNHOOKED = (
    "it was started without Baton's hooks: Baton follows it by its record, asks for a handoff only once its turn has "
    "ended, and types what it has to say"
)


class Sessions:
    """The daemon's answers about sessions; other nouns ask it which session a request means."""

    def __init__(self, daemon: Daemon) -> None:
        self.daemon = daemon
        self.supervisor = daemon.supervisor
        self.store = daemon.store
        self.lately = Lately(daemon.store, daemon.clock)

    def table(self) -> dict[str, Operation]:
        return {"run": self.run, "adopt": self.adopt, "status": self.status}

    async def run(self, request: Mapping[str, Any]) -> object:
        project = find(folder(request)).root
        return await self.start(request, project, request.get("prompt"), None)

    async def start(
        self,
        request: Mapping[str, Any],
        project: Path,
        kick: str | None,
        document: Path | None,
        like: Start | None = None,
    ) -> dict[str, object]:
        """A new session, as the request wants it, with this first prompt and this handoff for its context.

        `like` is how its agent was to be started in the session that it goes on from, in place of the arguments.
        """
        name = _NAME.sub("-", str(request.get("name") or project.name)).strip("-") or "session"
        agent = str(request.get("agent") or agents.FIRST)
        if agent not in agents.names():
            raise Refusal(f"there is no agent '{agent}'; known are {', '.join(agents.names())}", 2)
        try:
            config = self.daemon.config(project)
            ladder = request.get("ladder")
            config.ladder_for(ladder)
            given = [str(a) for a in request.get("args") or ()]
            order = Request(
                agent=agent,
                args=like.args if like else orders.successor(config, agent, given).args,
                env={str(k): str(v) for k, v in (request.get("env") or {}).items()},
                project=project,
                name=name,
                ladder=ladder,
                kick=kick,
                document=document,
                width=int(request.get("width") or 200),
                height=int(request.get("height") or 50),
                like=like,
            )
            watch = await self.daemon.launcher.start(order, config.tmux.socket)
        except ConfigError as error:
            raise Refusal(str(error), 2) from error
        except LaunchError as error:
            raise Refusal(str(error)) from error
        except OSError as error:
            raise Refusal(
                f"{name} could not be started: {error.strerror or error}"
                f"{f' ({error.filename})' if error.filename else ''}; nothing was left behind{_way_out(error)}"
            ) from error
        except TerminalError as error:
            way_out = _way_out(error.__cause__) if isinstance(error.__cause__, OSError) else ""
            raise Refusal(f"tmux could not open a pane for {name}: {str(error).rstrip('.')}{way_out}") from error
        self.supervisor.add(watch)
        self.daemon.looks.follow()
        if watch.notice:
            await self.daemon.tell(watch.session.id, watch.notice)
        return {**views.session_record(watch), "attach": await self.attach(watch), "notice": watch.notice}

    async def attach(self, watch: Watch) -> list[str]:
        """The command that shows the session."""
        assert watch.session.pane is not None
        terminal = self.daemon.terminal(watch.session.pane.socket)
        return terminal.attach_argv(await terminal.info(watch.session.pane))

    async def adopt(self, request: Mapping[str, Any]) -> object:
        """Take over a pane in which an agent already runs: readings and status, nothing of the user's is written."""
        socket = self.daemon.config(None).tmux.socket
        wanted = str(request.get("pane") or "")
        try:
            panes = await self.daemon.terminal(socket).list()
        except TerminalError as error:
            raise Refusal(f"tmux does not answer: {error}") from error
        found = [info for info in panes if not wanted or info.ref.id == wanted]
        watch = await self._adopted(found, request.get("agent"))
        if watch is None:
            where = f"pane {wanted}" if wanted else "any pane"
            raise Refusal(f"no running agent was found in {where} that Baton does not watch already", 3)
        self.supervisor.add(watch)
        if watch.conversation.agent_session:  # so that going back to it some day is no clear
            self.supervisor.started(watch, watch.starts[-1].source, self.daemon.clock.now())
        self.supervisor.take_news(watch)
        self.daemon.looks.follow()
        if watch.notice:
            await self.daemon.tell(watch.session.id, watch.notice)
        return {**views.session_record(watch), "attach": await self.attach(watch), "notice": watch.notice}

    async def _adopted(self, panes: Sequence[PaneInfo], wanted: str | None) -> Watch | None:
        """The first agent in these panes; None when there is none. Raises Refusal.

        One that does not tell which conversation it has in front may only be slow to answer.
        """
        names = [wanted] if wanted else agents.names()
        sought = [agents.get(name) for name in names if name in agents.names()]
        unclear: FrontUnknown | None = None
        for look in range(_LOOKS):
            if look:
                await self.daemon.clock.sleep(_LOOK_SECONDS)
            unclear, taken = None, self._taken()  # looked at each time: another request may have been quicker
            for info in panes:
                if info.ref in taken:
                    continue
                try:
                    match = _found_in(info, sought)
                except FrontUnknown as error:
                    unclear = error
                    continue
                if match is not None:
                    return self._watched(info, *match)
            if unclear is None:
                return None
        raise Refusal(str(unclear), 3) from unclear

    def _taken(self) -> set[PaneRef | None]:
        """The panes of all that is watched."""
        return {w.session.pane for w in self.supervisor.watches.values() if w.session.state is not State.ENDED}

    def _watched(self, info: PaneInfo, agent: Agent, found: Found) -> Watch:
        project = find(info.cwd).root
        session = Session(
            id=self.daemon.new_id(),
            name=info.session_name,
            agent=agent.name,
            kind=Kind.INTERACTIVE,
            project=project,
            host=self.daemon.host,
            pane=info.ref,
            pid=found.pid,
            agent_session=found.agent_session,
            transcript=found.transcript,
            model=None,
            permission_mode=None,
            ladder=None,
            chain=0,
            adopted=True,
            created=self.daemon.clock.now(),
        )
        folder = self.daemon.launcher.folder(session.id)
        folder.mkdir(parents=True, mode=0o700)
        watch = Watch(session, agent, folder, found.env, self.daemon.clock)
        watch.notice = "; ".join(filter(None, (found.notice, _UNHOOKED if watch.hooks_run is False else None))) or None
        if found.agent_session is not None:
            watch.begin(found.agent_session, found.transcript, "resume", self.daemon.clock.now())
        watch.refresh()
        return watch

    async def status(self, request: Mapping[str, Any]) -> object:
        return status(self.daemon, self.lately, request)

    def kept(self, request: Mapping[str, Any]) -> Session:
        """The session of this host by name, id or pane, as the store has it, be it long over. Raises Refusal."""
        wanted = str(request.get("session"))
        try:
            session = self.store.find_session(wanted, host=self.daemon.host) or self.store.find_session(wanted)
        except AmbiguousSession as error:
            raise Refusal(str(error), 2) from error
        if session is None:
            raise Refusal(f"no session '{wanted}' runs here; see: baton status", 3)
        if session.host != self.daemon.host:
            raise Refusal(where_else(self.store, session), 3)
        return session

    def meant(self, request: Mapping[str, Any]) -> Watch:
        """The session of this host that is meant: by name, id or pane; else the only live one of the folder."""
        if request.get("session"):
            watch = self.supervisor.watch(self.kept(request).id)
            if watch is None:
                raise Refusal(f"no session '{request.get('session')}' runs here; see: baton status", 3)
            return watch
        project = find(folder(request)).root
        live = [w for w in self.supervisor.watches.values() if not w.gone]
        here = [w for w in live if w.session.project == project]
        if len(here) == 1 or len(live) == 1:
            return (here or live)[0]
        names = ", ".join(w.session.name for w in here or live) or "none"
        raise Refusal(f"which session is meant? Name one of: {names}", 2)


def _found_in(info: PaneInfo, sought: Sequence[Agent]) -> tuple[Agent, Found] | None:
    """Which of these runs in that pane; None when there is none.

    Raises FrontUnknown for one that does not tell its conversation, unless there is another one that does.
    """
    unclear: FrontUnknown | None = None
    for agent in sought:
        try:
            if found := agent.find(info.pid):
                return agent, found
        except FrontUnknown as error:
            unclear = error
    if unclear is not None:
        raise unclear
    return None


def folder(request: Mapping[str, Any]) -> Path:
    """The folder that the request comes from. Raises Refusal."""
    cwd = str(request.get("cwd") or Path.home())
    if not os.path.isdir(cwd):  # false, too, for a name that no file system takes
        raise Refusal(f"there is no folder {cwd[:200]}", 2)
    return Path(cwd).resolve()


def _way_out(error: OSError) -> str:
    """What a person can do about it, where there is something."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return ": end some sessions, or raise the number of open files (ulimit -n) and start the daemon again"
    if error.errno == errno.ENOSPC:
        return ": make room on the disk"
    return ""
