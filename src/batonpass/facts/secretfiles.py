"""Files that hold secrets: what tools show of them is never taken up."""

import re
from dataclasses import replace

from batonpass.transcripts import vocabulary
from batonpass.transcripts.events import Event, ToolCalled, ToolReturned

_NAME = (
    r"(?:[\w.-]*\.env(?:\.(?!example\b|sample\b|template\b|dist\b)[\w-]+)*|[\w.-]+\.secrets?"
    r"|\.netrc|\.pgpass|credentials\.json|id_(?:rsa|ed25519|ecdsa))"
)
_FILE = re.compile(rf"(?<![\w.-])(?:[\w~.*-]*/)*{_NAME}(?![\w.-]*\w)")
_SAMPLE = re.compile(r"\.(?:example|sample|template|dist)\b")
_PRINTS_ALL = re.compile(r"(?:^|[;&|]\s*)(?:env|printenv|export -p|set)\s*(?:$|[;&|])")
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?.*?^\1\s*$", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
WITHHELD = "[not kept: this shows a file of secrets]"


class SecretFiles:
    """Passes events on, without what was read from or written to a file of secrets."""

    def __init__(self) -> None:
        self._calls: set[str] = set()

    def clean(self, event: Event) -> Event:
        if isinstance(event, ToolCalled) and self._touches(event):
            self._calls.add(event.call_id)
            return replace(event, arguments={key: _bare(key, value) for key, value in event.arguments.items()})
        if isinstance(event, ToolReturned) and event.call_id in self._calls:
            self._calls.discard(event.call_id)
            return replace(event, text=WITHHELD)
        return event

    def _touches(self, event: ToolCalled) -> bool:
        texts = [str(value) for key, value in event.arguments.items() if key not in vocabulary.CONTENT]
        return any(names_secret_file(text) or _PRINTS_ALL.search(text.strip()) for text in texts)


def names_secret_file(text: str) -> bool:
    """Whether a path or command line names one.

    >>> names_secret_file("cat .env.local"), names_secret_file("cp .env.example x"), names_secret_file("env.py")
    (True, False, False)
    """
    if ".env" not in text and "secret" not in text and not re.search(r"netrc|pgpass|credentials|id_", text):
        return False
    return any(not _SAMPLE.search(found[0]) for found in _FILE.finditer(text))


def _bare(key: str, value: object) -> object:
    """An argument without texts that may be the file's content."""
    if key in vocabulary.CONTENT:
        return WITHHELD
    if not isinstance(value, str) or ">" not in value:
        return value
    return _QUOTED.sub("…", _HEREDOC.sub("<< …", value))
