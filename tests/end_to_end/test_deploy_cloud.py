"""A study on a machine that is made at Amazon for it: nothing before its cost is confirmed, nothing left after it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from beholder.deployment import Deployment
from beholder.deployment.journal import Journal
from beholder.deployment.rollout import roll_out
from beholder.errors import DeployError
from beholder.methods import load_study
from beholder.testing import write_study
from support.amazon import REGION, amazon, booting_machine, ec2
from support.deployed_study import DeployedStudy, KilledError, stored_answers


def live() -> list[str]:
    """Return the machines that are not terminated, and the security groups that somebody has made."""
    machines = [one for made in ec2().describe_instances()["Reservations"] for one in made["Instances"]]
    groups = ec2().describe_security_groups()["SecurityGroups"]
    return [
        *(one["InstanceId"] for one in machines if one["State"]["Name"] != "terminated"),
        *(one["GroupName"] for one in groups if one["GroupName"] != "default"),
    ]


class DyingJournal(Journal):
    """A journal whose process dies before it writes that the machine is there."""

    def write(self, deployment: str, step: str, event: Any, facts: Any = None) -> None:
        if (step, event) == ("machine", "done"):
            raise KilledError
        super().write(deployment, step, event, facts)


@pytest.mark.variant
async def test_a_machine_is_made_serves_and_is_given_back(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = write_study(tmp_path / "study", tiny)
    with amazon(tmp_path / "amazon", monkeypatch), booting_machine(tmp_path / "machine") as machine:
        online = DeployedStudy(study, machine)
        settings = {"to": f"ec2:{REGION}"}
        announced = await asyncio.to_thread(online.up, settings=settings, dry_run=True)
        assert announced.words[1].startswith(
            "1. Get a machine t3.small with Debian 12 and an encrypted disk of 20 GB in eu-central-1, tagged "
            "beholder=beholder-tiny-"
        )
        assert announced.words[-1] == "Cost: at most 0.05 USD an hour, until `beholder deploy down`."
        with pytest.raises(DeployError, match=r"--hourly  is missing, and the machine costs at most 0\.05 USD"):
            await asyncio.to_thread(online.up, settings=settings)
        assert live() == []

        # The process dies when the machine is there: `up` goes on with the same one.
        settings["hourly"] = "0.05 USD"
        with pytest.raises(KilledError):
            await asyncio.to_thread(online.up, settings=settings, journal=DyingJournal(study.parent))
        made = live()
        assert len(made) == 2
        deployed = await asyncio.to_thread(online.up, settings=settings)
        assert deployed.is_reached
        assert live() == made

        robots = await online.send(1)
        status = dict(online.deployment.status().rows)
        assert status["cost"] == "0.00 USD for 0.0 h at 0.05 USD an hour"
        with pytest.raises(DeployError) as refused:
            online.deployment.down(lost="it was stolen in May")
        assert f"ec2:{REGION}  still has the machine (" in str(refused.value)
        gone = await asyncio.to_thread(online.deployment.down)
        assert gone.is_gone
        assert live() == []
        assert len(await stored_answers(study.parent / "store")) == len(robots[0].acknowledged)
        assert Journal(study.parent).current() is None


@pytest.mark.variant
def test_a_machine_that_nobody_came_to_is_given_back_without_asking_it(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = write_study(tmp_path / "study", tiny)
    with amazon(tmp_path / "amazon", monkeypatch), booting_machine(tmp_path / "machine") as machine:
        given = {"to": f"ec2:{REGION}", "hourly": "0.05 USD", "ssh_config": str(machine.config)}
        with pytest.raises(KilledError):
            roll_out(load_study(study), study.name, given, journal=DyingJournal(study.parent))
        assert len(live()) == 2
        (machine.folder / "authorized_keys").write_text("", "utf-8")  # it lets nobody in any more
        gone = Deployment(study).down()
        assert gone.words == (f"Nothing of tiny is left on ec2:{REGION}.",)
        assert live() == []
        assert Journal(study.parent).current() is None


def test_a_machine_that_cannot_be_made_leaves_nothing(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = write_study(tmp_path / "study", tiny)
    with amazon(tmp_path / "amazon", monkeypatch):
        monkeypatch.setattr("beholder.deployment.ec2._IMAGE", "no-such-image-*")
        given = {"to": f"ec2:{REGION}", "hourly": "0.05 USD"}
        with pytest.raises(DeployError) as refused:
            roll_out(load_study(study), study.name, given)
        assert str(refused.value) == (
            f"ec2:{REGION}  has no image no-such-image-* of Debian's. Take another region, such as ec2:eu-central-1."
        )
        assert live() == []
        assert Journal(study.parent).current() is None
