"""What keeps a machine from taking a deployment is said before anything is done, all at once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from beholder.deployment.inspection import has_redirects, machine_problems, machine_warnings
from beholder.deployment.settings import DeploySettings

NOW = datetime(2027, 3, 1, 12, tzinfo=UTC)
SETTINGS = DeploySettings("ada@lab", "https://study.example.org")
FACTS: dict[str, Any] = {
    "root": "~/.beholder", "disk_free": 20e9, "file_system": "ext4", "memory_free": 2e9, "is_root": False,
    "time": NOW.timestamp(), "ports": {"80": "free", "443": "free"}, "service": "systemd-user", "deployments": {},
    "caddy_sites": [], "machine": "x86_64", "tools": {"caddy": ""},
}  # fmt: skip
OPEN = (
    "echo net.ipv4.ip_unprivileged_port_start=80 | sudo tee /etc/sysctl.d/50-beholder.conf && "
    "sudo sysctl -p /etc/sysctl.d/50-beholder.conf"
)


def told(settings: DeploySettings = SETTINGS, now: datetime = NOW, **changes: Any) -> list[str]:
    found = machine_problems(
        {**FACTS, **changes}, settings, study="tiny", deployment="d1", study_bytes=10**9, is_installed=False, now=now
    )
    return [str(problem) for problem in found]


def test_a_machine_that_is_fine_is_taken() -> None:
    assert told() == []
    assert list(machine_warnings(FACTS, SETTINGS, NOW)) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"disk_free": 2e9},
            "ada@lab  has 2.0 GB of room at ~/.beholder, and this needs 2.8 GB. Make room there, or ask for "
            "more.",
        ),
        (
            {"file_system": "tmpfs"},
            "ada@lab  keeps ~/.beholder on tmpfs, which loses every answer with a reboot. Allowed: a disk, "
            "a database or a place for backups. Log in as a user with a home on a disk; or let the answers be in a "
            "database: --store postgresql://…; or name a place for backups: `backup:` in the study. With --volatile "
            "you take the loss.",
        ),
        (
            {"machine": "riscv64"},
            "ada@lab  has no Caddy, and the package index has none for riscv64. Install it there (`apt install "
            "caddy`), or leave TLS to a proxy that is there: --tls proxy.",
        ),
        (
            {"time": NOW.timestamp() + 3600},
            "ada@lab  has a clock that is 60 min ahead of the one here. Allowed: at most 120 s. Set it by the network "
            "there (`timedatectl set-ntp true`), or here; certificates and leases go by it.",
        ),
        (
            {"service": ""},
            "ada@lab  has neither systemd for its users nor cron, so that nothing would start the server again after "
            "a reboot. Ask for one of them: `loginctl enable-linger USER`, or a crontab.",
        ),
        (
            {"ports": {"80": "free", "443": "taken"}},
            "ada@lab  has something else that listens on port 443. Allowed: a port that nothing else uses. If it is a "
            "proxy (nginx, Apache, Caddy), let it pass people on: --tls proxy prints the lines. Else take another "
            "port, such as --address https://…:8443.",
        ),
        (
            {"ports": {"80": "forbidden", "443": "forbidden"}},
            "ada@lab  does not let this user listen on port 443. Three ways: a proxy that is there passes people on "
            "(--tls proxy); another port (--address https://…:8443 --tls internal); or an administrator runs this line "
            f"once: {OPEN}",
        ),
        (
            {"deployments": {"tiny": {"id": "other", "since": "2027-02-01T10:00:00"}}},
            "ada@lab  holds a study tiny already, which was deployed from elsewhere on 2027-02-01. Allowed: one "
            "deployment for each name of a study. Give your study another name; or take the other one down from the "
            "folder that it was deployed from.",
        ),
        (
            {"deployments": {"gestures": {"id": "other", "address": "https://study.example.org"}}},
            "ada@lab  serves the study gestures at https://study.example.org. Allowed: another --address. Each study "
            "has an address of its own: another name, or another port such as :8443.",
        ),
    ],
    ids=["room", "volatile", "caddy", "clock", "service", "taken", "forbidden", "elsewhere", "address"],
)  # fmt: skip
def test_what_is_wrong_with_a_machine_is_told(changes: dict[str, Any], words: str) -> None:
    assert told(**changes) == [words]


def test_a_disk_that_is_lost_does_where_the_answers_are_elsewhere() -> None:
    facts = {**FACTS, "file_system": "tmpfs"}
    in_database = replace(SETTINGS, store="postgresql://ada@db/study")
    rest: dict[str, Any] = {
        "study": "tiny", "deployment": "d1", "study_bytes": 0, "is_installed": False, "now": NOW,
    }  # fmt: skip
    assert list(machine_problems(facts, in_database, **rest)) == []
    assert list(machine_problems(facts, SETTINGS, has_backup=True, **rest)) == []
    assert list(machine_problems(facts, replace(SETTINGS, is_volatile=True), **rest)) == []


def test_everything_is_told_at_once() -> None:
    assert len(told(disk_free=0, service="", ports={"80": "taken", "443": "taken"})) == 3


def test_ports_of_our_own_caddy_and_of_a_proxy_are_no_problem() -> None:
    taken = {"80": "taken", "443": "taken"}
    assert told(ports=taken, caddy_sites=["gestures"]) == []
    assert told(DeploySettings("ada@lab", "https://study.example.org", "proxy"), ports={}) == []
    assert has_redirects({**FACTS, "ports": taken, "caddy_sites": ["gestures"]})
    assert not has_redirects({**FACTS, "ports": taken})


def test_what_is_odd_is_a_warning() -> None:
    odd = {**FACTS, "memory_free": 3e8, "is_root": True, "ports": {"80": "forbidden", "443": "free"}}
    warnings = machine_warnings(odd, SETTINGS, NOW + timedelta(seconds=60))
    assert [str(one).partition(".")[0] for one in warnings] == [
        "ada@lab  has a clock that differs by 60 s",
        "ada@lab  has 300 MB of free memory",
        "ada@lab  would run the server as root",
        "ada@lab  gives no port 80 to this user: who types http:// is not led on, and certificates come by port 443 "
        "alone",
    ]
