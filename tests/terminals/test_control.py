import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batonpass.sim.tmux_server import private_tmux, run_tmux
from batonpass.terminals.control import CannotConnect, Connection, ConnectionLost, NoServer, quote


@contextlib.asynccontextmanager
async def connected(socket: str) -> AsyncIterator[Connection]:
    connection = await Connection.make(["tmux", "-S", socket], os.environ, lambda: None)
    try:
        yield connection
    finally:
        await connection.close()


def test_every_word_survives_the_way_through_tmuxs_parser(tmp_path: Path) -> None:
    saved = tmp_path / "saved"

    async def through_tmux(connection: Connection, word: str) -> str:
        [answer] = await connection.request(
            [[("set-buffer", "-b", "x", "--", word), ("save-buffer", "-b", "x", str(saved))]]
        )
        assert answer.ok, answer.text
        return os.fsdecode(saved.read_bytes())

    with private_tmux() as socket, asyncio.Runner() as runner:
        making = Connection.make(["tmux", "-S", socket], os.environ, lambda: None)
        connection = runner.run(making)

        characters = st.one_of(
            st.characters(codec="utf-8", exclude_characters="\0"),
            st.sampled_from("\"'\\$;#~{}%\n\r\t -\x1b\udcff"),
        )

        @settings(max_examples=300, deadline=None, database=None)
        @given(st.text(characters, min_size=1))
        def survives(word: str) -> None:
            assert runner.run(through_tmux(connection, word)) == word

        survives()
        runner.run(connection.close())


def test_a_nul_character_is_refused() -> None:
    with pytest.raises(ValueError, match="NUL"):
        quote("a\0b")


async def test_a_group_ends_with_its_first_failure_and_the_next_one_runs(socket: str) -> None:
    async with connected(socket) as connection:
        first, second, third = await connection.request(
            [
                [("display-message", "-p", "one"), ("display-message", "-p", "two")],
                [("kill-pane", "-t", "%99"), ("set-buffer", "-b", "never", "x")],
                [("display-message", "-p", "three")],
            ]
        )
        assert (first.ok, first.lines) == (True, ("one", "two"))
        assert (second.ok, second.text) == (False, "can't find pane: %99")
        assert (third.ok, third.lines) == (True, ("three",))
        assert run_tmux(socket, "list-buffers") == ""


async def test_requests_made_at_once_get_their_own_answers(socket: str) -> None:
    async with connected(socket) as connection:
        words = [f"word {number}" for number in range(50)]
        answers = await asyncio.gather(*(connection.request([[("display-message", "-p", word)]]) for word in words))
        assert [answer.text for [answer] in answers] == words


async def test_an_abandoned_request_does_not_shift_the_answers_of_others(socket: str) -> None:
    async with connected(socket) as connection:
        given_up = asyncio.create_task(connection.request([[("display-message", "-p", "first")]]))
        other = asyncio.create_task(connection.request([[("display-message", "-p", "second")]]))
        await asyncio.sleep(0)
        given_up.cancel()
        [answer] = await other
        assert answer.text == "second"


async def test_what_a_users_hook_prints_is_no_answer_of_ours(socket: str) -> None:
    run_tmux(socket, "set-hook", "-g", "after-set-buffer", "display-message -p intruder")
    async with connected(socket) as connection:
        [answer] = await connection.request([[("set-buffer", "x"), ("display-message", "-p", "mine")]])
        assert answer.lines == ("mine",)


async def test_without_a_server_there_is_no_connection_and_none_is_started(tmp_path: Path) -> None:
    with pytest.raises(NoServer):
        await Connection.make(["tmux", "-S", str(tmp_path / "s")], os.environ, lambda: None)
    assert not (tmp_path / "s").exists()


async def test_a_tmux_that_refuses_says_why(no_control: dict[str, str], socket: str) -> None:
    with pytest.raises(CannotConnect, match="without a word") as refusal:
        await Connection.make(["tmux", "-S", socket], no_control, lambda: None)
    assert not isinstance(refusal.value, NoServer)


async def test_whoever_waits_when_the_server_dies_is_told(socket: str) -> None:
    async with connected(socket) as connection:
        os.kill(connection.server_pid, signal.SIGSTOP)
        waiting = asyncio.create_task(connection.request([[("display-message", "-p", "late")]]))
        await asyncio.sleep(0)
        os.kill(connection.server_pid, signal.SIGKILL)
        with pytest.raises(ConnectionLost):
            await waiting
        assert connection.closed
        with pytest.raises(ConnectionLost):
            await connection.request([[("display-message", "-p", "later")]])
