"""A fourth set of untuned questions: its data, and each question with its truth.

As untuned_held.py: it is asked once, and read by nobody who changes a prompt or the engine, see
docs/small-models.md. It asks what people ask of the files on their own disks: exports, logs, lock
files, chats, notes, bills. One or two conditions each.
"""

import collections
import datetime
import json
import pathlib
import random
import re
import xml.etree.ElementTree as xml

import untuned_data as data
from grading import Question
from untuned_data import others, texts


def make_bank(path: pathlib.Path) -> None:
    rng = random.Random(7101)
    payees = {"Groceries": ["Fennel & Co", "Corner Mart", "Halal Butcher Demir"],
              "Rent": ["Kestrel Housing"], "Fuel": ["Orbit Petrol", "Junction Garage"],
              "Insurance": ["Mutual of Selby"], "Restaurants": ["Trattoria Lia", "Noodle Bar 88"],
              "Salary": ["Brightwater Ltd"]}
    balance, rows = 3120.55, []
    for offset in range(0, 1090):
        date = datetime.date(2022, 7, 1) + datetime.timedelta(days=offset)
        for _ in range(rng.randrange(0, 4)):
            kind = rng.choices(list(payees), weights=[12, 1, 5, 1, 6, 1])[0]
            amount = rng.randrange(300, 19000) / 100
            balance += amount * 9 if kind == "Salary" else -amount
            rows.append({
                "Booked on": date.isoformat(), "Payee": rng.choice(payees[kind]), "Category": kind,
                "Paid out": "" if kind == "Salary" else f"{amount:.2f}",
                "Paid in": f"{amount * 9:.2f}" if kind == "Salary" else "",
                "Balance": f"{balance:.2f}"})
    data.write_table(path, rows)


def make_workouts(path: pathlib.Path) -> None:
    rng = random.Random(7102)
    data.write_table(path, [{
        "Workout": number, "Date": data.day(rng, (2023, 2024, 2025)),
        "Activity": (kind := rng.choices(["Running", "Rowing", "Swimming", "Yoga", "Hiking"],
                                         weights=[9, 4, 5, 3, 2])[0]),
        "Distance (km)": "" if kind == "Yoga" else f"{rng.randrange(8, 210) / 10}",
        "Duration (min)": rng.randrange(15, 140),
        "Average heart rate": int(rng.gauss({"Running": 152, "Rowing": 141, "Swimming": 133,
                                             "Yoga": 94, "Hiking": 117}[kind], 9)),
        "Calories": rng.randrange(90, 1100)} for number in range(1, 1301)])


def make_hosts(path: pathlib.Path) -> None:
    """One object, keyed by the machine's name."""
    rng = random.Random(7103)
    hosts = {}
    for number in range(1, 521):
        site = rng.choice(["Leuven", "Graz", "Porto", "Lund"])
        hosts[f"{site[:2].lower()}-{rng.choice(['web', 'db', 'build', 'mail'])}{number:03d}"] = {
            "site": site, "os": {"name": rng.choices(["Debian", "Rocky Linux", "FreeBSD", "Windows"],
                                                     weights=[6, 4, 2, 3])[0],
                                 "patched": data.day(rng, (2025,))},
            "cpu_cores": rng.choice([2, 4, 8, 16, 32]), "ram_gb": rng.choice([4, 8, 16, 64, 128]),
            "backup": rng.random() < 0.7}
    path.write_text(json.dumps(hosts, indent=2), "utf-8")


def make_games(path: pathlib.Path) -> None:
    rng = random.Random(7104)
    heads = ["Castles", "Merchants", "Trains", "Robots", "Gardens", "Pirates", "Dragons", "Letters"]
    games = [{
        "name": f"{rng.choice(heads)} of {rng.choice(['Arden', 'Mars', 'the North', 'Venice'])}"
                f" {rng.choice(['', 'II', 'Junior', 'Duel'])}".strip(),
        "published": rng.randrange(1982, 2025),
        "players": {"min": (least := rng.choices([1, 2, 3], weights=[3, 9, 2])[0]),
                    "max": least + rng.randrange(1, 6)},
        "mechanics": rng.sample(["drafting", "auction", "bluffing", "dice", "cooperative",
                                 "deck building", "tile placement"], rng.randrange(1, 4)),
        "minutes": rng.randrange(3, 37) * 5, "rating": rng.randrange(41, 93) / 10}
        for _ in range(900)]
    path.write_text(json.dumps({"collection": "Games cellar", "games": games}, indent=1), "utf-8")


def make_app_log(path: pathlib.Path) -> None:
    rng = random.Random(7105)
    parts = ["checkout", "catalogue", "session", "newsletter", "uploads", "thumbnailer"]
    when = datetime.datetime(2025, 9, 1, 4, 0)
    rows = []
    for _ in range(6000):
        when += datetime.timedelta(seconds=rng.randrange(1, 240))
        level = rng.choices(["debug", "info", "warning", "error"], weights=[20, 50, 9, 6])[0]
        weights = [5, 5, 5, 5, 9, 3] if level == "error" else [9, 12, 8, 3, 5, 4]
        rows.append({"ts": when.isoformat() + "Z", "severity": level,
                     "logger": rng.choices(parts, weights=weights)[0],
                     "message": rng.choice(["done", "retry scheduled", "cache miss", "payload rejected",
                                            "worker restarted", "error page shown"]),
                     "trace": f"{rng.getrandbits(32):08x}", "elapsed_ms": rng.randrange(1, 5200)})
    data.write_lines(path, rows)


def make_auth_log(path: pathlib.Path) -> None:
    rng = random.Random(7106)
    when = datetime.datetime(2025, 10, 5, 0, 2)
    lines = []
    for _ in range(5200):
        when += datetime.timedelta(seconds=rng.randrange(2, 400))
        user = rng.choice(["root", "backup", "deploy", "git", "www-data", "hanna"])
        where = f"203.0.113.{rng.randrange(2, 90)} port {rng.randrange(30000, 61000)}"
        text = rng.choices([
            f"sshd[{rng.randrange(900, 9000)}]: Failed password for {user} from {where} ssh2",
            f"sshd[{rng.randrange(900, 9000)}]: Accepted publickey for {user} from {where} ssh2",
            f"sudo: {user} : TTY=pts/0 ; PWD=/srv ; USER=root ; COMMAND=/usr/bin/systemctl status",
            f"sshd[{rng.randrange(900, 9000)}]: Connection closed by {where}",
            "CRON[311]: pam_unix(cron:session): session opened for user backup"],
            weights=[8, 5, 2, 4, 2])[0]
        lines.append(f"{when:%b} {when.day:>2} {when:%H:%M:%S} bastion {text}\n")
    path.write_text("".join(lines), "utf-8")


def make_lock(path: pathlib.Path) -> None:
    rng = random.Random(7107)
    packages = {"": {"name": "seedling-shop", "version": "2.3.0", "license": "MIT"}}
    for head in ["glob", "tiny", "left", "safe", "fast", "deep", "node", "json", "path", "color"]:
        for tail in ["match", "pad", "merge", "parse", "walk", "wrap", "queue", "diff", "hash",
                     "stream", "buffer", "clone", "escape", "trim"]:
            packages[f"node_modules/{head}-{tail}"] = {
                "version": f"{rng.randrange(0, 8)}.{rng.randrange(20)}.{rng.randrange(20)}",
                "integrity": f"sha512-{rng.getrandbits(120):030x}",
                **({"dev": True} if rng.random() < 0.4 else {}),
                "license": rng.choices(["MIT", "ISC", "Apache-2.0", "BSD-3-Clause"],
                                       weights=[9, 4, 3, 2])[0]}
    path.write_text(json.dumps({"name": "seedling-shop", "lockfileVersion": 3,
                                "packages": packages}, indent=2), "utf-8")


def make_fleet(vehicles: pathlib.Path, refuels: pathlib.Path) -> None:
    rng = random.Random(7108)
    plates = [f"KX-{number}" for number in rng.sample(range(1000, 9999), 70)]
    data.write_table(vehicles, [{
        "plate": plate, "body": rng.choice(["van", "car", "lorry", "scooter"]),
        "bought": data.day(rng, (2015, 2018, 2021)), "depot": rng.choice(["Quayside", "Mill Lane"])}
        for plate in plates])
    data.write_table(refuels, [{
        "receipt": 40000 + number, "plate": rng.choice(plates), "filled_on": data.day(rng, (2025,)),
        "litres": rng.randrange(16, 180) / 2, "station": rng.choice(["Orbit", "Junction"])}
        for number in range(1900)])


def make_flights(path: pathlib.Path) -> None:
    """Nothing to Tampere is ever cancelled; its flights can be late, and others are cancelled."""
    rng = random.Random(7109)
    lines = ["flight|airline|destination|planned|status|delay_min"]
    for number in range(2600):
        to = rng.choice(["Tampere", "Bergamo", "Valencia", "Gdansk", "Cork"])
        status = rng.choices(["departed", "delayed", "cancelled"], weights=[9, 4, 2])[0]
        if to == "Tampere" and status == "cancelled":
            status = "delayed"
        late = rng.randrange(6, 420) if status == "delayed" else 0
        lines.append(f"{rng.choice(['AJ', 'NV', 'SK'])}{rng.randrange(100, 999)}|"
                     f"{rng.choice(['Airjet', 'Novair', 'Skyline'])}|{to}|"
                     f"{data.day(rng, (2025,))} {rng.randrange(5, 23):02d}:{rng.randrange(12) * 5:02d}|"
                     f"{status}|{late}")
    path.write_text("\n".join(lines) + "\n", "utf-8")


def make_calendar(path: pathlib.Path) -> None:
    rng = random.Random(7110)
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Example//Office calendar//EN"]
    for number in range(1, 981):
        date = data.day(rng, (2024, 2025)).replace("-", "")
        hour = rng.randrange(8, 18)
        lines += ["BEGIN:VEVENT", f"UID:{number}@office.invalid", f"DTSTART:{date}T{hour:02d}0000",
                  f"DTEND:{date}T{hour + 1:02d}0000",
                  "SUMMARY:" + rng.choice(["Stand-up", "Budget review", "Interview", "Retrospective",
                                           "Birch tree planting", "Demo"]),
                  "LOCATION:" + rng.choice(["Birch", "Maple", "Linden", "Online", "Canteen"]),
                  f"ORGANIZER:mailto:{rng.choice(['ines', 'robert', 'wei'])}@office.invalid",
                  "END:VEVENT"]
    path.write_text("\n".join([*lines, "END:VCALENDAR"]) + "\n", "utf-8")


def make_stock(path: pathlib.Path) -> None:
    rng = random.Random(7111)
    root = xml.Element("stock", taken="2025-08-30")
    for number in range(1, 1201):
        one = xml.SubElement(root, "article", no=str(20000 + number))
        for tag, value in (
                ("title", f"{rng.choice(['Cough', 'Sleep', 'Wound', 'Sun', 'Eye'])} "
                          f"{rng.choice(['syrup', 'cream', 'tablets', 'drops'])} {rng.randrange(5, 60)}"),
                ("shelf", rng.choice("ABCDEFG") + str(rng.randrange(1, 9))),
                ("quantity", str(rng.choices([0, rng.randrange(1, 80)], weights=[1, 7])[0])),
                ("price", f"{rng.randrange(190, 4900) / 100:.2f}"),
                ("prescription", rng.choice(["yes", "no", "no"]))):
            xml.SubElement(one, tag).text = value
    xml.indent(root)
    path.write_text(xml.tostring(root, "unicode") + "\n", "utf-8")


def tables(folder: pathlib.Path) -> list[Question]:
    make_bank(folder / "account.csv")
    make_workouts(folder / "workouts.tsv")
    make_hosts(folder / "hosts.json")
    make_games(folder / "boardgames.json")
    make_app_log(folder / "app.ndjson")
    make_auth_log(folder / "auth.log")
    make_lock(folder / "package-lock.json")
    make_fleet(folder / "vehicles.csv", folder / "refuels.csv")
    make_flights(folder / "departures.psv")
    make_calendar(folder / "office.ics")
    make_stock(folder / "stock.xml")

    def read(name: str) -> str:
        return (folder / name).read_text("utf-8")

    bank = data.read_table(folder / "account.csv")
    rowing = [int(row["Average heart rate"]) for row in data.read_table(folder / "workouts.tsv")
              if row["Activity"] == "Rowing"]
    errors = collections.Counter(row["logger"] for row in data.read_lines(folder / "app.ndjson")
                                 if row["severity"] == "error")
    loggers = collections.Counter(row["logger"] for row in data.read_lines(folder / "app.ndjson"))
    if data.first(errors) == data.first(loggers):
        raise ValueError("the logger with most errors is the one with most lines")
    body = {row["plate"]: row["body"] for row in data.read_table(folder / "vehicles.csv")}
    flights = [line.split("|") for line in read("departures.psv").splitlines()[1:]]

    def ask(files: str, text: str, *wanted, **more) -> Question:
        return Question("table", tuple(files.split()), text, wanted, **more)

    return [
        ask("account.csv", "How much money was paid out for groceries in November 2024?",
            round(sum(float(row["Paid out"]) for row in bank if row["Category"] == "Groceries"
                      and row["Booked on"].startswith("2024-11")), 2)),
        ask("workouts.tsv", "What is the mean of the average heart rate over all rowing workouts, "
            "rounded to two decimals?", sum(rowing) / len(rowing)),
        ask("hosts.json", "How many of the machines at the site Leuven run Debian?",
            sum(one["site"] == "Leuven" and one["os"]["name"] == "Debian"
                for one in json.loads(read("hosts.json")).values())),
        ask("boardgames.json", "How many of the games can be played by one person alone?",
            sum(one["players"]["min"] == 1 for one in json.loads(read("boardgames.json"))["games"])),
        ask("boardgames.json", "How many of the games have the mechanic bluffing?",
            sum("bluffing" in one["mechanics"] for one in json.loads(read("boardgames.json"))["games"])),
        ask("app.ndjson", "Which logger wrote the most entries of the severity error?",
            data.first(errors), also=(max(errors.values()),),
            rivals=others(errors, data.first(errors))),
        ask("auth.log", "How many failed password attempts were there for the user backup?",
            read("auth.log").count("Failed password for backup ")),
        ask("package-lock.json", "How many of the packages have the license ISC?",
            sum(one["license"] == "ISC"
                for one in json.loads(read("package-lock.json"))["packages"].values())),
        ask("vehicles.csv refuels.csv", "How many litres were filled into the vans in total?",
            sum(float(row["litres"]) for row in data.read_table(folder / "refuels.csv")
                if body[row["plate"]] == "van")),
        ask("departures.psv", "How many of the flights to Tampere were cancelled?",
            sum(row[2] == "Tampere" and row[4] == "cancelled" for row in flights)),
        ask("office.ics", "How many events take place in the room Birch?",
            read("office.ics").count("\nLOCATION:Birch\n")),
        ask("stock.xml", "How many of the articles are out of stock, with a quantity of 0?",
            sum(one.findtext("quantity") == "0" for one in xml.fromstring(read("stock.xml")))),
    ]


CHAT = """
Has anybody seen a grey cat with a white paw? / Bins go out tonight, please. / Thanks a lot!
Could whoever parked in front of the gate move the car? / The lift is stuck again. / Same here.
My parcel was left with somebody on the second floor, who has it? / I have it, come by after six.
Happy birthday, Ottilie! / The hot water is lukewarm since this morning. / Ours is fine.
Who is in for a barbecue on Saturday? / Count us in. / Sorry, we are away that weekend.
There is a key on the stairs, blue tag. / That is mine, thank you! / No problem.
The post van has hit the hedge. / I will call the caretaker. / The light on the third floor flickers.
Does somebody have a drill for an hour? / Yes, ring twice. / What time does the meeting start?
At half past seven, in the laundry room. / Please shut the cellar window, it is raining in.
Our neighbours across the road are selling a pram. / I would take it. / Is the wifi down for you, too?
"""


def write_chat(path: pathlib.Path, planted: dict[int, str]) -> None:
    """The export of a group chat: a stamp, a name, a message."""
    rng = random.Random(7201)
    when = datetime.datetime(2023, 2, 1, 7, 0)
    lines = []
    for number in range(5200):
        when += datetime.timedelta(minutes=rng.randrange(1, 300))
        text = planted.get(number) or rng.choice(texts(CHAT))
        lines.append(f"[{when:%d/%m/%Y, %H:%M}] "
                     f"{rng.choice(['Ottilie', 'Marek', 'Mrs Banerjee', 'Flat 4', 'Gus', 'Leila'])}: "
                     f"{text}\n")
    path.write_text("".join(lines), "utf-8")


def prose(folder: pathlib.Path, cache: pathlib.Path) -> list[Question]:
    data.plant(cache, "fhs", folder / "town_rules.txt", [
        (0.18, "Whoever withdraws from a swimming course before it begins has the fee refunded within "
               "48 working days."),
        (0.40, "Mr Dalgleish looks after the spare key of the hut on the sports field."),
        (0.63, "The fee of a lost library card is refunded within 53 working days, if the card turns "
               "up."),
        (0.84, "A second key to the community hall is kept by Mrs Okonjo, who lives next to it.")])
    write_chat(folder / "house_chat.txt", {
        611: "The electrician sent his bill for the new sockets in the hallway, it comes to 672.",
        1840: "Just so that you know, the plumber's invoice for the boiler was 1184 in the end.",
        3007: "The new front door will be put in on Tuesday, please leave your bikes elsewhere.",
        4415: "They have painted the garage doors turquoise. Who on earth chose that?"})
    data.plant(cache, "reference-de", folder / "hausordnung.txt", [
        (0.12, "Wer einen Stellplatz in der Tiefgarage aufgeben will, muss das 92 Tage vorher "
               "schriftlich mitteilen."),
        (0.38, "Den Winterdienst in der Amselgasse hat die Firma Brinkhoff übernommen."),
        (0.61, "Ein Kellerraum kann mit einer Frist von 41 Tagen gekündigt werden."),
        (0.88, "In der Lerchengasse streut und räumt nach wie vor die Firma Tewes.")],
        start=0.42, size=320_000)
    data.plant(cache, "faq-fr", folder / "salle-des-fetes.txt", [
        (0.20, "Pour la location de la salle polyvalente, on demande un dépôt de garantie de 645 "
               "euros."),
        (0.45, "L'atelier de poterie du jeudi est animé par Mathilde Verdier."),
        (0.70, "Pour le grand barnum, le dépôt de garantie est de 285 euros."),
        (0.90, "Bertrand Lassalle anime l'atelier de reliure.")])
    data.plant(cache, "reference-es", folder / "colegio.txt", [
        (0.15, "El comedor del colegio Clara Campoamor sirve a diario 327 menús, contando los de los "
               "profesores."),
        (0.41, "El viaje de los alumnos mayores a Lisboa cuesta 385 euros."),
        (0.66, "El comedor del instituto reparte 274 menús cada día."),
        (0.87, "La excursión de fin de curso será a las cuevas de Valporquero, y la acompaña la "
               "profesora Begoña.")], start=0.28, size=260_000)
    data.plant(cache, "reference-zh", folder / "shequ.txt", [
        (0.14, "社区图书馆的自习室最多可以坐263人。"),
        (0.36, "羽毛球队每周三晚上训练,教练是何志远。"),
        (0.63, "二楼的阅览室最多可以坐157人。"),
        (0.86, "乒乓球队的教练是罗秀英,她以前是省队的队员。")], start=0.61, size=240_000)

    def ask(file: str, text: str, *wanted, **more) -> Question:
        return Question("prose", (file,), text, wanted, **more)

    return [
        ask("town_rules.txt", "After how many working days at the latest do I get my money back if I "
            "cancel a swimming course?", 48),
        ask("town_rules.txt", "Who has the other key to the community hall?", "Okonjo",
            rivals=("Dalgleish",)),
        ask("house_chat.txt", "How much did the repair of the heating by the plumber cost?", 1184),
        ask("house_chat.txt", "What colour is the new front door?", absent=True),
        ask("hausordnung.txt", "Wie viele Tage beträgt die Kündigungsfrist für einen Parkplatz in "
            "der Tiefgarage?", 92),
        ask("hausordnung.txt", "Welche Firma räumt in der Amselgasse den Schnee?", "Brinkhoff",
            rivals=("Tewes",)),
        ask("salle-des-fetes.txt", "Combien d'euros de caution faut-il verser pour louer la salle "
            "polyvalente ?", 645),
        ask("salle-des-fetes.txt", "Qui donne le cours de céramique ?", "Verdier",
            rivals=("Lassalle",)),
        ask("colegio.txt", "¿Cuántas comidas se sirven al día en el comedor del colegio Clara "
            "Campoamor?", 327),
        ask("colegio.txt", "¿Cuánto cuesta la excursión de fin de curso?", absent=True),
        ask("shequ.txt", "自习室里能容纳多少人？", 263),
        ask("shequ.txt", "谁负责训练打羽毛球的队员？", "何志远", rivals=("罗秀英",)),
    ]


GATEWAY = {
    "go.mod": "module example.invalid/gateway\n\ngo 1.22\n",
    "cmd/gateway/main.go": "package main\n\nimport \"example.invalid/gateway/server\"\n\n"
                           "func main() {\n\tserver.Run(server.Defaults())\n}\n",
    "server/config.go": "package server\n\nimport \"time\"\n\n// Config is what an operator may set.\n"
                        "type Config struct {\n\tListen   string\n\tMaxConns int\n"
                        "\tIdle     time.Duration\n}\n\n// Defaults is used where nothing is set.\n"
                        "func Defaults() Config {\n\treturn Config{\n\t\tListen:   \":8099\",\n"
                        "\t\tMaxConns: 240,\n\t\tIdle:     75 * time.Second,\n\t}\n}\n",
    "server/run.go": "package server\n\nimport \"log\"\n\n// Run serves until it fails.\n"
                     "func Run(config Config) {\n\tlog.Printf(\"at most %d\", config.MaxConns)\n}\n",
    "server/limit.go": "package server\n\nconst MaxConns = 64 // of one address\n\n"
                       "func allowed(open int) bool { return open < MaxConns }\n",
    "auth/token.go": "package auth\n\nimport (\n\t\"errors\"\n\t\"strings\"\n)\n\n"
                     "var errShort = errors.New(\"short token\")\n\n"
                     "// ParseToken splits a token at its dots.\n"
                     "func ParseToken(text string) ([]string, error) {\n"
                     "\tparts := strings.Split(text, \".\")\n\tif len(parts) < 3 {\n"
                     "\t\treturn nil, errShort\n\t}\n\treturn parts, nil\n}\n",
    "auth/login.go": "package auth\n\n// Login takes what ParseToken gives.\n"
                     "func Login(text string) bool {\n\t_, err := ParseToken(text)\n"
                     "\treturn err == nil\n}\n",
    "auth/token_test.go": "package auth\n\nimport \"testing\"\n\n"
                          "func TestParseToken(t *testing.T) {\n"
                          "\tif _, err := ParseToken(\"a.b\"); err == nil {\n"
                          "\t\tt.Fatal(\"two parts\")\n\t}\n}\n",
    "docs/operating.md": "# Operating\n\nRaise `MaxConns` to 900 on large machines. `ParseToken` "
                         "refuses short tokens.\n",
}


def make_receipts(folder: pathlib.Path) -> None:
    rng = random.Random(7301)
    files = {}
    for number in range(1, 49):
        items = [(rng.choice(["Screws", "Paint", "Lamp", "Rope", "Shelf", "Tape", "Hinges"]),
                  rng.randrange(150, 9000)) for _ in range(rng.randrange(1, 8))]
        files[f"receipt-{number:03d}.txt"] = "\n".join([
            "HANDYMAN'S MARKET", f"Date: {data.day(rng, (2024, 2025))}", "",
            *(f"{name:<20}{cents / 100:>9.2f}" for name, cents in items), "-" * 29,
            f"{'TOTAL':<20}{sum(cents for _, cents in items) / 100:>9.2f}",
            f"Paid by: {rng.choice(['card', 'card', 'cash', 'voucher'])}"]) + "\n"
    data.write_tree(folder, files)


def total(path: pathlib.Path) -> float:
    return float(re.search(r"^TOTAL +([\d.]+)$", path.read_text("utf-8"), re.M)[1])


def folders(folder: pathlib.Path) -> list[Question]:
    names = [f"{year}/{year}-week-{week:02d}.md" for year in (2024, 2025) for week in range(3, 48, 3)]
    data.write_pages(folder / "weekly", 7302, names, [
        "The warehouse team", "Our new trainee", "Purchasing", "The customer in Aalborg",
        "Marketing", "The night shift", "The auditor", "Somebody from the head office"], [
        "moved the deadline by a week", "is waiting for the signed contract",
        "asked for better gloves", "tested the label printer", "ordered forty more pallets",
        "could not reach the haulier", "presented the figures of the quarter",
        "wants the training to be repeated", "closed eleven tickets"], {
        "2024/2024-week-27.md": "Over the weekend thieves broke into the conference room and took the "
                                "projector.",
        "2024/2024-week-12.md": "The projector in the canteen has a new bulb.",
        "2024/2024-week-36.md": "The forklift was returned by the leasing firm.",
        "2024/2024-week-06.md": "The inventory begins on Monday.",
        "2024/2024-week-09.md": "The inventory took two days longer than planned.",
        "2024/2024-week-45.md": "Nobody has prepared the inventory yet.",
        "2025/2025-week-03.md": "Four pallets are missing in the inventory.",
        "2025/2025-week-18.md": "The software for the inventory gets an update.",
        "2025/2025-week-30.md": "Half of the inventory was counted twice.",
        "2025/2025-week-39.md": "We need volunteers for the inventory."})
    data.write_tree(folder / "gateway", GATEWAY)
    make_receipts(folder / "receipts")
    weekly, gateway, receipts = (folder / name for name in ("weekly", "gateway", "receipts"))
    dearest = data.only_largest(sorted(receipts.iterdir()), total)

    def ask(where: str, text: str, *wanted, **more) -> Question:
        return Question("folder", (where,), text, wanted, **more)

    return [
        ask("weekly", "Which file reports a burglary?",
            pathlib.Path(data.only(data.files_with(weekly, "thieves"))).stem,
            rivals=("2024-week-12", "2024-week-36")),
        ask("weekly", "How many of the files contain the word inventory?",
            len(data.files_with(weekly, "inventory"))),
        ask("gateway", "Which value does MaxConns have by default in server/config.go?",
            int(re.search(r"MaxConns: (\d+)", GATEWAY["server/config.go"])[1])),
        ask("gateway", "In which file is the function ParseToken defined?",
            data.only(data.files_with(gateway, "func ParseToken")),
            rivals=("login.go", "token_test.go", "operating.md")),
        ask("receipts", "How many of the receipts were paid by card?",
            len(data.files_with(receipts, "Paid by: card"))),
        ask("receipts", "Which receipt has the highest total?", dearest.stem, also=(total(dearest),),
            rivals=others((path.stem for path in receipts.iterdir()), dearest.stem)),
    ]


# (file, field, question, kind asked for, {kind: texts})
JUDGED = [
    ("commits.csv", "subject", "How many of the commits fix a bug rather than add a new feature?",
     "bug", {
        "bug": texts("""
Do not crash when the list is empty / Close the socket even if the handshake fails
Off by one in the last page of results / Stop leaking memory in the image cache
Restore the cursor after a failed search / Use the right time zone in reminders
Umlauts in file names no longer end up as question marks
Avoid the deadlock between logger and shutdown / Wrong sum in the monthly report corrected"""),
        "feature": texts("""
Add dark mode / Allow export as PDF / New command to rename a project
Introduce keyboard shortcuts for the editor / Support Portuguese
Let users choose their own avatar / First version of the plug-in interface
Offer two-factor login / Show a map of all branches / Import contacts from a phone
Add a button that copies the link"""),
     }),
    ("menu.jsonl", "dish", "How many of the dishes are vegetarian rather than made with meat or fish?",
     "vegetarian", {
        "vegetarian": texts("""
Spinach lasagne with ricotta / Lentil curry with coconut and rice / Mushroom risotto
Baked potatoes with herb quark / Pumpkin soup with roasted seeds / Cheese dumplings in sage butter
Falafel plate with hummus"""),
        "meat": texts("""
Roast beef with onions / Grilled trout with lemon / Chicken tikka with naan
Spaghetti bolognese / Pork schnitzel with fries / Tuna salad / Lamb stew with beans
Fried squid rings / Turkey sandwich with bacon / Goulash with bread / Salmon in puff pastry
Meatballs in tomato sauce"""),
     }),
    ("anfragen.csv", "text", "Wie viele der Anfragen betreffen die Rechnung und nicht ein technisches "
     "Problem?", "rechnung", {
        "rechnung": texts("""
Auf meiner Abrechnung steht ein Betrag, den ich mir nicht erklären kann.
Sie haben mir im Mai zweimal Geld abgebucht. / Können Sie mir die Rechnung bitte auf Papier schicken?
Warum kostet mein Tarif plötzlich vier Euro mehr? / Meine neue Bankverbindung lautet wie folgt.
Ich bitte um Zahlung in drei Raten. / Die Mahnung ist unberechtigt, ich habe längst überwiesen.
Wo bleibt die Gutschrift vom letzten Monat? / Bitte ändern Sie die Anschrift auf der Rechnung.
Für wen ist die Gebühr von neun Euro?"""),
        "technik": texts("""
Seit gestern blinkt der Router nur noch rot. / Das Telefon rauscht bei jedem Gespräch.
Der Empfang bricht im Keller ständig ab. / Nach dem Update startet die App nicht mehr.
Das Passwort für das WLAN wird nicht angenommen. / Der Fernseher zeigt nur ein schwarzes Bild.
Mails kommen bei mir erst Stunden später an. / Die Fernbedienung reagiert nicht."""),
     }),
    ("adverts.ndjson", "advert", "How many of the adverts offer a vehicle rather than a home to live "
     "in?", "vehicle", {
        "vehicle": texts("""
Small hatchback, first owner, new tyres, 48,000 on the clock.
Motorcycle, little used, always kept dry, helmet included.
Camper with two beds and a gas cooker, inspected in May.
Electric scooter, battery changed last year. / Estate with tow bar, some scratches on the bonnet.
Convertible for lovers of old engines, needs a new clutch."""),
        "home": texts("""
Bright attic with a view of the river, two rooms and a box room.
Terraced house with four bedrooms and a small garden. / Studio near the university, furnished.
Ground floor, three rooms, no stairs, bath with window. / Cottage on the edge of the wood, two floors.
Room in a shared flat, balcony, washing machine there.
Penthouse with lift and underfloor heating. / Converted barn with five rooms and a stove.
Flat for two from November, pets welcome. / Bungalow in a quiet close, newly painted."""),
     }),
    ("expenses.csv", "purpose", "How many of the expenses are for travel rather than for the office?",
     "travel", {
        "travel": texts("""
Taxi from the airport to the hotel / Train ticket Vienna to Linz and back
Two nights in a guest house in Brno / Parking at the station / Motorway toll
Flight to the trade fair in Milan / Hire car for three days / Fuel for the trip to the customer
Ferry with car to Harwich / Seat reservation in the night train / Bus pass for the visit in Leeds"""),
        "office": texts("""
Printer paper, ten boxes / Two monitors for the reception / Coffee beans for the kitchen
Ergonomic chair / Toner / A new whiteboard and markers / Repair of the shredder"""),
     }),
    ("survey.jsonl", "comment", "How many of the comments are in favour of working from home rather "
     "than against it?", "for", {
        "for": texts("""
I finally sleep an hour longer because I do not commute. / Please let us keep our home days.
Nobody interrupts me at my own kitchen table. / I get twice as much done at home.
My children see me at lunch, I would not give that up. / The savings on petrol alone are worth it.
In the open-plan office I cannot concentrate, at home I can. / Best decision the firm ever made."""),
        "against": texts("""
I feel lonely without my colleagues. / Questions that took a minute now take a day.
My flat is too small for a desk. / Working from the sofa has ruined my back.
New people learn nothing over video calls. / I miss the line between work and evening.
We used to be a team, now we are a list of small pictures. / Bring everybody back, please.
At home I end up doing the laundry instead."""),
     }),
]


LEASE = """Tenancy agreement for the flat at 7 Harbour Row, second floor

The landlord is Mr Peter Lindgren, represented by the agency Baxter & Hume. The tenant is Ms Noor
Haddad. The tenancy starts on 1 March and runs for an unlimited time. The rent is 940 a month; 165
for heating and water are paid on top. The deposit is 2,820 and may be paid in three parts. The
rent is due on the third working day of each month. Either side may give notice: the tenant three
months ahead, the landlord six. Pets that are larger than a cat need the landlord's consent. A
parking space in the yard belongs to the flat. Keys: three for the front door, two for the letter
box. Repairs below 80 are paid by the tenant. The agency keeps the meter readings.
"""

ITINERARY = """Your booking QX7PLM

Outbound, Friday 12 September
  Train 531   Basel   dep 07:14   Frankfurt Airport   arr 10:06   coach 23, seat 61
  Flight LK 418   Frankfurt   dep 12:35   Toronto   arr 15:05   gate opens 11:50, seat 34C

Return, Sunday 28 September
  Flight LK 419   Toronto   dep 18:20   Frankfurt   arr 08:10 (next day)   seat 29A
  Train 276   Frankfurt Airport   dep 09:53   Basel   arr 12:47   coach 11, seat 15

Baggage: one piece of 23 kg. Paid: 1,146.30 by credit card ending in 4471.
"""

LEAFLET = """Calmazol 20 mg tablets: information for the patient

Calmazol is used against heartburn. Adults take one tablet in the morning, with water, before they
eat. Do not take it for longer than 14 days without asking your doctor. Children under 12 must not
take Calmazol. If you have forgotten a tablet, take it as soon as you remember, but never two at
once. Common side effects, in up to 1 of 10 people: headache, stomach ache. Uncommon, in up to 1 of
100: dizziness, a rash. Store below 25 degrees. Once opened, the bottle can be used for 60 days.
"""

COMPOSE = """services:
  web:
    image: registry.invalid/shop/web:4.2
    ports: ["8085:80"]
    depends_on: [api]
    restart: always
  api:
    image: registry.invalid/shop/api:3.11
    ports: ["8086:8000"]
    environment:
      WORKERS: "5"
      CACHE_SECONDS: "120"
    depends_on: [database, queue]
  database:
    image: postgres:16
    volumes: ["./data:/var/lib/postgresql/data"]
    restart: always
  queue:
    image: rabbitmq:3
    restart: unless-stopped
  mailer:
    image: registry.invalid/shop/mailer:0.9
    depends_on: [queue]
"""

CHANGES = """# Changelog

## 3.2.0 (2025-06-18)
- New: filters can be saved under a name.
- Fixed: the search no longer forgets its last word (#871).
- The smallest Python is now 3.10.

## 3.1.1 (2025-04-02)
- Fixed: dates before 1970 were shown as 1970 (#846).
- Fixed: a crash on empty folders (#850).

## 3.1.0 (2025-03-11)
- New: export to OpenDocument.
- New: the table can be sorted by two columns.
- Removed: the old theme "Slate".

## 3.0.0 (2024-11-29)
- The settings moved from `~/.tably` to `~/.config/tably`.
- The smallest Python is now 3.9.
"""

JOB = """Stellenangebot der Stadtbücherei Ahrensfelde

Wir suchen zum 1. Oktober eine Bibliothekarin oder einen Bibliothekar mit 30 Stunden in der Woche.
Sie betreuen die Kinderbücherei und den Bücherbus, der jeden Dienstag fährt. Wir zahlen nach
Entgeltgruppe 9, bieten 31 Tage Urlaub und einen Zuschuss zur Monatskarte. Die Stelle ist zunächst
auf zwei Jahre befristet. Bewerbungen gehen bis zum 15. Juli an Frau Mewes; Fragen beantwortet Herr
Tschirner unter der Durchwahl 412. Die Gespräche finden in der ersten Augustwoche statt.
"""

PISCINE = """Piscine municipale des Glycines : horaires et tarifs

La piscine ouvre du mardi au vendredi de 9 h à 20 h, le samedi de 10 h à 18 h. Elle est fermée le
lundi. L'entrée coûte 4,80 euros pour un adulte et 2,60 euros pour un enfant ; la carte de dix
entrées vaut 39 euros. Le bonnet est obligatoire, le short de bain interdit. Les leçons du mercredi
sont données par Anaïs Perrot, celles du samedi par Yann Le Goff. Le grand bassin mesure 25 mètres,
le petit 12. La fosse de plongeon est réservée au club.
"""

MANUAL = """Quick guide to the dishwasher Brava 600

Fill in salt before the first use, about 1.2 kg. Programmes: 1 Eco, 50 degrees, 195 minutes; 2 Daily,
60 degrees, 110 minutes; 3 Intensive, 70 degrees, 140 minutes; 4 Glass, 40 degrees, 85 minutes;
5 Rinse, cold, 15 minutes. Faults: E1, the tap is closed; E4, water in the base, call the service;
E7, the filter is blocked, take it out and clean it under the tap; E9, the spray arm does not turn.
The filter should be cleaned once a month. The noise level is 44 decibels.
"""

TEAM = {
    "01-monday.txt": "Carla: I have moved the launch to 9 May, the printer needs more time.\n"
                     "Deniz: Fine. I order 1500 flyers then, not 1200.\n"
                     "Carla: And the banner?\nDeniz: Comes from Hugo.\n",
    "02-tuesday.txt": "Hugo: The banner is 4 metres wide. Is that too much for the entrance?\n"
                      "Deniz: The entrance is 5 metres. It fits.\n"
                      "Carla: Food is on Ewa, she asked two caterers.\n",
    "03-wednesday.txt": "Ewa: Caterer one wants 18 a head, caterer two 22 but with drinks.\n"
                        "Carla: Take the second.\nEwa: Done. Who invites the press?\n"
                        "Hugo: I can do that.\n",
}

SITE = {
    "src/cart.js": "export const MAX_ITEMS = 30;\n\nexport function addItem(cart, item) {\n"
                   "  // TODO: sold out\n  if (cart.length < MAX_ITEMS) cart.push(item);\n}\n",
    "src/price.js": "export function withTax(net) {\n  return net * 1.21;\n}\n\n"
                    "export function discount(price, percent) {\n"
                    "  return price - price * percent / 100;\n}\n",
    "src/ship.js": "import { withTax } from './price.js';\n\nexport const FREE_ABOVE = 75;\n\n"
                   "export function shipping(net) {\n"
                   "  return withTax(net) > FREE_ABOVE ? 0 : 6.5;\n}\n",
    "src/search.js": "export function search(items, word) {\n  // TODO: ignore case\n"
                     "  return items.filter((item) => item.name.includes(word));\n}\n",
    "test/price.test.js": "import { discount } from '../src/price.js';\n\n"
                          "test('discount', () => expect(discount(80, 25)).toBe(60));\n",
    "package.json": "{\n  \"name\": \"bulb-shop\",\n  \"version\": \"1.8.3\",\n"
                    "  \"scripts\": {\"test\": \"jest\", \"start\": \"node src/main.js\"},\n"
                    "  \"dependencies\": {\"express\": \"^4.19.2\"}\n}\n",
}


def shorts(folder: pathlib.Path) -> list[Question]:
    for name, text in {"lease.txt": LEASE, "booking.txt": ITINERARY, "leaflet.txt": LEAFLET,
                       "compose.yaml": COMPOSE, "CHANGES.md": CHANGES, "stelle.txt": JOB,
                       "piscine.txt": PISCINE, "dishwasher.txt": MANUAL}.items():
        (folder / name).write_text(text, "utf-8")
    data.write_tree(folder / "team", TEAM)
    data.write_tree(folder / "site", SITE)

    def ask(where: str, text: str, *wanted, **more) -> Question:
        return Question("short", (where,), text, wanted, **more)

    return [
        ask("lease.txt", "How many months ahead must the tenant give notice?", 3),
        ask("lease.txt", "How large is the flat, in square metres?", absent=True),
        ask("booking.txt", "Which seat do I have on the flight home?", "29A",
            rivals=("34C", "61", "15")),
        ask("leaflet.txt", "From which age on may a child take the tablets?", 12),
        ask("compose.yaml", "How many services are there?",
            len(re.findall(r"(?m)^  \w+:$", COMPOSE))),
        ask("CHANGES.md", "In which version was the export to OpenDocument added?", "3.1.0",
            rivals=("3.2.0", "3.1.1", "3.0.0")),
        ask("stelle.txt", "An wen schickt man die Bewerbung?", "Mewes", rivals=("Tschirner",)),
        ask("piscine.txt", "Quel jour la piscine est-elle fermée ?", "lundi",
            rivals=("samedi", "mardi", "mercredi")),
        ask("dishwasher.txt", "Which code is shown when the filter is blocked?", "E7",
            rivals=("E1", "E4", "E9")),
        ask("team", "How many people are invited?", absent=True),
        ask("site", "How many of the files contain a TODO?",
            len(data.files_with(folder / "site", "TODO"))),
        ask("site", "Which file defines the function discount?",
            pathlib.Path(data.only(data.files_with(folder / "site", "function discount"))).name,
            rivals=("price.test.js", "ship.js", "cart.js", "search.js")),
    ]


def prepare(folder: pathlib.Path, cache: pathlib.Path) -> list[Question]:
    """Makes the files of this half in an empty folder; returns its questions."""
    return [*tables(folder), *prose(folder, cache), *folders(folder), *data.judged(folder, JUDGED),
            *shorts(folder)]
