"""What a block's syntax tree tells: names bound and used, completeness, effects."""

import ast
import re
from collections import defaultdict, namedtuple
from collections.abc import Callable, Collection, Iterator
from typing import Any

_INCOMPLETE = re.compile(r"unexpected EOF|was never closed|unterminated triple-quoted|"
                         r"expected an indented block|EOF in multi-line")
_EFFECTS = (ast.Call, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.For,
            ast.While, ast.With, ast.Delete, ast.NamedExpr, ast.FunctionDef, ast.AsyncFunctionDef,
            ast.ClassDef)
# What a node binds depends on where it stands: within a function only names declared global reach
# the top; in a comprehension, and in what an assignment has named already, only := does.
_TOP, _INSIDE, _ONLY_WALRUS = 0, 1, 2


class Binding(namedtuple("Binding", "name node value")):
    """A name that the top level of a block binds or deletes; the value where the code shows it."""

    __slots__ = ()


class Slot(namedtuple("Slot", "parent field index")):
    """Where a node hangs in its parent: a field, or an item of a list in it."""

    __slots__ = ()

    @property
    def node(self) -> Any:
        value = getattr(self.parent, self.field)
        return value if self.index is None else value[self.index]

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


class Parsed:
    """The syntax tree of a block and what one walk over it finds.

        parsed = Parsed(code)            # SyntaxError only, also for a NUL or too deep nesting
        parsed.of(ast.Call)              # the nodes of one kind, in source order
        parsed.assigned                  # what the top level binds, each name once

    The tree may be rewritten afterwards (dossier_rewrite): what was found stays as it was.
    """

    def __init__(self, code: str, aliases: Collection[str] = ()) -> None:
        """`aliases`: names of earlier blocks that stand for `context`."""
        try:
            self.tree: ast.Module = compile(code, "<block>", "exec", ast.PyCF_ONLY_AST,
                                            dont_inherit=True)
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(str(error) or "the code is nested too deeply") from None
        self.last: ast.stmt | None = self.tree.body[-1] if self.tree.body else None
        self.comparisons: list[Slot] = []   # parents before what they hold
        self.field_products: list[Slot] = []  # r["a"] * r["b"]
        self.context_parts: list[Slot] = []   # context[a:b], or by another name
        self._kinds: dict[type, list[Any]] = defaultdict(list)
        self._bound: list[tuple[Binding, int]] = []
        self._walk()
        same = [node.targets for node in self.of(ast.Assign) if is_name(node.value, {"context"})]
        self.context_names = {"context", *aliases, *(target.id for targets in same
                                                     for target in targets if is_name(target))}
        self.context_parts = [slot for slot in self.context_parts
                              if slot.node.value.id in self.context_names]
        declared = {name for node in self.of(ast.Global) for name in node.names}
        self.bindings = [binding for binding, scope in self._bound
                         if not scope & _INSIDE or binding.name in declared]
        self.assigned = list(dict.fromkeys(binding.name for binding in self.bindings))
        names = self.of(ast.Name)
        self.names = {node.id for node in names}   # that stand anywhere in the block
        self.reads = {node.id for node in names if node.ctx.__class__ is ast.Load}

    def of(self, kind: type) -> list[Any]:
        return self._kinds.get(kind, [])

    def _walk(self) -> None:
        stack: list[tuple[Any, int]] = [(self.tree, _TOP)]
        while stack:
            node, scope = stack.pop()
            kind = node.__class__
            self._kinds[kind].append(node)
            if kind in _BINDERS and (not scope & _ONLY_WALRUS or kind is ast.NamedExpr):
                self._bound += [(binding, scope) for binding in _BINDERS[kind](node)]
            scope |= _SCOPES.get(kind, 0)
            for field in _FIELDS[kind]:
                value = getattr(node, field)
                if value is None:
                    continue
                named = field in ("target", "targets") and kind in _ASSIGNMENTS
                own = scope | _ONLY_WALRUS if named else scope
                if value.__class__ is not list:
                    self._note(value, node, field, None)
                    stack.append((value, own))
                    continue
                for index in range(len(value) - 1, -1, -1):
                    child = value[index]
                    self._note(child, node, field, index)
                    if child is not None:   # the key of **mapping in a dict
                        stack.append((child, own))

    def _note(self, value: Any, parent: Any, field: str, index: int | None) -> None:
        kind = value.__class__
        if kind is ast.Compare:
            self.comparisons.append(Slot(parent, field, index))
        elif kind is ast.BinOp and value.op.__class__ is ast.Mult \
                and _is_field(value.left) and _is_field(value.right):
            self.field_products.append(Slot(parent, field, index))
        elif kind is ast.Subscript and is_part(value) \
                and value.ctx.__class__ is ast.Load:
            self.context_parts.append(Slot(parent, field, index))


def is_part(node: ast.Subscript) -> bool:
    """True for name[a:b]."""
    return node.slice.__class__ is ast.Slice and node.value.__class__ is ast.Name


def is_name(node: ast.AST, names: Collection[str] | None = None) -> bool:
    return node.__class__ is ast.Name and (names is None or node.id in names)


def _is_field(node: ast.expr) -> bool:
    """True for r["name"]."""
    return node.__class__ is ast.Subscript and node.slice.__class__ is ast.Constant \
        and node.slice.value.__class__ is str


def _node_fields(kind: type) -> tuple[str, ...]:
    """The fields that hold nodes, the last first, as a stack wants them."""
    if kind in (ast.Constant, ast.MatchSingleton, ast.Global, ast.Nonlocal):
        return ()
    plain = {"ctx", "op", "ops", "id", "attr", "arg", "name", "asname", "module", "level", "kind",
             "type_comment", "type_ignores", "conversion", "simple", "is_async", "rest", "kwd_attrs"}
    return tuple(field for field in reversed(kind._fields)  # type: ignore[attr-defined]
                 if field not in plain)


def _all_kinds(kind: type) -> Iterator[type]:
    yield kind
    for child in kind.__subclasses__():
        yield from _all_kinds(child)


def _bind_name(node: Any) -> Iterator[Binding]:
    """A definition, or a handler or pattern that may have no name."""
    if node.name:
        yield Binding(node.name, node, None)


def _bind_store(node: ast.Name) -> Iterator[Binding]:
    if node.ctx.__class__ is not ast.Load:
        yield Binding(node.id, node, None)


def _bind_rest(node: ast.MatchMapping) -> Iterator[Binding]:
    if node.rest:
        yield Binding(node.rest, node, None)


def _bind_imports(node: Any) -> Iterator[Binding]:
    for alias in node.names:
        yield Binding(alias.asname or alias.name.split(".")[0], node, None)


def _bind_targets(node: Any) -> Iterator[Binding]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for name, value in _pairs(targets, node.value):
        yield Binding(name, node, value)


_FIELDS = {kind: _node_fields(kind) for kind in _all_kinds(ast.AST)}
_ASSIGNMENTS = {ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr}
_BINDERS: dict[type, Callable[[Any], Iterator[Binding]]] = {
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler,
                     ast.MatchAs, ast.MatchStar), _bind_name),
    **dict.fromkeys((ast.Import, ast.ImportFrom), _bind_imports),
    **dict.fromkeys(_ASSIGNMENTS, _bind_targets),
    ast.Name: _bind_store, ast.MatchMapping: _bind_rest}
_SCOPES = {**dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef),
                           _INSIDE),
           **dict.fromkeys((ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
                           _ONLY_WALRUS)}


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
    """All names that stand in a part of a block."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def drop_imports(parsed: Parsed, missing: Callable[[str], bool]) -> list[str]:
    """Takes out imports of missing modules that the block never uses; gives their names."""
    dropped = []
    for node in parsed.of(ast.Import) + parsed.of(ast.ImportFrom):
        module = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
        bound = {alias.asname or alias.name.split(".")[0] for alias in node.names}
        alone = isinstance(node, ast.ImportFrom) or len(node.names) == 1
        if module and alone and node in parsed.tree.body and not bound & parsed.reads \
                and missing(module.split(".")[0]):
            parsed.tree.body.remove(node)
            dropped.append(module)
    return dropped


def last_assigned(parsed: Parsed) -> list[str]:
    """The names that the last statement assigns; empty if it is no assignment."""
    last = parsed.last
    if not isinstance(last, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        return []
    targets = last.targets if isinstance(last, ast.Assign) else [last.target]
    return [name for name, _ in _pairs(targets, None)]


def sets_answer_items(parsed: Parsed) -> bool:
    """True if the block writes answer["..."] or calls answer.update(...)."""
    def is_answer(node: Any) -> bool:
        return isinstance(node.value, ast.Name) and node.value.id == "answer"

    return "answer" in parsed.names and (
        any(is_answer(node) and isinstance(node.ctx, ast.Store) for node in parsed.of(ast.Subscript))
        or any(is_answer(node) and node.attr in ("update", "setdefault")
               for node in parsed.of(ast.Attribute)))


_COMPUTING = (ast.Call, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript,
              ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.SetComp,
              ast.DictComp, ast.GeneratorExp)


def _computes(parsed: Parsed, is_value: Callable[[str], bool],
              is_function: Callable[[str], bool]) -> bool:
    """True for one expression that works something out of names of the session. Prose may parse
    too (`red, blue`), so its names must be known, unless it calls something or formats."""
    if len(parsed.tree.body) != 1 or parsed.last.__class__ is not ast.Expr:
        return False
    if parsed.of(ast.FormattedValue):
        return True
    if not any(map(parsed.of, _COMPUTING)):
        return False
    for call in parsed.of(ast.Call):
        called = call.func
        if called.__class__ is ast.Name and (is_function(called.id) or is_value(called.id)):
            return True
        if called.__class__ is ast.Attribute and called.value.__class__ is ast.Constant:
            return True
    own = {node.id for node in parsed.of(ast.Name) if node.ctx.__class__ is not ast.Load}
    free = parsed.reads - own - {argument.arg for argument in parsed.of(ast.arg)}
    return any(map(is_value, free)) and all(is_value(name) or is_function(name) for name in free)


def check(code: str, is_value: Callable[[str], bool] = lambda _name: False,
          is_function: Callable[[str], bool] = lambda _name: False) -> dict[str, Any]:
    """Compiles only: is this code, is it whole, does it do anything? What the two tell of names is
    what a session knows."""
    result: dict[str, Any] = {"ok": True, "error": None, "incomplete": False, "has_effect": False,
                              "computes": False, "assigns": [], "names": []}
    try:
        parsed = Parsed(code)
        compile(parsed.tree, "<block>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        result["ok"] = False
        result["incomplete"] = bool(_INCOMPLETE.search(error.msg or ""))
        result["error"] = {"type": type(error).__name__, "message": error.msg or "",
                           "line": error.lineno or 0, "column": error.offset or 0,
                           "source": (error.text or "").rstrip("\n"),
                           "incomplete": result["incomplete"]}
        return result
    result["has_effect"] = any(map(parsed.of, _EFFECTS))
    result["computes"] = _computes(parsed, is_value, is_function)
    result["assigns"] = parsed.assigned
    result["names"] = sorted(parsed.names)
    return result
