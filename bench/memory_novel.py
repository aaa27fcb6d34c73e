"""Questions over a novel, for the search of memory: Pride and Prejudice of the Debian package
r-cran-janeaustenr, a text a paragraph, a thread a chapter.

Each question was written from knowledge of the book, before any search was run, as a reader would
ask it; its evidence is the one paragraph that has the quotation beside it.
"""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "suite"))
import sources  # noqa: E402

QUESTIONS = (
    ("Which house has a rich young man from the north rented?",
     "Netherfield is taken by a young man of large fortune"),
    ("How much money does Mr. Bingley have a year?", "A single man of large fortune; four or five"),
    ("What did Darcy say about Elizabeth when he saw her at the ball?", "but not handsome enough to tempt"),
    ("What does Mary say is the difference between pride and vanity?",
     "Pride relates more to our opinion of ourselves"),
    ("What does Charlotte think about happiness in marriage?",
     "Happiness in marriage is entirely a matter of chance"),
    ("What feature of Elizabeth's face does Mr. Darcy admire?",
     "a pair of fine eyes in the face of a pretty woman can bestow"),
    ("How far do the Bennets live from Meryton?", "The village of Longbourn was only one mile from Meryton"),
    ("Why should Jane go on horseback and not in the carriage?", "because it seems likely to rain"),
    ("In what state did Elizabeth arrive after walking to Netherfield?",
     "with weary ankles, dirty stockings"),
    ("Who will inherit the estate when Mr. Bennet dies?", "may turn you all out of this house"),
    ("What does a woman have to know to be called accomplished?",
     "must have a thorough knowledge of music, singing, drawing"),
    ("When does Mr. Collins announce that he will arrive?", "Monday, November 18th, by four o'clock"),
    ("Who is the patroness that gave Mr. Collins his parish?",
     "preferred me to the valuable rectory of this parish"),
    ("What did Wickham say that Darcy's father had promised him?",
     "bequeathed me the next presentation of the best living in his gift"),
    ("Which dances did Mr. Collins ask Elizabeth for?", "the two first dances especially"),
    ("Why does Mr. Collins want to marry?", "My reasons for marrying are"),
    ("What will happen if Elizabeth refuses her cousin, according to her father?",
     "An unhappy alternative is before you, Elizabeth"),
    ("Whom does Mr. Collins become engaged to after Elizabeth's refusal?", "Engaged to Mr. Collins! My dear Charlotte"),
    ("How old is Elizabeth when Lady Catherine asks her?", "I am not one-and-twenty"),
    ("How does Mr. Darcy declare his love?", "how ardently I admire and love you"),
    ("With which words does Elizabeth tell Darcy that she would never accept him?",
     "the last man in the world whom I could ever be prevailed on to marry"),
    ("Where did Wickham want to elope with Georgiana, and how old was she?", "then but fifteen"),
    ("How large was the fortune of Miss Darcy?", "which is thirty thousand pounds"),
    ("Which town does the regiment move to for the summer?", "They are going to be encamped near Brighton"),
    ("How big is the park around Mr. Darcy's house?", "it was ten miles round"),
    ("What did the housekeeper say of her master's temper as a child?",
     "the sweetest-tempered"),
    ("With whom has Lydia run away?", "to own the truth, with Wickham"),
    ("How much are Wickham's debts?", "necessary to clear his expenses at Brighton"),
    ("Who paid to make the wedding of Lydia happen?", "The reason why all this was to be done by him alone"),
    ("Why does Lady Catherine not want Elizabeth to marry her nephew?",
     "Are the shades of Pemberley to be thus polluted"),
    ("When did Elizabeth begin to love Darcy, as she tells her sister?",
     "my first seeing his beautiful grounds at Pemberley"),
    ("When did Darcy's love begin, as he tells Elizabeth?",
     "I cannot fix on the hour, or the spot, or the look, or the words"),
)


def _paragraphs(novel: str) -> list[dict]:
    rows, chapter = [], 0
    for paragraph in re.split(r"\n\s*\n", novel):
        text = " ".join(paragraph.split())
        if re.fullmatch(r"Chapter \d+", text):
            chapter += 1
        elif text and chapter > 0:
            rows.append({"text": text, "thread": f"chapter {chapter}", "ref": f"{chapter}-{len(rows)}"})
    return rows


def paragraphs_and_questions(folder: pathlib.Path) -> None:
    """texts.jsonl, and queries.jsonl with the `evidence` of each (a ref)."""
    path = folder / "novel.txt"
    sources.make_novel(path)
    rows = _paragraphs(path.read_text("utf-8"))
    asked = []
    for number, (question, quotation) in enumerate(QUESTIONS):
        found = [row["ref"] for row in rows if quotation in row["text"]]
        if len(found) != 1:
            raise ValueError(f"{len(found)} paragraphs have the quotation {quotation!r}")
        asked.append({"id": f"n{number}", "query": question, "evidence": found[0]})
    for name, lines in (("texts", rows), ("queries", asked)):
        (folder / f"{name}.jsonl").write_text(
            "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
