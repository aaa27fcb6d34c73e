"""Values as text, bounded: the last expression of a block, and the list of variables.

Listing variables must not run for long, whatever they are: built-in collections are walked here and
cut, representations written in Python run under a deadline, all else shows its type.
"""

import itertools
import sys
import time
import types
from collections.abc import Callable, Collection, Mapping
from typing import Any

_LIST_NAMES = 100
_LIST_CHARACTERS = 200
_LIST_SECONDS = 0.05
_ASSIGNED_SECONDS = 0.5
_SIZED = (str, bytes, bytearray, list, tuple, dict, set, frozenset, range, memoryview)
_BRACKETS = {list: "[]", tuple: "()", set: "{}", dict: "{}"}


class _TooLate(BaseException):
    """The deadline of a representation passed."""


def shown(value: Any, limit: int) -> str:
    """repr(value) cut to `limit` characters, without building what is cut."""
    text = _Writer(limit, repr).text(value)
    return _cut(text, limit, value)


def _cut(text: str, limit: int, value: Any) -> str:
    if len(text) <= limit:
        return text
    try:
        unit = "characters" if isinstance(value, str) else "items"
        size = f" ({len(value):,} {unit})"
    except Exception:  # no length, or a failing __len__
        size = ""
    return text[:limit] + " …" + size


def out_text(value: Any, limit: int) -> str:
    """How `Out:` shows a value: by its repr."""
    if type(value).__repr__ is not object.__repr__ and not isinstance(value, _SIZED):
        try:
            text = repr(value)
        except Exception as error:
            return f"<{type(value).__name__}: its __repr__ raised {type(error).__name__}>"
        return text if len(text) <= limit else text[:limit] + f" … ({len(text):,} characters)"
    return shown(value, limit)


def plain_out_text(value: Any, limit: int) -> str:
    """The same for a small model, which copies what it sees into its answer: a short text comes
    without quotes."""
    if isinstance(value, str) and "\n" not in value and len(value) <= _LIST_CHARACTERS:
        return str(value)
    return out_text(value, limit)


def assigned_text(value: Any, limit: int) -> str:
    """How an assignment is shown: like `out_text`, but nobody asked, so not for long."""
    deadline = time.monotonic() + _ASSIGNED_SECONDS
    text = _Writer(limit, lambda item: _guarded(item, deadline, limit)).text(value)
    return _cut(text, limit, value)


class _Writer:
    """Builds a bounded representation. `leaf` writes what is not a built-in collection."""

    def __init__(self, limit: int, leaf: Callable[[Any], str]) -> None:
        self._limit = limit
        self._leaf = leaf
        self._open: set[int] = set()

    def text(self, value: Any, room: int | None = None) -> str:
        room = self._limit if room is None else room
        if isinstance(value, str) and type(value).__repr__ is str.__repr__:
            return repr(str(value[:room + 1]))
        if isinstance(value, (bytes, bytearray)):
            return repr(value[:room + 1])
        if type(value).__repr__ in (dict.__repr__, list.__repr__, tuple.__repr__, set.__repr__):
            return self._collection(value, room)
        try:
            return str(self._leaf(value))
        except Exception as error:  # __repr__ of foreign code may raise anything
            return f"<{type(value).__name__}: its __repr__ raised {type(error).__name__}>"

    def _collection(self, value: Any, room: int) -> str:
        if id(value) in self._open or len(self._open) > 50:
            return "..."
        self._open.add(id(value))
        pieces, used = [], 0
        is_dict = isinstance(value, dict)
        base = next(kind for kind in _BRACKETS if isinstance(value, kind))
        try:  # by the base type's own methods: a subclass may loop for ever
            for item in (dict.items(value) if is_dict else base.__iter__(value)):
                if used > room:
                    break
                piece = (f"{self.text(item[0], room - used)}: {self.text(item[1], room - used)}"
                         if is_dict else self.text(item, room - used))
                pieces.append(piece)
                used += len(piece) + 2
        except RuntimeError:  # a thread of the code changed it meanwhile
            pieces.append("…")
        self._open.discard(id(value))
        if not pieces and base is set:
            return "set()"
        start, end = _BRACKETS[base]
        comma = "," if base is tuple and len(pieces) == 1 else ""
        return start + ", ".join(pieces) + comma + end


def list_variables(namespace: Mapping[str, Any], hidden: Collection[str]) -> list[dict[str, Any]]:
    """The variables of code, the newest 100, each with type, size and a preview."""
    names = variable_names(namespace, hidden, _LIST_NAMES)
    if not names:
        return []
    deadline = time.monotonic() + _LIST_SECONDS
    writer = _Writer(_LIST_CHARACTERS, lambda value: _guarded(value, deadline))
    listed = []
    for name in names:
        value = namespace.get(name)
        try:
            preview = writer.text(value)
        except BaseException:  # a __repr__ may raise what it likes
            preview = f"<{type(value).__name__}>"
        listed.append({"name": name, "type": type(value).__name__, "size": _size(value),
                       "preview": _preview(preview)})
    return listed


def variable_names(namespace: Mapping[str, Any], hidden: Collection[str],
                   most: int | None = None) -> list[str]:
    """What code has assigned, the newest `most`: no `_` names, none of ours, no modules."""
    own = (name for name in reversed(list(namespace))
           if name not in hidden and is_variable(namespace, hidden, name))
    return list(itertools.islice(own, most))[::-1]


def is_variable(namespace: Mapping[str, Any], hidden: Collection[str], name: Any) -> bool:
    return (isinstance(name, str) and name in namespace and not name.startswith("_")
            and name not in hidden and not isinstance(namespace[name], types.ModuleType))


def _size(value: Any) -> int:
    if isinstance(value, _SIZED) or type(value).__module__.startswith("dossier_"):
        try:
            return len(value)
        except TypeError:
            return 0
    return 0


def clean(text: str) -> str:
    """Valid UTF-8: a lone surrogate becomes its escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _preview(text: str) -> str:
    return clean(text if len(text) <= _LIST_CHARACTERS else text[:_LIST_CHARACTERS - 1] + "…")


def _guarded(value: Any, deadline: float, limit: int = _LIST_CHARACTERS) -> str:
    """repr() of one value that is no built-in collection; stops Python code at the deadline."""
    if isinstance(value, (types.FunctionType, type)):
        kind = "class" if isinstance(value, type) else "def"
        return f"{kind} {value.__qualname__}"
    if isinstance(value, (int, float, complex, bool, type(None))):
        return repr(value)
    if type(value).__repr__ is object.__repr__:
        return f"<{type(value).__name__}>"

    def check(frame: Any, _event: str, _arg: Any) -> Any:
        frame.f_trace_opcodes = True  # a loop on one line has no line events
        if time.monotonic() > deadline:
            raise _TooLate
        return check

    previous = sys.gettrace()
    sys.settrace(check)
    try:
        return repr(value)[:limit + 1]
    except _TooLate:
        return f"<{type(value).__name__}: its __repr__ takes too long>"
    finally:
        sys.settrace(previous)
