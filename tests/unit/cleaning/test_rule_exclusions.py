"""What clean makes of the rules: who is paid, who is used, which ratings are left out, and what is told of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from beholder.checks.agreement import Agreement
from beholder.checks.contract import Verdict
from beholder.checks.known_answers import Attention, Trap
from beholder.checks.registry import may_refuse, rule_sentence, rules
from beholder.cleaning import Cleaned
from beholder.cleaning.decisions import decide, reason_words
from beholder.cleaning.tables import clean_tables
from beholder.methods import find
from beholder.methods.contract import Asked, Slot, Target, Trial
from beholder.planning.model import PlannedList
from beholder.planning.serialization import list_to_json
from beholder.study.model import Study, installed_study_model
from beholder.study.recruitment import Mode, source_of
from beholder.study.serialization import resolved_yaml
from beholder.types import Outcome
from support.answered_trials import PLAYED
from support.cleaning_store import decided, rows
from support.report_pages import SPREAD, Page, change_account, made_up, read_undrawn

Tables = dict[str, list[dict[str, Any]]]
START = datetime(2026, 11, 15, 9, tzinfo=UTC)
CONTENTS = ("city", "park", "lake", "road")
ASKED = 37
QUALITIES = (20, 40, 60, 80)


def make_study(folder: Path, **checks: Any) -> Study:
    study = installed_study_model().model_validate(
        {
            "beholder": 1, "name": "trusted", "title": "Trusted", "method": "parallel", "stimuli": "stimuli",
            "questions": [{"id": "quality", "text": "How good?", "scale": "cont100"}], "checks": checks,
        }
    )  # fmt: skip
    study._folder = folder
    return study


def store(study: Study) -> Tables:
    """Return a store nobody has visited: four pages of four sliders, on two of which the last one asks for 37."""
    asked = tuple(
        Asked(f"q{n}", q.id, "ask", q.text, q.scale) for n, q in enumerate(find(study.method).questions(study), 1)
    )
    trials = []
    for place, content in enumerate(CONTENTS):
        slots = [Slot(f"s{n}", f"c{n}/{content}", "test", "A", True, None) for n in range(1, 5)]
        targets = {}
        if place % 2:
            slots[3] = slots[3]._replace(role="attention")
            targets["q1.s4"] = Target(ASKED, 3, "", is_trap=True)
        trials.append(Trial(f"trial:{place + 1}", content, "rate", tuple(slots), asked, {"layout": "turns"}, targets))
    names = [f"c{n}/{content}" for n in range(1, 5) for content in CONTENTS]
    stimuli = [
        {
            "digest": "d1", "stimulus": name, "content": name[3:], "condition": name[:2], "role": "test",
            "medium": "video", "sha256": "", "probe": {"duration_ms": 4000}, "factors": {},
        }
        for name in names
    ]  # fmt: skip
    return {
        "studies": [{"digest": "d1", "plan_digest": "p1", "study": study.name, "yaml": resolved_yaml(study)}],
        "stimuli": stimuli,
        "lists": [{"plan_digest": "p1", "list": 1, "trials": list_to_json(PlannedList(1, tuple(trials)))}],
        **{name: [] for name in ("sessions", "claims", "answers", "ends", "erasures")},
    }


def add(
    tables: Tables,
    name: str,
    *,
    person: str = "",
    scores: Iterable[float] = QUALITIES,
    obeys: tuple[float, float] = (ASKED, ASKED),
    pages: int = 4,
    played: Mapping[str, Mapping[str, Any]] | None = None,
    outcome: Outcome | None = "completed",
    mode: Mode = "link",
    seconds: float = 40,
    minutes: float = 20,
) -> None:
    """Add a session that gives these scores on each page; `played` is by `page.slot`, as `2.s1`."""
    at = START + timedelta(hours=len(tables["sessions"]))
    row = {"session": name, "participant": person or f"p-{name}", "digest": "d1", "run": 1, "mode": mode, "visit": 1}
    tables["sessions"].append(row | {"device": {}, "at": at})
    tables["claims"].append({"session": name, "list": 1, "at": at})
    for number in range(1, pages + 1):
        given = {f"s{n}": score for n, score in enumerate(scores, 1)}
        if number % 2 == 0:
            given["s4"] = obeys[number // 2 - 1]
        playback = {slot: {**PLAYED, **(played or {}).get(f"{number}.{slot}", {})} for slot in given}
        tables["answers"].append(
            {
                "session": name, "key": f"trial:{number}", "answer": {"scores": {"q1": given}}, "playback": playback,
                "shown_ms": 0.0, "sent_ms": 1000 * seconds, "input": "mouse", "tab": "t",
                "at": at + timedelta(minutes=number),
            }
        )  # fmt: skip
    if outcome:
        end = {"session": name, "outcome": outcome, "reason": "", "code": "", "receipt": ""}
        tables["ends"].append(end | {"at": at + timedelta(minutes=minutes)})


def account(cleaned: Cleaned) -> Any:
    return json.loads((cleaned.folder / "account.json").read_text("utf-8"))


# Pay


def test_one_missed_attention_check_costs_the_use_and_two_are_a_reason_to_look_at_the_pay(tmp_path: Path) -> None:
    study = make_study(tmp_path, attention=True)
    tables = store(study)
    add(tables, "good")
    add(tables, "once", obeys=(80, ASKED))
    add(tables, "twice", obeys=(80, 80))
    add(tables, "ended", obeys=(80, 80), outcome="failed_checks")
    add(tables, "left", obeys=(80, 80), outcome=None)
    assert decided(clean_tables(study, tables)) == {
        "good": ("true", "true", ""),
        "once": ("true", "false", "attention:wrong"),
        "twice": ("false", "false", "attention:wrong"),
        "ended": ("false", "false", "attention:wrong"),
        "left": ("", "false", "complete:not_finished; attention:wrong"),
    }


def test_on_a_platform_that_asks_for_two_failures_its_rule_wins_in_a_study_of_more_than_five_minutes(
    tmp_path: Path,
) -> None:
    study = make_study(tmp_path, attention={"reject_after": 1, "end_after": None})
    for minutes, accept in ((20, "true"), (4.5, "")):  # who obeyed once is looked at
        tables = store(study)
        add(tables, "good", mode="prolific", minutes=minutes)
        add(tables, "once", mode="prolific", obeys=(80, ASKED), minutes=minutes)
        assert decided(clean_tables(study, tables))["once"] == (accept, "false", "attention:wrong")


def test_the_kinder_of_study_and_platform_wins() -> None:
    prolific, link = source_of("prolific"), source_of("link")
    assert prolific.fewest_failures(12) == prolific.fewest_failures(None) == 2
    assert prolific.fewest_failures(5) == link.fewest_failures(12) == 1
    assert may_refuse(Attention(Attention.Options(reject_after=1)), 2, "prolific", 12)
    assert not may_refuse(Attention(Attention.Options(reject_after=1)), 1, "prolific", 12)
    assert not may_refuse(Attention(Attention.Options(reject_after=3)), 2, "prolific", 12)
    assert not may_refuse(Trap(Trap.Options(reject_after=None)), 9, "link", 12)


RULES = {rule.name: rule for rule in rules()}


@pytest.mark.parametrize("name", list(RULES))
@pytest.mark.parametrize("outcome", ["completed", "failed_checks"])
def test_only_stimuli_that_ask_are_ever_a_reason_not_to_pay(name: str, outcome: Outcome) -> None:
    rule = RULES[name](RULES[name].Options())
    worst = Verdict(name, 1, "fail", "wrong", 99, 0)
    refused = decide(outcome, [worst], rules=[rule]).accept is False
    assert refused == RULES[name].asks_itself
    for say in ("unknown", "pass"):
        kind = decide(outcome, [Verdict(name, 1, say, "wrong", 99, 0)], rules=[rule])
        assert (kind.accept, kind.use) == (True if outcome == "completed" else None, True)


@pytest.mark.parametrize("outcome", ["technical", "screened_out", "wrong_device", "no_consent", None])
def test_whatever_else_ended_a_session_is_not_held_against_anybody(outcome: Outcome | None) -> None:
    rule = Attention(Attention.Options())
    assert decide(outcome, [Verdict("attention", 1, "fail", "wrong", 9, 0)], rules=[rule]).accept is not False


def test_a_rule_that_is_only_recorded_is_told_and_costs_nothing(tmp_path: Path) -> None:
    study = make_study(tmp_path, attention={"action": "record", "end_after": None})
    tables = store(study)
    add(tables, "twice", obeys=(80, 80))
    assert decided(clean_tables(study, tables)) == {"twice": ("true", "true", "attention:wrong")}


def test_a_session_ended_by_a_check_that_no_longer_fails_says_how_it_ended_and_a_person_looks(tmp_path: Path) -> None:
    study = make_study(tmp_path, attention=False)
    tables = store(study)
    add(tables, "ended", obeys=(80, 80), pages=3, outcome="failed_checks")
    assert decided(clean_tables(study, tables)) == {"ended": ("", "false", "complete:failed_checks")}


# Use


def test_a_stutter_costs_the_rating_of_that_slot_and_nothing_else(tmp_path: Path) -> None:
    study = make_study(tmp_path, smooth={"share": 0.3}, focus={"share": 0.3})
    tables = store(study)
    add(tables, "a", played={"1.s2": {"stalled_ms": 900}, "3.s1": {"away": 1}})
    cleaned = clean_tables(study, tables)
    left_out = [
        (row["position"], row["slot"], row["reasons"]) for row in rows(cleaned, "ratings") if row["use"] == "false"
    ]
    assert left_out == [("1", "s2", "smooth:stalled"), ("3", "s1", "focus:left")]
    assert decided(cleaned) == {"a": ("true", "true", "")}
    assert [
        (one.rule, one.reason, one.words, one.sessions, one.kept, one.ratings, one.costs) for one in cleaned.lost
    ] == [
        ("smooth", "stalled", "Playing stood still", 1, 1, 1, False),
        ("focus", "left", "Window left while a stimulus played", 1, 1, 1, False),
    ]


def test_many_stutters_cost_the_session_and_every_rating_has_both_reasons(tmp_path: Path) -> None:
    study = make_study(tmp_path, smooth=True)
    tables = store(study)
    add(tables, "a", played={f"{page}.s2": {"stalled_ms": 900} for page in (1, 2)})
    cleaned = clean_tables(study, tables)
    assert decided(cleaned) == {"a": ("true", "false", "smooth:often")}
    reasons = {(row["position"], row["slot"]): row["reasons"] for row in rows(cleaned, "ratings")}
    assert (reasons["1", "s2"], reasons["1", "s1"]) == ("smooth:often; smooth:stalled", "smooth:often")


def test_a_trial_that_came_again_counts_by_its_last_answer(tmp_path: Path) -> None:
    study = make_study(tmp_path, smooth={"action": "retry"})
    tables = store(study)
    add(tables, "a", played={"1.s2": {"stalled_ms": 900}})
    first = tables["answers"][0]
    scores = {"s1": 21, "s2": 41, "s3": 61, "s4": 81}
    again = {"key": "trial:1:2", "at": first["at"] + timedelta(seconds=30), "answer": {"scores": {"q1": scores}}}
    tables["answers"].insert(1, first | again | {"playback": dict.fromkeys(scores, PLAYED)})
    cleaned = clean_tables(study, tables)
    page = [row for row in rows(cleaned, "ratings") if row["position"] == "1"]
    assert [(row["value"], row["use"]) for row in page] == [(value, "true") for value in ("21", "41", "61", "81")]
    assert {row["stalled_ms"] for row in rows(cleaned, "playback")} == {"0"}


def test_a_second_session_of_one_person_is_paid_and_not_used(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    tables = store(study)
    add(tables, "away", person="p", outcome=None, pages=1)
    add(tables, "first", person="p")
    add(tables, "second", person="p")
    assert decided(clean_tables(study, tables)) == {
        "away": ("", "false", "complete:not_finished"),
        "first": ("true", "true", ""),
        "second": ("true", "false", "quota:over"),
    }


def test_agreement_is_with_those_who_are_used_and_without_oneself(tmp_path: Path) -> None:
    upside_down = tuple(reversed(QUALITIES))
    study = make_study(tmp_path, agreement={"action": "flag"}, attention=True)
    tables = store(study)
    for name in "abc":
        add(tables, name)
    add(tables, "odd", scores=upside_down)
    for name in "xyz":  # as many who would agree with the odd one, and paid no attention
        add(tables, name, scores=upside_down, obeys=(99, ASKED))
    cleaned = clean_tables(study, tables)
    assert {name: reasons for name, (_, _, reasons) in decided(cleaned).items()} == {
        "a": "", "b": "", "c": "", "odd": "agreement:disagrees",
        **dict.fromkeys("xyz", "attention:wrong; agreement:disagrees"),
    }  # fmt: skip
    assert decided(cleaned)["odd"] == ("true", "false", "agreement:disagrees")
    judged = {row["session"]: row for row in rows(cleaned, "verdicts") if row["check"] == "agreement"}
    assert (judged["a"]["verdict"], judged["a"]["measured"]) == ("pass", "1")


def test_by_default_whoever_disagrees_is_told_and_used(tmp_path: Path) -> None:
    study = make_study(tmp_path, agreement=True)
    tables = store(study)
    for name in "abc":
        add(tables, name)
    add(tables, "odd", scores=tuple(reversed(QUALITIES)))
    assert decided(clean_tables(study, tables))["odd"] == ("true", "true", "agreement:disagrees")


def test_a_session_is_lost_for_one_rule_alone_whatever_else_is_only_noted_of_it(tmp_path: Path) -> None:
    study = make_study(tmp_path, agreement=True, attention=True)
    tables = store(study)
    for name in "abc":
        add(tables, name)
    add(tables, "x", scores=tuple(reversed(QUALITIES)), obeys=(99, ASKED))
    cleaned = clean_tables(study, tables)
    assert decided(cleaned)["x"][2] == "attention:wrong; agreement:disagrees"
    assert {lost.rule: (lost.only, lost.costs) for lost in cleaned.lost} == {
        "attention": (1, True), "agreement": (0, False),
    }  # fmt: skip
    assert next(rule["alone"] for rule in account(cleaned)["trust"] if rule["check"] == "attention") == 1


# Tables and words


def test_checks_csv_says_what_each_rule_saw_in_each_trial(tmp_path: Path) -> None:
    study = make_study(tmp_path, attention=True, focus=True)
    tables = store(study)
    add(tables, "a", obeys=(ASKED, 80))
    found = [
        (row["session"], row["position"], row["check"], row["verdict"], row["reason"], row["measured"], row["needed"])
        for row in rows(clean_tables(study, tables), "checks")
        if row["check"] == "attention"
    ]
    assert found == [
        ("a", "2", "attention", "pass", "", "", '{"q1.s4": [37, 3]}'),
        ("a", "4", "attention", "fail", "wrong", '{"q1.s4": 80}', '{"q1.s4": [37, 3]}'),
    ]


def test_the_account_says_how_sessions_did_by_each_rule_and_what_that_cost(tmp_path: Path) -> None:
    study = make_study(tmp_path, attention=True, smooth={"share": 0.3})
    tables = store(study)
    add(tables, "good", played={"1.s2": {"stalled_ms": 900}})
    add(tables, "once", obeys=(80, ASKED))
    add(tables, "both", obeys=(80, ASKED), scores=(50, 50, 50, 50))
    add(tables, "nothing", pages=0, outcome=None)
    trust = {row["check"]: row for row in account(clean_tables(study, tables))["trust"]}
    assert list(trust) == ["attention", "variance", "smooth", "quota"]
    told = {name: value for name, value in trust["attention"].items() if name not in ("title", "words", "action")}
    assert told == {
        "check": "attention", "met": 3, "passed": 1, "failed": 2, "unknown": 0, "alone": 1, "ratings": 28,
        "asked": 6, "right": 4,
    }  # fmt: skip
    assert (trust["smooth"]["passed"], trust["smooth"]["ratings"], trust["smooth"]["alone"]) == (3, 1, 0)


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("attention:wrong", "Attention checks not answered as asked"),
        ("trap:wrong", "Trapping clips not answered as asked"),
        ("gold:wrong", "Gold stimuli rated far from their known value"),
        ("trap_item:wrong", "Obvious statements answered wrongly"),
        ("repeat:differs", "Repeats answered differently"),
        ("variance:one_column", "One column only on many pages"),
        ("variance:level_sliders", "All sliders level on many pages"),
        ("ratio:short", "Trial played in less time than it lasts"),
        ("ratio:long", "Trial played in much more time than it lasts"),
        ("ratio:too_short", "Session played in less time than it lasts"),
        ("ratio:too_long", "Session played in more time than it lasts"),
        ("smooth:dropped", "Many frames dropped"),
        ("smooth:stalled", "Playing stood still"),
        ("smooth:often", "Playing stuttered in many trials"),
        ("focus:left", "Window left while a stimulus played"),
        ("focus:often", "Window left in many trials"),
        ("speed:too_fast", "Trial answered faster than people can"),
        ("speed:often", "Many trials answered faster than people can"),
        ("speed:session", "Session shorter than what it shows and asks"),
        ("agreement:disagrees", "Disagrees with the others"),
        ("consistency:inconsistent", "Answers scatter much more than is usual"),
        ("postscreen:reference", "Hidden reference rated low too often"),
        ("postscreen:anchor", "Anchor rated high too often"),
        ("expertise:chance", "Versions not told from their hidden reference"),
        ("quota:over", "More sessions than one person may have"),
    ],
)
def test_every_reason_has_words(reason: str, words: str) -> None:
    assert reason_words(reason) == words


@pytest.mark.parametrize(
    ("name", "keys", "words"),
    [
        ("attention", {}, "3 stimuli in a session say themselves which answer to give; none may be missed."),
        ("trap", {"max_failed": 1, "per_session": 2},
         "2 trials in a session ask for a certain answer in the middle of the stimulus; 1 may be missed."),
        ("gold", {}, "The right answer to 1 trial in a session is known; none may be far from it."),
        ("trap_item", {}, "1 statement about each stimulus is obviously true or false; 1 may be answered wrongly."),
        ("repeat", {}, "What comes again gets an answer within a quarter of the scale; of three repeats or more, at "
         "most 33.3 % may not."),
        ("repeat", {"tolerance": 2, "share": 0.5},
         "What comes again gets an answer within 2 of the first; of three repeats or more, at most 50 % may not."),
        ("variance", {}, "Answers vary by 0.15 or more (variance, as on five points), and on fewer than 50 % of the "
         "pages they are all the same."),
        ("ratio", {}, "Playing took 0.95 to 1.15 times as long as planned; a trial outside 0.95 to 1.5 is left out."),
        ("smooth", {}, "At most 10 % of the frames were dropped and nothing stood still for more than 0.5 s; what did "
         "is left out, and the whole session with more than 20 % of its trials."),
        ("focus", {}, "The window was not left while something played; where it was, that is left out, and the whole "
         "session with more than 20 % of its trials."),
        ("speed", {}, "A click took 0.3 s and a slider 0.5 s at least, and a session no less than its stimuli and 1 s "
         "a judgement."),
        ("agreement", {}, "Rank correlation of at least 0.5 with the mean of the others, without one's own votes, over "
         "10 stimuli or more. Only noted."),
        ("consistency", {}, "How far answers scatter round those of the others, bias apart, is at most 2.5 robust "
         "standard deviations above the median of all, on a logarithmic scale, over 8 ratings or more. Only noted."),
        ("postscreen", {}, "The hidden reference is below 90 on at most 15 % of the pages, and an anchor above 90 on "
         "at most 15 %; contents whose anchor fools more than 25 % of the people do not count for that."),
        ("expertise", {}, "A person's grades of versions are below those of the hidden reference, by a one-sided t "
         "test at 5 % over 6 differences or more. Only noted."),
        ("quota", {}, "1 session of one person may be used."),
    ],
)  # fmt: skip
def test_every_rule_says_in_a_sentence_what_it_asks(name: str, keys: dict[str, Any], words: str) -> None:
    assert rule_sentence(RULES[name](RULES[name].Options(**keys))) == words


# Report

TRUST: list[dict[str, Any]] = [
    {"check": "attention", "title": Attention.title, "words": "Three say themselves.", "action": "flag",
     "met": 40, "passed": 37, "failed": 3, "unknown": 0, "alone": 2, "ratings": 48, "asked": 120, "right": 114},
    {"check": "agreement", "title": Agreement.title, "words": "Not upside down.", "action": "record",
     "met": 38, "passed": 30, "failed": 5, "unknown": 3, "alone": 0, "ratings": 0, "median": 0.61, "warn": 0.75},
]  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    study = made_up(tmp_path_factory.mktemp("trusted"), SPREAD, participants=8)
    change_account(study, lambda account: account.update(trust=TRUST))
    return read_undrawn(study)


def test_the_report_tells_whom_we_trusted_rule_by_rule(page: Page) -> None:
    assert "Whom we trusted 2 sessions are lost for one of these rules alone: attention checks (2)." in page.text
    assert "Attention checks Three say themselves. 40 37 3 0 95 % 48 2" in page.text
    assert "Agreement with the others Not upside down. 38 30 5 3 – 0 0" in page.text


def test_the_report_warns_where_people_hardly_agree(page: Page) -> None:
    assert "The median agreement with the others is 0.61, below 0.75." in page.text


@pytest.mark.variant
def test_a_rule_that_cost_nothing_is_said_and_an_account_without_rules_has_no_such_section(tmp_path: Path) -> None:
    study = made_up(tmp_path, SPREAD, participants=8)
    assert "Whom we trusted" not in read_undrawn(study).text
    change_account(
        study, lambda account: account.update(trust=[TRUST[1] | {"median": 0.8, "found": "1 of 9 is left out."}])
    )
    told = read_undrawn(study).text
    assert "No session is lost for one of these rules alone. 1 of 9 is left out." in told
    assert "median agreement" not in told
