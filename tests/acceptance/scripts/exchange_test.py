#!/usr/bin/env python3
"""A run as a file: exports, imports, comparisons, the page. REC-70, REC-71, REC-A20, REC-68."""

import html.parser
import json
import re

import harness
from resume_test import ResumeCase

HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31m\u202egnp.exe & \"q\" 'r'"

# What a strict reader of the reference's files wants of each field.
NUMBER = (int, float)
FIELDS = {
    "metadata": {"timestamp": str, "root_model": str, "max_depth": int, "max_iterations": int,
                 "backend": str, "backend_kwargs": dict, "environment_type": str,
                 "environment_kwargs": dict, "other_backends": (list, type(None))},
    "iteration": {"iteration": int, "timestamp": str, "prompt": list, "response": str,
                  "code_blocks": list, "final_answer": (str, type(None)),
                  "iteration_time": NUMBER},
}
RESULT = {"stdout": str, "stderr": str, "locals": dict, "execution_time": NUMBER,
          "rlm_calls": list, "final_answer": (str, type(None))}
CALL = {"root_model": str, "prompt": str, "response": str, "usage_summary": dict,
        "execution_time": NUMBER, "prompt_tokens": int, "completion_tokens": int}


class ExchangeCase(ResumeCase):
    def setUp(self):
        super().setUp()
        self.made = self.finished()

    def finished(self, *words: str) -> str:
        code, _, err = self.run_to_end(*self.ask, *words, "What is the total?")
        self.assertEqual(code, 0, err)
        return self.runs()[0]["run"]

    def export(self, run: str, form: str) -> str:
        code, out, err = self.run_to_end("runs", "export", run, "--format", form)
        self.assertEqual(code, 0, err)
        return out

    def import_text(self, text: str, exit: int = 0):
        code, out, err = self.run_to_end("runs", "import", self.write("given.jsonl", text))
        self.assertEqual(code, exit, err)
        return out.split(), err

    def check_fields(self, value: dict, fields: dict, more=()):
        self.assertEqual(set(value) - set(more), set(fields))
        for name, kind in fields.items():
            self.assertIsInstance(value[name], kind, name)
            self.assertFalse(isinstance(value[name], bool), name)


class TrajectoryTest(ExchangeCase):
    def test_a_strict_reader_takes_it(self):  # REC-A20
        lines = [json.loads(line) for line in self.export(self.made, "rlm").splitlines()]
        self.assertEqual([line["type"] for line in lines],
                         ["metadata"] + ["iteration"] * (len(lines) - 1))
        for number, line in enumerate(lines):
            self.check_fields({key: line[key] for key in line if key != "type"},
                              FIELDS[line["type"]])
            self.assertNotRegex(line["timestamp"], r"[Z+]", "no zone")
            if not number:
                continue
            self.assertEqual(line["iteration"], number)
            for message in line["prompt"]:
                self.assertEqual((set(message), type(message["content"])),
                                 ({"role", "content"}, str))
            for block in line["code_blocks"]:
                self.assertEqual(set(block), {"code", "result"})
                self.check_fields(block["result"], RESULT)
                for call in block["result"]["rlm_calls"]:
                    self.check_fields(call, CALL, more=("error", "metadata"))
        self.assertEqual(lines[-1]["final_answer"], "152")
        self.assertEqual([line["final_answer"] for line in lines[1:-1]], [None] * (len(lines) - 2))
        self.assertEqual(len(lines[2]["code_blocks"][0]["result"]["rlm_calls"]), 12)
        self.assertIn("What is the total?", json.dumps(lines[1]["prompt"]))
        self.assertIn("ValueError", lines[5]["code_blocks"][0]["result"]["stderr"])

    def test_out_and_in_and_out_are_the_same_bytes(self):  # REC-71, REC-A20
        for form in ("reference-jsonl", "events"):
            with self.subTest(form=form):
                first = self.export(self.made, form)
                (run,), _ = self.import_text(first)
                self.assertNotEqual(run, self.made)
                self.assertEqual(self.export(run, form), first)
                (again,), _ = self.import_text(self.export(run, form))
                self.assertEqual(self.export(again, form), first)
                code, shown, _ = self.run_to_end("runs", "show", run)
                self.assertEqual((code, re.findall("^Status: ([a-z]+) .*", shown, re.M)), (0, ["final"]), shown[-400:])
                self.assertIn("Question: What is the total?\n", shown)
                summary = next(one for one in self.runs() if one["run"] == run)
                self.assertEqual((summary["status"], summary["answer"]), ("final", "152"))

    def test_the_question_comes_along(self):  # REC-71
        for form in ("reference-jsonl", "events"):
            (run,), _ = self.import_text(self.export(self.made, form))
            self.assertEqual(next(one["question"] for one in self.runs() if one["run"] == run), "What is the total?")
        turn = {"type": "iteration", "iteration": 1, "timestamp": "2026-01-01T00:00:00.123456", "response": "FINAL(3)",
                "code_blocks": [], "final_answer": "3", "iteration_time": 0.25}
        for said, question in (("Look.\n\nQuestion: How many? Or none?", "How many? Or none?"), ("Only words.", ""),
                               ('use the REPL environment to answer the original prompt: "Say \\"x\\"".\n\nGo on.',
                                'Say \\"x\\"')):
            line = json.dumps({**turn, "prompt": [{"role": "system", "content": "rules"}, {"role": "user", "content": said}]})
            (run,), _ = self.import_text(line)
            self.assertEqual(next(one["question"] for one in self.runs() if one["run"] == run), question)

    def test_the_same_file_is_imported_once(self):  # REC-71
        for form in ("reference-jsonl", "events"):
            text = self.export(self.made, form)
            (first,), err = self.import_text(text)
            self.assertEqual(err, "")
            count = len(self.runs())
            (second,), err = self.import_text(text)
            self.assertEqual((second, len(self.runs())), (first, count))
            self.assertIn(f"was imported before, as {first}", err)

    def test_processes_at_the_same_moment_import_it_once(self):  # REC-71
        for form in ("reference-jsonl", "events"):
            path, count = self.write("given.jsonl", self.export(self.made, form)), len(self.runs())
            together = [self.start("runs", "import", path) for _ in range(6)]
            said = {process.communicate(timeout=60)[0] for process in together}
            self.assertEqual((len(said), len(self.runs())), (1, count + 1), said)

    def test_calls_of_code_stand_in_their_order(self):  # REC-71, section 5
        self.model.turns = ["```repl\na = llm_query('item 1: a')\nb = rlm_query('child 1')\nc = llm_query('item 2: c')\n"
                            "print(a, b, c)\n```", "FINAL(done)"]
        self.model.child = ["```repl\nx = llm_query('item 5: deep')\nprint(x)\n```", "FINAL(five)"]
        run = self.finished("--max-depth", "2")
        lines = [json.loads(line) for line in self.export(run, "rlm").splitlines()]
        calls = lines[1]["code_blocks"][0]["result"]["rlm_calls"]
        self.assertEqual([call["prompt"] for call in calls], ["item 1: a", "child 1", "item 2: c"])
        counts = [next(iter(call["usage_summary"]["model_usage_summaries"].values()))["total_calls"] for call in calls]
        self.assertEqual(counts, [1, 3, 1], "a child: two turns and what its code asked")

    def test_long_texts_come_back_whole(self):  # REC-71
        self.model.turns = ["```repl\nprint('long ' * 4000)\nbig = llm_query('item 7: ' + "
                            "'y' * 9000)\n```", "FINAL(" + "z" * 6000 + ")"]
        run = self.finished()
        for form in ("reference-jsonl", "events"):
            first = self.export(run, form)
            self.assertIn("long " * 4000, first)
            self.assertIn("y" * 9000, first)
            self.assertIn("z" * 6000, first)
            (imported,), _ = self.import_text(first)
            self.assertEqual(self.export(imported, form), first)

    def test_a_diff_lists_no_part_that_both_lack(self):  # REC-70
        self.model.turns = ["```repl\nprint(llm_query('item 7: y'))\n```", "FINAL(done)"]
        code, out, _ = self.run_to_end("runs", "diff", self.made, self.finished())
        self.assertIn("turn 1: ", out)
        self.assertNotIn("  - (none)\n  + (none)", out)

    def test_an_imported_run_is_not_gone_on_with(self):  # REC-71
        for form in ("reference-jsonl", "events"):
            (run,), _ = self.import_text(self.export(self.made, form))
            for words in (["resume", run], ["replay", run], ["fork", run, "--at", "1"]):
                code, _, err = self.run_to_end("runs", *words)
                self.assertEqual(code, 4, words)
                self.assertIn("was imported", err)

    def test_files_of_others(self):  # REC-71, section 5
        turn = {"type": "iteration", "iteration": 1, "timestamp": "2026-01-01T00:00:00.123456",
                "prompt": [{"role": "user", "content": "How many?"}], "response": "FINAL(3)",
                "code_blocks": [], "final_answer": ["FINAL", "3"], "iteration_time": 0.25}
        text = "\n".join(["not json", json.dumps({**turn, "type": "other"})])
        _, err = self.import_text(text, exit=4)
        self.assertIn("line 1", err)
        self.assertIn("nothing is imported", err)
        lines = [json.dumps(turn), "{broken", json.dumps({**turn, "iteration": 2}),
                 json.dumps({"type": "iteration"}), json.dumps(turn)]
        runs, err = self.import_text("\r\n".join(lines))
        self.assertEqual(len(runs), 2, "a second iteration 1 begins another run")
        self.assertIn("2 lines of", err)
        out = [json.loads(line) for line in self.export(runs[0], "rlm").splitlines()]
        self.assertEqual([line.get("final_answer") for line in out[1:]], ["3", "3"])
        self.assertEqual(out[1]["timestamp"], "2026-01-01T00:00:00.123456")
        events = self.export(self.made, "events").splitlines()
        before = len(self.runs())
        _, err = self.import_text("\n".join([*events[:5], "{}"]), exit=4)
        self.assertIn("line 6", err)
        self.assertEqual(len(self.runs()), before, "nothing is stored")


class DiffTest(ExchangeCase):
    def test_what_differs_turn_by_turn(self):  # REC-70
        self.write("cell.py", "print(len(first))")
        self.model.turns = [*self.model.turns[:3], "FINAL(9)"]
        code, out, err = self.run_to_end("runs", "fork", self.made, "--at", "2", "--cell", "cell.py")
        self.assertEqual((code, out), (0, "9\n"), err)
        fork = self.runs()[0]["run"]
        code, out, _ = self.run_to_end("runs", "diff", self.made, fork, "--json")
        self.assertEqual(code, 15)
        found = json.loads(out)
        self.assertEqual(found["answer"], ["152", "9"])
        self.assertEqual([turn["turn"] for turn in found["turns"]], [3, 4, 5, 6, 7])
        self.assertTrue({"code", "output"} <= set(found["turns"][0]["differs"]))
        code, out, _ = self.run_to_end("runs", "diff", self.made, fork)
        self.assertIn("turn 3: code", out)
        code, out, _ = self.run_to_end("runs", "diff", self.made, self.made)
        self.assertEqual((code, out), (0, "the runs do not differ\n"))


class Page(html.parser.HTMLParser):
    VOID = {"meta", "img", "br", "link", "input"}

    def __init__(self, text: str):
        super().__init__()
        self.tags, self.attributes, self.open, self.wrong = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


class PageTest(ExchangeCase):
    def test_hostile_text_stays_text(self):  # REC-70 page, section 5: all data escaped
        self.model.turns = [f"```repl\nprint({HOSTILE!r})\nprint(llm_query({'item 5: ' + HOSTILE!r}))\n"
                            "```", f"FINAL({HOSTILE})"]
        code, _, err = self.run_to_end(*self.ask, HOSTILE)
        self.assertEqual(code, 0, err)
        text = self.export("last", "html")
        page = Page(text)
        self.assertEqual((page.wrong, page.open), ([], []), "each element is closed")
        self.assertFalse({"script", "img", "iframe", "link", "object"} & set(page.tags))
        self.assertEqual([name for name, _ in page.attributes if name.startswith("on")], [])
        links = [value for name, value in page.attributes if name in ("href", "src")]
        self.assertTrue(all(value.startswith("#") for value in links), links)
        self.assertNotIn("://", text.replace(self.server.url, ""), "it loads nothing")
        self.assertIn("default-src &#39;none&#39;".replace("&#39;", "'"), text)
        self.assertNotRegex(text, "[\x00-\x08\x0b-\x1f\u202a-\u202e]")
        self.assertIn("&lt;script&gt;alert(1)", text)

    def test_it_tells_the_run(self):  # REC-70 page: tree, sections, code, output, sub-calls
        text = self.export(self.made, "html")
        for part in ("Turn 1", "Turn 7", "What is the total?", "system</td>", "Sub-calls (12)",
                     "item 3: how long?", "ValueError: it fails", "Variables", "152", " s</span>"):
            self.assertIn(part, text)
        shown = self.run_to_end("runs", "show", self.made)[1]
        self.assertIn(re.search(r"\d+ turns, \d+ calls", shown)[0], re.findall("<li>([^<]*)</li>", text))
        code, out, err = self.run_to_end("runs", "view", self.made)
        self.assertEqual(code, 0, err)
        with open(out.strip(), encoding="utf-8") as file:
            self.assertEqual(file.read(), text)

    def test_markdown_has_all_in_fences(self):  # REC-70
        text = self.export(self.made, "md")
        self.assertTrue(text.startswith(f"# Run {self.made}\n"))
        for part in ("## Turn 2 (root)", "item 3: how long?", "```python\nimport random"):
            self.assertIn(part, text)
        self.assertEqual(len(re.findall("^```", text, re.M)) % 2, 0)


class SizeTest(ResumeCase):
    def test_the_journal_is_as_large_whatever_the_context(self):  # REC-68
        sizes = []
        for lines in (9000, 900_000):
            self.write("notes.txt", "".join(f"line {i:07} of the notes\n" for i in range(lines)))
            code, _, err = self.run_to_end(*self.ask, "--seed", "3", "What is the total?")
            self.assertEqual(code, 0, err)
            events = self.events("last")
            sizes.append(sum(len(json.dumps(event["data"])) for event in events))
        self.assertLess(abs(sizes[1] - sizes[0]), 4000, sizes)


if __name__ == "__main__":
    harness.main()
