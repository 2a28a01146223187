"""The worked example with three servers, the simulated day, and what plays thousands of participants."""

from __future__ import annotations

import asyncio
import json
import math
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml

from beholder.methods import load_study
from beholder.server.process import run_server
from beholder.testing import write_study
from load import Crowd, Waits, send_crowd
from scaling.day import Assumptions, Layout, resources, simulate
from scaling.measured import StoreCost, read_costs
from scaling.page import PAGE, size_table, with_part
from support.data import ROOT

EXAMPLE = ROOT / "docs" / "scaling"


def test_the_worked_example_is_three_servers_a_database_a_balancer_and_a_bucket() -> None:
    compose: dict[str, Any] = yaml.safe_load((EXAMPLE / "compose.yaml").read_text("utf-8"))
    schema = files("check_jsonschema").joinpath("builtin_schemas", "vendor", "compose-spec.json")
    jsonschema.validate(compose, json.loads(schema.read_text("utf-8")))
    services = compose["services"]
    servers = {name: one for name, one in services.items() if one.get("image") == "beholder-gestures"}
    assert set(services) - set(servers) == {"balancer", "database", "bucket"}
    assert len(servers) == 3
    for one in servers.values():
        assert one["command"][:2] == ["--store", "postgresql://beholder@database/beholder"]
        drain = float(one["command"][one["command"].index("--drain") + 1])
        assert drain + 10 < float(one["stop_grace_period"].removesuffix("s")), "it is not killed while it finishes"
        assert "volumes" not in one, "a server keeps nothing"
        assert "ports" not in one, "nobody reaches a server but through the balancer"
    front = (EXAMPLE / "Caddyfile").read_text("utf-8")
    assert all(f"{name}:8000" in front for name in servers)
    assert "health_uri /healthz" in front
    volumes = [volume.split(":")[0] for one in services.values() for volume in one.get("volumes", ())]
    assert {name for name in volumes if not name.startswith("./")} == set(compose["volumes"])
    assert {name for name in volumes if name.startswith("./")} == {"./Caddyfile", "./s3.json"}
    assert all((EXAMPLE / name).is_file() for name in volumes if name.startswith("./"))
    assert json.loads((EXAMPLE / "s3.json").read_text("utf-8"))["identities"][0]["credentials"][0]["secretKey"]


def test_the_balancer_of_the_example_can_be_started() -> None:
    caddy = shutil.which("caddy", path=str(Path(sys.executable).parent)) or shutil.which("caddy")
    if caddy is None:
        pytest.skip("no Caddy: neither its wheel nor the program is here")
    command = [caddy, "adapt", "--adapter", "caddyfile", "--config", str(EXAMPLE / "Caddyfile"), "--validate"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


# The simulated day

COST = StoreCost(
    kind="PostgreSQL", people=2000, sessions=2000, answers=5, requests=20, pause_s=(10, 20), server_ms=100.0,
    database_ms=0.005, p99_ms=50.0, errors=0, kilobytes=20.0, open_kilobytes=30.0, bytes_an_answer=2000.0,
    client_cores=0.1, list_kilobytes=1.0, list_trials=16, machine="a machine",
)  # fmt: skip


def test_one_processor_in_the_simulation_waits_as_theory_says() -> None:
    """M/M/1: of a server that is busy for a share r, 99 of 100 take less than ln(100) * s / (1 - r)."""
    given = Assumptions(people_a_day=60_000, server_cores=1, commit_ms=0.0)
    layout = Layout("one", 1, has_bucket=True, cost=COST)
    waits = simulate(layout, given)
    rate = given.people_a_day * given.busiest_hour / 3600 * given.answers
    busy = rate * COST.answer_ms / 1000
    assert busy == pytest.approx(0.533, abs=0.001)
    assert waits.server_share == pytest.approx(busy, rel=0.05)
    assert waits.p99_ms() == pytest.approx(math.log(100) * COST.answer_ms / (1 - busy), rel=0.1)
    assert waits.at_once == pytest.approx(rate * 15, rel=0.15)


def test_more_servers_wait_less_and_more_people_more() -> None:
    given = Assumptions(people_a_day=100_000)
    one, three = (Layout("", count, has_bucket=True, cost=COST) for count in (1, 3))
    assert simulate(three, given).p99_ms() < simulate(one, given).p99_ms()
    assert simulate(one, given).p99_ms() < simulate(one, replace(given, people_a_day=200_000)).p99_ms()
    assert simulate(one, given) == simulate(one, given), "the same seed, the same day"


def test_what_is_full_first_grows_with_people_or_does_not() -> None:
    given = Assumptions()
    with_bucket, without = (Layout("", 3, has_bucket=has, cost=COST) for has in (True, False))
    named = {one.name: one for one in resources(without, given)}
    assert set(named) - {one.name for one in resources(with_bucket, given)} == {"network of the servers, by media"}
    network = named["network of the servers, by media"]
    seconds = given.people_a_day * given.busiest_hour / 3600 * given.answers * given.media_mb * 8
    assert network.share == pytest.approx(seconds / 3000)
    assert network.people_a_day(given) == pytest.approx(given.people_a_day / network.share)
    assert math.isinf(named["connections of PostgreSQL"].people_a_day(given))
    doubled = {one.name: one for one in resources(without, replace(given, people_a_day=2 * given.people_a_day))}
    assert doubled["processors of the servers"].share == pytest.approx(2 * named["processors of the servers"].share)


def test_the_page_has_what_was_measured_last() -> None:
    text = PAGE.read_text("utf-8")
    costs = read_costs()
    assert {one.kind for one in costs} == {"SQLite", "PostgreSQL"}
    assert with_part(text, "sizes", size_table(costs)) == text, "run `make scaling`"
    with pytest.raises(ValueError, match="other has no place in the page"):
        with_part(text, "other", [])


# Participants


async def test_a_crowd_tells_waits_retries_and_what_was_stored(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny, design={"participants": 6, "trials": 1, "seed": 3})
    async with run_server(load_study(study), port=0) as server:
        port = int(server.address.rpartition(":")[2])
        crowd = Crowd("127.0.0.1", port, pause_s=(0.0, 0.1))
        waits = await send_crowd(crowd, people=3, sessions=6)
        assert (waits.faults, waits.completed, waits.retries) == ([], 6, 0)
        assert len(waits.acknowledged) == len(waits.seconds["answer"]) == 18
        assert len(waits.seconds["media"]) == 24
        assert len(set(waits.codes)) == 6
        late = await send_crowd(replace(crowd, seed=2), people=1)  # every list is taken
        assert late.completed == 0
        assert "full" in late.faults[0]
    gone = await send_crowd(replace(crowd, seed=3), people=1, waits=Waits())
    assert (gone.completed, len(gone.faults)) == (0, 1)


def test_the_command_plays_participants_at_a_server(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny, design={"participants": 2, "trials": 1, "seed": 3})

    async def play() -> tuple[int, str]:
        async with run_server(load_study(study), port=0) as server:
            command = [str(ROOT / "tools" / "load.py"), server.address, "tiny", "--people", "2", "--pause", "0", "0.1"]
            process = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=subprocess.PIPE)
            told, _ = await process.communicate()
            return process.returncode or 0, told.decode()

    code, told = asyncio.run(play())
    assert code == 0
    assert told.startswith("2 sessions, ")
    assert {line.split()[0] for line in told.splitlines()[1:]} == {"page", "arrive", "answer", "media"}
