"""What a block looks for; and a count of 0, None or an empty list is answered with what exists.

    sum(1 for r in records if r["status"] == "Active")   ->  0
    note: no row has status 'Active'; its values: 'installed' (740), 'config-files' (11).
"""

import ast
import difflib
import operator
import re
import time
import unicodedata
from collections import Counter, namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from dossier_code import Parsed
from dossier_fold import Unknown, fold
from dossier_rewrite import ordered_alike
from dossier_seek import Case, Seeker

_NOTHING = {"none", "nan", "null", "set", "counter", "''", '""'}
_SHOWN_VALUES = 12
_SHOWN_CHARACTERS = 40
_MOST_KINDS = 10_000   # values of a field that are told apart
_MOST_SEARCHED = 20
_MOST_COMPARED = 200   # values of a field that a constant is compared with
_FEW_KINDS = 50        # values of a field that says which kind a row is of
_LEAST_SPACES = 2      # of a sentence
_LEAST_ALIKE = 5       # letters of texts that may be one word in two spellings
_ALIKE = 0.85
_LONGEST_SEARCHED = 200  # characters
_DIGITS = re.compile(r"\d+")
_TAKES_TEXT = {"findall", "finditer", "search", "match", "fullmatch", "split", "sub", "compile",
               "grep", "startswith", "endswith", "partition"}
_EITHER_CASE = re.compile(r"\[(\w)\w\]")  # [Cc]hapter
_PATTERN_MARK = re.compile(r"\\[A-Za-z]")
# A number, date or time in a form that the code does not read: 1,234.50 or $5 or 3/4/2024 or 12 kg.
NUMBER_LIKE = re.compile(r"\W*\d[\d\s.,_'/:T+-]*[^\d\s]{0,3}\s*")
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
    return value.strip("()[]{}") in _NOTHING or not any(map(str.isalnum, value))


def plain_number(text: str) -> str:
    """By value: 3,000 is 3000.0."""
    text = re.sub("[,_']", "", text)
    whole, _, fraction = text.partition(".")
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


class Test(namedtuple("Test", "field sign value made", defaults=((),))):
    """One comparison of a field with a constant, as code wrote it, negated or not.

    `sign` is ==, one of (a tuple), in (a text inside the field), start, end, <, <=, > or >=, or "is a
    number" by a method that is the value; `made` what code does to the text first, (("lower",),).
    """

    __slots__ = ()

    def holds(self, value: Any, case: Case) -> bool:
        if self.sign == "is a number":
            made = self._made(value)
            return isinstance(made, (int, float)) if self.value == "isinstance" else \
                isinstance(made, str) and bool(getattr(made, self.value)())
        if self.sign in _SIGNS:
            try:
                return bool(_SIGNS[self.sign](value, self.value))
            except TypeError:
                return False
        return any(self._fits(value, wanted, case) for wanted in self.values)

    def each(self) -> "Iterator[Test]":
        """One test for each constant."""
        if self.sign != "one of":
            return iter((self,))
        return (self._replace(sign="==", value=value) for value in self.value)

    def nearly_holds(self, value: Any) -> bool:
        """Whether it would, were the value or the constant written in a slightly other way: in
        another case, with other marks or spaces, as a number or a text, with a letter more."""
        mine = _plain(value)
        for wanted in map(_plain, self.values):
            fits = {"in": mine.__contains__, "start": mine.startswith, "end": mine.endswith}
            if wanted and fits.get(self.sign, mine.__eq__)(wanted):
                return True
            if self.sign in ("==", "one of") and min(len(wanted), len(mine)) >= _LEAST_ALIKE \
                    and not wanted.isdigit() and _similar(wanted, mine):
                return True
        return False

    def _made(self, value: Any) -> Any:
        for method, *given in self.made if isinstance(value, str) else ():
            try:
                value = getattr(value, method)(*given)
            except TypeError:   # given what is no constant
                return value
        return value

    def orders_numbers(self) -> bool:
        return self.sign in _SIGNS and isinstance(self.value, (int, float))

    @property
    def values(self) -> tuple[Any, ...]:
        return self.value if self.sign == "one of" else (self.value,)

    def _fits(self, value: Any, wanted: Any, case: Case) -> bool:
        if not isinstance(wanted, str):
            return str(wanted) in str(value) if self.sign == "in" else bool(value == wanted)
        if not isinstance(value, str):
            if not case.reads_text():
                return self.sign == "in" and wanted in str(value)
            value = str(value)
        value = self._made(value)
        if case.may_differ(wanted):
            value, wanted = value.lower(), wanted.lower()
        fits = {"in": value.__contains__, "start": value.startswith, "end": value.endswith}
        return fits.get(self.sign, value.__eq__)(wanted) or \
            (case.strips() and value.strip() == wanted)

    def __str__(self) -> str:
        field = ".".join([self.field, *(f"{method}({', '.join(map(repr, given))})"
                                        for method, *given in self.made)])
        forms = {"in": f"{self.value!r} in {field}", "one of": f"{field} in {self.value!r}",
                 "start": f"{field} that begins with {self.value!r}",
                 "end": f"{field} that ends in {self.value!r}"}
        return forms.get(self.sign, f"{field} {self.sign} {self.value!r}")


def _plain(value: Any) -> str:
    """Letters and digits alone, in one case and without accents."""
    text = unicodedata.normalize("NFKD", str(value).casefold())
    return "".join(filter(str.isalnum, text))


def _is_blank(value: Any) -> bool:
    """What stands for a missing value: nothing, marks alone, a word that programs write for it."""
    return isinstance(value, str) and _plain(value) in ("", "na", *_NOTHING)


def _similar(one: str, other: str) -> bool:
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    return matcher.real_quick_ratio() >= _ALIKE and matcher.ratio() >= _ALIKE


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

    def read(self, rows: Iterable[Mapping[str, Any]], absent: set[str], deadline: float,
             enough: Callable[[], bool] = lambda: False) -> None:
        """Takes out of `absent` what stands in a value, though not in the text as it is written.
        `enough` may end it early."""
        for index, row in enumerate(rows):
            if index % 256 == 255 and time.monotonic() > deadline:
                return
            if index & (index - 1) == 0 and index >= 32 and enough():
                return
            self.rows += 1
            for field, counter in self.counts.items():
                self._add(field, counter, row.get(field))
            for value in row.values() if absent else ():
                if isinstance(value, str):
                    absent.difference_update([text for text in absent if text in value])
        self.whole = True

    def add(self, asked: Mapping[Test, Counter]) -> None:
        """Takes the values that SQL gave of all rows."""
        self.whole = self.whole or bool(asked) and not self.counts
        for test, counter in asked.items():
            self.counts[test.field] = self.counts.get(test.field, Counter()) | counter
            self.rows = max(self.rows, sum(counter.values()))

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
        if set(counter) <= {None} or test.sign == "is a number":
            return None
        if test.field in self.lists and test.sign == "in":
            test = test._replace(sign="==")  # an item of a list, not a part of a text
        return any(test.holds(value, case) for value in counter)

    def misled(self, test: Test, tests: Iterable[Test], case: Case) -> bool:
        """Whether a test that fits no value was meant to fit some, as it seems: a value that no other
        test looks for is nearly what it wants, or it is all that is asked of a field of few kinds.
        What also looks for nothing (`not in ("", "N/A")`) only keeps off what might be there."""
        if test.sign in _SIGNS or test.sign == "is a number" or not any(map(_plain, test.values)):
            return False
        others = [other for other in tests if other.field == test.field and other != test]
        counter = self.counts[test.field]
        for value in list(counter)[:_MOST_COMPARED]:
            if value is not None and test.nearly_holds(value) \
                    and not any(other.holds(value, case) for other in others):
                return True
        careful = not all(map(_plain, [value for other in (test, *others)
                                       for value in other.values]))
        texts = all(isinstance(value, str) for value in (*test.values, *counter) if value is not None)
        return texts and not careful and self.few(test.field) \
            and not any(self.fits(other, case) for other in others)

    def few(self, field: str) -> bool:
        """Whether the field says of which of a few kinds a row is."""
        kinds = len([value for value in self.counts[field] if value is not None])
        return kinds <= _FEW_KINDS and 2 * kinds <= self.rows

    def are_texts(self, field: str) -> bool:
        """Whether the values tell no kinds: they are many, or sentences."""
        texts = [value for value in self.counts[field] if isinstance(value, str)]
        sentences = sum(value.count(" ") >= _LEAST_SPACES for value in texts)
        return not self.few(field) or 2 * sentences > len(texts)

    def proves(self, test: Test, shown: str) -> bool:
        """Whether the values tell that a test fits none in whatever form: it asks for a number among
        numbers, or for what is missing where nothing is, or all values were shown."""
        kinds = [value for value in self.counts[test.field] if value is not None]
        numbers = all(isinstance(value, (int, float)) for value in kinds)
        if test.orders_numbers() or (numbers and test.sign in ("==", "one of") and all(
                isinstance(value, (int, float)) for value in test.values)):
            return True
        blank = not any(map(_plain, test.values))
        if blank and test.sign in ("==", "one of"):
            return len(kinds) < _MOST_KINDS and not any(map(_is_blank, kinds))
        return self.all_shown(test, shown)

    def all_shown(self, test: Test, shown: str) -> bool:
        """Whether what was shown has all values of the field, none of them nearly what is looked for."""
        kinds = [value for value in self.counts[test.field] if value is not None]
        return 0 < len(kinds) <= _FEW_KINDS and not any(map(test.nearly_holds, kinds)) and all(
            re.search(rf"(?<!\w){re.escape(str(value))}(?!\w)", shown) for value in kinds)

    def left_out(self, test: Test, case: Case) -> str | None:
        """Why a question for numbers leaves some out that are written in another way."""
        if test.sign != "is a number":
            return None
        others = {value: count for value, count in self.counts[test.field].items()
                  if isinstance(value, str) and NUMBER_LIKE.fullmatch(value)
                  and not test.holds(value, case)}
        return None if not others else (
            f"{sum(others.values()):,} rows have a {test.field} like {short(next(iter(others)))}, which "
            f"`{test.value}` takes for no number.")

    def as_texts(self, test: Test) -> str | None:
        """Why an order is none of numbers, where code orders numbers that are texts."""
        if test.sign not in _SIGNS or not isinstance(test.value, str):
            return None
        other = next((value for value in self.counts[test.field]
                      if not ordered_alike(value, test.value)), None)
        return None if other is None else (
            f"{test.field} holds texts, which {test} orders letter by letter, not by their numbers "
            f"({other!r}).")

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


def days_of(parsed: Parsed, fixed: Mapping[str, Any]) -> list[str]:
    """Texts of three numbers or more, as days are, which data must equal or begin with."""
    sides = [side for node in parsed.of(ast.Compare) if isinstance(node.ops[0], ast.Eq)
             for side in (node.left, *node.comparators)]
    sides += [side for node in parsed.of(ast.Call) if getattr(node.func, "attr", "") == "startswith"
              for side in node.args[:1]]
    days = []
    for side in sides:
        with suppress(Unknown):
            days.append(fold(side, fixed))
    return [text for text in dict.fromkeys(day for day in days if isinstance(day, str))
            if len(text) <= _LONGEST_SEARCHED and len(_DIGITS.findall(text)) >= 3][:_MOST_SEARCHED]


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
        name = getattr(node.func, "attr", "")
        if name not in ("startswith", "endswith", "isin") or not node.args:
            continue
        field, made = seeker.field(node.func.value)
        if field is None:
            continue
        values = tuple(_constants(node.args[0], seeker))
        if name == "isin" and values:
            yield Test(field, "one of", values, made)
        elif name != "isin":
            sign = "start" if name == "startswith" else "end"
            yield from (Test(field, sign, text, made) for text in values if isinstance(text, str))
    yield from _number_tests(parsed, seeker)
    for node in parsed.of(ast.Match):
        field, made = seeker.field(node.subject)
        if field is not None:
            for case in node.cases:
                yield from (Test(field, "==", text, made) for part in ast.walk(case.pattern)
                            if isinstance(part, ast.MatchValue)
                            for text in seeker.texts(part.value))


def _number_tests(parsed: Parsed, seeker: Seeker) -> Iterator[Test]:
    """r["a"].isdigit() and isinstance(r["a"], float) that keep rows off and do nothing else about
    them."""
    tests = [node.test for node in parsed.of(ast.If) if not node.orelse]
    tests += [node.test for node in parsed.of(ast.IfExp) if isinstance(node.orelse, ast.Constant)]
    tests += [test for node in parsed.of(ast.comprehension) for test in node.ifs]
    for call in (part for test in tests for part in ast.walk(test) if isinstance(part, ast.Call)):
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        if name == "isinstance" and len(call.args) == 2 and isinstance(call.func, ast.Name):
            kinds = {node.id for node in ast.walk(call.args[1]) if isinstance(node, ast.Name)}
            field, made = seeker.field(call.args[0]) if kinds <= {"int", "float"} else (None, ())
        elif name in ("isdigit", "isnumeric", "isdecimal") and isinstance(call.func, ast.Attribute):
            text: Any = call.func.value
            field, made = seeker.field(text.args[0] if ast.unparse(text).startswith("str(") else text)
        else:
            continue
        if field is not None:
            yield Test(field, "is a number", name, made)


def _compared(left: ast.expr, op: ast.cmpop, right: ast.expr, seeker: Seeker) -> Iterator[Test]:
    (field, made), other, turned = seeker.field(left), right, False
    if field is None:
        (field, made), other, turned = seeker.field(right), left, True
    if field is None:
        return
    values = _constants(other, seeker)
    if isinstance(op, (ast.In, ast.NotIn)):
        if not turned and isinstance(other, ast.Constant):
            return   # the field's text is looked for in a longer one
        if turned:
            yield from (Test(field, "in", value, made) for value in values)
        elif values:
            yield Test(field, "one of", tuple(values), made)
    elif type(op) in _OPS:
        sign = _OPS[type(op)]
        yield from (Test(field, _TURNED[sign] if turned else sign, value, made)
                    for value in values)


def _constants(node: ast.expr, seeker: Seeker) -> list[Any]:
    if isinstance(node, ast.Constant):
        return [] if node.value is None else [node.value]
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return [value for item in node.elts for value in _constants(item, seeker)]
    return list(seeker.texts(node))
