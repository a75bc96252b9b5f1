"""The receipt: the successor's own statement, compared with the handoff. Pure."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from batonpass.facts.model import GitFacts
from batonpass.handoff import fences, names, paths, record
from batonpass.handoff.document import Handoff
from batonpass.handoff.items import is_nothing, items

_ID = re.compile(r"^\W*([CINP]\d+)\b")
_WORD = re.compile(r"\w{3,}")
_COMMON = {
    "the", "and", "for", "with", "that", "this", "from", "into", "are", "was", "has", "have", "not", "but", "its",
    "then", "will", "can", "all", "now", "use", "used", "using", "work", "working", "task", "current", "user", "last",
    "request",
}  # fmt: skip
_NO_BRANCH = {"", "none", "null", "-", "n/a", "detached", "head", "(detached)", "unknown"}
_SHARE = 0.4  # of the receipt's words that must be the handoff's: a paraphrase passes, another task does not


@dataclass(frozen=True, slots=True)
class Expected:
    """What a true receipt must say."""

    branch: str | None
    required_files: frozenset[str]
    known_files: frozenset[str]
    constraints: frozenset[str]  # C ids
    open_items: frozenset[str]  # I and P ids
    next_steps: Mapping[str, str]  # N id to text
    task: str


def expected(handoff: Handoff, git: GitFacts | None) -> Expected:
    """What the successor of this handoff must know; `git` as it was when the handoff was sealed.

    Every changed file that "Files Modified" names is required. Other files that the document or git knows
    may be named, no others.
    """
    body = handoff.section(names.FILES) or ""
    touched = next((section.body for section in handoff.recorded if section.title == record.TOUCHED), "")
    changed = git.dirty if git else paths.listed(touched)
    found = items(handoff)
    return Expected(
        branch=git.branch if git else handoff.branch,
        required_files=frozenset(path for path in changed if paths.mentions(body, path)),
        known_files=frozenset({*paths.listed(body), *paths.listed(touched), *changed}),
        constraints=frozenset(item.id for item in found if item.kind == "C"),
        open_items=frozenset(item.id for item in found if item.kind in "IP"),
        next_steps={item.id: item.text for item in found if item.kind == "N"},
        task=handoff.section(names.CURRENT_TASK) or "",
    )


def find(text: str) -> dict[str, object] | None:
    """The first fenced JSON object with a `baton_receipt` in an answer."""
    for block in fences.blocks(text):
        try:
            value = json.loads(block)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and "baton_receipt" in value:
            return value
    return None


def verify(receipt: Mapping[str, object], expected: Expected, cycle: str) -> tuple[str, ...]:
    """What is wrong with a receipt, one sentence each; empty when it is accepted."""
    if receipt.get("baton_receipt") != cycle:
        return (f'"baton_receipt" must be "{cycle}"; this receipt is for another handoff, or for none.',)
    if _copied(receipt):
        return ("The receipt is the template, not filled in from the handoff.",)
    return (
        *_task(receipt, expected),
        *_next_step(receipt, expected),
        *_branch(receipt, expected),
        *_files(receipt, expected),
        *_ids(receipt, "constraints", expected.constraints, frozenset()),
        *_ids(receipt, "open_items", expected.open_items, frozenset(expected.next_steps)),
    )


def _copied(receipt: Mapping[str, object]) -> bool:
    texts = [text for key in receipt for text in _texts(receipt, key)]
    return any(text.startswith("<") and text.endswith(">") for text in texts)


def _task(receipt: Mapping[str, object], expected: Expected) -> Iterator[str]:
    said = " ".join(_texts(receipt, "task"))
    if is_nothing(said) and is_nothing(expected.task):
        return  # a document from facts may not know it either: a successor that says so is right
    if is_nothing(said):
        yield '"task" is empty: say the handoff\'s current task.'
    elif not is_nothing(expected.task) and not _same_matter(said, expected.task):
        yield f'"task" is not the handoff\'s current task: "{said[:120]}".'


def _next_step(receipt: Mapping[str, object], expected: Expected) -> Iterator[str]:
    if not expected.next_steps:
        return
    said = " ".join(_texts(receipt, "next_step"))
    named = _ID.match(said)
    known = ", ".join(expected.next_steps)
    if named:
        if named[1] not in expected.next_steps:
            yield f'"next_step" is {named[1]}, but the handoff has {known}.'
    elif not said or not any(_same_matter(said, step) for step in expected.next_steps.values()):
        yield f'"next_step" must be the id of a next step: {known}.'


def _branch(receipt: Mapping[str, object], expected: Expected) -> Iterator[str]:
    said = " ".join(_texts(receipt, "branch")).strip("`")
    if expected.branch is None and said.lower() not in _NO_BRANCH:
        yield f'"branch" is "{said}", but no branch is checked out: it must be null.'
    elif expected.branch is not None and said != expected.branch:
        yield f'"branch" is "{said or "null"}", but the work is on "{expected.branch}".'


def _files(receipt: Mapping[str, object], expected: Expected) -> Iterator[str]:
    said = {path for text in _texts(receipt, "files") for path in _path(text, expected)}
    if lost := sorted(expected.required_files - said):
        yield f'"files" lacks {", ".join(lost)}.'
    if invented := sorted(said - expected.known_files):
        yield f'"files" names what is not in the handoff: {", ".join(invented)}.'


def _ids(receipt: Mapping[str, object], key: str, required: frozenset[str], allowed: frozenset[str]) -> Iterator[str]:
    texts = _texts(receipt, key)
    said = {found[1] for text in texts if (found := _ID.match(text))}
    if lost := sorted(required - said):
        yield f'"{key}" lacks {", ".join(lost)}.'
    invented = sorted(said - required - allowed)
    invented += [text[:40] for text in texts if not _ID.match(text) and not is_nothing(text)]
    if invented:
        yield f'"{key}" names what is not in the handoff: {", ".join(invented)}.'


def _texts(receipt: Mapping[str, object], key: str) -> list[str]:
    """A field as texts, whether it was given as one or as a list."""
    value = receipt.get(key)
    values = value if isinstance(value, list) else [value]
    return [str(text).strip() for text in values if text is not None]


def _path(text: str, expected: Expected) -> tuple[str, ...]:
    """The path in an entry that may be quoted or carry a remark, as "src/a.ts (new)" does."""
    if text.strip("`") in expected.known_files:
        return (text.strip("`"),)
    return () if is_nothing(text) else tuple(_known_as(path, expected) for path in paths.listed(f"- {text}"))


def _known_as(path: str, expected: Expected) -> str:
    """An absolute path as the handoff has it, where it has it."""
    if path in expected.known_files or not path.startswith("/"):
        return path
    return next((known for known in expected.known_files if path.endswith(f"/{known}")), path)


def _same_matter(said: str, known: str) -> bool:
    """Whether two texts are about the same thing: enough of the words of the first begin like some of the second."""
    words, others = _stems(said), _stems(known)
    if not words or not others:
        return said.strip().lower() in known.lower() or known.strip().lower() in said.lower()
    return len(words & others) >= max(1, round(_SHARE * min(len(words), len(others))))


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:5] for word in _WORD.findall(text.lower()) if word not in _COMMON)
