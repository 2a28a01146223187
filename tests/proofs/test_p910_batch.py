"""A synthetic P.910 batch: planted failures are detected, and differences from the P.910 toolkit are listed.

docs/p910-parser.md describes the differences.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beholder.analysis.scores import scores
from beholder.cleaning import Cleaned
from beholder.cleaning.ratings import read_ratings
from beholder.cleaning.tables import clean_tables
from support.data import DATA, ROOT
from support.p910_batch import Batch, Submission, read_batch
from support.p910_facts import batch_study, fact_tables

BATCHES = DATA / "p910"
INPUT, PEER = BATCHES / "input_acr", BATCHES / "acr_B_default_bonus"
PLANTED: Mapping[str, tuple[str, ...]] = {
    "inj_trap": ("trap:wrong",),
    "inj_gold": ("gold:wrong",),
    "inj_straight": ("variance:same_answer",),
    "inj_slow": ("ratio:too_long",),
    "inj_bright2": ("brightness_second:count",),
    "inj_bright_both": ("brightness:count", "brightness_second:count"),
    "inj_plates": ("colour:plates",),
}
"""Our names of the planted failures."""
SECTIONS = {"inj_bright2": "show_setup", "inj_bright_both": "show_setup", "inj_plates": "show_qualification"}
"""Failures that can only be seen where that section of the page was shown."""
BY_CHANCE = {"trap:wrong", "gold:wrong", "agreement:disagrees"}
"""The reasons that detect random raters."""

BONUS = {"quantity": {"sessions": 4, "each": "0.10 USD"}, "quality": {"best": 20, "each": "0.15 USD"}}
PAGE = ROOT / "docs" / "p910-parser.md"


def documented_counts(section: str) -> dict[str, int]:
    """Return the count of each reason in the table of a section of the documentation page."""
    text = PAGE.read_text("utf-8").partition(f"## {section}\n")[2].partition("\n## ")[0]
    lines = [[cell.strip() for cell in line.split("|")[1:3]] for line in text.splitlines() if line.startswith("|")]
    return {why: int(number) for why, number in lines[2:]}


def rows(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        pytest.skip(f"p910/{path.relative_to(BATCHES)} is not in {DATA}; set BEHOLDER_TEST_DATA")
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Decided(NamedTuple):
    """The decisions on a submission: ours, the planted truth, and those of the toolkit."""

    one: Submission
    accept: str
    use: str
    reasons: tuple[str, ...]
    carried: tuple[str, ...]
    """Those of the reasons that come from an earlier session, since this one did not show the section."""
    truth: Mapping[str, str]
    peer: Mapping[str, str] | None


def decisions(cleaned: Cleaned, batch: Batch) -> dict[str, Decided]:
    """Return the decisions on all submissions, by number."""
    sessions = {row["session"]: row for row in rows(cleaned.folder / "sessions.csv")}
    carried: dict[str, list[str]] = {}
    for row in rows(cleaned.folder / "verdicts.csv"):
        if row["verdict"] == "fail" and "from_session" in json.loads(row["evidence"]):
            carried.setdefault(row["session"], []).append(f"{row['check']}:{row['reason']}")
    truth = {row["id"]: row for row in rows(INPUT / "truth_submissions.csv")}
    peer = {row["assignment"]: row for row in rows(PEER / "answers_merged_data_cleaning_report.csv")}
    decided = {}
    for one in batch.submissions:
        row = sessions[one.session]
        reasons = tuple(row["reasons"].split("; ")) if row["reasons"] else ()
        decided[one.id] = Decided(
            one, row["accept"], row["use"], reasons, tuple(carried.get(one.session, ())), truth.get(one.id, {}),
            peer.get(one.assignment),
        )  # fmt: skip
    return decided


@pytest.fixture(scope="module")
def batch() -> Batch:
    if not INPUT.is_dir():
        pytest.skip(f"p910/input_acr is not in {DATA}; set BEHOLDER_TEST_DATA")
    return read_batch(INPUT)


@pytest.fixture(scope="module")
def cleaned(batch: Batch, tmp_path_factory: pytest.TempPathFactory) -> Cleaned:
    study = batch_study(tmp_path_factory.mktemp("p910"), bonus=BONUS)
    return clean_tables(study, fact_tables(study, batch.submissions))


@pytest.fixture(scope="module")
def decided(batch: Batch, cleaned: Cleaned) -> dict[str, Decided]:
    return decisions(cleaned, batch)


# Submissions and codes


def test_a_code_that_two_people_hand_in_belongs_to_the_one_whose_browser_it_is(batch: Batch) -> None:
    (copy,) = batch.copied
    (owner,) = (one for one in batch.submissions if one.row["v_code"] == copy["Answer.v_code"])
    assert (owner.id, owner.worker, copy["WorkerId"]) == ("1", "AYMT0LR5K5E1SQ", "AA0CP89KS41CHO")
    assert {row["Answer.v_code"] for row in batch.unknown} == {"good survey 0", "good survey 1"}


def test_everybody_is_who_they_were_planted_to_be(batch: Batch) -> None:
    workers = {row["id"]: row["worker_amt"] for row in rows(INPUT / "truth_submissions.csv")}
    assert {one.id: one.worker for one in batch.submissions if one.is_whole} == workers
    assert [one.id for one in batch.submissions if not one.is_whole] == ["201", "202"]


# Planted failures


def planted(truth: Mapping[str, str]) -> set[str]:
    """Return the planted reasons of a submission, as far as its page could show them."""
    names = (name for name in PLANTED if truth[name] == "1" and truth.get(SECTIONS.get(name, ""), "1") == "1")
    return {reason for name in names for reason in PLANTED[name]}


def test_every_planted_failure_is_found(decided: dict[str, Decided]) -> None:
    whole = [one for one in decided.values() if one.truth]
    assert len(whole) == 200
    for one in whole:
        assert planted(one.truth) <= set(one.reasons), one.one.id
        if planted(one.truth):
            assert one.use == "false"
    counts = Counter(name for one in whole for name in PLANTED if one.truth[name] == "1" and planted(one.truth))
    assert min(counts[name] for name in PLANTED) >= 1


def test_a_planted_failure_costs_the_pay_only_where_the_clip_said_what_to_answer(decided: dict[str, Decided]) -> None:
    for one in decided.values():
        if one.truth:
            assert one.accept == ("false" if "trap:wrong" in one.reasons else "true"), one.one.id


def test_nothing_else_is_found_but_what_is_named(decided: dict[str, Decided]) -> None:
    others = Counter[str]()
    for one in decided.values():
        if not one.truth:
            continue
        left = set(one.reasons) - planted(one.truth) - set(one.carried)
        if one.truth["inj_random"] == "1":
            left -= BY_CHANCE
        others.update(left)
    assert others == {"quota:over": 2, "agreement:disagrees": 2, "rater:few_used": 73, "rater:mostly_unused": 10}


def test_who_clicks_at_random_is_caught_by_a_trap_a_gold_clip_or_the_others(decided: dict[str, Decided]) -> None:
    random = [one for one in decided.values() if one.truth and one.truth["inj_random"] == "1"]
    missed = [one.one.id for one in random if BY_CHANCE.isdisjoint(one.reasons)]
    assert (len(random), missed) == (13, ["143"])
    # The one that passes by chance belongs to a participant whose other submissions fail.
    assert decided["143"].reasons == ("rater:few_used",)


def test_who_did_not_finish_is_for_a_person_to_look_at(decided: dict[str, Decided]) -> None:
    for number in ("201", "202"):
        assert decided[number][1:4] == ("", "false", ("complete:not_finished",))


# Differences from the toolkit


def why_paid(one: Decided) -> str:
    """Return why a payment differs from that of the toolkit; empty where it does not."""
    if one.peer is None:
        return "not sent off" if not one.one.is_whole else "a code that two people handed in"
    if one.accept == ("true" if one.peer["accept"] == "1" else "false"):
        return ""
    assert (one.accept, one.peer["accept"]) == ("true", "0")
    if "quota:over" in one.reasons:
        return "more sessions than count"
    return "colour plates read wrong" if "colour:plates" in one.reasons else "both matrices counted wrong"


def why_used(one: Decided) -> str:
    """Return why the use of a submission differs from the toolkit; empty where it does not."""
    if one.peer is None or one.use == ("true" if one.peer["accept_and_use"] == "1" else "false"):
        return ""
    if one.use == "true":
        return "over the quota, held against the rater"
    return "set-up that failed, and was hidden then" if one.carried else "rater, for that set-up"


def count(causes: Iterable[str]) -> dict[str, int]:
    return dict(Counter(cause for cause in causes if cause))


def test_whoever_is_paid_otherwise_than_by_the_peer_is_so_for_a_named_reason(decided: dict[str, Decided]) -> None:
    assert count(map(why_paid, decided.values())) == documented_counts("Who is paid")
    assert not [one for one in decided.values() if one.accept == "false" and one.peer and one.peer["accept"] == "1"]


def test_whoever_is_used_otherwise_than_by_the_peer_is_so_for_a_named_reason(decided: dict[str, Decided]) -> None:
    assert count(map(why_used, decided.values())) == documented_counts("Who is used")
    judged = [one for one in decided.values() if one.peer is not None]
    same = [one for one in judged if not why_paid(one) and not why_used(one)]
    assert (len(same), len(judged)) == (183, 199)


def test_each_rule_that_both_have_finds_the_same_sessions(decided: dict[str, Decided]) -> None:
    for one in decided.values():
        if one.peer is None:
            continue
        assert ("trap:wrong" in one.reasons) == (one.peer["correct_tps"] == "0"), one.one.id
        assert ("gold:wrong" in one.reasons) == (one.peer["correct_gold_question"] == "0")
        assert ("variance:same_answer" in one.reasons) == (float(one.peer["variance_in_ratings"]) < 0.15)
        assert ("ratio:too_long" in one.reasons) == (float(one.peer["percent_over_play_duration"]) > 1.15)
        shapes = {reason for reason in one.reasons if reason.startswith("brightness")} - set(one.carried)
        assert len(shapes) == (2 - int(one.peer["correct_matrix"]) if one.peer["correct_matrix"] else 0)
        plates = "colour:plates" in one.reasons and "colour:plates" not in one.carried
        assert plates == (one.peer["correct_ishihara_plates"] in ("0", "1"))


@pytest.fixture(scope="module")
def peer_clips() -> pd.DataFrame:
    if not PEER.is_dir():
        pytest.skip(f"p910/{PEER.name} is not in {DATA}; set BEHOLDER_TEST_DATA")
    table = pd.read_csv(PEER / "answers_merged_votes_per_clip.csv")
    return table.set_index(table["short_file_name"].str.removesuffix("_v1.mp4"))


def by_clip(ratings: pd.DataFrame) -> pd.DataFrame:
    table = scores(ratings).table
    return table.set_index(table["content"] + "_" + table["condition"])


def test_on_the_same_votes_every_score_is_that_of_the_peer_and_the_interval_is_students(
    cleaned: Cleaned, decided: dict[str, Decided], peer_clips: pd.DataFrame
) -> None:
    voted = {(row["workerid"], row["HITId"]) for row in rows(PEER / "answers_merged_votes_per_worker.csv")}
    theirs = {
        one.one.session
        for one in decided.values()
        if one.peer is not None and (one.peer["worker_id"], one.peer["HITId"]) in voted
    }
    assert len(theirs) == 121  # one more than it says are used: a session over the quota
    assert sum(one.peer is not None and one.peer["accept_and_use"] == "1" for one in decided.values()) == 120
    ratings = read_ratings(cleaned.folder / "ratings.csv")
    ours = by_clip(ratings.assign(use=ratings["session"].isin(theirs))).loc[peer_clips.index]
    assert len(ours) == 60
    assert (ours["n"] == peer_clips["n"]).all()
    np.testing.assert_allclose(ours["mean"], peer_clips["MOS"], atol=1e-9)
    np.testing.assert_allclose(ours["sd"], peer_clips["std"], atol=1e-9)
    # No interval leaves the scale: where it was cut at one end, the other tells how wide it is.
    half = np.maximum(ours["ci_high"] - ours["mean"], ours["mean"] - ours["ci_low"])
    wider = stats.t.ppf(0.975, peer_clips["n"] - 1) / 1.96
    np.testing.assert_allclose(half, peer_clips["95%CI"] * wider, atol=1e-9)
    assert 1.06 < wider.min() <= wider.max() < 1.07


def test_our_scores_are_near_those_of_the_peer(cleaned: Cleaned, peer_clips: pd.DataFrame) -> None:
    ratings = read_ratings(cleaned.folder / "ratings.csv")
    ours = by_clip(ratings).loc[peer_clips.index]
    apart = (ours["mean"] - peer_clips["MOS"]).abs()
    assert (round(apart.mean(), 2), round(apart.max(), 2)) == (0.04, 0.11)
    assert round(ours["mean"].corr(peer_clips["MOS"]), 3) == 0.999
    truth = pd.read_csv(INPUT / "truth_clips.csv").set_index("file_url")["expected_mos_good_rater"]
    planted = truth.loc[peer_clips["file_url"]].to_numpy()
    everybody = by_clip(ratings.assign(use=True)).loc[peer_clips.index]
    estimates = (ours["mean"], peer_clips["MOS"], everybody["mean"])
    off = [round(float(np.sqrt(np.mean((means - planted) ** 2))), 2) for means in estimates]
    assert off == [0.15, 0.15, 0.19]


def test_the_peer_correlates_raters_with_means_that_hold_their_own_votes() -> None:
    votes = pd.DataFrame(rows(PEER / "answers_merged_votes_per_worker.csv")).astype({"vote": float})
    clip = votes.groupby("file")["vote"]
    votes = votes.assign(mean=clip.transform("mean"), n=clip.transform("size"))
    votes["others"] = (votes["mean"] * votes["n"] - votes["vote"]) / (votes["n"] - 1)
    peer = {row["workerId"]: float(row["r"]) for row in rows(PEER / "answers_merged_irr_report.csv")}
    without = []
    for worker, own in votes.groupby("workerid"):
        assert own["vote"].corr(own["mean"], method="spearman") == pytest.approx(peer[str(worker)], abs=1e-9)
        without.append(own["vote"].corr(own["others"], method="spearman"))
    assert [round(fmean(some), 3) for some in (peer.values(), without)] == [0.859, 0.845]


def test_whose_sessions_are_hardly_used_is_told_and_is_whom_the_peer_would_block(decided: dict[str, Decided]) -> None:
    hardly = {one.one.worker for one in decided.values() if "rater:mostly_unused" in one.reasons}
    assert hardly == {row["Worker ID"] for row in rows(PEER / "answers_merged_block_list.csv")}


def test_whoever_gets_another_bonus_than_from_the_peer_does_so_for_a_named_reason(cleaned: Cleaned) -> None:
    paid = rows(cleaned.folder / "bonus.csv")
    ours = {row["participant"]: row["sessions"] for row in paid if row["rule"] == "quantity"}
    peer = {row["workerId"]: row["accept"] for row in rows(PEER / "answers_merged_quantity_bonus_report.csv")}
    best = {row["participant"] for row in paid if row["rule"] == "quality"}
    peer_best = {row["workerId"] for row in rows(PEER / "answers_merged_quality_bonus_report.csv")}
    assert set(peer) <= set(ours)
    assert documented_counts("Bonus") == {
        "as in the parser": sum(ours[person] == sessions for person, sessions in peer.items()),
        "more accepted sessions": sum(int(sessions) > int(peer.get(one, 0)) for one, sessions in ours.items()),
        "among the best in both": len(best & peer_best),
        "among the best in the parser alone": len(peer_best - best),
        "among the best with us alone": len(best - peer_best),
    }
    amounts = {row["participant"]: row["amount"] for row in paid if row["rule"] == "quantity"}
    assert amounts["AHNZM4GVIMNKDK"] == "0.50"
    assert len(best) == len(ours) // 5
    assert len(peer_best) == 46 // 5  # of everybody who came


# Cases that this batch lacks


def halve(row: dict[str, str]) -> None:
    """Halve the playing time of every clip."""
    for number in range(1, 13):
        name = f"Answer.video_play_duration_Q{number}"
        row[name] = str(float(row[name]) / 2)


def publish(row: dict[str, str]) -> None:
    """Rename the plates to file names without a number."""
    row.update({f"Input.cv_plate_{place}_url": f"https://media.example.org/{place}.jpg" for place in (3, 4)})
    row["Answer.7_plate3"] = "70"


def try_twice(row: dict[str, str]) -> None:
    """Add a wrong count of the first matrix before the right one."""
    for shape in ("circle", "triangle"):
        right = row[f"Answer.t1_{shape}s"]
        row[f"Answer.matrix_t1_{shape}_history"] = f",{int(right) + 1},{right}"


CHANGES: Mapping[str, Callable[[dict[str, str]], None]] = {"11": halve, "9": publish, "10": try_twice}


@pytest.fixture(scope="module")
def altered(batch: Batch, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Decided]:
    """The batch with three changed sessions that have no failure."""
    submissions = []
    for one in batch.submissions:
        row = dict(one.row)
        CHANGES.get(one.id, dict)(row)
        submissions.append(replace(one, row=row))
    study = batch_study(tmp_path_factory.mktemp("altered"))
    return decisions(clean_tables(study, fact_tables(study, submissions)), batch)


def test_clips_that_played_in_half_their_time_are_not_used(altered: dict[str, Decided]) -> None:
    assert altered["11"][1:4] == ("true", "false", ("ratio:too_short",))


def test_plates_whose_right_answer_nobody_knows_cost_nobody_anything(altered: dict[str, Decided]) -> None:
    assert altered["9"][1:4] == ("true", "true", ())


def test_a_first_matrix_that_was_counted_right_in_the_end_passes(altered: dict[str, Decided]) -> None:
    assert altered["10"][1:4] == ("true", "true", ())
