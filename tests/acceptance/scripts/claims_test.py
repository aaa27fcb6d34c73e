"""Answers that a scripted model hands in after one block of code: which are flagged (FLT-36).

More than half of the rows are right answers, which must come out as final: a flag on one of them costs as
much trust as a wrong answer without a flag. A row: context, code, question, answer, and a sub-call's reply.
"""

import json
from concurrent import futures

import harness

RIGHT, WRONG = "final", "partial"
FILLING = "The wind blew over the empty fields and nobody came by that day.\n"


def text(*lines: str, before: int = 40, after: int = 40) -> tuple[str, str]:
    return "note.txt", FILLING * before + "".join(line + "\n" for line in lines) + FILLING * after


def parcels(state: str) -> tuple[str, str]:
    states = ["delivered"] * 200
    states[180] = state
    return "parcels.ndjson", "".join(json.dumps({"id": i, "state": s, "by": "courier"}) + "\n"
                                     for i, s in enumerate(states))


def line(start: str) -> str:
    return f"i = context.find({start!r})\nprint(context[i:context.find('\\n', i)])"


def numbers(start: str) -> str:
    return (f"import re\ni = context.find({start!r})\n"
            "print(*re.findall(r'-?\\d[\\d.]*', context[i:context.find('\\n', i)]))")


ORDERS = ("orders.csv", "id,customer,amount\n" + "".join(
    f"{i},{'Brandt' if i % 5 else 'Keller'},28.375\n" for i in range(1, 61)))
KELLER = ("k = [r for r in records if r['customer'] == 'Keller']\n"
          "print(len(k), sum(r['amount'] for r in k))")  # 12 340.5

ROWS = {
    "numbers": [
        (ORDERS, KELLER, "How many orders did Keller place, and what did they cost in total?",
         "12 orders, 340.50 EUR in total", RIGHT),
        (ORDERS, KELLER, "How many orders did Keller place, and what did they cost in total?",
         "12 orders, 951.25 EUR in total", WRONG),
        (ORDERS, KELLER, "How many orders did Keller place, and what did they cost in total?",
         "Keller placed 12 orders, which cost 412.75 EUR.", WRONG),
        (text("Mill A ground 512 sacks, mill B 498."), line("Mill"), "How much did each mill grind?",
         "Mill A 512, mill B 498, mill C 477", WRONG),
        (text("Mill A ground 512 sacks, mill B 498."), line("Mill"), "How much did each mill grind?",
         "Mill A 512, mill B 498, together 1010", RIGHT),
        (text("failed: 141"), numbers("failed"), "How many of the 4000 jobs failed, and what share?",
         "141 of the 4000 jobs failed (3.5 %).", RIGHT),
        (text("failed: 141"), numbers("failed"), "How many of the 4000 jobs failed, and what share?",
         "141 of the 4000 jobs failed (7.8 %).", WRONG),
        (text("winners: Anna Holm 91 points, Bo Lund 88 points"), line("winners"), "Who won?",
         "1. Anna Holm with 91 points, 2. Bo Lund with 88 points", RIGHT),
        (text("parts: 31 42 57"), numbers("parts"), "How many of each, and in all?", "31, 42 and 57: 130 in all",
         RIGHT),
        (text("parts: 31 42 57"), numbers("parts"), "How many of each, and in all?", "31, 42 and 57: 142 in all",
         WRONG),
        (text("before 2018 after 1982"), line("before 2"), "By how much did it fall?",
         "It fell by 36, from 2018 to 1982.", RIGHT),
        (text("city=Oslo", "city=Rome", "city=Bergen"),
         "import re\nfor c in re.findall('city=(\\w+)', context): print(c)", "How many cities are there, and which?",
         "3: Oslo, Rome and Bergen", RIGHT),
        (text("departure 14:30 from Bergen"), line("departure"), "When does it leave?",
         "It leaves Bergen at 2:30 pm.", RIGHT),
    ],
    "scale": [
        (text("population 1.08"), numbers("population"), "What is the population?", "1.08 billion", WRONG),
        (text("population 1080000000"), numbers("population"), "What is the population?", "1.08 billion", RIGHT),
        (text("population (billion): 1.08"), line("population"), "What is the population?", "1.08 billion", RIGHT),
        (text("population 1.08"), numbers("population"), "What is the population in billions?", "1.08 billion",
         RIGHT),
        (text("population 4483145"), numbers("population"), "What is the population?", "4483 million", WRONG),
        (text("Einwohner 4483145"), numbers("Einwohner"), "Wie viele Einwohner sind es?", "etwa 4,48 Millionen",
         RIGHT),
        (text("Umsatz 4.48"), numbers("Umsatz"), "Wie hoch ist der Umsatz?", "4,48 Millionen Euro", WRONG),
        (text("population 1080000000"), numbers("population"), "人口是多少？", "10.8亿", RIGHT),
        (text("population 10.8"), numbers("population"), "人口是多少？", "10.8亿", WRONG),
        (text("revenue 12400"), numbers("revenue"), "What was the revenue?", "12.4k", RIGHT),
        (text("revenue 12.4"), numbers("revenue"), "What was the revenue?", "12.4k", WRONG),
        (text("recettes 4483145"), numbers("recettes"), "Quelles sont les recettes ?", "4,48 millions d'euros",
         RIGHT),
    ],
    "dates": [
        (text("born 1821-11-03 in Bergen"), line("born"), "When was she born?", "1821-03-11", WRONG),
        (text("born 1821-11-03 in Bergen"), line("born"), "When was she born?", "1821-11-03", RIGHT),
        (text("born 1821-11-03 in Bergen"), line("born"), "Wann wurde sie geboren?", "03.11.1821", RIGHT),
        (text("born 1821-11-03 in Bergen"), line("born"), "Wann wurde sie geboren?", "11.03.1821", WRONG),
        (text("born 1821-11-03 in Bergen"), line("born"), "When was she born?", "11/03/1821", RIGHT),
        (text("born 1821-11-03, wed 1841-03-11, moved 1821-03-11"), line("born"), "When did she move?", "1821-03-11",
         RIGHT),
        (text("born 1821-11-03 in Bergen"), line("born"), "When was she born?", "on 3 November 1821", RIGHT),
        (text("born 1821-11-03 in Bergen"), line("born"), "When was she born?", "on 11 March 1821", WRONG),
        (text("due 04/05/2024"), line("due"), "When is it due?", "2024-05-04", RIGHT),
    ],
    "names": [
        (text("The keeper of the lighthouse was a tall woman."), line("The keeper"), "What was the keeper called?",
         "Morwenna Tregarth", WRONG),
        (text("The keeper of the lighthouse was a tall woman."), line("The keeper"), "What was the keeper called?",
         "The keeper was called Morwenna Tregarth.", WRONG),
        (text("The keeper of the lighthouse was Morwenna Tregarth."), line("The keeper"),
         "What was the keeper called?", "Her name was Morwenna Tregarth.", RIGHT),
        (text("keeper: Tregarth, Morwenna"), line("keeper"), "What was the keeper called?", "Morwenna Tregarth",
         RIGHT),
        (text("keeper: Jose Muller"), line("keeper"), "What was the keeper called?", "José Müller", RIGHT),
        (text("keeper: Tregarth"), line("keeper"), "What was the keeper called?", "They call her Captain Tregarth.",
         RIGHT),
        (text("orders: 17"), line("orders"), "Wie viele Bestellungen stehen im Text der Notiz?",
         "Es sind 17 Bestellungen im ganzen Text, alle aus dem Lager Nord.", RIGHT),
        (text("sign: Cafe Zurich"), line("sign"), "What does the sign say?", "It says \"Café Zürich\".", RIGHT),
        (text("sign: Cafe Zurich"), line("sign"), "What does the sign say?", "It says \"Café Genève\".", WRONG),
        (text("buyer: US"), line("buyer"), "Who bought it?", "It was sold to the United States.", RIGHT),
        (text("The keeper of the lighthouse was Morwenna Tregarth."), line("The keeper"),
         "What was the keeper called?", "Morwenna Penhaligon", WRONG),
        (text("The ship left in spring."), line("The ship"), "Where did the ship go?", "It went to San Marino.",
         WRONG),
        (text("The ship left in spring."), line("The ship"), "Which language is it in?",
         "The text is in English.", RIGHT),
        (ORDERS, "c={'Small Orders': sum(r['amount']<50 for r in records)}\nprint(c)", "Which class is larger?",
         "The larger class is Small Orders with 60.", RIGHT),
        (text("keeper: Anna Holm"), line("keeper"), "Whose lighthouse is it?", "It is Anna Holm's lighthouse.",
         RIGHT),
    ],
    "denial": [
        (text("Agnes Moor is proprietor of that strongroom.", before=100, after=3), "print(context[:600])",
         "Who owns the vault?", "The text does not say who owns the vault.", WRONG),
        (text("Agnes Moor is proprietor of that strongroom.", before=100, after=3), "print(context[:600])",
         "Who owns the vault?", "not stated", WRONG),
        (text("The vault lies below the mill."), "print(doc.grep('vault'))", "Who owns the vault?",
         "The text does not say who owns the vault.", RIGHT),
        (text("The vault lies below the mill."), "print([l for l in context.splitlines() if 'vault' in l])",
         "Who owns the vault?", "The text does not say who owns the vault.", RIGHT),
        (text("Agnes Moor besitzt jenen Geldschrank.", before=100, after=3), "print(context[:600])",
         "Wem gehört der Tresor?", "Das steht nicht im Text.", WRONG),
        (text("The vault is owned by Agnes Moor.", before=3, after=100), "print(context[:600])",
         "Who owns the vault?", "Agnes Moor", RIGHT),
        (text("The vault is owned by Agnes Moor.", before=3, after=100), "print(context[:600])",
         "Is the vault owned by Agnes Moor?", "Yes", RIGHT),
        (text("Agnes Moor is proprietor of that strongroom.", before=100, after=3),
         "print(llm_query('Who owns the vault? ' + context[:600]))", "Who owns the vault?",
         "The text does not mention any owner.", WRONG, "NONE"),
        (parcels("sent back"), "for r in records[:5]: print(r)", "Was any parcel returned?",
         "No parcel was returned.", WRONG),
        (parcels("delivered"), "print({r['state'] for r in records})", "Was any parcel returned?",
         "No parcel was returned.", RIGHT),
        (parcels("lost"), "n=0\nfor i in range(40):\n    if records[i]['state']=='lost': n+=1\nprint(n)",
         "How many parcels were lost?", "0", WRONG),
        (text("Anna Holm wept when the mill burned down.", before=3, after=2), "print(context[:600])",
         "What did Anna Holm do when the mill burned?", "She wept.", RIGHT),
    ],
    "units": [
        (text("length: 42.195 km"), line("length"), "How long is it in miles?", "26.2 miles", RIGHT),
        (text("length: 42.195 km"), line("length"), "How long is it in miles?", "24.6 miles", WRONG),
        (text("duration 135 min"), line("duration"), "How long did it take?", "2.25 h", RIGHT),
        (text("duration 135 min"), line("duration"), "How long did it take?", "2 h 15 min", RIGHT),
        (text("duration 135 min"), line("duration"), "How long did it take?", "2 h 45 min", WRONG),
        (text("rate 12.5 %"), line("rate"), "What is the rate as a fraction?", "0.125", RIGHT),
        (text("size 3221225472 bytes"), line("size"), "How large is it?", "3 GiB", RIGHT),
        (text("noon: 25 C"), line("noon"), "How warm was it in °F?", "77 °F", RIGHT),
        (text("Gewicht: 80 kg"), line("Gewicht"), "Wie viele Pfund sind es?", "176 lb", RIGHT),
    ],
    "operands": [
        (text("price 40"), numbers("price"), "What is 8 % of the price?", "3.2", RIGHT),
        (text("price 40"), numbers("price"), "What is 8 % of the price?", "3.6", WRONG),
        (text("price 240"), numbers("price"), "What is the price with 19 % tax?", "285.60", RIGHT),
        (text("price 17.25"), numbers("price"), "What do 6 of them cost?", "103.5", RIGHT),
        (text("price 17.25"), numbers("price"), "What do 6 of them cost?", "107.5", WRONG),
        (text("failed: 141"), numbers("failed"), "What share of the 4000 jobs failed?", "3.5 %", RIGHT),
    ],
}

REPORT = text("Revenue rose from 48.2 million euros to 53.7 million euros. It had 1,284 employees, of whom 412 "
              "were women. It moved on 1 October 2024.")
LIMITS = ("limits.json", json.dumps({"limits": {"rate": 250, "burst": 40, "timeout_ms": 15000}, "x": ["y"] * 900}))
KELLERS = "print(sum(r['customer'] == 'Keller' for r in records))"  # 12 of 60 rows
ROWS["forms"] = [
    (text("at 2025-03-05T16:14:00"), line("at 2"), "When was it?", "5 March 2025 at 16:14", RIGHT),
    (text("at 2025-03-05T16:14:00"), line("at 2"), "When was it?", "5 March 2025 at 16:41", WRONG),
    (text("post: 312 of 600"), numbers("post"), "What percentage is it?", "52 percent", RIGHT),
    (text("post: 312 of 600"), numbers("post"), "What percentage is it?", "57 percent", WRONG),
    (text("lost: 55 of 600"), numbers("lost"), "What percentage is it?", "about 9 %", RIGHT),
    (ORDERS, KELLERS, "What share of the orders did Keller place?", "20 %", RIGHT),
    (ORDERS, KELLERS, "What share of the orders did Keller place?", "24 %", WRONG),
    (REPORT, line("Revenue"), "By how much did revenue grow?", "11.4 %", RIGHT),
    (REPORT, line("Revenue"), "By how much did revenue grow?", "14.1 %", WRONG),
    (REPORT, line("Revenue"), "By how much did revenue grow?", "5.5 million euros", RIGHT),
    (REPORT, line("Revenue"), "By how much did revenue grow?", "6.5 million euros", WRONG),
    (REPORT, line("Revenue"), "When did it move?", "01/10/2024", RIGHT),
    (REPORT, line("Revenue"), "When did it move?", "1 November 2024", WRONG),
    (text("log 2025-06-02 08:00:30 to 2025-06-02 17:42:00"), line("log"), "How long is it?", "9 h 41 min", RIGHT),
    (text("log 2025-06-02 08:00:30 to 2025-06-02 17:42:00"), line("log"), "How long is it?", "8 h 41 min", WRONG),
    (LIMITS, "import json\nprint(json.loads(context)['limits'])", "What is the timeout?", "15 seconds", RIGHT),
    (text("words 27923"), numbers("words"), "How many words?", "about 28,000", RIGHT),
    (text("ran 42.195 kilometres"), line("ran"), "How far did he run?", "42.195 miles", WRONG),
]
SHOWN = line("Revenue") + "\n```\n```repl\n"  # two blocks
ROWS["constants"] = [
    (REPORT, SHOWN + "print((1284 - 412) * 3)", "What do 3 tickets for each man come to?", "2616", RIGHT),
    (REPORT, SHOWN + "print((1284 - 412) * 37)", "What do the men cost?", "32264", WRONG),
]
SHOP = ("shop.csv", "order,customer,city\n1,Anna,Berlin\n" + "".join(f"{i},C{i},Rome\n" for i in range(3, 900)))
ANNA = "print([r for r in records if r['customer'] == 'Anna'])"
ROWS["citations"] = [  # where an answer stands is no claim: NAME is the file
    (SHOP, ANNA, "Where does Anna live?", "Anna lives in Berlin [NAME:2].", RIGHT),
    (SHOP, ANNA, "Where does Anna live?", "Anna lives in Berlin [NAME:2]. She has 7 orders.", WRONG),
    (SHOP, ANNA + "\nc = cite(records[0:1])\nprint(c)", "Where does Anna live?", "Anna lives in Berlin.", RIGHT),
    (SHOP, "few = records[:100]\nprint(sum(r['city'] == 'Rome' for r in few), cite(few))",
     "How many live in Rome?", "99", WRONG),
]

TOWNS = ("towns.csv", "order,city\n" + "".join(f"{i},{('Berlin', 'Rome')[i % 2]}\n" for i in range(900)))
ROWS["values"] = [  # of a part of the rows: a common value that was shown is no verdict on all of them
    *((TOWNS, "print(records[0])", "Which town is the first order from?", answer, RIGHT)
      for answer in ("Berlin", "It was Berlin.", "In Berlin.")),
    (TOWNS, "print(records[0])", "Which town is the first order from?", "It was Rome.", WRONG),
    (TOWNS, "print(records[0])", "Which town is the first order from?", "It is not known.", WRONG),
]


NOVEL = text("Mrs. Ottilie Brakspear kept the inn called The Blue Heron.", before=200, after=100)
INN = "What is the inn of Mrs. Brakspear called?"
CITIES = ("people.csv", "name,city\n" + "".join(f"n{i},{('Bern', 'bern ')[i % 2]}\n" for i in range(60)))
ZEROS_AND_DENIALS = [
    (NOVEL, "print(context.count('lighthouse'))", "How often is the lighthouse named?", "0", RIGHT),
    (NOVEL, "print(sum('murder' in l.lower() for l in context.splitlines()))", "How many murders?", "0", RIGHT),
    (parcels("lost"), "print(Counter(r['state'] for r in records))", "How many were returned?", "0", RIGHT),
    (parcels("lost"), "print(Counter(r['state'] for r in records))\n"
     "print(sum(r['state'] in ('returned', 'back') for r in records))", "How many were returned?", "0", RIGHT),
    (parcels("lost"), "print(sum(r['state'] == 'returned' for r in records))", "How many were returned?", "0",
     WRONG),
    (parcels("Lost"), "print(sum(r['state'] == 'lost' for r in records))", "How many were lost?", "0", WRONG),
    (ORDERS, "print(sum(r['amount'] is None or r['amount'] == '' for r in records))",
     "How many amounts are missing?", "0", RIGHT),
    (ORDERS, "print(sum(r['amount'] == 99 for r in records))", "How many cost 99?", "0", RIGHT),
    (CITIES, "print(sum(r['city'] == 'Bern' for r in records), "
     "sum(r['city'].strip().lower() == 'bern' for r in records))", "How many live in Bern?",
     "60 (30 of them written 'bern ')", RIGHT),
    *((NOVEL, "print(context[:900])", INN, denial, WRONG)
      for denial in ("It is not stated.", "Unknown.", "No.", "The note does not say.", "0")),
    (NOVEL, "print(context)", "Is there a lighthouse?", "It is not stated.", RIGHT),
    (parcels("lost"), "for l in context.splitlines()[:5]: print(l)", "Was any parcel lost?",
     "No parcel was lost.", WRONG),
    (parcels("lost"), "print(list(records)[:5])", "Was any parcel lost?", "No parcel was lost.", WRONG),
]


PRICES = ("prices.csv", "id,city,amount,when\n" + "".join(
    f"{i},{('Oslo', 'Rome', 'Kyiv')[i % 3]},{i * 7},{i:02d}/03/{2019 + i % 6}\n" if i % 5 else
    f'{i},Oslo,"1,{i:03d}",{i:02d}/11/2018\n' for i in range(1, 29)))
NOTE = text("The access number of the vault is 739205.", "Every evening she played the clarinet.",
            "I shall never see her again, and the house is dark.")
ASK = "x = llm_query('{} ' + context)\nprint(x)"
ROWS["sql"] = [
    (ORDERS, "print(sql(\"select count(*) c from records where customer = 'keller'\"))",
     "How many orders did Keller place?", "0", WRONG),
    (ORDERS, "print(sql(\"select id from records where customer = 'keller'\"))",
     "Which orders did Keller place?", "none", WRONG),
    (ORDERS, "print(sql('select sum(amount) s from records where customer = ?', 'keller'))",
     "What did Keller pay?", "0", WRONG),
    (CITIES, "print(sql(\"select count(*) c from records where city = 'Bern'\"))", "How many live in Bern?", "30", WRONG),
    (PRICES, "print(sql('select sum(amount) s from records')[0]['s'])", "What is the sum of amounts?", "2322", WRONG),
    (PRICES, "print(sql('select max(\"when\") m from records')[0]['m'])", "What is the latest date?", "28/03/2023", WRONG),
    (ORDERS, "print(sum(r['amount'] for r in sql('select amount from records limit 20')))",
     "What is the sum of amounts?", "567.5", WRONG),
    (ORDERS, "print(sql(\"select count(*) c, sum(amount) s from records where customer = 'Keller'\"))",
     "How many orders did Keller place, and for how much?", "12 orders, 340.5 in total", RIGHT),
    (ORDERS, "print(sql('select customer, count(*) n from records group by customer order by n desc limit 1'))",
     "Who placed the most orders?", "Brandt", RIGHT),
    (CITIES, "print(sql(\"select count(*) c from records where lower(trim(city)) = 'bern'\"))",
     "How many live in Bern?", "60", RIGHT),
    (PRICES, "print(sql(\"select sum(cast(replace(amount, ',', '') as integer)) s from records\")[0]['s'])",
     "What is the sum of amounts?", "7392", RIGHT),
    (ORDERS, "print(sql('select count(*) c from records where amount > 99'))", "How many cost more than 99?", "0", RIGHT),
    (ORDERS, "print(sql('select * from records limit 2'))\nprint(sql('select avg(amount) a from records'))",
     "What is the mean amount?", "28.375", RIGHT),
    (ORDERS, "print(sql('select id from records order by id desc limit 3'))", "Which are the last three orders?",
     "60, 59 and 58", RIGHT)]
ROWS["asked"] = [
    (ORDERS, "print(sum(r['customer'] != 'Brandt' for r in records))", "How many orders are from Keller?", "12", RIGHT),
    (PRICES, "print(Counter(r['city'] for r in records))", "How many rows are from Kyiv?", "7", RIGHT),
    (PRICES, "print(sum(r['city'] not in ('Rome', 'Kyiv') for r in records))", "How many rows are from Oslo?", "13", RIGHT),
    (ORDERS, "w = 'kell'\nprint(sum(w in r['customer'].lower() for r in records))", "How many orders has Keller?",
     "12", RIGHT),
    (ORDERS, "print(sum(r['customer'].startswith('K') for r in records))", "How many names begin with K?", "12", RIGHT),
    (NOTE, "print(doc.grep('acces number'))", "What is the access number?", "The text does not say.", WRONG),
    (NOTE, "print(doc.grep('lighthouse'))", "What is the number of the lighthouse?", "The text does not say.", RIGHT)]
ROWS["words"] = [
    (NOTE, ASK.format("Which instrument?"), "Which instrument does she play?", "the clarinet", RIGHT, "the clarinet"),
    (NOTE, ASK.format("Which instrument?"), "Which instrument does she play?", "Clarinets", RIGHT, "Clarinets"),
    (NOTE, ASK.format("Is the mood cheerful or gloomy?"), "Is the mood cheerful or gloomy?", "gloomy", RIGHT, "gloomy"),
    (NOTE, ASK.format("Answer positive or negative: the sentiment?"), "What is the sentiment?", "negative", RIGHT, "negative"),
    (NOTE, ASK.format("Is there a vault?"), "Is there a vault?", "yes", RIGHT, "yes")]



class ClaimsTest(harness.Case):
    def status(self, number: int, row: tuple) -> str:
        (name, content), code, question, answer, _, *sub = row
        rules = [{"purpose": "root", "times": 1, "reply": f"```repl\n{code}\n```"},
                 *({"purpose": "subcall", "reply": reply} for reply in sub),
                 {"purpose": "root", "times": "always", "reply": f"FINAL({answer})"}]
        context = self.write(f"{number}-{name}", content)
        rules[-1]["reply"] = rules[-1]["reply"].replace("NAME", f"{number}-{name}")
        script = self.write(f"{number}.json", json.dumps(rules))
        _, out, err = self.run_to_end("ask", "--mode", "recursive", "--json", "-m", "scripted",
                                      "--script", script, "-c", context, question)
        return json.loads(out)["status"] if out.startswith("{") else err

    def test_answers(self):  # FLT-36
        rows = [*(row for topic in ROWS.values() for row in topic), *ZEROS_AND_DENIALS]
        self.status(0, rows[0])  # makes the home
        with futures.ThreadPoolExecutor(2) as pool:
            found = list(pool.map(self.status, range(len(rows)), rows))
        for row, status in zip(rows, found):
            with self.subTest(question=row[2], answer=row[3]):
                self.assertEqual(status, row[4])


if __name__ == "__main__":
    harness.main()
