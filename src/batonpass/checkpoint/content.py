"""What a checkpoint holds: the fields of 004's document, filled from facts and redacted."""

from collections.abc import Sequence
from dataclasses import asdict

from batonpass.clock import iso
from batonpass.facts.model import Facts, Utterance
from batonpass.handoff.draft import Meta
from batonpass.handoff.redact import Allow, redact

ITERATIONS = 5
LINES = 500

# Facts that the document may shorten: here they are whole, with what no longer holds beside them.
_KNOWN = (
    "constraints", "revoked", "decisions", "reversed", "failures", "errors", "values", "stale", "subagents", "carried",
    "references", "remarks",
)  # fmt: skip
_REASONS = ((98, "window_emergency"), (95, "window_critical"), (0, "window_warning"))


def content(facts: Facts, meta: Meta, *, task: str, allow: Allow = ()) -> dict[str, object]:
    """Plain JSON values. The history is capped: every prompt's start, the last iterations whole."""
    percent = meta.percent or 0.0
    remaining = None if meta.used is None or meta.usable is None else max(0, meta.usable - meta.used)
    clean = _redacted(
        {
            "checkpoint_id": f"{task}-{meta.number}-{int(meta.created)}",
            "created_at": iso(meta.created),
            "capacity_threshold": f"{int(percent)}",
            "reason": next(name for least, name in _REASONS if percent >= least),
            "why": meta.reason,
            "task_id": task,
            "provider_name": meta.agent,
            "session": meta.session,
            "agent_session": meta.agent_session,
            "project": str(facts.project),
            "handoff": {"number": meta.number, "previous": meta.previous},
            "tokens": {
                "consumed": meta.used,
                "remaining": remaining,
                "total_allocated": meta.usable,
                "window": meta.window,
                "percent_used": meta.percent,
            },
            "conversation": _conversation(facts, meta),
            "execution_state": _state(facts),
            "context_dump_outputs": {},
            "next_action": {"type": "continue"},
            "missing": list(facts.missing),
        },
        allow,
    )
    assert isinstance(clean, dict)
    return clean


def _conversation(facts: Facts, meta: Meta) -> dict[str, object]:
    turns = sorted(
        [(said.at, "user", said) for said in facts.prompts] + [(said.at, "agent", said) for said in facts.said],
        key=lambda turn: turn[0],
    )
    return {
        "full_history": _capped([(role, said) for _, role, said in turns]),
        "prompts": [said.text for said in facts.prompts],
        "late_prompts": list(meta.late_prompts),
        "summary": facts.last_request.text if facts.last_request else "",
        "iteration_count": len(facts.prompts),
        "transcript": None if facts.transcript is None else str(facts.transcript),
    }


def _capped(turns: Sequence[tuple[str, Utterance]]) -> list[dict[str, str]]:
    """The last iterations (a prompt and what followed it), together no more than so many lines."""
    starts = [n for n, (role, _) in enumerate(turns) if role == "user"]
    first = starts[-ITERATIONS] if len(starts) > ITERATIONS else 0
    kept: list[dict[str, str]] = []
    room = LINES
    for role, said in reversed(turns[first:]):
        lines = said.text.split("\n")
        if room <= 0:
            break
        text = "\n".join(lines[-room:])
        kept.append({"at": iso(said.at), "role": role, "text": text})
        room -= len(lines)
    return kept[::-1]


def _state(facts: Facts) -> dict[str, object]:
    changes = facts.git.changes if facts.git else ()
    created = [change.path for change in changes if change.state.startswith(("new", "untracked"))]
    failed = next((command for command in reversed(facts.commands) if command.ok is False), None)
    return {
        "iteration": len(facts.prompts),
        "files_created": created,
        "files_modified": [change.path for change in changes if change.path not in created],
        "files_touched": list(facts.touched),
        "git": None if facts.git is None else asdict(facts.git),
        "commands": [asdict(command) for command in facts.commands],
        "last_validation_result": None if facts.last_test is None else asdict(facts.last_test),
        "current_error": None if failed is None else failed.tail,
        "todos": [asdict(todo) for todo in facts.todos],
        "background": [asdict(task) for task in facts.background],
        **{name: [asdict(fact) for fact in getattr(facts, name)] for name in _KNOWN},
        "failing_tests": list(facts.failing),
        "files_reverted": list(facts.reverted),
        "epic": None if facts.epic is None else asdict(facts.epic),
        "status": "paused_for_handoff",
    }


def _redacted(value: object, allow: Allow) -> object:
    """The same value with every text in it redacted."""
    if isinstance(value, str):
        return redact(value, allow=allow)[0]
    if isinstance(value, dict):
        return {key: _redacted(inner, allow) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_redacted(inner, allow) for inner in value]
    return value
