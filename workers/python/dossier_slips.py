"""Slips in code that raise nothing and give a wrong result, which its tree tells.

    list(slips(Parsed("print(sum(r['a'] == 'x' or 'y' for r in records))")))
    # [(1, "The condition `r['a'] == 'x' or 'y'` always holds: 'y' stands in it alone (line 1).")]
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from dossier_code import Parsed
from dossier_seek import field_of

_ONCE = {"map", "filter", "zip", "enumerate", "reversed", "iter", "reader", "DictReader", "finditer",
         "open", "islice", "chain"}
_MAKE_NUMBERS = {"int", "float", "Decimal", "to_numeric"}
_DECIMAL = re.compile(r"(?:[^\d.,]*[^\w.,])?(?:\d{1,3}(?:,\d{3})+|\d+)\.(\d+)(?:[^\w.,]\D*)?")
_USES_UP = {"list", "tuple", "set", "sum", "len", "max", "min", "sorted", "Counter", "dict",
            "mean", "median", "fmean", "join", "readlines", "read", "frozenset"}


def slips(parsed: Parsed) -> Iterator[tuple[int, str]]:
    """A line and a sentence for each."""
    for test in (*_conditions(parsed), *_counted(parsed)):
        for part in ast.walk(test):
            if isinstance(part, ast.BoolOp) and (alone := _constant_in(part)) is not None:
                holds = "always" if isinstance(part.op, ast.Or) else "only as its other parts do"
                yield part.lineno, (f"The condition `{ast.unparse(part)}` holds {holds}: {alone!r} "
                                    f"stands in it alone (line {part.lineno}).")
    for node in parsed.of(ast.Compare):
        for op, other in zip(node.ops, node.comparators):
            if isinstance(op, (ast.Is, ast.IsNot)) and isinstance(other, ast.Constant) \
                    and type(other.value) in (str, int, float):
                yield node.lineno, (f"`{ast.unparse(node)}` asks whether two values are one object, "
                                    f"not whether they are equal (line {node.lineno}).")
    for call in parsed.of(ast.Call):
        if getattr(call.func, "id", "") == "sum" and call.args and _is_set(call.args[0]):
            yield call.lineno, (f"`{ast.unparse(call)}` adds equal values once only, because they "
                                f"are in a set (line {call.lineno}).")
    yield from _used_up(parsed)


def digits_kept(parsed: Parsed) -> Iterator[ast.expr]:
    """Texts of which code drops the point, to make a number of what is left: str(x) in
    float(str(x).replace(".", "")), in re.sub(r"\\D", "", str(x)), and in "".join(c for c in str(x) if
    c.isdigit())."""
    numbers = [part for call in parsed.of(ast.Call)
               if getattr(call.func, "id", getattr(call.func, "attr", "")) in _MAKE_NUMBERS
               for part in ast.walk(call) if part is not call]
    made, read = set(map(id, numbers)), {part.id for part in numbers if isinstance(part, ast.Name)}
    for statement in parsed.of(ast.Assign) + parsed.of(ast.AnnAssign):
        for target in getattr(statement, "targets", [getattr(statement, "target", None)]):
            if getattr(target, "id", "") in read and statement.value is not None:
                made |= {id(part) for part in ast.walk(statement.value)}
    for home in parsed.of(ast.FunctionDef):
        if home.name in read:
            made |= {id(part) for node in ast.walk(home) if isinstance(node, ast.Return)
                     for part in ast.walk(node)}
    scales = [getattr(side, "value", None) for node in parsed.of(ast.BinOp) + parsed.of(ast.AugAssign)
              if isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mult))
              for side in (getattr(node, "right", None), getattr(node, "left", None),
                           getattr(node, "value", None))]
    if any(value in (10, 100, 1000, 0.1, 0.01, 0.001) for value in scales):
        return   # the digits behind the point are counted, as cents are
    for call in parsed.of(ast.Call):
        name = getattr(call.func, "attr", "")
        said = [getattr(item, "value", None) for item in call.args]
        if name == "replace" and said[:2] == [".", ""]:
            text = call.func.value
        elif name == "sub" and len(said) >= 3 and said[1] == "" and _drops_points(said[0]):
            text = call.args[2]
        elif name == "join" and len(call.args) == 1 and isinstance(call.args[0], (ast.GeneratorExp, ast.ListComp)) \
                and any(getattr(getattr(test, "func", None), "attr", "") == "isdigit"
                        for part in call.args[0].generators for test in part.ifs):
            text = call.args[0].generators[0].iter
        else:
            continue
        if id(call) in made:
            yield text


def _drops_points(pattern: Any) -> bool:
    try:
        return isinstance(pattern, str) and re.sub(pattern, "", "1.5") == "15"
    except re.error:
        return False


def lost_point(text: Any) -> bool:
    """Whether a text is one number with digits behind its point, and no groups of three."""
    found = _DECIMAL.fullmatch(text) if isinstance(text, str) else None
    return found is not None and len(found[1]) != 3


def only_filled(parsed: Parsed) -> set[str]:
    """The fields of which the code asks nothing but whether they hold a value: `r["fee"] != ""`."""
    asked = [node.left for node in parsed.of(ast.Compare) if len(node.ops) == 1
             and isinstance(node.ops[0], (ast.NotEq, ast.IsNot))
             and isinstance(node.comparators[0], ast.Constant)
             and node.comparators[0].value in ("", None)]
    asked += [part for test in _conditions(parsed)
              for part in (test.values if isinstance(test, ast.BoolOp) else [test])]
    filled = Counter(field for node in asked if (field := field_of(node)))
    uses = Counter(field for kind in (ast.Subscript, ast.Call) for node in parsed.of(kind)
                   if (field := field_of(node)))
    return {field for field, count in filled.items() if uses[field] == count}


def _is_set(node: ast.expr) -> bool:
    """A set of values; one of constants, as in sum({1, 2}), is meant so."""
    return isinstance(node, ast.SetComp) or (isinstance(node, ast.Call)
                                             and getattr(node.func, "id", "") == "set")


def _conditions(parsed: Parsed) -> Iterator[ast.expr]:
    for node in (*parsed.of(ast.If), *parsed.of(ast.IfExp)):
        yield node.test
    for node in parsed.of(ast.comprehension):
        yield from node.ifs


def _counted(parsed: Parsed) -> Iterator[ast.expr]:
    """What `sum(r["a"] == "x" or "y" for r in records)` counts, or adds."""
    for call in parsed.of(ast.Call):
        if getattr(call.func, "id", "") == "sum":
            yield from (item.elt for item in call.args
                        if isinstance(item, (ast.GeneratorExp, ast.ListComp)))


def _constant_in(node: ast.BoolOp) -> Any:
    """A text that stands beside a comparison, as in `a == "x" or "y"`."""
    compared = any(isinstance(value, ast.Compare) for value in node.values)
    texts = [value.value for value in node.values
             if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value]
    return texts[0] if compared and texts else None


def _used_up(parsed: Parsed) -> Iterator[tuple[int, str]]:
    """Iterators that are gone through twice: the second time nothing is left."""
    once: dict[str, int] = {}
    for name in parsed.assigned:
        values = [binding.value for binding in parsed.bindings if binding.name == name]
        if len(values) == 1 and _goes_once(values[0]):
            once[name] = values[0].lineno
    opened = [(item.optional_vars.id, statement.lineno, item.context_expr)
              for statement in parsed.of(ast.With) for item in statement.items
              if isinstance(item.optional_vars, ast.Name)]
    names = Counter(name for name, _, _ in opened)
    once |= {name: line for name, line, value in opened if names[name] == 1 and _goes_once(value)}
    again = {node.value.id for node in parsed.of(ast.Attribute)
             if node.attr == "seek" and isinstance(node.value, ast.Name)}
    for name in once.keys() - again:
        uses = sorted(line for line in _uses_up(parsed, name)
                      if not any(home.lineno <= line <= (home.end_lineno or 0)
                                 for home in parsed.of(ast.FunctionDef)))
        inside = [loop for loop in parsed.of(ast.For) for line in uses
                  if loop.lineno < line <= (loop.end_lineno or 0) and loop.lineno > once[name]
                  and not _ends(loop)]
        if len(uses) > 1:
            yield uses[1], (f"`{name}` is an iterator: line {uses[0]} goes through all of it, and "
                            f"line {uses[1]} finds nothing left.")
        elif inside:
            yield uses[0], (f"`{name}` is an iterator: the first pass of the loop of line "
                            f"{inside[0].lineno} uses it up, and later ones find nothing left.")


def _goes_once(value: ast.expr | None) -> bool:
    if isinstance(value, ast.GeneratorExp):
        return True
    return isinstance(value, ast.Call) \
        and getattr(value.func, "attr", getattr(value.func, "id", "")) in _ONCE


def _uses_up(parsed: Parsed, name: str) -> Iterator[int]:
    """The lines that go through all of a name."""
    for kind in (ast.For, ast.comprehension):
        for node in parsed.of(kind):
            if isinstance(node.iter, ast.Name) and node.iter.id == name \
                    and not (kind is ast.For and _ends(node)):
                yield node.iter.lineno
    for call in parsed.of(ast.Call):
        called = getattr(call.func, "attr", getattr(call.func, "id", ""))
        owner = getattr(call.func, "value", None)
        given = any(isinstance(item, ast.Name) and item.id == name for item in call.args)
        all_read = called in ("read", "readlines") and not call.args \
            and isinstance(owner, ast.Name) and owner.id == name
        if called in _USES_UP and (given or all_read):
            yield call.lineno


def _ends(loop: ast.For) -> bool:
    return any(isinstance(node, (ast.Break, ast.Return)) for node in ast.walk(loop))
