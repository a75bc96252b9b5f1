"""A scripted model as a program of its own, for people who rehearse by hand."""

import argparse
import signal
import threading
from collections.abc import Sequence
from pathlib import Path

from batonpass.sim import script
from batonpass.sim.scripted_model import ScriptedModel
from batonpass.sim.worker import ENV, Worker


def serve(make: type[ScriptedModel], name: str, what: str, argv: Sequence[str] | None = None) -> int:
    """Serve until a signal comes; prints the address as its only line."""
    parser = argparse.ArgumentParser(prog=f"python -m batonpass.sim.{name}", description=what)
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    parser.add_argument("--record", type=Path, metavar="DIR", help="keep every request body here, numbered")
    parser.add_argument("--window", type=int, default=make.WINDOW, help="tokens named in 'prompt is too long'")
    parser.add_argument("--brain", choices=["worker"], default="worker", help="who answers what the script does not")
    parser.add_argument("--script", type=Path, metavar="FILE", help="replies in order, errors and cuts too, as JSON")
    parser.add_argument("--settings", metavar="JSON", help=f"the worker's settings (default: ${ENV})")
    given = parser.parse_args(argv)
    try:
        brain = Worker.from_env() if given.settings is None else Worker.from_json(given.settings)
        entries = script.read(given.script) if given.script else []
    except ValueError as error:
        parser.exit(2, f"{error}\n")
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    model = make(brain, port=given.port, record_dir=given.record, window=given.window)
    for entry in entries:
        model.script(entry.reply, match=entry.match, turn=entry.turn, kind=entry.kind, times=entry.times)
    with model:
        print(model.url, flush=True)
        ended.wait()
    return 0
