import tracemalloc
import unittest

from base import WorkerTest, ndjson
from fake_host import Text

ORDERS = [{"order": i, "customer": i % 3, "price": i * 10} for i in range(9)]
CUSTOMERS = [{"customer": 0, "city": "Bonn"}, {"customer": 1, "city": "Köln"}]


class ContextsTest(WorkerTest):  # FLT-21
    texts = [("shop/orders.ndjson", ndjson(ORDERS)), ("shop/customers.ndjson", ndjson(CUSTOMERS)),
             ("notes.txt", "a refund\nno refund\n", None, True)]

    def test_a_compressed_file_has_the_name_of_its_inside_as_well(self) -> None:
        self.start([Text("d.csv.gz", "id,v\n1,2\n", None, True), Text("notes.txt", "x\n", None, True)])
        for name in ("d.csv.gz", "d.csv"):
            self.assertEqual(self.value(f"contexts[{name!r}].name, open({name!r}).read()"),
                             ("d.csv.gz", "id,v\n1,2\n"))

    def test_a_join_of_two_files(self) -> None:
        self.assertEqual(self.value(
            "sum(o['price'] for o in contexts['orders.ndjson'].records if o['customer'] in "
            "{c['customer']: c for c in contexts['shop/customers.ndjson'].records})"),
            sum(o["price"] for o in ORDERS if o["customer"] < 2))

    def test_a_file_has_its_own_rows_and_fields(self) -> None:
        self.assertEqual(self.value("list(contexts['orders.ndjson'].records)"), ORDERS)
        self.assertEqual(self.value("contexts['customers.ndjson'].fields"), ["customer", "city"])
        message = self.error("print(contexts['orders.ndjson'].records[0]['city'])")["message"]
        self.assertIn("'city': no such field; contexts['shop/customers.ndjson'].records has it, "
                      "and both have 'customer'; fields: order", message)
        self.assertEqual(self.value("[r['city'] for r in records if r['city']]"), ["Bonn", "Köln"])
        self.assertEqual(self.value("len(contexts['orders.ndjson'].records.skipped.reasons)"), 0)

    def test_a_field_of_another_file_is_named_where_get_hides_that_it_is_missing(self) -> None:
        code = "print(sum(o['price'] for o in contexts['orders.ndjson'].records if o.get('city') == 'Bonn'))"
        result = self.run_block(code)
        self.assertIn("contexts['shop/customers.ndjson'].records has it", " ".join(result["notes"]))
        self.assertIn("'city': no such field", " ".join(result["unmatched"]))
        result = self.run_block("print(max(o.get('cost', 7) for o in records))")
        self.assertIn("'cost': no such field;", " ".join(result["notes"]))
        self.assertEqual(result["unmatched"], [])
        self.assertEqual(self.run_block("print(max(r.get('price', 0) or 0 for r in records))")["notes"], [])

    def test_a_block_that_looks_at_a_large_context_copies_none_of_it(self) -> None:  # EVL-91, EVL-94
        self.start([Text("lines.txt", "line of a text\n" * 600_000, None, True)])
        self.run_block("print(len(context))")  # makes it
        tracemalloc.start()
        try:
            self.run_block("print(len(context), context[:4])")
            self.assertLess(tracemalloc.get_traced_memory()[1], 2_000_000)
        finally:
            tracemalloc.stop()

    def test_names_are_sorted_and_found_by_base_name_path_and_place(self) -> None:
        self.assertEqual(self.value("list(contexts)"),
                         ["notes.txt", "shop/customers.ndjson", "shop/orders.ndjson"])
        for key in ("'orders.ndjson'", "'shop/orders.ndjson'", "'./shop/orders.ndjson'",
                    "'/data/shop/orders.ndjson'", "2", "-1"):
            self.assertEqual(self.value(f"contexts[{key}].name"), "shop/orders.ndjson", key)
        self.assertEqual(self.value("'notes.txt' in contexts, 'x' in contexts, len(contexts)"),
                         (True, False, 3))
        self.assertIn("did you mean 'notes.txt'", self.error("contexts['note.txt']")["message"])
        self.assertEqual(self.value("[name for name, file in contexts.items() if 'no ' in "
                                    "file.text]"), ["notes.txt"])

    def test_an_ambiguous_base_name_is_refused_with_the_names(self) -> None:
        self.start([Text("a/x.ndjson", ndjson(ORDERS)), Text("b/x.ndjson", ndjson(ORDERS))])
        self.assertIn("names 2 files: a/x.ndjson, b/x.ndjson",
                      self.error("contexts['x.ndjson']")["message"])
        self.assertEqual(self.value("len(contexts['b/x.ndjson'].records)"), 9)

    def test_texts_and_views(self) -> None:
        self.assertEqual(self.value("contexts['notes.txt'].text.count('refund')"), 2)
        self.assertEqual(self.value("contexts['notes.txt'].splitlines()"),
                         ["a refund", "no refund"])
        self.assertEqual(self.value("len(contexts['notes.txt'].grep('^no'))"), 1)
        self.assertEqual(self.value("contexts['orders.ndjson'].line_count"), 9)
        self.assertEqual(self.value("list(contexts['notes.txt'])"), ["a refund", "no refund"])
        self.assertEqual(self.value("sum(o['price'] for o in contexts['orders.ndjson'])"), 360)
        message = self.error("contexts['notes.txt'].records")["message"]
        self.assertIn("has no records: use .text", message)
        self.run_block("llm_query('q', contexts['notes.txt'])")
        self.assertEqual(self.host.calls[-1][1]["context"], [{"ctx": 2, "at": 0, "len": 19}])

    def test_the_listing_shows_rows_and_fields(self) -> None:
        self.assertEqual(self.value("str(contexts).splitlines()[:2]"),
                         ["<notes.txt: 19 characters>",
                          "<shop/customers.ndjson: 2 records; fields: customer, city>"])

    def test_with_one_text_the_name_is_free(self) -> None:
        self.start([Text("a.ndjson", ndjson(ORDERS))])
        self.assertEqual(self.value("len(contexts['a.ndjson'].records)"), 9)
        self.run_block("contexts = [1, 2]")
        self.assertEqual(self.value("contexts"), [1, 2])

    def test_several_files_keep_their_names_over_blocks(self) -> None:
        self.assertIn("`contexts` was put back", self.run_block("contexts = 1")["notes"][0])
        self.assertEqual(self.value("len(contexts)"), 3)


if __name__ == "__main__":
    unittest.main()
