"""The ssh target: a machine that the researcher reaches by the `ssh` of their system.

It is that program which connects, so agents, jump hosts, the known hosts and everything else in the person's own
configuration work as they are used to. Nothing is asked for on the way: what `ssh` cannot do by itself is told.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, ClassVar

from beholder.deployment.contract import CommandReply, DeployError, Machine, MachineUnreachable, Problem, Sum

_FAILED = 255
"""How ssh itself ends where it cannot connect."""
_PLACE = re.compile(r"^(?!-)[A-Za-z0-9._%+-]+(@\[?[A-Za-z0-9._:-]+\]?)?$")
_BLOCK = 1 << 20


class SshTarget:
    """A machine that is there, by its name for ssh; it costs nothing extra and is not given back."""

    kind: ClassVar[str] = "ssh"
    is_made: ClassVar[bool] = False

    def __init__(self, place: str, config: str | None = None) -> None:
        self.place = place
        self._config = config

    @property
    def hourly(self) -> Sum | None:
        """Nothing."""
        return None

    @property
    def description(self) -> str:
        """Nothing: the machine is there."""
        return ""

    @property
    def address(self) -> str | None:
        """None: it is the researcher who knows the names of the machine."""
        return None

    def problems(self) -> list[Problem]:
        """Return that the place is no name for ssh, or that there is no ssh here."""
        found = []
        if not _PLACE.match(self.place):
            found.append(Problem("--to", f"is {self.place}", "user@host, or a name from your ssh configuration"))
        if shutil.which("ssh") is None:
            fix = "Install OpenSSH's client: `apt install openssh-client`, or on Windows under Optional features."
            found.append(Problem("ssh", "is not on this machine", "", fix))
        if self._config is not None and not Path(self._config).is_file():
            found.append(Problem("--ssh-config", f"is {self._config}, and there is no such file"))
        return found

    def create(self) -> None:
        """Nothing is made: the machine is there."""

    @contextlib.contextmanager
    def connect(self) -> Iterator[Machine]:
        """Connect, with one connection for all commands where the system's ssh can share one."""
        if problems := self.problems():
            raise DeployError(problems)
        # Sockets have short paths: the folder of temporary files, not the study's.
        with tempfile.TemporaryDirectory(prefix="bh-", ignore_cleanup_errors=True) as folder:
            options = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "-o", "ServerAliveInterval=15"]
            if self._config is not None:
                options = ["-F", self._config, *options]
            # One that the person has opened is used, as by those who log in with a second factor, and stays open.
            shares = os.name != "nt" and not self._is_open()
            if shares:
                options += ["-o", "ControlMaster=auto", "-o", f"ControlPath={folder}/%C", "-o", "ControlPersist=60"]
            machine = SshMachine(self.place, options)
            try:
                yield machine
            finally:
                if shares:
                    machine.end_shared()

    def _is_open(self) -> bool:
        """Return whether the person has a connection open that others may share (ControlMaster)."""
        own = ["-F", self._config] if self._config is not None else []
        asked = subprocess.run(
            ["ssh", *own, "-O", "check", self.place],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        return asked.returncode == 0

    def destroy(self) -> None:
        """Nothing is given back: the machine is the researcher's."""

    def remains(self) -> list[str]:
        """Return nothing, as nothing was made."""
        return []


class SshMachine:
    """A machine behind ssh."""

    def __init__(self, place: str, options: Sequence[str]) -> None:
        self.name = place
        self._options = list(options)

    def run(self, command: Sequence[str], send: Iterable[bytes] = (), receive: IO[bytes] | None = None) -> CommandReply:
        """Run a command there; raise MachineUnreachable where ssh itself fails."""
        # ssh hands one line to the login shell of the other side.
        line = " ".join(shlex.quote(part) for part in command)
        try:
            process = subprocess.Popen(
                ["ssh", *self._options, "-T", self.name, line],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
        except OSError as error:
            raise MachineUnreachable(Problem("ssh", f"cannot be started: {error.strerror}")) from error
        reply = talk(process, send, receive)
        if reply.code == _FAILED:
            raise MachineUnreachable(connection_problem(self.name, reply.err))
        return reply

    def end_shared(self) -> None:
        """Close the connection that commands have shared."""
        subprocess.run(
            ["ssh", *self._options, "-O", "exit", self.name],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip


def talk(process: subprocess.Popen[bytes], send: Iterable[bytes], receive: IO[bytes] | None) -> CommandReply:
    """Give a process its input, and return its end and what it printed; a fault of the input ends the process."""
    errors: list[bytes] = []
    failure: list[BaseException] = []
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    assert stdin is not None
    assert stdout is not None
    assert stderr is not None

    def write() -> None:
        try:
            for block in send:
                stdin.write(block)
            stdin.close()
        except BrokenPipeError:
            pass  # it has ended, and says why
        except BaseException as error:
            failure.append(error)
            process.kill()

    threads = [
        threading.Thread(target=write, daemon=True),
        threading.Thread(target=lambda: errors.append(stderr.read()), daemon=True),
    ]
    for thread in threads:
        thread.start()
    printed = []
    try:
        while block := stdout.read1(_BLOCK):  # type: ignore[attr-defined]
            if receive is None:
                printed.append(block)
            else:
                receive.write(block)
        code = process.wait()
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        for thread in threads:
            thread.join()
        with contextlib.suppress(OSError):
            stdin.close()
        stdout.close()
        stderr.close()
    if failure:
        raise failure[0]
    return CommandReply(code, b"".join(printed), b"".join(errors).decode("utf-8", "replace"))


# What ssh says, as what to do


def connection_problem(place: str, said: str) -> Problem:
    """Return why ssh could not connect, and what to do about it."""
    words = said.lower()
    last = next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "it says nothing")
    if "remote host identification has changed" in words:
        fix = (
            "It is another machine than before, or was set up anew. Ask who runs it, compare the fingerprint, and only "
            f"then `ssh-keygen -R {place.rpartition('@')[2]}` and `ssh {place}`. Nothing was sent."
        )
        return Problem(place, "shows another host key than the one that you know", "", fix)
    if "host key verification failed" in words or "no matching host key" in words:
        fix = f"Connect once by `ssh {place}`, and compare the fingerprint with what its administrator says."
        return Problem(place, "is not among the hosts that you know", "", fix)
    if "permission denied" in words or "too many authentication failures" in words:
        fix = (
            f"See that `ssh {place}` works without a question: `ssh-copy-id {place}` puts your key there, and "
            "`ssh-add` gives a key with a passphrase to your agent."
        )
        return Problem(place, f"does not take your key ({last})", "", fix)
    if "could not resolve hostname" in words:
        return Problem(place, "has a name that nobody knows", "", "See how it is written, or whether you are online.")
    if "connection refused" in words or "timed out" in words or "no route to host" in words or "unreachable" in words:
        fix = f"See that it is on, and that `ssh {place}` works; a network of a university may need its VPN."
        return Problem(place, f"does not answer ({last})", "", fix)
    return Problem(place, f"was left by ssh: {last}", "", "Run it again: what was done is not done twice.")
