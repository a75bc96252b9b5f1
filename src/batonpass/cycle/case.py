"""One cycle at one move: what the step functions share."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from batonpass import agents
from batonpass.agents.base import Agent
from batonpass.config import Config
from batonpass.cycle.stage import Stage
from batonpass.facts import Facts
from batonpass.handoff.chain import last_of
from batonpass.handoff.draft import Meta
from batonpass.handoff.layouts import Layout, every
from batonpass.handoff.layouts import layout as layout_of
from batonpass.handoff.redact import patterns, redact
from batonpass.project import Project
from batonpass.store.records import CycleRecord
from batonpass.supervisor.conversation import Conversation
from batonpass.supervisor.launch import began_with
from batonpass.supervisor.watch import Watch

_DIED = "the successor died before its receipt"


@dataclass(slots=True)
class Case:
    """A cycle under way, with what it acts on and what it has noted down."""

    stage: Stage
    cycle: CycleRecord
    watch: Watch
    config: Config

    @property
    def agent(self) -> Agent:
        return self.watch.agent

    @property
    def project(self) -> Project:
        return Project(self.watch.session.project).configured(self.config)

    @property
    def layout(self) -> Layout:
        return layout_of(self.config.layout, self.watch.session.project, self.config)

    def clean(self, text: str) -> str:
        """A text as Baton may write it down: without secrets."""
        return redact(text, allow=patterns(self.config.redact_allow))[0]

    @property
    def previous(self) -> Path | None:
        """The handoff that this session goes on from: the last that it wrote, or the one that it was started from."""
        session = self.watch.session
        return last_of(every(session.project, self.config), session.id) or began_with(self.watch.folder)

    def recall(self, key: str) -> object:
        return self.cycle.data.get(key)

    def remember(self, **facts: object) -> None:
        """Keep something with the cycle, before the next step relies on it."""
        self.cycle = self.stage.store.update_cycle(self.cycle.id, data={**self.cycle.data, **facts})

    @property
    def elsewhere(self) -> bool:
        """Whether the user has gone to another conversation: nothing may be asked or cleared there."""
        current, old = self.watch.conversation.agent_session, self.cycle.old_agent_session
        return bool(current and old and current != old)

    @property
    def since(self) -> float:
        """When the current round began; a user's new prompt begins another."""
        return float(str(self.recall("round_began") or self.cycle.started))

    def set_deadline(self) -> None:
        """Ask and await together have so long; kept for a daemon that has to go on with it."""
        deadline = self.stage.clock.now() + self.config.timeouts.ask
        data = {**self.cycle.data, "deadline_round": self.since}
        self.cycle = self.stage.store.update_cycle(self.cycle.id, deadline=deadline, data=data)
        self.watch.due = None

    @property
    def left(self) -> float:
        """Seconds until the deadline, counted by a clock that nobody sets; after a restart from the date kept."""
        clock, mark = self.stage.clock, f"{self.cycle.id} {self.since}"
        if self.watch.due is None or self.watch.due[0] != mark:
            left = (self.cycle.deadline or 0.0) - clock.now()
            self.watch.due = (mark, clock.ticks() + min(left, self.config.timeouts.ask))
        return self.watch.due[1] - clock.ticks()

    def draft(self, attempt: int) -> Path:
        """A fresh name for every attempt: some agents refuse to overwrite what they have not read."""
        return self.stage.launcher.draft_dir(self.watch) / f"{self.cycle.id}-{attempt}.md"

    async def facts(self, max_age: float = 0.0) -> Facts:
        """What a machine knows now; gathered beside the event loop, since git may take a moment.

        Where nothing was said since, facts of `max_age` seconds ago will do.
        """
        return await asyncio.to_thread(self._gather, max_age)

    def last_facts(self) -> Facts | None:
        """What a machine knew when it was asked last: for a time in which it does not answer."""
        return self.stage.known.last(self._spoken())

    def _gather(self, max_age: float) -> Facts:
        watch = self.watch
        now, previous = self.stage.clock.now(), self.previous
        return self.stage.known.facts(watch, self._spoken(), at=now, previous=previous, max_age=max_age)

    def bequeath(self) -> None:
        """Hand off the conversation in front: a successor that had worked when it died before its receipt."""
        dead = self.watch.conversation
        named = {"agent_session": dead.agent_session, "transcript": str(dead.transcript)}
        self.remember(bequest=named, round_began=self.stage.clock.now(), kept=None)

    @property
    def bequest(self) -> dict[str, str] | None:
        """The successor that is handed off in the place of the predecessor."""
        noted = self.recall("bequest")
        return {str(key): str(value) for key, value in noted.items()} if isinstance(noted, dict) else None

    @property
    def handed_off(self) -> str | None:
        """The conversation that the document is of."""
        return self.bequest["agent_session"] if self.bequest else self.cycle.old_agent_session

    def _spoken(self) -> Conversation:
        """The conversation that is handed off; known also when another is in front after a restart."""
        if dead := self.bequest:
            found = self.watch.conversation_of(dead["agent_session"])
            return found or Conversation(dead["agent_session"], Path(dead["transcript"]), self.agent.record)
        old, noted = self.cycle.old_agent_session, self.recall("transcript")
        found = self.watch.conversation_of(old)
        moved = self.elsewhere or self.recall("switched") is not None
        if found is None and moved and isinstance(noted, str):
            return Conversation(old or "", Path(noted), self._old_agent.record)
        return found or self.watch.conversation

    @property
    def _old_agent(self) -> Agent:
        """Who holds or held the conversation that is handed off."""
        noted = self.recall("switched")
        return agents.get(str(noted["agent"])) if isinstance(noted, dict) else self.agent

    def meta(self, number: int, previous: str | None, created: float) -> Meta:
        session = self.watch.session
        return Meta(
            number=number,
            previous=previous,
            created=created,
            session=session.id,
            agent=session.agent,
            agent_session=self.handed_off,
            project=session.project.name,
            reason=_DIED if self.bequest else self.cycle.cause,
            used=None if self.bequest else self.cycle.used,
            usable=_int(self.recall("usable")),
            window=_int(self.recall("window")),
            percent=None if self.bequest else self.cycle.percent,
            checkpoint=str(self.recall("checkpoint") or "") or None,
        )


def _int(value: object) -> int | None:
    return value if isinstance(value, int) else None
