"""YAML as people expect it: `off` is a word, `12:30` no number, a key given twice a fault."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import yaml

from batonpass.config.problems import ConfigError, KeyPath, Problem, dotted

_TAG = "tag:yaml.org,2002:"
_PLAIN = {
    # The core schema of YAML 1.2, and numbers with a leading zero left as text: nobody means octal.
    "null": (re.compile(r"(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]),
    "bool": (re.compile(r"(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")),
    "int": (re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})$"), list("-+0123456789")),
    "float": (
        re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$"),
        list("-+0123456789."),
    ),
}
_DEEPEST = 20
_LARGEST = 200_000


@dataclass(frozen=True, slots=True)
class Document:
    """A file's content, and where each of its values stands (line and column from 1)."""

    file: str
    data: Mapping[str, object]
    places: Mapping[KeyPath, tuple[int, int]]

    def problem(self, path: KeyPath, message: str, meant: str | None = None) -> Problem:
        """A fault of the value at `path`, placed at the nearest thing that is really in the file."""
        place = next((self.places[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self.places), None)
        line, column = place or (None, None)
        return Problem(self.file, line, column, dotted(path), message, meant)


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  (a class attribute of the library's making)


for _name, (_pattern, _starts) in _PLAIN.items():
    _Loader.add_implicit_resolver(_TAG + _name, _pattern, _starts)


@lru_cache(maxsize=128)  # the daemon asks at every reading, and the same text always means the same
def read(text: str, file: str) -> Document:
    """The document in a text; an empty one has no values. Raises ConfigError with every fault found."""
    try:
        _refuse_bombs(text, file)
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        said = error.problem or error.context or "cannot be read"
        raise ConfigError([Problem(file, line, column, "", f"this is not valid YAML: {said}")]) from error
    except yaml.YAMLError as error:
        raise ConfigError([Problem(file, None, None, "", f"this is not valid YAML: {error}")]) from error
    return _Walk(file).document(node)


def _refuse_bombs(text: str, file: str) -> None:
    """Files that would take the machine's time or memory, told before anything is built."""
    if len(text) > _LARGEST:
        raise ConfigError([Problem(file, None, None, "", f"this file is too large; {_LARGEST:,} letters are enough")])
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        alias = isinstance(event, yaml.AliasEvent)
        if (alias or depth > _DEEPEST) and (mark := event.start_mark):
            message = "aliases are not used here; write the value out" if alias else "this is nested too deeply"
            raise ConfigError([Problem(file, mark.line + 1, mark.column + 1, "", message)])


class _Walk:
    """One pass over the nodes that collects values, places and faults."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.places: dict[KeyPath, tuple[int, int]] = {}
        self.problems: list[Problem] = []

    def document(self, node: yaml.Node | None) -> Document:
        data = self.value(node, ()) if node is not None else None
        if data is not None and not isinstance(data, dict):
            self.problems.append(Problem(self.file, 1, 1, "", "the file must hold keys with values"))
        if self.problems:
            raise ConfigError(self.problems)
        return Document(self.file, data if isinstance(data, dict) else {}, self.places)

    def value(self, node: yaml.Node, path: KeyPath) -> object:
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.item(child, (*path, index)) for index, child in enumerate(node.value)]
        return self.scalar(node, path) if isinstance(node, yaml.ScalarNode) else None

    def mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, object]:
        found: dict[str, object] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self.fault(key_node, path, "a key must be a word")
                continue
            key = key_node.value
            here = (*path, key)
            if key in found:
                first = self.places[here][0]
                self.fault(key_node, here, f"this key is given twice; the first is in line {first}")
                continue
            self.places[here] = _place(key_node)
            found[key] = self.value(value_node, here)
        return found

    def item(self, node: yaml.Node, path: KeyPath) -> object:
        self.places[path] = _place(node)
        return self.value(node, path)

    def scalar(self, node: yaml.ScalarNode, path: KeyPath) -> object:
        kind = node.tag.removeprefix(_TAG)
        text: str = node.value
        if kind == "str":
            if any("\ud800" <= letter <= "\udfff" for letter in text):
                self.fault(node, path, "half of a surrogate pair is no letter")
            return text
        if kind not in _PLAIN or not _PLAIN[kind][0].match(text):
            self.fault(node, path, f"a value with the tag {node.tag.replace(_TAG, '!!')} is not used here")
            return None
        if kind == "bool":
            return text.lower() == "true"
        if kind == "int":
            return int(text)
        return float(text) if kind == "float" else None

    def fault(self, node: yaml.Node, path: KeyPath, message: str) -> None:
        line, column = _place(node)
        self.problems.append(Problem(self.file, line, column, dotted(path), message))


def _place(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1
