"""What an agent's error says of its provider: a limit for a moment, the end of a quota, and when that is over."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from batonpass.transcripts.events import Failed

RATE_LIMIT = "rate_limit"
QUOTA = "quota"
OVERLOADED = "overloaded"
SIGN_IN = "authentication"
KINDS = frozenset({RATE_LIMIT, QUOTA, OVERLOADED, SIGN_IN})  # what is not the conversation's own fault

# What speaks of a limit and is not the quota: a window that is full, or one that is denied outright.
_NOT_QUOTA = re.compile(
    r"\bnot (?:your|a|an) [\w ]{0,20}limit|\b(?:context|tokens?|length|output|conversation|window)\b[\w ]{0,20}limit",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"usage.{0,12}limit|(?:session|weekly|daily|monthly|\d+-hour|opus|sonnet) limit|hit your .{0,20}limit"
    r"|insufficient[_ ]quota|exceeded your (?:current )?quota|quota (?:is )?exhaust|exhausted your [\w ]{0,12}quota"
    r"|out of (?:extra usage|credits|quota)|credit balance|\bdaily quota\b"
    r"|\b(?:usage|quota|credits?|plan)\b.{0,20}limit reached|limit reached.{0,20}\b(?:usage|quota|credits?|plan)\b",
    re.IGNORECASE,
)
_PER_DAY = re.compile(r"per[ _-]?day", re.IGNORECASE)
_EPOCH = re.compile(r"(?:\||reset\w*\D{0,12})(\d{10})\b")
_STAMP = re.compile(r"\b(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)")
_CLOCK = re.compile(
    r"(?:resets?|again|available|until)\b(.{0,28}?)\b(\d{1,2})(?::(\d\d))? ?([ap])\.?m\b\.?(?: \(([\w/+-]+)\))?",
    re.IGNORECASE,
)
_FILLING = re.compile(r"\b(?:at|on|by|again|today|around|about|after)\b|[\s,:·]+", re.IGNORECASE)
_DAY = re.compile(r"([a-z]{3,9})\.?(\d{1,2})(?:st|nd|rd|th)?(\d{4})?", re.IGNORECASE)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SPAN = re.compile(
    r"(?:again|retry|resets?|available|wait)\b.{0,20}?\b(?:in|after|for)\s+((?:\d+(?:\.\d+)?\s*[a-z]+[,\s]*(?:and\s+)?)+)",
    re.IGNORECASE,
)
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)", re.IGNORECASE)
_UNITS = (("ms", 0.001), ("mo", 0.0), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86400.0), ("w", 604800.0))
_LONGEST = 32 * 86400.0
_HOUR = 3600.0
_JUST = timedelta(minutes=10)  # no limit ends a whole day after it was hit: what a clock showed just now is meant
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class TriesAgain:
    """The agent's request failed and it makes another one by itself, saying nothing meanwhile."""

    failed: Failed
    at: float | None = None  # when it does so, where it tells


def kind_of(kind: str, text: str) -> str | None:
    """The kind of setback that a failure is; None when it is none of the provider's."""
    if kind in (RATE_LIMIT, "other") and _QUOTA.search(_NOT_QUOTA.sub(" ", text)):
        return QUOTA
    if kind == RATE_LIMIT and _PER_DAY.search(text):
        return QUOTA
    return kind if kind in KINDS else None


def resets_at(text: str, at: float) -> float | None:
    """When the provider says that it serves again, in epoch seconds; None when it does not say.

    A limit per day that names a moment speaks of its pace, not of the day.

    >>> resets_at("Please retry in 1h 2m 3.5s.", 1000.0)
    4723.5
    """
    for found in (_epoch(text), _stamp(text), _span(text, at), _clock(text, at)):
        if found is not None and at <= found < at + _LONGEST:
            return found
    return None


def _epoch(text: str) -> float | None:
    found = _EPOCH.search(text)
    return float(found[1]) if found else None


def _stamp(text: str) -> float | None:
    found = _STAMP.search(text)
    if not found:
        return None
    try:
        when = datetime.fromisoformat(found[1])
    except ValueError:
        return None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _span(text: str, at: float) -> float | None:
    for found in _SPAN.finditer(text):
        seconds = 0.0
        for number, unit in _PART.findall(found[1]):
            seconds += float(number) * next((each for name, each in _UNITS if unit.lower().startswith(name)), 0.0)
        if seconds and not (seconds < _HOUR and _PER_DAY.search(text)):
            return at + seconds
    return None


def _clock(text: str, at: float) -> float | None:
    """The next time that a clock shows this, where the provider says or here; on the day that is named before it.

    One that has passed just now means now, at the end of its minute: seconds are not told.
    """
    found = _CLOCK.search(text)
    if not found:
        return None
    hour, minute = int(found[2]) % 12 + (12 if found[4].lower() == "p" else 0), int(found[3] or 0)
    if int(found[2]) > 12 or minute > 59:
        return None
    now = datetime.fromtimestamp(at, _zone(found[5]))
    when = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
    named = _FILLING.sub("", found[1])
    if named:
        dated = _on_day(when, named, now)
    else:
        days = (when + timedelta(days=days) for days in (-1, 0, 1))
        dated = next(day for day in days if day >= now - _JUST)
    if dated is None:
        return None
    return dated.timestamp() if dated > now else max(dated + _MINUTE, now).timestamp()


def _on_day(when: datetime, named: str, now: datetime) -> datetime | None:
    """The same time on a day such as `Sep15`; None for one that nobody can read, or that has passed."""
    day = _DAY.fullmatch(named)
    if not day or day[1][:3].lower() not in _MONTHS:
        return None
    month = _MONTHS.index(day[1][:3].lower()) + 1
    for year in (int(day[3]),) if day[3] else (now.year, now.year + 1):
        try:
            dated = when.replace(year=year, month=month, day=int(day[2]))
        except ValueError:  # no such day in this year
            continue
        if dated >= now - _JUST:
            return dated
    return None


def _zone(name: str | None) -> tzinfo | None:
    if name is None:
        return datetime.now().astimezone().tzinfo
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return datetime.now().astimezone().tzinfo
