"""The daemon: one per user and host.

It wires everything together, and stops by ending: what is under way goes on at the next start, exactly as
after a crash.
"""

import asyncio
import ctypes
import logging
import os
import secrets
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from batonpass import __version__, notify
from batonpass.clock import Clock, SystemClock
from batonpass.cycle.case import Case
from batonpass.cycle.giving import give, give_resumed
from batonpass.cycle.stage import Hold, Probe, Stage, at_once, nothing
from batonpass.cycle.workflow import Engine
from batonpass.cycle.writing import draft_from_facts
from batonpass.disk import write_private
from batonpass.handoff.redact import Allow, patterns, redact
from batonpass.home import home, socket_path
from batonpass.serve.api import Api
from batonpass.session import State
from batonpass.store import CycleRecord, Store, StoreAway, StoreError, default_url, open_store
from batonpass.supervisor import state
from batonpass.supervisor.act import Supervisor
from batonpass.supervisor.health import Health
from batonpass.supervisor.keys import Keys
from batonpass.supervisor.launch import PaneLauncher
from batonpass.supervisor.looks import Looks
from batonpass.supervisor.outage import Outage
from batonpass.supervisor.panes import Panes
from batonpass.supervisor.promises import Promises
from batonpass.supervisor.setbacks import Setbacks
from batonpass.supervisor.settings import Settings
from batonpass.supervisor.slots import Slots, StoreLease
from batonpass.supervisor.spool import Spool
from batonpass.supervisor.state import AlreadyRunning
from batonpass.supervisor.tidy import Tidy
from batonpass.supervisor.watch import Watch
from batonpass.terminals.base import Terminal, TerminalError
from batonpass.terminals.text import printable

log = logging.getLogger(__name__)

_LOOK_SECONDS = 1.0
_BEAT_SECONDS = 10.0
_ARENA_MAX = -8, 2  # of mallopt(3): the parameter, and how many heaps
_IDLE_SECONDS = 900.0  # any command or hook that needs a daemon starts one again


class Daemon:
    """Owns the sessions of this host. `run` returns when it was asked to stop."""

    def __init__(self, root: Path, env: Mapping[str, str], clock: Clock | None = None) -> None:
        self.home, self.env = root, env
        self.clock: Clock = clock or SystemClock()
        self.pid = os.getpid()
        self.started = self.clock.now()
        self.config = Settings(root, env)
        state.prepare(root, self._allowed)
        self._lock = state.lock(root)
        self.host = state.host_id(root)
        url = self.config(None).store or default_url(root)
        self.store: Store = open_store(url, self._allowed)
        lease = StoreLease(self.store, self.host) if self.store.shared else None
        self._panes = Panes()
        self.supervisor = Supervisor(self.store, self.clock, self.config, self.tell)
        self.launcher = PaneLauncher(root, self.host, self.clock, self.terminal, self.tell)
        probe, hold = _rehearsal(root, env)
        self.stage = Stage(
            store=self.store,
            clock=self.clock,
            keys=Keys(self._panes, self.clock, probe),
            slots=Slots(self.config(None).max_concurrent, lease),
            launcher=self.launcher,
            host=self.host,
            watch=self.supervisor.watch,
            config=self.config,
            known=self.supervisor.known,
            notify=self.tell,
            probe=probe,
            hold=hold,
        )
        self._engine = Engine(url, self.host, self.stage)
        self._health = Health(self.supervisor, self.terminal, self._bring_back)
        self._setbacks = Setbacks(self.supervisor, partial(give, self.stage))
        self.promises = Promises(self.supervisor, partial(give_resumed, self.stage))
        self._looking_at_setbacks: asyncio.Task[None] | None = None
        self.spool = Spool(root, self.store, self.host)
        self.outage = Outage(self.store, self.clock, self._catch_up)
        self._tidy = Tidy(self.supervisor, self.store, self.config, root, self.host, self._engine.forget)
        self._beaten = 0.0
        self.looks = Looks(self.supervisor, self.launcher.draft_dir)
        self._stopping = asyncio.Event()
        self._last_needed = self.clock.ticks()

    def _allowed(self) -> Allow:
        """What looks like a secret and is none, by the user's own configuration: no project may say so."""
        return patterns(self.config(None).redact_allow)

    def new_id(self) -> str:
        return secrets.token_hex(4)

    def terminal(self, socket: str) -> Terminal:
        return self._panes.server(socket)

    async def tell(self, session: str, text: str) -> None:
        """One sentence for a person, kept in the store and shown wherever somebody may look."""
        watch = self.supervisor.watch(session)
        config = self.config(watch.session.project if watch else None)
        sentence = redact(printable(text), allow=patterns(config.redact_allow))[0]
        self.store.add_event("NOTIFICATION", self.clock.now(), session, None, {"text": sentence})
        log.info("told: %s", sentence)
        wishes = config.notify
        if watch is not None and watch.session.pane is not None:
            try:
                await self._panes.tell(watch.session.pane, f"baton: {sentence}")
            except TerminalError as error:
                log.debug("not shown in the pane: %s", error)
        if wishes.desktop:
            await notify.desktop("Baton", sentence)
        if wishes.command:
            await notify.command(wishes.command, session, sentence)

    async def _bring_back(self, watch: Watch) -> None:
        """Start an agent that ended again, in its pane and with its conversation."""
        await self.launcher.respawn(watch, kick=None, resume=watch.conversation.agent_session)

    async def prime_again(self, watch: Watch) -> None:
        """The agent is about to compact: lay out what a machine knows, so that the context is primed again."""
        if watch.step is not None and self.stage.offers(watch).primed("compact"):
            return  # a cycle lays out its own, and a better one
        cycle = CycleRecord(
            id=self.new_id(), session=watch.session.id, host=self.host, cause="the agent compacted itself",
            started=self.clock.now(), old_agent_session=watch.conversation.agent_session or None,
        )  # fmt: skip
        case = Case(self.stage, cycle, watch, self.config(watch.session.project))
        await draft_from_facts(case, await case.facts())

    # -- life ----------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Serve until asked to stop."""
        from batonpass.serve.operations import Operations

        operations = self._operations = Operations(self)
        self.looks.start()
        for session in self.store.sessions(live=True, host=self.host):
            self.supervisor.reopen(self.launcher.reopen(session))
        await self._health.look()
        # Reports that came while nobody was here are older than any that the socket will bring.
        await self.spool.replay(operations.hook)
        await self._engine.start()
        self.supervisor.starter.pass_baton = self._engine.pass_baton
        api = Api(Path(socket_path(str(self.home))), operations.table())
        await api.start()
        self._note_argv()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self.stop)
        self.looks.follow()
        await self._catch_up()
        log.info("baton %s watches %d sessions", __version__, len(self.supervisor.watches))
        try:
            await self._look_round()
        finally:
            await api.stop()
            await self._panes.aclose()

    async def _catch_up(self) -> None:
        """Act on what came due while there was no daemon or no database.

        Reports that could not be used are heard again, cycles that were noted down and never begun are begun,
        and every session is considered: one that idles brings no new reading.
        """
        await self.spool.replay(self._operations.hook)
        for cycle in self.store.cycles(host=self.host, running=True):
            if not self.supervisor.starter.starting(cycle.session):
                await self._engine.take_up(cycle)
        for watch in list(self.supervisor.watches.values()):
            if not watch.gone:
                self.supervisor.consider(watch)

    async def _look_round(self) -> None:
        while not self._stopping.is_set():
            try:
                await self._look()
            except StoreAway:
                log.debug("the look round was cut short: the store is away")
            except Exception:
                log.exception("the look round failed; it goes on")
            if self._not_wanted():
                self.stop()
            try:
                await asyncio.wait_for(self._stopping.wait(), _LOOK_SECONDS)
            except TimeoutError:
                continue

    async def _look(self) -> None:
        """One round. While the database is away sessions are still looked at, and what is found is kept."""
        away = await self.outage.lasts()
        await self._health.look()
        self.looks.follow()
        if not away:
            self.supervisor.consider_again()
        if not away and (self._looking_at_setbacks is None or self._looking_at_setbacks.done()):
            # Beside the look round: somebody may have to be waited for before anything can be typed.
            self._looking_at_setbacks = asyncio.create_task(self._look_at_setbacks())
        now = self.clock.now()
        if not away and abs(now - self._beaten) >= _BEAT_SECONDS:  # also when the clock was set back
            self.store.beat(self.host, now, name=socket.gethostname(), version=__version__)
            self.stage.slots.renew()
            self._beaten = now
        if not away:
            await self._tidy.look(now)

    async def _look_at_setbacks(self) -> None:
        try:
            await self._setbacks.look()
            await self.promises.look()
        except StoreAway:
            log.debug("setbacks are looked at again when the store is back")
        except Exception:
            log.exception("the look at setbacks failed; it is taken again")

    def _not_wanted(self) -> bool:
        """A daemon whose home was removed, or that has had nothing to watch for a while, ends by itself."""
        try:
            if os.stat(self.home / "run" / "lock").st_ino != os.fstat(self._lock).st_ino:
                return True
        except FileNotFoundError:
            return True
        now = self.clock.ticks()
        if any(watch.session.state not in (State.ENDED, State.DEAD) for watch in self.supervisor.watches.values()):
            self._last_needed = now
        return now - self._last_needed >= _IDLE_SECONDS

    def stop(self, *, by_person: bool = False) -> None:
        if by_person:
            (self.home / "run" / "stopped").touch(mode=0o600)
        self._stopping.set()

    def _note_argv(self) -> None:
        """How hooks start a daemon that is away; a person's `stop` is respected until the next start."""
        (self.home / "run" / "stopped").unlink(missing_ok=True)
        argv = [sys.executable, "-m", "batonpass._entry", "daemon", "run"]
        write_private(self.home / "run" / "daemon.argv", "\0".join(argv), durable=False)


def _rehearsal(root: Path, env: Mapping[str, str]) -> tuple[Probe, Hold]:
    """Nothing, but for rehearsals of crashes."""
    if not env.get("BATON_CHAOS"):
        return nothing, at_once
    from batonpass.sim import chaos

    return chaos.probe(env[chaos.ENV], root), chaos.hold


def _share_heaps() -> None:
    """Have all threads share two heaps. With one for each of them, as the C library would have it, most of what they
    give back lies about in pieces, and in hours the daemon grows by that. Other C libraries do not do so."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(*_ARENA_MAX)


def main() -> int:
    """Run the daemon in this process until it is stopped."""

    root = Path(home(os.environ)).absolute()
    if os.environ.pop("BATON_REVIVED", "") and not (root / "run" / "daemon.argv").exists():
        return 0  # the home was removed while a hook was starting us: do not make it anew

    # A loop that answers hooks must not wait for its turn behind a thread that reads a long record: not 5 ms each time.
    sys.setswitchinterval(0.001)
    _share_heaps()

    async def serve() -> None:
        await Daemon(root, os.environ).run()

    try:
        asyncio.run(serve())
    except OSError as error:
        print(f"baton: {state.trouble(root, error)}", file=sys.stderr, flush=True)
        os._exit(1)  # threads of the engine may wait for what will not come
    except AlreadyRunning as error:
        print(f"baton: {error}", file=sys.stderr)
        return 3
    except StoreError as error:
        print(f"baton: {error}", file=sys.stderr)
        return 1
    # The engine's threads may hold a step that waits; it goes on at the next start, as after a crash.
    logging.shutdown()
    os._exit(0)
