from collections.abc import Iterable
from pathlib import Path

import msgspec

from batonpass.transcripts.events import Event, Said, Used
from batonpass.transcripts.whole import all_events, end, last


def parse(line: bytes) -> Iterable[Event]:
    try:
        value = msgspec.json.decode(line, type=dict[str, int])
    except msgspec.DecodeError:
        return []
    if "used" in value:
        return [Used(0.0, value["used"], 1, "m", "id"), Said(0.0, "x", "id")]
    return []


def test_the_last_event_of_a_type_is_found_from_the_end(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"used":1}\n{"used":2}\n{"other":3}\n')
    found = last(path, parse, Used)
    assert found is not None
    assert found.used == 2


def test_the_last_event_is_found_behind_more_than_one_block_of_other_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"used":7}\n' + b'{"other":3}\n' * 20_000)
    found = last(path, parse, Used)
    assert found is not None
    assert found.used == 7


def test_a_line_longer_than_a_block_is_put_together(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"used":7,' + b" " * 200_000 + b'"y":1}\n{"other":3}\n')
    found = last(path, parse, Used)
    assert found is not None
    assert found.used == 7


def test_a_torn_last_line_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"used":1}\n{"used":2}')
    found = last(path, parse, Used)
    assert found is not None
    assert found.used == 1


def test_looking_back_reads_only_the_end_of_a_long_file(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"other":3}\n' * 50_000 + b'{"used":7}\n')
    seen: list[bytes] = []

    def counting(line: bytes) -> Iterable[Event]:
        seen.append(line)
        return parse(line)

    last(path, counting, Used)
    assert seen == [b'{"used":7}']


def test_a_missing_or_empty_file_has_no_last_event_and_no_events(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    assert last(path, parse, Used) is None
    assert list(all_events(path, parse)) == []
    assert end(path) is None
    path.touch()
    assert last(path, parse, Used) is None


def test_all_events_are_given_in_order_also_those_of_an_unfinished_line(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"used":1}\ngarbage\n{"used":2}')
    assert [event.used for event in all_events(path, parse) if isinstance(event, Used)] == [1, 2]
