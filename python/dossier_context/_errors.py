"""What can go wrong: one class for each exit code of the command (`dossier help exit-codes`)."""

from __future__ import annotations

from typing import Any, Mapping


class DossierError(Exception):
    """A call that failed. Its text names the thing and the way out.

    code     the name of the failure, such as "not_found"
    exit     the exit code that the command has for it
    hint     the way out alone, or ""
    partial  what is in hand all the same: an Answer, of a value its repr, or None
    """

    exit = 1

    def __init__(self, message: str, *, code: str = "failed", exit: int | None = None, hint: str = "",
                 partial: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.exit = type(self).exit if exit is None else exit
        self.hint = hint
        self.partial = partial


class UsageError(DossierError):
    """An argument that the call cannot have."""
    exit = 2


class ValueUnavailable(UsageError):
    """A value of the session that JSON cannot hold exactly. `partial` is its repr."""


class ConfigError(DossierError):
    """Configuration, schema, an unknown model; a command that is missing or of another version."""
    exit = 3


class NotFoundError(DossierError):
    """A file, context, run or session that is missing, unreadable or damaged."""
    exit = 4


class AuthError(DossierError):
    """No key, or one that the provider refused."""
    exit = 5


class RateLimitError(DossierError):
    """The provider's rate limit, after all retries."""
    exit = 6


class DeadlineError(DossierError):
    """A deadline or the time of a run passed, or silence lasted too long. `partial` has the answer so far."""
    exit = 7


class NetworkError(DossierError):
    """Host, connection or a reply that is none."""
    exit = 8


class TooLongError(DossierError):
    """The context does not fit the model's window."""
    exit = 9


class LimitError(DossierError):
    """A limit of calls, tokens, money or turns is used up. `partial` has the answer so far."""
    exit = 10


class SchemaError(DossierError):
    """The answer does not fit the schema."""
    exit = 11


class RefusedError(DossierError):
    """Policy or sandbox do not allow it here."""
    exit = 12


class Cancelled(DossierError):
    """The call was cancelled."""
    exit = 130


_BY_EXIT = {kind.exit: kind for kind in (
    UsageError, ConfigError, NotFoundError, AuthError, RateLimitError, DeadlineError, NetworkError, TooLongError,
    LimitError, SchemaError, RefusedError, Cancelled)}


def error_of(sent: Mapping[str, Any]) -> DossierError:
    """The exception for the `error` of a message; `partial` is still as it was sent."""
    number = int(sent.get("exit") or 1)
    kind = _BY_EXIT.get(number, DossierError)
    return kind(str(sent.get("message", "")), code=str(sent.get("code", "failed")), exit=number,
                hint=str(sent.get("hint") or ""), partial=sent.get("partial"))
