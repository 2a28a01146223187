"""Files at https addresses: fetched once and whole, and never from a private network."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx
import pytest

from beholder.errors import StimuliError
from beholder.stimuli.addresses import ALLOWED_HOSTS, PublicNetwork, fetch, is_public
from beholder.stimuli.ingestion import load_catalogue
from support.source_studies import study_in, write

FIX = "Check the address, or put the file into the study folder."
Answer = Callable[[httpx.Request], httpx.Response]


def public(host: str, port: int) -> Sequence[str]:
    return ["93.184.216.34"]


def network(
    answer: Answer, resolve: Callable[[str, int], Sequence[str]] = public, most: int = 10_000_000
) -> PublicNetwork:
    return PublicNetwork(httpx.MockTransport(answer), resolve, most)


def failure(address: str, folder: Path, reached: PublicNetwork) -> str:
    with pytest.raises(StimuliError) as caught:
        fetch(address, folder / "cache", "list.csv:2", reached)
    assert not list((folder / "cache").iterdir())
    return str(caught.value)


def test_an_address_is_fetched_once_and_its_hash_is_kept(tmp_path: Path, video: bytes) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        # To the address that was looked at, in the name of the host.
        assert (request.url.host, request.extensions["sni_hostname"]) == ("93.184.216.34", "example.org")
        asked.append(f"https://{request.headers['host']}{request.url.raw_path.decode()}")
        if request.url.path == "/old.mp4":
            return httpx.Response(302, headers={"location": "https://example.org/new.mp4"})
        return httpx.Response(200, content=video)

    address = "https://example.org/old.mp4?key=1"
    write(tmp_path, {"list.csv": f"file,content,condition\n{address},city,a\n"})
    study = study_in(tmp_path, {"manifest": "list.csv"})
    (stimulus,) = load_catalogue(study, network=network(answer)).stimuli
    assert asked == [address, "https://example.org/new.mp4"]
    assert (stimulus.file, stimulus.sha256) == (address, hashlib.sha256(video).hexdigest())
    (record,) = (tmp_path / "media" / "cache").glob("*.json")
    assert json.loads(record.read_text()) == {"address": address, "sha256": stimulus.sha256, "bytes": len(video)}
    assert load_catalogue(study, network=network(answer)).stimuli == (stimulus,)
    assert len(asked) == 2


def test_addresses_that_fail_are_problems_and_leave_nothing_behind(tmp_path: Path) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/plain.mp4":
            return httpx.Response(302, headers={"location": "http://example.org/x.mp4"})
        if request.url.path == "/gone.mp4":
            return httpx.Response(404)
        raise httpx.ConnectError("no route to host")

    names = ("gone", "plain", "away")
    rows = "".join(f"https://example.org/{name}.mp4,{name},a\n" for name in names)
    write(tmp_path, {"list.csv": f"file,content,condition\n{rows}"})
    with pytest.raises(StimuliError) as caught:
        load_catalogue(study_in(tmp_path, {"manifest": "list.csv"}), network=network(answer))
    assert [str(problem) for problem in caught.value.problems] == [
        f"list.csv:2  https://example.org/gone.mp4 cannot be fetched: the server answers 404. {FIX}",
        f"list.csv:3  https://example.org/plain.mp4 cannot be fetched: it leads on to http://example.org. {FIX}",
        f"list.csv:4  https://example.org/away.mp4 cannot be fetched: no route to host. {FIX}",
    ]
    assert list((tmp_path / "media" / "cache").iterdir()) == []


PRIVATE = [
    "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
    "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::",
    "metadata",
]  # fmt: skip


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_of_a_private_network_is_not_public(address: str) -> None:
    assert not is_public(address)


def test_public_addresses_are_public() -> None:
    assert is_public("93.184.216.34")
    assert is_public("2606:2800:220:1:248:1893:25c8:1946")


def test_a_private_host_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers["host"])
        return httpx.Response(302, headers={"location": "https://inside.example.org/secret.mp4"})

    def resolve(host: str, port: int) -> Sequence[str]:
        # One private address among public ones is enough.
        return ["93.184.216.34", "10.0.0.7"] if host.startswith("inside") else ["93.184.216.34"]

    refused = f"inside.example.org is 10.0.0.7, in a private network; name the host in {ALLOWED_HOSTS} if that is meant"
    for address, sent in (("https://inside.example.org/a.mp4", 0), ("https://example.org/a.mp4", 1)):
        said = failure(address, tmp_path, network(answer, resolve))
        assert said == f"list.csv:2  {address} cannot be fetched: {refused}. {FIX}"
        assert len(asked) == sent, "only the public host is asked, and its redirect is not followed"


def test_a_private_host_is_reached_only_where_it_is_allowed_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connections: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def listen() -> None:
            connection, _ = listener.accept()
            with connection:
                connections.append(connection.recv(2000))

        thread = threading.Thread(target=listen)
        thread.start()
        address, here = (
            f"https://media.lab.example:{port}/a.mp4",
            PublicNetwork(resolve=lambda host, port: ["127.0.0.1"]),
        )
        for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv(ALLOWED_HOSTS, "other.lab.example")
        assert "is 127.0.0.1, in a private network" in failure(address, tmp_path, here)
        assert not connections
        monkeypatch.setenv(ALLOWED_HOSTS, "other.lab.example, Media.lab.example")
        failure(address, tmp_path, here)  # it speaks no TLS
        thread.join()
    assert b"media.lab.example" in connections[0], "the certificate is asked for in the name of the host"


def test_a_file_without_an_end_is_not_fetched(tmp_path: Path) -> None:
    pulled: list[int] = []

    def endless(request: httpx.Request) -> httpx.Response:
        def body() -> object:
            for _ in range(1000):
                pulled.append(1)
                yield b"x" * 1000

        return httpx.Response(200, content=body())  # type: ignore[arg-type]

    address = "https://example.org/a.mp4"
    said = failure(address, tmp_path, network(endless, most=50_000))
    assert said == f"list.csv:2  {address} cannot be fetched: it has more than 50000 bytes. {FIX}"
    assert len(pulled) < 200
    announced = network(lambda request: httpx.Response(200, headers={"content-length": "99999999"}), most=50_000)
    assert "it has more than 50000 bytes" in failure(address, tmp_path, announced)


def test_a_circle_of_redirects_ends(tmp_path: Path) -> None:
    round_and_round = network(lambda request: httpx.Response(302, headers={"location": "https://example.org/a.mp4"}))
    assert "Exceeded maximum allowed redirects" in failure("https://example.org/a.mp4", tmp_path, round_and_round)
