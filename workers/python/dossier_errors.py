"""Errors as a model can use them: one line with what to do, the failing line, a short traceback.

The hint behind the message names what the model most likely meant. The same error text
without a hint brings the same program again.
"""

import ast
import itertools
import linecache
import re
import sys
import traceback
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dossier_rows import FieldError, nearest
from dossier_show import clean

_TRACEBACK_CHARACTERS = 3000
_BLOCK = re.compile(r"<block (\d+)>")
_NO_ARGUMENT = re.compile(r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'")


class World:
    """What hints may refer to: the names of the data and of everything that is defined."""

    def __init__(self, files: Sequence[str], has_records: Callable[[], bool],
                 names: Callable[[], Iterable[str]]) -> None:
        self.files = list(files)
        self.has_records = has_records
        self.names = names

    @property
    def file(self) -> str:
        return self.files[0] if self.files else "the context"

    def way(self) -> str:
        """How to reach the data."""
        return ("`records` holds the rows: for r in records: r['field']" if self.has_records()
                else "`context` holds the text")


def describe(error: BaseException, block: int, world: World | None) -> dict[str, Any]:
    """The error for the host: type, message with a hint where there is a world, line, source, traceback."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if _BLOCK.fullmatch(frame.filename)]
    line, source, message = 0, "", _message(error)
    if isinstance(error, SyntaxError) and _BLOCK.fullmatch(error.filename or "<block>"):
        line = error.lineno or 0
        source = error.text or linecache.getline(f"<block {block}>", line)
        message = error.msg or "invalid syntax"
    elif frames:
        last = frames[-1]
        line, source = last.lineno or 0, linecache.getline(last.filename, last.lineno or 0)
        if last.filename != f"<block {block}>":
            message += f" (in code of {last.filename[1:-1]})"
    advice = _hint(error, message, world) if world is not None else ""
    if advice:
        message = f"{message.rstrip('.')}. {advice}" if message else advice
    return {"type": type(error).__name__, "message": clean(message), "line": line,
            "source": clean(source.strip()), "traceback": clean(_traceback(error))}


def _message(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # an own exception whose __str__ fails
        text = ""
    return text if len(text) <= 1000 else text[:500] + " … " + text[-400:]


def _traceback(error: BaseException) -> str:
    """As Python prints it, without frames of our modules."""
    report = traceback.TracebackException.from_exception(error, compact=True)
    seen: set[int] = set()
    queue = [report]
    while queue:
        part = queue.pop()
        if part is None or id(part) in seen:
            continue
        seen.add(id(part))
        part.stack = traceback.StackSummary.from_list(
            [frame for frame in part.stack if not _is_ours(frame.filename)])
        queue += [part.__cause__, part.__context__, *(part.exceptions or [])]
    text = "".join(report.format()).rstrip("\n")
    if len(text) <= _TRACEBACK_CHARACTERS:
        return text
    half = _TRACEBACK_CHARACTERS // 2
    return text[:half] + "\n…\n" + text[-half:]


def _is_ours(filename: str) -> bool:
    return "dossier_" in filename or filename.endswith("/ast.py")


def _hint(error: BaseException, message: str, world: World) -> str:
    """One sentence: the nearest name, or the fixed hint for a common slip."""
    if isinstance(error, FieldError):
        return ""
    near = _nearest(error, world) or _argument(error, message)
    if near:
        return near
    for kind, pattern, sentence in _SLIPS:
        if isinstance(error, kind) and re.search(pattern, message):
            return sentence.format(file=world.file, way=world.way())
    return ""


def _nearest(error: BaseException, world: World) -> str:
    if isinstance(error, KeyError) and error.args and not getattr(error, "of_tool", False):
        key = error.args[0]
        known = _keys_indexed(error) if isinstance(key, str) else []
        near = nearest(str(key), known)
        if near:
            return f"Did you mean {' or '.join(map(repr, near))}?"
        return "The dict has no such key; print its keys or use .get()." if not known else \
            f"Known keys: {', '.join(map(repr, known[:20]))}."
    if isinstance(error, NameError):
        name = getattr(error, "name", None)
        if name is None:  # raised by FINAL_VAR, which names the nearest itself
            return ""
        special = _NAMES.get(name)
        if special:
            return special.format(file=world.file, way=world.way())
        near = nearest(name, world.names())
        return f"Did you mean {' or '.join(near)}?" if near else \
            "Nothing of that name was assigned; write the whole program again."
    if isinstance(error, AttributeError) and getattr(error, "name", None):
        owner = type(error.obj) if not isinstance(error.obj, types.ModuleType) else error.obj
        if owner.__name__.startswith(("Doc", "Records", "Row")):
            return ""
        near = nearest(error.name, [n for n in dir(error.obj) if not n.startswith("_")])
        if isinstance(error.obj, dict) and error.name in error.obj:
            return f"This is a dict: use [{error.name!r}]."
        if isinstance(error.obj, list) and error.name in ("split", "splitlines", "lower", "find"):
            return "This is a list: loop over its items, e.g. for text in context."
        return f"Did you mean .{' or .'.join(near)}?" if near else ""
    return ""


def _argument(error: BaseException, message: str) -> str:
    """What the call of one of our functions could be given, where it was given something else."""
    found = _NO_ARGUMENT.fullmatch(message) if isinstance(error, TypeError) else None
    owner, _, name = found[1].rpartition(".") if found else ("", "", "")
    for module in list(sys.modules.values()) if owner else ():
        function = getattr(getattr(module, owner, None), name, None)
        if function is not None and module.__name__.startswith("dossier_"):
            code = function.__code__
            known = [word for word in code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
                     if word != "self"]
            near = nearest(found[2], known, 1)
            guess = f"Did you mean {near[0]!r}? " if near else ""
            return f"{guess}It has {', '.join(known)}."
    return ""


def _keys_indexed(error: BaseException) -> list[str]:
    """Keys of the dict that the failing expression indexed; none where it cannot be told."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if place is None or not _BLOCK.fullmatch(place.tb_frame.f_code.co_filename):
        return []
    node = _expression(place)
    if isinstance(node, ast.Call):  # d.pop(key)
        node = node.func
    if not isinstance(node, (ast.Subscript, ast.Attribute)):
        return []
    value = _value(node.value, place.tb_frame)
    if not isinstance(value, dict):
        return []
    return [key for key in list(dict.keys(value))[:200] if isinstance(key, str)]


def _expression(place: types.TracebackType) -> ast.expr | None:
    """What the frame was evaluating, from its source."""
    code = place.tb_frame.f_code
    spot = next(itertools.islice(code.co_positions(), place.tb_lasti // 2, None), None)
    if spot is None or None in spot:
        return None
    first, last, start, end = spot
    lines = [line.encode() for line in linecache.getlines(code.co_filename)[first - 1:last]]
    if len(lines) != last - first + 1:
        return None
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    try:
        return ast.parse(b"(" + b"".join(lines) + b")", mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _value(node: ast.expr, frame: types.FrameType) -> Any:
    """The value of names and plain indexes, which no code of the model has to run for."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Subscript):
        owner, key = _value(node.value, frame), _value(node.slice, frame)
        if type(owner) in (dict, list, tuple) and type(key) in (str, int):
            try:
                return owner[key]
            except (KeyError, IndexError, TypeError):
                return None
    return None


_NAMES = {
    "true": "In Python it is True.", "false": "In Python it is False.",
    "null": "In Python it is None.", "undefined": "In Python it is None.",
    "console": "This is Python: use print(...).", "display": "Use print(...).",
    "pd": "pandas is not installed and cannot be: {way}.",
    "np": "numpy is not installed: use plain lists, sum(), min(), max(), statistics.",
    "plt": "Nothing can be plotted here: print the numbers.",
    "records": "This text has no records: use context, doc.grep(pattern) or doc.lines(a, b).",
    "df": "No data frame is defined: {way}.",
    "data": "Nothing is assigned to data: {way}.",
    "datetime": "Write: from datetime import datetime",
}

# (error, pattern of its message, what to do): the slips that models make most.
_SLIPS: list[tuple[type[BaseException], str, str]] = [
    (SyntaxError, "'await' outside", "Leave out await: llm_query is an ordinary function."),
    (SyntaxError, "was never closed|unterminated|unexpected EOF|EOF in",
     "A bracket or quote is not closed, or the code was cut; write the whole block again, "
     "shorter."),
    (SyntaxError, "Missing parentheses", "Write print(...) with parentheses."),
    (SyntaxError, "expected an indented block|unindent|unexpected indent|inconsistent use of tabs",
     "Indent with four spaces, the same in each block of lines."),
    (SyntaxError, "invalid character|invalid non-printable",
     "Use plain ASCII quotes and operators."),
    (SyntaxError, "f-string", "Use other quotes inside the f-string, or a variable."),
    (SyntaxError, "'return' outside", "Outside a function use print(...) instead of return."),
    (SyntaxError, "invalid syntax", "Only Python belongs in the block, no prose."),
    (ValueError, "Extra data", "The file has one JSON object a line: {way}."),
    (ValueError, "Expecting value|Expecting property name",
     "This is not one JSON text: {way}."),
    (EOFError, ".", ""),
    (ModuleNotFoundError, "pandas|polars", "Nothing can be installed: {way}."),
    (ImportError, ".", "Nothing can be installed: use Python's standard library."),
    (FileNotFoundError, ".", "Only the context can be opened: open({file!r}); {way}."),
    (OSError, "name too long", "`context` is the text itself, not a path: use it directly."),
    (PermissionError, ".",
     "No files, network or processes here: use context, doc and llm_query."),
    (OSError, "Read-only|not permitted|denied|unreachable|getaddrinfo|resolution",
     "No files, network or processes here: use context, doc and llm_query."),
    (TypeError, "NoneType.*(subscriptable|iterable)|'NoneType' object",
     "The value is None: the field is missing in this row; check `if value is not None` first."),
    (TypeError, "NoneType",
     "A field is missing (None) in some rows: use `(r['field'] or 0)` or skip rows where it is "
     "None."),
    (AttributeError, "NoneType",
     "The value is None: the field is missing in this row; check `if value is not None` first."),
    (AttributeError, "'str' object has no attribute '(get|keys|items|values)'",
     "This is a string, not a row: {way}."),
    (TypeError, "string indices must be integers",
     "This is a string, not a row: {way}."),
    (TypeError, "between instances of '(str|int|float)' and '(str|int|float)'",
     "A text is compared with a number: convert it with int(...) or float(...)."),
    (TypeError, "can only concatenate str|unsupported operand.*'str'",
     "A text and a number are mixed: use an f-string to print, int(...) or float(...) to add."),
    (TypeError, "expected string or bytes-like object",
     "re needs a string: use doc.grep(pattern) for the whole text, str(value) for one value."),
    (TypeError, "not JSON serializable", "Make it plain first: list(records), dict(row)."),
    (TypeError, "list indices must be integers", "This is a list of rows: {way}."),
    (TypeError, "holds text .* is multiplied",
     "Another field has the number: see the types in the description, or use float(...)."),
    (TypeError, "unhashable", "Use a tuple or str(...) as the key."),
    (TypeError, "a coroutine was expected|can't be used in 'await'",
     "llm_query is an ordinary function: call it without await."),
    (ValueError, "invalid literal for int|could not convert string to float",
     "This text is no number: skip it, or strip what surrounds the digits."),
    (ValueError, "arg is an empty sequence|no median|at least one data point",
     "The filter matched nothing: print the values that exist, then filter again."),
    (ValueError, "not enough values|too many values",
     "Print one item to see its parts before unpacking it."),
    (ZeroDivisionError, ".", "Nothing was counted: print the values that exist first."),
    (IndexError, ".", "There are fewer items than expected: print len(...) first."),
    (RecursionError, ".", "Use a loop."),
    (MemoryError, "", "Too much to hold at once, build no list of it: {way}. The user may allow more with "
     "--cell-memory."),
    (RuntimeError, "running event loop", "Use await directly, without asyncio.run."),
]
