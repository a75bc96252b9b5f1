"""What comes next in a cycle, whatever has happened so far."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batonpass.cycle.moves import (
    BOX_IN_USE,
    CANNOT_WRITE,
    GAPS,
    GONE,
    INTERRUPTED,
    LATE,
    MOVED,
    NEW_PROMPT,
    NO_DOCUMENT,
    NO_SAFE_POINT,
    NOT_BEGUN,
    NOT_CLEARED,
    NOT_SEEN,
    REJECTED,
    UNCLAIMED,
    UNSEALED,
    UNSERVED,
    WORKED_ON,
    Move,
    Outcome,
    Policy,
    Result,
    Step,
    Way,
)
from batonpass.cycle.plan import next_move

CODES = {
    Step.PREPARE: ["ok", GONE, LATE, "error"],
    Step.SAFE_POINT: ["ok", GONE, NO_SAFE_POINT, MOVED, "error"],
    Step.ASK: ["ok", GONE, UNCLAIMED, NOT_SEEN, MOVED, "error"],
    Step.AWAIT: ["ok", GONE, NO_DOCUMENT, "error"],
    Step.CHECK: ["ok", GAPS, LATE, "error"],
    Step.SEAL: ["ok", CANNOT_WRITE, LATE, "error"],
    Step.PASS: [
        "ok",
        GONE,
        NEW_PROMPT,
        NOT_BEGUN,
        NOT_CLEARED,
        BOX_IN_USE,
        INTERRUPTED,
        MOVED,
        UNSEALED,
        WORKED_ON,
        "error",
    ],
    Step.PRIME: ["ok", GONE, NOT_SEEN, "error"],
    Step.VERIFY: ["ok", REJECTED, UNSERVED, GONE, "error"],
    Step.BACK: ["ok", GONE, NOT_SEEN, "error"],
    Step.CLOSE: ["ok", LATE],
}

DATA: dict[str, dict[str, object]] = {GAPS: {"gaps": ["x"]}, REJECTED: {"problems": ["y"]}, NOT_BEGUN: {"ended": True}}


def play(codes: Iterator[str], policy: Policy) -> list[tuple[Move, Outcome]]:
    """Run the plan against a world that answers with these codes, as far as they fit the step."""
    history: list[tuple[Move, Outcome]] = []
    while (move := next_move([outcome for _, outcome in history], policy)) is not None:
        code = next(codes, "ok")
        fitting = code if code in CODES[move.step] else "ok"
        data = DATA.get(fitting, {})
        history.append((move, Outcome(move.step, fitting, fitting, data)))
        assert len(history) < 200, "a cycle must end"
    return history


def steps(*codes: str, policy: Policy | None = None) -> list[str]:
    return [str(move.step) for move, _ in play(iter(codes), policy or Policy())]


EVERY_CODE = st.sampled_from(sorted({code for codes in CODES.values() for code in codes}))
# The last code goes on for ever: a world that never changes must not keep a cycle from its end.
WORLDS = st.builds(lambda codes, last: [*codes, *[last] * 200], st.lists(EVERY_CODE, max_size=60), EVERY_CODE)
FLAGS = {"force": st.booleans(), "auto_continue": st.booleans(), "silent": st.booleans()}
POLICIES = st.builds(Policy, way=st.sampled_from(list(Way)), **FLAGS)


@given(WORLDS, POLICIES)
def test_every_cycle_ends_with_close_whatever_happens(codes: list[str], policy: Policy) -> None:
    assert play(iter(codes), policy)[-1][0].step is Step.CLOSE


@given(WORLDS, POLICIES)
def test_nothing_is_passed_before_a_handoff_is_sealed(codes: list[str], policy: Policy) -> None:
    sealed = False
    for move, outcome in play(iter(codes), policy):
        if move.step is Step.PASS:
            assert sealed
        behind = outcome.code in (NEW_PROMPT, UNSEALED, WORKED_ON)
        sealed = (sealed or (move.step is Step.SEAL and outcome.ok)) and not behind


@given(WORLDS, POLICIES)
def test_a_cycle_is_done_only_with_an_accepted_receipt(codes: list[str], policy: Policy) -> None:
    history = play(iter(codes), policy)
    verified = any(move.step is Step.VERIFY and outcome.ok for move, outcome in history)
    assert (history[-1][0].result is Result.DONE) == verified


@given(WORLDS, POLICIES)
def test_no_two_prompts_of_a_kind_share_an_attempt_number(codes: list[str], policy: Policy) -> None:
    history = play(iter(codes), policy)
    for step in (Step.ASK, Step.PRIME):
        attempts = [move.attempt for move, _ in history if move.step is step]
        assert len(attempts) == len(set(attempts))


@given(WORLDS, POLICIES)
def test_a_new_prompt_of_the_user_is_never_cleared_away(codes: list[str], policy: Policy) -> None:
    """After a user's new prompt the document is asked for again, or nothing is passed at all."""
    history = play(iter(codes), policy)
    for index, (_, outcome) in enumerate(history):
        if outcome.code == NEW_PROMPT:
            after = [move.step for move, _ in history[index + 1 :]]
            if Step.PASS in after:
                assert Step.SEAL in after[: after.index(Step.PASS)]


def test_an_agent_that_worked_on_is_not_asked_again_but_its_handoff_is_sealed_with_what_it_did() -> None:
    to_pass = ["ok"] * 6
    once = play(iter([*to_pass, WORKED_ON]), Policy())
    assert [str(move.step) for move, _ in once][6:] == ["pass", "seal", "pass", "prime", "verify", "close"]
    assert once[7][0].document, "with what it wrote"
    endless = play(iter([*to_pass, *[WORKED_ON, "ok"] * 9]), Policy())
    assert [str(move.step) for move, _ in endless].count("pass") == 4
    assert (endless[-1][0].step, endless[-1][0].result) == (Step.CLOSE, Result.POSTPONED)
    for policy in (Policy(way=Way.RESPAWN), Policy(force=True)):
        replaced = [
            move for move, _ in play(iter([*to_pass, *[WORKED_ON, "ok"] * 3]), policy) if move.step is Step.PASS
        ]
        assert [move.at_last for move in replaced] == [False, False, False, True]
        assert replaced[-1].way is Way.RESPAWN


def test_a_seal_that_fails_after_the_agent_worked_on_has_its_second_try() -> None:
    failed_once = ["ok"] * 5 + [CANNOT_WRITE, "ok", WORKED_ON, CANNOT_WRITE]
    assert steps(*failed_once)[5:] == ["seal", "seal", "pass", "seal", "seal", "pass", "prime", "verify", "close"]


@given(WORLDS, POLICIES)
def test_a_session_whose_user_has_gone_elsewhere_is_asked_and_cleared_no_more(codes: list[str], policy: Policy) -> None:
    history = play(iter(codes), policy)
    for index, (_, outcome) in enumerate(history):
        if outcome.code == MOVED:
            after = {move.step for move, _ in history[index + 1 :]}
            assert after <= {Step.SEAL, Step.CLOSE}


@given(WORLDS, POLICIES)
def test_the_next_move_depends_on_nothing_but_what_was_recorded(codes: list[str], policy: Policy) -> None:
    outcomes = [outcome for _, outcome in play(iter(codes), policy)]
    for cut in range(len(outcomes)):
        assert next_move(outcomes[:cut], policy) == next_move(list(outcomes[:cut]), policy)


def test_a_smooth_cycle_takes_the_ten_steps_in_order() -> None:
    assert steps() == [str(step) for step in Step if step is not Step.BACK]


def test_a_silent_agent_is_asked_twice_and_then_the_facts_are_the_handoff() -> None:
    history = play(iter(["ok", "ok", "ok", NO_DOCUMENT, "ok", "ok", NO_DOCUMENT]), Policy())
    asked = [move.step for move, _ in history].count(Step.ASK)
    sealed = next(move for move, _ in history if move.step is Step.SEAL)
    assert (asked, sealed.document, history[-1][0].result) == (2, False, Result.DONE)


def test_an_incomplete_document_is_asked_for_once_more_with_what_is_missing() -> None:
    history = play(iter(["ok", "ok", "ok", "ok", GAPS, "ok", "ok", "ok", GAPS]), Policy())
    asks = [move for move, _ in history if move.step is Step.ASK]
    sealed = next(move for move, _ in history if move.step is Step.SEAL)
    assert ([ask.missing for ask in asks], sealed.document) == ([(), ("x",)], True)


def test_an_agent_that_dies_after_an_incomplete_document_leaves_that_document() -> None:
    history = play(iter(["ok", "ok", "ok", "ok", GAPS, GONE]), Policy())
    sealed = next(move for move, _ in history if move.step is Step.SEAL)
    passed = next(move for move, _ in history if move.step is Step.PASS)
    assert (sealed.document, passed.way) == (True, Way.RESPAWN)


def test_a_withdrawn_offer_is_asked_again_at_the_next_safe_point() -> None:
    assert steps("ok", "ok", UNCLAIMED)[:5] == ["prepare", "safe_point", "ask", "safe_point", "ask"]


def test_a_busy_agent_that_never_takes_the_request_is_left_alone() -> None:
    history = play(iter(["ok", *["ok", UNCLAIMED] * 20]), Policy())
    assert len(history) < 12
    assert Step.SEAL not in [move.step for move, _ in history]
    assert history[-1][0].result is Result.POSTPONED


def test_one_that_hangs_in_the_turn_of_the_handoff_is_followed_from_what_was_recorded() -> None:
    history = play(iter(["ok", "ok", "ok", NO_DOCUMENT, *["ok", UNCLAIMED] * 4]), Policy())
    assert history[-1][0].result is Result.DONE
    assert [move.document for move, _ in history if move.step is Step.SEAL] == [False]


def test_without_a_safe_point_nothing_is_touched() -> None:
    assert steps("ok", NO_SAFE_POINT) == ["prepare", "safe_point", "close"]


def test_a_forcing_rung_replaces_the_process_from_the_draft() -> None:
    history = play(iter(["ok", NO_SAFE_POINT]), Policy(force=True))
    passed = next(move for move, _ in history if move.step is Step.PASS)
    assert (passed.way, history[-1][0].result) == (Way.RESPAWN, Result.DONE)


def test_a_seal_that_cannot_be_written_leaves_the_session_alone() -> None:
    history = play(iter(["ok", "ok", "ok", "ok", "ok", CANNOT_WRITE, CANNOT_WRITE]), Policy())
    assert [str(move.step) for move, _ in history][-3:] == ["seal", "seal", "close"]
    assert history[-1][0].result is Result.FAILED


def test_a_seal_that_can_be_written_at_the_second_try_is_passed() -> None:
    history = play(iter(["ok", "ok", "ok", "ok", GAPS, GONE, CANNOT_WRITE]), Policy())
    assert [move.document for move, _ in history if move.step is Step.SEAL] == [True, True]
    assert history[-1][0].result is Result.DONE


def test_a_sealed_file_that_is_gone_is_sealed_again_once_and_then_nothing_is_cleared() -> None:
    mended = play(iter(["ok"] * 6 + [UNSEALED]), Policy())
    assert [str(move.step) for move, _ in mended][5:9] == ["seal", "pass", "seal", "pass"]
    assert mended[-1][0].result is Result.DONE
    lost = play(iter(["ok"] * 6 + [UNSEALED, "ok", UNSEALED]), Policy())
    assert (len(lost), lost[-1][0].result) == (10, Result.FAILED)


@pytest.mark.parametrize("before", [1, 2, 6])
def test_what_the_user_left_behind_is_sealed_and_waits(before: int) -> None:
    history = play(iter(["ok"] * before + [MOVED]), Policy())
    assert [str(move.step) for move, _ in history if move.step is Step.SEAL] == ["seal"]
    assert history[-1][0].result is Result.PENDING


@pytest.mark.parametrize("kicked", [0, 1])
def test_a_successor_that_dies_is_replaced_twice_and_then_the_handoff_is_pending(kicked: int) -> None:
    history = play(iter(["ok"] * (7 + kicked) + [GONE]), Policy())
    assert [move.way for move, _ in history if move.step is Step.PASS] == [Way.CLEAR, Way.RESPAWN]
    assert [move.kick for move, _ in history if move.step is Step.PASS] == [1, 2]
    assert history[-1][0].result is Result.DONE
    again = ["ok"] * (1 + kicked) + [GONE]
    mortal = play(iter(["ok"] * 6 + again * 3), Policy())
    assert mortal[-1][0].result is Result.PENDING


def _of_the_dead(*codes: str, policy: Policy | None = None) -> list[Move]:
    """The moves after a successor that had worked died before its receipt, in a world that answers like this."""
    history = [outcome for _, outcome in play(iter([]), Policy())][:7]
    answers, found = iter([GONE, *codes]), list[Move]()
    while (move := next_move(history, policy or Policy())) is not None:
        code = next(answers, "ok")
        history.append(Outcome(move.step, code, code, {"worked": True} if code == GONE else {}))
        found.append(move)
    return found[1:]


def test_a_successor_that_had_worked_when_it_died_is_handed_off_before_the_next_one_begins() -> None:
    seal, again, *_, close = _of_the_dead()
    assert (seal.step, seal.document) == (Step.SEAL, False)
    assert (again.step, again.way, again.attempt, again.kick) == (Step.PASS, Way.RESPAWN, 2, 2)
    assert close.result is Result.DONE


def test_where_a_dead_successor_cannot_be_handed_off_the_next_one_begins_as_it_did() -> None:
    moves = _of_the_dead(CANNOT_WRITE, CANNOT_WRITE)
    assert [str(move.step) for move in moves] == ["seal", "seal", "pass", "prime", "verify", "close"]


def test_the_last_of_the_successors_that_die_is_handed_off_too_and_its_handoff_is_pending() -> None:
    moves = _of_the_dead("ok", "ok", GONE, "ok", "ok", GONE)
    assert [str(move.step) for move in moves] == ["seal", "pass", "prime"] * 2 + ["seal", "close"]
    assert moves[-1].result is Result.PENDING


def test_a_clear_that_fails_twice_becomes_a_respawn() -> None:
    history = play(iter(["ok"] * 6 + [NOT_CLEARED, NOT_CLEARED]), Policy())
    assert [move.way for move, _ in history if move.step is Step.PASS] == [Way.CLEAR, Way.CLEAR, Way.RESPAWN]


def test_a_box_in_use_leaves_the_sealed_handoff_pending() -> None:
    history = play(iter(["ok"] * 6 + [BOX_IN_USE]), Policy())
    assert history[-1][0].result is Result.PENDING


def test_a_person_who_types_at_the_same_moment_is_never_answered_by_a_respawn() -> None:
    history = play(iter(["ok"] * 6 + [INTERRUPTED] * 9), Policy())
    ways = {move.way for move, _ in history if move.step is Step.PASS}
    assert (ways, history[-1][0].result) == ({Way.CLEAR}, Result.PENDING)


def test_a_rejected_receipt_is_asked_for_once_more_with_what_was_wrong() -> None:
    history = play(iter(["ok"] * 8 + [REJECTED]), Policy())
    kicks = [move.missing for move, _ in history if move.step is Step.PRIME]
    assert (kicks, history[-1][0].result) == ([(), ("y",)], Result.DONE)


def test_what_is_given_up_at_its_ceiling_takes_the_way_that_loses_nothing() -> None:
    late_at = {
        step: play(iter(["ok"] * before + [LATE]), Policy())
        for before, step in ((0, Step.PREPARE), (4, Step.CHECK), (5, Step.SEAL), (9, Step.CLOSE))
    }
    assert all((outcome.step, outcome.code) in {(step, LATE), (outcome.step, "ok")}
               for step, played in late_at.items() for _, outcome in played)  # fmt: skip
    assert [move.step for move, _ in late_at[Step.PREPARE]][:3] == [Step.PREPARE, Step.SAFE_POINT, Step.ASK]
    seal = next(move for move, _ in late_at[Step.CHECK] if move.step is Step.SEAL)
    assert (seal.document, seal.known, seal.note) == (True, True, "nothing could be compared")
    assert late_at[Step.CHECK][-1][0].result is Result.DONE
    assert [move.step for move, _ in late_at[Step.SEAL]][-2:] == [Step.SEAL, Step.CLOSE]
    assert late_at[Step.SEAL][-1][0].result is Result.FAILED
    closes = [move for move, _ in late_at[Step.CLOSE] if move.step is Step.CLOSE]
    assert [move.result for move in closes] == [Result.DONE, Result.DONE]


def test_a_successor_that_died_and_cannot_be_sealed_in_time_is_replaced_with_what_it_began_with() -> None:
    died = [Outcome(step) for step in (Step.PREPARE, Step.SEAL, Step.PASS)]
    died.append(Outcome(Step.PRIME, GONE, "it died", {"worked": True}))
    move = next_move([*died, Outcome(Step.SEAL, LATE)], Policy())
    assert move is not None
    assert move.step is Step.PASS


def test_a_receipt_rejected_twice_brings_the_predecessor_back_for_one_more_pass_by_respawn() -> None:
    history = play(iter(["ok"] * 8 + [REJECTED, "ok", REJECTED]), Policy())
    after = [move for move, _ in history[history.index(next(h for h in history if h[0].step is Step.BACK)) :]]
    assert [str(move.step) for move in after] == [
        "back", "safe_point", "ask", "await", "check", "seal", "pass", "prime", "verify", "close",
    ]  # fmt: skip
    assert (after[0].missing, after[6].way, after[6].kick, after[-1].result) == (("y",), Way.RESPAWN, 3, Result.DONE)


def test_a_receipt_that_is_never_right_ends_unverified_with_one_way_back() -> None:
    history = play(iter(["ok"] * 8 + [REJECTED, "ok", REJECTED] + ["ok"] * 8 + [REJECTED, "ok", REJECTED]), Policy())
    backs = sum(1 for move, _ in history if move.step is Step.BACK)
    assert (backs, history[-1][0].result) == (1, Result.UNVERIFIED)


def _from_the_pass(codes: list[str], policy: Policy) -> tuple[list[str], Result]:
    played = play(iter(codes), policy)
    moves = [str(move.step) for move, _ in played]
    return moves[moves.index("pass") :], played[-1][0].result


def test_an_heir_that_is_not_served_is_kicked_no_second_time_and_the_predecessor_goes_on_itself() -> None:
    found = _from_the_pass(["ok"] * 8 + [UNSERVED], Policy(way=Way.SWITCH))
    assert found == (["pass", "prime", "verify", "back", "close"], Result.POSTPONED)


def test_an_heir_that_is_not_served_keeps_the_session_where_the_predecessor_is_not_either() -> None:
    silent = Policy(way=Way.SWITCH, silent=True, force=True)
    found = _from_the_pass(["ok"] * 4 + [UNSERVED], silent)
    assert found == (["pass", "prime", "verify", "close"], Result.UNVERIFIED)


@pytest.mark.parametrize("way", [Way.CLEAR, Way.RESPAWN])
def test_the_same_agent_would_be_served_no_better_in_its_old_conversation(way: Way) -> None:
    found = _from_the_pass(["ok"] * 8 + [UNSERVED], Policy(way=way))
    assert found == (["pass", "prime", "verify", "close"], Result.UNVERIFIED)


@given(WORLDS, POLICIES)
def test_an_agent_that_cannot_be_asked_is_never_asked_and_brought_back_only_where_nobody_took_over(
    codes: list[str], policy: Policy
) -> None:
    unspoken = [code for code in codes if code != NEW_PROMPT]  # a person who speaks to it sees whether it answers
    played = play(iter(unspoken), replace(policy, way=Way.SWITCH, silent=True))
    steps = [move.step for move, _ in played]
    assert Step.ASK not in steps
    for place in (n for n, step in enumerate(steps) if step is Step.BACK):
        before = played[place - 1][1]
        assert (before.step in (Step.PASS, Step.PRIME) or before.code == GONE, steps[place + 1]) == (True, Step.CLOSE)


@pytest.mark.parametrize("silent", [False, True])
def test_an_heir_that_ends_at_its_start_is_tried_once_more_and_then_the_predecessor_is_there_again(
    silent: bool,
) -> None:
    before = ["ok"] * (2 if silent else 6)
    policy = Policy(way=Way.SWITCH, silent=silent, force=silent)
    assert _from_the_pass([*before, NOT_BEGUN], policy) == (["pass", "pass", "prime", "verify", "close"], Result.DONE)
    found = _from_the_pass([*before, NOT_BEGUN, NOT_BEGUN], policy)
    assert found == (["pass", "pass", "back", "close"], Result.POSTPONED)
    lost = _from_the_pass([*before, NOT_BEGUN, NOT_BEGUN, NOT_SEEN], policy)
    assert lost == (["pass", "pass", "back", "close"], Result.PENDING)


def test_an_heir_that_stands_still_at_its_start_would_do_so_again() -> None:
    sealed = [outcome for _, outcome in play(iter(["ok"] * 6), Policy(way=Way.SWITCH))][:6]
    asks = Outcome(Step.PASS, NOT_BEGUN, "it asks for a sign-in", {"ended": False})
    assert next_move([*sealed, asks], Policy(way=Way.SWITCH)) == Move(Step.BACK, note="it asks for a sign-in")


@pytest.mark.parametrize("code", [GONE, NOT_SEEN])
def test_an_heir_that_never_heard_its_kick_does_not_keep_the_session(code: str) -> None:
    world = ["ok"] * 7 + ([NOT_SEEN] * 2 if code == NOT_SEEN else [GONE, "ok", GONE, "ok", GONE])
    moves, result = _from_the_pass(world, Policy(way=Way.SWITCH))
    assert (moves[-2:], result) == (["back", "close"], Result.POSTPONED)
    moves, result = _from_the_pass(world, Policy(way=Way.SWITCH, attended=True))
    seen_to = (["prime", "close"], Result.PENDING)  # a person may be answering its dialog
    assert (moves[-2:], result) == (seen_to if code == NOT_SEEN else (["back", "close"], Result.POSTPONED))


def test_an_heir_that_is_at_work_is_not_replaced_although_its_kick_does_not_show() -> None:
    passed = [outcome for _, outcome in play(iter(["ok"] * 7), Policy(way=Way.SWITCH))][:7]
    works = Outcome(Step.PRIME, NOT_SEEN, "its record does not show it", {"at_work": True})
    closing = next_move([*passed, works, works], Policy(way=Way.SWITCH))
    assert closing == Move(Step.CLOSE, result=Result.PENDING, note="its record does not show it")
    rests = replace(works, data={"at_work": False})
    back = next_move([*passed, works, rests], Policy(way=Way.SWITCH))
    assert back is not None
    assert back.step is Step.BACK


def test_the_second_way_back_is_another_start_than_the_first() -> None:
    world = ["ok"] * 8 + [REJECTED, "ok", REJECTED] + ["ok"] * 6 + [NOT_BEGUN, NOT_BEGUN]
    history = play(iter(world), Policy(way=Way.SWITCH))
    assert [move.attempt for move, _ in history if move.step is Step.BACK] == [1, 2]


def test_auto_continue_off_ends_after_the_seal_with_a_pending_file() -> None:
    history = play(iter([]), Policy(auto_continue=False))
    assert [str(move.step) for move, _ in history][-2:] == ["seal", "close"]
    assert history[-1][0].result is Result.PENDING


@pytest.mark.parametrize("failures", [1, 4])
def test_closing_is_tried_again_with_the_same_result(failures: int) -> None:
    outcomes = [outcome for _, outcome in play(iter([]), Policy())][:-1]
    outcomes += [Outcome(Step.CLOSE, "error")] * failures
    assert next_move(outcomes, Policy()) == Move(Step.CLOSE, result=Result.DONE)


def test_a_session_that_goes_on_from_a_handoff_is_only_followed_to_its_receipt() -> None:
    policy = Policy(way=Way.START, max_backs=0)
    assert steps(policy=policy) == ["prime", "verify", "close"]
    assert steps("ok", REJECTED, "ok", "ok", policy=policy) == ["prime", "verify", "prime", "verify", "close"]


@pytest.mark.parametrize(("code", "result"), [(GONE, Result.PENDING), (NOT_SEEN, Result.UNVERIFIED)])
def test_a_new_session_that_is_not_heard_of_is_kicked_no_second_time(code: str, result: Result) -> None:
    played = play(iter([code]), Policy(way=Way.START, max_backs=0))
    assert [move.step for move, _ in played] == [Step.PRIME, Step.CLOSE]
    assert played[-1][0].result is result


def test_a_new_session_has_no_predecessor_to_bring_back() -> None:
    played = play(iter(["ok", REJECTED, "ok", REJECTED]), Policy(way=Way.START, max_backs=0))
    assert played[-1][0].result is Result.UNVERIFIED
    assert Step.BACK not in [move.step for move, _ in played]


def test_a_rescue_ends_with_the_seal_and_says_why() -> None:
    played = play(iter([GONE]), Policy(auto_continue=False, why_not="it was rescued from its record"))
    assert [move.step for move, _ in played] == [Step.PREPARE, Step.SEAL, Step.CLOSE]
    assert (played[-1][0].result, played[-1][0].note) == (Result.PENDING, "it was rescued from its record")
