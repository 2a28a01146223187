"""The rating row: pure, complete, and with names that come back as they were."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.cleaning.facts import AnswerRecord, SessionRecord, ShownStimulus
from beholder.cleaning.ratings import COLUMNS, Rating, number_repetitions, rating_blocks, rating_rows, read_ratings
from beholder.cleaning.tables import comment_rows
from beholder.columns import names_of, pick
from beholder.errors import UserError
from beholder.files import write_table
from beholder.methods.contract import Asked, Judgement, Slot, Trial
from beholder.study.model import Study, installed_study_model
from beholder.study.questions import SCALES
from beholder.types import Role

AT = datetime(2026, 11, 15, 12, tzinfo=UTC)
ODD_NAMES = [
    "no",
    "01",
    "1.0",
    "NA",
    "null",
    "",
    " spaced out ",
    "Zürich 漢字",
    "a,b",
    'say "hi"',
    "two\nlines",
    "=1+1",
]


def study() -> Study:
    return installed_study_model().model_validate(
        {"beholder": 1, "name": "rows", "title": "Rows", "method": "parallel", "stimuli": "s"}
    )


def trial(*roles: Role, purpose: str = "ask") -> Trial:
    slots = tuple(Slot(f"s{n}", f"stimulus {n}", role, "A", True, "#2a76b0") for n, role in enumerate(roles, 1))
    asked = Asked("q1", "quality", purpose, "How good?", SCALES["cont100"])  # type: ignore[arg-type]
    return Trial("t1", "city", "rate", slots, (asked,))


def visit(*trials: Trial) -> SessionRecord:
    return SessionRecord("s-1", "p-1", "digest", 1, "link", 1, AT, "completed", AT, False, trials, {})


def answer() -> AnswerRecord:
    playback = {"s1": {"plays": 2, "watched_ms": 4100, "coverage": 1.0}}
    return AnswerRecord("trial:1", {}, playback, 1000.0, 9500.0, "mouse", AT)


def score(slot: str = "s1", value: float | None = 72, **more: str | None) -> Judgement:
    return Judgement("quality", "score", slot, value, value, 0, 100, **more)  # type: ignore[arg-type]


STIMULI = {
    ("digest", f"stimulus {n}"): ShownStimulus("city", f"condition {n}", 4000, {"bitrate": "1M"}) for n in (1, 2, 3)
}


def test_a_row_tells_who_what_value_and_how() -> None:
    (row,) = rating_rows(study(), visit(trial("test")), 1, answer(), (score(),), STIMULI)
    record = row._asdict()
    assert tuple(record)[: len(COLUMNS)] == names_of(COLUMNS)
    wanted = {"participant": "p-1", "condition": "condition 1", "content": "city", "value": 72, "raw_value": 72}
    assert wanted.items() <= record.items()
    assert (record["position"], record["repetition"], record["role"]) == (1, 1, "test")
    assert (record["plays"], record["coverage"], record["response_ms"], record["input"]) == (2, 1.0, 8500.0, "mouse")
    head, line = b"".join(rating_blocks([row])).decode().splitlines()
    assert head.split(",") == [*names_of(COLUMNS), "factor_bitrate"]
    assert line.endswith(",true,,1M")


CONTRACT = """
study digest run participant session mode trial position repetition
method question kind content condition stimulus role other_condition other_stimulus unit word said heard
value raw_value keyed scale_min scale_max missing
slot colour plays watched_ms coverage response_ms input answered_at
use reasons
"""


def test_columns_are_those_of_the_contract_in_order() -> None:
    assert " ".join(names_of(COLUMNS)) == " ".join(CONTRACT.split())


def test_every_column_has_a_meaning_and_holds_what_its_name_says() -> None:
    """Rows are made by place: every value is another one, so that no two columns can be exchanged."""
    slots = (
        Slot("s1", "stimulus 1", "anchor", "A", True, "#2a76b0"),
        Slot("s2", "stimulus 2", "test", "B", True, "#c0392b"),
    )
    asked = Asked("q1", "quality", "ask", "How good?", SCALES["cont100"])
    one = Judgement(
        "quality",
        "score",
        "s1",
        72,
        71,
        10,
        90,
        other_slot="s2",
        missing="skipped",
        keyed=28,
        unit="too dark",
        word="noon",
        said="at noon",
        heard="a spoon",
    )
    came = SessionRecord("s-1", "p-1", "digest", 3, "panel", 1, AT, "completed", AT, False, (), {})
    came = replace(came, trials=(Trial("t0", "city", "rate", (), ()), Trial("t1", "city", "rate", slots, (asked,))))
    playback = {"s1": {"plays": 4, "watched_ms": 4100.0, "coverage": 0.5}}
    given = AnswerRecord("trial:2", {}, playback, 1000.0, 9500.0, "mouse", AT)
    (row,) = rating_rows(study(), came, 2, given, (one,), STIMULI)
    assert row._asdict() == {
        "study": "rows", "digest": "digest", "run": 3, "participant": "p-1", "session": "s-1", "mode": "panel",
        "trial": "t1", "position": 2, "repetition": 1, "method": "parallel", "question": "quality", "kind": "score",
        "content": "city", "condition": "condition 1", "stimulus": "stimulus 1", "role": "anchor",
        "other_condition": "condition 2", "other_stimulus": "stimulus 2", "unit": "too dark", "word": "noon",
        "said": "at noon", "heard": "a spoon", "value": 72, "raw_value": 71, "keyed": 28, "scale_min": 10,
        "scale_max": 90, "missing": "skipped", "slot": "s1", "colour": "#2a76b0", "plays": 4, "watched_ms": 4100.0,
        "coverage": 0.5, "response_ms": 8500.0,
        "input": "mouse", "answered_at": AT, "use": True, "reasons": "", "factors": {"bitrate": "1M"},
        "origin": "", "uncertain": "", "unknown": frozenset(), "draw_probability": None, "relation": "",
    }  # fmt: skip
    assert all(column.text.endswith(".") for column in COLUMNS)


def test_a_comparison_names_both_stimuli() -> None:
    one = Judgement("quality", "diff", "s2", 2, -2, -3, 3, other_slot="s1")
    (row,) = rating_rows(study(), visit(trial("test", "test")), 1, answer(), (one,), STIMULI)
    assert (row.condition, row.other_condition, row.other_stimulus) == ("condition 2", "condition 1", "stimulus 1")


def test_a_reversed_statement_keeps_what_was_clicked_and_the_turned_number_beside_it() -> None:
    one = Judgement("quality", "score", "s1", 4, 4, 1, 5, keyed=2)
    (row,) = rating_rows(study(), visit(trial("test")), 1, answer(), (one,), STIMULI)
    assert (row.value, row.raw_value, row.keyed) == (4, 4, 2)


def test_a_comparison_with_a_check_is_no_rating() -> None:
    one = Judgement("quality", "choice", "s1", 1, -1, -1, 1, other_slot="s2")
    assert rating_rows(study(), visit(trial("test", "trap")), 1, answer(), (one,), STIMULI) == []


def test_reasons_and_comments_are_kept_by_question() -> None:
    said = {"reasons": {"q1": ["Sharper.", "=1+1"]}, "comment": "All fine."}
    came = replace(visit(trial("test")), answers={"trial:1": AnswerRecord("trial:1", said, {}, 0.0, 1.0, "mouse", AT)})
    rows = [(row["question"], row["kind"], row["text"]) for row in comment_rows([came])]
    assert rows == [
        ("quality", "reason", "Sharper."), ("quality", "reason", "=1+1"), (None, "comment", "All fine."),
    ]  # fmt: skip


def test_a_slot_that_would_not_play_has_a_reason_and_no_value() -> None:
    (row,) = rating_rows(
        study(), visit(trial("test")), 1, answer(), (score(value=None, missing="media_error"),), STIMULI
    )
    assert (row.value, row.missing) == (None, "media_error")


@pytest.mark.parametrize("role", ["attention", "gold", "trap", "training", "repeat"])
def test_answers_to_checks_are_not_ratings(role: Role) -> None:
    rows = rating_rows(study(), visit(trial("test", role)), 1, answer(), (score("s1"), score("s2")), STIMULI)
    assert [row.slot for row in rows] == ["s1"]


def test_trap_questions_and_training_are_not_ratings() -> None:
    trap = trial("test", purpose="trap")
    training = Trial("t1", "city", "train", trap.slots, trial("test").asked)
    for one in (trap, training):
        assert rating_rows(study(), visit(one), 1, answer(), (score(),), STIMULI) == []


def test_repetitions_are_counted_per_participant_stimulus_and_question() -> None:
    (row,) = rating_rows(study(), visit(trial("test")), 1, answer(), (score(),), STIMULI)
    assert [one.repetition for one in number_repetitions([row, row, row])] == [1, 2, 3]


def written(path: Path, **columns: str) -> Path:
    write_table(path, list(columns), [columns])
    return path


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_condition_names_come_back_intact(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / "r.csv", participant="007", content=name, condition=name, value="4")
    table = read_ratings(path)
    assert table.to_dict("records") == [{"participant": "007", "content": name, "condition": name, "value": 4.0}]


# Lone surrogates cannot be written as UTF-8; a bare carriage return is a line break to every reader of CSV.
@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), min_size=1, max_size=12))
def test_any_name_survives_the_file(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    path = written(tmp_path_factory.mktemp("names") / "r.csv", participant="p", content="c", condition=name, value="1")
    assert read_ratings(path).loc[0, "condition"] == name


def test_empty_cells_are_missing_numbers_and_use_is_a_truth_value(tmp_path: Path) -> None:
    write_table(tmp_path / "r.csv", ["value", "use"], [{"value": None, "use": False}, {"value": 2.5, "use": True}])
    table = read_ratings(tmp_path / "r.csv")
    assert table["value"].isna().tolist() == [True, False]
    assert table["use"].tolist() == [False, True]
    assert {column.kind for column in pick(COLUMNS, "value", "use")} == {"number", "boolean"}


def test_cells_that_are_no_numbers_are_all_named(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("value,use\ngood,true\n4,maybe\ninf,true\n", encoding="utf-8")
    with pytest.raises(UserError) as error:
        read_ratings(path)
    assert str(error.value).splitlines() == [
        f"{path}:2  value is 'good'. Allowed: a number, or an empty cell when missing.",
        f"{path}:4  value is 'inf'. Allowed: a number, or an empty cell when missing.",
        f"{path}:3  use is 'maybe'. Allowed: true, false, or an empty cell.",
    ]


def test_a_file_that_is_not_there_is_said_plainly(tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        read_ratings(tmp_path / "r.csv")
    assert str(error.value) == f"{tmp_path / 'r.csv'}  is not there. Run `beholder clean` first, or give another file."


def test_a_file_that_is_no_table_is_said_plainly(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_bytes(b"a,b\n1,2,3\n1\n4,5,6,7,8\n")
    with pytest.raises(UserError, match="cannot be read as a table"):
        read_ratings(tmp_path / "r.csv")


def test_a_rating_is_a_frozen_value() -> None:
    (row,) = rating_rows(study(), visit(trial("test")), 1, answer(), (score(),), STIMULI)
    with pytest.raises(AttributeError):
        row.value = 3  # type: ignore[misc]
    assert isinstance(row, Rating)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("participant;value\np;1\n", "has semicolons between its cells. Allowed: commas. Save it as CSV with commas."),
        ("participant\tvalue\np\t1\n", "has tabs between its cells. Allowed: commas. Save it as CSV with commas."),
        ("a,b\n1,2,3\n", "has rows with more cells than the header has names. Allowed: as many cells as names."),
    ],
)
def test_cells_that_stand_under_no_name_are_said_plainly(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "r.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as error:
        read_ratings(path)
    assert str(error.value) == f"{path}  {told}"


def test_numbers_without_end_are_no_ratings(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("value\n-2e300\n", encoding="utf-8")
    with pytest.raises(UserError) as error:
        read_ratings(path)
    told = "value is '-2e300'. Allowed: a number below 1e+15, or an empty cell when missing."
    assert str(error.value) == f"{path}:2  {told}"


def test_a_folder_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read as a table"):
        read_ratings(tmp_path)
