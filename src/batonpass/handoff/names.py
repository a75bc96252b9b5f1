"""The names of the document's sections, whoever wrote them."""

import re

CURRENT_TASK = "Current Task"
PROGRESS = "Progress Summary"
SUBAGENTS = "Active Subagents"
DECISIONS = "Recent Decisions"
FILES = "Files Modified"
NEXT_STEPS = "Next Steps"
CONTEXT = "Important Context"
LINKS = "Links"
BLOCKERS = "Blockers"
NOTES = "Notes"
RECORDED = "Recorded by Baton"
INSTRUCTIONS = "Instructions for New Instance"

STANDARD = (CURRENT_TASK, PROGRESS, SUBAGENTS, DECISIONS, FILES, NEXT_STEPS, CONTEXT, LINKS)

# What the agent is asked to write under each heading.
GUIDE = (
    (
        CURRENT_TASK,
        "what you are working on, and why, in plain words; the epic and phase if there is one",
    ),
    (PROGRESS, "as lists under ### Completed, ### In Progress and ### Pending"),
    (SUBAGENTS, "id, task and state of everything that still runs for you"),
    (DECISIONS, "what was decided, why, and what was tried and failed"),
    (FILES, "one line for each changed file: - path (what changed)"),
    (NEXT_STEPS, "a numbered list, the very next action first"),
    (CONTEXT, "a list: every constraint and wish of the user, ports, names, versions, open errors"),
    (LINKS, "epic, plan, ADR, issues and other files to read"),
)

COMPLETED, IN_PROGRESS, PENDING = "Completed", "In Progress", "Pending"

# What other formats and other hands call them. A value with a slash is a part of Progress Summary.
_ALIASES = {
    **{name.lower(): name for name in (*STANDARD, BLOCKERS, NOTES, RECORDED, INSTRUCTIONS)},
    "current work": CURRENT_TASK,
    "task": CURRENT_TASK,
    "progress": PROGRESS,
    "completed since last handoff": f"{PROGRESS}/{COMPLETED}",
    "completed": f"{PROGRESS}/{COMPLETED}",
    "in progress": f"{PROGRESS}/{IN_PROGRESS}",
    "pending": f"{PROGRESS}/{PENDING}",
    "pending tasks": f"{PROGRESS}/{PENDING}",
    "active sub-agents": SUBAGENTS,
    "active workers": SUBAGENTS,
    "decisions": DECISIONS,
    "files changed": FILES,
    "modified files": FILES,
    "next actions": NEXT_STEPS,
    "critical state": CONTEXT,
    "constraints": CONTEXT,
    "blockers / issues": BLOCKERS,
    "blockers/issues": BLOCKERS,
    "blocked items": BLOCKERS,
    "instructions": INSTRUCTIONS,
    "instructions for the next instance": INSTRUCTIONS,
}


def canonical(title: str) -> tuple[str, str | None]:
    """The standard name of a section and, where it is a part of one, the name of the part.

    >>> canonical("2. Completed Since Last Handoff:")
    ('Progress Summary', 'Completed')
    >>> canonical("Open questions")
    ('Open questions', None)
    """
    plain = " ".join(title.split())
    bare = re.sub(r"^[\W\d_]+|[\W_]+$", "", plain)
    known = _ALIASES.get(bare.lower())
    if known is None:
        return plain, None
    name, _, part = known.partition("/")
    return name, part or None
