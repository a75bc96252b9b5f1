"""The real Codex and the scripted model: does it accept what it is told, and keep the figures it was given?"""

import json
import subprocess
from pathlib import Path

from batonpass.agents.codex.record import parse
from batonpass.sim.brain import Asked, Reply, ToolUse
from batonpass.sim.model_wire import Kind
from batonpass.sim.openai_responses import ResponsesModel
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


def test_codex_runs_the_models_tools_and_keeps_its_figures(
    codex_cli: Path, codex_home: dict[str, str], codex_model: ResponsesModel, project: Path
) -> None:
    codex_model.brain = Writer()
    options = ["--dangerously-bypass-approvals-and-sandbox", "exec", "--json"]
    done = subprocess.run(
        [codex_cli, *options, "Note it down."], cwd=project, env=codex_home, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=90, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (project / "notes" / "a.md").read_text(encoding="utf-8") == "one\ntwo\n"
    (rollout,) = Path(codex_home["CODEX_HOME"]).glob("sessions/*/*/*/rollout-*.jsonl")
    events = list(all_events(rollout, parse))
    assert [event.text for event in events if isinstance(event, Said)] == ["I write.", "I look.", "All done."]
    assert [event.ok for event in events if isinstance(event, ToolReturned)] == [True, True]
    last = [event for event in events if isinstance(event, Used)][-1]
    assert (last.used, last.output, last.window) == (54_321, 21, 258_400)
    said = [json.loads(line) for line in done.stdout.splitlines()]
    thread = next(line["thread_id"] for line in said if line["type"] == "thread.started")
    assert {request.session for request in codex_model.requests if request.kind is Kind.MAIN} == {thread}
    assert codex_model.user_texts() == ["Note it down."]
