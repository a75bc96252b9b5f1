import asyncio
import json
import sys
from pathlib import Path

import pytest

from batonpass.session import PaneRef
from batonpass.sim.tmux_server import run_tmux
from batonpass.terminals.base import PaneBusy, PaneGone, Terminal, TerminalError
from batonpass.terminals.tmux import Tmux, session_name
from tests.terminals.puppet import Puppet

IDLE = ("tail", "-f", "/dev/null")


async def died(tmux: Tmux, pane: PaneRef) -> int:
    """The exit status of a pane's program, once it is known: tmux says that it is dead a moment before."""
    async with asyncio.timeout(30):
        while (status := (await tmux.info(pane)).dead_status) is None:
            pass
    return status


async def test_an_opened_pane_runs_the_program_itself_in_its_folder(tmux: Tmux, tmp_path: Path) -> None:
    terminal: Terminal = tmux
    info = await terminal.open("work", tmp_path, IDLE, width=120, height=40)
    assert (info.session_name, info.width, info.height) == ("work", 120, 40)
    assert (info.dead, info.mode, info.attached) == (False, "", 0)
    assert (await tmux.info(info.ref)).cwd == tmp_path
    assert [pane.ref for pane in await tmux.list()] == [info.ref]


async def test_a_pane_outlives_a_program_that_ends_at_once(tmux: Tmux, tmp_path: Path, socket: str) -> None:
    info = await tmux.open("brief", tmp_path, ("sh", "-c", "exit 3"))
    assert await died(tmux, info.ref) == 3


async def test_a_program_killed_by_a_signal_has_the_status_a_shell_would_give(
    tmux: Tmux, tmp_path: Path, socket: str
) -> None:
    info = await tmux.open("killed", tmp_path, ("sh", "-c", "kill -TERM $$"))
    assert await died(tmux, info.ref) == 128 + 15


async def test_arguments_reach_the_program_unchanged(tmux: Tmux, tmp_path: Path, socket: str) -> None:
    words = ["", "a b", "$HOME", "`id`", "~", ";", "x;", "#{pid} #(id)", "'\"\\", "line\nbreak", "é😀", "-x"]
    write = "import sys, json; json.dump(sys.argv[2:], open(sys.argv[1], 'w'))"
    seen = tmp_path / "seen.json"
    info = await tmux.open("argv", tmp_path, (sys.executable, "-c", write, str(seen), *words))
    assert await died(tmux, info.ref) == 0
    assert json.loads(seen.read_text(encoding="utf-8")) == words


async def test_a_single_word_is_a_program_and_not_a_line_for_a_shell(tmux: Tmux, tmp_path: Path, socket: str) -> None:
    script = tmp_path / "a program; exit 9"
    script.write_text("#!/bin/sh\nexit 4\n", encoding="utf-8")
    script.chmod(0o755)
    info = await tmux.open("one", tmp_path, (str(script),))
    assert await died(tmux, info.ref) == 4


@pytest.mark.parametrize("name", ["#S", "a#[fg=red]b", "###[", "#(touch x)", "%H,}", "~ ;'\"", "é\nx", "\udcff"])
async def test_a_folder_of_any_name_is_worked_in(tmux: Tmux, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    info = await tmux.open(name, folder, IDLE)
    assert (await tmux.info(info.ref)).cwd == folder
    again = await tmux.respawn(info.ref, folder, (*IDLE, "/dev/null"))
    assert (await tmux.info(again.ref)).cwd == folder
    assert list(folder.iterdir()) == []


async def test_a_folder_that_is_not_there_is_refused_before_anything_is_ended(tmux: Tmux, tmp_path: Path) -> None:
    info = await tmux.open("work", tmp_path, IDLE)
    with pytest.raises(TerminalError, match="is not a folder"):
        await tmux.respawn(info.ref, tmp_path / "nowhere", IDLE)
    assert (await tmux.info(info.ref)).pid == info.pid


async def test_a_name_that_is_taken_gets_a_number(tmux: Tmux, tmp_path: Path) -> None:
    names = [(await tmux.open("work", tmp_path, IDLE)).session_name for _ in range(3)]
    assert names == ["work", "work-2", "work-3"]
    assert (await tmux.open("baton-control", tmp_path, IDLE)).session_name == "baton-control-2"


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("my.project:1", "my-project-1"),
        ("#(touch hacked)", "touch-hacked"),
        ("=%1{last}", "1-last"),
        ("\x1b[31mred\x07", "red"),
        ("größe 漢字", "größe-漢字"),
        ("...", "baton"),
        ("x" * 500, "x" * 60),
    ],
)
async def test_a_hostile_name_becomes_a_plain_one(tmux: Tmux, tmp_path: Path, name: str, safe: str) -> None:
    assert session_name(name) == safe
    assert (await tmux.open(name, tmp_path, IDLE)).session_name == safe


async def test_a_pane_is_followed_when_its_session_and_window_are_renamed_and_resized(
    tmux: Tmux, tmp_path: Path, socket: str
) -> None:
    info = await tmux.open("work", tmp_path, IDLE)
    run_tmux(socket, "rename-session", "-t", "work", "odd 'name' ##S")
    run_tmux(socket, "rename-window", "-t", info.ref.id, "other")
    run_tmux(socket, "resize-window", "-t", info.ref.id, "-x", "91", "-y", "33")
    now = await tmux.info(info.ref)
    assert (now.session_name, now.width, now.height, now.pid) == ("odd 'name' #S", 91, 33, info.pid)


async def test_a_vanished_pane_is_gone_for_every_call_and_closing_it_is_no_error(tmux: Tmux, tmp_path: Path) -> None:
    await tmux.open("other", tmp_path, IDLE)
    pane = (await tmux.open("work", tmp_path, IDLE)).ref
    await tmux.close(pane)
    for call in (
        tmux.info(pane),
        tmux.screen(pane),
        tmux.paste(pane, "text"),
        tmux.press(pane, "Enter"),
        tmux.leave_mode(pane),
        tmux.respawn(pane, tmp_path, IDLE),
        tmux.tell(pane, "hello"),
    ):
        with pytest.raises(PaneGone, match=pane.id):
            await call
    await tmux.close(pane)


async def test_a_pane_of_another_server_or_with_a_strange_id_is_refused(tmux: Tmux, tmp_path: Path) -> None:
    pane = (await tmux.open("work", tmp_path, IDLE)).ref
    for wrong in (
        PaneRef("elsewhere", pane.server_pid, pane.id),
        PaneRef(pane.socket, pane.server_pid, "work"),
    ):
        with pytest.raises(TerminalError, match="no pane of server"):
            await tmux.close(wrong)
    assert not (await tmux.info(pane)).dead


async def test_the_screen_keeps_colours_and_knows_where_the_caret_is(
    tmux: Tmux, tmp_path: Path, puppet: Puppet
) -> None:
    pane = (await tmux.open("work", tmp_path, puppet.argv, width=60, height=6)).ref
    await puppet.ready()
    await puppet.show("\x1b[2J\x1b[H\x1b[2mTry\x1b[0m ❯\r\n%end 1 2 1\r\n\r\nlast".encode())
    screen = await tmux.screen(pane)
    assert len(screen.rows) == 6
    assert screen.rows[0].startswith("\x1b[2mTry\x1b[0m")
    assert screen.text.splitlines()[:4] == ["Try ❯", "%end 1 2 1", "", "last"]
    assert (screen.cursor_x, screen.cursor_y) == (4, 3)
    await puppet.show(b"\x1b[?1049h\x1b[2J\x1b[Halternate")
    assert (await tmux.screen(pane)).text.strip() == "alternate"


async def test_a_long_paste_arrives_whole_and_as_one_piece(tmux: Tmux, tmp_path: Path, puppet: Puppet) -> None:
    pane = (await tmux.open("work", tmp_path, puppet.argv)).ref
    await puppet.ready()
    text = "".join(f"line {n}: größe 漢字 😀 \t$HOME; #{{pid}} ~ \\n \"'\n" for n in range(2500))
    assert len(text.encode()) > 100_000
    await tmux.paste(pane, text)
    got = await puppet.typed(b"\x1b[201~")
    assert got.decode().replace("\r", "\n") == f"\x1b[200~{text}\x1b[201~"


async def test_a_text_cannot_break_out_of_its_paste(tmux: Tmux, tmp_path: Path, puppet: Puppet) -> None:
    pane = (await tmux.open("work", tmp_path, puppet.argv)).ref
    await puppet.ready()
    await tmux.paste(pane, "a\x1b[201~\x03\x9b201~b")
    assert await puppet.typed(b"\x1b[201~") == b"\x1b[200~a201~b\x1b[201~"


async def test_an_empty_paste_is_none(tmux: Tmux, tmp_path: Path, puppet: Puppet) -> None:
    pane = (await tmux.open("work", tmp_path, puppet.argv)).ref
    await puppet.ready()
    await tmux.paste(pane, "\x1b[0m")
    await tmux.press(pane, "x")
    assert await puppet.typed(b"x") == b"x"


@pytest.mark.parametrize(("key", "data"), [("Enter", b"\r"), ("Escape", b"\x1b"), ("C-c", b"\x03"), (";", b";")])
async def test_a_key_is_pressed_by_its_name(tmux: Tmux, tmp_path: Path, puppet: Puppet, key: str, data: bytes) -> None:
    pane = (await tmux.open("work", tmp_path, puppet.argv)).ref
    await puppet.ready()
    await tmux.press(pane, key)
    assert await puppet.typed(data) == data


@pytest.mark.parametrize("key", ["", "hello world", "Enter; kill-server", "-l", "\x1b"])
async def test_what_is_no_key_is_not_pressed(tmux: Tmux, tmp_path: Path, key: str) -> None:
    pane = (await tmux.open("work", tmp_path, IDLE)).ref
    with pytest.raises(TerminalError, match="not the name of a key"):
        await tmux.press(pane, key)


@pytest.mark.parametrize("mode", ["copy-mode", "clock-mode"])
async def test_nothing_is_typed_while_someone_reads_in_a_mode(
    tmux: Tmux, tmp_path: Path, puppet: Puppet, socket: str, mode: str
) -> None:
    pane = (await tmux.open("work", tmp_path, puppet.argv)).ref
    await puppet.ready()
    run_tmux(socket, mode, "-t", pane.id)
    assert (await tmux.info(pane)).mode == mode
    for typing in (tmux.paste(pane, "half"), tmux.press(pane, "Enter")):
        with pytest.raises(PaneBusy, match="nothing was typed") as refusal:
            await typing
        assert refusal.value.mode == mode
    assert run_tmux(socket, "list-buffers") == ""
    await tmux.leave_mode(pane)
    await tmux.press(pane, "x")
    assert await puppet.typed(b"x") == b"x"


async def test_a_dead_pane_takes_no_keys_and_comes_back_with_its_id(
    tmux: Tmux, tmp_path: Path, puppet: Puppet, socket: str
) -> None:
    pane = (await tmux.open("work", tmp_path, puppet.argv, width=91, height=31)).ref
    await puppet.ready()
    puppet.quit()
    assert await died(tmux, pane) == 7
    for typing in (tmux.paste(pane, "lost"), tmux.press(pane, "Enter")):
        with pytest.raises(PaneBusy, match="dead") as refusal:
            await typing
        assert refusal.value.mode == ""
    back = await tmux.respawn(pane, tmp_path, puppet.argv)
    await puppet.ready()
    assert (back.ref, back.width, back.height, back.dead, back.dead_status) == (pane, 91, 31, False, None)
    await tmux.press(pane, "y")
    assert await puppet.typed(b"y") == b"y"


async def test_a_respawn_ends_what_ran_and_its_pane_outlives_the_new_program_too(
    tmux: Tmux, tmp_path: Path, socket: str
) -> None:
    run_tmux(socket, "new-session", "-d", "-s", "theirs", "tail -f /dev/null")
    [theirs] = await tmux.list()
    await tmux.respawn(theirs.ref, tmp_path, ("sh", "-c", "exit 5"))
    assert await died(tmux, theirs.ref) == 5


async def test_titles_are_shown_without_tricks(tmux: Tmux, tmp_path: Path, puppet: Puppet) -> None:
    pane = (await tmux.open("work", tmp_path, puppet.argv)).ref
    await puppet.ready()
    await puppet.show("\x1b]2;✳ fix |x| \u202ethe bug\x07".encode())
    assert (await tmux.info(pane)).title == "✳ fix |x| the bug"
