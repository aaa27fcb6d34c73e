"""The search of SQLite's FTS5, of Tantivy and of bm25s over the texts and queries of memory_inputs.

usage: memory_peers.py fts5|fts5-as-given|tantivy|bm25s FOLDER

    fts5            words of the question less stop words, joined by OR, ordered by bm25()
    fts5-as-given   all words of the question, joined by OR, ordered by bm25()
    tantivy         (PyPI) English stemmer, words joined by OR; one segment, one thread
    bm25s           (PyPI) words of the question less stop words, no stemmer, as it comes; one thread

Prints a line of JSON: CPU seconds a query, least of the rounds; the size of an index on disk. The
50 best of each query, their `ref`s, are in FOLDER/PEER.jsonl.
"""

import json
import pathlib
import re
import sqlite3
import sys
import time
from collections.abc import Callable

import memory_inputs

ROUNDS = 2
HITS = 50


def _rows(path: pathlib.Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _words(query: str) -> list[str]:
    return re.findall(r"\w+", query.lower())


def _content_words(query: str) -> list[str]:
    words = _words(query)
    return [word for word in words if word not in memory_inputs.STOP_WORDS] or words


class Fts5:
    def __init__(self, rows: list[dict], words: Callable[[str], list[str]]):
        self.refs, self.words = [row["ref"] for row in rows], words
        self.db = sqlite3.connect(":memory:")
        self.db.execute("CREATE VIRTUAL TABLE t USING fts5(text, content='', "
                        "tokenize='porter unicode61 remove_diacritics 2')")
        self.db.executemany("INSERT INTO t(rowid, text) VALUES(?, ?)",
                            ((number, row["text"]) for number, row in enumerate(rows)))
        self.db.commit()

    def search(self, query: str) -> list[str]:
        match = " OR ".join(f'"{word}"' for word in self.words(query))
        found = self.db.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY bm25(t) LIMIT ?",
                                (match, HITS))
        return [self.refs[number] for number, in found]

    def size(self) -> int:
        return self.db.execute("SELECT (SELECT sum(length(block)) FROM t_data) + "
                               "(SELECT sum(length(sz) + 4) FROM t_docsize)").fetchone()[0]


class Tantivy:
    def __init__(self, rows: list[dict]):
        import tantivy
        self.tantivy = tantivy
        self.refs = [row["ref"] for row in rows]
        schema = (tantivy.SchemaBuilder()
                  .add_text_field("text", tokenizer_name="en_stem")
                  .add_integer_field("number", stored=True).build())
        self.index = tantivy.Index(schema)
        writer = self.index.writer(num_threads=1)
        for number, row in enumerate(rows):
            writer.add_document(tantivy.Document(text=row["text"], number=number))
        writer.commit()
        writer.wait_merging_threads()
        self.index.reload()
        self.searcher = self.index.searcher()

    def search(self, query: str) -> list[str]:
        parsed = self.index.parse_query(" ".join(_content_words(query)), ["text"])
        hits = self.searcher.search(parsed, HITS, count=False).hits
        return [self.refs[self.searcher.doc(address)["number"][0]] for _, address in hits]

    def size(self) -> int:
        return 0


class Bm25s:
    def __init__(self, rows: list[dict]):
        import bm25s
        self.bm25s = bm25s
        self.refs = [row["ref"] for row in rows]
        self.index = bm25s.BM25()
        self.index.index(self._tokens([row["text"] for row in rows]), show_progress=False)

    def _tokens(self, texts: list[str]):
        return self.bm25s.tokenize(texts, stopwords=list(memory_inputs.STOP_WORDS), show_progress=False)

    def search(self, query: str) -> list[str]:
        found, _ = self.index.retrieve(self._tokens([query]), k=HITS, show_progress=False)
        return [self.refs[number] for number in found[0]]

    def size(self) -> int:
        return 0


def main() -> None:
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    rows, queries = _rows(folder / "texts.jsonl"), _rows(folder / "queries.jsonl")
    peer = {"fts5": lambda: Fts5(rows, _content_words), "fts5-as-given": lambda: Fts5(rows, _words),
            "tantivy": lambda: Tantivy(rows), "bm25s": lambda: Bm25s(rows)}[name]()
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        found = [peer.search(query["query"]) for query in queries]
        times.append((time.process_time() - start) / len(queries))
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(refs) + "\n" for refs in found))
    print(json.dumps({"name": name, "median": min(times), "size": peer.size()}))


if __name__ == "__main__":
    main()
