"""The socket: one JSON line in, one JSON line out. Commands get answers, hooks are heard."""

import asyncio
import json
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from batonpass.home import socket_trouble
from batonpass.serve.fields import misfit
from batonpass.untrusted import decode

log = logging.getLogger(__name__)

# A tool's whole result may stand in a hook's payload.
_LINE_LIMIT = 64 * 1024 * 1024
_LINE_SECONDS = 60.0  # a caller that says nothing must not keep its connection for ever

Operation = Callable[[Mapping[str, Any]], Awaitable[object]]


class Refusal(Exception):
    """What was asked for cannot be done; one sentence for the person who asked, and the exit code."""

    def __init__(self, sentence: str, exit: int = 1) -> None:
        super().__init__(sentence)
        self.exit = exit


class Api:
    """Serves operations by name on a unix socket that only its owner can open."""

    def __init__(self, path: Path, operations: Mapping[str, Operation]) -> None:
        self._path, self._operations = path, operations
        self._server: asyncio.AbstractServer | None = None

    async def start(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if trouble := socket_trouble(str(self._path)):
            raise PermissionError(f"{trouble}, so no socket is made there; set BATON_HOME to a shorter path")
        self._path.unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            self._server = await asyncio.start_unix_server(self._serve, self._path, limit=_LINE_LIMIT)
        finally:
            os.umask(before)

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        self._path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = await asyncio.wait_for(reader.readline(), _LINE_SECONDS)
            if line:
                reply = await self.answer(line)
                writer.write(json.dumps(reply).encode() + b"\n")
                await writer.drain()
        except ValueError:
            log.warning("a request was longer than %d bytes; it was not read, and the caller was let go", _LINE_LIMIT)
        except (ConnectionError, TimeoutError) as error:
            log.debug("a caller went away: %s", error)
        finally:
            writer.close()

    async def answer(self, line: bytes) -> dict[str, object]:
        """The reply to one request; whatever goes wrong is an answer too."""
        try:
            request = decode(line)
            if not isinstance(request, dict):
                raise ValueError("a request is an object")
            operation = self._operations[request["op"]]
        except (ValueError, KeyError, TypeError):
            log.warning("a request could not be read: %.200r", line)
            return {"ok": False, "error": "the daemon does not know this request", "exit": 2}
        if wrong := misfit(request):
            return {"ok": False, "error": wrong, "exit": 2}
        try:
            return {"ok": True, "result": await operation(request)}
        except Refusal as refusal:
            return {"ok": False, "error": str(refusal), "exit": refusal.exit}
        except Exception as fault:
            log.exception("operation %s", request["op"])
            return {"ok": False, "error": f"{request['op']} failed: {type(fault).__name__}: {fault}", "exit": 1}
