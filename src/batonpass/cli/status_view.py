"""How `baton status` reads: one block per session, pure from the daemon's answer to text."""

from pathlib import Path

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from batonpass.cli.breaker import sentence as guard_sentence
from batonpass.cli.records import HostRow, NotificationRow, SessionRow, SetbackRow, Status
from batonpass.cli.words import ago, clean, duration, moment, near, tokens

_BAR = 24
# Zones of the shipped ladders; one that a user named is coloured by how full the session is.
_ZONES = {
    "normal": "green",
    "monitoring": "cyan",
    "warning": "yellow",
    "critical": "dark_orange",
    "mandatory": "bold red",
    "unknown": "dim",
}
_STATES = {
    "busy": "green",
    "waiting": "bold yellow",
    "dead": "bold red",
    "ended": "dim",
    "unknown": "dim",
    "unreachable": "bold red",
}
_NOTIFICATIONS = 5


def view(status: Status, *, now: float, home: Path) -> RenderableType:
    """Everything that `baton status` shows."""
    blocks: list[RenderableType] = [_headline(status, now)]
    if trouble := status.get("store"):
        blocks.append(Text(f"\n{clean(trouble)}", "bold red"))
    for host in status.get("hosts", []):
        blocks += [Text(), _host(host), *_of_host(host["host"], status, now=now, home=home)]
    if "hosts" not in status:
        blocks += _of_host(None, status, now=now, home=home)
    if not status["sessions"]:
        blocks.append(Text("\nNo sessions. Start one with: baton run"))
    if problems := status.get("problems", []):
        blocks.append(Text("\nConfiguration: these are not followed until they are mended", "bold red"))
        blocks += [Text(f"  {clean(problem)}") for problem in problems]
    if recent := status["notifications"][-_NOTIFICATIONS:]:
        blocks.append(Text("\nNotifications", "bold"))
        blocks += [
            Text.assemble(
                "  ",
                (f"{ago(note['at'], now)}  ", "dim"),
                _about(note, status),
                clean(note["text"]),
            )
            for note in recent
        ]
    return Group(*blocks)


def _of_host(host: str | None, status: Status, *, now: float, home: Path) -> list[RenderableType]:
    """The sessions of one host, or all of them."""
    rows = [row for row in status["sessions"] if host in (None, row["host"])]
    return [block for row in rows for block in (Text(), _session(row, now=now, home=home))]


def _host(host: HostRow) -> Text:
    age = host["age"]
    heard = "never heard of" if age is None else f"last heard of {duration(round(max(age, 0)))} ago"
    count = f"{host['sessions']} session{'' if host['sessions'] == 1 else 's'}"
    return Text.assemble(
        (f"■ {clean(host['host'])}", "bold" if host["alive"] else "bold red"),
        (" (this host)" if host["here"] else "", "dim"),
        f" · {count}" if host["alive"] else f" · dead, {heard} · {count} unreachable until Baton runs there again",
    )


def _headline(status: Status, now: float) -> Text:
    count = len(status["sessions"])
    return Text.assemble(
        ("Baton", "bold"),
        f" on {clean(status['host'])} · {count} session{'' if count == 1 else 's'}",
        (f" · daemon started {ago(status['daemon'].get('started'), now)}", "dim"),
    )


def _session(row: SessionRow, *, now: float, home: Path) -> RenderableType:
    head = Table.grid(padding=(0, 2, 0, 0))
    for width in (16, 18, _BAR + 6):
        head.add_column(width=width, no_wrap=True, overflow="ellipsis")
    head.add_column(no_wrap=True)
    state = clean(row["state"])
    colour = zone_colour(row)
    head.add_row(
        Text(clean(row["name"]), "bold"),
        Text.assemble(clean(row["agent"]), " · ", (state, _STATES.get(state, ""))),
        bar(row["percent"], colour),
        Text(clean(row["zone"]), colour),
    )
    lines = [_happening(row, now), _amounts(row), _where(row, now=now, home=home)]
    return Group(head, *(Padding(line, (0, 0, 0, 2), expand=False) for line in lines if line))


def zone_colour(row: SessionRow) -> str:
    """The colour of a session's zone."""
    percent = row["percent"]
    if percent is None:
        return _ZONES["unknown"]
    by_fill = next(
        (zone for at, zone in ((85, "mandatory"), (70, "critical"), (50, "warning")) if percent >= at),
        "normal",
    )
    return _ZONES.get(row["zone"], _ZONES[by_fill])


def bar(percent: float | None, colour: str) -> Text:
    """A bar with its figure; an unknown fill is shown as unknown, and not as empty."""
    if percent is None:
        return Text("╌" * _BAR + "   ? %", "dim")
    full = min(max(round(percent / 100 * _BAR), 1 if percent > 0 else 0), _BAR)
    return Text.assemble(("━" * full, colour), ("╌" * (_BAR - full), "dim"), (f" {percent:3.0f} %", colour))


def _happening(row: SessionRow, now: float) -> Text | None:
    """What a person should know first: a cycle under way, a dialog that waits, a notice."""
    parts = []
    if cycle := row["cycle"]:
        since = moment(cycle["since"])
        for_how_long = "" if since is None else f" for {duration(round(max(now - since, 0)))}"
        step = "waits for its turn" if cycle.get("queued") else clean(cycle["step"]).replace("_", " ")
        parts.append(Text(f"▶ passing the baton: {step}{for_how_long} (cycle {clean(cycle['id'])})", "bold magenta"))
    if row["state"] == "waiting":
        what = clean(row["waiting_for"] or "a dialog")
        parts.append(Text(f"⏸ waits for you: {what}", "bold yellow"))
    if row["hooks"] is False:
        parts.append(Text("! no hooks run here: followed by its record, prompts are typed", "yellow"))
    if row.get("answers") is False:
        parts.append(Text("! its port does not answer: followed by its record, prompts are typed", "yellow"))
    if setback := row.get("setback"):
        parts.append(Text(_setback(setback, now), "bold yellow"))
        if missed := setback.get("missed"):
            parts.append(Text(f"! {clean(missed)}", "yellow"))
    if row["guard"] and row["guard"]["guard"]:
        parts.append(Text(f"⏹ {guard_sentence(row['guard'])}", "bold red"))
    if row["notice"]:
        parts.append(Text(clean(row["notice"]), "yellow"))
    return Text("\n").join(parts) if parts else None


def _setback(setback: SetbackRow, now: float) -> str:
    """What its provider keeps it from, and what is done about that."""
    kind, until = clean(setback["kind"]).replace("_", " "), setback["until"]
    left = "" if until is None else f" in {duration(round(max(until - now, 0)))}"
    if setback["phase"] == "away":
        return f"⇄ stands in for {clean(setback['first'] or '')} ({kind}), which is tried again{left}"
    if setback["phase"] == "waiting":
        return f"⏳ stopped by its provider ({kind}), goes on{left}"
    if setback["phase"] == "switching":
        return f"⇄ {clean(setback.get('to') or '')} takes over ({kind})"
    return f"⏹ stopped by its provider ({kind}): sign in in its pane, then send it any prompt"


def _amounts(row: SessionRow) -> Text:
    if row["used"] is None:
        parts = ["usage not known yet"]
        if row["usable"]:
            parts.append(f"{tokens(row['usable'])} usable")
    else:
        parts = [f"{tokens(row['used'])} of {tokens(row['usable'])} tokens"]
    if row["window"] and row["window"] != row["usable"]:
        parts[-1] += f" (window {tokens(row['window'])})"
    parts += _forecast(row)
    if row["used"] is not None and row["source"]:
        parts.append(f"by {clean(row['source'])}")
    return Text(" · ".join(parts))


def _forecast(row: SessionRow) -> list[str]:
    ahead = row["forecast"]
    if not ahead or ahead["messages_left"] is None:
        return []
    left = int(ahead["messages_left"])
    text = f"about {left} message{'' if left == 1 else 's'}"
    if ahead["seconds_left"] is not None:
        text += f", {duration(round(ahead['seconds_left']))}"
    text += " left"
    if ahead["tokens_per_message"] is not None:
        text += f" at {tokens(ahead['tokens_per_message'])} each"
    return [text]


def _where(row: SessionRow, *, now: float, home: Path) -> Text:
    parts = [near(row["project"], home)]
    if row["model"]:
        parts.append(clean(row["model"]))
    if row["pane"]:
        parts.append(f"pane {clean(row['pane'])}")
    if row["chain"]:
        parts.append(f"{row['chain']} baton{'' if row['chain'] == 1 else 's'} passed")
    if last := row["last_handoff"]:
        parts.append(f"last handoff #{last['number']} {ago(last['at'], now)}")
    return Text(" · ".join(parts), "dim")


def _about(note: NotificationRow, status: Status) -> str:
    """The session that a notification is about, where its text does not begin with it."""
    name = next((row["name"] for row in status["sessions"] if row["session"] == note["session"]), "")
    return f"{clean(name)}: " if name and not note["text"].startswith(name) else ""
