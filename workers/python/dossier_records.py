"""`records`: the rows of every record format, read when they are used.

    biggest = max(records, key=lambda r: r["size"])
    names = [r["user.name"] for r in records[:10]]

A row is a dict; a JSON value that is no object is the row {"value": …}. A field that only other rows
have is None; a field that no row has is a KeyError that names the nearest ones. With several files
the rows of all follow each other, and each names its file: r["_file"]. What stands in a file where a
row should be and is none is counted: records.skipped, records.skipped.reasons. Rows are cached up to about 32 MiB, so changes made to rows of a larger
context are lost: keep changed rows in a list of your own.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from dossier_bridge import Span, ask
from dossier_row_store import FILE, DocumentRows, RowCache, RowStore, SkippedRows, skipped_of
from dossier_rows import Fields, Row
from dossier_text import Source

_SHOWN_ROWS = 20         # a slice that is printed shows its rows up to here
_FILES_TOLD = 5          # files with rows that could not be read that are told of one by one


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

    def __str__(self) -> str:
        """A slice is its rows, as in a prompt; all rows that are printed are named."""
        return repr(self) if len(self) == len(self._store) else format(self)

    def __format__(self, spec: str) -> str:
        return format(str(list(self)), spec)

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


class NoRecords:
    """What `records` is where the data has none: using it is an error that says what there is."""

    def __init__(self, source: Source, info: dict[str, Any]) -> None:
        form = info.get("format") or "text"
        way = info.get("way") or (
            "data = json.loads(context)" if form.startswith("json") else
            "context, doc.grep(pattern) or doc.lines(a, b)")
        self.__dict__["_message"] = f"{source.name or 'the context'} has no records: it is " \
                                    f"{info.get('label') or form}; use {way}"

    def _fail(self, *_: Any) -> Any:
        raise ValueError(self._message)

    __len__ = __iter__ = __getitem__ = __contains__ = __bool__ = __add__ = __radd__ = __call__ = _fail

    def __getattr__(self, name: str) -> Any:
        return self._fail() if not name.startswith("__") else object.__getattribute__(self, name)

    def __repr__(self) -> str:
        return self._message


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
        if several:  # a table in a document does not hide the documents
            infos = [(source, info) for source, info in infos if not info.get("beside")]
        if infos and (not several or any(info["count"] for _, info in infos)):
            Row._fields = self._fields_of(infos)
            store = RowStore(infos, Row, self._cache, named=several)
            Row._fields.learn(store.names())
            if several:
                Row._fields.learn([FILE])
            self._made.append(Records(store))
            return self._made[-1]
        if several:
            Row._fields = Fields(["name", "text", "chars", "lines"])
            return Records(DocumentRows(self._sources))
        return None

    def none(self) -> NoRecords | None:
        """What stands for the rows where there are none."""
        return NoRecords(self._sources[0], _ask_info(self._sources[0]) or {}) \
            if self._sources else None

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
        skipped = skipped_of(info or {})
        if info is None or not skipped["count"]:
            return
        self._told += 1
        if self._told == _FILES_TOLD + 1:
            self._note("Rows of more files could not be read: records.skipped.reasons lists them.")
        if self._told > _FILES_TOLD:
            return
        place = f" of {source.name!r}" if len(self._sources) > 1 else ""
        self._note(f"{skipped['count']:,} of {info['count'] + skipped['count']:,} rows{place} "
                   f"{skipped.get('fate', 'could not be read')}: {skipped['reasons']}.")


def _ask_info(source: Source) -> dict[str, Any] | None:
    try:
        return ask("records_info", {"ctx": source.index})[0]
    except (ValueError, RuntimeError):
        return None
