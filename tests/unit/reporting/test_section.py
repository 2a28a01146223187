"""A section is one object: left out without content, with what depends on its material as functions."""

from __future__ import annotations

from pathlib import Path

from beholder.reporting.html import Markup, tag
from beholder.reporting.section import QuestionSection, Section, SectionGroup, beside
from support.report_material import analysed_material
from support.report_pages import made_up


def words(text: str) -> Markup | None:
    return tag("p", text) if text else None


def test_a_section_is_a_panel_with_an_anchor_and_a_title() -> None:
    assert Section("votes", "Votes & more", words, foot="Read so.")("enough") == (
        '<section class="panel paper__wide" id="votes" aria-labelledby="votes-h"><h2 id="votes-h">Votes &amp; more</h2>'
        '<p>enough</p><p class="panel__foot">Read so.</p></section>'
    )


def test_a_section_without_content_is_left_out() -> None:
    assert Section("votes", "Votes", words)("") is None


def test_title_foot_and_width_may_depend_on_the_material() -> None:
    section = Section(
        "votes", lambda text: f"Votes: {text}", words, foot=lambda text: text.upper(),
        is_wide=lambda text: text == "all",
    )  # fmt: skip
    assert section("all") == (
        '<section class="panel paper__wide" id="votes" aria-labelledby="votes-h"><h2 id="votes-h">Votes: all</h2>'
        '<p>all</p><p class="panel__foot">ALL</p></section>'
    )
    assert '<section class="panel" id="votes"' in str(section("few"))


def test_the_anchor_of_a_section_of_a_question_names_the_question(tmp_path: Path) -> None:
    material = analysed_material(made_up(tmp_path, {"a": 60.0, "b": 40.0}, participants=4))
    part = material.parts[0]
    section = QuestionSection("scale", "Scale", lambda _, part: tag("p", part.scale.max))
    assert f'id="scale-{part.slug}"' in str(section(material, part))


def test_sections_beside_each_other_share_a_line_and_leave_none_without_content() -> None:
    def left(text: str) -> Markup | None:
        return words(text[:1])

    pair = beside(Section("left", "Left", left, is_wide=False), Section("whole", "Whole", words, is_wide=False))
    assert str(pair("ab")).startswith('<div class="beside"><section class="panel" id="left"')
    assert pair("") is None


def test_a_group_is_arranged_by_its_material() -> None:
    one, other = Section("one", "One", words), Section("other", "Other", words)
    group = SectionGroup((one, other), lambda panels, text: panels[::-1] if text == "turned" else panels)
    assert group("turned") == [other("turned"), one("turned")]
    assert group("as it is") == [one("as it is"), other("as it is")]
