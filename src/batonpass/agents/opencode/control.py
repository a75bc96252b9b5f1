"""Driving a running opencode over its port, in place of typing."""

import asyncio
from pathlib import Path

from batonpass.agents.base import ControlError
from batonpass.agents.opencode.database import talks
from batonpass.agents.opencode.record import Entry, mapping, text
from batonpass.agents.opencode.server import ServerAway
from batonpass.agents.opencode.word import Word
from batonpass.untrusted import identifier


class Control:
    """The Control protocol over one opencode's port; see `batonpass.agents.base` for what each method promises."""

    def __init__(self, word: Word, database: Path) -> None:
        self._word, self._database = word, database

    async def submit(self, agent_session: str, prompt: str) -> None:
        body = {"parts": [{"type": "text", "text": prompt}], **self._manner(agent_session, "modelID")}
        await self._post(f"/session/{agent_session}/prompt_async", body)

    async def fresh(self, after: str | None) -> str:
        made = mapping(await self._post("/session", self._manner(after, "id")))
        conversation = identifier(made.get("id"))
        if conversation is None:
            raise ControlError("opencode began a conversation without an id")
        await self.back(conversation)
        return conversation

    async def back(self, agent_session: str) -> None:
        await self._post("/tui/select-session", {"sessionID": agent_session})
        self._word.select(agent_session)

    def _manner(self, conversation: str | None, model_key: str) -> Entry:
        """Model and mode of a conversation: left unsaid, opencode takes its defaults and not what the user chose."""
        found = talks(self._database, identity=conversation) if conversation else []
        if not found or not found[0].model:
            return {}
        talk, variant = found[0], text(found[0].model, "variant")
        model = {"providerID": text(talk.model, "providerID"), model_key: text(talk.model, "id")}
        mode = {"agent": talk.agent} if talk.agent else {}
        if not variant or variant == "default":
            return {"model": model, **mode}
        if model_key == "id":
            return {"model": {**model, "variant": variant}, **mode}
        return {"model": model, "variant": variant, **mode}

    async def _post(self, path: str, body: Entry) -> object:
        try:
            return await asyncio.to_thread(self._word.server.post, path, body)
        except ServerAway as error:
            raise ControlError(str(error)) from error
