"""What agents call, run as they call it: a process of its own, with the standard library only."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from batonpass import _entry
from batonpass.agents import get
from batonpass.home import session_folder, socket_path, spool_path
from batonpass.supervisor.offers import Offers

SESSION = "0a1b2c3d"
TALK = "e91f36bc-d5bf-48db-aac1-561028bf5f3c"
STOP = {"session_id": TALK, "hook_event_name": "Stop", "last_assistant_message": "one\ntwo"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    Path(session_folder(str(tmp_path), SESSION)).mkdir(parents=True)
    return tmp_path


@pytest.fixture
def offers(root: Path) -> Offers:
    return Offers(Path(session_folder(str(root), SESSION)), get("claude"))


def call(root: Path, *args: str, payload: object, env: dict[str, str] | None = None) -> str:
    """Run a hook as an agent would; it must never fail the agent."""
    environment = {"PATH": os.environ["PATH"], "BATON_HOME": str(root), "BATON_SESSION": SESSION, "TMUX_PANE": "%7"}
    text = payload if isinstance(payload, str) else json.dumps(payload, indent=1)
    argv = [sys.executable, "-I", "-S", str(_entry.__file__), *args]
    done = subprocess.run(
        argv, input=text, capture_output=True, text=True, timeout=20, env={**environment, **(env or {})}, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


class Daemon:
    """Listens where the daemon would, and answers every line with `reply` after doing `before`."""

    def __init__(self, root: Path) -> None:
        self.heard: list[dict[str, object]] = []
        self.before: Callable[[], None] = lambda: None
        path = Path(socket_path(str(root)))
        path.parent.mkdir(parents=True, exist_ok=True)
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(str(path))
        self._server.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as lines:
                self.heard.append(json.loads(lines.readline()))
                self.before()
                try:
                    connection.sendall(b"{}\n")
                except OSError:
                    continue

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._thread.join()


@pytest.fixture
def daemon(root: Path) -> Iterator[Daemon]:
    daemon = Daemon(root)
    yield daemon
    daemon.close()


def test_a_stop_hook_tells_the_daemon_what_the_agent_said(root: Path, daemon: Daemon) -> None:
    assert call(root, "hook", "ask", payload=STOP) == ""
    (heard,) = daemon.heard
    assert (heard["session"], heard["role"], heard["pane"], heard["payload"]) == (SESSION, "ask", "%7", STOP)


def test_a_stop_hook_prints_the_question_that_the_daemon_lays_out_meanwhile(
    root: Path, daemon: Daemon, offers: Offers
) -> None:
    daemon.before = lambda: offers.ask(TALK, "[baton 7f3a91c2 ask 1] write")
    answer = json.loads(call(root, "hook", "ask", payload=STOP))
    assert answer == {"decision": "block", "reason": "[baton 7f3a91c2 ask 1] write"}


def test_a_pending_question_is_asked_also_while_the_daemon_is_away(root: Path, offers: Offers) -> None:
    offers.ask(TALK, "write")
    assert json.loads(call(root, "hook", "ask", payload=STOP))["reason"] == "write"
    assert offers.asked(TALK)


def test_a_question_is_asked_once(root: Path, offers: Offers) -> None:
    offers.ask(TALK, "write")
    call(root, "hook", "ask", payload=STOP)
    assert call(root, "hook", "ask", payload=STOP) == ""


def test_a_withdrawn_question_is_not_asked_and_a_taken_one_cannot_be_withdrawn(root: Path, offers: Offers) -> None:
    offers.ask(TALK, "write")
    assert offers.withdraw_ask(TALK)
    assert call(root, "hook", "ask", payload=STOP) == ""
    offers.ask(TALK, "write")
    call(root, "hook", "ask", payload=STOP)
    assert not offers.withdraw_ask(TALK)


def test_a_question_for_another_conversation_stays_where_it_is(root: Path, offers: Offers) -> None:
    offers.ask("another-conversation", "write")
    assert call(root, "hook", "ask", payload=STOP) == ""
    assert offers.ask_pending("another-conversation")


def test_a_handoff_beside_the_first_prompt_goes_before_a_remark_and_is_given_once(root: Path) -> None:
    offers = Offers(Path(session_folder(str(root), SESSION)), get("gemini"))
    prompt = {"session_id": TALK, "hook_event_name": "BeforeAgent", "prompt": "go on"}
    offers.note(TALK, "a remark")
    offers.brief(TALK, ["the handoff"])
    given = json.loads(call(root, "hook", "note", payload=prompt))["hookSpecificOutput"]
    assert (given["hookEventName"], given["additionalContext"]) == ("BeforeAgent", "the handoff")
    offers.brief(TALK, ["the handoff"])
    assert "a remark" in call(root, "hook", "note", payload=prompt)
    assert call(root, "hook", "note", payload=prompt) == ""


def test_reports_wait_in_the_spool_in_order_while_the_daemon_is_away(root: Path) -> None:
    for number in range(3):
        call(root, "hook", "event", payload={**STOP, "number": number})
    lines = Path(spool_path(str(root))).read_text(encoding="utf-8").split("\n")
    assert [json.loads(line)["payload"]["number"] for line in lines if line] == [0, 1, 2]
    assert Path(spool_path(str(root))).stat().st_mode & 0o777 == 0o600


def test_the_handoff_is_primed_in_parts_for_the_right_kind_of_start(root: Path, offers: Offers) -> None:
    offers.prime(["clear"], ["part one", "part two"])
    cleared = {"session_id": "new", "hook_event_name": "SessionStart", "source": "clear"}
    for number, text in (("1", "part one"), ("2", "part two")):
        answer = json.loads(call(root, "hook", "prime", number, payload=cleared))
        assert answer["hookSpecificOutput"]["additionalContext"] == text
    assert call(root, "hook", "prime", "3", payload=cleared) == ""
    assert call(root, "hook", "prime", "1", payload={**cleared, "source": "resume"}) == ""


def test_only_the_first_part_reports_the_start(root: Path, daemon: Daemon) -> None:
    for number in ("1", "2", "3"):
        call(root, "hook", "prime", number, payload={"session_id": TALK, "source": "clear"})
    assert len(daemon.heard) == 1


def permission(path: object, tool: str = "Write") -> dict[str, object]:
    return {"session_id": TALK, "cwd": "/", "tool_name": tool, "tool_input": {"file_path": path, "content": "x"}}


def test_writing_below_the_draft_folder_is_allowed(root: Path, offers: Offers) -> None:
    offers.permit(root / "drafts")
    answer = json.loads(call(root, "hook", "permit", payload=permission(str(root / "drafts" / "a.md"))))
    assert answer["hookSpecificOutput"]["decision"] == {"behavior": "allow"}


@pytest.mark.parametrize(
    "request_of",
    [
        lambda root: permission(str(root / "elsewhere.md")),
        lambda root: permission(str(root / "drafts" / ".." / "elsewhere.md")),
        lambda root: permission(str(root / "drafts-of-another" / "a.md")),
        lambda root: permission(str(root / "drafts" / "link" / "a.md")),
        lambda root: permission(str(root / "drafts" / "a.md"), tool="Bash"),
        lambda root: permission(None),
        lambda root: permission(["x"]),
        lambda root: "not even JSON",
        lambda root: "[]",
    ],
)
def test_nothing_else_is_ever_allowed(root: Path, offers: Offers, request_of: object) -> None:
    assert callable(request_of)
    (root / "drafts").mkdir()
    (root / "drafts" / "link").symlink_to(root)
    offers.permit(root / "drafts")
    assert call(root, "hook", "permit", payload=request_of(root)) == ""


def patch(*lines: str) -> dict[str, object]:
    """As Codex asks for leave to change files."""
    text = "\n".join(("*** Begin Patch", *lines, "*** End Patch"))
    return {"session_id": TALK, "cwd": "/", "tool_name": "apply_patch", "tool_input": {"command": text}}


def test_a_patch_of_nothing_but_drafts_is_allowed(root: Path) -> None:
    Offers(Path(session_folder(str(root), SESSION)), get("codex")).permit(root / "drafts")
    added = patch(f"*** Add File: {root}/drafts/a.md", "+## Links", "+*** Delete File: /etc/passwd")
    changed = patch(f"*** Update File: {root}/drafts/a.md", "@@", "-x", "+y", "*** End of File")
    for asked in (added, changed):
        answer = json.loads(call(root, "hook", "permit", payload=asked))
        assert answer["hookSpecificOutput"]["decision"] == {"behavior": "allow"}


@pytest.mark.parametrize(
    "lines",
    [
        (),
        ("*** Add File: /etc/cron.d/x", "+x"),
        ("*** Add File: DRAFTS/a.md", "+x", "*** Add File: DRAFTS/../b.md", "+x"),
        ("*** Add File: DRAFTS/a.md", "+x", " *** Update File: /etc/passwd", "+x"),
        ("*** Update File: DRAFTS/a.md", "*** Move to: /etc/cron.d/x", "@@", "+x"),
        ("*** Delete File: DRAFTS/a.md",),
        ("*** Add File: DRAFTS/a\u2028/../../b.md", "+x"),
        ("*** Environment ID: other", "*** Add File: DRAFTS/a.md", "+x"),
        ("***Add File: /etc/x", "+x", "*** Add File: DRAFTS/a.md", "+x"),
    ],
)
def test_a_patch_of_anything_else_is_left_to_a_person(root: Path, lines: tuple[str, ...]) -> None:
    Offers(Path(session_folder(str(root), SESSION)), get("codex")).permit(root / "drafts")
    asked = patch(*(line.replace("DRAFTS", f"{root}/drafts") for line in lines))
    assert call(root, "hook", "permit", payload=asked) == ""


def test_without_an_ask_under_way_nothing_is_allowed(root: Path, offers: Offers) -> None:
    offers.permit(root / "drafts")
    offers.forbid()
    assert call(root, "hook", "permit", payload=permission(str(root / "drafts" / "a.md"))) == ""


@pytest.mark.parametrize("garbage", ["", "{", "null", "\x00\xff", '{"session_id": 3}'])
@pytest.mark.parametrize("role", ["event", "ask", "prime", "permit", "note", "of another version"])
def test_garbage_never_fails_the_agent(root: Path, role: str, garbage: str) -> None:
    assert call(root, "hook", role, payload=garbage) == ""


@pytest.mark.parametrize("session", ["", "../../etc", "a/b", "x\ny"])
def test_a_session_name_that_is_none_is_left_alone(root: Path, session: str) -> None:
    assert call(root, "hook", "event", payload=STOP, env={"BATON_SESSION": session}) == ""
    assert not Path(spool_path(str(root))).exists()


def test_the_status_line_shows_the_users_own_and_then_ours(root: Path, offers: Offers, daemon: Daemon) -> None:
    offers.line("baton 42%")
    (offers.folder / "chain").write_text('read -r line; echo "mine: $line"', encoding="utf-8")
    shown = call(root, "statusline", payload='{"session_id": "x"}')
    assert shown == 'mine: {"session_id": "x"}\nbaton 42%'
    assert daemon.heard[0]["role"] == "statusline"


def test_the_launch_shim_becomes_the_agent_with_the_environment_of_the_launch_file(root: Path) -> None:
    launch = {"argv": ["/bin/sh", "-c", 'echo "$WORD in $PWD at $TMUX_PANE"'], "env": {"WORD": "here"}, "cwd": "/"}
    (Path(session_folder(str(root), SESSION)) / "launch.json").write_text(json.dumps(launch), encoding="utf-8")
    assert call(root, "become", SESSION, str(root), payload="") == "here in / at %7\n"


@pytest.mark.parametrize("words", [("hook", "event"), ("statusline",)])
def test_a_daemon_that_is_away_is_started_again_by_what_agents_call(root: Path, words: tuple[str, ...]) -> None:
    run = root / "run"
    run.mkdir()
    os.mkfifo(root / "started")
    (run / "daemon.argv").write_text(f"/bin/sh\0-c\0echo up > {root}/started", encoding="utf-8")
    call(root, *words, payload=STOP)
    assert (root / "started").read_text(encoding="utf-8") == "up\n"  # opening a pipe waits for its writer


def test_a_daemon_that_a_person_stopped_stays_stopped(root: Path) -> None:
    run = root / "run"
    run.mkdir()
    (run / "stopped").touch()
    (run / "daemon.argv").write_text("/bin/false", encoding="utf-8")
    call(root, "hook", "event", payload=STOP)
    assert not (run / "revive").exists()


def test_what_tools_were_given_and_gave_is_not_laid_into_the_spool(root: Path) -> None:
    tool = {
        "session_id": TALK, "hook_event_name": "PostToolUse", "tool_name": "Bash", "permission_mode": "acceptEdits",
        "tool_input": {"command": "echo hunter2"}, "tool_response": {"stdout": "hunter2"},
    }  # fmt: skip
    said = {"session_id": TALK, "hook_event_name": "UserPromptSubmit", "prompt": "my password is hunter2"}
    wish = {"session_id": TALK, "hook_event_name": "UserPromptSubmit", "prompt": "/handoff before lunch"}
    call(root, "hook", "event", payload=tool)
    call(root, "hook", "ask", payload={**STOP, "last_assistant_message": "it is hunter2"})
    call(root, "hook", "note", payload=said)
    call(root, "hook", "note", payload=wish)
    text = Path(spool_path(str(root))).read_text(encoding="utf-8")
    assert "hunter2" not in text
    kept = [json.loads(line) for line in text.split("\n") if line]
    assert [report["payload"].get("tool_name") for report in kept] == ["Bash", None, None, None]
    assert kept[0]["payload"]["permission_mode"] == "acceptEdits"
    assert kept[3]["payload"]["prompt"] == "/handoff before lunch"
    assert all(get("claude").report(report["payload"]) for report in kept)
