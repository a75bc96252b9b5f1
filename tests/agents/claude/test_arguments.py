import pytest

from batonpass.agents.claude.arguments import parse


@pytest.mark.parametrize(
    ("args", "options", "prompts"),
    [
        ([], [], []),
        (["fix it"], [], ["fix it"]),
        (["--model", "opus", "fix it"], ["--model"], ["fix it"]),
        (["--model=opus", "fix it"], ["--model"], ["fix it"]),
        (["--allowedTools", "Read", "Bash(ls:*)"], ["--allowedTools"], []),
        (["--allowedTools", "Read", "--", "fix it"], ["--allowedTools"], ["fix it"]),
        (["-c", "fix it"], ["--continue"], ["fix it"]),
        (["-r", "abc", "fix it"], ["--resume"], ["fix it"]),
        (["--resume"], ["--resume"], []),
        (["--verbose", "go", "--", "--not-an-option"], ["--verbose"], ["go", "--not-an-option"]),
        (["--append-system-prompt", "-x y", "go"], ["--append-system-prompt"], ["go"]),
        (["--from-the-future", "word", "fix it"], ["--from-the-future"], ["fix it"]),
        (["--from-the-future", "fix it all"], ["--from-the-future"], ["fix it all"]),
    ],
)
def test_a_command_line_is_taken_apart_as_the_program_does(
    args: list[str], options: list[str], prompts: list[str]
) -> None:
    found = parse(args)
    assert [option.name for option in found.options] == options
    assert list(found.prompts) == prompts


def test_the_last_value_of_an_option_counts_in_either_form() -> None:
    found = parse(["--model", "sonnet", "--model=opus", "-n", "name"])
    assert found.value("--model") == "opus"
    assert found.value("--name") == "name"
    assert found.value("--resume") is None


def test_what_is_left_out_takes_its_values_with_it() -> None:
    found = parse(["--resume", "abc", "--add-dir", "a", "b", "-c"])
    assert found.without({"--resume", "--continue"}).tokens() == ["--add-dir", "a", "b"]
