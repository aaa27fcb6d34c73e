import json
import signal
import time
import unittest

from base import WorkerTest
from fake_host import Text


class BlocksTest(WorkerTest):
    def test_one_namespace_as_a_module(self) -> None:  # SBX-50
        self.assertEqual(self.printed(
            "import functools, pickle\n"
            "class A:\n    def me(self):\n        return A\n"
            "@functools.lru_cache\ndef fib(n):\n"
            "    return n if n < 2 else fib(n - 1) + fib(n - 2)\n"
            "def bump():\n    global k\n    k = k + 1\n"
            "k = 1\nbump()\n"
            "print(fib(20), A().me() is A, k, [k for _ in range(2)], __name__)\n"
            "print(type(pickle.loads(pickle.dumps(A()))) is A)\n"
            "if __name__ == '__main__':\n    print('main')"),
            "6765 True 2 [2, 2] __main__\nTrue\nmain\n")
        self.run_block("def later():\n    return value")
        self.assertEqual(self.printed("value = 3\nprint(later(), fib(5))"), "3 5\n")

    def test_names_before_an_exception_survive_and_del_deletes(self) -> None:  # SBX-51
        self.error("kept = 1\n1 / 0")
        self.assertEqual(self.value("kept"), 1)
        self.run_block("del kept")
        self.assertEqual(self.error("kept")["type"], "NameError")

    def test_errors_have_line_source_and_a_traceback_without_our_frames(self) -> None:  # SBX-52
        error = self.error("x = 1\ndef f():\n    return llm_query('')\n\nf()")
        self.assertEqual((error["line"], error["source"]), (3, "return llm_query('')"))
        self.assertNotIn("dossier_", error["traceback"])
        self.assertIn('File "<block 1>", line 5, in <module>', error["traceback"])
        self.run_block("def g():\n    return 1 / 0")
        error = self.error("\n\ng()")
        self.assertIn("(in code of block 2)", error["message"])
        error = self.error("try:\n    1 / 0\nexcept ZeroDivisionError as e:\n"
                           "    raise ValueError('outer') from e")
        self.assertIn("ZeroDivisionError", error["traceback"])

    def test_exit_ends_the_block_only(self) -> None:  # SBX-53
        for code in ("import sys\nsys.exit(3)", "exit()", "quit(1)", "raise SystemExit",
                     "raise KeyboardInterrupt"):
            result = self.run_block(code + "\nprint('not reached')")
            self.assertEqual((result["status"], self.host.output), ("ok", ""), code)
            self.assertIn("ended this block", result["notes"][0])
        self.assertEqual(self.printed("print('on')"), "on\n")

    def test_input_raises_at_once(self) -> None:  # SBX-54
        for code in ("input('name? ')", "import sys\nsys.stdin.read()", "breakpoint()",
                     "import sys\nfor line in sys.stdin:\n    pass"):
            self.assertEqual(self.error(code)["type"], "EOFError", code)

    def test_await_works_at_the_top(self) -> None:  # SBX-55
        self.assertEqual(self.printed(
            "import asyncio\nasync def f(x):\n    await asyncio.sleep(0)\n    return x\n"
            "a, b = await asyncio.gather(f(1), f(2))\nprint(a + b)"), "3\n")
        self.assertEqual(self.run_block("await f(9)")["last"], "Out: 9")
        self.assertEqual(self.printed("print([await f(i) for i in range(2)])"), "[0, 1]\n")

    def test_asyncio_run_works_beside_await(self) -> None:  # SBX-55
        self.assertEqual(self.printed(
            "import asyncio\nasync def f(x):\n    await asyncio.sleep(0)\n    return x\n"
            "print(await f(1), asyncio.run(f(2)), [await f(3)])"), "1 2 [3]\n")
        self.assertEqual(self.printed("print(asyncio.run(f(4)))"), "4\n")
        self.assertEqual(self.error("async def g():\n    return 1 // 0\nawait f(1)\nasyncio.run(g())")["type"],
                         "ZeroDivisionError")
        self.assertEqual(self.answer("async def h():\n    FINAL('in it')\nawait f(1)\nasyncio.run(h())")["text"],
                         "in it")

    def test_imports_of_the_library_work_others_say_so(self) -> None:  # SBX-56
        self.run_block("import statistics, decimal, zoneinfo")
        error = self.error("import polars as pl\npl.read_csv('a')")
        self.assertEqual(error["type"], "ModuleNotFoundError")
        self.assertIn("Nothing can be installed: `records` holds the rows", error["message"])
        result = self.run_block("import matplotlib.pyplot as plt\nprint(1)")
        self.assertEqual((result["status"], self.host.output), ("ok", "1\n"))
        self.assertIn("matplotlib.pyplot is not installed", result["notes"][0])

    def test_refused_files_hint_to_the_data(self) -> None:  # SBX-57
        error = self.error("open('missing.csv')")
        self.assertEqual(error["type"], "FileNotFoundError")
        self.assertIn("open('log.ndjson')", error["message"])
        error = self.error("raise PermissionError(1, 'Operation not permitted')")
        self.assertIn("use context, doc and llm_query", error["message"])

    def test_output_is_utf8_whatever_is_printed(self) -> None:  # SBX-58
        self.assertEqual(self.printed("print('\\ud800 é')"), "\\ud800 é\n")
        self.assertEqual(self.run_block("'\\ud800'")["last"], "Out: '\\ud800'")
        self.assertIn("ud800", self.error("raise ValueError('\\ud800')")["message"])

    def test_listing_variables_stays_bounded(self) -> None:  # SBX-59
        self.run_block("class OneLine:\n    def __repr__(self):\n        while True: pass\n"
                       "o = OneLine()")
        self.run_block("for i in range(5000):\n    globals()[f'v{i}'] = i\n"
                       "big = list(range(10**6))\ndeep = []\nfor _ in range(3000):\n"
                       "    deep = [deep]\nloop = []\nloop.append(loop)\n"
                       "class Raises:\n    def __repr__(self):\n        raise ValueError\n"
                       "class Endless:\n    def __repr__(self):\n        while True:\n"
                       "            pass\n"
                       "r, e, text = Raises(), Endless(), 'x' * 10**6\n"
                       "def f(a):\n    return a")
        start = time.monotonic()
        result = self.run_block("pass")
        self.assertLess(time.monotonic() - start, 10)
        self.assertEqual(len(result["vars"]), 100)
        listed = {item["name"]: item for item in result["vars"]}
        self.assertTrue(all(len(item["preview"]) <= 200 for item in result["vars"]))
        self.assertEqual((listed["big"]["size"], listed["big"]["type"]), (10**6, "list"))
        self.assertIn("raised ValueError", listed["r"]["preview"])
        self.assertIn("takes too long", listed["e"]["preview"])
        self.assertEqual(listed["f"]["preview"], "def f")

    def test_streams_are_put_back_and_warnings_are_no_errors(self) -> None:  # SBX-60
        self.assertEqual(self.run_block("import warnings, sys\nwarnings.warn('careful')\n"
                                        "print('e', file=sys.stderr)")["status"], "ok")
        self.assertIn("careful", self.host.errors)
        self.run_block("import io\nsys.stdout = io.StringIO()\nprint('lost')")
        self.assertEqual(self.printed("print('back')"), "back\n")
        self.run_block("sys.stdout.close()")
        self.assertEqual(self.printed("print('again')"), "again\n")

    def test_a_thread_of_an_earlier_block_prints_into_a_note(self) -> None:  # SBX-40
        ways = ["print('4242')", "print('4242', end='', flush=True)", "out.write('4242\\n')",
                "print('4242', file=sys.stderr)", "sys.stdout.buffer.write(b'4242\\n')",
                "sys.stdout.buffer.raw.write(b'4242\\n')", "sys.stdout.writelines(['4242\\n'])"]
        starts = ["t = threading.Thread(target=late)\nt.start()",
                  "import _thread\n_thread.start_new_thread(late, ())"]
        for way, start in [(way, start) for way in ways for start in starts]:
            self.run_block("import sys, threading\n"
                           "ready, go, done = (threading.Event() for _ in range(3))\n"
                           "out = sys.stdout\ndef late():\n    ready.set()\n    go.wait()\n"
                           f"    {way}\n    done.set()\n{start}\nready.wait()")
            result = self.run_block("print('mine', end=' ')\ngo.set()\ndone.wait()\nprint(1)")
            self.assertEqual((self.host.output, self.host.errors), ("mine 1\n", ""), (way, start))
            self.assertIn("a thread that an earlier block started: 4242", " ".join(result["notes"]))
        self.assertEqual(self.run_block("print(2)")["notes"], [])

    def test_what_an_earlier_thread_left_in_the_stream_is_late_too(self) -> None:  # SBX-40
        self.run_block("import threading\ngo = threading.Event()\n"
                       "def late():\n    go.wait()\n    print('42', end='')\n"
                       "t = threading.Thread(target=late)\nt.start()")
        self.runtime._current()._namespace["go"].set()
        self.runtime._current()._namespace["t"].join()
        result = self.run_block("print(1)")
        self.assertEqual(self.host.output, "1\n")
        self.assertIn("late output", result["notes"][0])

    def test_threads_of_the_block_itself_print(self) -> None:  # SBX-40
        code = ("import threading\nfor i in range(3):\n"
                "    t = threading.Thread(target=print, args=(i,))\n    t.start()\n    t.join()")
        # Threads that ended leave their numbers to those that are started next.
        self.run_block("import threading\nt = threading.Timer(0.01, int)\nt.start()")
        self.assertEqual(self.printed("t.join()\n" + code), "0\n1\n2\n")
        self.assertEqual(self.printed(code), "0\n1\n2\n")

    def test_patches_end_with_their_block(self) -> None:  # SBX-E9
        self.run_block("import builtins, sys\nbuiltins.len = lambda x: 0\nbuiltins.print = None\n"
                       "builtins.isinstance = None\n"
                       "sys.settrace(lambda *a: None)\n__builtins__['sum'] = None")
        self.assertEqual(self.printed("import sys\nprint(len([1]), sum([2]), sys.gettrace())"),
                         "1 2 None\n")

    def test_shows_the_last_expression_or_assignment(self) -> None:  # REC-18, small-models 4
        cases = [("1 + 1", "Out: 2"), ("'text'", "Out: 'text'"), ("'a\\nb'", "Out: 'a\\nb'"),
                 ("x = 5", "x: 5"), ("print(1)\nx = 5", ""), ("print(1)\n7", "Out: 7"),
                 ("a, b = 1, 'z'", "a: 1\nb: 'z'"), ("n = 1\nn += 2", "n: 3"), ("None", ""),
                 ("y = None", "y: None"), ("import collections\ncollections.Counter('aab')",
                                            "Out: Counter({'a': 2, 'b': 1})"),
                 ("(1,)", "Out: (1,)"), ("set()", "Out: set()"), ("{1: [2, {3}]}",
                                                                  "Out: {1: [2, {3}]}")]
        for code, last in cases:
            self.assertEqual(self.run_block(code)["last"], last, code)
        long = self.run_block("list(range(10**6))")["last"]
        self.assertLess(len(long), 2100)
        self.assertIn("(1,000,000 items)", long)

    def test_a_small_model_sees_a_short_text_without_quotes(self) -> None:  # REC-18
        self.start([], profile="small")
        for code, last in [("'text'", "Out: text"), ("x = 'text'", "x: text"),
                           ("'a\\nb'", "Out: 'a\\nb'"), ("['text']", "Out: ['text']")]:
            self.assertEqual(self.run_block(code)["last"], last, code)

    def test_a_tracer_left_behind_does_not_watch_us(self) -> None:  # SBX-E9
        raising = "import sys\ndef trace(*_):\n    raise ValueError('traced')\n"
        for setter in ("sys.settrace", "sys.setprofile"):
            result = self.run_block(f"{raising}x = 1\n{setter}(trace)\nx = 'kept'")
            self.assertIn(result["status"], ("ok", "error"), result)
            self.assertEqual(self.value("x"), "kept")
        result = self.run_block(raising + "sys.settrace(trace)\n'last'")
        self.assertEqual((result["status"], result["last"]), ("ok", "Out: 'last'"))

    def test_temporary_files_work_where_tmp_does(self) -> None:
        self.assertEqual(self.printed(
            "import tempfile\nprint(tempfile.gettempdir())\n"
            "with tempfile.NamedTemporaryFile('w+') as f:\n"
            "    f.write('kept')\n    f.seek(0)\n    print(f.read())"), "/tmp\nkept\n")
        self.assertIn("no folders can be made here",
                      self.error("import tempfile\ntempfile.TemporaryDirectory()")["message"])

    def test_says_that_nothing_was_printed(self) -> None:  # REC-18
        cases = [("for i in range(3):\n    total = i", "Set: i, total."),
                 ("def main():\n    print(1)", "main() was defined but not called"),
                 ("[].append(1)", "nothing was printed")]
        for code, note in cases:
            self.assertIn(note, self.run_block(code)["notes"][0], code)

    def test_an_empty_result_is_answered_with_what_exists_once(self) -> None:  # small-models 15
        code = "print(sum(1 for r in records if r['status'] == 'Open'))"
        self.assertEqual(self.run_block(code)["notes"],
                         ["No row has status == 'Open'. Its values: 'open' (10), 'done' (10)."])
        self.assertEqual(self.run_block(code)["notes"], [])
        self.assertIn("user.name == 'zz'", self.run_block(
            "[r for r in records if r['user']['name'] == 'zz']")["notes"][0])
        result = self.run_block("print(len([r for r in records if 90 < r['id']]))")
        self.assertEqual(result["notes"],
                         ["No row has id > 90. Its values go from 0 to 19."])
        self.assertIn("'q' in tag. Its values: None (17), 'x' (3).", self.run_block(
            "print(len([r for r in records if 'q' in r['tag']]))")["notes"][0])
        self.assertEqual(self.run_block("print(sum(1 for r in records if r['id'] == 5 and "
                                        "r['size'] > 20))")["notes"],
                         [])

    def test_show_vars_lists_own_names_only(self) -> None:  # REC-17 table
        self.run_block("import re\ncount, _hidden = 1, 2")
        self.assertEqual(self.printed("SHOW_VARS()"), "count: int\n")
        self.assertEqual(self.run_block("v = SHOW_VARS()")["vars"][0]["name"], "count")

    def test_context_meta_is_read_only(self) -> None:  # INS-120, INS-121
        self.start([Text("a.txt", "äb", {"fileName": "a.txt", "length": 2, "fields": ["x"],
                                         "fieldInfo": [{"path": ["x"]}]}, True)])
        self.assertEqual(self.value("(contextMeta['length'], contextMeta.fileName, "
                                    "contextMeta['fieldInfo'][0]['path'])"), (2, "a.txt", ("x",)))
        self.assertEqual(self.error("contextMeta['length'] = 3")["type"], "TypeError")
        self.assertEqual(self.error("contextMeta.length = 3")["type"], "TypeError")

    def test_forgotten_imports_of_common_modules_work(self) -> None:  # small-models 2
        self.assertEqual(self.printed("print(json.dumps(re.findall('a', 'aa')), Counter('a'))"),
                         "[\"a\", \"a\"] Counter({'a': 1})\n")

    def test_the_seed_is_the_runs(self) -> None:  # SBX-48
        first = self.value("__import__('random').random()")
        self.start([Text("a.txt", "x", None, True)])
        self.assertEqual(self.value("__import__('random').random()"), first)

    def test_an_interrupt_ends_the_block_and_keeps_names(self) -> None:  # SBX-42, SBX-43
        for body in ("while True:\n    pass",
                     "while True:\n    try:\n        time.sleep(5)\n"
                     "    except Exception:\n        pass"):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
            result = self.run_block("import time\nbefore = 1\nprint('so far')\n" + body)
            self.assertEqual(result["status"], "interrupted")
            self.assertEqual(self.host.output, "so far\n")
            self.assertGreaterEqual(result["error"]["line"], 4)
            self.assertEqual(self.value("before"), 1)

    def test_check_compiles_only(self) -> None:  # REC-14, messages check/checked
        check = self.runtime.check_code
        cases = [("x = 1", True, False, True), ("hello", True, False, False),
                 ("print((1)", False, True, False), ("for x in y:", False, True, False),
                 ("s = '''abc", False, True, False), ("a b", False, False, False),
                 ("Yes", True, False, False), ("await f()", True, False, True),
                 ("\0", False, False, False), ("(" * 500 + ")" * 500, False, False, False)]
        for code, ok, incomplete, effect in cases:
            result = check(code)
            self.assertEqual((result["ok"], result["incomplete"], result["has_effect"]),
                             (ok, incomplete, effect), code[:20])
        self.assertEqual(check("import a.b as c\nd, (e, *f) = 1, g")["assigns"],
                         ["c", "d", "e", "f"])

    def test_check_tells_an_expression_over_known_names(self) -> None:  # REC-29
        self.run_block("import json\nn, rows = 3, [1, 2]")
        computing = ["(f'{n} jobs')", "(f'{unknown} jobs')", "(str(n))", "(len(rows))", "('a' + str(n))",
                     "({'failed': n})", "(json.dumps({'n': n}))", "([r for r in rows if r])",
                     "('\\n'.join(['a', 'b']))", "(rows[0])", "(n / 2)", "(len(records))"]
        prose = ["('a')", "(3)", "(n)", "(red, blue)", "(2026-11-21)", "('a' 'b')", "(f'plain')",
                 "(note.txt)", "(f(a, (b)) and c)", "([1, 2])", "(a b)", "(yes or no)", "(n, red)"]
        for code in computing + prose:
            self.assertEqual(self.runtime.check_code(code)["computes"], code in computing, code)

    def test_get_variable_gives_text_or_the_nearest(self) -> None:  # messages get/value
        self.run_block("total, word = 3, 'äöü'")
        get = self.runtime.get_variable
        self.assertEqual(get("total", 10), {"found": True, "text": "3", "nearest": []})
        self.assertEqual(get("word", 3)["text"], "ä")
        self.assertEqual(get("totl", 10), {"found": False, "text": "", "nearest": ["total"]})
        self.assertEqual(json.loads(get("context", 1 << 20)["text"].splitlines()[0])["id"], 0)


if __name__ == "__main__":
    unittest.main()
