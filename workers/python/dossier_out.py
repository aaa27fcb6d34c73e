"""Files for the user: save_file(name, data), and open("/out/NAME", "w").

Nothing of the folder is here: what is written goes to the host, which checks the name and counts the
bytes. It cannot be read back.
"""

import io
import re
from collections.abc import Callable
from typing import Any

from dossier_bridge import as_text, ask

_FOLDER = re.compile(r"/out/|(\./)?out/")
_PIECE = 1 << 20  # bytes of one call


def out_name(file: Any) -> str | None:
    """The name below /out that a path means; None for any other."""
    path = file if isinstance(file, str) else str(file) if hasattr(file, "__fspath__") else ""
    found = _FOLDER.match(path)
    return path[found.end():] if found else None


class _Writer(io.RawIOBase):
    """A file that only grows."""

    def __init__(self, name: str, append: bool) -> None:
        self.name = name
        self._size = 0
        self._append = append
        self.write(b"")  # an empty file is a file; a wrong name is told at once

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        for at in range(0, max(len(view), 1), _PIECE):
            piece = bytes(view[at:at + _PIECE])
            if piece or not self._size:
                ask("out_file", {"name": self.name, "append": self._append}, piece)
            self._append = True
        self._size += len(view)
        return len(view)

    def tell(self) -> int:
        return self._size


def open_out(name: str, mode: str, encoding: str | None, errors: str | None,
             newline: str | None) -> Any:
    """What open("/out/NAME", mode) gives."""
    kinds = set(mode) - set("bt")
    if len(kinds) != 1 or kinds - set("wax"):
        raise PermissionError(f"/out/{name} can only be written: open it with mode 'w' or 'a'")
    buffered = io.BufferedWriter(_Writer(name, "a" in kinds), _PIECE)
    if "b" in mode:
        return buffered
    text = io.TextIOWrapper(buffered, encoding=encoding or "utf-8", errors=errors, newline=newline)
    text.mode = mode
    return text


def make_out() -> Callable[..., Any]:
    """The function for the namespace of code."""

    def save_file(name: str, data: Any) -> str:
        """Writes a text, bytes, or anything as JSON to a file for the user; gives its name."""
        name = str(name)
        name = name if (below := out_name(name)) is None else below
        content = bytes(data) if isinstance(data, (bytes, bytearray, memoryview)) \
            else as_text(data).encode("utf-8", "backslashreplace")
        _Writer(name, append=False).write(content)
        return name

    return save_file
