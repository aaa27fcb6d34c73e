"""sql: one statement that reads, over the records and the SQLite files of the context.

    sql("SELECT kind, count(*) AS n FROM records GROUP BY kind ORDER BY n DESC LIMIT 3")
    sql("SELECT * FROM records WHERE price > ?", 100)[0]["name"]

SQLite runs in this process (workers/process/sql.h); what it may do is decided there.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import _dossier

from dossier_text import Source


class SQLError(ValueError):
    """What is wrong with a query, or why it was refused."""


def run(query: str, params: Sequence[Any]) -> list[dict[str, Any]]:
    """The rows of a query, which is not told of."""
    try:
        return _dossier.sql(query, [_plain(value) for value in params])
    except _dossier.BridgeError as error:
        kind = MemoryError if error.code == "limit" else SQLError
        raise kind(str(error.message)) from None


def make_sql(sources: Sequence[Source], features: Mapping[str, Any],
             note: Callable[[str, Sequence[Any], float], None]) -> Callable[..., Any]:
    """The function for the namespace of code. `note` is told what ran and how many seconds it took."""
    schemas = frozenset(features.get("sql_schemas") or ())

    def sql(query: str, *params: Any) -> list[dict[str, Any]]:
        """The rows of one SELECT as dicts, at most 10,000; `?` stands for a parameter."""
        if len(params) == 1 and isinstance(params[0], (list, tuple)):
            params = tuple(params[0])
        begin = time.monotonic()
        rows = run(str(query), params)
        note(str(query), params, time.monotonic() - begin)
        for source in sources:
            if source.index in schemas:  # all that there is of an SQLite file as text
                source.note_read(0, source.bytes)
        return rows

    return sql


def _plain(value: Any) -> Any:
    """A parameter as SQLite takes it."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, (str, int, float)):
        return next(kind(value) for kind in (str, int, float) if isinstance(value, kind))
    return value.isoformat(" ") if hasattr(value, "hour") else \
        value.isoformat() if hasattr(value, "isoformat") else value
