"""A small data frame under the name pandas, because models import it by habit.

    import pandas as pd
    df = pd.read_csv("sales.csv")            # or pd.DataFrame(records)
    df[df["size"] > 5].groupby("city")["size"].sum().idxmax()

Only the commonest operations; everything else names the plain Python way.
"""

import csv
import io
import json
import re
import statistics
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from dossier_column import (Column, _key, checked, checks_options, labels_of, missing_method, order,
                            spread)
from dossier_rows import Fields

_SHOWN = 20
_REDUCTIONS = ("sum", "mean", "median", "max", "min", "count", "nunique", "std")


@checks_options
class Frame:
    """Columns of equal length, with row labels (`index`)."""

    def __init__(self, data: Any = (), columns: Iterable[str] | None = None,
                 index: Iterable[Any] | None = None, index_names: Iterable[str] = ()) -> None:
        if isinstance(data, Frame):
            data, index, index_names = data._data, data.index, data.index_names
        if isinstance(data, Mapping):
            self._data = {name: list(values) for name, values in data.items()}
        else:
            self._data = _from_rows(list(data), columns)
        if columns is not None:
            self._data = {name: self._data.get(name, []) for name in columns}
        length = max(map(len, self._data.values()), default=0)
        self.index = list(range(length)) if index is None else list(index)
        self.index_names = list(index_names)

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __contains__(self, name: str) -> bool:
        return name in self._data

    def __bool__(self) -> bool:
        raise ValueError("a data frame is neither true nor false: use len(df) > 0 or df.empty")

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (str, int)):
            return self._column(key)
        if isinstance(key, Column):
            return self._pick([i for i, keep in enumerate(key.at_labels(self.index)) if keep])
        if isinstance(key, slice):
            return self._pick(range(len(self))[key])
        return Frame({name: self._column(name).values for name in key}, index=self.index)

    def __setitem__(self, name: str, values: Any) -> None:
        scalar = isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable)
        if isinstance(values, Column) and self._data:
            values = values.at_labels(self.index)
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

    def to_string(self, **_options: Any) -> str:
        return repr(self)

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

    def head(self, n: int = 5) -> "Frame":
        return self[:n]

    def tail(self, n: int = 5) -> "Frame":
        return self[max(0, len(self) - n):]

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

    def itertuples(self) -> Iterator[Any]:
        return (types.SimpleNamespace(Index=label, **row) for label, row in self.iterrows())

    def to_dict(self, orient: str = "dict") -> Any:
        if orient == "records":
            return list(self._rows())
        return {name: list(values) if orient == "list" else dict(zip(self.index, values))
                for name, values in self._data.items()}

    def sort_values(self, by: str | list[str], ascending: Any = True) -> "Frame":
        names = [by] if isinstance(by, str) else list(by)
        up = ascending if isinstance(ascending, (list, tuple)) else [ascending] * len(names)
        places = list(range(len(self)))
        for name, rising in reversed(list(zip(names, up))):
            values = self._column(name).values
            present = [i for i in places if values[i] is not None]
            present.sort(key=lambda i: order(values[i]), reverse=not rising)
            places = present + [i for i in places if values[i] is None]
        return self._pick(places)

    def nlargest(self, n: int, columns: str | list[str]) -> "Frame":
        return self.sort_values(columns, ascending=False).head(n)

    def nsmallest(self, n: int, columns: str | list[str]) -> "Frame":
        return self.sort_values(columns).head(n)

    def groupby(self, by: str | list[str], sort: bool = True) -> "Groups":
        return Groups(self, [by] if isinstance(by, str) else list(by), sort=sort)

    def drop_duplicates(self, subset: Any = None, keep: Any = "first") -> "Frame":
        names = [subset] if isinstance(subset, str) else subset or list(self._data)
        places: dict[Any, list[int]] = {}
        for i, row in enumerate(zip(*(self._column(name).values for name in names))):
            places.setdefault(tuple(map(_key, row)), []).append(i)
        return self._pick(sorted(same[-1 if keep == "last" else 0] for same in places.values()
                                 if keep or len(same) == 1))

    def dropna(self, subset: Any = None, how: str = "any") -> "Frame":
        names = [subset] if isinstance(subset, str) else subset or list(self._data)
        columns = [self._column(name).values for name in names]
        enough = any if how == "all" else all
        return self._pick([i for i in range(len(self))
                           if enough(values[i] is not None for values in columns)])

    def fillna(self, value: Any) -> "Frame":
        fills = value if isinstance(value, Mapping) else dict.fromkeys(self._data, value)
        return Frame({n: self._column(n).fillna(fills.get(n)) for n in self._data}, index=self.index)

    def rename(self, columns: Any) -> "Frame":
        new = columns if callable(columns) else lambda name: columns.get(name, name)
        return Frame({new(name): values for name, values in self._data.items()}, index=self.index)

    def isnull(self) -> "Frame":
        return Frame({n: self._column(n).isna() for n in self._data}, index=self.index)

    isna = isnull

    def reset_index(self, drop: bool = False) -> "Frame":
        return Frame(self._data if drop else labels_of(self) | self._data)

    def copy(self) -> "Frame":
        return Frame(self)

    def apply(self, function: Callable[[Any], Any], axis: Any = 0) -> Column:
        if axis in (1, "columns"):
            return Column([function(row) for row in self._rows()], self.index)
        return Column([function(self._column(name)) for name in self._data], self._data)

    def sum(self, axis: Any = 0) -> Column:
        return self._reduced("sum", axis)

    def mean(self, axis: Any = 0) -> Column:
        return self._reduced("mean", axis)

    def _reduced(self, how: str, axis: Any) -> Column:
        names = [name for name in self._data if _is_number_column(self._data[name])]
        if axis in (1, "columns"):
            rows = zip(*(self._data[name] for name in names))
            return Column([getattr(Column(row), how)() for row in rows], self.index)
        return Column([getattr(self._column(name), how)() for name in names], names)

    def count(self) -> Column:
        return Column([self._column(name).count() for name in self._data], self._data)

    def nunique(self) -> Column:
        return Column([self._column(name).nunique() for name in self._data], self._data)

    def _rows(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(self._data, row)) for row in zip(*self._data.values()))

    def _become(self, other: "Frame") -> None:
        self._data, self.index, self.index_names = other._data, other.index, other.index_names

    def _column(self, name: Any) -> Column:
        if name not in self._data:
            head, _, rest = str(name).partition(".")
            if rest and head in self._data:  # a nested field by its path
                return self._column(head).map(lambda value: _inside(value, rest))
            raise Fields(map(str, self._data)).error(str(name))
        return Column(self._data[name], self.index, name)

    def _pick(self, places: Iterable[int]) -> "Frame":
        places = list(places)
        return Frame({name: [values[i] for i in places] for name, values in self._data.items()},
                     index=[self.index[i] for i in places], index_names=self.index_names)


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


@checks_options
class Groups:
    """`groupby`: rows by the values of one or several columns."""

    def __init__(self, frame: Frame, by: list[str], chosen: str | None = None,
                 sort: bool = True) -> None:
        self._frame, self._by, self._chosen, self._sort = frame, by, chosen, sort
        columns = [frame._column(name).values for name in by]
        groups: dict[Any, list[int]] = {}
        for i, values in enumerate(zip(*columns)):
            if None not in values:
                key = _key(values[0]) if len(by) == 1 else tuple(map(_key, values))
                groups.setdefault(key, []).append(i)
        keys = sorted(groups, key=lambda k: [order(v) for v in (k if len(by) > 1 else (k,))]) \
            if sort else groups
        self._groups = {key: groups[key] for key in keys}

    def __getitem__(self, name: str | list[str]) -> "Groups":
        name = name[0] if isinstance(name, list) and len(name) == 1 else name
        self._frame._column(name)  # an unknown name raises here
        return Groups(self._frame, self._by, name, self._sort)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return ((key, self._part(places)) for key, places in self._groups.items())

    def __len__(self) -> int:
        return len(self._groups)

    def __getattr__(self, name: str) -> Any:
        if name in _REDUCTIONS:
            return checked(lambda: self.agg(name), name)
        if name in self._frame._data:
            return self[name]
        raise missing_method("groupby", name)

    def size(self) -> Column:
        return Column({key: len(places) for key, places in self._groups.items()},
                      index_names=self._by)

    def value_counts(self) -> Column:
        return self.agg("value_counts")

    def agg(self, how: Any) -> Any:
        if isinstance(how, Mapping):
            return Frame({name: self[name].agg(kind).values for name, kind in how.items()},
                         index=self._groups, index_names=self._by)
        if isinstance(how, (list, tuple)):
            return Frame({kind: self.agg(kind).values for kind in how}, index=self._groups, index_names=self._by)
        if self._chosen is None:
            names = [name for name, values in self._frame._data.items()
                     if name not in self._by and (how in ("count", "nunique", "max", "min")
                                                  or _is_number_column(values))]
            return Frame({name: self[name].agg(how).values for name in names}, index=self._groups, index_names=self._by)
        parts = {key: self._part(places) for key, places in self._groups.items()}
        return Column([how(part) if callable(how) else getattr(part, how)()
                       for part in parts.values()], self._groups, self._chosen, self._by)

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


# What pandas reads as missing, too.
_MISSING = {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
            "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"}
_TEXT_KINDS = (str, object, "str", "string", "object")


def _typed(values: list[str], missing: set[str], kind: Any, thousands: str | None) -> list[Any]:
    """A column of a CSV file: truths or numbers if all its texts are such."""
    texts = [None if value in missing else value for value in values]
    present = [text for text in texts if text is not None]
    if kind in _TEXT_KINDS or not present:
        return texts
    if {text.lower() for text in present} <= {"true", "false"}:
        return [text and text.lower() == "true" for text in texts]
    for number in (int, float):
        try:
            found = [None if text is None else plain_number_of(text, number, thousands)
                     for text in texts]
        except ValueError:
            continue
        return found if kind in (None, "category") else Column(found).astype(kind).values
    return texts


def plain_number_of(text: Any, kind: Callable[[Any], Any] = float, thousands: str | None = None) -> Any:
    """int() or float() without the underscores that Python takes."""
    if isinstance(text, str) and "_" in text:
        raise ValueError(f"no number: {text!r}")
    return kind(text.replace(thousands, "") if thousands else text)


def _text_of(source: Any) -> str:
    if hasattr(source, "read"):
        return source.read()
    if isinstance(source, str) and ("\n" in source or source.lstrip()[:1] in ("{", "[")):
        return source
    with io.open(source) as file:
        return file.read()


def read_csv(source: Any, sep: str | None = None, delimiter: str | None = None,
             header: Any = "infer", names: Iterable[Any] | None = None, index_col: Any = None,
             usecols: Any = None, dtype: Any = None, skiprows: Any = 0, skipfooter: int = 0,
             nrows: int | None = None, na_values: Any = (), keep_default_na: bool = True,
             thousands: str | None = None, chunksize: int | None = None,
             on_bad_lines: str = "error") -> Any:
    """A CSV file of the context as a data frame; with chunksize, as several."""
    text = _text_of(source)
    mark = sep or delimiter or max(",;\t|", key=text.split("\n", 1)[0].count)
    lines = csv.reader(io.StringIO(text), delimiter=mark) if len(mark) == 1 else \
        (re.split(mark, line.strip()) for line in text.splitlines())
    skips = skiprows if callable(skiprows) else \
        range(skiprows).__contains__ if isinstance(skiprows, int) else set(skiprows or ()).__contains__
    rows = [row for place, row in enumerate(lines) if row and not skips(place)]
    rows = rows[:len(rows) - skipfooter]
    first = (0 if names is None else None) if header == "infer" else header
    if not rows:
        return Frame()
    titles = _titles(rows[first]) if first is not None else list(range(len(rows[0])))
    titles = list(names) if names is not None else titles
    rows = rows[0 if first is None else first + 1:][:nrows]
    if on_bad_lines == "error":
        for row in rows:
            if any(row[len(titles):]):
                raise ValueError(f"a row has {len(row)} cells and the header {len(titles)}: {row!r:.120}; "
                                 "use on_bad_lines='skip', or csv.reader and rows of your own")
    rows = [row for row in rows if not any(row[len(titles):])]
    frame: dict[Any, list[Any]] = {}
    for k, name in enumerate(titles):
        marks = na_values.get(name, ()) if isinstance(na_values, Mapping) else na_values
        marks = [marks] if isinstance(marks, (str, int, float)) else marks
        missing = (_MISSING if keep_default_na else set()) | set(map(str, marks or ()))
        kind = dtype.get(name) if isinstance(dtype, Mapping) else dtype
        frame[name] = _typed([row[k] if k < len(row) else "" for row in rows],
                             missing | ({""} if keep_default_na else set()), kind, thousands)
    index = titles[index_col] if type(index_col) is int else index_col
    labels = frame.pop(index) if isinstance(index, str) else None
    if usecols is not None:
        wanted = [name for name in titles if usecols(name)] if callable(usecols) else \
            [titles[use] if isinstance(use, int) else use for use in usecols]
        Frame(frame)[[name for name in wanted if name != index]]   # an unknown name raises here
        frame = {name: values for name, values in frame.items() if name in wanted}
    made = Frame(frame, index=labels, index_names=() if labels is None else [index])
    return made if chunksize is None else iter(
        [made[k:k + chunksize] for k in range(0, len(made), chunksize)])


def _titles(row: list[str]) -> list[str]:
    """The names of the columns, each once, as pandas makes them."""
    titles: list[str] = []
    for k, name in enumerate(row):
        name, count = name or f"Unnamed: {k}", row[:k].count(name)
        titles.append(f"{name}.{count}" if count else name)
    return titles


def read_json(source: Any, lines: bool = False) -> Frame:
    """A JSON or NDJSON file of the context as a data frame."""
    text = _text_of(source)
    try:
        value = json.loads(text)
    except ValueError:
        value = [json.loads(line) for line in text.splitlines() if line.strip()]
    return Frame([value] if isinstance(value, Mapping) and lines else value)


def concat(objs: Any, axis: Any = 0, ignore_index: bool = False) -> Frame:
    """Frames below each other, or columns and frames with equal labels beside each other."""
    frames = [Frame({part.name or k: part.values}, index=part.index) if isinstance(part, Column) else part
              for k, part in enumerate(objs)]
    if axis in (1, "columns"):
        if any(part.index != frames[0].index for part in frames):
            raise ValueError("concat(axis=1) of this small stand-in takes frames with equal labels: "
                             "use .reset_index(drop=True), or a dict of rows by their key")
        return Frame({name: values for part in frames for name, values in part._data.items()},
                     index=frames[0].index)
    index = None if ignore_index else [label for part in frames for label in part.index]
    return Frame([row for part in frames for row in part._rows()], index=index)


def to_numeric(arg: Any, errors: str = "raise") -> Any:
    def number(value: Any) -> Any:
        try:
            return _whole_if_it_is(plain_number_of(value))
        except (TypeError, ValueError):
            if errors == "raise":
                raise
            return value if errors == "ignore" else None
    return Column(arg).map(number) if isinstance(arg, (Column, list, tuple)) else number(arg)


def _whole_if_it_is(number: float) -> Any:
    return int(number) if number.is_integer() else number


def _is_missing(value: Any) -> Any:
    return value.isna() if isinstance(value, (Frame, Column)) else value is None


def _is_there(value: Any) -> Any:
    return value.notna() if isinstance(value, Column) else value is not None


def pandas_module() -> types.ModuleType:
    """What `import pandas` gives."""
    module = types.ModuleType("pandas", "A small stand-in: the commonest operations only.")
    def read_table(source: Any, sep: str = "\t", **options: Any) -> Any:
        return module.read_csv(source, sep, **options)

    module.__dict__.update({function.__name__: checked(function, function.__name__)
                            for function in (read_csv, read_json, concat, to_numeric)})
    module.__dict__.update(
        DataFrame=Frame, Series=Column, read_table=read_table, isna=_is_missing,
        isnull=_is_missing, notna=_is_there, notnull=_is_there,
        set_option=lambda *_args: None, options=types.SimpleNamespace(
            display=types.SimpleNamespace()), NA=None, __getattr__=_no_such_function)
    return module


def numpy_module() -> types.ModuleType:
    """What `import numpy` gives: reductions over lists."""
    def over(function: Callable[[list[Any]], Any], name: str) -> Callable[..., Any]:
        def reduced(a: Any) -> Any:
            return function(_present(a))
        return checked(reduced, name)

    module = types.ModuleType("numpy", "A small stand-in: reductions over lists only.")
    module.__dict__.update(
        {name: over(function, name) for name, function in {
            "mean": average, "median": lambda values: statistics.median(values), "sum": sum,
            "max": max, "min": min}.items()})
    module.__dict__.update(
        {function.__name__: checked(function, function.__name__)
         for function in (average, std, unique)}, nan=None, __getattr__=_no_such_function)
    return module


def _present(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if value is not None]


def average(a: Any, weights: Any = None) -> float:
    return statistics.fmean(_present(a)) if weights is None else \
        sum(value * weight for value, weight in zip(a, weights, strict=True)) / sum(weights)


def std(a: Any, ddof: int = 0) -> float | None:
    return spread(_present(a), ddof)


def unique(ar: Any, return_counts: bool = False) -> Any:
    counts = sorted(Counter(_present(ar)).items())
    values = [value for value, _ in counts]
    return (values, [count for _, count in counts]) if return_counts else values


def _no_such_function(name: str) -> Any:
    raise missing_method("module", name)
