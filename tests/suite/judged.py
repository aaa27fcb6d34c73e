#!/usr/bin/env python3
"""Judged counts that no prompt was tuned on: eight questions over short texts written for this file.

usage: judged.py --dossier PATH [--seed N] [--only NAME] [-- FLAGS of dossier ask]

Each set holds two or three kinds of text; the question asks how many are of one kind. An answer is
right within a tenth of the texts, rounded up. Whoever tunes prompts on these questions says so in
docs/small-models.md and writes new ones.
"""

import argparse
import pathlib
import sys
import tempfile

import questions
import run
import untuned_data

# name: (file, field, question, kind asked for, {kind: texts})
SETS = {
    "reports": ("reports.ndjson", "body", "How many of the reports ask for a new feature?", "feature", {
        "feature": ["Please add a dark theme for night shifts.",
                    "It would be great to export the table as a spreadsheet.",
                    "I wish I could undo more than one step.",
                    "Could you support a second language for the menus?",
                    "A search box above the list would save us hours.",
                    "We would love keyboard shortcuts for the toolbar.",
                    "Let me group my projects into folders, please."],
        "bug": ["The window closes by itself when I press save.",
                "Since the update the login page stays blank.",
                "Totals are wrong whenever a row has a negative amount.",
                "The app crashes as soon as I turn the phone.",
                "Printing gives three empty pages and then an error.",
                "My settings are forgotten after every restart.",
                "The second tab shows the data of the first one.",
                "Uploading a photo hangs at ninety percent for ever.",
                "The clock in the corner is two hours behind.",
                "Umlauts in names turn into question marks.",
                "Clicking delete removes the wrong line."]}),
    "notices": ("notices.csv", "notice", "How many of the notices are about road traffic rather than the weather?",
                "traffic", {
        "traffic": ["Two lanes of the ring motorway are closed after a lorry overturned.",
                    "Expect a jam of six kilometres before the river bridge.",
                    "Road works on Mill Street until Friday, follow the diversion.",
                    "A broken traffic light at the station crossing slows all cars.",
                    "The tunnel reopens at noon after a car fire.",
                    "Slow-moving vehicles on the northern bypass this morning.",
                    "Drivers should avoid the stadium area because of the match.",
                    "An accident with three cars blocks the exit to the airport.",
                    "Parking on both sides of Oak Avenue is forbidden today.",
                    "A bus has broken down in the left lane of High Street."],
        "weather": ["Heavy showers move in from the west this afternoon.",
                    "Night frost down to minus six degrees in the valleys.",
                    "Sunny and warm with a light breeze until the weekend.",
                    "Thunderstorms with hail are possible after sunset.",
                    "Dense fog in the morning, clearing slowly.",
                    "Snow above eight hundred metres, rain below.",
                    "Gusts of up to ninety kilometres an hour on the coast.",
                    "It stays dry, and temperatures climb to thirty degrees."]}),
    "guests": ("guests.ndjson", "comment", "How many of the guests were unhappy with the restaurant?", "unhappy", {
        "unhappy": ["The soup was cold and nobody said sorry.",
                    "We sat for an hour before anyone took our order.",
                    "Far too salty, I left half of it.",
                    "A hair in the salad, never again.",
                    "The waiter was rude to my mother.",
                    "My steak was as tough as leather."],
        "happy": ["The fish was the best I ever had.",
                  "Warm bread, kind people, we stayed until midnight.",
                  "Our children asked when we go back.",
                  "A wonderful evening from start to dessert.",
                  "The chef came out and explained every dish, marvellous.",
                  "Fair prices and huge portions, great.",
                  "I dream of that lemon tart.",
                  "They even baked a cake for our anniversary.",
                  "Friendly, quick, delicious.",
                  "We tip rarely, here we did so gladly.",
                  "Perfect pasta, perfect wine.",
                  "The terrace at sunset is heaven."]}),
    "notes": ("notes.ndjson", "note", "How many of the notes are about sport?", "sport", {
        "sport": ["Ran ten kilometres before breakfast and my knees held.",
                  "The goalkeeper saved two penalties in the final.",
                  "Swimming practice moves to Tuesday in the small pool.",
                  "Our team lost the volleyball match in five sets.",
                  "She cycled over the pass in under two hours.",
                  "Bought new tennis strings for the tournament."],
        "cooking": ["Let the dough rest overnight, then fold it twice.",
                    "Too much pepper in the lentils, next time half.",
                    "Roast the pumpkin at two hundred degrees.",
                    "Grandmother's plum jam needs a vanilla pod.",
                    "Whisk the eggs before the sugar goes in.",
                    "The oven is hotter at the back."],
        "money": ["Pay the electricity bill before the tenth.",
                  "Interest on the savings account fell again.",
                  "Ask the bank about the fee for transfers.",
                  "Rent goes up by forty from March.",
                  "Tax papers are in the blue folder.",
                  "Lent Paul twenty, he pays back on Monday."]}),
    "lines": ("lines.ndjson", "line", "How many of the lines ask for information instead of giving it?", "question", {
        "question": ["Does anybody know when the library opens",
                     "Where can I leave my bicycle overnight",
                     "Which of these keys is for the cellar",
                     "Please tell me how long the ferry takes",
                     "I would like to know who painted the hall",
                     "What does the green button do",
                     "How do I get to platform nine",
                     "Is there a doctor in the village"],
        "statement": ["The library opens at nine and closes at six",
                      "Bicycles stand behind the kitchen",
                      "The small key is for the cellar",
                      "The ferry takes forty minutes",
                      "My uncle painted the hall in spring",
                      "The green button stops the belt",
                      "Platform nine is across the bridge",
                      "Our doctor comes on Wednesdays",
                      "The gate was left open last night",
                      "Lunch is on the long table"]}),
    "mails": ("mails.csv", "text", "How many of the mails are private rather than about work?", "private", {
        "private": ["Mum says the puppy learned to sit, see the photo.",
                    "Are you coming to Ida's birthday on Sunday?",
                    "I miss you, let us go hiking like last summer.",
                    "The twins got their first teeth this week!",
                    "Thanks for the lovely wedding present.",
                    "Shall we watch the film at our place tonight?",
                    "Grandpa is out of hospital and asks for cake."],
        "work": ["Please send the signed contract to the client by noon.",
                 "The quarterly figures are in the shared folder.",
                 "Our supplier raises prices, we need a new offer.",
                 "Minutes of the board meeting are attached.",
                 "The server migration is planned for Saturday night.",
                 "Kindly approve the travel costs of the sales team.",
                 "We have two applicants for the accounting job.",
                 "The auditor wants the invoices of last year.",
                 "Reminder: safety training for all staff on Monday.",
                 "The customer rejected the second draft of the plan."]}),
    "tickets": ("tickets.ndjson", "summary", "How many of the tickets are urgent?", "urgent", {
        "urgent": ["Smoke comes out of the server room, act now!",
                   "All tills in the shop are down and customers are leaving.",
                   "Water is pouring through the ceiling right now.",
                   "The patient monitor in room four has gone dark.",
                   "We are locked out and the alarm is ringing.",
                   "Payments fail for everyone since five minutes."],
        "not urgent": ["When you have time, please change my desk lamp.",
                       "The wallpaper on the intranet could be prettier.",
                       "Sometime next month I would like a second monitor.",
                       "A spelling mistake in last year's newsletter.",
                       "No hurry: the coffee list needs a new sheet.",
                       "Could someone water the plants during my holiday?",
                       "The door of meeting room two squeaks a little.",
                       "Please add my middle name to the phone book.",
                       "I would like a softer chair at some point."]}),
    "posts": ("posts.ndjson", "post", "How many of the posts mention an illness or an injury?", "health", {
        "health": ["In bed with a fever since Tuesday.",
                   "Broke my wrist on the icy stairs.",
                   "The flu has caught the whole office.",
                   "My back hurts so much that I cannot stand.",
                   "The doctor says it is only a sprained ankle.",
                   "Third migraine this month."],
        "else": ["Our tomatoes are finally red.",
                 "The new bridge opens on Saturday.",
                 "Does anyone sell concert tickets?",
                 "Painted the fence and half of my shoes.",
                 "First day at the new school, so proud.",
                 "The train was full of singing fans.",
                 "Found a silver ring on the beach.",
                 "My cousin builds tiny boats from cork.",
                 "The market moves to the castle square.",
                 "Autumn light on the lake this morning."]}),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dossier", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only")
    parser.add_argument("flags", nargs="*")
    args = parser.parse_args()
    right = asked = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in [args.only] if args.only else SETS:
            file, field, question, kind, kinds = SETS[name]
            path, wanted = pathlib.Path(folder) / file, untuned_data.near(kinds, kind)
            untuned_data.write_texts(path, field, kinds)
            row = run.ask(args.dossier, ["-c", str(path)], question, args.seed,
                          args.flags or ["--model", "local"])
            good = questions.is_judged_right(row["answer"], wanted)
            right += good
            asked += 1
            print(f"{'right' if good else 'WRONG'}  {name:<8} wanted {run.shown([wanted])}, got "
                  f"{' '.join(row['answer'].split())[:60]!r}  {row['seconds']:.0f} s, "
                  f"{row['calls']} calls  [run {row['run']}]", flush=True)
    print(f"{right} of {asked} right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
