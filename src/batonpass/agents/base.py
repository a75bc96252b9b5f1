"""The agent protocol: everything Baton must know of a coding-agent CLI, behind one seam.

A new agent is one new module with a class that satisfies `Agent`, and its name in `agents/__init__.py`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from batonpass.agents.setbacks import TriesAgain
from batonpass.agents.wishes import Approval, Wishes
from batonpass.reading import Reading
from batonpass.session import State
from batonpass.terminals.base import Screen
from batonpass.transcripts.events import Event, Failed
from batonpass.transcripts.record import Record


class LaunchError(Exception):
    """The agent cannot be started as asked; the text says what to change."""


class NotInstalled(LaunchError):
    """The agent's program is not on the machine; the text says how to get it."""


class FrontUnknown(Exception):
    """An agent runs there, and which of its conversations is in front cannot be told; says why, and what to do."""


@dataclass(frozen=True, slots=True)
class LaunchOrder:
    """What is asked for when a session is started, restarted or brought back."""

    session: str  # Baton's id
    folder: Path  # the session's private folder (0700), for files that the launch needs
    project: Path
    args: tuple[str, ...]  # the user's own arguments
    env: Mapping[str, str]  # the user's environment
    draft_dir: Path  # the one place in the project where the agent may write without asking
    hook: tuple[str, ...]  # argv prefix of the hook command; see HOOK ROLES below
    statusline: tuple[str, ...]  # argv of the status line command
    kick: str | None = None  # first prompt, given on the command line
    resume: str | None = None  # the agent's own session id to bring back
    model: str | None = None  # as last reported; passed again on every restart
    permission_mode: str | None = None
    approval: Approval | None = None  # in place of what the arguments say of it; a mode that was switched to since wins


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start it: the program with its arguments, and its whole environment."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    agent_session: str | None  # known before the start where the agent lets us choose it
    transcript: Path | None
    chained_statusline: str | None = None  # the user's own status line command, run by ours
    notice: str | None = None  # what the user should know of how it is started, in one sentence


# HOOK ROLES: an adapter configures its agent to run `*order.hook, ROLE [PART]` with the payload on stdin:
#   event     report and exit; no answer
#   ask       at the end of a turn: waits for the daemon, then prints the pending ask, if any
#   prime N   at the start of a conversation: prints part N (from 1) of the sealed handoff, if one is due;
#             part 1 also reports the event
#   compact   before the agent shortens its conversation itself: reports, and waits for the daemon, which lays out the
#             `prime` for the start that follows; no answer
#   note      at a user's prompt: reports, and prints a remark that is to ride on it, if any
#   permit    a permission request: prints the allow answer if it is for the draft path, else nothing
# What they print was rendered before by the adapter (`render_*`), so that the hook itself knows no agent.


class HookKind(StrEnum):
    SESSION_START = "session_start"
    SESSION_END = "session_end"
    PROMPT = "prompt"
    STOP = "stop"
    STOP_FAILED = "stop_failed"
    TOOL = "tool"
    PERMISSION = "permission"
    COMPACT = "compact"
    NOTIFICATION = "notification"
    SUBAGENT_START = "subagent_start"
    SUBAGENT_STOP = "subagent_stop"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class BackgroundTask:
    """Work that goes on without the main conversation: a shell, a sub-agent."""

    id: str
    kind: str
    state: str
    description: str


@dataclass(frozen=True, slots=True)
class HookReport:
    """A hook's payload, normalised. `foreign` marks sub-agents and forks, which are not the conversation."""

    kind: HookKind
    agent_session: str
    transcript: Path | None = None
    foreign: bool = False
    source: str | None = None  # of a session start: startup, clear, resume, compact; of an end: its reason
    prompt: str | None = None
    prompt_id: str | None = None
    last_message: str | None = None
    continued: bool = False  # a stop that follows a hook's own ask
    background: tuple[BackgroundTask, ...] | None = None
    tool: str | None = None
    error: str | None = None
    model: str | None = None
    permission_mode: str | None = None
    handoff_requested: str | None = None  # the user's /handoff, with its arguments


@dataclass(frozen=True, slots=True)
class Status:
    """What the agent itself says of its state, and of the conversation that is in front."""

    state: State
    agent_session: str | None = None
    since: float | None = None
    waiting_for: str | None = None
    background: bool = False  # idle, with work in the background
    tries_again: TriesAgain | None = None  # busy, and not served: it waits to ask its provider again by itself


class BoxState(StrEnum):
    EMPTY = "empty"
    TEXT = "text"  # a person has typed something that was not sent
    UNKNOWN = "unknown"  # no input box in sight: a dialog, a picker, another view


@dataclass(frozen=True, slots=True)
class Box:
    state: BoxState
    text: str = ""


@dataclass(frozen=True, slots=True)
class Binding:
    """Where a live session's own files are found."""

    pid: int | None
    agent_session: str | None
    transcript: Path | None
    folder: Path  # the session's private folder
    env: Mapping[str, str] = field(default_factory=dict)
    title: str = ""  # of its window, by which some agents tell their state,
    title_since: float = 0.0  # when it was first seen,
    title_at: float = 0.0  # and last


@dataclass(frozen=True, slots=True)
class Found:
    """A running agent that Baton did not start."""

    pid: int
    agent_session: str | None
    transcript: Path | None
    env: Mapping[str, str] = field(default_factory=dict)
    notice: str | None = None  # what cannot be had of it because of how it was started, in one sentence


@dataclass(frozen=True, slots=True)
class Past:
    """A conversation that is on record, whether or not it was ever watched."""

    agent_session: str
    transcript: Path
    folder: Path  # where it worked
    pid: int | None = None  # the process in which it still goes on
    perhaps: int | None = None  # one that may have it open, where nobody can tell which one it has


class ControlError(Exception):
    """The agent's own interface did not do as asked, as far as can be told; says why, for people."""


class Control(Protocol):
    """An agent's own interface for driving it, in place of typing.

    Every call ends within seconds, or raises ControlError; what was asked for may have happened all the same, so
    look into the record before it is asked for again.
    """

    async def submit(self, agent_session: str, prompt: str) -> None:
        """Give a prompt to a conversation, as its user would; what stands unsent in the input box stays there."""
        ...

    async def fresh(self, after: str | None) -> str:
        """Begin a conversation with the model and mode of that one, and bring it to the front; gives its id."""
        ...

    async def back(self, agent_session: str) -> None:
        """Bring an earlier conversation to the front."""
        ...


@dataclass(frozen=True, slots=True)
class HooksOff:
    """Why an agent would not run hooks, and what puts that right."""

    found: str
    mend: str


class Agent(Protocol):
    """One coding-agent CLI. Methods are quick and never raise on an agent's malformed output."""

    name: str
    clear_command: str  # what a person types to start a new conversation in place
    memory_file: str  # in a project: what the agent loads into every conversation, hook or no hook
    package: str | None  # what npm installs it by; None for one that comes with Baton
    asks: bool  # whether by its own default it asks before it changes anything
    has_hooks: bool  # whether it can be told to run hooks; without them record, control and keys do all
    starts_with_prompt: bool  # its session-start hook comes with the first prompt; until then `status` names it
    says_waiting: bool  # `status` tells that it waits in a dialog; else the screen is looked at
    clears_with_prompt: bool  # what a typed clear begins has no id before its first prompt
    primes_with_prompt: bool  # after a clear, context reaches its model only beside the first prompt
    wake: Callable[[], None]  # to be called, from any thread, when it says of itself what none of its files shows
    resumes_with_prompt: bool  # a prompt on the command line of a resume is heard after what was said before

    def launch(self, order: LaunchOrder) -> Launch:
        """Write what the launch needs into order.folder and say how to start. Raises NotInstalled."""
        ...

    def hooks_off(self, env: Mapping[str, str], project: Path) -> HooksOff | None:
        """What keeps it from running hooks there, in its own settings; None when nothing does."""
        ...

    def wishes(self, args: Sequence[str], model: str | None, mode: str | None) -> Wishes:
        """What a user wants who started it with these arguments; model and permission mode as they are now."""
        ...

    def arguments(self, wanted: Wishes, models: Mapping[str, str]) -> tuple[str, ...]:
        """The arguments that mean the same here. `models` names the user's model for each size, where there is one."""
        ...

    def reader(self) -> Callable[[bytes], Iterable[Event]]:
        """What turns the lines of one transcript, in order, into events; each transcript needs its own.

        It gives nothing for lines that do not matter or are torn, and may be led through the file again from its start.
        """
        ...

    def record(self, transcript: Path) -> Record:
        """What follows one transcript from its start: a Tail, where it is a file of lines."""
        ...

    def report(self, payload: Mapping[str, object]) -> HookReport | None:
        """A hook's payload; None when it says nothing to us."""
        ...

    def statusline(self, payload: Mapping[str, object], at: float, env: Mapping[str, str]) -> Reading | None:
        """A reading from a status line payload; None when it carries none."""
        ...

    def screen_reading(self, screen: Screen, at: float, agent_session: str) -> Reading | None:
        """A reading from text on the screen, where the agent shows one."""
        ...

    def usable(self, window: int, env: Mapping[str, str], model: str | None = None) -> int:
        """The number of tokens at which this agent compacts itself or stops."""
        ...

    def window(self, model: str | None, env: Mapping[str, str]) -> int:
        """The window to assume for a model while the agent has not said it."""
        ...

    def find(self, pid: int) -> Found | None:
        """This agent, if it runs as that process or below it; None when it does not. Raises FrontUnknown."""
        ...

    def past(self, wanted: str, env: Mapping[str, str]) -> Past | None:
        """A conversation by its id, or by the path of its transcript; None when this agent has none such."""
        ...

    def status(self, binding: Binding) -> Status:
        """State by the agent's own word (a file, an API); UNKNOWN when it has none."""
        ...

    def holds(self, binding: Binding) -> bool:
        """Whether the process itself has the bound conversation open, by its own word; that it is on record is none."""
        ...

    def control(self, binding: Binding) -> Control | None:
        """Its own interface, where it has one that answers now; None when prompts can only be typed."""
        ...

    def state_files(self, binding: Binding) -> Sequence[Path]:
        """Files whose change means that `status` may answer differently now; of a folder, any file in it."""
        ...

    def tend(self, binding: Binding) -> Sequence[str]:
        """Put right what the agent leaves behind that would do harm; asked for every second or so, and at its end.

        Gives what a person should know of it, in sentences. Raises OSError.
        """
        ...

    def answers(self, binding: Binding) -> bool | None:
        """Whether the interface by which it was to be driven answers; None where it has none or may just be slow."""
        ...

    def restarts(self, status: int | None, binding: Binding) -> bool:
        """Whether a process that ended with this status did so only to be started again, with its conversation."""
        ...

    def leftovers(self, binding: Binding) -> Sequence[int]:
        """Processes of its own, besides the pane's, that may go on when the pane's has ended."""
        ...

    def dialog(self, screen: Screen) -> str | None:
        """What dialog the screen shows, in a few words; None when it shows none. May veto, never permit."""
        ...

    def refused(self, screen: Screen, at: float) -> Failed | None:
        """What a dialog says of a provider that does not serve the agent; None where it shows none such.

        No key is pressed for that: should another agent go on, the process is ended at its dialog.
        """
        ...

    def box(self, screen: Screen) -> Box: ...

    def abridges(self, shown: str, text: str) -> bool | None:
        """Whether what its box shows is its placeholder for this pasted text; None when it is no placeholder."""
        ...

    def render_ask(self, text: str) -> str:
        """What the `ask` hook prints so that the agent goes on with `text` in the same turn."""
        ...

    def render_prime(self, part: str) -> str: ...

    def render_note(self, text: str) -> str:
        """What the `note` hook prints so that `text` stands beside the user's prompt."""
        ...

    def render_permit(self) -> str: ...

    paste_seconds: float  # the pause that it needs at least between a paste and its Enter
    clear_seconds: float  # how long after a clear its box may still lose what is typed
    prime_parts: int  # how many `prime` hooks it registers
    prime_cap: int  # characters that fit into one part
    permit_tools: tuple[str, ...]  # tools whose permission request may be answered
    permit_path_at: tuple[str, ...]  # where the path, or a patch, stands in a permission payload
    permit_patches: bool  # whether a patch stands there: one text about all files that are to be changed
