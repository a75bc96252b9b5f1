"""Carries out a headless run: starts the agent, hears it out, stops all that it started."""

import asyncio
import os
import secrets
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from batonpass.agents import processes, readable
from batonpass.agents.base import LaunchError
from batonpass.agents.headless import (
    TIMEOUT,
    Began,
    Command,
    Headless,
    HeadlessOrder,
    HeadlessResult,
    Overheard,
)
from batonpass.agents.setbacks import TriesAgain, kind_of, resets_at
from batonpass.clock import Clock, SystemClock
from batonpass.transcripts.events import Event, Failed, Said, Used
from batonpass.transcripts.lines import Splitter

Tell = Callable[[Event], None]
Events = tuple[Event, ...]

_BLOCK = 64 << 10
_QUOTED = 500
_LAST_WORDS = 4096  # of standard error, for the sentence that says what went wrong
_PATIENCE = 5.0  # from the request to end to the end by force
_SAME = 2.0
_LOOKS = 5
_DRAIN = 1.0  # for what is left in the pipes when the agent has ended


async def run(agent: Headless, order: HeadlessOrder, tell: Tell, clock: Clock | None = None) -> HeadlessResult:
    """Run an order to its end, telling each event as it comes; the last one is the usage, where it is known.

    Whatever happens, also when this is cancelled, more than once even, nothing that was started goes on, as far as the
    system shows it (see `_stop`). Raises LaunchError when nothing could be started, and what `tell` raises.
    """
    clock = clock or SystemClock()
    command = agent.command(order)
    record = _Record(agent, order, clock)
    talk = _Talk(agent, tell, clock, ends=clock.now() + order.seconds)
    timed_out, mark = False, f"BATON_RUN_{secrets.token_hex(8)}"  # of its own: a run within a run has both
    with command.around:
        async with _pipe() as out, _pipe() as errors:
            process = await _started(command, order, mark, out, errors)
            try:
                await clock.within(talk.hear_out(process, command.stdin, out.reader, errors.reader), order.seconds)
            except (TimeoutError, _TooLate):
                timed_out = True
            finally:
                await _stop(process, mark)
    return record.result(talk, process.returncode or 0, timed_out)


@dataclass(slots=True)
class _Pipe:
    """A pipe to hear a process by; `end` is for it to write into, and ours no more once it has it."""

    reader: asyncio.StreamReader
    end: int | None

    def close_end(self) -> None:
        if self.end is not None:  # only once: the number may be another file's by now
            os.close(self.end)
            self.end = None


@asynccontextmanager
async def _pipe() -> AsyncIterator[_Pipe]:
    # Ours and not the process's: what the agent leaves running may hold its end open for ever.
    read, write = os.pipe()
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, os.fdopen(read, "rb"))
    pipe = _Pipe(reader, write)
    try:
        yield pipe
    finally:
        pipe.close_end()
        transport.close()


async def _started(
    command: Command, order: HeadlessOrder, mark: str, out: _Pipe, errors: _Pipe
) -> asyncio.subprocess.Process:
    try:
        process = await asyncio.create_subprocess_exec(
            *command.argv,
            # Some agents take the folder from PWD and not from where they are.
            env={**command.env, "PWD": str(order.folder), mark: "1"},
            cwd=order.folder,
            stdin=asyncio.subprocess.PIPE,
            stdout=out.end,
            stderr=errors.end,
            start_new_session=True,
        )
    except (OSError, ValueError) as problem:
        what = getattr(problem, "strerror", None) or str(problem)
        raise LaunchError(f"{command.argv[0]} could not be started in {order.folder} ({what}).") from None
    out.close_end()
    errors.close_end()
    return process


class _TooLate(Exception):
    """It would try again only when its time is up."""


class _Talk:
    """What was heard in one run."""

    def __init__(self, agent: Headless, tell: Tell, clock: Clock, ends: float) -> None:
        self._agent, self.tell, self._clock, self._ends = agent, tell, clock, ends
        self.tries: TriesAgain | None = None  # as long as nothing else was heard since
        self._began = False
        self.heard = False
        self.said: str | None = None
        self.failed: Failed | None = None
        self.last_words = b""

    async def hear_out(
        self,
        process: asyncio.subprocess.Process,
        stdin: bytes,
        out: asyncio.StreamReader,
        errors: asyncio.StreamReader,
    ) -> None:
        """Until the agent has ended, and what it had printed by then is heard. Raises what `tell` raises, at once."""
        listening: asyncio.Future[Any] = asyncio.gather(self._listen(out), self._keep(errors))
        working: asyncio.Future[Any] = asyncio.ensure_future(_worked(process, stdin))
        try:
            # With nobody to hear it, the agent would work on until its pipe is full, and stand still then.
            await asyncio.wait({listening, working}, return_when=asyncio.FIRST_COMPLETED)
            if listening.done():
                listening.result()
            await working
            _end_group(process)  # or what it left running holds the pipes open
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(listening), _DRAIN)
        finally:
            listening.cancel()
            working.cancel()
            await asyncio.gather(listening, working, return_exceptions=True)

    async def _listen(self, stream: asyncio.StreamReader) -> None:
        splitter = Splitter()
        while block := await stream.read(_BLOCK):
            for line, _ in splitter.feed(block):
                self._hear(line)
        for line, _ in splitter.feed(b"\n"):
            self._hear(line)

    async def _keep(self, stream: asyncio.StreamReader) -> None:
        splitter = Splitter()
        while block := await stream.read(_BLOCK):
            self.last_words = (self.last_words + block)[-_LAST_WORDS:]
            for line, _ in splitter.feed(block):
                self._overhear(line)

    def _overhear(self, line: bytes | None) -> None:
        if not line or not isinstance(self._agent, Overheard):
            return
        self.tries = self._agent.overhear(line, self._clock.now()) or self.tries
        if self.tries is not None and self.tries.at is not None and self.tries.at > self._ends:
            raise _TooLate

    def _hear(self, line: bytes | None) -> None:
        if not line:
            return
        at = self._clock.now()
        heard = list(self._agent.hear(line, at))
        told = self._agent.told
        if told.agent_session and not self._began:
            self._began = True
            self.tell(Began(at, told.agent_session, told.model))
        for event in heard:
            self.heard, self.tries = True, None
            if isinstance(event, Said):
                self.said = event.text
            elif isinstance(event, Failed):
                self.failed = event
            self.tell(event)


async def _worked(process: asyncio.subprocess.Process, stdin: bytes) -> None:
    """Give it its prompt, and wait for its end."""
    assert process.stdin is not None
    with suppress(ConnectionError):  # it may end without having read
        process.stdin.write(stdin)
        await process.stdin.drain()
    process.stdin.close()
    await process.wait()


class _Record:
    """The conversation's own record, and where it stood before the run."""

    def __init__(self, agent: Headless, order: HeadlessOrder, clock: Clock) -> None:
        self._agent, self._order, self._clock = agent, order, clock
        session = order.resume or agent.told.agent_session
        self._past = agent.reads.past(session, order.env) if session else None
        self._before = agent.reads.record(self._past.transcript).read().events if self._past else ()

    def result(self, talk: _Talk, status: int, timed_out: bool) -> HeadlessResult:
        told = self._agent.told
        session = told.agent_session or self._order.resume
        whole, news = self._read(session)
        reading = readable.of_events(self._agent.reads, session or "", whole, self._order.env, window=told.window)
        for event in _untold(talk, news):
            talk.tell(event)
        failed = _tried(talk) if timed_out else _failure(talk, news, status, self._clock.now())
        error, detail = (failed.kind, failed.text) if failed else (None, "")
        if timed_out and failed is None:
            error, detail = TIMEOUT, f"it was stopped after {self._order.seconds:g} s"
        return HeadlessResult(
            agent=self._agent.name,
            agent_session=session,
            text=talk.said if talk.said is not None else _last_said(news),
            used=reading.used,
            window=reading.window,
            usable=reading.usable,
            exit=status,
            error=error,
            detail=detail,
            until=_until(talk, failed),
        )

    def _read(self, session: str | None) -> tuple[Events, Events]:
        """All events of the conversation, and those of this run."""
        past = self._agent.reads.past(session, self._order.env) if session else None
        if past is None:
            return (), ()
        whole = self._agent.reads.record(past.transcript).read().events
        begun = len(self._before) if whole[: len(self._before)] == self._before else 0
        return whole, whole[begun:]


def _untold(talk: _Talk, news: Events) -> Events:
    """The usage; and for an agent that prints nothing that could be heard, all that its record tells."""
    if not talk.heard:
        return news
    return tuple([event for event in news if isinstance(event, Used)][-1:])


def _last_said(news: Events) -> str:
    return next((event.text for event in reversed(news) if isinstance(event, Said)), "")


def _failure(talk: _Talk, news: Events, status: int, now: float) -> Failed | None:
    """What went wrong, in kind and words. The record names the kind more exactly than what is printed.

    What nobody dates went wrong now: a wait that is told in hours counts from there.
    """
    recorded = next((event for event in reversed(news) if isinstance(event, Failed | Said)), None)
    failed = recorded if isinstance(recorded, Failed) else talk.failed
    if failed is not None:
        words = failed.text or (talk.failed.text if talk.failed else "")
        return _named(replace(failed, at=failed.at or now, text=words))
    if status:
        words = " ".join(talk.last_words.decode("utf-8", "replace").split())
        return _named(Failed(now, "other", words[-_QUOTED:] or f"it ended with status {status} and said nothing"))
    return None


def _tried(talk: _Talk) -> Failed | None:
    """Why it stood still when it was stopped: it had been refused, and waited for another try."""
    return _named(talk.tries.failed) if talk.tries else None


def _named(failed: Failed) -> Failed:
    """The end of a quota is told apart from a limit for a moment by its words."""
    return replace(failed, kind=kind_of(failed.kind, failed.text) or failed.kind)


def _until(talk: _Talk, failed: Failed | None) -> float | None:
    if failed is None or kind_of(failed.kind, failed.text) is None:
        return None
    return (talk.tries.at if talk.tries else None) or resets_at(failed.text, failed.at)


def _end_group(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


async def _stop(process: asyncio.subprocess.Process, mark: str) -> None:
    """End the agent, if it has not ended, and what it leaves behind.

    That is what is in its process group, below itself, or has the run's mark in its environment: only what was
    started with an environment of its own and went its own way before the end cannot be told from others'.
    """
    family = {pid: processes.started(pid) for pid in processes.with_descendants(process.pid)}
    try:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.terminate()
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _PATIENCE)
    finally:  # also when this is cancelled: then without patience
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
        _end_group(process)
        _end_family(process.pid, family)
        _end_marked(mark)
        await process.wait()  # its end is at hand: nothing of it is left to the loop


def _end_family(agent: int, family: Mapping[int, float | None]) -> None:
    for pid, started in family.items():
        # A number may belong to another process by now; the system's word on when one began is good to a second.
        now = processes.started(pid)
        if pid != agent and started is not None and now is not None and abs(now - started) < _SAME:
            _kill(pid)


def _end_marked(mark: str) -> None:
    for _ in range(_LOOKS):  # one may have started another while it was looked for
        marked = [pid for pid in processes.everyone() if mark in processes.environment(pid) and processes.alive(pid)]
        for pid in marked:
            _kill(pid)
        if not marked:
            return


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
