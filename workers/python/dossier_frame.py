"""A small data frame under the name pandas, because models import it by habit.

    import pandas as pd
    df = pd.read_csv("sales.csv")            # or pd.DataFrame(records)
    df[df["size"] > 5].groupby("city")["size"].sum().idxmax()

Only the commonest operations; everything else names the plain Python way.
"""

import csv
import io
import json
import statistics
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from dossier_column import Column, _key, missing_method, order
from dossier_rows import Fields

_SHOWN = 20
_REDUCTIONS = ("sum", "mean", "median", "max", "min", "count", "nunique", "std")


class Frame:
    """Columns of equal length, with row labels (`index`)."""

    def __init__(self, data: Any = (), columns: Iterable[str] | None = None,
                 index: Iterable[Any] | None = None, **_options: Any) -> None:
        if isinstance(data, Frame):
            data, index = data._data, data.index
        if isinstance(data, Mapping):
            self._data = {name: list(values) for name, values in data.items()}
        else:
            self._data = _from_rows(list(data), columns)
        if columns is not None:
            self._data = {name: self._data.get(name, []) for name in columns}
        length = max(map(len, self._data.values()), default=0)
        self.index = list(range(length)) if index is None else list(index)

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __contains__(self, name: str) -> bool:
        return name in self._data

    def __bool__(self) -> bool:
        raise ValueError("a data frame is neither true nor false: use len(df) > 0 or df.empty")

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._column(key)
        if isinstance(key, Column):
            return self._pick([i for i, keep in enumerate(key.values) if keep])
        if isinstance(key, slice):
            return self._pick(range(len(self))[key])
        return Frame({name: self._column(name).values for name in key}, index=self.index)

    def __setitem__(self, name: str, values: Any) -> None:
        scalar = isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable)
        values = [values] * len(self) if scalar else list(values)
        if self._data and len(values) != len(self):
            raise ValueError(f"{len(values)} values for {len(self)} rows")
        self._data[name] = values
        self.index = self.index or list(range(len(values)))

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self._data:
            return self._column(name)
        raise missing_method("data frame", name)

    def __repr__(self) -> str:
        names = list(self._data)
        shown = min(len(self), _SHOWN)
        rows = [["", *names]] + [[str(self.index[i]), *(str(self._data[n][i])[:40] for n in names)]
                                 for i in range(shown)]
        widths = [max(len(row[k]) for row in rows) for k in range(len(names) + 1)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                 for row in rows]
        return "\n".join(lines) + f"\n[{len(self):,} rows x {len(names)} columns]"

    to_string = __repr__

    @property
    def columns(self) -> list[str]:
        return list(self._data)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), len(self._data)

    @property
    def empty(self) -> bool:
        return not self.index

    @property
    def values(self) -> list[list[Any]]:
        return [list(row) for row in zip(*self._data.values())]

    @property
    def iloc(self) -> "RowPlaces":
        return RowPlaces(self, by_label=False)

    @property
    def loc(self) -> "RowPlaces":
        return RowPlaces(self, by_label=True)

    @property
    def dtypes(self) -> Column:
        kinds = [next((type(v).__name__ for v in values if v is not None), "None")
                 for values in self._data.values()]
        return Column(kinds, self._data)

    def head(self, count: int = 5) -> "Frame":
        return self[:count]

    def tail(self, count: int = 5) -> "Frame":
        return self[max(0, len(self) - count):]

    def info(self) -> None:
        print(f"{len(self):,} rows; columns: " + ", ".join(
            f"{name} ({kind})" for name, kind in self.dtypes.items()))

    def describe(self) -> "Frame":
        names = [name for name in self._data if _is_number_column(self._data[name])]
        kinds = ("count", "mean", "min", "median", "max")
        return Frame({name: [getattr(self._column(name), kind)() for kind in kinds]
                      for name in names}, index=kinds)

    def iterrows(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        return zip(self.index, self._rows())

    def itertuples(self, **_options: Any) -> Iterator[Any]:
        return (types.SimpleNamespace(Index=label, **row) for label, row in self.iterrows())

    def to_dict(self, orient: str = "dict") -> Any:
        if orient == "records":
            return list(self._rows())
        return {name: list(values) if orient == "list" else dict(zip(self.index, values))
                for name, values in self._data.items()}

    def sort_values(self, by: str | list[str], ascending: Any = True, **_options: Any) -> "Frame":
        names = [by] if isinstance(by, str) else list(by)
        up = ascending if isinstance(ascending, (list, tuple)) else [ascending] * len(names)
        places = list(range(len(self)))
        for name, rising in reversed(list(zip(names, up))):
            values = self._column(name).values
            present = [i for i in places if values[i] is not None]
            present.sort(key=lambda i: order(values[i]), reverse=not rising)
            places = present + [i for i in places if values[i] is None]
        return self._pick(places)

    def nlargest(self, count: int, columns: str | list[str]) -> "Frame":
        return self.sort_values(columns, ascending=False).head(count)

    def nsmallest(self, count: int, columns: str | list[str]) -> "Frame":
        return self.sort_values(columns).head(count)

    def groupby(self, by: str | list[str], **_options: Any) -> "Groups":
        return Groups(self, [by] if isinstance(by, str) else list(by))

    def drop_duplicates(self, subset: Any = None, **_options: Any) -> "Frame":
        names = [subset] if isinstance(subset, str) else subset or list(self._data)
        seen: dict[Any, int] = {}
        for i in range(len(self)):
            seen.setdefault(tuple(_key(self._data[name][i]) for name in names), i)
        return self._pick(seen.values())

    def dropna(self, subset: Any = None, **_options: Any) -> "Frame":
        names = [subset] if isinstance(subset, str) else subset or list(self._data)
        return self._pick([i for i in range(len(self))
                           if all(self._column(n).values[i] is not None for n in names)])

    def fillna(self, fill: Any) -> "Frame":
        return Frame({n: self._column(n).fillna(fill) for n in self._data}, index=self.index)

    def isnull(self) -> "Frame":
        return Frame({n: self._column(n).isna() for n in self._data}, index=self.index)

    isna = isnull

    def reset_index(self, **_options: Any) -> "Frame":
        return Frame(self._data)

    def copy(self, **_options: Any) -> "Frame":
        return Frame(self._data, index=self.index)

    def apply(self, function: Callable[[Any], Any], axis: Any = 0) -> Column:
        if axis in (1, "columns"):
            return Column([function(row) for row in self._rows()], self.index)
        return Column([function(self._column(name)) for name in self._data], self._data)

    def sum(self, **_options: Any) -> Column:
        names = [name for name in self._data if _is_number_column(self._data[name])]
        return Column([self._column(name).sum() for name in names], names)

    def mean(self, **_options: Any) -> Column:
        names = [name for name in self._data if _is_number_column(self._data[name])]
        return Column([self._column(name).mean() for name in names], names)

    def count(self) -> Column:
        return Column([self._column(name).count() for name in self._data], self._data)

    def nunique(self) -> Column:
        return Column([self._column(name).nunique() for name in self._data], self._data)

    def _rows(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(self._data, row)) for row in zip(*self._data.values()))

    def _column(self, name: str) -> Column:
        if name not in self._data:
            head, _, rest = name.partition(".")
            if rest and head in self._data:  # a nested field by its path
                return self._column(head).map(lambda value: _inside(value, rest))
            raise Fields(map(str, self._data)).error(name)
        return Column(self._data[name], self.index, name)

    def _pick(self, places: Iterable[int]) -> "Frame":
        places = list(places)
        return Frame({name: [values[i] for i in places] for name, values in self._data.items()},
                     index=[self.index[i] for i in places])


class RowPlaces:
    """`.iloc` and `.loc` of a frame."""

    def __init__(self, frame: Frame, by_label: bool) -> None:
        self._frame = frame
        self._by_label = by_label

    def __getitem__(self, key: Any) -> Any:
        frame = self._frame
        rows, column = key if isinstance(key, tuple) else (key, None)
        if isinstance(rows, (slice, Column)):
            chosen = frame[rows]
        elif isinstance(rows, list):
            chosen = frame._pick([frame.index.index(r) if self._by_label else r for r in rows])
        else:
            place = frame.index.index(rows) if self._by_label else range(len(frame))[rows]
            row = {name: values[place] for name, values in frame._data.items()}
            if column is None:
                return Column(row, name=str(rows))
            return row[column] if self._by_label else list(row.values())[column]
        if column is None:
            return chosen
        return chosen[column if self._by_label else frame.columns[column]]


class Groups:
    """`groupby`: rows by the values of one or several columns."""

    def __init__(self, frame: Frame, by: list[str], chosen: str | None = None) -> None:
        self._frame, self._by, self._chosen = frame, by, chosen
        columns = [frame._column(name).values for name in by]
        groups: dict[Any, list[int]] = {}
        for i, values in enumerate(zip(*columns)):
            if None not in values:
                key = _key(values[0]) if len(by) == 1 else tuple(map(_key, values))
                groups.setdefault(key, []).append(i)
        keys = sorted(groups, key=lambda k: [order(v) for v in (k if len(by) > 1 else (k,))])
        self._groups = {key: groups[key] for key in keys}

    def __getitem__(self, name: str | list[str]) -> "Groups":
        name = name[0] if isinstance(name, list) and len(name) == 1 else name
        self._frame._column(name)  # an unknown name raises here
        return Groups(self._frame, self._by, name)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return ((key, self._part(places)) for key, places in self._groups.items())

    def __len__(self) -> int:
        return len(self._groups)

    def __getattr__(self, name: str) -> Any:
        if name in _REDUCTIONS:
            return lambda **_options: self.agg(name)
        if name in self._frame._data:
            return self[name]
        raise missing_method("groupby", name)

    def size(self) -> Column:
        return Column({key: len(places) for key, places in self._groups.items()})

    def value_counts(self) -> Column:
        return self.agg("value_counts")

    def agg(self, how: Any) -> Any:
        if isinstance(how, Mapping):
            return Frame({name: self[name].agg(kind).values for name, kind in how.items()},
                         index=self._groups)
        if isinstance(how, (list, tuple)):
            return Frame({kind: self.agg(kind).values for kind in how}, index=self._groups)
        if self._chosen is None:
            names = [name for name, values in self._frame._data.items()
                     if name not in self._by and (how in ("count", "nunique", "max", "min")
                                                  or _is_number_column(values))]
            return Frame({name: self[name].agg(how).values for name in names}, index=self._groups)
        parts = {key: self._part(places) for key, places in self._groups.items()}
        return Column([how(part) if callable(how) else getattr(part, how)()
                       for part in parts.values()], self._groups, self._chosen)

    aggregate = agg

    def apply(self, function: Callable[[Any], Any]) -> Column:
        return Column([function(part) for _, part in self], self._groups)

    def _part(self, places: list[int]) -> Any:
        part = self._frame._pick(places)
        return part if self._chosen is None else part[self._chosen]


def _is_number_column(values: list[Any]) -> bool:
    present = [value for value in values if value is not None]
    return bool(present) and all(isinstance(value, (int, float)) for value in present)


def _inside(value: Any, path: str) -> Any:
    for step in path.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _from_rows(rows: list[Any], columns: Iterable[str] | None) -> dict[str, list[Any]]:
    if rows and not isinstance(rows[0], Mapping):
        names = list(columns) if columns is not None else None
        table = [list(row) if isinstance(row, (list, tuple)) else [row] for row in rows]
        width = max(map(len, table))
        names = names or list(range(width))  # type: ignore[arg-type]
        return {name: [row[k] if k < len(row) else None for row in table]
                for k, name in enumerate(names)}
    names = list(dict.fromkeys(name for row in rows for name in row.keys()))
    return {name: [row.get(name) for row in rows] for name in names}


def _typed(values: list[str]) -> list[Any]:
    """A column of a CSV file: numbers if all its texts are numbers."""
    for kind in (int, float):
        try:
            return [kind(value) if value != "" else None for value in values]
        except ValueError:
            continue
    return [value if value != "" else None for value in values]


def _text_of(source: Any) -> str:
    if hasattr(source, "read"):
        return source.read()
    if isinstance(source, str) and ("\n" in source or source.lstrip()[:1] in ("{", "[")):
        return source
    with io.open(source) as file:
        return file.read()


def read_csv(source: Any, sep: str | None = None, delimiter: str | None = None,
             **_options: Any) -> Frame:
    """A CSV file of the context as a data frame."""
    text = _text_of(source)
    first = text.split("\n", 1)[0]
    mark = sep or delimiter or max(",;\t|", key=first.count)
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=mark) if row]
    if not rows:
        return Frame()
    width = len(rows[0])
    table = [row[:width] + [""] * (width - len(row)) for row in rows[1:]]
    return Frame({name: _typed([row[k] for row in table]) for k, name in enumerate(rows[0])})


def read_json(source: Any, lines: bool = False, **_options: Any) -> Frame:
    """A JSON or NDJSON file of the context as a data frame."""
    text = _text_of(source)
    try:
        value = json.loads(text)
    except ValueError:
        value = [json.loads(line) for line in text.splitlines() if line.strip()]
    return Frame([value] if isinstance(value, Mapping) and lines else value)


def pandas_module() -> types.ModuleType:
    """What `import pandas` gives."""
    module = types.ModuleType("pandas", "A small stand-in: the commonest operations only.")
    module.__dict__.update(
        DataFrame=Frame, Series=Column, read_csv=read_csv, read_json=read_json,
        read_table=lambda source, sep="\t", **options: read_csv(source, sep, **options),
        concat=lambda frames, **_options: Frame([row for f in frames for row in f._rows()]),
        to_numeric=lambda values, **_options: Column(values).map(_number),
        isna=lambda value: value is None, isnull=lambda value: value is None,
        notna=lambda value: value is not None, notnull=lambda value: value is not None,
        set_option=lambda *_args: None, options=types.SimpleNamespace(
            display=types.SimpleNamespace()), NA=None, __getattr__=_no_such_function)
    return module


def numpy_module() -> types.ModuleType:
    """What `import numpy` gives: reductions over lists."""
    def over(function: Callable[[list[Any]], Any]) -> Callable[..., Any]:
        return lambda values, *_args, **_options: function([v for v in values if v is not None])

    module = types.ModuleType("numpy", "A small stand-in: reductions over lists only.")
    module.__dict__.update(
        mean=over(_later("fmean")), average=over(_later("fmean")), sum=over(sum), max=over(max),
        min=over(min), median=over(_later("median")), std=over(_later("pstdev")),
        unique=over(lambda values: sorted(set(values))), nan=None, __getattr__=_no_such_function)
    return module


def _later(name: str) -> Callable[[list[Any]], Any]:
    """A function of `statistics`, which is loaded when it is called."""
    return lambda values: getattr(statistics, name)(values)


def _number(value: Any) -> Any:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return int(number) if number.is_integer() else number


def _no_such_function(name: str) -> Any:
    raise missing_method("module", name)
