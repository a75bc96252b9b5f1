"""What the real program wrote, version by version; see the README beside the files."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "fixtures" / "claude-code"
VERSIONS = ("2.1.197", "2.1.325")


def transcript(version: str, name: str) -> Path:
    (path,) = (FOLDER / version / "transcripts").glob(f"{name}*.jsonl")
    return path


def read(version: str, kind: str, name: str) -> dict[str, Any]:
    content = json.loads((FOLDER / version / kind / f"{name}.json").read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content
