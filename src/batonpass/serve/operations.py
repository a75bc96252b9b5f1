"""What the daemon can be asked for: one small function for each operation of the commands and hooks."""

import re
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from batonpass import agents
from batonpass.agents.base import HookKind, LaunchError
from batonpass.config import ConfigError
from batonpass.disk import read_document
from batonpass.handoff import prompts
from batonpass.handoff.layouts import layout as layout_of
from batonpass.project import find
from batonpass.serve import documents, views
from batonpass.serve.api import Operation, Refusal
from batonpass.serve.hosts import where_else
from batonpass.serve.status import about, status
from batonpass.session import Kind, Session, State
from batonpass.store import AmbiguousSession, CycleRecord, StoreAway, StoreError
from batonpass.supervisor.daemon import Daemon
from batonpass.supervisor.launch import Request
from batonpass.supervisor.watch import Watch
from batonpass.terminals.base import PaneInfo, TerminalError
from batonpass.untrusted import moment

_NAME = re.compile(r"[^\w-]+")


class Operations:
    """The daemon's answers. Everything it knows comes from the daemon that it is given."""

    def __init__(self, daemon: Daemon) -> None:
        self.daemon = daemon
        self.supervisor = daemon.supervisor
        self.store = daemon.store

    def table(self) -> dict[str, Operation]:
        """Every operation by its name. A store that is away is told as it is, in its own sentence."""
        return {name: _told(operation) for name, operation in self._operations().items()}

    def _operations(self) -> dict[str, Operation]:
        return {
            "ping": self.ping,
            "hook": self.hook,
            "run": self.run,
            "adopt": self.adopt,
            "status": self.status,
            "handoff": self.handoff,
            "handoff_wait": self.handoff_wait,
            "continue": self.continue_,
            "handoffs_list": self.handoffs_list,
            "handoffs_show": self.handoffs_show,
            "cycles_list": self.cycles_list,
            "cycles_show": self.cycles_show,
            "breaker_show": self.breaker_show,
            "breaker_reset": self.breaker_reset,
            "stop": self.stop,
        }

    async def ping(self, request: Mapping[str, Any]) -> object:
        return about(self.daemon)

    async def stop(self, request: Mapping[str, Any]) -> object:
        self.daemon.stop(by_person=True)
        return {"pid": self.daemon.pid}

    # -- hooks ---------------------------------------------------------------------------------------

    async def hook(self, request: Mapping[str, Any]) -> object:
        """A report of a session's hook or status line. One that is not of the session's own pane is not its own."""
        watch = self.supervisor.watch(str(request.get("session")))
        payload, at = request.get("payload"), moment(request.get("at")) or time.time()
        if watch is None or not isinstance(payload, dict):
            return None
        pane = watch.session.pane
        if pane is not None and request.get("pane") != pane.id:
            return None
        if request.get("role") == "statusline":
            with suppress(StoreAway):
                self.supervisor.take_statusline(watch, payload, at)
            return None
        report = watch.agent.report(payload)
        if report is None:
            return None
        try:
            await self.supervisor.take_hook(watch, report, at)
        except StoreAway:
            self.daemon.spool.keep({**request, "at": at})  # heard again, whole, when the store is back
        if report.kind is HookKind.COMPACT:
            await self.daemon.prime_again(watch)
        self.daemon.follow_files()
        return None

    # -- sessions ------------------------------------------------------------------------------------

    async def run(self, request: Mapping[str, Any]) -> object:
        project = find(_folder(request)).root
        name = _NAME.sub("-", str(request.get("name") or project.name)).strip("-") or "session"
        return await self._start(request, project, name, request.get("prompt"), None)

    async def _start(
        self, request: Mapping[str, Any], project: Path, name: str, kick: str | None, document: Path | None
    ) -> dict[str, object]:
        agent = str(request.get("agent") or "claude")
        if agent not in agents.names():
            raise Refusal(f"there is no agent '{agent}'; known are {', '.join(agents.names())}", 2)
        try:
            config = self.daemon.config(project)
            ladder = request.get("ladder")
            config.ladder_for(ladder)
            own = config.agents.get(agent)
            order = Request(
                agent=agent,
                args=(*(own.args if own else ()), *(str(a) for a in request.get("args") or ())),
                env={str(k): str(v) for k, v in (request.get("env") or {}).items()},
                project=project,
                name=name,
                ladder=ladder,
                kick=kick,
                document=document,
                width=int(request.get("width") or 200),
                height=int(request.get("height") or 50),
            )
            watch = await self.daemon.launcher.start(order, config.tmux.socket)
        except ConfigError as error:
            raise Refusal(str(error), 2) from error
        except LaunchError as error:
            raise Refusal(str(error)) from error
        except OSError as error:
            raise Refusal(
                f"{name} could not be started: {error.strerror or error}"
                f"{f' ({error.filename})' if error.filename else ''}; nothing was left behind"
            ) from error
        except TerminalError as error:
            raise Refusal(f"tmux could not open a pane for {name}: {error}") from error
        self.supervisor.add(watch)
        self.daemon.follow_files()
        return {**views.session_record(watch), "attach": await self._attach(watch)}

    async def _attach(self, watch: Watch) -> list[str]:
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
        known = {w.session.pane for w in self.supervisor.watches.values() if w.session.state is not State.ENDED}
        found = [info for info in panes if (not wanted or info.ref.id == wanted) and info.ref not in known]
        for info in found:
            watch = self._adopted(info, request.get("agent"))
            if watch is not None:
                self.supervisor.add(watch)
                self.supervisor.take_news(watch)
                self.daemon.follow_files()
                return {**views.session_record(watch), "attach": await self._attach(watch)}
        where = f"pane {wanted}" if wanted else "any pane"
        raise Refusal(f"no running agent was found in {where} that Baton does not watch already", 3)

    def _adopted(self, info: PaneInfo, wanted: str | None) -> Watch | None:
        names = [wanted] if wanted else list(agents.names())
        matches = ((name, agents.get(name).find(info.pid)) for name in names if name in agents.names())
        agent_name, found = next(((name, found) for name, found in matches if found), ("", None))
        if found is None:
            return None
        agent = agents.get(agent_name)
        project = find(info.cwd).root
        session = Session(
            id=self.daemon.new_id(),
            name=info.session_name,
            agent=agent_name,
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
        watch.refresh()
        return watch

    async def status(self, request: Mapping[str, Any]) -> object:
        return status(self.daemon, request)

    def _watch(self, request: Mapping[str, Any]) -> Watch:
        """The session of this host that is meant: by name, id or pane; else the only live one of the folder."""
        wanted = request.get("session")
        if wanted:
            try:
                local = self.store.find_session(str(wanted), host=self.daemon.host)
                session = local or self.store.find_session(str(wanted))
            except AmbiguousSession as error:
                raise Refusal(str(error), 2) from error
            watch = self.supervisor.watch(session.id) if session else None
            if session is not None and session.host != self.daemon.host:
                raise Refusal(where_else(self.store, session), 3)
            if watch is None:
                raise Refusal(f"no session '{wanted}' runs here; see: baton status", 3)
            return watch
        live = [w for w in self.supervisor.watches.values() if not w.gone]
        here = [w for w in live if w.session.project == find(_folder(request)).root]
        if len(here) == 1 or len(live) == 1:
            return (here or live)[0]
        names = ", ".join(w.session.name for w in here or live) or "none"
        raise Refusal(f"which session is meant? Name one of: {names}", 2)

    # -- handoffs ------------------------------------------------------------------------------------

    async def handoff(self, request: Mapping[str, Any]) -> object:
        watch = self._watch(request)
        if watch.session.state is State.ENDED:
            raise Refusal(f"session {watch.session.name} has ended", 3)
        why = str(request.get("why") or "").strip()
        cycle = await self.supervisor.starter.hand_off(watch, f"asked for by hand{': ' + why if why else ''}")
        if cycle is None:
            raise Refusal(f"no handoff of {watch.session.name} can be started now; see: baton status", 3)
        return {"cycle": cycle, "session": watch.session.id}

    async def handoff_wait(self, request: Mapping[str, Any]) -> object:
        cycle = self._cycle(request.get("cycle"))
        watch = self.supervisor.watch(cycle.session)
        if watch is not None:
            within = float(request.get("within") or 3600)
            await watch.until(lambda: watch.step is None and self._ended(cycle.id), within)
        return self._shown(self._cycle(cycle.id))

    def _ended(self, cycle: str) -> bool:
        with suppress(StoreAway):  # then it is not over yet
            return self._cycle(cycle).ended is not None
        return False

    async def continue_(self, request: Mapping[str, Any]) -> object:
        """A new session that starts from a handoff document."""
        project = find(_folder(request)).root
        path = self._document(request, project)
        project = documents.project_of(self.store, path) or project
        tag = f"[baton {self.daemon.new_id()} kick 1]"
        kick = prompts.kick(tag, tag.split()[1], path)
        name = _NAME.sub("-", str(request.get("name") or project.name)).strip("-") or "session"
        answer = await self._start(request, project, name, kick, path)
        (path.parent / "HANDOFF_PENDING.md").unlink(missing_ok=True)
        return {**answer, "document": str(path)}

    def _document(self, request: Mapping[str, Any], project: Path) -> Path:
        wanted = request.get("file") or request.get("number")
        config = self.daemon.config(project)
        layout = layout_of(config.layout, project, config)
        return documents.chosen(self.store, layout, _folder(request), str(wanted) if wanted else None)

    async def handoffs_list(self, request: Mapping[str, Any]) -> object:
        wanted = request.get("project")
        project = find(Path(str(wanted))).root if wanted and not request.get("all") else None
        return [views.handoff_record(record) for record in self.store.handoffs(project=project)]

    async def handoffs_show(self, request: Mapping[str, Any]) -> object:
        path = self._document(request, find(_folder(request)).root)
        record = next((r for r in self.store.handoffs() if r.path == path), None)
        base = views.handoff_record(record) if record else {"path": str(path)}
        return {**base, "text": read_document(path)}

    # -- guards --------------------------------------------------------------------------------------

    async def breaker_show(self, request: Mapping[str, Any]) -> object:
        """What the guards say of every session, or of one."""
        watches = [self._watch(request)] if request.get("session") else list(self.supervisor.watches.values())
        return [views.guard_record(self.supervisor, watch) for watch in watches]

    async def breaker_reset(self, request: Mapping[str, Any]) -> object:
        watch = self._watch(request)
        self.supervisor.starter.reset(watch.session.id)
        self.supervisor.consider(watch)
        return views.guard_record(self.supervisor, watch)

    # -- cycles --------------------------------------------------------------------------------------

    async def cycles_list(self, request: Mapping[str, Any]) -> object:
        session = self._watch(request).session.id if request.get("session") else None
        return [self._shown(cycle) for cycle in self.store.cycles(session=session, host=self.daemon.host)]

    async def cycles_show(self, request: Mapping[str, Any]) -> object:
        return self._shown(self._cycle(request.get("id")))

    def _cycle(self, wanted: object) -> CycleRecord:
        if wanted:
            cycle = self.store.cycle(str(wanted))
        else:
            last = self.store.cycles(limit=1, host=self.daemon.host)
            cycle = last[-1] if last else None
        if cycle is None:
            raise Refusal(f"there is no cycle {wanted}" if wanted else "no baton has been passed yet", 3)
        return cycle

    def _shown(self, cycle: CycleRecord) -> dict[str, object]:
        return views.cycle_record(cycle, self.store.steps(cycle.id), self.daemon.clock.now())


def _folder(request: Mapping[str, Any]) -> Path:
    return Path(str(request.get("cwd") or Path.home())).resolve()


def _told(operation: Operation) -> Operation:
    async def asked(request: Mapping[str, Any]) -> object:
        try:
            return await operation(request)
        except StoreError as error:
            raise Refusal(str(error)) from error

    return asked
