"""How much fits into Gemini's models, and where Gemini CLI compresses by itself."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from batonpass.agents.gemini.places import read_settings, settings_files

COMPRESS_AT = "BATON_GEMINI_COMPRESS_AT"  # tells the watch at which share of the window the user has it compress

_WINDOW = 1_048_576  # of every Gemini model
_SMALLER = {"gemma-4-31b-it": 256_000, "gemma-4-26b-a4b-it": 256_000}
_SHARE = 0.5  # where nobody has set another


def window(model: str | None) -> int:
    """The window of a model, as the program itself has it.

    >>> window("gemini-2.5-pro"), window("gemma-4-31b-it")
    (1048576, 256000)
    """
    return _SMALLER.get(model or "", _WINDOW)


def usable(window: int, env: Mapping[str, str]) -> int:
    """Where it compresses: half of the window, or the share that the settings name.

    >>> usable(1_048_576, {}), usable(1_048_576, {COMPRESS_AT: "0.7"}), usable(1_048_576, {COMPRESS_AT: "7"})
    (524288, 734003, 1048576)
    """
    try:
        share = float(env.get(COMPRESS_AT, _SHARE))
    except ValueError:
        share = _SHARE
    return min(window, int(window * share)) if share > 0 else window // 2


def compress_at(project: Path, env: Mapping[str, str]) -> float | None:
    """The share that the settings name; the project's win over the user's, the administrator's over both."""
    return next(_shares(project, env), None)


def _shares(project: Path, env: Mapping[str, str]) -> Iterator[float]:
    for path in settings_files(project, env):
        model = read_settings(path).get("model")
        share = model.get("compressionThreshold") if isinstance(model, dict) else None
        if isinstance(share, int | float) and not isinstance(share, bool) and share > 0:
            yield float(share)
