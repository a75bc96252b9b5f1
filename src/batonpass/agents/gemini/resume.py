"""What a resume of Gemini CLI 0.61 would destroy, and how it is kept.

A conversation that is resumed in a later minute than it began gets a second file of the same short id, with no
prompt in it. The next start of the program in that project takes that one for broken and deletes every file of the
short id, the real record among them. So the record is copied first, and the second file is removed when it lies still.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from batonpass.agents.base import Binding, LaunchError
from batonpass.agents.gemini.places import chats_of, user_folder
from batonpass.agents.gemini.record import Journal
from batonpass.transcripts.events import Prompted, Said, ToolCalled
from batonpass.transcripts.whole import all_events, first_entry
from batonpass.untrusted import identifier

_KEPT = "kept"  # in a session's folder
_STILL_SECONDS = 3.0  # the program writes into the second file only while it starts
_REFUSED = 42  # its exit status for words that it cannot start with
_SHORT = 8  # characters of the id in a file's name
_TAKEN_UP = b'{"$set":{"sessionId":'
_UNTOLD_SECONDS = 60.0  # after which it is a version that does not tell


def transcript(session: str, env: Mapping[str, str]) -> Path | None:
    """The record of a conversation: of the files with its short id the oldest, by name, that names it whole."""
    found = sorted(user_folder(env).glob(f"tmp/*/chats/session-*-{session[:_SHORT]}.jsonl"))
    return next((path for path in found if session_of(path) == session), None)


def session_of(path: Path) -> str | None:
    """The conversation that a file's first line names; None where it is no main conversation's."""
    entry = first_entry(path)
    return identifier(entry.get("sessionId")) if entry.get("kind", "main") == "main" else None


def keep_copy(session: str, env: Mapping[str, str], folder: Path) -> None:
    """Copy a conversation's record into the session's folder; one that was lost is put back from there.

    Raises OSError when it cannot be copied: then nothing is resumed.
    """
    kept = folder / _KEPT
    path = transcript(session, env)
    if path is not None:
        _keep(path, kept, shutil.copyfile)
        return
    for copy in kept.glob(f"session-*-{session[:_SHORT]}.jsonl"):
        lost = Path(copy.with_name(f"{copy.name}.from").read_text(encoding="utf-8"))
        if session_of(copy) == session and not lost.exists():
            lost.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(copy, lost)


def keep_all(project: Path, env: Mapping[str, str], folder: Path) -> None:
    """Keep every record of a project: one of them is resumed, and which one only the program will know.

    As further names of the same files, which cost nothing and hold what the program deletes. Raises OSError.
    """
    chats = chats_of(Path(os.path.realpath(project)), env)
    for path in chats.glob("session-*.jsonl") if chats else ():
        try:
            _keep(path, folder / _KEPT, os.link)
        except FileNotFoundError:
            continue  # removed by the program meanwhile
        except OSError:  # on another disk
            _keep(path, folder / _KEPT, shutil.copyfile)


def _keep(path: Path, kept: Path, take: Callable[[Path, Path], object]) -> None:
    kept.mkdir(mode=0o700, exist_ok=True)
    fresh = kept / f".{path.name}"
    fresh.unlink(missing_ok=True)
    take(path, fresh)
    if not fresh.samefile(path):
        fresh.chmod(0o600)
    os.replace(fresh, kept / path.name)
    fresh.unlink(missing_ok=True)  # where both were names of one file already
    (kept / f"{path.name}.from").write_text(str(path), encoding="utf-8")


def loaded(session: str, env: Mapping[str, str], folder: Path) -> bool:
    """Whether the program has taken up again what was said; True as well where it was not resumed.

    It draws its box and calls itself ready before that, and a prompt of that moment goes to a model that knows nothing.
    Once it has the conversation it adds a word of that to the record, of which there is a copy from before its start.
    """
    record = transcript(session, env)
    copy = folder / _KEPT / record.name if record is not None else None
    try:
        if record is None or copy is None or copy.samefile(record):
            return True
        before = copy.stat()
        with record.open("rb") as file:
            file.seek(before.st_size)
            told = _TAKEN_UP in file.read()
    except OSError:
        return True
    return told or not 0 <= time.time() - before.st_mtime < _UNTOLD_SECONDS


def restarts(status: int | None, binding: Binding) -> bool:
    """Whether it ended because it wanted to start anew, as it does for a trusted folder or a setting.

    It does so with the words it was started with, and then refuses the id in them, as that conversation exists.
    """
    if status != _REFUSED or binding.agent_session is None:
        return False
    record = transcript(binding.agent_session, binding.env)
    return record is not None and _has_talk(record)


@contextmanager
def kept(session: str, env: Mapping[str, str]) -> Iterator[None]:
    """Around a run that resumes a conversation and ends: nothing is lost by it, and nothing is left behind.

    Raises LaunchError when the record cannot be copied: then nothing is resumed.
    """
    with tempfile.TemporaryDirectory(prefix="baton-") as folder:
        try:
            keep_copy(session, env, Path(folder))
        except OSError as error:
            raise LaunchError(f"The record of {session} could not be copied, so it was not resumed: {error}.") from None
        try:
            yield
        finally:
            tend(session, env, still=0.0)
            if transcript(session, env) is None:
                keep_copy(session, env, Path(folder))


def tend(session: str, env: Mapping[str, str], *, still: float = _STILL_SECONDS) -> list[Path]:
    """Remove what a resume left beside a conversation's record, once it lies still; what was removed."""
    removed: list[Path] = []
    record = transcript(session, env)
    for stray in _strays(record) if record is not None else ():
        with suppress(OSError):
            if time.time() - stray.stat().st_mtime >= still:
                os.unlink(stray)
                removed.append(stray)
    return removed


def _strays(record: Path) -> Iterator[Path]:
    """Files of the same short id with a later name in which nobody has said anything."""
    short = record.name.rpartition("-")[2]
    for path in record.parent.glob(f"session-*-{short}"):
        if path.name > record.name and not _has_talk(path):
            yield path


def _has_talk(path: Path) -> bool:
    """Whether anything in a file is worth keeping: when in doubt, it is."""
    return any(isinstance(event, Prompted | Said | ToolCalled) for event in all_events(path, Journal()))
