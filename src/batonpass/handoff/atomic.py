"""Files that are there whole or not at all, owner-only, and on disk when the call returns."""

import os
import secrets
from pathlib import Path

from batonpass.disk import read_plain, sync_folder, write_once


def write_new(path: Path, data: bytes) -> None:
    """Make a file that must not exist. The same content again is no error, another is FileExistsError."""
    temporary = _temporary(path, data)
    try:
        os.link(temporary, path)
    except FileExistsError:
        if not _holds(path, data):
            message = f"{path} exists with another content; it was kept, and nothing was written."
            raise FileExistsError(message) from None
    except OSError:
        # File systems without hard links: the window between look and rename is ours alone.
        if path.exists():
            raise FileExistsError(f"{path} exists; it was kept, and nothing was written.") from None
        os.rename(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def _holds(path: Path, data: bytes) -> bool:
    try:
        return read_plain(path, limit=len(data), follow=False) == data
    except OSError:
        return False


def keep_out_of_git(folder: Path) -> None:
    """Make a folder, owner-only, that git ignores without a word in the user's own .gitignore."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_once(folder / ".gitignore", "*\n")


def _temporary(path: Path, data: bytes) -> Path:
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary
