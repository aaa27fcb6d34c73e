#!/usr/bin/env python3
"""Compares `dossier tokens --ids` with tiktoken on random and mutated text, and on folders.

usage: compare.py --dossier PATH [--bytes N] [--seed N] [--trees FOLDER ...] [--encodings NAME,…]
                  [--gguf FILE --server URL]

With --gguf it compares with /tokenize of a llama-server that has loaded this file, instead; this needs
no tiktoken. Else it needs PyPI's tiktoken (0.14): in the interpreter that runs it, in the one that
DOSSIER_TIKTOKEN_PYTHON names, or in .cache/peers, which `scripts/setup --test` makes; without one it
says so and fails. The rank files are those that scripts/setup
fetched, so that no network is needed.
"""

import argparse
import base64
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = ROOT / ".cache/peers/bin/python3"
BATCH = 500  # texts of one call
# What the patterns' rules speak of, and what folds or combines oddly.
TELLING = " \t\n\r'sSdDmMtTlLveVErR\u017f1\u24602aA\u4e2d\u02b0\u01c5\u0301.!/\u00a0\u3000\u0085"


def tiktoken_encoding(name: str):
    import tiktoken
    import tiktoken_ext.openai_public as public
    path = ROOT / f".cache/ranks/{name}.tiktoken"
    ranks = {base64.b64decode(token): int(rank)
             for token, rank in (line.split() for line in path.read_bytes().splitlines())}
    public.load_tiktoken_bpe = lambda *_, **__: ranks
    return tiktoken.Encoding(**getattr(public, name)())


def go_on_elsewhere() -> str:
    """Starts again in a Python that should have tiktoken; why not, if there is none."""
    tried = "DOSSIER_TIKTOKEN_TRIED"  # a Python without it must not start itself for ever
    other = os.environ.get("DOSSIER_TIKTOKEN_PYTHON") or str(PEERS)
    if tried not in os.environ and os.access(other, os.X_OK):
        os.environ[tried] = other
        os.execv(other, [other, *sys.argv])
    return ("no tiktoken; `scripts/setup --test` installs it into .cache/peers, or "
            "DOSSIER_TIKTOKEN_PYTHON names a Python that has it")


def why_not() -> str:
    """Why nothing can be compared here; "" if it can. May go on in another Python that has tiktoken."""
    try:
        import tiktoken  # noqa: F401 (only whether it is there)
    except ImportError:
        return go_on_elsewhere()
    if not (ROOT / ".cache/ranks/o200k_base.tiktoken").exists():
        return "no rank files; scripts/setup fetches them"
    return ""


class Server:
    """/tokenize of a llama-server, asked as tiktoken is."""

    def __init__(self, url: str):
        self.url = url.rstrip("/")

    def _ask(self, path: str, body: dict[str, object]) -> dict:
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)

    def encode_ordinary(self, text: str) -> list[int]:
        return self._ask("/tokenize", {"content": text, "add_special": False,
                                       "parse_special": False})["tokens"]

    def decode(self, ids: list[int]) -> str:
        return self._ask("/detokenize", {"tokens": ids})["content"]


def corpus() -> str:
    """Some megabytes of code and prose that every Debian has."""
    parts = []
    for pattern in ("/usr/include/*.h", "/usr/share/doc/*/copyright", "/usr/lib/python3*/*.py"):
        size = 0
        for path in sorted(pathlib.Path("/").glob(pattern[1:])):
            text = path.read_text("utf-8", "ignore") if path.is_file() else ""
            parts.append(text)
            size += len(text)
            if size > 1_000_000:
                break
    return "".join(parts)


def random_text(rng: random.Random, base: str) -> str:
    kind, length = rng.random(), rng.randrange(1, 2000)
    if kind < 0.3:
        code_points = (rng.randrange(1, 0x110000) for _ in range(length))
        return "".join(chr(c) for c in code_points if not 0xD800 <= c < 0xE000)
    if kind < 0.5:
        return "".join(rng.choices(TELLING, k=length))
    if kind < 0.55:
        return rng.choice(TELLING) * length
    start = rng.randrange(len(base))
    text = list(base[start:start + length])
    for _ in range(rng.randrange(8)):
        text[rng.randrange(len(text))] = chr(rng.choice([32, 10, 39, 0x4E2D, 0x301,
                                                         rng.randrange(1, 128),
                                                         rng.randrange(128, 0xD7FF)]))
    return "".join(text)


def our_ids(dossier: str, encoding: str, texts: list[bytes]) -> list[list[int]]:
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for index, text in enumerate(texts):
            name = os.path.join(folder, str(index))
            pathlib.Path(name).write_bytes(text)
            names.append(name)
        ran = subprocess.run([dossier, "tokens", "--encoding", encoding, "--ids", *names],
                             stdout=subprocess.PIPE, check=True)
    return [[int(number) for number in line.split()] for line in ran.stdout.splitlines()]


class Comparison:
    def __init__(self, dossier: str, encoding: str, peer):
        self.dossier, self.encoding, self.peer = dossier, encoding, peer
        self.texts = self.bytes = self.different = 0

    def add(self, texts: list[str]) -> None:
        for start in range(0, len(texts), BATCH):
            batch = texts[start:start + BATCH]
            raw = [text.encode() for text in batch]
            for text, ours in zip(batch, our_ids(self.dossier, self.encoding, raw), strict=True):
                self.check(text, ours)
            self.texts += len(batch)
            self.bytes += sum(map(len, raw))

    def check(self, text: str, ours: list[int]) -> None:
        theirs = self.peer.encode_ordinary(text)
        if ours == theirs:
            return
        self.different += 1
        if self.different <= 5:
            at = next((i for i, pair in enumerate(zip(ours, theirs)) if pair[0] != pair[1]),
                      min(len(ours), len(theirs)))
            print(f"{self.encoding}: differs at token {at}, near "
                  f"{self.peer.decode(theirs[max(0, at - 3):at + 3])!r}: "
                  f"{ours[at:at + 3]} instead of {theirs[at:at + 3]}")


def texts_below(folder: str) -> list[str]:
    texts = []
    for path in sorted(pathlib.Path(folder).rglob("*")):
        try:
            if path.is_file() and not path.is_symlink():
                texts.append(path.read_bytes().decode("utf-8"))
        except (OSError, UnicodeDecodeError):
            continue
    return texts


def compare(arguments: argparse.Namespace, peers: dict[str, object]) -> int:
    base = corpus()
    different = 0
    for name, peer in peers.items():
        comparison = Comparison(arguments.dossier, name, peer)
        rng = random.Random(arguments.seed)
        while comparison.bytes < arguments.bytes:
            comparison.add([random_text(rng, base) for _ in range(BATCH)])
        for tree in arguments.trees:
            comparison.add(texts_below(tree))
        print(f"{name}: {comparison.texts} texts, {comparison.bytes} bytes, "
              f"{comparison.different} differ")
        different += comparison.different
    return 1 if different else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dossier", required=True)
    parser.add_argument("--bytes", type=int, default=300_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trees", nargs="*", default=[])
    parser.add_argument("--encodings", default="cl100k_base,o200k_base")
    parser.add_argument("--gguf")
    parser.add_argument("--server")
    arguments = parser.parse_args()
    if bool(arguments.gguf) != bool(arguments.server):
        parser.error("--gguf and --server go together: the file, and a server that has loaded it")
    if arguments.gguf:
        return compare(arguments, {f"gguf:{arguments.gguf}": Server(arguments.server)})
    if why := why_not():
        print(f"compare: {why}")
        return 1
    return compare(arguments,
                   {name: tiktoken_encoding(name) for name in arguments.encodings.split(",")})


if __name__ == "__main__":
    sys.exit(main())
