"""map_llm: one label for each item; models label, code counts.

    result = map_llm(records, labels=["praise", "complaint"], field="text",
                     instruction="What is the customer's message?")
    print(result)            # a table of counts
    result.labels[0], result.counts["praise"], result.failed, result.errors
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import _dossier

from dossier_bridge import LLMError, Parts, as_text, blob, call, spans_of
from dossier_calls import Caller
from dossier_extract import Extractor, ExtractResult, kinds_of
from dossier_records import Records
from dossier_rows import FieldError, Fields, Row, no_argument
from dossier_text import Source

_loads = json.loads


class _Counts(dict[str, int]):
    """How many items have which label; says which labels there are when asked for another."""

    def __missing__(self, label: object) -> int:
        raise FieldError(f"no item could get the label {label!r}: the call named only "
                         f"{', '.join(map(repr, self))}. Call map_llm again with the labels that "
                         "the question asks for")

    def get(self, label: object, default: Any = None) -> Any:
        return self[label]  # a default would be a count of something that nobody counted


class LabelResult(ExtractResult):
    """`labels` (None where it failed), `counts` of every label, `failed` (indexes), `errors`
    (index: why it failed), `total`."""

    _note: Callable[[str], None] = staticmethod(lambda text: None)  # told of counts with holes

    def __init__(self, names: Sequence[str], indexes: Sequence[int],
                 errors: Mapping[int, str]) -> None:
        self.labels = [names[i] if 0 <= i < len(names) else None for i in indexes]
        self._counts = _Counts((name, 0) for name in names)
        for label in self.labels:
            if label is not None:
                self._counts[label] += 1
        super().__init__(self.labels, dict(errors))

    @property
    def counts(self) -> dict[str, int]:
        """Whoever reads them hears of the items that they leave out."""
        if self.failed:
            self._note(self.holes())
        return self._counts

    def holes(self) -> str:
        return (f"map_llm: {self._failures()}; .counts covers "
                f"{self.total - len(self.failed):,}.")

    def _failures(self) -> str:
        return f"{len(self.failed):,} of {self.total:,} items failed ({kinds_of(self.errors)})"

    def __getitem__(self, key: int | slice | str) -> Any:
        return self.counts[key] if isinstance(key, str) else self.labels[key]

    def __repr__(self) -> str:
        # Shown in many places, such as the list of variables: it tells of holes without a note.
        width = max([len("total")] + [len(name) for name in self._counts])
        rows = [f"{name:<{width}}  {count:>8,}" for name, count in self._counts.items()]
        rows.append(f"{'total':<{width}}  {self.total:>8,}")
        if self.failed:
            shown = ", ".join(map(str, self.failed[:10])) + (", …" if self.failed[10:] else "")
            rows.append(f"without a label: {len(self.failed):,} (items {shown}): {kinds_of(self.errors)}")
        return "\n".join(rows)

    def require_any(self) -> None:
        if not self.failed or len(self.failed) < self.total:
            return
        message = f"map_llm: {self._failures()}, so there is nothing to count"
        told = next((reason for reason in self.errors.values() if ":" in reason), "")
        raise LLMError(f"{message}; {told}" if told else message, "failed")


def make_map(caller: Caller, extractor: Extractor, sources: Sequence[Source], records: Any) -> Any:
    """The function for the namespace; `records()` gives the rows or None."""
    kept = _Kept(caller)
    LabelResult._note = staticmethod(caller._note)  # on the class: results stay plain data

    def map_llm(items: Any = None, labels: Any = (), instruction: Any = "", *,
                field: str | None = None, batch: int | None = None, model: str | None = None,
                unknown: bool = False, dry: bool = False, remember: bool = False, schema: Any = None,
                **other: Any) -> Any:
        """Gives every item one of `labels`, or with schema= a value that fits it. Without items: all
        records, else all lines. With dry=True nothing is sent: a dict says what it would take, as that
        of `estimate`. With `remember` what an equal item got in any run, from the same model by the
        same instruction and labels or schema, stands: it is not asked again."""
        for name in other:
            raise no_argument("map_llm", name, ("items", "labels", "instruction", "field", "batch",
                                                "model", "unknown", "dry", "remember", "schema"))
        if schema is not None:
            return _extract(items, labels, instruction, field, schema, model, dry=dry, remember=remember)
        labels, instruction = _in_order(labels, instruction)
        names, instruction = _names(labels, instruction)
        caller._settle(None, None)
        base = {"labels": names, "instruction": instruction, "batch": batch, "model": model,
                "unknown": unknown}
        if remember:
            base["remember"] = True
        indexes: list[int] = []
        errors: dict[int, str] = {}
        if items is None:
            items = records()
        if field is not None:
            items = _with_field(items, field)
        if dry:
            return _sum([call("map", {"items": wire, **base, "dry": True}, raw)[0]
                         for wire, raw in _batches(items, field, sources)])
        for wire, raw in _batches(items, field, sources):
            value = kept.ask(wire, base, raw)
            errors |= {index + len(indexes): reason for index, reason in value["failed"]}
            indexes += value["labels"]
        if unknown and "unknown" not in names:
            names = [*names, "unknown"]
        result = LabelResult(names, indexes, errors)
        if kept.forget_if_whole():
            result.require_any()
        if result.failed:
            caller._note(result.holes())
        return result

    def _extract(items: Any, labels: Any, instruction: Any, field: str | None, schema: Any,
                 model: str | None, *, dry: bool, remember: bool) -> Any:
        if isinstance(labels, str) and not instruction:   # the second argument is a sentence here
            labels, instruction = (), labels
        if labels:
            raise TypeError("map_llm: labels= and schema= exclude each other")
        if items is None:
            items = records()
        if items is None:
            items = [line for source in sources for line in source.whole().splitlines() if line.strip()]
        if isinstance(items, str):
            items = [line for line in items.splitlines() if line.strip()]
        if field is not None:
            items = _with_field(items, field)
        return extractor.extract([_item(item, field) for item in items], str(instruction), schema, model,
                                 dry=dry, remember=remember)

    return map_llm


def _sum(estimates: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    whole: dict[str, Any] = {"calls": 0, "cached": 0, "tokens": 0, "output_tokens": 0, "usd": 0}
    for one in estimates:
        for name in whole:
            unknown = whole[name] is None or one[name] is None   # a price that nobody knows
            whole[name] = None if unknown else whole[name] + one[name]
    return whole


class _Kept:
    """What a call that was stopped had found: the same call again asks only the rest."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._labels: dict[str, dict[int, int]] = {}
        self._stopped = False  # by a limit, in the call that is being made

    def forget_if_whole(self) -> bool:
        """False if a limit stopped the call."""
        whole = not self._stopped
        if whole:
            self._labels.clear()
        self._stopped = False
        return whole

    def ask(self, wire: Any, base: dict[str, Any], raw: bytes) -> dict[str, Any]:
        key = _dossier.sha256(repr((wire, base)).encode("utf-8", "backslashreplace") + raw)
        known = self._labels.get(key, {})
        args = {"items": wire, **base}
        if known:
            args["known"] = [list(pair) for pair in known.items()]
        try:
            value, out = call("map", args, raw)
        except LLMError:
            raise
        except BaseException:
            found = dict(known)
            for _, item, _ in _dossier.take_items():
                found |= zip(item["at"], item["labels"])
            self._labels[key] = found
            self._say(base["labels"], "it was interrupted")
            raise
        value["failed"] = _loads(blob(value["failed"], out))
        self._labels[key] = {i: label for i, label in enumerate(value["labels"]) if label >= 0}
        if value.get("stopped"):
            self._stopped = True
            self._say(base["labels"], value["stopped"])
        return value

    def _say(self, names: Sequence[str], why: str) -> None:
        counts = Counter(label for found in self._labels.values() for label in found.values())
        if not counts:
            return
        shown = ", ".join(f"{name} {counts[i]:,}" for i, name in enumerate(names) if counts[i])
        self._caller._note(f"map_llm was stopped: {why}. Labels found so far: {shown}. They are "
                           "kept: the same call again asks only for the others.")


def _in_order(labels: Any, instruction: Any) -> tuple[Any, str]:
    """Models swap the two: a sentence where the labels belong, the labels behind it."""
    if isinstance(labels, str) and not isinstance(instruction, str):
        return instruction, labels
    return labels, str(instruction)


def _names(labels: Any, instruction: str) -> tuple[list[str], str]:
    if isinstance(labels, Mapping):
        meanings = "\n".join(f"{name}: {meaning}" for name, meaning in labels.items())
        instruction = f"{instruction}\n{meanings}".strip()
    if isinstance(labels, str):
        labels = [part.strip() for part in labels.split(",")]
    names = list(dict.fromkeys(str(label) for label in labels))
    if not names:
        raise ValueError("map_llm needs labels, e.g. labels=['yes', 'no']; for free text replies "
                         "use llm_query_batched")
    return names, instruction


def _batches(items: Any, field: str | None, sources: Sequence[Source]
             ) -> Iterator[tuple[Any, bytes]]:
    """The items in wire form; whole documents and record ranges stay on the host."""
    if items is None:
        for source in sources:
            yield {"lines": {"ctx": source.index}}, b""
        return
    whole = isinstance(items, Records) and "." not in (field or "")  # a path is followed here
    ranges = items._dossier_ranges() if whole else None
    if ranges is not None:
        for source, first, end in ranges:
            yield {"records": {"ctx": source.index, "from": first, "to": end, "field": field}}, b""
        return
    if isinstance(items, str):
        items = [line for line in items.splitlines() if line.strip()]
    parts = Parts()
    texts = (_item(item, field) for item in items)
    wire = [None if text is None else parts.add(text) for text in texts]  # None: a missing value
    if wire:
        yield wire, parts.raw()


def _item(item: Any, field: str | None) -> Any:
    if field is not None and isinstance(item, Mapping):
        item = item.get(field)
    if item is None or isinstance(item, (list, tuple)) or spans_of(item):
        return item
    return as_text(item)


def _with_field(items: Any, field: str) -> Any:
    """The items, if any of them has the field: a name that nobody has is a slip, not a gap."""
    if items is None:
        raise FieldError(f"{field!r}: no such field; the data has no records. Without field= each "
                         "line is labelled")
    if isinstance(items, Records) and Row._fields.knows(field):
        return items
    if not isinstance(items, (Records, str)):
        items = list(items)
    rows = [item for item in items if isinstance(item, Mapping)]
    if rows and not any(field in row for row in rows):
        known = Row._fields if isinstance(rows[0], Row) else Fields(
            dict.fromkeys(str(name) for row in rows for name in row))
        raise known.error(field)
    return items
