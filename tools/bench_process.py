"""Processes under measurement: started with a free port, waited for, and ended."""

from __future__ import annotations

import contextlib
import http.client
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench_study import NAME


@dataclass(frozen=True)
class Server:
    """A process that answers on a port of this machine."""

    port: int
    process: psutil.Popen
    seconds_to_page: float
    """From the start of the process to the first page."""

    def cpu_ms(self) -> float:
        """Return the processor time that it has used so far."""
        used = self.process.cpu_times()
        return float(used.user + used.system) * 1000


@contextlib.contextmanager
def serving(arguments: Sequence[str], page: str) -> Iterator[Server]:
    """Give a process that serves; `arguments` go to this Python, followed by --port and a free one."""
    port = _free_port()
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


def most_memory() -> int:
    """Return the most bytes that this process has had so far."""
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def serving_study(study: Path, store: str) -> contextlib.AbstractContextManager[Server]:
    """Give `beholder serve` as everybody starts it."""
    return serving(["-m", "beholder", "serve", str(study), "--store", store], f"/s/{NAME}")


def _free_port() -> int:
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
