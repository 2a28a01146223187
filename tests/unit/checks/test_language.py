"""The check `language`: sentences with a gap in the person's own language, judged where nobody sees the words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from beholder.checks.language import Language, has_sentences, sentences
from beholder.checks.page_contract import Attempt, CheckContext, CheckTask, RobotAbilities
from beholder.checks.registry import check_problems
from beholder.errors import Refused, StudyError
from beholder.methods import load_study
from beholder.server.process import run_server
from beholder.simulation.crowd import send_robots
from beholder.testing import write_study
from beholder.words import languages
from support.method_studies import make_study
from support.pseudo_language import pseudo_languages
from support.visitor import Site, Visitor

TEXTS: dict[str, Any] = {
    "languages": ["en", "de"],
    "title": {"en": "Quality", "de": "Qualität"},
    "texts": {"consent": {"en": "Rate {count}.", "de": "Bewerten Sie {count}."}},
    "questions": [{"id": "quality", "text": {"en": "How good is it?", "de": "Wie gut ist es?"}}],
}


def check(language: str = "en", **keys: Any) -> Language:
    made = Language(Language.Options.model_validate(keys))
    made.language = language
    return made


def posed(check: Language, seed: int = 1, known: CheckContext = CheckContext()) -> CheckTask:
    return check.pose(np.random.default_rng(seed), known)


def items(one: CheckTask) -> list[Any]:
    found: Any = one.private["items"]
    return list(found)


def given(check: Language, one: CheckTask, wrong: int = 0) -> Attempt:
    """Return an attempt with some wrong answers."""
    answers = {
        f"q{place}": next(word for word in item["options"] if (word == item["correct"]) == (place > wrong))
        for place, item in enumerate(items(one), 1)
    }
    return Attempt(one.private, check.read(one.private, {"answers": answers}))


@pytest.mark.parametrize("language", [code for code in languages() if has_sentences(code)])
def test_people_meet_sentences_of_their_own_language_with_mixed_words(language: str) -> None:
    bank = {sentence.text: sentence for sentence in sentences(language)}
    places = set()
    for seed in range(30):
        one = posed(check(language), seed)
        drawn = items(one)
        assert len({item["topic"] for item in drawn}) == 6
        for item in drawn:
            assert sorted(item["options"]) == sorted(bank[item["topic"]].options)
            assert item["correct"] == bank[item["topic"]].correct
            places.add(item["options"].index(item["correct"]))
    assert places == {0, 1, 2, 3}


def test_the_page_gets_a_sentence_and_words_and_nothing_else() -> None:
    one = posed(check())
    public: Any = one.public["items"]
    assert set(one.public) == {"items"}
    for item, own in zip(public, items(one), strict=True):
        assert set(item) == {"id", "text", "options"}
        assert item["options"] == own["options"]
        assert item["text"].startswith("<p>")
        assert item["text"].count("______") == 1


def test_each_attempt_asks_other_sentences_until_all_were_asked() -> None:
    one, known, seen = check(draw=7), CheckContext(), []
    for attempt in range(1, 4):
        task = posed(one, attempt, known)
        seen += [item["topic"] for item in items(task)]
        known = CheckContext(answers={"language": given(one, task).answer})
    assert len(set(seen)) == 21
    again = posed(one, 4, known)  # three are left, which are too few
    assert len({item["topic"] for item in items(again)}) == 7
    assert again.private["seen"] == []


def test_one_slip_passes_and_two_do_not() -> None:
    german = check("de")
    one = posed(german)
    assert german.judge(given(german, one)).verdict == "pass"
    assert german.judge(given(german, one, wrong=1)).verdict == "pass"
    verdict = german.judge(given(german, one, wrong=2))
    assert (verdict.verdict, verdict.reason, verdict.measured, verdict.needed) == ("fail", "wrong", 4, 5)
    assert verdict.evidence["wrong"] == [item["id"] for item in items(one)[:2]]
    assert verdict.evidence["language"] == "de"
    told = german.texts("de")["told.wrong"].format_map(german.message_values(verdict))
    assert told.startswith("4 von 6 Wörtern waren richtig, und 5 müssen es sein.")
    assert not any(item["correct"] in told.split() for item in items(one)[:2])


def test_a_pass_counts_in_its_own_language_only() -> None:
    evidence = check("de").judge(given(check("de"), posed(check("de")))).evidence
    assert check("de").is_carried(evidence)
    assert not check("en").is_carried(evidence)


def test_the_luck_of_guessing_is_that_of_one_word_in_four() -> None:
    assert check().guess_rate() == pytest.approx((6 * 3 + 1) / 4**6)
    assert check(draw=3, right=3).guess_rate() == pytest.approx(1 / 64)


@pytest.mark.parametrize(
    ("answer", "where"),
    [
        ({}, "answer.answers"),
        ({"answers": {"q9": "tea"}}, "answer.answers"),
        ({"answers": {}}, "answer.answers.q1"),
        ({"answers": {"q1": "no such word"}}, "answer.answers.q1"),
    ],
)
def test_an_answer_that_was_not_offered_is_refused_in_words(answer: Any, where: str) -> None:
    with pytest.raises(Refused) as refused:
        check().read(posed(check()).private, answer)
    assert refused.value.where == where
    assert refused.value.text("de") in (
        "Das sind keine Antworten auf das, was gefragt wurde",
        "Diese Antwort wurde nicht angeboten",
    )


def test_a_robot_that_knows_no_language_finds_no_word() -> None:
    one = posed(check())
    fails = RobotAbilities(frozenset({"language"}))
    answer: Any = check().respond(one, fails, np.random.default_rng(1))
    assert check().judge(Attempt(one.private, check().read(one.private, answer))).measured == 0


def test_what_a_paper_says_has_the_numbers() -> None:
    assert check().requirement() == "5 of 6 missing words"
    assert check("de").needs() == {"language": "Deutsch"}


# In a study


def test_more_right_than_asked_is_told(tmp_path: Path, tiny: Path) -> None:
    with pytest.raises(StudyError) as refused:
        load_study(write_study(tmp_path, tiny, qualification={"language": {"draw": 3, "right": 4}}))
    assert [str(problem).split("  ", 1)[1] for problem in refused.value.problems] == [
        "qualification.language.right is 4, of 3 that are asked. Allowed: 1 to 3."
    ]


def test_a_language_without_sentences_is_an_error_with_its_line(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = tmp_path / "more" / "web" / "words"
    words.mkdir(parents=True)
    (words / "sw.json").write_text('{"locale": "sw", "direction": "ltr"}', "utf-8")
    path = write_study(tmp_path / "study", tiny, language="sw", qualification={"language": True})
    line = path.read_text("utf-8").split("\n").index("  language: true") + 1
    with pseudo_languages(tmp_path / "more", monkeypatch):
        (problem,) = check_problems(load_study(path))
    assert str(problem).startswith(
        f"study.yaml:{line}  qualification.language has no sentences in Swahili, which is a language of the study. "
        "Allowed: "
    )
    assert "English" in problem.allowed
    assert problem.fix == (
        "Write qualification.language: false, or ask by qualification.questions with items of your own."
    )


def test_more_sentences_than_there_are_is_an_error(tmp_path: Path, tiny: Path) -> None:
    path = write_study(tmp_path, tiny, qualification={"language": {"draw": 90}})
    (problem,) = check_problems(load_study(path))
    most = len(sentences("en"))
    assert str(problem).endswith(
        f"qualification.language.draw is 90, and there are {most} sentences in English. Allowed: 1 to {most}."
    )


def test_studies_in_languages_that_have_sentences_have_no_problem() -> None:
    assert check_problems(make_study("acr", language="de", qualification={"language": True})) == []


async def test_each_person_is_asked_in_their_language(tmp_path: Path, tiny: Path) -> None:
    path = write_study(tmp_path, tiny, **TEXTS, design={"participants": 8, "trials": 2, "seed": 1},
                       qualification={"language": True})  # fmt: skip
    async with (
        run_server(load_study(path), port=0) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as client,
    ):
        crowd = await send_robots(server.service.served, server.store, server.address, 4)
        assert {robot.step["outcome"] for robot in crowd.robots} == {"completed"}
        assert {robot.language for robot in crowd.robots} == {"en", "de"}
        visitor = Visitor(Site(server.service, server.store, server.address, client), participant="ada")
        await visitor.arrive()
        assert any("English" in line for line in visitor.step["needs"])
        await visitor.answer({"agree": True, "language": "de", "language_from": "choice"})
        asked: list[str] = []
        for attempt in (1, 2):
            assert visitor.step["key"] == f"check:language:{attempt}"
            assert visitor.step["words"]["title"] == "Einige Sätze"
            assert (visitor.step["told"] is None) == (attempt == 1)
            shown = visitor.step["public"]["items"]
            asked += [item["text"] for item in shown]
            right = {sentence.correct for sentence in sentences("de")}
            wrong = {item["id"]: next(word for word in item["options"] if word not in right) for item in shown}
            (await visitor.answer({"answers": wrong})).raise_for_status()
        german = {f"<p>{sentence.text.replace('___', '______')}</p>" for sentence in sentences("de")}
        assert len(set(asked)) == 12
        assert {text.replace("&#x27;", "'") for text in asked} <= german
        assert visitor.step["outcome"] == "screened_out"
        assert "ihre Sprache gut kennen" in visitor.step["text"]
