"""A column of a small data frame: the part of pandas' Series that models use by habit.

Missing values are None. Comparisons with them are false, arithmetic gives None, reductions leave
them out. What is not here raises an AttributeError that names the plain Python way.
"""

import operator
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

_SHOWN = 30


def missing_method(what: str, name: str) -> AttributeError:
    return AttributeError(f"this small {what} has no '{name}': use plain Python over `records`, "
                          "e.g. [r for r in records if ...] or collections.Counter(...)")


def order(value: Any) -> tuple[Any, ...]:
    """A sort key for mixed values: numbers, then texts; None last."""
    if value is None:
        return 2, 0
    return (0, value) if isinstance(value, (int, float)) else (1, str(value))


def _binary(function: Callable[[Any, Any], Any], missing: Any) -> Callable[..., "Column"]:
    def apply(self: "Column", other: Any) -> "Column":
        others = list(other) if isinstance(other, (Column, list)) else [other] * len(self)
        if len(others) != len(self):
            raise ValueError(f"lengths differ: {len(self)} and {len(others)}")
        return self._new([missing if a is None or b is None else function(a, b)
                          for a, b in zip(self.values, others)])
    return apply


def _equality(function: Callable[[Any, Any], Any]) -> Callable[..., "Column"]:
    def apply(self: "Column", other: Any) -> "Column":
        others = list(other) if isinstance(other, (Column, list)) else [other] * len(self)
        return self._new([function(a, b) for a, b in zip(self.values, others)])
    return apply


class Column:
    """Values with labels (`index`)."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: Iterable[Any] = (), index: Iterable[Any] | None = None,
                 name: str | None = None) -> None:
        if isinstance(values, Mapping):
            values, index = list(values.values()), list(values)
        self.values = list(values)
        self.index = list(range(len(self.values))) if index is None else list(index)
        self.name = name

    __add__, __radd__ = _binary(operator.add, None), _binary(lambda a, b: b + a, None)
    __sub__, __rsub__ = _binary(operator.sub, None), _binary(lambda a, b: b - a, None)
    __mul__ = __rmul__ = _binary(operator.mul, None)
    __truediv__, __mod__ = _binary(operator.truediv, None), _binary(operator.mod, None)
    __floordiv__, __pow__ = _binary(operator.floordiv, None), _binary(operator.pow, None)
    __lt__, __le__ = _binary(operator.lt, False), _binary(operator.le, False)
    __gt__, __ge__ = _binary(operator.gt, False), _binary(operator.ge, False)
    __and__ = _equality(lambda a, b: bool(a) and bool(b))
    __or__ = _equality(lambda a, b: bool(a) or bool(b))
    __eq__ = _equality(operator.eq)  # type: ignore[assignment]
    __ne__ = _equality(operator.ne)  # type: ignore[assignment]

    def __invert__(self) -> "Column":
        return self._new([not value for value in self.values])

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __contains__(self, label: Any) -> bool:
        return label in self.index

    def __bool__(self) -> bool:
        raise ValueError("a whole column is neither true nor false: use .any(), .all() or & and |")

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, Column):
            return self._pick([i for i, keep in enumerate(key.values) if keep])
        if isinstance(key, slice):
            return self._pick(range(len(self))[key])
        if key in self.index:
            return self.values[self.index.index(key)]
        raise KeyError(key)

    def __getattr__(self, name: str) -> Any:
        raise missing_method("column", name)

    def __repr__(self) -> str:
        width = max((len(str(label)) for label in self.index[:_SHOWN]), default=0)
        lines = [f"{label!s:<{width}}  {value}" for label, value
                 in list(zip(self.index, self.values))[:_SHOWN]]
        if len(self) > _SHOWN:
            lines.append(f"… {len(self):,} values")
        return "\n".join(lines) or "(empty column)"

    @property
    def iloc(self) -> "Places":
        return Places(self)

    @property
    def loc(self) -> "Column":
        return self

    @property
    def str(self) -> "Texts":
        return Texts(self)

    @property
    def empty(self) -> bool:
        return not self.values

    @property
    def size(self) -> int:
        return len(self)

    @property
    def shape(self) -> tuple[int]:
        return (len(self),)

    def present(self) -> list[Any]:
        return [value for value in self.values if value is not None]

    def sum(self) -> Any:
        return sum(self.present())

    def mean(self) -> Any:
        return statistics.fmean(self.present()) if self.present() else None

    def median(self) -> Any:
        return statistics.median(self.present()) if self.present() else None

    def std(self) -> Any:
        return statistics.stdev(self.present()) if len(self.present()) > 1 else None

    def max(self) -> Any:
        return max(self.present(), default=None)

    def min(self) -> Any:
        return min(self.present(), default=None)

    def quantile(self, q: float = 0.5) -> Any:
        values = sorted(self.present())
        place = q * (len(values) - 1)
        low = values[int(place)]
        return low + (values[min(int(place) + 1, len(values) - 1)] - low) * (place - int(place))

    def count(self) -> int:
        return len(self.present())

    def any(self) -> bool:
        return any(self.present())

    def all(self) -> bool:
        return all(self.values)

    def nunique(self) -> int:
        return len(dict.fromkeys(map(_key, self.present())))

    def unique(self) -> list[Any]:
        return list({_key(value): value for value in self.values}.values())

    def mode(self) -> "Column":
        counts = Counter(self.present())
        return Column([value for value, n in counts.items() if n == max(counts.values())])

    def value_counts(self, normalize: bool = False, **_options: Any) -> "Column":
        counts = Counter(map(_key, self.present())).most_common()
        total = sum(count for _, count in counts)
        return Column([count / total if normalize else count for _, count in counts],
                      [value for value, _ in counts], self.name)

    def idxmax(self) -> Any:
        return self.index[self.values.index(self.max())]

    def idxmin(self) -> Any:
        return self.index[self.values.index(self.min())]

    def argmax(self) -> int:
        return self.values.index(self.max())

    def head(self, count: int = 5) -> "Column":
        return self[:count]

    def tail(self, count: int = 5) -> "Column":
        return self[max(0, len(self) - count):]

    def tolist(self) -> list[Any]:
        return list(self.values)

    to_list = tolist

    def to_dict(self) -> dict[Any, Any]:
        return dict(zip(self.index, self.values))

    def items(self) -> Iterable[tuple[Any, Any]]:
        return zip(self.index, self.values)

    iteritems = items

    def keys(self) -> list[Any]:
        return self.index

    def get(self, label: Any, default: Any = None) -> Any:
        return self[label] if label in self.index else default

    def isin(self, values: Iterable[Any]) -> "Column":
        wanted = list(values)
        return self._new([value in wanted for value in self.values])

    def between(self, low: Any, high: Any) -> "Column":
        return (self >= low) & (self <= high)

    def isna(self) -> "Column":
        return self._new([value is None for value in self.values])

    isnull = isna

    def notna(self) -> "Column":
        return ~self.isna()

    notnull = notna

    def dropna(self) -> "Column":
        return self[self.notna()]

    def fillna(self, fill: Any) -> "Column":
        return self._new([fill if value is None else value for value in self.values])

    def astype(self, kind: Any) -> "Column":
        convert = {"int": int, "int64": int, "float": float, "float64": float, "str": str_,
                   "string": str_}.get(kind, kind)
        return self.map(convert)

    def map(self, function: Any) -> "Column":
        if isinstance(function, Mapping):
            return self._new([function.get(value) for value in self.values])
        return self._new([None if value is None else function(value) for value in self.values])

    apply = map

    def round(self, digits: int = 0) -> "Column":
        return self.map(lambda value: round(value, digits))

    def abs(self) -> "Column":
        return self.map(abs)

    def sort_values(self, ascending: bool = True, **_options: Any) -> "Column":
        return self._pick(sorted(range(len(self)), key=lambda i: order(self.values[i]),
                                 reverse=not ascending))

    def sort_index(self, ascending: bool = True, **_options: Any) -> "Column":
        return self._pick(sorted(range(len(self)), key=lambda i: order(self.index[i]),
                                 reverse=not ascending))

    def nlargest(self, count: int = 5) -> "Column":
        return self.dropna().sort_values(ascending=False).head(count)

    def nsmallest(self, count: int = 5) -> "Column":
        return self.dropna().sort_values().head(count)

    def reset_index(self, **_options: Any) -> Any:
        from dossier_frame import Frame
        return Frame({"index": self.index, self.name or "count": self.values})

    def _new(self, values: list[Any]) -> "Column":
        return Column(values, self.index, self.name)

    def _pick(self, places: Iterable[int]) -> "Column":
        places = list(places)
        return Column([self.values[i] for i in places], [self.index[i] for i in places], self.name)


str_ = str  # inside Column, `str` is the accessor


def _key(value: Any) -> Any:
    """A value as a dict key: lists and dicts by their text."""
    return str_(value) if isinstance(value, (list, dict, set)) else value


class Places:
    """`.iloc` of a column."""

    def __init__(self, column: Column) -> None:
        self._column = column

    def __getitem__(self, key: Any) -> Any:
        return self._column[key] if isinstance(key, slice) else self._column.values[key]


class Texts:
    """`.str` of a column."""

    def __init__(self, column: Column) -> None:
        self._column = column

    def contains(self, pattern: str, case: bool = True, na: Any = False, regex: bool = True,
                 **_options: Any) -> Column:
        found = re.compile(pattern if regex else re.escape(pattern),
                           0 if case else re.IGNORECASE).search
        return self._column._new([bool(na) if value is None else bool(found(str(value)))
                                  for value in self._column.values])

    def len(self) -> Column:
        return self._column.map(len)

    def __getattr__(self, name: str) -> Callable[..., Column]:
        if not hasattr(str, name):
            raise missing_method("column", f"str.{name}")
        return lambda *args: self._column.map(lambda value: getattr(str(value), name)(*args))

    def __getitem__(self, key: Any) -> Column:
        return self._column.map(operator.itemgetter(key))
