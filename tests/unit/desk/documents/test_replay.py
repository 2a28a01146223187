"""The page Replay: a timeline says what the log says, at its times and with its values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.desk.documents.replay import document, merged_log
from beholder.errors import Refused
from beholder.store.contract import DRAFT, Events
from support.cleaning_store import START
from support.decision_store import DecisionSetup, run
from support.desk_studies import BLINDED, UNBLINDED, desk_study


def batch(first: int, *events: Any, tab: str = "t", session: str = "s", key: str = "trial:1") -> Events:
    return Events(session, key, tab, first, list(events), START)


LOG: list[Any] = [
    [0, "shown", None, {}],
    [100, "load", "s1", {"ms": 80, "bytes": 9}],
    [1000, "play", "s1", {"at": 0}],
    [2000, "stall", "s1", {"at": 950}],
    [2600, "play", "s1", {"at": 950}],
    [3000, "focus", None, {"has": False}],
    [3500, "visibility", None, {"hidden": True}],
    [4000, "focus", None, {"has": True}],
    [5000, "pause", "s1", {"at": 3350}],
    [5200, "seek", "s1", {"at": 3350, "to": 1000}],
    [5300, "play", "s1", {"at": 1000}],
    [9000, "ended", "s1", {"at": 4700}],
    [9100, "frames", "s1", {"total": 99}],
    [9500, "change", "s1", {"question": "q1", "value": 2}],
    [9600, "change", "s1", {"question": "q1", "value": 4}],
    [9700, "change", "s1", {"question": "comment", "length": 12}],
    [9800, "click", None, {"what": "next"}],
]


def test_batches_are_one_log_though_sent_twice_and_from_two_tabs() -> None:
    batches = [
        batch(2, *LOG[2:5]),
        batch(0, *LOG[:2]),
        batch(0, *LOG[:2]),
        batch(5, [2990, DRAFT, None, {"q1": 3}], *LOG[5:]),
        batch(0, [0, "shown", None, {}], tab="other"),
    ]
    log = merged_log(batches, "t")
    assert [[ms, kind, slot, dict(data)] for ms, kind, slot, data in log] == LOG
    assert [one[1] for one in merged_log(batches, "other")] == ["shown"]
    assert len(merged_log(batches, None)) == len(LOG), "of an open page the tab with the most"
    assert merged_log([], "t") == []
    back = merged_log([batch(0, [500, "shown", None, {}], [400, "click", None, {}])], "t")
    assert [one[0] for one in back] == [500, 500], "a clock that runs backwards adds nothing"


async def _replayed(setup: DecisionSetup, viewer: Any, page: str = "trial:1") -> Any:
    who = await setup.come("session")
    await setup.store.append([batch(0, *LOG, session="session"), batch(0, *LOG[:1], session="session", tab="b")])
    return await document(desk_study(setup.context), viewer, person=who, session="session", page=page)


def test_the_timeline_has_the_times_and_values_of_the_log(tmp_path: Path) -> None:
    told = run(tmp_path, lambda setup: _replayed(setup, UNBLINDED))
    page = told["page"]
    assert [(one["from_ms"], one["to_ms"], one["at"], one["to"], one["why"]) for one in page["plays"]] == [
        (1000, 2000, 0, 950, "stall"),
        (2600, 5000, 950, 3350, "pause"),
        (5300, 9000, 1000, 4700, "ended"),
    ]
    assert [(one["slot"], one["from_ms"], one["to_ms"]) for one in page["stalls"]] == [("s1", 2000, 2600)]
    assert page["away"] == [{"from_ms": 3000, "to_ms": 4000}], "hidden and without focus is away once"
    paths = {(one["question"], one["slot"]): one["path"] for one in page["controls"]}
    assert paths == {("q1", "s1"): [[9500, 2], [9600, 4]], ("comment", "s1"): [[9700, {"length": 12}]]}
    scored = next(one for one in page["controls"] if one["question"] == "q1")
    assert (scored["text"], scored["scale"]["min"], scored["scale"]["max"]) == ("How good?", 1, 5)
    assert [(one["ms"], one["kind"]) for one in page["moments"]] == [
        (ms, kind) for ms, kind, _, _ in LOG if kind != "frames"
    ]
    assert page["moments"][9]["data"] == {"at": 3350, "to": 1000}
    assert (page["length_ms"], page["other_tabs"]) == (12_000, 1)
    assert told["reasons"] == []
    (slot,) = page["slots"]
    assert (slot["id"], slot["condition"]) == ("s1", "b")
    assert slot["media"].startswith("/api/studies/study/media/")
    assert [one["key"] for one in told["pages"]][:2] == ["trial:1", "trial:2"]


def test_blinded_it_names_no_condition(tmp_path: Path) -> None:
    told = run(tmp_path, lambda setup: _replayed(setup, BLINDED))
    (slot,) = told["page"]["slots"]
    assert slot["condition"] in [f"Condition {letter}" for letter in "ABCDE"]
    assert slot["role"] is None


def test_a_page_without_a_log_is_there_and_an_unknown_one_is_the_first_trial(tmp_path: Path) -> None:
    told = run(tmp_path, lambda setup: _replayed(setup, BLINDED, "trial:2"))
    assert (told["page"]["key"], told["page"]["moments"], told["page"]["plays"]) == ("trial:2", [], [])
    told = run(tmp_path / "other", lambda setup: _replayed(setup, BLINDED, "trial:99"))
    assert told["page"]["key"] == "trial:1"


def test_a_session_of_somebody_else_is_not_there(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> None:
        ada, bob = await setup.come("ada"), await setup.come("bob")
        study = desk_study(setup.context)
        for who, session in ((ada, "bob"), (bob, "nobody"), ("nobody", "ada")):
            with pytest.raises(Refused) as error:
                await document(study, BLINDED, person=who, session=session)
            assert (error.value.status, error.value.where) == (404, "session")

    run(tmp_path, work)


def test_of_an_erased_session_nothing_is_left(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> Any:
        who = await setup.come("session")
        await setup.store.erase("session", START)
        return await document(desk_study(setup.context), BLINDED, person=who, session="session")

    told = run(tmp_path, work)
    assert (told["erased"], told["pages"], told["page"]) == (True, [], None)
