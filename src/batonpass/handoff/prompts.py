"""Baton's prompts, from templates that users can read and override."""

from collections.abc import Sequence
from pathlib import Path

from batonpass.facts.model import Facts
from batonpass.handoff.check import Gap


def ask(
    tag: str, draft: Path, *, percent: float | None, changed: Sequence[str], template: Path | None = None
) -> str:
    """The request to write the handoff to `draft`."""
    raise NotImplementedError


def missing(
    tag: str,
    draft: Path,
    gaps: Sequence[Gap],
    *,
    changed: Sequence[str],
    late_prompts: Sequence[str] = (),
    template: Path | None = None,
) -> str:
    """The request to complete a document that left something out."""
    raise NotImplementedError


def kick(
    tag: str, cycle: str, handoff: Path, *, late_prompts: Sequence[str] = (), template: Path | None = None
) -> str:
    """The prompt that sets the successor to work, receipt first."""
    raise NotImplementedError


def correct(
    tag: str, cycle: str, handoff: Path, problems: Sequence[str], *, template: Path | None = None
) -> str:
    """The second request for a receipt, with what was wrong with the first."""
    raise NotImplementedError


def document_from_message(text: str) -> str | None:
    """The document that an agent put into its message because it could not write; None when there is none."""
    raise NotImplementedError


def changed_files(facts: Facts) -> tuple[str, ...]:
    """The paths for the ask's `Changed files:` list."""
    return facts.git.dirty if facts.git else facts.touched
