"""A tunnel program is kept running, its address is read from what it prints, and its faults are told."""

from __future__ import annotations

import json
import shutil
import ssl
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import psutil
import pytest

from beholder.deployment.here import ThisMachine
from beholder.deployment.machine.places import Places
from beholder.deployment.machine.tunnel import KINDS, tunnel_state
from beholder.deployment.program import MachineProgram
from beholder.errors import DeployError
from beholder.testing import tunnels
from support.server_process import free_port
from support.ssh_machine import SshMachine, ssh_machine
from support.this_machine import this_machine
from support.variants import variant


def assert_all_end(machine: SshMachine) -> None:
    """Check that nothing runs there; a process that was told to end may take its time to."""
    assert psutil.wait_procs([psutil.Process(one) for one in machine.processes()], 60)[1] == []


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"the study")

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


def program_on(machine: SshMachine, port: int) -> MachineProgram:
    """Return the program that is sent to a machine, for a server on a port."""
    Places(machine.root, "tiny").write(id="1", service="cron", port=port, address="")
    program = MachineProgram(ThisMachine(), sys.executable, str(machine.root), "tiny")
    program.send()
    return program


@pytest.mark.parametrize("kind", ["cloudflared", variant("tailscale"), variant("ngrok")])
def test_a_tunnel_is_opened_kept_and_closed(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        this_machine(tmp_path / "laptop", monkeypatch, kind) as machine,
        HTTPServer(("127.0.0.1", 0), Page) as server,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        program = program_on(machine, server.server_port)
        request: dict[str, Any] = {"kind": kind, "program": str(machine.folder / "bin" / kind), "address": ""}
        opened = program.call("tunnel", **request)
        assert program.call("tunnel", **request) == opened, "one that is there is kept"
        places = Places(machine.root, "tiny")
        assert tunnel_state(places) == {"is_kept": True, "address": opened["address"]}
        trusted = ssl.create_default_context(cafile=str(machine.folder / "bin" / tunnels.CERTIFICATE))
        with urllib.request.urlopen(opened["address"], context=trusted, timeout=30) as answer:
            assert answer.read() == b"the study"
        if kind == "ngrok":  # a name of one's own
            own = f"https://127.0.0.1:{free_port()}"
            assert program.call("tunnel", **{**request, "address": own, "is_asked": True})["address"] == own
        program.call("tunnel", kind="")
        assert tunnel_state(places) == {}
        assert_all_end(machine)
        assert not machine.crontab.exists()
        server.shutdown()


@pytest.mark.parametrize("kind", ["ngrok", variant("tailscale"), variant("cloudflared")])
def test_a_tunnel_that_does_not_come_up_says_why(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = {
        "cloudflared": "failed to request quick Tunnel: dial tcp: lookup api.trycloudflare.com: no such host",
        "tailscale": "To not require root, use 'sudo tailscale set --operator=$USER' once.",
        "ngrok": "Usage of ngrok requires a verified account and authtoken. ERR_NGROK_4018",
    }
    with this_machine(tmp_path / "laptop", monkeypatch, kind) as machine:
        program = program_on(machine, 1)
        (machine.folder / "bin" / tunnels.ENDS_WITH).touch()
        with pytest.raises(DeployError, match=f"this machine: {kind}  does not come up: ") as told:
            program.call("tunnel", kind=kind, program=str(machine.folder / "bin" / kind), address="")
        assert words[kind] in str(told.value)
        assert str(told.value).endswith(KINDS[kind].hint)
        assert_all_end(machine)


def test_a_connection_to_a_machine_of_ones_own_is_held_and_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        ssh_machine(tmp_path / "own-host") as host,
        this_machine(tmp_path / "laptop", monkeypatch) as machine,
        HTTPServer(("127.0.0.1", 0), Page) as server,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        program = program_on(machine, server.server_port)
        address = "https://study.example.org"
        request: dict[str, Any] = {
            "kind": "ssh", "program": shutil.which("ssh"), "via": host.to, "ssh_config": str(host.config),
            "address": address,
        }  # fmt: skip
        opened = program.call("tunnel", **request)
        assert opened["address"] == address
        assert page_at(opened["port"]) == b"the study"
        (client,) = [one for one in psutil.process_iter(["cmdline"]) if is_forwarding(one, host)]
        client.kill()
        client.wait()
        while page_at(opened["port"]) != b"the study":
            time.sleep(0.02)
        program.call("tunnel", kind="")
        assert not [one for one in psutil.process_iter(["cmdline"]) if is_forwarding(one, host)]
        # Where nobody lets us in, that is told.
        shutil.copy(host.folder / "other_key.pub", host.folder / "authorized_keys")
        with pytest.raises(
            DeployError, match=r"this machine: ssh  does not come up: .*Permission denied \(publickey\)"
        ):
            program.call("tunnel", **request)
        server.shutdown()


def page_at(port: int) -> bytes:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}", timeout=5) as answer:
            return bytes(answer.read())
    except OSError:
        return b""


def is_forwarding(process: psutil.Process, host: SshMachine) -> bool:
    line = " ".join(process.info["cmdline"] or ())
    return "ExitOnForwardFailure=yes" in line and str(host.config) in line


def test_pages_of_the_company_are_no_addresses() -> None:
    assert KINDS["cloudflared"].find_address("INF Thank you (https://www.cloudflare.com/website-terms/)") == ""
    asked = (
        "Funnel is not enabled on your tailnet.\nTo enable, visit:\n\n https://login.tailscale.com/f/funnel?node=n1\n"
    )
    assert KINDS["tailscale"].find_address(asked) == ""
    other = json.dumps({"msg": "starting web service", "url": "https://127.0.0.1:4040"})
    assert KINDS["ngrok"].find_address(f'{other}\nnot JSON, though "started tunnel"\n') == ""
    assert KINDS["ssh"].find_address("debug1: Remote connections from 127.0.0.1:9 forwarded") == ""
