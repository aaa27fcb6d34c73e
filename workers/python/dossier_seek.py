"""Which text constants a block compares with data, looks up in them or searches them for.

    seeker = Seeker()
    seeker.look(Parsed("want = 'open'\nn = Counter(r['status'] for r in records)[want]"))
    # [Sought(texts=("open",), node=..., fields=("status",), ...)]

What is only printed, tells a format or a separator, names a key that the code itself writes, or was
said to a model is no such constant. A name that was bound to constants stands for them, in later
blocks too.
"""

import ast
import re
from collections import defaultdict, namedtuple
from collections.abc import Iterable, Iterator
from typing import Any

from dossier_code import Parsed
from dossier_fold import Unknown, fold

_FINDS = {"count", "find", "rfind", "index", "rindex", "startswith", "endswith", "get", "pop", "isin",
          "eq", "contains", "grep"}
_PATTERNS = {"search", "match", "fullmatch", "findall", "finditer", "compile", "grep", "contains"}
_KEYS = {"get", "pop"}                 # of these the code may name keys that it wrote itself
# What code tells something to and gets answers from that are none of the context's data.
_MODELS = {"llm_query", "llm_query_batched", "rlm_query", "rlm_query_batched", "map_llm",
           "memory_search", "memory_get", "memory_write"}
_OURS = {"contexts", "contextMeta", "answer", "globals", "locals", "environ"}
_CASES = {"lower": "lower", "casefold": "lower", "upper": "upper", "title": "any",
          "capitalize": "any", "swapcase": "any", "I": "any", "IGNORECASE": "any",
          **dict.fromkeys(("strip", "lstrip", "rstrip", "split", "replace", "sub"), "strip")}
# How code may change a text before it compares it.
_MADE = ("lower", "upper", "strip", "casefold", "lstrip", "rstrip", "replace")
_MOST = 40           # constants of one block
_LONGEST = 200       # characters of one
_LEAST_RUN = 2       # characters of a pattern that are looked up


class Sought(namedtuple("Sought", "texts fields")):
    """Alternatives, of which one would do, and the fields of the data that stand around them."""

    __slots__ = ()


class Join(namedtuple("Join", "keys looked plain")):
    """A field whose values are looked up among those of another; `plain`: both as they are."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"{self.looked} in {self.keys}"


class Case(namedtuple("Case", "kinds")):
    """How code changes case before it compares: in which case a constant may stand in the data."""

    __slots__ = ()

    def may_differ(self, text: str) -> bool:
        return ("any" in self.kinds or ("lower" in self.kinds and text == text.lower())
                or ("upper" in self.kinds and text == text.upper()))

    def strips(self) -> bool:
        return "strip" in self.kinds

    def reads_text(self) -> bool:
        """Whether code reads rows by itself, in which all values are texts."""
        return "text" in self.kinds


class Seeker:
    """Remembers over the blocks of a session which names stand for text constants."""

    def __init__(self) -> None:
        self._texts: dict[str, tuple[str, ...]] = {}
        self._fields: dict[str, set[str]] = {}        # that the value of a name was made from
        self._direct: dict[str, ast.expr | None] = {}  # r["status"], where a name is just that
        self._cases: dict[str, frozenset[str]] = {}   # that stand in the block which bound a name
        self._own: set[str] = set()                   # keys that code writes
        self._told: set[str] = set()                  # what was said to a model, in lower case
        self._keys: dict[str, tuple[str, bool]] = {}  # of dicts and sets: the field, and if it is plain
        self._either: set[str] = set()                # names that any() and the like go through
        self._named: set[str] = set()                 # names of Python's names: for x in dir(r)
        self._answers: set[str] = set(_MODELS)        # names that were made from answers
        self.case = Case(frozenset())

    def forget(self) -> None:
        self.__init__()  # type: ignore[misc]

    def look(self, parsed: Parsed) -> list[Sought]:
        self._learn(parsed)
        found: list[tuple[Sought, list[ast.expr]]] = []
        found += self._compared(parsed)
        found += self._looked_up(parsed)
        found += self._matched(parsed)
        self._hear(parsed, {id(node) for _, nodes in found for node in nodes})
        kept = []
        for sought, _ in found:
            texts = tuple(dict.fromkeys(text for text in sought.texts if self._counts(text)))
            if texts and len(texts) == len(set(sought.texts)):
                kept.append(Sought(texts, sought.fields))
        return list(dict.fromkeys(kept))[:_MOST]

    def texts(self, node: ast.expr | None) -> tuple[str, ...]:
        """The texts that an expression of constants stands for; of a dict its keys."""
        if isinstance(node, ast.Constant):
            return (node.value,) if isinstance(node.value, str) else ()
        if isinstance(node, ast.Name):
            return self._texts.get(node.id, ())
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return tuple(text for item in node.elts for text in self.texts(item))
        if isinstance(node, ast.Dict):
            return tuple(text for key in node.keys for text in self.texts(key))
        if isinstance(node, ast.JoinedStr):
            return self._joined(node)
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in ("escape", "compile", "set", "list", "tuple", "frozenset") and node.args:
                return self.texts(node.args[0])
            if name in ("lower", "upper", "strip", "casefold", "title", "capitalize", "split") \
                    and isinstance(node.func, ast.Attribute):
                made = (getattr(text, name)() for text in self.texts(node.func.value))
                return tuple(part for value in made
                             for part in (value if isinstance(value, list) else [value]))
        if isinstance(node, (ast.BinOp, ast.Call)):
            try:
                value = fold(node, {})
            except Unknown:
                return ()
            values = [value] if isinstance(value, str) else \
                value if isinstance(value, (list, tuple, set, dict)) else []
            return tuple(item for item in values if isinstance(item, str))
        return ()

    def _joined(self, node: ast.JoinedStr) -> tuple[str, ...]:
        made = ""
        for part in node.values:
            texts = self.texts(part.value if isinstance(part, ast.FormattedValue) else part)
            if len(texts) != 1:
                return ()
            made += texts[0]
        return (made,)

    def _counts(self, text: str) -> bool:
        return bool(text.strip()) and len(text) <= _LONGEST \
            and not any(text.lower() in told for told in self._told)

    def _learn(self, parsed: Parsed) -> None:
        own = frozenset(_CASES[node.attr] for node in parsed.of(ast.Attribute)
                        if node.attr in _CASES)
        if any(word.arg == "ignore_case" or word.arg == "case" and
               getattr(word.value, "value", True) is False for call in parsed.of(ast.Call) for word in call.keywords):
            own |= {"any"}
        if parsed.names & {"csv", "DictReader"}:
            own |= {"text"}
        read = (self._cases.get(name, frozenset()) for name in parsed.reads)
        self.case = Case(own.union(*read))
        for name in parsed.assigned:
            self._cases[name] = self.case.kinds
        self._own |= set(_written_keys(parsed))
        if parsed.reads & self._answers:
            self._answers.update(parsed.assigned)
        for _ in range(2):  # a name may stand for another
            self._bind(parsed)

    def _bind(self, parsed: Parsed) -> None:
        texts: dict[str, list[str]] = defaultdict(list)
        bound: set[str] = set()
        for name, value, loop in _bindings(parsed):
            plain = value if loop in (ast.Assign, ast.arg) and field_of(value) else None
            same = name not in bound or _same(self._direct.get(name), plain)
            self._direct[name] = plain if same else None
            if name not in bound:
                self._keys.pop(name, None)
            self._keyed(name, value, loop is ast.Subscript)
            bound.add(name)
            of_names = getattr(getattr(value, "func", None), "id", "") in ("dir", "vars")
            (self._named.add if of_names else self._named.discard)(name)
            texts[name] += self.texts(value)
            if loop is ast.comprehension:
                self._either.add(name)
            else:
                self._either.discard(name)
            fields = self._named_fields(value)
            self._fields[name] = self._fields.get(name, set()) | fields if fields else \
                self._fields.get(name, set())
        for call in parsed.of(ast.Call):
            home = getattr(call.func, "value", None)
            if called_on := getattr(getattr(home, "value", home), "id", ""):
                added = call.func.attr in ("setdefault", "add", "append") and call.args \
                    and isinstance(home, ast.Name)
                self._keyed(called_on, call.args[0] if added else getattr(home, "slice", None), True)
        for name in bound:
            self._texts[name] = tuple(dict.fromkeys(texts[name]))

    def _named_fields(self, node: ast.AST | None) -> set[str]:
        """r["status"], r.get("status"), and what names were made from."""
        found: set[str] = set()
        for part in ast.walk(node) if node is not None else ():
            if isinstance(part, ast.Name):
                found |= self._fields.get(part.id, set())
            elif isinstance(part, (ast.Subscript, ast.Call)) and (name := field_of(part)):
                found.add(name)
        return found

    def field(self, node: ast.expr) -> tuple[str | None, tuple[tuple[Any, ...], ...]]:
        """The field whose value an expression is, and what is done to it first, as names of methods
        with what they are given: r["a"].replace(",", ""), or a name for just that. None for a key
        that code writes itself."""
        if isinstance(node, ast.Name):
            node = self._direct.get(node.id) or node
        made = []
        part = node
        while isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) \
                and part.func.attr in _MADE:
            made.append((part.func.attr, *(item.value if isinstance(item, ast.Constant) else None
                                           for item in part.args)))
            part = part.func.value
        if isinstance(part, ast.Name) and made:
            name, before = self.field(part)
            return name, (*before, *reversed(made))
        name = part.attr if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) \
            else field_of(part)
        return (None if name in self._own else name), tuple(reversed(made))

    def _keyed(self, name: str, value: ast.expr | None, item: bool) -> None:
        """Learns the field that the keys of a dict or the items of a set are, from one `item` or all."""
        while isinstance(value, ast.Call) and not item and value.args \
                and getattr(value.func, "id", "") in ("set", "list", "dict", "frozenset"):
            value = value.args[0]
        item_ = value if item else getattr(value, "key", getattr(value, "elt", None))
        if item_ is not None and (found := self._maybe_made(item_)) is not None:
            self._keys[name] = found

    def _maybe_made(self, node: ast.expr) -> tuple[str, bool] | None:
        """The field that an expression is, and whether it is that as it stands."""
        plain = True
        while isinstance(node, ast.Call) and node.args \
                and getattr(node.func, "id", "") in ("str", "int", "float"):
            node, plain = node.args[0], False
        field, made = self.field(node)
        return None if field is None else (field, plain and not made)

    def joins(self, parsed: Parsed) -> Iterator[Join]:
        """names.get(r["id"]), r["id"] in names, names[r["id"]], a["id"] == b["id"]."""
        pairs: list[tuple[Any, Any]] = []
        for call in parsed.of(ast.Call):
            if getattr(call.func, "attr", "") == "get" and call.args:
                pairs.append((self._keys.get(getattr(call.func.value, "id", "")), call.args[0]))
        for node in parsed.of(ast.Subscript):
            if isinstance(node.ctx, ast.Load) and not isinstance(node.slice, ast.Slice):
                pairs.append((self._keys.get(getattr(node.value, "id", "")), node.slice))
        for node in parsed.of(ast.Compare):
            if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
                pairs.append((self._keys.get(getattr(node.comparators[0], "id", "")), node.left))
            elif len(node.ops) == 1 and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
                pairs.append((self._maybe_made(node.comparators[0]), node.left))
        for keys, looked_node in pairs:
            if keys is not None and (looked := self._maybe_made(looked_node)) is not None:
                yield Join(keys[0], looked[0], keys[1] and looked[1])

    def _compared(self, parsed: Parsed) -> Iterator[tuple[Sought, list[ast.expr]]]:
        for node in parsed.of(ast.Compare):
            for left, op, right in zip([node.left, *node.comparators], node.ops, node.comparators):
                mine, others = self.texts(left), self.texts(right)
                if bool(mine) == bool(others) or \
                        not isinstance(op, (ast.Eq, ast.NotEq, ast.In, ast.NotIn)):
                    continue  # nothing of ours, or the code compares its own texts
                if _tells_kind(right if mine else left):
                    continue
                yield from self._each(left if mine else right, right if mine else left,
                                      isinstance(op, (ast.In, ast.NotIn)) and bool(others))

    def _each(self, said: ast.expr, data: ast.expr, either: bool
              ) -> Iterator[tuple[Sought, list[ast.expr]]]:
        """All texts of `said` as alternatives, or one by one."""
        names = {part.id for part in ast.walk(data) if isinstance(part, ast.Name)}
        if names and names <= self._named:
            return
        texts, fields = self.texts(said), tuple(sorted(self._named_fields(data)))
        either = either or (isinstance(said, ast.Name) and said.id in self._either)
        for group in [texts] if either else [(text,) for text in texts]:
            yield Sought(group, fields), [said]

    def _looked_up(self, parsed: Parsed) -> Iterator[tuple[Sought, list[ast.expr]]]:
        for node in parsed.of(ast.Subscript):
            if isinstance(node.ctx, ast.Load) and not isinstance(node.slice, ast.Slice) \
                    and not self._is_own(node.value, node.slice):
                yield from self._each(node.slice, node.value, either=False)
        for node in parsed.of(ast.Call):
            name = getattr(node.func, "attr", "")
            if not node.args or not isinstance(node.func, ast.Attribute):
                continue
            said, data = node.args[0], node.func.value
            module = isinstance(data, ast.Name) and data.id in ("re", "regex")
            if name in _PATTERNS and (module or name in ("grep", "contains")):
                around = node.args[1] if module and len(node.args) > 1 else data
                for pattern in self.texts(said):
                    fields = tuple(sorted(self._named_fields(around)))
                    yield from ((Sought(runs, fields), [said]) for runs in required(pattern))
            elif name in _FINDS and not module and not (name in _KEYS and self._is_own(data, said)):
                yield from self._each(said, data, either=isinstance(said, (ast.Tuple, ast.List)))

    def _is_own(self, base: ast.expr, key: ast.expr) -> bool:
        """A key that the code writes or an answer has, or a place that is none of the data."""
        if any(isinstance(part, ast.Name) and part.id in self._answers for part in ast.walk(base)):
            return True
        name = getattr(base, "attr", getattr(base, "id", getattr(getattr(base, "func", None), "id", "")))
        return name in _OURS or bool(self._own.intersection(self.texts(key)))

    def _matched(self, parsed: Parsed) -> Iterator[tuple[Sought, list[ast.expr]]]:
        for node in parsed.of(ast.Match):
            for case in node.cases:
                for part in ast.walk(case.pattern):
                    if isinstance(part, ast.MatchValue):
                        yield from self._each(part.value, node.subject, either=False)

    def _hear(self, parsed: Parsed, seeking: set[int]) -> None:
        """In a block that asks a model its texts are words for the model to say."""
        if not parsed.reads & _MODELS:
            return
        self._told |= {node.value.lower() for node in parsed.of(ast.Constant)
                       if isinstance(node.value, str) and id(node) not in seeking}
        for call in parsed.of(ast.Call):
            if getattr(call.func, "id", "") in _MODELS:
                for argument in [*call.args, *(word.value for word in call.keywords)]:
                    self._told |= {text.lower() for text in self.texts(argument)}


def required(pattern: str) -> Iterator[tuple[str, ...]]:
    """The texts that stand in whatever a regular expression matches; groups of alternatives."""
    from re import _parser  # type: ignore[attr-defined]  # loaded with `re`; its tree is what counts

    try:
        tree = _parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        return
    if tree.state.flags & re.IGNORECASE:
        return  # either case may stand
    yield from _runs(tree)


def _runs(tree: Iterable[Any]) -> Iterator[tuple[str, ...]]:
    run = ""
    for code, value in [*tree, (None, None)]:
        kind = str(code)
        if kind == "LITERAL":
            run += chr(value)
            continue
        if kind == "AT":
            continue
        if len(run) >= _LEAST_RUN and any(map(str.isalnum, run)):
            yield (run,)
        run = ""
        if kind == "SUBPATTERN":
            yield from _runs(value[3])
        elif kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and value[0] >= 1:
            yield from _runs(value[2])
        elif kind == "BRANCH":
            each = [list(_runs(branch)) for branch in value[1]]
            if all(each):
                yield tuple(max(runs[0], key=len) for runs in each)


def _same(one: ast.expr | None, other: ast.expr | None) -> bool:
    return one is not None and other is not None and ast.dump(one) == ast.dump(other)


def field_of(node: ast.AST | None) -> str | None:
    """`user.city` of r["user"]["city"].lower(), r.get("user.city") and the like."""
    if isinstance(node, ast.Attribute):
        return field_of(node.value) if node.attr == "str" else None
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):  # (r["a"] or "").lower()
        return field_of(node.values[0])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _MADE:
            return field_of(node.func.value)
        if node.func.attr == "get" and node.args and isinstance(node.args[0], ast.Constant) \
                and isinstance(node.args[0].value, str):
            return node.args[0].value
        return None
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) \
            and isinstance(node.slice.value, str):
        inner = field_of(node.value)
        return f"{inner}.{node.slice.value}" if inner else node.slice.value
    return None


def made_texts(parsed: Parsed) -> set[str]:
    """The texts that the code gives as values: what it looks for may be what it made itself."""
    given: list[ast.expr | None] = []
    for node in parsed.of(ast.IfExp):
        given += [node.body, node.orelse]
    given += [node.value for kind in (ast.Return, ast.Assign) for node in parsed.of(kind)]
    given += [value for node in parsed.of(ast.Dict) for value in node.values]
    return {node.value for node in given
            if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def _tells_kind(node: ast.expr) -> bool:
    """`type(x).__name__ == "str"`, `__name__ == "__main__"`: no data."""
    return any(getattr(part, "attr", getattr(part, "id", "")) in ("__name__", "dtype", "type")
               for part in ast.walk(node))


def _written_keys(parsed: Parsed) -> Iterator[str]:
    for node in parsed.of(ast.Dict):
        for key in node.keys:
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value
    for node in parsed.of(ast.Subscript):
        if not isinstance(node.ctx, ast.Load) and isinstance(node.slice, ast.Constant) \
                and isinstance(node.slice.value, str):
            yield node.slice.value
    for node in parsed.of(ast.Call):
        if getattr(node.func, "id", "") == "dict":
            yield from (word.arg for word in node.keywords if word.arg)
        if getattr(node.func, "attr", "") == "setdefault" and node.args \
                and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
            yield node.args[0].value


def _bindings(parsed: Parsed) -> Iterator[tuple[str, ast.expr | None, type]]:
    """Every name that the block binds, in whatever scope, and what to."""
    for node in parsed.of(ast.Assign) + parsed.of(ast.AnnAssign) + parsed.of(ast.NamedExpr):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from _paired(target, node.value)
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                yield target.value.id, target.slice, ast.Subscript
    for node in parsed.of(ast.AugAssign):
        if isinstance(node.target, ast.Subscript) and isinstance(node.target.value, ast.Name):
            yield node.target.value.id, node.target.slice, ast.Subscript
    for kind in (ast.For, ast.comprehension):
        for node in parsed.of(kind):
            for name, value, _ in _paired(node.target, node.iter):
                yield name, value, kind
    functions = {node.name: node.args for node in parsed.of(ast.FunctionDef)}
    for arguments in functions.values():
        named = [*arguments.posonlyargs, *arguments.args]
        for argument, value in zip(reversed(named), reversed(arguments.defaults)):
            yield argument.arg, value, ast.arg
    for call in parsed.of(ast.Call):
        arguments = functions.get(getattr(call.func, "id", ""))
        if arguments is not None:
            named = [*arguments.posonlyargs, *arguments.args]
            for argument, value in zip(named, call.args):
                yield argument.arg, value, ast.arg


def _paired(target: ast.expr, value: ast.expr | None
            ) -> Iterator[tuple[str, ast.expr | None, type]]:
    if isinstance(target, ast.Name):
        yield target.id, value, ast.Assign
    elif isinstance(target, (ast.Tuple, ast.List)):
        parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) \
            and len(value.elts) == len(target.elts) else [None] * len(target.elts)
        for item, part in zip(target.elts, parts):
            yield from _paired(item, part)


def alike(value: Any) -> str:
    """Numbers and texts alike, without spaces around them, leading zeros and differences of case."""
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if whole else value).strip().casefold().lstrip("0")
