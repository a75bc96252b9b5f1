"""Personal data by its form: addresses, telephone numbers, bank accounts and cards that check out."""

import re
from collections.abc import Callable, Iterator

_EMAIL = re.compile(
    r"(?<![\w.+/:@-])(?!git@|noreply@|no-reply@|root@|postgres@)([A-Za-z0-9][\w.+-]{0,63}@"
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,5}([A-Za-z]{2,24}))(?![\w@-]|\.\w|:[\w/~])"
)
# Made for examples, or no address at all: units of systemd, files, hosts of a local network.
_NO_ADDRESS = re.compile(
    r"(?i)@(?:[\w-]+\.)*example(?:\.\w+)?$|\.(?:example|invalid|test|localhost|local|internal|service"
    r"|socket|timer|target"
    r"|py|js|ts|tsx|md|json|yml|yaml|toml|txt|go|rs|sh)$|@users\.noreply\."
)
_PHONE = re.compile(
    r"(?<![\w.+/-])(\+[1-9]\d{0,2}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]\d{2,4}){1,5})(?![\w-])"
    r"|(?<![\w.+/-])((?:\(\d{3}\) ?|\d{3}-)\d{3}-\d{4})(?![\w-])"
)
_IBAN = re.compile(r"(?<![\w-])([A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)(?![\w-])")
_IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "BA": 20, "BE": 16, "BG": 22, "CH": 21, "CY": 28, "CZ": 24, "DE": 22,
    "DK": 18, "EE": 20, "ES": 24, "FI": 18, "FR": 27, "GB": 22, "GR": 27, "HR": 21, "HU": 28, "IE": 22, "IS": 26,
    "IT": 27, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "MC": 27, "MT": 31, "NL": 18, "NO": 15, "PL": 28, "PT": 25,
    "RO": 24, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "TR": 26,
}  # fmt: skip
_CARD = re.compile(
    r"(?<![\w.+-])((?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6011|65\d\d)(?:[ -]?\d{4}){3}"
    r"|3[47]\d\d[ -]?\d{6}[ -]?\d{5})(?![\w-]|\.\d)"
)


def found_in(text: str) -> Iterator[tuple[str, str]]:
    """Kind and text of everything that is somebody's."""
    for name, sign, pattern, holds in _KINDS:
        if sign is None or sign in text:
            for match in pattern.finditer(text):
                whole = next(group for group in match.groups() if group)
                if holds(whole):
                    yield name, whole


def _is_address(text: str) -> bool:
    return not _NO_ADDRESS.search(text)


def _is_phone(text: str) -> bool:
    return 8 <= sum(sign.isdigit() for sign in text) <= 15


def _is_iban(text: str) -> bool:
    bare = text.replace(" ", "")
    if _IBAN_LENGTHS.get(bare[:2]) != len(bare):
        return False
    return int("".join(str(int(sign, 36)) for sign in bare[4:] + bare[:4])) % 97 == 1


def _is_card(text: str) -> bool:
    """Luhn's rule."""
    digits = [int(sign) for sign in reversed(text) if sign.isdigit()]
    doubled = [digit if n % 2 == 0 else digit * 2 - 9 * (digit > 4) for n, digit in enumerate(digits)]
    return sum(doubled) % 10 == 0


_KINDS: tuple[tuple[str, str | None, re.Pattern[str], Callable[[str], bool]], ...] = (
    ("email", "@", _EMAIL, _is_address),
    ("iban", None, _IBAN, _is_iban),
    ("card", None, _CARD, _is_card),
    ("phone", "-", _PHONE, _is_phone),
    ("phone", "+", _PHONE, _is_phone),
)
