"""Models that change their ways in the middle of a test."""

from batonpass.sim import paperwork
from batonpass.sim.brain import Asked, Reply
from batonpass.sim.worker import Worker, WorkerSettings


class CalmAfter:
    """Works hard until it was asked for so many handoffs; whoever comes then has little to do."""

    def __init__(self, batons: int, settings: WorkerSettings) -> None:
        self._batons, self._asked = batons, set[str]()
        self._busy, self._calm = Worker(settings), Worker(WorkerSettings(step=100))

    def reply(self, asked: Asked) -> Reply:
        mark = paperwork.mark_in(asked.text)
        if mark and mark.step == "ask":
            self._asked.add(mark.cycle)
        return (self._calm if len(self._asked) >= self._batons else self._busy).reply(asked)
