"""Time marks from the study file to report and export: what robots were given to find is found, and nothing is lost."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.analysis.contract import Analysis
from beholder.methods import load_study
from beholder.server.process import load_served
from beholder.simulation.robot import watch_events
from beholder.simulation.time_marks import Defect, marking_traits, planted_defects
from beholder.simulation.truth import truth_of
from beholder.stimuli.ingestion import load_catalogue
from beholder.stimuli.samples import make_samples
from beholder.study.model import Study
from beholder.testing import write_study
from support.instruction_pages import served
from support.report_pages import Page, read_undrawn
from support.visitor import Visitor

CONDITIONS = ("natural", "frozen")
PEOPLE = 24
KEYS: dict[str, Any] = {
    "method": "acr",
    "conditions": list(CONDITIONS),
    "questions": [{"id": "quality", "text": "How good is it?", "scale": "acr5"}],
    "design": {"participants": PEOPLE, "trials": 6, "contents": "apart", "seed": 3},
    "options": {"marks": {"labels": ["stutter", "blur"]}},
    "analyse": {"marks": {"lag": 0.4, "tolerance": 0.4}},
}


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with stimuli of 3 s, long enough for two defects each."""
    folder = tmp_path_factory.mktemp("clips")
    make_samples(folder / "stimuli", contents=3, conditions=CONDITIONS, seconds=3, size=(96, 54))
    (folder / "media").mkdir()
    path = write_study(folder / "taken", folder, conditions=list(CONDITIONS))
    load_catalogue(load_study(path))
    return folder / "taken"


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory: pytest.TempPathFactory, clips: Path) -> Study:
    study = load_study(write_study(tmp_path_factory.mktemp("marks"), clips, **KEYS))
    beholder.plan(study)
    beholder.simulate(study, participants=PEOPLE)
    beholder.clean(study)
    beholder.analyse(study)
    return study


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def planted(study: Study) -> dict[tuple[str, str], tuple[Defect, ...]]:
    """Return the defects of each stimulus, by content and condition."""
    served_study, _ = load_served(study, "http://here")
    truth = truth_of(study, served_study.catalogue, served_study.method, 1)
    return {
        (one.content, one.condition): planted_defects(one, float(truth.quality[truth.stimuli[one.id]].mean()), 2, 1)
        for one in served_study.catalogue.stimuli
    }


def test_the_peaks_are_where_defects_were_planted_and_nowhere_else(rehearsed: Study) -> None:
    truth = planted(rehearsed)
    assert {condition: sum(len(truth[key]) for key in truth if key[1] == condition) for condition in CONDITIONS} == {
        "natural": 0, "frozen": 6,
    }  # fmt: skip
    found: dict[tuple[str, str], list[float]] = {key: [] for key in truth}
    for row in rows(rehearsed.folder / "analyse" / "mark_peaks.csv"):
        if row["label"] == "" and float(row["share"]) > 0.3:
            found[row["content"], row["condition"]].append(float(row["seconds"]))
    for key, defects in truth.items():
        assert sorted(found[key]) == pytest.approx([one.ms / 1000 for one in defects], abs=0.15), key


def test_robots_mark_what_was_planted_as_often_as_they_are_said_to(rehearsed: Study) -> None:
    truth, traits = planted(rehearsed), marking_traits("honest")
    viewings = Counter((row["content"], row["condition"]) for row in rows(rehearsed.folder / "clean" / "viewings.csv"))
    marks = rows(rehearsed.folder / "clean" / "marks.csv")
    chances = hits = named = 0
    for key, defects in truth.items():
        for defect in defects:
            mine = [
                row for row in marks
                if (row["content"], row["condition"]) == key
                and abs(int(row["ms"]) - traits.lag_ms - defect.ms) < 4 * traits.jitter_ms
            ]  # fmt: skip
            chances, hits = chances + viewings[key], hits + len(mine)
            named += sum(row["label"] == ("stutter", "blur")[defect.label] for row in mine)
    assert hits / chances == pytest.approx(traits.detects, abs=0.1)  # of 144: three standard errors
    assert named / hits > 0.85


def test_rates_agreement_and_people_are_told(rehearsed: Study) -> None:
    folder = rehearsed.folder / "analyse"
    rates = {(row["condition"], row["label"]): row for row in rows(folder / "mark_rates.csv")}
    assert float(rates["frozen", ""]["rate"]) > 15 > 3 > float(rates["natural", ""]["rate"])
    assert float(rates["frozen", ""]["ci_low"]) > float(rates["natural", ""]["rate"])
    (contrast, *_) = rows(folder / "mark_contrasts.csv")
    assert float(contrast["p_holm"]) < 0.05
    agreement = {row["condition"]: row for row in rows(folder / "mark_agreement.csv") if row["label"] == ""}
    assert float(agreement["frozen"]["kappa"]) > 0.2
    assert len(rows(folder / "markers.csv")) == PEOPLE


def test_the_report_has_a_curve_for_each_condition_and_frames_at_the_peaks(rehearsed: Study, tmp_path: Path) -> None:
    page = read_undrawn(rehearsed)
    text = " ".join(page.text.split())
    assert "Where was something marked?" in text
    assert "Marks per minute of clip" in text
    assert "While a stimulus played they could mark where something was wrong (“stutter” and “blur”)" in text
    assert "How far people mark the same places" in text
    classes = Counter(attrs.get("class") for _, attrs in page.tags)
    assert classes["timed__row"] == 6
    assert len(_pictures(page)) >= 6
    assert "Some stimuli are not here any more" not in text
    moved = tmp_path / "moved"
    shutil.copytree(rehearsed.folder, moved, ignore=shutil.ignore_patterns("store", "media", "stimuli"))
    without = read_undrawn(load_study(moved / "study.yaml"))
    assert "Some stimuli are not here any more" in " ".join(without.text.split())
    assert _pictures(without) == []


def _pictures(page: Page) -> list[str]:
    sources = [attrs.get("src") or "" for tag, attrs in page.tags if tag == "img"]
    return [source for source in sources if source.startswith("data:image/jpeg;base64,/9j/")]


def test_the_export_has_every_mark_and_every_viewing_with_its_columns_explained(rehearsed: Study) -> None:
    folder = beholder.export(rehearsed).folder
    marks, viewings = rows(folder / "marks.csv"), rows(folder / "viewings.csv")
    assert len(viewings) == PEOPLE * 6
    assert sum(int(row["marks"]) for row in viewings) == len(marks) > 50
    assert {row["label"] for row in marks} == {"stutter", "blur"}
    assert {row["kept"] for row in marks} == {"true"}
    explained = {(row["table"], row["column"]) for row in rows(folder / "dictionary.csv")}
    assert {("marks", name) for name in marks[0]} | {("viewings", name) for name in viewings[0]} <= explained
    package = json.loads((folder / "datapackage.json").read_text("utf-8"))
    assert {"marks", "viewings"} <= {one["name"] for one in package["resources"]}


def test_a_study_in_which_nobody_can_mark_has_no_such_tables(rehearsed: Study, clips: Path, tmp_path: Path) -> None:
    plain = load_study(write_study(tmp_path / "plain", clips, **{**KEYS, "options": {}, "analyse": {}}))
    beholder.simulate(plain, participants=2)
    beholder.clean(plain)
    results = beholder.analyse(plain)
    assert not any(name.startswith("mark") for name in results.also)
    assert not (plain.folder / "clean" / "marks.csv").exists()
    assert not {"marks", "viewings"} & set(beholder.export(plain).rows)
    assert "Where was something marked?" not in read_undrawn(plain).text


def test_where_nobody_marked_anything_the_report_says_so(clips: Path, tmp_path: Path) -> None:
    study = load_study(write_study(tmp_path / "silent", clips, **{**KEYS, "clean": {"without": ["variance"]}}))
    beholder.simulate(study, participants=2, raters="straight")
    beholder.clean(study)
    text = " ".join(read_undrawn(study).text.split())
    assert "Where was something marked? Nobody marked anything in 12 viewings by 2 participants." in text


# Over HTTP


@pytest.fixture
def answered(clips: Path, tmp_path: Path) -> Path:
    return write_study(tmp_path / "asked", clips, **KEYS)


async def test_marks_are_stored_beside_the_answer_and_others_are_refused(answered: Path) -> None:
    async with served(answered) as site:
        visitor = Visitor(site, robot="r1", **_signed(site))
        await visitor.arrive()
        await visitor.answer({"agree": True})
        while visitor.step["kind"] != "trial":
            (await visitor.answer({})).raise_for_status()
        trial = visitor.step["trial"]
        assert trial["extra"] == {"marks": {"labels": ["stutter", "blur"], "at_least": 0, "most": 50, "ask": None}}
        assert "natural" not in json.dumps(visitor.step)
        assert "frozen" not in json.dumps(visitor.step)
        length, key = trial["slots"][0]["media"]["ms"], visitor.step["key"]
        good = [{"slot": "s1", "ms": 1500, "label": "blur"}]
        for bad, where in (
            ([{"slot": "s2", "ms": 1, "label": "blur"}], "answer.marks.0.slot"),
            ([{"slot": "s1", "ms": 1, "label": "<b>"}], "answer.marks.0.label"),
            ([{"slot": "s1", "ms": length + 1, "label": "blur"}], "answer.marks.0.ms"),
            ([{"slot": "s1", "ms": 10**400, "label": "blur"}], "answer.marks.0.ms"),
            (good * 51, "answer.marks"),
            ("blur", "answer.marks"),
        ):
            refused = await visitor.answer({"scores": {"q1": {"s1": 3}}, "marks": bad}, watch_events(trial))
            assert (refused.status_code, refused.json()["error"].get("where", "events")) == (422, where), bad
        # The clip has not been played to the end, or has not been played where the mark is.
        for events in ([], watch_events(trial)[:1]):
            assert (await visitor.answer({"scores": {"q1": {"s1": 3}}, "marks": good}, events)).status_code == 422
        answer = {"scores": {"q1": {"s1": 3}}, "marks": good}
        assert (await visitor.answer(answer, watch_events(trial))).status_code == 200
        assert (await visitor.answer(answer, watch_events(trial), key=key)).status_code == 200  # sent once more
        other = await visitor.answer({**answer, "marks": []}, watch_events(trial), key=key)
        assert (other.status_code, other.json()["error"]["code"]) == (409, "already_answered")
        stored = [row async for row in site.store.rows("answers")]
        assert [row["answer"] for row in stored if row["key"] == key] == [answer]


async def test_a_mark_where_the_clip_was_skipped_is_refused(clips: Path, tmp_path: Path) -> None:
    path = write_study(tmp_path / "skipped", clips, **{**KEYS, "playback": {"watch": "none"}})
    async with served(path) as site:
        visitor = Visitor(site, robot="r1", **_signed(site))
        await visitor.arrive()
        await visitor.answer({"agree": True})
        while visitor.step["kind"] != "trial":
            (await visitor.answer({})).raise_for_status()
        events = [[0, "shown", None, {}], [10, "play", "s1", {"at": 0}], [1010, "pause", "s1", {"at": 1000}],
                  [1010, "frames", "s1", {"total": 25, "dropped": 0, "width": 96, "height": 54}]]  # fmt: skip
        late = {"scores": {"q1": {"s1": 3}}, "marks": [{"slot": "s1", "ms": 3000, "label": "blur"}]}
        refused = await visitor.answer(late, events)
        assert refused.json()["error"]["message"] == "3,000 ms was not played"
        early = {"scores": {"q1": {"s1": 3}}, "marks": [{"slot": "s1", "ms": 900, "label": "blur"}]}
        assert (await visitor.answer(early, events)).status_code == 200


def _signed(site: Any) -> dict[str, str]:
    from beholder.server.tokens import robot_signature

    return {"signature": robot_signature(site.store.secret, "r1")}


def test_every_table_of_marks_is_an_analysis_of_ours() -> None:
    from beholder.analysis.registry import find

    for name in ("mark_rates", "mark_contrasts", "mark_density", "mark_peaks", "mark_agreement", "markers"):
        assert isinstance(find(name), Analysis)
