"""Says which sources of a room may be compiled as one file.

    unity_groups.py REPOSITORY SOURCE...

prints `GROUP SOURCE` a line, for sources that share a group with another. Two sources may stand in
one group if no name that one keeps for itself (in an unnamed namespace, by a using-declaration or as
a macro) is a word of the other, or of a header that only the other includes: then neither sees that
it was compiled beside the other. Of a header, names that are only declared there as members or
parameters do not count: they are found before names around them. The test is by words, so it
separates too often; what it misses does not compile.

Fewer groups are a faster build, because each instantiates the same templates again. So the sources
with the most conflicts choose first (a colouring by saturation).
"""

import re
import sys
from functools import lru_cache
from pathlib import Path

MOST_FILES = 12
MOST_BYTES = 80_000

WORD = re.compile(r"[A-Za-z_]\w*")
COMMENT = re.compile(r"//.*?$", re.M)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
QUALIFIED = re.compile(r"(?:\.|->|::)\s*\w+")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
USING = re.compile(r"^using (?:::)?((?:\w+::)+(\w+));", re.M)
ALIAS = re.compile(r"^(?:using|namespace) (\w+) = ")
TYPE = re.compile(r"^(?:struct|class|enum(?: class)?|union) (?:\[\[\w+\]\] )?(\w+)")
FUNCTION = re.compile(r"(\w+)\(")
VARIABLE = re.compile(r"(\w+)(?:\[\w*\])*(?: = |=$| =$|;|\{)")
# "  Result<View> Snapshot(", "  std::string key;", "(std::string_view text, int depth = 0)"
DECLARED = re.compile(r"(?<=[\w>&*] )(\w+)(?=\(|;|,|\)| = |\{)")
NOT_DECLARED = re.compile(r"\b(?:return|case|else|goto|new|delete|throw|co_return|typename) \w+")
NO_NAMES = {"const", "struct", "noexcept", "string", "Result", "Status", "dossier", "std"}
MACRO = re.compile(r"^#define (\w+)", re.M)
NOT_A_DECLARATION = re.compile(
    r"^(?:[\s}#/)\]:]|namespace\b|template\b|public|private|extern|TEST(?:_[FP])?\(|[A-Z_]{4,}\(|$)")


def unnamed_parts(text):
    """The text of each unnamed namespace. The tree is formatted, so its end stands in a line's start."""
    for part in text.split("\nnamespace {\n")[1:]:
        yield part.split("\n}  // namespace\n")[0]


def own_names(text):
    """Names that only this source means: the unnamed namespaces' and those of using-declarations."""
    names = {name: "own" for name in MACRO.findall(text)}
    names.update({name: whole for whole, name in USING.findall(text)})
    lines = [line for part in unnamed_parts(text) for line in part.split("\n")]
    lines += [line for line in text.split("\n") if re.match(r"static |namespace \w+ = |using \w+ = ", line)]
    for line in lines:
        if NOT_A_DECLARATION.match(line) and not line.startswith("namespace"):
            continue
        for pattern in (ALIAS, TYPE, FUNCTION, VARIABLE):
            # The first call of an initialiser is no function that is declared here.
            found = pattern.search(line if pattern is not FUNCTION else line.split(" = ")[0])
            if found:
                names.setdefault(found[1], "own")
                break
        else:
            names.update({word: "own" for word in WORD.findall(line)[-1:]})
    for part in unnamed_parts(text):  # enumerators are as visible as their enumeration
        for body in re.findall(r"^enum (?!class\b)\w+[^{;]*\{([^}]*)\}", part, re.M):
            names.update({word: "own" for word in WORD.findall(body)})
    return {name: meaning for name, meaning in names.items() if name not in NO_NAMES}


def words_of(text):
    """Words that could mean a name of another source: not those of texts, nor qualified ones."""
    return frozenset(WORD.findall(QUALIFIED.sub(" ", STRING.sub('""', text))))


def header_words(text):
    """Words of a header less the names that it only declares, as members or parameters."""
    words = set()
    for line in QUALIFIED.sub(" ", STRING.sub('""', text)).split("\n"):
        kept = NOT_DECLARED.sub(lambda found: found[0].replace(" ", " ::"), line)
        words.update(WORD.findall(DECLARED.sub("", kept) if line.startswith("  ") else kept))
    return frozenset(words)


class Reader:
    def __init__(self, root):
        self.root = root

    def text(self, path):
        return COMMENT.sub("", path.read_text(encoding="utf-8"))

    @lru_cache(maxsize=None)
    def header(self, name):
        path = self.root / "src" / name
        if name.startswith("testing/"):
            path = self.root / name
        if not path.is_file():
            return frozenset(), frozenset()
        text = self.text(path)
        return header_words(text), frozenset(INCLUDE.findall(text))

    def headers(self, text):
        waiting, seen = set(INCLUDE.findall(text)), set()
        while waiting:
            name = waiting.pop()
            seen.add(name)
            waiting |= self.header(name)[1] - seen
        return frozenset(seen)


class Source:
    def __init__(self, path, reader):
        text = reader.text(Path(path))
        self.path = path
        self.size = len(text)
        self.own = own_names(text)
        self.words = words_of(text)
        self.headers = reader.headers(text)


def disturbs(one, other, reader):
    """Whether a name that `one` keeps for itself could be read by `other`."""
    for name, meaning in one.own.items():
        if name in other.words and not (meaning != "own" and other.own.get(name) == meaning):
            return True
    return any(not one.own.keys().isdisjoint(reader.header(name)[0])
               for name in other.headers - one.headers)


def groups(sources, reader):
    """Lists of sources; the same for the same sources."""
    apart = [set() for _ in sources]
    for i, one in enumerate(sources):
        for j in range(i):
            if disturbs(one, sources[j], reader) or disturbs(sources[j], one, reader):
                apart[i].add(j)
                apart[j].add(i)
    found, group_of = [], {}

    def urgency(i):
        return len({group_of[j] for j in apart[i] if j in group_of}), len(apart[i]), -i

    while len(group_of) < len(sources):
        i = max((i for i in range(len(sources)) if i not in group_of), key=urgency)
        for number, group in enumerate(found):
            if (len(group) < MOST_FILES and apart[i].isdisjoint(group)
                    and sum(sources[j].size for j in group) + sources[i].size <= MOST_BYTES):
                break
        else:
            number, group = len(found), []
            found.append(group)
        group.append(i)
        group_of[i] = number
    return [[sources[i] for i in sorted(group)] for group in found]


def main():
    reader = Reader(Path(sys.argv[1]))
    sources = [Source(path, reader) for path in sorted(sys.argv[2:])]
    for number, group in enumerate(groups(sources, reader)):
        for source in group if len(group) > 1 else []:
            print(f"group{number} {source.path}")


main()
