"""A study in containers has the verbs of every deployment, by the command line of an engine; without one that is said.

The engine is a fake that runs plain processes, held to the same list as a real one; where a real one answers, it is
held to it too, and builds the image.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner

from beholder.cli import cli
from beholder.deployment import Deployment, deploy
from beholder.deployment.container import write_container
from beholder.deployment.engine import ContainerTarget, engine_of
from beholder.deployment.journal import Journal
from beholder.errors import DeployError
from beholder.methods import load_study
from beholder.server.process import load_served
from beholder.simulation.crowd import send_robots
from beholder.simulation.robot import Robot
from beholder.store.open import open_store
from beholder.testing import check_target, write_study
from beholder.testing.engines import AWAY, check_engine, install_engine
from support.deployed_study import stored_answers

if sys.platform != "linux":
    pytest.skip("a fake engine needs Linux", allow_module_level=True)

ADDRESS = "https://127.0.0.1:9"


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a fake engine, the only one on PATH; its processes end with the test."""
    folder = tmp_path / "engine"
    install_engine(folder)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    yield folder
    for one in psutil.process_iter(["cmdline"]):
        if str(folder / "project-") in " ".join(one.info["cmdline"] or ()):
            one.kill()


def started(folder: Path, tiny: Path, **keys: object) -> Deployment:
    study = write_study(folder / "study", tiny, **keys)
    write_container(load_study(study), study.name, address=ADDRESS, tls="proxy", is_started=True)
    return Deployment(study)


def port_of(engine: Path) -> int:
    return int(json.loads((engine / "project-beholder-tiny" / "record.json").read_text("utf-8"))["port"])


async def take_part(engine: Path, study: Path, count: int, seed: int = 1) -> dict[tuple[str, str], object]:
    """Let robots take part in the container; return what was acknowledged."""
    address = f"http://127.0.0.1:{port_of(engine)}"
    served, _ = load_served(load_study(study), ADDRESS)
    store = engine / "project-beholder-tiny" / "srv" / "store"
    async with open_store(store, write=False) as reader:
        robots: list[Robot] = []
        await send_robots(served, reader, address, count, seed=seed, patience_s=120, robots=robots)
    return {(one.session, one.key): one.answer for robot in robots for one in robot.acknowledged}


async def test_a_container_is_looked_after_by_the_verbs_of_every_deployment(
    tmp_path: Path, tiny: Path, engine: Path
) -> None:
    online = await asyncio.to_thread(started, tmp_path, tiny)
    acknowledged = await take_part(engine, online.study, 2)
    status = await asyncio.to_thread(online.status)
    assert (status.is_served, status.is_kept, status.service, status.is_current) == (True, True, "docker", True)
    assert status.store_bytes > 0
    assert not status.is_well, "nobody reaches it under this address"
    copy = await asyncio.to_thread(online.pull)
    home = online.study.parent / "store"
    assert await stored_answers(home) == acknowledged
    assert copy.answers == len(acknowledged)
    assert isinstance(online.logs(3), list)
    ran = await asyncio.to_thread(online.exec, "monitor", "--once")
    assert (ran["code"], "A tiny study" in ran["out"]) == (0, True), ran
    await asyncio.to_thread(files_come_home, online, engine)

    # Texts change, and nobody's answer is lost.
    text = online.study.read_text("utf-8").replace("A tiny study", "Another title")
    online.study.write_text(text, "utf-8")
    assert not online.status().is_current
    await asyncio.to_thread(started_again, online)
    assert online.status().is_current
    acknowledged |= await take_part(engine, online.study, 1, seed=2)

    gone = await asyncio.to_thread(online.down)
    assert gone.is_gone
    assert await stored_answers(home) == acknowledged
    assert not (engine / "project-beholder-tiny").exists()
    assert gone.words[0] == "Nothing of tiny is left on the container engine of this machine."
    again = online.down()
    assert again.is_gone
    assert again.words[0].startswith("tiny is down since 20"), again.words


def files_come_home(online: Deployment, engine: Path) -> None:
    """Check that what a verb writes for a person comes home, goes back with it, and stays nowhere else."""
    home, there = online.study.parent / "decide", engine / "project-beholder-tiny" / "srv" / "study" / "decide"
    ran = online.exec("decide")
    assert ran["code"] == 0, ran
    assert (home / "decisions.csv").is_file()
    (home / "a note.txt").write_text("asked Ann", "utf-8")
    assert online.exec("decide")["code"] == 0
    assert (home / "a note.txt").read_text("utf-8") == "asked Ann"
    assert not there.exists()


def started_again(online: Deployment) -> None:
    study = load_study(online.study)
    write_container(study, online.study.name, address=ADDRESS, tls="proxy", is_started=True)


def test_without_an_engine_every_verb_says_so_and_changes_nothing(tmp_path: Path, tiny: Path, engine: Path) -> None:
    online = started(tmp_path, tiny)
    before = Journal(online.study.parent).path.read_text("utf-8")
    (engine / AWAY).touch()
    for verb in (online.status, online.pull, online.logs, online.down):
        with pytest.raises(DeployError) as told:
            verb()
        assert str(told.value) == (
            "container engine  does not answer here. Allowed: docker or podman. Start Docker or Podman; `docker info` "
            "and `docker compose version` say whether both are there."
        )
    assert Journal(online.study.parent).path.read_text("utf-8") == before
    (engine / AWAY).unlink()
    assert online.down().is_gone


def test_a_container_that_is_gone_is_told_and_another_target_is_refused(
    tmp_path: Path, tiny: Path, engine: Path
) -> None:
    online = started(tmp_path, tiny)
    asked = CliRunner().invoke(cli, ["deploy", "up", str(online.study), "--to", "container", "--address", ADDRESS])
    assert isinstance(asked.exception, DeployError)
    assert "--to  is container. Allowed: user@host" in str(asked.exception)
    with pytest.raises(DeployError, match="and the study is on container"):
        deploy(online.study, to="ada@lab.example.org", address=ADDRESS)
    ContainerTarget(online.study.parent / "container").destroy()
    with pytest.raises(DeployError, match="container  holds the deployment no more"):
        online.status()


def test_a_study_that_does_not_start_says_why_and_may_be_given_back(tmp_path: Path, tiny: Path, engine: Path) -> None:
    study = write_study(tmp_path / "study", tiny)
    written = write_container(load_study(study), study.name, address=ADDRESS, tls="proxy")
    compose = written.folder / "Containerfile"
    broken = compose.read_text("utf-8").replace('"--port"', '"--no-such-option"')
    compose.write_text(broken, "utf-8")
    with pytest.raises(DeployError, match="docker  does not start it: beholder serve  has no option --no-such-option"):
        ContainerTarget(written.folder).create()


def test_a_fake_engine_keeps_to_what_is_asked_of_an_engine(tmp_path: Path, tiny: Path, engine: Path) -> None:
    study = write_study(tmp_path / "study", tiny)
    written = write_container(load_study(study), study.name, address=ADDRESS, tls="proxy")
    check_engine("docker", written.folder)


@pytest.mark.variant
def test_a_container_keeps_the_contract_of_targets(tmp_path: Path, tiny: Path, engine: Path) -> None:
    study = write_study(tmp_path / "study", tiny)
    written = write_container(load_study(study), study.name, address=ADDRESS, tls="proxy")
    check_target(lambda: ContainerTarget(written.folder))


@pytest.mark.long
def test_a_real_engine_builds_the_image_and_keeps_to_the_same(tmp_path: Path, tiny: Path) -> None:
    engine = engine_of()
    if not engine:
        pytest.skip("no container engine answers")
    study = write_study(tmp_path / "study", tiny)
    written = write_container(load_study(study), study.name, address=ADDRESS, tls="proxy")
    check_engine(engine, written.folder)
    check_target(lambda: ContainerTarget(written.folder))
