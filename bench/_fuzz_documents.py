"""Attacks on what is written and read back: handoffs, facts, checkpoints, receipts, configuration."""

import gzip
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _common import ROOT
from _fuzz_records import SCRIPTED, claude_lines, scripted_lines
from _fuzz_values import Target, encoded, leaves, mangled, texts, values
from hypothesis import strategies as st

from batonpass import agents, checkpoint
from batonpass.checkpoint.content import content
from batonpass.config import load_lenient
from batonpass.cycle import receipt
from batonpass.facts.conversation import Conversation
from batonpass.facts.model import Change, Commit, Facts, GitFacts
from batonpass.facts.todos import Todos
from batonpass.facts.tools import Tools
from batonpass.handoff import prompts
from batonpass.handoff.check import check
from batonpass.handoff.document import Handoff
from batonpass.handoff.draft import Meta, from_facts, merge
from batonpass.handoff.markdown import NotAHandoff, parse, render
from batonpass.handoff.prime import parts
from batonpass.handoff.redact import redact
from batonpass.handoff.seal import checksum_ok, seal

_CLAUDE = agents.get("claude")
_META = Meta(3, "handoff-1.md", 1.8e9, "7f3a91c2", "claude", "abc", "shop", "85 %", 142_000, 167_000, 200_000, 85.0)
_PATH = Path("/p/.bmad/handoffs/handoff-2027-01-15-080000.md")
_CAP, _PARTS = 9_500, 3
_EMPTY = Facts(at=1.8e9, project=Path("/p"), agent="claude", agent_session="abc", transcript=None, git=None)


def _sealed(document: Handoff) -> None:
    """What every sealed text promises: it can be written, read back, proven unchanged and given in parts."""
    sealed = seal(document)
    sealed.text.encode("utf-8")
    assert checksum_ok(sealed.text) is True
    assert render(parse(sealed.text)) == sealed.text
    again, found = redact(sealed.text)
    assert again == sealed.text, f"a second look still finds secrets: {found}"
    laid = parts(sealed.text, _PATH, _CAP, _PARTS)
    assert len(laid) <= _PARTS
    assert all(len(part) <= _CAP for part in laid)
    receipt.expected(sealed.handoff, None)


def _document(text: str) -> None:
    clean, _ = redact(text)
    assert redact(clean)[0] == clean, "redaction is not idempotent"
    prompts.document_from_message(text)
    try:
        document = parse(text)
    except NotAHandoff:
        return
    assert parse(render(document)) == document, "markdown lost something"
    gaps = check(document, _EMPTY, is_own=lambda path: False)
    _sealed(merge(document, _EMPTY, gaps, _META))


def _facts(given: tuple[list[bytes], Sequence[str], bool]) -> None:
    """Whatever a transcript and git say, there is a document, a checkpoint and a request to write."""
    lines, names, claude = given
    agent = _CLAUDE if claude else SCRIPTED
    conversation, tools, todos = Conversation(), Tools(Path("/p"), lambda path: False), Todos()
    for event in (event for line in lines for event in agent.reader()(line)):
        for see in (conversation.see, tools.see, todos.see):
            see(event)
    names = [name.encode("utf-8", "replace").decode() for name in names if name]
    git = GitFacts(
        branch=names[0] if names else None,
        head="0" * 40,
        stashes=tuple(names[1:2]),
        changes=tuple(Change(name, "modified") for name in names),
        commits=tuple(Commit("0" * 40, 1.8e9, name) for name in names),
    )
    facts = Facts(
        at=1.8e9,
        project=Path("/p"),
        agent="claude",
        agent_session="abc",
        transcript=None,
        git=git,
        prompts=tuple(conversation.prompts),
        said=conversation.said,
        touched=tools.touched,
        commands=tools.commands,
        last_test=tools.last_test,
        todos=todos.todos,
    )
    _sealed(from_facts(facts, _META))
    json.dumps(content(facts, _META, task="t")).encode("utf-8")
    prompts.ask("[baton 7f3a91c2 ask 1]", Path("/p/d.md"), percent=85.0, changed=prompts.changed_files(facts)).encode()
    document = parse("## Current Task\n\nthe reader\n\n## Next Steps\n\n1. go on\n")
    _sealed(merge(document, facts, check(document, facts, is_own=lambda path: False), _META))


_LINES = (
    "# Context Handoff",
    "## Current Task",
    "## Progress Summary",
    "### Pending",
    "### In Progress",
    "- [ ] item",
    "1. step",
    "## Files Modified",
    "- src/a.py (new)",
    "## Next Steps",
    "## Important Context",
    "## Recorded by Baton",
    "### Git",
    "**Created**: 2027-01-15 08:00:00 UTC",
    "**Handoff**: #9999999999999999999999, previous: x",
    "**Session**: ``",
    "**Context Usage**: 142,000 / 167,000 tokens (85%)",
    "**Branch**: main",
    "**Instructions for New Instance:**",
    "````",
    "**Context Usage**: " + "9" * 400 + "%",
    "**Window**: " + "9" * 5_000,
    "\\## x",
    "\\\\## x",
    "(C1) (N2) x",
    "- (C1) x",
    "<!-- baton: [] -->",
    '<!-- baton: {"number": "x"} -->',
    '<!-- baton: {"checksum": 1} -->',
    "#### Prompt 1",
    "**Created**: 0001-01-01",
    "**Created (as written)**: x",
    "**:**: x",
    "**a:b**: c",
    "##",
    "###",
    "** **: x",
    "##\t",
    "## \u2028",
    "## Instructions",
    "**Reason**: " + "`" * 9,
    "<!-- baton: {" + '"a":{' * 5_000 + "} -->",
)
_line = st.one_of(st.sampled_from(_LINES), texts, st.builds(str.__add__, st.sampled_from(_LINES), texts))
_documents = st.one_of(st.lists(_line, max_size=25).map("\n".join), st.text(max_size=300)).map(
    lambda text: text.encode("utf-8", "replace").decode("utf-8")  # as a file's text comes
)

_RECEIPT: list[Any] = [
    {
        "baton_receipt": "7f3a91c2",
        "task": "the reader",
        "next_step": "N1",
        "branch": "main",
        "files": ["src/a.py"],
        "constraints": ["C1"],
        "open_items": ["P1", "I1"],
    }
]
_EXPECTED = receipt.expected(
    seal(parse("## Current Task\n\nthe reader\n\n## Next Steps\n\n1. go\n\n## Important Context\n\n- keep\n")).handoff,
    None,
)


def _receipt(given: tuple[Any, str]) -> None:
    said, around = given
    found = receipt.find(f"{around}\n```json\n{encoded(said).decode()}\n```\n{around}")
    receipt.find(f"```json\n{'[' * 100_000}\n```")
    for statement in (found, said):
        if isinstance(statement, dict):
            problems = receipt.verify(statement, _EXPECTED, "7f3a91c2")
            assert all(isinstance(problem, str) for problem in problems)


def _checkpoint(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.json.gz"
        path.write_bytes(data)
        said = checkpoint.verify(path)
        assert said is not None
        assert "\n" not in said


_CONFIG = (
    "threshold: 85",
    "enabled: off",
    "ladder:",
    "  preset: custom",
    "  rungs:",
    "    - zone: x",
    "      percent: 1e999",
    "layout: living",
    "handoff_dir: ../../x",
    "handoff_dir: /etc",
    "timeouts: {ask: -1, pass: .inf}",
    "notify: {command: []}",
    "agents: {claude: {args: [1]}}",
    "tmux: 3",
    "prompts: {ask: /etc/passwd}",
    "store: 'postgresql://a:b@c'",
    "? [a]\n: b",
    "&a [*a]",
    "<<: {a: 1}",
    "!!python/object:os.system x",
    "handoff:",
    "  threshold: 300",
    "  enabled: perhaps",
    "- x",
    "threshold: 9999999999999999999999999",
    "max_concurrent: 0",
    "{",
    "[" * 300,
    "retention_days: 0.5",
    "\ttab: x",
    "...",
    "remind_at: 50",
    "context_threshold: 5",
    "notify_user_at: 99",
    "    - {zone: x, tokens: 1, actions: [hand_off]}",
    "---",
)
_config_line = st.one_of(
    st.sampled_from(_CONFIG),
    texts,
    st.builds("{}: {}".format, st.sampled_from(["threshold", "ladder", "layout"]), leaves),
)
_yaml = st.lists(_config_line, max_size=10).map(lambda lines: "\n".join(lines).encode("utf-8", "surrogatepass"))


def _config(given: tuple[bytes, bytes, bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home, project = Path(folder) / "home", Path(folder) / "project"
        for file, data in zip(
            (
                home / "config.yaml",
                project / ".baton/config.yaml",
                project / ".supervisor-specific/handoff-config.yaml",
            ),
            given,
            strict=True,
        ):
            file.parent.mkdir(parents=True)
            file.write_bytes(data)
        config, problems = load_lenient(project, home, {})
        config.ladder_for()
        assert all(str(problem) for problem in problems)


_files = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests/fixtures/handoffs").glob("*.md"))]
_torn = st.builds(
    lambda text, at, more: text[: at % len(text)] + more + text[at % len(text) :],
    st.sampled_from(_files),
    st.integers(0, 100_000),
    texts,
).map(lambda text: text.encode("utf-8", "replace").decode("utf-8"))

TARGETS = (
    Target("handoff document", _documents | _torn, _document),
    Target(
        "facts to handoff",
        st.tuples(st.lists(scripted_lines | claude_lines, max_size=6), st.lists(texts, max_size=4), st.booleans()),
        _facts,
    ),
    Target("receipt", st.tuples(mangled(_RECEIPT), texts), _receipt),
    Target("checkpoint", st.binary(max_size=300) | values.map(encoded).map(gzip.compress), _checkpoint),
    Target("configuration", st.tuples(_yaml, _yaml, _yaml), _config),
)
