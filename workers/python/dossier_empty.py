"""What a block looks for; and a count of 0, None or an empty list is answered with what exists.

    sum(1 for r in records if r["status"] == "Active")   ->  0
    note: no row has status 'Active'; its values: 'installed' (740), 'config-files' (11).
"""

import ast
import operator
import re
import time
from collections import Counter, namedtuple
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dossier_code import Parsed

_EMPTY = ("0", "0.0", "None", "[]", "{}", "()", "set()", "''", "", "nan", "Counter()")
_SCAN_SECONDS = 0.3
_SHOWN_VALUES = 12
_SHOWN_CHARACTERS = 40
_MOST_SEARCHED = 20
_LONGEST_SEARCHED = 200  # characters
_TAKES_TEXT = {"findall", "finditer", "search", "match", "fullmatch", "split", "sub", "compile",
               "grep", "startswith", "endswith", "partition"}
_EITHER_CASE = re.compile(r"\[(\w)\w\]")  # [Cc]hapter
_PATTERN_MARK = re.compile(r"\\[A-Za-z]")


def is_empty_output(text: str) -> bool:
    """True for an output such as `0`, `Total: 0` or `Out: []`."""
    text = text.strip()
    return text in _EMPTY or ("\n" not in text and len(text) < 100
                              and text.rsplit(":", 1)[-1].rsplit("=", 1)[-1].strip() in _EMPTY)


class Test(namedtuple("Test", "field sign value")):
    """One comparison of a field with a constant, as code wrote it.

    `sign` is ==, in (a text inside the field), <, <=, > or >=.
    """

    __slots__ = ()

    def holds(self, value: Any) -> bool:
        if self.sign == "in":
            return str(self.value).lower() in str(value).lower()
        if self.sign == "==":
            return bool(value == self.value)
        try:
            return bool(_SIGNS[self.sign](value, self.value))
        except TypeError:
            return False

    def __str__(self) -> str:
        return (f"{self.value!r} in {self.field}" if self.sign == "in"
                else f"{self.field} {self.sign} {self.value!r}")


_SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_OPS = {ast.Eq: "==", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}


def existing_values(parsed: Parsed, records: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """For each field compared with a constant that no row meets: the values that it really has."""
    tests = {test.field: test for test in _tests(parsed)}
    if not tests:
        return {}
    counts: dict[str, Counter] = {field: Counter() for field in tests}
    deadline = time.monotonic() + _SCAN_SECONDS
    for index, row in enumerate(records):
        if index % 256 == 255 and time.monotonic() > deadline:
            break
        for field, counter in counts.items():
            value = row.get(field)
            if not isinstance(value, (dict, list)) and (len(counter) < 10_000 or value in counter):
                counter[value] += 1
    notes = {}
    for field, test in tests.items():
        counter = counts[field]
        if set(counter) <= {None} or any(map(test.holds, counter)):
            continue
        notes[field] = f"No row has {test}. {_values(test, counter)}"
    return notes


def missing_words(parsed: Parsed, context: str) -> dict[str, str]:
    """For each text that the block searches `context` for and that stands nowhere in it: the
    spelling that does, if only case differs."""
    notes = {}
    for word in _searched(parsed):
        if word in context:
            continue
        at = context.lower().find(word.lower()) if len(context) == len(context.lower()) else -1
        other = f" {context[at:at + len(word)]!r} does." if at >= 0 else ""
        notes[word] = f"{_short(word)} stands nowhere in the text.{other}"
    return notes


def searched_texts(parsed: Parsed) -> list[str]:
    """What the block looks for in texts, as far as it says so itself; of a pattern the words."""
    texts = list(_searched(parsed))
    for node in parsed.of(ast.Call):
        if getattr(node.func, "attr", "") in _TAKES_TEXT:
            texts += [_PATTERN_MARK.sub(" ", _EITHER_CASE.sub(r"\1", part.value))
                      for part in node.args[:1]
                      if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return [text[:_LONGEST_SEARCHED] for text in dict.fromkeys(texts)
            if any(map(str.isalnum, text))][:_MOST_SEARCHED]


def _searched(parsed: Parsed) -> Iterator[str]:
    """context.count("x"), context.find("x"), "x" in context or in a line of it."""
    for node in parsed.of(ast.Call):
        if getattr(node.func, "attr", "") in ("count", "find", "index") and node.args \
                and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
            yield node.args[0].value
    for node in parsed.of(ast.Compare):
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.In) \
                and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
            yield node.left.value


def _values(test: Test, counter: Counter) -> str:
    """The range of numbers that were ordered, else the values."""
    numbers = [value for value in counter if isinstance(value, (int, float))]
    if test.sign in _SIGNS and numbers:
        return f"Its values go from {min(numbers)!r} to {max(numbers)!r}."
    rows = [f"{_short(known)} ({count:,})" for known, count
            in _nearest_first(counter, test.value)[:_SHOWN_VALUES]]
    more = len(counter) - _SHOWN_VALUES
    return f"Its values: {', '.join(rows)}{f' and {more:,} more' if more > 0 else ''}."


def _nearest_first(counter: Counter, wanted: Any) -> list[tuple[Any, int]]:
    """The most common values, those that contain the wanted text first."""
    word = str(wanted).strip().lower()
    return sorted(counter.most_common(), key=lambda pair: word not in str(pair[0]).lower())


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"


def _tests(parsed: Parsed) -> Iterator[Test]:
    """r["field"] == "x", r.get("field") in (...), "x" in r["field"], r["field"] > 5."""
    for node in parsed.of(ast.Compare):
        if len(node.ops) != 1:
            continue
        left, op, right = node.left, node.ops[0], node.comparators[0]
        field, other, turned = _field(left), right, False
        if field is None:
            field, other, turned = _field(right), left, True
        if field is None:
            continue
        if isinstance(op, ast.In) and turned and isinstance(other, ast.Constant):
            yield Test(field, "in", other.value)
        elif isinstance(op, ast.In) and isinstance(other, (ast.Tuple, ast.List, ast.Set)):
            for item in other.elts:
                if isinstance(item, ast.Constant):
                    yield Test(field, "==", item.value)
        elif type(op) in _OPS and isinstance(other, ast.Constant):
            sign = _OPS[type(op)]
            yield Test(field, _TURNED[sign] if turned else sign, other.value)


def _field(node: ast.expr) -> str | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in ("lower", "upper", "strip", "casefold"):
            return _field(node.func.value)
        if node.func.attr == "get" and node.args and isinstance(node.args[0], ast.Constant) \
                and isinstance(node.args[0].value, str):
            return node.args[0].value
        return None
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) \
            and isinstance(node.slice.value, str):
        inner = _field(node.value)
        return f"{inner}.{node.slice.value}" if inner else node.slice.value
    return None
