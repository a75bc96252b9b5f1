"""Batons for tests, born with everything imported.

Half of what a short test costs is a daemon that imports its libraries. So one process for each test runner imports them
once, and every `baton` that a test asks for is a fork of it: a process, session, environment and folder of its own, and
from the first line of `main` the same as one that was started by name. Tests about starting itself start by name.
"""

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_SOURCE = str(ROOT / "src")
# What the loader of a program reads of its environment comes too late for a fork.
_FOR_LOADERS = ("LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONTRACEMALLOC")


class Child:
    """A process of the nursery, with as much of `subprocess.Popen` as tests use."""

    def __init__(self, nursery: "Nursery", number: int, pid: int) -> None:
        self._nursery, self._number, self.pid = nursery, number, pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        return self._ended(0.0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
        return code

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is None:
            self.returncode = self._nursery.ended(self._number, timeout)
        return self.returncode


class Nursery:
    """The process that forks, and what it has told of its children."""

    def __init__(self) -> None:
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{_SOURCE}:{ROOT}", "LANG": "C.UTF-8"}
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.nursery"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._told = threading.Condition()
        self._born: dict[int, int] = {}
        self._over: dict[int, int] = {}
        self._asked = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def fork(self, words: Sequence[str], env: Mapping[str, str], cwd: Path | str, out: Path, err: Path) -> Child:
        """`baton WORDS`, with its output appended to files."""
        assert self._server.stdin is not None
        with self._told:
            self._asked += 1
            number = self._asked
            order = {"number": number, "words": list(words), "env": dict(env), "cwd": str(cwd)}
            line = json.dumps({**order, "out": str(out), "err": str(err)})
            self._server.stdin.write(line.encode() + b"\n")
            self._server.stdin.flush()
            assert self._told.wait_for(lambda: number in self._born, 60), "the nursery does not answer"
            return Child(self, number, self._born.pop(number))

    def ended(self, number: int, timeout: float | None) -> int | None:
        """The exit code of the child that was asked for with this number: the system gives process ids out again."""
        with self._told:
            self._told.wait_for(lambda: number in self._over, timeout)
            return self._over.get(number)

    def close(self) -> None:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.close()
        self._server.wait(30)

    def _listen(self) -> None:
        assert self._server.stdout is not None
        for line in self._server.stdout:
            told = json.loads(line)
            with self._told:
                kind, value = (self._born, told["pid"]) if "pid" in told else (self._over, told["code"])
                kind[told["number"]] = value
                self._told.notify_all()
        self._server.stdout.close()


@dataclass
class _Mine:
    nursery: Nursery | None = None


_mine = _Mine()


def nursery() -> Nursery:
    """The one of this test runner."""
    _mine.nursery = _mine.nursery or Nursery()
    return _mine.nursery


def close() -> None:
    if _mine.nursery is not None:
        _mine.nursery.close()
        _mine.nursery = None


def _can_fork(env: Mapping[str, str]) -> bool:
    """Whether a fork is as good as one that was started by name: it runs this source, and no loader has more to do."""
    return env.get("PYTHONPATH") == _SOURCE and not set(_FOR_LOADERS) & set(env)


def start(
    words: Sequence[str], env: Mapping[str, str], cwd: Path | str, out: Path, *, by_name: bool = False
) -> "Child | subprocess.Popen[bytes]":
    """`baton WORDS` in the background, in a session of its own; what it prints is appended to a file."""
    if _can_fork(env) and not by_name:
        return nursery().fork(words, env, cwd, out, out)
    argv = [sys.executable, "-m", "batonpass._entry", *words]
    with out.open("ab") as file:
        return subprocess.Popen(
            argv, env=dict(env), cwd=cwd, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
        )


def run(
    words: Sequence[str], env: Mapping[str, str], cwd: Path | str, folder: Path, timeout: float
) -> subprocess.CompletedProcess[str]:
    """`baton WORDS` to its end, with what it printed; `folder` takes its output meanwhile."""
    if not _can_fork(env):
        argv = [sys.executable, "-m", "batonpass._entry", *words]
        return subprocess.run(
            argv, env=dict(env), cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
            timeout=timeout, check=False,
        )  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    name = f"said-{os.getpid()}-{threading.get_ident()}-{time.monotonic_ns()}"
    out, err = folder / f"{name}.out", folder / f"{name}.err"
    child = nursery().fork(words, env, cwd, out, err)
    try:
        code = child.wait(timeout)
    except subprocess.TimeoutExpired:
        os.kill(child.pid, signal.SIGKILL)
        raise
    said = [path.read_text(encoding="utf-8") for path in (out, err)]
    for path in (out, err):
        path.unlink()
    return subprocess.CompletedProcess(list(words), code, said[0], said[1])


def holder(home: Path, born: "Iterable[Child | subprocess.Popen[bytes]]") -> int | None:
    """The process that holds a state directory, if it is a Baton of it: its id may be somebody else's by now.

    One of those `born` here is there until it was waited for: its first thread may be gone while others still hold the
    lock. What others have started shows by its environment, which a fork's does not.
    """
    running = {process.pid for process in born if process.poll() is None}
    try:
        pid = int((home / "run" / "lock").read_text(encoding="utf-8") or "0")
        if pid in running:
            return pid
        told = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        zombie = ") Z " in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    return pid if f"BATON_HOME={home}".encode() in told and not zombie else None


# -- the process that forks --------------------------------------------------------------------------------


def serve() -> None:
    """Fork for every line on standard input, tell of births and ends on standard output; end with the input."""
    _import_all()
    heard, ring = os.pipe()
    os.set_blocking(ring, False)
    signal.set_wakeup_fd(ring)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    waiting, living = b"", dict[int, int]()
    while True:
        readable, _, _ = select.select([0, heard], [], [])
        if heard in readable:
            os.read(heard, 4096)
            _tell_ends(living)
        if 0 in readable:
            got = os.read(0, 1 << 16)
            if not got:
                return
            *orders, waiting = (waiting + got).split(b"\n")
            for order in orders:
                number, pid = _bear(json.loads(order), heard, ring)
                living[pid] = number


def _import_all() -> None:
    import alembic.command
    import alembic.config
    import sqlalchemy.dialects.sqlite

    import batonpass.cli.app
    import batonpass.handoff.gitleaks
    import batonpass.supervisor.daemon

    batonpass.cli.app.front()
    batonpass.handoff.gitleaks.load()
    assert alembic.command, sqlalchemy.dialects.sqlite
    assert batonpass.supervisor.daemon
    assert threading.active_count() == 1, "a thread would not be there in a fork"


def _tell_ends(living: dict[int, int]) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        _say({"number": living.pop(pid), "code": os.waitstatus_to_exitcode(status)})


def _say(told: Mapping[str, object]) -> None:
    os.write(1, json.dumps(told).encode() + b"\n")


def _bear(order: Mapping[str, Any], *ours: int) -> tuple[int, int]:
    pid = os.fork()
    if pid:
        _say({"number": order["number"], "pid": pid})
        return order["number"], pid
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        for descriptor in ours:
            os.close(descriptor)
        _become(order)
        from batonpass._entry import main

        code = main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # as Python itself would tell it
        import traceback

        traceback.print_exc()
    finally:
        import atexit

        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def _become(order: Mapping[str, Any]) -> None:
    os.environ.clear()
    os.environ.update(order["env"])
    time.tzset()
    os.chdir(str(order["cwd"]))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    for descriptor, name in ((1, "out"), (2, "err")):
        opened = os.open(str(order[name]), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    sys.argv = ["baton", *order["words"]]


if __name__ == "__main__":
    serve()
