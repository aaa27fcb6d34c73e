"""A `_dossier` module for tests: the host's data methods over small texts, in pure Python.

    host = FakeHost([Text("a.ndjson", '{"n": 1}\\n')], replies={"llm": ["yes"]})
    runtime = host.start()          # dossier_runtime with a fresh session
    runtime.run_block("print(records[0])", 1, False)
    host.output, host.calls
"""

import hashlib
import importlib
import itertools
import json
import pathlib
import re
import sqlite3
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

WORKERS = pathlib.Path(__file__).resolve().parents[2] / "workers" / "python"


@dataclass
class Text:
    """One context; `rows` makes it a record format, else lines of JSON objects are rows."""

    name: str
    text: str
    meta: dict[str, Any] | None = None
    plain: bool = False
    skipped: dict[str, Any] | None = None  # as the host tells of rows that are none

    def __post_init__(self) -> None:
        self.data = self.text.encode()
        self.lines: list[tuple[int, int]] = []
        at = 0
        for line in self.data.split(b"\n"):
            if line or at < len(self.data):
                self.lines.append((at, len(line)))
            at += len(line) + 1
        self.rows = [] if self.plain else self._rows()

    def _rows(self) -> list[tuple[int, int, Any]]:
        rows = []
        for at, length in self.lines:
            try:
                value = json.loads(self.data[at:at + length])
            except ValueError:
                return []
            rows.append((at, length, value))
        return [(at, n, row if isinstance(row, dict) else {"value": row}) for at, n, row in rows]


class BridgeError(Exception):
    def __init__(self, code: str, message: str, retryable: bool = False) -> None:
        super().__init__(message)
        self.code, self.message, self.retryable = code, message, retryable


@dataclass
class FakeHost:
    texts: list[Text]
    reply: Callable[[str, str], str] = lambda prompt, context: "reply"
    features: dict[str, Any] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, Any], bytes]] = field(default_factory=list)
    output: str = ""
    errors: str = ""
    items: list[tuple[int, Any, bytes]] = field(default_factory=list)  # of a batch that stops
    stop_batch_after: int | None = None
    history: list[str] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)  # that code wrote
    map_limit: int | None = None  # items that map_llm labels before a limit stops it

    def start(self) -> Any:
        """The runtime with a session over these texts."""
        sys.modules["_dossier"] = self._module()
        if str(WORKERS) not in sys.path:
            sys.path.insert(0, str(WORKERS))
        for name in [name for name in sys.modules if name.startswith("dossier_")]:
            del sys.modules[name]
        self.runtime = importlib.import_module("dossier_runtime")
        self.runtime.start_session()
        return self.runtime

    def stop(self) -> None:
        self.runtime._session.close()

    def methods(self) -> list[str]:
        return [method for method, _, _ in self.calls]

    def _module(self) -> types.ModuleType:
        module = types.ModuleType("_dossier")
        module.BridgeError = BridgeError
        module.call = self._call
        module.dict_version = lambda value, versions=itertools.count(): next(versions)
        module.sha256 = lambda data: hashlib.sha256(data).hexdigest()
        module.take_items = lambda: [self.items.pop(0) for _ in range(len(self.items))]
        module.context_count = lambda: len(self.texts)
        module.context_info = lambda i: {
            "name": self.texts[i].name, "bytes": len(self.texts[i].data),
            "characters": len(self.texts[i].text), "meta": self.texts[i].meta}
        module.context_view = lambda i: memoryview(self.texts[i].data)
        module.context_text = lambda i: self.texts[i].text
        module.features = lambda: {"depth": 1, "seed": 7, "max_subcall_chars": 500_000,
                                   **self.features}
        module.write = self._write
        module.sql = self._sql
        return module

    def _sql(self, query: str, params: list[Any]) -> list[dict[str, Any]]:
        """Over the rows of the first text, as a table `records`."""
        rows = [row for _, _, row in self.texts[0].rows]
        names = list(dict.fromkeys(name for row in rows for name in row))
        base = sqlite3.connect(":memory:")
        base.execute(f"CREATE TABLE records({', '.join(f'[{name}]' for name in names)})")
        base.executemany(f"INSERT INTO records VALUES({', '.join('?' * len(names))})",
                         [[json.dumps(row[name]) if isinstance(row.get(name), (list, dict)) else row.get(name)
                           for name in names] for row in rows])
        try:
            found = base.execute(query, params)
        except sqlite3.Error as error:
            raise BridgeError("bad_argument", str(error)) from None
        return [dict(zip((column[0] for column in found.description), row)) for row in found]

    def _write(self, stream: int, data: bytes) -> None:
        if stream == 1:
            self.output += data.decode()
        else:
            self.errors += data.decode()

    def _call(self, method: str, args: dict[str, Any], raw: bytes = b"") -> tuple[Any, bytes]:
        json.dumps(args)  # what crosses is JSON
        self.calls.append((method, args, raw))
        return getattr(self, "do_" + method)(args, raw)

    def resolve(self, parts: list[dict[str, Any]] | None, raw: bytes) -> str:
        out = b""
        for part in parts or []:
            if "blob" in part:
                at, length = part["blob"]
                out += raw[at:at + length]
            else:
                out += self.texts[part["ctx"]].data[part["at"]:part["at"] + part["len"]]
        return out.decode()

    def do_llm(self, args: dict[str, Any], raw: bytes) -> tuple[Any, bytes]:
        text = self.reply(self.resolve(args["parts"], raw), self.resolve(args["context"], raw))
        return {"text": {"blob": [0, len(text.encode())]}, "tokens": 3}, text.encode()

    do_rlm = do_llm

    def do_llm_batch(self, args: dict[str, Any], raw: bytes) -> tuple[Any, bytes]:
        results, out = [], b""
        for index, prompt in enumerate(args["prompts"]):
            if index == self.stop_batch_after:
                self.items = [(i, result, out) for i, result in enumerate(results)]
                self.runtime._session.on_interrupt(0, None)
            try:
                text = self.reply(self.resolve(prompt["parts"], raw),
                                  self.resolve(prompt["context"], raw)).encode()
                results.append({"ok": True, "text": {"blob": [len(out), len(text)]}, "tokens": 3})
                out += text
            except BridgeError as error:
                results.append({"ok": False, "code": error.code, "error": error.message})
        return {"results": results}, out

    do_rlm_batch = do_llm_batch

    def do_map(self, args: dict[str, Any], raw: bytes) -> tuple[Any, bytes]:
        items = args["items"]
        if isinstance(items, list):
            texts = ["" if parts is None else self.resolve(parts, raw) for parts in items]
        elif "lines" in items:
            source = self.texts[items["lines"]["ctx"]]
            texts = [source.data[at:at + n].decode() for at, n in source.lines]
        else:
            spec = items["records"]
            rows = self.texts[spec["ctx"]].rows[spec["from"]:spec["to"]]
            texts = [str(row[2][spec["field"]]) if spec["field"] else json.dumps(row[2])
                     for row in rows]
        labels = [next((i for i, label in enumerate(args["labels"]) if label in text), -1)
                  for text in texts]
        if self.stop_batch_after is not None:  # two replies had come
            half = self.stop_batch_after // 2
            spans = [(0, half), (half, self.stop_batch_after)]
            self.items = [(k, {"at": list(range(*span)), "labels": labels[slice(*span)]}, b"")
                          for k, span in enumerate(spans)]
            self.runtime._session.on_interrupt(0, None)
        if self.map_limit is not None:
            labels[self.map_limit:] = [-1] * (len(labels) - self.map_limit)
            reasons = [[i, "not asked"] for i in range(self.map_limit, len(labels))]
            stopped = {"stopped": "the limit of calls is reached"}
        else:
            reasons = [[i, "unreadable" if texts[i].strip() else "empty"]
                       for i, n in enumerate(labels) if n < 0]
            stopped = {}
        out = json.dumps(reasons).encode()
        return {"labels": labels, "failed": {"blob": [0, len(out)]}, **stopped}, out

    def do_out_file(self, args: dict[str, Any], raw: bytes) -> tuple[Any, bytes]:
        before = self.files.get(args["name"], b"") if args["append"] else b""
        self.files[args["name"]] = before + raw
        return {"bytes": len(raw)}, b""

    def do_budget(self, args: dict[str, Any], raw: bytes) -> tuple[Any, bytes]:
        return {"iterations_left": 5, "calls_left": 9, "tokens_left": None, "depth": 0}, b""

    def do_history(self, args: dict[str, Any], raw: bytes) -> tuple[Any, bytes]:
        if "at" not in args:
            return {"count": len(self.history)}, b""
        text = self.history[args["at"]].encode()
        return {"text": {"blob": [0, len(text)]}}, text

    def do_grep(self, args: dict[str, Any], raw: bytes) -> tuple[Any, bytes]:
        source = self.texts[args["ctx"]]
        try:
            pattern = re.compile(args["pattern"].encode(),
                                 re.IGNORECASE if args["ignore_case"] else 0)
        except re.error as error:
            raise BridgeError("bad_argument", f"bad pattern: {error}") from None
        matches = []
        for number, (at, length) in enumerate(source.lines, 1):
            hit = pattern.search(source.data[at:at + length])
            if hit:
                matches.append({"at": at + hit.start(), "len": hit.end() - hit.start(),
                                "line": number, "line_at": at, "line_len": length})
        kept = matches[:args["max"]]
        return {"matches": kept, "total": len(matches), "cut": len(kept) < len(matches)}, b""

    def do_search(self, args: dict[str, Any], raw: bytes) -> tuple[Any, bytes]:
        source, words = self.texts[args["ctx"]], args["query"].lower().split()
        hits = [{"at": at, "len": n, "score": float(score)} for at, n in source.lines
                if (score := sum(w in source.data[at:at + n].decode().lower() for w in words))]
        hits.sort(key=lambda hit: -hit["score"])
        return {"hits": hits[:args["k"]]}, b""

    def do_count(self, args: dict[str, Any], raw: bytes) -> tuple[Any, bytes]:
        return {"count": self.texts[args["ctx"]].data.count(args["text"].encode())}, b""

    def do_find(self, args: dict[str, Any], raw: bytes) -> tuple[Any, bytes]:
        at = self.texts[args["ctx"]].data.find(args["text"].encode(), args["from_byte"],
                                               args["to_byte"])
        return {"at": None if at < 0 else at}, b""

    def do_lines(self, args: dict[str, Any], raw: bytes) -> tuple[Any, bytes]:
        source = self.texts[args["ctx"]]
        chosen = source.lines[args["from"]:args["to"]]
        end = chosen[-1][0] + chosen[-1][1] + 1
        return {"at": chosen[0][0], "len": min(end, len(source.data)) - chosen[0][0]}, b""

    def do_line_count(self, args: dict[str, Any], raw: bytes) -> tuple[Any, bytes]:
        return {"count": len(self.texts[args["ctx"]].lines)}, b""

    def do_records(self, args: dict[str, Any], raw: bytes) -> tuple[Any, bytes]:
        rows, size, chosen = self.texts[args["ctx"]].rows, 0, []
        for row in rows[args["from"]:args["from"] + args["max_records"]]:
            if chosen and size + row[1] > args["max_bytes"]:
                break
            chosen.append(row[2])
            size += row[1]
        data = json.dumps(chosen).encode()
        return {"rows": {"blob": [0, len(data)]}, "first": args["from"],
                "next": args["from"] + len(chosen), "count": len(chosen)}, data

    def do_records_info(self, args: dict[str, Any], raw: bytes) -> tuple[Any, bytes]:
        source = self.texts[args["ctx"]]
        names: dict[str, None] = {}
        for _, _, row in source.rows:
            _collect(row, "", names)
        fields = [{"shown": name, "path": name.split("."), "types": []} for name in names]
        return {"count": len(source.rows) or None, "skipped": source.skipped, "format": "ndjson" if source.rows else "plain-text", "label": "Plain text",
                "fields": fields}, b""

    def do_record_span(self, args: dict[str, Any], raw: bytes) -> tuple[Any, bytes]:
        rows = self.texts[args["ctx"]].rows
        first, last = rows[args["from"]], rows[args["to"] - 1]
        return {"at": first[0], "len": last[0] + last[1] - first[0]}, b""

    def do_char_to_byte(self, args: dict[str, Any], raw: bytes) -> tuple[Any, bytes]:
        text = self.texts[args["ctx"]].text
        return {"bytes": [len(text[:n].encode()) for n in args["chars"]]}, b""

    def do_byte_to_char(self, args: dict[str, Any], raw: bytes) -> tuple[Any, bytes]:
        data = self.texts[args["ctx"]].data
        return {"chars": [len(data[:n].decode()) for n in args["bytes"]]}, b""


def _collect(row: dict[str, Any], prefix: str, names: dict[str, None]) -> None:
    for key, value in row.items():
        if isinstance(value, dict):
            _collect(value, f"{prefix}{key}.", names)
        else:
            names[prefix + key] = None
