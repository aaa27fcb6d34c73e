"""Calls to the host.

Every request of code goes through `call` (model requests: a failure is an LLMError) or `ask` (data:
a wrong argument is a ValueError, as if the work were done here). Texts travel as parts: a string
lies in the raw bytes, a slice of a context is named by its offsets and is never copied.

    parts = Parts()
    wire = parts.add(["Summarise:\n", doc[0:60_000]])
    value, raw = call("llm", {"parts": wire, "context": None}, parts.raw())
"""

import ast
import builtins
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import _dossier

# A piece of a context: its index, the first byte, the number of bytes.
Span = tuple[int, int, int]

_dumps = json.dumps


class LLMError(Exception):
    """A model request that failed.

    `kind` is the host's error code (`too_large`, `bad_argument`, `limit`, `failed`, ...);
    `retryable` says whether the same request may succeed later.
    """

    def __init__(self, message: str, kind: str = "failed", retryable: bool = False) -> None:
        super().__init__(message)
        self.kind = kind
        self.retryable = retryable


class ToolError(RuntimeError):
    """A call of a tool server that failed, took too long, or returned too much."""


def call(method: str, args: dict[str, Any], raw: bytes = b"") -> tuple[Any, bytes]:
    """One model request. Raises LLMError."""
    try:
        return _dossier.call(method, args, raw)
    except _dossier.BridgeError as error:
        raise LLMError(str(error.message), str(error.code), bool(error.retryable)) from None


_CLASS = re.compile(r"([A-Za-z_]\w{0,80}): ?", re.ASCII)


def _key(said: str) -> Any:
    """A KeyError says the repr of its key."""
    try:
        return ast.literal_eval(said)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return said


def raised(message: str) -> Exception:
    """What a tool of the caller raised, as an exception of its class: "KeyError: 'x'".

    A class that Python does not have becomes one of that name, below RuntimeError. All else is a
    RuntimeError with the whole message.
    """
    found = _CLASS.match(message)
    name = found[1] if found else ""
    known = ToolError if name == "ToolError" else getattr(builtins, name, None)
    rest = message[found.end():] if found else message
    if isinstance(known, type) and issubclass(known, Exception):
        try:
            error = known(_key(rest) if issubclass(known, KeyError) else rest)
        except TypeError:  # one that is not made of a text
            return RuntimeError(message)
        error.of_tool = True  # type: ignore[attr-defined]  # no slip of the code that called it
        return error
    if name.endswith(("Error", "Exception")):
        return type(name, (RuntimeError,), {"__module__": "builtins"})(rest)
    return RuntimeError(message)


def ask(method: str, args: dict[str, Any], raw: bytes = b"") -> tuple[Any, bytes]:
    """One question about the data. Raises ValueError for a wrong argument, else RuntimeError."""
    try:
        return _dossier.call(method, args, raw)
    except _dossier.BridgeError as error:
        kind = ValueError if error.code in ("bad_argument", "too_large") else RuntimeError
        raise kind(str(error.message)) from None


def number(value: Any, key: str) -> int:
    """A reply that is one number, bare or under `key`; -1 for null."""
    if isinstance(value, Mapping):
        value = value.get(key)
    return -1 if value is None else int(value)


def blob(value: Any, raw: bytes) -> str:
    """The text that `{"blob": [offset, length]}` names; a plain string is itself."""
    if isinstance(value, str):
        return value
    offset, length = value["blob"]
    return raw[offset:offset + length].decode("utf-8", "replace")


def spans_of(value: Any) -> list[Span] | None:
    """Where a slice of `doc` or `records` stands in the contexts; None for any other value."""
    method = getattr(type(value), "_dossier_spans", None)
    return method(value) if method is not None else None


def as_text(value: Any) -> str:
    """A value inside a prompt: text as it is, data as JSON, all else by str()."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (dict, list, tuple)):
        try:
            return _dumps(value, ensure_ascii=False, default=str)
        except (TypeError, ValueError):
            return str(value)
    if hasattr(type(value), "to_list"):  # rows that do not lie side by side
        return "\n".join(as_text(row) for row in value)
    return str(value)


class Parts:
    """Collects texts of one request. Not shared between threads."""

    def __init__(self) -> None:
        self._blobs: list[bytes] = []
        self._size = 0
        self.characters = 0   # of the text added last; slices given as views are not counted
        self.blank = True     # so is this

    def add(self, value: Any, joiner: str = "") -> list[dict[str, Any]]:
        """The parts of one text: a string, a slice, or a list of them joined by `joiner`."""
        self.characters, self.blank = 0, True
        wire: list[dict[str, Any]] = []
        for piece in _pieces(value, joiner):
            spans = spans_of(piece)
            if spans is None:
                self._add_text(as_text(piece), wire)
                continue
            self.blank = self.blank and all(length == 0 for _, _, length in spans)
            self.characters += len(piece) if isinstance(piece, str) else 0
            wire += [{"ctx": ctx, "at": at, "len": length} for ctx, at, length in spans]
        return wire

    def raw(self) -> bytes:
        return b"".join(self._blobs)

    def _add_text(self, text: str, wire: list[dict[str, Any]]) -> None:
        data = text.encode("utf-8", "backslashreplace")
        self.blank = self.blank and not text.strip()
        self.characters += len(text)
        wire.append({"blob": [self._size, len(data)]})
        self._blobs.append(data)
        self._size += len(data)


def _pieces(value: Any, joiner: str) -> Iterable[Any]:
    if spans_of(value) is not None or not isinstance(value, (list, tuple)):
        yield value
        return
    for index, piece in enumerate(value):
        if index and joiner:
            yield joiner
        yield piece
        if isinstance(piece, dict):
            yield "\n"
