"""Panes of any tmux server: each call goes to the server that the pane lives on."""

from batonpass.session import PaneRef
from batonpass.terminals.base import PaneInfo, Screen
from batonpass.terminals.tmux import Tmux


class Panes:
    """One connection to each server, made when it is first needed."""

    def __init__(self) -> None:
        self._servers: dict[str, Tmux] = {}

    def server(self, socket: str) -> Tmux:
        if socket not in self._servers:
            self._servers[socket] = Tmux(socket)
        return self._servers[socket]

    async def info(self, pane: PaneRef) -> PaneInfo:
        return await self.server(pane.socket).info(pane)

    async def screen(self, pane: PaneRef) -> Screen:
        return await self.server(pane.socket).screen(pane)

    async def paste(self, pane: PaneRef, text: str) -> None:
        await self.server(pane.socket).paste(pane, text)

    async def press(self, pane: PaneRef, key: str) -> None:
        await self.server(pane.socket).press(pane, key)

    async def leave_mode(self, pane: PaneRef) -> None:
        await self.server(pane.socket).leave_mode(pane)

    async def tell(self, pane: PaneRef, text: str) -> None:
        await self.server(pane.socket).tell(pane, text)

    async def aclose(self) -> None:
        for server in self._servers.values():
            await server.aclose()
