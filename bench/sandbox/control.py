"""The control: plain Python runs a cell with nothing around it. Whatever the jail would forbid shows here.

usage: control.py CELL PORT
"""

import json
import os
import sys
import urllib.request

with open(sys.argv[1], encoding="utf-8") as file:
    cell = file.read()
os.environ.setdefault("OPENAI_API_KEY", "")


class Engine:
    """What an engine keeps in the same process as the code: a key, and a budget."""

    def __init__(self) -> None:
        self.api_key = os.environ["OPENAI_API_KEY"]
        self.max_iterations = 4

    def ask(self) -> None:
        body = json.dumps({"model": "m", "messages": []}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{sys.argv[2]}/v1/chat/completions", body,
                                         {"Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=5).read()


def llm_query(prompt: str) -> str:
    return prompt


engine = Engine()
try:
    exec(compile(cell, "cell", "exec"), {"__name__": "cell", "llm_query": llm_query})
except Exception as error:  # as an engine would go on
    print(f"{type(error).__name__}: {error}", file=sys.stderr)
for _ in range(min(engine.max_iterations, 12)):
    engine.ask()
