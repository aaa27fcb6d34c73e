"""cite: where a part of the data stands, as an answer may carry it.

    for line in doc.grep("refund"):
        print(line, cite(doc[line.start:line.end]))    # [letters.txt:12]

An answer with such references is checked by the caller, quote by quote (--citations).
"""

from collections.abc import Callable, Sequence
from typing import Any

from dossier_bridge import ask, number, spans_of
from dossier_text import Source


class Reference(str):
    """`[name:12-30]`: the lines, counted from 1. `.bytes` are first and last byte, the last excluded."""

    document = ""
    bytes: tuple[int, int] = (0, 0)
    lines: tuple[int, int] = (0, 0)


def make_cite(sources: Sequence[Source]) -> Callable[[Any], Reference]:
    """The function for the namespace of code, a name that it may take for its own."""
    names = {source.index: source.name for source in sources}

    def cite(part: Any) -> Reference:
        """The reference to a slice of `doc` or `records`, or to a text that stands once in the data."""
        spans = spans_of(part)
        if spans is None:
            if not isinstance(part, str) or not part.strip():
                raise TypeError("cite takes a slice, such as cite(doc[120:180]) or cite(records[3:4]), or a "
                                "text of the data")
            spans = [_place_of(part, names)]
        spans = [span for span in spans if span[2] > 0]
        if not spans:
            raise ValueError("cite: the slice is empty")
        index, first, _ = spans[0]
        end = spans[-1][1] + spans[-1][2]
        if any(span[0] != index for span in spans):
            raise ValueError("cite: the slice reaches over several documents; cite each part of it")
        lines = tuple(ask("locate", {"ctx": index, "byte": at})[0]["line"] + 1 for at in (first, end - 1))
        shown = str(lines[0]) if lines[0] == lines[1] else f"{lines[0]}-{lines[1]}"
        reference = Reference(f"[{names[index]}:{shown}]")
        reference.document, reference.bytes, reference.lines = names[index], (first, end), lines
        return reference

    return cite


def _place_of(text: str, names: dict[int, str]) -> tuple[int, int, int]:
    counts = {index: number(ask("count", {"ctx": index, "text": text})[0], "count") for index in names}
    total = sum(counts.values())
    if total != 1:
        raise ValueError(f"cite: the text stands {total:,} times in the data; cite a slice of `doc`, or a "
                         "text that stands there once")
    index = next(index for index, count in counts.items() if count)
    at = number(ask("find", {"ctx": index, "text": text})[0], "at")
    return index, at, len(text.encode())
