"""A scripted OpenAI model on loopback that the real Codex accepts: no account, no cost, no surprise.

    with ResponsesModel(Worker()) as model:
        ...  # run the CLI with a provider whose base_url is model.url + "/v1" and whose wire_api is "responses"
        model.wait_for(lambda request: "hello" in request.text)

As a program: python -m batonpass.sim.openai_responses --port 8766 --settings '{"steps": 3}'
"""

import sys
from pathlib import Path

from batonpass.clock import Clock
from batonpass.sim.brain import Brain
from batonpass.sim.model_main import serve
from batonpass.sim.openai_responses_wire import ResponsesWire
from batonpass.sim.scripted_model import ScriptedModel

WINDOW = 272_000


class ResponsesModel(ScriptedModel):
    """A ScriptedModel that speaks the Responses API."""

    def __init__(
        self,
        brain: Brain,
        *,
        port: int = 0,
        record_dir: Path | None = None,
        window: int = WINDOW,
        start: int = 20_000,
        step: int = 1_000,
        clock: Clock | None = None,
    ) -> None:
        wire = ResponsesWire()
        super().__init__(
            brain, wire, port=port, record_dir=record_dir, window=window, start=start, step=step, clock=clock
        )


if __name__ == "__main__":
    sys.exit(serve(ResponsesModel, "openai_responses", __doc__.split("\n")[0], window=WINDOW))
