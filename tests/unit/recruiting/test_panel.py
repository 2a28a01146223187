"""The panel: the platform's list of submissions is read, and pasted codes are compared with ours."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.errors import RecruitError
from beholder.recruiting.context import recruiter_of
from beholder.recruiting.contract import CodeFinding, Submission
from beholder.recruiting.panel import CODE_REASONS, CodedSession, code_findings, plain_code, read_submissions
from beholder.server.tokens import completion_code
from beholder.types import Outcome
from support.manual_recruiters import MODES, manual_answers, opened
from support.recruit_studies import panel_study


async def test_what_a_panel_cannot_do_is_said_in_words(tmp_path: Path) -> None:
    async with opened(tmp_path, MODES["panel"]) as (study, store):
        people = await recruiter_of(study, store)
        paid = "Pay on the platform, or by hand, whoever is in pay/payments.csv, which `beholder pay` writes."
        listed = "Download the list of submissions from the platform, and run `beholder decide --submissions FILE`."
        assert await manual_answers(people) == {
            "submissions": listed,
            "submission": listed,
            "approve": paid,
            "reject": "Reject it on the platform, by the id and with the message in pay/by_hand.csv.",
            "return": "Ask on the platform for the return, by the id and with the message in pay/by_hand.csv.",
            "setup": paid,
            "bonus": paid,
        }


SECRET = b"s" * 32


def read(folder: Path, text: str, recruit: Mapping[str, Any] | None = None) -> list[Submission]:
    (folder / "list.csv").write_text(text, "utf-8-sig")
    return list(read_submissions(folder / "list.csv", panel_study(folder, recruit)))


def test_columns_go_by_many_names(tmp_path: Path) -> None:
    text = "Time;Worker_ID;Completion Code;Approval status\n1;no; k7-qm ;Submitted\n2;01;;TIMED-OUT\n3;NA;x;odd\n"
    assert read(tmp_path, text) == [
        Submission("no", "no", "awaiting_review", "k7-qm"),
        Submission("01", "01", "timed_out", ""),
        Submission("NA", "NA", "unknown", "x"),
    ]


def test_the_studys_own_names_go_first(tmp_path: Path) -> None:
    text = "id,participantId,assignmentId,code\n1,anna,v1,A\n2,anna,v2,B\n"
    recruit = {"id_parameter": "participantId", "visit_parameter": "assignmentId"}
    assert read(tmp_path, text, recruit) == [
        Submission("v1", "anna", "awaiting_review", "A"),
        Submission("v2", "anna", "awaiting_review", "B"),
    ]


def test_who_goes_back_by_an_address_needs_no_code(tmp_path: Path) -> None:
    recruit = {"id_parameter": "pid", "return_to": {"completed": "https://a.example.org"}}
    assert read(tmp_path, "pid\nanna\n", recruit) == [Submission("anna", "anna", "awaiting_review", "")]


def test_an_empty_list_is_a_list(tmp_path: Path) -> None:
    assert read(tmp_path, "pid,code\n\n") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "particpant,cod\na,b\n",
            "{0}:1  has no column with the person's id. Allowed: pid, participant, participant id, worker, "
            "worker id, person, respondent, respondent id, user id, id. If it is particpant, call it participant.\n"
            "{0}:1  has no column with the code that was pasted. Allowed: code, completion code, entered code, "
            "pasted code, confirmation code, study code. If it is cod, call it code.",
        ),
        (
            "pid,code\n,x\nanna,\nanna,y\n",
            "{0}:2  pid is empty. Allowed: an id in every line.\n"
            "{0}:4  pid is anna, as in line 3. Allowed: every submission once. Keep the line that counts, or set "
            "recruit.visit_parameter and download the ids of the visits too.",
        ),
    ],
)
def test_what_is_wrong_with_a_platforms_list_is_told_at_once(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(RecruitError) as caught:
        read(tmp_path, text)
    assert str(caught.value) == said.format(tmp_path / "list.csv")


def test_a_list_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RecruitError) as caught:
        read_submissions("nowhere.csv", panel_study(tmp_path))
    assert str(caught.value) == ("nowhere.csv  does not exist. Download the list of submissions from the platform.")


def sub(person: str, code: str = "") -> Submission:
    return Submission(person, person, "awaiting_review", code)


def sessions(person: str, code: str = "", outcome: Outcome | None = "completed") -> CodedSession:
    return CodedSession(f"session-{person}", person, "", outcome, code)


def test_a_code_is_right_however_it_was_pasted() -> None:
    ours = [sessions("anna", "K7QM-4XPD")]
    for pasted in ("K7QM-4XPD", " k7qm 4xpd\u200b", "K7QM4XPD.", "\u201ck7qm–4xpd\u201d", "Ｋ７ＱＭ-4XPD"):
        assert code_findings([sub("anna", pasted)], ours) == {"anna": "right"}


@pytest.mark.parametrize(
    ("pasted", "found"),
    [
        ({"anna": "AAAA-AAAA", "ben": "BBBB-BBBB"}, {"anna": "right", "ben": "right"}),
        ({"anna": "AAAA-AAAB", "ben": ""}, {"anna": "wrong", "ben": "missing"}),
        ({"anna": "nocode", "ben": "  "}, {"anna": "missing", "ben": "missing"}),
        # The owner's code is right, in any order.
        ({"ben": "AAAA-AAAA", "anna": "AAAA-AAAA"}, {"ben": "shared", "anna": "right"}),
        ({"ben": "AAAA-AAAA", "anna": ""}, {"ben": "foreign", "anna": "missing"}),
        (
            {"ben": "AAAA-AAAA", "zoe": "aaaaaaaa", "anna": ""},
            {"ben": "shared", "zoe": "shared", "anna": "missing"},
        ),
        # Nothing of zoe is here.
        ({"zoe": "AAAA-AAAA"}, {"zoe": "foreign"}),
        ({"zoe": "x"}, {"zoe": "wrong"}),
        ({"zoe": ""}, {"zoe": "missing"}),
    ],
)
def test_codes_of_sessions(pasted: dict[str, str], found: dict[str, CodeFinding]) -> None:
    ours = [sessions("anna", "AAAA-AAAA"), sessions("ben", "BBBB-BBBB")]
    assert code_findings([sub(*one) for one in pasted.items()], ours) == found


def test_with_one_code_for_all_nobody_knows_who_passed_it_on() -> None:
    codes: dict[Outcome, str] = {"completed": "C7", "screened_out": "S2"}
    ours = [
        sessions("anna", "C7"),
        sessions("ben", "C7"),
        sessions("zoe", "S2", "screened_out"),
        sessions("no", "", None),
    ]
    pasted = [sub("anna", "c7"), sub("ben", "C 7"), sub("zoe", "C7"), sub("no", "C7"), sub("01", "C7")]
    result = {"anna": "right", "ben": "right", "zoe": "wrong", "no": "wrong", "01": "wrong"}
    assert code_findings(pasted, ours, codes) == result


def test_who_was_given_no_code_misses_none() -> None:
    assert code_findings([sub("anna")], [sessions("anna", "", "no_consent")]) == {"anna": "none"}
    assert code_findings([sub("anna")], [sessions("anna", "", None)]) == {"anna": "missing"}


def test_a_submission_goes_by_its_visit_and_then_by_its_person() -> None:
    ours = [
        CodedSession("s1", "anna", "v1", "completed", "AAAA"),
        CodedSession("s2", "anna", "v2", "completed", "BBBB"),
        CodedSession("s3", "ben", "", "completed", "CCCC"),
    ]
    pasted = [
        Submission("v1", "anna", "awaiting_review", "AAAA"),
        Submission("v2", "anna", "awaiting_review", "AAAA"),
        Submission("v3", "ben", "awaiting_review", "CCCC"),
    ]
    assert code_findings(pasted, ours) == {"v1": "right", "v2": "shared", "v3": "right"}


def test_a_code_that_is_right_is_no_reason() -> None:
    assert set(CODE_REASONS) == {"wrong", "missing", "shared", "foreign", "no_place"}


@given(
    st.lists(st.sampled_from("abcdef"), unique=True),
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["", "x", *"abcdefgh"])), unique_by=lambda x: x[0]),
)
def test_an_honest_person_is_right_whatever_others_paste(here: list[str], pasted: list[tuple[str, str]]) -> None:
    codes = {person: completion_code(SECRET, person, "completed") for person in "abcdefgh"}
    ours = [sessions(person, codes[person]) for person in here]
    listed = [sub(person, codes.get(code, code)) for person, code in pasted]
    result = code_findings(listed, ours)
    assert list(result) == [person for person, _ in pasted]
    for person, code in pasted:
        if code == person and person in here:
            assert result[person] == "right"
        elif code == "":
            assert result[person] == "missing"
        elif code in here:
            others = sum(pasted_code == code for _, pasted_code in pasted)
            assert result[person] == ("shared" if others > 1 else "foreign")
        else:
            assert result[person] == "wrong"


@given(st.text(), st.text())
def test_reading_a_code_plainly_is_steady(first: str, second: str) -> None:
    assert plain_code(plain_code(first)) == plain_code(first)
    assert set(code_findings([sub("a", first)], [sessions("a", second)]).values()) <= {
        "right",
        "wrong",
        "missing",
        "none",
    }
