"""The real Gemini CLI and the scripted model: does it accept what it is told, and keep the figures it was given?"""

import json
import subprocess
from pathlib import Path

import pytest

from batonpass.agents.gemini.record import Journal
from batonpass.sim.brain import Asked, Reply, ToolUse
from batonpass.sim.gemini_api import GeminiModel
from batonpass.transcripts.events import Said, ToolReturned, Used
from batonpass.transcripts.whole import all_events


class Writer:
    """Writes a file, runs a command, and says that it is done."""

    def reply(self, asked: Asked) -> Reply:
        if "I write." not in asked.context:
            return Reply("I write.", tools=(ToolUse("write", {"path": "notes/a.md", "content": "one\ntwo\n"}),))
        if "I look." not in asked.context:
            return Reply("I look.", tools=(ToolUse("shell", {"command": "cat notes/a.md"}),))
        return Reply("All done.", used=54_321, output=21)


@pytest.mark.long
def test_gemini_runs_the_models_tools_and_keeps_its_figures(
    gemini_cli: Path, gemini_home: dict[str, str], gemini_model: GeminiModel, project: Path
) -> None:
    gemini_model.brain = Writer()
    done = subprocess.run(
        [gemini_cli, "--yolo", "-m", "gemini-2.5-pro", "-o", "json", "-p", "Note it down."], cwd=project,
        env=gemini_home, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (project / "notes" / "a.md").read_text(encoding="utf-8") == "one\ntwo\n"
    (journal,) = Path(gemini_home["HOME"]).glob(".gemini/tmp/*/chats/session-*.jsonl")
    events = list(all_events(journal, Journal()))
    assert [event.text for event in events if isinstance(event, Said)] == ["I write.", "I look.", "All done."]
    assert [event.ok for event in events if isinstance(event, ToolReturned)] == [True, True]
    last = [event for event in events if isinstance(event, Used)][-1]
    assert (last.used, last.output, last.window) == (54_321, 21, 1_048_576)
    assert json.loads(done.stdout)["response"].endswith("All done.")
    assert gemini_model.user_texts() == ["Note it down."]
