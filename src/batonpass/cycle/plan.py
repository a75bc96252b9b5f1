"""What comes next in a cycle: a pure function of what has happened so far.

The engine runs one move, records its outcome, and asks again. Because the next move depends on nothing
but recorded outcomes, a cycle that is cut off anywhere goes on at the same place.
"""

from collections.abc import Sequence

from batonpass.cycle.moves import (
    BOX_IN_USE,
    GAPS,
    GONE,
    INTERRUPTED,
    LATE,
    MOVED,
    NEW_PROMPT,
    NO_SAFE_POINT,
    NOT_BEGUN,
    NOT_CLEARED,
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


def next_move(history: Sequence[Outcome], policy: Policy) -> Move | None:
    """The move after these outcomes; None when the cycle has closed."""
    if not history:
        return Move(Step.PRIME, way=Way.START) if policy.way is Way.START else Move(Step.PREPARE)
    last = history[-1]
    return _NEXT[last.step](history, last, policy)


def _count(history: Sequence[Outcome], step: Step) -> int:
    return sum(1 for outcome in history if outcome.step is step)


def _codes(history: Sequence[Outcome], step: Step, code: str) -> int:
    return sum(1 for outcome in history if outcome.step is step and outcome.code == code)


def _rounds(history: Sequence[Outcome]) -> int:
    return _codes(history, Step.PASS, NEW_PROMPT)


def _this_round(history: Sequence[Outcome]) -> Sequence[Outcome]:
    """The outcomes since the last time a user's prompt sent the cycle back."""
    for index in range(len(history) - 1, -1, -1):
        if history[index].code == NEW_PROMPT or history[index].step is Step.BACK:
            return history[index + 1 :]
    return history


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list | tuple) else ()


def _ask(history: Sequence[Outcome], missing: tuple[str, ...] = ()) -> Move:
    return Move(Step.ASK, attempt=_count(history, Step.ASK) + 1, missing=missing)


def _seal_what_there_is(history: Sequence[Outcome], note: str) -> Move:
    """An incomplete document of the agent beats none; else what was recorded is the handoff."""
    written = _written(history)
    rest = "what it wrote before is kept" if written else "the document comes from what was recorded"
    return Move(Step.SEAL, document=written, note=f"{note}; {rest}")


def _written(history: Sequence[Outcome]) -> bool:
    """Whether the agent has written something in this round."""
    return any(outcome.step is Step.CHECK for outcome in _this_round(history))


def _after_prepare(history: Sequence[Outcome], last: Outcome, policy: Policy) -> Move:
    if last.code == GONE:
        return _seal_what_there_is(history, "the agent is gone")
    if policy.silent:
        return _seal_what_there_is(history, "its provider does not serve the agent")
    return Move(Step.SAFE_POINT)


def _after_safe_point(history: Sequence[Outcome], last: Outcome, policy: Policy) -> Move:
    if last.ok:
        return _ask(history, _wanted(history))
    if last.code == GONE:
        return _seal_what_there_is(history, "the agent is gone")
    if last.code == MOVED:
        return _seal_what_there_is(history, last.note)
    if policy.force:
        return _seal_what_there_is(history, "no safe point before the deadline, so the process is replaced")
    return Move(Step.CLOSE, result=Result.POSTPONED, note=last.note)


def _wanted(history: Sequence[Outcome]) -> tuple[str, ...]:
    """What the last check of this round found missing: an ask that went unclaimed is asked again as it was."""
    for outcome in reversed(_this_round(history)):
        if outcome.step is Step.CHECK:
            return _texts(outcome.data.get("gaps"))
    return ()


def _after_ask(history: Sequence[Outcome], last: Outcome, policy: Policy) -> Move:
    if last.ok:
        return Move(Step.AWAIT, attempt=_count(history, Step.ASK))
    if last.code == GONE:
        return _seal_what_there_is(history, "the agent went away before it wrote")
    if last.code == MOVED:
        return _seal_what_there_is(history, last.note)
    if last.code == UNCLAIMED and _codes(_this_round(history), Step.ASK, UNCLAIMED) <= policy.max_unclaimed:
        return Move(Step.SAFE_POINT)
    if last.code == UNCLAIMED:
        return _not_heard(history, last, policy)
    return _again_or_facts(history, policy, "the request did not arrive")


def _not_heard(history: Sequence[Outcome], last: Outcome, policy: Policy) -> Move:
    """An agent that works on has done nothing wrong; one that was asked before, or must be replaced, is passed on."""
    asked = any(outcome.step is Step.ASK and outcome.ok for outcome in _this_round(history))
    if asked or policy.force:
        return _seal_what_there_is(history, "the agent did not take the request")
    return Move(Step.CLOSE, result=Result.POSTPONED, note=last.note)


def _again_or_facts(history: Sequence[Outcome], policy: Policy, note: str) -> Move:
    tried = [o for o in _this_round(history) if o.step is Step.ASK and o.code != UNCLAIMED]
    if len(tried) < policy.max_asks:
        return Move(Step.SAFE_POINT)
    return _seal_what_there_is(history, note)


def _after_await(history: Sequence[Outcome], last: Outcome, policy: Policy) -> Move:
    if last.ok:
        return Move(Step.CHECK)
    if last.code == GONE:
        return _seal_what_there_is(history, "the agent went away before it wrote")
    return _again_or_facts(history, policy, "the agent wrote nothing")


def _after_check(history: Sequence[Outcome], last: Outcome, policy: Policy) -> Move:
    gaps = _texts(last.data.get("gaps"))
    if gaps and _codes(_this_round(history), Step.CHECK, GAPS) < policy.max_asks:
        return Move(Step.SAFE_POINT)
    if last.code == LATE:  # the same facts would not come at the seal either
        return Move(Step.SEAL, document=True, known=True, note="nothing could be compared")
    return Move(Step.SEAL, document=True)


def _after_seal(history: Sequence[Outcome], last: Outcome, policy: Policy) -> Move:
    before, tries = _before_the_seal(history)
    # What is left behind by one that was late may still write, and another one would write at the same time.
    may_try_again = not last.ok and last.code != LATE
    if before is not None and before.code == GONE and before.data.get("worked"):
        if may_try_again and tries < 2:
            return _seal_the_dead(before, attempt=2)
        return _after_death(history, before, policy)  # where nothing could be written, with what it began with itself
    if not last.ok:
        failures = sum(1 for o in _since_pass(_this_round(history)) if o.step is Step.SEAL and not o.ok)
        if may_try_again and failures < 2:
            return Move(Step.SEAL, attempt=2, document=_written(history), note="at the second try")
        return Move(Step.CLOSE, result=Result.FAILED, note=last.note)
    if not policy.auto_continue:
        return Move(Step.CLOSE, result=Result.PENDING, note=policy.why_not)
    for outcome in _this_round(history):
        if outcome.code == MOVED:
            return Move(Step.CLOSE, result=Result.PENDING, note=outcome.note)
    return _pass(history, policy, 1)


def _pass(history: Sequence[Outcome], policy: Policy, attempt: int) -> Move:
    way = _way(history, policy)
    at_last = way is Way.RESPAWN and _codes(history, Step.PASS, WORKED_ON) >= policy.max_rounds
    return Move(Step.PASS, attempt=attempt, way=way, at_last=at_last, kick=_count(history, Step.PRIME) + 1)


def _way(history: Sequence[Outcome], policy: Policy) -> Way:
    """Clear in place while the agent is there and answers; else, and after the way back, a new process.

    A switch is always a new process.
    """
    if policy.way is Way.SWITCH:
        return Way.SWITCH
    for outcome in history:
        if outcome.step is Step.BACK:
            return Way.RESPAWN
        if outcome.code == GONE or (outcome.code == NO_SAFE_POINT and policy.force):
            return Way.RESPAWN
        if outcome.step is Step.PASS and outcome.code == NOT_CLEARED and _codes(history, Step.PASS, NOT_CLEARED) > 1:
            return Way.RESPAWN
    if policy.force and _codes(history, Step.PASS, WORKED_ON) >= policy.max_rounds:
        return Way.RESPAWN
    return policy.way


def _after_pass(history: Sequence[Outcome], last: Outcome, policy: Policy) -> Move:
    if last.ok:
        return Move(Step.PRIME, attempt=_count(history, Step.PRIME) + 1, way=_way(history, policy))
    if last.code == NEW_PROMPT:
        if _rounds(history) <= policy.max_rounds:
            return Move(Step.SAFE_POINT)
        return Move(Step.CLOSE, result=Result.POSTPONED, note="the user keeps talking to the session")
    if last.code == WORKED_ON:  # not asked again: what keeps it at work would do so after that, too
        if _codes(history, Step.PASS, WORKED_ON) <= policy.max_rounds:
            return Move(Step.SEAL, document=_written(history), note="the agent worked on, and that is in it now")
        return Move(Step.CLOSE, result=Result.POSTPONED, note="the agent keeps going back to work")
    if last.code == NOT_BEGUN:
        if last.data.get("ended") and _codes(_this_round(history), Step.PASS, NOT_BEGUN) < 2:
            return _pass(history, policy, _count(history, Step.PASS) + 1)
        return _back(history, note=last.note)
    if last.code in (BOX_IN_USE, MOVED):
        return Move(Step.CLOSE, result=Result.PENDING, note=last.note)
    if last.code == UNSEALED:
        if _codes(_this_round(history), Step.PASS, UNSEALED) < 2:
            return Move(Step.SEAL, attempt=2, document=_written(history), note="the sealed file was not as it was")
        return Move(Step.CLOSE, result=Result.FAILED, note=last.note)
    if last.code == INTERRUPTED:
        tries = _codes(_this_round(history), Step.PASS, INTERRUPTED)
        if tries < policy.max_interrupted:
            return _pass(history, policy, _count(history, Step.PASS) + 1)
        return Move(Step.CLOSE, result=Result.PENDING, note=last.note)
    others = (INTERRUPTED, UNSEALED, WORKED_ON)
    failures = sum(1 for o in _this_round(history) if o.step is Step.PASS and not o.ok and o.code not in others)
    if failures <= 2 or (failures == 3 and _way(history, policy) in (Way.RESPAWN, Way.SWITCH)):
        return _pass(history, policy, failures + 1)
    return Move(Step.CLOSE, result=Result.PENDING, note=last.note)


def _back(history: Sequence[Outcome], *, missing: tuple[str, ...] = (), note: str = "") -> Move:
    """The way back to the predecessor; with a note, the work stays with it."""
    return Move(Step.BACK, attempt=_count(history, Step.BACK) + 1, missing=missing, note=note)


def _untaken(history: Sequence[Outcome], last: Outcome, policy: Policy) -> Move:
    """Nobody has taken the handoff. Another agent does not keep the session, unless it is at work or a person may be
    seeing to it."""
    kept = policy.attended or last.data.get("at_work") is True
    if policy.way is Way.SWITCH and (last.code == GONE or not kept):
        return _back(history, note=last.note)
    return Move(Step.CLOSE, result=Result.PENDING, note=last.note)


def _after_prime(history: Sequence[Outcome], last: Outcome, policy: Policy) -> Move:
    kicks = _count(history, Step.PRIME)
    if last.ok:
        return Move(Step.VERIFY, attempt=kicks)
    if last.code == GONE:
        return _replace_successor(history, last, policy)
    if last.code == MOVED:
        return Move(Step.CLOSE, result=Result.PENDING, note=last.note)
    if policy.way is Way.START:  # it was given its kick at its start: another one could be heard as well
        return Move(Step.CLOSE, result=Result.UNVERIFIED, note=last.note)
    if _count(_since_pass(history), Step.PRIME) < 2:
        return Move(Step.PRIME, attempt=kicks + 1, way=_way(history, policy))
    return _untaken(history, last, policy)


def _replace_successor(history: Sequence[Outcome], last: Outcome, policy: Policy) -> Move:
    """A successor that died before its receipt; one that had worked is handed off itself before another begins."""
    return _seal_the_dead(last) if last.data.get("worked") else _after_death(history, last, policy)


def _seal_the_dead(death: Outcome, attempt: int = 1) -> Move:
    note = f"{death.note}; what it was told and did is kept"
    return Move(Step.SEAL, attempt=attempt, document=False, note=note)


def _before_the_seal(history: Sequence[Outcome]) -> tuple[Outcome | None, int]:
    """What led to the seal that the last moves tried, and how often they did."""
    for tries, outcome in enumerate(reversed(history)):
        if outcome.step is not Step.SEAL:
            return outcome, tries
    return None, len(history)


def _after_death(history: Sequence[Outcome], last: Outcome, policy: Policy) -> Move:
    """A successor that died before its receipt has a handoff that another process can begin with."""
    deaths = _codes(history, Step.PRIME, GONE) + _codes(history, Step.VERIFY, GONE)
    if deaths <= policy.max_deaths and policy.way is not Way.START:
        return _pass(history, policy, _count(history, Step.PASS) + 1)
    return _untaken(history, last, policy)


def _since_pass(history: Sequence[Outcome]) -> Sequence[Outcome]:
    """The outcomes since a successor began, which has its own two kicks and receipts."""
    for index in range(len(history) - 1, -1, -1):
        if history[index].step is Step.PASS:
            return history[index + 1 :]
    return history


def _after_verify(history: Sequence[Outcome], last: Outcome, policy: Policy) -> Move:
    if last.ok:
        return Move(Step.CLOSE, result=Result.DONE)
    if last.code == GONE:
        return _replace_successor(history, last, policy)
    backs = 0 if policy.silent else policy.max_backs  # one that cannot be asked need not be brought back
    may_go_back = _count(history, Step.BACK) < backs
    if last.code == UNSERVED:  # another kick would end as this one, and so would the same agent's old conversation
        if may_go_back and policy.way is Way.SWITCH:
            return _back(history, note=last.note)
        return Move(Step.CLOSE, result=Result.UNVERIFIED, note=last.note)
    wrong = _texts(last.data.get("problems"))
    if _count(_since_pass(history), Step.VERIFY) < 2:
        return Move(Step.PRIME, attempt=_count(history, Step.PRIME) + 1, missing=wrong, way=_way(history, policy))
    if may_go_back:
        return _back(history, missing=wrong)
    return Move(Step.CLOSE, result=Result.UNVERIFIED, note=last.note)


def _after_back(history: Sequence[Outcome], last: Outcome, policy: Policy) -> Move:
    """The predecessor is there again and knows what its successor got wrong: ask, seal and pass once more.

    Where the successor could not take over, it goes on itself.
    """
    before = history[-2]
    untaken = before.step is not Step.VERIFY or before.code == GONE
    if not last.ok and untaken:
        return Move(Step.CLOSE, result=Result.PENDING, note=f"{before.note}; {last.note}")
    if not last.ok:
        return Move(Step.CLOSE, result=Result.UNVERIFIED, note=last.note)
    if untaken or before.code == UNSERVED:
        return Move(Step.CLOSE, result=Result.POSTPONED, note=before.note)
    return Move(Step.SAFE_POINT)


def _after_close(history: Sequence[Outcome], last: Outcome, policy: Policy) -> Move | None:
    """Closing is retried as it was, until it is done."""
    if last.ok or _count(history, Step.CLOSE) >= policy.max_closes:
        return None
    return next_move([outcome for outcome in history if outcome.step is not Step.CLOSE], policy)


_NEXT = {
    Step.PREPARE: _after_prepare,
    Step.SAFE_POINT: _after_safe_point,
    Step.ASK: _after_ask,
    Step.AWAIT: _after_await,
    Step.CHECK: _after_check,
    Step.SEAL: _after_seal,
    Step.PASS: _after_pass,
    Step.PRIME: _after_prime,
    Step.VERIFY: _after_verify,
    Step.BACK: _after_back,
    Step.CLOSE: _after_close,
}
