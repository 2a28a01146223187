"""The report: one honest page from clean/ and analyse/."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from beholder.analysis import analyse
from beholder.analysis.result import read_results
from beholder.errors import UserError
from beholder.files import write_json
from beholder.reporting import report
from beholder.reporting.sheets import latex_text
from beholder.study.model import Study
from support.report_pages import Page, change_account, found, made_up, read, text_row

FIGURES = ("figures/scores-quality.svg", "figures/scores-quality.pdf", "figures/scores-quality.png")


def test_the_first_line_says_that_people_answered(people: tuple[Study, Page]) -> None:
    assert people[1].words[0] == "People answered this study."


def test_the_first_line_says_that_robots_answered(tmp_path: Path) -> None:
    page = read(made_up(tmp_path, {"a": 60.0, "b": 40.0}, population="robots"))
    assert page.text.startswith("Simulated. These ratings come from robots. A rehearsal, not a result. Beholder")
    assert "28 robots finished, 24 used" in page.text


@pytest.mark.parametrize(("people", "words"), [(1, "1 person has"), (3, "3 people have")])
def test_a_rehearsal_is_not_shown_without_the_people_who_finished(tmp_path: Path, people: int, words: str) -> None:
    study = made_up(tmp_path, {"a": 60.0}, population="robots", participants=2)
    change_account(study, lambda account: account["finished"].update(people=people))
    assert read(study).text.startswith(
        "Simulated. These ratings come from robots. A rehearsal, not a result. "
        f"{words} finished as well: run beholder clean . Beholder"
    )


def test_results_of_other_ratings_than_those_in_clean_are_refused(tmp_path: Path) -> None:
    """As after `clean --robots; analyse; clean`."""
    study = made_up(tmp_path, {"a": 60.0, "b": 40.0}, population="robots")
    analyse(study)
    made_up(tmp_path, {"a": 40.0, "b": 60.0})
    for refused in (lambda: report(study), lambda: read_results(tmp_path)):
        with pytest.raises(UserError) as error:
            refused()
        assert str(error.value) == "analyse/  is older than clean/. Run `beholder analyse` first."
    assert not (tmp_path / "report").exists()
    assert read(study).words[0] == "People answered this study."


def test_results_of_no_rating_of_the_other_population_are_refused(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"a": 60.0}, participants=0, population="robots")
    analyse(study)
    made_up(tmp_path, {"a": 60.0}, participants=0)
    with pytest.raises(UserError) as error:
        report(study)
    assert str(error.value) == "analyse/  is older than clean/. Run `beholder analyse` first."


def reworded(study: Study, **keys: Any) -> Study:
    """Return the study with other words, as somebody writes them after people have finished."""
    return study.model_copy(update=keys)


def test_a_question_is_told_in_the_words_that_people_read(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"a": 60.0, "b": 40.0})
    question = study.questions[0].model_copy(update={"text": "How beautiful is it?"})
    page = read(reworded(study, title="Another title", questions=(question,)))
    assert "How good is it? Dot:" in page.text
    assert "Gestures while talking" in page.words
    assert "How beautiful is it?" not in (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "Another title" not in (tmp_path / "report" / "index.html").read_text(encoding="utf-8")


def test_every_wording_is_told_with_the_number_of_its_people(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"a": 60.0, "b": 40.0}, participants=8)
    path = tmp_path / "clean" / "ratings.csv"
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    table.loc[table["participant"] >= "p007", "digest"] = "d2"
    table.to_csv(path, index=False, lineterminator="\n")
    question = study.questions[0].model_copy(update={"text": "How natural is it?"})
    playback = study.playback.model_copy(update={"watch": "none"})
    later = text_row(reworded(study, title="Later", questions=(question,), playback=playback), "d2", used_sessions=1)
    change_account(study, lambda account: account["texts"].append(later))
    page = read(study)
    told = "How good is it? (7 people), How natural is it? (1 person)"
    assert f"Not everybody was asked in the same words. quality : {told}. The scores take them together." in page.text
    assert f"{told}. Dot: mean, every content weighing the same." in page.text
    assert f"quality {told} 0 to 100 in steps of 1" in page.text
    assert "Title Gestures while talking (7 people), Later (1 person)" in page.text
    assert "8 sessions: A rating counts when at least 97 %" in page.text
    assert "1 session: Stimuli did not have to be watched before rating." in page.text


def test_one_wording_needs_no_note(people: tuple[Study, Page]) -> None:
    assert "Not everybody" not in people[1].text


def test_tables_keep_the_order_of_the_study_and_figures_have_the_best_first(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"low": 20.0, "high": 80.0, "middle": 50.0})
    read(study)
    folder = tmp_path / "report"
    above, _, tables = (folder / "index.html").read_text(encoding="utf-8").partition('id="tables"')
    row = re.compile(r'<th scope="row">(low|high|middle)</th>')
    assert re.findall(r">(low|high|middle)</text>", above)[:3] == ["high", "middle", "low"]
    assert row.findall(above) == ["high", "middle", "low"] * 2
    assert row.findall(tables)[:3] == ["low", "high", "middle"]
    assert re.findall(r'<th scope="col">(low|high|middle)</th>', tables) == ["low", "high", "middle"]
    for name in ("conditions.csv", "conditions.tex"):
        text = (folder / "tables" / name).read_text(encoding="utf-8")
        assert re.findall(r"\b(low|high|middle)\b", text) == ["low", "high", "middle"]


def test_the_page_counts_what_there_was_and_dates_the_newest_answer(people: tuple[Study, Page]) -> None:
    assert "4 conditions 4 contents 28 people finished, 24 used 384 ratings 14 November 2026" in people[1].text


def test_sessions_that_are_named_and_used_stand_under_used(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"a": 60.0, "b": 40.0})
    path = tmp_path / "clean" / "account.json"
    account = json.loads(path.read_text(encoding="utf-8"))
    named = {"rule": "complete", "reason": "mostly_missing", "words": "More than half could not be rated"}
    account["lost"].insert(0, named | {"sessions": 3, "only": 2, "kept": 2, "ratings": 0, "costs": False})
    write_json(path, account)
    assert "Used 24 More than half could not be rated 2 Not used 13 Did not finish 9" in read(study).text


def test_the_matrix_shows_a_number_only_where_the_difference_is_clear(people: tuple[Study, Page]) -> None:
    study, page = people
    pairs = read_results(study.folder).pairs
    same = [attributes for tag, attributes in page.tags if attributes.get("aria-label") == "no clear difference"]
    assert len(same) == 2 * int((pairs["p_holm"] >= 0.05).sum())


def test_the_page_needs_nothing_from_anywhere(people: tuple[Study, Page]) -> None:
    study, page = people
    assert not [tag for tag, _ in page.tags if tag in ("link", "img", "iframe", "base", "object")]
    text = (study.folder / "report" / "index.html").read_text(encoding="utf-8")
    assert "url(" not in text
    assert "@import" not in text
    addresses = [a[name] for _, a in page.tags for name in ("href", "src", "xlink:href") if a.get(name)]
    assert not [address for address in addresses if address and "://" in address]


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


def test_figures_tables_and_ratings_lie_beside_the_page(people: tuple[Study, Page]) -> None:
    folder = people[0].folder / "report"
    heads = {"svg": b"<svg", "pdf": b"%PDF", "png": b"\x89PNG"}
    for name in FIGURES:
        assert (folder / name).read_bytes().startswith(heads[name.rpartition(".")[2]])
    for name in ("scores", "conditions", "contents", "pairs", "participants"):
        assert (folder / "tables" / f"{name}.csv").read_bytes() == (
            folder.parent / "analyse" / f"{name}.csv"
        ).read_bytes()
        assert "\\bottomrule" in (folder / "tables" / f"{name}.tex").read_text(encoding="utf-8")
    assert (folder / "ratings.csv").read_bytes() == (folder.parent / "clean" / "ratings.csv").read_bytes()


def test_parquet_holds_the_same_ratings(people: tuple[Study, Page]) -> None:
    pytest.importorskip("pyarrow", reason="Parquet is an extra: pip install beholder[parquet]")
    found = pd.read_parquet(people[0].folder / "report" / "ratings.parquet")
    pd.testing.assert_frame_equal(found, read_results(people[0].folder).ratings, check_dtype=False)


def test_reporting_twice_gives_the_same_page_and_clears_what_is_stale(people: tuple[Study, Page]) -> None:
    folder = people[0].folder / "report"
    before = (folder / "index.html").read_bytes()
    stale = folder / "figures" / "scores-gone.svg"
    stale.write_text("old")
    assert report(people[0]).read_bytes() == before
    assert not stale.exists()


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


def test_each_question_has_its_own_part(tmp_path: Path) -> None:
    questions = [
        {"id": "quality", "text": "How good?", "scale": "acr5"},
        {"id": "fit", "text": "How fitting?", "scale": "cont100"},
    ]
    page = read(made_up(tmp_path, {"a": 70.0, "b": 30.0}, questions=questions))
    for question in questions:
        assert str(question["text"]) in page.text
        assert (tmp_path / "report" / "figures" / f"scores-{question['id']}.svg").is_file()
    assert "1 to 5 in steps of 1: 1 Bad, 2 Poor, 3 Fair, 4 Good, 5 Excellent" in page.text


def test_labels_stand_for_names_and_equal_labels_are_told_apart(tmp_path: Path) -> None:
    conditions = [{"name": "a", "label": "System"}, {"name": "b", "label": "System"}, {"name": "c", "label": "Other"}]
    text = found(made_up(tmp_path, {"a": 70.0, "b": 30.0, "c": 50.0}, conditions=conditions))
    assert "System (a) is ahead." in text
    assert "above the next, Other." in text


@pytest.mark.parametrize(
    ("quality", "participants", "words"),
    [
        ({"a": 50.0, "b": 60.0}, 1, "Only one person was counted."),
        ({"a": 50.0}, 4, "One condition, nothing to compare."),
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


def test_who_was_lost_is_told_with_reasons(people: tuple[Study, Page]) -> None:
    assert "Not used 13 Did not finish 9 Nearly the same answer 4" in people[1].text


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


def test_report_before_clean_says_what_to_run(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"a": 1.0})
    (tmp_path / "clean" / "account.json").unlink()
    with pytest.raises(UserError) as error:
        report(study)
    assert str(error.value) == f"{tmp_path / 'clean'}  holds no clean ratings. Run `beholder clean` first."


def test_report_before_analyse_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        report(made_up(tmp_path, {"a": 1.0}))
    assert str(error.value) == f"{tmp_path / 'analyse'}  holds no results. Run `beholder analyse` first."


def test_analyse_before_clean_says_what_to_run(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"a": 1.0})
    (tmp_path / "clean" / "ratings.csv").unlink()
    with pytest.raises(UserError) as error:
        analyse(study)
    assert str(error.value) == f"{tmp_path / 'clean' / 'ratings.csv'}  is not there. Run `beholder clean` first."


def test_tables_for_a_paper_are_written_for_its_readers(tmp_path: Path) -> None:
    conditions = [{"name": "jerky_1", "label": "[Jerky] & slow"}, {"name": "nat", "label": "Natural 100%"}]
    read(made_up(tmp_path, {"jerky_1": 40.0, "nat": 80.0}, participants=6, conditions=conditions))
    tables = tmp_path / "report" / "tables"
    assert (tables / "conditions.tex").read_text(encoding="utf-8").splitlines() == [
        r"% needs \usepackage{booktabs}",
        r"\begin{tabular}{lrrrrrr}",
        r"\toprule",
        r"Condition & Ratings & Participants & Mean & 95 \% interval & SD of ratings & Median \\",
        r"\midrule",
        r"{[}Jerky] \& slow & 24 & 6 & 39.0 & 34.2 to 43.7 & 7.6 & 40.5 \\",
        r"Natural 100\% & 24 & 6 & 79.3 & 76.8 to 81.7 & 8.2 & 79.0 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    assert r" & Natural 100\% & 6 & $-$40.3 & $-$44.9 to $-$35.7 & \textless{} 0.001 & \textless{} 0.001 \\" in (
        (tables / "pairs.tex").read_text(encoding="utf-8")
    )


def test_tables_for_a_paper_have_no_empty_columns(tmp_path: Path) -> None:
    read(made_up(tmp_path, {"a": 40.0, "b": 80.0}, participants=1, contents=1))
    heads = {
        path.stem: path.read_text(encoding="utf-8").splitlines()[3]
        for path in (tmp_path / "report" / "tables").glob("*.tex")
    }
    assert heads == {
        "scores": r"Condition & Content & Participants & Mean & Median \\",
        "conditions": r"Condition & Ratings & Participants & Mean & Median \\",
        "contents": r"Content & Ratings & Participants & Mean & SD of ratings & Median \\",
        "pairs": r"Condition & minus & Participants & Mean difference \\",
        "participants": r"Participant & Ratings & Stimuli & Mean & SD & Lowest & Highest \\",
    }


def test_tables_for_a_paper_name_the_question_where_there_are_several(tmp_path: Path) -> None:
    questions = [{"id": name, "text": "How?", "scale": scale} for name, scale in (("fit", "acr5"), ("look", "cont100"))]
    read(made_up(tmp_path, {"a": 40.0}, questions=questions))
    lines = (tmp_path / "report" / "tables" / "conditions.tex").read_text(encoding="utf-8").splitlines()
    assert lines[1] == r"\begin{tabular}{llrrrrrr}"
    assert lines[3].startswith("Question & Condition & ")
    assert re.match(r"fit & a & 96 & 24 & \d\.\d\d & \d\.\d\d to ", lines[5])
    assert re.match(r"look & a & 96 & 24 & \d\d\.\d & \d\d\.\d to ", lines[6])


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


def test_latex_text_escapes_every_special_character() -> None:
    assert latex_text("50% of a_b & {c} $x^2~y\\ #<>") == (
        r"50\% of a\_b \& \{c\} \$x\textasciicircum{}2\textasciitilde{}y\textbackslash{} \#\textless{}\textgreater{}"
    )


def test_notes_are_plain_json(people: tuple[Study, Page]) -> None:
    notes = json.loads((people[0].folder / "analyse" / "notes.json").read_text(encoding="utf-8"))
    assert notes["population"] == "people"
