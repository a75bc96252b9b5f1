"""A scripted model's replies from a file, for people who rehearse: a JSON list of what it answers, in order.

    [{"match": "please begin", "error": "rate_limit", "retry_after": 2},
     {"turn": 2, "text": "I have read everything.", "used": 150000}]

Each entry has the fields of `Reply`, and says which requests it answers; every other one goes to the brain.
"""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic_core import ErrorDetails

from batonpass.config.problems import dotted
from batonpass.config.schema import expression
from batonpass.config.words import words
from batonpass.sim.brain import Reply, ToolUse
from batonpass.sim.model_wire import Kind

Error = Literal["rate_limit", "overloaded", "server", "authentication", "too_long", "cut_before", "cut_mid"]
_NEEDED = {"write": ("path", "content"), "shell": ("command",)}  # by the wires, which put it in the agent's own words


Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(ge=0)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class _Tool(_Part):
    name: Annotated[str, Field(min_length=1)]
    arguments: dict[str, Any] = {}

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        for name in _NEEDED.get(self.name, ()):
            if not isinstance(self.arguments.get(name), str):
                raise ValueError(f"{self.name} needs the argument '{name}', a text")
        return self


class Entry(_Part):
    """One reply, and the requests that it answers: the next `times` of its kind that fit."""

    text: str = ""
    tools: tuple[_Tool, ...] = ()
    used: Annotated[int, Field(ge=0)] | None = None
    output: Annotated[int, Field(ge=0)] = 12
    delay: Seconds = 0.0
    chunks: Count = 1
    chunk_delay: Seconds = 0.0
    error: Error | None = None
    retry_after: Seconds | None = None
    match: Annotated[str, AfterValidator(expression)] | None = None
    turn: Count | None = None
    times: Count = 1
    kind: Kind = Kind.MAIN

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.retry_after is not None and self.error in (None, "cut_before", "cut_mid"):
            raise ValueError("retry_after is sent with an error only, and not when the connection is cut")
        if self.error == "cut_mid" and (not self.text or self.chunks < 2):
            raise ValueError("cut_mid cuts after the first piece of a text: it needs a text, and chunks of at least 2")
        return self

    @property
    def reply(self) -> Reply:
        """What is answered."""
        return Reply(
            text=self.text,
            tools=tuple(ToolUse(tool.name, tool.arguments) for tool in self.tools),
            used=self.used,
            output=self.output,
            delay=self.delay,
            chunks=self.chunks,
            chunk_delay=self.chunk_delay,
            error=self.error,
            retry_after=self.retry_after,
        )


def read(path: Path) -> list[Entry]:
    """The entries of a file. Raises ValueError with a sentence that names the place, if one of them is wrong."""
    try:
        return TypeAdapter(list[Entry]).validate_json(path.read_bytes())
    except OSError as error:
        raise ValueError(f"The script {path} cannot be read ({error.strerror}); nothing was started.") from None
    except ValidationError as error:
        raise ValueError(f"{path}: {_told(error.errors()[0])}; nothing was started.") from None


def _told(error: ErrorDetails) -> str:
    """The first mistake, by the number of its entry, from 1, and its key."""
    if error["type"] == "json_invalid":
        return f"this is not JSON ({error['ctx']['error']})"
    if not error["loc"]:
        return "a script must be a list of replies"
    number, *key = error["loc"]
    message, meant = words({**error, "loc": tuple(key)}, Entry)
    place = f"entry {int(number) + 1}" + (f", {dotted(tuple(key))}" if key else "")
    return f"{place}: {message}" + (f" (did you mean '{meant}'?)" if meant else "")
