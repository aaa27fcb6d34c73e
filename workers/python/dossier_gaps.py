"""What a result leaves out: rows that a slice cut off, rows whose reading failed unseen.

    gaps = Gaps(sizes)
    gaps.plan(parsed, {})        # before the block runs; gaps.rewrite() puts counters in
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
import contextlib
import io
import re
import sys
from collections import defaultdict, namedtuple
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from dossier_code import Parsed
from dossier_cuts import (ADDS, EDGE, SHOWS, TAKES, Uses, base, called, ends_taken, indexed,
                          is_documents, of_documents, one_of_many, ordered_names, orders, slices, stops, takes)
from dossier_losses import Losses, goes_through, silent
from dossier_queries import without_limit
from dossier_records import Records, Row
from dossier_rewrite import placed
from dossier_slips import digits_kept, lost_point, slips

_MOST_SAID = 5
_HANDS_IN = {"FINAL", "FINAL_VAR", "SUBMIT", "PARTIAL"}
_SHOWS = {*SHOWS, *_HANDS_IN, "answer", "write"}
_LEAST_TEXT = 1000  # characters
_LEAST_READ = 100   # characters that a model reads as a part of a text, not as a word of it
_LEAST = 20         # rows or lines; what is shorter could be a list of anything
_SAME_TEXT = 20     # characters by which sentences of one line are told apart
_LEAST_QUOTE = 3    # characters
_NO_WORD = re.compile(r"\W+")
_MOST_ENDS = 5      # rows at the end, looked at before, that may be left out


class Gap(namedtuple("Gap", "text line part whole marks function names said",
                     defaults=("", (), ""))):
    """`part`: the rows of a slice as a range, `whole` how many there are; None for other gaps.
    `line`: where it is in the block; else `marks`, texts that stand there, or the `function` of an
    earlier block. `names`: of the documents that were taken; `said`: the part that a model read."""

    __slots__ = ()


class Gaps:
    """Of one session. `sizes()` gives how many rows and lines the data have."""

    def __init__(self, sizes: Callable[[], Iterable[int]],
                 part: Callable[..., str] = lambda text, *bounds: text[slice(*bounds)],
                 unit_of: Callable[[Any], str] = lambda _value: "",
                 documents: Callable[[], Sequence[tuple[str, Any]]] = lambda: ()) -> None:
        """`part` cuts a text as the block would; `unit_of` says of what all of the data consists
        where a value is all of them: "characters", "documents", "chunks"; else "". `documents()`
        gives the name and kind of each."""
        self._sizes, self._part, self._unit_of, self._documents = sizes, part, unit_of, documents
        self._names: dict[str, list[Gap]] = {}     # what the value of a name leaves out
        self._cut_names: dict[str, list[int]] = {}  # names that hold a slice, by its number
        self._cuts: dict[int, Gap] = {}             # slices that cut something off
        self._plans: dict[int, int] = {}            # by node of this block: the number of a counter
        self._places: list[tuple[Any, Any, str, int]] = []  # node, parent, what to count, number
        self._bases: dict[int, str] = {}            # of indexes by range(): the name of the rows
        self._loops: dict[int, Any] = {}            # of the bound of a `while`
        self._used: dict[int, int] = {}             # of this block: slices that are used, with a line
        self._losses = Losses()
        self._lines: dict[int, tuple[int, str]] = {}
        self._kinds: dict[int, str] = {}            # of slices: rows or text
        self._loops_in: dict[int, bool] = {}        # of a `try`: whether it goes through something
        self._homes: dict[int, str] = {}            # functions in which a `try` stands
        self._said: list[tuple[int, str]] = []      # slips, and what say() was told of
        self._told: set[Any] = set()                # of this block: line and how a sentence begins
        self._known_sizes: list[int] | None = None
        self._ordered: set[str] = set()   # names of sorted lists
        self._lists_of_documents: set[str] = set()   # names
        self._to_models: set[int] = set()      # slices that a model was given
        self._ends_seen: dict[str, int] = {}   # rows at the end that code took by themselves
        self._all_but_one: dict[int, Any] = {}  # of this block: rows whose last one is cut off
        self._numbers = 0

    def forget(self) -> None:
        self.__init__(self._sizes, self._part, self._unit_of, self._documents)  # type: ignore[misc]

    def functions(self) -> dict[str, Callable[..., Any]]:
        """What rewritten code calls."""
        def _dossier_digits(text: Any) -> Any:
            if lost_point(text):
                self.say(f"The point of a decimal number is lost: {text!r} is read as "
                         f"{re.sub(r'[^0-9]', '', text)}")
            return text

        def _dossier_coerced(function: Any, values: Any, *more: Any, **options: Any) -> Any:
            made = function(values, *more, **options)
            if "coerce" in (*more, *options.values()) and hasattr(made, "__iter__"):
                lost = [value for value, number in zip(values, made) if number is None
                        and isinstance(value, str) and any(map(str.isdigit, value))]
                if lost:
                    self.say(f"to_numeric() makes nothing of {len(lost):,} of {len(made):,} values, "
                             f"such as {lost[0][:40]!r}")
            return made

        return {"_dossier_digits": _dossier_digits, "_dossier_coerced": _dossier_coerced,
                "_dossier_tried": self._losses.tried, "_dossier_swallowed": self._losses.failed,
                "_dossier_cut": self._cut, "_dossier_indexes": self._indexes,
                "_dossier_stopped": self._stopped}

    def say(self, text: str) -> None:
        """Something is wrong at the line of the block that is running."""
        frame: Any = sys._getframe(2)
        while frame is not None and not frame.f_code.co_filename.startswith("<block"):
            frame = frame.f_back
        about = (frame.f_lineno, text[:_SAME_TEXT]) if frame is not None else None
        if frame is not None and len(self._said) < _MOST_SAID and about not in self._told:
            self._told.add(about)   # once, not for each row
            self._said.append((frame.f_lineno, f"{text} (line {frame.f_lineno})."))

    def plan(self, parsed: Parsed, fixed: Mapping[str, Any]) -> None:
        """Finds what is to be counted in a block, while its tree is as it was written."""
        self._plans, self._used, self._bases, self._loops = {}, {}, {}, {}
        self._places.clear()
        self._losses.forget()
        try:
            self._said = list(slips(parsed))
            self._told.clear()
            self._plan(parsed, fixed, Uses(parsed))
        except RecursionError:   # nested too deeply to be written out
            self._plans.clear()
            self._places.clear()

    def _plan(self, parsed: Parsed, fixed: Mapping[str, Any], uses: Uses) -> None:
        homes = [node for node in parsed.tree.body if isinstance(node, ast.FunctionDef)]
        for node in parsed.of(ast.Try):
            handlers = silent(node, parsed)
            if handlers and not uses.tries_again(node, fixed):
                self._note(uses, node, "try", "")
                self._losses.note(self._numbers, node, parsed, fixed)
                self._loops_in[self._numbers] = goes_through(node)
                self._homes |= {self._numbers: home.name for home in homes
                                if home.lineno <= node.lineno <= (home.end_lineno or 0)}
                self._places += [(part, node, "swallow", self._numbers) for part in handlers]
        for node in parsed.of(ast.With):
            if len(node.items) == 1 and called(node.items[0].context_expr) == "suppress":
                self._note(uses, node, "suppress", "")
                self._losses.note(self._numbers, node, parsed, fixed)
                self._loops_in[self._numbers] = goes_through(node)
        for node in digits_kept(parsed):
            self._note(uses, node, "digits", "")
        for node in parsed.of(ast.Call):
            if called(node) == "to_numeric" and node.args:
                self._note(uses, node, "coerced", "")
        self._all_but_one.clear()
        for text, count in ends_taken(parsed, fixed):
            self._ends_seen[text] = max(count, self._ends_seen.get(text, 0))
        self._ordered -= set(parsed.assigned)
        self._ordered |= set(ordered_names(parsed))   # the best so many of all are no part of them
        of_range = dict(indexed(parsed, fixed))
        documents = list(of_documents(parsed, self._lists_of_documents, fixed))
        limits = [node for node in parsed.of(ast.Call) if called(node) == "sql" and node.args
                  and without_limit(str(getattr(node.args[0], "value", "")))]
        cuts = [*slices(parsed, fixed), *takes(parsed, fixed), *of_range, *limits,
                *(documents if documents and self._documents() else ())]
        loops = list(stops(parsed, fixed))
        if not cuts and not loops and not parsed.reads & self._cut_names.keys():
            return
        for node in cuts:
            whole = node.value if isinstance(node, ast.Subscript) else node
            ranked = orders(whole) or base(whole) in self._ordered
            if not ranked or is_documents(whole, self._lists_of_documents):
                self._note(uses, node, "cut", ast.unparse(node))
                self._kinds[self._numbers] = uses.kind(node)
                self._bases |= {id(node): of_range[node]} if node in of_range else {}
                if node in of_range and isinstance(loop := uses.parents[uses.parents[node]], ast.While):
                    self._loops[id(node)] = loop
        for loop, stop, number in loops:
            if uses.gathers(loop, stop, uses.kind(loop.iter)):
                self._note(uses, stop, "stop", str(number))
                self._used[self._plans[id(stop)]] = loop.lineno
        self._follow(parsed, uses, cuts)

    def counts(self, node: ast.AST) -> bool:
        """Whether a node of the block will be replaced."""
        return id(node) in self._plans

    def rewrite(self) -> None:
        """Puts calls that count into the tree."""
        for node, parent, kind, number in reversed(self._places):   # the inner ones first
            if kind == "try":
                node.body.insert(0, _say("_dossier_tried", number, node))
            elif kind == "swallow":
                node.body.insert(0, _say("_dossier_swallowed", number, node.body[0]))
            elif kind == "digits":
                _replace(parent, node, placed("_dossier_digits", [node], node))
            elif kind == "coerced":
                node.args.insert(0, node.func)
                node.func = ast.copy_location(ast.Name("_dossier_coerced", ast.Load()), node)
            elif kind == "stop":
                parent.body.insert(len(parent.body) - 1, _say("_dossier_stopped", number, node))
            elif id(node) in self._plans and id(node) in self._loops:
                count = ast.copy_location(ast.Expr(_counted(node, number, self._bases[id(node)])), node)
                self._loops[id(node)].body.insert(0, count)
            elif id(node) in self._plans:
                _replace(parent, node, _quiet_with(node, number) if kind == "suppress" else
                         _counted(node, number, self._bases.get(id(node), "")))
        self._places.clear()

    def take(self, parsed: Parsed, misled: Mapping[str, tuple[str, ...]],
             settled: Collection[str], output: str = "") -> list[list[Any]]:
        """What the `output` or the answer of the block leaves out: a sentence, how many rows were
        taken (0: it is about something else), and which documents, if it is about some. `misled`:
        reasons why conditions fit nothing."""
        own = [Gap(text, 0, None, 0, marks) for text, marks in misled.items()]
        own += [cut._replace(line=line) for number, line in self._used.items()
                if (cut := self._cuts.get(number))
                and not _ends_in_totals(self._all_but_one.get(number, ()))]
        own += self._lost()
        own += [Gap(text, line, None, 0, ()) for line, text in self._said]
        if settled:
            self._names = {name: [gap for gap in gaps if gap.text not in settled]
                           for name, gaps in self._names.items()}
        if not own and not any(self._names.values()):
            return []
        shown: dict[str, Gap] = {}
        statements = [node for node in parsed.tree.body if node is not parsed.last]
        # The last one may have been taken out of the tree.
        all_of_them = list(filter(None, [*statements, parsed.last]))
        # What is printed beside an answer that is handed in is no part of it.
        handing = [statement for statement in all_of_them if _names(statement, _HANDS_IN)]
        for statement in all_of_them:
            found = self._flow(statement, own)
            if statement in handing if handing else \
                    statement is parsed.last or _names(statement, _SHOWS):
                shown |= {gap.text: gap for gap in found}
        return [[gap.text, len(gap.part) if gap.part is not None else gap.whole, list(gap.names)]
                for gap in _without_whole(list(shown.values())) if not _quoted(output, gap.said)]

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

    def _note(self, uses: Uses, node: Any, kind: str, text: str) -> None:
        self._numbers += 1
        self._plans[id(node)] = self._numbers
        self._places.append((node, uses.parents[node], kind, self._numbers))
        self._lines[self._numbers] = node.lineno, text  # type: ignore[attr-defined]

    def _follow(self, parsed: Parsed, uses: "Uses", cuts: list[ast.expr]) -> None:
        """Which slices the block uses, and which names hold one from now on."""
        waiting = [(node, self._plans[id(node)]) for node in cuts if id(node) in self._plans]
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
            used, names = uses.of(node, self._kinds[number])
            if not used and not names:   # only shown
                self._plans.pop(id(node), None)
            if used:
                self._used.setdefault(number, node.lineno)
            self._to_models |= {number} if node in uses.to_models else set()
            for name, place in names:
                self._cut_names[name] = [*self._cut_names.get(name, []), number]
                waiting += [(load, number) for load in loads
                            if load.id == name and (load.lineno, load.col_offset) > place]

    def _lost(self) -> Iterator[Gap]:
        for number, failures, passes, example in self._losses.told(self._loops_in):
            home, now = self._homes.get(number, ""), number in self._plans.values()
            line = self._lines[number][0]
            yield Gap(f"In the `try` of {f'{home}()' if home else f'line {line}'}, {failures:,} of "
                      f"{passes:,} passes failed and the code passes over them ({example}).",
                      line if now else 0, None, 0, (), "" if now else home)

    def _cut(self, number: int, whole: Any, take: Any, *arguments: Any, **options: Any) -> Any:
        """A slice, islice(), sample() or head(), which tells what it leaves out."""
        if take == "__getitem__" and (unit := self._unit_of(whole)):
            return self._part_of_all(number, whole, arguments[0], unit)
        if whole.__class__ is str and take == "__getitem__":
            return whole[arguments[0]]
        part = getattr(whole, take)(*arguments, **options) if isinstance(take, str) else \
            take(iter(whole) if take is next else whole, *arguments, **options)
        self._cuts.pop(number, None)
        if take == "grep" or take == "search":
            if getattr(part, "cut", False):
                self._leave(number, range(len(part)), part.total if take == "grep" else 0, "matches")
        elif take == "read":
            if isinstance(whole, io.TextIOBase) and whole.seekable() and part:
                place = whole.tell()
                if whole.read(1):
                    self._leave(number, range(len(part)), 0, "characters")
                whole.seek(place)
        elif take == "slice":
            if self._unit_of(whole) == "characters" and len(whole) >= _LEAST_TEXT:
                self._leave(number, range(len(whole))[slice(*arguments)], len(whole), "characters")
        elif take == "lines":
            count = whole.line_count if hasattr(whole, "line_count") else len(part)
            self._leave(number, range(count)[slice(*arguments)], count, "lines")
        elif isinstance(whole, str):   # a query; `take` runs it
            with contextlib.suppress(ValueError, MemoryError):
                count = take(f"SELECT count(*) AS n FROM ({without_limit(whole)})", *arguments)[0]["n"]
                self._leave(number, range(len(part)), count, "rows")
        elif not isinstance(whole, (bytes, dict)):
            bounds = slice(1) if take is next else arguments[0] if take == "__getitem__" else \
                None if hasattr(part, "__len__") else slice(*arguments)
            self._note_rows(number, whole, part, bounds)
        return part

    def _indexes(self, number: int, rows: Callable[[], Any], indexes: Any) -> Any:
        """The range() by which a loop takes rows, or the number of them."""
        self._cuts.pop(number, None)
        with contextlib.suppress(NameError):
            self._note_rows(number, rows(), range(indexes) if isinstance(indexes, int) else indexes, None)
        return indexes

    def _note_rows(self, number: int, whole: Any, part: Any, bounds: slice | None) -> None:
        count = len(whole) if hasattr(whole, "__len__") else None
        if count is not None and self._unit_of(whole) == "documents":
            self._leave_documents(number, range(count)[bounds or slice(len(part))])
            return
        if self._known_sizes is None:
            self._known_sizes = [size for size in self._sizes() if size >= _LEAST]
        if count is None:
            count = max(self._known_sizes, default=0)
        elif not any(abs(count - size) <= EDGE for size in self._known_sizes):
            return   # no more than what was chosen out of the data
        taken = range(len(part)) if bounds is None else range(count)[bounds]
        edge = 0 if _holds_rows(whole) else EDGE   # a row is no header
        if edge and bounds is not None and bounds.stop is None and (bounds.start or 0) > 0:
            edge = max(edge, count // 10)          # what stands before the lines that count
        left = count - len(taken)
        if taken == range(count - left):   # the end is cut off
            rows = self._lines[number][1].rpartition("[")[0]
            if left <= min(_MOST_ENDS, max(self._ends_seen.get(rows, 0),
                                           self._ends_seen.get("records", 0))):
                return
            self._all_but_one |= {number: whole} if left == 1 and _holds_rows(whole) else {}
        if len(taken) < count - edge:
            self._leave(number, taken, count, "rows")

    def _leave(self, number: int, taken: range, count: int, unit: str) -> None:
        """`count` is how many there are in all; 0: more than were taken."""
        if len(taken) < count or not count:
            line, text = self._lines[number]
            of_all = f"{len(taken):,} of {count:,}" if count else f"the first {len(taken):,}"
            self._cuts[number] = Gap(f"Only {of_all} {unit} are in what the code works with: {text}.",
                                     line, taken, count, ())

    def _leave_documents(self, number: int, taken: range) -> None:
        """A part of the documents that are of one kind: all texts, or tables with the same fields."""
        documents = self._documents()
        kinds = {documents[index][1] for index in taken}
        alike = sum(kind in kinds for _, kind in documents)
        self._leave(number, taken, alike, "documents")
        if number in self._cuts:
            self._cuts[number] = self._cuts[number]._replace(
                names=tuple(documents[index][0] for index in taken))

    def _leave_like_tables(self, number: int, name: str) -> None:
        """One of several tables with the same fields, taken by its name; a text may be the one that was
        found."""
        documents = self._documents()
        index = next((index for index, document in enumerate(documents) if document[0] == name), None)
        if index is not None and isinstance(documents[index][1], tuple):
            self._leave_documents(number, range(index, index + 1))

    def _part_of_all(self, number: int, whole: Any, part: Any, unit: str) -> Any:
        taken = self._part(whole, part.start, part.stop, part.step) if isinstance(part, slice) \
            else whole[part]
        self._cuts.pop(number, None)
        if isinstance(part, str):
            self._leave_like_tables(number, taken.name)
            return taken
        indexes = range(len(whole))[part] if isinstance(part, slice) else \
            range(len(whole))[part:][:1]
        if unit == "documents":
            self._leave_documents(number, indexes)
        elif len(whole) >= (_LEAST_TEXT if unit == "characters" else 2) and isinstance(part, slice):
            read = number in self._to_models and unit == "characters"
            if not read or len(indexes) >= _LEAST_READ:
                self._leave(number, indexes, len(whole), unit)
            if read and number in self._cuts:
                self._cuts[number] = self._cuts[number]._replace(said=str(taken))
        return taken

    def _stopped(self, number: int) -> None:
        line, passes = self._lines[number]
        self._cuts[number] = Gap(f"The loop that line {line} ends does not go through "
                                 "all rows.", line, None, int(passes), ())


def _counted(node: Any, number: int, rows: str) -> ast.expr:
    """What stands for an expression that takes a part; `rows`: what range() counts the indexes of."""
    if rows:   # the name may be bound inside the loop only
        name = ast.copy_location(ast.Name(rows, ast.Load()), node)
        nothing = ast.arguments([], [], None, [], [], None, [])
        later = ast.copy_location(ast.Lambda(nothing, name), node)
        return placed("_dossier_indexes", [ast.Constant(number), later, node], node)
    if one_of_many(node):
        whole, take, arguments = node.value, ast.Constant("__getitem__"), [node.slice]
    elif isinstance(node, ast.Subscript):
        bounds = [bound or ast.Constant(None)
                  for bound in (node.slice.lower, node.slice.upper, node.slice.step)]
        whole, take = node.value, ast.Constant("__getitem__")
        arguments = [placed("slice", bounds, node)]
    elif isinstance(node.func, ast.Attribute) and TAKES[node.func.attr] is None:
        whole, take, arguments = node.func.value, ast.Constant(node.func.attr), node.args
    else:
        whole, take, arguments = node.args[0], node.func, node.args[1:]
        whole = whole.args[0] if called(node) == "next" else whole
    made = placed("_dossier_cut", [ast.Constant(number), whole, take, *arguments], node)
    made.keywords = getattr(node, "keywords", [])
    return made


def _say(function: str, number: int, place: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.Expr(placed(function, [ast.Constant(number)], place)), place)


def _quiet_with(node: ast.With, number: int) -> ast.stmt:
    """`with suppress(…)` as the `try` that it is."""
    call: Any = node.items[0].context_expr
    handler = ast.ExceptHandler(ast.copy_location(ast.Tuple(call.args, ast.Load()), call), None,
                                [_say("_dossier_swallowed", number, node)])
    body = [_say("_dossier_tried", number, node), *node.body]
    return ast.copy_location(ast.Try(body, [ast.copy_location(handler, node)], [], []), node)


def _without_whole(gaps: list[Gap]) -> list[Gap]:
    """Without slices that together are all rows."""
    of_whole: dict[tuple[int, bool], list[range]] = defaultdict(list)
    for gap in gaps:
        if gap.part is not None:
            of_whole[gap.whole, bool(gap.names)].append(gap.part)
    complete = set()
    for (whole, documents), parts in of_whole.items():
        if documents:
            complete |= {(whole, True)} if len(set().union(*parts)) >= whole else set()
            continue
        end = EDGE
        for part in sorted((part for part in parts if part.step == 1), key=lambda part: part.start):
            end = max(end, part.stop) if part.start <= end else end
        if len(parts) > 1 and (end >= whole - EDGE or _interleaved(parts)):
            complete.add((whole, False))
    return [gap for gap in gaps if gap.part is None or (gap.whole, bool(gap.names)) not in complete]


def _quoted(output: str, part: str) -> bool:
    """Whether an output says what stands in a part of a text, word for word: it was read there. The
    digits of a short number may stand anywhere."""
    said, text = (_NO_WORD.sub(" ", item).strip().casefold() for item in (output, part))
    return len(said) >= _LEAST_QUOTE and f" {said} " in f" {text} "


def _interleaved(parts: Sequence[range]) -> bool:
    """records[::2] and records[1::2]"""
    step = max(part.step for part in parts)
    return step > 1 and all(part.step == step for part in parts) \
        and {part.start for part in parts} >= set(range(step))


def _replace(parent: Any, node: ast.AST, by: ast.AST) -> None:
    for name, value in ast.iter_fields(parent):
        if value is node:
            setattr(parent, name, by)
        elif isinstance(value, list):
            value[:] = [by if item is node else item for item in value]


def _holds_rows(whole: Any) -> bool:
    return isinstance(whole, Records) or (isinstance(whole, list) and bool(whole)
                                          and isinstance(whole[0], Row))


def _ends_in_totals(rows: Sequence[Any]) -> bool:
    """Whether the last row adds up the others."""
    last = rows[len(rows) - 1] if len(rows) > 2 else {}
    names = [name for name, value in last.items() if type(value) in (int, float) and value]
    sums = dict.fromkeys(names, 0)
    for row in rows[:len(rows) - 1] if names else ():
        for name in names:
            value = row.get(name)
            sums[name] += value if type(value) in (int, float) else 0
    return any(abs(sums[name] - last[name]) <= 1e-6 * abs(last[name]) for name in names)


def _says(node: ast.AST, marks: Sequence[Any]) -> bool:
    """Whether a constant is or holds one of the marks; a pattern holds what it looks for."""
    value = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
    return value is not None and any(
        value == mark or (isinstance(value, str) and isinstance(mark, str) and mark in value)
        for mark in marks)


def _names(statement: ast.stmt, names: Collection[str]) -> bool:
    return any(getattr(node, "id", getattr(node, "attr", "")) in names
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
    bound |= {base(node.func.value) for node in inner if isinstance(node, ast.Call)
              and isinstance(node.func, ast.Attribute) and node.func.attr in ADDS}
    bound |= {base(node) for node in inner if isinstance(node, ast.Subscript)
              and not isinstance(node.ctx, ast.Load)}
    return reads, plain, bound - {""}
