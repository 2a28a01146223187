"""Training as it is written and planned: in a manifest or the study, and what a method makes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from beholder.errors import StimuliError, UserError
from beholder.methods import find, load_study
from beholder.planning.balance import balance, ratings_per_stimulus
from beholder.planning.builder import make_plan
from beholder.planning.digest import plan_digest, study_digest
from beholder.planning.folder import read_plan, write_plan
from beholder.planning.serialization import list_from_json, list_to_json, lists_to_json
from beholder.stimuli.ingestion import load_catalogue
from beholder.testing import write_study
from beholder.workflow.check import check
from support.method_studies import catalogue_of, make_study
from support.plans import assert_promises
from support.training_plans import REFERENCE, plan_of, training_of
from support.training_studies import LESSONS, lesson, teach, write_manifest, write_taught


def problems_of(study: Path) -> list[str]:
    with pytest.raises(UserError) as caught:
        check(study)
    return [str(problem) for problem in caught.value.problems]


# As it is written


def test_a_manifest_teaches_in_the_order_of_its_lines(tmp_path: Path, tiny: Path) -> None:
    study = load_study(write_taught(tmp_path, tiny))
    catalogue = load_catalogue(study)
    assert [stimulus.id for stimulus in catalogue.training] == [
        "training:natural/practice1", "training:frozen/practice2", "training:jerky/practice3",
        "training:smooth/practice4",
    ]  # fmt: skip
    first, second, third, fourth = (stimulus.known_answer for stimulus in catalogue.training if stimulus.known_answer)
    assert (first.anchor, first.expected) == ("Excellent: no flaw can be seen", {"": (5, None, "", ())})
    assert (second.expected, third.expected) == ({"": (1, 0, "It stands still.", ())}, {})
    assert (fourth.is_trap, first.is_trap) == (True, False)
    assert catalogue.warnings == ()
    assert all(stimulus.factors == {} for stimulus in catalogue.stimuli)
    assert catalogue.conditions == ("frozen", "jerky", "natural", "smooth")
    assert not any(content.startswith("practice") for content in catalogue.contents)


def test_a_line_may_expect_something_else_of_each_question(tmp_path: Path, tiny: Path) -> None:
    row = {"Expected": "4", "tolerance": "2", "Expected_Fit": "1", "message_fit": "It does not fit."}
    questions = [{"id": "quality", "text": "?"}, {"id": "fit", "text": "?"}]
    study = load_study(write_taught(tmp_path, tiny, [row], questions=questions))
    plan = make_plan(study, load_catalogue(study), find("acr"))
    (trial,) = plan.lists[0].training
    assert trial.targets == {"q1.s1": (4, 2, "", False, ()), "q2.s1": (1, 2, "It does not fit.", False, ())}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"expected": "good"}, "expected is good. Allowed: a number."),
        ({"expected": "nan"}, "expected is nan. Allowed: a number."),
        ({"expected": "5", "tolerance": "-1"}, "tolerance is -1. Allowed: a number, 0 or more."),
        (
            {"tolerance_quality": "1"},
            "tolerance_quality is written, and no answer is expected. Write expected_quality beside it.",
        ),
        ({"message": "Look!"}, "message is written, and no answer is expected. Write expected beside it."),
        ({"expected": "5", "trap": "yes"}, "trap is yes. Allowed: true, false, or an empty cell."),
        (
            {"trap": "true"},
            "trap is true, and no answer is expected. Write in expected which answer it asks for.",
        ),
        (
            {"expected": "7"},
            "expected is 7, which is not on the scale of quality. Allowed: 1 to 5 in steps of 1.",
        ),
        (
            {"expected_quality": "2.5"},
            "expected_quality is 2.5, which is not on the scale of quality. Allowed: 1 to 5 in steps of 1.",
        ),
        (
            {"expected_qualty": "5"},
            "expected_qualty is about qualty, which is not asked. Allowed: quality. Did you mean quality?",
        ),
    ],
)
def test_a_line_that_cannot_be_taught_is_told(tmp_path: Path, tiny: Path, row: dict[str, str], problem: str) -> None:
    assert problems_of(write_taught(tmp_path, tiny, [{}, row])) == [f"stimuli.csv:19  {problem}"]


def test_all_lines_are_told_at_once(tmp_path: Path, tiny: Path) -> None:
    study = write_taught(tmp_path, tiny, [{"expected": "9"}, {"expected": "0"}, {"expected": "5"}])
    assert [problem.split(",")[0] for problem in problems_of(study)] == [
        "stimuli.csv:18  expected is 9", "stimuli.csv:19  expected is 0",
    ]  # fmt: skip


def test_expectations_on_other_lines_are_told(tmp_path: Path, tiny: Path) -> None:
    study = write_taught(tmp_path, tiny, [{"role": "test", "expected": "5", "anchor": "x"}])
    assert [str(problem) for problem in load_catalogue(load_study(study)).warnings[:2]] == [
        "stimuli.csv  column expected is used on lines with role training, gold, trap or attention alone.",
        "stimuli.csv  column anchor is used on lines with role training alone.",
    ]


def test_a_folder_study_lists_its_own_examples(tmp_path: Path, tiny: Path) -> None:
    items = [
        {"file": "stimuli/natural/greeting.mp4", "expected": 5, "message": "Nothing is wrong.", "anchor": "Excellent"},
        {"file": "stimuli/frozen/greeting.mp4", "content": "stop", "expected": {"quality": 1}, "tolerance": 0},
        {"file": "stimuli/jerky/greeting.mp4", "content": "ask", "condition": "trap", "expected": 2, "trap": True},
    ]
    training = {"corrections": 1, "items": items}
    study = load_study(write_study(tmp_path, tiny, **ACR_FOLDER, training=training))
    plan = make_plan(study, load_catalogue(study), find("acr"))
    shown = [(trial.slots[0].stimulus, trial.targets["q1.s1"], trial.anchor) for trial in plan.lists[0].training]
    assert shown == [
        ("training:training/greeting", (5, 1, "Nothing is wrong.", False, ()), "Excellent"),
        ("training:training/stop", (1, 0, "", False, ()), ""),
        ("training:trap/ask", (2, 0, "", True, ()), ""),
    ]


ACR_FOLDER = {"method": "acr", "design": {"participants": 4, "trials": 2}}


def test_what_is_wrong_with_an_item_is_told_with_its_line(tmp_path: Path, tiny: Path) -> None:
    items: list[dict[str, Any]] = [
        {"file": "stimuli/natural/greting.mp4", "tolerance": 1},
        {"file": "../greeting.mp4"},
        {"file": "notes.pages"},
    ]
    path = write_study(tmp_path, tiny, **ACR_FOLDER, training={"items": items})
    lines = path.read_text("utf-8").splitlines()
    at = [number for number, line in enumerate(lines, 1) if line.lstrip().startswith("- file:")]
    problems = problems_of(path)
    assert problems[:2] == [
        f"study.yaml:{at[0]}  training.items.0.tolerance is written, and no answer is expected. "
        "Write training.items.0.expected beside it.",
        f"study.yaml:{at[0]}  stimuli/natural/greting.mp4 does not exist. Did you mean greeting.mp4?",
    ]
    assert problems[2] == (
        f"study.yaml:{at[1]}  ../greeting.mp4 lies outside the study folder. Allowed: paths inside it. "
        "Copy the files into the study folder."
    )
    assert problems[3].startswith(f"study.yaml:{at[2]}  notes.pages: this kind of file is unknown. Allowed: .mp4")


def test_an_item_off_the_scale_is_told_under_its_key(tmp_path: Path, tiny: Path) -> None:
    items = [{"file": "stimuli/natural/greeting.mp4", "expected": {"quality": 6}}]
    (problem,) = problems_of(write_study(tmp_path, tiny, **ACR_FOLDER, training={"items": items}))
    assert problem.partition("  ")[2] == (
        "training.items.0.expected.quality is 6, which is not on the scale of quality. Allowed: 1 to 5 in steps of 1."
    )


def test_training_can_be_switched_off(tmp_path: Path, tiny: Path) -> None:
    study = load_study(write_taught(tmp_path, tiny, training=False))
    catalogue = load_catalogue(study)
    assert make_plan(study, catalogue, find("acr")).lists[0].training == ()
    warning = "training is false, so 4 stimuli with role training are not shown."
    assert [str(problem).partition("  ")[2] for problem in catalogue.warnings] == [warning]


NOBODY = "Give stimuli the role training in a manifest, list files in training.items, or write training: false."


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({}, []),
        ({"training": True}, []),
        ({"training": {"corrections": 1}}, [f"training is written, and no stimuli have the role training. {NOBODY}"]),
        ({"preset": "p910", "training": False}, []),
        *(
            (
                {"preset": name},
                [
                    f"preset is {name}, which trains people before they rate, and no stimuli have the role training. "
                    f"{NOBODY}"
                ],
            )
            for name in ("p910", "audio")
        ),
    ],
)
def test_a_study_that_speaks_of_training_without_stimuli_is_told(
    tmp_path: Path, tiny: Path, keys: dict[str, Any], told: list[str]
) -> None:
    study = load_study(write_study(tmp_path, tiny, **ACR_FOLDER, **keys))
    catalogue = load_catalogue(study)
    assert [str(problem).partition("  ")[2] for problem in catalogue.warnings] == told
    assert make_plan(study, catalogue, find("acr")).lists[0].training == ()


def test_a_condition_that_is_left_out_of_rating_can_be_practised(tmp_path: Path, tiny: Path) -> None:
    study = load_study(write_taught(tmp_path, tiny, conditions=["natural", "smooth"]))
    assert len(load_catalogue(study).training) == len(LESSONS)


# As it is planned


def test_single_stimuli_come_in_the_order_of_the_manifest() -> None:
    made = training_of(make_study("acr"), ("b/two", lesson(1)), ("a/one", lesson(2, 5)), ("b/one", lesson(3, 1)))
    assert [trial["slots"] for trial in made] == [
        [("training:b/two", True)], [("training:a/one", True)], [("training:b/one", True)],
    ]  # fmt: skip
    assert [trial["targets"] for trial in made] == [{}, {"q1.s1": (5, 1)}, {"q1.s1": (1, 1)}]


@pytest.mark.parametrize(
    ("method", "conditions"), [("acr", ["a", "b"]), ("pair", ["a", "b"]), ("mushra", REFERENCE), ("ccr", REFERENCE)]
)
def test_training_may_have_conditions_of_its_own(method: str, conditions: list[Any]) -> None:
    study = make_study(method, conditions)
    taught = ("worst/one", lesson(1)), ("best/one", lesson(2))
    plan, catalogue = plan_of(study, *taught), teach(catalogue_of(study), *taught)
    assert plan.lists[0].training
    assert_promises(plan, catalogue)


def test_training_changes_nothing_of_what_is_rated() -> None:
    study = make_study("parallel", ["a", "b", "c"], design={"participants": 7, "trials": 3, "breaks": 2})
    bare = plan_of(study)
    taught = plan_of(study, ("a/one", lesson(1, 100)), ("b/one", lesson(2)))
    assert [planned.trials for planned in taught.lists] == [planned.trials for planned in bare.lists]
    catalogue = teach(catalogue_of(study), ("a/one", lesson(1, 100)), ("b/one", lesson(2)))
    assert_promises(taught, catalogue)
    assert balance(taught, catalogue) == balance(bare, catalogue_of(study))
    assert ratings_per_stimulus(taught) == ratings_per_stimulus(bare)


def test_every_list_begins_with_the_same_training_which_is_written_once(tmp_path: Path) -> None:
    study = make_study("acr")
    taught = ("a/x", lesson(1, 5, message="Look again.", anchor="Excellent")), ("b/x", lesson(2))
    plan = plan_of(study, *taught)
    first = plan.lists[0].training
    assert [trial.id for trial in first] == ["training:1", "training:2"]
    assert all(planned.entries[:2] == first for planned in plan.lists)
    assert all(one is two for planned in plan.lists for one, two in zip(planned.entries, first, strict=False))
    written = [json.dumps(one) for one in lists_to_json(plan)]
    assert ["Look again." in one for one in written] == [True] + [False] * (len(written) - 1)
    assert list_from_json(list_to_json(plan.lists[1])) == plan.lists[1]
    write_plan(plan, teach(catalogue_of(study), *taught), "digest", tmp_path)
    assert read_plan(tmp_path) == plan
    assert json.loads((tmp_path / "plan" / "plan.json").read_text("utf-8"))["trials"] == 6 * 2


def test_words_of_the_training_may_change_and_expectations_may_not() -> None:
    study = make_study("acr")

    def digests(**more: Any) -> tuple[str, str]:
        catalogue = teach(catalogue_of(study), ("a/x", lesson(1, more.pop("expected", 5), **more)))
        return plan_digest(study, catalogue), study_digest(study, catalogue)

    plan, whole = digests()
    assert digests() == (plan, whole)
    for words in ({"message": "Look."}, {"anchor": "Excellent"}):
        assert digests(**words)[0] == plan
        assert digests(**words)[1] != whole
    for other in ({"expected": 4}, {"tolerance": 0.0}, {"is_trap": True}):
        assert digests(**other)[0] != plan


def test_a_resolved_study_keeps_its_items(tmp_path: Path, tiny: Path) -> None:
    from beholder.study.serialization import resolved_yaml

    items = [{"file": "stimuli/natural/greeting.mp4", "expected": {"quality": 5}, "message": "Look."}]
    study = load_study(write_study(tmp_path, tiny, **ACR_FOLDER, training={"items": items}))
    (tmp_path / "again.yaml").write_text(resolved_yaml(study), "utf-8")
    assert load_study(tmp_path / "again.yaml").training == study.training


def test_a_manifest_without_training_has_none(tmp_path: Path, tiny: Path) -> None:
    study = load_study(write_taught(tmp_path, tiny, []))
    assert load_catalogue(study).training == ()
    write_manifest(tmp_path / "stimuli.csv", [{"file": "", "content": "", "condition": ""}])
    with pytest.raises(StimuliError):
        load_catalogue(study)


def test_yaml_takes_true_false_or_options_for_training(tmp_path: Path, tiny: Path) -> None:
    path = write_study(tmp_path, tiny, **ACR_FOLDER)
    written = yaml.safe_load(path.read_text("utf-8"))
    path.write_text(yaml.safe_dump({**written, "training": {"corrections": -1, "items": [{"expected": 5}]}}), "utf-8")
    with pytest.raises(UserError) as caught:
        load_study(path)
    assert [str(problem).partition("  ")[2] for problem in caught.value.problems] == [
        "training.corrections is -1. Allowed: a whole number, 0 to 20.",
        "training.items.0.file is missing. Allowed: text that is not empty.",
    ]
