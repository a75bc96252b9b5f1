"""The step that makes a handoff final: nothing is cleared before this is on disk."""

import asyncio
import hashlib
from collections.abc import Mapping
from pathlib import Path

from batonpass.clock import iso
from batonpass.cycle import worked_on
from batonpass.cycle.case import Case
from batonpass.cycle.moves import CANNOT_WRITE, Move, Outcome, Step
from batonpass.cycle.sealed import keep_copy, set_aside
from batonpass.cycle.writing import keep, read_draft
from batonpass.disk import open_plain
from batonpass.facts import Facts
from batonpass.facts.secretfiles import names_secret_file
from batonpass.handoff.chain import following_of
from batonpass.handoff.check import check as compare
from batonpass.handoff.commits import commit
from batonpass.handoff.draft import from_facts, merge
from batonpass.handoff.fit import CHARS_PER_TOKEN
from batonpass.handoff.layouts import Layout, every
from batonpass.handoff.redact import patterns
from batonpass.handoff.seal import Sealed, checksum_ok
from batonpass.handoff.seal import seal as close_document
from batonpass.store.records import Author, HandoffRecord

_FINGERPRINT_BYTES = 1_000_000


async def seal(case: Case, move: Move) -> Outcome:
    """Redact, number, checksum, and write the final name. One that was written before a crash is kept."""
    mark = worked_on.mark(case)
    last = case.last_facts() if move.known else None
    facts = last or await case.facts(max_age=1.0)  # the check's, where it has just looked
    unkept = await keep(case, facts, draft=False)  # of an agent that wrote, or went away, before there was a net
    try:
        record, notes = await asyncio.to_thread(_seal, case, facts, move.document, mark)
    except OSError as error:
        name = case.watch.session.name
        return Outcome(
            Step.SEAL, CANNOT_WRITE, f"the handoff of {name} could not be written ({error}); nothing was cleared"
        )
    case.stage.store.add_handoff(record)
    git = facts.git
    known: dict[str, object] = {
        "sealed": str(record.path),
        "sealed_at": case.stage.clock.now(),
        "branch": git.branch if git else None,
        "dirty": list(git.dirty) if git else None,
        "fingerprint": await asyncio.to_thread(fingerprint, facts),
    }
    case.cycle = case.stage.store.update_cycle(case.cycle.id, document=record.path, data={**case.cycle.data, **known})
    case.stage.offers(case.watch).forbid()
    of = f"with the facts of {iso(facts.at)}" if facts is last else ""
    said = [note for note in (move.note, of, f"handoff #{record.number}", *notes, *unkept) if note]
    return Outcome(Step.SEAL, note="; ".join(said), data={"path": str(record.path)})


def _seal(case: Case, facts: Facts, with_document: bool, mark: Mapping[str, object]) -> tuple[HandoffRecord, list[str]]:
    layout = case.layout
    created = case.stage.clock.now()
    number, latest = following_of(every(case.watch.session.project, case.config))
    began = case.previous
    previous = began.name if began else latest
    path = _planned(case)
    if path is not None and _is_there(case, path):
        found = _reopen(path)
        keep_copy(case, found.text)
        return _record(case, path, found, with_document and bool(case.recall("document"))), []
    if path is None:
        path = layout.path_for(created)
        case.remember(planned=str(path), planned_round=case.since, planned_number=number, **mark)
        case.stage.probe("seal:planned")
    draft = str(case.recall("document") or "") if with_document else ""
    document = read_draft(Path(draft)) if draft else None
    meta = case.meta(number, previous, created)
    if document is None:
        whole = from_facts(facts, meta)
    else:
        gaps = compare(document, facts, is_own=case.project.is_baton_file)
        whole = merge(document, facts, gaps, meta)
    room = int(case.config.handoff_tokens * CHARS_PER_TOKEN)
    allow = patterns(case.config.redact_allow)
    sealed = close_document(layout.adopt(whole), max_chars=room, allow=allow, titles=layout.titles)
    case.stage.probe("seal:writing")
    _write(layout, path, sealed.text)
    keep_copy(case, sealed.text)
    case.stage.probe("seal:stored")
    notes = [f"redacted: {', '.join(sealed.redacted)}"] if sealed.redacted else []
    if case.config.commits:
        message = "docs: orchestrator handoff checkpoint"
        failed = commit(case.watch.session.project, layout.commit_paths(path), message)
        notes.append(f"not committed: {failed}" if failed else "committed")
    return _record(case, path, sealed, document is not None), notes


def _write(layout: Layout, path: Path, text: str) -> None:
    """Write the final name. What stands there already and is no handoff of ours is kept beside it."""
    if layout.name != "living" and path.exists():
        set_aside(path)
    layout.write(path, text)


def fingerprint(facts: Facts) -> str | None:
    """A mark of the project's state: handoffs that all find the same one have brought nothing forward."""
    if facts.git is None and not facts.touched:
        return None  # nobody can tell: it may be work that writes nothing
    digest = hashlib.sha256(str(facts.git.head if facts.git else None).encode())
    for path in facts.git.dirty if facts.git else facts.touched:
        digest.update(path.encode())
        if names_secret_file(path):
            continue  # not even for a digest
        try:
            with open_plain(facts.project / path) as file:
                digest.update(file.read(_FINGERPRINT_BYTES))
        except OSError:
            digest.update(b"gone")
    for todo in facts.todos:
        digest.update(f"{todo.text}:{todo.state}".encode())
    return digest.hexdigest()[:16]


def _planned(case: Case) -> Path | None:
    """The name that was chosen before a crash, in the same round."""
    if case.recall("planned") and case.recall("planned_round") == case.since:
        return Path(str(case.recall("planned")))
    return None


def _is_there(case: Case, path: Path) -> bool:
    """Whether the handoff was written before a crash: where one is updated in place, its number tells it."""
    if not path.exists() or not checksum_ok(path.read_text(encoding="utf-8")):
        return False
    number = case.recall("planned_number")
    return number is None or _reopen(path).handoff.number == number


def _reopen(path: Path) -> Sealed:
    from batonpass.handoff.markdown import parse

    text = path.read_text(encoding="utf-8")
    return Sealed(parse(text), text, {})


def _record(case: Case, path: Path, sealed: Sealed, by_agent: bool) -> HandoffRecord:
    session, document = case.watch.session, sealed.handoff
    return HandoffRecord(
        id=f"{case.cycle.id}-{document.number or 0}",
        path=path,
        number=document.number or 0,
        previous=document.previous,
        created=float(document.created or case.cycle.started),
        session=session.id,
        project=session.project,
        agent=session.agent,
        agent_session=case.handed_off,
        percent=None if case.bequest else case.cycle.percent,
        used=None if case.bequest else case.cycle.used,
        usable=document.usable,
        sealed=True,
        checksum=document.checksum,
        cycle=case.cycle.id,
        source=Author.AGENT if by_agent else Author.FACTS,
    )
