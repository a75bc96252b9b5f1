import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from batonpass.serve.api import Api, Refusal


async def echo(request: Mapping[str, Any]) -> object:
    return {"heard": request.get("text")}


async def refuse(request: Mapping[str, Any]) -> object:
    raise Refusal("no session 'x' runs here; see: baton status", 3)


async def break_down(request: Mapping[str, Any]) -> object:
    raise ZeroDivisionError("by zero")


@pytest.fixture
def api(tmp_path: Path) -> Api:
    return Api(tmp_path / "run" / "daemon.sock", {"echo": echo, "refuse": refuse, "break": break_down})


async def say(path: Path, data: bytes) -> dict[str, Any]:
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(data)
    await writer.drain()
    line = await reader.readline()
    writer.close()
    await writer.wait_closed()
    answer: dict[str, Any] = json.loads(line)
    return answer


async def test_a_request_gets_its_answer_over_a_socket_of_its_owner_alone(api: Api, tmp_path: Path) -> None:
    path = tmp_path / "run" / "daemon.sock"
    await api.start()
    try:
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o077 == 0
        assert await say(path, b'{"op": "echo", "text": "h\xc3\xa9"}\n') == {"ok": True, "result": {"heard": "hé"}}
    finally:
        await api.stop()
    assert not path.exists()


async def test_a_socket_that_a_crash_left_behind_is_taken_over(api: Api, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir(mode=0o700)
    (tmp_path / "run" / "daemon.sock").write_bytes(b"")
    await api.start()
    try:
        assert (await say(tmp_path / "run" / "daemon.sock", b'{"op": "echo"}\n'))["ok"]
    finally:
        await api.stop()


@pytest.mark.parametrize(
    "line", [b"garbage\n", b"\xff\xfe\n", b"[1]\n", b"null\n", b'{"op": "no such"}\n', b'{"op": []}\n']
)
async def test_what_is_no_request_is_told_so_and_does_no_harm(api: Api, line: bytes) -> None:
    answer = await api.answer(line)
    assert (answer["ok"], answer["exit"]) == (False, 2)


async def test_a_caller_that_says_nothing_or_goes_away_does_no_harm(api: Api, tmp_path: Path) -> None:
    path = tmp_path / "run" / "daemon.sock"
    await api.start()
    try:
        for data in (b"", b'{"op": "ec'):
            _, writer = await asyncio.open_unix_connection(path)
            writer.write(data)
            writer.close()
            await writer.wait_closed()
        assert (await say(path, b'{"op": "echo"}\n'))["ok"]
    finally:
        await api.stop()


async def test_a_refusal_is_a_sentence_with_its_exit_code(api: Api) -> None:
    answer = await api.answer(b'{"op": "refuse"}')
    assert answer == {"ok": False, "error": "no session 'x' runs here; see: baton status", "exit": 3}


async def test_a_fault_of_ours_is_an_answer_too(api: Api) -> None:
    answer = await api.answer(b'{"op": "break"}')
    assert (answer["ok"], answer["exit"]) == (False, 1)
    assert "break failed" in str(answer["error"])
