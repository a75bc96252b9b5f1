"""How planted facts are worded: two sets that share no sentence.

The rules by which facts are drawn from sentences may be improved by looking at what they miss in `corpus_seen`.
`corpus_unseen` is for the figures only: who looks at what is missed there to mend a rule has used it up.
"""

from dataclasses import dataclass, fields

MODIFIERS = (
    "tariff", "customs", "freight", "harbour", "berth", "cargo", "pilot", "tugboat", "crane", "lease", "visa",
    "refund", "payroll", "stipend", "ferry", "ticket", "loyalty", "invoice", "ledger", "audit", "permit", "tender",
    "quota", "depot",
)  # fmt: skip
NOUNS = (
    "importer", "exporter", "scheduler", "mailer", "parser", "cache", "gateway", "worker", "archive", "report",
    "planner", "validator", "feed", "index", "dashboard", "notifier",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wording:
    """A sentence about {x}, what must be told of it (patterns beside the name), and how somebody else would put it."""

    said: str
    signs: tuple[str, ...]
    told: str


@dataclass(frozen=True, slots=True)
class Turned:
    """A sentence, what shows that it is still told, and the later one that takes it back.

    `now` are patterns of what holds instead, where something does: a line with one of them is not the old one.
    """

    said: str
    signs: tuple[str, ...]
    later: str
    now: tuple[str, ...] = ()
    told: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    rules: tuple[Wording, ...]
    revoked: tuple[Turned, ...]
    decisions: tuple[Wording, ...]
    reversed: tuple[Turned, ...]
    failures: tuple[Wording, ...]
    values: tuple[Wording, ...]  # with {v}, the value
    replaced: tuple[Turned, ...]  # with {v} and {w}, the old value and the new one
    chat: tuple[str, ...]
    musing: tuple[str, ...]

    def fewer(self, most: int) -> "Words":
        """The same with at most so many wordings of each kind."""
        return Words(*(getattr(self, field.name)[:most] for field in fields(self)))
