"""One record as a row: a dict whose fields go by path, and what is known of the fields of all rows."""

import difflib
import json
import sys
from collections.abc import Callable, Iterable
from typing import Any

_DEEPEST = 1100          # levels of a row, and some; the host takes no more

_loads = json.loads


class FieldError(KeyError):
    """A field that no row has; the message is a sentence, not a quoted key."""

    def __str__(self) -> str:
        return str(self.args[0])


FieldError.__name__ = FieldError.__qualname__ = "KeyError"  # what a model knows
FieldError.__module__ = "builtins"


class Fields:
    """The fields of all rows, by the path shown in the hint.

    `elsewhere` says of a field that is not among them which other file has it.
    """

    def __init__(self, shown: Iterable[str] = (),
                 elsewhere: Callable[["Fields", str], str] = lambda _fields, _name: "") -> None:
        self.shown = list(dict.fromkeys(shown))
        self.unknown: dict[str, None] = {}  # names that .get() asked for in vain
        self._elsewhere = elsewhere
        self._known: set[str] = set()
        for path in self.shown:
            steps = path.replace("[]", "").split(".")
            self._known.update(steps)
            self._known.update(".".join(steps[:n]) for n in range(1, len(steps) + 1))
            self._known.add(path)

    def knows(self, name: str) -> bool:
        return name in self._known

    def learn(self, names: Iterable[str]) -> None:
        self.shown += [name for name in names if name not in self._known]
        self._known.update(self.shown)

    def error(self, name: Any) -> FieldError:
        if isinstance(name, int):
            return FieldError(f"{name}: a row is a dict, use r['name']; fields: {self.listing()}")
        return FieldError(self.no_such(str(name)))

    def no_such(self, name: str) -> str:
        guess = self._elsewhere(self, name)
        near = [] if guess else nearest(name, self.shown)
        if near:
            guess = f" did you mean {' or '.join(map(repr, near))}?"
        return f"{name!r}: no such field;{guess} fields: {self.listing()}"

    def listing(self) -> str:
        more = f" and {len(self.shown) - 40} more" if len(self.shown) > 40 else ""
        return ", ".join(self.shown[:40]) + more


class Row(dict):
    """One record. `r["user.id"]` and `r["user"]["id"]` are the same; `r.user` works too."""

    _fields = Fields()  # of all files; the rows of one file are of a subclass

    def __missing__(self, key: Any) -> Any:
        if isinstance(key, str):
            if "." in key:
                found, value = _walk(self, key)
                if found:
                    return value
            if self._fields.knows(key):
                return None
        raise self._fields.error(key)

    def get(self, key: Any, default: Any = None) -> Any:
        if dict.__contains__(self, key):
            return dict.__getitem__(self, key)
        if isinstance(key, str) and "." in key:
            found, value = _walk(self, key)
            if found:
                return value
        if isinstance(key, str) and not self._fields.knows(key):
            self._fields.unknown[key] = None
        return default

    def __contains__(self, key: Any) -> bool:
        return dict.__contains__(self, key) or (
            isinstance(key, str) and "." in key and _walk(self, key)[0])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(str(error)) from None

    def __reduce__(self) -> tuple[Any, ...]:
        return Row, (dict(self),)


def _walk(row: dict[str, Any], path: str) -> tuple[bool, Any]:
    """Follows `user.tags[].name`; (False, None) where the row has no such place."""
    value: Any = row
    steps = path.split(".")
    for index, step in enumerate(steps):
        each = step.endswith("[]")
        step = step.removesuffix("[]")
        if isinstance(value, dict) and dict.__contains__(value, step):
            value = dict.__getitem__(value, step)
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return False, None
        if each and isinstance(value, list) and index + 1 < len(steps):
            rest = ".".join(steps[index + 1:])
            pairs = [_walk(item, rest) for item in value if isinstance(item, dict)]
            return True, [item for found, item in pairs if found]
    return True, value


def nearest(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """The known names that look most like `name`, upper and lower case alike."""
    folded: dict[str, str] = {}
    for item in known:
        folded.setdefault(item.lower(), item)
        folded.setdefault(item.rsplit(".", 1)[-1].lower(), item)
    hits = difflib.get_close_matches(name.lower(), folded, n=count, cutoff=0.6)
    hits += [item for item in folded if len(name) > 2 and name.lower() in item]
    return list(dict.fromkeys(folded[hit] for hit in hits))[:count]


def no_argument(function: str, name: str, known: Iterable[str]) -> TypeError:
    """What a call with an unknown keyword raises."""
    known = list(known)
    near = nearest(name, known, 1)
    guess = f"did you mean {near[0]!r}? It" if near else "it"
    return TypeError(f"{function} has no argument {name!r}; {guess} has {', '.join(known)}")


def parse_rows(data: bytes, row_class: type[Row]) -> list[Row]:
    try:
        return _loads(data, object_hook=row_class)
    except (ValueError, RecursionError):
        return _patiently(data, row_class)


def _patiently(data: bytes, row_class: type[Row]) -> list[Row]:
    """With more levels than Python's code may use, and numbers of more digits than int() takes."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + _DEEPEST)
    try:
        return _loads(data, object_hook=row_class, parse_int=_whole)
    finally:
        sys.setrecursionlimit(limit)


def _whole(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:  # thousands of digits: exact as text
        return digits
