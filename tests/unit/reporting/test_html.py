"""Pages need nothing else, escape every text, and show tables and matrices."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from pathlib import Path

from beholder.analysis.figures import theme
from beholder.analysis.result import read_results
from beholder.study.model import Study
from support.report_pages import FIGURES, Page, made_up, read


def test_the_matrix_shows_a_number_only_where_the_difference_is_clear(people: tuple[Study, Page]) -> None:
    study, page = people
    pairs = read_results(study.folder).pairs
    same = [attributes for tag, attributes in page.tags if attributes.get("aria-label") == "no clear difference"]
    assert len(same) == 2 * int((pairs["verdict"] == "undecided").sum())
    framed = [attributes for tag, attributes in page.tags if tag == "td" and attributes.get("class") == "matrix__these"]
    assert len(framed) == 2 * int((pairs["verdict"] == "these").sum())


def test_the_page_needs_nothing_from_anywhere(people: tuple[Study, Page]) -> None:
    study, page = people
    assert not [tag for tag, _ in page.tags if tag in ("link", "img", "iframe", "base", "object")]
    text = (study.folder / "report" / "index.html").read_text(encoding="utf-8")
    assert "url(" not in text
    assert "@import" not in text
    addresses = [a[name] for _, a in page.tags for name in ("href", "src", "xlink:href") if a.get(name)]
    assert not [address for address in addresses if address and "://" in address]


def test_only_the_script_of_the_page_may_run(people: tuple[Study, Page]) -> None:
    study, page = people
    (rules,) = [a["content"] for tag, a in page.tags if tag == "meta" and a.get("http-equiv")]
    assert rules is not None
    text = (study.folder / "report" / "index.html").read_text(encoding="utf-8")
    script = text.partition('<script type="module">')[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in rules
    assert rules.startswith("default-src 'none';")


def test_names_with_markup_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    conditions: dict[str, float] = {evil: 70.0, 'b"><img src=x onerror=y>': 50.0, "NA": 30.0}
    question = {"id": "quality", "text": f"Is {evil} good?", "scale": "acr5"}
    page = read(made_up(tmp_path, conditions, questions=[question], title=f"Title {evil}"))
    assert not [tag for tag, attributes in page.tags if tag == "img" or "onerror" in attributes]
    assert "<script>alert" not in (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert f"Title {evil}" in page.text
    assert "NA" in page.words
    svg = (tmp_path / "report" / FIGURES[0]).read_text(encoding="utf-8")
    assert "<script" not in svg


def test_the_page_turns_every_colour_of_figures_into_that_of_its_theme() -> None:
    css = resources.files("beholder.reporting").joinpath("style.css").read_text("utf-8")
    for colour in (theme.ACCENT, theme.BAR, theme.INK, theme.SOFT, theme.PAPER):
        assert f'.plot [fill="{colour}"]' in css
        assert f'.plot [stroke="{colour}"]' in css
