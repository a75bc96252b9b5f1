"""Whether an agent that was started to go on with a conversation really has it: by its own word, not by our wish."""

from enum import StrEnum

from batonpass.session import State
from batonpass.supervisor.watch import Watch

_LOOK_SECONDS = 0.5  # not every word of an agent's wakes its watch


class Came(StrEnum):
    THERE = "there"  # it says itself that it has the conversation
    ENDED = "ended"  # at its start
    ASKS = "asks"  # it stands at a dialog, and a person has to answer
    SILENT = "silent"  # it runs, and has said nothing so far


async def came_back(watch: Watch, seconds: float) -> Came:
    """What became of the process that was just started with the watch's conversation, as soon as that is told.

    One that begins another conversation has not come back with this one.
    """
    deadline, meant = watch.clock.ticks() + seconds, watch.conversation.agent_session
    while True:
        watch.refresh()
        if (came := _now(watch, meant)) is not Came.SILENT or watch.clock.ticks() >= deadline:
            return came
        await watch.until(lambda: _now(watch, meant) is not Came.SILENT, _LOOK_SECONDS)


def _now(watch: Watch, meant: str) -> Came:
    if watch.gone:
        return Came.ENDED
    if watch.dialog or watch.status.state is State.WAITING:
        return Came.ASKS
    same = watch.conversation.agent_session == meant
    return Came.THERE if same and watch.agent.holds(watch.binding) else Came.SILENT
