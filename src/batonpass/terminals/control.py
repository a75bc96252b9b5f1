"""tmux's control mode: one connection that answers many commands, each in a fraction of a millisecond."""

import asyncio
import contextlib
import os
import secrets
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from batonpass.terminals.base import TerminalError

CONTROL_SESSION = "baton-control"

Command = Sequence[str]
Group = Sequence[Command]  # commands run one after the other until one fails

# Says, once a second and only when it changed, which panes there are, which are dead and which are in a mode.
_PANES = "baton::#{S:#{W:#{P:#{pane_id}=#{pane_dead}#{pane_in_mode} }}}"
_NOTICES = (b"%subscription-changed", b"%sessions-changed", b"%unlinked-window-close", b"%window-close")


class ConnectionLost(TerminalError):
    """The connection ended before the answer came; whether the command was run is not known."""


class CannotConnect(TerminalError):
    """No control connection could be made; the text is what tmux said."""


class NoServer(CannotConnect):
    """No tmux server runs on the socket."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one command printed, and whether it succeeded."""

    ok: bool
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@dataclass(slots=True)
class _Waiting:
    """A request on its way. A block that holds only the next mark says that a group is done."""

    marks: deque[str]
    future: asyncio.Future[list[Answer]]
    answers: list[Answer] = field(default_factory=list)
    blocks: list[Answer] = field(default_factory=list)

    def take(self, block: Answer) -> bool:
        """Whether the request is complete with this block."""
        if block.lines != (self.marks[0],):
            self.blocks.append(block)
            return False
        self.marks.popleft()
        self.answers.append(_joined(self.blocks))
        self.blocks = []
        return not self.marks


def _joined(blocks: Sequence[Answer]) -> Answer:
    """One answer for a group: everything its commands printed, or what the failed one said."""
    for block in blocks:
        if not block.ok:
            return block
    return Answer(True, tuple(line for block in blocks for line in block.lines))


def quote(word: str) -> str:
    """One word as tmux's own parser reads it back, whatever is in it; ValueError for a NUL.

    >>> print(quote('a "b" $c'))
    "a \\042b\\042 \\044c"
    """
    if "\0" in word:
        raise ValueError("a NUL character cannot be given to tmux")
    return '"' + "".join(_escaped(char) for char in word) + '"'


def _escaped(char: str) -> str:
    # tmux expands ~ also inside quotes. Surrogates are undecodable bytes of a path.
    if char in '"\\$~' or char < " " or char == "\x7f" or "\ud800" <= char <= "\udfff":
        return "".join(f"\\{byte:03o}" for byte in os.fsencode(char))
    return char


def line_of(group: Group) -> str:
    """The commands of a group as one line for tmux."""
    return " ; ".join(" ".join(quote(word) for word in command) for command in group)


def no_server(message: str) -> bool:
    """Whether tmux's complaint means that no server runs."""
    return "no server running" in message or "error connecting to" in message or "server exited" in message


class Connection:
    """A control-mode client, attached to a session of Baton's own, which `Server.aclose` ends.

    The client asks for no output and is ignored in sizing, so nobody's windows change because of it.
    """

    def __init__(self, process: asyncio.subprocess.Process, on_notice: Callable[[], None]) -> None:
        self._process = process
        self._on_notice = on_notice
        self._waiting: deque[_Waiting] = deque()
        self._attached = asyncio.get_running_loop().create_future()
        self._serial = 0
        self._secret = secrets.token_hex(8)
        self.closed = False
        self.server_pid = 0
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def make(cls, prefix: Sequence[str], env: Mapping[str, str], on_notice: Callable[[], None]) -> "Connection":
        """A connection that answers. Starts no server. Raises NoServer or CannotConnect."""
        argv = [*prefix, "-N", "-u", "-C", "new-session", "-A", "-s", CONTROL_SESSION]
        argv += ["-x", "20", "-y", "5", "-f", "ignore-size,no-output", "--", "tail", "-f", "/dev/null"]
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *argv, env=dict(env), stdin=pipe, stdout=pipe, stderr=pipe, limit=1 << 24, start_new_session=True
        )
        connection = cls(process, on_notice)
        try:
            await connection._set_up()
        except BaseException:
            connection.abort()
            raise
        return connection

    async def _set_up(self) -> None:
        # What is sent before the first block would be run before the client is attached.
        await asyncio.shield(self._attached)
        answers = await self.request(
            [
                [("set-option", "-t", f"={CONTROL_SESSION}:", "status", "off")],
                [("refresh-client", "-B", _PANES)],
                [("display-message", "-p", "#{pid}")],
            ]
        )
        if not (answers and answers[-1].ok and answers[-1].text.isdigit()):
            raise CannotConnect(f"tmux did not say who it is: {answers[-1].text if answers else 'no answer'}")
        self.server_pid = int(answers[-1].text)

    async def request(self, groups: Sequence[Group]) -> list[Answer]:
        """One answer for each group. A group ends with its first failing command.

        All groups go out in one piece, and the server runs them with nothing in between.
        """
        if self.closed or self._process.stdin is None:
            raise ConnectionLost("the connection to tmux is closed")
        # A command may answer with more than one block, so the end is told by a mark and not by counting.
        marks = [f"{self._secret}-{self._serial + n}" for n in range(len(groups))]
        self._serial += len(groups)
        lines = [
            f"{line_of(group)}\n{line_of([('display-message', '-p', mark)])}\n"
            for group, mark in zip(groups, marks, strict=True)
        ]
        waiting = _Waiting(deque(marks), asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        with contextlib.suppress(ConnectionError, RuntimeError):
            # When this fails, the reader sees the end as well and fails everyone who waits.
            self._process.stdin.write("".join(lines).encode("utf-8", "surrogateescape"))
            await self._process.stdin.drain()
        return await waiting.future

    def abort(self) -> None:
        """Let go at once, whatever the server does; everyone who still waits gets ConnectionLost."""
        self.closed = True
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def ended(self) -> None:
        """Wait until the client process is gone."""
        await asyncio.wait({self._reader})

    async def close(self) -> None:
        """Detach, and wait until the client has ended; by force when it does not."""
        self.closed = True
        if self._process.stdin is not None:
            self._process.stdin.close()
        await asyncio.wait({self._reader}, timeout=0.5)
        if not self._reader.done():
            self.abort()
        await self._reader

    async def _read(self) -> None:
        """Read until the client ends. Only that counts as the end: a pane's text may hold `%exit`, too."""
        stream = self._process.stdout
        assert stream is not None
        block: bytes | None = None
        lines: list[str] = []
        try:
            while line := await stream.readline():
                line = line.rstrip(b"\n")
                if block is not None:
                    kind, _, rest = line.partition(b" ")
                    if kind in (b"%end", b"%error") and rest == block:
                        self._take(block, Answer(kind == b"%end", tuple(lines)))
                        block, lines = None, []
                    else:
                        lines.append(line.decode("utf-8", "surrogateescape"))
                elif line.startswith(b"%begin "):
                    block = line[len(b"%begin ") :]
                elif line.startswith(_NOTICES):
                    self._on_notice()
        except ValueError:  # a line beyond the limit: nothing after it can be trusted
            self.abort()
        except asyncio.CancelledError:  # the loop ends with nobody having closed us: do not hold it up
            self.abort()
            raise
        finally:
            await self._end()

    def _take(self, block: bytes, answer: Answer) -> None:
        if not block.endswith(b" 1"):  # not from our commands: the client's start, or a hook of the user's
            if not self._attached.done():
                if answer.ok:
                    self._attached.set_result(None)
                else:
                    self._attached.set_exception(CannotConnect(answer.text))
            return
        if self._waiting and self._waiting[0].take(answer):
            waiting = self._waiting.popleft()
            if not waiting.future.done():
                waiting.future.set_result(waiting.answers)

    async def _end(self) -> None:
        self.closed = True
        # All three pipes to their end: a loop that closes over an open one complains.
        if self._process.stdin is not None:
            self._process.stdin.close()
        _, err = await self._process.communicate()
        said = err.decode("utf-8", "replace").strip()
        if not self._attached.done():
            kind = NoServer if no_server(said) else CannotConnect
            self._attached.set_exception(kind(said or "tmux ended without a word"))
        self._attached.exception()  # looked at, also when nobody waits for it any more
        for waiting in self._waiting:
            if not waiting.future.done():
                waiting.future.set_exception(ConnectionLost("the connection to tmux ended"))
        self._waiting.clear()
        self._on_notice()
