"""Refuses blocks that would compute on invented data or lose our functions.

Small models often retype the context: they assign three made-up rows to `records` and count those.
Such a block is not run. Rebinding a data name to anything computed is harmless: the name is put
back after the block. Label lists, settings and answers written as literals are left alone.
"""

import ast
from collections.abc import Callable, Collection

from dossier_code import Parsed, used_names

DATA_NAMES = ("records", "context", "doc")
_SOURCES = {*DATA_NAMES, "contexts", "open", "llm_query", "llm_query_batched", "rlm_query", "rlm_query_batched",
            "map_llm", "memory_search", "memory_get", "Path", "pathlib", "contextMeta", "history",
            "sql", "os", "glob", "globals", "eval", "exec"}
# Calls that turn a literal into data, by the last part of their name.
_READERS = {"loads", "StringIO", "BytesIO", "DataFrame", "reader", "DictReader", "dedent", "list",
            "tuple", "dict", "literal_eval", "findall", "finditer"}
_FILE_READERS = {"read_csv", "read_json"}  # their text argument is a file's name
_SPLITTERS = {"split", "splitlines", "strip", "encode", "decode"}
_USERS = {"len", "sum", "max", "min", "sorted", "filter", "map", "enumerate", "Counter",
          "groupby", "reduce", "any", "all"}
_MULTILINE_ROWS = 3


def refusal(parsed: Parsed, functions: Collection[str], is_variable: Callable[[str], bool],
            what: Callable[[], str]) -> str:
    """Why the block must not run, or "". `is_variable`: set by an earlier block; `what` tells what
    the data names hold."""
    made_up: dict[str, ast.expr] = {}
    for name, node, value in parsed.bindings:
        if name in functions:
            verb = "deletes" if _is_delete(node) else "redefines"
            return (f"Not run: the block {verb} `{name}`, which is already defined and works. "
                    "Write the whole block again and use another name.")
        if value is not None and _is_made_up(value, made_up):
            if name in DATA_NAMES:
                return (f"Not run: the block assigns made-up data to `{name}`. {what()} Write the "
                        f"whole block again and use `{name}` as it is, without assigning it.")
            made_up.setdefault(name, value)
        elif value is not None:
            made_up.pop(name, None)
    return _stand_in(parsed, made_up, is_variable, what)


def _is_delete(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del)


def _stand_in(parsed: Parsed, made_up: dict[str, ast.expr],
              is_variable: Callable[[str], bool], what: Callable[[], str]) -> str:
    """Invented rows under another name, in a block that never looks at the data."""
    if parsed.reads & _SOURCES:
        return ""
    rows = {name for name, value in made_up.items() if _looks_like_rows(value)}
    used = rows & _used_as_data(parsed) if rows else rows
    if not used and not _reads_literal(parsed):
        return ""
    if any(map(is_variable, parsed.reads.difference(parsed.assigned))):
        return ""
    name = min(used, default="a literal")
    return (f"Not run: the block works on made-up data (`{name}`) and never uses the real data. "
            f"{what()} Write the whole block again on the real data.")


def _is_made_up(value: ast.expr, known: dict[str, ast.expr]) -> bool:
    """A non-empty text or collection written out in the code, also through json.loads(...)."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, (str, bytes)) and bool(value.value.strip())
    if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
        return bool(value.elts) and all(_is_fixed(item) for item in value.elts)
    if isinstance(value, ast.Dict):
        return bool(value.values) and all(_is_fixed(item) for item in value.values)
    if isinstance(value, ast.Name):
        return value.id in known
    if isinstance(value, ast.BinOp):
        return _is_made_up(value.left, known) and _is_fixed(value.right)
    if isinstance(value, ast.Call):
        return _is_reader(value, known)
    return False


def _is_fixed(value: ast.expr) -> bool:
    """Only constants and displays of constants: nothing computed."""
    return all(isinstance(node, (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Load,
                                 ast.UnaryOp, ast.unaryop, ast.BinOp, ast.operator))
               for node in ast.walk(value))


def _is_reader(value: ast.Call, known: dict[str, ast.expr]) -> bool:
    function = value.func
    if isinstance(function, ast.Attribute) and function.attr in _SPLITTERS:
        return _is_made_up(function.value, known)
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in _FILE_READERS:
        return any(isinstance(argument, ast.Call) and _is_made_up(argument, known)
                   for argument in value.args)
    return name in _READERS and bool(value.args) and any(_is_made_up(argument, known)
                                                          for argument in value.args)


def _looks_like_rows(value: ast.expr) -> bool:
    """At least one record written out, or a text of several lines."""
    if isinstance(value, ast.Call):
        inner = [*value.args, getattr(value.func, "value", None)]
        return any(part is not None and _looks_like_rows(part) for part in inner)
    if isinstance(value, (ast.List, ast.Tuple)):
        return any(isinstance(item, ast.Dict) and item.keys for item in value.elts)
    return (isinstance(value, ast.Constant) and isinstance(value.value, str)
            and _is_rows_text(value.value))


def _is_rows_text(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) >= _MULTILINE_ROWS or text.lstrip().startswith(("[{", '{"'))


def _used_as_data(parsed: Parsed) -> set[str]:
    """Names that are looped over, indexed, split, counted or parsed."""
    used: set[str] = set()
    for node in parsed.of(ast.For) + parsed.of(ast.comprehension):
        used |= used_names(node.iter)
    for node in parsed.of(ast.Subscript):
        if isinstance(node.value, ast.Name):
            used.add(node.value.id)
    for node in parsed.of(ast.Call):
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) \
            else getattr(function, "id", "")
        if name in _SPLITTERS and isinstance(function, ast.Attribute):
            used |= used_names(function.value)
        if name in _READERS | _USERS or name in ("search", "match", "sub"):
            for argument in node.args:
                used |= used_names(argument)
    return used


def _reads_literal(parsed: Parsed) -> bool:
    """json.loads('[{...'), or '''...''' split on the spot."""
    return any(_is_reader(node, {}) and _looks_like_rows(node) for node in parsed.of(ast.Call))
