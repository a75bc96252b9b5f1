"""A laptop that slept: the agent or the daemon stands still for a while, or the clock is another one afterwards."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from batonpass.sim.tmux_server import private_tmux, server_pid
from tests.system.house import House, Session

TASK = "make the reader survive torn lines"
_LONG = pytest.mark.long

# Everybody's clock, shifted by what a file says: the daemon, the agents and their hooks all load it.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long shift(void) {
    const char *path = getenv("REHEARSED_SHIFT");
    FILE *file = path ? fopen(path, "re") : 0;
    long seconds = 0;
    if (file) {
        if (fscanf(file, "%ld", &seconds) != 1) seconds = 0;
        fclose(file);
    }
    return seconds;
}

int clock_gettime(clockid_t id, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int done = real(id, at);
    if (!done && id == CLOCK_REALTIME) at->tv_sec += shift();
    return done;
}

int gettimeofday(struct timeval *at, void *zone) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
"""


@contextmanager
def _asleep(house: House, *pids: object) -> Iterator[None]:
    """These stand still, and with them tmux, which would wake up what runs in its panes."""
    tmux = server_pid(house.tmux)
    stopped = [pid for pid in (tmux, *pids) if isinstance(pid, int)]
    assert len(stopped) == 1 + len(pids)
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    for pid in stopped:
        house.wait("it stands still", lambda pid=pid: ") T " in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8"))  # type: ignore[misc]
    try:
        yield
    finally:
        for pid in reversed(stopped):
            os.kill(pid, signal.SIGCONT)


def _ends_well(session: Session) -> None:
    cycle = session.cycle()
    assert cycle["state"] == "done", cycle
    assert len(session.documents()) == 1
    assert set(session.tags().values()) == {1}
    assert session.until_state("idle")["chain"] == 1


STEPS = ["await", *(pytest.param(s, marks=_LONG) for s in ("safe_point", "ask", "seal", "pass", "prime", "verify"))]


@pytest.mark.parametrize("step", STEPS)
def test_an_agent_and_a_terminal_that_stood_still_for_a_moment_pass_the_baton(shared: House, step: str) -> None:
    session = shared.run(f"sleeps-{step.replace('_', '-')}", brain={"delay": 0.3})
    session.hold(step)
    session.say(TASK)
    session.until_held(step)
    with _asleep(shared, session.status["pid"]):
        session.go_on(step)
        shared.wait("Baton has looked", lambda: _longer_than(session, step, 2.0))
    _ends_well(session)


def _longer_than(session: Session, step: str, seconds: float) -> bool:
    """Whether the cycle has been in a step for that long, or has left it."""
    cycle = session.status["cycle"]
    return not cycle or cycle["step"] != step or time.time() - cycle["since"] > seconds


@pytest.mark.parametrize("step", STEPS)
def test_a_laptop_that_slept_goes_on_where_it_was(baton: House, step: str) -> None:
    session = baton.run(brain={"delay": 0.3})
    session.hold(step)
    session.say(TASK)
    session.until_held(step)
    pid = baton.daemon_pid()
    with _asleep(baton, session.status["pid"], pid):
        session.go_on(step)
    assert baton.daemon_pid() == pid
    _ends_well(session)


@pytest.mark.parametrize("step", ["await", *(pytest.param(s, marks=_LONG) for s in ("ask", "pass", "verify"))])
def test_a_daemon_that_stood_still_goes_on_where_it_was(baton: House, step: str) -> None:
    session = baton.run(brain={"delay": 0.3})
    session.hold(step)
    session.say(TASK)
    session.until_held(step)
    pid = baton.daemon_pid()
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    session.go_on(step)
    if step == "await":  # the agent writes and ends its turn meanwhile, and its hooks hear nothing
        session.until_shown("The handoff is written.")
    os.kill(pid, signal.SIGCONT)
    assert baton.daemon_pid() == pid
    _ends_well(session)


# -- clocks --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("NOT TESTED: no C compiler, so no clock can be shifted here")
    folder = tmp_path_factory.mktemp("shim")
    (folder / "shift.c").write_text(SHIM, encoding="utf-8")
    library = folder / "shift.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(folder / "shift.c"), "-ldl"], check=True)
    return library


@pytest.fixture
def shifted(tmp_path: Path, shim: Path) -> Iterator[House]:
    """A house whose clock is what `shift` says."""
    env = {"LD_PRELOAD": str(shim), "REHEARSED_SHIFT": str(tmp_path / "shift"), "BATON_CHAOS": "-"}
    with private_tmux() as tmux:
        house = House(tmp_path, tmux, env)
        yield house.start()
        house.close()


JUMPED = [
    ("await", -3600),
    pytest.param("await", 7200, marks=_LONG),
    *(pytest.param(step, seconds, marks=_LONG) for step in ("ask", "pass", "verify") for seconds in (-3600, 7200)),
]


@pytest.mark.parametrize(("step", "seconds"), JUMPED)
def test_a_clock_that_is_set_in_the_middle_changes_nothing(shifted: House, step: str, seconds: int) -> None:
    session = shifted.run(brain={"delay": 0.3})
    session.hold(step)
    session.say(TASK)
    session.until_held(step)
    (shifted.folder / "shift").write_text(str(seconds), encoding="utf-8")
    session.go_on(step)
    _ends_well(session)
    cycle = session.cycle()
    assert cycle["way"] == "clear"
    assert {found["step"]: found["attempts"] for found in cycle["steps"]}["ask"] == 1
    assert "The public names must stay as they are." in session.documents()[0]


@_LONG
@pytest.mark.parametrize("seconds", [-86_400, 86_400])
def test_a_clock_that_is_set_while_the_daemon_is_away_changes_nothing(shifted: House, seconds: int) -> None:
    session = shifted.run(brain={"delay": 0.3})
    session.hold("await")
    session.say(TASK)
    session.until_held("await")
    shifted.kill_daemon(stay_away=True)
    (shifted.folder / "shift").write_text(str(seconds), encoding="utf-8")
    session.go_on("await")
    shifted.start()
    _ends_well(session)
