"""What the daemon can be asked for: hooks and care here, the rest by noun in modules of their own."""

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from batonpass.agents.base import HookKind
from batonpass.serve.api import Operation, Refusal
from batonpass.serve.cycles import Cycles
from batonpass.serve.handoffs import Handoffs
from batonpass.serve.restore import Restore
from batonpass.serve.sessions import Sessions
from batonpass.serve.status import about
from batonpass.store import StoreAway, StoreError
from batonpass.supervisor.daemon import Daemon
from batonpass.untrusted import moment


class Operations:
    """The daemon's answers. Everything it knows comes from the daemon that it is given."""

    def __init__(self, daemon: Daemon) -> None:
        self.daemon = daemon
        self.supervisor = daemon.supervisor
        self._sessions = Sessions(daemon)
        self._cycles = Cycles(daemon, self._sessions)
        self._handoffs = Handoffs(daemon, self._sessions, self._cycles)
        self._restore = Restore(daemon, self._sessions, self._handoffs.go_on)

    def table(self) -> dict[str, Operation]:
        """Every operation by its name. A store that is away is told as it is, in its own sentence."""
        every = {
            "ping": self.ping,
            "hook": self.hook,
            "stop": self.stop,
            **self._sessions.table(),
            **self._cycles.table(),
            **self._handoffs.table(),
            **self._restore.table(),
        }
        return {name: _told(operation) for name, operation in every.items()}

    async def ping(self, request: Mapping[str, Any]) -> object:
        return about(self.daemon)

    async def stop(self, request: Mapping[str, Any]) -> object:
        self.daemon.stop(by_person=True)
        return {"pid": self.daemon.pid}

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
        self.daemon.looks.follow()
        return None


def _told(operation: Operation) -> Operation:
    async def asked(request: Mapping[str, Any]) -> object:
        try:
            return await operation(request)
        except StoreError as error:
            raise Refusal(str(error)) from error

    return asked
