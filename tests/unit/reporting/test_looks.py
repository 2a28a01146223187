"""Looks at results, changes of the size and contrasts, as a report tells them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from beholder.cleaning.collection import ChainShare, Collection, Look, SizeChange
from beholder.reporting.html import render
from beholder.reporting.looks import (
    chain_sentences,
    contrast_sentences,
    look_sentences,
    looks_section,
    population_words,
)
from beholder.reporting.material import Material
from support.report_material import analysed_material, markup_text
from support.report_pages import made_up

ONCE = Look("2026-11-14T12:00:00.000+00:00", 10, 12, 24, "analyse", "a")
LAST = Look("2026-11-15T12:00:00.000+00:00", 24, 24, 24, "analyse", "c")
DONE = Collection(1, "store/", 24, 24, 24, 24, "complete", "2026-11-15T11:00:00.000+00:00", "2026-11-14T09:00:00+00:00")
ADDED = SizeChange("2026-11-14T13:00:00.999+00:00", 4, "more participants")
ANYTIME: dict[str, Any] = {"kind": "anytime"}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Material:
    folder = tmp_path_factory.mktemp("looks")
    named = {"contrasts": [["new", "old"], ["new", "base"]]}
    return analysed_material(made_up(folder, {"new": 60, "old": 50, "base": 40}, contents=2, analyse=named))


def told(material: Material, collected: Collection | None, look: dict[str, Any] | None = None) -> Material:
    noted = None if collected is None else collected.json()
    notes = material.results.notes | {"collection": noted, "look": look}
    account = dict(material.account) | {"collection": noted}
    return replace(material, account=account, results=replace(material.results, notes=notes))


def sentences(material: Material, collected: Collection, look: dict[str, Any] | None = None) -> str:
    return " ".join(f"{one.text}." for one in look_sentences(told(material, collected, look)))


def test_one_look_at_the_end_is_told_in_a_sentence_without_a_section(plain: Material) -> None:
    once = replace(DONE, looks=(LAST,))
    assert sentences(plain, once) == "Results were looked at only after the last ratings had come."
    assert looks_section(told(plain, once)) is None
    assert population_words(told(plain, once)) == ["People answered this study."]


def test_looks_on_the_way_to_a_size_that_stayed_are_told_with_their_numbers(plain: Material) -> None:
    again = ONCE._replace(ratings_sha256="other rules of cleaning")
    collected = replace(DONE, looks=(ONCE, again, ONCE._replace(participants=16, finished=20), LAST))
    assert sentences(plain, collected) == (
        "Results were looked at twice while ratings were still coming, with 10 and 16 participants. The number of "
        "participants was not changed by that, and stayed as set before the first answer."
    )
    assert "2026-11-14 12:00 Look (analyse) 10 12 of 24" in markup_text(looks_section(told(plain, collected)))
    assert sentences(plain, collected, {"kind": "fixed", "level": 0.96}).endswith(
        "stayed as set before the first answer. As no looks were planned, of an error rate of 5 %, 4 % are for results "
        "at that number and 1 % for those before it: intervals of means and differences are those of 96 %."
    )


def test_an_extension_after_a_look_is_told_as_such(plain: Material) -> None:
    collected = replace(DONE, changes=(ADDED,), looks=(ONCE, LAST))
    assert sentences(plain, collected, ANYTIME) == (
        "Results were looked at once while ratings were still coming, with 10 participants. 4 lists were added on "
        "14 November 2026 (more participants), after results were looked at. Intervals and p-values of means and "
        "differences hold whenever one looks and stops: they are those of an asymptotic confidence sequence over "
        "participants; those of other models are for a fixed number of people."
    )
    assert "2026-11-14 13:00 More participants +4 lists" in markup_text(looks_section(told(plain, collected)))
    before = replace(DONE, changes=(ADDED,), looks=(LAST,))
    assert "(more participants), before results were looked at." in sentences(plain, before)


def test_a_stop_before_the_end_is_told_with_whether_results_were_known(plain: Material) -> None:
    stopped = replace(DONE, finished=20, participants=30, ended="stopped")
    assert (
        "Recruiting was stopped on 15 November 2026, with 24 of 30 planned participants analysed, after results were "
        "looked at."
    ) in sentences(plain, replace(stopped, looks=(ONCE,)))
    assert sentences(plain, replace(stopped, looks=(LAST,))).endswith("analysed, before results were looked at.")
    dated = replace(stopped, ended="date", looks=(LAST,))
    assert "Recruiting ended at its date, with 24 of 30 planned participants analysed." in sentences(plain, dated)


def test_interim_results_say_so_first(plain: Material) -> None:
    interim = replace(DONE, participants=30, finished=12, ended=None, looks=(ONCE,))
    assert sentences(plain, interim, ANYTIME).startswith(
        "These are interim results, of 24 of 30 planned participants: others may still come. Results were looked at "
        "for the first time now."
    )
    assert markup_text(render(population_words(told(plain, interim)))) == (
        "Interim. 24 of 30 planned participants are analysed, and others may still come. Intervals and p-values hold "
        "whenever one looks; tables that have others are left out until the end."
    )


def test_planned_looks_are_told_with_the_rule_by_which_they_end(plain: Material) -> None:
    study = plain.study.model_copy(update={"design": plain.study.design.model_copy(update={"looks": (12, 24)})})
    look = {
        "kind": "planned", "number": 1, "looks": 2, "participants": 12, "stops": True, "reason": "decided",
        "rule": "all contrasts were clear beyond these contents",
    }  # fmt: skip
    planned = (
        "Looks were planned at 12 and 24 participants; their intervals and p-values hold for all of them together, by "
        "the spending function of O'Brien and Fleming's boundaries. The study was to stop at a look where all "
        "contrasts were clear beyond these contents. "
    )
    material, collected = replace(plain, study=study), replace(DONE, looks=(ONCE, LAST))
    assert sentences(material, collected, look).endswith(f"{planned}It stopped at look 1 of 2, with 12 participants.")
    last = look | {"number": 2, "reason": "last"}
    assert sentences(material, collected, last).endswith(f"{planned}It went to its last look.")
    between = look | {"stops": False, "reason": "", "rule": ""}
    assert sentences(material, collected, between).endswith(
        "Fleming's boundaries. These are the results of look 1 of 2, with 12 participants."
    )


def test_where_no_look_could_be_recorded_a_person_is_asked(plain: Material) -> None:
    assert sentences(plain, DONE) == "[How often results were looked at before: this could not be recorded]."
    assert look_sentences(told(plain, None)) == []


# Contrasts and chains


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ((("old", "new"), ("new", "base")), "All of them were named before the first answer."),
        ((), "All of them were named after the first answer."),
        ((("new", "old"),), "new minus old was named before the first answer, new minus base was named after it."),
        (
            (("new", "old"), ("new", "base"), ("old", "base")),
            "All of them were named before the first answer. old minus base was named before the first answer, and no "
            "longer.",
        ),
    ],
)
def test_contrasts_are_told_with_when_they_were_named(
    plain: Material, named: tuple[tuple[str, str], ...], words: str
) -> None:
    first, *others = contrast_sentences(told(plain, replace(DONE, named=named)))
    assert first.text == "The study names 2 contrasts: new minus old and new minus base"
    assert " ".join(f"{one.text}." for one in others) == words


def test_the_share_of_a_chain_is_told(plain: Material) -> None:
    def words(chain: ChainShare | None) -> list[str]:
        return [one.text for one in chain_sentences(told(plain, replace(DONE, chain=chain)))]

    assert words(None) == []
    asks = "It asks only the pairs of conditions that the study mos left open"
    assert words(ChainShare("both", 2, 0.5, "mos")) == [
        "The study is one of 2 of the chain both, which have the error rate of one together: its share is 50 %, by "
        "which corrected p-values are divided",
        asks,
    ]
    assert words(ChainShare("", 1, 1.0, "mos")) == [f"{asks}; each of the two studies has an error rate of its own"]
