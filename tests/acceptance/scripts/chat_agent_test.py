#!/usr/bin/env python3
"""Agent mode and structured output of `dossier chat`, against a recording server."""

import fcntl
import json
import os
import pty
import pwd
import subprocess
import termios

import chat_case
import harness
from chat_case import block, calls, counted, message


class AgentMode(chat_case.AgentCase):
    def test_a_command_runs_and_its_output_comes_back(self):  # CON-33 CON-35 CON-36 CON-N20 CON-D9
        self.configure(default_system_message="Be brief.", context_commands=[counted("a")])
        self.turn("one")
        self.answers = [calls(["cat", "notes.txt"]), "green"]
        code, out, err = self.agent("--conversation", "talk", "which colour?")
        self.assertEqual((code, out), (0, "green\n"), err)
        self.assertEqual(self.results(), ["exit status 0\nthe colour is green"])
        body = json.loads(self.server.requests[1])
        self.assertEqual([tool["function"]["name"] for tool in body["tools"]], ["run_command"])
        self.assertEqual(self.system(1), "Be brief.\n\n" + block("a", "out of a"))
        self.assertEqual(self.sent(1)[1:3], [message("user", "one"), message("assistant", "Reply 1")])
        self.assertIn("cat notes.txt", err)
        self.assertEqual([m["role"] for m in self.stored()["messages"]],
                         ["system", "user", "assistant", "user", "assistant"])
        tool = self.stored()["metadata"]["dossier"]["turns"][1]["tools"][0]
        self.assertEqual((tool["argv"], tool["decision"], tool["status"]),
                         (["cat", "notes.txt"], "run", 0))

    def test_runs_shows_the_turn(self):  # FLT-117
        self.answers = [calls(["cat", "notes.txt"]), calls(["rm", "notes.txt"]), "green"]
        code, out, err = self.agent("--conversation", "talk", "which colour?")
        self.assertEqual((code, out), (0, "green\n"), err)
        run = self.runs()[0]
        self.assertEqual((run["kind"], run["status"]), ("chat", "final"))
        code, story, err = self.run_to_end("runs", "show", "last")
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(story.startswith(f"Run: {run['run']} (chat)\nQuestion: which colour?\n"), story)
        self.assertIn("\nConversation: talk\n", story)
        self.assertIn("  tool (run):\n    cat notes.txt: exit 0, ", story)
        self.assertIn("  tool (refused):\n    rm notes.txt\n", story)
        self.assertRegex(story, r"\nStatus: final \(3 calls, [1-9]\d* \+ [1-9]\d* tokens, ")
        self.assertIn("  answer:\n    green\n", story)

    def test_what_the_policy_refuses_does_not_run(self):  # CON-A7 CON-D8
        wrong = [["cat", "../secret.txt"], ["cat", "link.txt"], ["/bin/rm", "notes.txt"],
                 ["git", "-c", "x=y", "log"], ["find", ".", "-delete"], ["lsof"],
                 ["sh", "-c", "cat x; rm y"]]
        for argv in wrong:
            self.answers = [calls(argv), "so be it"]
            code, _, err = self.agent("q")
            self.assertEqual(code, 0, err)
            self.assertTrue(self.results()[0].startswith("refused: "), (argv, self.results()))
        self.assertTrue((self.project / "notes.txt").exists())

    def test_a_command_that_may_write_plants_no_hook(self):  # FLT-86
        self.configure(dynamic_commands={"write": True, "allow": ["sh **"]})
        subprocess.run(["git", "init", "-q", "."], cwd=self.project, check=True, env=self.env)
        plant = ("echo changed > notes.txt; echo evil > .git/hooks/pre-commit; mkdir .dossier; "
                 "echo evil > dossier.yml; git init -q src; echo done")
        self.answers = [calls(["sh", "-c", plant]), "so be it"]
        code, _, err = self.agent("q")
        self.assertEqual(code, 0, err)
        self.assertIn("may not make this", self.results()[0])
        self.assertEqual((self.project / "notes.txt").read_text(), "changed\n")
        for name in (".dossier", "dossier.yml", "src/.git"):
            self.assertFalse((self.project / name).exists(), name)
        if self.has_namespaces():
            self.assertFalse((self.project / ".git/hooks/pre-commit").exists())

    def has_namespaces(self) -> bool:
        code, out, err = self.run_to_end("sandbox", "exec", "--json", "--", "true")
        self.assertEqual(code, 0, err)
        return any(layer["name"] == "namespaces" and layer["state"] == "applied"
                   for layer in json.loads(out)["sandbox"]["layers"])

    def test_in_the_home_a_folder_is_asked_for(self):  # FLT-134
        (self.home / ".ssh").mkdir()
        (self.home / ".ssh/id_rsa").write_text("the-key\n")
        for folder in (self.home, self.home.parent):
            code, out, err = self.chat("--allow-commands", "q", cwd=folder)
            self.assertEqual((code, out), (2, ""), err)
            self.assertIn("holds your home: start it in a project's folder, or name one with --commands-in DIR", err)
        # The account's home is one, too, whatever HOME says.
        account = pwd.getpwuid(os.getuid()).pw_dir
        code, out, err = self.chat("--allow-commands", "q", cwd=account)
        self.assertEqual((code, out), (2, ""), err)
        self.assertIn("holds your home", err)
        self.assertEqual(self.server.requests, [])
        self.answers = [calls(["cat", "notes.txt"]), "green"]
        code, out, err = self.chat("--allow-commands", "--commands-in", str(self.project), "q", cwd=self.home)
        self.assertEqual((code, self.results()), (0, ["exit status 0\nthe colour is green"]), err)
        # A home that is a repository makes no home of its folders.
        subprocess.run(["git", "init", "-q", "."], cwd=self.home, check=True, env=self.env)
        self.answers = [calls(["cat", "notes.txt"]), "green"]
        self.assertEqual(self.agent("q")[0], 0)
        self.assertEqual(self.results(), ["exit status 0\nthe colour is green"])
        # On a terminal it asks, and takes no home for an answer.
        for typed, code in (("~/project\n", 0), ("~\n", 2), ("\n", 2)):
            self.answers = ["green"]
            self.assertEqual(self.on_terminal(typed, "--allow-commands", "--no-save", "q"), code, typed)

    @staticmethod
    def type_ahead(main: int, text: bytes):
        """Typed before the question stands there, which so is no answer: it waits in the terminal."""
        os.write(main, text)
        shown = b""
        while text.strip() not in shown:
            shown += os.read(main, 4096)

    def on_terminal(self, typed: str, *words: str) -> int:
        main, other = pty.openpty()
        self.addCleanup(os.close, main)
        self.type_ahead(main, b"~/project\n")
        process = subprocess.Popen([harness.DOSSIER, *self.words(*words)], cwd=self.home, env=self.env,
                                   stdin=other, stdout=other, stderr=other, start_new_session=True,
                                   preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.addCleanup(self.end, process)
        os.close(other)
        shown = b""
        while b"in which folder may they run?" not in shown:
            shown += os.read(main, 4096)
        os.write(main, typed.encode())
        while True:
            try:
                block = os.read(main, 4096)
            except OSError:
                break
            if not block:
                break
            shown += block
        return process.wait(60)

    def test_secret_files_of_the_project_are_hidden(self):  # FLT-134
        (self.project / ".env").write_text("KEY=hush\n")
        (self.project / "keys").mkdir()
        key = self.project / "keys/work"
        key.write_text("-----BEGIN OPENSSH PRIVATE KEY-----\nhush\n")
        key.chmod(0o600)
        for argv in (["cat", ".env"], ["cat", "keys/work"], ["grep", "-r", "hush", "."]):
            self.answers = [calls(argv), "no"]
            code, _, err = self.agent("q")
            self.assertEqual(code, 0, err)
            self.assertNotIn("hush", json.dumps(self.sent(-1)[-1]), argv)
            self.assertIn("2 files with secrets are hidden from commands (.env, …)", err)
        self.answers = [calls(["cat", ".env"]), "yes"]
        self.assertEqual(self.agent("--show-secret", ".env", "q")[0], 0)
        self.assertEqual(self.results(), ["exit status 0\nKEY=hush"])

    def test_git_shows_no_secret_files_either(self):  # FLT-134
        def git(*words: str) -> str:
            return subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b", *words], check=True,
                                  cwd=self.project, env=self.env, capture_output=True, text=True).stdout
        git("init", "-q", "-b", "main", ".")
        (self.project / "Prod.ENV").write_text("WORD=hush\n")
        (self.project / ".env.example").write_text("WORD=shown\n")
        git("add", "-A", "-f")
        git("commit", "-qm", "one")
        blob = git("rev-parse", "HEAD:Prod.ENV").strip()
        (self.project / "Prod.ENV").write_text("WORD=hush-2\n")
        (self.project / "notes.txt").write_text("the colour is blue\n")
        git("config", "remote.origin.url", "https://ann" + ":hush-hush-17" + "@example.org/x.git")
        git("config", "http.https://example.org/.extraheader", "AUTHORIZATION: " + "basic " + "eDpodXNoLWh1c2gtMTc=")
        for argv in (["git", "show", "HEAD:Prod.ENV"], ["git", "show", blob], ["git", "show", blob[:9]],
                     ["git", "diff", f"{blob}..HEAD:notes.txt"], ["git", "show", f"x-g{blob[:9]}"],
                     ["git", "log", "-L", "1,1:Prod.ENV"], ["git", "log", "-p", "-n", "3"], ["git", "show"],
                     ["git", "log", "-G", "WORD", "-p"], ["git", "show", "HEAD", "--", "Prod.ENV"],
                     ["cat", ".git/config"], ["grep", "-rai", "hush", "."], ["grep", "-i", "basic", ".git/config"]):
            self.answers = [calls(argv), "no"]
            code, _, err = self.agent("q")
            self.assertEqual(code, 0, err)
            said = json.dumps(self.sent(-1)[-1])
            self.assertNotIn("hush", said, argv)
            self.assertNotIn("eDpod", said, argv)
        self.answers = [calls(["git", "log", "-p"]), "yes"]
        self.agent("q")
        self.assertIn("+WORD=shown", self.results()[0])
        self.assertIn("Binary files /dev/null and b/Prod.ENV differ", self.results()[0])
        for argv in (["git", "diff"], ["git", "diff", "HEAD"], ["git", "diff", "HEAD", "--", "notes.txt"]):
            self.answers = [calls(argv), "yes"]
            self.agent("q")
            self.assertTrue(self.results()[0].startswith("exit status 0\n"), self.results())
            self.assertIn("+the colour is blue", self.results()[0])
        self.answers = [calls(["git", "show", "HEAD:notes.txt"]), "yes"]
        self.agent("q")
        self.assertEqual(self.results(), ["exit status 0\nthe colour is green"])
        self.answers = [calls(["git", "show", "HEAD:Prod.ENV"]), "yes"]
        self.agent("--show-secret", "Prod.ENV", "q")
        self.assertEqual(self.results(), ["exit status 0\nWORD=hush"])

    def test_old_globs_apply_to_words(self):  # CON-34 CON-A7 CON-D8
        for argv, runs in ((["ls", "-l", "notes.txt"], True), (["lsof"], False),
                           (["ls", ";", "rm"], True)):
            self.answers = [calls(argv), "done"]
            self.agent("--command-allow", "ls *", "q")
            self.assertEqual(self.results()[0].startswith("refused: "), not runs, (argv, self.results()))

    def test_limits_of_commands_and_refusals(self):  # CON-37 CON-D10 CON-D11
        self.configure(dynamic_commands={"max_commands": 2, "max_refusals": 3})
        look = ["cat", "notes.txt"]
        self.answers = [calls(look, look, look), "so far"]
        code, out, _ = self.agent("q")
        self.assertEqual((code, out), (10, "so far\n"))
        self.assertEqual(self.results()[2], "not run: limit of 2 commands reached")
        self.assertEqual(json.loads(self.server.requests[-1])["tool_choice"], "none")
        self.configure(dynamic_commands={"max_refusals": 3})
        self.answers = [calls(["rm", "x"])] * 3 + ["enough"]
        code, out, _ = self.agent("q")
        self.assertEqual((code, out), (10, "enough\n"))

    def test_history_full_keeps_the_tool_messages(self):  # CON-38
        self.configure(dynamic_commands={"history": "full"})
        self.answers = [calls(["cat", "notes.txt"]), "green", "again"]
        self.agent("--conversation", "talk", "which colour?")
        roles = [m["role"] for m in self.stored()["messages"]]
        self.assertEqual(roles, ["user", "assistant", "tool", "assistant"])
        self.agent("--conversation", "talk", "sure?")
        self.assertEqual([m["role"] for m in self.sent()], roles + ["user"])

    def test_confirming_needs_a_terminal(self):  # CON-38
        code, _, err = self.agent("--confirm-commands", "q", start_new_session=True)
        self.assertEqual((code, self.server.requests), (12, []), err)

    def test_the_configuration_may_ask_for_it(self):  # CON-3 CON-38
        self.configure(allow_dynamic_commands=True,
                       dynamic_commands={"require_confirmation": True})
        options = {"start_new_session": True, "cwd": self.project}
        code, _, err = self.chat("q", **options)
        self.assertEqual((code, self.server.requests), (12, []), err)
        self.ok("--no-confirm-commands", "q", **options)
        self.assertIn("tools", json.loads(self.server.requests[-1]))
        self.ok("--no-allow-commands", "q", **options)
        self.assertNotIn("tools", json.loads(self.server.requests[-1]))

    def test_a_person_says_no_then_quits(self):  # CON-38
        for answer, code in (("n\n", 0), ("q\n", 12), ("a\n", 0)):
            self.answers = [calls(["cat", "notes.txt"]), "done"]
            master, slave = pty.openpty()
            self.type_ahead(master, b"a\n")
            process = self.start(*self.words("--allow-commands", "--confirm-commands", "q"),
                                 cwd=self.project, start_new_session=True, preexec_fn=lambda fd=slave:
                                 __import__("fcntl").ioctl(fd, 0x540E, 0), pass_fds=(slave,))
            shown = b""
            while b"[y/n/a/q] " not in shown:
                shown += os.read(master, 4096)
            os.write(master, answer.encode())
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, code, answer)
            os.close(master)
            os.close(slave)
            if answer == "n\n":
                self.assertTrue(self.results()[0].startswith("refused: the user"), self.results())


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}},
          "required": ["n"], "additionalProperties": False}


class StructuredOutput(chat_case.ChatCase):
    def test_a_valid_reply_is_printed_and_saved(self):  # CON-39 CON-41
        self.answers = ["```json\n{\"n\": 1}\n```"]
        code, out, err = self.chat("--conversation", "talk", "--json-schema", json.dumps(SCHEMA), "q")
        self.assertEqual((code, json.loads(out)), (0, {"n": 1}), err)
        self.assertIn("code fence", err)
        self.assertEqual(self.stored()["messages"][-1], message("assistant", '{"n": 1}'))

    def test_repair_rounds_tell_what_is_wrong(self):  # CON-41
        self.answers = ['{"n": -1}', '{"n": 2}']
        code, out, err = self.chat("--conversation", "talk", "--json-schema", json.dumps(SCHEMA), "q")
        self.assertEqual((code, json.loads(out)), (0, {"n": 2}), err)
        self.assertIn("/n", self.last_user())
        self.assertEqual(self.sent()[-2], message("assistant", '{"n": -1}'))
        self.assertEqual(len(self.stored()["messages"]), 2)

    def test_an_invalid_reply_leaves_stdout_empty(self):  # CON-41
        for rounds in (0, 2):
            self.answers = ['{"n": "x"}'] * 3
            before = len(self.server.requests)
            code, out, err = self.chat("--conversation", "talk", "--repair", str(rounds), "--stream",
                                       "--json-schema", json.dumps(SCHEMA), "q")
            self.assertEqual((code, out), (11, ""), err)
            self.assertIn("/n", err)
            self.assertEqual(len(self.server.requests) - before, rounds + 1)
            self.assertFalse(self.path().exists())

    def test_files_are_looked_for_and_described(self):  # CON-39 CON-41 section 6
        (self.home / ".dossier").mkdir()
        (self.home / ".dossier" / "s.json").write_text(json.dumps(SCHEMA))
        code, out, _ = self.chat("--validate-schema", "--json-schema-file", "s.json")
        self.assertEqual(code, 0)
        self.assertIn("n: integer (required)", out)
        messages = set()
        (self.home / "bad.json").write_text("{")
        (self.home / "wrong.json").write_text('{"type": 7}')
        (self.home / "large.json").write_text('{"description": "' + "x" * (1 << 21) + '"}')
        for name, code in (("bad.json", 3), ("wrong.json", 3), ("large.json", 3), ("none.json", 4)):
            got, _, err = self.chat("--validate-schema", "--json-schema-file", name)
            self.assertEqual(got, code, err)
            messages.add(err.replace(name, ""))
        self.assertEqual(len(messages), 4)
        self.assertEqual(self.chat("--validate-schema")[0], 4)

    def test_a_flag_beats_the_configuration(self):  # CON-39 CON-D18
        self.configure(json_schema={"type": "string"})
        self.answers = ['{"n": 1}']
        code, out, err = self.chat("--json-schema", json.dumps(SCHEMA), "q")
        self.assertEqual(code, 0, err)
        code, _, _ = self.chat("--json-schema", "{}", "--json-schema-file", "x", "q")
        self.assertEqual(code, 2)


if __name__ == "__main__":
    chat_case.main()
