"""How much fits into a model's context, as opencode reckons: it compacts itself while an answer still fits."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from batonpass.agents.opencode.record import Entry, mapping, text
from batonpass.agents.opencode.settings import read, settings
from batonpass.untrusted import count

_OUTPUT_MOST = 32_000  # room for an answer that it leaves at most
_RESERVED_MOST = 20_000  # and where the provider limits what is sent
_OUTPUT_SETTING = "OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX"
_UNKNOWN = 200_000


@dataclass(frozen=True, slots=True)
class Limits:
    """What is told of one model; `input` where less may be sent than the window holds."""

    context: int
    output: int
    input: int | None = None

    def usable(self, env: Mapping[str, str]) -> int:
        """The number of tokens at which opencode compacts itself."""
        most = env.get(_OUTPUT_SETTING, "")
        room = min(self.output or _OUTPUT_MOST, int(most) if most.isdecimal() and int(most) else _OUTPUT_MOST)
        if self.input:
            return max(0, self.input - min(_RESERVED_MOST, room))
        return max(0, self.context - room)


GUESS = Limits(_UNKNOWN, _OUTPUT_MOST)


def told(providers: object) -> dict[str, Limits]:
    """The models of an answer of its API, by their names: `provider/model`."""
    listed = mapping(providers).get("providers", providers)
    found: dict[str, Limits] = {}
    for provider in listed if isinstance(listed, list) else ():
        found |= _of_provider(text(mapping(provider), "id"), mapping(provider))
    return found


def from_files(env: Mapping[str, str]) -> dict[str, Limits]:
    """What its catalogue and the user's configuration say, for a session whose port cannot be asked."""
    found: dict[str, Limits] = {}
    for catalogue in _providers(env):
        for name, provider in catalogue.items():
            found |= _of_provider(name, mapping(provider))
    return found


def _of_provider(name: str, provider: Entry) -> dict[str, Limits]:
    found: dict[str, Limits] = {}
    for model, entry in mapping(provider.get("models")).items():
        limit = mapping(mapping(entry).get("limit"))
        if name and (context := count(limit.get("context"))):
            found[f"{name}/{model}"] = Limits(context, count(limit.get("output")) or 0, count(limit.get("input")))
    return found


def _providers(env: Mapping[str, str]) -> Iterator[Entry]:
    """Providers as different places name them, the one that wins last."""
    home = Path(env.get("HOME") or Path.home())
    yield read(Path(env.get("XDG_CACHE_HOME") or home / ".cache") / "opencode" / "models.json")
    for one in settings(Path(env.get("PWD") or "/"), env):
        yield mapping(one.get("provider"))
