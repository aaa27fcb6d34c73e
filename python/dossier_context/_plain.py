"""A session for another library's interpreter: the names in it are that library's, and code runs as it stands."""

from __future__ import annotations

from typing import Any, Callable, Mapping

from . import _process
from ._errors import DossierError
from ._values import Mail, encode, is_large, wire_of


class Gone(Exception):
    """The interpreter's process is dead, and its names with it."""


class PlainSession:
    """One interpreter. After Gone it stays gone. Thread-safety: one call of `run` at a time."""

    def __init__(self, limits: Mapping[str, Any] | None = None) -> None:
        self._child = _process.child()
        self._mail = Mail()
        opened = self._child.call("session.open", {"plain": True, "mail": self._mail.wire,
                                                   **({"limits": dict(limits)} if limits else {})})
        self._id: str = opened["session"]
        self._gone = ""

    def run(self, code: str, *, before: str = "", after: str = "", values: Mapping[str, tuple[str, str]] | None = None,
            functions: Mapping[str, Callable[[Mapping[str, Any], list], Any]] | None = None) -> Mapping[str, Any]:
        """The result of `code`, as docs/formats/rpc.md has it. `values`: what names stand for while `before` runs
        and behind it, each a text and its form, "text" or "json"."""
        if self._gone:
            raise Gone(self._gone)
        held, variables, lines = [], {}, []
        for name, (text, form) in (values or {}).items():
            place = self._mail.put(encode(text)) if is_large(text) else None
            if place is not None:
                lines.append(f"{name} = _dossier_mail({place[0]}, {place[1]}, {form!r})")
                continue
            variables[name], sealed = wire_of(text)
            held.append(sealed)
            lines.append(f"{name} = _dossier_fetch({name!r}, {form!r})")
        params = {"session": self._id, "code": code, "before": "\n".join([*lines, before]), "after": after,
                  "variables": variables}
        try:
            result = self._child.call("session.run", params, functions)
        except DossierError as error:
            if error.code in ("died", "not_found", "unavailable", "protocol"):
                self._gone = str(error)
                raise Gone(self._gone) from None
            raise
        finally:
            self._mail.clear()
            for sealed in held:
                if sealed is not None:
                    sealed.close()
        if result["status"] == "died":
            self._gone = result["stopped"] or "the interpreter died"
            self.close()
            raise Gone(self._gone)
        return result

    def get(self, name: str) -> Any:
        """A name's value; what is not JSON as its repr. Raises KeyError."""
        try:
            return self._child.call("session.get", {"session": self._id, "name": name})["value"]
        except DossierError as error:
            raise KeyError(name) from error

    def close(self) -> None:
        if self._id and self._child.alive:
            name, self._id = self._id, ""
            try:
                self._child.call("session.close", {"session": name})
            except DossierError:
                pass
        self._mail.close()
        self._gone = self._gone or "the session was closed"

    def __del__(self) -> None:
        if getattr(self, "_id", ""):
            self._child.tell_later("session.close", {"session": self._id})
