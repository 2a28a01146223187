"""The conformance suite of analyses: `check_analysis`, for our analyses and those of other packages."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from beholder.analysis.contract import Analysis
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.registry import find, names
from beholder.analysis.result import Result, records, scoring
from beholder.analysis.time_marks import MarkData
from beholder.methods import methods
from beholder.study.cleaning import Analyse, MarkAnalysis

_PEOPLE, _CONTENTS = 12, ("city", "forest", "harbour")
_CONDITIONS = {"original": 4.4, "fine": 3.8, "coarse": 2.9, "broken": 1.8}
"""With how good they are, from 1 to 5."""


def check_analysis(analysis: str | Analysis, *ratings: pd.DataFrame, whole: bool = True) -> None:
    """Raise AssertionError with a sentence if an analysis does not keep the contract.

    Its columns have a meaning, and are those of its tables, which come back from their files as they were; it says how
    numbers were made; the same ratings give the same table and are not changed; what it cites is declared; its figure
    can be drawn; where it does not apply it returns None. It is tried on ratings of every kind, on hardly any and none,
    and on `ratings`; each twice, or where this is not the `whole`, twice on the first ones that it applies to.
    """
    one = find(analysis) if isinstance(analysis, str) else analysis
    _check_declared(one)
    applies: list[bool] = []
    for some in (*_samples(), *map(as_ratings, ratings)):
        applies.append(_check_computed(one, some, is_repeated=whole or not any(applies)))
    assert any(applies), f"{one.name} returns None for all ratings that it was tried on: pass some that it is for"


def _check_declared(one: Analysis) -> None:
    """Assert that everything that a reader needs to know is declared."""
    columns = [column.name for column in one.columns]
    assert columns, f"{one.name} declares no columns"
    assert len(set(columns)) == len(columns), f"{one.name} declares a column twice"
    for column in one.columns:
        assert column.text.strip().endswith("."), f"{column.name} of {one.name} has no sentence on its meaning"
    assert one.row, f"{one.name} does not say what there is a row for"
    assert one.holds, f"{one.name} does not say what it holds"
    assert not one.takes or one.takes in names(), f"{one.name} takes {one.takes}, which is not an analysis"


def _check_computed(one: Analysis, ratings: Ratings, *, is_repeated: bool) -> bool:
    """Assert that ratings are analysed as declared; return whether the analysis applies to them."""
    from altair.utils.schemapi import debug_mode

    given = {part: getattr(ratings, part).copy() for part in ("table", "votes", "used", "rows")}
    result = _computed(one, replace(ratings, **given) if is_repeated else ratings)
    for part, frame in given.items():
        assert frame.equals(getattr(ratings, part)), f"{one.name} changes the ratings that it is given"
    # Now with what other analyses have kept of these ratings.
    again = _computed(one, ratings) if is_repeated else result
    assert (result is None) == (again is None), f"{one.name} applies to the same ratings at one time only"
    if result is None or again is None:
        return False
    assert isinstance(result, Result), f"{one.name} returns a {type(result).__name__}, not a Result"
    faults = "; ".join(one.faults(result.table))
    assert not faults, f"{one.name}: {faults}"
    texts = (again.note, again.citation) == (result.note, result.citation)
    assert texts, f"{one.name} says something else of the same ratings"
    assert again.table.equals(result.table), f"{one.name} makes something else of the same ratings"
    assert result.note.strip(), f"{one.name} has no note on how its numbers are made"
    _check_sources(one, result, ratings)
    _check_cells(one, result.table)
    if one.draw is not None and len(result.table):
        # Altair compares the whole with its grammar; each part before would take as long again.
        with debug_mode(False):
            figure = one.draw(result.table).to_dict()
        assert figure, f"the figure of {one.name} is empty"
    return True


def _check_sources(one: Analysis, result: Result, ratings: Ratings) -> None:
    """Assert that all cited sources are declared by the analysis, or by the methods of the ratings."""
    declared = "; ".join([one.citation, *(scoring(method).citation for method in ratings.methods.values())])
    more = set(_sources(result.citation)) - set(_sources(declared))
    assert not more, f"{one.name} cites {min(more)}, which it does not declare"


def _check_cells(one: Analysis, table: pd.DataFrame) -> None:
    """Assert that the table comes back from its file, and holds allowed values only."""
    with tempfile.TemporaryDirectory(prefix="beholder-analysis-") as folder:
        path = Path(folder) / one.file
        path.write_bytes(one.write(table))
        back = one.read(path)
    for name in table.columns:
        column = one.column(name)
        written, read = table[name].to_numpy(), back[name].to_numpy()
        same = (
            np.allclose(written.astype(float), read.astype(float), rtol=1e-9, atol=0, equal_nan=True)
            if column is not None and column.kind in ("integer", "number")
            else list(written) == list(read)
        )
        assert same, f"{name} of {one.name} is not the same when it is read back"
        if column is not None and column.allowed:
            other = set(read) - {*column.allowed, ""}
            assert not other, f"{name} of {one.name} holds {min(other)!r}, which is not allowed"


def _computed(one: Analysis, ratings: Ratings) -> Result | None:
    """Return what an analysis makes of ratings, or of the result that it takes."""
    if not one.takes:
        return one.compute(ratings)
    source = _computed(find(one.takes), ratings)
    return None if source is None else one.compute(source)


def _sources(citation: str) -> list[str]:
    return [source for source in citation.split("; ") if source]


# Ratings to try analyses on


def sample_ratings() -> dict[str, pd.DataFrame]:
    """Return small tables of ratings of every kind, as in clean/ratings.csv, by what they are of."""
    rng = np.random.default_rng(7)
    votes = list(product(range(_PEOPLE), _CONTENTS, _CONDITIONS))
    pairs = [(person, content, *two) for person, content in product(range(_PEOPLE), _CONTENTS) for two in _PAIRS]
    hidden = {"original": "hidden_reference"}
    return {
        "scores": _table(_scores(votes, "", rng)),
        "hidden reference": _table(_scores(votes, _method_with("dmos"), rng), roles=hidden),
        "sliders": _table(_scores(votes, _method_with("medians"), rng, width=25), {**hidden, "broken": "anchor"}),
        "statements": _table([*_statements(votes, rng)]),
        "words": _table([*_words(votes, rng)]),
        "texts": _table([*_texts(votes, rng)]),
        "grades": _table(_compared(pairs, "diff", rng)),
        "choices": _table(_compared(pairs, "choice", rng)),
        "identification": _table(_compared(pairs, "correct", rng)),
        "orders": _table(_orders(votes, _method_with("plackett_luce"), rng)),
        "one rating": _table(_scores(votes[:1], "", rng)),
        "nothing used": _table(_scores(votes[:8], "", rng)).assign(use=False, reasons="attention:failed"),
        "mismatches": _table([*_mismatches(votes, rng)]).assign(role="matched"),
        "own stimuli": _own(_table(_scores(votes, "", rng))),
    }


@cache
def _samples() -> tuple[Ratings, ...]:
    samples = tuple(map(as_ratings, sample_ratings().values()))
    # A study may also ask for more than its ratings show.
    asked = replace(samples[0], order=replace(samples[0].order, settings=Analyse(margin=0.5)))
    return (*samples, asked, replace(samples[0], marks=_marks(samples[0])))


def _marks(ratings: Ratings) -> MarkData:
    """Return marks of clips of 6 s by the people who rated them: at 2 s where they were bad, and some anywhere."""
    rng = np.random.default_rng(8)
    viewings = ratings.used[["participant", "session", "position", "content", "condition", "stimulus"]]
    viewings = viewings.assign(slot="s1", length_s=6.0)
    bad = viewings[ratings.used["value"] < 3].assign(label="blur")
    some = viewings[::5].assign(label="noise")
    marks = pd.concat([
        bad.assign(seconds=rng.normal(2, 0.2, len(bad))), some.assign(seconds=rng.uniform(0, 6, len(some)))
    ])  # fmt: skip
    counts = marks.groupby(["session", "position"]).size()
    counted = counts.reindex(pd.MultiIndex.from_frame(viewings[["session", "position"]]), fill_value=0)
    return MarkData(marks, viewings.assign(marks=counted.to_numpy()), MarkAnalysis())


_PAIRS = tuple(combinations(_CONDITIONS, 2))


def _method_with(analysis: str) -> str:
    """Return the name of a method that has an analysis which is not for every method."""
    return next(name for name, method in methods().items() if analysis in method.analyses)


def _table(rows: Any, roles: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Return rows with what all kinds of rating have: who, where and when, and whether they are used."""
    table = pd.DataFrame(rows)
    person = table["participant"]
    is_out = person == _PEOPLE - 1
    return table.assign(
        participant=[f"p{number:02}" for number in person],
        session=[f"s{number:02}" for number in person],
        stimulus=table["condition"] + "/" + table["content"],
        other_stimulus=(table["other_condition"] + "/" + table["content"]).where(table["other_condition"] != "", ""),
        role=[(roles or {}).get(name, "test") for name in table["condition"]],
        use=~is_out,
        reasons=np.where(is_out, "agreement:disagrees", ""),
        run=1 + person % 2,
        position=table.groupby("participant").cumcount() + 1,
        response_ms=9000 + 100 * (table.index % 7),
        factor_camera=np.where(table["content"] == "city", "fixed", "moving"),
    )


def _scores(votes: Any, method: str, rng: np.random.Generator, width: float = 1.0) -> list[dict[str, Any]]:
    return [
        {
            "participant": person, "content": content, "condition": condition, "other_condition": "", "kind": "score",
            "question": "quality", "method": method, "unit": "", "scale_min": width * 1.0, "scale_max": width * 5.0,
            "value": width * float(np.clip(round(_CONDITIONS[condition] + rng.normal()), 1, 5)),
        }
        for person, content, condition in votes
    ]  # fmt: skip


def _orders(votes: Any, method: str, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return the places of all conditions on a page for each person and content, from -1 for the last to 1."""
    rows = pd.DataFrame(_scores(votes, method, rng)).assign(scale_min=-1.0, scale_max=1.0)
    felt = rows["condition"].map(_CONDITIONS) + rng.normal(0, 1.5, len(rows))
    place = felt.groupby([rows["participant"], rows["content"]]).rank(ascending=False)
    return records(rows.assign(value=1 - 2 * (place - 1) / (len(_CONDITIONS) - 1)))


def _statements(votes: Any, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Yield answers to three statements, of which one is reversed, and what was ticked."""
    for question in ("clear", "pleasant", "annoying"):
        for row in _scores(votes, "", rng):
            turned = {"value": 6 - row["value"], "keyed": row["value"]} if question == "annoying" else {}
            yield {"keyed": row["value"], **row, "question": question, **turned}
    for row in _scores(votes, "", rng):
        yield {**row, "question": "seen", "kind": "pick", "unit": "blur", "value": float(row["value"] < 3)}


def _words(votes: Any, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Yield which words of a transcript were marked, more of them under worse conditions; of nothing, the last one."""
    for row in _scores(votes, "", rng):
        for place, word in enumerate(("a", "clear", "day", "a"), 1):
            value = float(rng.random() < (5 - row["value"]) / 5) if place < 4 else 0.0
            yield {
                **row, "question": "unclear", "kind": "pick", "unit": str(place), "word": word, "value": value,
                "scale_min": 0.0, "scale_max": 1.0,
            }  # fmt: skip


def _texts(votes: Any, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Yield what was typed of a sentence, fewer words under worse conditions, some of them others."""
    said = ("a", "clear", "day", "by", "the", "sea")
    for row in _scores(votes, "", rng):
        known = rng.random(len(said)) < row["value"] / 5
        heard = [
            word if is_known else "say" for word, is_known in zip(said, known, strict=True) if is_known or word == "day"
        ]
        yield {
            **row, "question": "heard", "said": " ".join(said), "heard": " ".join(heard),
            "value": 100 * float(known.mean()), "scale_min": 0.0, "scale_max": 100.0,
        }  # fmt: skip


def _own(table: pd.DataFrame) -> pd.DataFrame:
    """Return ratings of which those of one content are of stimuli that are for whoever rated them."""
    return table.assign(relation=np.where(table["content"] == "harbour", "own", "common"))


def _mismatches(votes: Any, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Yield grades of stimuli beside themselves with a foreign companion, nearer to chance under worse conditions."""
    for row in _scores(votes, _method_with("appropriateness"), rng):
        value = float(np.clip(round(row["value"] - 3), -2, 2))
        yield {**row, "kind": "diff", "value": value, "scale_min": -2.0, "scale_max": 2.0}


def _compared(pairs: Any, kind: str, rng: np.random.Generator) -> list[dict[str, Any]]:
    rows = []
    for person, content, one, other in pairs:
        grade = float(np.clip(round(_CONDITIONS[one] - _CONDITIONS[other] + rng.normal()), -3, 3))
        value = {"diff": grade, "choice": float(np.sign(grade)), "correct": float(grade > 0)}[kind]
        shown_first = bool(rng.random() < 0.5)
        rows.append(
            {
                "participant": person, "content": content, "condition": one, "other_condition": other, "kind": kind,
                "question": "better", "method": "", "unit": "", "value": value,
                "raw_value": -value if shown_first else value,
                "scale_min": 0.0 if kind == "correct" else -3.0, "scale_max": 1.0 if kind == "correct" else 3.0,
            }
        )  # fmt: skip
    return rows
