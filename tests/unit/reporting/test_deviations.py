"""What was planned beside what was done: every deviation from a preregistration, and that there is none."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from beholder.analysis import analyse
from beholder.cleaning.collection import Collection, SizeChange
from beholder.cleaning.tables import clean_tables
from beholder.reporting.deviations import (
    deviations,
    deviations_section,
    planned_sheet,
    preregistration_of,
    preregistration_sentences,
)
from beholder.reporting.material import Material, load_material
from beholder.study.model import Study
from beholder.study.serialization import resolved_yaml
from support.cleaning_store import START, Tables, add, make_study, store
from support.registered_studies import BEFORE, plan_of, registered, registered_at
from support.report_material import markup_text

NAMED: dict[str, Any] = {"analyse": {"contrasts": [["a", "b"]]}, "texts": {"consent": "Agree?"}}
Told = list[tuple[str, str, str]]


def tables_of(study: Study, sessions: int = 4) -> Tables:
    tables = store(study)
    for number in range(1, sessions + 1):
        add(tables, f"s{number}", number=number)
    return tables


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Material:
    """The report of a study in which everything was done as planned."""
    study = make_study(tmp_path_factory.mktemp("planned"), **NAMED)
    tables = tables_of(study)
    row = registered(plan_of(study, tables))
    tables["ledger"] = [row, registered_at(row, "https://osf.io/abcde")]
    clean_tables(study, tables)
    analyse(study)
    return load_material(study)


def with_account(material: Material, **changes: Any) -> Material:
    account = json.loads(json.dumps(material.account))
    account["preregistration"] |= changes
    return replace(material, account=account)


def with_collection(material: Material, **changes: Any) -> Material:
    collected = replace(Collection.read(material.account["collection"]), **changes)
    return replace(material, account=dict(material.account) | {"collection": collected.json()})


def with_plan(material: Material, **changes: Any) -> Material:
    """Return the material with another plan in time; its digest does not matter here."""
    account = json.loads(json.dumps(material.account))
    account["preregistration"]["versions"][0]["plan"] |= changes
    return replace(material, account=account)


def with_study(material: Material, **keys: Any) -> Material:
    study = make_study(material.study.folder, **NAMED | keys)
    return replace(material, study=study)


def told(material: Material) -> Told:
    known = preregistration_of(material)
    assert known is not None
    return [tuple(one) for one in deviations(material, known)]  # type: ignore[misc]


def test_no_deviation_is_said_too(whole: Material) -> None:
    assert told(whole) == []
    assert planned_sheet(whole) is None
    text = markup_text(deviations_section(whole))
    assert text.startswith("The plan was recorded at https://osf.io/abcde on 14 November 2026, before the first person")
    assert text.endswith("Nothing was done otherwise than planned.")
    (sentence,) = preregistration_sentences(whole)
    assert sentence.text.endswith("; nothing was done otherwise than planned")


def test_a_study_without_a_preregistration_has_no_section_and_a_blank(whole: Material) -> None:
    account = {name: value for name, value in whole.account.items() if name != "preregistration"}
    without = replace(whole, account=account)
    assert (deviations_section(without), planned_sheet(without)) == (None, None)
    assert [one.text for one in preregistration_sentences(without)] == ["[Preregistration, if there is one]"]


SIZE, EXCLUSIONS, HYPOTHESES = "Number and stopping", "Exclusions", "Hypotheses"
TEXTS, DESIGN, ANALYSES = "Texts and questions", "Design", "Analyses"


@pytest.mark.parametrize(
    ("changes", "deviation"),
    [
        ({"ended": "stopped", "finished": 3}, ("4 sessions, of 4 participants", "3 finished; it ended by hand")),
        ({"ended": "date", "finished": 2}, ("4 sessions, of 4 participants", "2 finished; it ended at its date")),
        (
            {"changes": (SizeChange("2026-11-16T10:00:00.999+00:00", 2, "more participants"),)},
            ("4 sessions", "2 added on 16 November 2026: more participants"),
        ),
    ],
)
def test_another_number_is_told_with_how_it_came(
    whole: Material, changes: dict[str, Any], deviation: tuple[str, str]
) -> None:
    assert told(with_collection(whole, **changes)) == [(SIZE, *deviation)]


def test_who_may_still_come_and_a_stop_at_a_planned_look_are_no_deviations(whole: Material) -> None:
    assert told(with_collection(whole, ended=None, finished=2)) == []
    notes = whole.results.notes | {"look": {"kind": "planned", "stops": True}}
    stopped = replace(whole, results=replace(whole.results, notes=notes))
    assert told(with_collection(stopped, ended="target", finished=2)) == []


def test_looks_that_were_not_planned_are_told(whole: Material) -> None:
    from beholder.cleaning.collection import Look

    looks = (Look("2026-11-15T12:00:00.000+00:00", 2, 2, 4, "analyse", "x"),)
    looked = with_collection(whole, looks=looks)
    assert told(looked) == [(SIZE, "no look before the end", "looked at with 2 participants before the end")]
    planned = make_study(whole.study.folder, **NAMED, design={"looks": [2, 20]})
    assert told(with_plan(looked, yaml=resolved_yaml(planned))) == [], "design itself is held against what was served"


def test_thresholds_that_changed_after_are_told_whoever_they_judged(whole: Material) -> None:
    changed = with_study(whole, clean={"use": {"variance": {"min": 0.4}}, "outliers": True})
    assert told(changed) == [
        (EXCLUSIONS, "clean.use.variance: –", '{"action":null,"min":0.4,"share":null}'),
        (EXCLUSIONS, "clean.outliers: false", "true"),
    ]
    by_hand = with_account(whole, left_out=2, taken_in=1)
    assert told(by_hand) == [
        (EXCLUSIONS, "by the rules alone", "2 sessions left out by hand"),
        (EXCLUSIONS, "by the rules alone", "1 session taken in by hand, whatever the rules say"),
    ]


def test_contrasts_margin_and_analyses_that_came_later_are_called_exploratory(whole: Material) -> None:
    later = with_study(whole, analyse={"contrasts": [["b", "c"]], "margin": 0.5})
    assert told(later) == [
        (HYPOTHESES, "analyse.margin: –", "0.5"),
        (HYPOTHESES, "not planned", "b minus c is tested: it is exploratory"),
        (HYPOTHESES, "a minus b", "no longer named"),
    ]
    notes = whole.results.notes | {"models": {"bt500": {}}}
    known = [name for name in whole.results.notes["analyses"] if name != "medians"]
    added = replace(with_plan(whole, analyses=known), results=replace(whole.results, notes=notes))
    models = (ANALYSES, "not planned", "quality by bt500 was added: it is exploratory")
    assert models in told(added)


def test_other_words_stimuli_and_plans_are_told_for_whom_they_were(whole: Material) -> None:
    served = whole.account["preregistration"]["served"][0]
    texts = [
        {**served, "sessions": 1, "is_same": False, "changes": [["questions.quality.text", "How good?", "Good?"]]},
        {**served, "sessions": 3},
    ]
    assert told(with_account(whole, served=texts)) == [
        (TEXTS, "questions.quality.text: How good?", "Good? (1 of 4 sessions)")
    ]
    in_a_file = with_study(with_account(whole, served=[{**served, "is_same": False}]), texts={"consent": "Yes?"})
    assert told(in_a_file) == [(TEXTS, "texts.consent: as recorded", "other words")]
    back = with_account(whole, served=[{**served, "is_same": False}])
    assert told(back) == [(TEXTS, "a text in a file: as recorded", "other words")]
    stimuli = told(with_account(whole, served=[{**served, "is_same": False, "has_same_stimuli": False}]))
    assert [(part, done) for part, _, done in stimuli] == [(DESIGN, "other files")]
    counts = dict(whole.account["counts"]) | {"other_plans": 2}
    other = replace(whole, account=dict(whole.account) | {"counts": counts})
    assert told(other) == [(DESIGN, "one plan", "2 sessions of another plan, not analysed")]
    unread = told(with_account(whole, served=[{**served, "changes": None}]))
    assert unread == [(DESIGN, "the study as recorded", "cannot be read by this version: compare it by hand")]


def test_late_versions_are_marked_and_never_the_standard(tmp_path: Path) -> None:
    study = make_study(tmp_path, **NAMED)
    tables = tables_of(study)
    in_time, late = plan_of(study, tables), plan_of(study, tables, lists=3)
    after = START + timedelta(days=1)
    tables["ledger"] = [registered(in_time), registered(late, at=after, people=4, why="Fewer came")]
    clean_tables(study, tables)
    analyse(study)
    text = markup_text(deviations_section(load_material(study)))
    assert "version 1 of 2, before the first person took part" in text
    assert "late: 4 had taken part 0 Fewer came" in text
    assert "Nothing was done otherwise than planned." in text
    tables["ledger"] = [registered(late, at=after)]
    clean_tables(study, tables)
    analyse(study)
    alone = load_material(study)
    assert told(alone) == [
        ("Dates", "recorded before the first person", "recorded on 16 November 2026, after the first person")
    ]
    assert "▲ Late. People had taken part before the plan was recorded" in markup_text(deviations_section(alone))
    assert "1 deviation from it is listed in the report" in preregistration_sentences(alone)[0].text
    assert planned_sheet(alone) is not None


def test_an_exploratory_study_and_words_that_no_program_checks_are_named(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    tables = tables_of(study)
    tables["ledger"] = [registered(plan_of(study, tables), words={"Other": "Age."})]
    clean_tables(study, tables)
    analyse(study)
    material = load_material(study)
    text = markup_text(deviations_section(material))
    assert "No hypothesis was planned: every difference is exploratory." in text
    assert "In words of your own, which no program can check: Other." in text
    tampered = with_plan(material, title="Another")
    assert "▲ Changed. The record does not have the digest" in markup_text(deviations_section(tampered))
    assert BEFORE < START
