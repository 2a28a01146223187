"""checklists.md: facts and the researcher's words fill it, and everything else is a blank with its key."""

from __future__ import annotations

import re
from pathlib import Path

import beholder
from beholder.cleaning.facts import TABLES
from beholder.exporting.checklists import blank_items, checklist_rows, checklists_of
from beholder.exporting.dataset import Dataset
from beholder.exporting.folder import judge_runs
from beholder.exporting.source import ExportSource, FreeTextFilter
from beholder.store.open import read_tables
from beholder.study.model import Study
from support.export_store import START


def dataset(study: Study, *, robots: bool = False) -> Dataset:
    tables = read_tables(str(study.folder / "store"), TABLES)
    (judging,) = judge_runs(study, tables, where="store/", robots=robots)
    return Dataset(study, ExportSource(judging, tables, FreeTextFilter(judging.texts)), START, START, "beholder 0")


def cells(text: str) -> dict[str, str]:
    return dict(re.findall(r"^\| ([a-z0-9.-]+) \| .*? \| (.*) \|$", text, re.MULTILINE))


def test_every_item_is_answered_by_a_fact_or_is_a_blank_with_its_key(folder: Path) -> None:
    text = (folder / "checklists.md").read_text("utf-8")
    given = cells(text)
    assert given["heds-3.1.1"] == ("8 stimuli were rated: 2 contents under 4 conditions (01, Größe 2, NA and no).")
    assert given["p910-people"] == "2 people are used, of 5 who came."
    assert given["heds-3.2.4"] == "There was no training within the study."
    assert given["arr-d2"] == "People took part by a link."
    assert "“How good?”: 1 to 5" in given["interspeech-4"]
    for item in ("heds-2.3", "heds-5.1", "neurips-14b", "bt500-display", "arr-d4"):
        assert given[item] == f"**blank**: `publication.answers.{item}`"
    assert text.index("P.910 (10/2023)") < text.index("BT.500") < text.index("HEDS 3.0"), "the one to cite comes first"
    assert "P.808" not in text, "nobody heard anything"


def test_words_of_the_researcher_come_first_and_their_publication_fills_items(published: Study) -> None:
    answers = {**published.publication.answers, "heds-2.3": "Encoding | of video"}
    study = published.model_copy(update={"publication": published.publication.model_copy(update={"answers": answers})})
    rows = {item: answer for _, item, answer in checklist_rows(dataset(study))}
    assert rows["heds-2.3"] == "Encoding | of video"
    assert rows["heds-1.3"].startswith("Jane Doe, An institute")
    assert rows["neurips-15b"] == "Approved by a board (2026-17)."
    out = beholder.export(study, out=study.folder / "with-checklists").folder
    assert cells((out / "checklists.md").read_text("utf-8"))["heds-2.3"] == "Encoding \\| of video"


def test_ids_are_unique_and_blanks_name_them(study: Study) -> None:
    data = dataset(study)
    items = [item for one in checklists_of(data) for item in one.items]
    assert len({item.id for item in items}) == len(items)
    assert {blank.key for blank in blank_items(data, items)} >= {"publication.answers.heds-2.1"}


def test_a_rehearsal_recruits_nobody(study: Study) -> None:
    rows = {item: answer for _, item, answer in checklist_rows(dataset(study, robots=True))}
    assert rows["heds-3.2.3"] == "Simulated: nobody was recruited."
    assert "robot" in rows["heds-3.2.1"]
