"""A scripted OpenAI chat model on loopback that the real opencode accepts: no account, no cost, no surprise.

    with ChatModel(Worker()) as model:
        ...  # run the CLI with an openai-compatible provider whose baseURL is model.url + "/v1"
        model.wait_for(lambda request: "hello" in request.text)

As a program: python -m batonpass.sim.openai_chat --port 8767 --settings '{"steps": 3}'
"""

import sys

from batonpass.sim.model_main import serve
from batonpass.sim.openai_chat_wire import ChatWire
from batonpass.sim.scripted_model import ScriptedModel


class ChatModel(ScriptedModel):
    """A ScriptedModel that speaks the Chat Completions API."""

    WIRE = ChatWire


if __name__ == "__main__":
    sys.exit(serve(ChatModel, "openai_chat", __doc__.split("\n")[0]))
