"""A tmux server, reached by the control connection where one can be had and by single commands where not."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence

from batonpass.terminals.base import TerminalError
from batonpass.terminals.control import (
    Answer,
    CannotConnect,
    Connection,
    ConnectionLost,
    Group,
    NoServer,
    no_server,
)

# How long single commands are used before a control connection is tried again.
_DIRECT_SECONDS = 30.0


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
        self, socket: str, timeout: float, env: Mapping[str, str], on_change: Callable[[], None]
    ) -> None:
        self._argv = socket_argv(socket)
        self._timeout = timeout
        self._env = clean_env(env)
        self._on_change = on_change
        self._connection: Connection | None = None
        self._connecting = asyncio.Lock()
        self._direct_until = 0.0

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
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _run(self, groups: Sequence[Group], pid: int | None, start: bool) -> list[Answer]:
        connection = await self._connect(start)
        if connection is not None:
            if pid not in (None, connection.server_pid):
                raise OtherServer(f"tmux server {pid} is gone; {connection.server_pid} runs in its place")
            return await connection.request(groups)
        if pid is not None:
            now = await self._direct([("display-message", "-p", "#{pid}")])
            if now.text != str(pid):
                raise OtherServer(f"tmux server {pid} is gone; {now.text or 'none'} runs in its place")
        return [await self._direct(group) for group in groups]

    async def _connect(self, start: bool) -> Connection | None:
        """The control connection; None while none can be had and single commands must do."""
        async with self._connecting:
            if self._connection is not None and not self._connection.closed:
                return self._connection
            now = asyncio.get_running_loop().time()
            if now < self._direct_until:
                return None
            try:
                self._connection = await Connection.make(self._argv, self._env, self._on_change, start=start)
            except NoServer:
                raise
            except (CannotConnect, ConnectionLost):
                self._direct_until = now + _DIRECT_SECONDS
                return None
            except FileNotFoundError:
                raise TerminalError("tmux is not installed; install it with your package manager.") from None
            return self._connection

    async def _direct(self, group: Group) -> Answer:
        """Run one group as a process of its own."""
        words: list[str] = []
        for command in group:
            # An argument that ends in a semicolon would end the command.
            words += [";"] if words else []
            words += [f"{word[:-1]}\\;" if word.endswith(";") else word for word in command]
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *self._argv,
            "-u",
            *words,
            env=self._env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
        )
        try:
            out, err = await process.communicate()
        except BaseException:
            if process.returncode is None:
                process.kill()
                await process.wait()
            raise
        said = os.fsdecode(err).strip()
        if process.returncode and no_server(said):
            raise NoServer(said)
        if process.returncode:
            return Answer(False, tuple(said.splitlines()))
        return Answer(True, tuple(os.fsdecode(out).removesuffix("\n").split("\n")))

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.abort()
