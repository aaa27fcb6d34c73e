"""What a block's syntax tree tells: names bound and used, completeness, effects."""

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any

_INCOMPLETE = re.compile(r"unexpected EOF|was never closed|unterminated triple-quoted|"
                         r"expected an indented block|EOF in multi-line")
_EFFECTS = (ast.Call, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.For,
            ast.While, ast.With, ast.Delete, ast.NamedExpr, ast.FunctionDef, ast.AsyncFunctionDef,
            ast.ClassDef)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def parse(code: str) -> ast.Module:
    """The tree of a block. Raises SyntaxError only, also for a NUL or too deep nesting."""
    try:
        return ast.parse(code, "<block>")
    except (ValueError, RecursionError, MemoryError) as error:
        raise SyntaxError(str(error) or "the code is nested too deeply") from None


def bindings(tree: ast.AST) -> Iterator[tuple[str, ast.AST, ast.expr | None]]:
    """(name, node, value) of all that the module's top level binds or deletes."""
    declared = {name for node in ast.walk(tree) if isinstance(node, ast.Global)
                for name in node.names}
    yield from _bound(tree, inside=False, declared=declared)


def _bound(node: ast.AST, inside: bool, declared: set[str]
           ) -> Iterator[tuple[str, ast.AST, ast.expr | None]]:
    """`inside`: within a function, where only names declared global count."""
    def counts(name: str) -> bool:
        return not inside or name in declared

    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if counts(child.name):
                yield child.name, child, None
        elif isinstance(child, (ast.Import, ast.ImportFrom)):
            for alias in child.names:
                name = alias.asname or alias.name.split(".")[0]
                if counts(name):
                    yield name, child, None
        elif isinstance(child, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
            targets = child.targets if isinstance(child, ast.Assign) else [child.target]
            for name, value in _pairs(targets, child.value):
                if counts(name):
                    yield name, child, value
            if child.value is not None:
                yield from _bound(ast.Expr(child.value), inside, declared)
            continue
        elif isinstance(child, ast.Name) and isinstance(child.ctx, (ast.Store, ast.Del)):
            if counts(child.id):
                yield child.id, child, None
        elif isinstance(child, ast.ExceptHandler) and child.name and counts(child.name):
            yield child.name, child, None
        elif isinstance(child, (ast.MatchAs, ast.MatchStar)) and child.name and counts(child.name):
            yield child.name, child, None
        elif isinstance(child, _COMPREHENSIONS):
            for part in ast.walk(child):  # only := reaches out of a comprehension
                if isinstance(part, ast.NamedExpr) and counts(part.target.id):
                    yield part.target.id, part, part.value
            continue
        yield from _bound(child, inside or isinstance(child, _SCOPES), declared)


def _pairs(targets: list[ast.expr], value: ast.expr | None
           ) -> Iterator[tuple[str, ast.expr | None]]:
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id, value
        elif isinstance(target, ast.Starred):
            yield from _pairs([target.value], None)
        elif isinstance(target, (ast.Tuple, ast.List)):
            values = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
            for index, part in enumerate(target.elts):
                own = values[index] if len(values) == len(target.elts) else None
                yield from _pairs([part], own)


def used_names(tree: ast.AST) -> set[str]:
    """All names that are read anywhere in the block."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def drop_imports(tree: ast.Module, missing: Callable[[str], bool]) -> list[str]:
    """Takes out imports of missing modules that the block never uses; gives their names."""
    reads = {node.id for node in ast.walk(tree)
             if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    dropped = []
    for node in list(tree.body):
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        module = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
        bound = {alias.asname or alias.name.split(".")[0] for alias in node.names}
        alone = isinstance(node, ast.ImportFrom) or len(node.names) == 1
        if module and alone and not bound & reads and missing(module.split(".")[0]):
            tree.body.remove(node)
            dropped.append(module)
    return dropped


def last_assigned(tree: ast.Module) -> list[str]:
    """The names that the last statement assigns; empty if it is no assignment."""
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        return []
    targets = last.targets if isinstance(last, ast.Assign) else [last.target]
    return [name for name, _ in _pairs(targets, None)]


def sets_answer_items(tree: ast.AST) -> bool:
    """True if the block writes answer["..."] or calls answer.update(...)."""
    for node in ast.walk(tree):
        value = getattr(node, "value", None)
        if not (isinstance(value, ast.Name) and value.id == "answer"):
            continue
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            return True
        if isinstance(node, ast.Attribute) and node.attr in ("update", "setdefault"):
            return True
    return False


def check(code: str) -> dict[str, Any]:
    """Compiles only: is this code, is it whole, does it do anything?"""
    result: dict[str, Any] = {"ok": True, "error": None, "incomplete": False, "has_effect": False,
                              "assigns": [], "names": []}
    try:
        tree = parse(code)
        compile(tree, "<block>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        result["ok"] = False
        result["incomplete"] = bool(_INCOMPLETE.search(error.msg or ""))
        result["error"] = {"type": type(error).__name__, "message": error.msg or "",
                           "line": error.lineno or 0, "column": error.offset or 0,
                           "source": (error.text or "").rstrip("\n"),
                           "incomplete": result["incomplete"]}
        return result
    result["has_effect"] = any(isinstance(node, _EFFECTS) for node in ast.walk(tree))
    result["assigns"] = list(dict.fromkeys(name for name, _, _ in bindings(tree)))
    result["names"] = sorted(used_names(tree))
    return result
