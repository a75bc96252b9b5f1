"""What the agents' programs write into their user's home by themselves, Baton or not.

Found by running each without Baton on a scripted model: a conversation, a clear, another one, the end; and headless.
A pattern's `*` stands for a part of one name, `**` for any path, `[0-9]` for a digit. What is not named here is the
user's: nothing may change or appear there.
"""

import re
from collections.abc import Iterable, Mapping

# agent -> pattern below the home -> what it is
OWN: Mapping[str, Mapping[str, str]] = {
    "claude": {
        ".claude/projects/*/*.jsonl": "its records of conversations",
        ".claude/history.jsonl": "the prompts that were typed",
        ".claude/paste-cache/*.txt": "long prompts that came as a paste, a person's or Baton's",
        ".claude/backups/.claude.json.backup.*": "copies of its notes",
        ".claude/plugins/store/cc-plugin-agents-md_builtin-*.json": "its state of a plugin that it brings along",
        ".local/share/applications/claude-code-url-handler.desktop": "its links for browsers",
    },
    "codex": {
        ".codex/sessions/*/*/*/rollout-*.jsonl": "its records of conversations",
        ".codex/session_index.jsonl*": "the names of conversations, with its lock",
        ".codex/history.jsonl": "the prompts that were typed",
        ".codex/*_[0-9].sqlite*": "its databases: threads, state, logs, goals, memories, queue",
        ".codex/thread-writer-locks/*.lock": "who writes which conversation",
        ".codex/skills/.system/**": "the skills that it brings along, unpacked at every new version",
        ".codex/installation_id": "a number that it gives itself",
        ".codex/.tmp/plugins.sync.lock": "made at every start",
        ".codex/.sandbox_migration": "that it has looked for an older sandbox",
    },
    "gemini": {
        ".gemini/tmp/*/chats/session-*.jsonl": "its records of conversations",
        ".gemini/tmp/*/logs.json": "the prompts that were typed",
        ".gemini/tmp/*/.project_root": "which project its folder is of",
        ".gemini/history/*/.project_root": "which project its folder is of",
        ".gemini/projects.json": "the names of these folders",
    },
    "opencode": {
        ".local/share/opencode/opencode.db*": "its record of conversations",
        ".local/share/opencode/log/opencode.log": "its log",
        ".local/state/opencode/model.json": "the model that was used last",
        ".local/state/opencode/prompt-history.jsonl": "the prompts that were typed",
        ".config/opencode/.gitignore": "written at every start beside what it would install",
    },
}

# Where a program writes its notes among the user's words. These stay, and only such new keys may stand at the top.
NOTES: Mapping[str, str] = {
    ".claude/.claude.json": "*",  # starts, costs, tips, migrations: other ones in every version
    ".codex/config.toml": "tui",  # what it has shown
}

# Of all the user's files only these records may name Baton: a program tells in them which hooks it ran …
NAMING_HOOKS = (".claude/projects/*/*.jsonl",)
# … and what it told the model of where its folders are, which in a session are links below Baton's own.
NAMING_HOME = (".gemini/tmp/*/chats/session-*.jsonl",)


def fits(name: str, patterns: Iterable[str]) -> bool:
    """Whether a path below the home is one of these."""
    return any(re.fullmatch(_expression(each), name) for each in patterns)


def _expression(pattern: str) -> str:
    parts = {r"\*\*": ".*", r"\*": "[^/]*", re.escape("[0-9]"): "[0-9]"}
    return re.sub("|".join(map(re.escape, parts)), lambda found: parts[found[0]], re.escape(pattern))
