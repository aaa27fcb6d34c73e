"""Whether an answer is right: one rule for every untuned question, strict on numbers and names.

An answer may be a sentence. The first number that the question did not hold itself must be the
wanted one, later ones must be true facts beside it (`also`), so a list of all counts is no answer.
A name must stand as a word before any of its rivals, and at most one rival may follow.
"""

import dataclasses
import re

import questions

WORDS = {word: number for number, word in enumerate(
    "zero one two three four five six seven eight nine ten eleven twelve".split())}
NONE = re.compile(r"^\W*(?:there (?:are|is|were|was) )?(?:no|none|not (?:one|a single|any))\b", re.I)
GROUPED = re.compile(r"\d{1,3}(?:[,.'\u2019\u00a0\u202f ]\d{3})+(?!\d)")
NUMBER = re.compile(r"(?<![A-Za-z0-9_.])-?(?:" + GROUPED.pattern + r"|\d+)(?:[.,]\d+)?")

# How an answer says that the text does not hold what was asked, in the five languages of such questions.
SAYS_ABSENT = re.compile(
    r"^\W*(?:none|null|nothing|n/?a|not applicable)\W*$"
    r"|(?:\bnot|\bnever|n't|n\u2019t|\bnowhere|\bneither)\b.{0,60}\b(?:mention|found|find|stat|specif|"
    r"given|contain|provid|availab|say|said|tell|appear|known|includ|record|disclos|answer)"
    r"|\bno (?:\w+ ){0,4}(?:mention|information|such|record|data|answer|indication|reference|detail|"
    r"found|given|stated|specified|provided|available|listed)"
    r"|\bunknown\b|\bcannot (?:be|determine|answer)|\b(?:unable|impossible) to\b"
    r"|\bnicht\b.{0,60}\b(?:erw|genannt|enthalten|angegeben|gefunden|bekannt|steht|hervor)"
    r"|\bkeine? (?:Angabe|Information|Hinweis|Erw)|\bunbekannt\b"
    r"|\bno (?:se|hay|figura|aparece|consta|menciona|dice|contiene|especifica|indica|est[aá]|"
    r"proporciona)|\bning[uú]n|\bdesconocid"
    r"|\b(?:n'est|n'a|ne)\b.{0,60}\bpas\b|\baucune? (?:mention|information|indication)|\binconnu"
    r"|没有|未提|未说|没提|没说|不知道|无法|未知|不详", re.I | re.S)


@dataclasses.dataclass(frozen=True)
class Question:
    kind: str             # table, prose, folder or judged
    context: tuple        # files and folders below the half's folder
    text: str
    wanted: tuple = ()    # int (exact), float (rounded), str (a word) or questions.Near (judged)
    also: tuple = ()      # true numbers that may follow the wanted one
    rivals: tuple = ()    # names that would be wrong answers
    absent: bool = False  # the context does not hold the answer


def readings(token: str) -> set[float]:
    """What a number may mean: a comma or point before three digits groups, or starts decimals."""
    found = set()
    if match := GROUPED.match(token.lstrip("-")):
        rest = token.lstrip("-")[match.end():].replace(",", ".")
        whole = re.sub(r"\D", "", match.group())
        found.add(float(whole + rest) * (-1 if token.startswith("-") else 1))
    try:
        found.add(float(token.replace(",", ".") if token.count(",") == 1 else token))
    except ValueError:
        pass
    return found


def numbers(text: str) -> list[set[float]]:
    return [readings(match.group()) for match in NUMBER.finditer(text)]


def same(number: set[float], wanted) -> bool:
    if isinstance(wanted, float):  # as many decimals as a question asks for, or one part in 2,000
        return any(abs(value - wanted) <= max(0.011, abs(wanted) * 0.0005) for value in number)
    return float(wanted) in number


def names_right(answer: str, question: Question) -> bool:
    wanted = [part for part in question.wanted if isinstance(part, str)]
    found = [places(answer, part) for part in wanted]
    if not all(found):
        return False
    rivals = [at[0] for rival in question.rivals if (at := places(answer, rival))]
    return len(rivals) <= 1 and all(at > max(one[0] for one in found) for at in rivals)


def places(text: str, word: str) -> list[int]:
    """Where the word stands; ASCII letters and digits end it, so that Chinese needs no blanks."""
    pattern = rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])"
    return [match.start() for match in re.finditer(pattern, text, re.I)]


def numbers_right(answer: str, question: Question) -> bool:
    wanted = [part for part in question.wanted if isinstance(part, (int, float))]
    for part in question.wanted:
        if isinstance(part, str):  # the digits of a name or a date are no numbers of their own
            answer = re.sub(re.escape(part), " ", answer, flags=re.I)
    known = numbers(question.text)
    found = [number for number in numbers(answer)
             if number not in known or any(same(number, part) for part in wanted)]
    if not wanted:  # a name: numbers beside it matter only where the true ones are known
        return not question.also or all(
            any(same(number, part) for part in question.also) for number in found)
    if not found and len(wanted) == 1:
        if wanted[0] == 0 and NONE.search(answer):
            return True
        return any(WORDS.get(word) == wanted[0] for word in re.findall(r"[a-z]+", answer.lower()))
    return (found != [] and any(same(found[0], part) for part in wanted)
            and all(any(same(number, part) for number in found) for part in wanted)
            and all(any(same(number, part) for part in (*wanted, *question.also))
                    for number in found))


def is_right(answer: str, question: Question) -> bool:
    """Of an answer that is not empty."""
    if question.absent:
        return SAYS_ABSENT.search(answer) is not None and not [
            number for number in numbers(answer) if number not in numbers(question.text)]
    if isinstance(question.wanted[0], questions.Near):
        return questions.is_judged_right(answer, question.wanted[0])
    return names_right(answer, question) and numbers_right(answer, question)


def outcome(row: dict, question: Question) -> str:
    """One of OUTCOMES. A text that does not hold the answer is answered rightly by a flag, too.

    A model that cannot be reached says nothing about answers, so that is no flag but a failure.
    """
    flagged = row["exit"] != 0
    empty = not row["answer"].strip()
    if not row["run"] or empty and row["status"] == "failed":
        return "failed"
    if empty:
        return "right" if question.absent else "no answer"
    if question.absent and flagged or is_right(row["answer"], question):
        return "right but flagged" if flagged and not question.absent else "right"
    return "wrong and flagged" if flagged else "confidently wrong"


OUTCOMES = ("right", "right but flagged", "confidently wrong", "wrong and flagged", "no answer", "failed")
