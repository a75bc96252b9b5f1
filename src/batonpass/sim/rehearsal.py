"""Private homes for real agents: they start with no dialog and talk to the scripted model only."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_KEY = "sk-ant-rehearsal-0000000000000000000000000000"  # for the scripted model, which does not look at it
_KEPT = ("PATH", "LANG", "LC_ALL", "TERM", "COLORTERM", "TMPDIR", "SHELL", "USER", "LOGNAME", "PYTHONPATH")
_QUIET = {
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_BUG_COMMAND": "1",
    "DISABLE_COST_WARNINGS": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION": "false",
}
_OPENCODE_QUIET = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_FFF": "1",
    "OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER": "1",
    "npm_config_registry": "http://127.0.0.1:9",  # at every start it would install a package into its configuration
}
# Every start of an older model proposes a newer one, unless that was answered before.
_CODEX = """\
model = "{model}"
model_provider = "rehearsal"
check_for_update_on_startup = false

[model_providers.rehearsal]
name = "Rehearsal"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "REHEARSAL_KEY"

[projects.{project}]
trust_level = "trusted"

[notice.model_migrations]
"{model}" = "gpt-6-sol"
"""


def private_environment(home: Path, *, env: Mapping[str, str] = os.environ) -> dict[str, str]:
    """An environment in which nothing of the user's is found or changed: only what a program needs to run."""
    return {**{name: env[name] for name in _KEPT if name in env}, "HOME": str(home)}


def claude_environment(
    home: Path, project: Path, base_url: str, *, env: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """The whole environment for a Claude Code that works on `project` against the model at `base_url`.

    Everything it writes goes below `home`, where onboarding, the key and the trust in this one project
    are settled beforehand. May be called again for another project with the same home.
    """
    config = home / ".claude"
    config.mkdir(mode=0o700, parents=True, exist_ok=True)
    _settle(config / ".claude.json", project.resolve())
    return {
        **private_environment(home, env=env),
        "CLAUDE_CONFIG_DIR": str(config),
        "ANTHROPIC_BASE_URL": base_url,
        "ANTHROPIC_API_KEY": _KEY,
        **_QUIET,
    }


def _settle(path: Path, project: Path) -> None:
    state: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    state.setdefault("hasCompletedOnboarding", True)
    state.setdefault("customApiKeyResponses", {"approved": [_KEY[-20:]], "rejected": []})
    entry = state.setdefault("projects", {}).setdefault(str(project), {})
    entry["hasTrustDialogAccepted"] = True
    path.write_text(json.dumps(state, indent=2), encoding="utf-8")


def codex_environment(
    home: Path, project: Path, base_url: str, *, model: str = "gpt-5.5", env: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """The whole environment for a Codex that works on `project` against the model at `base_url`.

    Everything it writes goes below `home`, where provider, model and the trust in this one project are
    settled beforehand. A configuration that is there already stays as it is.
    """
    config = home / ".codex"
    config.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not (config / "config.toml").exists():
        settled = _CODEX.format(model=model, url=base_url, project=json.dumps(str(project.resolve())))
        (config / "config.toml").write_text(settled, encoding="utf-8")
    return {**private_environment(home, env=env), "CODEX_HOME": str(config), "REHEARSAL_KEY": _KEY}


def opencode_environment(
    home: Path,
    project: Path,
    base_url: str,
    *,
    context: int = 200_000,
    output: int = 8_192,
    env: Mapping[str, str] = os.environ,
) -> dict[str, str]:
    """The whole environment for an opencode that works on `project` against the chat model at `base_url`.

    Everything it writes goes below `home`. A configuration that is there already stays as it is.
    """
    config = home / ".config" / "opencode" / "opencode.json"
    config.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not config.exists():
        model = {"name": "Rehearsal 1", "limit": {"context": context, "output": output}}
        # The key that it sends to have its cache found names the conversation: so requests can be told apart.
        options = {"baseURL": f"{base_url}/v1", "apiKey": _KEY, "setCacheKey": True}
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "Rehearsal", "options": options}
        settled = {
            "$schema": "https://opencode.ai/config.json",
            "autoupdate": False,
            "share": "disabled",
            "snapshot": False,
            "model": "rehearsal/rehearsal-1",
            "provider": {"rehearsal": {**provider, "models": {"rehearsal-1": model}}},
        }
        config.write_text(json.dumps(settled, indent=2), encoding="utf-8")
    return {
        **private_environment(home, env=env),
        "PWD": str(project),
        "OPENCODE_MODELS_PATH": str(_lighten_opencode(home, config.parent)),
        **_OPENCODE_QUIET,
    }


def _lighten_opencode(home: Path, config: Path) -> Path:
    """Spare it more than half of its work; gives the catalogue that it is to read.

    Its own catalogue of some thousand models is decoded, sent to its screen and kept there several times over before
    the first answer. What npm would install counts as installed by this lock file; and its screen stands still.
    """
    catalogue, state = home / "opencode-models.json", home / ".local" / "state" / "opencode"
    for folder in (state, config / "node_modules"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _write_new(catalogue, {})
    _write_new(state / "kv.json", {"animations_enabled": False})
    _write_new(config / "package-lock.json", {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}})
    return catalogue


def gemini_environment(
    home: Path, project: Path, base_url: str, *, env: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """The whole environment for a Gemini CLI that works on `project` against the model at `base_url`.

    Everything it writes goes below `home`, where the sign-in by key and the trust in this one project are settled
    beforehand. Settings that are there already stay as they are.
    """
    config = home / ".gemini"
    config.mkdir(mode=0o700, parents=True, exist_ok=True)
    settled: dict[str, Any] = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    }
    _write_new(config / "settings.json", settled)
    _write_new(config / "trustedFolders.json", {str(project.resolve()): "TRUST_FOLDER"})
    return {
        **private_environment(home, env=env),
        "GEMINI_API_KEY": _KEY,
        "GOOGLE_GEMINI_BASE_URL": base_url,
    }


def _write_new(path: Path, content: dict[str, Any]) -> None:
    if not path.exists():
        path.write_text(json.dumps(content, indent=2), encoding="utf-8")
