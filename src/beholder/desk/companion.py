"""A desk in a process of its own: beside a server here, or on another machine through ssh.

It ends with the process that started it: it listens to its standard input, which ends then.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from beholder.deployment.access import journal_of
from beholder.deployment.settings import DeploySettings
from beholder.deployment.ssh import SshTarget, connection_problem
from beholder.errors import Problem, UserError
from beholder.methods import load_study
from beholder.server.process import free_port

_PATIENCE_S = 20.0


@contextmanager
def desk_beside(study: Path, *, store: str | None = None, port: int = 0, accounts: Path | None = None) -> Iterator[str]:
    """Yield the one-time link of a desk that runs beside this process, at a lower priority, and end it at the end."""
    more = [*(("--store", store) if store else ()), *(("--accounts", str(accounts)) if accounts else ())]
    command = [sys.executable, "-m", "beholder", "desk", str(study), "--port", str(port), "--json", "--companion"]
    with _started([*command, *more], _not_here) as link:
        yield link


@contextmanager
def desk_there(place: str, study: Path, *, config: str | None = None) -> Iterator[str]:
    """Yield the one-time link of a desk on another machine, which is reached through ssh as if it were here.

    Of a study that is deployed there from here it shows what is deployed; otherwise `study` is a folder on that
    machine, where Beholder has to be installed.
    """
    target = SshTarget(place, config)
    if problems := target.problems():
        raise UserError(problems)
    # That port there may be taken; then it says so, and another one is tried next time.
    port, port_there = free_port("127.0.0.1", 0), free_port("127.0.0.1", 0)
    options = ["-F", config] if config is not None else []
    options += ["-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "-o", "ServerAliveInterval=15"]
    options += ["-o", "ExitOnForwardFailure=yes", "-L", f"127.0.0.1:{port}:127.0.0.1:{port_there}"]
    there = [*remote_command(place, study), "--port", str(port_there), "--json", "--companion"]
    line = " ".join(shlex.quote(part) for part in there)
    with _started(["ssh", *options, "-T", place, line], lambda said: connection_or_desk(place, said)) as link:
        yield link.replace(f"http://localhost:{port_there}/", f"http://localhost:{port}/", 1)


def remote_command(place: str, study: Path) -> list[str]:
    """Return how a desk is called on another machine."""
    file = study / "study.yaml" if study.is_dir() else study
    if file.is_file():
        loaded = load_study(file)
        record = journal_of(loaded).current()
        if record is not None and "claim" in record.done and DeploySettings(**record.settings).to == place:
            folder = f"{record.done['claim']['root']}/{loaded.name}"
            python, store = f"{folder}/environment/bin/python", f"{folder}/store"
            return [python, "-m", "beholder", "desk", f"{folder}/study", "--store", store,
                    "--accounts", f"{folder}/desk.sqlite"]  # fmt: skip
    return ["beholder", "desk", study.as_posix()]


def connection_or_desk(place: str, said: str) -> Problem:
    """Return why there is no desk on another machine: what it says itself, or what ssh says."""
    last = next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "")
    if "not found" in last or "No such file" in last:
        fix = "Deploy the study from here with `beholder deploy up`, or install Beholder there."
        return Problem(place, "has no Beholder where it was looked for", "", fix)
    return connection_problem(place, said)


def _not_here(said: str) -> Problem:
    return Problem("desk", f"did not start ({said.strip().splitlines()[-1] if said.strip() else 'it says nothing'})")


@contextmanager
def _started(command: Sequence[str], problem: Callable[[str], Problem]) -> Iterator[str]:
    """Yield the link that a desk prints, and end its process at the end; raise UserError where there is no desk."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        said: list[bytes] = []
        assert process.stdin is not None
        assert process.stderr is not None
        reader = threading.Thread(target=lambda: said.extend(process.stderr or ()), daemon=True)
        reader.start()
        try:
            document = _first_document(process)
            if document is None or "link" not in document:
                process.stdin.close()
                process.wait()
                reader.join(_PATIENCE_S)
                problems = (document or {}).get("problems")
                if isinstance(problems, list):
                    raise UserError(Problem(**one) for one in problems)
                raise UserError(problem(b"".join(said).decode("utf-8", "replace")))
            yield str(document["link"])
        finally:
            if not process.stdin.closed:
                process.stdin.close()
            try:
                process.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()


def _first_document(process: subprocess.Popen[bytes]) -> dict[str, object] | None:
    """Return the first JSON document that a process prints; None where it ends without one."""
    text = b""
    for line in process.stdout or ():
        text += line
        if line.rstrip() == b"}":
            found: dict[str, object] = json.loads(text)
            return found
    return None
