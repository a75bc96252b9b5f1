import asyncio
import sys
from pathlib import Path

RELAY = Path(__file__).with_name("relay.py")
_SECONDS = 30


class Puppet:
    """The strings of a relay in a pane: sees every byte it is typed, and says what it shows."""

    def __init__(self, path: str) -> None:
        self.argv = (sys.executable, str(RELAY), path)
        self._path = path
        self._links: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()

    async def __aenter__(self) -> "Puppet":
        async def join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._links.put((reader, writer))

        self._server = await asyncio.start_unix_server(join, self._path, limit=1 << 20)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        if hasattr(self, "_out"):
            self._out.close()

    async def ready(self) -> None:
        """Wait until (another) relay takes keys."""
        self._in, self._out = await asyncio.wait_for(self._links.get(), _SECONDS)
        await self.typed(b"ready")

    async def typed(self, end: bytes) -> bytes:
        """Everything that was typed since the last time, up to and with `end`."""
        return await asyncio.wait_for(self._in.readuntil(end), _SECONDS)

    async def show(self, data: bytes) -> None:
        """Print, and wait until the terminal has taken it all: it answers a question put behind it."""
        self._out.write(data + b"\x1b[5n")
        await self.typed(b"\x1b[0n")

    def quit(self) -> None:
        """Let the relay end, with status 7."""
        self._out.close()
