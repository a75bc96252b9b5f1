"""The step that makes the successor prove that it has understood."""

from batonpass.cycle import receipt
from batonpass.cycle.case import Case
from batonpass.cycle.heir import catch_up, gone
from batonpass.cycle.moves import REJECTED, Move, Outcome, Step
from batonpass.cycle.priming import heard
from batonpass.cycle.refusal import held_up, refusal, settles
from batonpass.cycle.sealed import text_of
from batonpass.delivery import tag
from batonpass.facts import Change, GitFacts
from batonpass.handoff.markdown import parse


async def verify(case: Case, move: Move) -> Outcome:
    """Compare the successor's own statement with the handoff."""
    watch = case.watch
    await catch_up(case)
    watch.read()
    mark = heard(case, watch.conversation, move.attempt) or tag(case.cycle.id, "kick", move.attempt)
    index = watch.conversation.prompted(mark)
    since = watch.conversation.log[index].at if index is not None else case.stage.clock.now()

    def statement() -> dict[str, object] | None:
        # At the end of the turn its stop hook brings the last message, often before the record has it.
        for text in (*watch.conversation.said_after(mark), watch.last_message(mark, since)):
            found = receipt.find(text)
            if found is not None:
                return found
        return None

    def settled() -> bool:
        moved = watch.conversation.prompted(mark) is None  # the user has cleared it away: it is kicked again
        return watch.gone or moved or statement() is not None or watch.turn_over(mark, since) or held_up(case)

    await settles(case, settled)
    if statement() is None:
        await watch.until(lambda: statement() is not None, 1.0)  # the record lags behind the stop hook
    found = statement()
    if found is None and watch.gone:
        refusal(case, mark)  # it may have died of that, and who did not serve is noted
        return gone(case, Step.VERIFY, "the successor died before its receipt")
    if found is None and (refused := refusal(case, mark)) is not None:
        return refused
    if found is None:
        problems: tuple[str, ...] = ("the answer does not begin with the receipt",)
    else:
        document = parse(text_of(case))  # the successor may have changed the file: it is its own by now
        problems = receipt.verify(found, receipt.expected(document, _git_at_seal(case)), case.cycle.id)
    if problems:
        return Outcome(Step.VERIFY, REJECTED, "; ".join(problems), {"problems": list(problems)})
    return Outcome(Step.VERIFY, note="receipt accepted", data={"receipt": found or {}})


def _git_at_seal(case: Case) -> GitFacts | None:
    """The branch and the changed files that the handoff speaks of; the successor may have gone on since."""
    dirty, branch = case.recall("dirty"), case.recall("branch")
    if not isinstance(dirty, list):
        return None
    changes = tuple(Change(str(path), "changed") for path in dirty)
    return GitFacts(branch=str(branch) if branch else None, head=None, changes=changes)
