"""Variance components of ratings, and the sources of a population."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from beholder import simulate
from beholder.errors import UserError
from beholder.simulation.truth import IDEAL, Population, read_people
from beholder.simulation.variance import estimate_variances, read_source
from support.data import DATA
from support.simulated_ratings import SimulatedStudy


@pytest.mark.parametrize(("taste", "spread"), [(0.06, 0.3), (0.12, 0.15)])
def test_effects_are_found_again_in_ratings(acr: SimulatedStudy, taste: float, spread: float) -> None:
    """From a population to ratings and back: the variance components that a pilot is read by."""
    people = replace(
        IDEAL, bias=0.1, inconsistency=0.1, inconsistency_spread=spread, taste=taste, content_condition=0.06
    )
    sheet, answers = acr.answers(**{one.name: getattr(people, one.name) for one in fields(people)})
    names = ("list", "content", "condition", "stimulus")
    table = pd.DataFrame({name: getattr(sheet, name).astype(str) for name in names}).rename(
        columns={"list": "participant"}
    )
    estimates = estimate_variances(table.assign(question="q", value=answers.value / 100), {"q": 0.01}).variances
    # What is cut off at the ends of the scale is missing from inconsistency.
    for name, within in (("bias", 0.02), ("inconsistency", 0.015), ("inconsistency_spread", 0.1), ("taste", 0.015)):
        assert estimates[name].value == pytest.approx(getattr(people, name), abs=within), name
    assert estimates["content_condition"].value == pytest.approx(0.06, abs=0.04)


def test_tastes_that_cannot_be_told_are_part_of_the_inconsistency() -> None:
    """Everybody rates each condition once: what they think of it and what they waver by are one number."""
    rng = np.random.default_rng(1)
    people, conditions = (code.ravel() for code in np.meshgrid(np.arange(60), np.arange(4), indexing="ij"))
    table = pd.DataFrame({"participant": people, "condition": conditions, "stimulus": conditions, "content": "one"})
    bias, own = rng.normal(0, 0.1, 60), rng.normal(0, 0.1, len(people))
    estimates = estimate_variances(table.assign(question="q", value=0.5 + bias[people] + own), {"q": 0.01}).variances
    assert estimates["bias"].value == pytest.approx(0.1, abs=0.02)
    assert estimates["inconsistency"].value == pytest.approx(0.1, abs=0.01)
    assert estimates["taste"] == (None, "who rated what does not tell it apart")
    assert estimates["inconsistency_spread"] == (
        None,
        "0 participants with 8 ratings more than conditions, and it takes 8",
    )


def test_one_is_told_as_one() -> None:
    table = pd.DataFrame(
        {"participant": "p", "condition": list("ab"), "stimulus": list("ab"), "content": "one", "value": [0.2, 0.4]}
    )
    assert estimate_variances(table.assign(question="q"), {}).variances["bias"] == (
        None,
        "1 participant, and it takes 5",
    )


def test_spreads_of_the_laboratory_are_those_of_the_public_set() -> None:
    path, reference = (DATA / "ratings" / f"vqeghd3_{name}.csv" for name in ("raw", "variance_components"))
    if not path.is_file():
        pytest.skip(f"ratings/vqeghd3_raw.csv is not in {DATA}; set BEHOLDER_TEST_DATA")
    raw, reference_sd = pd.read_csv(path), pd.read_csv(reference).set_index("component")["sd"] / 4
    table = raw.rename(columns={"subject": "participant"}).assign(question="q", value=(raw["score"] - 1) / 4)
    estimates = {name: one.value for name, one in estimate_variances(table, {"q": 0.25}).variances.items()}
    for name, component in (("bias", "S"), ("taste", "SH"), ("content", "C"), ("content_condition", "CH")):
        assert estimates[name] == pytest.approx(reference_sd[component], abs=0.004), name
    for name in ("taste", "content", "content_condition"):
        assert estimates[name] == pytest.approx(getattr(Population(), name), abs=0.0006), name


def test_a_source_is_a_set_or_a_pilot(tmp_path: Path) -> None:
    source = read_source("public", "leaving:0.02")
    assert source.people == read_people("leaving:0.02", Population())
    origins = {row["what"]: row["from"] for row in source.rows()}
    assert (origins["taste"], origins["leaving"], origins["pace"]) == ("VQEG HDTV3", "--people", "usual")
    with pytest.raises(UserError) as caught:
        read_source("nowhere")
    assert str(caught.value) == (
        "--from  'nowhere' is neither a known population nor a study. Allowed: public, vqeghd3, ideal, or the "
        "study.yaml of a pilot."
    )
    with pytest.raises(UserError) as caught:
        simulate(tmp_path / "study.yaml", participants=1, memory=True, store="elsewhere")
    assert str(caught.value) == ("--memory  keeps nothing in a store, and --store names one. Allowed: one of the two.")
