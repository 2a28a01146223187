"""relation: one question against another, their line, and whether there is a dip in it (the uncanny valley)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import pandas as pd

from beholder.analysis.figures.labels import dip_text
from beholder.analysis.figures.relation import relation_chart
from beholder.analysis.figures.theme import COLUMN, Layout
from beholder.analysis.result import Result
from beholder.dimensionality.data import Data, Joined, factors, join, scaling_note
from beholder.dimensionality.profile import check_names, turned_note
from beholder.errors import Problem, UserError, did_you_mean
from beholder.stats.regression import dip, line

COLUMNS = [
    "x", "y", "level", "n", "slope", "slope_low", "slope_high", "intercept", "r_squared", "p", "dip", "dip_f", "dip_p",
    "aicc_line", "aicc_curve", "depth", "depth_most", "high_at", "low_at", "note",
]  # fmt: skip
CITATION = (
    "Student (1908), Biometrika 6; Mori (1970), Energy 7 (the uncanny valley); Scheffé (1953), Biometrika 40; "
    "Hurvich and Tsai (1989), Biometrika 76 (AICc)"
)
At: TypeAlias = Literal["condition", "stimulus"]
_NAMES = {"condition": "conditions", "stimulus": "stimuli"}


def relation(
    data: Data | Sequence[Data], x: str, y: str, level: At = "condition", *, labels: Mapping[str, str] | None = None
) -> Result:
    """Return the line of question `y` on question `x` over conditions or stimuli, and whether a dip fits better.

    `labels` are what to call questions in the picture.
    """
    joined = join(data)
    x, y = joined.name_of(x), joined.name_of(y)
    names = {joined.name_of(name): label for name, label in (labels or {}).items()}

    def draw(_: pd.DataFrame) -> Any:
        return drawn_relation(joined, x, y, level, across=names.get(x, x), up=names.get(y, y))

    return _result(joined, [_row(joined, x, y, level)], level, draw)


def relations(data: Data | Sequence[Data], x: str, level: At = "condition") -> Result:
    """Return the same for every other question on question `x`."""
    joined = join(data)
    x = joined.name_of(x)
    check_names("x", [x], joined.questions)
    return _result(joined, [_row(joined, x, y, level) for y in joined.questions if y != x], level)


def drawn_relation(joined: Joined, x: str, y: str, level: At, *, across: str, up: str, layout: Layout = COLUMN) -> Any:
    """Return the picture of one question against another."""
    points = relation_points(joined, x, y, level)
    labels = joined.labels if level == "condition" else {}
    dip_test = dip(points["x"], points["y"])
    return relation_chart(points, across=across, up=up, dip=dip_test, labels=labels, layout=layout)


def _row(joined: Joined, x: str, y: str, level: At) -> tuple[object, ...]:
    points = relation_points(joined, x, y, level)
    fitted, dip_test = line(points["x"], points["y"]), dip(points["x"], points["y"])
    return (
        x, y, level, fitted.n, fitted.slope, fitted.low, fitted.high, fitted.intercept, fitted.r_squared, fitted.p,
        dip_test.verdict, dip_test.f, dip_test.p, dip_test.aicc_line, dip_test.aicc_curve, dip_test.depth,
        dip_test.depth_most, dip_test.high_at, dip_test.low_at, dip_test.why or dip_text(dip_test),
    )  # fmt: skip


def _result(
    joined: Joined, rows: list[tuple[object, ...]], level: At, draw: Callable[[pd.DataFrame], Any] | None = None
) -> Result:
    note = (
        f"Means of {_NAMES[level]}: the line of y on x by least squares, its slope with 95 % Student t, and R². Every "
        f"one of the {_NAMES[level]} counts once, and x as known without error, which makes slopes a little too flat. "
        "dip: yes where a cubic curve fits better (F test of the line within it, dip_p below 0.05) and, inside the "
        "data, turns down (high_at) and then up again (low_at); no where even the deepest dip that the data leave room "
        "for (depth_most, 95 %, Scheffé) is below a fifth of the range of y; undecided where neither holds. depth: how "
        "far the fitted curve falls and rises again. aicc: lower fits better for its number of coefficients; empty "
        "where there are too few points for it."
    )
    return Result(pd.DataFrame(rows, columns=COLUMNS), note + turned_note(joined), CITATION, draw)


def relation_points(joined: Joined, x: str, y: str, level: At) -> pd.DataFrame:
    """Return name, x and y of what has both questions; for conditions also the ends of their intervals."""
    unknown = [(place, name) for place, name in (("x", x), ("y", y)) if name not in joined.questions]
    if unknown:
        raise UserError([
            Problem(place, f"{name} is not a question with numbers", ", ".join(joined.questions),
                    did_you_mean(name, joined.questions))
            for place, name in unknown
        ])  # fmt: skip
    grid = joined.by_condition if level == "condition" else joined.by_stimulus
    points = pd.DataFrame({"name": grid.index.astype(str), "x": grid[x].to_numpy(), "y": grid[y].to_numpy()})
    if level == "condition":
        for which, question in (("x", x), ("y", y)):
            mine = joined.means[joined.means["question"] == question].drop_duplicates("condition")
            for end, column in (("low", "ci_low"), ("high", "ci_high")):
                points[f"{which}_{end}"] = points["name"].map(mine.set_index("condition")[column].astype(float))
    return points.dropna(subset=["x", "y"]).reset_index(drop=True)


# Spread of the questions of a condition, against its mean on one of them


SPREAD_COLUMNS = ["condition", "of", "x", "questions", "spread", "range"]


def spread(
    data: Data | Sequence[Data], of: str, level: At = "condition", *, questions: Sequence[str] | None = None
) -> Result:
    """Return the sd and the range over questions of every condition, or stimulus, beside its mean on the question `of`.

    `questions` are those of the study that asked `of` when left out.
    """
    joined = join(data)
    of, questions = joined.name_of(of), [joined.name_of(name) for name in questions] if questions is not None else None
    check_names("of", [of], joined.questions)
    check_names("questions", questions or (), joined.questions)
    part = joined.part_of([of])
    asked = list(questions) if questions is not None else list(part.questions if part is not None else joined.questions)
    grid = joined.by_condition if level == "condition" else joined.by_stimulus
    means = grid[asked] * factors(joined, asked)
    names = [str(name) for name in grid.index]
    table = pd.DataFrame(
        {
            "stimulus": names,
            "condition": names if level == "condition" else [joined.condition_of[name] for name in names],
            "of": of,
            "x": grid[of].to_numpy(),
            "questions": means.notna().sum(axis=1).to_numpy(),
            "spread": means.std(axis=1, ddof=1).to_numpy(),
            "range": (means.max(axis=1) - means.min(axis=1)).to_numpy(),
        }
    )
    columns = SPREAD_COLUMNS if level == "condition" else ["stimulus", *SPREAD_COLUMNS]
    table = table[table["x"].notna() & table["spread"].notna()].reset_index(drop=True)[columns]
    note = (
        f"x: the {level}'s mean on {of}. spread: sd (n - 1) over its means on {len(asked)} questions "
        f"({', '.join(asked)}); range: highest minus lowest of them. Part of it is chance: each mean has its own error."
    )
    return Result(table, note + scaling_note(joined) + turned_note(joined), "", _draw)


def _draw(table: pd.DataFrame) -> Any:
    from beholder.analysis.figures.relation import spread_chart

    return spread_chart(table)
