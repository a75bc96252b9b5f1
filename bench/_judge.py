"""Was anything lost? Judged from what lies on disk: the agents' own transcripts, the sealed files and the store."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from _crew import Crew

from batonpass.delivery import tags_in
from batonpass.handoff.seal import checksum_ok
from batonpass.store import Author, CycleRecord, CycleState, HandoffRecord, StepRecord

_ALL = 1_000_000
_OVER = ("dead", "ended")
_NOT_ANSWERS = ("session", "prompted", "context")
# What may come of a prompt so that another of its kind is due: (step, how it ended).
_REASONS = {
    "ask": {
        ("await", "no_document"),
        ("check", "gaps"),
        ("pass", "new_prompt"),  # the user has said something since, which the document does not know
        ("back", "ok"),
    },
    "kick": {("verify", "rejected"), ("verify", "gone"), ("prime", "gone"), ("back", "ok")},
}
CLEARED_BY_HAND = "/clear please"  # nobody else is that polite


@dataclass(frozen=True, slots=True)
class Start:
    """A conversation begins, or is taken up again (`resume`)."""

    at: float
    conversation: str
    source: str
    command: str = ""  # what was typed for it

    @property
    def by_hand(self) -> bool:
        """Whether a person wanted it so: Baton resumes with a new process, and clears in one word.

        Where the Enter of theirs was lost, what they typed next stands behind the words.
        """
        return self.command.startswith((CLEARED_BY_HAND, "/resume "))


@dataclass(frozen=True, slots=True)
class Story:
    """What the transcripts of one project tell: every start, oldest first, and every prompt with its conversation."""

    starts: Sequence[Start]
    prompts: Sequence[tuple[float, str, str]]  # when, in which conversation, what
    answers: Sequence[tuple[float, str]] = ()  # when the agent said or did anything, and in which conversation


@dataclass(slots=True)
class Verdict:
    """How a run ended. `problems` says in words what was lost, for whoever has to find out why."""

    cycles: int = 0
    states: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)  # why cycles did not end well
    retries: int = 0
    rescued: int = 0
    unfinished: int = 0
    lost: int = 0
    typed_twice: int = 0
    cleared_unsealed: int = 0
    misdirected: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return not (self.lost or self.typed_twice or self.cleared_unsealed or self.misdirected)


def judge(house: Crew) -> Verdict:
    """The verdict on a house whose daemon runs and whose agents are still in their panes."""
    verdict = Verdict()
    records = transcripts(house)
    with house.store() as store:
        handoffs = store.handoffs()
        cycles = store.cycles(limit=_ALL)
        steps = {cycle.id: store.steps(cycle.id) for cycle in cycles}
    sealed = sealed_times(handoffs, house.deleted)
    _count(verdict, cycles, steps, {h.cycle for h in handoffs if h.source is Author.FACTS})
    statuses = {status["session"]: status for status in house.statuses()}
    for session in house.members:
        story = story_of(records, str(session.project))
        again = [f"{tag} arrived {count} times" for tag, count in twice(story).items()]
        for sentence in [*again, *asked_again(story, steps)]:
            verdict.typed_twice += 1
            verdict.problems.append(f"{session.name}: {sentence}")
        for sentence in misdirected(story, cycles):
            verdict.misdirected += 1
            verdict.problems.append(f"{session.name}: {sentence}")
        for sentence, lost in unsealed(story, sealed, _only_kicked(story, cycles), cycles):
            verdict.cleared_unsealed += 1
            verdict.lost += lost
            verdict.problems.append(f"{session.name}: {sentence}")
        if trouble := _not_living(_who_goes_on(statuses, session.id), story):
            verdict.lost += 1
            verdict.problems.append(f"{session.name}: {trouble}")
    return verdict


def twice(story: Story) -> dict[str, int]:
    """Baton's prompts that the agents' records show more than once."""
    found = Counter(tag for _, _, text in story.prompts for tag in tags_in(text)[:1])
    return {tag: count for tag, count in found.items() if count > 1}


def asked_again(story: Story, steps: Mapping[str, Sequence[StepRecord]]) -> list[str]:
    """Requests and kicks of a cycle that arrived although an earlier one had, and nothing that came of it called for
    another. That Baton did not hear of the earlier one is no reason: the agent did, and was told the same twice."""
    arrived: dict[tuple[str, str], set[int]] = {}
    for _, _, text in story.prompts:
        for tag in tags_in(text)[:1]:
            _, cycle, kind, number = tag.strip("[]").split()
            if kind in _REASONS:
                arrived.setdefault((cycle, kind), set()).add(int(number))
    found = []
    for (cycle, kind), numbers in arrived.items():
        for before, after in pairwise(sorted(numbers)):
            if not _called_for(kind, before, after, steps.get(cycle, ())):
                found.append(f"{kind} {after} of cycle {cycle} arrived after {kind} {before}, which nothing called for")
    return found


def _called_for(kind: str, before: int, after: int, steps: Sequence[StepRecord]) -> bool:
    """Whether one of the cycle's steps between two prompts of a kind ended so that the second was due."""
    giving = "prime" if kind == "kick" else kind
    places = {step.attempt: place for place, step in enumerate(steps) if step.step == giving}
    between = steps[places.get(before, 0) : places.get(after, len(steps))]
    return any((step.step, step.state) in _REASONS[kind] for step in between)


def misdirected(story: Story, cycles: Iterable[CycleRecord]) -> list[str]:
    """Requests that reached another conversation than the one they were about, and kicks that reached that one."""
    old = {cycle.id: cycle.old_agent_session for cycle in cycles if cycle.old_agent_session}
    found = []
    for _, conversation, text in story.prompts:
        for tag in tags_in(text)[:1]:
            _, cycle, step, _ = tag.strip("[]").split()
            meant = old.get(cycle)
            if meant is not None and step in ("ask", "kick") and (conversation == meant) is not (step == "ask"):
                found.append(f"{tag} reached {conversation}, in a cycle of {meant}")
    return found


def unsealed(
    story: Story,
    sealed: Mapping[str, Sequence[float]],
    only_kicked: frozenset[str] = frozenset(),
    cycles: Iterable[CycleRecord] = (),
) -> list[tuple[str, bool]]:
    """Conversations that another took the place of before a handoff of theirs was on disk; True when none ever was.

    One that is given up because its predecessor is taken up again needs none: the predecessor knows all. Nor does one
    that died with nothing but Baton's kick: the next one begins with the same handoff. One that a person cleared, or
    left for another, was theirs to leave; if it was just being handed off, it must be sealed all the same, if later.
    """
    given_up = (CycleState.POSTPONED, CycleState.FAILED)  # nothing was touched, and a person was told
    under_way = [(c.old_agent_session, c.started, c.ended) for c in cycles if c.state not in given_up]
    found = []
    for index, start in enumerate(story.starts):
        if start.source == "resume":
            continue
        before = _worked_in(story, story.starts[:index], start.at)
        if before is None or before.conversation in only_kicked:
            continue
        times = sealed.get(before.conversation, ())
        left = story.starts[story.starts.index(before) + 1]
        if left.by_hand:
            handed_off = [of for of, began, ended in under_way if began <= left.at <= (ended or left.at)]
            if before.conversation not in handed_off or any(before.at <= time for time in times):
                continue
        if not any(before.at <= time <= start.at for time in times):
            words = "later" if times else "never"
            found.append((f"{before.conversation} was followed by {start.conversation} and sealed {words}", not times))
    return found


def _only_kicked(story: Story, cycles: Iterable[CycleRecord]) -> frozenset[str]:
    """Successors that died before their receipt, by Baton's word, and to whom nobody else had spoken."""
    died = {str(one) for cycle in cycles for one in _list(cycle.data.get("died"))}
    heard = {name for _, name, text in story.prompts if not tags_in(text) and not text.startswith("<")}
    return frozenset(died - heard)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _worked_in(story: Story, starts: Sequence[Start], until: float) -> Start | None:
    """The latest of these starts after which anything was said: there is nothing to lose in the others.

    Nor is there in one that was brought back and ended again with nothing but Baton's own word on that in it.
    """
    for start in reversed(starts):
        prompts = [text for at, name, text in story.prompts if start.at <= at <= until and name == start.conversation]
        answered = any(start.at <= at <= until and name == start.conversation for at, name in story.answers)
        theirs = [text for text in prompts if not tags_in(text)]
        if prompts and (start.source != "resume" or theirs or answered):
            return start
    return None


def story_of(records: Iterable[Sequence[Mapping[str, Any]]], project: str) -> Story:
    """The story of the transcripts that began in that folder."""
    starts: list[Start] = []
    prompts: list[tuple[float, str, str]] = []
    answers: list[tuple[float, str]] = []
    for lines in records:
        if not lines or lines[0].get("cwd") != project:
            continue
        name = str(lines[0].get("session"))
        starts += [
            Start(line["at"], name, line["source"], line.get("command", ""))
            for line in lines
            if line["event"] == "session"
        ]
        prompts += [(line["at"], name, line["text"]) for line in lines if line["event"] == "prompted"]
        answers += [(line["at"], name) for line in lines if line["event"] not in _NOT_ANSWERS]
    return Story(sorted(starts, key=lambda start: start.at), sorted(prompts), answers)


def transcripts(house: Crew) -> list[list[dict[str, Any]]]:
    """What the agents have recorded, line by line; one may be writing just now."""
    found = []
    for path in (house.home / "scripted" / "transcripts").glob("*.jsonl"):
        lines = path.read_bytes().split(b"\n")
        found.append([json.loads(line) for line in lines[:-1]])
    return found


def sealed_times(handoffs: Sequence[HandoffRecord], deleted: Mapping[Path, Path]) -> dict[str, list[float]]:
    """When a whole, sealed file of each conversation came to lie on disk, also where a person deleted it since."""
    found: dict[str, list[float]] = {}
    for record in handoffs:
        for path in (record.path, deleted.get(record.path)):
            if record.agent_session and path and path.exists() and checksum_ok(path.read_text(encoding="utf-8")):
                # In its place, by when it got that name; a copy has the date of what it is a copy of, and its own name.
                when = path.stat().st_ctime if path == record.path else path.stat().st_mtime
                found.setdefault(record.agent_session, []).append(when)
    return found


def _who_goes_on(statuses: Mapping[str, Mapping[str, Any]], session: str) -> Mapping[str, Any] | None:
    """The session, or the one in the same project that went on from its handoff: `restore` may have to begin anew."""
    mine = statuses.get(session)
    if mine is None or mine["state"] not in _OVER:
        return mine
    others = [one for one in statuses.values() if one["project"] == mine["project"] and one["state"] not in _OVER]
    return others[-1] if others else mine


def _not_living(status: Mapping[str, Any] | None, story: Story) -> str | None:
    """Why a session has no conversation that somebody could go on with; None when it has."""
    if status is None:
        return "Baton does not know the session any more"
    if status["state"] in _OVER or not status["pid"] or not os.path.exists(f"/proc/{status['pid']}"):
        return f"no agent lives in its pane ({status['state']})"
    if not story.starts or story.starts[-1].conversation != status["agent_session"]:
        return f"Baton follows {status['agent_session']}, which is not the conversation that runs"
    return None


def _count(
    verdict: Verdict, cycles: Sequence[CycleRecord], steps: Mapping[str, Sequence[StepRecord]], facts: set[str | None]
) -> None:
    verdict.cycles = len(cycles)
    verdict.states.update(str(cycle.state) for cycle in cycles)
    verdict.notes.update(f"{c.state}: {c.note}" for c in cycles if c.state is not CycleState.DONE)
    for cycle in cycles:
        again = sum(1 for step in steps[cycle.id] if step.attempt > 1)
        verdict.retries += again
        if cycle.state is CycleState.DONE and (again or cycle.way == "respawn" or cycle.id in facts):
            verdict.rescued += 1
        if cycle.state is CycleState.RUNNING:
            verdict.unfinished += 1
            verdict.lost += 1
            last = steps[cycle.id][-1].step if steps[cycle.id] else "nothing"
            verdict.problems.append(f"cycle {cycle.id} never ended: {last}")
