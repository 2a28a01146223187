"""Data quality: each number with how to read it, and warnings."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pandas as pd

from beholder.cleaning.playback import PLAYBACK
from beholder.columns import names_of
from beholder.files import write_table
from beholder.reporting.data_quality import quality_section
from beholder.reporting.material import Material
from support.participant_tables import put, shown


def played(number: int, **keys: Any) -> dict[str, Any]:
    whole = {"errors": 0, "stalled_ms": 0, "dropped": 0, "frames": 100, "coverage": 1}
    return {"session": "s000", "slot": f"s{number}"} | whole | keys


def test_each_number_on_the_data_says_how_to_read_it(material: Material) -> None:
    rows = [played(1), played(2, dropped=1), played(3, stalled_ms=400), played(4)]
    put(material, "playback", names_of(PLAYBACK), rows)
    text = shown(quality_section(material)).text
    assert "Ratings without a value 0 of 160 (0 %) Everything that was asked has an answer." in text
    assert "Failures to play 0 of 4 (0 %) Stimuli that failed to load or to play at least once." in text
    assert "Halts while playing 0 of 4 (0 %) Stimuli that stood still for more than 0.5 s; the longest" in text
    assert "Dropped frames 1 (< 1 %) Of all frames; 1 % at worst." in text
    assert "Watched whole 4 of 4 (100 %) Stimuli that were played whole; ratings of the others are left out." in text
    assert "Ratings per stimulus 10 / 10 / 10 Fewest, median and most ratings of a stimulus and question." in text
    assert "Places on the page 0 to 40" in text
    assert "▲ Places on the page. Not in every place equally often: frozen, jerky, natural, smooth." in text
    assert "Positions in the session 2.5 to 2.5" in text


def test_bad_data_are_warned_of(material: Material) -> None:
    bad = [played(1, errors=1, coverage=0.4), played(2, stalled_ms=9000, dropped=50)]
    put(material, "playback", names_of(PLAYBACK), bad)
    ratings = material.results.ratings.copy()
    ratings.loc[:15, "value"] = float("nan")
    verdicts = {"variance": {"pass": 2, "fail": 2, "unknown": 6}}
    worse = replace(
        material,
        account={**material.account, "verdicts": verdicts},
        results=replace(material.results, ratings=ratings),
    )
    warnings = shown(quality_section(worse)).text.partition("Number")[0]
    assert warnings.startswith(
        "▲ Ratings without a value. 10 % of the ratings have no value. Look whether they belong to some conditions "
        "only. ▲ Failures to play. 50 % of the stimuli failed to load or to play at least once. "
        "▲ Halts while playing. 50 % of the stimuli stood still for more than 0.5 s while they played. "
        "▲ Dropped frames. 20 % of all frames were dropped: motion looked less smooth than it is. "
        "▲ Watched whole. 50 % of the stimuli were not watched to the end. "
        "▲ Straight-lining. 50 % answered the same throughout. Is the task clear, and short enough? "
        "▲ Unknown verdicts. 60 % of the verdicts are unknown: cleaning could not look at much."
    )


def test_repeats_have_the_root_of_the_mean_variance_within_a_person(material: Material) -> None:
    ratings = material.results.ratings
    again = ratings.head(4).assign(value=ratings["value"].head(4) - 10, repetition=2)
    more = replace(material, results=replace(material.results, ratings=pd.concat([ratings, again], ignore_index=True)))
    text = shown(quality_section(more)).text
    assert "Repeated ratings 7 % of the scale Standard deviation of one person rating the same again, over 4" in text
    evidence = json.dumps({"compared": 8, "differ": 4})
    put(material, "verdicts", ("check", "evidence"), [{"check": "repeat", "evidence": evidence}])
    text = shown(quality_section(material)).text
    assert "▲ Repeats that differ. 50 % of what came again was answered differently." in text


def test_a_plan_says_how_many_ratings_there_should_be(material: Material) -> None:
    plan = material.study.folder / "plan"
    columns = ("count", "cells", "least", "most")
    write_table(
        plan / "balance.csv", columns, [{"count": "ratings per stimulus", "cells": 16, "least": 30, "most": 31}]
    )
    text = shown(quality_section(material)).text
    assert "of a stimulus and question; planned were 30 to 31." in text
    assert "A stimulus has 10 ratings, less than half of what was planned. Let more people in." in text
    write_table(plan / "balance.csv", columns, [{"count": "ratings per stimulus", "cells": 18, "least": 6, "most": 6}])
    assert "2 stimuli have no rating that can be used." in shown(quality_section(material)).text


def test_no_used_rating_is_said_and_no_rating_has_no_such_section(material: Material) -> None:
    ratings = material.results.ratings
    unused = replace(material, results=replace(material.results, ratings=ratings.assign(use=False)))
    assert "No rating can be used." in shown(quality_section(unused)).text
    assert quality_section(replace(material, results=replace(material.results, ratings=ratings.head(0)))) is None


def test_a_plan_with_groups_is_counted_in_each_group(material: Material) -> None:
    between = {"Asked": {"Q1": {}, "Q2": {"playback": {"watch": "none"}}}}
    design = material.study.design.model_validate({**material.study.design.model_dump(), "between": between})
    study = material.study.model_copy(update={"design": design})
    study._folder = material.study.folder
    ratings = material.results.ratings
    people = sorted(ratings["participant"].unique())
    ratings = ratings.assign(factor_Asked=["Q1" if name in people[:5] else "Q2" for name in ratings["participant"]])
    grouped = replace(material, study=study, results=replace(material.results, ratings=ratings))
    columns = ("count", "cells", "least", "most")
    row = {"count": "ratings per stimulus", "cells": 32, "least": 5, "most": 5}
    write_table(study.folder / "plan" / "balance.csv", columns, [row])
    text = shown(quality_section(grouped)).text
    assert (
        "Ratings per stimulus 5 / 5 / 5 Fewest, median and most ratings of a stimulus and question in a group" in text
    )
    assert "in a group of participants; planned were 5." in text
    assert "▲ Ratings per stimulus" not in text
    assert "in one of 4 places of the page, in a group of participants." in text
    one = ratings["stimulus"].iloc[0]
    ratings = ratings[~((ratings["stimulus"] == one) & (ratings["factor_Asked"] == "Q2"))]
    less = replace(grouped, results=replace(grouped.results, ratings=ratings))
    assert "1 stimulus of a group has no rating that can be used." in shown(quality_section(less)).text
    ratings = ratings[(ratings["stimulus"] != one) | (ratings["participant"] == people[0])]
    write_table(study.folder / "plan" / "balance.csv", columns, [row | {"cells": 31}])
    less = replace(grouped, results=replace(grouped.results, ratings=ratings))
    assert (
        "A stimulus has 1 rating in a group of participants, less than half of what was planned."
        in shown(quality_section(less)).text
    )


def test_places_are_even_where_pages_of_groups_have_other_numbers_of_them(material: Material) -> None:
    between = {"page": {"two": {"per_trial": 2}, "four": {"per_trial": 4}}}
    design = material.study.design.model_validate({**material.study.design.model_dump(), "between": between})
    study = material.study.model_copy(update={"design": design})
    study._folder = material.study.folder
    ratings = material.results.ratings
    people = {name: place for place, name in enumerate(sorted(ratings["participant"].unique()))}
    number = ratings["participant"].map(people)
    turn = ratings.groupby(["participant", "condition"]).cumcount() + ratings["condition"].astype("category").cat.codes
    is_small = number < 7
    slots = (turn % 4).where(~is_small, turn % 2)
    ratings = ratings.assign(
        slot=[f"s{slot + 1}" for slot in slots], factor_page=["two" if s else "four" for s in is_small]
    )
    uneven = replace(material, study=study, results=replace(material.results, ratings=ratings))
    text = shown(quality_section(uneven)).text
    assert "one of 2 or 4 places of the page, in a group of participants." in text
    assert "▲ Places on the page" not in text
    plain = replace(uneven, study=material.study)
    assert "▲ Places on the page" in shown(quality_section(plain)).text
