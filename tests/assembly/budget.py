#!/usr/bin/env python3
"""Assembles random layouts and recounts each prompt with tiktoken: none is over its budget.

usage: budget.py --dossier PATH [--rounds N] [--seed N]

Needs what tests/tokens/compare.py needs; without a tiktoken or rank files it says so and
fails.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/tokens"))

import compare  # noqa: E402 (found by the line above)

ENCODINGS = ["o200k_base", "cl100k_base"]
MODELS = ["openai/gpt-5-mini", "anthropic/claude-haiku-4-5", "gemini/gemini-2.5-flash", "scripted"]
FITS = ["whole", "head", "tail", "middle", "items"]
FENCES = ["none", "tag", "heading", "growing", "data"]
TOO_LONG = 9
MESSAGE_TOKENS, REQUEST_TOKENS = 4, 3  # framing: of each message, of the request


def text(draw: random.Random, base: str) -> str:
    kind = draw.random()
    if kind < 0.2:
        return "".join(draw.choices(compare.TELLING, k=draw.randrange(400)))
    if kind < 0.3:
        return draw.choice(["\n", " ", "a", "{", "世", "🙂"]) * draw.randrange(1, 3000)
    start = draw.randrange(len(base) - 6000)
    return base[start:start + draw.randrange(6000)]


def section(draw: random.Random, index: int) -> dict:
    zone = draw.choice(["system", "stable", "stable", "stable", "volatile"])
    rule = {"name": f"s{index}", "zone": zone, "source": "data", "fit": draw.choice(FITS),
            "priority": draw.randrange(10) / 10, "optional": True}
    if draw.random() < 0.5:
        rule |= {"weight": draw.randrange(4), "floor": draw.choice([0, 0, 50, 300])}
    if draw.random() < 0.2:
        rule["cap"] = draw.randrange(40, 800)
    if draw.random() < 0.1:
        rule["tokens"] = draw.randrange(60, 500)
    if draw.random() < 0.1:
        rule["cap_chars"] = draw.randrange(100, 3000)
    rule["fence"] = draw.choice(FENCES)
    return rule


def history(draw: random.Random, base: str) -> list[dict]:
    turns = []
    for index in range(draw.randrange(9)):
        role = ("user", "assistant")[index % 2]
        turns.append({"role": role, "content": text(draw, base)[:1500] or "-"})
    return turns


class Round:
    """One random layout with its sources, assembled once and counted twice."""

    def __init__(self, draw: random.Random, base: str, folder: pathlib.Path):
        rules = [section(draw, index) for index in range(draw.randrange(1, 12))]
        self.flags = []
        for rule in rules:
            path = folder / f"{rule['name']}.txt"
            path.write_bytes(text(draw, base).encode("utf-8", "replace"))
            # A text that reads as JSON would be data, which is another test's matter.
            if path.read_bytes().lstrip()[:1] in (b"{", b"["):
                path.write_text("plain " + path.read_text("utf-8"), "utf-8")
            self.flags += ["--source", f"{rule['name']}=@{path}"]
        turns = folder / "turns.json"
        turns.write_text(json.dumps(history(draw, base)), "utf-8")
        rules += [{"name": "past", "zone": "history", "source": "history", "fit": "history",
                   "with": {"path": str(turns)}, "priority": 0.6, "optional": True},
                  {"name": "ask", "zone": "request", "text": "What follows from this?"}]
        draw.shuffle(rules)
        (folder / "layouts").mkdir(exist_ok=True)
        (folder / "layouts/random.yaml").write_text(
            json.dumps({"schema": "dossier.layout/1", "name": "random", "sections": rules}),
            "utf-8")
        self.encoding, self.model = draw.choice(ENCODINGS), draw.choice(MODELS)
        self.budget = draw.choice([60, 200, 700, 2000, 6000, 20000]) + draw.randrange(50)
        self.folder = folder
        self.outcome = "failed"

    def assemble(self, dossier: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [dossier, "assemble", "random", "--layouts-dir", str(self.folder), "-m", self.model,
             "--tokenizer", self.encoding, "--budget", str(self.budget), "--json", "--seed", "1",
             *self.flags], capture_output=True, check=False)

    def problems(self, dossier: str, peers: dict) -> list[str]:
        done = self.assemble(dossier)
        if done.returncode == TOO_LONG:
            self.outcome = "too long"
            return []
        if done.returncode != 0:
            return [f"exit {done.returncode}: {done.stderr.decode()[-300:]}"]
        prompt = json.loads(done.stdout)
        counted = recount(prompt["messages"], peers[self.encoding])
        said = prompt["report"]["budget"]["used"] + prompt["report"]["budget"]["framing"]
        outcomes = {section["outcome"] for section in prompt["report"]["sections"]}
        self.outcome = "cut" if outcomes & {"cut", "dropped"} else "whole"
        found = []
        if not prompt["report"]["tokenizer"]["exact"]:
            found.append("the report's count is an estimate: build with the rank files")
        if counted > self.budget:
            found.append(f"{counted} tokens by tiktoken, budget {self.budget}")
        if counted != said:
            found.append(f"{counted} tokens by tiktoken, {said} in the report")
        return found


def joined(blocks: list[dict]) -> str:
    return "\n\n".join(block["text"] for block in blocks)


def recount(messages: dict, peer) -> int:
    texts = [joined(messages["system"])] if messages["system"] else []
    texts += [joined(turn["blocks"]) for turn in messages["turns"]]
    return REQUEST_TOKENS + sum(MESSAGE_TOKENS + len(peer.encode_ordinary(one)) for one in texts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dossier", required=True)
    parser.add_argument("--rounds", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if why := compare.why_not():
        print(f"budget: {why}")
        return 1
    peers = {name: compare.tiktoken_encoding(name) for name in ENCODINGS}
    base = compare.corpus()
    failed, outcomes = 0, collections.Counter()
    for number in range(arguments.rounds):
        draw = random.Random(arguments.seed * 1_000_003 + number)
        with tempfile.TemporaryDirectory(prefix="dossier-budget-") as folder:
            one = Round(draw, base, pathlib.Path(folder))
            for problem in one.problems(arguments.dossier, peers):
                failed += 1
                print(f"round {number}, {one.model}, {one.encoding}: {problem}")
            outcomes[one.outcome] += 1
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    print(f"{arguments.rounds} prompts ({told}), {failed} problems")
    return 1 if failed else 0


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C.UTF-8")
    sys.exit(main())
