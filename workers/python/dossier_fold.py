"""The value of an expression that is made only of constants, without running the code.

    fold(ast.parse("'13' + str(40 + 3)", mode="eval").body, {})    # "1343"
    fold(ast.parse("'13' + context[:2]", mode="eval").body, {})    # raises Unknown

Only operations that have no effect are computed, and only on small values: what would be long, or
would take long, as 9**9**9 does, is unknown. Names stand for what `names` says and nothing else.
"""

import ast
import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_LONGEST = 2_000      # items of a text, a list or a range
_MOST_BITS = 4_096    # of a whole number
_MOST_STEPS = 2_000   # nodes that are looked at for one value

_OPERATIONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Pow: operator.pow, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.BitOr: operator.or_, ast.BitAnd: operator.and_, ast.BitXor: operator.xor,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda item, items: item in items, ast.NotIn: lambda item, items: item not in items}
_UNARY: dict[type, Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
    ast.Not: operator.not_}
_TYPES = {kind.__name__: kind
          for kind in (str, int, float, bool, bytes, list, tuple, set, dict, frozenset)}
_FUNCTIONS: dict[str, Callable[..., Any]] = _TYPES | {
    function.__name__: function
    for function in (abs, ascii, bin, chr, divmod, enumerate, format, hex, len, max, min, oct, ord,
                     pow, range, repr, reversed, round, sorted, sum, zip)}
_METHODS = set("""bit_length capitalize casefold center count decode encode endswith find format
    from_bytes fromhex get hex index isalpha isdigit items join keys ljust lower lstrip partition
    removeprefix removesuffix replace rfind rjust rpartition rsplit rstrip split splitlines
    startswith strip swapcase title to_bytes upper values zfill""".split())
PURE = _METHODS | set(_FUNCTIONS) | {"map"}  # calls of these names change nothing
_MODULES = {("json", "dumps"): json.dumps, ("json", "loads"): json.loads}
_SIZED = {"bytes", "center", "dumps", "ljust", "rjust", "to_bytes", "zfill"}
# Widths that could make a text of any length: of a format, a field of one, a %-template.
_WIDE = re.compile(r"\d{4}")
_WIDE_FIELD = re.compile(r"\{[^{}]*(\d{4}|\{)")
_WIDE_PERCENT = re.compile(r"%[^%a-zA-Z]*(\d{4}|\*)")


class Unknown(Exception):
    """The expression holds more than constants, fails, or would take long."""


def fold(node: ast.expr, names: Mapping[str, Any]) -> Any:
    try:
        return _Folder(names).value(node)
    except Unknown:
        raise
    except Exception as error:  # what cannot be computed fails in the block, too
        raise Unknown from error


class _Folder:
    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names  # never changed here; no copy, as a block may bind thousands
        self._steps = 0

    def value(self, node: Any) -> Any:
        self._steps += 1
        compute = getattr(self, node.__class__.__name__, None)
        if compute is None or self._steps > _MOST_STEPS:
            raise Unknown
        return _small(compute(node))

    def Constant(self, node: ast.Constant) -> Any:
        return node.value

    def Name(self, node: ast.Name) -> Any:
        if node.id not in self._names:
            raise Unknown
        return self._names[node.id]

    def List(self, node: Any) -> list[Any]:
        return list(self._items(node.elts))

    def Tuple(self, node: Any) -> tuple[Any, ...]:
        return tuple(self._items(node.elts))

    def Set(self, node: Any) -> set[Any]:
        return set(self._items(node.elts))

    def Dict(self, node: ast.Dict) -> dict[Any, Any]:
        return {self.value(key): self.value(value) for key, value in zip(node.keys, node.values)}

    def _items(self, nodes: list[ast.expr]) -> Iterator[Any]:
        for node in nodes:
            if isinstance(node, ast.Starred):
                yield from self.value(node.value)
            else:
                yield self.value(node)

    def UnaryOp(self, node: ast.UnaryOp) -> Any:
        return _UNARY[type(node.op)](self.value(node.operand))

    def BinOp(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        _check_size(type(node.op), left, right)
        return _OPERATIONS[type(node.op)](left, right)

    def BoolOp(self, node: ast.BoolOp) -> Any:
        for item in node.values:
            value = self.value(item)
            if bool(value) is isinstance(node.op, ast.Or):
                break
        return value

    def Compare(self, node: ast.Compare) -> bool:
        values = [self.value(item) for item in (node.left, *node.comparators)]
        return all(_OPERATIONS[type(test)](left, right)
                   for test, left, right in zip(node.ops, values, values[1:]))

    def IfExp(self, node: ast.IfExp) -> Any:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def Subscript(self, node: ast.Subscript) -> Any:
        return self.value(node.value)[self.value(node.slice)]

    def Slice(self, node: ast.Slice) -> slice:
        return slice(*(part and self.value(part) for part in (node.lower, node.upper, node.step)))

    def JoinedStr(self, node: ast.JoinedStr) -> str:
        return "".join(map(self.value, node.values))

    def FormattedValue(self, node: ast.FormattedValue) -> str:
        value = self.value(node.value)
        if node.conversion != -1:
            value = {"s": str, "r": repr, "a": ascii}[chr(node.conversion)](value)
        return _call(format, [value, self.value(node.format_spec) if node.format_spec else ""], {})

    def ListComp(self, node: Any) -> list[Any]:
        """One loop over a name or several; the names are the expression's own."""
        (loop,) = node.generators
        outer, values = self._names, []
        for item in self.value(loop.iter):
            self._names = {**outer, **dict(bound(loop.target, item))}
            if all(self.value(test) for test in loop.ifs):
                values.append(self.value(node.elt))
        self._names = outer
        return values

    GeneratorExp = ListComp

    def Call(self, node: ast.Call) -> Any:
        function = node.func
        plain = isinstance(function, ast.Name) and function.id not in self._names
        if plain and function.id == "map":
            return self._map(node)
        arguments = list(self._items(node.args))
        named = {str(keyword.arg): self.value(keyword.value) for keyword in node.keywords}
        if plain:
            return _call(_FUNCTIONS[function.id], arguments, named)
        if not isinstance(function, ast.Attribute):
            raise Unknown
        owner = getattr(function.value, "id", None)
        if (owner, function.attr) in _MODULES:
            return _call(_MODULES[owner, function.attr], arguments, named)
        if function.attr not in _METHODS:
            raise Unknown
        of_type = owner in _TYPES and owner not in self._names  # str.strip(x), int.from_bytes(x)
        value = _TYPES[owner] if of_type else self.value(function.value)
        if isinstance(value, str) and function.attr == "format" and _WIDE_FIELD.search(value):
            raise Unknown
        return _call(getattr(value, function.attr), arguments, named)

    def _map(self, node: ast.Call) -> list[Any]:
        function = _FUNCTIONS[getattr(node.args[0], "id", "")]
        columns = [self.value(item) for item in node.args[1:]]
        return [_call(function, row, {}) for row in zip(*columns)]


def _call(function: Callable[..., Any], arguments: Any, named: Mapping[str, Any]) -> Any:
    values = [*arguments, *named.values()]
    if function.__name__ in _SIZED and any(isinstance(value, int) and value > _LONGEST
                                           for value in values):
        raise Unknown
    if function is format and _WIDE.search("".join(values[1:])):
        raise Unknown
    if function is pow:
        _check_size(ast.Pow, *values[:2])
    return function(*arguments, **named)


def bound(target: ast.expr, value: Any) -> Iterator[tuple[str, Any]]:
    """The names that an assignment of `value` to `target` binds, and to what."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (str, list, tuple)) \
            and len(value) == len(target.elts):
        for part, item in zip(target.elts, value):
            yield from bound(part, item)


def _check_size(operation: type, left: Any, right: Any) -> None:
    """Raises Unknown where the result could be too large to compute."""
    numbers = isinstance(left, int) and isinstance(right, int)
    if operation is ast.Pow and numbers and left.bit_length() * max(right, 1) > _MOST_BITS:
        raise Unknown
    if operation is ast.LShift and right > _MOST_BITS:
        raise Unknown
    if operation is ast.Mod and isinstance(left, (str, bytes)) and _WIDE_PERCENT.search(str(left)):
        raise Unknown
    if operation is ast.Mult and not numbers:
        for many, times in ((left, right), (right, left)):
            if isinstance(times, int) and hasattr(many, "__len__") and len(many) * times > _LONGEST:
                raise Unknown


def _small(value: Any) -> Any:
    if hasattr(value, "__next__") or hasattr(value, "mapping"):  # zip, reversed; items of a dict
        value = list(value)
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise Unknown
    if hasattr(value, "__len__") and len(value) > _LONGEST:
        raise Unknown
    return value
