"""Checkpoints: the machine-readable snapshot beside a handoff."""

from batonpass.checkpoint.file import CheckpointError, read, verify, write

__all__ = ["CheckpointError", "read", "verify", "write"]
