"""Answers as the daemon gives them."""

from typing import Any

NOW = 1_800_000_000.0


def guard(**changes: Any) -> dict[str, Any]:
    """What the guards say of one session."""
    return {
        "session": "s-1",
        "name": "api",
        "guard": None,
        "why": None,
        "until": None,
        "handoffs_in_the_last_hour": 0,
        "threshold_raised_by": 0.0,
    } | changes


def session(**changes: Any) -> dict[str, Any]:
    """One row of `status`."""
    return {
        "session": "s-1",
        "name": "api",
        "project": "/home/kim/src/api",
        "agent": "claude",
        "agent_session": "0f0e0d0c-0000-4000-8000-000000000001",
        "state": "idle",
        "used": 60_120,
        "window": 200_000,
        "usable": 167_000,
        "percent": 36.0,
        "zone": "monitoring",
        "source": "statusline",
        "confidence": 1.0,
        "forecast": {"tokens_per_message": 4_200.0, "messages_left": 25.4, "seconds_left": 1500.0},
        "chain": 0,
        "pane": "%3",
        "host": "box",
        "model": "claude-opus-4",
        "hooks": True,
        "waiting_for": None,
        "guard": guard(),
        "cycle": None,
        "last_handoff": None,
        "notice": None,
    } | changes


def three_sessions() -> dict[str, Any]:
    """One that is calm, one that hands off, and one that waits in a dialog and whose usage is unknown."""
    return {
        "host": "box",
        "daemon": {"pid": 4711, "version": "0.1.0", "host": "box", "started": NOW - 7500},
        "sessions": [
            session(),
            session(
                session="s-2",
                name="shop",
                project="/srv/shop",
                state="busy",
                used=145_290,
                percent=87.0,
                zone="mandatory",
                chain=2,
                pane="%7",
                forecast={"tokens_per_message": 11_000.0, "messages_left": 1.9, "seconds_left": 95.0},
                cycle={"id": "7f3a91c2", "step": "safe_point", "since": NOW - 12},
                last_handoff={"path": "/srv/shop/.bmad/handoffs/h.md", "number": 2, "at": NOW - 3600},
            ),
            session(
                session="s-3",
                name="docs",
                project="/home/kim/docs",
                state="waiting",
                used=None,
                percent=None,
                zone="unknown",
                source=None,
                confidence=None,
                forecast=None,
                model=None,
                pane="%9",
                waiting_for="permission: Bash(rm -rf build)",
                notice="Baton's hooks have not been heard.",
            ),
        ],
        "problems": [],
        "notifications": [{"at": NOW - 60, "session": "s-3", "text": "docs waits for you"}],
    }


def started(**changes: Any) -> dict[str, Any]:
    """What `run` and `continue` answer."""
    return {
        "session": "s-1",
        "name": "api",
        "project": "/home/kim/src/api",
        "agent": "claude",
        "attach": ["tmux", "attach-session", "-t", "=api"],
    } | changes


def cycle(**changes: Any) -> dict[str, Any]:
    """What `cycles show` answers."""
    return {
        "id": "7f3a91c2",
        "session": "s-2",
        "state": "done",
        "cause": "threshold",
        "way": "clear",
        "percent": 87.4,
        "started": NOW - 600,
        "seconds": 74.0,
        "document": "/srv/shop/.bmad/handoffs/h.md",
        "note": None,
        "steps": [
            {
                "step": "prepare",
                "state": "ok",
                "started": NOW - 600,
                "seconds": 0.4,
                "attempts": 1,
                "note": None,
            },
            {
                "step": "safe_point",
                "state": "ok",
                "started": NOW - 599,
                "seconds": 3.0,
                "attempts": 1,
                "note": "",
            },
            {
                "step": "ask",
                "state": "not_seen",
                "started": NOW - 596,
                "seconds": 61.0,
                "attempts": 2,
                "note": "the hook was not heard",
            },
        ],
    } | changes


def handoff(**changes: Any) -> dict[str, Any]:
    """One row of `handoffs list`."""
    return {
        "path": "/srv/shop/.bmad/handoffs/h.md",
        "number": 2,
        "previous": "/srv/shop/.bmad/handoffs/g.md",
        "created": "2027-01-15T07:00:00Z",
        "session": "s-2",
        "percent": 87.4,
        "sealed": True,
    } | changes
