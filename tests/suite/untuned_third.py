"""A third set of untuned questions: its data, and each question with its truth.

As untuned_held.py: it is asked once, and read by nobody who changes a prompt or the engine, see
docs/small-models.md. After the four kinds of the other halves come questions of the kind short,
over contexts that fit one plain call.
"""

import collections
import configparser
import csv
import datetime
import json
import pathlib
import random
import re
import textwrap

import untuned_data as data
from grading import Question
from untuned_data import others, texts


def make_donations(path: pathlib.Path) -> None:
    """Without a header: each value says what it is."""
    rng = random.Random(6101)
    path.write_text("".join(
        f"{rng.randrange(1, 29):02d}.{rng.randrange(1, 13):02d}.{rng.choice([2022, 2023, 2024])};"
        f"{rng.choice(['Tornby', 'Hasle', 'Ringve', 'Mobile unit'])};"
        f"{rng.choice('O+ O+ O+ A+ A+ A+ B+ B+ O- A- AB+ AB-'.split())};"
        f"{rng.choice(['whole blood', 'plasma', 'platelets'])};{rng.randrange(40, 52) * 10} ml\n"
        for _ in range(3600)), "utf-8")


def make_trees(path: pathlib.Path) -> None:
    """Tabs, whatever the name says; the district with most chestnuts is not that of most felled."""
    rng = random.Random(6102)
    districts = ["Osterfeld", "Weiher", "Lindach", "Torgasse", "Bleiche"]
    lines = ["tree_no\tspecies\tdistrict\tplanted\tgirth_cm\tstate"]
    for number in range(1, 3301):
        district = rng.choices(districts, weights=[6, 9, 5, 7, 4])[0]
        felled = 7 if district == "Torgasse" else 3
        lines.append("\t".join([
            f"T{number:05d}", rng.choice(["chestnut", "lime", "plane", "horse chestnut"]), district,
            str(rng.randrange(1890, 2020)), str(rng.randrange(20, 480)),
            rng.choices(["standing", "felled", "propped"], weights=[12, felled, 2])[0]]))
    path.write_text("\n".join(lines) + "\n", "utf-8")


def make_concerts(path: pathlib.Path) -> None:
    rng = random.Random(6103)
    composers = ["Lindgaard", "Castellani", "Vörös", "Pennington", "Okabe", "Dragomir", "Saint-Luc"]
    works = ["Symphony in D", "Night Music", "Overture", "Cello Concerto", "Serenade",
             "Variations on a Theme by Lindgaard", "Hommage to Lindgaard", "Elegy"]
    seasons, number = [], 0
    for year in range(2012, 2022):
        concerts = []
        for _ in range(rng.randrange(62, 80)):
            number += 1
            concerts.append({"no": number, "hall": rng.choice(["Rotunda", "Kursaal", "Abbey"]),
                             "encore": rng.random() < 0.4, "programme": [
                {"composer": (composer := rng.choice(composers)), "minutes": rng.randrange(6, 58),
                 "work": rng.choice(works[:5] if composer == "Lindgaard" else works)}
                for _ in range(rng.randrange(2, 6))]})
        seasons.append({"season": f"{year}/{year % 100 + 1}", "concerts": concerts})
    path.write_text(json.dumps({"orchestra": "Strandhill Philharmonic", "seasons": seasons},
                               indent=1, ensure_ascii=False), "utf-8")


def make_greenhouse(path: pathlib.Path) -> None:
    rng = random.Random(6104)
    data.write_lines(path, [{
        "at": f"{data.day(rng, (2025,))}T{rng.randrange(24):02d}:30", "probe": {
            "id": f"p{rng.randrange(10, 60)}", "bay": (bay := rng.choice("ABCDE"))},
        "humidity": None if rng.random() < 0.12 else round(
            rng.gauss({"A": 55, "B": 61, "C": 68, "D": 59, "E": 73}[bay], 6), 1),
        "celsius": round(rng.gauss(22, 3), 1)} for _ in range(3400)])


def make_repairs(path: pathlib.Path) -> None:
    rng = random.Random(6105)
    faults = ["brakes", "doors", "pantograph", "heating", "lamps"]
    blocks = []
    for number in range(1, 1201):
        one, two = rng.sample(faults, 2)
        minutes = "-" if rng.random() < 0.08 else str(rng.randrange(2, 90) * 5)
        blocks.append(
            f"=== Repair {4000 + number} ===\nTram:     {rng.randrange(11, 74)}\nFault:    {one}\n"
            f"Opened:   {data.day(rng, (2022, 2023))}\nMinutes:  {minutes}\n"
            f"Mechanic: {rng.choice(['Ruiz', 'Achterberg', 'Nwosu', 'Szabo'])}\n"
            f"Remark:   {two} looked at by {rng.choice(['Ruiz', 'Nwosu'])}, nothing found\n")
    path.write_text("\n".join(blocks), "utf-8")


def make_ovens(path: pathlib.Path) -> None:
    rng = random.Random(6106)
    when = datetime.datetime(2025, 1, 6, 1, 0)
    lines = []
    for _ in range(7600):
        when += datetime.timedelta(milliseconds=rng.randrange(900, 160000))
        oven = rng.randrange(1, 6)
        level, message = rng.choices([
            ("INFO", f"batch {rng.randrange(100, 999)} of rolls finished"),
            ("INFO", f"steam for {rng.randrange(4, 40)} s"), ("WARN", "door ajar"),
            ("WARN", f"{rng.randrange(262, 290)} C is too hot"),
            ("ERROR", "conveyor stuck" if oven == 3 else "burner failure")],
            weights=[30, 20, 5, 4, 2])[0]
        lines.append(f"{when:%d.%m. %H:%M:%S},{when.microsecond // 1000:03d} | OVEN-{oven} | "
                     f"{level:<5} | {message}\n")
    path.write_text("".join(lines), "utf-8")


def make_rescue(members: pathlib.Path, callouts: pathlib.Path) -> None:
    rng = random.Random(6107)
    numbers = [f"M{number:03d}" for number in rng.sample(range(1, 900), 140)]
    data.write_table(members, [{
        "member": number, "base": rng.choice(["Sorpe", "Vallada", "Ghiaia", "Tschamin"]),
        "joined": rng.randrange(1988, 2024), "dog": rng.choice(["yes", "no", "no"])}
        for number in numbers])
    rows = []
    for number in range(100, 900):
        date = data.day(rng, (2021, 2022, 2023))
        kind = rng.choice(["avalanche", "fall", "lost walker"])
        rows += [{"callout": number, "date": date, "kind": kind, "member": member,
                  "minutes": rng.randrange(25, 600)} for member in rng.sample(numbers, 3)]
    data.write_table(callouts, rows)


def make_theatre(plays: pathlib.Path, tickets: pathlib.Path) -> None:
    rng = random.Random(6108)
    genres = {f"PL{number}": rng.choice(["comedy", "tragedy", "opera", "puppets"])
              for number in rng.sample(range(10, 99), 36)}
    plays.write_text(json.dumps({code: {
        "title": f"The {rng.choice(['Glass', 'Lame', 'Borrowed'])} {rng.choice(['Duke', 'Heir'])}",
        "genre": genre} for code, genre in genres.items()}, indent=1), "utf-8")
    lines = ["evening;play;seats;row"]
    for _ in range(2800):
        evening = datetime.date(2022, 9, 1) + datetime.timedelta(days=rng.randrange(640))
        lines.append(f"{evening.day} {evening:%b %Y};{rng.choice(list(genres))};"
                     f"{rng.randrange(1, 9)};{rng.randrange(1, 31)}")
    tickets.write_text("\n".join(lines) + "\n", "utf-8")


def make_islands(path: pathlib.Path) -> None:
    rng = random.Random(6109)
    heads = ["Bran", "Skar", "Tjor", "Ulv", "Grim", "Hest", "Kal", "Lange", "Mys", "Ny", "Orm",
             "Rau", "Sel", "Tang", "Vind", "Ytter"]
    tails = ["holm", "sund", "vik", "nes", "grund", "lund", "fjell", "havn", "strand", "skjer"]
    names = [head + tail for head in heads for tail in tails]
    rng.shuffle(names)
    people = rng.sample(range(3, 4000), len(names))
    lines = ["; Verzeichnis der Inseln, Stand 2019"]
    for name, count in zip(names, people):
        lines += ["", f"[{name}]", f"einwohner = {count}",
                  f"flaeche_km2 = {rng.randrange(2, 900) / 10}",
                  f"faehre = {'ja' if count > 3400 or rng.random() < 0.5 else 'nein'}",
                  f"leuchtturm = {rng.choice(['ja', 'nein'])}"]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def make_stakes(path: pathlib.Path) -> None:
    """Columns of fixed width."""
    rng = random.Random(6110)
    lines = [f"{'date':<12}{'stake':<8}{'snow_cm':>8}{'ice_cm':>8}  observer"]
    for offset in range(0, 1800, 3):
        date = datetime.date(2016, 10, 3) + datetime.timedelta(days=offset)
        for stake, ice in (("K1", 1820), ("K2", 2210), ("K3", 1540), ("K4", 1990), ("K5", 2480)):
            depth = "--" if rng.random() < 0.07 else str(int(rng.gauss(ice, 160)))
            lines.append(f"{date!s:<12}{stake:<8}{rng.randrange(0, 380):>8}{depth:>8}  "
                         f"{rng.choice(['Amrein', 'Bortis', 'Clavadetscher'])}")
    path.write_text("\n".join(lines) + "\n", "utf-8")


def make_league(path: pathlib.Path) -> None:
    rng = random.Random(6111)
    strength = {"Abasov": 5, "Brightwell": 6, "Cornelis": 14, "Duarte": 5, "Eklund": 4, "Farkas": 7}
    black = strength | {"Duarte": 9, "Cornelis": 5}
    lines = ["# Winter league", "", "| game | white | black | result | moves |",
             "|-----:|-------|-------|:------:|------:|"]
    for number in range(1, 1501):
        one, two = rng.sample(list(strength), 2)
        result = rng.choices(["1-0", "0-1", "1/2-1/2"], weights=[strength[one], black[two], 4])[0]
        lines.append(f"| {number} | {one} | {two} | {result} | {rng.randrange(14, 96)} |")
    path.write_text("\n".join(lines) + "\n", "utf-8")


def make_museum(path: pathlib.Path) -> None:
    rng = random.Random(6112)
    things = ["Bronze mirror", "Shepherd''s crook", "Salt cellar", "Spinning wheel", "Map of R4",
              "Miner''s lamp", "Puppet, headless"]
    lines = ["CREATE TABLE objects (id INTEGER, title TEXT, room TEXT, acquired INTEGER,"
             " insured_eur INTEGER);", "BEGIN;"]
    for number in range(1, 2601):
        acquired = "NULL" if rng.random() < 0.16 else rng.randrange(1820, 2015)
        insured = "NULL" if rng.random() < 0.3 else rng.randrange(2, 900) * 50
        lines.append(f"INSERT INTO objects VALUES ({number}, '{rng.choice(things)}', "
                     f"'R{rng.randrange(1, 9)}', {acquired}, {insured});")
    path.write_text("\n".join([*lines, "COMMIT;"]) + "\n", "utf-8")


def felled_chestnuts(path: pathlib.Path) -> str:
    rows = list(csv.DictReader(path.read_text("utf-8").splitlines(), delimiter="\t"))
    chestnuts = [row for row in rows if row["species"] == "chestnut"]
    name = data.first(collections.Counter(
        row["district"] for row in chestnuts if row["state"] == "felled"))
    if name == data.first(collections.Counter(row["district"] for row in chestnuts)):
        raise ValueError("the district is easy to guess")
    return name


def repair_minutes(text: str, mechanic: str, fault: str) -> int:
    blocks = [dict(line.split(":", 1) for line in block.splitlines() if ":" in line)
              for block in re.split(r"(?m)^=== .* ===$", text)[1:]]
    return sum(int(block["Minutes"]) for block in blocks if block["Mechanic"].strip() == mechanic
               and block["Fault"].strip() == fault and block["Minutes"].strip() != "-")


def rescue_minutes(folder: pathlib.Path) -> int:
    base = {row["member"]: row["base"] for row in data.read_table(folder / "members.csv")}
    return sum(int(row["minutes"]) for row in data.read_table(folder / "callouts.tsv")
               if row["kind"] == "avalanche" and base[row["member"]] == "Sorpe")


def comedy_seats(folder: pathlib.Path) -> int:
    plays = json.loads((folder / "plays.json").read_text("utf-8"))
    rows = csv.DictReader((folder / "seats.txt").read_text("utf-8").splitlines(), delimiter=";")
    return sum(int(row["seats"]) for row in rows
               if plays[row["play"]]["genre"] == "comedy" and row["evening"].endswith(" Dec 2023"))


def black_wins(text: str) -> collections.Counter:
    rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines()[4:]]
    wins = collections.Counter(row[3] for row in rows if row[4] == "0-1")
    if data.first(wins) == data.first(wins + collections.Counter(
            row[2] for row in rows if row[4] == "1-0")):
        raise ValueError("the best player with black is the best of all")
    return wins


def tables(folder: pathlib.Path) -> list[Question]:
    make_donations(folder / "donations.txt")
    make_trees(folder / "street_trees.csv")
    make_concerts(folder / "concerts.json")
    make_greenhouse(folder / "greenhouse.jsonl")
    make_repairs(folder / "tram_repairs.txt")
    make_ovens(folder / "ovens.log")
    make_rescue(folder / "members.csv", folder / "callouts.tsv")
    make_theatre(folder / "plays.json", folder / "seats.txt")
    make_islands(folder / "inseln.ini")
    make_stakes(folder / "stakes.prn")
    make_league(folder / "league.md")
    make_museum(folder / "museum.sql")

    def read(name: str) -> str:
        return (folder / name).read_text("utf-8")

    donations = [line.split(";") for line in read("donations.txt").splitlines()]
    felled = felled_chestnuts(folder / "street_trees.csv")
    concerts = [one for season in json.loads(read("concerts.json"))["seasons"]
                for one in season["concerts"]]
    humid = [row["humidity"] for row in data.read_lines(folder / "greenhouse.jsonl")
             if row["probe"]["bay"] == "C" and row["humidity"] is not None]
    islands = configparser.ConfigParser()
    islands.read_string(read("inseln.ini"))
    alone = [name for name in islands.sections() if islands[name]["faehre"] == "nein"]
    lonely = data.only_largest(alone, lambda name: int(islands[name]["einwohner"]))
    stakes = [line.split() for line in read("stakes.prn").splitlines()[1:]]
    thickest = data.only_largest([row for row in stakes if row[1] == "K4" and row[3] != "--"],
                                 lambda row: int(row[3]))[0]
    black = black_wins(read("league.md"))

    def ask(files: str, text: str, *wanted, **more) -> Question:
        return Question("table", tuple(files.split()), text, wanted, **more)

    return [
        ask("donations.txt", "How many donations of group O- were given in Tornby in 2023?",
            sum(row[0].endswith(".2023") and row[1:3] == ["Tornby", "O-"] for row in donations)),
        ask("street_trees.csv", "In which district were the most trees of the species chestnut "
            "(not horse chestnut) felled?", felled,
            rivals=others(["Osterfeld", "Weiher", "Lindach", "Torgasse", "Bleiche"], felled)),
        ask("concerts.json", "How many concerts had no work by Lindgaard in their programme?",
            sum(all(work["composer"] != "Lindgaard" for work in one["programme"])
                for one in concerts)),
        ask("greenhouse.jsonl", "What is the average humidity in bay C, leaving out the readings "
            "that have no value, rounded to two decimals?", sum(humid) / len(humid)),
        ask("tram_repairs.txt", "How many minutes in all did the mechanic Nwosu need for the "
            "repairs whose fault was the doors? Leave out those without a number of minutes.",
            repair_minutes(read("tram_repairs.txt"), "Nwosu", "doors")),
        ask("ovens.log", "How many times did OVEN-3 report a burner failure?",
            len(re.findall("OVEN-3 .*burner failure", read("ovens.log")))),
        ask("members.csv callouts.tsv", "How many minutes did the members of the base Sorpe spend "
            "on callouts of the kind avalanche, all added up?", rescue_minutes(folder)),
        ask("plays.json seats.txt", "How many seats were sold for comedies in December 2023?",
            comedy_seats(folder)),
        ask("inseln.ini", "Welche Insel ohne Fähre hat die meisten Einwohner?", lonely,
            also=(int(islands[lonely]["einwohner"]),), rivals=others(islands.sections(), lonely)),
        ask("stakes.prn", "On which date was the thickest ice measured at stake K4? Write the date "
            "as the file does.", thickest, rivals=others((row[0] for row in stakes), thickest)),
        ask("league.md", "Which player won the most games with the black pieces?",
            data.first(black), also=(max(black.values()),),
            rivals=others(black, data.first(black))),
        ask("museum.sql", "How many objects in room R4 have no year of acquisition?",
            len(re.findall(r"', 'R4', NULL, \w+\);$", read("museum.sql"), re.M))),
    ]


def write_sheets(path: pathlib.Path, seed: int, count: int, places: str,
                 parts: tuple[str, str, str], planted: dict[int, str]) -> None:
    """Sheets headed by a place; each sentence is a subject, a deed and an end."""
    rng = random.Random(seed)
    subjects, deeds, ends = (part.split("/") for part in parts)
    sheets = []
    for number in range(count):
        sentences = [f"{rng.choice(subjects)} {rng.choice(deeds)}{rng.choice(ends)}."
                     for _ in range(rng.randrange(3, 9))]
        if number in planted:
            sentences.insert(rng.randrange(1, len(sentences)), planted[number])
        sheets.append(f"{rng.choice(places.split())}.\n\n{textwrap.fill(' '.join(sentences))}\n")
    path.write_text("\n".join(sheets), "utf-8")


PLAYERS = (
    "Our leading lady/The manager/Old Pargeter/The boy who holds the horses/"
    "A gentleman in the pit/The wardrobe mistress/My understudy/The fiddler",
    "forgot every line of the second act/asked for an advance and did not get it/"
    "laughed in the wrong place/mended the blue curtain/threw an orange at the king/"
    "slept in the property basket/swore never to play in a barn again/counted the candles/"
    "fell in love with the innkeeper's niece/lost the crown under the wagon",
    ", as at Doncaster/ before the overture/, which nobody minded/ while it thundered/"
    ", and said so loudly//, to our shame")

ORGEL = (
    "Der Pfarrer/Mein Geselle/Der Kantor/Die Witwe des Müllers/Ein Fuhrmann aus der Altmark/"
    "Der Schulze/Die Wirtin/Der alte Balgtreter",
    "klagte über den Zug im Kirchenschiff/brachte trockenes Eichenholz/"
    "wollte die Rechnung noch nicht sehen/hörte dem Stimmen bis in die Nacht zu/"
    "fand Mäuse im Windkasten/schenkte uns einen Korb Birnen/hielt die Quinte für zu hoch/"
    "verlor den Leimtopf auf der Landstraße/fragte nach dem Preis einer Trompete/"
    "schlief in der hintersten Bank ein",
    ", wie schon im vorigen Jahr/, und wir schwiegen dazu/ vor dem Läuten/ trotz der Kälte//"
    ", sehr zum Ärger des Küsters")


def prose(folder: pathlib.Path, cache: pathlib.Path) -> list[Question]:
    data.plant(cache, "policy", folder / "clauses.txt", [
        (0.21, "For the copper roof of the bandstand at Ashcombe the borough paid 428 guineas, and "
               "it grumbled for years."),
        (0.44, "The thatch over the stables at Ashcombe had been had for 95 guineas."),
        (0.68, "The miller's daughter was bound apprentice to a glover in Polruan; his son went to "
               "a saddler in Mevagissey."),
        (0.87, "The bellringer's daughter sewed sails in Fowey.")], start=0.36, size=270_000)
    write_sheets(folder / "strollers.txt", 6201, 560, "Retford Lichfield Derby Thirsk", PLAYERS, {
        97: "When the boards gave way beneath us at Thirsk, it was Miss Alderson who wore the "
            "ghost's sheet, for Tolliver lay ill with the quinsy.",
        233: "On the quiet nights Mr Haverstock played the ghost, and played it badly.",
        318: "The prompter, a Mr Oakshott, joined us at Lichfield with one shirt and a parrot.",
        446: "Our trumpeter has 14 shillings a week, and wants more."})
    write_sheets(folder / "orgelbuch.txt", 6202, 520, "Havelberg Perleberg Lenzen", ORGEL, {
        61: "Für die Orgel in Hohenwulsch gossen wir zum Advent 117 neue Pfeifen, für die in "
            "Klinkow bloß 64.",
        198: "In Rühstädt hat der Tischler Petzke den Blasebalg geflickt, das Gehäuse aber malte "
             "Dorothee Angermann mit Ranken aus.",
        377: "Das Gehäuse in Bälow strich ein gewisser Klaas Voßkamp einfach grau an.",
        455: "Die Orgel in Quitzöbel verlor im Sturm 38 Pfeifen."})
    data.plant(cache, "reference-fr", folder / "cahier-fr.txt", [
        (0.16, "Le chaudron de l'auberge du Héron fut cédé à un colporteur de Pithiviers contre "
               "trois couvertures."),
        (0.39, "Quant au soufflet de l'auberge, un forgeron d'Étampes l'emporta sur son dos."),
        (0.77, "La cloche du moulin d'Orval pesait 386 livres avant la refonte; depuis, elle en "
               "pèse 417.")], start=0.64, size=250_000)
    data.plant(cache, "reference-es", folder / "apuntes.txt", [
        (0.23, "Desde la riada, el arca de las ordenanzas la cierra Remedios Olivares, y la de las "
               "semillas, Crispín Barahona; nadie más tiene las llaves."),
        (0.50, "El reloj nuevo de la torre de Peñalba llegó desde Toledo a lomos de mulas."),
        (0.79, "Para subir la campana de Peñalba hicieron falta 16 bueyes.")],
        start=0.07, size=270_000)
    data.plant(cache, "reference-zh", folder / "biji-zh.txt", [
        (0.20, "渡口的老艄公一生救起过237个落水的人，他的徒弟救起过85个。"),
        (0.46, "绸缎庄的账本被掌柜藏在祠堂的匾额后面。"),
        (0.74, "当铺的账本压在厨房的米缸底下。")], start=0.34, size=230_000)

    def ask(file: str, text: str, *wanted, **more) -> Question:
        return Question("prose", (file,), text, wanted, **more)

    return [
        ask("clauses.txt", "How many guineas did the town spend on the metal covering of the "
            "pavilion for the musicians at Ashcombe?", 428),
        ask("clauses.txt", "In which place did the girl from the mill learn her trade?", "Polruan",
            rivals=("Mevagissey", "Fowey")),
        ask("strollers.txt", "Who acted the ghost at the performance when the stage collapsed?",
            "Alderson", rivals=("Tolliver", "Haverstock")),
        ask("strollers.txt", "How many shillings a week did the prompter earn?", absent=True),
        ask("orgelbuch.txt", "Wie viele Orgelpfeifen wurden für Klinkow gemacht?", 64, also=(117,)),
        ask("orgelbuch.txt", "Wer hat in Rühstädt den Orgelkasten bemalt?", "Angermann",
            rivals=("Petzke", "Voßkamp")),
        ask("cahier-fr.txt", "De quelle ville venait le marchand ambulant qui a obtenu la grosse "
            "marmite de l'auberge du Héron ?", "Pithiviers", rivals=("Étampes",)),
        ask("cahier-fr.txt", "Combien de livres pèse la cloche du moulin d'Orval après avoir été "
            "fondue à nouveau ?", 417, also=(386,)),
        ask("apuntes.txt", "¿Quién tiene la llave del cofre en el que se guarda la simiente?",
            "Barahona", rivals=("Olivares",)),
        ask("apuntes.txt", "¿Cuántas mulas trajeron el reloj de la torre a Peñalba?", absent=True),
        ask("biji-zh.txt", "摆渡的老人一共从水里救过多少人？", 237, also=(85,)),
        ask("biji-zh.txt", "丝绸店的账簿藏在什么东西后面？", "匾额", rivals=("米缸",)),
    ]


def make_wells(folder: pathlib.Path) -> None:
    rng = random.Random(6301)
    files = {"README.md": "# Wells\n\nOne file for each well. A well that is deeper than 40 metres "
                          "and not sealed is to be visited in spring.\n"}
    for number in rng.sample(range(100, 999), 30):
        files[f"{rng.choice(['north', 'south'])}/well-{number}.json"] = json.dumps({
            "well": number, "depth_m": rng.randrange(12, 81), "sealed": rng.random() < 0.5,
            "owner": rng.choice(["parish", "mill", "railway"]), "samples": [
                {"day": data.day(rng, (2018, 2019)), "nitrate_mg": rng.randrange(2, 70)}
                for _ in range(rng.randrange(2, 9))]}, indent=1)
    data.write_tree(folder, files)


def make_kiosk(folder: pathlib.Path) -> None:
    rng = random.Random(6302)
    folder.mkdir()
    for month in ("april", "may", "june", "july", "august", "september"):
        data.write_table(folder / f"{month}.csv", [
            {"day": day, "ware": ware, "pieces": rng.randrange(0, 40), "cents_each": cents}
            for day in range(1, 29) for ware, cents in
            (("postcards", 120), ("lemonade", 250), ("sunhats", 1400), ("maps", 690))])


BUOYS = {
    "buoys/tides.py": '"""High and low water."""\n\nOFFSET = 25\n\n\nclass TideTable:\n'
                      "    def __init__(self, rows):\n        self.rows = rows\n\n"
                      "    def next_high(self, now):\n"
                      "        return min(row for row in self.rows if row > now + OFFSET)\n",
    "buoys/radio.py": "import time\n\nfrom buoys.tides import TideTable\n\nCHANNEL = 71\n\n\n"
                      "def announce(rows):\n    return TideTable(rows).next_high(time.time())\n",
    "buoys/lamp.py": 'def flash(count):\n    return "*" * count\n\n\ndef dim(level):\n'
                     "    return level // 2\n",
    "buoys/tide_plot.py": '"""Draws a TideTable."""\n\nimport sys\n\nfrom buoys import lamp\n'
                          "\n\ndef plot(rows):\n    sys.stdout.write(lamp.flash(len(rows)))\n",
    "tests/test_tides.py": "from buoys.tides import TideTable\n\n\ndef test_next_high():\n"
                           "    assert TideTable([10, 90]).next_high(20) == 90\n",
    "web/tide.js": 'import draw from "./draw";\n\nexport class TideView {}\n',
    "docs/classes.md": "# Classes\n\n`class TideTable` holds the hours of high water.\n",
}


def folders(folder: pathlib.Path) -> list[Question]:
    trades = ["cooper", "tinker", "ropemaker", "chandler", "thatcher", "fuller", "farrier",
              "glazier", "hatter", "bookbinder", "tanner", "wheelwright"]
    names = [f"{part}/{part}-{trade}.txt" for part in ("spring", "summer", "winter")
             for trade in trades]
    data.write_pages(folder / "almanac", 6303, names, [
        "The eldest brother", "A stranger with a lute", "The whole street", "Widow Penrose",
        "The toll keeper", "A cousin from the marshes", "The apprentice", "The parish clerk"], [
        "kept the shutters closed until noon", "haggled over a sack of bran",
        "whitewashed the yard wall", "saw the mail coach pass", "would not lend the ladder",
        "dreamed of a house by the sea", "carried the sign across the bridge",
        "quarrelled about the price of tallow"], {
        "winter/winter-glazier.txt": "While the big top was being raised, a tapir slipped its rope "
                                     "and was not caught for nine days.",
        "spring/spring-hatter.txt": "A travelling show with a tame bear stayed for one night.",
        "summer/summer-fuller.txt": "The pig ran away and came home by itself.",
        "spring/spring-cooper.txt": "He paid in marzipan.", "spring/spring-tanner.txt":
        "Nobody could tell marzipan from soap.", "summer/summer-tinker.txt":
        "The marzipan melted on the sill.", "summer/summer-farrier.txt":
        "Even the horse was given marzipan.", "winter/winter-chandler.txt":
        "A box of marzipan came with the candles.", "winter/winter-hatter.txt":
        "She shaped a crown of marzipan.", "winter/winter-ropemaker.txt":
        "There was marzipan, and marzipan again.", "spring/spring-bookbinder.txt":
        "Between two pages lay a leaf of marzipan."})
    almanac, wells, kiosk, buoys = map(folder.joinpath, ("almanac", "wells", "kiosk", "buoys"))
    make_wells(wells)
    make_kiosk(kiosk)
    data.write_tree(buoys, BUOYS)
    records = [json.loads(path.read_text("utf-8")) for path in sorted(wells.rglob("*.json"))]
    escaped = pathlib.Path(data.only(data.files_with(almanac, "tapir"))).stem
    sold = {path.stem: sum(int(row["pieces"]) for row in data.read_table(path)
                           if row["ware"] == "postcards")
            for path in sorted(kiosk.iterdir())}
    best = data.first(collections.Counter(sold))

    def ask(where: str, text: str, *wanted, **more) -> Question:
        return Question("folder", (where,), text, wanted, **more)

    return [
        ask("almanac", "Which file tells of an animal that escaped from a circus?", escaped,
            rivals=("spring-hatter", "summer-fuller")),
        ask("almanac", "How many of the files contain the word marzipan?",
            len(data.files_with(almanac, "marzipan"))),
        ask("wells", "How many of the wells are deeper than 40 metres and not sealed?",
            sum(one["depth_m"] > 40 and not one["sealed"] for one in records)),
        ask("kiosk", "In which month were the most pieces of the ware postcards sold?", best,
            also=(sold[best],), rivals=others(sold, best)),
        ask("buoys", "In which file is the class TideTable defined?",
            data.only(data.files_with(buoys, "\nclass TideTable:")),
            rivals=("radio.py", "tide_plot.py", "test_tides.py", "tide.js", "classes.md")),
        ask("buoys", "How many lines of the .py files begin with the word import or from?",
            sum(line.split(" ")[0] in ("import", "from") for path in buoys.rglob("*.py")
                for line in path.read_text("utf-8").splitlines())),
    ]


# (file, field, question, kind asked for, {kind: texts})
JUDGED = [
    ("absences.csv", "note", "How many of the notes excuse the absence with an illness or injury "
     "rather than with something else?", "ill", {
        "ill": texts("""
I spent the night with my head over a bucket. / My fever is at thirty-nine and climbing.
I slipped on the ice and my wrist is in plaster.
The dentist pulled two teeth and my cheek is as big as a melon.
My back gave out when I lifted the pram, I cannot stand up.
I cough so hard that nobody would understand me. / The doctor suspects my appendix and keeps me in.
Chickenpox, and that at my age!"""),
        "other": texts("""
Our street is flooded and no bus is running.
The boiler man comes between eight and noon, so I have to wait for him.
My train has been standing in a field since six. / I have to appear in court as a witness.
We are moving house today, as agreed in March.
My sister is getting married at the other end of the country.
I overslept, there is no better way to put it.
The nursery is shut and nobody else can mind the twins.
Wild boars tore down our fence and I am putting it up again.
My driving test was moved to this morning."""),
     }),
    ("references.jsonl", "reference", "How many of the references advise against the lodger?",
     "against", {
        "against": texts("""
He left owing three months and a broken window.
If you value your sleep, let the room to somebody else.
She was charming until the first rent was due, and never again.
I changed the locks on the day he went, which says enough. / Our neighbours still curse his parties.
I would not have him back if he paid double. / My advice is short: don't.
It took a bailiff to get him out. / He kept ferrets in the wardrobe and lied about it.
We found the bath full of engine parts and the carpet ruined."""),
        "for": texts("""
You will not find a quieter tenant.
She paid on the first of each month and baked for the whole house. / I wept when he moved away.
He mended our roof without being asked. / The room was cleaner when she left than when she came.
Take her before somebody else does. / In six years we never had a cross word.
My mother counts him as one of the family."""),
     }),
    ("humeurs.csv", "message", "Combien de messages parlent de tristesse plutôt que de joie ?",
     "triste", {
        "triste": texts("""
Depuis que le chien est mort, la maison me paraît vide.
Je n'ai pas cessé de pleurer de toute la nuit. / Personne n'est venu à mon anniversaire.
Il est parti sans se retourner et mon cœur est en miettes.
Je regarde sa chaise et j'ai la gorge serrée. / Encore un dimanche tout seul devant la fenêtre.
Ma meilleure amie ne me parle plus, et cela me ronge."""),
        "joyeux": texts("""
C'est une fille, elle a les yeux de sa mère, nous sommes aux anges !
J'ai dansé dans la cuisine en lisant ta lettre. / Reçue au concours, je n'arrive pas à y croire !
Quel bonheur de revoir la mer ! / Les enfants ont ri aux éclats toute la journée.
Il m'a dit oui, et je flotte sur un nuage. / Nos tomates ont gagné le premier prix, quelle fête !
Je n'ai jamais passé une aussi belle soirée. / On a retrouvé le chat, sain et sauf, hourra !
J'ai serré mon frère dans mes bras après dix ans, quel jour merveilleux !"""),
     }),
    ("tips.csv", "tip", "How many of the tips for travellers are about food or drink rather than "
     "about something else?", "food", {
        "food": texts("""
Order the grilled sardines at the stall by the pier.
Try the pistachio ice before the queue gets long.
Coffee is half the price if you have it at the bar.
Never leave without a slice of the almond tart. / Ask for the dumplings that are not on the menu.
The market hall fries the crispest squid you will ever eat.
On Thursdays the tavern roasts a whole lamb. / The local cider is stronger than it looks.
Buy your bread from the nuns, it keeps for a week. / Vegetarians eat well at the yellow canteen.
Skip the hotel buffet, the eggs are like rubber."""),
        "other": texts("""
Take the ferry instead of the bridge, the view is free. / The castle is closed on Tuesdays.
Wear shoes with thick soles, the paving is rough.
A day pass for the tram pays off after three rides.
Climb the bell tower before ten, when it is empty.
Pickpockets love the escalator at the main square. / The northern beach has fewer jellyfish.
Phones hardly work inside the old walls."""),
     }),
    ("stove.jsonl", "line", "How many of the lines tell the reader to do something or not to do "
     "it, rather than state a fact?", "order", {
        "order": texts("""
Turn the valve until it clicks. / Do not cover the vent. / Keep children away from the glass.
Empty the ash pan once a day. / First remove the transport lock from the door.
Always wear gloves when you refill the hopper.
Wait for the lamp to go out before you open the hatch. / Never burn painted wood.
Check the rope seal for cracks each autumn. / Please have the flue swept by a professional.
Push the grate back with the poker. / Call the service line if the fan rattles.
Wipe the pane with a damp cloth. / Press both buttons together for the test."""),
        "fact": texts("""
The stove weighs ninety kilograms. / A full hopper lasts for about eleven hours.
The door is made of cast iron. / Three colours are available.
The fan runs on for some minutes after the fire is out. / The chimney draws better in winter.
This lamp shows that the fuel is low. / The guarantee covers the grate for two years."""),
     }),
    ("sightings.csv", "seen", "How many of the sightings are of birds, not of other animals?",
     "bird", {
        "bird": texts("""
A curlew was probing the mud at low tide. / Two cormorants drying their wings on the wreck.
Heard the nightjar churr beyond the pines. / A kingfisher flashed past the sluice.
Nineteen lapwings on the wet meadow. / The barn owl is back in the ruin.
A dipper bobbed on a stone below the weir."""),
        "other": texts("""
An otter left prints in the fresh snow. / Three roe deer at the edge of the wheat.
A grass snake crossed the towpath. / Pipistrelle bats hunting around the street lamp.
Stag beetle on the oak stump. / Brown hares boxing in the clover.
The smooth newts are in the ditch already. / A badger trundled across the lane at dusk.
Pike of about a metre under the bridge. / Dragonflies by the dozen over the reeds.
A slow worm basked on the wall. / Weasel with a vole in its teeth."""),
     }),
]


README = """# Quillet

Quillet prints labels for jars. It needs Python 3.11 or newer and a printer that understands ZPL.

## Start

    quillet serve --shelf pantry.db

The labels are served on port 5230, the page for the administrator on port 5247. Put a proxy in
front of both, there is no password. A label is 62 millimetres wide unless the shelf says
something else.

## Limits

A shelf holds at most 4,000 jars, and a name has at most 48 letters. Photographs are not
supported. The database is copied to `backup/` every six hours; the last nine copies are kept.
"""

LETTER = """Dear Crispin,

you ask what became of the boat. I sold the hull to the schoolmaster at Aldwick, and the mast went
to Mrs Tregear, who hangs her washing on it. The engine I gave to your cousin Lowell; he says that
it needs a new pump. The oars are yours if you fetch them before Whitsun. They lie in the loft of
the net shed, behind the lobster pots, and the key of the shed is with the harbour master.

I paid 340 for her in the year of the great frost and got 215 back, so do not let anybody tell you
that boats are a good investment.

Your uncle Barnaby
"""

INVENTOR = """Philippa Garrowby was born above a chandler's shop in Wexcombe and made her first
machine at eleven, a trap that caught no mice but rang a bell. She studied in Leiden, where she
lodged with a lens grinder, and came home with a wooden leg and forty notebooks. The machine for
which people remember her, a press that folded napkins, was shown in Antwerp in 1868; the jury
gave it a bronze medal. Four years later her pneumatic letter opener won gold in Turin and was
forgotten within the month. She never patented anything. When a factory in Ghent copied the press,
she sent its owner a basket of badly folded napkins. Her notebooks burned in 1881, all but two,
which her niece had borrowed to press flowers in.
"""

RECETA = """Sopa de ajo de la tía Milagros, para seis personas

Se calientan 90 mililitros de aceite y se doran doce dientes de ajo. Se añaden 250 gramos de pan
del día anterior y dos cucharadas de pimentón dulce. Luego se vierten dos litros de caldo y se
deja hervir todo 35 minutos a fuego lento. Al final se cuajan seis huevos en la sopa, que tardan 4
minutos con la olla tapada. Antes de servir, la sopa reposa un cuarto de hora. El vino se abre
cuando llega el cura.
"""

AVVISO = """Avviso ai condomini di via dei Tigli

Sabato la signora Pastorelli pulisce le scale e il signor Guidobaldi pota la siepe. Il cancello
verde resta chiuso fino a lunedì; chi ha un furgone passi dal cortile del fornaio. Le chiavi della
cantina si ritirano dalla portinaia, quelle della terrazza dal farmacista. L'acqua manca martedì
dalle nove a mezzogiorno. La riunione si tiene nel garage di Ottavio, perché la lavanderia è
umida.
"""

MINUTES = """Minutes of the friends of the village museum, 17 October

Present: Agatha Lumley (chair), Desmond Pike, Ravi Menon, Birgit Solheim.
Excused: Father Quigley.

1. Roof. The slater has finished. His bill of 3,460 was paid on the 9th from the gift of Miss Orme.
2. Display case. The old case for the fossils no longer locks. Menon is to choose a new one with the
   carpenter, and Solheim paints the wall behind it.
3. Visitors. 812 came between May and September, 95 fewer than before. Pike blames the road works.
4. Raffle. The first prize will be a goose. Lumley sells the tickets at 2 each.

The next meeting is on 14 November in the vestry.
"""

MAILS = {
    "1.eml": "From: Henrike\nTo: Ludo\nSubject: Exhibition of kites\n\nDear Ludo, the town gives "
             "us the old tram depot for the kites. We open on 6 June at five o'clock. Can you "
             "bring the big dragon? It is 11 metres long, so measure the door first.\n",
    "2.eml": "From: Ludo\nTo: Henrike\nSubject: Re: Exhibition of kites\n\nThe dragon fits if we "
             "take off its tail. I come on 4 June with Marit, who sews. Who makes the posters?\n",
    "3.eml": "From: Henrike\nTo: Ludo\nSubject: Re: Re: Exhibition of kites\n\nSven makes the "
             "posters, 200 of them, and they are yellow. Please tell me when your insurance needs "
             "the dragon back; how long we stay open is still to be settled with the town.\n",
}

JOBS = """# jobs of the night
jobs:
  - {name: rotate-logs, at: "00:10", enabled: true}
  - {name: thumbnails, at: "00:40", enabled: false}
  - {name: sync-mirror, at: "01:15", enabled: true}
  - {name: mail-digest, at: "02:00", enabled: true}
  - {name: prune-cache, at: "02:30", enabled: false}
  - {name: check-links, at: "03:05", enabled: true}
  - {name: rebuild-index, at: "03:30", enabled: true}
  - {name: report, at: "05:45", enabled: false}
mail: nobody@night.invalid
"""

POSTCARDS = {
    "anglesey.txt": "We walked to the lighthouse before breakfast and counted seals.\nLove, Tess\n",
    "brest.txt": "Rain since Monday. The harbour is full of grey ships and fog.\nTess\n",
    "cadiz.txt": "A man sold us a model of a lighthouse made of shells. Too big!\nTess\n",
    "dubrovnik.txt": "Hot. I swam out to the island and back, and lost a sandal.\nYour Tess\n",
    "esbjerg.txt": "Four white stone men sit by the sea here and say nothing at all.\nTess\n",
    "fano.txt": "Our room is inside the old lighthouse, a hundred steps up.\nTess\n",
}

LOOM = {
    "weave/warp.py": "THREADS = 320\nTENSION = 14\n\n\ndef wind(beam):\n"
                     "    return [beam] * THREADS\n",
    "weave/weft.py": "THREADS = 96\n\n\ndef throw(shuttle):\n    try:\n"
                     "        shuttle.go(THREADS)\n    except ValueError:\n        stop()\n",
    "weave/selvedge.py": "THREADS = 18\n\n\ndef edge(cloth):\n    return cloth[:THREADS // 2]\n",
    "dye/vat.py": "HOT = 82\n\n\ndef dip(yarn, celsius):\n    if celsius > HOT:\n"
                  "        raise ValueError(\"the vat boils\")\n    return yarn.dipped()\n",
    "dye/rinse.py": "from dye.vat import dip\n\n\ndef rinse(yarn):\n"
                    "    return dip(yarn, 20)  # cold, so there is no error\n",
    "loom.toml": "[loom]\nthreads = 300\nselvedge_threads = 24\n",
}

PRICES = """The workshop in Tallow Street mends what other people throw away. Soldering the handle
of a kettle costs 13, and a new lid for it 21. We put a wick into any lamp for 6; a glass chimney
is 17 more. Sharpening a pair of shears is 8. To reseat a wicker chair we ask 54, for a cane chair
47. An umbrella gets a new rib for 11 and a new cover for 32. Clocks we do not take.
"""


def shorts(folder: pathlib.Path) -> list[Question]:
    for name, text in {"quillet.md": README, "barnaby.txt": LETTER, "garrowby.txt": INVENTOR,
                       "sopa.txt": RECETA, "avviso.txt": AVVISO, "museum-minutes.txt": MINUTES,
                       "night.yaml": JOBS, "tallow.txt": PRICES}.items():
        (folder / name).write_text(text, "utf-8")
    for name, files in {"kites": MAILS, "postcards": POSTCARDS, "loom": LOOM}.items():
        data.write_tree(folder / name, files)

    def ask(where: str, text: str, *wanted, **more) -> Question:
        return Question("short", (where,), text, wanted, **more)

    raising = data.only(data.files_with(folder / "loom", "raise ValueError"))
    return [
        ask("quillet.md", "On which port is the administrator's page?", 5247, also=(5230,)),
        ask("barnaby.txt", "Who received the engine of the boat?", "Lowell",
            rivals=("Tregear", "schoolmaster")),
        ask("garrowby.txt", "In which city was the napkin press exhibited?", "Antwerp",
            rivals=("Turin", "Leiden", "Ghent")),
        ask("sopa.txt", "¿Cuántos minutos hierve la sopa a fuego lento?", 35),
        ask("avviso.txt", "Chi dà le chiavi della terrazza?", "farmacista",
            rivals=("portinaia", "fornaio")),
        ask("museum-minutes.txt", "How much will the new display case cost?", absent=True),
        ask("kites", "On which day does the exhibition close?", absent=True),
        ask("night.yaml", "How many of the jobs are enabled?", JOBS.count("enabled: true")),
        ask("postcards", "How many of the postcards mention a lighthouse?",
            len(data.files_with(folder / "postcards", "lighthouse"))),
        ask("loom", "Which file raises a ValueError?", raising,
            rivals=others((pathlib.Path(name).name for name in LOOM), raising)),
        ask("loom", "What is the value of THREADS in weave/selvedge.py?",
            int(re.search(r"^THREADS = (\d+)$", LOOM["weave/selvedge.py"], re.M)[1])),
        ask("tallow.txt", "Which costs more, to have a wicker chair reseated or a cane chair?",
            "wicker", rivals=("cane",)),
    ]


def prepare(folder: pathlib.Path, cache: pathlib.Path) -> list[Question]:
    """Makes the files of this half in an empty folder; returns its questions."""
    return [*tables(folder), *prose(folder, cache), *folders(folder), *data.judged(folder, JUDGED),
            *shorts(folder)]
