"""What a test needs and this machine may not have."""

import os
from typing import NoReturn

import pytest

WHOLE = "BATON_TESTS_WHOLE"


def missing(what: str) -> NoReturn:
    """Skip the test that cannot be run here; with BATON_TESTS_WHOLE=1 it fails, for then nothing is to be left out."""
    if os.environ.get(WHOLE) == "1":
        pytest.fail(f"{WHOLE} is set, so no test may be left out. {what}", pytrace=False)
    pytest.skip(what)
