"""What a result leaves out: rows that a slice cut off, rows whose reading failed unseen.

    gaps = Gaps(sizes)
    gaps.plan(parsed, {})        # before the block runs; gaps.rewrite(tree) puts counters in
    gaps.take(parsed, {})        # behind it: [("Only 100 of 3,000 rows …", 100)]

Three ways lead to a number that looks like one over all of the data and is none: a part of the rows
by a fixed number (`records[:100]`, islice, random.sample, a `break` after so many passes), an
`except` that passes over what it catches, and a condition that fits nothing (dossier_reasons; the
caller hands those in). Each belongs to the statement where it happened and goes on with the names
that are computed from it, into later blocks too; parts that together are the whole are no gap. A
slice that is only shown, or gone through without a condition, a sum or a list, is a look at the
data and none either.
"""

import ast
import re
import sys
from collections import defaultdict, namedtuple
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from dossier_code import Parsed
from dossier_fold import Unknown, fold
from dossier_records import Records, Row
from dossier_seek import field_of
from dossier_slips import slips

_SHOWS = {"print", "pprint", "display", "repr", "str", "dumps", "FINAL", "SUBMIT", "PARTIAL", "format",
          "type", "SHOW_VARS", "join"}
_KEEPS = {"list", "tuple", "iter", "enumerate", "reversed", "DataFrame", "copy", "to_list",
          "to_dict", "to_string", "tolist", "items", "dict", "reset_index", "splitlines", "split"}
_WHOLE = {"records", "readlines", "splitlines", "reader", "DictReader", "open", "read_csv", "read_json",
          "lines", "list", "iter", "enumerate", "tuple", "DataFrame", "split", "Path", "read_text",
          "read", "StringIO", "zip"}
_ORDERS = {"sorted", "sort", "sort_values", "nlargest", "nsmallest", "most_common", "reversed", "reverse"}
_TAKES = {"islice": 0, "sample": 0, "choices": 0, "head": None, "tail": None}  # where the whole stands
_MODELS = {"llm_query", "rlm_query"}
_ADDS = {"append", "add", "extend", "update"}
_MOST_SAID = 5
_LEAST_TEXT = 1000  # characters
_LEAST = 10         # rows or lines; what is shorter could be a list of anything
_EDGE = 2           # rows or lines that a header or a last line may make
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'")
# A number, date or time in a form that the code does not read: 1,234.50 or $5 or 3/4/2024 or 12 kg.
_NUMBER_LIKE = re.compile(r"\W*\d[\d\s.,_'/:T+-]*[^\d\s]{0,3}\s*")


class Gap(namedtuple("Gap", "text line part whole marks function", defaults=("",))):
    """`part`: the rows of a slice as a range, `whole` how many there are; None for other gaps.
    `line`: where it is in the block; else `marks`, texts that stand there, or the `function` of an
    earlier block."""

    __slots__ = ()


class Gaps:
    """Of one session. `sizes()` gives how many rows and lines the data have."""

    def __init__(self, sizes: Callable[[], Iterable[int]],
                 part: Callable[..., str] = lambda text, *bounds: text[slice(*bounds)],
                 is_context: Callable[[str], bool] = lambda _text: False) -> None:
        """`part` cuts a text as the block would; `is_context` knows the text of `context`."""
        self._sizes, self._part, self._is_context = sizes, part, is_context
        self._names: dict[str, list[Gap]] = {}     # what the value of a name leaves out
        self._cut_names: dict[str, list[int]] = {}  # names that hold a slice, by its number
        self._cuts: dict[int, Gap] = {}             # slices that cut something off
        self._plans: dict[int, tuple[str, int]] = {}   # by node: what is counted there, and its number
        self._used: dict[int, int] = {}             # of this block: slices that are used, with a line
        self._tries: dict[int, list[int]] = defaultdict(lambda: [0, 0])  # passes, failures
        self._failed: dict[int, list[Any]] = defaultdict(list)  # errors: blank, with digits, first
        self._lines: dict[int, tuple[int, str]] = {}
        self._homes: dict[int, str] = {}            # functions in which a `try` stands
        self._said: list[tuple[int, str]] = []      # by say()
        self._known_sizes: list[int] | None = None
        self._ordered: set[str] = set()   # names of sorted lists
        self._numbers = 0

    def forget(self) -> None:
        self.__init__(self._sizes, self._part, self._is_context)  # type: ignore[misc]

    def functions(self) -> dict[str, Callable[..., Any]]:
        """What rewritten code calls."""
        def _dossier_tried(number: int) -> None:
            self._tries[number][0] += 1

        return {"_dossier_tried": _dossier_tried, "_dossier_swallowed": self._swallowed,
                "_dossier_cut": self._cut, "_dossier_stopped": self._stopped}

    def say(self, text: str) -> None:
        """Something is wrong at the line of the block that is running."""
        frame: Any = sys._getframe(2)
        while frame is not None and not frame.f_code.co_filename.startswith("<block"):
            frame = frame.f_back
        if frame is not None and len(self._said) < _MOST_SAID:
            self._said.append((frame.f_lineno, f"{text} (line {frame.f_lineno})."))

    def plan(self, parsed: Parsed, fixed: Mapping[str, Any]) -> None:
        """Finds what is to be counted in a block, while its tree is as it was written."""
        self._plans, self._used, self._said = {}, {}, []
        homes = [node for node in parsed.tree.body if isinstance(node, ast.FunctionDef)]
        self._tries.clear()
        self._failed.clear()
        for node in parsed.of(ast.Try):
            silent = [part for part in node.handlers if all(map(_passes_over, part.body))]
            if silent:
                self._note(node, "try", _loop_in(node))
                self._homes |= {self._numbers: home.name for home in homes
                                if home.lineno <= node.lineno <= (home.end_lineno or 0)}
            for handler in silent:
                self._plans[id(handler)] = "swallow", self._plans[id(node)][1]
        for node in parsed.of(ast.With):
            if len(node.items) == 1 and _called(node.items[0].context_expr) == "suppress":
                self._note(node, "suppress", _loop_in(node))
        self._ordered -= set(parsed.assigned)
        self._ordered |= set(_ordered_names(parsed))   # the best so many of all are no part of them
        cuts = [*_slices(parsed, fixed), *_takes(parsed)]
        loops = list(_stops(parsed, fixed))
        if not cuts and not loops and not parsed.reads & self._cut_names.keys():
            return
        uses = _Uses(parsed)
        for node in cuts:
            whole = node.value if isinstance(node, ast.Subscript) else node
            if not _orders(whole) and _base(whole) not in self._ordered:
                self._note(node, "cut", ast.unparse(node))
        for loop, stop, number in loops:
            if uses.gathers(loop, stop):
                self._note(stop, "stop", str(number))
                self._used[self._plans[id(stop)][1]] = loop.lineno
        self._follow(parsed, uses, cuts)

    def counts(self, node: ast.AST) -> bool:
        """Whether a node of the block will be replaced."""
        return id(node) in self._plans

    def rewrite(self, tree: ast.Module) -> None:
        if self._plans:
            ast.fix_missing_locations(_Counters(self._plans).visit(tree))

    def take(self, parsed: Parsed, misled: Mapping[str, tuple[str, ...]],
             settled: Collection[str]) -> list[list[Any]]:
        """What the output or the answer of the block leaves out: a sentence, and how many rows were
        taken (0: it is about something else). `misled`: reasons why conditions fit nothing."""
        own = [Gap(text, 0, None, 0, marks) for text, marks in misled.items()]
        own += [cut._replace(line=line) for number, line in self._used.items()
                if (cut := self._cuts.get(number))]
        own += self._losses()
        own += [Gap(text, line, None, 0, ()) for line, text in slips(parsed)]
        own += [Gap(text, line, None, 0, ()) for line, text in self._said]
        if settled:
            self._names = {name: [gap for gap in gaps if gap.text not in settled]
                           for name, gaps in self._names.items()}
        if not own and not any(self._names.values()):
            return []
        shown: dict[str, Gap] = {}
        statements = [node for node in parsed.tree.body if node is not parsed.last]
        for statement in filter(None, [*statements, parsed.last]):  # the last one may have been taken out
            found = self._flow(statement, own)
            if statement is parsed.last or _shows(statement):
                shown |= {gap.text: gap for gap in found}
        return [[gap.text, len(gap.part) if gap.part is not None else gap.whole]
                for gap in _without_whole(list(shown.values()))]

    def _flow(self, statement: ast.stmt, own: list[Gap]) -> list[Gap]:
        """What a statement's value leaves out, and what the names that it binds do then."""
        inner = list(ast.walk(statement))
        reads, plain, bound = _names_of(statement, inner)
        end = statement.end_lineno or statement.lineno
        gaps = {gap.text: gap for name in sorted(reads) for gap in self._names.get(name, [])}
        gaps |= {gap.text: gap for gap in own if statement.lineno <= gap.line <= end
                 or gap.function in reads or any(_says(node, gap.marks) for node in inner)}
        for name in bound:
            if gaps:
                self._names[name] = list(gaps.values())
            elif name in plain:
                self._names.pop(name, None)
        return list(gaps.values())

    def _note(self, node: ast.AST, kind: str, text: str) -> None:
        self._numbers += 1
        self._plans[id(node)] = kind, self._numbers
        self._lines[self._numbers] = node.lineno, text  # type: ignore[attr-defined]

    def _follow(self, parsed: Parsed, uses: "_Uses", cuts: list[ast.expr]) -> None:
        """Which slices the block uses, and which names hold one from now on."""
        waiting = [(node, self._plans[id(node)][1]) for node in cuts if id(node) in self._plans]
        held: dict[str, tuple[tuple[int, int], list[int]]] = {
            name: ((0, 0), numbers) for name, numbers in self._cut_names.items()}
        loads = [node for node in parsed.of(ast.Name) if isinstance(node.ctx, ast.Load)]
        rebound = set(parsed.assigned)
        waiting += [(node, number) for node in loads if node.id in held
                    and not uses.bound_before(node) for number in held[node.id][1]]
        seen: set[tuple[int, int]] = set()
        for name in rebound:
            self._cut_names.pop(name, None)
        while waiting:
            node, number = waiting.pop()
            if (id(node), number) in seen:
                continue
            seen.add((id(node), number))
            used, names = uses.of(node)
            if not used and not names:   # only shown
                self._plans.pop(id(node), None)
            if used:
                self._used.setdefault(number, node.lineno)
            for name, place in names:
                self._cut_names[name] = [*self._cut_names.get(name, []), number]
                waiting += [(load, number) for load in loads
                            if load.id == name and (load.lineno, load.col_offset) > place]

    def _swallowed(self, number: int) -> None:
        self._tries[number][1] += 1
        error = sys.exception()
        quoted = _QUOTED.search(str(error)) if error is not None else None
        blank = "NoneType" in str(error) or (quoted is not None and not quoted[1].strip())
        lost = quoted is not None and isinstance(error, ValueError) \
            and bool(_NUMBER_LIKE.fullmatch(quoted[1]))
        known = self._failed[number]
        if not known:
            known += [0, 0, ""]
        known[0] += blank
        known[1] += lost
        if not known[2] or lost and known[1] == 1:
            known[2] = f"{type(error).__name__}: {str(error)[:120]}"

    def _losses(self) -> Iterator[Gap]:
        """Where so much was passed over, or such things, that a result is doubtful: every pass; a
        number that is written in another way; much of what is not just missing."""
        for number, (passes, failures) in self._tries.items():
            if not failures:
                continue
            blank, lost, example = self._failed[number]
            line, loop = self._lines[number]
            many = passes > 1 and (failures == passes or lost or 2 * (failures - blank) > passes)
            if not many and not (passes == 1 and loop):
                continue
            home = self._homes.get(number, "")
            place = f"{home}()" if home else f"line {line}"
            now = any(number == planned for _, planned in self._plans.values())
            yield Gap(f"In the `try` of {place}, {failures:,} of {passes:,} passes failed and the code "
                      f"passes over them ({example}).", line if now else 0, None, 0, (),
                      "" if now else home)

    def _cut(self, number: int, whole: Any, take: Any, *arguments: Any, **options: Any) -> Any:
        """A slice, islice(), sample() or head(), which tells what it leaves out."""
        if whole.__class__ is str and take == "__getitem__":
            return self._text_part(number, whole, arguments[0])
        part = getattr(whole, take)(*arguments, **options) if isinstance(take, str) else \
            take(whole, *arguments, **options)
        self._cuts.pop(number, None)
        if isinstance(whole, (bytes, dict)):
            return part
        count = len(whole) if hasattr(whole, "__len__") else None
        if self._known_sizes is None:
            self._known_sizes = [size for size in self._sizes() if size >= _LEAST]
        sizes = self._known_sizes
        if count is None:
            count = max(sizes, default=0)
        elif not any(abs(count - size) <= _EDGE for size in sizes):
            return part   # no more than what was chosen out of the data
        if take == "__getitem__":
            taken = range(count)[arguments[0]]
        else:
            taken = range(len(part)) if hasattr(part, "__len__") else range(count)[slice(*arguments)]
        edge = 0 if _holds_rows(whole) else _EDGE   # a row is no header
        if len(taken) < count - edge:
            line, text = self._lines[number]
            self._cuts[number] = Gap(f"Only {len(taken):,} of {count:,} rows are in what the code works with: "
                                     f"{text}.", line, taken, count, ())
        return part

    def _text_part(self, number: int, whole: str, part: slice) -> str:
        taken = self._part(whole, part.start, part.stop, part.step)
        if len(whole) >= _LEAST_TEXT and self._is_context(whole) and len(taken) < len(whole):
            line, text = self._lines[number]
            start, stop, step = part.indices(len(whole))
            self._cuts[number] = Gap(f"Only {len(taken):,} of {len(whole):,} characters are in what the code "
                                     f"works with: {text}.", line, range(start, stop, step), len(whole), ())
        return taken

    def _stopped(self, number: int) -> None:
        line, passes = self._lines[number]
        self._cuts[number] = Gap(f"The loop that `break` in line {line} leaves does not go through all "
                                 "rows.", line, None, int(passes), ())


class _Uses:
    """How the value of an expression is used, by what stands around it."""

    def __init__(self, parsed: Parsed) -> None:
        self._parsed = parsed
        self._parents = {child: parent for parent in ast.walk(parsed.tree)
                         for child in ast.iter_child_nodes(parent)}

    def bound_before(self, name: ast.Name) -> bool:
        """Whether the top level of the block binds a name before it reads it here."""
        return any(binding.name == name.id and binding.node.lineno < name.lineno
                   and not isinstance(binding.node, ast.AugAssign)
                   for binding in self._parsed.bindings)

    def of(self, node: ast.expr) -> tuple[bool, list[tuple[str, tuple[int, int]]]]:
        """Whether a result is made of it, and the names that are bound to it, with where."""
        child, names = node, []
        while (parent := self._parents.get(child)) is not None:
            if isinstance(parent, ast.comprehension):
                if parent.ifs or child is not parent.iter:
                    return child is parent.iter, names
                parent = self._parents[parent]
            elif isinstance(parent, ast.For):
                if child is not parent.iter:
                    return False, names
                return self.gathers(parent, None), [*names, *_filled(parent)]
            elif isinstance(parent, ast.Call) and child is not parent.func:
                called = _called(parent)
                # What of the data a model has read is counted elsewhere; zip(x, x[1:]) makes pairs.
                if called in _MODELS or called == "zip":
                    return False, names
                if called not in _SHOWS | _KEEPS | _TAKES.keys():
                    return True, names
            elif isinstance(parent, ast.Attribute):
                if parent.attr not in _SHOWS | _KEEPS | _TAKES.keys():
                    return True, names
            elif isinstance(parent, (ast.Compare, ast.AugAssign)):
                return True, names
            elif isinstance(parent, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
                targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
                place = (parent.end_lineno or 0, parent.end_col_offset or 0)
                names += [(part.id, place) for target in targets for part in ast.walk(target)
                          if isinstance(part, ast.Name) and not isinstance(target, ast.Subscript)]
                if not isinstance(parent, ast.NamedExpr):
                    return False, names
            elif isinstance(parent, ast.Subscript) and not isinstance(parent.slice, ast.Slice) \
                    and not isinstance(getattr(parent.slice, "value", None), str):
                return False, names   # one row of it
            elif isinstance(parent, ast.Return):
                return False, [*names, *((home, (0, 0)) for home in self._functions_around(parent))]
            elif isinstance(parent, ast.stmt):
                return False, names
            child = parent
        return False, names

    def _functions_around(self, node: ast.AST) -> Iterator[str]:
        while (parent := self._parents.get(node)) is not None:
            if isinstance(parent, ast.FunctionDef):
                yield parent.name
            node = parent

    def gathers(self, loop: ast.For, stop: ast.stmt | None) -> bool:
        """Whether a loop counts, adds up or chooses, rather than shows what it goes through."""
        asks = {id(part) for part in ast.walk(self._parents[stop])} if stop is not None else set()
        counters = _pass_counters(loop)
        for node in (part for statement in loop.body for part in ast.walk(statement)):
            if isinstance(node, ast.Compare) and id(node) not in asks:
                return True
            if isinstance(node, ast.AugAssign) and _base(node.target) not in counters:
                return True
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                return True
        return False


class _Counters(ast.NodeTransformer):
    """Puts calls that count into a tree."""

    def __init__(self, plans: Mapping[int, tuple[str, int]]) -> None:
        self._plans = plans

    def visit(self, node: ast.AST) -> Any:
        kind, number = self._plans.get(id(node), ("", 0))
        self.generic_visit(node)
        if kind == "try":
            node.body.insert(0, _call_statement("_dossier_tried", number, node.body[0]))
        elif kind == "suppress":
            caught = ast.Tuple(node.items[0].context_expr.args, ast.Load())
            quiet = _call_statement("_dossier_swallowed", number, node)
            body = [_call_statement("_dossier_tried", number, node), *node.body]
            return ast.copy_location(ast.Try(body, [ast.ExceptHandler(caught, None, [quiet])], [], []),
                                     node)
        elif kind == "swallow":
            node.body.insert(0, _call_statement("_dossier_swallowed", number, node.body[0]))
        elif kind == "stop":
            return [_call_statement("_dossier_stopped", number, node), node]
        elif kind == "cut":
            return ast.copy_location(_counted(node, number), node)
        return node


def _call_statement(function: str, number: int, place: ast.stmt) -> ast.stmt:
    call = ast.Call(ast.Name(function, ast.Load()), [ast.Constant(number)], [])
    return ast.copy_location(ast.Expr(call), place)


def _counted(node: Any, number: int) -> ast.expr:
    if isinstance(node, ast.Subscript):
        part = node.slice
        bounds = [bound or ast.Constant(None) for bound in (part.lower, part.upper, part.step)]
        taken = ast.Call(ast.Name("slice", ast.Load()), bounds, [])
        arguments, whole, take = [taken], node.value, ast.Constant("__getitem__")
    elif isinstance(node.func, ast.Attribute) and _TAKES[node.func.attr] is None:
        arguments, whole, take = node.args, node.func.value, ast.Constant(node.func.attr)
    else:
        arguments, whole, take = node.args[1:], node.args[0], node.func
    return ast.Call(ast.Name("_dossier_cut", ast.Load()), [ast.Constant(number), whole, take, *arguments],
                    getattr(node, "keywords", []))


def _slices(parsed: Parsed, fixed: Mapping[str, Any]) -> Iterator[ast.Subscript]:
    """x[:100], x[-100:], x[::10] with numbers that the code says itself."""
    firsts = {ast.unparse(node.value) for node in parsed.of(ast.Subscript)
              if isinstance(node.slice, ast.Constant) and node.slice.value == 0}
    for node in parsed.of(ast.Subscript):
        if not isinstance(node.slice, ast.Slice) or not isinstance(node.ctx, ast.Load) \
                or field_of(node.value):   # a part of a text
            continue
        lower, upper, step = (_number(bound, fixed)
                              for bound in (node.slice.lower, node.slice.upper, node.slice.step))
        text = ast.unparse(node.value)
        if text in firsts and (upper, step) == (None, None) and lower == 1:
            continue   # the first is taken by itself
        if (upper or 0) > 0 or (lower or 0) != 0 or upper is not None or (step or 1) > 1:
            yield node


def _takes(parsed: Parsed) -> Iterator[ast.Call]:
    for node in parsed.of(ast.Call):
        name = _called(node)
        if name not in _TAKES or any(isinstance(item, ast.Starred) for item in node.args):
            continue
        module = isinstance(node.func, ast.Name) or _base(node.func.value) in ("itertools", "random")
        if _TAKES[name] == 0 and module and node.args and _is_whole(node.args[0], parsed):
            yield node
        elif _TAKES[name] is None and isinstance(node.func, ast.Attribute):
            yield node


def _is_whole(node: ast.expr, parsed: Parsed) -> bool:
    """Whether an expression is all rows or lines, one way or the other, and no choice of them."""
    for _ in range(8):
        if isinstance(node, ast.Call):
            called = _called(node)
            if called not in _WHOLE:
                return False
            if not node.args or called in ("split", "open", "lines"):
                return True
            node = node.args[0]
        elif isinstance(node, ast.Attribute):
            return node.attr == "records"
        elif isinstance(node, ast.Name):
            values = [binding.value for binding in parsed.bindings if binding.name == node.id]
            if not values:
                return node.id in ("records", "context", "doc")
            if len(values) > 1 or values[0] is None:
                return any(_names(item.optional_vars, node.id) for statement in parsed.of(ast.With)
                           for item in statement.items)
            node = values[0]
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            if len(node.generators) != 1 or node.generators[0].ifs:
                return False
            node = node.generators[0].iter
        else:
            return False
    return False


def _stops(parsed: Parsed, fixed: Mapping[str, Any]) -> Iterator[tuple[ast.For, ast.Break, int]]:
    """Loops over all rows that break after a fixed number of passes, whatever the rows say."""
    for loop in parsed.of(ast.For):
        if not _is_whole(loop.iter, parsed):
            continue
        counters = _pass_counters(loop)
        for statement in loop.body:
            if not isinstance(statement, ast.If) or not isinstance(statement.body[-1], ast.Break):
                continue
            names = {node.id for node in ast.walk(statement.test) if isinstance(node, ast.Name)}
            if names & counters and not names - counters - fixed.keys() - {"len"}:
                numbers = [_number(part, fixed) for part in ast.walk(statement.test)
                           if isinstance(part, (ast.Constant, ast.Name))]
                yield loop, statement.body[-1], next((found for found in numbers if found), 0)


def _pass_counters(loop: ast.For) -> set[str]:
    """Names that count the passes of a loop: of enumerate(), `n += 1`, a list that each pass adds
    to."""
    counters = {_base(part.target) for part in loop.body if isinstance(part, ast.AugAssign)
                and isinstance(part.value, ast.Constant)}
    counters |= {name for name, _ in _filled(loop, deep=False)}
    if getattr(getattr(loop.iter, "func", None), "id", "") == "enumerate" \
            and isinstance(loop.target, ast.Tuple):
        counters.add(_base(loop.target.elts[0]))
    return counters - {""}


def _filled(loop: ast.For, *, deep: bool = True) -> list[tuple[str, tuple[int, int]]]:
    """The lists that a loop adds to, and where the loop ends."""
    body: Iterable[ast.AST] = (part for node in loop.body for part in ast.walk(node)) if deep else \
        (node.value for node in loop.body if isinstance(node, ast.Expr))
    return [(_base(node.func.value), (loop.end_lineno or 0, loop.end_col_offset or 0)) for node in body
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            and node.func.attr in _ADDS and _base(node.func.value)]


def _without_whole(gaps: list[Gap]) -> list[Gap]:
    """Without slices that together are all rows."""
    of_whole: dict[int, list[range]] = defaultdict(list)
    for gap in gaps:
        if gap.part is not None:
            of_whole[gap.whole].append(gap.part)
    complete = set()
    for whole, parts in of_whole.items():
        end = _EDGE
        for part in sorted((part for part in parts if part.step == 1), key=lambda part: part.start):
            end = max(end, part.stop) if part.start <= end else end
        if len(parts) > 1 and (end >= whole - _EDGE or _interleaved(parts)):
            complete.add(whole)
    return [gap for gap in gaps if gap.part is None or gap.whole not in complete]


def _interleaved(parts: Sequence[range]) -> bool:
    """records[::2] and records[1::2]"""
    steps = {part.step for part in parts}
    return len(steps) == 1 and max(steps) > 1 and {part.start for part in parts} >= set(range(max(steps)))


def _holds_rows(whole: Any) -> bool:
    return isinstance(whole, Records) or (isinstance(whole, list) and bool(whole)
                                          and isinstance(whole[0], Row))


def _loop_in(node: ast.AST) -> str:
    """"loop" if what may fail goes through something: the first failure ends it."""
    return "loop" if any(isinstance(part, (ast.For, ast.While, ast.comprehension))
                         for part in ast.walk(node)) else ""


def _called(node: ast.AST) -> str:
    """The name of what is called, "" where nothing is."""
    function = getattr(node, "func", None)
    return getattr(function, "attr", getattr(function, "id", ""))


def _passes_over(statement: ast.stmt) -> bool:
    """A statement of a handler that says nothing of what was caught."""
    if isinstance(statement, (ast.Pass, ast.Continue, ast.Break)):
        return True
    value = getattr(statement, "value", None)
    if isinstance(statement, (ast.Assign, ast.Return, ast.Expr)):
        return value is None or _is_constant(value)
    return False


def _is_constant(node: ast.expr) -> bool:
    try:
        fold(node, {})
    except Unknown:
        return False
    return True


def _number(node: ast.expr | None, names: Mapping[str, Any]) -> int | None:
    try:
        value = fold(node, names) if node is not None else None
    except Unknown:
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _ordered_names(parsed: Parsed) -> Iterator[str]:
    for call in parsed.of(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in _ORDERS:
            yield _base(call.func.value)
    for node in parsed.of(ast.Assign):
        if _orders(node.value):
            yield from map(_base, node.targets)


def _orders(node: ast.AST) -> bool:
    return any(_called(call) in _ORDERS
               for call in ast.walk(node) if isinstance(call, ast.Call))


def _says(node: ast.AST, marks: Sequence[Any]) -> bool:
    return isinstance(node, ast.Constant) and node.value in marks and node.value is not None


def _shows(statement: ast.stmt) -> bool:
    return any(getattr(node, "id", getattr(node, "attr", "")) in (*_SHOWS, "FINAL_VAR", "answer", "write")
               for node in ast.walk(statement) if isinstance(node, (ast.Name, ast.Attribute)))


def _names_of(statement: ast.stmt, inner: list[ast.AST]) -> tuple[set[str], set[str], set[str]]:
    """The names whose value a statement takes from before it, those that it binds afresh, and all
    that it binds or changes."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        reads = {node.id for node in inner if isinstance(node, ast.Name)
                 and isinstance(node.ctx, ast.Load)}
        return reads, {statement.name}, {statement.name}
    local = {node.id for part in inner if isinstance(part, ast.comprehension)
             for node in ast.walk(part.target) if isinstance(node, ast.Name)}
    added = {id(node.target) for node in inner if isinstance(node, ast.AugAssign)}
    names = sorted((node for node in inner if isinstance(node, ast.Name) and node.id not in local),
                   key=lambda node: (node.lineno, node.col_offset))
    if isinstance(statement, ast.Assign):   # its value comes first
        names.sort(key=lambda node: not isinstance(node.ctx, ast.Load))
    reads, plain, bound = set[str](), set[str](), set[str]()
    for node in names:
        if isinstance(node.ctx, ast.Load) or id(node) in added:
            reads |= {node.id} - plain
        elif node.id not in reads:
            plain.add(node.id)
        bound |= set() if isinstance(node.ctx, ast.Load) else {node.id}
    bound |= {_base(node.func.value) for node in inner if isinstance(node, ast.Call)
              and isinstance(node.func, ast.Attribute) and node.func.attr in _ADDS}
    bound |= {_base(node) for node in inner if isinstance(node, ast.Subscript)
              and not isinstance(node.ctx, ast.Load)}
    return reads, plain, bound - {""}


def _names(node: ast.expr | None, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _base(node: ast.AST) -> str:
    """The name at the left of `x.y[z]`."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
