import asyncio
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from batonpass.agents.base import Status
from batonpass.cycle.moves import Step
from batonpass.reading import Source
from batonpass.session import PaneRef, State
from batonpass.store import Store
from batonpass.supervisor.act import Supervisor
from batonpass.supervisor.health import Health
from batonpass.supervisor.settings import Settings
from batonpass.supervisor.watch import Watch
from batonpass.terminals.base import PaneGone, PaneInfo, Screen, Terminal, TerminalError
from tests.supervisor.fakes import PANE, TALK, HastyClock, Talk, ToldAgent, a_watch, start

ALIVE = PaneInfo(PANE, 4712, False, None, "", 80, 24, "", "agent", Path("/"), "shop", 0)


class FakeServer:
    """A tmux server that lists what the test says."""

    def __init__(self) -> None:
        self.panes: list[PaneInfo] = [ALIVE]
        self.closed: list[PaneRef] = []
        self.answers = True
        self.asked = 0
        self.rows: tuple[str, ...] = ("",)
        self.opened = False  # after the panes were listed

    async def list(self) -> Sequence[PaneInfo]:
        if not self.answers:
            raise TerminalError("no answer in time")
        return self.panes

    async def info(self, pane: PaneRef) -> PaneInfo:
        self.asked += 1
        if not self.panes and not self.opened:
            raise PaneGone("gone")
        return ALIVE if self.opened else self.panes[0]

    async def screen(self, pane: PaneRef, *, above: int = 0) -> Screen:
        if not self.panes:
            raise PaneGone("gone")
        return Screen(self.rows, 0, 0)

    async def close(self, pane: PaneRef) -> None:
        self.closed.append(pane)


class Scene:
    def __init__(self, folder: Path, store: Store, clock: HastyClock) -> None:
        self.told: list[str] = []
        self.brought_back: list[str] = []
        self.clock, self.store, self.agent, self.server = clock, store, ToldAgent(), FakeServer()
        supervisor = Supervisor(store, clock, Settings(folder / "home", {}), self._notify)
        self.watch: Watch = a_watch(folder, clock, self.agent, created=clock.now())[0]
        supervisor.add(self.watch)
        self._supervisor = supervisor
        self.health = self.later()

    def later(self) -> Health:
        """A daemon of a later time, which remembers nothing but what is in the store."""
        return Health(self._supervisor, lambda socket: cast(Terminal, self.server), self._bring_back)

    async def _bring_back(self, watch: Watch) -> None:
        self.brought_back.append(watch.session.id)
        self.server.panes = [ALIVE]

    async def _notify(self, session: str, text: str) -> None:
        self.told.append(text)

    async def look(self, times: int = 1) -> None:
        """So many rounds, a second apart."""
        for _ in range(times):
            await self.health.look()
            self.clock.advance(1)

    @property
    def saved(self) -> State:
        session = self.store.session(self.watch.session.id)
        assert session is not None
        return session.state


@pytest.fixture
def scene(tmp_path: Path, store: Store, clock: HastyClock) -> Scene:
    return Scene(tmp_path, store, clock)


async def test_an_agent_that_died_is_kept_as_dead_and_told_once(scene: Scene) -> None:
    scene.server.panes = [replace(ALIVE, dead=True, dead_status=137)]
    scene.server.rows = ("out of memory", "", "Pane is dead (status 137)")
    await scene.look(3)
    assert (scene.watch.session.state, scene.saved, scene.watch.gone) == (State.DEAD, State.DEAD, True)
    assert len(scene.told) == 1
    assert "shop died: its process ended with status 137; its last words: out of memory; " in scene.told[0]
    assert scene.server.closed == []


@pytest.mark.parametrize("step", [Step.PASS, Step.VERIFY])
async def test_a_process_that_was_replaced_while_its_end_was_looked_into_does_not_take_the_next_one_with_it(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, step: Step
) -> None:
    scene.server.panes = [replace(ALIVE, dead=True, dead_status=137)]
    scene.watch.step = Step.SEAL

    async def screen(pane: PaneRef, *, above: int = 0) -> Screen:
        scene.watch.step = step
        scene.watch.session = replace(scene.watch.session, pid=4713, state=State.STARTING)
        scene.server.panes = [replace(ALIVE, pid=4713)]
        return Screen(("out of memory",), 0, 0)

    monkeypatch.setattr(scene.server, "screen", screen)
    await scene.look()
    assert (scene.watch.gone, scene.told) == (False, [])


async def test_a_process_that_was_started_after_the_panes_were_listed_is_not_taken_for_the_dead_one_before_it(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def info(pane: PaneRef) -> PaneInfo:
        return replace(ALIVE, pid=4713)

    scene.server.panes = [replace(ALIVE, dead=True, dead_status=137)]
    scene.watch.session = replace(scene.watch.session, pid=4713)
    monkeypatch.setattr(scene.server, "info", info)
    await scene.look()
    assert (scene.watch.gone, scene.told) == (False, [])


async def test_where_tmux_does_not_say_who_has_the_pane_by_now_nobody_is_taken_for_dead(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def info(pane: PaneRef) -> PaneInfo:
        raise TerminalError("tmux does not answer")

    scene.server.panes = [replace(ALIVE, dead=True, dead_status=137)]
    scene.watch.session = replace(scene.watch.session, pid=4713)
    monkeypatch.setattr(scene.server, "info", info)
    await scene.look()
    assert (scene.watch.gone, scene.told) == (False, [])


async def test_an_agent_that_only_restarted_itself_is_brought_back_and_not_for_ever(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scene.agent, "restarts", lambda status, binding: status == 42)
    scene.server.panes = [replace(ALIVE, dead=True, dead_status=42)]
    await scene.look()
    assert (scene.brought_back, scene.told, scene.watch.gone) == ([scene.watch.session.id], [], False)
    scene.server.panes = [replace(ALIVE, dead=True, dead_status=42)]
    await scene.look()
    assert (len(scene.brought_back), scene.saved) == (1, State.DEAD)


async def test_an_end_that_tmux_has_missed_is_asked_for_and_not_taken_for_one_without_a_status(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = replace(ALIVE, dead=True, dead_status=None, pid=2**22 + 1)

    async def info(pane: PaneRef) -> PaneInfo:
        return replace(ended, dead_status=42)

    monkeypatch.setattr(scene.server, "info", info)
    monkeypatch.setattr(scene.agent, "restarts", lambda status, binding: status == 42)
    scene.server.panes = [ended]
    await scene.look(3)
    assert (scene.brought_back, scene.told) == ([scene.watch.session.id], [])


async def test_what_an_agent_leaves_running_behind_a_pane_that_vanished_is_ended(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    orphan = await asyncio.create_subprocess_exec("sleep", "60")
    monkeypatch.setattr(scene.agent, "leftovers", lambda binding: [orphan.pid])
    scene.server.panes = []
    await scene.look()
    assert await asyncio.wait_for(orphan.wait(), 20) == -signal.SIGTERM
    assert scene.saved is State.DEAD


async def test_what_an_agent_leaves_behind_is_put_right_while_it_runs_and_at_its_end_and_a_person_is_told(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = iter([["a file is kept beside yours"], [], ["and another"]])
    monkeypatch.setattr(scene.agent, "tend", lambda binding: next(said))
    await scene.look(2)
    assert scene.told == ["shop: a file is kept beside yours"]
    scene.server.panes = [replace(ALIVE, dead=True, dead_status=0)]
    await scene.look(2)
    assert (scene.saved, scene.told[1:]) == (State.ENDED, ["shop: and another"])


async def test_what_cannot_be_put_right_keeps_no_session_from_ending(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(binding: object) -> list[str]:
        raise OSError("no space left")

    monkeypatch.setattr(scene.agent, "tend", fail)
    scene.server.panes = [replace(ALIVE, dead=True, dead_status=0)]
    await scene.look()
    assert scene.saved is State.ENDED


async def test_a_dialog_behind_which_an_agent_calls_itself_idle_is_told(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scene.agent, "says_waiting", False)
    scene.agent.dialog_shown = "asks whether to trust this folder"
    scene.clock.advance(5)
    await scene.look()
    scene.clock.advance(3)
    await scene.look()
    assert scene.told == ["shop waits for a person: asks whether to trust this folder"]


async def test_a_pane_that_vanished_is_a_death_too(scene: Scene) -> None:
    scene.server.panes = []
    await scene.look(2)
    assert scene.saved is State.DEAD
    assert len(scene.told) == 1


async def test_a_pane_that_was_opened_since_they_were_listed_is_not_taken_for_gone(scene: Scene) -> None:
    scene.server.panes, scene.server.opened = [], True
    await scene.look()
    assert (scene.watch.gone, scene.server.asked) == (False, 1)
    assert scene.told == []


async def test_a_session_that_went_with_its_server_says_how_all_of_them_come_back(scene: Scene) -> None:
    scene.server.panes = []
    await scene.look()
    assert "went with its tmux server" in scene.told[0]
    assert "baton restore" in scene.told[0]


async def test_a_death_in_the_middle_of_a_cycle_is_the_cycles_to_tell(scene: Scene) -> None:
    scene.watch.step = "await"
    scene.server.panes = [replace(ALIVE, dead=True, dead_status=137)]
    await scene.look()
    assert scene.watch.gone
    assert scene.told == []


async def test_a_pane_whose_agent_is_being_exchanged_is_not_taken_for_dead(scene: Scene) -> None:
    scene.watch.step = "pass"
    scene.server.panes = [replace(ALIVE, dead=True, dead_status=0)]
    await scene.look()
    assert not scene.watch.gone


@pytest.mark.parametrize("how", ["status 0", "by the hook"])
async def test_a_session_that_its_user_closed_is_over_and_tidied_up(scene: Scene, how: str) -> None:
    order = scene.watch.folder / "order.json"
    order.write_text("{}", encoding="utf-8")
    scene.watch.leaving = how == "by the hook"
    scene.server.panes = [replace(ALIVE, dead=True, dead_status=0 if how == "status 0" else 1)]
    await scene.look(2)
    assert scene.saved is State.ENDED
    assert scene.server.closed == [PANE]
    assert not order.exists()
    assert scene.told == []


async def test_a_terminal_that_does_not_answer_kills_nobody(scene: Scene) -> None:
    scene.server.answers = False
    await scene.look(3)
    assert not scene.watch.gone
    assert scene.told == []


async def test_a_dialog_is_told_within_seconds_once_and_again_when_it_is_another(scene: Scene) -> None:
    scene.agent.says = Status(State.WAITING, TALK, waiting_for="permission prompt")
    await scene.look(2)
    assert scene.told == [], "a permission hook that decides looks like a dialog for a moment"
    await scene.look(10)
    assert scene.told == ["shop waits for a person: permission prompt"]
    assert scene.watch.session.state is State.WAITING
    scene.agent.says = Status(State.IDLE, TALK)
    await scene.look()
    scene.agent.says = Status(State.WAITING, TALK, waiting_for="plan approval")
    await scene.look(4)
    assert scene.told[1:] == ["shop waits for a person: plan approval"]


async def test_neither_title_nor_dialog_of_a_process_that_was_replaced_meanwhile_counts_for_the_new_one(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.server.panes = [replace(ALIVE, title="◇  Ready (shop)")]
    await scene.look()
    assert scene.watch.title == "◇  Ready (shop)"
    scene.agent.dialog_shown = "Do you trust the files in this folder?"
    scene.agent.says = Status(State.UNKNOWN)
    scene.clock.advance(10)

    async def replaced(pane: PaneRef, *, above: int = 0) -> Screen:
        _new_process(scene.watch, 4714)
        return Screen(scene.server.rows, 0, 0)

    monkeypatch.setattr(scene.server, "screen", replaced)
    _new_process(scene.watch, 4713)
    await scene.look()
    assert (scene.watch.title, scene.watch.dialog) == ("", None)


def _new_process(watch: Watch, pid: int) -> None:
    watch.session = replace(watch.session, pid=pid, state=State.STARTING)
    watch.status = Status(State.STARTING)
    watch.see_title("")


async def test_a_dialog_before_the_agents_first_word_is_seen_on_the_screen(scene: Scene) -> None:
    scene.agent.says = Status(State.UNKNOWN)
    scene.watch.status = Status(State.STARTING)
    scene.agent.dialog_shown = "Do you trust the files in this folder?"
    await scene.look(3)
    assert scene.watch.dialog is None, "an agent may take a moment to start"
    await scene.look(5)
    assert scene.watch.dialog == "Do you trust the files in this folder?"
    assert scene.told == ["shop waits for a person: Do you trust the files in this folder?"]
    scene.agent.says = Status(State.IDLE, TALK)
    await scene.look()
    assert scene.watch.dialog is None


async def test_hooks_that_were_not_heard_by_the_end_of_a_turn_are_told_once_also_to_a_later_daemon(
    scene: Scene, tmp_path: Path
) -> None:
    talk = Talk(tmp_path / "talk.jsonl", scene.clock)
    talk.prompt("begin")
    await scene.look(2)
    assert (scene.watch.hooks_run, scene.told) == (None, [])
    talk.add("turn_ended")
    await scene.look(2)
    assert scene.watch.hooks_run is False
    assert [text for text in scene.told if "does not run Baton's hooks" in text] == scene.told
    assert len(scene.told) == 1
    scene.told.clear()
    await scene.later().look()
    assert scene.told == []


async def test_an_agent_that_is_back_with_its_old_conversation_has_not_kept_its_hooks_silent(
    scene: Scene, tmp_path: Path
) -> None:
    talk = Talk(tmp_path / "talk.jsonl", scene.clock)
    talk.prompt("begin, long ago")
    talk.add("turn_ended")
    scene.clock.advance(60)
    scene.watch.become(scene.agent)
    scene.watch.begin(TALK, talk.path, "resume", scene.clock.now())
    await scene.look(2)
    assert (scene.watch.hooks_run, scene.told) == (None, []), "no turn of this process has ended"
    talk.prompt("go on")
    talk.add("turn_ended")
    await scene.look(2)
    assert scene.watch.hooks_run is False


async def test_a_port_that_does_not_answer_is_told_once_for_each_process_also_to_a_later_daemon(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(scene.agent), "answers", lambda agent, binding: None)
    await scene.look(2)
    assert scene.told == []
    monkeypatch.setattr(type(scene.agent), "answers", lambda agent, binding: False)
    await scene.look(2)
    assert [text for text in scene.told if "does not answer on its port" in text] == scene.told
    assert len(scene.told) == 1
    await scene.later().look()
    assert len(scene.told) == 1


async def test_where_a_record_tells_no_ends_of_turns_one_that_is_idle_after_its_answer_has_no_hooks(
    scene: Scene, tmp_path: Path
) -> None:
    talk = Talk(tmp_path / "talk.jsonl", scene.clock)
    talk.prompt("begin, long ago")
    talk.say("It is done.")
    scene.clock.advance(60)
    scene.watch.began = scene.clock.now()
    scene.agent.says = Status(State.IDLE, TALK)
    await scene.look(2)
    assert scene.watch.hooks_run is None, "an answer of before it was resumed says nothing of its hooks"
    talk.prompt("go on")
    scene.agent.says = Status(State.BUSY, TALK)
    talk.say("I am at it.")
    await scene.look(2)
    assert scene.watch.hooks_run is None
    scene.agent.says = Status(State.IDLE, TALK)
    await scene.look(2)
    assert scene.watch.hooks_run is False


async def test_a_session_whose_hooks_are_heard_is_not_told_of(scene: Scene, tmp_path: Path) -> None:
    talk = Talk(tmp_path / "talk.jsonl", scene.clock)
    scene.watch.take_hook(start(TALK, "startup"), scene.clock.now())
    talk.prompt("begin")
    talk.add("turn_ended")
    await scene.look(2)
    assert (scene.watch.hooks_run, scene.told) == (True, [])


async def test_an_adopted_session_was_given_no_hooks_and_that_is_no_news(scene: Scene, tmp_path: Path) -> None:
    scene.watch.session = replace(scene.watch.session, adopted=True)
    Talk(tmp_path / "talk.jsonl", scene.clock).add("turn_ended")
    await scene.look(2)
    assert (scene.watch.hooks_run, scene.told) == (False, [])


async def test_where_neither_status_line_nor_record_tells_the_usage_the_screen_does(scene: Scene) -> None:
    Talk(transcript_of(scene), scene.clock).prompt("please begin")
    scene.server.rows = ("  scripted-1 · context: 45.2k tokens (23%)",)
    await scene.look()
    reading = scene.watch.reading
    assert reading is not None
    assert (reading.source, reading.used) == (Source.SCREEN, 45_200)


async def test_where_the_screen_does_not_tell_either_the_usage_is_estimated_from_what_was_said(scene: Scene) -> None:
    talk = Talk(transcript_of(scene), scene.clock)
    talk.prompt("x" * 400)
    talk.say("y" * 4_000)
    await scene.look()
    reading = scene.watch.reading
    assert reading is not None
    assert (reading.source, reading.used) == (Source.ESTIMATE, 1_100)
    assert reading.confidence < 0.5
    talk.say("done", used=52_000)
    await scene.look()
    assert scene.watch.reading is not None
    assert (scene.watch.reading.source, scene.watch.reading.used) == (Source.TRANSCRIPT, 52_000)


def transcript_of(scene: Scene) -> Path:
    assert scene.watch.conversation.transcript is not None
    return scene.watch.conversation.transcript
