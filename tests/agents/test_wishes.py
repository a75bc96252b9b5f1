"""What a user wants of one agent is wanted of the next one too, and never more than that."""

from collections.abc import Callable
from typing import Any

import pytest

from batonpass import agents
from batonpass.agents.codex.arguments import parse as codex
from batonpass.agents.gemini.arguments import parse as gemini
from batonpass.agents.opencode.arguments import parse as opencode
from batonpass.agents.wishes import Approval, Size, Wishes

SWITCHABLE = ("claude", "codex", "gemini")


@pytest.mark.parametrize(
    ("agent", "args", "mode", "wanted"),
    [
        ("claude", [], None, Wishes()),
        ("claude", ["--model", "opus"], "plan", Wishes(Size.LARGE, Approval.PLAN)),
        ("claude", ["--permission-mode", "plan"], "acceptEdits", Wishes(approval=Approval.EDITS)),
        ("claude", ["--dangerously-skip-permissions"], None, Wishes(approval=Approval.ALL)),
        ("claude", ["--dangerously-skip-permissions"], "plan", Wishes(approval=Approval.PLAN)),
        ("claude", ["--dangerously-skip-permissions"], "dontAsk", Wishes(approval=Approval.ASK)),
        ("claude", ["--add-dir", "../lib", "../doc", "--", "go"], None, Wishes(folders=("../lib", "../doc"))),
        ("codex", ["-m", "gpt-5.5", "-s", "read-only"], None, Wishes(Size.LARGE, Approval.PLAN)),
        ("codex", ["-s", "workspace-write", "-a", "never"], None, Wishes(approval=Approval.EDITS)),
        ("codex", ["-s", "workspace-write", "-a", "untrusted"], None, Wishes(approval=Approval.ASK)),
        ("codex", ["-s", "workspace-write"], "untrusted user :workspace", Wishes(approval=Approval.ASK)),
        ("codex", ["-s", "danger-full-access", "-a", "never"], None, Wishes(approval=Approval.ALL)),
        ("codex", ["-s", "danger-full-access"], None, Wishes(approval=Approval.ASK)),
        ("codex", ["-c", 'sandbox_mode="read-only"'], None, Wishes(approval=Approval.PLAN)),
        ("codex", ["--approve-for-me"], None, Wishes(approval=Approval.EDITS)),
        ("codex", ["--dangerously-bypass-approvals-and-sandbox"], None, Wishes(approval=Approval.ALL)),
        (
            "codex",
            ["-s", "danger-full-access", "-a", "never"],
            "on-request user :read-only",
            Wishes(None, Approval.PLAN),
        ),
        ("codex", ["--dangerously-bypass-approvals-and-sandbox"], "on-request user mine", Wishes(None, Approval.ASK)),
        ("codex", ["-s", "read-only"], "never user :danger-full-access", Wishes(approval=Approval.ALL)),
        ("codex", ["-s", "read-only"], "bypassPermissions", Wishes(approval=Approval.PLAN)),
        ("codex", ["--add-dir", "../lib"], None, Wishes(folders=("../lib",))),
        ("gemini", ["-m", "gemini-2.5-pro", "--approval-mode", "plan"], None, Wishes(Size.LARGE, Approval.PLAN)),
        ("opencode", ["--agent", "plan"], None, Wishes(approval=Approval.PLAN)),
        ("opencode", ["--auto"], None, Wishes(approval=Approval.ALL)),
        ("gemini", ["-y", "--include-directories", "../a,../b"], None, Wishes(None, Approval.ALL, ("../a", "../b"))),
    ],
)
def test_arguments_are_read_as_wishes(agent: str, args: list[str], mode: str | None, wanted: Wishes) -> None:
    assert agents.get(agent).wishes(args, None, mode) == wanted


@pytest.mark.parametrize("agent", SWITCHABLE)
@pytest.mark.parametrize("approval", Approval)
def test_arguments_made_from_a_wish_mean_that_wish(agent: str, approval: Approval) -> None:
    asked = agents.get(agent)
    made = asked.arguments(Wishes(approval=approval, folders=("../lib",)), {})
    read = asked.wishes(made, None, None)
    assert read.folders == ("../lib",)
    # Asking is the agent's own default, for which nothing need be said.
    assert read.approval is (None if approval is Approval.ASK else approval)


@pytest.mark.parametrize("agent", [*SWITCHABLE, "scripted"])
def test_a_model_of_the_users_choice_is_taken_for_its_size(agent: str) -> None:
    made = agents.get(agent).arguments(Wishes(size=Size.SMALL), {"small": "tiny-1", "large": "huge-9"})
    assert made == ("--model", "tiny-1")


def test_what_the_user_configured_for_the_other_agent_is_not_said_twice() -> None:
    wanted = Wishes(Size.LARGE, Approval.ALL, ("../lib", "../doc"))
    said = agents.get("codex").wishes(["-s", "read-only", "--add-dir", "../lib"], None, None)
    assert wanted.besides(said) == Wishes(Size.LARGE, None, ("../doc",))


def test_without_a_choice_the_agent_takes_a_model_of_that_size_or_its_default() -> None:
    assert agents.get("claude").arguments(Wishes(size=Size.LARGE), {}) == ("--model", "opus")
    assert agents.get("codex").arguments(Wishes(size=Size.LARGE), {}) == ()


# -- given twice, as in the configuration and again on the command line ------------------------------

TWICE = {
    "claude": ["--model", "haiku", "--permission-mode", "acceptEdits", "--model", "opus", "--permission-mode=plan"],
    "codex": ["-m", "gpt-5.5-mini", "-s", "workspace-write", "--model", "gpt-5.5", "--sandbox=read-only"],
    "gemini": ["-m", "gemini-2.5-flash", "--approval-mode", "yolo", "--model=gemini-2.5-pro", "--approval-mode=plan"],
    "opencode": ["-m", "a/gpt-mini", "--agent", "build", "--model", "a/gpt", "--agent=plan"],
}


@pytest.mark.parametrize("agent", TWICE)
def test_of_what_was_given_twice_the_last_word_is_the_wish(agent: str) -> None:
    assert agents.get(agent).wishes(TWICE[agent], None, None) == Wishes(Size.LARGE, Approval.PLAN)


@pytest.mark.parametrize(
    ("parse", "args", "kept"),
    [
        (codex, TWICE["codex"], ["--model", "gpt-5.5", "--sandbox=read-only"]),
        (gemini, TWICE["gemini"], ["--model=gemini-2.5-pro", "--approval-mode=plan"]),
        (opencode, TWICE["opencode"], ["--model", "a/gpt", "--agent=plan"]),
        (codex, ["--search", "-c", "a=1", "-c", "b=2", "--search"], ["-c", "a=1", "-c", "b=2", "--search"]),
        (codex, ["--add-dir", "a", "--add-dir", "b", "--add-dir", "a"], ["--add-dir", "b", "--add-dir", "a"]),
        (gemini, ["--policy", "a", "--policy", "b", "-y", "-y"], ["--policy", "a", "--policy", "b", "-y"]),
        (opencode, ["--cors", "a", "--cors", "b", "--auto", "--auto"], ["--cors", "a", "--cors", "b", "--auto"]),
    ],
)
def test_an_agent_that_takes_an_option_once_is_given_it_once(
    parse: Callable[[list[str]], Any], args: list[str], kept: list[str]
) -> None:
    assert [token for option in parse(args).options for token in option.tokens] == kept


def test_a_folder_that_was_named_twice_is_said_once() -> None:
    wanted = agents.get("claude").wishes(["--add-dir", "../lib", "--add-dir", "../lib"], None, None)
    assert agents.get("codex").arguments(wanted, {}) == ("--add-dir", "../lib")
