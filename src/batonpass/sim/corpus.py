"""A made-up session with facts planted in it: what must survive its end is known, and what must not.

The same corpus can be read as normalised events, written as a transcript of Claude Code, or played turn by turn.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from batonpass.agents.notices import notice_in
from batonpass.transcripts.events import Event, Origin, Prompted, Said, ToolCalled, ToolReturned, TurnEnded

START = 1_769_005_845.0
_STEP = 20.0  # seconds between two events


@dataclass(frozen=True, slots=True)
class Planted:
    """One fact. It is told where every sign (a pattern, in any case) is found in one passage; `kind` groups figures."""

    kind: str
    said: str  # the sentence, command or path as it was planted
    signs: tuple[str, ...]
    told: str = ""  # how somebody who remembers it would put it
    over: tuple[str, ...] = ()  # of what was superseded: signs in a passage that tells so
    lines: int = 1  # how long a passage is: a command and its output are several lines


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call and what came of it."""

    tool: str
    arguments: dict[str, object]
    result: str = ""
    ok: bool = True


@dataclass(frozen=True, slots=True)
class Turn:
    """A prompt and the agent's answer: texts and calls in their order. `origin` tells news from a user's words."""

    prompt: str
    answer: tuple[str | Call, ...]
    origin: Origin = Origin.HUMAN


@dataclass(frozen=True, slots=True)
class Corpus:
    seed: int
    turns: tuple[Turn, ...]
    must: tuple[Planted, ...]  # has to reach the successor
    must_not: tuple[Planted, ...]  # was superseded: must not be presented as if it held
    branch: str
    files: dict[str, str] = field(default_factory=dict)  # of the first commit


def events(corpus: Corpus) -> Iterator[Event]:
    """The session as the facts see it."""
    at = START
    for number, turn in enumerate(corpus.turns, 1):
        at += _STEP
        yield Prompted(at, turn.prompt, turn.origin, f"p{number}", notice_in(turn.prompt))
        for index, part in enumerate(turn.answer):
            at += _STEP
            if isinstance(part, str):
                yield Said(at, part, f"m{number}-{index}")
            else:
                call = f"toolu_{number:03d}{index:02d}"
                yield ToolCalled(at, call, part.tool, part.arguments)
                yield ToolReturned(at + 1, call, part.ok, part.result)
        yield TurnEnded(at + 2)


def transcript(corpus: Corpus, session: str = "00000000-0000-4000-8000-000000000000") -> bytes:
    """The session as Claude Code would have recorded it, one JSON object a line."""
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in _lines(corpus, session))


def _lines(corpus: Corpus, session: str) -> Iterator[dict[str, object]]:
    at = START
    for number, turn in enumerate(corpus.turns, 1):
        at += _STEP
        kind = "human" if turn.origin is Origin.HUMAN else "task-notification"
        prompt = {"role": "user", "content": turn.prompt}
        yield _line("user", at, session, message=prompt, promptId=f"p{number}", origin={"kind": kind})
        for index, part in enumerate(turn.answer):
            at += _STEP
            call = f"toolu_{number:03d}{index:02d}"
            block = _block(part, call)
            usage = {"input_tokens": 20_000 + int(at - START), "output_tokens": 40}
            message: dict[str, object] = {
                "id": f"m{number}-{index}",
                "role": "assistant",
                "model": "scripted",
                "content": [block],
            }
            message["usage"] = usage
            yield _line("assistant", at, session, message=message)
            if isinstance(part, Call):
                result = {"type": "tool_result", "tool_use_id": call, "content": part.result, "is_error": not part.ok}
                yield _line("user", at + 1, session, message={"role": "user", "content": [result]})
        yield _line("system", at + 2, session, subtype="turn_duration", durationMs=1)


def _block(part: str | Call, call: str) -> dict[str, object]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {"type": "tool_use", "id": call, "name": part.tool, "input": part.arguments}


def _line(kind: str, at: float, session: str, **more: object) -> dict[str, object]:
    stamp = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"type": kind, "timestamp": stamp, "sessionId": session, "isSidechain": False, **more}
