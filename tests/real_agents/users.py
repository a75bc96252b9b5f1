"""The user's own files, as Claude Code and the tests find them."""

import hashlib
import json
from pathlib import Path


def user_settings(claude_home: dict[str, str], **hooks: object) -> Path:
    """Write the user's own settings, with hooks by event."""
    path = Path(claude_home["CLAUDE_CONFIG_DIR"]) / "settings.json"
    path.write_text(json.dumps({"hooks": hooks}), encoding="utf-8")
    return path


def prints(*paths: Path) -> dict[str, str]:
    """What stands in these files, and in all files below these folders, as checksums by name."""
    files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file()]
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
