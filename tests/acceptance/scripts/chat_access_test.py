#!/usr/bin/env python3
"""What a project's file may make `dossier chat` do, and where a provider's key goes."""

import json
import pathlib

import chat_case
from chat_case import calls, counted
from harness import send

KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
OTHER_KEY = "sk-other-00000000000000000000000000000000"


class ProjectFiles(chat_case.ChatCase):
    """A project's file stands in the working folder; nobody is there to approve it."""

    def project(self, **keys) -> None:
        self.write("dossier.yml", json.dumps(keys))

    def take_turn(self):
        return self.chat("--conversation", "talk", "q")

    def test_commands_run_once_their_file_is_approved(self):  # CON-A2 CON-15
        self.project(context_commands=[counted("a")])
        code, out, err = self.take_turn()
        self.assertEqual((code, out, self.path().exists()), (12, "", False), err)
        self.assertRegex(err, r"project config \S*dossier\.yml is not trusted; "
                              r"review it and run: dossier trust ")
        self.assertEqual((self.runs_of("a"), len(self.server.requests)), (0, 0))
        self.assertEqual(self.run_to_end("trust", "-y", "dossier.yml")[0], 0)
        code, _, err = self.take_turn()
        self.assertEqual(code, 0, err)
        self.assertEqual((self.runs_of("a"), len(self.server.requests)), (1, 1))

    def test_a_byte_that_changed_asks_anew_with_the_difference(self):  # CON-A2 CON-15
        self.project(context_commands=[counted("a", "echo one")])
        self.assertEqual(self.run_to_end("trust", "-y")[0], 0)
        self.project(context_commands=[counted("a", "echo onf")])
        code, out, err = self.take_turn()
        self.assertEqual((code, out), (12, ""), err)
        self.assertRegex(err, r"(?m)^ *-.*echo one")
        self.assertRegex(err, r"(?m)^ *\+.*echo onf")
        self.assertEqual((self.runs_of("a"), len(self.server.requests)), (0, 0))


class ProjectFilesInSessions(ProjectFiles):
    def take_turn(self):
        return self.chat("--interactive", "--conversation", "talk", stdin="q\n")


class OtherServers(chat_case.ChatCase):
    def test_another_server_never_sees_the_key(self):  # CON-A2 CON-15 CON-D17
        self.env["OPENAI_API_KEY"] = KEY
        self.write("dossier.yml", json.dumps({"api_base": self.server.url, "model": "some-model",
                                              "key_env": "OPENAI_API_KEY"}))
        words = ["chat", "--retries", "0", "--conversations-path", str(self.folder)]
        for more in (["q"], ["--conversation", "talk", "q"], ["--compat", "q"], ["--dry-run", "q"]):
            code, out, err = self.run_to_end(*words, *more)
            self.assertEqual((code, out), (1 if "--compat" in more else 12, ""), err)
        self.assertEqual(self.server.requests, [])
        # The same file, once approved, is followed: all that kept the key here was trust.
        self.assertEqual(self.run_to_end("trust", "-y")[0], 0)
        code, _, err = self.run_to_end(*words, "q")
        self.assertEqual((code, len(self.server.requests)), (0, 1), err)
        self.assertEqual(self.server.headers[0].get("Authorization"), f"Bearer {KEY}")


    def test_the_configured_server_is_asked_for_the_configured_model(self):  # CON-14 CON-47
        # With a provider's name in front, too: that is how some servers call their models.
        for name in ("some-model", "openai/gpt-5-mini"):
            self.configure(api_base=self.server.url, model=name, key_env="MINE")
            self.env["MINE"] = KEY
            for words in (["chat", "q"], ["chat", "-m", name, "q"],
                          ["ask", "--context-text", "abc", "q"],
                          ["ask", "--context-text", "abc", "-m", name, "q"]):
                code, _, err = self.run_to_end(*words)
                self.assertEqual(code, 0, (words, err))
                self.assertEqual(json.loads(self.server.requests[-1])["model"], name)
                self.assertEqual(self.server.headers[-1].get("Authorization"), f"Bearer {KEY}")
        self.assertEqual(len(self.server.requests), 8)


class Keys(chat_case.ChatCase):
    def setUp(self):
        super().setUp()
        self.holders = set()  # files that hold the key by right
        self.seen_in_argv = []

    def holder(self, name: str, text: str, mode: int) -> str:
        path = pathlib.Path(self.write(name, text))
        path.chmod(mode)
        self.holders.add(path)
        return str(path)

    def answer(self, handler, body):
        """Looks at the words of every process while a request is out."""
        for words in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if KEY.encode() in words.read_bytes():
                    self.seen_in_argv.append(words)
            except OSError:
                continue
        super().answer(handler, body)

    def refuse(self, handler, _):
        send(handler, 401, json.dumps({"error": {"message": f"bad key {KEY}"}}).encode())

    def told(self, *words: str) -> str:
        """All that a command says, whatever its exit code."""
        process = self.start(*words)
        out, err = process.communicate(timeout=120)
        return out + err

    def chat_words(self, *words: str) -> list[str]:
        return ["chat", "-m", "gpt-5-mini", "--retries", "0", "--conversations-path",
                str(self.folder), "-v", "--log-file", "run.log", *words]

    def assert_kept(self, said: str) -> None:
        self.assertNotIn(KEY, said)
        self.assertEqual(self.seen_in_argv, [])
        for body in self.server.requests:
            self.assertNotIn(KEY.encode(), body)
        for path in self.home.rglob("*"):
            if path.is_file() and path not in self.holders:
                self.assertNotIn(KEY.encode(), path.read_bytes(), path)

    def check(self, **access) -> None:
        """Two turns that go well and two that are refused; commands show their environment."""
        self.configure(**access, context_commands=[counted("a", "env")])
        self.env["OPENAI_BASE_URL"] = self.server.url
        self.env["SHOWN"] = f"Bearer {self.env.get('OPENAI_API_KEY', 'none')}"
        self.answers = [calls(["env"]), "fine", self.refuse, self.refuse]
        talk = ("--conversation", "talk")
        (self.home / "project").mkdir(exist_ok=True)
        said = self.told(*self.chat_words(*talk, "--allow-commands", "--command-allow", "env",
                                          "--commands-in", "project", "one"))
        self.assertEqual(len(self.server.requests), 2, said)
        for headers in self.server.headers:
            self.assertEqual(headers.get("Authorization"), f"Bearer {KEY}", said)
        for words in (self.chat_words(*talk, "two"), self.chat_words(*talk, "--json", "two"),
                      self.chat_words(*talk, "--dry-run", "three"),
                      self.chat_words(*talk, "--explain-context", "three"),
                      ["config", "show", "--origin"], ["doctor"], ["context", "show", "talk"],
                      ["runs", "list"]):
            said += self.told(*words)
        # The last: `doctor` asks the named address which models it has.
        self.assertEqual(len(self.server.requests), 5, said)
        self.assert_kept(said)

    def test_a_key_of_the_environment(self):  # CON-49 CON-A3 CON-D17
        self.env["OPENAI_API_KEY"] = KEY
        self.check()

    def test_a_key_of_a_named_variable(self):  # CON-49 CON-A3
        self.env["OPENAI_API_KEY"] = OTHER_KEY
        self.env["MINE"] = KEY
        self.check(key_env="MINE")

    def test_a_key_of_a_file(self):  # CON-49
        self.check(key_file=self.holder("key.txt", KEY + "\n", 0o600))

    def test_a_key_of_a_program(self):  # CON-49
        self.check(key_cmd=["cat", self.holder("safe.txt", KEY + "\n", 0o600)])

    def test_a_key_of_the_keyring(self):  # CON-49
        (self.home / "bin").mkdir()
        self.holder("bin/secret-tool", f"#!/bin/sh\necho {KEY}\n", 0o700)
        self.env["PATH"] = f"{self.home}/bin:{self.env['PATH']}"
        self.env["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nowhere"
        self.check()


class BroadRules(chat_case.AgentCase):
    HOMES = "/var/tmp"  # a jail has a /tmp of its own, in which it may write

    ATTEMPTS = {
        "reads home": "print(open('{home}/secret.txt').read())",
        "reads home by link": "print(open('link.txt').read())",
        "writes the project": "open('new.txt', 'w').write('x'); print('done')",
        "writes home": "open('{home}/new.txt', 'w').write('x'); print('done')",
        "removes": "import os; os.remove('notes.txt'); print('done')",
        "connects": "import socket; socket.create_connection(('127.0.0.1', {port}), 5); print('done')",
    }

    def test_a_rule_that_allows_any_program_still_has_walls(self):  # CON-A8 CON-34 CON-36
        if not self.sandboxed:
            self.skipTest("the strict sandbox cannot run here")
        port = self.server.http.server_port
        programs = {name: code.format(home=self.home, port=port)
                    for name, code in self.ATTEMPTS.items()}
        programs["works"] = "print(open('notes.txt').read())"
        for name, code in programs.items():
            with self.subTest(name):
                self.answers = [calls(["python3", "-c", code]), "so be it"]
                before = len(self.server.requests)
                status, _, err = self.agent("--command-allow", "python3 **", "q")
                self.assertEqual(status, 0, err)
                self.assertIn("this rule is not a boundary", err)
                self.assertEqual(len(self.server.requests) - before, 2)
                result = self.results()[0]
                if name == "works":
                    self.assertEqual(result, "exit status 0\nthe colour is green")
                    continue
                self.assertRegex(result, r"^exit status 1\n(?s:.*)(Permission|NotFound|OSError|Read-only)")
                self.assertNotIn("hidden", result)
                self.assertNotIn("done", result.splitlines())
        self.assertEqual([path.name for path in self.home.rglob("new.txt")], [])
        self.assertTrue((self.project / "notes.txt").exists())


if __name__ == "__main__":
    chat_case.main()
