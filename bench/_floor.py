"""The same steps by the barest possible script: two shell hooks, a pipe, and keys. No record, no check, no net.

It knows beforehand that a handoff is due, looks at nothing, and trusts that every key arrives. Nothing that
passes the baton with hooks and keys on the same agent can be much faster.
"""

import json
import os
import secrets
import select
import shlex
import sys
import time
from pathlib import Path

from _place import WORKER, Failed, Place, wait

from batonpass.delivery import tag
from batonpass.handoff import prompts

_PATIENCE = 60.0


class Floor:
    """One live session, handed over again and again."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._folder = place.root / "bare"
        self._drafts = place.project / "drafts"
        self._folder.mkdir()
        self._drafts.mkdir()
        os.mkfifo(self._folder / "bell")
        self._bell = os.open(self._folder / "bell", os.O_RDWR)  # for writing, too: so it never ends
        self._heard = b""
        self._pane = ""

    def start(self) -> None:
        """A conversation with its first turn done."""
        argv = self._claude() if self._place.agent == "claude" else self._scripted()
        env = [f"{name}={value}" for name, value in self._place.env.items()]
        self._pane = self._place.tmux(
            *("new-session", "-d", "-x", "200", "-y", "50", "-P", "-F", "#{pane_id}", "-c", str(self._place.project)),
            *("--", "env", "-i", *env, *argv),
        )
        self._await("stop", 60.0)

    def round(self, prompt: str) -> dict[str, float]:
        """Hand over once; when each part was over, by the clock."""
        place, number = self._place, secrets.token_hex(4)
        draft = self._drafts / f"{number}.md"
        ask = prompts.ask(tag(number, "ask", 1), draft, percent=91.0, changed=["reader.py"])
        (self._folder / "ask").write_text(place.adapter.render_ask(ask), encoding="utf-8")
        place.say(self._pane, prompt)
        self._await("stop")
        transcript = wait(place.transcript, "a transcript")
        self._await("stop")
        written = time.time()
        prime = place.adapter.render_prime(draft.read_text(encoding="utf-8"))
        (self._folder / "prime").write_text(prime, encoding="utf-8")
        place.say(self._pane, "/clear")
        self._await("start")
        cleared = time.time()
        place.say(self._pane, prompts.kick(tag(number, "kick", 1), number, draft))
        self._await("stop")
        answered = time.time()
        (self._folder / "prime").unlink()
        crossed = wait(lambda: _crossing(place, transcript), "the answer that crosses the threshold in the record")
        return {"crossed": crossed, "written": written, "cleared": cleared, "answered": answered}

    def close(self) -> None:
        os.close(self._bell)

    def _hook(self, file: str, word: str) -> str:
        """Print a file that is laid out, and ring. An ask is given once."""
        laid, bell = shlex.quote(str(self._folder / file)), shlex.quote(str(self._folder / "bell"))
        give = f"[ -f {laid} ] && cat {laid}"
        if file == "ask":
            give += f" && rm {laid}"
        return f"{give}; echo {word} > {bell}"

    def _claude(self) -> list[str]:
        hooks = {
            "Stop": [{"hooks": [{"type": "command", "command": self._hook("ask", "stop")}]}],
            "SessionStart": [
                {"matcher": "clear", "hooks": [{"type": "command", "command": self._hook("prime", "start")}]}
            ],
        }
        settings = ["--settings", json.dumps({"hooks": hooks})]
        options = ["--model", "claude-sonnet-4-6", "--permission-mode", "acceptEdits"]
        return [self._place.env["BATON_CLAUDE"], *settings, *options, "--", "Begin with the work."]

    def _scripted(self) -> list[str]:
        hooks = {
            "stop": [["sh", "-c", self._hook("ask", "stop")]],
            "session_start": [["sh", "-c", f"grep -q clear && {{ {self._hook('prime', 'start')}; }}"]],
        }
        path = self._folder / "settings.json"
        path.write_text(json.dumps({"hooks": hooks, "allow": [str(self._drafts)]}), encoding="utf-8")
        options = [f"--settings={path}", f"--home={self._place.root / 'user'}", f"--brain={WORKER}"]
        return [sys.executable, "-m", "batonpass.sim.agent", *options, "--", "Begin with the work."]

    def _await(self, word: str, seconds: float = _PATIENCE) -> None:
        """Return when a hook has rung with this word; each ring counts once."""
        mark = f"{word}\n".encode()
        deadline = time.monotonic() + seconds
        while mark not in self._heard:
            if not select.select([self._bell], [], [], 1.0)[0]:
                self._place.send_again(self._pane)
                if time.monotonic() < deadline:
                    continue
                screen = self._place.tmux("capture-pane", "-p", "-t", self._pane)
                raise Failed(f"The bare script waits for {word!r} in vain; its pane shows:\n{screen}")
            self._heard += os.read(self._bell, 4096)
        self._heard = self._heard.replace(mark, b"", 1)


def _crossing(place: Place, transcript: Path) -> float | None:
    """When the turn before the ask was answered: the answer before the two of the handoff."""
    said = place.answered(transcript)
    writing = place.answered(transcript, "I write the handoff now")
    before = [at for at in said if writing and at < writing[-1]]
    return before[-1] if before else None
