"""New processes in a session's pane, and the way back to the predecessor."""

import logging
from pathlib import Path

from batonpass import agents
from batonpass.agents.base import Agent, Control, ControlError, LaunchError
from batonpass.cycle.case import Case
from batonpass.cycle.giving import give, give_resumed
from batonpass.cycle.moves import GONE, NOT_CLEARED, NOT_SEEN, Move, Outcome, Step
from batonpass.delivery import Channel, Delivery, DeliveryState, tag
from batonpass.handoff import prompts
from batonpass.supervisor.coming_back import Came, came_back
from batonpass.supervisor.keys import NotReady
from batonpass.supervisor.orders import Successor
from batonpass.terminals.base import TerminalError

log = logging.getLogger(__name__)

STARTED_SECONDS = 120.0  # some agents need ten seconds of work to start, and a busy machine has none to spare
_SHOWN_SECONDS = 8.0


async def start_anew(
    case: Case, label: str, given: Delivery | None, resume: str | None = None, to: Successor | None = None
) -> str | None:
    """Replace the process in the pane, once for each label; a prompt for the command line is on its command line.

    With `to`, by another agent, which the session then has.

    None when it runs; else why not. After a crash it looks first: a second process would hear the prompt twice.
    """
    if was_started(case, label):
        if await case.stage.launcher.replaced(case.watch, _replaced_pid(case)):
            if to is not None and to.agent != case.watch.session.agent:  # it was started, and then we crashed
                case.watch.become(agents.get(to.agent))
                case.stage.store.save_session(case.watch.session)
            return None
    else:
        if given is not None:
            case.stage.store.save_delivery(given)
        case.remember(started={"label": label, "pid": case.watch.session.pid})
    try:
        kick = given.text if given is not None and given.channel is Channel.ARGV else None
        await case.stage.launcher.respawn(case.watch, kick=kick, resume=resume, to=to)
        if to is not None:
            case.stage.store.save_session(case.watch.session)  # before it says its first word
    except (TerminalError, LaunchError, OSError) as error:
        return str(error)
    case.stage.probe("pass:started")
    return None


def was_started(case: Case, label: str) -> bool:
    """Whether this start was begun before: the process in the pane may be its own."""
    noted = case.recall("started")
    return isinstance(noted, dict) and noted.get("label") == label


def _replaced_pid(case: Case) -> int | None:
    """The process that the last start was to replace."""
    noted = case.recall("started")
    pid = noted.get("pid") if isinstance(noted, dict) else None
    return pid if isinstance(pid, int) else None


async def bind_anew(case: Case) -> None:
    """Follow the process that was started before a crash: the session may still be bound to the one it replaced."""
    pid = _replaced_pid(case)
    if case.watch.gone and pid is not None and case.watch.session.pid == pid:
        try:
            await case.stage.launcher.replaced(case.watch, pid)
        except TerminalError as error:
            log.debug("the pane of %s cannot be asked: %s", case.watch.session.name, error)


async def bring_back(case: Case, move: Move) -> Outcome:
    """Resume the predecessor by its own id, with what went wrong and what its successor changed meanwhile."""
    old, watch = case.cycle.old_agent_session, case.watch
    if old is None:
        return Outcome(Step.BACK, GONE, "the predecessor's conversation is not known")
    mark = tag(case.cycle.id, "back", move.attempt)
    if case.recall("back_at") is None:
        now = case.stage.clock.now()
        case.remember(back_at=now, round_began=now)
    case.stage.offers(watch).unprime(["clear", "startup"])
    switched = _predecessor(case)
    if case.recall("silent"):
        return await _bring_back_unasked(case, move, old, switched)
    control = case.agent.control(watch.binding) if switched is None and not watch.gone else None
    channel = _channel(agents.get(switched.agent) if switched else case.agent, control)
    given = case.stage.store.delivery(mark) or Delivery(
        tag=mark,
        session=watch.session.id,
        cycle=case.cycle.id,
        step="back",
        attempt=move.attempt,
        channel=channel,
        state=DeliveryState.SENT if channel is Channel.ARGV else DeliveryState.OFFERED,
        text=case.clean(await _word(case, mark, move)),
        offered=case.stage.clock.now(),
    )
    if given.channel is Channel.API:
        failed = await _show_again(case, old, given)
    else:
        failed = await start_anew(case, f"back {move.attempt}", given, resume=old, to=switched)
    if not failed and given.channel is Channel.KEYS:
        _bind(case, old)
        untold = await give_resumed(case.stage, watch, given, old, STARTED_SECONDS)
        failed = untold.why if untold else None
    if failed:
        return Outcome(Step.BACK, NOT_CLEARED, f"the predecessor could not be brought back: {failed}")
    await watch.until(lambda: watch.conversation.prompted(mark) is not None or watch.gone, STARTED_SECONDS)
    if watch.conversation.prompted(mark) is not None and watch.conversation.agent_session == old:
        return Outcome(Step.BACK, note="the predecessor is back")
    return Outcome(Step.BACK, NOT_SEEN, "the predecessor did not come back")


async def _bring_back_unasked(case: Case, move: Move, old: str, to: Successor | None) -> Outcome:
    """Resume a predecessor that its provider does not serve: it is told nothing, for it could not answer."""
    failed = await start_anew(case, f"back {move.attempt}", None, resume=old, to=to)
    if failed:
        return Outcome(Step.BACK, NOT_CLEARED, f"the predecessor could not be brought back: {failed}")
    watch = case.watch
    _bind(case, old)
    watch.read()  # what its provider said last is acted on
    if await came_back(watch, STARTED_SECONDS) in (Came.ENDED, Came.SILENT):
        words = await case.stage.launcher.last_words(watch)
        note = "the predecessor did not come back"
        return Outcome(Step.BACK, NOT_SEEN, case.clean(f"{note}; its last words: {words}" if words else note))
    case.stage.store.save_session(watch.session)
    return Outcome(Step.BACK, note="the predecessor is back")


def _bind(case: Case, old: str) -> None:
    """Follow the conversation that the process was started with: it may name it only with its next prompt."""
    if case.watch.conversation.agent_session != old:
        noted = case.recall("transcript")
        case.watch.begin(old, Path(str(noted)) if noted else None, "resume", case.stage.clock.now())


def _channel(agent: Agent, control: Control | None) -> Channel:
    """How the predecessor is told: by its own interface where it has one, else as it is started, or once it runs."""
    if control is not None:
        return Channel.API
    return Channel.ARGV if agent.resumes_with_prompt else Channel.KEYS


async def _word(case: Case, mark: str, move: Move) -> str:
    """What it is told first; a move with a note is one that leaves the work with it."""
    changed = await _changed_since(case)
    return prompts.stay(mark, move.note, changed) if move.note else prompts.back(mark, move.missing, changed)


async def _show_again(case: Case, old: str, given: Delivery) -> str | None:
    """Bring the old conversation to the front of the process that runs, and give it the prompt; else why not."""
    watch, control = case.watch, case.agent.control(case.watch.binding)
    case.stage.store.save_delivery(given)
    try:
        await case.stage.keys.ready(watch, case.config.timeouts.pass_)  # what a person has typed would be lost
        if control is None:
            return "its own interface does not answer any more"
        await control.back(old)
        watch.refresh()
        if not await watch.until(lambda: watch.conversation.agent_session == old, _SHOWN_SECONDS):
            return "its own interface did not show it"
        await give(case.stage, watch, given, lambda: watch.conversation.prompted(given.tag) is not None, 0.0)
    except (ControlError, NotReady) as error:
        return str(error)
    return None


def _predecessor(case: Case) -> Successor | None:
    """Who held the old conversation, if it was somebody else."""
    noted = case.recall("switched")
    if not isinstance(noted, dict):
        return None
    return Successor(str(noted.get("agent")))


async def _changed_since(case: Case) -> list[str]:
    """What git shows now that it did not show when the handoff was sealed, and what it showed and was written since."""
    facts = await case.facts()
    if facts.git is None:
        return []
    known = case.recall("dirty")
    before = set(known) if isinstance(known, list) else set()
    sealed = float(str(case.recall("sealed_at") or case.cycle.started))
    root, commits = case.project.root, facts.git.session_commits or facts.git.commits
    changed = [c for c in facts.git.changes if c.path not in before or _written_since(root / c.path, sealed)]
    files = [f"{change.path} ({change.state})" for change in changed]
    return files + [f"commit {commit.id[:12]}: {commit.subject}" for commit in commits if commit.at > sealed]


def _written_since(file: Path, at: float) -> bool:
    """Whether a file that was changed before was changed again; one that cannot be looked at was not."""
    try:
        return file.lstat().st_mtime > at
    except OSError:
        return False
