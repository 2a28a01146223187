"""The section on stimuli that are for some people alone, and what the methods section says of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import beholder
from beholder.methods import load_study
from beholder.reporting.figures import figures
from beholder.reporting.material import Material
from beholder.reporting.relations import RELATIONS, bound_words, relation_sentences, relation_tables
from support.bound_studies import write_bound
from support.report_material import analysed_material, markup_text


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    path = write_bound(tmp_path_factory.mktemp("bound") / "study")
    beholder.simulate(path, participants=6)
    beholder.clean(path)
    return analysed_material(load_study(path))


def test_what_is_own_stands_beside_what_is_common(material: Material) -> None:
    (part,) = material.parts
    assert (
        bound_words(material, part) == "4 ratings by 2 participants (own) and 4 ratings by 2 participants (colleague)"
    )
    text = markup_text(RELATIONS(material, part))
    for words in ("Kept apart from all other scores", "own all conditions 4 2", "own minus colleague", "few people"):
        assert words in text
    assert "is for everybody" in text


def test_it_has_a_figure_of_its_own(material: Material) -> None:
    (figure,) = [one for one in figures(material) if one.name.startswith("relations-")]
    assert figure.title == "By relation: How natural is it?"
    assert "plain (own)" in str(figure.draw(figure.paper).to_dict())


def test_the_methods_section_tells_of_it_and_asks_what_it_was(material: Material) -> None:
    first, second, third = (sentence.text for sentence in relation_sentences(material))
    assert first.endswith("4 ratings by 2 participants (own) and 4 ratings by 2 participants (colleague)")
    assert second == "They are in no other score, and are compared within participants, by Student's t"
    assert third.startswith("[")


def test_a_study_whose_stimuli_are_for_everybody_has_no_such_section(material: Material) -> None:
    also = {name: table for name, table in material.results.also.items() if "relation" not in name}
    plain = replace(material, results=replace(material.results, also=also))
    assert relation_tables(plain, plain.parts[0]) is None
    assert relation_sentences(plain) == []
    assert not [one for one in figures(plain) if one.name.startswith("relations-")]


def test_the_ratings_of_a_report_are_those_of_stimuli_for_everybody(material: Material) -> None:
    assert set(material.used["relation"]) == {"common"}
    assert set(material.results.conditions["n"]) == {12}


def test_the_ratings_on_the_disk_hold_all(material: Material) -> None:
    lines = (Path(material.study.folder) / "clean" / "ratings.csv").read_text("utf-8").splitlines()
    assert len(lines) == 1 + 32
