"""A process that is killed while it updates the living document leaves one whole state of it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import batonpass
from batonpass.handoff.layouts import LivingLayout
from batonpass.handoff.markdown import parse
from batonpass.handoff.seal import checksum_ok

_UPDATES = """
import sys
from pathlib import Path
from batonpass.handoff.document import Handoff, Section
from batonpass.handoff.layouts import LivingLayout
from batonpass.handoff.seal import seal

living = LivingLayout(Path(sys.argv[1]), most_lines=60)
for number in range(int(sys.argv[2]), 10_000):
    steps = "\\n".join(f"{n}. Step {n} of {number}." for n in range(1, 40))
    sections = (Section("Current Task", f"Task {number}."), Section("Next Steps", steps))
    document = Handoff(number=number, created=1_769_000_000 + number, session="5e55", sections=sections)
    living.write(living.document, seal(living.adopt(document), titles=living.titles).text)
    print(number, flush=True)
"""


@pytest.mark.long
def test_a_kill_at_any_moment_leaves_one_whole_state(tmp_path: Path) -> None:
    living = LivingLayout(tmp_path)
    env = {**os.environ, "PYTHONPATH": str(Path(batonpass.__file__).parents[1])}
    first = 1
    for round_ in range(8):
        argv = [sys.executable, "-c", _UPDATES, str(tmp_path), str(first)]
        with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for _ in range(2 + round_):  # it is somewhere in the update after this one when it is killed
                said = int(process.stdout.readline())
            process.send_signal(signal.SIGKILL)
        text = living.document.read_text(encoding="utf-8")
        number = parse(text).number or 0
        assert checksum_ok(text), f"after round {round_}"
        assert number >= said
        assert all(checksum_ok(path.read_text(encoding="utf-8")) for path in living.archived())
        first = number + 1
