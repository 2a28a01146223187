"""HEMVIP's validation study: eight gesture systems in parallel, four questions asked of four groups."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beholder.examples.contract import ExampleRun, Exhibit, PaperStudy, read_published, sheet
from beholder.examples.steps import indexed, picture_of_step, rehearse, set_size, write_clips
from beholder.formats import number

if TYPE_CHECKING:
    import pandas as pd

    from beholder.analysis.result import Results
    from beholder.reporting.sheets import TextTable

_FOLDER = Path(__file__).parent
_QUESTIONS = {"human-like": "Q1", "reflects": "Q2", "helps": "Q3", "in-sync": "Q4"}
_LABELS = {
    "ground-truth": "GT", "full": "Full", "no-ar": "NoAR", "no-pca": "NoPCA", "no-film": "NoFiLM",
    "no-audio": "NoAudio", "no-text": "NoText", "no-vel": "NoVel",
}  # fmt: skip
_CLIPS = {
    "ground-truth": "natural", "full": "smooth", "no-ar": "jerky", "no-pca": "natural resolution-72",
    "no-film": "blurred", "no-audio": "noisy", "no-text": "frozen", "no-vel": "blocky",
}  # fmt: skip
"""What is drawn for each system: eight versions that can be told apart. Their ratings are planted, not theirs."""
_QUALITY = {
    "ground-truth": 0.87, "full": 0.36, "no-ar": 0.30, "no-pca": 0.47, "no-film": 0.39, "no-audio": 0.33,
    "no-text": 0.24, "no-vel": 0.38,
}  # fmt: skip
"""Planted so that systems lie about as far apart as the paper's differences say."""
_CONTINENTS = ("Africa", "Asia", "Europe", "North America", "Oceania", "South America")


def _prepare(run: ExampleRun) -> None:
    write_clips(run, run.folder / "stimuli", _CLIPS, run.size(50, 3))


def _exhibits(run: ExampleRun) -> Iterator[Exhibit]:
    import beholder
    from beholder.analysis.result import read_results

    study = run.folder / "study.yaml"
    set_size(study, participants=run.size(184, 8), trials=run.size(10, 3))
    rehearse(run, study, _QUALITY)
    results = beholder.analyse(study) if run.small else read_results(run.folder)
    yield Exhibit(
        "Figure 1", "A page with eight videos (left); the parts of the system (right)", "page",
        "`beholder preview`; the parts are on the page Architecture", figure=picture_of_step(run, study, "trial"),
    )  # fmt: skip
    yield _agreement()
    yield Exhibit(
        "Table 2", "Who took part, by question", "rehearsal", "`beholder clean`: clean/participants.csv",
        _demographics(study), read_published(_FOLDER / "published" / "table-2.csv"),
        note="Simulated people answer by a distribution that Beholder plants; it is not the paper's.",
    )  # fmt: skip
    yield Exhibit(
        "Table 3", "Seven contrasts, four questions", "rehearsal", "`beholder analyse`: analyse/tests.csv",
        _contrasts(results), _published_contrasts(),
        note="Differences and shares are those of the planted qualities. Intervals of t and sign tests by page, as the "
        "paper has them; our own headline counts people and contents (analyse/pairs.csv).",
    )  # fmt: skip
    yield Exhibit(
        "Section 5, pairs", "Pairs of all 28 that Wilcoxon’s test calls different, after Holm", "rehearsal",
        "`beholder analyse`: analyse/tests.csv", _all_pairs(results),
        sheet(("", "Q1", "Q2", "Q3", "Q4"), [("Of 28 pairs", "26", "23", "24", "24")]),
    )  # fmt: skip
    yield Exhibit(
        "Section 5, times", "Seconds for a page and for a rating", "rehearsal", "`beholder analyse`: analyse/times.csv",
        _times(results), sheet(("", "Mean", "Median"), [("Page", "176", ""), ("Rating", "22", "")]),
        note="Our clips last a second, theirs ten. A rating is a page divided by its eight videos.",
    )  # fmt: skip


def _agreement() -> Exhibit:
    """Return Table 1, computed from the published Table 3."""
    import pandas as pd

    from beholder.analysis.result import records
    from beholder.analysis.tests import beside_earlier

    published = pd.read_csv(_FOLDER / "published" / "table-3.csv", dtype=str)
    keys = published[["question"]].assign(condition=published["to"], other_condition=published["from"])
    columns = {"C-P": "share_clear", "t": "t_clear", "earlier": "earlier_clear"}
    judged = pd.concat(
        keys.assign(test=test, clear=(published[column] == "yes") * 1.0) for test, column in columns.items()
    )
    found = beside_earlier(judged, "earlier")
    rows = [
        (row["question"], f"{row['other_condition']} → {row['condition']}", "✓" if row["earlier"] else "✗", row["C-P"],
         row["t"])
        for row in records(found)
    ]  # fmt: skip
    agree = [f"{(found[test] == '').sum()} of {len(found)}" for test in ("C-P", "t")]
    return Exhibit(
        "Table 1", "On which contrasts HEMVIP agrees with the earlier pairwise study", "published",
        "`beholder.analysis.tests.beside_earlier` of the published Table 3",
        sheet(("Question", "Contrast", "Clear in the earlier study", "C-P test", "t test"),
              [*rows, ("", "Agree", "", *agree)], names=2),
        note="+ or -: clear here and not there, or the other way round. The paper counts 23 and 27 of 28.",
    )  # fmt: skip


def _demographics(study: Path) -> TextTable:
    """Return age, gender, first language, ease and continents of each group, in the rows of the paper."""
    import pandas as pd

    people = pd.read_csv(study.parent / "clean" / "participants.csv", dtype=str)
    people = people[people["use"] == "true"]
    groups = [(str(name), group) for name, group in people.groupby("factor_question")]
    makers: Mapping[str, Any] = {
        "Age": lambda one: _spread(one["answer_age"].astype(float), 0),
        "Gender (F/M)": lambda one: _counts(one["answer_gender"], ("female", "male")),
        "Native English speakers": lambda one: f"{100 * (one['answer_english'] == 'yes').mean():.0f}%",
        "Task was easy (1 to 5)": lambda one: _spread(one["answer_easy"].str[0].astype(float), 1),
        "/".join(_CONTINENTS): lambda one: _counts(one["answer_continent"], _CONTINENTS),
    }
    rows = [(name, *(make(group) for _, group in groups)) for name, make in makers.items()]
    return sheet(("", *(name for name, _ in groups)), rows)


def _spread(values: pd.Series[float], decimals: int) -> str:
    return f"{number(values.mean(), decimals)} ± {number(values.std(), decimals)}"


def _counts(answers: pd.Series[str], options: Sequence[str]) -> str:
    return "/".join(str((answers == option).sum()) for option in options)


_CONTRAST_HEADS = ("Question", "A → B", "E[B − A]", "p", "P(B > A)", "p, C-P")


def _contrasts(results: Results) -> TextTable:
    """Return the named contrasts in the columns of the paper: mean difference, share that is higher, after Holm."""
    tests = results.also["tests"]
    named = indexed(tests[tests["clear"].notna()], "question", "condition", "other_condition", "test")
    rows = []
    for question, condition, other in dict.fromkeys(key[:3] for key in named):
        t, sign = (named[question, condition, other, test] for test in ("paired t", "sign"))
        half = (t["ci_high"] - t["ci_low"]) / 2
        rows.append(
            (_QUESTIONS[question], f"{_LABELS[other]} → {_LABELS[condition]}",
             f"{number(t['estimate'], 1)} ± {number(half, 1)}", _small(t["p_holm"]),
             _share(*(100 * sign[name] for name in ("estimate", "ci_low", "ci_high"))), _small(sign["p_holm"]))
        )  # fmt: skip
    return sheet(_CONTRAST_HEADS, rows, names=2)


def _published_contrasts() -> TextTable:
    published = read_published(_FOLDER / "published" / "table-3.csv", names=3)
    rows = []
    for row in (dict(zip(published.heads, cells, strict=True)) for cells in published.rows):
        share = _share(*(float(row[name]) for name in ("share", "share_low", "share_high")))
        rows.append(
            (row["question"], f"{row['from']} → {row['to']}",
             f"{number(float(row['difference']), 1)} ± {row['half_width']}", row["p_t"], share, row["p_share"])
        )  # fmt: skip
    return sheet(_CONTRAST_HEADS, rows, names=2)


def _share(share: float, low: float, high: float) -> str:
    return f"{number(share, 0)} % ({number(low, 0)} to {number(high, 0)})"


def _small(p: float) -> str:
    """Return a p-value as the paper prints it: below a thousandth as the next power of ten."""
    return f"{p:.3f}" if p >= 0.001 else f"<1e{max(-99, math.ceil(math.log10(max(p, 1e-300))))}"


def _all_pairs(results: Results) -> TextTable:
    """Return how many of all pairs Wilcoxon's test calls different, in each question."""
    tests = results.also["tests"]
    clear = tests[(tests["test"] == "Wilcoxon") & (tests["all_clear"] == 1)].groupby("question").size()
    return sheet(("", *_QUESTIONS.values()), [("Of 28 pairs", *(str(clear.get(name, 0)) for name in _QUESTIONS))])


def _times(results: Results) -> TextTable:
    times = results.also["times"]
    whole = times[times["position"].isna() & (times[["condition", "group"]].fillna("") == "").all(axis=1)]
    rows = [
        (row["of"].capitalize(), number(row["mean_s"], 0), number(row["median_s"], 0))
        for row in whole.to_dict("records")
        if row["of"] in ("page", "rating")
    ]
    return sheet(("", "Mean", "Median"), rows)


EXAMPLE = PaperStudy(
    "hemvip",
    "Many videos in parallel",
    "Jonell, Yoon, Wolfert, Kucherenko and Henter (2021), HEMVIP: Human evaluation of multiple videos in parallel",
    "eight gesture systems on one page, four questions of four groups, 184 people",
    _FOLDER,
    _prepare,
    _exhibits,
)
