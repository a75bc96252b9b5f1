"""A scripted Gemini model on loopback that the real Gemini CLI accepts: no account, no cost, no surprise.

    with GeminiModel(Worker()) as model:
        ...  # run the CLI with GOOGLE_GEMINI_BASE_URL=model.url, any GEMINI_API_KEY, and a model named by -m
        model.wait_for(lambda request: "hello" in request.text)

As a program: python -m batonpass.sim.gemini_api --port 8767 --settings '{"steps": 3}'
"""

import sys

from batonpass.sim.gemini_api_wire import GeminiWire
from batonpass.sim.model_main import serve
from batonpass.sim.scripted_model import ScriptedModel


class GeminiModel(ScriptedModel):
    """A ScriptedModel that speaks the Gemini API. Its requests name no session: conversations are told by their
    first prompt."""

    WIRE = GeminiWire
    WINDOW = 1_048_576


if __name__ == "__main__":
    sys.exit(serve(GeminiModel, "gemini_api", __doc__.split("\n")[0]))
