"""Waiting for processes to end."""

import os
import select


def gone(pid: int, seconds: float = 20.0) -> bool:
    """Whether a process has ended, or does so within that time."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)
