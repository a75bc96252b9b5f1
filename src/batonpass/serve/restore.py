"""Sessions that a reboot or the end of tmux took with it, brought back by their own ids or from their last handoffs."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from batonpass.agents.base import LaunchError, Past
from batonpass.cycle.giving import give_resumed
from batonpass.cycle.returning import STARTED_SECONDS
from batonpass.delivery import Channel, Delivery, tag
from batonpass.handoff import prompts
from batonpass.serve.api import Operation, Refusal
from batonpass.serve.sessions import Sessions
from batonpass.session import State
from batonpass.supervisor import orders
from batonpass.supervisor.daemon import Daemon
from batonpass.supervisor.health import DIED
from batonpass.supervisor.orders import Start, Successor
from batonpass.supervisor.watch import Watch
from batonpass.terminals.base import TerminalError

RESUMED, CONTINUED, LEFT = "resumed", "continued", "left"
# request, project, document, and how its agent was started
Continue = Callable[[Mapping[str, Any], Path, Path, Start], Awaitable[dict[str, object]]]


class Restore:
    """Brings back what was alive; what cannot be brought back is left as it is, with the reason."""

    def __init__(self, daemon: Daemon, sessions: Sessions, go_on: Continue) -> None:
        self.daemon, self.sessions, self._go_on = daemon, sessions, go_on
        self.supervisor, self.store = daemon.supervisor, daemon.store
        self._one_at_a_time = asyncio.Lock()  # a conversation must not be opened twice

    def table(self) -> dict[str, Operation]:
        return {"restore": self.restore}

    async def restore(self, request: Mapping[str, Any]) -> object:
        """One record for each session: how it was brought back, or why not. `dry` only tells what would be done."""
        wanted = [str(one) for one in request.get("sessions") or ()]
        watches = [self._named(one) for one in wanted] if wanted else self._lost()
        found: list[object] = []
        for watch in watches:
            async with self._one_at_a_time:
                found.append(await self._bring_back(watch, dry=bool(request.get("dry"))))
        return found

    def _lost(self) -> list[Watch]:
        """Sessions that were alive when their tmux server went: not those that died before, nor any that was closed."""
        return [watch for watch in self.supervisor.watches.values() if self._dead(watch) and self._with_server(watch)]

    def _named(self, wanted: str) -> Watch:
        watch = self.sessions.meant({"session": wanted})
        if not self._dead(watch):
            raise Refusal(f"{watch.session.name} is {watch.session.state}; only what died can be brought back", 3)
        return watch

    def _dead(self, watch: Watch) -> bool:
        return watch.gone and watch.session.state is not State.ENDED

    def _with_server(self, watch: Watch) -> bool:
        return watch.session.state is not State.DEAD or self._death(watch).get("server") is True

    def _death(self, watch: Watch) -> Mapping[str, object]:
        events = self.store.events(session=watch.session.id, name=DIED)
        return max(events, key=lambda event: event.id).data if events else {}

    async def _bring_back(self, watch: Watch, *, dry: bool) -> dict[str, object]:
        session, past = watch.session, self._past(watch)
        record: dict[str, object] = {
            "session": session.id, "name": session.name, "agent": session.agent, "project": str(session.project),
            "agent_session": session.agent_session,
        }  # fmt: skip
        document = self._document(watch)
        if reason := self._reason_to_leave(watch, past, document):
            return {**record, "how": LEFT, "why": reason}
        if dry:
            return {**record, "how": RESUMED if past else CONTINUED, "why": "not done, only looked at"}
        try:
            if past:
                return {**record, **await self._resume(watch)}
            assert document is not None
            return {**record, **await self._continue(watch, document)}
        except (Refusal, LaunchError, TerminalError, OSError) as error:
            return {**record, "how": LEFT, "why": f"it could not be started: {error}"}

    def _past(self, watch: Watch) -> Past | None:
        """The session's own conversation, if its agent still has it on record."""
        return watch.agent.past(watch.session.agent_session, watch.env) if watch.session.agent_session else None

    def _document(self, watch: Watch) -> Path | None:
        last = self.store.last_handoff(session=watch.session.id)
        return last.path if last is not None and last.path.is_file() else None

    def _reason_to_leave(self, watch: Watch, past: Past | None, document: Path | None) -> str | None:
        session = watch.session
        if not self._dead(watch):  # somebody else was faster
            return f"it is {session.state} already"
        if self.store.running_cycle(session.id) is not None or self.supervisor.starter.starting(session.id):
            return "a handoff of it is under way; see: baton cycles list"
        if past is not None and past.pid is not None:
            return f"its conversation {past.agent_session} runs already, as process {past.pid}"
        if not session.project.is_dir():
            return f"its folder {session.project} is not there any more"
        if past is None and document is None:
            return "its agent has no record of it, and it has no handoff"
        if orders.read(watch.folder, session.agent) is None:
            return f"it was adopted, so how it was started is not known; go on with: baton continue --from {session.id}"
        return None

    async def _resume(self, watch: Watch) -> dict[str, object]:
        """The same conversation in a new pane; one that was in the middle of a turn is told to go on."""
        was_busy = (self._death(watch).get("was") or str(watch.session.state)) == State.BUSY
        mark = tag(self.daemon.new_id(), "restored", 1) if was_busy else None
        kick = prompts.restored(mark) if mark and watch.agent.resumes_with_prompt else None
        socket = watch.session.pane.socket if watch.session.pane else self.daemon.config(None).tmux.socket
        await self.daemon.launcher.reopen_pane(watch, kick=kick, resume=watch.session.agent_session, socket=socket)
        self.supervisor.persist(watch)
        self.daemon.follow_files()
        told = "it was told to go on" if was_busy else "it was idle, and waits for you"
        if mark is not None and kick is None:
            told = await self._tell(watch, mark)
        return {"how": RESUMED, "why": told, "attach": await self.sessions.attach(watch)}

    async def _tell(self, watch: Watch, mark: str) -> str:
        """Have one that hears no prompt at its start told to go on once it runs; what came of it."""
        text, now = prompts.restored(mark), self.daemon.clock.now()
        given = Delivery.alone(mark, watch.session.id, Channel.KEYS, text, now)
        self.store.save_delivery(given)
        failed = await give_resumed(self.daemon.stage, watch, given, watch.session.agent_session, STARTED_SECONDS)
        return f"it could not be told to go on, and waits for you: {failed}" if failed else "it was told to go on"

    async def _continue(self, watch: Watch, document: Path) -> dict[str, object]:
        """A new conversation from the last handoff, since the old one cannot be resumed."""
        session, order = watch.session, orders.read(watch.folder, watch.session.agent)
        assert order is not None
        request = {"agent": session.agent, "name": session.name, "env": order.env, "ladder": session.ladder}
        like = orders.carried(watch.folder, session, Successor(session.agent))
        answer = await self._go_on(request, session.project, document, like)
        watch.session = replace(session, state=State.ENDED, ended=self.daemon.clock.now())
        self.supervisor.persist(watch)
        orders.forget(watch.folder)
        return {"how": CONTINUED, "why": f"from {document.name}", "successor": answer["session"],
                "attach": answer["attach"]}  # fmt: skip
