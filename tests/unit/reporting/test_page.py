"""The page of a report: who answered, the facts at the top, and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import beholder.reporting
from beholder.reporting.page import QUESTION_SECTIONS, SECTIONS, questions
from beholder.reporting.section import Section, SectionGroup
from beholder.study.model import Study
from support.report_material import analysed_material
from support.report_pages import SPREAD, Page, change_account, made_up, read, read_undrawn, undrawn
from support.variants import variant


def test_the_script_is_in_the_page_and_small(people: tuple[Study, Page]) -> None:
    scripts = [attributes for tag, attributes in people[1].tags if tag == "script"]
    assert {"type": "module"} in scripts
    assert not [attributes for attributes in scripts if "src" in attributes]
    assert (people[0].folder / "report" / "index.html").stat().st_size < 600_000


def test_the_first_line_says_that_people_answered(people: tuple[Study, Page]) -> None:
    assert people[1].words[0] == "People answered this study."


def test_the_first_line_says_that_robots_answered(tmp_path: Path) -> None:
    page = read_undrawn(made_up(tmp_path, {"a": 60.0, "b": 40.0}, population="robots"))
    assert page.text.startswith("Simulated. These ratings come from robots. A rehearsal, not a result. Beholder")
    assert "28 robots finished, 24 used" in page.text


def test_the_first_line_says_that_people_were_of_play_money(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"a": 60.0}, participants=2)
    (tmp_path / "origin.json").write_text('{"play_money": true}', "utf-8")
    words = "Simulated. These people came from a platform of play money. A rehearsal, not a result. Beholder"
    assert read_undrawn(study).text.startswith(words)


@pytest.mark.parametrize(("people", "words"), [(1, "1 person has"), (3, "3 people have")])
def test_a_rehearsal_is_not_shown_without_the_people_who_finished(tmp_path: Path, people: int, words: str) -> None:
    study = made_up(tmp_path, {"a": 60.0}, population="robots", participants=2)
    change_account(study, lambda account: account["finished"].update(people=people))
    assert read_undrawn(study).text.startswith(
        "Simulated. These ratings come from robots. A rehearsal, not a result. "
        f"{words} finished as well: run beholder clean . Beholder"
    )


@pytest.mark.variant
def test_tables_keep_the_order_of_the_study_and_figures_have_the_best_first(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"low": 20.0, "high": 80.0, "middle": 50.0})
    read(study)
    folder = tmp_path / "report"
    above, _, tables = (folder / "index.html").read_text(encoding="utf-8").partition('id="tables"')
    row = re.compile(r'<th scope="row">(low|high|middle)</th>')
    assert re.findall(r">(low|high|middle)</text>", above)[:3] == ["high", "middle", "low"]
    best_first, contrasts = ["high", "middle", "low"], ["low", "low", "high"]
    assert row.findall(above) == [*best_first, *contrasts, *best_first]
    assert row.findall(tables)[:3] == ["low", "high", "middle"]
    assert re.findall(r'<th scope="col">(low|high|middle)</th>', tables) == ["low", "high", "middle"]
    for name in ("conditions.csv", "conditions.tex"):
        text = (folder / "tables" / name).read_text(encoding="utf-8")
        assert re.findall(r"\b(low|high|middle)\b", text) == ["low", "high", "middle"]


def test_the_page_counts_what_there_was_and_dates_the_newest_answer(people: tuple[Study, Page]) -> None:
    assert "4 conditions 4 contents 28 people finished, 24 used 384 ratings 14 November 2026" in people[1].text


def test_every_link_on_the_page_leads_somewhere(people: tuple[Study, Page]) -> None:
    study, page = people
    names = {attributes.get("id") for _, attributes in page.tags}
    for target in (a["href"] or "" for tag, a in page.tags if tag == "a"):
        assert target[1:] in names if target.startswith("#") else (study.folder / "report" / target).is_file()


def test_tables_have_captions_and_figures_have_words(people: tuple[Study, Page]) -> None:
    tags = [tag for tag, _ in people[1].tags]
    assert tags.count("table") == tags.count("caption") >= 5
    figures = [attributes for tag, attributes in people[1].tags if attributes.get("class") == "plot"]
    ids = [attributes["id"] for _, attributes in people[1].tags if attributes.get("id")]
    assert len(ids) == len(set(ids))
    for figure in figures:
        assert figure["role"] == "img"
        assert set((figure["aria-labelledby"] or "").split()) <= set(ids)


@pytest.mark.parametrize(
    ("quality", "participants", "words"),
    [
        ({"a": 50.0, "b": 60.0}, 1, "Only one person was counted."),
        variant({"a": 50.0}, 4, "One condition, nothing to compare."),
        ({"a": 50.0, "b": 60.0}, 0, "Nothing to report. No rating of this question could be used."),
    ],
)
def test_a_tiny_result_gives_an_honest_page(
    tmp_path: Path, quality: dict[str, float], participants: int, words: str
) -> None:
    page = read(made_up(tmp_path, quality, participants=participants))
    assert words in page.text
    assert "is ahead" not in page.text
    assert "nan" not in page.text


def test_the_headline_stands_above_everything_but_the_title(tmp_path: Path) -> None:
    material = analysed_material(made_up(tmp_path, SPREAD, participants=6))
    text = undrawn(material).text
    places = [text.index(one) for one in ("Gestures while talking", "Key finding", "4 conditions", "What we found")]
    assert places == sorted(places)


# Sections


def members(entry: object) -> tuple[Section[...], ...]:
    """Return the sections of an entry of a table of contents."""
    return entry.sections if isinstance(entry, SectionGroup) else (entry,) if isinstance(entry, Section) else ()


def listed_sections() -> Iterator[Section[...]]:
    for entry in (*SECTIONS, *QUESTION_SECTIONS):
        yield from members(entry)


def test_sections_are_on_the_page_in_the_order_of_its_source(people: tuple[Study, Page]) -> None:
    places = {one.id: place for place, entry in enumerate(SECTIONS) for one in members(entry)}
    places |= {f"{one.id}-quality": SECTIONS.index(questions) for entry in QUESTION_SECTIONS for one in members(entry)}
    places |= {"key": -1, "findings": SECTIONS.index(questions)}  # the head; of many questions it is the overview
    shown = [str(attributes["id"]) for tag, attributes in people[1].tags if tag == "section"]
    assert len(shown) > 12
    assert [places[anchor] for anchor in shown] == sorted(places[anchor] for anchor in shown)
    of_question = [f"{one.id}-quality" for entry in QUESTION_SECTIONS for one in members(entry)]
    within = [anchor for anchor in shown if anchor.endswith("-quality")]
    assert within == [anchor for anchor in of_question if anchor in within]


def test_no_two_sections_have_the_same_anchor_or_title() -> None:
    sections = list(listed_sections())
    assert len(sections) > 30
    assert len({one.id for one in sections}) == len(sections)
    titles = [one.title for one in sections if isinstance(one.title, str)]
    assert len(set(titles)) == len(titles)


def test_every_section_stands_in_a_module_that_the_package_lists_as_a_part_of_the_page() -> None:
    overview = beholder.reporting.__doc__ or ""
    parts = overview.partition("Parts of the page:")[2].partition("Building blocks")[0].split()
    modules = {one.body.__module__ for one in listed_sections()}
    assert {name.removeprefix("beholder.reporting.") for name in modules} <= set(parts)
