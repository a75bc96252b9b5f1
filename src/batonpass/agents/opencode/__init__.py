"""opencode, as Baton drives it."""
