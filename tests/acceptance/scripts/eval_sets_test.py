#!/usr/bin/env python3
"""Task sets by the built command: the same bytes everywhere, exit codes, what a change of a set does."""

import hashlib
import json
import pathlib

import harness

SOURCE = pathlib.Path(__file__).resolve().parents[3] / "src" / "evaluation"
HASHES = SOURCE.parents[1] / "tests" / "evaluation" / "seed_1.json"


class EvalSets(harness.Case):
    def generate(self, *words, out="set", code=0, env=None):
        if env:
            self.env.update(env)
        got, stdout, err = self.run_to_end("eval", "generate", *words, "--out", out)
        self.assertEqual(got, code, err)
        return stdout, err

    def digest(self, folder):
        whole = hashlib.sha256()
        for path in sorted((self.home / folder).rglob("*")):
            if path.is_file():
                whole.update(path.relative_to(self.home / folder).as_posix().encode() + b"\0" + path.read_bytes())
        return whole.hexdigest()

    # EVL-1, EVL-A1: another locale, time zone and folder give the same bytes.
    def test_the_same_bytes_in_another_place(self):
        self.generate("quick")
        self.generate("quick", out="deep/other", env={"LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Kathmandu", "LANG": "C"})
        self.assertEqual(self.digest("set"), self.digest("deep/other"))

    # EVL-1, EVL-A1: what every build has to give at seed 1; `seed_1.json` changes only with a family.
    def test_the_bytes_at_seed_1(self):
        self.generate("quick")
        files = json.loads((self.home / "set/manifest.json").read_text())["files"]
        found = {}
        for line in (self.home / "set/tasks.jsonl").read_bytes().splitlines(keepends=True):
            family = json.loads(line)["family"]
            if family not in found:
                found[family] = hashlib.sha256()
                for file in files:
                    if file["path"].split("/")[1].startswith(family + "-"):
                        found[family].update((file["path"] + file["sha256"]).encode())
            found[family].update(line)
        found = {family: whole.hexdigest() for family, whole in sorted(found.items())}
        self.assertEqual(found, json.loads(HASHES.read_text()), json.dumps(found, indent=1))

    # EVL-3, EVL-8, EVL-A3: the small selection has 40 tasks of all families, all proved.
    def test_the_small_selection(self):
        out, _ = self.generate("quick")
        self.assertIn("40 tasks", out)
        tasks = [json.loads(line) for line in (self.home / "set/tasks.jsonl").read_text().splitlines()]
        _, families, _ = self.run_to_end("eval", "families", "--json")
        names = {row["name"] for row in json.loads(families)["families"]}
        self.assertEqual({task["family"] for task in tasks}, names)
        # EVL-37: a family is one file, and one row of the table.
        for name in names:
            self.assertTrue((SOURCE / "families" / f"{name}.cc").is_file(), name)
        code, out, err = self.run_to_end("eval", "check", "set", "--json")
        report = json.loads(out)
        self.assertEqual((code, report["proved"], report["oracle"], report["findings"]), (0, 40, 1.0, []), err)

    # EVL-3, EVL-S6: wrong gold is a finding, an edited file is damage.
    def test_a_changed_set(self):
        self.generate("aggregate", "--length", "4K", "--windows", "1", "--questions", "4")
        rows = self.home / "set/tasks.jsonl"
        text = rows.read_text()
        first = json.loads(text.splitlines()[0])["gold"][0]
        rows.write_text(text.replace(f'"gold":["{first}"]', '"gold":["wrong"]', 1))
        code, _, err = self.run_to_end("eval", "check", "set")
        self.assertEqual(code, 15, err)
        self.assertIn("the gold paths differ", err)
        rows.write_text(text)
        window = next((self.home / "set/contexts").iterdir())
        window.write_text(window.read_text() + "one more line\n")
        code, _, err = self.run_to_end("eval", "check", "set")
        self.assertEqual(code, 4, err)
        self.assertIn(hashlib.sha256(window.read_bytes()).hexdigest(), err)

    # EVL-S6: a question that is edited is not asked, whatever its gold.
    def test_an_edited_question_is_not_asked(self):
        self.generate("aggregate", "--length", "4K", "--windows", "1", "--questions", "4")
        rows = self.home / "set/tasks.jsonl"
        text = rows.read_text()
        rows.write_text(text.replace("Which", "What", 1))
        manifest = json.loads((self.home / "set/manifest.json").read_text())
        for words in (("run", "set", "--arm", "floor", "--out", "o"), ("check", "set")):
            code, _, err = self.run_to_end("eval", *words)
            self.assertIn(code, (4, 15) if words[0] == "check" else (4,), err)
            if code == 4:
                self.assertIn(manifest["tasks_sha256"], err)
                self.assertIn(hashlib.sha256(rows.read_bytes()).hexdigest(), err)
        self.assertFalse((self.home / "o").exists())
        rows.write_text(text)
        code, _, err = self.run_to_end("eval", "run", "set", "--arm", "floor", "--out", "o", *self.script(["x"]))
        self.assertEqual(code, 0, err)

    # EVL-70, EVL-111: a report groups by the length that was asked for; the true count is in the manifest.
    def test_one_group_a_length(self):
        self.generate("aggregate", "pairs", "--length", "4K,6K", "--windows", "2", "--questions", "3")
        tasks = [json.loads(line) for line in (self.home / "set/tasks.jsonl").read_text().splitlines()]
        self.assertEqual({task["meta"]["context_len"] for task in tasks}, {4096, 6144})
        code, _, err = self.run_to_end("eval", "run", "set", "--arm", "floor", "--out", "o", *self.script(["x"]))
        self.assertEqual(code, 0, err)
        groups = json.loads(self.run_to_end("eval", "report", "o", "--json")[1])["groups"]
        self.assertEqual([group["value"] for group in groups if group["dimension"] == "length"], ["4K", "6K"])

    # EVL-111: each family says which kinds of question it has; EVL-25: the mean over ruler's eleven tasks.
    def test_groups_by_kind_of_question(self):
        self.generate("code", "hops", "logs", "long", "ruler", "tables", "--length", "6000", "--windows", "1", "--questions", "11")
        code, _, err = self.run_to_end("eval", "run", "set", "--arm", "oracle", "--out", "o", *self.script(["x"]))
        self.assertEqual(code, 0, err)
        groups = json.loads(self.run_to_end("eval", "report", "o", "--json")[1])["groups"]
        kinds = {group["value"] for group in groups if group["dimension"] == "kind"}
        self.assertLessEqual({"defines", "never called", "chain", "last", "count", "percentile", "gap", "sort", "merge", "sum"}, kinds)
        ruler = [group for group in groups if group["dimension"] == "ruler task"]
        self.assertEqual((len(ruler), {group["tasks"] for group in ruler}), (11, {1}))
        mean, = [group for group in groups if group["value"] == "RULER-11"]
        self.assertEqual((mean["dimension"], mean["tasks"], mean["score"]), ("mean", 11, [100]))

    def test_fewer_questions_than_asked_for_are_told(self):
        _, err = self.generate("needle", "--length", "2K", "--windows", "2", "--questions", "40")
        self.assertIn("needle has not 40 questions a window: 78 fewer in 2 windows", err)
        _, err = self.generate("aggregate", "--length", "4K", "--windows", "1", "--questions", "4", out="other")
        self.assertNotIn("fewer", err)

    # EVL-S6
    def test_what_cannot_be_made(self):
        for words, code, said in (
                (("agregate",), 3, "aggregate"),
                (("aggregate", "--length", "100"), 3, "the smallest that works is"),
                (("hops", "--set", "hops=9"), 3, "hops=9"),
                (("aggregate", "--set", "nothing=1"), 3, "has no parameter nothing"),
                (("aggregate", "--items", "missing.jsonl"), 4, "missing.jsonl"),
                (("aggregate", "--tokenizer", "nothing"), 2, "nothing")):
            with self.subTest(words=words):
                _, err = self.generate(*words, code=code)
                self.assertIn(said, err)
                self.assertEqual([path.name for path in self.home.iterdir() if "set" in path.name], [])
        self.generate("long", "--length", "20", "--windows", "1")
        _, err = self.generate("long", "--length", "20", "--windows", "1", code=12)
        self.assertIn("there already", err)

    # EVL-5: fields of another name; a pool that is too small for the length.
    def test_own_items(self):
        rows = [{"body": f"a note of {word} number {i}", "topic": topic}
                for topic, word in (("alpha", "one"), ("beta", "two")) for i in range(120)]
        self.write("pool.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        self.generate("aggregate", "--items", "pool.jsonl", "--length", "2000", "--windows", "1", "--questions", "3",
                      "--set", "map=text:body,label:topic")
        manifest = json.loads((self.home / "set/manifest.json").read_text())
        self.assertEqual(manifest["pool"]["rows"], 240)
        text = next((self.home / "set/contexts").iterdir()).read_text()
        self.assertIn("exactly one of these labels: alpha, beta.", text)
        self.assertIn("|| Instance: a note of ", text)
        self.assertNotIn("alpha\n", text.split("\n\n")[1])
        _, err = self.generate("aggregate", "--items", "pool.jsonl", "--length", "16K", "--windows", "1",
                               "--set", "map=text:body,label:topic", out="other", code=3)
        self.assertRegex(err, r"the pool has 120 texts with the label (alpha|beta); a window of \d+ lines needs \d+")

    # EVL-S6: without Python its proofs are told as missing, the rest is proved.
    def test_a_missing_program(self):
        self.generate("logs", "long", "--length", "20000", "--windows", "1", "--questions", "2")
        self.env["PATH"] = str(pathlib.Path("/nonexistent"))
        code, _, err = self.run_to_end("eval", "check", "set")
        self.assertEqual(code, 13, err)
        self.assertIn("install python3", err)

    # EVL-45, EVL-53
    def test_scores_of_one_answer(self):
        self.generate("aggregate", "--length", "4K", "--windows", "1", "--questions", "1")
        task = json.loads((self.home / "set/tasks.jsonl").read_text().splitlines()[0])
        gold = task["gold"][0]
        for answer, official, lenient in ((f"Label: {gold}", 1, 1), (f"{gold} it is, I would say.", 0, 1), ("?", 0, 0)):
            code, out, err = self.run_to_end("eval", "score-one", "set", task["id"], "--answer", answer, "--json")
            self.assertEqual(code, 0, err)
            score = json.loads(out)
            self.assertEqual((score["official"], score["lenient"]), (official, lenient), answer)
        code, _, err = self.run_to_end("eval", "score-one", "set", task["id"][:-1] + "9", "--answer", "x")
        self.assertEqual(code, 3)
        self.assertIn(task["id"], err)


if __name__ == "__main__":
    harness.main()
