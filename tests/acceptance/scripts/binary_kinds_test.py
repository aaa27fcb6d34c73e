#!/usr/bin/env python3
"""What files that are no text say of themselves: every kind, damaged, hostile, and given to `ask`."""

import gzip
import io
import json
import random
import resource
import struct
import subprocess
import tarfile
import time
import zipfile
import zlib

import binary_files
import harness

MIB = 1 << 20
ADDRESSES = 256 * MIB   # of the whole process, which has about 130 MiB before it reads a file


class BinaryKinds(harness.Case):
    def inspect(self, *words: str, **options) -> list[dict]:
        code, out, err = self.run_to_end("inspect", "--jsonl", *words, **options)
        self.assertEqual((code, err), (0, ""))
        return [json.loads(line) for line in out.splitlines()]

    def notes(self, file: dict) -> str:
        return "; ".join(f"{note['code']}: {note['text']}" for note in file["notes"])

    def test_a_database_in_write_ahead_mode_says_what_is_not_counted(self):  # INS-82
        plain = binary_files.sqlite()
        self.write("wal.db", plain[:18] + b"\2\2" + plain[20:])
        self.assertIn("rows that are still in its -wal file are not counted", self.notes(self.inspect("wal.db")[0]))

    def test_every_kind_is_named(self):
        # INS-21, INS-80 to INS-89, INS-T11
        for name, (content, _) in binary_files.FILES.items():
            self.write(name, content)
        found = self.inspect(*binary_files.FILES)
        labels = {file["name"]: file["label"] for file in found}
        self.assertEqual(labels, {name: label for name, (_, label) in binary_files.FILES.items()})
        self.assertEqual([self.notes(file) for file in found if file["notes"]], [])
        by_name = {file["name"]: file for file in found}
        fields = lambda name: {field["shown"]: field["types"] for field in by_name[name]["fields"]}
        self.assertEqual(fields("t.parquet"), {"id": ["integer"], "who.name": ["string"], "who.born": ["date"],
                                               "tags": ["array"], "when": ["datetime"], "score": ["number"]})  # INS-80
        self.assertEqual(by_name["t.parquet"]["records"]["count"], 1234)
        self.assertEqual(fields("t.arrow"), {"id": ["integer"], "when": ["datetime"]})  # INS-81
        self.assertEqual(fields("t.avro"), {"id": ["integer"], "note": ["string"]})
        self.assertEqual(fields("t.db"), {"users.id": ["integer"], "users.full name": ["string"],
                                          "orders.user": ["integer"], "orders.total": ["number"]})  # INS-82
        details = lambda name: by_name[name]["details"]
        self.assertEqual(details("t.parquet"), {"rows": 1234, "columns": 6, "row_groups": 2})
        self.assertEqual(details("locked.pdf"), {"version": "1.6", "encrypted": True, "pages": 12})  # INS-83
        self.assertEqual(details("a.xlsx")["sheets"], 2)  # INS-84
        self.assertEqual(details("a.npy"), {"type": "float64", "shape": [3, 4]})  # INS-87
        self.assertEqual(details("a.png"), {"width": 640, "height": 480})  # INS-88
        for name in ("a.zip", "a.tar", "a.tgz"):  # INS-85
            file = by_name[name]
            self.assertEqual([(m["path"], m["bytes"]) for m in file["members"]], [("one.csv", 600), ("two/b.txt", 600)])
            self.assertEqual((file["members_total"], file["members_bytes"]), (2, 1200))
        for name in ("gz", "bz2", "xz", "zst", "lz4"):  # INS-86
            file = by_name[f"f.ndjson.{name}"]
            self.assertEqual((file["format"], file["records"]["count"], file["exact"]), ("ndjson", 50, True))
            self.assertEqual(file["compression"]["inside_bytes"], len(binary_files.NDJSON))
            self.assertEqual(file["bytes"], len(binary_files.FILES[f"f.ndjson.{name}"][0]))

    def test_the_hint_says_what_is_inside(self):
        # INS-21, INS-86, INS-100
        compressed = gzip.compress(binary_files.NDJSON, mtime=0)
        self.write("feed.json.gz", compressed)
        self.write("many.zip", binary_files.zipped({f"{i}.txt": b"x" * 9 for i in range(120)}))
        _, out, _ = self.run_to_end("inspect", "--hint", "feed.json.gz")
        size = len(binary_files.NDJSON)
        self.assertIn("Format: NDJSON (named .json), gzip-compressed\n"
                      f"  Size: {size:,} chars ({size:,} bytes, {len(compressed)} compressed), 50 lines\n"
                      "  Records: 50\n  Fields: author, text\n", out)
        _, out, _ = self.run_to_end("inspect", "--hint", "many.zip")
        self.assertIn("  Members: 120 (1,080 bytes unpacked): 0.txt, 1.txt,", out)
        self.assertTrue(out.endswith("39.txt, … and 80 more\n"), out[-80:])
        with open(self.home / "feed.json.gz", "rb") as stream:   # INS-131
            file, = self.inspect("-", "--name", "feed.json.gz", "--hash", stdin=stream)
        self.assertEqual((file["label"], file["bytes"]), ("NDJSON (named .json), gzip-compressed", len(compressed)))
        self.assertEqual(len(file["sha256"]), 64)
        _, out, _ = self.run_to_end("inspect", "--format", "plain-text", "feed.json.gz")
        self.assertIn("Format: Plain text (named .json), gzip-compressed", out)

    def test_damage_is_a_note(self):
        # INS-90, INS-T11: each kind cut at 20 places and with 100 bytes flipped, within 64 MiB
        draw = random.Random(11)
        folder = self.home / "damaged"
        folder.mkdir()
        for name, (content, _) in binary_files.FILES.items():
            for i in range(20):
                (folder / f"cut{i}_{name}").write_bytes(content[:len(content) * i // 20])
            for i in range(100):
                broken = bytearray(content)
                broken[draw.randrange(len(broken) if i % 2 else min(64, len(broken)))] = draw.randrange(256)
                (folder / f"flip{i}_{name}").write_bytes(broken)
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
        found = self.inspect("--threads", "1", "--no-ignore", str(folder), preexec_fn=limit)
        self.assertEqual(len(found), 120 * len(binary_files.FILES))
        self.assertTrue(all(file["label"] for file in found))
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 110 * 1024)
        said = "\n".join(self.notes(file) for file in found)
        for words in ("gzip ends early at byte", "its footer cannot be read", "it does not end as a Parquet file does",
                      "its list of members is missing", "its schema", "not a whole SQLite file", "is damaged near"):
            self.assertTrue(words in said, words)

    def test_a_cut_file_gives_bounds(self):
        # INS-90: section 6, truncated gzip
        plain = b"".join(b'{"n":%d,"x":"%d"}\n' % (i, i * 7919 % 100003) for i in range(40000))
        whole = gzip.compress(plain, mtime=0)
        self.write("feed.ndjson.gz", whole[:len(whole) // 2])
        file, = self.inspect("feed.ndjson.gz")
        self.assertIn(f"damaged: gzip ends early at byte {len(whole) // 2:,}", self.notes(file))
        self.assertEqual((file["format"], file["exact"], file["compression"]["complete"]), ("ndjson", False, False))
        self.assertGreater(file["records"]["count"], 10000)
        self.assertFalse(file["records"]["exact"])
        code, _, _ = self.run_to_end("inspect", "--strict", "feed.ndjson.gz")
        self.assertEqual(code, 15)
        self.write("feed.ndjson.gz", whole)
        file, = self.inspect("--inside-limit", "100K", "feed.ndjson.gz")
        self.assertIn("inside-limit: only the first 100.0 KiB were unpacked", self.notes(file))
        self.assertEqual(file["compression"]["inside_bytes"], 100 * 1024)
        file, = self.inspect("--inside-limit", "0", "feed.ndjson.gz")
        self.assertEqual((file["label"], file["notes"]), ("gzip data", []))

    def test_a_bomb_ends_at_the_limit(self):
        # INS-90, INS-T12: one stream of 10 GiB, made of the same mebibyte again and again
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        block = packer.compress(bytes(MIB)) + packer.flush(zlib.Z_FULL_FLUSH)
        self.write("bomb.gz", b"\x1F\x8B\x08\0\0\0\0\0\0\3" + block * 10240 + packer.flush() + bytes(8))
        begun = time.monotonic()
        file, = self.inspect("bomb.gz", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (10, 10)))
        self.assertLess(time.monotonic() - begun, 20)
        self.assertIn("inside-limit: output over 250 times input", self.notes(file))
        self.assertLess(file["compression"]["inside_bytes"], 17 * MIB)
        self.assertFalse(file["exact"])
        # Windows of 1 GiB are asked for by the headers alone.
        self.write("wide.zst", b"\x28\xB5\x2F\xFD\0\xA0" + b"\1\0\0")
        file, = self.inspect("wide.zst")
        self.assertIn("not-unpacked: unpacking it takes over 64.0 MiB of memory", self.notes(file))

    def test_hostile_members_are_noted(self):
        # INS-91
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for name in ("../up.txt", "/etc/passwd", "same.txt", "same.txt2"):
                archive.writestr(name, b"z" * 50)
        content = bytearray(out.getvalue().replace(b"same.txt2", b"same.txt\0").replace(b"same.txt\0", b"same.txt2"))
        self.write("names.zip", bytes(content))
        twice = bytes(content).replace(b"same.txt2", b"../up.txt")
        self.write("twice.zip", twice)
        locked = bytearray(out.getvalue())
        at = locked.find(b"PK\1\2")
        locked[at + 8] |= 1
        second = locked.find(b"PK\1\2", at + 4)
        locked[second + 42:second + 46] = struct.pack("<I", 10)   # begins inside the first
        self.write("locked.zip", bytes(locked))
        said = self.notes(self.inspect("names.zip")[0])
        self.assertIn("hostile-names: 2 members would be unpacked outside its folder", said)
        self.assertIn("hostile-names: 1 member has the name of an earlier one", self.notes(self.inspect("twice.zip")[0]))
        said = self.notes(self.inspect("locked.zip")[0])
        self.assertIn("encrypted: 1 member is encrypted", said)
        self.assertIn("overlapping: 1 member reaches into bytes of another", said)
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            for name in ("../up.txt", "a.txt", "a.txt", "inner.zip"):
                info = tarfile.TarInfo(name)
                info.size = len(content) if name == "inner.zip" else 0
                archive.addfile(info, io.BytesIO(bytes(content)))
        self.write("names.tar", out.getvalue())
        file, = self.inspect("names.tar")
        self.assertIn("1 member would be unpacked outside", self.notes(file))
        self.assertIn("1 member has the name of an earlier one", self.notes(file))
        self.assertEqual(file["members_total"], 4)  # what is in inner.zip is not listed
        self.write("lies.zip", binary_files.FILES["a.zip"][0].replace(b"PK\5\6\0\0\0\0\2\0\2\0", b"PK\5\6\0\0\0\0\2\0\x09\0"))
        self.assertIn("it says to have 9 members, and lists 2", self.notes(self.inspect("lies.zip")[0]))

    def test_only_named_formats_are_opened(self):
        # INS-92: other filters and formats of the library stay shut
        self.write("a.lz", b"LZIP\1\x0C" + bytes(40))
        self.write("a.cpio", b"070701" + b"0" * 104 + b"TRAILER!!!\0\0\0\0")
        for name in ("a.lz", "a.cpio"):
            file, = self.inspect(name)
            self.assertEqual((file["compression"], file["members_total"]), (None, 0))

    def test_a_compressed_text_is_a_context(self):
        # what `ask` reads is the inside, and what it cannot read it names
        plain = b"".join(b'{"n":%d}\n' % i for i in range(400_000))
        self.write("small.ndjson.gz", gzip.compress(binary_files.NDJSON))
        self.write("large.ndjson.gz", gzip.compress(plain))
        for name, records in (("small.ndjson.gz", 50), ("large.ndjson.gz", 400_000)):
            code, out, err = self.run_to_end(
                "ask", "--mode", "recursive", "-c", name, "How many?", *self.script(
                    ["```repl\nn = len(records)\nprint(n, len(context))\nFINAL_VAR('n')\n```"]))
            self.assertEqual((code, out), (0, f"{records}\n"), err)
        self.write("a.parquet", binary_files.FILES["t.parquet"][0])
        self.write("a.tgz", binary_files.FILES["a.tgz"][0])
        self.write("cut.gz", gzip.compress(plain)[:5000])
        for name, words in (("a.parquet", "a.parquet: a binary file (Parquet table), not text; export it as CSV"),
                            ("a.tgz", "a.tgz: a binary file (Tar archive), not text; unpack it and give the folder"),
                            ("cut.gz", "cut.gz: gzip ends early at byte 5,000; unpack it and give the file")):
            code, _, err = self.run_to_end("ask", "-c", name, "What?", *self.script(["no"]))
            self.assertNotEqual(code, 0, name)
            self.assertIn(words, err)


if __name__ == "__main__":
    harness.main()
