"""Parts of a study that have to fit each other."""

from __future__ import annotations

from pathlib import Path

from support.study_texts import HEAD, load, refusal


def test_anchors_that_are_made_count_among_the_conditions_of_a_trial(tmp_path: Path) -> None:
    head = HEAD.replace("acr", "mushra") + "conditions: [{name: original, role: reference}, a, b]\n"
    anchors = "options: {anchors: [lowpass-3500, lowpass-7000]}\n"
    assert load(tmp_path, head + anchors + "design: {per_trial: 4}\n").design.per_trial == 4
    assert refusal(tmp_path, head + anchors + "design: {per_trial: 6}\n") == [
        "study.yaml:8  design.per_trial is 6, above the number of conditions 5. Allowed: at most 5. "
        "Leave it out to show all conditions."
    ]
