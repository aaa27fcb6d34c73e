"""open("events.ndjson") reads the context: what models do by habit, works.

`open`, `io.open`, `os.stat`, `os.listdir` and what is built on them (pathlib, csv, os.path.exists,
glob) know the documents of the context by name or by a path that ends in it. Writing goes to /tmp,
where nothing can be deleted, renamed or made a folder: it is gone with the session.
"""

import builtins
import io
import os
import stat
from collections.abc import Callable, Sequence
from typing import Any

from dossier_loader import when_imported
from dossier_out import open_out, out_name
from dossier_text import ContextFile, Source


_PACKED = (".gz", ".zst", ".bz2", ".xz", ".lz4")


def find_sources(sources: Sequence[Source], path: str) -> list[Source]:
    """The documents that a name or path may mean: one, none, or all of the same base name."""
    path = path.removeprefix("./")
    for source in sources:
        if source.name == path or path.endswith("/" + source.name):
            return [source]
    base = path.rsplit("/", 1)[-1]
    if not base:
        return []
    found = [source for source in sources if source.name.rsplit("/", 1)[-1] == base]
    # A compressed file is read unpacked: orders.csv.gz is orders.csv as well.
    return found or [source for source in sources
                     if source.name.rsplit("/", 1)[-1] in [base + end for end in _PACKED]]


class Files:
    """The context's documents as files. `install` changes builtins, io, os; `remove` undoes it."""

    def __init__(self, sources: Sequence[Source],
                 note_stand_in: Callable[[str], None] | None = None, out: bool = False) -> None:
        """With `note_stand_in` (small models) a made-up relative name opens the only document.

        There is no other file to read, a small model invents names such as data.json, and what it
        writes behind the open is mostly right. The note says what was opened instead.
        """
        self._note_stand_in = note_stand_in
        self._out = out   # whether /out is the folder of --out-dir
        self._sources = sources   # those of the current question
        self._saved: list[tuple[Any, str, Any]] = []

    def find(self, path: Any) -> Source | None:
        """The document that a path names; None for an ambiguous base name."""
        try:
            path = os.fspath(path)
        except TypeError:
            return None
        named = find_sources(self._sources, path) if isinstance(path, str) else []
        return named[0] if len(named) == 1 else None

    def _stand_in(self, file: Any, mode: str) -> Source | None:
        if self._note_stand_in is None or len(self._sources) != 1 or set(mode) & set("wax+"):
            return None
        if not isinstance(file, str) or not file or file.startswith("/"):
            return None
        source = self._sources[0]
        self._note_stand_in(f"There is no file {file[:60]!r}; open gave {source.name!r}, the "
                            "context. `records` holds its rows already.")
        return source

    def open(self, file: Any, mode: str = "r", buffering: int = -1, encoding: str | None = None,
             errors: str | None = None, newline: str | None = None, closefd: bool = True,
             opener: Any = None) -> Any:
        """Opens a document of the context, a file in /tmp, or one to write in /out."""
        if self._out and (name := out_name(file)) is not None:
            return open_out(name, mode, encoding, errors, newline)
        source = self.find(file) or self._stand_in(file, mode)
        if source is None:
            return self._real_open(file, mode, buffering, encoding, errors, newline, closefd,
                                   opener)
        if set(mode) & set("wax+"):
            raise PermissionError(f"{source.name!r} is the context and cannot be written; keep "
                                  "results in variables")
        if "b" in mode:
            return io.BufferedReader(ContextFile(source, 0, source.bytes), 65536)
        encoding = "utf-8-sig" if encoding and "sig" in encoding else "utf-8"
        text = io.TextIOWrapper(io.BufferedReader(ContextFile(source, 0, source.bytes), 65536),
                                encoding=encoding, errors="replace", newline=newline)
        text.mode = mode
        return text

    def install(self) -> None:
        self._real_open = io.open
        self._swap(io, "open", _plain(self.open))
        self._swap(builtins, "open", io.open)
        self._swap(os, "stat", self._stat(os.stat))
        self._swap(os, "lstat", self._stat(os.lstat))
        self._swap(os, "access", self._access(os.access))
        self._swap(os, "listdir", self._listdir(os.listdir))
        if self._out:
            self._swap(os, "mkdir", _out_exists(os.mkdir))
            self._swap(os, "makedirs", _out_exists(os.makedirs))
        when_imported("tempfile", self._install_tempfile)

    def _install_tempfile(self, tempfile: Any) -> None:
        self._swap(tempfile, "tempdir", "/tmp")  # looked for, it would try to delete a file
        self._swap(tempfile, "NamedTemporaryFile", _kept(tempfile.NamedTemporaryFile))
        self._swap(tempfile, "mkdtemp", _no_folder)

    def remove(self) -> None:
        while self._saved:
            owner, name, value = self._saved.pop()
            setattr(owner, name, value)

    def _swap(self, owner: Any, name: str, value: Any) -> None:
        self._saved.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def _stat(self, native: Callable[..., Any]) -> Callable[..., Any]:
        def stat_(path: Any, *args: Any, **options: Any) -> Any:
            source = None if isinstance(path, int) else self.find(path)
            if source is None:
                return native(path, *args, **options)
            return os.stat_result((stat.S_IFREG | 0o444, 0, 0, 1, 0, 0, source.bytes, 0, 0, 0))
        return stat_

    def _access(self, native: Callable[..., bool]) -> Callable[..., bool]:
        def access(path: Any, mode: int, **options: Any) -> bool:
            if self.find(path) is None:
                return native(path, mode, **options)
            return not mode & (os.W_OK | os.X_OK)
        return access

    def _listdir(self, native: Callable[..., list[str]]) -> Callable[..., list[str]]:
        def listdir(path: Any = ".") -> list[str]:
            """The documents of the context; below /tmp the real files."""
            text = "." if path is None else path if isinstance(path, int) else os.fspath(path)
            if isinstance(text, str) and not text.startswith("/tmp"):
                return sorted({source.name.split("/", 1)[0] for source in self._sources})
            return native(path)
        return listdir


def _out_exists(native: Callable[..., None]) -> Callable[..., None]:
    def make_folder(name: Any, *args: Any, **options: Any) -> None:
        """The folder for the user's files is there."""
        if out_name(f"{name}/") != "":
            native(name, *args, **options)
    return make_folder


def _plain(method: Callable[..., Any]) -> Callable[..., Any]:
    def open(file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:  # noqa: A001
        """Opens a document of the context, or a file in /tmp."""
        return method(file, mode, *args, **options)
    return open


def _kept(native: Callable[..., Any]) -> Callable[..., Any]:
    def NamedTemporaryFile(*args: Any, **options: Any) -> Any:  # noqa: N802
        """A file in /tmp; it stays until the session ends, also with delete=True."""
        return native(*args[:7], **{**options, "delete": False})
    return NamedTemporaryFile


def _no_folder(*_args: Any, **_options: Any) -> str:
    raise PermissionError("no folders can be made here: use tempfile.NamedTemporaryFile(), "
                          "io.StringIO() or variables")
