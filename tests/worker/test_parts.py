"""Parts of the data: one document of many, the limit of a search, the beginning that a model reads."""

import json
import unittest

from base import WorkerTest
from fake_host import Text

NOTES = [Text(f"note{i}.txt", f"note {i}\n" + "the boat went out. " * 80, plain=True) for i in range(9)]
TABLES = [Text(f"{name}.ndjson", "".join(json.dumps({field: i, "amount": i}) + "\n" for i in range(30)))
          for name, field in (("customers", "cid"), ("orders", "oid"), ("rates", "rate"))]
ALIKE = [Text(f"s{k}.ndjson", TABLES[1].text) for k in range(4)]
LONG = [Text("long.txt", "".join(f"line {i}: the harbour of town {i % 7}\n" for i in range(600)), plain=True)]


class PartsTest(WorkerTest):
    def check(self, texts: list[Text], cases: tuple, sentence: str, reply: str = "7") -> None:
        for code in cases:
            self.start(texts)
            self.host.reply = lambda _prompt, _context: reply
            result = self.run_block(code)
            with self.subTest(code):
                self.assertIsNone(result["error"])
                told = " ".join(text for text, *_ in result["gaps"])
                self.assertRegex(told, sentence or "^$")

    def test_a_few_documents_by_their_place_are_a_part(self) -> None:  # FLT-36
        self.check(NOTES, (
            "print(contexts[3].text.count('boat'))", "print(context[-1].count('boat'))",
            "docs = list(contexts.values())\nprint(docs[0].text.count('boat'))",
            "texts = [c.text for c in contexts.values()]\nprint(texts[0].count('boat'))",
            "name, c = list(contexts.items())[0]\nprint(c.text.count('boat'))",
            "c = contexts[0]\nprint(len(re.findall('boat', c.text)))",
            "print(next(iter(contexts.values())).text.count('boat'))",
            "print(llm_query('How often?', context=contexts[0]))",
        ), "Only 1 of 9 documents")
        self.check(NOTES, (
            "print(sum(contexts[n].text.count('boat') for n in list(contexts)[:3]))",
            "names = sorted(contexts)\nprint(sum(contexts[n].text.count('boat') for n in names[:3]))",
            "t = 0\nfor i in range(3):\n    t += contexts[i].text.count('boat')\nprint(t)",
            "t = 0\nfor i, n in enumerate(contexts):\n    if i >= 3: break\n    t += contexts[n].text.count('boat')\nprint(t)",
            "import itertools\nprint(sum(c.text.count('boat') for c in itertools.islice(contexts.values(), 3)))",
        ), "Only 3 of 9 documents|does not go through all")
        self.check(ALIKE, ("print(sum(r['amount'] for r in contexts[1].records))",), "Only 1 of 4 documents")
        self.start(NOTES)
        self.assertEqual(self.run_block("print(contexts[3].text.count('boat'))")["gaps"][0][1:], [1, ["note3.txt"]])

    def test_what_is_all_of_a_kind_named_or_only_shown_is_none(self) -> None:
        self.check(NOTES, (
            "print(sum(c.text.count('boat') for c in contexts.values()))", "print(contexts[0].text[:200])",
            "print(contexts['note3.txt'].text.count('boat'))", "print(list(contexts)[:3], contexts[0].name)",
            "t = 0\nfor i in range(len(contexts)):\n    t += contexts[i].text.count('boat')\nprint(t)",
            "print(contexts[0].text.count('boat') + sum(c.text.count('boat') for c in list(contexts.values())[1:]))",
            "hit = [n for n in contexts if 'note 7' in contexts[n].text]\nprint(contexts[hit[0]].text.count('boat'))",
            "print(sorted(contexts.values(), key=len)[-1].name)", "print(context[0].splitlines()[0])",
            "print(len(context), len(context[2]), len(contexts[1].text))",
        ), "")
        self.check(TABLES, ("print(sum(r['amount'] for r in contexts[1].records))",
                            "ids = {r['cid'] for r in contexts[0].records}\n"
                            "print(sum(r['amount'] for r in contexts[1].records if r['oid'] in ids))"), "")

    def test_the_number_of_hits_of_a_search_is_its_limit(self) -> None:  # FLT-36
        self.check(LONG, (
            "print(len(doc.search('harbour', k=10)))", "hits = doc.search('harbour town', 20)\nprint(len(hits))",
            "print(sum('town 3' in h.text for h in doc.search('harbour', k=50)))",
            "n = 0\nfor h in doc.search('harbour', k=25):\n    n += 1\nprint(n)", "print(doc.search('harbour').total)",
        ), "Only the first [0-9]+ matches")
        self.check(LONG, (
            "print(doc.search('harbour')[0].text)", "for h in doc.search('harbour', k=5): print(h.text)",
            "hits = doc.search('harbour', k=8)\nprint('none' if len(hits) == 0 else hits[0].text)",
            "print(max(doc.search('harbour', k=9), key=lambda h: h.score).text)",
            "print(len(doc.search('harbour', k=5000)), len([re.search('town', x) for x in context.splitlines()]))",
        ), "")

    def test_an_unknown_keyword_names_those_that_there_are(self) -> None:  # FLT-28
        self.start(LONG)
        for call, told in (("doc.grep('a', limit=5)", "It has pattern, max, ignore_case, context, flags"),
                           ("doc.search('a', kk=5)", "Did you mean 'k'"), ("doc.lines(0, ends=5)", "Did you mean 'end'"),
                           ("doc.chunks(9, overlaps=3)", "Did you mean 'overlap'"),
                           ("llm_query('q', max_token=5)", "did you mean 'max_tokens'"),
                           ("llm_query('q', stop=None)", "it has model, context"),
                           ("llm_query_batched(['q'], temprature=1)", "did you mean 'temperature'"),
                           ("map_llm(['a'], labels=['x', 'y'], instructions='z')", "did you mean 'instruction'")):
            error = self.error(call)
            self.assertEqual(error["type"], "TypeError", call)
            self.assertIn(told, error["message"], call)
        self.assertNotIn("llm", self.host.methods())
        self.printed("print(doc.grep('HARBOUR', flags=2, max=3), llm_query('q', max_tokens=5, temperature=None))")

    def test_a_model_that_reads_the_beginning_has_read_a_part(self) -> None:  # FLT-36
        self.check(LONG, (
            "print(llm_query('How many towns? ' + context[:2000]))",
            "part = context[:2000]\nn = llm_query(f'How many towns?\\n{part}')\nprint(n)",
            "print(llm_query('How many towns?', context=doc[:3000]))", "FINAL(rlm_query('How many?', context=context[:2000]))",
            "head = doc.slice(0, 3000)\nprint(llm_query('How many?', context=head))",
            "r = llm_query_batched(['How many? ' + c for c in doc.chunks(1000)[:3]])\nprint(r[0])",
        ), "Only [0-9,]+ of [0-9,]+ (characters|chunks)")
        self.check(LONG, ("print(llm_query('Which? ' + context[:2000]))",), "", reply="The harbour of town 0")
        self.check(LONG, (
            "for i in range(0, len(context), 4000):\n    print(llm_query('q ' + context[i:i + 4000]))",
            "r = llm_query_batched(['q ' + str(c) for c in doc.chunks(4000)])\nprint(len(r))",
            "print(context[:2000])", "print(llm_query('Is this a word? ' + context[:9]))",
            "n = 0\nfor i in range(0, doc.line_count, 100):\n    n += sum('town 3' in x for x in doc.lines(i, i + 100))\nprint(n)",
        ), "")


if __name__ == "__main__":
    unittest.main()
