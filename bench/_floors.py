"""The barest script for each agent: shell hooks, a pipe and keys; for opencode its port."""

import contextlib
import json
import os
import queue
import secrets
import select
import shlex
import socket
import sys
import threading
import time
from pathlib import Path

from _floor import Floor
from _place import Failed, Place, arguments, wait

from batonpass.agents.codex.launch import trust
from batonpass.agents.codex.status import lock_folder
from batonpass.agents.opencode.database import database, last_turn, talks, transcript
from batonpass.agents.opencode.launch import PASSWORD, PORT
from batonpass.agents.opencode.record import mapping, text
from batonpass.agents.opencode.server import Server, ServerAway

_PATIENCE = 60.0


class Hooked(Floor):
    """An agent that runs hooks: one asks and rings at the end of a turn, one brings the handoff."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.folder = place.root / "bare"
        self.folder.mkdir()
        os.mkfifo(self.folder / "bell")
        self._bell = os.open(self.folder / "bell", os.O_RDWR)  # for writing, too: so it never ends
        self._heard = b""

    def begun(self) -> None:
        self.wait_for("stop")

    def ask(self, prompt: str, ask: str) -> Path:
        self.lay("ask", self.place.adapter.render_ask(ask))
        self.place.say(self.pane, prompt)
        self.wait_for("stop")
        record = wait(self.place.transcript, "a transcript")
        self.wait_for("stop")
        return record

    def clear(self, handoff: str) -> None:
        self.lay("prime", self.place.adapter.render_prime(handoff))
        self.place.say(self.pane, "/clear")
        self.wait_for("start")

    def kick(self, text: str) -> None:
        self.place.say(self.pane, text)
        self.wait_for("stop")
        (self.folder / "prime").unlink()

    def close(self) -> None:
        os.close(self._bell)

    def lay(self, file: str, text: str) -> None:
        (self.folder / file).write_text(text, encoding="utf-8")

    def hook(self, file: str, word: str | None = None) -> str:
        """Print a file that is laid out, and ring. An ask is given once."""
        laid, bell = shlex.quote(str(self.folder / file)), shlex.quote(str(self.folder / "bell"))
        give = f"if [ -f {laid} ]; then cat {laid}{f'; rm {laid}' if file == 'ask' else ''}; fi"
        return f"{give}; echo {word} > {bell}" if word else give

    def wait_for(self, word: str) -> None:
        """Return when a hook has rung with this word; each ring counts once."""
        mark = f"{word}\n".encode()
        deadline = time.monotonic() + _PATIENCE
        while mark not in self._heard:
            if not select.select([self._bell], [], [], 1.0)[0]:
                self.place.send_again(self.pane)
                if time.monotonic() < deadline:
                    continue
                screen = self.place.tmux("capture-pane", "-p", "-t", self.pane)
                raise Failed(f"The bare script waits for {word!r} in vain; its pane shows:\n{screen}")
            self._heard += os.read(self._bell, 4096)
        self._heard = self._heard.replace(mark, b"", 1)


class Claude(Hooked):
    def launch(self) -> list[str]:
        hooks = {
            "Stop": [{"hooks": [{"type": "command", "command": self.hook("ask", "stop")}]}],
            "SessionStart": [
                {"matcher": "clear", "hooks": [{"type": "command", "command": self.hook("prime", "start")}]}
            ],
        }
        return [self.place.env["BATON_CLAUDE"], "--settings", json.dumps({"hooks": hooks}), *arguments("claude")]


class Scripted(Hooked):
    def launch(self) -> list[str]:
        hooks = {
            "stop": [["sh", "-c", self.hook("ask", "stop")]],
            "session_start": [["sh", "-c", f"grep -q clear && {{ {self.hook('prime', 'start')}; }}"]],
        }
        path = self.folder / "settings.json"
        path.write_text(json.dumps({"hooks": hooks, "allow": [str(self.drafts)]}), encoding="utf-8")
        options = [f"--settings={path}", f"--home={self.place.root / 'user'}"]
        return [sys.executable, "-m", "batonpass.sim.agent", *options, *arguments("scripted")]


class Codex(Hooked):
    """Its session-start hook comes with the first prompt; that a clear is done shows in a lock."""

    def launch(self) -> list[str]:
        commands = {"Stop": self.hook("ask", "stop"), "SessionStart": self.hook("prime")}
        flags: list[str] = []
        known: list[str] = []
        for event, command in commands.items():
            flags += ["-c", f'hooks.{event}=[{{hooks=[{{type="command",command={json.dumps(command)},timeout=30}}]}}]']
            snake = "session_start" if event == "SessionStart" else "stop"
            place = f"/<session-flags>/config.toml:{snake}:0:0"
            known.append(f"{json.dumps(place)}={{trusted_hash={json.dumps(trust(snake, command, 30))}}}")
        flags += ["-c", f"hooks.state={{{','.join(known)}}}"]
        return [self.place.env["BATON_CODEX"], "--no-daemon", *flags, *arguments("codex")]

    def clear(self, handoff: str) -> None:
        self.lay("prime", self.place.adapter.render_prime(handoff))
        before = self._locks()
        self.place.say(self.pane, "/clear")
        wait(lambda: self._locks() - before or None, "a new conversation")

    def _locks(self) -> set[str]:
        return {path.name for path in lock_folder(self.place.env).glob("*.lock")}


class Gemini(Hooked):
    """After a clear context reaches it beside the first prompt only, and its box needs a moment of rest."""

    def launch(self) -> list[str]:
        commands = {
            "AfterAgent": self.hook("ask", "stop"),
            "SessionStart": self.hook("nothing", "start"),
            "BeforeAgent": self.hook("prime"),
        }
        settings = self.place.root / "user" / ".gemini" / "settings.json"
        hooks = {
            event: [{"matcher": "*", "hooks": [{"type": "command", "name": f"bare {event}", "command": command}]}]
            for event, command in commands.items()
        }
        known = json.loads(settings.read_text(encoding="utf-8"))
        settings.write_text(json.dumps({**known, "hooks": hooks}), encoding="utf-8")
        return [self.place.env["BATON_GEMINI"], *arguments("gemini")]

    def begun(self) -> None:
        self.wait_for("start")
        self.wait_for("stop")

    def clear(self, handoff: str) -> None:
        self.lay("prime", self.place.adapter.render_note(handoff))
        self.place.say(self.pane, "/clear")
        self.wait_for("start")

    def kick(self, text: str) -> None:
        time.sleep(self.place.adapter.clear_seconds)
        super().kick(text)


class OpenCode(Floor):
    """Everything over its port: nothing need be typed but the user's own prompt."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self._port = int(found.getsockname()[1])
        self._env = {PORT: str(self._port), PASSWORD: secrets.token_urlsafe(24), "PWD": str(place.project)}
        server = Server.of(self._env)
        assert server is not None
        self._server = server
        self._idle: queue.Queue[str] = queue.Queue()
        self._closed = threading.Event()
        self._conversation = self._handoff = ""

    def launch(self) -> list[str]:
        return [self.place.env["BATON_OPENCODE"], "--port", str(self._port), *arguments("opencode")]

    def more_env(self) -> dict[str, str]:
        return self._env

    def begun(self) -> None:
        threading.Thread(target=self._listen, daemon=True).start()
        # By the database: its port may answer only after the first turn is over, and then nobody hears of its end.
        self._conversation = wait(self._begun, "the first turn")
        with contextlib.suppress(queue.Empty):
            self._idle.get(timeout=1.0)

    def _begun(self) -> str | None:
        kept = database(self.place.env)
        for talk in talks(kept):
            turn = last_turn(transcript(kept, talk.id))
            if turn is not None and not turn.open:
                return talk.id
        return None

    def ask(self, prompt: str, ask: str) -> Path:
        self.place.say(self.pane, prompt)
        self._turn()
        self._post(ask)
        return transcript(database(self.place.env), self._conversation)

    def clear(self, handoff: str) -> None:
        self._conversation = text(mapping(self._server.post("/session", {})), "id")
        self._server.post("/tui/select-session", {"sessionID": self._conversation})
        self._handoff = handoff

    def kick(self, text: str) -> None:
        self._post(f"{text}\n\n{self._handoff}")

    def close(self) -> None:
        self._closed.set()

    def _post(self, prompt: str) -> None:
        body = {"parts": [{"type": "text", "text": prompt}]}
        self._server.post(f"/session/{self._conversation}/prompt_async", body)
        self._turn()

    def _turn(self) -> str:
        """Wait for the end of a turn; gives the conversation."""
        try:
            return self._idle.get(timeout=_PATIENCE)
        except queue.Empty:
            screen = self.place.tmux("capture-pane", "-p", "-t", self.pane)
            raise Failed(f"The bare script waits for the end of a turn in vain; its pane shows:\n{screen}") from None

    def _listen(self) -> None:
        while not self._closed.is_set():
            with contextlib.suppress(ServerAway):
                for event in self._server.events(2.0):
                    if text(event, "type") == "session.idle":
                        self._idle.put(text(mapping(event.get("properties")), "sessionID"))
            self._closed.wait(0.05)


_FLOORS: dict[str, type[Floor]] = {
    "claude": Claude, "codex": Codex, "gemini": Gemini, "opencode": OpenCode, "scripted": Scripted,
}  # fmt: skip


def floor(place: Place) -> Floor:
    """The bare script for the agent of a place."""
    return _FLOORS[place.agent](place)
