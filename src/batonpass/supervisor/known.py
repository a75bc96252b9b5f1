"""What a machine knows of each live session, kept current while it runs."""

import asyncio
from pathlib import Path
from weakref import WeakKeyDictionary

from batonpass.clock import Clock
from batonpass.facts.gather import Followed
from batonpass.facts.kept import Kept
from batonpass.facts.model import Facts
from batonpass.handoff.redact import warm
from batonpass.project import Project
from batonpass.supervisor.conversation import Conversation
from batonpass.supervisor.settings import Settings
from batonpass.supervisor.watch import Watch

_LEISURE_SECONDS = 0.25  # agents write many lines at a time, and a handoff reads the last ones itself


class Known:
    """The facts of every conversation that is followed: at a handoff only the last lines are still to be read."""

    def __init__(self, config: Settings) -> None:
        self._config = config
        self._kept: WeakKeyDictionary[Conversation, tuple[Project, Kept]] = WeakKeyDictionary()
        self._last: WeakKeyDictionary[Conversation, Facts] = WeakKeyDictionary()
        self._due: dict[Conversation, Watch] = {}
        self._following: asyncio.Task[None] | None = None
        self._ahead: asyncio.Task[None] | None = None

    def follow(self, watch: Watch) -> asyncio.Task[None]:
        """Take in, beside the event loop, what the session's transcript has grown by; done when that is done."""
        self._due[watch.conversation] = watch
        if self._following is None or self._following.done():
            self._following = asyncio.create_task(self._follow(watch.clock))
        return self._following

    def look_ahead(self, watch: Watch) -> None:
        """A turn is over, and the facts may be wanted as soon as its usage is known: ask git meanwhile."""
        kept = self._of(watch, watch.conversation)
        if kept is not None:
            self._ahead = asyncio.create_task(asyncio.to_thread(kept.look_ahead, watch.clock.now()))

    async def _follow(self, clock: Clock) -> None:
        """A moment later, and one transcript at a time, so that a long one costs others nothing but a little time."""
        await asyncio.to_thread(warm)
        await clock.sleep(_LEISURE_SECONDS)
        while self._due:
            conversation, watch = self._due.popitem()
            kept = self._of(watch, conversation)
            if kept is not None:
                await asyncio.to_thread(kept.read)
            if watch.step is None:
                self.let_go(watch)

    def let_go(self, watch: Watch) -> None:
        """Drop the facts of conversations that nobody goes on with: whoever still asks has their record read anew."""
        for conversation in (*watch.past, *([watch.conversation] if watch.gone else [])):
            self._kept.pop(conversation, None)
            self._last.pop(conversation, None)

    def facts(
        self, watch: Watch, conversation: Conversation, *, at: float, previous: Path | None, max_age: float = 0.0
    ) -> Facts:
        """Everything that can be known now. Blocks for git and the last lines: call it beside the event loop."""
        session, mine = watch.session, conversation.agent_session or None
        kept = self._of(watch, conversation)
        if kept is None:
            followed = Followed(session.project, self._project(watch).is_baton_file)
            return followed.facts(session.agent, mine, None, watch.background, at=at, previous=previous)
        found = kept.facts(session.agent, mine, watch.background, at=at, previous=previous, max_age=max_age)
        self._last[conversation] = found
        return found

    def last(self, conversation: Conversation) -> Facts | None:
        """What was found out last of a conversation, at once; None where nothing was since the daemon began."""
        return self._last.get(conversation)

    def _of(self, watch: Watch, conversation: Conversation) -> Kept | None:
        """None as long as the agent has no record."""
        if conversation.transcript is None:
            return None
        project, known = self._project(watch), self._kept.get(conversation)
        if known is None or known[0] != project or known[1].transcript != conversation.transcript:
            record = watch.agent_of(conversation.agent_session).record(conversation.transcript)
            kept = Kept(conversation.transcript, record, project.root, project.is_baton_file)
            self._kept[conversation] = known = project, kept
        return known[1]

    def _project(self, watch: Watch) -> Project:
        return Project(watch.session.project).configured(self._config(watch.session.project))
