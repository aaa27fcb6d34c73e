"""From Python types to JSON Schema, and from JSON back to their values.

    schema_of(Invoice)                     # {"type": "object", "properties": …}
    value_of({"total": 3}, Invoice)        # Invoice(total=3)

Known: dict (a JSON Schema as it is), dataclass, TypedDict, pydantic model, enum, Literal, Optional, Union,
list, tuple, set, dict, and JSON's own types.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
import typing
from typing import Any

from ._errors import SchemaError, UsageError

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def schema_of(kind: Any) -> dict[str, Any]:
    """Raises UsageError for a type that JSON Schema has no words for."""
    if isinstance(kind, dict):
        return kind
    return _Writer().schema(kind)


def value_of(value: Any, kind: Any) -> Any:
    """`value`, which is JSON, as one of `kind`. Raises SchemaError naming the place."""
    return value if isinstance(kind, dict) else _convert(value, kind, "value")


class _Writer:
    def __init__(self) -> None:
        self._open: list[Any] = []

    def schema(self, kind: Any) -> dict[str, Any]:
        if kind is Any or kind is typing.Any or kind is object:
            return {}
        if kind in _PLAIN:
            return {"type": _PLAIN[kind]}
        if kind is None:
            return {"type": "null"}
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin is typing.Literal:
            return {"enum": list(arguments)}
        if _is_union(origin):
            return {"anyOf": [self.schema(one) for one in arguments]}
        if origin is not None and getattr(typing, "Annotated", None) is not None and hasattr(kind, "__metadata__"):
            return self.schema(arguments[0])
        if kind in (list, tuple, set, frozenset) or origin in (list, tuple, set, frozenset):
            return self._array(origin or kind, arguments)
        if kind is dict or origin is dict:
            of = self.schema(arguments[1]) if len(arguments) == 2 else {}
            return {"type": "object", **({"additionalProperties": of} if of else {})}
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return {"enum": [member.value for member in kind]}
        if hasattr(kind, "model_json_schema"):
            return kind.model_json_schema()
        return self._object(kind)

    def _array(self, origin: Any, arguments: tuple[Any, ...]) -> dict[str, Any]:
        if origin is tuple and arguments and arguments[-1] is not Ellipsis:
            return {"type": "array", "prefixItems": [self.schema(one) for one in arguments],
                    "minItems": len(arguments), "maxItems": len(arguments)}
        return {"type": "array", **({"items": self.schema(arguments[0])} if arguments else {})}

    def _object(self, kind: Any) -> dict[str, Any]:
        fields = _fields(kind)
        if fields is None:
            raise UsageError(f"schema: {kind!r} is no JSON Schema, dataclass, TypedDict or pydantic model",
                             code="usage")
        if kind in self._open:
            raise UsageError(f"schema: {kind.__name__} holds itself: give a JSON Schema with $ref", code="usage")
        self._open.append(kind)
        schema: dict[str, Any] = {
            "type": "object", "properties": {name: self.schema(of) for name, (of, _) in fields.items()},
            "required": [name for name, (_, needed) in fields.items() if needed], "additionalProperties": False}
        self._open.pop()
        return schema


def _fields(kind: Any) -> dict[str, tuple[Any, bool]] | None:
    """Name to type, and whether it must be there; None for a type without fields."""
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return {one.name: (hints[one.name], one.default is dataclasses.MISSING
                           and one.default_factory is dataclasses.MISSING)
                for one in dataclasses.fields(kind) if one.init}
    if isinstance(kind, type) and issubclass(kind, dict) and hasattr(kind, "__required_keys__"):
        needed = kind.__required_keys__
        return {name: (of, name in needed) for name, of in typing.get_type_hints(kind).items()}
    return None


def _is_union(origin: Any) -> bool:
    return origin is typing.Union or (sys.version_info >= (3, 10) and origin is __import__("types").UnionType)


def _wrong(value: Any, kind: Any, place: str) -> SchemaError:
    shown = repr(value)
    return SchemaError(f"{place}: {shown[:80]} is no {getattr(kind, '__name__', kind)}", code="schema")


def _convert(value: Any, kind: Any, place: str) -> Any:
    if kind is Any or kind is object:
        return value
    if kind is None or kind is type(None):
        if value is None:
            return None
        raise _wrong(value, "null", place)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind in _PLAIN:
        if type(value) is kind or (kind is not int and isinstance(value, kind)):
            return value
        raise _wrong(value, kind, place)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        if value in arguments:
            return value
        raise _wrong(value, kind, place)
    if _is_union(origin):
        for one in arguments:
            try:
                return _convert(value, one, place)
            except SchemaError:
                continue
        raise _wrong(value, kind, place)
    if hasattr(kind, "__metadata__") and arguments:
        return _convert(value, arguments[0], place)
    return _convert_whole(value, kind, origin, arguments, place)


def _convert_whole(value: Any, kind: Any, origin: Any, arguments: tuple[Any, ...], place: str) -> Any:
    container = origin or kind
    if container in (list, tuple, set, frozenset):
        if not isinstance(value, list):
            raise _wrong(value, kind, place)
        kinds = list(arguments) if container is tuple and arguments and arguments[-1] is not Ellipsis else \
            [arguments[0] if arguments else Any] * len(value)
        if len(kinds) != len(value):
            raise _wrong(value, kind, place)
        return container(_convert(one, of, f"{place}[{at}]") for at, (one, of) in enumerate(zip(value, kinds)))
    if container is dict:
        if not isinstance(value, dict):
            raise _wrong(value, kind, place)
        of = arguments[1] if len(arguments) == 2 else Any
        return {name: _convert(one, of, f"{place}.{name}") for name, one in value.items()}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        try:
            return kind(value)
        except ValueError:
            raise _wrong(value, kind, place) from None
    if hasattr(kind, "model_validate"):
        try:
            return kind.model_validate(value)
        except ValueError as error:
            raise SchemaError(f"{place}: {error}", code="schema") from error
    fields = _fields(kind)
    if fields is None or not isinstance(value, dict):
        raise _wrong(value, kind, place)
    found = {name: _convert(value[name], of, f"{place}.{name}") for name, (of, _) in fields.items() if name in value}
    if missing := [name for name, (_, needed) in fields.items() if needed and name not in value]:
        raise SchemaError(f"{place}: {missing[0]} is missing", code="schema")
    return kind(**found) if dataclasses.is_dataclass(kind) else found
