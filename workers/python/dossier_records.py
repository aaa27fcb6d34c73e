"""`records`: the rows of every record format, read when they are used.

    biggest = max(records, key=lambda r: r["size"])
    names = [r["user.name"] for r in records[:10]]

A row is a dict; a JSON value that is no object is the row {"value": …}. A field that only other rows
have is None; a field that no row has is a KeyError that names the nearest ones. With several files
the rows of all follow each other, and each names its file: r["_file"]. What stands in a file where a
row should be and is none is counted: records.skipped, records.skipped.reasons. Rows are cached up to about 32 MiB, so changes made to rows of a larger
context are lost: keep changed rows in a list of your own.
"""

import difflib
import json
import sys
import threading
from bisect import bisect_right, insort
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from dossier_bridge import Span, ask
from dossier_text import Piece, Source, add_part, joined

_BATCH_BYTES = 1 << 20
_BATCH_ROWS = 1 << 16
_SHOWN_ROWS = 20         # a slice that is printed shows its rows up to here
_NEAR_ROWS = 64          # fetched around a row that is asked for by index
_NAMED_ROWS = 50         # rows whose fields are known from the start
_CACHE_BYTES = 32 << 20
_PARSED_FACTOR = 6       # Python objects for one byte of JSON, measured over logs and CSV

_FILE = "_file"
_FILES_TOLD = 5          # files with rows that could not be read that are told of one by one
_DEEPEST = 1100          # levels of a row, and some; the host takes no more

_loads = json.loads


class FieldError(KeyError):
    """A field that no row has; the message is a sentence, not a quoted key."""

    def __str__(self) -> str:
        return str(self.args[0])


FieldError.__name__ = FieldError.__qualname__ = "KeyError"  # what a model knows
FieldError.__module__ = "builtins"


class Fields:
    """The fields of all rows, by the path shown in the hint.

    `elsewhere` says of a field that is not among them which other file has it.
    """

    def __init__(self, shown: Iterable[str] = (),
                 elsewhere: Callable[["Fields", str], str] = lambda _fields, _name: "") -> None:
        self.shown = list(dict.fromkeys(shown))
        self.unknown: dict[str, None] = {}  # names that .get() asked for in vain
        self._elsewhere = elsewhere
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
        return FieldError(self.no_such(str(name)))

    def no_such(self, name: str) -> str:
        guess = self._elsewhere(self, name)
        near = [] if guess else nearest(name, self.shown)
        if near:
            guess = f" did you mean {' or '.join(map(repr, near))}?"
        return f"{name!r}: no such field;{guess} fields: {self.listing()}"

    def listing(self) -> str:
        more = f" and {len(self.shown) - 40} more" if len(self.shown) > 40 else ""
        return ", ".join(self.shown[:40]) + more


class Row(dict):
    """One record. `r["user.id"]` and `r["user"]["id"]` are the same; `r.user` works too."""

    _fields = Fields()  # of all files; the rows of one file are of a subclass

    def __missing__(self, key: Any) -> Any:
        if isinstance(key, str):
            if "." in key:
                found, value = _walk(self, key)
                if found:
                    return value
            if self._fields.knows(key):
                return None
        raise self._fields.error(key)

    def get(self, key: Any, default: Any = None) -> Any:
        if dict.__contains__(self, key):
            return dict.__getitem__(self, key)
        if isinstance(key, str) and "." in key:
            found, value = _walk(self, key)
            if found:
                return value
        if isinstance(key, str) and not self._fields.knows(key):
            self._fields.unknown[key] = None
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


def _parse(data: bytes, row_class: type[Row]) -> list[Row]:
    try:
        return _loads(data, object_hook=row_class)
    except (ValueError, RecursionError):
        return _parse_patiently(data, row_class)


def _parse_patiently(data: bytes, row_class: type[Row]) -> list[Row]:
    """With more levels than Python's code may use, and numbers of more digits than int() takes."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + _DEEPEST)
    try:
        return _loads(data, object_hook=row_class, parse_int=_whole)
    finally:
        sys.setrecursionlimit(limit)


def _whole(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:  # thousands of digits: exact as text
        return digits


class SkippedRows(int):
    """How many rows could not be read; `reasons` has a text for each file that has such."""

    reasons: list[str]

    @classmethod
    def of(cls, infos: Iterable[tuple[Source, dict[str, Any]]]) -> "SkippedRows":
        found = [(source, info) for source, info in infos if _skipped(info)["count"]]
        skipped = cls(sum(_skipped(info)["count"] for _, info in found))
        skipped.reasons = [f"{source.name}: {_skipped(info)['reasons']}" for source, info in found]
        return skipped


def _skipped(info: dict[str, Any]) -> dict[str, Any]:
    return info.get("skipped") or {"count": 0, "reasons": ""}


class RowCache:
    """The batches of rows that were read last, of all stores together."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._batches: OrderedDict[tuple["RowStore", int], tuple[list[Row], int]] = OrderedDict()
        self.bytes = 0

    def get(self, store: "RowStore", first: int) -> list[Row]:
        self._batches.move_to_end((store, first))
        return self._batches[store, first][0]

    def keep(self, store: "RowStore", first: int, rows: list[Row], cost: int) -> None:
        self._batches[store, first] = (rows, cost)
        self.bytes += cost
        while self.bytes > _CACHE_BYTES and len(self._batches) > 1:
            (owner, old), (_, freed) = self._batches.popitem(last=False)
            owner.forget(old)
            self.bytes -= freed


class Walk:
    """How far code has gone through rows: that of the list iterator it goes by, which costs nothing
    for each row."""

    def __init__(self, start: int) -> None:
        self._told = start   # rows before it were told of
        self._end = start    # behind the rows of the iterator
        self._rows: Any = iter([])

    def through(self, rows: list[Row], end: int) -> Iterator[Row]:
        self._rows, self._end = iter(rows), end
        return self._rows

    def tell(self, handed: list[list[int]]) -> None:
        reached = self._end - self._rows.__length_hint__()
        add_part(handed, self._told, reached)
        self._told = reached


class RowStore:
    """Rows of record contexts, one after the other. Thread-safe."""

    def __init__(self, infos: Sequence[tuple[Source, dict[str, Any]]], row_class: type[Row],
                 cache: RowCache, named: bool) -> None:
        """Rows of several files are `named`: they tell which file they are of."""
        self.sources = [(source, info["count"]) for source, info in infos]
        self.row_class = row_class
        self.skipped = SkippedRows.of(infos)
        self.non_finite = {source.index for source, info in infos if info.get("non_finite")}
        self._cache = cache
        self._named = named
        self._bases = [0]
        for _, count in self.sources:
            self._bases.append(self._bases[-1] + count)
        self._walks: list[Walk] = []        # those that code has not ended
        self._handed: list[list[int]] = []  # first row and behind the last, of what code got
        self._starts: list[int] = []  # first row of each cached batch, sorted; batches are disjoint

    def __len__(self) -> int:
        return self._bases[-1]

    def row(self, index: int) -> Row:
        first, rows = self._batch(index, near=True)
        add_part(self._handed, index, index + 1)
        return rows[index - first]

    def walk(self, start: int, stop: int) -> Iterator[Row]:
        walk = Walk(start)
        self._walks.append(walk)
        try:
            while start < stop:
                first, rows = self._batch(start, near=False)
                chosen = rows[start - first:stop - first] \
                    if first + len(rows) > stop or start > first else rows
                start += len(chosen)
                yield from walk.through(chosen, start)
        finally:
            self._walks.remove(walk)
            walk.tell(self._handed)

    def take_read(self) -> list[Span]:
        """What of the texts the rows are that code got since the last call. Rows that were fetched
        ahead are none of them."""
        return [span for first, end in self.forget_read()
                for span in self._spans_of(first, end)]

    def forget_read(self) -> list[list[int]]:
        for walk in list(self._walks):
            walk.tell(self._handed)
        handed, self._handed = joined(self._handed), []
        return handed

    def _spans_of(self, start: int, stop: int) -> Iterator[Span]:
        """Up to the next row, so that no gaps are left; what stands before the first record and
        behind the last belongs to them."""
        while start < stop:
            source, first, end = self.locate(start)
            count = min(stop, end) - start
            begin = self._starts_at(source, first) if first else 0
            whole = start + count == end
            yield source.index, begin, (source.bytes if whole else
                                        self._starts_at(source, first + count)) - begin
            start += count

    @staticmethod
    def _starts_at(source: Source, row: int) -> int:
        value, _ = ask("record_span", {"ctx": source.index, "from": row, "to": row + 1})
        at: int = value["at"]
        return at

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

    def names(self) -> Iterator[str]:
        """The fields of the first rows. Only their names are taken, so this is no look at the data."""
        left = _NAMED_ROWS
        for source, count in self.sources:
            if left > 0 and count > 0:
                value, raw = ask("records", {"ctx": source.index, "from": 0, "max_records": left,
                                             "max_bytes": _BATCH_BYTES, "names_only": True})
                offset, length = value["rows"]["blob"]
                rows = _parse(raw[offset:offset + length], Row)
                left -= len(rows)
                yield from (name for row in rows for name in row)

    def _batch(self, index: int, near: bool) -> tuple[int, list[Row]]:
        with self._cache.lock:
            place = bisect_right(self._starts, index) - 1
            previous_end = 0
            if place >= 0:
                first = self._starts[place]
                rows = self._cache.get(self, first)
                previous_end = first + len(rows)
                if index < previous_end:
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
        rows = _parse(raw[offset:offset + length], self.row_class)[:most]
        if first + len(rows) <= index:
            if near and first < index:  # large rows before it filled the batch
                return self._fetch(index, index, high, near)
            raise IndexError(f"record {index} could not be read")
        if self._named:
            for row in rows:
                row.setdefault(_FILE, source.name)
        insort(self._starts, first)
        self._cache.keep(self, first, rows, length * _PARSED_FACTOR)
        return first, rows

    def forget(self, first: int) -> None:
        self._starts.remove(first)


class DocumentRows:
    """A folder of plain documents as rows: name, text, chars, lines."""

    row_class = Row
    skipped = SkippedRows.of(())

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

    def take_read(self) -> list[Span]:
        return []  # a text is told of when it is asked for

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
        return f"<records: {len(self):,} rows; fields: {self._fields.listing()}>"

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
        if self._indexes.step != 1 or not isinstance(self._store, RowStore) \
                or self._store.non_finite:  # the host's own reader of rows takes no NaN
            return None
        ranges, start = [], self._indexes.start
        while start < self._indexes.stop:
            source, first, end = self._store.locate(start)
            count = min(self._indexes.stop, end) - start
            ranges.append((source, first, first + count))
            start += count
        return ranges

    @property
    def skipped(self) -> SkippedRows:
        """How many rows of the files could not be read; `.reasons` says why."""
        return self._store.skipped

    @property
    def _fields(self) -> Fields:
        return self._store.row_class._fields

    @property
    def fields(self) -> list[str]:
        return list(self._fields.shown)

    columns = fields

    def to_list(self) -> list[Row]:
        return list(self)

    def head(self, count: int = 5) -> list[Row]:
        return list(self[:count])


class Tables:
    """The rows of the contexts: of all together, and of each. Made when they are asked for."""

    def __init__(self, sources: Sequence[Source], note: Callable[[str], None]) -> None:
        """`note` is told once of each file with rows that could not be read."""
        self._sources = sources
        self._note = note
        self._cache = RowCache()
        self._infos: dict[int, dict[str, Any] | None] = {}
        self._own: dict[int, Records] = {}
        self._made: list[Records] = []   # by all()
        self._told = 0

    def all(self) -> Records | None:
        """`records`; None for one text without records. Sets the known fields."""
        infos = [(source, info) for source in self._sources
                 if (info := self._info(source)) is not None]
        several = len(self._sources) > 1
        if infos and (not several or any(info["count"] for _, info in infos)):
            Row._fields = self._fields_of(infos)
            store = RowStore(infos, Row, self._cache, named=several)
            Row._fields.learn(store.names())
            if several:
                Row._fields.learn([_FILE])
            self._made.append(Records(store))
            return self._made[-1]
        if several:
            Row._fields = Fields(["name", "text", "chars", "lines"])
            return Records(DocumentRows(self._sources))
        return None

    def of(self, source: Source) -> Records | None:
        """The rows of one file, which know its fields alone; None if it has no records."""
        info = self._info(source)
        if info is not None and source.index not in self._own:
            own = type("Row", (Row,), {"_fields": self._fields_of([(source, info)])})
            store = RowStore([(source, info)], own, self._cache, named=False)
            own._fields.learn(store.names())
            self._own[source.index] = Records(store)
        return self._own.get(source.index)

    def take_read(self) -> list[Span]:
        """What of the texts the rows are that code got since the last call."""
        return [span for rows in (*self._made, *self._own.values())
                for span in rows._store.take_read()]

    def forget_read(self) -> None:
        for rows in (*self._made, *self._own.values()):
            rows._store.forget_read()

    def counts(self) -> list[int]:
        """Rows of all files together and of each, as far as the host was asked for them."""
        each = [info["count"] for info in self._infos.values() if info]
        return [sum(each), *each]

    def take_unknown(self) -> dict[str, str]:
        """For each field that .get() asked for since the last call and that no row has: a note."""
        notes: dict[str, str] = {}
        for fields in [Row._fields, *(rows._fields for rows in self._own.values())]:
            unknown, fields.unknown = fields.unknown, {}
            notes |= {name: f"{fields.no_such(name)}." for name in unknown}
        return notes

    def _fields_of(self, infos: Iterable[tuple[Source, dict[str, Any]]]) -> Fields:
        return Fields((field["shown"] for _, info in infos for field in info.get("fields", [])),
                      self._elsewhere)

    def _elsewhere(self, fields: Fields, name: str) -> str:
        """Which other file has the field, and what the two have in common."""
        for source in self._sources:
            if (rows := self.of(source)) is None or rows._fields is fields \
                    or not rows._fields.knows(name):
                continue
            both = [shared for shared in rows._fields.shown if fields.knows(shared)]
            joined = f", and both have {', '.join(map(repr, both[:_FILES_TOLD]))}" if both else ""
            return f" contexts[{source.name!r}].records has it{joined};"
        return ""

    def _info(self, source: Source) -> dict[str, Any] | None:
        """What the host knows of the records of a file that has such."""
        if source.index not in self._infos:
            info = _ask_info(source)
            self._infos[source.index] = info if info and info["count"] is not None else None
            self._tell(source, self._infos[source.index])
        return self._infos[source.index]

    def _tell(self, source: Source, info: dict[str, Any] | None) -> None:
        skipped = _skipped(info or {})
        if info is None or not skipped["count"]:
            return
        self._told += 1
        if self._told == _FILES_TOLD + 1:
            self._note("Rows of more files could not be read: records.skipped.reasons lists them.")
        if self._told > _FILES_TOLD:
            return
        place = f" of {source.name!r}" if len(self._sources) > 1 else ""
        self._note(f"{skipped['count']:,} of {info['count'] + skipped['count']:,} rows{place} "
                   f"could not be read: {skipped['reasons']}.")


def _ask_info(source: Source) -> dict[str, Any] | None:
    try:
        return ask("records_info", {"ctx": source.index})[0]
    except (ValueError, RuntimeError):
        return None
