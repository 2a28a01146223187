"""The report: one honest page from clean/ and analyse/."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from beholder.analyse import analyse
from beholder.analyse.results import read_results
from beholder.clean.ratings import COLUMNS
from beholder.clean.tables import write_json, write_table
from beholder.errors import UserError
from beholder.report import report
from beholder.report.findings import findings
from beholder.report.latex import latex_text
from beholder.report.material import Part, Wording, load_material
from beholder.study.model import Study
from beholder.study.scale import SCALES

FIGURES = ("figures/scores-quality.svg", "figures/scores-quality.pdf", "figures/scores-quality.png")


def made_up(
    folder: Path,
    quality: Mapping[str, float],
    *,
    participants: int = 24,
    contents: int = 4,
    population: str = "people",
    questions: Sequence[Mapping[str, Any]] = ({"id": "quality", "text": "How good is it?", "scale": "cont100"},),
    noise: float = 8,
    **keys: Any,
) -> Study:
    """Return a study whose clean/ holds made-up ratings; 13 sessions were lost."""
    study = Study.model_validate(
        {
            "beholder": 1,
            "name": "made-up",
            "title": "Gestures while talking",
            "method": "parallel",
            "stimuli": "stimuli",
        }
        | {"conditions": list(quality), "questions": list(questions), **keys}
    )
    study._folder = folder
    rng = np.random.default_rng(1)
    rows: list[dict[str, Any]] = []
    for person in range(participants):
        bias = rng.normal(0, noise / 2)
        for position in range(1, contents + 1):
            for slot, (condition, mean) in enumerate(quality.items(), 1):
                for question in study.questions:
                    scale = question.scale
                    span = scale.max - scale.min
                    felt = scale.min + span * (mean + bias + rng.normal(0, noise)) / 100
                    value = float(np.clip(round(felt), scale.min, scale.max))
                    rows.append(
                        dict.fromkeys(COLUMNS, "")
                        | {
                            "study": study.name, "digest": "d1", "run": 1, "participant": f"p{person:03}",
                            "session": f"s{person:03}", "mode": "link", "trial": f"t{position}", "position": position,
                            "repetition": 1, "method": "parallel", "question": question.id, "kind": "score",
                            "content": f"content {position}", "condition": condition, "role": "test", "keyed": "+",
                            "stimulus": f"{condition}/content {position}", "value": value, "raw_value": value,
                            "scale_min": scale.min, "scale_max": scale.max, "slot": f"s{slot}", "use": True,
                            "answered_at": datetime(2026, 11, 14, 9, tzinfo=UTC) + timedelta(minutes=person),
                        }
                    )  # fmt: skip
    write_table(folder / "clean" / "ratings.csv", COLUMNS, rows)
    lost = [("complete", "not_finished", "Did not finish", 9), ("variance", "same_answer", "Nearly the same answer", 4)]
    counts = {
        "participants": participants + 13, "sessions": participants + 13, "completed": participants + 4,
        "completed_participants": participants + 4, "used_participants": participants, "used_sessions": participants,
        "ratings": len(rows), "used_ratings": len(rows), "missing_ratings": 0, "other_plans": 0,
    }  # fmt: skip
    write_json(
        folder / "clean" / "account.json",
        {
            "study": study.name,
            "population": population,
            "finished": {"people": participants + 4 if population == "people" else 0, "robots": 0},
            "digests": ["d1"],
            "texts": [text_row(study, used_sessions=participants)],
            "counts": counts,
            "lost": [
                {"rule": rule, "reason": reason, "words": words, "sessions": n, "only": n, "ratings": 0}
                for rule, reason, words, n in lost
            ],
            "verdicts": {"complete": {"pass": participants, "fail": 13, "unknown": 0}},
        },
    )
    return study


def text_row(study: Study, digest: str = "d1", *, used_sessions: int = 24) -> dict[str, Any]:
    """Return a study text as account.json holds it."""
    questions = [question.model_dump(mode="json") for question in study.questions]
    row = {"digest": digest, "title": study.title, "watch": study.playback.watch, "questions": questions}
    return row | {"used_sessions": used_sessions, "used_participants": used_sessions}


def change_account(study: Study, change: Callable[[dict[str, Any]], None]) -> None:
    path = study.folder / "clean" / "account.json"
    account = json.loads(path.read_text(encoding="utf-8"))
    change(account)
    write_json(path, account)


class Page(HTMLParser):
    """A page as a browser would take it apart."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "title", "desc"} & set(self.open) and data.strip():
            self.words.append(" ".join(data.split()))

    @property
    def text(self) -> str:
        return " ".join(self.words)


def read(study: Study) -> Page:
    analyse(study)
    page = Page(report(study).read_text(encoding="utf-8"))
    assert page.open == []
    return page


def found(study: Study) -> str:
    """Return the findings of the first question as one text, without drawing anything."""
    analyse(study)
    material = load_material(study)
    reference = next((one.name for one in study.conditions if one.role == "reference"), None)
    told = findings(material.parts[0], material.labels, reference, ("person", "people"))
    return " ".join(f"{finding.headline} {finding.detail}" for finding in told)


SPREAD = {"natural": 85.0, "smooth": 60.0, "jerky": 58.0, "frozen": 20.0}


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, Page]:
    study = made_up(tmp_path_factory.mktemp("people"), SPREAD)
    return study, read(study)


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
    assert f"{told}. Dot: mean over participants." in page.text
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
    assert row.findall(above) == ["high", "middle", "low"]
    assert row.findall(tables)[:3] == ["low", "high", "middle"]
    assert re.findall(r'<th scope="col">(low|high|middle)</th>', tables) == ["low", "high", "middle"]
    for name in ("conditions.csv", "conditions.tex"):
        text = (folder / "tables" / name).read_text(encoding="utf-8")
        assert re.findall(r"\b(low|high|middle)\b", text) == ["low", "high", "middle"]


def test_the_page_counts_what_there_was_and_dates_the_newest_answer(people: tuple[Study, Page]) -> None:
    assert "4 conditions 4 contents 28 people finished, 24 used 384 ratings 14 November 2026" in people[1].text


def test_findings_follow_from_the_tests(people: tuple[Study, Page]) -> None:
    study, page = people
    results = read_results(study.folder)
    clear = int((results.pairs["p_holm"] < 0.05).sum())
    assert "natural is ahead." in page.text
    assert "frozen is behind all others." in page.text
    assert f"{clear} of 6 tested pairs differ clearly." in page.text or clear == 6


def test_a_lead_that_is_not_clear_is_not_claimed(tmp_path: Path) -> None:
    text = found(made_up(tmp_path, {"a": 60.0, "b": 60.2, "c": 20.0}))
    assert re.search(r"(a|b) scores highest, but not clearly above (a|b)\.", text)
    assert "is ahead" not in text


def told(
    folder: Path, values: Mapping[str, Sequence[float | None]], *, reference: str | None = None
) -> list[tuple[str, str]]:
    """Return the findings for one rating of each participant under each condition; None is a missing one."""
    rows = [
        {
            "participant": f"p{person:03}",
            "content": "city",
            "condition": condition,
            "value": value,
            "question": "quality",
        }
        for condition, theirs in values.items()
        for person, value in enumerate(theirs)
        if value is not None
    ]
    write_table(folder / "r.csv", ["participant", "content", "condition", "value", "question"], rows)
    results = analyse(folder / "r.csv")
    asked = (Wording("How good?", 20),)
    part = Part(
        "quality", asked, SCALES["cont100"], results.conditions, results.pairs, results.contents, results.scores, 0.05
    )
    labels = {name: name for name in values}
    return [(one.headline, one.detail) for one in findings(part, labels, reference, ("person", "people"))]


HIGH_ONLY_ALONE: dict[str, Sequence[float | None]] = {
    "A": [40 + 2 * (person % 2) for person in range(20)] + [90] * 20,
    "B": [50 + person % 5 for person in range(20)],
    "C": [10 + person % 4 for person in range(20)],
}
"""A has the highest mean, thanks to twenty who rated nothing else; who rated A and B put B clearly above A."""


def test_means_that_order_a_pair_against_its_test_are_said_to(tmp_path: Path) -> None:
    assert told(tmp_path, HIGH_ONLY_ALONE) == [
        (
            "The plain means order A above B, but those who rated both put B clearly above A.",
            "The means are 65.5 and 52.0; over the 20 who rated both, B is 11.0 points above A. The means do not "
            "rest on the same people, the pair does.",
        ),
        ("C is behind all others.", "It scores 11.5; those who rated both put it 40.5 points below the next, B."),
        ("Every condition differs clearly from every other.", "All 3 pairs, after correction."),
    ]


def test_a_condition_that_is_last_by_its_mean_alone_is_not_called_behind(tmp_path: Path) -> None:
    upside_down = {name: [None if v is None else 100 - v for v in values] for name, values in HIGH_ONLY_ALONE.items()}
    headlines = [headline for headline, _ in told(tmp_path, upside_down)]
    assert headlines == [
        "The plain means order B above A, but those who rated both put A clearly above B.",
        "C is ahead.",
        "Every condition differs clearly from every other.",
    ]


def test_a_reference_that_leads_by_its_mean_alone_is_compared_by_the_tests(tmp_path: Path) -> None:
    found = told(tmp_path, HIGH_ONLY_ALONE, reference="A")
    assert found[1] == ("1 of 2 are clearly below the reference, A.", "Every other one differs from it clearly.")


def test_every_pair_that_the_means_order_against_its_test_is_named(tmp_path: Path) -> None:
    values = HIGH_ONLY_ALONE | {"C": [48 + person % 4 for person in range(20)]}
    detail = told(tmp_path, values)[0][1]
    assert detail.endswith("As doubtful in the order of the means: A above C.")


def test_equal_means_are_not_said_to_order_a_pair(tmp_path: Path) -> None:
    values: dict[str, Sequence[float | None]] = {
        "A": [40.0] * 20 + [60.0] * 20,
        "B": [50.0] * 20,
    }
    assert told(tmp_path, values)[0][0] == (
        "The plain means put A level with B, but those who rated both put B clearly above A."
    )


def test_a_pair_that_cannot_be_told_apart_is_given_with_its_tested_difference(tmp_path: Path) -> None:
    values: dict[str, Sequence[float | None]] = {
        "A": [50.0, 51.0, 49.0, 50.0] * 5 + [90.0] * 5,
        "B": [50.0, 50.0, 51.0, 50.0] * 5,
        "C": [10.0, 11.0] * 10,
    }
    assert told(tmp_path, values)[0] == (
        "A scores highest, but not clearly above B.",
        "It scores 58.0; for those who rated both, its difference from B is \u22120.2 points, which this study cannot "
        "tell from none.",
    )


def test_pairs_that_nobody_rated_are_counted_apart(tmp_path: Path) -> None:
    values: dict[str, Sequence[float | None]] = {
        "A": [80.0 + person % 3 for person in range(20)],
        "B": [None] * 20 + [60.0] * 20,
        "C": [20.0 + person % 4 for person in range(40)],
    }
    assert told(tmp_path, values) == [
        (
            "A scores highest, but not clearly above B.",
            "It scores 81.0; too few rated both it and B to test their difference.",
        ),
        ("C is behind all others.", "It scores 21.5; those who rated both put it 38.5 points below the next, B."),
        ("2 of 2 tested pairs differ clearly.", "1 pair could not be tested: too few rated both."),
    ]


def test_conditions_without_common_raters_are_not_compared(tmp_path: Path) -> None:
    values: dict[str, Sequence[float | None]] = {"A": [80.0] * 9, "B": [None] * 9 + [20.0] * 9}
    assert told(tmp_path, values) == [
        (
            "No two conditions could be compared.",
            "The conditions lie between 20.0 (B) and 80.0 (A); no two people rated both of any pair.",
        )
    ]


def test_one_person_for_each_condition_is_not_one_person(tmp_path: Path) -> None:
    assert told(tmp_path, {"A": [80.0, None], "B": [None, 20.0]}) == [
        ("No condition was rated by more than one person.", "There is no interval and no test of any score.")
    ]


def test_too_few_who_rated_both_are_too_few_however_many_rated_one(tmp_path: Path) -> None:
    values: dict[str, Sequence[float | None]] = {
        "A": [80.0, 82.0, 84.0, 86.0] + [50.0] * 30,
        "B": [20.0, 21.0, 22.0, 23.0],
    }
    assert told(tmp_path, values)[0] == (
        "Too few people for a test.",
        "With 4 people who rated both and 1 pair, no difference can come out as clear.",
    )


def test_a_mean_difference_of_zero_is_not_called_clear(tmp_path: Path) -> None:
    """Nineteen are a little below and one is far above: the ranks differ clearly, the means not at all."""
    values: dict[str, Sequence[float | None]] = {"A": [50.0] * 20, "B": [51.0] * 19 + [31.0]}
    assert told(tmp_path, values)[0][0] == "No clear differences."
    assert analyse(tmp_path / "r.csv").pairs["p_holm"].item() < 0.05


def test_sessions_that_are_named_and_used_stand_under_used(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"a": 60.0, "b": 40.0})
    path = tmp_path / "clean" / "account.json"
    account = json.loads(path.read_text(encoding="utf-8"))
    named = {"rule": "complete", "reason": "mostly_missing", "words": "More than half could not be rated"}
    account["lost"].insert(0, named | {"sessions": 3, "only": 2, "kept": 2, "ratings": 0})
    write_json(path, account)
    assert "Used 24 More than half could not be rated 2 Not used 13 Did not finish 9" in read(study).text


def test_too_few_people_for_any_clear_difference_are_said_to_be_too_few(tmp_path: Path) -> None:
    text = found(made_up(tmp_path, {"a": 20.0, "b": 50.0, "c": 90.0}, participants=4))
    assert text.startswith(
        "Too few people for a test. With 4 people who rated both and 3 pairs, no difference can come out as clear."
    )


def test_equal_conditions_are_reported_as_no_clear_differences(tmp_path: Path) -> None:
    assert "No clear differences." in found(made_up(tmp_path, {"a": 50.0, "b": 50.0}, noise=0))


def test_a_reference_is_compared_with_everything_else(tmp_path: Path) -> None:
    conditions = [{"name": "original", "role": "reference"}, "x", "y", "z"]
    text = found(made_up(tmp_path, {"original": 70.0, "x": 90.0, "y": 40.0, "z": 30.0}, conditions=conditions))
    assert "2 of 3 are clearly below the reference, original." in text


def test_the_matrix_shows_a_number_only_where_the_difference_is_clear(people: tuple[Study, Page]) -> None:
    study, page = people
    pairs = read_results(study.folder).pairs
    same = [attributes for tag, attributes in page.tags if attributes.get("aria-label") == "no clear difference"]
    assert len(same) == 2 * int((pairs["p_holm"] >= 0.05).sum())


def test_the_page_needs_nothing_from_anywhere(people: tuple[Study, Page]) -> None:
    study, page = people
    assert not [tag for tag, _ in page.tags if tag in ("script", "link", "img", "iframe", "base", "object")]
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
    assert tags.count("table") == tags.count("caption") == 4
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
    assert not [tag for tag, attributes in page.tags if tag in ("script", "img") or "onerror" in attributes]
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
        r"{[}Jerky] \& slow & 24 & 6 & 39.0 & 33.6 to 44.3 & 7.6 & 40.5 \\",
        r"Natural 100\% & 24 & 6 & 79.2 & 74.9 to 83.6 & 8.2 & 79.0 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    assert r" & Natural 100\% & 6 & $-$40.3 & $-$44.0 to $-$36.6 & 0.031 & 0.031 \\" in (
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
    assert sources == [
        "ITU-T P.910 (mean opinion score)",
        "ITU-T P.1401 (Student t)",
        "Student (1908), Biometrika 6",
        "Wilcoxon (1945), Biometrics Bulletin 1",
        "Pratt (1959), Journal of the American Statistical Association 54",
        "Holm (1979), Scandinavian Journal of Statistics 6",
        "Spearman (1904), American Journal of Psychology 15",
    ]


def test_latex_text_escapes_every_special_character() -> None:
    assert latex_text("50% of a_b & {c} $x^2~y\\ #<>") == (
        r"50\% of a\_b \& \{c\} \$x\textasciicircum{}2\textasciitilde{}y\textbackslash{} \#\textless{}\textgreater{}"
    )


def test_notes_are_plain_json(people: tuple[Study, Page]) -> None:
    notes = json.loads((people[0].folder / "analyse" / "notes.json").read_text(encoding="utf-8"))
    assert notes["population"] == "people"
