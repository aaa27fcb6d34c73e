"""What code passes over: how many passes of a `try` failed, and whether what was lost is a value.

    losses = Losses()
    silent(node, parsed)                 # the handlers of a `try` that say nothing of what they caught
    losses.note(7, node, parsed, fixed)  # before the block runs; 7 is the number of its counters
    losses.tried(7); losses.failed(7)    # called by the code, in the `try` and in a handler
    list(losses.told())                  # [(7, 30, 300, "ValueError: …")]: failures, passes, example

A value that is missing (None, an empty text, a key that a row has not) may be passed over. A value
that is there and is lost may not: a number or date in another form, a text among numbers, a key in
another spelling, a kind that the code's own table has not.
"""

import ast
import re
import sys
from collections import defaultdict, namedtuple
from collections.abc import Iterator, Mapping
from typing import Any

from dossier_code import Parsed
from dossier_cuts import ADDS, base, is_constant
from dossier_empty import NUMBER_LIKE
from dossier_seek import alike, field_of

_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'")
_ANOTHER_FORM = ("does not match format", "Invalid isoformat", "unconverted data")
_MOST_KEYS = 1000
_MOST_WORDS = 3     # beside a number

_Kept = namedtuple("_Kept", "reads own")   # of a `try`


class _Count:
    """Of one `try`. `lost` and `in_words`: values that are there; `blank`: that are not."""

    def __init__(self) -> None:
        self.passes = self.failures = self.blank = self.lost = self.in_words = 0
        self.example = ""

    def doubtful(self, *, loop: bool) -> bool:
        """Whether so much was passed over, or such things, that a result is in doubt."""
        if self.passes == 1:
            return loop
        lost = self.lost or (self.in_words and 2 * self.failures < self.passes)
        return bool(self.failures == self.passes or lost
                    or 2 * (self.failures - self.blank) > self.passes)


class Losses:
    """Of one session; forget() before each block."""

    def __init__(self) -> None:
        self._counts: dict[int, _Count] = defaultdict(_Count)
        self._kept: dict[int, _Kept] = {}

    def forget(self) -> None:
        self._counts.clear()

    def note(self, number: int, node: ast.Try | ast.With, parsed: Parsed,
             fixed: Mapping[str, Any]) -> None:
        self._kept[number] = _Kept(list(_reads(node.body)), _own_tables(parsed, fixed))

    def tried(self, number: int) -> None:
        self._counts[number].passes += 1

    def failed(self, number: int) -> None:
        count, error = self._counts[number], sys.exception()
        count.failures += 1
        kind = self._kind(number, error, sys._getframe(1)) if error is not None else ""
        if kind:
            setattr(count, kind, getattr(count, kind) + 1)
        if not count.example or kind == "lost" and count.lost == 1:
            count.example = f"{type(error).__name__}: {str(error)[:120]}"

    def told(self, loops: Mapping[int, bool]) -> Iterator[tuple[int, int, int, str]]:
        """`loops`: of each `try`, whether what may fail goes through something, so that the first
        failure ends it."""
        for number, count in self._counts.items():
            if count.failures and count.doubtful(loop=loops[number]):
                yield number, count.failures, count.passes, count.example

    def _kind(self, number: int, error: BaseException, frame: Any) -> str:
        message, quoted = str(error), _QUOTED.search(str(error))
        text = quoted[1] if quoted is not None else None
        if "NoneType" in message or (text is not None and not text.strip()):
            return "blank"
        if isinstance(error, KeyError):
            return self._kind_of_key(number, error.args[0] if error.args else None, frame)
        if isinstance(error, (TypeError, AttributeError)):
            return self._kind_of_values(number, error, frame)
        if not isinstance(error, ValueError):
            return ""
        if hasattr(error, "doc"):   # of json: the record is broken
            start = str(error.doc).lstrip()[:1]
            return "lost" if start in ("{", "[") else "" if start else "blank"
        if text is None or not any(map(str.isdigit, text)):
            return "" if text is None else "blank"   # a mark, or a word among numbers
        if NUMBER_LIKE.fullmatch(text) or any(part in message for part in _ANOTHER_FORM):
            return "lost"
        return "in_words" if _in_words(text) else ""

    def _kind_of_key(self, number: int, key: Any, frame: Any) -> str:
        """Lost where a dict has the key in another spelling, or is a table of the code's own."""
        if key is None or not str(key).strip():
            return "blank"
        kept, wanted = self._kept[number], alike(key)
        for name in dict.fromkeys(read[0] for read in kept.reads):
            held = _value(name, "", frame)
            if name in kept.own and isinstance(held, Mapping) and key not in held:
                return "lost"
            if isinstance(held, Mapping) and any(alike(other) == wanted
                                                 for other, _ in zip(held, range(_MOST_KEYS))):
                return "lost"
        return ""

    def _kind_of_values(self, number: int, error: BaseException, frame: Any) -> str:
        """Of an error about types: what the failing statement read."""
        line = error.__traceback__.tb_lineno if error.__traceback__ is not None else 0
        values = [_value(name, path, frame) for name, path, first, last in self._kept[number].reads
                  if first <= line <= last]
        values = [value for value in values if not isinstance(value, Mapping) and not callable(value)]
        if any(value is None or (isinstance(value, str) and not value.strip()) for value in values):
            return "blank"
        there = [value for value in values if value and (
            isinstance(value, str) and any(map(str.isdigit, value))
            or isinstance(value, (list, int, float)) and isinstance(error, AttributeError))]
        return "lost" if there else ""


def _in_words(text: str) -> bool:
    """Whether a text is numbers and a few words: "USD 12.50", "about 5 kg", "5 March 2024"; not "A12"."""
    words = [part for part in re.split(r"[\s\W]+", text) if part and not part.isdigit()]
    return 0 < len(words) <= _MOST_WORDS and all(map(str.isalpha, words))


def silent(node: ast.Try, parsed: Parsed) -> list[ast.ExceptHandler]:
    """The handlers that say nothing of what they caught."""
    within = {id(part) for handler in node.handlers for part in ast.walk(handler)}
    read = {name.id for name in parsed.of(ast.Name)
            if isinstance(name.ctx, ast.Load) and id(name) not in within}
    asked = {ast.unparse(part) for statement in node.body for part in ast.walk(statement)
             if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Load)}
    asked |= {ast.unparse(part.target) for statement in node.body for part in ast.walk(statement)
              if isinstance(part, ast.AugAssign)}
    return [handler for handler in node.handlers
            if all(_passes_over(part, read, asked) for part in handler.body)]


def goes_through(node: ast.AST) -> bool:
    """Whether what may fail goes through something: the first failure ends it."""
    return any(isinstance(part, (ast.For, ast.While, ast.comprehension)) for part in ast.walk(node))


def _passes_over(statement: ast.stmt, read: set[str], asked: set[str]) -> bool:
    """Whether a statement of a handler says nothing of what was caught: a default is put in place, or
    it is counted in a name that nobody reads."""
    if isinstance(statement, (ast.Pass, ast.Continue, ast.Break)):
        return True
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.Assign) and any(ast.unparse(target) in asked
                                                 for target in statement.targets):
        return False   # try: counts[key] += 1 except KeyError: counts[key] = 1
    if isinstance(statement, ast.AugAssign):
        return is_constant(statement.value, {}) and (
            base(statement.target) not in read or not getattr(statement.value, "value", 1))
    if isinstance(statement, ast.Expr) and isinstance(value, ast.Call) \
            and isinstance(value.func, ast.Attribute) and value.func.attr in ADDS:
        return base(value.func) not in read or all(is_constant(item, {}) for item in value.args)
    if isinstance(statement, (ast.Assign, ast.Return, ast.Expr)):
        return value is None or is_constant(value, {}) or ast.unparse(value) == "float('nan')"
    return False


def _reads(body: list[ast.stmt]) -> Iterator[tuple[str, str, int, int]]:
    """Names and fields of names that are read, and the lines of their statement: ("r", "user.city",
    3, 4), ("t", "", 3, 4)."""
    for statement, part in ((statement, part) for statement in body for part in ast.walk(statement)):
        lines = statement.lineno, statement.end_lineno or 0
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            yield part.id, "", *lines
        elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            yield part.value.id, part.attr, *lines
        elif isinstance(part, (ast.Subscript, ast.Call)) and (path := field_of(part)):
            yield base(part.func if isinstance(part, ast.Call) else part), path, *lines


def _value(name: str, path: str, frame: Any) -> Any:
    """What a name holds, or a field of it; a text without meaning where that cannot be told."""
    value = frame.f_locals.get(name, frame.f_globals.get(name, "?"))
    for step in path.split(".") if path else ():
        if not isinstance(value, Mapping) or not dict.__contains__(value, step):
            return None if isinstance(value, Mapping) else "?"
        value = dict.__getitem__(value, step)
    return value


def _own_tables(parsed: Parsed, fixed: Mapping[str, Any]) -> set[str]:
    """The names of dicts that the code says itself, and that nothing is put into."""
    own = {name for name, value in fixed.items() if isinstance(value, dict) and value}
    own |= {binding.name for binding in parsed.bindings if isinstance(binding.value, ast.Dict)
            and binding.value.keys and is_constant(binding.value, fixed)}
    return own - {base(node) for node in parsed.of(ast.Subscript)
                  if not isinstance(node.ctx, ast.Load)}
