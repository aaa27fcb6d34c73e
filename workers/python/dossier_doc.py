"""`doc`: the context without loading it.

    doc.grep(r"ERROR .*timeout")[:3]
    part = doc[0:60_000]       # a string; llm_query(["Summarise:\\n", part]) sends its offsets
    for chunk in doc.chunks(50_000): ...

Offsets are characters, as in `len(context)`. A view covers one or several documents, in order.
"""

import re
from bisect import bisect_right
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

from dossier_bridge import Span, ask, number
from dossier_text import Piece, Source

Part = namedtuple("Part", "name start end")

_CONTENT_SIZE = 16_000     # bytes of a piece by content
_CHARACTERS_PER_TOKEN = 3  # low on purpose: a chunk should not exceed its tokens


class Match:
    """One hit of `grep` or `search`; `start` and `end` are offsets into `doc`."""

    def __init__(self, line: int, text: str, start: int, end: int, name: str = "",
                 score: float | None = None) -> None:
        self.line = line
        self.text = text
        self.start = start
        self.end = end
        self.name = name
        self.score = score

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Match) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        where = f"{self.name}:{self.line}" if self.name else str(self.line)
        return f"{where}: {self.text}" if self.score is None else str(self.text)

    __repr__ = __str__

    def __getitem__(self, key: str | int) -> Any:
        """Models treat a match as a dict, a string or the match object of `re`."""
        return getattr(self, key) if isinstance(key, str) else self.text[key]

    def group(self, _number: int = 0) -> str:
        return self.text


class Matches(list):
    """The matches found; `total` counts those behind the limit too."""

    total = 0
    cut = False

    def __repr__(self) -> str:
        more = f"\n({self.total:,} matches, {len(self):,} shown)" if self.total > len(self) else ""
        return "\n".join(str(match) for match in self) + more if self else "[]"

    __str__ = __repr__


class Lines(list):
    """Lines as strings; printed as text, given to a model by offset."""

    _spans: list[Span] | None = None

    def _dossier_spans(self) -> list[Span] | None:
        return self._spans

    def __str__(self) -> str:
        return "\n".join(self)

    __repr__ = __str__


class Segment:
    """A run of one source inside a view; `first` is a character offset in the source."""

    def __init__(self, source: Source, first: int, characters: int) -> None:
        self.source = source
        self.first = first
        self.characters = characters

    @property
    def whole(self) -> bool:
        return self.first == 0 and self.characters == self.source.characters

    def span(self, start: int, end: int) -> Span:
        """The bytes of characters [start, end) of this segment."""
        at, stop = self.source.to_bytes([self.first + start, self.first + end])
        return self.source.index, at, stop - at


class Chunks(Sequence):
    """Pieces of a view, each cut when it is asked for."""

    def __init__(self, count: int, cut: Callable[[int], Piece], of_all: bool = False) -> None:
        self.of_all = of_all   # of a whole document or of several
        self._indexes = range(count)
        self._cut = cut

    def __len__(self) -> int:
        return len(self._indexes)

    @overload
    def __getitem__(self, index: int) -> Piece: ...

    @overload
    def __getitem__(self, index: slice) -> "Chunks": ...

    def __getitem__(self, index: int | slice) -> "Piece | Chunks":
        if isinstance(index, slice):
            chosen = self._indexes[index]
            return Chunks(len(chosen), lambda i: self._cut(chosen[i]))
        return self._cut(self._indexes[index])

    def __repr__(self) -> str:
        return f"<{len(self):,} chunks>"


class Doc:
    """A view of the context. Reading it moves only what is read."""

    def __init__(self, segments: list[Segment], string_max: int = 1 << 31) -> None:
        self._segments = segments
        self._string_max = string_max
        self._starts = [0]
        for segment in segments:
            self._starts.append(self._starts[-1] + segment.characters)

    @classmethod
    def of(cls, sources: Sequence[Source], string_max: int) -> "Doc":
        return cls([Segment(source, 0, source.characters) for source in sources], string_max)

    def __len__(self) -> int:
        return self._starts[-1]

    def __bool__(self) -> bool:
        return len(self) > 0

    def __getitem__(self, index: int | slice) -> str:
        if not isinstance(index, slice):
            place = range(len(self))[index]
            return str(self._piece(place, place + 1))
        start, stop, step = index.indices(len(self))
        if step != 1:
            return str(self)[index]
        return self._piece(start, max(start, stop))

    def __contains__(self, text: str) -> bool:
        return self.find(text) >= 0

    def __iter__(self) -> Iterator[str]:
        """Line by line, without line ends."""
        for segment in self._segments:
            _, at, length = segment.span(0, segment.characters)
            with segment.source.open(at, length) as lines:
                for line in lines:
                    yield line.rstrip("\n")

    def __str__(self) -> str:
        if self.bytes > self._string_max:
            raise ValueError(f"the text has {len(self):,} characters, too many for one string: "
                             "use doc[a:b], doc.grep(pattern) or doc.chunks(size)")
        return "".join(segment.source.text(*segment.span(0, segment.characters)[1:])
                       for segment in self._segments)

    def __repr__(self) -> str:
        return f"<doc: {len(self):,} characters, {len(self._segments)} document(s)>"

    def __add__(self, other: str) -> str:
        return str(self) + str(other)

    def __radd__(self, other: str) -> str:
        return str(other) + str(self)

    def __getattr__(self, name: str) -> Any:
        if name in ("split", "splitlines", "readlines"):
            raise AttributeError(f"doc has no {name}(): use `for line in doc`, doc.lines(a, b) or "
                                 "doc.chunks(size)")
        if name in ("search_all", "findall", "match", "finditer"):
            raise AttributeError(f"doc has no {name}(): use doc.grep(pattern)")
        raise AttributeError(f"doc has no attribute '{name}'; it has len(doc), doc[a:b], slice, "
                             "lines, line_count, parts, grep, find, count, chunks, search, meta")

    def _dossier_spans(self) -> list[Span]:
        return [segment.span(0, segment.characters) for segment in self._segments]

    @property
    def bytes(self) -> int:
        return sum(segment.span(0, segment.characters)[2] if not segment.whole
                   else segment.source.bytes for segment in self._segments)

    @property
    def meta(self) -> Any:
        metas = [segment.source.meta for segment in self._segments]
        return metas[0] if len(metas) == 1 else metas

    @property
    def name(self) -> str:
        return ", ".join(segment.source.name for segment in self._segments)

    @property
    def parts(self) -> list[Part]:
        return [Part(segment.source.name, start, end) for segment, start, end
                in zip(self._segments, self._starts, self._starts[1:])]

    @property
    def line_count(self) -> int:
        return sum(segment.source.line_count if segment.whole else sum(1 for _ in Doc([segment]))
                   for segment in self._segments)

    def slice(self, start: int = 0, end: int | None = None) -> "Doc":
        """A view of [start, end); no text is moved."""
        start, end, _ = slice(start, end).indices(len(self))
        return Doc([Segment(segment.source, segment.first + first, last - first)
                    for segment, first, last in self._cover(start, max(start, end))],
                   self._string_max)

    def lines(self, start: int = 0, end: int | None = None) -> Lines:
        """Lines [start, end), counted from 0."""
        count = self.line_count
        start, end, _ = slice(start, end).indices(count)
        result, spans, base = Lines(), [], 0
        for segment in self._segments:
            own = self._line_span(segment, start - base, end - base)
            base += segment.source.line_count if segment.whole else Doc([segment]).line_count
            if own is None:
                continue
            spans.append(own)
            result += _split_lines(segment.source.text(own[1], own[2]))
        result._spans = spans
        return result

    def grep(self, pattern: Any, max: int = 1000, ignore_case: bool = False,
             context: int = 0, flags: int = 0) -> Matches:
        """Lines that match a regular expression (RE2), at most `max`."""
        flags = getattr(pattern, "flags", 0) | int(flags)
        ignore_case = bool(ignore_case or flags & re.IGNORECASE)
        pattern = getattr(pattern, "pattern", pattern)
        found = Matches()
        for segment, base in zip(self._segments, self._starts):
            if not segment.whole:
                self._grep_here(segment, base, (pattern, ignore_case, context), max - len(found),
                                found)
                continue
            value, _ = ask("grep", {"ctx": segment.source.index, "pattern": pattern,
                                    "max": max - len(found), "ignore_case": ignore_case,
                                    "context": context})
            found.total += value["total"]
            self._add_matches(segment, base, value["matches"], found)
        found.cut = found.total > len(found)
        return found

    def find(self, text: str, start: int = 0, end: int | None = None) -> int:
        """The offset of the first occurrence at or behind `start`, or -1."""
        end = len(self) if end is None else end
        for segment, first, last in self._cover(start, end):
            base = self._starts[self._segments.index(segment)]
            at, stop = segment.source.to_bytes([segment.first + first, segment.first + last])
            value, _ = ask("find", {"ctx": segment.source.index, "text": text, "from_byte": at,
                                    "to_byte": stop})
            found = number(value, "at")
            if found >= 0:
                return base + segment.source.to_characters([found])[0] - segment.first
        return -1

    def count(self, text: str) -> int:
        """How often `text` occurs, without overlap."""
        total = 0
        for segment in self._segments:
            if segment.whole:
                value, _ = ask("count", {"ctx": segment.source.index, "text": text})
                total += number(value, "count")
            else:
                total += str(Doc([segment])).count(text)
        return total

    def search(self, query: str, k: int = 10) -> Matches:
        """The k passages that fit the words of `query` best (BM25), best first."""
        hits = Matches()
        for segment, base in zip(self._segments, self._starts):
            source = segment.source
            value, _ = ask("search", {"ctx": source.index, "query": query, "k": k})
            rows = value["hits"]
            places = source.to_characters([hit["at"] for hit in rows]
                                          + [hit["at"] + hit["len"] for hit in rows])
            for row, first, last in zip(rows, places, places[len(rows):]):
                inside = segment.first <= first and last <= segment.first + segment.characters
                if inside:
                    shift = base - segment.first
                    hits.append(Match(0, source.piece(row["at"], row["len"]), first + shift,
                                      last + shift, self._label(source), row["score"]))
        hits.sort(key=lambda hit: -hit.score)
        hits.cut = len(hits) >= k   # there may be more: the host looks for no more than k
        del hits[k:]
        hits.total = len(hits)
        return hits

    def chunks(self, size: int | None = None, overlap: int = 0, by: str = "chars") -> Chunks:
        """Pieces of `size` chars, lines, records or tokens; no piece crosses a document.

        by="content": of about `size` bytes, cut where the text itself says, so that a text that
        was edited has the same pieces but where it was edited.
        """
        if size is None and by == "content":
            size = _CONTENT_SIZE
        if size is None or size <= 0 or not 0 <= overlap < size:
            raise ValueError("chunks needs size > 0 and 0 <= overlap < size")
        whole = all(segment.whole for segment in self._segments)
        if by == "content":
            if overlap:
                raise ValueError("chunks: pieces by content do not overlap")
            spans = [span for segment in self._segments for span in self._content(segment, size)]
            return Chunks(len(spans), lambda i: spans[i][0].piece(*spans[i][1:]), whole)
        if by == "tokens":
            size, overlap = size * _CHARACTERS_PER_TOKEN, overlap * _CHARACTERS_PER_TOKEN
            by = "chars"
        if by not in ("chars", "lines", "records"):
            raise ValueError("chunks: by is 'chars', 'lines', 'records', 'tokens' or 'content'")
        plan: list[tuple[Segment, int, int]] = []
        counts = [self._units(segment, by) for segment in self._segments]
        if counts and all(count is None for count in counts):
            raise ValueError(f"chunks: {self._segments[0].source.name or 'the context'} has no "
                             "records; use by='lines'")
        for segment, units in zip(self._segments, counts):
            for start in range(0, max(units - overlap, 1) if units else 0, size - overlap):
                plan.append((segment, start, min(start + size, units)))
        return Chunks(len(plan), lambda i: self._chunk(by, *plan[i]), whole)

    def _content(self, segment: Segment, size: int) -> Iterator[tuple[Source, int, int]]:
        """The source, first byte and length of each piece by content."""
        index, at, length = segment.span(0, segment.characters)
        value, _ = ask("cuts", {"ctx": index, "size": size, "from_byte": at, "to_byte": at + length})
        for end in value["ends"]:
            yield segment.source, at, end - at
            at = end

    def _units(self, segment: Segment, by: str) -> int | None:
        """How many there are; None for records where the document has none."""
        if by == "chars":
            return segment.characters
        if by == "lines":
            return Doc([segment]).line_count
        return ask("records_info", {"ctx": segment.source.index})[0]["count"]

    def _chunk(self, by: str, segment: Segment, start: int, end: int) -> Piece:
        if by == "chars":
            return segment.source.piece(*segment.span(start, end)[1:])
        if by == "lines":
            span = self._line_span(segment, start, end) or (segment.source.index, 0, 0)
            return segment.source.piece(*span[1:])
        value, _ = ask("record_span", {"ctx": segment.source.index, "from": start, "to": end})
        return segment.source.piece(value["at"], value["len"])

    def _cover(self, start: int, end: int) -> Iterator[tuple[Segment, int, int]]:
        """The segments that [start, end) touches, each with its own range."""
        place = max(0, bisect_right(self._starts, start) - 1)
        for segment, base in zip(self._segments[place:], self._starts[place:]):
            if base >= end:
                break
            first, last = max(start - base, 0), min(end - base, segment.characters)
            if first < last:
                yield segment, first, last

    def _piece(self, start: int, end: int) -> Piece:
        spans, texts = [], []
        for segment, first, last in self._cover(start, end):
            span = segment.span(first, last)
            spans.append(span)
            texts.append(segment.source.text(span[1], span[2]))
        return Piece.of("".join(texts), spans)

    def _line_span(self, segment: Segment, start: int, end: int) -> Span | None:
        """The bytes of lines [start, end) of one segment, or None where there are none."""
        source, start = segment.source, max(start, 0)
        if segment.whole:
            end = min(end, source.line_count)
            if start >= end:
                return None
            value, _ = ask("lines", {"ctx": source.index, "from": start, "to": end})
            return source.index, value["at"], value["len"]
        _, at, length = segment.span(0, segment.characters)
        ends = [0] + [found.end() for found in re.finditer(rb"\n", source.view[at:at + length])]
        if ends[-1] < length:
            ends.append(length)
        end = min(end, len(ends) - 1)
        return (source.index, at + ends[start], ends[end] - ends[start]) if start < end else None

    def _label(self, source: Source) -> str:
        return source.name if len(self._segments) > 1 else ""

    def _add_matches(self, segment: Segment, base: int, rows: list[dict[str, Any]],
                     found: Matches) -> None:
        source = segment.source
        places = source.to_characters([row["at"] for row in rows]
                                      + [row["at"] + row["len"] for row in rows])
        for row, first, last in zip(rows, places, places[len(rows):]):
            text = source.piece(row.get("context_at", row["line_at"]),
                                row.get("context_len", row["line_len"]))
            found.append(Match(row["line"], text, base + first, base + last, self._label(source)))

    def _grep_here(self, segment: Segment, base: int, wanted: tuple[str, bool, int], room: int,
                   found: Matches) -> None:
        """A part of a document: the host greps whole ones only."""
        pattern, ignore_case, context = wanted
        try:
            search = re.compile(pattern, re.IGNORECASE if ignore_case else 0).search
        except re.error as error:
            raise ValueError(f"grep pattern: {error}") from None
        place = base
        lines = str(Doc([segment])).splitlines(keepends=True)
        for index, line in enumerate(lines):
            hit = search(line)
            if hit:
                found.total += 1
                if room > 0:
                    room -= 1
                    around = lines[max(0, index - context):index + context + 1]
                    found.append(Match(index + 1, "".join(around).rstrip("\r\n"),
                                       place + hit.start(), place + hit.end(),
                                       self._label(segment.source)))
            place += len(line)


def _split_lines(text: str) -> list[str]:
    """At LF only, as the host counts; CR before it is dropped."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line[:-1] if line.endswith("\r") else line for line in lines]
