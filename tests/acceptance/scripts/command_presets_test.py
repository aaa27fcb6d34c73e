#!/usr/bin/env python3
"""Each built-in command preset, run with a stand-in of its name that answers in its documented form.

The stand-in writes down how it was started and prints command_replies/PRESET.txt, whose fields are
those of the page that the preset names as its source. All of them say "Forty-two\\nof them." for
2,003 tokens in, 800 of them from a cache, and 9 out.
"""

import json
import pathlib
import stat

import yaml

import harness

REPLIES = pathlib.Path(__file__).with_name("command_replies")
PRESETS = pathlib.Path(__file__).resolve().parents[3] / "data/commands"
QUESTION = "How many, all in all?"
STAND_IN = """#!/usr/bin/python3 -IS
import json, os, sys
heard = {{"argv": sys.argv[1:], "stdin": sys.stdin.read(), "env": dict(os.environ),
         "folder": os.listdir("."), "group": os.getpgid(0) == os.getpid()}}
open({heard!r}, "w").write(json.dumps(heard))
sys.stdout.write(open({reply!r}).read())
sys.exit({status})
"""


class CommandPresetsTest(harness.Case):
    def setUp(self):
        super().setUp()
        self.presets = {path.stem: yaml.safe_load(path.read_text("utf-8"))
                        for path in PRESETS.glob("*.yaml")}
        self.env["PATH"] = f"{self.home}/bin:{self.env['PATH']}"
        self.env["SOME_TOKEN"] = "hush"

    def stand_in(self, name: str, reply: pathlib.Path, status: int = 0):
        (self.home / "bin").mkdir(exist_ok=True)
        program = pathlib.Path(self.write(f"bin/{self.presets[name]['argv'][0]}", STAND_IN.format(
            heard=str(self.home / "heard.json"), reply=str(reply), status=status)))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)

    def ask(self, model: str, *words: str):
        return self.run_to_end("ask", "--mode", "direct", "-m", f"command/{model}", *words, QUESTION)

    def heard(self) -> dict:
        return json.loads((self.home / "heard.json").read_text())

    def test_every_preset_starts_its_program_and_reads_its_reply(self):  # MOD-16
        self.assertEqual(sorted(self.presets), sorted(path.stem for path in REPLIES.glob("*.txt")))
        for name, preset in self.presets.items():
            with self.subTest(preset=name):
                self.stand_in(name, REPLIES / f"{name}.txt")
                code, out, err = self.ask(name, "--json")
                self.assertEqual(code, 0, err)
                said = json.loads(out)
                self.assertEqual(said["answer"], "Forty-two\nof them.")
                written = {"claude": 1200}.get(name, 0)  # what its reply says of the cache
                self.assertEqual(said["tokens"], {"input": 2003, "cached": 800, "output": 9,
                                                  "cache_write": written, "estimated": False})
                heard = self.heard()
                self.assertEqual(heard["argv"], [word.replace("{model}", preset.get("model", ""))
                                                 for word in preset["argv"][1:]])
                self.assertIn(QUESTION, heard["stdin"])
                self.assertEqual(heard["folder"], [])
                self.assertTrue(heard["group"])
                self.assertEqual(heard["env"]["HOME"], str(self.home))
                self.assertNotIn("hush", heard["env"].values())

    def test_a_model_named_behind_the_preset_reaches_the_program(self):  # MOD-16
        for name, preset in self.presets.items():
            if not any("{model}" in word for word in preset["argv"]):
                continue
            with self.subTest(preset=name):
                self.stand_in(name, REPLIES / f"{name}.txt")
                self.assertEqual(self.ask(f"{name}/better-one")[0], 0)
                self.assertIn("better-one", self.heard()["argv"])

    def test_a_key_that_would_be_billed_stops_every_preset(self):  # MOD-16
        for name, preset in self.presets.items():
            self.stand_in(name, REPLIES / f"{name}.txt")
            for key in preset["billing"]:
                with self.subTest(preset=name, key=key):
                    self.env[key] = "hush-hush"
                    code, out, err = self.ask(name)
                    self.assertEqual((code, out), (12, ""), err)
                    self.assertIn(f"--key-env {key}", err)
                    self.assertNotIn("hush-hush", err)
                    self.assertFalse((self.home / "heard.json").exists())
                    self.assertEqual(self.ask(name, "--key-env", key)[0], 0)
                    self.assertEqual(self.heard()["env"][key], "hush-hush")
                    (self.home / "heard.json").unlink()
                    del self.env[key]

    def test_a_model_is_no_flag_of_its_program(self):  # MOD-16, section 6
        self.stand_in("codex", REPLIES / "codex.txt")
        code, out, err = self.ask("codex/--dangerous")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("command/codex/--dangerous: a model's name does not begin with", err)
        self.assertFalse((self.home / "heard.json").exists())

    def test_a_program_that_reports_a_failure_is_not_an_answer(self):  # MOD-16, section 6
        for name, preset in self.presets.items():
            with self.subTest(preset=name):
                reply = (REPLIES / f"{name}.txt").read_text("utf-8")
                if "failed" in preset["reply"]:
                    self.stand_in(name, pathlib.Path(self.write("reply.txt", reply.replace(
                        '"is_error":false', '"is_error":true'))))
                    said = "Forty-two"
                else:
                    self.stand_in(name, pathlib.Path(self.write("reply.txt", "please log in\n")), 1)
                    said = "please log in"
                code, out, err = self.ask(name)
                self.assertNotEqual(code, 0)
                self.assertEqual(out, "")
                self.assertIn(said, err)


if __name__ == "__main__":
    harness.main()
