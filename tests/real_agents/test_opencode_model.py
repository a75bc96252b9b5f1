"""The real opencode and the scripted model: does it accept what it is told, and keep the figures it was given?"""

import json
import subprocess
from pathlib import Path

import pytest

from batonpass.agents.opencode.database import Rows, transcript
from batonpass.sim.brain import Asked, Reply, ToolUse
from batonpass.sim.model_wire import Kind
from batonpass.sim.openai_chat import ChatModel
from batonpass.transcripts.events import Said, ToolReturned, Used


class Writer:
    """Writes a file, runs a command, and says that it is done."""

    def reply(self, asked: Asked) -> Reply:
        if "I write." not in asked.context:
            return Reply("I write.", tools=(ToolUse("write", {"path": "notes/a.md", "content": "one\ntwo\n"}),))
        if "I look." not in asked.context:
            return Reply("I look.", tools=(ToolUse("shell", {"command": "cat notes/a.md"}),))
        return Reply("All done.", used=54_321, output=21)


@pytest.mark.long
def test_opencode_runs_the_models_tools_and_keeps_its_figures(
    opencode_cli: Path, opencode_home: dict[str, str], opencode_model: ChatModel, project: Path
) -> None:
    opencode_model.brain = Writer()
    done = subprocess.run(
        [opencode_cli, "run", "--auto", "--format", "json"], cwd=project, env=opencode_home, input="Note it down.",
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (project / "notes" / "a.md").read_text(encoding="utf-8") == "one\ntwo\n"
    (session,) = {json.loads(line)["sessionID"] for line in done.stdout.splitlines()}
    database = Path(opencode_home["HOME"]) / ".local" / "share" / "opencode" / "opencode.db"
    events = Rows(transcript(database, session)).read().events
    assert [event.text for event in events if isinstance(event, Said)] == ["I write.", "I look.", "All done."]
    assert [event.ok for event in events if isinstance(event, ToolReturned)] == [True, True]
    last = [event for event in events if isinstance(event, Used)][-1]
    assert (last.used, last.output, last.model) == (54_321, 21, "rehearsal/rehearsal-1")
    assert {request.session for request in opencode_model.requests if request.kind is Kind.MAIN} == {session}
    assert opencode_model.user_texts() == ["Note it down."]
