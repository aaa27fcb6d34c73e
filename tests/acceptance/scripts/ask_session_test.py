#!/usr/bin/env python3
"""Questions of one session, each in a process of its own: the names of earlier ones are there, made by
running their blocks again over what the journal holds; nothing is asked twice (REC-67, REC-A25)."""

import json
import unittest

import harness


class AskSessionTest(harness.Case):
    def ask(self, context: str, replies: list, *more: str, session: str = "s1"):
        self.write("script.json", json.dumps(replies))
        return self.run_to_end("ask", "-m", "scripted", "--script", "script.json", "--votes", "1", "--json",
                               "--session", session, "-c", self.write(f"{context}.txt", f"text of {context}\n"),
                               *more, f"What is {context}?")

    def answer(self, *args, **more) -> dict:
        code, out, err = self.ask(*args, **more)
        self.assertEqual(code, 0, err + out)
        return json.loads(out)

    def output(self, outcome: dict) -> str:
        return "".join(str(event["data"]["output"].get("text", "")) for event in self.events(outcome["run"])
                       if event["type"] == "block.done")

    def told(self, outcome: dict) -> str:
        return json.dumps([event["data"] for event in self.events(outcome["run"]) if event["type"] == "request.sent"])

    def test_files_of_earlier_questions_are_not_written_again(self):  # REC-67, REC-83
        first = self.answer("a", [{"purpose": "root", "times": 1, "reply":
                                   "```repl\nsize = open('/out/old.txt', 'w').write('one' + context)\nFINAL(str(size))\n```"}],
                            "--out-dir", "first")
        self.assertEqual([file["name"] for file in first["files"]], ["old.txt"])
        second = self.answer("b", [{"purpose": "root", "times": 1, "reply":
                                    "```repl\nsave_file('new.txt', context)\nFINAL(str(size))\n```"}], "--out-dir", "second")
        self.assertEqual([file["name"] for file in second["files"]], ["new.txt"])
        self.assertEqual(sorted(path.name for path in (self.home / "second").iterdir()), ["new.txt"])
        self.assertEqual((second["answer"], second["warnings"]), (first["answer"], []), "its names are there")

    def test_three_questions_in_three_processes(self):  # REC-67, REC-A25
        first = self.answer("a", [
            {"purpose": "root", "times": 1, "reply":
             "```repl\nimport random\nx = 41\nn = random.random()\nword = llm_query('Name it.')\n"
             "part = doc[0:4]\nprint(context, word)\nprint(n)\n```"},
            {"purpose": "subcall", "times": 1, "reply": "pear"},
            {"purpose": "root", "times": 1, "reply":
             "```repl\ndef more(y):\n    return y + 1\nanswer['content'] = 'from a'\nanswer['ready'] = True\n```"}])
        self.assertEqual(first["answer"], "from a")
        n = self.output(first).split("\n")[2].strip()
        second = self.answer("b", [
            {"purpose": "root", "times": 1, "reply":
             "```repl\nprint(context.strip(), '|', context_0.strip(), '|', context_1 == context)\n"
             "print(x, word, n, str(part), 'from a' in history_0, answer)\nx = more(x)\n```"},
            {"purpose": "root", "times": 1, "reply": "```repl\nFINAL(f'{x} {context}')\n```"}])
        self.assertEqual(second["answer"], "42 text of b\n", "a stale `ready` hands nothing in")
        self.assertIn("text of b | text of a | True\n"
                      f"41 pear {n} text True {{'content': '', 'ready': False}}", self.output(second))
        self.assertIn("This is question 2 of a session.", self.told(second))
        self.assertEqual(second["calls"]["sent"], 2, "no sub-call is made again")
        third = self.answer("c", [
            {"purpose": "root", "times": 1, "reply":
             "```repl\nprint(x, context_0.strip(), context_1.strip(), context_2.strip())\n"
             "print('What is b?' in history_1, str(part))\n```"},
            {"purpose": "root", "times": 1, "reply": "```repl\nFINAL(f'{x} {word} {context}')\n```"}])
        self.assertEqual(third["answer"], "42 pear text of c\n")
        self.assertIn("42 text of a text of b text of c\nTrue text", self.output(third))
        self.assertIn("This is question 3 of a session.", self.told(third))
        self.assertIn("history_0 to history_1 are the transcripts of the 2 before", self.told(third))
        self.assertEqual(third["coverage"]["read_by_code"], 1.0, "coverage is that of the newest text")

    def follow(self, context: str, question: str, *replies: str) -> dict:
        self.write("script.json", json.dumps([*replies[:-1], {"reply": replies[-1], "times": "always"}]))
        code, out, err = self.run_to_end("ask", "-m", "scripted", "--script", "script.json", "--mode", "recursive", "--json",
                                         "--session", "sums", "-c", context, question)
        self.assertIn(code, (0, 13), err)
        return json.loads(out)

    def test_an_answer_stands_on_what_an_earlier_question_read(self):  # REC-67
        data = self.write("d.csv", "id,v\n" + "".join(f"{n},{n}\n" for n in range(1, 2001)))
        other = self.write("other.txt", "Of another matter.\n" * 40)
        first = self.follow(data, "Sum of v?", "```repl\nx = sum(r['v'] for r in records)\nunit = doc[0:2]\nprint(x)\n```",
                            "FINAL(x)")
        self.assertEqual(first["answer"], "2001000")
        second = self.follow(data, "And half of it?", "```repl\nprint(x / 2)\n```", "FINAL(x / 2)")
        self.assertEqual((second["answer"], second["status"], second["calls"]["sent"]), ("1000500.0", "final", 2))
        self.assertEqual(second["coverage"]["read_by_code"], 1.0)
        third = self.follow(other, "And a third of it?", "```repl\nprint(x / 3)\n```", "FINAL(x / 3)")
        self.assertEqual((third["answer"], third["status"]), ("667000.0", "final"), "about another text, too")
        self.assertEqual(third["coverage"]["read_by_code"], 0.0)
        named = self.follow(data, "Which field comes first?", "FINAL_VAR(unit)")
        self.assertEqual((named["answer"], named["status"], named["calls"]["sent"]), ("id", "final", 1))

    def test_a_guess_in_a_session_stands_on_nothing(self):  # REC-67
        data = self.write("d.csv", "id,v\n" + "".join(f"{n},{n}\n" for n in range(1, 2001)))
        self.follow(data, "Sum of v?", "```repl\nx = sum(r['v'] for r in records)\nprint(x)\n```", "FINAL(x)")
        guess = self.follow(data, "Who wrote it?", "```repl\nprint('hello')\n```", "FINAL: Anna wrote it")
        self.assertEqual(guess["status"], "partial")

    def test_a_tool_is_not_called_again(self):  # REC-67
        self.write("tools.yml", "- {name: tick, description: x, command: [sh, -c, 'cat >/dev/null; echo t >> ticks; "
                                "wc -l < ticks']}\n")
        self.answer("a", ["```repl\nt = tick()\nprint(context, t)\nFINAL('done')\n```"], "--tools", "tools.yml")
        outcome = self.answer("b", ["```repl\nprint(context, t)\nFINAL(f'{t} {tick()}')\n```"], "--tools", "tools.yml")
        self.assertEqual(outcome["answer"], "1 2", "the second call is the code's own")

    def test_a_block_that_cannot_be_repeated_is_told(self):  # REC-67
        self.answer("a", [
            {"purpose": "root", "times": 1, "reply":
             "```repl\nimport os, time\nkey = time.time_ns()\nq = llm_query(f'Name {key}.')\nprint(context, q)\n"
             "FINAL('done')\n```"},
            {"purpose": "subcall", "reply": "pear"}])
        outcome = self.answer("b", [{"purpose": "root", "times": 1, "reply":
                                     "```repl\nprint(context, 'q' in globals())\nFINAL(context)\n```"}])
        self.assertIn("replay_diverged", [warning["code"] for warning in outcome["warnings"]])
        self.assertEqual(outcome["calls"]["sent"], 1, "and nothing is paid for it")

    def test_another_language_another_text_and_no_name(self):  # REC-67
        self.answer("a", ["```repl\nprint(context)\nFINAL('done')\n```"])
        code, _, err = self.ask("b", ["never"], "--dialect", "javascript")
        if "--dialect" in err and "worker" in err:
            self.skipTest("no JavaScript worker is built")
        self.assertEqual(code, 2, err)
        self.assertIn("its names are in python", err)
        code, _, err = self.ask("b", ["never"], session="../x")
        self.assertEqual(code, 2, err)
        code, _, err = self.ask("b", ["never"], "--mode", "direct")
        self.assertEqual(code, 2, err)

    def test_javascript_keeps_its_names(self):  # REC-67
        code, out, err = self.ask("a", [
            "```repl\n__vars.x = 41; const f = (y) => y + 1; let n = Math.random(); print(__vars.context, n);\n```",
            "```repl\nSUBMIT({answer: 'one'})\n```"], "--dialect", "javascript", session="j")
        if code == 12:
            self.skipTest("no JavaScript worker is built")
        self.assertEqual(code, 0, err)
        outcome = self.answer("b", [
            "```repl\nprint(f(__vars.x), __vars.context_0, __vars.context, n, __vars.history_0.includes('What is a?'));\n```",
            "```repl\nSUBMIT({answer: `${f(__vars.x)}`})\n```"], "--dialect", "javascript", session="j")
        self.assertEqual(outcome["answer"], "42")
        n = self.output(json.loads(out)).split()[3]
        self.assertIn(f"42 text of a\n text of b\n {n} true", self.output(outcome))


if __name__ == "__main__":
    harness.main()
