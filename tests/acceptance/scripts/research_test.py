#!/usr/bin/env python3
"""`dossier research` for real: the local sandbox, a C compiler, the shipped example, a scripted model.

research_test.py --dossier PATH [unittest arguments]
"""

import http.server
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import threading
import unittest

import harness

EXAMPLE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "examples" / "sorting"
ASSETS = EXAMPLE.parents[2] / "data" / "research"
BLOCK = "<memory_update>{}</memory_update>\n"


def fenced(value) -> str:
    return f"```json\n{json.dumps(value)}\n```"


def program(code: str) -> str:
    return fenced({"phase_artifacts": {
        "coding": {"workspace": {"files": [{"path": "src/sort.c", "content": code}]}},
        "compile": {"build_plan": {"language": "c", "compiler_selected": "gcc", "cflags": ["-O2"],
                                   "output": "bin/sort"},
                    "commands": ["mkdir -p bin working",
                                 "{compiler_selected} {cflags} src/sort.c -o {output}"]},
        "run": {"commands": ["./bin/sort"], "expected_outputs": ["working/metrics.json"]}}})


SORT = (EXAMPLE / "sort.c").read_text("utf-8")
PLOT = "Bars for each input.\n```python\n" + (EXAMPLE / "plot.py").read_text("utf-8") + "```"
BROKEN = "int main(void) { return 3; }\n"

# What the request says, and the reply; the first that fits.
REPLIES = [
    ("block and nothing else", ""),
    ("Say how the results of all programs", "- quick_ns, heap_ns, shell_ns: lower is better"),
    ("Plan the work on this idea", fenced({"plan": {
        "goal_summary": "time three sorts", "implementation_strategy": ["write", "measure"]}})),
    ("Install what the program will need", fenced({"command": "", "done": True})),
    ("Write the first program", program(BROKEN)),
    ("The previous program has a fault", program(SORT)),
    ("A program ran. Decide", None),
    ("Sum up what was learned", fenced({"findings": "quick sort wins", "significance": "order"})),
    ("Write a Python script that draws the results", PLOT),
    ("Change this program so that its randomness", fenced({"files": [
        {"path": "src/sort.c", "content": SORT}]})),
    ("ran several times with different random seeds", PLOT),
    ("Summarise the experiments of this stage", "Quick sort wins."),
    ("Write the notes that the next stage", "Try a larger cutoff."),
    ("Write the report of this run", "# Sorting\n\nQuick sort is the fastest."),
]


def paper(key: str) -> str:
    """The template, filled, with a citation."""
    text = (ASSETS / "paper.tex").read_text("utf-8").replace("@TITLE@", "Three sorts")
    return re.sub("^To be written:.*$", f"It sorts \\\\cite{{{key}}}.", text, flags=re.M)


def rules() -> list:
    found = []
    for said, reply in REPLIES:
        if reply is None:  # the program that returns 3 has a fault
            found.append({"when": r"return 3;[\s\S]*" + said,
                          "reply": BLOCK + fenced({"is_bug": True, "summary": "it returns 3"})})
            reply = fenced({"is_bug": False, "summary": "it sorts"})
        found.append({"when": said, "reply": BLOCK + reply})
    return [*found, {"when": "", "reply": BLOCK + "nothing to say"}]


@unittest.skipUnless(shutil.which("gcc"), "needs gcc")
class ResearchTest(harness.Case):
    def setUp(self):
        super().setUp()
        self.model = ["--script", self.write("script.json", json.dumps(rules()))]

    def words(self, *more: str, command: str = "run") -> list[str]:
        return ["research", command, str(EXAMPLE / "idea.md"), "--config",
                str(EXAMPLE / "config.yaml"), "--model", "code=scripted", *self.model,
                "--set", "exec.network=never", "--set", "search.debug_prob=1",
                "--stages", "1", "--skip-writeup", *more]

    def ok(self, *words: str) -> str:
        code, out, err = self.run_to_end(*words, limit=300)
        self.assertEqual(code, 0, err)
        return out

    def on_terminal(self, *words: str, answer: bytes) -> str:
        ours, theirs = pty.openpty()
        process = self.start(*words, stdin=theirs, stderr=theirs)
        os.close(theirs)
        said = b""
        try:
            while piece := os.read(ours, 4096):
                said += piece
                if answer and b"[y/N] " in said:  # what is typed before the question is dropped
                    os.write(ours, answer)
                    answer = b""
        except OSError:  # the other side is closed
            pass
        os.close(ours)
        process.wait()
        return said.decode()

    def check_results(self, folder: pathlib.Path) -> None:
        status = json.loads(self.ok("research", "status", str(folder), "--json"))
        self.assertEqual(status["schema"], "dossier.research.status/1")
        self.assertEqual(status["state"], "done")
        best = status["best"]["id"]
        node = json.loads((folder / "nodes" / best / "node.json").read_text("utf-8"))
        self.assertEqual(node["kind"], "debug")
        names = [series["metric_name"] for series in node["metric"]]
        self.assertEqual(names, ["quick_ns", "heap_ns", "shell_ns"])
        self.assertTrue(all(entry["value"] > 0 for series in node["metric"]
                            for entry in series["data"]))
        self.assertEqual([pathlib.Path(plot).suffix for plot in node["plots"]], [".png"])
        self.assertTrue((folder / node["plots"][0]).read_bytes().startswith(b"\x89PNG"))
        self.assertIn("Quick sort is the fastest", (folder / "report.md").read_text("utf-8"))
        tree = self.ok("research", "tree", str(folder))
        self.assertIn("debug", tree)
        self.assertEqual(tree.count(" seed"), 2)  # two reruns, and the node that stands for them
        self.assertIn(" mean 1  mean ", tree)

    def test_the_example_runs_from_its_idea_to_a_report(self):  # RSP-29, RSP-36, RSP-T26
        out = self.ok(*self.words())
        self.check_results(pathlib.Path(out.strip().splitlines()[-1]))

    def test_runs_lists_and_shows_it(self):  # FLT-117
        folder = pathlib.Path(self.ok(*self.words()).strip().splitlines()[-1])
        run = json.loads(self.ok("research", "status", str(folder), "--json"))["run"]
        listed = self.runs()[0]
        self.assertEqual((listed["run"], listed["kind"], listed["status"]),
                         (run, "research", "final"))
        self.assertRegex(self.ok("runs", "list"), f"^{run} +research +final +")
        story = self.ok("runs", "show", "last")
        self.assertTrue(story.startswith(f"Run: {run} (research)\n"), story)
        for text in (str(folder), "state    done", "nodes ", "best ", "debug"):
            self.assertIn(text, story)
        self.assertIn("node.finished", [event["type"] for event in self.events(run)])
        code, _, err = self.run_to_end("runs", "show", run, "--messages")
        self.assertEqual(code, 2)
        self.assertIn(f"`dossier research prompts {folder}`", err)
        folder.rename(folder.with_name("elsewhere"))
        story = self.ok("runs", "show", run)
        self.assertIn("Status: final\nNothing else is known here: ", story)
        self.assertIn(str(folder), story)
        self.assertEqual([event["type"] for event in self.events(run)],
                         ["run.started", "run.finished"])

    def test_a_recorded_run_replays_whole(self):  # FLT-66
        words = self.words("--set", "agent.max_parallel=2")
        kept = self.home / "run.jsonl"
        first = pathlib.Path(self.ok(*words, "--record", str(kept)).strip().splitlines()[-1])
        model = words.index("--script")
        again = [*words[:model], *words[model + 2:], "--attempt", "1", "--replay", str(kept)]
        second = pathlib.Path(self.ok(*again).strip().splitlines()[-1])
        self.check_results(second)
        ids = [sorted(path.name for path in (folder / "nodes").iterdir())
               for folder in (first, second)]
        self.assertEqual(ids[0], ids[1])
        self.assertEqual((first / "report.md").read_text("utf-8"),
                         (second / "report.md").read_text("utf-8"))

    def test_a_killed_run_goes_on(self):  # RSP-47, RSP-48, RSP-T20
        process = self.start(*self.words())
        for line in process.stderr:
            if "phase.finished" in line or "compil" in line:
                break
        process.send_signal(signal.SIGKILL)
        process.wait()
        folder = next((self.home / "experiments").iterdir())
        # What the run had started may outlive it for a moment, and holds its lock until then.
        for _ in range(200):
            status = json.loads(self.ok("research", "status", str(folder), "--json"))
            if status["state"] != "running":
                break
        self.assertEqual(status["state"], "killed")
        self.assertEqual([run["status"] for run in self.runs()], ["interrupted"])  # FLT-117
        self.ok("research", "resume", str(folder))  # as `status` prints it: the model is reached as before
        self.assertEqual([run["status"] for run in self.runs()], ["final"])
        self.check_results(folder)

    def test_one_count_of_nodes_and_a_word_at_the_end(self):  # FLT-71, FLT-75
        _, out, err = self.run_to_end(*self.words(), limit=300)
        folder = pathlib.Path(out.strip().splitlines()[-1])
        counts = json.loads(self.ok("research", "status", str(folder), "--json"))["nodes"]
        self.assertEqual(counts, {"done": 2, "good": 1, "buggy": 1, "running": 0})
        self.assertIn("the run is done: nodes: 2 done, 1 good, 1 buggy; report: ", err)
        self.assertIn(f"`dossier research report {folder}` shows what it found", err)
        self.assertIn(f"`dossier research report {folder}` shows what it found",
                      self.ok("research", "status", str(folder)))
        page = (folder / "logs" / "unified_tree_viz.html").read_text("utf-8")
        self.assertIn("nodes: 2 done, 1 good, 1 buggy, 0 running", page)
        self.assertIn("Nodes: 2 done, 1 good, 1 buggy.",
                      self.ok("research", "report", str(folder), "--rewrite"))
        memory = (folder / "logs" / "memory_database.html").read_text("utf-8")
        reads = re.findall(r'<tr><td>(\w+)<td class="number">(\d+)', memory)
        self.assertGreater(sum(int(count) for _, count in reads), 5, reads)
        self.assertIn("debug 1", memory)

    def test_a_plan_says_what_a_run_takes_and_then_what_runs_took(self):  # FLT-71
        text = self.ok(*self.words("--json", command="plan"))
        plan = json.loads(text)
        self.assertNotRegex(text, r'"(nodes|calls|tokens)":\[[^]]*[.eE]')
        self.assertEqual(plan["schema"], "dossier.research.plan/1")
        self.assertEqual((plan["nodes"], plan["hours"], plan["usd"]), ([1, 4], None, [0, 0]))
        self.assertFalse((self.home / "experiments").exists())
        folder = self.ok(*self.words()).strip().splitlines()[-1]
        told = self.ok(*self.words("--price", "1/10", command="plan"))
        self.assertRegex(told, r"calls    \d+ to \d+\n")
        self.assertRegex(told, r"money    0\.\d+ to \d+\.\d+ USD\n")
        self.assertIn("1 earlier run of this folder, 2 nodes", told)
        self.assertEqual(len(list((self.home / "experiments").iterdir())), 1, folder)
        (self.home / "bad.md").write_text("# Title\nA title alone\n")
        code, _, err = self.run_to_end("research", "plan", str(self.home / "bad.md"))
        self.assertEqual(code, 4, err)
        self.assertIn("Abstract", err)

    def test_a_run_that_somebody_else_began_is_not_resumed_unseen(self):  # FLT-88
        code, _, err = self.run_to_end(*self.words("--until", "stage1"), limit=300)
        self.assertEqual(code, 0, err)
        folder = next((self.home / "experiments").iterdir())
        cloned = self.home / "cloned" / folder.name
        shutil.copytree(folder, cloned, symlinks=True)
        code, _, err = self.run_to_end("research", "resume", str(cloned), *self.model, limit=300)
        self.assertEqual(code, 12, err)
        self.assertRegex(err, r"config.yaml, .*run.json are not as your own run left them: .*"
                              r"dossier trust .*config.yaml && dossier trust .*run.json")
        self.ok("trust", "-y", str(cloned / "config.yaml"))
        code, _, err = self.run_to_end("research", "resume", str(cloned), *self.model, limit=300)
        self.assertEqual(code, 12, err)
        self.assertIn("run.json is not as your own run left it", err)
        self.ok("trust", "-y", str(cloned / "run.json"))
        node = next((cloned / "nodes").iterdir())
        (node / "system" / "upper").mkdir(parents=True, exist_ok=True)
        for link, target in ((cloned / "nodes" / "elsewhere", self.home),
                             (cloned / "logs" / "new.jsonl", self.home / "not there"),
                             (cloned / "nodes" / "other", f"{node.name}/workspace"),
                             (cloned / "nodes" / "turned", f"{node.name}/../{node.name}"),
                             (node / "system" / "upper" / "opt2", self.home)):
            link.symlink_to(target)
            code, _, err = self.run_to_end("research", "resume", str(cloned), *self.model, limit=300)
            self.assertEqual(code, 12, err)
            self.assertIn("is a link that leads out of the run's folder, into a workspace or to nothing", err)
            code, _, err = self.run_to_end("research", "report", str(cloned), "--rewrite")
            self.assertEqual(code, 12, err)
            link.unlink()
        # What somebody else adds to a run of one's own grants its commands nothing.
        bind = f"resources: [{{name: home, path: {self.home}, read_only: false}}]\n"
        (folder / "resources.yaml").write_text(bind)
        code, _, err = self.run_to_end("research", "resume", str(folder), *self.model, limit=300)
        self.assertEqual(code, 12, err)
        self.assertIn("resources.yaml is not as your own run left it", err)
        for name in ("steering.jsonl", "run.json", "config.yaml", "lock", "report.md", "idea.md"):
            path, kept = cloned / name, cloned / "kept"
            if path.exists():
                path.rename(kept)
            os.mkfifo(path)  # nobody writes: to open it as a file would hang
            for words in (["status"], ["tree"], ["report"], ["report", "--rewrite"]):
                self.run_to_end("research", words[0], str(cloned), *words[1:], limit=30)
            self.run_to_end("research", "hint", "draft 1", "x", "--run", str(cloned), limit=30)
            self.run_to_end("research", "resume", str(cloned), *self.model, limit=60)
            path.unlink()
            if kept.exists():
                kept.rename(path)

    def test_a_run_that_costs_money_asks_on_a_terminal(self):  # FLT-71
        said = self.on_terminal(*self.words("--price", "1/10"), answer=b"n\n")
        self.assertIn("money    ", said)
        self.assertIn("Start this run? [y/N]", said)
        self.assertIn("the run was not started", said)
        self.assertFalse((self.home / "experiments").exists())

    def test_a_run_is_steered_while_it_works(self):  # FLT-73
        process = self.start(*self.words("--set", "search.num_drafts=3", "--set",
                                         "search.debug_prob=0", "--set",
                                         "agent.stages.stage1_max_iters=6"))
        for line in process.stderr:
            if line.startswith("! ") and "draft" in line:
                break
        folder = next((self.home / "experiments").iterdir())
        self.assertIn("draft 1 is pinned from the next round on",
                      self.ok("research", "pin", "draft 1", "--run", str(folder)))
        self.assertIn("draft 1 is pinned already",
                      self.ok("research", "pin", "draft 1", "--run", str(folder)))
        self.ok("research", "hint", "draft 1", "return zero at the end")
        code, _, err = self.run_to_end("research", "prune", "draft 77")
        self.assertEqual(code, 4)
        self.assertIn("no node is called \"draft 77\"", err)
        process.stderr.read()
        self.assertEqual(process.wait(), 0)
        tree = self.ok("research", "tree")
        self.assertIn("draft 1  RuntimeError", tree)
        # Without the pin the second and third program would have been drafts, and none debugged.
        self.assertRegex(tree, r"(?m)^  \* \w+ debug 1 ")
        self.assertIn("  pinned", tree)
        prompts = self.ok("research", "prompts")
        name = re.search(r"(\w+)  (\d+_debug_a1_r1_prompt)", prompts)
        self.assertIn("return zero at the end", self.ok(
            "research", "prompts", str(folder), name[1], "--show", name[2]))
        code, _, err = self.run_to_end("research", "pin", "draft 1")
        self.assertEqual(code, 2)
        self.assertIn("the run is done", err)

    def test_literature_is_searched_over_http(self):  # RSP-42
        asked = []

        class Search(http.server.BaseHTTPRequestHandler):
            """The paper search of Semantic Scholar, of one paper."""

            def do_GET(self):
                asked.append(self.path)
                body = json.dumps({"total": 1, "data": [{
                    "paperId": "1", "title": "Quicksort", "year": 1962, "venue": "Computer Journal",
                    "abstract": "A sort in place.", "authors": [{"name": "C. A. R. Hoare"}]}]})
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Search)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        more = [{"when": "The paper needs references[\\s\\S]*Quicksort", "reply": fenced({"Query": ""})},
                {"when": "The paper needs references",
                 "reply": fenced({"Query": "in place sorting & quick"})},
                {"when": "Choose which papers of this search",
                 "reply": fenced({"Selected": [0], "Description": "the method"})},
                {"when": "Write the paper about this run",
                 "reply": f"{BLOCK}```latex\n{paper('hoare1962quicksort')}```"},
                {"when": "Look at your paper again", "reply": BLOCK + "I am done"}]
        self.model = ["--script", self.write("script.json", json.dumps(more + rules()))]
        words = [word for word in self.words() if word != "--skip-writeup"]
        code, out, err = self.run_to_end(
            *words, "--skip-review", "--set", f"citations.search_url=http://127.0.0.1:{server.server_port}"
            "/graph/v1/paper/search?fields=title,year&query={query}", limit=300)
        self.assertEqual(code, 0, err)
        self.assertEqual(asked, ["/graph/v1/paper/search?fields=title,year&query="
                                 "in%20place%20sorting%20%26%20quick"], err)
        folder = pathlib.Path(out.strip().splitlines()[-1])
        bibtex = (folder / "paper" / "references.bib").read_text("utf-8")
        self.assertIn("Quicksort", bibtex)
        self.assertIn("Hoare", bibtex)
        self.assertIn("\\cite{hoare1962quicksort}", (folder / "paper" / "paper.tex").read_text("utf-8"))
        if shutil.which("latexmk") or shutil.which("pdflatex"):
            self.assertTrue((folder / "paper" / "paper.pdf").read_bytes().startswith(b"%PDF"))

    def test_a_limit_ends_with_10_and_a_report(self):  # RSP-46, RSP-T22
        code, out, err = self.run_to_end(*self.words("--max-tokens", "20000"), limit=300)
        self.assertEqual(code, 10, err)
        self.assertIn("tokens", err)
        folder = pathlib.Path(out.strip().splitlines()[-1])
        self.assertIn("limited", (folder / "report.md").read_text("utf-8"))


if __name__ == "__main__":
    harness.main()
