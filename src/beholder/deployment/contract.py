"""What a target is: how a machine is got, reached, and given back; and what a machine can do.

A target knows where a deployment goes, a machine runs commands there. Everything else (what is sent, started, copied
and removed) is the same for all of them, so that a new target is one module; `beholder.testing.check_target`
proves it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import IO, Any, ClassVar, Protocol

from beholder.errors import DeployError, Problem
from beholder.study.recruitment import Sum

__all__ = [
    "CommandReply",
    "DeployError",
    "DeployTarget",
    "Machine",
    "MachineUnreachable",
    "Problem",
    "StudyProgram",
    "Sum",
]


class MachineUnreachable(DeployError):
    """The machine cannot be reached, or the connection has broken; what was asked of it may have been done."""


@dataclass(frozen=True)
class CommandReply:
    """How a command on a machine has ended, and what it printed."""

    code: int
    out: bytes
    err: str


class Machine(Protocol):
    """A Linux machine on which commands can be run as one user."""

    name: str
    """What messages call it, such as `ada@lab.example.org`."""

    def run(self, command: Sequence[str], send: Iterable[bytes] = (), receive: IO[bytes] | None = None) -> CommandReply:
        """Run a program with its arguments, without a shell of yours; raise MachineUnreachable where that fails.

        `send` becomes its standard input, which ends; `receive` takes what it prints in place of the reply. Arguments
        can be read by everybody on the machine: secrets go by `send`.
        """


class StudyProgram(Protocol):
    """What looks after a deployment where it is, and is asked about it from here."""

    def send(self) -> None:
        """See that it is there, in the version of this Beholder."""

    def call(self, verb: str, send: Iterable[bytes] = (), **request: Any) -> dict[str, Any]:
        """Return the answer to a request; raise DeployError with what it says is wrong."""

    def fetch(self, target: IO[bytes], **request: Any) -> int:
        """Write the bytes of a file of the last snapshot to another one, and return how many were announced."""


class DeployTarget(Protocol):
    """Where a study is deployed to."""

    kind: ClassVar[str]
    """The word for it, such as `ssh`."""
    is_made: ClassVar[bool]
    """Whether `create` makes the machine, so that it can be looked at only afterwards."""
    place: str
    """What names it, as in `--to`."""

    @property
    def hourly(self) -> Sum | None:
        """What the machine costs for an hour; None where it costs nothing extra."""

    @property
    def description(self) -> str:
        """What `create` gets, for whoever has to decide about it; empty where it gets nothing."""

    @property
    def address(self) -> str | None:
        """What people could open, where the machine that was made has an address; else None."""

    def problems(self) -> list[Problem]:
        """Return what can be said to be wrong before anything is done, such as a program that is missing here."""

    def create(self) -> None:
        """Get the machine; one that is there is kept, so that twice is once."""

    def connect(self) -> AbstractContextManager[Machine]:
        """Connect to the machine."""

    def destroy(self) -> None:
        """Give the machine back, where `create` has got one; twice is once."""

    def remains(self) -> list[str]:
        """Return what is left of what `create` has got, by name; nothing after `destroy`."""
