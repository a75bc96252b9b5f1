"""YAML without its traps, and with a place for every value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batonpass.config.problems import ConfigError
from batonpass.config.yaml import read


def complaint(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        read(text, "c.yaml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("off", "off"),
        ("yes", "yes"),
        ("12:30", "12:30"),
        ("0755", "0755"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("2026-01-21", "2026-01-21"),
        ("'70'", "70"),
        ("true", True),
        ("FALSE", False),
        ("70", 70),
        ("-3", -3),
        ("2.5", 2.5),
        ("1e3", 1000.0),
        ("~", None),
        ("", None),
        ("[1, a]", [1, "a"]),
    ],
)
def test_plain_values_mean_what_they_look_like(written: str, meant: object) -> None:
    value = read(f"key: {written}\n", "c.yaml").data["key"]
    assert value == meant
    assert type(value) is type(meant)


def test_an_empty_file_has_no_values() -> None:
    assert read("# nothing yet\n", "c.yaml").data == {}


def test_every_value_has_a_line_and_a_column() -> None:
    document = read("a: 1\nb:\n  c:\n    - x\n    - {d: 2}\n", "c.yaml")
    assert document.places == {
        ("a",): (1, 1),
        ("b",): (2, 1),
        ("b", "c"): (3, 3),
        ("b", "c", 0): (4, 7),
        ("b", "c", 1): (5, 7),
        ("b", "c", 1, "d"): (5, 8),
    }


def test_a_problem_of_something_missing_points_at_what_is_there() -> None:
    document = read("a:\n  b: 1\n", "c.yaml")
    assert str(document.problem(("a", "z"), "is missing")) == "c.yaml:1:1: a.z: is missing"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\nb: 2\na: 3\n", "c.yaml:3:1: a: this key is given twice; the first is in line 1"),
        ("a:\n  b: 1\n  b: 1\n", "c.yaml:3:3: a.b: this key is given twice; the first is in line 2"),
        ("a: &x 1\nb: *x\n", "c.yaml:2:4: aliases are not used here; write the value out"),
        ("- a\n- b\n", "c.yaml:1:1: the file must hold keys with values"),
        ("? [a]\n: b\n", "c.yaml:1:3: a key must be a word"),
        ("a: !!binary aGk=\n", "c.yaml:1:4: a: a value with the tag !!binary is not used here"),
        ("a: !!int x\n", "c.yaml:1:4: a: a value with the tag !!int is not used here"),
        (
            "a: !!python/name:os.system\n",
            "c.yaml:1:4: a: a value with the tag !!python/name:os.system is not used here",
        ),
        ('a: "\\ud800"\n', "c.yaml:1:4: a: half of a surrogate pair is no letter"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_its_place(text: str, said: str) -> None:
    assert complaint(text) == said


@pytest.mark.parametrize("text", ["a: [1\n", "a: b: c\n", "\tx: 1\n", "a: 'b\n", "--- 1\n--- 2\n", "a: \x01\n"])
def test_broken_yaml_is_called_broken_yaml(text: str) -> None:
    assert complaint(text).startswith("c.yaml")
    assert "this is not valid YAML" in complaint(text)


def test_nesting_and_size_are_bounded() -> None:
    assert read("a: " + "[" * 19 + "]" * 19, "c.yaml").data
    assert complaint("a: " + "[" * 20 + "]" * 20) == "c.yaml:1:23: this is nested too deeply"
    assert complaint("a: " + "[" * 100_000) == "c.yaml:1:23: this is nested too deeply"
    assert complaint("#" * 200_001) == "c.yaml: this file is too large; 200,000 letters are enough"


@given(st.text(max_size=60))
def test_any_text_is_either_read_or_complained_about(text: str) -> None:
    try:
        document = read(text, "c.yaml")
    except ConfigError as error:
        said = str(error)
    else:
        said = f"c.yaml{document.data}"
    assert said.startswith("c.yaml")
