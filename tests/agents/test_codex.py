"""Codex behind the agent protocol, without its program."""

import hashlib
import json
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from batonpass.agents import get
from batonpass.agents.base import Binding, HookKind, HookReport, LaunchError, LaunchOrder, NotInstalled
from batonpass.agents.codex import Codex
from batonpass.agents.codex.arguments import parse
from batonpass.agents.codex.launch import trust
from batonpass.session import State

FIXTURES = Path(__file__).parents[1] / "fixtures" / "codex"
HOOK = ("/usr/bin/python", "-I", "/a b/_entry.py", "hook")
OLD, NEW = "01a1e1fc-411f-7aa1-9a47-1551515c639a", "01a1e1fc-c1a3-7ed3-85a8-a7482432dc3d"


def order(tmp_path: Path, *args: str, **more: object) -> LaunchOrder:
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir(exist_ok=True)
    program.touch(mode=0o755)
    env = {"PATH": str(program.parent), "HOME": str(tmp_path / "home"), "TMUX": "x", "CODEX_THREAD_ID": "x"}
    known = {"folder": tmp_path, "project": tmp_path, "draft_dir": tmp_path / "d", "statusline": ()}
    return LaunchOrder(session="ab12", args=args, env=env, hook=HOOK, **{**known, **more})  # type: ignore[arg-type]


def flags(argv: tuple[str, ...]) -> dict[str, object]:
    """What the -c flags of a command line say, read as Codex reads them."""
    given = [argv[n + 1] for n, word in enumerate(argv) if word == "-c"]
    return tomllib.loads("\n".join(given))


# -- launch -----------------------------------------------------------------------------------------


def test_hooks_come_by_flags_with_a_print_for_each_and_nothing_is_written(tmp_path: Path) -> None:
    asked = order(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    launch = Codex().launch(asked)
    assert sorted(tmp_path.rglob("*")) == before
    hooks = flags(launch.argv)["hooks"]
    assert isinstance(hooks, dict)
    state = hooks.pop("state")
    assert set(hooks) == {
        "SessionStart", "UserPromptSubmit", "Stop", "PermissionRequest", "PreCompact", "SessionEnd"
    }  # fmt: skip
    commands = [hook["command"] for hook in hooks["SessionStart"][0]["hooks"]]
    assert commands == [f"/usr/bin/python -I '/a b/_entry.py' hook prime {part}" for part in (1, 2, 3)]
    (ask,) = hooks["Stop"][0]["hooks"]
    place = "/<session-flags>/config.toml:stop:0:0"
    assert state[place]["trusted_hash"] == trust("stop", ask["command"], ask["timeout"])
    assert len(state) == sum(len(groups[0]["hooks"]) for groups in hooks.values())


def test_the_print_of_a_hook_is_the_one_that_codex_computes() -> None:
    # That the real program takes it for its own is seen in tests/real_agents: the hooks run, and nobody is asked.
    whole = '{"event_name":"stop","hooks":[{"async":false,"command":"true","timeout":5,"type":"command"}]}'
    assert trust("stop", "true", 5) == "sha256:" + hashlib.sha256(whole.encode()).hexdigest()


def test_the_users_arguments_and_prompt_go_along_and_the_surroundings_do_not(tmp_path: Path) -> None:
    launch = Codex().launch(order(tmp_path, "-m", "gpt-5.5", "-a", "never", "do", "it"))
    assert launch.argv[:2] == (str(tmp_path / "bin" / "codex"), "--no-daemon")
    assert launch.argv[-6:] == ("-m", "gpt-5.5", "-a", "never", "--", "do it")
    assert not {"TMUX", "CODEX_THREAD_ID"} & set(launch.env)
    assert launch.agent_session is None
    assert launch.notice is not None


def test_a_restart_keeps_options_and_the_last_model_but_neither_the_old_prompt_nor_its_choice(tmp_path: Path) -> None:
    args = ("-m", "gpt-5.5", "resume", "--last", "begin")
    fresh = Codex().launch(order(tmp_path, *args, kick="go on", model="gpt-6-sol"))
    assert fresh.argv[-4:] == ("--model", "gpt-6-sol", "--", "go on")
    back = Codex().launch(order(tmp_path, *args, resume=OLD, kick="[baton] back"))
    assert back.argv[-6:] == ("-m", "gpt-5.5", "resume", OLD, "--", "[baton] back")
    assert back.agent_session == OLD


def test_a_restart_keeps_the_permissions_that_were_chosen_last_and_a_first_start_those_of_its_flags(
    tmp_path: Path,
) -> None:
    args = ("-a", "never", "-s", "danger-full-access", "-c", "model_verbosity=low")
    left = {"permission_mode": "on-request user :read-only"}
    back = Codex().launch(order(tmp_path, *args, resume=OLD, **left))
    chosen = ['approval_policy="on-request"', 'approvals_reviewer="user"', 'default_permissions=":read-only"']
    said = [word for setting in chosen for word in ("-c", setting)]
    assert list(back.argv[-10:]) == ["-c", "model_verbosity=low", *said, "resume", OLD]
    assert not {"-a", "-s"} & set(back.argv)
    assert Codex().launch(order(tmp_path, *args, **left)).argv[-6:] == args
    untold = Codex().launch(order(tmp_path, *args, kick="go on", permission_mode="bypassPermissions"))
    assert untold.argv[-8:-2] == args


def test_what_baton_says_itself_is_not_said_twice(tmp_path: Path) -> None:
    assert Codex().launch(order(tmp_path, "--no-daemon", "--search")).argv.count("--no-daemon") == 1


def test_commands_that_begin_no_session_and_hooks_on_the_command_line_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="codex exec"):
        Codex().launch(order(tmp_path, "exec", "do it"))
    with pytest.raises(LaunchError, match=r"config\.toml"):
        Codex().launch(order(tmp_path, "-c", "hooks.Stop=[]"))


def test_a_missing_program_is_told_with_the_command_that_installs_it(tmp_path: Path) -> None:
    asked = order(tmp_path)
    (tmp_path / "bin" / "codex").unlink()
    with pytest.raises(NotInstalled, match="npm install -g @openai/codex"):
        Codex().launch(asked)


@pytest.mark.parametrize(
    ("args", "command", "prompt"),
    [
        ((), (), None),
        (("fix", "it"), (), "fix it"),
        (("resume", OLD, "go", "on"), ("resume", OLD), "go on"),
        (("resume", "--last", "go on"), ("resume", "--last"), "go on"),
        (("--search", "--", "-v means what?"), (), "-v means what?"),
    ],
)
def test_a_command_line_is_taken_apart(args: tuple[str, ...], command: tuple[str, ...], prompt: str | None) -> None:
    found = parse(args)
    assert (found.command, found.prompt) == (command, prompt)


# -- readings ---------------------------------------------------------------------------------------


def test_usable_is_where_codex_compacts_itself_nine_tenths_of_the_raw_window() -> None:
    agent = Codex()
    assert [agent.usable(window, {}) for window in (258_400, 95_000)] == [244_800, 90_000]


def test_a_limit_of_the_users_own_can_only_lower_that(tmp_path: Path) -> None:
    asked = order(tmp_path, "-c", "model_auto_compact_token_limit=120000")
    assert Codex().usable(258_400, Codex().launch(asked).env) == 120_000
    config = tmp_path / "home" / ".codex" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("model_auto_compact_token_limit = 900000\n", encoding="utf-8")
    assert Codex().usable(258_400, Codex().launch(order(tmp_path)).env) == 244_800


# -- hooks ------------------------------------------------------------------------------------------


def reports() -> list[HookReport]:
    lines = (FIXTURES / "hook-stdin.jsonl").read_text(encoding="utf-8").splitlines()
    return [found for line in lines if (found := Codex().report(json.loads(line)))]


def test_every_payload_of_the_real_hooks_is_understood() -> None:
    found = reports()
    kinds = {report.kind for report in found}
    assert {HookKind.SESSION_START, HookKind.PROMPT, HookKind.STOP, HookKind.COMPACT, HookKind.SESSION_END} <= kinds
    starts = {report.source for report in found if report.kind is HookKind.SESSION_START}
    assert starts == {"startup", "clear", "resume", "compact"}
    stop = next(report for report in found if report.kind is HookKind.STOP)
    assert (stop.last_message, stop.continued) == ("There are no files yet.", False)
    assert stop.transcript is not None
    assert stop.transcript.name.endswith(f"{stop.agent_session}.jsonl")


def test_sub_agents_speak_under_their_parents_id_and_are_foreign() -> None:
    foreign = [report for report in reports() if report.foreign]
    assert HookKind.PROMPT in {report.kind for report in foreign}
    assert not [r for r in reports() if not r.foreign and r.kind is HookKind.SUBAGENT_START]


def test_payloads_that_are_not_codexs_say_nothing() -> None:
    assert Codex().report({"hook_event_name": "Stop", "session_id": "../x"}) is None
    assert Codex().report({"session_id": OLD}) is None


# -- status: this process plays Codex and holds its files open ---------------------------------------


class Home:
    """A Codex home whose locks and rollouts this process holds open."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._held: list[int] = []
        (root / "thread-writer-locks").mkdir(parents=True)
        (root / "sessions").mkdir()

    def hold(self, thread: str) -> None:
        self._open(self.root / "thread-writer-locks" / f"{thread}.lock")

    def write(self, thread: str, *kinds: str, at: str = "2099-01-01T00:00:00Z") -> Path:
        path = self.root / "sessions" / f"rollout-2026-11-16T01-32-47-{thread}.jsonl"
        with path.open("a", encoding="utf-8") as rollout:
            for kind in kinds:
                rollout.write(json.dumps({"timestamp": at, "type": "event_msg", "payload": {"type": kind}}) + "\n")
        self._open(path)
        return path

    def _open(self, path: Path) -> None:
        self._held.append(os.open(path, os.O_RDWR | os.O_CREAT))

    def close(self) -> None:
        for descriptor in self._held:
            os.close(descriptor)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path / "codex")
    yield made
    made.close()


def bound(thread: str | None, rollout: Path | None = None) -> Binding:
    return Binding(os.getpid(), thread, rollout, Path())


def test_a_conversation_is_named_and_idle_before_anything_was_said_in_it(home: Home) -> None:
    assert Codex().status(bound(None)).state is State.UNKNOWN
    home.hold(OLD)
    for binding in (bound(None), bound(OLD)):
        status = Codex().status(binding)
        assert (status.state, status.agent_session) == (State.IDLE, OLD)


def test_a_turn_that_began_and_has_not_ended_is_busy(home: Home) -> None:
    agent = Codex()
    home.hold(OLD)
    rollout = home.write(OLD, "task_started")
    assert agent.status(bound(OLD, rollout)).state is State.BUSY
    home.write(OLD, "task_complete", at="2099-01-01T00:00:07Z")
    done = agent.status(bound(OLD, rollout))
    assert (done.state, done.agent_session) == (State.IDLE, OLD)
    home.write(OLD, "task_started")
    assert agent.status(bound(OLD, rollout)).state is State.BUSY
    home.write(OLD, "turn_aborted")
    assert agent.status(bound(OLD, rollout)).state is State.IDLE


def test_a_turn_that_was_cut_off_with_an_earlier_process_is_over(home: Home) -> None:
    home.hold(OLD)
    rollout = home.write(OLD, "task_started", at="2020-01-01T00:00:00Z")
    assert Codex().status(bound(OLD, rollout)).state is State.IDLE


def test_a_clear_is_told_by_the_new_conversation_that_is_held(home: Home) -> None:
    home.hold(OLD)
    rollout = home.write(OLD, "task_started", "task_complete")
    home.hold(NEW)
    status = Codex().status(bound(OLD, rollout))
    assert (status.state, status.agent_session) == (State.IDLE, NEW)


def test_a_conversation_that_begins_during_a_turn_is_a_sub_agents(home: Home) -> None:
    home.hold(OLD)
    rollout = home.write(OLD, "task_started")
    home.hold(NEW)
    assert Codex().status(bound(OLD, rollout)).agent_session == OLD


def test_one_that_was_resumed_is_not_left_for_a_newer_one_with_a_record(home: Home) -> None:
    home.hold(OLD)
    home.hold(NEW)
    rollout = home.write(OLD, "task_complete")
    home.write(NEW, "task_complete")
    assert Codex().status(bound(OLD, rollout)).agent_session == OLD


def test_it_has_a_conversation_when_it_holds_its_lock_and_not_for_its_record(home: Home) -> None:
    rollout = home.write(OLD, "task_complete")
    assert Codex().status(bound(OLD, rollout)).state is State.IDLE
    assert not Codex().holds(bound(OLD, rollout))
    home.hold(OLD)
    assert Codex().holds(bound(OLD, rollout))


def test_a_process_that_is_gone_is_dead() -> None:
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    assert Codex().status(Binding(child, OLD, None, Path())).state is State.DEAD


def test_a_running_codex_is_found_with_the_conversation_that_its_user_sees(home: Home) -> None:
    assert Codex().find(os.getpid()) is None
    home.hold(OLD)
    home.hold(NEW)
    rollout = home.root / "sessions" / f"rollout-2026-11-16T01-32-47-{NEW}.jsonl"
    meta = {"type": "session_meta", "payload": {"thread_source": "subagent"}}
    rollout.write_text(json.dumps(meta) + "\n", encoding="utf-8")
    home.write(NEW)
    found = Codex().find(os.getpid())
    assert found is not None
    assert (found.agent_session, found.transcript) == (OLD, None)


def test_a_conversation_that_was_spoken_in_before_anybody_looked_is_named_all_the_same(home: Home) -> None:
    home.hold(OLD)
    rollout = home.root / "sessions" / f"rollout-2026-11-16T01-32-47-{OLD}.jsonl"
    rollout.write_text('{"type": "session_meta", "payload": {"thread_source": "user"}}\n', encoding="utf-8")
    home.write(OLD, "task_started")
    assert Codex().status(bound(None)).state is State.BUSY
    home.write(OLD, "task_complete")
    said = Codex().status(bound(None))
    assert (said.state, said.agent_session) == (State.IDLE, OLD)


def test_as_long_as_a_rollout_does_not_say_whose_it_is_nobody_is_taken_for_the_one_in_front(home: Home) -> None:
    home.hold(OLD)
    home.hold(NEW)
    rollout = home.write(NEW)
    assert Codex().find(os.getpid()) is None
    rollout.write_text('{"type": "session_meta", "payload": {"thread_source": "user"}}\n', encoding="utf-8")
    found = Codex().find(os.getpid())
    assert found is not None
    assert (found.agent_session, found.transcript) == (NEW, rollout)


def test_a_past_conversation_is_found_by_its_id_and_by_its_rollout(tmp_path: Path) -> None:
    parent, child = "01a1e0af-12e3-78a2-9456-6d756e43e725", "01a1e0af-13b6-7110-bb06-8258053bd794"
    folder = tmp_path / "sessions" / "2026" / "11" / "15"
    folder.mkdir(parents=True)
    for thread, name in ((parent, "parent"), (child, "child")):
        content = (FIXTURES / f"rollout-subagent-{name}.jsonl").read_bytes()
        (folder / f"rollout-2026-11-15T19-28-52-{thread}.jsonl").write_bytes(content)
    env = {"CODEX_HOME": str(tmp_path)}
    found = Codex().past(parent, env)
    assert found is not None
    assert (found.agent_session, found.folder, found.pid) == (parent, Path("/home/dev/project"), None)
    assert Codex().past(str(found.transcript), env) == found
    assert Codex().past(child, env) is None  # a sub-agent's
    assert Codex().past(OLD, env) is None
    assert Codex().past(str(tmp_path / "x.jsonl"), env) is None


def test_it_is_known_by_its_name() -> None:
    assert isinstance(get("codex"), Codex)
