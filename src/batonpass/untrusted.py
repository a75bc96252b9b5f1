"""Values from elsewhere, made safe to use: agents' files, hooks and callers say what they like."""

import json
import re
from datetime import datetime
from typing import TypeVar

T = TypeVar("T")

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
# A NUL ends a word for the kernel and is refused by PostgreSQL; half a surrogate pair fits into no file.
_ODD = re.compile("[\x00\ud800-\udfff]")
_LAST_SECOND = 253_402_300_799.0  # of the year 9999, beyond which there are no dates
_LARGEST = 2**53  # beyond it a number is not the same in every JSON reader


def decode(text: bytes) -> object:
    """The JSON value in a text, with nothing in it that no file, database or command line takes.

    Raises ValueError for what is no JSON, and for what is nested too deeply to be meant.
    """
    try:
        value = json.loads(text.decode("utf-8"), parse_constant=lambda name: None)
        return plain(value) if b"\\u" in text or b"\0" in text else value
    except RecursionError:
        raise ValueError("this JSON is nested too deeply") from None


def plain(value: T) -> T:
    """The same value with the odd characters in its texts replaced.

    >>> plain({"a": ["x\\0y", 1]})
    {'a': ['x\ufffdy', 1]}
    """
    return _plain(value)  # type: ignore[return-value]


def _plain(value: object) -> object:
    if isinstance(value, str):
        return _ODD.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_plain(key): _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def identifier(value: object) -> str | None:
    """An id that may stand in a file's name; None for anything else, such as a way out of the folder.

    >>> identifier("e91f36bc-d5bf"), identifier("../../etc/passwd"), identifier(7)
    ('e91f36bc-d5bf', None, None)
    """
    return value if isinstance(value, str) and _ID.fullmatch(value) else None


def moment(value: object) -> float | None:
    """Seconds since the epoch, where the value can be such; None for the rest.

    >>> moment(12), moment(1e300), moment(float("nan")), moment(True)
    (12.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= _LAST_SECOND else None


def stamp(value: object) -> float:
    """The moment that an ISO date names, in seconds since the epoch; 0 for no text, or no moment that anybody will see.

    Raises ValueError for a text that is no date.

    >>> stamp("1970-01-01T00:01:00Z"), stamp(None)
    (60.0, 0.0)
    """
    return moment(datetime.fromisoformat(value).timestamp()) or 0.0 if isinstance(value, str) else 0.0


def count(value: object) -> int | None:
    """A whole number that can count something; None for the rest.

    >>> count(7), count(7.0), count(-1), count(10**30), count(True), count("7")
    (7, 7, None, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LARGEST:
        return None
    return int(value) if value == int(value) else None
