"""The steps that lead to the agent's document: prepare, safe point, ask, await, check.

Every step looks before it acts, so that one that was cut off can simply be run again.
"""

import asyncio
import logging
from collections.abc import Coroutine
from pathlib import Path

from batonpass import checkpoint
from batonpass.cycle.case import Case
from batonpass.cycle.giving import channel_of, give
from batonpass.cycle.giving import obstacle as obstacle_to
from batonpass.cycle.moves import (
    GAPS,
    GONE,
    MOVED,
    NO_DOCUMENT,
    NO_SAFE_POINT,
    NOT_SEEN,
    UNCLAIMED,
    Move,
    Outcome,
    Step,
)
from batonpass.delivery import Channel, Delivery, DeliveryState, tag
from batonpass.disk import make_inside, read_document, stay_inside, write_once, write_private
from batonpass.facts import Facts
from batonpass.facts.git import read_operation
from batonpass.handoff import prompts
from batonpass.handoff.check import Gap
from batonpass.handoff.check import check as compare
from batonpass.handoff.document import Handoff
from batonpass.handoff.draft import from_facts
from batonpass.handoff.markdown import NotAHandoff, parse
from batonpass.handoff.prime import parts
from batonpass.handoff.redact import patterns
from batonpass.handoff.seal import seal
from batonpass.store import StoreAway
from batonpass.supervisor.keys import DIALOG, NotReady
from batonpass.supervisor.watch import Watch

log = logging.getLogger(__name__)

ELSEWHERE = "the user went on in another conversation, which is left alone"
_UNCLAIMED_SECONDS = 1.5  # an idle session whose stop hook has not taken the ask by then will not take it
_NET_SECONDS = 1.0  # an agent that was just asked has the machine to itself for so long, before the net is laid out
_RECENT_SECONDS = 5.0  # a file that changed since the last look is still found by the check
_LAG_SECONDS = 1.0  # the record may lag behind the stop hook


async def prepare(case: Case, move: Move) -> Outcome:
    """Facts, a checkpoint and a draft from facts alone: whatever happens next, this much is kept.

    An agent that can be asked at once is asked first, and the rest is done while it writes; one that writes at once
    needs no draft, and its checkpoint is made with the seal.
    """
    case.watch.read()
    facts = await case.facts()
    missing = list(facts.missing)
    at_once = case.watch.holding_stop or (case.watch.idle() and channel_of(case.watch) is Channel.API)
    if not at_once:
        missing += await keep(case, facts)
    code = GONE if case.watch.gone else "ok"
    return Outcome(Step.PREPARE, code, "; ".join(missing), {"files": list(prompts.changed_files(facts))})


async def keep(case: Case, facts: Facts | None = None, *, draft: bool = True) -> list[str]:
    """A checkpoint and a draft from facts alone, once in a cycle; gives what could not be written."""
    if case.recall("kept"):
        return []
    try:
        facts = facts or await case.facts(max_age=_RECENT_SECONDS)
    except Exception as error:
        return [_unkept("checkpoint", error)]
    missing: list[str] = []
    meta = case.meta(0, None, case.stage.clock.now())
    directory = case.watch.session.project / case.config.checkpoint_dir
    path: Path | None = None
    try:
        stay_inside(case.watch.session.project, directory)
        path = await asyncio.to_thread(
            checkpoint.write, facts, meta, directory, allow=patterns(case.config.redact_allow)
        )
    except Exception as error:  # a net for the handoff must not be what keeps it from being made
        missing.append(_unkept("checkpoint", error))
    try:
        if draft:
            await draft_from_facts(case, facts)
    except Exception as error:
        missing.append(_unkept("draft", error))
    case.remember(kept=True, checkpoint=str(path) if path else None)
    if path:
        case.stage.store.add_event(
            "CHECKPOINT_CREATED", case.stage.clock.now(), case.watch.session.id, case.cycle.id, {"path": str(path)}
        )
    return missing


def _unkept(what: str, error: Exception) -> str:
    """The sentence for what could not be kept. A store that is away is no reason: what it cuts off is done again."""
    if isinstance(error, StoreAway):
        raise error
    if not isinstance(error, OSError):
        log.error("no %s could be written", what, exc_info=error)
    return f"no {what} could be written: {error}"


async def draft_from_facts(case: Case, facts: Facts) -> None:
    """A handoff from facts alone; should the agent compact itself now, its context is primed from it again."""
    meta = case.meta(0, None, case.stage.clock.now())
    text = await asyncio.to_thread(lambda: seal(from_facts(facts, meta), allow=patterns(case.config.redact_allow)).text)
    path = case.watch.folder / "draft.md"
    write_private(path, text)
    laid = parts(text, path, case.agent.prime_cap, case.agent.prime_parts)
    case.stage.offers(case.watch).prime(["compact"], laid)


async def safe_point(case: Case, move: Move) -> Outcome:
    """The end of a running turn is the safe point of its stop hook; else wait until keys may be typed."""
    watch, clock = case.watch, case.stage.clock
    deadline = clock.ticks() + case.config.timeouts.safe_point
    told = False
    while True:
        watch.refresh()
        if watch.gone:
            return Outcome(Step.SAFE_POINT, GONE, "the agent is gone")
        if case.elsewhere:
            return Outcome(Step.SAFE_POINT, MOVED, ELSEWHERE)
        if watch.hooks_seen and watch.working():
            return Outcome(Step.SAFE_POINT, data={"channel": Channel.HOOK})
        channel = channel_of(watch)
        obstacle = await obstacle_to(case.stage, watch, channel) or await _git_under_way(case)
        if obstacle is None:
            return Outcome(Step.SAFE_POINT, data={"channel": channel})
        if obstacle.code == GONE:
            return Outcome(Step.SAFE_POINT, GONE, str(obstacle))
        if clock.ticks() >= deadline and obstacle.code == MOVED:
            return Outcome(Step.SAFE_POINT, MOVED, ELSEWHERE)
        if clock.ticks() >= deadline:
            return Outcome(Step.SAFE_POINT, NO_SAFE_POINT, str(obstacle))
        if not watch.holding_stop:
            await keep(case)  # nobody waits for us any more, and this may take a while
        if obstacle.code == DIALOG and not told:
            told = True
            await case.stage.notify(watch.session.id, f"handoff waits: {obstacle}")
        await watch.until(lambda: watch.holding_stop or watch.gone, 0.25)


async def _git_under_way(case: Case) -> NotReady | None:
    operation = await asyncio.to_thread(read_operation, case.project.root)
    return NotReady("git", f"git is in the middle of something: {operation}") if operation else None


async def ask(case: Case, move: Move) -> Outcome:
    """Have the agent write the document to the draft path; delivered once its own record shows the request."""
    mark = tag(case.cycle.id, "ask", move.attempt)
    watch, store = case.watch, case.stage.store
    if case.cycle.deadline is None or case.recall("deadline_round") != case.since:
        case.set_deadline()
    if watch.conversation.prompted(mark) is not None:
        return Outcome(Step.ASK, data={"tag": mark})
    if case.elsewhere:
        return Outcome(Step.ASK, MOVED, ELSEWHERE)
    given = store.delivery(mark) or await _offer(case, move, mark)
    if given is None:
        return Outcome(Step.ASK, MOVED, ELSEWHERE)
    if given.state is DeliveryState.WITHDRAWN:
        return Outcome(Step.ASK, UNCLAIMED, "the offer was withdrawn")
    if given.channel is Channel.HOOK:
        outcome = await _by_hook(case, given)
    else:
        outcome = await _given(case, given, Step.ASK)
    return outcome


async def _offer(case: Case, move: Move, mark: str) -> Delivery | None:
    """Write the request down before anything is sent, with the one channel that it will take.

    None when the user went to another conversation while the facts for it were gathered.
    """
    watch = case.watch
    draft = case.draft(move.attempt)
    make_inside(watch.session.project, draft.parent)
    write_once(draft.parent.parent / ".gitignore", "*\n")  # drafts are nobody's change
    facts = await case.facts(max_age=_RECENT_SECONDS)
    changed = prompts.changed_files(facts)
    percent = case.cycle.percent
    if move.missing and (gaps := await gaps_of(case)):
        text = prompts.missing(mark, draft, gaps, changed=changed)
    else:
        text = prompts.ask(mark, draft, percent=percent, changed=changed, template=case.config.prompts.ask)
    text = case.clean(text)
    watch.refresh()
    if case.elsewhere:
        return None
    by_hook = watch.hooks_seen > 0 and watch.working()
    channel = Channel.HOOK if by_hook else channel_of(watch)
    given = Delivery(
        mark, watch.session.id, case.cycle.id, "ask", move.attempt, channel, DeliveryState.OFFERED, text,
        case.stage.clock.now(),
    )  # fmt: skip
    case.remember(draft=str(draft), ask_tag=mark)
    case.stage.store.save_delivery(given)
    case.stage.probe("ask:written")
    offers = case.stage.offers(watch)
    offers.permit(draft.parent)
    if channel is Channel.HOOK:
        offers.forget_ask(watch.conversation.agent_session)
        offers.ask(watch.conversation.agent_session, text)
        watch.changed()
    case.stage.store.add_event(
        "CONTEXT_DUMP_REQUESTED", given.offered, watch.session.id, case.cycle.id, {"channel": channel, "tag": mark}
    )
    case.stage.probe("ask:offered")
    return given


async def _by_hook(case: Case, given: Delivery) -> Outcome:
    """Wait for the stop hook to take it; a turn that ends without its hook (Esc, an error) gives it back."""
    watch, offers, clock = case.watch, case.stage.offers(case.watch), case.stage.clock
    conversation = watch.conversation
    idle_since: float | None = None
    missing: list[str] = []

    def arrived() -> bool:
        return conversation.prompted(given.tag) is not None

    if not await watch.until(lambda: arrived() or watch.gone, _NET_SECONDS):
        missing = await keep(case)
    while not arrived():
        watch.refresh()
        now = clock.ticks()
        if offers.asked(conversation.agent_session):
            if await watch.records(arrived):
                break
            return Outcome(Step.ASK, GONE if watch.gone else NOT_SEEN, "the hook took the request; no record shows it")
        idle_since = (idle_since or now) if watch.idle() else None
        lost = watch.gone or watch.conversation is not conversation
        if lost or case.left <= 0 or (idle_since is not None and now - idle_since >= _UNCLAIMED_SECONDS):
            if offers.withdraw_ask(conversation.agent_session):
                case.stage.store.save_delivery(given.become(DeliveryState.WITHDRAWN, clock.now()))
                return Outcome(Step.ASK, GONE if watch.gone else UNCLAIMED, "the turn ended without its hook")
            continue
        await watch.until(lambda: arrived() or watch.gone, 0.3)
    return Outcome(Step.ASK, note="; ".join(missing), data={"tag": given.tag, "channel": given.channel})


async def _given(case: Case, given: Delivery, step: Step) -> Outcome:
    """Give it when the agent is idle; after a crash, finish what was begun before."""
    conversation = case.watch.conversation
    seconds = max(1.0, case.left)

    def arrived() -> bool:
        return conversation.prompted(given.tag) is not None

    giving = give(case.stage, case.watch, given, arrived, min(seconds, case.config.timeouts.safe_point))
    try:
        seen = await _above_a_net(case, giving)
    except NotReady as obstacle:
        case.stage.store.save_delivery(given.become(DeliveryState.WITHDRAWN, case.stage.clock.now()))
        if case.elsewhere:
            return Outcome(step, MOVED, ELSEWHERE)
        return Outcome(step, GONE if obstacle.code == GONE else NOT_SEEN, str(obstacle))
    if not seen:
        return Outcome(step, NOT_SEEN, "the request was given, but the agent's record does not show it")
    return Outcome(step, data={"tag": given.tag, "channel": given.channel})


async def _above_a_net(case: Case, giving: Coroutine[None, None, bool]) -> bool:
    """Its result; checkpoint and draft are laid out meanwhile if it is not there soon and nobody did that yet."""
    work = asyncio.ensure_future(giving)
    work.add_done_callback(lambda _: case.watch.changed())
    try:
        if not await case.watch.until(work.done, _NET_SECONDS):
            try:
                await keep(case)
            except StoreAway:
                await work  # nothing is left half typed; whether it arrived is looked at when this is made anew
                raise
        return await work
    finally:
        work.cancel()


async def wait(case: Case, move: Move) -> Outcome:
    """The draft exists and the turn has ended; or the document stands in the agent's last message."""
    watch = case.watch
    mark, draft = str(case.recall("ask_tag")), Path(str(case.recall("draft")))
    index = watch.conversation.prompted(mark)
    since = watch.conversation.log[index].at if index is not None else case.cycle.started

    def over() -> bool:
        return watch.gone or case.elsewhere or watch.turn_over(mark, since)

    missing: list[str] = []
    if not await watch.until(over, _NET_SECONDS):
        missing = await keep(case)
    ended = await watch.until(over, max(1.0, case.left))
    if not draft.exists():
        await watch.until(lambda: draft.exists() or _document_said(watch, mark) is not None, _LAG_SECONDS)
    if draft.exists():
        return Outcome(Step.AWAIT, note="; ".join(missing), data={"from": "file"})
    said = _document_said(watch, mark)
    if said is not None:
        make_inside(watch.session.project, draft.parent)
        write_private(draft, case.clean(said))
        return Outcome(Step.AWAIT, note="; ".join(missing), data={"from": "message"})
    if watch.gone:
        return Outcome(Step.AWAIT, GONE, "the agent went away before it wrote")
    why = "the turn ended without a document" if ended else "no document before the deadline"
    return Outcome(Step.AWAIT, NO_DOCUMENT, why)


def _document_said(watch: Watch, mark: str) -> str | None:
    watch.read()
    texts = watch.conversation.said_after(mark)
    if watch.stops and watch.stops[-1].last_message:
        texts = [*texts, watch.stops[-1].last_message]
    for text in ("\n".join(texts), *reversed(texts)):
        document = prompts.document_from_message(text)
        if document is not None:
            return document
    return None


async def gaps_of(case: Case) -> tuple[Gap, ...]:
    """What the agent's last document lacks, measured against what a machine knows now."""
    path = Path(str(case.recall("draft")))
    facts = await case.facts()
    return compare(read_draft(path), facts, is_own=case.project.is_baton_file)


def read_draft(path: Path) -> Handoff | None:
    """The document in a draft; None when there is none, or nothing that reads as one."""
    try:
        return parse(read_document(path))
    except (OSError, NotAHandoff):
        return None


async def check(case: Case, move: Move) -> Outcome:
    draft = Path(str(case.recall("draft")))
    if read_draft(draft) is not None:
        # A copy of our own: the draft lies in the project, where anybody may delete it before the seal.
        kept = case.watch.folder / "document.md"
        write_private(kept, read_document(draft))
        case.remember(document=str(kept))
    gaps = await gaps_of(case)
    messages = [gap.message for gap in gaps]
    return Outcome(Step.CHECK, GAPS if gaps else "ok", "; ".join(messages[:6]), {"gaps": messages})
