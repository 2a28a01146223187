"""Questions between trials from the study file to report and export: robots take them, and nothing of them is lost."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.methods import load_study
from beholder.simulation.robot import watch_events
from beholder.study.earlier_answers import is_asked
from beholder.study.model import Study
from beholder.testing import write_study
from support.instruction_pages import served
from support.report_pages import read_undrawn
from support.visitor import Visitor, robot

CHOICE = {"type": "single", "options": ["yes", "no"]}
DURING: list[dict[str, Any]] = [
    {"id": "ease", "text": "It was *easy*.", "type": "likert", "every": "trial"},
    {"id": "why", "text": "Why not?", "type": "text", "every": "trial", "when": "ease <= 2"},
    {"id": "tired", "text": "How tired?", "type": "number", "min": 0, "max": 10, "every": 2},
    {"id": "known", "text": "Did you know it?", "every": "content", **CHOICE},
    {"id": "alone", "text": "Is it quiet?", "every": "break", "file": "zqroom.mp4", "play": True, **CHOICE},
    {"id": "hidden", "text": "Never asked.", "every": "trial", "when": "uses has phone", **CHOICE},
]
KEYS: dict[str, Any] = {
    "method": "acr", "playback": {"watch": "none"}, "design": {"participants": 6, "trials": 4, "breaks": 2, "seed": 3},
    "questions": [{"id": "quality", "text": "How good is it?", "scale": "acr5"}],
    "before": [{"id": "uses", "text": "What do you use?", "type": "multiple", "options": ["phone", "radio"],
                "required": False}],
    "during": DURING,
    "after": [{"id": "rest", "text": "More breaks?", "when": ["tired >= 0", "alone = yes"], **CHOICE}],
}  # fmt: skip


def write(folder: Path, tiny: Path, **keys: Any) -> Path:
    path = write_study(folder, tiny, **{**KEYS, **keys})
    shutil.copy(next((folder / "stimuli").rglob("*.mp4")), folder / "zqroom.mp4")
    return path


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory: pytest.TempPathFactory, tiny: Path) -> Study:
    study = load_study(write(tmp_path_factory.mktemp("between"), tiny))
    beholder.plan(study)
    beholder.simulate(study, participants=6)
    beholder.clean(study)
    return study


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_each_answer_stands_in_during_csv_beside_the_trial_that_it_follows(rehearsed: Study) -> None:
    table = rows(rehearsed.folder / "clean" / "during.csv")
    ratings = {(row["session"], row["position"]): row for row in rows(rehearsed.folder / "clean" / "ratings.csv")}
    counts = Counter(row["question"] for row in table)
    assert (counts["ease"], counts["tired"], counts["alone"]) == (24, 12, 6)
    seen = {(row["session"], row["content"]) for row in ratings.values()}
    assert sorted((row["session"], row["content"]) for row in table if row["question"] == "known") == sorted(seen)
    phones = {row["participant"] for row in rows(rehearsed.folder / "clean" / "participants.csv")
              if "phone" in row["answer_uses"]}  # fmt: skip
    assert counts["hidden"] == 4 * len(phones) > 0
    for row in table:
        rated = ratings[row["session"], row["position"]]
        assert (row["trial"], row["content"], row["condition"]) == (
            rated["trial"],
            rated["content"],
            rated["condition"],
        )
        if row["question"] == "hidden":
            assert row["participant"] in phones
    eases = [row for row in table if row["question"] == "ease" and row["session"] == table[0]["session"]]
    assert [row["time"] for row in eases] == ["1", "2", "3", "4"]


def test_robots_answer_anew_each_time_and_the_same_when_they_come_again(rehearsed: Study, tmp_path: Path) -> None:
    table = rows(rehearsed.folder / "clean" / "during.csv")
    of_one = [row["answer"] for row in table if row["session"] == table[0]["session"] and row["question"] == "ease"]
    assert len(set(of_one)) > 1
    again = tmp_path / "again"
    shutil.copytree(rehearsed.folder, again, ignore=shutil.ignore_patterns("store", "clean"))
    beholder.simulate(again / "study.yaml", participants=6)
    beholder.clean(again / "study.yaml")
    answers = Counter((row["participant"], row["position"], row["question"], row["answer"]) for row in table)
    twice = rows(again / "clean" / "during.csv")
    of = {name: Counter((row[name]) for row in twice) for name in ("position", "question", "answer")}
    assert {name: Counter(key[place] for key in answers.elements()) for place, name in
            ((1, "position"), (2, "question"), (3, "answer"))} == of  # fmt: skip


def test_the_report_tells_them_by_condition_and_over_the_session(rehearsed: Study) -> None:
    page = read_undrawn(rehearsed)
    text = " ".join(page.text.split())
    assert "Asked between trials" in text
    assert "It was easy. By condition" in text
    assert "How tired? Over the session" in text
    assert "Mean ± SD" in text
    assert "They were asked “It was easy.”" in text


def test_the_export_has_them_with_the_trial_that_they_follow(rehearsed: Study) -> None:
    folder = beholder.export(rehearsed).folder
    table = rows(next(folder.rglob("questionnaires.csv")))
    assert {row["place"] for row in table} == {"before", "during", "after"}
    eases = [row for row in table if row["question"] == "ease"]
    assert {row["position"] for row in eases} == {"1", "2", "3", "4"}
    assert {row["withheld"] for row in table if row["question"] == "why"} <= {"true"}
    keys = [(row["session"], row["place"], row["position"], row["question"], row["number"]) for row in table]
    assert len(set(keys)) == len(keys)
    assert {row["place"] for row in rows(next(folder.rglob("questions.csv")))} == {"trial", "before", "during", "after"}


def test_a_study_without_them_has_no_table_of_them(rehearsed: Study, tmp_path: Path) -> None:
    table = rehearsed.folder / "clean" / "during.csv"
    assert table.is_file()
    folder = tmp_path / "plain"
    shutil.copytree(rehearsed.folder, folder)
    shutil.rmtree(folder / "store")
    text = (folder / "study.yaml").read_text("utf-8")
    start, end = text.index("during:\n"), text.index("after:\n")
    (folder / "study.yaml").write_text(text[:start], "utf-8")
    assert end > start
    beholder.plan(folder / "study.yaml")
    beholder.simulate(folder / "study.yaml", participants=1)
    beholder.clean(folder / "study.yaml")
    assert not (folder / "clean" / "during.csv").exists()


def answer_to(step: Mapping[str, Any], **own: Any) -> dict[str, Any]:
    """Return answers to the items of a page that are asked."""
    fill = {"likert": 3, "number": 1, "single": "yes", "multiple": ["radio"], "text": "It was dark."}
    given: dict[str, Any] = {}
    for item in step["items"]:
        if is_asked(item.get("when", ()), given):
            given[item["id"]] = own.get(item["id"], fill[item["type"]])
    return {"answers": given}


def pages(step: Mapping[str, Any]) -> Iterator[str]:
    for item in step["items"]:
        yield item["id"]


@pytest.mark.parametrize("name", ["plays", "cannot-play"])
async def test_the_server_asks_what_earlier_answers_let_it_ask(tmp_path: Path, tiny: Path, name: str) -> None:
    async with served(write(tmp_path, tiny)) as site:
        ada = robot(site, name)  # in its own time
        await ada.arrive()
        await ada.answer({"agree": True})
        await ada.answer({"answers": {"uses": ["radio"]}})
        asked: dict[str, list[str]] = {}
        while ada.step["kind"] != "end":
            step = ada.step
            assert "zqroom" not in str(step)
            if step["kind"] == "trial":
                (await ada.answer(ada.scores(3), ada.watched())).raise_for_status()
                continue
            if step["kind"] != "questions":
                (await ada.answer({})).raise_for_status()
                continue
            asked[step["key"]] = list(pages(step))
            if step["key"] == "questions:during:1":
                await refuse_what_is_not_asked(ada)
                reply = await ada.answer(answer_to(step, ease=1))
            elif "trial" in step:
                reply = await needs_its_file(ada)
            else:
                reply = await ada.answer(answer_to(step))
            assert reply.status_code == 200, reply.text
        assert asked["questions:during:1"][:2] == ["ease", "why"]
        assert "alone" in asked["questions:during:2"]
        assert not any("hidden" in items for items in asked.values())
        assert asked["questions:after"] == ["rest"]


async def refuse_what_is_not_asked(visitor: Visitor) -> None:
    """Send answers to what is hidden, by an earlier page and on this one, and leave out what is asked."""
    good = answer_to(visitor.step, ease=4)
    for wrong, where in (
        ({**good["answers"], "hidden": "yes"}, "answer.answers.hidden"),
        ({**good["answers"], "why": "It was dark."}, "answer.answers.why"),
        ({key: value for key, value in good["answers"].items() if key != "ease"}, "answer.answers.ease"),
        ({**good["answers"], "ease": 2}, "answer.answers.why"),
    ):
        refused = await visitor.answer({"answers": wrong})
        assert (refused.status_code, refused.json()["error"]["where"]) == (422, where)


async def needs_its_file(visitor: Visitor) -> Any:
    """Answer a page without its file, then with a log of it; the same again is the same reply."""
    step, answer = visitor.step, answer_to(visitor.step)
    refused = await visitor.answer(answer)
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "not_watched")
    (slot,) = step["trial"]["slots"]
    media = await visitor.client.get(slot["media"]["url"])
    assert (media.status_code, len(media.content)) == (200, slot["media"]["bytes"])
    broken = [[0, "shown", None, {}], [9, "error", slot["id"], {"what": "decode"}]]
    events = broken if visitor.params["robot"] == "cannot-play" else watch_events(step["trial"])
    first = await visitor.answer(answer, events)
    again = await visitor.answer(answer, events, key=step["key"])
    assert again.json()["stored_at"] == first.json()["stored_at"]
    return first
