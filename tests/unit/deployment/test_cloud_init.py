"""User data for a fresh machine: valid, readable, without secrets, and without rights for whoever serves."""

from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml

from beholder.deployment.cloud_init import own_keys, user_data
from beholder.errors import DeployError
from support.commands import command
from support.ssh_machine import make_key

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIK0DqoJOzETGqcbTrdS/ZYYzHtDVQZkXYVp8xy8G97v9 ada@laptop"
PLACES = ("/usr/lib/python3/dist-packages", os.environ.get("CLOUD_INIT_PATH", "/nowhere"))
SCHEMA = Path("cloudinit", "config", "schemas", "schema-cloud-config-v1.json")


@pytest.mark.parametrize("has_firewall", [True, False])
def test_user_data_is_what_cloud_init_reads(has_firewall: bool) -> None:
    text = user_data([KEY], has_firewall=has_firewall, host_key=("private\nhalf\n", "ssh-ed25519 AAAA"))
    assert text.startswith("#cloud-config\n")
    value = yaml.safe_load(text)
    # Keys and types as cloud-init documents them, also where the package is not here to ask.
    known = {
        "users": list, "disable_root": bool, "ssh_pwauth": bool, "package_update": bool, "packages": list,
        "write_files": list, "runcmd": list, "ssh_deletekeys": bool, "ssh_keys": dict,
    }  # fmt: skip
    assert {key: type(one) for key, one in value.items()} == known
    assert all(isinstance(word, str) for line in value["runcmd"] for word in line)
    assert ("nftables" in value["packages"]) == has_firewall
    for schema in [Path(place, SCHEMA) for place in PLACES if Path(place, SCHEMA).is_file()]:
        jsonschema.validate(value, json.loads(schema.read_text("utf-8")))


def test_whoever_serves_has_no_rights_and_the_ports_of_the_web() -> None:
    value = yaml.safe_load(user_data([KEY]))
    (user,) = value["users"]
    assert user["name"] == "beholder"
    assert "sudo" not in user
    assert user["lock_passwd"]
    assert user["ssh_authorized_keys"] == [KEY]
    assert not value["ssh_pwauth"]
    files = {one["path"]: one["content"] for one in value["write_files"]}
    assert files["/etc/sysctl.d/50-beholder.conf"] == "net.ipv4.ip_unprivileged_port_start=80\n"
    assert "tcp dport { 22, 80, 443 } accept" in files["/etc/nftables.conf"]
    assert "policy drop" in files["/etc/nftables.conf"]
    assert ["loginctl", "enable-linger", "beholder"] in value["runcmd"]
    assert value["runcmd"][-1] == ["su", "beholder", "-c", "touch ~/.beholder-ready"], "it tells last that all is done"


def test_the_command_takes_the_keys_of_whoever_calls_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(DeployError) as refused:
        own_keys()
    assert str(refused.value) == (
        f"{tmp_path / '.ssh'}  holds no public key that could log in. Allowed: id_ed25519.pub, id_ecdsa.pub, "
        "id_ed25519_sk.pub, id_rsa.pub. Make one: `ssh-keygen -t ed25519`; or name a file of public keys by --key."
    )
    (tmp_path / ".ssh").mkdir()
    make_key(tmp_path / ".ssh" / "id_ed25519")
    public = (tmp_path / ".ssh" / "id_ed25519.pub").read_text("utf-8").strip()
    printed = command("deploy", "cloud-init", cwd=tmp_path).stdout
    assert yaml.safe_load(printed)["users"][0]["ssh_authorized_keys"] == [public]
    wrong = {
        tmp_path / ".ssh" / "id_ed25519": f"--key  is {tmp_path / '.ssh' / 'id_ed25519'}, which holds something else "
        "than public keys. The public half ends in .pub; the private one stays where it is.",
        tmp_path / "none": f"--key  is {tmp_path / 'none'}, which cannot be read (",
    }
    for path, words in wrong.items():
        with pytest.raises(DeployError) as refused:
            own_keys(path)
        assert str(refused.value).startswith(words)
