"""Media in a bucket of Azure, against its emulator (azurite, by npm), where that is on PATH."""

from __future__ import annotations

import base64
import hashlib
import hmac
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

import httpx
import pytest

from beholder.buckets.signed_addresses import host_media
from beholder.buckets.upload import compare_copies, remove_copies
from beholder.study.parts import duration
from support.hosted_study import ALL, hosted_study
from support.server_process import free_port
from support.system_programs import need_programs

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""Of everybody's emulator: it is in its documentation."""
CORS = """<?xml version="1.0" encoding="utf-8"?>
<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>{origin}</AllowedOrigins><AllowedMethods>GET</AllowedMethods>
<MaxAgeInSeconds>60</MaxAgeInSeconds><ExposedHeaders></ExposedHeaders><AllowedHeaders>range</AllowedHeaders></CorsRule>
</Cors></StorageServiceProperties>"""
ORIGIN = "https://study.example.org"


def put(endpoint: str, path: str, query: dict[str, str], body: str = "") -> None:
    """Send a request that the key of the account signs (Azure's "Shared Key")."""
    date = format_datetime(datetime.now(UTC), usegmt=True)
    headers = {"x-ms-date": date, "x-ms-version": "2021-10-04"}
    signed = "".join(f"{name}:{value}\n" for name, value in sorted(headers.items()))
    resource = f"/{ACCOUNT}/{ACCOUNT}{path}" + "".join(f"\n{name}:{value}" for name, value in sorted(query.items()))
    length = str(len(body)) if body else ""
    lines = ["PUT", "", "", length, "", "application/xml" if body else "", *[""] * 6]
    text = "\n".join(lines) + f"\n{signed}{resource}"
    mark = base64.b64encode(hmac.digest(base64.b64decode(KEY), text.encode(), hashlib.sha256)).decode()
    headers |= {"authorization": f"SharedKey {ACCOUNT}:{mark}"} | ({"content-type": "application/xml"} if body else {})
    reply = httpx.put(f"{endpoint}{path}", params=query, content=body, headers=headers)
    assert reply.is_success, reply.text


@pytest.fixture
def azure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An emulator with a container `stimuli` that pages of one origin may read; its address."""
    need_programs("azurite-blob", for_what="no emulator of Azure (npm install azurite)")
    port = free_port()
    endpoint = f"http://127.0.0.1:{port}/{ACCOUNT}"
    command = ["azurite-blob", "--blobPort", str(port), "--location", str(tmp_path / "azure"), "--silent"]
    with subprocess.Popen([*command, "--skipApiVersionCheck", "--disableTelemetry"]) as process:
        try:
            while process.poll() is None:
                try:
                    httpx.get(endpoint)
                    break
                except httpx.TransportError:
                    continue
            put(endpoint, "/stimuli", {"restype": "container"})
            put(endpoint, "", {"restype": "service", "comp": "properties"}, CORS.format(origin=ORIGIN))
            for name, value in {"ACCOUNT_NAME": ACCOUNT, "ACCOUNT_KEY": KEY, "ENDPOINT": endpoint}.items():
                monkeypatch.setenv(f"AZURE_STORAGE_{name}", value)
            yield endpoint
        finally:
            process.terminate()


def test_copies_are_uploaded_compared_signed_for_refused_otherwise_and_removed(
    azure: str, tmp_path: Path, tiny: Path
) -> None:
    study, catalogue = hosted_study(tmp_path / "study", tiny, "az://stimuli/lab/one")
    hosted = host_media(study, catalogue, ORIGIN, duration("1 s"))
    assert hosted.source == f"{azure}/stimuli/lab/one/"
    assert compare_copies(study, catalogue).is_whole
    one, other = list(hosted.copies.by_key.values())[:2]
    address = hosted.address(one)
    reply = httpx.get(address, headers={"origin": ORIGIN, "range": "bytes=0-99"})
    assert (reply.status_code, reply.content) == (206, b"".join(one.file.read(0, 100)))
    assert reply.headers["access-control-allow-origin"] == ORIGIN
    query = address.partition("?")[2]
    for wrong in (
        address.partition("?")[0],
        f"{azure}/stimuli/lab/one/{other.key}?{query}",
        f"{azure}/stimuli/lab/one/secret?{query}",
        address.replace("se=2", "se=3"),
    ):
        assert httpx.get(wrong).status_code in (403, 404), wrong
    while (late := httpx.get(address)).is_success:
        pass
    assert late.status_code == 403
    assert remove_copies(study) == ALL
