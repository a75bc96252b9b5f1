"""Everything that goes wrong in a soak: agents that misbehave, and a person who is there now and then."""

import contextlib
import heapq
import itertools
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from _crew import Crew
from _judge import CLEARED_BY_HAND, story_of, transcripts
from tests.system.house import Refused, Session

from batonpass.sim.tmux_server import run_tmux, server_pid

Fault = dict[str, object]

# Bad writers and wrong receipts are a matter of character: these sessions are like that at every handoff.
CHARACTERS = (
    "silent", "careless", "garbage", "wrong_path", "message_instead", "no_receipt", "parrot", "wrong_branch",
    "compacts",
)  # fmt: skip
TIMEOUTS = "timeouts:\n  safe_point: 45\n  ask: 60\n"  # shorter than somebody may be busy
_PAST_DEADLINE = (65.0, 80.0)
_DEATHS = ("prompt", "tool", "before_stop", "after_stop", "clear")
_HOOKS = ("stop", "session_start", "session_end", "prompt", "tool")
_ERRORS = ("overloaded", "rate_limit", "cut_mid", "server")
_SAYS = ("please look at the cursor as well", "keep the public names", "what is left to do?", "go on, please")


def character(kind: str, chance: random.Random) -> Fault:
    """What makes an agent's brain like that."""
    if kind == "compacts":  # what it writes for Baton takes it over its own limit, in the handoff's own turn
        return {"handoff_step": 25_000}
    return {"faults": [kind], "fault_attempts": chance.randint(1, 2)}


def faults(chance: random.Random) -> Fault:
    """One fault of a random kind."""
    kinds: list[Fault] = [
        {"fault": "hang", "seconds": round(chance.uniform(3, 15), 1)},
        {"fault": "hang", "seconds": round(chance.uniform(*_PAST_DEADLINE), 1)},
        {"fault": "drop_enter"},
        {"fault": "ignore_clear"},
        {"fault": "dialog", "at": "turn"},
        {"fault": "die", "at": chance.choice(_DEATHS)},
        {"fault": "api_error", "error": chance.choice(_ERRORS)},
        {"fault": "lose_hook", "hook": chance.choice(_HOOKS)},
        {"fault": "background", **chance.choice([{}, {"command": "exec sleep 4"}])},
        {"fault": "handoff_never"},
        {"fault": "handoff_garbage"},
        {"fault": "handoff_deleted"},
        {"fault": "control"},
    ]
    return chance.choice(kinds)


class Trouble:
    """Call `tick` about once a second. `struck` and `done` count what happened, by kind."""

    def __init__(self, house: Crew, chance: random.Random, pace: float) -> None:
        self._house, self._chance, self._pace = house, chance, pace
        self.struck: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self._armed: dict[str, tuple[str, Path]] = {}
        self._numbers = itertools.count(1)
        self._later: list[tuple[float, int, str, Callable[[], None]]] = []
        self._attended: set[str] = set()  # sessions in which the person is about to do something
        self._since: dict[str, tuple[str, float]] = {}
        self._statuses: dict[str, Mapping[str, Any]] = {}
        self._closed: set[str] = set()  # sessions whose pane the person has closed

    def tick(self) -> None:
        """Let faults strike, and do what a person would do now."""
        self._note_struck()
        for session in self._house.members:
            if session.id not in self._armed and self._chance.random() < 1 / self._pace:
                self._arm(session)
        if self._chance.random() < len(self._house.members) / (3 * self._pace):
            self._wander(self._chance.choice(self._house.members))
        if self._chance.random() < len(self._house.members) / (4 * self._pace):
            self._meddle()
        self.attend(chatty=True)

    def attend(self, *, chatty: bool = False) -> None:
        """What a person does who means well: answer dialogs, bring back what died; if chatty, set idlers to work."""
        self._due()
        with contextlib.suppress(OSError, Refused):
            self._statuses = {status["session"]: status for status in self._house.statuses()}
            for session in self._house.members:
                self._look_after(session, self._statuses[session.id], chatty)
        time.sleep(0.5)

    def end(self) -> None:
        """No more faults; whatever the person has begun is ended."""
        self._note_struck()
        for session in self._house.members:
            session.misbehave()
        while self._later:
            self._do()

    # -- faults ------------------------------------------------------------------------------------

    def _arm(self, session: Session) -> None:
        fault, mark = faults(self._chance), self._house.folder / f"struck-{next(self._numbers)}"
        session.misbehave({**fault, "once": str(mark)})
        self._armed[session.id] = (_kind(fault), mark)

    def _note_struck(self) -> None:
        for session, (kind, mark) in list(self._armed.items()):
            if mark.exists():
                self.struck[kind] += 1
                del self._armed[session]

    # -- the person --------------------------------------------------------------------------------

    def _after(self, seconds: tuple[float, float], session: Session, act: Callable[[], None]) -> None:
        self._attended.add(session.id)
        due = time.monotonic() + self._chance.uniform(*seconds)
        heapq.heappush(self._later, (due, next(self._numbers), session.id, act))

    def _due(self) -> None:
        while self._later and self._later[0][0] <= time.monotonic():
            self._do()

    def _do(self) -> None:
        _, _, session, act = heapq.heappop(self._later)
        self._attended.discard(session)
        with contextlib.suppress(OSError, Refused):
            act()

    def _look_after(self, session: Session, status: Mapping[str, Any], chatty: bool) -> None:
        state = str(status["state"])
        before, since = self._since.get(session.id, ("", 0.0))
        if before != state or (status["cycle"] and state != "waiting"):
            self._since[session.id] = (state, time.monotonic())
        elif session.id in self._attended:
            return
        elif state == "waiting":
            self._after((2, 10), session, lambda: self._answer(session))
        elif state == "dead":
            self._after((1, 5), session, lambda: self._bring_back(session))
        elif state == "idle" and chatty and time.monotonic() - since > self._pace / 2:
            self._say(session, "go on, please")

    def _answer(self, session: Session) -> None:
        if session.status["state"] == "waiting":
            session.press("Enter")
            self.done["dialogs answered"] += 1

    def _bring_back(self, session: Session) -> None:
        if session.status["state"] != "dead":
            return
        if session.id in self._closed:
            (found,) = self._house.call("restore", sessions=[session.id])
            if found["how"] == "left":
                return  # a handoff of it is under way; the person tries again
            self._closed.discard(session.id)
            session.id = found.get("successor", session.id)  # one that could not be resumed goes on in another
            session.adopt({**session.status, "agent_session": session.first})
            self.done["closed panes restored"] += 1
        else:
            self._house.call("handoff", session=session.id, why="the agent died")
            self.done["dead sessions brought back"] += 1

    def _wander(self, session: Session) -> None:
        """Something that people do without thinking of Baton."""
        if session.id in self._attended:
            return
        self._chance.choice((self._prompt, self._leave_unsent, self._scroll, self._put_to_sleep))(session)

    def _meddle(self) -> None:
        """Something that a person does to a session, in the middle of a handoff if there is one."""
        free = [one for one in self._house.members if one.id not in self._attended | self._closed]
        passing = [one for one in free if self._statuses.get(one.id, {}).get("cycle")]
        if not free:
            return
        acts = (self._clear, self._resume, self._kill_agent, self._close_pane, self._delete, self._commit)
        with contextlib.suppress(OSError, Refused):
            self._chance.choice(acts)(self._chance.choice(passing or free))

    def _clear(self, session: Session) -> None:
        session.keys(CLEARED_BY_HAND)
        self._after((0.3, 0.8), session, lambda: session.press("Enter"))
        self.done["clears"] += 1

    def _resume(self, session: Session) -> None:
        """Go back to the conversation before the one that is in front."""
        told = story_of(transcripts(self._house), str(session.project)).starts
        earlier = [start.conversation for start in told if start.conversation != told[-1].conversation]
        if earlier:
            session.keys(f"/resume {earlier[-1]}")
            self._after((0.3, 0.8), session, lambda: session.press("Enter"))
            self.done["resumes"] += 1

    def _kill_agent(self, session: Session) -> None:
        pid = session.status["pid"]
        if pid and _signalled(pid, signal.SIGKILL):
            self.done["agents killed"] += 1

    def _close_pane(self, session: Session) -> None:
        self._closed.add(session.id)
        run_tmux(self._house.tmux, "kill-pane", "-t", session.pane)
        self.done["panes closed"] += 1

    def _delete(self, session: Session) -> None:
        """The draft or the sealed handoff of the cycle under way; the judge is to see that it was there."""
        paths = list((session.project / ".baton" / "drafts" / session.id).glob("*.md"))
        cycles = [cycle for cycle in self._house.cycles(session.id) if cycle["state"] == "running"]
        paths += [Path(cycle["document"]) for cycle in cycles if cycle["document"]]
        for path in paths:
            kept = self._house.folder / f"deleted-{next(self._numbers)}"
            path.rename(kept)
            self._house.deleted[path] = kept
            self.done["handoffs deleted"] += 1

    def _commit(self, session: Session) -> None:
        """Git is in the middle of a commit for a while: somebody writes its message."""
        lock = session.project / ".git" / "index.lock"
        lock.touch(exist_ok=False)
        self._after((3, 15), session, lambda: lock.unlink(missing_ok=True))
        self.done["commits under way"] += 1

    def _prompt(self, session: Session) -> None:
        self._say(session, self._chance.choice(_SAYS))

    def _say(self, session: Session, text: str) -> None:
        session.keys(text)
        self._after((0.3, 0.8), session, lambda: session.press("Enter"))
        self.done["prompts"] += 1

    def _leave_unsent(self, session: Session) -> None:
        session.keys("half a thou")
        self._after((3, 15), session, lambda: session.press("C-u"))
        self.done["unsent texts"] += 1

    def _scroll(self, session: Session) -> None:
        run_tmux(self._house.tmux, "copy-mode", "-t", session.pane)
        leave = ("send-keys", "-t", session.pane, "-X", "cancel")
        self._after((3, 15), session, lambda: _quietly(self._house.tmux, leave))
        self.done["scrolls"] += 1

    def _put_to_sleep(self, session: Session) -> None:
        """The laptop is closed for a while: agents, daemon and tmux, which would wake up what runs in its panes."""
        with contextlib.suppress(OSError, Refused):
            agents = [status["pid"] for status in self._house.statuses() if status["state"] not in ("dead", "ended")]
            pids = [pid for pid in (server_pid(self._house.tmux), *agents, self._house.daemon_pid()) if pid]
            stopped = [pid for pid in pids if _signalled(pid, signal.SIGSTOP)]
            time.sleep(self._chance.uniform(1, 4))
            for pid in reversed(stopped):
                _signalled(pid, signal.SIGCONT)
            self.done["sleeps"] += 1


def _kind(fault: Mapping[str, Any]) -> str:
    return "busy_past_deadline" if fault.get("seconds", 0.0) >= _PAST_DEADLINE[0] else str(fault["fault"])


def _signalled(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def _quietly(tmux: str, words: tuple[str, ...]) -> None:
    run_tmux(tmux, *words)
