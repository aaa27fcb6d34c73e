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
from dossier_seek import Case, Seeker, field_of

_NOTHING = {"none", "nan", "null", "set", "counter", "''", '""'}
_SHOWN_VALUES = 12
_SHOWN_CHARACTERS = 40
_MOST_KINDS = 10_000   # values of a field that are told apart
_MOST_SEARCHED = 20
_LONGEST_SEARCHED = 200  # characters
_TAKES_TEXT = {"findall", "finditer", "search", "match", "fullmatch", "split", "sub", "compile",
               "grep", "startswith", "endswith", "partition"}
_EITHER_CASE = re.compile(r"\[(\w)\w\]")  # [Cc]hapter
_PATTERN_MARK = re.compile(r"\\[A-Za-z]")
# A number, not the digits of a name such as `gate5`; letters of scripts without spaces are none.
_NUMBER = re.compile(
    "(?<![A-Za-z_0-9\u0080-\u2fff])[0-9]+(?:[,_'][0-9]{3}(?![0-9]))*(?:\\.[0-9]+)?")


def is_empty_output(text: str, known: Iterable[str] = ()) -> bool:
    """True if all numbers of an output are zero but for the `known` ones, or if it has none and
    shows only None, empty texts and empty containers. The host judges answers alike (SaysNothing).
    """
    text = text.strip().removeprefix("Out:").strip()
    kept = set(map(plain_number, known)) - {"0"}
    numbers = [number for number in numbers_of(text) if number not in kept]
    if numbers:
        return all(number == "0" for number in numbers)
    return all(map(_shows_nothing, text.splitlines() or [""]))


def numbers_of(text: str) -> list[str]:
    return list(map(plain_number, _NUMBER.findall(text)))


def _shows_nothing(line: str) -> bool:
    """`None`, `[]`, `Total: set()`, and what has no letter or digit at all."""
    value = re.split("[:=]", line)[-1].strip().lower()
    return value.rstrip("()") in _NOTHING or not any(map(str.isalnum, value))


def plain_number(text: str) -> str:
    """By value: 3,000 is 3000.0."""
    text = re.sub("[,_']", "", text)
    whole, _, fraction = text.partition(".")
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


class Test(namedtuple("Test", "field sign value")):
    """One comparison of a field with a constant, as code wrote it.

    `sign` is ==, one of (a tuple), in (a text inside the field), start, end, <, <=, > or >=.
    """

    __slots__ = ()

    def holds(self, value: Any, case: Case) -> bool:
        if self.sign in _SIGNS:
            try:
                return bool(_SIGNS[self.sign](value, self.value))
            except TypeError:
                return False
        return any(self._fits(value, wanted, case) for wanted in self.values)

    def orders_numbers(self) -> bool:
        return self.sign in _SIGNS and isinstance(self.value, (int, float))

    @property
    def values(self) -> tuple[Any, ...]:
        return self.value if self.sign == "one of" else (self.value,)

    def _fits(self, value: Any, wanted: Any, case: Case) -> bool:
        if not isinstance(wanted, str):
            return str(wanted) in str(value) if self.sign == "in" else bool(value == wanted)
        if not isinstance(value, str):
            return self.sign == "in" and wanted in str(value)
        if case.may_differ(wanted):
            value, wanted = value.lower(), wanted.lower()
        fits = {"in": value.__contains__, "start": value.startswith, "end": value.endswith}
        return fits.get(self.sign, value.__eq__)(wanted) or value.strip() == wanted

    def __str__(self) -> str:
        forms = {"in": f"{self.value!r} in {self.field}", "one of": f"{self.field} in {self.value!r}",
                 "start": f"{self.field} that begins with {self.value!r}",
                 "end": f"{self.field} that ends in {self.value!r}"}
        return forms.get(self.sign, f"{self.field} {self.sign} {self.value!r}")


_SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_OPS = {ast.Eq: "==", ast.NotEq: "==", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}


class Values:
    """How often which value stands in some fields of the rows, as far as time allowed to look."""

    def __init__(self, fields: Iterable[str]) -> None:
        self.counts: dict[str, Counter] = {field: Counter() for field in fields}
        self.lists: set[str] = set()   # fields that hold lists; their items are counted
        self.rows = 0
        self.whole = False

    def read(self, rows: Iterable[Mapping[str, Any]], absent: set[str], deadline: float) -> None:
        """Takes out of `absent` what stands in a value, though not in the text as it is written."""
        for index, row in enumerate(rows):
            if index % 256 == 255 and time.monotonic() > deadline:
                return
            self.rows += 1
            for field, counter in self.counts.items():
                self._add(field, counter, row.get(field))
            for value in row.values() if absent else ():
                if isinstance(value, str):
                    absent.difference_update([text for text in absent if text in value])
        self.whole = True

    def _add(self, field: str, counter: Counter, value: Any) -> None:
        if isinstance(value, list):
            self.lists.add(field)
        for item in value if isinstance(value, list) else [value]:
            if not isinstance(item, (dict, list)) and (len(counter) < _MOST_KINDS
                                                       or item in counter):
                counter[item] += 1

    def fits(self, test: Test, case: Case) -> bool | None:
        """None where the field has no values that could tell."""
        counter = self.counts[test.field] if test.field in self.counts else Counter()
        if set(counter) <= {None}:
            return None
        if test.field in self.lists and test.sign == "in":
            test = test._replace(sign="==")  # an item of a list, not a part of a text
        return any(test.holds(value, case) for value in counter)

    def reason(self, test: Test) -> str:
        rows = "No row" if self.whole else f"None of the first {self.rows:,} rows"
        return f"{rows} has {test}. {self.listing(test)}"

    def listing(self, test: Test) -> str:
        """The range of numbers that were ordered, else the values."""
        counter = self.counts[test.field]
        numbers = [value for value in counter if isinstance(value, (int, float))]
        if test.sign in _SIGNS and numbers:
            return f"Its values go from {min(numbers)!r} to {max(numbers)!r}."
        rows = [f"{short(known)} ({count:,})" for known, count
                in _nearest_first(counter, test.values[0])[:_SHOWN_VALUES]]
        more = len(counter) - _SHOWN_VALUES
        return f"Its values: {', '.join(rows)}{f' and {more:,} more' if more > 0 else ''}."


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


def _nearest_first(counter: Counter, wanted: Any) -> list[tuple[Any, int]]:
    """The most common values, those that contain the wanted text first."""
    word = str(wanted).strip().lower()
    return sorted(counter.most_common(), key=lambda pair: word not in str(pair[0]).lower())


def short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"


def tests_of(parsed: Parsed, seeker: Seeker) -> Iterator[Test]:
    """r["field"] == "x", r.get("field") in (...), "x" in r["field"], r["field"] > 5, and so on; the
    constant may stand in a name."""
    for node in parsed.of(ast.Compare):
        if len(node.ops) == 1:
            yield from _compared(node.left, node.ops[0], node.comparators[0], seeker)
    for node in parsed.of(ast.Call):
        sign = {"startswith": "start", "endswith": "end"}.get(getattr(node.func, "attr", ""))
        if sign and node.args and (field := field_of(node.func.value)):
            yield from (Test(field, sign, text) for text in seeker.texts(node.args[0]))
    for node in parsed.of(ast.Match):
        if field := field_of(node.subject):
            for case in node.cases:
                yield from (Test(field, "==", text) for part in ast.walk(case.pattern)
                            if isinstance(part, ast.MatchValue)
                            for text in seeker.texts(part.value))


def _compared(left: ast.expr, op: ast.cmpop, right: ast.expr, seeker: Seeker) -> Iterator[Test]:
    field, other, turned = field_of(left), right, False
    if field is None:
        field, other, turned = field_of(right), left, True
    if field is None:
        return
    values = _constants(other, seeker)
    if isinstance(op, (ast.In, ast.NotIn)):
        if turned:
            yield from (Test(field, "in", value) for value in values)
        elif values:
            yield Test(field, "one of", tuple(values))
    elif type(op) in _OPS:
        sign = _OPS[type(op)]
        yield from (Test(field, _TURNED[sign] if turned else sign, value) for value in values)


def _constants(node: ast.expr, seeker: Seeker) -> list[Any]:
    if isinstance(node, ast.Constant):
        return [] if node.value is None else [node.value]
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return [value for item in node.elts for value in _constants(item, seeker)]
    return list(seeker.texts(node))
