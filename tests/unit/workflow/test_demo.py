"""`demo`: planted values, samples, and folders that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.errors import StudyError
from beholder.methods import find, load_study, method_folder, names
from beholder.recruiting.fake.demo import put_on_prolific
from beholder.stimuli.samples import medium_of
from beholder.testing import write_study
from beholder.workflow.demo import demo, planted_values
from support.planted_results import TRUTH, results


def test_a_planted_score_stands_on_its_scale_also_where_the_statement_is_turned() -> None:
    analysed = results(
        [
            ("quality", "score", "natural", "", 4, None, 1, 5),
            ("quality", "score", "frozen", "", 2, None, 1, 5),
            ("like", "score", "natural", "", 4, 4, 1, 5),
            ("creepy", "score", "natural", "", 1, 5, 1, 5),
            ("creepy", "score", "frozen", "", 3, 3, 1, 5),
        ],
        {"quality": "score", "like": "score", "creepy": "score"},
    )
    assert planted_values(analysed, TRUTH) == {
        ("quality", "natural"): "4.60",
        ("quality", "frozen"): "1.40",
        ("like", "natural"): "4.60",
        ("creepy", "natural"): "4.60",
        ("creepy", "frozen"): "1.40",
    }


def test_where_no_score_can_be_planted_the_quality_is_told() -> None:
    analysed = results(
        [
            ("better", "choice", "natural", "frozen", 1, None, -1, 1),
            ("better", "choice", "unknown", "frozen", 1, None, -1, 1),
            ("same", "correct", "natural", "frozen", 1, None, 0, 1),
        ],
        {"better": "choice", "same": "correct"},
    )
    assert planted_values(analysed, TRUTH) == {
        ("better", "natural"): "quality 0.90",
        ("better", "unknown"): "",
        ("same", "natural"): "0.80 apart",
    }
    placed = results([("best", "score", "natural", "", 1, None, -1, 1)], {"best": "score"}, method="rank")
    assert planted_values(placed, TRUTH) == {("best", "natural"): "quality 0.90"}


@pytest.mark.parametrize("method", names())
def test_every_method_has_samples_of_a_medium_that_it_shows(method: str, tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    folder = method_folder(method, "a test")
    path.write_text((folder / "example.yaml").read_text("utf-8"), "utf-8")
    for text in (folder / "texts").glob("*.md"):
        (tmp_path / "texts").mkdir(exist_ok=True)
        (tmp_path / "texts" / text.name).write_bytes(text.read_bytes())
    study = load_study(path)
    assert medium_of([condition.name for condition in study.conditions]) in find(method).media
    put_on_prolific(path)
    study = load_study(path)
    assert study.recruit.mode == "prolific"
    assert study.playback.watch == "none"
    assert any(question.correct for question in study.before)


def test_a_folder_with_another_method_is_refused(tmp_path: Path, tiny: Path) -> None:
    write_study(tmp_path / "shown", tiny)
    with pytest.raises(StudyError) as caught:
        demo("acr", tmp_path / "shown")
    assert str(caught.value) == (
        f"{tmp_path / 'shown'}  holds a study of method parallel, and acr is asked for. "
        "Choose another folder with --folder."
    )


def test_a_folder_with_people_from_elsewhere_is_refused(tmp_path: Path, tiny: Path) -> None:
    write_study(tmp_path / "shown", tiny)
    with pytest.raises(StudyError) as caught:
        demo(folder=tmp_path / "shown", prolific=True)
    assert str(caught.value) == (
        f"{tmp_path / 'shown'}  holds a study whose people come by link. Choose another folder with --folder."
    )
