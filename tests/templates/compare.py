#!/usr/bin/python3
"""Renders random templates of our subset with us and with jinja2, and compares (CON-19).

usage: compare.py --renderer PATH [--count N] [--seed N]

Fails without the Debian package python3-jinja2.
"""

import argparse
import json
import random
import shlex
import subprocess
import sys

try:
    import jinja2
except ImportError:
    sys.exit("python3-jinja2 is not installed; scripts/setup --test installs it")

VARIABLES = {
    "F": "docs/adr 0012.md", "Q": "it's", "E": "", "N": 7, "G": -3, "B": True, "C": False,
    "Z": None, "X": -5.0, "Y": 1e16, "L": ["a", "b", "c"], "M": [3, 1.5, None, True, "x y"],
    "K": [], "D": {"k": "v", "n": 1, "list": [1, 2], "deep": {"z": "é\n"}}, "U": " Grün 東 ß ",
    "I": "42", "R": "3.9", "H": "a\"b'c\\\t\n\u00a0\u200b"}
TEXTS = ["F", "Q", "E", "U", "I", "R", "H", "D.k", "D['deep'].z", "L[0]", "L[-1]"]
NUMBERS = ["N", "G", "X", "Y", "D.n", "M[0]", "B", "D['list'][1]"]
LISTS = ["L", "M", "K", "D.list", "[]", "[1, 'two', [3]]"]
STRINGS = ["'a'", '"it\'s"', "'x\\ty'", "'\\u00e9'", "''", "' pad '", "'3.9'", "'-12'", "'1e3'",
           "'nan'", "'0x1f'", "'1_0'", "' 7 '", "'}}'", "'{% if %}'"]
CONSTANTS = ["0", "1", "-1", "12", "1.5", "-0.25", "1e3", "1e-7", "true", "False", "none"]
SPACES = ["", " ", "  ", "\n", "\n  ", " \n", "\t", "\n\n  "]


class Templates:
    """Draws templates; depth keeps them small."""

    def __init__(self, seed: int):
        self.draw = random.Random(seed)
        self.locals: list[str] = []

    def one_of(self, *makers):
        made = self.draw.choice(makers)
        return made() if callable(made) else made

    def atom(self) -> str:
        pools = [TEXTS, NUMBERS, LISTS, STRINGS, CONSTANTS, ["D", "Z", "C"]]
        if self.locals and self.draw.random() < 0.4:
            return self.draw.choice(self.locals)
        if self.draw.random() < 0.02:
            return self.draw.choice(["missing", "D.nope", "L[9]", "D['nope']", "N.x"])
        return self.draw.choice(self.draw.choice(pools))

    def filtered(self, depth: int) -> str:
        name = self.draw.choice(["upper", "lower", "trim", "length", "first", "last", "int", "float",
                                 "shellquote", "raw", "default", "replace", "join"])
        value = self.expr(depth - 1, inside=True)
        if name == "replace":
            return f"{value}|replace({self.draw.choice(STRINGS)}, {self.draw.choice(STRINGS)})"
        if name == "join":
            return f"{self.draw.choice(LISTS + TEXTS)}|join" + self.draw.choice(["", "()", "(', ')"])
        if name == "default":
            value = self.draw.choice(["missing", "D.nope", "L[9]", "E", "Z", value])
            return f"{value}|default({self.draw.choice(STRINGS + CONSTANTS)}" + \
                self.draw.choice(["", ", true"]) + ")"
        if name in ("int", "float") and self.draw.random() < 0.3:
            return f"{value}|{name}({self.draw.choice(CONSTANTS)})"
        if name in ("first", "last"):
            # Jinja refuses a literal that is empty even where it is not reached.
            value = self.draw.choice(LISTS[:4] + TEXTS)
        return f"{value}|{name}"

    def compared(self, depth: int) -> str:
        sign = self.draw.choice(["==", "!=", "<", "<=", ">", ">="])
        pool = self.draw.choice([TEXTS + STRINGS, NUMBERS + CONSTANTS, LISTS])
        left, right = self.draw.choice(pool), self.draw.choice(pool)
        if self.draw.random() < 0.2:
            return f"{left} {sign} {right} {self.draw.choice(['<', '==', '>='])} " + \
                self.draw.choice(pool)
        if self.draw.random() < 0.4:
            return f"{self.draw.choice(pool)} {self.draw.choice(['in', 'not in'])} " + \
                self.draw.choice(LISTS + ["D", "F", "U"])
        return f"{left} {sign} {right}"

    def expr(self, depth: int, inside: bool = False) -> str:
        if depth <= 0:
            return self.atom()
        kind = self.draw.randrange(9)
        if kind == 0:
            return self.atom()
        if kind in (1, 2):
            return self.filtered(depth)
        text = [None, None, None,
                lambda: self.compared(depth),
                lambda: f"{self.expr(depth - 1, True)} ~ {self.expr(depth - 1, True)}",
                lambda: f"{self.expr(depth - 1)} {self.draw.choice(['and', 'or'])} "
                        f"{self.expr(depth - 1)}",
                lambda: f"not {self.expr(depth - 1)}",
                lambda: f"{self.expr(depth - 1)} if {self.expr(depth - 1)} else "
                        f"{self.expr(depth - 1)}",
                lambda: f"{self.draw.choice(['missing', 'N', 'D.nope', 'D.k'])} is "
                        f"{self.draw.choice(['defined', 'not defined'])}"][kind]()
        return f"({text})" if inside or self.draw.random() < 0.3 else text

    def mark(self) -> str:
        return "-" if self.draw.random() < 0.25 else ""

    def tag(self, inner: str) -> str:
        return f"{{%{self.mark()} {inner} {self.mark()}%}}"

    def space(self) -> str:
        return self.draw.choice(SPACES)

    def body(self, depth: int) -> str:
        return "".join(self.piece(depth) for _ in range(self.draw.randrange(1, 4)))

    def loop(self, depth: int) -> str:
        name = self.draw.choice(["x", "y", "i"])
        through = self.draw.choice(LISTS + ["D", "I"])
        self.locals += [name, "loop.index", "loop.index0", "loop.first", "loop.last", "loop.length"]
        body = self.body(depth - 1)
        del self.locals[-6:]
        otherwise = self.tag("else") + self.body(depth - 1) if self.draw.random() < 0.3 else ""
        return self.tag(f"for {name} in {through}") + body + otherwise + self.tag("endfor")

    def condition(self, depth: int) -> str:
        text = self.tag(f"if {self.expr(2)}") + self.body(depth - 1)
        if self.draw.random() < 0.4:
            text += self.tag(f"elif {self.expr(2)}") + self.body(depth - 1)
        if self.draw.random() < 0.5:
            text += self.tag("else") + self.body(depth - 1)
        return text + self.tag("endif")

    def piece(self, depth: int) -> str:
        kind = self.draw.randrange(10 if depth > 0 else 6)
        if kind < 2:
            return self.draw.choice(["ls ", "a", "é", "{", "}", "%", "\r\n", "--- "]) + self.space()
        if kind < 4:
            return f"{{{{{self.mark()} {self.expr(3)} {self.mark()}}}}}" + self.space()
        if kind == 4:
            return f"{self.space()}{{#{self.mark()} note {{{{ }}}} {self.mark()}#}}{self.space()}"
        if kind == 5:
            return self.space() + self.tag("raw") + self.space() + "{{ N }} {% x %}" + \
                self.space() + self.tag("endraw") + self.space()
        return self.space() + (self.loop if kind < 8 else self.condition)(depth) + self.space()


def expected(environment: jinja2.Environment, template: str) -> str | None:
    """None for an error of whatever kind."""
    try:
        return environment.from_string(template).render(VARIABLES).strip()
    except Exception:  # Jinja lets Python's errors through
        return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--renderer", required=True)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=19)
    arguments = parser.parse_args()
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True,
                                     lstrip_blocks=True, autoescape=False)
    environment.filters["shellquote"] = lambda value: shlex.quote(str(value))
    environment.filters["raw"] = lambda value: value
    source = Templates(arguments.seed)
    templates = [source.body(3) for _ in range(arguments.count)]
    lines = "".join(json.dumps({"template": template, "variables": VARIABLES}) + "\n"
                    for template in templates)
    replies = subprocess.run([arguments.renderer], input=lines, capture_output=True, text=True,
                             check=True).stdout.split("\n")
    texts = errors = different = 0
    for template, reply in zip(templates, replies):
        ours = json.loads(reply)
        theirs = expected(environment, template)
        texts += theirs is not None
        errors += theirs is None
        if ours.get("text") != theirs:
            different += 1
            if different <= 10:
                print(f"template {template!r}\n  jinja2 {theirs!r}\n  ours   {ours!r}")
    print(f"{texts} texts and {errors} errors compared, {different} different")
    return 1 if different or texts < arguments.count // 3 else 0


if __name__ == "__main__":
    sys.exit(main())
