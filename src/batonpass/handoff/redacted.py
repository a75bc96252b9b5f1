"""Redaction of what is no document: values for the store, lines of the log."""

import logging
from collections.abc import Callable

from batonpass.handoff.redact import Allow, redact


def value(given: object, allow: Allow = ()) -> object:
    """The same JSON value with every text in it redacted. A bare path stays: it must still lead somewhere."""
    if isinstance(given, str):
        return given if given.startswith("/") and len(given.split()) == 1 else redact(given, allow=allow)[0]
    if isinstance(given, dict):
        return {key: value(inner, allow) for key, inner in given.items()}
    if isinstance(given, list | tuple):
        return [value(inner, allow) for inner in given]
    return given


class LogFormatter(logging.Formatter):
    """Lines without secrets, tracebacks included; `allow` is asked for every line, for it may change."""

    def __init__(self, form: str, allow: Callable[[], Allow] = tuple) -> None:
        super().__init__(form)
        self._allow = allow

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record), allow=self._allow())[0]
