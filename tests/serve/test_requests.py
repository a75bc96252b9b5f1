"""Whatever stands in a request, the answer is a sentence and no accident of the daemon's."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from batonpass.serve.api import Api
from batonpass.serve.operations import Operations
from batonpass.supervisor.daemon import Daemon

LONG = "/" + "x" * 5000


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    log = logging.getLogger("batonpass")
    before = list(log.handlers)
    yield Daemon(tmp_path / "home", {"HOME": str(tmp_path), "BATON_TMUX": str(tmp_path / "none")})
    for handler in [one for one in log.handlers if one not in before]:
        log.removeHandler(handler)
        handler.close()


@pytest.fixture
def api(tmp_path: Path, daemon: Daemon) -> Api:
    return Api(tmp_path / "socket", Operations(daemon).table())


async def refused(api: Api, request: dict[str, Any]) -> str:
    reply = await api.answer(json.dumps(request).encode())
    assert (reply["ok"], reply.get("exit")) == (False, 2), reply
    return str(reply["error"])


@pytest.mark.parametrize(
    ("op", "field", "value", "kind"),
    [
        ("cycles_list", "session", [], "a text"),
        ("cycles_list", "session", {"a": [1]}, "a text"),
        ("handoffs_show", "cwd", [LONG, None], "a text"),
        ("handoffs_show", "number", [3], "a number"),
        ("run", "width", "x", "a number of a sensible size"),
        ("run", "height", 10**9, "a number of a sensible size"),
        ("run", "env", [1], "a text for each name"),
        ("run", "env", {"HOME": None}, "a text for each name"),
        ("run", "args", 5, "a list of texts"),
        ("run", "ladder", ["a"], "a text"),
        ("restore", "sessions", 5, "a list of texts"),
    ],
)
async def test_a_field_of_another_kind_is_named(api: Api, op: str, field: str, value: object, kind: str) -> None:
    said = await refused(api, {"op": op, field: value})
    assert said.startswith(f"'{field}' of a request is {kind}, and ")


@pytest.mark.parametrize("op", ["run", "handoffs_show", "breaker_reset", "handoff"])
async def test_a_folder_whose_name_no_file_system_takes_is_no_folder(api: Api, op: str) -> None:
    said = await refused(api, {"op": op, "cwd": LONG})
    assert said.startswith("there is no folder /xxx")
    assert len(said) < 300


async def test_a_folder_that_is_not_there_is_named(api: Api, tmp_path: Path) -> None:
    reply = await api.answer(json.dumps({"op": "handoffs_show", "cwd": str(tmp_path / "gone")}).encode())
    assert reply == {"ok": False, "error": f"there is no folder {tmp_path / 'gone'}", "exit": 2}
