"""map_llm(schema=): one value for each item, read out by a model; reduce_llm: many texts merged into one.

    found = map_llm(letters, instruction="What is asked for, until when?",
                    schema={"type": "object", "properties": {"what": {"type": "string"}}})
    for letter, value in zip(letters, found):       # None where it failed
        ...
    print(reduce_llm([v["what"] for v in found if v], "Merge these into one list without repeats."))

Both keep what was answered where they are stopped: the same call again asks only for the rest.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from dossier_bridge import LLMError, as_text, spans_of
from dossier_calls import Caller, Reply

_GROUP = 20          # texts merged by one request, at most
_CHARACTERS = 40_000  # of them together


def kinds_of(errors: Mapping[int, str]) -> str:
    """How many failed for which reason."""
    kinds = Counter(reason.partition(":")[0] for reason in errors.values())
    return ", ".join(f"{kind} {count:,}" for kind, count in kinds.most_common())


class ExtractResult:
    """`values` (None where it failed), in the order of the items; `failed` (indexes), `errors` (index:
    why), `total`."""

    def __init__(self, values: list[Any], errors: dict[int, str]) -> None:
        self.values, self.errors = values, errors
        self.failed, self.total = list(errors), len(values)

    def holes(self) -> str:
        return f"map_llm: {len(self.failed):,} of {self.total:,} items failed ({kinds_of(self.errors)})."

    def __len__(self) -> int:
        return self.total

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __getitem__(self, key: int | slice) -> Any:
        return self.values[key]

    def __repr__(self) -> str:
        lines = [f"{index}: {value!r}" for index, value in enumerate(self.values[:20])]
        if self.total > 20:
            lines.append(f"… and {self.total - 20:,} more")
        if self.failed:
            lines.append(self.holes())
        return "\n".join(lines)


class Extractor:
    """The requests of both. Equal ones are asked once; what was answered stays until all is."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._known: dict[Any, Any] = {}

    def extract(self, items: Sequence[Any], instruction: str, schema: Any, model: Any, *, dry: bool,
                remember: bool) -> Any:
        instruction = instruction.strip() or "Read the values that the schema asks for out of the text."
        wanted = {_key(item, instruction, schema): item for item in items if not _blank(item)}
        rest = [key for key in wanted if key not in self._known]
        texts = [_part(wanted[key]) for key in rest]
        if dry:
            return self._caller.estimate([instruction] * len(rest), model, texts, {},
                                         {"schema": schema, "remember": remember})
        errors = self._ask(rest, [instruction] * len(rest), texts, schema, model, remember=remember)
        found = [None if _blank(item) else self._known.get(_key(item, instruction, schema))
                 for item in items]
        why = {i: "empty" if _blank(item) else errors[_key(item, instruction, schema)]
               for i, item in enumerate(items)
               if _blank(item) or _key(item, instruction, schema) in errors}
        if not errors:
            self._known.clear()
        result = ExtractResult(found, why)
        if result.failed:
            self._caller._note(result.holes())
        if result.failed and len(result.failed) == result.total:
            raise LLMError(f"{result.holes()} {next(iter(why.values()))}", "failed")
        return result

    def reduce(self, items: Sequence[Any], instruction: str, schema: Any, model: Any) -> Any:
        if not instruction.strip():
            raise ValueError("reduce_llm needs an instruction, e.g. 'Merge these notes into one list.'")
        texts = [as_text(item) for item in items if not _blank(item)]
        if not texts:
            raise ValueError("reduce_llm: there is no text to merge")
        while True:
            groups = _groups(texts)
            last = len(groups) == 1
            keys = [("reduce", instruction, tuple(group), repr(schema) if last else None)
                    for group in groups]
            rest = [index for index, key in enumerate(keys) if key not in self._known]
            errors = self._ask([keys[i] for i in rest], [instruction] * len(rest),
                               [_numbered(groups[i]) for i in rest], schema if last else None, model)
            if errors:
                done = len(groups) - len(errors)
                raise LLMError(f"reduce_llm: {len(errors):,} of {len(groups):,} groups failed "
                               f"({next(iter(errors.values()))}); {done:,} are kept: the same call again "
                               "asks only for the others", "failed", True)
            merged = [self._known[key] for key in keys]
            if last:
                self._known.clear()
                return merged[0]
            if len(groups) == len(texts):
                raise LLMError("reduce_llm: the texts do not get fewer; ask for a shorter result", "too_large")
            texts = [as_text(text) for text in merged]

    def _ask(self, keys: Sequence[Any], prompts: Sequence[str], texts: Sequence[Any], schema: Any,
             model: Any, *, remember: bool = False) -> dict[Any, str]:
        """Notes the answers; the errors by key."""
        if not keys:
            return {}
        errors = {}
        replies = self._caller.batch("llm_batch", prompts, model, list(texts) if len(texts) > 1 else texts[0],
                                     schema, "keep", {}, remember=remember)
        for key, reply in zip(keys, replies):
            if isinstance(reply, Reply) and not reply.ok:
                errors[key] = f"{getattr(reply, 'kind', reply.finish)}: {reply.error}"
            else:
                self._known[key] = reply
        return errors


def _blank(item: Any) -> bool:
    return item is None or (isinstance(item, str) and spans_of(item) is None and not item.strip())


def _key(item: Any, instruction: str, schema: Any) -> Any:
    spans = spans_of(item)
    return (tuple(spans) if spans is not None else as_text(item)), instruction, repr(schema)


def _part(item: Any) -> Any:
    return item if spans_of(item) is not None else as_text(item)


def _numbered(texts: Sequence[str]) -> str:
    return "\n\n".join(f"[{number}]\n{text}" for number, text in enumerate(texts, 1))


def _groups(texts: Sequence[str]) -> list[list[str]]:
    groups: list[list[str]] = []
    size = 0
    for text in texts:
        if not groups or len(groups[-1]) == _GROUP or size + len(text) > _CHARACTERS:
            groups.append([])
            size = 0
        groups[-1].append(text)
        size += len(text)
    return groups


def make_reduce(extractor: Extractor) -> Callable[..., Any]:
    """`reduce_llm`, a name that code may take for its own."""

    def reduce_llm(items: Sequence[Any], instruction: str = "", *, schema: Mapping[str, Any] | None = None,
                   model: str | None = None) -> Any:
        """Merges texts into one, in groups where they are many; with schema= the result is its value."""
        return extractor.reduce(items, instruction, schema, model)

    return reduce_llm
