"""What calls give: frozen values, all of them plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping


@dataclass(frozen=True)
class Citation:
    """A quotation of the answer, and where it stands."""
    quote: str | None
    at: str | None     # as the answer names the place
    status: str        # verified, elsewhere, not_found, out_of_range, in_range
    found: str | None  # where it really stands


@dataclass(frozen=True)
class Usage:
    """What a run took, over all its requests to models."""
    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    estimated: bool = False  # the provider did not count


@dataclass(frozen=True)
class Answer:
    """An answer, and what it stands on."""
    text: str
    value: Any           # with a schema: of its type; else data that code handed in, or None
    status: str          # final, extracted, partial, none, interrupted, failed
    citations: tuple[Citation, ...]
    usage: Usage
    cost_usd: float | None  # None: a price is unknown
    run: str             # `dossier runs show RUN`
    mode: str = ""       # direct or recursive
    turns: int = 0
    seconds: float = 0.0
    doubts: tuple[str, ...] = ()    # what speaks against it, a sentence each
    warnings: tuple[str, ...] = ()
    json: Mapping[str, Any] = field(default_factory=dict, repr=False)  # as `dossier ask --json`

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Event:
    """A step of a run, as its journal has it."""
    type: str  # "turn.started"
    seq: int
    time: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Text:
    """A part of the model's reply, as it arrives."""
    text: str


@dataclass(frozen=True)
class Finished:
    """The last of a stream."""
    answer: Answer


@dataclass(frozen=True)
class Field:
    """A field of records."""
    name: str
    types: tuple[str, ...]
    json: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Table:
    """A table of `sql`, by its first name there; `json` has all names, document, rows and columns."""
    name: str
    json: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Hit:
    """A place that a search found; `Context.read(hit.at)` reads it."""
    at: str
    score: float
    start: int  # characters of its document
    end: int


class Passage(str):
    """Text of a place, with where it stands and where it goes on."""
    at: str = ""
    start: int = 0
    end: int = 0
    cut: bool = False
    next: str | None = None


@dataclass(frozen=True)
class Range:
    """The least and the most."""
    min: float | None
    max: float | None


@dataclass(frozen=True)
class Estimate:
    """What a question would take; nothing was sent for it."""
    mode: str
    model: str
    calls: Range
    tokens: Range
    usd: Range | None
    json: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class CodeFault:
    """What code raised."""
    type: str
    message: str
    line: int = 0
    source: str = ""
    traceback: str = ""

    def __str__(self) -> str:
        return f"{self.type}: {self.message}"


class Output(str):
    """What a block printed, then what its last expression showed."""
    status: str = "ok"  # ok, error, interrupted, limit, final, died, not_run
    error: CodeFault | None = None
    value: Any = None   # what the block handed in by SUBMIT or FINAL
    notes: tuple[str, ...] = ()
    variables: tuple[Mapping[str, Any], ...] = ()
    json: Mapping[str, Any] = {}


def answer_of(sent: Mapping[str, Any], value: Any) -> Answer:
    tokens, calls = sent.get("tokens") or {}, sent.get("calls") or {}
    return Answer(
        text=sent.get("answer") or "", value=value, status=sent.get("status", ""),
        citations=tuple(Citation(one.get("quote"), one.get("ref"), one.get("status", ""), one.get("found"))
                        for one in sent.get("citations") or ()),
        usage=Usage(int(calls.get("sent", 0)), int(tokens.get("input", 0)), int(tokens.get("output", 0)),
                    int(tokens.get("cached", 0)), bool(tokens.get("estimated", False))),
        cost_usd=sent.get("cost_usd"), run=sent.get("run", ""), mode=sent.get("mode", ""),
        turns=int(sent.get("turns", 0)), seconds=float(sent.get("seconds", 0)),
        doubts=tuple((sent.get("evidence") or {}).get("doubts") or ()),
        warnings=tuple(str(one.get("code", one)) for one in sent.get("warnings") or ()), json=sent)


def range_of(sent: Any) -> Range:
    if isinstance(sent, Mapping):
        return Range(sent.get("min"), sent.get("max"))
    return Range(sent, sent)


def output_of(sent: Mapping[str, Any]) -> Output:
    output = Output(sent.get("out", "") + sent.get("last", ""))
    output.status = sent.get("status", "ok")
    if sent.get("error"):
        output.error = CodeFault(**sent["error"])
    elif sent.get("refused") or sent.get("stopped"):
        output.error = CodeFault(output.status, sent.get("refused") or sent["stopped"])
    handed = sent.get("answer")
    if handed:
        output.value = handed["value"] if handed["is_json"] else handed["text"]
    output.notes = tuple(sent.get("notes") or ())
    output.variables = tuple(sent.get("variables") or ())
    output.json = sent
    return output
