"""One turn of the scripted agent: from a prompt to the end, with tools, hooks, dialogs and faults."""

import os
import signal
from collections.abc import Callable, Mapping, Sequence

from batonpass.sim import agent_faults, agent_screen, agent_tools
from batonpass.sim.agent_faults import Faults
from batonpass.sim.agent_hooks import Hooks, Settings
from batonpass.sim.agent_loop import FileAppears, Pause, Wait, Work
from batonpass.sim.agent_options import Options, limit_of
from batonpass.sim.agent_record import new_id
from batonpass.sim.agent_screen import Screen
from batonpass.sim.agent_talk import Conversation
from batonpass.sim.agent_tools import Result, Shell
from batonpass.sim.brain import Brain, Reply, ToolUse

_STOP_BLOCKS = 8  # a stop hook that never lets go is overruled, as in real agents
_CONTROL = "\x1b]0;hijacked\x07\x1b[31mred\x1b[0m\x1b[5;5Hmoved\x1b[?25l\x1b[?25h\a"
_KINDS = {"rate_limit", "overloaded", "authentication", "too_long"}


class Interrupted(Exception):
    """The user stopped the turn."""


class Failure(Exception):
    """The model failed and the turn is over; `kind` as in transcripts.events.Failed."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Question(Wait):
    """A dialog: until the user has chosen. `chosen` is 0 for yes."""

    options = ("Yes", "No, Esc to cancel")

    def __init__(self, text: str, about: str) -> None:
        self.text = text
        self.about = about
        self.pointer = 0
        self.chosen: int | None = None

    def over(self) -> bool:
        return self.chosen is not None


def die_if(faults: Faults, at: str) -> None:
    """End at once and leave everything as it lies, when a fault wants that here."""
    if faults.strike("die", at=at):
        os.kill(os.getpid(), signal.SIGKILL)


class Turns:
    """Takes turns in a conversation. `talk` is exchanged when the conversation is cleared."""

    def __init__(
        self,
        options: Options,
        settings: Settings,
        screen: Screen,
        hooks: Hooks,
        faults: Faults,
        brain: Brain,
        talk: Conversation,
        responded: Callable[[], None],
        start_shell: Callable[[Shell], None],
    ) -> None:
        self.options, self.settings, self.screen, self.hooks = options, settings, screen, hooks
        self.faults, self.brain, self.talk = faults, brain, talk
        self._responded = responded
        self._start_shell = start_shell
        self.background: list[Shell] = []

    def take(self, text: str, origin: str, fixed: str | None = None) -> Work[None]:
        """A whole turn. With `fixed` the model is not asked: that is the answer, and `text` a command."""
        self.faults.turn += 1
        self.faults.reload()
        try:
            yield from self._begin(text, origin, command=fixed is not None)
            yield from self._answer(fixed)
            self.talk.record.add("turn_ended")
        except Interrupted:
            self.screen.spoken()
            self.screen.say("Interrupted", mark="  ⎿  ", colour=agent_screen.RED)
            self.talk.record.add("interrupted")
        except Failure as failure:
            self.screen.spoken()
            self.screen.say(str(failure), mark="  ⎿  ", colour=agent_screen.RED)
            self.talk.record.add("failed", kind=failure.kind, text=str(failure))
            yield from self.hooks.run("stop_failed", error=failure.kind, prompt_id=self.talk.prompt_id)

    def compact(self, trigger: str) -> Work[None]:
        """Forget the conversation, and be told again by the session-start hooks."""
        yield from self.hooks.run("compact", trigger=trigger)
        self.talk.compacted(trigger)
        self.screen.say("Conversation compacted", mark="✻ ", colour=agent_screen.GREY)
        yield from self.started("compact")

    def started(self, source: str) -> Work[None]:
        """Tell the hooks that a conversation begins; what they answer is its context."""
        answers = yield from self.hooks.run("session_start", source=source)
        self._told(answers, source)

    def _told(self, answers: Sequence[Mapping[str, object]], source: str) -> None:
        for answer in answers:
            context = answer.get("context")
            if isinstance(context, str) and context:
                self.talk.told(context, source)

    def _begin(self, text: str, origin: str, command: bool) -> Work[None]:
        prompt_id = new_id()
        self.screen.say(text, mark="❯ ", colour=agent_screen.YOURS if origin == "human" else agent_screen.GREY)
        if command:
            self.talk.prompt_id = prompt_id
            self.talk.record.add("command", text=text, prompt_id=prompt_id)
        else:
            self.talk.prompted(text, origin, prompt_id)
        die_if(self.faults, "prompt")
        answers = yield from self.hooks.run("prompt", prompt=text, prompt_id=prompt_id, origin=origin)
        self._told(answers, "prompt")
        yield from self._misbehave()

    def _misbehave(self) -> Work[None]:
        if fault := self.faults.strike("control"):
            self.screen.raw(agent_faults.text(fault, "text", _CONTROL))
        if fault := self.faults.strike("background"):
            command = agent_faults.text(fault, "command")
            self._start_shell(Shell(command or "cat", until_clear=not command))
        if fault := self.faults.strike("hang"):
            until = agent_faults.text(fault, "until")
            yield FileAppears(until) if until else Pause(agent_faults.seconds(fault))
        if self.faults.strike("dialog", at="turn"):
            question = Question("Do you want to go on?", "permission prompt")
            yield question
            if question.chosen:
                raise Interrupted

    def _answer(self, fixed: str | None) -> Work[None]:
        for block in range(_STOP_BLOCKS + 1):
            if fixed is not None and block == 0:
                yield from self._speak(Reply(text=fixed), new_id(), counted=False)
            else:
                yield from self._work()
            die_if(self.faults, "before_stop")
            reason = yield from self._stop(continued=block > 0)
            die_if(self.faults, "after_stop")
            if reason is None or block == _STOP_BLOCKS:
                return
            text = f"Stop hook feedback:\n{reason}"
            self.screen.say(reason, mark="❯ ", colour=agent_screen.GREY)
            self.talk.prompted(text, "hook", self.talk.prompt_id)

    def _stop(self, continued: bool) -> Work[str | None]:
        answers = yield from self.hooks.run(
            "stop",
            prompt_id=self.talk.prompt_id,
            last_message=self.talk.last_message,
            continued=continued,
            background=[shell.described() for shell in self.background],
        )
        for answer in answers:
            if answer.get("decision") == "block" and isinstance(answer.get("reason"), str):
                return str(answer["reason"])
        return None

    def _work(self) -> Work[None]:
        """Ask the model until it calls no more tools."""
        results: tuple[str, ...] = ()
        while True:
            reply = yield from self._reply(results)
            message_id = "msg_" + new_id()[:8]
            yield from self._speak(reply, message_id)
            if not reply.tools:
                return
            results = ()
            for tool in reply.tools:
                result = yield from self._use(tool)
                results = (*results, result.text)

    def _reply(self, results: tuple[str, ...]) -> Work[Reply]:
        """The model's next response. Raises Failure when there is none."""
        full = (self.talk.used or 0) >= limit_of(self.options.window, self.options.compact)
        if full and not self.options.compact:
            raise Failure("too_long", "Context limit reached · /clear to continue")
        if full:
            yield from self.compact("auto")
        reply = self.brain.reply(self.talk.asked(results))
        if fault := self.faults.strike("api_error", at="tool" if results else "prompt"):
            told = agent_faults.text(fault, "text", "")
            reply = Reply(told, error=agent_faults.text(fault, "error", "overloaded"))
        if reply.error == "too_long" and self.options.compact and self.talk.used is not None:
            yield from self.compact("auto")
            reply = self.brain.reply(self.talk.asked(results))
        if reply.delay:
            yield Pause(reply.delay)
        if reply.error == "cut_mid":
            half = Reply(text=reply.text[: len(reply.text) // 2])
            yield from self._speak(half, "msg_" + new_id()[:8], counted=False)
        if reply.error:
            kind = reply.error if reply.error in _KINDS else "other"
            told = reply.text if kind != "other" else ""
            raise Failure(kind, f"API Error: {told or reply.error.replace('_', ' ')}")
        return reply

    def _speak(self, reply: Reply, message_id: str, counted: bool = True) -> Work[None]:
        shown = ""
        try:
            for piece in _pieces(reply.text, reply.chunks):
                if shown and reply.chunk_delay:
                    yield Pause(reply.chunk_delay)
                shown += piece
                self.screen.speak(piece)
        finally:
            self.screen.spoken()
            self.talk.said(shown, message_id)
        if counted:
            self.talk.grew(reply.used, reply.output, self.options.model, message_id)
        self._responded()

    def _use(self, tool: ToolUse) -> Work[Result]:
        call_id = "call_" + new_id()[:8]
        self.talk.record.add("tool_called", call_id=call_id, tool=tool.name, arguments=dict(tool.arguments))
        subject = str(tool.arguments.get("path") or tool.arguments.get("command") or "")
        bullet = f"{agent_screen.GREEN}●{agent_screen.RESET} "
        self.screen.say(f"{tool.name.capitalize()}({subject})", mark=bullet, colour=agent_screen.BOLD)
        die_if(self.faults, "tool")
        try:
            result = yield from self._run(tool)
        except Interrupted:
            self.talk.record.add("tool_returned", call_id=call_id, ok=False, text="The user rejected this.")
            raise
        first = result.text.split("\n", 1)[0]
        self.screen.say(first, mark="  ⎿  ", colour=agent_screen.GREY if result.ok else agent_screen.RED)
        self.talk.record.add("tool_returned", call_id=call_id, ok=result.ok, text=result.text)
        yield from self.hooks.run("tool", tool=tool.name, input=dict(tool.arguments), ok=result.ok)
        return result

    def _run(self, tool: ToolUse) -> Work[Result]:
        if tool.name == "write":
            path = os.path.abspath(str(tool.arguments.get("path", "")))
            if not (yield from self._may_write(path, tool.arguments)):
                return Result(False, f"Permission to write {path} was denied.")
            return agent_tools.write(path, tool.arguments, self.settings, self.faults)
        if tool.name != "shell":
            return Result(False, f"Error: there is no tool called {tool.name}")
        command = str(tool.arguments.get("command", ""))
        if tool.arguments.get("background"):
            shell = Shell(command)
            self._start_shell(shell)
            return Result(True, f"Command running in background with ID: {shell.id}")
        return (yield from agent_tools.shell(command))

    def _may_write(self, path: str, arguments: Mapping[str, object]) -> Work[bool]:
        """By rule, by hook, or by the user, who ends the turn by saying no."""
        decided = agent_tools.verdict(self.options.permission_mode, self.settings.allows(path))
        if decided != "ask":
            return decided == "yes"
        given = {**arguments, "path": path}
        answers = yield from self.hooks.run("permission", tool="write", input=given)
        if any(answer.get("allow") is True for answer in answers):
            return True
        shown = os.path.relpath(path) if path.startswith(os.getcwd() + os.sep) else path
        question = Question(f"Do you want to create {shown}?", "permission prompt")
        yield question
        if question.chosen:
            raise Interrupted
        return True


def _pieces(text: str, chunks: int) -> list[str]:
    """The text in about `chunks` parts, cut between words; all of it together is the text again."""
    words = text.split(" ")
    size = max(1, -(-len(words) // max(1, chunks)))
    parts = [" ".join(words[start : start + size]) for start in range(0, len(words), size)]
    return [part + " " for part in parts[:-1]] + parts[-1:]
