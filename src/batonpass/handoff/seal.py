"""The seal: redacted, item ids given, within the budget, checksummed. Pure; writing is the layout's."""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from batonpass.handoff.document import Handoff, Section
from batonpass.handoff.fit import MAX_CHARS, fit
from batonpass.handoff.items import with_ids
from batonpass.handoff.markdown import parse, render
from batonpass.handoff.redact import Allow, redact

_TRAILER = re.compile(r"^<!-- baton: \{.*\} -->\n?\Z", re.MULTILINE)
_CHECKSUM = re.compile(r'"checksum": "(sha256:[0-9a-f]{64})"')


@dataclass(frozen=True, slots=True)
class Sealed:
    handoff: Handoff
    text: str
    redacted: Mapping[str, int]  # secrets taken out, by rule


def seal(
    handoff: Handoff, *, max_chars: int = MAX_CHARS, allow: Allow = (), titles: Mapping[str, str] | None = None
) -> Sealed:
    """The final document as it goes to disk; `titles` are the names of its sections there."""
    clean, counts = _redacted(handoff, allow)
    whole = fit(with_ids(clean), max_chars)
    body = _before_trailer(render(replace(whole, checksum="sha256:" + "0" * 64), titles))
    final = replace(whole, checksum=_checksum(body))
    text = render(final, titles)
    return Sealed(parse(text), text, counts)


def checksum_ok(text: str) -> bool | None:
    """Whether a sealed text is unchanged; None when it carries no checksum."""
    trailer = _TRAILER.search(text)
    said = _CHECKSUM.search(trailer[0]) if trailer else None
    return None if said is None else said[1] == _checksum(_before_trailer(text))


def _redacted(handoff: Handoff, allow: Allow) -> tuple[Handoff, dict[str, int]]:
    """Part by part, so that no secret, however it is broken, takes structure with it."""
    counts: Counter[str] = Counter()

    def clean(text: str) -> str:
        cleaned, found = redact(text, allow=allow)
        counts.update(found)
        return cleaned

    def sections(parts: tuple[Section, ...]) -> tuple[Section, ...]:
        return tuple(Section(clean(part.title), clean(part.body)) for part in parts)

    return replace(
        handoff,
        preamble=clean(handoff.preamble),
        title=clean(handoff.title),
        headers=tuple((name, clean(value)) for name, value in handoff.headers),
        project=clean(handoff.project or "") or None,
        epic=clean(handoff.epic or "") or None,
        branch=clean(handoff.branch or "") or None,
        reason=clean(handoff.reason or "") or None,
        sections=sections(handoff.sections),
        recorded=sections(handoff.recorded),
        instructions=clean(handoff.instructions),
    ), dict(counts)


def _before_trailer(text: str) -> str:
    trailer = _TRAILER.search(text)
    return text[: trailer.start()] if trailer else text


def _checksum(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
