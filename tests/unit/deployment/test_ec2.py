"""A machine at Amazon: made once, found by its tag, reached by ssh alone while needed, and given back whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from beholder.deployment.contract import Sum
from beholder.deployment.ec2 import SIZES, TAG, Ec2Target, own_network, refusal
from beholder.deployment.settings import DeploySettings
from beholder.errors import DeployError
from beholder.testing import check_target
from support.amazon import NEWEST, REGION, DiesAtCallError, amazon, booting_machine, dying_at, ec2, user_data_of
from support.ssh_machine import ssh_machine
from support.system_programs import need_ssh
from support.variants import variant

NAME = "beholder-tiny-1a2b3c4d"
PLACE = f"ec2:{REGION}"


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with amazon(tmp_path / "amazon", monkeypatch):
        yield


def everything() -> list[str]:
    """Return all that is there by name, whoever made it, but for what every account has."""
    client = ec2()
    reservations = client.describe_instances()["Reservations"]
    return [
        *(one["InstanceId"] for made in reservations for one in made["Instances"] if is_alive(one)),
        *(one["VolumeId"] for one in client.describe_volumes()["Volumes"]),
        *(one["KeyName"] for one in client.describe_key_pairs()["KeyPairs"]),
        *(one["AllocationId"] for one in client.describe_addresses()["Addresses"]),
        *(
            one["GroupId"]
            for one in client.describe_security_groups()["SecurityGroups"]
            if one["GroupName"] != "default"
        ),
    ]


def is_own(group: dict[str, Any]) -> bool:
    return bool(group["GroupName"] != "default")


def is_alive(instance: dict[str, Any]) -> bool:
    return bool(instance["State"]["Name"] != "terminated")


def tag_of(one: dict[str, Any]) -> str | None:
    return {tag["Key"]: tag["Value"] for tag in one.get("Tags", ())}.get(TAG)


def test_a_machine_at_amazon_keeps_the_contract(tmp_path: Path, cloud: None) -> None:
    with booting_machine(tmp_path / "machine") as machine:
        check_target(lambda: Ec2Target(PLACE, NAME, str(machine.config)))
    assert everything() == []
    assert list((tmp_path / "amazon" / "home" / ".ssh" / "beholder").iterdir()) == []


def test_what_is_made_is_tagged_closed_and_small(tmp_path: Path, cloud: None) -> None:
    with booting_machine(tmp_path / "machine") as machine:
        target = Ec2Target(PLACE, NAME, str(machine.config))
        assert target.address is None
        target.create()
        client = ec2()
        (made,) = client.describe_instances()["Reservations"]
        (instance,) = made["Instances"]
        assert target.address == f"https://{instance['PublicIpAddress']}"
        assert (instance["ImageId"], instance["InstanceType"], tag_of(instance)) == (NEWEST, "t3.small", NAME)
        assert instance["MetadataOptions"]["HttpEndpoint"] == "disabled"
        assert instance["MetadataOptions"]["HttpTokens"] == "required"
        (volume,) = client.describe_volumes()["Volumes"]
        assert (tag_of(volume), volume["Size"], volume["Encrypted"]) == (NAME, 20, True)
        (group,) = [one for one in client.describe_security_groups()["SecurityGroups"] if tag_of(one)]
        assert tag_of(group) == NAME
        assert ingress(group) == {("tcp", 80), ("tcp", 443), ("udp", 443)}, "ssh is closed when nobody needs it"
        with target.connect() as connected:
            assert connected.run(["true"]).code == 0
            (meanwhile,) = client.describe_security_groups(GroupIds=[group["GroupId"]])["SecurityGroups"]
            (ssh,) = [one for one in meanwhile["IpPermissions"] if one["FromPort"] == 22]
            assert [one["CidrIp"] for one in ssh["IpRanges"]] == ["203.0.113.7/32"]
        (after,) = client.describe_security_groups(GroupIds=[group["GroupId"]])["SecurityGroups"]
        assert ingress(after) == {("tcp", 80), ("tcp", 443), ("udp", 443)}
        data = user_data_of(instance["InstanceId"])
        assert [user["name"] for user in yaml.safe_load(data)["users"]] == ["beholder"], "no user with sudo"
        private = (tmp_path / "amazon" / "home" / ".ssh" / "beholder" / NAME / "key").read_text("utf-8")
        assert private not in data, "the key to log in stays here"
        target.destroy()
    assert everything() == []


def ingress(group: dict[str, Any]) -> set[tuple[str, int]]:
    return {(one["IpProtocol"], one["FromPort"]) for one in group["IpPermissions"]}


CALLS = 24
"""More than a making and a giving back take."""


@pytest.mark.variant
@pytest.mark.parametrize("is_answered", [variant(False), True], ids=["before it is sent", "after it is done"])
@pytest.mark.long
def test_a_crash_at_any_call_leaves_one_machine_and_then_nothing(
    tmp_path: Path, cloud: None, is_answered: bool, whole: bool
) -> None:
    with ssh_machine(tmp_path / "machine") as machine:
        (machine.home / ".beholder-ready").touch()
        config = tmp_path / "config"
        text = machine.config.read_text("utf-8").replace("Host machine", "Host *")
        text = text.replace("StrictHostKeyChecking yes", "StrictHostKeyChecking no").replace("known_hosts", "any_hosts")
        config.write_text(text, "utf-8")
        died = set()
        for number in range(1, CALLS) if whole else (7, 18):
            with dying_at(number, is_answered=is_answered) as calls:
                try:
                    dying = Ec2Target(PLACE, NAME, str(config))
                    dying.create()
                    dying.destroy()
                except DiesAtCallError:
                    died.add(calls[-1])
            target = Ec2Target(PLACE, NAME, str(config))
            if calls and calls[-1] in _OF_DESTROY and target.remains():
                target.destroy()
            else:
                target.create()
                assert len(everything()) == 3, "machine, disk and security group, each once"
                target.destroy()
            assert target.remains() == everything() == []
        acts = {"CreateSecurityGroup", "RunInstances", "TerminateInstances", "DeleteSecurityGroup"}
        assert not whole or acts <= died


_OF_DESTROY = {"TerminateInstances", "DeleteSecurityGroup", "DescribeVolumes"}


def test_what_is_of_others_stays(tmp_path: Path, cloud: None) -> None:
    client = ec2()
    other = client.create_security_group(GroupName="of-others", Description="x")["GroupId"]
    client.run_instances(ImageId=NEWEST, MinCount=1, MaxCount=1, InstanceType="t3.micro")
    before = everything()
    target = Ec2Target(PLACE, NAME)
    assert target.remains() == []
    target.destroy()
    assert everything() == before
    assert other in before


# Messages


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (
            "ec2",
            "--to  is ec2. Allowed: ec2:REGION or ec2:REGION:SIZE. The region is where the machine is, such as "
            "eu-central-1 (Frankfurt) or us-east-1.",
        ),
        (
            "ec2:eu-central-1:x1e.32xlarge",
            f"--to  names the size x1e.32xlarge, of which no price is known here. Allowed: {', '.join(SIZES)}. For "
            'another one say what it costs for an hour at most, with its disk, such as --hourly "0.20 USD".',
        ),
    ],
)
def test_a_place_that_cannot_be_is_told(cloud: None, place: str, words: str) -> None:
    assert [str(problem) for problem in Ec2Target(place, NAME).problems()] == [words]


def test_a_region_and_credentials_are_looked_for_before_anything_is_done(
    cloud: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    region, credentials = Ec2Target("ec2:eu-nowhere-1", NAME).problems()
    assert str(region).startswith("--to  names the region eu-nowhere-1. Allowed: af-south-1, ")
    assert str(credentials) == (
        "AWS  has given you no credentials on this machine. Make an access key for a user of yours at Amazon (IAM), "
        "then `aws configure`; or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. They stay here."
    )


def test_the_missing_extra_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    need_ssh()  # else that is told as well
    monkeypatch.setitem(__import__("sys").modules, "boto3", None)
    assert [str(problem) for problem in Ec2Target(PLACE, NAME).problems()] == [
        "boto3  is not here, by which machines at Amazon are made. Install it with `pip install 'beholder[cloud]'`."
    ]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("VcpuLimitExceeded", "has reached the quota of your account (VcpuLimitExceeded). Give back what you do not"),
        ("AuthFailure", "does not take your credentials (AuthFailure). Make a new access key (IAM)"),
        ("UnauthorizedOperation", "does not let your user do this (UnauthorizedOperation). Give it the rights of"),
        (
            "InsufficientInstanceCapacity",
            "has no machine of this size now (InsufficientInstanceCapacity). Take another",
        ),
        ("Strange", "refuses: it is strange. Run it again: what was made is found by its tag."),
    ],
)
def test_what_amazon_refuses_is_told_in_words(code: str, words: str) -> None:
    assert f"ec2:eu-central-1  {words}" in str(refusal(REGION, code, "it is strange"))


def test_without_a_default_network_or_an_image_nothing_is_made(tmp_path: Path, cloud: None) -> None:
    client = ec2()
    (vpc,) = client.describe_vpcs()["Vpcs"]
    for subnet in client.describe_subnets()["Subnets"]:
        client.delete_subnet(SubnetId=subnet["SubnetId"])
    client.delete_vpc(VpcId=vpc["VpcId"])
    with pytest.raises(DeployError) as refused:
        Ec2Target(PLACE, NAME).create()
    assert str(refused.value) == (
        "ec2:eu-central-1  has no default network in your account. Make one: `aws ec2 create-default-vpc --region "
        "eu-central-1`."
    )
    assert everything() == []


def test_the_network_from_which_ssh_comes_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for told, network in {"203.0.113.7": "203.0.113.7/32", "203.0.113.9/24": "203.0.113.0/24"}.items():
        monkeypatch.setenv("BEHOLDER_SSH_FROM", told)
        assert own_network() == network
    monkeypatch.setenv("BEHOLDER_SSH_FROM", "home")
    with pytest.raises(DeployError) as refused:
        own_network()
    assert str(refused.value) == (
        "BEHOLDER_SSH_FROM  is home. Allowed: an address, or a network such as 203.0.113.0/24."
    )


def test_of_another_size_the_price_is_what_the_researcher_says(cloud: None) -> None:
    target = DeploySettings("ec2:eu-central-1:c7i.xlarge", "", machine=NAME, hourly="0.25 USD").target()
    assert target.problems() == []
    assert target.hourly == Sum(25, "USD")


@pytest.mark.parametrize(("size", "cents"), [("t3.micro", 3), ("t3.small", 5), ("t3.medium", 8), ("t3.large", 15)])
def test_the_cost_is_rounded_up_to_a_cent(size: str, cents: int) -> None:
    hourly = Ec2Target(f"{PLACE}:{size}", NAME).hourly
    assert hourly is not None
    assert json.dumps(hourly) == json.dumps([cents, "USD"])
