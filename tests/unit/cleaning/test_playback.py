"""playback.csv: one line for each slot, every value under its column."""

from __future__ import annotations

from datetime import UTC, datetime

from beholder.cleaning.facts import AnswerRecord, SessionRecord, ShownStimulus
from beholder.cleaning.playback import LOOPS, PLAYBACK, loop_counts, loop_rows, playback_lines
from beholder.columns import names_of
from beholder.methods.contract import Asked, Slot, Trial
from beholder.study.questions import SCALES

AT = datetime(2026, 11, 15, 12, tzinfo=UTC)
ASKED = Asked("q1", "quality", "ask", "How good?", SCALES["cont100"])
RATED = Slot("s1", "stimulus 1", "test", "A", True, "#2a76b0")
STIMULI = {("digest", f"stimulus {n}"): ShownStimulus("city", f"condition {n}", 4000, {}) for n in (1, 2)}


def visit(trial: Trial, given: AnswerRecord) -> SessionRecord:
    return SessionRecord("s-1", "p-1", "digest", 1, "link", 1, AT, "completed", AT, False, (trial,), {"trial:1": given})


def test_every_slot_of_a_trial_has_a_row_of_playback_also_one_that_is_not_rated() -> None:
    reference = Slot("s2", "stimulus 2", "reference", "reference", False, None)
    beside = Trial("t1", "city", "rate", (RATED, reference), (ASKED,), together=True)
    playback = {"s1": {"plays": 2, "watched_ms": 4100, "coverage": 1.0}}
    page = {"first_ms": 420, "exits": 1, "viewport": [1280, 720], "skew_ms": 8}
    given = AnswerRecord("trial:1", {}, {**playback, "page": page}, 0.0, 1.0, "touch", AT)
    lines = playback_lines([visit(beside, given)], STIMULI)
    first, second = (dict(zip(names_of(PLAYBACK), line, strict=True)) for line in lines)
    assert (first["slot"], first["plays"], first["length_ms"], first["colour"]) == ("s1", 2, 4000, "#2a76b0")
    assert (second["rated"], second["label"], second["plays"], second["together"]) == (False, "reference", None, True)
    assert {row["viewport_width"] for row in (first, second)} == {1280}
    assert (first["first_ms"], first["exits"], first["skew_ms"], first["input"]) == (420, 1, 8, "touch")


def test_every_number_of_slot_and_page_stands_under_its_name() -> None:
    slot = (
        "plays", "watched_ms", "coverage", "furthest_ms", "duration_ms", "played_ms", "whole_ms", "ended_ms",
        "stalls", "stalled_ms", "dropped", "frames", "blurs", "away", "errors", "changes",
    )  # fmt: skip
    of_slot = {name: number for number, name in enumerate(slot)}
    of_page = {"skew_ms": 50, "first_ms": 51, "exits": 52, "blurs": 53, "changes": 54, "dpr": 55}
    sizes = {"viewport": [60, 61], "screen": [62, 63]}
    playback = {"s1": {**of_slot, "displayed": [64, 65]}, "page": {**of_page, **sizes}}
    given = AnswerRecord("trial:1", {}, playback, 0.0, 1.0, "touch", AT)
    (line,) = playback_lines([visit(Trial("t1", "city", "rate", (RATED,), (ASKED,)), given)], STIMULI)
    row = dict(zip(names_of(PLAYBACK), line, strict=True))
    page = {"skew_ms": 50, "first_ms": 51, "exits": 52, "page_blurs": 53, "page_changes": 54, "dpr": 55}
    page |= {"viewport_width": 60, "viewport_height": 61, "screen_width": 62, "screen_height": 63}
    assert (of_slot | page | {"displayed_width": 64, "displayed_height": 65}).items() <= row.items()
    assert (row["condition"], row["stimulus"], row["length_ms"]) == ("condition 1", "stimulus 1", 4000)


def test_every_part_that_was_looped_has_a_row_and_the_pages_are_counted() -> None:
    trial = Trial("t1", "city", "rate", (RATED,), (ASKED,))
    looped = AnswerRecord("trial:1", {}, {"page": {"loops": [[500, 1500], [0, 900]]}}, 0.0, 1.0, "touch", AT)
    plain = AnswerRecord("trial:1", {}, {"page": {"first_ms": 3}}, 0.0, 1.0, "touch", AT)
    visits = [visit(trial, looped), visit(trial, plain)]
    first, second = loop_rows(visits)
    assert tuple(first) == names_of(LOOPS)
    assert tuple(first.values()) == ("s-1", "p-1", 1, "t1", "city", 1, 500, 1500)
    assert (second["number"], second["from_ms"], second["to_ms"]) == (2, 0, 900)
    assert loop_counts(visits) == {"pages": 1, "of": 2, "median_ms": 950}
    assert loop_counts([visit(trial, plain)]) == {}
