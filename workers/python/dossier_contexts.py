"""`contexts`: the files by name.

    by_id = {c["id"]: c for c in contexts["customers.csv"].records}
    total = sum(o["price"] for o in contexts["orders.csv"].records if o["customer"] in by_id)
    contexts["notes.txt"].text.count("refund")

A file is named by its name, by a path that ends in it, by its base name if no other file has that,
or by its place. The names are sorted bytewise.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dossier_bridge import Span
from dossier_doc import Doc
from dossier_files import find_sources
from dossier_records import Records, Tables
from dossier_rows import FieldError, nearest
from dossier_text import Piece, Source

_SHOWN = 50  # files in a listing


class Context:
    """One file: its rows and its text. Used as a list it is its rows, else its text."""

    def __init__(self, source: Source, tables: Tables, string_max: int) -> None:
        self._source = source
        self._tables = tables
        self._string_max = string_max
        self.name = source.name
        self.chars = source.characters
        self.meta = source.meta

    @property
    def doc(self) -> Doc:
        return Doc.of([self._source], self._string_max)

    @property
    def records(self) -> Records:
        found = self._tables.of(self._source)
        if found is None:
            raise ValueError(f"{self.name!r} has no records: use .text, .doc.grep(pattern) or "
                             ".doc.lines(a, b)")
        return found

    @property
    def fields(self) -> list[str]:
        return self.records.fields

    @property
    def text(self) -> Piece:
        """The whole text as a string."""
        doc = self.doc
        return Piece.of(str(doc), doc._dossier_spans())

    @property
    def lines(self) -> Any:
        return self.doc.lines

    def _data(self) -> Records | Doc:
        rows = self._tables.of(self._source)
        return self.doc if rows is None else rows

    def __len__(self) -> int:
        return len(self._data())

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Any]:
        return iter(self._data())

    def __getitem__(self, key: Any) -> Any:
        return self._data()[key]

    def __contains__(self, item: Any) -> bool:
        return item in (self.doc if isinstance(item, str) else self._data())

    def __str__(self) -> str:
        return str(self.doc)

    def __repr__(self) -> str:
        rows = self._tables.of(self._source)
        held = f"{self.chars:,} characters" if rows is None \
            else f"{len(rows):,} records; fields: {rows._fields.listing()}"
        return f"<{self.name}: {held}>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if hasattr(Doc, name):
            return getattr(self.doc, name)
        if hasattr(str, name):
            return getattr(self.text, name)
        raise AttributeError(f"a file of `contexts` has no {name!r}; it has records, text, doc, "
                             "name, fields, chars, lines(a, b), grep(pattern)")

    def _dossier_spans(self) -> list[Span]:
        return self.doc._dossier_spans()


class Contexts(Mapping):
    """The files by name."""

    def __init__(self, sources: Sequence[Source], tables: Tables, string_max: int) -> None:
        self._sources = sources
        self._tables = tables
        self._string_max = string_max

    def __getitem__(self, key: Any) -> Context:
        if hasattr(key, "__index__"):
            return self._file(self._sources[key])
        found = find_sources(self._sources, str(key))
        if len(found) == 1:
            return self._file(found[0])
        names = [source.name for source in found or self._sources]
        if found:
            raise FieldError(f"{key!r} names {len(found)} files: {', '.join(names[:_SHOWN])}")
        near = nearest(str(key), names)
        guess = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
        raise FieldError(f"{key!r}: no such file; {guess}files: {', '.join(names[:_SHOWN])}")

    def _file(self, source: Source) -> Context:
        return Context(source, self._tables, self._string_max)

    def __iter__(self) -> Iterator[str]:
        return iter([source.name for source in self._sources])

    def __len__(self) -> int:
        return len(self._sources)

    def __contains__(self, key: Any) -> bool:
        return isinstance(key, str) and len(find_sources(self._sources, key)) == 1

    def __repr__(self) -> str:
        more = f"\n… and {len(self) - _SHOWN:,} more" if len(self) > _SHOWN else ""
        return "\n".join(map(repr, map(self._file, self._sources[:_SHOWN]))) + more

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(f"contexts has no {name!r}: it holds the files by name, e.g. "
                             f"contexts[{next(iter(self), 'name')!r}].records")
