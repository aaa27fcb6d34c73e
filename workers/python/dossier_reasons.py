"""Why code may have found nothing: the constants of an attempt that fit nothing in the data.

    reasons = Reasons(sources, records)
    reasons.weigh(Parsed("n = sum(r['status'] == 'open' for r in records)"), nothing=True)
    reasons.found     # {"status == 'open'": "No row has status == 'open'. Its values: 'Open' (3)."}
    reasons.misled    # of `found`, those that make a result wrong which is none of nothing, too
    reasons.settled   # reasons of earlier blocks whose condition this block wrote so that it fits
"""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from dossier_code import Parsed
from dossier_empty import Test, Values, searched_texts, short, tests_of
from dossier_forms import Forms, anyhow
from dossier_row_store import FILE
from dossier_seek import Join, Seeker, Sought, alike, made_texts
from dossier_text import Source

_SECONDS = 0.3          # for one block
_SHOWN = 1 << 16        # characters of what blocks showed that are remembered
_CHUNK = 1 << 20        # bytes of a text that are searched at a time
_MOST_PAIRS = 50         # of files whose fields are joined
_LONGEST_WORD = 800     # bytes that a constant may take; chunks overlap by them
_MODELS = {"llm_query", "llm_query_batched", "rlm_query", "rlm_query_batched", "map_llm"}


class Reasons:
    """Of one session. `records()` gives the rows or None; `rows` are gone through unnoticed."""

    def __init__(self, sources: Sequence[Source], records: Callable[[], Any]) -> None:
        self._sources = sources
        self._records = records
        self._seeker = Seeker()
        self._stands: dict[str, tuple[bool, str]] = {}  # as written, and the other spelling
        self._nowhere: dict[str, bool] = {}             # texts: in no written form, as was searched
        self._told: dict[str, tuple[str, str]] = {}     # by key: what it is about, and the reason
        self._told_tests: dict[str, Test] = {}          # of these, those that are about a field
        self.found: dict[str, str] = {}
        # Of `found`, what no other spelling would change: a number among numbers, a text of which no
        # written form stands in the data, and what is none of the values that were shown, all of them.
        self.proved: set[str] = set()
        self.proves_nothing = False   # nothing that the block asks for could be written otherwise
        self.misled: dict[str, tuple[str, ...]] = {}    # by key: the constants
        self.forms: dict[str, tuple[str, tuple[str, ...]]] = {}  # a sentence, and the constants
        self.settled: list[str] = []
        self._shown = ""    # by blocks

    def forget(self) -> None:
        self._seeker.forget()
        self._told.clear()
        self._told_tests.clear()
        self._shown = ""

    def weigh(self, parsed: Parsed, nothing: bool, named: Collection[str] = (),
              output: str = "", counts: bool = False, asked: Mapping[Test, Counter] = {}) -> None:
        """`nothing`: the block's `output` or answer says nothing; `named`: fields that are told of as
        unknown already; `counts`: the output is a number; `asked`: by SQL, with the values of each field."""
        self._shown = (self._shown + "\n" + output)[-_SHOWN:]
        self.found, self.settled, self.proved, self.misled, self.forms = {}, [], set(), {}, {}
        self.proves_nothing = nothing and not parsed.reads & {*_MODELS, "sql"}
        sought = self._seeker.look(parsed)
        self._weigh_forms(parsed, counts, asked)
        deadline = time.monotonic() + _SECONDS
        tests = list(dict.fromkeys(tests_of(parsed, self._seeker)))
        joins = set(self._seeker.joins(parsed))
        self._see_values(deadline)
        if not sought and not tests and not joins and not asked:
            self.proves_nothing = self.proves_nothing and self._proves(parsed, [], deadline)
            return
        absent = self._absent(sought, deadline).difference(named)
        whole = bool(absent or nothing or self._told or asked)
        values = self._values(tests, sought, absent, deadline, whole)
        values.add(asked)
        tests += asked
        about: dict[str, str] = {}     # what the reasons of this block are about, by their key
        said: set[str] = set()         # constants that stand in a reason already
        fitting = self._weigh_tests(tests, values, absent, about, said, deadline)
        fitting |= self._weigh_texts(sought, values, absent, about, said, deadline)
        self._find_misled(tests, values, about)
        fitting |= self._weigh_joins(joins, deadline, about)
        own = made_texts(parsed)
        for text, reason in self.found.items():
            if text not in own and text not in self.proved and self._stands.get(text, (True, ""))[1] and not any(
                    text.lower() == other for other in fitting):
                self.misled[text] = (text,)
        self.proves_nothing = self.proves_nothing and not joins and self.proved.issuperset(
            self.found) and self._proves(parsed, tests, deadline)
        self._settle(fitting, about)

    def _proves(self, parsed: Parsed, tests: Iterable[Test], deadline: float) -> bool:
        """Whether all conditions order numbers, or are in `proved`, or look for a text that stands in
        no written form."""
        return all(test.orders_numbers() or str(test) in self.proved for test in tests) and all(
            text in self.proved or self._stands_nowhere(text, deadline)
            or any(text in map(str, test.values) for test in tests)
            for text in searched_texts(parsed))

    def _see_values(self, deadline: float) -> None:
        """Settles what earlier blocks did not find, once all values of its field have been shown."""
        records = self._records() if self._told_tests else None
        if records is None:
            return
        values = Values(sorted({test.field for test in self._told_tests.values()}))
        values.read(records, set(), deadline)
        for key, test in list(self._told_tests.items()):
            if values.whole and key in self._told and values.all_shown(test, self._shown):
                self.settled.append(self._told.pop(key)[1])
                del self._told_tests[key]

    def _stands_nowhere(self, text: str, deadline: float) -> bool:
        """Whether all of the data was searched for the text and has it in no written form: other case,
        accents, spaces, hyphens, a letter more or less."""
        if text not in self._nowhere:
            found = anyhow(text)
            for source in self._sources if found is not None else ():
                for at in range(0, source.bytes, _CHUNK):
                    part = str(source.view[max(0, at - _LONGEST_WORD):at + _CHUNK], "utf-8", "replace")
                    if time.monotonic() > deadline:
                        return False
                    if other := found(part):
                        self._nowhere[text] = False
                        self._stands[text] = False, self._stands.get(text, (False, ""))[1] or other[0]
                        return False
            self._nowhere[text] = found is not None
        return self._nowhere[text]

    def _weigh_forms(self, parsed: Parsed, counts: bool, asked: Mapping[Test, Counter]) -> None:
        deadline, forms = time.monotonic() + _SECONDS, Forms(self._seeker)
        forms.look(parsed, asked)
        fields = {test.field for test in forms.tests}.difference(test.field for test in asked)
        records = self._records() if fields else None
        if records is not None or asked:
            values = Values(sorted(fields))
            values.read(records or (), set(), deadline)
            values.add(asked)
            self.forms |= forms.in_values(values, counts)
        if counts:
            texts = (str(source.view[at:at + _CHUNK], "utf-8", "replace") for source in self._sources
                     for at in range(0, source.bytes, _CHUNK))
            self.forms |= forms.in_lines(texts, deadline)

    def _absent(self, sought: Iterable[Sought], deadline: float) -> set[str]:
        records = self._records() if sought else None
        fields = records._fields if records is not None else None
        absent = set()
        for text in dict.fromkeys(text for item in sought for text in item.texts):
            names = any(text in source.name for source in self._sources)
            if names or (fields is not None and fields.knows(text)):
                continue
            stands, other = self._find(text, deadline)
            if not stands and not (other and self._seeker.case.may_differ(text)):
                absent.add(text)
        return absent

    def _find(self, text: str, deadline: float) -> tuple[bool, str]:
        """Whether the text stands in the data, and how if only in another case. What time did not
        suffice for stands, as far as is known."""
        if text in self._stands:
            return self._stands[text]
        forms = {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1],
                 text.replace('"', '""')}
        if len(text.encode("utf-8", "replace")) > _LONGEST_WORD:
            return True, ""
        folded, other = text.lower(), ""
        for source in self._sources:
            for at in range(0, source.bytes, _CHUNK):
                if time.monotonic() > deadline:
                    return True, ""
                part = str(source.view[max(0, at - _LONGEST_WORD):at + _CHUNK], "utf-8", "replace")
                if any(form in part for form in forms):
                    self._stands[text] = True, ""
                    return True, ""
                if not other and (place := part.lower().find(folded)) >= 0:
                    other = part[place:place + len(text)]
                    if other.lower() != folded:  # a letter whose small one is longer stood before
                        other = folded
        self._stands[text] = False, other
        return False, other

    def _values(self, tests: Iterable[Test], sought: Iterable[Sought], absent: set[str],
                deadline: float, whole: bool) -> Values:
        """All of them, or not `whole` as many as it takes for each test to fit one."""
        records = self._records() if tests or absent else None
        fields = {test.field for test in tests} | {
            field for item in sought if absent.issuperset(item.texts) for field in item.fields}
        values = Values(sorted(fields))
        if records is None or not (fields or absent):
            return values
        open_tests = [one for test in tests for one in test.each() if not test.orders_numbers()]

        def enough() -> bool:
            open_tests[:] = [test for test in open_tests
                             if not values.fits(test, self._seeker.case)]
            return not open_tests

        values.read(records, absent, deadline, *([] if whole else [enough]))
        return values

    def _find_misled(self, tests: Iterable[Test], values: Values, about: dict[str, str]) -> None:
        """Of an answer that says something, the tests that it may be wrong for."""
        case, single = self._seeker.case, [one for test in tests for one in test.each()]
        for test in single:
            if (reason := values.as_texts(test) or values.left_out(test, case)) is not None:
                self.found[str(test)] = reason
                self.misled[str(test)] = (test.field.rsplit(".", 1)[-1],)
                about[str(test)] = test.field
            elif values.whole and str(test) not in self.proved \
                    and values.fits(test, case) is False and values.misled(test, single, case):
                self.found.setdefault(str(test), values.reason(test))
                about.setdefault(str(test), test.field)
                self.misled[str(test)] = test.values

    def _weigh_tests(self, tests: Iterable[Test], values: Values, absent: set[str],
                     about: dict[str, str], said: set[str], deadline: float) -> set[str]:
        """The fields of which a test fits."""
        fitting = set()
        for test in tests:
            fits = values.fits(test, self._seeker.case)
            texts = [value for value in test.values if isinstance(value, str)]
            if fits:
                fitting.add(test.field)
            elif fits is False and (values.whole or texts and absent.issuperset(texts)):
                self.found[str(test)] = values.reason(test)
                if values.whole and (values.proves(test, self._shown) or (
                        test.sign != "one of" and texts and values.are_texts(test.field)
                        and self._stands_nowhere(texts[0], deadline))):
                    self.proved |= {str(test), *map(str, test.each())}
                about[str(test)] = test.field
                self._told_tests[str(test)] = test
                said.update(texts)
        return fitting

    def _weigh_texts(self, sought: Iterable[Sought], values: Values, absent: set[str],
                     about: dict[str, str], said: set[str], deadline: float) -> set[str]:
        """The texts that stand in the data, in lower case."""
        fitting = set()
        for item in sought:
            if not absent.issuperset(item.texts):
                fitting |= {text.lower() for text in item.texts}
                continue
            known = [field for field in item.fields
                     if field in values.counts and not set(values.counts[field]) <= {None}]
            for text in set(item.texts) - said:
                nowhere, (_, other) = self._stands_nowhere(text, deadline), self._stands.get(text, (False, ""))
                reason = f"{short(text)} stands nowhere in the text."
                reason += f" {other!r} does." if other else ""
                if len(known) == 1:
                    test = Test(known[0], "==", text)
                    listed = values.listing(test)
                    self._told_tests[text] = test
                    if values.whole and values.all_shown(test, self._shown):
                        self.proved.add(text)
                    reason += f" {known[0]}:{listed.removeprefix('Its values:')}"
                if all(map(values.are_texts, known)) and nowhere:
                    self.proved.add(text)
                self.found[text] = reason
                about[text] = text.lower()
        return fitting

    def _weigh_joins(self, joins: Collection[Join], deadline: float, about: dict[str, str]) -> set[str]:
        """Tells of fields whose values never meet, though some would if they were written alike; gives
        those joins that make something of the values first."""
        rows = self._records() if joins else None
        joins = [join for join in joins
                 if rows is not None and rows._fields.knows(join.keys) and rows._fields.knows(join.looked)]
        values: dict[tuple[str, Any], set[Any]] = defaultdict(set)   # by field and file
        for index, row in enumerate(rows if joins else ()):
            if index % 256 == 255 and time.monotonic() > deadline:
                return set()
            for field in {field for join in joins for field in (join.keys, join.looked)}:
                if isinstance(value := row.get(field), (str, int, float)):
                    values[field, row.get(FILE) if FILE in row else None].add(
                        str(value) if self._seeker.case.reads_text() else value)
        for join in joins:
            mine = {home: kinds for home, kinds in values.items() if home[0] == join.keys}
            pairs = [(kinds, own) for home, own in values.items() if home[0] == join.looked
                     for other, kinds in mine.items() if other != home]
            if not join.plain or len(pairs) > _MOST_PAIRS or any(kinds & own for kinds, own in pairs):
                continue
            for kinds, own in pairs:
                forms = {alike(value): value for value in kinds}
                near = next((value for value in own if alike(value) in forms), None)
                if near is not None:
                    self.found[str(join)] = (
                        f"No {join.looked} is equal to any {join.keys}, though some would be if they were "
                        f"written alike: {near!r} and {forms[alike(near)]!r}.")
                    self.misled[str(join)] = (join.looked.rsplit(".", 1)[-1],)
                    about[str(join)] = str(join)
        return {str(join) for join in joins if not join.plain}

    def _settle(self, fitting: set[str], about: dict[str, str]) -> None:
        for key, (subject, reason) in list(self._told.items()):
            if subject in fitting and key not in self.found:
                del self._told[key]
                self.settled.append(reason)
        self._told |= {key: (about[key], reason) for key, reason in self.found.items()}
