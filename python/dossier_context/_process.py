"""The child that does the work, `dossier rpc`, and the requests that are open at it.

One child a process, started by the first call, shared by all threads. It ends when this process does,
for its input ends then. A forked process forgets it and starts its own.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import tempfile
import threading
import weakref
from concurrent.futures import Future
from typing import Any, Callable, Mapping

from . import __version__
from ._errors import Cancelled, ConfigError, DossierError, UsageError, error_of
from ._values import checked

_LONGEST_LINE = 64 << 20  # bytes, either way

Function = Callable[[Mapping[str, Any], list], Any]  # gets arguments by name, and the rest


class Request:
    """One request: its future, what it is told meanwhile, the functions that it may call."""

    def __init__(self, child: "Child", number: int, functions: Mapping[str, Function] | None,
                 on_event: Callable[[Mapping[str, Any]], None] | None) -> None:
        self.child, self.number = child, number
        self.functions = functions if functions is not None else {}
        self.on_event = on_event
        self.future: Future = Future()

    def result(self) -> Any:
        """Waits. An interrupt of the wait, such as Ctrl-C, cancels this request and no other."""
        try:
            return self.future.result()
        except BaseException:
            self.cancel()
            raise

    def cancel(self) -> None:
        if not self.future.done():
            self.child.tell_cancel(self.number)


_children: weakref.WeakSet[Child] = weakref.WeakSet()  # all of this process, also those with a key of their own


class Child:
    """A running `dossier rpc`."""

    def __init__(self, command: list[str], environment: Mapping[str, str] | None = None) -> None:
        self._lock = threading.Lock()         # guards the numbers and what is open
        self._writing = threading.Lock()      # a line at a time
        self._next = 0
        self._open: dict[int, Request] = {}
        self._ended: str | None = None        # why
        self._said = tempfile.TemporaryFile()
        try:
            # A session of its own: Ctrl-C at the terminal is for this process, which then cancels.
            self._process = subprocess.Popen(
                [*command, "rpc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, bufsize=0,
                start_new_session=True, env={**os.environ, **(environment or {})})
        except OSError as error:
            raise ConfigError(f"{command[0]} cannot be started: {error.strerror}; DOSSIER_BIN names another",
                              code="config") from None
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._buffer, self._searched = self._process.stdin, bytearray(), 0
        self.hello = self._read_hello(command[0])
        threading.Thread(target=self._read, name="dossier-rpc", daemon=True).start()
        _children.add(self)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._ended is None

    def begin(self, method: str, params: Mapping[str, Any], functions: Mapping[str, Function] | None = None,
              on_event: Callable[[Mapping[str, Any]], None] | None = None) -> Request:
        with self._lock:
            self._next += 1
            request = Request(self, self._next, functions, on_event)
            if self._ended is None:
                self._open[request.number] = request
        if self._ended is not None and not request.future.done():
            request.future.set_exception(DossierError(self._ended, code="died"))
            return request
        try:
            for name, value in params.items():
                checked(value, name)
            self._write({"id": request.number, "method": method, "params": params})
        except BaseException as error:  # what was not written has no answer to wait for
            with self._lock:
                self._open.pop(request.number, None)
            if not isinstance(error, OSError):
                raise
            self._end(f"the command is gone ({error.strerror})")
            if not request.future.done():
                request.future.set_exception(DossierError(self._ended or "", code="died"))
        return request

    def call(self, method: str, params: Mapping[str, Any], functions: Mapping[str, Function] | None = None) -> Any:
        return self.begin(method, params, functions).result()

    def tell_later(self, method: str, params: Mapping[str, Any]) -> None:
        """From a finalizer, which may run in the middle of any call of this thread: it must not write itself."""
        if self.alive:
            try:
                threading.Thread(target=self.begin, args=(method, params), daemon=True).start()
            except RuntimeError:
                pass  # the interpreter ends, and with it the child

    def tell_cancel(self, number: int) -> None:
        with self._lock:
            self._next += 1
            own = self._next
        try:
            self._write({"id": own, "method": "cancel", "params": {"id": number}})
        except OSError:
            pass  # gone: the reader says so to all that wait

    def close(self) -> None:
        """Ends the child, and all that it works on."""
        self._end("the command was closed")
        try:
            self._in.close()
        except OSError:
            pass
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def forget(self) -> None:
        """In a forked process: this end of the pipes is the parent's alone."""
        for stream in (self._in, self._process.stdout, self._said):
            if stream is not None:
                stream.close()
        self._process.returncode = 0  # nobody here waits for it, and no warning says so
        # Another thread of the parent may have held them, and what it waits for is not answered here.
        self._lock, self._writing, self._open = threading.Lock(), threading.Lock(), {}
        self._ended = "this process was forked"

    def _write(self, message: Mapping[str, Any]) -> None:
        line = json.dumps(message, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n"
        if len(line) > _LONGEST_LINE:
            raise UsageError(f"a message of {len(line):,} bytes: at most {_LONGEST_LINE:,} fit; give large text "
                             "as a file or as a context", code="usage")
        with self._writing:
            view = memoryview(line)
            while view:
                view = view[self._in.write(view):]

    def _read_hello(self, command: str) -> Mapping[str, Any]:
        line = self._read_line()
        try:
            hello = json.loads(line)
            version = hello["version"]
        except (ValueError, KeyError, TypeError):
            self._process.kill()
            self._process.wait()
            raise ConfigError(f"{command} is no dossier command that has rpc: {self._last_words() or 'it said nothing'}"
                              f"; DOSSIER_BIN names another", code="config") from None
        if version != __version__:
            self._process.kill()
            self._process.wait()
            raise ConfigError(f"{command} has version {version}, and dossier_context {__version__}: install the same "
                              f"version of both; DOSSIER_BIN names another command", code="config")
        return hello

    def _read_line(self) -> bytes:
        """The next line; nothing at the end. Without a lock that a fork could leave held."""
        assert self._process.stdout is not None
        while True:
            at = self._buffer.find(b"\n", self._searched)
            if at >= 0:
                line = bytes(self._buffer[:at + 1])
                del self._buffer[:at + 1]
                self._searched = 0
                return line
            self._searched = len(self._buffer)
            data = os.read(self._process.stdout.fileno(), 1 << 20)
            if not data:
                return b""
            self._buffer += data

    def _read(self) -> None:
        while True:
            try:
                line = self._read_line()
            except (OSError, ValueError):
                line = b""
            if not line:
                return self._end(f"the command ended ({self._last_words() or 'without a word'})")
            try:
                self._take(json.loads(line))
            except Exception as error:  # a line that is none, or a listener that fails: the rest goes on
                threading.excepthook(threading.ExceptHookArgs((type(error), error, error.__traceback__, None)))

    def _take(self, message: Mapping[str, Any]) -> None:
        with self._lock:
            request = self._open.get(message.get("id"))  # type: ignore[arg-type]
            if request is not None and ("result" in message or "error" in message):
                del self._open[request.number]
        if "call" in message:
            threading.Thread(target=self._serve, args=(request, message), daemon=True).start()
        elif request is None:
            if message.get("id") is None and "error" in message:
                self._refused(error_of(message["error"]))
        elif "event" in message:
            if request.on_event is not None:
                request.on_event(message["event"])
        elif not request.future.done():
            if "error" in message:
                request.future.set_exception(error_of(message["error"]))
            else:
                request.future.set_result(message["result"])

    def _serve(self, request: Request | None, message: Mapping[str, Any]) -> None:
        """A function of ours is called."""
        reply: dict[str, Any] = {"reply": message["call"]}
        try:
            if request is None or message["name"] not in request.functions:
                raise LookupError(f"there is no function {message['name']}")
            value = request.functions[message["name"]](message.get("args") or {}, message.get("rest") or [])
            self._write({**reply, "value": checked(value, f"what {message['name']} gave")})
        except OSError:
            return
        except BaseException as error:
            if request is not None and not isinstance(error, Exception):
                request.cancel()  # an interrupt or an exit is for the caller, not for the code
                if not request.future.done():
                    request.future.set_exception(error)
            try:
                said = str(error).encode("utf-8", "backslashreplace").decode()
                self._write({**reply, "error": {"type": type(error).__name__, "message": said}})
            except OSError:
                pass

    def _refused(self, error: DossierError) -> None:
        """A line of ours was none to the command, which cannot say whose it was: all that wait are told."""
        with self._lock:
            waiting, self._open = list(self._open.values()), {}
        for request in waiting:
            if not request.future.done():
                request.future.set_exception(error)

    def _end(self, why: str) -> None:
        with self._lock:
            if self._ended is None:
                self._ended = why
            waiting, self._open = list(self._open.values()), {}
        for request in waiting:
            if not request.future.done():
                request.future.set_exception(DossierError(self._ended, code="died"))

    def _last_words(self) -> str:
        try:
            size = os.fstat(self._said.fileno()).st_size
            return os.pread(self._said.fileno(), 2000, max(0, size - 2000)).decode("utf-8", "replace").strip()
        except (OSError, ValueError):
            return ""


def find_command() -> list[str]:
    """DOSSIER_BIN, else the command that this package brought, else the one on PATH."""
    named = os.environ.get("DOSSIER_BIN")
    if named:
        if shutil.which(named) is None:
            raise ConfigError(f"DOSSIER_BIN is {named}, which is no program", code="config")
        return [named]
    import sysconfig
    for scheme in {sysconfig.get_path("scripts"), os.path.join(sysconfig.get_config_var("userbase") or "", "bin")}:
        own = os.path.join(scheme or "", "dossier")
        if os.access(own, os.X_OK) and _is_program(own):
            return [own]
    for folder in os.get_exec_path():
        found = os.path.join(folder, "dossier")
        if os.access(found, os.X_OK) and not os.path.isdir(found) and _is_program(found):
            return [found]
    raise ConfigError("there is no command dossier: install it, or say by DOSSIER_BIN where it is", code="config")


def _is_program(path: str) -> bool:
    """Not the script of this package, which would look for itself."""
    try:
        with open(path, "rb") as file:
            return b"dossier_context" not in file.read(4096)
    except OSError:
        return False


_child: Child | None = None
_starting = threading.Lock()


def child() -> Child:
    """The child of this process, started if there is none."""
    global _child
    running = _child
    if running is not None and running.alive:
        return running
    with _starting:
        if _child is None or not _child.alive:
            _child = Child(find_command())
        return _child


def _forget() -> None:
    global _child, _starting
    _starting = threading.Lock()
    for running in list(_children):
        running.forget()
    _children.clear()
    _child = None


def _close() -> None:
    if _child is not None:
        _child.close()


os.register_at_fork(after_in_child=_forget)
atexit.register(_close)
