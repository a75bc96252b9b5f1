"""Every setting: its type, its default and what it means. The JSON schema is made from here."""

import re
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from batonpass.agents.wishes import Size
from batonpass.ladder import Action

CUSTOM = "custom"
Preset = Literal["early", "graduated", "tokens", "staged", "custom"]
LayoutName = Literal["files", "living", "sandbox"]


def inside(value: str) -> str:
    """A folder or file below the project: what is named here is Baton's to write and to ignore."""
    path = PurePosixPath(value)
    if path.is_absolute() or value.startswith("~") or ".." in path.parts or "\x00" in value:
        raise ValueError("must be a path inside the project, such as docs/handoffs")
    if not path.parts or path.parts[0] == ".git":
        raise ValueError("must be a place of its own in the project, such as docs/handoffs")
    return value


def _never(value: bool) -> bool:
    if value:
        raise ValueError("must be false: nobody can open a browser session but its user")
    return value


def expression(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"must be a regular expression ({error})") from None
    return value


Percent = Annotated[float, Field(ge=1, le=100)]
Tokens = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0)]
Pattern = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(expression)]
InProject = Annotated[str, AfterValidator(inside)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class RungSetting(_Section):
    """One rung: with a preset, the changes to its rung of that zone; with `custom`, the whole rung."""

    zone: str = Field(min_length=1, description="The zone's name; a preset's zone to change it.")
    percent: Percent | None = Field(default=None, description="Percent of the usable window.")
    tokens: Tokens | None = Field(default=None, description="Tokens; with percent too, whichever comes first.")
    actions: tuple[Action, ...] | None = Field(default=None, description="What is done once when it is reached.")
    admit: Annotated[int, Field(ge=0)] | None = Field(default=None, description="New tasks must be smaller, in tokens.")
    every_minutes: Seconds | None = Field(default=None, description="How often a nudge is repeated.")


class LadderSetting(_Section):
    preset: Preset | None = Field(
        default=None,
        description="The ladder: `graduated` for interactive sessions, `staged` for tasks if not set.",
    )
    rungs: tuple[RungSetting, ...] = Field(default=(), description="Changes to single rungs, or all of a `custom` one.")


class Timeouts(_Section):
    safe_point: Seconds = Field(
        default=300, description="Seconds to wait for a moment at which the agent may be asked."
    )
    ask: Seconds = Field(default=300, description="Seconds for asking and waiting for the document, retry included.")
    pass_: Seconds = Field(default=60, alias="pass", description="Seconds for the clear or the restart.")
    prime: Seconds = Field(default=60, description="Seconds until the successor has its context and first prompt.")
    verify: Seconds = Field(default=180, description="Seconds for the successor's receipt.")


class Prompts(_Section):
    ask: Path | None = Field(default=None, description="A file with your own words for asking for the handoff.")
    kick: Path | None = Field(default=None, description="A file with your own words for the successor's first prompt.")


class AgentSetting(_Section):
    args: tuple[str, ...] = Field(default=(), description="Arguments put before those of `baton run`.")
    models: dict[Size, str] = Field(
        default={}, description="Which model to take for each size (large, medium, small) after a switch to this agent."
    )


class Quota(_Section):
    wait_minutes: Annotated[float, Field(ge=0)] = Field(
        default=15, description="A limit that ends within so many minutes is waited for; else another agent goes on."
    )
    retry_minutes: Seconds = Field(
        default=60, description="Where nobody says when a quota begins anew, the first agent is tried again after this."
    )


class Tmux(_Section):
    socket: str = Field(default="", description="A name or a path of a tmux server of its own; empty for yours.")


class Notify(_Section):
    command: tuple[str, ...] | None = Field(
        default=None, description="A program to run with the text as last argument."
    )
    desktop: bool = Field(default=True, description="Show a desktop notification where the system has one.")


class HandoffKeys(_Section):
    """The keys of `.supervisor-specific/handoff-config.yaml`, under `handoff:`."""

    enabled: bool = Field(default=True, description="False: sessions are watched and logged, nothing is done to them.")
    threshold: Percent | None = Field(default=None, description="Percent at which the handoff is due; moves that rung.")
    auto_continue_cli: bool = Field(
        default=True, description="False: a cycle ends when the handoff is sealed, with a pending file."
    )
    auto_continue_browser: Annotated[bool, AfterValidator(_never)] = Field(
        default=False, description="Always false: nobody can open a browser session but its user."
    )
    retention_days: Annotated[int, Field(ge=1)] = Field(default=90, description="How long archived handoffs are kept.")
    notify_user_at: Percent | None = Field(default=None, description="Percent of the first warning; moves that rung.")


class Settings(HandoffKeys):
    """Baton's configuration, in `config.yaml` of its home and in `.baton/config.yaml` of a project."""

    ladder: LadderSetting = Field(default=LadderSetting(), description="At what usage what is done.")
    remind_at: Percent | None = Field(default=None, description="Percent of the first reminder; moves that rung.")
    layout: LayoutName = Field(default="files", description="Where handoffs live.")
    handoff_dir: InProject = Field(default=".bmad/handoffs", description="Folder of the handoffs (`files` layout).")
    context_threshold: Tokens | None = Field(default=None, description="Tokens at which the handoff is due.")
    handoff_path: InProject = Field(default="docs/HANDOFF.md", description="The document of the `living` layout.")
    template_path: InProject = Field(default="docs/HANDOFF-template.md", description="The template of that document.")
    archive_dir: InProject = Field(default="docs/HANDOFF-archive/", description="Where that document is archived.")
    handoff_size_threshold: Annotated[int, Field(ge=1)] = Field(
        default=500, description="Lines above which that document is archived by itself."
    )
    auto_commit: bool | None = Field(
        default=None, description="Commit Baton's own files; if not set, only in the `living` layout."
    )
    small_task_tokens: Tokens = Field(default=5000, description="Tasks must be smaller in the warning zone.")
    tiny_task_tokens: Tokens = Field(default=2000, description="Tasks must be smaller in the critical zone.")
    reminder_minutes: Seconds = Field(default=10, description="How often the agent is reminded in the critical zone.")
    max_concurrent: Annotated[int, Field(ge=1)] = Field(default=2, description="Handoffs under way at once.")
    cooldown_minutes: Annotated[float, Field(ge=0)] = Field(
        default=5, description="After a handoff that did not end well, the time until the next one may begin by itself."
    )
    breaker_per_hour: Annotated[int, Field(ge=1)] = Field(
        default=3,
        description="After so many handoffs of a session in an hour it is paused and you are called.",
    )
    timeouts: Timeouts = Field(default=Timeouts(), description="How long each step of a handoff may take.")
    checkpoint_dir: InProject = Field(default="tmp/context-checkpoints", description="Folder of the checkpoints.")
    checkpoint_retention_days: Annotated[int, Field(ge=1)] = Field(
        default=7, description="How long checkpoints are kept that no handoff in use needs."
    )
    handoff_tokens: Annotated[int, Field(ge=1000)] = Field(
        default=4000, description="How large a handoff may be, in tokens; facts are shortened to fit."
    )
    redact_allow: tuple[Pattern, ...] = Field(
        default=(), description="Regular expressions for what looks like a secret or personal data and is not."
    )
    prompts: Prompts = Field(default=Prompts(), description="Files that replace Baton's own prompts.")
    agents: dict[str, AgentSetting] = Field(
        default={}, description="Settings for each agent, by its name; their order is that of your preference."
    )
    quota: Quota = Field(default=Quota(), description="What is done when a provider does not serve an agent any more.")
    tmux: Tmux = Field(default=Tmux(), description="The tmux server.")
    store: str | None = Field(default=None, description="Database URL; a SQLite file in Baton's home if not set.")
    notify: Notify = Field(default=Notify(), description="How you are called.")


# A project's files come with a clone: what runs programs or concerns the whole host is not theirs to set.
HOME_ONLY = frozenset({"agents", "tmux", "store", "notify", "max_concurrent", "redact_allow"})
