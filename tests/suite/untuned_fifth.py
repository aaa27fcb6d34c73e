"""A fifth set of untuned questions: its data, and each question with its truth.

As untuned_held.py: it is asked once, and read by nobody who changes a prompt or the engine, see
docs/small-models.md. The files are again such as lie on people's disks, in forms that the other
halves do not have: tracks, contacts, ledgers, mailboxes, subtitles, exports with odd heads.
"""

import collections
import csv
import datetime
import email.message
import email.parser
import html.parser
import json
import pathlib
import random
import re
import textwrap
import xml.etree.ElementTree as xml

import sources
import untuned_data as data
from grading import Question
from untuned_data import evenings, others, texts, write_sections


def make_meter(path: pathlib.Path) -> None:
    """A head of three lines, semicolons, and commas before the decimals."""
    rng = random.Random(8101)
    lines = ["Netzbetreiber Ilmtal;Lastgang", "Zählpunkt;DE0098877000000000000000004411", "",
             "Tag;Von;Bezug kWh;Einspeisung kWh;Güte"]
    for offset in range(420):
        date = datetime.date(2024, 11, 1) + datetime.timedelta(days=offset)
        for hour in range(0, 24, 3):
            used, fed = rng.randrange(40, 2900) / 1000, rng.choice([0, rng.randrange(0, 1800) / 1000])
            lines.append(f"{date:%d.%m.%Y};{hour:02d}:00;{used:.3f};{fed:.3f};".replace(".", ",")
                         .replace(f"{date:%d,%m,%Y}", f"{date:%d.%m.%Y}")
                         + rng.choices(["W", "E"], weights=[19, 1])[0])
    path.write_text("\n".join(lines) + "\n", "utf-8")


def make_tracks(path: pathlib.Path) -> None:
    rng = random.Random(8102)
    names = ["Lac Vert", "Tour of the Needles", "Bear Gully", "Old Mule Path", "Chapel Ridge"]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>',
             '<gpx version="1.1" creator="PathKeeper" xmlns="http://www.topografix.com/GPX/1/1">']
    when = datetime.datetime(2025, 7, 3, 6, 40)
    for name, base in zip(names, (1340, 1660, 990, 1180, 1520)):
        lines += [f"  <trk><name>{name}</name><trkseg>"]
        height = float(base)
        for _ in range(620):
            when += datetime.timedelta(seconds=rng.randrange(8, 40))
            height = round(max(base - 300.0, min(base + 700.0, height + rng.randrange(-90, 97) / 10)), 1)
            lines.append(f'    <trkpt lat="{45.8 + rng.random() / 20:.5f}" '
                         f'lon="{6.7 + rng.random() / 20:.5f}"><ele>{height}</ele>'
                         f"<time>{when.isoformat()}Z</time></trkpt>")
        lines.append("  </trkseg></trk>")
        when += datetime.timedelta(days=rng.randrange(2, 9))
    path.write_text("\n".join([*lines, "</gpx>"]) + "\n", "utf-8")


def make_playgrounds(path: pathlib.Path) -> None:
    rng = random.Random(8103)
    things = ["swing", "slide", "seesaw", "sandpit", "water pump", "climbing net", "carousel"]
    features = [{
        "type": "Feature",
        "geometry": {"type": "Point", "coordinates": [round(10 + rng.random() / 5, 5),
                                                      round(59.8 + rng.random() / 5, 5)]},
        "properties": {"ref": f"PG-{number}", "equipment": rng.sample(things, rng.randrange(1, 6)),
                       "fence": rng.choice(["full", "partial", "none"]),
                       "surface": rng.choice(["bark", "rubber", "sand", "grass"]),
                       "last_inspection": data.day(rng, (2023, 2024, 2025))}}
        for number in range(1, 741)]
    path.write_text(json.dumps({"type": "FeatureCollection", "name": "playgrounds",
                                "features": features}, indent=1), "utf-8")


def make_contacts(path: pathlib.Path) -> None:
    rng = random.Random(8104)
    given = ["Ada", "Bogdan", "Cleo", "Dilnoza", "Emeka", "Frieda", "Gunnar", "Hiroko", "Imre", "Jonna"]
    family = ["Achebe", "Bjork", "Castro", "Dvorak", "Elsayed", "Fontana", "Grigoryan", "Holt", "Ito",
              "Jansen", "Kowal", "Lemaire", "Mbeki", "Nagy", "Olsen", "Petrov", "Quint", "Rossi", "Sjoberg", "Tamm",
              "Ueda", "Varga", "Weiss", "Yilmaz", "Zeman", "Abbas", "Blum", "Cruz", "Dietz", "Engel", "Farah", "Groen"]
    cards = []
    for number, (one, two) in enumerate(((one, two) for one in given for two in family), 1):
        lines = ["BEGIN:VCARD", "VERSION:3.0", f"N:{two};{one};;;", f"FN:{one} {two}", f"UID:card-{number}"]
        for kind in rng.sample(["CELL", "HOME", "WORK"], rng.choices([0, 1, 2, 3], weights=[3, 8, 5, 1])[0]):
            lines.append(f"TEL;TYPE={kind}:+41 {rng.randrange(21, 92)} {rng.randrange(200, 999)} "
                         f"{rng.randrange(10, 99)} {rng.randrange(10, 99)}")
        if rng.random() < 0.6:
            lines.append(f"EMAIL;TYPE=INTERNET:{one.lower()}.{two.lower()}@mail.invalid")
        if rng.random() < 0.35:
            lines.append(f"BDAY:{data.day(rng, tuple(range(1948, 2010)))}")
        if rng.random() < 0.2:
            lines.append("NOTE:" + rng.choice(["ask for the new phone number", "choir", "moved in spring",
                                               "no TEL known", "plumber"]))
        cards.append("\r\n".join([*lines, "END:VCARD"]) + "\r\n")
    rng.shuffle(cards)
    path.write_bytes("".join(cards).encode())


LEDGER = {
    "Expenses:Pets:Vet": ["Dr Osei", "Animal Clinic Northgate"],
    "Expenses:Pets:Food": ["Paws & Claws", "Corner Shop"],
    "Expenses:Home:Repairs": ["Tiler Jones", "Paint Depot", "Dr Osei Plumbing"],
    "Expenses:Food": ["Greengrocer", "Corner Shop", "Fishmonger"],
    "Expenses:Transport:Bike": ["Spoke Works"], "Expenses:Leisure": ["Odeon", "Climbing Hall"]}


def make_ledger(path: pathlib.Path) -> None:
    """Plain text accounting: one head and two postings each."""
    rng = random.Random(8105)
    lines = ["; household book, all in euros"]
    for offset in range(1000):
        date = datetime.date(2023, 1, 2) + datetime.timedelta(days=offset)
        for _ in range(rng.randrange(0, 3)):
            account = rng.choices(list(LEDGER), weights=[3, 4, 2, 12, 1, 4])[0]
            lines += ["", f"{date:%Y/%m/%d} {rng.choice('*!')} {rng.choice(LEDGER[account])}",
                      f"    {account:<32}EUR {rng.randrange(350, 26000) / 100:.2f}",
                      f"    {rng.choice(['Assets:Giro', 'Assets:Cash', 'Liabilities:Card'])}"]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def make_journal(path: pathlib.Path) -> None:
    """As `journalctl -o export` writes it: a field a line, a blank line after each entry."""
    rng = random.Random(8106)
    units = ["photoprism.service", "wg-home.service", "restic-backup.service", "restic-prune.service",
             "zigbee.service", "cups.service"]
    at, entries = 1757890000000000, []
    for number in range(3300):
        at += rng.randrange(1_000_000, 400_000_000)
        unit = rng.choice(units)
        level, message = rng.choices([
            ("6", f"Started {unit}."), ("6", f"{unit}: Deactivated successfully."),
            ("3", f"Failed to start {unit}."), ("4", f"{unit}: Failed with result 'exit-code'."),
            ("6", f"{unit}: Consumed {rng.randrange(1, 50)}s CPU time."),
            ("5", "restic-backup.service is wanted by timers.target.")], weights=[9, 8, 3, 3, 6, 2])[0]
        fields = [f"__REALTIME_TIMESTAMP={at}", f"PRIORITY={level}", "SYSLOG_IDENTIFIER=systemd",
                  f"UNIT={unit}", f"MESSAGE={message}", f"_PID={rng.choice([1, 1, 884])}"]
        entries.append("\n".join([f"__CURSOR=s=9c;i={number:x}", *fields]) + "\n")
    path.write_text("\n".join(entries), "utf-8")


def make_references(path: pathlib.Path) -> None:
    """Most entries of all name one venue, but most articles another."""
    rng = random.Random(8107)
    journals = ["Annals of Peatland Science", "Moss and Lichen", "Wetland Letters", "Boreal Review"]
    entries = []
    for number in range(1, 861):
        year, name = rng.randrange(1974, 2025), rng.choice(["larsen", "okoro", "petit", "sato", "wolf"])
        kind = rng.choices(["article", "inproceedings", "book"], weights=[6, 4, 2])[0]
        fields = {"author": f"{name.title()}, {rng.choice('ABCDEK')}.",
                  "title": f"{{{rng.choice(['Carbon', 'Water', 'Spores', 'Frost'])} in "
                           f"{rng.choice(['raised bogs', 'fens', 'alder carrs', 'drained moors'])}}}"}
        if kind == "article":
            fields["journal"] = rng.choices(journals, weights=[9, 6, 14, 7])[0]
            fields["volume"] = str(rng.randrange(2, 60))
        elif kind == "inproceedings":
            fields["booktitle"] = "Proceedings of the " + rng.choices(journals, weights=[14, 3, 1, 2])[0] + " Meeting"
        else:
            fields["publisher"] = rng.choice(["Heath House", "Sphagnum Press"])
        fields["year"] = str(year)
        if kind != "book" and rng.random() < 0.6:
            fields["doi"] = f"10.9999/{rng.getrandbits(24):06x}"
        body = ",\n".join(f"  {key:<9} = {{{value}}}" for key, value in fields.items())
        entries.append(f"@{kind}{{{name}{year}{number},\n{body}\n}}\n")
    path.write_text("\n".join(entries), "utf-8")


def make_polling(path: pathlib.Path) -> None:
    rng = random.Random(8108)
    heads = ["Station", "Registered", "Ballots cast", "Invalid", "Yes", "No"]
    places = [f"{one} {two}" for one in ("Old", "North", "Upper", "Lower", "Saint Olav", "Weir", "Market")
              for two in ("School", "Gymnasium", "Library", "Town Hall", "Chapel", "Fire Station", "Depot", "Mill")]
    rng.shuffle(places)
    rows = []
    for place in places:
        registered = rng.randrange(420, 3900)
        cast = int(registered * rng.uniform(0.41, 0.86))
        invalid = rng.randrange(0, 30)
        yes = int((cast - invalid) * rng.uniform(0.3, 0.7))
        rows.append([place, registered, cast, invalid, yes, cast - invalid - yes])
    lines = ["<!DOCTYPE html>", "<html lang=\"en\"><head><title>Referendum on the ring road</title></head><body>",
             "<h1>Provisional results</h1>", "<table class=\"results\">",
             "<thead><tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr></thead>", "<tbody>"]
    lines += ["<tr>" + f"<th scope=\"row\">{row[0]}</th>"
              + "".join(f"<td class=\"n\">{value:,}</td>" for value in row[1:]) + "</tr>" for row in rows]
    path.write_text("\n".join([*lines, "</tbody></table>", "</body></html>"]) + "\n", "utf-8")


def make_subtitles(path: pathlib.Path) -> None:
    rng = random.Random(8109)
    words = ["You came back.", "Not tonight.", "Who told you?", "The ferry leaves at six.", "I never said that.",
             "- Wait!\n- For what?", "She kept the letter\nall those years.", "[music]", "[door slams]",
             "He plays the music too loud.", "Cut the engine."]
    at, blocks = 41_000, []
    for number in range(1, 1461):
        at += rng.randrange(80, 5200)
        end = at + rng.choice([0, 0, 0, 2100]) + rng.randrange(700, 4900)
        stamps = [f"{ms // 3600000:02d}:{ms // 60000 % 60:02d}:{ms // 1000 % 60:02d},{ms % 1000:03d}"
                  for ms in (at, end)]
        blocks.append(f"{number}\n{stamps[0]} --> {stamps[1]}\n{rng.choice(words)}\n")
        at = end
    path.write_text("\n".join(blocks), "utf-8")


def make_sleep(path: pathlib.Path) -> None:
    """Names of columns once, then rows without names."""
    rng = random.Random(8110)
    rows = []
    for offset in range(0, 1150):
        if rng.random() < 0.93:
            deep = None if rng.random() < 0.06 else rng.randrange(22, 131)
            rows.append([(datetime.date(2022, 3, 1) + datetime.timedelta(days=offset)).isoformat(),
                         rng.randrange(240, 560), deep, rng.randrange(20, 140), rng.randrange(41, 68),
                         rng.choice(["", "", "", "nap", "travel", "sick"])])
    path.write_text(json.dumps({"device": "Slumber Ring 2", "nights": {
        "columns": ["date", "asleep_min", "deep_min", "rem_min", "lowest_pulse", "tag"],
        "index": list(range(len(rows))), "data": rows}}), "utf-8")


def make_ringing(rings: pathlib.Path, finds: pathlib.Path) -> None:
    rng = random.Random(8111)
    numbers = [f"{rng.choice('BHK')}{number}" for number in rng.sample(range(10000, 99999), 900)]
    lines = ["ring|species|age|ringed_on|ringer"]
    for number in numbers:
        lines.append(f"{number}|{rng.choice(['white stork', 'black stork', 'osprey', 'barn owl', 'common tern'])}|"
                     f"{rng.choice(['nestling', 'adult', 'first year'])}|{data.day(rng, (2019, 2020, 2021))}|"
                     f"{rng.choice(['Ahlers', 'Brede', 'Cornax'])}")
    rings.write_text("\n".join(lines) + "\n", "utf-8")
    data.write_table(finds, [{
        "Find": number, "Ring no.": rng.choice(numbers), "Found": data.day(rng, (2022, 2023, 2024)),
        "Country": rng.choices(["Spain", "Morocco", "France", "Chad", "Poland"], weights=[6, 4, 5, 2, 3])[0],
        "Condition": rng.choice(["alive", "alive", "dead", "ring only"])} for number in range(1, 1701)])


def make_leases(path: pathlib.Path) -> None:
    rng = random.Random(8112)
    cards = [":".join(f"{rng.randrange(256):02x}" for _ in range(6)) for _ in range(260)]
    when = datetime.datetime(2025, 8, 1, 5, 0)
    blocks = ["# The format of this file is documented in the dhcpd.leases(5) manual page."]
    for _ in range(2400):
        when += datetime.timedelta(seconds=rng.randrange(20, 1600))
        card = rng.choice(cards[:int(len(cards) * rng.random()) + 1])
        blocks.append(f"lease 192.168.{rng.choice([20, 20, 30])}.{rng.randrange(10, 250)} {{\n"
                      f"  starts {(when.weekday() + 1) % 7} {when:%Y/%m/%d %H:%M:%S};\n"
                      f"  ends {(when.weekday() + 1) % 7} {when + datetime.timedelta(minutes=10):%Y/%m/%d %H:%M:%S};\n"
                      f"  binding state {rng.choice(['free', 'active'])};\n  hardware ethernet {card};\n"
                      + (f"  client-hostname \"{rng.choice(['tv', 'phone', 'printer', 'kettle'])}\";\n"
                         if rng.random() < 0.5 else "") + "}")
    path.write_text("\n".join(blocks) + "\n", "utf-8")


class Cells(html.parser.HTMLParser):
    """The rows of a table of a page."""

    def __init__(self, page: str):
        super().__init__()
        self.rows: list[list[str]] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, text):
        if self.rows and self.rows[-1] and text.strip():
            self.rows[-1][-1] += text


def milliseconds(stamp: str) -> int:
    hours, minutes, seconds, rest = map(int, re.split("[:,]", stamp.strip()))
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + rest


def lowest_turnout(page: str) -> tuple[str, list[str]]:
    rows = [[row[0], *(int(cell.replace(",", "")) for cell in row[1:])] for row in Cells(page).rows[1:]]
    shares = sorted((row[2] / row[1], row[0]) for row in rows)
    if shares[1][0] - shares[0][0] < 0.001:
        raise ValueError("two stations have nearly the same turnout")
    if shares[0][1] == min(rows, key=lambda row: row[2])[0]:
        raise ValueError("the station with the fewest ballots has the lowest turnout")
    return shares[0][1], [row[0] for row in rows]


def tables(folder: pathlib.Path) -> list[Question]:
    make_meter(folder / "Lastgang.csv")
    make_tracks(folder / "holiday.gpx")
    make_playgrounds(folder / "playgrounds.geojson")
    make_contacts(folder / "contacts.vcf")
    make_ledger(folder / "household.journal")
    make_journal(folder / "journal-export.txt")
    make_references(folder / "peat.bib")
    make_polling(folder / "referendum.html")
    make_subtitles(folder / "film.en.srt")
    make_sleep(folder / "sleep-export.json")
    make_ringing(folder / "rings.txt", folder / "finds.csv")
    make_leases(folder / "dhcpd.leases")

    def read(name: str) -> str:
        return (folder / name).read_bytes().decode().replace("\r\n", "\n")

    meter = [line.split(";") for line in read("Lastgang.csv").splitlines()[4:]]
    space = "{http://www.topografix.com/GPX/1/1}"
    heights = {track.findtext(f"{space}name"): max(float(one.text) for one in track.iter(f"{space}ele"))
               for track in xml.fromstring(read("holiday.gpx").encode()).iter(f"{space}trk")}
    grounds = [one["properties"] for one in json.loads(read("playgrounds.geojson"))["features"]]
    spent = re.findall(r"^2024/[^\n]*\n +Expenses:Pets:Vet +EUR ([\d.]+)$", read("household.journal"), re.M)
    articles = collections.Counter(re.findall(r"^  journal +=\s*\{(.*)\}", read("peat.bib"), re.M))
    station, stations = lowest_turnout(read("referendum.html"))
    shown = [milliseconds(end) - milliseconds(start)
             for start, end in re.findall("^(.*) --> (.*)$", read("film.en.srt"), re.M)]
    sundays = [deep for date, _, deep, *_ in json.loads(read("sleep-export.json"))["nights"]["data"]
               if datetime.date.fromisoformat(date).weekday() == 6 and deep is not None]
    species = dict(line.split("|")[:2] for line in read("rings.txt").splitlines()[1:])

    def ask(files: str, text: str, *wanted, **more) -> Question:
        return Question("table", tuple(files.split()), text, wanted, **more)

    return [
        ask("Lastgang.csv", "Wie viele Kilowattstunden habe ich im Februar 2025 aus dem Netz bezogen?",
            sum(round(float(row[2].replace(",", ".")) * 1000) for row in meter
                if row[0].endswith(".02.2025")) / 1000),
        ask("holiday.gpx", "How high up did I get, in metres, on the track Chapel Ridge?",
            heights["Chapel Ridge"]),
        ask("playgrounds.geojson", "How many playgrounds with a water pump have no fence at all?",
            sum("water pump" in one["equipment"] and one["fence"] == "none" for one in grounds)),
        ask("contacts.vcf", "How many of my contacts have no phone number at all?",
            sum("\nTEL" not in card for card in read("contacts.vcf").split("END:VCARD\n")[:-1])),
        ask("household.journal", "What did the vet cost us in 2024, all together?",
            sum(round(float(one) * 100) for one in spent) / 100),
        ask("journal-export.txt", "How many times did restic-backup.service fail to start?",
            read("journal-export.txt").count("\nMESSAGE=Failed to start restic-backup.service.\n")),
        ask("peat.bib", "Which journal published the most of the articles in my bibliography?",
            data.first(articles), also=(max(articles.values()),), rivals=others(articles, data.first(articles))),
        ask("referendum.html", "Which polling station had the lowest turnout, as a share of the people "
            "registered there?", station, rivals=others(stations, station)),
        ask("film.en.srt", "How many of the subtitles stay on the screen for more than five seconds?",
            sum(one > 5000 for one in shown), also=(len(shown),)),
        ask("sleep-export.json", "What is my average deep sleep in minutes for the nights dated on a Sunday? "
            "Leave out nights where it was not measured, and round to two decimals.",
            sum(sundays) / len(sundays)),
        ask("rings.txt finds.csv", "How many of the finds in Morocco were white storks?",
            sum(row["Country"] == "Morocco" and species[row["Ring no."]] == "white stork"
                for row in data.read_table(folder / "finds.csv"))),
        ask("dhcpd.leases", "How many different devices, going by their hardware address, were given a lease?",
            len(set(re.findall("hardware ethernet (.*);", read("dhcpd.leases"))))),
    ]


CRICKET = """
The treasurer/Old Mr Hollis/The groundsman/The captain of the second eleven/Our scorer/The vicar/A parent/The secretary
asked for more chairs/thought the sightscreen too near the road/\
moved that the fixture list be printed earlier/reported moles on the outfield/\
had heard nothing from the council/wished to thank the ladies of the kitchen/found the pads mouldy again/\
wanted the nets to be open on Sundays/promised to speak to the brewery/\
doubted that the pavilion needs paint/read a letter from the league/suggested a quiz in the winter
, which was noted/, and it was left at that/ before the next meeting/, not for the first time//, but nobody seconded it
"""

BAIL = """
Le preneur/Le bailleur/Le gérant de l'immeuble/Toute personne travaillant dans le local/\
Le sous-locataire éventuel/Le syndic
veille à la propreté des parties communes/ne peut poser d'enseigne lumineuse/\
signale sans attendre toute fuite d'eau/laisse libre le passage de la cour/fait ramoner les conduits/\
supporte les frais de serrurerie/remet une copie de son attestation d'assurance/\
s'abstient de tout bruit après la fermeture/renonce à tout recours contre les voisins/\
entretient la vitrine et son rideau/autorise la visite du local
, sauf accord écrit/ pendant toute la durée du contrat/ à ses propres frais/\
, sans que cela ouvre droit à une réduction//, dans le respect du règlement de l'immeuble
"""

CARTAS = """
Tu hermana/El abuelo/La vecina del tercero/El señor cura/Mi suegra/El primo Evaristo/La maestra jubilada/Nuestro casero
pregunta siempre por ti/se ha resfriado otra vez/dice que el invierno será duro/vendió por fin la mula/\
sueña con comprar una radio/no se habla con los de enfrente/quiere blanquear la fachada/\
ha plantado berzas junto al pozo/perdió las gafas en la romería/guarda tus cartas en una caja de galletas/\
reza para que vuelvas pronto/se queja del precio del carbón
, ya sabes cómo es/ desde la fiesta/, gracias a Dios/, aunque no lo reconozca// cada dos por tres
"""

ATAS = """
O morador do 302/A dona da lavanderia/O zelador/A administradora/Um condômino do terceiro andar/\
O conselho fiscal/A moradora da cobertura/O porteiro da noite
reclamou do barulho na garagem/pediu mais luz no corredor/apresentou as contas do trimestre/\
sugeriu trocar o piso do salão/lembrou que as bicicletas devem ficar no depósito/\
informou que o elevador passou pela vistoria/quis saber quem deixou o portão aberto/\
propôs um mutirão no jardim/não concordou com a multa/contou que há goteiras na escada/\
prometeu falar com a prefeitura
, sem que houvesse votação/, como na reunião anterior/, e o assunto ficou para depois//\
 por mais de dez minutos/, com o apoio de todos
"""

PANTRY = ("Mehl Zucker Butter Grieß Quark Möhren Kartoffeln Zwiebeln Lauch Linsen Graupen Speck Äpfel Birnen "
          "Rosinen Sahne Kohl Erbsen").split()


def write_recipes(path: pathlib.Path, planted: dict[int, str]) -> None:
    """Amounts are round ones, so that a planted one is the only one of its kind."""
    rng = random.Random(8201)
    steps = texts("""
Alles gut verrühren und eine Weile ruhen lassen. / Mit Salz und Pfeffer abschmecken.
Die Form einfetten und mit Bröseln ausstreuen. / Bei kleiner Hitze garen, bis es duftet.
Zuletzt die Petersilie darüberstreuen. / In der Pfanne von beiden Seiten goldbraun braten.
Den Deckel nicht zu früh heben. / Heiß auf den Tisch bringen. / Schmeckt am nächsten Tag noch besser.
Wer mag, gibt einen Schuss Essig dazu. / Das Wasser abgießen und auffangen. / Mit den Händen kneten.""")
    pages = []
    for number in range(620):
        main, side = rng.sample(PANTRY, 2)
        title = f"{main} {rng.choice(['mit', 'und', 'auf'])} {side}, " \
                f"{rng.choice(['sonntags', 'für Gäste', 'wie daheim', 'einfach'])}"
        items = "\n".join(f"  {rng.randrange(2, 41) * 25} g {one}"
                          for one in [main, side, *rng.sample(sorted(set(PANTRY) - {main, side}), rng.randrange(1, 4))])
        lines = rng.sample(steps, rng.randrange(3, 7))
        if number in planted:
            lines.insert(rng.randrange(1, len(lines)), planted[number])
        pages.append(f"{title}\n\n{items}\n\n{textwrap.fill(' '.join(lines), 80)}\n")
    path.write_text("\n\n".join(pages), "utf-8")


def prose(folder: pathlib.Path, cache: pathlib.Path) -> list[Question]:
    write_sections(folder / "committee.txt", 8202, evenings(
        datetime.date(1961, 1, 9), 14, 640, "COMMITTEE MEETING OF {day:%d %B %Y}"), CRICKET, {
        88: "The gang mower came back from Pettifer's with new blades, for which we paid 268.",
        251: "The heavy roller has a new bearing at last; Tibbet & Sons put it in and took 617 for it.",
        402: "The bar rota stays with Major Ingleby.",
        533: "Mrs Fairhurst, who has done it for eleven summers, handed the tea rota over to Dermot Scully."})
    if not (cache / "novel.txt").exists():
        sources.make_novel(cache / "novel.txt")
    data.plant(cache, "novel", folder / "volume-two.txt", [
        (0.17, "The baker at Meryton had no luck with his hives that year, and could spare but 21 pots of honey."),
        (0.38, "The old surgeon at Meryton was so fond of his bees, that he talked of little else; he parted with "
               "173 jars of honey that autumn, and kept one."),
        (0.62, "Purvis, the under-gardener at Longbourn, ran off to sea before the hay was in, and was next heard "
               "of at Lisbon."),
        (0.85, "Her cousin had sailed for Halifax in the Dorothea, and wrote that the biscuit was full of weevils.")],
        start=0.31, size=390_000)
    write_recipes(folder / "kochbuch.txt", {
        74: "Das Rezept für den Senfbraten ist von Pfarrer Wieland, und er macht ein Geheimnis um die Kräuter.",
        219: "Tante Irmgard hebt unter den Teig ihres Quittenkuchens 135 Gramm gemahlene Nüsse.",
        388: "Die Mohnklöße hat uns Frau Kubitschek auf die Rückseite eines Kalenderblatts geschrieben.",
        547: "Oma Lisbeth nimmt für ihren Apfelkuchen 165 Gramm Nüsse und röstet sie vorher."})
    write_sections(folder / "bail-commercial.txt", 8203,
                   [f"Article {number}" for number in range(1, 521)], BAIL, {
        97: "Si le loyer est payé en retard, le preneur doit une pénalité de 640 euros par semaine commencée.",
        203: "L'état des lieux d'entrée a été dressé par Maître Roussel.",
        341: "Chaque semaine de retard dans la restitution des clés oblige le preneur à verser 845 euros.",
        466: "À la fin du bail, le constat de sortie sera fait par Maître Lavigne, de Cahors."})
    write_sections(folder / "cartas.txt", 8204, evenings(
        datetime.date(1949, 3, 6), 9, 600, "Ribadavia, {day:%d-%m-%Y}\n\nQuerido hijo:"), CARTAS, {
        69: "El baúl de Anselmo costó 46 pesetas en la feria, y no cierra bien.",
        238: "Anselmo ya tiene el pasaje para Montevideo, y embarca en Vigo después de Reyes.",
        377: "La prima Leonor rechazó al boticario Benavides, y el sábado salió de la iglesia del brazo del "
             "tonelero Cifuentes, ya como su mujer.",
        512: "La hija del alcalde se casa en mayo con un tal Quiroga."}, close="Tu madre, que no te olvida")
    write_sections(folder / "atas.txt", 8205, evenings(
        datetime.date(2003, 2, 4), 12, 560, "ATA DA REUNIÃO DE {day:%d/%m/%Y}"), ATAS, {
        112: "O motor do portão da garagem saiu por 1940 reais, já com a mão de obra.",
        265: "A bomba da cisterna queimou em julho, e a nova, já instalada, ficou em 2860 reais.",
        391: "Osvaldo Pimenta segue como síndico do bloco A.",
        508: "Como dona Iracema vai morar em Santos, o bloco B elegeu Jandira Quadros para síndica no lugar dela."})

    def ask(file: str, text: str, *wanted, **more) -> Question:
        return Question("prose", (file,), text, wanted, **more)

    return [
        ask("committee.txt", "What did the club have to pay to get its roller repaired?", 617),
        ask("committee.txt", "Who took over organising the teas?", "Scully", rivals=("Fairhurst", "Ingleby")),
        ask("volume-two.txt", "How many jars of honey did the doctor in Meryton sell or give away?", 173),
        ask("volume-two.txt", "On board which ship did the gardener Purvis go to sea?", absent=True),
        ask("kochbuch.txt", "Wie viel Gramm Nüsse kommen in den Quittenkuchen von Tante Irmgard?", 135),
        ask("kochbuch.txt", "Von wem haben wir das Rezept für die Klöße mit Mohn?", "Kubitschek",
            rivals=("Wieland", "Irmgard", "Lisbeth")),
        ask("bail-commercial.txt", "Combien d'euros par semaine le locataire doit-il s'il rend les clés trop "
            "tard ?", 845),
        ask("bail-commercial.txt", "Qui fera l'état des lieux quand le locataire partira ?", "Lavigne",
            rivals=("Roussel",)),
        ask("cartas.txt", "¿Cómo se apellida el marido de Leonor?", "Cifuentes", rivals=("Benavides", "Quiroga")),
        ask("cartas.txt", "¿Cuánto le costó a Anselmo el pasaje a Montevideo?", absent=True),
        ask("atas.txt", "Quantos reais custou a bomba nova da cisterna?", 2860),
        ask("atas.txt", "Quem é hoje a síndica do bloco B?", "Jandira", rivals=("Iracema", "Pimenta")),
    ]


def make_inbox(folder: pathlib.Path) -> None:
    """Mails of a choir, some with a file; a body that speaks of one need not have it."""
    rng = random.Random(8301)
    people = ["Annika Roth", "Benedek Szalai", "Chidi Eze", "Delphine Marchal", "Ewan Muir", "Fatma Yildiz"]
    lines = texts("""
See you on Thursday at the usual time. / Could the altos please come half an hour early?
The score is attached, please print it yourselves. / I will bring biscuits.
Has anybody found a blue scarf? / The bus leaves from the station, not from the school.
Let me know whether you can come. / Thank you for a lovely evening!
We still need two tenors for the summer concert. / I have added the recording, it is a little quiet.
Please bring a pencil. / The piano has been tuned.""")
    planted = {
        11: ("Delphine Marchal", "I fell off my bicycle on Sunday and my wrist is in plaster, so somebody else has "
                                 "to play the piano for us until May."),
        23: ("Ewan Muir", "We have the parish hall for both evenings, the verger has confirmed it. The key "
                          "is with him."),
        38: ("Chidi Eze", "My bicycle was stolen outside the rehearsal, did anybody see something?"),
        52: ("Fatma Yildiz", "My doctor says that the cough will be gone by the concert.")}
    when = datetime.datetime(2025, 1, 7, 8, 0)
    for number in range(70):
        when += datetime.timedelta(minutes=rng.randrange(200, 5000))
        sender, told = planted.get(number, (rng.choice(people), ""))
        body = "\n".join([*rng.sample(lines, rng.randrange(1, 4)), *([told] if told else [])])
        head = [f"From: {sender} <{sender.split()[0].lower()}@choir.invalid>", "To: all@choir.invalid",
                f"Date: {when:%a, %d %b %Y %H:%M}:00 +0100",
                f"Subject: {rng.choice(['Rehearsal', 'Re: Rehearsal', 'Concert', 'Re: the trip', 'Attachment'])}",
                f"Message-ID: <{number}.{rng.getrandbits(30)}@choir.invalid>", "MIME-Version: 1.0"]
        if rng.random() < 0.3:
            edge = f"=_part{number}"
            kind, name = rng.choice([("application/pdf", "score.pdf"), ("audio/mpeg", "take.mp3")])
            parts = [f'Content-Type: multipart/mixed; boundary="{edge}"', "", f"--{edge}",
                     "Content-Type: text/plain; charset=utf-8", "", body, f"--{edge}",
                     f'Content-Type: {kind}; name="{name}"', f'Content-Disposition: attachment; filename="{name}"',
                     "Content-Transfer-Encoding: base64", "", "JVBERi0xLjQKJQ" * rng.randrange(2, 6) + "==",
                     f"--{edge}--"]
        else:
            parts = ["Content-Type: text/plain; charset=utf-8", "", body]
        data.write_tree(folder, {f"{when:%Y-%m}/{when:%Y%m%d-%H%M}.eml": "\n".join(head + parts) + "\n"})


def mails(folder: pathlib.Path) -> list[email.message.Message]:
    return [email.parser.Parser().parsestr(path.read_text("utf-8")) for path in sorted(folder.rglob("*.eml"))]


THERMOSTAT = {
    "build.gradle.kts": "plugins { kotlin(\"jvm\") version \"2.0.21\" }\n\nversion = \"0.7.4\"\n\n"
                        "// the tests need java.time from 17 on\nkotlin { jvmToolchain(17) }\n",
    "control/Heating.kt": "package control\n\nimport java.time.LocalTime\nimport sensors.Probe\n\n"
                          "const val HYSTERESIS = 0.4\nconst val MAX_FLOW = 55\n\n"
                          "class Heating(private val probe: Probe) {\n    fun wanted(at: LocalTime) =\n"
                          "        if (at.hour in 6..21) 20.5 else 17.0\n\n    fun on(at: LocalTime) =\n"
                          "        probe.celsius() < wanted(at) - HYSTERESIS\n}\n",
    "control/Cooling.kt": "package control\n\nimport sensors.Probe\n\nconst val HYSTERESIS = 1.2\n\n"
                          "class Cooling(private val probe: Probe) {\n"
                          "    fun on() = probe.celsius() > 26 + HYSTERESIS\n}\n",
    "control/Holiday.kt": "package control\n\nimport java.time.LocalDate\n\n"
                          "data class Holiday(val from: LocalDate, val until: LocalDate)\n\n"
                          "fun List<Holiday>.away(on: LocalDate) = any { on in it.from..it.until }\n",
    "sensors/Probe.kt": "package sensors\n\n// no import of java.time here: a probe knows no clock\n"
                        "fun interface Probe {\n    fun celsius(): Double\n}\n",
    "sensors/Window.kt": "package sensors\n\nimport java.time.Duration\nimport java.time.Instant\n\n"
                         "class Window(private var since: Instant? = null) {\n"
                         "    fun openFor(now: Instant) = since?.let { Duration.between(it, now) }\n}\n",
    "web/Page.kt": "package web\n\nimport control.Heating\n\nfun page(heating: Heating) =\n"
                   "    \"<p>${heating.hashCode()}</p>\"\n",
    "test/HolidayTest.kt": "import control.Holiday\nimport control.away\nimport java.time.LocalDate\n"
                           "import kotlin.test.Test\nimport kotlin.test.assertTrue\n\nclass HolidayTest {\n"
                           "    @Test\n    fun oneDay() {\n        val day = LocalDate.of(2025, 5, 1)\n"
                           "        assertTrue(listOf(Holiday(day, day)).away(day))\n    }\n}\n",
    "README.md": "# Thermostat\n\nThe hysteresis of the heating was 0.8 until version 0.6. Times are those of\n"
                 "`import java.time.*`, in the zone of the house.\n",
}


def make_exams(folder: pathlib.Path) -> None:
    """Who was ill has no points but a letter."""
    rng = random.Random(8305)
    folder.mkdir()
    for name, mean in zip(["7a", "7b", "7c", "8a", "8b", "8c", "9a", "9b"], [61, 58, 66, 63, 72, 69, 55, 67]):
        rows = ["pupil;task 1;task 2;task 3;points;remark"]
        for number in range(1, rng.randrange(19, 31)):
            parts = [max(0, min(40, int(rng.gauss(mean / 3, 5)))) for _ in range(3)]
            ill = rng.random() < 0.1
            rows.append(";".join([f"{name}-{number:02d}", *(["-"] * 3 if ill else map(str, parts)),
                                  "e" if ill else str(sum(parts)), rng.choice(["", "", "late", "second sheet"])]))
        (folder / f"class-{name}.csv").write_text("\n".join(rows) + "\n", "utf-8")


def mean_points(path: pathlib.Path) -> float:
    points = [int(row["points"]) for row in csv.DictReader(path.read_text("utf-8").splitlines(), delimiter=";")
              if row["points"] != "e"]
    return sum(points) / len(points)


def folders(folder: pathlib.Path) -> list[Question]:
    inbox, thermostat, exams = (folder / name for name in ("choir-mail", "thermostat", "exams"))
    make_inbox(inbox)
    data.write_tree(thermostat, THERMOSTAT)
    make_exams(exams)
    means = {path.stem.removeprefix("class-"): mean_points(path) for path in sorted(exams.iterdir())}
    best = data.only_largest(list(means), means.get)
    if means[best] - sorted(means.values())[-2] < 0.5:
        raise ValueError("two classes are nearly the same")
    senders = {one["From"].split(" <")[0] for one in mails(inbox)}
    hurt = data.only([one["From"].split(" <")[0] for one in mails(inbox) if "in plaster" in one.as_string()])
    kotlin = [path.read_text("utf-8") for path in sorted(thermostat.rglob("*.kt"))]

    def ask(where: str, text: str, *wanted, **more) -> Question:
        return Question("folder", (where,), text, wanted, **more)

    return [
        ask("choir-mail", "Who cannot play the piano because of an injury?", hurt.split()[0],
            rivals=others((one.split()[0] for one in senders), hurt.split()[0])),
        ask("choir-mail", "How many of the mails have a file attached?",
            sum(any(part.get_filename() for part in one.walk()) for one in mails(inbox))),
        ask("choir-mail", "What do we pay for the parish hall?", absent=True),
        ask("thermostat", "What is the hysteresis in control/Heating.kt?",
            float(re.search(r"HYSTERESIS = ([\d.]+)", THERMOSTAT["control/Heating.kt"])[1])),
        ask("thermostat", "How many of the Kotlin files import something from java.time?",
            sum(re.search(r"^import java\.time\.", one, re.M) is not None for one in kotlin)),
        ask("exams", "Which class has the highest average of points? Leave out the pupils who have an e.",
            best, also=(means[best],), rivals=others(means, best)),
    ]


# (file, field, question, kind asked for, {kind: texts})
JUDGED = [
    ("claims.jsonl", "what_happened", "How many of the claims are about damage by water rather than by fire?",
     "water", {
        "water": texts("""
The hose of the washing machine burst while we were at the theatre.
The tenants above forgot the bath, and now our ceiling hangs in rags.
A pipe froze in January and flooded the hall when it thawed.
The river came over the sill and the carpets are mud. / The aquarium cracked, and the parquet swelled.
Rain came through the skylight onto the piano. / Our cellar stands knee-deep after the storm.
The radiator valve dripped for weeks and ruined the wallpaper."""),
        "fire": texts("""
A candle on the wreath set the curtains alight. / The chip pan went up in flames.
Lightning struck the barn and it burned to the ground.
The charger of the scooter smouldered and scorched the shelf.
An ember jumped out of the hearth and left a hole in the rug.
The neighbour's shed blazed and our fence went with it.
The iron was left on the shirt, and the board and the table are charred.
Somebody threw a cigarette into the paper bin, and the whole hallway is black with soot.
The tumble dryer caught light in the night. / A rocket landed on the balcony and the parasol went up.
The toaster set fire to the kitchen cupboard.
The stubble was burning in the field, and the wind carried it to our hedge."""),
     }),
    ("avis-bistrot.csv", "avis", "Combien des avis se plaignent du service, et non de la nourriture ?", "service", {
        "service": texts("""
Quarante minutes avant qu'on nous apporte la carte. / Le garçon m'a parlé comme à un chien.
On nous a oubliés dans un coin, personne n'est venu prendre la commande.
La serveuse a levé les yeux au ciel quand j'ai demandé de l'eau. / Ils se sont trompés deux fois d'addition.
À peine la dernière bouchée avalée, on nous a poussés vers la porte.
J'avais réservé, on m'a répondu que ma table était prise.
Le patron téléphonait pendant que nous attendions pour payer.
Aucun bonjour, aucun sourire, on dérange manifestement.
On a dû se lever nous-mêmes pour chercher des couverts."""),
        "cuisine": texts("""
La soupe était froide et sans goût. / Une entrecôte dure comme de la semelle.
Le poisson sentait fort, je n'y ai pas touché. / Des frites molles qui baignent dans l'huile.
La mousse au chocolat sortait à coup sûr d'un seau. / Beaucoup trop de sel dans le gratin.
Le riz n'était pas cuit. / Un cheveu dans la purée, et du sable dans les moules.
La pâte de la tarte était brûlée en dessous."""),
     }),
    ("tablon.csv", "anuncio", "¿Cuántos de los anuncios son de personas que buscan trabajo, y no de quien lo "
     "ofrece?", "busca", {
        "busca": texts("""
Señora con experiencia cuida ancianos, por horas o interna. / Albañil en paro hace reformas, llámenme.
Soy estudiante y doy clases de matemáticas, tengo las tardes libres.
Cocinero con veinte años de oficio quisiera empezar cuanto antes.
Chica responsable se ofrece para limpiar casas. / Jardinero jubilado aceptaría cuidar algún huerto.
Conductor con carné de camión, disponible ya, también de noche."""),
        "ofrece": texts("""
Panadería necesita dependienta para los fines de semana. / Contratamos electricistas, sueldo según convenio.
Se precisa camarero con inglés para hotel de playa. / Buscamos a alguien que pasee a nuestros dos perros.
Taller mecánico admite aprendices. / Familia del centro contrataría niñera, tres tardes por semana.
Empresa de mudanzas selecciona mozos fuertes. / Hace falta peluquera con experiencia, local nuevo.
La residencia San Blas incorpora dos enfermeras. / Vacante de cajero en el supermercado de la plaza.
Queremos en nuestro equipo un repartidor con moto propia."""),
     }),
    ("pets.ndjson", "post", "How many of the posts are about a dog rather than a cat?", "dog", {
        "dog": texts("""
He barks at the postman every single morning. / She pulls on the lead so hard that my arm hurts.
Our spaniel swam after a stick and would not come out.
He wags his tail so wildly that he clears the coffee table.
Two walks a day, whatever the weather, and he still wants a third.
Our Labrador ate the birthday cake. / Puppy class starts on Monday, wish me luck.
She herds the children as if they were sheep. / He sits, he gives a paw, he does not stay.
The dachshund has dug up the tulips once more.
She guards the gate and growls at the dustmen.
He fetches the slippers, but only ever one of them."""),
        "cat": texts("""
She purrs as soon as she hears the tin opener. / Mine sleeps on the keyboard and meows when I type.
He brought a mouse to bed at four in the morning. / The litter tray needs a better place.
Our Siamese climbed the curtains to the very top. / She got stuck in the tree and ignored the firemen.
He hisses at his own reflection. / Three kittens in the drawer with the socks!
The flap in the door is too narrow for our fat tomcat."""),
     }),
    ("anrufe.csv", "anliegen", "Wie viele der Anrufe sind ein medizinischer Notfall, bei dem sofort ein Rettungswagen "
     "kommen muss?", "notfall", {
        "notfall": texts("""
Mein Vater ist zusammengebrochen und atmet nicht mehr.
Sie hat starke Schmerzen in der Brust, der linke Arm ist taub, sie ist grau im Gesicht.
Ein Radfahrer liegt bewusstlos auf der Kreuzung. / Der Kleine hat Abflussreiniger getrunken.
Die Wunde am Bein spritzt, wir können das Blut nicht stillen.
Seit eben hängt sein Mundwinkel und er kann nicht mehr sprechen.
Nach dem Wespenstich schwillt ihr die Kehle zu, sie bekommt keine Luft."""),
        "kein": texts("""
Ich brauche ein neues Rezept für meine Augentropfen. / Kann ich den Termin am Montag verschieben?
Mein Schnupfen ist nach drei Tagen noch nicht weg. / Ab wann darf man sich gegen Grippe impfen lassen?
Der Pflasterverband ist nass geworden, was soll ich tun? / Ich bräuchte eine Bescheinigung für die Schule.
Haben Sie am Mittwochnachmittag geöffnet? / Meine Überweisung zum Hautarzt ist verloren gegangen.
Welche Unterlagen soll ich zur Vorsorge mitbringen? / Der Hühneraugenstift hilft nicht.
Ich möchte wissen, ob der Cholesterinwert schon da ist. / Muss ich vor der Blutabnahme nüchtern sein?"""),
     }),
    ("statements.csv", "statement", "How many of the statements are false?", "false", {
        "false": texts("""
Spiders have six legs. / The sun goes round the earth once a year.
Water freezes at fifty degrees Celsius. / Lisbon is the capital of Italy. / A triangle has four corners.
Penguins live at the North Pole and can fly. / Seven times eight is fifty-four.
Whales are fish and breathe through gills. / The Sahara is a lake. / February has thirty-one days.
Shakespeare wrote Don Quixote."""),
        "true": texts("""
Bees make honey. / The moon goes round the earth. / Copper conducts electricity.
Paris lies on the Seine. / A leap year has 366 days. / Nine times six is fifty-four.
Bats are mammals. / Salt dissolves in water. / The Amazon flows through Brazil.
A square has four sides of the same length."""),
     }),
]


GYM = """Membership agreement, Anvil Gym

Between Anvil Gym Ltd, Foundry Lane, and Ms Petra Novotna.

1. The membership begins on 1 February and is agreed for 12 months. It then goes on from month to month.
2. The fee is 34 a month, collected on the 5th. The joining fee of 25 is waived.
3. After the first 12 months either side may cancel with 4 weeks' notice, in writing.
4. The membership may be paused for up to 8 weeks a year, in case of illness or pregnancy without limit.
5. A guest may be brought along twice a month. Lockers are emptied each night.
6. A lost card is replaced for 10. The sauna is not included; it costs 6 a visit.
"""

SCHOOL = """Elternbrief der Grundschule am Anger

Liebe Eltern,

am 12. Juni fährt die Klasse 3b nach Wittstock ins Museum, die 3a folgt eine Woche später. Der Bus kostet
7 Euro, der Eintritt 4 Euro; das Geld sammelt Frau Rehbein bis zum 5. Juni ein. Bitte geben Sie Ihrem Kind
feste Schuhe und etwas zu trinken mit. Begleiten werden uns Herr Osterloh und die Mutter von Jonte. Wer
nicht mitfahren darf, geht an diesem Tag in die Klasse 2c. Das Schwimmfest muss leider ausfallen.

Katja Immenroth, Schulleiterin
"""

VACANCES = """Chers voisins,

nous partons du 3 au 24 août. Merci d'arroser les tomates tous les deux jours et les géraniums une fois
par semaine, le dimanche. Le chat Pompon mange deux fois par jour ; ses croquettes sont dans le placard
sous l'escalier, ses médicaments dans la porte du réfrigérateur. Le double des clés est chez Madame
Thévenin, la gardienne garde seulement celle de la boîte aux lettres. Si l'alarme sonne, le code est 5083.
En cas de souci, appelez plutôt Lucie que moi : je n'aurai pas de réseau.

Régis
"""

TABLON_ES = """Acta breve de la peña ciclista El Piñón, 14 de marzo

Asisten Nuria, Gonzalo, Itziar, Fermín y Rocío. Excusa su ausencia Teo.
La marcha del 26 de abril sale de la ermita a las ocho y tiene 94 kilómetros; la corta, 52. Gonzalo marca
el recorrido largo e Itziar el corto. El avituallamiento lo pone la bodega de Fermín. Se aprueba comprar
treinta maillots nuevos, verdes, porque los azules destiñen. La cuota queda en 45 euros.
Se levanta la sesión a las diez.
"""

CHAT_ZH = """【周末爬山群】
周蕾：星期六早上六点半在南门集合，别迟到。
贺强：我开车，能坐四个人。
周蕾：上次是老段开的，这次换你辛苦了。
段明：那我带午饭，六个人的份。
陆小雨：我带急救包和两根绳子。
贺强：山顶有 1386 米，缆车只到 900 米。
周蕾：下雨的话改到星期天。
"""

BUS = """Line 47, Harbour - Sanatorium, Monday to Friday

Harbour        06:10  07:10  08:40  11:10  14:10  16:40
Fish Market    06:14  07:14  08:44  11:14  14:14  16:44
Hospital       06:25  07:27  08:55  11:25  14:25  16:58
Brickworks     06:33  07:36    |    11:33    |    17:07
Sanatorium     06:41  07:45  09:06  11:41  14:36  17:16

The 08:40 and the 14:10 do not stop at Brickworks. The 07:10 runs on school days only.
"""

SCHEMA = """CREATE TABLE member (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT UNIQUE,
  joined DATE NOT NULL DEFAULT CURRENT_DATE
);
CREATE TABLE tool (
  id INTEGER PRIMARY KEY,
  label VARCHAR(60) NOT NULL,
  shelf CHAR(3),
  deposit NUMERIC(7, 2) DEFAULT 20.00
);
CREATE TABLE loan (
  id INTEGER PRIMARY KEY,
  member_id INTEGER NOT NULL REFERENCES member(id),
  tool_id INTEGER NOT NULL REFERENCES tool(id),
  taken DATE NOT NULL,
  due DATE NOT NULL,
  returned DATE
);
CREATE TABLE damage (
  id INTEGER PRIMARY KEY,
  loan_id INTEGER NOT NULL REFERENCES loan(id),
  note TEXT
);
CREATE INDEX loan_due ON loan(due);
"""

VET = """Northgate Animal Clinic                                   Invoice 20418
Patient: Biscuit, guinea pig, female, 1.1 kg            Owner: M. Abara

  Consultation                      38.00
  X-ray, two views                  64.50
  Painkiller, 7 days                12.80
  Nail clipping                      9.00
                                  -------
  Total                            124.30

Give 0.2 ml of the painkiller twice a day with food. No bathing for 10 days. Please come back for a check
on 19 May. Payable within 14 days. Treated by Dr Vesna Kralj; in an emergency ring Dr Lund.
"""

SWEATER = """Pullover for a child, sizes 4 (6, 8) years

Yarn: 5 (6, 7) balls of 50 g. Needles: 3.5 mm for the ribs, 4 mm for the rest.
Back: cast on 72 (80, 88) stitches with the small needles and knit 5 cm of ribs. Change to the large
needles and knit straight up to 36 (40, 45) cm. Front: as the back, but begin the neck at 31 (35, 39) cm.
Sleeves: cast on 38 (42, 44) stitches. Sew in the sleeves last.
"""

ROUTER = {
    "README.txt": "Small router, set up in March by Tarik. The backups run from the attic machine.\n",
    "etc/network.conf": "[lan]\naddress = 10.20.0.1/24\ndhcp_first = 10.20.0.50\ndhcp_last = 10.20.0.199\n\n"
                        "[guests]\naddress = 10.30.0.1/24\nisolated = yes\n",
    "etc/wifi.conf": "[lan]\nname = Attic\nchannel = 11\n\n[guests]\nname = Attic Guests\nchannel = 6\n",
    "etc/firewall.rules": "allow lan -> any\nallow guests -> internet\ndeny guests -> lan\n"
                          "allow internet -> lan port 51820\ndeny internet -> any\n",
    "bin/reconnect.sh": "#!/bin/sh\n# waits until the line is back\nuntil ping -c1 192.0.2.1; do\n  sleep 15\ndone\n"
                        "logger 'line is back'\n",
    "bin/backup.sh": "#!/bin/sh\nset -e\ntar czf /mnt/attic/router.tgz /etc\nlogger 'backup done'\n",
    "bin/leds.sh": "#!/bin/sh\n# quiet: no logger in here\necho 0 > /sys/class/leds/power/brightness\n",
    "bin/blink.py": "import time\n\nfor _ in range(9):\n    print('on')\n    time.sleep(0.5)\n",
}


def shorts(folder: pathlib.Path) -> list[Question]:
    for name, text in {"gym.txt": GYM, "elternbrief.txt": SCHOOL, "vacances.txt": VACANCES, "acta.txt": TABLON_ES,
                       "qunliao.txt": CHAT_ZH, "line47.txt": BUS, "tools.sql": SCHEMA, "invoice-20418.txt": VET,
                       "pullover.txt": SWEATER}.items():
        (folder / name).write_text(text, "utf-8")
    data.write_tree(folder / "router", ROUTER)
    scripts = sorted(name for name in ROUTER if name.endswith(".sh"))
    bill = {line[2:28].strip(): line.split()[-1] for line in VET.splitlines() if re.match(r"  \w.*\d\.\d\d$", line)}

    def ask(where: str, text: str, *wanted, **more) -> Question:
        return Question("short", (where,), text, wanted, **more)

    return [
        ask("gym.txt", "How much is it to use the sauna?", int(re.search(r"costs (\d+) a visit", GYM)[1])),
        ask("gym.txt", "At what time does the gym open?", absent=True),
        ask("elternbrief.txt", "Bei wem gibt man das Geld für den Ausflug ab?", "Rehbein",
            rivals=("Osterloh", "Immenroth")),
        ask("elternbrief.txt", "Warum fällt das Schwimmfest aus?", absent=True),
        ask("vacances.txt", "Qui a un double des clés de la maison ?", "Thévenin", rivals=("gardienne", "Lucie")),
        ask("acta.txt", "¿De cuántos kilómetros es el recorrido que marca Itziar?",
            int(re.search(r"la corta, (\d+)", TABLON_ES)[1])),
        ask("qunliao.txt", "这次爬山谁开车？", "贺强", rivals=("段明", "老段", "周蕾")),
        ask("line47.txt", "I want to get off at Brickworks. When does the last bus of the day leave the Harbour for "
            "there?", BUS.splitlines()[2].split()[-1], rivals=("14:10", "17:07", "11:10")),
        ask("tools.sql", "How many tables does the database have?", SCHEMA.count("CREATE TABLE")),
        ask("invoice-20418.txt", "How much did the x-ray cost?", float(bill["X-ray, two views"])),
        ask("pullover.txt", "What colour of yarn is the pullover knitted with?", absent=True),
        ask("router", "How many shell scripts write to the log with logger?",
            sum("\nlogger " in ROUTER[name] for name in scripts)),
    ]


def prepare(folder: pathlib.Path, cache: pathlib.Path) -> list[Question]:
    """Makes the files of this half in an empty folder; returns its questions."""
    return [*tables(folder), *prose(folder, cache), *folders(folder), *data.judged(folder, JUDGED),
            *shorts(folder)]
