"""The seal: redacted, item ids given, within the budget, checksummed. Pure; writing is the layout's."""

from collections.abc import Mapping
from dataclasses import dataclass

from batonpass.handoff.document import Handoff


@dataclass(frozen=True, slots=True)
class Sealed:
    handoff: Handoff
    text: str
    redacted: Mapping[str, int]  # secrets taken out, by rule


def seal(handoff: Handoff, *, max_chars: int = 26_000) -> Sealed:
    """The final document as it goes to disk."""
    raise NotImplementedError


def checksum_ok(text: str) -> bool | None:
    """Whether a sealed text is unchanged; None when it carries no checksum."""
    raise NotImplementedError
