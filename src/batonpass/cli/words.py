"""Figures and foreign text in the words of the person who reads them. Pure functions."""

import re
import unicodedata
from datetime import datetime
from pathlib import Path

# Escape sequences: CSI; OSC, DCS, SOS, PM and APC with their whole payload; any other two-byte sequence.
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)


def clean(text: object, *, lines: bool = False) -> str:
    """Text from elsewhere with nothing in it that a terminal would obey; newlines only with `lines`.

    >>> clean("api\\x1b[2J\\x1b]0;owned\\x07 ok")
    'api ok'
    """
    bare = _SEQUENCE.sub("", str(text))
    if lines:
        return "".join(c for c in bare if c in "\n\t" or not obeyed(c))
    return "".join(c for c in bare.replace("\n", " ").replace("\t", " ") if not obeyed(c)).strip()


def obeyed(character: str) -> bool:
    """Whether a terminal would do something with a character instead of showing it."""
    # Cf holds the bidirectional overrides, which make a line read as something that it is not.
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}


def tokens(count: float | None) -> str:
    """A token count as people say it.

    >>> tokens(130_400), tokens(950), tokens(1_000_000), tokens(None)
    ('130k', '950', '1M', '?')
    """
    if count is None:
        return "?"
    if count < 1000:
        return f"{count:.0f}"
    return f"{count / 1000:.0f}k" if count < 999_500 else f"{count / 1_000_000:.3g}M"


def duration(seconds: float | None) -> str:
    """A span of time, in one or two units.

    >>> duration(0.4), duration(59), duration(150), duration(7500), duration(200_000), duration(None)
    ('0.4 s', '59 s', '2 min 30 s', '2 h 5 min', '2 d 7 h', '?')
    """
    if seconds is None:
        return "?"
    if seconds < 10:
        return f"{max(seconds, 0):.1f} s".replace(".0 s", " s")
    whole = round(seconds)
    for size, name, below, smaller in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // below
            return f"{whole // size} {name}" + (f" {rest} {smaller}" if rest else "")
    return f"{whole} s"


def moment(value: object) -> float | None:
    """Seconds since the epoch from what the daemon sends: such a number, or an ISO date; None when neither.

    >>> moment(12.5), moment("1970-01-01T00:01:00Z"), moment("soon"), moment(None)
    (12.5, 60.0, None, None)
    """
    if isinstance(value, int | float):
        return float(value)
    try:
        return datetime.fromisoformat(str(value)).timestamp()
    except ValueError:
        return None


def ago(value: object, now: float) -> str:
    """How long ago a moment was.

    >>> ago(40, 100), ago(None, 100)
    ('1 min ago', '?')
    """
    at = moment(value)
    return "?" if at is None else f"{duration(round(max(now - at, 0)))} ago"


def near(path: object, home: Path) -> str:
    """A path as its owner says it, from ~ where it lies there.

    >>> near("/home/kim/api", Path("/home/kim")), near("/srv/api", Path("/home/kim"))
    ('~/api', '/srv/api')
    """
    text = clean(path)
    return "~" + text[len(str(home)) :] if text == str(home) or text.startswith(f"{home}/") else text
