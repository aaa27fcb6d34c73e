import json
import random
import unittest

from base import ROWS, WorkerTest, ndjson
from fake_host import Text


class RecordsTest(WorkerTest):
    def test_rows_are_a_lazy_typed_sequence(self) -> None:  # REC-17 table, small-models 1
        self.assertEqual(self.value("len(records)"), 20)
        self.assertEqual(self.value("records[3]"), ROWS[3])
        self.assertEqual(self.value("records[-1]['id']"), 19)
        self.assertEqual(self.value("[r['id'] for r in records[5:9:2]]"), [5, 7])
        self.assertEqual(self.value("list(records)"), ROWS)

    def test_a_slice_in_a_prompt_is_its_rows(self) -> None:
        self.start([Text("log.ndjson", ndjson(ROWS * 3))])
        self.run_block("part = records[0:40]\nrows = list(part)")
        for expression in ("f'{part}' == f'{rows}'", "str(part) == str(rows)", "'%s' % part == str(rows)",
                           "f'{records}' == str(list(records))", "repr(part) != repr(rows)",
                           "len(str(records)) < 200"):
            self.assertTrue(self.value(expression), expression)

    def test_nothing_is_asked_before_a_block_names_records(self) -> None:
        self.run_block("x = 1")
        self.assertEqual(self.host.calls, [])

    def test_fields_are_reached_by_key_path_attribute_and_get(self) -> None:  # small-models 1
        for expression in ("records[2]['user']['name']", "records[2]['user.name']",
                           "records[2].user.name", "records[2].get('user.name')"):
            self.assertEqual(self.value(expression), "u2", expression)
        self.assertTrue(self.value("'user.name' in records[0]"))
        self.assertEqual(self.value("records[0].get('user.age', 7)"), 7)

    def test_a_field_of_other_rows_is_none(self) -> None:  # small-models 15
        self.assertIsNone(self.value("records[10]['tag']"))
        self.assertEqual(self.value("sum(1 for r in records if r['tag'] is not None)"), 3)

    def test_a_field_of_no_row_names_the_nearest(self) -> None:  # small-models 15, REC-73
        error = self.error("for r in records:\n    r['sise']")
        self.assertEqual(error["type"], "KeyError")
        self.assertIn("'sise': no such field; did you mean 'size'? fields: id, status, size",
                      error["message"])
        self.assertEqual((error["line"], error["source"]), (2, "r['sise']"))
        self.assertIn("use r['name']", self.error("records[0][0]")["message"])
        self.assertIn("user.name", self.error("records[0]['username']")["message"])

    def test_comparisons_with_none_are_false_and_counted(self) -> None:  # small-models 15
        result = self.run_block("print([r['id'] for r in records if r['size'] > 50])")
        self.assertEqual(self.host.output, "[17, 18, 19]\n")
        self.assertIn("Comparisons with a missing value (None) counted as false: 1.",
                      result["notes"])
        self.assertEqual(self.value("sum(1 for r in records if 0 <= r['size'] < 10)"), 4)
        self.assertEqual(self.value("sum(1 for r in records if 'x' in r['tag'])"), 3)
        self.assertEqual(self.value("sum(1 for r in records if 'x' not in r['tag'])"), 17)
        self.assertEqual(self.value("[(lambda n: 1 < n < len(records))(n) for n in (1, 2, 99)]"),
                         [False, True, False])

    def test_a_mask_is_no_position(self) -> None:  # small-models 15
        error = self.error("records[records['size'] == 57]['id']")   # a list is never 57
        self.assertIn("[r for r in records if ...]", error["message"])

    def test_a_text_field_times_a_number_field_is_an_error(self) -> None:  # small-models 15
        error = self.error("print(sum(r['size'] * r['tag'] > 3 for r in records))")
        self.assertEqual(error["type"], "TypeError")
        self.assertIn("a field that holds text ('x') is multiplied", error["message"])
        self.assertIn("Another field has the number", error["message"])
        self.assertEqual(self.value("records[1]['id'] * records[2]['id'] > 1"), True)
        self.assertEqual(self.value("'-' * records[2]['id']"), "--")

    def test_max_min_sum_sorted_leave_none_out(self) -> None:  # small-models 15
        cases = [("max(records, key=lambda r: r['size'])['id']", 19),
                 ("min(records, key=lambda r: r['size'])['id']", 0),
                 ("max(r['size'] for r in records)", 57),
                 ("sum(r['size'] for r in records)", sum(r["size"] or 0 for r in ROWS)),
                 ("sum([1, None, 2])", 3),
                 ("max([None, None])", None),
                 ("max(records, key=lambda r: int(r['size']))['id']", 19),
                 ("[r['id'] for r in sorted(records, key=lambda r: -r['size'])][0]", 19),
                 ("min(records, key=lambda r: r['tag'].lower())['id']", 0),
                 ("max(3, 5)", 5), ("max([], default=4)", 4), ("min('b', 'a')", "a"),
                 ("max([(1, 'a'), (None, 'b')])", (1, "a")),
                 ("sorted([3, None, 1])", [1, 3, None]),
                 ("sorted([3, None, 1], reverse=True)", [3, 1, None])]
        for expression, expected in cases:
            self.assertEqual(self.value(expression), expected, expression)
        result = self.run_block("print(sorted(records, key=lambda r: r['size'])[-1]['id'])")
        self.assertEqual(self.host.output, "4\n")
        self.assertIn("stand last: 1", result["notes"][0])
        self.assertEqual(self.error("max([1, 'a'])")["type"], "TypeError")

    def test_ordering_equals_pythons_own_on_numbers(self) -> None:
        rng = random.Random(3)
        for _ in range(50):
            numbers = [rng.randint(-9, 9) for _ in range(rng.randint(1, 8))]
            got = self.value(f"(max(iter({numbers})), min(iter({numbers})), sum(iter({numbers})), "
                             f"sorted({numbers}, key=abs))")
            self.assertEqual(got, (max(numbers), min(numbers), sum(numbers),
                                   sorted(numbers, key=abs)))

    def test_several_files_follow_each_other(self) -> None:
        self.start([Text("b.ndjson", ndjson(ROWS[5:])), Text("a.ndjson", ndjson(ROWS[:5])),
                    Text("c.txt", "no rows here\n")])
        named = [{**row, "_file": "a.ndjson" if row["id"] < 5 else "b.ndjson"} for row in ROWS]
        self.assertEqual(self.value("list(records)"), named)  # FLT-21
        self.assertEqual(self.value("[records[4]['id'], records[5]['id']]"), [4, 5])
        self.assertEqual(self.value("records[5]['_file'], 'tag' in records.fields"),
                         ("b.ndjson", True))

    def test_slices_cross_by_offset(self) -> None:  # REC-19
        self.run_block("llm_query('q', context=records[1:3])")
        method, args, raw = self.host.calls[-1]
        self.assertEqual(self.host.resolve(args["context"], raw),
                         "\n".join(json.dumps(row) for row in ROWS[1:3]))
        self.assertEqual([list(part) for part in args["context"]], [["ctx", "at", "len"]])

    def test_rows_that_do_not_lie_side_by_side_cross_as_json(self) -> None:
        self.run_block("llm_query('q', context=[r for r in records if r['id'] in (1, 5)])\n"
                       "llm_query('q', context=records[0:4:2])")
        texts = [self.host.resolve(args["context"], raw) for _, args, raw in self.host.calls
                 if "context" in args]
        self.assertIn('"id": 5', texts[0])
        self.assertIn('"id": 2', texts[1])

    def test_a_folder_of_texts_is_one_row_a_document(self) -> None:
        self.start([Text("b.txt", "two\nlines\n"), Text("a.txt", "été")])
        self.assertEqual(self.value("[(r['name'], r['chars'], r['lines']) for r in records]"),
                         [("a.txt", 3, 1), ("b.txt", 10, 2)])
        self.assertEqual(self.value("records[1]['text']"), "two\nlines\n")
        self.run_block("llm_query('q', records[1])")
        self.assertEqual(self.host.calls[-1][1]["context"], [{"ctx": 0, "at": 0, "len": 10}])

    def test_one_text_without_rows_has_no_records(self) -> None:
        self.start([Text("a.txt", "prose\n")])
        for use in ("len(records)", "records[0]", "[r for r in records]", "records.skipped",
                    "bool(records)", "1 in records"):
            error = self.error(use)
            self.assertEqual(error["type"], "ValueError", use)
            self.assertIn("a.txt has no records: it is Plain text; use context", error["message"])
        self.run_block("records = context.split()")
        self.assertEqual(self.value("records"), ["prose"])

    def test_list_methods_it_lacks_name_the_way(self) -> None:  # REC-73
        self.assertIn("sorted(records", self.error("records.sort()")["message"])
        self.assertIn("Counter", self.error("records.groupby('status')")["message"])

    def test_large_contexts_are_read_in_batches_and_forgotten(self) -> None:
        rows = [{"n": i, "pad": "x" * 4000} for i in range(5000)]  # 20 MB
        self.start([Text("big.ndjson", ndjson(rows))])
        self.assertEqual(self.value("sum(r['n'] for r in records)"), sum(range(5000)))
        store = self.runtime._session._world.records()._store
        self.assertLessEqual(store._cache.bytes, 33 << 20)
        self.assertEqual(self.value("[records[i]['n'] for i in (4999, 0, 2500, 63, 64)]"),
                         [4999, 0, 2500, 63, 64])
        self.assertEqual(self.value("[r['n'] for r in records[2495:2505]]"),
                         list(range(2495, 2505)))

    def test_rows_of_any_json_type(self) -> None:  # FLT-19
        self.start([Text("m.ndjson", 'null\n5\n{"a": 1}\n[1, 2]\n"x"\ntrue\n')])
        self.assertEqual(self.value("len(records)"), 6)
        self.assertEqual(self.value("[r.get('value') for r in records]"),
                         [None, 5, None, [1, 2], "x", True])
        self.assertEqual(self.value("[r['a'] for r in records]"), [None, None, 1, None, None, None])
        self.assertEqual(self.value("sorted(records.fields)"), ["a", "value"])

    def test_values_that_python_reads_only_with_patience(self) -> None:  # FLT-20
        deep = "[" * 1010 + "]" * 1010
        self.start([Text("h.ndjson", f'{{"n": 1}}\n{{"n": {10 ** 30}}}\n')])
        self.assertEqual(self.value("records[1]['n']"), 10 ** 30)
        records = self.runtime._session._world.records()
        from dossier_rows import Row, parse_rows
        self.assertEqual(len(parse_rows(f'[{{"n": {deep}}}]'.encode(), Row)), 1)
        self.assertEqual(parse_rows(b'[{"n": ' + b"7" * 5000 + b"}]", Row)[0]["n"], "7" * 5000)
        self.assertEqual(len(records), 2)

    def test_rows_that_could_not_be_read_are_counted_and_told_once(self) -> None:  # FLT-20
        skipped = {"count": 2, "reasons": "line 3: not a number; line 7: unexpected end"}
        self.start([Text("h.ndjson", '{"n": 1}\n{"n": 2}\n', skipped=skipped)])
        result = self.run_block("print(len(records), records.skipped, records.skipped.reasons)")
        self.assertEqual(self.host.output,
                         "2 2 ['h.ndjson: line 3: not a number; line 7: unexpected end']\n")
        self.assertEqual(result["notes"], ["2 of 4 rows could not be read: line 3: not a number; "
                                           "line 7: unexpected end."])
        self.assertEqual(self.run_block("print(len(records))")["notes"], [])

    def test_random_access_agrees_with_a_plain_list(self) -> None:
        rng = random.Random(5)
        rows = [{"n": i, "pad": "y" * rng.choice((1, 50, 30_000))} for i in range(600)]
        self.start([Text("r.ndjson", ndjson(rows[:250])), Text("s.ndjson", ndjson(rows[250:]))])
        picks = [rng.randrange(600) for _ in range(300)]
        self.assertEqual(self.value(f"[records[i]['n'] for i in {picks}]"), picks)
        for _ in range(20):
            a, b = rng.randrange(600), rng.randrange(600)
            self.assertEqual(self.value(f"[r['n'] for r in records[{a}:{b}]]"), list(range(a, b)))


class ReadRowsTest(WorkerTest):
    """What counts as read are the rows that code got, not those that were fetched ahead."""

    def bytes_of(self, first: int, end: int) -> list[int]:
        rows = self.host.texts[0].rows
        stop = rows[end][0] if end < len(rows) else len(self.host.texts[0].data)
        return [0, rows[first][0], stop - rows[first][0]]

    def test_only_the_rows_that_code_got_are_read(self) -> None:  # FLT-12
        for code, first, end in (("for r in records: print(r); break", 0, 1),
                                 ("print(next(iter(records)))", 0, 1),
                                 ("import itertools\nlist(itertools.islice(records, 3))", 0, 3),
                                 ("print(records[0:2])", 0, 2), ("records[7]", 7, 8),
                                 ("[records[i] for i in (5, 4, 3)]", 3, 6),
                                 ("any(r['id'] == 4 for r in records)", 0, 5),
                                 ("list(records)", 0, 20), ("list(records)[:3]", 0, 3), ("records[-1]", 19, 20),
                                 ("for r in reversed(records): pass", 0, 20),
                                 ("records.fields; len(records)", 0, 0)):
            read = self.run_block(code)["read"]
            self.assertEqual(read, [self.bytes_of(first, end)] if end else [], code)

    def test_an_iterator_that_is_kept_counts_as_far_as_it_went(self) -> None:  # FLT-12
        self.assertEqual(self.run_block("rows = iter(records)\nnext(rows)")["read"],
                         [self.bytes_of(0, 1)])
        self.assertEqual(self.run_block("next(rows)")["read"], [self.bytes_of(1, 2)])
        self.assertEqual(self.run_block("print(1)")["read"], [])

    def test_looking_for_what_exists_is_no_reading_of_the_code(self) -> None:  # FLT-12
        result = self.run_block("sum(r['status'] == 'Open' for r in records[:1])")
        self.assertIn("Its values", " ".join(result["unmatched"]))
        self.assertEqual(result["read"], [self.bytes_of(0, 1)])
        self.assertEqual(self.run_block("print(1)")["read"], [])


if __name__ == "__main__":
    unittest.main()
