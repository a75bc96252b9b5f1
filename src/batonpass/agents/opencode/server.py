"""The port on which a running opencode answers: loopback only, behind its password, never waited for without end."""

import base64
import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from urllib.parse import urlencode

from batonpass.agents.opencode.launch import PASSWORD, PORT, USER
from batonpass.agents.opencode.record import Entry, mapping
from batonpass.untrusted import decode

_SECONDS = 5.0
_SILENCE_SECONDS = 25.0  # it sends a heartbeat every ten
_LONGEST = 16 << 20


class ServerAway(Exception):
    """The port does not answer, or not as it should; says why."""


@dataclass(frozen=True, slots=True)
class Server:
    """One opencode's port. A request that could not be made raises ServerAway; whether it arrived is then unknown."""

    port: int
    folder: str  # where it works
    _login: str = field(repr=False)

    @classmethod
    def of(cls, env: Mapping[str, str]) -> "Server | None":
        """The port of a session with this environment; None when it has none."""
        port = env.get(PORT, "")
        if not port.isdecimal():
            return None
        login = f"{env.get(USER) or 'opencode'}:{env.get(PASSWORD, '')}"
        return cls(int(port), env.get("PWD", ""), base64.b64encode(login.encode()).decode("ascii"))

    def get(self, path: str) -> object:
        return self._call("GET", path, None)

    def post(self, path: str, body: Entry) -> object:
        return self._call("POST", path, body)

    def _call(self, method: str, path: str, body: Entry | None) -> object:
        try:
            with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=_SECONDS)) as connection:
                response = self._ask(connection, method, path, body)
                return _decoded(response.read(_LONGEST))
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ServerAway(f"opencode does not answer on port {self.port}: {error}") from error

    def _ask(
        self, connection: http.client.HTTPConnection, method: str, path: str, body: Entry | None
    ) -> http.client.HTTPResponse:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Basic {self._login}", "Content-Type": "application/json"}
        connection.request(method, f"{path}?{urlencode({'directory': self.folder})}", data, headers)
        response = connection.getresponse()
        if response.status >= 300:
            raise ServerAway(f"opencode on port {self.port} refused {path}: {response.status}")
        return response

    def events(self, within: float) -> Iterator[Entry]:
        """What happens in it from now on, until it falls silent. The first one says that it is listened to.

        A request that comes while it starts may never be answered: `within` so many seconds it is, or is given up.
        """
        try:
            with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=within)) as connection:
                connection.connect()
                wire = connection.sock
                response = self._ask(connection, "GET", "/event", None)
                while line := response.readline(_LONGEST):
                    wire.settimeout(_SILENCE_SECONDS)
                    if line.startswith(b"data:") and (event := mapping(_decoded(line[5:]))):
                        yield event
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ServerAway(f"opencode's events on port {self.port} ended: {error}") from error


def _decoded(data: bytes) -> object:
    try:
        return decode(data) if data.strip() else None
    except ValueError as error:
        raise ServerAway(f"opencode answered with no JSON: {error}") from error
