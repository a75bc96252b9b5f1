"""The size budget: the least valuable facts are shortened first."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from batonpass.facts.remarks import substance
from batonpass.handoff import record
from batonpass.handoff.document import Handoff, Section
from batonpass.handoff.entries import shortened, split
from batonpass.handoff.markdown import render

MAX_TOKENS = 4_000
# English prose is 3.5 to 4 characters a token, paths, ids and code nearer to 3. A handoff is prose with a good deal
# of both; 3.5 keeps to the budget also where half of it is paths.
CHARS_PER_TOKEN = 3.5
MAX_CHARS = int(MAX_TOKENS * CHARS_PER_TOKEN)

# Never shortened, whatever the size: without these the successor does wrong things, not just slower ones.
#   sections of the agent        its judgement; nothing else holds it
#   LEFT_OUT                     what the agent forgot would be forgotten a second time
#   LATE, the last prompt        what the user waits for now
#   RULES                        a constraint that is gone is broken
#   CARRIED, TODOS               work that nobody else remembers
#   FAILING                      a broken test that nobody knows of is shipped
#   GIT                          uncommitted work that is not named is overwritten
#   BACKGROUND                   started twice, it does damage
#   UNKNOWN, SOURCES             where the successor finds what was cut here
KEPT_WHOLE = frozenset(
    {
        record.LEFT_OUT,
        record.LATE,
        record.RULES,
        record.CARRIED,
        record.TODOS,
        record.FAILING,
        record.GIT,
        record.BACKGROUND,
        record.UNKNOWN,
        record.SOURCES,
    }
)


_EARLIER = f"#### {record.EARLIER}"
Cut = Callable[[str, str], str]  # a body and where the rest is found, to a shorter body


def _entries(cut: Callable[[list[str], str], list[str]]) -> Cut:
    return lambda body, pointer: "\n\n".join(cut(split(body), pointer))


def _without_results(keep: int) -> Cut:
    return _entries(
        lambda entries, _: [
            entry if n >= len(entries) - keep else entry.split("\n", 1)[0] for n, entry in enumerate(entries)
        ]
    )


def _each_within(limit: int, *, whole: int = 0) -> Cut:
    """Middles cut out of long entries; the last `whole` ones stay as they are, and so does a list of sentences."""
    return _entries(
        lambda entries, pointer: [
            entry if n >= len(entries) - whole or entry.startswith(_EARLIER) else shortened(entry, limit, pointer)
            for n, entry in enumerate(entries)
        ]
    )


_CUT = re.compile(r"^#### (\d+) older ones left out; ")


def _last(keep: int) -> Cut:
    def cut(entries: list[str], pointer: str) -> list[str]:
        before = _CUT.match(entries[0])
        entries = entries[1:] if before else entries
        gone = max(0, len(entries) - keep)
        count = gone + (int(before[1]) if before else 0)
        head = [f"#### {count} older ones left out; {pointer}"] if count else []
        return [*head, *entries[gone:]]

    return _entries(cut)


def _lines_within(limit: int) -> Cut:
    """Long lines of a list cut at their end."""
    return lambda body, _: "\n".join(
        line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…" for line in body.split("\n")
    )


def _newest_lines(keep: int) -> Cut:
    def cut(body: str, pointer: str) -> str:
        lines = body.split("\n")
        if len(lines) <= keep:
            return body
        return "\n".join([*lines[len(lines) - keep :], f"- {len(lines) - keep} older ones left out; {pointer}"])

    return cut


def _best_lines(keep: int) -> Cut:
    """The lines that tell most, in their order."""

    def cut(body: str, _: str) -> str:
        lines = body.split("\n")
        best = set(sorted(range(len(lines)), key=lambda n: (substance(lines[n]), n))[-keep:] if keep else ())
        return "\n".join(line for n, line in enumerate(lines) if n in best)

    return cut


def _earlier(room: int) -> Cut:
    """What the user said before the last prompts: the lines that tell most, within so many characters."""

    def cut(entries: list[str], _: str) -> list[str]:
        first = entries[0].split("\n")
        if first[0] != _EARLIER:
            return entries
        lines = first[2:-1]
        while lines and sum(len(line) + 1 for line in lines) > room:
            lines.remove(min(lines, key=substance))
        return [*(["\n".join([*first[:2], *lines, first[-1]])] if lines else []), *entries[1:]]

    return _entries(cut)


# In this order, one after the other, until the document fits. What can be read again elsewhere goes first: texts and
# outputs. What was drawn from them (decisions, ways that failed, values) is short for what it is worth and goes last.
# Of the user's prompts only the middles go at first: what they demand stands under the constraints already.
STEPS: tuple[tuple[str, Cut], ...] = (
    (record.SAID, _each_within(600)),
    (record.COMMANDS, _without_results(keep=5)),
    (record.SAID, _last(2)),
    (record.COMMANDS, _each_within(500)),
    (record.COMMANDS, _last(8)),
    (record.PROMPTS, _each_within(2_000, whole=1)),
    (record.SAID, _last(1)),
    (record.COMMANDS, _without_results(keep=1)),
    (record.PROMPTS, _earlier(5_000)),
    (record.ERRORS, _each_within(400)),
    (record.COMMANDS, _last(3)),
    (record.LAST_TEST, _each_within(600)),
    (record.REMARKS, _best_lines(45)),
    (record.ERRORS, _last(6)),
    (record.COMMANDS, _without_results(keep=0)),
    (record.SAID, _each_within(300)),
    (record.REMARKS, _best_lines(30)),
    (record.PROMPTS, _each_within(800, whole=1)),
    (record.PROMPTS, _earlier(3_500)),
    (record.TOUCHED, _newest_lines(30)),
    (record.EPIC, _newest_lines(12)),
    (record.SAID, _last(0)),
    (record.COMMANDS, _last(0)),
    (record.LAST_TEST, _each_within(240)),
    (record.REMARKS, _best_lines(20)),
    (record.ERRORS, _each_within(160)),
    (record.PROMPTS, _each_within(300, whole=1)),
    (record.PROMPTS, _earlier(2_500)),
    (record.PROMPTS, _each_within(3_000)),
    (record.VALUES, _lines_within(160)),
    (record.FAILURES, _lines_within(200)),
    (record.DECISIONS, _lines_within(240)),
    (record.REMARKS, _best_lines(10)),
    (record.PROMPTS, _earlier(1_500)),
    (record.PROMPTS, _each_within(1_500)),
    (record.VALUES, _lines_within(110)),
    (record.ERRORS, _without_results(keep=1)),
    (record.REMARKS, _best_lines(0)),
    (record.PROMPTS, _last(1)),
    (record.VALUES, _newest_lines(30)),
    (record.FAILURES, _newest_lines(15)),
    (record.DECISIONS, _newest_lines(20)),
    (record.VALUES, _newest_lines(15)),
    (record.DECISIONS, _newest_lines(10)),
)


def fit(handoff: Handoff, max_chars: int = MAX_CHARS) -> Handoff:
    """The same document within the budget, as far as the list of what is kept whole allows it.

    What was cut is replaced by where to find it: the checkpoint, or the transcript.
    """
    pointer = _pointer(handoff)
    for title, cut in STEPS:
        if len(render(handoff)) <= max_chars:
            break
        handoff = replace(handoff, recorded=tuple(_cut(handoff, title, cut, pointer)))
    return handoff


def _cut(handoff: Handoff, title: str, cut: Cut, pointer: str) -> Iterator[Section]:
    """The recorded sections, that of this title made shorter; one of which nothing is left is gone."""
    for section in handoff.recorded:
        if section.title != title:
            yield section
        elif body := cut(section.body, pointer):
            yield Section(title, body)


def _pointer(handoff: Handoff) -> str:
    """Where the rest is, short: the whole path stands under "Sources"."""
    sources = next((section.body for section in handoff.recorded if section.title == record.SOURCES), "")
    if "(checkpoint)" in sources:
        return "see the checkpoint under Sources"
    return "see the transcript under Sources" if sources else "the rest was not kept"
