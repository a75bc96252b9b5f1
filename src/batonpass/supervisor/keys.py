"""Typing into a session, the last resort: only into a state that the agent itself reports."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from batonpass.agents.base import Agent, BoxState, Status
from batonpass.clock import Clock
from batonpass.session import State
from batonpass.supervisor.conversation import Conversation
from batonpass.supervisor.panes import Panes
from batonpass.supervisor.watch import TAKEN_SECONDS, Watch
from batonpass.terminals.base import PaneGone, TerminalError

_LOOK_SECONDS = 0.05
_SOON_SECONDS = 0.01
_CONFIRM_SECONDS = 1.0
_SENT_SECONDS = 0.8  # from a person's Enter to the agent's own word of it
_SHOWN_SECONDS = 6.0
_DRAWN_SECONDS = 0.5
_BUSY_SECONDS = 60.0  # how long a typed prompt may stand in the box of an agent that something else set to work
_ENTERS = 3
_ENOUGH = 12  # visible characters by which a part of a text is told
_POLITE_SECONDS = 60.0  # how long somebody may read in copy-mode before Baton leaves it for them


class NotReady(Exception):
    """Nothing was typed, or it was not sent; says why, for people. `code` is one of the plan's."""

    def __init__(self, code: str, why: str, box: str = "") -> None:
        super().__init__(why)
        self.code = code
        self.box = box  # the text that stands in the input box


GONE = "gone"
DIALOG = "dialog"
TEXT = "text"
BUSY = "busy"
MODE = "mode"
UNSENT = "unsent"
MOVED = "moved"


class Keys:
    """Types prompts into one terminal, each exactly once."""

    def __init__(self, terminal: Panes, clock: Clock, probe: Callable[[str], None] = lambda point: None) -> None:
        self._terminal = terminal
        self._clock = clock
        self._probe = probe

    async def obstacle(self, watch: Watch, *, working: bool = False) -> NotReady | None:
        """Why nothing may be typed now; None when the agent is idle, or `working`, at an empty box."""
        if watch.session.pane is not None:
            with suppress(TerminalError):  # told below, if it lasts
                watch.see_title((await self._terminal.info(watch.session.pane)).title)
        watch.refresh()
        if watch.gone or watch.session.pane is None:
            return NotReady(GONE, "the session has no living pane")
        if watch.status.state is State.DEAD:
            return NotReady(GONE, "the agent's process is gone")
        if watch.status.state is State.WAITING:
            return NotReady(DIALOG, f"the agent waits for a person: {watch.status.waiting_for or 'a dialog'}")
        if watch.left_for is not None:
            return moved()
        if not watch.idle() and not (working and watch.working()):
            return NotReady(BUSY, f"the agent says it is {watch.status.state}")
        return await self._look(watch)

    async def _look(self, watch: Watch) -> NotReady | None:
        """The screen may veto what the agent's word permits."""
        assert watch.session.pane is not None
        try:
            info = await self._terminal.info(watch.session.pane)
            if info.dead:
                return NotReady(GONE, "the agent's process is gone")
            if info.mode:
                return NotReady(MODE, f"somebody reads in the pane ({info.mode})")
            screen = await self._terminal.screen(watch.session.pane)
        except PaneGone:
            return NotReady(GONE, "the pane is gone")
        except TerminalError as error:
            return NotReady(BUSY, f"the terminal does not answer: {error}")
        dialog = watch.agent.dialog(screen)
        if dialog:
            return NotReady(DIALOG, f"the screen shows a dialog: {dialog}")
        box = watch.agent.box(screen)
        if box.state is BoxState.TEXT:
            return NotReady(TEXT, "somebody has typed text that is not sent", box.text)
        if box.state is BoxState.UNKNOWN:
            return NotReady(DIALOG, "the screen shows no input box")
        return None

    async def ready(
        self, watch: Watch, seconds: float, own: str | None = None, sent: str | None = None, *, working: bool = False
    ) -> bool:
        """Return when the session can be typed into; raises NotReady with the last obstacle after that time.

        True when the box holds `own`, a text of ours that could not be sent before; else it is empty. `sent` is one
        that we have just sent, and that may still be seen for a moment: nobody else has typed it. What is to be typed
        is meant for the conversation that is followed now: another one does not become ready for it. With `working` a
        turn may be under way: nothing is to be typed then, and only what a person has typed is waited for.
        """
        meant = watch.conversation
        deadline = self._clock.ticks() + seconds
        reading_since: float | None = None
        looked, typed_in = 0, False
        while True:
            obstacle = await self.obstacle(watch, working=working)
            if watch.conversation is not meant:
                raise moved()
            if obstacle is None and not typed_in:
                return False
            if obstacle is None:
                # Somebody has just sent or removed what stood in the box: the agent's word may lag behind.
                typed_in = False
                await self._clock.sleep(_SENT_SECONDS)
                continue
            if obstacle.code == TEXT and own is not None and await self.holds(watch, own):
                return True
            ours = sent is not None and shows_only(watch.agent, obstacle.box, sent)
            typed_in = typed_in or (obstacle.code == TEXT and not ours)
            now = self._clock.ticks()
            if obstacle.code == GONE or now >= deadline:
                raise obstacle
            if obstacle.code == MODE:
                reading_since = reading_since or now
                if now - reading_since >= min(_POLITE_SECONDS, seconds / 2):
                    await self._leave_mode(watch)
            # The agent's own word comes by an event. What the screen shows sends none, so it is looked at again:
            # soon at first, for a box that is just being drawn, and then now and then.
            looked += 1
            await watch.until(partial(_moved, watch, watch.status), min(0.25, _SOON_SECONDS * 2 ** min(looked, 6)))

    async def _leave_mode(self, watch: Watch) -> None:
        if watch.session.pane is not None:
            await self._terminal.leave_mode(watch.session.pane)

    async def take_back(self, watch: Watch, text: str) -> None:
        """Remove a text of ours that stands unsent, alone, in an idle agent's box."""
        if watch.session.pane is not None and await self.holds(watch, text):
            await self._terminal.press(watch.session.pane, "C-c")
            await self._clock.sleep(_SENT_SECONDS)

    async def holds(self, watch: Watch, text: str) -> bool:
        """Whether this very text stands unsent in an idle agent's box: typed before a crash, and not sent."""
        watch.refresh()
        if watch.session.pane is None or watch.gone or not watch.idle():
            return False
        try:
            screen = await self._terminal.screen(watch.session.pane)
        except TerminalError:
            return False
        return shows_only(watch.agent, watch.agent.box(screen).text, text)

    async def submit(
        self,
        watch: Watch,
        text: str,
        arrived: Callable[[], bool],
        *,
        pasted: bool = False,
        patient: bool = False,
        taken: float = TAKEN_SECONDS,
        entering: Callable[[], None] = lambda: None,
    ) -> bool:
        """Type text and Enter; True when `arrived` came true. Raises NotReady when it could not be typed.

        With `patient`, a turn that something else begins meanwhile (a background task that ended) is waited
        for, with the text in the box; not for a clear, which that turn may have made wrong. `taken` is how long
        to wait for the proof of a text that has left the box. `entering` is called right before the first Enter.
        The text is meant for the conversation that is followed at the call: once another one is in front, it is taken
        back and not sent.
        Call only right after `ready`, or with `pasted` after `holds`. False means that it was typed and no
        proof came: look before you try again.
        """
        pane, meant = watch.session.pane, watch.conversation
        assert pane is not None
        try:
            if not pasted:
                await self._terminal.paste(pane, text.strip())
                self._probe("keys:pasted")
            await self._wait_for_text(watch, text, meant, _BUSY_SECONDS if patient else 0.0)
            entering()
            for _ in range(_ENTERS):
                await self._terminal.press(pane, "Enter")
                self._probe("keys:entered")
                if await watch.until(arrived, _CONFIRM_SECONDS):
                    return True
                if not await self._stays_in_box(watch, text, arrived, _BUSY_SECONDS if patient else 0.0):
                    # The agent has taken it: however slow it is, another try would make it two.
                    return await watch.until(arrived, taken)
        except PaneGone as error:
            raise NotReady(GONE, "the pane is gone") from error
        except TerminalError as error:
            raise NotReady(UNSENT, f"the terminal refused: {error}") from error
        return arrived()

    async def _wait_for_text(self, watch: Watch, text: str, meant: Conversation, busy: float) -> None:
        """Wait until the box shows what was pasted, and only that: a person may have typed in between."""
        await self._clock.sleep(watch.agent.paste_seconds)
        deadline = self._clock.ticks() + _SHOWN_SECONDS
        while self._clock.ticks() < deadline:
            if await self._still_in_box(watch, text):
                watch.refresh()
                if watch.left_for is not None or watch.conversation is not meant:
                    await self.take_back(watch, text)
                    raise moved()
                if watch.agent.status(watch.binding).state is State.IDLE:
                    return
                watch.refresh()
                if not busy or not await watch.until(watch.idle, busy):
                    raise NotReady(UNSENT, "the agent became busy while Baton typed; the text stays in its box")
            # Drawn within a frame or two as a rule; a busy machine takes longer.
            soon = deadline - self._clock.ticks() > _SHOWN_SECONDS - _DRAWN_SECONDS
            await self._clock.sleep(_SOON_SECONDS if soon else _LOOK_SECONDS)
        raise NotReady(UNSENT, "the text did not appear alone in the input box, so it was not sent")

    async def _stays_in_box(self, watch: Watch, text: str, arrived: Callable[[], bool], busy: float) -> bool:
        """Whether an Enter was swallowed, so that another may follow; a busy machine is slow to take the text away."""
        await self._clock.sleep(watch.agent.paste_seconds)
        if not await self._still_in_box(watch, text):
            return False
        if watch.agent.status(watch.binding).state is State.IDLE:
            return await self._still_in_box(watch, text)
        watch.refresh()
        if not await watch.until(lambda: arrived() or watch.idle(), busy):
            raise NotReady(UNSENT, "the agent became busy while Baton typed; the text stays in its box")
        return not arrived() and await self._still_in_box(watch, text)

    async def _still_in_box(self, watch: Watch, text: str) -> bool:
        assert watch.session.pane is not None
        screen = await self._terminal.screen(watch.session.pane)
        if watch.agent.dialog(screen):
            return False
        box = watch.agent.box(screen)
        if box.state is not BoxState.TEXT:
            return False
        return shows_only(watch.agent, box.text, text)


def moved() -> NotReady:
    return NotReady(MOVED, "the agent says that another conversation is in front")


def _moved(watch: Watch, since: Status) -> bool:
    """Whether the agent's own word has changed."""
    return watch.status != since


def shows_only(agent: Agent, shown: str, text: str) -> bool:
    """Whether an input box holds this text and nothing else; a box may wrap it, scroll it or abridge it."""
    abridged = agent.abridges(shown.strip(), text.strip())
    if abridged is not None:
        return abridged
    seen, whole = "".join(shown.split()), "".join(text.split())
    return seen == whole or (len(seen) >= _ENOUGH and seen in whole)
