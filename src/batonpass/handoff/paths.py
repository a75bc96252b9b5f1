"""Paths as the document writes and as a receipt reads them."""

import re

_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[.\]\s+)?(.*)$")


def written(path: str) -> str:
    """A path as it stands in a list; one with a space is quoted so that its end can be seen.

    >>> written("a b.txt"), written("a.txt")
    ('`a b.txt`', 'a.txt')
    """
    return f"`{path}`" if re.search(r"\s", path) else path


def listed(body: str) -> tuple[str, ...]:
    """The paths that a list names, each the first word or the quoted text of its item.

    >>> listed("- src/a.ts (new)\\n- `b c.ts`: updated\\nNone")
    ('src/a.ts', 'b c.ts')
    """
    found: dict[str, None] = {}
    for line in body.split("\n"):
        entry = _ITEM.match(line)
        if entry is None:
            continue
        text = entry[1].lstrip("*").strip()
        quoted = re.match(r"^`([^`]+)`", text)
        path = quoted[1] if quoted else re.split(r"\s|\*\*|:(?:\s|$)", text, maxsplit=1)[0]
        if path and re.search(r"[./\w]", path):
            found[path.removeprefix("./")] = None
    return tuple(found)


def mentions(text: str, path: str) -> bool:
    """Whether a text names a path as a whole, and not as a piece of a longer one.

    >>> mentions("see src/a.py.", "src/a.py"), mentions("see lib/src/a.py2", "src/a.py")
    (True, False)
    """
    pattern = rf"(?<![\w/.-])(?:\./)?{re.escape(path)}(?![\w/-]|\.\w)"
    if path.endswith("/"):
        pattern = rf"(?<![\w/.-])(?:\./)?{re.escape(path)}"
    return re.search(pattern, text) is not None
