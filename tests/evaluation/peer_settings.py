#!/usr/bin/env python3
"""What each engine is given as "shipped" and as "matched" (EVL-62), with engines that only write it down; and the
plans that the stub plays for them (EVL-77)."""

import importlib.machinery
import pathlib
import re
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]


def load(path: str):
    return importlib.machinery.SourceFileLoader(pathlib.Path(path).stem, str(ROOT / path)).load_module()


peers, plans = load("data/eval_peers.py"), load("bench/plans/make")


class Engine:
    given: dict = {}

    def __init__(self, *words, **more):
        Engine.given = more

    def __call__(self, *words, **more):
        return types.SimpleNamespace(answer="a", response="a")

    complete = completion = __call__


def settings(name: str, matched: bool) -> dict:
    local = types.SimpleNamespace(LocalInterpreter=object)
    fake = types.SimpleNamespace(RLM=Engine, LM=lambda *words, **more: None, configure=lambda **more: None)
    modules = {"rlm": fake, "minrlm": fake, "dspy": fake, "dspy.primitives": local, "dspy.primitives.local_interpreter": local}
    with mock.patch.dict(sys.modules, modules):
        peers.ENGINES[name]("context", "question", "http://u/v1", "m", matched)
    return {key: value for key, value in Engine.given.items() if key.startswith("max_")}


class PeerSettings(unittest.TestCase):
    def test_shipped_is_what_the_engine_has(self):
        for name in set(peers.ENGINES) - {"droste"}:
            self.assertEqual(settings(name, False), {}, name)

    def test_matched_has_our_turns_and_depth_and_no_limit_of_its_own(self):
        loop = {"max_iterations": 30, "max_depth": 1, "max_concurrent_subcalls": 16}
        dspy = {"max_iters": 30, "max_llm_calls": peers.MANY}
        wanted = {"rlms": loop, "recursive-llm": loop, "dspy-deno": dspy, "dspy-local": dspy,
                  "minrlm": {"max_iterations": 30, "max_sub_llm_calls": peers.MANY}}
        self.assertEqual({name: settings(name, True) for name in wanted}, wanted)

    def test_a_command_gets_them_as_flags(self):
        done = types.SimpleNamespace(returncode=0, stdout="a")
        with mock.patch.object(peers.subprocess, "run", return_value=done) as run:
            peers.droste("context", "question", "u", "m", False, path="p")
            self.assertNotIn("--budget-tokens", run.call_args[0][0])
            peers.droste("context", "question", "u", "m", True, path="p")
        words = run.call_args[0][0]
        value = lambda flag: words[words.index(flag) + 1]
        self.assertEqual([value(flag) for flag in ("--max-iterations", "--budget-depth", "--rollout-config")],
                         ["30", "1", '{"concurrency": 16}'])
        self.assertGreater(int(value("--budget-tokens")), 1 << 30)
        self.assertGreater(int(value("--budget-subcalls")), 1 << 20)


class PeerPlans(unittest.TestCase):
    def test_each_engine_has_the_plan_that_the_script_makes(self):
        self.assertEqual(set(plans.DIALECTS), set(peers.ENGINES))
        with tempfile.TemporaryDirectory() as folder:
            with mock.patch.object(sys, "argv", ["make", folder]):
                plans.main()
            for made in pathlib.Path(folder).iterdir():
                self.assertEqual(made.read_text(), (ROOT / "bench/plans" / made.name).read_text(), made.name)

    def test_their_code_is_python_that_asks_and_answers(self):
        for name, dialect in plans.DIALECTS.items():
            code = plans.code(dialect).replace("{question}", '"Q"').replace("{labels}", '["a", "b"]')
            compile(code, name, "exec")
            self.assertIn(re.search(r"(llm_query_batched|sub_llm_batch|recursive_llm)\(", dialect.ask)[0], code)
            self.assertTrue(code.endswith(dialect.final))
            self.assertNotIn("map_llm", code)


if __name__ == "__main__":
    unittest.main()
