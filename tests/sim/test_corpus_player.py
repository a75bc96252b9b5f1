"""A corpus as a brain: turn by turn, and handing over in its manner."""

from pathlib import Path

import pytest

from batonpass.sim.brain import Asked, Reply
from batonpass.sim.corpus_made import made
from batonpass.sim.corpus_measure import measure
from batonpass.sim.corpus_player import BARE_ASK, BARE_PATH, FULL, Manner, Player

PROJECT = Path("/project")
CORPUS = made(2, few=True)


def player(manner: Manner = Manner.COOPERATIVE) -> Player:
    return Player(CORPUS, PROJECT, manner)


def asked(text: str, *results: str) -> Asked:
    return Asked(text, text, results, 1, 0)


def ask(attempt: int, body: str = "") -> Asked:
    return asked(f"[baton 7f3a91c2 ask {attempt}] Hand over.\n\nWrite it to: /project/draft.md\n\n{body}")


def written(reply: Reply) -> str:
    (tool,) = reply.tools
    assert tool.arguments["path"] == "/project/draft.md"
    return str(tool.arguments["content"])


def test_every_call_of_the_corpus_is_made_once_and_in_order() -> None:
    brain = player()
    made_calls = []
    for number, turn in enumerate(brain.turns, 1):
        reply = brain.reply(asked(turn.prompt))
        while reply.tools:
            made_calls += [tool.name for tool in reply.tools]
            assert brain.finished == number - 1
            reply = brain.reply(asked(turn.prompt, "result"))
        assert brain.finished == number
    assert reply.used == FULL
    assert made_calls == [part.tool for turn in brain.turns for part in turn.answer if not isinstance(part, str)]


def test_news_of_background_work_is_noted_and_disturbs_no_turn() -> None:
    brain = player()
    assert brain.reply(asked("<task-notification>\n<task-id>b1</task-id>\n</task-notification>")).text == "Noted."
    assert brain.finished == 0
    assert brain.reply(asked(brain.turns[0].prompt)).tools


def test_paths_are_those_of_the_project() -> None:
    brain = player()
    paths = []
    for turn in brain.turns:
        reply = brain.reply(asked(turn.prompt))
        while reply.tools:
            paths += [str(tool.arguments["file_path"]) for tool in reply.tools if "file_path" in tool.arguments]
            reply = brain.reply(asked(turn.prompt, "result"))
    assert paths
    assert all(path.startswith("/project/") for path in paths)


def test_a_cooperative_agent_adds_what_it_is_asked_for() -> None:
    brain = player()
    first = written(brain.reply(ask(1)))
    again = written(
        brain.reply(ask(2, 'Missing:\n- The user\'s constraint is not mentioned: "No gold plating."\n\nThen'))
    )
    assert "No gold plating." not in first
    assert "- No gold plating.\n" in again
    assert brain.reply(Asked(ask(1).text, "", ("ok",), 1, 0)).text == "The handoff is written."


def test_a_careless_agent_leaves_half_of_the_sections_out_and_adds_nothing() -> None:
    brain = player(Manner.CARELESS)
    first, again = written(brain.reply(ask(1))), written(brain.reply(ask(2, "Missing:\n- all\n")))
    assert first == again
    assert first.count("## ") == 4
    assert measure(CORPUS, first).recall < measure(CORPUS, written(player().reply(ask(1)))).recall


def test_a_silent_agent_writes_nothing() -> None:
    assert player(Manner.SILENT).reply(ask(1)).tools == ()


def test_the_bare_prompt_is_answered_with_a_document_that_is_read_again() -> None:
    brain = player()
    (write,) = brain.reply(asked(BARE_ASK)).tools
    assert write.arguments["path"] == f"/project/{BARE_PATH}"
    assert str(write.arguments["content"]).startswith("# Handoff Document")
    (read,) = brain.reply(asked(f"Read handoff from /project/{BARE_PATH} and resume work")).tools
    assert (read.name, read.arguments) == ("Read", {"file_path": f"/project/{BARE_PATH}"})


@pytest.mark.parametrize("seed", [1, 2])
def test_a_short_corpus_holds_every_kind_of_the_long_one(seed: int) -> None:
    few, whole = made(seed, few=True), made(seed)
    assert {fact.kind for fact in few.must} == {fact.kind for fact in whole.must}
    assert len(few.turns) < len(whole.turns) / 2
