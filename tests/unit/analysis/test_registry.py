"""Analyses are registered by entry points, ours and those of other packages alike."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from beholder.analysis import analyse
from beholder.analysis.registry import find, installed, is_ours, names
from beholder.analysis.result import read_results
from beholder.errors import StudyError, UserError
from support.crossed_ratings import crossed, write_csv
from support.installed_packages import LOUDNESS, install, install_loudness

SUBJECT = "analyse/loudness.csv  analysis loudness, entry point loud:LOUDNESS of the package loud,"
REPAIR = "Repair, update or uninstall that package."


def study(folder: Path) -> Path:
    """Return a table of ratings where a study has it."""
    (folder / "clean").mkdir()
    return write_csv(folder / "clean", crossed({"a": 1, "b": 4}, 4))


def test_every_registered_analysis_is_found_under_its_name() -> None:
    assert {name: find(name).name for name in names()} == {name: name for name in names()}
    assert all(map(is_ours, names()))
    assert installed()[1] == []


def test_the_order_is_carried_by_the_analyses() -> None:
    orders = [one.order for one in installed()[0]]
    assert orders == sorted(set(orders))
    assert [one.name for one in installed()[0]][:2] == ["scores", "conditions"]


def test_an_analysis_stands_after_the_one_whose_result_it_takes() -> None:
    places = {one.name: place for place, one in enumerate(installed()[0])}
    takes = {one.name: one.takes for one in installed()[0] if one.takes}
    assert takes == {"agreement": "tests"}
    assert all(places[other] < places[name] for name, other in takes.items())


def test_an_analysis_of_another_package_is_used_like_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = study(tmp_path)
    ours = list(analyse(path, out=tmp_path / "analyse").notes["analyses"])
    install_loudness(tmp_path / "site", monkeypatch, LOUDNESS)
    results = analyse(path, out=tmp_path / "analyse")
    notes = json.loads((tmp_path / "analyse" / "notes.json").read_text("utf-8"))
    assert list(notes["analyses"]) == [*ours, "loudness"]
    assert notes["analyses"]["loudness"] == {
        "note": "The highest vote of each question.",
        "citation": "Somebody (2030), A journal 1",
    }
    assert notes["seeds"]["loudness"] == 4
    back = read_results(tmp_path).also["loudness"]
    pd.testing.assert_frame_equal(back, results.also["loudness"])
    assert [str(kind) for kind in back.dtypes][2:] == ["float64", "int64", "bool"]
    chart = find("loudness").draw
    assert chart is not None
    assert chart(back).to_dict()["mark"]


def test_a_table_of_an_analysis_that_is_gone_is_refused_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = study(tmp_path)
    with monkeypatch.context() as here:
        install_loudness(tmp_path / "site", here, LOUDNESS)
        analyse(path, out=tmp_path / "analyse")
    with pytest.raises(StudyError) as caught:
        read_results(tmp_path)
    assert str(caught.value).startswith("analyse/loudness.csv  analysis is loudness, which is not an analysis.")
    analyse(path, out=tmp_path / "analyse")
    assert not (tmp_path / "analyse" / "loudness.csv").exists()
    assert "loudness" not in read_results(tmp_path).also


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("import nothing_here", f"cannot be imported: ModuleNotFoundError: No module named 'nothing_here'. {REPAIR}"),
        ("LOUDNESS = int", "is a class. Allowed: an instance of it."),
        (
            LOUDNESS.replace("    if ratings", "    raise RuntimeError('too loud')\n    if ratings"),
            f"fails: RuntimeError: too loud. {REPAIR}",
        ),
        (
            LOUDNESS.replace("table[LOUDNESS.names]", "table.assign(colour='red')"),
            "fails: ValueError: the table has colour, which is not declared; the columns of the table are not in the "
            f"order question, condition, loudest, votes and is_loud. {REPAIR}",
        ),
        (
            LOUDNESS.replace("return LOUDNESS.result(", "return (1, "),
            f"fails: TypeError: it returns a tuple, not a Result. {REPAIR}",
        ),
        (
            LOUDNESS.replace('"loudness",', '"Loud ness",'),
            "cannot be imported: ValueError: an analysis is called 'Loud ness'; allowed are small letters, digits and "
            f"_. {REPAIR}",
        ),
    ],
)
def test_an_analysis_of_another_package_that_fails_costs_its_own_table_only(
    source: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = study(tmp_path)
    install_loudness(tmp_path / "site", monkeypatch, source)
    with pytest.raises(UserError) as caught:
        analyse(path, out=tmp_path / "analyse")
    assert str(caught.value) == f"{SUBJECT} {what}"
    results = read_results(tmp_path)
    assert {"scores", "tests", "votes_needed", "agreement"} <= set(results.notes["analyses"])
    assert "loudness" not in results.notes["analyses"]


def test_a_problem_with_the_ratings_is_told_as_the_package_words_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imports = "from beholder.errors import Problem, UserError\n"
    fails = "    raise UserError(Problem('ratings.csv', 'has no sound'))\n    if ratings"
    install_loudness(tmp_path / "site", monkeypatch, imports + LOUDNESS.replace("    if ratings", fails))
    with pytest.raises(UserError) as caught:
        analyse(write_csv(tmp_path, crossed({"a": 1}, 2)))
    assert str(caught.value) == "ratings.csv  has no sound."


def test_two_packages_with_one_name_are_named_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "site", monkeypatch, "loud", LOUDNESS, "[beholder.analyses]\nscores = loud:LOUDNESS\n")
    with pytest.raises(UserError) as caught:
        analyse(write_csv(tmp_path, crossed({"a": 1}, 2)))
    assert str(caught.value) == (
        "analyse/scores.csv  analysis scores is brought by two packages: beholder.analysis.scores:SCORES and "
        "loud:LOUDNESS. Allowed: one package for each name. Uninstall one of them."
    )
    assert not (tmp_path / "analyse").exists()
