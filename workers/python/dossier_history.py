"""`history`: messages of the conversation that no longer stand in the prompt.

A message is asked for when code names it. Those that are there never change, new ones come behind.
"""

from collections.abc import Sequence
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
