"""Model requests as code sees them: llm_query, rlm_query and their batches.

    reply = llm_query("Which month is named?", context=doc[0:20_000])
    replies = llm_query_batched([["Summarise:\\n", chunk] for chunk in doc.chunks(50_000)])

A reply is a string with .ok, .finish, .cut, .error, .tokens and .model. A reply that was cut, filtered
or empty is not .ok; what came of it is its text. One request that fails raises LLMError; in a batch
only its slot fails, as a text that starts with "[ERROR] ".
"""

import json
from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any

import _dossier

from dossier_bridge import LLMError, Parts, blob, call, spans_of
from dossier_rows import no_argument

_loads = json.loads
_LONGEST_MODEL_NAME = 64


class Reply(str):
    """A model's reply. It may be awaited too, which gives itself."""

    ok = True
    error: str | None = None  # why it is not ok, in a sentence
    tokens = 0                # of the reply
    finish = "stop"           # stop, length, filter, cut (the connection was lost), failed
    cut = False               # the text ends before the reply did
    model = ""

    @classmethod
    def of(cls, text: str, tokens: int = 0, error: str | None = None, finish: str = "stop",
           cut: bool = False, model: str = "") -> "Reply":
        reply = cls(text)
        reply.tokens, reply.error, reply.ok = tokens, error, error is None
        reply.finish, reply.cut, reply.model = finish, cut, model
        return reply

    @property
    def text(self) -> str:
        return str(self)

    content = text

    def __await__(self) -> Generator[None, None, "Reply"]:
        return self
        yield

    def __reduce__(self) -> tuple[Any, ...]:
        return Reply.of, (str(self), self.tokens, self.error, self.finish, self.cut, self.model)


class Replies(list):
    """The replies of a batch, in order; may be awaited."""

    def __await__(self) -> Generator[None, None, "Replies"]:
        return self
        yield


class Caller:
    """Turns calls of code into bridge requests. Thread-safe."""

    def __init__(self, features: Mapping[str, Any], note: Callable[[str], None]) -> None:
        self._allowed = features.get("depth", 1) != 0
        self._refusal = str(features.get("no_calls") or
                            "sub-calls are off in this run (depth 0): answer with code alone")
        self._note = note
        self._finished: dict[str, tuple[Any, bytes]] = {}  # of batches that were interrupted

    def one(self, method: str, prompt: Any, model: Any, context: Any, schema: Any,
            options: Mapping[str, Any]) -> Any:
        model, context = self._settle(model, context)
        if _are_prompts(prompt):
            raise TypeError(f"{method}_query takes one prompt, and this is a list of "
                            f"{len(prompt)}: use {method}_query_batched(prompts)")
        parts = Parts()
        settings, media = _options(options)
        args = self._request(parts, prompt, context)
        args |= {"model": model, "schema": schema, **settings, **_media_wire(media)}
        value, raw = call(method, args, parts.raw())
        return _reply(value, raw, schema)

    def estimate(self, prompts: Any, model: Any, context: Any, options: Mapping[str, Any],
                 base: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What the prompts would take; nothing is sent."""
        model, context = self._settle(model, context)
        settings, media = _options(options)
        if isinstance(prompts, str) or spans_of(prompts) is not None:
            prompts, context = [prompts], [context]
        prompts = list(prompts)
        parts = Parts()
        requests = [self._request(parts, prompt, own, f"prompt {index}") | _media_wire(shown)
                    for index, (prompt, own, shown) in enumerate(zip(
                        prompts, _context_of_each(context, len(prompts)),
                        _media_of_each(media, len(prompts))))]
        return call("estimate", {"prompts": requests, "model": model, **settings, **(base or {})},
                    parts.raw())[0]

    def batch(self, method: str, prompts: Any, model: Any, context: Any, schema: Any,
              on_error: str, options: Mapping[str, Any], *, remember: bool = False) -> Replies:
        model, context = self._settle(model, context)
        settings, media = _options(options)
        if isinstance(prompts, str) or spans_of(prompts) is not None:
            raise TypeError("a batch takes a list of prompts; for one prompt use llm_query")
        prompts = list(prompts)
        contexts = _context_of_each(context, len(prompts))
        each = _media_of_each(media, len(prompts))
        parts, requests, slots = Parts(), [], []
        replies = Replies([Reply()] * len(prompts))
        for index, (prompt, own, shown) in enumerate(zip(prompts, contexts, each)):
            try:
                requests.append(self._request(parts, prompt, own, f"prompt {index}")
                                | _media_wire(shown))
                slots.append(index)
            except LLMError as error:
                replies[index] = _failed(error.kind, str(error))
        if requests:
            base = {"model": model, "schema": schema, **settings}
            if remember:   # the host keeps the replies for later runs, also above temperature 0
                base["remember"] = True
            for index, (result, raw) in zip(slots, self._ask(method, requests, base, parts.raw())):
                try:
                    replies[index] = (_reply(result, raw, schema) if result["ok"]
                                      else _failed(result.get("code", "failed"), result["error"]))
                except LLMError as error:   # of one whose value is not what was asked for
                    replies[index] = _failed(error.kind, str(error))
        if on_error == "raise":
            for index, reply in enumerate(replies):
                if getattr(reply, "ok", True) is False:
                    raise LLMError(f"prompt {index}: {reply.error}",
                                   getattr(reply, "kind", "failed"))
        return replies

    def _ask(self, method: str, requests: list[dict[str, Any]], base: dict[str, Any], raw: bytes
             ) -> list[tuple[Any, bytes]]:
        """The result of each request. What an interrupted batch had finished is not asked again
       ."""
        found: dict[int, tuple[Any, bytes]] = {}
        if self._finished:
            keys = [_identity(method, request, base, raw) for request in requests]
            found = {i: self._finished[key] for i, key in enumerate(keys) if key in self._finished}
        rest = [index for index in range(len(requests)) if index not in found]
        if rest:
            try:
                value, out = call(method, {"prompts": [requests[i] for i in rest], **base}, raw)
            except BaseException as error:
                if not isinstance(error, LLMError) or error.kind == "too_large":
                    self._keep(method, [requests[i] for i in rest], base, raw, len(found))
                raise
            found |= {index: (result, out) for index, result in zip(rest, value["results"])}
        self._finished.clear()
        return [found[index] for index in range(len(requests))]

    def _keep(self, method: str, requests: list[dict[str, Any]], base: dict[str, Any], raw: bytes,
              before: int) -> None:
        items = _dossier.take_items()
        for index, result, text in items:
            self._finished[_identity(method, requests[index], base, raw)] = result, text
        if items:
            self._note(f"The batch was stopped; {before + len(items):,} of its "
                       f"{before + len(requests):,} replies are kept: the same call again asks "
                       "only for the others.")

    def _settle(self, model: Any, context: Any) -> tuple[Any, Any]:
        """The second argument is a context where it cannot be a model's name."""
        if not self._allowed:
            raise LLMError(self._refusal, "denied")
        if model is not None and context is None and not _may_be_model(model):
            model, context = None, model
        return model, context

    def _request(self, parts: Parts, prompt: Any, context: Any, who: str = "the prompt"
                 ) -> dict[str, Any]:
        if prompt is None:
            raise TypeError(f"{who} is None: give the text that the model shall read")
        wire = parts.add(prompt)
        if parts.blank:
            raise ValueError(f"{who} is blank: nothing was sent")
        own = parts.add(context, "\n") if context is not None else None
        return {"parts": wire, "context": own}


def _are_prompts(value: Any) -> bool:
    """True for a list of whole texts. The parts of one prompt are joined as they are, so a part
    ends or begins with white space, or is a slice of the data."""
    return (isinstance(value, (list, tuple)) and len(value) > 1
            and all(type(part) is str and spans_of(part) is None for part in value)
            and not any(part[-1:].isspace() or part[:1].isspace() for part in value))


def _options(options: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """The settings of a request, and the images. What there is not is refused by name, never left
    out."""
    unknown = sorted(options.keys() - {"max_tokens", "temperature", "system", "media"})
    if unknown:
        raise no_argument("a model call", unknown[0], ("model", "context", "schema", "media",
                                                       "max_tokens", "temperature", "system"))
    settings = {name: value for name, value in options.items() if value is not None}
    return settings, settings.pop("media", None)


def _media_wire(media: Any) -> dict[str, Any]:
    """The names of the images of one prompt, as the host reads them."""
    if media is None:
        return {}
    names = [media] if isinstance(media, str) else media
    if not isinstance(names, (list, tuple)) or not all(isinstance(one, str) for one in names):
        raise TypeError('media= takes the name of an image, or a list of names')
    return {"media": list(names)} if names else {}


def _media_of_each(media: Any, count: int) -> list[Any]:
    """The same images for all prompts, or a list that holds a list of names for each."""
    if isinstance(media, (list, tuple)) and len(media) == count and not any(
            isinstance(one, str) for one in media):
        return list(media)
    return [media] * count


def _identity(method: str, request: Mapping[str, Any], base: Mapping[str, Any], raw: bytes
              ) -> str:
    """The same for two requests only if all that the model sees is the same."""
    def texts(wire: Any) -> list[Any]:
        return [raw[part["blob"][0]:sum(part["blob"])] if "blob" in part else tuple(part.values())
                for part in wire or []]

    seen = (method, base, texts(request["parts"]), texts(request["context"]),
            request.get("media"))
    return _dossier.sha256(repr(seen).encode("utf-8", "backslashreplace"))


def _may_be_model(value: Any) -> bool:
    return (isinstance(value, str) and spans_of(value) is None
            and len(value) <= _LONGEST_MODEL_NAME and not any(c.isspace() for c in value))


def _context_of_each(context: Any, count: int) -> list[Any]:
    """One context for all prompts, or a list with one for each."""
    if not isinstance(context, (list, tuple)) or spans_of(context) is not None:
        return [context] * count
    if len(context) != count:
        raise ValueError(f"context is a list of {len(context):,} for {count:,} prompts: give one for each "
                         "prompt, or one text for all")
    return list(context)


def _reply(value: Mapping[str, Any], raw: bytes, schema: Any) -> Any:
    text = blob(value["text"], raw) if "text" in value else ""
    if schema is None:
        return Reply.of(text, value.get("tokens", 0), value.get("problem"),
                        value.get("finish", "stop"), value.get("cut", False),
                        value.get("model", ""))
    if value.get("problem") and not value.get("is_value"):
        raise LLMError(value["problem"], value.get("finish", "failed"))
    try:
        return _loads(text)
    except ValueError as error:
        raise LLMError(f"the reply is not the JSON asked for: {error}", "schema") from None


def _failed(kind: str, message: str) -> Reply:
    reply = Reply.of(f"[ERROR] {message}", 0, message, "failed")
    reply.kind = kind  # type: ignore[attr-defined]
    return reply


def make_calls(caller: Caller) -> dict[str, Callable[..., Any]]:
    """The functions for the namespace of code."""

    def llm_query(prompt: Any, model: Any = None, *, context: Any = None, schema: Any = None,
                  max_tokens: int | None = None, temperature: float | None = None,
                  system: str | None = None, media: Any = None, **other: Any) -> Any:
        """Asks a model one prompt and returns its reply as a string."""
        options = dict(max_tokens=max_tokens, temperature=temperature, system=system,
                       media=media, **other)
        return caller.one("llm", prompt, model, context, schema, options)

    def llm_query_batched(prompts: Iterable[Any], model: Any = None, *, context: Any = None,
                          schema: Any = None, on_error: str = "keep",
                          max_tokens: int | None = None, temperature: float | None = None,
                          system: str | None = None, media: Any = None,
                          **other: Any) -> Replies:
        """Asks all prompts at the same time; replies come in their order."""
        options = dict(max_tokens=max_tokens, temperature=temperature, system=system,
                       media=media, **other)
        return caller.batch("llm_batch", prompts, model, context, schema, on_error, options)

    def rlm_query(prompt: Any, model: Any = None, *, context: Any = None, schema: Any = None,
                  max_tokens: int | None = None, temperature: float | None = None,
                  system: str | None = None, media: Any = None, **other: Any) -> Any:
        """Like llm_query, but the child may run code over its context, where depth allows."""
        options = dict(max_tokens=max_tokens, temperature=temperature, system=system,
                       media=media, **other)
        return caller.one("rlm", prompt, model, context, schema, options)

    def rlm_query_batched(prompts: Iterable[Any], model: Any = None, *, context: Any = None,
                          schema: Any = None, on_error: str = "keep",
                          max_tokens: int | None = None, temperature: float | None = None,
                          system: str | None = None, media: Any = None,
                          **other: Any) -> Replies:
        """rlm_query for many prompts at the same time."""
        options = dict(max_tokens=max_tokens, temperature=temperature, system=system,
                       media=media, **other)
        return caller.batch("rlm_batch", prompts, model, context, schema, on_error, options)

    return {function.__name__: function for function in
            (llm_query, llm_query_batched, rlm_query, rlm_query_batched)}


def make_estimate(caller: Caller) -> Callable[..., dict[str, Any]]:
    """`estimate`, a name that code may take for its own."""

    def estimate(prompts: Any, model: Any = None, *, context: Any = None,
                 max_tokens: int | None = None, temperature: float | None = None,
                 system: str | None = None, media: Any = None,
                 **other: Any) -> dict[str, Any]:
        """What llm_query_batched(prompts) would take: calls, cached (replies that are kept), tokens of
        the prompts, output_tokens and usd at the most. Nothing is sent."""
        options = dict(max_tokens=max_tokens, temperature=temperature, system=system,
                       media=media, **other)
        return caller.estimate(prompts, model, context, options)

    return estimate
