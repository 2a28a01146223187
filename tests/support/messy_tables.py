"""Tables as people really have them: what is in each file, and what Beholder says of it."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import NamedTuple

_PEOPLE = ("Ann", "Bob", "Cem", "Dee")
_GRADES = (4, 2, 5, 3, 3, 2, 4, 1, 5, 3, 4, 2, 4, 1, 5, 3)


class MessyTable(NamedTuple):
    """A file, and the words of the command about it."""

    name: str
    """Of the file."""
    is_about: str
    """What is in it, as the docs call it."""
    content: bytes
    read: str = ""
    """How it is read; empty where it is refused."""
    refused: str = ""
    """Why it is refused, behind the name of the file."""
    odd: str = ""
    """What is odd in it."""

    def write(self, folder: Path) -> Path:
        """Return the path of the file, written to a folder."""
        path = folder / self.name
        path.write_bytes(self.content)
        return path


def _long(header: str, separator: str, values: list[str]) -> str:
    rows = [
        separator.join((*names, value))
        for names, value in zip(product(_PEOPLE, ("A", "B"), ("s1", "s2")), values, strict=True)
    ]
    return "\n".join([header, *rows, ""])


_NUMBERS = [str(grade) for grade in _GRADES]
_WORDS = [("Bad", "Poor", "Fair", "Good", "Excellent")[grade - 1] for grade in _GRADES]
_TWICE = _long("rater,system,item,score", ",", [*_NUMBERS[:12], *["3"] * 4])

MESSY_TABLES = (
    MessyTable(
        "german.csv", "semicolons, decimal commas and umlauts of an old Excel",
        _long("Proband;System;Item;Note;Bewertung", ";", [f"gehört;{min(grade, 4)},5" for grade in _GRADES]).replace(
            "Note", "Bemerkung").replace("Bewertung", "Score").encode("cp1252"),
        "read with Windows-1252 and semicolons between the cells; Proband is the participant, System is the condition, "
        "Item is the content and Score is the value; decimal commas in 16 cells; scale 1 to 5, by its values",
    ),
    MessyTable(
        "unicode.txt", "“Unicode text” of Excel: tabs and UTF-16",
        _long("Subject ID\tModel\tFile\tRating", "\t", _NUMBERS).encode("utf-16"),
        "read with UTF-16 and tabs between the cells; Subject ID is the participant, Model is the condition, File is "
        "the stimulus and Rating is the value; the same stimulus has several conditions: it is taken for the content; "
        "scale 1 to 5, by its values",
    ),
    MessyTable(
        "wide.csv", "a column for each condition, a title above, and means around",
        b"Listening test in May,,,,\n\nListener,A,B,C,Average\nl1,4,3,2,3\nl2,5,3,1,3\nl3,4,2,2,2.67\n"
        b"Mean,4.33,2.67,1.67,2.89\n",
        "read with the header in line 3; Listener is the participant; each of 3 columns (A, B, C) is a condition; 1 "
        "row computed from the others left out (Mean); no column says the content: ratings of a condition are taken "
        "together; scale 1 to 5, by its values",
    ),
    MessyTable(
        "raters.tsv", "a row for each stimulus, a column for each person",
        b"hrc\tsrc\ts01\ts02\ts03\na\tx\t5\t4\t5\na\ty\t4\t4\t5\nb\tx\t2\t1\t\nb\ty\t1\t2\t2\n",
        "read with tabs between the cells; hrc is the condition and src is the content; each of 3 columns (s01, s02, "
        "s03) is a participant; scale 1 to 5, by its values; 1 cell empty",
    ),
    MessyTable(
        "words.csv", "words of a scale, and NA",
        _long("worker,condition,content,vote", ",", [*_WORDS[:15], "NA"]).encode(),
        "worker is the participant and vote is the value; 1 cell with NA taken as missing; words of the scale acr5 "
        "(Bad = 1, Excellent = 5)",
    ),
    MessyTable(
        "codes.csv", "99 and -1 where somebody did not answer",
        _long("participant,condition,content,value", ",", [*_NUMBERS[:14], "99", "-1"]).encode(),
        "1 cell with 99 and 1 cell with -1 taken as missing, as the scale is 1 to 5",
    ),
    MessyTable(
        "typo.csv", "a 55 among votes from 1 to 5",
        _long("participant,condition,content,value", ",", [*_NUMBERS[:15], "55"]).encode(),
        refused=":17  value is 55, and the others are 1 to 5. Allowed: 1 to 5. Correct it, or write --missing 55 if it "
        "is no answer, or --scale if the scale is another.",
    ),
    MessyTable(
        "two-scores.csv", "two columns that could be the score",
        b"user,system,item,Score,Rating\nu1,A,s1,4,70\nu1,B,s1,2,30\nu2,A,s1,5,80\nu2,B,s1,1,20\n",
        refused='  has 2 columns that could be the value: Score and Rating. Allowed: one. Say which: --columns '
        '"participant=user,condition=system,content=item,value=Score", or all as questions: --columns '
        '"participant=user,condition=system,content=item,question=Score+Rating".',
    ),
    MessyTable(
        "wide-or-long.csv", "a column MOS beside columns that could be conditions",
        b"Subject,A,B,MOS\np1,4,2,3\np2,5,1,3\n",
        refused="  has MOS, which could be the ratings, and A, B, which could be conditions. Allowed: one of the two. "
        'One column for each condition: --columns "participant=Subject,condition=A+B". One row for each rating: '
        '--columns "participant=Subject,value=MOS,condition=NAME".',
    ),
    MessyTable(
        "commas.csv", "decimal commas in a file with commas",
        b"participant,condition,content,value\np1,A,s1,3,5\np1,B,s1,2,5\n",
        refused=":2  has 5 cells, and the header 4 names. Allowed: as many cells as names. Is there a decimal comma or "
        "a comma in a name? Put such cells in quotes, or save it with semicolons.",
    ),
    MessyTable(
        "twice.csv", "a file that was appended twice, and a person who always said 3",
        (_TWICE + "Ann,A,s1,4\nAnn,A,s2,2\nDee,A,s1,3\n").encode(),
        "rater is the participant, system is the condition, item is the content and score is the value; scale 1 to 5, "
        "by its values",
        odd="3 rows are there twice, with the same value (of Ann, Dee). Was a file appended twice? They were averaged "
        "with their doubles. | 1 participant gave one value throughout (Dee). They are in the means; compare without "
        "them.",
    ),
    MessyTable(
        "ranks.csv", "ranks, of which 1 is the best",
        b"judge,system,item,Rank\nj1,A,s1,1\nj1,B,s1,2\nj1,C,s1,3\nj2,A,s1,1.5\nj2,B,s1,1.5\nj2,C,s1,3\n",
        "judge is the participant, system is the condition, item is the content and Rank is the rank; ranks are turned "
        "round, so that 1, the best, counts 3 and 3 counts 1",
    ),
    MessyTable(
        "ranks-from-0.csv", "ranks from 0",
        b"judge,system,rank\nj1,A,0\nj1,B,1\nj1,C,2\n",
        refused=":2  rank is 0. Allowed: ranks from 1, the best; half ones where two share them.",
    ),
    MessyTable(
        "position.csv", "a column position, which may be the order shown or a rank",
        b"judge,system,position\nj1,A,1\nj1,B,2\nj1,C,3\n",
        refused="  has no column that says the rating. Allowed: a name such as value, score, rating, mos, vote, "
        'opinion. Did you mean position? --columns "participant=judge,condition=system,rank=position".',
    ),
    MessyTable(
        "empty.csv", "no cell with an answer",
        b"judge,system,score\nj1,A,NA\nj1,B,\n",
        refused="  has no rating: every cell is empty or stands for a missing answer. Allowed: ratings. Is it another "
        "column? Columns: judge, system, score. --columns value=NAME says which.",
    ),
    MessyTable(
        "two-names.csv", "columns that are named by condition and content",
        b"person,A_s1,A_s2,B_s1,B_s2\np1,4,5,2,1\np2,5,4,1,2\n",
        refused="  has 4 columns named by two things (A_s1, A_s2, B_s1 and 1 more), and it is open which is the "
        "condition. If 'A' is a condition: --columns "
        '"participant=person,stimulus=A_s1..B_s2,names={condition}_{content}". If it is a content: --columns '
        '"participant=person,stimulus=A_s1..B_s2,names={content}_{condition}".',
    ),
)  # fmt: skip
