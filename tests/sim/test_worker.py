"""The worker: works, climbs, hands over, takes over, and misbehaves when told to."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from batonpass.sim.brain import Asked, Reply
from batonpass.sim.worker import FAULTS, Worker, WorkerSettings

ASK = """[baton 7f3a91c2 ask 1] Your context is nearly full.
Write it to: /p/.bmad/handoffs/.draft/7f3a91c2-1.md
Changed files:
- src/a.py
- docs/my notes.md

If you may not write, answer with the document between <<<BATON-HANDOFF and BATON-HANDOFF>>>.
"""

HANDOFF = """# Handoff
**Branch**: feature/torn

## Current Task
Make it survive.

## Progress Summary
### In Progress
- (I1) Run the tests
### Pending
- [ ] (P1) Measure

## Files Modified
- src/a.py (changed)
- `docs/my notes.md` — new

## Next Steps
1. (N1) Run the tests of the reader
2. (N2) Measure

## Important Context
- (C1) Names stay
- (C2) Tests first
"""

KICK = """[baton 7f3a91c2 kick 1] You take over. Begin with
```json
{"baton_receipt": "7f3a91c2", "task": "<the task>", "next_step": "<id>"}
```
"""


def asked(text: str, *, context: str = "", results: tuple[str, ...] = (), turn: int = 1, used: int = 0) -> Asked:
    return Asked(text=text, context=context + text, tool_results=results, turn=turn, used=used)


def written(reply: Reply) -> tuple[str, str]:
    (tool,) = reply.tools
    assert tool.name == "write"
    return str(tool.arguments["path"]), str(tool.arguments["content"])


def receipt_of(reply: Reply) -> dict[str, Any]:
    assert reply.text.startswith("```json\n")
    found: dict[str, Any] = json.loads(reply.text.split("```")[1].removeprefix("json"))
    return found


def worker(**settings: Any) -> Worker:
    return Worker(WorkerSettings(**settings))


def test_a_turn_is_a_number_of_steps_with_tool_calls_and_then_ends() -> None:
    brain = worker(steps=2, command="make step{n}")
    context, used, commands = "", 0, []
    results: tuple[str, ...] = ()
    for _ in range(3):
        reply = brain.reply(asked("Go on.", context=context, results=results, used=used))
        context += reply.text + "\n"
        used = reply.used or 0
        commands += [tool.arguments["command"] for tool in reply.tools]
        results = ("ok",)
    assert commands == ["make step1", "make step2"]
    assert not reply.tools
    assert used == 20_000 + 2 * 5_000


def test_step_numbers_go_on_where_the_context_left_them() -> None:
    reply = Worker().reply(asked("Go on.", context="- Step 41: document the cursor\nStep 99 of the manual\n"))
    assert "Step 42: " in reply.text


def test_it_tells_the_user_what_it_heard_but_never_says_a_tag_again() -> None:
    assert Worker().reply(asked("Use tabs.\nEverywhere.")).text.startswith("On it: Use tabs.\nStep 1: ")
    for text in ("[baton 7f3a91c2 note 1] You are at 60 %.", "<task-notification>x</task-notification>"):
        assert Worker().reply(asked(text)).text.startswith("Step 1: ")


def test_usage_jumps_at_the_named_turn_of_the_first_conversation_only() -> None:
    brain = worker(jumps={2: 155_000})
    assert brain.reply(asked("x", turn=1)).used == 20_000
    assert brain.reply(asked("x", turn=2, used=20_000)).used == 155_000
    assert brain.reply(asked("x", context=KICK, turn=2, used=20_000)).used == 25_000


def test_above_its_window_the_model_refuses() -> None:
    assert worker(window=200_000).reply(asked("x", used=200_001)).error == "too_long"
    assert worker(window=200_000).reply(asked("x", used=200_000)).error is None


def test_an_ask_is_answered_with_a_complete_document_at_the_path_and_then_a_closing_word() -> None:
    brain = Worker()
    first = brain.reply(asked(ASK, context="Step 3: document the cursor\n", used=150_000))
    path, content = written(first)
    assert path == "/p/.bmad/handoffs/.draft/7f3a91c2-1.md"
    for section in ("Current Task", "Progress Summary", "Active Subagents", "Recent Decisions"):
        assert f"## {section}\n" in content
    for section in ("Files Modified", "Next Steps", "Important Context", "Links"):
        assert f"## {section}\n" in content
    for part in ("### Completed\n- Step 1:", "### In Progress\n- ", "### Pending\n- ", "- Step 3: "):
        assert part in content
    assert "- src/a.py (changed" in content
    assert "- `docs/my notes.md` (changed" in content
    assert first.used == 151_500

    closing = brain.reply(asked(ASK, context=ASK + first.text, results=("File created",), used=151_500))
    assert not closing.tools
    assert closing.text == "The handoff is written."


def test_an_ask_that_comes_in_the_middle_of_a_tool_call_is_answered_too() -> None:
    reply = Worker().reply(asked(ASK, context="Step 3: measured (1 of 1)\n", results=("ok",)))
    assert written(reply)[0].endswith("7f3a91c2-1.md")


def test_when_writing_is_denied_the_document_is_in_the_last_message() -> None:
    brain = Worker()
    first = brain.reply(asked(ASK))
    denied = ("Permission to use Write has been denied.",)
    reply = brain.reply(asked(ASK, context=ASK + first.text, results=denied))
    assert not reply.tools
    assert reply.text.startswith("<<<BATON-HANDOFF\n## Current Task")
    assert reply.text.endswith("BATON-HANDOFF>>>")


def test_a_kick_is_answered_with_a_receipt_and_work_in_one_reply() -> None:
    brain = Worker()
    first = brain.reply(asked(KICK, context=HANDOFF))
    assert receipt_of(first) == {
        "baton_receipt": "7f3a91c2",
        "task": "Make it survive.",
        "next_step": "N1",
        "branch": "feature/torn",
        "files": ["src/a.py", "docs/my notes.md"],
        "constraints": ["C1", "C2"],
        "open_items": ["I1", "P1", "N1", "N2"],
    }
    assert "Continuing with Run the tests of the reader" in first.text
    assert [tool.name for tool in first.tools] == ["shell"]
    closing = brain.reply(asked(KICK, context=HANDOFF + KICK + first.text + "\n", results=("ok",)))
    assert not closing.tools
    assert "json" not in closing.text


def test_a_successor_hands_on_the_task_and_the_constraints_it_was_given() -> None:
    _, content = written(Worker().reply(asked(ASK, context=HANDOFF)))
    assert "## Current Task\nMake it survive." in content
    assert "- Names stay\n- Tests first" in content


def test_the_outline_in_an_ask_is_not_taken_for_the_predecessors_document() -> None:
    outline = ASK + "\n## Current Task\n<what you work on>\n## Important Context\n- (C9) <constraint>\n"
    _, content = written(Worker().reply(asked(outline, context=HANDOFF)))
    assert "Make it survive." in content
    assert "<" not in content


def test_no_branch_in_the_handoff_is_null_in_the_receipt() -> None:
    context = HANDOFF.replace("feature/torn", "none")
    assert receipt_of(Worker().reply(asked(KICK, context=context)))["branch"] is None


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_fault_shows_in_its_attempts_and_not_after(fault: str) -> None:
    brain = worker(faults=frozenset({fault}), fault_attempts=1)
    honest = Worker()
    for prompt, context in ((ASK, ""), (KICK, HANDOFF)):
        again = prompt.replace(" 1]", " 2]")
        assert brain.reply(asked(again, context=context)) == honest.reply(asked(again, context=context))
    ask, kick = brain.reply(asked(ASK)), brain.reply(asked(KICK, context=HANDOFF))
    misbehaved: dict[str, Callable[[], object]] = {
        "silent": lambda: not ask.tools and "##" not in ask.text,
        "careless": lambda: "## Files Modified" in written(ask)[1] and "## Links" not in written(ask)[1],
        "garbage": lambda: "##" not in written(ask)[1],
        "wrong_path": lambda: written(ask)[0] == "/p/.bmad/handoffs/.draft/elsewhere-7f3a91c2-1.md",
        "message_instead": lambda: ask.text.startswith("<<<BATON-HANDOFF") and not ask.tools,
        "no_receipt": lambda: "baton_receipt" not in kick.text and kick.tools,
        "parrot": lambda: receipt_of(kick)["task"] == "<the task>",
        "wrong_branch": lambda: receipt_of(kick)["branch"] == "somewhere-else",
    }
    assert misbehaved[fault]()


def test_settings_come_from_the_environment() -> None:
    brain = Worker.from_env({"BATON_WORKER": '{"start": 7, "jumps": {"3": 9}, "faults": ["silent"]}'})
    assert brain.settings == WorkerSettings(start=7, jumps={3: 9}, faults=frozenset({"silent"}))
    assert Worker.from_env({}).settings == WorkerSettings()


@pytest.mark.parametrize(
    ("text", "words"),
    [('{"stat": 1}', "no setting 'stat'"), ('{"faults": ["lazy"]}', "no fault 'lazy'"), ("{", "not JSON")],
)
def test_wrong_settings_are_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Worker.from_json(text)
