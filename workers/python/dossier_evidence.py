"""What the output of a block stands on: the data, or nothing but what the code itself says.

    evidence = Evidence()
    evidence.judge(Parsed("n = 100\nprint(n)"))      # (False, ["100"]): no data was touched
    evidence.judge(Parsed("print(len(records), 7)"))  # (True, ["7"]): the 7 was typed in

The host lets an answer stand only on what came out of data: of an output it takes away the texts
that were typed in, and the output of a block that touched no data counts for nothing. Typed in is
also what code makes of nothing but constants: '13' + '43', int('0x53f', 16), '3431'[::-1]. A choice
that data make between constants is not: [1343, 0][len(records) == 0].
"""

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from itertools import groupby
from typing import Any

from dossier_code import Parsed, is_name
from dossier_fold import PURE, Unknown, bound, fold

# What hands data to code; a name that was computed from one of these holds data, too.
_DATA = {"records", "context", "contexts", "doc", "contextMeta", "history", "open", "Path",
         "pathlib", "glob", "os", "sql", "globals", "eval", "exec", "llm_query",
         "llm_query_batched", "rlm_query", "rlm_query_batched", "map_llm", "memory_search",
         "memory_get", "read_csv", "read_json"}
_HANDS_OVER = {"FINAL", "FINAL_VAR", "SUBMIT", "PARTIAL"}
_SHOWS = {"print", "pprint", "display"}
_WRITES = re.compile(r"(sys\.)?_*std(out|err)_*(\.buffer)?\.write(lines)?|os\.write|pprint\.pprint"
                     r"|(logging|logger|log)\.\w+|warnings\.warn")
# What hands its texts on, so that those beside data are found: str(x), ", ".join([x, y]).
_CONVERTS = {"str", "int", "float", "round", "repr", "format", "strip", "join", "dumps", "replace"}
# Their second argument is what they give where nothing is there.
_FALLBACKS = {"get", "pop", "setdefault", "next", "getattr"}
_MOST_TYPED = 1 << 20  # characters of all literals that a block shows; above, it is no evidence


class Evidence:
    """Remembers over the blocks of a session which names hold data and which a literal."""

    def __init__(self) -> None:
        self._data: set[str] = set()            # names computed from data
        self.fixed: dict[str, Any] = {}         # names that hold what was typed in
        self._returns: dict[str, Any] = {}      # functions that return nothing else

    def judge(self, parsed: Parsed) -> tuple[bool, list[str]]:
        """Whether the block touches data, and the texts that it shows or hands over as typed."""
        touches = bool(parsed.reads & _DATA or parsed.reads & self._data)
        self._learn(parsed, touches)
        shown: list[str] = []
        for value in _shown(parsed):
            shown += self._literals(value, depth=0)
        for call in parsed.of(ast.Call):
            if getattr(call.func, "id", "") == "print":
                shown += self._joined(call)
        texts = [*dict.fromkeys(text.strip() for text in shown if text.strip())]
        if sum(map(len, texts)) > _MOST_TYPED:
            return False, []
        return touches, texts

    def note_read(self, parsed: Parsed) -> None:
        """The block has read documents in a way that its names do not tell."""
        self._learn(parsed, touches=True)

    def chosen(self, parsed: Parsed, namespace: Mapping[str, Any]) -> list[str]:
        """The texts of constants that a branch behind `except` bound to a name that is shown, where
        the name holds them now that the block has run, or that it bound or returned in a function.
        Zero and nothing are judged elsewhere."""
        shown = {part.id for value in _shown(parsed) for part in ast.walk(value)
                 if isinstance(part, ast.Name)}
        inside = {handler for function in parsed.of(ast.FunctionDef)
                  for handler in ast.walk(function) if isinstance(handler, ast.ExceptHandler)}
        texts: list[str] = []
        for handler in parsed.of(ast.ExceptHandler):
            for node in ast.walk(handler):
                for name, value in _bound_or_returned(node):
                    texts += [str(found) for found in self._values(value)
                              if isinstance(found, (str, int, float)) and found
                              and (handler in inside
                                   or (name in shown and namespace.get(name) == found))]
        return texts

    def _learn(self, parsed: Parsed, touches: bool) -> None:
        """A name that is bound at the top only, to constants, is what they make; a function that
        only returns such a value stands for it."""
        names = [name for name, _, _ in parsed.bindings]
        for name in names:
            self.fixed.pop(name, None)
            self._returns.pop(name, None)
            self._data.discard(name)
        everywhere = Counter(names)
        at_top = Counter(name for node in parsed.tree.body for name in _names_bound(node))
        for node in parsed.tree.body:
            for name, value in self._bindings(node):
                if at_top[name] == everywhere[name]:
                    self.fixed[name] = value
            if isinstance(node, (ast.FunctionDef, ast.Assign)):
                self._returns |= {name: value for name, result in _only_result(node)
                                  for value in self._values(result)}
        changed = {name for name in _changed(parsed)
                   if isinstance(self.fixed.get(name), (list, dict, set))}
        for name in changed:
            del self.fixed[name]
        if touches:
            modules = {name for name, node, _ in parsed.bindings
                       if isinstance(node, (ast.Import, ast.ImportFrom))}
            self._data |= changed.union(names).difference(self.fixed, self._returns, modules)

    def _bindings(self, node: ast.stmt) -> Iterator[tuple[str, Any]]:
        """The names that a statement binds to what constants make; forgets the others it binds."""
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            left = ast.Name(node.target.id, ast.Load())
            found = list(self._values(ast.BinOp(left, node.op, node.value)))
            targets: list[ast.expr] = [node.target]
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            found = list(self._values(node.value))
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        else:
            return
        for name in _names_bound(node):
            self.fixed.pop(name, None)
        for value in found:
            for target in targets:
                yield from bound(target, value)

    def _values(self, node: ast.expr) -> Iterator[Any]:
        """The value of `node`, or nothing if it is not made of constants alone."""
        try:
            yield fold(node, self.fixed)
        except Unknown:
            return

    def _literals(self, value: ast.expr, depth: int) -> Iterator[str]:
        """The texts of `value` that the code says itself. A choice that data made between two
        literals (`a if n > 3 else b`) is none of them."""
        if depth > 8:
            return
        known = False
        if isinstance(value, ast.Call) and getattr(value.func, "id", "") in self._returns:
            yield from _texts(self._returns[value.func.id])
        for found in self._values(value):
            yield from _texts(found)
            known = True
        if known and not isinstance(value, (ast.BinOp, ast.JoinedStr)):
            return
        for part in [*_parts(value), *self._chosen_parts(value)]:
            yield from self._literals(part, depth + 1)

    def _chosen_parts(self, value: ast.expr) -> Iterator[ast.expr]:
        """Of `data and 1343`, `max(1343, data)`, `d.get(key, 1343)` and `next(rows, 1343)` the
        constants: if the value is one of them, the code said it. Zero, a common floor, is none."""
        if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.And):
            choices = value.values
        elif isinstance(value, ast.Call) and getattr(value.func, "id", "") in ("max", "min") \
                and len(value.args) > 1:
            choices = value.args
        elif isinstance(value, ast.Call):
            called = getattr(value.func, "attr", getattr(value.func, "id", ""))
            choices = value.args[1:2] if called in _FALLBACKS else []
            choices += [keyword.value for keyword in value.keywords if keyword.arg == "default"]
        else:
            return
        yield from (item for item in choices if any(self._values(item)))

    def _joined(self, call: ast.Call) -> Iterator[str]:
        """What print() makes of constants that follow each other."""
        separators = [keyword.value for keyword in call.keywords if keyword.arg == "sep"]
        for separator in self._values(separators[0] if separators else ast.Constant(" ")):
            values = [list(self._values(item)) for item in call.args]
            for _, group in groupby(values, key=bool):
                texts = [str(value) for found in group for value in found]
                if len(texts) > 1 and isinstance(separator, str):
                    yield separator.join(texts)


def _names_bound(node: ast.stmt) -> Iterator[str]:
    """The names that an assignment at the top binds."""
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from (part.id for part in ast.walk(target)
                        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))


def _bound_or_returned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """What a statement binds to names or returns ("")."""
    if isinstance(node, ast.Assign):
        yield from ((target.id, node.value) for target in node.targets
                    if isinstance(target, ast.Name))
    elif isinstance(node, ast.Return) and node.value is not None:
        yield "", node.value


def _only_result(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """A function by its name with its only result, if it returns at its end and nowhere else."""
    if isinstance(node, ast.FunctionDef):
        results = [part for part in ast.walk(node) if isinstance(part, ast.Return)]
        if len(results) == 1 and node.body[-1] is results[0] and results[0].value is not None:
            yield node.name, results[0].value
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
        yield from ((target.id, node.value.body) for target in node.targets
                    if isinstance(target, ast.Name))


def _texts(value: Any) -> Iterator[str]:
    """The texts by which a value is shown: those of its items, if it has such."""
    if isinstance(value, bytes):
        yield value.decode(errors="replace")
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
        yield str(value)
    elif isinstance(value, dict):
        yield from _texts([*value, *value.values()])
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from _texts(item)


def _parts(value: ast.expr) -> list[ast.expr]:
    """The expressions whose texts stand in what `value` shows."""
    if isinstance(value, ast.JoinedStr):
        return value.values
    if isinstance(value, (ast.FormattedValue, ast.Starred, ast.NamedExpr)):
        return [value.value]
    if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
        return value.elts
    if isinstance(value, ast.Dict):
        return [part for part in [*value.keys, *value.values] if part is not None]
    if isinstance(value, ast.BinOp):
        return [value.left, value.right]
    if isinstance(value, ast.Call):
        name = getattr(value.func, "attr", getattr(value.func, "id", ""))
        owner = [value.func.value] if isinstance(value.func, ast.Attribute) else []
        return [*value.args, *owner] if name in _CONVERTS else []
    return []


def _changed(parsed: Parsed) -> Iterator[str]:
    """The names whose value the block may change without binding them: `found.append(row)`."""
    for node in parsed.of(ast.Attribute):
        if node.attr not in PURE:
            yield _dotted(node.value)
    for node in parsed.of(ast.Subscript):
        if not isinstance(node.ctx, ast.Load):
            yield _dotted(node.value)
    for node in parsed.of(ast.Call):
        if getattr(node.func, "attr", getattr(node.func, "id", "")) not in PURE | _SHOWS:
            yield from map(_dotted, node.args)


def _shown(parsed: Parsed) -> Iterator[ast.expr]:
    """What the block prints, shows as its last expression or hands over as its answer."""
    for node in parsed.of(ast.Call):
        name = getattr(node.func, "id", "")
        if name in ("FINAL_VAR", "SUBMIT"):  # they take the name of a variable, too
            given = [*node.args, *(word.value for word in node.keywords if word.arg == "variable")]
            yield from (ast.Name(part.value, ast.Load()) for part in given
                        if isinstance(part, ast.Constant) and isinstance(part.value, str))
        if name in _SHOWS or name in _HANDS_OVER or _WRITES.fullmatch(_dotted(node.func)):
            yield from node.args
            yield from (keyword.value for keyword in node.keywords if keyword.arg is not None)
        elif isinstance(node.func, ast.Attribute) and _is_answer(node.func.value):
            yield from (keyword.value for keyword in node.keywords)
            yield from node.args
    for node in parsed.of(ast.Assign):
        for target in node.targets:
            if _is_answer(target) or (isinstance(target, ast.Subscript)
                                      and _is_answer(target.value)):
                yield node.value
    last: Any = parsed.last
    if isinstance(last, (ast.Expr, ast.Assign)):
        yield last.value


def _dotted(node: ast.expr) -> str:
    """`sys.stdout.write`; "" for what is more than names."""
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value)
        return owner and f"{owner}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _is_answer(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "answer"


def reads_whole_context(parsed: Parsed, documents: int) -> bool:
    """Whether the block uses `context` in another way than by its length, by slices of it or of its
    lines, by one document of several, and by another name for it."""
    names = parsed.context_names
    if not names & parsed.reads:
        return False
    used = sum(node.id in names and isinstance(node.ctx, ast.Load) for node in parsed.of(ast.Name))
    parts = len(parsed.context_parts) if documents == 1 else 0
    parts += sum(_takes_part(node, names, documents) for node in parsed.of(ast.Subscript))
    sizes = sum(getattr(node.func, "id", "") == "len" and any(is_name(item, names)
                                                              for item in node.args)
                for node in parsed.of(ast.Call))
    same = sum(is_name(node.value, names) for node in parsed.of(ast.Assign))
    return used > parts + sizes + same


def single_documents(parsed: Parsed, documents: int) -> list[int]:
    """The places of the documents that the block takes one by one: context[3] of several."""
    names = parsed.context_names
    return [node.slice.value for node in parsed.of(ast.Subscript)
            if _takes_part(node, names, documents) and isinstance(node.slice, ast.Constant)]


def line_parts(parsed: Parsed, documents: int) -> list[slice]:
    """Which lines of the one document the block takes: those of context.splitlines()[:5]."""
    found = []
    for node in parsed.of(ast.Subscript):
        if isinstance(node.slice, ast.Slice) and _takes_part(node, parsed.context_names, documents):
            with suppress(Unknown):
                found.append(slice(*(bound and fold(bound, {})
                                     for bound in (node.slice.lower, node.slice.upper))))
    return found


def _takes_part(node: ast.Subscript, names: Collection[str], documents: int) -> bool:
    """context[3] of several documents; context.splitlines()[:5], and that of a list() of it."""
    if documents > 1:
        return is_name(node.value, names) and isinstance(node.slice, ast.Constant) \
            and type(node.slice.value) is int and 0 <= node.slice.value < documents
    if not isinstance(node.slice, ast.Slice) or not all(
            bound is None or isinstance(bound, (ast.Constant, ast.UnaryOp))
            for bound in (node.slice.lower, node.slice.upper)):
        return False
    lines = node.value
    return isinstance(lines, ast.Call) and isinstance(lines.func, ast.Attribute) \
        and lines.func.attr in ("splitlines", "split") and is_name(lines.func.value, names)
