"""tmux as a Terminal: panes are addressed by id and server pid, and every call is bounded in time."""

import contextlib
import os
import re
import secrets
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from batonpass.session import PaneRef
from batonpass.terminals.base import PaneBusy, PaneGone, PaneInfo, Screen, TerminalError
from batonpass.terminals.control import (
    CONTROL_SESSION,
    Answer,
    Command,
    ConnectionLost,
    Group,
    NoServer,
    line_of,
)
from batonpass.terminals.server import OtherServer, Server, socket_argv
from batonpass.terminals.text import one_line, pastable, printable

_TELL_MILLISECONDS = "5000"
_NAME_LENGTH = 60
# tmux takes about 16 kB in one command line, and a character has up to four bytes.
_PIECE = 3500
_FIELDS = (
    "pane_id",
    "pid",
    "pane_pid",
    "pane_dead",
    "pane_dead_status",
    "pane_dead_signal",
    "pane_mode",
    "pane_width",
    "pane_height",
    "session_attached",
    "session_name",
    "pane_current_command",
    "pane_title",
    "?pane_current_path,#{pane_current_path},#{pane_start_path}",
)


class Tmux:
    """The panes of one tmux server. `on_change` is called soon after a pane came, went, died or changed mode.

    `socket` is "" for the user's own server, a name for `-L`, or a path for `-S`. The control connection is
    made where no session is younger than `settle` seconds (see server.py); until then, each command is
    a process of its own. One object per server and process is enough, and best.
    """

    def __init__(
        self,
        socket: str = "",
        *,
        timeout: float = 5.0,
        settle: float = 2.0,
        on_change: Callable[[], None] = lambda: None,
        env: Mapping[str, str] = os.environ,
    ) -> None:
        self.socket = socket
        self._env = env
        self._server = Server(socket, env, on_change, timeout=timeout, settle=settle)
        # Titles and paths are anybody's to choose, so what parts the fields must not be guessed.
        self._mark = f"|{secrets.token_hex(8)}|"
        self._format = self._mark + self._mark.join(f"#{{{field}}}" for field in _FIELDS)

    async def aclose(self) -> None:
        """End the connection. Baton's own session on the server ends with the last one."""
        await self._server.aclose()

    async def open(self, name: str, cwd: Path, argv: Sequence[str], *, width: int = 200, height: int = 50) -> PaneInfo:
        """A new detached session of that name (made unique) whose only pane runs argv, and stays after it."""
        folder, program = _folder(cwd), _program(argv)
        base = session_name(name)
        for number in range(1, 1000):
            unique = base if number == 1 else f"{base}-{number}"
            if unique == CONTROL_SESSION:
                continue
            new: Command = (
                *("new-session", "-d", "-P", "-F", "#{pid} #{pane_id}", "-s", unique, "-n", unique),
                *("-x", str(width), "-y", str(height), "-c", folder, "--", *program),
            )
            # In one group: a program that ends at once must not take its pane with it.
            keep: Command = ("set-option", "-p", "-t", f"={unique}:", "remain-on-exit", "on")
            [answer] = await self._server.run([[new, keep]], start=True)
            if answer.ok:
                pid, _, pane = answer.text.strip().partition(" ")
                return await self.info(PaneRef(self.socket, int(pid), pane))
            if "duplicate session" not in answer.text:
                raise TerminalError(f"tmux could not open a session {unique!r}: {one_line(answer.text)}.")
        raise TerminalError(f"tmux has a thousand sessions named {base!r}; close some, or take another name.")

    async def info(self, pane: PaneRef) -> PaneInfo:
        """The pane as it is now; PaneGone when it, or its server, is not there any more."""
        info = await self._look(pane)
        if info.dead and info.dead_status is None:
            # tmux sometimes misses that a child ended, until the next one does. It looks when told so.
            with contextlib.suppress(OSError):
                os.kill(pane.server_pid, signal.SIGCHLD)
            info = await self._look(pane)
        return info

    async def screen(self, pane: PaneRef, *, above: int = 0) -> Screen:
        """What the pane's application shows, main or alternate screen, and where its caret is."""
        rows, caret = await self._on(
            pane,
            [
                [("capture-pane", "-e", "-p", "-S", str(-above), "-t", pane.id)],
                [("display-message", "-p", "-t", pane.id, "#{cursor_x} #{cursor_y}")],
            ],
            again=True,
        )
        x, _, y = caret.text.partition(" ")
        return Screen(rows.lines, int(x), int(y))

    async def paste(self, pane: PaneRef, text: str) -> None:
        """Put text into the application as one bracketed paste; PaneBusy if the pane is dead or in a mode.

        Control characters but newline and tab are left out: they could end the paste and go on as keys.
        """
        safe = pastable(text)
        if not safe:
            return
        buffer = f"baton-{secrets.token_hex(8)}"
        pieces = [safe[at : at + _PIECE] for at in range(0, len(safe), _PIECE)]
        await self._type(
            pane,
            ("paste-buffer", "-p", "-d", "-b", buffer, "-t", pane.id),
            before=[[("set-buffer", "-a", "-b", buffer, "--", piece)] for piece in pieces],
            # A pane that refuses must not leave the text behind for others to paste.
            after=[("delete-buffer", "-b", buffer)],
        )

    async def press(self, pane: PaneRef, key: str) -> None:
        """One key by its tmux name; PaneBusy if the pane is dead or in a mode."""
        if not re.fullmatch(r"(?:[CMS]-)*(?:[A-Za-z][A-Za-z0-9]*|[!-~])", key):
            raise TerminalError(f"{printable(key)!r} is not the name of a key; nothing was pressed.")
        await self._type(pane, ("send-keys", "-t", pane.id, "--", key))

    async def leave_mode(self, pane: PaneRef) -> None:
        """Leave copy-mode and the like; nothing reaches the application."""
        await self._on(pane, [[("copy-mode", "-q", "-t", pane.id)]])

    async def respawn(self, pane: PaneRef, cwd: Path, argv: Sequence[str]) -> PaneInfo:
        """End what runs in the pane and run argv in its place; when it fails, what ran still runs."""
        run: Command = ("respawn-pane", "-k", "-t", pane.id, "-c", _folder(cwd), "--", *_program(argv))
        keep: Command = ("set-option", "-p", "-t", pane.id, "remain-on-exit", "on")
        untitle: Command = ("select-pane", "-t", pane.id, "-T", "")  # agents tell their state by it
        await self._on(pane, [[keep, run, untitle]])
        return await self.info(pane)

    async def close(self, pane: PaneRef) -> None:
        """Remove the pane. One that is gone already is no error."""
        try:
            await self._on(pane, [[("kill-pane", "-t", pane.id)]])
        except PaneGone:
            return

    async def tell(self, pane: PaneRef, text: str) -> None:
        """A one-line message to the people who look at the pane's session."""
        ask: Command = ("list-clients", "-t", pane.id, "-F", "#{client_control_mode} #{client_name}")
        [clients] = await self._on(pane, [[ask]], again=True)
        names = [line[2:] for line in clients.lines if line.startswith("0 ")]
        if names:
            # A style (#[...]) could hide a part of the message, and a time format change it.
            message = _literal(one_line(text).replace("#[", "# [")).replace("%", "%%")
            show = ("display-message", "-d", _TELL_MILLISECONDS, "-t", pane.id)
            # A client that left in between is no failure.
            await self._server.run([[(*show, "-c", name, "--", message)] for name in names])

    def attach_argv(self, info: PaneInfo) -> list[str]:
        """The command that shows the pane to a person in this terminal, inside or outside of tmux."""
        inside = self._env.get("TMUX", "").split(",")
        here = len(inside) > 1 and inside[1] == str(info.ref.server_pid)
        verb = "switch-client" if here else "attach-session"
        return [*socket_argv(self.socket), verb, "-t", f"={info.session_name}"]

    async def _type(self, pane: PaneRef, command: Command, before: Sequence[Group] = (), after: Group = ()) -> None:
        """Run a command that types, unless the pane would not take it: looked at and done in one go."""
        busy = "#{||:#{pane_in_mode},#{pane_dead}}"
        refuse: Command = ("display-message", "-p", "-t", pane.id, f"{self._mark}#{{pane_mode}}")
        guarded: Command = ("if-shell", "-F", "-t", pane.id, busy, line_of([refuse]), line_of([command]))
        groups = [*before, [guarded], *([after] if after else [])]
        answers = await self._on(pane, groups, optional=after)
        said = next((a.text for a in answers if a.text.startswith(self._mark)), None)
        if said is not None:
            mode = said.removeprefix(self._mark)
            why = f"is in {mode}: someone reads there" if mode else "is dead: nothing runs in it"
            raise PaneBusy(f"Pane {pane.id} {why}; nothing was typed.", mode)

    async def _on(
        self, pane: PaneRef, groups: Sequence[Group], *, again: bool = False, optional: Group = ()
    ) -> list[Answer]:
        """Run groups for a pane that must still be there; the first that fails is raised, if not optional."""
        if pane.socket != self.socket or not re.fullmatch(r"%\d+", pane.id):
            raise TerminalError(f"Pane {pane.id!r} of {pane.socket!r} is no pane of server {self.socket!r}.")
        try:
            answers = await self._server.run(groups, pid=pane.server_pid, again=again)
        except (NoServer, OtherServer):
            raise _gone(pane) from None
        except ConnectionLost:
            if await self._server.pid() != pane.server_pid:
                raise _gone(pane) from None
            raise TerminalError(
                f"The connection to tmux ended during `{groups[0][0][0]}` for pane {pane.id}; "
                "whether it was done is not known: look at the pane before you try again."
            ) from None
        for group, answer in zip(groups, answers, strict=True):
            if not answer.ok and group is not optional:
                if re.match("can't find|no such pane", answer.text):
                    raise _gone(pane)
                raise TerminalError(f"tmux refused `{group[-1][0]}` for pane {pane.id}: {one_line(answer.text)}.")
        return answers

    async def _look(self, pane: PaneRef) -> PaneInfo:
        ask: Command = ("display-message", "-p", "-t", pane.id, self._format)
        [answer] = await self._on(pane, [[ask]], again=True)
        infos = self._infos(answer.text)
        if not infos:
            raise _gone(pane)
        return infos[0]

    def _infos(self, text: str) -> list[PaneInfo]:
        """The panes in what our format printed; values may hold newlines."""
        values = text.split(self._mark)[1:]
        size = len(_FIELDS)
        records = [values[at : at + size] for at in range(0, len(values), size)]
        return [self._info(record) for record in records if record[0]]

    def _info(self, record: Sequence[str]) -> PaneInfo:
        pane, server, pid, dead, status, by, mode, width, height, attached, name, command, title, cwd = record
        code = int(status) if status else 128 + int(by) if by.isdigit() else None
        return PaneInfo(
            ref=PaneRef(self.socket, int(server), pane),
            pid=int(pid or 0),
            dead=dead == "1",
            dead_status=code if dead == "1" else None,
            mode=mode,
            width=int(width),
            height=int(height),
            title=one_line(title),
            command=one_line(command),
            cwd=Path(cwd.removesuffix("\n")),
            session_name=name,
            attached=int(attached),
        )

    # The last method, because its name hides the builtin in the annotations below it.
    async def list(self) -> list[PaneInfo]:
        """Every pane of the server but Baton's own; empty when no server runs."""
        try:
            [answer] = await self._server.run([[("list-panes", "-a", "-F", self._format)]], again=True)
        except NoServer:
            return []
        if answer.text == "no current target":  # a server without sessions
            return []
        if not answer.ok:
            raise TerminalError(f"tmux could not list its panes: {one_line(answer.text)}.")
        return [info for info in self._infos(answer.text) if info.session_name != CONTROL_SESSION]


def session_name(name: str) -> str:
    """A name that tmux takes as it is and that no target syntax or format can be hidden in.

    >>> session_name("my.project: #(rm -rf ~)")
    'my-project-rm-rf'
    """
    words = re.sub(r"[^\w-]+", "-", printable(name))
    return re.sub(r"-{2,}", "-", words).strip("-")[:_NAME_LENGTH].rstrip("-") or "baton"


def _literal(text: str) -> str:
    """A text that tmux would expand, so written that it stays what it is.

    Doubled hashes stand for one, but not those before a bracket: tmux leaves them alone.
    """
    return re.sub(r"#+(?![#\[])", lambda hashes: hashes.group() * 2, text)


def _folder(cwd: Path) -> str:
    if not cwd.is_dir():
        raise TerminalError(f"{cwd} is not a folder, so nothing was started there; create it or name another.")
    return _literal(str(cwd.absolute()))


def _program(argv: Sequence[str]) -> list[str]:
    """argv such that tmux runs it without a shell in between: it gives a single word to one."""
    if not argv:
        raise TerminalError("No program was given to run.")
    return ["/bin/sh", "-c", 'exec "$0"', argv[0]] if len(argv) == 1 else list(argv)


def _gone(pane: PaneRef) -> PaneGone:
    return PaneGone(f"Pane {pane.id} of tmux server {pane.server_pid} is not there any more.")
