"""When to wait for a provider, when to go on with another agent, and when to call a person."""

from hypothesis import given
from hypothesis import strategies as st

from batonpass.config.schema import Quota
from batonpass.supervisor.setback import Call, Phase, Setback, Switch, Wait, plan, read

NOW = 1_000_000.0
LIMITS = Quota()
KINDS = ("rate_limit", "quota", "overloaded", "authentication")


def test_a_limit_that_ends_soon_is_waited_for_even_where_others_could_go_on() -> None:
    assert plan("quota", NOW + 300, 0, NOW, ["codex"], LIMITS) == Wait(NOW + 300)


def test_a_quota_that_lasts_longer_sends_the_work_to_the_next_agent_until_then() -> None:
    assert plan("quota", NOW + 7200, 0, NOW, ["codex", "gemini"], LIMITS) == Switch("codex", NOW + 7200)


def test_a_quota_of_unknown_end_is_tried_again_after_an_hour() -> None:
    assert plan("quota", None, 0, NOW, ["codex"], LIMITS) == Switch("codex", NOW + 3600)


def test_a_rate_limit_is_waited_for_ever_longer_and_then_taken_for_the_end() -> None:
    waits = [plan("rate_limit", None, tries, NOW, ["codex"], LIMITS) for tries in range(6)]
    assert waits[:5] == [Wait(NOW + 30 * 2**tries) for tries in range(5)]
    assert waits[5] == Switch("codex", NOW + 3600)


def test_with_nobody_else_a_quota_is_waited_for_and_a_lost_sign_in_is_a_persons() -> None:
    assert plan("quota", NOW + 7200, 0, NOW, [], LIMITS) == Wait(NOW + 7200)
    assert plan("authentication", None, 0, NOW, [], LIMITS) == Call()
    assert plan("authentication", None, 0, NOW, ["codex"], LIMITS) == Switch("codex", NOW + 3600)


@given(
    st.sampled_from(KINDS),
    st.none() | st.floats(NOW + 1, NOW + 1e6),
    st.integers(0, 20),
    st.lists(st.sampled_from(["codex", "gemini"]), unique=True),
)
def test_whatever_happens_nothing_is_tried_in_the_past_nor_for_ever(
    kind: str, resets: float | None, tries: int, others: list[str]
) -> None:
    match plan(kind, resets, tries, NOW, others, LIMITS):
        case Wait(until):
            assert until > NOW
            assert resets is None or until == resets
        case Switch(to, until):
            assert to == others[0]
            assert until > NOW
        case Call():
            assert not others


def test_what_was_kept_is_read_again_and_rubbish_is_none() -> None:
    kept = {"phase": "away", "at": 5.0, "kind": "quota", "until": 9.0, "tries": 0, "first": "claude", "down": {}}
    assert read(kept) == Setback(Phase.AWAY, 5.0, "quota", 9.0, 0, "claude", {})
    assert read(None) == read({"phase": "odd"}) == read([1]) == Setback()
