#!/usr/bin/env python3
"""`dossier eval stub` and `eval gate`: engines compared without a model, EVL-75, EVL-76, EVL-77, EVL-100, EVL-101, EVL-105, EVL-106,
EVL-A12, EVL-A20."""

import json
import pathlib
import signal
import stat
import subprocess
import sys

import harness

ROOT = pathlib.Path(__file__).resolve().parents[3]
PLAN = ROOT / "bench/plans/dossier.yml"
RECURSIVE = "dossier:--mode recursive"


class StubCase(harness.Case):
    def generate(self, *words: str, family: str = "aggregate") -> str:
        code, _, err = self.run_to_end("eval", "generate", family, "--out", "set", *words)
        self.assertEqual(code, 0, err)
        return "set"

    def stub(self, *words: str, table: str = "set") -> str:
        process = self.start("eval", "stub", "--table", table, *words)
        return process.stdout.readline().strip()

    def scores(self, url: str, *words: str) -> dict:
        code, _, err = self.run_to_end("eval", "run", "set", "--base-url", url, "-m", "stub", "--out", "o", "--new",
                                       *words, limit=400)
        self.assertEqual(code, 0, err)
        rows = [json.loads(line) for line in (self.home / "o/rows.jsonl").read_text().splitlines()]
        return {row["task"]: row for row in rows}


class StubTest(StubCase):
    def test_our_answers_are_exactly_those_that_the_labels_lead_to(self):  # EVL-75 to 77, EVL-A12
        self.generate("--length", "8K", "--windows", "2", "--questions", "16")
        for share in ("0", "0.1", "0.5"):
            url = self.stub("--errors", share, "--plan", str(PLAN))
            found = self.scores(url, "--arm", RECURSIVE, "--stub-errors", share)
            self.assertGreater(len(found), 20)
            wrong = {task: row["answer"] for task, row in found.items() if row["official"] != 1}
            self.assertEqual(wrong, {}, share)

    def test_an_answer_of_half_the_items_is_told(self):  # EVL-75
        self.generate("--length", "8K", "--windows", "1", "--questions", "2")
        url = self.stub("--plan", str(PLAN))
        for calls, limited in (("4", {True}), ("100", {False})):
            found = self.scores(url, "--arm", f"{RECURSIVE} --max-calls {calls}")
            self.assertEqual({row["at_limit"] for row in found.values() if row["status"] == "ok"}, limited)

    def test_faults_change_no_answer(self):  # EVL-76, EVL-A12
        self.generate("--length", "8K", "--windows", "1", "--questions", "8")
        url = self.stub("--errors", "0.1", "--plan", str(PLAN), "--dropped", "0.1", "--foreign", "0.05", "--busy", "0.05",
                        "--record", "rec.jsonl")
        found = self.scores(url, "--arm", RECURSIVE, "--stub-errors", "0.1")
        self.assertEqual({row["official"] for row in found.values()}, {1.0})
        self.assertGreater(max(row["calls"] for row in found.values()), 9, "faults were met and asked again")

    def test_an_engine_that_loses_an_item_fails(self):  # EVL-75, EVL-A12
        self.generate("--length", "8K", "--windows", "1", "--questions", "40")
        url = self.stub("--plan", str(PLAN))
        program = self.write("lossy.py", (
            "import subprocess, sys, pathlib\n"
            "context = pathlib.Path(sys.argv[1])\n"
            "lines = context.read_text().splitlines(True)\n"
            "context.write_text(''.join(line for i, line in enumerate(lines) if i % 60 != 30))\n"
            f"done = subprocess.run([{harness.DOSSIER!r}, 'ask', '--mode', 'recursive', '--base-url', sys.argv[2], '-m',"
            " 'stub', '-c', str(context), '-'], input=sys.argv[3], capture_output=True, text=True)\n"
            "sys.stdout.write(done.stdout)\n"))
        self.write("arms.yml", json.dumps({"lossy": {"system": "command", "argv": [
            sys.executable, program, "{context}", "{base_url}", "{question}"]}}))
        found = self.scores(url, "--arm", "lossy", "--arms", "arms.yml", "--stub-errors", "0", "--jobs", "4")
        self.assertIn("ok", {row["status"] for row in found.values()})
        self.assertLess(min(row["official"] for row in found.values()), 1)
        self.assertGreater(max(row["official"] for row in found.values()), 0)

    def test_bad_plans_are_told_apart(self):  # EVL-77
        self.generate("--length", "8K", "--windows", "1", "--questions", "3")
        plans = sorted((ROOT / "bench/plans/bad").iterdir())
        self.assertEqual([plan.stem for plan in plans], ["hasty", "prose", "raising"])
        for plan in plans:
            name = plan.stem
            found = self.scores(self.stub("--plan", str(plan)), "--arm", RECURSIVE + " --max-iterations 4")
            for row in found.values():
                self.assertLess(row["official"], 1, (name, row))
                self.assertLessEqual(row["calls"], 9)

    def test_questions_that_have_no_stub_answer_are_told(self):  # EVL-75
        self.generate("--length", "4K", "--windows", "1", "--questions", "12")
        rows = [json.loads(line) for line in (self.home / "set/tasks.jsonl").read_text().splitlines()]
        lacking = sum(row["needs"] == "label" and "0.5" not in row.get("stub_gold", {}) for row in rows)
        words = ("eval", "run", "set", "--arm", "floor", "--out", "o", *self.script(["x"]))
        code, _, err = self.run_to_end(*words, "--stub-errors", "0.2")
        self.assertEqual(code, 3, err)
        self.assertIn("--stub-errors 0.2: set has answers for 0, 0.1, 0.5", err)
        code, _, err = self.run_to_end(*words, "--stub-errors", "0.5")
        self.assertEqual(code, 0, err)
        self.assertEqual(f"{lacking} of 12 questions have no one answer at --stub-errors 0.5" in err, lacking > 0, err)

    def test_the_table_counts_what_is_lost_and_asked_twice(self):  # EVL-75, EVL-77
        done = subprocess.run([sys.executable, str(ROOT / "bench/stub_table"), "--dossier", harness.DOSSIER, "--systems", "dossier",
                               "--lengths", "4K", "--questions", "2", "--out", str(self.home / "t")], capture_output=True,
                              text=True, check=False, env=self.env)
        row = [cell.strip() for cell in done.stdout.splitlines()[-1].split("|")[1:-1]]
        self.assertEqual(row[:7], ["4K", "0.1", "dossier", "2 of 2", "", "0", "0"], done.stdout + done.stderr)
        self.assertGreater(int(row[7]), 3)

    def test_what_the_stub_says_of_a_prompt(self):  # EVL-76
        self.write("t.jsonl", '{"text":"The bus was late.","label":"travel"}\n{"text":"I like soup.","label":"food"}\n')
        import urllib.request

        def ask(url, text):
            body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()
            answer = urllib.request.urlopen(urllib.request.Request(url + "/chat/completions", body)).read()
            return json.loads(answer)["choices"][0]["message"]["content"].strip()
        url = self.stub(table="t.jsonl")
        self.assertEqual(ask(url, "Which? The bus was late. One word."), "travel")
        self.assertEqual(ask(url, "1: I like soup.\n7: x The bus was late.\n"), "1: food\n7: travel")
        self.assertEqual(ask(url, "Something else."), "unknown")
        wrong = self.stub("--errors", "1", table="t.jsonl")
        self.assertEqual(ask(wrong, "1: I like soup.\n2: The bus was late.\n"), "1: travel\n2: food")
        self.write("one.jsonl", '{"text":"The bus was late.","label":"travel"}\n')
        code, _, err = self.run_to_end("eval", "stub", "--table", "one.jsonl")
        self.assertEqual(code, 3)
        self.assertIn("one label", err)


# A program that is Dossier but for one planted change.
WRAPPER = '''#!{python}
import json, os, pathlib, re, subprocess, sys, urllib.request
kind, words = {kind!r}, sys.argv[1:]
command = [{dossier!r}, *words]
ask = words[:1] == ["ask"]
text = sys.stdin.read() if ask else ""
if ask and kind == "request":
    url, model = words[words.index("--base-url") + 1], words[words.index("-m") + 1]
    body = json.dumps({{"model": model, "messages": [{{"role": "user", "content": "hello"}}]}}).encode()
    urllib.request.urlopen(urllib.request.Request(url + "/chat/completions", body)).read()
if ask and kind == "longer":
    folder = pathlib.Path(os.environ["HOME"], "mine")
    (folder / "prompts/recursion").mkdir(parents=True)
    whole = pathlib.Path({prompt!r}).read_text()
    (folder / "prompts/recursion/system.md").write_text(whole + "Take care.\\n" * (len(whole) // 200))
    command += ["--layouts-dir", str(folder)]
if ask and kind == "lost":
    path = pathlib.Path(words[len(words) - 1 - words[::-1].index("-c") + 1])
    path.write_text("".join(path.read_text().splitlines(True)[:-1]))
if ask and kind == "slow":
    import time
    end = time.process_time() + 0.08
    while time.process_time() < end: pass
done = subprocess.run(command, input=text, capture_output=True, text=True)
out = done.stdout
if words[:2] == ["runs", "show"] and kind in ("journal", "prefix"):
    shown = json.loads(out)
    for n, event in enumerate(shown["events"]):
        if kind == "journal" and event["type"] == "request.sent":
            event["data"]["padding"] = "x" * 1024
        if kind == "prefix" and event["type"] == "request.sent":
            event["data"]["messages"].insert(0, {{"role": "system", "body": {{"text": f"the time is {{n}}"}}}})
    out = json.dumps(shown)
sys.stdout.write(out)
sys.stderr.write(done.stderr)
sys.exit(done.returncode)
'''


class GateTest(StubCase):
    def setUp(self):
        super().setUp()
        self.write("numbers.txt", "".join(f"{i}\n" for i in range(1, 60)))
        self.write("small.yml", "questions:\n"
                   '  - {id: sum, question: "What is the sum?", contexts: [numbers.txt], gold: "1770", scorer: exact}\n'
                   '  - {id: count, question: "How many are there?", contexts: [numbers.txt], gold: "59", scorer: exact}\n')
        code = "numbers = [int(line) for line in context.split()]"
        self.write("replies.yaml", json.dumps([
            {"when": "Question: What is the sum", "turn": 1, "reply": f"```repl\n{code}\nprint(sum(numbers))\n```"},
            {"when": "Question: How many", "turn": 1, "reply": f"```repl\n{code}\nprint(len(numbers))\n```"},
            {"when": "1[67][0-9][0-9]", "reply": "```repl\nFINAL(sum(numbers))\n```"},
            {"times": "always", "reply": "```repl\nFINAL(len(numbers))\n```"}]))
        self.gates(program="bin/tool", build=[])

    def gates(self, **more):
        self.write("gates.yml", json.dumps({
            **more, "suites": [{"name": "small/scripted", "questions": "small.yml", "script": "replies.yaml",
                                "flags": ["--mode", "recursive"]}],
            "limits": {"least_rounds": 4, "most_rounds": 6}}))

    def program(self, kind: str, path: str = "") -> str:
        text = WRAPPER.format(python=sys.executable, kind=kind, dossier=harness.DOSSIER,
                              prompt=str(ROOT / "prompts/recursion/system.md"))
        path = self.write(path or kind, text)
        pathlib.Path(path).chmod(0o755)
        return path

    def gate(self, *words: str, **options):
        return self.run_to_end("eval", "gate", "--gates", "gates.yml", "--accepted", "accepted.yml", *words,
                               limit=300, **options)

    def test_equal_builds_have_no_difference(self):  # EVL-100, EVL-A20
        code, out, err = self.gate("--base", self.program("same"))
        self.assertEqual((code, out), (0, "no difference\n"), err)

    def test_each_planted_change_is_named(self):  # EVL-100, EVL-106, EVL-A20
        wanted = {"request": "worse   requests sent  small/scripted  ", "longer": "worse   tokens root in  ",
                  "lost": "worse   answers  small/scripted  0 of 2 as before  dossier eval diff count",
                  "journal": "worse   journal bytes  ", "prefix": "worse   prefix kept  "}
        base = self.program("same")
        for kind, line in wanted.items():
            code, out, err = self.gate("--base", base, "--head", self.program(kind))
            self.assertEqual(code, 15, (kind, err))
            self.assertIn(line, out)
            self.assertEqual({text.split()[0] for text in out.splitlines()}, {"worse"}, out)
        code, out, err = self.run_to_end("eval", "diff", "count", "--base", "eval-gate")
        self.assertEqual(code, 0, err)

    def test_an_intended_change_is_accepted_until_it_changes_again(self):  # EVL-105
        base, head = self.program("same"), self.program("request")
        row = {"gate": "small/scripted", "metric": "requests sent", "from": "4", "to": "6", "reason": "says hello"}
        self.write("accepted.yml", json.dumps([row]))
        code, out, err = self.gate("--base", base, "--head", head)
        self.assertEqual(code, 0, out + err)
        self.assertIn("accepted", out)
        self.assertIn("says hello", out)
        self.write("accepted.yml", json.dumps([{**row, "to": "5"}]))
        self.assertEqual(self.gate("--base", base, "--head", head)[0], 15)
        self.write("accepted.yml", json.dumps([{**row, "reason": ""}]))
        self.assertEqual(self.gate("--base", base, "--head", head)[0], 3)

    def test_a_base_that_does_not_build_shows_its_log(self):
        self.repository(["same"])
        self.gates(program="bin/tool", build=["sh", "-c", "echo the reason; exit 1"])
        code, _, err = self.gate("--base", "HEAD", cwd=self.home / "repo")
        self.assertEqual(code, 4)
        self.assertIn("does not build", err)
        self.assertIn("the reason", err)
        code, _, err = self.gate("--base", "nowhere")
        self.assertEqual(code, 4, err)

    def repository(self, kinds: list[str]) -> list[str]:
        """A commit for each kind of program; returns their names."""
        repo = self.home / "repo"
        (repo / "bin").mkdir(parents=True)
        git = lambda *words: subprocess.run(
            ["git", "-C", str(repo), "-c", "user.name=A", "-c", "user.email=a@example.invalid", *words], check=True,
            capture_output=True, text=True, env=self.env).stdout.strip()
        git("init", "-q")
        names = []
        for n, kind in enumerate(kinds):
            self.program(kind, "repo/bin/tool")
            self.write("repo/n", str(n))
            git("add", "-A")
            git("commit", "-qm", f"{n} {kind}")
            names.append(git("rev-parse", "HEAD"))
        for name in ("gates.yml", "small.yml", "replies.yaml", "numbers.txt"):
            (repo / name).symlink_to(self.home / name)
        return names

    def test_bisect_names_the_commit(self):  # EVL-106, EVL-A20
        names = self.repository(["same"] * 5 + ["lost"] * 5)
        code, out, err = self.gate("--bisect", names[0], cwd=self.home / "repo")
        self.assertEqual(code, 15, err)
        self.assertEqual(out.splitlines()[0], names[5])
        self.assertIn("worse   answers", out)
        code, out, err = self.gate("--bisect", names[5], cwd=self.home / "repo")
        self.assertEqual((code, out), (0, "the last commit is as good: nothing to find\n"), err)

    def test_a_slow_program_is_worse(self):  # EVL-101
        code, out, err = self.gate("--base", self.program("same"), "--head", self.program("slow"), "--tier", "1")
        self.assertIn(code, (13, 15), err)
        self.assertRegex(out, r"(worse|unclear) +CPU  all suites  1\.[0-9]+ \[")
        self.assertRegex(err, r"round 4: CPU 1\.[0-9]+ \[.*\], wall [0-9.]+\n")
        self.assertRegex(err, r"all suites, wall  [0-9.]+ \[")

    def test_the_time_of_tier_1_is_bounded(self):  # EVL-106
        gates = json.loads((self.home / "gates.yml").read_text())
        gates["limits"] = {"most_seconds": 0}
        gates["speed"] = [{**gates["suites"][0], "name": "only/speed"}]
        self.write("gates.yml", json.dumps(gates))
        code, out, err = self.gate("--base", self.program("same"), "--tier", "1")
        self.assertEqual(code, 13, err)
        self.assertEqual([line.split()[:2] for line in out.splitlines()], [["unclear", "CPU"], ["unclear", "wall"]])
        self.assertEqual(err.count("dossier: round "), 1)


if __name__ == "__main__":
    harness.main()
