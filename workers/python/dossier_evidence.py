"""What the output of a block stands on: the data, or nothing but what the code itself says.

    evidence = Evidence()
    evidence.judge(Parsed("n = 100\nprint(n)"))      # (False, ["100"]): no data was touched
    evidence.judge(Parsed("print(len(records), 7)"))  # (True, ["7"]): the 7 was typed in

The host lets an answer stand only on what came out of data: of an output it takes away the texts
that were typed in, and the output of a block that touched no data counts for nothing.
"""

import ast
from collections.abc import Iterator
from typing import Any

from dossier_code import Parsed, is_context_part

# What hands data to code; a name that was computed from one of these holds data, too.
_DATA = {"records", "context", "contexts", "doc", "contextMeta", "history", "open", "Path",
         "pathlib", "glob", "os", "sql", "globals", "eval", "exec", "llm_query",
         "llm_query_batched", "rlm_query", "rlm_query_batched", "map_llm", "memory_search",
         "memory_get", "read_csv", "read_json"}
_HANDS_OVER = {"FINAL", "FINAL_VAR", "SUBMIT", "PARTIAL"}
_CONVERTS = {"str", "int", "float", "round", "repr"}
_MOST_LITERALS = 50
_LONGEST = 200


class Evidence:
    """Remembers over the blocks of a session which names hold data and which a literal."""

    def __init__(self) -> None:
        self._data: set[str] = set()            # names computed from data
        self._fixed: dict[str, ast.expr] = {}   # names that hold what was typed in

    def judge(self, parsed: Parsed) -> tuple[bool, list[str]]:
        """Whether the block touches data, and the texts that it shows or hands over as typed."""
        touches = bool(parsed.reads & _DATA or parsed.reads & self._data)
        self._learn(parsed, touches)
        shown: list[str] = []
        for value in _shown(parsed):
            shown += self._literals(value, depth=0)
        texts = dict.fromkeys(text.strip() for text in shown if text.strip())
        return touches, [text for text in texts if len(text) <= _LONGEST][:_MOST_LITERALS]

    def _learn(self, parsed: Parsed, touches: bool) -> None:
        """A name that is bound once, at the top, to a literal is that literal."""
        bound = [name for name, _, _ in parsed.bindings]
        top = {id(target): node.value for node in parsed.tree.body if isinstance(node, ast.Assign)
               for target in node.targets}
        for name, node, value in parsed.bindings:
            self._fixed.pop(name, None)
            self._data.discard(name)
            targets = getattr(node, "targets", ())
            at_top = value is not None and any(id(target) in top for target in targets)
            if at_top and bound.count(name) == 1 and _is_literal(value):
                self._fixed[name] = value
            elif touches:
                self._data.add(name)

    def _literals(self, value: ast.expr, depth: int) -> Iterator[str]:
        """The texts of `value` that the code says itself. A choice that data made between two
        literals (`a if n > 3 else b`) is none of them."""
        if depth > 8:
            return
        if isinstance(value, ast.Constant):
            if value.value is not None and not isinstance(value.value, bool):
                yield str(value.value)
        elif isinstance(value, ast.Name):
            if value.id in self._fixed:
                yield from self._literals(self._fixed[value.id], depth + 1)
        elif isinstance(value, ast.UnaryOp) and isinstance(value.operand, ast.Constant):
            yield ast.unparse(value)
        elif isinstance(value, ast.JoinedStr):
            for part in value.values:
                yield from self._literals(part, depth + 1)
        elif isinstance(value, ast.FormattedValue):
            yield from self._literals(value.value, depth + 1)
        elif isinstance(value, (ast.List, ast.Tuple, ast.Set)):
            for part in value.elts:
                yield from self._literals(part, depth + 1)
        elif isinstance(value, ast.Dict):
            for part in [*value.keys, *value.values]:
                if part is not None:
                    yield from self._literals(part, depth + 1)
        elif isinstance(value, ast.BinOp):
            if _is_literal(value):
                yield _computed(value)
            yield from self._literals(value.left, depth + 1)
            yield from self._literals(value.right, depth + 1)
        elif isinstance(value, ast.Call):
            name = getattr(value.func, "id", "")
            if name in _CONVERTS or getattr(value.func, "attr", "") in ("format", "strip", "join"):
                for part in [*value.args, getattr(value.func, "value", None)]:
                    if part is not None:
                        yield from self._literals(part, depth + 1)


def _is_literal(value: ast.expr | None) -> bool:
    """Only constants and displays of constants: nothing computed from anything else."""
    return value is not None and all(
        isinstance(node, (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Load,
                          ast.UnaryOp, ast.unaryop, ast.BinOp, ast.operator, ast.JoinedStr))
        for node in ast.walk(value))


def _computed(value: ast.expr) -> str:
    """`40 + 2` as it is shown; "" for what fails or could take long, as 9**9**9 does."""
    nodes = list(ast.walk(value))
    numbers = [node.value for node in nodes if isinstance(node, ast.Constant)]
    quick = all(isinstance(node, (ast.Constant, ast.BinOp, ast.UnaryOp, ast.unaryop, ast.Add,
                                  ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod))
                for node in nodes)
    if not quick or len(numbers) > 16 or not all(
            isinstance(number, (int, float)) and abs(number) < 1e9 for number in numbers):
        return ""
    try:
        return str(eval(compile(ast.Expression(value), "<literal>", "eval"), {"__builtins__": {}}))
    except Exception:  # a literal that cannot be computed fails in the block, too
        return ""


def _shown(parsed: Parsed) -> Iterator[ast.expr]:
    """What the block prints, shows as its last expression or hands over as its answer."""
    for node in parsed.of(ast.Call):
        name = getattr(node.func, "id", "")
        if name == "print" or name in _HANDS_OVER:
            yield from node.args
            yield from (keyword.value for keyword in node.keywords
                        if name != "print" and keyword.arg is not None)
        elif isinstance(node.func, ast.Attribute) and _is_answer(node.func.value):
            yield from (keyword.value for keyword in node.keywords)
            yield from node.args
    for node in parsed.of(ast.Assign):
        for target in node.targets:
            if _is_answer(target) or (isinstance(target, ast.Subscript)
                                      and _is_answer(target.value)):
                yield node.value
    last: Any = parsed.last
    if isinstance(last, ast.Expr) and not isinstance(last.value, ast.Call):
        yield last.value
    elif isinstance(last, ast.Assign):
        yield last.value


def _is_answer(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "answer"


def reads_whole_context(parsed: Parsed, documents: int) -> bool:
    """Whether the block uses `context` in another way than by its length and by slices of it."""
    used = sum(node.id == "context" for node in parsed.of(ast.Name))
    if not used:
        return False
    parts = sum(map(is_context_part, parsed.of(ast.Subscript))) if documents == 1 else 0
    sizes = sum(getattr(node.func, "id", "") == "len" and any(map(_is_context, node.args))
                for node in parsed.of(ast.Call))
    return used > parts + sizes


def _is_context(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "context"
