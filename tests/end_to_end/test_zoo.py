"""A reduced zoo: a few robots of each kind over HTTP; cheats are excluded, honest ones are used and paid."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from support.data import ROOT

KINDS = {
    "sharp": 2, "honest": 2, "careless": 2, "straight": 1, "copies": 1, "middle": 1, "forges": 1, "visible": 1,
    "fast": 1, "away": 1, "skips": 1, "shares": 1, "tabs": 1, "replays": 1,
}  # fmt: skip
BLIND = ("careless", "straight", "copies", "middle", "forges")


@pytest.fixture(scope="module")
def hemvip(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return sent("hemvip", tmp_path_factory.mktemp("hemvip"))


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return sent("survey", tmp_path_factory.mktemp("survey"))


def sent(name: str, folder: Path) -> dict[str, Any]:
    from zoo.visits import visit

    return {kind.name: kind for kind in visit(name, folder, KINDS, seed=2).kinds}


@pytest.mark.parametrize("kind", BLIND)
def test_who_does_not_look_is_caught_by_stimuli_that_ask(hemvip: dict[str, Any], kind: str) -> None:
    assert hemvip[kind].unused == hemvip[kind].sessions == KINDS[kind]
    assert hemvip[kind].failed["attention"] == KINDS[kind]


@pytest.mark.parametrize("kind", BLIND)
def test_who_does_not_read_is_caught_by_statements_that_are_obvious(survey: dict[str, Any], kind: str) -> None:
    assert survey[kind].unused == survey[kind].sessions == KINDS[kind]


def test_who_answers_by_a_program_is_caught_by_the_clock(hemvip: dict[str, Any], survey: dict[str, Any]) -> None:
    assert hemvip["fast"].failed["speed"] == survey["fast"].failed["speed"] == 1
    assert hemvip["fast"].unused == survey["fast"].unused == 1
    assert hemvip["fast"].unpaid == survey["fast"].unpaid == 0


@pytest.mark.parametrize("kind", ["sharp", "honest"])
def test_who_is_honest_is_used_and_paid(hemvip: dict[str, Any], survey: dict[str, Any], kind: str) -> None:
    for visits in (hemvip, survey):
        assert (visits[kind].sessions, visits[kind].unused, visits[kind].unpaid) == (2, 0, 0)


def test_who_only_reads_passes_what_is_written(hemvip: dict[str, Any]) -> None:
    assert hemvip["visible"].failed["attention"] == 0


def test_the_server_takes_nothing_that_it_should_refuse(hemvip: dict[str, Any], survey: dict[str, Any]) -> None:
    for visits in (hemvip, survey):
        assert {kind: visits[kind].taken for kind in ("skips", "shares", "tabs", "replays")} == {
            "skips": 0, "shares": 0, "tabs": 0, "replays": 0,
        }  # fmt: skip
        assert visits["tabs"].tried > 2  # depends on which tab is first
        assert visits["replays"].tried == 21
        assert visits["skips"].unused == 1
        assert visits["shares"].sessions == 1


# The table


def test_luck_is_what_passes_who_clicks_anywhere(tmp_path: Path) -> None:
    from beholder.methods import load_study
    from zoo.studies import ARENAS
    from zoo.table import lucks

    chances = {}
    for name in ("hemvip", "survey"):
        (tmp_path / name).mkdir()
        chances[name] = lucks(load_study(ARENAS[name].write(tmp_path / name, 4)))
    once, session = chances["hemvip"]["attention"]
    assert once == pytest.approx(7 / 101)
    assert session == pytest.approx((7 / 101) ** 3 + 3 * (7 / 101) ** 2 * (94 / 101))
    assert chances["survey"]["trap_item"][0] == pytest.approx(0.6)
    assert chances["survey"]["trap_item"][1] == pytest.approx(0.6**10 + 10 * 0.4 * 0.6**9)
    assert chances["survey"]["repeat"][0] == pytest.approx(13 / 25)


def test_the_table_says_which_aims_are_missed(tmp_path: Path) -> None:
    from collections import Counter

    from beholder.methods import load_study
    from zoo.studies import ARENAS
    from zoo.table import Kind, Preset, block

    study = load_study(ARENAS["none"].write(tmp_path, 4))
    kinds = (
        Kind("honest", 50, 50, 4, 1, failed=Counter(variance=4), judged=Counter(variance=50, quota=50)),
        Kind("straight", 50, 50, 47, failed=Counter(variance=47), judged=Counter(variance=50)),
        Kind("tabs", 5, 5, tried=50, taken=1),
    )
    milder = (Kind("honest", 50, 50, 1), Kind("straight", 50, 50, 40), Kind("tabs", 5, 5))
    preset = Preset("none", ("straight",), kinds, study, {"`variance: {min: 0.1}`": milder})
    assert block([preset], "2026-11-16", 50, 1).splitlines()[4:] == [
        "| kind | not used | pay in question | `variance` |",
        "| --- | --- | --- | --- |",
        "| `honest` | 8.0 % | 2.0 % | 8.0 % |",
        "| **`straight`** | 94.0 % |  | 94.0 % |",
        "| *luck, once* |  |  |  |",
        "| *luck, over a session* |  |  |  |",
        "",
        "Missed: `honest`: 8.0 % not used, over 5.0 %; `honest`: 1 of 50 would lose their pay; `straight`: 94.0 %"
        " caught, under 95.0 %; `tabs`: 1 of 50 requests were taken that should be refused. Failed by nobody: `quota`.",
        "",
        "The same sessions, judged by other rules; shares that are not used:",
        "",
        "| kind | as above | `variance: {min: 0.1}` |",
        "| --- | --- | --- |",
        "| `honest` | 8.0 % | 2.0 % |",
        "| `straight` | 94.0 % | 80 % |",
        "",
        "| kind | sessions | requests that should be refused | taken |",
        "| --- | --- | --- | --- |",
        "| `skips` | 0 | 0 | 0 |",
        "| `shares` | 0 | 0 | 0 |",
        "| `tabs` | 5 | 50 | 1 |",
        "| `replays` | 0 | 0 | 0 |",
    ]


def test_the_table_goes_between_its_marks_and_nowhere_else() -> None:
    from zoo.visits import BEGIN, END, put

    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    assert put(page, "new") == f"before\n{BEGIN}\nnew\n{END}\nafter\n"


def test_the_page_has_the_marks_once() -> None:
    text = (ROOT / "docs" / "trust.md").read_text("utf-8")
    assert text.count("<!-- written by make zoo -->") == text.count("<!-- end of zoo -->") == 1


def test_the_table_of_hands_counts_who_was_flagged_and_by_what() -> None:
    from zoo.hands import BEGIN, END, KINDS, Found, table

    people = Found(KINDS[0], 6)
    programs = Found(next(kind for kind in KINDS if kind.name == "driven"), 6, 6, 6, Counter(driver=6, pointer=5))
    lines = list(table([people, programs], "2026-11-17", 7))
    assert lines[0] == "Run of 2026-11-17, seed 7, in headless Chromium: a session of 8 trials each."
    assert lines[-2].endswith("| 6 | 0 | 0 |  |")
    assert lines[-1].endswith("| 6 | 6 | 6 | `driver` 6, `pointer` 5 |")
    page = (ROOT / "docs" / "trust.md").read_text("utf-8")
    _, _, made = page.partition(BEGIN)
    assert all(f"`{kind.name}`" in made.partition(END)[0] for kind in KINDS)
