"""Sessions that a reboot or the end of tmux took with it, brought back by their own ids or from their last handoffs."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from batonpass.agents.base import LaunchError, Past, Status
from batonpass.cycle.returning import STARTED_SECONDS
from batonpass.delivery import Channel, Delivery, tag
from batonpass.handoff import prompts
from batonpass.serve.api import Operation, Refusal
from batonpass.serve.sessions import Sessions
from batonpass.session import Session, State
from batonpass.supervisor import orders
from batonpass.supervisor.coming_back import Came, came_back
from batonpass.supervisor.daemon import Daemon
from batonpass.supervisor.health import DIED
from batonpass.supervisor.orders import Start, Successor
from batonpass.supervisor.promises import STEP
from batonpass.supervisor.watch import RESTORING, Watch
from batonpass.terminals.base import TerminalError

RESUMED, CONTINUED, WAITING, LEFT = "resumed", "continued", "waiting", "left"
_AT_ONCE = 4  # some agents need a core for half a minute to start
Talk = tuple[str, str]  # an agent's name, and its own id of a conversation
# request, project, document, and how its agent was started
Continue = Callable[[Mapping[str, Any], Path, Path, Start], Awaitable[dict[str, object]]]


class Restore:
    """Brings back what was alive; what cannot be brought back is left as it is, with the reason."""

    def __init__(self, daemon: Daemon, sessions: Sessions, go_on: Continue) -> None:
        self.daemon, self.sessions, self._go_on = daemon, sessions, go_on
        self.supervisor, self.store = daemon.supervisor, daemon.store
        self._one_by_one: dict[Talk, asyncio.Lock] = {}  # a conversation must not be opened twice
        self._few = asyncio.Semaphore(_AT_ONCE)

    def table(self) -> dict[str, Operation]:
        return {"restore": self.restore}

    async def restore(self, request: Mapping[str, Any]) -> object:
        """One record for each session: how it was brought back, or why not. `dry` only tells what would be done."""
        wanted = [str(one) for one in request.get("sessions") or ()]
        watches = list(dict.fromkeys(self._named(one) for one in wanted)) if wanted else self._lost()
        planned: dict[Talk, Watch] | None = {} if request.get("dry") else None
        # Of several that have one conversation it is for the first: who came to it last, and can be started again.
        order = sorted(range(len(watches)), key=lambda n: _claim(watches[n].session))
        found = await asyncio.gather(*(self._in_turn(watches[n], planned) for n in order))
        return [one for _, one in sorted(zip(order, found, strict=True), key=lambda pair: pair[0])]

    async def _in_turn(self, watch: Watch, planned: dict[Talk, Watch] | None) -> dict[str, object]:
        async with self._one_by_one.setdefault(_talk(watch), asyncio.Lock()), self._few:
            return await self._bring_back(watch, planned)

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
        return self._went(watch.session, self._death(watch))

    def _went(self, session: Session, death: Mapping[str, object]) -> bool:
        return session.state is not State.DEAD or death.get("server") is True

    def _death(self, watch: Watch) -> Mapping[str, object]:
        events = self.store.events(session=watch.session.id, name=DIED)
        return max(events, key=lambda event: event.id).data if events else {}

    async def _bring_back(self, watch: Watch, planned: dict[Talk, Watch] | None) -> dict[str, object]:
        """With `planned`, who would have which conversation, it is only added there what would be done."""
        session, past = watch.session, self._past(watch)
        record: dict[str, object] = {
            "session": session.id, "name": session.name, "agent": session.agent, "project": str(session.project),
            "agent_session": session.agent_session,
        }  # fmt: skip
        document = self._document(watch)
        other = self._who_has_it(watch) or (planned or {}).get(_talk(watch))
        if reason := self._reason_to_leave(watch, past, document, other):
            return {**record, "how": LEFT, "why": reason}
        if planned is not None:
            planned.update({_talk(watch): watch} if past else {})
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

    def _reason_to_leave(
        self, watch: Watch, past: Past | None, document: Path | None, other: Watch | None
    ) -> str | None:
        """None when it can be brought back; `other` is the session that has its conversation."""
        session = watch.session
        if not self._dead(watch):  # somebody else was faster
            return f"it is {session.state} already"
        if self.store.running_cycle(session.id) is not None or self.supervisor.starter.starting(session.id):
            return "a handoff of it is under way; see: baton cycles list"
        if other is not None:
            opened = f"comes back in {other.session.name}" if other.gone else f"is open in {other.session.name} already"
            return f"its conversation {session.agent_session} {opened}"
        if past is not None and past.pid is not None:
            return f"its conversation {past.agent_session} runs already, as process {past.pid}"
        if not session.project.is_dir():
            return f"its folder {session.project} is not there any more"
        if past is None and document is None:
            again = f"cd {shlex.quote(str(session.project))} && baton run {session.agent}"
            return f"its agent has no record of it, and it has no handoff; begin anew with: {again}"
        if orders.read(watch.folder, session.agent) is None:
            return f"it was adopted, so how it was started is not known; go on with: baton continue --from {session.id}"
        return None

    def _who_has_it(self, watch: Watch) -> Watch | None:
        """Another session that has gone to this one's conversation; one beside it in the folder is no such."""
        others = (one for one in self.supervisor.watches.values() if one is not watch and not one.gone)
        return next((one for one in others if _talk(one) == _talk(watch)), None)

    async def _resume(self, watch: Watch) -> dict[str, object]:
        """The same conversation in a new pane, once its agent says that it has it.

        One that was in the middle of a turn is told to go on. One that ends at its start goes on from its last handoff.
        """
        before, death = watch.session, self._death(watch)
        cut_off = (death.get("was") or str(before.state)) == State.BUSY
        socket = before.pane.socket if before.pane else self.daemon.config(None).tmux.socket
        watch.step = RESTORING
        try:
            owed = self.daemon.promises.of(watch) or (self._owed(watch) if cut_off else None)
            kick = owed.text if owed and watch.agent.resumes_with_prompt else None
            if owed:  # before the start: a crash right after it must not lose it
                owed = replace(owed, channel=Channel.ARGV if kick else Channel.KEYS)
                self.daemon.promises.make(watch, owed)
            await self.daemon.launcher.reopen_pane(watch, kick=kick, resume=before.agent_session, socket=socket)
            self.supervisor.persist(watch)
            self.daemon.looks.follow()
            came = await came_back(watch, STARTED_SECONDS)
            if came is Came.ENDED:
                return await self._refused(watch, before, death)
        finally:
            watch.step = None
            watch.changed()
        return {**await self._standing(watch, came, owed), "attach": await self.sessions.attach(watch)}

    def _owed(self, watch: Watch) -> Delivery:
        mark = tag(self.daemon.new_id(), STEP, 1)
        text, now = prompts.restored(mark), self.daemon.clock.now()
        return Delivery.alone(mark, watch.session.id, Channel.KEYS, text, now)

    async def _standing(self, watch: Watch, came: Came, owed: Delivery | None) -> dict[str, object]:
        """How it is now, and what it was told or will be."""
        if came is not Came.THERE:
            what = f"it stands at a dialog ({watch.dialog or watch.status.waiting_for or 'see its pane'})"
            then = "it is told to go on once that is answered" if owed else "it waits for you"
            if came is Came.SILENT:
                what = "it was started, and has not said yet that it has its conversation"
                then = "it is told to go on once it has" if owed else "look at it in its pane"
            return {"how": WAITING, "why": f"{what}; {then}"}
        if owed is None:
            return {"how": RESUMED, "why": "it was idle, and waits for you"}
        if owed.channel is Channel.ARGV:
            return {"how": RESUMED, "why": "it was told to go on"}
        why = await self.daemon.promises.carry_out(watch, STARTED_SECONDS)
        return {"how": RESUMED, "why": f"it is told to go on once it can be: {why}" if why else "it was told to go on"}

    async def _refused(self, watch: Watch, before: Session, death: Mapping[str, object]) -> dict[str, object]:
        """Its agent ended at its start: from its last handoff, where it has one; else it is dead as it was."""
        words = await self.daemon.launcher.last_words(watch)
        why = f"{before.agent} ended at its start{f', its last words: {words}' if words else ''}"
        pane = watch.session.pane
        if pane is not None:
            with suppress(TerminalError):
                await self.daemon.terminal(pane.socket).close(pane)
        watch.session = replace(watch.session, name=before.name, state=State.DEAD)
        watch.status = Status(State.DEAD)
        self.supervisor.persist(watch)
        told = {**death, "why": why, "was": death.get("was") or str(before.state), "server": self._went(before, death)}
        self.store.add_event(DIED, self.daemon.clock.now(), before.id, None, told)
        document = self._document(watch)
        if document is None:
            help_ = f"it has no handoff; go on from its record with: baton continue --from {before.id}"
            return {"how": LEFT, "why": f"{why}; {help_}"}
        continued = await self._continue(watch, document)
        return {**continued, "why": f"{continued['why']}, for {why}"}

    async def _continue(self, watch: Watch, document: Path) -> dict[str, object]:
        """A new conversation from the last handoff, since the old one cannot be resumed."""
        session, order = watch.session, orders.read(watch.folder, watch.session.agent)
        assert order is not None
        request = {"agent": session.agent, "name": session.name, "env": order.env, "ladder": session.ladder}
        like = orders.carried(watch.folder, session, Successor(session.agent))
        answer = await self._go_on(request, session.project, document, like)
        watch.session = replace(session, state=State.ENDED, ended=self.daemon.clock.now())
        self.supervisor.persist(watch)
        self.daemon.promises.withdraw(watch)
        orders.forget(watch.folder)
        return {"how": CONTINUED, "why": f"from {document.name}", "successor": answer["session"],
                "attach": answer["attach"]}  # fmt: skip


def _talk(watch: Watch) -> Talk:
    """Its conversation; one that has no id yet is no other session's."""
    return watch.agent.name, watch.session.agent_session or watch.session.id


def _claim(session: Session) -> tuple[bool, float]:
    """What sorts first who should have a conversation that several had: nobody knows how to start an adopted one."""
    return session.adopted, -session.created
