"""Text that came from anywhere, made safe to show in a terminal."""

import re

_ESCAPE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC: titles, hyperlinks, clipboard
    r"|\x1b[PX^_][^\x1b]*(?:\x1b\\)?"  # DCS, SOS, PM, APC
    r"|\x1b[ -/]*[0-~]?"  # everything shorter, and a torn one
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Marks that reorder what follows them, with which one text can be made to look like another.
_REORDER = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def strip_escapes(text: str) -> str:
    """The text without escape sequences and without control characters but newline and tab.

    >>> strip_escapes("\\x1b[1mbold\\x1b[0m \\x1b]0;title\\x07and\\x07 plain")
    'bold and plain'
    """
    return _CONTROL.sub("", _ESCAPE.sub("", text))


def printable(text: str) -> str:
    """What may be shown to a person: no control sequence, no bidirectional trick, newline and tab kept."""
    return _REORDER.sub("", strip_escapes(text))


def one_line(text: str) -> str:
    """`printable`, with every run of white space made one blank."""
    return " ".join(printable(text).split())


def pastable(text: str) -> str:
    """What may be pasted into an application: after the mark that ends a paste, the rest would go on as keys.

    >>> pastable("a\\r\\nb\\x1b[201~\\rrm")
    'a\\nb\\nrm'
    """
    return strip_escapes(text.replace("\r\n", "\n").replace("\r", "\n"))
