"""A study in three languages from end to end: robots, one table, the languages and labels in the report."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import beholder
from support.power_worlds import write_study
from support.pseudo_language import longer, pseudo_languages, turned

THREE = ("en", "eo", "he")


def by_language(text: str) -> dict[str, str]:
    return {"en": text, "eo": longer(text), "he": turned(text)}


def test_a_study_in_three_languages_has_one_table_and_says_what_was_read(
    tmp_path: Path, pseudo_words: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pseudo_languages(pseudo_words, monkeypatch):
        options = {code: [by_language(word)[code] for word in ("yes", "no", "perhaps")] for code in THREE}
        path = write_study(
            tmp_path, languages=[*THREE], title=by_language("Which text is best?"),
            questions=[{"id": "quality", "text": by_language("How good is this?"), "scale": "acr5"}],
            before=[{"id": "tea", "text": by_language("Do you like tea?"), "type": "single", "options": options}],
            design={"participants": 12, "trials": 4, "seed": 1},
        )  # fmt: skip
        beholder.simulate(path, participants=12)
        beholder.clean(path)
        beholder.analyse(path)
        page = Path(beholder.report(path)).read_text("utf-8")
        rows = pd.read_csv(tmp_path / "clean" / "ratings.csv")
        people = pd.read_csv(tmp_path / "clean" / "participants.csv")
    assert set(rows["factor_language"]) == set(people["factor_language"]) == set(THREE)
    assert set(rows["question"]) == {"quality"}
    assert rows["value"].between(1, 5).all()
    # What was answered in any language stands in the table in the first one.
    assert set(people["answer_tea"]) <= {"yes", "no", "perhaps"}
    labels = ("Bad", "Poor", "Fair", "Good", "Excellent")
    for said in (labels, [longer(one) for one in labels], [turned(one) for one in labels]):
        assert ", ".join(f"“{one}”" for one in said) in page
    assert "The study was in 3 languages: English (" in page
    assert "What Beholder itself says on the pages was in Esperanto and Hebrew: ours, unreviewed" in page
