"""A fake container engine: `docker` as a deployment meets it, which runs what a folder describes as plain processes.

    install_engine(folder)                     # puts a program docker into a folder for PATH
    check_engine("docker", container_folder)   # each check is one sentence about every engine

It knows the commands that Beholder gives, and no others. An image is a copy of the study in a folder; a container is
the Beholder of this machine that serves it from there, with the arguments of Containerfile and compose file; a volume
is a folder. With `AWAY` in its folder nothing answers behind it, as where Docker is installed and not started.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from beholder.deployment.engine import COMPOSE, CONTAINERFILE, PORT, ContainerMachine, project_of

AWAY = "engine-is-away"
_PATIENCE_S = 60.0


def install_engine(folder: Path, name: str = "docker") -> Path:
    """Put a fake engine into a folder, in which it keeps everything; return its program."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{__file__}' '{folder}' \"$@\"\n", "utf-8")
    program.chmod(0o755)
    return program


# Conformance


def it_tells_that_it_answers_and_has_compose(machine: ContainerMachine) -> None:
    for command in (("info",), ("compose", "version")):
        assert subprocess.run([machine.engine, *command], capture_output=True).returncode == 0, command


def what_is_started_is_well_and_carries_a_label(machine: ContainerMachine) -> None:
    started = machine.compose("up", "--build", "--detach", "--wait")
    assert started.code == 0, started.err
    assert machine.compose("exec", "-T", "study", "true").code == 0
    assert machine.compose("ps", "--all", "--quiet", "study").out.strip()
    label = f"label=com.docker.compose.project={project_of(machine.folder)}"
    for listed in (("ps", "--all", "--quiet"), ("volume", "ls", "--quiet")):
        found = subprocess.run([machine.engine, *listed, "--filter", label], capture_output=True, text=True)
        assert found.stdout.split(), listed


def a_container_that_is_not_described_is_not_there(machine: ContainerMachine) -> None:
    assert machine.compose("exec", "-T", "nothing-of-this-name", "true").code != 0


def what_it_prints_is_told_without_names(machine: ContainerMachine) -> None:
    told = machine.compose("logs", "--no-color", "--no-log-prefix", "--tail", "3", "study")
    assert told.code == 0, told.err
    assert not any(" | " in line for line in told.out.decode().splitlines())
    since = machine.compose("logs", "--no-color", "--no-log-prefix", "--since", "2099-01-01T00:00:00+00:00", "study")
    assert (since.code, since.out) == (0, b"")


def what_is_stopped_keeps_its_volumes(machine: ContainerMachine) -> None:
    assert machine.run(["sh", "-c", "echo kept > /srv/store/check"]).code == 0
    assert machine.compose("stop", "study").code == 0
    assert machine.compose("exec", "-T", "study", "true").code != 0, "it goes on"
    assert machine.run(["sh", "-c", "cat /srv/store/check; rm /srv/store/check; exit 4"]).code == 4
    assert machine.compose("up", "--build", "--detach", "--wait").code == 0, "it does not start again"


def nothing_is_left_of_what_was_removed(machine: ContainerMachine) -> None:
    for _ in range(2):
        assert machine.compose("down", "--volumes", "--rmi", "local", "--remove-orphans").code == 0
    label = f"label=com.docker.compose.project={project_of(machine.folder)}"
    for listed in (("ps", "--all", "--quiet"), ("volume", "ls", "--quiet")):
        found = subprocess.run([machine.engine, *listed, "--filter", label], capture_output=True, text=True)
        assert found.stdout.split() == []


ENGINE_CHECKS: tuple[Callable[[ContainerMachine], None], ...] = (
    it_tells_that_it_answers_and_has_compose, what_is_started_is_well_and_carries_a_label,
    a_container_that_is_not_described_is_not_there, what_it_prints_is_told_without_names,
    what_is_stopped_keeps_its_volumes, nothing_is_left_of_what_was_removed,
)  # fmt: skip


def check_engine(engine: str, folder: Path) -> None:
    """Check that an engine does with a container folder what Beholder asks of it; everything is removed in the end."""
    for check in ENGINE_CHECKS:
        try:
            check(ContainerMachine(engine, folder))
        except AssertionError as error:
            error.add_note(f"The engine does not do what is asked of it: {check.__name__.replace('_', ' ')}.")
            raise


# The fake


class _Containers:
    """The containers of one folder, as plain processes; its inside is a folder that stands for the root."""

    def __init__(self, state: Path, folder: Path) -> None:
        self._folder = folder
        self._compose: dict[str, Any] = yaml.safe_load((folder / COMPOSE).read_text("utf-8"))
        self.name = str(self._compose["name"])
        self.root = state / f"project-{self.name}"
        self._record = self.root / "record.json"

    def read(self) -> dict[str, Any]:
        return json.loads(self._record.read_text("utf-8")) if self._record.is_file() else {}

    @property
    def is_running(self) -> bool:
        process = int(self.read().get("process", 0))
        return process > 0 and not _is_dead(process)

    def up(self) -> int:
        inside = self.root / "srv"
        inside.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(inside / "study", ignore_errors=True)
        shutil.copytree(self._folder / "study", inside / "study")
        (inside / "store").mkdir(exist_ok=True)
        self.stop()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        lines = (self._folder / CONTAINERFILE).read_text("utf-8").splitlines()
        entry = json.loads(next(line for line in lines if line.startswith("ENTRYPOINT ")).partition(" ")[2])
        self._record.write_text(json.dumps({"port": port}), "utf-8")
        with (self.root / "log").open("a", encoding="utf-8") as log:
            process = subprocess.Popen(
                self.command([*entry, *self._compose["services"]["study"]["command"]]), env=self.environment,
                cwd=inside, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self._record.write_text(json.dumps({"port": port, "process": process.pid}), "utf-8")
        ends = time.monotonic() + _PATIENCE_S
        while time.monotonic() < ends and process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5):
                    return 0
            except OSError:
                time.sleep(0.05)
        sys.stderr.write(f"container {self.name}-study-1 is unhealthy\n")
        return 1

    def command(self, words: list[str]) -> list[str]:
        """Return a command of the inside as one that runs here."""
        port = str(self.read().get("port", PORT))
        mapped = [
            port if word == str(PORT) else word.replace("/srv/", f"{self.root}/srv/").replace("0.0.0.0", "127.0.0.1")
            for word in words
        ]
        own = {"beholder": [sys.executable, "-m", "beholder"], "python": [sys.executable]}
        return [*own.get(mapped[0], mapped[:1]), *mapped[1:]]

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a container: nothing of whoever started it."""
        service = self._compose["services"]["study"]
        secret = (self._folder / "secrets.env").read_text("utf-8").splitlines()
        home = self.root / "home"
        home.mkdir(parents=True, exist_ok=True)
        variables = {**service["environment"], **dict(line.split("=", 1) for line in secret if "=" in line)}
        mapped = {name: str(value).replace("/srv/", f"{self.root}/srv/") for name, value in variables.items()}
        return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "OPENBLAS_NUM_THREADS": "1", **mapped}

    def run(self, words: list[str]) -> int:
        command = self.command(words)
        if shutil.which(command[0]) is None:
            sys.stderr.write(f'exec: "{command[0]}": executable file not found in $PATH\n')
            return 127
        return subprocess.run(command, env=self.environment, cwd=self.root / "srv").returncode

    def stop(self) -> None:
        process = self.read().get("process")
        while process and self.is_running:
            os.kill(process, signal.SIGTERM)
            time.sleep(0.02)

    def logs(self, options: list[str]) -> None:
        if not (self.root / "log").is_file() or any(word.startswith("2099") for word in options):
            return
        lines = (self.root / "log").read_text("utf-8").splitlines()
        tail = int(options[options.index("--tail") + 1]) if "--tail" in options else len(lines)
        sys.stdout.write("".join(f"{line}\n" for line in lines[-tail:]))


def _is_dead(process: int) -> bool:
    """Return whether a process has ended and nobody has asked how."""
    try:
        return Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def _compose(state: Path, folder: Path, verb: str, options: list[str]) -> int:
    project = _Containers(state, folder)
    if verb == "up":
        return project.up()
    if verb == "exec":
        if options[1] != "study" or not project.is_running:
            sys.stderr.write(f'service "{options[1]}" is not running\n')
            return 1
        return project.run(options[2:])
    if verb == "run":
        program = options[options.index("--entrypoint") + 1]
        return project.run([program, *options[options.index("study") + 1 :]])
    if verb == "logs":
        project.logs(options)
    elif verb == "ps":
        sys.stdout.write(f"{project.name}-study-1\n" if project.read() else "")
    elif verb == "stop":
        project.stop()
    elif verb == "down":
        project.stop()
        shutil.rmtree(project.root, ignore_errors=True)
    else:
        sys.stderr.write(f"unknown docker command: compose {verb}\n")
        return 1
    return 0


def _main(state: Path, arguments: list[str]) -> int:
    if (state / AWAY).exists() and arguments[:2] != ["compose", "version"]:
        sys.stderr.write("Cannot connect to the Docker daemon at unix:///var/run/docker.sock.\n")
        return 1
    if arguments in (["info"], ["compose", "version"]):
        return 0
    if arguments[:2] == ["compose", "--file"]:
        return _compose(state, Path(arguments[2]).parent, arguments[3], arguments[4:])
    if arguments[0] in ("ps", "volume") and "--filter" in arguments:
        name = arguments[-1].rpartition("=")[2]
        sys.stdout.write(f"{name}\n" if (state / f"project-{name}").is_dir() else "")
        return 0
    sys.stderr.write(f"unknown docker command: {' '.join(arguments)}\n")
    return 1


if __name__ == "__main__":
    sys.exit(_main(Path(sys.argv[1]), sys.argv[2:]))
