"""What code asks in SQL, checked as its conditions in Python are (FLT-36)."""

import json

from base import WorkerTest

CITIES = ["Oslo", "oslo", "OSLO ", "Rome", "Kyiv"]
ROWS = [{"id": i, "city": CITIES[i % 5], "town": ("Oslo", "Rome", "Kyiv")[i % 3],
         "amount": f"1,{i:03d}" if i % 5 == 0 else i, "plain": i * 2, "price": f"{i}.50", "kg": "" if i % 6 == 0 else i,
         "when": f"{1 + i % 28:02d}/{1 + i % 12:02d}/{2019 + i % 7}", "day": f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}",
         "weight": f"{i} kg", "note": f"parcel {i} came broken" if i % 4 == 0 else "fine"} for i in range(1, 121)]
SELECT = "print(sql({!r}))"


class QueriesTest(WorkerTest):
    texts = [("t.ndjson", "".join(json.dumps(row) + "\n" for row in ROWS))]

    def results(self, code: str) -> dict:
        self.runtime.reset_session([])
        if not code.startswith(("print", "rows", "import", "n =", "t =")):
            code = SELECT.format(code)
        result = self.run_block(code)
        self.assertIsNone(result["error"], (code, result["error"]))
        return result

    def wrong(self, cases: dict[str, str], where: str = "gaps") -> None:
        for code, sentence in cases.items():
            result = self.results(code)
            told = " ".join(str(item) for item in result[where])
            with self.subTest(code):
                self.assertIn(sentence, told)
                self.assertIn(sentence, " ".join(result["notes"]))

    def right(self, *codes: str) -> None:
        for code in codes:
            result = self.results(code)
            with self.subTest(code):
                self.assertEqual([result["gaps"], result["unmatched"], result["notes"]], [[], [], []])

    def test_conditions_that_no_row_fits_are_told_with_the_values(self) -> None:
        values = "No row has town == 'oslo'. Its values: 'Oslo' (40)"
        self.wrong({
            "select count(*) c from records where town = 'oslo'": values,
            "select id from records where town='oslo'": values,
            "select coalesce(sum(plain), 0) s from records where town = 'oslo'": values,
            "select sum(plain) s from records where town = 'oslo'": values,
            'select count(*) c from records r where r.town = "oslo"': values,
            "print(sql('select count(*) c from records where town = ?', 'oslo'))": values,
            "print(sql('select count(*) c from records where id > ? and town = ?', [5, 'oslo']))": values,
            "select count(*) from records where town in ('oslo', 'rome')": "No row has town in ('oslo', 'rome')",
            "select count(*) from records where lower(town) = 'Oslo'": "No row has town.lower() == 'Oslo'",
            "select count(*) filter (where town = 'oslo') n from records": values,
            "select sum(town = 'oslo') n from records": values,
        }, "unmatched")

    def test_a_zero_that_the_values_prove_and_results_that_are_something_are_not_told(self) -> None:
        self.right(
            "select count(*) c from records where town = 'Oslo'",
            "select count(*) c from records where length(town) = 4", "select count(*) c from records where 2 * id = 6",
            "select count(*) c from records where strftime('%m', day) = '03'",
            "select count(*) c from records where lower(trim(city)) = 'oslo'",
            "select count(*) from records where id = 7", "select count(*) from records where id = '7'",
            "select town, count(*) n from records group by town order by n desc limit 1",
            "select count(*) from records where town in ('Oslo', 'Bergen')",
            "select count(*) from records where town like 'oslo'", "select max(plain) from records where town <> 'Oslo'",
            "select a.id from records a join records b on a.id = b.plain where a.town = 'Rome' order by a.id limit 3",
            "select count(*) from records where note like '%BROKEN%'",
            "select count(*) from records where town = 'Oslo' collate nocase",
            "select count(distinct town) from records where plain between 2 and 90",
            "select 'x' as label, count(*) from records where day >= '2024-06-01'")
        self.assertEqual(self.results("select count(*) c from records where plain > 9000")["unmatched"], [])
        self.assertFalse(self.results("select count(*) c from records where town || '' = 'oslo'")["proves_nothing"])

    def test_other_written_forms_of_a_value_are_told(self) -> None:
        self.wrong({
            "select count(*) c from records where city='Oslo'": "48 rows have it in another written form",
            "select sum(plain) from records where city in ('Oslo', 'Rome')": "'oslo' (24)",
            "print(sql('select count(*) c from records where city = ?', 'Oslo')[0]['c'])": "'OSLO ' (24)",
            "n = sql(\"select count(*) c from records where city='Oslo'\")[0]['c']\nprint(n)": "'oslo' (24)",
        })
        self.right("select count(*) from records where city in ('Oslo', 'oslo', 'OSLO ')",
                   "select city, count(*) from records group by city",
                   "select count(*) from records where upper(trim(city)) = 'OSLO'",
                   "select count(*) from records where town = 'Rome'",
                   "select count(*) from records where city = 'Kyiv'")

    def test_sums_and_extremes_of_texts_are_told(self) -> None:
        self.wrong({
            "select sum(amount) s from records": "sum() reads 24 texts of amount as another number",
            "select avg(amount) from records where plain > 20": "such as '1,015' as 1",
            "select town, total(r.amount) from records r group by town": "total() reads",
            "select sum(cast(amount as real)) s from records": "sum() reads 24 texts",
            "select sum(cast(price as integer)) s from records": "as another number",
            "select avg(kg) from records": "avg() reads 20 texts of kg",
            'select max("when") m from records': "letter by letter",
            "select min(price) from records": "letter by letter",
        })
        self.right("select sum(plain) s from records", "select avg(price), sum(price) from records",
                   "select sum(cast(replace(amount, ',', '') as integer)) from records",
                   "select max(day), min(day) from records", "select max(town) from records",
                   "select sum(weight) from records", "select sum(kg) from records",
                   "select max(plain, 3) from records order by id limit 1",
                   "select sum(amount) from records where typeof(amount) = 'integer'",
                   "select day from records order by day desc limit 1",
                   "select min(cast(price as real)) from records", "select avg(plain) from records where kg <> ''")

    def test_rows_that_a_limit_cuts_off_are_told_where_they_are_counted(self) -> None:
        self.wrong({
            "print(sum(x['id'] for x in sql('select id from records limit 50')))": "Only 50 of 120 rows",
            "rows = sql('select * from records limit 20')\nprint(sum(r['plain'] for r in rows))": "Only 20 of 120",
            "print(len(sql(\"select id from records where town = 'Oslo' limit 30\")))": "Only 30 of 40 rows",
            "print(len(sql('select id from records where id > ? limit 30', 5)))": "Only 30 of 115 rows",
        })
        self.right("print(sql('select * from records limit 5'))", "print(len(sql('select id from records limit 500')))",
                   "print(sum(x['plain'] for x in sql('select plain from records order by plain desc limit 5')))",
                   "rows = sql('select * from records limit 3')\nfor row in rows:\n    print(row['id'])",
                   "print(sql('select count(*) c from records limit 10')[0]['c'])",
                   "print(sql('select id from records limit 1')[0]['id'])")
