"""Wordings for the figures only: nobody improves a rule by what it misses here."""

from batonpass.sim.corpus_words import Turned as _T
from batonpass.sim.corpus_words import Wording as _W
from batonpass.sim.corpus_words import Words

UNSEEN = Words(
    rules=(
        _W("The {x} can't go down during office hours.", (r"hours",), "no downtime of the {x} in office hours"),
        _W(
            "Finance signs off on whatever changes in the {x}.",
            (r"financ",),
            "changes of the {x} need finance's consent",
        ),
        _W("Mind that the {x} is shared with the Oslo branch.", (r"oslo",), "Oslo shares the {x} with us"),
        _W("Error messages of the {x} are in German.", (r"german",), "the {x} speaks German in its errors"),
        _W("Two reviewers for the {x}, as usual.", (r"two|reviewer",), "the {x} takes two reviewers"),
        _W("We are stuck with Java 11 for the {x}.", (r"java 11",), "{x}: Java 11, no way around"),
        _W("Cover the {x} with tests as you go.", (r"test",), "tests for the {x} along the way"),
        _W("The {x} reads from the replica, not from the primary.", (r"replica",), "replica only for the {x}"),
        _W("Don't bother with Windows in the {x}.", (r"windows",), "Windows does not matter for the {x}"),
        _W("Amounts in the {x} are in øre, mind you.", (r"øre",), "the {x} counts in øre"),
        _W("Show me the plan for the {x} before you start on it.", (r"plan",), "plan of the {x} first, then the work"),
        _W(
            "My rule of thumb for the {x}: one commit, one idea.",
            (r"one commit|one idea|per commit",),
            "{x}: one idea per commit",
        ),
        _W(
            "The {x} is deployed by hand, leave its pipeline out of this.",
            (r"hand|pipeline",),
            "no pipeline for the {x}, it is deployed by hand",
        ),
    ),
    revoked=(
        _T(
            "The {x} stays on the old server.",
            (r"old server",),
            "The old server is being scrapped next week, so move the {x} over.",
            (r"scrapped|over",),
            "the {x} has to leave the old server, which is scrapped: move it over",
        ),
        _T(
            "Skip the tests of the {x} for the moment.",
            (r"skip",),
            "We do want the tests of the {x} by now.",
            (r"do want|by now",),
        ),
        _T(
            "I need at least 5 examples in the {x}.",
            (r"\b5\b",),
            "3 examples in the {x} will do.",
            (r"\b3\b",),
            "{x}: 3 examples are enough",
        ),
        _T(
            "Don't change the wording in the {x} without Tom.",
            (r"\btom\b",),
            "Tom is fine with any wording in the {x}.",
            (r"fine with",),
        ),
    ),
    decisions=(
        _W(
            "The {x} validates at the border, since bad rows poisoned the cache last time.",
            (r"border", r"poison|bad rows"),
            "the {x} validates at the border, against bad rows",
        ),
        _W(
            "I left the retry count of the {x} at three: more only hides outages.",
            (r"three|retr", r"outage|hide"),
            "three retries in the {x}, more would hide outages",
        ),
        _W(
            "For the {x} I went for a thin wrapper over the vendor's client.",
            (r"wrapper",),
            "the {x} is a thin wrapper",
        ),
        _W(
            "Errors of the {x} end the run; a half-written batch is worse than none.",
            (r"end", r"batch|half"),
            "the {x} ends the run at errors, rather than leave half a batch",
        ),
        _W(
            "I'd leave the {x} synchronous, nobody waits for it.", (r"synchronous",), "synchronous {x}, as nobody waits"
        ),
        _W(
            "Dates without a zone are refused by the {x}, guessing went wrong twice.",
            (r"zone", r"guess"),
            "the {x} refuses dates without zone, guessing was wrong",
        ),
    ),
    reversed=(
        _T(
            "The {x} polls every minute.",
            (r"poll",),
            "Polling was too slow for the {x}; it listens for events now.",
            (r"event",),
            "the {x} listens for events",
        ),
        _T(
            "I wrote the {x} as one big transaction, for safety.",
            (r"one big transaction",),
            "The {x} commits every thousand rows after all, the big transaction blocked everybody.",
            (r"thousand",),
            "the {x} commits each thousand rows",
        ),
    ),
    failures=(
        _W("More memory makes no difference to the {x}.", (r"memory",), "memory is not the {x}'s problem"),
        _W(
            "Downgrading the driver of the {x} only moved the crash elsewhere.",
            (r"driver|downgrad", r"crash"),
            "{x}: another driver, another crash",
        ),
        _W(
            "The profiler shows nothing for the {x}, that was a waste of time.",
            (r"profiler",),
            "profiler is useless for the {x}",
        ),
        _W("I hoped an index would speed up the {x}. It does not.", (r"index",), "an index does not speed the {x} up"),
        _W(
            "Compressing the {x} saved 2 %, not worth the trouble.",
            (r"compress",),
            "compression of the {x} is not worth it",
        ),
    ),
    values=(
        _W(
            "The {x} lives under http://10.2.{a}.{b}:{port}/.",
            (r"10\.2\.{a}\.{b}:{port}",),
            "{x}: http://10.2.{a}.{b}:{port}/",
        ),
        _W("Use tenant t-{port} when you try the {x}.", (r"t-{port}\b",), "{x}: tenant t-{port}"),
        _W("We got the {x} running with numpy {n}.{a}.{b}.", (r"{n}\.{a}\.{b}",), "numpy {n}.{a}.{b} runs the {x}"),
        _W("See GH #{port} for the {x}.", (r"#{port}\b",), "{x}: #{port}"),
        _W(
            "The {x} wants LEASE_LIMIT_{port} set in the environment.",
            (r"LEASE_LIMIT_{port}",),
            "set LEASE_LIMIT_{port} for the {x}",
        ),
    ),
    replaced=(
        _T(
            "Metrics of the {x} are served on port {port}.",
            ("{port}",),
            "Metrics of the {x} had to move, they are on port {other}.",
            ("{other}",),
            "{x} metrics: {other}",
        ),
        _T(
            "The {x} depends on pandas 1.{a}.{b}.",
            (r"1\.{a}\.{b}",),
            "With pandas 2.{b}.{a} the {x} is happy, 1.{a}.{b} had a leak.",
            (r"2\.{b}\.{a}",),
            "{x}: pandas 2.{b}.{a}",
        ),
    ),
    chat=(
        "Morning.",
        "Good job.",
        "I'll be in a meeting until three.",
        "What do you make of it?",
        "The new colleague only drinks tea, by the way.",
        "Sounds reasonable to me.",
        "Why does it always rain on release day?",
        "We used to do all of this on paper.",
    ),
    musing=(
        "Let me see what is there.",
        "I compared it with the version from last month.",
        "That was quicker than I thought.",
        "The names in this folder are a bit confusing.",
        "So far I have not found anything unusual.",
        "On to the next one.",
    ),
)
