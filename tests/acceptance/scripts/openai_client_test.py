#!/usr/bin/env python3
"""The official Python client against `models serve-script` (MOD-A12).

usage: openai_client_test.py --dossier PATH

Needs a Python that has the PyPI package `openai`: $DOSSIER_OPENAI_PYTHON, else that of .cache/peers,
which `scripts/setup --test` makes. Fails without one. (FLT-101: no test skips itself.)
"""

import json
import os
import pathlib
import signal
import subprocess
import sys

import harness

PEERS = pathlib.Path(__file__).resolve().parents[3] / ".cache/peers/bin/python3"
PYTHON = os.environ.get("DOSSIER_OPENAI_PYTHON", str(PEERS) if PEERS.exists() else sys.executable)

# Runs in that Python: what an application would do, as it would do it.
CLIENT = """
import json, sys
import openai

client = openai.OpenAI(base_url=sys.argv[1], api_key="hush-hush-4711", max_retries=0)
ask = [{"role": "user", "content": "How many?"}]
found = {}

whole = client.chat.completions.create(model="some-model", messages=ask)
found["whole"] = [whole.choices[0].message.content, whole.choices[0].finish_reason,
                  whole.usage.prompt_tokens, whole.usage.completion_tokens]

deltas, usage = [], None
for chunk in client.chat.completions.create(model="some-model", messages=ask, stream=True,
                                            stream_options={"include_usage": True}):
    deltas += [choice.delta.content or "" for choice in chunk.choices]
    usage = chunk.usage or usage
found["streamed"] = ["".join(deltas), usage.prompt_tokens, usage.completion_tokens]

try:
    client.chat.completions.create(model="some-model", messages=ask)
except openai.RateLimitError as error:
    found["limited"] = [error.status_code, error.response.headers["retry-after"]]

patient = client.with_options(max_retries=1)
found["retried"] = patient.chat.completions.create(
    model="some-model", messages=ask).choices[0].message.content
print(json.dumps(found))
"""

REPLIES = [
    {"reply": "four", "usage": {"input": 10, "output": 2}},
    {"reply": "four and more", "usage": {"input": 11, "output": 3}},
    {"fail": {"status": 429, "headers": {"Retry-After": "7"}}},
    {"fail": {"status": 429, "headers": {"Retry-After": "0"}}},
    "five",
]


class OpenAiClient(harness.Case):
    def test_the_official_client_works_with_the_scripted_server(self):
        server = self.start("models", "serve-script", self.write("script.json", json.dumps(REPLIES)),
                            "--record", str(self.home / "requests.jsonl"))
        address = server.stdout.readline().strip()
        client = subprocess.run([PYTHON, "-c", CLIENT, address], capture_output=True, text=True,
                                env=self.env, cwd=self.home, timeout=120)
        self.assertEqual(client.returncode, 0, client.stderr)
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=60)
        self.assertEqual(json.loads(client.stdout),
                         {"whole": ["four", "stop", 10, 2],
                          "streamed": ["four and more", 11, 3],
                          "limited": [429, "7"],
                          "retried": "five"})
        recorded = (self.home / "requests.jsonl").read_text("utf-8")
        self.assertNotIn("hush-hush", recorded)  # MOD-A6
        requests = [json.loads(line) for line in recorded.splitlines()]
        self.assertEqual([request["target"] for request in requests], ["/v1/chat/completions"] * 5)
        self.assertTrue(all(request["authorized"] for request in requests))


if __name__ == "__main__":
    if subprocess.run([PYTHON, "-c", "import openai"], capture_output=True).returncode != 0:
        sys.exit(f"{PYTHON} has no package openai; scripts/setup --test installs it")
    harness.main()
