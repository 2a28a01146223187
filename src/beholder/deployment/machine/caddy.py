"""The one Caddy of a user, which ends TLS for all of their deployments: a site for each, and one service."""

from __future__ import annotations

import filecmp
import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

from beholder.deployment.machine.places import CADDY, MachineFault, Places, write_private
from beholder.deployment.machine.services import service_of
from beholder.deployment.machine.supervisor import ServiceUnit

ACME_ROOTS = "acme-roots.pem"
"""The roots of an authority that a deployment names, where the machine does not know them."""
_LONGEST_S = 60
_PATIENCE_S = 30.0


def caddy_folder(places: Places) -> Path:
    """Return the folder of Caddy."""
    return places.root / CADDY


def put_site(places: Places, request: dict[str, Any]) -> dict[str, Any]:
    """Let Caddy serve the site of a deployment, started or told anew; return the root of its own authority."""
    folder = caddy_folder(places)
    (folder / "sites").mkdir(mode=0o700, parents=True, exist_ok=True)
    is_new = _keep_program(places, folder)
    write_private(folder / "program.pyz", places.program.read_bytes())
    if request["roots"]:
        write_private(folder / ACME_ROOTS, str(request["roots"]).encode())
    site = folder / "sites" / f"{places.name}.caddy"
    before = site.read_bytes() if site.is_file() else None
    held = _settings(folder)
    if held.get("service") and held["service"] != request["service"]:
        # What kept Caddy running would go on doing so beside what is to do it now.
        service_of(str(held["service"])).stop(caddy_unit(folder))
    settings = {**held, "service": request["service"]}
    # Of several sites one may be at the usual port.
    settings["has_redirects"] = bool(settings.get("has_redirects")) or request["has_redirects"]
    write_private(folder / "settings.json", json.dumps(settings).encode())
    write_private(folder / "Caddyfile", caddyfile(folder, settings).encode())
    write_private(site, str(request["site"]).encode())
    tried = _caddy(folder, "validate", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile"))
    if tried.returncode:
        _put_back(site, before)
        raise MachineFault("Caddy", f"does not take the site: {_last(tried.stderr)}", "", f"It is {folder / 'caddy'}.")
    try:
        _apply(folder, settings, is_new=is_new)
    except MachineFault:
        _put_back(site, before)
        raise
    root = folder / "data" / "pki" / "authorities" / "local" / "root.crt"
    ends = time.monotonic() + _PATIENCE_S
    while request["is_internal"] and not root.is_file() and time.monotonic() < ends:
        time.sleep(0.1)
    return {"root": root.read_text("utf-8") if request["is_internal"] and root.is_file() else ""}


def remove_site(places: Places) -> None:
    """Take the site of a deployment out; the last one takes Caddy along, with its certificates."""
    folder = caddy_folder(places)
    if not folder.is_dir():
        return
    (folder / "sites" / f"{places.name}.caddy").unlink(missing_ok=True)
    settings = _settings(folder)
    if settings and any((folder / "sites").glob("*.caddy")):
        _apply(folder, settings)
        return
    if settings:
        service_of(str(settings["service"])).stop(caddy_unit(folder))
    shutil.rmtree(folder, ignore_errors=True)


def is_caddy_running(places: Places) -> bool:
    """Return whether Caddy is kept running."""
    settings = _settings(caddy_folder(places))
    return bool(settings) and service_of(str(settings["service"])).is_running(caddy_unit(caddy_folder(places)))


def caddy_unit(folder: Path) -> ServiceUnit:
    """Return Caddy as a unit."""
    command = [*_program(folder), "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    return ServiceUnit("beholder-caddy", "Beholder: Caddy", command, str(folder), str(folder / "logs" / "caddy.log"))


def caddyfile(folder: Path, settings: dict[str, Any]) -> str:
    """Return the configuration of Caddy; what it keeps and how it is told of changes are in its own folder."""
    lines = [
        "{",
        # Relative to its folder, in which it runs: the path of a socket may have 107 bytes, less than a deep home has.
        "\tadmin unix/admin.sock",
        f"\tstorage file_system {json.dumps(str(folder / 'data'))}",
        "\tskip_install_trust",
        "\tpersist_config off",
        "\tgrace_period 10s",
        # Who may not listen on port 80 cannot send people on from there.
        *([] if settings["has_redirects"] else ["\tauto_https disable_redirects"]),
        "}",
        f"import {folder / 'sites'}/*.caddy",
        "",
    ]
    return "\n".join(lines)


def _apply(folder: Path, settings: dict[str, Any], *, is_new: bool = False) -> None:
    """Tell the running Caddy of a change, by which nobody's connection breaks; start it where none or an old one is."""
    service, unit = service_of(str(settings["service"])), caddy_unit(folder)
    if service.is_running(unit) and not is_new:
        ends = time.monotonic() + _PATIENCE_S
        while time.monotonic() < ends:
            told = _caddy(
                folder, "reload", "--force", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile"),
                "--address", "unix/admin.sock",
            )  # fmt: skip
            if told.returncode == 0:
                return
            if "address already in use" in told.stderr or "permission denied" in told.stderr:
                raise MachineFault("Caddy", f"cannot listen: {_last(told.stderr)}", "", "Take another port.")
            time.sleep(0.2)
    log = Path(unit.log)
    begin = log.stat().st_size if log.is_file() else 0
    (folder / "admin.sock").unlink(missing_ok=True)
    service.start(unit, folder / "program.pyz")
    ends = time.monotonic() + _PATIENCE_S
    while not (folder / "admin.sock").exists():
        said = _printed(log, begin)
        if "has ended with" in said or "Error:" in said or service.has_failed(unit) or time.monotonic() > ends:
            service.stop(unit)
            words = next((line for line in said.splitlines() if line.startswith("Error:")), _last(said))
            raise MachineFault("Caddy", f"does not start: {words}", "", "See what else listens there.")
        time.sleep(0.05)


def _printed(log: Path, begin: int) -> str:
    if not log.is_file():
        return ""
    with log.open("rb") as file:
        file.seek(min(begin, log.stat().st_size))
        return file.read().decode("utf-8", "replace")


def _keep_program(places: Places, folder: Path) -> bool:
    """Keep Caddy's program apart from the environments, which come and go; return whether it is another one now."""
    program = folder / "caddy"
    own = places.environment / "bin" / "caddy"
    found = own if own.is_file() else Path(shutil.which("caddy") or "")
    if not found.is_file():
        if program.is_file():
            return False
        fix = "Install it (`apt install caddy`), or leave TLS to a proxy that is there: --tls proxy."
        raise MachineFault("Caddy", "is not there, and came with no package", "", fix)
    if program.is_file() and filecmp.cmp(found, program, shallow=True):
        return False
    shutil.copy2(found, folder / "caddy.new")
    (folder / "caddy.new").replace(program)
    return True


def _settings(folder: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads((folder / "settings.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found


def _put_back(site: Path, before: bytes | None) -> None:
    if before is None:
        site.unlink(missing_ok=True)
    else:
        write_private(site, before)


def _caddy(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*_program(folder), *arguments], cwd=folder, capture_output=True, text=True, timeout=_LONGEST_S
    )


def _program(folder: Path) -> list[str]:
    """Return how Caddy is called, so that it keeps nothing outside of its folder."""
    return ["env", f"XDG_DATA_HOME={folder / 'data'}", f"XDG_CONFIG_HOME={folder / 'data'}", str(folder / "caddy")]


def _last(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it says nothing"
