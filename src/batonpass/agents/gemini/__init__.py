"""Gemini CLI, as Baton drives it."""
