"""Functions of the caller that code in the sandbox calls, sync or async.

    offers, functions = offer({"price": price})
    # offers: [{"name": "price", "description": "…", "parameters": ["item"], "schema": {…}}]

Arguments are checked by the signature and its types before the function sees them; what it raises is raised
in the code. An async function runs on `loop`, if one is given, else on one of its own.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import keyword
import typing
from typing import Any, Callable, Mapping

from ._errors import SchemaError, UsageError
from ._schema import schema_of, value_of

Tools = Mapping[str, Callable[..., Any]]


def offer(tools: Tools | None, loop: Any = None) -> tuple[list[dict[str, Any]], dict[str, Callable[[Mapping[str, Any], list], Any]]]:
    """What the child is told, and what answers its calls. Raises UsageError naming every wrong name."""
    tools = tools or {}
    wrong = [name for name in tools if not isinstance(name, str) or not name.isidentifier()
             or keyword.iskeyword(name) or not name.isascii() or not callable(tools[name])]
    if wrong:
        raise UsageError(f"tools: a tool has a name that Python can call, and is callable: {', '.join(map(repr, wrong))}",
                         code="usage")
    context = contextvars.copy_context()
    return ([{"name": name, "description": inspect.getdoc(function) or "", "parameters": parameters_of(function),
              "schema": schema_of_call(function)}
             for name, function in tools.items()],
            {name: _Served(name, function, loop, context) for name, function in tools.items()})


def parameters_of(function: Callable[..., Any]) -> list[str]:
    """The names that positional values get; none where a function takes some by their place alone."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    if any(one.kind in (one.POSITIONAL_ONLY, one.VAR_POSITIONAL) for one in parameters):
        return []
    return [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]


def schema_of_call(function: Callable[..., Any]) -> dict[str, Any]:
    """JSON Schema of a function's arguments, from its signature; what has no type may be anything."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {"type": "object"}
    try:
        types = typing.get_type_hints(function)
    except Exception:  # annotations that name what is not there
        types = {}
    properties: dict[str, Any] = {}
    for name, one in parameters.items():
        if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
            try:
                properties[name] = schema_of(types[name]) if name in types else {}
            except UsageError:
                properties[name] = {}
    kinds = [one.kind for one in parameters.values()]
    return {"type": "object", "properties": properties,
            "required": [name for name in properties if parameters[name].default is inspect.Parameter.empty],
            "additionalProperties": inspect.Parameter.VAR_KEYWORD in kinds}


class _Served:
    def __init__(self, name: str, function: Callable[..., Any], loop: Any, context: contextvars.Context) -> None:
        self._name, self._function, self._loop, self._context = name, function, loop, context
        try:
            self._signature: inspect.Signature | None = inspect.signature(function)
        except (TypeError, ValueError):
            self._signature = None
        try:
            self._types = typing.get_type_hints(function)
        except Exception:  # annotations that name what is not there
            self._types = {}

    def __call__(self, named: Mapping[str, Any], rest: list) -> Any:
        # A copy for each call: a context is entered once at a time.
        return plain(self._context.copy().run(self._run, named, rest))

    def _run(self, named: Mapping[str, Any], rest: list) -> Any:
        values = {name: self._typed(name, value) for name, value in named.items()}
        if self._signature is not None:
            self._signature.bind(*rest, **values)
        result = self._function(*rest, **values)
        return self._awaited(result) if inspect.isawaitable(result) else result

    def _typed(self, name: str, value: Any) -> Any:
        kind = self._types.get(name)
        if kind is None:
            return value
        try:
            return value_of(value, kind)
        except SchemaError as error:
            raise TypeError(f"{self._name}: {name}{str(error)[len('value'):]}") from None
        except (UsageError, TypeError):
            return value

    def _awaited(self, awaitable: Any) -> Any:
        async def whole() -> Any:
            return await awaitable

        if self._loop is not None and self._loop.is_running():
            return asyncio.run_coroutine_threadsafe(whole(), self._loop).result()
        return asyncio.run(whole())


def plain(value: Any) -> Any:
    """As JSON takes it: a pydantic model or a dataclass as its fields."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(one) for one in value]
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(mode="json"))
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    raise TypeError(f"a tool gives JSON values, and this is a {type(value).__name__}")

