"""Texts by offset: contexts as the host maps them, and strings that remember where they stand.

The host counts bytes, Python counts code points. For ASCII both are the same; other small texts
are counted here, large ones by the host's index.
"""

import io
from collections.abc import Sequence
from typing import Any

import _dossier

from dossier_bridge import Span, ask

_CONVERSIONS = 50_000  # in one request; the host takes twice as many
_LOCAL_BYTES = 256 * 1024  # below this counting here is as quick as asking
_MOST_READ = 1_000         # parts of a text that are told apart in one block
_FIRST_READ = 256          # bytes that a file object fetches at once, and how many it comes to
_MOST_AHEAD = 1 << 20


class Stretches(list[list[int]]):
    """Begin and end of each; `full` where so many are scattered that no more are told apart."""

    full = False


def add_part(parts: Stretches, begin: int, end: int) -> None:
    """Adds a stretch; one that touches the last is joined to it, forwards or backwards."""
    last = parts[-1] if parts else None
    if last is not None and begin <= last[1] and last[0] <= end:
        last[0], last[1] = min(last[0], begin), max(last[1], end)
    elif begin < end and not parts.full:
        if len(parts) >= _MOST_READ:
            parts[:] = joined(parts)
            parts.full = len(parts) > _MOST_READ // 2
        if not parts.full:
            parts.append([begin, end])


def joined(parts: list[list[int]]) -> list[list[int]]:
    """The same stretches in order, those that touch as one."""
    whole: list[list[int]] = []
    for begin, end in sorted(parts):
        if whole and begin <= whole[-1][1]:
            whole[-1][1] = max(whole[-1][1], end)
        else:
            whole.append([begin, end])
    return whole


class Source:
    """One context: its name, sizes and mapped text."""

    def __init__(self, index: int) -> None:
        info = _dossier.context_info(index)
        self.index = index
        self.name: str = info["name"] or f"context_{index}"
        self.bytes: int = info["bytes"]
        self.characters: int = info["characters"]
        self.meta: dict[str, Any] | None = info.get("meta")
        self.ascii = self.bytes == self.characters
        self._line_count: int | None = None
        # Begin and end of what code has looked at: in bytes, and of slices in characters.
        self._read, self._slices = Stretches(), Stretches()

    def note_read(self, at: int, length: int) -> None:
        """Code gets to see this part of the text."""
        add_part(self._read, at, at + length)

    def note_slice(self, first: int, end: int) -> None:
        """As `note_read`, in characters."""
        add_part(self._slices, first, end)

    def forget_read(self) -> None:
        self._read, self._slices = Stretches(), Stretches()

    def take_read(self, whole: bool) -> list[tuple[int, int, int]]:
        """Index, first byte and length of each part that was looked at since the last call; all of
        the text if the block went through `context` as a whole."""
        parts, slices = list(self._read), list(self._slices)
        self.forget_read()
        if slices and not whole:
            offsets = self.to_bytes([offset for part in slices for offset in part])
            parts += [offsets[at:at + 2] for at in range(0, len(offsets), 2)]
        if whole:
            return [(self.index, 0, self.bytes)]
        return [(self.index, begin, end - begin) for begin, end in parts]

    @property
    def view(self) -> memoryview:
        return _dossier.context_view(self.index)

    @property
    def line_count(self) -> int:
        if self._line_count is None:
            value, _ = ask("line_count", {"ctx": self.index})
            self._line_count = value["count"] if isinstance(value, dict) else int(value)
        return self._line_count

    def whole(self) -> str:
        """The whole text; the worker decodes it once."""
        return _dossier.context_text(self.index)

    def text(self, at: int, length: int) -> str:
        self.note_read(at, length)
        return str(self.view[at:at + length], "utf-8", "replace")

    def to_bytes(self, characters: Sequence[int]) -> list[int]:
        """Byte offsets of these character offsets."""
        if self.ascii:
            return list(characters)
        if self.bytes <= _LOCAL_BYTES:
            text = str(self.view, "utf-8", "replace")  # measured, not shown
            return [len(text[:offset].encode()) for offset in characters]
        return self._convert("char_to_byte", "chars", "bytes", characters)

    def to_characters(self, offsets: Sequence[int]) -> list[int]:
        """Character offsets of these byte offsets."""
        if self.ascii:
            return list(offsets)
        if self.bytes <= _LOCAL_BYTES:
            view = self.view
            return [len(str(view[:offset], "utf-8", "replace")) for offset in offsets]
        return self._convert("byte_to_char", "bytes", "chars", offsets)

    def _convert(self, method: str, given: str, wanted: str, places: Sequence[int]) -> list[int]:
        converted: list[int] = []
        for start in range(0, len(places), _CONVERSIONS):
            some = list(places[start:start + _CONVERSIONS])
            value, _ = ask(method, {"ctx": self.index, given: some})
            converted += value[wanted]
        return converted

    def piece(self, at: int, length: int) -> "Piece":
        return Piece.of(self.text(at, length), [(self.index, at, length)])

    def open(self, at: int = 0, length: int | None = None, **options: Any) -> io.TextIOWrapper:
        """The text as a file object; nothing is copied up front."""
        raw = ContextFile(self, at, self.bytes - at if length is None else length)
        return io.TextIOWrapper(io.BufferedReader(raw, 65536), encoding="utf-8", **options)


class Piece(str):
    """A string cut from a context. Given to a model, only its offsets leave the sandbox."""

    _spans: list[Span]

    @classmethod
    def of(cls, text: str, spans: list[Span]) -> "Piece":
        piece = cls(text)
        piece._spans = spans
        return piece

    def _dossier_spans(self) -> list[Span] | None:
        return getattr(self, "_spans", None)

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)


class ContextFile(io.RawIOBase):
    """The bytes of a context, or a part of one, for `open`."""

    def __init__(self, source: Source, at: int, length: int) -> None:
        super().__init__()
        self._view = source.view[at:at + length]
        self._source, self._at = source, at
        self._position = 0
        self._ahead = _FIRST_READ
        self.name = source.name

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # Readers fetch ahead of what code gets. Little at first, then as much again as was read:
        # so what counts as read stays near what was.
        chunk = self._view[self._position:self._position + min(len(buffer), self._ahead)]
        self._ahead = min(2 * self._ahead, _MOST_AHEAD)
        buffer[:len(chunk)] = chunk
        self._source.note_read(self._at + self._position, len(chunk))
        self._position += len(chunk)
        return len(chunk)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: len(self._view)}[whence]
        self._position = max(0, base + offset)
        return self._position

    def tell(self) -> int:
        return self._position
