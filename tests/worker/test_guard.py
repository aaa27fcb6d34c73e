import json
import unittest

from base import ROWS, WorkerTest
from fake_host import Text

REFUSED = [  # REC-17, REC-A27, small-models 2
    "records = [{'a': 1}, {'a': 2}]\nprint(len(records))",
    "context = 'Package: a\\nPackage: b'",
    "context = '''a\nb'''.splitlines()",
    "import json\nrecords = json.loads('[{\"a\": 1}]')",
    "import io\ncontext = io.StringIO('a,b')",
    "rows = [{'a': 1}]\nrecords = rows",
    "if True:\n    records = [{'a': 1}]",
    "def f():\n    global records\n    records = [{'a': 1}]\nf()",
    "(records := ({'a': 1},))",
    "doc, x = 'text', 2",
    "data = [{'name': 'a', 'size': 3}, {'name': 'b', 'size': 4}]\n"
    "print(max(data, key=lambda r: r['size']))",
    "text = '''id,size\n1,2\n3,4'''\nfor line in text.split('\\n'):\n    print(line)",
    "import csv, io\nprint(list(csv.reader(io.StringIO('a,b\\n1,2\\n3,4'))))",
]
FUNCTIONS = [
    "llm_query = print", "def llm_query(p):\n    return 'x'", "del FINAL", "import json as budget",
    "from os import path as SHOW_VARS", "for map_llm in range(3):\n    pass",
    "class FINAL_VAR:\n    pass", "llm_query += 1", "with open('x') as PARTIAL:\n    pass",
    "try:\n    1\nexcept ValueError as SUBMIT:\n    pass",
]
ALLOWED = [
    "records = [r for r in records if r['id'] > 3]\nprint(len(records))",
    "labels = ['spam', 'ham']\nfor label in labels:\n    print(label)",
    "weights = {'a': 1, 'b': 2}\nprint(sum(weights.values()))",
    "records = []\nfor line in open('log.ndjson'):\n    records.append(line)\nprint(len(records))",
    "context = open('log.ndjson').read()\nprint(len(context))",
    "names = [{'key': 'open'}, {'key': 'done'}]\n"
    "for n in names:\n    print(sum(r['status'] == n['key'] for r in records))",
    "text = '''Answer:\none\ntwo'''\nprint(text)",
    "prompt = '''Read\nthis\ntext'''\nprint(llm_query(prompt))",
    "def f(budget, records):\n    return budget\nprint(f(1, 2))",
    "print([llm_query for llm_query in [1, 2]])",
    "def g():\n    doc = 'a local text'\n    return doc\nprint(g())",
]


class GuardTest(WorkerTest):
    def test_made_up_data_is_not_run(self) -> None:
        for code in REFUSED:
            result = self.run_block(code)
            self.assertEqual(result["status"], "not_run", code)
            self.assertIn("made-up data", result["refused"])
            self.assertIn("`records` already holds the real data (20 rows)", result["refused"])
            self.assertIn("Write the whole block again", result["refused"])
            self.assertEqual(self.host.output, "")

    def test_our_functions_cannot_be_replaced(self) -> None:
        for code in FUNCTIONS:
            result = self.run_block(code)
            self.assertEqual(result["status"], "not_run", code)
            self.assertIn("already defined", result["refused"])

    def test_honest_blocks_run(self) -> None:
        for code in ALLOWED:
            result = self.run_block(code)
            self.assertEqual(result["status"], "ok", (code, result["refused"], result["error"]))

    def test_rebinding_holds_for_the_block_and_is_undone_and_said(self) -> None:  # REC-17, A27
        result = self.run_block("import json\nrecords = [json.loads(l) for l in "
                                "open('log.ndjson')]\nprint(len(records), type(records).__name__)")
        self.assertEqual(self.host.output, "20 list\n")
        self.assertIn("`records` was put back", result["notes"][0])
        self.assertEqual(self.value("type(records).__name__"), "Records")

    def test_hidden_rebinding_is_undone_too(self) -> None:  # REC-A27
        for name in ("context", "doc", "llm_query", "FINAL", "contextMeta", "LLMError"):
            self.start([Text("log.ndjson", json.dumps(ROWS[0]) + "\n", {"format": "ndjson"})])
            result = self.run_block(f"globals()['{name}'] = 1")
            self.assertIn(f"`{name}` was put back", " ".join(result["notes"]), name)
            self.assertNotEqual(self.printed(f"print({name})"), "1\n")

    def test_a_loop_variable_of_an_earlier_block_is_no_excuse(self) -> None:
        self.run_block("for r in records:\n    pass")
        result = self.run_block("data = [{'a': 1}]\nfor r in data:\n    print(r)")
        self.assertEqual(result["status"], "not_run")

    def test_values_of_earlier_blocks_may_be_worked_on(self) -> None:
        self.run_block("found = [r['id'] for r in records][:2]")
        self.assertEqual(self.run_block("rows = [{'a': 1}]\nfor r in rows:\n    print(r, found)")
                         ["status"], "ok")


if __name__ == "__main__":
    unittest.main()
