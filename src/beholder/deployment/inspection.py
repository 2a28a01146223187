"""Whether a machine can take a deployment: everything that is wrong, said before anything is done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, get_args

from beholder.deployment.bundle import brings_caddy
from beholder.deployment.machine.machine_facts import VOLATILE
from beholder.deployment.settings import HERE, DeploySettings
from beholder.errors import Problem
from beholder.study.deployment import TunnelKind

ENVIRONMENT_BYTES = 1_300_000_000
"""Room for Python packages, and for those of the version before it."""
_SPARE_BYTES = 500_000_000
_LARGEST_SKEW_S, _ODD_SKEW_S = 120.0, 20.0
_LEAST_MEMORY = 400_000_000
TUNNELS = get_args(TunnelKind)
"""Tunnel programs, those that need least first."""
_OPEN_PORTS = (
    "echo net.ipv4.ip_unprivileged_port_start=80 | sudo tee /etc/sysctl.d/50-beholder.conf && "
    "sudo sysctl -p /etc/sysctl.d/50-beholder.conf"
)


def machine_problems(
    facts: Mapping[str, Any],
    settings: DeploySettings,
    *,
    study: str,
    deployment: str | None,
    study_bytes: int,
    is_installed: bool,
    has_backup: bool = False,
    now: datetime,
) -> Iterator[Problem]:
    """Yield what keeps a machine from taking the deployment; `deployment` is the one that goes on, if any."""
    where = settings.to
    yield from _other_deployments(facts, settings, study, deployment)
    need = study_bytes + _SPARE_BYTES + (0 if is_installed else ENVIRONMENT_BYTES)
    if facts["disk_free"] < need:
        what = f"has {gigabytes(facts['disk_free'])} of room at {facts['root']}, and this needs {gigabytes(need)}"
        yield Problem(where, what, "", "Make room there, or ask for more.")
    if facts["file_system"] in VOLATILE and not (settings.is_volatile or settings.store or has_backup):
        what = f"keeps {facts['root']} on {facts['file_system']}, which loses every answer with a reboot"
        fix = (
            "Log in as a user with a home on a disk; or let the answers be in a database: --store postgresql://…; or "
            "name a place for backups: `backup:` in the study. With --volatile you take the loss."
        )
        yield Problem(where, what, "a disk, a database or a place for backups", fix)
    if settings.tls != "proxy" and not (brings_caddy(facts) or facts["tools"]["caddy"]):
        what = f"has no Caddy, and the package index has none for {facts['machine']}"
        fix = "Install it there (`apt install caddy`), or leave TLS to a proxy that is there: --tls proxy."
        yield Problem(where, what, "", fix)
    skew = clock_skew(facts["time"], now)
    if abs(skew) > _LARGEST_SKEW_S:
        what = f"has a clock that is {_span(abs(skew))} {'ahead of' if skew > 0 else 'behind'} the one here"
        fix = "Set it by the network there (`timedatectl set-ntp true`), or here; certificates and leases go by it."
        yield Problem(where, what, f"at most {_LARGEST_SKEW_S:.0f} s", fix)
    if not facts["service"] and settings.service is None:
        what = "has neither systemd for its users nor cron, so that nothing would start the server again after a reboot"
        fix = "Ask for one of them: `loginctl enable-linger USER`, or a crontab."
        yield Problem(where, what, "", fix)
    yield from _ports(facts, settings)
    yield from _tunnels(facts, settings)


def machine_warnings(facts: Mapping[str, Any], settings: DeploySettings, now: datetime) -> Iterator[Problem]:
    """Yield what is worth knowing, and keeps nothing from being done."""
    where = settings.to
    skew = clock_skew(facts["time"], now)
    if _ODD_SKEW_S < abs(skew) <= _LARGEST_SKEW_S:
        yield Problem(where, f"has a clock that differs by {_span(abs(skew))}", "", "Let it be set by the network.")
    if 0 < facts["memory_free"] < _LEAST_MEMORY:
        what = f"has {facts['memory_free'] / 1e6:.0f} MB of free memory"
        yield Problem(where, what, "400 MB or more", "It may do for a few people at a time.")
    if facts["is_root"]:
        fix = "A user of its own is safer: `adduser beholder`, and --to beholder@…"
        yield Problem(where, "would run the server as root", "", fix)
    if settings.to == HERE:
        fix = "Let it not sleep, and stay where the network is, until `beholder deploy down`."
        yield Problem(where, "serves people only while it is on and online", "", fix)
    if settings.tls == "public" and settings.port == 443 and not has_redirects(facts):
        what = "gives no port 80 to this user: who types http:// is not led on, and certificates come by port 443 alone"
        yield Problem(where, what)


def has_redirects(facts: Mapping[str, Any]) -> bool:
    """Return whether Caddy listens on port 80 too, from which it leads people to https on its usual port."""
    state = facts["ports"].get("80")
    return state == "free" or (state == "taken" and bool(facts["caddy_sites"]))


def clock_skew(there: float, now: datetime) -> float:
    """Return by how many seconds the clock there is ahead of the one here."""
    return there - now.astimezone(UTC).timestamp()


def gigabytes(size: float) -> str:
    """Return a size in GB."""
    return f"{size / 1e9:.1f} GB"


def megabytes(size: float) -> str:
    """Return a size in MB."""
    return f"{size / 1e6:.1f} MB"


def _other_deployments(
    facts: Mapping[str, Any], settings: DeploySettings, study: str, deployment: str | None
) -> Iterator[Problem]:
    for name, record in facts["deployments"].items():
        if name == study and record.get("id") != deployment:
            what = f"holds a study {name} already, which was deployed from elsewhere on {record.get('since', '?')[:10]}"
            fix = "Give your study another name; or take the other one down from the folder that it was deployed from."
            yield Problem(settings.to, what, "one deployment for each name of a study", fix)
        elif name != study and record.get("address") == settings.address:
            what = f"serves the study {name} at {settings.address}"
            fix = "Each study has an address of its own: another name, or another port such as :8443."
            yield Problem(settings.to, what, "another --address", fix)


def _ports(facts: Mapping[str, Any], settings: DeploySettings) -> Iterator[Problem]:
    state = facts["ports"].get(str(settings.port))
    if state == "taken" and not facts["caddy_sites"]:
        what = f"has something else that listens on port {settings.port}"
        fix = (
            "If it is a proxy (nginx, Apache, Caddy), let it pass people on: --tls proxy prints the lines. "
            "Else take another port, such as --address https://…:8443."
        )
        yield Problem(settings.to, what, "a port that nothing else uses", fix)
    elif state == "forbidden":
        what = f"does not let this user listen on port {settings.port}"
        fix = (
            "Three ways: a proxy that is there passes people on (--tls proxy); another port (--address https://…:8443 "
            f"--tls internal); or an administrator runs this line once: {_OPEN_PORTS}"
        )
        yield Problem(settings.to, what, "", fix)


def _tunnels(facts: Mapping[str, Any], settings: DeploySettings) -> Iterator[Problem]:
    if settings.via is not None and not facts["tools"]["ssh"]:
        yield Problem(settings.to, "has no ssh, by which --via would hold a connection", "", "Install it there.")
    if settings.tls != "tunnel" or tunnel_program(facts, settings):
        return
    what = f"has no {settings.tunnel}" if settings.tunnel else "has no tunnel program"
    fix = (
        "Install cloudflared (no account needed), tailscale or ngrok; or take a machine of yours, --via user@host with "
        "--address; or a name that leads to it, --address https://study.example.org."
    )
    yield Problem(settings.to, what, ", ".join(TUNNELS), fix)


def tunnel_program(facts: Mapping[str, Any], settings: DeploySettings) -> str:
    """Return the path of the tunnel program to use: the one asked for, else the first that is there; else empty."""
    asked = [settings.tunnel] if settings.tunnel else TUNNELS
    return next((str(facts["tools"][name]) for name in asked if facts["tools"].get(name)), "")


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
