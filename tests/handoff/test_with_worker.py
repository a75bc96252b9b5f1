"""From the ask to the accepted receipt, with the scripted worker on both sides."""

import subprocess
from pathlib import Path

import pytest

from batonpass.cycle import receipt
from batonpass.facts import Facts, gather
from batonpass.handoff import prime, prompts
from batonpass.handoff.check import check
from batonpass.handoff.draft import Meta, from_facts, merge
from batonpass.handoff.layouts import layout
from batonpass.handoff.markdown import parse
from batonpass.handoff.seal import Sealed, seal
from batonpass.sim.brain import Asked
from batonpass.sim.worker import Worker, WorkerSettings
from batonpass.transcripts.events import Event, Origin, Prompted, Said, ToolCalled

META = Meta(1, None, 1e9, "s1", "scripted", "a1", "p", "threshold", 140_000, 167_000, 200_000, 83.8)
EVENTS: tuple[Event, ...] = (
    Prompted(1, "Make the transcript reader survive torn lines.", Origin.HUMAN),
    ToolCalled(2, "1", "TodoWrite", {"todos": [{"content": "read the tokenizer", "status": "pending"}]}),
    Said(3, "Step 1: read the tokenizer", "m1"),
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    subprocess.run(["git", "-C", str(tmp_path), "init", "-q", "-b", "feature/torn"], check=True)
    (tmp_path / "a.py").write_text("1", encoding="utf-8")
    (tmp_path / "b c.txt").write_text("2", encoding="utf-8")
    return tmp_path


def facts_of(project: Path) -> Facts:
    owns = layout("files", project).owns
    return gather(project, "scripted", "a1", None, EVENTS, (), at=9.0, is_own=owns)


def written_by(worker: Worker, project: Path, facts: Facts) -> Sealed:
    """What is sealed after the worker was asked, whatever it did."""
    files = layout("files", project)
    changed = prompts.changed_files(facts)
    ask = prompts.ask("[baton 7f3a91c2 ask 1]", files.draft_dir / "d.md", percent=83.8, changed=changed)
    reply = worker.reply(Asked(ask, "", (), 1, 1_000))
    content = str(reply.tools[0].arguments["content"]) if reply.tools else prompts.document_from_message(reply.text)
    if content is None:
        return seal(from_facts(facts, META))
    document = parse(content)
    return seal(merge(document, facts, check(document, facts, is_own=files.owns), META))


@pytest.mark.parametrize("fault", [None, "careless", "message_instead", "silent"])
def test_the_successor_of_any_predecessor_gives_a_receipt_that_is_accepted(project: Path, fault: str | None) -> None:
    faults = frozenset({fault} if fault else ())
    facts = facts_of(project)
    sealed = written_by(Worker(WorkerSettings(faults=faults)), project, facts)
    path = layout("files", project).path_for(META.created)
    context = "\n".join(prime.parts(sealed.text, path, 1_800, 8))

    kick = prompts.kick("[baton 7f3a91c2 kick 1]", "7f3a91c2", path)
    given = receipt.find(Worker().reply(Asked(kick, context, (), 1, 0)).text)

    assert given is not None
    assert receipt.verify(given, receipt.expected(sealed.handoff, facts.git), "7f3a91c2") == ()
    assert given["files"] == ["a.py", "b c.txt"]


@pytest.mark.parametrize("fault", ["parrot", "wrong_branch", "no_receipt"])
def test_a_successor_that_did_not_read_is_found_out(project: Path, fault: str) -> None:
    facts = facts_of(project)
    sealed = written_by(Worker(), project, facts)
    kick = prompts.kick("[baton 7f3a91c2 kick 1]", "7f3a91c2", project / "h.md")
    worker = Worker(WorkerSettings(faults=frozenset({fault})))
    given = receipt.find(worker.reply(Asked(kick, sealed.text, (), 1, 0)).text)
    assert given is None or receipt.verify(given, receipt.expected(sealed.handoff, facts.git), "7f3a91c2") != ()


def test_a_good_document_of_the_worker_has_no_gaps(project: Path) -> None:
    sealed = written_by(Worker(), project, facts_of(project))
    assert "Not in the agent's document" not in sealed.text
