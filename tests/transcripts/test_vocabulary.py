"""The words in which adapters tell what tools did, and in which facts understand them."""

import ast
from pathlib import Path

import batonpass
from batonpass.transcripts import vocabulary

TOOLS = {name: value for name, value in vars(vocabulary).items() if isinstance(value, frozenset) and name != "GONE"}
KIND_OF_TASK = "shell"  # what a command in the background is called among the facts, not a tool


def test_tools_stand_there_as_they_are_compared() -> None:
    assert {"WRITERS", "PATCHERS", "SHELLS", "SUBAGENTS", "STOPPERS", "WHOLE_LISTS"} <= set(TOOLS)
    assert [name for names in TOOLS.values() for name in names if name != name.lower()] == []


def test_a_tool_means_one_thing() -> None:
    assert len(set().union(*TOOLS.values())) == sum(map(len, TOOLS.values()))


def test_no_fact_knows_a_tool_by_a_name_of_its_own() -> None:
    tools = set().union(*TOOLS.values()) - {KIND_OF_TASK}
    for path in sorted((Path(batonpass.__file__).parent / "facts").glob("*.py")):
        if "ToolCalled" not in path.read_text("utf-8"):
            continue
        texts = {node.value for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Constant)}
        assert not tools & texts, f"{path.name} names {tools & texts}; such names belong into transcripts/vocabulary.py"


def test_the_first_argument_that_says_something_counts() -> None:
    given: dict[str, object] = {"file_path": None, "path": {}, "filePath": ["a", "b"], "absolute_path": "c"}
    assert vocabulary.given(given, vocabulary.PATH) == "a b"
    assert vocabulary.given({"taskId": 1}, vocabulary.TASK_ID) == "1"
    assert vocabulary.given({}, vocabulary.PATH) == ""
