"""Codex's shared background server, asked over its control socket: JSON-RPC in a WebSocket, on this machine only."""

import base64
import json
import os
import socket
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from batonpass.untrusted import decode

_SECONDS = 2.0  # for all that is asked over one connection: whoever asks has others to look after
_LONGEST = 16 << 20
_HELLO = {"clientInfo": {"name": "baton", "version": "1"}, "capabilities": {"experimentalApi": True}}
_TEXT, _CLOSE = 0x1, 0x8  # kinds of frames; what is none of these has nothing to say here
_WHOLE, _MASKED = 0x80, 0x80


class ServerAway(Exception):
    """The server does not answer, or not as it should; says why."""


class Refused(Exception):
    """The server answers, and does not do this; says why."""


def control_socket(home: Path) -> Path:
    """Where the server of this Codex home listens, if there is one."""
    return home / "app-server-control" / "app-server-control.sock"


@contextmanager
def connected(path: Path) -> "Iterator[Server]":
    """The server behind that socket, greeted. Raises ServerAway, also for one of another user."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as wire:
            wire.settimeout(_SECONDS)
            wire.connect(os.path.realpath(path))  # the link is short, and what it names has the length that fits
            pid, uid, _ = struct.unpack("3i", wire.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            if uid != os.getuid():
                raise ServerAway(f"{path} is another user's")
            yield Server(wire, pid)
    except (OSError, ValueError) as error:
        raise ServerAway(f"Codex's background server does not answer at {path}: {error}") from error


class Server:
    """One connection. A call raises OSError or ValueError, which `connected` tells as ServerAway."""

    def __init__(self, wire: socket.socket, pid: int) -> None:
        self.pid = pid
        self._wire, self._unread, self._asked = wire, b"", 0
        self._until = monotonic() + _SECONDS
        self._shake_hands()
        try:
            self.call("initialize", _HELLO)
        except Refused as error:
            raise ServerAway(str(error)) from error
        self._send(json.dumps({"method": "initialized"}).encode())

    def call(self, method: str, params: Mapping[str, object]) -> Mapping[str, object]:
        """What it answers; what it tells of its own accord is passed over. Raises Refused."""
        self._asked += 1
        self._send(json.dumps({"id": self._asked, "method": method, "params": params}).encode())
        while True:
            match decode(self._message()):
                case {"id": self._asked, "result": dict(result)}:
                    return result
                case {"id": self._asked, **rest}:
                    raise Refused(f"Codex's background server refused {method}: {rest.get('error')}")
                case _:
                    pass

    def _shake_hands(self) -> None:
        key = base64.b64encode(os.urandom(16)).decode("ascii")
        wanted = ("GET / HTTP/1.1", "Host: localhost", "Upgrade: websocket", "Connection: Upgrade",
                  f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "", "")  # fmt: skip
        self._wire.sendall("\r\n".join(wanted).encode("ascii"))
        answer = b""
        while not answer.endswith(b"\r\n\r\n"):
            answer += self._take(1)
            if len(answer) > _LONGEST >> 10:
                raise ValueError("it does not come to the point")
        if b" 101 " not in answer.partition(b"\r\n")[0]:
            raise ValueError("it speaks no WebSocket")

    def _send(self, text: bytes) -> None:
        """One frame; a client's are masked."""
        length = len(text)
        size = bytes([_MASKED | length]) if length < 126 else bytes([_MASKED | 126]) + struct.pack(">H", length)
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[n % 4] for n, byte in enumerate(text))
        self._wire.sendall(bytes([_WHOLE | _TEXT]) + size + mask + masked)

    def _message(self) -> bytes:
        """The next text, put together from its frames."""
        parts: list[bytes] = []
        while True:
            head, size = self._take(2)
            if size >= 126:
                (size,) = struct.unpack(*((">H", self._take(2)) if size == 126 else (">Q", self._take(8))))
            if size + sum(map(len, parts)) > _LONGEST:
                raise ValueError("it says more than anybody asked for")
            content = self._take(size)
            if head & 0xF == _CLOSE:
                raise ValueError("it hung up")
            if head & 0xF in (_TEXT, 0):
                parts.append(content)
                if head & _WHOLE:
                    return b"".join(parts)

    def _take(self, count: int) -> bytes:
        while len(self._unread) < count:
            self._wire.settimeout(max(self._until - monotonic(), 0.001))
            more = self._wire.recv(1 << 16)
            if not more:
                raise ValueError("it hung up")
            self._unread += more
        taken, self._unread = self._unread[:count], self._unread[count:]
        return taken
