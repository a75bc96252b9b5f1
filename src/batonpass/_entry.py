"""The console script. What agents call on every message runs here with the standard library only."""

import os
import sys

_FAST = ("hook", "statusline", "become")


def main() -> int:
    """Run `baton ARGS`; the heavy imports happen only for the commands that people type."""
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    if command in _FAST:
        from batonpass import _hook

        return _hook.main(command, sys.argv[2:])
    from batonpass.cli.app import main as commands

    return commands()


if __name__ == "__main__":
    # Hooks start this file directly (`python -I -S`), which saves the time that `site` takes.
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.exit(main())
