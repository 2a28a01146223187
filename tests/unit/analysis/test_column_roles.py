"""Roles of columns: usual names, what is told, wide tables, and what could be read in two ways."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.analysis.column_roles import Columns, plain_name
from beholder.errors import UserError
from support.own_tables import long, rows


@pytest.mark.parametrize(
    ("name", "plain"),
    [("WorkerId", "worker id"), (" Subject_ID ", "subject id"), ("95%CI", "95 ci"), ("prolific.PID", "prolific pid")],
)
def test_a_name_is_the_same_however_it_is_written(name: str, plain: str) -> None:
    assert plain_name(name) == plain


@pytest.mark.parametrize(
    "header",
    [
        "Subject,System,Item,Score", "RATER,Model,Scene,MOS", "Listener ID,codec,sentence,rating",
        "PROLIFIC_PID,HRC,SRC,Vote", "session_uuid,rating_stimulus,trial_id,rating_score",
        "participant,condition,content,Quality", "Proband,Bedingung,Inhalt,Bewertung",
    ],
)  # fmt: skip
def test_usual_names_are_recognised(tmp_path: Path, header: str) -> None:
    table = long(tmp_path, f"{header}\np1,a,x,4\np2,b,x,2\n")
    keys = ("participant", "condition", "content", "value")
    assert rows(table, *keys) == [("p1", "a", "x", "4"), ("p2", "b", "x", "2")]


def test_columns_can_be_told_in_any_case_and_with_commas_in_names(tmp_path: Path) -> None:
    text = '"name, first",sys,"how good",score\nAnn,a,4,9\nBob,b,2,9\n'
    told = "participant=name, first,condition=SYS,value=how good"
    assert rows(long(tmp_path, text, told), "participant", "value") == [("Ann", "4"), ("Bob", "2")]
    mapped = {"participant": "name, first", "condition": "sys", "value": "how good"}
    assert rows(long(tmp_path, text, mapped), "participant", "value") == [("Ann", "4"), ("Bob", "2")]


def test_several_columns_are_values_of_their_role(tmp_path: Path) -> None:
    text = "who,system,clear,loud\np1,a,4,1\np2,b,2,5\n"
    table = long(tmp_path, text, {"participant": "who", "question": ["clear", "loud"]})
    assert rows(table, "participant", "question", "value") == [
        ("p1", "clear", "4"), ("p1", "loud", "1"), ("p2", "clear", "2"), ("p2", "loud", "5"),
    ]  # fmt: skip
    same = long(tmp_path, text, "participant=who,question=clear..loud")
    assert rows(same, "question") == rows(table, "question")
    assert same.notes == table.notes


@pytest.mark.parametrize(
    ("text", "columns", "told"),
    [
        ("a,b\n1,2\n3,4\n", None, [
            "t.csv  names neither people nor stimuli, only a, b. Allowed: a column for who rated or for what was "
            'rated. If a row is a person and a column a condition: --columns "condition=a+b". If a row is a stimulus '
            'and a column a person: --columns "participant=a+b".',
        ]),
        ("model,Clear,Loud\na,4,2\nb,2,5\n", None, [
            "t.csv  says nowhere who rated: Clear, Loud could be people, or means of several questions. Allowed: a "
            "column participant, or a column for each person. If each of them is a person: --columns "
            '"condition=model,participant=Clear+Loud". Means are a side of `beholder compare`.',
        ]),
        ("who,system,item,vote\np,a,x,3\n", None, [
            "t.csv  has no column that says who rated. Allowed: a name such as participant, subject, subj, rater, "
            "listener, viewer. "
            'Columns: who, system, item, vote. --columns "condition=system,content=item,value=vote,participant=who".',
        ]),
        ("subjct,system,vote\np,a,3\n", None, [
            "t.csv  has no column that says who rated. Allowed: a name such as participant, subject, subj, rater, "
            "listener, viewer. "
            'Did you mean subjct? --columns "condition=system,value=vote,participant=subjct".',
        ]),
        ("model,MOS,sd,n\na,4,1,10\n", None, [
            "t.csv  holds means, and no ratings of people. Allowed: a row for each rating. Means are a side of "
            "`beholder compare`; analyse and report need the ratings behind them.",
        ]),
        ("subject,system,clear,loud\np,a,3,4\n", None, [
            "t.csv  has 2 columns that could be the value: clear, loud. Allowed: one. Say which: --columns "
            '"participant=subject,condition=system,value=clear", or all as questions: --columns '
            '"participant=subject,condition=system,question=clear+loud".',
        ]),
        ("subject,psnr,vmaf\np,30.1,93.2\nq,-280.5,11.2\n", None, [
            "t.csv  has no column that says the rating, and psnr, vmaf are on no usual scale together. Allowed: a "
            'column value, or columns on one scale. If each of them is a condition: --columns '
            '"participant=subject,condition=psnr+vmaf". If one holds the ratings: --columns '
            '"participant=subject,value=NAME".',
        ]),
        ("subject,system,vote\np,a,3\n", ["condition", "participant=Who,rater=x"], [
            "--columns  is 'condition'. Allowed: role=NAME, as participant=Subject,value=Score.",
            "--columns  'rater' is no role. Allowed: participant, condition, content, stimulus, value, rank, question, "
            "repetition, run, winner, loser, other_condition, answered_at, is_reference, names.",
        ]),
        ("subject,system,vote\np,a,3\n", "participant=Who,value=votes", [
            "--columns  participant=Who: t.csv has no column 'Who'. Allowed: subject, system, vote.",
            "--columns  value=votes: t.csv has no column 'votes'. Allowed: subject, system, vote. Did you mean vote?",
        ]),
        ("subject,file,vote\np,a,3\n", "names={condition}_{content}", [
            "--columns  names={condition}_{content} does not fit the stimulus 'a'. Allowed: all of them.",
        ]),
    ],
)  # fmt: skip
def test_what_is_refused_with_the_line_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, columns: Columns, told: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as error:
        long(Path(), text, columns)
    assert str(error.value).splitlines() == told
