"""Dossier for Python: questions over data of any size, and a walled interpreter.

    import dossier_context as dossier

    answer = dossier.ask("Which customer pays most?", "export.ndjson", max_usd=0.5)
    print(answer.text, answer.cost_usd)

Importing starts nothing. The first call starts one child, `dossier rpc`, which all threads share and
which ends with this process. Nothing here is bound to a thread or an event loop.
"""

from __future__ import annotations

TYPE_CHECKING = False  # what type checkers take for true; typing itself would cost half of the import

__version__ = "0.1.0"

if TYPE_CHECKING:
    from ._answers import (Answer, Citation, CodeFault, Estimate, Event, Field, Finished, Hit, Output, Passage,
                           Range, Table, Text, Usage)
    from ._api import Context, Session, Stream, aask, ask, stream
    from ._errors import (AuthError, Cancelled, ConfigError, DeadlineError, DossierError, LimitError,
                          NetworkError, NotFoundError, RateLimitError, RefusedError, SchemaError, TooLongError,
                          UsageError, ValueUnavailable)
    from .rlm import RLM

# Where each public name lies. They are loaded when first used, so that an import costs nothing.
_HOMES = {
    "_api": ("Context", "Session", "Stream", "aask", "ask", "stream"),
    "_answers": ("Answer", "Citation", "CodeFault", "Estimate", "Event", "Field", "Finished", "Hit", "Output",
                 "Passage", "Range", "Table", "Text", "Usage"),
    "_errors": ("AuthError", "Cancelled", "ConfigError", "DeadlineError", "DossierError", "LimitError",
                "NetworkError", "NotFoundError", "RateLimitError", "RefusedError", "SchemaError",
                "TooLongError", "UsageError", "ValueUnavailable"),
    "rlm": ("RLM",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME_OF)]


def __getattr__(name: str) -> object:
    module = _HOME_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module
    value = getattr(import_module("." + module, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *_HOME_OF]
