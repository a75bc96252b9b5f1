"""More wordings that may be looked at to improve the facts."""

from batonpass.sim.corpus_words import Turned as _T
from batonpass.sim.corpus_words import Wording as _W
from batonpass.sim.corpus_words import Words

SEEN_TOO = Words(
    rules=(
        _W(
            "The {x} belongs to another team, so keep your fingers off it.",
            (r"team|fingers|hands off",),
            "hands off the {x}, it is the other team's",
        ),
        _W(
            "Whatever we do, callers of the {x} may not notice anything.",
            (r"notice",),
            "callers of the {x} must not notice our change",
        ),
        _W("I'd rather you didn't reformat the {x}.", (r"format",), "the {x} keeps its formatting"),
        _W("The bank wants the {x} in UTF-16, so that's what it gets.", (r"utf-16",), "UTF-16 for the {x} (the bank)"),
        _W(
            "Anything the {x} prints has to be free of personal data.",
            (r"personal data",),
            "no personal data in what the {x} prints",
        ),
        _W(
            "We promised the client that the {x} answers within 300 ms.",
            (r"\b300\b",),
            "300 ms at most for the {x}, promised to the client",
        ),
        _W("Hold off on the {x} until legal has signed.", (r"legal",), "the {x} waits for legal"),
        _W("British spelling in the {x}, please.", (r"british",), "{x}: British spelling"),
        _W(
            "The {x} has to survive a restart in the middle of a run.",
            (r"restart",),
            "a restart in mid-run does not harm the {x}",
        ),
        _W("I want the {x} to stay a single file.", (r"single|one",), "the {x} stays in one file"),
        _W("Nobody but me merges changes of the {x}.", (r"merg",), "merging the {x} is the user's business"),
        _W("The {x} shouldn't need more than 64 MB.", (r"\b64\b",), "memory of the {x}: 64 MB at most"),
        _W("Tests of the {x} go through the public API.", (r"public api",), "test the {x} by its public API"),
    ),
    revoked=(
        _T(
            "The {x} has to support Python 3.8.",
            (r"3\.8",),
            "Python 3.8 is history, the {x} can use whatever is current.",
            (r"history|whatever",),
        ),
        _T(
            "Don't touch the {x} before the release.",
            (r"before the release",),
            "The release is out, so go ahead with the {x}.",
            (r"go ahead",),
        ),
        _T(
            "Please keep the old column names in the {x}.",
            (r"old column",),
            "I changed my mind: give the columns of the {x} proper names.",
            (r"proper",),
            "proper column names in the {x}",
        ),
        _T(
            "Limit the {x} to 20 rows a page.",
            (r"\b20\b",),
            "Make that 50 rows a page for the {x}.",
            (r"\b50\b",),
            "{x}: 50 rows a page",
        ),
    ),
    decisions=(
        _W("The {x} will store dates as UTC text, which sorts correctly.", (r"utc",), "dates of the {x}: UTC text"),
        _W(
            "After weighing both, SQLite it is for the {x}: no server to look after.",
            (r"sqlite",),
            "SQLite for the {x}, as it needs no server",
        ),
        _W(
            "For the {x} a plain dict does the job; a class would be overkill.",
            (r"dict",),
            "a dict is enough for the {x}",
        ),
        _W(
            "The {x} gets its own lock file, otherwise two runs would overwrite each other.",
            (r"lock", r"overwrit|two runs"),
            "own lock file for the {x}: two runs would clash",
        ),
        _W(
            "I'm making the {x} read-only at start-up, this keeps the books honest.",
            (r"read-only",),
            "{x}: read-only from the start",
        ),
        _W(
            "Best option for the {x} is streaming: memory stays flat.",
            (r"stream",),
            "the {x} streams, so that memory stays flat",
        ),
    ),
    reversed=(
        _T(
            "The {x} talks to the broker over AMQP, because it is there already.",
            (r"amqp",),
            "AMQP turned out too heavy for the {x}, so it speaks plain HTTP now.",
            (r"http\b",),
            "the {x} speaks plain HTTP",
        ),
        _T(
            "I put the settings of the {x} into YAML.",
            (r"yaml",),
            "The settings of the {x} are TOML from today, YAML had surprised us once too often.",
            (r"toml",),
            "settings of the {x}: TOML",
        ),
    ),
    failures=(
        _W("Raising the time limit of the {x} changed nothing.", (r"limit",), "a higher limit does not help the {x}"),
        _W("With asyncio the {x} got slower, so I went back.", (r"asyncio",), "asyncio makes the {x} slower"),
        _W(
            "The vendor's fix for the {x} does not even compile.", (r"compile",), "{x}: the vendor's fix cannot compile"
        ),
        _W(
            "I spent an hour on a regex for the {x}; nested quotes defeat it.",
            (r"regex",),
            "a regex is no way for the {x}: nested quotes",
        ),
        _W("Rewriting the {x} in Rust stalled on the bindings.", (r"rust",), "Rust is out for the {x}, the bindings"),
    ),
    values=(
        _W(
            "You can reach the {x} at https://api.example.net:{port}/v{n}.",
            ("api.example.net:{port}/v{n}",),
            "{x}: https://api.example.net:{port}/v{n}",
        ),
        _W("Staging of the {x} answers on {port}.", ("{port}",), "staging port of the {x}: {port}"),
        _W("The {x} runs {n}.{a}.{b} in production.", (r"{n}\.{a}\.{b}",), "production has {n}.{a}.{b} of the {x}"),
        _W("Our incident with the {x} is INC-{port}.", ("INC-{port}",), "INC-{port}: the {x}"),
        _W("The account behind the {x} has the number K{port}-{a}.", ("K{port}-{a}",), "{x}: account K{port}-{a}"),
    ),
    replaced=(
        _T(
            "The {x} is on {port}.",
            ("{port}",),
            "The {x} is on {other} these days, {port} clashed with something.",
            ("{other}",),
            "{x}: {other}",
        ),
        _T(
            "Image tag of the {x}: 7.{a}.{b}.",
            (r"7\.{a}\.{b}",),
            "Image tag of the {x} is 8.{b}.{a} as of today.",
            (r"8\.{b}\.{a}",),
            "{x}: image 8.{b}.{a}",
        ),
    ),
    chat=(
        "Nice.",
        "No rush with this.",
        "I'm back from the dentist.",
        "Coffee first, then I read your diff.",
        "Did you know that the office moves in spring?",
        "The last contractor never wrote a single test, can you believe it?",
        "Should one always pin versions, in your opinion?",
        "In my old job we had to file a form for every port.",
    ),
    musing=(
        "I start by reading what calls it.",
        "That file has not been changed for years.",
        "Next I turn to the part below.",
        "The structure is clearer to me now.",
        "This looks like a good place to continue, and nothing else seems to depend on it.",
        "One piece after the other.",
    ),
)
