"""A private PostgreSQL server: for tests, and for trying Baton on many hosts without setting one up."""

import os
import pwd
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SECONDS = 60
_PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin")
# Nobody else can reach it, and it does not have to survive a power cut.
_OPTIONS = "-c listen_addresses='' -c fsync=off -c max_connections=50 -c shared_buffers=16MB"


class NotAvailable(Exception):
    """No PostgreSQL server can be started here; the text says why and what to do."""


class Server:
    """A server in a folder of its own. It can be stopped for a while, and finds its data again."""

    def __init__(self, programs: Path, folder: Path, account: pwd.struct_passwd | None) -> None:
        self._folder, self._account = folder, account
        self._data = folder / "data"
        self._control = [str(programs / "pg_ctl"), "-D", str(self._data), "-w", "-t", str(_SECONDS)]
        self.url = f"postgresql://postgres@/postgres?host={folder}"
        initdb = ["-D", str(self._data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        _run([str(programs / "initdb"), *initdb], folder, account)

    def start(self) -> None:
        """Return when it takes connections."""
        options = f"{_OPTIONS} -k {self._folder}"
        _run([*self._control, "-l", str(self._folder / "log"), "-o", options, "start"], self._folder, self._account)

    def stop(self) -> None:
        """Cut off everyone at once, as a crash would; what was committed is kept."""
        if (self._data / "postmaster.pid").exists():
            _run([*self._control, "-m", "immediate", "stop"], self._folder, self._account)


@contextmanager
def postgres_server() -> Iterator[Server]:
    """A running server of our own, reached through a socket in a private folder; gone afterwards.

    Raises NotAvailable where its programs are missing or refuse to start.
    """
    programs = _programs()
    account = _account()
    # Not the configured temporary directory: a socket's path must be short, and the account must get there.
    folder = Path(tempfile.mkdtemp(prefix="baton-pg-", dir="/tmp"))
    try:
        if account is not None:
            os.chown(folder, account.pw_uid, account.pw_gid)
        server = Server(programs, folder, account)
        try:
            server.start()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def private_postgres() -> Iterator[str]:
    """The URL of such a server, for those who need no more of it."""
    with postgres_server() as server:
        yield server.url


def _programs() -> Path:
    """The folder of the newest server's programs."""
    folders = [folder for place in _PLACES for folder in Path("/").glob(place[1:])]
    if on_path := shutil.which("initdb"):
        folders.append(Path(on_path).resolve().parent)
    found = [folder for folder in folders if (folder / "initdb").exists() and (folder / "pg_ctl").exists()]
    if not found:
        raise NotAvailable("PostgreSQL's server is not installed: try `apt-get install postgresql`.")
    return max(found, key=_version)


def _version(folder: Path) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", str(folder))]


def _account() -> pwd.struct_passwd | None:
    """Whom to run it as: PostgreSQL refuses to serve as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise NotAvailable("PostgreSQL does not run as root, and there is no account postgres or nobody to run it as.")


def _run(argv: list[str], folder: Path, account: pwd.struct_passwd | None) -> None:
    env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder), "LC_ALL": "C"}
    # To a file and not a pipe: the server inherits it, and would hold a pipe open for as long as it lives.
    with (folder / "said").open("w+", encoding="utf-8", errors="replace") as said:
        done = subprocess.run(
            argv,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            timeout=2 * _SECONDS,
            check=False,
            user=account.pw_uid if account else None,
            group=account.pw_gid if account else None,
            extra_groups=[] if account else None,
        )
        said.seek(0)
        if done.returncode:
            raise NotAvailable(f"{Path(argv[0]).name} failed: {said.read().strip()[-500:]}")
