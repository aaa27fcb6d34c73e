import unittest

from base import ROWS, WorkerTest
from fake_host import Text

CSV = "name,size\nanna,3\nbert,5\n"


class FilesTest(WorkerTest):
    texts = [("sales.csv", CSV, None, True), ("notes/log.txt", "eins\r\nzwei ä\n", None, True)]

    def test_the_context_is_opened_under_its_name(self) -> None:  # small-models 2
        cases = [("open('sales.csv').read()", CSV),
                 ("open('/data/sales.csv', encoding='latin-1').read()", CSV),
                 ("open('./sales.csv', 'rb').read()", CSV.encode()),
                 ("open('notes/log.txt').readlines()", ["eins\n", "zwei ä\n"]),
                 ("open('log.txt', newline='').read()", "eins\r\nzwei ä\n"),
                 ("__import__('io').open('sales.csv').readline()", "name,size\n"),
                 ("__import__('pathlib').Path('sales.csv').read_text()", CSV),
                 ("__import__('pathlib').Path('x/sales.csv').exists()", True),
                 ("list(csv.DictReader(open('sales.csv')))[1]['size']", "5"),
                 ("list(csv.reader(open('sales.csv')))[0]", ["name", "size"]),
                 ("os.path.exists('sales.csv'), os.path.exists('other.csv')", (True, False)),
                 ("os.path.getsize('sales.csv'), os.path.isfile('sales.csv')",
                  (len(CSV), True)),
                 ("os.listdir('.')", ["notes", "sales.csv"]),
                 ("sum(1 for _ in open('sales.csv'))", 3)]
        for expression, expected in cases:
            self.assertEqual(self.value(expression), expected, expression)
        self.assertEqual(self.printed("with open('sales.csv') as f:\n    f.readline()\n"
                                      "    print(f.read(4), f.seek(0), f.name)"),
                         "anna 0 sales.csv\n")

    def test_the_context_cannot_be_written(self) -> None:
        self.assertEqual(self.error("open('sales.csv', 'w')")["type"], "PermissionError")

    def test_a_small_model_opens_the_only_document_by_any_relative_name(self) -> None:  # small-models 2
        self.start([Text("sales.csv", CSV, None, True)], profile="small")
        result = self.run_block("print(open('data.json').readline())")
        self.assertEqual(result["status"], "ok")
        self.assertIn("There is no file 'data.json'; open gave 'sales.csv'", result["notes"][0])
        for code in ("open('/nowhere/x.json')", "open('nowhere/out.txt', 'w')"):
            self.assertIn(self.error(code)["type"], ("FileNotFoundError", "PermissionError"), code)

    def test_a_made_up_name_is_refused_elsewhere(self) -> None:  # SBX-57
        self.start([Text("sales.csv", CSV, None, True)], profile="large")
        self.assertEqual(self.error("open('data.json')")["type"], "FileNotFoundError")
        self.start([Text("a.txt", "a", None, True), Text("b.txt", "b", None, True)],
                   profile="small")
        self.assertEqual(self.error("open('data.json')")["type"], "FileNotFoundError")

    def test_looping_over_the_text_is_told(self) -> None:
        self.start([Text("a.txt", "ab", None, True)])
        self.assertIn("character by character",
                      self.run_block("for line in context:\n    print(line)")["notes"][0])


# REC-73: code, type, words of the hint.
SLIPS = [
    ("def f():\n    await llm_query('x')", "SyntaxError", "Leave out await"),
    ("import json\njson.loads(context)", "JSONDecodeError", "one JSON object a line"),
    ("import json\njson.loads('x')", "JSONDecodeError", "not one JSON text"),
    ("print((1)", "SyntaxError", "not closed"),
    ("s = 'abc", "SyntaxError", "not closed"),
    ("print 'x'", "SyntaxError", "parentheses"),
    ("if True:\nprint(1)", "IndentationError", "four spaces"),
    ("x = “a”", "SyntaxError", "ASCII quotes"),
    ("The answer is 5", "SyntaxError", "no prose"),
    ("return 5", "SyntaxError", "print(...)"),
    ("input()", "EOFError", "nobody can answer"),
    ("x = true", "NameError", "True"),
    ("df.head()", "NameError", "records"),
    ("numbers_total = 1\nprint(number_total)", "NameError", "numbers_total"),
    ("undefined_thing_q", "NameError", "Nothing of that name"),
    ("1 + records[4]['size']", "TypeError", "missing (None)"),
    ("int(records[4]['size'])", "TypeError", "missing (None)"),
    ("records[4]['size'][0]", "TypeError", "value is None"),
    ("'a' + 1", "TypeError", "f-string"),
    ("'a' > 1", "TypeError", "int(...)"),
    ("context['a']", "TypeError", "`records` holds the rows"),
    ("int('12 kB')", "ValueError", "no number"),
    ("max([])", "ValueError", "filter matched nothing"),
    ("[][0]", "IndexError", "fewer items"),
    ("1 / 0", "ZeroDivisionError", "Nothing was counted"),
    ("'a'.lowercase()", "AttributeError", ".lower"),
    ("{'alpha': 1}['x']", "KeyError", ""),
    ("d = {'alpha': 1}\nd['alpa']", "KeyError", "'alpha'"),
    ("import json\njson.dumps(records)", "TypeError", "list(records)"),
    ("import no_such_module\nno_such_module.get", "ModuleNotFoundError", "Nothing can be installed"),
    ("open('x.txt')", "FileNotFoundError", "open('log.ndjson')"),
    ("def f():\n    return f()\nf()", "RecursionError", "loop"),
    ("raise MemoryError", "MemoryError", "build no list of it: `records` holds the rows"),
]


class HintsTest(WorkerTest):
    def test_the_common_slips_have_hints(self) -> None:
        for code, kind, words in SLIPS:
            error = self.error(code)
            self.assertEqual(error["type"], kind, code)
            self.assertIn(words, error["message"], code)
            self.assertNotIn("\n", error["message"], code)
            self.assertLess(len(error["traceback"]), 3100, code)
            self.assertTrue(error["line"] > 0 and error["source"], code)

    def test_a_person_gets_pythons_own_words(self) -> None:
        self.start([], client=True)
        for code, words in (("1 / 0", "division by zero"), ("[][0]", "list index out of range")):
            self.assertEqual(self.error(code)["message"], words)

    def test_a_missing_key_names_those_of_what_was_indexed(self) -> None:  # FLT-32
        cases = [
            ("d = {'alpha': 1}\nd['zzz']", "Known keys: 'alpha'."),
            ("for r in [{'name': 1, 'size': 2}]:\n    r['siez']", "mean 'size'?"),
            ("d = {'a': [{'beta': 1}]}\nd['a'][0]['q']", "Known keys: 'beta'."),
            ("def f(d):\n    return d['q']\nf({'gamma': 1})", "Known keys: 'gamma'."),
            ("é = {'alpha': 1}; print('üü', é['q'])", "Known keys: 'alpha'."),
            ("d = {'alpha': 1}\nprint(len('x'),\n      d[\n  'q'])", "Known keys: 'alpha'."),
            ("d = {'alpha': 1}\nd.pop('q')", "Known keys: 'alpha'."),
            ("sum(r['q'] for r in [{'delta': 1}])", "Known keys: 'delta'."),
            ("{'alpha': 1}['q']", "The dict has no such key"),
            ("raise KeyError('q')", "The dict has no such key"),
        ]
        for code, words in cases:
            message = self.error(code)["message"]
            self.assertIn(words, message, code)
            for foreign in ("content", "ready", "status"):  # of `answer`, of the records
                self.assertNotIn(foreign, message, code)

    def test_any_exception_is_reported(self) -> None:
        for code in ("class E(Exception):\n    def __str__(self):\n        1 / 0\nraise E",
                     "raise BaseException('b')", "raise GeneratorExit",
                     "raise ExceptionGroup('g', [ValueError(1)])",
                     "import asyncio\nraise asyncio.CancelledError"):
            self.assertTrue(self.error(code)["type"], code)

    def test_garbage_never_breaks_the_session(self) -> None:
        import random
        rng = random.Random(11)
        pieces = ["records", "=", "(", ")", "[", "]", "\n", "    ", "for", "in", "x", ":", "'", '"',
                  "1", ".", "def", "lambda", "print", "{", "}", ",", "None", "<", "await", "\0",
                  "*", "#", "\\", "é", "match", "case", "class", "global"]
        for _ in range(1500):
            code = " ".join(rng.choice(pieces) for _ in range(rng.randint(1, 12)))
            result = self.run_block(code)
            self.assertIn(result["status"], ("ok", "error", "not_run"), code)
            self.runtime.check_code(code)
        self.assertEqual(self.value("len(records)"), len(ROWS))


if __name__ == "__main__":
    unittest.main()
