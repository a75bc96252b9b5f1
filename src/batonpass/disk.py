"""Files that must be whole, private, or both; and files of others, which may be anything."""

import errno
import os
import secrets
import stat
from pathlib import Path
from typing import BinaryIO

DOCUMENT_LIMIT = 4 << 20  # bytes of a handoff, a draft or a configuration: a hundred times what is sensible


class Outside(OSError):
    """A path leads out of the folder that it must stay in; the text says which and where to."""


def write_private(path: Path, text: str, *, durable: bool = True) -> None:
    """Write text for its owner alone, whole or not at all; on disk when this returns, unless not `durable`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, text.encode("utf-8"), durable=durable)


def write_bytes(path: Path, data: bytes, *, mode: int = 0o600, durable: bool = True) -> None:
    """As `write_private`, for bytes and for a file that others may read."""
    temporary = _temporary(path, data, durable=durable)
    try:
        if mode != 0o600:
            temporary.chmod(mode)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync_folder(path.parent)


def write_new(path: Path, data: bytes) -> None:
    """Make an owner-only file that must not exist, whole or not at all; on disk when this returns.

    The same content again is no error, another is FileExistsError.
    """
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    temporary = _temporary(path, data, durable=True)
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


def write_once(path: Path, text: str) -> None:
    """Write a small file unless something of that name is there, be it a link that leads nowhere."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError:
        return
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


def keep_out_of_git(folder: Path) -> None:
    """Make a folder, owner-only, that git ignores without a word in the user's own .gitignore."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_once(folder / ".gitignore", "*\n")


def sync_folder(folder: Path) -> None:
    """Put a folder's names on disk: a rename that is not synced can be lost with the power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_plain(path: Path, *, follow: bool = True) -> BinaryIO:
    """Open a regular file to read, at once. OSError for all else: a pipe would block, a device never end.

    Without `follow`, a symbolic link is no regular file either.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except ValueError as error:  # a NUL in the name
        raise FileNotFoundError(errno.ENOENT, "there is no file of such a name", str(path)) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "this is no regular file", str(path))
    return os.fdopen(descriptor, "rb")


def read_plain(path: Path, *, limit: int = DOCUMENT_LIMIT, follow: bool = True) -> bytes:
    """The bytes of a regular file. OSError also when it is larger than the limit."""
    with open_plain(path, follow=follow) as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"this file is larger than {limit:,} bytes", str(path))
    return data


def read_document(path: Path, *, follow: bool = False) -> str:
    """The text of a handoff or draft; what is no UTF-8 is replaced. OSError for all that cannot be one."""
    return read_plain(path, follow=follow).decode("utf-8", "replace")


def make_inside(root: Path, folder: Path, mode: int = 0o700) -> None:
    """Make a folder below `root`. Raises Outside when a symbolic link on the way leads elsewhere."""
    stay_inside(root, folder)
    folder.mkdir(parents=True, exist_ok=True, mode=mode)


def stay_inside(root: Path, path: Path) -> None:
    """Raises Outside when a path, with its symbolic links followed, is not below `root`."""
    real, base = os.path.realpath(path), os.path.realpath(root)
    if real != base and not real.startswith(base.rstrip(os.sep) + os.sep):
        message = f"this leads out of {root}, to {real}, so it is not used; take the symbolic link away"
        raise Outside(errno.EPERM, message, str(path))


def _temporary(path: Path, data: bytes, *, durable: bool) -> Path:
    """The content beside its final name, for its owner alone."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    # Never through a link that somebody laid there: the file must be new.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _holds(path: Path, data: bytes) -> bool:
    try:
        return read_plain(path, limit=len(data), follow=False) == data
    except OSError:
        return False
