"""How the next agent is started: with what the user wants of the session now, and never with more than that."""

from dataclasses import replace
from pathlib import Path

import pytest

from batonpass.agents.wishes import Approval, Size, Wishes
from batonpass.session import Session
from batonpass.supervisor import orders
from batonpass.supervisor.orders import Order, Start, Successor
from tests.supervisor.fakes import a_session

BYPASS = ("--dangerously-skip-permissions",)


def _has(agent: str, mode: str | None = None, model: str | None = None) -> Session:
    return replace(a_session(Path("/project")), agent=agent, permission_mode=mode, model=model)


def _claude(*args: str) -> Order:
    return Order("claude", args, {})


def test_what_is_wanted_is_translated_anew_at_every_switch() -> None:
    first = orders.passed_on(_claude(*BYPASS), _has("claude", "bypassPermissions"), Successor("codex"))
    assert first.start("codex").approval is Approval.ALL
    back = orders.passed_on(first, _has("codex"), Successor("claude"))
    again = orders.passed_on(back, _has("claude", "plan"), Successor("codex"))
    assert again.start("codex").approval is Approval.PLAN


def test_arguments_that_were_corrected_in_the_configuration_are_taken_up_at_the_next_switch() -> None:
    wrong = orders.passed_on(_claude(), _has("claude", "default"), Successor("codex", ("--profile", "wrogn")))
    back = orders.passed_on(wrong, _has("codex"), Successor("claude"))
    right = orders.passed_on(back, _has("claude", "default"), Successor("codex", ("--profile", "right")))
    assert right.start("codex").args == ("--profile", "right")


def test_the_first_agent_comes_back_with_the_model_and_the_mode_that_it_was_left_with() -> None:
    away = orders.passed_on(_claude(*BYPASS), _has("claude", "plan", "claude-opus-4-8"), Successor("codex"))
    assert away.start("codex").approval is Approval.PLAN
    back = orders.passed_on(away, _has("codex"), Successor("claude")).start("claude")
    assert (back.args, back.model, back.permission_mode) == (BYPASS, "claude-opus-4-8", "plan")


def test_a_stand_in_that_the_user_made_ask_makes_the_first_agent_ask_too() -> None:
    away = orders.passed_on(Order("codex", ("--dangerously-bypass-approvals-and-sandbox",), {}), _has("codex"),
                            Successor("claude"))  # fmt: skip
    assert away.start("claude").approval is Approval.ALL
    back = orders.passed_on(away, _has("claude", "plan"), Successor("codex"))
    assert back.start("codex").approval is Approval.PLAN


def test_less_that_was_allowed_to_one_stand_in_holds_for_the_next_and_for_the_first() -> None:
    order = orders.passed_on(Order("codex", ("-s", "danger-full-access", "-a", "never"), {}), _has("codex"),
                             Successor("claude"))  # fmt: skip
    order = orders.passed_on(order, _has("claude", "default"), Successor("gemini"))
    assert order.start("gemini").approval is Approval.ASK
    order = orders.passed_on(order, _has("gemini"), Successor("codex"))
    assert order.start("codex").approval is Approval.ASK


def test_a_stand_in_whose_own_configuration_allows_less_costs_the_first_agent_nothing() -> None:
    order = orders.passed_on(_claude(*BYPASS), _has("claude", "bypassPermissions"),
                             Successor("codex", ("-s", "read-only")))  # fmt: skip
    assert (order.start("codex").args, order.start("codex").approval) == (("-s", "read-only"), None)
    through = orders.passed_on(order, _has("codex"), Successor("gemini"))
    assert through.start("gemini").approval is Approval.ALL, "it holds for that one alone"
    back = orders.passed_on(order, _has("codex"), Successor("claude")).start("claude")
    assert (back.args, back.approval, back.permission_mode) == (BYPASS, None, "bypassPermissions")


def test_a_stand_in_whose_own_configuration_allows_more_hands_none_of_that_on() -> None:
    free = Successor("codex", ("-s", "danger-full-access", "-a", "never"))
    order = orders.passed_on(_claude(), _has("claude", "plan"), free)
    assert orders.passed_on(order, _has("codex"), Successor("gemini")).start("gemini").approval is Approval.PLAN


def test_a_first_agent_of_whom_nothing_was_said_comes_back_as_it_was_unless_only_reading_is_allowed() -> None:
    away = orders.passed_on(Order("gemini", (), {}), _has("gemini"), Successor("claude"))
    assert away.start("claude").approval is None
    for mode, approval in (("acceptEdits", None), ("default", None), ("plan", Approval.PLAN)):
        back = orders.passed_on(away, _has("claude", mode), Successor("gemini"))
        assert back.start("gemini").approval is approval


def test_an_agent_that_does_not_ask_by_itself_is_told_to_where_nothing_is_known() -> None:
    order = orders.passed_on(Order("gemini", (), {}), _has("gemini"), Successor("opencode"))
    assert order.start("opencode").approval is Approval.ASK
    configured = orders.passed_on(Order("gemini", (), {}), _has("gemini"), Successor("opencode", ("--auto",)))
    assert configured.start("opencode").approval is None


def test_one_that_went_on_from_a_session_is_started_as_that_sessions_agent_was(tmp_path: Path) -> None:
    order = orders.passed_on(_claude(*BYPASS, "--model", "opus"), _has("claude", "acceptEdits"),
                             Successor("codex", ("--profile", "night")))  # fmt: skip
    orders.write(tmp_path, order)
    now = _has("codex", model="gpt-5.5")
    same = orders.carried(tmp_path, now, Successor("codex", ("--profile", "night")))
    assert same == Start(("--profile", "night"), Approval.EDITS, None, "gpt-5.5", None, Wishes(Size.LARGE))
    other = orders.carried(tmp_path, now, Successor("gemini"))
    assert (other.args, other.approval) == (("--model", "gemini-2.5-pro"), Approval.EDITS)
    first = orders.carried(tmp_path, now, Successor("claude"))
    assert (first.args, first.permission_mode) == ((*BYPASS, "--model", "opus"), "acceptEdits")


SMALL, FOLDERS = ("--model", "haiku"), ("--add-dir", "../lib")


def _round(first: Order, *heirs: Successor, models: tuple[str | None, ...] = ()) -> Order:
    """The order after so many switches; `models` are what the agents in between told of themselves."""
    order, agent = first, first.agent
    for heir, model in zip(heirs, (None, *models, *[None] * len(heirs)), strict=False):
        order, agent = orders.passed_on(order, _has(agent, model=model), heir), heir.agent
    return order


def test_what_one_stand_in_has_no_words_for_is_still_known_to_those_after_it(tmp_path: Path) -> None:
    order = _round(_claude(*SMALL, *FOLDERS), Successor("opencode"), Successor("gemini"), models=("zen/big-pro",))
    assert order.start("opencode").args == (), "it knows neither folders nor a model of that class"
    said = ("--model", "gemini-2.5-flash-lite", "--include-directories", "../lib")
    assert order.start("gemini").args == said
    orders.write(tmp_path, order)
    kept = orders.read(tmp_path, "gemini")
    assert kept is not None
    far = _round(replace(kept, agent="claude"), Successor("codex"), Successor("opencode"), Successor("gemini"))
    assert far.start("gemini").args == said
    assert far.start("codex").args == ("--add-dir", "../lib")
    back = orders.passed_on(far, _has("gemini"), Successor("claude")).start("claude")
    assert back.args == (*SMALL, *FOLDERS)


def test_what_is_configured_for_one_stand_in_is_no_wish_of_the_session() -> None:
    own = Successor("codex", ("--model", "gpt-5-mini", "--add-dir", "/codex/only"))
    order = _round(_claude("--model", "opus", *FOLDERS), own, Successor("gemini"), models=("gpt-5-mini",))
    assert order.start("gemini").args == ("--model", "gemini-2.5-pro", "--include-directories", "../lib")


def test_a_model_that_the_user_chose_in_a_stand_in_is_a_wish_like_any_other() -> None:
    order = _round(_claude("--model", "opus"), Successor("gemini"), Successor("claude"))
    there = orders.passed_on(_claude("--model", "opus"), _has("claude"), Successor("codex", (), {"large": "gpt-5"}))
    chosen = orders.passed_on(there, _has("codex", model="gpt-5-mini"), Successor("gemini"))
    assert chosen.start("gemini").args == ("--model", "gemini-2.5-flash-lite")
    assert order.start("claude").args == ("--model", "opus")


def test_a_session_that_goes_on_from_another_has_its_wishes_too(tmp_path: Path) -> None:
    orders.write(tmp_path, _round(_claude(*SMALL, *FOLDERS), Successor("opencode")))
    like = orders.carried(tmp_path, _has("opencode"), Successor("opencode"))
    order = _round(Order("opencode", like.args, {}, {"opencode": like}), Successor("gemini"))
    assert "../lib" in order.start("gemini").args


def test_of_a_session_whose_order_is_gone_only_model_and_mode_are_carried_to_another_agent(tmp_path: Path) -> None:
    now = _has("claude", "plan", "claude-opus-4-8")
    assert orders.carried(tmp_path, now, Successor("claude", ("--verbose",))) == Start(("--verbose",))
    assert orders.carried(tmp_path, now, Successor("codex")).approval is Approval.PLAN


def test_an_order_is_read_as_it_was_written_and_as_an_earlier_version_wrote_it(tmp_path: Path) -> None:
    order = orders.passed_on(_claude(*BYPASS), _has("claude", "plan", "opus"), Successor("codex", ("-s", "read-only")))
    orders.write(tmp_path, order)
    assert orders.read(tmp_path, "codex") == order
    (tmp_path / "order.json").write_text(
        '{"agent": "claude", "args": ["--verbose"], "env": {"A": "b"}, "others": {"codex": ["-m", "x"]}}',
        encoding="utf-8",
    )
    assert orders.read(tmp_path, "codex") == Order("claude", ("--verbose",), {"A": "b"}, {"codex": Start(("-m", "x"))})


@pytest.mark.parametrize("text", ["", "[]", '{"args": 1}', '{"args": [], "env": {}, "others": {"codex": {"x": 1}}}'])
def test_an_order_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    assert orders.read(tmp_path, "claude") is None
    (tmp_path / "order.json").write_text(text, encoding="utf-8")
    assert orders.read(tmp_path, "claude") is None
