"""The result of a comparison: its tables, its finding in words, and its page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from beholder.analysis.result import Result
from beholder.analysis.score_tables import DIFFERENTIAL, is_differential
from beholder.comparison.agreement import agreeing, correlated, differences, effects, matrices
from beholder.comparison.contrasts import contrast_counts, contrasts
from beholder.comparison.merged_scale import mapping_table, merged_scales, merged_table
from beholder.comparison.paper_tables import accuracy, by_question, failures_against_first, triangles
from beholder.comparison.replication import replication
from beholder.comparison.sides import LEVELS, ComparedSides, MatchedScores, every_two
from beholder.errors import Problem, UserError
from beholder.result_view import DrawnResult, ResultView

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, repr=False)
class Comparison(DrawnResult):
    """How well sides agree; the tables are named as their files in compare/."""

    agreement: DataFrame
    """Correlations and errors of every two sides, per question, by stimulus and by condition."""
    words: tuple[str, ...]
    """The finding, a sentence or two for every two sides and question."""
    page: Path
    also: Mapping[str, DataFrame] = field(default_factory=dict)
    """stimuli, conditions, contrasts, contrast_counts, merged, mappings, replication, correlations, matrices,
    accuracy, triangles, failures, effects: those that there are.
    """
    notes: Mapping[str, Any] = field(default_factory=dict)
    charts: Mapping[str, Callable[[], Any]] = field(default_factory=dict, repr=False, compare=False)

    def _view(self) -> ResultView:
        more = {"agreement": self.agreement, **{f'also["{name}"]': table for name, table in self.also.items()}}
        return ResultView(self.words, self._shown, more, self.page)

    @property
    def _shown(self) -> DataFrame:
        """The agreement table, formatted for reading."""
        table = self.agreement
        names = ("pearson", "spearman", "tau_b", "rmse", "rmse_mapped")
        shown = table[["level", "question", "side", "other_side"]].assign(
            question=table["question"].replace("", "mean"),
            n=["" if n != n else f"{n:.0f}" for n in table["n"]],
            **{name: ["" if value != value else f"{value:.3f}" for value in table[name]] for name in names},
        )
        return shown if table["question"].nunique() > 1 else shown.drop(columns="question")


# All tables of a comparison


class ComparisonTables(NamedTuple):
    """The sides, what they share, and the tables by the names of their files."""

    sides: ComparedSides
    matched: Sequence[MatchedScores]
    results: Mapping[str, Result]

    @property
    def names(self) -> list[str]:
        """What the sides are called."""
        return list(dict.fromkeys(side.name for side in self.sides.sides))

    @property
    def labels(self) -> dict[str, str]:
        """What people read in place of the name of a condition: as the first side has it that has one."""
        return {name: label for side in reversed(self.sides.sides) for name, label in side.labels.items()}

    @property
    def question_labels(self) -> dict[str, str]:
        """What people read in place of the id of a question: as the first side has it that has a label for it."""
        given = [
            (name, label) for side in self.sides.sides for name, label in side.question_labels.items() if label != name
        ]
        named = {name: name for name in self.sides.questions}
        # Scores against a reference are called as the question is, with the sign of what they are.
        beside = [(name + DIFFERENTIAL, label + DIFFERENTIAL) for name, label in given]
        return named | {name: label for name, label in reversed([*given, *beside]) if name in named}

    @property
    def labelled(self) -> ComparisonTables:
        """The same with questions called by their labels, as sentences, figures and the page do; files have the ids."""
        labels = self.question_labels
        if all(name == label for name, label in labels.items()):
            return self
        results = {name: replace(one, table=_with_labels(one.table, labels)) for name, one in self.results.items()}
        matched = [one._replace(question=labels[one.question]) for one in self.matched]
        questions = tuple(labels[name] for name in self.sides.questions)
        return ComparisonTables(self.sides._replace(questions=questions), matched, results)

    def table(self, name: str) -> pd.DataFrame:
        """Return a table; an empty one where there is none."""
        return self.results[name].table if name in self.results else pd.DataFrame()

    def rows(self, name: str, one: MatchedScores) -> pd.DataFrame:
        """Return the rows of a table that are of these two sides and this question."""
        table = self.table(name)
        if table.empty:
            return table
        is_mine = (table["question"] == one.question) & (table["side"] == one.side)
        is_mine &= table["other_side"] == one.other_side
        return table[is_mine & (table["level"] == one.level)] if "level" in table else table[is_mine]

    def differing(self, one: MatchedScores) -> pd.DataFrame:
        """Return what was tested between these two sides: stimuli or conditions."""
        return self.rows("stimuli" if one.level == "stimulus" else "conditions", one)


def _with_labels(table: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """Return a table with labels in its column of questions, and over its columns that are questions."""
    named = table.rename(columns=dict(labels))
    return named.assign(question=named["question"].map({"": "", **labels})) if "question" in named else named


def find(sides: ComparedSides | Sequence[ComparedSides], margin: float | None) -> ComparisonTables:
    """Return all tables of a comparison; of several, with sides of the same names and other questions, as one."""
    several = [sides] if isinstance(sides, ComparedSides) else list(sides)
    _refuse_shared(several)
    matched = [pair for one in several for pair in every_two(one.sides, one.questions)]
    whole = ComparedSides(
        tuple(side for one in several for side in one.sides),
        tuple(name for one in several for name in one.questions),
        tuple(dict.fromkeys(note for one in several for note in one.notes)),
    )
    agreement = agreeing(matched)
    # What conditions differ by is the same against a reference.
    asked = [[name for name in one.questions if not is_differential(name)] for one in several]
    contrasted = _joined([contrasts(one.sides, own) for one, own in zip(several, asked, strict=True)])
    names = list(dict.fromkeys(side.name for side in whole.sides))
    tested: dict[str, Result | None] = {level: differences(matched, level) for level in LEVELS}
    scales = [scale for one, own in zip(several, asked, strict=True) for scale in merged_scales(one.sides, own)]
    results: dict[str, Result | None] = {
        "agreement": agreement,
        "by_question": by_question(agreement.table),
        "stimuli": tested["stimulus"],
        "conditions": tested["condition"],
        "contrasts": contrasted,
        "contrast_counts": contrast_counts(contrasted.table) if contrasted is not None else None,
        "merged": merged_table(scales),
        "mappings": mapping_table(scales),
        "replication": replication(whole.sides, contrasted.table) if contrasted is not None else None,
        "accuracy": accuracy(agreement.table, names, tested),
        "triangles": triangles(agreement.table, names),
        "failures": _joined([failures_against_first(one.sides, own) for one, own in zip(several, asked, strict=True)]),
        "matrices": matrices(agreement.table, names),
        "correlations": _joined([correlated(one.sides, one.questions) for one in several]),
        "effects": _joined([effects(one.sides, one.questions, margin) for one in several]),
    }
    return ComparisonTables(whole, matched, {name: one for name, one in results.items() if one is not None})


def _joined(results: Sequence[Result | None]) -> Result | None:
    """Return results of the same kind as one; None where there is none."""
    known = [one for one in results if one is not None]
    return replace(known[0], table=pd.concat([one.table for one in known], ignore_index=True)) if known else None


def _refuse_shared(several: Sequence[ComparedSides]) -> None:
    """Raise UserError where two comparisons that are to be one have a question of the same name."""
    asked = [name for one in several for name in one.questions]
    shared = [name for name in dict.fromkeys(asked) if asked.count(name) > 1]
    if shared:
        what = f"joins studies that both ask {', '.join(shared)}"
        raise UserError(Problem("--runs", what, "studies with other questions", "Compare the runs of each by itself."))
