"""A study that is written out and read again is the same study, and no file whatever brings a traceback."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.errors import Problem, StudyError
from beholder.methods import load_study, method_folder, names
from beholder.study.model import Study, installed_study_model
from beholder.study.serialization import canonical, digest, resolved_yaml, study_json

EXAMPLES = [(method_folder(name) / "example.yaml").read_text("utf-8") for name in names()]
WRITTEN = """
beholder: 1
name: tiny
title: Tiny
method: parallel
stimuli: {folder: clips, pattern: '(?P<content>.+)-(?P<condition>.+)[.]mp4'}
conditions: [a, {name: b, label: B, role: reference}]
questions: [{id: q, text: How good?, scale: {min: 0, max: 4, labels: [no, 1, yes]}}]
before: [{id: x, text: Choose., type: single, options: [yes, no], correct: [no]}]
contact: https://example.org/me
source: {deep: [1, 2.5, {a: ~}]}
"""

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
texts = words.filter(lambda text: bool(text.strip()) and not text.endswith(".md"))
odd = st.sampled_from(
    [
        "no",
        "01",
        "1.0",
        "NA",
        "0o17",
        "~",
        "null",
        "true",
        "1e3",
        "- a",
        "a: b",
        "#",
        "a\x85b",
        "a\nb\n",
        " a",
        "a\n\n b ",
    ]
)
names_of = st.lists(texts | odd, min_size=2, max_size=5, unique=True)
slugs = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,9}", fullmatch=True)
numbers = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | words | odd,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words | odd, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def studies(draw: st.DrawFn) -> Study:
    conditions = draw(names_of)
    low = draw(st.integers(-100, 100))
    step = draw(st.sampled_from([0.1, 0.25, 1, 3]))
    high = low + step * draw(st.integers(1, 50))
    labels = draw(st.lists(texts | odd, max_size=5))
    scale = {"min": low, "max": high, "step": step, "labels": labels}
    always = draw(st.lists(st.sampled_from(conditions), unique=True))
    choice = {"type": "multiple", "options": conditions, "correct": conditions[:1]}
    return installed_study_model().model_validate({
        "beholder": 1,
        "name": draw(slugs),
        "title": draw(texts | odd),
        "method": "acr",
        "stimuli": "stimuli",
        "conditions": [{"name": name, "label": draw(st.none() | texts | odd)} for name in conditions],
        "questions": [{"id": draw(slugs), "text": draw(texts), "scale": scale}],
        "playback": {"fullscreen": draw(st.booleans()), "max_plays": draw(st.none() | st.integers(1, 9))},
        "design": {"always": always, "seed": draw(st.integers(0, 2**70))},
        "texts": {"thanks": draw(st.none() | texts | odd)},
        "after": [{"id": draw(slugs), "text": draw(texts), **choice}],
        "source": draw(values),
    })  # fmt: skip


def load(text: str) -> Study:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "texts").mkdir()
        for name in ("consent", "instructions"):
            (Path(folder) / "texts" / f"{name}.md").write_text("Read this.", "utf-8")
        (Path(folder) / "study.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
        study = load_study(folder)
        study._folder = Path()
        return study


def load_or_problems(text: str) -> tuple[Study | None, tuple[Problem, ...]]:
    try:
        return load(text), ()
    except StudyError as error:
        return None, error.problems


@settings(max_examples=30, deadline=None)
@given(studies())
def test_a_resolved_study_loads_as_an_equal_study(study: Study) -> None:
    assert load(resolved_yaml(study)) == study


@pytest.mark.parametrize("text", [*EXAMPLES, WRITTEN])
def test_a_loaded_study_comes_back_from_its_resolved_form(text: str) -> None:
    study = load(text)
    again = load(resolved_yaml(study))
    assert again == study
    assert resolved_yaml(again) == resolved_yaml(study)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_a_damaged_text_gives_a_study_or_a_study_error(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([*EXAMPLES, WRITTEN]))
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 20)))
        middle = data.draw(st.text("-:?,[]{}#&*!|>'\"%@`~ \n\t0aé\ud800\x00\\", max_size=6) | words)
        text = text[:start] + middle + text[end:]
    _, problems = load_or_problems(text)
    assert all(problem.where.startswith("study.yaml:") for problem in problems)


@cache
def resolved_forms() -> tuple[str, ...]:
    return tuple(resolved_yaml(load(text)) for text in [*EXAMPLES, WRITTEN])


def places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place, *(below for key, part in parts for below in places(part, (*place, key)))][0 if place else 1 :]


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_any_value_at_any_place_gives_a_study_or_a_study_error(data: st.DataObject) -> None:
    study = yaml.safe_load(data.draw(st.sampled_from(resolved_forms())))
    for _ in range(data.draw(st.integers(1, 2))):
        *way, last = data.draw(st.sampled_from(places(study)))
        part = study
        for step in way:
            part = part[step]
        part[last] = data.draw(values)
    text = json.dumps(study) if data.draw(st.booleans()) else yaml.safe_dump(study, allow_unicode=True)
    loaded, problems = load_or_problems(text)
    assert all(problem.where.startswith("study.yaml:") for problem in problems)
    assert len({str(problem) for problem in problems}) == len(problems)
    assert loaded is None or load(resolved_yaml(loaded)) == loaded


def test_the_digest_of_equal_values_is_equal() -> None:
    assert digest({"b": 1, "a": [1.0, "é"]}) == digest({"a": [1.0, "é"], "b": 1})
    assert digest({"a": 1}) != digest({"a": 2})
    assert canonical({"b": "é", "a": None}) == '{"a":null,"b":"é"}'
    assert digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


def test_the_json_of_a_study_holds_the_texts_themselves(tmp_path: Path) -> None:
    (tmp_path / "hello.md").write_text("Hello", "utf-8")
    (tmp_path / "study.yaml").write_text(WRITTEN + "texts: {consent: hello.md, thanks: Bye}\n", "utf-8")
    before = study_json(load_study(tmp_path))
    assert before["texts"] == {
        "consent": "Hello", "instructions": None, "reminder": None, "pause": None, "thanks": "Bye",
    }  # fmt: skip
    (tmp_path / "hello.md").write_text("Hello!", "utf-8")
    assert digest(study_json(load_study(tmp_path))) != digest(before)
