"""How full a conversation is, by its record alone."""

from pathlib import Path

import pytest

from batonpass import agents
from batonpass.agents import readable
from batonpass.agents.base import Past
from batonpass.transcripts.events import Compacted, Event, Rewound, Said, Used

CODEX = Path(__file__).parents[1] / "fixtures" / "codex"


@pytest.mark.parametrize(
    ("name", "used", "window", "usable"),
    [
        ("rollout-tui-turns-and-tools", 120_040, 258_400, 244_800),
        ("rollout-exec-resume-autocompact", 23_040, 95_000, 90_000),
        ("rollout-subagent-parent", 27_040, 258_400, 244_800),
        ("rollout-tui-interrupt-and-error", None, 258_400, 244_800),
    ],
)
def test_a_record_tells_usage_and_window_as_in_a_live_session(
    name: str, used: int | None, window: int, usable: int
) -> None:
    past = Past("id", CODEX / f"{name}.jsonl", Path("/"))
    reading = readable.reading(agents.get("codex"), past, {})
    assert (reading.used, reading.window, reading.usable) == (used, window, usable)


@pytest.mark.parametrize(
    ("events", "used"),
    [
        ([], None),
        ([Used(1.0, 500, 1, "m", ""), Said(2.0, "x", "")], 500),
        ([Used(1.0, 500, 1, "m", ""), Compacted(2.0, "auto", None)], None),
        ([Used(1.0, 500, 1, "m", ""), Rewound(2.0)], None),
        ([Compacted(2.0, "auto", None), Used(3.0, 90, 1, "m", "")], 90),
    ],
)
def test_what_the_record_took_back_is_unknown_and_not_zero(events: list[Event], used: int | None) -> None:
    assert readable.of_events(agents.get("scripted"), "id", events, {}).used == used


def test_the_window_that_the_agent_told_counts_before_any_other() -> None:
    events = [Used(1.0, 500, 1, "m", "", window=100)]
    assert readable.of_events(agents.get("scripted"), "id", events, {}, window=777_000).window == 777_000
    assert readable.of_events(agents.get("scripted"), "id", events, {}).window == 100
