"""Ceph's S3 server on loopback (radosgw, with a monitor and a daemon that keeps objects in memory), where installed."""

from __future__ import annotations

import os
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

from support.s3_server import ACCESS, MEDIA_BUCKET, SECRET, S3Access
from support.server_process import free_port
from support.system_programs import need_programs

PROGRAMS = ("ceph", "ceph-mon", "ceph-osd", "monmaptool", "radosgw", "radosgw-admin")
SETTINGS = """
[global]
fsid = {fsid}
mon host = v1:127.0.0.1:{port}
auth cluster required = none
auth service required = none
auth client required = none
run dir = {folder}
admin socket = {folder}/$name.asok
log file = {folder}/$name.log
pid file = {folder}/$name.pid
keyring = {folder}/keyring
mon data = {folder}/mon
osd data = {folder}/osd
osd objectstore = memstore
memstore device bytes = 2147483648
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 500
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv6 = false
rgw thread pool size = 16
"""


@dataclass
class RadosGateway(S3Access):
    """A cluster of one machine with its S3 server."""

    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def radosgw_server(folder: Path) -> Iterator[RadosGateway]:
    """Yield a server with a bucket for media; skip where Ceph's programs are not installed."""
    need_programs(*PROGRAMS, for_what="no Ceph (install radosgw, ceph-mon, ceph-osd, ceph-common)")
    monitor, gateway = free_port(), RadosGateway(free_port())
    for name in ("mon", "osd"):
        (folder / name).mkdir(parents=True)
    fsid, osd = str(uuid.uuid4()), str(uuid.uuid4())
    (folder / "keyring").touch()
    (folder / "ceph.conf").write_text(SETTINGS.format(fsid=fsid, port=monitor, folder=folder) + _own_plugins(), "utf-8")
    started: list[subprocess.Popen[bytes]] = []

    def run(*command: str) -> None:
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, timeout=300)

    def start(*command: str) -> None:
        with (folder / "out.log").open("ab") as log:
            started.append(subprocess.Popen([*command, "-f"], cwd=folder, env=environment, stdout=log, stderr=log))

    environment = {**os.environ, "CEPH_CONF": str(folder / "ceph.conf")}
    try:
        place = f"[v1:127.0.0.1:{monitor}]"
        run("monmaptool", "--create", "--clobber", "--addv", "a", place, "--fsid", fsid, "monmap")
        run("ceph-mon", "--mkfs", "-i", "a", "--monmap", "monmap")
        start("ceph-mon", "-i", "a", "--public-addrv", f"v1:127.0.0.1:{monitor}")
        run("ceph", "osd", "new", osd)
        run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", osd)
        start("ceph-osd", "-i", "0")
        user = ("--uid", ACCESS, "--display-name", ACCESS, "--access-key", ACCESS, "--secret", SECRET)
        run("radosgw-admin", "user", "create", *user)
        start("radosgw", "-n", "client.rgw", f"--rgw-frontends=beast endpoint=127.0.0.1:{gateway.port}")
        while started[-1].poll() is None:
            with suppress(httpx.TransportError):
                if httpx.get(gateway.address, timeout=5).is_success:
                    break
            time.sleep(0.05)
        gateway.client.create_bucket(Bucket=MEDIA_BUCKET)
        yield gateway
        gateway.client.close()
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


def _own_plugins() -> str:
    """Return where plugins lie for a Ceph that is not at the place of the system's packages."""
    root = os.environ.get("BEHOLDER_TEST_CEPH")
    if root is None:
        return ""
    return (
        f"osd class dir = {root}/rados-classes\nerasure code dir = {root}/ceph/erasure-code\nplugin dir = {root}/ceph\n"
    )
