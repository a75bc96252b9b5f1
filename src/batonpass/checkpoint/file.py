"""A checkpoint on disk: JSON, gzip, versioned, checksummed, owner-only."""

from collections.abc import Mapping
from pathlib import Path

from batonpass.facts.model import Facts
from batonpass.handoff.draft import Meta


class CheckpointError(Exception):
    """The file cannot be used; the text says which file and why."""


def write(facts: Facts, meta: Meta, directory: Path, *, task: str | None = None) -> Path:
    """Write `{task}-{agent}-{NN}p-{timestamp}.json.gz` and say where. The folder ignores itself for git."""
    raise NotImplementedError


def read(path: Path) -> Mapping[str, object]:
    """A verified checkpoint. Raises CheckpointError."""
    raise NotImplementedError


def verify(path: Path) -> str | None:
    """What is wrong with a checkpoint, in one sentence; None when it is sound."""
    raise NotImplementedError
