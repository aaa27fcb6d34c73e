"""Large text on its way to the child: in sealed memory, which is mapped there and never copied into a line."""

from __future__ import annotations

import mmap
import os
from typing import Any

_LARGE = 1 << 20  # bytes; smaller text goes into the message

try:
    from fcntl import F_ADD_SEALS, F_SEAL_GROW, F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_WRITE, fcntl
except ImportError:  # Python 3.9 has them where the system does
    F_ADD_SEALS = 0


class SealedText:
    """A file in memory that nobody can change, named by /proc. It is gone when this object is."""

    def __init__(self, data: bytes) -> None:
        flags = getattr(os, "MFD_CLOEXEC", 1) | getattr(os, "MFD_ALLOW_SEALING", 2)
        self._fd = os.memfd_create("dossier-text", flags)
        view = memoryview(data)
        while view:
            view = view[os.write(self._fd, view):]
        if F_ADD_SEALS:
            fcntl(self._fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

    @property
    def path(self) -> str:
        return f"/proc/{os.getpid()}/fd/{self._fd}"

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        self.close()


class Mail:
    """Memory that a session of ours reads and nobody but us writes, of a size that nobody can change.

    Text lies in it while a block runs, and is decoded there at once: no other way is as short.
    """

    SIZE = 512 << 20  # bytes; only what is written takes memory

    def __init__(self) -> None:
        flags = getattr(os, "MFD_CLOEXEC", 1) | getattr(os, "MFD_ALLOW_SEALING", 2)
        self._fd = os.memfd_create("dossier-mail", flags)
        os.ftruncate(self._fd, self.SIZE)
        if F_ADD_SEALS:
            fcntl(self._fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
        self._map: mmap.mmap | None = None  # made when it is first written to
        self._used = 0

    @property
    def wire(self) -> dict[str, Any]:
        return {"path": f"/proc/{os.getpid()}/fd/{self._fd}", "bytes": self.SIZE}

    def put(self, data: bytes) -> tuple[int, int] | None:
        """Where it lies; None: there is no room for it."""
        if self._used + len(data) > self.SIZE:
            return None
        if self._map is None:
            self._map = mmap.mmap(self._fd, self.SIZE)
        at = self._used
        self._map[at:at + len(data)] = data
        self._used += -(-len(data) // mmap.PAGESIZE) * mmap.PAGESIZE
        return at, len(data)

    def clear(self) -> None:
        if self._used and self._map is not None:
            self._map.madvise(getattr(mmap, "MADV_REMOVE", 9), 0, self._used)
            self._used = 0

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            if self._map is not None:
                self._map.close()
            os.close(fd)

    def __del__(self) -> None:
        self.close()


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def is_large(text: str) -> bool:
    return len(text) > _LARGE or (len(text) * 4 > _LARGE and len(encode(text)) > _LARGE)


def wire_of(text: str) -> tuple[dict[str, Any], SealedText | None]:
    """How a text stands in a message, and what must live until the answer is there."""
    if not is_large(text):
        return {"text": text}, None
    sealed = SealedText(encode(text))
    return {"path": sealed.path}, sealed
