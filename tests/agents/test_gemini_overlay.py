"""What is the user's stays the user's in a session of Gemini CLI that has a home of its own."""

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from batonpass.agents.base import Binding, LaunchError
from batonpass.agents.gemini import Gemini
from batonpass.agents.gemini.overlay import rule
from tests.agents.gemini_launch import named, order, overlay, users


def test_the_users_policies_are_one_folder_and_are_named_beside_batons_own(tmp_path: Path) -> None:
    policies = users(tmp_path, "policies/mine.toml", "").parent
    launch = Gemini().launch(order(tmp_path))
    assert named(launch) == [str(policies), str(rule(tmp_path / "session"))]
    # A program that links are no files for, and that replaces a file there by another, does so in the user's folder.
    assert (overlay(tmp_path) / "policies").readlink() == policies
    assert not rule(tmp_path / "session").is_relative_to(overlay(tmp_path))


def test_policies_that_the_user_named_are_kept_and_batons_own_is_added(tmp_path: Path) -> None:
    own = str(rule(tmp_path / "session"))
    assert named(Gemini().launch(order(tmp_path, "--policy", "a.toml"))) == ["a.toml", own]
    users(tmp_path, "settings.json", '{"policyPaths": ["b.toml", "~/c"]}')
    assert named(Gemini().launch(order(tmp_path))) == ["b.toml", "~/c", own]
    users(tmp_path, "settings.json", '{"policyPaths": ["b,c.toml"]}')
    assert named(Gemini().launch(order(tmp_path))) == [], "it would be taken for two"


def test_policies_of_a_project_or_an_administrator_are_never_named_for_them(tmp_path: Path) -> None:
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "settings.json").write_text('{"policyPaths": ["p.toml"]}', encoding="utf-8")
    assert named(Gemini().launch(order(tmp_path))) == []
    (tmp_path / ".gemini" / "settings.json").unlink()
    defaults = tmp_path / "system-defaults.json"
    defaults.write_text('{"policyPaths": ["p.toml"]}', encoding="utf-8")
    asked = order(tmp_path)
    env = {**asked.env, "GEMINI_CLI_SYSTEM_DEFAULTS_PATH": str(defaults)}
    assert named(Gemini().launch(order(tmp_path, env=env))) == []


def test_what_the_home_holds_for_every_start_is_linked(tmp_path: Path) -> None:
    Gemini().launch(order(tmp_path))
    home = tmp_path / "home"
    links = {name: (overlay(tmp_path).parent / name).readlink() for name in (".env", ".agents")}
    assert links == {".env": home / ".env", ".agents": home / ".agents"}


def replaced(tmp_path: Path, name: str, content: str) -> Path:
    """The program puts another file in the place of a link."""
    fresh = overlay(tmp_path) / f"{name}.tmp"
    fresh.write_text(content, encoding="utf-8")
    return fresh.replace(overlay(tmp_path) / name)


def ended(tmp_path: Path) -> Binding:
    return Binding(2**22 + 1, None, None, tmp_path / "session", {"HOME": str(tmp_path / "home")})


@pytest.mark.parametrize("at", ["the next launch", "its end"])
def test_what_the_program_put_in_the_place_of_a_link_goes_to_the_users_file(tmp_path: Path, at: str) -> None:
    memory = users(tmp_path, "GEMINI.md", "be kind")
    memory.chmod(0o644)
    Gemini().launch(order(tmp_path))
    copy = replaced(tmp_path, "GEMINI.md", "be kind and brief")
    if at == "its end":
        assert Gemini().tend(ended(tmp_path)) == []
    else:
        Gemini().launch(order(tmp_path))
    assert (memory.read_text(encoding="utf-8"), memory.stat().st_mode & 0o777) == ("be kind and brief", 0o644)
    assert copy.readlink() == memory
    replaced(tmp_path, "GEMINI.md", "be brief")
    assert Gemini().tend(ended(tmp_path)) == []
    assert memory.read_text(encoding="utf-8") == "be brief", "what was given back is no change of the user's"


def test_a_users_file_that_was_changed_meanwhile_is_left_and_the_copy_is_kept_beside_it(tmp_path: Path) -> None:
    memory = users(tmp_path, "GEMINI.md", "be kind")
    Gemini().launch(order(tmp_path))
    replaced(tmp_path, "GEMINI.md", "be kind and brief")
    later = time.time() + 60
    memory.write_text("be swift", encoding="utf-8")
    os.utime(memory, (later, later))
    (told,) = Gemini().tend(ended(tmp_path))
    beside = memory.with_name("GEMINI.md.session")
    assert (memory.read_text(encoding="utf-8"), beside.read_text(encoding="utf-8")) == ("be swift", "be kind and brief")
    assert str(beside) in told
    assert Gemini().tend(ended(tmp_path)) == [], "it is said once"


def test_what_is_being_written_is_given_back_when_it_lies_still(tmp_path: Path) -> None:
    memory = users(tmp_path, "GEMINI.md", "be kind")
    Gemini().launch(order(tmp_path))
    copy, running = replaced(tmp_path, "GEMINI.md", "be brief"), replace(ended(tmp_path), pid=os.getpid())
    assert Gemini().tend(running) == []
    assert not copy.is_symlink()
    os.utime(copy, (time.time() - 60, time.time() - 60))
    assert Gemini().tend(running) == []
    assert memory.read_text(encoding="utf-8") == "be brief"


def test_a_session_without_a_home_of_its_own_leaves_nothing_to_be_given_back(tmp_path: Path) -> None:
    assert Gemini().tend(ended(tmp_path)) == []


def test_what_cannot_be_kept_stops_the_launch_in_words(tmp_path: Path) -> None:
    Gemini().launch(order(tmp_path))
    copy = replaced(tmp_path, "GEMINI.md", "be brief")
    (tmp_path / "home" / ".gemini" / "GEMINI.md").mkdir()
    with pytest.raises(LaunchError, match="Gemini CLI was not started"):
        Gemini().launch(order(tmp_path))
    assert copy.read_text(encoding="utf-8") == "be brief"
