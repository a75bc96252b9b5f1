"""What a co-operative agent reads out of Baton's prompts, and the papers it writes in return.

Pure text in, text out. It knows Baton's prompts only as any agent does: by reading them.
"""

import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from batonpass.delivery import tags_in

BEGIN = "<<<BATON-HANDOFF"
END = "BATON-HANDOFF>>>"

_WRITE_TO = re.compile(r"^[>\s]*Write it to:[ \t]*`?(/[^\n`]+?)`?[ \t]*$", re.MULTILINE)
_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.)\s+(?:\[.\]\s+)?\(([CNPI]\d+)\)\s*(.*)$", re.MULTILINE)
_BRANCH = re.compile(r"\*\*Branch(?:\*\*:|:\*\*)[ \t]*`?([^\s`]+)")
_PART = re.compile(r"\bpart (\d+) of \d+\b[^\n]*\n[^\n]*\n<baton-handoff>\n(.*?)\n</baton-handoff>", re.DOTALL)
_RECEIPT_BLOCK = re.compile(r"```json\s*(\{.*?\})\s*```", re.DOTALL)
_NO_BRANCH = {"none", "unknown", "-", "–", "—", "(none)", "n/a"}


@dataclass(frozen=True, slots=True)
class Mark:
    """A tag taken apart."""

    cycle: str
    step: str
    attempt: int

    def __str__(self) -> str:
        return f"({self.cycle} {self.step} {self.attempt})"


def mark_in(text: str) -> Mark | None:
    """The last tag in a prompt, or None when the prompt is not Baton's.

    >>> mark_in("[baton 7f3a91c2 ask 1] Write it")
    Mark(cycle='7f3a91c2', step='ask', attempt=1)
    """
    tags = tags_in(text)
    if not tags:
        return None
    cycle, step, attempt = tags[-1].strip("[]").split()[1:]
    return Mark(cycle, step, int(attempt))


def draft_path(ask: str) -> str | None:
    """Where an ask wants the document, or None when it names no place."""
    found = _WRITE_TO.findall(ask)
    return found[-1] if found else None


def changed_files(ask: str) -> list[str]:
    """The paths that an ask lists under `Changed files:`, up to the first line that is no list item."""
    _, found, rest = ask.partition("Changed files:")
    lines = [line.strip() for line in rest.strip().splitlines()] if found else []
    items = itertools.takewhile(lambda line: line.startswith("- "), lines)
    return [item[2:].strip().strip("`") for item in items]


@dataclass(frozen=True, slots=True)
class Inherited:
    """What a successor reads in the handoff that its context begins with."""

    task: str | None = None
    branch: str | None = None
    items: Mapping[str, str] = field(default_factory=dict)  # by id: C1, I1, P1, N1
    files: tuple[str, ...] = ()

    def ids(self, kinds: str) -> list[str]:
        """The ids of these kinds, in the document's order."""
        return [key for key in self.items if key[0] in kinds]


def inherited(context: str) -> Inherited:
    """The handoff in a context; parts that arrived in another order are put right first."""
    document = _in_order(context)
    branch = _BRANCH.search(document)
    task = [line for line in _section(document, "Current Task") if line]
    return Inherited(
        task=task[0].strip("* ") if task else None,
        branch=branch.group(1) if branch and branch.group(1).lower() not in _NO_BRANCH else None,
        items={key: text.strip() for key, text in _ITEM.findall(document)},
        files=tuple(_paths(_section(document, "Files Modified"))),
    )


def _in_order(context: str) -> str:
    """The agents' own part of the handoff, whose parts may have come in any order; else the whole context."""
    pieces = sorted((int(number), piece) for number, piece in _PART.findall(context))
    document = "\n".join(piece for _, piece in pieces) or context
    return document.partition("\n## Recorded by Baton")[0]


def _section(document: str, title: str) -> list[str]:
    """The lines below a heading, up to the next heading of its rank."""
    _, _, below = document.partition(f"## {title}\n")
    return [line.strip() for line in itertools.takewhile(lambda line: not line.startswith("## "), below.splitlines())]


def _paths(lines: Iterable[str]) -> list[str]:
    paths = []
    for line in lines:
        if not line.startswith(("- ", "* ")):
            continue
        entry = line[2:].strip()
        quoted = re.match(r"`([^`]+)`", entry)
        paths.append(quoted.group(1) if quoted else re.split(r" \(| —| ", entry, maxsplit=1)[0])
    return paths


def receipt(mark: Mark, known: Inherited, *, branch: str | None) -> str:
    """The successor's statement as a fenced block, from what it has read."""
    steps = known.ids("N")
    statement = {
        "baton_receipt": mark.cycle,
        "task": known.task or "",
        "next_step": steps[0] if steps else "",
        "branch": branch,
        "files": list(known.files),
        "constraints": known.ids("C"),
        "open_items": known.ids("PIN"),
    }
    return f"```json\n{json.dumps(statement, indent=2, ensure_ascii=False)}\n```"


def receipt_template(kick: str) -> str:
    """The receipt block of a kick, copied as it stands: what an agent gives that has read nothing."""
    block = _RECEIPT_BLOCK.search(kick)
    body = block.group(1) if block else '{"baton_receipt": "…"}'
    return f"```json\n{body}\n```"


@dataclass(frozen=True, slots=True)
class Work:
    """What an agent knows of its own work when it is asked to hand over."""

    task: str
    done: Sequence[str]
    doing: str
    pending: Sequence[str]
    files: Sequence[str]
    context: Sequence[str]


def document(work: Work) -> str:
    """A well-formed handoff with every section filled."""
    return "\n\n".join(f"## {title}\n{body}" for title, body in _sections(work)) + "\n"


def careless_document(work: Work) -> str:
    """Every second section only: no progress, no files, no decisions."""
    return "\n\n".join(f"## {title}\n{body}" for title, body in list(_sections(work))[::2]) + "\n"


def _sections(work: Work) -> Iterable[tuple[str, str]]:
    yield "Current Task", work.task
    completed = _bullets(work.done, "Nothing is complete yet.")
    pending = _bullets(work.pending, "Nothing else is pending.")
    progress = f"### Completed\n{completed}\n\n### In Progress\n- {work.doing}\n\n### Pending\n{pending}"
    yield "Progress Summary", progress
    yield "Active Subagents", "No sub-agent is running."
    yield "Recent Decisions", "- Work in small steps and check each one, because the job is long."
    yield "Files Modified", _bullets([_file(path) for path in work.files], "No file is uncommitted.")
    yield "Next Steps", "\n".join(f"{n}. {step}" for n, step in enumerate((work.doing, *work.pending), 1))
    yield "Important Context", _bullets(work.context, "Nothing beyond the above.")
    yield "Links", "The work is in this folder; there is no other document."


def _file(path: str) -> str:
    name = f"`{path}`" if " " in path else path
    return f"{name} (changed, not committed)"


def _bullets(items: Sequence[str], otherwise: str) -> str:
    return "\n".join(f"- {item}" for item in items) or otherwise
