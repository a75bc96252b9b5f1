from pathlib import Path

from batonpass.terminals.tmux import Tmux

IDLE = ("tail", "-f", "/dev/null")


async def test_an_opened_pane_runs_the_program_itself_in_its_folder(tmux: Tmux, tmp_path: Path) -> None:
    info = await tmux.open("work", tmp_path, IDLE, width=120, height=40)
    assert (info.session_name, info.width, info.height, info.dead, info.attached) == (
        "work",
        120,
        40,
        False,
        0,
    )
    assert Path(f"/proc/{info.pid}/cmdline").read_bytes().split(b"\0")[:-1] == [b"tail", b"-f", b"/dev/null"]
    assert (await tmux.info(info.ref)).cwd == tmp_path
