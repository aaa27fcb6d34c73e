"""What SQL that code ran asks of the data, so that it is checked as conditions in Python are.

    list(queries.note("SELECT sum(a) FROM records WHERE city = 'oslo'", [], seconds=0.01))
    queries.asked     # {Test("city", "==", "oslo"): Counter({"Oslo": 92, "Rome": 97})}

Of a query with one SELECT this reads: a column, as it is or in lower(), upper() or trim(), beside a
constant or a parameter; an aggregate of a column or of a CAST of one.
"""

import re
from collections import Counter, namedtuple
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dossier_empty import NUMBER_LIKE, Test, numbers_of, plain_number, short
from dossier_rewrite import Widths

_SECONDS = 0.3         # a query that took longer is not looked into: that would take as long again
_MOST_ROWS, _MOST_KINDS = 200_000, 9_000   # of one column
_HIDDEN = re.compile(r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/", re.DOTALL)   # texts and remarks
_CLAUSES = ("from", "where", "group", "having", "window", "order", "limit")
_NAME = r"""(?:[^\W\d]\w*|"[^"]+"|`[^`]+`|\[[^\]]+\])"""
_COLUMN = rf"(?<![\w.])((?:{_NAME}\s*\.\s*)?{_NAME})"
_VALUE = r"""(?:'_*'|"[^"]*"|\d+(?:\.\d+)?|\?)"""
_TEST = re.compile(rf"""((?:\b(?:lower|upper|trim)\s*\(\s*)*){_COLUMN}((?:\s*\))*)\s*
    (?:(==?|<>|!=|<=?|>=?|\bis\b)\s*({_VALUE})(?!\s*(?:[*/+%-]|\|\||collate\b)|[\w.])
    |(?:\bnot\s+)?\blike\s+('_*')|(?:\bnot\s+)?\bin\s*\(\s*({_VALUE}(?:\s*,\s*{_VALUE})*)\s*\))""",
                   re.VERBOSE | re.IGNORECASE)
_AGGREGATE = re.compile(rf"""\b(sum|total|avg|min|max)\s*\(\s*(?:distinct\s+)?(cast\s*\(\s*)?{_COLUMN}
    (?:\s+as\s+(int|integer|real|float|numeric)\s*\))?\s*\)""", re.VERBOSE | re.IGNORECASE)
_NUMBER = re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")

_Column = namedtuple("_Column", "name written made")   # `made`: as in Test


class _Query:
    """`clauses`: where each begins; none if there is more than one SELECT."""

    def __init__(self, query: str, params: Sequence[Any] = ()) -> None:
        self.query, self.params = query.rstrip().rstrip(";"), list(params)
        # What texts say is hidden, and then what stands in brackets, at the same places.
        self.masked = flat = _HIDDEN.sub(lambda found: "'" + "_" * (len(found[0]) - 2) + "'" if found[0][0] == "'"
                                          else " " * len(found[0]), self.query)
        while (inner := re.sub(r"\([^()]*\)", lambda found: "~" * len(found[0]), flat)) != flat:
            flat = inner
        self.flat = flat.lower()
        single = flat.lstrip()[:6].lower() == "select" and len(re.findall(r"\bselect\b", self.masked, re.IGNORECASE)) == 1
        found = {name: re.search(rf"\b{name}\b", self.flat) for name in _CLAUSES if single}
        self.clauses = {name: place.start() for name, place in found.items() if place}

    def behind(self, clause: str) -> int:
        """Where the clauses behind one begin."""
        names = _CLAUSES[_CLAUSES.index(clause) + 1:]
        return min((at for name, at in self.clauses.items() if name in names), default=len(self.query))

    def _value(self, begin: int, end: int) -> Any:
        """A constant; one in double quotation marks is a text in SQLite where it is no column."""
        said = self.query[begin:end]
        if said == "?":
            return dict(enumerate(self.params)).get(self.masked[:begin].count("?"))
        if said[0] in "'\"":
            return said[1:-1].replace("''", "'")
        return float(said) if "." in said else int(said)

    def tests(self) -> Iterator[tuple[_Column, str, tuple[Any, ...]]]:
        """A column, a sign of Test, and values."""
        for found in _TEST.finditer(self.masked):
            made = tuple((name.lower().replace("trim", "strip"),) for name in reversed(re.findall(r"\w+", found[1])))
            column = _column(found[2], made)
            place = found.span(5 if found[5] else 6 if found[6] else 7)
            values = tuple(self._value(*item.span()) for item in re.compile(_VALUE).finditer(self.masked, *place))
            before = self.masked[:found.start()].rstrip()[-1:]   # of `a + b = 5`, of `length(a) = 4`
            if None in values or len(made) != found[3].count(")") or before in "+-*/%|," and before:
                continue
            if found[6] and re.fullmatch("%?[^%_]+%?", values[0]):
                sign = {"%%": "in", "%": "end" if values[0][0] == "%" else "start"}.get("%" * values[0].count("%"), "==")
                yield column._replace(made=(("lower",),)), sign, (values[0].strip("%").lower(),)
            elif not found[6]:
                sign = found[4] or "one of"
                yield column, sign if sign[0] in "<>o" and sign != "<>" else "==", values

    def aggregates(self) -> Iterator[tuple[str, _Column, bool]]:
        """sum(a), avg(t.a), max(distinct a), sum(cast(a as integer)); whether it makes whole numbers."""
        for function, cast, written, kind in _AGGREGATE.findall(self.masked):
            if bool(cast) == bool(kind) and not (cast and function.lower() in ("min", "max")):
                yield function.lower(), _column(written), kind.lower().startswith("int")


def _column(written: str, made: tuple[tuple[str, ...], ...] = ()) -> _Column:
    """In brackets: a name in double quotation marks would be a text where there is no such column."""
    names = [name.strip('"`[] ') for name in re.findall(_NAME, written)]
    return _Column(names[-1], ".".join(f"[{name}]" for name in names), made)


def without_limit(query: str) -> str:
    """The query without its LIMIT, where that cuts off rows that are in no order; else ""."""
    asked = _Query(query)
    at = len(query) if "order" in asked.clauses else asked.clauses.get("limit", len(query))
    number = re.fullmatch(r"limit\s+(\d+)\s*", asked.flat[at:])
    return query[:at] if number and int(number[1]) > 1 else ""


class Queries:
    """Of one block."""

    def __init__(self, run: Callable[[str, list[Any]], list[dict[str, Any]]]) -> None:
        self._run = run
        self.asked: dict[Test, Counter] = {}

    def note(self, query: str, params: Sequence[Any], seconds: float) -> Iterator[str]:
        """Learns the conditions of a query that ran; gives sentences on texts that it misreads."""
        asked = _Query(query, params)
        if seconds > _SECONDS or "from" not in asked.clauses or "," in asked.flat[
                asked.clauses["from"]:asked.behind("from")]:   # each row of one table with each of another
            return
        for column, sign, said in asked.tests():
            counter = self._values(asked, column, asked.behind("from"))
            if not counter:
                continue
            wanted = tuple(_as_compared(item, counter) for item in said)
            test = Test(column.name, sign, wanted if sign == "one of" else wanted[0], column.made)
            self.asked[test] = self.asked.get(test, Counter()) | counter
        for function, column, whole in asked.aggregates():
            if counter := self._values(asked, column, asked.behind("where")):
                yield from _misread(function, column, whole, counter)

    def _values(self, asked: _Query, column: _Column, end: int) -> Counter | None:
        """How often which value stands in a column, of the rows that the clauses before `end` give."""
        begin = asked.clauses["from"]
        first, last = (asked.masked[:at].count("?") for at in (begin, end))
        home, params = asked.query[begin:end], asked.params[first:last]
        try:
            count = self._run(f"SELECT count(*) AS n FROM (SELECT 1 {home} LIMIT {_MOST_ROWS + 1})", params)[0]["n"]
            rows = self._run(f"SELECT {column.written} AS v, count(*) AS n {home} GROUP BY 1 LIMIT {_MOST_KINDS}",
                             params) if count <= _MOST_ROWS else []
        except (ValueError, MemoryError):
            return None
        return Counter({row["v"]: row["n"] for row in rows}) if 0 < len(rows) < _MOST_KINDS else None


def _as_compared(value: Any, counter: Counter) -> Any:
    """A constant as SQLite compares it: as a number with numbers, as a text with texts."""
    kinds = {type(item) for item in counter if item is not None}
    if isinstance(value, str) and kinds & {int, float} and _NUMBER.fullmatch(value):
        return float(value)
    return str(value) if type(value) in (int, float) and kinds == {str} else value


def _misread(function: str, column: _Column, whole: bool, counter: Counter) -> Iterator[str]:
    texts, wrong = [value for value in counter if isinstance(value, str)], dict[str, str]()
    if function in ("max", "min"):
        said: list[str] = []
        widths = Widths(said.append)
        if texts and all(map(widths.count, texts)):
            widths.tell(function, max(texts) if function == "max" else min(texts))
        yield from said
        return
    for value in texts:
        found = _NUMBER.match(value)
        read = (found[0].strip().split(".")[0] if whole else found[0].strip()) if found else "0"
        says = numbers_of(value) if NUMBER_LIKE.fullmatch(value) else []
        if says[0] != plain_number(read.lstrip("+-")) if says else function == "avg" and not found:
            wrong[value] = read
    for value, read in list(wrong.items())[:1]:
        yield (f"{function}() reads {sum(map(counter.get, wrong)):,} texts of {column.name} as another number "
               f"than they say, such as {short(value)} as {read}")
