#!/usr/bin/env python3
"""The Python package `dossier_context`, as programs use it.  (SRV-81 to SRV-84, SRV-A20)

usage: python_test.py --dossier PATH
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import unittest
import venv

import harness

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "python"))
SUM = ["```repl\nprint(sum(r['n'] for r in records))\n```", "FINAL: 6"]
RECORDS = [{"n": 1, "who": "a"}, {"n": 2, "who": "b"}, {"n": 3, "who": "a"}]


class Python(harness.Case):
    """Code runs in a Python of its own, whose child is its own."""

    def setUp(self):
        super().setUp()
        self.env |= {"PYTHONPATH": str(ROOT / "python"), "DOSSIER_BIN": harness.DOSSIER, "PYTHONDONTWRITEBYTECODE": "1"}

    def model(self, replies, name="replies.json") -> str:
        rules = [{"reply": one, "turn": at + 1, "times": "always"} for at, one in enumerate(replies)]
        return "script:" + self.write(name, json.dumps(rules))

    def python(self, code: str, *words: str, exit: int = 0, program: str = sys.executable) -> str:
        head = ("import dossier_context as dossier, sys, json, os, asyncio, threading, signal, time\n"
                f"RECORDS = {RECORDS!r}\n")
        done = subprocess.run([program, "-c", head + textwrap.dedent(code), *words], env=self.env, cwd=self.home,
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, exit, done.stderr)
        return done.stdout


class Answers(Python):
    def test_an_answer_is_frozen_and_typed(self):  # SRV-82
        out = self.python("""
            a = dossier.ask("The sum?", "n.ndjson", model=sys.argv[1], mode="recursive", max_usd=0.5)
            assert isinstance(a, dossier.Answer) and isinstance(a.usage, dossier.Usage)
            print(a.text, a.value, a.status, a.usage.calls, a.cost_usd, a.citations, a.run != "", str(a) == a.text)
            try: a.text = "x"
            except AttributeError as error: print(type(error).__name__)
            """, self.model(SUM)) if self.write("n.ndjson", "".join(json.dumps(r) + "\n" for r in RECORDS)) else ""
        self.assertEqual(out, "6 None final 2 0 () True True\nFrozenInstanceError\n")

    def test_a_context_says_what_it_is(self):  # SRV-82
        self.write("a.txt", "one\ntwo\nthree\n")
        out = self.python("""
            ctx = dossier.Context.from_records(RECORDS)
            print(ctx.records, [(f.name, f.types) for f in ctx.fields], [t.name for t in ctx.tables], "Records: 3" in ctx.hint, ctx.format)
            text = dossier.Context.open("a.txt")
            print(text.id == dossier.Context.open("a.txt").id, text.records, text.search("tw.", regex=True)[0].at)
            passage = text.read("a.txt:2-3", max_chars=4)
            print(repr(passage), passage.at, passage.cut, passage.next)
            big = dossier.Context.from_text("é" * 700_000 + "\\nend")
            print(big.characters, big.read("2"))
            """)
        self.assertEqual(out, "3 [('n', ('integer',)), ('who', ('string',))] ['records'] True ndjson\nTrue None a.txt:2\n"
                              "'two\\n' a.txt:2 True a.txt:3\n700004 end\n")

    def test_tables_are_those_of_sql_and_an_error_is_in_words_of_python(self):  # SRV-82
        self.write("server.ndjson", '{"n": 1}\n{"n": 2}\n')
        self.write("orders.csv", "id,of\n1,tea\n2,rice\n3,tea\n")
        out = self.python("""
            ctx = dossier.Context.open("server.ndjson", "orders.csv")
            print([(t.name, t.json["rows"], [c["name"] for c in t.json["columns"]]) for t in ctx.tables])
            print(ctx.fields[0].name, dossier.Context.from_records([{"a": 2**70}, {"a": 1}]).read("1").strip())
            with dossier.Session(ctx) as s:
                print(s.run("print(sql('SELECT count(*) AS n FROM orders')[0]['n'], end='')"))
                print(repr(s.run("1 / 0").error.message))
            """)
        self.assertEqual(out, "[('orders.csv', 3, ['id', 'of']), ('server.ndjson', 2, ['n'])]\n"
                              f"id {{\"a\": {2**70}}}\n3\n'division by zero'\n")

    def test_an_estimate_sends_nothing(self):  # SRV-82
        server = self.serve(lambda handler, body: harness.reply(handler, body, "x"))
        folder = self.home / "config/dossier"
        folder.mkdir(parents=True)
        (folder / "dossier.yml").write_text(f"model: some-model\napi_base: {server.url}\n")
        os.chmod(folder / "dossier.yml", 0o600)
        out = self.python("""
            e = dossier.Context.from_text("short").estimate("What?")
            print(e.mode, e.calls.min >= 1, e.tokens.max >= e.tokens.min > 0)
            """)
        self.assertEqual(out, "direct True True\n")
        self.assertEqual(server.requests, [])

    def test_what_a_tool_raises_has_its_class_in_the_code(self):  # SRV-82
        code = ("```repl\nfor word in ('key', 'value', 'own', 'far'):\n    try:\n        fail(word)\n"
                "    except Exception as error:\n        print(type(error).__name__, isinstance(error, RuntimeError), "
                "error)\ntry:\n    fail('key')\nexcept KeyError as error:\n    FINAL(error.args[0])\n```")
        out = self.python("""
            class OwnError(Exception): pass
            def fail(word: str):
                raise {"key": KeyError("k"), "value": ValueError("no number"), "own": OwnError("mine"),
                       "far": UnicodeDecodeError("utf-8", b"x", 0, 1, "odd")}[word]
            ctx = dossier.Context.from_records(RECORDS)
            events = list(ctx.stream("?", model=sys.argv[1], mode="recursive", tools={"fail": fail}))
            print(events[-1].answer.text)
            print(*[e.data["output"]["text"] for e in events if getattr(e, "type", "") == "block.done"], end="")
            """, self.model([code]))
        self.assertEqual(out, "k\nKeyError False 'k'\nValueError False no number\nOwnError True mine\n"
                              "RuntimeError True UnicodeDecodeError: "
                              "'utf-8' codec can't decode byte 0x78 in position 0: odd\n")

    def test_a_script_begins_with_each_question(self):  # SRV-82
        out = self.python("""
            ctx = dossier.Context.open("a.txt")
            for _ in range(2): print(ctx.ask("?", model=sys.argv[1], mode="direct").text)
            """, "script:" + self.write("once.json", json.dumps(["first", "second"]))) if self.write("a.txt", "alpha\n") else ""
        self.assertEqual(out, "first\nfirst\n")

    def test_a_stream_ends_with_the_answer(self):  # SRV-82
        out = self.python("""
            ctx = dossier.Context.from_records(RECORDS)
            def shown(event): return type(event).__name__
            events = list(dossier.stream("The sum?", ctx, model=sys.argv[1], mode="recursive"))
            print(shown(events[0]), shown(events[-1]), events[-1].answer.text, {*map(shown, events)} >= {"Text"})
            async def main():
                return [event async for event in ctx.stream("The sum?", model=sys.argv[1], mode="recursive")]
            again = asyncio.run(main())
            print(shown(again[-1]), [e.type for e in again if shown(e) == "Event"]
                  == [e.type for e in events if shown(e) == "Event"])
            """, self.model(SUM))
        self.assertEqual(out, "Event Finished 6 True\nFinished True\n")

    def test_a_value_has_the_type_of_the_schema(self):  # SRV-83
        replies = ["```repl\nprint(records[0])\nSUBMIT(total=sum(r['n'] for r in records), kinds=['a', 'b'])\n```"]
        out = self.python("""
            from dataclasses import dataclass
            from typing import List, Optional, TypedDict
            @dataclass
            class Invoice:
                total: float
                kinds: List[str]
                note: Optional[str] = None
            class Row(TypedDict):
                total: int
                kinds: List[str]
            ctx = dossier.Context.from_records(RECORDS)
            for schema in (Invoice, Row, {"type": "object", "properties": {"total": {}, "kinds": {}}}):
                print(repr(ctx.ask("?", model=sys.argv[1], mode="recursive", schema=schema).value))
            class Odd: pass
            try: ctx.ask("?", schema=Odd)
            except dossier.UsageError as error: print(error)
            """, self.model(replies * 3))
        self.assertEqual(out, "Invoice(total=6.0, kinds=['a', 'b'], note=None)\n{'total': 6, 'kinds': ['a', 'b']}\n"
                              "{'total': 6, 'kinds': ['a', 'b']}\nschema: <class '__main__.Odd'> is no JSON Schema, "
                              "dataclass, TypedDict or pydantic model\n")

    def test_each_failure_has_its_class(self):  # SRV-83
        out = self.python("""
            def say(*words, **options):
                try: dossier.ask(*words, **options)
                except dossier.DossierError as error:
                    print(type(error).__name__, error.code, error.exit, bool(error.hint), error.partial is not None)
            say("?", "nowhere.txt")
            say("?", model="no-such-model")
            say("", model=sys.argv[1])
            ctx = dossier.Context.from_records(RECORDS)
            say("?", ctx, model=sys.argv[1], mode="recursive", schema=int, repairs=0, max_turns=2)
            say("?", ctx, model=sys.argv[1], max_calls=0)
            from dossier_context import _errors
            print({kind.exit for kind in _errors._BY_EXIT.values()} >= {*range(2, 13)})
            """, self.model(["```repl\nprint(records[0])\n```", *["FINAL: many"] * 5]))
        self.assertEqual(out, "NotFoundError not_found 4 False False\nConfigError config 3 True False\n"
                              "UsageError invalid_argument 2 False False\nSchemaError schema 11 False True\n"
                              "UsageError invalid_argument 2 False False\nTrue\n")


class Tools(Python):
    def test_functions_sync_and_async_are_checked_by_their_signature(self):  # SRV-82, SRV-83
        out = self.python("""
            calls = []
            def price(item: str, times: int = 1) -> dict:
                "What an item costs."
                calls.append((item, times)); return {"usd": 3 * times}
            async def late(n: int): 
                await asyncio.sleep(0); return n + 1
            with dossier.Session(dossier.Context.from_records(RECORDS), tools={"price": price, "late": late}) as s:
                print(s.run("print(price('A1'), price(times=2, item='B'), late(1), len(records))"), end="")
                for wrong in ("price(3)", "price()", "price('a', colour=1)", "late('x')"):
                    print(s.run(wrong).error)
                print(s.run("x = {'a': [1]}").error, s.get("x"), s.run("1/0").status, s.run("1 + 1"))
            print(calls)
            try: dossier.Session(tools={"not a name": price, "ok": 3})
            except dossier.UsageError as error: print(error)
            """)
        self.assertEqual(out, "{'usd': 3} {'usd': 6} 2 3\nTypeError: price: item: 3 is no str\n"
                              "TypeError: missing a required argument: 'item'\n"
                              "TypeError: got an unexpected keyword argument 'colour'\n"
                              "TypeError: late: n: 'x' is no int\nNone {'a': [1]} error Out: 2\n"
                              "[('A1', 1), ('B', 2)]\ntools: a tool has a name that Python can call, and is callable: "
                              "'not a name', 'ok'\n")

    def test_a_question_has_tools_too(self):  # SRV-83
        replies = ["```repl\nprint(double(n=records[2]['n']))\n```", "FINAL: 6"]
        out = self.python("""
            seen = []
            async def double(n: int): seen.append(threading.current_thread().name); return 2 * n
            ctx = dossier.Context.from_records(RECORDS)
            async def main(): return await ctx.aask("?", model=sys.argv[1], mode="recursive", tools={"double": double})
            print(asyncio.run(main()).text, seen)
            """, self.model(replies))
        self.assertEqual(out, "6 ['MainThread']\n")


class Images(Python):
    def test_code_shows_images_of_a_question(self):  # SRV-82, REC-50
        self.take_images()
        self.write("plan.png", harness.PNG)
        self.write("words.txt", "no image")
        rules = [{"purpose": "subcall", "reply": "a dot", "times": "always"},
                 {"purpose": "root", "turn": 1, "times": "always",
                  "reply": "```repl\nprint(llm_query('Which?', media=['plan', 'other']))\n```"},
                 {"purpose": "root", "turn": 2, "reply": "FINAL: a dot", "times": "always"}]
        out = self.python("""
            import pathlib
            ask = lambda **media: dossier.ask("What is drawn?", model=sys.argv[1], mode="recursive", media=media)
            other = pathlib.Path("plan.png").read_bytes()[:-1] + b"x"
            print(ask(plan=pathlib.Path("plan.png"), other=other).text)
            for wrong in ({"plan": "words.txt"}, {"plan": "none.png"}, {"plan": 7}, {"7": other}, {"plan": other[:20]}):
                try: ask(**wrong)
                except dossier.DossierError as error: print(type(error).__name__, str(error).split(chr(10))[0])
            try: dossier.ask("?", model=sys.argv[1], mode="direct", media={"plan": "plan.png"})
            except dossier.UsageError as error: print(error)
            """, "script:" + self.write("rules.json", json.dumps(rules)))
        lines = out.splitlines()
        self.assertEqual(lines[0], "a dot")
        for line, words in zip(lines[1:], ("words.txt is no image (PNG, JPEG, GIF, WebP)", "none.png", "media['plan'] is a int",
                                           "begins with a letter", "its width and height cannot be read",
                                           "mode direct runs none"), strict=True):
            self.assertIn(words, line)


class Exact(Python):
    """What cannot be carried as it is, is refused by name; nothing changes on its way, and nobody waits for ever."""

    HEAD = """
        def said(do, *words, **named):
            try: print("gave", repr(do(*words, **named)))
            except (dossier.DossierError, TypeError) as error: print(type(error).__name__, str(error).split("; ")[0])
        """

    def said(self, code: str, *words: str) -> list[str]:
        return self.python(self.HEAD + code, *words).splitlines()

    def test_text_that_is_not_utf8_is_refused_at_once(self):  # SRV-82
        out = self.said("""
        said(dossier.Context.from_text, "a\\ud800b")
        said(dossier.Context.from_text, "a\\ud800b" * 600_000)
        said(dossier.ask, "q\\ud800", model=sys.argv[1])
        said(dossier.ask, "q", model=sys.argv[1], schema={"title": "\\ud800"})
        deep = {}
        for _ in range(70): deep = {"not": deep}
        said(dossier.ask, "q", model=sys.argv[1], schema=deep)
        with dossier.Session() as s: said(s.run, "x = '\\ud800'"); print(s.run("1 + 1"))
        """, self.model(SUM))
        wrong = "is not UTF-8: character {} is the lone surrogate '\\ud800'"
        self.assertEqual(out[:4] + out[5:], [
            "UsageError text " + wrong.format(1), "UsageError text " + wrong.format(1),
            "UsageError question " + wrong.format(1), "UsageError schema['title'] " + wrong.format(0),
            "UsageError code " + wrong.format(5), "Out: 2"])
        self.assertRegex(out[4], r"^UsageError schema\['not'\].*more than 50 levels")

    def test_a_line_that_the_command_refuses_ends_the_wait_for_it(self):  # SRV-82
        out = self.said("""
        from dossier_context import _process
        child = _process.child()
        request = child.begin("ask", {"question": "?", "model": sys.argv[1], "mode": "direct"})
        child._in.write(b"no message\\n")
        said(request.future.result, 60)
        print(dossier.Context.from_text("abc").bytes)
        """, "script:" + self.write("slow.json", json.dumps(Processes.SLOW)))
        self.assertRegex(out[0], "^DossierError |^NetworkError ")
        self.assertEqual(out[1:], ["3"])

    def test_a_tools_value_comes_whole_or_is_an_error(self):  # SRV-82
        out = self.said("""
        given = {"most": 2**63 - 1, "big": 2**70, "inf": float("inf"), "keys": {1: 2}, "deep": [{"a": [float("nan")]}],
                 "cut": "\\ud800"}
        with dossier.Session(tools={name: (lambda value=value: value) for name, value in given.items()}) as s:
            for name in given: print(s.run(f"print({name}())").error or s.run(f"print({name}())"))
        """)
        self.assertEqual([line.split("; ")[0].replace("UsageError: what ", "") for line in out if line], [
            "9223372036854775807",
            "big gave: an int of 71 bits, and at most 64 with the sign are carried exactly",
            "inf gave: the float inf, which JSON does not have",
            "keys gave: the key 1 is of type int, and JSON has text keys only",
            "deep gave[0]['a'][0]: the float nan, which JSON does not have",
            "cut gave is not UTF-8: character 0 is the lone surrogate '\\ud800'"])

    def test_a_name_gives_its_value_or_says_that_it_cannot(self):  # SRV-82
        out = self.said("""
        with dossier.Session() as s:
            for code in ("'2'", "(1, 2)", "None", "2**70", "float('nan')", "{1: 2}", "{1, 2}", "chr(0xd800)", "['a' + chr(0xdfff)]"):
                s.run("v = " + code)
                try: print(repr(s.get("v")))
                except dossier.ValueUnavailable as error:
                    assert isinstance(error, dossier.UsageError) and error.exit == 2
                    print(str(error).split(",")[0], error.partial)
        said(dossier.Context.from_records, [{"a": 1}, {2: 1}])
        said(dossier.Context.from_records, [{"a": float("nan")}])
        said(dossier.ask, "?", seed=2**70)
        """)
        self.assertEqual(out, [
            "'2'", "[1, 2]", "None", f"v is of type int {2**70}", "v is of type float nan", "v is of type dict {1: 2}",
            "v is of type set {1, 2}", "v is of type str \\ud800", "v is of type list ['a\\\\udfff']",
            "UsageError records[1]: the key 2 is of type int, and JSON has text keys only",
            "UsageError records[0]['a']: the float nan, which JSON does not have",
            "UsageError seed: an int of 71 bits, and at most 64 with the sign are carried exactly"])

    def test_names_that_code_finds_already_are_no_tools(self):  # SRV-82
        out = self.said("""
        tools = {"llm_query": len, "print": len, "records": len, "fine": len}
        said(dossier.Session, tools=tools)
        said(dossier.ask, "?", model=sys.argv[1], tools=tools)
        """, self.model(SUM))
        for line in out:
            self.assertTrue(line.startswith("ConfigError tools: \"llm_query\" is the name of something"), line)

    def test_an_option_that_is_none_is_named_with_the_nearest(self):  # SRV-82
        out = self.said("""
        ctx = dossier.Context.from_text("short")
        said(dossier.ask, "?", maxusd=1)
        said(ctx.stream, "?", modle="x")
        said(asyncio.run, ctx.aask("?", max_second=1))
        """)
        self.assertEqual(out, ["TypeError ask() has no option 'maxusd'", "TypeError stream() has no option 'modle'",
                               "TypeError aask() has no option 'max_second'"])
        self.assertIn("near: max_usd", self.python("""
            try: dossier.ask("?", maxusd=1)
            except TypeError as error: print(error)
            """))

    def test_an_estimate_is_for_the_model_and_mode_that_are_named(self):  # SRV-82
        out = self.said("""
        ctx = dossier.Context.from_text("short")
        e = ctx.estimate("What?", model=sys.argv[1], mode="recursive")
        print(e.mode, e.model, e.calls.min >= 2)
        said(ctx.estimate, "What?", model="no-such-model")
        """, self.model(SUM))
        self.assertEqual(out[0], "recursive scripted True")
        self.assertRegex(out[1], "^ConfigError .*no-such-model")

    def test_a_run_that_a_limit_ends_says_which(self):  # SRV-83
        out = self.said("""
        ctx = dossier.Context.from_records(RECORDS)
        def ended(**limits):
            try: print("gave", ctx.ask("?", **limits))
            except dossier.DossierError as error:
                print(type(error).__name__, error.code, error.exit, error.hint != "", error.partial.run in str(error),
                      str(error).split("; ")[1].split(" of ")[0], repr(error.partial.text))
        ended(model=sys.argv[1], mode="recursive", max_turns=1)
        ended(model=sys.argv[1], mode="recursive", max_calls=1)
        ended(model=sys.argv[2], mode="direct", max_seconds=0.5)
        """, self.model(["```repl\nprint(records[0])\n```"] * 5), "script:" + self.write("slow.json", json.dumps(Processes.SLOW)))
        self.assertEqual(out, ["LimitError limit 10 True True limits: iterations 1 ''",
                               "LimitError limit 10 True True limits: calls 1 ''",
                               out[2]])
        self.assertRegex(out[2], r"^DeadlineError timeout 7 True True limits: time [0-9.]+ ''$")

    def test_a_limit_is_told_also_where_the_answer_is_in_doubt(self):  # SRV-83
        out = self.said("""
        ctx = dossier.Context.from_text("a row of some length\\n" * 100)
        try: print("gave", ctx.ask("How many rows are there?", model=sys.argv[1], mode="recursive", max_turns=1))
        except dossier.LimitError as error: print(error.partial.status, error.partial.text)
        """, "script:" + self.write("doubt.json", json.dumps(
            [{"purpose": "root", "reply": "```repl\nprint(context.count('row'))\n```", "times": "always"},
             {"purpose": "extract", "reply": "FINAL(4711)"}])))
        self.assertEqual(out, ["partial 4711"])

    def test_one_record_is_a_context_of_records(self):  # SRV-82
        out = self.said("""
        ctx = dossier.Context.from_records([{"n": 1}])
        print(ctx.records, [one.name for one in ctx.fields], len(ctx.tables))
        """)
        self.assertEqual(out, ["1 ['n'] 1"])


class Processes(Python):
    SLOW = [{"reply": "slow", "delay": "60s", "times": "always"}]

    def slow(self) -> str:
        return "script:" + self.write("slow.json", json.dumps(self.SLOW))

    def test_import_starts_nothing_and_costs_little(self):  # SRV-84, section 7
        out = self.python("""
            from dossier_context import _process
            print(_process._child, "asyncio" in sys.modules and "x")
            """.replace(' and "x"', " or True"))
        self.assertEqual(out, "None True\n")
        code = ("import sys; before = set(sys.modules); import dossier_context; "
                "print(len(set(sys.modules) - before))")
        loaded = subprocess.run([sys.executable, "-c", code], env=self.env, capture_output=True, text=True)
        self.assertLessEqual(int(loaded.stdout), 4, "what an import loads beside itself")

    def test_threads_share_one_child(self):  # SRV-84, SRV-A20
        out = self.python("""
            from dossier_context import _process
            pids, texts = set(), []
            def work():
                texts.append(dossier.ask("?", dossier.Context.from_records(RECORDS), model=sys.argv[1],
                                         mode="recursive").text)
                pids.add(_process.child().pid)
            threads = [threading.Thread(target=work) for _ in range(12)]
            [t.start() for t in threads]; [t.join() for t in threads]
            print(len(pids), {*texts})
            """, self.model(SUM))
        self.assertEqual(out, "1 {'6'}\n")

    def test_a_forked_process_forgets_the_child_and_has_its_own(self):  # SRV-84, SRV-A20
        out = self.python("""
            from dossier_context import _process
            ctx = dossier.Context.from_records(RECORDS); first = _process.child().pid
            read, write = os.pipe()
            if os.fork() == 0:
                assert _process._child is None
                os.write(write, json.dumps([dossier.Context.from_text("x").bytes, _process.child().pid]).encode())
                _process.child().close(); os._exit(0)
            os.wait()
            other = json.loads(os.read(read, 100))
            print(other[0], other[1] != first, _process.child().pid == first, ctx.read("1").strip())
            """)
        self.assertEqual(out, '1 True True {"n": 1, "who": "a"}\n')

    def test_a_forked_process_forgets_the_child_of_a_key_too(self):  # SRV-84, SRV-A20
        out = self.python("""
            from dossier_context import _process
            own = _process.Child(_process.find_command(), {"SOME_KEY": "k"})
            if os.fork() == 0:
                os._exit(0 if not own.alive else 3)
            print(os.waitstatus_to_exitcode(os.wait()[1]), own.alive, own.call("open", {"text": "x"})["bytes"])
            own.close()
            """)
        self.assertEqual(out, "0 True 1\n")

    def test_a_stream_closed_while_it_opens_asks_nothing(self):  # SRV-84
        out = self.python("""
            import asyncio
            from dossier_context import _api
            asked, opening, go_on = [], threading.Event(), threading.Event()
            class Slow:
                def __init__(self, *values, **options): opening.set(); go_on.wait(20)
                def begin(self, *values): asked.append("begin")
            _api._Asked = Slow
            async def main():
                events = dossier.stream("?", model=sys.argv[1])
                first = asyncio.ensure_future(events.__anext__())
                await asyncio.get_running_loop().run_in_executor(None, opening.wait)
                first.cancel()
                await asyncio.wait([first]); await events.aclose()
                go_on.set()
            asyncio.run(main())  # waits for its threads
            print(asked)
            """, self.model(SUM))
        self.assertEqual(out, "[]\n")

    def test_it_ends_with_its_parent_though_a_fork_lives(self):  # SRV-84
        parent = self.start("-c", "import dossier_context as d, os, time\nd.Context.from_text('x')\n"
                            "from dossier_context import _process\n"
                            "if os.fork() == 0: time.sleep(60)\nprint(_process.child().pid, flush=True)\ntime.sleep(60)",
                            command=sys.executable)
        child = int(parent.stdout.readline())
        fork = [pid for pid in self.children_of(parent.pid) if pid != child
                and b"dossier_context" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()]
        parent.send_signal(signal.SIGKILL)
        self.assert_gone([child])
        for pid in fork:
            os.kill(pid, signal.SIGKILL)

    def test_ctrl_c_and_a_cancelled_task_end_that_call_alone(self):  # SRV-84
        out = self.python("""
            from dossier_context import _process
            ctx = dossier.Context.from_records(RECORDS)
            child = _process.child().pid
            started = threading.Event()
            def interrupt():
                while not _process.child()._open: time.sleep(0.01)
                os.kill(os.getpid(), signal.SIGINT)
            threading.Thread(target=interrupt).start()
            try: ctx.ask("?", model=sys.argv[1], mode="direct")
            except KeyboardInterrupt: print("interrupted")
            async def main():
                slow = asyncio.ensure_future(ctx.aask("?", model=sys.argv[1], mode="direct"))
                other = asyncio.ensure_future(ctx.aask("?", model=sys.argv[2], mode="recursive"))
                while not any(r.on_event is None for r in _process.child()._open.values()): await asyncio.sleep(0.01)
                slow.cancel()
                try: await slow
                except asyncio.CancelledError: print("cancelled")
                print((await other).text)
                asyncio.ensure_future(ctx.aask("?", model=sys.argv[1], mode="direct"))   # left behind with the loop
                await asyncio.sleep(0.1)
            asyncio.run(main())
            stream = ctx.stream("?", model=sys.argv[1], mode="direct")
            print(type(next(stream)).__name__); stream.close()
            while _process.child()._open: time.sleep(0.01)
            print(_process.child().pid == child, ctx.ask("?", model=sys.argv[2], mode="recursive").text)
            """, self.slow(), self.model(SUM))
        self.assertEqual(out, "interrupted\ncancelled\n6\nEvent\nTrue 6\n")

    def test_a_command_that_dies_is_told_of_and_replaced(self):
        out = self.python("""
            from dossier_context import _process
            s = dossier.Session()
            os.kill(_process.child().pid, signal.SIGKILL)
            try: s.run("1")
            except dossier.DossierError as error: print(error.code)
            print(dossier.Context.from_text("abc").bytes)
            """)
        self.assertEqual(out, "died\n3\n")


class Commands(Python):
    """Which command it takes."""

    def fake(self, name: str, text: str) -> str:
        path = self.write(name, text)
        os.chmod(path, 0o755)
        return path

    def test_a_command_of_another_version_is_refused_with_both(self):  # SRV-81
        self.env["DOSSIER_BIN"] = self.fake("old", "#!/bin/sh\necho '{\"rpc\":1,\"version\":\"9.9.9\",\"methods\":[]}'\ncat\n")
        out = self.python("""
            try: dossier.Context.from_text("x")
            except dossier.ConfigError as error: print("9.9.9" in str(error), dossier.__version__ in str(error))
            """)
        self.assertEqual(out, "True True\n")

    def test_a_command_that_is_missing_or_none_is_named(self):  # SRV-81, SRV-A20
        for path, word in (("/nowhere/dossier", "DOSSIER_BIN is /nowhere/dossier"),
                           (self.fake("none", "#!/bin/sh\necho hello\n"), "is no dossier command that has rpc")):
            self.env["DOSSIER_BIN"] = path
            out = self.python("try: dossier.ask('?')\nexcept dossier.ConfigError as error: print(error)")
            self.assertIn(word, out)
        del self.env["DOSSIER_BIN"]
        self.env["PATH"] = str(self.home)
        out = self.python("try: dossier.ask('?')\nexcept dossier.ConfigError as error: print(error)")
        self.assertIn("there is no command dossier", out)

    def test_the_wheel_without_the_command_finds_it(self):  # SRV-81, SRV-A20
        build = pathlib.Path(harness.DOSSIER).parents[1]
        subprocess.run([sys.executable, ROOT / "scripts/package", "--build", build, "--out", self.home / "dist", "pure"],
                       check=True, capture_output=True)
        wheel, = (self.home / "dist").iterdir()
        self.assertRegex(wheel.name, r"^dossier_context-[\d.]+-py3-none-any\.whl$")
        venv.create(self.home / "fresh", with_pip=True)
        python = str(self.home / "fresh/bin/python")
        del self.env["PYTHONPATH"]
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", str(wheel)], check=True, env=self.env)
        out = self.python("""
            import dossier_context, pathlib
            print(pathlib.Path(dossier_context.__file__).parent.joinpath("py.typed").exists())
            print(dossier.ask("?", dossier.Context.from_records(RECORDS), model=sys.argv[1], mode="recursive").text)
            """, self.model(SUM), program=python)
        self.assertEqual(out, "True\n6\n")
        said = subprocess.run([self.home / "fresh/bin/dossier", "--version"], env=self.env, capture_output=True, text=True)
        self.assertIn("0.1.0", said.stdout, said.stderr)
        missing = {**self.env, "DOSSIER_BIN": "/nowhere", }
        said = subprocess.run([self.home / "fresh/bin/dossier"], env=missing, capture_output=True, text=True)
        self.assertEqual((said.returncode, "DOSSIER_BIN" in said.stderr), (3, True))


class Syntax(unittest.TestCase):
    def test_the_package_is_python_3_9(self):  # SRV-81
        import ast
        for path in (ROOT / "python/dossier_context").glob("*.py"):
            tree = ast.parse(path.read_text("utf-8"), feature_version=(3, 9))
            future = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
            self.assertTrue(future, f"{path}: annotations of newer Pythons are evaluated")


if __name__ == "__main__":
    harness.main()
