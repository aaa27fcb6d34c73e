"""What the host keeps outside of the prompt: `history`, the messages of the conversation that no longer
stand there, and memory_search, memory_get and memory_write, what earlier runs left and what this one leaves.

    for hit in memory_search("linker error", k=5):
        print(hit["id"], hit["text"])
    memory_write("The cluster wants icpx", tags=["build"])

A message is asked for when code names it. Those that are there never change, new ones come behind. The
functions of memory exist only in a run that was given a memory store.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dossier_bridge import ask, blob, number


class History(Sequence):
    """A read-only list of texts, each opened by a line such as `[output of turn 3]`."""

    __slots__ = ("_texts",)

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def __len__(self) -> int:
        return number(ask("history", {})[0], "count")

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._text(place) for place in range(*index.indices(len(self)))]
        count = len(self)
        place = index.__index__()
        if not -count <= place < count:
            raise IndexError(f"history holds {count} messages; there is no history[{place}]")
        return self._text(place % count)

    def __repr__(self) -> str:
        return f"<history: {len(self)} messages that are no longer in the conversation>"

    def _text(self, place: int) -> str:
        if place not in self._texts:
            value, raw = ask("history", {"at": place})
            self._texts[place] = blob(value["text"], raw)
        return self._texts[place]


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
