"""Telling a person: in the store, in the pane, on the desktop, by a command of theirs. Never off the machine."""

import asyncio
import logging
import os
import shutil
import sys
from collections.abc import Sequence

log = logging.getLogger(__name__)

_SECONDS = 5.0
_NOWHERE = asyncio.subprocess.DEVNULL


async def desktop(title: str, text: str) -> None:
    """A desktop notification where there is a desktop; nothing where there is none."""
    if sys.platform == "darwin":
        script = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
        await _run(["osascript", "-e", script, title, text])
    elif shutil.which("notify-send") and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        await _run(["notify-send", "--app-name=baton", "--", title, text])


async def command(argv: Sequence[str], session: str, text: str) -> None:
    """The user's own command, with the session and the sentence as its last two arguments; no shell."""
    await _run([*argv, session, text])


async def _run(argv: Sequence[str]) -> None:
    try:
        process = await asyncio.create_subprocess_exec(*argv, stdin=_NOWHERE, stdout=_NOWHERE, stderr=_NOWHERE)
    except OSError as error:
        log.warning("the notification command %s could not be run: %s", argv[0], error)
        return
    try:
        await asyncio.wait_for(process.wait(), _SECONDS)
    except TimeoutError:
        process.kill()
        log.warning("the notification command %s took too long and was ended", argv[0])
