"""Large text on its way to the child: in sealed memory, which is mapped there and never copied into a line."""

from __future__ import annotations

import math
import mmap
import os
from typing import Any, Mapping

from ._errors import UsageError

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


_LARGEST_INT = (1 << 63) - 1
_DEEPEST = 50  # levels; the messages around a value take some of the 64 that are read


def checked(value: Any, name: str, largest: float = _LARGEST_INT, depth: int = 0) -> Any:
    """`value`, if JSON carries all of it unchanged. Raises UsageError naming the place and what is there."""
    def wrong(what: str) -> UsageError:
        return UsageError(f"{name}: {what}", code="usage")

    if isinstance(value, str):
        utf8(value, name)
    elif value is None or isinstance(value, bool):
        pass
    elif isinstance(value, int):
        if abs(value) > largest:
            raise wrong(f"an int of {value.bit_length()} bits, and at most 64 with the sign are carried exactly; "
                        "give it as text")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise wrong(f"the float {value!r}, which JSON does not have; give None or text")
    elif depth >= _DEEPEST:
        raise wrong(f"more than {_DEEPEST} levels of lists and dicts in each other")
    elif isinstance(value, Mapping):
        for key, one in value.items():
            if not isinstance(key, str):
                raise wrong(f"the key {key!r} is of type {type(key).__name__}, and JSON has text keys only")
            checked(one, f"{name}[{utf8(key, name + ', a key')!r}]", largest, depth + 1)
    elif isinstance(value, (list, tuple)):
        for at, one in enumerate(value):
            checked(one, f"{name}[{at}]", largest, depth + 1)
    else:
        raise wrong(f"a value of type {type(value).__name__}, which JSON does not have")
    return value


def utf8(text: str, name: str) -> str:
    """`text`, if it can be written as UTF-8. Raises UsageError naming the character that cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(f"{name} is not UTF-8: character {error.start} is the lone surrogate "
                         f"{text[error.start]!r}; text.encode('utf-8', 'replace').decode() drops such", code="usage"
                         ) from None
    return text


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def is_large(text: str) -> bool:
    return len(text) > _LARGE or (len(text) * 4 > _LARGE and len(encode(text)) > _LARGE)


def _is_utf8(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False  # a line cannot have it, memory can
    return True


def wire_of(text: str) -> tuple[dict[str, Any], SealedText | None]:
    """How a text stands in a message, and what must live until the answer is there."""
    if not is_large(text) and _is_utf8(text):
        return {"text": text}, None
    sealed = SealedText(encode(text))
    return {"path": sealed.path}, sealed
