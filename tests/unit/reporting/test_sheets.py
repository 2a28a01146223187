"""Tables for a paper in LaTeX and Markdown."""

from __future__ import annotations

import re
from pathlib import Path

from beholder.reporting.methods_analysis import analysis_sentences
from beholder.reporting.sheets import TextTable, latex_table, latex_text, markdown_table, markdown_text, paper_sheets
from beholder.study.model import Study
from support.report_material import analysed_material
from support.report_pages import made_up


def latex_tables(study: Study) -> dict[str, str]:
    """Return the tables that a report holds in LaTeX, without drawing its figures."""
    return {name: latex_table(sheet) for name, sheet in paper_sheets(analysed_material(study)).items()}


def test_tables_for_a_paper_are_written_for_its_readers(tmp_path: Path) -> None:
    conditions = [{"name": "jerky_1", "label": "[Jerky] & slow"}, {"name": "nat", "label": "Natural 100%"}]
    study = made_up(tmp_path, {"jerky_1": 40.0, "nat": 80.0}, participants=6, conditions=conditions)
    tables = latex_tables(study)
    assert tables["conditions"].splitlines() == [
        r"% needs \usepackage{booktabs,tabularx}; fits one column",
        r"{\scriptsize\setlength{\tabcolsep}{2pt}%",
        r"\newcolumntype{L}{>{\raggedright\arraybackslash}X}%",
        r"\begin{tabularx}{\columnwidth}{@{}Lrrrrrrr@{}}",
        r"\toprule",
        r"Condition & n & N & Mean & 95 \% CI & CI, these & SD & Md \\",
        r"\midrule",
        r"{[}Jerky] \& slow & 24 & 6 & 39.0 & 32.3 to 45.6 & 33.6 to 44.3 & 7.6 & 40.5 \\",
        r"Natural 100\% & 24 & 6 & 79.3 & 73.8 to 84.7 & 74.9 to 83.6 & 8.2 & 79.0 \\",
        r"\bottomrule",
        r"\end{tabularx}}",
    ]
    pairs = tables["pairs"]
    assert "Diff. & 95 \\% CI & p & p (Holm) & CI, these & p, these & Clear " in pairs
    assert pairs.splitlines()[0].endswith("fits both columns: put it into a table*")
    assert r"\begin{tabularx}{\textwidth}{@{}LLrrrrrrrr@{}}" in pairs
    assert pairs.splitlines()[1].startswith(r"{\ifdim\textwidth<430pt\tiny\else\scriptsize\fi"), "one narrow column"
    assert r" & 6 & $-$40.3 & $-$48.7 to $-$31.8 & \textless{} 0.001 & \textless{} 0.001 & $-$47.1 to " in pairs
    assert r" to $-$33.5 & \textless{} 0.001 & beyond \\" in pairs


def test_tables_for_a_paper_have_no_empty_columns(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"a": 40.0, "b": 80.0}, participants=1, contents=1)
    heads = {name: text.splitlines()[5] for name, text in latex_tables(study).items()}
    assert heads == {
        "scores": r"Condition & Content & N & Mean & Md \\",
        "conditions": r"Condition & n & N & Mean & Md \\",
        "contents": r"Content & n & N & Mean & SD & Md \\",
        "pairs": r"Condition & minus & N & Diff. \\",
        "participants": r"Participant & n & Stimuli & Mean & SD & Lowest & Highest \\",
    }


def test_tables_for_a_paper_name_the_question_where_there_are_several(tmp_path: Path) -> None:
    questions = [{"id": name, "text": "How?", "scale": scale} for name, scale in (("fit", "acr5"), ("look", "cont100"))]
    lines = latex_tables(made_up(tmp_path, {"a": 40.0}, questions=questions))["conditions"].splitlines()
    assert lines[3] == r"\begin{tabularx}{\textwidth}{@{}LLrrrrrrr@{}}"
    assert lines[5].startswith("Question & Condition & ")
    assert re.match(r"fit & a & 96 & 24 & \d\.\d\d & \d\.\d\d to ", lines[7])
    assert re.match(r"look & a & 96 & 24 & \d\d\.\d & \d\d\.\d to ", lines[8])


def test_a_name_that_stands_above_is_not_repeated_in_latex() -> None:
    rows = [("fit", "a", "x", "1"), ("fit", "a", "y", "2"), ("fit", "b", "x", "3"), ("look", "b", "x", "4")]
    lines = latex_table(TextTable(("Question", "Condition", "Content", "Mean"), rows, names=3)).splitlines()
    assert [line.removesuffix(" \\\\") for line in lines[7:11]] == [
        "fit & a & x & 1", " &  & y & 2", " & b & x & 3", "look & b & x & 4",
    ]  # fmt: skip


def test_latex_text_escapes_every_special_character() -> None:
    assert latex_text("50% of a_b & {c} $x^2~y\\ #<>") == (
        r"50\% of a\_b \& \{c\} \$x\textasciicircum{}2\textasciitilde{}y\textbackslash{} \#\textless{}\textgreater{}"
    )


def test_a_markdown_table_keeps_every_name_in_its_cell() -> None:
    assert markdown_text("a|b\n*c* <d>") == r"a\|b \*c\* \<d\>"
    sheet = TextTable(("Condition", "Mean"), [("a|b", "3.0")])
    assert markdown_table(sheet) == "| Condition | Mean |\n| :-- | --: |\n| a\\|b | 3.0 |\n"


def test_dmos_against_originals_is_in_the_report_its_words_and_its_latex(tmp_path: Path) -> None:
    scale = {"id": "quality", "text": "How good is it?", "scale": "acr5"}
    planted = {"source": 90.0, "codec": 50.0}
    study = made_up(tmp_path, planted, questions=[scale], noise=5, method="acr", analyse={"dmos": "source"})
    material = analysed_material(study, lambda ratings: ratings.assign(method="acr"))
    sheet = paper_sheets(material)["dmos"]
    assert sheet.heads[:4] == ("Condition", "Ratings", "Participants", "DMOS")
    assert [row[0] for row in sheet.rows] == ["codec"]
    assert "DMOS is the mean of each participant's vote minus their vote on the original (source)" in " ".join(
        sentence.text for sentence in analysis_sentences(material)
    )


def test_a_long_name_wraps_and_never_widens_a_table() -> None:
    short, long = (TextTable(("Condition", "Mean"), [(name, "4.1")]) for name in ("a", "a very long name " * 9))
    assert latex_table(short).splitlines()[:6] == latex_table(long).splitlines()[:6]
    assert r"{\columnwidth}" in latex_table(long)
