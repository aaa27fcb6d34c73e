#!/usr/bin/env python3
"""--json: exactly one object on stdout, whatever happens, and nothing else (CON-1)."""

import json
import re
import subprocess

import harness

TALK = json.dumps({"id": "talk", "model": "scripted", "messages": [
    {"role": "user", "content": "q " + "word " * 200}, {"role": "assistant", "content": "a"},
    {"role": "user", "content": "r"}, {"role": "assistant", "content": "b"}],
    "metadata": {"dossier": {"big": 12345678901234567890123}}})
MODEL = ("-m", "scripted", "--script", "replies.json")

SUCCEEDS = """
--version --json
ask --json MODEL -c data.csv q
ask --json MODEL -c data.csv --dry-run q
chat --json MODEL hi
chat --json MODEL --dry-run hi
chat --json MODEL --explain-context hi
chat --json --validate-schema --json-schema {"type":"object","properties":{"a":{"type":"string"}}}
inspect --json data.csv
pack --json data.csv
header --json
runs list --json
assemble --json MODEL_NAME -D question=q recursion.direct
prompts list --json
prompts check --json
models list --json
models prices --json
models status --json
keys list --json
models test --json scripted --script replies.json
sandbox policy --json -- ls
tokens --json data.csv
eval families --json
eval generate long --json --length 20 --windows 1 --out set
eval check set --json
eval score-one set long-20-w0-q0 --answer x --json
conversations list --json
conversations show talk --json
conversations search --json word
conversations fork talk --json --as copy
conversations export talk copy --json
conversations export talk --json --format json
conversations export talk --json --as-sent
conversations compact talk --json --dry-run MODEL
conversations delete copy --json -y
conversations delete --older-than 100d --json -y
context run --json --exec date
context refresh talk --json --exec pwd
context show talk --json
context show talk --json --history
context drift talk --json --exec pwd
context migrate --all --json
agents status --json
agents context --json
agents lint-notes --json
research resources check --json resources.yml
research resources digest --json resources.yml
research resources show --json resources.yml
config show --json
config get --json model
paths --json
runs prune --json --keep 1
trust --list --json
trust --json -y
trust --json --show dossier.yml
trust --json --revoke dossier.yml
""".strip().splitlines()

FAILS = """
ask --json
ask --json -m nobody/knows q
ask --json MODEL -c missing q
chat --json
chat --json -t 9 hi
chat --json MODEL --conversation ../x hi
inspect --json
inspect --json --hint data.csv
pack --json missing
runs show --json missing
runs prune --json
runs list -C missing --json
assemble --json missing
prompts check --json missing
models show --json nobody/knows
models refresh --json --provider nobody
models test --json nobody/knows
sandbox run --json missing.py
sandbox exec --json -- no-such-program
tokens --json --encoding nothing data.csv
tokens --json --tree .
eval generate --json nothing --out other
eval check --json missing
eval score-one --json set nothing
conversations show --json missing
conversations export talk --json --format md
conversations compact talk --json --undo
conversations delete talk --json
context show talk --json --at 7
context run --json -D 1=2
agents run --json --tasks missing
research run --json missing
research plan --json missing
research pin --json draft
research prune --json draft
research hint --json draft text
research name --json draft text
research status --json
research tree --json missing
research report --json missing
research prompts --json missing
research resume --json missing
research resources check --json missing
config get --json nothing
paths --json --config missing
trust --json --show missing
""".strip().splitlines()


class JsonOutput(harness.Case):
    def setUp(self):
        super().setUp()
        subprocess.run(["git", "init", "-q", str(self.home)], check=True)
        (self.home / "talks").mkdir()
        self.write("talks/talk.json", TALK)
        self.write("data.csv", "a,b\n1,2\n")
        self.write("resources.yml", "local: [{name: d, host_path: ., mount_path: d}]\n")
        self.write("replies.json", json.dumps([{"reply": "ok", "times": "always"}]))
        self.write("dossier.yml", "model: scripted\ncompaction: {keep_turns: 1}\n"
                                  "context_commands: [{name: a, command: echo one}]\n")
        self.env["DOSSIER_CONVERSATIONS_PATH"] = str(self.home / "talks")
        self.env["DOSSIER_TRUST_ROOTS"] = str(self.home)

    def object_of(self, line: str):
        words = [word for given in line.split(" ")
                 for word in {"MODEL": MODEL, "MODEL_NAME": MODEL[:2]}.get(given, (given,))]
        code, out, err = self.run_to_end(*words)
        try:
            value = json.loads(out)
        except ValueError:
            self.fail(f"{line}: exit {code}, stdout {out[:300]!r}, stderr {err[:300]!r}")
        self.assertIsInstance(value, dict, line)
        self.assertIn("schema", value, line)
        self.assertNotRegex(re.sub(r'"(\\.|[^"\\])*"', '""', out), r"[0-9]E", line)
        return code, value, err

    def test_an_answer_is_one_object(self):
        for line in SUCCEEDS:
            with self.subTest(line):
                code, value, err = self.object_of(line)
                self.assertEqual((code, "error" in value), (0, False), err)

    def test_a_failure_is_one_object_with_the_sentence_of_stderr(self):
        for line in FAILS:
            with self.subTest(line):
                code, value, err = self.object_of(line)
                self.assertNotEqual(code, 0)
                self.assertEqual(value["error"]["exit"], code)
                self.assertIn("dossier: " + value["error"]["message"], err)

    def test_what_was_warned_of_before_the_turn_is_in_the_object(self):  # CON-1
        self.write("dossier.yml", "model: scripted\nno_such_key: 1\n")
        for flags in ("--model scripted:replies.json", "--model scripted:missing.json"):
            with self.subTest(flags):
                _, value, err = self.object_of(f"chat --json {flags} hello")
                self.assertIn("no_such_key", " ".join(value["warnings"]), value)
                self.assertIn("no_such_key", err)
                _, out, _ = self.run_to_end("chat", "--jsonl", *flags.split(" "), "hello")
                events = [json.loads(row) for row in out.splitlines()]
                self.assertIn("no_such_key", " ".join(
                    event["message"] for event in events if event["event"] == "warning"), out)

    def test_every_command_with_the_flag_says_so_of_wrong_flags(self):
        help_of = lambda *path: subprocess.run(
            [harness.DOSSIER, "help", *path], env=self.env, cwd=self.home, check=True,
            capture_output=True, text=True).stdout
        below = lambda text: re.findall(r"^  ([a-z][a-z-]*)  ", text.partition("Commands:")[2], re.M)
        seen = 0
        for command in below(help_of()):
            for path in [(command,), *((command, action) for action in below(help_of(command)))]:
                if not re.search(r"^  (-[^ ]*, )?--json\b", help_of(*path), re.M):
                    continue
                seen += 1
                with self.subTest(path):
                    code, value, _ = self.object_of(" ".join((*path, "--json", "--no-such-flag")))
                    self.assertEqual((code, value["schema"], value["error"]["code"]),
                                     (2, "dossier.error/1", "usage"))
        self.assertGreater(seen, 25)

    def test_an_export_holds_the_file_byte_for_byte(self):
        _, out, _ = self.run_to_end("conversations", "export", "talk", "--json")
        self.assertIn(TALK, out)
        self.assertIn("12345678901234567890123", out)
        code, out, _ = self.run_to_end("conversations", "export", "talk", "--json", "-o", "out.json")
        self.assertEqual((code, out), (0, ""))
        self.assertIn(TALK, (self.home / "out.json").read_text())


if __name__ == "__main__":
    harness.main()
