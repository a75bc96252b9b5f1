"""Reports that hooks left while the daemon was away: replayed in order, each once."""

import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from batonpass.home import spool_path
from batonpass.store import Store
from batonpass.untrusted import decode

log = logging.getLogger(__name__)

_KEY = "spool"


class Spool:
    """The file that hooks append to, and how far it has been read."""

    def __init__(self, home: Path, store: Store) -> None:
        self._path = Path(spool_path(str(home)))
        self._store = store

    async def replay(self, take: Callable[[Mapping[str, Any]], Awaitable[object]]) -> int:
        """Hand every spooled report on; how many there were. A torn or foreign line is skipped and logged."""
        taken = self._path.with_suffix(".replaying")
        if not taken.exists():
            if not self._path.exists():
                return 0
            os.rename(self._path, taken)
            self._store.put(_KEY, 0)
        done = self._store.get(_KEY)
        offset = done if isinstance(done, int) else 0
        count = 0
        with taken.open("rb") as file:
            file.seek(offset)
            for line in file:
                offset += len(line)
                if not line.strip():
                    continue
                self._store.put(_KEY, offset)  # before it is handed on: a report is replayed once at most
                try:
                    report = decode(line)
                    if not isinstance(report, dict):
                        raise ValueError("a report is an object")
                    await take(report)
                    count += 1
                except Exception as error:  # one bad report must not keep the daemon from starting
                    log.warning("a spooled report could not be used (%s) and was skipped: %.120r", error, line)
        taken.unlink()
        return count
