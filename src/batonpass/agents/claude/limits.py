"""How large Claude Code's windows are, and where it compacts itself."""

from collections.abc import Mapping

DEFAULT_WINDOW = 200_000
LARGE_WINDOW = 1_000_000

_LARGE_MODELS = ("claude-opus-5-5", "claude-haiku-5-5")
_OUTPUT_RESERVE = 20_000
_COMPACT_MARGIN = 13_000
_BLOCK_MARGIN = 3_000
_SMALLEST_COMPACT_WINDOW = 100_000
# What the user's settings say of its compaction, for the watch of a session: the program has no such variables, since
# one that says the same would outlast a change of the settings.
SETTING_WINDOW, SETTING_OFF = "BATON_CLAUDE_COMPACT_WINDOW", "BATON_CLAUDE_COMPACTS_NOT"
# Variables that a settings file may set as well, in its `env`.
VARIABLES = (
    "CLAUDE_CODE_AUTO_COMPACT_WINDOW", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "CLAUDE_CODE_DISABLE_1M_CONTEXT", "CLAUDE_CODE_MAX_CONTEXT_TOKENS", "DISABLE_AUTO_COMPACT", "DISABLE_COMPACT",
)  # fmt: skip


def window(model: str | None, env: Mapping[str, str]) -> int:
    """The window to assume until the status line says it.

    The same name has different windows in different versions, so this errs on the small side: too
    early a handoff is a nuisance, too late a one a loss.
    """
    name = model or ""
    if _on(env, "CLAUDE_CODE_DISABLE_1M_CONTEXT"):
        return DEFAULT_WINDOW
    if name.endswith("[1m]") or name.startswith(_LARGE_MODELS):
        return LARGE_WINDOW
    if name and not name.startswith("claude-"):
        return _number(env, "CLAUDE_CODE_MAX_CONTEXT_TOKENS") or DEFAULT_WINDOW
    return DEFAULT_WINDOW


def usable(window: int, env: Mapping[str, str]) -> int:
    """The number of tokens at which it compacts; with that switched off, at which it refuses to go on."""
    output = min(_number(env, "CLAUDE_CODE_MAX_OUTPUT_TOKENS") or _OUTPUT_RESERVE, _OUTPUT_RESERVE)
    if any(_on(env, name) for name in ("DISABLE_AUTO_COMPACT", "DISABLE_COMPACT", SETTING_OFF)):
        return max(0, window - output - _BLOCK_MARGIN)
    compact_window = _number(env, "CLAUDE_CODE_AUTO_COMPACT_WINDOW") or _number(env, SETTING_WINDOW)
    if compact_window and compact_window >= _SMALLEST_COMPACT_WINDOW:
        window = min(window, compact_window)
    effective = window - output
    threshold = effective - _COMPACT_MARGIN
    percent = _float(env, "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE")
    if percent and percent <= 100:
        threshold = min(threshold, int(effective * percent / 100))
    return max(0, threshold)


def _number(env: Mapping[str, str], name: str) -> int | None:
    return int(_float(env, name) or 0) or None


def _float(env: Mapping[str, str], name: str) -> float | None:
    try:
        value = float(env.get(name, ""))
    except ValueError:
        return None
    return value if 0 < value < 1e9 else None


def _on(env: Mapping[str, str], name: str) -> bool:
    return env.get(name, "").strip().lower() in {"1", "true", "yes", "on"}
