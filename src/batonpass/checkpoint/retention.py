"""Checkpoints that have had their time."""

import re
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

_NAME = re.compile(r"^.+-\d{2,3}p-(\d{8}T\d{6}Z)(?:-\d+)?\.json\.gz$")


def old(directory: Path, before: float, needed: Collection[str]) -> list[Path]:
    """The checkpoints in a folder that were written before a moment, without those of the needed names.

    Only names that Baton gives count; their dates are those in the names.
    """
    try:
        files = sorted(directory.iterdir())
    except OSError:
        return []
    return [file for file in files if file.name not in needed and _written(file) < before]


def _written(file: Path) -> float:
    found = _NAME.match(file.name)
    if found is None or file.is_symlink() or not file.is_file():
        return float("inf")
    try:
        return datetime.strptime(found[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return float("inf")
