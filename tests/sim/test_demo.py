"""The demo, performed as a user would: in a process of its own, and with nothing left afterwards."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from batonpass.cli.records import CycleRow, StepRow
from batonpass.cycle.moves import Step
from batonpass.handoff.document import Handoff, Section
from batonpass.handoff.seal import seal
from batonpass.sim.demo import run
from batonpass.sim.demo_proof import Evidence, proofs
from batonpass.sim.demo_stage import CannotPlay, stage
from batonpass.sim.demo_view import MEANING, chart, ladder_bar, zone_at
from batonpass.sim.worker import WorkerSettings
from batonpass.transcripts.events import Origin, Prompted, ToolReturned

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 240.0
CLAIMS = (
    "the receipt was accepted",
    "the handoff was sealed before the clear",
    "the successor's first request contained the handoff",
    "every Baton prompt arrived exactly once",
    "the successor went on working by itself",
)


@contextmanager
def demo(folder: Path, *args: str) -> Iterator[subprocess.Popen[str]]:
    """`baton demo` with its output in a pipe, in an empty home, and settings of the user's that would lead astray."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "HOME": str(folder), "COLUMNS": "120"}
    env |= {"BATON_STORE": "postgresql://nobody@127.0.0.1:9/wrong", "BATON_TMUX": str(folder / "not-this")}
    with subprocess.Popen(
        [sys.executable, "-m", "batonpass._entry", "demo", *args],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    ) as process:
        try:
            yield process
        finally:
            process.terminate()  # it clears away what it has started
            process.wait()


def place_in(output: str) -> Path:
    found = re.search(r"/tmp/baton-demo-\w+", output)
    assert found, output
    return Path(found[0])


def processes_of(place: Path) -> list[str]:
    """The processes that were started for this place, by the environment that they got."""
    mark = str(place).encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "environ").read_bytes() or mark in (entry / "cmdline").read_bytes():
                found.append((entry / "cmdline").read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue  # it ended meanwhile, or is somebody else's
    return found


def assert_performed(output: str) -> None:
    """Everything was shown, in its order: the climb, the ten steps, the timeline, the proofs."""
    telling = ["17 %  normal", "monitoring", "warning", "critical", "mandatory"]
    telling += [f"✔ {step.replace('_', ' ')}" for step in MEANING]
    telling += ["The ten steps", *(f"✔ {claim}" for claim in CLAIMS)]
    # The successor is seen working once its receipt is accepted; whether the close is shown before is a matter of
    # which of the two the demo looks at first.
    assert output.index("receipt accepted") < output.index("works on, by itself")
    at = 0
    for text in telling:
        assert text in output[at:], f"{text!r} does not come after what came before:\n{output}"
        at = output.index(text, at)


def test_the_demo_shows_a_whole_handoff_and_leaves_nothing(tmp_path: Path) -> None:
    with demo(tmp_path) as process:
        output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output
    assert_performed(output)
    place = place_in(output)
    assert not place.exists()
    assert processes_of(place) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
@pytest.mark.real_agent
def test_the_demo_with_the_real_claude_code(tmp_path: Path) -> None:
    if not list((ROOT / ".agents").glob("claude-*/node_modules/.bin/claude")):
        pytest.skip("NOT TESTED with the real Claude Code: scripts/agents has not installed it")
    with demo(tmp_path, "--agent", "claude") as process:
        output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output
    assert_performed(output)
    place = place_in(output)
    assert not place.exists()
    assert processes_of(place) == []


def test_an_interrupted_demo_clears_everything_away(tmp_path: Path) -> None:
    with demo(tmp_path, "--keep") as process:
        assert process.stdout is not None
        seen = ""
        while "17 %" not in seen:
            line = process.stdout.readline()
            assert line, f"it ended too early:\n{seen}"
            seen += line
        place = place_in(seen)
        assert any("batonpass.sim.agent" in process for process in processes_of(place))
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, output
    assert processes_of(place) == []
    assert (place / "ledger" / ".git").is_dir()  # --keep was asked for
    subprocess.run(["rm", "-r", str(place)], check=True)


def test_an_unknown_agent_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("parrot") == 2
    assert "There is no demo with 'parrot'" in capsys.readouterr().out


def test_a_missing_claude_code_is_said_before_anything_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATON_CLAUDE", "/nowhere/claude")
    with pytest.raises(CannotPlay, match="BATON_CLAUDE names /nowhere/claude"):
        stage("claude", WorkerSettings(), keep=False).__enter__()


def test_the_bar_has_a_colour_for_each_zone_and_marks_its_rungs() -> None:
    bar = ladder_bar(86.0, 50)
    drawn, rungs = bar.plain.split("\n")
    assert drawn == "█" * 43 + "░" * 7
    assert rungs.split() == ["30", "50", "70", "85", "95"]
    assert [zone_at(percent) for percent in (29.9, 30, 50, 70, 85, 95)] == [
        "normal", "monitoring", "warning", "critical", "mandatory", "forced",
    ]  # fmt: skip


def test_the_chart_is_empty_before_the_first_reading() -> None:
    assert "█" not in chart((), 40).plain


# -- the proofs ------------------------------------------------------------------------------------------

KICK = Prompted(12.0, "[baton 7f3a91c2 kick 1] You take over.", Origin.HUMAN)
DOCUMENT = seal(Handoff(sections=(Section("Current Task", "Make it survive."),), number=1)).text


def evidence(**changes: object) -> Evidence:
    """A passing in which everything was as it should be."""
    steps: list[StepRow] = [
        {"step": step, "state": "ok", "started": float(number), "seconds": 0.5, "attempts": 1, "note": None}
        for number, step in enumerate(MEANING)
    ]
    cycle: CycleRow = {
        "id": "7f3a91c2", "session": "s1", "state": "done", "cause": "threshold", "way": "clear", "percent": 86.0,
        "started": 0.0, "seconds": 10.0, "document": "/p/handoff.md", "note": None, "steps": steps,
    }  # fmt: skip
    sound = Evidence(
        cycle=cycle,
        document=DOCUMENT,
        written=5.2,
        born=6.5,
        first_request=f"part 1\n{DOCUMENT}\n{KICK.text}",
        prompts=("work", "[baton 7f3a91c2 ask 1] Hand over.", KICK.text),
        successor=(KICK, ToolReturned(13.0, "c1", True, "done")),
    )
    return replace(sound, **changes)  # type: ignore[arg-type]


def failing(**changes: object) -> list[str]:
    return [proof.claim for proof in proofs(evidence(**changes)) if not proof.ok]


def test_a_sound_passing_proves_every_claim() -> None:
    assert [proof.claim for proof in proofs(evidence()) if proof.ok] == list(CLAIMS)


def test_a_document_that_is_younger_than_the_clear_is_no_proof() -> None:
    assert failing(written=7.0) == ["the handoff was sealed before the clear"]


def test_a_document_that_was_changed_after_its_seal_is_no_proof() -> None:
    changed = DOCUMENT.replace("survive", "perish")
    assert failing(document=changed, first_request=changed) == ["the handoff was sealed before the clear"]


def test_a_request_that_lacks_one_line_of_the_handoff_is_no_proof() -> None:
    assert failing(first_request=DOCUMENT.replace("Make it survive.", "")) == [
        "the successor's first request contained the handoff"
    ]


@pytest.mark.parametrize("prompts", [(KICK.text,), (), ("[baton 7f3a91c2 ask 1] Hand over.", KICK.text, KICK.text)])
def test_a_prompt_that_is_missing_or_there_twice_is_no_proof(prompts: tuple[str, ...]) -> None:
    assert failing(prompts=prompts) == ["every Baton prompt arrived exactly once"]


@pytest.mark.parametrize("successor", [(KICK,), (*evidence().successor, Prompted(14.0, "go on", Origin.HUMAN))])
def test_a_successor_that_stood_still_or_was_told_to_go_on_is_no_proof(successor: tuple[object, ...]) -> None:
    assert failing(successor=successor) == ["the successor went on working by itself"]


def test_a_receipt_that_was_not_accepted_is_no_proof() -> None:
    cycle = evidence().cycle
    steps = [{**row, "state": "failed"} if row["step"] == Step.VERIFY else row for row in cycle["steps"]]
    assert failing(cycle={**cycle, "steps": steps}) == ["the receipt was accepted"]
