"""The tune half of the untuned questions: its data, and each question with its truth.

Whoever changes a prompt or the engine may read this half and ask it as often as wanted. The held
half (untuned_held.py) is read by nobody who does, see docs/small-models.md.
"""

import collections
import json
import pathlib
import random
import re
import shutil

import untuned_data as data
import untuned_short
from grading import Question


def make_loans(path: pathlib.Path) -> None:
    rng = random.Random(4101)
    data.write_table(path, [{
        "loan_id": 70000 + number, "branch": rng.choices(
            ["Riverside", "Old Town", "Harbour", "Hillcrest"], weights=[7, 9, 4, 5])[0],
        "member_type": rng.choices(["adult", "child", "senior"], weights=[6, 3, 2])[0],
        "genre": rng.choice(["novel", "travel", "science", "comics", "history", "music"]),
        "borrowed": data.day(rng, (2024, 2025)), "days_kept": rng.randrange(1, 61),
        "fine_cents": rng.choice([0, 0, 0, 50, 120, 275]),
        "returned": rng.choices(["yes", "no"], weights=[11, 1])[0]} for number in range(2400)])


def make_gauges(path: pathlib.Path) -> None:
    rng = random.Random(4102)
    stations = {"Lindau": 310, "Maxau": 470, "Kaub": 180, "Ruhrort": 420, "Wesel": 355}
    data.write_table(path, [{
        "measured_at": f"2025-{1 + hour // 300:02d}-{1 + hour // 12 % 25:02d} {hour * 2 % 24:02d}:00",
        "station": station, "level_cm": level + int(rng.gauss(0, 45)),
        "water_temperature_c": round(11 + rng.gauss(0, 3), 1), "operator": rng.choice("ABC")}
        for hour in range(700) for station, level in stations.items()])


def make_rides(path: pathlib.Path) -> None:
    rng = random.Random(4103)
    bikes = [{"number": f"B{rng.randrange(1000, 9999)}", "drive": rng.choice(["electric", "pedal"])}
             for _ in range(260)]
    places = ["Museum", "North Station", "University", "Fish Market", "Stadium"]
    data.write_lines(path, [{
        "ride": number, "start": data.day(rng, (2025,)), "bike": rng.choice(bikes),
        "from": rng.choice(places), "to": rng.choice(places), "metres": rng.randrange(300, 14000),
        "rider": {"age": rng.randrange(16, 80), "subscriber": rng.random() < 0.6}}
        for number in range(1, 3201)])


def make_specimens(path: pathlib.Path) -> None:
    rng = random.Random(4104)
    collectors = ["I. Vasquez", "T. Lindqvist", "R. Adeyemi", "M. Sorel", "P. Hakala"]
    rows = []
    for number in range(1, 1501):
        country = rng.choice(["Peru", "Iceland", "Kenya", "Finland", "Nepal", "Chile"])
        rows.append({"specimen": f"S-{number:05d}", "collector": rng.choices(
            collectors, weights=[5, 7, 9, 4, 6])[0], "country": country,
            "year": rng.randrange(1902 if country == "Iceland" else 1840, 1975),
            "order": rng.choice(["beetle", "moth", "bee", "fly"]), "grams": rng.randrange(1, 90) / 10})
    path.write_text(json.dumps(rows, indent=1), "utf-8")


def make_gateway_log(path: pathlib.Path) -> None:
    rng = random.Random(4105)
    lines = []
    for second in range(9000):
        stamp = f"2025-06-{3 + second // 3600:02d} {6 + second // 600 % 6:02d}:{second // 10 % 60:02d}:" \
                f"{second % 10 * 6:02d}"
        service = rng.choice(["billing", "mailer", "search", "auth", "images"])
        level, text = rng.choices(
            [("info", f"request {rng.randrange(10**6):06d} served in {rng.randrange(2, 900)} ms"),
             ("info", f"{rng.randrange(2, 40)} jobs left in the queue"),
             ("warn", f"slow answer from host db{rng.randrange(1, 6)}"),
             ("error", f"timeout after {rng.choice([5, 10, 30])} s, giving up"),
             ("error", "connection refused by upstream")], weights=[60, 20, 8, 5, 3])[0]
        lines.append(f"{stamp} [{level}] {service}: {text}\n")
    path.write_text("".join(lines), "utf-8")


def make_school(path: pathlib.Path) -> None:
    rng = random.Random(4106)
    names = ["Ada", "Ben", "Cleo", "Dino", "Eve", "Finn", "Gus", "Ivy", "Jon", "Kaja", "Leo", "Mia"]
    classes = [{"name": name, "room": rng.randrange(100, 340), "teacher": {
        "name": teacher, "subjects": rng.sample(["maths", "music", "sport", "art", "latin"], 2)},
        "pupils": [{"name": rng.choice(names), "age": rng.randrange(10, 17),
                    "marks": {"maths": rng.randrange(1, 7), "art": rng.randrange(1, 7)}}
                   for _ in range(size)]}
        for name, teacher, size in (("5a", "Brandt", 24), ("5b", "Olsen", 27), ("6a", "Pereira", 31),
                                    ("6b", "Nowak", 22), ("7a", "Ibarra", 29), ("7c", "Fujita", 26))]
    path.write_text(json.dumps({"school": {"name": "Linden School", "founded": 1931,
                                           "classes": classes}}, indent=2), "utf-8")


def make_invoices(customers: pathlib.Path, invoices: pathlib.Path) -> None:
    rng = random.Random(4107)
    ids = [f"C{number:03d}" for number in range(1, 121)]
    data.write_table(customers, [{
        "customer_id": which, "name": f"{rng.choice(['Nord', 'Alba', 'Tessa', 'Orion'])} "
        f"{rng.choice(['Foods', 'Timber', 'Optics', 'Freight'])} {which[1:]}",
        "country": rng.choice(["Norway", "Spain", "Poland", "Ireland", "Italy"])} for which in ids])
    data.write_table(invoices, [{
        "invoice": 5000 + number, "customer_id": rng.choice(ids), "issued": data.day(rng, (2025,)),
        "amount_eur": rng.randrange(40, 9000), "paid": rng.choice(["yes", "yes", "no"])}
        for number in range(900)])


def tables(folder: pathlib.Path) -> list[Question]:
    make_loans(folder / "loans.csv")
    make_gauges(folder / "gauges.tsv")
    make_rides(folder / "rides.ndjson")
    make_specimens(folder / "specimens.json")
    make_gateway_log(folder / "gateway.log")
    make_school(folder / "school.json")
    make_invoices(folder / "customers.csv", folder / "invoices.csv")
    # A copy: the file changes when anything is installed while the questions are asked.
    shutil.copyfile("/var/lib/dpkg/status", folder / "status.txt")

    loans = data.read_table(folder / "loans.csv")
    gauges = data.read_table(folder / "gauges.tsv")
    rides = data.read_lines(folder / "rides.ndjson")
    specimens = json.loads((folder / "specimens.json").read_text("utf-8"))
    collectors = collections.Counter(row["collector"] for row in specimens)
    classes = json.loads((folder / "school.json").read_text("utf-8"))["school"]["classes"]
    biggest = data.only_largest(classes, lambda one: len(one["pupils"]))
    countries = {row["customer_id"]: row["country"] for row in data.read_table(folder / "customers.csv")}
    invoices = data.read_table(folder / "invoices.csv")
    highest = data.only_largest(gauges, lambda row: int(row["level_cm"]))
    lindau = [float(row["water_temperature_c"]) for row in gauges if row["station"] == "Lindau"]

    def ask(files: str, text: str, *wanted, **more) -> Question:
        return Question("table", tuple(files.split()), text, wanted, **more)

    return [
        ask("loans.csv", "How many loans of the branch Riverside have not been returned?",
            sum(row["branch"] == "Riverside" and row["returned"] == "no" for row in loans)),
        ask("loans.csv", "How many loans began in March 2025?",
            sum(row["borrowed"].startswith("2025-03") for row in loans)),
        ask("gauges.tsv", "What is the average water temperature at the station Lindau, rounded to "
            "two decimals?", sum(lindau) / len(lindau)),
        ask("gauges.tsv", "At which station was the highest level of all measured, and how many "
            "centimetres was it?", highest["station"], int(highest["level_cm"]),
            rivals=tuple(sorted({row["station"] for row in gauges} - {highest["station"]}))),
        ask("rides.ndjson", "How many different bikes were used?",
            len({row["bike"]["number"] for row in rides})),
        ask("rides.ndjson", "How many metres were ridden on electric bikes altogether?",
            sum(row["metres"] for row in rides if row["bike"]["drive"] == "electric")),
        ask("specimens.json", "Which collector contributed the most specimens?",
            data.first(collectors), also=(max(collectors.values()),),
            rivals=tuple(name for name in collectors if name != data.first(collectors))),
        ask("specimens.json", "How many specimens from Iceland were collected before 1900?",
            sum(row["country"] == "Iceland" and row["year"] < 1900 for row in specimens)),
        ask("status.txt", "How many of the packages have the architecture all?",
            len(re.findall(r"^Architecture: all$", (folder / "status.txt").read_text("utf-8"), re.M))),
        ask("gateway.log", "How many times did the service billing run into a timeout?",
            sum(" billing: timeout" in line
                for line in (folder / "gateway.log").read_text("utf-8").splitlines())),
        ask("school.json", "Which class has the most pupils?", biggest["name"],
            also=(len(biggest["pupils"]),),
            rivals=tuple(one["name"] for one in classes if one is not biggest)),
        ask("customers.csv invoices.csv", "What is the total amount in euros of the invoices that "
            "went to customers in Norway?", sum(int(row["amount_eur"]) for row in invoices
                                                if countries[row["customer_id"]] == "Norway")),
    ]


def prose(folder: pathlib.Path, cache: pathlib.Path) -> list[Question]:
    data.plant(cache, "policy", folder / "policy.txt", [
        (0.13, "The bakery's lorry was limited to 61 kilometres an hour, which its driver never minded."),
        (0.37, "On the empty coast road the delivery van that ran after dark never went faster than "
               "94 kilometres an hour, and nobody ever saw it do better."),
        (0.58, "In the cellar of Harrow Lodge there is room for 140 guests at the harvest supper."),
        (0.81, "The fire warden decided that no more than 173 people may be in the ballroom of "
               "Harrow Lodge at once.")])
    data.plant(cache, "developers", folder / "developers.txt", [
        (0.22, "When the stargazing house at Penmarra was finished, its doors were cut from elm, "
               "since oak had become too dear."),
        (0.49, "The lighthouse at Cape Verrin took nine years to build, and its first keeper had "
               "seven children."),
        (0.77, "The boat shed below Penmarra has doors of larch.")])
    data.plant(cache, "faq-de", folder / "handbuch-de.txt", [
        (0.18, "Wer den Kahn am Nordufer leihen will, zahlt 46 Taler für den ganzen Tag."),
        (0.44, "Die kleine Glocke im Rathaus von Wendelstein stammt erst aus dem Jahr 1841."),
        (0.66, "Die Glocke der Kapelle oberhalb von Wendelstein wurde 1783 gegossen."),
        (0.90, "Am Südufer kostet ein Kahn für den ganzen Tag 27 Taler.")])
    data.plant(cache, "reference-fr", folder / "manuel-fr.txt", [
        (0.15, "La clef du grenier à sel est suspendue derrière le portrait de la tante Hortense."),
        (0.35, "Celle de la cave à cidre se cache sous le pot de basilic."),
        (0.72, "Au terme de la régate, l'équipage de Morlaix franchit la ligne en tête, devant "
               "celui de Cancale.")], start=0.3, size=300_000)
    data.plant(cache, "reference-es", folder / "manual-es.txt", [
        (0.20, "El maestro relojero guardaba en la trastienda 87 relojes que nadie había venido a "
               "recoger."),
        (0.52, "El alcalde de Villafría perdió su sombrero en el río la víspera de la fiesta."),
        (0.85, "El zapatero de la esquina tenía 52 pares de botas sin dueño.")],
        start=0.55, size=280_000)
    data.plant(cache, "reference-zh", folder / "shouce-zh.txt", [
        (0.17, "磨坊地窖的门锁密码是7391，老管家从不告诉外人。"),
        (0.48, "粮仓的门锁密码是5528，只有账房先生记得。"),
        (0.79, "茶馆老板最喜欢的客人，是从泉州来的船长沈望舒。")], start=0.1, size=260_000)

    def ask(file: str, text: str, *wanted, **more) -> Question:
        return Question("prose", (file,), text, wanted, **more)

    return [
        ask("policy.txt", "What was the top speed of the courier's van that drove at night?", 94),
        ask("policy.txt", "What is the max number of visitors allowed in the dance hall of Harrow "
            "Lodge?", 173),
        ask("developers.txt", "What sort of wood are the doors of the observatory at Penmarra made "
            "of?", "elm", rivals=("larch",)),
        ask("developers.txt", "What was the total cost of the lighthouse at Cape Verrin?", absent=True),
        ask("handbuch-de.txt", "In welchem Jahr entstand die Glocke des Kirchleins über Wendelstein?",
            1783),
        ask("handbuch-de.txt", "Was kostet es, am nördlichen Ufer einen Tag lang ein Boot zu mieten?",
            46),
        ask("manuel-fr.txt", "Où se trouve la clé qui ouvre la réserve de sel ?", "Hortense",
            rivals=("basilic",)),
        ask("manuel-fr.txt", "Quelle ville a gagné la course de bateaux ?", "Morlaix",
            rivals=("Cancale",)),
        ask("manual-es.txt", "¿Cuántos relojes sin reclamar había en el taller del relojero?", 87),
        ask("manual-es.txt", "¿De qué color era el sombrero que perdió el alcalde de Villafría?",
            absent=True),
        ask("shouce-zh.txt", "用哪个号码可以打开磨坊的地下室？", 7391),
        ask("shouce-zh.txt", "茶馆的主人最偏爱的那位来客叫什么名字？", "沈望舒"),
    ]


SHOP = {
    "transport/queue.py": """import time

MAX_RETRIES = 6
POLL_SECONDS = 0.25


def drain(queue, send):
    for item in queue:
        for attempt in range(MAX_RETRIES):
            if send(item):
                break
            time.sleep(POLL_SECONDS * attempt)
""",
    "transport/http.py": """MAX_RETRIES = 3
TIMEOUT_SECONDS = 20


def fetch(session, address):
    for _ in range(MAX_RETRIES):
        reply = session.get(address, timeout=TIMEOUT_SECONDS)
        if reply.ok:
            return reply
    return None
""",
    "transport/mail.py": """MAX_RETRIES = 11


def deliver(server, letter):
    return any(server.accept(letter) for _ in range(MAX_RETRIES))
""",
    "ledger/close.py": """from ledger.rates import vat


def settle_invoice(invoice, payments):
    open_amount = invoice.net + vat(invoice) - sum(payment.amount for payment in payments)
    invoice.closed = open_amount <= 0
    return open_amount
""",
    "ledger/rates.py": """RATES = {"standard": 19, "reduced": 7}


def vat(invoice):
    return invoice.net * RATES[invoice.kind] // 100
""",
    "ledger/report.py": """from ledger.close import settle_invoice


def overdue(invoices, payments):
    return [one for one in invoices if settle_invoice(one, payments[one.number]) > 0]
""",
    "web/basket.ts": """const MAX_RETRIES = 2;

export function add(basket: string[], item: string): string[] {
  return [...basket, item];
}
""",
    "web/pay.ts": """import { add } from "./basket";

export const pay = (basket: string[]) => add(basket, "fee").length;
""",
    "web/page.css": "body { margin: 0; }\n.basket { color: #224; }\n",
    "settings/shop.toml": "[shop]\nname = \"Corner\"\nmax_retries = 8\n",
    "settings/mail.toml": "[mail]\nserver = \"mail.invalid\"\n",
    "settings/limits.toml": "[limits]\nbasket = 40\n",
    "settings/banner.toml": "[banner]\ntext = \"Open on Sunday\"\n",
    "README.md": "# Corner shop\n\nThe ledger settles invoices, the web shows the basket.\n",
}


def folders(folder: pathlib.Path) -> list[Question]:
    places = ["mill", "school", "harbour", "chapel", "market", "forest", "quarry", "orchard",
              "fire-brigade", "library", "post-office", "bathhouse"]
    names = [f"{year}/{place}.md" for year in ("2023", "2024", "2025") for place in places]
    names = [name.replace("/", f"/{name[:4]}-") for name in names]
    data.write_pages(folder / "council", 4201, names, [
        "The council", "A group of parents", "The village carpenter", "Mrs Albers", "The treasurer",
        "A visitor from the county", "The youth club", "The night watchman"], [
        "asked for a new fence along the lane", "reported that the roof is dry again",
        "offered to paint the benches before Easter", "wants the minutes to be read aloud",
        "thanked the volunteers for the long evening", "counted the chairs and found two missing",
        "suggested to move the meeting to Thursday", "complained about the noise of the pump"], {
        "2024/2024-quarry.md": "The surveyor found a Roman coin of the emperor Hadrian under the crane.",
        "2023/2023-market.md": "Someone sold saffron at half the usual price.",
        "2023/2023-orchard.md": "A basket of saffron was left at the gate.",
        "2024/2024-chapel.md": "The new window is as yellow as saffron.",
        "2025/2025-harbour.md": "A crate of saffron fell into the water.",
        "2025/2025-library.md": "The cook book on saffron has been returned.",
        "2025/2025-market.md": "The stall with saffron has moved to the corner."})
    data.write_tree(folder / "shop", SHOP)
    council, shop = folder / "council", folder / "shop"
    pages = [path for path in council.rglob("*.md")]
    longest = data.only_largest(pages, lambda path: len(path.read_text("utf-8")))

    def ask(where: str, text: str, *wanted, **more) -> Question:
        return Question("folder", (where,), text, wanted, **more)

    return [
        ask("council", "Which file tells of an ancient coin?",
            pathlib.Path(data.only(data.files_with(council, "Roman coin"))).stem),
        ask("council", "How many of the files contain the word saffron?",
            len(data.files_with(council, "saffron"))),
        ask("council", "Which file is the longest?", longest.stem,
            rivals=tuple(path.stem for path in sorted(pages) if path != longest)),
        ask("shop", "What is the value of MAX_RETRIES in transport/queue.py?", 6),
        ask("shop", "Which file defines the function settle_invoice?",
            pathlib.Path(data.only(data.files_with(shop, "def settle_invoice"))).name,
            rivals=("report.py", "rates.py")),
        ask("shop", "How many files end in .toml?", len(list(shop.rglob("*.toml")))),
    ]


# (file, field, question, kind asked for, {kind: texts})
JUDGED = [
    ("films.csv", "review", "How many of the reviews are negative rather than positive?", "negative", {
        "negative": ["I looked at my watch every five minutes.",
                     "Two hours of my life that nobody gives back to me.",
                     "The plot falls apart before the first act is over.",
                     "Wooden actors, and jokes that were stale when I was a boy."],
        "positive": ["I laughed until my sides hurt.", "We stayed through the credits just to listen.",
                     "The child in the leading role is a revelation.",
                     "Bring a handkerchief, the last scene is beautiful.",
                     "A small film with a very large heart.", "I went back the next evening.",
                     "Every picture could hang on a wall.", "Finally a thriller that thinks.",
                     "The best ending I have seen in years.", "My whole family was enchanted.",
                     "Clever, warm and never too long.", "She deserves every prize for this part."]}),
    ("helpdesk.ndjson", "request", "How many of the requests are about hardware rather than software?",
     "hardware", {
        "hardware": ["The fan of my laptop rattles like an old tractor.",
                     "The space bar comes off when I type.", "My screen has a crack from top to bottom.",
                     "The printer on floor three jams on every second sheet.",
                     "A headset whose left ear is silent needs replacing.",
                     "The mouse wheel spins but nothing holds it.",
                     "My docking station smells burnt.", "The battery swells and lifts the case.",
                     "The power cable is frayed near the plug.", "Coffee went into my keyboard."],
        "software": ["The mail program asks for my password on each start.",
                     "I need a licence for the drawing application.",
                     "After the upgrade my browser lost all bookmarks.",
                     "Please install the new version of the payroll package.",
                     "The spreadsheet shows error codes instead of dates.",
                     "My calendar no longer synchronises with the server."]}),
    ("outlook.csv", "note", "How many of the notes warn of dangerous weather rather than describe "
     "harmless weather?", "danger", {
        "danger": ["Falling trees are likely, stay indoors until the storm has passed.",
                   "Black ice on all roads, do not drive.",
                   "Lightning close to the summit, leave the ridge at once.",
                   "The river will burst its banks tonight, move to upper floors.",
                   "Hail as big as eggs may break windows."],
        "harmless": ["A few high clouds, otherwise blue.", "Mild with a soft breeze from the south.",
                     "Light drizzle that ends before noon.", "Pleasant sunshine, twenty-two degrees.",
                     "A quiet autumn day with some mist over the meadows.",
                     "Dry and calm, good for a walk.", "Some stars between thin clouds tonight.",
                     "A little cooler than yesterday but bright."]}),
    ("clippings.ndjson", "clipping", "How many of the clippings are jokes rather than news?", "joke", {
        "joke": ["Why did the bicycle fall over? It was two tired.",
                 "My dog is a bad dancer, he has two left feet and two left feet.",
                 "I told my suitcase we are not going on holiday, now it has emotional baggage.",
                 "What do you call a sleeping bull? A bulldozer.",
                 "The scarecrow got a prize for being outstanding in his field.",
                 "I would tell you a chemistry joke, but all the good ones argon.",
                 "A man walks into a library and orders a fish. Sir, this is a library. "
                 "Sorry, he whispers, a fish, please."],
        "news": ["Parliament passed the budget with a narrow majority on Thursday.",
                 "The bakery chain closes eleven of its forty shops.",
                 "Firefighters rescued two hikers from the gorge.",
                 "The central bank left interest rates unchanged.",
                 "Voters in the canton rejected the new bridge.",
                 "The museum reopens after three years of repairs.",
                 "Rail workers announced a strike for Monday.",
                 "Scientists described a new species of frog in Borneo.",
                 "The mayor resigned over unpaid taxes.",
                 "A cargo ship ran aground off the cape, nobody was hurt.",
                 "Unemployment fell for the third month in a row."]}),
    ("board.csv", "message", "How many of the messages are offers rather than requests?", "offer", {
        "offer": ["Free to a good home: a sofa with three seats.",
                  "I give piano lessons to beginners on Fridays.",
                  "Spare room for a student, quiet street, ask for Ruth.",
                  "Fresh eggs at the green gate, help yourself and leave a coin.",
                  "I can mow lawns all summer, call me.", "Two tickets for Saturday to give away.",
                  "My van is yours for a day if you fill the tank.",
                  "Firewood, dry, delivered to your door.", "Kittens are ready to move in with you.",
                  "I repair clocks for nothing, it is my hobby."],
        "request": ["Who could lend me a ladder for the weekend?",
                    "Looking for a flat with a garden, two rooms.",
                    "Wanted: somebody to walk our dog at noon."]}),
    ("letters.ndjson", "letter", "How many of the letters apply for a job rather than cancel a "
     "subscription?", "job", {
        "job": ["With great interest I read that you are seeking a bookkeeper.",
                "I have driven lorries for nine years and would like to join your team.",
                "Please find my certificates enclosed, I could start as a nurse in May.",
                "As a trained gardener I wish to work in your park.",
                "I hope to convince you in an interview that I am the cook you need."],
        "cancel": ["Please stop sending me the magazine at the end of the quarter.",
                   "I no longer wish to receive your paper, confirm in writing.",
                   "We end our membership of the film club on the last of June.",
                   "Do not renew my yearly pass for the gym.",
                   "Kindly remove me from the list of readers, I moved abroad.",
                   "My contract for the music service shall run out in March.",
                   "I withdraw from the monthly wine parcel.",
                   "Since the price went up I give notice for the television package.",
                   "Let my delivery of the Sunday edition end now.",
                   "I return the card and leave the book circle.",
                   "This is to terminate my online newspaper access.",
                   "From next month on, no more vegetable boxes, please."]}),
]


def prepare(folder: pathlib.Path, cache: pathlib.Path) -> list[Question]:
    """Makes the files of this half in an empty folder; returns its questions."""
    return [*tables(folder), *prose(folder, cache), *folders(folder),
            *data.judged(folder, JUDGED), *untuned_short.prepare(folder)]
