import json
import unittest

from base import WorkerTest
from fake_host import BridgeError, Text


class CallsTest(WorkerTest):
    def replies(self, function) -> None:
        self.host.reply = function

    def test_a_reply_is_a_string_with_its_state(self) -> None:  # REC-44
        self.replies(lambda prompt, context: prompt.upper())
        self.assertEqual(self.value("(lambda r: (str(r), r.ok, r.error, r.tokens, r + '!', "
                                    "r.text))(llm_query('hi'))"),
                         ("HI", True, None, 3, "HI!", "HI"))

    def test_the_prompt_is_sent_verbatim_with_context_apart(self) -> None:  # REC-42, REC-20
        cases = [("llm_query('p {x}')", "p {x}", ""),
                 ("llm_query(['a ', 'b'])", "a b", ""),
                 ("llm_query('p', context='c d')", "p", "c d"),
                 ("llm_query('p', 'a long text here')", "p", "a long text here"),
                 (f"llm_query('p', '{'x' * 65}')", "p", "x" * 65),
                 ("llm_query('p', ['l1', 'l2'])", "p", "l1\nl2"),
                 ("llm_query('p', {'a': 1})", "p", '{"a": 1}'),
                 ("rlm_query('p', doc)", "p", self.host.texts[0].text)]
        for code, prompt, context in cases:
            self.run_block(code)
            _, args, raw = self.host.calls[-1]
            self.assertEqual(self.host.resolve(args["parts"], raw), prompt, code)
            self.assertEqual(self.host.resolve(args["context"], raw), context, code)
        self.run_block("llm_query('p', 'small-1')")
        self.assertEqual(self.host.calls[-1][1]["model"], "small-1")

    def test_the_settings_of_a_request_are_sent(self) -> None:  # FLT-1, FLT-28
        self.run_block("llm_query('p', temperature=0, max_tokens=5, system='Be brief.')")
        _, args, _ = self.host.calls[-1]
        self.assertEqual((args["temperature"], args["max_tokens"], args["system"]),
                         (0, 5, "Be brief."))

    def test_images_are_named_with_each_prompt(self) -> None:  # REC-50
        for code, names in (("llm_query('p', media='plan')", ["plan"]), ("llm_query('p', media=('a', 'b'))", ["a", "b"]),
                            ("llm_query('p', media=None)", None), ("llm_query('p', media=[])", None)):
            self.run_block(code)
            self.assertEqual(self.host.calls[-1][1].get("media"), names, code)
        for code, names in (("llm_query_batched(['p', 'q'], media='a')", [["a"], ["a"]]),
                            ("llm_query_batched(['p', 'q'], media=['a', 'b'])", [["a", "b"], ["a", "b"]]),
                            ("llm_query_batched(['p', 'q'], media=[['a'], None])", [["a"], None])):
            self.run_block(code)
            self.assertEqual([one.get("media") for one in self.host.calls[-1][1]["prompts"]], names, code)
        before = len(self.host.calls)
        for code in ("llm_query('p', media=7)", "llm_query('p', media=[1])", "llm_query_batched(['p'], media=[['a', 1]])"):
            self.assertIn("a list of names", self.error(code)["message"], code)
        self.assertEqual(len(self.host.calls), before)

    def test_what_there_is_not_is_refused_by_name(self) -> None:  # FLT-28
        error = self.error("llm_query_batched(['p'], top_k=3)")
        self.assertIn("'top_k'", error["message"])
        self.assertEqual(self.host.calls, [])

    def test_none_and_a_list_of_prompts_are_refused_by_name(self) -> None:  # REC-43
        self.assertIn("the prompt is None", self.error("llm_query(None)")["message"])
        self.assertIn("prompt 1 is None", self.error("llm_query_batched(['a', None])")["message"])
        self.assertIn("use llm_query_batched(prompts)",
                      self.error("llm_query(['a', 'b'])")["message"])
        self.assertEqual(self.host.calls, [])

    def test_a_blank_prompt_raises_before_any_request(self) -> None:  # REC-43
        for code in ("llm_query('')", "llm_query(' \\n')", "rlm_query([])"):
            self.assertIn("blank", self.error(code)["message"], code)
        self.assertIn("prompt 1 is blank", self.error("llm_query_batched(['a', ' '])")["message"])
        self.assertNotIn("map", [method for method, _, _ in self.host.calls])
        self.start([Text("a.txt", "x\ny\n", None, True)])
        self.assertIn("the data has no records",
                      self.error("map_llm(labels=['x', 'y'], field='text')")["message"])

    def test_a_failure_raises_with_kind_and_retryable(self) -> None:  # REC-44
        def fail(prompt: str, context: str) -> str:
            raise BridgeError("limit", "no calls left", True)

        self.replies(fail)
        self.assertEqual(self.printed("try:\n    llm_query('x')\nexcept LLMError as e:\n"
                                      "    print(e.kind, e.retryable, e)"),
                         "limit True no calls left\n")

    def test_in_a_batch_only_the_slot_fails(self) -> None:  # REC-44, REC-45
        def some(prompt: str, context: str) -> str:
            if prompt == "b":
                raise BridgeError("failed", "broken")
            return prompt * 2

        self.replies(some)
        self.assertEqual(self.value("[(str(r), r.ok) for r in llm_query_batched(list('abc'))]"),
                         [("aa", True), ("[ERROR] broken", False), ("cc", True)])
        self.assertEqual(self.value("llm_query_batched([])"), [])
        error = self.error("llm_query_batched(list('abc'), on_error='raise')")
        self.assertIn("prompt 1: broken", error["message"])

    def test_one_context_for_all_or_one_for_each(self) -> None:
        self.replies(lambda prompt, context: f"{prompt}:{context}")
        self.assertEqual(self.value("[str(r) for r in llm_query_batched(['a', 'b'], context='c')]"),
                         ["a:c", "b:c"])
        self.assertEqual(
            self.value("[str(r) for r in llm_query_batched(['a', 'b'], context=['c', 'd'])]"),
            ["a:c", "b:d"])
        for call in ("llm_query_batched", "rlm_query_batched", "estimate"):
            error = self.error(f"{call}(['a', 'b'], context=['c', 'd', 'e'])")
            self.assertIn("a list of 3 for 2 prompts", error["message"], call)

    def test_a_schema_gives_the_value(self) -> None:  # REC-49
        self.replies(lambda prompt, context: '{"n": 3}')
        self.assertEqual(self.value("llm_query('p', schema={'type': 'object'})"), {"n": 3})

    def test_values_are_remembered_where_code_asks_for_it(self) -> None:  # REC-81
        self.replies(lambda prompt, context: '{"n": 3}')
        for given, sent in (("", None), (", remember=True", True)):
            self.run_block(f"map_llm(['a', 'b'], instruction='n?', schema={{'type': 'object'}}{given})")
            self.assertEqual(self.host.calls[-1][1].get("remember"), sent)

    def test_depth_zero_refuses(self) -> None:  # --max-depth 0
        self.start([Text("a.txt", "x", None, True)], depth=0)
        self.assertIn("depth 0", self.error("llm_query('x')")["message"])

    def test_replies_may_be_awaited(self) -> None:  # SBX-55
        self.assertEqual(self.printed("r = await llm_query('x')\nprint(r)\n"
                                      "print(len(await llm_query_batched(['a', 'b'])))"),
                         "reply\n2\n")
        self.assertEqual(self.printed(
            "import asyncio\nasync def main():\n"
            "    return await asyncio.gather(llm_query('a'), asyncio.to_thread(llm_query, 'b'))\n"
            "print(asyncio.run(main()))"), "['reply', 'reply']\n")

    def test_threads_may_call_at_the_same_time(self) -> None:  # REC-45, SBX-55
        self.assertEqual(self.printed(
            "from concurrent.futures import ThreadPoolExecutor\n"
            "with ThreadPoolExecutor(8) as pool:\n"
            "    print(len(list(pool.map(llm_query, ['q'] * 40))))"), "40\n")

    def test_map_llm_counts_in_code(self) -> None:  # REC-52 to 54 as seen by code
        self.assertEqual(
            self.printed("m = map_llm(records, ['open', 'done'], 'State?', field='status')\n"
                         "print(m)\nprint(m.counts, m.total, m.failed, m.labels[:2])"),
            "open         10\ndone         10\ntotal        20\n"
            "{'open': 10, 'done': 10} 20 [] ['done', 'open']\n")
        self.assertEqual(self.host.calls[-1][1]["items"],
                         {"records": {"ctx": 0, "from": 0, "to": 20, "field": "status"}})

    def test_a_label_that_was_not_asked_for_has_no_count(self) -> None:  # REC-52
        for read in ("counts['late']", "counts.get('late', 0)", "counts.get('late')"):
            error = self.error(f"map_llm(['open'], ['open', 'done']).{read}")
            self.assertIn("no item could get the label 'late': the call named only 'open', 'done'",
                          error["message"])
            self.assertNotIn("Known keys", json.dumps(error))
        self.assertEqual(self.value("map_llm(['open'], ['open', 'done']).counts.get('open')"), 1)
        self.assertNotIn("__name__", json.dumps(self.error("{'a': 1}['b']")))

    def test_map_llm_takes_all_kinds_of_items(self) -> None:  # REC-19
        cases = [("map_llm(labels=['open', 'done'])", 20, 0),
                 ("map_llm(records[2:6], ['open', 'done'])", 4, 0),
                 ("map_llm([r for r in records if r['id'] < 3], ['open', 'done'])", 3, 0),
                 ("map_llm([r for r in records if r['id'] < 3], {'open': 'still open'}, "
                  "field='status')", 3, 2),
                 ("map_llm(['open it', 'nothing', doc[0:60]], ['open', 'done'])", 3, 1),
                 ("map_llm('open\\ndone\\n', ['open', 'done'])", 2, 0),
                 ("map_llm(records[:3], ['u0', 'u1'], field='user.name')", 3, 1),
                 ("map_llm(['open'], 'Which state?', ['open', 'done'])", 1, 0)]
        for code, total, failed in cases:
            self.assertEqual(self.value(f"(lambda m: (m.total, len(m.failed)))({code})"),
                             (total, failed), code)
        self.assertIn("without a label: 1 (items 0)",
                      self.printed("print(map_llm(['zzz', 'open'], ['open']))"))
        self.assertIn("llm_query_batched", self.error("map_llm(['a'])")["message"])

    def test_a_field_that_no_item_has_is_refused_with_the_nearest_name(self) -> None:  # FLT-10
        for items in ("records", "records[2:4]", "[r for r in records]", "None"):
            message = self.error(f"map_llm({items}, ['open', 'done'], field='stauts')")["message"]
            self.assertIn("'stauts': no such field; did you mean 'status'?", message)
        message = self.error("map_llm([{'state': 'open'}], ['open'], field='stat')")["message"]
        self.assertIn("did you mean 'state'?", message)
        self.assertNotIn("map", [method for method, _, _ in self.host.calls])

    def test_an_item_without_text_fails_as_empty(self) -> None:  # FLT-10
        self.assertEqual(
            self.value("(lambda m: (m.labels, m.failed, m.errors))(map_llm([{'s': 'open'}, "
                       "{'s': None}, {'t': 1}, {'s': ' '}], ['open', 'done'], field='s'))"),
            (["open", None, None, None], [1, 2, 3], {1: "empty", 2: "empty", 3: "empty"}))
        self.assertEqual(self.host.calls[-1][1]["items"][1:3], [None, None])

    def test_counts_with_holes_say_so_wherever_they_are_read(self) -> None:  # FLT-11
        said = "map_llm: 2 of 3 items failed (unreadable 1, empty 1); .counts covers 1."
        code = "m = map_llm(['open', 'zzz', ''], ['open', 'done'])"
        self.assertEqual(self.run_block(code)["notes"], [said])
        self.assertEqual(self.run_block("print(len(m))")["notes"], [])
        for read in ("m.counts['open']", "m['open']"):
            self.assertEqual(self.run_block(f"print({read})")["notes"], [said], read)
        whole = self.run_block("m = map_llm(['open'], ['open', 'done']); m.counts")
        self.assertEqual(whole["notes"], [])

    def test_a_map_of_which_all_fails_is_an_error(self) -> None:  # FLT-11
        error = self.error("map_llm(['zzz', 'y'], ['open', 'done'])")
        self.assertIn("map_llm: 2 of 2 items failed (unreadable 2), so there is nothing to count",
                      error["message"])

    def test_map_llm_over_several_files_keeps_the_order(self) -> None:
        rows = [{"s": "open"}, {"s": "done"}]
        self.start([Text("a.ndjson", json.dumps(rows[0]) + "\n"),
                    Text("b.ndjson", json.dumps(rows[1]) + "\n" + json.dumps({"s": "?"}) + "\n")])
        self.assertEqual(self.value("(lambda m: (m.labels, m.failed))(map_llm(labels=['open', "
                                    "'done']))"), (["open", "done", None], [2]))

    def test_budget_and_tools_ask_the_host(self) -> None:
        self.assertEqual(self.value("budget()['calls_left']"), 9)

    def test_a_tool_of_the_user_is_a_function(self) -> None:  # REC-65
        self.start([Text("a.txt", "x", None, True)],
                   tools=[{"name": "lookup", "description": "Finds.",
                           "parameters": ["key", "limit"]}])
        self.host.do_tool = lambda args, raw: ({"value": {"got": args}}, b"")
        self.assertEqual(self.value("lookup('k', limit=2)"),
                         {"got": {"name": "lookup", "args": {"key": "k", "limit": 2}}})

    def test_a_tool_of_a_server_fails_with_an_error_of_its_own(self) -> None:  # SRV-36
        self.start([Text("a.txt", "x", None, True)], tools=[{"name": "shop_price", "parameters": []}])

        def fail(args, raw):
            raise BridgeError("failed", "ToolError: shop: price: out of stock")

        self.host.do_tool = fail
        self.assertEqual(self.printed("try:\n    shop_price()\nexcept ToolError as e:\n    print(e)"),
                         "shop: price: out of stock\n")

    def test_a_large_value_comes_beside_the_message(self) -> None:  # SRV-36
        self.start([Text("a.txt", "x", None, True)], tools=[{"name": "shop_all", "parameters": []}])
        self.host.do_tool = lambda args, raw: ({"json": {"blob": [0, 7]}}, '["aä"]'.encode())
        self.assertEqual(self.value("shop_all()"), ["aä"])

    def test_a_batch_that_is_interrupted_asks_only_the_rest_again(self) -> None:  # REC-79
        self.host.reply = lambda prompt, context: f"<{prompt}>"
        self.host.stop_batch_after = 3
        code = "r = llm_query_batched([f'p{i}' for i in range(5)])\nprint(r)"
        result = self.run_block(code)
        self.assertEqual(result["status"], "interrupted")
        self.assertIn("3 of its 5 replies are kept", result["notes"][0])
        self.host.stop_batch_after = None
        self.host.calls.clear()
        self.assertEqual(self.printed(code), "['<p0>', '<p1>', '<p2>', '<p3>', '<p4>']\n")
        self.assertEqual([len(args["prompts"]) for _, args, _ in self.host.calls], [2])
        self.printed(code)  # once: a batch that came whole is asked as a whole
        self.assertEqual([len(args["prompts"]) for _, args, _ in self.host.calls], [2, 5])

    def test_of_a_batch_whose_reply_is_too_large_what_came_is_kept(self) -> None:  # REC-79
        answer = self.host.do_llm_batch

        def too_large(args, raw):
            self.host.items = [(i, {"ok": True, "text": {"blob": [0, 2]}}, b"ok") for i in range(2)]
            raise BridgeError("too_large", "the reply has 300,000,000 bytes")

        self.host.do_llm_batch = too_large
        code = "print(llm_query_batched(['a', 'b', 'c']))"
        result = self.run_block(code)
        self.assertIn("the reply has 300,000,000 bytes", result["error"]["message"])
        self.assertIn("2 of its 3 replies are kept", result["notes"][0])
        self.host.do_llm_batch = answer
        self.host.calls.clear()
        self.assertEqual(self.printed(code), "['ok', 'ok', 'reply']\n")
        self.assertEqual([len(args["prompts"]) for _, args, _ in self.host.calls], [1])

    def test_a_schema_gives_a_value_that_is_in_doubt(self) -> None:  # REC-49
        self.host.do_llm = lambda args, raw: ({"text": "3", "is_value": True, "problem": "in doubt"}, b"")
        self.assertEqual(self.value("llm_query('p', schema={'type': 'integer'})"), 3)
        self.host.do_llm = lambda args, raw: ({"text": "3", "problem": "cut"}, b"")
        self.assertIn("cut", self.error("llm_query('p', schema={'type': 'integer'})")["message"])

    def test_a_map_that_is_interrupted_keeps_its_labels(self) -> None:  # REC-79
        code = "m = map_llm(['open it', 'done', 'open', 'done'], ['open', 'done'])\nprint(m.counts)"
        self.host.stop_batch_after = 3
        result = self.run_block(code)
        self.assertEqual(result["status"], "interrupted")
        self.assertIn("Labels found so far: open 2, done 1.", result["notes"][0])
        self.host.stop_batch_after = None
        self.host.calls.clear()
        self.assertEqual(self.printed(code), "{'open': 2, 'done': 2}\n")
        self.printed(code)  # once: what came whole is asked as a whole
        self.printed(code.replace("'open it'", "'open that'"))  # and for the same items only
        self.assertEqual([args.get("known") for _, args, _ in self.host.calls],
                         [[[0, 0], [1, 1], [2, 0]], None, None])

    def test_a_map_that_a_limit_stops_hands_back_what_it_has(self) -> None:  # REC-79
        self.host.map_limit = 1
        code = "m = map_llm(['open', 'done'], ['open', 'done'])\nprint(m.labels, m.failed)"
        result = self.run_block(code)
        self.assertEqual(result["status"], "ok")
        self.assertEqual(self.host.output, "['open', None] [1]\n")
        self.assertIn("the limit of calls is reached. Labels found so far: open 1.",
                      result["notes"][0])
        self.host.map_limit = None
        self.assertEqual(self.printed(code), "['open', 'done'] []\n")
        self.assertEqual(self.host.calls[-1][1]["known"], [[0, 0]])

    def test_a_kept_reply_is_used_for_the_same_prompt_only(self) -> None:  # REC-79
        self.host.stop_batch_after = 2
        self.run_block("llm_query_batched(['a', 'b', 'c'])")
        self.host.stop_batch_after = None
        self.host.calls.clear()
        self.printed("llm_query_batched(['x', 'b', 'a!'])")
        self.assertEqual([len(args["prompts"]) for _, args, _ in self.host.calls], [2])


if __name__ == "__main__":
    unittest.main()
