"""`records`: the rows of every record format, read when they are used.

    biggest = max(records, key=lambda r: r["size"])
    names = [r["user.name"] for r in records[:10]]

A row is a dict. A field that only other rows have is None; a field that no row has is a KeyError
that names the nearest ones. Rows are cached up to about 32 MiB, so changes made to rows of a larger
context are lost: keep changed rows in a list of your own.
"""

import difflib
import json
import threading
from bisect import bisect_right, insort
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dossier_bridge import Span, ask
from dossier_text import Piece, Source

_BATCH_BYTES = 1 << 20
_BATCH_ROWS = 1 << 16
_SHOWN_ROWS = 20         # a slice that is printed shows its rows up to here
_NEAR_ROWS = 64          # fetched around a row that is asked for by index
_CACHE_BYTES = 32 << 20
_PARSED_FACTOR = 6       # Python objects for one byte of JSON, measured over logs and CSV

_loads = json.loads


class FieldError(KeyError):
    """A field that no row has; the message is a sentence, not a quoted key."""

    def __str__(self) -> str:
        return str(self.args[0])


FieldError.__name__ = FieldError.__qualname__ = "KeyError"  # what a model knows
FieldError.__module__ = "builtins"


class Fields:
    """The fields of all rows, by the path shown in the hint."""

    def __init__(self, shown: Iterable[str] = ()) -> None:
        self.shown = list(dict.fromkeys(shown))
        self._known: set[str] = set()
        for path in self.shown:
            steps = path.replace("[]", "").split(".")
            self._known.update(steps)
            self._known.update(".".join(steps[:n]) for n in range(1, len(steps) + 1))
            self._known.add(path)

    def knows(self, name: str) -> bool:
        return name in self._known

    def learn(self, names: Iterable[str]) -> None:
        self.shown += [name for name in names if name not in self._known]
        self._known.update(self.shown)

    def error(self, name: Any) -> FieldError:
        if isinstance(name, int):
            return FieldError(f"{name}: a row is a dict, use r['name']; fields: {self.listing()}")
        near = nearest(str(name), self.shown)
        guess = f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else ";"
        return FieldError(f"{name!r}: no such field{guess} fields: {self.listing()}")

    def listing(self) -> str:
        more = f" and {len(self.shown) - 40} more" if len(self.shown) > 40 else ""
        return ", ".join(self.shown[:40]) + more


class Row(dict):
    """One record. `r["user.id"]` and `r["user"]["id"]` are the same; `r.user` works too."""

    _fields = Fields()  # of the session; one worker process has one

    def __missing__(self, key: Any) -> Any:
        if isinstance(key, str):
            if "." in key:
                found, value = _walk(self, key)
                if found:
                    return value
            if Row._fields.knows(key):
                return None
        raise Row._fields.error(key)

    def get(self, key: Any, default: Any = None) -> Any:
        if dict.__contains__(self, key):
            return dict.__getitem__(self, key)
        if isinstance(key, str) and "." in key:
            found, value = _walk(self, key)
            return value if found else default
        return default

    def __contains__(self, key: Any) -> bool:
        return dict.__contains__(self, key) or (
            isinstance(key, str) and "." in key and _walk(self, key)[0])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(str(error)) from None

    def __reduce__(self) -> tuple[Any, ...]:
        return Row, (dict(self),)


def _walk(row: dict[str, Any], path: str) -> tuple[bool, Any]:
    """Follows `user.tags[].name`; (False, None) where the row has no such place."""
    value: Any = row
    steps = path.split(".")
    for index, step in enumerate(steps):
        each = step.endswith("[]")
        step = step.removesuffix("[]")
        if isinstance(value, dict) and dict.__contains__(value, step):
            value = dict.__getitem__(value, step)
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return False, None
        if each and isinstance(value, list) and index + 1 < len(steps):
            rest = ".".join(steps[index + 1:])
            pairs = [_walk(item, rest) for item in value if isinstance(item, dict)]
            return True, [item for found, item in pairs if found]
    return True, value


def nearest(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """The known names that look most like `name`, upper and lower case alike."""
    folded: dict[str, str] = {}
    for item in known:
        folded.setdefault(item.lower(), item)
        folded.setdefault(item.rsplit(".", 1)[-1].lower(), item)
    hits = difflib.get_close_matches(name.lower(), folded, n=count, cutoff=0.6)
    hits += [item for item in folded if len(name) > 2 and name.lower() in item]
    return list(dict.fromkeys(folded[hit] for hit in hits))[:count]


class RowStore:
    """Rows of all record contexts, one after the other. Thread-safe."""

    def __init__(self, sources: Sequence[tuple[Source, int]]) -> None:
        self.sources = list(sources)
        self._bases = [0]
        for _, count in self.sources:
            self._bases.append(self._bases[-1] + count)
        self._starts: list[int] = []  # first row of each cached batch, sorted; batches are disjoint
        self._batches: OrderedDict[int, tuple[list[Row], int]] = OrderedDict()
        self._cached = 0
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return self._bases[-1]

    def row(self, index: int) -> Row:
        first, rows = self._batch(index, near=True)
        return rows[index - first]

    def walk(self, start: int, stop: int) -> Iterator[Row]:
        while start < stop:
            first, rows = self._batch(start, near=False)
            chosen = rows[start - first:stop - first] if first + len(rows) > stop or start > first \
                else rows
            yield from chosen
            start += len(chosen)

    def locate(self, index: int) -> tuple[Source, int, int]:
        """The source of a row, the row's index there, and where the source's rows end."""
        place = bisect_right(self._bases, index) - 1
        return self.sources[place][0], index - self._bases[place], self._bases[place + 1]

    def spans(self, start: int, stop: int) -> list[Span]:
        spans = []
        while start < stop:
            source, first, end = self.locate(start)
            count = min(stop, end) - start
            value, _ = ask("record_span", {"ctx": source.index, "from": first, "to": first + count})
            spans.append((source.index, value["at"], value["len"]))
            start += count
        return spans

    def _batch(self, index: int, near: bool) -> tuple[int, list[Row]]:
        with self._lock:
            place = bisect_right(self._starts, index) - 1
            previous_end = 0
            if place >= 0:
                first = self._starts[place]
                rows = self._batches[first][0]
                previous_end = first + len(rows)
                if index < previous_end:
                    self._batches.move_to_end(first)
                    return first, rows
            following = self._starts[place + 1] if place + 1 < len(self._starts) else len(self)
            return self._fetch(index, previous_end, following, near)

    def _fetch(self, index: int, low: int, high: int, near: bool) -> tuple[int, list[Row]]:
        source, local, end = self.locate(index)
        base = index - local
        first = max(index - index % _NEAR_ROWS, low, base) if near else index
        most = min(high, end) - first
        value, raw = ask("records", {
            "ctx": source.index, "from": first - base,
            "max_records": min(most, _NEAR_ROWS if near else _BATCH_ROWS),
            "max_bytes": _BATCH_BYTES})
        offset, length = value["rows"]["blob"]
        rows = _loads(raw[offset:offset + length], object_hook=Row)[:most]
        if first + len(rows) <= index:
            if near and first < index:  # large rows before it filled the batch
                return self._fetch(index, index, high, near)
            raise IndexError(f"record {index} could not be read")
        self._keep(first, rows, length * _PARSED_FACTOR)
        return first, rows

    def _keep(self, first: int, rows: list[Row], cost: int) -> None:
        self._batches[first] = (rows, cost)
        insort(self._starts, first)
        self._cached += cost
        while self._cached > _CACHE_BYTES and len(self._batches) > 1:
            old, (_, freed) = self._batches.popitem(last=False)
            self._starts.remove(old)
            self._cached -= freed


class DocumentRows:
    """A folder of plain documents as rows: name, text, chars, lines."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = [(source, 1) for source in sources]
        self._rows: dict[int, Row] = {}

    def __len__(self) -> int:
        return len(self.sources)

    def row(self, index: int) -> Row:
        if index not in self._rows:
            self._rows[index] = DocumentRow(self.sources[index][0])
        return self._rows[index]

    def walk(self, start: int, stop: int) -> Iterator[Row]:
        return map(self.row, range(start, stop))

    def spans(self, start: int, stop: int) -> list[Span]:
        return [(source.index, 0, source.bytes) for source, _ in self.sources[start:stop]]


class DocumentRow(Row):
    """One document; its text is read when it is asked for, and not kept."""

    def __init__(self, source: Source) -> None:
        meta = source.meta or {}
        super().__init__(name=source.name, chars=source.characters,
                         lines=meta.get("lines", None) or source.line_count)
        self.__dict__["_source"] = source

    def _text(self) -> Piece:
        source = self.__dict__["_source"]
        return source.piece(0, source.bytes)

    def _dossier_spans(self) -> list[Span]:
        source = self.__dict__["_source"]
        return [(source.index, 0, source.bytes)]

    def __missing__(self, key: Any) -> Any:
        return self._text() if key == "text" else super().__missing__(key)

    def get(self, key: Any, default: Any = None) -> Any:
        return self._text() if key == "text" else super().get(key, default)

    def __contains__(self, key: Any) -> bool:
        return key == "text" or super().__contains__(key)

    def keys(self) -> Any:
        return dict(self, text=None).keys()

    def items(self) -> Any:
        return dict(self, text=self._text()).items()

    def values(self) -> Any:
        return dict(self, text=self._text()).values()


class Records(Sequence):
    """A lazy sequence of rows; a slice is a view that is given to models by offset."""

    def __init__(self, store: RowStore | DocumentRows, indexes: range | None = None) -> None:
        self._store = store
        self._indexes = range(len(store)) if indexes is None else indexes

    def __len__(self) -> int:
        return len(self._indexes)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Records(self._store, self._indexes[index])
        if isinstance(index, str):
            return self._column(index)
        if not hasattr(index, "__index__") or isinstance(index, bool):
            raise TypeError("records is a list of rows: use records[0], records[0]['field'] or "
                            "[r for r in records if ...]")
        return self._store.row(self._indexes[index])

    def __iter__(self) -> Iterator[Row]:
        if self._indexes.step == 1:
            return self._store.walk(self._indexes.start, self._indexes.stop)
        return map(self._store.row, self._indexes)

    def __repr__(self) -> str:
        if len(self) <= _SHOWN_ROWS:
            return repr(list(self))
        return f"<records: {len(self):,} rows; fields: {Row._fields.listing()}>"

    def __add__(self, other: Iterable[Any]) -> list[Any]:
        return list(self) + list(other)

    def __radd__(self, other: Iterable[Any]) -> list[Any]:
        return list(other) + list(self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Records):
            return self._store is other._store and self._indexes == other._indexes
        return isinstance(other, list) and len(other) == len(self) and list(self) == other

    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        use = {"sort": "sorted(records, key=lambda r: r['field'])",
               "append": "rows = list(records); rows.append(...)",
               "groupby": "collections.Counter(r['field'] for r in records)",
               "value_counts": "collections.Counter(r['field'] for r in records)"}
        way = use.get(name, "for r in records: r['field']")
        raise AttributeError(f"records is a list of rows and has no '{name}': use {way}")

    def _column(self, name: str) -> list[Any]:
        """`records["size"]`, as with a data frame: the values of one field."""
        return [row[name] for row in self]

    def _dossier_spans(self) -> list[Span] | None:
        if self._indexes.step != 1:
            return None
        return self._store.spans(self._indexes.start, self._indexes.stop)

    def _dossier_ranges(self) -> list[tuple[Source, int, int]] | None:
        """The same as (context, first, behind the last) by record; None for other steps."""
        if self._indexes.step != 1 or not isinstance(self._store, RowStore):
            return None
        ranges, start = [], self._indexes.start
        while start < self._indexes.stop:
            source, first, end = self._store.locate(start)
            count = min(self._indexes.stop, end) - start
            ranges.append((source, first, first + count))
            start += count
        return ranges

    @property
    def fields(self) -> list[str]:
        return list(Row._fields.shown)

    columns = fields

    def to_list(self) -> list[Row]:
        return list(self)

    def head(self, count: int = 5) -> list[Row]:
        return list(self[:count])


def make_records(sources: Sequence[Source]) -> Records | None:
    """`records` for these contexts; None for one text without records. Sets the known fields."""
    infos = [(source, _info(source)) for source in sources]
    rows = [(source, info["count"]) for source, info in infos if info and info["count"]]
    if rows:
        names = [field["shown"] for _, info in infos if info for field in info.get("fields", [])]
        Row._fields = Fields(names)
        records = Records(RowStore(rows))
        Row._fields.learn(name for row in records[:50] for name in row)
        return records
    if len(sources) > 1:
        Row._fields = Fields(["name", "text", "chars", "lines"])
        return Records(DocumentRows(sources))
    return None


def _info(source: Source) -> dict[str, Any] | None:
    try:
        return ask("records_info", {"ctx": source.index})[0]
    except (ValueError, RuntimeError):
        return None
