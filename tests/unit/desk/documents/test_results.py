"""The page Results: while people may come nothing is told that looking early would spoil."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from beholder.clock import utc_now
from beholder.desk.documents.results import document
from beholder.store.contract import LedgerEntry
from beholder.store.open import open_store
from beholder.study.recruitment import own_posting
from support.commands import command
from support.desk_studies import BLINDED, UNBLINDED, on_desk
from support.taken_study import TakenStudy

NOT_YET = (
    "People still come, and the study plans no looks: intervals and p-values come at the end, as those for a fixed "
    "number of people would be too narrow now."
)


def analyse(folder: Path) -> None:
    for verb in ("clean", "analyse"):
        command(verb, cwd=folder)


def append(folder: Path, *entries: LedgerEntry) -> None:
    async def work() -> None:
        async with open_store(folder / "store", write=False) as store:
            await store.ledger.append(entries)

    asyncio.run(work())


def stop(folder: Path) -> None:
    append(folder, LedgerEntry("stop", "done", utc_now(), provider_ref=own_posting("tiny", 1)))


def look_at(folder: Path, viewer: Any = BLINDED) -> Any:
    return on_desk(folder, lambda on: document(on, viewer))


@pytest.fixture(scope="session")
def _looked_at(_taken_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that was analysed while people come, and one, beside it, after it was stopped."""
    folder = tmp_path_factory.mktemp("looked_at")
    shutil.copytree(_taken_once, folder / "open")
    analyse(folder / "open")
    shutil.copytree(folder / "open", folder / "stopped")
    stop(folder / "stopped")
    analyse(folder / "stopped")
    return folder


@pytest.fixture
def analysed(_looked_at: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(_looked_at / "open", tmp_path / "study"))


@pytest.fixture
def stopped(_looked_at: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(_looked_at / "stopped", tmp_path / "stopped"))


def numbers_of(told: Any, kind: str, *names: str) -> list[Any]:
    return [row[name] for question in told["questions"] for row in question[kind] for name in names if name in row]


def test_before_anything_is_analysed_it_says_so(taken: TakenStudy) -> None:
    told = look_at(taken[0])
    assert (told["state"], told["questions"], told["finished"], told["lists"]) == ("none", [], 2, 4)
    assert told["words"] == (
        "2 lists are finished of 4. Nothing has been analysed: run `beholder analyse` when it is time. Each look while "
        "people still come is recorded."
    )


def test_while_people_come_there_are_means_and_neither_intervals_nor_p_values(analysed: Path) -> None:
    told = look_at(analysed)
    assert (told["state"], told["open"], told["intervals"], told["words"]) == ("interim", True, False, NOT_YET)
    assert all(mean is not None for mean in numbers_of(told, "conditions", "mean"))
    assert set(numbers_of(told, "conditions", "ci_low", "ci_high")) == {None}
    assert set(numbers_of(told, "pairs", "ci_low", "ci_high", "p_holm")) == {None}
    assert numbers_of(told, "pairs", "mean_difference")
    (look,) = told["looks"]
    assert (look["participants"], look["command"]) == (2, "analyse")
    assert not told["report"]
    assert told["report_waits"] is None


def test_where_the_study_plans_its_looks_the_intervals_are_those_of_all_looks(analysed: Path) -> None:
    folder = analysed
    path = folder / "study.yaml"
    notes = folder / "analyse" / "notes.json"
    values = json.loads(notes.read_text("utf-8"))
    assert values["look"]["kind"] == "anytime"
    path.write_text(path.read_text("utf-8").replace("participants: 4", "looks: [2, 4]"), "utf-8")
    told = look_at(folder)
    assert (told["state"], told["intervals"]) == ("interim", True)
    assert any(low is not None for low in numbers_of(told, "conditions", "ci_low"))
    assert set(numbers_of(told, "pairs", "p_holm")) == {None}, "never while people come"


def test_at_the_end_everything_is_told(stopped: Path) -> None:
    told = look_at(stopped)
    assert (told["state"], told["open"], told["intervals"]) == ("final", False, True)
    assert told["words"] == "Everybody has come: intervals and p-values are final."
    assert any(low is not None for low in numbers_of(told, "conditions", "ci_low"))
    open_again = LedgerEntry("resume", "done", utc_now(), provider_ref=own_posting("tiny", 1))
    append(stopped, open_again)
    assert look_at(stopped)["state"] == "interim", "others may come once more"


def test_blinded_pairs_stand_in_the_order_of_the_code_names(stopped: Path) -> None:
    blinded, named = look_at(stopped), look_at(stopped, UNBLINDED)
    (question,) = blinded["questions"]
    assert [one["name"] for one in question["conditions"]] == [f"Condition {letter}" for letter in "ABCD"]
    assert all(pair["first"] < pair["second"] for pair in question["pairs"])
    means = {one["name"]: one["mean"] for one in question["conditions"]}
    for pair in question["pairs"]:
        assert pair["mean_difference"] == pytest.approx(means[pair["first"]] - means[pair["second"]])
        assert pair["ci_low"] is None or pair["ci_low"] <= pair["mean_difference"] <= pair["ci_high"]
    assert sorted(one["mean"] for one in named["questions"][0]["conditions"]) == sorted(means.values())


def test_who_unblinded_is_told(analysed: Path) -> None:
    entry = LedgerEntry("unblind", "done", utc_now(), reason_text="the paper", evidence={"by": "Ada"})
    append(analysed, entry)
    (told,) = look_at(analysed, UNBLINDED)["unblinded"]
    assert (told["by"], told["reason"]) == ("Ada", "the paper")


def test_the_report_waits_for_the_names_and_for_the_end(analysed: Path, stopped: Path) -> None:
    for folder in (analysed, stopped):
        (folder / "report").mkdir()
        (folder / "report" / "index.html").write_text("<p>", "utf-8")
    told = [look_at(stopped), look_at(stopped, UNBLINDED), look_at(analysed, UNBLINDED)]
    assert [(one["report"], one["report_waits"]) for one in told] == [(False, "names"), (True, None), (False, "end")]
