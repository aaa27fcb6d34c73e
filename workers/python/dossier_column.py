"""A column of a small data frame: the part of pandas' Series that models use by habit.

Missing values are None. Comparisons with them are false, arithmetic gives None, reductions leave
them out. What is not here raises an AttributeError that names the plain Python way.
"""

import functools
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


# Options that change no value here, and those that change none with the value that they have anyway.
_NO_MATTER = {"kind", "engine", "encoding", "encoding_errors", "low_memory", "memory_map", "observed",
              "copy", "deep", "numeric_only", "float_precision", "group_keys", "na_action",
              "verify_integrity"}
_AS_IT_IS: dict[str, tuple[Any, ...]] = {
    "inplace": (False,), "axis": (0, "index", None), "keep": ("first",), "skipna": (True,),
    "how": ("any",), "sort": (True,), "as_index": (True,), "dropna": (True,), "level": (None,),
    "na_position": ("last",), "na": (False, True, None), "ddof": (1,), "join": ("outer",),
    "inclusive": ("both",), "ignore_index": (False,), "key": (None,), "errors": ("raise",),
    "dtype": (None,), "keepdims": (False,), "interpolation": ("linear",), "iterator": (False,),
    "skip_blank_lines": (True,), "index": (True,), "name": (None,), "thresh": (None,),
    "parse_dates": (False, None), "quotechar": ('"',), "decimal": (".",), "comment": (None,),
    "method": (None,), "flags": (0,), "orient": ("records", None)}
_INSTEAD = {"as_index": "call .reset_index() on the result",
            "inplace": "bind the value that it gives: df['x'] = df['x'].fillna(0)",
            "parse_dates": "compare the dates as texts, or datetime.fromisoformat(r['field'])",
            "key": "add a column with the key and sort by that"}


def checked(function: Callable[..., Any], what: str) -> Callable[..., Any]:
    """A function that refuses options which it does not take, if they would change its value.
    Frames do what is to be done in place, and count their rows anew."""
    code = function.__code__
    taken = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]

    @functools.wraps(function)
    def run(*given: Any, **options: Any) -> Any:
        later = {name: options.pop(name) for name in ("inplace", "ignore_index")
                 if name not in taken and given and hasattr(type(given[0]), "_become")
                 and name in options}
        for name in [name for name in options if name not in taken]:
            value = options.pop(name)
            if name not in _NO_MATTER and value not in _AS_IT_IS.get(name, ()):
                way = _INSTEAD.get(name, "use plain Python over `records`")
                raise TypeError(f"{what}() of this small stand-in for pandas and numpy does not do "
                                f"{name}={value!r}: {way}")
        result = function(*given, **options)
        if later.get("ignore_index"):
            result.index = list(range(len(result)))
        return given[0]._become(result) if later.get("inplace") else result
    return run


def checks_options(kind: type) -> type:
    """A class whose methods are all checked()."""
    for name, function in list(vars(kind).items()):
        if hasattr(function, "__code__") and (name == "__init__" or not name.startswith("_")) \
                and not function.__code__.co_flags & 0x08:   # **options of its own
            setattr(kind, name, checked(function, name if name != "__init__" else kind.__name__))
    return kind


def order(value: Any) -> tuple[Any, ...]:
    """A sort key for mixed values: numbers, then texts; None last."""
    if value is None:
        return 2, 0
    return (0, value) if isinstance(value, (int, float)) else (1, str(value))


def _binary(function: Callable[[Any, Any], Any], missing: Any) -> Callable[..., "Column"]:
    def apply(self: "Column", other: Any) -> "Column":
        others = self._beside(other)
        if len(others) != len(self):
            raise ValueError(f"lengths differ: {len(self)} and {len(others)}")
        return self._new([missing if a is None or b is None else function(a, b)
                          for a, b in zip(self.values, others)])
    return apply


def _equality(function: Callable[[Any, Any], Any]) -> Callable[..., "Column"]:
    def apply(self: "Column", other: Any) -> "Column":
        others = self._beside(other)
        return self._new([function(a, b) for a, b in zip(self.values, others)])
    return apply


@checks_options
class Column:
    """Values with labels (`index`)."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: Iterable[Any] = (), index: Iterable[Any] | None = None,
                 name: str | None = None, index_names: Iterable[str] = ()) -> None:
        if isinstance(values, Column) and index is None:
            index, name = values.index, name or values.name
        if isinstance(values, Mapping):
            values, index = list(values.values()), list(values)
        self.values = list(values)
        self.index = list(range(len(self.values))) if index is None else list(index)
        self.name = name
        self.index_names = list(index_names)

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

    def std(self, ddof: int = 1) -> Any:
        return spread(self.present(), ddof)

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

    def value_counts(self, normalize: bool = False, ascending: bool = False,
                     dropna: bool = True) -> "Column":
        values = self.present() if dropna else self.values
        counts = Counter(map(_key, values)).most_common()
        counts = counts[::-1] if ascending else counts
        return Column([count / len(values) if normalize else count for _, count in counts],
                      [value for value, _ in counts], "proportion" if normalize else "count",
                      [self.name or "index"])

    def idxmax(self) -> Any:
        return self.index[self.values.index(self.max())]

    def idxmin(self) -> Any:
        return self.index[self.values.index(self.min())]

    def argmax(self) -> int:
        return self.values.index(self.max())

    def head(self, n: int = 5) -> "Column":
        return self[:n]

    def tail(self, n: int = 5) -> "Column":
        return self[max(0, len(self) - n):]

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

    def fillna(self, value: Any) -> "Column":
        return self._new([value if own is None else own for own in self.values])

    def astype(self, kind: Any) -> "Column":
        convert = {"int": int, "int64": int, "float": float, "float64": float, "str": str_,
                   "string": str_}.get(kind, kind)
        return self.map(convert)

    def map(self, function: Any) -> "Column":
        if isinstance(function, Mapping):
            return self._new([function.get(value) for value in self.values])
        return self._new([None if value is None else function(value) for value in self.values])

    apply = map

    def round(self, decimals: int = 0) -> "Column":
        return self.map(lambda value: round(value, decimals))

    def abs(self) -> "Column":
        return self.map(abs)

    def sort_values(self, ascending: bool = True) -> "Column":
        places = sorted((i for i in range(len(self)) if self.values[i] is not None),
                        key=lambda i: order(self.values[i]), reverse=not ascending)
        return self._pick(places + [i for i in range(len(self)) if self.values[i] is None])

    def sort_index(self, ascending: bool = True) -> "Column":
        return self._pick(sorted(range(len(self)), key=lambda i: order(self.index[i]),
                                 reverse=not ascending))

    def nlargest(self, n: int = 5) -> "Column":
        return self.dropna().sort_values(ascending=False).head(n)

    def nsmallest(self, n: int = 5) -> "Column":
        return self.dropna().sort_values().head(n)

    def reset_index(self, drop: bool = False, name: Any = None) -> Any:
        from dossier_frame import Frame
        if drop:
            return Column(self.values, range(len(self)), self.name)
        return Frame(labels_of(self) | {name or self.name or "count": self.values})

    def at_labels(self, index: list[Any]) -> list[Any]:
        """The values in the order of these labels, None for one that is not here."""
        if index == self.index:
            return self.values
        own = dict(zip(self.index, self.values))
        if len(own) != len(self):
            raise ValueError("two columns with other labels, some of them twice, do not fit each "
                             "other: use .reset_index(drop=True) or plain Python over `records`")
        return [own.get(label) for label in index]

    def _beside(self, other: Any) -> list[Any]:
        """The other operand for each value; of a column by its labels."""
        if isinstance(other, Column) and len(other) == len(self):
            return other.at_labels(self.index)
        return list(other) if isinstance(other, (Column, list)) else [other] * len(self)

    def _new(self, values: list[Any]) -> "Column":
        return Column(values, self.index, self.name, self.index_names)

    def _pick(self, places: Iterable[int]) -> "Column":
        places = list(places)
        return Column([self.values[i] for i in places], [self.index[i] for i in places], self.name,
                      self.index_names)


def labels_of(table: Any) -> dict[str, list[Any]]:
    """The labels of a column or frame as columns: those of several keys one each."""
    names = table.index_names or ["index"]
    return {name: [label[k] if len(names) > 1 else label for label in table.index]
            for k, name in enumerate(names)}


def spread(values: list[Any], ddof: int) -> float | None:
    """The standard deviation."""
    if len(values) <= ddof:
        return None
    return (statistics.pvariance(values) * len(values) / (len(values) - ddof)) ** 0.5


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


@checks_options
class Texts:
    """`.str` of a column."""

    def __init__(self, column: Column) -> None:
        self._column = column

    def contains(self, pat: str, case: bool = True, na: Any = False, regex: bool = True,
                 flags: int = 0) -> Column:
        found = re.compile(pat if regex else re.escape(pat),
                           flags | (0 if case else re.IGNORECASE)).search
        return self._column._new([bool(na) if value is None else bool(found(str(value)))
                                  for value in self._column.values])

    def count(self, pat: str, flags: int = 0) -> Column:
        return self._column.map(lambda value: len(re.findall(pat, str(value), flags)))

    def replace(self, pat: str, repl: Any, n: int = -1, regex: bool = False) -> Column:
        found = re.compile(pat if regex else re.escape(pat))
        made = repl if regex or callable(repl) else lambda _: repl
        return self._column.map(lambda value: found.sub(made, str(value), count=max(n, 0)))

    def len(self) -> Column:
        return self._column.map(len)

    def __getattr__(self, name: str) -> Callable[..., Column]:
        if not hasattr(str, name):
            raise missing_method("column", f"str.{name}")
        return lambda *args: self._column.map(lambda value: getattr(str(value), name)(*args))

    def __getitem__(self, key: Any) -> Column:
        return self._column.map(operator.itemgetter(key))
