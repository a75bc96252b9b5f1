"""Baton keeps AI coding agents working across context windows, and proves its handoffs."""

__version__ = "0.1.0"
