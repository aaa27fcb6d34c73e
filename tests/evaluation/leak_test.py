#!/usr/bin/env python3
"""The engine knows no benchmark: no words of a task family stand in prompts, layouts or another room."""

import re
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAMILIES = ROOT / "src" / "evaluation"
MARKS = ("|| User:", "|| Instance:", "special magic")
RUN = 25  # characters in a row that are no accident
# Where a person or a model could be told: prompts, layouts, the workers and every room but evaluation.
TOLD = ("prompts", "layouts", "workers", "src", "include")
SUFFIXES = {".cc", ".h", ".yaml", ".yml", ".md", ".py", ".js", ".txt"}
# Neither words of a task nor of a person: SQL, patterns of the proofs.
OTHER = re.compile(r"(CREATE|SELECT|INSERT|WITH|BEGIN|DROP) |.*\\\\[dwS.?]", re.S)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def templates():
    """The texts of the families: neighbouring literals are one, as the compiler has them."""
    for path in sorted([*FAMILIES.glob("families/*.cc"), *FAMILIES.glob("tasks/*.cc")]):
        source = "\n".join(line for line in path.read_text(encoding="utf-8").splitlines()
                           if not line.lstrip().startswith(("#include", "//")))
        source = re.sub(r"return MakeError\(.*?\);", "", source, flags=re.S)  # told to people, not asked
        for match in re.finditer(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+', source):
            text = "".join(unescape(part) for part in LITERAL.findall(match.group()))
            if len(text) >= RUN and not OTHER.match(match.group().strip(' \n"')):
                yield from re.split(r"\{[^}]*\}", text)


def unescape(text):
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text)


def runs():
    return {text[i:i + RUN] for text in templates() for i in range(len(text) - RUN + 1)}


def leaks(root, wanted):
    """(path, the words) for each file below `root` that has a mark or a run of a template."""
    for folder in TOLD:
        for path in sorted((root / folder).rglob("*")):
            inside = path.relative_to(root).as_posix()
            if path.suffix not in SUFFIXES or inside.startswith(("src/evaluation/", "src/cli/evaluation/")):
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            if path.suffix in (".cc", ".h"):  # a comment reaches nobody
                text = re.sub(r"//.*", "", text)
            found = next((mark for mark in MARKS if mark in text), None)
            if found is None:
                found = next((text[i:i + RUN] for i in range(len(text) - RUN + 1) if text[i:i + RUN] in wanted), None)
            if found:
                yield inside, found


class LeakTest(unittest.TestCase):
    # EVL-69
    def test_no_template_or_mark_stands_outside_the_room(self):
        self.assertEqual(list(leaks(ROOT, runs())), [])

    # EVL-69, EVL-A22: a planted string is found.
    def test_a_planted_string_is_found(self):
        wanted = runs()
        self.assertGreater(len(wanted), 3000)
        for text in ("Lines look like: Date: x || User: 5", "What is the special magic number?",
                     "say: decide by meaning. Compute over all lines, do not estimate"):
            with self.subTest(text=text), tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "prompts" / "x.md"
                path.parent.mkdir()
                path.write_text(text, encoding="utf-8")
                self.assertEqual([name for name, _ in leaks(Path(folder), wanted)], ["prompts/x.md"])

    # The engine does not use the room: only the command may.
    def test_only_the_command_uses_the_room(self):
        users = [path.relative_to(ROOT).as_posix() for path in (ROOT / "src").rglob("*.[ch]*")
                 if '#include "evaluation/' in path.read_text(encoding="utf-8", errors="replace")]
        self.assertEqual([u for u in users if not u.startswith(("src/evaluation/", "src/cli/evaluation/"))], [])


if __name__ == "__main__":
    sys.exit(unittest.main())
