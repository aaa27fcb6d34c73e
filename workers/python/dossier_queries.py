"""What SQL that code ran asks of the data, so that it is checked as conditions in Python are.

    queries = Queries(run)                  # run(query, params) gives rows
    list(queries.note("SELECT sum(a) FROM records WHERE city = 'oslo'", [], seconds=0.01))
    # ["sum() reads 3 texts of a as another number than they say, such as '1,093' as 1"]
    queries.asked     # {Test("city", "==", "oslo"): Counter({"Oslo": 92, "Rome": 97})}
    without_limit("SELECT id FROM records LIMIT 50")   # "SELECT id FROM records"

Only forms that leave no doubt are read: a column, as it is or in lower(), upper() or trim(), beside a
constant or a parameter; an aggregate of a column or of a CAST of one. All else is passed over.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from dossier_empty import NUMBER_LIKE, Test, numbers_of, plain_number, short
from dossier_rewrite import Widths

_SECONDS = 0.3         # a query that took longer is not looked into: that would take as long again
_MOST_ROWS = 200_000   # that a column is read of
_MOST_KINDS = 9_000
_TOKEN = re.compile(r"""--[^\n]*|/\*.*?\*/|(?P<text>'(?:[^']|'')*')|(?P<quoted>"(?:[^"]|"")*"|\[[^\]]*\]|`[^`]*`)
    |(?P<number>\d+(?:\.\d+)?)|(?P<word>[^\W\d]\w*)|(?P<mark>\?)|(?P<sign><=|>=|<>|!=|==|\|\||[^\s\w;])""",
                    re.VERBOSE | re.DOTALL)
_CLAUSES = ("from", "where", "group", "having", "window", "order", "limit")
_COMPOUND = ("union", "except", "intersect")
_MADE = {"lower": (("lower",),), "upper": (("upper",),), "trim": (("strip",),)}
_SIGNS = {"=": "==", "==": "==", "<>": "==", "!=": "==", "is": "==", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_WORDS = (*_CLAUSES, "and", "or", "not", "null", "case", "when", "then", "else", "end", "in", "is", "like",
          "between", "select", "distinct", "on")
_NUMBER = re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


class _Token(NamedTuple):
    kind: str
    text: str   # without quotation marks
    begin: int
    end: int
    depth: int

    def is_(self, *words: str) -> bool:
        return self.kind in ("word", "sign") and self.text.lower() in words


class _Column(NamedTuple):
    name: str      # the last part of t.name
    written: str
    made: tuple[tuple[str, ...], ...]
    end: int       # behind its tokens


class _Select(NamedTuple):
    first: int                # of its tokens
    last: int
    clauses: dict[str, int]   # where each begins
    own: list[int]            # its tokens that stand in no SELECT inside it

    def behind(self, clause: str) -> int:
        """Where the clauses behind one begin."""
        names = _CLAUSES[_CLAUSES.index(clause) + 1:]
        return min([at for name, at in self.clauses.items() if name in names], default=self.last)


def without_limit(query: str) -> str:
    """The query without its LIMIT, where that cuts off rows that are in no order; else ""."""
    tokens = _tokens(query)
    outer = next((select for select in _selects(tokens) if tokens[select.first].depth == 0), None)
    at = outer.clauses.get("limit", 0) if outer is not None and "order" not in outer.clauses else 0
    number = tokens[at + 1].text if at and at + 2 == len(tokens) else "0"
    return query[:tokens[at].begin] if number.isdecimal() and int(number) > 1 else ""


class Queries:
    """Of one block; forget() before the next."""

    def __init__(self, run: Callable[[str, list[Any]], list[dict[str, Any]]]) -> None:
        self._run = run
        self.forget()

    def forget(self) -> None:
        self.asked: dict[Test, Counter] = {}
        self.unclear = False   # something was asked that was not looked into

    def note(self, query: str, params: Sequence[Any], seconds: float) -> Iterator[str]:
        """Learns the conditions of a query that ran, and gives a sentence for each aggregate over texts
        that SQLite does not read as what they say."""
        tokens = _tokens(query)
        marks = [sum(token.kind == "mark" for token in tokens[:at]) for at in range(len(tokens) + 1)]
        self.unclear = self.unclear or seconds > _SECONDS
        for select in _selects(tokens) if seconds <= _SECONDS else ():
            def values(column: _Column, end: int) -> Counter | None:
                return self._values(query, tokens, select, column, end, list(params)[marks[select.clauses["from"]]:marks[end]])

            tests = list(_tests(tokens, select, params, marks))
            self.unclear = self.unclear or len(tests) < sum(
                tokens[at].is_(*_SIGNS, "in", "like", "glob", "between", "match", "instr")
                for at in select.own if at >= select.clauses.get("where", select.last)
                and not tokens[min(at + 1, select.last - 1)].is_("not", "null"))
            for column, sign, said in tests if "from" in select.clauses else ():
                counter = values(column, select.behind("from"))
                quoted = [item for item in (said if sign == "one of" else (said,)) if isinstance(item, _Token)]
                if not counter or any(values(_Column(item.text, f"[{item.text}]", (), 0), select.behind("from"))
                                      for item in quoted):
                    self.unclear = True   # no values, or a column in quotation marks
                    continue
                wanted = tuple(_as_compared(item, counter) for item in (said if sign == "one of" else (said,)))
                test = Test(column.name, sign, wanted if sign == "one of" else wanted[0], column.made)
                self.asked[test] = self.asked.get(test, Counter()) | counter
            for function, column, whole in _aggregates(tokens, select) if "from" in select.clauses else ():
                if counter := values(column, select.behind("where")):
                    yield from _misordered(function, column, counter) if function in ("max", "min") \
                        else _misread(function, column, whole, counter)

    def _values(self, query: str, tokens: list[_Token], select: _Select, column: _Column, end: int,
                params: list[Any]) -> Counter | None:
        """How often which value stands in a column, of the rows that the clauses before `end` give."""
        first, begin = tokens[select.first], select.clauses["from"]
        if any(token.text == "," and token.depth == first.depth
               for token in tokens[begin:select.behind("from")]):
            return None   # all rows of one table with all of another
        home = query[tokens[begin].begin:tokens[end - 1].end]
        outer = next((token for token in tokens if token.is_("select") and token.depth == 0), first)
        prefix = query[:outer.begin]   # WITH
        try:
            count = self._run(f"{prefix} SELECT count(*) AS n FROM (SELECT 1 {home} LIMIT {_MOST_ROWS + 1})", params)
            rows = self._run(f"{prefix} SELECT {column.written} AS v, count(*) AS n {home} GROUP BY 1 "
                             f"LIMIT {_MOST_KINDS}", params) if count[0]["n"] <= _MOST_ROWS else []
        except (ValueError, MemoryError):
            return None
        return Counter({row["v"]: row["n"] for row in rows}) if 0 < len(rows) < _MOST_KINDS else None


def _tokens(query: str) -> list[_Token]:
    tokens, depth = [], 0
    for found in _TOKEN.finditer(query):
        kind, text = found.lastgroup, found[0]
        if kind in ("text", "quoted"):
            text = text[1:-1].replace(text[0] * 2, text[0])
        depth -= kind == "sign" and text == ")"
        if kind is not None:
            tokens.append(_Token(kind, text, found.start(), found.end(), depth))
        depth += kind == "sign" and text == "("
    return tokens


def _selects(tokens: list[_Token]) -> list[_Select]:
    found: list[_Select] = []
    for first in reversed([at for at, token in enumerate(tokens) if token.is_("select")]):
        depth = tokens[first].depth
        last = next((at for at in range(first + 1, len(tokens)) if tokens[at].depth < depth or (
            tokens[at].depth == depth and tokens[at].is_(*_COMPOUND))), len(tokens))
        clauses: dict[str, int] = {}
        for at in range(first + 1, last):
            if tokens[at].depth == depth and tokens[at].is_(*_CLAUSES):
                clauses.setdefault(tokens[at].text.lower(), at)
        inner = {at for other in found if first < other.first < last for at in range(other.first, other.last)}
        found.append(_Select(first, last, clauses, [at for at in range(first, last) if at not in inner]))
    return found


def _column(tokens: list[_Token], at: int) -> _Column | None:
    """The column that begins at a token: name, t.name, lower(name)."""
    if at + 1 < len(tokens) and tokens[at].is_(*_MADE) and tokens[at + 1].is_("("):
        inner = _column(tokens, at + 2)
        closed = inner is not None and inner.end < len(tokens) and tokens[inner.end].is_(")")
        return inner._replace(made=inner.made + _MADE[tokens[at].text.lower()], end=inner.end + 1) \
            if inner is not None and closed else None
    names: list[str] = []
    while at < len(tokens) and tokens[at].kind in ("word", "quoted") and not tokens[at].is_(*_WORDS):
        names.append(tokens[at].text)
        at += 1
        if at >= len(tokens) or not tokens[at].is_("."):
            break
        at += 1
    if not names or (at < len(tokens) and tokens[at].is_("(")):
        return None
    return _Column(names[-1], ".".join(f"[{name}]" for name in names), (), at)


def _tests(tokens: list[_Token], select: _Select, params: Sequence[Any], marks: list[int]
           ) -> Iterator[tuple[_Column, str, Any]]:
    """A column, a sign of Test and a value, or several for "one of". A text in double quotation marks,
    which may be a column, stays a token."""
    def value(at: int) -> Any:
        token = tokens[at] if at < select.last else tokens[select.first]
        if token.kind == "mark":
            return params[marks[at]] if marks[at] < len(params) else None
        number = token.kind == "number" and float(token.text)
        return (int(number) if "." not in token.text else number) if token.kind == "number" else \
            token.text if token.kind == "text" else token if token.kind == "quoted" else None

    def is_(at: int, *words: str) -> bool:
        return at < select.last and tokens[at].is_(*words)

    for at in select.own:
        column = None if is_(at - 1, ".") or (is_(at - 1, "(") and is_(at - 2, *_MADE)) else _column(tokens, at)
        if column is None:
            continue
        sign = column.end + is_(column.end, "not")
        said = value(sign + 1)
        if is_(sign, *_SIGNS) and said is not None and not is_(sign + 2, "*", "/", "+", "-", "||", "%"):
            if is_(sign + 2, "collate") and is_(sign + 3, "nocase") and isinstance(said, str):
                column, said = column._replace(made=(("lower",),)), said.lower()
            yield column, _SIGNS[tokens[sign].text.lower()], said
        elif is_(sign, "in") and is_(sign + 1, "("):
            end = next((i for i in range(sign + 2, select.last) if tokens[i].depth == tokens[sign].depth), 0)
            items = tuple(value(i) for i in range(sign + 2, end, 2))
            if items and None not in items and all(is_(i, ",") for i in range(sign + 3, end, 2)):
                yield column, "one of", items
        elif is_(sign, "like") and isinstance(said, str) and said.strip("%") and not re.search("[%_]", said.strip("%")):
            form = {(True, True): "in", (True, False): "end", (False, True): "start"}
            yield (column._replace(made=(("lower",),)), form.get((said[0] == "%", said[-1] == "%"), "=="),
                   said.strip("%").lower())


def _as_compared(value: Any, counter: Counter) -> Any:
    """A constant as SQLite compares it: as a number with numbers, as a text with texts."""
    value = value.text if isinstance(value, _Token) else value
    kinds = {type(item) for item in counter if item is not None}
    if isinstance(value, str) and kinds & {int, float} and _NUMBER.fullmatch(value):
        return float(value)
    return str(value) if type(value) in (int, float) and kinds == {str} else value


def _aggregates(tokens: list[_Token], select: _Select) -> Iterator[tuple[str, _Column, bool]]:
    """sum(a), avg(t.a), max(distinct a), sum(cast(a as integer)), whether a whole number is made; and
    `order by a limit 1` as min(a)."""
    def is_(at: int, *words: str) -> bool:
        return at < select.last and tokens[at].is_(*words)

    for at in select.own:
        if not is_(at, "sum", "total", "avg", "max", "min") or not is_(at + 1, "("):
            continue
        inner = at + 2 + is_(at + 2, "distinct")
        casts = is_(inner, "cast") and is_(inner + 1, "(")
        column = _column(tokens, inner + 2 if casts else inner)
        if column is None or column.made:
            continue
        to_whole = casts and is_(column.end + 1, "int", "integer")
        cast = casts and is_(column.end, "as") and is_(column.end + 2, ")") and not is_(at, "max", "min")
        if cast and (to_whole or is_(column.end + 1, "real", "float", "numeric")) or \
                not casts and is_(column.end, ")"):
            yield tokens[at].text.lower(), column, to_whole
    order = select.clauses.get("order")
    column = _column(tokens, order + 2) if order is not None else None
    if column is not None and not column.made:
        end = column.end + is_(column.end, "asc", "desc")
        if end == select.clauses.get("limit"):
            yield ("max" if is_(end - 1, "desc") else "min"), column, False


def _misordered(function: str, column: _Column, counter: Counter) -> Iterator[str]:
    said: list[str] = []
    widths, texts = Widths(said.append), [value for value in counter if isinstance(value, str)]
    if texts and all(map(widths.count, texts)):
        widths.tell(f"{function}({column.name})", max(texts) if function == "max" else min(texts))
    yield from said


def _misread(function: str, column: _Column, whole: bool, counter: Counter) -> Iterator[str]:
    wrong: dict[str, tuple[int, str]] = {}
    for value, count in counter.items():
        found = _NUMBER.match(value) if isinstance(value, str) else None
        read = (found[0].strip().split(".")[0] if whole else found[0].strip()) if found else "0"
        says = numbers_of(value) if isinstance(value, str) and NUMBER_LIKE.fullmatch(value) else []
        if isinstance(value, str) and (says[0] != plain_number(read.lstrip("+-")) if says
                                       else function == "avg" and not found):
            wrong[value] = count, read
    for value, (_, read) in list(wrong.items())[:1]:
        yield (f"{function}() reads {sum(count for count, _ in wrong.values()):,} texts of {column.name} as "
               f"another number than they say, such as {short(value)} as {read}")
