"""Recruitment, money and retention of a study: all faults at once, each with what would fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.errors import StudyError
from beholder.methods import load_study
from beholder.study.model import Study

HEAD = "beholder: 1\nname: tiny\ntitle: Tiny\nmethod: acr\nstimuli: stimuli\n"


def load(folder: Path, text: str) -> Study:
    (folder / "study.yaml").write_text(HEAD + text, "utf-8")
    return load_study(folder / "study.yaml")


def refusal(folder: Path, text: str) -> list[str]:
    with pytest.raises(StudyError) as caught:
        load(folder, text)
    return [line.split("  ", 1)[1] for line in str(caught.value).splitlines()]


def only(key: str, mode: str, modes: str) -> str:
    return (
        f"recruit.{key} does not go with mode {mode}. Allowed: mode {modes}. Take it out, or change recruit.mode."
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("recruit: {filters: {age: [18, 60]}}", only("filters", "link", "prolific")),
        ("recruit: {stations: 2}", only("stations", "link", "lab")),
        ("recruit: {mode: lab, single_use: true}", only("single_use", "lab", "link or panel")),
        (
            "recruit: {mode: mturk}",
            "recruit.mode is mturk, which closed on 30 September 2026. Allowed: link, panel, lab or prolific. Use "
            "prolific, or panel with any platform that passes an id and takes a code.",
        ),
        ("recruit: {further: submissions}", only("further", "link", "prolific")),
        (
            "recruit: {mode: panel}",
            "recruit.mode is panel, and nothing says who comes. Allowed: recruit.id_parameter, recruit.people, or "
            "both. Name the parameter in which the platform passes the id, or a CSV of those invited.",
        ),
        (
            "recruit: {mode: panel, id_parameter: resume}",
            "recruit.id_parameter is resume, which means something else in our addresses. Allowed: any other name. "
            "Let the platform pass it under another name.",
        ),
        (
            "recruit: {mode: panel, people: people.csv, visit_parameter: visit}",
            "recruit.visit_parameter is visit, and recruit.id_parameter is not written. Allowed: an id of the visit "
            "beside one of the person. Write both, or take it out.",
        ),
        (
            "recruit: {mode: panel, id_parameter: pid, visit_parameter: pid}",
            "recruit.visit_parameter is pid, as is recruit.id_parameter. Allowed: two names. Take it out where the "
            "platform has one id.",
        ),
        (
            "recruit: {mode: panel, id_parameter: pid, single_use: true}",
            "recruit.single_use is true, and there is nobody to write a link for. Allowed: recruit.people beside it. "
            "Write recruit.people, or take it out.",
        ),
        (
            "recruit: {mode: prolific}",
            "recruit.mode is prolific, and recruit.reward is not written. Allowed: recruit.reward, such as 2.00 GBP. "
            "Write what one session earns.",
        ),
        (
            "recruit: {reward: 2.00 GBP}\nbudget: 150 USD",
            "budget is 150.00 USD, and recruit.reward is 2.00 GBP. Allowed: an amount in GBP. "
            "Write all amounts in one currency.",
        ),
        (
            "recruit: {reward: 2.00 GBP, hourly_minimum: 9 EUR}",
            "recruit.hourly_minimum is 9.00 EUR, and recruit.reward is 2.00 GBP. Allowed: an amount in GBP. "
            "Write all amounts in one currency.",
        ),
        (
            "recruit: {reward: 2.00 GBP}\nclean: {bonus: {quantity: {sessions: 2, each: 0.10 USD}}}",
            "clean.bonus.quantity.each is 0.10 USD, and recruit.reward is 2.00 GBP. Allowed: an amount in GBP. "
            "Write all amounts in one currency.",
        ),
        (
            "recruit: {reward: 2.00 GBP, screen_out: 2.00 GBP}",
            "recruit.screen_out is 2.00 GBP, and recruit.reward is 2.00 GBP. Allowed: an amount below 2.00 GBP. "
            "Whoever finishes earns more than who did not fit.",
        ),
        ("recruit: {reward: 2 pounds}", "recruit.reward is 2 pounds. Allowed: an amount above 0 and a currency of "
                                        "three capital letters, such as 0.10 GBP."),
        (
            "recruit: {opens: 2027-02-01, closes: 2027-01-31}",
            "recruit.closes is 2027-01-31, and recruit.opens is 2027-02-01. Allowed: a time after it opens.",
        ),
        ("recruit: {opens: 2027-02-30}", "recruit.opens is 2027-02-30, and there is no such day. "
                                         "Allowed: a day such as 2027-02-28."),
        ("recruit: {opens: 2027-13-01}", "recruit.opens is 2027-13-01, and there is no such day. "
                                         "Allowed: a day such as 2027-12-01."),
        (
            "recruit: {closes: '2027-02-03 25:00Z'}",
            "recruit.closes is 2027-02-03 25:00Z, and there is no such time. "
            "Allowed: a time such as 2027-02-03 09:00+01:00.",
        ),
        ("retention: 2026-02-29", "retention is 2026-02-29, and there is no such day. "
                                  "Allowed: a day such as 2026-02-28."),
        (
            "retention: {identity: 2027-06-01, answers: 2027-01-01}",
            "retention.answers is 2027-01-01, and retention.identity is 2027-06-01. Allowed: 2027-06-01 or later. "
            "Who is forgotten has no answers to keep a name for.",
        ),
        (
            "recruit: {minutes: 30, time_limit: 20 min}",
            "recruit.time_limit is 20 min, and people are told that it takes 30 min. Allowed: 30 min or more. "
            "Give slow people twice that time, or shorten minutes.",
        ),
        (
            "recruit: {mode: prolific, reward: 2.00 GBP, minutes: 10, time_limit: 20 min}",
            "recruit.time_limit is 20 min, and Prolific asks for 29 min where people are told 10. "
            "Allowed: 29 min or more. Leave it out to take Prolific's own.",
        ),
        (
            "recruit: {mode: prolific, reward: 2.00 GBP, minutes: 10, time_limit: 1 d}",
            "recruit.time_limit is 1 d, and Prolific allows less than a day. Allowed: 29 min to 1439 min.",
        ),
        (
            "recruit: {mode: panel, id_parameter: pid, return_to: {completed: 'http://a.example/'}}",
            "recruit.return_to.completed is http://a.example/. Allowed: an address that begins with https://.",
        ),
        (
            "recruit: {mode: panel, id_parameter: pid, return_to: {completed: 'https://a.example/{codes}'}}",
            "recruit.return_to.completed holds {codes}, which nothing fills in. Allowed: {code} and {id}. "
            "Did you mean code?",
        ),
        (
            "recruit: {mode: panel, id_parameter: pid, codes: {completed: C7, screened_out: C7}}",
            "recruit.codes.screened_out is C7, as is recruit.codes.completed. Allowed: every code once. "
            "A code tells how a session ended: give each outcome its own.",
        ),
        ("recruit: {people: nobody.csv}", "recruit.people is nobody.csv, and there is no such file. "
                                          "Allowed: a CSV with a column id."),
        ("recruit: {block: nobody.txt}", "recruit.block is nobody.txt, and there is no such file. "
                                         "Allowed: a text file with one id a line."),
        ("recruit: {block: latin.txt}", "recruit.block is latin.txt, which is not UTF-8 text. "
                                        "Allowed: a text file with one id a line. Save it as UTF-8."),
        (
            "recruit: {exclude: [../first-study-that-is-not-there]}",
            "recruit.exclude.0 is ../first-study-that-is-not-there, and there is no such folder. "
            "Allowed: the folder of another study, such as ../first-study.",
        ),
        ("recruit: {exclude: [.]}", "recruit.exclude.0 is ., the folder of this study. Allowed: the folder of another "
                                    "study. Nobody begins a study twice anyway."),
        (
            "recruit: {mode: prolific, reward: 2.00 GBP, filters: {age: [60, 18]}}",
            "recruit.filters.age is [60, 18]. Allowed: the lower one first: [18, 60].",
        ),
        ("recruit: {mode: prolific, reward: 2.00 GBP, filters: {age: [16, 60]}}",
         "recruit.filters.age is [16, 60]. Allowed: 18 to 100."),
        ("recruit: {mode: prolific, reward: 2.00 GBP, filters: {approval_rate: 101}}",
         "recruit.filters.approval_rate is 101. Allowed: 0 to 100."),
        ("recruit: {mode: prolific, reward: 2.00 GBP, filters: {approved_submissions: -1}}",
         "recruit.filters.approved_submissions is -1. Allowed: 0 or more."),
        ("recruit: {mode: prolific, reward: 2.00 GBP, filters: {more: {handedness: left}}}",
         "recruit.filters.more.handedness is left. Allowed: a list of values, or a range such as [1, 5]."),
        ("recruit: {mode: mail}", "recruit.mode is mail. Allowed: link, panel, lab or prolific."),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_with_what_would(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "latin.txt").write_text("Größe 2\n", "latin-1")
    (tmp_path / "people.csv").write_text("id\nann\n", "utf-8")
    assert refusal(tmp_path, text) == [message]


def test_everything_is_told_at_once(tmp_path: Path) -> None:
    problems = refusal(
        tmp_path,
        "recruit: {mode: lab, id_parameter: pid, codes: {completed: A, technical: A}, opens: 2027-02-30, stations: 0}\n"
        "budget: none\nretention: {identity: 2027-06-01, answers: 2027-01-01}\n",
    )
    assert len(problems) == 7


def test_what_fits_is_read(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id\nann\n", "utf-8")
    (tmp_path / "first").mkdir()
    for text in (
        "recruit: {mode: link, single_use: true}",
        "recruit: {mode: link, people: people.csv, single_use: true, exclude: [first]}",
        "recruit: {mode: panel, id_parameter: participantId, codes: {completed: C7, screened_out: S2}}",
        "recruit: {mode: panel, people: people.csv, single_use: true, reward: 2 EUR}\nbudget: 100 EUR",
        "recruit: {mode: panel, id_parameter: p, visit_parameter: v, return_to: {completed: 'https://a.example/{id}'}}",
        "recruit: {mode: lab, stations: 4, reward: 10 EUR}",
        "recruit: {mode: prolific, places: 40, minutes: 12, reward: 2.5 GBP, screen_out: 0.3 GBP, "
        "filters: {age: [18, 60], approval_rate: 95, approved_submissions: [10, 900], more: {hand: [1, 2], x: [a]}}}",
        "retention: 2027-01-31\nfamily: voices",
    ):
        load(tmp_path, text)
