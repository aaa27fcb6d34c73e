"""A sixth set of untuned questions: its data, and each question with its truth.

As untuned_held.py: it is asked once, and read by nobody who changes a prompt or the engine, see
docs/small-models.md. Other kinds of files again: family trees, games, playlists, dumps of databases,
chats, bookmarks, mail logs, histories; and seven languages.
"""

import collections
import csv
import datetime
import json
import pathlib
import plistlib
import random
import re
import xml.etree.ElementTree as xml

import untuned_data as data
from grading import Question
from untuned_data import evenings, others, texts, write_sections


def make_family(path: pathlib.Path) -> None:
    """GEDCOM: a place stands at births, weddings and deaths alike."""
    rng = random.Random(9101)
    towns = ["Gdynia", "Sopot", "Tczew", "Elbląg", "Kartuzy", "Gdańsk"]
    months = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()

    def event(tag: str, first: int, last: int, share: float) -> list[str]:
        lines = [f"1 {tag}", f"2 DATE {rng.randrange(1, 29)} {rng.choice(months)} {rng.randrange(first, last)}"]
        return lines + ([f"2 PLAC {rng.choice(towns)}, Pomorskie, Polska"] if rng.random() < share else [])

    lines = ["0 HEAD", "1 SOUR KORZENIE", "1 GEDC", "2 VERS 5.5.1", "1 CHAR UTF-8"]
    for number in range(1, 761):
        sex = rng.choice("MF")
        given = rng.choice(["Jan", "Piotr", "Leon", "Antoni"] if sex == "M" else ["Anna", "Zofia", "Helena", "Maria"])
        born = rng.randrange(1790, 1985)
        lines += [f"0 @I{number}@ INDI", f"1 NAME {given} /{rng.choice(['Formela', 'Kreft', 'Miotk', 'Plichta'])}/",
                  f"1 SEX {sex}", *event("BIRT", born, born + 1, 0.85)]
        if rng.random() < 0.7:
            lines += event("DEAT", born + 1, born + 91, 0.7)
        if rng.random() < 0.1:
            lines.append(f"1 NOTE Mieszkał(a) w mieście {rng.choice(towns)}.")
    for number in range(1, 211):
        lines += [f"0 @F{number}@ FAM", f"1 HUSB @I{rng.randrange(1, 761)}@", f"1 WIFE @I{rng.randrange(1, 761)}@",
                  *event("MARR", 1815, 2010, 0.8)]
    path.write_text("\n".join([*lines, "0 TRLR"]) + "\n", "utf-8")


def make_games(path: pathlib.Path) -> None:
    rng = random.Random(9102)
    players = ["Quist, Maja", "Oyelaran, Tunde", "Brandt, Felix", "Sousa, Rui", "Halme, Ilona", "Nair, Dev"]
    openings = {"B12": "Caro-Kann Defence", "C41": "Philidor Defence", "D85": "Gruenfeld Defence",
                "A45": "Trompowsky Attack", "B01": "Scandinavian Defence"}
    moves = "e4 c6 d4 d5 Nc3 dxe4 Nxe4 Bf5 Ng3 Bg6 h4 h6 Nf3 Nd7 h5 Bh7 Bd3 Bxd3 Qxd3 e6 O-O-O Qc7".split()
    games = []
    for number in range(1, 881):
        white, black = rng.sample(players, 2)
        code = rng.choice(list(openings))
        result = rng.choices(["1-0", "0-1", "1/2-1/2"], weights=[5, 4, 4])[0]
        played = " ".join(f"{at // 2 + 1}. {move}" if at % 2 == 0 else move
                          for at, move in enumerate(moves[:rng.randrange(8, len(moves))]))
        end = {"1-0": "{White wins}", "0-1": "{Black wins}", "1/2-1/2": "{A draw is agreed}"}[result]
        heads = {"Event": rng.choice(["Club championship", "Thursday rapid", "Friendly"]),
                 "Date": data.day(rng, (2021, 2022, 2023, 2024)).replace("-", "."), "Round": number % 9 + 1,
                 "White": white, "Black": black, "Result": result, "ECO": code, "Opening": openings[code]}
        offer = " {draw offered} " if rng.random() < 0.15 else " "
        games.append("\n".join([*(f'[{key} "{value}"]' for key, value in heads.items()), "",
                                f"{played}{offer}{end} {result}", ""]))
    path.write_text("\n".join(games), "utf-8")


def make_money(path: pathlib.Path) -> None:
    """QIF: outgoings have a minus, and thousands a comma."""
    rng = random.Random(9103)
    payees = {"Loisirs": ["Cinéma Rex", "Piscine des Murs"], "Alimentation": ["Primeur Salah", "Fromagerie Loup"],
              "Santé": ["Pharmacie du Pont", "Dr Amara"], "Maison": ["Quincaillerie Vidal"],
              "Transport": ["SNCF", "Garage Loisirs Auto"], "Salaire": ["Imprimerie Dufour"]}
    lines = ["!Type:Bank"]
    for offset in range(900):
        date = datetime.date(2022, 9, 1) + datetime.timedelta(days=offset)
        for _ in range(rng.randrange(0, 4)):
            kind = rng.choices(list(payees), weights=[5, 12, 4, 4, 6, 1])[0]
            cents = rng.randrange(180000, 260000) if kind == "Salaire" else -rng.randrange(250, 140000)
            lines += [f"D{date:%d/%m/%Y}", f"T{cents / 100:,.2f}", f"P{rng.choice(payees[kind])}",
                      *([f"M{rng.choice(['carte', 'chèque', 'loisirs des enfants'])}"] if rng.random() < 0.4 else []),
                      f"L{kind}", "^"]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def make_kakeibo(path: pathlib.Path) -> None:
    rng = random.Random(9104)
    items = {"食費": ["スーパー", "八百屋", "魚屋", "弁当"], "日用品": ["洗剤", "電池", "食器"], "交通費": ["電車", "バス"],
             "娯楽": ["映画", "本", "外食の後のカラオケ"], "光熱費": ["電気", "ガス", "水道"]}
    rows = []
    for offset in range(850):
        date = datetime.date(2023, 4, 1) + datetime.timedelta(days=offset)
        for _ in range(rng.randrange(0, 4)):
            kind = rng.choices(list(items), weights=[10, 3, 4, 2, 1])[0]
            back = kind in ("食費", "日用品") and rng.random() < 0.03
            rows.append({"日付": f"{date.year}/{date.month}/{date.day}", "区分": "返金" if back else "支出", "費目": kind,
                         "内容": rng.choice(items[kind]), "金額": f"{rng.randrange(100, 9800):,}"})
    with path.open("w", encoding="utf-8-sig", newline="") as out:
        writer = csv.DictWriter(out, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


def make_bookmarks(path: pathlib.Path) -> None:
    rng = random.Random(9105)
    lines = ["<!DOCTYPE NETSCAPE-Bookmark-file-1>", "<TITLE>Bookmarks</TITLE>", "<H1>Bookmarks</H1>", "<DL><p>"]
    number = 0
    for name in ("Cooking", "Travel", "Cooking for the club", "Woodwork", "Read later"):
        lines += [f'    <DT><H3 ADD_DATE="{rng.randrange(1500000000, 1600000000)}">{name}</H3>', "    <DL><p>"]
        for _ in range(rng.randrange(120, 260)):
            number += 1
            scheme = rng.choices(["https", "http"], weights=[3, 2])[0]
            lines.append(f'        <DT><A HREF="{scheme}://{rng.choice(["www.", "", "blog."])}site{number}.example/'
                         f'{rng.choice(["", "a?to=http://b.example", "index.html"])}" '
                         f'ADD_DATE="{rng.randrange(1600000000, 1760000000)}">'
                         f'{rng.choice(["Cooking", "Slow", "Old"])} {rng.choice(["soup", "trip", "shelf"])}</A>')
        lines.append("    </DL><p>")
    path.write_text("\n".join([*lines, "</DL><p>"]) + "\n", "utf-8")


def make_mail_log(path: pathlib.Path) -> None:
    rng = random.Random(9106)
    people = [f"{name}@{host}" for name in ("lena", "omar", "pia", "quinn", "rosa", "sven", "tove", "uma", "vic")
              for host in ("alder.example", "birch.example", "cedar.example", "larch.example", "rowan.example",
                           "yew.example", "elm.example", "oak.example", "ash.example")]
    dead = set(rng.sample(people, 50))
    when, lines = datetime.datetime(2025, 10, 6), []
    for _ in range(3100):
        when += datetime.timedelta(seconds=rng.randrange(3, 260))
        to, key, stamp = rng.choice(people), f"{rng.getrandbits(40):010X}", f"{when:%b %e %H:%M:%S} post"
        relay = f"relay=mx.{to.split('@')[1]}[192.0.2.{rng.randrange(1, 99)}]:25, delay={rng.randrange(1, 90) / 10}"
        if rng.random() < 0.2:
            lines.append(f"{stamp} postfix/cleanup[{rng.randrange(900, 999)}]: {key}: message-id=<{key}@post.example>")
        if to in dead and rng.random() < 0.3:
            text = "dsn=5.1.1, status=bounced (host said: 550 5.1.1 user unknown)"
        elif rng.random() < 0.12:
            text = "dsn=4.4.1, status=deferred (connect: timed out; will be bounced after 5 days)"
        else:
            text = "dsn=2.0.0, status=sent (250 2.0.0 Ok: queued)"
        lines.append(f"{stamp} postfix/smtp[{rng.randrange(1000, 9999)}]: {key}: to=<{to}>, {relay}, {text}")
    path.write_text("\n".join(lines) + "\n", "utf-8")


def make_report(path: pathlib.Path) -> None:
    """As JUnit writes it: a failure is a false assertion, an error anything else that was thrown."""
    rng = random.Random(9107)
    names = ["CartTest", "InvoiceTest", "LoginTest", "SearchTest", "StockTest", "TaxTest", "VoucherTest"]
    root = xml.Element("testsuites")
    for number in range(40):
        suite = xml.SubElement(root, "testsuite", name=f"shard-{number}", timestamp=f"2025-09-{number % 28 + 1:02d}")
        for case in range(rng.randrange(40, 90)):
            one = xml.SubElement(suite, "testcase", classname=f"shop.{rng.choice(names)}", name=f"case{case}",
                                 time=f"{rng.randrange(1, 4000) / 1000:.3f}")
            how = rng.choices(["", "failure", "error", "skipped"], weights=[30, 3, 4, 2])[0]
            if how == "skipped":
                xml.SubElement(one, "skipped")
            elif how:
                child = xml.SubElement(one, how, type="AssertionError" if how == "failure" else "TimeoutException")
                child.text = "at line " + str(rng.randrange(10, 400))
    xml.indent(root)
    xml.ElementTree(root).write(path, "utf-8", xml_declaration=True)


CHATTERS = ["Bartek", "Kinga", "Ola", "Radek", "Sylwia", "Tomek"]


def make_chat(path: pathlib.Path) -> None:
    """As the telephone exports it: some messages have several lines, and notices have no sender."""
    rng = random.Random(9108)
    said = texts("""
Kto dziś gotuje? / Będę o osiemnastej. / <pominięto multimedia> / Kupcie mleko! / Tomek: napisz do mnie
Nie mogę w piątek
Haha / Kinga, masz klucze? / Zapłaciłam za prąd / Ktoś zjadł mój ser / ok / Wracam późno / Pralka znowu cieknie""")
    when, lines = datetime.datetime(2024, 11, 2, 9, 0), []
    for _ in range(4200):
        when += datetime.timedelta(minutes=rng.randrange(1, 90))
        stamp = f"{when:%d.%m.%Y, %H:%M} - "
        if rng.random() < 0.02:
            lines.append(f"{stamp}{rng.choice(CHATTERS)} zmienił(a) opis grupy")
            continue
        lines.append(f"{stamp}{rng.choices(CHATTERS, weights=[9, 8, 9, 8, 9, 7])[0]}: {rng.choice(said)}")
        if rng.random() < 0.1:
            lines += rng.sample(["- chleb", "- masło", "Sylwia: dwa jabłka", "i coś słodkiego"], 2)
    path.write_text("\n".join(lines) + "\n", "utf-8")


def make_music(path: pathlib.Path) -> None:
    """A song that was never played has no count."""
    rng = random.Random(9109)
    tracks = {}
    for number in range(1001, 2301):
        track = {"Track ID": number, "Name": f"{rng.choice(['Luna', 'Jazz', 'Río', 'Niebla'])} {number % 97}",
                 "Artist": rng.choice(["Trío Almagro", "Carmen Losada", "Los Faroles", "Jazz Club 9"]),
                 "Genre": rng.choice(["Jazz", "Rock", "Flamenco", "Acid Jazz", "Pop"]),
                 "Total Time": rng.randrange(90_000, 600_000)}
        if rng.random() < 0.7:
            track["Play Count"] = rng.randrange(1, 60)
        if rng.random() < 0.3:
            track["Skip Count"] = rng.randrange(1, 9)
        tracks[str(number)] = track
    path.write_bytes(plistlib.dumps({"Major Version": 1, "Tracks": tracks}, sort_keys=False))


def make_dump(path: pathlib.Path) -> None:
    rng = random.Random(9110)
    towns = ["Coimbra", "Braga", "Évora", "Faro", "Viseu"]
    clients = [f"{number}\t{rng.choice(['Livraria', 'Café', 'Oficina', 'Farmácia'])} "
               f"{rng.choice(['Central', 'Nova', 'de Coimbra', 'do Rio'])}\t{rng.choice(towns)}"
               for number in range(1, 141)]
    orders = []
    for number in range(1, 2401):
        placed = datetime.date(2025, 1, 2) + datetime.timedelta(days=number // 8)
        sent = placed + datetime.timedelta(days=rng.randrange(1, 20)) if rng.random() < 0.8 else "\\N"
        orders.append(f"{number}\t{rng.randrange(1, 141)}\t{placed}\t{sent}\t{rng.randrange(900, 90000) / 100:.2f}")
    path.write_text("\n".join([
        "--", "-- PostgreSQL database dump", "--", "SET client_encoding = 'UTF8';", "",
        "CREATE TABLE public.cliente (id integer NOT NULL, nome text, cidade text);",
        "CREATE TABLE public.encomenda (id integer NOT NULL, cliente_id integer, feita date, entregue date, "
        "total numeric(8,2));", "", "COPY public.cliente (id, nome, cidade) FROM stdin;", *clients, "\\.", "",
        "COPY public.encomenda (id, cliente_id, feita, entregue, total) FROM stdin;", *orders, "\\.", ""]), "utf-8")


def make_climate(sensors: pathlib.Path, readings: pathlib.Path) -> None:
    rng = random.Random(9111)
    rooms = ["Keller", "Bad", "Küche", "Dachboden", "Weinkeller"]
    known = [{"kennung": f"s{rng.randrange(16 ** 4):04x}", "raum": rooms[number % 5],
              "batterie": rng.randrange(20, 100)} for number in range(11)]
    sensors.write_text(json.dumps({"stand": "2025-06", "sensoren": known}, ensure_ascii=False, indent=2), "utf-8")
    lines, when = ["zeit\tsensor\ttemp_c\tfeuchte_pct"], datetime.datetime(2025, 5, 1)
    for _ in range(5200):
        when += datetime.timedelta(minutes=rng.randrange(5, 20))
        damp = f"{rng.randrange(350, 900) / 10}".replace(".", ",") if rng.random() < 0.96 else "n/v"
        lines.append(f"{when:%d.%m.%Y %H:%M}\t{rng.choice(known)['kennung']}\t"
                     f"{str(rng.randrange(80, 290) / 10).replace('.', ',')}\t{damp}")
    readings.write_text("\n".join(lines) + "\n", "utf-8")


def make_history(path: pathlib.Path) -> None:
    """As `git log --numstat` prints it."""
    rng = random.Random(9112)
    people = ["Ines Duarte", "Karl Voss", "Mina Park", "Jonas Duarte"]
    files = ["docs/install.md", "docs/faq.md", "src/main.c", "src/docs.c", "src/net.c", "Makefile",
             "logo/docs/icon.png"]
    when, blocks = datetime.datetime(2023, 2, 1, 9, 0), []
    for _ in range(1300):
        when += datetime.timedelta(minutes=rng.randrange(30, 2000))
        head = [f"commit {rng.getrandbits(160):040x}",
                f"Author: {rng.choices(people, weights=[4, 5, 3, 3])[0]} <x@y.example>",
                f"Date:   {when:%a %b %d %H:%M:%S %Y} +0100", "",
                "    " + rng.choice(["Fix a leak", "Update docs/", "Tidy up", "Thanks to Ines Duarte", "Speed up"]), ""]
        changed = [f"-\t-\t{name}" if name.endswith("png")
                   else f"{rng.randrange(1, 90)}\t{rng.randrange(0, 60)}\t{name}"
                   for name in sorted(rng.sample(files, rng.randrange(1, 4)))]
        blocks.append("\n".join([*head, *changed]) + "\n")
    path.write_text("\n".join(reversed(blocks)), "utf-8")


def born_in(tree: str, town: str) -> int:
    """Persons with a birth at the place."""
    count, tag = 0, ""
    for line in tree.splitlines():
        level, rest = line.split(" ", 1)
        if level != "2":
            tag = rest
        elif tag == "BIRT" and rest.startswith(f"PLAC {town},"):
            count += 1
    return count


def leisure(money: str, month: str, kind: str) -> float:
    cents = 0
    for block in money.removeprefix("!Type:Bank\n").split("^\n")[:-1]:
        fields = {line[0]: line[1:] for line in block.splitlines()}
        if fields["D"].endswith(month) and fields["L"] == kind:
            cents -= round(float(fields["T"].replace(",", "")) * 100)
    return cents / 100


def copied(dump: str, table: str) -> list[list[str]]:
    block = re.search(rf"^COPY public\.{table} .*?;\n(.*?)\n\\\.$", dump, re.M | re.S)[1]
    return [line.split("\t") for line in block.splitlines()]


def tables(folder: pathlib.Path) -> list[Question]:
    make_family(folder / "rodzina.ged")
    make_games(folder / "club-games.pgn")
    make_money(folder / "compte-courant.qif")
    make_kakeibo(folder / "kakeibo.csv")
    make_bookmarks(folder / "bookmarks.html")
    make_mail_log(folder / "mail.log")
    make_report(folder / "junit-report.xml")
    make_chat(folder / "czat-mieszkanie.txt")
    make_music(folder / "Biblioteca.plist")
    make_dump(folder / "loja.dump.sql")
    make_climate(folder / "sensoren.json", folder / "messwerte.tsv")
    make_history(folder / "history.txt")

    def read(name: str) -> str:
        return (folder / name).read_text("utf-8-sig")

    games = [dict(re.findall(r'^\[(\w+) "(.*)"\]$', game, re.M)) for game in read("club-games.pgn").split("[Event ")]
    food = sum(int(row["金額"].replace(",", "")) for row in csv.DictReader(read("kakeibo.csv").splitlines())
               if row["日付"].startswith("2024/") and row["費目"] == "食費" and row["区分"] == "支出")
    cooking = read("bookmarks.html").split(">Cooking</H3>")[1].split("</DL>")[0]
    failed = collections.Counter(case.get("classname").split(".")[1] for case in xml.parse(folder / "junit-report.xml")
                                 .iter("testcase") if case.find("failure") is not None)
    wrote = collections.Counter(re.findall(r"^\d\d\.02\.2025, \d\d:\d\d - (\w+): ", read("czat-mieszkanie.txt"), re.M))
    music = plistlib.loads((folder / "Biblioteca.plist").read_bytes())["Tracks"].values()
    towns = {number: town for number, _, town in copied(read("loja.dump.sql"), "cliente")}
    cellar = {one["kennung"] for one in json.loads(read("sensoren.json"))["sensoren"] if one["raum"] == "Keller"}
    damp = [row["feuchte_pct"] for row in data.read_table(folder / "messwerte.tsv") if row["sensor"] in cellar]
    commits = read("history.txt").split("commit ")[1:]

    def ask(files: str, text: str, *wanted, **more) -> Question:
        return Question("table", tuple(files.split()), text, wanted, **more)

    return [
        ask("rodzina.ged", "Ile osób z mojego drzewa genealogicznego urodziło się w Gdyni?",
            born_in(read("rodzina.ged"), "Gdynia")),
        ask("club-games.pgn", "How many games with the Caro-Kann ended in a draw?",
            sum(one.get("Opening") == "Caro-Kann Defence" and one["Result"] == "1/2-1/2" for one in games)),
        ask("compte-courant.qif", "Combien d'euros ai-je dépensés en mars 2024 dans la catégorie Loisirs ?",
            leisure(read("compte-courant.qif"), "/03/2024", "Loisirs")),
        ask("kakeibo.csv", "2024年の食費の支出は合計で何円ですか。返金は差し引かず、無視してください。", food),
        ask("bookmarks.html", "In the bookmark folder called Cooking, how many addresses start with http:// and not "
            "with https://?", len(re.findall('HREF="http://', cooking))),
        ask("mail.log", "To how many different addresses did at least one mail bounce?",
            len(set(re.findall(r"to=<([^>]*)>,.*status=bounced", read("mail.log"))))),
        ask("junit-report.xml", "Which test class has the most failures? Errors are not failures.",
            data.first(failed), also=(max(failed.values()),), rivals=others(failed, data.first(failed))),
        ask("czat-mieszkanie.txt", "Kto napisał najwięcej wiadomości w lutym 2025 roku?", data.first(wrote),
            also=(max(wrote.values()),), rivals=others(wrote, data.first(wrote))),
        ask("Biblioteca.plist", "¿Cuántas canciones del género Jazz no he escuchado nunca? El Acid Jazz "
            "es otro género.",
            sum(one["Genre"] == "Jazz" and "Play Count" not in one for one in music)),
        ask("loja.dump.sql", "Quantas encomendas de clientes da cidade de Coimbra ainda não foram entregues?",
            sum(towns[row[1]] == "Coimbra" and row[3] == "\\N" for row in copied(read("loja.dump.sql"), "encomenda"))),
        ask("sensoren.json messwerte.tsv", "Wie hoch war die durchschnittliche Luftfeuchte im Keller in Prozent, ohne "
            "die Messungen, bei denen sie fehlt? Der Weinkeller zählt nicht dazu. Bitte auf zwei Stellen runden.",
            sum(float(one.replace(",", ".")) for one in damp if one != "n/v") / sum(one != "n/v" for one in damp)),
        ask("history.txt", "How many commits by Ines Duarte changed at least one file in the top-level folder docs?",
            sum("\nAuthor: Ines Duarte <" in one and re.search(r"^\d+\t\d+\tdocs/", one, re.M) is not None
                for one in commits)),
    ]


LIGHT = """
The second keeper/Old Fergus/The relief boat/A steamer of the Anchor Line/The inspector/A flock of fieldfares/\
The telephone to the shore/Young Baird
was late again/could not be seen for the spray/gave no trouble/made a great noise in the night/\
left us at the turn of the tide/was entered in the wrong book/asked after the goats/went by to the north/\
kept us from our beds/wants a new coat of paint/had the worst of the weather
, the wind being westerly/, as is usual at this season/ until the forenoon//, which I have reported/\
 for the third day running
"""

BAU = """
Der Polier/Der Bauherr/Die Architektin/Der Elektriker/Der Prüfstatiker/Der Nachbar zur Linken/\
Ein Lehrling/Der Zimmermann
hat die Pläne noch nicht gesehen/verlangt einen zweiten Wasserhahn/sperrt den Keller ab/misst die Fenster nach/\
beschwert sich über den Staub/bringt neue Dübel mit/wartet auf den Kies/räumt den Hof auf/lässt die Decke abstützen/\
will bis Freitag bleiben/sucht die Wasserwaage
, wie besprochen/ und ist danach nicht mehr zu erreichen//, obwohl es regnet/\
 ohne Angabe von Gründen/, der Ordnung halber
"""

PENICHE = """
Le batelier d'en face/Une péniche belge/Le halage/L'éclusière de Digoin/Notre moteur/Le brouillard/\
Un pêcheur/Ma belle-sœur
nous retient une heure/ne dit rien de bon/réclame le passage/sent la vase/va mieux qu'hier/nous salue de loin/\
fait fuir les canards/refuse de céder la place/s'en va vers l'aval/mérite un peu de graisse/occupe tout le quai
, comme d'habitude/, par temps gris//, et l'on repart/ jusqu'au soir/, sans que personne s'en étonne
"""

SZKOLA = """
Pan woźny/Klasa siódma/Pani dyrektor/Komitet rodzicielski/Nauczyciel fizyki/Drużyna harcerska/\
Gość z kuratorium/Bibliotekarka
porządkuje szatnię/przygotowuje apel/narzeka na przeciągi/sadzi forsycje przy bramie/wypisuje świadectwa/\
zbiera makulaturę/szuka zagubionej mapy/dziękuje za kredę/wraca z wycieczki do lasu/układa nowy plan lekcji/\
ogląda gabloty na korytarzu
, jak co roku/, mimo niepogody/ przed dzwonkiem//, ku uciesze najmłodszych/ i nikt się temu nie dziwi
"""


def prose(folder: pathlib.Path, cache: pathlib.Path) -> list[Question]:
    rng = random.Random(9200)
    (oil, drums, scaffold, crane, diesel, water,
     panes, roof, stones, lanterns, donkey, cow) = rng.sample(range(113, 990), 12)
    trims, tiles, choir, drummer, key = (rng.choice(names) for names in (
        ["Rennie", "Gilchrist", "Moffat"], ["Nadolny", "Terbeck", "Wiesinger"], ["Pawlak", "Zaręba", "Mroczek"],
        ["久保田", "松永", "矢島"], ["Adelino", "Firmino", "Zeferino"]))
    write_sections(folder / "light-log.txt", 9201, evenings(
        datetime.date(1923, 2, 5), 3, 660, "{day:%A, %d %B %Y}"), LIGHT, {
        102: f"The tender landed {oil} gallons of paraffin, and the last cask was the devil to get up the steps.",
        240: f"The tender took {drums} empty drums back with it, and charged us nothing for the freight.",
        377: "Corporal Lyle minds the signal flags this month.",
        541: "Principal Keeper Abernethy lies in the infirmary at Oban with his leg; until he can climb again, "
             f"Tam {trims} has charge of the light."})
    write_sections(folder / "Bautagebuch.txt", 9202, evenings(
        datetime.date(1996, 4, 9), 2, 580, "Bautag {day:%d.%m.%Y}"), BAU, {
        64: f"Der Kran stand neun Tage bei uns, und seine Miete betrug {crane} Mark.",
        188: "Die Fliesen in der Küche legt Herr Brandl.",
        333: f"Firma Esch hat abgesagt, also hat Meister {tiles} das Bad gefliest, und zwar sauber.",
        470: f"Das Gerüst ist fort; für elf Wochen waren dem Verleiher {scaffold} Mark zu überweisen."})
    write_sections(folder / "journal-de-bord.txt", 9203, evenings(
        datetime.date(1978, 3, 2), 4, 620, "Le {day:%d/%m/%Y}"), PENICHE, {
        80: "L'éclusier de Garnat a un gros chien jaune qui mord les amarres.",
        211: "Biscotte, la chatte du bord, a eu trois petits dans la cale.",
        356: f"Plein fait à Sancerre : {diesel} litres de gazole, et le pompiste ne rend pas la monnaie.",
        498: f"Nous prenons {water} litres d'eau douce à Sancerre, plus bas que le pont."})
    write_sections(folder / "kronika.txt", 9204, evenings(
        datetime.date(1958, 9, 1), 11, 600, "Kronika szkolna, {day:%d.%m.%Y}"), SZKOLA, {
        93: f"Nowy dach nad salą gimnastyczną pochłonął {roof} złotych ze składek.",
        227: "Kółko szachowe prowadzi nadal pan Grabowski.",
        402: "Po gradobiciu szklarz wstawił w sali gimnastycznej wszystkie szyby od nowa "
             f"i wziął za to {panes} złotych.",
        555: "Pani Wolska, która uczyła chór od początku, wyjechała do Łodzi; od września próby prowadzi organista "
             f"Zygmunt {choir}."})
    data.plant(cache, "reference-ja", folder / "chounai-kiroku.txt", [
        (0.15, f"神社の参道に提灯を{lanterns}張ともした。"),
        (0.4, "盆踊りの笛は大野さんが吹いた。"),
        (0.58, f"夏祭りの太鼓は、長く務めた村瀬さんが腰を痛めたため、今年は豆腐屋の{drummer}さんが打った。"),
        (0.86, f"大雨で崩れた神社の石段は、割れた石を{stones}個入れ替えて、ようやく元どおりになった。")], start=0.06, size=640_000)
    data.plant(cache, "reference-pt", folder / "caderno-da-aldeia.txt", [
        (0.2, f"Na feira de São Miguel, a viúva Teles deu {cow} escudos por uma vaca e não se arrependeu."),
        (0.45, "O sino da capela toca-o o Horácio, que é surdo."),
        (0.66, f"Na mesma feira, o moleiro de Vilarinho desfez-se do burro e recebeu por ele {donkey} escudos."),
        (0.81, "A tia Benvinda teve consigo, durante anos, a chave da capela; quando cegou, passou-a ao ferrador "
               f"{key} Brás, que nunca mais a largou.")], start=0.1, size=560_000)

    def ask(file: str, text: str, *wanted, **more) -> Question:
        return Question("prose", (file,), text, wanted, **more)

    return [
        ask("light-log.txt", "Who looked after the light while the principal keeper was in hospital?", trims,
            rivals=("Abernethy", "Lyle", "Fergus", "Baird")),
        ask("light-log.txt", "How much did the paraffin that the tender landed cost?", absent=True),
        ask("Bautagebuch.txt", "Wer hat die Fliesen im Bad verlegt?", tiles, rivals=("Esch", "Brandl")),
        ask("Bautagebuch.txt", "Wie viel Mark hat die Miete des Gerüsts gekostet?", scaffold),
        ask("journal-de-bord.txt", "Combien de litres de carburant avons-nous embarqués à Sancerre ?", diesel),
        ask("journal-de-bord.txt", "Comment s'appelle le chien de l'éclusier de Garnat ?", absent=True),
        ask("kronika.txt", "Ile złotych kosztowała wymiana szyb w sali gimnastycznej?", panes),
        ask("kronika.txt", "Kto przejął prowadzenie szkolnego chóru?", choir, rivals=("Wolska", "Grabowski")),
        ask("chounai-kiroku.txt", "今年の夏祭りで太鼓をたたいたのは誰ですか。", drummer, rivals=("村瀬", "大野")),
        ask("chounai-kiroku.txt", "神社の石段では石を何個取り替えましたか。", stones),
        ask("caderno-da-aldeia.txt", "Por quantos escudos o moleiro vendeu o burro?", donkey),
        ask("caderno-da-aldeia.txt", "Quem guarda agora a chave da capela?", key,
            rivals=("Benvinda", "Horácio", "Teles")),
    ]


def make_notes(folder: pathlib.Path, mender: str) -> None:
    """Notes with a head; a body may speak of a thing without the tag of it."""
    rng = random.Random(9301)
    lines = texts("""
Comprar semillas de acelga para el huerto. / Llamar al fontanero cuanto antes. / Queda media lata de pintura blanca.
El vecino presta la escalera. / #huerto no, esto va aparte. / Mirar los horarios del autobús. / Falta firmar el seguro.
La receta está en el cajón. / Pendiente de lo que diga Marga. / Preguntar el precio de la leña.
Regar por la noche.""")
    planted = {19: "Abel quiso arreglar el ventilador y lo dejó peor.",
               88: f"La correa de la persiana se partió el martes; {mender} la cambió por una nueva en media hora.",
               141: "Marga pintó las persianas de verde."}
    for number in range(172):
        tags = rng.sample(["huerto", "casa", "viajes", "papeles", "cocina"], rng.randrange(1, 4))
        body = [*rng.sample(lines, rng.randrange(2, 5)), *([planted[number]] if number in planted else [])]
        rng.shuffle(body)
        data.write_tree(folder, {
            f"{rng.choice(['diario', 'listas', 'varios'])}/nota-{number:03d}.md":
                f"---\nfecha: {data.day(rng, (2024, 2025))}\netiquetas: [{', '.join(tags)}]\n"
                f"estado: {rng.choice(['pendiente', 'hecho', 'descartado'])}\n---\n\n" + "\n".join(body) + "\n"})


TIDEPOOL = {
    "Cargo.toml": "[package]\nname = \"tidepool\"\nversion = \"0.9.2\"\nedition = \"2021\"\n\n[lints.rust]\n"
                  "unsafe_code = \"warn\"\n",
    "src/main.rs": "mod log;\nmod net;\nmod store;\n\nfn main() {\n    log::start();\n"
                   "    let port = std::env::var(\"TIDE_PORT\").ok().and_then(|p| p.parse().ok()).unwrap_or(7410);\n"
                   "    net::serve(port);\n}\n",
    "src/log.rs": "use std::env;\n\n/// TIDE_DEBUG was read here until 0.8.\npub fn start() {\n"
                  "    let level = env::var(\"TIDE_VERBOSITY\").unwrap_or_else(|_| \"info\".into());\n"
                  "    println!(\"logging at {level}\");\n}\n",
    "src/net.rs": "// no unsafe { } in here, please\nuse crate::store::Pool;\n\npub fn serve(port: u16) {\n"
                  "    let pool = Pool::new();\n    println!(\"{port} {}\", pool.len());\n}\n",
    "src/store/mod.rs": "mod map;\nmod pool;\n\npub use pool::Pool;\n",
    "src/store/pool.rs": "use super::map::Map;\n\npub struct Pool(Map);\n\nimpl Pool {\n"
                         "    pub fn new() -> Self {\n        Pool(Map::open(\"pool.db\"))\n    }\n\n"
                         "    pub fn len(&self) -> usize {\n        unsafe { *self.0.head() }\n    }\n}\n",
    "src/store/map.rs": "pub struct Map(Box<usize>);\n\nimpl Map {\n    pub fn open(_: &str) -> Self {\n"
                        "        Map(Box::new(0))\n    }\n\n    pub fn head(&self) -> *const usize {\n"
                        "        &*self.0\n    }\n\n    pub fn bump(&self) {\n"
                        "        unsafe {\n            *(self.head() as *mut usize) += 1;\n        }\n    }\n}\n",
    "benches/fill.rs": "fn main() {\n    let mut sum = 0usize;\n    let data = [1usize; 64];\n"
                       "    for at in 0..64 {\n        sum += unsafe { *data.get_unchecked(at) };\n    }\n"
                       "    println!(\"{sum}\");\n}\n",
    "tests/pool.rs": "#[test]\nfn unsafe_is_only_a_word() {\n    assert_eq!(\"unsafe {\".len(), 8);\n}\n",
    "README.md": "# tidepool\n\nSet `TIDE_PORT` to choose a port. `unsafe { }` is used where it pays.\n",
}


def make_invoices(folder: pathlib.Path) -> None:
    rng = random.Random(9303)
    for number in range(1, 61):
        root = xml.Element("facture", numero=f"F{2400 + number}", date=data.day(rng, (2024, 2025)))
        xml.SubElement(root, "fournisseur").text = rng.choice(
            ["Mercier Bois", "Atelier Khelif", "Verrerie Roux", "Transports Lenoir", "Papeterie Solal"])
        lines = xml.SubElement(root, "lignes")
        cents = 0
        for _ in range(rng.randrange(1, 5)):
            price = rng.randrange(900, 80000)
            cents += price
            xml.SubElement(lines, "ligne", montant=f"{price / 100:.2f}").text = rng.choice(["livraison", "pose"])
        xml.SubElement(root, "total", devise="EUR").text = f"{cents / 100:.2f}"
        xml.SubElement(root, "reglement", etat=rng.choice(["payée", "payée", "impayée"]))
        xml.indent(root)
        data.write_tree(folder, {f"{root.get('date')[:4]}/{root.get('numero')}.xml":
                                 xml.tostring(root, "unicode", xml_declaration=False) + "\n"})


def unpaid(folder: pathlib.Path) -> dict[str, float]:
    totals: collections.Counter = collections.Counter()
    for path in sorted(folder.rglob("*.xml")):
        root = xml.parse(path).getroot()
        owed = root.find("reglement").get("etat") == "impayée"
        totals[root.findtext("fournisseur")] += round(float(root.findtext("total")) * 100) if owed else 0
    return {name: cents / 100 for name, cents in totals.items()}


def without_comments(code: str) -> str:
    return re.sub(r'//.*|"[^"\n]*"', "", code)


def folders(folder: pathlib.Path) -> list[Question]:
    notes, tidepool, invoices = (folder / name for name in ("cuaderno", "tidepool", "factures"))
    mender = random.Random(9300).choice(["Remedios", "Leandro", "Maruja"])
    make_notes(notes, mender)
    data.write_tree(tidepool, TIDEPOOL)
    make_invoices(invoices)
    heads = [path.read_text("utf-8").split("---\n")[1] for path in sorted(notes.rglob("*.md"))]
    owed = unpaid(invoices)
    creditor = data.only_largest(list(owed), owed.get)
    firms = {name: name.split()[-1] for name in owed}

    def ask(where: str, text: str, *wanted, **more) -> Question:
        return Question("folder", (where,), text, wanted, **more)

    return [
        ask("cuaderno", "¿Quién cambió la correa de la persiana?", mender, rivals=("Abel", "Marga")),
        ask("cuaderno", "¿Cuántas notas llevan la etiqueta huerto y tienen el estado pendiente?",
            sum(re.search(r"^etiquetas:.*\bhuerto\b", one, re.M) is not None and "estado: pendiente\n" in one
                for one in heads)),
        ask("tidepool", "Which environment variable sets the log level?",
            re.search(r'level = env::var\("(\w+)"', TIDEPOOL["src/log.rs"])[1], rivals=("TIDE_PORT", "TIDE_DEBUG")),
        ask("tidepool", "How many of the .rs files really have an unsafe block in their code? Comments and strings do "
            "not count.", sum(re.search(r"\bunsafe \{", without_comments(text)) is not None
                              for name, text in TIDEPOOL.items() if name.endswith(".rs"))),
        ask("factures", "À quel fournisseur devons-nous le plus d'argent, si l'on additionne ses factures impayées ?",
            firms[creditor], also=(owed[creditor],), rivals=others(firms.values(), firms[creditor])),
        ask("factures", "Quel est le numéro de téléphone de Verrerie Roux ?", absent=True),
    ]


# (file, field, question, kind asked for, {kind: texts})
JUDGED = [
    ("opinie-hotel.csv", "opinia", "W ilu opiniach gość skarży się na hałas?", "hałas", {
        "hałas": texts("""
Za ścianą ktoś do trzeciej rano śpiewał, nie zmrużyłam oka. / Okna wychodzą na tory i co kwadrans dudni pociąg.
Winda tak wyje, że budzi całe piętro. / Pod oknem dyskoteka, bas czuć było w poduszce.
O szóstej śmieciarka, o siódmej młot pneumatyczny. / Sąsiedzi trzaskali drzwiami przez całą noc.
Klimatyzacja buczy jak traktor. / Psy w podwórzu szczekały bez przerwy.
Ściany z papieru, słyszałem każde słowo z sąsiedniego pokoju."""),
        "inne": texts("""
Śniadanie zimne, a jajecznica z proszku. / W łazience grzyb i urwana słuchawka prysznica.
Cisza jak makiem zasiał, ale materac zapadnięty. / Recepcjonista był nieuprzejmy.
Doliczono nam opłatę, o której nikt nie wspomniał. / W pokoju zimno, kaloryfer nie działał.
Piękny widok na jezioro i wygodne łóżko. / Ręczniki brudne, pościel też. / Parking ciasny i drogi.
Obsługa przemiła, wrócimy za rok. / Wi-Fi nie działało ani przez chwilę. / Pokój dużo mniejszy niż na zdjęciach.
Kolacja wyśmienita, zwłaszcza pstrąg."""),
     }),
    ("toiawase.jsonl", "本文", "返品または返金を求めている問い合わせは何件ありますか。", "返品", {
        "返品": texts("""
サイズが合わないので送り返したいです。 / 届いた皿が割れていました。代金を返してください。
色が写真と違うので、返品の手続きを教えてください。 / 二つ注文したのに二重に請求されました。一件分のお金を戻してほしいです。
買ったばかりの時計が動きません。返金をお願いします。 / 贈り物にするつもりでしたが不要になりました。お返しできますか。
間違えて同じ本を買ってしまいました。一冊返品させてください。 / 味が好みでなかったので、未開封の分を引き取って返金してください。"""),
        "その他": texts("""
荷物はいつ届きますか。 / 領収書の宛名を会社名にしてください。 / 青色の在庫はありますか。
店の営業時間を教えてください。 / 電池は何を使いますか。 / 住所が変わったので登録を直したいです。
パスワードを忘れてしまいました。 / この鍋は電磁調理器で使えますか。 / 海外への発送はできますか。
とても気に入りました。ありがとうございます。 / 包装紙の柄は選べますか。 / 説明書をなくしたので送ってもらえますか。
次の入荷はいつ頃でしょうか。"""),
     }),
    ("respostas.csv", "mensagem", "Em quantas das mensagens alguém diz que não vem à festa?", "não", {
        "não": texts("""
Que pena, nesse fim de semana estou no Porto a trabalhar.
Infelizmente tenho de recusar, a minha mãe é operada na véspera.
Adorava, mas vou ficar em casa com os miúdos doentes. / Desta vez não contem connosco.
Já tinha bilhetes para o teatro nesse dia, fica para a próxima. / Parti o pé, não saio do sofá até junho.
Agradeço o convite, mas não poderei estar presente."""),
        "sim": texts("""
Claro que vou, levo a sobremesa! / Contem com três de nós. / Lá estarei, nem que chova.
Chego um pouco atrasada, mas chego. / Eu e o Rui confirmamos. / Vou, e levo a guitarra.
Não perdia isso por nada deste mundo! / Com muito gosto, até sábado. / Presente! Preciso é de boleia para aí.
A Lurdes disse que sim, e eu também. / Não faltamos, já comprámos o vinho. / Mas é claro, até já escolhi o vestido.
Apareço depois do jantar e fico até ao fim."""),
     }),
    ("voicemail.ndjson", "transcript", "How many of the callers want to make, move or cancel an appointment?",
     "appointment", {
        "appointment": texts("""
Hi, could I come in some time next week for a cut and colour? / It's Dana, I can't make it at four, is five all right?
Please take me off the list for Thursday, I'm in bed with a fever.
Do you have a slot free for my two boys on Saturday?
I'm booked in for Tuesday but I'd rather come on Friday. / My train is cancelled, so scrap my two o'clock, sorry.
Put me down for the usual, first thing on Monday, please. / I'd like to see Carla again, any afternoon would do.
Something has come up, can we push tomorrow's visit to the week after?"""),
        "other": texts("""
I think I left my umbrella by the door. / How much is a beard trim these days?
Do you sell that conditioner in big bottles?
Just ringing to say my hair looks wonderful, thank you. / Are you open on the bank holiday?
This is the electricity company about your meter. / My scalp has been itching since the dye, is that normal?
You charged my card twice, I'd like that put right. / Is there anywhere to park near you?
I'm looking for work, I have three years' experience as a stylist. / Your sign has fallen down outside.
Do you take vouchers from other salons? / The towels you ordered are ready at the laundry."""),
     }),
    ("schadensmeldungen.csv", "meldung", "Wie viele der Meldungen betreffen einen Defekt am Fahrrad und nicht am Auto?",
     "fahrrad", {
        "fahrrad": texts("""
Beim Treten springt mir ständig die Kette ab. / Der Sattel rutscht nach unten, sobald ich mich setze.
Das Hinterrad hat eine Acht, drei Speichen sind gebrochen. / Die Klingel am Lenker tut keinen Ton mehr.
Die Pedale knackt bei jeder Umdrehung. / Am Gepäckträger ist eine Strebe durchgebrochen.
Der Nabendynamo liefert keinen Strom. / Der Kettenschutz schleift am Hosenbein.
Das Schloss am Rahmen geht nicht auf, ich habe es vom Ständer heimgetragen. / Das Lenkerband löst sich."""),
        "auto": texts("""
Der Scheibenwischer schmiert nur noch. / Beim Anlassen orgelt der Motor und springt nicht an.
Die Kupplung rutscht am Berg, und es riecht verbrannt. / Die Airbagleuchte geht nicht mehr aus.
Das Fenster auf der Beifahrerseite bleibt unten. / Aus dem Auspuff kommt weißer Qualm.
Der Kofferraum lässt sich nicht mehr verriegeln. / Die Sitzheizung wird nur links warm.
Der Rückwärtsgang kracht. / Das Kühlwasser ist nach fünfzig Kilometern weg. / Der Anlasser klickt bloß.
Die Anhängerkupplung lässt sich nicht einhängen."""),
     }),
    ("titulares.jsonl", "titular", "¿Cuántos de los titulares son de deportes?", "deportes", {
        "deportes": texts("""
La portera detiene dos penaltis y mete a las suyas en la final. / El Baskonia remonta veinte puntos en el último cuarto.
Un ciclista de Ávila gana la etapa reina en solitario. / El ascenso se escapa en el tiempo añadido.
La nadadora gallega baja de los dos minutos en mariposa.
Sancionado con tres partidos el central que agredió al árbitro.
La tenista se retira del torneo por una lesión de muñeca."""),
        "otros": texts("""
El pleno aprueba subir el recibo del agua. / Aparece en un desván un cuadro perdido de hace tres siglos.
La vendimia empieza con dos semanas de adelanto. / Detenido por robar el cobre de las farolas.
El tren a la costa volverá a circular en junio. / Los médicos de la comarca piden refuerzos para el verano.
Una novela sobre la emigración gana el premio de la crítica. / Cortada la carretera del puerto por la nieve.
El paro baja por cuarto mes consecutivo. / Abre el primer cine de la ciudad en veinte años.
Los vecinos protestan contra la antena. / La fábrica de azulejos contratará a cuarenta personas.
Un apagón deja sin luz a tres barrios."""),
     }),
]


LUZ = """Fatura de eletricidade n.º 88214                      Casa Verde Energia

Cliente: Graça Monteiro                      Contrato: 5501973
Período: 4 de junho a 3 de julho

Leitura anterior    14 208 kWh
Leitura atual       14 471 kWh
Consumo             263 kWh

Energia             44,71 EUR
Potência            11,90 EUR
Imposto             13,02 EUR
Total a pagar       69,63 EUR

Débito direto a 22 de julho. Avarias: 800 100 900, a qualquer hora.
"""

BASEN = """Pływalnia miejska "Delfin" - cennik

                    dni robocze    sobota i niedziela
Bilet normalny         18 zł              23 zł
Bilet ulgowy           12 zł              16 zł
Bilet rodzinny         41 zł              52 zł
Sauna (dopłata)        14 zł              19 zł

Bilet ważny jest 90 minut. Za każdą rozpoczętą minutę dłużej dopłata 50 groszy. Dzieci do lat 3 wchodzą za darmo.
Wymiana wody: 2-9 września, pływalnia nieczynna.
"""

GOMI = """ひばり台自治会　ごみの出し方

燃えるごみ　　　　火曜日・金曜日
びん・缶　　　　　第二・第四水曜日
新聞・段ボール　　第一土曜日
プラスチック　　　月曜日

朝八時までに出してください。収集所の掃除当番は九月が三班、十月が四班です。粗大ごみは市役所に電話してください。
猫よけの網は必ず元に戻すこと。
"""

AUSHANG = """Liebe Mieterinnen und Mieter,

der Aufzug in der Wielandstraße 9 wird vom 6. bis zum 17. Oktober erneuert. In dieser Zeit hilft Herr Pohl vom
Hausmeisterdienst beim Tragen; bitte einen Tag vorher bei Frau Zander im Büro anmelden. Wer nicht mehr gut zu Fuß
ist, kann für die zwei Wochen in die Gästewohnung im Erdgeschoss ziehen, den Schlüssel dazu hat Familie Amin im
ersten Stock. Die Heizung wird erst im November abgelesen. Die Waschküche bleibt offen.

Ihre Hausverwaltung Brehm & Co.
"""

CONVOCATION = """Association des parents d'élèves, école Jules-Ferry

Assemblée générale le jeudi 9 octobre à 20 h 15, au préau.
Ordre du jour : rapport de la trésorière (Mme Costa), élection du bureau, kermesse du 13 juin.
Le président, M. Haddad, ne se représente pas. La cotisation passe de 12 à 14 euros par famille.
Garde des enfants sur place, sur inscription auprès de Solène Picard. Chacun apporte une boisson.
"""

PRESUPUESTO = """Presupuesto 318/25 - Fontanería Hermanos Ruano

Para: doña Pilar Aguado, calle del Olmo 14, 2.º B

  Retirar la bañera                       180 €
  Plato de ducha, 120 x 80                265 €
  Grifo termostático                      142 €
  Mano de obra, 11 horas                  396 €
  Escombros                                60 €
  Total (sin IVA)                        1043 €

Validez: 30 días. Pago: la mitad por adelantado. Garantía de la obra: dos años.
Atiende: Julián Ruano.
"""

CRONTAB = """# m h dom mon dow command
MAILTO=ops@depot.example
*/10 * * * *   /opt/depot/probe.sh
5 * * * *      /opt/depot/rotate.sh --keep 14
30 2 * * *     /opt/depot/backup.sh
15 6 * * 1-5   /opt/depot/report.sh
45 3 * * 0     /opt/depot/prune.sh
0 4 1 * *      /opt/depot/invoice.sh
#20 4 * * 6    /opt/depot/defrag.sh
"""

THREAD = """From: Petra    To: Sam, Olu, Greg    Monday 09:12
The cottage is ours from Friday. Somebody has to collect the keys from the farm before six. Greg, could you?

From: Greg     Monday 09:40
I can do that, I'm driving up early anyway. I'll bring the logs as well.

From: Olu      Monday 12:03
I'm doing the food for Friday night. Sam has the maps.

From: Greg     Tuesday 18:30
Bad news, my car is at the garage until Saturday, so no keys from me. I'll take the train with Petra.

From: Sam      Tuesday 18:52
Then leave the keys to me, I pass the farm at five. Olu, can you take Greg's logs?

From: Petra    Tuesday 19:10
Perfect, thanks. Train gets in at 19:44.
"""

LEAGUE = """Tamar Valley walking football, final table

                    P   W   D   L   GF  GA  Pts
Calstock Amblers   14   9   3   2   31  17   30
Gunnislake         14   9   2   3   38  22   29
Bere Rovers        14   6   6   2   20  14   24
Tavy Striders      14   6   3   5   29  27   21
Lamerton Old Boys  14   5   4   5   24  21   19
Horrabridge        14   3   5   6   17  25   14
Milton Abbots      14   2   4   8   16  30   10
Weir Quay          14   1   3  10   12  31    6

Weir Quay are relegated. The final of the cup is played on 3 May.
"""

PROTO = """syntax = "proto3";

package ferry.v1;

enum Deck {
  DECK_UNKNOWN = 0;
  DECK_CAR = 1;
  DECK_FOOT = 2;
}

message Vehicle {
  string plate = 1;
  uint32 length_cm = 2;
  uint32 height_cm = 3;
}

message Booking {
  string id = 1;
  string sailing = 2;
  Deck deck = 3;
  repeated string passengers = 4;
  // was: string coupon = 5;
  reserved 5;
  optional Vehicle vehicle = 6;
  bool insured = 7;
}

message Sailing {
  string id = 1;
  string from = 2;
  string to = 3;
  int64 departs = 4;
}
"""

UNITS = {
    "backup.timer": "[Unit]\nDescription=Nightly copy\n\n[Timer]\nOnCalendar=*-*-* 02:10:00\nPersistent=true\n",
    "backup.service": "[Unit]\nDescription=Copies the photos\n\n[Service]\nType=oneshot\nExecStart=/opt/home/backup\n",
    "scrub.timer": "[Unit]\nDescription=Scrub the disks\n\n[Timer]\nOnCalendar=monthly\nPersistent=true\n"
                   "RandomizedDelaySec=3h\n",
    "scrub.service": "[Unit]\nDescription=Scrub\n# Persistent=true belongs into the timer\n\n[Service]\nType=oneshot\n"
                     "ExecStart=/opt/home/scrub\n",
    "weather.timer": "[Unit]\nDescription=Fetch the forecast\n\n[Timer]\nOnUnitActiveSec=20min\nPersistent=false\n",
    "cat-door.timer": "[Unit]\nDescription=Lock the cat door\n\n[Timer]\nOnCalendar=*-*-* 21:30:00\n#Persistent=true\n",
    "radio.timer": "[Unit]\nDescription=Record the concert\n\n[Timer]\nOnCalendar=Sun 20:03\nPersistent=true\n",
}


def shorts(folder: pathlib.Path) -> list[Question]:
    for name, text in {"fatura-luz.txt": LUZ, "cennik.txt": BASEN, "gomi.txt": GOMI, "aushang.txt": AUSHANG,
                       "convocation.txt": CONVOCATION, "presupuesto.txt": PRESUPUESTO, "crontab": CRONTAB,
                       "cottage-mails.txt": THREAD, "final-table.txt": LEAGUE, "ferry.proto": PROTO}.items():
        (folder / name).write_text(text, "utf-8")
    data.write_tree(folder / "units", UNITS)
    jobs = {job[5].split("/")[-1]: job[4] for line in CRONTAB.splitlines()[2:]
            if not line.startswith("#") and (job := line.split(None, 6))}
    weekly = data.only([name for name, day in jobs.items() if day.isdigit()])
    against = {line[:18].strip(): int(line.split()[-2]) for line in LEAGUE.splitlines() if re.search(r" 14 ", line)}
    tightest = data.only_largest(list(against), lambda name: -against[name])
    booking = re.search(r"message Booking \{\n(.*?)\n\}", PROTO, re.S)[1].splitlines()
    reduced = re.search(r"^Bilet ulgowy +(\d+) zł +(\d+) zł$", BASEN, re.M)
    collector = re.findall(r"From: (\w+) .*\n.*leave the keys to me", THREAD)[-1]

    def ask(where: str, text: str, *wanted, **more) -> Question:
        return Question("short", (where,), text, wanted, **more)

    return [
        ask("fatura-luz.txt", "Quantos kWh foram consumidos neste período?", int(re.search(r"Consumo +(\d+)", LUZ)[1])),
        ask("cennik.txt", "Ile złotych kosztuje bilet ulgowy w niedzielę?", int(reduced[2])),
        ask("gomi.txt", "びんと缶は何曜日に出せますか。", re.search(r"びん・缶.*?(.曜)日", GOMI)[1],
            rivals=("月曜", "火曜", "木曜", "金曜", "土曜", "日曜")),
        ask("aushang.txt", "Bei wem bekomme ich den Schlüssel für die Gästewohnung?",
            re.search(r"Schlüssel dazu hat Familie (\w+)", AUSHANG)[1], rivals=("Pohl", "Zander", "Brehm")),
        ask("aushang.txt", "Was kostet die Erneuerung des Aufzugs?", absent=True),
        ask("convocation.txt", "Qui est candidat pour succéder au président ?", absent=True),
        ask("presupuesto.txt", "¿Qué día empiezan las obras?", absent=True),
        ask("crontab", "Which script runs exactly once a week?", weekly, rivals=others(
            (*jobs, "defrag.sh"), weekly)),
        ask("cottage-mails.txt", "Who is going to collect the keys in the end?", collector,
            rivals=("Greg", "Petra", "Olu")),
        ask("final-table.txt", "Which team let in the fewest goals?", tightest, also=(against[tightest],),
            rivals=others(against, tightest)),
        ask("ferry.proto", "How many fields does the message Booking have?",
            sum(re.match(r"  [\w ]+ = \d+;", line) is not None for line in booking)),
        ask("units", "How many of the timers are set to be persistent?",
            sum("\nPersistent=true\n" in text for name, text in UNITS.items() if name.endswith(".timer"))),
    ]


def prepare(folder: pathlib.Path, cache: pathlib.Path) -> list[Question]:
    """Makes the files of this half in an empty folder; returns its questions."""
    return [*tables(folder), *prose(folder, cache), *folders(folder), *data.judged(folder, JUDGED),
            *shorts(folder)]
