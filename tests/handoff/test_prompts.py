"""Baton's prompts: what agents must find in them, and what comes back in a message."""

import json
from pathlib import Path

import pytest

from batonpass.cycle import receipt
from batonpass.handoff import names, prompts
from batonpass.handoff.check import Gap

DRAFT = Path("/p/.bmad/handoffs/drafts/d 1.md")
DOCUMENT = "# Context Handoff\n\n## Current Task\nMend it.\n\n```\ncode\n```\n\n## Next Steps\n1. Go on"


def test_the_ask_holds_everything_that_an_agent_needs() -> None:
    text = prompts.ask("[baton 7f3a91c2 ask 1]", DRAFT, percent=84.4, changed=["a.py", "b c.txt"])
    lines = text.split("\n")
    assert lines[0].startswith("[baton 7f3a91c2 ask 1] ")
    assert "84% full" in lines[0]
    assert f"Write it to: {DRAFT}" in lines
    assert lines[lines.index("Changed files:") + 1 :][:2] == ["- a.py", "- `b c.txt`"]
    assert all(f"## {title}" in text for title in names.STANDARD)
    assert prompts.BEGIN in text
    assert prompts.END in text
    assert "Then stop; do not start new work" in text


def test_an_unknown_percentage_and_no_changes_are_said_without_figures() -> None:
    text = prompts.ask("[t]", DRAFT, percent=None, changed=[])
    assert "is nearly full" in text
    assert "Changed files:" not in text
    assert "{" not in text


def test_the_second_ask_lists_what_is_missing() -> None:
    gap = Gap("section", "Next Steps", "The section 'Next Steps' is missing.")
    text = prompts.missing("[t]", DRAFT, [gap], changed=["a.py"], late_prompts=["wait\n\n\n\nno {tag}"])
    assert "Missing:\n- The section 'Next Steps' is missing." in text
    assert f"\nWrite it to: {DRAFT}\n" in text
    assert "```text\nwait\n\n\n\nno {tag}\n```" in text


def test_the_kick_asks_for_a_receipt_and_for_work_in_the_same_turn() -> None:
    text = prompts.kick("[t]", "7f3a91c2", DRAFT, late_prompts=["also this"])
    assert text.startswith("[t] ")
    assert str(DRAFT) in text
    assert "in the same turn" in text
    assert "```text\nalso this\n```" in text
    asked = receipt.find(text)
    assert asked is not None
    assert list(asked) == ["baton_receipt", "task", "next_step", "branch", "files", "constraints", "open_items"]
    assert asked["baton_receipt"] == "7f3a91c2"


def test_the_correction_says_what_was_wrong() -> None:
    text = prompts.correct("[t]", "7f3a91c2", DRAFT, ['"files" lacks a.py.'])
    assert '- "files" lacks a.py.' in text
    assert json.dumps("7f3a91c2") in text


def test_a_template_of_the_user_is_used(tmp_path: Path) -> None:
    own = tmp_path / "ask.md"
    own.write_text("{tag} Schreib nach {draft}, {percent}, {unknown}", encoding="utf-8")
    text = prompts.ask("[t]", DRAFT, percent=50, changed=[], template=own)
    assert text == f"[t] Schreib nach {DRAFT}, 50%, {{unknown}}"


def test_a_template_without_the_tag_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "ask.md"
    own.write_text("Write to {draft}", encoding="utf-8")
    with pytest.raises(prompts.TemplateError, match=r"ask\.md lacks \{tag\}"):
        prompts.ask("[t]", DRAFT, percent=50, changed=[], template=own)


def test_a_template_that_cannot_be_read_is_an_error_in_words(tmp_path: Path) -> None:
    with pytest.raises(prompts.TemplateError, match="cannot be read"):
        prompts.ask("[t]", DRAFT, percent=50, changed=[], template=tmp_path / "none.md")


@pytest.mark.parametrize(
    "message",
    [
        f"I may not write.\n{prompts.BEGIN}\n{DOCUMENT}\n{prompts.END}\nDone.",
        f"{prompts.BEGIN}\n{DOCUMENT}",
        f"Here:\n```text\nsmall\n```\n````markdown\n{DOCUMENT}\n````\n",
    ],
)
def test_a_document_in_a_message_is_found(message: str) -> None:
    assert prompts.document_from_message(message) == DOCUMENT


@pytest.mark.parametrize(
    "message", ["I will do that later.", f"{prompts.BEGIN}\nlater\n{prompts.END}", "```\nls -l\n```", ""]
)
def test_a_message_without_a_document_has_none(message: str) -> None:
    assert prompts.document_from_message(message) is None
