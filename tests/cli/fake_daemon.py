"""A daemon that answers from a dictionary, on the real socket."""

import json
import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from batonpass.home import socket_path

Answer = Any | Callable[[dict[str, Any]], Any]


class Refuse(Exception):
    """An answer that the daemon gives instead of a result."""

    def __init__(self, error: str, code: int = 1) -> None:
        super().__init__(error)
        self.reply = {"ok": False, "error": error, "exit": code}


class FakeDaemon:
    """Answers each op by `answers[op]`: a result, a Refuse, raw bytes, or a function of the request."""

    def __init__(self, home: Path) -> None:
        self.answers: dict[str, Answer] = {}
        self.requests: list[dict[str, Any]] = []
        path = socket_path(str(home))
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(path)
        self._listener.listen()
        self._path = path
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def asked(self, op: str) -> dict[str, Any]:
        """The one request of that kind, without its op."""
        (request,) = [r for r in self.requests if r["op"] == op]
        return {key: value for key, value in request.items() if key != "op"}

    def close(self) -> None:
        if os.path.exists(self._path):
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as last:
                last.connect(self._path)  # an empty request ends the serving
        self._thread.join(10)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            with connection, connection.makefile("rb") as lines:
                line = lines.readline()
                if not line:
                    os.unlink(self._path)
                    return
                request = json.loads(line)
                self.requests.append(request)
                reply = self._reply(request)
                with suppress(BrokenPipeError):  # the command may have given up
                    connection.sendall(reply)
                if request["op"] == "stop":
                    os.unlink(self._path)
                    return

    def _reply(self, request: dict[str, Any]) -> bytes:
        answer = self.answers.get(request["op"], Refuse(f"unexpected op {request['op']}"))
        try:
            if callable(answer):
                answer = answer(request)
            if isinstance(answer, Refuse):
                raise answer
        except Refuse as refusal:
            return json.dumps(refusal.reply).encode("utf-8") + b"\n"
        if isinstance(answer, bytes):
            return answer
        return json.dumps({"ok": True, "result": answer}).encode("utf-8") + b"\n"
