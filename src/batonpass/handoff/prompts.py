"""Baton's prompts, from templates that users can read and override."""

import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

from batonpass.disk import read_plain
from batonpass.facts.model import Facts
from batonpass.handoff import fences, names
from batonpass.handoff.check import Gap
from batonpass.handoff.markdown import NotAHandoff, parse
from batonpass.handoff.paths import written

BEGIN = "<<<BATON-HANDOFF"
END = "BATON-HANDOFF>>>"
_MOST_CHANGED = 100

# What a receipt asks for. `receipt.verify` knows these words and refuses a copy of them.
RECEIPT_FIELDS: tuple[tuple[str, object], ...] = (
    ("task", "<the current task in one sentence>"),
    ("next_step", "<id of the step you begin with>"),
    ("branch", "<branch or null>"),
    ("files", ["<every path under Files Modified>"]),
    ("constraints", ["<every C id>"]),
    ("open_items", ["<every I and P id>"]),
)


class TemplateError(Exception):
    """A user's template cannot be used; the text says which file and why."""


def ask(tag: str, draft: Path, *, percent: float | None, changed: Sequence[str], template: Path | None = None) -> str:
    """The request to write the handoff to `draft`."""
    return _filled(
        "ask",
        template,
        {
            "tag": tag,
            "draft": str(draft),
            "percent": "nearly" if percent is None else f"{percent:.0f}%",
            "sections": "\n".join(f"- `## {title}`: {guide}" for title, guide in names.GUIDE),
            "changed": _changed(changed),
            **_MARKERS,
        },
    )


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
    return _filled(
        "missing",
        template,
        {
            "tag": tag,
            "draft": str(draft),
            "missing": "\n".join(f"- {gap.message}" for gap in gaps)
            or "- What the user said after the document was written.",
            "late": _late("The user has meanwhile said this; take it into the document:", late_prompts),
            "changed": _changed(changed),
            **_MARKERS,
        },
    )


def kick(tag: str, cycle: str, handoff: Path, *, late_prompts: Sequence[str] = (), template: Path | None = None) -> str:
    """The prompt that sets the successor to work, receipt first."""
    return _filled(
        "kick",
        template,
        {
            "tag": tag,
            "handoff": str(handoff),
            "receipt": _receipt(cycle),
            "late": _late("\nThe user has meanwhile said this; it comes first:", late_prompts),
        },
    )


def correct(tag: str, cycle: str, handoff: Path, problems: Sequence[str], *, template: Path | None = None) -> str:
    """The second request for a receipt, with what was wrong with the first."""
    return _filled(
        "correct",
        template,
        {
            "tag": tag,
            "handoff": str(handoff),
            "problems": "\n".join(f"- {problem}" for problem in problems),
            "receipt": _receipt(cycle),
        },
    )


def changed_files(facts: Facts) -> tuple[str, ...]:
    """The paths for the ask's `Changed files:` list."""
    return facts.git.dirty if facts.git else facts.touched


def back(tag: str, problems: Sequence[str], changes: Sequence[str]) -> str:
    """The first word to a predecessor that was brought back, with what its successor did meanwhile."""
    listed = "\n".join(f"- {problem}" for problem in problems) or "- It gave none."
    return _filled("back", None, {"tag": tag, "problems": listed, "changed": _did(changes)})


def stay(tag: str, why: str, changes: Sequence[str]) -> str:
    """The first word to a predecessor that keeps the work, because its successor was not served."""
    return _filled("stay", None, {"tag": tag, "problems": f"- {why}", "changed": _did(changes)})


def _did(changes: Sequence[str]) -> str:
    did = "\n".join(f"- {change}" for change in changes)
    return f"What it changed meanwhile:\n{did}\n" if did else "It changed no file.\n"


def restored(tag: str) -> str:
    """The first word to a conversation that was brought back in the middle of its turn."""
    return _filled("restored", None, {"tag": tag})


def again(tag: str, what: str) -> str:
    """The word to an agent whose turn was cut off by something that is over now."""
    return _filled("again", None, {"tag": tag, "what": what})


def document_from_message(text: str) -> str | None:
    """The document that an agent put into its message because it could not write; None when there is none.

    Between Baton's markers, or else the one fenced block of the message that reads as a handoff.
    """
    if BEGIN in text:
        inside = text.rpartition(BEGIN)[2].partition(END)[0].strip("\n")
        return inside if _is_document(inside) else None
    return next((block for block in sorted(fences.blocks(text), key=len, reverse=True) if _is_document(block)), None)


_MARKERS: Mapping[str, str] = {"begin": BEGIN, "end": END}


def _filled(name: str, template: Path | None, values: Mapping[str, str]) -> str:
    """The template with its names replaced; a name that it does not know stays as it is written."""
    text = _template(name, template)
    for key in _NEEDED[name]:
        if f"{{{key}}}" not in text:
            raise TemplateError(f"The template {template} lacks {{{key}}}, without which no handoff can work.")
    short = {key: value for key, value in values.items() if key != "late" or not value}
    filled = re.sub(r"\n{3,}", "\n\n", _NAME.sub(lambda found: short.get(found[1], found[0]), text))
    # The user's words come last, so that nothing in them is taken for a name or tidied.
    return filled.replace("{late}", values.get("late", "")).strip()


_NAME = re.compile(r"\{([a-z]+)\}")
_NEEDED = {
    "ask": ("tag", "draft"),
    "missing": ("tag", "draft", "missing"),
    "kick": ("tag", "handoff", "receipt"),
    "correct": ("tag", "problems", "receipt"),
    "back": ("tag", "problems"),
    "stay": ("tag", "problems"),
    "restored": ("tag",),
    "again": ("tag",),
}


def _template(name: str, path: Path | None) -> str:
    if path is None:
        return (resources.files("batonpass.handoff") / "templates" / f"{name}.md").read_text(encoding="utf-8")
    try:
        return read_plain(path).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TemplateError(f"The template {path} cannot be read ({error}); Baton's own is used without it.") from error


def _changed(paths: Sequence[str]) -> str:
    if not paths:
        return ""
    lines = [f"- {written(path)}" for path in paths[:_MOST_CHANGED]]
    return "\n".join(["Changed files:", *lines, ""])


def _late(opening: str, prompts: Sequence[str]) -> str:
    if not prompts:
        return ""
    return "\n\n".join([opening, *(fences.fenced(prompt) for prompt in prompts), ""])


def _receipt(cycle: str) -> str:
    return json.dumps({"baton_receipt": cycle, **dict(RECEIPT_FIELDS)}, indent=2)


def _is_document(text: str) -> bool:
    try:
        return len(parse(text).sections) >= 2
    except NotAHandoff:
        return False
