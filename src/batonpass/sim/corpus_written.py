"""What an agent writes of a corpus when it is asked to hand over: what it remembers, in words of its own.

Nobody here asks a real model. How much one remembers is a setting (`MEMORY`); published figures for summaries by
models lie between 37 and 83 %. It knows nothing of ids that only the agent's program shows, and it never copies a
sentence of the session.
"""

import random
from collections.abc import Iterable, Mapping, Sequence

from batonpass.handoff import names
from batonpass.sim.corpus import Corpus, Planted

MEMORY = 0.8
_SECTIONS: Mapping[str, str] = {
    "request": names.CURRENT_TASK, "epic": names.LINKS, "todo": names.PROGRESS, "commit": names.PROGRESS,
    "stash": names.PROGRESS, "subagent": names.SUBAGENTS, "process": names.SUBAGENTS, "decision": names.DECISIONS,
    "failure": names.DECISIONS, "file": names.FILES,
}  # fmt: skip
_ORDER = (
    names.CURRENT_TASK, names.PROGRESS, names.SUBAGENTS, names.DECISIONS, names.FILES, names.NEXT_STEPS, names.CONTEXT,
    names.LINKS,
)  # fmt: skip


def remembered(corpus: Corpus, memory: float = MEMORY) -> tuple[Planted, ...]:
    """What this agent still knows of what holds: always the last request, of the rest a share by chance."""
    rng = random.Random(f"memory {corpus.seed}")
    return tuple(fact for fact in corpus.must if rng.random() < memory or fact.kind == "request")


def document(known: Iterable[Planted], *, added: Sequence[str] = (), careless: bool = False) -> str:
    """A handoff from that; `added` is what it was asked for again. A careless agent leaves every second section out."""
    told: dict[str, list[str]] = {title: [] for title in _ORDER}
    for fact in known:
        told[_SECTIONS.get(fact.kind, names.CONTEXT)].append(fact.told)
    task = told[names.CURRENT_TASK][0] if told[names.CURRENT_TASK] else "go on with the work"
    told[names.NEXT_STEPS] = [task, *told[names.PROGRESS][:2]]
    told[names.CONTEXT] += [_wanted(message) for message in added]
    titles = _ORDER[::2] if careless else _ORDER
    return "\n\n".join(f"## {title}\n{_body(title, told[title])}" for title in titles) + "\n"


def _wanted(message: str) -> str:
    """The thing itself out of a message that it is missing."""
    quoted = message.partition('"')[2].rpartition('"')[0]
    return quoted or message.removeprefix("The ").replace(" is not mentioned", "")


def short_document(known: Iterable[Planted], percent: int) -> str:
    """The same knowledge in 001's form, for its own prompt."""
    told: dict[str, list[str]] = {}
    for fact in known:
        told.setdefault(_SECTIONS.get(fact.kind, names.CONTEXT), []).append(fact.told)
    work = told.get(names.CURRENT_TASK, ["go on"])
    parts = [
        ("Current Work", work),
        ("Completed Since Last Handoff", ["see the files"]),
        ("Next Steps", [*work, *told.get(names.PROGRESS, [])]),
        ("Critical State", [line for title, lines in told.items() if title in _REST for line in lines]),
    ]
    body = "\n\n".join(f"## {title}\n" + "\n".join(f"- {line}" for line in lines) for title, lines in parts)
    return f"# Handoff Document\n\n**Context Usage**: {percent}%\n\n{body}\n"


_REST = (names.SUBAGENTS, names.DECISIONS, names.FILES, names.CONTEXT, names.LINKS)


def _body(title: str, lines: Sequence[str]) -> str:
    if title == names.CURRENT_TASK:
        return f"The user wants us to {lines[0]}." if lines else "Go on with the work."
    if title == names.PROGRESS:
        return "### Completed\n- what came before\n\n### Pending\n" + _listed(lines)
    if title == names.NEXT_STEPS:
        return "\n".join(f"{n}. {line}" for n, line in enumerate(lines, 1))
    return _listed(lines)


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines) or "None."
