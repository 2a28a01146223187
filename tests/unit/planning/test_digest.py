"""The digest of a plan distinguishes design from text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from beholder.methods import load_study
from beholder.planning.digest import plan_digest, study_digest
from beholder.study.model import installed_study_model
from support.data import ROOT
from support.pair_plans import table_study
from support.plans import make_catalogue
from support.tiny_plans import tiny_catalogue, tiny_study


def test_texts_change_the_study_digest_but_not_the_plan_digest() -> None:
    catalogue = tiny_catalogue()
    before, after = tiny_study(), tiny_study(text="How fine?", title="Other")
    assert plan_digest(before, catalogue) == plan_digest(after, catalogue)
    assert study_digest(before, catalogue) != study_digest(after, catalogue)


@pytest.mark.parametrize("changed", [{"scale": "acr5"}, {"seed": 2}, {"participants": 6}, {"breaks": None}])
def test_the_design_changes_the_plan_digest(changed: dict[str, Any]) -> None:
    assert plan_digest(tiny_study(**changed), tiny_catalogue()) != plan_digest(tiny_study(), tiny_catalogue())


def test_other_stimuli_change_both_digests() -> None:
    study = tiny_study()
    assert plan_digest(study, tiny_catalogue("11")) != plan_digest(study, tiny_catalogue())
    assert study_digest(study, tiny_catalogue("11")) != study_digest(study, tiny_catalogue())


def test_a_table_that_changes_is_another_plan_and_its_spelling_is_not(tmp_path: Path) -> None:
    catalogue = make_catalogue(2, 3)
    first = "condition,other\ncondition0,condition1\ncondition1,condition2\n"
    digests = [
        plan_digest(table_study(tmp_path, text), catalogue)
        for text in (first, first.replace(",", ";"), first + "condition0,condition2\n")
    ]
    assert digests[0] == digests[1] != digests[2]


RECURRING = {"id": "d", "text": "One?", "type": "likert", "every": "trial", "when": "b = x"}
WRITTEN: dict[str, Any] = {
    "beholder": 1, "name": "a", "title": "One", "method": "dcr", "stimuli": "stimuli", "contact": "a@example.org",
    "conditions": [{"name": "condition0", "role": "reference"}, "condition1"],
    "questions": [{"id": "q", "text": "One?"}],
    "before": [{"id": "b", "text": "One?", "type": "single", "options": ["x", "y"], "correct": ["x"]}],
    "after": [{"id": "t", "text": "One?", "type": "text"}],
    "design": {"participants": 4, "trials": 2, "seed": 1},
}  # fmt: skip
OTHERWISE: dict[str, Any] = {
    "title": "Two", "contact": "b@example.org", "texts": {"thanks": "Bye"}, "playback": {"watch": "start"},
    "clean": {"preset": "p910"}, "analyse": {"family": "study"}, "recruit": {"minutes": 3}, "budget": "9.00 GBP",
    "retention": {"answers": "2031-01-01"}, "method": "acr", "options": {"gap": 2}, "conditions": ["condition1"],
    "questions: text": "Two?", "questions: id": "r", "questions: scale": "dcr9",
    "before: text": "Two?", "after: placeholder": "Two", "before: id": "c", "before: options": ["x", "z"],
    "before: correct": ["y"], "before: file": "a.png", "during": [RECURRING],
    "after: text": "Two?", "after: type": "number", "design: participants": 5,
    "design: trials": 1, "design: seed": 2, "design: looks": [2, 4], "checks: gold": True,
}  # fmt: skip


def test_digests_are_as_they_were_when_nothing_was_asked_between_trials() -> None:
    study = installed_study_model().model_validate(WRITTEN)
    catalogue = make_catalogue(2, 3)
    assert plan_digest(study, catalogue) == "cc34f09e1d324b62ee587829f26a7b8febd541a4e64d6932dedb6ee91d2cff3c"
    assert study_digest(study, catalogue) == "db0442027c693442a04d27332021a58baf554ec5e9d939abfce21d34fc69d28b"


def test_a_waveform_is_of_the_study_and_where_numbers_stand_is_of_the_plan_as_well() -> None:
    catalogue = make_catalogue(2, 3)
    digests = [
        (plan_digest(study, catalogue), study_digest(study, catalogue))
        for study in (
            installed_study_model().model_validate({**WRITTEN, **changed})
            for changed in (
                {"questions": [{"id": "q", "text": "One?", "scale": "dcr5"}]},
                {"questions": [{"id": "q", "text": "One?", "scale": "dcr5"}], "playback": {"waveform": False}},
                {"questions": [{"id": "q", "text": "One?", "scale": {"name": "dcr5", "numbers": "ticks"}}]},
            )
        )
    ]
    (plan, study), (drawn_plan, drawn_study), (numbered_plan, _) = digests
    assert (drawn_plan, drawn_study == study) == (plan, False)
    assert numbered_plan != plan


@pytest.mark.parametrize("key", ["text", "file", "every", "when", "type"])
def test_what_is_asked_between_trials_and_when_is_of_the_plan_and_its_words_are_not(key: str) -> None:
    def digest_of(**changed: Any) -> str:
        during = [{**RECURRING, "file": "a.png", **changed}]
        return plan_digest(installed_study_model().model_validate({**WRITTEN, "during": during}), make_catalogue(2, 3))

    other = {"text": "Two?", "file": "b.png", "every": 2, "when": "b = y", "type": "number"}[key]
    assert (digest_of(**{key: other}) == digest_of()) is (key in ("text", "file"))


@pytest.mark.parametrize("row", ["may change", "may not"])
def test_what_the_docs_say_may_change_changes_no_plan_and_the_rest_does(row: str, tmp_path: Path) -> None:
    line = re.search(rf"^\| {row} \| (.*) \|$", (ROOT / "docs" / "plan.md").read_text("utf-8"), re.MULTILINE)
    assert line is not None
    keys = re.findall(r"`([^`]+)`", line[1])
    assert len(keys) > 10

    def digest_of(written: dict[str, Any]) -> str:
        (tmp_path / "study.yaml").write_text(yaml.safe_dump(written), "utf-8")
        study = load_study(tmp_path)
        return plan_digest(study, make_catalogue(2, len(study.conditions)))

    before = digest_of(WRITTEN)
    for key in keys:
        part, _, below = key.partition(": ")
        old = WRITTEN.get(part, {})
        new = OTHERWISE[key]
        if below:
            new = [{**old[0], below: new}] if isinstance(old, list) else {**old, below: new}
        assert (digest_of({**WRITTEN, part: new}) == before) is (row == "may change"), key
