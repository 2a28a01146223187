"""The target `here`: this machine itself, for a laptop with a tunnel or a server that one sits at.

Everything is as on a machine behind ssh, in a folder of its own in the home of this user, so that an update of the
Beholder here, or of the study while it is edited, reaches nobody before `up`.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, ClassVar

from beholder.deployment.contract import CommandReply, Machine, MachineUnreachable, Problem, Sum
from beholder.deployment.settings import HERE, HERE_WORDS
from beholder.deployment.ssh import talk

_NOT_FOUND = 127
"""What a shell ends with where there is no such program."""


class HereTarget:
    """This machine, which is there and stays."""

    kind: ClassVar[str] = "here"
    is_made: ClassVar[bool] = False
    place = HERE

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
        """Return that this system has not what keeps a server running."""
        if sys.platform == "linux":
            return []
        fix = (
            "On macOS and Windows: `beholder serve --public-url` with a tunnel beside it (docs/serving.md), Windows' "
            "own Linux (WSL), or a machine that you reach by ssh."
        )
        return [Problem("--to", f"is here, and this machine runs {sys.platform}", "Linux", fix)]

    def create(self) -> None:
        """Nothing is made: the machine is there."""

    @contextlib.contextmanager
    def connect(self) -> Iterator[Machine]:
        """Return this machine."""
        yield ThisMachine()

    def destroy(self) -> None:
        """Nothing is given back."""

    def remains(self) -> list[str]:
        """Return nothing, as nothing was made."""
        return []


class ThisMachine:
    """This machine, on which commands run as whoever deploys."""

    name = HERE_WORDS

    def run(self, command: Sequence[str], send: Iterable[bytes] = (), receive: IO[bytes] | None = None) -> CommandReply:
        """Run a command here; one that cannot be started ends as in a shell."""
        try:
            process = subprocess.Popen(
                list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=plain_environment(os.environ), cwd=Path.home(),
            )  # fmt: skip
        except FileNotFoundError as error:
            return CommandReply(_NOT_FOUND, b"", str(error))
        except OSError as error:
            raise MachineUnreachable(Problem(command[0], f"cannot be started: {error.strerror}")) from error
        return talk(process, send, receive)


def plain_environment(variables: os._Environ[str]) -> dict[str, str]:
    """Return the environment as at a login: without the Python environment from which Beholder was called."""
    own = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
    return {name: value for name, value in variables.items() if name not in own}
