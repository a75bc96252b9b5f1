"""Operations on handoffs: pass the baton, wait for it, go on from a document, list and show."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from batonpass.disk import read_document
from batonpass.handoff import prompts
from batonpass.handoff.layouts import layout as layout_of
from batonpass.project import find
from batonpass.serve import documents, views
from batonpass.serve.api import Operation, Refusal
from batonpass.serve.cycles import Cycles
from batonpass.serve.sessions import Sessions, folder
from batonpass.session import State
from batonpass.store import StoreAway
from batonpass.supervisor.daemon import Daemon


class Handoffs:
    """The daemon's answers about handoffs."""

    def __init__(self, daemon: Daemon, sessions: Sessions, cycles: Cycles) -> None:
        self.daemon, self.sessions, self.cycles = daemon, sessions, cycles
        self.supervisor = daemon.supervisor
        self.store = daemon.store

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
        why = str(request.get("why") or "").strip()
        cycle = await self.supervisor.starter.hand_off(watch, f"asked for by hand{': ' + why if why else ''}")
        if cycle is None:
            raise Refusal(f"no handoff of {watch.session.name} can be started now; see: baton status", 3)
        return {"cycle": cycle, "session": watch.session.id}

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
        """A new session that starts from a handoff document."""
        project = find(folder(request)).root
        path = self._document(request, project)
        project = documents.project_of(self.store, path) or project
        tag = f"[baton {self.daemon.new_id()} kick 1]"
        kick = prompts.kick(tag, tag.split()[1], path)
        answer = await self.sessions.start(request, project, kick, path)
        (path.parent / "HANDOFF_PENDING.md").unlink(missing_ok=True)
        return {**answer, "document": str(path)}

    def _document(self, request: Mapping[str, Any], project: Path) -> Path:
        wanted = request.get("file") or request.get("number")
        config = self.daemon.config(project)
        layout = layout_of(config.layout, project, config)
        return documents.chosen(self.store, layout, folder(request), str(wanted) if wanted else None)

    async def list_(self, request: Mapping[str, Any]) -> object:
        wanted = request.get("project")
        project = find(Path(str(wanted))).root if wanted and not request.get("all") else None
        return [views.handoff_record(record) for record in self.store.handoffs(project=project)]

    async def show(self, request: Mapping[str, Any]) -> object:
        path = self._document(request, find(folder(request)).root)
        record = next((r for r in self.store.handoffs() if r.path == path), None)
        base = views.handoff_record(record) if record else {"path": str(path)}
        return {**base, "text": read_document(path)}
