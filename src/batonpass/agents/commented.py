"""JSON as agents let their users write it: with comments, and commas behind the last entry."""

import json
import re

_COMMENT = re.compile(rb'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_COMMA = re.compile(rb'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', re.DOTALL)


def loads(data: bytes) -> dict[str, object]:
    """The object in it; empty for what is none.

    >>> loads(b'{"a": "//x", /* b */ "c": [1, 2,],} // d')
    {'a': '//x', 'c': [1, 2]}
    >>> loads(b"[]"), loads(b"{")
    ({}, {})
    """
    plain = _COMMENT.sub(lambda match: match[1] or b" ", data)
    try:
        found = json.loads(_COMMA.sub(lambda match: match[1] or b"", plain))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
