"""The conversation of a scripted agent: what was said, how full it is, and its record on disk."""

from collections.abc import Mapping

from batonpass.sim.agent_record import Transcript, new_id, recorded
from batonpass.sim.brain import Asked

_STEP = 2_000  # tokens that a response adds when the brain does not say


class Conversation:
    """One session id and one transcript. It forgets when it is compacted, and ends when it is cleared."""

    def __init__(self, home: str, session: str | None = None) -> None:
        self.session = session or new_id()
        self.record = Transcript(home, self.session)
        self.texts: list[str] = []
        self.used: int | None = None  # None until a response has told
        self.turns = 0
        self.prompt = ""
        self.prompt_id = ""
        self.last_message = ""

    @classmethod
    def resumed(cls, home: str, session: str) -> "Conversation":
        """The conversation as its transcript tells it. Raises FileNotFoundError."""
        lines = list(recorded(home, session))
        talk = cls(home, session)
        for line in lines:
            talk._replay(line)
        return talk

    def prompted(self, text: str, origin: str, prompt_id: str) -> None:
        self.turns += 1
        self.prompt, self.prompt_id = text, prompt_id
        self.texts.append(text)
        self.record.add("prompted", text=text, origin=origin, prompt_id=prompt_id)

    def told(self, context: str, source: str) -> None:
        """A system note that the model sees and the user does not."""
        self.texts.append(context)
        self.record.add("context", text=context, source=source)

    def said(self, text: str, message_id: str) -> None:
        self.last_message = text
        if text:
            self.texts.append(text)
            self.record.add("said", text=text, message_id=message_id)

    def grew(self, used: int | None, output: int, model: str, message_id: str) -> None:
        self.used = used if used is not None else (self.used or 0) + _STEP
        self.record.add("used", used=self.used, output=output, model=model, message_id=message_id)

    def compacted(self, trigger: str) -> None:
        """Forget everything but the prompt that is being worked on."""
        self.record.add("compacted", trigger=trigger, before=self.used)
        self.texts = ["The conversation so far was compacted.", *([self.prompt] if self.prompt else [])]
        self.used = None

    def asked(self, results: tuple[str, ...]) -> Asked:
        """What the model is shown now."""
        return Asked(
            text=self.prompt,
            context="\n\n".join(self.texts),
            tool_results=results,
            turn=self.turns,
            used=self.used or 0,
        )

    def _replay(self, line: Mapping[str, object]) -> None:
        event, text, used = line.get("event"), line.get("text"), line.get("used")
        if event in ("prompted", "context", "said") and isinstance(text, str):
            self.texts.append(text)
            self.turns += event == "prompted"
            self.last_message = text if event == "said" else self.last_message
        elif event == "used" and isinstance(used, int):
            self.used = used
        elif event == "compacted":
            self.texts, self.used = [], None
