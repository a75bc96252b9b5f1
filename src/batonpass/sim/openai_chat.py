"""A scripted OpenAI chat model on loopback that the real opencode accepts: no account, no cost, no surprise.

    with ChatModel(Worker()) as model:
        ...  # run the CLI with an openai-compatible provider whose baseURL is model.url + "/v1"
        model.wait_for(lambda request: "hello" in request.text)

As a program: python -m batonpass.sim.openai_chat --port 8767 --settings '{"steps": 3}'
"""

import sys
from pathlib import Path

from batonpass.clock import Clock
from batonpass.sim.brain import Brain
from batonpass.sim.model_main import serve
from batonpass.sim.openai_chat_wire import ChatWire
from batonpass.sim.scripted_model import ScriptedModel

WINDOW = 200_000


class ChatModel(ScriptedModel):
    """A ScriptedModel that speaks the Chat Completions API."""

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
        super().__init__(
            brain, ChatWire(), port=port, record_dir=record_dir, window=window, start=start, step=step, clock=clock
        )


if __name__ == "__main__":
    sys.exit(serve(ChatModel, "openai_chat", __doc__.split("\n")[0], window=WINDOW))
