"""stdout, stderr and stdin of code."""

import io
import sys
from typing import Any

import _dossier

_HEAD_BYTES = 200


class Written:
    """What one stream got in a block: the count and the first bytes."""

    def __init__(self, stream: int) -> None:
        self.stream = stream
        self.begin()

    def begin(self) -> None:
        self.count = 0
        self.head = b""


class _Raw(io.RawIOBase):
    """Hands bytes to the host. Code may close it; the next block gets a new one."""

    def __init__(self, written: Written) -> None:
        super().__init__()
        self._written = written

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        data, written = bytes(data), self._written
        if len(written.head) < _HEAD_BYTES:
            written.head += data[:_HEAD_BYTES]
        written.count += len(data)
        _dossier.write(written.stream, data)
        return len(data)


class _NoInput(io.TextIOBase):
    """stdin: nobody types."""

    def _refuse(self, *_args: Any) -> Any:
        raise EOFError("stdin: there is no input here; use context, records or open(name)")

    read = readline = readlines = __next__ = _refuse  # type: ignore[assignment]

    def readable(self) -> bool:
        return True


class Streams:
    """Puts our streams into `sys`; again before each block, should code have replaced them."""

    def __init__(self) -> None:
        self.out, self.err = Written(1), Written(2)
        self._texts: dict[str, io.TextIOWrapper] = {}
        self._stdin = _NoInput()

    def begin(self) -> bool:
        """Starts a block; True if one of the streams had been replaced."""
        replaced = self.put_back()
        self.out.begin()
        self.err.begin()
        return replaced

    def put_back(self) -> bool:
        out, err = self._text("stdout", self.out), self._text("stderr", self.err)
        replaced = getattr(sys, "stdout", None) is not out or getattr(sys, "stderr", None) is not err
        sys.stdout = sys.__stdout__ = out  # type: ignore[misc]
        sys.stderr = sys.__stderr__ = err  # type: ignore[misc]
        sys.stdin = sys.__stdin__ = self._stdin  # type: ignore[misc,assignment]
        return replaced

    def _text(self, name: str, written: Written) -> io.TextIOWrapper:
        text = self._texts.get(name)
        if text is None or text.closed:
            text = self._texts[name] = _text(written)
        return text

    def flush(self) -> None:
        for text in self._texts.values():
            try:
                text.flush()
            except ValueError:  # closed by code
                pass

    @property
    def printed(self) -> int:
        return self.out.count + self.err.count


def _text(written: Written) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedWriter(_Raw(written), 8192), encoding="utf-8",
                            errors="backslashreplace", newline="\n", line_buffering=True)
