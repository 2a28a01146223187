"""Types of question: each one is written, answered, judged, simulated and tabulated by one object."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, get_args

import numpy as np
import pytest
from pydantic import ValidationError

from beholder.study.questionnaire import QUESTION_TYPES, Ask, TabulatedAnswer
from support.data import ROOT

PLANT, TREE = "a plant", "a tree"
ITEMS: dict[str, Ask] = {
    "single": Ask(id="x", text="?", type="single", options=(PLANT, TREE), correct=(TREE,)),
    "multiple": Ask(id="x", text="?", type="multiple", options=(PLANT, TREE, "a stone"), correct=(TREE, PLANT)),
    "likert": Ask(id="x", text="?", type="likert"),
    "number": Ask(id="x", text="?", type="number", min=18, max=99),
    "text": Ask(id="x", text="?", type="text"),
}


def as_sent(ask: Ask) -> dict[str, Any]:
    """Return an item as the browser gets it."""
    return {"id": ask.id, "type": ask.type, "options": list(ask.options), "min": ask.min, "max": ask.max}


def test_every_type_that_can_be_written_has_its_object_and_its_drawing() -> None:
    names = list(get_args(Ask.model_fields["type"].annotation))
    assert names == list(QUESTION_TYPES) == list(ITEMS)
    script = (ROOT / "src/beholder/web/steps/questions.js").read_text("utf-8")
    drawn = script.partition("const TYPES = {\n")[2].partition("\n};\n")[0]
    assert re.findall(r"^  (\w+): \(", drawn, re.MULTILINE) == names


@pytest.mark.parametrize("name", ITEMS)
def test_what_robots_and_browser_tests_answer_is_accepted(name: str) -> None:
    ask = ITEMS[name]
    item = as_sent(ask)
    usual = ask.kind.robot_answer(item)
    assert ask.kind.accepts(ask, usual)
    assert ask.kind.accepts(ask, ask.kind.other_answer(item, usual))
    fitting = ask.kind.fitting_answer(ask)
    assert fitting is None or ask.kind.accepts(ask, fitting)
    assert fitting is None or ask.correct is None or ask.kind.is_correct(ask, fitting)


def simulated(ask: Ask, people: int = 400) -> list[Any]:
    rng = np.random.default_rng(1)
    return [ask.kind.simulated_answer(ask, rng) for _ in range(people)]


@pytest.mark.parametrize("name", ITEMS)
def test_what_simulated_people_answer_is_accepted(name: str) -> None:
    ask = ITEMS[name]
    assert all(ask.kind.accepts(ask, answer) for answer in simulated(ask, 60))


def test_simulated_people_differ_as_planted() -> None:
    ages = np.array(simulated(Ask(id="age", text="?", type="number", min=18, max=120)))
    assert (ages == ages.round()).all()
    assert 36 < ages.mean() < 41
    assert 12 < ages.std() < 16
    gender = Ask(id="gender", text="?", type="single", options=("female", "male", "other"))
    counts = Counter(simulated(gender))
    # 0.6 of the one before: 51, 31 and 18 %.
    assert [round(counts[option] / 400, 1) for option in gender.options] == [0.5, 0.3, 0.2]
    easy = np.array(simulated(Ask(id="easy", text="?", type="likert")))
    assert 3.3 < easy.mean() < 3.7
    assert set(easy) == {1, 2, 3, 4, 5}
    several = simulated(ITEMS["multiple"])
    assert min(map(len, several)) == 1
    assert max(map(len, several)) == 3
    assert all(0 <= share <= 1 for share in simulated(Ask(id="x", text="?", type="number", min=0, max=1), 20))
    assert max(simulated(Ask(id="x", text="?", type="number", max=3), 20)) <= 3


def test_simulated_people_write_what_a_text_asks_for_and_leave_out_what_they_may() -> None:
    country = Ask(id="from", text="Which country do you live in?", type="text")
    assert len(set(simulated(country, 40))) > 4
    assert set(simulated(Ask(id="remarks", text="Remarks?", type="text"), 5)) == {"A robot has nothing to say."}
    left_out = {
        (ask.type, ask.required): sum(ask.kind.is_left_out(ask, np.random.default_rng(number)) for number in range(200))
        for ask in (
            Ask(id="x", text="?", type=kind, required=required)
            for kind in ("number", "text")
            for required in (True, False)
        )
    }
    assert left_out[("number", True)] == left_out[("text", True)] == 0
    assert 25 < left_out[("number", False)] < 55
    assert left_out[("text", False)] == 200


def test_a_prescreening_answer_is_right_or_wrong() -> None:
    single, several = ITEMS["single"], ITEMS["multiple"]
    assert single.kind.is_correct(single, TREE)
    assert not single.kind.is_correct(single, PLANT)
    assert single.kind.other_answer(as_sent(single), PLANT) == TREE
    assert several.kind.is_correct(several, [PLANT, TREE])
    assert not several.kind.is_correct(several, [TREE])
    assert (single.kind.right_answer((TREE,)), several.kind.right_answer((TREE,))) == (TREE, [TREE])


REFUSED = {
    "single": ("This answer was not offered", "a plant, a tree"),
    "multiple": ("An answer was not offered", "a plant, a tree, a stone"),
    "likert": ("This answer is not on the scale", "1 to 5"),
    "number": ("This number is not possible", "18 to 99"),
    "text": ("This text is too long", "up to 5000 characters"),
}


@pytest.mark.parametrize("name", ITEMS)
def test_a_refusal_says_what_is_accepted(name: str) -> None:
    refused = ITEMS[name].kind.refusal(ITEMS[name], "answer.answers.x")
    assert (refused.what, refused.allowed) == REFUSED[name]
    assert (refused.where, refused.code, refused.status) == ("answer.answers.x", "bad_answer", 422)


TABULATED: dict[str, tuple[Any, list[TabulatedAnswer]]] = {
    "single": (TREE, [TabulatedAnswer(TREE, 2)]),
    "multiple": ([TREE, PLANT], [TabulatedAnswer(TREE, 2), TabulatedAnswer(PLANT, 1)]),
    "likert": (4, [TabulatedAnswer("Agree", 4)]),
    "number": (30, [TabulatedAnswer(30, 30)]),
    "text": ("=1+1", [TabulatedAnswer("=1+1", None)]),
}


@pytest.mark.parametrize("name", ITEMS)
def test_answers_are_tabulated_by_type(name: str) -> None:
    answer, rows = TABULATED[name]
    assert ITEMS[name].kind.tabulate(ITEMS[name], answer) == rows


def test_answers_are_counted_by_what_was_offered() -> None:
    assert ITEMS["multiple"].kind.answers_in('["a plant", "a tree"]') == [PLANT, TREE]
    assert ITEMS["multiple"].kind.answers_in("a plant") == [PLANT]
    assert ITEMS["single"].kind.answers_in('["a plant"]') == ['["a plant"]']
    assert ITEMS["single"].kind.labels(ITEMS["single"]) == {PLANT: PLANT, TREE: TREE}
    assert ITEMS["likert"].kind.labels(ITEMS["likert"])["5"] == "5 Strongly agree"
    assert ITEMS["number"].kind.bounds(ITEMS["number"]) == (18, 99)
    assert ITEMS["text"].kind.bounds(Ask(id="x", text="?", type="text", max=80)) == (None, None)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"type": "single", "options": ["a"]}, "has fewer than two options, and type single needs them"),
    ({"type": "likert", "options": ["a"]}, "has one option"),
    ({"type": "number", "options": ["a", "b"]}, "does not go with type number"),
    ({"type": "likert", "max": 3}, "does not go with type likert"),
    ({"type": "text", "max": 1.5}, "is 1.5"),
    ({"type": "number", "min": 3, "max": 1}, "is 3, above max 1"),
    ({"type": "likert", "correct": ["a"]}, "types single and multiple"),
    ({"type": "single", "options": ["a", "b"], "correct": ["c"]}, "is c, which is not among the options"),
]


@pytest.mark.parametrize(("keys", "what"), WRONG, ids=lambda value: value if isinstance(value, str) else value["type"])
def test_what_does_not_go_with_a_type_is_a_fault(keys: dict[str, Any], what: str) -> None:
    with pytest.raises((ValidationError, ValueError)) as error:
        Ask.model_validate({"id": "x", "text": "?", **keys})
    assert what in str(error.value)
