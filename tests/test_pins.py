"""The pins of requirements/: what they leave open, somebody else's next release would break."""

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

PINS = Path(__file__).parents[1] / "requirements"
_PINNED = re.compile(r"^([A-Za-z0-9_.-]+)(?:\[([^]]*)\])?==\S+", re.MULTILINE)
_WITH_EXTRA = re.compile(r"^([A-Za-z0-9_.-]+)\[([^]]+)\]")


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def wants(name: str) -> list[str]:
    """What a pinned package asks for; one that another platform needs is not here to be asked."""
    try:
        return distribution(name).requires or []
    except PackageNotFoundError:
        return []


@pytest.mark.parametrize("file", ["base.txt", "dev.txt"])
def test_a_package_that_is_wanted_with_an_extra_is_pinned_with_it(file: str) -> None:
    """Else pip looks at the newest release for the extra, and refuses it for want of a hash."""
    found = _PINNED.findall((PINS / file).read_text(encoding="utf-8"))
    pinned = {plain(name): set(extras.split(",")) for name, extras in found}
    wanted = [
        (name, plain(match[1]), set(match[2].split(",")))
        for name in pinned
        for requirement in wants(name)
        if (match := _WITH_EXTRA.match(requirement)) and "extra ==" not in requirement
    ]

    assert wanted, "none of the pinned packages wants an extra: then this test has lost its sense"
    open_ones = [(name, of, extras) for name, of, extras in wanted if not extras <= pinned.get(of, set())]
    assert open_ones == []
