"""The document as markdown, and back without loss."""

from batonpass.handoff.document import Handoff


def render(handoff: Handoff) -> str:
    """Markdown in the standard layout; `parse` gives the same model back."""
    raise NotImplementedError


def parse(text: str) -> Handoff:
    """The model of a document, also of one written by hand. Missing sections stay missing.

    Raises NotAHandoff when the text has no section at all.
    """
    raise NotImplementedError


class NotAHandoff(ValueError):
    """The text has none of the document's sections."""
