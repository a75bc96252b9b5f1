"""A scripted OpenAI model on loopback that the real Codex accepts: no account, no cost, no surprise.

    with ResponsesModel(Worker()) as model:
        ...  # run the CLI with a provider whose base_url is model.url + "/v1" and whose wire_api is "responses"
        model.wait_for(lambda request: "hello" in request.text)

As a program: python -m batonpass.sim.openai_responses --port 8766 --settings '{"steps": 3}'
"""

import sys

from batonpass.sim.model_main import serve
from batonpass.sim.openai_responses_wire import ResponsesWire
from batonpass.sim.scripted_model import ScriptedModel


class ResponsesModel(ScriptedModel):
    """A ScriptedModel that speaks the Responses API."""

    WIRE = ResponsesWire
    WINDOW = 272_000


if __name__ == "__main__":
    sys.exit(serve(ResponsesModel, "openai_responses", __doc__.split("\n")[0]))
