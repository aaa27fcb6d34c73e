"""Comparisons and the builtins that order values, made tolerant of None; products made strict.

Rows give None for a missing field. In Python `None > 5` raises, and one such row ends the block of
a model that did not think of it. So `<`, `<=`, `>`, `>=` and `in` in blocks become calls that
answer False where one side is None, and max, min, sum and sorted leave such values out. All that
was left out is counted and told. `r["x"] is not None` works as ever: a missing value is plain None.

`context[a:b]` of one text goes through a function that notes which part was read: `context` is a
plain string, which cannot tell.

One thing is made stricter: `r["product"] * r["quantity"]` of a text and a number. Python repeats the
text, nobody asks that of two fields, and the wrong name in a product would pass unseen.
"""

import ast
import builtins
import re
from collections.abc import Callable, Iterable
from typing import Any

from dossier_code import Parsed

_NAMES = {ast.Lt: "_dossier_lt", ast.LtE: "_dossier_le", ast.Gt: "_dossier_gt",
          ast.GtE: "_dossier_ge", ast.In: "_dossier_in", ast.NotIn: "_dossier_not_in"}
_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict)
_NOTHING = object()
_YEAR_LAST = re.compile(r"\d{1,2}[/.-]\d{1,2}[/.-]\d{4}\b.*")
_MOST_MARKS = 100   # texts without a digit that are no marks among numbers any more
_REPEATABLE = (list, tuple, set, frozenset, dict, range)  # can be gone through twice


class Skipped:
    """How many comparisons and values of a block had None in them. `say` is told of numbers that were
    compared as texts."""

    def __init__(self, say: Callable[[str], None] = lambda _text: None) -> None:
        self.say = say
        self.comparisons = 0
        self.values = 0
        self.sorted_last = 0

    def notes(self) -> list[str]:
        notes = []
        if self.comparisons:
            notes.append(f"Comparisons with a missing value (None) counted as false: "
                         f"{self.comparisons:,}.")
        if self.values:
            notes.append("Missing values (None) left out of max, min or sum: "
                         f"{self.values:,}.")
        if self.sorted_last:
            notes.append("Items without a sort value (None) that stand last: "
                         f"{self.sorted_last:,}.")
        self.comparisons = self.values = self.sorted_last = 0
        return notes


class Widths:
    """Numbers and dates that are texts, of which the largest by letters is none by value."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._examples: dict[int, str] = {}   # by digits before the point, -1 for dates
        self._numbers = True
        self._more = 0   # numbers than texts without a digit, as "N/A" and "-" among them

    def count(self, text: Any) -> bool:
        """Whether all texts so far are such, or marks for what is missing."""
        if self._numbers and text is not None:
            width = _width(text)
            if width or text.__class__ is not str or any(map(str.isdigit, text)):
                self._numbers = width != 0
                self._more += 1
                self._examples.setdefault(width, text)
            else:
                self._more -= 1
                self._numbers = self._more > -_MOST_MARKS
        return self._numbers

    def tell(self, function: str, found: Any) -> None:
        if self._numbers and self._examples and self._more >= 0 and (
                len(self._examples) > 1 or -1 in self._examples or not _width(found)):
            one, other = min(self._examples.values()), max(self._examples.values())
            other = other if one != other else found
            self._say(f"{function}() compares numbers or dates that are texts, letter by letter: {one!r}, "
                      f"{other!r}")


def _width(text: Any) -> int:
    """How many digits a number that is written as a text has before its point; -1: it is a date that
    ends in its year, 0: none of these."""
    if text.__class__ is not str:
        return 0
    whole, _, fraction = text.strip().lstrip("-").partition(".")
    if whole.isdigit() and (not fraction or fraction.isdigit()):
        return len(whole)
    return -1 if _YEAR_LAST.fullmatch(text) else 0


def ordered_alike(one: Any, other: Any) -> bool:
    """Whether texts have the order of what they mean; false where numbers and dates have not."""
    widths = _width(one), _width(other)
    return 0 in widths or (-1 not in widths and widths[0] == widths[1])


def tolerant(parsed: Parsed,
             counted: Callable[[ast.AST], bool] = lambda _node: False) -> ast.Module:
    """The tree with its comparisons rewritten in place, the inner ones first. `counted`: a part of a
    text that is replaced elsewhere."""
    for slot in reversed([slot for slot in parsed.context_parts if not counted(slot.node)]):
        part = slot.node
        bounds = [bound or ast.Constant(None)
                  for bound in (part.slice.lower, part.slice.upper, part.slice.step)]
        slot.put(placed("_dossier_part", [part.value, *bounds], part))
    for part in parsed.of(ast.Subscript):
        if not counted(part):
            _take_first(part)
    for slot in parsed.field_products:   # first: a comparison takes its operands with it
        product = slot.node
        slot.put(placed("_dossier_product", [product.left, product.right], product))
    for slot in reversed(parsed.comparisons):
        slot.put(_rewritten(slot.node))
    return parsed.tree


def _take_first(part: ast.Subscript) -> None:
    """list(records)[:20] reads 20 rows: list(records[:20])[:]."""
    whole = part.value
    if isinstance(part.slice, ast.Slice) and isinstance(part.ctx, ast.Load) and isinstance(whole, ast.Call) \
            and getattr(whole.func, "id", "") == "list" \
            and [getattr(item, "id", "") for item in whole.args] == ["records"]:
        rows = ast.copy_location(ast.Subscript(whole.args[0], part.slice, ast.Load()), part)
        whole.args = [rows]
        part.slice = ast.copy_location(ast.Slice(None, None, None), part.slice)


def _rewritten(node: ast.Compare) -> ast.expr:
    operands = [node.left, *node.comparators]
    if all(_never_none(operand) or _is_number(operand) for operand in operands):
        return node
    if len(node.ops) == 1 and type(node.ops[0]) in _NAMES \
            and not isinstance(operands[-1], _DISPLAYS):
        return _call(node.ops[0], node.left, node.comparators[0], node)
    if len(node.ops) == 2 and all(isinstance(op, _ORDERED) for op in node.ops) \
            and isinstance(node.comparators[1], (ast.Constant, ast.Name)):
        return _between(node)
    return node


def _between(node: ast.Compare) -> ast.expr:
    """`low <= x <= 9`: the middle is evaluated once, by a function of three values."""
    names = [ast.Constant(_NAMES[type(op)]) for op in node.ops]
    return placed("_dossier_between", [*names, node.left, *node.comparators], node)


def _call(op: ast.cmpop, left: ast.expr, right: ast.expr, place: ast.expr) -> ast.expr:
    return placed(_NAMES[type(op)], [left, right], place)


def placed(function: str, arguments: list[ast.expr], place: ast.expr) -> ast.expr:
    """A call of one of our functions that stands where the comparison stood."""
    where = {"lineno": place.lineno, "col_offset": place.col_offset,
             "end_lineno": place.end_lineno, "end_col_offset": place.end_col_offset}
    for argument in arguments:
        if not hasattr(argument, "lineno"):
            argument.__dict__.update(where)
    return ast.Call(ast.Name(function, ast.Load(), **where), arguments, [], **where)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is not None


def _never_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("len", "abs", "round",
                                                                           "int", "float")


def tolerant_builtins(skipped: Skipped) -> dict[str, Callable[..., Any]]:
    """The functions that rewritten code and its max, min, sum, sorted call."""

    def unless_none(left: Any, right: Any, error: TypeError) -> bool:
        if not _has_none(left) and not _has_none(right):
            raise error
        skipped.comparisons += 1
        return False

    def _dossier_lt(left: Any, right: Any) -> Any:
        try:
            return left < right
        except TypeError as error:
            return unless_none(left, right, error)

    def _dossier_le(left: Any, right: Any) -> Any:
        try:
            return left <= right
        except TypeError as error:
            return unless_none(left, right, error)

    def _dossier_gt(left: Any, right: Any) -> Any:
        try:
            return left > right
        except TypeError as error:
            return unless_none(left, right, error)

    def _dossier_ge(left: Any, right: Any) -> Any:
        try:
            return left >= right
        except TypeError as error:
            return unless_none(left, right, error)

    def _dossier_in(left: Any, right: Any) -> bool:
        try:
            return left in right
        except TypeError as error:
            return unless_none(left, right, error)

    def _dossier_not_in(left: Any, right: Any) -> bool:
        return not _dossier_in(left, right)

    compare = {f.__name__: f for f in (_dossier_lt, _dossier_le, _dossier_gt, _dossier_ge,
                                       _dossier_in, _dossier_not_in)}

    def _dossier_between(first: str, second: str, low: Any, middle: Any, high: Any) -> Any:
        return compare[first](low, middle) and compare[second](middle, high)

    def _dossier_product(left: Any, right: Any) -> Any:
        if isinstance(left, str) != isinstance(right, str):
            text = left if isinstance(left, str) else right
            raise TypeError(f"a field that holds text ({text[:40]!r}) is multiplied")
        return left * right

    own = {"_dossier_between": _dossier_between, "_dossier_product": _dossier_product, **compare}
    return own | {f.__name__: f for f in _ordering(skipped)}


def _has_none(value: Any) -> bool:
    return value is None or type(value) in (tuple, list) and any(item is None for item in value)


def _forgiving(key: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    """A sort key that gives None where it fails on None, as in int(r["size"])."""
    def own(item: Any) -> Any:
        if key is None:
            return item
        try:
            return key(item)
        except (TypeError, AttributeError) as error:
            if "NoneType" not in str(error):
                raise
            return None
    return own


def _ordering(skipped: Skipped) -> tuple[Callable[..., Any], ...]:
    native_max, native_min = builtins.max, builtins.min
    native_sum, native_sorted = builtins.sum, builtins.sorted

    def best(native: Callable[..., Any], wins: Callable[[Any, Any], bool], args: tuple[Any, ...],
             key: Callable[[Any], Any] | None, default: dict[str, Any]) -> Any:
        texts = Widths(skipped.say)
        if len(args) == 1 and key is None and type(args[0]) in _REPEATABLE:
            try:
                found = native(args[0], **default)
                if found.__class__ is str and texts.count(found):
                    for item in args[0]:
                        if not texts.count(item):
                            break
                    texts.tell(native.__name__, found)
                return found
            except TypeError:
                pass  # below each value is looked at
        if len(args) != 1:
            if default or not args:
                return native(*args, **default)
            args = (args,)
        values, chosen, chosen_key = 0, _NOTHING, None
        key = _forgiving(key)
        for item in args[0]:
            own = key(item)
            if own is None:
                values += 1
                continue
            if own.__class__ is str:
                texts.count(own)
            try:
                better = chosen is _NOTHING or wins(own, chosen_key)
            except TypeError:
                if _has_none(own):
                    values += 1
                    continue
                if not _has_none(chosen_key):
                    raise
                values += 1
                better = True
            if better:
                chosen, chosen_key = item, own
        skipped.values += values
        texts.tell(native.__name__, chosen_key)
        if chosen is not _NOTHING:
            return chosen
        if values and not default:
            return None
        return native((), **default)

    def max(*args: Any, key: Any = None, **default: Any) -> Any:  # noqa: A001
        """The largest value; None is left out."""
        return best(native_max, lambda a, b: a > b, args, key, default)

    def min(*args: Any, key: Any = None, **default: Any) -> Any:  # noqa: A001
        """The smallest value; None is left out."""
        return best(native_min, lambda a, b: a < b, args, key, default)

    def sum(iterable: Iterable[Any], /, start: Any = 0) -> Any:  # noqa: A001
        """The sum; None is left out."""
        missing = 0
        if type(iterable) in _REPEATABLE:
            try:
                return native_sum(iterable, start)
            except TypeError:
                pass

        def present() -> Iterable[Any]:
            nonlocal missing
            for value in iterable:
                if value is None:
                    missing += 1
                else:
                    yield value

        total = native_sum(present(), start)
        skipped.values += missing
        return total

    def sorted(iterable: Iterable[Any], /, *, key: Any = None,  # noqa: A001
               reverse: bool = False) -> list[Any]:
        """A sorted list; items whose key is None stand last."""
        items = list(iterable)
        try:
            return native_sorted(items, key=key, reverse=reverse)
        except (TypeError, AttributeError):
            keys = list(map(_forgiving(key), items))
            present = [item for item, own in zip(items, keys) if not _has_none(own)]
            missing = [item for item, own in zip(items, keys) if _has_none(own)]
            if not missing:
                raise
            skipped.sorted_last += len(missing)
            return native_sorted(present, key=key, reverse=reverse) + missing

    return max, min, sum, sorted
