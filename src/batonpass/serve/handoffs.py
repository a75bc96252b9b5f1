"""Operations on handoffs: pass the baton, wait for it, go on from a document, list and show."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from batonpass import agents
from batonpass.config import ConfigError
from batonpass.delivery import tag
from batonpass.disk import read_document
from batonpass.handoff import prompts
from batonpass.handoff.chain import link
from batonpass.handoff.instructions import PENDING_FILE
from batonpass.handoff.layouts import every
from batonpass.handoff.layouts import layout as layout_of
from batonpass.handoff.prime import along
from batonpass.project import find
from batonpass.serve import documents, views
from batonpass.serve.api import Operation, Refusal
from batonpass.serve.cycles import Cycles
from batonpass.serve.rescue import Rescue
from batonpass.serve.sessions import Sessions, folder
from batonpass.session import State
from batonpass.store import StoreAway
from batonpass.supervisor import orders
from batonpass.supervisor.daemon import Daemon
from batonpass.supervisor.orders import Start
from batonpass.supervisor.watch import Watch


class Handoffs:
    """The daemon's answers about handoffs."""

    def __init__(self, daemon: Daemon, sessions: Sessions, cycles: Cycles) -> None:
        self.daemon, self.sessions, self.cycles = daemon, sessions, cycles
        self.supervisor = daemon.supervisor
        self.store = daemon.store
        self._rescue = Rescue(daemon)

    def table(self) -> dict[str, Operation]:
        return {
            "handoff": self.handoff,
            "handoff_wait": self.handoff_wait,
            "continue": self.continue_,
            "handoffs_list": self.list_,
            "handoffs_show": self.show,
        }

    async def handoff(self, request: Mapping[str, Any]) -> object:
        watch = self.sessions.meant(request)
        if watch.session.state is State.ENDED:
            raise Refusal(f"session {watch.session.name} has ended", 3)
        why, to = str(request.get("why") or "").strip(), self._other(watch, request.get("to"))
        cause = f"asked for by hand{f', to {to}' if to else ''}{': ' + why if why else ''}"
        cycle = await self.supervisor.starter.hand_off(watch, cause, to=to)
        if cycle is None:
            raise Refusal(f"no handoff of {watch.session.name} can be started now; see: baton status", 3)
        return {"cycle": cycle, "session": watch.session.id}

    def _other(self, watch: Watch, wanted: object) -> str | None:
        """The agent that a person wants to go on with; None for the same one. Raises Refusal."""
        if not wanted or wanted == watch.session.agent:
            return None
        if wanted not in agents.names():
            raise Refusal(f"there is no agent '{wanted}'; known are {', '.join(agents.names())}", 2)
        if watch.session.adopted:
            raise Refusal(f"{watch.session.name} was adopted, so its pane is not Baton's to start another agent in; "
                          f"use: baton continue --from {watch.session.name} --agent {wanted}", 3)  # fmt: skip
        return str(wanted)

    async def handoff_wait(self, request: Mapping[str, Any]) -> object:
        cycle = self.cycles.cycle(request.get("cycle"))
        watch = self.supervisor.watch(cycle.session)
        if watch is not None:
            within = float(request.get("within") or 3600)
            await watch.until(lambda: watch.step is None and self._ended(cycle.id), within)
        return self.cycles.shown(self.cycles.cycle(cycle.id))

    def _ended(self, cycle: str) -> bool:
        with suppress(StoreAway):  # then it is not over yet
            return self.cycles.cycle(cycle).ended is not None
        return False

    async def continue_(self, request: Mapping[str, Any]) -> object:
        """A new session that starts from a handoff: a document, or what is rescued of a session first."""
        if request.get("rescue"):
            return await self._from_session(request)
        project = find(folder(request)).root
        path = self._document(request, project)
        same = {"agent": request.get("agent") or documents.agent_of(path)}
        return await self.go_on({**request, **same}, documents.project_of(self.store, path) or project, path)

    async def _from_session(self, request: Mapping[str, Any]) -> dict[str, object]:
        rescued = await self._rescue.seal(request)
        old, document = rescued.before, rescued.document
        if request.get("only_write"):
            self._rescue.take_back(rescued)
            return {"session": old.id, "name": old.name, "project": str(old.project), "document": str(document)}
        agent = str(request.get("agent") or old.agent)
        same = {"agent": agent, "name": request.get("name") or old.name}
        try:
            like = self._like(rescued.watch, agent, request.get("args"))
            answer = await self.go_on({**request, **same}, old.project, document, like)
        except Refusal as refusal:
            self._rescue.take_back(rescued)
            again = f"the handoff is sealed, go on with: baton continue {document}"
            raise Refusal(f"{refusal}; {again}", refusal.exit) from refusal
        self._rescue.end(rescued)
        return {**answer, "predecessor": old.id}

    def _like(self, watch: Watch, agent: str, given: object) -> Start | None:
        """How the agent is to be started that goes on from this session; None where the user says it all anew."""
        args = [str(one) for one in given] if isinstance(given, list) else []
        if agent not in agents.names() or (args and agent == watch.session.agent):
            return None
        try:
            heir = orders.successor(self.daemon.config(watch.session.project), agent, args)
        except ConfigError as error:
            raise Refusal(str(error), 2) from error
        return orders.carried(watch.folder, watch.session, heir, anew=bool(args))

    async def go_on(
        self, request: Mapping[str, Any], project: Path, path: Path, like: Start | None = None
    ) -> dict[str, object]:
        """Start the successor, and follow it until its receipt is right; `like` as in `Sessions.start`."""
        cycle, began = self.daemon.new_id(), self.daemon.clock.now()
        try:
            template = self.daemon.config(project).prompts.kick
            kick = prompts.kick(tag(cycle, "kick", 1), cycle, path, template=template)
        except prompts.TemplateError as error:
            raise Refusal(str(error), 2) from error
        heir = str(request.get("agent") or agents.FIRST)
        if heir in agents.names() and not (taker := agents.get(heir)).has_hooks:
            kick = along(kick, read_document(path), path, taker.prime_cap, taker.prime_parts)
        answer = await self.sessions.start(request, project, kick, path, like)
        (path.parent / PENDING_FILE).unlink(missing_ok=True)
        watch = self.supervisor.watch(str(answer["session"]))
        if watch is not None:
            await self.supervisor.starter.go_on(watch, cycle, path, kick, began)
        return {**answer, "document": str(path), "cycle": cycle}

    def _document(self, request: Mapping[str, Any], project: Path) -> Path:
        wanted = request.get("file") or request.get("number")
        config = self.daemon.config(project)
        layout, others = layout_of(config.layout, project, config), every(project, config)
        return documents.chosen(self.store, layout, folder(request), str(wanted) if wanted else None, others)

    async def list_(self, request: Mapping[str, Any]) -> object:
        wanted = request.get("project")
        project = find(Path(str(wanted))).root if wanted and not request.get("all") else None
        return [views.handoff_record(record) for record in self.store.handoffs(project=project)]

    async def show(self, request: Mapping[str, Any]) -> object:
        path = self._document(request, find(folder(request)).root)
        record = next((r for r in self.store.handoffs() if r.path == path), None)
        base = views.handoff_record(record) if record else views.linked(path, link(path))
        return {**base, "text": read_document(path)}
