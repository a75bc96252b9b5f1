"""Recorded sessions of any origin, each a folder with its transcript and a list of what must and must not survive."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batonpass import agents
from batonpass.facts import Facts, gather
from batonpass.handoff.check import check
from batonpass.handoff.draft import Meta, from_facts, merge
from batonpass.handoff.markdown import parse
from batonpass.handoff.seal import seal
from batonpass.project import Project
from batonpass.sim.corpus import Corpus, Planted
from batonpass.transcripts.whole import all_events

LIST = "facts.json"
MANNERS = ("cooperative", "careless", "silent")
_WHO = ("-c", "user.name=Recorded", "-c", "user.email=recorded@example.invalid")


class NotACorpus(Exception):
    """A folder is not what docs/reference/continuity-corpus.md describes; the text says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One session: where it lies, whose it is, and what is known of it."""

    folder: Path
    agent: str
    transcript: Path
    corpus: Corpus


def recordings(folder: Path) -> list[Recording]:
    """The sessions of a folder, by name. Raises NotACorpus."""
    found = [_read(path.parent) for path in sorted(folder.glob(f"*/{LIST}"))]
    if not found:
        raise NotACorpus(f"{folder} holds no folder with a {LIST}; see docs/reference/continuity-corpus.md.")
    return found


def handed_over(recording: Recording, manner: str, work: Path) -> str:
    """The sealed document that Baton makes of it; `work` is an empty folder for its project.

    A silent agent's comes from the transcript alone. For the others the document that the session's own agent wrote
    is taken, from `cooperative.md` or `careless.md`. Raises FileNotFoundError where there is none.
    """
    facts = _facts(recording, work)
    meta = Meta(1, None, facts.at, "recorded", recording.agent, None, recording.folder.name, "recorded")
    if manner == "silent":
        return seal(from_facts(facts, meta)).text
    own = parse((recording.folder / f"{manner}.md").read_text(encoding="utf-8"))
    gaps = check(own, facts, is_own=lambda _: False)
    return seal(merge(own, facts, gaps, meta)).text


def _facts(recording: Recording, work: Path) -> Facts:
    _lay_out(recording, work)
    events = list(all_events(recording.transcript, agents.get(recording.agent).reader()))
    at = max((event.at for event in events), default=0.0)
    is_own = Project(work).is_baton_file
    return gather(work, recording.agent, None, recording.transcript, events, (), at=at, is_own=is_own)


def _lay_out(recording: Recording, work: Path) -> None:
    """`base` as the last commit, on the branch of the list, and `project` as what lies there now."""
    base, project = recording.folder / "base", recording.folder / "project"
    if base.is_dir():
        shutil.copytree(base, work, dirs_exist_ok=True)
        branch = recording.corpus.branch or "main"
        for words in (["init", "-q", "-b", branch], ["add", "-A"], [*_WHO, "commit", "-qm", "Begin", "--allow-empty"]):
            subprocess.run(["git", *words], cwd=work, check=True, capture_output=True, timeout=30, env=_long_ago())
    if project.is_dir():
        _remove_what_is_gone(work, project)
        shutil.copytree(project, work, dirs_exist_ok=True)


def _long_ago() -> dict[str, str]:
    """The environment of a commit that is older than any session, and always the same one."""
    return {**os.environ, **dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "2020-01-01T00:00:00Z")}


def _remove_what_is_gone(work: Path, project: Path) -> None:
    for file in work.rglob("*"):
        inside = file.relative_to(work)
        if file.is_file() and inside.parts[0] != ".git" and not (project / inside).exists():
            file.unlink()


def _read(folder: Path) -> Recording:
    try:
        given = json.loads((folder / LIST).read_text(encoding="utf-8"))
        agent = str(given.get("agent", "claude"))
        transcript = folder / str(given.get("transcript", "transcript.jsonl"))
        must, must_not = (tuple(_planted(given.get(key, ()))) for key in ("must", "must_not"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotACorpus(f"{folder / LIST} cannot be used: {type(error).__name__}: {error}.") from error
    if agent not in agents.names() or not transcript.is_file():
        raise NotACorpus(f"{folder / LIST} names the agent {agent} and {transcript.name}; one of them is not there.")
    return Recording(folder, agent, transcript, Corpus(0, (), must, must_not, str(given.get("branch", ""))))


def _planted(entries: Sequence[Mapping[str, Any]]) -> Iterator[Planted]:
    for entry in entries:
        said = str(entry["said"])
        signs = tuple(map(str, entry["signs"]))
        over = tuple(map(str, entry.get("over", ())))
        yield Planted(str(entry["kind"]), said, signs, over=over, lines=int(entry.get("lines", 1)))
