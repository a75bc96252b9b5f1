"""A test that cannot be run here is skipped, and where nothing may be left out it fails."""

import pytest

from tests.wanted import WHOLE, missing

WHY = "NOT TESTED ON POSTGRESQL: it is not installed."


@pytest.mark.parametrize("value", [None, "0"])
def test_what_a_machine_does_not_have_is_skipped(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv(WHOLE, raising=False)
    if value is not None:
        monkeypatch.setenv(WHOLE, value)
    with pytest.raises(pytest.skip.Exception, match="NOT TESTED ON POSTGRESQL"):
        missing(WHY)


def test_a_run_that_is_to_be_whole_fails_and_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WHOLE, "1")
    with pytest.raises(pytest.fail.Exception, match=f"{WHOLE} is set.*{WHY}"):
        missing(WHY)
