"""A certificate authority that speaks ACME (pebble), with names of its own that lead to a machine under test."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.server_process import free_port
from support.system_programs import need_programs

PROGRAMS = ("pebble", "pebble-challtestsrv", "openssl")


@dataclass(frozen=True)
class AcmeAuthority:
    """Where it is, and the roots of its certificates and of its own address."""

    directory: str
    roots: Path


@contextmanager
def acme_authority(folder: Path, listens: str, leads_to: str) -> Iterator[AcmeAuthority]:
    """Yield an authority at a number of this machine, to which every name leads to another number; skip without one."""
    need_programs(*PROGRAMS, for_what="no ACME authority")
    folder.mkdir(parents=True)
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
            "2", "-subj", "/CN=pebble", "-addext", f"subjectAltName=IP:{listens}", "-keyout", str(folder / "key.pem"),
            "-out", str(folder / "own.pem"),
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    port, manage, names = free_port(), free_port(), free_port()
    settings = {
        "listenAddress": f"{listens}:{port}", "managementListenAddress": f"{listens}:{manage}",
        "certificate": str(folder / "own.pem"), "privateKey": str(folder / "key.pem"), "httpPort": 80, "tlsPort": 443,
        "ocspResponderURL": "", "externalAccountBindingRequired": False,
    }  # fmt: skip
    (folder / "pebble.json").write_text(json.dumps({"pebble": settings}), "utf-8")
    commands = [
        ["pebble-challtestsrv", "-defaultIPv4", leads_to, "-defaultIPv6", "", "-dns01", f"{listens}:{names}",
         "-http01", "", "-https01", "", "-tlsalpn01", "", "-management", f"{listens}:{free_port()}"],
        ["pebble", "-config", str(folder / "pebble.json"), "-dnsserver", f"{listens}:{names}"],
    ]  # fmt: skip
    quick = {"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "0", "PATH": os.environ["PATH"]}
    with (folder / "log").open("wb") as log:
        running = [subprocess.Popen(command, env=quick, stdout=log, stderr=log) for command in commands]
        try:
            issuer = _fetch(f"https://{listens}:{manage}/roots/0", folder / "own.pem", running, folder / "log")
            roots = folder / "roots.pem"
            roots.write_text(f"{issuer}\n{(folder / 'own.pem').read_text('utf-8')}", "utf-8")
            yield AcmeAuthority(f"https://{listens}:{port}/dir", roots)
        finally:
            for one in running:
                one.kill()
                one.wait()


def _fetch(url: str, root: Path, running: list[subprocess.Popen[bytes]], log: Path) -> str:
    trusted = ssl.create_default_context(cafile=str(root))
    while True:
        assert all(one.poll() is None for one in running), log.read_text("utf-8")
        try:
            with urllib.request.urlopen(url, context=trusted, timeout=5) as answer:
                return str(answer.read().decode())
        except OSError:
            time.sleep(0.05)
