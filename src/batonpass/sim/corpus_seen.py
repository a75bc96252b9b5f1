"""Wordings that may be looked at to improve the facts."""

from batonpass.sim.corpus_words import Turned as _T
from batonpass.sim.corpus_words import Wording as _W
from batonpass.sim.corpus_words import Words

SEEN = Words(
    rules=(
        _W("Never write to the {x} directly.", (r"writ",), "direct writes to the {x} are forbidden"),
        _W("Please don't rename anything in the {x}.", (r"renam|names",), "renaming in the {x} is not wanted"),
        _W(
            "The {x} must stay compatible with old clients.", (r"compatib",), "{x}: compatible with old clients, always"
        ),
        _W(
            "Only touch the {x} behind its feature flag.",
            (r"flag",),
            "changes to the {x} go behind the feature flag only",
        ),
        _W(
            "Always run the checks of the {x} before you commit.",
            (r"check",),
            "commit only after the checks of the {x}",
        ),
        _W("Make sure that the {x} still works offline.", (r"offline",), "the {x} has to work offline"),
        _W("No new dependencies in the {x}.", (r"dependenc",), "the {x} gets no dependency more"),
        _W(
            "Use the shared retry code in the {x}, not a loop of your own.",
            (r"retry",),
            "{x}: shared retry code, no own loop",
        ),
        _W("The {x} is off limits for now.", (r"off.limits|hands off|not .*touch",), "hands off the {x}"),
        _W(
            "Under no circumstances may the {x} log customer names.",
            (r"customer name",),
            "no customer names in the log of the {x}",
        ),
        _W(
            "Every public function of the {x} needs a docstring.",
            (r"docstring",),
            "docstrings for all that is public in the {x}",
        ),
        _W("Keep the {x} below 200 lines.", (r"\b200\b",), "the {x} may have 200 lines at most"),
        _W("Leave the comments in the {x} as they are.", (r"comment",), "comments of the {x} stay untouched"),
    ),
    revoked=(
        _T(
            "Never deploy the {x} on a Friday.",
            (r"friday", r"\b(?:never|not|no|don't)\b"),
            "You may deploy the {x} on a Friday now.",
        ),
        _T(
            "Always ask me before you change the {x}.",
            (r"\bask",),
            "Forget what I said about asking before you change the {x}.",
        ),
        _T(
            "All of the {x} must be written in Perl.",
            (r"perl",),
            "It's no longer necessary that the {x} is written in Perl.",
        ),
        _T(
            "Keep the timeout of the {x} at 30 seconds.",
            (r"\b30\b",),
            "From now on the timeout of the {x} is 45 seconds instead of 30.",
            (r"\b45\b",),
            "{x}: 45 seconds of timeout",
        ),
    ),
    decisions=(
        _W(
            "I decided to keep the {x} in memory because the file is small.",
            (r"memory", r"small"),
            "the {x} stays in memory, its file being small",
        ),
        _W(
            "I chose a queue for the {x} rather than a cron job: cron cannot retry.",
            (r"queue",),
            "{x}: a queue, cron would not retry",
        ),
        _W(
            "We went with integer cents in the {x} because floats lose money.",
            (r"cents", r"float"),
            "cents as integers in the {x}, floats lose money",
        ),
        _W(
            "I settled on one worker for the {x}; two would race.",
            (r"one", r"race"),
            "just one worker for the {x}, or there is a race",
        ),
        _W(
            "I picked a trie for the {x} because prefixes are what people type.",
            (r"trie", r"prefix"),
            "the {x} uses a trie for prefixes",
        ),
        _W(
            "Going with the {x} as the single source of truth, because two had drifted apart.",
            (r"truth",),
            "source of truth is the {x}",
        ),
    ),
    reversed=(
        _T(
            "I decided to cache the {x} on disk because reads are slow.",
            (r"disk",),
            "On second thought I dropped the disk cache of the {x}: I switched the {x} from disk to memory.",
            (r"memory",),
            "the {x} is cached in memory",
        ),
        _T(
            "I chose threads for the {x}.",
            (r"thread",),
            "I replaced the threads of the {x} by processes, because of the interpreter lock.",
            (r"process",),
            "the {x} uses processes",
        ),
    ),
    failures=(
        _W(
            "I tried to patch the {x} in place but the loader caches it.",
            (r"patch", r"loader|cache"),
            "patching the {x} fails, the loader caches",
        ),
        _W("A bigger buffer for the {x} didn't work.", (r"buffer",), "more buffer does not help the {x}"),
        _W(
            "Locking the {x} by a file turned out not to help on NFS.",
            (r"lock", r"nfs"),
            "on NFS no file lock helps the {x}",
        ),
        _W("Mocking the {x} was a dead end.", (r"mock",), "the {x} cannot be mocked"),
        _W(
            "I gave up on batching in the {x}: the order gets lost.",
            (r"batch",),
            "no batching in the {x}, it loses the order",
        ),
    ),
    values=(
        _W("The {x} service listens on port {port}.", ("{port}",), "{x}: port {port}"),
        _W(
            "The spec of the {x} is at https://docs.example.org/{port}/v{n}.",
            ("docs.example.org/{port}/v{n}",),
            "{x}: see https://docs.example.org/{port}/v{n}",
        ),
        _W("The {x} pins version {n}.{a}.{b} of its client.", (r"{n}\.{a}\.{b}",), "client {n}.{a}.{b} in the {x}"),
        _W("The ticket for the {x} is PAY-{port}.", ("PAY-{port}",), "PAY-{port} ({x})"),
        _W("The bucket of the {x} is called `depot-eu-{port}`.", ("depot-eu-{port}",), "{x}: bucket depot-eu-{port}"),
    ),
    replaced=(
        _T(
            "The {x} proxy runs on port {port}.",
            ("{port}",),
            "I moved the {x} proxy from port {port} to port {other}.",
            ("{other}",),
            "{x} proxy: {other}",
        ),
        _T(
            "The {x} needs version 4.{a}.{b} of the runtime.",
            (r"4\.{a}\.{b}",),
            "The {x} now needs version 5.{b}.{a} of the runtime.",
            (r"5\.{b}\.{a}",),
            "{x}: runtime 5.{b}.{a}",
        ),
    ),
    chat=(
        "Thanks, that reads well.",
        "Take your time with this one.",
        "How is it going?",
        "I had a look at the diff over lunch.",
        "The demo for the board went fine yesterday.",
        "Is the build slower than last week?",
        "My colleague always says that tests must be green before lunch.",
        "If we ever sell this, we would have to rename everything, I guess.",
    ),
    musing=(
        "I read the module first and made a list of its callers.",
        "The tests of the neighbouring package take a minute.",
        "This part of the code is older than the rest.",
        "I will look at the next file now.",
        "Half of it is done.",
        "The output of the last command looks as I expected, so I move on to what you asked for next.",
    ),
)
