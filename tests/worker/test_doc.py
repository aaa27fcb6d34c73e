import random
import re
import unittest

from base import WorkerTest
from fake_host import Text

PROSE = "one\nzwei ä\n三 three\nfour\n" * 3


class DocTest(WorkerTest):
    texts = [("p.txt", PROSE, None, True)]

    def test_lengths_and_slices_count_characters(self) -> None:  # REC-6, REC-17 table
        self.assertEqual(self.value("len(doc)"), len(PROSE))
        rng = random.Random(1)
        for _ in range(60):
            a, b = rng.randint(-40, 40), rng.randint(-40, 80)
            self.assertEqual(self.value(f"str(doc[{a}:{b}])"), PROSE[a:b])
        self.assertEqual(self.value("doc[11], doc[-1], doc[::2]"), ("三", "\n", PROSE[::2]))
        self.assertEqual(self.value("str(doc.slice(4, 10))"), PROSE[4:10])
        self.assertEqual(self.value("doc.bytes"), len(PROSE.encode()))

    def test_large_texts_ask_the_host_for_offsets(self) -> None:
        text = "ü" * 200_000
        self.start([Text("big.txt", text, None, True)])
        self.assertEqual(self.value("doc[150_000:150_003]"), "üüü")
        self.assertIn("char_to_byte", self.host.methods())

    def test_slices_cross_by_offset(self) -> None:  # REC-19
        for code in ("llm_query(['Read:', doc[4:10]])", "llm_query('q', doc.slice(4, 10))",
                     "llm_query('q', context=doc.lines(1, 2))"):
            self.run_block(code)
            _, args, raw = self.host.calls[-1]
            parts = args["parts"] + (args["context"] or [])
            self.assertIn("zwei ä", self.host.resolve(parts, raw), code)
            self.assertNotIn("zwei", raw.decode())

    def test_lines_are_counted_from_zero(self) -> None:
        self.assertEqual(self.value("doc.line_count"), 12)
        self.assertEqual(self.printed("print(doc.lines(1, 3))"), "zwei ä\n三 three\n")
        self.assertEqual(self.printed("print(len(doc.lines()))"), "12\n")
        self.assertEqual(self.printed("print(len(doc.lines(20, 30)))"), "0\n")
        self.assertEqual(self.printed("print(sum(1 for line in doc))"), "12\n")

    def test_grep_gives_matches_with_offsets(self) -> None:
        output = self.printed("found = doc.grep('THREE', ignore_case=True)\n"
                              "m = found[0]\n"
                              "print(len(found), m.line, m.text, doc[m.start:m.end])\nprint(m)")
        self.assertEqual(output, "3 3 三 three three\n3: 三 three\n")
        self.assertEqual(self.value("len(doc.grep('o', max=2)), doc.grep('o', max=2).total"),
                         (2, 6))
        self.assertIn("bad pattern", self.error("doc.grep('(')")["message"])
        self.assertEqual(self.value("[m.start for m in doc.slice(5).grep('four')]"),
                         [m.start() for m in re.finditer("four", PROSE[5:])])

    def test_find_count_contains_agree_with_the_string(self) -> None:
        for needle in ("four", "ä", "nothing", "\n三"):
            self.assertEqual(
                self.value(f"doc.find({needle!r}), doc.find({needle!r}, 20), doc.count({needle!r}),"
                           f" {needle!r} in doc, doc.slice(3, 30).find({needle!r})"),
                (PROSE.find(needle), PROSE.find(needle, 20), PROSE.count(needle), needle in PROSE,
                 PROSE[3:30].find(needle)), needle)

    def test_search_gives_passages_best_first(self) -> None:
        self.assertEqual(self.value("[h.text for h in doc.search('three', k=2)]"),
                         ["三 three", "三 three"])

    def test_chunks_cover_the_text(self) -> None:
        for size, overlap in ((5, 0), (7, 3), (1000, 0)):
            chunks = self.value(f"[str(c) for c in doc.chunks({size}, {overlap})]")
            text = chunks[0] + "".join(chunk[overlap:] for chunk in chunks[1:])
            self.assertEqual(text, PROSE)
            self.assertTrue(all(len(chunk) <= size for chunk in chunks))
        self.assertEqual(self.value("[str(c) for c in doc.chunks(5, by='lines')][1]"),
                         "".join(PROSE.splitlines(keepends=True)[5:10]))
        self.assertEqual(self.value("len(doc.chunks(2, by='tokens'))"), -(-len(PROSE) // 6))
        self.assertIn("overlap", self.error("doc.chunks(5, 5)")["message"])
        self.assertIn("has no records; use by='lines'", self.error("doc.chunks(5, by='records')")["message"])

    def test_several_documents_are_parts(self) -> None:
        self.start([Text("b.txt", "zwei\n"), Text("a.txt", "éins\n")])
        self.assertEqual(self.value("[tuple(p) for p in doc.parts]"),
                         [("a.txt", 0, 5), ("b.txt", 5, 10)])
        self.assertEqual(self.value("str(doc[3:8])"), "s\nzwe")
        self.assertEqual(self.value("str(doc.lines(1, 2))"), "zwei")
        self.assertEqual(self.value("doc.find('zwei'), doc.grep('zwei')[0].start"), (5, 5))
        self.assertEqual(self.value("context"), ["éins\n", "zwei\n"])

    def test_context_is_the_exact_text_built_when_named(self) -> None:  # SBX-32
        text = "a\r\nb\0ü\n"
        self.start([Text("x.txt", text, None, True)])
        self.run_block("y = 2")
        self.assertNotIn("context", self.runtime._session._namespace)
        self.assertEqual(self.value("context"), text)
        self.start([Text("x.txt", text, None, True)])
        self.assertEqual(self.value("globals()['context']"), text)

    def test_a_context_above_the_limit_is_the_view(self) -> None:  # SBX-32
        self.start([Text("x.txt", PROSE, None, True)], context_string_max=10)
        result = self.run_block("print(len(context), 'four' in context, context.count('four'))")
        self.assertEqual(self.host.output, f"{len(PROSE)} True 3\n")
        self.assertIn("`context` is too large for one string", result["notes"][0])
        self.assertIn("doc.chunks", self.error("context.split()")["message"])
        self.assertIn("doc.grep", self.error("import re\nre.findall('a', context)")["message"])
        self.assertIn("too many for one string", self.error("str(context)")["message"])

    def test_grep_of_a_part_shows_the_lines_around_a_match(self) -> None:
        self.start([Text("t.txt", "".join(f"line {n}\n" for n in range(1, 10)), plain=True)])
        self.assertEqual(self.value("[m.text for m in doc.slice(0, 50).grep('line 5', context=1)]"),
                         ["line 4\nline 5\nline 6"])


if __name__ == "__main__":
    unittest.main()
