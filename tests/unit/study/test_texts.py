"""Participants get the researcher's Markdown as safe HTML."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.errors import StudyError
from beholder.study.model import Study, installed_study_model
from beholder.study.texts import markdown, study_text

LINK = '<a href="https://a.b/c?d=1&amp;e=2" target="_blank" rel="noopener noreferrer">here</a>'


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# Hello\n\nYou *may* **stop**.", "<h1>Hello</h1>\n<p>You <em>may</em> <strong>stop</strong>.</p>"),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
        ("3. a\n4. b", '<ol start="3">\n<li>a</li>\n<li>b</li>\n</ol>'),
        ("[here](https://a.b/c?d=1&e=2)", f"<p>{LINK}</p>"),
        ("<me@example.org>", '<p><a href="mailto:me@example.org" target="_blank" rel="noopener noreferrer">'
                             "me@example.org</a></p>"),
        ("[x](/api/step)", '<p><a rel="noopener noreferrer" target="_blank">x</a></p>'),
        ("a ![picture](https://a.b/c.png) b", "<p>a  b</p>"),
        ("a <b onclick='x()'>bold</b> b", "<p>a bold b</p>"),
        ("<!-- a note -->", ""),
        ("<script>\nalert(1)\n</script>", ""),
        ("<div style='x'>Please *read*</div>", "<p>Please *read*</p>"),
        ("1 < 2 & 3", "<p>1 &lt; 2 &amp; 3</p>"),
    ],
)  # fmt: skip
def test_markdown_becomes_safe_html(text: str, html: str) -> None:
    assert markdown(text) == html


def test_a_table_stays_without_inline_styles() -> None:
    html = markdown("|a|b|\n|-|-:|\n|1|2|")
    assert "<td>2</td>" in html
    assert "style" not in html


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//a.b", "vbscript:x"]
)
def test_a_link_leads_to_the_web_or_to_mail_only(address: str) -> None:
    assert "href" not in markdown(f"[x]({address}) <{address}>")


PIECES = [
    "<script>", "<img src=x onerror=y>", "[a](javascript:b)", "![", "](", "<a href=", "x", "`", "\n\n", "<", ">", '"',
    "&lt;script&gt;",
]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PIECES)))
def test_no_text_brings_a_script_or_an_image(parts: list[str]) -> None:
    html = markdown("".join(parts))
    assert "<script" not in html
    assert "<img" not in html
    assert 'href="javascript' not in html


def make(folder: Path, **texts: str) -> Study:
    study = installed_study_model().model_validate(
        {"beholder": 1, "name": "a", "title": "A", "method": "acr", "stimuli": "s", "texts": texts}
    )
    study._folder = folder
    return study


def test_a_text_is_inline_or_a_file_or_nothing(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "consent.md").write_text("\ufeffI agree", "utf-8")
    study = make(tmp_path, consent="texts/consent.md", thanks="Bye")
    assert study_text(study, "consent") == "I agree"
    assert study_text(study, "thanks") == "Bye"
    assert study_text(study, "pause") is None


def test_a_text_that_ends_in_md_on_its_last_line_is_still_inline(tmp_path: Path) -> None:
    assert study_text(make(tmp_path, thanks="Read\nnotes.md"), "thanks") == "Read\nnotes.md"


def test_a_text_file_that_went_away_is_named(tmp_path: Path) -> None:
    with pytest.raises(StudyError) as caught:
        study_text(make(tmp_path, consent="gone.md"), "consent")
    assert str(caught.value) == (
        "study.yaml  texts.consent is gone.md, and there is no such file. "
        "Allowed: Markdown, or the name of a file that ends in .md. Write it to gone.md in the study folder."
    )
