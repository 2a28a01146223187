"""The language of a session: by link, filter, browser, choice; settled when somebody agrees."""

from __future__ import annotations

from typing import Any

import pytest

from beholder.errors import Refused
from beholder.server.flow import read_step_answer
from beholder.server.script import CONSENT
from beholder.server.session_language import (
    accepted_tags,
    best_language,
    check_offered,
    match_language,
    public_languages,
)
from beholder.study.model import Study
from beholder.types import Json
from support.tiny_plans import tiny_study


def spoken(*codes: str, **recruit: Any) -> Study:
    study = tiny_study()
    told = study.recruit.model_copy(update=recruit)
    return study.model_copy(update={"languages": codes, "language": codes[0], "recruit": told})


def test_tags_are_in_the_order_in_which_they_are_wanted() -> None:
    assert accepted_tags("fr;q=0.3, de-AT, de;q=0.9,en;q=0, *;q=0.1, ar;q=odd") == ["de-AT", "de", "fr", "*"]


@pytest.mark.parametrize(
    ("tag", "code"), [("de-AT", "de"), ("DE", "de"), ("pt", "pt-BR"), ("pt_BR", "pt-BR"), ("fr", None), ("", None)]
)
def test_a_tag_finds_its_language(tag: str, code: str | None) -> None:
    assert match_language(("en", "de", "pt-BR"), tag) == code


def test_the_link_goes_before_the_filter_and_that_before_the_browser() -> None:
    from beholder.study.recruitment import Filters

    study = spoken("en", "de", "ar")
    assert best_language(study, {}, "") == ("en", "first")
    assert best_language(study, {}, "fr,ar;q=0.8") == ("ar", "browser")
    german = spoken("en", "de", "ar", filters=Filters(languages=("German",)))
    assert best_language(german, {}, "ar") == ("de", "filter")
    assert best_language(german, {"lang": "ar"}, "en") == ("ar", "link")
    assert best_language(german, {"lang": "ar", "chosen": "1"}, "en") == ("ar", "choice")
    assert best_language(spoken("de"), {"lang": "ar"}, "ar") == ("de", "first")


def test_an_answer_to_the_first_page_can_have_its_language() -> None:
    whole: dict[str, Json] = {"agree": True, "language": "de", "language_from": "link"}
    assert read_step_answer(CONSENT, whole) == whole
    assert read_step_answer(CONSENT, {"agree": False}) == {"agree": False}
    odd: tuple[dict[str, Json], ...] = (
        {"agree": 1}, {"agree": True, "language": "de"}, {**whole, "language_from": "x"}, {**whole, "more": 1},
    )  # fmt: skip
    for one in odd:
        with pytest.raises(Refused):
            read_step_answer(CONSENT, one)
    assert check_offered(spoken("en", "de"), whole) == "de"
    assert check_offered(spoken("en"), {"agree": True}) is None
    with pytest.raises(Refused, match="not offered in this language"):
        check_offered(spoken("en", "ar"), whole)


def test_languages_are_shown_by_their_own_names() -> None:
    assert public_languages(spoken("en")) == []
    assert public_languages(spoken("en", "de", "ar")) == [
        {"code": "en", "name": "English", "direction": "ltr"},
        {"code": "de", "name": "Deutsch", "direction": "ltr"},
        {"code": "ar", "name": "العربية", "direction": "rtl"},
    ]
