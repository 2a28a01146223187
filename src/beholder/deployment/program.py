"""The program that is sent to the machine and called there: its archive, and one call for each of its verbs."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from importlib.resources import files
from itertools import chain
from pathlib import PurePosixPath
from typing import IO, Any, cast

from beholder.deployment.contract import DeployError, Machine, MachineUnreachable
from beholder.errors import Problem

PACKAGE = "beholder.deployment.machine"
_LEAST = (3, 11)
_FIRST_LOOK = """
uname -s
for name in python3.15 python3.14 python3.13 python3.12 python3.11 python3 "$HOME"/.local/bin/python3.1[1-9]; do
  path=$(command -v "$name" 2>/dev/null) || continue
  "$path" -c 'import sys
print("%d.%d.%d %s" % (tuple(sys.version_info[:3]) + (getattr(sys, "_base_executable", sys.executable),)))' 2>/dev/null
done
exit 0
"""
"""What finds a Python on a machine of which nothing is known, in the plainest shell.

Of an environment it is the Python below: the environment may go before the deployment does.
"""


def find_python(machine: Machine) -> str:
    """Return the path of a Python of the machine that is new enough, or raise DeployError with how to get one."""
    reply = machine.run(["sh", "-s"], [_FIRST_LOOK.encode()])
    lines = reply.out.decode("utf-8", "replace").split("\n")
    if lines[0].strip() != "Linux":
        what = f"is no Linux machine ({lines[0].strip() or reply.err.strip()[:200] or 'it does not say'})"
        raise DeployError(Problem(machine.name, what, "a Linux machine that you reach by ssh"))
    found = [line.strip().split(" ", 1) for line in lines[1:] if " " in line.strip()]
    for version, path in found:
        if tuple(int(part) for part in version.split(".")[:2]) >= _LEAST:
            return path
    has = f"has Python {found[-1][0]}" if found else "has no Python"
    fix = (
        "An administrator installs it, such as by `apt install python3`; or you do, without one: "
        "`curl -LsSf https://astral.sh/uv/install.sh | sh`, then `~/.local/bin/uv python install 3.12`."
    )
    raise DeployError(Problem(machine.name, has, "Python 3.11 or later", fix))


def look_at(machine: Machine, python: str, ports: list[int]) -> dict[str, Any]:
    """Return what the machine is like; nothing is written there."""
    source = files(PACKAGE).joinpath("machine_facts.py").read_text("utf-8")
    script = f"{source}\n\nprint(json.dumps(look({ports!r})))\n"
    return _answer(machine, machine.run([python, "-"], [script.encode()]).out, "look")


class ProgramGone(DeployError):
    """The program is not where it was sent: nothing was deployed there, or another command has just removed it."""


class MachineProgram:
    """The program on a machine, for one deployment."""

    def __init__(self, machine: Machine, python: str, root: str, name: str) -> None:
        self.machine, self.root, self.name = machine, root, name
        self._python = python
        self._path = str(PurePosixPath(root, name, "program.pyz"))

    def send(self) -> None:
        """Send the program itself, whole or not at all."""
        folder = str(PurePosixPath(self._path).parent)
        script = 'umask 077; mkdir -p "$1" && cat > "$2.new" && mv "$2.new" "$2"'
        reply = self.machine.run(["sh", "-c", script, "sh", folder, self._path], [archive()])
        if reply.code:
            what = f"cannot be written there: {reply.err.strip()}"
            raise DeployError(Problem(self._path, what, "", "Make room there, or see who owns the folder."))

    def call(self, verb: str, send: Iterable[bytes] = (), **request: Any) -> dict[str, Any]:
        """Return the answer to a request; raise DeployError with the fault that the program tells."""
        reply = self.machine.run([self._python, self._path, verb], self._input(request, send))
        if reply.code:
            # A traceback of the program would be ours; its last line says most.
            said = reply.err.strip().splitlines()[-1:] or ["it says nothing"]
            if "can't open file" in said[0] or "No such file" in said[0]:
                raise ProgramGone(_not_there(self.machine.name, self.name))
            raise DeployError(Problem(self.machine.name, f"`{verb}` has failed there: {said[0]}", "", "Run it again."))
        return _answer(self.machine, reply.out, verb)

    def fetch(self, target: IO[bytes], **request: Any) -> int:
        """Write the bytes of a file to another one, and return how many the machine has announced."""
        received = _AfterFirstLine(target)
        reply = self.machine.run(
            [self._python, self._path, "fetch"], self._input(request, ()), cast("IO[bytes]", received)
        )
        if reply.code or received.first is None:
            said = reply.err.strip().splitlines()[-1:] or ["nothing came"]
            raise MachineUnreachable(Problem(self.machine.name, f"the copy broke off: {said[0]}", "", "Run it again."))
        return int(_answer(self.machine, received.first, "fetch")["size"])

    def _input(self, request: dict[str, Any], send: Iterable[bytes]) -> Iterator[bytes]:
        first = json.dumps({"root": self.root, "name": self.name, **request}).encode() + b"\n"
        return chain([first], send)


def _answer(machine: Machine, out: bytes, verb: str) -> dict[str, Any]:
    # A login script of the machine may print something first.
    last = out.decode("utf-8", "replace").strip().rpartition("\n")[2]
    try:
        answer = json.loads(last)
    except ValueError:
        what = f"`{verb}` was not answered: {last[:200] or 'nothing came'}"
        raise MachineUnreachable(Problem(machine.name, what, "", "Run it again.")) from None
    if "fault" in answer:
        fault = answer["fault"]
        where = f"{machine.name}: {fault['where']}"
        raise DeployError(Problem(where, fault["what"], fault["allowed"], fault["fix"]))
    found: dict[str, Any] = answer
    return found


def _not_there(machine: str, name: str) -> Problem:
    fix = "`beholder deploy up` puts it there."
    return Problem(machine, f"has no deployment of {name}", "", fix)


class _AfterFirstLine(io.RawIOBase):
    """A stream that keeps its first line and passes on the rest."""

    def __init__(self, target: IO[bytes]) -> None:
        self.first: bytes | None = None
        self._target, self._head = target, b""

    def write(self, block: Any) -> int:
        data = bytes(block)
        if self.first is None:
            head, end, rest = (self._head + data).partition(b"\n")
            if end:
                self.first = head
                self._target.write(rest)
            else:
                self._head = head
        else:
            self._target.write(data)
        return len(data)


def archive() -> bytes:
    """Return the modules of the program as an archive that Python runs, the same bytes each time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as zipped:
        parts = PACKAGE.split(".")
        for depth in range(1, len(parts)):
            _add(zipped, "/".join([*parts[:depth], "__init__.py"]), "")
        for file in sorted(files(PACKAGE).iterdir(), key=lambda one: one.name):
            if file.name.endswith(".py"):
                _add(zipped, "/".join([*parts, file.name]), file.read_text("utf-8"))
        _add(zipped, "__main__.py", f"import sys\nfrom {PACKAGE}.__main__ import main\n\nmain(sys.argv[1:])\n")
    return buffer.getvalue()


def _add(zipped: zipfile.ZipFile, name: str, text: str) -> None:
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    zipped.writestr(entry, text)
