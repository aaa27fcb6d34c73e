"""Random schemas and values, judged by us and by python3-jsonschema (CON-39).

usage: compare.py PROGRAM [--schemas N] [--seed N]

Needs the Debian package python3-jsonschema; fails without it.
"""

import argparse
import json
import random
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    raise SystemExit("python3-jsonschema is not installed; scripts/setup --test installs it")

DRAFTS = {"http://json-schema.org/draft-07/schema#": jsonschema.Draft7Validator,
          "https://json-schema.org/draft/2020-12/schema": jsonschema.Draft202012Validator}
NAMES = ["a", "b", "ab", "n_1"]
TYPES = ["null", "boolean", "object", "array", "number", "integer", "string"]
PATTERNS = ["^a", "b$", "^n_", "^[ab]+$", "[0-9]"]


class Maker:
    def __init__(self, rng: random.Random, old: bool) -> None:
        self.rng, self.old = rng, old

    def value(self, depth: int = 3):
        kind = self.rng.randrange(8 if depth else 6)
        if kind < 6:
            return self.rng.choice([None, True, False, 0, 1, 2, -1, 1.0, 1.5, 6, 2 ** 63, "", "a",
                                    "ab", "é", "n_1", "1"])
        if kind == 6:
            return [self.value(depth - 1) for _ in range(self.rng.randrange(4))]
        return {name: self.value(depth - 1)
                for name in self.rng.sample(NAMES, self.rng.randrange(len(NAMES)))}

    def schemas(self, depth: int, least: int = 1):
        return [self.schema(depth) for _ in range(self.rng.randrange(least, 4))]

    def schema(self, depth: int = 3):
        if self.rng.random() < 0.08 or depth == 0:
            return self.rng.choice([True, False, {}, {"type": self.rng.choice(TYPES)}])
        made = {}
        for _ in range(self.rng.randrange(1, 4)):
            made.update(self.keyword(depth - 1))
        if not isinstance(made.get("items"), list):
            made.pop("additionalItems", None)   # means nothing then, and breaks the other validator
        return made

    def keyword(self, depth: int) -> dict:
        rng = self.rng
        both = [
            lambda: {"type": rng.choice(TYPES)},
            lambda: {"type": rng.sample(TYPES, 2)},
            lambda: {"enum": [self.value(0) for _ in range(3)]},
            lambda: {"const": self.value(0)},
            lambda: {"multipleOf": rng.choice([1, 2, 0.5, 3])},
            lambda: {rng.choice(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]):
                     rng.choice([0, 1, 1.5, 2 ** 63])},
            lambda: {rng.choice(["minLength", "maxLength", "minItems", "maxItems", "minProperties",
                                 "maxProperties"]): rng.randrange(3)},
            lambda: {"pattern": rng.choice(PATTERNS)},
            lambda: {"uniqueItems": rng.random() < 0.8},
            lambda: {"contains": self.schema(depth)},
            lambda: {"required": rng.sample(NAMES, rng.randrange(3))},
            lambda: {"properties": {name: self.schema(depth) for name in rng.sample(NAMES, 2)}},
            lambda: {"patternProperties": {rng.choice(PATTERNS): self.schema(depth)}},
            lambda: {"additionalProperties": self.schema(depth)},
            lambda: {"propertyNames": self.schema(depth)},
            lambda: {rng.choice(["allOf", "anyOf", "oneOf"]): self.schemas(depth)},
            lambda: {"not": self.schema(depth)},
            lambda: {"if": self.schema(depth), "then": self.schema(depth),
                     "else": self.schema(depth)},
            lambda: {"$ref": rng.choice(["#/definitions/x", "#/definitions/y"])},
        ]
        old = [lambda: {"items": self.schemas(depth), "additionalItems": self.schema(depth)},
               lambda: {"items": self.schema(depth)},
               lambda: {"dependencies": {"a": rng.choice([["b"], self.schema(depth)])}}]
        new = [lambda: {"prefixItems": self.schemas(depth), "items": self.schema(depth)},
               lambda: {"items": self.schema(depth)},
               lambda: {"contains": self.schema(depth), "minContains": rng.randrange(3),
                        "maxContains": rng.randrange(3)},
               lambda: {"dependentRequired": {"a": ["b"]}},
               lambda: {"dependentSchemas": {"a": self.schema(depth)}}]
        return rng.choice(both + (old if self.old else new))()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--schemas", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    cases, wanted = [], []
    for _ in range(args.schemas):
        uri, validator = rng.choice(list(DRAFTS.items()))
        maker = Maker(rng, "draft-07" in uri)
        body = maker.schema()
        schema = {"$schema": uri, "allOf": [body],
                  "definitions": {"x": maker.schema(0), "y": maker.schema(0)}}
        values = [maker.value() for _ in range(12)]
        judge = validator(schema)
        cases.append({"schema": schema, "values": values})
        wanted.append([judge.is_valid(value) for value in values])
    done = subprocess.run([args.program], input="\n".join(map(json.dumps, cases)) + "\n",
                          capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(cases), "the program did not answer every schema"
    wrong = valid = 0
    for case, answer, right in zip(cases, answers, wanted):
        valid += sum(right)
        if answer.get("valid") != right:
            wrong += 1
            if wrong <= 5:
                print(json.dumps({**case, "wanted": right, "got": answer}))
    print(f"{len(cases)} schemas, {12 * len(cases)} values ({valid} valid): {wrong} judged otherwise")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
