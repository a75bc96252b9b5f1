"""What opencode asks about before it acts: it has no flag for that, but a variable that adds to its configuration."""

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from batonpass.agents.opencode.record import Entry, mapping
from batonpass.agents.opencode.settings import given, settings
from batonpass.agents.wishes import Approval

VARIABLE = "OPENCODE_PERMISSION"
_OUTSIDE = ("bash", "webfetch", "websearch")
_ASKED = {Approval.PLAN: _OUTSIDE, Approval.ASK: ("edit", *_OUTSIDE), Approval.EDITS: _OUTSIDE, Approval.ALL: ()}


def asking(approval: Approval, project: Path, env: Mapping[str, str]) -> dict[str, str]:
    """The environment in which no more is done unasked than that. What the user has denied stays denied."""
    asked, rules = _ASKED[approval], _configured(project, env)
    if not asked:
        return {}
    # The last rule that fits counts, and only a name that is new comes last: so the tool is named by a pattern.
    said: dict[str, object] = {}
    for tool in asked:
        theirs = _asked_about(tool, rules)
        said[f"{tool}*"] = theirs if "*" in theirs else {"*": "ask", **theirs}
    if approval is Approval.PLAN and (edits := _asked_about("edit", rules)):
        said["edit*"] = edits  # its agent for plans denies edits; what the user allows would win over that
    return {VARIABLE: json.dumps({**given(env, VARIABLE), **said})}


def _asked_about(tool: str, rules: Entry) -> dict[str, object]:
    """The user's rules for a tool in their order, asking in place of allowing."""
    found: dict[str, object] = {}
    for name, rule in rules.items():
        if not fnmatchcase(tool, name):
            continue
        for pattern, action in (mapping(rule) or {"*": rule}).items():
            found.pop(pattern, None)
            found[pattern] = "ask" if action == "allow" else action
    return found


def _configured(project: Path, env: Mapping[str, str]) -> Entry:
    """The rules of the user's configuration, as far as it is in files and variables."""
    rules: Entry = {}
    for one in settings(project, env):
        for tool, on in mapping(one.get("tools")).items():  # as earlier versions had it
            rules = _merged(rules, {"edit" if tool in ("write", "patch") else tool: "allow" if on else "deny"})
        rules = _merged(rules, _rules(one.get("permission")))
    return _merged(rules, given(env, VARIABLE))


def _rules(permission: object) -> Entry:
    return {"*": permission} if isinstance(permission, str) else mapping(permission)


def _merged(below: Entry, above: Entry) -> Entry:
    """As opencode merges: by name, and what is given above wins."""
    both = {
        name: _merged(mapping(below[name]), mapping(rule)) for name, rule in above.items() if _nested(below, name, rule)
    }
    return {**below, **above, **both}


def _nested(below: Entry, name: str, rule: object) -> bool:
    return isinstance(rule, Mapping) and isinstance(below.get(name), Mapping)
