"""A checkpoint on disk: JSON, gzip, versioned, checksummed, owner-only."""

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from batonpass.checkpoint.content import content
from batonpass.disk import keep_out_of_git, open_plain, write_new
from batonpass.facts.model import Facts
from batonpass.handoff.draft import Meta
from batonpass.handoff.redact import Allow

VERSION = 1
FOLDER = "tmp/context-checkpoints"
_LARGEST = 256 << 20


class CheckpointError(Exception):
    """The file cannot be used; the text says which file and why."""


def write(facts: Facts, meta: Meta, directory: Path, *, task: str | None = None, allow: Allow = ()) -> Path:
    """Write `{task}-{agent}-{NN}p-{timestamp}.json.gz` and say where. The folder ignores itself for git.

    `task` defaults to the session's id. Secrets are taken out first. Raises OSError when the disk refuses.
    """
    keep_out_of_git(directory)
    body = content(facts, meta, task=task or meta.session, allow=allow)
    text = _canonical(body)
    whole = {"version": VERSION, "checksum": _checksum(text), "checkpoint": body}
    data = gzip.compress(_canonical(whole), mtime=0)
    path = _free(directory, _stem(meta, task or meta.session))
    write_new(path, data)
    return path


def read(path: Path) -> Mapping[str, object]:
    """The content of a verified checkpoint. Raises CheckpointError."""
    try:
        whole = json.loads(_unpacked(path))
    except FileNotFoundError:
        raise CheckpointError(f"There is no checkpoint {path}.") from None
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise CheckpointError(f"The checkpoint {path} cannot be read ({error}); use an older one.") from error
    body = whole.get("checkpoint") if isinstance(whole, dict) else None
    if not isinstance(body, dict):
        raise CheckpointError(f"{path} is no checkpoint of Baton; nothing was used of it.")
    if whole.get("version") != VERSION:
        raise CheckpointError(f"The checkpoint {path} has version {whole.get('version')}; this Baton reads {VERSION}.")
    if whole.get("checksum") != _checksum(_canonical(body)):
        raise CheckpointError(f"The checkpoint {path} was changed after it was written; nothing was used of it.")
    return body


def _unpacked(path: Path) -> bytes:
    """What the file holds, as far as it is no more than a checkpoint can be: gzip can hide a terabyte."""
    with open_plain(path) as stream, gzip.GzipFile(fileobj=stream) as unpacked:
        data = unpacked.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ValueError(f"it holds more than {_LARGEST:,} bytes")
    return data


def verify(path: Path) -> str | None:
    """What is wrong with a checkpoint, in one sentence; None when it is sound."""
    try:
        read(path)
    except CheckpointError as error:
        return str(error)
    return None


def _stem(meta: Meta, task: str) -> str:
    stamp = datetime.fromtimestamp(meta.created, UTC).strftime("%Y%m%dT%H%M%SZ")
    percent = 0 if meta.percent is None else int(meta.percent)
    return f"{_plain(task)}-{_plain(meta.agent)}-{percent:02d}p-{stamp}"


def _plain(name: str) -> str:
    """A name that is safe in a file's name."""
    return re.sub(r"[^A-Za-z0-9_.]+", "_", name).strip("._")[:60] or "task"


def _free(directory: Path, stem: str) -> Path:
    path, count = directory / f"{stem}.json.gz", 1
    while path.exists():
        count += 1
        path = directory / f"{stem}-{count}.json.gz"
    return path


def _canonical(value: object) -> bytes:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def _checksum(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()
