"""What may stand in the fields of a request: our own commands keep to it, one that was written by hand need not."""

from collections.abc import Callable, Mapping

_LONGEST = 1e6  # more columns, rows or seconds than anybody has

_KINDS: dict[str, tuple[Callable[[object], bool], tuple[str, ...]]] = {
    "a text": (
        lambda value: isinstance(value, str),
        ("agent", "cwd", "cycle", "file", "id", "ladder", "name", "pane", "project", "prompt", "rescue", "role",
         "session", "to", "why"),
    ),
    "a list of texts": (
        lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value),
        ("args", "sessions"),
    ),
    "a text for each name": (
        lambda value: isinstance(value, dict) and all(isinstance(one, str) for one in value.values()),
        ("env",),
    ),
    "a number of a sensible size": (
        lambda value: isinstance(value, int | float) and 0 <= value <= _LONGEST,
        ("height", "width", "within"),
    ),
    "a number": (lambda value: isinstance(value, int), ("number",)),
}  # fmt: skip
_BY_FIELD = {field: (fits, kind) for kind, (fits, fields) in _KINDS.items() for field in fields}


def misfit(request: Mapping[str, object]) -> str | None:
    """Which field holds something of another kind than it is for, as a sentence; None where all fit or are left out."""
    for field, value in request.items():
        if value is not None and field in _BY_FIELD:
            fits, kind = _BY_FIELD[field]
            if not fits(value):
                return f"'{field}' of a request is {kind}, and {str(value)[:200]!r} is not"
    return None
