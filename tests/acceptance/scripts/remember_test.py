#!/usr/bin/env python3
"""A corpus that is asked about again after an edit costs its edited pieces (REC-81, REC-A34), and files that
code writes for the user (REC-83)."""

import hashlib
import json
import random

import harness

SIZE = 20_000   # bytes of a piece by content
CODE = """```repl
m = map_llm(doc.chunks(%d, by="content"), labels=["odd", "even", "none"], instruction="Which?", batch=1, remember=True)
FINAL(f"{m.total} {len(m.failed)}")
```""" % SIZE


def prose(size: int, seed: int) -> str:
    draw = random.Random(seed)
    lines = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz      é", k=draw.randrange(20, 90))) for _ in range(size // 54)]
    return "\n".join(lines) + "\n"


class RememberTest(harness.Case):
    def ask(self, text: str, code: str = CODE, *words: str) -> dict:
        path = self.write("corpus.txt", text)
        script = self.script([{"purpose": "root", "times": "always", "reply": code},
                              {"purpose": "map", "times": "always", "reply": "even"}])
        status, out, err = self.run_to_end(
            "ask", *script, "-c", path, "--mode", "recursive", "--forcing", "none", "--json", "--quiet", "--temperature", "0.7",
            "--max-calls", "20000", "--concurrency", "64", *words, "Which?", limit=300)
        self.assertEqual(status, 0, err)
        return json.loads(out)

    def pieces(self, text: str) -> list[str]:
        """As the sandbox cuts it."""
        outcome = self.ask(text, f"""```repl
import hashlib, json
FINAL(json.dumps([len(p.encode()) for p in doc.chunks({SIZE}, by="content")]))
```""")
        data, at, pieces = text.encode(), 0, []
        for length in json.loads(outcome["answer"]):
            pieces.append(data[at:at + length].decode())
            at += length
        self.assertEqual(at, len(data))
        return pieces

    @staticmethod
    def edit(text: str, places: list[int], fresh: str, how: str) -> tuple[str, list[tuple[int, int]]]:
        """The text with an equal share of `fresh` at each place; where these lie in it."""
        length, edited = len(fresh) // len(places), []
        for i, at in enumerate(places):
            at += length * i if how == "insert" else 0
            text = text[:at] + fresh[length * i:length * (i + 1)] + text[at + (length if how == "replace" else 0):]
            edited.append((at, length))
        return text, edited

    def touched(self, text: str, places: list[tuple[int, int]]) -> int:
        """How many pieces of `text` hold a character of one of the places."""
        at, count = 0, 0
        for piece in self.pieces(text):
            count += any(at < first + length and first < at + len(piece) for first, length in places)
            at += len(piece)
        return count

    def test_one_percent_of_a_corpus_costs_its_own_pieces(self):  # REC-81, REC-A34
        text = prose(20_000_000, 1)
        whole = self.ask(text)
        total, failed = map(int, whole["answer"].split())
        self.assertEqual((failed, whole["calls"]["sent"]), (0, total + 1))   # and the root's
        self.assertTrue(700 < total < 1_400, total)
        self.assertEqual(self.ask(text)["calls"]["sent"], 1, "nothing is asked twice")

        part, at = len(text) // 100, len(text) // 3
        cases = {"edited": self.edit(text, [at], prose(part, 2), "replace"),
                 "inserted": self.edit(text, [at], prose(part, 3), "insert"),
                 "moved": (text[:at] + text[-part:] + text[at:-part], [(at, part)]),
                 "edited in twenty places": self.edit(text, [at + 40_000 * i for i in range(20)], prose(part, 4), "replace"),
                 "inserted in twenty places": self.edit(text, [at + 40_000 * i for i in range(20)], prose(part, 5), "insert")}
        for name, (now, places) in cases.items():
            with self.subTest(name):
                asked = self.ask(now)["calls"]["sent"] - 1
                touched = self.touched(now, places)
                print(f"{name}: {asked} sub-calls, {touched} pieces touched of {total}", flush=True)
                self.assertLessEqual(asked, touched + 2)
                self.assertLess(touched, total // 25)

    def test_values_of_a_schema_are_remembered_too(self):  # REC-81
        code = CODE.replace('labels=["odd", "even", "none"], ', "").replace("batch=1", 'schema={"type": "object"}')
        answered = [{"purpose": "root", "times": "always", "reply": code},
                    {"purpose": "subcall", "times": "always", "reply": "{}"}]
        text = prose(200_000, 7)
        path = self.write("corpus.txt", text)
        sent = []
        for now, words in ((text, []), (text, []), (text + prose(900, 8), []), (text, ["--cache", "off"])):
            self.write("corpus.txt", now)
            status, out, err = self.run_to_end(
                "ask", *self.script(answered), "-c", path, "--mode", "recursive", "--forcing", "none", "--json",
                "--quiet", "--temperature", "0.7", *words, "Which?", limit=300)
            self.assertEqual(status, 0, err)
            sent.append(json.loads(out)["calls"]["sent"] - 1)
        self.assertGreater(sent[0], 5)
        self.assertEqual((sent[1], sent[3]), (0, sent[0]))
        self.assertLessEqual(sent[2], 2)

    def test_another_instruction_model_or_label_is_asked(self):  # REC-81
        path = self.write("corpus.txt", prose(60_000, 3))
        codes = {"Which now?": CODE, "Who now?": CODE.replace('"Which?"', '"Who?"'), "What else?": CODE.replace('"none"]', '"other"]'),
                 "And then?": CODE.replace(", remember=True", "")}
        # One script, as its hash tells who answers.
        script = self.script([{"purpose": "root", "times": "always", "when": question.replace("?", "[?]"), "reply": code}
                              for question, code in codes.items()] +
                             [{"purpose": "map", "times": "always", "reply": "even"}])

        def sent(question: str, *words: str) -> int:
            status, out, err = self.run_to_end("ask", *script, "-c", path, "--mode", "recursive", "--forcing", "none", "--json",
                                               "--quiet", "--temperature", "0.7", *words, question)
            self.assertEqual(status, 0, err)
            return json.loads(out)["calls"]["sent"]
        first = sent("Which now?")
        self.assertGreater(first, 1)
        self.assertEqual(sent("Which now?"), 1)
        for question in codes.keys() - {"Which now?"}:
            self.assertEqual(sent(question), first, question)
        self.assertEqual(sent("Who now?"), 1)
        self.assertEqual(sent("And then?"), first, "only where the code asks for it")
        self.assertEqual(sent("Which now?", "--cache", "refresh"), first)
        self.assertEqual(sent("Which now?", "--cache", "off"), first)

    def test_both_dialects_cut_alike(self):  # REC-81
        text = prose(300_000, 4)
        path = self.write("corpus.txt", text)
        script = self.script([{"purpose": "root", "times": "always", "reply":
                               "```js\nSUBMIT({answer: JSON.stringify(doc.chunks(20000, {by: 'content'}).map(c => String(c)))})\n```"}])
        status, out, err = self.run_to_end("ask", *script, "-c", path, "--mode", "recursive", "--forcing", "none",
                                           "--dialect", "javascript", "--quiet", "What?")
        self.assertEqual(status, 0, err)
        self.assertEqual(json.loads(out), self.pieces(text))


class OutDirTest(harness.Case):
    def ask(self, code: str, *words: str, language: str = "python", status: int = 0):
        fence = "repl" if language == "python" else "js"
        script = self.script([{"purpose": "root", "times": "always", "reply": f"```{fence}\n{code}\n```"}])
        got, out, err = self.run_to_end("ask", *script, "--context-text", "one two\n", "--forcing", "none", "--dialect",
                                        language, *words, "What is there?")
        self.assertEqual(got, status, err)
        return out, err

    def test_files_are_collected_with_their_hashes(self):  # REC-83
        table = "a,b\n1,é\n"
        code = (f"import csv, os, json\nos.makedirs('out', exist_ok=True)\nsave_file('table.csv', {table!r})\n"
                "with open('/out/lines.txt', 'w') as f:\n    f.write('one\\n')\n    print('two', file=f)\n"
                "with open('out/lines.txt', 'a') as f: f.write('three\\n')\n"
                "with open('/out/raw.bin', 'wb') as f: f.write(bytes(range(256)) * 20000)\n"
                "save_file('value.json', {'a': [1, 2]})\nFINAL('done')")
        out, _ = self.ask(code, "--out-dir", "results", "--json", "--quiet")
        outcome = json.loads(out)
        contents = {"table.csv": table.encode(), "lines.txt": b"one\ntwo\nthree\n",
                    "raw.bin": bytes(range(256)) * 20000, "value.json": b'{"a": [1, 2]}'}
        self.assertEqual(outcome["mode"], "recursive")
        self.assertEqual(outcome["files"], [
            {"name": name, "path": f"results/{name}", "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in sorted(contents.items())])
        for name, data in contents.items():
            self.assertEqual((self.home / "results" / name).read_bytes(), data)
        _, err = self.ask("save_file('x', 'y')\nFINAL('done')", "--out-dir", "second")
        self.assertIn(f"wrote second/x (1 B, SHA-256 {hashlib.sha256(b'y').hexdigest()})", err)

    def test_the_folder_is_write_only_and_hostile_names_are_refused(self):  # REC-83
        self.write("secret.txt", "keep out\n")
        code = ("import os, json\nsave_file('mine.txt', 'x')\nsaid = []\n"
                "def attempt(what):\n    try:\n        what()\n        said.append('done')\n"
                "    except Exception as error:\n        said.append(type(error).__name__)\n"
                "attempt(lambda: open('/out/mine.txt').read())\nattempt(lambda: open('/out/mine.txt', 'r+'))\n"
                "for name in ('../secret.txt', '/etc/passwd', 'a/b', '.bashrc', '-rf', 'a\\nb', '\\x1b[2J', 'x\\u202ey', ''):\n"
                "    attempt(lambda: save_file(name, 'x'))\n"
                "attempt(lambda: os.symlink('/etc/passwd', '/out/link'))\nattempt(lambda: os.link('/tmp/x', '/out/link'))\n"
                "attempt(lambda: os.listdir('/out/..')[0] + 1)\nFINAL(json.dumps(said))")
        out, _ = self.ask(code, "--out-dir", "results", "--json", "--quiet")
        outcome = json.loads(out)
        said = json.loads(outcome["answer"])
        self.assertNotIn("done", said)
        self.assertEqual(said[:2], ["PermissionError"] * 2)
        self.assertEqual(said[2:11], ["ValueError"] * 9)
        self.assertEqual([file["name"] for file in outcome["files"]], ["mine.txt"])
        self.assertEqual([path.name for path in (self.home / "results").iterdir()], ["mine.txt"])
        self.assertEqual((self.home / "secret.txt").read_text(), "keep out\n")

    def test_javascript_writes_files_too(self):  # REC-83
        out, _ = self.ask("save_file('a.txt', 'één');\nlet said = '';\ntry { save_file('../a', 'x') } catch (e) { said = e.message }\n"
                          "SUBMIT({answer: said})", "--out-dir", "results", "--json", "--quiet", language="javascript")
        outcome = json.loads(out)
        self.assertIn("names a folder", outcome["answer"])
        self.assertEqual((self.home / "results" / "a.txt").read_text(), "één")
        self.assertEqual(outcome["files"][0]["bytes"], 5)

    def test_without_the_flag_nothing_is_written(self):  # REC-83
        out, _ = self.ask("try:\n    open('/out/a', 'w')\nexcept OSError as e:\n    FINAL(f\"{'save_file' in globals()}\")",
                          "--mode", "recursive", "--json", "--quiet")
        outcome = json.loads(out)
        self.assertEqual(outcome["answer"], "False")
        self.assertNotIn("files", outcome)

    def test_a_folder_with_files_and_direct_mode_are_refused(self):  # REC-83
        (self.home / "full").mkdir()
        self.write("full/mine.txt", "x")
        _, err = self.ask("FINAL(1)", "--out-dir", "full", status=2)
        self.assertIn("holds files already", err)
        _, err = self.ask("FINAL(1)", "--out-dir", "new", "--mode", "direct", status=2)
        self.assertIn("only code writes files", err)


if __name__ == "__main__":
    harness.main()
