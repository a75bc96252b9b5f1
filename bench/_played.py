"""A corpus played on the real Claude Code: prompts by keys, tools for real, and what reached the model afterwards."""

import contextlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from _common import SOURCE, end, environment
from _place import Failed, Place, _clear_away, program, wait

from batonpass.agents.base import Binding
from batonpass.agents.claude.status import status
from batonpass.home import socket_path
from batonpass.session import State
from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.brain import Reply
from batonpass.sim.corpus import Corpus
from batonpass.sim.corpus_acted import begun
from batonpass.sim.corpus_player import BARE_ASK, BARE_PATH, Manner, Player
from batonpass.sim.model_wire import Kind
from batonpass.sim.rehearsal import claude_environment
from batonpass.sim.tmux_server import start_server
from batonpass.store import CycleRecord, default_url, open_store

# An agent that waits for its sub-agents calls itself busy: what needs an idle one is not waited for in full here.
_CONFIG = "notify:\n  desktop: false\ntimeouts:\n  ask: 40\n  safe_point: 15\n  pass: 30\n"
_OPTIONS = (
    "--model", "claude-sonnet-4-6", "--permission-mode", "acceptEdits", "--allowedTools=Bash,Agent,Read",
)  # fmt: skip
_TURN_SECONDS = 60.0
_CYCLE_SECONDS = 240.0
_SUMMARY = "<analysis></analysis><summary>The work goes on.</summary>"
_WAITS = "Waiting for "
_QUIET_SECONDS = 5.0
_GO_ON = "Please go on with it."


class Stage:
    """One live Claude Code on one corpus, with the model that it talks to."""

    def __init__(self, place: Place, model: AnthropicModel, player: Player, requests: Path) -> None:
        self.place, self.model, self.player, self._requests = place, model, player, requests
        self.pane, self._pid = "", 0

    def show(self, pane: str) -> None:
        self.pane = pane
        self._pid = int(self.place.tmux("display-message", "-p", "-t", pane, "#{pane_pid}"))

    def play(self) -> None:
        """Every turn of the corpus, each when the one before is over."""
        for number, turn in enumerate(self.player.turns, 1):
            self.say(turn.prompt)
            self._until(partial(self._answered, number), f"the end of turn {number}")

    def say(self, text: str) -> None:
        self.rest()
        self.place.say(self.pane, text)

    def command(self, text: str, done: Callable[[], bool]) -> None:
        """Give a prompt or a command, with another Enter if the first was swallowed, until it shows."""
        self.say(text)

        def look() -> bool | None:
            if done():
                return True
            self.place.send_again(self.pane)
            return None

        self._until(look, f"what {text} does")

    @property
    def conversation(self) -> str | None:
        """The agent's own name for the conversation that it shows."""
        return status(self._binding).agent_session

    @property
    def _binding(self) -> Binding:
        return Binding(self._pid, None, None, self.place.project, self.place.env)

    def rest(self) -> None:
        """Until the agent says that it is idle; while sub-agents run it says busy: then until it is quiet."""

        def rests() -> bool:
            state = status(self._binding).state
            asked = self.model.requests[-1].at if self.model.requests else 0.0
            quiet = _WAITS in self._screen() or time.time() - asked > _QUIET_SECONDS
            return state is State.IDLE or (state is State.BUSY and quiet)

        self._until(lambda: rests() or None, "an idle agent")

    def _until(self, look: Callable[[], bool | None], what: str) -> None:
        try:
            wait(look, what, _TURN_SECONDS)
        except Failed as failure:
            raise Failed(f"{failure}\n{self._screen()}") from None

    def _screen(self) -> str:
        return self.place.tmux("capture-pane", "-p", "-t", self.pane)

    def body(self, number: int) -> str:
        """All that a request said to the model, whoever put it there; its tools are not among it."""
        raw = json.loads((self._requests / f"{number:04d}-main.json").read_bytes())
        return "\n".join(_strings([raw.get("system") or [], raw["messages"]]))

    def first_request(self, session: str) -> int:
        return self.model.wait_for(lambda one: one.kind is Kind.MAIN and one.session == session).number

    def _answered(self, number: int) -> bool | None:
        if self.player.wait(number, 0.2):
            return True
        self.place.send_again(self.pane)
        return None


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    elif isinstance(value, dict):
        for key in ("text", "content", "thinking", "input"):
            yield from _strings(value.get(key))
        if value.get("type") is None:  # the arguments of a call
            for each in value.values():
                yield from _strings(each)


@contextlib.contextmanager
def stage(corpus: Corpus, manner: Manner, *, full: bool) -> Iterator[Stage]:
    """A place of its own with the corpus's project in it; all that runs there ends with it."""
    root = Path(tempfile.mkdtemp(prefix="bk-", dir="/tmp"))
    project = begun(corpus, root / "project")
    player = Player(corpus, project, manner, **({} if full else {"full": None}))
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    quiet = environment(TERM="tmux-256color", PYTHONPATH=str(SOURCE), PATH=tools)
    with AnthropicModel(player, record_dir=root / "requests") as model:
        # Sub-agents that are to wait are answered when the session is over; others at once.
        model.script(Reply("…", delay=900, used=9_000), match="wait for more", kind=Kind.SUB, times=50)
        env = claude_environment(root / "user", project, model.url, env=quiet)
        env |= {"BATON_CLAUDE": program("claude") or "claude", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        here = Place("claude", root, project, str(root / "tmux"), env)
        start_server(here.socket)
        try:
            yield Stage(here, model, player, root / "requests")
        finally:
            model.stopping.set()
            _clear_away(here)


def handed_over(corpus: Corpus, manner: Manner) -> tuple[str, str]:
    """What the successor's first request says, and the sealed document, of a session under Baton."""
    with stage(corpus, manner, full=True) as live, _daemon(live.place) as env:
        started = json.loads(_baton(live.place, env, "run", "claude", "--detach", "--json", "--", *_OPTIONS))
        live.show(started["pane"])
        live.play()
        cycle = _cycle(live, env, started["session"])
        if cycle.new_agent_session is None or cycle.document is None:
            raise Failed(f"The cycle of the {manner} agent ended as {cycle.state}: {cycle.note}.")
        number = live.first_request(cycle.new_agent_session)
        return live.body(number), cycle.document.read_text(encoding="utf-8")


def _cycle(live: Stage, env: dict[str, str], session: str) -> CycleRecord:
    store = open_store(default_url(Path(env["BATON_HOME"])))

    def ended() -> CycleRecord | None:
        return next((cycle for cycle in store.cycles(session=session) if cycle.ended), None)

    try:
        return wait(ended, "the end of the handoff", _CYCLE_SECONDS)
    except Failed as failure:
        steps = [f"{s.step} {s.attempt} {s.state}: {s.note}" for c in store.cycles() for s in store.steps(c.id)]
        raise Failed(
            "\n".join([str(failure), *steps, live.place.tmux("capture-pane", "-p", "-t", live.pane)])
        ) from None
    finally:
        store.close()


def without_baton(corpus: Corpus) -> tuple[str, str]:
    """What a request says after the agent's own compaction, and after 001's prompts, on one session without Baton."""
    with stage(corpus, Manner.COOPERATIVE, full=False) as live:
        program = str(live.place.env["BATON_CLAUDE"])
        argv = ["env", "-i", *(f"{key}={value}" for key, value in live.place.env.items()), program, *_OPTIONS]
        size = ("-x", "160", "-y", "50")
        shown = ("new-session", "-d", *size, "-P", "-F", "#{pane_id}", "-c", str(live.place.project), "--")
        live.show(live.place.tmux(*shown, shlex.join(["exec", *argv])))
        live.play()
        return _compacted(live), _by_bare_prompt(live)


def _compacted(live: Stage) -> str:
    """The agent's own compaction, with a summary that tells nothing: what is left is what its program keeps."""
    live.model.script(Reply(_SUMMARY, used=400), kind=Kind.COMPACT, times=9)
    live.command("/compact", lambda: any(one.kind is Kind.COMPACT for one in live.model.requests))
    live.rest()
    seen = len(live.model.requests)
    live.command(_GO_ON, lambda: any(one.text == _GO_ON for one in live.model.requests[seen:]))
    after = live.model.wait_for(lambda one: one.kind is Kind.MAIN and one.text == _GO_ON, _TURN_SECONDS)
    return live.body(after.number)


def _by_bare_prompt(live: Stage) -> str:
    path = live.place.project / BARE_PATH
    live.command(BARE_ASK, path.exists)
    live.rest()
    before = live.conversation
    live.command("/clear", lambda: live.conversation not in (before, None))
    read = f"Read handoff from {path} and resume work"
    live.command(read, lambda: any(one.text == read for one in live.model.requests))
    # The document stands in the second request of that turn: the first one asks for the file.
    answered = lambda one: one.kind is Kind.MAIN and one.text == read and _asks_twice(one.messages)  # noqa: E731
    return live.body(live.model.wait_for(answered, _TURN_SECONDS).number)


def _asks_twice(messages: list[tuple[str, str]]) -> bool:
    return any(role == "assistant" for role, _ in messages)


@contextlib.contextmanager
def _daemon(place: Place) -> Iterator[dict[str, str]]:
    """Baton's daemon for this place; the environment that commands need to reach it."""
    home = place.root / "home"
    home.mkdir(mode=0o700)
    (home / "config.yaml").write_text(_CONFIG, encoding="utf-8")
    env = {**place.env, "BATON_HOME": str(home), "BATON_TMUX": place.socket}
    argv = [sys.executable, "-m", "batonpass._entry", "daemon", "run"]
    with open(place.root / "daemon.log", "wb") as log:
        daemon = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        wait(lambda: os.path.exists(socket_path(str(home))) or None, "a daemon that answers")
        yield env
    finally:
        with contextlib.suppress(OSError):
            (home / "run" / "stopped").touch()  # or the hooks of a dying agent would start it again
        end(daemon.pid)
        daemon.wait()


def _baton(place: Place, env: dict[str, str], *words: str) -> str:
    argv = [sys.executable, "-m", "batonpass._entry", *words]
    done = subprocess.run(argv, cwd=place.project, env=env, capture_output=True, text=True, timeout=90, check=False)
    if done.returncode:
        raise Failed(f"baton {words[0]} said: {done.stderr or done.stdout}")
    return done.stdout
