"""What the tests of Gemini CLI's launch have in common: an order, a user's home, and the overlay made of it."""

from itertools import pairwise
from pathlib import Path

from batonpass.agents.base import Launch, LaunchOrder

HOOK = ("/usr/bin/python", "-I", "/a b/_entry.py", "hook")
OLD, NEW = "e412b7a3-d8e1-4710-a248-2b738870c017", "62ce8fcf-59fd-4c5f-9220-36e6f2b9c974"


def order(tmp_path: Path, *args: str, **more: object) -> LaunchOrder:
    program = tmp_path / "bin" / "gemini"
    program.parent.mkdir(exist_ok=True)
    program.touch(mode=0o755)
    folder = tmp_path / "session"
    folder.mkdir(exist_ok=True)
    within = {"TMUX": "x", "GEMINI_SESSION_ID": "x", "GEMINI_CLI": "1"}  # another session
    env = {"PATH": str(program.parent), "HOME": str(tmp_path / "home"), **within}
    known = {"folder": folder, "project": tmp_path, "draft_dir": tmp_path / "d", "statusline": (), "env": env}
    return LaunchOrder(session="ab12", args=args, **{"hook": HOOK, **known, **more})  # type: ignore[arg-type]


def users(tmp_path: Path, name: str, content: str = "{}") -> Path:
    path = tmp_path / "home" / ".gemini" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def given(launch: Launch) -> tuple[str, ...]:
    """Its arguments, but for the policies."""
    words, policies = list(launch.argv[1:]), named(launch)
    for path in policies:
        at = words.index(path)
        del words[at - 1 : at + 1]
    return tuple(words)


def named(launch: Launch) -> list[str]:
    """The policies that it is started with."""
    return [value for option, value in pairwise(launch.argv) if option == "--policy"]


def overlay(tmp_path: Path) -> Path:
    return tmp_path / "session" / "gemini-home" / ".gemini"
