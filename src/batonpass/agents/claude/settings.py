"""The settings that a launch passes to Claude Code: the user's own `--settings`, with Baton's added."""

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from batonpass.agents.base import LaunchError, LaunchOrder
from batonpass.agents.claude import limits
from batonpass.disk import read_plain
from batonpass.home import prime_file

Settings = dict[str, Any]

# Reports that the agent need not wait for. None of single tool calls: the record tells of those, at no start of ours.
_REPORTS = ("StopFailure", "Notification", "SubagentStart", "SubagentStop")
_PRIMED = ("startup", "clear", "compact")  # conversations that may begin with a handoff
_TIMEOUTS = {"ask": 30, "prime": 10, "compact": 10, "permit": 10, "note": 5, "event": 5}
_PATH_RULE = re.compile(r"(Edit|Read|Write|MultiEdit|NotebookEdit|Glob|Grep|LS)\(/(?!/)(.*)\)")
_OUR_STATUS_LINE = re.compile(r"\bbaton(?:pass)?\b.*\bstatusline\b")


def config_folder(env: Mapping[str, str]) -> Path:
    """Where Claude Code keeps its files for this environment."""
    if folder := env.get("CLAUDE_CONFIG_DIR"):
        return Path(folder)
    return Path(env.get("HOME") or Path.home()) / ".claude"


def read_given(given: str, project: Path) -> Settings:
    """What the user passed as `--settings`, a file or JSON itself. Raises LaunchError."""
    if given.lstrip().startswith("{"):
        return _decode(given, "the JSON given with --settings")
    path = project / Path(given).expanduser()
    try:
        text = read_plain(path).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LaunchError(f"The settings file {path} given with --settings cannot be read: {error}.") from error
    settings = _decode(text, f"the settings file {path}")
    return _with_own_paths(settings, path.parent.resolve())


def merge(order: LaunchOrder, given: Settings, prime_parts: int) -> Settings:
    """The user's settings with Baton's hooks, status line and one permission added; nothing is taken away."""
    merged = dict(given)
    hooks: dict[str, Any] = dict(_dict(given.get("hooks")))
    for event, ours in _hooks(order, prime_parts).items():
        before = hooks.get(event)
        hooks[event] = [*(before if isinstance(before, list) else []), *ours]
    merged["hooks"] = hooks
    permissions = dict(_dict(given.get("permissions")))
    allowed = permissions.get("allow")
    permissions["allow"] = [*(allowed if isinstance(allowed, list) else []), *_draft_rules(order.draft_dir)]
    merged["permissions"] = permissions
    merged["statusLine"] = {
        **_dict(_users_status_line(order, given)),
        "type": "command",
        "command": shlex.join(order.statusline),
    }
    return merged


def chained_status_line(order: LaunchOrder, given: Settings) -> str | None:
    """The status line command that the user would see without Baton."""
    command = _dict(_users_status_line(order, given)).get("command")
    return command if isinstance(command, str) else None


def _users_status_line(order: LaunchOrder, given: Settings) -> object:
    """The first status line in Claude Code's own order of precedence that is not ours."""
    ours = shlex.join(order.statusline)
    for settings in _in_force(order, given):
        line = _dict(settings.get("statusLine"))
        command = line.get("command")
        if isinstance(command, str) and command and command != ours and not _OUR_STATUS_LINE.search(command):
            return line
    return None


def _in_force(order: LaunchOrder, given: Settings) -> list[Settings]:
    """The user's settings in Claude Code's own order of precedence, the first to win."""
    folder = order.project / ".claude"
    files = (folder / "settings.local.json", folder / "settings.json", config_folder(order.env) / "settings.json")
    return [given, *map(_read_leniently, files)]


def limits_set(order: LaunchOrder, given: Settings) -> dict[str, str]:
    """What the settings say of windows and of the agent's own compaction, as the watch of a session reads it.

    Variables of a settings file win over those of the environment, and either over a setting, as both versions have it.
    """
    layers = _in_force(order, given)
    found: dict[str, str] = {}
    for settings in reversed(layers):
        told = _dict(settings.get("env"))
        found.update({name: str(told[name]) for name in limits.VARIABLES if isinstance(told.get(name), str | int)})
    windows = [settings.get("autoCompactWindow") for settings in layers]
    if window := next((one for one in windows if isinstance(one, int) and not isinstance(one, bool)), None):
        found[limits.SETTING_WINDOW] = str(window)
    switches = [settings.get("autoCompactEnabled") for settings in (*layers, _of_the_program(order.env))]
    if next((one for one in switches if isinstance(one, bool)), True) is False:
        found[limits.SETTING_OFF] = "1"
    return found


def _of_the_program(env: Mapping[str, str]) -> Settings:
    """What Claude Code keeps for itself, with what was chosen in its own `/config`."""
    folder = Path(env["CLAUDE_CONFIG_DIR"]) if env.get("CLAUDE_CONFIG_DIR") else Path(env.get("HOME") or Path.home())
    return _read_leniently(folder / ".claude.json")


def _hooks(order: LaunchOrder, prime_parts: int) -> dict[str, list[Settings]]:
    """Our groups of hooks, by event. The agent waits for most of them, so they are few and quick."""
    first = _group(_command(order, "prime", "1"))
    others = [_group(*_other_parts(order, source, prime_parts), matcher=source) for source in _PRIMED]
    return {
        "SessionStart": [first, *others],
        "Stop": [_group(_command(order, "ask"))],
        "PermissionRequest": [_group(_command(order, "permit"))],
        "PreCompact": [_group(_command(order, "compact"))],
        "UserPromptSubmit": [_group(_command(order, "note"))],
        # Only that a person closed the agent is news; a clear would wait for the report of its end.
        "SessionEnd": [_group(_command(order, "event"), matcher="prompt_input_exit")],
        **{event: [_group({**_command(order, "event"), "async": True})] for event in _REPORTS},
    }


def _group(*hooks: Settings, matcher: str | None = None) -> Settings:
    return {"hooks": [*hooks]} if matcher is None else {"matcher": matcher, "hooks": [*hooks]}


def _command(order: LaunchOrder, *role: str) -> Settings:
    return {"type": "command", "command": shlex.join((*order.hook, *role)), "timeout": _TIMEOUTS[role[0]]}


def _other_parts(order: LaunchOrder, source: str, prime_parts: int) -> list[Settings]:
    """A long handoff comes in parts; the first hook reports, so for the others it is enough to print the file."""
    files = [order.folder / prime_file(source, part) for part in range(2, prime_parts + 1)]
    commands = [f"cat {shlex.quote(str(file))} 2>/dev/null || :" for file in files]
    return [{"type": "command", "command": command, "timeout": _TIMEOUTS["prime"]} for command in commands]


def _draft_rules(draft_dir: Path) -> list[str]:
    """Leave to write drafts. Both spellings of a path with a symbolic link in it, for either may be used."""
    spellings = dict.fromkeys((str(draft_dir.absolute()), str(draft_dir.resolve())))
    return [f"Edit(/{spelling}/**)" for spelling in spellings]


def _with_own_paths(settings: Settings, folder: Path) -> Settings:
    """In a settings file `/` is that file's folder; say so in full, for the rules move to another file."""
    permissions = settings.get("permissions")
    if not isinstance(permissions, dict):
        return settings
    moved = {
        key: [_PATH_RULE.sub(rf"\1(/{folder}/\2)", rule) if isinstance(rule, str) else rule for rule in rules]
        if isinstance(rules, list)
        else rules
        for key, rules in permissions.items()
    }
    return {**settings, "permissions": moved}


def _decode(text: str, what: str) -> Settings:
    try:
        settings = json.loads(text)
    except RecursionError:
        raise LaunchError(f"In {what} the values are nested too deeply.") from None
    except json.JSONDecodeError as error:
        raise LaunchError(f"In {what}, line {error.lineno}, column {error.colno}: {error.msg}.") from error
    if not isinstance(settings, dict):
        raise LaunchError(f"There is no JSON object in {what}; Claude Code's settings are one.")
    return settings


def _read_leniently(path: Path) -> Settings:
    try:
        return _dict(json.loads(read_plain(path)))
    except (OSError, ValueError, RecursionError):
        return {}


def _dict(value: object) -> Settings:
    return value if isinstance(value, dict) else {}
