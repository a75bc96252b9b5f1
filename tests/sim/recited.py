"""A brain that says what it was told to say, and notes what it was asked: loaded into the scripted agent."""

import json
from collections import deque
from typing import Any

from batonpass.sim.brain import Asked, Reply, ToolUse


class Recited:
    def __init__(self, replies: list[dict[str, Any]], notes: str) -> None:
        self._replies = deque(replies)
        self._notes = notes

    @classmethod
    def from_json(cls, text: str) -> "Recited":
        given = json.loads(text)
        return cls(given["replies"], given["notes"])

    def reply(self, asked: Asked) -> Reply:
        with open(self._notes, "a", encoding="utf-8") as notes:
            fields = ("text", "context", "tool_results", "turn", "used")
            notes.write(json.dumps({name: getattr(asked, name) for name in fields}) + "\n")
        if not self._replies:
            return Reply(text=f"heard: {asked.text}")
        given = dict(self._replies.popleft())
        tools = tuple(ToolUse(name, arguments) for name, arguments in given.pop("tools", []))
        return Reply(tools=tools, **given)
