#!/usr/bin/env python3
"""The adapters of the Python package for dspy and rlms, and RLM on our engine.  (SRV-90 to 92, SRV-A21, SRV-A22)

usage: python_adapters_test.py --dossier PATH

Needs a Python that has dspy, rlms and pytest from PyPI: $DOSSIER_ADAPTERS_PYTHON, else that of .cache/peers, which
`scripts/setup --test` makes. rlms' own tests are those of its source package: $DOSSIER_RLMS_TESTS, or fetched by pip.
"""

import json
import os
import pathlib
import subprocess
import sys
import tarfile
import textwrap

import harness

ROOT = pathlib.Path(__file__).resolve().parents[3]
PEERS = ROOT / ".cache/peers/bin/python3"
PYTHON = os.environ.get("DOSSIER_ADAPTERS_PYTHON", str(PEERS) if PEERS.exists() else sys.executable)
OWN_TESTS = ["test_local_repl.py", "test_local_repl_persistent.py", "test_multi_turn_integration.py",
             "test_rlm_query.py"]
NEED_OUR_PROCESS: list[str] = []  # of rlms' tests: those that need code in the caller's process


class Adapters(harness.Case):
    def setUp(self):
        super().setUp()
        self.env |= {"PYTHONPATH": str(ROOT / "python"), "DOSSIER_BIN": harness.DOSSIER, "PYTHONDONTWRITEBYTECODE": "1"}

    def python(self, code: str, *words: str) -> str:
        done = subprocess.run([PYTHON, "-c", textwrap.dedent(code), *words], env=self.env, cwd=self.home,
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class Dspy(Adapters):
    def test_the_protocol_of_an_interpreter(self):  # SRV-90
        out = self.python("""
            import os
            from dspy.primitives.code_interpreter import CodeInterpreter, CodeInterpreterError, CodeExecutionError
            from dossier_context.dspy import DossierInterpreter
            i = DossierInterpreter(tools={"add": lambda a, b: a + b})
            print(isinstance(i, CodeInterpreter), bool(DossierInterpreter.execution_instructions))
            given = {"context": "hello", "answer": {"a": [1]}, "records": 3}
            print(i.execute("print(add(1, b=2)); context_was = context; context = 'mine'", given))
            print(i.execute("print(context, context_was, answer, records)", given))   # unchanged: not sent again
            print(i.execute("print(context)", {**given, "context": "new"}))
            print(i.execute("SUBMIT([1])"))
            i.output_fields = [{"name": "total", "type": "int"}, {"name": "names", "type": "list"}]
            i.tools = {"twice": lambda n: 2 * n}
            print(i.execute("SUBMIT(twice(3), ['a'])"), i.execute("y = 1"), i.execute("y + 1"))
            for code in ("def broken(", "print('a'); 1/0", "add(1, 2)", "twice()", "SUBMIT(1)", "open('/etc/passwd')"):
                try: print(i.execute(code))
                except (SyntaxError, CodeExecutionError) as error: print(type(error).__name__, str(error).splitlines()[0])
            for names in ({"SUBMIT": len}, {"no name": len}):
                try: DossierInterpreter(tools=names)
                except ValueError as error: print("ValueError")
            for code in ("import os; os._exit(3)", "print(1)"):
                try: print(i.execute(code))
                except CodeExecutionError: print("wrong")
                except CodeInterpreterError as error: print("dead" if "died" in str(error) else "ended")
            i.shutdown()
            """)
        self.assertEqual(out.splitlines()[:8], [
            "True True", "3", "mine hello {'a': [1]} 3", "new", "FinalOutput({'output': [1]})",
            "FinalOutput({'total': 6, 'names': ['a']}) None 2", "SyntaxError '(' was never closed",
            "CodeExecutionError a"])
        self.assertEqual(out.splitlines()[-4:], ["ValueError", "ValueError", "dead", "ended"])

    def test_a_program_with_the_shim_tools_and_typed_outputs(self):  # SRV-90, SRV-A21
        out = self.python("""
            import dspy
            from dspy.utils import DummyLM
            from dossier_context.dspy import DossierInterpreter
            def shout(text: str) -> str: return text.upper()
            code = ["p = dspy.Predict('word -> loud')\\nprint(p(word='x').loud, shout(text='a'))",
                    "SUBMIT(len(context), [shout(text='b')])"]
            replies = [{"reasoning": "r", "code": f"```python\\n{code[0]}\\n```"}, {"loud": "X!"},
                       {"reasoning": "r", "code": f"```python\\n{code[1]}\\n```"}]
            with dspy.context(lm=DummyLM(replies)):
                rlm = dspy.RLM("context, query -> total: int, names: list[str]", tools=[shout],
                               interpreter_factory=DossierInterpreter)
                p = rlm(context="é" * 2_000_000, query="?")
            print(p.total, p.names, p.trajectory[0]["output"])
            """)
        self.assertEqual(out, "2000000 ['B'] X! A\n")

    def test_200_mb_are_sent_once(self):  # SRV-A21
        out = self.python("""
            from dossier_context.dspy import DossierInterpreter
            from dossier_context import _values
            puts = []
            put = _values.Mail.put
            _values.Mail.put = lambda self, data: puts.append(len(data)) or put(self, data)
            text = "abcdefgh" * 25_000_000
            with DossierInterpreter() as i:
                print(i.execute("print(len(t), t[-3:])", {"t": text}), i.execute("print(t[:2])", {"t": text}), puts)
            """)
        self.assertEqual(out, "200000000 fgh ab [200000000]\n")


class Rlms(Adapters):
    def own_tests(self) -> pathlib.Path:
        if named := os.environ.get("DOSSIER_RLMS_TESTS"):
            return pathlib.Path(named)
        archive, = (PEERS.parents[1] / "source").glob("rlms-*")   # scripts/setup --test fetched it
        with tarfile.open(archive) as tar:
            tar.extraction_filter = getattr(tarfile, "data_filter", None)   # of Python 3.11.4 and later
            tar.extractall(self.home / "unpacked")
        found, = (self.home / "unpacked").glob("*/tests")
        return found

    def test_its_own_tests_pass_with_our_environment(self):  # SRV-91, SRV-A21
        tests = self.own_tests()
        folder = self.home / "tests"
        folder.mkdir()
        for name in OWN_TESTS:
            (folder / name).write_bytes((tests / name).read_bytes())
        (folder / "conftest.py").write_text(
            "from dossier_context import rlms\nimport rlm.environments.local_repl\nrlms.install(replace='local')\n"
            "rlm.environments.local_repl.LocalREPL = rlm.environments.LocalREPL = rlms.DossierREPL\n")
        words = [word for test in NEED_OUR_PROCESS for word in ("--deselect", test)]
        done = subprocess.run([PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words, *OWN_TESTS],
                              cwd=folder, env=self.env, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])
        self.assertIn("87 passed", done.stdout)

    def test_queries_leave_through_this_process_and_install_is_undone(self):  # SRV-91
        out = self.python("""
            import rlm.environments
            from rlm.core.types import RLMChatCompletion, UsageSummary
            from dossier_context import rlms
            before = rlm.environments.get_environment
            rlms.install()
            repl = rlm.environments.get_environment("dossier", {"context_payload": {"a": [1]}, "depth": 1,
                "subcall_fn": lambda prompt, model: RLMChatCompletion("m", prompt, prompt.upper(), UsageSummary({}), 0.1)})
            result = repl.execute_code("print(rlm_query('hi'), context['a']); import os; print(os.listdir('/')[:0])\\nx = {1, 2}")
            print(result.stdout, [call.response for call in result.rlm_calls], repl.locals["x"], end="\\n")
            print("network" if not repl.execute_code("import socket; socket.create_connection(('127.0.0.1', 9))").stderr
                  else "no network")
            repl.cleanup()
            try: rlm.environments.get_environment("nowhere", {})
            except ValueError: print("unknown")
            rlms.uninstall()
            print(rlm.environments.get_environment is before)
            """)
        self.assertEqual(out, "HI [1]\n[]\n ['HI'] {1, 2}\nno network\nunknown\nTrue\n")

    def test_compaction_entries_reach_the_code(self):  # SRV-91
        out = self.python("""
            from dossier_context.rlms import DossierREPL
            with DossierREPL(compaction=True) as repl:
                repl.append_compaction_entry([{"role": "user", "content": "a"}])
                print(repl.execute_code("print(len(history), history[0][0]['content'])").stdout, end="")
                repl.append_compaction_entry({"type": "summary", "content": "s"})
                print(repl.execute_code("print(len(history), history[1]['content'])").stdout, end="")
            """)
        self.assertEqual(out, "1 a\n2 s\n")


class DropIn(Adapters):
    REPLIES = [{"reply": "```repl\nprint(len(context))\n```", "turn": 1, "times": "always"},
               {"reply": "```repl\nFINAL(len(context))\n```", "turn": 2, "times": "always"}]

    def test_a_completion_as_theirs(self):  # SRV-92, SRV-A22
        out = self.python("""
            import inspect, rlm, warnings
            from dossier_context import RLM
            theirs, ours = (list(inspect.signature(kind.__init__).parameters) for kind in (rlm.RLM, RLM))
            print(theirs == ours, [*inspect.signature(rlm.RLM.completion).parameters])
            seen, log = [], []
            class Log:
                def log_metadata(self, metadata): log.append(metadata.to_dict())
                def log(self, turn): log.append(turn.to_dict())
            with RLM(backend="dossier", backend_kwargs={"model_name": sys.argv[1], "api_key": None}, logger=Log(),
                     max_iterations=5, on_iteration_start=lambda *a: seen.append(a),
                     on_iteration_complete=lambda d, n, s: seen.append((d, n))) as model:
                done = model.completion("abc" * 100, root_prompt="How long?")
            print(done.response, done.root_model == sys.argv[1], [*done.to_dict()], seen)
            print(done.usage_summary.total_input_tokens > 0, log[0]["max_iterations"], [t["iteration"] for t in log[1:]],
                  log[1]["code_blocks"][0]["result"]["stdout"].strip())
            """.replace("import inspect,", "import sys, inspect,"),
            "script:" + self.write("replies.json", json.dumps(self.REPLIES)))
        self.assertEqual(out, "True ['self', 'prompt', 'root_prompt']\n300 True ['root_model', 'prompt', 'response', "
                              "'usage_summary', 'execution_time', 'metadata'] [(0, 1), (0, 1), (0, 2), (0, 2)]\n"
                              "True 5 [1, 2] 300\n")

    def test_what_has_no_effect_says_so_once(self):  # SRV-92, SRV-A22
        out = self.python("""
            import warnings
            from dossier_context import RLM, rlm
            odd = dict(depth=1, max_depth=3, max_errors=4, custom_system_prompt="x", custom_sub_tools={},
                       compaction_threshold_pct=0.5, orchestrator=False, environment="docker",
                       environment_kwargs={"a": 1}, sub_sampling_args={"a": 1}, sampling_args={"top_k": 3})
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                RLM(backend_kwargs={"model_name": "m"}, **odd); first = len(told)
                RLM(backend_kwargs={"model_name": "m"}, **odd)
            text = " ".join(str(one.message) for one in told)
            print(first == len(told) == len(odd), [name for name in odd if name not in text])
            """)
        self.assertEqual(out, "True []\n")

    def test_persistent_turns_see_earlier_contexts(self):  # SRV-A22
        replies = [{"reply": "```repl\nprint(sorted(contexts), len(contexts['context_0.txt']))\n```", "turn": 1,
                    "times": "always"}, {"reply": "```repl\nFINAL(len(contexts))\n```", "turn": 2, "times": "always"}]
        first = [{"reply": "```repl\nprint(len(context))\n```", "turn": 1, "times": 1},
                 {"reply": "```repl\nFINAL(len(context))\n```", "turn": 2, "times": 1}]
        out = self.python("""
            import sys
            from dossier_context import RLM
            model = RLM(backend="dossier", backend_kwargs={"model_name": sys.argv[1]}, persistent=True)
            print(model.completion("first context").response)
            print(model.completion({"second": 2}, root_prompt="How many?").response)
            """, "script:" + self.write("replies.json", json.dumps([*first, *replies])))
        self.assertEqual(out, "13\n3\n")

    def test_a_list_of_texts_is_a_list_for_code(self):  # SRV-A22
        replies = [{"reply": "```repl\nprint(len(context), context[1])\n```", "turn": 1},
                   {"reply": "```repl\nFINAL(context[1])\n```", "turn": 2}]
        out = self.python("""
            import sys
            from dossier_context import RLM
            model = RLM(backend="dossier", backend_kwargs={"model_name": sys.argv[1]})
            print(model.completion(["first text", "second text"], root_prompt="Which is the second?").response)
            """, "script:" + self.write("replies.json", json.dumps(replies)))
        self.assertEqual(out, "second text\n")


if __name__ == "__main__":
    if subprocess.run([PYTHON, "-c", "import dspy, rlm, pytest"], capture_output=True).returncode != 0:
        sys.exit(f"{PYTHON} has no dspy, rlms and pytest; scripts/setup --test installs them")
    harness.main()
