#!/usr/bin/env python3
"""Each built-in engine of `agents`, run with a stand-in of its name that has its documented interface.

As an engineer a stand-in writes down how it was started, as a reviewer it approves; both say so in the
form of engine_replies/PRESET.txt, whose fields are those of the page that the preset names. Each start
takes 1,203 tokens of input, 200 of them from a cache, and 40 of output; where it tells a cost, 0.02 USD.
"""

import json
import pathlib
import stat

import yaml

import agents_case
import harness

REPLIES = pathlib.Path(__file__).with_name("engine_replies")
PRESETS = pathlib.Path(__file__).resolve().parents[3] / "data/engines"
STAND_IN = """#!/usr/bin/python3 -IS
import json, os, re, sys
words = sys.argv[1:]
prompt = sys.stdin.read()
for word in words:
    if os.path.isfile(word) and word.endswith(".prompt"):
        prompt += chr(10) + open(word).read()
    prompt += chr(10) + word
token = re.findall("APPROVED-[0-9a-f]+", prompt)
if token:
    said = "Looks good.\\n" + token[-1]
else:
    os.makedirs("src", exist_ok=True)
    json.dump({{"argv": words, "home": os.listdir(os.environ["HOME"]), "folder": os.getcwd(),
               "told": "Build it" in prompt}}, open("src/heard.json", "w"))
    for folder in {writable!r}:
        open(os.path.join(os.path.expanduser(folder), "was-here"), "w").close()
    said = "Done."
sys.stdout.write({reply!r}.replace("@TEXT@", {shown}))
"""


class Presets(agents_case.AgentsCase):
    def setUp(self):
        super().setUp()
        self.presets = {path.stem: yaml.safe_load(path.read_text("utf-8"))
                        for path in PRESETS.glob("*.yaml")}
        self.env["PATH"] = f"{self.home}/bin:{self.env['PATH']}"
        (self.home / "secret").write_text("mine\n")

    def stand_in(self, name: str):
        (self.home / "bin").mkdir(exist_ok=True)
        folders = [path for path in self.presets[name].get("writable", []) if not path.endswith(".json")]
        for path in folders:
            (self.home / path[2:]).mkdir(parents=True, exist_ok=True)
        program = pathlib.Path(self.write(f"bin/{self.presets[name]['argv'][0]}", STAND_IN.format(
            writable=folders, reply=(REPLIES / f"{name}.txt").read_text(),
            shown="json.dumps(said)[1:-1]" if "reply" in self.presets[name] else "said")))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return [self.home / path[2:] for path in folders]

    def use(self, name: str, **keys):
        self.configure(engineer_keys={"preset": name, **keys}, reviewer_keys={"preset": name, **keys})

    def test_every_preset_works_and_reviews(self):  # FLT-116
        self.assertEqual(sorted(self.presets), ["aider", "claude", "codex", "gemini", "opencode"])
        self.assertEqual(sorted(self.presets), sorted(path.stem for path in REPLIES.glob("*.txt")))
        for name, preset in self.presets.items():
            with self.subTest(preset=name):
                folders = self.stand_in(name)
                self.use(name)
                self.tasks({"id": f"task-{name}", "summary": "Build it"})
                self.commit()
                code, out, err = self.run_agents()
                self.assertEqual((code, out), (0, f"task-{name} -> merged\n"), err)
                heard = json.loads((self.repo / "src/heard.json").read_text())
                self.assertEqual(len(heard["argv"]), len(preset["argv"]) - 1)
                self.assertTrue(heard["told"], heard)
                self.assertNotIn("secret", heard["home"])
                for folder in folders:
                    self.assertTrue((folder / "was-here").exists(), folder)
                usage = self.results()[f"task-{name}"]["usage"]
                if "reply" not in preset:
                    self.assertIsNone(usage)
                    continue
                self.assertEqual((usage["input"], usage["cached"], usage["output"]), (2406, 400, 80))
                self.assertEqual(usage["cost_usd"], 0.04 if "cost" in preset["reply"] else None)

    def test_a_cost_that_is_told_counts(self):  # FLT-116
        self.stand_in("claude")
        self.use("claude")
        self.commit()
        code, _, err = self.run_agents("--max-cost", "0.01")
        self.assertEqual((code, self.results()["fact-001"]["status"]), (10, "budget"), err)
        self.assertNotIn("cannot count", err)
        self.assertIn("limit of cost", self.results()["fact-001"]["reason"])

    def test_every_start_counts(self):  # FLT-116, FLT-121
        self.stand_in("claude")
        self.use("claude")
        self.configure(engineer_keys={"preset": "claude", "retry_wait": 0, "argv": [
            "sh", "-c", "claude; echo x >> src/x; test $(wc -l < src/x) = 3 || exit 75"]})
        self.commit()
        code, _, err = self.run_agents("--attempts", "1")
        usage = self.results()["fact-001"]["usage"]
        self.assertEqual((code, usage["input"], usage["cost_usd"]), (0, 4 * 1203, 0.08), err)

    def test_a_limit_that_cannot_be_measured_ends_the_run(self):  # FLT-116
        self.stand_in("claude")
        self.use("claude")
        nan, told = float("nan"), "maker says nothing readable of what it used"
        for cost, tokens, limit, bad in ((-1000, 2000, "--max-cost", "total_cost_usd is -1000"),
                                         (1e10, 2000, "--max-cost", "total_cost_usd is 10000000000"),
                                         (1e300, 2000, "--max-cost", "total_cost_usd is 1e+300"),
                                         ("1", 2000, "--max-cost", 'total_cost_usd is "1"'),
                                         (None, 2000, "--max-cost", ""), (nan, 2000, "--max-cost", ""),
                                         (0.1, -5, "--max-tokens", "_tokens is -5"),
                                         (0.1, 9.2e18, "--max-tokens", "_tokens is 9.2e+18"),
                                         (0.1, nan, "--max-tokens", ""),
                                         (-1, 2000, "--max-tokens", None), (0.1, -5, "--max-cost", None)):
            reply = json.dumps({"type": "result", "subtype": "success", "result": "Done.", "total_cost_usd": cost,
                                "usage": {"input_tokens": tokens, "output_tokens": tokens}})
            self.configure(engineer_keys={"preset": "claude", "argv": [
                "sh", "-c", f"mkdir -p src; echo {tokens} > src/x; echo '{reply}'"]})
            self.commit()
            with self.subTest(reply=reply, limit=limit):
                code, _, err = self.run_agents(limit, "100000", "--dry-run")
                self.assertIn(told, err)
                result = self.results()["fact-001"]
                if bad is None:  # what is limited is told
                    self.assertEqual((code, result["status"]), (0, "skipped"), err)
                    continue
                self.assertEqual((code, result["status"]), (10, "budget"), err)
                self.assertIn(f"cannot be kept: {told}", result["reason"])
                self.assertIn(bad, result["reason"])

    def test_too_few_tokens_for_the_prompt_are_told(self):  # FLT-116
        self.stand_in("claude")
        self.use("claude")
        reply = json.dumps({"type": "result", "subtype": "success", "result": "Done.", "total_cost_usd": 0,
                            "usage": {"input_tokens": 1, "output_tokens": 1}})
        self.configure(engineer_keys={"preset": "claude", "argv": [
            "sh", "-c", f"mkdir -p src; echo x > src/x; echo '{reply}'"]})
        self.commit()
        code, _, err = self.run_agents()
        self.assertRegex(err, "maker says that it took 1 input tokens for a prompt of [0-9]+ bytes, which is too few")
        self.assertNotIn("judge says", err)
        self.assertGreater(self.results()["fact-001"]["usage"]["input"], 1204)

    def test_a_key_beside_a_preset_wins(self):  # FLT-116
        self.stand_in("claude")
        self.use("claude", argv=["claude", "--ours"])
        self.commit()
        self.assertEqual(self.run_agents()[0], 0)
        self.assertEqual(json.loads((self.repo / "src/heard.json").read_text())["argv"], ["--ours"])

    def test_what_is_no_preset_and_no_placeholder_is_refused_by_name(self):  # FLT-116
        for keys, told in [({"preset": "cluade"}, "there is no preset cluade; there are aider, claude, codex,"),
                           ({"argv": ["x", "--file={promt}"]}, "there is no placeholder {promt} ({prompt}?)")]:
            self.configure(engineer_keys=keys)
            self.commit()
            code, _, err = self.run_agents()
            self.assertEqual(code, 3, err)
            self.assertIn(told, err)
        self.configure(engineer_keys={"argv": ["sh", "-c", "x=1; mkdir src; echo ${x} | awk '{ print }' > src/x"]})
        self.reviewer(agents_case.APPROVE)
        self.commit()
        self.assertEqual(self.run_agents()[0], 0)


if __name__ == "__main__":
    harness.main()
