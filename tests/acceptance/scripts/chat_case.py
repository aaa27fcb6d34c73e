"""What the tests of `dossier chat` share: a recording server, a configuration with counted commands."""

import json
import os
import pathlib
import subprocess

import harness
from harness import reply, send

MODEL = "some-model"


def counted(name: str, run: str = "", **more) -> dict:
    """A context command that counts its runs in a file and prints."""
    shell = run or f"echo out of {name}"
    return {"name": name, "command": f"echo x >> runs.{name}; {shell}", **more}


def block(name: str, output: str) -> str:
    return f"--- Context: {name} ---\n{output}\n--- End Context ---"


def error_block(name: str, text: str) -> str:
    return f"--- Context Error: {name} ---\n{text}\n--- End Context ---"


class ChatCase(harness.Case):
    def setUp(self):
        super().setUp()
        self.folder = self.home / "conv"
        self.answers = []  # texts, or functions (handler, body); then "Reply N"
        self.server = self.serve(self.answer)

    def answer(self, handler, body):
        number = len(self.server.requests)
        next_one = self.answers.pop(0) if self.answers else f"Reply {number}"
        if callable(next_one):
            next_one(handler, body)
        else:
            reply(handler, body, next_one)

    def configure(self, **keys) -> None:
        path = self.home / "config" / "dossier" / "dossier.yml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(keys), "utf-8")  # JSON is YAML
        path.chmod(0o600)

    def words(self, *words: str) -> list[str]:
        return ["chat", "--base-url", self.server.url, "-m", MODEL, "--retries", "0",
                "--conversations-path", str(self.folder), *words]

    def chat(self, *words: str, **options):
        stdin = options.pop("stdin", None)
        if stdin is not None:
            process = self.start(*self.words(*words), stdin=-1, **options)
            out, err = process.communicate(stdin, timeout=120)
            return process.returncode, out, err
        return self.run_to_end(*self.words(*words), **options)

    def ok(self, *words: str, **options) -> str:
        code, out, err = self.chat(*words, **options)
        self.assertEqual(code, 0, err)
        return out

    def turn(self, prompt: str, *words: str, conversation: str = "talk") -> str:
        return self.ok("--conversation", conversation, *words, prompt)

    def runs_of(self, name: str) -> int:
        path = self.home / f"runs.{name}"
        return len(path.read_text().split()) if path.exists() else 0

    def path(self, conversation: str = "talk") -> pathlib.Path:
        return self.folder / f"{conversation}.json"

    def stored(self, conversation: str = "talk") -> dict:
        return json.loads(self.path(conversation).read_text("utf-8"))

    def put(self, messages: list, conversation: str = "talk", **keys) -> bytes:
        self.folder.mkdir(exist_ok=True)
        value = {"id": conversation, "model": MODEL, "messages": messages,
                 "created_at": "2026-11-21T12:47:14.000000Z",
                 "updated_at": "2026-11-21T12:47:15.250000Z", "metadata": {}, **keys}
        path = self.path(conversation)
        path.write_text(json.dumps(value, indent=2), "utf-8")
        path.chmod(0o600)
        return path.read_bytes()

    def sent(self, number: int = -1) -> list:
        return json.loads(self.server.requests[number])["messages"]

    def system(self, number: int = -1) -> str:
        first = self.sent(number)[0]
        self.assertEqual(first["role"], "system")
        return first["content"]

    def last_user(self, number: int = -1) -> str:
        last = self.sent(number)[-1]
        self.assertEqual(last["role"], "user")
        return last["content"]


def message(role: str, content: str) -> dict:
    return {"role": role, "content": content}


def calls(*commands: list, finish="tool_calls"):
    """A reply that asks for commands."""
    def answer(handler, body):
        tool_calls = [{"index": i, "id": f"call_{i}", "type": "function",
                       "function": {"name": "run_command",
                                    "arguments": json.dumps({"argv": argv, "reason": "to look"})}}
                      for i, argv in enumerate(commands)]
        delta = {"choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": tool_calls},
                              "finish_reason": finish}]}
        send(handler, 200, b"data: " + json.dumps(delta).encode() + b"\n\ndata: [DONE]\n\n",
             "text/event-stream")
    return answer


class AgentCase(ChatCase):
    """A project with a file, a secret beside it and a link to that."""

    def setUp(self):
        super().setUp()
        self.project = self.home / "project"
        self.project.mkdir()
        (self.project / "notes.txt").write_text("the colour is green\n")
        (self.home / "secret.txt").write_text("hidden\n")
        os.symlink(self.home / "secret.txt", self.project / "link.txt")
        probe = subprocess.run([harness.DOSSIER, "sandbox", "test"], capture_output=True,
                               env=self.env, check=False)
        self.sandboxed = probe.returncode == 0

    def agent(self, *words: str, **options):
        return self.chat("--allow-commands", *words, cwd=self.project, **options)

    def results(self, number: int = -1) -> list:
        return [m["content"] for m in self.sent(number) if m["role"] == "tool"]


main = harness.main
