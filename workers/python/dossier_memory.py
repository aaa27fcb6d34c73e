"""memory_search, memory_get and memory_write: what earlier runs left, and what this one leaves.

    for hit in memory_search("linker error", k=5):
        print(hit["id"], hit["text"])
    memory_write("The cluster wants icpx", tags=["build"])

They exist only in a run that was given a memory store.
"""

from collections.abc import Callable, Iterable
from typing import Any

from dossier_bridge import ask


def make_memory() -> dict[str, Callable[..., Any]]:
    """The functions for the namespace of code."""

    def memory_search(query: str, k: int = 10) -> list[dict[str, Any]]:
        """The best records for a query, best first: dicts with id, text, tags, time, score."""
        return list(ask("memory_search", {"query": query, "k": k})[0]["hits"])

    def memory_get(id: int) -> dict[str, Any] | None:  # noqa: A002
        """One record, its text whole; None if there is none."""
        return ask("memory_get", {"id": id})[0]["record"]

    def memory_write(text: str, tags: str | Iterable[str] = ()) -> int:
        """Keeps a text for later runs; returns its id. The same text is kept once."""
        listed = [tags] if isinstance(tags, str) else list(tags)
        return ask("memory_write", {"text": text, "tags": listed})[0]["id"]

    return {function.__name__: function for function in
            (memory_search, memory_get, memory_write)}
