"""The held half of the untuned questions. Asked once a release; not for whoever tunes to read.

Same mix as the tune half (untuned_questions.py), other files, other words. If anyone has read a
question of it, or looked at a run of it, before changing a prompt or the engine, the question is
to be replaced: docs/small-models.md.
"""

import collections
import json
import pathlib
import random
import re

import untuned_data as data
from grading import Question


def make_parcels(path: pathlib.Path) -> None:
    rng = random.Random(9301)
    data.write_table(path, [{
        "parcel": f"P{880000 + number}", "depot": rng.choices(
            ["Ghent", "Lille", "Breda", "Aachen", "Trier"], weights=[8, 6, 5, 7, 3])[0],
        "weight_g": rng.randrange(90, 30000), "service": rng.choices(
            ["express", "standard", "economy"], weights=[2, 6, 3])[0],
        "handed_over": data.day(rng, (2023, 2024)),
        "state": rng.choices(["delivered", "damaged", "lost", "returned"], weights=[60, 5, 2, 6])[0],
        "sender": rng.choice(["Quill & Co", "Moss, Hart and Sons", "Ferro", "Lumen"])}
        for number in range(2900)])


def make_races(path: pathlib.Path) -> None:
    rng = random.Random(9302)
    first = ["Odile", "Marek", "Sanna", "Tomas", "Yuki", "Pia", "Reza", "Lotte", "Igor", "Carmen"]
    last = ["Achard", "Bielik", "Dahl", "Erdem", "Falk", "Gallo", "Hoshi", "Jansen", "Kovac", "Lima"]
    people = [f"{one} {two}" for one in first for two in last]
    data.write_table(path, [{
        "runner": person, "club": rng.choice(["Harriers", "Nordstern", "AC Lago", "Tigers"]),
        "heat": heat, "distance_m": 800, "seconds": round(rng.gauss(136, 7), 2), "shoe": rng.choice(
            ["spikes", "flats"])} for heat in range(1, 34) for person in rng.sample(people, 90)])


def make_hotline(path: pathlib.Path) -> None:
    rng = random.Random(9303)
    callers = [f"{rng.randrange(10**6):06d}" for _ in range(410)]
    data.write_lines(path, [{
        "call": number, "received": f"{data.day(rng, (2026,))}T{rng.randrange(7, 20):02d}:15:00",
        "caller": {"id": rng.choice(callers), "region": rng.choice(["north", "south", "east", "west"])},
        "agent": rng.choice(["Nils", "Oona", "Petra", "Quentin", "Rosa"]),
        "topic": rng.choices(["billing", "outage", "moving", "contract"], weights=[7, 4, 2, 5])[0],
        "wait_s": rng.randrange(3, 700), "talk_s": rng.randrange(20, 1500)}
        for number in range(1, 2701)])


def make_vineyards(path: pathlib.Path) -> None:
    rng = random.Random(9304)
    rows = []
    for number in range(1, 1301):
        grape = rng.choices(["riesling", "merlot", "grenache", "chardonnay", "syrah"],
                            weights=[5, 9, 6, 7, 4])[0]
        region = rng.choices(["Mosel", "Douro", "Rioja", "Etna"], weights=[4, 6, 9, 3])[0]
        if region == "Etna" and grape == "syrah":
            grape = "merlot"
        rows.append({"plot": number, "region": region, "grape": grape, "planted": rng.randrange(1951, 2021),
                     "hectares": rng.randrange(2, 140) / 10, "organic": rng.random() < 0.3})
    path.write_text(json.dumps(rows), "utf-8")


def make_index(path: pathlib.Path) -> None:
    """Stanzas as in an archive's index of packages, with folded descriptions."""
    rng = random.Random(9305)
    words = "small fast library viewer for maps sound tables games letters of the network".split()
    stanzas = []
    for number in range(620):
        name = f"{rng.choice(['lib', 'x', 'node-', 'python3-', ''])}{rng.choice(words)}{number}"
        stanzas.append(
            f"Package: {name}\nVersion: {rng.randrange(9)}.{rng.randrange(20)}-{rng.randrange(1, 5)}\n"
            f"Section: {rng.choice(['games', 'sound', 'science', 'admin', 'fonts'])}\n"
            f"Priority: {rng.choices(['optional', 'extra', 'important'], weights=[8, 3, 1])[0]}\n"
            f"Size: {rng.randrange(2000, 900000)}\nTag: role::{rng.choice(['program', 'data'])}\n"
            f"Description: {' '.join(rng.sample(words, 4))}\n {' '.join(rng.choices(words, k=9))}\n"
            f" .\n {' '.join(rng.choices(words, k=7))}\n")
    path.write_text("\n".join(stanzas), "utf-8")


def make_doorway_log(path: pathlib.Path) -> None:
    rng = random.Random(9306)
    lines = []
    for minute in range(8200):
        door = rng.choices(["gate-east", "gate-west", "lab", "archive", "roof"], weights=[9, 8, 4, 3, 1])[0]
        what = rng.choices([
            f"badge {rng.randrange(1000, 1400)} accepted", f"badge {rng.randrange(1000, 1400)} refused",
            "held open too long", "self test passed"], weights=[70, 9, 4, 10])[0]
        lines.append(f"Nov {1 + minute // 480:2d} {8 + minute // 60 % 8:02d}:{minute % 60:02d}:"
                     f"{rng.randrange(60):02d} guard01 doord[{rng.randrange(300, 330)}]: {door}: {what}\n")
    path.write_text("".join(lines), "utf-8")


def make_harbours(path: pathlib.Path) -> None:
    rng = random.Random(9307)
    ships = ["Alcyone", "Brisa", "Cormoran", "Dagmar", "Estrella", "Fulmar", "Gryphon", "Halcyon"]
    loads = iter(rng.sample(range(20, 75), len(ships)))
    path.write_text(json.dumps({"updated": "2026-02-11", "harbours": [
        {"harbour": name, "berths": rng.randrange(4, 20), "ships": [
            {"ship": ship, "flag": rng.choice(["PT", "DK", "MT"]), "containers": [
                {"number": f"XU{rng.randrange(10**6):06d}", "tonnes": rng.randrange(4, 29),
                 "goods": rng.choice(["tiles", "cork", "paper", "fish"])}
                for _ in range(next(loads))]} for ship in ships[at:at + 2]]}
        for at, name in zip(range(0, 8, 2), ["Setubal", "Esbjerg", "Valletta", "Aveiro"])]}), "utf-8")


def make_stock(items: pathlib.Path, sales: pathlib.Path) -> None:
    rng = random.Random(9308)
    codes = [f"{rng.choice('KLMN')}{number}" for number in range(400, 530)]
    data.write_table(items, [{
        "code": code, "label": f"{rng.choice(['blue', 'oak', 'steel', 'mini'])} "
        f"{rng.choice(['jug', 'rack', 'hook', 'tray'])}",
        "department": rng.choice(["kitchen", "garden", "office", "bath"])} for code in codes])
    data.write_table(sales, [{
        "receipt": 31000 + number, "sold_on": data.day(rng, (2024,)), "item": rng.choice(codes),
        "pieces": rng.randrange(1, 13), "till": rng.randrange(1, 5)} for number in range(1500)])


def tables(folder: pathlib.Path) -> list[Question]:
    make_parcels(folder / "parcels.csv")
    make_races(folder / "heats.tsv")
    make_hotline(folder / "hotline.ndjson")
    make_vineyards(folder / "vineyards.json")
    make_index(folder / "index.txt")
    make_doorway_log(folder / "doors.log")
    make_harbours(folder / "harbours.json")
    make_stock(folder / "items.csv", folder / "sales.csv")

    parcels = data.read_table(folder / "parcels.csv")
    heats = data.read_table(folder / "heats.tsv")
    fastest = data.only_largest(heats, lambda row: -float(row["seconds"]))
    flats = [float(row["seconds"]) for row in heats if row["shoe"] == "flats"]
    calls = data.read_lines(folder / "hotline.ndjson")
    plots = json.loads((folder / "vineyards.json").read_text("utf-8"))
    regions = collections.Counter(row["region"] for row in plots)
    index = (folder / "index.txt").read_text("utf-8")
    doors = (folder / "doors.log").read_text("utf-8").splitlines()
    ships = [ship for one in json.loads((folder / "harbours.json").read_text("utf-8"))["harbours"]
             for ship in one["ships"]]
    fullest = data.only_largest(ships, lambda ship: len(ship["containers"]))
    kitchen = {row["code"] for row in data.read_table(folder / "items.csv")
               if row["department"] == "kitchen"}
    sales = data.read_table(folder / "sales.csv")

    def ask(files: str, text: str, *wanted, **more) -> Question:
        return Question("table", tuple(files.split()), text, wanted, **more)

    return [
        ask("parcels.csv", "Count the express parcels that were lost or damaged.",
            sum(row["service"] == "express" and row["state"] in ("lost", "damaged")
                for row in parcels)),
        ask("parcels.csv", "How many parcels did the depot Ghent take in during the second half of "
            "2024, from 1 July on?", sum(row["depot"] == "Ghent" and row["handed_over"] >= "2024-07-01"
                                         for row in parcels)),
        ask("heats.tsv", "Give the mean time in seconds of those who wore flats (two decimals).",
            sum(flats) / len(flats)),
        ask("heats.tsv", "Who ran the fastest time, and what was it in seconds?",
            fastest["runner"], float(fastest["seconds"]),
            also=(int(fastest["heat"]), 800)),
        ask("hotline.ndjson", "From how many distinct callers did calls come in?",
            len({call["caller"]["id"] for call in calls})),
        ask("hotline.ndjson", "Add up the waiting seconds of all calls about an outage.",
            sum(call["wait_s"] for call in calls if call["topic"] == "outage")),
        ask("vineyards.json", "In which region do most of the plots lie?", data.first(regions),
            also=(max(regions.values()), len(plots)),
            rivals=tuple(name for name in regions if name != data.first(regions))),
        ask("vineyards.json", "How many plots on Etna grow syrah?",
            sum(row["region"] == "Etna" and row["grape"] == "syrah" for row in plots)),
        ask("index.txt", "How many entries in section science have the priority optional?",
            sum("\nSection: science\n" in one and "\nPriority: optional\n" in one
                for one in index.split("\n\n"))),
        ask("doors.log", "How often was a badge turned away at the archive?",
            sum(re.search(r": archive: badge \d+ refused$", line) is not None for line in doors)),
        ask("harbours.json", "Which ship carries the largest number of containers?", fullest["ship"],
            also=(len(fullest["containers"]),),
            rivals=tuple(ship["ship"] for ship in ships if ship is not fullest)),
        ask("items.csv sales.csv", "How many pieces did the department kitchen sell in all?",
            sum(int(row["pieces"]) for row in sales if row["item"] in kitchen)),
    ]


def prose(folder: pathlib.Path, cache: pathlib.Path) -> list[Question]:
    data.plant(cache, "fhs", folder / "layout.txt", [
        (0.24, "Seen from the harbour, the chimney of the Varga brickworks looks taller than its "
               "88 metres."),
        (0.47, "When the cooper of Dunmorrow died, his widow found 219 barrels stacked in the barn, "
               "all of them empty."),
        (0.70, "The innkeeper across the road owned 134 barrels and sold every one."),
        (0.88, "Rain fell on all but one day of the fair at Dunmorrow.")])
    data.plant(cache, "maintainers", folder / "guide.txt", [
        (0.31, "Of all the peaks that Ilse Brandauer stood upon in her long life, none was higher "
               "than Mount Kerrigal."),
        (0.55, "Her brother never got beyond the shoulder of Mount Tessaly."),
        (0.68, "Letters for the island are put in order by the postmistress, who does it by the "
               "colour of the ribbon."),
        (0.93, "The ferryman stacks his crates by weight.")])
    data.plant(cache, "reference-de", folder / "referenz-de.txt", [
        (0.14, "Der Schlüssel zur Sternwarte liegt seit dem Umbau bei der Apothekerin Frau Ziegenhals."),
        (0.42, "Den Schlüssel zum Pfarrhaus verwahrt der Küster Lindequist."),
        (0.75, "Bis zum Gipfelkreuz des Hohen Rabensteins sind es vom Forsthaus aus 1364 Stufen.")],
        start=0.35, size=330_000)
    data.plant(cache, "faq-fr", folder / "questions-fr.txt", [
        (0.27, "Le vieux phare de Kermadec fut éteint pour toujours en 1927."),
        (0.51, "Le sémaphore voisin ne cessa de fonctionner qu'en 1958."),
        (0.83, "La comtesse légua sa bibliothèque entière à son jardinier, Anselme Rivoire.")])
    data.plant(cache, "proverbs-es", folder / "refranes-es.txt", [
        (0.33, "La panadera de Robledal amasa cada madrugada 365 barras antes de que cante el gallo."),
        (0.57, "El puente de piedra de Robledal lo levantó el cantero Fermín Aldazábal."),
        (0.78, "El molino de Robledal fue obra de Gaspar Ontiveros.")])
    data.plant(cache, "reference-zh", folder / "xitong-zh.txt", [
        (0.25, "钟楼的顶层一共挂着68盏红灯笼，每逢春节才点亮。"),
        (0.53, "村口的石桥是石匠鲁长庚花了三年修好的。"),
        (0.82, "后山的凉亭由木匠柳青松搭建。")], start=0.6, size=240_000)

    def ask(file: str, text: str, *wanted, **more) -> Question:
        return Question("prose", (file,), text, wanted, **more)

    return [
        ask("layout.txt", "What was the number of casks left behind by the dead barrel maker of "
            "Dunmorrow?", 219),
        ask("layout.txt", "What is the total number of visitors who came to the fair at Dunmorrow?",
            absent=True),
        ask("guide.txt", "Which mountain top was the max that Ilse Brandauer ever climbed?",
            "Kerrigal", rivals=("Tessaly",)),
        ask("guide.txt", "By what does the woman at the post office sort the mail for the island?",
            "ribbon", rivals=("weight",)),
        ask("referenz-de.txt", "Wer hat den Schlüssel, mit dem man ins Observatorium kommt?",
            "Ziegenhals", rivals=("Lindequist",)),
        ask("referenz-de.txt", "Wie viele Stufen steigt man vom Haus des Försters bis ganz nach oben "
            "auf den Hohen Rabenstein?", 1364),
        ask("questions-fr.txt", "En quelle année la lumière du phare de Kermadec a-t-elle cessé de "
            "briller ?", 1927),
        ask("questions-fr.txt", "Qui a hérité des livres de la comtesse ?", "Rivoire"),
        ask("refranes-es.txt", "¿Quién construyó el puente de Robledal?", "Aldazábal",
            rivals=("Ontiveros",)),
        ask("refranes-es.txt", "¿A qué precio vende sus barras la panadera de Robledal?", absent=True),
        ask("xitong-zh.txt", "钟塔最上面一层有多少个灯笼？", 68),
        ask("xitong-zh.txt", "村头那座桥是谁造的？", "鲁长庚", rivals=("柳青松",)),
    ]


KITCHEN_GARDEN = {
    "engine/clock.go": """package engine

const WindowSize = 48

// Tick advances the clock by one window.
func Tick(now int) int { return now + WindowSize }
""",
    "engine/frame.go": """package engine

const FrameWidth = 120

func Area(height int) int { return FrameWidth * height }
""",
    "render/view.rs": """const WINDOW_SIZE: usize = 75;
pub const BORDER: usize = 2;

pub fn inner() -> usize { WINDOW_SIZE - 2 * BORDER }
""",
    "render/panel.rs": """const WINDOW_SIZE: usize = 31;
pub const BORDER: usize = 5;

pub fn panel() -> usize { WINDOW_SIZE + BORDER }
""",
    "render/dialog.rs": """const WINDOW_SIZE: usize = 64;
pub const BORDER: usize = 9;

pub fn dialog() -> usize { WINDOW_SIZE / 2 }
""",
    "plan/beds.py": """BORDER = 14


def rotate_beds(beds):
    return beds[1:] + beds[:1]
""",
    "plan/calendar.py": """from plan.beds import rotate_beds


def next_year(beds):
    return [bed.upper() for bed in rotate_beds(beds)]
""",
    "plan/water.py": """def litres(beds):
    return 12 * len(beds)
""",
    "scripts/backup.sh": "#!/bin/sh\ntar cf beds.tar plan\n",
    "scripts/restore.sh": "#!/bin/sh\ntar xf beds.tar\n",
    "data/seeds.csv": "seed,grams\nkale,12\nleek,9\n",
    "notes.txt": "Ask whether rotate_beds must know the frost dates.\n",
}


def folders(folder: pathlib.Path) -> list[Question]:
    topics = ["anchor", "bread", "candle", "dyeing", "enamel", "felt", "glass", "hemp", "ivory",
              "joinery", "knots", "lace", "mosaic", "needles", "ochre", "paper"]
    data.write_pages(folder / "crafts", 9406, [f"{topic}{part}.txt" for topic in topics
                                              for part in ("", "-history")], [
        "The master", "An apprentice", "Every workshop", "A careful hand", "The guild",
        "A pedlar from the coast", "The oldest book"], [
        "begins with clean water", "keeps the tools in a dry chest", "pays for the coal in autumn",
        "forbids work by moonlight", "uses a bone knife for the edges", "waits until the third day",
        "sells the second choice at the gate", "measures twice and cuts once"], {
        "ochre-history.txt": "In the year of the flood a monk named Wulfric fell into the red vat.",
        "lace.txt": "Rinse it with vinegar.", "glass-history.txt": "The guild once paid in vinegar.",
        "hemp.txt": "Never store it beside vinegar.", "enamel.txt": "A drop of vinegar clears the pan.",
        "needles-history.txt": "Rust gives way to vinegar."})
    data.write_tree(folder / "garden", KITCHEN_GARDEN)
    crafts, garden = folder / "crafts", folder / "garden"
    pages = sorted(crafts.iterdir())
    longest = data.only_largest(pages, lambda path: len(path.read_text("utf-8")))

    def ask(where: str, text: str, *wanted, **more) -> Question:
        return Question("folder", (where,), text, wanted, **more)

    return [
        ask("crafts", "In which file does a monk have an accident?",
            pathlib.Path(data.only(data.files_with(crafts, "monk"))).stem),
        ask("crafts", "In how many files does vinegar occur?", len(data.files_with(crafts, "vinegar"))),
        ask("crafts", "Name the file with the most characters.", longest.stem,
            also=(len(longest.read_text("utf-8")),),
            rivals=tuple(path.name for path in pages if path != longest)),
        ask("garden", "To what is the constant WINDOW_SIZE set in render/panel.rs?", 31),
        ask("garden", "Where is the function rotate_beds defined?",
            data.only(data.files_with(garden, "def rotate_beds")), also=(4,),
            rivals=("calendar.py", "notes.txt")),
        ask("garden", "How many Rust files (.rs) are in there?", len(list(garden.rglob("*.rs")))),
    ]


# (file, field, question, kind asked for, {kind: texts})
JUDGED = [
    ("guestbook.ndjson", "entry", "How many of the entries praise the hotel rather than criticise it?",
     "praise", {
        "praise": ["We slept like stones, what a bed!",
                   "The view over the bay alone is worth the journey.",
                   "Breakfast was a feast and the staff remembered our names.",
                   "Spotless rooms and a garden full of roses.",
                   "Next summer we return with the grandparents.",
                   "The porter carried my mother up the stairs, such kindness."],
        "blame": ["The carpet was sticky and the window would not shut.",
                  "At three in the morning the lift still rumbled behind my pillow.",
                  "No hot water on either day, and no apology.",
                  "They charged us for a minibar that was empty.",
                  "Mould in the shower, crumbs in the bed.",
                  "The photographs on the website must be of another house.",
                  "Half an hour for a cup of lukewarm coffee.",
                  "Our room looked onto the bins.", "I would rather sleep in my car.",
                  "The key card failed four times.", "Somebody smoked in our room before us.",
                  "The pool has been closed since spring, as we learned on arrival."]}),
    ("dishes.csv", "recipe", "How many of the recipes are sweet rather than savoury?", "sweet", {
        "sweet": ["Fold the raspberries into whipped cream and sugar.",
                  "Melt the chocolate, stir in honey and pour over the sponge.",
                  "Fill the pancakes with apricot jam.", "Poach the pears in syrup with vanilla."],
        "savoury": ["Fry the onions, add minced lamb and cumin.",
                    "Rub the trout with salt and dill.", "Simmer lentils with bacon and bay leaf.",
                    "Stuff the peppers with rice and feta.", "Braise the cabbage in beef stock.",
                    "Crush garlic and anchovies for the dressing.",
                    "Top the dough with tomatoes and ham.", "Grill the aubergines with olive oil.",
                    "Boil the potatoes and serve with herring.",
                    "Season the goulash with hot paprika.", "Whisk eggs with chives and mushrooms."]}),
    ("pinboard.ndjson", "slip", "How many of the slips report something lost rather than something "
     "found?", "lost", {
        "lost": ["My grey cat has not come home since Sunday.",
                 "Has anyone seen a child's red scooter? It was gone after lunch.",
                 "I dropped my wedding ring somewhere near the pier.",
                 "A violin in a black case stayed on the evening bus, please call me.",
                 "Our parrot flew out of the kitchen window.",
                 "My glasses are missing since the choir practice.",
                 "I must have left my purse on a bench in the park.",
                 "Where is my blue umbrella? Reward.",
                 "The hearing aid of my grandfather fell out during the walk.",
                 "My passport slipped out of my coat in the market hall."],
        "found": ["A bunch of keys with a wooden fish waits for its owner at the kiosk.",
                  "Picked up one leather glove by the fountain, ask at number nine.",
                  "A brown dog without a collar has followed me home.",
                  "Somebody's phone lay in our hedge, come and get it.",
                  "This earring was between the cinema seats."]}),
    ("cover.csv", "paragraph", "How many of the applicants have long experience rather than being "
     "beginners?", "experienced", {
        "experienced": ["For twenty-two years I have built stairs in three countries.",
                        "Since 2001 I lead the wards of a large hospital.",
                        "In three decades as a captain I never lost a cargo.",
                        "I trained more than forty apprentices in my own forge.",
                        "After eighteen years at the stove I know every sauce."],
        "beginner": ["I finish school this June and am eager to learn.",
                     "This would be my first position after the exam.",
                     "I have never worked in an office, but I learn fast.",
                     "Fresh from university, I look for a place to start.",
                     "As a newcomer to the trade I hope for your guidance.",
                     "So far I only helped my aunt in her shop on two Saturdays.",
                     "My training ended last week.", "I want to enter this profession from scratch.",
                     "Until now I have no practice, yet much curiosity."]}),
    ("dispatch.ndjson", "headline", "How many of the headlines are about sport rather than politics?",
     "sport", {
        "sport": ["Striker signs for four more seasons", "Late goal sends the visitors home empty-handed",
                  "Swimmer breaks her own record in the relay", "Coach dismissed after sixth defeat",
                  "Marathon won in the last hundred metres", "Underdogs reach the cup final",
                  "Injured goalkeeper out until spring", "Cyclist keeps yellow jersey in the mountains",
                  "Skier takes second gold", "Rain stops play on the third day",
                  "Young gymnast stuns the judges"],
        "politics": ["Minister defends new tax on fuel", "Coalition talks collapse after midnight",
                     "Senate delays vote on border law", "Opposition demands early election",
                     "President vetoes the housing bill", "Treaty signed after ten years of talks",
                     "Cabinet reshuffle surprises both chambers"]}),
    ("mailbox.csv", "mail", "How many of the mails ask about the price rather than about opening "
     "hours?", "price", {
        "price": ["What does a ticket for two adults cost?",
                  "Is there a discount for groups of ten?",
                  "How much do I have to pay for the guided tour?"],
        "hours": ["Are you open on Whit Monday?", "Until when may one enter in the evening?",
                  "At what time do you close on Fridays?", "Do you shut over lunch?",
                  "From which hour can we come in on Sunday?", "Is the museum open between the years?",
                  "When does the gate open in winter?", "Can we still get in at half past five?",
                  "Which days of the week are you closed?",
                  "Does the late opening on Thursday go on in August?"]}),
]


def prepare(folder: pathlib.Path, cache: pathlib.Path) -> list[Question]:
    """Makes the files of this half in an empty folder; returns its questions."""
    return [*tables(folder), *prose(folder, cache), *folders(folder),
            *data.judged(folder, JUDGED)]
