"""Documents from facts: complete without the agent, and around the agent's words."""

from dataclasses import replace
from pathlib import Path

from batonpass.agents.base import BackgroundTask
from batonpass.facts import Change, Command, Commit, Epic, Facts, GitFacts, Reference, Todo, Utterance
from batonpass.handoff import names
from batonpass.handoff.check import check
from batonpass.handoff.document import Handoff
from batonpass.handoff.draft import Meta, from_facts, merge
from batonpass.handoff.items import items
from batonpass.handoff.markdown import parse, render
from batonpass.handoff.seal import seal

META = Meta(
    number=3,
    previous="handoff-2026-01-20-141523.md",
    created=1_769_005_845.7,
    session="s1",
    agent="claude",
    agent_session="5f0c",
    project="consilio",
    reason="threshold",
    used=140_000,
    usable=167_000,
    window=200_000,
    percent=83.83,
    late_prompts=("Also fix\nthe footer",),
    checkpoint="/p/tmp/context-checkpoints/x.json.gz",
)
TEST = Command(30, "pytest -q", False, 1, "FAILED test_torn", True)
FACTS = Facts(
    at=40,
    project=Path("/p"),
    agent="claude",
    agent_session="5f0c",
    transcript=Path("/home/ada/t.jsonl"),
    git=GitFacts(
        "feature/x",
        "a" * 40,
        changes=(Change("src/a.py", "modified"), Change("b c.txt", "untracked")),
        stashes=("stash@{0}: On main: half",),
        operation="rebase",
        commits=(Commit("b" * 40, 5.0, "Start"),),
    ),
    prompts=(Utterance(1, "Make it\n  survive.\n"), Utterance(2, "Use ```fences``` too")),
    said=(Utterance(3, "I looked."), Utterance(4, "## Next Steps\nnot a section")),
    touched=("src/a.py",),
    commands=(Command(20, "ls", True, 0, "a", False), TEST),
    last_test=TEST,
    todos=(Todo("read", "completed"), Todo("write", "in_progress"), Todo("measure", "pending")),
    background=(BackgroundTask("b7", "shell", "running", "npm run dev"),),
    epic=Epic(".bmad/epics/epic-003.md", "Epic 3", "Implement", ("plan",), ("build",)),
    missing=("The screen could not be read.",),
)
NOTHING = Facts(1, Path("/p"), "claude", None, None, None)


def test_a_document_from_facts_alone_has_every_section_and_no_gap_in_files() -> None:
    handoff = from_facts(FACTS, META)
    assert [section.title for section in handoff.sections] == list(names.STANDARD)
    assert all(section.body for section in handoff.sections)
    assert check(handoff, FACTS, is_own=lambda _: False) == ()


def test_every_fact_is_in_the_document() -> None:
    text = render(from_facts(FACTS, META))
    for fact in (
        "Make it\n  survive.\n", "Use ```fences``` too", "Also fix\nthe footer", "I looked.", "src/a.py (modified)",
        "`b c.txt` (untracked)", "half", "rebase", "Start", "FAILED test_torn", "npm run dev", "b7", "measure",
        "Epic 3", "Implement", "build", "/home/ada/t.jsonl", "/p/tmp/context-checkpoints/x.json.gz",
        "The screen could not be read.", "failed, exit 1: pytest -q",
    ):  # fmt: skip
        assert fact in text


def test_the_header_says_who_when_and_how_full() -> None:
    top = render(from_facts(FACTS, META)).split("---")[0]
    assert top.split("\n")[2:] == [
        "**Created**: 2026-01-21 14:30:45 UTC",
        "**Handoff**: #3, previous: handoff-2026-01-20-141523.md",
        "**Previous Instance**: 5f0c",
        "**Session**: s1",
        "**Agent**: claude",
        "**Context Usage**: 140,000 / 167,000 tokens (83.8%)",
        "**Window**: 200,000 tokens",
        "**Project**: consilio",
        "**Current Epic**: .bmad/epics/epic-003.md",
        "**Branch**: feature/x",
        "**Reason**: threshold",
        "",
        "",
    ]


def test_a_document_from_no_facts_at_all_still_has_a_next_step() -> None:
    sealed = seal(from_facts(NOTHING, META))
    assert [item.id for item in items(sealed.handoff)][:1] == ["N1"]
    assert "None known: the agent wrote nothing" in sealed.text


def test_text_that_looks_like_a_section_stays_data() -> None:
    handoff = parse(render(from_facts(FACTS, META)))
    assert handoff.section(names.NEXT_STEPS) == from_facts(FACTS, META).section(names.NEXT_STEPS)


def agent_document(*left_out: str) -> Handoff:
    whole = {title: f"- the agent's {title.lower()}" for title in names.STANDARD}
    whole[names.FILES] = "- src/a.py (mine)"
    return parse("\n".join(f"## {title}\n{body}" for title, body in whole.items() if title not in left_out))


def test_the_agents_own_words_are_kept_as_they_are() -> None:
    document = agent_document()
    merged = merge(document, replace(FACTS, background=(), epic=None), (), META)
    assert merged.sections == document.sections
    assert (merged.number, merged.branch, merged.session) == (3, "feature/x", "s1")


def test_a_changed_file_that_the_agent_forgot_is_added_to_its_list() -> None:
    document = agent_document()
    merged = merge(document, FACTS, check(document, FACTS, is_own=lambda _: False), META)
    assert merged.section(names.FILES) == "- src/a.py (mine)\n- `b c.txt` (untracked; recorded by Baton)"
    assert 'Changed files: 1, added to "Files Modified" and marked as recorded by Baton.' in render(merged)


def test_a_section_that_the_agent_left_out_is_filled_from_facts_and_marked() -> None:
    document = agent_document(names.NEXT_STEPS, names.FILES)
    merged = merge(document, FACTS, check(document, FACTS, is_own=lambda _: False), META)
    steps = merged.section(names.NEXT_STEPS) or ""
    assert "Go on: write" in steps
    assert steps.endswith("(Recorded by Baton: the agent left this section out.)")
    assert "- src/a.py (modified)" in (merged.section(names.FILES) or "")
    assert [section.title for section in merged.sections] == list(names.STANDARD)


def test_sections_that_only_the_agent_knows_are_kept() -> None:
    document = parse(render(agent_document()) + "\n## Open questions\nWhy?\n")
    assert merge(document, FACTS, (), META).section("Open questions") == "Why?"


def test_background_work_that_the_agent_forgot_is_added() -> None:
    body = merge(agent_document(), FACTS, (), META).section(names.SUBAGENTS) or ""
    assert body.startswith("- the agent's active subagents")
    assert "(id: b7) running: npm run dev" in body


def test_what_an_earlier_baton_recorded_is_replaced() -> None:
    document = parse(render(agent_document()) + "\n## Recorded by Baton\n\n### Git\n- Changed: stale.py\n")
    assert "stale.py" not in render(merge(document, FACTS, (), META))


def test_a_plan_that_the_agent_forgot_is_added_to_its_links() -> None:
    known = replace(FACTS, references=(Reference("plan", ".bmad/plans/p.md", "Plan"), Reference("adr", "a.md", "A")))
    links = merge(agent_document(), known, (), META).section(names.LINKS) or ""
    assert links.startswith("- the agent's links\n")
    assert "- Plan: .bmad/plans/p.md\n- ADR: a.md" in links
