"""A whole handoff in a project whose every name is an attack, and who can read what it leaves behind."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from batonpass.sim.tmux_server import private_tmux
from tests.system.house import House, Session

NAME = "it's $(touch pwned) `touch pwned` #(touch pwned) #{pid} %H; touch pwned; \u202e\"x"
FILE = 'a "b" $(touch pwned) #(touch pwned).py'
BRANCH = "x-$(touch${IFS}pwned)-#{pid};'q'"
PROMPT = "please `touch pwned` $(touch pwned) #(touch pwned) ; '\"\\ end"


@pytest.fixture(scope="module")
def after(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[House, Session]]:
    """A house in which such a session has passed the baton once."""
    with private_tmux() as tmux:
        house = House(tmp_path_factory.mktemp("house"), tmux)
        house.start()
        project = house.project(NAME)
        subprocess.run(["git", "-C", str(project), "checkout", "-q", "-b", BRANCH], check=True)
        (project / FILE).write_text("x", encoding="utf-8")
        session = house.run("attack", project=project)
        session.say(PROMPT)
        session.cycle()
        yield house, session
        house.close()


def test_the_baton_is_passed_with_every_name_as_it_is(after: tuple[House, Session]) -> None:
    _, session = after
    cycle = session.cycle()
    assert (cycle["state"], cycle["note"]) == ("done", None)
    [document] = session.documents()
    assert FILE in document
    assert BRANCH in document
    assert PROMPT in document
    assert PROMPT in session.prompts()


def test_nothing_that_the_names_say_was_done(after: tuple[House, Session]) -> None:
    house, _ = after
    assert list(house.folder.rglob("pwned*")) == []
    assert not (Path.cwd() / "pwned").exists()


@pytest.mark.parametrize(
    "words", [("status",), ("status", "--json"), ("cycles", "show"), ("handoffs", "list", "--all")]
)
def test_what_commands_show_of_it_is_printable(after: tuple[House, Session], words: tuple[str, ...]) -> None:
    house, _ = after
    shown = house.baton(*words)
    assert "touch" in shown or words == ("cycles", "show")
    assert "\u202e" not in shown
    assert all(character == "\n" or character.isprintable() for character in shown)


def test_what_it_leaves_behind_is_for_its_owner_alone(after: tuple[House, Session]) -> None:
    house, session = after
    assert house.home.stat().st_mode & 0o777 == 0o700
    assert (house.home / "run" / "daemon.sock").stat().st_mode & 0o777 == 0o600
    agents_own = house.home / "scripted"
    ours = [path for path in house.home.rglob("*") if agents_own not in (path, *path.parents) and path.is_file()]
    names = {path.name for path in ours}
    assert {"launch.json", "order.json", "baton.db", "baton.db-wal", "baton.log", "host-id", "daemon.argv"} <= names
    written = [
        *(session.project / ".bmad" / "handoffs").glob("handoff-*.md"),
        *(session.project / "tmp" / "context-checkpoints").glob("*.json.gz"),
    ]
    assert len(written) == 2
    open_to_others = {str(path): oct(path.stat().st_mode) for path in [*ours, *written] if path.stat().st_mode & 0o077}
    assert open_to_others == {}
    drafts = session.project / ".baton" / "drafts" / session.id
    assert drafts.stat().st_mode & 0o777 == 0o700


def test_a_project_whose_draft_folder_leads_elsewhere_is_not_worked_in(
    after: tuple[House, Session], tmp_path: Path
) -> None:
    house, _ = after
    project = house.project("astray")
    (project / ".baton").symlink_to(tmp_path)
    said = house.baton("run", "scripted", "--detach", cwd=project, code=1)
    assert "could not be started: this leads out of" in said
    assert "take the symbolic link away" in said
    assert list(tmp_path.iterdir()) == []
