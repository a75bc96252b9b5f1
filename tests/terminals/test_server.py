import asyncio
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from batonpass.session import PaneRef
from batonpass.sim.tmux_server import private_tmux, run_tmux, server_pid, start_server
from batonpass.terminals.base import PaneGone, TerminalError
from batonpass.terminals.tmux import Tmux

IDLE = ("tail", "-f", "/dev/null")
CLIENTS = ("list-clients", "-F", "#{client_control_mode}")


async def ended(socket: str) -> None:
    """Wait until no server listens on the socket."""
    async with asyncio.timeout(30):
        while await asyncio.to_thread(server_pid, socket) is not None:
            pass


async def end_server(socket: str) -> None:
    pid = server_pid(socket)
    assert pid is not None
    os.kill(pid, signal.SIGTERM)
    await ended(socket)


async def test_a_restarted_servers_panes_are_not_taken_for_the_old_ones(
    tmux: Tmux, socket: str, tmp_path: Path
) -> None:
    old = (await tmux.open("work", tmp_path, IDLE)).ref
    await end_server(socket)
    assert await tmux.list() == []
    with pytest.raises(PaneGone):
        await tmux.press(old, "Enter")
    start_server(socket)
    new = (await tmux.open("work", tmp_path, IDLE)).ref
    assert new.id == old.id
    assert new.server_pid != old.server_pid
    for call in (tmux.info(old), tmux.press(old, "Enter"), tmux.respawn(old, tmp_path, IDLE)):
        with pytest.raises(PaneGone, match=str(old.server_pid)):
            await call
    await tmux.close(old)
    assert not (await tmux.info(new)).dead


async def test_looking_starts_no_server_and_opening_does(tmp_path: Path) -> None:
    with private_tmux() as socket:
        await end_server(socket)
        env = {**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
        tmux = Tmux(socket, settle=0, env=env)
        assert await tmux.list() == []
        with pytest.raises(PaneGone):
            await tmux.info(PaneRef(socket, 1, "%1"))
        assert server_pid(socket) is None
        info = await tmux.open("work", tmp_path, IDLE)
        assert server_pid(socket) == info.ref.server_pid
        await tmux.close(info.ref)
        await tmux.aclose()
        await ended(socket)  # the control session does not keep it alive


async def test_a_hanging_server_is_an_error_in_time_and_no_error_afterwards(socket: str, tmp_path: Path) -> None:
    tmux = Tmux(socket, settle=0, timeout=0.5)
    info = await tmux.open("work", tmp_path, IDLE)
    os.kill(info.ref.server_pid, signal.SIGSTOP)
    for call in (tmux.info(info.ref), tmux.press(info.ref, "Enter"), tmux.list()):
        with pytest.raises(TerminalError, match=r"did not answer .* within 0\.5 s"):
            await call
    os.kill(info.ref.server_pid, signal.SIGCONT)
    patient = Tmux(socket, settle=0, timeout=30)
    assert (await patient.info(info.ref)).pid == info.pid
    await tmux.aclose()
    await patient.aclose()


async def test_a_connection_that_hung_is_replaced(socket: str, tmp_path: Path) -> None:
    tmux = Tmux(socket, settle=0, timeout=2)
    info = await tmux.open("work", tmp_path, IDLE)
    await tmux.list()
    before = run_tmux(socket, "list-clients", "-F", "#{client_pid}")
    os.kill(info.ref.server_pid, signal.SIGSTOP)
    with pytest.raises(TerminalError, match="did not answer"):
        await tmux.info(info.ref)
    os.kill(info.ref.server_pid, signal.SIGCONT)
    assert (await tmux.info(info.ref)).pid == info.pid
    assert run_tmux(socket, "list-clients", "-F", "#{client_pid}") not in (before, "")
    await tmux.aclose()


async def test_a_connection_that_someone_detached_is_made_again(socket: str, tmp_path: Path) -> None:
    tmux = Tmux(socket, settle=0)
    info = await tmux.open("work", tmp_path, IDLE)
    for _ in range(3):
        run_tmux(socket, "detach-client", "-s", "baton-control")
        assert (await tmux.info(info.ref)).pid == info.pid
    assert run_tmux(socket, *CLIENTS) == "1"
    run_tmux(socket, "kill-session", "-t", "baton-control")
    assert (await tmux.info(info.ref)).pid == info.pid
    await tmux.aclose()


async def test_two_terminals_on_one_server_do_not_disturb_each_other(socket: str, tmp_path: Path) -> None:
    one, two = Tmux(socket, settle=0), Tmux(socket, settle=0)
    await one.list()
    await two.list()
    assert run_tmux(socket, *CLIENTS) == "1\n1"
    panes = await asyncio.gather(*(t.open("work", tmp_path, IDLE) for t in (one, two) for _ in range(3)))
    assert len({info.session_name for info in panes}) == 6
    await one.aclose()
    assert len(await two.list()) == 6
    assert "baton-control" in run_tmux(socket, "list-sessions")
    await two.aclose()
    assert run_tmux(socket, *CLIENTS) == ""
    assert "baton-control" not in run_tmux(socket, "list-sessions")


async def test_a_server_whose_sessions_are_young_is_left_alone_by_control_clients(socket: str, tmp_path: Path) -> None:
    tmux = Tmux(socket, settle=3600)
    info = await tmux.open("work", tmp_path, IDLE)
    assert (await tmux.info(info.ref)).pid == info.pid
    assert run_tmux(socket, *CLIENTS) == ""
    await tmux.aclose()


async def test_a_call_that_is_given_up_does_not_break_off_the_connecting(socket: str) -> None:
    tmux = Tmux(socket, settle=0)
    for _ in range(20):
        given_up = asyncio.create_task(tmux.list())
        await asyncio.sleep(0)
        given_up.cancel()
    assert await tmux.list() == []
    assert run_tmux(socket, *CLIENTS) == "1"
    await tmux.aclose()


def test_a_terminal_that_nobody_closed_does_not_hold_up_the_end_of_the_loop(socket: str) -> None:
    async def forget() -> None:
        await Tmux(socket, settle=0).list()

    asyncio.run(forget())
    assert server_pid(socket) is not None


async def test_where_control_mode_is_refused_single_commands_do(
    socket: str, tmp_path: Path, no_control: dict[str, str]
) -> None:
    tmux = Tmux(socket, settle=0, env=no_control)
    info = await tmux.open("work", tmp_path, IDLE)
    assert [pane.ref for pane in await tmux.list()] == [info.ref]
    assert run_tmux(socket, *CLIENTS) == ""
    await tmux.aclose()


async def test_a_missing_tmux_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(TerminalError, match="not installed"):
        await Tmux(str(tmp_path / "s"), env={"PATH": str(tmp_path)}).list()


async def test_the_tmux_that_the_daemon_itself_runs_in_is_not_taken_for_the_users(tmp_path: Path) -> None:
    with private_tmux() as own, private_tmux() as other:
        run_tmux(own, "new-session", "-d", "-s", "mine", *IDLE)
        run_tmux(other, "new-session", "-d", "-s", "theirs", *IDLE)
        # tmux looks for sockets by name in a folder of this kind.
        (folder := Path(own).parent / f"tmux-{os.getuid()}").mkdir(mode=0o700)
        for name in ("default", "named"):
            (folder / name).symlink_to(own)
        env = {**os.environ, "TMUX_TMPDIR": str(folder.parent), "TMUX": f"{other},1,0", "TMUX_PANE": "%0"}
        for socket in ("", "named", own):
            tmux = Tmux(socket, settle=0, env=env)
            assert [(pane.session_name, pane.ref.socket) for pane in await tmux.list()] == [("mine", socket)]
            await tmux.aclose()


async def test_a_pane_that_vanishes_or_dies_or_a_server_that_ends_is_noticed(socket: str, tmp_path: Path) -> None:
    changed = asyncio.Event()
    tmux = Tmux(socket, settle=0, on_change=changed.set)
    gone = await tmux.open("gone", tmp_path, IDLE)
    run_tmux(socket, "split-window", "-d", "-t", gone.ref.id, *IDLE)  # so that no window or session closes
    dying = await tmux.open("dying", tmp_path, IDLE)
    read = await tmux.open("read", tmp_path, IDLE)

    async def noticed(condition: str, pane: PaneRef) -> None:
        async with asyncio.timeout(30):
            while True:
                await changed.wait()
                changed.clear()
                try:
                    info = await tmux.info(pane)
                    now = "dead" if info.dead else info.mode
                except PaneGone:
                    now = "gone"
                if now == condition:
                    return

    run_tmux(socket, "kill-pane", "-t", gone.ref.id)
    await noticed("gone", gone.ref)
    os.kill(dying.pid, signal.SIGTERM)
    await noticed("dead", dying.ref)
    run_tmux(socket, "copy-mode", "-t", read.ref.id)
    await noticed("copy-mode", read.ref)
    os.kill(read.ref.server_pid, signal.SIGTERM)
    await noticed("gone", read.ref)


class Person:
    """Someone in a terminal of 80 by 24 who looks at a tmux session."""

    def __init__(self, socket: str, argv: list[str]) -> None:
        self.screen, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        run_tmux(socket, "set-hook", "-g", "client-attached", "wait-for -S attached")
        env = {**os.environ, "TERM": "xterm-256color"}
        env.pop("TMUX", None)
        self.client = subprocess.Popen(
            argv, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        run_tmux(socket, "wait-for", "attached")

    def sees(self, wanted: bytes) -> bytes:
        """What was drawn until the wanted text came."""
        seen = b""
        while wanted not in re.sub(rb"\x1b[\[(][0-?]*[ -/]*[@-~]", b"", seen):
            assert select.select([self.screen], [], [], 20)[0], f"{wanted!r} is not in {seen!r}"
            seen += os.read(self.screen, 65536)
        return seen

    def leave(self) -> None:
        self.client.terminate()
        self.client.wait(10)
        os.close(self.screen)


async def test_a_person_is_attached_keeps_the_size_and_is_told(socket: str, tmp_path: Path) -> None:
    first, tmux = Tmux(socket, settle=0), Tmux(socket, settle=0)
    info = await first.open("work", tmp_path, IDLE, width=200, height=50)
    person = await asyncio.to_thread(Person, socket, first.attach_argv(info))
    before = await first.info(info.ref)
    assert (before.width, before.height, before.attached) == (80, 23, 1)
    await tmux.list()
    await tmux.screen(info.ref)
    await tmux.open("other", tmp_path, IDLE, width=150, height=60)
    now = await tmux.info(info.ref)
    assert (now.width, now.height, now.attached) == (80, 23, 1)
    await tmux.tell(info.ref, "50% #[hidden]of\x1b[2J #(touch hacked) #{pid} %H\nused")
    await asyncio.to_thread(person.sees, b"50% # [hidden]of #(touch hacked) #{pid} %H used")
    assert not (tmp_path / "hacked").exists()
    person.leave()
    await first.aclose()
    await tmux.aclose()


async def test_inside_the_same_tmux_a_person_is_switched_and_not_nested(socket: str, tmp_path: Path) -> None:
    tmux = Tmux(socket, settle=0)
    info = await tmux.open("work", tmp_path, IDLE)
    await tmux.aclose()
    inside = {"TMUX": f"{socket},{info.ref.server_pid},0"}
    elsewhere = {"TMUX": "/tmp/other,1,0"}
    attach = ["tmux", "-S", socket, "attach-session", "-t", "=work"]
    assert Tmux(socket, env=inside).attach_argv(info)[3:] == ["switch-client", "-t", "=work"]
    assert Tmux(socket, env=elsewhere).attach_argv(info) == attach
    assert Tmux("", env=elsewhere).attach_argv(info)[:3] == ["tmux", "-L", "default"]
