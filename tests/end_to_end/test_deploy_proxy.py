"""A study behind a proxy that is there: the lines that are printed are pasted, and seen through the public address."""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from beholder.testing import write_study
from support.deployed_study import DeployedStudy, stored_answers
from support.server_process import free_port
from support.ssh_machine import SshMachine, ssh_machine
from support.system_programs import find_program, need_programs

MODULES = Path("/usr/lib/apache2/modules")


def nginx(folder: Path, port: int, lines: str) -> tuple[list[str], str]:
    return (
        [
            find_program("nginx", is_server=True) or "nginx",
            "-c",
            str(folder / "proxy.conf"),
            "-p",
            str(folder),
            "-g",
            "daemon off;",
        ],
        f"""
pid {folder}/proxy.pid; error_log {folder}/error.log;
events {{}}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxied;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{
    listen 127.0.0.1:{port} ssl; server_name 127.0.0.1;
    ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
{lines}
  }}
}}
""",
    )


def apache(folder: Path, port: int, lines: str) -> tuple[list[str], str]:
    names = ("mpm_event", "authz_core", "proxy", "proxy_http", "ssl", "socache_shmcb")
    modules = "\n".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in names)
    return (
        [find_program("apache2", is_server=True) or "apache2", "-X", "-f", str(folder / "proxy.conf")],
        f"""
ServerName 127.0.0.1
ServerRoot {folder}
PidFile {folder}/proxy.pid
ErrorLog {folder}/error.log
Mutex file:{folder} default
{modules}
Listen 127.0.0.1:{port}
<VirtualHost 127.0.0.1:{port}>
SSLEngine on
SSLCertificateFile {folder}/cert.pem
SSLCertificateKeyFile {folder}/key.pem
{lines}
</VirtualHost>
""",
    )


def caddy(folder: Path, port: int, lines: str) -> tuple[list[str], str]:
    # As its owner would have it: with a certificate and a port of its own.
    site = lines.replace("127.0.0.1 {", f"https://127.0.0.1:{port} {{\n tls {folder}/cert.pem {folder}/key.pem", 1)
    program = shutil.which("caddy", path=str(Path(sys.executable).parent)) or "caddy"
    command = [program, "run", "--adapter", "caddyfile", "--config", str(folder / "proxy.conf")]
    return command, f"{{\n admin off\n auto_https off\n}}\n{site}"


def block_of(name: str, words: list[str]) -> str:
    """Return the lines that are printed for one kind of proxy."""
    printed = "\n".join(words)
    found = re.search(rf"^{name} \(.*\):\n\n((?:    .*\n|\n)+)", f"{printed}\n", re.MULTILINE)
    assert found is not None, printed
    return found[1]


def make_certificate(folder: Path) -> None:
    """Make the certificate that the proxy has already, signed by itself."""
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=127.0.0.1",
            "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(folder / "key.pem"), "-out",
            str(folder / "cert.pem"),
        ],
        check=True, capture_output=True,
    )  # fmt: skip


@contextmanager
def proxy(folder: Path, port: int, configure: Callable[..., tuple[list[str], str]], lines: str) -> Iterator[None]:
    command, text = configure(folder, port, lines)
    (folder / "proxy.conf").write_text(text, "utf-8")
    with (folder / "log").open("wb") as log:
        running = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
        try:
            yield
        finally:
            running.terminate()
            running.wait()


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[SshMachine]:
    with ssh_machine(tmp_path / "machine") as made:
        yield made


@pytest.mark.variant
@pytest.mark.parametrize(
    ("name", "program", "configure"),
    [("nginx", "nginx", nginx), ("Apache", "apache2", apache), ("Caddy", "", caddy)],
    ids=["nginx", "apache", "caddy"],
)
async def test_the_lines_that_are_printed_lead_people_to_the_study(
    name: str, program: str, configure: Callable[..., tuple[list[str], str]], tmp_path: Path, tiny: Path,
    machine: SshMachine,
) -> None:  # fmt: skip
    if program and find_program(program, is_server=True) is None:
        pytest.skip(f"{program} is not installed")
    need_programs("openssl", for_what="no certificate of a proxy")
    folder, port = tmp_path / "proxy", free_port()
    folder.mkdir()
    make_certificate(folder)
    given = {"tls": "proxy", "acme_root": str(folder / "cert.pem")}
    online = DeployedStudy(write_study(tmp_path / "study", tiny), machine, port, given=given)
    deployed = await asyncio.to_thread(online.up)
    assert not deployed.is_reached
    assert "Let the proxy pass people on. Paste one of these:" in deployed.words
    assert not (machine.root / "caddy").exists(), "no second proxy is started"
    with proxy(folder, port, configure, block_of(name, list(deployed.words))):
        while not (status := await asyncio.to_thread(online.deployment.status)).is_reached:
            assert "does not answer" in status.outside, (status.outside, (folder / "log").read_text("utf-8"))
        assert status.is_well
        assert status.certificate_ends is not None
        robots = await online.send(2)
        again = await asyncio.to_thread(online.up)
        assert again.is_reached, "lines that are there already are not asked for again"
        assert not any("Paste" in line for line in again.words)
        await asyncio.to_thread(online.deployment.down)
    kept = {(one.session, one.key): one.answer for robot in robots for one in robot.acknowledged}
    assert await stored_answers(online.study.parent / "store") == kept
    assert not machine.root.exists()
