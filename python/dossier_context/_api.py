"""Questions, contexts, streams and sessions: what `import dossier_context` offers."""

from __future__ import annotations

import asyncio
import base64
import difflib
import inspect
import json
import math
import os
import queue
import threading
from typing import Any, AsyncIterator, Callable, Iterable, Iterator, Mapping, Union

from . import _process
from ._answers import (Answer, Estimate, Event, Field, Finished, Hit, Output, Passage, Table, Text, answer_of,
                       output_of, range_of)
from ._errors import DossierError, SchemaError, UsageError, ValueUnavailable
from ._schema import schema_of, value_of
from ._tools import Tools, offer
from ._values import SealedText, checked, encode, is_large, utf8

Source = Union[str, "os.PathLike[str]", "Context"]
Image = Union[str, "os.PathLike[str]", bytes]  # a path, an http or https address, or the image itself


class Context:
    """Files, folders, text or records, loaded once. The id names the content and outlives this process."""

    def __init__(self, about: Mapping[str, Any], hint: str, held: tuple[SealedText, ...] = ()) -> None:
        self.id: str = about["context"]
        self.hint: str = hint  # what it is, for a prompt
        self._about = about
        self._held = held  # text in memory, which the child maps for as long as this lives
        self._described: Any = None

    @classmethod
    def open(cls, *paths: str | os.PathLike[str], name: str | None = None) -> Context:
        """Files and folders; of a folder the files that git does not ignore."""
        if not paths:
            raise UsageError("Context.open: give at least one path", code="usage")
        return cls._opened({"paths": [os.path.abspath(os.fspath(path)) for path in paths],
                            **({"name": name} if name else {})})

    @classmethod
    def from_text(cls, text: str, name: str = "text.txt") -> Context:
        """A text; of more than 1 MB through sealed memory, which is mapped and not copied."""
        if not is_large(utf8(text, "text")):
            return cls._opened({"text": text, "name": name})
        sealed = SealedText(encode(text))
        return cls._opened({"files": [{"path": sealed.path, "name": name}], "name": name}, (sealed,))

    @classmethod
    def from_records(cls, records: Iterable[Mapping[str, Any]], name: str = "records.ndjson") -> Context:
        """Records, as JSON lines."""
        return cls.from_text("".join(json.dumps(checked(one, f"records[{at}]", math.inf), ensure_ascii=False) + "\n"
                                     for at, one in enumerate(records)), name)

    @classmethod
    def _opened(cls, params: Mapping[str, Any], held: tuple[SealedText, ...] = ()) -> Context:
        found = _process.child().call("open", params)
        return cls(found, found.get("content", ""), held)

    def __repr__(self) -> str:
        return f"<Context {self.id}: {self._about.get('format', '')}, {self.bytes:,} bytes>"

    @property
    def bytes(self) -> int:
        return int(self._about.get("bytes", 0))

    @property
    def characters(self) -> int:
        return int(self._about.get("characters", 0))

    @property
    def documents(self) -> Any:
        return self._about.get("documents")

    @property
    def format(self) -> str:
        return str(self._about.get("format", ""))

    @property
    def fields(self) -> tuple[Field, ...]:
        """Of its records, if it has some; of several documents, of the first that has."""
        about = self._with_records()
        return tuple(Field(one["shown"], tuple(one["types"]), one) for one in about.get("fields") or ())

    @property
    def records(self) -> int | None:
        """How many there are in that document; None: it has none."""
        found = self._with_records().get("records")
        return found.get("count") if found else None

    @property
    def tables(self) -> tuple[Table, ...]:
        """What `sql` finds: a table for each document with records, and those of SQLite files, by their names there."""
        return tuple(Table(one["names"][0], one) for one in self._description()["tables"])

    def search(self, query: str, *, regex: bool = False, k: int = 10) -> list[Hit]:
        """Ranked hits, or with `regex` the matches of an RE2 pattern; `read(hit.at)` reads on."""
        found = self._call("search", query=query, regex=regex, k=k)
        return [Hit(one["at"], float(one.get("score", 0)), int(one.get("start", 0)), int(one.get("end", 0))) for one in found.get("hits", ())]

    def read(self, at: str, *, max_chars: int = 20_000) -> Passage:
        """The text at a place: "a.txt:12-30", "b.csv#record=17-20", "a.txt@0-5000"."""
        found = self._call("read", at=at, max_chars=max_chars)
        passage = Passage(found["content"])
        passage.at, passage.start, passage.end = found.get("at", at), found.get("start", 0), found.get("end", 0)
        passage.cut, passage.next = bool(found.get("cut")), found.get("next")
        return passage

    def ask(self, question: str, **options: Any) -> Answer:
        return ask(question, self, **options)

    async def aask(self, question: str, **options: Any) -> Answer:
        return await aask(question, self, **options)

    def stream(self, question: str, **options: Any) -> Stream:
        return stream(question, self, **options)

    def estimate(self, question: str, *, model: str | None = None, mode: str = "auto",
                 model_options: Mapping[str, Any] | None = None) -> Estimate:
        """What the question would take, with `model` or the one that is configured; nothing is sent to a model."""
        found = self._call("estimate", question=question, mode=mode, **({"model": model} if model else {}),
                           **({"model_options": dict(model_options)} if model_options else {}))
        usd = found.get("usd")
        return Estimate(found.get("mode", ""), found.get("model", ""), range_of(found.get("calls")),
                        range_of(found.get("tokens")), None if usd is None else range_of(usd), found)

    def _description(self) -> Any:
        if self._described is None:
            self._described = self._call("describe")
        return self._described

    def _with_records(self) -> Mapping[str, Any]:
        return next((one for one in self._description()["files"] if (one.get("records") or {}).get("count")), {})

    def _call(self, method: str, **params: Any) -> Any:
        return _process.child().call(method, {"context": self.id, **params})


class _Asked:
    """A question on its way: its parameters, its functions, and how its answer is read."""

    def __init__(self, question: str, sources: tuple[Source, ...], loop: Any = None, *, schema: Any = None,
                 tools: Tools | None = None, media: Mapping[str, Image] | None = None, model: str | None = None,
                 sub_model: str | None = None,
                 mode: str = "auto", max_usd: float | None = None, max_calls: int | None = None,
                 max_tokens: int | None = None, max_seconds: float | None = None, max_turns: int | None = None,
                 seed: int | None = None, temperature: float | None = None, repairs: int | None = None,
                 layouts_dir: str | os.PathLike[str] | None = None,
                 model_options: Mapping[str, Any] | None = None) -> None:
        self.schema = schema
        self.context = _context_of(sources)
        given = {
            "context": self.context.id if self.context else None, "mode": mode, "model": model,
            "sub_model": sub_model, "max_usd": max_usd, "max_calls": max_calls, "max_tokens": max_tokens,
            "max_time_s": max_seconds, "max_turns": max_turns, "seed": seed, "temperature": temperature,
            "repairs": repairs, "layouts_dir": None if layouts_dir is None else os.fspath(layouts_dir),
            "schema": None if schema is None else schema_of(schema),
            "media": _media_of(media) if media else None,
            "model_options": dict(model_options) if model_options else None}
        self.params: dict[str, Any] = {"question": question,
                                       **{name: value for name, value in given.items() if value is not None}}
        offers, self.functions = offer(tools, loop)
        if offers:
            self.params["tools"] = offers

    def begin(self, child: _process.Child, on_event: Callable[[Mapping[str, Any]], None] | None = None
              ) -> _process.Request:
        params = {**self.params, "events": True} if on_event else self.params
        return child.begin("ask", params, self.functions, on_event)

    def answer(self, sent: Mapping[str, Any]) -> Answer:
        value = sent.get("value")
        if self.schema is None:
            return answer_of(sent, value)
        if value is None:
            try:
                value = json.loads(sent.get("answer") or "null")
            except ValueError:
                value = sent.get("answer")
        try:
            return answer_of(sent, value_of(value, self.schema))
        except SchemaError as error:
            error.partial = answer_of(sent, value)
            raise

    def error(self, error: BaseException) -> BaseException:
        """With the answer in hand as an Answer."""
        if isinstance(error, DossierError) and isinstance(error.partial, Mapping):
            sent = error.partial
            error.partial = answer_of(sent, sent.get("value")) if sent.get("run") else None
        return error


def _context_of(sources: tuple[Source, ...]) -> Context | None:
    contexts = [one for one in sources if isinstance(one, Context)]
    if contexts and len(sources) > 1:
        raise UsageError("a question is about one Context, or about paths: Context.open takes several", code="usage")
    if contexts:
        return contexts[0]
    return Context.open(*sources) if sources else None  # type: ignore[arg-type]


def _media_of(media: Mapping[str, Image]) -> list[dict[str, str]]:
    """Images by the names that code calls them. The child reads a path and fetches an address."""
    if not isinstance(media, Mapping):
        raise UsageError('media: give names and images, such as {"plan": "floor.png"}', code="usage")
    sent = []
    for name, image in media.items():
        if isinstance(image, (bytes, bytearray, memoryview)):
            sent.append({"name": utf8(name, "media"), "data": base64.b64encode(image).decode("ascii")})
        elif isinstance(image, (str, os.PathLike)):
            place = utf8(os.fsdecode(image), f"media[{name!r}]")
            web = place.startswith(("http://", "https://"))
            sent.append({"name": utf8(name, "media"), "place": place if web else os.path.abspath(place)})
        else:
            raise UsageError(f"media[{name!r}] is a {type(image).__name__}; give a path, an address or the bytes of an "
                             "image", code="usage")
    return sent


_OPTIONS = [name for name, one in inspect.signature(_Asked).parameters.items() if one.kind is one.KEYWORD_ONLY]


def _check_options(call: str, options: Mapping[str, Any]) -> None:
    for name in options:
        if name not in _OPTIONS:
            near = difflib.get_close_matches(name, _OPTIONS, 1) or _OPTIONS
            raise TypeError(f"{call}() has no option {name!r}; near: {', '.join(near)}")


def ask(question: str, *sources: Source, **options: Any) -> Answer:
    """One question over files, folders or a Context; without any, over nothing.

    Options: schema, tools, media, model, sub_model, mode, max_usd, max_calls, max_tokens, max_seconds, max_turns, seed,
    temperature, repairs, layouts_dir, model_options (docs/guide/python.md).
    Raises DossierError; what is in hand then is in its `partial`.
    """
    _check_options("ask", options)
    asked = _Asked(question, sources, **options)
    request = asked.begin(_process.child())
    try:
        return asked.answer(request.result())
    except DossierError as error:
        raise asked.error(error) from None


async def aask(question: str, *sources: Source, **options: Any) -> Answer:
    """`ask`, awaited. A cancelled task cancels this question and nothing else."""
    _check_options("aask", options)
    loop = asyncio.get_running_loop()
    asked = await loop.run_in_executor(None, lambda: _Asked(question, sources, loop, **options))
    child = await loop.run_in_executor(None, _process.child)
    request = asked.begin(child)
    try:
        return asked.answer(await asyncio.wrap_future(request.future))
    except DossierError as error:
        raise asked.error(error) from None
    except BaseException:
        request.cancel()
        raise


def stream(question: str, *sources: Source, **options: Any) -> Stream:
    """What happens while a question is worked on: Event, Text, and at the end Finished(answer).

        for event in dossier.stream("Which …?", "a.log"): ...
        async for event in dossier.stream("Which …?", "a.log"): ...

    Leaving the loop, or closing the stream, cancels the question.
    """
    _check_options("stream", options)
    return Stream(question, sources, options)


class Stream(Iterator[Any], AsyncIterator[Any]):
    """Made by `stream`; one of both kinds of loop, once."""

    def __init__(self, question: str, sources: tuple[Source, ...], options: Mapping[str, Any]) -> None:
        self._question, self._sources, self._options = question, sources, options
        self._asked: _Asked | None = None
        self._request: _process.Request | None = None
        self._events: Any = None
        self._put: Callable[[Any], None] = lambda item: None
        self._over = False
        self._closing = threading.Lock()  # a stream that was closed begins nothing
        self._child: _process.Child | None = None  # None: the one that all share

    def _start(self, loop: Any, put: Callable[[Any], None]) -> None:
        self._asked = _Asked(self._question, self._sources, loop, **self._options)
        child = self._child or _process.child()
        with self._closing:
            if self._over:
                return
            self._request = self._asked.begin(child, put)
        self._request.future.add_done_callback(lambda future: put(None))

    def _item(self, sent: Mapping[str, Any] | None) -> Any:
        assert self._request is not None and self._asked is not None
        if sent is not None:
            if sent["type"] == "text":
                return Text(sent["text"])
            return Event(sent["type"], sent.get("seq", 0), sent.get("time", ""), sent.get("data") or {})
        self._over = True
        try:
            return Finished(self._asked.answer(self._request.future.result()))
        except DossierError as error:
            raise self._asked.error(error) from None

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> Any:
        if self._over:
            raise StopIteration
        if self._request is None:
            self._events = queue.SimpleQueue()
            self._start(None, self._events.put)
        try:
            return self._item(self._events.get())
        except BaseException:
            self.close()
            raise

    def __aiter__(self) -> Stream:
        return self

    async def __anext__(self) -> Any:
        if self._over:
            raise StopAsyncIteration
        if self._request is None:
            loop = asyncio.get_running_loop()
            events = self._events = asyncio.Queue()

            def put(item: Any) -> None:
                try:
                    loop.call_soon_threadsafe(events.put_nowait, item)
                except RuntimeError:  # the loop is closed: nobody waits
                    self.close()

            try:
                await loop.run_in_executor(None, self._start, loop, put)
            except BaseException:  # the thread may still be opening the context
                self.close()
                raise
            if self._request is None:
                raise StopAsyncIteration
        try:
            return self._item(await self._events.get())
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Cancels what is not finished."""
        with self._closing:
            self._over = True
        if self._request is not None:
            self._request.cancel()

    async def aclose(self) -> None:
        self.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if not self._over and self._request is not None:
            self._request.child.tell_later("cancel", {"id": self._request.number})


class Session:
    """A walled Python interpreter whose names persist, over a context or none.

        with dossier.Session(ctx, tools={"price": price}) as s:
            out = s.run("print(price('A1'))")

    No network, no files, no models; `records`, `doc` and `context` are the context's. `limits`: cpu_s,
    silence_s, memory and output (bytes). One block at a time.
    """

    def __init__(self, context: Source | None = None, *, tools: Tools | None = None,
                 limits: Mapping[str, Any] | None = None, seed: int = 0) -> None:
        offers, self._functions = offer(tools)
        self._context = _context_of((context,)) if context is not None else None
        self._child = _process.child()
        params: dict[str, Any] = {"seed": seed}
        if self._context is not None:
            params["context"] = self._context.id
        if offers:
            params["tools"] = offers
        if limits:
            params["limits"] = dict(limits)
        opened = self._child.call("session.open", params)
        self.id: str = opened["session"]
        self.sandbox: Mapping[str, Any] = opened["sandbox"]  # the walls that hold

    def run(self, code: str) -> Output:
        """Runs a block. What it raises is in `output.error`; nothing is raised here for it."""
        return output_of(self._child.call("session.run", {"session": self.id, "code": code}, self._functions))

    def get(self, name: str) -> Any:
        """The value of a name, tuples as lists. Raises NotFoundError, and ValueUnavailable for what JSON cannot
        hold exactly, with its repr in `partial`."""
        found = self._child.call("session.get", {"session": self.id, "name": name})
        if not found["is_json"]:
            raise ValueUnavailable(f"{name} is of type {found['type']}, and JSON cannot hold this value exactly; "
                                   f"make text, numbers, lists and dicts with text keys of it in code",
                                   code="value_unavailable", partial=found["value"])
        return found["value"]

    def close(self) -> None:
        if self.id and self._child.alive:
            name, self.id = self.id, ""
            self._child.call("session.close", {"session": name})

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "id", ""):
            self._child.tell_later("session.close", {"session": self.id})
