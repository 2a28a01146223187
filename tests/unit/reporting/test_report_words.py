"""The report in words: the key finding with its uncertainty, the methods paragraph, and what it cites."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from beholder.analysis import analyse
from beholder.cleaning.ratings import COLUMNS
from beholder.cleaning.tables import clean_tables
from beholder.files import write_table
from beholder.reporting import report
from beholder.reporting.headline import headline_section, key_finding
from beholder.reporting.html import Markup
from beholder.reporting.material import Material, load_material
from beholder.reporting.methods_section import methods, methods_files
from beholder.reporting.methods_text import Paragraph, Sentence, latex_methods, markdown_methods, plain_text
from beholder.reporting.page import page
from beholder.reporting.references import SOURCES, bibtex, find_source, full_reference
from beholder.study.model import Study
from support import cleaning_store as cleaning
from support.report_pages import SPREAD, Page, change_account, made_up

Value = Callable[[int, int], float]
"""The rating of a person on a content, both counted from 0."""
ENDS = {"diff": (-3, 3), "choice": (-1, 1), "correct": (0, 1), "pick": (0, 1)}


def rated(
    folder: Path,
    values: Mapping[Any, Value],
    *,
    kind: str = "score",
    method: str = "parallel",
    people: int = 12,
    contents: int = 6,
    **keys: Any,
) -> Material:
    """Return the material of a study with these ratings; a pair of conditions is one that was compared."""
    pairs = {(one, "") if isinstance(one, str) else one: value for one, value in values.items()}
    names = dict.fromkeys(name for pair in pairs for name in pair if name)
    study = made_up(folder, dict.fromkeys(names, 50.0), participants=1, contents=1, method=method, **keys)
    low, high = ENDS.get(kind, (0, 100))
    rows = [
        dict.fromkeys(COLUMNS, "")
        | {
            "digest": "d1", "participant": f"p{person:03}", "session": f"s{person:03}", "position": content + 1,
            "kind": kind, "method": method, "question": study.questions[0].id, "content": f"c{content}",
            "condition": one, "stimulus": f"{one}/c{content}", "role": "test", "value": value(person, content),
            "other_condition": other, "other_stimulus": f"{other}/c{content}" if other else "", "scale_min": low,
            "scale_max": high, "use": True, "answered_at": "2026-11-14T09:00:00+00:00",
        }
        for person in range(people)
        for content in range(contents)
        for (one, other), value in pairs.items()
    ]  # fmt: skip
    write_table(folder / "clean" / "ratings.csv", COLUMNS, rows)
    return told(study)


def told(study: Study) -> Material:
    analyse(study)
    return load_material(study)


def found(material: Material) -> str:
    return key_finding(material, material.parts[0])


def around(middle: float, person: int = 1, content: int = 1) -> Value:
    """Return ratings around a middle, with people and contents that differ by so much."""
    return lambda who, what: middle + person * (who % 4 - 1.5) + content * (what % 3 - 1)


def swaying(who: int, what: int) -> float:
    """Return ratings on which people differ a lot, around 61.5."""
    return 56 + 8 * (who % 2) + 3 * (what % 2)


def mostly(who: int, what: int) -> float:
    """Return 1 for four of five, else 0."""
    return float((who + what) % 5 != 0)


def flat(value: float) -> Value:
    return lambda _, __: value


def test_a_clear_lead_is_told_with_its_interval_and_its_distance(tmp_path: Path) -> None:
    material = rated(tmp_path, {"a": around(80, 4, 2), "b": around(60, 2, 2), "c": around(30, 1, 3)})
    assert found(material) == (
        "a scores 80.0 (95 % interval 76.3 to 83.7), 20.0 points (18.4 to 21.6) above b, the next, p < 0.001."
    )


def test_a_lead_that_is_not_clear_says_from_which_it_is_not_told_apart(tmp_path: Path) -> None:
    material = rated(tmp_path, {"a": around(61), "b": swaying, "c": around(20)})
    assert found(material) == (
        "b scores 61.5 (95 % interval 58.2 to 64.8), the highest, but is not told apart from a (difference +0.5 points "
        "(−2.7 to 3.7), p = 0.705). It is 41.5 points (38.3 to 44.7) above c, p < 0.001."
    )


def test_where_nothing_is_told_apart_it_says_what_could_have_been_missed_and_not_that_all_are_equal(
    tmp_path: Path,
) -> None:
    two = found(rated(tmp_path / "two", {"a": around(61), "b": swaying}))
    assert two == (
        "b and a are not told apart: 0.5 points (−2.7 to 3.7), p = 0.705. A difference of up to about 3.2 points could "
        "have been missed."
    )
    three = found(rated(tmp_path / "three", {"a": around(61), "b": swaying, "c": around(61, 2, 1)}))
    assert three.startswith("No two of 3 conditions are told apart; the largest difference is between b and ")
    assert not re.search(r"equal|the same|no difference", f"{two} {three}")


def test_the_hidden_reference_is_told_beside_the_best_under_test(tmp_path: Path) -> None:
    values = {"r": around(95, 1, 2), "a": around(80, 2, 1), "b": around(60)}
    conditions = [{"name": "r", "label": "Original", "role": "reference"}, "a", "b"]
    material = rated(tmp_path, values, roles={"r": "reference"}, conditions=conditions, method="mushra")
    assert found(material) == (
        "a scores 80.0 (95 % interval 78.2 to 81.8), median 80.0 (77.0 to 83.0), 20.0 points (19.2 to 20.8) above b, "
        "p < 0.001. It is 15.0 points (13.8 to 16.2) below the reference, Original, p < 0.001."
    )
    foot = Page(headline_section(material)).text
    assert "Holm-corrected among the conditions under test." in foot


def test_only_named_contrasts_are_told(tmp_path: Path) -> None:
    values = {"a": around(80, 2, 2), "b": around(60), "c": around(30)}
    material = rated(tmp_path, values, analyse={"contrasts": [["b", "a"]]})
    assert found(material) == "a is 20.0 points (18.8 to 21.2) above b, p < 0.001."


def test_a_choice_is_told_as_the_share_that_was_won(tmp_path: Path) -> None:
    material = rated(tmp_path, {("a", "b"): lambda who, what: 2 * mostly(who, what) - 1}, kind="choice", method="pair")
    assert found(material) == "a was preferred to b in 79 % (68 to 88 %) of their comparisons, p < 0.001."
    assert "A tie counts half." not in Page(headline_section(material)).text
    material = rated(
        tmp_path / "ties", {("a", "b"): lambda who, what: (who + what) % 3 - 1}, kind="choice", method="pair"
    )
    assert found(material).startswith("a and b are not told apart: a won 50 % (")
    assert "A tie counts half." in Page(headline_section(material)).text


def test_grades_are_held_against_the_reference(tmp_path: Path) -> None:
    values: dict[str | tuple[str, str], Value] = {
        ("a", "r"): lambda who, what: -1 - (who % 2) * (what % 2),
        ("b", "r"): lambda who, what: -2 + mostly(who, what) / 2,
    }
    material = rated(tmp_path, values, kind="diff", method="ccr", roles={"r": "reference"})
    assert found(material) == (
        "a is 1.25 points (0.93 to 1.57) below the reference, r, p < 0.001; 2 of 2 are clearly worse than it."
    )


def test_correct_answers_are_held_against_guessing(tmp_path: Path) -> None:
    assert found(rated(tmp_path / "told", {("a", "b"): mostly}, kind="correct", method="abx")) == (
        "a or b: 79 % (95 % interval 68 to 88 %) of the answers were right, guessing gives 50 %: they were told apart."
    )
    half = found(
        rated(tmp_path / "half", {("a", "b"): lambda who, what: float(who % 2)}, kind="correct", method="abx", people=8)
    )
    assert half == (
        "a or b: 50 % (95 % interval 10 to 90 %) of the answers were right, guessing gives 50 %, which is not ruled "
        "out; a share of up to about 40 percentage points above it could have been missed."
    )


@pytest.mark.parametrize(
    ("values", "keys", "said"),
    [
        (
            {"a": around(80)},
            {},
            "a scores 80.0 (95 % interval 78.8 to 81.2); there is no other condition under test.",
        ),
        (
            {"a": around(80), "b": around(20)},
            {"people": 1},
            "Only one person was counted. Scores describe this one person only: there is no interval and no test.",
        ),
        ({"a": flat(50), "b": flat(50)}, {}, "a and b are not told apart: 0.0 points (0.0 to 0.0), p = 1.000."),
    ],
)
def test_little_to_tell_is_told_as_it_is(tmp_path: Path, values: dict[str, Value], keys: Any, said: str) -> None:
    assert found(rated(tmp_path, values, **keys)).startswith(said)


def test_means_that_disagree_with_the_test_are_no_lead(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"a": 50.0, "b": 50.0}, participants=1, contents=1)
    rows = [
        dict.fromkeys(COLUMNS, "")
        | {
            "digest": "d1", "participant": f"p{who}", "session": f"s{who}", "position": 1, "kind": "score",
            "method": "parallel", "question": "quality", "content": "c", "condition": name, "stimulus": f"{name}/c",
            "role": "test", "value": value, "scale_min": 0, "scale_max": 100, "use": True,
            "answered_at": "2026-11-14T09:00:00+00:00",
        }
        for who in range(40)
        for name, value in (("a", 40 + who % 2 if who < 20 else 90), *([("b", 50 + who % 5)] if who < 20 else []))
    ]  # fmt: skip
    write_table(tmp_path / "clean" / "ratings.csv", COLUMNS, rows)
    assert found(told(study)) == (
        "Means and tests disagree: a has the highest mean, 65.3 (95 % interval 57.2 to 73.3), but those who rated both "
        "put b 11.5 points (10.8 to 12.2), p < 0.001, above a."
    )


def test_of_many_questions_five_have_a_line_at_the_top(tmp_path: Path) -> None:
    asked = [{"id": f"q{n}", "text": f"Question {n}?", "scale": "cont100"} for n in range(7)]
    study = made_up(tmp_path, {"a": 80.0, "b": 40.0}, participants=6, questions=asked)
    text = Page(headline_section(told(study))).text
    assert text.startswith("Key findings Question 0? a scores ")
    assert "Question 4?" in text
    assert "Question 5?" not in text
    assert "And 2 more below." in text


def test_a_rehearsal_is_called_one_at_the_top_and_in_the_methods(tmp_path: Path) -> None:
    material = told(made_up(tmp_path, SPREAD, participants=6, population="robots"))
    assert Page(headline_section(material)).text.startswith("Rehearsal with robots, no result natural scores ")
    text = plain_text(methods(material))
    assert "All ratings are simulated: robots answered in place of participants, and nothing here is a result." in text
    assert "6 robots with 96 ratings are analysed." in text
    assert "ethics" not in text


def test_the_headline_stands_above_everything_but_the_title(tmp_path: Path) -> None:
    material = told(made_up(tmp_path, SPREAD, participants=6))
    text = Page(page(material, defaultdict(Markup), [])).text
    places = [text.index(one) for one in ("Gestures while talking", "Key finding", "4 conditions", "What we found")]
    assert places == sorted(places)


def test_the_methods_tell_every_number_and_leave_blanks_for_the_rest(tmp_path: Path) -> None:
    asks = [
        {"id": "age", "text": "How old are you?", "type": "number"},
        {"id": "gender", "text": "Your gender?", "type": "single", "options": ["woman", "man"]},
    ]
    study = made_up(tmp_path, {"natural": 85.0, "jerky": 40.0}, participants=6, before=asks)
    columns = ["participant", "use", "answer_age", "answer_gender"]
    people = [(f"p{n}", n < 6, 20 + n, "woman" if n % 3 else "man") for n in range(8)]
    write_table(
        study.folder / "clean" / "participants.csv", columns, [dict(zip(columns, p, strict=True)) for p in people]
    )
    paragraphs = {one.title: one.text for one in methods(told(study))}
    assert list(paragraphs) == ["Design", "Participants", "Apparatus", "Quality control", "Analysis", "Data"]
    assert paragraphs["Design"] == (
        "The study used rating of several stimuli in parallel (HEMVIP) (Jonell et al., 2021). Versions of the same "
        "content were on one page, to be played in any order, each with a slider of its own. Participants were asked "
        "“How good is it?” (0 to 100 in steps of 1: 10 Bad, 30 Poor, 50 Fair, 70 Good, 90 Excellent). There were 8 "
        "stimuli, 4 contents under 2 conditions: natural and jerky. Each stimulus was rated by 6 participants. [How "
        "contents were chosen and how stimuli were made]. A session had 4 trials that are analysed. The order of "
        "trials and the places of stimuli on a page were drawn beforehand and balanced over participants (seed 1). "
        "Participants were blind to conditions: they saw the names of neither conditions nor files. A stimulus had to "
        "be played to its end, or be in view for a set time, before it could be rated."
    )
    assert paragraphs["Participants"] == (
        "19 people followed an open link [where and how they were recruited, and who could take part] on 14 November "
        "2026. Of these, 10 finished. 13 sessions were left out: did not finish (9); nearly the same answer (4). 6 "
        "participants with 48 ratings are analysed. Mean age 22.5 years, SD 1.9, 20 to 25, n = 6. Gender: woman 4 and "
        "man 2. [Experience of participants, if known]. [Payment of a participant, and what that is in an hour]. "
        "[Consent and ethics approval]."
    )
    assert "two-sided t tests with the error clustered by participant and by content" in paragraphs["Analysis"]
    assert (
        "Tests are at the 5 % level, with Holm's correction within each question over all pairs of conditions "
        in (paragraphs["Analysis"])
    )
    assert "seeds: plan 1, ranks 20240229 and votes needed 1" in paragraphs["Analysis"]


@pytest.mark.parametrize(
    ("recruit", "words"),
    [
        ({"mode": "lab"}, "took part in a laboratory [where, on which screens, and how they were recruited]"),
        ({"mode": "panel", "id_parameter": "id"}, "were invited [from which panel, and who could take part]"),
        ({"mode": "prolific", "reward": "2.00 GBP"}, "were recruited on Prolific [who could take part]"),
        (
            {
                "mode": "prolific", "reward": "2.00 GBP",
                "filters": {"countries": ["GB", "IE"], "age": [18, 60], "approval_rate": 95},
            },
            "were recruited on Prolific among people living in GB and IE, aged 18 to 60 and with an approval rate of "
            "95 or more per cent",
        ),
    ],
)  # fmt: skip
def test_the_methods_say_where_people_came_from(tmp_path: Path, recruit: dict[str, Any], words: str) -> None:
    study = made_up(tmp_path, {"natural": 85.0, "jerky": 40.0}, participants=3, recruit=recruit)
    text = next(one.text for one in methods(told(study)) if one.title == "Participants")
    assert f"16 people {words}" in text
    assert ("A session earned 2.00 GBP" in text) == ("reward" in recruit)


def test_the_methods_name_the_contrasts_and_leave_open_since_when(tmp_path: Path) -> None:
    asked = {"contrasts": [["natural", "jerky"], ["still", "natural"]]}
    study = made_up(tmp_path, {"natural": 85.0, "jerky": 40.0, "still": 20.0}, participants=6, analyse=asked)
    text = next(one.text for one in methods(told(study)) if one.title == "Analysis")
    assert (
        "The study names 2 contrasts: natural minus jerky and still minus natural. [Whether they were named before the "
        "first answer]." in text
    )


def test_the_methods_tell_checks_and_rules_with_thresholds_and_numbers(tmp_path: Path) -> None:
    checks = {"screen": True, "colour": True, "network": True}
    study = made_up(tmp_path, {"a": 85.0, "b": 40.0}, participants=6, qualification=checks)
    row = {"met": 9, "passed": 8, "passed_at_once": 8, "failed": 1, "unknown": 0, "attempts": 1.0, "seconds": 5.0}
    funnel = {
        "arrived": 9, "agreed": 9, "by_questions": 0, "rated": 8, "minutes_before_rating": 1.0,
        "checks": [
            {"check": "screen", "title": "Resolution of the screen", "action": "gate", "turned_away": 1, **row},
            {"check": "network", "title": "Speed of the network", "action": "warn", "turned_away": 0, **row},
            {"check": "colour", "title": "Colour vision", "action": "gate", "turned_away": 0, **row},
        ],
    }  # fmt: skip
    rule = {"check": "variance", "title": "Spread of the answers", "words": "Answers vary by 0.15 or more.",
            "action": "flag", "alone": 4, "ratings": 0, **row}  # fmt: skip
    change_account(study, lambda account: account.update(qualification=funnel, trust=[rule]))
    paragraphs = {one.title: one.text for one in methods(told(study))}
    assert (
        "Before rating they had to pass: resolution of the screen (at least 1280 by 720 pixels, 1 turned away) and "
        "colour vision. Also looked at: speed of the network (40 Mbit/s)."
    ) in paragraphs["Apparatus"]
    assert paragraphs["Quality control"] == (
        "Sessions were judged by rules set in the study. Spread of the answers: answers vary by 0.15 or more (1 of 9 "
        "sessions failed)."
    )


def test_the_methods_tell_single_ratings_that_are_left_out_and_who_withdrew(tmp_path: Path) -> None:
    study = cleaning.make_study(tmp_path)
    tables = cleaning.store(study)
    for name in ("one", "two", "three"):
        cleaning.add(tables, name)
    cleaning.add(tables, "gone", outcome="withdrawn")
    tables["answers"][0]["playback"]["s1"] |= {"coverage": 0.2}
    clean_tables(study, tables)
    (text,) = (one.text for one in methods(told(study)) if one.title == "Participants")
    assert (
        "1 session was left out: withdrew, answers erased (1). Of the sessions that are used, 1 rating was left" in text
    )
    assert "left out singly (stimulus not watched as asked). 3 participants with 29 ratings are analysed." in text


def test_a_bonus_is_told_as_the_study_has_it(tmp_path: Path) -> None:
    bonus = {"quantity": {"sessions": 4, "each": "0.10 GBP"}, "quality": {"best": 20, "each": "0.15 GBP"}}
    text = plain_text(methods(told(made_up(tmp_path, SPREAD, participants=3, clean={"bonus": bonus}))))
    assert "From 4 accepted sessions on there was a bonus of 0.10 GBP for each of them." in text
    assert "The 20 % who agreed best with the others had a bonus of 0.15 GBP for each accepted session." in text


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


def test_special_characters_and_other_scripts_survive_in_every_format(tmp_path: Path) -> None:
    conditions = [{"name": "a", "label": "50 % & $x_1$ \\cite{x} #1"}, {"name": "Größe 2"}, {"name": "no"}]
    asked = [{"id": "q", "text": "Wie *gut* <b>ist</b> [es]? 好", "scale": "cont100"}]
    quality = {"a": 80.0, "Größe 2": 60.0, "no": 40.0}
    material = told(made_up(tmp_path, quality, participants=6, conditions=conditions, questions=asked))
    files = methods_files(material, methods(material))
    assert r"50 \% \& \$x\_1\$ \textbackslash{}cite\{x\} \#1, Größe 2 and no" in files["methods.tex"]
    assert (
        r"“Wie {*}gut{*} \textless{}b\textgreater{}ist\textless{}/b\textgreater{} {[}es]? 好”" in files["methods.tex"]
    )
    assert r"“Wie \*gut\* \<b\>ist\</b\> \[es\]? 好”" in files["methods.md"]
    assert "<b>ist</b>" not in page(material, defaultdict(Markup), [])


def test_sentences_cite_before_their_full_stop_in_every_format() -> None:
    told = [
        Paragraph(
            "Tests",
            [Sentence("p was corrected", ("holm1979", "cameron2011")), Sentence("“Why?”"), Sentence("Why not?")],
        )
    ]
    assert plain_text(told) == "Tests. p was corrected (Holm, 1979; Cameron et al., 2011). “Why?”. Why not?\n"
    assert markdown_methods(told).endswith("**Tests.** p was corrected [@holm1979; @cameron2011]. “Why?”. Why not?\n")
    assert latex_methods(told).endswith(
        "\\paragraph{Tests.} p was corrected~\\cite{holm1979,cameron2011}. “Why?”. Why not?\n"
    )


CITING: Sequence[tuple[str, str, Mapping[Any, Value]]] = [
    ("score", "mushra", {"a": around(80), "b": around(50)}),
    ("score", "parallel", {"a": around(80), "b": around(50)}),
    ("diff", "ccr", {("a", "b"): around(1)}),
    ("choice", "pair", {("a", "b"): lambda who, what: (who + what) % 3 - 1, ("b", "c"): flat(1)}),
    ("correct", "abx", {("a", "b"): lambda who, what: float((who + what) % 2)}),
]


@pytest.mark.parametrize(("kind", "method", "values"), CITING)
def test_every_source_that_an_analysis_cites_is_known_and_in_the_bibliography(
    tmp_path: Path, kind: str, method: str, values: Mapping[Any, Value]
) -> None:
    material = rated(tmp_path, values, kind=kind, method=method, people=8, contents=4)
    files = methods_files(material, methods(material))
    for analysis in material.results.notes["analyses"].values():
        for citation in filter(None, analysis["citation"].split("; ")):
            source = find_source(citation)
            assert source is not None, citation
            assert f"{{{source.key},\n" in files["sources.bib"]
    cited = {key for keys in re.findall(r"\\cite\{([^}]*)\}", files["methods.tex"]) for key in keys.split(",")}
    assert cited
    assert cited <= set(re.findall(r"^@\w+\{([^,]+),$", files["sources.bib"], re.MULTILINE))


def test_every_entry_is_whole() -> None:
    text = bibtex(SOURCES.values())
    assert text.count("{") == text.count("}")
    for source in SOURCES.values():
        assert {"author", "title", "year"} <= set(source.fields)
        assert source.short
        assert source.cited
        assert re.fullmatch(r"[a-z0-9-]+", source.key)
        assert "{" not in full_reference(source)
    assert full_reference(SOURCES["cameron2011"]) == (
        "Cameron, A. Colin, Jonah B. Gelbach and Douglas L. Miller (2011). Robust inference with multiway clustering. "
        "Journal of Business & Economic Statistics 29(2), 238–249. doi:10.1198/jbes.2010.07136"
    )
    assert r"journal = {Journal of Business \& Economic Statistics}," in text
