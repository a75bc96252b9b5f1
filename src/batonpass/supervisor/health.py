"""The look round: what no event tells. Panes that died or vanished, dialogs nobody answers, hooks that do not fire."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

from batonpass.agents.base import BoxState, LaunchError, Status
from batonpass.agents.processes import alive, end
from batonpass.cycle.moves import Step
from batonpass.session import PaneRef, State
from batonpass.supervisor import orders
from batonpass.supervisor.act import Supervisor
from batonpass.supervisor.watch import RESTORING, Watch
from batonpass.terminals.base import PaneGone, PaneInfo, Terminal, TerminalError
from batonpass.terminals.last_words import last_words

log = logging.getLogger(__name__)

DIED = "SESSION_DIED"  # the event, with what the session did before, and whether tmux went with it
_STARTING = (Step.PASS, Step.BACK, RESTORING)
_DIALOG_SECONDS = 2.0  # a permission hook that is deciding looks like a dialog for a moment
_SETTLED_LOOKS = 10
_AGAIN_SECONDS = 60.0
_START_SECONDS = 4.0  # by then an agent has either said something or shows a dialog


class Health:
    """Looks at every session now and then, and says what a person should know, once."""

    def __init__(
        self,
        supervisor: Supervisor,
        terminal: Callable[[str], Terminal],
        bring_back: Callable[[Watch], Awaitable[None]],
    ) -> None:
        self._supervisor, self._terminal, self._bring_back = supervisor, terminal, bring_back
        self._brought_back: dict[str, float] = {}
        self._unreaped: set[str] = set()
        self._told: dict[str, str] = {}
        self._waiting_since: dict[str, float] = {}
        self._box_seen: dict[str, tuple[int | None, int]] = {}  # the process of a session, and looks in a row
        self._troubles: dict[str, str] = {}
        self._unheard: set[str] = set()
        self._unanswered: dict[str, int | None] = {}  # the process of a session that was told
        supervisor.also_forget.append(self.forget)

    def forget(self, session: str) -> None:
        """Let go of what was noted of a session that is not watched any more."""
        for noted in (self._brought_back, self._told, self._waiting_since, self._troubles):
            noted.pop(session, None)
        for about in (self._box_seen, self._unanswered):
            about.pop(session, None)
        self._unreaped.discard(session)
        self._unheard.discard(session)

    async def look(self) -> None:
        """One round over every live session."""
        panes: dict[str, dict[PaneRef, PaneInfo] | None] = {}
        for watch in list(self._supervisor.watches.values()):
            if watch.session.state in (State.ENDED, State.DEAD):
                continue  # only a new process, which a cycle starts, brings it back
            pane = watch.session.pane
            if pane is not None and pane.socket not in panes:
                panes[pane.socket] = await self._panes(pane.socket)
            try:
                await self._look_at(watch, panes[pane.socket] if pane is not None else None)
                self._say_once(watch.session.id, "")
            except OSError as error:  # no space, no descriptors: the others are looked at all the same
                self._say_once(watch.session.id, f"{watch.session.name} could not be looked at, and is again: {error}")

    async def _look_at(self, watch: Watch, panes: dict[PaneRef, PaneInfo] | None) -> None:
        if watch.session.pane is not None:
            await self._check_pane(watch, watch.session.pane, panes)
        if not watch.gone:
            watch.refresh()
            self._supervisor.follow_word(watch)
            self._supervisor.take_news(watch)
            await self._check_hooks(watch)
            await self._check_answers(watch)
            await self._tend(watch)
            await self._read_screen(watch)
            await self._check_dialog(watch)
            self._supervisor.show_line(watch)
        self._supervisor.persist(watch)

    def _say_once(self, subject: str, trouble: str) -> None:
        """Log a trouble when it begins and when it changes, not once a second while it lasts."""
        if trouble and self._troubles.get(subject) != trouble:
            log.warning("%s", trouble)
        self._troubles[subject] = trouble

    async def _panes(self, socket: str) -> dict[PaneRef, PaneInfo] | None:
        try:
            found = {info.ref: info for info in await self._terminal(socket).list()}
        except (TerminalError, OSError) as error:
            self._say_once(f"tmux {socket}", f"tmux does not answer, sessions are followed by their files: {error}")
            return None
        self._say_once(f"tmux {socket}", "")
        return found

    async def _check_pane(self, watch: Watch, pane: PaneRef, panes: dict[PaneRef, PaneInfo] | None) -> None:
        if panes is None:
            return
        info = panes.get(pane)
        pid = watch.session.pid
        if info is not None and info.dead and (info.dead_status is None or info.pid != pid):
            # tmux may have missed its end, and looks when asked for one; or it was replaced since they were listed.
            again = await self._asked_again(pane)
            if again is None and info.pid != pid:
                return  # who has the pane by now cannot be told
            info = again or info
        if info is not None and (watch.session.adopted or info.pid == watch.session.pid):
            watch.see_title(info.title)  # not that of a process which was replaced since they were listed
        if watch.step in _STARTING:
            return  # whoever starts it sees for itself whether it is there
        if info is None and await self._is_there(pane):
            return  # it was opened since they were listed
        if info is None:
            await end(watch.agent.leftovers(watch.binding), self._supervisor.clock)  # nobody could reach it any more
            server = all(ref.server_pid != pane.server_pid for ref in panes)
            await self._gone(watch, pid, "its pane is gone", closed=watch.leaving, server=server)
        elif info.dead and info.dead_status is None and alive(info.pid):
            return  # it has left its terminal and is about to end: how, is told then
        elif info.dead and info.dead_status is None and watch.session.id not in self._unreaped:
            self._unreaped.add(watch.session.id)  # its status is told a moment later
        elif info.dead and self._only_restarts(watch, info):
            self._brought_back[watch.session.id] = self._supervisor.clock.ticks()
            await self._come_back(watch)
        elif info.dead:
            closed = watch.leaving or info.dead_status == 0
            why = f"its process ended with status {info.dead_status}"
            if not closed and (words := await last_words(self._terminal(pane.socket), pane)):
                why = f"{why}; its last words: {words}"
            await self._gone(watch, pid, why, closed=closed)
        elif watch.session.adopted and watch.status.state is State.DEAD:
            await self._gone(watch, pid, "the agent in the pane has ended", closed=True)
        elif watch.status.state is State.DEAD:  # the pane's process has ended, and something of its own goes on there
            await end(watch.agent.leftovers(watch.binding), self._supervisor.clock)

    def _only_restarts(self, watch: Watch, info: PaneInfo) -> bool:
        """Whether the agent ended to be started again; one that does so again at once is left as it is."""
        if watch.session.adopted or watch.step is not None or watch.session.state is State.DEAD:
            return False
        last = self._brought_back.get(watch.session.id)
        soon = last is not None and self._supervisor.clock.ticks() - last < _AGAIN_SECONDS
        return not soon and watch.agent.restarts(info.dead_status, watch.binding)

    async def _come_back(self, watch: Watch) -> None:
        pid = watch.session.pid
        try:
            await self._bring_back(watch)
            log.info("%s restarted itself and was brought back with its conversation", watch.session.name)
        except (TerminalError, LaunchError) as error:
            await self._gone(watch, pid, f"it restarted itself and could not be brought back: {error}", closed=False)

    async def _asked_again(self, pane: PaneRef) -> PaneInfo | None:
        try:
            return await self._terminal(pane.socket).info(pane)
        except TerminalError:
            return None

    async def _is_there(self, pane: PaneRef) -> bool:
        try:
            await self._terminal(pane.socket).info(pane)
        except PaneGone:
            return False
        except TerminalError:
            return True  # who knows: it is looked at again in a moment
        return True

    async def _gone(self, watch: Watch, pid: int | None, why: str, *, closed: bool, server: bool = False) -> None:
        """A session that its user closed is over; one that died is kept, so that it can be continued.

        `pid` is the process that ended: finding out how takes a while, in which a cycle may have started the next one.
        `server` when the whole tmux server went, as at a reboot.
        """
        if watch.step in _STARTING or watch.session.pid != pid:
            return
        state = State.ENDED if closed else State.DEAD
        if watch.session.state in (state, State.ENDED):
            return
        now = self._supervisor.clock.now()
        if not closed:
            told = {"why": why, "was": str(watch.session.state), "server": server}
            self._supervisor.store.add_event(DIED, now, watch.session.id, None, told)
        watch.session = replace(watch.session, state=state, ended=now if closed else None)
        watch.status = Status(state)
        watch.changed()
        self._supervisor.persist(watch)
        try:
            await self._tend(watch)
        except OSError as error:
            log.warning("what %s left behind could not be put right: %s", watch.session.name, error)
        if closed:
            await self._close(watch)
        elif watch.step is None:
            name = watch.session.name
            if server:
                again = "bring back every session that went with it with: baton restore"
                await self._supervisor.notify(watch.session.id, f"{name} went with its tmux server; {again}")
                return
            rescue = f"what it knew is in its record, go on from that with: baton continue --from {watch.session.id}"
            await self._supervisor.notify(watch.session.id, f"{name} died: {why}; {rescue}")

    async def _tend(self, watch: Watch) -> None:
        for word in watch.agent.tend(watch.binding):
            await self._supervisor.notify(watch.session.id, f"{watch.session.name}: {word}")

    async def _close(self, watch: Watch) -> None:
        pane = watch.session.pane
        if pane is not None and not watch.session.adopted:
            try:
                await self._terminal(pane.socket).close(pane)
            except TerminalError as error:
                log.info("the pane of %s was not closed: %s", watch.session.name, error)
        orders.forget(watch.folder)

    async def _check_hooks(self, watch: Watch) -> None:
        """Hooks that were given and do not run are told once; all that they do is then done by record and keys."""
        session, store = watch.session, self._supervisor.store
        if session.adopted or watch.hooks_run is not False or session.id in self._unheard:
            return
        self._unheard.add(session.id)
        if store.events(session=session.id, name="HOOKS_UNHEARD", limit=1):
            return  # an earlier daemon has told it
        store.add_event("HOOKS_UNHEARD", self._supervisor.clock.now(), session.id, None, {})
        await self._supervisor.notify(
            session.id,
            f"{session.name}: {session.agent} does not run Baton's hooks (an administrator or its settings may forbid "
            "it); the session is followed by its record, and prompts are typed when it is idle",
        )

    async def _check_answers(self, watch: Watch) -> None:
        """An agent's own interface that was to be there and does not answer is told once for each process."""
        session, store = watch.session, self._supervisor.store
        told = session.id in self._unanswered and self._unanswered[session.id] == session.pid
        if told or watch.agent.answers(watch.binding) is not False:
            return
        self._unanswered[session.id] = session.pid
        if any(event.data.get("pid") == session.pid for event in store.events(session=session.id, name="UNANSWERED")):
            return  # an earlier daemon has told it
        store.add_event("UNANSWERED", self._supervisor.clock.now(), session.id, None, {"pid": session.pid})
        await self._supervisor.notify(
            session.id,
            f"{session.name}: {session.agent} does not answer on its port (another program may hold it); "
            "the session is followed by its record, and prompts are typed when it is idle",
        )

    async def _check_dialog(self, watch: Watch) -> None:
        session, now = watch.session, self._supervisor.clock.ticks()
        # Until its box has come to stay, an agent may call itself idle behind a dialog of its start.
        fresh = watch.status.state is State.IDLE and self._box_looks(session.id, session.pid) < _SETTLED_LOOKS
        silent = not watch.agent.says_waiting and (watch.status.state is State.BUSY or fresh)
        if silent or watch.status.state in (State.STARTING, State.UNKNOWN):
            await self._check_start(watch)
        else:
            watch.dialog = None
            watch.see_refusal(None)
        waiting = watch.status.waiting_for or "a dialog" if watch.status.state is State.WAITING else watch.dialog
        if waiting is None:
            self._waiting_since.pop(session.id, None)
            self._told.pop(session.id, None)
            return
        since = self._waiting_since.setdefault(session.id, now)
        if now - since >= _DIALOG_SECONDS and self._told.get(session.id) != waiting:
            self._told[session.id] = waiting
            await self._supervisor.notify(session.id, f"{session.name} waits for a person: {waiting}")

    async def _read_screen(self, watch: Watch) -> None:
        """Where neither status line nor transcript tells the usage, the screen may; else it is estimated."""
        pane = watch.session.pane
        if watch.reading is not None or watch.conversation.usage_told or pane is None or not watch.conversation.prompts:
            return
        now, reading = self._supervisor.clock.now(), None
        try:
            screen = await self._terminal(pane.socket).screen(pane)
            reading = watch.agent.screen_reading(screen, now, watch.conversation.agent_session)
        except TerminalError as error:
            log.debug("the screen of %s cannot be read: %s", watch.session.name, error)
        reading = reading or watch.estimate()
        if reading is not None:
            self._supervisor.take_reading(watch, reading)

    async def _check_start(self, watch: Watch) -> None:
        """An agent that says nothing yet may stand at a dialog that comes before its first hook."""
        pane, pid, now = watch.session.pane, watch.session.pid, self._supervisor.clock.now()
        if pane is None or 0 <= now - watch.session.created < _START_SECONDS:
            return
        try:
            screen = await self._terminal(pane.socket).screen(pane)
        except PaneGone:
            return
        except TerminalError as error:
            log.warning("the screen of %s cannot be read: %s", watch.session.name, error)
            return
        if watch.session.pid != pid:
            return  # another process was started meanwhile, and this is not its screen
        watch.dialog = watch.agent.dialog(screen)
        watch.see_refusal(watch.agent.refused(screen, self._supervisor.clock.now()))
        seen = watch.dialog is None and watch.agent.box(screen).state is not BoxState.UNKNOWN
        self._box_seen[watch.session.id] = pid, self._box_looks(watch.session.id, pid) + 1 if seen else 0

    def _box_looks(self, session: str, pid: int | None) -> int:
        """At how many looks in a row the box of this process was there."""
        process, looks = self._box_seen.get(session, (None, 0))
        return looks if process == pid else 0
