"""`RLM` of the package rlms, on Dossier's engine: the same constructor, the same `completion`.

    from dossier_context import RLM
    rlm = RLM(backend="openai", backend_kwargs={"model_name": "gpt-5-mini"}, max_iterations=20)
    print(rlm.completion("…a million characters…", root_prompt="Which order was late?").response)

Code runs in Dossier's sandbox, whatever `environment` says. What has no counterpart is named once, in a warning.
"""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import asdict, dataclass, field
from typing import Any, Callable, Mapping

from . import _process
from ._answers import Answer, Event, Finished
from ._api import Context, Stream, stream
from ._errors import ConfigError, DossierError
from ._tools import offer
from ._values import SealedText, encode

QUESTION = "Answer the request in the context."

# Their backends: ours, and where they take an address.
_PROVIDERS = {"openai": "openai", "anthropic": "anthropic", "gemini": "gemini", "openrouter": "openrouter",
              "vllm": "vllm", "dossier": ""}
_ADDRESSES = {"vercel": "https://ai-gateway.vercel.sh/v1"}
_KEY = "DOSSIER_RLM_KEY"
_MOST_DOCUMENTS = 500  # of a list of texts: each is a file in memory

# Arguments without a counterpart, with their defaults: told of when they say something else.
_WITHOUT = {"depth": 0, "max_depth": 1, "max_errors": None, "custom_system_prompt": None, "custom_sub_tools": None,
            "compaction_threshold_pct": 0.85, "orchestrator": True}


@dataclass
class ModelUsageSummary:
    total_calls: int
    total_input_tokens: int
    total_output_tokens: int
    total_cost: float | None = None

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass
class UsageSummary:
    model_usage_summaries: dict[str, ModelUsageSummary]

    @property
    def total_cost(self) -> float | None:
        costs = [one.total_cost for one in self.model_usage_summaries.values() if one.total_cost is not None]
        return sum(costs) if costs else None

    @property
    def total_input_tokens(self) -> int:
        return sum(one.total_input_tokens for one in self.model_usage_summaries.values())

    @property
    def total_output_tokens(self) -> int:
        return sum(one.total_output_tokens for one in self.model_usage_summaries.values())

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"model_usage_summaries": {name: one.to_dict() for name, one
                                                         in self.model_usage_summaries.items()}}
        if self.total_cost is not None:
            out["total_cost"] = self.total_cost
        return out


@dataclass
class RLMChatCompletion:
    root_model: str
    prompt: Any
    response: str
    usage_summary: UsageSummary
    execution_time: float
    metadata: dict[str, Any] | None = None  # the run: id, status, doubts, cost, and its turns with a logger
    error: str | None = None                # the limit that ended it, where `response` is what was known then

    def to_dict(self) -> dict[str, Any]:
        out = {"root_model": self.root_model, "prompt": self.prompt, "response": self.response,
               "usage_summary": self.usage_summary.to_dict(), "execution_time": self.execution_time}
        out.update({name: value for name, value in (("metadata", self.metadata), ("error", self.error))
                    if value is not None})
        return out


@dataclass
class Iteration:
    """One turn, in the form that rlms' loggers write."""
    number: int
    response: str = ""
    blocks: list[dict[str, Any]] = field(default_factory=list)
    begun: float = 0.0
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        return {"type": "iteration", "iteration": self.number, "response": self.response, "code_blocks": self.blocks,
                "iteration_time": self.seconds}


class RLM:
    """See the module. `logger` needs `log_metadata(obj)` and `log(obj)`, whose argument has `to_dict()`.

    With `persistent`, contexts and question-and-answer pairs of earlier completions are documents of the next one
    (context_0 …, history_0 …); variables are not kept. Thread-safety: one completion at a time.
    """

    def __init__(self, backend: str = "openai", backend_kwargs: Mapping[str, Any] | None = None,
                 environment: str = "local", environment_kwargs: Mapping[str, Any] | None = None, depth: int = 0,
                 max_depth: int = 1, max_iterations: int = 30, max_budget: float | None = None,
                 max_timeout: float | None = None, max_tokens: int | None = None, max_errors: int | None = None,
                 custom_system_prompt: str | None = None, other_backends: list[str] | None = None,
                 other_backend_kwargs: list[Mapping[str, Any]] | None = None, logger: Any = None,
                 verbose: bool = False, persistent: bool = False, custom_tools: Mapping[str, Any] | None = None,
                 custom_sub_tools: Mapping[str, Any] | None = None, compaction: bool = False,
                 compaction_threshold_pct: float = 0.85, max_concurrent_subcalls: int = 4,
                 on_subcall_start: Callable[[int, str, str], None] | None = None,
                 on_subcall_complete: Callable[[int, str, float, str | None], None] | None = None,
                 on_iteration_start: Callable[[int, int], None] | None = None,
                 on_iteration_complete: Callable[[int, int, float], None] | None = None,
                 sampling_args: Mapping[str, Any] | None = None, sub_sampling_args: Mapping[str, Any] | None = None,
                 orchestrator: bool = True, user_prologue: str | None = None) -> None:
        given = locals()
        for name, default in _WITHOUT.items():
            if given[name] != default:
                _warn(name)
        if environment not in ("local", "dossier"):
            _warn("environment", f"{environment!r}: code runs in Dossier's sandbox")
        if environment_kwargs:
            _warn("environment_kwargs")
        if sub_sampling_args:
            _warn("sub_sampling_args")
        if other_backends is not None and len(other_backends) != 1:
            raise ValueError("other_backends: one backend, for the sub-calls")
        self.backend, self.backend_kwargs = backend, dict(backend_kwargs or {})
        self.logger, self.verbose, self.persistent = logger, verbose, persistent
        self.user_prologue, self.max_depth, self.max_iterations = user_prologue, max_depth, max_iterations
        self._watch = {"iteration_start": on_iteration_start, "iteration_complete": on_iteration_complete,
                       "subcall_start": on_subcall_start, "subcall_complete": on_subcall_complete}
        self._key: str | None = self.backend_kwargs.get("api_key")
        self._child: _process.Child | None = None
        self._model, options = _model_of(backend, self.backend_kwargs, sampling_args)
        options["concurrency"] = max_concurrent_subcalls
        if self._key:
            options["key_env"] = _KEY
        self._options: dict[str, Any] = {
            "mode": "recursive", "model": self._model, "max_turns": max_iterations, "max_usd": max_budget,
            "max_seconds": max_timeout, "max_tokens": max_tokens, "model_options": options,
            "tools": _tools_of(custom_tools)}
        if other_backends:
            self._options["sub_model"] = _model_of(other_backends[0], (other_backend_kwargs or [{}])[0], None)[0]
        self._earlier: list[tuple[str, str]] = []  # names and texts of earlier turns, with `persistent`
        self._turns = 0

    def completion(self, prompt: Any, root_prompt: str | None = None) -> RLMChatCompletion:
        """The answer to `root_prompt` over `prompt`: a text, a list of texts, or JSON data of any size."""
        started = time.perf_counter()
        question = root_prompt or QUESTION
        asked = f"{self.user_prologue}\n\n{question}" if self.user_prologue else question
        documents = _documents(prompt, self._turns)
        context = _open([*self._earlier, *documents] if self.persistent else documents)
        events = stream(asked, context, **self._options)
        if self._key:
            events._child = self._own_child()
        turns, subcalls = _Turns(self), _Subcalls(self)
        answer, error = self._follow(events, turns, subcalls)
        if self.persistent:
            self._earlier += [*documents, (f"history_{self._turns}.json", json.dumps(
                [{"role": "user", "content": question}, {"role": "assistant", "content": answer.text}]))]
            self._turns += 1
        usage = ModelUsageSummary(answer.usage.calls, answer.usage.input_tokens, answer.usage.output_tokens,
                                  answer.cost_usd)
        model = str(self.backend_kwargs.get("model_name") or self._model or "default")
        metadata = {"run": answer.run, "status": answer.status, "doubts": list(answer.doubts)}
        if self.logger is not None:
            metadata["iterations"] = [one.to_dict() for one in turns.all]
        return RLMChatCompletion(model, prompt, answer.text, UsageSummary({model: usage}),
                                 time.perf_counter() - started, metadata, error)

    def close(self) -> None:
        """Forgets earlier turns."""
        self._earlier, self._turns = [], 0
        child, self._child = self._child, None
        if child is not None:
            child.close()

    def __enter__(self) -> RLM:
        return self

    def __exit__(self, *_: Any) -> bool:
        self.close()
        return False

    def _follow(self, events: Stream, turns: _Turns, subcalls: _Subcalls) -> tuple[Answer, str | None]:
        if self.logger is not None:
            self.logger.log_metadata(_Metadata(self))
        try:
            for event in events:
                if isinstance(event, Finished):
                    return event.answer, None
                if isinstance(event, Event):
                    turns.see(event)
                    subcalls.see(event)
        except DossierError as error:
            # As there: at a limit the best answer so far, if there is one.
            if isinstance(error.partial, Answer) and error.partial.text:
                return error.partial, str(error)
            raise
        finally:
            turns.end()
        raise DossierError("the stream ended without an answer")

    def _own_child(self) -> _process.Child:
        """A key that is given by value goes to a child of its own, in its environment and nowhere else."""
        if self._child is None or not self._child.alive:
            self._child = _process.Child(_process.find_command(), {_KEY: str(self._key)})
        return self._child

    def _tell(self, what: str, *values: Any) -> None:
        function = self._watch[what]
        if function is not None:
            try:
                function(*values)
            except Exception:
                pass  # as there: a listener that fails ends no run


class _Turns:
    """Turns as their events tell of them."""

    def __init__(self, rlm: RLM) -> None:
        self._rlm = rlm
        self.all: list[Iteration] = []

    def see(self, event: Event) -> None:
        data = event.data
        if event.type == "turn.started":
            self.end()
            self.all.append(Iteration(int(data["turn"]), begun=time.perf_counter()))
            self._rlm._tell("iteration_start", 0, self.all[-1].number)
        elif not self.all:
            return
        elif event.type == "reply.received" and data.get("purpose") == "root":
            self.all[-1].response = _body(data.get("body"))
        elif event.type == "block.started":
            self.all[-1].blocks.append({"code": _body(data.get("code")), "result": {"stdout": ""}})
        elif event.type == "block.done" and self.all[-1].blocks:
            self.all[-1].blocks[-1]["result"] = {"stdout": _body(data.get("output")), "status": data.get("status")}

    def end(self) -> None:
        if not self.all or self.all[-1].seconds:
            return
        turn = self.all[-1]
        turn.seconds = time.perf_counter() - turn.begun
        self._rlm._tell("iteration_complete", 0, turn.number, turn.seconds)
        if self._rlm.logger is not None:
            self._rlm.logger.log(turn)
        if self._rlm.verbose:
            print(f"turn {turn.number}: {turn.seconds:.1f} s\n{turn.response}")
            for block in turn.blocks:
                print(block["result"]["stdout"])


class _Subcalls:
    """Requests of code, from their events."""

    def __init__(self, rlm: RLM) -> None:
        self._rlm = rlm
        self._begun: dict[Any, tuple[str, float]] = {}

    def see(self, event: Event) -> None:
        data = event.data
        if data.get("purpose") not in ("subcall", "map") or "request" not in data:
            return
        if event.type == "request.sent":
            self._begun[data["request"]] = str(data.get("model", "")), time.perf_counter()
            self._rlm._tell("subcall_start", 1, str(data.get("model", "")), _body(data.get("messages"))[:80])
        elif event.type in ("reply.received", "request.failed") and data["request"] in self._begun:
            model, begun = self._begun.pop(data["request"])
            self._rlm._tell("subcall_complete", 1, model, time.perf_counter() - begun, data.get("message"))


class _Metadata:
    def __init__(self, rlm: RLM) -> None:
        self._rlm = rlm

    def to_dict(self) -> dict[str, Any]:
        hidden = {"api_key"}
        return {"root_model": self._rlm.backend_kwargs.get("model_name", "unknown"), "max_depth": self._rlm.max_depth,
                "max_iterations": self._rlm.max_iterations, "backend": self._rlm.backend, "environment_type": "dossier",
                "backend_kwargs": {name: value for name, value in self._rlm.backend_kwargs.items()
                                   if name not in hidden}}


_warned: set[str] = set()


def _warn(name: str, why: str = "Dossier's engine has no counterpart") -> None:
    if name not in _warned:
        _warned.add(name)
        warnings.warn(f"RLM: {name} has no effect: {why}", stacklevel=3)


def _model_of(backend: str, kwargs: Mapping[str, Any], sampling: Mapping[str, Any] | None
              ) -> tuple[str | None, dict[str, Any]]:
    """The model's name, and the options of its requests."""
    name = kwargs.get("model_name")
    address = kwargs.get("base_url") or kwargs.get("azure_endpoint") or _ADDRESSES.get(backend)
    options: dict[str, Any] = {}
    arguments = {**(kwargs.get("sampling_args") or {}), **(sampling or {})}
    for theirs, ours in (("temperature", "temperature"), ("max_tokens", "max_output"),
                         ("max_completion_tokens", "max_output")):
        if theirs in arguments:
            options[ours] = arguments.pop(theirs)
    for other in arguments:
        _warn(f"sampling_args[{other!r}]")
    for other in kwargs.keys() - {"model_name", "base_url", "azure_endpoint", "api_key", "sampling_args"}:
        _warn(f"backend_kwargs[{other!r}]")
    if address:
        return f"{address}#{name}", options
    if backend not in _PROVIDERS:
        raise ConfigError(f"RLM: the backend {backend} needs base_url in backend_kwargs; without it there are "
                          f"{', '.join(sorted(_PROVIDERS))}", code="config")
    provider = _PROVIDERS[backend]
    return (f"{provider}/{name}" if provider and name else name), options


def _tools_of(custom: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if not custom:
        return None
    tools = {name: one["tool"] if isinstance(one, Mapping) and "tool" in one else one for name, one in custom.items()}
    for name in [name for name, tool in tools.items() if not callable(tool)]:
        value = tools[name]
        tools[name] = lambda value=value: value
        _warn(f"custom_tools[{name!r}]", "it is a value, and code calls it as a function")
    offer(tools)  # wrong names are told of now
    return tools


def _documents(prompt: Any, turn: int) -> list[tuple[str, str]]:
    """A text is one document, a list of texts one for each, in their order; anything else is one of JSON."""
    if isinstance(prompt, str):
        return [(f"context_{turn}.txt", prompt)]
    texts = isinstance(prompt, (list, tuple)) and all(isinstance(one, str) for one in prompt)
    if texts and 1 < len(prompt) <= _MOST_DOCUMENTS:
        return [(f"context_{turn}_{at:03}.txt", one) for at, one in enumerate(prompt)]
    if texts and len(prompt) > _MOST_DOCUMENTS:
        _warn("prompt", f"it has more than {_MOST_DOCUMENTS} texts, and code finds the JSON of the list")
    return [(f"context_{turn}.json", json.dumps(prompt, ensure_ascii=False, default=str))]


def _open(documents: list[tuple[str, str]]) -> Context:
    if len(documents) == 1:
        return Context.from_text(documents[0][1], documents[0][0])
    held = tuple(SealedText(encode(text)) for _, text in documents)
    return Context._opened({"files": [{"path": sealed.path, "name": name}
                                      for sealed, (name, _) in zip(held, documents)]}, held)


def _body(body: Any) -> str:
    if isinstance(body, Mapping):
        return str(body.get("text", f"[{body.get('bytes', 0)} bytes]"))
    return "" if body is None else str(body)
