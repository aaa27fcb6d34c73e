"""The rules of the house about names, words, headers and the build. `scripts/house --check` asks them.

Each rule is a function that is given the module `rooms` and yields a sentence for each fault.
"""

import re
from collections import defaultdict

# The rooms as they were planned: names of commands (ask, chat, agents, research) or words of the field.
PLANNED = {
    "base": "text files process json yaml net", "tokens": "", "inspect": "formats records json",
    "assembly": "layout fit sources", "store": "", "config": "", "model": "client dialects catalog local schema",
    "sandbox": "session jail walls probes", "memory": "store search blocks render",
    "sources": "commands repository pack", "driver": "", "ask": "loop subcalls documents policy", "chat": "",
    "agents": "task engine merge policy", "research": "call node exec resources search paper run", "app": "",
    "cli": "terminal",
}
LOOPS = ("ask", "chat", "agents", "research")  # each is the command of its name
DECISION = "docs/decisions/rooms.md"

# What the size of a model changes is a field of ModelPolicy. These files choose the policy or its prompts.
POLICY_HOME = ("src/ask/policy/model_policy.h", "src/ask/policy/model_policy.cc")
SIZE_CHOSEN = (*POLICY_HOME, "src/ask/engine.h", "src/ask/engine.cc", "src/ask/run/prompts.h",
               "src/ask/run/prompts.cc", "src/cli/runs/ask_flags.cc",
               "src/model/catalog/catalog_reader.cc")
# `ModelPolicy::tolerance` in words: which forms of a reply are taken. Its readers, and how often each asks.
TOLERANCE_READ = {"src/ask/reply/bare_answer.cc": 4, "src/ask/reply/extraction.cc": 2, "src/ask/loop/call_loop.cc": 1,
                  "src/ask/loop/call_end.cc": 1, "src/ask/loop/call_turn.cc": 2}
SIZE = re.compile(r"\bProfile::k(?:Small|Large)\b|\.profile == \"(?:small|large)\"")
TOLERANCE = re.compile(r"ModelSize::k(?:Small|Large)\b")

# A type name that headers of two rooms declare has a row for each of its meanings here.
GLOSSARY = "docs/glossary.md"
TYPE = re.compile(r"^(?:enum class|enum|struct|class) (?:\[\[\w+\]\] )?(\w+)\b(?! *;)[^;{]*\{|^using (\w+) =", re.M)

# Headers of many templates: a unit that includes one pays seconds. They belong into sources.
HEAVY = re.compile(r"#include <(boost/(?!json\.hpp)|CLI/|yaml-cpp/|re2/|regex>|iostream>|ranges>|simdjson|fmt/(?!format\.h)"
                   r"|sqlite3\.h|openssl/|unicode/)")
# What a change costs, counted instead of timed: units (the sources of one folder, or its tests) that are
# compiled again. All units include result.h; how many there are is what a whole build costs.
MOST_UNITS = 216
MOST_UNITS_OF_DRIVER = 60  # that any header of src/driver reaches
MOST_BYTES_OF_UNIT = 242_000  # of source text; the longest unit is what a build waits for at its end
MOST_BYTES_OF_HEADER = 492_000  # of our own headers that one header includes, itself counted

MOST_FUNCTION = 60  # lines: a screen
# Longer functions; the list only gets shorter. Those of *_assets.cc are texts of pages.
LONG_FUNCTIONS = {"src/ask/engine.cc": 1, "src/ask/subcalls/session_restore.cc": 1, "src/ask/loop/call_answer.cc": 1,
                  "src/ask/loop/direct.cc": 1, "src/ask/run/replay.cc": 1, "src/research/search/tree_page_assets.cc": 2}
TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'"
                   r"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*|[{};]|[^{};\"'/#]+|.", re.S | re.M)
SCOPE = re.compile(r"(?:template\s*<.*>\s*)?(?:inline\s+)?(?:namespace|struct|class|enum|union|extern)\b", re.S)

SOURCE_INCLUDED = re.compile(r"^\s*#\s*include\s+[\"<][^\">]+\.cc[\">]", re.M)
WRITES_UNITS = re.compile(r"#include *\\?[\"<](?:\{|[^\">\n]*\.cc)")


def text_of(path):
    return path.read_text(encoding="utf-8", errors="replace")


def production(rooms):
    for room in rooms.rooms():
        if room.name != "testing":
            for path in room.files():
                if not rooms.is_test(path):
                    yield room, path


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def room_names(rooms):
    """A room is named as planned, or the decision says why not."""
    said = text_of(rooms.ROOT / DECISION)
    declared = {room.name: room for room in rooms.rooms() if room.name != "testing"}
    for name, room in declared.items():
        planned = PLANNED.get(name, "").split()
        if name not in PLANNED and f"`{name}`" not in said:
            yield f"src/{name}: no planned room, and {DECISION} does not say why it is there"
        for part in room.subrooms:
            if part not in (".", *planned) and not re.search(rf"`(?:{name}/)?{part}`", said):
                yield f"src/{name}/{part}: no planned sub-room, and {DECISION} does not say why it is there"
    commands = "\n".join(text_of(path) for path in (rooms.ROOT / "src" / "cli").rglob("*_command.cc"))
    for name in LOOPS:
        if name not in declared or not re.search(rf'"{name}"', commands):
            yield f"{name}: a room and a command have that name; one of them is gone"


def model_policy(rooms):
    """What a small model needs differently is a field of ModelPolicy, and no branch elsewhere."""
    for _, path in production(rooms):
        name = rooms.short(path)
        text = without_comments(text_of(path))
        if name not in SIZE_CHOSEN and SIZE.search(text):
            yield f"{name} asks for the size of a model: let it read a field of ModelPolicy"
        asked = len(TOLERANCE.findall(text)) if path.suffix == ".cc" and name not in POLICY_HOME else 0
        if asked > TOLERANCE_READ.get(name, 0):
            yield f"{name} branches on ModelSize {asked} times: give ModelPolicy a field that says what is meant"


def opening(text):
    """The comment that a header begins with, as one line."""
    found = re.match(r"(?:// ?[^\n]*\n|//\n)+", text)
    return " ".join(line[2:].strip() for line in found[0].splitlines()) if found else ""


def header_comments(rooms):
    """A header begins with a sentence that says what it is for, and names its threads."""
    for _, path in production(rooms):
        if path.suffix != ".h":
            continue
        name, text = rooms.short(path), text_of(path)
        first = re.split(r"(?<=\.)\s", opening(text), maxsplit=1)[0]
        if len(first.split()) < 3 or not first.endswith("."):
            yield f"{name} does not begin with a sentence that says what it is for"
        says_threads = re.search(r"hread-safety|any thread", text)
        if not says_threads:
            yield f"{name} does not say in which threads it may be used (Thread-safety: …)"


def glossary_rows(rooms):
    """Term without what stands in brackets, in lower case -> how many rows it has."""
    rows = defaultdict(int)
    for term in re.findall(r"^\| ([^|]+) \|", text_of(rooms.ROOT / GLOSSARY), re.M):
        rows[re.sub(r"\s*\(.*\)|`|,.*", "", term).strip().lower()] += 1
    return rows


def two_meanings(rooms):
    """A name of a type means one thing in all rooms, or the glossary has a row for each meaning."""
    users = defaultdict(set)
    for room, path in production(rooms):
        if path.suffix == ".h":
            for struct, alias in TYPE.findall(text_of(path)):
                users[struct or alias].add(room.name)
    rows = glossary_rows(rooms)
    clashes = {name: where for name, where in users.items() if len(where) > 1}
    for name, where in sorted(clashes.items()):
        term = re.sub(r"(?<!^)(?=[A-Z])", " ", name).lower()
        if rows[term] < len(where):
            yield (f"{name} is declared in {' and '.join(sorted(where))}: two names, "
                   f"or a row for each meaning in {GLOSSARY}")


class Graph:
    """Which headers of ours a file includes, directly or not, and the units that are compiled."""

    def __init__(self, rooms):
        self.rooms = rooms
        files = [path for room in rooms.rooms() for path in room.files()]
        self.direct = {path: list(rooms.includes(path)) for path in files}
        self.units = defaultdict(list)
        for path in files:
            if path.suffix == ".cc":
                self.units[path.parent, rooms.is_test(path)].append(path)

    def reached(self, *paths):
        seen, waiting = set(), list(paths)
        while waiting:
            for header in self.direct.get(waiting.pop(), ()):
                if header not in seen:
                    seen.add(header)
                    waiting.append(header)
        return seen


def size_of(paths):
    return sum(path.stat().st_size for path in paths)


def build_cost(rooms):
    """Few units, none too long, light headers: what a build and a change cost, without a clock."""
    graph = Graph(rooms)
    if len(graph.units) > MOST_UNITS:
        yield f"{len(graph.units)} units are compiled; at most {MOST_UNITS}: merge folders of a few files"
    for (folder, _), paths in graph.units.items():
        if size_of(paths) > MOST_BYTES_OF_UNIT:
            yield f"{rooms.short(folder)}: one unit of {size_of(paths)} bytes; at most {MOST_BYTES_OF_UNIT}"
    reached = [graph.reached(*paths) for paths in graph.units.values()]
    for header in sorted((rooms.ROOT / "src" / "driver").glob("*.h")):
        count = sum(header in headers for headers in reached)
        if count > MOST_UNITS_OF_DRIVER:
            yield f"{rooms.short(header)} reaches {count} units; at most {MOST_UNITS_OF_DRIVER}"
    for path in (path for path in graph.direct if path.suffix == ".h"):
        size = size_of({path, *graph.reached(path)})
        if size > MOST_BYTES_OF_HEADER:
            yield f"{rooms.short(path)} includes {size} bytes of headers; at most {MOST_BYTES_OF_HEADER}"
        if not rooms.is_test(path) and (heavy := HEAVY.search(text_of(path))):
            yield f"{rooms.short(path)} includes <{heavy[1]}…, a header of many templates: move it into a source"


def unity_by_cmake(rooms):
    """What is compiled together is said by CMake alone: its unity builds, by folder."""
    room_file = text_of(rooms.ROOT / "cmake" / "Room.cmake")
    if "UNITY_BUILD_MODE GROUP" not in room_file or "UNITY_GROUP ${group}" not in room_file:
        yield "cmake/Room.cmake does not group sources by folder with CMake's own unity builds"
    for _, path in production(rooms):
        if SOURCE_INCLUDED.search(text_of(path)):
            yield f"{rooms.short(path)} includes a source: CMake says what is compiled together"
    programs = [path for folder in ("cmake", "scripts") for path in (rooms.ROOT / folder).iterdir()
                if path.is_file() and path.name not in ("house_rules.py", "extract_example.py")]
    for path in (path for path in programs if WRITES_UNITS.search(text_of(path))):
        yield f"{rooms.short(path)} writes units of its own: CMake says what is compiled together"


def functions(text):
    """(first line, count of lines, first words) of each function that stands in a namespace or a class."""
    open_braces, head, line, start = [], "", 1, None
    for token in (found[0] for found in TOKEN.finditer(text)):
        if token == "{":
            words = " ".join(head.split())
            outside = all(kind == "scope" for kind, _, _ in open_braces)
            called = "(" in words and "=" not in words.partition("(")[0].replace("operator=", "")
            kind = "inside" if not outside else "scope" if SCOPE.match(words) and not words.endswith(")") else \
                "function" if called else "value"
            open_braces.append((kind, start or line, words))
        elif token == "}" and open_braces:
            kind, first, words = open_braces.pop()
            if kind == "function":
                yield first, line - first + 1, words
        if token in ("{", "}", ";"):
            head, start = "", None
        elif not token.startswith(("//", "/*")) and not token.lstrip().startswith("#"):
            if not head.strip() and token.strip():
                start = line + token[:len(token) - len(token.lstrip())].count("\n")
            head = re.sub(r"^\s*(?:public|private|protected)\s*:", "", head + token)
        line += token.count("\n")


def long_functions(rooms):
    """A function fits a screen."""
    for _, path in production(rooms):
        name = rooms.short(path)
        found = [(line, count, words) for line, count, words in functions(text_of(path)) if count > MOST_FUNCTION]
        allowed = LONG_FUNCTIONS.get(name, 0)
        if len(found) > allowed:
            for line, count, words in found:
                yield f"{name}:{line} has {count} lines; at most {MOST_FUNCTION}: {words[:60]}"



RULES = (long_functions, room_names, model_policy, header_comments, two_meanings, build_cost, unity_by_cmake)


def faults(rooms):
    for rule in RULES:
        yield from rule(rooms)
