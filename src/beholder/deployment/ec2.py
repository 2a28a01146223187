"""The target `ec2:REGION[:SIZE]`: a machine at Amazon that is made for a deployment and given back by `down`.

Everything that is made carries one tag from its first moment, and is found by it alone: `create` keeps what it finds,
`destroy` removes what it finds, and `remains` tells what is found. A process that dies between two calls leaves nothing
that the same command would not go on with.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from decimal import ROUND_UP, Decimal
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from beholder.deployment.cloud_init import READY, USER, user_data
from beholder.deployment.contract import DeployError, Machine, MachineUnreachable, Problem, Sum
from beholder.deployment.ssh import SshTarget

TAG = "beholder"
"""The tag on everything that is made; its value is that of one machine."""
SIZES: Mapping[str, Decimal] = {
    "t3.micro": Decimal("0.0168"),
    "t3.small": Decimal("0.0336"),
    "t3.medium": Decimal("0.0672"),
    "t3.large": Decimal("0.1344"),
}
"""Sizes, with USD an hour at most: an estimate of what Linux costs on demand in the dearest region (São Paulo).

They were not held against Amazon's price list. For any other size what the researcher says with --hourly counts.
"""
_USUAL_SIZE = "t3.small"
_DISK_GB = 20
_DISK_HOURLY = Decimal("0.152") * _DISK_GB / 730
_ADDRESS_HOURLY = Decimal("0.005")
_DEBIAN, _IMAGE = "136693071363", "debian-12-amd64-*"
"""The account by which Debian publishes its images, and their name."""
_PLACE = re.compile(r"^ec2:(?P<region>[a-z0-9-]+)(:(?P<size>[a-z0-9.]+))?$")
_CHECK_ADDRESS = "https://checkip.amazonaws.com"
_PATIENCE_S, _EVERY_S = 600.0, 2.0
_LIVE = ["pending", "running", "stopping", "stopped"]
_WEB_PORTS = (("tcp", 80), ("tcp", 443), ("udp", 443))


class Ec2Target:
    """A machine at Amazon, made for one deployment."""

    kind: ClassVar[str] = "ec2"
    is_made: ClassVar[bool] = True

    def __init__(self, place: str, name: str, ssh_config: str | None = None, estimate: Sum | None = None) -> None:
        """`name` tells this machine from all others that its maker has; it is the value of the tag.

        `estimate` is what the researcher says that an hour costs at most, for sizes of which no price is known here.
        """
        self.place, self._name, self._ssh_config, self._estimate = place, name, ssh_config, estimate
        match = _PLACE.match(place)
        self._region = match["region"] if match else ""
        self._size = (match["size"] if match else None) or _USUAL_SIZE

    @property
    def hourly(self) -> Sum | None:
        """What machine, disk and address cost for an hour at most, rounded up to a cent; else the researcher's word."""
        price = SIZES.get(self._size)
        if price is None:
            return self._estimate
        cents = ((price + _DISK_HOURLY + _ADDRESS_HOURLY) * 100).to_integral_value(ROUND_UP)
        return Sum(int(cents), "USD")

    @property
    def description(self) -> str:
        """The machine in words."""
        return (
            f"a machine {self._size} with Debian 12 and an encrypted disk of {_DISK_GB} GB in {self._region}, tagged "
            f"{TAG}={self._name}; traffic beyond 100 GB a month is charged apart"
        )

    def problems(self) -> list[Problem]:
        """Return what is missing here or written wrongly; Amazon is not asked."""
        found = [*SshTarget(self._name, self._ssh_config).problems()]
        if not _PLACE.match(self.place):
            fix = "The region is where the machine is, such as eu-central-1 (Frankfurt) or us-east-1."
            found.append(Problem("--to", f"is {self.place}", "ec2:REGION or ec2:REGION:SIZE", fix))
            return found
        if self.hourly is None:
            fix = 'For another one say what it costs for an hour at most, with its disk, such as --hourly "0.20 USD".'
            what = f"names the size {self._size}, of which no price is known here"
            found.append(Problem("--to", what, ", ".join(SIZES), fix))
        try:
            import boto3
        except ImportError:
            fix = "Install it with `pip install 'beholder[cloud]'`."
            return [*found, Problem("boto3", "is not here, by which machines at Amazon are made", "", fix)]
        session = boto3.session.Session()
        regions = session.get_available_regions("ec2")
        if self._region not in regions:
            found.append(Problem("--to", f"names the region {self._region}", ", ".join(sorted(regions))))
        if session.get_credentials() is None:
            fix = (
                "Make an access key for a user of yours at Amazon (IAM), then `aws configure`; or set "
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. They stay here."
            )
            found.append(Problem("AWS", "has given you no credentials on this machine", "", fix))
        return found

    # Making it

    @property
    def address(self) -> str | None:
        """The machine's number as an address, for those who have no name for it; None before it is made."""
        with amazon_errors(self._region):
            found = self._instances()
        number = found[0].get("PublicIpAddress") if found else None
        return f"https://{number}" if number else None

    def create(self) -> None:
        """Make the machine, or go on where that was broken off, until ssh answers and it is set up."""
        if problems := self.problems():
            raise DeployError(problems)
        self._make_keys()
        with amazon_errors(self._region):
            instance = self._make_instance(self._make_group())
            number = self._until_running(instance)
        self._write_config(number)
        with self.connect() as machine:
            _until_set_up(machine)
        with amazon_errors(self._region):
            # The first boot needed them, for its user data; nothing there needs to know its account any more.
            self._ec2.modify_instance_metadata_options(
                InstanceId=instance, HttpEndpoint="disabled", HttpTokens="required", HttpPutResponseHopLimit=1
            )

    def _make_group(self) -> str:
        """Return the security group: ports 80 and 443 for everybody, ssh for nobody yet."""
        group = next(iter(self._groups()), None)
        if group is None:
            vpcs = self._ec2.describe_vpcs(Filters=[{"Name": "is-default", "Values": ["true"]}])["Vpcs"]
            if not vpcs:
                fix = f"Make one: `aws ec2 create-default-vpc --region {self._region}`."
                raise DeployError(Problem(self.place, "has no default network in your account", "", fix))
            made = self._ec2.create_security_group(
                GroupName=self._name, VpcId=vpcs[0]["VpcId"], TagSpecifications=self._tags("security-group"),
                Description="Beholder: people reach a study on ports 80 and 443",
            )  # fmt: skip
            group = {"GroupId": made["GroupId"], "IpPermissions": []}
        wanted = [_permission(protocol, port, "0.0.0.0/0", "::/0") for protocol, port in _WEB_PORTS]
        present = {(one.get("IpProtocol"), one.get("FromPort")) for one in group["IpPermissions"]}
        missing = [one for one in wanted if (one["IpProtocol"], one["FromPort"]) not in present]
        if missing:
            self._ec2.authorize_security_group_ingress(GroupId=group["GroupId"], IpPermissions=missing)
        return str(group["GroupId"])

    def _make_instance(self, group: str) -> str:
        """Return the instance, made with its disk unless it is there."""
        if found := self._instances():
            return str(found[0]["InstanceId"])
        image = self._image()
        disk = {
            "VolumeSize": _DISK_GB, "VolumeType": "gp3", "Encrypted": True, "DeleteOnTermination": True,
        }  # fmt: skip
        try:
            made = self._ec2.run_instances(
                # A call that was made, and whose answer was lost, makes no second machine.
                ClientToken=self._name, MinCount=1, MaxCount=1, ImageId=image["ImageId"], InstanceType=self._size,
                SecurityGroupIds=[group], UserData=self._user_data(),
                # What a script there could ask with: a token, from the machine itself only. Off after the first boot.
                MetadataOptions={"HttpTokens": "required", "HttpPutResponseHopLimit": 1, "HttpEndpoint": "enabled"},
                BlockDeviceMappings=[{"DeviceName": image["RootDeviceName"], "Ebs": disk}],
                # Whoever shuts it down from inside loses nothing; and work beyond its credits costs no more.
                InstanceInitiatedShutdownBehavior="stop", CreditSpecification={"CpuCredits": "standard"},
                TagSpecifications=self._tags("instance", "volume", "network-interface"),
            )  # fmt: skip
        except _client_error() as error:
            if _code(error) == "IdempotentParameterMismatch" and (found := self._instances()):
                return str(found[0]["InstanceId"])
            raise
        return str(made["Instances"][0]["InstanceId"])

    def _image(self) -> Mapping[str, Any]:
        """Return Debian's newest image."""
        filters = {"name": _IMAGE, "state": "available", "architecture": "x86_64"}
        found: list[Mapping[str, Any]] = self._ec2.describe_images(
            Owners=[_DEBIAN], Filters=[{"Name": name, "Values": [value]} for name, value in filters.items()]
        )["Images"]
        if not found:
            what = f"has no image {_IMAGE} of Debian's"
            raise DeployError(Problem(self.place, what, "", "Take another region, such as ec2:eu-central-1."))
        return max(found, key=lambda image: str(image["CreationDate"]))

    def _until_running(self, instance: str) -> str:
        """Wait until the instance runs, and return its public number."""
        ends = time.monotonic() + _PATIENCE_S
        while True:
            found = {str(one["InstanceId"]): one for one in self._instances()}.get(instance, {})
            state = found.get("State", {}).get("Name", "gone")
            if state == "running" and found.get("PublicIpAddress"):
                return str(found["PublicIpAddress"])
            if state == "stopped":
                self._ec2.start_instances(InstanceIds=[instance])
            if state == "gone" or time.monotonic() > ends:
                why = found.get("StateReason", {}).get("Message", "Amazon says nothing")
                fix = "Run it again; or `beholder deploy down` gives back what was made."
                raise DeployError(Problem(self.place, f"has not started the machine ({state}: {why})", "", fix))
            time.sleep(_EVERY_S)

    # Reaching it

    @contextlib.contextmanager
    def connect(self) -> Iterator[Machine]:
        """Connect by ssh, whose port is open for the address of this network alone, and only meanwhile."""
        if not self._config.is_file():
            fix = f"They were in {self._folder}. `beholder deploy down --lost WORDS` gives it up."
            what = "cannot be reached: its keys are not on this machine"
            raise MachineUnreachable(Problem(self.place, what, "", fix))
        with amazon_errors(self._region):
            groups = [str(group["GroupId"]) for group in self._groups()]
            found = self._instances()
        if not groups or not found:
            fix = "`beholder deploy up` makes another one; answers that were not pulled are gone with it."
            raise MachineUnreachable(Problem(self.place, "has the machine no more", "", fix))
        self._write_config(str(found[0].get("PublicIpAddress", "")))  # it changes where a machine was stopped
        try:
            with amazon_errors(self._region):
                self._let_ssh_in(groups[0], own_network())
            # A copy, which is there until the connection is closed: `destroy` may come in between.
            with tempfile.TemporaryDirectory(prefix="bh-", ignore_cleanup_errors=True) as folder:
                config = shutil.copy(self._config, Path(folder) / "config")
                with SshTarget(self._name, str(config)).connect() as machine:
                    yield machine
        finally:
            with amazon_errors(self._region):
                self._let_ssh_in(groups[0], None)

    def _let_ssh_in(self, group: str, network: str | None) -> None:
        """Let ssh in from one network alone, or from nowhere; what another process left open is closed."""
        present = [
            one
            for found in self._groups()
            if found["GroupId"] == group
            for one in found["IpPermissions"]
            if one.get("FromPort") == 22
        ]
        wanted = [_permission("tcp", 22, network)] if network else []
        if present != wanted:
            if present:
                self._ec2.revoke_security_group_ingress(GroupId=group, IpPermissions=present)
            if wanted:
                self._ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=wanted)

    # Giving it back

    def destroy(self) -> None:
        """Give everything back that carries the tag, and remove the keys here last."""
        with amazon_errors(self._region):
            if found := [str(one["InstanceId"]) for one in self._instances()]:
                self._ec2.terminate_instances(InstanceIds=found)
            self._until(lambda: not self._instances([*_LIVE, "shutting-down"]))
            for volume in self._volumes():
                self._ec2.delete_volume(VolumeId=volume)
            for group in self._groups():
                self._ec2.delete_security_group(GroupId=group["GroupId"])
        shutil.rmtree(self._folder, ignore_errors=True)

    def remains(self) -> list[str]:
        """Return everything that carries the tag, and the keys here."""
        with amazon_errors(self._region):
            instances = self._instances([*_LIVE, "shutting-down"])
            interfaces = self._ec2.describe_network_interfaces(Filters=self._filters())["NetworkInterfaces"]
            found = [
                *(str(one["InstanceId"]) for one in instances),
                *self._volumes(),
                *(str(one["NetworkInterfaceId"]) for one in interfaces),
                *(str(group["GroupId"]) for group in self._groups()),
            ]
        return [*found, *([str(self._folder)] if self._folder.exists() else [])]

    def _until(self, is_so: Callable[[], bool]) -> None:
        ends = time.monotonic() + _PATIENCE_S
        while not is_so():
            if time.monotonic() > ends:
                what, fix = "takes long to give the machine back", "Run it again; it is on its way out."
                raise DeployError(Problem(self.place, what, "", fix))
            time.sleep(_EVERY_S)

    # What Amazon has

    @cached_property
    def _ec2(self) -> Any:
        import boto3
        from botocore.config import Config

        retries = Config(retries={"mode": "standard", "max_attempts": 5}, connect_timeout=20, read_timeout=60)
        return boto3.client("ec2", region_name=self._region, config=retries)

    def _tags(self, *kinds: str) -> list[dict[str, Any]]:
        tags = [{"Key": TAG, "Value": self._name}, {"Key": "Name", "Value": self._name}]
        return [{"ResourceType": kind, "Tags": tags} for kind in kinds]

    def _filters(self, **more: list[str]) -> list[dict[str, Any]]:
        own = [{"Name": f"tag:{TAG}", "Values": [self._name]}]
        return own + [{"Name": name, "Values": values} for name, values in more.items()]

    def _instances(self, states: list[str] | None = None) -> list[Mapping[str, Any]]:
        found = self._ec2.describe_instances(Filters=self._filters(**{"instance-state-name": states or _LIVE}))
        return [one for reservation in found["Reservations"] for one in reservation["Instances"]]

    def _groups(self) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = self._ec2.describe_security_groups(Filters=self._filters())["SecurityGroups"]
        return found

    def _volumes(self) -> list[str]:
        return [str(one["VolumeId"]) for one in self._ec2.describe_volumes(Filters=self._filters())["Volumes"]]

    # What is here

    @property
    def _folder(self) -> Path:
        """Keys for this machine alone, beside the person's own and not in the study, which others may get."""
        return Path.home() / ".ssh" / "beholder" / self._name

    @property
    def _config(self) -> Path:
        return self._folder / "config"

    def _make_keys(self) -> None:
        """Make a key to log in, and the key by which the machine shows that it is this one."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in ("key", "host_key"):
            if not (self._folder / f"{name}.pub").is_file():
                (self._folder / name).unlink(missing_ok=True)
                command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", self._name, "-f"]
                subprocess.run(
                    [*command, str(self._folder / name)], check=True, stdin=subprocess.DEVNULL, capture_output=True
                )

    def _user_data(self) -> str:
        key = (self._folder / "key.pub").read_text("utf-8").strip()
        host = [(self._folder / name).read_text("utf-8") for name in ("host_key", "host_key.pub")]
        return user_data([key], has_firewall=False, host_key=(host[0], host[1].strip()))

    def _write_config(self, number: str) -> None:
        """Write the configuration for ssh: that of the person comes first, such as a jump host that is needed."""
        host_key = " ".join((self._folder / "host_key.pub").read_text("utf-8").split()[:2])
        (self._folder / "known_hosts").write_text(f"{self._name} {host_key}\n", "utf-8")
        lines = [
            *([f'Include "{self._ssh_config}"'] if self._ssh_config else []),
            f"Host {self._name}",
            f"  HostName {number}",
            f"  User {USER}",
            f'  IdentityFile "{self._folder / "key"}"',
            "  IdentitiesOnly yes",
            f'  UserKnownHostsFile "{self._folder / "known_hosts"}"',
            f"  HostKeyAlias {self._name}",
            "  StrictHostKeyChecking yes",
        ]
        self._config.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def _permission(protocol: str, port: int, network: str, network6: str | None = None) -> dict[str, Any]:
    six = [{"CidrIpv6": network6}] if network6 else []
    four = [{"CidrIp": network}]
    if ":" in network:
        four, six = [], [{"CidrIpv6": network}]
    return {"IpProtocol": protocol, "FromPort": port, "ToPort": port, "IpRanges": four, "Ipv6Ranges": six}


def _until_set_up(machine: Machine) -> None:
    """Wait until ssh answers and the first boot is over."""
    ends = time.monotonic() + _PATIENCE_S
    while True:
        try:
            if machine.run(["sh", "-c", f'test -f "$HOME/{READY}"']).code == 0:
                return
        except MachineUnreachable:
            if time.monotonic() > ends:
                raise
        if time.monotonic() > ends:
            fix = "Run it again; or look at its console at Amazon; or `beholder deploy down` gives it back."
            raise DeployError(Problem(machine.name, "has not set itself up", "", fix))
        time.sleep(_EVERY_S)


def own_network() -> str:
    """Return the network from which ssh is let in: BEHOLDER_SSH_FROM, else the address that Amazon sees us under."""
    told = os.environ.get("BEHOLDER_SSH_FROM", "")
    if not told:
        try:
            with urllib.request.urlopen(_CHECK_ADDRESS, timeout=20) as answer:
                told = answer.read(100).decode("ascii", "replace").strip()
        except OSError as error:
            what = f"does not say under which address you come ({error})"
            fix = "Set BEHOLDER_SSH_FROM to the network from which ssh is to be let in, such as 203.0.113.7/32."
            raise MachineUnreachable(Problem(_CHECK_ADDRESS, what, "", fix)) from error
    try:
        return str(ipaddress.ip_network(told, strict=False))
    except ValueError:
        allowed = "an address, or a network such as 203.0.113.0/24"
        raise DeployError(Problem("BEHOLDER_SSH_FROM", f"is {told}", allowed)) from None


# What Amazon says, as what to do


def _client_error() -> type[Exception]:
    from botocore.exceptions import ClientError

    found: type[Exception] = ClientError
    return found


def _code(error: Any) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


@contextlib.contextmanager
def amazon_errors(region: str) -> Iterator[None]:
    """Tell what Amazon refuses as a DeployError, and a network that does not lead there as MachineUnreachable."""
    from botocore.exceptions import BotoCoreError

    try:
        yield
    except _client_error() as error:
        raise refusal(region, _code(error), str(error)) from error
    except BotoCoreError as error:
        fix = "See that you are online, and how the region is written; run it again."
        raise MachineUnreachable(Problem(f"ec2:{region}", f"does not answer ({error})", "", fix)) from error


_REFUSALS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("AuthFailure", "InvalidClientTokenId", "UnrecognizedClientException", "SignatureDoesNotMatch"),
        "does not take your credentials",
        "Make a new access key (IAM), then `aws configure`; see that the clock here is right.",
    ),
    (("ExpiredToken", "RequestExpired"), "says that your credentials are over", "Log in again: `aws sso login`."),
    (
        ("UnauthorizedOperation", "AccessDenied"),
        "does not let your user do this",
        "Give it the rights of AmazonEC2FullAccess, or ask who runs your account.",
    ),
    (
        ("InstanceLimitExceeded", "VcpuLimitExceeded", "SecurityGroupLimitExceeded", "VolumeLimitExceeded"),
        "has reached the quota of your account",
        "Give back what you do not use, ask for more (Service Quotas), or take another region.",
    ),
    (
        ("InsufficientInstanceCapacity", "Unsupported"),
        "has no machine of this size now",
        "Take another size or region, such as ec2:eu-west-1:t3.medium.",
    ),
    (("OptInRequired", "Blocked", "PendingVerification"), "is not open for you yet", "See your account at Amazon."),
)
"""Codes of Amazon, what they mean, and what to do."""


def refusal(region: str, code: str, said: str) -> DeployError:
    """Return why Amazon refuses, and what to do about it."""
    for codes, what, fix in _REFUSALS:
        if code in codes:
            return DeployError(Problem(f"ec2:{region}", f"{what} ({code})", "", fix))
    fix = "Run it again: what was made is found by its tag."
    return DeployError(Problem(f"ec2:{region}", f"refuses: {said}", "", fix))
