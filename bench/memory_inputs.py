"""Texts and queries for the search of memory, made with a fixed seed.

`texts` are for speed: 74 characters each, words by Zipf's law, stop words among the commonest.

`dialogues` are for quality: people talk, and now and then somebody tells something of themselves
that a later question is about. How it is told is drawn for each fact:

    half        in one turn, with the word of the topic ("I adopted a beagle last spring")
    three in 10 as the answer to a question that has the word of the topic ("Did you adopt a pet?",
                "Yes, a beagle, last spring"); the evidence is the answer
    two in 10   the topic comes up, two or three turns of small talk follow, then the answer

The question has the speaker's name and words of the topic; each word is exchanged for another one
of the same meaning at random, so that many questions share nothing but the name with the evidence.
Fifty people talk about the same topics in other sessions, with other answers. The evidence of a
question is the one turn with the answer; nothing else is counted.
"""

import itertools
import json
import pathlib
import random

STOP_WORDS = ("a an the is are was were be been do does did what which who whom when where why how "
              "to of in on at for from by with and or not has have had his her its their they he "
              "she it this that as would will could can s t").split()

# Words of one meaning; the question draws from the same list as the talk.
_TOPICS = [
    (["adopt", "rescue"], ["dog", "pet", "animal"],
     ["a beagle", "a greyhound", "a poodle", "a collie", "a terrier", "a dachshund"]),
    (["move", "relocate"], ["city", "town", "place"],
     ["Oslo", "Lisbon", "Kyoto", "Denver", "Tallinn", "Bergen", "Porto"]),
    (["study", "learn"], ["language", "tongue"],
     ["Danish", "Swahili", "Korean", "Basque", "Finnish", "Welsh"]),
    (["play", "practise"], ["instrument", "music"],
     ["the cello", "the oboe", "the banjo", "the harp", "the trumpet"]),
    (["work", "start"], ["job", "position", "company"],
     ["a bakery", "the observatory", "a law firm", "the harbour", "a print shop"]),
    (["cook", "prepare"], ["dinner", "meal", "dish"],
     ["paella", "pierogi", "ramen", "moussaka", "goulash", "risotto"]),
    (["paint", "draw"], ["picture", "portrait"],
     ["a lighthouse", "two horses", "the old mill", "a red door", "my uncle"]),
    (["visit", "see"], ["museum", "exhibition", "gallery"],
     ["the railway hall", "the glass works", "the map room", "the ship hangar"]),
    (["buy", "purchase"], ["car", "vehicle"],
     ["a van", "an old Saab", "a pickup", "a small electric one", "a camper"]),
    (["plant", "grow"], ["garden", "vegetables", "bed"],
     ["leeks", "pumpkins", "chard", "radishes", "beans"]),
    (["read", "finish"], ["book", "novel"],
     ["Middlemarch", "Solaris", "Persuasion", "Dune", "Emma"]),
    (["run", "train"], ["race", "marathon"],
     ["the night relay", "a trail half", "the bridge ten", "the island loop"]),
    (["repair", "fix"], ["bicycle", "bike"],
     ["the chain", "both brakes", "a bent wheel", "the gears"]),
    (["teach", "instruct"], ["class", "course"],
     ["pottery", "chess", "first aid", "algebra", "knitting"]),
]
_NAMES = ("Ann Bo Carla Dmitri Esra Felix Grace Hiro Ines Jonas Kira Liam Mona Nils Olga Pedro Quinn "
          "Rosa Sven Tara Umar Vera Wim Xenia Yusuf Zoe Abel Britt Ciro Dana Emil Fern Gus Hana "
          "Ivan Jill Kofi Lena Marc Nora Otto Pia Raul Saga Timo Una Vito Wanda Yara Zeno").split()
_WHEN = ["last spring", "in March", "two weeks ago", "yesterday", "over the holidays", "in autumn"]
_SMALL_TALK = [
    "That sounds lovely, tell me more", "The weather was awful all week", "I had too much coffee today",
    "Good to hear from you", "Sorry, I was on the phone", "My sister says hello",
    "The train was late again", "I could not sleep last night", "We should meet for lunch soon",
    "Work keeps me busy as always", "Did you watch the match?", "I know what you mean",
    "Let me think about it", "The kids are back at school", "My phone is nearly dead",
    "I need to buy groceries later", "That reminds me of last year", "How is your mother doing?",
    "I am still looking for my keys", "Happy to help if you need anything",
]


class _Dialogues:
    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.turns: list[dict] = []
        self.questions: list[dict] = []
        self.told: set[tuple[str, int]] = set()

    def say(self, session: str, who: str, text: str) -> str:
        ref = f"{session}-{len(self.turns)}"
        self.turns.append({"text": f"{who}: {text}", "thread": session, "ref": ref})
        return ref

    def small_talk(self, session: str, pair: list[str], turns: int) -> None:
        for _ in range(turns):
            self.say(session, self.random.choice(pair), self.random.choice(_SMALL_TALK))

    def tell(self, session: str, teller: str, other: str, topic: int) -> tuple[str, str]:
        """Plants an answer; the turn that has it and how it was planted."""
        verbs, nouns, answers = _TOPICS[topic]
        verb, noun = self.random.choice(verbs), self.random.choice(nouns)
        answer, when = self.random.choice(answers), self.random.choice(_WHEN)
        how = self.random.choices(["one turn", "next turn", "later"], [5, 3, 2])[0]
        if how == "one turn":
            text = self.random.choice([f"I wanted to {verb} a {noun} and it became {answer}, {when}",
                                       f"About the {noun}: I did {verb}, it is {answer} now",
                                       f"{when.capitalize()} I got to {verb}, a {noun} at last, {answer}"])
            return self.say(session, teller, text), how
        self.say(session, other, self.random.choice(
            [f"Did you {verb} the {noun} in the end?", f"So what about the {noun}, did you {verb}?",
             f"You wanted to {verb} some {noun}, right?"]))
        if how == "later":
            self.small_talk(session, [teller, other], self.random.randint(2, 3))
        return self.say(session, teller, self.random.choice(
            [f"Yes, {answer}, {when}", f"It is {answer} now", f"{answer.capitalize()}, since you ask",
             f"I chose {answer} {when}"])), how

    def ask(self, teller: str, topic: int, evidence: str, how: str) -> None:
        verbs, nouns, _ = _TOPICS[topic]
        verb, noun = self.random.choice(verbs), self.random.choice(nouns)
        self.questions.append({"id": f"q{len(self.questions)}", "evidence": evidence, "how": how,
                               "query": self.random.choice(
                                   [f"What {noun} did {teller} {verb}?",
                                    f"Which {noun} was it that {teller} wanted to {verb}?",
                                    f"When {teller} could {verb}, what was the {noun}?"])})

    def session(self, name: str, turns: int) -> None:
        pair = self.random.sample(_NAMES, 2)
        end = len(self.turns) + turns
        while len(self.turns) < end:
            self.small_talk(name, pair, self.random.randint(1, 5))
            teller, other = self.random.sample(pair, 2)
            topic = self.random.randrange(len(_TOPICS))
            if (teller, topic) in self.told:  # one answer a question
                continue
            self.told.add((teller, topic))
            evidence, how = self.tell(name, teller, other, topic)
            self.ask(teller, topic, evidence, how)


def _write(path: pathlib.Path, rows: list[dict]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def dialogues(folder: pathlib.Path, seed: int, sessions: int = 150, turns: int = 40) -> None:
    """texts.jsonl, and queries.jsonl with the `evidence` of each (a ref) and `how` it was told."""
    made = _Dialogues(seed)
    for number in range(sessions):
        made.session(f"s{number}", turns)
    _write(folder / "texts.jsonl", made.turns)
    _write(folder / "queries.jsonl", made.questions)


def _words(chance: random.Random, count: int) -> list[str]:
    """Made-up words, the commonest short; stop words are every other one of the first."""
    syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
    made: dict[str, None] = {}
    while len(made) < count:
        made["".join(chance.choices(syllables, k=2 + min(len(made), 4000) // 2000))] = None
    words = list(made)
    for place, stop_word in enumerate(STOP_WORDS[:40]):
        words.insert(2 * place, stop_word)
    return words


def texts(folder: pathlib.Path, seed: int, count: int, queries: int) -> None:
    """`count` texts of 74 characters in threads of 100; queries of 3 to 8 words of one text."""
    chance = random.Random(seed)
    words = _words(chance, 20_000)
    weights = list(itertools.accumulate(1 / (place + 3) for place in range(len(words))))
    rows = []
    for number in range(count):
        text = " ".join(chance.choices(words, cum_weights=weights, k=20))[:74]
        rows.append({"text": text, "thread": f"t{number // 100}", "ref": str(number)})
    _write(folder / "texts.jsonl", rows)
    asked = []
    for number in range(queries):
        some = chance.choice(rows)["text"].split()[:-1]
        asked.append({"id": f"q{number}",
                      "query": " ".join(chance.sample(some, min(len(some), chance.randint(3, 8))))})
    _write(folder / "queries.jsonl", asked)
