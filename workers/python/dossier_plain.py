"""Sessions of another program's interpreter: no name is ours, and code runs as it stands.

A program that brings its own prompts (a dspy or rlms one) names its inputs as it likes: `context`,
`answer`, `history`. So nothing is reserved, put back, refused or rewritten. What the program offers
comes in by builtins that its adapter calls in a block of its own:

    price = _dossier_tool("price", ["item"])      # a call of it is a call to the program
    SUBMIT = _dossier_submit(["total", "names"])  # None: one value, under "output"
    report = _dossier_fetch("report")             # text of any size; "json": parsed
    report = _dossier_mail(0, 5_000_000)          # the same out of shared memory
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

import _dossier

from dossier_answers import Answers, is_json
from dossier_bridge import LLMError, blob, call, raised

_loads = json.loads
_dumps = json.dumps
_PART_BYTES = 64 << 20  # of a text, in one message


def names(answers: Answers) -> dict[str, Any]:
    """The builtins of a plain session."""

    def submit(fields: list[str] | None) -> Callable[..., None]:
        def SUBMIT(*values: Any, **named: Any) -> None:  # noqa: N802
            """Hands in the output and ends the block."""
            answers.offer("submit", _submitted(fields, values, named))
        return SUBMIT

    return {"_dossier_tool": tool, "_dossier_fetch": fetch, "_dossier_mail": mail,
            "_dossier_submit": submit}


def giver(namespace: Mapping[str, Any]) -> dict[str, Any]:
    """The builtin by which a program reads a name of its session."""
    def give(name: str) -> None:
        if name not in namespace:
            raise NameError(f"name {name!r} is not defined")
        value = namespace[name]
        kind = {"type": type(value).__name__, "is_json": is_json(value) and _is_utf8(value)}
        if isinstance(value, str):
            call("give", kind | {"value": None}, str.__str__(value).encode("utf-8", "backslashreplace"))
        else:
            call("give", kind | {"value": _plain_value(value)})

    return {"_dossier_give": give}


def tool(name: str, parameters: list[str]) -> Callable[..., Any]:
    """A function of the program. Positional values get the names of its parameters."""
    def run(*values: Any, **named: Any) -> Any:
        known = dict(zip(parameters, values))
        if twice := known.keys() & named.keys():
            raise TypeError(f"{name}() got multiple values for argument {min(twice)!r}")
        args = {"name": name, "args": known | named, "rest": list(values[len(parameters):])}
        if not is_json(args):
            raise TypeError(f"{name}() takes JSON values only: text, numbers, lists, dicts, None")
        try:
            value, raw = call("tool", args)
        except LLMError as error:  # what the program's function raised
            raise raised(str(error)) from None
        return value["value"] if "value" in value else blob(value, raw)

    run.__name__ = run.__qualname__ = name
    return run


def fetch(name: str, form: str = "text") -> Any:
    """A value that the program gave for the block that follows."""
    parts: list[bytes] = []
    at, size = 0, 1
    while at < size:
        value, raw = call("variable", {"name": name, "at": at, "len": _PART_BYTES})
        parts.append(raw)
        at, size = at + len(raw), value["size"]
    text = b"".join(parts).decode("utf-8", "surrogatepass")
    return _loads(text) if form == "json" else text


def mail(at: int, length: int, form: str = "text") -> Any:
    """The same, of a value that lies in memory which the program shares with this session."""
    text = str(_dossier.context_view(0)[at:at + length], "utf-8", "surrogatepass")
    return _loads(text) if form == "json" else text


def _submitted(fields: list[str] | None, values: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    if fields is None:
        if len(values) != 1 or named:
            raise TypeError("SUBMIT requires one output value")
        return {"output": _plain_value(values[0])}
    if values and named:
        raise TypeError("SUBMIT accepts positional or keyword values, not both")
    found = dict(zip(fields, values)) if values else named
    if found.keys() != set(fields) or len(values) > len(fields):
        raise TypeError(f"SUBMIT takes these output fields: {', '.join(fields)}")
    return {name: _plain_value(value) for name, value in found.items()}


def _is_utf8(value: Any) -> bool:
    """Whether no text in it has a lone surrogate, which the bridge would write as an escape."""
    try:
        return bool(_dumps(value, ensure_ascii=False).encode("utf-8"))
    except UnicodeEncodeError:
        return False


def _plain_value(value: Any) -> Any:
    """As JSON takes it; else how it shows itself."""
    return value if is_json(value) else repr(value)
