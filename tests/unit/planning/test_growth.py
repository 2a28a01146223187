"""Growth of a study: added stimuli, changes that are not allowed, and more lists by the same design."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from beholder.methods import find
from beholder.planning.balance import ratings_per_stimulus
from beholder.planning.builder import make_plan
from beholder.planning.growth import (
    earlier_stimuli,
    earlier_study,
    more_lists,
    study_changes,
    transcript_changes,
    with_units,
)
from beholder.planning.serialization import lists_from_json, lists_to_json
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from beholder.study.serialization import resolved_yaml
from support.companion_texts import catalogue as companions
from support.companion_texts import in_folder
from support.extension_cases import DESIGNS
from support.method_studies import make_catalogue as clips
from support.method_studies import study_with_transcripts
from support.plans import make_catalogue, make_study
from support.variants import variant


@pytest.mark.parametrize("design", ["stimuli", "pages", "references"])
def test_more_participants_get_lists_by_the_same_design(design: str, tmp_path: Path) -> None:
    study, catalogue = DESIGNS[design]
    method = find(study.method)
    plan = make_plan(study, catalogue, method)
    fresh = more_lists(study, catalogue, method, plan.lists, 7)
    assert [planned.number for planned in fresh] == list(range(len(plan.lists) + 1, len(plan.lists) + 8))
    assert {len(planned.trials) for planned in fresh} == {len(plan.lists[0].trials)}
    assert more_lists(study, catalogue, method, plan.lists, 7) == fresh, "the same draw again"
    assert fresh[0].entries != plan.lists[0].entries
    counts = Counter(ratings_per_stimulus(replace(plan, lists=(*plan.lists, *fresh))))
    if design == "stimuli":
        assert max(counts.values()) - min(counts.values()) <= 2


def test_groups_stay_as_large_as_each_other_when_people_are_added() -> None:
    study = make_study(
        participants=5, trials=3, between={"set": {"a": {}, "b": {"conditions": ["condition0", "condition1"]}}}
    )
    catalogue, method = make_catalogue(4, 3), find("acr")
    plan = make_plan(study, catalogue, method)
    assert Counter(planned.group["set"] for planned in plan.lists) == {"a": 3, "b": 2}
    fresh = more_lists(study, catalogue, method, plan.lists, 4)
    assert Counter(planned.group["set"] for planned in (*plan.lists, *fresh)) == {"a": 5, "b": 4}


@pytest.mark.parametrize("more", [1, 3, *map(variant, (2, 6))])
def test_groups_stay_as_large_as_each_other_when_people_take_several_sessions(more: int) -> None:
    between = {"told": {"a": {}, "b": {"instructions": "Mind the hands."}}}
    study = make_study(participants=3, trials=2, sessions_per_participant=3, between=between)
    catalogue, method = make_catalogue(5, 3), find("acr")
    plan = make_plan(study, catalogue, method)
    fresh = more_lists(study, catalogue, method, plan.lists, more)
    people = Counter(planned.group["told"] for planned in (*plan.lists, *fresh))
    assert sum(people.values()) == 3 * (3 + more)
    assert max(people.values()) - min(people.values()) <= 3


def rows_of(catalogue: Catalogue) -> list[dict[str, Any]]:
    return [
        {"stimulus": s.id, "content": s.content, "condition": s.condition, "role": s.role, "sha256": s.sha256}
        for s in catalogue.stimuli
    ]


def test_stimuli_that_were_added_are_found_and_nothing_else() -> None:
    before, study = make_catalogue(3, 2), make_study(participants=4)
    after = make_catalogue(3, 3)
    changes = study_changes(study, rows_of(before), study, after)
    assert changes.problems == ()
    assert changes.stimuli == ("content0-condition2", "content1-condition2", "content2-condition2")
    assert study_changes(study, rows_of(before), study, before).stimuli == ()


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "trials": ({"trials": 3}, "study.yaml  design.trials is not what it was when people came. Undo the change."),
    "seed": ({"seed": 9}, "study.yaml  design.seed is not what it was when people came. Undo the change."),
    "participants": (
        {"participants": 9},
        "study.yaml  design.participants was 4 when people came, and is 9. Write 4 again, and add people with "
        "`beholder extend --participants 5`.",
    ),
    "fewer participants": (
        {"participants": 2},
        "study.yaml  design.participants was 4 when people came, and is 2. Write 4 again.",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_design_that_changed_is_named(change: str) -> None:
    keys, message = CHANGES[change]
    catalogue = make_catalogue(3, 2)
    changes = study_changes(
        make_study(participants=4), rows_of(catalogue), make_study(**({"participants": 4} | keys)), catalogue
    )
    assert [str(problem) for problem in changes.problems] == [message]


def test_stimuli_that_are_gone_or_changed_are_named() -> None:
    study, before = make_study(participants=4), make_catalogue(3, 2)
    stimuli = list(before.stimuli[1:])
    stimuli[0] = replace(stimuli[0], sha256="other")
    changes = study_changes(study, rows_of(before), study, replace(before, stimuli=tuple(stimuli)))
    assert [str(problem) for problem in changes.problems] == [
        "stimuli  content0-condition0 is in lists of the plan and no longer there. Put the files back: people have "
        "rated them, or are about to.",
        "stimuli  content0-condition1 is not what it was when people rated it. Put the earlier files back, and give "
        "changed ones a condition of their own.",
    ]


@pytest.mark.parametrize("name", ["transcribe", "word-select"])
def test_transcripts_that_changed_are_named(tmp_path: Path, name: str) -> None:
    catalogue, method = clips(contents=("one", "two")), find(name)
    study = study_with_transcripts(tmp_path / "study", name, ("one", "two", "three"))
    lists = tuple(lists_from_json(list(lists_to_json(make_plan(study, catalogue, method)))))

    def told(before: Study | None = study) -> list[str]:
        added = clips(contents=("one", "two", "three"))
        return [str(problem) for problem in transcript_changes(before, lists, study, added, method)]

    assert told() == [], "a content that was added has words of its own"
    (tmp_path / "study" / "transcripts" / "two.txt").write_text("The small goat reached the harbour.", "utf-8")
    message = (
        "options.transcripts has other words or times: two is not what it was when people came. Put the earlier "
        "transcripts back."
    )
    assert [one.endswith(message) for one in told()] == [True]
    assert told(None) == told(), "also where the earlier text can no longer be read"
    assert [*transcript_changes(study, lists, study, catalogue, find("acr"))] == []


def test_a_study_is_read_from_its_text_in_the_store(tmp_path: Path) -> None:
    study = make_study(participants=4)
    study._folder = tmp_path
    assert earlier_study(resolved_yaml(study), study, find("acr")) == study
    assert earlier_study("method: [", study, find("acr")) is None
    assert earlier_study("what: ever", study, find("acr")) is None


def test_what_there_was_to_rate_is_known_from_the_store() -> None:
    studies = [
        {"digest": "d1", "plan_digest": "p"},
        {"digest": "d2", "plan_digest": "p"},
        {"digest": "d3", "plan_digest": "q"},
    ]
    stimuli = [
        {"digest": d, "stimulus": s, "role": r}
        for d, s, r in (
            ("d1", "a", "test"),
            ("d2", "a", "test"),
            ("d2", "b", "anchor"),
            ("d2", "t", "trap"),
            ("d3", "c", "test"),
        )
    ]
    assert earlier_stimuli(studies, stimuli, "p") == [frozenset("a"), frozenset("ab")]


def test_nothing_is_promised_of_a_plan_that_was_extended(tmp_path: Path) -> None:
    from beholder.planning.balance import balance
    from beholder.planning.model import Addition

    study, catalogue = DESIGNS["stimuli"]
    plan = make_plan(study, catalogue, find("acr"))
    fresh = [
        replace(one, added=Addition("why", "when", "d"))
        for one in more_lists(study, catalogue, find("acr"), plan.lists, 3)
    ]
    whole = with_units(replace(plan, lists=(*plan.lists, *fresh)), study, catalogue, find("acr"))
    rows = balance(whole, catalogue)
    assert all(row.promised is None for row in rows)
    assert rows[0].count == balance(plan, catalogue)[0].count == "condition totals"


def test_contents_that_are_added_to_a_study_of_companions_are_told_of_and_conditions_may_be_added(
    tmp_path: Path,
) -> None:
    study = in_folder(tmp_path)
    before = companions(study, tuple("abcdef"))
    added = study_changes(study, rows_of(before), study, companions(study))
    (problem,) = added.problems
    assert str(problem).endswith(
        "are not what they were when people rated them. With contents that are added, others lend their companions: "
        "take them out, or write another study."
    )
    earlier = [row for row in rows_of(companions(study)) if row["condition"] == "good"]
    changes = study_changes(study, earlier, study, companions(study))
    assert changes.problems == ()
    assert len(changes.stimuli) == 8
