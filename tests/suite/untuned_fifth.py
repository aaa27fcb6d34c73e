"""A fifth set of untuned questions: its data, and each question with its truth.

As untuned_held.py: it is asked once, and read by nobody who changes a prompt or the engine, see
docs/small-models.md. The files are again such as lie on people's disks, in forms that the other
halves do not have: tracks, contacts, ledgers, mailboxes, subtitles, exports with odd heads.
"""

import collections
import csv
import datetime
import email
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


def others(names, chosen: str) -> tuple[str, ...]:
    return tuple(sorted(set(names) - {chosen}))


def texts(block: str) -> list[str]:
    """Split at each end of a line and each slash between blanks."""
    return re.split(r"\n| / ", block.strip())


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
              "Jansen", "Kowal", "Lemaire", "Mbeki", "Nagy"]
    cards = []
    for number, (one, two) in enumerate(((one, two) for one in given for two in family for _ in "123"), 1):
        lines = ["BEGIN:VCARD", "VERSION:3.0", f"N:{two};{one};;;", f"FN:{one} {two}", f"UID:card-{number}"]
        for kind in rng.sample(["CELL", "HOME", "WORK"], rng.choices([0, 1, 2, 3], weights=[3, 8, 5, 1])[0]):
            lines.append(f"TEL;TYPE={kind}:+41 {rng.randrange(21, 92)} {rng.randrange(200, 999)} "
                         f"{rng.randrange(10, 99)} {rng.randrange(10, 99)}")
        if rng.random() < 0.6:
            lines.append(f"EMAIL;TYPE=INTERNET:{one}.{two}{number}@mail.invalid".lower())
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


def prepare(folder: pathlib.Path, cache: pathlib.Path) -> list[Question]:
    """Makes the files of this half in an empty folder; returns its questions."""
    return [*tables(folder)]
