"""The way in through a tunnel: a program that holds a connection outwards, through which people come.

It is kept running as the server is. Each kind of program is known by how it is called and by how it prints the
address that it was given.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beholder.deployment.machine.places import MachineFault, Places
from beholder.deployment.machine.services import service_of
from beholder.deployment.machine.supervisor import ServiceUnit, read_unit

_PATIENCE_S = 60.0
_TRIES = 5
"""Ports that are tried on the machine through which people come, where another program has one of them."""
SSH = "ssh"


@dataclass(frozen=True)
class TunnelKind:
    """A tunnel program: how it is called, and how it tells that people can come."""

    name: str
    arguments: Callable[[dict[str, Any], int], list[str]]
    """From the request and the port of the server."""
    find_address: Callable[[str], str]
    """Returns the address in what it has printed; empty where there is none yet."""
    hint: str
    """What most often is missing where it does not come up."""


def _cloudflared_address(printed: str) -> str:
    # It stands in a frame; lines outside of it name pages of the company.
    found = re.findall(r"\|\s+(https://[^\s|]+)\s+\|", printed)
    return found[-1] if found else ""


def _tailscale_address(printed: str) -> str:
    found = re.findall(r"Available on the internet:\s+(https://[^\s/]+)", printed)
    return found[-1] if found else ""


def _ngrok_address(printed: str) -> str:
    found = ""
    for line in printed.splitlines():
        if '"started tunnel"' in line:
            try:
                url = str(json.loads(line)["url"])
            except (ValueError, KeyError):
                continue
            if url.startswith("https://"):  # earlier versions open one without TLS beside it
                found = url
    return found


def _ssh_address(printed: str) -> str:
    """Return what ssh says of the port that the other side listens on for us; the address is the proxy's there."""
    found = re.findall(r"remote forward success for: listen (\S+),", printed)
    return found[-1] if found else ""


def _ssh_arguments(request: dict[str, Any], port: int) -> list[str]:
    config = ["-F", request["ssh_config"]] if request.get("ssh_config") else []
    options = [
        "BatchMode=yes", "ExitOnForwardFailure=yes", "ConnectTimeout=20", "ServerAliveInterval=15",
        "ServerAliveCountMax=3", "ControlMaster=no", "ControlPath=none", "LogLevel=DEBUG1",
    ]  # fmt: skip
    forward = f"127.0.0.1:{request['via_port']}:127.0.0.1:{port}"
    return [*config, "-N", "-T", *(part for one in options for part in ("-o", one)), "-R", forward, request["via"]]


KINDS = {
    kind.name: kind
    for kind in (
        TunnelKind(
            "cloudflared",
            lambda request, port: ["tunnel", "--no-autoupdate", "--url", f"http://127.0.0.1:{port}"],
            _cloudflared_address,
            "It needs a way out to Cloudflare on port 7844, and no ~/.cloudflared/config.yml.",
        ),
        TunnelKind(
            "tailscale",
            lambda request, port: ["funnel", "--yes", f"http://127.0.0.1:{port}"],
            _tailscale_address,
            "Funnel has to be allowed in your tailnet, and for this user (`tailscale set --operator=$USER`), and its "
            "port 443 be free (`tailscale funnel status`).",
        ),
        TunnelKind(
            "ngrok",
            lambda request, port: [
                "http", f"http://127.0.0.1:{port}", "--log", "stdout", "--log-format", "json",
                *(["--url", request["address"]] if request.get("is_asked") else []),
            ],
            _ngrok_address,
            "It needs your token once: `ngrok config add-authtoken`.",
        ),
        TunnelKind(SSH, _ssh_arguments, _ssh_address, "See that ssh gets there from this machine without a question."),
    )
}  # fmt: skip
"""By the name of the program."""


def open_tunnel(places: Places, request: dict[str, Any]) -> dict[str, Any]:
    """Let a tunnel lead to the server, and return the address under which people come; one that is there is kept."""
    record = places.read()
    service, kind = service_of(record["service"]), KINDS[request["kind"]]
    tunnel = record.get("tunnel") or {}
    if tunnel and tunnel.get("kind") != kind.name:
        close_tunnel(places)
    for via_port in _ports(tunnel) if kind.name == SSH else (0,):
        asked = {**request, "via_port": via_port}
        unit = tunnel_unit(places, [request["program"], *kind.arguments(asked, record["port"])])
        is_running = service.is_running(unit)
        is_kept = is_running and _is_wanted(unit)
        places.write(tunnel={"kind": kind.name, "via_port": via_port})
        if is_running and not is_kept:  # it would go on as it was called; its end is no news of the next one
            service.stop(unit)
        begin = 0 if is_kept else len(_printed(unit))
        if not is_kept:
            (places.folder / "tunnel").mkdir(mode=0o700, exist_ok=True)
            service.start(unit, places.program)
        found, printed = _wait(unit, kind, begin)
        if found:
            address = request["address"] if kind.name == SSH else found.rstrip("/")
            places.write(address=address)
            return {"address": address, "port": via_port}
        if "remote port forwarding failed" not in printed:
            break
    service.stop(unit)
    raise MachineFault(kind.name, f"does not come up: {_own_words(printed)}", "", kind.hint)


def _ports(tunnel: dict[str, Any]) -> Iterator[int]:
    """Yield ports to try on the other machine: the one of last time, which its proxy knows, else others."""
    if tunnel.get("via_port"):
        yield int(tunnel["via_port"])
    for _ in range(_TRIES):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        yield port


def tunnel_unit(places: Places, command: list[str]) -> ServiceUnit:
    """Return the tunnel as a unit. No study has its name: their units begin with `beholder-`."""
    folder = places.folder / "tunnel"
    title = f"Beholder: the way to the study {places.name}"
    return ServiceUnit(f"beholder_tunnel-{places.name}", title, command, str(folder), str(folder / "tunnel.log"))


def _is_wanted(unit: ServiceUnit) -> bool:
    """Return whether the unit that is kept running is called as this one; systemd has no record of ours."""
    kept = read_unit(Path(unit.folder))
    return kept is None or kept.command == unit.command


def _wait(unit: ServiceUnit, kind: TunnelKind, begin: int) -> tuple[str, str]:
    """Wait until the program has printed an address, or has ended; return it, and what was printed."""
    ends = time.monotonic() + _PATIENCE_S
    while True:
        printed = _printed(unit)[begin:]
        found = kind.find_address(printed)
        if found or f"{unit.name} has ended with" in printed or time.monotonic() > ends:
            return found, printed
        time.sleep(0.05)


def _printed(unit: ServiceUnit) -> str:
    path = Path(unit.log)
    parts = (path.with_suffix(".1.log"), path)
    return "".join(part.read_text("utf-8", "replace") for part in parts if part.is_file())


def _own_words(printed: str) -> str:
    """Return what the program itself has printed last that is no small talk."""
    lines = [
        line.strip()
        for line in printed.splitlines()
        if line.strip() and " supervisor: " not in line and not line.startswith("debug1:")
    ]
    return " ".join(lines[-3:])[:500] or "it says nothing"


def tunnel_state(places: Places) -> dict[str, Any]:
    """Return whether the tunnel is kept running, and the address that it has now; empty where there is none."""
    record = places.read()
    tunnel = record.get("tunnel")
    if not tunnel:
        return {}
    unit = tunnel_unit(places, [])
    found = KINDS[tunnel["kind"]].find_address(_printed(unit))
    address = record["address"] if tunnel["kind"] == SSH else found.rstrip("/")
    return {"is_kept": service_of(record["service"]).is_running(unit), "address": address}


def close_tunnel(places: Places) -> None:
    """Stop the tunnel, and forget what it printed; without one, nothing is done."""
    record = places.read()
    if record.get("tunnel"):
        service_of(record["service"]).stop(tunnel_unit(places, []))
        shutil.rmtree(places.folder / "tunnel", ignore_errors=True)
        places.write(tunnel=None)
