"""Cleaning afterwards: thresholds of `clean`, presets, raters as a whole, outlying votes; and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from beholder.checks.contract import SessionEvidence
from beholder.checks.hidden_reference import Postscreen
from beholder.cleaning.tables import clean_tables
from beholder.errors import StudyError
from beholder.methods import load_study
from beholder.methods.contract import Asked, Role, Slot, Trial
from beholder.planning.digest import plan_digest
from beholder.planning.model import PlannedList
from beholder.planning.serialization import list_to_json
from beholder.stimuli.ingestion import load_catalogue
from beholder.study.cleaning import Clean
from beholder.study.model import Study
from beholder.study.presets import CLEAN_PRESETS
from beholder.study.recruitment import Sum, money
from beholder.study.serialization import resolved_yaml
from beholder.testing import write_study
from support.answered_trials import PLAYED, page
from support.cleaning_store import ASKED, QUALITY, add, decided, make_study, rows, store

ASKING = {"trap": True, "gold": True}
HEAD = """beholder: 1
name: cleaned
title: Cleaned
method: acr
stimuli: stimuli
questions: [{id: quality, text: x}]
"""


def read(folder: Path, text: str) -> Study:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "study.yaml"
    path.write_text(HEAD + text, "utf-8")
    return load_study(path)


# Thresholds afterwards


def test_thresholds_change_afterwards_and_the_facts_stay(tmp_path: Path) -> None:
    study = make_study(tmp_path, checks=ASKING)
    tables = store(study)
    add(tables, "good")
    add(tables, "off", gold=1)
    add(tables, "once", obeys=(1, ASKED))
    before = json.dumps(tables, default=str)
    assert decided(clean_tables(study, tables)) == {
        "good": ("true", "true", ""),
        "off": ("true", "false", "gold:wrong"),
        "once": ("true", "false", "trap:wrong"),
    }
    kinder = make_study(tmp_path, checks=ASKING, clean={"use": {"gold": {"max_failed": 1}, "trap": {"max_failed": 1}}})
    assert {use for _, use, _ in decided(clean_tables(kinder, tables)).values()} == {"true"}
    stricter = make_study(tmp_path, checks=ASKING, clean={"use": {"variance": {"min": 3}}})
    assert decided(clean_tables(stricter, tables))["good"] == ("true", "false", "variance:same_answer")
    assert json.dumps(tables, default=str) == before


def test_a_rule_can_be_left_out_only_noted_or_new_in_cleaning_alone(tmp_path: Path) -> None:
    def judged(**clean: Any) -> tuple[str, str, str]:
        study = make_study(tmp_path, checks=ASKING, clean=clean)
        tables = store(study)
        add(tables, "off", gold=1)
        return decided(clean_tables(study, tables))["off"]

    assert judged() == ("true", "false", "gold:wrong")
    assert judged(without=["gold"]) == ("true", "true", "")
    assert judged(use={"gold": False}) == ("true", "true", "")
    assert judged(use={"gold": {"action": "record"}}) == ("true", "true", "gold:wrong")
    assert judged(without=["gold"], use={"speed": {"judgement_s": 60}})[2] == "speed:session"
    assert judged(without=["gold"], use={"speed": True}) == ("true", "true", "")


def test_what_was_not_watched_counts_where_that_rule_is_left_out(tmp_path: Path) -> None:
    def used(**clean: Any) -> int:
        study = make_study(tmp_path, clean=clean)
        tables = store(study)
        add(tables, "skips")
        for answer in tables["answers"]:
            answer["playback"]["s1"] |= {"coverage": 0.2, "furthest_ms": 800}
        return clean_tables(study, tables).counts["used_ratings"]

    assert used() == 0
    assert used(without=["watched"]) == len(QUALITY)


TRIALS = len(QUALITY) + 3
FLAT = dict.fromkeys(QUALITY, 3.0)
TURNED = {content: 6.0 - value for content, value in QUALITY.items()}
FAST = {"sent_ms": PLAYED["ended_ms"] + 100.0}
STALLED, AWAY, JERKY = {"stalled_ms": 5000}, {"away": 3}, {"dropped": 100, "frames": 100}


@pytest.mark.parametrize(
    ("rule", "checks", "threshold", "session", "slots", "before", "after"),
    [
        ("trap", {}, {"max_failed": 1}, {"obeys": (1, ASKED)}, {}, 0, 10),
        ("trap", {}, {"tolerance": 3}, {"obeys": (1, ASKED)}, {}, 0, 10),
        ("gold", {}, {"max_failed": 1}, {"gold": 1}, {}, 0, 10),
        ("gold", {}, {"tolerance": 2}, {"gold": 3}, {}, 0, 10),
        ("gold", {}, {"tolerance": 0}, {"gold": 4}, {}, 10, 0),
        ("variance", {}, {"min": 0}, {"votes": FLAT}, {}, 0, 10),
        ("ratio", {}, {"range": [0.9, 1.4]}, {}, {"whole_ms": 5500}, 0, 10),
        ("ratio", {"range": [0.9, 9]}, {"trial": [0.9, 9]}, {}, {"whole_ms": 6500}, 0, 10),
        ("smooth", {}, {"dropped": 0.6}, {}, JERKY, 0, 10),
        ("smooth", {}, {"stall_s": 9}, {}, STALLED, 0, 10),
        ("focus", {}, {"action": "record"}, {}, AWAY, 0, 10),
        ("speed", {"judgement_s": 0}, {"click_s": 0.05}, {}, FAST, 0, 10),
        ("speed", {}, {"judgement_s": 50}, {}, {}, 10, 0),
        ("agreement", {"action": "flag"}, {"min": -1}, {"votes": TURNED}, {}, 0, 10),
        ("agreement", {"action": "flag"}, {"stimuli": 11}, {"votes": TURNED}, {}, 0, 10),
    ],
)
def test_every_threshold_of_cleaning_decides(
    tmp_path: Path, rule: str, checks: Any, threshold: Any, session: Any, slots: Any, before: int, after: int
) -> None:
    def used(**clean: Any) -> int:
        study = make_study(tmp_path, checks={rule: checks or True}, clean=clean)
        tables = store(study)
        for number in range(4):
            add(tables, f"other{number}")
        add(tables, "one", **session)
        for answer in tables["answers"][-TRIALS:]:
            answer["playback"]["s1"] |= slots
            answer["sent_ms"] = slots.get("sent_ms", answer["sent_ms"])
        return sum(
            row["use"] == "true" for row in rows(clean_tables(study, tables), "ratings") if row["session"] == "one"
        )

    assert (used(), used(use={rule: threshold})) == (before, after)


@pytest.mark.parametrize("rule", ["smooth", "focus"])
@pytest.mark.parametrize("threshold", [{"share": 0.9}, {"max_failed": 9}])
def test_trials_that_failed_cost_a_session_beyond_a_share_and_a_number(
    tmp_path: Path, rule: str, threshold: dict[str, float]
) -> None:
    def used(**clean: Any) -> str:
        study = make_study(tmp_path, checks={rule: True}, clean=clean)
        tables = store(study)
        add(tables, "one")
        for answer in tables["answers"][:5]:
            answer["playback"]["s1"] |= {**STALLED, **AWAY}
        return decided(clean_tables(study, tables))["one"][1]

    assert (used(), used(use={rule: threshold})) == ("false", "true")


def test_a_session_of_which_no_rating_is_left_is_not_used_and_is_paid(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    tables = store(study)
    add(tables, "good")
    add(tables, "skips")
    for answer in tables["answers"][-TRIALS:]:
        answer["playback"]["s1"] |= {"coverage": 0.2}
    cleaned = clean_tables(study, tables)
    assert decided(cleaned)["skips"] == ("true", "false", "watched:not_watched; complete:nothing_left")
    assert (cleaned.counts["used_sessions"], cleaned.counts["used_participants"]) == (1, 1)
    assert {row["reasons"] for row in rows(cleaned, "ratings") if row["session"] == "skips"} == {"watched:not_watched"}
    assert [(lost.label, lost.sessions) for lost in cleaned.lost] == [
        ("Every rating left out by itself", 1), ("Stimulus not watched as asked (single ratings)", 1),
    ]  # fmt: skip


def test_not_to_pay_is_proposed_beyond_as_many_failures_as_the_study_accepts(tmp_path: Path) -> None:
    def accepted(obeys: tuple[float, float], **clean: Any) -> str:
        study = make_study(tmp_path, checks=ASKING, clean=clean)
        tables = store(study)
        add(tables, "one", obeys=obeys)
        return decided(clean_tables(study, tables))["one"][0]

    assert accepted((1, 1)) == "false"
    assert accepted((1, 1), accept={"trap": {"max_failed": 2}}) == "true"
    assert accepted((1, ASKED)) == "true"
    assert accepted((1, ASKED), accept={"trap": {"max_failed": 0}}) == ""  # one was answered as asked: a person looks


def test_nothing_of_it_changes_the_plan(tmp_path: Path, tiny: Path) -> None:
    checks = {"variance": True, "attention": {"per_session": 1}}
    bare = load_study(write_study(tmp_path / "bare", tiny, checks=checks))
    clean = {
        "preset": "p910", "accept": {"attention": {"max_failed": 2}}, "use": {"attention": {"tolerance": 10}},
        "outliers": True, "without": ["quota"], "bonus": {"quantity": {"sessions": 2, "each": "0.10 GBP"}},
    }  # fmt: skip
    judged = load_study(write_study(tmp_path / "judged", tiny, checks=checks, clean=clean))
    assert judged.clean != bare.clean
    assert judged.checks == bare.checks
    assert plan_digest(judged, load_catalogue(judged)) == plan_digest(bare, load_catalogue(bare))


# Presets


def test_a_preset_fills_what_is_written_neither_in_clean_nor_in_checks(tmp_path: Path) -> None:
    study = read(
        tmp_path,
        "checks: {variance: {min: 0.3}, focus: false}\nclean: {preset: p910, use: {ratio: {trial: [0.9, 2]}}, "
        "without: [smooth]}\n",
    )
    rules = study.clean.rules(study.checks)
    assert study.checks.rule("ratio") is None  # nobody meets anything new
    assert {name: rules.rule(name) is not None for name in ("focus", "smooth", "speed", "trap")} == {
        "focus": False, "smooth": False, "speed": True, "trap": False,
    }  # fmt: skip
    assert rules.model_dump()["variance"] == {"action": "flag", "min": 0.3, "share": 0.5}
    assert rules.model_dump()["ratio"]["range"] == (0.95, 1.15)
    assert rules.model_dump()["ratio"]["trial"] == (0.9, 2)
    assert rules.model_dump()["agreement"]["min"] == 0.3
    assert study.clean.raters is not None


@pytest.mark.parametrize("name", CLEAN_PRESETS)
@pytest.mark.parametrize("of_study", ["none", "hemvip", "p910", "mushra"])
def test_a_study_with_a_preset_for_cleaning_can_be_written_out_and_read_again(
    tmp_path: Path, name: str, of_study: str
) -> None:
    study = read(tmp_path, f"preset: {of_study}\nclean: {{preset: {name}, rater: {{min_used: 0.5}}}}\n")
    again = tmp_path / "again"
    again.mkdir()
    (again / "study.yaml").write_text(resolved_yaml(study), "utf-8")
    assert load_study(again / "study.yaml").model_dump() == study.model_dump()


def test_the_rule_over_raters_is_on_in_p910_and_off_elsewhere(tmp_path: Path) -> None:
    for text, is_on in {
        "": False, "preset: p910": True, "preset: hemvip": False, "clean: {preset: p910}": True,
        "preset: p910\nclean: {preset: none}": False, "preset: p910\nclean: {rater: false}": False,
    }.items():  # fmt: skip
        assert (read(tmp_path, text + "\n").clean.raters is not None) is is_on, text


# Raters as a whole


def test_whoever_has_too_few_sessions_in_use_is_not_used_at_all(tmp_path: Path) -> None:
    study = make_study(tmp_path, checks=ASKING | {"quota": {"sessions": 9}}, clean={"rater": True})
    tables = store(study)
    add(tables, "a1", person="a")
    add(tables, "a2", person="a", gold=1)  # one of two: 50 %
    for number in range(5):
        add(tables, f"b{number}", person="b", gold=5 if number < 3 else 1)  # three of five: 60 %
    add(tables, "c1", person="c", gold=1)  # one session says nothing about a person
    add(tables, "d1", person="d", outcome=None)
    add(tables, "d2", person="d")  # what was not finished is no failure
    cleaned = clean_tables(study, tables)
    found = decided(cleaned)
    assert found["a1"] == ("true", "false", "rater:few_used")
    assert found["a2"] == ("true", "false", "gold:wrong; rater:few_used")
    assert [found[f"b{number}"][1] for number in range(5)] == ["true", "true", "true", "false", "false"]
    assert found["c1"] == ("true", "false", "gold:wrong")
    assert found["d2"] == ("true", "true", "")
    assert {row["reasons"] for row in rows(cleaned, "ratings") if row["session"] == "a1"} == {"rater:few_used"}
    assert {row["use"] for row in rows(cleaned, "ratings") if row["participant"] == "a"} == {"false"}
    verdicts = {row["session"]: row for row in rows(cleaned, "verdicts") if row["check"] == "rater"}
    assert (verdicts["a1"]["measured"], verdicts["a1"]["needed"]) == ("0.5", "0.6")
    assert (verdicts["c1"]["verdict"], verdicts["c1"]["reason"]) == ("unknown", "not_met")
    assert cleaned.counts["few_used_raters"] == 1
    (lost,) = [lost for lost in cleaned.lost if lost.rule == "rater"]
    assert (lost.words, lost.sessions, lost.only) == ("Too few of this person's sessions are used", 2, 1)


def test_whoever_has_hardly_any_session_in_use_is_told_of(tmp_path: Path) -> None:
    study = make_study(tmp_path, checks=ASKING | {"quota": {"sessions": 9}}, clean={"rater": {"min_used": 0}})
    tables = store(study)
    for number in range(6):
        add(tables, f"s{number}", person="a", gold=1 if number else 5)
    cleaned = clean_tables(study, tables)
    assert decided(cleaned)["s0"] == ("true", "true", "rater:mostly_unused")  # told, and costs nothing
    assert cleaned.counts["mostly_unused_raters"] == 1
    page = (cleaned.folder / "account.md").read_text("utf-8")
    assert "1 person has hardly any session in use by the other rules." in page.splitlines()


def test_sessions_over_the_quota_do_not_count_against_a_person(tmp_path: Path) -> None:
    study = make_study(tmp_path, clean={"rater": True})
    tables = store(study)
    for name in ("first", "second", "third"):
        add(tables, name, person="a")
    assert decided(clean_tables(study, tables)) == {
        "first": ("true", "true", ""),
        "second": ("true", "false", "quota:over"),
        "third": ("true", "false", "quota:over"),
    }


# Votes


def test_outlying_votes_are_left_out_once_and_only_when_asked_for(tmp_path: Path) -> None:
    def lost(people: int, **clean: Any) -> list[tuple[str, str]]:
        study = make_study(tmp_path, clean=clean)
        tables = store(study)
        for place in range(people):
            add(tables, f"s{place}", votes={"c01": 1 + place % 2})
        add(tables, "far", votes={"c01": 5, "c02": 5})
        found = rows(clean_tables(study, tables), "ratings")
        return [(row["session"], row["content"]) for row in found if row["reasons"] == "outliers:far"]

    assert lost(9, outliers=True) == [("far", "c01")]  # of c02 all others say the same, which gives no range
    assert lost(9) == []
    assert lost(4, outliers=True) == []
    assert lost(9, outliers=True, use={"variance": {"min": 20}}) == []  # nobody is used, so nothing is far from others


# Post-screening


def anchored(*anchors: float) -> SessionEvidence:
    """Return a session that finds the reference on every page, and gives the anchor these values."""
    seen = tuple(
        page([95, value, 50], key=f"trial:{n}", roles=("hidden_reference", "anchor", "test"), method="mushra",
             draws={"layout": "turns"})
        for n, value in enumerate(anchors, 1)
    )  # fmt: skip
    return SessionEvidence("completed", "whole", trials=seen)


def test_a_content_whose_anchor_fools_many_spares_everybody() -> None:
    rule = Postscreen(Postscreen.Options())
    said = rule.judge(anchored(95, 95, 20, 20))
    assert (said.verdict, said.reason) == ("fail", "anchor")
    evidence = anchored(95, 95, 20, 20)
    spared = frozenset({("content", "quality")})
    assert (
        rule.judge(SessionEvidence("completed", "whole", trials=evidence.trials, ignored_pages=spared)).verdict
        == "pass"
    )


def test_an_anchor_that_fools_a_quarter_of_the_people_costs_nobody_their_session(tmp_path: Path) -> None:
    def failed(fooled: int, people: int) -> list[str]:
        study = make_study(
            tmp_path, method="mushra", checks={"postscreen": True, "variance": False},
            questions=[{"id": "quality", "text": "?", "scale": "cont100"}],
        )  # fmt: skip
        tables = store(study, lists=0)
        (asked,) = (Asked("q1", q.id, "ask", q.text, q.scale) for q in study.questions)
        roles: tuple[Role, ...] = ("hidden_reference", "anchor", "test")
        slots = tuple(Slot(f"s{n}", f"{role}/c01", role, None, True, None) for n, role in enumerate(roles, 1))
        trial = Trial("trial:1", "c01", "rate", slots, (asked,), {"layout": "turns"})
        tables["lists"].append({"plan_digest": "p1", "list": 1, "trials": list_to_json(PlannedList(1, (trial,)))})
        tables["stimuli"] += [
            {"digest": "d1", "stimulus": slot.stimulus, "content": "c01", "condition": slot.role, "role": slot.role,
             "medium": "audio", "sha256": "", "probe": {"duration_ms": 4000}, "factors": {}}
            for slot in slots
        ]  # fmt: skip
        for place in range(people):
            add(tables, f"s{place}")
            tables["answers"] = [row for row in tables["answers"] if row["key"] == "trial:1"]
            tables["answers"][-1] |= {
                "answer": {"scores": {"q1": {"s1": 95, "s2": 95 if place < fooled else 40, "s3": 60}}},
                "playback": {slot.id: dict(PLAYED) for slot in slots},
            }
        return [name for name, (_, _, why) in decided(clean_tables(study, tables)).items() if why]

    assert failed(2, 8) == ["s0", "s1"]  # a quarter, and not more
    assert failed(3, 8) == []
    assert failed(1, 2) == ["s0"]  # one alone spares nobody


# What is refused

RULES = (
    "attention, trap, gold, trap_item, repeat, variance, ratio, smooth, focus, speed, automation, agreement, "
    "consistency, stuffing, copied, side_pattern, postscreen, expertise"
)
MONEY = "an amount above 0 and a currency of three capital letters, such as 0.10 GBP"


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("clean: {preset: p808}", "clean.preset is p808. Allowed: none, hemvip, p910 or mushra."),
        ("clean: {use: {golds: true}}",
         "clean.use.golds is not a known key. Did you mean gold?"),
        ("clean: {use: {gold: {max_failed: 0}}}",
         "clean.use.gold judges by what nobody meets: checks.gold is off. Allowed: rules that the study has. Switch "
         "checks.gold on before people come, or take this out."),
        ("clean: {accept: {trap: {max_failed: 0}}}",
         "clean.accept.trap judges by what nobody meets: checks.trap is off. Allowed: rules that the study has. Switch "
         "checks.trap on before people come, or take this out."),
        ("clean: {accept: {gold: {max_failed: 0}}}",
         "clean.accept.gold is not a known key. Allowed: attention and trap. It is a key of checks."),
        ("checks: {trap: {max_failed: 2}}\nclean: {accept: {trap: {max_failed: 1}}}",
         "clean.accept.trap.max_failed is 1, below the 2 with which a session is used. Allowed: 2 or more. Who is used "
         "is paid."),
        ("clean: {use: {variance: {min: -1}}}", "clean.use.variance.min is -1. Allowed: a number, 0 or more."),
        ("clean: {use: {ratio: {range: [2, 1]}}}", "clean.use.ratio.range is 2, 1. Allowed: the lower number first."),
        ("clean: {use: {speed: yes}}",
         "clean.use.speed is yes. Allowed: true or false, or a map with the keys action, max_failed, share, click_s, "
         "slider_s and judgement_s. Write true."),
        ("clean: {without: [golds]}",
         f"clean.without.0 is golds, which is not a rule. Allowed: {RULES}, quota or watched. Did you mean gold?"),
        ("clean: {without: [gold]}",
         "clean.without.0 is gold, which this study does not have. Allowed: variance, ratio, smooth, focus, speed, "
         "automation, agreement, consistency, stuffing, copied, side_pattern, postscreen, expertise, quota or watched. "
         "Take it out."),
        ("clean: {without: [ratio], use: {ratio: true}}",
         "clean.without.0 is ratio, and clean.use.ratio is written. Allowed: one of the two. Take one out."),
        ("clean: {rater: {min_used: 60}}", "clean.rater.min_used is 60. Allowed: a number, 0 to 1."),
        ("clean: {outliers: 1.5}", "clean.outliers is 1.5. Allowed: true or false."),
        ("clean: {bonus: {}}", "clean.bonus names neither quantity nor quality. Allowed: one of the two, or both."),
        ("clean: {bonus: {quantity: {sessions: 4}}}", f"clean.bonus.quantity.each is missing. Allowed: {MONEY}."),
        ("clean: {bonus: {quantity: {sessions: 4, each: 0.125 GBP}}}",
         f"clean.bonus.quantity.each is 0.125 GBP. Allowed: {MONEY}."),
        ("clean: {bonus: {quantity: {sessions: 4, each: 0.00 GBP}}}",
         f"clean.bonus.quantity.each is 0.00 GBP. Allowed: {MONEY}."),
        ("clean: {bonus: {quality: {best: 120, each: 0.15 GBP}}}",
         "clean.bonus.quality.best is 120. Allowed: a number above 0, 100 or less."),
        ("clean: {bonus: {quantity: {sessions: 4, each: 0.10 GBP}, quality: {best: 20, each: 0.15 EUR}}}",
         "clean.bonus.quality.each is in EUR, and that of quantity in GBP. Allowed: one currency."),
    ],
)  # fmt: skip
def test_a_problem_of_cleaning_says_what_is_wrong_and_what_is_allowed(
    tmp_path: Path, written: str, message: str
) -> None:
    with pytest.raises(StudyError) as refused:
        read(tmp_path, written + "\n")
    (line,) = str(refused.value).splitlines()
    assert line == f"study.yaml:{7 + written.count(chr(10))}  {message}"


def test_all_problems_of_cleaning_are_told_at_once_with_their_lines(tmp_path: Path) -> None:
    text = "clean:\n  preset: p911\n  rater:\n    sessions: 0\n  without:\n    - nobody\n  outliers: maybe\n"
    with pytest.raises(StudyError) as refused:
        read(tmp_path, text)
    assert [line.split("  ")[0] for line in str(refused.value).splitlines()] == [
        "study.yaml:8", "study.yaml:10", "study.yaml:12", "study.yaml:13",
    ]  # fmt: skip


def test_money_is_exact() -> None:
    assert money("0.10 GBP") == Sum(10, "GBP")
    assert money("150 EUR") == Sum(15_000, "EUR")
    assert str(Sum(3 * money("0.10 GBP").minor, "GBP")) == "0.30 GBP"


def test_a_study_without_it_judges_by_its_checks(tmp_path: Path) -> None:
    study = make_study(tmp_path, checks=ASKING)
    assert Clean().rules(study.checks) == study.checks
