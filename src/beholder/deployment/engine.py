"""The target `container`: a study in containers of an engine here, by the engine's own command line.

The engine is reached as people reach it, by `docker compose` or `podman compose` in the folder that was written. What a
machine has a program for is asked of the Beholder in the container; when it does not run, of one that is started beside
its volumes for the length of a question.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import IO, Any, ClassVar

from beholder.deployment.contract import CommandReply, DeployError, MachineUnreachable, Problem, Sum
from beholder.deployment.ssh import talk

CONTAINER, CONTAINER_WORDS = "container", "the container engine of this machine"
"""What the journal calls the place, and what sentences call it."""
ENGINES = ("docker", "podman")
CONTAINERFILE, COMPOSE = "Containerfile", "compose.yaml"
PORT = 8000
"""Where the server listens in its container."""
STUDY_FOLDER = "/srv/study"
_LONGEST_S = 20
_SERVED, _CONTAINED = "beholder.deployment.served", "beholder.deployment.contained"


def engine_of() -> str:
    """Return the program of a container engine that answers here and has Compose; empty where none does."""
    return next((name for name in ENGINES if _answers(name, "info") and _answers(name, "compose", "version")), "")


def needed_engine() -> str:
    """Return the program of an engine that answers here, or raise MachineUnreachable with what to do."""
    if engine := engine_of():
        return engine
    fix = "Start Docker or Podman; `docker info` and `docker compose version` say whether both are there."
    raise MachineUnreachable(Problem("container engine", "does not answer here", " or ".join(ENGINES), fix))


def _answers(*command: str) -> bool:
    if shutil.which(command[0]) is None:
        return False
    try:
        asked = subprocess.run(command, capture_output=True, timeout=_LONGEST_S, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 0


class ContainerTarget:
    """The containers that a folder describes: built and started by `create`, and removed with what they hold."""

    kind: ClassVar[str] = CONTAINER
    is_made: ClassVar[bool] = True
    place = CONTAINER

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def hourly(self) -> Sum | None:
        """Nothing."""
        return None

    @property
    def description(self) -> str:
        """The containers in words."""
        return f"containers as {self._folder / COMPOSE} says"

    @property
    def address(self) -> str | None:
        """None: it is the researcher who knows the names of the machine."""
        return None

    def problems(self) -> list[Problem]:
        """Return that the folder is not there, or that no engine answers."""
        found = []
        if not (self._folder / COMPOSE).is_file():
            fix = "Put it back, or write it again: `beholder deploy container`."
            found.append(Problem(str(self._folder), f"has no {COMPOSE}", "", fix))
        with contextlib.suppress(MachineUnreachable):
            needed_engine()
            return found
        return [*found, Problem("container engine", "does not answer here", " or ".join(ENGINES))]

    def create(self) -> None:
        """Build the image and start the containers until they are well; what is there is brought up to date."""
        with self.connect() as machine:
            ran = machine.compose("up", "--build", "--detach", "--wait")
            if ran.code:
                raise DeployError(_not_started(machine, ran))

    @contextlib.contextmanager
    def connect(self) -> Iterator[ContainerMachine]:
        """Return the container of the study."""
        engine = needed_engine()
        if problems := self.problems():
            raise DeployError(problems)
        yield ContainerMachine(engine, self._folder)

    def destroy(self) -> None:
        """Remove containers, networks, volumes and the image."""
        if not (self._folder / COMPOSE).is_file():
            return  # `remains` tells what is left all the same
        with self.connect() as machine:
            ran = machine.compose("down", "--volumes", "--rmi", "local", "--remove-orphans")
            if ran.code:
                raise DeployError(
                    Problem(machine.name, f"does not remove it: {last_words(ran.err)}", "", "Run it again.")
                )

    def remains(self) -> list[str]:
        """Return the containers and volumes that carry the label of this project."""
        engine = needed_engine()
        label = f"label=com.docker.compose.project={project_of(self._folder)}"
        return [
            *_listed(engine, "ps", "--all", "--quiet", "--filter", label),
            *_listed(engine, "volume", "ls", "--quiet", "--filter", label),
        ]


def project_of(folder: Path) -> str:
    """Return the name under which an engine knows the containers of a folder."""
    import yaml

    return str(yaml.safe_load((folder / COMPOSE).read_text("utf-8"))["name"])


def _listed(*command: str) -> list[str]:
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout.split()


def last_words(printed: str) -> str:
    """Return the last lines that a program has printed."""
    return " ".join(line.strip() for line in printed.strip().splitlines()[-3:]) or "it says nothing"


def _not_started(machine: ContainerMachine, ran: CommandReply) -> Problem:
    said = machine.compose("logs", "--no-color", "--no-log-prefix", "--tail", "5", "study")
    own = said.out.decode("utf-8", "replace").strip()
    fix = f"`cd {machine.folder}`, then `{machine.engine} compose up --build` shows everything."
    return Problem(machine.engine, f"does not start it: {last_words(own or ran.err)}", "", fix)


class ContainerMachine:
    """The inside of the study's container, as a machine on which commands run."""

    name = CONTAINER_WORDS

    def __init__(self, engine: str, folder: Path) -> None:
        self.engine, self.folder = engine, folder

    def compose(self, *arguments: str, send: Iterable[bytes] = (), receive: IO[bytes] | None = None) -> CommandReply:
        """Run a verb of Compose on the containers of the folder."""
        command = [self.engine, "compose", "--file", str(self.folder / COMPOSE), *arguments]
        try:
            process = subprocess.Popen(
                command, cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        except OSError as error:
            raise MachineUnreachable(Problem(self.engine, f"cannot be started: {error.strerror}")) from error
        return talk(process, send, receive)

    @property
    def is_running(self) -> bool:
        """Whether the container of the study runs."""
        return self.compose("exec", "-T", "study", "true").code == 0

    def run(self, command: Sequence[str], send: Iterable[bytes] = (), receive: IO[bytes] | None = None) -> CommandReply:
        """Run a command in the container; where it does not run, in one beside the same volumes."""
        if self.is_running:
            return self.compose("exec", "-T", "study", *command, send=send, receive=receive)
        program, *arguments = command
        beside = ("run", "--rm", "-T", "--no-deps", "--entrypoint", program, "study")
        return self.compose(*beside, *arguments, send=send, receive=receive)


class ContainerProgram:
    """What is asked about a study in a container; it answers as the program on a machine does."""

    def __init__(self, machine: ContainerMachine, file: str, version: str) -> None:
        """`file` is the name of the study file in its folder, `version` the hash of the study that was built in."""
        self._machine, self._file, self._version = machine, f"{STUDY_FOLDER}/{file}", version
        self._verbs: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "ask": lambda request: self._asked(_SERVED, str(request["what"])),
            "command": lambda request: self._asked(_CONTAINED, "command", send=json.dumps(request).encode()),
            "forget-snapshot": self._forget_snapshot,
            "log": self._log,
            "remove": self._remove,
            "snapshot": self._take_snapshot,
            "state": self._state,
            "stop": self._stop,
        }

    def send(self) -> None:
        """Nothing is sent: it is in the image."""

    def call(self, verb: str, send: Iterable[bytes] = (), **request: Any) -> dict[str, Any]:
        """Return the answer to a request; raise DeployError with what it says is wrong."""
        return self._verbs[verb](request)

    def fetch(self, target: IO[bytes], **request: Any) -> int:
        """Write the bytes of a file of the snapshot to another one."""
        path = Path(self._snapshot.name) / str(request["file"])
        with path.open("rb") as source:
            shutil.copyfileobj(source, target)
        return path.stat().st_size

    def _asked(self, module: str, what: str, *more: str, send: bytes = b"") -> dict[str, Any]:
        ran = self._machine.run(["python", "-m", module, what, self._file, *more], [send])
        lines = ran.out.decode("utf-8", "replace").strip().splitlines()
        try:
            found: dict[str, Any] = json.loads(lines[-1])
        except (ValueError, IndexError):
            what = f"has not answered `{what}`: {last_words(ran.err)}"
            raise MachineUnreachable(Problem(self._machine.name, what, "", "Run it again.")) from None
        return found

    def _state(self, _: dict[str, Any]) -> dict[str, Any]:
        """Return how it is doing; an empty record where the engine has no such container."""
        if not self._machine.compose("ps", "--all", "--quiet", "study").out.strip():
            return {"record": {}}
        is_running = self._machine.is_running
        return {
            "record": {"version": self._version, "service": self._machine.engine},
            "is_kept": is_running,
            "is_caddy_kept": self._machine.compose("exec", "-T", "caddy", "true").code == 0,
            "ended": None,
            **self._asked(_CONTAINED, "state", str(PORT)),
        }

    def _log(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the last lines that the server has printed, or those since a time; and the time of the look."""
        end, begin = datetime.now(UTC), request.get("begin")
        since = ("--since", datetime.fromtimestamp(begin, UTC).isoformat()) if begin else ()
        told = self._machine.compose(
            "logs", "--no-color", "--no-log-prefix", *since, "--tail", str(request["lines"]), "study"
        )
        return {"lines": told.out.decode("utf-8", "replace").splitlines(), "end": end.timestamp()}

    def _take_snapshot(self, _: dict[str, Any]) -> dict[str, Any]:
        """Bring a copy of the store into a folder here, and return what its maker says of each file."""
        folder = Path(self._snapshot.name)
        with tempfile.TemporaryFile() as received:
            ran = self._machine.run(["python", "-m", _CONTAINED, "export", self._file], receive=received)
            received.seek(0)
            try:
                told: dict[str, Any] = json.loads(received.readline())
            except ValueError:
                what = f"the copy broke off: {last_words(ran.err)}"
                raise MachineUnreachable(Problem(self._machine.name, what, "", "Run it again.")) from None
            if problems := told.get("problems"):
                raise DeployError([Problem(**one) for one in problems])
            for file in told["files"]:
                with (folder / Path(str(file["name"])).name).open("wb") as target:
                    target.write(received.read(int(file["size"])))
        return told

    @cached_property
    def _snapshot(self) -> tempfile.TemporaryDirectory[str]:
        return tempfile.TemporaryDirectory(prefix="beholder-pull-", ignore_cleanup_errors=True)

    def _forget_snapshot(self, _: dict[str, Any]) -> dict[str, Any]:
        self._snapshot.cleanup()
        del self._snapshot
        return {}

    def _stop(self, _: dict[str, Any]) -> dict[str, Any]:
        """Stop the server; a database beside it goes on, as the last copy is made of it."""
        ran = self._machine.compose("stop", "study")
        if ran.code:
            raise MachineUnreachable(Problem(self._machine.name, f"does not stop it: {last_words(ran.err)}"))
        return {}

    def _remove(self, _: dict[str, Any]) -> dict[str, Any]:
        target = ContainerTarget(self._machine.folder)
        target.destroy()
        return {"is_gone": not target.remains()}
