"""What most agents have in common: a class inherits it and says only what is different."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from batonpass.agents import hook_wire
from batonpass.agents.base import Binding, Control, HooksOff, Status
from batonpass.reading import Reading
from batonpass.session import State
from batonpass.terminals.base import Screen
from batonpass.transcripts.events import Event, Failed
from batonpass.transcripts.record import Record
from batonpass.transcripts.tail import Tail

_LIVES = (State.IDLE, State.BUSY, State.WAITING)


class Usual:
    """An agent with a file of lines for its record, no interface of its own, and nothing that needs tending."""

    resumes_with_prompt = True

    asks = True

    permit_patches = False

    wake: Callable[[], None] = staticmethod(lambda: None)

    def reader(self) -> Callable[[bytes], Iterable[Event]]:
        raise NotImplementedError

    def record(self, transcript: Path) -> Record:
        return Tail(transcript, self.reader())

    def hooks_off(self, env: Mapping[str, str], project: Path) -> HooksOff | None:
        return None

    def statusline(self, payload: Mapping[str, object], at: float, env: Mapping[str, str]) -> Reading | None:
        """None: it runs no status line command."""
        return None

    def screen_reading(self, screen: Screen, at: float, agent_session: str) -> Reading | None:
        """None: its record tells the usage exactly."""
        return None

    def status(self, binding: Binding) -> Status:
        raise NotImplementedError

    def refused(self, screen: Screen, at: float) -> Failed | None:
        """None: its record tells, and no dialog."""
        return None

    def holds(self, binding: Binding) -> bool:
        said = self.status(binding)
        return said.state in _LIVES and said.agent_session == binding.agent_session

    def control(self, binding: Binding) -> Control | None:
        return None

    def answers(self, binding: Binding) -> bool | None:
        return None

    def tend(self, binding: Binding) -> Sequence[str]:
        """Nothing to do: it leaves nothing behind that would do harm."""
        return ()

    def restarts(self, status: int | None, binding: Binding) -> bool:
        return False

    def leftovers(self, binding: Binding) -> Sequence[int]:
        return ()


class HookAnswers:
    """Answers in the form that Claude Code made and others took over; `prompt_event` is its event of a prompt."""

    prompt_event = "UserPromptSubmit"

    def render_ask(self, text: str) -> str:
        return hook_wire.ask(text)

    def render_prime(self, part: str) -> str:
        return hook_wire.context("SessionStart", part)

    def render_note(self, text: str) -> str:
        return hook_wire.context(self.prompt_event, text)

    def render_permit(self) -> str:
        return hook_wire.permit()
