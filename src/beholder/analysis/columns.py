"""Columns that many analyses have, with one meaning in all of them."""

from __future__ import annotations

from beholder.columns import Column

QUESTION = Column("question", "text", "Id of the question; what can be ticked is one of its own, `<question>: <tick>`.")
STIMULUS = Column("stimulus", "text", "Id of the stimulus.")
STIMULUS_OR_NONE = Column("stimulus", "text", "Id of the stimulus; empty in the row of a condition.")
CONTENT = Column("content", "text", "Name of the content.")
CONTENT_OR_NONE = Column("content", "text", "Name of the content of a stimulus; empty in the row of a condition.")
CONDITION = Column("condition", "text", "Name of the condition.")
CONDITION_OR_ALL = Column("condition", "text", "Name of the condition; empty in the row of all of them.")
OTHER_CONDITION = Column("other_condition", "text", "Name of the condition with which it is compared.")
PARTICIPANT = Column("participant", "text", "Id of the participant.")
METRIC = Column("metric", "text", "Name of the number, with its method, such as `MOS(ACR)`.")
NOTE = Column("note", "text", "What to know of this row; mostly empty.")

FACTOR = Column("factor", "text", "Name of the factor: a further column of the manifest, or of the participants.")
LEVEL_OF_FACTOR = Column("level", "text", "Its level.")
ROW_LEVEL = Column("level", "text", "What the row is of.", ("condition", "stimulus"))

PAGES_N = Column("n", "integer", "Pages (one participant and one content) that it rests on.")
RATINGS_N = Column("n", "integer", "Ratings that it rests on, repetitions taken together.")
PARTICIPANTS_N = Column("n", "integer", "Participants that it rests on.")
PARTICIPANTS = Column("participants", "integer", "How many participants the ratings are of.")
CONTENTS = Column("contents", "integer", "How many contents the ratings are of.")
STIMULI = Column("stimuli", "integer", "How many stimuli the ratings are of.")
THEIR_STIMULI = Column("stimuli", "integer", "How many stimuli these are of.")
TIES = Column("ties", "integer", "How often neither was called better.")

SD = Column("sd", "number", "Standard deviation of the ratings.")
MEDIAN = Column("median", "number", "Median of the ratings.")
Q1 = Column("q1", "number", "First quartile of the ratings.")
Q3 = Column("q3", "number", "Third quartile of the ratings.")
SE = Column("se", "number", "Standard error.")
DF = Column("df", "number", "Degrees of freedom.")
CI_LOW = Column("ci_low", "number", "Lower end of the 95 % interval.")
CI_HIGH = Column("ci_high", "number", "Upper end of the 95 % interval.")
LOW = Column("low", "number", "Lower end of the 95 % interval.")
HIGH = Column("high", "number", "Upper end of the 95 % interval.")
STATISTIC = Column("statistic", "number", "t of the difference.")
INTERVAL = Column("interval", "text", "Which interval it is; empty where there is none.")
P = Column("p", "number", "Two-sided p-value.")
P_HOLM = Column("p_holm", "number", "The p-value after Holm's correction; empty where it is not corrected for.")
THESE_LOW = Column("these_low", "number", "Lower end of the 95 % interval with these contents (other people).")
THESE_HIGH = Column("these_high", "number", "Upper end of the 95 % interval with these contents (other people).")
THESE_P = Column("these_p", "number", "Two-sided p-value with these contents (other people).")
THESE_P_HOLM = Column(
    "these_p_holm", "number",
    "The p-value with these contents after Holm's correction; empty where it is not corrected for.",
)  # fmt: skip

ESTIMATOR = Column("estimator", "text", "How it was estimated: by maximum likelihood, or with a Gaussian prior.")
STANDARD_ERROR = Column("se", "number", "Standard error for people and contents like these.")
VERDICT = Column(
    "verdict",
    "text",
    "How far it is clear after correction: `beyond` these contents too, on `these` contents only, or `undecided`; "
    "empty where it is not judged.",
    ("beyond", "these", "undecided", ""),
)


def bounds(name: str, text: str) -> tuple[Column, Column]:
    """Return the columns `<name>_low` and `<name>_high` of an interval."""
    return (
        Column(f"{name}_low", "number", f"Lower end of {text}."),
        Column(f"{name}_high", "number", f"Upper end of {text}."),
    )
