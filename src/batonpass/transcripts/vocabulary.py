"""The names by which Baton knows what a tool does: all that it makes of tools rests on these words.

For whoever adds an agent: look up here what your agent calls its tools and their arguments. What has another name is
renamed by your adapter where it makes the event, so that `ToolCalled` carries a word of this page: as
`agents/gemini/record.py` turns `invoke_agent` into `task` with `name`, `subagent_type` and `prompt`, and
`agents/codex/record.py` a command into `exec_command` with `cmd`. A name that stands here for another agent too may be
added instead. What has no name here is no error and no fact either: files, commands, sub-agents or lists of work
stay empty without a word. Tools that only read need no name.

Tools are compared in lower case. Of several keys for one argument the first that is given counts.

Results are read as well, for what nothing else tells: the patterns at the end say what a `ToolReturned.text` has to
say. What the agent's program itself tells of work that has ended is `Prompted.notice`, or a `ToolReturned` whose call
is the sub-agent's own id.
"""

import re
from collections.abc import Mapping

# One file is written or changed: which one.
WRITERS = frozenset({
    "write", "edit", "multiedit", "notebookedit", "write_file", "replace", "create_file", "str_replace",
    "str_replace_based_edit_tool", "patch",
})  # fmt: skip
PATH = ("file_path", "path", "notebook_path", "filePath", "absolute_path")
# What is in the file: never looked into for its name.
CONTENT = ("content", "new_string", "old_string", "newString", "oldString", "edits")

# Several are, by one patch that stands in some argument.
PATCHERS = frozenset({"apply_patch"})
PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)

# A command is run: one text, or a list of words; in the background, where that argument is true.
SHELLS = frozenset({"bash", "shell", "run_shell_command", "exec_command", "local_shell", "powershell"})
COMMAND = ("command", "cmd")
IN_BACKGROUND = "run_in_background"

# A sub-agent is set to work: its task, of which kind it is, and its id where the call tells it already.
SUBAGENTS = frozenset({"task", "agent", "spawn_agent", "delegate_task", "subagent", "dispatch_agent"})
TASK = ("description", "prompt", "task", "message")
KIND = ("subagent_type", "agent_type")
NAME = ("name",)

# A sub-agent, or a command in the background, is stopped: which one.
STOPPERS = frozenset({
    "taskstop", "killagent", "close_agent", "agentstop", "killshell", "killbash", "kill_shell",
})  # fmt: skip
STOPPED = ("shell_id", "task_id", "bash_id", "agent_id", "id")

# The agent's own list of work is written whole: its items, each with a text and a status.
WHOLE_LISTS = frozenset({"todowrite", "write_todos", "update_plan"})
ITEMS = ("todos", "plan")
ITEM_TEXT = ("content", "subject", "step", "title", "description")
STATUS = "status"
STATES = {"done": "completed", "complete": "completed", "in-progress": "in_progress", "active": "in_progress"}
GONE = frozenset({"deleted", "cancelled"})  # a task of that status is on the list no more

# Or one task is made (its number stands in the result), or changed.
TASK_MADE = frozenset({"taskcreate"})
TASK_CHANGED = frozenset({"taskupdate"})
TASK_ID = ("taskId", "id")
NEW_TEXT = ("subject",)

# What results say.
EXIT_CODE = re.compile(r"\bexit(?:ed with)?(?: code| status)?[: ]+(\d{1,3})\b", re.IGNORECASE)
BACKGROUND_ID = re.compile(r"\bID:\s*([\w-]{2,40})")
TASK_NUMBER = re.compile(r"#(\w+)")
SUBAGENT_ID = re.compile(r"\bagent[_ ]?id['\"]?\s*[:=]\s*['\"]?([\w-]{2,64})", re.IGNORECASE)
# Beside its id: that it works on. Else a result is the end of it.
SUBAGENT_GOES_ON = re.compile(
    r"\b(?:launched|in the background|async|started|spawned|is (?:now )?(?:running|working))\b", re.IGNORECASE
)
# An answer with nothing but who it is: it was set to work and has said nothing yet.
SUBAGENT_NAMED = re.compile(r'\s*\{\s*"agent_id"\s*:\s*"[\w-]+"\s*(?:,\s*"nickname"\s*:\s*(?:"[^"]*"|null)\s*)?\}\s*')


def given(arguments: Mapping[str, object], keys: tuple[str, ...]) -> str:
    """The first of these arguments that has a value, as text; empty where none has. What is no text is passed over.

    >>> given({"path": "", "filePath": "src/a.py"}, PATH), given({"command": ["ls", "-l"]}, COMMAND), given({}, TASK)
    ('src/a.py', 'ls -l', '')
    """
    return next((text for key in keys if (text := _text(arguments.get(key)))), "")


def _text(value: object) -> str:
    if isinstance(value, list):
        return " ".join(str(word) for word in value)
    return str(value) if isinstance(value, str | int) else ""
