"""Files that a command takes back to what git has, or takes away."""

import re
import shlex

EVERYTHING = "*"
_PARTS = re.compile(r"&&|\|\||;|\n|\|")
_WHOLE = {".", ":/", "-A", "--all"}


def reverted_by(command: str) -> tuple[str, ...]:
    """The paths that a command line reverts, as written there; `EVERYTHING` for all of them.

    >>> reverted_by("git checkout -- src/a.py && make"), reverted_by("git reset --hard")
    (('src/a.py',), ('*',))
    """
    found: list[str] = []
    for part in _PARTS.split(command):
        if "git" not in part and "rm" not in part:
            continue
        try:
            words = shlex.split(part)
        except ValueError:
            continue
        found += _of(words)
    return tuple(found)


def _of(words: list[str]) -> list[str]:
    if words[:1] == ["rm"]:
        return [word for word in words[1:] if not word.startswith("-")]
    if words[:1] != ["git"]:
        return []
    rest = words[3:] if words[1:2] == ["-C"] else words[1:]
    paths = rest[rest.index("--") + 1 :] if "--" in rest else []
    match rest[:1]:
        case ["reset"] if "--hard" in rest:
            return [EVERYTHING]
        case ["checkout"] if paths or rest[1:2] == ["."]:
            return _named(paths or rest[1:])
        case ["restore"] if "--staged" not in rest or "--worktree" in rest:
            return _named(paths or [word for word in rest[1:] if not word.startswith("-")])
        case ["stash"] if rest[1:2] in ([], ["push"], ["save"], ["-u"]):
            return _named(paths) if paths else [EVERYTHING]
        case ["rm"]:
            return [word for word in rest[1:] if not word.startswith("-")]
    return []


def _named(paths: list[str]) -> list[str]:
    return [EVERYTHING] if any(path in _WHOLE for path in paths) else paths
