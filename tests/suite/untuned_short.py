"""Questions over small contexts, to tune on: they fit one plain call, where nothing is computed."""

import pathlib

import untuned_data as data
from grading import Question

LETTER = """Dear Ines,

the moving van comes on Tuesday the 14th at half past seven, not on Monday as I wrote before. The
man who drives it is called Teodor; his brother Anselm drove last time. Please have the piano ready:
it weighs 310 kilograms with its frame, 245 without. The key to the cellar lies under the third
flower pot, the key to the attic hangs in the kitchen. The landlord wants the deposit of 1,850 by
the end of the month, and he gives back 400 of it if we paint the hall.

Your aunt
Magdalena
"""

MINUTES = """# Minutes of the sailing club, 3 May

Present: Bo Lindqvist (chair), Farah Aziz, Tom Okafor, Judith Klein, Pavel Horak.

1. The jetty. Horak reported that eleven planks are rotten. Aziz obtained two offers: 2,300 from the
   joiner in Arnis and 1,950 from the yard in Kappeln. The club takes the offer from Arnis, because
   the yard cannot start before August.
2. The youth boats. Klein asked for two new sails. Agreed, at most 700.
3. The summer party is on 21 June. Okafor brings the grill; Lindqvist asks the band.
4. Fees stay as they are: 120 a year for adults, 45 for children.

Next meeting: 7 June, at the house of Farah Aziz.
"""

BRIEF = """Sehr geehrte Frau Doktor Hinrichs,

die Probe aus dem Moorsee wurde am 9. März um 6.40 Uhr genommen, die aus dem Waldteich erst am
11. März. Im Moorsee fanden wir 34 Milligramm Nitrat je Liter, im Waldteich 12. Herr Brandes hat die
Proben gekühlt, Frau Ohlsen hat sie ins Labor nach Eutin gebracht. Das Gutachten kostet 480 Euro.

Mit freundlichen Grüßen
Wiebke Thomsen
"""

LETTRE = """Chère Odile,

la fête aura lieu dans la grange de Marceau et non dans celle de Firmin, dont le toit fuit. Il y aura
quarante-deux invités, dont neuf enfants. Le boulanger livre le pain à 18 heures, le fromager passe
à midi. Bastien jouera de l'accordéon et Solène chantera. Apporte ta nappe bleue, la blanche est
tachée.

Je t'embrasse, Ghislaine
"""

RECIPE = """Plum cake for a tin of 26 cm

Beat 180 g of butter with 150 g of sugar. Add four eggs, one after the other. Stir in 250 g of flour,
a pinch of salt and two spoons of rum. Halve 800 g of plums and lay them on the dough. Bake for 55
minutes at 170 degrees on the lower shelf, then 5 minutes at 200 degrees for the colour.
For a tin of 20 cm take two thirds of everything and bake for 40 minutes.
"""

CONFIG = """[server]
listen = "127.0.0.1:8440"
workers = 6
idle_timeout = 90

[upstream.search]
address = "10.0.4.7:9200"
timeout = 12
retries = 3

[upstream.billing]
address = "10.0.4.9:7001"
timeout = 45
retries = 1

[upstream.images]
address = "10.0.4.12:8080"
timeout = 12
retries = 5

[log]
level = "warning"
keep_days = 21
"""

ROBOT = {
    "arm/joint.py": "MAX_ANGLE = 135\nSTEP = 3\n\n\ndef turn(joint, angle):\n"
                    "    joint.angle = min(MAX_ANGLE, joint.angle + angle)  # TODO: lower limit\n",
    "arm/grip.py": "MAX_FORCE = 40\n\n\ndef close_grip(hand):\n    while hand.force < MAX_FORCE:\n"
                   "        hand.squeeze()\n",
    "arm/wrist.py": "MAX_ANGLE = 90\n\n\ndef twist(wrist, angle):\n"
                    "    wrist.angle = min(MAX_ANGLE, angle)\n",
    "drive/wheel.py": "MAX_SPEED = 12\nSTEP = 5\n\n\ndef roll(wheel, speed):\n"
                      "    # TODO: brake softly\n    wheel.speed = min(MAX_SPEED, speed)\n",
    "drive/route.py": "from drive.wheel import roll\n\n\ndef follow(route, wheels):\n"
                      "    for speed in route:\n        for wheel in wheels:\n"
                      "            roll(wheel, speed)\n",
    "settings.ini": "[arm]\nmax_angle = 120\n[drive]\nmax_speed = 10\n",
    "notes.md": "# Robot\n\nThe wrist must not pass 90 degrees. The wheel slips above 12.\n",
}

MAILS = {
    "01-offer.txt": "From: Rosalind\nTo: Kaspar\nDate: 2 September\n\nWe can deliver 60 chairs at 38 "
                    "each, or 90 chairs at 34 each. The tables would cost 210 each.\n",
    "02-question.txt": "From: Kaspar\nTo: Rosalind\nDate: 4 September\n\nWe need 75 chairs. Would you "
                       "give us the lower price? And can you deliver before the 20th?\n",
    "03-answer.txt": "From: Rosalind\nTo: Kaspar\nDate: 5 September\n\nFor 75 I can do 36 each. "
                     "Delivery is on the 18th, by Bernd, in the morning.\n",
    "04-order.txt": "From: Kaspar\nTo: Rosalind\nDate: 5 September\n\nAgreed, 75 chairs at your price "
                    "and no tables. The bill goes to Leonie in the office.\n",
}

PRICES = """Our workshop mends bicycles. A new chain is 29, with a new cassette it is 64. Truing a wheel
costs 18, a new tube 9. A brake cable is 7; hydraulic brakes are bled for 35. We are closed on
Wednesdays. A bicycle that is brought before ten is ready the same evening, except on Saturdays.
"""


def prepare(folder: pathlib.Path) -> list[Question]:
    for name, text in {"letter.txt": LETTER, "minutes.md": MINUTES, "brief.txt": BRIEF,
                       "lettre.txt": LETTRE, "cake.txt": RECIPE, "proxy.toml": CONFIG,
                       "prices.txt": PRICES}.items():
        (folder / name).write_text(text, "utf-8")
    data.write_tree(folder / "robot", ROBOT)
    data.write_tree(folder / "chairs", MAILS)
    robot = folder / "robot"

    def ask(where: str, text: str, *wanted, **more) -> Question:
        return Question("short", (where,), text, wanted, **more)

    return [
        ask("letter.txt", "Who drives the moving van this time?", "Teodor", rivals=("Anselm",)),
        ask("letter.txt", "How much does the piano weigh without its frame?", 245),
        ask("letter.txt", "Where is the key to the attic?", "kitchen", rivals=("flower pot",)),
        ask("letter.txt", "What is the landlord's name?", absent=True),
        ask("minutes.md", "Which offer for the jetty did the club take, in money?", 2300),
        ask("minutes.md", "How many people were present?", 5),
        ask("minutes.md", "Who asks the band?", "Lindqvist", rivals=("Okafor", "Klein", "Aziz")),
        ask("minutes.md", "What did the last summer party cost?", absent=True),
        ask("brief.txt", "Wer hat die Proben in das Labor gebracht?", "Ohlsen", rivals=("Brandes",)),
        ask("brief.txt", "Wie viel Milligramm Nitrat je Liter enthielt der Waldteich?", 12),
        ask("lettre.txt", "Combien d'adultes sont invités ?", 33),
        ask("lettre.txt", "Dans quelle grange aura lieu la fête ?", "Marceau", rivals=("Firmin",)),
        ask("cake.txt", "How long does the cake in the small tin bake, in minutes?", 40),
        ask("cake.txt", "How many grams of almonds does the cake need?", absent=True),
        ask("proxy.toml", "What is the timeout of the billing upstream?", 45),
        ask("proxy.toml", "Which upstream has the most retries?", "images",
            rivals=("search", "billing")),
        ask("robot", "What is MAX_ANGLE in arm/wrist.py?", 90),
        ask("robot", "Which file defines the function close_grip?", "grip.py",
            rivals=("joint.py", "wrist.py", "wheel.py", "route.py")),
        ask("robot", "How many of the Python files contain a TODO?",
            len(data.files_with(robot, "TODO"))),
        ask("robot", "How many Python files are there?", len(list(robot.rglob("*.py")))),
        ask("chairs", "What price for each chair was agreed in the end?", 36),
        ask("chairs", "Who receives the bill?", "Leonie", rivals=("Kaspar", "Rosalind", "Bernd")),
        ask("chairs", "How many mails did Kaspar write?", len(data.files_with(folder / "chairs",
                                                                            "From: Kaspar"))),
        ask("prices.txt", "How much more is a chain with a cassette than a chain alone?", 35),
    ]
