"""A scripted Anthropic model on loopback that the real Claude Code accepts: no account, no cost, no surprise.

    with AnthropicModel(Worker()) as model:
        ...  # run the CLI with ANTHROPIC_BASE_URL=model.url
        model.wait_for(lambda request: "hello" in request.text)

As a program: python -m batonpass.sim.anthropic --port 8765 --settings '{"steps": 3}'
"""

import sys

from batonpass.sim.anthropic_wire import MessagesWire
from batonpass.sim.model_main import serve
from batonpass.sim.scripted_model import Recorded, ScriptedModel, Thought

__all__ = ["AnthropicModel", "Recorded", "Thought"]


class AnthropicModel(ScriptedModel):
    """A ScriptedModel that speaks the Messages API."""

    WIRE = MessagesWire


if __name__ == "__main__":
    sys.exit(serve(AnthropicModel, "anthropic", __doc__.split("\n")[0]))
