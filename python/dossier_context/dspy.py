"""A walled interpreter for dspy: `dspy.RLM("context, query -> answer", interpreter_factory=DossierInterpreter)`.

The code of the model runs without network, files and processes, in a session of Dossier's sandbox. Tools run here,
in the caller's process, with its dspy settings. What is given for a variable is sent when it has changed, and
strings over 1 MB as sealed memory. docs/guide/python.md has an example.
"""

from __future__ import annotations

import asyncio
import contextvars
import hashlib
import inspect
import json
import keyword
import threading
from typing import Any, Callable, Mapping

from dspy.primitives.code_interpreter import CodeExecutionError, CodeInterpreterError, FinalOutput
from dspy.utils.callback import BaseCallback, with_callbacks

from ._errors import DossierError
from ._plain import Gone, PlainSession
from ._tools import parameters_of, plain

_OURS = {"SUBMIT", "__builtins__"}


class DossierInterpreter:
    """Meets dspy's CodeInterpreter.

    tools          functions that code may call, by name; may be changed between executions
    output_fields  [{"name": …, "type": …}] of SUBMIT; None: one value. May be changed, too
    limits         of a block: cpu_s, silence_s, memory and output (bytes)
    """

    execution_instructions = (
        "Python runs in a sandbox: the standard library is there, network, files and other processes are not. "
        "Names persist from one execution to the next. Tools and SUBMIT are global functions. The value of a "
        "last expression is shown."
    )

    def __init__(self, tools: dict[str, Callable[..., Any]] | None = None,
                 output_fields: list[dict[str, Any]] | None = None, *, limits: Mapping[str, Any] | None = None,
                 callbacks: list[BaseCallback] | None = None) -> None:
        self.tools: dict[str, Callable[..., Any]] = dict(tools or {})
        self.output_fields = None if output_fields is None else [dict(field) for field in output_fields]
        self.limits = dict(limits or {})
        self.callbacks = list(callbacks or [])
        self._names_of_tools(), self._names_of_fields()  # what is wrong is said now
        self._session: PlainSession | None = None
        self._ended = ""
        self._busy = threading.Lock()
        self._bound: set[str] = set()          # names of tools that the session has
        self._sent: dict[str, Any] = {}        # what was given last, by name

    @with_callbacks
    def start(self) -> None:
        """Opens the session, if there is none. Once it has ended there is never another one."""
        if self._ended:
            raise CodeInterpreterError(f"the interpreter has ended: {self._ended}; make a new one")
        if self._session is None:
            try:
                self._session = PlainSession(self.limits)
            except DossierError as error:
                raise CodeInterpreterError(str(error)) from error

    @with_callbacks
    def execute(self, code: str, variables: dict[str, Any] | None = None) -> Any:
        """FinalOutput for SUBMIT, else what was printed, or None."""
        if not self._busy.acquire(blocking=False):
            raise CodeInterpreterError("the interpreter runs code already; use one for each thread")
        try:
            if not isinstance(code, str):
                raise CodeInterpreterError("code must be a string")
            before, values = self._before(variables or {})
            if self._session is None or self._ended:
                self.start()
            assert self._session is not None
            try:
                result = self._session.run(code, before=before, values=values, functions=_Functions(self))
            except Gone as gone:
                self._ended = str(gone)
                raise CodeInterpreterError(f"the interpreter died: {gone}; its names are lost") from None
            except DossierError as error:
                raise CodeInterpreterError(str(error)) from error
            return _outcome(result)
        finally:
            self._busy.release()

    @with_callbacks
    def invoke_tool(self, tool_name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Runs a tool of the caller."""
        if tool_name not in self.tools:
            raise CodeInterpreterError(f"Unknown tool: {tool_name}")
        result = self.tools[tool_name](*args, **kwargs)
        return asyncio.run(_awaited(result)) if inspect.isawaitable(result) else result

    @with_callbacks
    def shutdown(self) -> None:
        """Ends the session and all that runs in it."""
        self._ended = self._ended or "it was shut down"
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def __enter__(self) -> DossierInterpreter:
        self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.shutdown()

    def __call__(self, code: str, variables: dict[str, Any] | None = None) -> Any:
        return self.execute(code, variables)

    def _names_of_tools(self) -> list[str]:
        wrong = [name for name in self.tools if not _is_name(name)]
        if wrong:
            raise ValueError(f"a tool has a name that Python can call and that is not SUBMIT: {wrong!r}")
        return list(self.tools)

    def _names_of_fields(self) -> list[str] | None:
        if self.output_fields is None:
            return None
        names = [field.get("name") for field in self.output_fields]
        if not all(map(_is_name, names)) or len(set(names)) != len(names):
            raise ValueError(f"output fields have names that are Python's, each another: {names!r}")
        return names  # type: ignore[return-value]

    def _before(self, variables: Mapping[str, Any]) -> tuple[str, dict[str, tuple[str, str]]]:
        """The code that gives the session its tools and SUBMIT, and the values that it has not yet."""
        if not isinstance(variables, Mapping):
            raise CodeInterpreterError("variables must map names to JSON values")
        tools = self._names_of_tools()
        wrong = [name for name in variables if not _is_name(name) or name in tools]
        if wrong:
            raise CodeInterpreterError(f"a variable has a name that Python knows and no tool has: {wrong!r}")
        lines = [f"globals().pop({name!r}, None)" for name in sorted(self._bound - set(tools))]
        lines += [f"{name} = _dossier_tool({name!r}, {parameters_of(self.tools[name])!r})" for name in tools]
        lines.append(f"SUBMIT = _dossier_submit({self._names_of_fields()!r})")
        values, sent = {}, {}
        for name, value in variables.items():
            text, form, mark = _wire(name, value)
            if self._sent.get(name) != mark:
                values[name] = text, form
            sent[name] = mark
        self._sent.update(sent)
        self._bound = set(tools)
        return "\n".join(lines), values


class _Functions(Mapping[str, Any]):
    """The tools as they are when they are called: code may have had the caller add some."""

    def __init__(self, interpreter: DossierInterpreter) -> None:
        self._interpreter = interpreter
        self._context = contextvars.copy_context()

    def __contains__(self, name: object) -> bool:
        return name in self._interpreter.tools

    def __getitem__(self, name: str) -> Any:
        return lambda named, rest: plain(
            self._context.copy().run(self._interpreter.invoke_tool, name, list(rest), dict(named)))

    def __iter__(self) -> Any:
        return iter(self._interpreter.tools)

    def __len__(self) -> int:
        return len(self._interpreter.tools)


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name) and name not in _OURS


def _wire(name: str, value: Any) -> tuple[str, str, Any]:
    """Its text, how that is read, and what tells whether it is the same as before."""
    if type(value) is str:
        return value, "text", value
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise CodeInterpreterError(f"variables must be JSON-compatible: {name}: {error}") from error
    return text, "json", hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _outcome(result: Mapping[str, Any]) -> Any:
    printed = f"{result['out']}{result['last']}".rstrip("\n")
    error = result["error"]
    if result["answer"] is not None:
        handed = result["answer"]
        return FinalOutput(handed["value"] if handed["is_json"] else json.loads(handed["text"]))
    if error is not None and error["type"] in ("SyntaxError", "IndentationError", "TabError"):
        raise SyntaxError(error["message"])
    if error is not None or result["status"] != "ok":
        what = f"{error['type']}: {error['message']}" if error else result["stopped"] or result["status"]
        if error and result["stopped"]:
            what = result["stopped"]
        raise CodeExecutionError(f"{printed}\n{what}" if printed else what)
    return printed or None


async def _awaited(value: Any) -> Any:
    return await value
