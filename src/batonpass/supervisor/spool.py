"""Reports that hooks left while the daemon was away: replayed in order, each once."""

import json
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from batonpass.handoff import redacted
from batonpass.home import spool_path
from batonpass.store import Store
from batonpass.untrusted import decode

log = logging.getLogger(__name__)


class Spool:
    """The file that hooks append to, and how far it has been read."""

    def __init__(self, home: Path, store: Store, host: str = "") -> None:
        self._path = Path(spool_path(str(home)))
        self._store = store
        self._key = f"spool {host}"  # a store may be shared, a spool is not

    def keep(self, report: Mapping[str, Any]) -> None:
        """Lay a report by that cannot be used now, to be replayed with the others."""
        kept = redacted.value(dict(report))
        with open(self._path, "ab", opener=_owner_only) as file:
            file.write(json.dumps(kept).encode("utf-8") + b"\n")

    async def replay(self, take: Callable[[Mapping[str, Any]], Awaitable[object]]) -> int:
        """Hand every spooled report on; how many there were. A torn or foreign line is skipped and logged."""
        taken = self._path.with_suffix(".replaying")
        cut_off = taken.exists()
        if not cut_off:
            if not self._path.exists():
                return 0
            self._store.put(self._key, 0)  # before the rename: the place in an earlier file means nothing in this one
            os.rename(self._path, taken)
        done = self._store.get(self._key)
        offset = done if isinstance(done, int) else 0
        count = 0
        with taken.open("rb") as file:
            file.seek(offset)
            for line in file:
                offset += len(line)
                if not line.strip():
                    continue
                self._store.put(self._key, offset)  # before it is handed on: a report is replayed once at most
                try:
                    report = decode(line)
                    if not isinstance(report, dict):
                        raise ValueError("a report is an object")
                    await take(report)
                    count += 1
                except Exception as error:  # one bad report must not keep the daemon from starting
                    log.warning("a spooled report could not be used (%s) and was skipped: %.120r", error, line)
        taken.unlink()
        # What came after a crash cut an earlier replay off lies in a file of its own.
        return count + await self.replay(take) if cut_off else count


def _owner_only(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
