"""A count of 0, None or an empty list is answered with what exists (small-models 15).

    sum(1 for r in records if r["status"] == "Active")   ->  0
    note: no row has status 'Active'; its values: 'installed' (740), 'config-files' (11).
"""

import ast
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_EMPTY = ("0", "0.0", "None", "[]", "{}", "()", "set()", "''", "", "nan", "Counter()")
_SCAN_SECONDS = 0.3
_SHOWN_VALUES = 12
_SHOWN_CHARACTERS = 40


def is_empty_output(text: str) -> bool:
    """True for an output such as `0`, `Total: 0` or `Out: []`."""
    text = text.strip()
    return text in _EMPTY or ("\n" not in text and len(text) < 100
                              and text.rsplit(":", 1)[-1].rsplit("=", 1)[-1].strip() in _EMPTY)


def existing_values(tree: ast.AST, records: Iterable[Mapping[str, Any]], asked: set[str]
                    ) -> list[str]:
    """For each field compared with a constant: the values that it really has. Once a field."""
    compared = {field: value for field, value in _comparisons(tree) if field not in asked}
    if not compared:
        return []
    counts = {field: Counter() for field in compared}
    deadline = time.monotonic() + _SCAN_SECONDS
    for index, row in enumerate(records):
        if index % 256 == 255 and time.monotonic() > deadline:
            break
        for field, counter in counts.items():
            value = row.get(field)
            if not isinstance(value, (dict, list)) and (len(counter) < 10_000 or value in counter):
                counter[value] += 1
    notes = []
    for field, value in compared.items():
        counter = counts[field]
        if not counter or set(counter) == {None} or value in counter:
            continue
        asked.add(field)
        rows = [f"{_short(known)} ({count:,})" for known, count
                in _nearest_first(counter, value)[:_SHOWN_VALUES]]
        more = len(counter) - _SHOWN_VALUES
        tail = f" and {more:,} more" if more > 0 else ""
        notes.append(f"No row has {field} == {value!r}. Its values: {', '.join(rows)}{tail}.")
    return notes


def _nearest_first(counter: Counter, wanted: Any) -> list[tuple[Any, int]]:
    """The most common values, those that contain the wanted text first."""
    word = str(wanted).strip().lower()
    return sorted(counter.most_common(), key=lambda pair: word not in str(pair[0]).lower())


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"


def _comparisons(tree: ast.AST) -> Iterator[tuple[str, Any]]:
    """(field, constant) of r["field"] == "x", r.get("field") == "x" and r["field"] in (...)."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            continue
        if not isinstance(node.ops[0], (ast.Eq, ast.In)):
            continue
        for side, other in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
            field = _field(side)
            if field is None:
                continue
            if isinstance(other, ast.Constant) and isinstance(node.ops[0], ast.Eq):
                yield field, other.value
            elif isinstance(other, (ast.Tuple, ast.List, ast.Set)):
                for item in other.elts:
                    if isinstance(item, ast.Constant):
                        yield field, item.value


def _field(node: ast.expr) -> str | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in ("lower", "upper", "strip", "casefold"):
            return _field(node.func.value)
        if node.func.attr == "get" and node.args and isinstance(node.args[0], ast.Constant) \
                and isinstance(node.args[0].value, str):
            return node.args[0].value
        return None
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) \
            and isinstance(node.slice.value, str):
        inner = _field(node.value)
        return f"{inner}.{node.slice.value}" if inner else node.slice.value
    return None
