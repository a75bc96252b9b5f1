"""The project that a made-up session works on: files and scripts that really run, and the calls that touch them.

The results that stand here are for sessions that are only told; where one is played, the tools give their own.
"""

from collections.abc import Sequence

from batonpass.sim.corpus import Call

NOTICE = "notice"  # no tool: news that the agent's program brings by itself
FILES = {
    ".gitignore": "__pycache__/\n.claude/\n",
    "Makefile": (
        "Makefile: ;\n%:\n"
        '\t@test -f config/$*.ini || { echo "error: config/$*.ini is missing"; exit 2; }\n\t@echo built $*\n'
    ),
    "scripts/watch.sh": "#!/bin/sh\nexec sleep 1500\n",
    "scripts/once.sh": "#!/bin/sh\nsleep 0.3\n",
}
_TEST = """\
from pathlib import Path


def test_{name}_adds_up():
    assert Path("settings/{name}.txt").read_text() == "on\\n"
"""


def test_file(name: str) -> str:
    """A test that passes once its setting is on."""
    return _TEST.format(name=name)


def shell(command: str, result: str = "", *, ok: bool = True) -> Call:
    return Call("Bash", {"command": command, "description": "Work on it"}, result, ok)


def change(path: str, old: str = "READY = False", new: str = "READY = True") -> tuple[Call, ...]:
    """Read a file and change it, as agents must."""
    edit: dict[str, object] = {"file_path": path, "old_string": old, "new_string": new}
    return Call("Read", {"file_path": path}, f"1\t{old}"), Call("Edit", edit, f"The file {path} has been updated.")


def create(path: str, content: str) -> Call:
    return Call("Write", {"file_path": path, "content": content}, f"File created successfully at: {path}")


def tests_fail(tests: Sequence[str]) -> Call:
    """A whole test run in which these fail."""
    lines = "\n".join(f"FAILED {name} - AssertionError: assert 'off\\n' == 'on\\n'" for name in tests)
    return shell("pytest -q -p no:cacheprovider", f"Exit code 1\n{lines}\n{len(tests)} failed in 0.12s", ok=False)


def tests_mended(names: Sequence[str]) -> tuple[Call, ...]:
    """Turn the settings on, and run the tests of those names again."""
    edits = [call for name in names for call in change(f"settings/{name}.txt", "off", "on")]
    files = " ".join(f"tests/test_{name}.py" for name in names)
    return *edits, shell(f"pytest -q -p no:cacheprovider {files}", f"..\n{len(names)} passed in 0.01s")


def build(target: str, *, ok: bool) -> Call:
    missing = f"Exit code 2\nerror: config/{target}.ini is missing\nmake: *** [Makefile:3: {target}] Error 2"
    return shell(f"make {target}", f"built {target}" if ok else missing, ok=ok)


def agent(task: str, agent_id: str, *, ends: bool) -> Call:
    """A sub-agent in the background; one that `ends` has nothing to wait for."""
    prompt = f"{task}, and {'answer at once' if ends else 'wait for more'}."
    launched = f"Async agent launched successfully.\nagentId: {agent_id} (internal ID - do not mention to user)"
    given = {"description": task, "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": True}
    return Call("Agent", given, launched)


def background(command: str, shell_id: str) -> Call:
    started = f"Command running in background with ID: {shell_id}. Output is being written to: /tmp/{shell_id}.output"
    return Call("Bash", {"command": command, "description": "Start it", "run_in_background": True}, started)


def notice(task: str) -> Call:
    """That a background task has ended, as the agent's program tells it."""
    return Call(
        NOTICE, {}, f"<task-notification>\n<task-id>{task}</task-id>\n<status>completed</status>\n</task-notification>"
    )


def tasks_made(texts: Sequence[str]) -> tuple[Call, ...]:
    """Every task on the agent's own list, numbered from 1."""
    return tuple(
        Call("TaskCreate", {"subject": text, "description": text}, f"Task #{number} created successfully: {text}")
        for number, text in enumerate(texts, 1)
    )


def tasks_done(numbers: Sequence[int]) -> tuple[Call, ...]:
    return tuple(
        Call("TaskUpdate", {"taskId": str(number), "status": "completed"}, f"Updated task #{number} status")
        for number in numbers
    )


def epic(phase: str, done: Sequence[str], left: Sequence[str]) -> str:
    boxes = [*(f"- [x] {text}" for text in done), *(f"- [ ] {text}" for text in left)]
    return "\n".join(["# Epic 007: harbour dues", "", "Status: in progress", f"Phase: {phase}", "", *boxes, ""])
