"""A tmux server, reached by the control connection where one can be had and by single commands where not.

A tmux before 3.7 crashes when it tells control clients of a session that came or went, or of a client
that left, just while another control client is being let in (tmux pull requests 4980 and 5004). With it
go all sessions of the user. So a connection is only made to a server that answers, where no session is
young, after our last connection is gone, and an attempt once begun is never broken off by a caller.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping, Sequence

from batonpass.terminals.base import TerminalError
from batonpass.terminals.control import (
    CONTROL_SESSION,
    Answer,
    CannotConnect,
    Command,
    Connection,
    ConnectionLost,
    Group,
    NoServer,
    no_server,
)

# How long single commands are used after a control connection was refused.
_REFUSED_SECONDS = 30.0
_NULL = asyncio.subprocess.DEVNULL


class OtherServer(TerminalError):
    """The server is not the one that was meant: it was restarted, and its ids mean other panes now."""


def socket_argv(socket: str) -> list[str]:
    """tmux with the flag that picks the server; never the one that a $TMUX in the environment names."""
    return ["tmux", "-S" if "/" in socket else "-L", socket or "default"]


def clean_env(env: Mapping[str, str]) -> dict[str, str]:
    """The environment without the marks of a tmux that this process itself may run in."""
    return {key: value for key, value in env.items() if key not in ("TMUX", "TMUX_PANE")}


class Server:
    """Runs commands on one tmux server, each call within the time limit."""

    def __init__(
        self,
        socket: str,
        env: Mapping[str, str],
        on_change: Callable[[], None],
        *,
        timeout: float,
        settle: float,
    ) -> None:
        self._argv = socket_argv(socket)
        self._env = clean_env(env)
        self._on_change = on_change
        self._timeout = timeout
        self._settle = settle
        self._connection: Connection | None = None
        self._making: asyncio.Task[Connection | None] | None = None
        self._direct_until = 0.0
        self._later: asyncio.TimerHandle | None = None

    async def pid(self) -> int | None:
        """The server's process id; None when no server runs."""
        try:
            [answer] = await self.run([[("display-message", "-p", "#{pid}")]], again=True)
        except NoServer:
            return None
        return int(answer.text) if answer.ok and answer.text.isdigit() else None

    async def run(
        self,
        groups: Sequence[Group],
        *,
        pid: int | None = None,
        start: bool = False,
        again: bool = False,
    ) -> list[Answer]:
        """One answer for each group of commands.

        With `pid`, nothing is run on any other server (OtherServer). With `start`, a server is started when
        none runs, else NoServer is raised. With `again`, a connection lost half-way is no error: the
        commands only read. A server that does not answer in time gives TerminalError.
        """
        what = groups[0][0][0]
        try:
            async with asyncio.timeout(self._timeout):
                try:
                    return await self._run(groups, pid, start)
                except ConnectionLost:
                    if not again:
                        raise
                    return await self._run(groups, pid, start)
        except TimeoutError:
            self._drop()
            raise TerminalError(
                f"tmux did not answer `{what}` within {self._timeout:g} s ({' '.join(self._argv)}); "
                "whether it was done is not known, and the next call uses a new connection."
            ) from None

    async def aclose(self) -> None:
        """End the connection, and with the last one Baton's own session."""
        if self._later is not None:
            self._later.cancel()
        if self._making is not None:
            await asyncio.wait({self._making})
        connection, self._connection = self._connection, None
        if connection is None:
            return
        await connection.close()
        # Not by `destroy-unattached`: tmux 3.3a may crash when a session goes while its client is leaving.
        own = f"={CONTROL_SESSION}:"
        last: Command = ("if-shell", "-F", "-t", own, "#{session_attached}", "", f"kill-session -t {own}")
        with contextlib.suppress(TerminalError, TimeoutError):
            await asyncio.wait_for(self._direct([last]), self._timeout)

    async def _run(self, groups: Sequence[Group], pid: int | None, start: bool) -> list[Answer]:
        try:
            connection = await self._connect()
        except NoServer:
            if not start:
                raise
            connection = None
        if connection is not None:
            if pid not in (None, connection.server_pid):
                raise OtherServer(f"tmux server {pid} is gone; {connection.server_pid} runs in its place")
            return await connection.request(groups)
        if pid is not None:
            now = await self._direct([("display-message", "-p", "#{pid}")])
            if now.text != str(pid):
                raise OtherServer(f"tmux server {pid} is gone; {now.text or 'none'} runs in its place")
        return [await self._direct(group) for group in groups]

    async def _connect(self) -> Connection | None:
        """The control connection; None while none can be had and single commands must do."""
        if self._connection is not None and not self._connection.closed:
            return self._connection
        if self._making is None or self._making.done():
            if asyncio.get_running_loop().time() < self._direct_until:
                return None
            self._making = asyncio.create_task(self._make())
            self._making.add_done_callback(lambda task: task.exception())  # seen, also if nobody waits
        return await asyncio.shield(self._making)

    async def _make(self) -> Connection | None:
        if self._connection is not None:
            await self._connection.ended()
            self._connection = None
        # The answer also tells that the server has seen our last connection end.
        if not await asyncio.wait_for(self._calm(), self._timeout):
            self._stay_direct(self._settle)
            return None
        try:
            making = Connection.make(self._argv, self._env, self._on_change)
            self._connection = await asyncio.wait_for(making, self._timeout)
        except NoServer:
            raise
        except (CannotConnect, ConnectionLost):
            self._stay_direct(_REFUSED_SECONDS)
        return self._connection

    async def _calm(self) -> bool:
        """Whether the server and its sessions are old enough, by the server's own clock."""
        ask = "%s #{start_time} #{S:#{session_created} }"
        now, *born = (await self._direct([("display-message", "-p", ask)])).text.split()
        return int(now) - max(map(int, born)) >= self._settle

    def _stay_direct(self, seconds: float) -> None:
        """Use single commands for a while; then connect unasked, for the sake of who wants to be told."""
        loop = asyncio.get_running_loop()
        self._direct_until = loop.time() + seconds
        if self._later is not None:
            self._later.cancel()
        self._later = loop.call_at(self._direct_until, lambda: asyncio.ensure_future(self._try()))

    async def _try(self) -> None:
        with contextlib.suppress(TerminalError, TimeoutError):
            await self._connect()

    async def _direct(self, group: Group) -> Answer:
        """Run one group as a process of its own."""
        words: list[str] = []
        for command in group:
            # An argument that ends in a semicolon would end the command.
            words += [";"] if words else []
            words += [f"{word[:-1]}\\;" if word.endswith(";") else word for word in command]
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *self._argv, "-u", *words, env=self._env, stdin=_NULL, stdout=pipe, stderr=pipe
            )
        except FileNotFoundError:
            raise TerminalError("tmux is not installed; install it with your package manager.") from None
        except OSError as error:
            raise TerminalError(f"tmux could not be run ({error.strerror}); nothing was done.") from error
        try:
            out, err = await process.communicate()
        except BaseException:
            if process.returncode is None:
                process.kill()
                await process.communicate()
            raise
        said = os.fsdecode(err).strip()
        if process.returncode and no_server(said):
            raise NoServer(said)
        if process.returncode:
            return Answer(False, tuple(said.splitlines()))
        return Answer(True, tuple(os.fsdecode(out).removesuffix("\n").split("\n")))

    def _drop(self) -> None:
        """Let go of a connection that hangs; `_make` waits for its end."""
        if self._connection is not None:
            self._connection.abort()
