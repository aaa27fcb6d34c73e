"""A walled interpreter for rlms: `rlm.RLM(environment="dossier")`, or in place of its local one.

    from dossier_context import rlms
    rlms.install()                    # environment="dossier" is known
    rlms.install(replace="local")     # environment="local", the default, is ours: with sub-calls, compaction and
    ...                               # persistence, which rlms gives its own environments only
    rlms.uninstall()

Code of the model runs without network, files and processes. llm_query and its kin leave through this process: the
sandbox never sees the handler's socket.
"""

from __future__ import annotations

import copy
import json
import os
import tempfile
import time
from collections.abc import MutableMapping
from typing import Any, Iterator

import rlm.core.rlm
import rlm.environments
from rlm.core.types import REPLResult
from rlm.environments.base_env import NonIsolatedEnv, extract_tool_value, validate_custom_tools
from rlm.environments.local_repl import LocalREPL

from ._plain import Gone, PlainSession
from ._tools import parameters_of, plain

# What stands in the session before the first block of a model.
_SETUP = '''
class _DossierAnswer(dict):
    """`answer`: the program is told when it becomes ready."""
    def __init__(self, value=()):
        super().__init__({"content": "", "ready": False})
        super().update(value)

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        if key == "ready" and value:
            _dossier_answered(str(self.get("content", "")))


def _dossier_rewrap():
    if not isinstance(globals().get("answer"), _DossierAnswer):
        given = globals().get("answer")
        globals()["answer"] = _DossierAnswer(given if isinstance(given, dict) else ())
        if isinstance(given, dict) and given.get("ready"):
            _dossier_answered(str(given.get("content", "")))


def SHOW_VARS():
    """Lists the variables of this session."""
    known = {name: type(value).__name__ for name, value in globals().items()
             if not name.startswith("_") and name != "answer" and name not in _dossier_scaffold}
    return f"Available variables: {known}" if known else (
        "No variables created yet. Use ```repl``` blocks to create variables.")


_dossier_answered = _dossier_tool("_dossier_answered", ["content"])
_dossier_show_vars = SHOW_VARS
answer = _DossierAnswer()
'''

_QUERIES = {"llm_query": ["prompt", "model"], "llm_query_batched": ["prompts", "model"],
            "rlm_query": ["prompt", "model"], "rlm_query_batched": ["prompts", "model"]}


class DossierREPL(LocalREPL):
    """Takes LocalREPL's arguments and has its methods; what runs code is a session of Dossier's sandbox.

    Its queries, counts and the compaction history are rlms' own. `locals` reads names from the session when they
    are read here; what is no JSON comes as its repr.
    """

    def __init__(self, lm_handler_address: tuple[str, int] | None = None, context_payload: Any = None,
                 setup_code: str | None = None, persistent: bool = False, depth: int = 1, subcall_fn: Any = None,
                 custom_tools: dict[str, Any] | None = None, custom_sub_tools: dict[str, Any] | None = None,
                 compaction: bool = False, max_concurrent_subcalls: int = 4, **kwargs: Any) -> None:
        # Not LocalREPL's: it would build a namespace of this process.
        NonIsolatedEnv.__init__(self, persistent=persistent, depth=depth,
                                max_concurrent_subcalls=max_concurrent_subcalls, **kwargs)
        self.lm_handler_address, self.subcall_fn = lm_handler_address, subcall_fn
        self.original_cwd = os.getcwd()
        self.temp_dir = tempfile.mkdtemp(prefix="dossier_repl_")
        self._context_count = self._history_count = 0
        self.compaction = compaction
        self.custom_tools = custom_tools or {}
        self.custom_sub_tools = self.custom_tools if custom_sub_tools is None else custom_sub_tools
        validate_custom_tools(self.custom_tools)
        self._compaction_history: list[Any] = []
        self._compaction_sent = 0
        self.setup()
        if context_payload is not None:
            self.load_context(context_payload)
        if setup_code:
            self.execute_code(setup_code)

    def setup(self) -> None:
        """Opens the session and gives it the names that rlms promises to code."""
        self._session = PlainSession(self.kwargs.get("limits"))
        self._pending_llm_calls: list[Any] = []
        self._last_final_answer: str | None = None
        self._given: dict[str, Any] = {}  # what this side put there, by name: restored after each block
        self._waiting: dict[str, str] = {}  # as JSON or text, for the next block
        self._names: dict[str, str] = {}
        self._scaffold, self._hidden = "", set()  # until they are there
        tools = {name: extract_tool_value(entry) for name, entry in self.custom_tools.items()}
        self._functions = {name: _call_of(tool) for name, tool in tools.items() if callable(tool)}
        self._functions |= {"llm_query": _call_of(self._llm_query), "rlm_query": _call_of(self._rlm_query),
                            "llm_query_batched": _call_of(self._llm_query_batched),
                            "rlm_query_batched": _call_of(self._rlm_query_batched),
                            "_dossier_answered": _call_of(self._capture_answer)}
        offered = _QUERIES | {name: parameters_of(tool) for name, tool in tools.items() if callable(tool)}
        scaffold = "".join(f"{name} = _dossier_tool({name!r}, {parameters!r})\n"
                                 for name, parameters in offered.items()) + "SHOW_VARS = _dossier_show_vars\n"
        hidden = [*offered, "SHOW_VARS"]
        values = {name: tool for name, tool in tools.items() if not callable(tool)}
        for name, value in values.items():
            self._put(name, value)
        self._run(f"{_SETUP}_dossier_scaffold = {hidden!r}\n")
        self._scaffold, self._hidden = scaffold, set(hidden)
        self._given.clear()  # the caller's values are the model's to change
        if self.compaction:
            self._run("history = []")

    @property
    def locals(self) -> MutableMapping:
        return _Locals(self)

    @property
    def globals(self) -> dict[str, Any]:
        """The functions that code may call, as they are here."""
        return {"SHOW_VARS": self._show_vars, **{name: getattr(self, "_" + name) for name in _QUERIES},
                **{name: extract_tool_value(one) for name, one in self.custom_tools.items()
                   if callable(extract_tool_value(one))}}

    def execute_code(self, code: str) -> REPLResult:
        start = time.perf_counter()
        self._pending_llm_calls = []
        self._last_final_answer = None
        if self.compaction and self._compaction_sent < len(self._compaction_history):
            self._waiting["_dossier_history"] = _json(self._compaction_history[self._compaction_sent:])
            self._compaction_sent = len(self._compaction_history)
        try:
            result = self._run(code)
        except Gone as gone:
            return REPLResult(stdout="", stderr=f"\nSessionError: the interpreter died: {gone}", locals={},
                              execution_time=time.perf_counter() - start, rlm_calls=self._pending_llm_calls.copy())
        error, stderr, stdout = result["error"], "", result["out"]
        if error is not None:
            stderr = f"\n{error['type']}: {error['message']}"
        elif result["status"] not in ("ok", "final"):
            stderr = f"\n{result['status']}: {result['stopped']}"
        return REPLResult(stdout=stdout, stderr=stderr, locals=_Locals(self, dict(self._names)),
                          execution_time=time.perf_counter() - start, rlm_calls=self._pending_llm_calls.copy(),
                          final_answer=self._last_final_answer)

    def add_context(self, context_payload: Any, context_index: int | None = None) -> int:
        index = self._context_count if context_index is None else context_index
        self._put(f"context_{index}", context_payload)
        if index == 0:
            self._given["context"] = context_payload  # an alias, made where the value lies
        self._run("")
        self._context_count = max(self._context_count, index + 1)
        return index

    def add_history(self, message_history: list[dict[str, Any]], history_index: int | None = None) -> int:
        index = self._history_count if history_index is None else history_index
        self._put(f"history_{index}", copy.deepcopy(message_history))
        if index == 0 and not self.compaction:
            self._given["history"] = self._given[f"history_{index}"]
        self._run("")
        self._history_count = max(self._history_count, index + 1)
        return index

    def cleanup(self) -> None:
        session, self._session = getattr(self, "_session", None), None
        if session is not None:
            session.close()
        self._names, self._given = {}, {}
        try:
            os.rmdir(self.temp_dir)
        except (OSError, AttributeError):
            pass

    def _put(self, name: str, value: Any) -> None:
        self._given[name] = value
        self._waiting[name] = value if isinstance(value, str) else _json(value)

    def _run(self, code: str) -> Any:
        """A block between what sets its names up and what puts them back."""
        if self._session is None:
            raise Gone("the environment was cleaned up")
        lines = [self._scaffold]
        if "_dossier_history" in self._waiting:
            lines.append("history += _dossier_history")
        values = {name: (text, "text" if isinstance(self._given.get(name), str) else "json")
                  for name, text in self._waiting.items()}
        after = ["_dossier_rewrap()"] + [f"{name} = {name}_0" for name in ("context", "history")
                                         if name in self._given]
        result = self._session.run(code or "pass", before="\n".join(lines), after="\n".join(after), values=values,
                                   functions=self._functions)
        self._waiting.clear()
        self._names = {one["name"]: one["type"] for one in result["variables"] if one["name"] not in self._hidden}
        return result


class _Locals(MutableMapping):
    """The names of a session, read from it when they are read. Those of a result are the names of its block."""

    def __init__(self, repl: DossierREPL, names: dict[str, str] | None = None) -> None:
        self._repl, self._own = repl, names

    @property
    def _known(self) -> dict[str, str]:
        return self._repl._names if self._own is None else self._own

    def __getitem__(self, name: str) -> Any:
        if name not in self._known or self._repl._session is None:
            raise KeyError(name)
        given = self._repl._given
        if name in given and name.split("_")[0] in ("context", "history"):
            return given[name]  # put back after each block: no need to fetch 200 MB
        return self._repl._session.get(name)

    def __setitem__(self, name: str, value: Any) -> None:
        self._repl._put(name, value)
        self._repl._run("")
        self._repl._given.pop(name)

    def __delitem__(self, name: str) -> None:
        if name not in self._known:
            raise KeyError(name)
        self._repl._run(f"del {name}")

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._known))

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def copy(self) -> "_Locals":
        return _Locals(self._repl, dict(self._known))


def _call_of(function: Any) -> Any:
    return lambda named, rest: plain(function(*rest, **named))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


_original: Any = None


def install(replace: str | None = None) -> None:
    """Makes rlms know the environment "dossier"; with replace="local" its local one is ours, too."""
    global _original
    if replace not in (None, "local"):
        raise ValueError(f"install: replace is None or 'local', not {replace!r}")
    uninstall()
    original = rlm.environments.get_environment

    def get_environment(environment: str, environment_kwargs: dict[str, Any]) -> Any:
        if environment == "dossier" or environment == replace:
            return DossierREPL(**environment_kwargs)
        return original(environment, environment_kwargs)

    _original = original
    rlm.environments.get_environment = rlm.core.rlm.get_environment = get_environment


def uninstall() -> None:
    """rlms as it was."""
    global _original
    if _original is not None:
        rlm.environments.get_environment = rlm.core.rlm.get_environment = _original
        _original = None
