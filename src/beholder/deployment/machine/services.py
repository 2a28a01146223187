"""What keeps a process running over crashes and reboots: systemd of user or system, or a supervisor and cron."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from beholder.deployment.machine.places import MachineFault
from beholder.deployment.machine.supervisor import ServiceUnit, ended_with, ensure, halt, supervisor_of

_LONGEST_S = 60


class Service(Protocol):
    """A way to keep processes running."""

    def start(self, unit: ServiceUnit, program: Path) -> None:
        """Keep a unit running from now on, also after a reboot; one that runs is replaced."""

    def stop(self, unit: ServiceUnit) -> None:
        """Stop it, and start it no more; one that does not run stays so."""

    def is_running(self, unit: ServiceUnit) -> bool:
        """Return whether it is kept running."""

    def has_failed(self, unit: ServiceUnit) -> bool:
        """Return whether it has ended by itself since it was started, as far as this way can tell."""

    def ended_with(self, unit: ServiceUnit) -> int | None:
        """Return the code with which a unit that ends came to its end; None while it runs, or never ran."""


def service_of(kind: str) -> Service:
    """Return the way with this name."""
    made: dict[str, Callable[[], Service]] = {
        "systemd-user": lambda: SystemdService(is_user=True),
        "systemd-system": lambda: SystemdService(is_user=False),
        "cron": CronService,
    }
    return made[kind]()


# Supervisor and cron


class CronService:
    """A supervisor, which cron starts at boot, and again within a minute should somebody kill it."""

    def start(self, unit: ServiceUnit, program: Path) -> None:
        """See that cron and the supervisor know the unit, and start it anew."""
        folder = Path(unit.folder)
        halt(folder)
        unit.write()
        write_crontab(unit.name, cron_lines(unit, program))
        ensure(folder, program)

    def stop(self, unit: ServiceUnit) -> None:
        """Take it out of the crontab, and stop it."""
        write_crontab(unit.name, [])
        halt(Path(unit.folder))

    def is_running(self, unit: ServiceUnit) -> bool:
        """Return whether its supervisor runs."""
        return bool(supervisor_of(Path(unit.folder)))

    def has_failed(self, unit: ServiceUnit) -> bool:
        """Return False: the supervisor writes into the log of the unit how it has ended."""
        return False

    def ended_with(self, unit: ServiceUnit) -> int | None:
        """Return what the supervisor has written down."""
        return ended_with(Path(unit.folder))


def cron_lines(unit: ServiceUnit, program: Path) -> list[str]:
    """Return the lines of a crontab that keep a unit running."""
    # In a crontab % is a new line.
    command = " ".join(
        _quoted(part).replace("%", r"\%") for part in (sys.executable, str(program), "ensure", unit.folder)
    )
    return [f"{when} {command} >/dev/null 2>&1 # {unit.name}" for when in ("@reboot", "* * * * *")]


def _quoted(part: str) -> str:
    escaped = part.replace("'", "'\\''")
    return f"'{escaped}'"


def write_crontab(name: str, lines: list[str]) -> None:
    """Replace the lines of one unit in the crontab of this user; all others stay as they are."""
    read = subprocess.run(["crontab", "-l"], capture_output=True, text=True, timeout=_LONGEST_S)
    if read.returncode and "no crontab for" not in read.stderr:
        raise MachineFault("crontab", f"cannot be read: {read.stderr.strip()}", "", "See whether `crontab -l` works.")
    present = read.stdout.splitlines() if read.returncode == 0 else []
    others = [line for line in present if not line.endswith(f"# {name}")]
    wanted = [*others, *lines]
    if wanted == present:
        return
    text = "".join(f"{line}\n" for line in wanted)
    command = ["crontab", "-"] if wanted else ["crontab", "-r"]
    wrote = subprocess.run(command, input=text, capture_output=True, text=True, timeout=_LONGEST_S)
    if wrote.returncode:
        raise MachineFault(
            "crontab", f"cannot be written: {wrote.stderr.strip()}", "", "See whether `crontab -e` works."
        )


# systemd


class SystemdService:
    """A unit of systemd, of the user (with lingering) or of the system."""

    def __init__(self, *, is_user: bool) -> None:
        self._is_user = is_user
        self._folder = Path.home() / ".config" / "systemd" / "user" if is_user else Path("/etc/systemd/system")

    def start(self, unit: ServiceUnit, program: Path) -> None:
        """Write the unit file, enable it, and start it anew."""
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / f"{unit.name}.service").write_text(unit_file(unit, is_user=self._is_user), "utf-8")
        if self._is_user and not _lingers():  # who lingers already may not be allowed to ask for it
            _run("loginctl", "enable-linger", str(os.getuid()))
        self._systemctl("daemon-reload")
        self._systemctl("enable", unit.name)
        self._systemctl("restart", unit.name)

    def stop(self, unit: ServiceUnit) -> None:
        """Stop and disable it, and remove its file."""
        file = self._folder / f"{unit.name}.service"
        if file.exists():
            self._systemctl("disable", "--now", unit.name)
            file.unlink()
            self._systemctl("daemon-reload")

    def is_running(self, unit: ServiceUnit) -> bool:
        """Return whether systemd has it as active."""
        own = ["--user"] if self._is_user else []
        asked = subprocess.run(
            ["systemctl", *own, "is-active", "--quiet", unit.name], env=_environment(), timeout=_LONGEST_S
        )
        return asked.returncode == 0

    def has_failed(self, unit: ServiceUnit) -> bool:
        """Return whether systemd had to start it again."""
        return int(self._property(unit, "NRestarts") or 0) > 0

    def ended_with(self, unit: ServiceUnit) -> int | None:
        """Return its code as systemd has it, where it is neither active nor about to be started again."""
        if self._property(unit, "ActiveState") not in ("inactive", "failed"):
            return None
        code = self._property(unit, "ExecMainStatus")
        has_run = self._property(unit, "ExecMainExitTimestampMonotonic") not in ("", "0")
        return int(code) if has_run and code.isdigit() else None

    def _property(self, unit: ServiceUnit, name: str) -> str:
        own = ["--user"] if self._is_user else []
        asked = subprocess.run(
            ["systemctl", *own, "show", f"--property={name}", "--value", unit.name], env=_environment(),
            capture_output=True, text=True, timeout=_LONGEST_S,
        )  # fmt: skip
        return asked.stdout.strip()

    def _systemctl(self, *arguments: str) -> None:
        _run("systemctl", *(["--user"] if self._is_user else []), *arguments)


def unit_file(unit: ServiceUnit, *, is_user: bool) -> str:
    """Return the unit file of a unit. It writes below its own folder only, and gains no rights."""
    lines = [
        "[Unit]",
        f"Description={unit.title}",
        "After=network-online.target",
        "Wants=network-online.target",
        "",
        "[Service]",
        f"ExecStart={' '.join(_escaped(part) for part in unit.command)}",
        f"WorkingDirectory={_literal(unit.folder)}",
        *([f"EnvironmentFile=-{_literal(unit.secrets)}"] if unit.secrets else []),
        f"StandardOutput=append:{_literal(unit.log)}",
        f"StandardError=append:{_literal(unit.log)}",
        *(["Restart=on-failure", "RestartPreventExitStatus=2"] if unit.ends else ["Restart=always"]),
        "RestartSec=1",
        "TimeoutStopSec=40",
        "LimitNOFILE=65536",
        "UMask=0077",
        "NoNewPrivileges=yes",
        # A user's own systemd may not make file systems read-only everywhere.
        *([] if is_user else ["ProtectSystem=strict", f"ReadWritePaths={_literal(str(Path(unit.folder).parent))}"]),
        "",
        "[Install]",
        f"WantedBy={'default' if is_user else 'multi-user'}.target",
        "",
    ]
    return "\n".join(lines)


def _literal(text: str) -> str:
    return text.replace("%", "%%")


def _escaped(part: str) -> str:
    escaped = part.replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$")
    return f'"{_literal(escaped)}"'


def _run(*command: str) -> None:
    ran = subprocess.run(command, capture_output=True, text=True, env=_environment(), timeout=_LONGEST_S)
    if ran.returncode:
        what = f"`{' '.join(command)}` failed: {ran.stderr.strip() or ran.stdout.strip()}"
        raise MachineFault("systemd", what, "", "Run it there by hand, or deploy with --service cron.")


def _lingers() -> bool:
    command = ["loginctl", "show-user", str(os.getuid()), "--property=Linger", "--value"]
    return subprocess.run(command, capture_output=True, text=True, timeout=_LONGEST_S).stdout.strip() == "yes"


def _environment() -> dict[str, str]:
    """Return the environment with the place of the user's systemd, which a login without a terminal may lack."""
    return {"XDG_RUNTIME_DIR": f"/run/user/{os.getuid()}", **os.environ}
