"""How long tiktoken takes for a file, as CPU seconds.

usage: token_peers.py FILE RANKS_FOLDER      (run by the interpreter of the private environment)

Prints a line of JSON an encoding, as dossier_bench does. The rank files are ours: no network.
"""

import base64
import json
import pathlib
import statistics
import sys
import time

import tiktoken
import tiktoken_ext.openai_public as public

RUNS = 5


def encoding(name: str, folder: str) -> tiktoken.Encoding:
    lines = pathlib.Path(folder, f"{name}.tiktoken").read_bytes().splitlines()
    ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines)}
    public.load_tiktoken_bpe = lambda *_, **__: ranks
    return tiktoken.Encoding(**getattr(public, name)())


def main() -> None:
    text = pathlib.Path(sys.argv[1]).read_text("utf-8")
    for name in ("cl100k_base", "o200k_base"):
        peer, times = encoding(name, sys.argv[2]), []
        for _ in range(RUNS):
            start = time.process_time()
            tokens = len(peer.encode_ordinary(text))
            times.append(time.process_time() - start)
        print(json.dumps({"name": name, "median": statistics.median(times), "tokens": tokens}))


if __name__ == "__main__":
    main()
