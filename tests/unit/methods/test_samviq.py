"""samviq: an open and a hidden reference on every page, played whole and from the beginning."""

from __future__ import annotations

import numpy as np

from beholder.methods import find
from beholder.planning.builder import make_plan
from support.method_studies import catalogue_of, felt, make_study, problems

CONDITIONS = [{"name": "source", "role": "reference"}, "near", "far"]
METHOD = find("samviq")


def test_every_page_has_the_reference_twice_once_under_its_name() -> None:
    study = make_study("samviq", CONDITIONS, design={"participants": 6, "trials": 3, "seed": 1})
    places = set()
    for planned in make_plan(study, catalogue_of(study), METHOD).lists:
        for trial in planned.trials:
            shown, *rated = trial.slots
            assert (shown.label, shown.rated, shown.role) == ("reference", False, "reference")
            assert sorted(slot.role for slot in rated) == ["hidden_reference", "test", "test"]
            assert METHOD.extra(trial) == {}
            places.add(next(slot.id for slot in rated if slot.role == "hidden_reference"))
    assert places == {"s2", "s3", "s4"}


def test_a_rating_is_the_last_score_as_it_was_given() -> None:
    study = make_study("samviq", CONDITIONS)
    trial = make_plan(study, catalogue_of(study), METHOD).lists[0].trials[0]
    answer = METHOD.respond(trial, felt(trial, {"source": 1.0, "near": 0.7, "far": 0.2}), np.random.default_rng(1))
    rows = METHOD.judgements(trial, METHOD.read(trial, answer))
    found = {trial.slot_by_id[row.slot].stimulus.partition("/")[0]: (row.kind, row.value) for row in rows}
    assert found == {"source": ("score", 100), "near": ("score", 70), "far": ("score", 20)}


def test_versions_are_played_whole_and_from_the_beginning() -> None:
    assert problems(make_study("samviq", CONDITIONS, playback={"watch": "start", "switching": "keep"})) == [
        "playback.watch is start, and samviq opens a slider when all was played. Allowed: whole. Leave it out, or use "
        "method: mushra.",
        "playback.switching is keep, and samviq plays each version from its beginning. Allowed: restart. Leave it out, "
        "or use method: mushra.",
    ]
