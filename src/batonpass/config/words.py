"""Pydantic's faults in the words of a person."""

from typing import get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from batonpass.config.problems import KeyPath, nearest

_KINDS = {
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a number",
    "string_type": "must be text",
    "path_type": "must be the path of a file",
    "tuple_type": "must be a list",
    "model_type": "must have keys of its own",
    "dict_type": "must have keys of its own",
}
_LIMITS = {
    "greater_than_equal": ("must be at least", "ge"),
    "less_than_equal": ("must be at most", "le"),
    "greater_than": ("must be more than", "gt"),
}


def words(error: ErrorDetails, model: type[BaseModel]) -> tuple[str, str | None]:
    """What is wrong, and what was probably meant instead."""
    kind, context, given = error["type"], error.get("ctx", {}), error["input"]
    if kind == "extra_forbidden":
        siblings = _names(_model_at(model, error["loc"][:-1]))
        return "unknown key", nearest(str(error["loc"][-1]), siblings)
    if kind in ("literal_error", "enum"):
        choices = context["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        return f"must be one of {', '.join(choices)}, not '{given}'", nearest(str(given), choices)
    if kind == "value_error":
        return str(context["error"]), None
    if kind == "missing":
        return "this key is missing", None
    if kind in _LIMITS:
        said, limit = _LIMITS[kind]
        return f"{said} {context[limit]:g}, not {given}", None
    if kind in _KINDS:
        return f"{_KINDS[kind]}, not {_given(given)}", None
    return error["msg"], None


def _given(value: object) -> str:
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    return "a list" if isinstance(value, list) else "a group of keys" if isinstance(value, dict) else repr(value)


def _model_at(model: type[BaseModel], path: KeyPath) -> type[BaseModel]:
    """The model whose keys stand at `path`; indexes and free names lead no deeper."""
    for part in path:
        for name, field in model.model_fields.items():
            if part == (field.alias or name):
                model = _model_in(field.annotation) or model
                break
    return model


def _model_in(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model_in(part))), None)


def _names(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]
