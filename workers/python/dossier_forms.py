"""Values that stand in the data in another written form than code looks for.

    forms = Forms(seeker)
    forms.look(parsed)       # before values are read: forms.tests, what the block asks of fields
    forms.in_values(values)  # {"status == 'Closed'": ("12 more rows …: 'closed' (12).", ("Closed",))}
    forms.in_lines(texts, deadline)   # of what is searched in lines of a text

Two texts are one value in two forms if they differ in case, accents, spaces and hyphens, a full stop at
the end, or the marks that group thousands. A test that holds for some rows and not for others of the
same value gives a number that is too small. In running text a word that code writes with a capital may
be another one than the small word, so only small ones are looked for in either case.
"""

import ast
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from dossier_code import Parsed
from dossier_empty import Test, Values, short, tests_of
from dossier_seek import Seeker

_SHOWN = 4
_LEAST = 2          # characters of a value
_LEAST_WORD = 4     # of a word in running text
_MOST_LINES = 2000  # between two looks at the clock
_SIGN_OF = {"fullmatch": "==", "match": "start", "search": "in", "findall": "in", "finditer": "in",
            "contains": "in", "grep": "in"}
_TEXTS = {"context", "doc", "open", "splitlines", "readlines", "read_text", "lines"}
_GAP = re.compile(r"(?<=[^\W_])[\s_\-\u2010-\u2015]+(?=[^\W\d_])|(?<=[^\W\d_])[\s_\-\u2010-\u2015]+(?=\d)")
_SIGN = re.compile(r"\s*([&/+,;:])\s*")
_GROUPS = re.compile(r"(?<![\d.,])(\d{1,3})((?:[,'\u2019\u00a0\u202f]\d{3})+)(?![\d])")
_PLAIN_PATTERN = re.compile(r"(?:\\b|\^)?((?:[^\W_]|[ _\-,:;/'])+)(?:\\b|\$)?")

_Hit = tuple[str, tuple[str, ...]]


class Forms:
    """Of one block."""

    def __init__(self, seeker: Seeker) -> None:
        self._seeker = seeker
        self.tests: list[Test] = []
        self._all: list[Test] = []   # with those that say what other forms there are
        self._words: dict[str, bool] = {}   # that are searched in a text: whether all of it at once

    def look(self, parsed: Parsed, asked: Iterable[Test] = ()) -> None:
        tests = [one for test in (*tests_of(parsed, self._seeker), *asked) for one in test.each()]
        tests += [*_looked_up(parsed, self._seeker)]
        for pattern, around in _patterns(parsed, self._seeker):
            sign, word = pattern
            field, made = self._seeker.field(around) if around is not None else (None, ())
            if field is not None:
                tests.append(Test(field, sign, word, made))
            elif sign == "in" and _is_text(around, parsed):
                self._words[word] = _is_all(around)
        for word, around, found in _searched(parsed):
            field, made = self._seeker.field(around)
            if field is not None:
                tests.append(Test(field, "in", word, made))
            elif _is_text(around, parsed) and not found:
                self._words[word] = _is_all(around)
        self._all = tests
        self.tests = [test for test in dict.fromkeys(tests) if test.sign in ("==", "in", "start", "end")
                      and not isinstance(test.value, bool) and len(str(test.value).strip()) >= _LEAST
                      and not self._seeker.case.may_differ(str(test.value))]
        self._words = {word: whole for word, whole in self._words.items()
                       if not self._seeker.case.may_differ(word)}

    def in_values(self, values: Values, counts: bool) -> dict[str, _Hit]:
        """`counts`: the block shows a number, so that what stands in running text counts, too."""
        found: dict[str, _Hit] = {}
        case = self._seeker.case
        tests = [test._replace(sign="==") if test.sign == "in" and test.field in values.lists else test
                 for test in self.tests]   # an item of a list
        for test in tests:
            counter = values.counts.get(test.field, Counter())
            loose = _loose(test) if test.sign != "in" or counts else None
            if loose is None or not any(test.holds(value, case) for value in counter):
                continue
            others = [other for other in (*tests, *self._all) if other.field == test.field]
            more = {value: count for value, count in counter.items()
                    if value is not None and loose(test._made(value))
                    and not any(other.holds(value, case) for other in others)}
            if more:
                found[str(test)] = (_sentence(str(test), more), (test.value,))
        return found

    def in_lines(self, texts: Iterable[str], deadline: float) -> dict[str, _Hit]:
        words = {word: (_loose_word(word), Counter[str]()) for word in self._words}
        words = {word: pair for word, pair in words.items() if pair[0] is not None}
        held: Counter[str] = Counter()
        lines = (line for text in texts for line in text.split("\n")) if words else ()
        for index, line in enumerate(lines):
            if index % _MOST_LINES == 0 and time.monotonic() > deadline:
                break
            for word, (loose, more) in words.items():
                strict, whole = line.count(word), self._words[word]
                held[word] += strict
                hits = loose(line) if whole or not strict else []
                if len(hits) > strict:
                    other = next((hit for hit in hits if hit != word), word)
                    more[other] += len(hits) - strict if whole else 1
        return {word: (_sentence(repr(word), more, "places"), (word,))
                for word, (_, more) in words.items()
                if more and held[word] and not any(other in more for other in words)}


def form(value: object) -> str:
    """One text for all forms of a value."""
    text = _GROUPS.sub(lambda found: found[1] + re.sub(r"\D", "", found[2]), _folded(str(value)))
    text = _SIGN.sub(r"\1", _GAP.sub("", text.casefold().strip()))
    return text.rstrip(".").rstrip()


def _folded(text: str) -> str:
    """Without accents."""
    if text.isascii():
        return text
    return "".join(letter for letter in unicodedata.normalize("NFKD", text)
                   if not unicodedata.combining(letter))


def _loose(test: Test) -> Callable[[object], object] | None:
    """Whether a value would do in another form; None where no other is thought of."""
    wanted = form(test.value)
    if test.sign == "in":
        word = _loose_word(test.value) if isinstance(test.value, str) else None
        return word and (lambda value: word(value) or form(value) == wanted)
    if not any(map(str.isalnum, wanted)):
        return None
    if test.sign == "==":
        return lambda value: form(value) == wanted
    return lambda value: isinstance(value, str) and (
        form(value).startswith(wanted) if test.sign == "start" else form(value).endswith(wanted))


def anyhow(word: str) -> Callable[[str], re.Match[str] | None] | None:
    """Finds a text in any written form: in another case, without accents, with or without spaces and
    hyphens, with a letter more in long words. None for a text of signs alone."""
    parts = re.findall(r"[^\W_]+", _folded(word))
    if not parts:
        return None
    spelt = [r"\w?".join([*part, ""]) if len(part) > _LEAST_WORD and part.isalpha()
             and not re.search(r"(.)\1\1", part) else part for part in parts]   # `aaaaaa` would take for ever
    joined = r"[\W_]*".join(spelt) if len(parts) > 1 else rf"{spelt[0]}|" + r"(?:-\s*)?".join(map(re.escape, parts[0]))
    found = re.compile(joined, re.IGNORECASE).search
    return lambda text: found(_folded(text))


def _loose_word(word: str) -> Callable[[object], list[str]] | None:
    """Gives the forms in which a text has a word or number."""
    text = _folded(word)
    if text.isdigit():
        if len(text) < _LEAST_WORD:
            return None
        pattern = r"(?<![\d.,])" + re.sub(r"(?<=\d)(?=(?:\d{3})+$)", "[,'\u2019\u00a0\u202f]?", text) + r"(?!\d)"
    elif len(text.strip()) < _LEAST_WORD or not any(map(str.isalpha, text)):
        return None
    else:
        pattern = "".join(_LETTERS.get(letter, re.escape(letter)) if not follows else
                          re.escape(letter) + "-?" for letter, follows
                          in zip(text, [a.isalpha() and b.isalpha() for a, b in zip(text, text[1:])] + [False]))
    found = re.compile(pattern, re.IGNORECASE if word == word.lower() else 0).findall
    return lambda value: found(_folded(value)) if isinstance(value, str) else []


_LETTERS = {" ": r"[\s_\-]*", "-": r"[\s_\-]*", "_": r"[\s_\-]*"}


def _sentence(test: str, more: dict[object, int], unit: str = "rows") -> str:
    listed = sorted(more.items(), key=lambda pair: -pair[1])
    shown = ", ".join(f"{short(value)} ({count:,})" for value, count in listed[:_SHOWN])
    rest = f" and {len(listed) - _SHOWN:,} more" if len(listed) > _SHOWN else ""
    return (f"{sum(more.values()):,} {unit} have it in another written form than {test} looks for: "
            f"{shown}{rest}.")


def _looked_up(parsed: Parsed, seeker: Seeker) -> Iterator[Test]:
    """Counter(r["status"] for r in records)["Closed"], and a dict with such keys."""
    keyed = {name: {field} for name, (field, plain) in seeker._keys.items() if plain}
    keyed |= {binding.name: seeker._named_fields(binding.value) for binding in parsed.bindings
              if getattr(getattr(binding.value, "func", None), "id", "") == "Counter"}
    for node in parsed.of(ast.Subscript):
        fields = keyed.get(getattr(node.value, "id", ""), set())
        if isinstance(node.ctx, ast.Load) and len(fields) == 1:
            yield from (Test(field, "==", text) for field in fields for text in seeker.texts(node.slice))


def _patterns(parsed: Parsed, seeker: Seeker) -> Iterator[tuple[tuple[str, str], ast.expr | None]]:
    """The sign and word of patterns that are just a word, and what they are looked for in."""
    compiled = {binding.name: binding.value.args[0] for binding in parsed.bindings
                if isinstance(binding.value, ast.Call) and binding.value.args
                and getattr(binding.value.func, "attr", "") == "compile"}
    for call in parsed.of(ast.Call):
        name, owner = getattr(call.func, "attr", ""), getattr(call.func, "value", None)
        if name not in _SIGN_OF or not call.args:
            continue
        if getattr(owner, "id", "") in ("re", "regex"):
            said, around = call.args[0], call.args[1] if len(call.args) > 1 else None
        elif getattr(owner, "id", "") in compiled:
            said, around = compiled[owner.id], call.args[0]
        elif name in ("contains", "grep"):
            said, around = call.args[0], owner
        else:
            continue
        for pattern in seeker.texts(said):
            plain = _PLAIN_PATTERN.fullmatch(pattern)
            if plain is not None:
                yield (("start" if pattern[0] == "^" else _SIGN_OF[name]), plain[1]), around


def _searched(parsed: Parsed) -> Iterator[tuple[str, ast.expr, bool]]:
    """"x" in line, context.count("x"), and r["text"].find("x"), which tells a place"""
    for node in parsed.of(ast.Compare):
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)) \
                and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
            yield node.left.value, node.comparators[0], False
    for call in parsed.of(ast.Call):
        if getattr(call.func, "attr", "") in ("count", "find") and len(call.args) == 1 \
                and isinstance(getattr(call.args[0], "value", None), str):
            yield call.args[0].value, call.func.value, call.func.attr == "find"


def _is_all(node: ast.expr | None) -> bool:
    """Whether an expression is the whole text, not a line of it."""
    return getattr(node, "id", "") in ("context", "doc")


def _is_text(node: ast.expr | None, parsed: Parsed) -> bool:
    """Whether an expression is the text of the context, or a line of it."""
    if not isinstance(node, ast.Name):
        return False
    if _is_all(node):
        return True
    sources = [part.iter for kind in (ast.For, ast.comprehension) for part in parsed.of(kind)
               if getattr(part.target, "id", "") == node.id]
    named = {binding.name: binding.value for binding in parsed.bindings if binding.value is not None}
    sources = [named.get(getattr(source, "id", ""), source) for source in sources]
    words = {getattr(part, "attr", getattr(part, "id", "")) for source in sources
             for part in ast.walk(source)}
    return bool(words & _TEXTS) and "records" not in words
