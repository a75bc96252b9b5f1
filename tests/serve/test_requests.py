"""Whatever stands in a request, the answer is a sentence and no accident of the daemon's."""

import json
from pathlib import Path
from typing import Any

import pytest

from batonpass.serve.api import Api
from batonpass.serve.operations import Operations
from batonpass.supervisor.daemon import Daemon

LONG = "/" + "x" * 5000


@pytest.fixture
def api(tmp_path: Path) -> Api:
    daemon = Daemon(tmp_path / "home", {"HOME": str(tmp_path), "BATON_TMUX": str(tmp_path / "none")})
    return Api(tmp_path / "socket", Operations(daemon).table())


@pytest.mark.parametrize(
    "request_",
    [
        {"op": "cycles_list", "session": []},
        {"op": "cycles_list", "session": {"a": [1]}},
        {"op": "handoffs_show", "cwd": LONG},
        {"op": "handoffs_show", "cwd": [LONG, None]},
        {"op": "handoffs_show", "cwd": "/", "file": LONG},
        {"op": "breaker_reset", "cwd": LONG},
    ],
)
async def test_a_field_of_another_kind_or_length_is_answered_in_a_sentence(api: Api, request_: dict[str, Any]) -> None:
    reply = await api.answer(json.dumps(request_).encode())
    assert reply["ok"] or " failed: " not in str(reply["error"]), reply
    assert len(str(reply)) < 6000


async def test_a_folder_that_is_not_there_is_named(api: Api, tmp_path: Path) -> None:
    reply = await api.answer(json.dumps({"op": "handoffs_show", "cwd": str(tmp_path / "gone")}).encode())
    assert reply == {"ok": False, "error": f"there is no folder {tmp_path / 'gone'}", "exit": 2}
