"""What a document claims and the project denies: paths that are not there, work that is not committed."""

import re
from collections.abc import Iterator
from pathlib import Path

from batonpass.facts.model import Facts, GitFacts
from batonpass.handoff import names, paths
from batonpass.handoff.document import Handoff
from batonpass.handoff.gaps import Gap

_LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")
_LOOKS_LIKE_PATH = re.compile(r"^[\w@~.+-]*(?:/[\w@.+ -]*)+$|^[\w@+-][\w@.+-]*\.[A-Za-z]\w{0,5}$")
_GONE = re.compile(
    r"\b(?:delet|remov|renam|gone|moved|dropp|to be (?:made|created|written)|not yet"
    r"|planned|will )",
    re.IGNORECASE,
)
_ALL_COMMITTED = re.compile(
    r"\b(?:everything|all (?:changes|work|files|of it)|the work)\b[^.\n]{0,30}\b(?:is|are|has been"
    r"|have been|was|were)?"
    r" ?(?:now )?committed\b|\bwork(?:ing)? tree is clean\b|\bclean working tree\b"
    r"|\bno uncommitted (?:changes|files|work)\b"
    r"|\bnothing (?:is |left )?(?:uncommitted|to commit)\b",
    re.IGNORECASE,
)
_FILE_COMMITTED = re.compile(r"(?<!un)(?<!not )(?<!not yet )(?<!to be )\bcommitted\b", re.IGNORECASE)
_ON_BRANCH = re.compile(
    r"^\W*(?:current |git )?branch\W{0,4}:\W*`?([\w./-]+\w)`?\W*$"
    r"|\b(?:working|currently|checked out|we are|i am|work is) on (?:the )?branch `?([\w./-]+\w)`?",
    re.IGNORECASE | re.MULTILINE,
)


def of_paths(document: Handoff, facts: Facts) -> Iterator[Gap]:
    """Paths and links that lead nowhere. A project that is not on this machine is not judged."""
    if not facts.project.is_dir():
        return
    git = facts.git
    known = (
        {change.path for change in git.changes} | {f for c in git.session_commits for f in c.files} if git else set()
    )
    seen: set[str] = set()
    for title in (names.FILES, names.LINKS):
        for line in (document.section(title) or "").split("\n"):
            for path in _paths(line):
                bare = path.removeprefix("./").rstrip("/")
                told = _GONE.search(line.replace(path, ""))
                if path in seen or bare in known or told or _exists(facts.project, path):
                    continue
                seen.add(path)
                yield Gap("dead", path, f"The section '{title}' names {path}, which does not exist.")


def _paths(line: str) -> list[str]:
    linked = [target for target in _LINK.findall(line) if "://" not in target]
    if linked or "](" in line:
        return linked
    found = list(paths.listed(line))
    rest = line.partition(":")[2].strip().strip("`")
    if found and found[0].isalpha() and rest:  # - Epic: .bmad/epics/epic-012.md
        found = [rest.split()[0].strip("`")]
    return [path for path in found if _LOOKS_LIKE_PATH.match(path) and "://" not in path and "*" not in path]


def _exists(project: Path, path: str) -> bool:
    try:
        whole = Path(path).expanduser() if path.startswith("~") else project / path
        # A handoff or checkpoint is named without its folder.
        return whole.exists() or ("/" not in path and path.startswith("handoff-"))
    except (OSError, ValueError, RuntimeError):
        return True


def of_git(document: Handoff, text: str, facts: Facts) -> Iterator[Gap]:
    """What the document says of git and git does not."""
    if facts.git is None:
        return
    yield from _committed(document, text, facts.git)
    yield from _branch(document, text, facts.git)


def _committed(document: Handoff, text: str, git: GitFacts) -> Iterator[Gap]:
    claim = _ALL_COMMITTED.search(text)
    if claim and git.changes:
        listed = ", ".join(git.dirty[:5]) + (" …" if len(git.dirty) > 5 else "")
        yield Gap("contradiction", "committed", f'The document says "{claim[0]}", but git shows changes: {listed}.')
        return
    for line in (document.section(names.FILES) or "").split("\n"):
        for path in paths.listed(line):
            if path in git.dirty and _FILE_COMMITTED.search(line):
                yield Gap(
                    "contradiction", path, f"The document says that {path} is committed, but git shows it changed."
                )


def _branch(document: Handoff, text: str, git: GitFacts) -> Iterator[Gap]:
    said = [document.branch] if document.branch else []
    said += [first or second for first, second in _ON_BRANCH.findall(text)]
    wrong = next((name for name in said if name != git.branch), None)
    if wrong is not None:
        now = f"on {git.branch}" if git.branch else "on no branch (detached)"
        yield Gap("contradiction", "branch", f"The document says branch {wrong}, but the work is {now}.")
