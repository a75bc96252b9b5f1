"""The document as context for the successor, in parts below the agent's cap."""

from pathlib import Path


def parts(document: str, path: Path, cap: int, n: int) -> list[str]:
    """At most n numbered parts of at most `cap` characters; the last one names the file if not all fits."""
    raise NotImplementedError
