"""What a user wants of one agent is wanted of the next one too, and never more than that."""

import pytest

from batonpass import agents
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
        ("codex", ["-s", "danger-full-access", "-a", "never"], None, Wishes(approval=Approval.ALL)),
        ("codex", ["-s", "danger-full-access"], None, Wishes(approval=Approval.ASK)),
        ("codex", ["-c", 'sandbox_mode="read-only"'], None, Wishes(approval=Approval.PLAN)),
        ("codex", ["--approve-for-me"], None, Wishes(approval=Approval.EDITS)),
        ("codex", ["--dangerously-bypass-approvals-and-sandbox"], None, Wishes(approval=Approval.ALL)),
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
