"""Configuration: five sources, one result, and for each value the place where it was set."""

from batonpass.config.effective import Config, Row, explain, json_schema
from batonpass.config.load import HANDOFF_FILE, HOME_FILE, PROJECT_FILE, load, load_lenient
from batonpass.config.problems import ConfigError, Problem

__all__ = [
    "HANDOFF_FILE",
    "HOME_FILE",
    "PROJECT_FILE",
    "Config",
    "ConfigError",
    "Problem",
    "Row",
    "explain",
    "json_schema",
    "load",
    "load_lenient",
]
