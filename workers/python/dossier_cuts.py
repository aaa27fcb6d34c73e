"""Which expressions of a block take a part of the rows by a fixed number, and what is made of it.

    parsed = Parsed("rows = records[:100]\nprint(sum(r['a'] for r in rows))")
    cut, = slices(parsed, {})
    Uses(parsed).of(cut)     # (False, [("rows", (1, 20))]): it is bound; the name is used later
"""

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from dossier_code import Parsed
from dossier_fold import Unknown, fold
from dossier_seek import field_of

SHOWS = {"print", "pprint", "display", "repr", "str", "dumps", "FINAL", "SUBMIT", "PARTIAL",
          "format", "type", "SHOW_VARS", "join"}
_KEEPS = {"list", "tuple", "iter", "enumerate", "reversed", "DataFrame", "copy", "to_list",
          "to_dict", "to_string", "tolist", "items", "dict", "reset_index", "splitlines", "split"}
_WHOLE = {"records", "readlines", "splitlines", "reader", "DictReader", "open", "read_csv",
          "read_json", "lines", "list", "iter", "enumerate", "tuple", "DataFrame", "split", "Path", "read_text",
          "read", "StringIO", "zip"}
_ORDERS = {"sorted", "sort", "sort_values", "nlargest", "nsmallest", "most_common",
           "reversed", "reverse"}
TAKES = {"islice": 0, "sample": 0, "choices": 0, "next": 0, "head": None, "tail": None, "grep": None,
         "search": None, "lines": None, "read": None, "slice": None}  # where the whole stands
_SEARCHES = {"findall", "finditer", "search", "match", "fullmatch", "group", "groups", "strip", "lower",
             "set"}
_TEXTS = {"context", "doc", "open", "splitlines", "readlines", "read_text", "read", "grep", "lines"}
_MODELS = {"llm_query", "llm_query_batched", "rlm_query", "rlm_query_batched"}
_DOCUMENTS = {"contexts", "context"}
_OF_DOCUMENT = {"text", "records", "doc", "lines", "name", "chars", "meta", "fields"}
_SAME_DOCUMENTS = {"list", "tuple", "sorted", "iter", "enumerate", "values", "keys", "items"}
_COUNTS = {"len", "sum", "Counter"}
ADDS = {"append", "add", "extend", "update"}
EDGE = 2  # rows or lines that a header or a last line may make


class Uses:
    """How the value of an expression is used, by what stands around it."""

    def __init__(self, parsed: Parsed) -> None:
        self._parsed = parsed
        self.to_models: set[ast.expr] = set()   # of those that of() was asked about

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: parent for parent in ast.walk(self._parsed.tree)
                for child in ast.iter_child_nodes(parent)}

    def tries_again(self, node: ast.Try, fixed: Mapping[str, Any]) -> bool:
        """Whether another way is tried where one fails: `for form in (…): try: return …` and `try:
        return … except: pass`, with more behind it than a constant."""
        if not any(isinstance(part, (ast.Return, ast.Break)) for part in node.body):
            return False
        parent = self.parents[node]
        if isinstance(parent, ast.For):
            return True
        behind = parent.body if node in getattr(parent, "body", []) else []
        following = behind[behind.index(node) + 1:][:1] if behind else []
        return bool(following) and not (isinstance(following[0], ast.Return)
                                        and (following[0].value is None
                                             or is_constant(following[0].value, fixed)))

    def bound_before(self, name: ast.Name) -> bool:
        """Whether the top level of the block binds a name before it reads it here."""
        return any(binding.name == name.id and binding.node.lineno < name.lineno
                   and not isinstance(binding.node, ast.AugAssign)
                   for binding in self._parsed.bindings)

    def of(self, node: ast.expr, kind: str) -> tuple[bool, list[tuple[str, tuple[int, int]]]]:
        """Whether a result is made of it, and the names that are bound to it, with where. What is
        searched for in a part of a "text" and shown is found; of "rows" it may be a choice; of "hits",
        the best first, only their number is in doubt."""
        passes = SHOWS | _KEEPS | TAKES.keys() | (_SEARCHES if kind != "rows" else set()) \
            | (_OF_DOCUMENT if kind == "documents" else set())
        child, names = node, []
        while (parent := self.parents.get(child)) is not None:
            if isinstance(parent, ast.comprehension):
                if child is not parent.iter or (parent.ifs and kind == "rows"):
                    return child is parent.iter, names
                parent = self.parents[parent]
            elif isinstance(parent, ast.For):
                if child is not parent.iter:
                    return False, names
                return self.gathers(parent, None, kind), [*names, *_filled(parent)]
            elif isinstance(parent, ast.Call) and child is not parent.func:
                name = called(parent)
                paired = name == "zip" and called(child) == "range"   # with so many rows
                if name == "zip" and not paired:   # zip(x, x[1:]) makes pairs
                    return False, names
                if name == "cite":
                    return False, names   # where it stands
                if name in _MODELS:
                    self.to_models.add(node)
                if kind == "documents" and name == "len" and (
                        child is node and base(node) == "context" or getattr(child, "attr", "") == "text"):
                    return False, names   # how long it is
                if name not in passes and not paired:
                    asked = isinstance(self.parents[parent], ast.Compare)   # len(hits) == 0
                    return kind != "hits" or name in _COUNTS and not asked, names
            elif isinstance(parent, ast.Attribute) and parent.attr == "total":
                return kind == "hits", names   # of other matches: all there are
            elif isinstance(parent, ast.Attribute):
                if parent.attr not in passes and kind != "hits":
                    return True, names
            elif isinstance(parent, (ast.Compare, ast.AugAssign)):
                return True, names
            elif isinstance(parent, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
                targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
                place = (parent.end_lineno or 0, parent.end_col_offset or 0)
                names += [(part.id, place) for target in targets for part in ast.walk(target)
                          if isinstance(part, ast.Name) and not isinstance(target, ast.Subscript)]
                if not isinstance(parent, ast.NamedExpr):
                    return False, names
            elif isinstance(parent, ast.Subscript) and not isinstance(parent.slice, ast.Slice) \
                    and not isinstance(getattr(parent.slice, "value", None), str):
                return False, names   # one row of it
            elif isinstance(parent, ast.Return):
                return False, [*names, *((home, (0, 0)) for home in self._functions_around(parent))]
            elif isinstance(parent, ast.stmt):
                return False, names
            child = parent
        return False, names

    def _functions_around(self, node: ast.AST) -> Iterator[str]:
        while (parent := self.parents.get(node)) is not None:
            if isinstance(parent, ast.FunctionDef):
                yield parent.name
            node = parent

    def kind(self, node: ast.expr) -> str:
        """Whether a part is of "text", lines of it or what was found there, of "documents", of "hits"
        of a search, or of "rows"."""
        if called(node) == "search":
            return "hits"
        if one_of_many(node) or called(node) == "next":
            return "documents"
        names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        bound = [binding.value for binding in self._parsed.bindings
                 if binding.name in names and binding.value is not None]
        words = {getattr(part, "attr", getattr(part, "id", ""))
                 for value in (node, *bound) for part in ast.walk(value)}
        return "text" if words & _TEXTS and not words & {"reader", "DictReader"} else "rows"

    def gathers(self, loop: ast.For, stop: ast.stmt | None, kind: str) -> bool:
        """Whether a loop counts, adds up or chooses, rather than shows what it goes through."""
        asks = {id(part) for part in ast.walk(self.parents[stop])} if stop is not None else set()
        counters = _pass_counters(loop) if kind != "hits" else set()
        for node in (part for statement in loop.body for part in ast.walk(statement)):
            if isinstance(node, ast.Compare) and id(node) not in asks and kind == "rows":
                return True
            if isinstance(node, ast.AugAssign) and base(node.target) not in counters:
                return True
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                return True
        return False


def slices(parsed: Parsed, fixed: Mapping[str, Any]) -> Iterator[ast.Subscript]:
    """x[:100], x[-100:], x[::10] with numbers that the code says itself, and x[:len(x) // 2]; not
    x + x[:100], which leaves nothing out."""
    firsts = {ast.unparse(node.value) for node in parsed.of(ast.Subscript)
              if isinstance(node.slice, ast.Constant) and node.slice.value == 0}
    items = {name.id for kind in (ast.For, ast.comprehension) for node in parsed.of(kind)
             for name in ast.walk(node.target) if isinstance(name, ast.Name)}
    added = {id(part) for node in parsed.of(ast.BinOp) if isinstance(node.op, ast.Add)
             for part, whole in ((node.left, node.right), (node.right, node.left))
             if isinstance(part, ast.Subscript) and ast.unparse(part.value) == ast.unparse(whole)}
    for node in parsed.of(ast.Subscript):
        if not isinstance(node.slice, ast.Slice) or not isinstance(node.ctx, ast.Load) \
                or id(node) in added or (base(node.value) if field_of(node.value) else getattr(node.value, "id", "")) in items:
            continue   # a part of a text, of one row or line
        lower, upper, step = (whole_number(bound, fixed)
                              for bound in (node.slice.lower, node.slice.upper, node.slice.step))
        text = ast.unparse(node.value)
        if text in firsts and (upper, step) == (None, None) and lower == 1:
            continue   # the first is taken by itself
        if (upper or 0) > 0 or (lower or 0) != 0 or upper is not None or (step or 1) > 1 \
                or any(_is_share(bound, text) for bound in (node.slice.lower, node.slice.upper)):
            yield node


def _is_share(bound: ast.expr | None, text: str) -> bool:
    """Whether a bound says nothing but a share of the length of what is cut."""
    lengths = {id(part): call for call in ast.walk(bound) if called(call) == "len"
               and [ast.unparse(argument) for argument in getattr(call, "args", ())] == [text]
               for part in ast.walk(call)} if bound is not None else {}
    return bool(lengths) and all(id(part) in lengths or getattr(part, "id", "int") in ("int", "round")
                                 for part in ast.walk(bound) if isinstance(part, ast.Name))


def ends_taken(parsed: Parsed, fixed: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """rows[-1], rows[-3:], rows.tail(3): the rows, and how many at their end."""
    for node in parsed.of(ast.Subscript):
        part = node.slice
        first = part.lower if isinstance(part, ast.Slice) and part.upper is part.step is None else part
        if isinstance(node.ctx, ast.Load) and (number := whole_number(first, fixed)) and number < 0:
            yield ast.unparse(node.value), -number
    for call in parsed.of(ast.Call):
        if called(call) == "tail" and isinstance(call.func, ast.Attribute):
            count = whole_number(call.args[0], fixed) if call.args else 5
            yield ast.unparse(call.func.value), count or 0


def one_of_many(node: ast.AST) -> bool:
    """x[3]"""
    return isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice)


def of_documents(parsed: Parsed, names: set[str], fixed: Mapping[str, Any]) -> Iterator[ast.Subscript]:
    """contexts[3], contexts["jan.csv"] and docs[0] of a list of them. `names` stand for such lists;
    learns more."""
    for binding in parsed.bindings:
        if isinstance(binding.node, (ast.Assign, ast.AnnAssign)) and binding.value is not None:
            (names.add if is_documents(binding.value, names) else names.discard)(binding.name)
    for node in parsed.of(ast.Subscript):
        if isinstance(node.ctx, ast.Load) and not isinstance(node.slice, ast.Slice) \
                and is_documents(node.value, names) and (
                    whole_number(node.slice, fixed) is not None or names_document(node)):
            yield node


def names_document(node: ast.Subscript) -> bool:
    """contexts["jan.csv"]"""
    return base(node) == "contexts" and isinstance(getattr(node.slice, "value", None), str)


def is_documents(node: ast.expr, names: Collection[str] = ()) -> bool:
    """Whether an expression is all documents, one way or the other: their names, texts or rows."""
    if isinstance(node, ast.Name):
        return node.id in _DOCUMENTS or node.id in names
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return len(node.generators) == 1 and not node.generators[0].ifs \
            and is_documents(node.generators[0].iter, names)
    if not isinstance(node, ast.Call) or called(node) not in _SAME_DOCUMENTS or node.keywords:
        return False
    whole = node.args[0] if node.args else getattr(node.func, "value", None)
    return whole is not None and is_documents(whole, names)


def takes(parsed: Parsed, fixed: Mapping[str, Any]) -> Iterator[ast.Call]:
    patterns = {binding.name for binding in parsed.bindings if called(binding.value) == "compile"}
    for node in parsed.of(ast.Call):
        name = called(node)
        if name == "search" and base(node.func) in {"re", "regex", *patterns}:
            continue
        if name in ("lines", "slice") and not all(is_constant(item, fixed) for item in node.args):
            continue   # part by part
        if name == "next" and not (node.args and called(node.args[0]) == "iter"):
            continue
        if name not in TAKES or any(isinstance(item, ast.Starred) for item in node.args):
            continue
        module = isinstance(node.func, ast.Name) or base(node.func.value) in ("itertools", "random")
        if TAKES[name] == 0 and module and node.args and (
                is_documents(node.args[0]) or name != "next" and _is_whole(node.args[0], parsed)):
            yield node
        elif TAKES[name] is None and isinstance(node.func, ast.Attribute) \
                and (node.args or name == "head" or name == "tail"):
            yield node


def indexed(parsed: Parsed, fixed: Mapping[str, Any]) -> Iterator[tuple[ast.expr, str]]:
    """`range(100)` of a loop that takes rows[i] or of zip(range(100), rows), the bound of `while i <
    100`, and the name of the rows."""
    for loop in parsed.of(ast.While):
        test = loop.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Lt) \
                and isinstance(test.left, ast.Name) and whole_number(test.comparators[0], fixed):
            yield from ((test.comparators[0], rows) for rows in _taken_by(test.left.id, loop))
    loops = [(node, node) for node in parsed.of(ast.For)]
    loops += [(part, node) for kind in (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
              for node in parsed.of(kind) for part in node.generators]
    for node, around in loops:
        if called(node.iter) == "zip":
            rows = [part.id for part in node.iter.args if isinstance(part, ast.Name)]
            yield from ((part, rows[0]) for part in node.iter.args if rows and _fixed_range(part, fixed))
        elif isinstance(node.target, ast.Name) and _fixed_range(node.iter, fixed):
            yield from ((node.iter, rows) for rows in _taken_by(node.target.id, around))


def _fixed_range(node: ast.expr, fixed: Mapping[str, Any]) -> bool:
    return isinstance(node, ast.Call) and called(node) == "range" \
        and all(whole_number(bound, fixed) is not None for bound in node.args)


def _taken_by(index: str, loop: ast.AST) -> list[str]:
    """The name of what a loop takes by an index, if it takes something by it."""
    return [part.value.id for part in ast.walk(loop)
            if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name)
            and isinstance(part.slice, ast.Name) and part.slice.id == index
            and isinstance(part.ctx, ast.Load)][:1]


def _is_whole(node: ast.expr, parsed: Parsed) -> bool:
    """Whether an expression is all rows or lines, one way or the other, and no choice of them."""
    for _ in range(8):
        if isinstance(node, ast.Call):
            name = called(node)
            if name not in _WHOLE:
                return False
            if not node.args or name in ("split", "open", "lines"):
                return True
            node = node.args[0]
        elif isinstance(node, ast.Attribute):
            return node.attr == "records"
        elif isinstance(node, ast.Name):
            values = [binding.value for binding in parsed.bindings if binding.name == node.id]
            if not values:
                return node.id in ("records", "context", "doc")
            if len(values) > 1 or values[0] is None:
                return any(getattr(item.optional_vars, "id", "") == node.id
                           for statement in parsed.of(ast.With) for item in statement.items)
            node = values[0]
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            if len(node.generators) != 1 or node.generators[0].ifs:
                return False
            node = node.generators[0].iter
        else:
            return False
    return False


def stops(parsed: Parsed, fixed: Mapping[str, Any]) -> Iterator[tuple[ast.For, ast.stmt, int]]:
    """Loops over all rows that break or return after a fixed number of passes, whatever the rows say."""
    for loop in parsed.of(ast.For):
        if not _is_whole(loop.iter, parsed) and not is_documents(loop.iter):
            continue
        counters = _pass_counters(loop)
        for statement in loop.body:
            if not isinstance(statement, ast.If) or not isinstance(statement.body[-1], (ast.Break, ast.Return)):
                continue
            names = {node.id for node in ast.walk(statement.test) if isinstance(node, ast.Name)}
            if names & counters and not names - counters - fixed.keys() - {"len"}:
                numbers = [whole_number(part, fixed) for part in ast.walk(statement.test)
                           if isinstance(part, (ast.Constant, ast.Name))]
                yield loop, statement.body[-1], next((found for found in numbers if found), 0)


def _pass_counters(loop: ast.For) -> set[str]:
    """Names that count the passes of a loop: of enumerate(), `n += 1`, a list that each pass adds
    to."""
    counters = {base(part.target) for part in loop.body if isinstance(part, ast.AugAssign)
                and isinstance(part.value, ast.Constant)}
    counters |= {name for name, _ in _filled(loop, deep=False)}
    if getattr(getattr(loop.iter, "func", None), "id", "") == "enumerate" \
            and isinstance(loop.target, ast.Tuple):
        counters.add(base(loop.target.elts[0]))
    return counters - {""}


def _filled(loop: ast.For, *, deep: bool = True) -> list[tuple[str, tuple[int, int]]]:
    """The lists that a loop adds to, and where the loop ends."""
    body: Iterable[ast.AST] = (part for node in loop.body for part in ast.walk(node)) if deep else \
        (node.value for node in loop.body if isinstance(node, ast.Expr))
    end = loop.end_lineno or 0, loop.end_col_offset or 0
    return [(base(node.func.value), end) for node in body if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            and node.func.attr in ADDS and base(node.func.value)]


def ordered_names(parsed: Parsed) -> Iterator[str]:
    for call in parsed.of(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in _ORDERS:
            yield base(call.func.value)
    for node in parsed.of(ast.Assign):
        if orders(node.value):
            yield from map(base, node.targets)


def orders(node: ast.AST) -> bool:
    return any(called(call) in _ORDERS
               for call in ast.walk(node) if isinstance(call, ast.Call))


def is_constant(node: ast.expr, names: Mapping[str, Any]) -> bool:
    try:
        fold(node, names)
    except Unknown:
        return False
    return True


def whole_number(node: ast.expr | None, names: Mapping[str, Any]) -> int | None:
    try:
        value = fold(node, names) if node is not None else None
    except Unknown:
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def called(node: ast.AST) -> str:
    """The name of what is called, "" where nothing is."""
    function = getattr(node, "func", None)
    return getattr(function, "attr", getattr(function, "id", ""))


def base(node: ast.AST) -> str:
    """The name at the left of `x.y[z]`."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
