"""What the demo says was proven, checked on what was left behind: documents, transcripts, model requests."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from batonpass import agents
from batonpass.cli.records import CycleRow
from batonpass.cli.words import moment
from batonpass.handoff.seal import checksum_ok
from batonpass.sim.anthropic import AnthropicModel
from batonpass.transcripts.events import Event, Origin, Prompted, ToolReturned
from batonpass.transcripts.whole import all_events

_TAG = re.compile(r"\[baton [0-9a-f]{8} \w+ \d+\]")


@dataclass(frozen=True, slots=True)
class Proof:
    """A claim, whether it held, and what was looked at."""

    claim: str
    ok: bool
    seen: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a performance left behind, read once."""

    cycle: CycleRow
    document: str
    written: float  # when the document got its final name
    born: float | None  # when the successor's conversation began
    first_request: str  # all that the model was shown before the successor's first word
    prompts: tuple[str, ...]  # every user message of both conversations
    successor: tuple[Event, ...]


def gather(cycle: CycleRow, agent: str, old: Path, new: Path, model: AnthropicModel | None) -> Evidence:
    """Read it from disk, and for a real agent from the requests that its model got. Raises OSError."""
    path = Path(cycle["document"] or "")
    read_by = agents.get(agent).reader
    successor = tuple(all_events(new, read_by()))
    if model is None:
        lines = _lines(new)
        events = (*all_events(old, read_by()), *successor)
        prompts = tuple(event.text for event in events if isinstance(event, Prompted))
        first = _shown_before_first_word(lines)
    else:
        prompts = tuple(model.user_texts())
        main = model.main_requests()
        first = next((f"{r.system}\n{r.context}" for r in main if r.session == new.stem), "")
    return Evidence(
        cycle=cycle,
        document=path.read_text(encoding="utf-8"),
        written=path.stat().st_mtime,
        born=_born(new),
        first_request=first,
        prompts=prompts,
        successor=successor,
    )


def proofs(evidence: Evidence) -> tuple[Proof, ...]:
    """Every claim of the demo, checked."""
    return (
        _accepted(evidence.cycle),
        _sealed_before_the_clear(evidence),
        _contained(evidence),
        _once(evidence),
        _went_on(evidence.successor),
    )


def _accepted(cycle: CycleRow) -> Proof:
    verify = next((step for step in cycle["steps"] if step["step"] == "verify"), None)
    ok = cycle["state"] == "done" and verify is not None and verify["state"] == "ok"
    seen = f"cycle {cycle['id']} is {cycle['state']}; {verify['note'] if verify else 'no receipt was read'}"
    return Proof("the receipt was accepted", ok, seen)


def _sealed_before_the_clear(evidence: Evidence) -> Proof:
    claim = "the handoff was sealed before the clear"
    if checksum_ok(evidence.document) is not True:
        return Proof(claim, False, "the document's checksum is wrong")
    began = {step["step"]: moment(step["started"]) or 0.0 for step in evidence.cycle["steps"]}
    if evidence.born is None or not evidence.written < evidence.born or not evidence.written < began["pass"]:
        return Proof(claim, False, "the document is younger than the new conversation")
    return Proof(claim, True, f"{evidence.born - evidence.written:.2f} s before the new conversation, checksum right")


def _contained(evidence: Evidence) -> Proof:
    lines = [line for line in evidence.document.splitlines() if line.strip()]
    missing = [line for line in lines if line not in evidence.first_request]
    seen = f"{len(lines) - len(missing)} of its {len(lines)} lines were there"
    return Proof("the successor's first request contained the handoff", bool(lines) and not missing, seen)


def _once(evidence: Evidence) -> Proof:
    counts = Counter(tag for text in evidence.prompts for tag in set(_TAG.findall(text)))
    both = all(any(f" {step} " in tag for tag in counts) for step in ("ask", "kick"))
    seen = ", ".join(f"{tag} × {count}" for tag, count in counts.items()) or "none was found"
    return Proof("every Baton prompt arrived exactly once", both and set(counts.values()) == {1}, seen)


def _went_on(successor: Sequence[Event]) -> Proof:
    typed = [e for e in successor if isinstance(e, Prompted) and e.origin is Origin.HUMAN]
    foreign = sum(1 for prompt in typed if not _TAG.search(prompt.text))
    worked = sum(1 for event in successor if isinstance(event, ToolReturned) and event.ok)
    seen = f"{worked} tools used, {foreign or 'no'} prompt of a person"
    return Proof("the successor went on working by itself", worked > 0 and not foreign, seen)


def _lines(transcript: Path) -> list[dict[str, object]]:
    text = transcript.read_text(encoding="utf-8", errors="replace")
    return [json.loads(line) for line in text.split("\n")[:-1] if line]


def _born(transcript: Path) -> float | None:
    """When the conversation began, by the first line of its record that carries a time."""
    times = (moment(line.get("at") or line.get("timestamp")) for line in _lines(transcript))
    return next((at for at in times if at is not None), None)


def _shown_before_first_word(lines: Sequence[dict[str, object]]) -> str:
    """The scripted agent's record holds all that its brain is shown, in order."""
    shown: list[str] = []
    for line in lines:
        if line.get("event") == "said":
            break
        if line.get("event") in ("context", "prompted"):
            shown.append(str(line.get("text")))
    return "\n".join(shown)
