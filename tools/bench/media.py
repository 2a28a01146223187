"""Media over HTTP, whole and in ranges, beside nginx that sends the same bytes from files."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import shutil
import statistics
import subprocess
import time
import wave
from collections.abc import Iterator
from pathlib import Path

from beholder.methods import load_study
from beholder.server.tokens import media_address, robot_signature
from beholder.stimuli.ingestion import load_catalogue
from beholder.testing import write_study
from bench.answers import secret_of
from bench.load import Chain, Load, request, send
from bench.servers import NAME, free_port, serving_study
from bench.table import Row, at_least

_SECONDS = (1, 10, 100)
"""Of sound at 192 kB a second: files of 0.2, 2 and 20 MB."""
_RATE = 48_000
_CONNECTIONS, _ROUNDS = 16, 5
_RANGE_BYTES = 65_536
_BYTES_A_ROUND = 400_000_000
_AIM_WHOLE, _AIM_RANGES = 0.7, 0.4
_NO_NGINX = Row("Media beside nginx", "not measured: no nginx on this system")


def measure_media(scratch: Path) -> list[Row]:
    """Return the shares of nginx's rates in rounds that take turns, for whole files of some sizes and for ranges."""
    program = shutil.which("nginx", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"]))
    if program is None:
        return [_NO_NGINX]
    study = _write_study(scratch / "media-study")
    store = str(scratch / "store-media")
    with serving_study(study, store) as server:
        paths = _addresses(server.port, study, secret_of(store))
        root = scratch / "nginx-root"
        root.mkdir()
        for name, path in paths.items():
            (root / name).write_bytes(_body(server.port, path))
        with _nginx(program, root) as port:
            rows = [_row(name, server.port, path, port, f"/{name}", _AIM_WHOLE) for name, path in paths.items()]
            name, path = list(paths.items())[-1]
            return [*rows, _row(name, server.port, path, port, f"/{name}", _AIM_RANGES, is_ranges=True)]


def _row(name: str, our_port: int, our_path: str, port: int, path: str, aim: float, *, is_ranges: bool = False) -> Row:
    size = int(name)
    ours, theirs = [], []
    for round_ in range(1 + _ROUNDS):
        chains = _chains(our_path, size, is_ranges), _chains(path, size, is_ranges)
        rates = [send(to, sent, _CONNECTIONS) for to, sent in zip((our_port, port), chains, strict=True)]
        if round_:
            ours.append(rates[0])
            theirs.append(rates[1])
    share = statistics.median(own.per_second / other.per_second for own, other in zip(ours, theirs, strict=True))
    each = _RANGE_BYTES if is_ranges else size
    what = f"ranges of 64 kB of {size / 1e6:.1f} MB" if is_ranges else f"whole files of {size / 1e6:.1f} MB"
    return at_least(f"Media, {what}: share of nginx's rate", share, aim, "", f" ({_rate(ours, each)})")


def _rate(loads: list[Load], each: int) -> str:
    per_second = statistics.median(load.per_second for load in loads)
    return f"{per_second:.0f} /s, {per_second * each / 1e6:.0f} MB/s"


def _chains(path: str, size: int, is_ranges: bool) -> list[Chain]:
    each = _RANGE_BYTES if is_ranges else size
    count = max(_CONNECTIONS, min(4000, _BYTES_A_ROUND // each)) // _CONNECTIONS
    drawn = random.Random(1)
    starts = [drawn.randrange(size - each) if is_ranges else None for _ in range(count)]
    chain = [request("GET", path, b"", range_=None if at is None else (at, at + each)) for at in starts]
    return [chain] * _CONNECTIONS


def _write_study(folder: Path) -> Path:
    """Write a study of sounds of several sizes, ingest it, and return its study.yaml."""
    source = folder / "source"
    (source / "media").mkdir(parents=True)
    (source / "stimuli" / "c1").mkdir(parents=True)
    for number, seconds in enumerate(_SECONDS):
        with wave.open(str(source / "stimuli" / "c1" / f"sound{number}.wav"), "wb") as file:
            file.setnchannels(2)
            file.setsampwidth(2)
            file.setframerate(_RATE)
            file.writeframes(random.Random(number).randbytes(4 * _RATE * seconds))
    design = {"participants": 10, "trials": len(_SECONDS), "seed": 1}
    study = write_study(folder / "study", source, name=NAME, method="acr", conditions=["c1"], design=design)
    load_catalogue(load_study(study))
    return study


def _addresses(port: int, study: Path, secret: bytes) -> dict[str, str]:
    """Return an address of each file by its size, the smallest first, for a robot that has arrived and agreed."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def ask(method: str, path: str, body: object, token: str = "") -> dict[str, str]:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        connection.request(method, path, json.dumps(body), headers)
        said: dict[str, str] = json.loads(connection.getresponse().read())
        return said

    params = {"robot": "media", "signature": robot_signature(secret, "media")}
    token = ask("POST", "/api/arrive", {"study": NAME, "params": params, "device": {}})["token"]
    ask("PUT", "/api/answers/consent", {"answer": {"agree": True}}, token)
    session, found = token.split(".")[1], {}
    for trial in range(1, len(_SECONDS) + 1):
        path = f"/media/{media_address(secret, session, f'trial:{trial}', 's1').token}"
        connection.request("HEAD", path)
        reply = connection.getresponse()
        reply.read()
        found[str(reply.headers["content-length"])] = path
    connection.close()
    return dict(sorted(found.items(), key=lambda item: int(item[0])))


def _body(port: int, path: str) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path)
    body = connection.getresponse().read()
    connection.close()
    return body


@contextlib.contextmanager
def _nginx(program: str, root: Path) -> Iterator[int]:
    port, folder = free_port(), root.parent / "nginx"
    folder.mkdir()
    user = "user root;" if os.name == "posix" and os.geteuid() == 0 else ""
    places = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = " ".join(f"{name}_temp_path {folder}/{name};" for name in places)
    (folder / "nginx.conf").write_text(
        f"{user} worker_processes 1; daemon off; pid {folder}/pid; error_log {folder}/errors; events {{}}\n"
        f"http {{ access_log off; sendfile on; keepalive_requests 1000000; {temporary}\n"
        f"  server {{ listen 127.0.0.1:{port}; root {root}; }} }}\n",
        "utf-8",
    )
    process = subprocess.Popen([program, "-c", str(folder / "nginx.conf"), "-p", str(folder)])
    try:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                http.client.HTTPConnection("127.0.0.1", port, timeout=1).connect()
                break
            time.sleep(0.01)
        yield port
    finally:
        process.terminate()
        process.wait()
