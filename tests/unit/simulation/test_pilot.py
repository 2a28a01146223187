"""A rehearsal with people as those of a pilot: what its store tells of them, and what it is too small for."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from beholder import simulate
from beholder.cleaning.facts import TABLES
from beholder.cleaning.screening import judge_tables, store_of
from beholder.cli import cli
from beholder.methods import load_study
from beholder.simulation.pilot import from_pilot
from beholder.simulation.truth import Population
from beholder.simulation.variance import PopulationSource
from beholder.store.open import read_tables
from support.extended_folders import begin, finish, write_texts
from support.message_studies import write_asking

TABLE = """\
what                  value  from
--------------------  -----  -------------------------------------------------------------------------
bias                  0.117  usual: 2 participants, and it takes 5
inconsistency         0.136  usual: 2 participants, and it takes 5
inconsistency_spread  0.175  usual: 2 participants with 8 ratings more than conditions, and it takes 8
taste                 0.055  usual: 2 participants, and it takes 5
content               0.024  usual: 2 participants, and it takes 5
content_condition     0.097  usual: 2 participants, and it takes 5
carry                 0.000  usual
fatigue               0.000  usual
lapse                 0.000  usual
gain_spread           0.000  usual
ends                  0.000  usual
leaving               0.000  usual: 2 sessions with a trial, and it takes 10
pace                  1.000  usual: 8 pages, and it takes 20
"""


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of which 24 robots have taken as much as they would."""
    path = write_asking(
        tmp_path_factory.mktemp("pilot"), checks={}, design={"participants": 24, "trials": 4, "seed": 3}
    )
    simulate(path, participants=24, source="ideal", people="bias:0.05,inconsistency:0.08,leaving:0.05,pace:3", seed=2)
    return path


@pytest.fixture(scope="module")
def source(pilot: Path) -> PopulationSource:
    return from_pilot(pilot)


def test_people_are_as_in_the_pilot(source: PopulationSource) -> None:
    people = source.people
    assert people.bias == pytest.approx(0.05, abs=0.03)
    assert people.inconsistency == pytest.approx(0.08, abs=0.02)
    assert people.taste < 0.03
    assert 0.01 < people.leaving < 0.12
    assert people.pace == pytest.approx(3, rel=0.25)
    assert source.origins["bias"] == "pilot tiny, robots"


def test_means_of_the_pilot_are_the_planted_truth(pilot: Path, source: PopulationSource) -> None:
    source_of_pilot = simulate(pilot, participants=2, source=source, memory=True).truth
    assert dict(source_of_pilot.conditions) == {name: pytest.approx(mean) for name, mean in source.means.items()}
    planted = simulate(pilot, participants=2, memory=True).truth
    for name, mean in source.means.items():
        assert mean == pytest.approx(planted.conditions[name], abs=0.08)


def test_order_effects_are_not_read_from_a_pilot(source: PopulationSource) -> None:
    usual, people = Population(), source.people
    for name in ("carry", "fatigue", "lapse", "gain_spread", "ends"):
        assert getattr(people, name) == getattr(usual, name)
        assert name not in source.origins


@pytest.mark.variant
def test_what_a_pilot_is_too_small_for_stays_as_usual_and_is_told(tmp_path: Path) -> None:
    path = write_asking(tmp_path, checks={}, design={"participants": 2, "trials": 4, "seed": 3})
    simulate(path, participants=2)
    ran = CliRunner().invoke(
        cli, ["simulate", str(path), "--participants", "3", "--memory", "--from", str(path)], catch_exceptions=False
    )
    table, _, rest = ran.output.partition("quality of")
    assert table == TABLE
    assert [line.split()[0] for line in rest.splitlines()[:3]] == ["zqplain", "quality", "quality"]
    assert f"Ratings of robots, none of them judged by a check: {tmp_path / 'rehearsal' / 'ratings.csv'}" in rest


def test_a_pilot_of_comparisons_tells_no_spreads(tmp_path: Path) -> None:
    path = write_asking(tmp_path, method="pair", checks={}, design={"participants": 2, "trials": 4, "seed": 3})
    simulate(path, participants=2)
    source_of_pilot = from_pilot(path)
    assert source_of_pilot.people == Population()
    assert source_of_pilot.origins["bias"] == "usual: ratings are choice, and it takes scores"
    assert source_of_pilot.means == {}


def test_a_pilot_without_a_store_is_told(tmp_path: Path) -> None:
    path = write_asking(tmp_path)
    ran = CliRunner().invoke(cli, ["simulate", str(path), "--participants", "3", "--from", str(path)])
    assert ran.exception is not None
    assert "nobody has taken part in this study yet" in str(ran.exception)
    assert "Run `beholder run` with people or `beholder run --simulate` with robots first" in str(ran.exception)


def test_who_left_has_no_end(pilot: Path) -> None:
    study = load_study(pilot)
    judged = judge_tables(study, read_tables(store_of(study, None), TABLES), robots=True).judged
    left = [one for one in judged if one.visit.outcome is None]
    assert 0 < len(left) < 12
    assert all(rating.use is False for one in left for rating in one.ratings)


async def test_a_pilot_of_people_is_looked_at(tmp_path: Path) -> None:
    path, url = write_texts(tmp_path), str(tmp_path / "store")
    await begin(path, url)
    await finish(path, url, "ab")
    for _ in range(2):
        from_pilot(path)
    looks = [row["evidence"] for row in read_tables(url, ("ledger",))["ledger"] if row["kind"] == "look"]
    assert [(look["command"], look["participants"]) for look in looks] == [("power", 2)]
