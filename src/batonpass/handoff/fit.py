"""The size budget: the least valuable facts are shortened first."""

from collections.abc import Callable
from dataclasses import replace

from batonpass.handoff import record
from batonpass.handoff.document import Handoff, Section
from batonpass.handoff.entries import shortened, split
from batonpass.handoff.markdown import render

MAX_CHARS = 26_000

# Never shortened, whatever the size: without these the successor does wrong things, not just slower ones.
#   sections of the agent        its judgement; nothing else holds it
#   LEFT_OUT                     what the agent forgot would be forgotten a second time
#   LATE, the last prompt        what the user waits for now
#   GIT                          uncommitted work that is not named is overwritten
#   BACKGROUND                   started twice, it does damage
#   TODOS, LAST_TEST             the open work, and whether it is broken
#   UNKNOWN, SOURCES             where the successor finds what was cut here
KEPT_WHOLE = frozenset(
    {
        record.LEFT_OUT,
        record.LATE,
        record.GIT,
        record.BACKGROUND,
        record.TODOS,
        record.LAST_TEST,
        record.UNKNOWN,
        record.SOURCES,
    }
)

Cut = Callable[[list[str], str], list[str]]


def _without_results(keep: int) -> Cut:
    return lambda entries, _: [
        entry if n >= len(entries) - keep else entry.split("\n", 1)[0] for n, entry in enumerate(entries)
    ]


def _each_within(limit: int, *, whole: int = 0) -> Cut:
    """Middles cut out of long entries; the last `whole` ones stay as they are."""
    return lambda entries, pointer: [
        entry if n >= len(entries) - whole else shortened(entry, limit, pointer) for n, entry in enumerate(entries)
    ]


def _last(keep: int) -> Cut:
    def cut(entries: list[str], pointer: str) -> list[str]:
        if len(entries) <= keep:
            return entries
        return [f"#### {len(entries) - keep} older ones left out; {pointer}", *entries[-keep:]]

    return cut


# In this order, one after the other, until the document fits. The user's prompts come last: they are short
# for what they are worth, and only their middles go.
STEPS: tuple[tuple[str, Cut], ...] = (
    (record.SAID, _each_within(600)),
    (record.COMMANDS, _without_results(keep=5)),
    (record.SAID, _last(2)),
    (record.COMMANDS, _each_within(500)),
    (record.COMMANDS, _last(8)),
    (record.PROMPTS, _each_within(2_000, whole=1)),
    (record.SAID, _last(1)),
    (record.COMMANDS, _without_results(keep=1)),
    (record.PROMPTS, _each_within(800, whole=1)),
    (record.COMMANDS, _last(3)),
    (record.PROMPTS, _each_within(300, whole=1)),
    (record.PROMPTS, _each_within(3_000)),
    (record.PROMPTS, _last(40)),
    (record.PROMPTS, _last(15)),
)


def fit(handoff: Handoff, max_chars: int = MAX_CHARS) -> Handoff:
    """The same document within the budget, as far as the list of what is kept whole allows it.

    What was cut is replaced by where to find it: the checkpoint, or the transcript.
    """
    pointer = _pointer(handoff)
    for title, cut in STEPS:
        if len(render(handoff)) <= max_chars:
            break
        handoff = replace(
            handoff,
            recorded=tuple(
                Section(title, "\n\n".join(cut(split(section.body), pointer))) if section.title == title else section
                for section in handoff.recorded
            ),
        )
    return handoff


def _pointer(handoff: Handoff) -> str:
    sources = next((section.body for section in handoff.recorded if section.title == record.SOURCES), "")
    lines = [line.removeprefix("- ") for line in sources.split("\n") if line]
    return f"see {lines[-1]}" if lines else "the rest was not kept"
