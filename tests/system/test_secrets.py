"""Secrets that tools print and people type are in no file that Baton writes, whatever happens meanwhile."""

import gzip
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from tests.handoff.test_redact import AROUND, LETTERS, SECRETS
from tests.system.house import House, Session

# Values of their own where the usual ones are too short to be told from other text.
PLANTED = {
    **SECRETS,
    "url-password": "pw-of-url-83kd7x",
    "private-key": "MIIEpAIBAAKCAQEA7bq9" + LETTERS[:40],
    "named-secret": "correct-horse-71-battery",
    "email": "ada.lovelace@analytical-engine.co.uk",
    "card": "4111 1111 1111 1111",
    "iban": "DE89 3704 0044 0532 0130 00",
}
FRAMES = {
    **AROUND,
    "private-key": "-----BEGIN RSA PRIVATE KEY-----\n{}\nabcd+/==\n-----END RSA PRIVATE KEY-----",
    "named-secret": "DB_PASSWORD={}",
}
IN_DOTENV = "mauve-elephant-of-the-env-file"
TYPED = f"sk-ant-api03-{LETTERS[::-1][:40]}"
SHOP = "https://shop.invalid/orders"


def _leaks(project: Path) -> None:
    lines = [FRAMES.get(kind, "value {} end").format(secret) for kind, secret in PLANTED.items()]
    half = len(lines) // 2
    (project / "leak1.log").write_text("\n".join([*lines[:half], f"open {SHOP}"]), encoding="utf-8")
    (project / "leak2.log").write_text("\n".join(lines[half:]), encoding="utf-8")
    (project / ".env").write_text(f"COLOUR={IN_DOTENV}\n", encoding="utf-8")


def _texts(path: Path) -> Iterator[bytes]:
    """What a file holds, as it is and as its readers get it."""
    data = path.read_bytes()
    yield data
    if path.suffix == ".gz":
        yield gzip.decompress(data)
    if path.suffix == ".db":
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
            yield "\n".join(database.iterdump()).encode()


def _found(house: House, project: Path, secrets: dict[str, str]) -> list[str]:
    """Where a secret stands, in everything that Baton keeps; the agent's own record is the agent's."""
    own = [path for path in house.home.rglob("*") if house.home / "scripted" not in path.parents]
    written = [path for path in project.rglob("*") if ".git" not in path.parts and path.suffix != ".log"]
    files = [path for path in (*own, *written, house.folder / "told.txt", house.folder / "daemon.out")
             if path.is_file() and path.name != ".env"]  # fmt: skip
    assert any(path.name == "baton.db" for path in files)
    return [
        f"{kind} in {path.relative_to(house.folder)}"
        for path in files
        for text in _texts(path)
        for kind, secret in secrets.items()
        if secret.encode() in text or json.dumps(secret)[1:-1].encode() in text
    ]


def _talk(house: House, session: Session) -> None:
    """Two turns: tools print what they should not, a person types it, and the daemon is away for one of them."""
    session.say(f"never print {TYPED} anywhere")
    session.until_shown("Done so far: 1")
    session.until_state("idle")
    house.kill_daemon(stay_away=True)
    session.say(f"now the second one, not with {TYPED}")
    session.until_shown("Done so far: 2")
    spool = house.home / "spool"
    house.wait("the hooks have reported to the spool", lambda: any(file.stat().st_size for file in spool.iterdir()))


def test_no_secret_of_a_tools_output_or_of_a_person_is_in_any_file_of_baton(house: House) -> None:
    told = house.folder / "told.txt"
    house.configure(f"notify:\n  command: [sh, -c, 'echo \"$@\" >> {told}', x]\nlayout: sandbox\n")
    project = house.project("leaky")
    _leaks(project)
    secrets = {**PLANTED, "typed": TYPED, "the .env file": IN_DOTENV}
    house.start()
    session = house.run("leaky", project=project, brain={"jumps": {}, "command": "cat leak{n}.log"})
    other = house.run("dotenv", project=project, brain={"jumps": {}, "command": "cat .env"})
    other.say("look at the settings")
    other.until_shown("Done so far: 1")
    _talk(house, session)
    assert _found(house, project, secrets) == [], "while the daemon is away"
    house.start()
    session.until_state("idle")
    for each in (session, other):
        house.call("handoff", session=each.id, why=f"the token is {TYPED}")
    assert [each.cycle()["state"] for each in (session, other)] == ["done", "done"]
    house.wait("a person was told", told.exists)
    assert _found(house, project, secrets) == []
    # It was there to be kept: what is no secret in the same output has arrived.
    record = b"".join(gzip.decompress(file.read_bytes()) for file in (project / "tmp").rglob("*.json.gz"))
    assert b"[REDACTED:" in record
    assert b"now the second one" in record
    assert SHOP.encode() in record
