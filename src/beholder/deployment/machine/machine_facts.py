"""What a machine is like: Python, room, clock, ports, and what could keep a server running.

The text of this module is run by itself, before anything was sent: it imports the standard library alone and changes
nothing. `look` returns what it found, as JSON.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

VOLATILE = ("tmpfs", "ramfs", "overlay")
"""File systems whose files are gone with a reboot, or with a container."""
_TOOLS = ("uv", "caddy", "crontab", "systemctl", "ssh", "cloudflared", "tailscale", "ngrok")
_LONGEST_S = 10


def look(ports: list[int], root: str = "") -> dict[str, object]:
    """Return what this machine is like; `ports` are those that a deployment would listen on."""
    home = Path(root or Path.home() / ".beholder")
    existing = next(folder for folder in (home, *home.parents) if folder.exists())
    usage = shutil.disk_usage(existing)
    return {
        "user": os.environ.get("USER") or os.environ.get("LOGNAME") or str(os.getuid()),
        "is_root": os.getuid() == 0,
        "root": str(home),
        "system": platform.system(),
        "machine": platform.machine(),
        "libc": "-".join(platform.libc_ver()),
        "python": sys.executable,
        "version": "{}.{}.{}".format(*sys.version_info),
        "disk_free": usage.free,
        "file_system": _file_system(existing),
        "memory_free": free_memory(),
        "time": time.time(),
        "ports": {str(port): _port(port) for port in ports},
        "tools": {name: _tool(name) for name in _TOOLS},
        "service": _service(),
        "deployments": _deployments(home),
        "caddy_sites": [site.stem for site in sorted(home.glob("caddy/sites/*.caddy"))],
    }


def _tool(name: str) -> str:
    """Return the path of a program; tools of a user are in folders that a login without a terminal may not look in."""
    places = os.pathsep.join([os.environ.get("PATH", ""), str(Path.home() / ".local" / "bin"), "/usr/sbin", "/usr/bin"])
    return shutil.which(name, path=places) or ""


def _file_system(folder: Path) -> str:
    """Return the type of the file system that a folder is on; empty where the system does not tell."""
    try:
        lines = Path("/proc/mounts").read_text("utf-8").splitlines()
    except OSError:
        return ""
    found, longest = "", -1
    for place, kind in (line.split()[1:3] for line in lines):
        point = Path(place.replace("\\040", " "))
        # Of two at one place the later one is seen.
        if folder.resolve().is_relative_to(point) and len(point.parts) >= longest:
            found, longest = kind, len(point.parts)
    return found


def free_memory() -> int:
    """Return the bytes of memory that are free to use; 0 where the system does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text("utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), 0)


def _port(port: int) -> str:
    """Return `free`, `taken`, or `forbidden` where only an administrator may listen."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("0.0.0.0", port))
            probe.listen(1)
        except PermissionError:
            return "forbidden"
        except OSError:
            return "taken"
    return "free"


def _service() -> str:
    """Return what can keep a server running over a reboot: systemd-user, systemd-system, cron, or nothing (empty)."""
    if Path("/run/systemd/system").is_dir():
        if os.getuid() == 0:
            return "systemd-system"
        if _succeeds("systemctl", "--user", "show-environment") and _lingers():
            return "systemd-user"
    if _tool("crontab") and (_succeeds("crontab", "-l") or _says("no crontab for", "crontab", "-l")):
        return "cron"
    return ""


def _lingers() -> bool:
    """Return whether services of this user run without a login, or may be made to."""
    if _says("Linger=yes", "loginctl", "show-user", str(os.getuid()), "--property=Linger"):
        return True
    # Asks whether it is allowed; `loginctl enable-linger` is for later.
    return _succeeds("pkcheck", "--action-id", "org.freedesktop.login1.set-self-linger", "--process", str(os.getpid()))


def _run(*command: str) -> subprocess.CompletedProcess[str] | None:
    program = _tool(command[0])
    if not program:
        return None
    try:
        return subprocess.run([program, *command[1:]], capture_output=True, text=True, timeout=_LONGEST_S)
    except (OSError, subprocess.TimeoutExpired):
        return None


def _succeeds(*command: str) -> bool:
    ran = _run(*command)
    return ran is not None and ran.returncode == 0


def _says(words: str, *command: str) -> bool:
    ran = _run(*command)
    return ran is not None and words in ran.stdout + ran.stderr


def _deployments(home: Path) -> dict[str, object]:
    """Return the deployments of this user, by name."""
    found: dict[str, object] = {}
    for file in sorted(home.glob("*/deployment.json")):
        try:
            found[file.parent.name] = json.loads(file.read_text("utf-8"))
        except (OSError, ValueError):
            found[file.parent.name] = {}
    return found
