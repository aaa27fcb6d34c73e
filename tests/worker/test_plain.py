from typing import Any

from base import WorkerTest
from fake_host import BridgeError, Text


class PlainTest(WorkerTest):
    texts: list[tuple[str, str]] = []
    features = {"plain": True}

    def start(self, texts: Any, **features: Any) -> None:
        super().start(texts, **features)
        self.host.do_tool = lambda args, raw: (
            ({"blob": [0, 2]}, b"ok") if args["name"] == "say" else ({"value": args}, b""))
        self.variables = {"report": b"x" * 70 + "é".encode(), "rows": b"[1, {\"a\": 2}]"}
        self.host.do_variable = lambda args, raw: (
            {"size": len(self.variables[args["name"]])},
            self.variables[args["name"]][args["at"]:args["at"] + 32])

    def test_no_name_is_reserved_and_code_runs_as_it_stands(self) -> None:  # SRV-90
        self.printed("context = [{'a': 1}]\nrecords = 5\nanswer = 'draft'\nhistory = SUBMIT = 3\nllm_query = len")
        self.assertEqual(self.printed("print(context, records, answer, history, llm_query('ab'))"),
                         "[{'a': 1}] 5 draft 3 2\n")
        self.assertEqual(self.run_block("answer = {'content': 'x', 'ready': True}")["status"], "ok")
        self.assertEqual(self.error("import nowhere_at_all")["type"], "ModuleNotFoundError")
        self.assertEqual(self.error("print(nothing)")["message"], "name 'nothing' is not defined")

    def test_a_last_expression_is_shown_without_a_mark(self) -> None:
        self.assertEqual(self.run_block("1 + 1")["last"], "2")
        self.assertEqual(self.run_block("'a b'")["last"], "a b")
        self.assertEqual(self.run_block("x = 4")["last"], "")

    def test_a_tool_is_a_call_to_the_program(self) -> None:  # SRV-90
        self.run_block("f = _dossier_tool('f', ['a', 'b']); say = _dossier_tool('say', [])")
        self.assertEqual(self.value("f(1, b=[2])"), {"name": "f", "args": {"a": 1, "b": [2]}, "rest": []})
        self.assertEqual(self.value("f(1, 2, 3)")["rest"], [3])
        self.assertEqual(self.value("say()"), "ok")
        self.assertIn("multiple values", self.error("f(1, a=2)")["message"])
        self.assertIn("JSON values only", self.error("f(len)")["message"])

    def test_what_a_tool_raises_has_its_class(self) -> None:  # SRV-82
        def fail(args: Any, raw: bytes) -> Any:
            raise BridgeError("failed", args["args"]["said"])
        self.host.do_tool = fail
        self.run_block("f = _dossier_tool('f', ['said'])")
        for said, kind, message in (
                ("KeyError: 'k'", "KeyError", "'k'"), ("KeyError: no B", "KeyError", "'no B'"),
                ("ValueError: a: b", "ValueError", "a: b"), ("OwnError: mine", "OwnError", "mine"),
                ("UnicodeDecodeError: odd", "RuntimeError", "UnicodeDecodeError: odd"),
                ("SystemExit: 3", "RuntimeError", "SystemExit: 3"), ("rate: it failed", "RuntimeError", "rate: it failed"),
                ("the tool rate failed (exit code 1): x", "RuntimeError", "the tool rate failed (exit code 1): x")):
            error = self.error(f"f({said!r})")
            self.assertEqual((error["type"], error["message"]), (kind, message), said)

    def test_values_are_fetched_in_parts(self) -> None:  # SRV-90
        self.assertEqual(self.value("_dossier_fetch('report')"), "x" * 70 + "é")
        self.assertEqual(self.value("_dossier_fetch('rows', 'json')"), [1, {"a": 2}])

    def test_values_lie_in_shared_memory(self) -> None:  # SRV-90
        self.start([Text("mail", "abcde[1]")], plain=True)
        self.assertEqual(self.value("_dossier_mail(1, 3), _dossier_mail(5, 3, 'json')"), ("bcd", [1]))
        self.assertEqual(self.error("context")["type"], "NameError")

    def test_submit_checks_the_fields(self) -> None:  # SRV-90
        self.run_block("SUBMIT = _dossier_submit(['n', 'names']); ONE = _dossier_submit(None)")
        self.assertEqual(self.answer("SUBMIT(3, ['a'])")["value"], {"n": 3, "names": ["a"]})
        self.assertEqual(self.answer("SUBMIT(names=[], n=None)")["value"], {"n": None, "names": []})
        self.assertEqual(self.answer("ONE({1, 2})")["value"], {"output": "{1, 2}"})
        for wrong in ("SUBMIT(1)", "SUBMIT(1, names=2)", "SUBMIT(1, 2, 3)", "ONE(1, 2)"):
            self.assertEqual(self.error(wrong)["type"], "TypeError", wrong)
