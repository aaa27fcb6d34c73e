"""Conversations as files: what the command writes, a strict reader of the format reads."""

import json
import pathlib
import sys

import harness

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "conversation"))
import strict_reader  # noqa: E402


def conversation(name: str, messages: list, metadata: dict | None = None) -> dict:
    return {"id": name, "model": "scripted",
            "messages": [{"role": role, "content": content} for role, content in messages],
            "created_at": "2026-11-21T12:47:14.000000Z",
            "updated_at": "2026-11-21T12:47:15.250000Z", "metadata": metadata or {}}


def talk(turns: int, words: int = 80) -> list:
    out = []
    for turn in range(1, turns + 1):
        out += [("user", f"question {turn} " + "word " * words), ("assistant", f"answer {turn}")]
    return out


class Conversations(harness.Case):
    def setUp(self):
        super().setUp()
        self.folder = self.home / "conv"
        self.folder.mkdir()

    def put(self, value: dict, **options) -> pathlib.Path:
        path = self.folder / f"{value['id']}.json"
        path.write_text(json.dumps(value, indent=2, **options), "utf-8")
        path.chmod(0o600)
        return path

    def ok(self, *words: str) -> str:
        code, out, err = self.run_to_end(*words, "--conversations-path", str(self.folder))
        self.assertEqual(code, 0, err)
        return out

    # CON-28, CON-A10, CON-A11
    def test_a_fork_is_a_strict_file(self):
        for ascii_only in (True, False):
            source = conversation("source", [("system", "S ü 😀"), *talk(3)])
            path = self.put(source, ensure_ascii=ascii_only)
            before = path.read_bytes()
            self.ok("conversations", "fork", "source", "--at", "2", "--as", "copy")
            copy = strict_reader.read(self.folder / "copy.json")
            self.assertEqual(copy["messages"], source["messages"][:5])
            self.assertEqual(path.read_bytes(), before)
            self.ok("conversations", "delete", "copy", "-y")
            self.assertEqual([p.name for p in self.folder.iterdir() if "copy" in p.name], [])

    def test_an_image_of_a_message_is_named(self):  # FLT-136
        parts = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
                 {"type": "text", "text": "what is this?"}]
        self.put(conversation("seen", [("user", parts), ("assistant", "abc")]))
        self.assertIn("[0] USER:\n[image image/png, 3 B]\nwhat is this?\n", self.ok("conversations", "show", "seen"))
        self.assertEqual(json.loads(self.ok("conversations", "show", "seen", "--json"))["messages"][0],
                         {"n": 0, "role": "user", "text": "what is this?", "media": ["image image/png, 3 B"]})

    # CON-42, CON-44, CON-45, CON-A9
    def test_a_compaction_keeps_the_file_and_is_undone(self):
        path = self.put(conversation("long", talk(6)))
        before = path.read_bytes()
        out = self.ok("conversations", "compact", "long", *self.script(["Four questions."]))
        self.assertRegex(out, r"^compacted: turns 1-4 \([\d,]+ tokens\) -> \d+; saved \d+ %; "
                              r"original kept; undo: dossier conversations compact long --undo$")
        after = strict_reader.read(path)
        self.assertEqual(after["messages"], json.loads(before)["messages"])
        sent = self.ok("conversations", "show", "long", "--as-sent")
        self.assertIn("Four questions.", sent)
        self.assertNotIn("question 4", sent)
        self.assertIn("question 5", sent)
        self.ok("conversations", "compact", "long", "--undo")
        restored = strict_reader.read(path)
        self.assertEqual(restored["metadata"].get("dossier", {}).get("compaction"), None)
        self.assertIn("question 1", self.ok("conversations", "show", "long", "--as-sent"))

    # CON-27, CON-B15
    def test_a_migration_makes_a_strict_file_and_a_backup(self):
        block = "--- Context: a ---\none\n--- End Context ---\n\n"
        value = conversation("old", [("user", block + "first"), ("assistant", "r"),
                                     ("user", block + "second")])
        value["mine"] = 1
        path = self.put(value)
        before = path.read_bytes()
        self.ok("context", "migrate", "old")
        after = strict_reader.read(path)
        self.assertEqual([m["content"] for m in after["messages"]],
                         [block.rstrip("\n"), "first", "r", "second"])
        self.assertEqual(after["metadata"]["dossier"]["foreign"], {"mine": 1})
        backups = list(self.folder.glob("old.json.bak-*"))
        self.assertEqual([b.read_bytes() for b in backups], [before])
        self.assertRegex(backups[0].name, r"\.bak-\d{8}T\d{6}Z$")
        self.assertEqual(self.ok("context", "migrate", "--all"), "old: nothing to move\n")

    # CON-A11: a file is data.
    def test_a_command_in_a_file_never_runs(self):
        context = {"mode": "static", "offset": 0, "length": 0,
                   "commands": [{"name": "a", "command": "touch ran", "origin": "config"}]}
        self.put(conversation("evil", talk(1), {"context": context}))
        for words in (["conversations", "list"], ["conversations", "show", "evil"],
                      ["context", "show", "evil"], ["context", "migrate", "evil"],
                      ["conversations", "fork", "evil"], ["conversations", "export", "evil"],
                      ["context", "drift", "evil"], ["context", "refresh", "evil"]):
            self.ok(*words)
        self.assertFalse((self.home / "ran").exists())

    # CON-M5: nothing that was sent is lost.
    def test_a_refresh_keeps_what_it_replaces(self):
        block = "--- Context: b ---\ntwo\n--- End Context ---"
        path = self.put(conversation("fresh", [("system", f"S\n\n{block}"), *talk(2)]))
        self.write("dossier.yml", "context_commands: [{name: b, command: echo new}]\n")
        self.ok("context", "refresh", "fresh", "--trust-config")
        stored = strict_reader.read(path)
        self.assertEqual(stored["messages"][0]["content"], f"S\n\n{block.replace('two', 'new')}")
        self.assertEqual([m["content"] for m in stored["messages"][1:]],
                         [text for _, text in talk(2)])
        old = stored["metadata"]["context"]["history"][0]
        kept = [p for p in self.home.rglob(old["sha256"]) if p.is_file()]
        self.assertEqual([p.read_text("utf-8") for p in kept], [block])
        # What was replaced can be read again.
        show = ("context", "show", "fresh", "--trust-config")
        listed = self.ok(*show, "--history")
        self.assertRegex(listed, rf"^  1  {old['replaced_at']} +42 bytes  {old['sha256'][:12]}\n$")
        self.assertEqual(self.ok(*show, "--at", "1"), block + "\n")
        shown = json.loads(self.ok(*show, "--at", "1", "--block", "b", "--json"))
        self.assertEqual((shown["replaced"]["sha256"], shown["text"]), (old["sha256"], block))
        code, out, err = self.run_to_end(*show, "--at", "2", "--conversations-path",
                                         str(self.folder))
        self.assertEqual((code, out), (4, ""))
        self.assertIn("--at 2: refreshes replaced 1 context of conversation fresh", err)
        # A second one finds nothing to change, and leaves the file as it is.
        before = path.read_bytes()
        self.assertEqual(self.ok("context", "refresh", "fresh", "--trust-config"), "b: same\n")
        self.assertEqual(path.read_bytes(), before)

    # CON-32: the index is a cache.
    def test_the_index_may_be_deleted_or_damaged(self):
        self.put(conversation("one", [("user", "needle in here")]))
        expected = "one:1 user needle in here\n"
        self.assertEqual(self.ok("conversations", "search", "needle"), expected)
        index = self.home / "cache/dossier/conversations"
        for database in index.glob("*.db*"):
            database.unlink()
        self.assertEqual(self.ok("conversations", "search", "needle"), expected)
        for database in index.glob("*.db*"):
            database.write_bytes(b"this is no database" * 100)
        self.assertEqual(self.ok("conversations", "search", "needle"), expected)


if __name__ == "__main__":
    harness.main()
