"""Amazon's EC2 as moto plays it, over HTTP on loopback; machines that boot from their user data; and sudden deaths."""

from __future__ import annotations

import base64
import json
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.server_process import free_port
from support.ssh_machine import SshMachine, ssh_machine
from support.system_programs import need_ssh

REGION = "eu-central-1"
NEWEST = "ami-22222222"
_IMAGE = {
    "state": "available", "public": True, "image_location": "x", "sriov": "simple", "root_device_type": "ebs",
    "root_device_name": "/dev/xvda", "description": "", "image_type": "machine", "platform": None,
    "architecture": "x86_64", "virtualization_type": "hvm", "hypervisor": "xen", "owner_id": "136693071363",
}  # fmt: skip
_IMAGES = [
    {"ami_id": "ami-11111111", "name": "debian-12-amd64-20260101-1", "creation_date": "2026-01-01T00:00:00.000Z"},
    {"ami_id": NEWEST, "name": "debian-12-amd64-20260601-1", "creation_date": "2026-06-01T00:00:00.000Z"},
    {"ami_id": "ami-33333333", "name": "debian-12-arm64-20260701-1", "creation_date": "2026-07-01T00:00:00.000Z",
     "architecture": "arm64"},
    {"ami_id": "ami-44444444", "name": "debian-12-amd64-20260801-1", "creation_date": "2026-08-01T00:00:00.000Z",
     "owner_id": "999999999999"},
]  # fmt: skip
"""Debian's newest for this processor is the second; the last one is of somebody else who calls it so."""


@contextmanager
def amazon(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let there be an EC2 with images of Debian's, of which credentials and endpoint are in the environment."""
    need_ssh()  # machines there are reached by it
    home = folder / "home"
    home.mkdir(parents=True)
    patch.setenv("UV_CACHE_DIR", SshMachine(folder, 0).environment["UV_CACHE_DIR"])  # of the home that there was
    images = folder / "images.json"
    images.write_text(json.dumps([{**_IMAGE, **one} for one in _IMAGES]), "utf-8")
    patch.setenv("MOTO_AMIS_PATH", str(images))  # read when moto is imported
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    variables = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_CONFIG_FILE": str(home / "none"), "AWS_SHARED_CREDENTIALS_FILE": str(home / "none"),
        "AWS_EC2_METADATA_DISABLED": "true", "HOME": str(home), "BEHOLDER_SSH_FROM": "203.0.113.7",
    }  # fmt: skip
    # What moto plays outlives its server.
    reset = urllib.request.Request(f"{variables['AWS_ENDPOINT_URL']}/moto-api/reset", method="POST")
    urllib.request.urlopen(reset, timeout=60).close()
    for name, value in variables.items():
        patch.setenv(name, value)
    patch.delenv("AWS_PROFILE", raising=False)
    patch.setattr(boto3, "DEFAULT_SESSION", None)
    patch.setattr("beholder.deployment.ec2._EVERY_S", 0.02)
    try:
        yield
    finally:
        server.stop()


def ec2() -> Any:
    """Return a client of one's own."""
    import boto3

    return boto3.session.Session().client("ec2", region_name=REGION)


def user_data_of(instance: str) -> str:
    """Return the user data with which a machine was made."""
    found = ec2().describe_instance_attribute(InstanceId=instance, Attribute="userData")["UserData"]["Value"]
    return base64.b64decode(found).decode("utf-8")


@contextmanager
def booting_machine(folder: Path) -> Iterator[SshMachine]:
    """Let the first machine that is made boot: a real sshd with the host key and the people of its user data.

    Its public number leads to this machine by the configuration in `machine.config`, and by nothing else.
    """
    folder.mkdir(parents=True)
    machine = SshMachine(folder, free_port())
    machine.config.write_text(f"Host *\n  HostName 127.0.0.1\n  Port {machine.port}\n  User {_user()}\n", "utf-8")
    config = machine.config.read_bytes()
    is_over = threading.Event()
    failed: list[BaseException] = []

    def boot() -> None:
        try:
            while not (made := _made()):
                if is_over.wait(0.02):
                    return
            written = yaml.safe_load(user_data_of(made))
            (folder / "host_key").write_text(written["ssh_keys"]["ed25519_private"], "utf-8")
            (folder / "host_key").chmod(0o600)
            (folder / "host_key.pub").write_text(f"{written['ssh_keys']['ed25519_public']}\n", "utf-8")
            (folder / "user_key.pub").write_text("\n".join(written["users"][0]["ssh_authorized_keys"]), "utf-8")
            with ssh_machine(folder, port=machine.port):
                machine.config.write_bytes(config)
                (machine.home / ".beholder-ready").touch()
                is_over.wait()
        except BaseException as error:
            failed.append(error)

    booting = threading.Thread(target=boot)
    booting.start()
    try:
        yield machine
    finally:
        is_over.set()
        booting.join()
        assert not failed, failed


def _made() -> str:
    found = ec2().describe_instances()["Reservations"]
    return str(found[0]["Instances"][0]["InstanceId"]) if found else ""


def _user() -> str:
    import getpass

    return getpass.getuser()


class DiesAtCallError(BaseException):
    """What stands for a kill: nothing in the package catches it."""


@contextmanager
def dying_at(number: int, *, is_answered: bool) -> Iterator[list[str]]:
    """Let the process die at a call to Amazon: before it is sent, or after Amazon has done it; yield the calls."""
    import boto3

    calls: list[str] = []

    def die(model: Any = None, **_: Any) -> None:
        calls.append(model.name)
        if len(calls) == number:
            raise DiesAtCallError

    boto3.setup_default_session()
    session = boto3.DEFAULT_SESSION
    assert session is not None
    # `before-call` is asked once for each call, `after-call` when the answer has come.
    session.events.register(f"{'after' if is_answered else 'before'}-call.ec2", die)
    try:
        yield calls
    finally:
        boto3.setup_default_session()
