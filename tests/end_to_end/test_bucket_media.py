"""Media from a bucket, over HTTP: blind, refused to whoever has no address, and passed on by a server where asked."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from beholder.buckets.connection import Bucket
from beholder.buckets.disguises import SECRET_FILE
from beholder.methods import load_study
from beholder.server.process import RunningServer, run_server
from beholder.server.tokens import robot_signature
from beholder.simulation.robot import watch_events
from beholder.testing import write_study
from support.hosted_study import hosted_study
from support.relay import port_of, relay_before
from support.s3_server import ACCESS, S3Access
from support.server_process import free_port
from support.system_programs import find_program


@pytest.fixture(name="s3")
def _s3(each_s3: S3Access) -> S3Access:
    """One S3 server after the other."""
    return each_s3


MARKS = {"natural": "zqfullmotion", "smooth": "zqdamped", "jerky": "zqjerky", "frozen": "zqstill"}
WORDS = [*MARKS, *MARKS.values(), "zqcontent", "zqlabel"]


def marked_study(folder: Path, tiny: Path, **keys: Any) -> Path:
    """Write a study with a mark in every name, whose natural clips are in every trial, and twice."""
    like = folder / "like"
    (like / "media").mkdir(parents=True)
    for condition, name in MARKS.items():
        (like / "stimuli" / name).mkdir(parents=True)
        for file in sorted((tiny / "stimuli" / condition).iterdir()):
            (like / "stimuli" / name / f"zqcontent-{file.name}").write_bytes(file.read_bytes())
    conditions = [{"name": name, "label": f"zqlabel {name}"} for name in MARKS.values()]
    conditions[0] |= {"role": "reference"}
    return write_study(
        folder / "study", like, conditions=conditions, options={"reference": "both"},
        design={"participants": 6, "trials": 4, "seed": 3}, **keys,
    )  # fmt: skip


class Taken:
    """What one participant received: every byte with its headers, and the addresses of each page."""

    def __init__(self) -> None:
        self.received: list[tuple[str, bytes]] = []
        self.pages: list[list[dict[str, Any]]] = []
        self.replies: dict[str, httpx.Response] = {}

    async def fetch(self, client: httpx.AsyncClient, method: str, path: str, **more: Any) -> httpx.Response:
        reply = await client.request(method, path, **more)
        headers = "\n".join(f"{name}: {value}" for name, value in reply.headers.multi_items())
        self.received.append((f"{method} {path}", f"{path}\n{headers}\n".encode() + reply.content))
        return reply


async def take(server: RunningServer, name: str) -> Taken:
    """Take the whole study, and fetch all media from where they are."""
    taken = Taken()
    async with httpx.AsyncClient(base_url=server.address, timeout=60) as client:
        await taken.fetch(client, "GET", "/s/tiny")
        params = {"robot": name, "signature": robot_signature(server.store.secret, name)}
        body = {"study": "tiny", "params": params, "device": {}}
        arrival = (await taken.fetch(client, "POST", "/api/arrive", json=body)).json()
        client.headers["authorization"] = f"Bearer {arrival['token']}"
        step = arrival["step"]
        while step["kind"] != "end":
            slots = step["trial"]["slots"] if step["kind"] == "trial" else []
            if slots:
                taken.pages.append([slot["media"] for slot in slots])
            async with httpx.AsyncClient(timeout=60) as browser:  # which sends no token to another host
                for media in (slot["media"] for slot in slots):
                    address = media["signed"]
                    taken.replies[address] = await taken.fetch(browser, "GET", address)
                    for wrong in (address[:-4] + "0000", address.partition("?")[0], f"{address.partition('?')[0]}x"):
                        assert (await taken.fetch(browser, "GET", wrong)).status_code == 403
            answer: dict[str, Any] = {"agree": True} if step["kind"] == "consent" else {}
            if slots:
                answer = {"scores": {"q1": {slot["id"]: 50 for slot in slots if slot["rated"]}}}
            events = watch_events(step["trial"]) if slots else []
            reply = await taken.fetch(
                client, "PUT", f"/api/answers/{step['key']}", json={"answer": answer, "events": events}
            )
            assert reply.status_code == 200, reply.text
            step = reply.json()["step"]
    return taken


def key_of(address: str) -> str:
    return address.partition("?")[0].rpartition("/")[2]


async def test_neither_keys_headers_errors_nor_sizes_tell_what_people_see(
    s3: S3Access, tmp_path: Path, tiny: Path
) -> None:
    to = s3.new_folder()
    study = load_study(marked_study(tmp_path, tiny, media={"to": to, "copies": 8}))
    s3.allow("*")
    async with run_server(study, port=0) as server:
        taken = [await take(server, f"p{number}") for number in range(3)]
        hosted = server.service.context.media.hosted
        assert hosted is not None
        copies = hosted.copies.by_key
    for one in taken:
        for what, data in one.received:
            assert not [word for word in WORDS if word.encode() in data.lower()], what
            assert server.store.secret.hex().encode() not in data
        for page in one.pages:
            keys = [key_of(media["signed"]) for media in page]
            files = [copies[key].file.path.name for key in keys]
            assert (len(keys), len(set(keys)), len(set(files))) == (5, 5, 4), "the reference is there twice"
            replies = [one.replies[media["signed"]] for media in page]
            assert [len(reply.content) for reply in replies] == [media["bytes"] for media in page]
            assert len({reply.headers["etag"] for reply in replies}) == 5
            assert len({reply.content for reply in replies}) == 5
            for header in ("content-type", "cache-control"):
                assert len({reply.headers[header] for reply in replies}) == 1
            names = {frozenset(name for name in reply.headers if name != "x-amz-request-id") for reply in replies}
            assert len(names) == 1
        session = [key_of(media["signed"]) for page in one.pages for media in page]
        assert len(set(session)) == len(session), "nor is anything known again on a later page"
    # The order of sizes on a page is that of chance: no condition is always first.
    first = [
        min(page, key=lambda media: media["bytes"])["signed"] for one in taken for page in one.pages
    ]  # fmt: skip
    assert len({copies[key_of(address)].file.path.name for address in first}) > 2
    # Who takes part again gets other copies of the same clips.
    sessions = [{key_of(media["signed"]) for page in one.pages for media in page} for one in taken]
    assert all(len(one & other) < len(one) / 2 for one in sessions for other in sessions if one is not other)


@asynccontextmanager
async def served(
    s3: S3Access, folder: Path, tiny: Path, **media: Any
) -> AsyncIterator[tuple[RunningServer, httpx.AsyncClient, list[dict[str, Any]]]]:
    """Serve a study with its media in a bucket, and yield the media of a first page."""
    s3.allow("*")
    study, _ = hosted_study(folder / "study", tiny, **{"to": s3.new_folder(), **media})
    async with (
        run_server(study, port=0) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as client,
    ):
        yield server, client, await first_page(server, client)


async def first_page(server: RunningServer, client: httpx.AsyncClient) -> list[dict[str, Any]]:
    params = {"robot": "p", "signature": robot_signature(server.store.secret, "p")}
    arrival = (await client.post("/api/arrive", json={"study": "tiny", "params": params, "device": {}})).json()
    headers = {"authorization": f"Bearer {arrival['token']}"}
    body = {"answer": {"agree": True}, "events": []}
    step = (await client.put("/api/answers/consent", json=body, headers=headers)).json()["step"]
    media: list[dict[str, Any]] = step["prefetch"]
    assert media
    return media


async def test_tampered_expired_foreign_and_unsigned_addresses_are_refused(
    s3: S3Access, tmp_path: Path, tiny: Path
) -> None:
    async with served(s3, tmp_path, tiny, valid="1 s") as (server, client, (media, other, *_)):
        address = media["signed"]
        folder = address.partition("?")[0].rpartition("/")[0]
        query = address.partition("?")[2]
        foreign = f"{other['signed'].partition('?')[0]}?{query}"
        longer = address.replace("X-Amz-Expires=1&", "X-Amz-Expires=86400&")
        hosted = server.service.context.media.hosted
        assert hosted is not None
        place = hosted.place
        assert isinstance(place, Bucket)
        assert (await client.get(address)).status_code == 200
        for wrong in (
            foreign,
            longer,
            address[:-1],
            f"{folder}/{SECRET_FILE}",
            f"{folder}/{SECRET_FILE}?{query}",
            folder,
        ):
            reply = await client.get(wrong)
            assert reply.status_code == 403, wrong
            assert "<Code>" in reply.text
        for method in ("PUT", "DELETE", "POST"):
            assert (await client.request(method, address)).status_code in (403, 405)
        while (late := await client.get(address)).is_success:
            pass
        assert late.status_code == 403
        # The server knows the way by an address of its own, which nobody guesses.
        way = await client.get(media["url"])
        assert (way.status_code, way.headers["cache-control"]) == (307, "no-store")
        assert key_of(way.headers["location"]) == key_of(address)
        assert (await client.get(way.headers["location"])).status_code == 200
        assert (await client.get(f"{media['url'][:-4]}0000")).status_code == 404


async def test_the_same_page_has_the_same_copies_on_every_server_and_after_a_restart(
    s3: S3Access, tmp_path: Path, tiny: Path
) -> None:
    async with served(s3, tmp_path, tiny) as (server, _, media):
        study = server.service.served.study
    async with run_server(study, port=0) as server, httpx.AsyncClient(base_url=server.address) as client:
        params = {"robot": "p", "signature": robot_signature(server.store.secret, "p")}
        arrival = (await client.post("/api/arrive", json={"study": "tiny", "params": params, "device": {}})).json()
        again = arrival["step"]["prefetch"]
    assert [key_of(one["signed"]) for one in again] == [key_of(one["signed"]) for one in media]


async def test_a_server_passes_media_on_where_asked_and_says_when_they_are_away(
    s3: S3Access, tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with relay_before(port_of(s3.address)) as relay:
        monkeypatch.setenv("AWS_ENDPOINT_URL", relay.address)
        async with served(s3, tmp_path, tiny, delivery="server") as (_, client, (media, *_rest)):
            assert "signed" not in media
            page = await client.get("/s/tiny")
            assert "connect-src 'self';" in page.headers["content-security-policy"]
            whole = await client.get(media["url"])
            assert (whole.status_code, len(whole.content)) == (200, media["bytes"])
            assert whole.headers["etag"] == f'"{media["url"].removeprefix("/media/")}"'
            assert not [name for name in whole.headers if name.startswith("x-amz")]
            part = await client.get(media["url"], headers={"range": "bytes=10-19"})
            assert (part.status_code, part.content) == (206, whole.content[10:20])
            relay.is_away = True
            away = await client.get(media["url"])
            assert (away.status_code, away.json()["error"]["code"]) == (503, "media_away")
            assert away.headers["retry-after"] == "2"
            assert ACCESS not in away.text
            relay.is_away = False
            assert (await client.get(media["url"])).content == whole.content


# A web server in front


async def test_whoever_does_not_know_the_folder_gets_a_file_from_us(s3: S3Access, tmp_path: Path, tiny: Path) -> None:
    async with served(s3, tmp_path, tiny, to="copies") as (server, client, (media, *_rest)):
        folder = server.service.served.study.folder / "copies"
        announced = {"x-sendfile-type": "X-Accel-Redirect", "x-accel-mapping": f"{folder}/=/copies/"}
        handed = await client.get(media["url"], headers=announced)
        assert (handed.status_code, handed.content) == (200, b"")
        assert (folder / handed.headers["x-accel-redirect"].removeprefix("/copies/")).is_file()
        assert (handed.headers["content-type"], handed.headers["cache-control"]) == (
            "video/mp4", "private, max-age=31536000, immutable",
        )  # fmt: skip
        named = {"x-sendfile-type": "X-Sendfile", "x-accel-mapping": f"{folder}={folder}"}
        assert Path((await client.get(media["url"], headers=named)).headers["x-sendfile"]).is_file()
        for wrong in (
            {"x-sendfile-type": "X-Accel-Redirect"},
            {"x-sendfile-type": "X-Sendfile", "x-accel-mapping": "/=/"},
            announced | {"x-sendfile-type": "Set-Cookie"},
            announced | {"x-accel-mapping": "/copies/"},
        ):
            reply = await client.get(media["url"], headers=wrong)
            assert len(reply.content) == media["bytes"]
            assert not {"x-accel-redirect", "x-sendfile", "set-cookie"} & set(reply.headers)


NGINX = """
pid {folder}/nginx.pid; error_log {folder}/error.log; daemon off;
events {{}}
http {{
  access_log off; types {{}} default_type application/octet-stream;
  client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass {behind};
      proxy_set_header X-Sendfile-Type X-Accel-Redirect;
      proxy_set_header X-Accel-Mapping {copies}/=/copies/;
    }}
    location /copies/ {{
      internal;
      alias {copies}/;
      add_header X-Content-Type-Options nosniff;
    }}
  }}
}}
"""


@contextmanager
def nginx(folder: Path, behind: str, copies: Path) -> Iterator[str]:
    need_nginx()
    port = free_port()
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port, behind=behind, copies=copies))
    program = find_program("nginx", is_server=True) or "nginx"
    process = subprocess.Popen(
        [program, "-c", str(folder / "nginx.conf"), "-p", str(folder)], stderr=subprocess.DEVNULL
    )
    try:
        address = f"http://127.0.0.1:{port}"
        while process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break  # the study itself is served by the thread that waits here
        yield address
    finally:
        process.terminate()
        process.wait()


def need_nginx() -> None:
    if find_program("nginx", is_server=True) is None:
        pytest.skip("no web server in front: nginx is not on PATH")


async def test_nginx_hands_out_copies_whose_headers_tell_nothing(s3: S3Access, tmp_path: Path, tiny: Path) -> None:
    need_nginx()
    async with served(s3, tmp_path, tiny, to="copies") as (server, client, media):
        folder = server.service.served.study.folder / "copies"
        for path in (folder, *folder.parents):
            if path.stat().st_uid == os.getuid():
                path.chmod(path.stat().st_mode | 0o055)  # it reads as another user, where tests run as root
        with nginx(tmp_path, server.address, folder) as front:
            async with httpx.AsyncClient(base_url=front) as browser:
                for one in media:
                    own = await client.get(one["url"])
                    handed = await browser.get(one["url"])
                    assert (handed.status_code, handed.content) == (200, own.content)
                    assert "x-accel-redirect" not in handed.headers
                    assert handed.headers["last-modified"] == "Sat, 01 Jan 2000 00:00:00 GMT"
                    for name in ("content-type", "cache-control", "x-content-type-options"):
                        assert handed.headers[name] == own.headers[name]
                    part = await browser.get(one["url"], headers={"range": "bytes=10-19"})
                    assert (part.status_code, part.content) == (206, own.content[10:20])
                assert (await browser.get("/copies/secret")).status_code == 404
