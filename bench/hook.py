"""How much time Baton adds to every message: hooks and status line against a bare Python that does nothing.

    .venv/bin/python bench/hook.py [--rounds N] [--json]

`ratio` is the slower of the two that run most often, the event hook and the status line, to `python -c pass`.
"""

import json
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from _common import SOURCE, Figures, Table, environment, interleave, median, parser, show

_SESSION = "0123abcd"
_CONVERSATION = "11111111-2222-3333-4444-555555555555"
_EVENT = {
    "hook_event_name": "PostToolUse", "session_id": _CONVERSATION, "cwd": "/tmp", "permission_mode": "acceptEdits",
    "transcript_path": f"/tmp/{_CONVERSATION}.jsonl", "tool_name": "Bash",
    "tool_input": {"command": "make test"}, "tool_response": {"stdout": "ok\n" * 500, "stderr": ""},
}  # fmt: skip
_STATUS = {
    "session_id": _CONVERSATION, "cwd": "/tmp", "model": {"id": "claude-sonnet-4-6", "display_name": "Sonnet"},
    "context_window": {"context_window_size": 200_000, "total_input_tokens": 61_000, "used_percentage": 30},
}  # fmt: skip
_ENTRY = SOURCE / "batonpass" / "_entry.py"


class Runner:
    """Starts a program as an agent does, with a payload on its standard input, and tells how long it took."""

    def __init__(self, folder: Path) -> None:
        self._null = os.open(os.devnull, os.O_WRONLY)
        self._folder = folder

    def job(self, argv: list[str], payload: object, home: Path) -> Callable[[], float]:
        path = self._folder / f"payload-{len(os.listdir(self._folder))}"
        path.write_text(json.dumps(payload), encoding="utf-8")
        env = environment(BATON_HOME=str(home), BATON_SESSION=_SESSION, TMUX_PANE="%1")
        files = [(os.POSIX_SPAWN_OPEN, 0, str(path), os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, self._null, 1)]

        def run() -> float:
            began = time.perf_counter()
            pid = os.posix_spawn(argv[0], argv, env, file_actions=files)
            _, status = os.waitpid(pid, 0)
            took = time.perf_counter() - began
            if status:
                raise SystemExit(f"{' '.join(argv)} ended with status {status}; nothing was measured.")
            return took

        return run


@contextmanager
def listening(home: Path) -> Iterator[None]:
    """A daemon that takes every report and answers at once: what is measured is the hook alone."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(str(home / "run" / "daemon.sock"))
    server.listen(16)

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection, suppress(ConnectionError):  # an event hook does not wait for the answer
                while chunk := connection.recv(65536):
                    if chunk.endswith(b"\n"):
                        connection.sendall(b'{"ok":true}\n')
                        break

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join(2)


def _home(root: Path, name: str, *, prime: bool = False) -> Path:
    home = root / name
    folder = home / "sessions" / _SESSION
    folder.mkdir(parents=True)
    (home / "run").mkdir()
    (home / "run" / "stopped").touch()  # nobody starts a daemon behind the benchmark's back
    (folder / "line").write_text("baton 30% · monitoring", encoding="utf-8")
    if prime:
        (folder / "prime.clear.1").write_text(json.dumps({"context": "x" * 9_000}), encoding="utf-8")
    return home


def measure(rounds: int) -> dict[str, list[float]]:
    """Milliseconds of every run of every job."""
    with tempfile.TemporaryDirectory(prefix="bh-", dir="/tmp") as name:
        root = Path(name)
        (root / "payloads").mkdir()
        there, away = _home(root, "there", prime=True), _home(root, "away")
        runner = Runner(root / "payloads")
        python, baton = [sys.executable], [sys.executable, "-I", "-S", str(_ENTRY)]
        start = {"hook_event_name": "SessionStart", "session_id": _CONVERSATION, "source": "clear"}
        stop = {**_EVENT, "hook_event_name": "Stop", "last_assistant_message": "Done."}
        jobs = {
            "python -c pass": runner.job([*python, "-c", "pass"], {}, there),
            "python -I -S -c pass": runner.job([*python, "-I", "-S", "-c", "pass"], {}, there),
            "hook event": runner.job([*baton, "hook", "event"], _EVENT, there),
            "hook event, daemon away": runner.job([*baton, "hook", "event"], _EVENT, away),
            "hook ask, nothing pending": runner.job([*baton, "hook", "ask"], stop, there),
            "hook prime, 9 kB": runner.job([*baton, "hook", "prime", "1"], start, there),
            "status line": runner.job([*baton, "statusline"], _STATUS, there),
        }
        with listening(there):
            return {name: [1000 * t for t in times] for name, times in interleave(jobs, rounds).items()}


def report(times: dict[str, list[float]], rounds: int) -> tuple[Table, Figures]:
    """The table and the figures. Ratios are of medians; the best of all runs stands beside them."""
    floor = median(times["python -c pass"])
    rows = [["run", "median ms", "best ms", "to `python -c pass`"]]
    rows += [[n, f"{median(t):.1f}", f"{min(t):.1f}", f"{median(t) / floor:.2f}"] for n, t in times.items()]
    event, line = median(times["hook event"]), median(times["status line"])
    figures = {
        "ratio": round(max(event, line) / floor, 3),
        "floor_ms": round(floor, 2),
        "isolated_floor_ms": round(median(times["python -I -S -c pass"]), 2),
        "event_ms": round(event, 2),
        "spool_ms": round(median(times["hook event, daemon away"]), 2),
        "ask_ms": round(median(times["hook ask, nothing pending"]), 2),
        "prime_ms": round(median(times["hook prime, 9 kB"]), 2),
        "statusline_ms": round(line, 2),
        "rounds": rounds,
    }
    return rows, figures


def main() -> int:
    options = parser(__doc__ or "")
    options.add_argument("--rounds", type=int, default=40)
    given = options.parse_args()
    table, figures = report(measure(given.rounds), given.rounds)
    return show(table, figures, only_json=given.json)


if __name__ == "__main__":
    sys.exit(main())
