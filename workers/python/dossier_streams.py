"""stdout, stderr and stdin of code."""

import io
import sys
from typing import Any

import _dossier

_HEAD_CHARACTERS = 200


class _Raw(io.RawIOBase):
    """Hands bytes to the host; keeps the first ones and the count of a block."""

    def __init__(self, stream: int) -> None:
        super().__init__()
        self._stream = stream
        self.begin()

    def begin(self) -> None:
        self.written = 0
        self.head = b""

    def close(self) -> None:
        """Code may close sys.stdout; the way to the host stays open."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        data = bytes(data)
        if len(self.head) < _HEAD_CHARACTERS:
            self.head += data[:_HEAD_CHARACTERS]
        self.written += len(data)
        _dossier.write(self._stream, data)
        return len(data)


class _NoInput(io.TextIOBase):
    """stdin: nobody types (SBX-54)."""

    def _refuse(self, *_args: Any) -> Any:
        raise EOFError("stdin: there is no input here; use context, records or open(name)")

    read = readline = readlines = __next__ = _refuse  # type: ignore[assignment]

    def readable(self) -> bool:
        return True


class Streams:
    """Puts our streams into `sys`; again before each block, should code have replaced them."""

    def __init__(self) -> None:
        self.out, self.err = _Raw(1), _Raw(2)
        self._texts: dict[str, io.TextIOWrapper] = {}
        self._stdin = _NoInput()

    def begin(self) -> bool:
        """Starts a block; True if one of the streams had been replaced."""
        replaced = self.put_back()
        self.out.begin()
        self.err.begin()
        return replaced

    def put_back(self) -> bool:
        replaced = False
        for name, raw in (("stdout", self.out), ("stderr", self.err)):
            text = self._texts.get(name)
            if text is None or text.closed:
                text = self._texts[name] = _text(raw)
            replaced = replaced or getattr(sys, name, None) is not text
            setattr(sys, name, text)
            setattr(sys, f"__{name}__", text)
        sys.stdin = sys.__stdin__ = self._stdin  # type: ignore[misc,assignment]
        return replaced

    def flush(self) -> None:
        for text in self._texts.values():
            try:
                text.flush()
            except ValueError:  # closed by code
                pass

    @property
    def printed(self) -> int:
        return self.out.written + self.err.written


def _text(raw: _Raw) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedWriter(raw, 8192), encoding="utf-8",
                            errors="backslashreplace", newline="\n", line_buffering=True)
