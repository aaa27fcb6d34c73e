"""The names that code finds: records, context, contexts, doc, contextMeta, history, budget, SHOW_VARS, tools.

`context` and `records` are made when a block first names them: building the text of a large context
costs its size again, reading the record index asks the host.
"""

import ast
import builtins
import importlib
import json
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, MappingView
from itertools import islice
from typing import Any

import _dossier

import dossier_plain
from dossier_answers import Answers
from dossier_bridge import LLMError, ToolError, ask, blob, call, raised
from dossier_calls import Caller, make_calls, make_estimate
from dossier_cite import make_cite
from dossier_code import Parsed
from dossier_contexts import Contexts
from dossier_doc import Chunks, Doc
from dossier_extract import Extractor, make_reduce
from dossier_labels import make_map
from dossier_loader import seed_random
from dossier_memory import History, make_memory
from dossier_out import make_out
from dossier_records import Records, Tables
from dossier_show import is_variable, list_variables, variable_names
from dossier_sql import make_sql
from dossier_text import Piece, Source

_loads = json.loads
_STRING_MAX = 2 << 30
_LOOKED_AT = 200    # rows, to see what a field holds
# Code that names these may reach any name by its text.
_REFLECTION = {"eval", "exec", "globals", "vars", "locals", "getattr", "__import__"}
# What models forget to import: modules, and members of modules.
_MODULES = ("re", "json", "csv", "math", "collections", "itertools", "statistics", "os", "sys",
            "io", "random", "string", "textwrap", "time")
_MEMBERS = {"Counter": "collections", "defaultdict": "collections", "Path": "pathlib"}
_FORGOTTEN = {*_MODULES, *_MEMBERS}


class FrozenMeta(Mapping):
    """contextMeta: a mapping that cannot be changed; `contextMeta.fields` works too."""

    __slots__ = ("_data",)

    def __init__(self, data: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_data", {key: _frozen(value) for key, value in data.items()})

    def __getitem__(self, key: str) -> Any:
        return self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._data:
            raise AttributeError(f"contextMeta has no {name!r}; it has {', '.join(self._data)}")
        return self._data[name]

    def __setattr__(self, name: str, value: Any) -> None:
        raise TypeError("contextMeta is read-only")

    def __repr__(self) -> str:
        return repr(self._data)


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return FrozenMeta(value)
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value


class World:
    """The reserved names of one session, in the namespace of its module."""

    def __init__(self, namespace: dict[str, Any], features: Mapping[str, Any],
                 note: Callable[[str], None], note_query: Callable[..., None]) -> None:
        self.namespace = namespace
        self._note_query = note_query
        self.features = features
        self.plain = bool(features.get("plain"))
        self._all = [] if self.plain else [Source(index) for index in range(_dossier.context_count())]
        # Of a session: which documents belong to which question, the newest last.
        self._questions = features.get("questions") or [{"first": 0, "count": len(self._all), "seed": None}]
        self.sources: list[Source] = []   # of the current question; always the same list
        self._note = note
        self._string_max: int = features.get("context_string_max") or _STRING_MAX
        self._lazy: dict[str, Callable[[], Any]] = {}
        self._pending: set[str] = set()
        self.functions: dict[str, Callable[..., Any]] = {}
        self.data: dict[str, Any] = {}
        self._take_question(len(self._questions) - 1)
        self.answers = Answers(namespace, self.variable_names, features)
        if features.get("client"):
            namespace["__builtins__"] |= dossier_plain.giver(namespace)
        if self.plain:
            namespace["__builtins__"] |= dossier_plain.names(self.answers)
            self._pending.clear()
            self.reserved: frozenset[str] = frozenset()
        else:
            self._define()

    def variable_names(self) -> list[str]:
        return variable_names(self.namespace, self.reserved)

    def is_variable(self, name: str) -> bool:
        return is_variable(self.namespace, self.reserved, name)

    def variables(self) -> list[dict[str, Any]]:
        return list_variables(self.namespace, self.reserved)

    def records(self) -> Records | None:
        self.make("records")
        return self.data.get("records")

    def holds_numbers(self, field: str) -> bool:
        """Whether the first rows hold numbers in a field, where they hold something."""
        values = [row.get(field) for row in islice(self.records() or (), _LOOKED_AT)
                  if isinstance(row, dict)]
        found = [value for value in values if value not in ("", None)]
        return bool(found) and all(type(value) in (int, float) for value in found)

    def aliases(self) -> frozenset[str]:
        """The names that stand for the text of `context`, other than that."""
        text = self.data.get("context")
        return frozenset(name for name, value in self.namespace.items()
                         if value is text and name != "context") if text is not None else frozenset()

    def take_read(self, whole: bool) -> list[list[int]]:
        """Context, first byte and length of what code looked at since the last call."""
        spans = self._tables.take_read()
        spans += [span for source in self.sources for span in source.take_read(whole)]
        return [list(span) for span in spans]

    def whole_documents(self, places: Iterable[int]) -> list[list[int]]:
        """The same for documents that code took as a whole."""
        return [[self.sources[place].index, 0, self.sources[place].bytes] for place in places]

    def lines_of_context(self, parts: Iterable[slice]) -> list[list[int]]:
        """The same for lines that code took of `context`."""
        text, parts, found = self.data.get("context"), [*parts], []
        if not parts or not isinstance(text, str):  # its lines take several times its memory
            return found
        lines = text.encode("utf-8", "replace").splitlines(True)
        for part in parts if lines else ():
            first, end, _ = part.indices(len(lines))
            found.append([self.sources[0].index, sum(map(len, lines[:first])), sum(map(len, lines[first:end]))])
        return found

    def forget_read(self) -> None:
        self._tables.forget_read()
        for source in self.sources:
            source.forget_read()

    def counts(self) -> list[str]:
        """How much data there is, as numbers that an output may name beside what it found."""
        texts = [str(source.characters) for source in self.sources]
        return [*texts, *map(str, self._tables.counts()), str(len(self.sources))]

    def row_counts(self) -> list[int]:
        return self._tables.counts()

    def take_unknown_fields(self) -> dict[str, str]:
        """Fields that .get() asked for since the last call and that no row has, with a note each."""
        return self._tables.take_unknown()

    def make(self, name: str) -> None:
        """Makes `context`, `records` or what else is made when it is named, if that has not been done."""
        if name not in self._pending:
            return
        self._pending.discard(name)
        value = self._lazy[name]()
        if value is not None:
            self.data[name] = value
            self.namespace[name] = value
        elif (absent := self._tables.none()) is not None:
            self.namespace[name] = absent

    def prepare(self, parsed: Parsed) -> None:
        """Makes the lazy names that this block may use."""
        reflects = bool(parsed.names & _REFLECTION) or any(
            node.attr in ("__dict__", "import_module") for node in parsed.of(ast.Attribute))
        for name in _FORGOTTEN if reflects else _FORGOTTEN & parsed.names:
            self.namespace["__builtins__"].setdefault(name, _forgotten(name))
        if not self._pending:
            return
        for name in [*self._pending]:
            if name in parsed.names or (reflects and name in _strings(parsed, self._lazy)):
                self.make(name)

    def put_back(self) -> list[str]:
        """Undoes what the block did to reserved names; says which."""
        changed = []
        for own in (self.functions, self.data):
            for name, value in own.items():
                if self.namespace.get(name, self) is not value:
                    self.namespace[name] = value
                    changed.append(name)
        for name in self._pending:
            if self.namespace.pop(name, None) is not None:
                changed.append(name)
        if not self.plain:
            self.namespace.setdefault("answer", {"content": "", "ready": False})
        return changed

    def start_over(self) -> None:
        """Reserved names as at the start; `context` and `records` stay if they were made."""
        self.namespace.pop("answer", None)
        self.put_back()

    def holds(self) -> str:
        """One sentence on what the data names hold."""
        records = self.records()
        if records is not None:
            return f"`records` already holds the real data ({len(records):,} rows)."
        count = sum(source.characters for source in self.sources)
        return f"`context` already holds the real text ({count:,} characters)."

    def _define(self) -> None:
        caller = Caller(self.features, self._note)
        self.functions |= make_calls(caller)
        extractor = Extractor(caller)
        self.functions["map_llm"] = make_map(caller, extractor, self.sources, self.records)
        if self.features.get("memory"):
            self.functions |= make_memory()
        if self.features.get("out_dir"):
            self.functions["save_file"] = make_out()
        sql = make_sql(self.sources, self.features, self._note_query)
        if self.features.get("profile") == "small":  # nobody told it: the name is free for its own use
            self.namespace["__builtins__"]["sql"] = sql
        else:
            self.functions["sql"] = sql
        self.functions |= self.answers.functions()
        self.functions |= {f.__name__: f for f in self._helpers()}
        self.functions |= {tool["name"]: _tool(tool) for tool in self.features.get("tools") or []}
        self.functions |= {offered["name"]: dossier_plain.tool(offered["name"], offered["parameters"])
                           for offered in self.features.get("client_tools") or []}
        self._define_data()
        self.data["history"] = History()
        self.namespace["__builtins__"]["_dossier_part"] = self.part
        self.namespace["__builtins__"]["ToolError"] = ToolError
        self.namespace["__builtins__"]["estimate"] = make_estimate(caller)
        self.namespace["__builtins__"]["cite"] = make_cite(self._all)
        self.namespace["__builtins__"]["_dossier_question"] = self._select
        self.namespace["__builtins__"]["reduce_llm"] = make_reduce(extractor)
        self.namespace.update(self.functions)
        self.namespace.update(self.data)
        self.namespace["LLMError"] = self.data["LLMError"] = LLMError
        self.reserved = frozenset({*self.functions, *self.data, *self._lazy, "answer"})

    def _take_question(self, number: int) -> None:
        """Makes the documents of one question the current ones."""
        def of(question: Mapping[str, Any]) -> list[Source]:
            part = self._all[question["first"]:question["first"] + question["count"]]
            return sorted(part, key=lambda source: source.name.encode())

        self.sources[:] = of(self._questions[number])
        self._tables = Tables(list(self.sources), self._note)
        sources = list(self.sources)
        self._lazy = {"context": lambda: self._make_context(sources), "records": self._tables.all}
        if len(self._questions) > 1:
            for index, question in enumerate(self._questions[:number + 1]):
                own = of(question)
                self._lazy[f"context_{index}"] = lambda own=own: self._make_context(own)
            for index in range(number):
                self._lazy[f"history_{index}"] = lambda index=index: _transcript(index)
        self._pending = set(self._lazy)

    def _define_data(self) -> None:
        """The names that stand for the data of the current question."""
        sources = list(self.sources)
        self.data["doc"] = Doc.of(sources, self._string_max)
        contexts = Contexts(sources, self._tables, self._string_max)
        if len(sources) > 1:
            self.data["contexts"] = contexts
        else:  # not needed, but a habit; as a variable of the code it is left alone
            self.namespace["__builtins__"]["contexts"] = contexts
        meta = self._meta()
        if meta is not None:
            self.data["contextMeta"] = meta

    def _select(self, number: int) -> None:
        """What the host calls between two questions of a session."""
        for name in (*self._lazy, "contexts", "contextMeta"):
            self.data.pop(name, None)
            self.namespace.pop(name, None)
        self._take_question(number)
        self._define_data()
        self.namespace.update(self.data)
        self.reserved = frozenset({*self.functions, *self.data, *self._lazy, "answer"})
        self.namespace["answer"] = {"content": "", "ready": False}
        if self._questions[number]["seed"] is not None:
            seed_random(self._questions[number]["seed"])

    def _helpers(self) -> tuple[Callable[..., Any], ...]:
        world = self

        def SHOW_VARS() -> dict[str, str]:  # noqa: N802
            """Prints the names and types of your variables; returns them."""
            types_ = {name: type(world.namespace[name]).__name__ for name in world.variable_names()}
            print("\n".join(f"{name}: {kind}" for name, kind in types_.items())
                  or "No variables are set.")
            return types_

        def budget() -> dict[str, Any]:
            """What is left: iterations, calls, tokens, seconds, money. None is unlimited."""
            return call("budget", {})[0]

        return SHOW_VARS, budget

    def _meta(self) -> FrozenMeta | None:
        """As `inspect` describes the context; several documents are listed."""
        metas = [source.meta or {"fileName": source.name, "bytes": source.bytes,
                                 "chars": source.characters, "length": source.characters,
                                 "lengthUnit": "code points"} for source in self.sources]
        if len(metas) > 1:
            return FrozenMeta({"documents": metas, "count": len(metas)})
        return FrozenMeta(metas[0]) if metas and self.sources[0].bytes else None

    def _make_context(self, sources: list[Source]) -> Any:
        if sum(source.bytes for source in sources) > self._string_max:
            return self._views(sources, "is too large for one string")
        try:
            texts = [source.whole() for source in sources]
        except MemoryError:
            return self._views(sources, "does not fit into memory")
        return texts[0] if len(texts) == 1 else texts

    def part(self, value: Any, lower: Any, upper: Any, step: Any) -> Any:
        """What `context[lower:upper:step]` in a block calls."""
        part = value[lower:upper:step]
        if len(self.sources) == 1 and isinstance(value, str) and value is self.data.get("context"):
            first, end, _ = slice(lower, upper, 1).indices(len(value))
            self.sources[0].note_slice(first, end)
        return part

    def unit_of(self, value: Any) -> str:
        """Of what all of the data consists, where `value` is all of them; else ""."""
        if value.__class__ is str or isinstance(value, Doc):
            return "characters" if value is self.data.get("context") or value is self.data.get("doc") else ""
        if isinstance(value, Chunks):
            return "chunks" if value.of_all and len(self.sources) == 1 else ""
        if self._is_documents(value):
            return "documents"
        if not isinstance(value, list) or not value:
            return ""
        whole = all(isinstance(item, Piece) for item in value) \
            and sum(map(len, value)) >= sum(source.characters for source in self.sources)
        return "chunks" if whole else ""

    def _is_documents(self, value: Any) -> bool:
        """Whether a list or view has one item for each of several documents: its name, text or rows."""
        count = len(self.sources)
        if isinstance(value, MappingView):   # contexts.values()
            value = getattr(value, "_mapping", value)
        if count < 2 or not isinstance(value, (list, tuple, Contexts)) or len(value) != count:
            return False
        if isinstance(value, Contexts) or value is self.data.get("context"):
            return True
        return all(
            item == source.name if item.__class__ is str else
            (item[0] if isinstance(item, tuple) and item else getattr(item, "name", None)) == source.name
            or isinstance(item, (Piece, Records)) for item, source in zip(value, self.sources))

    def documents(self) -> list[tuple[str, Any]]:
        """The name of each of several, and its kind: the fields of a table, None for a text."""
        kinds = [self._tables.of(source) for source in self.sources if len(self.sources) > 1]
        return [(source.name, None if rows is None else tuple(rows.fields))
                for source, rows in zip(self.sources, kinds)]

    def _views(self, sources: list[Source], reason: str) -> Any:
        self._note(f"`context` {reason}: it is the view `doc` (len, slices, find, grep, chunks).")
        if sources == self.sources and len(sources) == 1:
            return self.data["doc"]
        views = [Doc.of([source], self._string_max) for source in sources]
        return views[0] if len(views) == 1 else views


def _transcript(question: int) -> str:
    value, raw = ask("history", {"question": question})
    return blob(value["text"], raw)


def _strings(parsed: Parsed, names: Iterable[str]) -> set[str]:
    return {word for node in parsed.of(ast.Constant) if isinstance(node.value, str)
            for word in names if word in node.value}


def _tool(tool: Mapping[str, Any]) -> Callable[..., Any]:
    names = list(tool.get("parameters") or ())

    def run(*values: Any, **fields: Any) -> Any:
        if len(values) > len(names):
            raise TypeError(f"{tool['name']} takes {len(names)} arguments: {', '.join(names)}")
        args = {"name": tool["name"], "args": dict(zip(names, values)) | fields}
        try:
            told, raw = ask("tool", args)
            return _loads(blob(told["json"], raw)) if "json" in told else told["value"]
        except RuntimeError as error:
            raise raised(str(error)) from None

    run.__name__ = run.__qualname__ = tool["name"]
    run.__doc__ = tool.get("description", "")
    return run


def _forgotten(name: str) -> Any:
    module = importlib.import_module(_MEMBERS.get(name, name))
    return getattr(module, name) if name in _MEMBERS else module


def block_builtins(own: Mapping[str, Any]) -> dict[str, Any]:
    """The builtins of blocks: Python's, with ours over them."""
    names = dict(vars(builtins))

    def refuse(name: str) -> Callable[..., Any]:
        def refused(*_args: Any) -> Any:
            raise EOFError(f"{name}: nobody can answer here; use context, records or llm_query")
        refused.__name__ = name
        return refused

    def leave(code: Any = None) -> None:
        raise SystemExit(code)

    def help_(thing: Any = None) -> None:
        print(getattr(thing, "__doc__", None) or "Names: records, context, doc, llm_query, "
              "llm_query_batched, map_llm, FINAL, FINAL_VAR, SHOW_VARS, budget")

    names |= {"input": refuse("input"), "breakpoint": refuse("breakpoint"), "exit": leave,
              "quit": leave, "help": help_, "display": print}
    names |= own
    return names


def make_module(own: Mapping[str, Any]) -> types.ModuleType:
    """The module that blocks run in."""
    module = types.ModuleType("__main__")
    module.__dict__["__builtins__"] = block_builtins(own)
    return module
