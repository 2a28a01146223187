"""A configuration of ReSEval becomes the keys of a study."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from beholder import import_study
from beholder.errors import UserError
from beholder.methods import load_study
from beholder.study.model import Study
from support.reseval_source import write_reseval
from support.variants import cases


def study_of(tmp_path: Path, test: str = "ab", **keys: Any) -> tuple[Study, dict[str, Any]]:
    done = import_study(write_reseval(tmp_path / "root", test, **keys), tmp_path / "mine")
    return load_study(done.studies[0]), json.loads((tmp_path / "mine" / "import-report.json").read_text("utf-8"))


METHODS = {"ab": "pair", "abx": "abx", "mos": "acr", "mushra": "parallel", "wordselect": "word-select"}


@pytest.mark.parametrize("test", cases(METHODS, ["abx", "mushra"]))
def test_each_test_is_a_method_of_ours(tmp_path: Path, test: str) -> None:
    study, _ = study_of(tmp_path, test)
    assert study.method == METHODS[test]
    assert [one.role for one in study.conditions][:1] == (["reference"] if test == "abx" else ["test"])
    assert (study.design.participants, study.design.trials) == (4, 2)


def test_texts_questions_and_payment_are_mapped(tmp_path: Path) -> None:
    study, report = study_of(tmp_path)
    assert (study.name, study.title) == ("my-test", "Listen to speech")
    assert study.texts.consent == "# Welcome\nTake **part**."
    age, language = study.before
    assert (age.placeholder, language.options, language.correct) == ("40", ("Yes", "No"), ("Yes",))
    assert study.qualification.rule("tones") is not None
    recruit = study.recruit
    assert (recruit.mode, recruit.reward, recruit.screen_out, recruit.time_limit) == (
        "prolific", "1.50 USD", "0.25 USD", "30 min",
    )  # fmt: skip
    assert (recruit.filters.countries, recruit.filters.approved_submissions) == (("US", "GB"), 1001)
    assert {one["key"] for one in report["unsupported"] if "key" in one} == {
        "crowdsource.description", "crowdsource.keywords", "crowdsource.duration.total",
        "crowdsource.duration.autoapprove", "random_seed", "followup_questions.0.correct_answer",
    }  # fmt: skip


def test_without_payment_people_come_by_a_link(tmp_path: Path) -> None:
    study, _ = study_of(tmp_path, crowdsource={"platform": "mturk"}, participants="many", prescreen_questions=[])
    assert (study.recruit.mode, study.recruit.reward, study.design.participants) == ("link", None, 20)


def test_what_makes_a_poor_design_is_told(tmp_path: Path) -> None:
    _, report = study_of(tmp_path, "mos", samples_per_participant=5)
    assert report["warnings"][-2:] == [
        "5 samples per participant of 2 files: files come again.",
        "There are as many files as conditions: ReSEval showed each file under one condition only, so that conditions "
        "were compared on different files.",
    ]


def test_an_unknown_test_is_refused(tmp_path: Path) -> None:
    source = write_reseval(tmp_path / "root")
    text = (source / "config.yaml").read_text("utf-8").replace("datatype: audio", "datatype: smell")
    (source / "config.yaml").write_text(text, "utf-8")
    with pytest.raises(UserError, match=r"datatype is smell\. Allowed: audio, image, text or video\."):
        import_study(source, tmp_path / "mine", importer="reseval")
