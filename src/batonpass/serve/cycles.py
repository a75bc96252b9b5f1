"""Operations on cycles and on the guards that hold them back."""

from collections.abc import Mapping
from typing import Any

from batonpass.serve import views
from batonpass.serve.api import Operation, Refusal
from batonpass.serve.sessions import Sessions
from batonpass.store import CycleRecord, StepRecord
from batonpass.supervisor.daemon import Daemon


class Cycles:
    """The daemon's answers about cycles."""

    def __init__(self, daemon: Daemon, sessions: Sessions) -> None:
        self.daemon, self.sessions = daemon, sessions
        self.supervisor = daemon.supervisor
        self.store = daemon.store

    def table(self) -> dict[str, Operation]:
        return {
            "cycles_list": self.list_,
            "cycles_show": self.show,
            "breaker_show": self.breaker_show,
            "breaker_reset": self.breaker_reset,
        }

    async def list_(self, request: Mapping[str, Any]) -> object:
        lately, wanted = self.sessions.lately, request.get("session")
        found = lately.ask(("cycles", wanted), lambda: self._with_steps(request))
        return [views.cycle_record(cycle, steps, self.daemon.clock.now()) for cycle, steps in found]

    def _with_steps(self, request: Mapping[str, Any]) -> list[tuple[CycleRecord, list[StepRecord]]]:
        session = self.sessions.kept(request).id if request.get("session") else None
        found = self.store.cycles(session=session, host=self.daemon.host)
        return [(cycle, self.store.steps(cycle.id)) for cycle in found]

    async def show(self, request: Mapping[str, Any]) -> object:
        return self.shown(self.cycle(request.get("id")))

    def cycle(self, wanted: object) -> CycleRecord:
        """The cycle of that id, or this host's last one. Raises Refusal."""
        if wanted:
            cycle = self.store.cycle(str(wanted))
        else:
            last = self.store.cycles(limit=1, host=self.daemon.host)
            cycle = last[-1] if last else None
        if cycle is None:
            raise Refusal(f"there is no cycle {wanted}" if wanted else "no baton has been passed yet", 3)
        return cycle

    def shown(self, cycle: CycleRecord) -> dict[str, object]:
        """A cycle as the commands print it."""
        return views.cycle_record(cycle, self.store.steps(cycle.id), self.daemon.clock.now())

    async def breaker_show(self, request: Mapping[str, Any]) -> object:
        """What the guards say of every session, or of one."""
        watches = [self.sessions.meant(request)] if request.get("session") else list(self.supervisor.watches.values())
        return [views.guard_record(self.supervisor, watch) for watch in watches]

    async def breaker_reset(self, request: Mapping[str, Any]) -> object:
        watch = self.sessions.meant(request)
        self.supervisor.restraint.reset(watch)
        self.supervisor.consider(watch)
        return views.guard_record(self.supervisor, watch)
