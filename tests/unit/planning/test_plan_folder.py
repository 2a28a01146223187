"""A plan survives being written and read, and its digest knows design from text."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.errors import PlanError
from beholder.methods import find, load_study
from beholder.methods.contract import Asked, Break, Slot, Target, Trial
from beholder.planning import plan_study as plan_verb
from beholder.planning import read_plan
from beholder.planning.builder import make_plan
from beholder.planning.digest import plan_digest, study_digest
from beholder.planning.folder import write_plan
from beholder.planning.model import Plan, PlannedList
from beholder.planning.serialization import list_from_json, list_to_json
from beholder.stimuli.catalogue import Catalogue, Probe, Stimulus
from beholder.study.model import Study
from beholder.study.questions import SCALES, Scale

TINY_PROBE = Probe(1000, "mp4", 2000, 320, 180, 25.0, "h264", "", 0)


def tiny_catalogue(sha256: str = "00") -> Catalogue:
    conditions, contents = ("a", "b", "c"), ("t", "u", "v", "w")
    stimuli = tuple(
        Stimulus(f"{t}-{c}", t, c, "test", "video", f"{c}/{t}.mp4", sha256, TINY_PROBE, Path("served"))
        for t in contents
        for c in conditions
    )
    return Catalogue(stimuli, conditions, contents)


def tiny_study(text: str = "How good?", scale: str = "cont100", title: str = "Tiny", **design: Any) -> Study:
    return Study.model_validate(
        {
            "beholder": 1,
            "name": "tiny",
            "title": title,
            "method": "parallel",
            "stimuli": "stimuli",
            "questions": [{"id": "quality", "text": text, "scale": scale}, {"id": "fit", "text": "Does it fit?"}],
            "design": {"participants": 5, "contents": "once", "per_trial": 2, "breaks": 2, **design},
        }
    )


def tiny_plan() -> Plan:
    return make_plan(tiny_study(), tiny_catalogue(), find("parallel"))


WORDS = st.text(max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)
SCALE = st.sampled_from([*SCALES.values(), Scale(min=-1, max=1, step=0.5), Scale(min=0, max=1, labels=((0.25, "ä"),))])
SLOT = st.builds(
    Slot,
    st.sampled_from(["s1", "s2", "x"]),
    WORDS,
    st.sampled_from(["test", "reference", "attention"]),
    st.none() | WORDS,
    st.booleans(),
    st.none() | WORDS,
)
ASKED = st.builds(
    Asked,
    st.just(""),
    WORDS,
    st.sampled_from(["ask", "trap", "repeat"]),
    WORDS,
    SCALE,
    st.sampled_from(["+", "-"]),
    st.lists(WORDS, max_size=2).map(tuple),
)
TARGET = st.builds(
    Target, st.floats(0, 100), st.floats(0, 5), WORDS, st.booleans(), st.lists(st.floats(0, 100), max_size=2).map(tuple)
)
TRIAL = st.builds(
    Trial,
    WORDS,
    WORDS,
    st.sampled_from(["rate", "train"]),
    st.lists(SLOT, max_size=3).map(tuple),
    st.lists(ASKED, max_size=2).map(lambda page: tuple(a._replace(id=f"q{n}") for n, a in enumerate(page, 1))),
    st.dictionaries(WORDS, JSON, max_size=2),
    st.dictionaries(WORDS, TARGET, max_size=2),
    st.booleans(),
)
LIST = st.builds(PlannedList, st.integers(1, 99), st.lists(TRIAL | st.builds(Break, WORDS), max_size=3).map(tuple))


@given(LIST)
def test_any_list_comes_back_from_json_as_it_was(planned: PlannedList) -> None:
    assert list_from_json(json.loads(json.dumps(list_to_json(planned)))) == planned


def test_a_list_as_json_says_each_question_once() -> None:
    text = json.dumps(list_to_json(tiny_plan().lists[0]))
    assert text.count("How good?") == 1
    assert text.count('"trial":') == 4


def test_a_written_plan_is_read_back(tmp_path: Path) -> None:
    plan = tiny_plan()
    write_plan(plan, tiny_catalogue(), "digest", tmp_path)
    assert read_plan(tmp_path) == plan
    assert read_plan(tmp_path, plan.plan_digest) == plan
    assert sorted(path.name for path in (tmp_path / "plan").iterdir()) == [
        "balance.csv",
        "lists.csv",
        "lists.jsonl",
        "plan.json",
    ]
    counts = json.loads((tmp_path / "plan" / "plan.json").read_text())
    assert {key: counts[key] for key in ("digest", "seed", "lists", "trials", "stimuli")} == {
        "digest": "digest",
        "seed": 1,
        "lists": 5,
        "trials": 20,
        "stimuli": 12,
    }
    assert (tmp_path / "plan" / "balance.csv").read_text().splitlines()[0] == (
        "count,cells,least,most,difference,promised"
    )


def test_a_plan_of_another_digest_or_torn_is_no_plan(tmp_path: Path) -> None:
    assert read_plan(tmp_path) is None
    write_plan(tiny_plan(), tiny_catalogue(), "digest", tmp_path)
    assert read_plan(tmp_path, "another") is None
    lists = tmp_path / "plan" / "lists.jsonl"
    lists.write_bytes(lists.read_bytes()[:-20])
    assert read_plan(tmp_path) is None
    (tmp_path / "plan" / "plan.json").write_text("{")
    assert read_plan(tmp_path) is None


def test_writing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        write_plan(tiny_plan(), tiny_catalogue(), "digest", tmp_path / folder)
    for name in ("plan.json", "lists.jsonl", "balance.csv"):
        assert (tmp_path / "one" / "plan" / name).read_bytes() == (tmp_path / "two" / "plan" / name).read_bytes()


def test_texts_change_the_study_digest_but_not_the_plan_digest() -> None:
    catalogue = tiny_catalogue()
    before, after = tiny_study(), tiny_study(text="How fine?", title="Other")
    assert plan_digest(before, catalogue) == plan_digest(after, catalogue)
    assert study_digest(before, catalogue) != study_digest(after, catalogue)


@pytest.mark.parametrize("changed", [{"scale": "acr5"}, {"seed": 2}, {"participants": 6}, {"breaks": None}])
def test_the_design_changes_the_plan_digest(changed: dict[str, Any]) -> None:
    assert plan_digest(tiny_study(**changed), tiny_catalogue()) != plan_digest(tiny_study(), tiny_catalogue())


def test_other_stimuli_change_both_digests() -> None:
    study = tiny_study()
    assert plan_digest(study, tiny_catalogue("11")) != plan_digest(study, tiny_catalogue())
    assert study_digest(study, tiny_catalogue("11")) != study_digest(study, tiny_catalogue())


def test_the_verb_writes_the_plan_and_can_be_called_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = plan_verb(tiny_study(), catalogue=tiny_catalogue())
    second = plan_verb(tiny_study(), catalogue=tiny_catalogue())
    assert first == second == read_plan(tmp_path)


def test_the_verb_passes_on_what_the_method_finds_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PlanError) as caught:
        plan_verb(tiny_study(per_trial=1), catalogue=tiny_catalogue())
    assert str(caught.value) == (
        "study.yaml  design.per_trial is 1, and parallel compares at least two. Allowed: 2 or more."
    )
    assert not (tmp_path / "plan").exists()


def test_what_method_and_planner_find_wrong_has_the_line_of_its_key(tmp_path: Path) -> None:
    lines = [
        "beholder: 1", "name: tiny", "title: Tiny", "method: parallel", "stimuli: stimuli", "design:",
        "  participants: 4", "  per_trial: 1", "  always: [z]",
    ]  # fmt: skip
    (tmp_path / "study.yaml").write_text("\n".join(lines), "utf-8")
    with pytest.raises(PlanError) as caught:
        plan_verb(load_study(tmp_path), catalogue=tiny_catalogue())
    assert str(caught.value).splitlines() == [
        "study.yaml:1  questions are missing, and parallel asks at least one. Allowed: a list of {id, text, scale}.",
        "study.yaml:8  design.per_trial is 1, and parallel compares at least two. Allowed: 2 or more.",
        "study.yaml:9  design.always names z, which is no condition. Allowed: a, b, c.",
    ]
    (tmp_path / "study.yaml").write_text(
        "\n".join([*lines[:7], "  trials: 9", "questions: [{id: q, text: Q}]"]), "utf-8"
    )
    with pytest.raises(PlanError, match=r"^study\.yaml:8  design\.trials is 9, but there are 4 contents and each may"):
        plan_verb(load_study(tmp_path), catalogue=tiny_catalogue())


def test_a_single_slot_trial_keeps_what_is_unusual() -> None:
    slot = Slot("s1", "t-a", "test", "Z", False, None)
    planned = PlannedList(3, (Trial("trial:1", "t", "rate", (slot,), ()),))
    assert list_from_json(list_to_json(planned)) == planned
    assert dataclasses.replace(planned, number=4) != planned


def test_importing_the_package_brings_no_heavy_module() -> None:
    code = "import sys, beholder.planning; print({'numpy', 'pandas', 'scipy', 'starlette'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"
