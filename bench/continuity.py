"""What arrives: facts planted in sessions of the real Claude Code, looked for in the successor's first request.

    .venv/bin/python bench/continuity.py [--seed N] [--agents cooperative,careless,silent] [--few] [--json]
    .venv/bin/python bench/continuity.py --corpus DIR      recorded sessions, see docs/reference/continuity-corpus.md

A session is played turn by turn with real keys, tools and git; then the baton is passed, and the bytes of the first
request that the successor sends to the model are searched. Beside it stand, on the same session, what the agent's own
compaction leaves when its summary says nothing, and what 001's bare prompt brings over.
"""

import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from _common import Figures, Table, parser, show
from _place import Failed, program
from _played import handed_over, without_baton

from batonpass.handoff.fit import CHARS_PER_TOKEN
from batonpass.sim import corpus_recorded as recorded
from batonpass.sim.corpus import Corpus
from batonpass.sim.corpus_made import made
from batonpass.sim.corpus_measure import Measure, measure, measure_all
from batonpass.sim.corpus_player import Manner
from batonpass.sim.corpus_written import MEMORY

_AT_ONCE = 2
_COMPACTED, _BARE = "own compaction, empty summary", "001's bare prompt"


def tokens(document: str) -> int:
    """How large a document is, by the same estimate that its budget goes by."""
    return round(len(document) / CHARS_PER_TOKEN)


def played(
    seed: int, manners: Sequence[Manner], *, few: bool, baselines: bool, documents: Path | None
) -> tuple[Table, Figures]:
    """Play the corpus of a seed once for each manner, and once without Baton."""
    corpus = made(seed, few=few)
    jobs: dict[str, Callable[[], tuple[str, str]]] = {
        str(manner): partial(handed_over, corpus, manner) for manner in manners
    }
    if baselines:
        jobs["baselines"] = lambda: without_baton(corpus)
    pool = ThreadPoolExecutor(_AT_ONCE)
    try:
        running = {name: pool.submit(job) for name, job in jobs.items()}
        found = {name: future.result() for name, future in running.items()}
    finally:
        pool.shutdown(cancel_futures=True)  # one that failed lets no other begin
    others = dict(zip((_COMPACTED, _BARE), found.pop("baselines"), strict=True)) if baselines else {}
    for manner, (_, document) in found.items():
        if documents:
            (documents / f"{manner}.md").write_text(document, encoding="utf-8")
    measures = {manner: measure(corpus, request) for manner, (request, _) in found.items()}
    sizes = [tokens(document) for _, document in found.values()]
    beside = {name: measure(corpus, request) for name, request in others.items()}
    more: Figures = {
        "seed": seed,
        "wordings": "unseen" if seed % 2 else "seen",
        "turns": len(corpus.turns),
        "memory": MEMORY,
    }
    return report(measures, sizes, beside, corpora=[corpus], more=more)


def replayed(folder: Path, manners: Sequence[Manner], *, documents: Path | None) -> tuple[Table, Figures]:
    """The documents of recorded sessions, in the manners for which there is one."""
    sessions = recorded.recordings(folder)
    measures: dict[str, Measure] = {}
    sizes: list[int] = []
    for manner in manners:
        texts: list[tuple[Corpus, str]] = []
        for session in sessions:
            with tempfile.TemporaryDirectory(prefix="bk-") as work:
                try:
                    text = recorded.handed_over(session, manner, Path(work))
                except FileNotFoundError:
                    continue  # this session's agent wrote no document of that manner
            texts.append((session.corpus, text))
            if documents:
                (documents / f"{session.folder.name}-{manner}.md").write_text(text, encoding="utf-8")
        if texts:
            measures[manner] = measure_all(texts)
            sizes += [tokens(text) for _, text in texts]
    more: Figures = {"corpus": str(folder), "sessions": len(sessions)}
    return report(measures, sizes, {}, corpora=[session.corpus for session in sessions], more=more)


def report(
    measures: Mapping[str, Measure],
    sizes: Sequence[int],
    beside: Mapping[str, Measure],
    *,
    corpora: Sequence[Corpus],
    more: Figures,
) -> tuple[Table, Figures]:
    rows = [["who wrote", "recall %", "precision %", "superseded and gone %", "lost", "stale"]]
    for name, found in {**measures, **beside}.items():
        shares = [f"{100 * share:.1f}" for share in (found.recall, found.precision, found.gone)]
        rows.append([name, *shares, str(len(found.lost)), str(len(found.stale))])
    return rows, {
        "recall": {name: round(found.recall, 4) for name, found in measures.items()},
        "precision": {name: round(found.precision, 4) for name, found in measures.items()},
        "gone": {name: round(found.gone, 4) for name, found in measures.items()},
        "by_kind": {
            name: {kind: round(share, 4) for kind, share in found.by_kind.items()} for name, found in measures.items()
        },
        "tokens_max": max(sizes, default=0),
        "baselines": {
            name: {"recall": round(found.recall, 4), "precision": round(found.precision, 4)}
            for name, found in beside.items()
        },
        "facts": sum(len(corpus.must) for corpus in corpora),
        "superseded": sum(len(corpus.must_not) for corpus in corpora),
        "lost": {name: [fact.said for fact in found.lost] for name, found in measures.items() if found.lost},
        "stale": {name: [fact.said for fact in found.stale] for name, found in measures.items() if found.stale},
        **more,
    }


def main() -> int:
    options = parser(__doc__ or "")
    options.add_argument("--seed", type=int, default=1, help="which made-up session; odd: wordings nobody tuned on")
    options.add_argument("--corpus", type=Path, metavar="DIR", help="recorded sessions instead of a made-up one")
    options.add_argument("--agents", default=",".join(Manner), help="who writes the handoff (default: all three)")
    options.add_argument("--few", action="store_true", help="a short session, to see that all of it works")
    options.add_argument("--no-baselines", action="store_true", help="only Baton")
    options.add_argument("--documents", type=Path, metavar="DIR", help="keep the sealed documents here")
    given = options.parse_args()
    try:
        manners = [Manner(name) for name in given.agents.split(",")]
    except ValueError as error:
        options.error(f"{error}; there are {', '.join(Manner)}")
    if given.corpus:
        try:
            table, figures = replayed(given.corpus, manners, documents=given.documents)
        except recorded.NotACorpus as error:
            raise Failed(str(error)) from None
    else:
        if program("claude") is None:
            raise Failed("Claude Code is not installed; run scripts/agents.")
        baselines = not given.no_baselines
        table, figures = played(given.seed, manners, few=given.few, baselines=baselines, documents=given.documents)
    return show(table, figures, only_json=given.json)


if __name__ == "__main__":
    sys.exit(main())
