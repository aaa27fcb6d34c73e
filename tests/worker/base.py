"""What the worker's tests share: a session over texts, and blocks with their results."""

import json
import unittest
from typing import Any

from fake_host import FakeHost, Text

ROWS = [{"id": i, "status": "open" if i % 2 else "done", "size": None if i == 4 else i * 3,
         "user": {"name": f"u{i}"}, **({"tag": "x"} if i < 3 else {})} for i in range(20)]


def ndjson(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


class WorkerTest(unittest.TestCase):
    """`texts` and `features` may be replaced by a class or before `start`."""

    texts = [("log.ndjson", ndjson(ROWS))]
    features: dict[str, Any] = {}

    def setUp(self) -> None:
        self.host: FakeHost | None = None
        self.start([Text(*text) for text in self.texts], **self.features)

    def start(self, texts: list[Text], **features: Any) -> None:
        if self.host is not None:
            self.host.stop()
        self.host = FakeHost(texts, features=features)
        self.runtime = self.host.start()
        self.block = 0

    def tearDown(self) -> None:
        self.host.stop()

    def run_block(self, code: str) -> dict[str, Any]:
        self.host.output = self.host.errors = ""
        self.block += 1
        result = self.runtime.run_block(code, self.block, False)
        json.dumps(result, ensure_ascii=False).encode()  # what goes to the host is JSON, UTF-8
        return result

    def printed(self, code: str) -> str:
        """The output of a block that must not fail."""
        result = self.run_block(code)
        self.assertEqual(result["status"], "ok", result["error"] or result["refused"])
        return self.host.output

    def value(self, expression: str) -> Any:
        """The value of an expression, as code sees it."""
        return eval(self.printed(f"print(repr(({expression})))"))

    def error(self, code: str) -> dict[str, Any]:
        result = self.run_block(code)
        self.assertEqual(result["status"], "error", result)
        return result["error"]

    def answer(self, code: str) -> dict[str, Any]:
        result = self.run_block(code)
        self.assertEqual(result["status"], "final", result)
        return result["answer"]
