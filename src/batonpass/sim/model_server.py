"""The HTTP side of a scripted model: loopback only, one thread for each connection."""

import json
import socket
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol, cast

from batonpass.sim.model_wire import Answer, Request, Wire


class Mind(Protocol):
    """What the server asks for answers."""

    wire: Wire
    window: int
    stopping: threading.Event

    def answer(self, body: dict[str, Any], raw: bytes, path: str) -> tuple[Answer, Request]: ...


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # clients keep idle connections open; waiting for them would wait for ever
    request_queue_size = 64

    def __init__(self, port: int, mind: Mind) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.mind = mind

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no error: agents are killed in tests all the time."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(cast(Any, request), client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def log_message(self, format: str, *args: object) -> None:
        """Quiet: requests are recorded by the model."""

    def do_HEAD(self) -> None:
        self._json({}, body=False)

    def do_GET(self) -> None:
        self._json({})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.partition("?")[0]
        if path.endswith("/count_tokens"):
            self._json({"input_tokens": len(raw) // 4})
        elif path.endswith(":countTokens"):
            self._json({"totalTokens": len(raw) // 4})
        elif path.endswith(self.server.mind.wire.endpoint):
            self._think(raw, path)
        else:
            self._json({})

    def _think(self, raw: bytes, path: str) -> None:
        try:
            body = json.loads(raw)
        except ValueError:
            self._json({"type": "error", "error": {"type": "invalid_request_error", "message": "no JSON"}}, 400)
            return
        answer, request = self.server.mind.answer(body, raw, path)
        self._pause(answer.reply.delay)
        if answer.reply.error == "cut_before":
            self._cut()
        elif answer.reply.error not in (None, "cut_mid"):
            mind = self.server.mind
            status, failure = mind.wire.error(str(answer.reply.error), answer.used, mind.window, answer.reply.text)
            self._json(failure, status, retry_after=answer.reply.retry_after)
        elif request.stream:
            self._stream(answer)
        else:
            self._json(answer.whole())

    def _stream(self, answer: Answer) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("request-id", "req_rehearsal")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in answer.events():
            data = self.server.mind.wire.frame(event)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
            if event["type"] == self.server.mind.wire.delta:
                if answer.reply.error == "cut_mid":
                    self._cut()
                    return
                self._pause(answer.reply.chunk_delay)
        self.wfile.write(b"0\r\n\r\n")

    def _json(
        self, answer: dict[str, Any], status: int = 200, *, body: bool = True, retry_after: float | None = None
    ) -> None:
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data) if body else 0))
        if retry_after is not None:
            self.send_header("retry-after", f"{retry_after:g}")
        self.end_headers()
        if body:
            self.wfile.write(data)

    def _pause(self, seconds: float) -> None:
        if seconds:
            self.server.mind.stopping.wait(seconds)

    def _cut(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
