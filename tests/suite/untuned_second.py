"""A second set of untuned questions: its data, and each question with its truth.

As untuned_held.py: it is asked once, and read by nobody who changes a prompt or the engine, see
docs/small-models.md.
"""

import collections
import csv
import datetime
import json
import pathlib
import random
import re
import textwrap
import xml.etree.ElementTree as xml

import sources
import untuned_data as data
from grading import Question
from untuned_data import others


def make_parking(path: pathlib.Path) -> None:
    """As a German spreadsheet saves it: semicolons, decimal commas, a byte order mark."""
    rng = random.Random(5101)
    start = datetime.datetime(2024, 3, 1, 5)
    lines = ["Kennzeichen;Ebene;Einfahrt;Ausfahrt;Gebühr (EUR);Zahlart"]
    for _ in range(1900):
        start += datetime.timedelta(minutes=rng.randrange(1, 140))
        end = start + datetime.timedelta(minutes=rng.randrange(9, 900))
        cents = rng.choice([0, 90, 150, 150, 240, 380, 475, 1210, 1850])
        lines.append(";".join([
            f"{rng.choice(['FR', 'KA', 'OG', 'S', 'BL'])}-{rng.choice('ABKMTX')}{rng.choice('EHLRZ')} "
            f"{rng.randrange(10, 9999)}", rng.choices(["U2", "U1", "E0", "E1"], weights=[4, 6, 3, 5])[0],
            start.strftime("%d.%m.%Y %H:%M"), end.strftime("%d.%m.%Y %H:%M"),
            f"{cents // 100},{cents % 100:02d}", rng.choice(["bar", "Karte", "App"])]))
    path.write_text("\ufeff" + "\r\n".join(lines) + "\r\n", "utf-8", newline="")


def make_eruptions(path: pathlib.Path) -> None:
    rng = random.Random(5102)
    lines = ["event\tvolcano\tonset\tplume_m\talert\tobserver"]
    for number in range(1, 1301):
        plume = "NA" if rng.random() < 0.22 else str(rng.randrange(3, 160) * 50)
        lines.append("\t".join([
            f"V{number:04d}", rng.choice(["Sangay", "Ebeko", "Dukono", "Fuego", "Semeru", "Villarrica"]),
            data.day(rng, (2019, 2020, 2021, 2022)), plume,
            rng.choice(["green", "yellow", "orange", "red"]), rng.choice(["satellite", "pilot", "ground", "NA"])]))
    path.write_text("\n".join(lines) + "\n", "utf-8")


def make_honey(path: pathlib.Path) -> None:
    rng = random.Random(5103)
    best = {2022: "Quarry", 2023: "Chapel", 2024: "Quarry"}
    lines = ["# harvest book of the bee yard", "# date | hive | frames | honey in kg | colour"]
    for year, hive_of_year in best.items():
        hives = ["Maple", "Quarry", "Brook", "Chapel", "Meadow", "Sawmill"]
        for number in range(260):
            if number % 90 == 0:
                lines.append(f"# page {len(lines) // 30 + 1}")
            hive = rng.choices(hives, weights=[7 if hive == hive_of_year else 5 for hive in hives])[0]
            lines.append(f"{data.day(rng, (year,))} | {hive} | {rng.randrange(2, 11)} | "
                         f"{rng.randrange(20, 190) / 10} | {rng.choice(['amber', 'pale', 'dark'])}")
    path.write_text("\n".join(lines) + "\n", "utf-8")


def make_voyages(path: pathlib.Path) -> None:
    rng = random.Random(5104)
    names = ["Tove", "Anselm", "Rhoda", "Kofi", "Bertil", "Inez", "Marek", "Saoirse", "Yusuf", "Petra"]
    surnames = ["Halloran", "Skov", "Mbeki", "Zeller", "Quist", "Ferrante", "Dahl", "Orlov"]
    root = xml.Element("logbook", company="Northern Survey")
    for number in range(1, 211):
        voyage = xml.SubElement(root, "voyage", no=str(number), ship=rng.choice(["Meridian", "Albatros", "Fram"]),
                                departed=data.day(rng, (1911, 1912, 1913, 1914)))
        roles = ["captain", "mate", "cook", *rng.choices(["stoker", "sailor"], k=rng.randrange(3, 9))]
        roles += ["surgeon"] * (rng.random() < 0.7) + ["botanist"] * (rng.random() < 0.3)
        roles += ["surgeon"] * (rng.random() < 0.1)
        rng.shuffle(roles)
        for role in roles:
            member = xml.SubElement(voyage, "member", role=role)
            xml.SubElement(member, "name").text = f"{rng.choice(names)} {rng.choice(surnames)}"
            xml.SubElement(member, "wage").text = str(rng.randrange(20, 95))
    xml.indent(root)
    path.write_text('<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(root, "unicode") + "\n", "utf-8")


def make_kitchen(path: pathlib.Path) -> None:
    rng = random.Random(5105)
    dishes = {"gnocchi": 1150, "minestrone": 720, "polenta": 980, "tiramisu": 610, "saltimbocca": 1890}
    rows = []
    for number in range(1, 2101):
        chosen = rng.sample(list(dishes), rng.randrange(1, 5))
        rows.append({"ticket": number, "table": rng.randrange(1, 24),
                     "opened": f"{data.day(rng, (2025,))}T{rng.randrange(11, 23)}:{rng.randrange(60):02d}",
                     "state": rng.choices(["paid", "voided"], weights=[9, 2])[0],
                     "lines": [{"dish": dish, "portions": rng.randrange(1, 6), "cents": dishes[dish]}
                               for dish in chosen]})
    data.write_lines(path, rows)


def make_access(path: pathlib.Path) -> None:
    rng = random.Random(5106)
    addresses = [f"10.{rng.randrange(1, 60)}.{rng.randrange(256)}.{rng.randrange(2, 250)}" for _ in range(14)]
    reads = [9 if at == 3 else 4 for at in range(14)]
    writes = [5 if at == 10 else 3 for at in range(14)]
    when = datetime.datetime(2025, 9, 4, 0, 0, 11)
    lines = []
    for _ in range(6200):
        when += datetime.timedelta(seconds=rng.randrange(1, 25))
        method = rng.choices(["GET", "POST", "HEAD"], weights=[14, 4, 1])[0]
        address = rng.choices(addresses, weights=writes if method == "POST" else reads)[0]
        page = rng.choice(["/", "/plans", "/sign-up", "/img/hero.png", "/api/v2/cart", "/POST-office.html"])
        lines.append(f'{address} - - [{when:%d/%b/%Y:%H:%M:%S} +0000] "{method} {page} HTTP/1.1" '
                     f'{rng.choice([200, 200, 200, 302, 404, 500])} {rng.randrange(180, 42000)} "-" '
                     f'"{rng.choice(["Mozilla/5.0", "curl/8.5.0", "Feedreader/2.1"])}"\n')
    path.write_text("".join(lines), "utf-8")


def make_meet(athletes: pathlib.Path, results: pathlib.Path) -> None:
    rng = random.Random(5107)
    bibs = rng.sample(range(1, 700), 160)
    athletes.write_text(json.dumps({"meet": "Lakeside Games", "athletes": [
        {"bib": bib, "born": data.day(rng, tuple(range(1986, 2006))),
         "club": rng.choice(["Harriers", "Comets", "Tidewater", "Alpine"])} for bib in bibs]}, indent=1), "utf-8")
    rows = []
    for number in range(1, 241):
        for place, bib in enumerate(rng.sample(bibs, 8), 1):
            rows.append({"event_no": number, "discipline": ["hurdles", "discus", "relay", "vault"][number % 4],
                         "place": place, "bib": f"{bib:03d}",
                         "medal": {1: "gold", 2: "silver", 3: "bronze"}.get(place, "")})
    rng.shuffle(rows)
    data.write_table(results, rows)


def make_crossings(path: pathlib.Path) -> None:
    rng = random.Random(5108)
    rows = []
    for number in range(1, 1701):
        ferry = rng.choice(["Petrel", "Guillemot", "Tern", "Puffin"])
        outcomes = ["sailed", "sailed", "sailed", "sailed", "sailed", "delayed (ice)", "cancelled (wind)",
                    "delayed (fog)", *([] if ferry == "Petrel" else ["cancelled (ice)"])]
        rows.append({"crossing": number, "ferry": ferry, "day": data.day(rng, (2023, 2024)),
                     "cars": rng.randrange(0, 64), "foot_passengers": rng.randrange(0, 310),
                     "outcome": rng.choice(outcomes)})
    data.write_table(path, rows)


def make_episodes(path: pathlib.Path) -> None:
    rng = random.Random(5109)
    shows = {}
    for number in range(1, 641):
        seconds = rng.choice([rng.randrange(900, 3600), rng.randrange(900, 3600), rng.randrange(3601, 7900)])
        minutes, rest = divmod(seconds, 60)
        length = f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes >= 60 else f"{minutes}:{rest:02d}"
        shows[f"ep-{number:03d}"] = {
            "title": f"{rng.choice(['Salt', 'Bridges', 'Owls', 'Trams', 'Maps', 'Bells'])}, part {rng.randrange(1, 9)}",
            "length": length, "aired": data.day(rng, (2022, 2023, 2024)),
            "guests": rng.sample(["Dr Pell", "Ms Aranda", "Mr Voss", "Prof Ito"], rng.randrange(0, 3))}
    path.write_text(json.dumps({"podcast": "Long Way Round", "episodes": shows}, indent=1), "utf-8")


def make_bookings(path: pathlib.Path) -> None:
    rng = random.Random(5110)
    lines = ["ref,guest_country,arrival,departure,persons,room"]
    for number in range(1, 1251):
        arrival = datetime.date(2023, 1, 1) + datetime.timedelta(days=rng.randrange(720))
        lines.append(f"R{number + 3000},{rng.choice(['Portugal', 'Austria', 'Greece', 'Canada', 'Japan'])},{arrival},"
                     f"{arrival + datetime.timedelta(days=rng.randrange(1, 15))},{rng.randrange(1, 5)},"
                     f"{rng.choice(['single', 'double', 'suite'])}")
    path.write_text("\n".join(lines) + "\n", "utf-8")


def make_lifts(path: pathlib.Path) -> None:
    rng = random.Random(5111)
    when = datetime.datetime(2024, 2, 1, 6, 0, 5)
    lines = []
    for _ in range(5200):
        when += datetime.timedelta(seconds=rng.randrange(3, 400))
        lift = rng.randrange(1, 5)
        event = rng.choices(["door_blocked", "stop", "overload", "idle"], weights=[2, 6, 1, 3])[0]
        most = {"door_blocked": 290 if lift == 4 else 205, "stop": 25, "overload": 90, "idle": 2400}[event]
        lines.append(f"{when:%Y-%m-%dT%H:%M:%S} lift={lift} event={event} floor={rng.randrange(-2, 15)} "
                     f"secs={rng.randrange(2, most)}\n")
    path.write_text("".join(lines), "utf-8")


def make_auction(path: pathlib.Path) -> None:
    rng = random.Random(5112)
    things = {"maps": "chart of the estuary, hand coloured", "clocks": 'bracket clock, "after Graham"',
              "rugs": "runner, maps and flowers in the border", "books": "travels in Anatolia,\ntwo volumes",
              "coins": "purse of mixed silver,\nsome holed"}
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["lot", "category", "description", "estimate", "hammer_price"])
        for lot in range(1, 901):
            category = rng.choice(list(things))
            price = rng.randrange(8, 900) * 5
            sold = rng.random() < 0.83
            writer.writerow([lot, category, f"{things[category]}, {rng.randrange(1690, 1920)}",
                             f"${price + 200:,}", f"${price:,}" if sold else ""])


def mean_plume(text: str, volcano: str) -> float:
    rows = [line.split("\t") for line in text.splitlines()[1:]]
    plumes = [int(row[3]) for row in rows if row[1] == volcano and row[3] != "NA"]
    return sum(plumes) / len(plumes)


def tables(folder: pathlib.Path) -> list[Question]:
    make_parking(folder / "Parkhaus_Export.csv")
    make_eruptions(folder / "eruptions")
    make_honey(folder / "harvest.dat")
    make_voyages(folder / "logbook.xml")
    make_kitchen(folder / "kitchen.jsonl")
    make_access(folder / "access.txt")
    make_meet(folder / "athletes.json", folder / "placings.csv")
    make_crossings(folder / "crossings.tsv")
    make_episodes(folder / "episodes.json")
    make_bookings(folder / "bookings.dat")
    make_lifts(folder / "lift-journal")
    make_auction(folder / "auction.txt")

    def read(name: str) -> str:
        return (folder / name).read_text("utf-8")

    parking = list(csv.DictReader(read("Parkhaus_Export.csv").lstrip("\ufeff").splitlines(), delimiter=";"))
    cents = sum(int(row["Gebühr (EUR)"].replace(",", "")) for row in parking if row["Ebene"] == "U2")
    honey = collections.defaultdict(collections.Counter)
    for line in read("harvest.dat").splitlines():
        if not line.startswith("#"):
            date, hive, _, kilos, _ = (part.strip() for part in line.split("|"))
            honey[date[:4]][hive] += round(float(kilos) * 10)
            honey["all"][hive] += round(float(kilos) * 10)
    best_hive = data.first(honey["2023"])
    if best_hive == data.first(honey["all"]):
        raise ValueError("the best hive of 2023 is easy to guess")
    voyages = xml.fromstring(read("logbook.xml").split("\n", 1)[1]).findall("voyage")
    gnocchi = sum(line["portions"] for row in data.read_lines(folder / "kitchen.jsonl")
                  if row["state"] != "voided" for line in row["lines"] if line["dish"] == "gnocchi")
    access = [re.match(r'(\S+) .*?"(\w+) ', line).groups() for line in read("access.txt").splitlines()]
    posts = collections.Counter(address for address, method in access if method == "POST")
    if data.first(posts) == data.first(collections.Counter(address for address, _ in access)):
        raise ValueError("the busiest address is the same with and without the method")
    born = {one["bib"]: one["born"] for one in json.loads(read("athletes.json"))["athletes"]}
    crossings = data.read_table(folder / "crossings.tsv")
    episodes = json.loads(read("episodes.json"))["episodes"].values()
    bookings = list(csv.DictReader(read("bookings.dat").splitlines()))
    blocked = [int(found[1]) for found in
               re.finditer(r" lift=2 event=door_blocked floor=\S+ secs=(\d+)", read("lift-journal"))]
    with (folder / "auction.txt").open(encoding="utf-8", newline="") as lots:
        hammer = sum(int(row["hammer_price"].strip("$").replace(",", "")) for row in csv.DictReader(lots)
                     if row["category"] == "maps" and row["hammer_price"])

    def ask(files: str, text: str, *wanted, **more) -> Question:
        return Question("table", tuple(files.split()), text, wanted, **more)

    return [
        ask("Parkhaus_Export.csv", "Wie viel Euro Gebühren kamen auf der Ebene U2 insgesamt zusammen, auf den "
            "Cent genau?", cents / 100),
        ask("eruptions", "What is the mean plume height in metres of the eruptions of Sangay, leaving out those "
            "without a measurement, rounded to one decimal?", mean_plume(read("eruptions"), "Sangay")),
        ask("harvest.dat", "Which hive gave the most honey in 2023, all its harvests of that year added up?",
            best_hive, rivals=others(honey["2023"], best_hive)),
        ask("logbook.xml", "On how many of the voyages was there no surgeon on board?",
            sum(all(one.get("role") != "surgeon" for one in voyage) for voyage in voyages)),
        ask("kitchen.jsonl", "How many portions of gnocchi were ordered, not counting voided tickets?", gnocchi),
        ask("access.txt", "Which IP address sent the most POST requests?", data.first(posts),
            also=(max(posts.values()),), rivals=others((address for address, _ in access), data.first(posts))),
        ask("athletes.json placings.csv", "How many gold medals went to athletes who were born before the year 1995?",
            sum(row["medal"] == "gold" and born[int(row["bib"])] < "1995"
                for row in data.read_table(folder / "placings.csv"))),
        ask("crossings.tsv", "How many crossings of the Petrel were cancelled because of ice?",
            sum(row["ferry"] == "Petrel" and row["outcome"] == "cancelled (ice)" for row in crossings)),
        ask("episodes.json", "How many episodes last longer than one hour?",
            sum(one["length"].count(":") == 2 for one in episodes)),
        ask("bookings.dat", "How many nights did the guests from Portugal book altogether, counting each booking "
            "once however many persons it is for?",
            sum((datetime.date.fromisoformat(row["departure"]) - datetime.date.fromisoformat(row["arrival"])).days
                for row in bookings if row["guest_country"] == "Portugal")),
        ask("lift-journal", "What is the longest time in seconds for which a door of lift 2 was blocked?",
            max(blocked)),
        ask("auction.txt", "How many dollars did the lots of the category maps fetch altogether?", hammer),
    ]


MONTHS = {
    "en": "January February March April May June July August September October November December",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"}


def dated(day: datetime.date, language: str) -> str:
    month = MONTHS[language].split()[day.month - 1]
    return f"{day.day} de {month} de {day.year}" if language == "es" else f"{day.day} {month} {day.year}"


def write_diary(path: pathlib.Path, seed: int, language: str, start: datetime.date, days: int,
                parts: tuple[str, str, str], planted: dict[datetime.date, str]) -> None:
    """A day an entry; each sentence is a subject, a deed and an end, `parts` has one of each a line."""
    rng = random.Random(seed)
    subjects, deeds, ends = (part.strip().split("\n") for part in parts)
    entries = []
    for offset in range(days):
        today = start + datetime.timedelta(days=offset)
        sentences = [f"{rng.choice(subjects)} {rng.choice(deeds)}{rng.choice(ends)}."
                     for _ in range(rng.randrange(3, 8))]
        if today in planted:
            sentences.insert(rng.randrange(1, len(sentences)), planted.pop(today))
        entries.append(f"{dated(today, language)}\n\n{textwrap.fill(' '.join(sentences), 78)}\n")
    if planted:
        raise ValueError(f"no such day: {list(planted)}")
    path.write_text("\n".join(entries), "utf-8")


SURVEY = ("""
The chainman
Our cook Hobday
The younger assistant
The farmer at the ford
A drover on his way south
The landlord of the inn
My brother's pony
The parson
""", """
complained of the damp
would not cross the bog before noon
sang until the lamp burned low
lost a glove in the heather
told us that the winter had been worse
slept through the storm
counted the pegs twice and got two different sums
asked what the railway was good for
brought a jug of buttermilk
found the old boundary stone
""", """
, as usual
, to the delight of all
, and we lost an hour by it
 while it rained
 below the long ridge

, or so he says
""")

CRONICA = ("""
El sacristán
La viuda del molinero
El maestro
Un pastor de la sierra
El alguacil
La panadera
El médico
El hijo menor del herrero
""", """
pidió que se limpiara la fuente
se quejó del precio del trigo
vio lobos cerca del corral
arregló la puerta del lavadero
perdió a las cartas
prometió plantar almendros
se durmió durante el sermón
encontró una herradura en el camino
contó otra vez la historia del oso
discutió con el cartero
""", """
, como siempre
, para disgusto de todos
 antes de misa
 al caer la tarde
 junto al pozo
, según dicen

""")

RIFUGIO = ("""
Il mulo
La cuoca
Un alpinista di Bergamo
Il pastore
Mio cugino Ezio
Il parroco
La maestra del paese
Il guardaboschi
""", """
non ha voluto passare il ghiacciaio
ha lasciato gli scarponi davanti alla stufa
ha raccontato della valanga di una volta
si è lamentato del vento
ha portato legna asciutta
ha perso un guanto nella neve
ha dormito fino a mezzogiorno
ha spalato il sentiero
ha cantato tutta la sera
ha visto uno stambecco sulla cresta
""", """
, come sempre
, con gran piacere di tutti
 prima dell'alba
 sotto la parete nord
, a quanto dice
 mentre nevicava

""")


def prose(folder: pathlib.Path, cache: pathlib.Path) -> list[Question]:
    if not (cache / "novel.txt").exists():
        sources.make_novel(cache / "novel.txt")
    data.plant(cache, "novel", folder / "novel.txt", [
        (0.14, "The curate of Kympton had a jackdaw that answered to Bartholomew and stole spoons."),
        (0.33, "Mr. Wetherell, the apothecary of Lambton, was seldom seen without his tame heron; the creature, "
               "which he had named Methuselah, followed him even to church."),
        (0.57, "The pulpit at Hunsford had been mended the year before for 87 pounds, and nobody thought it dear."),
        (0.71, "It was settled at last that the organ at Hunsford should be put in order, and the parish paid "
               "164 pounds for the work before Michaelmas.")], size=680_000)
    write_diary(folder / "field_book.txt", 5201, "en", datetime.date(1871, 4, 3), 620, SURVEY, {
        datetime.date(1871, 9, 12): "The chronometer, which had stopped, was set going again by Mr Jessop of Settle.",
        datetime.date(1872, 3, 8): "After its tumble into the beck the theodolite was put right by the blacksmith's "
                                   "widow, Mrs Carrick, who would take no money for it.",
        datetime.date(1872, 8, 29): "The new tent came up from Kendal on a cart today, and it keeps the rain out."})
    data.plant(cache, "reference-de", folder / "Sammlung.txt", [
        (0.19, "Als Brunnenmeister von Niederkirnach dient seit jeher Anselm Duffner."),
        (0.41, "Weil ihm die Knie schmerzten, trat der Imker Rösch das Amt des Brunnenmeisters von Oberkirnach "
               "an Leontine Faller ab."),
        (0.74, "Im Herbst lagen auf dem Speicher der Klostermühle 2318 Säcke Dinkel; als der Schnee geschmolzen "
               "war, zählte der Müller dort noch 1694.")], start=0.45, size=330_000)
    data.plant(cache, "faq-fr", folder / "recueil.txt", [
        (0.24, "Le lavoir de Saint-Aubrac est l'œuvre du maçon Firmin Castel."),
        (0.53, "Une crue ayant emporté le premier, le pont couvert de Saint-Aubrac fut achevé par le charpentier "
               "Honoré Delmas, qui y grava une truite."),
        (0.82, "La barque du passeur de Tréguennec coula un soir de novembre, et nul ne la remonta.")])
    arrival, earlier = datetime.date(1906, 8, 17), datetime.date(1905, 8, 17)
    write_diary(folder / "cronica.txt", 5202, "es", datetime.date(1904, 11, 1), 900, CRONICA, {
        earlier: "Con el carro del correo llegó a Valdeolmos el afinador Casimiro Lozano.",
        arrival: "En la diligencia de la tarde vino la fotógrafa Eulalia Bermejo, con dos baúles y un loro.",
        datetime.date(1905, 12, 24): "Esta noche arden en la iglesia 58 velas.",
        datetime.date(1906, 5, 6): "Por fin se alumbró la plaza, con 43 lámparas de aceite compradas en Soria."})
    write_diary(folder / "rifugio.txt", 5203, "it", datetime.date(1927, 6, 10), 760, RIFUGIO, {
        datetime.date(1927, 10, 2): "Per un barile d'olio ho ceduto il cannocchiale al mulattiere.",
        datetime.date(1928, 4, 21): "Ho dato al vecchio Bortolo la mia fisarmonica, e lui mi ha lasciato la capra "
                                    "bianca.",
        datetime.date(1929, 5, 30): "La teleferica nuova porta su 135 chili per viaggio; quella di prima ne portava "
                                    "soltanto 85."})

    def ask(file: str, text: str, *wanted, **more) -> Question:
        return Question("prose", (file,), text, wanted, **more)

    return [
        ask("novel.txt", "What was the pet bird of the druggist in Lambton called?", "Methuselah",
            rivals=("Bartholomew",)),
        ask("novel.txt", "How many pounds did the repair of the church organ at Hunsford cost?", 164),
        ask("field_book.txt", "What is the surname of the person who repaired the surveying instrument that had "
            "fallen into the stream?", "Carrick", rivals=("Jessop",)),
        ask("field_book.txt", "How much money was paid for the new tent?", absent=True),
        ask("Sammlung.txt", "Wer kümmert sich um die Brunnen von Oberkirnach, seit der Bienenzüchter diese Aufgabe "
            "abgegeben hat?", "Faller", rivals=("Duffner",)),
        ask("Sammlung.txt", "Wie viele Säcke Dinkel waren nach dem Winter in der Klostermühle noch übrig?", 1694,
            also=(2318,)),
        ask("recueil.txt", "Quel artisan a terminé le pont à toit de Saint-Aubrac ?", "Delmas",
            rivals=("Castel",)),
        ask("recueil.txt", "En quelle année la barque du passeur de Tréguennec a-t-elle fait naufrage ?",
            absent=True),
        ask("cronica.txt", f"¿Quién llegó al pueblo el {dated(arrival, 'es')}?", "Bermejo", rivals=("Lozano",)),
        ask("cronica.txt", "¿Con cuántas luces se iluminó por primera vez la plaza?", 43),
        ask("rifugio.txt", "Quale strumento musicale ha dato il custode in cambio della capra?", "fisarmonica"),
        ask("rifugio.txt", "Quanti chili per corsa poteva trasportare la vecchia teleferica?", 85, also=(135,)),
    ]


def make_desk(folder: pathlib.Path) -> None:
    rng = random.Random(5301)
    people = ["Noor", "Tomasz", "Wanjiru", "Eskil"]
    lines = ["The customer rang again and was friendly.", "Waiting for a part from the depot.",
             "Handed over to Noor for the weekend, then taken back.", "Tomasz says it works on his own machine.",
             "Nobody could reproduce it so far.", "We open the case again if it comes back.",
             "Eskil closed the window and the noise was gone.", "A photograph is attached to the letter."]
    days = rng.sample(range(560), 64)
    for at, number in enumerate(sorted(rng.sample(range(1100, 9800), 64))):
        opened = datetime.date(2023, 2, 6) + datetime.timedelta(days=days[at])
        data.write_tree(folder, {f"TCK-{number}.txt": (
            f"Ticket: TCK-{number}\nOpened: {opened}\nState: {rng.choice(['open', 'closed', 'closed'])}\n"
            f"Assignee: {rng.choices(people, weights=[5, 4, 3, 3])[0]}\nFloor: {rng.randrange(1, 9)}\n\n"
            + "\n".join(rng.sample(lines, rng.randrange(2, 6))) + "\n")})


def make_cluster(folder: pathlib.Path) -> None:
    rng = random.Random(5302)
    names = ["avocet", "bittern", "curlew", "dipper", "egret", "fulmar", "gannet", "heron", "ibis", "jacana",
             "kestrel", "lapwing", "merlin", "nightjar"]
    ports = dict(zip(names, rng.sample(range(7000, 9999), len(names))))
    ports["lapwing"] = 9417
    files = {}
    for name in names:
        replicas = rng.randrange(1, 9)
        note = "# until May this was port 9417, see lapwing for what took it over\n" if name == "curlew" else ""
        files[f"{name}/service.yaml"] = (f"name: {name}\n{note}port: {ports[name]}\nreplicas: {replicas}\n"
                                         f"image: registry.invalid/{name}:{rng.randrange(1, 30)}\n")
        if rng.random() < 0.4:
            files[f"{name}/service.yaml.old"] = f"name: {name}\nport: {ports[name]}\nreplicas: {replicas + 3}\n"
        if rng.random() < 0.5:
            files[f"{name}/{name}.env"] = f"LOG_LEVEL={rng.choice(['info', 'debug'])}\nWORKERS={replicas * 2}\n"
    files["README.md"] = "# Cluster\n\nEach folder is a service. Ask the night shift before a change.\n"
    data.write_tree(folder, files)


def make_rain(folder: pathlib.Path) -> None:
    rng = random.Random(5303)
    folder.mkdir()
    for month in range(30):
        name = f"{1997 + month // 12}-{month % 12 + 1:02d}"
        wet = {"Brenna": 1.0, "Solvik": 1.1, "Tarn End": 0.8}
        data.write_table(folder / f"{name}.csv", [
            {"day": day, "station": station, "mm": round(max(0, rng.gauss(1, 6)) * factor, 1)}
            for day in range(1, 29) for station, factor in wet.items()])


PLOTTER = {
    "main.py": '''"""Draws what a turtle file says."""

import sys

from pen import Pen
from readers.turtle import read

# TODO: take the paper size from the command line


def main():
    pen = Pen()
    for step in read(sys.argv[1]):
        pen.move(*step)  # TODO limit the speed
    pen.lift()
''',
    "pen.py": '''class Pen:
    """TODO: describe the units."""

    def __init__(self):
        self.x = self.y = 0
        self.down = False

    def move(self, x, y):
        self.x, self.y = x, y

    def lift(self):
        self.down = False
''',
    "readers/__init__.py": "",
    "readers/turtle.py": '''def read(path):
    # TODO: comments in turtle files; TODO: blank lines
    with open(path, encoding="utf-8") as lines:
        return [tuple(map(int, line.split())) for line in lines]
''',
    "readers/svg.py": '''def read(path):
    raise NotImplementedError("TODO")
''',
    "web/canvas.js": '''// TODO: high resolution screens
export function clear(canvas) {
  canvas.width = canvas.width; // TODO: is there a better way?
}
''',
    "web/touch.js": "// TODO: pens that know their pressure\nexport const touch = () => null;\n",
    "tests/test_pen.py": '''from pen import Pen


def test_move():
    pen = Pen()
    pen.move(3, 4)
    assert (pen.x, pen.y) == (3, 4)
    # TODO test lift
''',
    "NOTES.md": "# Notes\n\n- TODO: buy paper\n- TODO: oil the belt\n",
    "Makefile": "# TODO: install\ntest:\n\tpython3 -m pytest\n",
}


def folders(folder: pathlib.Path) -> list[Question]:
    desk, cluster, rain, plotter = (folder / name for name in ("desk", "cluster", "rain", "plotter"))
    make_desk(desk)
    make_cluster(cluster)
    make_rain(rain)
    data.write_tree(plotter, PLOTTER)

    tickets = [dict(line.split(": ", 1) for line in path.read_text("utf-8").split("\n\n")[0].splitlines())
               for path in sorted(desk.iterdir())]
    unsolved = [one for one in tickets if one["State"] == "open"]
    earliest = min(unsolved, key=lambda one: one["Opened"])
    services = {path.parent.name: path.read_text("utf-8") for path in sorted(cluster.rglob("service.yaml"))}
    taken = data.only([name for name, text in services.items() if re.search(r"^port: 9417$", text, re.M)])
    brenna = {path.stem: sum(round(float(row["mm"]) * 10) for row in data.read_table(path)
                             if row["station"] == "Brenna") for path in sorted(rain.iterdir())}
    wettest = data.first(collections.Counter(brenna))

    def ask(where: str, text: str, *wanted, **more) -> Question:
        return Question("folder", (where,), text, wanted, **more)

    return [
        ask("desk", "How many tickets have the state open and Noor as their assignee?",
            sum(one["Assignee"] == "Noor" for one in unsolved)),
        ask("desk", "Which of the tickets whose state is open has the earliest date in Opened? Give its whole "
            "number, TCK and digits.", earliest["Ticket"],
            rivals=others((one["Ticket"] for one in tickets), earliest["Ticket"])),
        ask("cluster", "Which service listens on port 9417 now?", taken, rivals=others(services, taken)),
        ask("cluster", "What do the replicas in all files named service.yaml add up to?",
            sum(int(re.search(r"^replicas: (\d+)$", text, re.M)[1]) for text in services.values())),
        ask("rain", "In which file do the mm of the station Brenna have the largest sum?", wettest,
            rivals=others(brenna, wettest)),
        ask("plotter", "How many lines of the files that end in .py contain TODO?",
            sum("TODO" in line for path in plotter.rglob("*.py")
                for line in path.read_text("utf-8").splitlines())),
    ]


def texts(block: str) -> list[str]:
    """A text a line."""
    return block.strip().split("\n")


# (file, field, question, kind asked for, {kind: texts})
JUDGED = [
    ("townhall.jsonl", "msg", "How many of the messages complain about something, rather than ask a question or "
     "say thanks?", "complaint", {
        "complaint": texts("""
The bins in Cooper Lane have not been emptied for three weeks and they stink.
Your playground is a disgrace, the swing has been broken since spring.
It is outrageous that the pool closes at noon in July.
The street lamp outside my bedroom flickers all night and I cannot sleep.
Somebody in your office hung up on me twice. That is no way to treat people.
The new cycle path ends in a hedge. Who thought that was acceptable?
I am fed up with the dog mess along the canal.
The bus shelter leaks, we all stood in the wet again this morning.
Your website lost my form for the third time, this is maddening.
Leaf blowers at six in the morning, every single day. Enough!
The pavement near the clinic is so bad that my mother fell.
I paid for a resident's permit and never find a space, I feel cheated.
The fountain has been dry for a year and nobody at the council cares.
The market square is ankle deep in litter after each concert.
Two hours in the queue, and then the clerk went to lunch. Unbelievable.
The gritting lorry never comes up our hill, we are left to slide."""),
        "question": texts("""
What do I need to bring to register a newborn?
Is the town hall open on Saturday mornings?
Can I reserve the meeting room on the second floor for a choir?
Where do I hand in old batteries?
How long does a new passport take at the moment?
Which day is paper collected in Elm Road?
Who is responsible for the trees along the river?
May one swim in the quarry lake?
When does the Christmas market begin this year?
Could you tell me the fee for a market stall?
Do children need a ticket for the museum?
Is there a form for changing my address?"""),
        "thanks": texts("""
Thank you for repairing the footbridge so quickly.
The lady at the counter was a gem, please tell her.
What a splendid summer festival, well done everybody.
The new benches are lovely, my husband rests there daily.
Many thanks for the flowers on the roundabout.
I was amazed how fast my permit came, great work.
The library staff found the book my son needed, we are so grateful.
Hats off to the crew who cleared the snow before dawn.
Your swimming teacher took away my fear of water, bless her.
A big thank you for the free seedlings."""),
     }),
    ("Praxis.csv", "nachricht", "In wie vielen der Nachrichten wird ein Termin abgesagt?", "absage", {
        "absage": texts("""
Leider kann ich morgen um neun nicht kommen, bitte streichen Sie mich.
Mein Kater ist entlaufen, den Impftermin am Dienstag brauchen wir also nicht mehr.
Ich sage die Untersuchung am Freitag hiermit ab.
Wir liegen alle mit Grippe im Bett und schaffen es heute nicht zu Ihnen.
Bitte vergeben Sie unseren Platz am Montag an jemand anderen.
Aus dem Besuch am Nachmittag wird nichts, mein Auto springt nicht an.
Der Hund ist wieder munter, wir kommen am Donnerstag doch nicht.
Den Termin zum Krallenschneiden muss ich absagen.
Können Sie mich aus dem Kalender nehmen? Ich bin am Mittwoch verreist.
Wir ziehen um und lassen die Zahnreinigung nächste Woche ausfallen.
Heute fällt unser Besuch aus, die Katze lässt sich nicht einfangen."""),
        "wunsch": texts("""
Hätten Sie in der nächsten Woche Zeit für eine Impfung?
Unser Kaninchen frisst nicht, wann dürfen wir vorbeikommen?
Ich möchte meinen Welpen zum ersten Mal vorstellen.
Bitte geben Sie mir einen Termin am Vormittag.
Wir brauchen noch vor den Ferien eine Untersuchung für die Reise.
Gibt es am Samstag noch einen freien Platz?
Mein Papagei müsste bald einmal zum Schnabelkürzen.
Ich würde gern einen Termin für zwei Katzen vereinbaren.
Könnten Sie nach der Schildkröte sehen, vielleicht am Abend?
Die Hündin soll kastriert werden, wann passt es Ihnen?"""),
        "frage": texts("""
Wie viele Tropfen soll der Hund am Abend bekommen?
Haben Sie auch Futter für Igel?
Wo kann man bei Ihnen parken?
Darf die Katze nach der Spritze nach draußen?
Was kostet ein Mikrochip?
Die Rechnung ist angekommen, vielen Dank.
Sind Sie auch für Ziegen zuständig?
Ist das Ergebnis der Blutprobe schon da?
Unserem Meerschweinchen geht es dank Ihnen wieder gut.
Welche Salbe hilft gegen Milben?
Nehmen Sie gefundene Vögel auf?
Der Verband hält gut, und der Appetit ist zurück.
Kann ich mit Karte bezahlen?
Wie lange ist die Tollwutimpfung gültig?
Sie haben eine sehr nette Helferin am Empfang.
Bis wann sind Sie am Telefon zu erreichen?
Das neue Halsband sitzt, danke für den Rat.
Verträgt ein Hamster Gurke?
Schicken Sie mir bitte eine Kopie des Impfpasses."""),
     }),
    ("headlines.jsonl", "headline", "How many of the headlines announce something that is still to come rather than "
     "report what has already happened?", "future", {
        "future": texts("""
Airline to drop in-flight magazines from January
New tram line will open next spring
Council plans to plant four thousand trees by the end of the decade
Museum of toys is due to move into the old mint in autumn
Tomorrow's eclipse will be visible all along the coast
Chocolate expected to become dearer before Christmas
Orchestra will tour South America next year
Ministers are going to meet again on Friday
Island hopes to be free of petrol cars within ten years
Bakers will vote on a strike next week
Film about the lost expedition to reach cinemas in the coming month
University intends to offer evening courses from next term
Dam is set to be emptied for inspection in two years' time
Three more wind farms to be built off the northern coast"""),
        "past": texts("""
Mayor opened the new market hall on Sunday
Runaway goat stopped trains for two hours
Nurse from Leeds won last night's lottery
Old cinema burned down, nobody hurt
Divers found the wreck of a grain ship
Rowers took silver in a close final
Court cleared the fisherman of all charges
Flood damaged sixty houses at the weekend
Thieves made off with a church bell
Pupils collected a ton of chestnuts
The oldest elm in the county fell in the storm
Tailor sewed the longest scarf ever measured
Beekeeper rescued a swarm from a post box
Prime minister lost the vote by a single voice
Cheesemaker sold his last wheel and retired
Snow surprised walkers on the moor yesterday
Researchers counted fewer swallows than last year
Ferry struck the pier, four were bruised
Painter left her house to the village
Champion withdrew with a sprained ankle
Parrot that had vanished in May was returned to its owner
Bridge closed after a crack was discovered
Choir sang for the last time in the old abbey
Police caught the man who had sold fake tickets
Strike at the port ended after nine days
Postman retired after half a century
A swan nested in the middle of the golf course"""),
     }),
    ("inbox.csv", "sms", "How many of the short messages are advertising or fraud rather than private messages?",
     "junk", {
        "junk": texts("""
WINNER!! You have been chosen for a luxury cruise. Reply YES to claim.
Your parcel is held back. Pay the fee of 1.99 at post-secure.invalid today
Last day: all sofas half price at Sofaworld. Stop? Text END
Dear customer your account is locked, confirm your PIN under bank-check.invalid
Earn 900 a day from home, no experience needed, write to us now
Hot deals on ringtones, first week free, then 4 per week
You qualify for a loan of 10,000 without any checks. Call now
Congratulations, your number won a tablet. Collect it within 24 hours
Final notice: your car warranty expires, press 1 to speak to an agent
Pizza Palazzo: two for one every Tuesday, show this text
Singles near you want to chat. Unlock pictures here
Invest in coins that double each month, limited places
Our gym misses you! Join again in May and pay no entry fee
Tax refund waiting: enter your card number to receive 318.40
Free scratch card with every fill-up at Petrogo this weekend
Your cloud storage is full, upgrade now and save 80 percent
Claim your free perfume sample, only postage to pay
Election special: signed mugs, buy three, get one free
URGENT: your SIM will be switched off, verify at sim-help.invalid"""),
        "private": texts("""
Running ten minutes late, order me a tea?
Did you feed the fish before you left
Mum's test came back fine, phew
Can you bring the drill on Sunday
Happy birthday old man, see you tonight
I left my scarf on your sofa, didn't I
The baby slept seven hours!!
ok, platform four then
Don't tell Rita about the cake
Are we still on for chess
Your brother rang, he sounded tired
Miss you already
Train stuck outside Crewe again
Can't talk, in a lecture
Thanks for yesterday, it meant a lot
Which shelf did you put the spare key on
Granddad wants his ladder back
I passed!!! all of it!
Could you water my tomatoes while I'm away
Sorry for shouting earlier
Lunch at the usual place?
Dad says the boiler is fixed
Snow here, how about you
The kids are asleep, ring me"""),
     }),
    ("allotment.csv", "entry", "How many of the entries describe a plant that is sick, dying or attacked by pests?",
     "sick", {
        "sick": texts("""
Brown spots have spread over all the leaves of my tomatoes.
Something is eating holes into the cabbages every night.
The old plum oozes gum from the bark and half of its crown is bare.
Greenfly everywhere on the roses, the buds are crippled.
My box hedge is full of caterpillars and nearly naked.
White powder covers the cucumbers, they are giving up.
The lemon tree has dropped every leaf and its twigs snap.
Leeks are rotting from the root upward.
Slugs have left nothing of the lettuce but stumps.
The pear has orange blisters below its leaves.
My basil turned black after one cold night and collapsed.
The potatoes stink and fall apart in the ground, it must be blight.
Tiny webs between the bean leaves, and they grow pale and crisp.
The lavender withers from the middle, I fear it is beyond help.
Voles have gnawed the roots of the young apple, it leans and wilts.
Carrots riddled with maggots again, the whole row."""),
        "well": texts("""
First strawberries today, sweet as sugar.
The quince flowered more richly than ever.
I sowed spinach between the rows this morning.
Does anyone have a wheelbarrow to lend?
Built a bench out of old scaffolding boards.
The sunflowers are taller than the shed by now.
We harvested eleven pumpkins, all of them flawless.
My new spade is a joy to work with.
Rhubarb jam is simmering on the stove.
The peas climb the fence and look splendid.
A hedgehog has moved in under the compost bin.
Put up a second water butt before the dry weeks.
The garlic is drying in plaits below the roof.
Swapped seeds with the neighbour, purple beans for kale.
The fig survived the winter and bears fruit.
Sharpened the shears and cut the grass edges.
Elderflowers picked for cordial, two baskets.
The gate squeaks, somebody bring oil.
Raspberries thick on every cane this week.
Laid a path of bark to the greenhouse.
The meeting of gardeners is on Saturday at ten."""),
     }),
    ("invitations.jsonl", "reply", "How many of the replies accept the invitation?", "yes", {
        "yes": texts("""
We would not miss it for the world.
Count us in, all four of us.
With the greatest pleasure, I shall be there at seven.
Of course I'm coming, what did you think?
I have already bought the shoes for it. See you there!
Gladly! May I bring a salad?
Put me down for the fish, I look forward to it.
Yes to everything, including the dancing.
My bags are packed, meet me at the station on Friday.
A wedding in the orchard? I am on my way.
Our babysitter said yes, so we say yes as well.
Thank you, we are delighted to attend.
I moved my holiday so that I can be with you that day.
Both of us will raise a glass with you in person.
Save me a seat near the band, will you?
I accept with joy.
Nothing could keep me away.
We'll be there with bells on.
I'll drive up in the morning and help you with the chairs.
Reserve the guest room for us, we are coming the night before.
Naturally I'll be at your side, I was at your christening too.
Happy to come, and I don't eat meat.
You had me at the word cake. Till Saturday!
Auntie and I will take the early train and be with you for lunch.
Wonderful, I'll be the one in the green hat.
Three of us will come, the dog stays at home."""),
        "no": texts("""
Sadly I shall be in hospital that week.
We must decline, though with a heavy heart.
That is the very day of my exam, so I cannot be there.
I no longer travel, but I will think of you.
Please celebrate without me this time.
My leave was refused, what a pity.
We can't make it, the baby is due that weekend.
I am afraid it is too far for us.
Another time perhaps, that Saturday I work.
I have to say no, my ship sails on the first.
Since the quarrel with Ned I would rather stay away.
Regrets from both of us, we will send a present.
Had you asked a week earlier I could have come, now I am booked."""),
     }),
]


def prepare(folder: pathlib.Path, cache: pathlib.Path) -> list[Question]:
    """Makes the files of this half in an empty folder; returns its questions."""
    return [*tables(folder), *prose(folder, cache), *folders(folder),
            *data.judged(folder, JUDGED)]
