"""How the study was done, and the methods text with its sources."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from beholder.analysis import analyse
from beholder.reporting import report
from beholder.reporting.methods_section import methods, procedure_section
from beholder.study.model import Study
from support.report_material import analysed_material
from support.report_pages import Page, made_up


def test_the_method_section_names_unit_tests_and_software(people: tuple[Study, Page]) -> None:
    for words in (
        "97 %",
        "Student t",
        "Wilcoxon signed rank",
        "Holm",
        "Beholder",
        "scipy",
        "d1",
        "Trials per session 4",
    ):
        assert words in people[1].text


def test_every_source_stands_once_on_its_own_line(people: tuple[Study, Page]) -> None:
    text = (people[0].folder / "report" / "index.html").read_text(encoding="utf-8")
    sources = text.partition("<dt>Sources</dt><dd>")[2].partition("</dd>")[0].split("<br>")
    assert sources[0].startswith("Jonell et al. (2021), HEMVIP")
    assert len(sources) == len(set(sources))
    assert {
        "Student (1908), Biometrika 6",
        "Cameron, Gelbach and Miller (2011), Journal of Business &amp; Economic Statistics 29",
        "Wilcoxon (1945), Biometrics Bulletin 1",
        "Pratt (1959), Journal of the American Statistical Association 54",
        "Holm (1979), Scandinavian Journal of Statistics 6",
        "Cumming and Finch (2001), Educational and Psychological Measurement 61",
        "Spearman (1904), American Journal of Psychology 15",
    } <= set(sources)


def test_no_usable_session_has_a_headline_methods_and_files(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"a": 50.0}, participants=0)
    analyse(study)
    shown = Page(report(study).read_text(encoding="utf-8")).text
    assert "Key finding Nothing to report. No rating of this question could be used." in shown
    assert "No rating could be used." in shown
    assert "There was nothing to analyse." in shown
    for name in ("methods.md", "methods.tex", "sources.bib"):
        text = (tmp_path / "report" / name).read_text(encoding="utf-8")
        assert "nan" not in text.casefold()
        assert name in shown


@pytest.mark.parametrize(
    ("keys", "listed", "told"),
    [
        (
            {"method": "likert", "options": {"items": "avatar-short", "scenario": "You meet a *colleague*."}},
            {"Item set": "avatar-short", "Scenario": "“You meet a colleague.”"},
            "The study used a questionnaire (Cutler et al., 2024). Each stimulus was followed by statements or "
            "questions about it. The statements were the set avatar-short.",
        ),
        (
            {"method": "abx", "options": {"mode": "closest", "gap": 0.5}},
            {"Task": "Which of two is closer to the reference."},
            "They said which of the two is closer to X, the reference.",
        ),
    ],
    ids=["likert", "abx"],
)
def test_a_method_says_itself_what_is_told_of_its_options(
    tmp_path: Path, keys: dict[str, Any], listed: dict[str, str], told: str
) -> None:
    material = analysed_material(made_up(tmp_path, {"a": 60.0, "b": 40.0}, participants=4, **keys))
    entries = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", str(procedure_section(material)))
    assert listed.items() <= dict(entries).items()
    assert told in methods(material)[0].text
