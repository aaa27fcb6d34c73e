"""What SQL that code ran asks of the data, so that it is checked as conditions in Python are.

    list(queries.note("SELECT sum(a) FROM records WHERE city = 'oslo'", [], seconds=0.01))
    # ["sum() reads 3 texts of a as another number than they say, such as '1,093' as 1"]
    queries.asked     # {Test("city", "==", "oslo"): Counter({"Oslo": 92, "Rome": 97})}

Only forms that leave no doubt are read: of a query with one SELECT a column, as it is or in lower(),
upper() or trim(), beside a constant or a parameter; an aggregate of a column or of a CAST of one.
"""

import re
from collections import Counter, namedtuple
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dossier_empty import NUMBER_LIKE, Test, numbers_of, plain_number, short
from dossier_rewrite import Widths

_SECONDS = 0.3         # a query that took longer is not looked into: that would take as long again
_MOST_ROWS, _MOST_KINDS = 200_000, 9_000   # of one column
_TOKEN = re.compile(r"""--[^\n]*|/\*.*?\*/|(?P<text>'(?:[^']|'')*')|(?P<quoted>"(?:[^"]|"")*"|\[[^\]]*\]|`[^`]*`)
    |(?P<number>\d+(?:\.\d+)?)|(?P<word>[^\W\d]\w*)|(?P<mark>\?)|(?P<sign><=|>=|<>|!=|==|\|\||[^\s\w;])""",
                    re.VERBOSE | re.DOTALL)
_CLAUSES = ("select", "from", "where", "group", "having", "window", "order", "limit")
_MADE = {"lower": (("lower",),), "upper": (("upper",),), "trim": (("strip",),)}
_SIGNS = {"=": "==", "==": "==", "<>": "==", "!=": "==", "is": "==", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_WORDS = (*_CLAUSES, *"and or not null case when then else end in is like between distinct on".split())
_NUMBER = re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


_Token = namedtuple("_Token", "kind text begin end depth")   # the text without quotation marks
# `name`: the last part of t.name; `made`: as in Test; `end`: behind its tokens.
_Column = namedtuple("_Column", "name written made end", defaults=((), 0))


class _Query:
    """`clauses`: where each begins; none if there is more than one SELECT."""

    def __init__(self, query: str, params: Sequence[Any] = ()) -> None:
        self.query, self._params = query, params
        self.tokens: list[_Token] = []
        depth = 0
        for found in _TOKEN.finditer(query):
            kind, text = found.lastgroup, found[0]
            if kind in ("text", "quoted"):
                text = text[1:-1].replace(text[0] * 2, text[0])
            depth -= kind == "sign" and text == ")"
            if kind is not None:
                self.tokens.append(_Token(kind, text, found.start(), found.end(), depth))
            depth += kind == "sign" and text == "("
        words = [at for at, token in enumerate(self.tokens) if token.depth == 0 and self.is_(at, *_CLAUSES)]
        single = self.is_(0, "select") and sum(self.is_(at, "select") for at in range(len(self.tokens))) == 1
        self.clauses = {self.tokens[at].text.lower(): at for at in words} if single else {}

    def is_(self, at: int, *words: str) -> bool:
        token = self.tokens[at] if 0 <= at < len(self.tokens) else None
        return token is not None and token.kind in ("word", "sign") and token.text.lower() in words

    def behind(self, clause: str) -> int:
        """Where the clauses behind one begin."""
        names = _CLAUSES[_CLAUSES.index(clause) + 1:]
        return min((at for name, at in self.clauses.items() if name in names), default=len(self.tokens))

    def marks(self, at: int) -> int:
        return sum(token.kind == "mark" for token in self.tokens[:at])

    def rows(self, end: int) -> tuple[str, list[Any]]:
        """The clauses from FROM to a token, with their parameters."""
        begin = self.clauses["from"]
        return (self.query[self.tokens[begin].begin:self.tokens[end - 1].end],
                list(self._params)[self.marks(begin):self.marks(end)])

    def _value(self, at: int) -> Any:
        """A constant, None for none. A text in double quotation marks may be a column: it is a token."""
        token = self.tokens[at] if at < len(self.tokens) else self.tokens[0]
        if token.kind == "mark":
            return dict(enumerate(self._params)).get(self.marks(at))
        if token.kind == "number":
            return float(token.text) if "." in token.text else int(token.text)
        return {"text": token.text, "quoted": token}.get(token.kind)

    def column(self, at: int) -> _Column | None:
        """The column that begins at a token: name, t.name, lower(name)."""
        if self.is_(at, *_MADE) and self.is_(at + 1, "("):
            inner = self.column(at + 2)
            made = _MADE[self.tokens[at].text.lower()]
            return inner._replace(made=inner.made + made, end=inner.end + 1) \
                if inner is not None and self.is_(inner.end, ")") else None
        names: list[str] = []
        while at < len(self.tokens) and self.tokens[at].kind in ("word", "quoted") and not self.is_(at, *_WORDS):
            names.append(self.tokens[at].text)
            at += 1 + self.is_(at + 1, ".")
            if not self.is_(at - 1, "."):
                break
        return None if not names or self.is_(at, "(") else \
            _Column(names[-1], ".".join(f"[{name}]" for name in names), (), at)

    def tests(self) -> Iterator[tuple[_Column, str, tuple[Any, ...]]]:
        """A column, a sign of Test, and values."""
        for at in range(len(self.tokens)):
            inside = self.is_(at - 1, ".") or (self.is_(at - 1, "(") and self.is_(at - 2, *_MADE))
            column = None if inside else self.column(at)
            if column is None:
                continue
            sign = column.end + self.is_(column.end, "not")
            said = self._value(sign + 1)
            if self.is_(sign, *_SIGNS) and said is not None and not self.is_(sign + 2, *"*/+-%", "||", "collate"):
                yield column, _SIGNS[self.tokens[sign].text.lower()], (said,)
            elif self.is_(sign, "in") and self.is_(sign + 1, "("):
                end = next((i for i, token in enumerate(self.tokens)
                            if i > sign + 1 and token.depth == self.tokens[sign].depth), 0)
                items = tuple(map(self._value, range(sign + 2, end, 2)))
                if items and None not in items and all(self.is_(i, ",") for i in range(sign + 3, end, 2)):
                    yield column, "one of", items
            elif self.is_(sign, "like") and isinstance(said, str) and re.fullmatch("%?[^%_]+%?", said):
                form = {"%%": "in", "%": "end" if said[0] == "%" else "start"}
                yield column._replace(made=(("lower",),)), form.get("%" * said.count("%"), "=="), (said.strip("%").lower(),)

    def aggregates(self) -> Iterator[tuple[str, _Column, bool]]:
        """sum(a), avg(t.a), max(distinct a), sum(cast(a as integer)), and whether that makes whole
        numbers; `order by a limit 1` as min(a)."""
        for at in range(len(self.tokens)):
            if not self.is_(at, "sum", "total", "avg", "max", "min") or not self.is_(at + 1, "("):
                continue
            inner = at + 2 + self.is_(at + 2, "distinct")
            casts = self.is_(inner, "cast") and self.is_(inner + 1, "(")
            column = self.column(inner + 2 * casts)
            if column is None or column.made:
                continue
            end = column.end
            if self.is_(end, ")") if not casts else not self.is_(at, "max", "min") and self.is_(
                    end + 1, "int", "integer", "real", "float", "numeric") and self.is_(end + 2, ")"):
                yield self.tokens[at].text.lower(), column, self.is_(end + 1, "int", "integer")
        column = self.column(self.clauses["order"] + 2) if "order" in self.clauses else None
        if column is not None and column.end + self.is_(column.end, "asc", "desc") == self.clauses.get("limit"):
            yield "max" if self.is_(column.end, "desc") else "min", column, False


def without_limit(query: str) -> str:
    """The query without its LIMIT, where that cuts off rows that are in no order; else ""."""
    asked = _Query(query)
    at = 0 if "order" in asked.clauses else asked.clauses.get("limit", 0)
    number = asked.tokens[at + 1].text if at and at + 2 == len(asked.tokens) else "0"
    return query[:asked.tokens[at].begin] if number.isdecimal() and int(number) > 1 else ""


class Queries:
    """Of one block; forget() before the next."""

    def __init__(self, run: Callable[[str, list[Any]], list[dict[str, Any]]]) -> None:
        self._run = run
        self.forget()

    def forget(self) -> None:
        self.asked, self.unclear = dict[Test, Counter](), False   # something was not looked into

    def note(self, query: str, params: Sequence[Any], seconds: float) -> Iterator[str]:
        """Learns the conditions of a query that ran; gives sentences on texts that it misreads."""
        asked = _Query(query, params)
        if seconds > _SECONDS or "from" not in asked.clauses or any(
                token.text == "," and token.depth == 0   # each row of one table with each of another
                for token in asked.tokens[asked.clauses["from"]:asked.behind("from")]):
            self.unclear = True
            return
        tests = list(asked.tests())
        self.unclear = self.unclear or len(tests) < sum(
            asked.is_(at, *_SIGNS, "in", "like", "glob", "between", "match", "instr") and not asked.is_(
                at + 1, "not", "null") for at in range(asked.clauses.get("where", len(asked.tokens)), len(asked.tokens)))
        for column, sign, said in tests:
            counter = self._values(asked, column, asked.behind("from"))
            names = [_Column(item.text, f"[{item.text}]") for item in said if isinstance(item, _Token)]
            if not counter or any(self._values(asked, name, asked.behind("from")) for name in names):
                self.unclear = True   # no values, or a column in quotation marks
                continue
            wanted = tuple(_as_compared(item, counter) for item in said)
            test = Test(column.name, sign, wanted if sign == "one of" else wanted[0], column.made)
            self.asked[test] = self.asked.get(test, Counter()) | counter
        for function, column, whole in asked.aggregates():
            if counter := self._values(asked, column, asked.behind("where")):
                yield from _misread(function, column, whole, counter)

    def _values(self, asked: _Query, column: _Column, end: int) -> Counter | None:
        """How often which value stands in a column, of the rows that the clauses before `end` give."""
        home, params = asked.rows(end)
        try:
            count = self._run(f"SELECT count(*) AS n FROM (SELECT 1 {home} LIMIT {_MOST_ROWS + 1})", params)[0]["n"]
            rows = self._run(f"SELECT {column.written} AS v, count(*) AS n {home} GROUP BY 1 LIMIT {_MOST_KINDS}",
                             params) if count <= _MOST_ROWS else []
        except (ValueError, MemoryError):
            return None
        return Counter({row["v"]: row["n"] for row in rows}) if 0 < len(rows) < _MOST_KINDS else None


def _as_compared(value: Any, counter: Counter) -> Any:
    """A constant as SQLite compares it: as a number with numbers, as a text with texts."""
    value = value.text if isinstance(value, _Token) else value
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
