"""Where rows come from: batches of records that the host reads, kept up to about 32 MiB; plain
documents."""

import threading
from bisect import bisect_right, insort
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dossier_bridge import Span, ask
from dossier_rows import Row, parse_rows
from dossier_text import Piece, Source, Stretches, add_part, joined

_BATCH_BYTES = 1 << 20
_BATCH_ROWS = 1 << 16
_NEAR_ROWS = 64          # fetched around a row that is asked for by index
_NAMED_ROWS = 50         # rows whose fields are known from the start
_CACHE_BYTES = 32 << 20
_PARSED_FACTOR = 6       # Python objects for one byte of JSON, measured over logs and CSV

FILE = "_file"           # the field of a row that names its file, where there are several


class SkippedRows(int):
    """How many rows could not be read; `reasons` has a text for each file that has such."""

    reasons: list[str]

    @classmethod
    def of(cls, infos: Iterable[tuple[Source, dict[str, Any]]]) -> "SkippedRows":
        found = [(source, info) for source, info in infos if skipped_of(info)["count"]]
        skipped = cls(sum(skipped_of(info)["count"] for _, info in found))
        skipped.reasons = [f"{source.name}: {skipped_of(info)['reasons']}" for source, info in found]
        return skipped


def skipped_of(info: dict[str, Any]) -> dict[str, Any]:
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

    def tell(self, handed: Stretches) -> None:
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
        self._handed = Stretches()  # first row and behind the last, of what code got
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
        handed, self._handed = joined(self._handed), Stretches()
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
                rows = parse_rows(raw[offset:offset + length], Row)
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
        rows = parse_rows(raw[offset:offset + length], self.row_class)[:most]
        if first + len(rows) <= index:
            if near and first < index:  # large rows before it filled the batch
                return self._fetch(index, index, high, near)
            raise IndexError(f"record {index} could not be read")
        if self._named:
            for row in rows:
                row.setdefault(FILE, source.name)
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
