"""User data for a fresh machine of any provider: after its first boot, `deploy up --to beholder@ADDRESS` works.

It is a file of cloud-init, which the images of Debian and Ubuntu at every provider read. It makes a user without
rights of an administrator, who may listen on ports 80 and 443 and whose services run without a login; nothing else is
open but ssh. No secret is in it, except for the host key of a machine that `deploy` itself makes.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from beholder.errors import DeployError, Problem

USER = "beholder"
READY = ".beholder-ready"
"""A file in the home of the user: the machine is as it should be."""
_HEAD = "#cloud-config\n"
_KEY = re.compile(r"^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp\d+|sk-[a-z0-9@.-]+) [A-Za-z0-9+/=]+( .*)?$")
_KEY_FILES = ("id_ed25519.pub", "id_ecdsa.pub", "id_ed25519_sk.pub", "id_rsa.pub")
_FIREWALL = """#!/usr/sbin/nft -f
flush ruleset
table inet beholder {
  chain input {
    type filter hook input priority 0; policy drop;
    ct state established,related accept
    iif lo accept
    meta l4proto { icmp, ipv6-icmp } accept
    udp dport { 68, 546 } accept
    tcp dport { 22, 80, 443 } accept
    udp dport 443 accept
  }
}
"""


def user_data(keys: list[str], *, has_firewall: bool = True, host_key: tuple[str, str] | None = None) -> str:
    """Return the user data: `keys` are the public keys that may log in; `host_key` private and public half of its own.

    Where the network around a machine lets only these ports through, it needs no firewall of its own.
    """
    packages = ["python3", "unattended-upgrades", *(["nftables"] if has_firewall else [])]
    commands: list[list[str]] = [
        ["sysctl", "--system"],
        ["loginctl", "enable-linger", USER],
        *([["systemctl", "enable", "--now", "nftables"], ["systemctl", "restart", "nftables"]] if has_firewall else []),
        # It has done its work: at a later boot, without the provider's look-ups, it would take this for a new machine.
        ["touch", "/etc/cloud/cloud-init.disabled"],
        ["su", USER, "-c", f"touch ~/{READY}"],
    ]
    files = [
        {"path": "/etc/sysctl.d/50-beholder.conf", "content": "net.ipv4.ip_unprivileged_port_start=80\n"},
        *([{"path": "/etc/nftables.conf", "content": _FIREWALL, "permissions": "0755"}] if has_firewall else []),
    ]
    user = {
        "name": USER, "gecos": "Beholder", "shell": "/bin/bash", "lock_passwd": True, "ssh_authorized_keys": list(keys),
    }  # fmt: skip
    value: dict[str, Any] = {
        "users": [user],
        "disable_root": True,
        "ssh_pwauth": False,
        "package_update": True,
        "packages": packages,
        "write_files": files,
        "runcmd": commands,
    }
    if host_key is not None:
        private, public = host_key
        value |= {"ssh_deletekeys": True, "ssh_keys": {"ed25519_private": private, "ed25519_public": public}}
    return _HEAD + yaml.dump(value, Dumper=_BlockText, sort_keys=False, width=10_000)


class _BlockText(yaml.SafeDumper):
    """Writes texts of several lines as blocks, so that people can read and change them."""


def _block(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_BlockText.add_representer(str, _block)


def own_keys(path: Path | None = None) -> list[str]:
    """Return the public keys in a file, or those of the person here; raise DeployError where there is none."""
    if path is not None:
        return _read_keys(path)
    folder = Path.home() / ".ssh"
    found = [folder / name for name in _KEY_FILES if (folder / name).is_file()]
    if not found:
        fix = "Make one: `ssh-keygen -t ed25519`; or name a file of public keys by --key."
        raise DeployError(Problem(str(folder), "holds no public key that could log in", ", ".join(_KEY_FILES), fix))
    return [key for file in found for key in _read_keys(file)]


def _read_keys(path: Path) -> list[str]:
    try:
        lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise DeployError(Problem("--key", f"is {path}, which cannot be read ({error})", "a file .pub")) from error
    keys = [line for line in lines if line and not line.startswith("#")]
    if not keys or not all(_KEY.match(key) for key in keys):
        fix = "The public half ends in .pub; the private one stays where it is."
        raise DeployError(Problem("--key", f"is {path}, which holds something else than public keys", "", fix))
    return keys
