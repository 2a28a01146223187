"""Runs: the same study repeated with a new plan and other people in one store; each can be analysed separately."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from click.testing import CliRunner

import beholder
from beholder.analysis.ratings import open_ratings
from beholder.analysis.scores import scores
from beholder.analysis.sides import ratings_of_run, runs_of
from beholder.cli import cli
from beholder.errors import StudyError, UserError
from beholder.methods import find, load_study
from beholder.planning.builder import make_plan
from beholder.planning.digest import plan_digest
from beholder.reporting.html import Markup
from beholder.reporting.material import load_material
from beholder.reporting.page import page as report_page
from beholder.server.process import run_server
from beholder.store.open import read_tables
from beholder.testing import write_study
from support.plans import make_catalogue, make_study
from support.variants import variant
from support.visitor import Site, Visitor, robot

EARLIER = (
    "You have taken part in this study before. It is repeated with people who have not seen it yet, so there is "
    "nothing more to do."
)


def set_run(study: Path, run: int) -> None:
    lines = [line for line in study.read_text("utf-8").splitlines() if not line.startswith("run:")]
    study.write_text("\n".join([*lines, f"run: {run}", ""]), "utf-8")


@asynccontextmanager
async def serving(study: Path, store: str | None, run: int) -> AsyncIterator[Site]:
    set_run(study, run)
    async with (
        run_server(load_study(study), store=store, port=0) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as client,
    ):
        yield Site(server.service, server.store, server.address, client)


@pytest.fixture(params=["postgresql", variant("sqlite")])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "facts")
    make: Callable[[], str] = request.getfixturevalue("postgresql_databases")
    return make()


@pytest.fixture
def study(tmp_path: Path, tiny: Path) -> Path:
    return write_study(tmp_path / "study", tiny)


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory, tiny: Path) -> Path:
    """A study with two runs of robots, and run 2 in its file."""
    path = write_study(tmp_path_factory.mktemp("twice") / "study", tiny)
    for run in (1, 2):
        set_run(path, run)
        beholder.simulate(path, participants=5, seed=4)
    return path


# The plan


def test_the_first_run_is_planned_as_it_always_was() -> None:
    study, catalogue = make_study(participants=6, trials=3, seed=7), make_catalogue(4, 3)
    assert study.seed == 7
    assert plan_digest(study, catalogue).startswith("3520518d30e07445f6785778a3eb2904")


def test_each_run_has_a_plan_of_its_own_and_always_the_same() -> None:
    catalogue, acr = make_catalogue(4, 3), find("acr")
    first = make_study(participants=6, trials=3, seed=7)
    plans = [make_plan(first.model_copy(update={"run": run}), catalogue, acr) for run in (1, 2, 3, 2)]
    assert len({plan.plan_digest for plan in plans}) == 3
    orders = [[[slot.stimulus for t in one.trials for slot in t.slots] for one in plan.lists] for plan in plans]
    assert orders[1] == orders[3]
    assert orders[0] != orders[1] != orders[2] != orders[0]


@pytest.mark.parametrize("written", ["0", "1001", "two", "1.5", "true"])
def test_a_run_is_a_whole_number_from_one(study: Path, written: str) -> None:
    study.write_text(study.read_text("utf-8") + f"run: {written}\n", "utf-8")
    with pytest.raises(StudyError) as caught:
        load_study(study)
    line = len(study.read_text("utf-8").splitlines())
    assert str(caught.value) == f"study.yaml:{line}  run is {written}. Allowed: a whole number, 1 to 1,000."


# Admission


async def test_who_took_part_before_is_turned_away_kindly(study: Path, store: str) -> None:
    async with serving(study, store, 1) as site:
        ada, bob, eve = (Visitor(site, participant=name) for name in ("ada", "bob", "eve"))
        await ada.arrive()
        await ada.answer({"agree": True})
        await bob.arrive()
        await eve.arrive()
        await eve.answer({"agree": False})
        somebody = Visitor(site)
        await somebody.arrive()
        await somebody.answer({"agree": True})
    async with serving(study, store, 2) as site:
        refused = await Visitor(site, participant="ada").arrive()
        assert refused.status_code == 403
        assert (refused.json()["error"]["code"], refused.json()["error"]["message"]) == ("earlier_run", EARLIER)
        assert (await Visitor(site, PROLIFIC_PID="ada").arrive()).status_code == 201, "another platform's ada"
        # By the link that the browser has stored.
        for token in (ada.token, somebody.token):
            resumed = await Visitor(site, resume=token).arrive()
            assert (resumed.status_code, resumed.json()["error"]["code"]) == (403, "earlier_run")
        # A page that was open while the run changed.
        ada.server, ada.client = site, site.client
        for way, path, body in (("GET", "/api/step", None), ("PUT", f"/api/answers/{ada.step['key']}", {"answer": {}})):
            open_page = await ada.send(way, path, body)
            assert (open_page.status_code, open_page.json()["error"]["code"]) == (403, "earlier_run"), path
        # Participants who answered nothing in the first run may take the second, also by the old link.
        for params in ({"participant": "bob"}, {"participant": "eve"}, {"resume": bob.token}):
            again = Visitor(site, **params)
            assert (await again.arrive()).is_success, params
            assert again.step["kind"] == "consent"
        assert (await site.store.counts(site.service.now(), 2))["arrived"] == 3
        # Participants of the first run can still have their answers erased.
        gone = await ada.send("POST", "/api/withdraw", {})
        assert gone.json()["step"]["outcome"] == "withdrawn"
    async with serving(study, store, 1) as site:
        back = Visitor(site, resume=somebody.token)
        assert (await back.arrive()).status_code == 200
        assert back.step == somebody.step, "the first run goes on where it was"


async def test_who_has_finished_a_run_still_finds_their_code(study: Path) -> None:
    async with serving(study, None, 1) as site:
        ada = robot(site, "ada")
        await ada.arrive()
        for answer in ({"agree": True}, {}):
            await ada.answer(answer)
        while ada.step["kind"] == "trial":
            (await ada.answer(ada.scores(), ada.watched())).raise_for_status()
        assert ada.step["outcome"] == "completed"
    async with serving(study, None, 2) as site:
        resumed = Visitor(site, resume=ada.token)
        assert (await resumed.arrive()).status_code == 200
        assert resumed.step["code"] == ada.step["code"]


async def test_a_run_is_full_by_its_own_people(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "one", tiny, design={"participants": 1, "trials": 2})
    for run, name in ((1, "ada"), (2, "bob")):
        async with serving(study, None, run) as site:
            first = Visitor(site, participant=name)
            assert (await first.arrive()).status_code == 201
            await first.answer({"agree": True})
            late = await Visitor(site, participant="cat").arrive()
            assert (late.status_code, late.json()["error"]["code"]) == (403, "full")


# Robots and their results


async def test_two_runs_of_robots_on_either_store(study: Path, store: str) -> None:
    for run in (1, 2):
        set_run(study, run)
        beholder.simulate(study, participants=3, seed=4, store=store)
    sessions = read_tables(store, ["sessions"])["sessions"]
    people = {run: {row["participant"] for row in sessions if row["run"] == run} for run in (1, 2)}
    assert [len(people[run]) for run in (1, 2)] == [3, 3]
    assert people[1].isdisjoint(people[2]), "nobody twice"
    assert runs_of(study, store) == (1, 2)
    assert beholder.clean(study, store=store).counts["sessions"] == 3
    assert len(ratings_of_run(study, 1, store).used) == 36
    async with serving(study, store, 2) as site:
        refused = await robot(site, "4-1").arrive()
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "earlier_run")


@pytest.mark.variant
def test_robots_of_another_run_are_other_people_with_the_same_truth(twice: Path) -> None:
    one, other = (scores(ratings_of_run(twice, run)).table for run in (1, 2))
    assert list(one["stimulus"]) == list(other["stimulus"])
    assert not np.allclose(one["mean"], other["mean"])
    assert np.corrcoef(one["mean"], other["mean"])[0, 1] > 0.9


def test_cleaning_is_of_the_run_in_the_file_and_an_earlier_one_can_be_looked_at_again(twice: Path) -> None:
    cleaned = beholder.clean(twice)
    assert (cleaned.run, cleaned.counts["sessions"], cleaned.counts["other_plans"]) == (2, 5, 0)
    account = json.loads((cleaned.folder / "account.json").read_text("utf-8"))
    assert (account["run"], account["finished"]["robots"]) == (2, 5)
    assert (cleaned.folder / "account.md").read_text("utf-8").startswith("# Who is counted: A tiny study, run 2\n")
    result = CliRunner().invoke(cli, ["clean", str(twice), "--run", "1"])
    assert result.output.startswith("5 of 5 sessions (robots) are used: 60 ratings.\n")
    assert {row["run"] for row in _rows(twice.parent / "clean" / "ratings.csv")} == {"1"}
    result = CliRunner().invoke(cli, ["analyse", str(twice)])
    assert "\nThese are the ratings of run 1, as clean/ has them; the study is at another run.\n" in result.output
    result = CliRunner().invoke(cli, ["clean", str(twice)])
    assert result.output.startswith("Run 2: 5 of 5 sessions (robots) are used: 60 ratings.\n")


def test_a_run_that_nobody_has_come_to_is_named_with_those_that_there_are(twice: Path) -> None:
    with pytest.raises(UserError) as caught:
        beholder.clean(twice, run=3)
    assert str(caught.value) == (
        "store/  holds no sessions of run 3 yet. Allowed: runs 1 and 2. "
        "Look at another run (`beholder clean --run 2`, `beholder compare study.yaml@2`), or let people into this one "
        "with `beholder serve`."
    )


def test_the_ratings_of_a_run_are_those_that_cleaning_writes(twice: Path) -> None:
    beholder.clean(twice, run=1)
    before = (twice.parent / "clean" / "ratings.csv").read_bytes()
    again = ratings_of_run(twice, 1)
    assert scores(again).table.equals(scores(open_ratings(twice).ratings).table)
    assert again.session_reasons == open_ratings(twice).ratings.session_reasons
    ratings_of_run(twice, 2)
    assert (twice.parent / "clean" / "ratings.csv").read_bytes() == before, "nothing is written"


@pytest.mark.variant
def test_the_report_says_which_run_it_is_of(twice: Path) -> None:
    for run, is_told in ((2, True), (1, False)):
        beholder.clean(twice, run=run)
        beholder.analyse(twice)
        material = load_material(load_study(twice))
        page = report_page(replace(material, figures=defaultdict(Markup)))  # drawing them takes most of a report
        assert (", run 2</p>" in page) is is_told
        assert ("This was run 2, with a plan of its own and nobody who took part in another run" in page) is is_told


def test_an_export_has_all_runs_and_says_so(twice: Path, tmp_path: Path) -> None:
    exported = beholder.export(twice, out=tmp_path / "out")
    sentence = "Runs 1 and 2 are in the same tables; the column `run` tells them apart."
    assert sentence in exported.notes
    assert exported.rows["ratings"] == 120
    rows = _rows(exported.folder / "ratings.csv")
    assert [sum(row["run"] == run for row in rows) for run in ("1", "2")] == [60, 60]
    assert {row["use"] for row in _rows(exported.folder / "sessions.csv")} == {"true"}


def _rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table))
