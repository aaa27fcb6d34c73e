"""Reads a conversation file as docs/formats/conversation.md says, and refuses everything else.

    conversation = strict_reader.read(path)          # ValueError names what is wrong

Written from the format's description, not from the program: a second opinion on what it writes.
"""

import datetime
import json
import pathlib
import re
import stat

KEYS = ["id", "model", "messages", "created_at", "updated_at", "metadata"]
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
ROLES = {"system", "user", "assistant", "tool"}
CONTEXT = {"version": int, "mode": str, "source": str, "executed_at": str, "offset": int,
           "length": int, "sha256": str, "system_sha256": str, "tokens": int, "commands": list,
           "history": list}
TURN = {"n": int, "at": str, "model": str, "base": int, "usage": dict, "dynamic": list,
        "tools": list, "incomplete": bool, "run": str}
COMPACTION = {"id": int, "from": int, "to": int, "method": str, "text": str, "tokens_before": int,
              "tokens_after": int, "model": str, "at": str}


def need(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(problem)


def need_fields(value: dict, fields: dict, where: str) -> None:
    need(isinstance(value, dict), f"{where} is no object")
    for name, kind in fields.items():
        need(type(value.get(name)) is kind, f"{where}.{name} is {value.get(name)!r}")


def unique(pairs):
    keys = [key for key, _ in pairs]
    need(len(keys) == len(set(keys)), f"a key twice among {keys}")
    return dict(pairs)


def read(path: pathlib.Path) -> dict:
    need(stat.S_IMODE(path.lstat().st_mode) == 0o600, "the file is not 0600")
    raw = path.read_bytes()
    need(not raw.endswith(b"\n"), "a final newline")
    need(not raw.startswith(b"\xef\xbb\xbf"), "a byte order mark")
    value = json.loads(raw.decode("utf-8"), object_pairs_hook=unique)
    need(list(value) == KEYS, f"keys {list(value)}")
    need(value["id"] == path.stem, "the id is not the file's name")
    need(isinstance(value["model"], str), "model")
    for name in ("created_at", "updated_at"):
        need(bool(TIME.fullmatch(value[name])), f"{name} is {value[name]!r}")
        datetime.datetime.fromisoformat(value[name].replace("Z", "+00:00"))
    for index, message in enumerate(value["messages"]):
        need(message["role"] in ROLES, f"messages[{index}].role")
        need(isinstance(message["content"], (str, list, type(None))), f"messages[{index}].content")
    check_metadata(value)
    escaped = re.search(rb"\\u00[89a-f]|\\u0[1-9a-f]|\\u[1-9a-f]", raw)
    same = json.dumps(value, indent=2, ensure_ascii=bool(escaped)).encode()
    need(raw == same, "not written as two-space indented JSON")
    return value


def check_metadata(value: dict) -> None:
    metadata, messages = value["metadata"], value["messages"]
    if "total_tokens" in metadata:
        need(type(metadata["total_tokens"]) is int, "total_tokens")
    if "context" in metadata:
        context = metadata["context"]
        need_fields(context, CONTEXT, "metadata.context")
        need(context["mode"] in ("static", "disabled", "none"), "metadata.context.mode")
        if context["length"]:
            text = messages[0]["content"].encode()
            need(context["offset"] + context["length"] <= len(text), "metadata.context.length")
            frozen = text[context["offset"]:][:context["length"]].decode()
            need(frozen.startswith("--- Context"), "metadata.context.offset")
    dossier = metadata.get("dossier", {})
    for turn in dossier.get("turns", []):
        need_fields(turn, TURN, "turns[]")
    for entry in dossier.get("compaction", []):
        need_fields(entry, COMPACTION, "compaction[]")
        need(entry["from"] <= entry["to"] < len(messages), "compaction[].to")
