"""A handoff of a session that cannot be asked any more: dead, stuck at its limit, or never watched by Baton."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from batonpass import agents
from batonpass.agents.base import Past, Status
from batonpass.project import find
from batonpass.serve.api import Refusal
from batonpass.serve.hosts import where_else
from batonpass.session import Kind, Session, State
from batonpass.store import AmbiguousSession, CycleRecord, CycleState
from batonpass.supervisor import orders
from batonpass.supervisor.daemon import Daemon
from batonpass.supervisor.watch import Watch
from batonpass.transcripts.record import is_there

_WITHIN = 120.0
_LAG_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Rescued:
    """A session with its sealed handoff, and what was said of it before."""

    watch: Watch
    document: Path
    before: Session


class Rescue:
    """Seals a handoff from the record and the project alone, by the cycle that also serves a silent agent."""

    def __init__(self, daemon: Daemon) -> None:
        self.daemon = daemon
        self.supervisor = daemon.supervisor
        self.store = daemon.store

    async def seal(self, request: Mapping[str, Any]) -> Rescued:
        """Seal a handoff of the session that is meant; to be followed by `end` or `take_back`.

        Raises Refusal; then everything is as it was.
        """
        wanted = str(request.get("rescue"))
        watch = await self._known(wanted) or self._on_record(wanted, request)
        before = watch.session
        running = self.store.running_cycle(before.id)
        if running is not None or self.supervisor.starter.starting(before.id):
            raise Refusal(f"a handoff of {before.name} is under way already; see: baton cycles show", 3)
        if before.transcript is None or not is_there(before.transcript):
            raise Refusal(f"there is no record of {before.name} to rescue it from; see: baton handoffs list", 3)
        self.supervisor.starter.claim(watch)  # before it is read: what it reads must not start another cycle
        self._lay_out(watch)
        cycle = await self._sealed(watch)
        if cycle is None or cycle.state is not CycleState.PENDING or cycle.document is None:
            self._restore(watch, before)
            why = (cycle.note if cycle else None) or "the cycle did not end in time"
            raise Refusal(f"no handoff of {before.name} could be made: {why}; nothing was changed")
        return Rescued(watch, cycle.document, before)

    async def _sealed(self, watch: Watch) -> CycleRecord | None:
        id = await self.supervisor.starter.rescue(watch, "rescued from its record")
        if id is None:
            return None

        def over() -> bool:
            found = self.store.cycle(id)
            return watch.step is None and found is not None and found.ended is not None

        await watch.until(over, _WITHIN)
        return self.store.cycle(id)

    def _lay_out(self, watch: Watch) -> None:
        """To the cycle it is a session whose agent is gone; kept as that, so that a crash finds it again."""
        watch.session = replace(watch.session, state=State.DEAD, ended=None)
        watch.status = Status(State.DEAD)
        known = self.supervisor.watch(watch.session.id) is not None
        (self.supervisor.add if known else self.supervisor.reopen)(watch)
        watch.read()

    def take_back(self, rescued: Rescued) -> None:
        """No successor has taken over: the session is what it was before."""
        self._restore(rescued.watch, rescued.before)

    def _restore(self, watch: Watch, before: Session) -> None:
        watch.session = replace(watch.session, state=before.state, ended=before.ended)
        watch.status = Status(before.state)
        self.supervisor.persist(watch)

    def end(self, rescued: Rescued) -> None:
        """A successor has taken over: the session is not watched any more. Its pane, if it has one, stays."""
        watch = rescued.watch
        watch.session = replace(watch.session, state=State.ENDED, ended=self.daemon.clock.now())
        watch.status = Status(State.ENDED)
        watch.changed()
        self.supervisor.persist(watch)
        orders.forget(watch.folder)

    # -- who is meant ----------------------------------------------------------------------------------

    async def _known(self, wanted: str) -> Watch | None:
        """A session of Baton's by id, name or pane, or by the conversation that it has now. Raises Refusal."""
        here = self.daemon.host
        try:
            session = self.store.find_session(wanted, host=here) or self.store.find_session(wanted)
        except AmbiguousSession as error:
            raise Refusal(str(error), 2) from error
        if session is None:
            mine = self.store.sessions(host=here)
            session = next((one for one in reversed(mine) if wanted in (one.agent_session, str(one.transcript))), None)
        if session is None:
            return None
        if session.host != here:
            raise Refusal(where_else(self.store, session), 3)
        watch = self.supervisor.watch(session.id)
        if watch is None:
            folder = self.daemon.launcher.folder(session.id)
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            return self.daemon.launcher.reopen(session)
        await self._refuse_living(watch)
        return watch

    async def _refuse_living(self, watch: Watch) -> None:
        """One that lives and answers can write its handoff itself, and better.

        Whoever asks has seen its last turn fail on the screen, and its record lags behind that.
        """
        self.daemon.looks.at(watch)

        def over() -> bool:
            return watch.gone or (watch.idle() and watch.conversation.failure is not None)

        if not await watch.until(over, _LAG_SECONDS):
            name = watch.session.name
            raise Refusal(f"{name} lives, and its last turn did not fail; pass its baton with: baton handoff {name}", 3)

    def _on_record(self, wanted: str, request: Mapping[str, Any]) -> Watch:
        """A conversation that only its agent knows, as a session of Baton's that has ended. Raises Refusal."""
        env = {str(k): str(v) for k, v in (request.get("env") or {}).items()}
        given = request.get("agent")
        names = [str(given)] if given in agents.names() else agents.names()
        found = next(((name, past) for name in names if (past := agents.get(name).past(wanted, env))), None)
        if found is None:
            raise Refusal(f"neither Baton nor an agent knows '{wanted}'; give a session, a conversation's id "
                          "or the path of its transcript", 3)  # fmt: skip
        name, past = found
        if (process := past.pid or past.perhaps) is not None:
            runs = "still runs" if past.pid else "may still run"
            raise Refusal(f"conversation {past.agent_session} {runs}, as process {process}; close it there, "
                          "or watch it with: baton adopt", 3)  # fmt: skip
        if not past.folder.is_dir():
            raise Refusal(f"{past.folder}, where conversation {past.agent_session} worked, is not there any more", 3)
        return self._watch_of(name, past, env)

    def _watch_of(self, agent: str, past: Past, env: Mapping[str, str]) -> Watch:
        project = find(past.folder).root
        now = self.daemon.clock.now()
        session = Session(
            id=self.daemon.new_id(),
            name=project.name,
            agent=agent,
            kind=Kind.INTERACTIVE,
            project=project,
            host=self.daemon.host,
            pane=None,
            pid=None,
            agent_session=past.agent_session,
            transcript=past.transcript,
            model=None,
            permission_mode=None,
            ladder=None,
            chain=0,
            adopted=True,
            created=now,
            ended=now,
            state=State.ENDED,
        )
        folder = self.daemon.launcher.folder(session.id)
        folder.mkdir(parents=True, mode=0o700)
        return Watch(session, agents.get(agent), folder, env, self.daemon.clock)
