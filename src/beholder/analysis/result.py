"""Result (one table with note and citation), Results (all tables of a study), and the names of metrics."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from beholder.errors import Problem, UserError, no_answers
from beholder.formats import plain_count
from beholder.methods import find, names
from beholder.methods.contract import PERCENTAGE_POINTS, Metric, MetricWords, Scoring, scoring_of, task_of
from beholder.result_view import PagedResult, ResultView, ShownResult, offline_chart

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from beholder.analysis.condition_difference import ConditionDifference


_MOST_ROWS = 30
_TEXTS_BEHIND = ("metric", "interval", "note", "test", "comparison", "component")
_NUMBERS_FIRST = (
    "n", "mean", "mean_difference", "estimate", "quality", "value", "probability", "ci_low", "ci_high", "low", "high",
    "p_holm",
)  # fmt: skip
"""What a short table has of a wide one."""


@dataclass(frozen=True, repr=False)
class Result(ShownResult):
    """A tidy table, a note that names unit, method and correction, and where the method comes from."""

    table: DataFrame
    note: str
    citation: str
    """Sources, with semicolons between them."""
    draw: Callable[[DataFrame], Any] | None = field(default=None, repr=False, compare=False)
    """How the table is drawn, where a picture helps."""

    def plot(self) -> Any:
        """Return the table as an Altair chart, which a notebook shows and `.save("figure.svg")` writes."""
        if self.draw is None:
            raise ValueError("This result is best read as a table: it has no picture.")
        return offline_chart(self.draw(self.table))

    def _view(self) -> ResultView:
        text = [str(name) for name in self.table.select_dtypes(exclude="number") if name not in _TEXTS_BEHIND]
        first = [*text, *(name for name in _NUMBERS_FIRST if name in self.table)]
        shown = self.table[first or list(self.table.columns[:8])].head(_MOST_ROWS).round(3)
        more = {"table": self.table} if shown.shape != self.table.shape else {}
        return ResultView([self.note] if self.note else [], shown, more)


def records(table: DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table by column name, with values of Python."""
    names = [str(name) for name in table.columns]
    # Column by column: `to_dict` takes three times as long for tables of this size.
    columns = (_plain_values(table[name]) for name in table.columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _plain_values(column: Series) -> list[Any]:
    values = column.tolist()
    if column.dtype != object:
        return values
    return [value.item() if hasattr(value, "item") else value for value in values]


# Results: every table of a study, named as its file


_LONGEST_QUESTION = 40
"""A question is cut to so many letters in the short table."""
TABLES = ("scores", "conditions", "contents", "pairs", "participants")
STALE = Problem("analyse/", "is older than clean/", "", "Run `beholder analyse` first.")
"""The problem of results that belong to other ratings than those in clean/."""


@dataclass(frozen=True, repr=False)
class Results(PagedResult):
    """Scores, condition and content means, pairs, ratings, participants; the notes on method; the report's page.

    By itself it shows the scores. `summary()` says what was found, `plot()` draws it, `open()` shows the report, and
    `better("new", "old")` tells whether one condition is better than another. Conditions and questions may be named as
    in the files or by their labels. The tables are data frames: `conditions` and `pairs` first.
    """

    scores: DataFrame
    conditions: DataFrame
    contents: DataFrame
    pairs: DataFrame
    ratings: DataFrame
    participants: DataFrame
    notes: dict[str, Any]
    report: Path | None = None
    also: Mapping[str, DataFrame] = field(default_factory=dict)
    """Further tables of analyse/ by the names of their files, such as `tests`; they depend on the study."""
    waiting: tuple[str, ...] = ()
    """Work that a run leaves to a person: rejections, uncertain payments, votes beyond the budget."""

    _page_call = "`beholder.report(study)`"

    def _view(self) -> ResultView:
        first = {name: getattr(self, name) for name in ("conditions", "pairs", "scores", "contents", "participants")}
        more = {**first, **{f'also["{name}"]': table for name, table in self.also.items()}}
        return ResultView([self._population] if self._population else [], self._shown, more, self.report, "Report")

    def summary(self) -> str:
        """Return what was found in sentences: of each question the best condition, and whether it is clearly ahead."""
        from beholder.analysis.ratings import rating_count

        used = self.ratings[self.ratings["use"]] if "use" in self.ratings else self.ratings
        people = ("robot", "robots") if self.notes["population"] == "robots" else ("participant", "participants")
        counted = (
            f"{plain_count(rating_count(used), 'rating')} by {plain_count(used['participant'].nunique(), *people)}."
        )
        lines = [*filter(None, [self._population]), counted]
        lines += [self._first_words(str(name)) for name in self.notes["questions"]]
        return "\n".join(line for line in lines if line)

    def _first_words(self, question: str) -> str:
        """Return the best condition of a question and whether it is ahead of the next; empty without scores."""
        from beholder.analysis.condition_difference import better

        mine = self.conditions[(self.conditions["question"] == question) & self.conditions["mean"].notna()]
        order = [str(name) for name in mine.sort_values("mean", ascending=False, kind="stable")["condition"]]
        if not order:
            return ""
        name = f"{self.question_name(question)}: " if len(self.notes["questions"]) > 1 else ""
        best = f"{name}{self.display_name(order[0])} has the highest mean, {mine['mean'].max():.2f}."
        if len(order) < 2:
            return best
        try:
            return f"{best} Is it ahead of the next? {better(self, order[0], order[1], question)}"
        except UserError:  # the two were not compared
            return best

    def plot(self, question: str | None = None) -> Any:
        """Return the scores as an Altair chart, which a notebook shows offline and `.save("figure.svg")` writes.

        Of all questions one under the other, or of one, by its name or its label.
        """
        from beholder.analysis.condition_difference import find_question
        from beholder.analysis.figures.scores import scores_chart

        table = self.conditions
        if question is not None:
            table = table[table["question"] == find_question(self, "plot", question)]
        labels = {str(name): self.display_name(str(name)) for name in table["condition"]}
        named = table.assign(question=[self.question_name(str(name)) for name in table["question"]])
        return offline_chart(scores_chart(named, labels=labels))

    @property
    def is_identification(self) -> bool:
        """Whether all that was asked is which of two something was."""
        return set(self.notes.get("kinds", {}).values()) == {"correct"}

    def display_name(self, condition: str) -> str:
        """Return what to call a condition: its label; a correct answer is of two conditions, and then it is both."""
        labels: Mapping[str, str] = self.notes.get("condition_labels", {})
        if self.is_identification:
            return either_condition(condition, self.ratings, labels)
        label = labels.get(condition, condition)
        return f"{label} ({condition})" if list(labels.values()).count(label) > 1 else label

    def question_name(self, question: str) -> str:
        """Return what to call a question: its label, of a reversed one the name of its turned scores; else its id."""
        return str(self.notes.get("labels", {}).get(question, question))

    def better(self, condition: str, other: str, question: str | None = None) -> ConditionDifference:
        """Return whether a condition is better than another in a question: yes, no or undecided, with its evidence.

        It is clear where the report calls it clear; `no` is clearly worse. Conditions and questions go by their names
        or their labels; `question` may be left out where there is one only.
        """
        from beholder.analysis.condition_difference import better

        return better(self, condition, other, question)

    @property
    def _shown(self) -> DataFrame:
        """The scores of the conditions as one reads them."""
        table = self.conditions
        shown = table[["question", "condition", "n"]].assign(
            question=["" if again else shorten(self.question_name(name), _LONGEST_QUESTION, placeholder=" …")
                      for name, again in zip(table["question"], table["question"].duplicated(), strict=True)],
            condition=[self.display_name(name) for name in table["condition"]],
            mean=[f"{mean:.2f}" for mean in table["mean"]],
            interval=[_interval(*ends) for ends in zip(table["ci_low"], table["ci_high"], strict=True)],
        )  # fmt: skip
        return shown if table["question"].nunique() > 1 else shown.drop(columns="question")

    @property
    def interim_words(self) -> str:
        """That people may still come, and what intervals are worth until then; empty where nobody will."""
        collected = self.notes.get("collection")
        if collected is None or collected["ended"] is not None:
            return ""
        used = self.ratings[self.ratings["use"]]["participant"].nunique()
        words = f"Interim: {used} of {plain_count(collected['participants'], 'planned participant')}. Intervals and "
        words += "p-values hold whenever one looks"
        looks = len({look["finished"] for look in collected["looks"]})
        if not looks:
            return f"{words}. The look could not be recorded: name the store (--store)."
        return f"{words}; this is look {looks}, and recorded."

    @property
    def _population(self) -> str:
        if self.notes["population"] == "robots":
            return "Simulated: these ratings come from robots."
        return self.interim_words


def either_condition(name: str, ratings: DataFrame, labels: Mapping[str, str]) -> str:
    """Return both conditions of which one had to be named: a correct answer is of neither alone."""
    others = dict.fromkeys(ratings[ratings["condition"] == name]["other_condition"])
    return " or ".join(labels.get(one, one) for one in (name, *others) if one)


def _interval(low: float, high: float) -> str:
    return "" if low != low else f"{low:.2f} to {high:.2f}"


def _no_results(folder: Path) -> Problem:
    """Return why a folder has no results: nobody has taken part, or what they did was not analysed."""
    if not folder.is_dir():
        return Problem(str(folder), "is not there", "a study.yaml that was analysed, or its folder")
    if not (folder / "clean" / "ratings.csv").is_file():
        if not (store := folder / "store").is_dir():
            return no_answers(str(store), ", or name a store with `beholder clean --store`")
        fix = "Run `beholder clean` and `beholder analyse` first."
        return Problem(str(folder / "analyse"), "holds no results", "", fix)
    return Problem(str(folder / "analyse"), "holds no results", "", "Run `beholder analyse` first.")


def read_results(folder: str | Path) -> Results:
    """Return the results in a study's folder: analyse/, clean/ratings.csv, and report/index.html if it exists."""
    from beholder.cleaning.ratings import read_ratings

    folder = Path(folder)
    path = folder / "analyse" / "notes.json"
    if not path.is_file():
        raise UserError(_no_results(folder))
    notes = json.loads(path.read_text(encoding="utf-8"))
    ratings = read_ratings(folder / "clean" / "ratings.csv")
    if notes.get("ratings_sha256") != ratings_hash(folder / "clean" / "ratings.csv"):
        raise UserError(STALE)
    page = folder / "report" / "index.html"
    tables = {name: read_result(path.parent / f"{name}.csv") for name in TABLES}
    further = [name for name in notes["analyses"] if name not in TABLES]
    return Results(
        scores=tables["scores"],
        conditions=tables["conditions"],
        contents=tables["contents"],
        pairs=tables["pairs"],
        participants=tables["participants"],
        also={name: read_result(path.parent / f"{name}.csv") for name in further},
        ratings=ratings,
        notes=notes,
        report=page if page.is_file() else None,
    )


def ratings_hash(path: Path) -> str:
    """Return the SHA-256 of a table of ratings, which results keep to detect other ratings."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_result(path: Path) -> DataFrame:
    """Return a table of analyse/ with the types that its analysis declares."""
    from beholder.analysis.registry import find

    return find(path.stem).read(path)


# Metrics: names of numbers that keep different methods apart


_KINDS: Mapping[str, Metric] = {
    "score": Metric("Score", "Mean score.", MetricWords(heading="Scores")),
    "diff": Metric("CMOS", "Mean of the signed grades: above zero is better than what it was compared with."),
    "choice": Metric(
        "Preference",
        "Won minus lost, as a share of all its comparisons, from -1 (never preferred) to 1 (always); a tie counts "
        "zero. Every comparison counts once for each of the two.",
        MetricWords(unit=PERCENTAGE_POINTS),
    ),
    "correct": Metric("Share correct", "Share of correct answers; guessing gives one half."),
    "pick": Metric(
        "Share ticked",
        "Share of the participants' answers in which this was ticked.",
        MetricWords(unit=PERCENTAGE_POINTS, is_quality=False),
    ),
}


def scoring(method: str) -> Scoring:
    """Return what the numbers of a method are called; plain names where it is not installed."""
    return scoring_of(find(method)) if method in names() else Scoring()


def has_analysis(method: str, analysis: str) -> bool:
    """Return whether a method names an analysis that is not for every method; one that is not installed has none."""
    return method in names() and analysis in find(method).analyses


def asks_for_order(method: str) -> bool:
    """Return whether people put stimuli in order by this method, so that its ratings are places."""
    return method in names() and task_of(find(method)) == "order"


def takes_dmos(method: str) -> bool:
    """Return whether votes of a method can be held against votes on an original: its scoring says what that gives."""
    return "dmos" in scoring(method).metrics


def metric(method: str, kind: str) -> Metric:
    """Return what the mean of a condition is called under this method and kind of rating.

    The method is in the name; a table without methods has plain names.
    """
    of_method = scoring(method)
    if kind in of_method.metrics:
        return of_method.metrics[kind]
    plain = _KINDS.get(kind, _KINDS["score"])
    if not method:
        return plain
    # Abbreviations are written as in the Recommendations, DMOS(DCR); words have a space.
    space = "" if plain.name.isupper() else " "
    return plain._replace(name=f"{plain.name}{space}({of_method.short or method})")
