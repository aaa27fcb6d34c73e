"""Large text on its way to the child: in sealed memory, which is mapped there and never copied into a line."""

from __future__ import annotations

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
