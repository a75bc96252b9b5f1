"""A document in a file against its project, without the daemon: what `baton handoffs check` does."""

from dataclasses import dataclass
from pathlib import Path

from batonpass import agents
from batonpass.disk import read_document
from batonpass.facts import Facts, Followed
from batonpass.handoff import record
from batonpass.handoff.check import Gaps, check_text
from batonpass.handoff.document import Handoff
from batonpass.handoff.markdown import NotAHandoff, parse
from batonpass.handoff.seal import checksum_ok
from batonpass.project import Project
from batonpass.transcripts.record import is_there

_TRANSCRIPT = "Transcript: "


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found. `unseen` says what could not be compared, one sentence each."""

    path: Path
    project: Path
    gaps: Gaps
    sealed: bool | None  # None: the document carries no checksum
    unseen: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not self.gaps


def audit(path: Path, project: Project, *, at: float) -> Audit:
    """Compare a document with the project as it is now. Raises OSError when it cannot be read."""
    text = read_document(path, follow=True)
    try:
        document = parse(text)
    except NotAHandoff:
        document = Handoff()
    facts = facts_for(document, path, project, at=at)
    gaps = check_text(text, facts, is_own=project.is_baton_file)
    return Audit(path, project.root, gaps, checksum_ok(text), facts.missing)


def facts_for(document: Handoff, path: Path, project: Project, *, at: float) -> Facts:
    """The facts that a document can be held to: git, the epic, its predecessor, and its transcript if that is here."""
    transcript = _transcript(document)
    followed = Followed(project.root, project.is_baton_file)
    agent = document.agent if document.agent in agents.names() else None
    if transcript and agent:
        followed.follow(agents.get(agent).record(transcript).read().events)
    elif not transcript:
        followed.broken.append("The document names no transcript that is here: todos and constraints are not known.")
    previous = path.parent / document.previous if document.previous else None
    return followed.facts(document.agent or "", document.agent_session, transcript, (), at=at, previous=previous)


def _transcript(document: Handoff) -> Path | None:
    """The file that the document names as its source, where it is there to read."""
    for section in document.recorded:
        if section.title == record.SOURCES:
            for line in section.body.split("\n"):
                path = Path(line.partition(_TRANSCRIPT)[2].strip() or "/")
                if is_there(path):
                    return path
    return None
