"""The entry of the Python worker: one session, run block by block.

The worker imports this in the zygote (nothing happens on import), then in each session:

    start_session()
    result = run_block("print(len(context))", block=1, replay=False)

Called by one thread at a time; code may start threads of its own.
"""

import ast
import asyncio
import builtins
import contextlib
import importlib.util
import linecache
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import _dossier

import dossier_code
import dossier_errors
from dossier_answers import Stop
from dossier_code import Parsed, drop_imports, last_assigned, sets_answer_items
from dossier_empty import days_of, is_empty_output, numbers_of, searched_texts
from dossier_evidence import Evidence, line_parts, reads_whole_context, single_documents
from dossier_files import Files
from dossier_gaps import Gaps
from dossier_frame import numpy_module, pandas_module
from dossier_guard import refusal
from dossier_loader import seed_random, when_imported
from dossier_queries import Queries
from dossier_reasons import Reasons
from dossier_rows import nearest
from dossier_rewrite import Skipped, tolerant, tolerant_builtins
from dossier_show import assigned_text, clean, out_text, plain_out_text
from dossier_slips import only_filled
from dossier_sql import run
from dossier_streams import Streams
from dossier_world import World, make_module

_OUT_CHARACTERS = 2000
_PLAIN_CHARACTERS = 200_000
_CO_COROUTINE = 0x80  # inspect.CO_COROUTINE; that module is slow to load
_EMPTY_RESULT: dict[str, Any] = {"status": "ok", "error": None, "last": "", "vars": [],
                                 "answer": None, "draft": None, "notes": [], "refused": "",
                                 "assigned": [], "touches_data": False, "typed": [], "read": [],
                                 "unmatched": [], "settled": [], "searched": [], "days": [], "gaps": []}


# Made in the zygote: a session, of which each has a process of its own, finds them there.
_STAND_INS = {"pandas": pandas_module(), "numpy": numpy_module()}


class Interrupted(BaseException):
    """Raised by the worker's signal; not to be caught by `except Exception`."""


class Session:
    """One namespace and its history of blocks."""

    def __init__(self) -> None:
        features: Mapping[str, Any] = _dossier.features()
        self._notes: list[str] = []
        self._gaps = Gaps(self._sizes, lambda *part: self._world.part(*part),
                          lambda value: self._world.unit_of(value),
                          lambda: self._world.documents())
        self._skipped = Skipped(self._gaps.say)
        self._module = make_module(tolerant_builtins(self._skipped) | self._gaps.functions())
        self._namespace = self._module.__dict__
        self._streams = Streams()
        self._queries = Queries(run)
        self._world = World(self._namespace, features, self._notes.append,
                            lambda *query: [self._gaps.say(text) for text in self._queries.note(*query)])
        small = features.get("profile") == "small"
        self._out_text = plain_out_text if small else out_text
        self._files = Files(self._world.sources, self._notes.append if small else None,
                            out=bool(features.get("out_dir")))
        self._asked: set[str] = set()   # fields and words that were told about already
        self._evidence = Evidence()
        self._reasons = Reasons(self._world.sources, self._world.records)
        self._loop: asyncio.Runner | None = None
        self._running = False
        self._previous_main = sys.modules.get("__main__")
        self._lines_of_blocks: dict[str, tuple[int, None, list[str], str]] = {}
        self._linecache: Any = None
        self._install(features)
        self._builtins = vars(builtins)
        self._snapshot = dict(self._builtins)
        self._version = _dossier.dict_version(self._builtins)
        self._block_builtins = dict(self._namespace["__builtins__"])
        self._block_version = 0
        self._initial = frozenset(self._namespace)

    def close(self) -> None:
        """Undoes what the session changed in the process; for tests."""
        self._files.remove()
        for name in _STAND_INS:
            sys.modules.pop(name, None)
        if self._loop is not None:
            self._loop.close()
        sys.stdout, sys.stderr, sys.stdin = self._previous_streams
        if self._previous_main is not None:
            sys.modules["__main__"] = self._previous_main

    def run(self, code: str, block: int) -> dict[str, Any]:
        """Runs one block to its end, whatever it does."""
        result = {**_EMPTY_RESULT, "notes": self._notes}
        self._notes.clear()
        self._world.forget_read()  # what was looked at between blocks was no code's doing
        self._streams.begin()
        self._restore_builtins()
        filename = f"<block {block}>"
        self._lines_of_blocks[filename] = (len(code), None, _lines(code), filename)
        if self._linecache is not None:
            self._linecache.cache[filename] = self._lines_of_blocks[filename]
        try:
            parsed = Parsed(code, self._world.aliases())
            result["assigned"] = parsed.assigned
            if not self._world.plain:
                result["refused"] = refusal(parsed, self._world.functions, self._world.is_variable,
                                            self._world.holds)
        except SyntaxError as error:
            error.filename = filename
            error.__traceback__ = None
            return self._failed(result, error, block)
        if result["refused"]:
            return self._done(result, "not_run")
        return self._execute(parsed, block, result)

    def variable(self, name: str, max_bytes: int) -> dict[str, Any]:
        """The value of a variable as text."""
        if name in ("context", "records"):
            self._world.make(name)
        if name not in self._namespace or name.startswith("__"):
            return {"found": False, "text": "", "nearest": nearest(name, self._names())}
        value = self._namespace[name]
        if name == "answer" and isinstance(value, dict):
            value = value.get("content", "")
        if callable(value):  # a function is no answer
            return {"found": False, "text": "", "nearest": []}
        text = value if isinstance(value, str) else str(value)
        data = text[:max_bytes].encode("utf-8", "backslashreplace")[:max_bytes]
        return {"found": True, "text": data.decode("utf-8", "ignore"), "nearest": []}

    def check(self, code: str) -> dict[str, Any]:
        """Compiles a block, with what this session knows of its names."""
        data, functions = {"context", "records", "doc", "contexts"}, self._world.functions
        return dossier_code.check(
            code, lambda name: name in data or (name in self._namespace and name not in functions),
            lambda name: callable(self._namespace.get(name, self._builtins.get(name))))

    def reset(self, keep: list[str]) -> None:
        """The session as it was at its start, but for the names to keep. Modules stay loaded."""
        self._restore_builtins()
        for name in [*self._namespace]:
            if name not in self._initial and name not in keep:
                del self._namespace[name]
        self._world.start_over()
        self._reasons.forget()
        self._gaps.forget()
        self._asked.clear()
        self._seed_random()

    def on_interrupt(self, _number: int, _frame: Any) -> None:
        if self._running:
            raise Interrupted

    def _install(self, features: Mapping[str, Any]) -> None:
        self._previous_streams = sys.stdout, sys.stderr, sys.stdin
        self._streams.put_back()
        self._files.install()
        self._namespace["__builtins__"]["open"] = builtins.open
        sys.modules["__main__"] = self._module
        sys.modules.update(_STAND_INS)
        self._features = features
        self._seed_random()
        when_imported("linecache", self._hand_over_lines)
        threading.excepthook = _thread_failed
        with contextlib.suppress(ValueError, OSError):
            signal.signal(signal.SIGINT, self.on_interrupt)

    def _hand_over_lines(self, module: Any) -> None:
        """Only tracebacks need `linecache`, and it takes as long to load as a short block to run."""
        self._linecache = module
        module.cache.update(self._lines_of_blocks)

    def _seed_random(self) -> None:
        if self._features.get("seed") is not None:
            seed_random(self._features["seed"])

    def _names(self) -> list[str]:
        return [*self._world.variable_names(), *self._world.reserved]

    def _restore_builtins(self) -> None:
        """Code may patch builtins for its block, not for ours or the next one."""
        self._put_builtins_back()
        if _dossier.dict_version(self._namespace.get("__builtins__")) != self._block_version:
            own = self._namespace["__builtins__"] = dict(self._block_builtins)
            self._block_version = _dossier.dict_version(own)

    def _put_builtins_back(self) -> None:
        if _dossier.dict_version(self._builtins) != self._version:
            self._builtins.update(self._snapshot)
            self._version = _dossier.dict_version(self._builtins)

    def _execute(self, parsed: Parsed, block: int, result: dict[str, Any]) -> dict[str, Any]:
        error: BaseException | None = None
        result["touches_data"], result["typed"] = self._evidence.judge(parsed)
        result["searched"] = searched_texts(parsed)
        result["days"] = days_of(parsed, self._evidence.fixed)
        self._queries = Queries(run)
        self._world.answers.begin_block(sets_answer_items(parsed))
        try:
            self._running = True
            self._world.prepare(parsed)
            try:
                value = self._evaluate(parsed, f"<block {block}>")
            finally:
                self._put_builtins_back()
            result["last"] = self._last(parsed, value)
        except BaseException as raised:  # the block ends here, whatever it raised
            error = raised
        finally:
            self._running = False
        return self._finish(parsed, error, block, result)

    def _evaluate(self, parsed: Parsed, filename: str) -> Any:
        """Runs the statements; gives the value of a last expression."""
        tree = parsed.tree if self._world.plain else self._mended(parsed)
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        last = tree.body.pop() if isinstance(parsed.last, ast.Expr) else None
        if tree.body:
            self._call(compile(tree, filename, "exec", flags, dont_inherit=True))
        if last is None:
            return None
        expression = ast.Expression(last.value)
        return self._call(compile(expression, filename, "eval", flags, dont_inherit=True))

    def _mended(self, parsed: Parsed) -> Any:
        """The code with what models get wrong put right, and with what watches its gaps."""
        self._gaps.plan(parsed, self._evidence.fixed)
        tree = tolerant(parsed, self._gaps.counts)
        self._gaps.rewrite()
        for name in drop_imports(parsed, _is_missing):
            self._notes.append(f"{name} is not installed; its import was left out.")
        return tree

    def _call(self, code: Any) -> Any:
        try:
            if not code.co_flags & _CO_COROUTINE:
                return eval(code, self._namespace)  # running blocks is what this file is for
            if self._loop is None:
                self._loop = asyncio.Runner()
                module = sys.modules["asyncio"]  # ours may be a stand-in
                module.run = _run_anywhere(module.run)
            return self._loop.run(_awaited(eval(code, self._namespace)))
        finally:  # here, without a call: a tracer of the code must not see ours, it may raise
            try:
                sys.setprofile(None)
            finally:
                sys.settrace(None)

    def _last(self, parsed: Parsed, value: Any) -> str:
        """What is shown of a last expression, or of a last assignment if nothing was printed."""
        if self._world.plain:
            return "" if value is None else (value if isinstance(value, str) else repr(value))[:_PLAIN_CHARACTERS]
        if value is not None and not _calls(parsed.last, "SHOW_VARS"):
            return "Out: " + self._out_text(value, _OUT_CHARACTERS)
        if self._streams.printed:
            return ""
        lines = []
        for name in last_assigned(parsed):
            found = self._namespace.get(name)
            if found is not None or name in self._namespace:
                shown = self._out_text if isinstance(found, str) else assigned_text
                lines.append(f"{name}: {shown(found, _OUT_CHARACTERS)}")
        return "\n".join(lines)

    def _finish(self, parsed: Parsed, error: BaseException | None, block: int,
                result: dict[str, Any]) -> dict[str, Any]:
        self._put_things_back()
        ended = error is None or isinstance(error, Stop)
        whole = ended and reads_whole_context(parsed, len(self._world.sources))
        result["read"] = self._world.take_read(whole)
        if ended:
            result["read"] += self._world.whole_documents(
                single_documents(parsed, len(self._world.sources)))
            if not whole:
                result["read"] += self._world.lines_of_context(line_parts(parsed, len(self._world.sources)))
        if result["read"] and not result["touches_data"]:  # through a module that opened a document
            result["touches_data"] = True
            self._evidence.note_read(parsed)
        result["answer"], result["draft"] = self._take()
        result["typed"] += self._evidence.chosen(parsed, self._namespace)
        if isinstance(error, (SystemExit, KeyboardInterrupt)):
            self._notes.append(_left(error))
        elif isinstance(error, Interrupted):
            result["error"] = _interruption(error, block)
        elif error is not None and not isinstance(error, Stop):
            result["error"] = dossier_errors.describe(error, block, self._hints())
        elif self._world.plain:
            pass
        elif result["answer"] is None and error is None:
            self._comment(parsed, result)
        elif error is None or isinstance(error, Stop):
            self._note_unmatched(parsed, str((result["answer"] or {}).get("text", "")), result,
                                 self._streams.out.head.decode("utf-8", "replace"))
        self._notes += [*self._skipped.notes(), *self._streams.late.take()]
        if result["answer"] is not None:
            return self._done(result, "final")
        if isinstance(error, Interrupted):
            return self._done(result, "interrupted")
        return self._done(result, "ok" if result["error"] is None else "error")

    def _take(self) -> tuple[dict[str, Any] | None, str | None]:
        """What was handed in; str() of an own class may fail or be stopped."""
        try:
            self._running = True
            return self._world.answers.take()
        except BaseException as error:
            self._notes.append(f"`answer` could not be read: {type(error).__name__}.")
            return None, None
        finally:
            self._running = False

    def _comment(self, parsed: Parsed, result: dict[str, Any]) -> None:
        """Says what a model should know about an output of nothing, or of zero."""
        if isinstance(self._world.data.get("context"), str) and _loops_over_context(parsed):
            self._notes.append("A loop over `context` goes character by character: use "
                               "context.splitlines().")
        if not self._streams.printed and not result["last"]:
            self._notes.append(_nothing_printed(
                parsed, list(filter(self._world.is_variable, result["assigned"]))))
        printed = self._streams.out.head.decode("utf-8", "replace")
        output = printed + result["last"].removeprefix("Out: ")
        if output.strip().isdecimal():
            self._notes += [_counted(field) for field in sorted(only_filled(parsed))
                            if self._world.holds_numbers(field)]
        self._note_unmatched(parsed, output, result)

    def _note_unmatched(self, parsed: Parsed, output: str, result: dict[str, Any],
                        beside: str = "") -> None:
        """Fields that no row has, conditions of the code that fit nothing in the data, and what the
        result leaves out. `beside` was printed before an answer was handed in. The model is told of
        the first two where the block found nothing, or
        where a result that is something is wrong for them."""
        unmatched = self._world.take_unknown_fields()
        known = [*self._world.counts(), *numbers_of(" ".join(result["typed"]))]
        nothing = is_empty_output(output, known) or _is_constant(parsed, output)
        self._reasons.weigh(parsed, nothing, unmatched, f"{beside}\n{output}",
                            _is_number(output, result["typed"]), self._queries.asked)
        found, misled = self._reasons.found, self._reasons.misled
        wrong = {found[key]: marks for key, marks in misled.items()}
        wrong |= {note: (name,) for name, note in unmatched.items() if "did you mean" in note}
        wrong |= dict(self._reasons.forms.values())
        gaps = self._gaps.take(parsed, wrong, self._reasons.settled, output)
        reasons = unmatched | found if nothing else found
        notes = {key: note for key, note in (unmatched | found).items()
                 if nothing or key in unmatched or key in misled}
        told = {*found.values(), *notes.values()}
        notes |= {text: text for text, *_ in gaps if text not in told}
        self._notes += [note for key, note in notes.items() if key not in self._asked]
        self._asked.update(notes)
        result["gaps"] = [[clean(text), rows, list(map(clean, names))] for text, rows, names in gaps]
        result["unmatched"] = [note for key, note in reasons.items()
                               if key not in self._reasons.proved]
        result["settled"] = self._reasons.settled
        result["proves_nothing"] = self._reasons.proves_nothing and not unmatched

    def _sizes(self) -> list[int]:
        """How many rows and lines the data have."""
        self._world.records()
        return [*self._world.row_counts(), *(source.line_count for source in self._world.sources)]

    def _put_things_back(self) -> None:
        threading.settrace(None)  # type: ignore[arg-type]
        threading.setprofile(None)  # type: ignore[arg-type]
        self._streams.flush()
        if self._streams.put_back():
            self._notes.append("sys.stdout and sys.stderr were put back.")
        changed = self._world.put_back()
        if changed:
            names = ", ".join(f"`{name}`" for name in changed)
            self._notes.append(f"{names} was put back: use another name for your own values.")

    def _hints(self) -> dossier_errors.World | None:
        if self._world.plain or self._world.features.get("client"):
            return None  # the code is no model's: a person reads Python's own words
        return dossier_errors.World(
            [source.name for source in self._world.sources],
            lambda: self._world.records() is not None, self._names)

    def _failed(self, result: dict[str, Any], error: BaseException, block: int) -> dict[str, Any]:
        result["error"] = dossier_errors.describe(error, block, self._hints())
        return self._done(result, "error")

    def _done(self, result: dict[str, Any], status: str) -> dict[str, Any]:
        result["status"] = status
        result["vars"] = self._world.variables()
        # A block that stopped half way bound half of them: what a replay says is there must be.
        result["assigned"] = [name for name in result["assigned"] if name in self._namespace]
        result["notes"], result["last"] = dict.fromkeys(self._notes), clean(result["last"])
        for name in ("notes", "typed", "unmatched", "settled", "searched", "days"):
            result[name] = list(map(clean, result[name]))
        return result


def _is_missing(module: str) -> bool:
    return module not in sys.modules and importlib.util.find_spec(module) is None


def _lines(code: str) -> list[str]:
    """As the parser counts them, for tracebacks."""
    parts = re.split(r"\r\n|\r|\n", code) if "\r" in code else code.split("\n")
    return [line + "\n" for line in parts]


def _calls(statement: ast.stmt | None, name: str) -> bool:
    value = getattr(statement, "value", None)
    return isinstance(value, ast.Call) and getattr(value.func, "id", "") == name


def _counted(field: str) -> str:
    """Asked how much was paid, a small model counts the payments."""
    return (f"The output counts the rows that have a value in `{field}`; the values themselves are not "
            f"in it. Should the question ask for their amount, compute it from r[{field!r}].")


def _loops_over_context(parsed: Parsed) -> bool:
    return any(getattr(node.iter, "id", "") == "context"
               for node in parsed.of(ast.For) + parsed.of(ast.comprehension))


def _is_constant(parsed: Parsed, output: str) -> bool:
    """`"No ticket is open." if not found else found[0]`: the code says it itself."""
    text = output.strip().strip("'\"")
    return bool(text) and any(isinstance(node.value, str) and node.value.strip() == text
                             for node in parsed.of(ast.Constant))


def _is_number(output: str, typed: list[str]) -> bool:
    """Whether an output is numbers alone, but for what the code says itself."""
    for text in sorted(typed, key=len, reverse=True):
        output = output.replace(text, " ")
    return any(map(str.isdigit, output)) and not any(map(str.isalpha, output))


async def _awaited(value: Any) -> Any:
    return await value


def _run_anywhere(run: Callable[..., Any]) -> Callable[..., Any]:
    """asyncio.run, also in a block that awaits: a loop runs there, so it takes a thread of its own."""
    def run_anywhere(main: Any, **options: Any) -> Any:
        if asyncio._get_running_loop() is None:
            return run(main, **options)
        from concurrent.futures import ThreadPoolExecutor  # slow to load
        return ThreadPoolExecutor(1).submit(run, main, **options).result()
    return run_anywhere


def _thread_failed(args: Any) -> None:
    """FINAL in a thread ends that thread only; its value was recorded."""
    if not issubclass(args.exc_type, Stop):
        threading.__excepthook__(args)


def _left(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "KeyboardInterrupt ended this block; the session goes on."
    said = f" ({error.code})" if error.code not in (None, 0) else ""
    return f"exit ended this block only{said}; the session and its variables go on."


def _interruption(error: BaseException, block: int) -> dict[str, Any]:
    line = 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == f"<block {block}>":
            line = trace.tb_lineno
        trace = trace.tb_next
    source = linecache.getline(f"<block {block}>", line).strip() if line else ""
    return {"type": "Interrupted", "message": "the block was stopped", "line": line,
            "source": source, "traceback": ""}


def _nothing_printed(parsed: Parsed, assigned: list[str]) -> str:
    functions = [node.name for node in parsed.tree.body if isinstance(node, ast.FunctionDef)]
    called = {getattr(node.func, "id", "") for node in parsed.of(ast.Call)}
    if functions and functions[-1] not in called:
        return f"No output: {functions[-1]}() was defined but not called. Call it and print."
    names = [name for name in assigned if name not in functions]
    shown = f" Set: {', '.join(names[:10])}." if names else ""
    return f"No output: nothing was printed.{shown} Use print(...) to see a value."


# What most blocks do, of which nothing asks the host.
_REHEARSAL = """import json
lines = [line for line in context.splitlines() if "a" in line]
print(f"{len(lines)} lines", sum(len(line) for line in lines))
answer["content"] = sorted({"a": 1}.items(), key=lambda pair: -pair[1])[0]""", "FINAL(lines[0].split()[0])"

_session: Session | None = None


def rehearse() -> Iterator[None]:
    """Does what every session and block begins with, a step at a time, on data that are nobody's.

    For a process that waits for its session: memory shared with its parent is copied where it is
    written to, now and not while somebody waits. Closed at any step, it leaves nothing behind.
    """
    finders, hook = list(sys.meta_path), threading.excepthook
    handler = signal.getsignal(signal.SIGINT)
    session = Session()
    try:
        yield
        for block, code in enumerate(_REHEARSAL, 1):
            session.run(code, block)
            yield
    finally:
        session.close()
        sys.meta_path[:], threading.excepthook = finders, hook
        with contextlib.suppress(ValueError, OSError):
            signal.signal(signal.SIGINT, handler)


def start_session() -> None:
    """Makes the session of this process. The bridge is not used yet."""
    global _session
    _session = Session()


def run_block(code: str, block: int, replay: bool = False) -> dict[str, Any]:
    """Runs one block. `replay` changes nothing here: replies come from the host's record."""
    return _current().run(code, block)


def reset_session(keep: list[str]) -> None:
    """Forgets what blocks did, all but the variables in `keep`."""
    _current().reset(keep)


def check_code(code: str) -> dict[str, Any]:
    """Compiles a block and runs nothing."""
    return _current().check(code) if _session is not None else dossier_code.check(code)


def get_variable(name: str, max_bytes: int) -> dict[str, Any]:
    """The value of a variable as text, at most `max_bytes` of UTF-8; else the nearest names."""
    return _current().variable(name, max_bytes)


def _current() -> Session:
    if _session is None:
        raise RuntimeError("start_session was not called")
    return _session
