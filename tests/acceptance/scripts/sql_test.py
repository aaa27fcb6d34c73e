#!/usr/bin/env python3
"""sql() in blocks against the sqlite3 shell on the same data, and what it refuses (REC-76, REC-A31)."""

import csv
import io
import json
import math
import random
import sqlite3
import subprocess

import harness

DRAW = random.Random(17)
KINDS = ["praise", "complaint", "question", "O'Neill", "naïve 東京", ""]
LEVELS = ["INFO", "WARN", "ERROR"]

# name, the field's type for the oracle
ORDERS = {"_index": "INTEGER", "id": "INTEGER", "kind": "TEXT", "price": "REAL", "paid": "INTEGER",
          "tags": "TEXT", "note": "TEXT"}
CITIES = {"_index": "INTEGER", "city": "TEXT", "people": "INTEGER", "about": "TEXT"}
LINES = {"_index": "INTEGER", "time": "TEXT", "level": "TEXT", "message": "TEXT"}


def orders() -> list[dict]:
    rows = []
    for i in range(1200):
        row = {"id": i * 7 % 1201, "kind": DRAW.choice(KINDS), "price": DRAW.choice([1.5, 2.25, 10.5, 0.1]),
               "paid": DRAW.random() < 0.5, "tags": [DRAW.choice("abc"), i % 3],
               "note": None if i % 5 == 0 else f'line {i}\n"{i % 11}"'}
        if i % 13 == 0 and i:
            del row["note"]
        rows.append(row)
    return rows


def cities() -> list[dict]:
    return [{"city": f"Town {i % 40}", "people": DRAW.randrange(10, 99_999),
             "about": f'first,\n"second" line {i % 9}\r\nand a third'} for i in range(300)]


def lines() -> list[dict]:
    return [{"time": f"2024-11-{1 + i // 100:02} {i % 24:02}:{i % 60:02}:00", "level": DRAW.choice(LEVELS),
             "message": f"gate {i % 17} {DRAW.choice(['opened', 'closed', 'is late'])}"}
            for i in range(900)]


NDJSON_QUESTIONS = """
SELECT count(*) FROM records
SELECT kind, count(*) AS n, round(sum(price), 6) AS total FROM records GROUP BY kind ORDER BY n DESC, kind
SELECT id, note FROM records WHERE note IS NULL ORDER BY id LIMIT 7 OFFSET 3
SELECT sum(paid), avg(paid), count(note) FROM records
SELECT json_extract(tags, '$[0]') AS tag, count(*) FROM records GROUP BY 1 ORDER BY 1
SELECT * FROM records WHERE _index BETWEEN 100 AND 104
SELECT * FROM records WHERE _index = 77
SELECT max(id), min(id), total(price) / 2 FROM records WHERE kind = 'complaint'
SELECT a.id, b.id AS other FROM records a JOIN records b ON b.id = a.id + 1 WHERE a.kind = 'praise' ORDER BY a.id LIMIT 20
SELECT kind, id, rank() OVER (PARTITION BY kind ORDER BY price DESC, id) AS place FROM records ORDER BY kind, place LIMIT 25
SELECT DISTINCT kind FROM records WHERE kind > 'm' ORDER BY kind DESC
SELECT count(*) FROM records WHERE note LIKE '%"3"%' AND price < 2
SELECT upper(kind) AS k, length(kind) FROM records WHERE kind LIKE 'na%' LIMIT 1
SELECT price, count(*) FROM records GROUP BY price HAVING count(*) > 10 ORDER BY price
SELECT count(*) FROM records r WHERE EXISTS (SELECT 1 FROM records s WHERE s.id = r.id * 2 AND s.paid = 1)
SELECT typeof(id), typeof(kind), typeof(price), typeof(paid), typeof(tags), typeof(note) FROM records WHERE _index = 1
SELECT price / 4, id / 4, paid + 1 FROM records ORDER BY id LIMIT 6
SELECT rowid, id FROM records WHERE rowid > 1195
SELECT value, count(*) FROM records, json_each(records.tags) GROUP BY value ORDER BY value
SELECT count(*) FROM records WHERE _index >= 1000 AND _index < 1100 AND paid
""".strip().splitlines()

CSV_QUESTIONS = """
SELECT count(*), sum(people), avg(people) FROM records
SELECT city, sum(people) AS p FROM records GROUP BY city ORDER BY p DESC LIMIT 5
SELECT about FROM records WHERE about LIKE '%second" line 4%' LIMIT 2
SELECT count(DISTINCT about), min(length(about)), max(length(about)) FROM records
SELECT _index, city FROM records WHERE people > 90000 ORDER BY _index
SELECT city FROM records EXCEPT SELECT city FROM records WHERE people > 20000 ORDER BY city
SELECT CASE WHEN people < 1000 THEN 'small' ELSE 'large' END AS size, count(*) FROM records GROUP BY size ORDER BY size
SELECT instr(about, char(10)), count(*) FROM records GROUP BY 1
SELECT a.city, count(*) FROM records a JOIN records b USING (city) GROUP BY a.city ORDER BY a.city LIMIT 4
SELECT group_concat(people, '+') AS list FROM (SELECT people FROM records ORDER BY people LIMIT 5)
""".strip().splitlines()

LOG_QUESTIONS = """
SELECT level, count(*) FROM records GROUP BY level ORDER BY level
SELECT substr(time, 1, 10) AS day, count(*) FROM records GROUP BY day ORDER BY day
SELECT message FROM records WHERE level = 'ERROR' AND message LIKE 'gate 3 %' ORDER BY _index LIMIT 5
SELECT strftime('%H', time) AS hour, count(*) FROM records WHERE level <> 'INFO' GROUP BY hour ORDER BY hour
SELECT max(time), min(time) FROM records
SELECT message, count(*) n FROM records GROUP BY message ORDER BY n DESC, message LIMIT 10
SELECT level, message FROM records ORDER BY _index DESC LIMIT 3
SELECT sum(level = 'ERROR') * 1.0 / count(*) FROM records
WITH late AS (SELECT * FROM records WHERE message LIKE '%is late') SELECT level, count(*) FROM late GROUP BY level ORDER BY 1
SELECT count(*) FROM records WHERE julianday(time) > julianday('2024-11-05')
""".strip().splitlines()

FILE_QUESTIONS = """
SELECT count(*) FROM orders
SELECT what, round(sum(n), 6) AS s FROM orders GROUP BY what ORDER BY what
SELECT * FROM by_what ORDER BY s DESC LIMIT 3
SELECT name FROM people WHERE id IN (SELECT owner FROM orders WHERE n > 300) ORDER BY name
SELECT p.name, count(o.id) AS n FROM people p LEFT JOIN orders o ON o.owner = p.id GROUP BY p.id ORDER BY n DESC, p.name
SELECT key, val FROM pairs ORDER BY key LIMIT 4
SELECT id, typeof(what), typeof(n) FROM orders WHERE n IS NULL ORDER BY id LIMIT 3
SELECT sum(length(what)) FROM orders WHERE id % 3 = 1
SELECT lag(id) OVER (ORDER BY id) AS before, id FROM orders LIMIT 4
SELECT name, lower(hex(face)) AS face FROM people WHERE face IS NOT NULL ORDER BY id
""".strip().splitlines()


class SqlTest(harness.Case):
    def shell(self, database: str, query: str) -> list:
        done = subprocess.run(["sqlite3", "-json", database, query], capture_output=True, text=True, check=True)
        return json.loads(done.stdout, object_pairs_hook=list) if done.stdout.strip() else []

    def oracle(self, name: str, columns: dict, rows: list[dict]) -> str:
        """A database that the shell reads: the rows as SQLite keeps them."""
        path = str(self.home / name)
        base = sqlite3.connect(path)
        base.execute("CREATE TABLE records(%s)" % ", ".join(f"{c} {t}" for c, t in columns.items()))
        for index, row in enumerate(rows):
            values = [index] + [json.dumps(v, ensure_ascii=False) if isinstance(v, (list, dict)) else v
                                for v in (row.get(c) for c in columns if c != "_index")]
            base.execute(f"INSERT INTO records(rowid, {', '.join(columns)}) VALUES(?, {', '.join('?' * len(columns))})",
                         [index, *values])
        base.commit()
        base.close()
        return path

    def database(self) -> str:
        path = str(self.home / "shop.db")
        base = sqlite3.connect(path)
        base.execute("PRAGMA journal_mode=WAL")
        base.executescript("""
            CREATE TABLE orders(id INTEGER PRIMARY KEY, what TEXT, n REAL, owner INTEGER);
            CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT, face BLOB);
            CREATE TABLE pairs(key TEXT PRIMARY KEY, val TEXT) WITHOUT ROWID;
            CREATE VIEW by_what AS SELECT what, sum(n) AS s FROM orders GROUP BY what;""")
        base.executemany("INSERT INTO orders VALUES(?, ?, ?, ?)",
                         [(i, f"ware {i % 9} é", None if i % 50 == 0 else i / 3, i % 31) for i in range(1500)])
        base.executemany("INSERT INTO people VALUES(?, ?, ?)",
                         [(i, f"person {i}", bytes([i, 255]) if i % 7 == 0 else None) for i in range(40)])
        base.executemany("INSERT INTO pairs VALUES(?, ?)", [(f"k{i}", f"v{i}") for i in range(700)])
        base.commit()
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        base.close()
        return path

    def block(self, paths: list[str], code: str, *words: str, language: str = "python", limit: int = 120) -> str:
        """What a block hands over as the answer."""
        fence = "repl" if language == "python" else "js"
        reply = [{"purpose": "root", "times": "always", "reply": f"```{fence}\n{code}\n```"}]
        files = [word for path in paths for word in ("-c", path)]
        status, out, err = self.run_to_end(
            "ask", *self.script(reply), *files, "--mode", "recursive", "--forcing", "none", "--quiet",
            "--dialect", language, "--max-iterations", "1", *words, "What is there?", limit=limit)
        self.assertEqual(status, 0, err + out)
        return out

    def rows(self, paths: list[str], queries: list[str], *words: str) -> list:
        code = (f"import json\nout = []\nfor q in json.loads({json.dumps(json.dumps(queries))}):\n"
                "    try:\n        out.append([list(map(list, r.items())) for r in sql(q)])\n"
                "    except Exception as error:\n        out.append(f'{type(error).__name__}: {error}')\n"
                "FINAL(json.dumps(out))")
        return json.loads(self.block(paths, code, *words))

    def same(self, got, expected) -> bool:
        if isinstance(expected, list):
            return isinstance(got, list) and len(got) == len(expected) and all(map(self.same, got, expected))
        if isinstance(expected, float) or isinstance(got, float):
            return isinstance(got, (int, float)) and isinstance(expected, (int, float)) \
                and math.isclose(got, expected, rel_tol=1e-9, abs_tol=1e-12)
        return got == expected

    def agree(self, path: str, oracle: str, queries: list[str]):
        for query, got in zip(queries, self.rows([path], queries)):
            with self.subTest(query=query):
                expected = [[list(pair) for pair in row] for row in self.shell(oracle, query)]
                self.assertTrue(self.same(got, expected), f"{query}\n got      {got}\n expected {expected}")

    def test_records_of_ndjson_are_as_in_the_shell(self):  # REC-76, REC-A31
        rows = orders()
        path = self.write("orders.ndjson", "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
        self.agree(path, self.oracle("o.db", ORDERS, rows), NDJSON_QUESTIONS)

    def test_records_of_csv_with_quoted_line_ends_are_as_in_the_shell(self):  # REC-76, REC-A31
        rows, text = cities(), io.StringIO(newline="")
        table = csv.DictWriter(text, ["city", "people", "about"], quoting=csv.QUOTE_MINIMAL)
        table.writeheader()
        table.writerows(rows)
        path = self.write("cities.csv", text.getvalue())
        self.agree(path, self.oracle("o.db", CITIES, rows), CSV_QUESTIONS)

    def test_records_of_a_log_are_as_in_the_shell(self):  # REC-76, REC-A31
        rows = lines()
        path = self.write("gate.log", "".join("{time} {level} {message}\n".format(**row) for row in rows))
        self.agree(path, self.oracle("o.db", LINES, rows), LOG_QUESTIONS)

    def test_tables_of_an_sqlite_file_are_as_in_the_shell(self):  # REC-76, REC-A31
        self.assertEqual(len(NDJSON_QUESTIONS + CSV_QUESTIONS + LOG_QUESTIONS + FILE_QUESTIONS), 50)
        path = self.database()
        self.agree(path, path, FILE_QUESTIONS)

    def test_several_documents_are_tables_by_name(self):  # REC-76
        one = self.write("orders.ndjson", '{"id": 1, "who": "a"}\n{"id": 2, "who": "b"}\n{"id": 3, "who": "a"}\n')
        two = self.write("people.csv", "who,town\na,Ulm\nb,Bonn\n")
        base = self.database()
        got = self.rows([one, two, base], [
            'SELECT p.town, count(*) AS n FROM "orders.ndjson" o JOIN people p ON p.who = o.who GROUP BY 1 ORDER BY 1',
            "SELECT count(*) AS n FROM pairs",
            'SELECT count(*) AS n FROM "shop.db".orders',
            "SELECT id FROM orders ORDER BY id DESC LIMIT 1",
            "SELECT name FROM sqlite_schema WHERE name LIKE 'people%' ORDER BY name"])
        self.assertEqual(got, [[[["town", "Bonn"], ["n", 1]], [["town", "Ulm"], ["n", 2]]], [[["n", 700]]],
                               [[["n", 1500]]], [[["id", 3]]], [[["name", "people"]], [["name", "people.csv"]]]])

    def test_what_does_not_read_is_refused_and_the_run_lives(self):  # REC-76, REC-A31
        path = self.database()
        refused = {"ATTACH '/tmp/x.db' AS x": "ATTACH is refused", "PRAGMA table_info(orders)": "PRAGMA is refused",
                   "SELECT * FROM pragma_database_list": "refused", "SELECT load_extension('x')": "refused",
                   "SELECT writefile('/tmp/x', 1)": "no such function: writefile",
                   "SELECT readfile('/etc/passwd')": "no such function: readfile",
                   "INSERT INTO orders VALUES(1, 2, 3, 4)": "INSERT is refused", "DELETE FROM orders": "DELETE is refused",
                   "UPDATE orders SET n = 1": "UPDATE is refused", "DROP TABLE orders": "refused",
                   "CREATE TABLE x(y)": "refused", "BEGIN": "a transaction is refused", "VACUUM INTO '/tmp/x'": "sql only reads",
                   "SELECT 1; SELECT 2": "one statement", "": "empty", "SELECT ?": "1 parameters, and 0",
                   "SELECT nosuch FROM orders": "no such column",
                   "SELECT a.id FROM orders a, pairs b": "has 1,050,000 rows, and at most 10,000"}
        for (query, words), got in zip(refused.items(), self.rows([path], list(refused))):
            with self.subTest(query=query):
                self.assertIsInstance(got, str, query)
                self.assertIn(words, got)
        self.assertEqual(sqlite3.connect(path).execute("SELECT count(*) FROM orders").fetchone(), (1500,))

    def test_ten_thousand_rows_are_given_and_one_more_is_an_error(self):  # REC-76
        path = self.write("a.ndjson", "".join(f'{{"a": {i}}}\n' for i in range(10_001)))
        whole, more = self.rows([path], ["SELECT a FROM records LIMIT 10000", "SELECT a FROM records"])
        self.assertEqual(len(whole), 10_000)
        self.assertIn("the result has 10,001 rows, and at most 10,000 are given", more)

    def test_an_endless_query_is_stopped_and_the_run_goes_on(self):  # REC-76, REC-A31
        path = self.write("a.ndjson", '{"a": 1}\n' * 50)
        endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
        for language, fence, last in (("python", "repl", "FINAL(sql('SELECT count(*) AS n FROM records')[0]['n'])"),
                                      ("javascript", "js", "SUBMIT({answer: `${sql('SELECT count(*) AS n FROM records')[0].n}`})")):
            with self.subTest(language=language):
                replies = [{"purpose": "root", "times": 1, "reply": f"```{fence}\nkept = 5\nsql(\"{endless}\")\n```"},
                           {"purpose": "root", "times": "always", "reply": f"```{fence}\n{last}\n```"}]
                status, out, err = self.run_to_end(
                    "ask", *self.script(replies), "-c", path, "--mode", "recursive", "--forcing", "none", "--dialect",
                    language, "--cell-cpu", "1s", "--json", "Which number?")
                self.assertEqual(status, 0, err)
                self.assertEqual(json.loads(out)["answer"], "50")
                self.assertIn("Interrupted", err)

    def test_many_databases_and_names_that_differ_in_case(self):  # REC-76
        paths = []
        for number, name in enumerate(["data", "Data", *(f"m{i:02}" for i in range(10))]):
            paths.append(str(self.home / f"{name}.db"))
            base = sqlite3.connect(paths[-1])
            base.execute(f"CREATE TABLE t{number} AS SELECT {number} AS n")
            base.commit()
            base.close()
        first, second, last = self.rows(paths, ["SELECT n FROM t0", "SELECT n FROM t1", "SELECT n FROM t11"])
        self.assertEqual((first, second), ([[["n", 0]]], [[["n", 1]]]))
        self.assertIn('"m09.db" is not open (sql: too many attached databases', last)
        self.assertNotIn('the tables of "m09.db"', last)

    def test_threads_of_a_block_ask_at_once(self):  # REC-76
        path = self.write("a.ndjson", "".join(f'{{"kind": "{"abcdefgh"[i % 8]}", "n": {i}}}\n' for i in range(8000)))
        out = self.block([path], "import json\nfrom concurrent.futures import ThreadPoolExecutor\n"
                                 "def count(kind):\n"
                                 "    return sql('SELECT count(*) AS n FROM records WHERE kind = ?', kind)[0]['n']\n"
                                 "with ThreadPoolExecutor(8) as pool:\n"
                                 "    FINAL(json.dumps(list(pool.map(count, 'abcdefgh' * 4))))")
        self.assertEqual(json.loads(out), [1000] * 32)

    def test_a_query_that_needs_too_much_memory_is_an_error_of_the_block(self):  # REC-76
        path = self.write("a.ndjson", '{"a": 1}\n')
        out = self.block([path], "try:\n    sql(\"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 3000000) "
                                 "SELECT group_concat(hex(zeroblob(100))) FROM n\")\n"
                                 "except Exception as error:\n    FINAL(type(error).__name__)", "--cell-memory", "96M")
        self.assertIn(out.strip(), ("MemoryError", "SQLError"))

    def test_parameters_and_kinds_of_values(self):  # REC-76
        path = self.write("a.ndjson", '{"n": 9007199254740993, "x": 1.5, "t": "é", "b": true, "z": null, "l": [1, {"k": 2}]}\n'
                          '{"n": 2, "x": 2, "t": "\\ud83d\\ude42", "b": false, "z": null, "l": [], "late": 1}\n')
        out = self.block([path], "import json\nrows = sql('SELECT * FROM records WHERE n > ? AND t <> ?', 1, 'none')\n"
                                 "rows += sql(\"SELECT json_extract(_json, '$.late') AS late, ? AS p, x'00ff' AS bytes "
                                 "FROM records WHERE _index = 1\", None)\n"
                                 "rows += sql('SELECT 1 AS a, 2 AS a, ? AS b', [True])\nFINAL(json.dumps(rows))")
        self.assertEqual(json.loads(out), [
            {"_index": 0, "n": 9007199254740993, "x": 1.5, "t": "é", "b": 1, "z": None, "l": '[1, {"k": 2}]', "late": None},
            {"_index": 1, "n": 2, "x": 2.0, "t": "🙂", "b": 0, "z": None, "l": "[]", "late": 1},
            {"late": 1, "p": None, "bytes": "X'00FF'"}, {"a": 1, "a_2": 2, "b": 1}])

    def test_a_field_of_the_last_record_is_a_column_and_all_values_tell_its_type(self):  # REC-76
        rows = [{"n": i} for i in range(3000)] + [{"n": 2.5, "late \"x\"": "y", "Late \"x\"": 7}]
        path = self.write("a.ndjson", "".join(json.dumps(row) + "\n" for row in rows))
        got = self.rows([path], ["SELECT * FROM records WHERE _index >= 2999", "SELECT n / 2 AS half FROM records WHERE n = 5"])
        self.assertEqual(got, [[[["_index", 2999], ["n", 2999.0], ['late "x"', None], ['Late "x"_2', None]],
                                [["_index", 3000], ["n", 2.5], ['late "x"', "y"], ['Late "x"_2', 7]]], [[["half", 2.5]]]])

    def test_full_text_tables_of_a_file_are_searched(self):  # REC-76
        path = str(self.home / "notes.db")
        base = sqlite3.connect(path)
        base.execute("CREATE VIRTUAL TABLE notes USING fts5(body)")
        base.executemany("INSERT INTO notes VALUES(?)", [("red sails",), ("green hills",), ("a red hill",)])
        base.commit()
        base.close()
        self.agree(path, path, ["SELECT body FROM notes WHERE notes MATCH 'red' ORDER BY body"])

    def test_both_dialects_get_the_same_rows(self):  # REC-76
        rows = orders()[:200]
        path = self.write("orders.ndjson", "".join(json.dumps(row) + "\n" for row in rows))
        queries = [query for query in NDJSON_QUESTIONS if "note" not in query]
        code = (f"const out = [];\nfor (const q of {json.dumps(queries)}) out.push(sql(q));\n"
                "out.push(sql('SELECT ? AS a, ? AS b', 1.5, 'é'));\nSUBMIT({answer: JSON.stringify(out)});")
        got = json.loads(self.block([path], code, language="javascript"), object_pairs_hook=list)
        expected = self.rows([path], queries) + [[[["a", 1.5], ["b", "é"]]]]
        self.assertTrue(self.same([[[list(p) for p in r] for r in rows] for rows in got], expected), got)

    def test_blocks_without_a_model_have_it_too(self):  # REC-76
        rows, base = self.write("a.csv", "k,v\nx,1\ny,2\nx,3\n"), self.database()
        block = self.write("block.py", "print(sql('SELECT k, sum(v) AS s FROM records GROUP BY k'), sql('SELECT count(*) AS n FROM pairs'))")
        status, out, err = self.run_to_end("sandbox", "run", "-c", rows, "-c", base, block)
        self.assertEqual((status, out), (0, "[{'k': 'x', 's': 4}, {'k': 'y', 's': 2}] [{'n': 700}]\n"), err)

    def test_names_that_sqlite_has_for_itself_and_many_files(self):  # REC-76
        paths = []
        for i in range(12):
            path = str(self.home / ("main" if i == 0 else f"f{i:02}.db"))
            base = sqlite3.connect(path)
            base.executescript(f"CREATE TABLE t{i}(x); INSERT INTO t{i} VALUES({i})")
            base.close()
            paths.append(path)
        got = self.rows(paths, ["SELECT x FROM t3", 'SELECT x FROM "f04.db".t4'])
        self.assertEqual(got, [[[["x", 3]]], [[["x", 4]]]])

    def test_an_aggregate_over_all_rows_has_read_them(self):  # REC-76, REC-39
        replies = [{"purpose": "root", "times": "always",
                    "reply": "```repl\nFINAL(sql('SELECT max(a) AS m FROM records')[0]['m'])\n```"}]
        for name, text in (("a.ndjson", "".join(f'{{"a": {i}}}\n' for i in range(3000))),
                           ("a.csv", "a,b\n" + "".join(f"{i},{i}\n" for i in range(3000)))):
            status, out, err = self.run_to_end("ask", *self.script(replies), "-c", self.write(name, text), "--mode",
                                               "recursive", "--json", "--forcing", "none", "What is the largest?")
            self.assertEqual(status, 0, err)
            outcome = json.loads(out)
            self.assertEqual(outcome["answer"], "2999")
            self.assertEqual(outcome["coverage"]["read_by_code"], 1.0)  # with the header: each row has its names

    def test_the_hint_names_tables_columns_types_and_rows(self):  # REC-76
        one = self.write("orders.ndjson", '{"id": 1, "price": 2.5, "on": true, "who": {"name": "a"}}\n')
        base = self.database()
        status, out, err = self.run_to_end("ask", *self.script([]), "-c", one, "-c", base, "--dry-run", "How many?")
        self.assertEqual(status, 0, err)
        out = out.encode().decode("unicode_escape")
        self.assertIn('"records" or "orders.ndjson" (1 row): _index INTEGER, id INTEGER, price REAL, on INTEGER, who TEXT', out)
        self.assertIn('"orders" of "shop.db" (1,500 rows): CREATE TABLE orders(id INTEGER PRIMARY KEY, what TEXT', out)
        self.assertIn('"pairs" of "shop.db" (700 rows)', out)
        self.assertIn('"by_what" of "shop.db" (a view)', out)
        small, out, err = self.run_to_end("ask", *self.script([]), "-c", one, "--mode", "recursive", "--profile", "small",
                                          "--dry-run", "How many?")
        self.assertNotIn("SQL", out)

    def test_an_sqlite_file_goes_to_code_however_short_it_is(self):  # REC-76
        base = self.database()
        status, out, err = self.run_to_end("ask", *self.script([]), "-c", base, "--mode", "direct", "How many?")
        self.assertEqual(status, 9, err)
        self.assertIn("use --mode recursive", err)
        broken = self.write("broken.db", b"SQLite format 3\0" + b"\xff" * 5000)
        status, out, err = self.run_to_end("ask", *self.script([]), "-c", broken, "How many?")
        self.assertEqual(status, 4, err)
        self.assertIn("not a whole SQLite file", err)


if __name__ == "__main__":
    harness.main()
