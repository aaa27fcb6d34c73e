"""Handing in an answer: FINAL, FINAL_VAR, PARTIAL, SUBMIT and the dict `answer`.

A call records its value and stops the block with an exception that only BaseException catches. If
code catches it all the same, the first call stands. `answer` is read when the block has ended.
"""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from dossier_rows import nearest
from dossier_streams import EarlierThreads

_dumps = json.dumps
_loads = json.loads
_MOST_VALUE = 4 << 20  # characters of a value as JSON; its text may be longer
_MAX_DEPTH = 50  # the message around the value takes some of the bridge's 64
_LEAST, _LARGEST = -(1 << 63), (1 << 64) - 1


class Stop(BaseException):
    """Ends a block after its answer was recorded."""


class Answers:
    """The answers of one session: what a block handed in, and the dict `answer`."""

    def __init__(self, namespace: dict[str, Any], variables: Callable[[], list[str]],
                 features: Mapping[str, Any]) -> None:
        self._namespace = namespace
        self._variables = variables
        self._schema_names: list[str] = _schema_names(features)
        self._schema = isinstance(features.get("schema"), Mapping)
        self._offered: dict[str, Any] | None = None
        self._earlier = EarlierThreads()
        self._plain = bool(features.get("plain"))  # `answer` is a name like any other
        if not self._plain:
            namespace["answer"] = {"content": "", "ready": False}

    def begin_block(self, sets_items: bool) -> None:
        """`sets_items`: the block writes answer["..."], so `answer` must be a dict."""
        self._offered = None
        self._earlier.begin_block()
        if sets_items and not self._plain and not isinstance(self._namespace.get("answer"), dict):
            self._namespace["answer"] = {"content": "", "ready": False}

    def offer(self, form: str, value: Any) -> None:
        """Records a value, unless one was handed in before, and stops the block."""
        if self._offered is None and not self._earlier.has_current():
            self._offered = describe(form, value, self._schema)
        raise Stop

    def take(self) -> tuple[dict[str, Any] | None, str | None]:
        """What the block handed in, and the draft. A ready flag counts once."""
        current = None if self._plain else self._namespace.get("answer")
        if not isinstance(current, dict):
            plain = isinstance(current, (str, int, float))
            return self._offered, (_text(current) or None) if plain else None
        content = current.get("content", "")
        filled = content is not None and (not isinstance(content, str) or content != "")
        draft = _text(content) if filled else None
        try:
            ready = bool(current.get("ready"))
        except Exception:  # a value whose truth cannot be told, e.g. of an own class
            ready = False
        if not ready:
            return self._offered, draft
        current["ready"] = False
        if not filled and self._offered is not None:
            return self._offered, None
        return describe("answer_dict", content if filled else "", self._schema), draft

    def functions(self) -> dict[str, Callable[..., Any]]:
        answers, namespace = self, self._namespace

        def FINAL(*values: Any) -> None:  # noqa: N802
            """Hands in the final answer and ends the block."""
            answers.offer("final", answers._one("FINAL", values))

        def PARTIAL(*values: Any) -> None:  # noqa: N802
            """Hands in what is known as a partial answer and ends the block."""
            answers.offer("partial", answers._one("PARTIAL", values))

        def FINAL_VAR(name: Any) -> None:  # noqa: N802
            """Hands in the value of the variable with this name, or the value itself."""
            value = name
            if isinstance(name, str):
                key = name.strip().strip("'\"`")
                if key in namespace:
                    value = namespace[key]
                elif key.isidentifier():
                    raise NameError(answers._unknown(key))
            answers.offer("final_var", answers._one("FINAL_VAR", (value,)))

        def SUBMIT(*values: Any, **fields: Any) -> None:  # noqa: N802
            """Hands in the answer: a value, or the fields of the wanted object."""
            answers.offer("submit", answers._submitted(values, fields))

        return {f.__name__: f for f in (FINAL, FINAL_VAR, PARTIAL, SUBMIT)}

    def _one(self, who: str, values: tuple[Any, ...]) -> Any:
        if not values:
            raise TypeError(f"{who} needs the answer: {who}(value)")
        if len(values) > 1:
            return " ".join(_text(value) for value in values)
        value = values[0]
        if value is None:
            raise ValueError(f"{who}(None) is not an answer: the value is None; print it, "
                             "find out why, then hand in the value")
        if callable(value) or hasattr(value, "__next__"):
            raise ValueError(f"{who}: the value is a {type(value).__name__}, not an answer; call it, "
                             "print what it gives, then hand that in")
        if value is self._namespace.get("answer") and isinstance(value, dict):
            return value.get("content", "")
        return value

    def _unknown(self, name: str) -> str:
        near = nearest(name, self._variables()) or self._variables()[:3]
        known = f"; nearest: {', '.join(near)}" if near else "; no variable is set yet"
        return f"FINAL_VAR: there is no variable {name!r}{known}"

    def _submitted(self, values: tuple[Any, ...], fields: dict[str, Any]) -> Any:
        if self._schema_names:
            if len(values) == 1 and not fields and isinstance(values[0], Mapping):
                return dict(values[0])
            if len(values) > len(self._schema_names):
                raise TypeError(f"SUBMIT takes {len(self._schema_names)} fields: "
                                f"{', '.join(self._schema_names)}")
            return dict(zip(self._schema_names, values)) | fields
        if not values and set(fields) == {"variable"}:
            name = str(fields["variable"])
            if name not in self._namespace:
                raise NameError(self._unknown(name).replace("FINAL_VAR", "SUBMIT"))
            return self._one("SUBMIT", (self._namespace[name],))
        if not values and len(fields) == 1 and next(iter(fields)) in ("answer", "value"):
            values = tuple(fields.values())
            fields = {}
        return fields if fields and not values else self._one("SUBMIT", values)


def _schema_names(features: Mapping[str, Any]) -> list[str]:
    schema = features.get("schema")
    if isinstance(schema, Mapping) and isinstance(schema.get("properties"), Mapping):
        return list(schema["properties"])
    return list(features.get("schema_properties") or [])


def describe(form: str, value: Any, exact: bool = False) -> dict[str, Any]:
    """An answer for the host: its text, and the value where it is JSON and not text. `exact`: a
    schema will be held against the text where numbers are texts in the value, or where the value is
    too large to be handed over beside it."""
    offered: dict[str, Any] = {"form": form, "text": _text(value)}
    if not isinstance(value, str):
        kept = value if is_json(value) else with_numbers_as_text(value)
        dumped = _dumps(kept) if is_json(kept) else None
        crosses = dumped is not None and len(dumped) <= _MOST_VALUE
        if crosses:
            offered["value"] = _loads(dumped)  # plain types only
            offered["numbers_as_text"] = kept is not value
        if exact and dumped is not None and (not crosses or kept is not value):
            offered["text"] = _dumps(with_numbers_as_text(value, is_written), ensure_ascii=False)
        if isinstance(value, (dict, list, tuple)) and form == "submit":
            offered["text"] = _dumps(value, ensure_ascii=False)
    return offered


def _text(value: Any) -> str:
    text = str.__str__(value) if isinstance(value, str) else str(value)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def is_written(number: int | float) -> bool:
    """True if JSON has a way to write the number."""
    return isinstance(number, int) or math.isfinite(number)


def with_numbers_as_text(value: Any, stays: Callable[[Any], bool] | None = None,
                         depth: int = 0) -> Any:
    """`value` with each number that the host's JSON cannot hold, or that does not stay, as Python
    prints it."""
    if isinstance(value, (int, float)):
        return value if (stays or is_json)(value) else str(value)
    if depth >= _MAX_DEPTH:
        return value
    if isinstance(value, dict):
        return {key: with_numbers_as_text(one, stays, depth + 1) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [with_numbers_as_text(one, stays, depth + 1) for one in value]
    return value


def is_json(value: Any, depth: int = 0) -> bool:
    """True if the value crosses the bridge unchanged."""
    if value is None or isinstance(value, (bool, str)):
        return True
    if isinstance(value, int):
        return _LEAST <= value <= _LARGEST
    if isinstance(value, float):
        return math.isfinite(value)
    if depth >= _MAX_DEPTH:
        return False
    if isinstance(value, dict):
        return all(isinstance(k, str) and is_json(v, depth + 1) for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return all(is_json(item, depth + 1) for item in value)
    return False
