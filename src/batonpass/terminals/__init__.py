"""Where interactive sessions are shown."""
