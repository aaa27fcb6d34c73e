#!/usr/bin/env python3
"""CPU seconds that PyPI's vincio takes to compile 1,000 pieces of a text into 100,000 tokens.

usage: assembly_peers.py TEXT RANKS      (run by the interpreter of the private environment)

Its tokens are counted by tiktoken, as ours are exact; the vocabulary is loaded and each text is new to
its caches. Prints one line of JSON, as dossier_bench does.
"""

import asyncio
import json
import statistics
import sys
import time

import token_peers

PIECES, SIZE, BUDGET, RUNS = 1000, 1_000_000, 100_000, 3


def pieces_of(text: str, run: int) -> list[str]:
    each = SIZE // PIECES
    start = run * 137  # other bytes in every run
    return [text[start + i * each:start + (i + 1) * each] for i in range(PIECES)]


def compile_once(pieces: list[str]):
    from vincio.context.compiler import ContextCompiler, ContextCompilerOptions
    from vincio.core.types import Budget, EvidenceItem, Objective, UserInput

    compiler = ContextCompiler(ContextCompilerOptions(
        max_evidence_items=PIECES, min_relevance=0.0, min_score=0.0))
    evidence = [EvidenceItem(source_id=f"s{i}", text=piece, relevance=i * 7 % 10 / 10)
                for i, piece in enumerate(pieces)]
    return asyncio.run(compiler.compile(
        objective=Objective("What follows from this?"),
        user_input=UserInput(text="What follows from this?"), evidence=evidence,
        budget=Budget(max_input_tokens=BUDGET)))


def main() -> int:
    from vincio.core import tokens

    text = open(sys.argv[1], encoding="utf-8").read()
    encoding = token_peers.encoding("o200k_base", sys.argv[2])

    class Exact:
        def count(self, piece: str) -> int:
            return len(encoding.encode_ordinary(piece))

    tokens.get_token_counter = lambda model=None, exact=Exact(): exact
    times, kept = [], 0
    for run in range(RUNS):
        pieces = pieces_of(text, run)
        started = time.process_time()
        compiled = compile_once(pieces)
        times.append(time.process_time() - started)
        kept = compiled.token_count
    print(json.dumps({"name": "vincio", "median": statistics.median(times), "min": min(times),
                      "runs": RUNS, "tokens": kept}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
