"""A scripted Anthropic model on loopback that the real Claude Code accepts: no account, no cost, no surprise.

    with AnthropicModel(Worker()) as model:
        ...  # run the CLI with ANTHROPIC_BASE_URL=model.url
        model.wait_for(lambda request: "hello" in request.text)

As a program: python -m batonpass.sim.anthropic --port 8765 --settings '{"steps": 3}'
"""

import sys
from pathlib import Path

from batonpass.clock import Clock
from batonpass.sim.anthropic_wire import MessagesWire
from batonpass.sim.brain import Brain
from batonpass.sim.model_main import serve
from batonpass.sim.scripted_model import Recorded, ScriptedModel, Thought

__all__ = ["AnthropicModel", "Recorded", "Thought"]


class AnthropicModel(ScriptedModel):
    """A ScriptedModel that speaks the Messages API."""

    def __init__(
        self,
        brain: Brain,
        *,
        port: int = 0,
        record_dir: Path | None = None,
        window: int = 200_000,
        start: int = 20_000,
        step: int = 1_000,
        clock: Clock | None = None,
    ) -> None:
        wire = MessagesWire()
        super().__init__(
            brain, wire, port=port, record_dir=record_dir, window=window, start=start, step=step, clock=clock
        )


if __name__ == "__main__":
    sys.exit(serve(AnthropicModel, "anthropic", __doc__.split("\n")[0], window=200_000))
