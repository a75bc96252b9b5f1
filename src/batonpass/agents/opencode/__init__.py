"""opencode, as Baton drives it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from batonpass.agents.base import Binding, Box, Found, HookReport, Launch, LaunchOrder, Past, Status
from batonpass.agents.opencode import launch, record, status, wishes
from batonpass.agents.opencode import screen as display
from batonpass.agents.opencode.control import Control
from batonpass.agents.opencode.database import Rows, database
from batonpass.agents.opencode.limits import GUESS, Limits, from_files
from batonpass.agents.opencode.server import Server
from batonpass.agents.opencode.word import Word
from batonpass.agents.usual import Usual
from batonpass.agents.wishes import Wishes
from batonpass.terminals.base import Screen
from batonpass.transcripts.events import Event


class OpenCode(Usual):
    """The Agent protocol over opencode 1.18; see `batonpass.agents.base` for what each method promises."""

    name = "opencode"
    package: str | None = "opencode-ai"
    clear_command = "/new"
    memory_file = "AGENTS.md"
    asks = False  # it runs commands and edits unasked, unless its configuration says otherwise
    has_hooks = False
    starts_with_prompt = False
    says_waiting = False  # without its port it does not
    clears_with_prompt = True
    resumes_with_prompt = False  # it begins with the prompt only where no conversation is named
    primes_with_prompt = False  # its kick brings the handoff along
    paste_seconds = 0.0  # once its box shows the text
    clear_seconds = 0.0
    prime_parts = 1  # the kick brings the whole handoff along
    prime_cap = 60_000
    permit_tools: tuple[str, ...] = ()
    permit_path_at: tuple[str, ...] = ("metadata", "filepath")

    def __init__(self) -> None:
        self._word: Word | None = None
        self._files: dict[str, Limits] | None = None

    def launch(self, order: LaunchOrder) -> Launch:
        return launch.launch(order)

    def wishes(self, args: Sequence[str], model: str | None, mode: str | None) -> Wishes:
        return wishes.wishes(args, model, mode)

    def arguments(self, wanted: Wishes, models: Mapping[str, str]) -> tuple[str, ...]:
        return wishes.arguments(wanted, models)

    def reader(self) -> Callable[[bytes], Iterable[Event]]:
        """For conversations as `opencode export` writes them, a message on each line."""
        return record.parse

    def record(self, transcript: Path) -> Rows:
        return Rows(transcript, self._window_of)

    def report(self, payload: Mapping[str, object]) -> HookReport | None:
        """None: it runs no hooks."""
        return None

    def usable(self, window: int, env: Mapping[str, str], model: str | None = None) -> int:
        """What leaves room for an answer: there it compacts itself, right after the turn."""
        known = self._limits(model, env)
        return (known or Limits(window, GUESS.output)).usable(env)

    def window(self, model: str | None, env: Mapping[str, str]) -> int:
        return (self._limits(model, env) or GUESS).context

    def _limits(self, model: str | None, env: Mapping[str, str]) -> Limits | None:
        known = self._word.limits.get(model or "") if self._word is not None else None
        if known is None:
            self._files = from_files(env) if self._files is None else self._files
            known = self._files.get(model or "")
        return known

    def _window_of(self, model: str) -> int | None:
        """As its port tells it; what stands in files may be overruled by others."""
        known = self._word.limits.get(model) if self._word is not None else None
        return known.context if known else None

    def find(self, pid: int) -> Found | None:
        return status.find(pid, self._word if self._word is not None and self._word.pid == pid else None)

    def past(self, wanted: str, env: Mapping[str, str]) -> Past | None:
        return status.past(wanted, env)

    def status(self, binding: Binding) -> Status:
        return status.status(binding, self._listener(binding))

    def holds(self, binding: Binding) -> bool:
        """Once its port answers, and knows the conversation: it says which one is in front only when that changes."""
        word = self._listener(binding)
        return word is not None and word.answers and word.knows(binding.agent_session)

    def _listener(self, binding: Binding) -> Word | None:
        """Whoever listens to the process's port; another process has another port."""
        server = Server.of(binding.env)
        if server is None or binding.pid is None:
            return None
        if self._word is None or (self._word.server, self._word.pid) != (server, binding.pid):
            if self._word is not None:
                self._word.close()
            self._word = Word(server, binding.pid, binding.folder, lambda: self.wake())
            self._word.listen()
        return self._word

    def control(self, binding: Binding) -> Control | None:
        word = self._listener(binding)
        return Control(word, database(binding.env)) if word is not None and word.answers else None

    def answers(self, binding: Binding) -> bool | None:
        word = self._listener(binding)
        return None if word is None else word.answers or (False if word.silent else None)

    def state_files(self, binding: Binding) -> Sequence[Path]:
        return (Path(f"{database(binding.env)}-wal"),)

    def dialog(self, screen: Screen) -> str | None:
        return display.dialog(screen)

    def box(self, screen: Screen) -> Box:
        return display.box(screen)

    def abridges(self, shown: str, text: str) -> bool | None:
        return display.abridges(shown, text)

    def render_ask(self, text: str) -> str:
        return ""

    def render_prime(self, part: str) -> str:
        return ""

    def render_note(self, text: str) -> str:
        return ""

    def render_permit(self) -> str:
        return ""
