"""stdout, stderr and stdin of code.

What a thread prints that an earlier block left running is no output of the block that runs now: it
goes into a note, as output between two blocks does.
"""

import io
import sys
import threading
from typing import Any

import _dossier

_HEAD_BYTES = 200
_LATE_CHARACTERS = 2000


class EarlierThreads(dict[int, threading.Thread | None]):
    """The threads that ran already when the block began, by number; None: one that was started below
    `threading`. Empty for most blocks, which is cheap to ask before anything else."""

    def begin_block(self) -> None:
        known = {thread.ident: thread for thread in threading.enumerate()}
        running = {ident: known.get(ident) for ident in sys._current_frames()
                   if ident != threading.get_ident()}
        self.update(running)
        for ident in self.keys() - running.keys():
            del self[ident]

    def has_current(self) -> bool:
        """Whether the thread that calls is one of them."""
        ident = threading.get_ident()
        if ident not in self:
            return False
        thread = self[ident]  # a new thread may have got the number of one that ended
        return thread is None or thread is threading.current_thread()


class Late:
    """What earlier threads print while a block runs."""

    def __init__(self) -> None:
        self.threads = EarlierThreads()
        self._all = False
        self._text = ""
        self._left_out = 0

    def begin_block(self, streams: "Streams") -> None:
        """What still waits in the streams was printed before the block."""
        self._all = True
        streams.flush()
        self._all = False
        self.threads.begin_block()

    def takes(self) -> bool:
        """Whether what is written now, by the thread that calls, is late."""
        return self._all or (bool(self.threads) and self.threads.has_current())

    def add(self, text: str | bytes) -> int:
        shown = text if isinstance(text, str) else text.decode("utf-8", "replace")
        kept = shown[:max(0, _LATE_CHARACTERS - len(self._text))]
        self._text += kept
        self._left_out += len(shown) - len(kept)
        return len(text)

    def take(self) -> list[str]:
        """A note, or none."""
        text, self._text = self._text, ""
        left_out, self._left_out = self._left_out, 0
        if not text:
            return []
        more = f" … and {left_out:,} more characters" if left_out else ""
        return [f"late output of a thread that an earlier block started: {text}{more}"]


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

    def __init__(self, written: Written, late: Late) -> None:
        super().__init__()
        self._written = written
        self._late = late

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        data, written = bytes(data), self._written
        if self._late.takes():
            return self._late.add(data)
        if len(written.head) < _HEAD_BYTES:
            written.head += data[:_HEAD_BYTES]
        written.count += len(data)
        _dossier.write(written.stream, data)
        return len(data)


class _Buffer(io.BufferedWriter):
    """Keeps bytes of earlier threads out of what others have written and not flushed."""

    def __init__(self, raw: _Raw, late: Late) -> None:
        super().__init__(raw, 8192)
        self._late, self._earlier = late, late.threads
        self._write, self._flush = super().write, super().flush

    def write(self, data: Any) -> int:
        if self._earlier and self._earlier.has_current():
            return self._late.add(bytes(data))
        return self._write(data)

    def flush(self) -> None:
        if not self._earlier or not self._earlier.has_current():
            self._flush()


class _Text(io.TextIOWrapper):
    """As _Buffer, for text."""

    def __init__(self, buffer: _Buffer, late: Late) -> None:
        super().__init__(buffer, encoding="utf-8", errors="backslashreplace", newline="\n",
                         line_buffering=True)
        self._late, self._earlier = late, late.threads
        self._write, self._flush = super().write, super().flush

    def write(self, text: str) -> int:
        if self._earlier and self._earlier.has_current():
            return self._late.add(text)
        return self._write(text)

    def flush(self) -> None:
        if not self._earlier or not self._earlier.has_current():
            self._flush()


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
        self.late = Late()
        self._texts: dict[str, io.TextIOWrapper] = {}
        self._stdin = _NoInput()

    def begin(self) -> bool:
        """Starts a block; True if one of the streams had been replaced."""
        replaced = self.put_back()
        self.late.begin_block(self)
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
            raw = _Raw(written, self.late)
            text = self._texts[name] = _Text(_Buffer(raw, self.late), self.late)
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
