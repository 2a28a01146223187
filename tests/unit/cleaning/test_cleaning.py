"""Clean: from a store's rows to judged tables."""

from __future__ import annotations

import pytest

from beholder.cleaning import clean
from beholder.cleaning.ratings import COLUMNS, read_ratings
from beholder.cleaning.tables import clean_tables
from beholder.columns import names_of
from beholder.errors import StoreError
from beholder.study.model import Study
from support.store_tables import add, empty


def test_every_answer_becomes_tidy_ratings(study: Study) -> None:
    tables = empty(study)
    add(tables, "a")
    cleaned = clean_tables(study, tables)
    ratings = read_ratings(cleaned.folder / "ratings.csv")
    assert tuple(ratings.columns) == (*names_of(COLUMNS), "factor_fps")
    assert ratings["condition"].tolist() == ["natural", "no", "01"] * 2
    assert ratings["value"].tolist() == [80.0, 50.0, 20.0] * 2
    assert ratings["position"].tolist() == [1.0] * 3 + [2.0] * 3
    assert ratings["trial"].tolist() == ["city"] * 3 + ["park"] * 3
    assert ratings["use"].all()


def test_the_store_of_another_study_is_refused(study: Study) -> None:
    tables = empty(study)
    tables["studies"][0]["study"] = "another"
    with pytest.raises(StoreError) as error:
        clean_tables(study, tables)
    assert str(error.value) == "store/  holds the study another, not cleaned. Name the store of this study."


def test_a_study_without_a_store_says_what_to_run(study: Study) -> None:
    with pytest.raises(StoreError) as error:
        clean(study)
    assert str(error.value) == (
        f"{study.folder / 'store'}  holds no answers: nobody has taken part in this study yet. Run `beholder run` "
        "with people or `beholder run --simulate` with robots first, or name a store with --store."
    )
