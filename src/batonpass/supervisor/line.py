"""What the status line shows of a session: one short line, coloured by its zone."""

from batonpass.ladder import Decision
from batonpass.supervisor.watch import Watch

_COLOURS = {"ok": "32", "warning": "33", "critical": "31"}
_WIDTH = 10


def status_line(watch: Watch, decision: Decision | None) -> str:
    """For example `baton ▰▰▰▰▱▱▱▱▱▱ 42% · monitoring · ~9 messages left`."""
    percent = watch.reading.percent if watch.reading else None
    if percent is None or decision is None:
        return "baton · waiting for the first reading"
    full = min(_WIDTH, round(percent * _WIDTH / 100))
    bar = "▰" * full + "▱" * (_WIDTH - full)
    words = [f"\x1b[{_COLOURS[decision.status]}m{bar} {percent:.0f}%\x1b[0m", decision.zone]
    left = watch.forecast.messages_left
    if left is not None and left < 1000:
        words.append(f"~{left:.0f} messages left")
    return "baton " + " · ".join(words)
