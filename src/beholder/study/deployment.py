"""Where and how a study is put online: the key `deploy` of the study file."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, StringConstraints

from beholder.study.parts import StudyPart, Text
from beholder.study.value_kinds import Allowed

Tls = Literal["public", "internal", "proxy", "tunnel"]
"""Who vouches for the address: a public authority, one of the machine's own, a proxy that is there, or a tunnel."""
TunnelKind = Literal["cloudflared", "tailscale", "ngrok"]
ADDRESS_WORDS = "an address such as https://study.example.org, without a path"
PublicAddress = Annotated[
    str,
    StringConstraints(pattern=r"^https://(\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?$"),
    Allowed(ADDRESS_WORDS),
]
AUTHORITY_WORDS = "an address such as https://acme.example.org/directory"
AuthorityAddress = Annotated[str, StringConstraints(pattern=r"^https://[^\s{}]+$"), Allowed(AUTHORITY_WORDS)]
DATABASE_WORDS = "postgresql://user@host/database, without a password"
DatabaseAddress = Annotated[
    str, StringConstraints(pattern=r"^postgres(ql)?://([^:@/\s]+@)?[^@\s]*$"), Allowed(DATABASE_WORDS)
]


class Deploy(StudyPart):
    """Where the study is put online by `beholder deploy up`. Participants see none of it."""

    to: Text | None = Field(
        default=None,
        description="The machine: `user@host` or a name from your ssh configuration; `here` for this one; "
        "`ec2:REGION` or `ec2:REGION:SIZE` for one that is made at Amazon and given back by `down`.",
    )
    address: PublicAddress | None = Field(
        default=None, description="What participants open, such as `https://study.example.org`."
    )
    tls: Tls = Field(
        default="public",
        description="`public`: Caddy gets a certificate that every browser knows. `internal`: from an authority of the "
        "machine's own, for a laboratory whose browsers are told of it. `proxy`: a proxy that is there already. "
        "`tunnel`: a tunnel program, which gives the address.",
    )
    tunnel: TunnelKind | None = Field(
        default=None, description="The tunnel program on the machine; the first that is there when left out."
    )
    via: Text | None = Field(
        default=None,
        description="A machine of yours, `user@host`, whose proxy passes people on through ssh to where the study is.",
    )
    store: DatabaseAddress | None = Field(
        default=None,
        description="A PostgreSQL database for the answers, as `postgresql://user@host/database`, reached from the "
        "machine. Its password is taken from `PGPASSWORD`. A file on the machine's disk when left out.",
    )
    acme: AuthorityAddress | None = Field(
        default=None,
        description="The directory of an authority that speaks ACME, such as your university's, in place of the "
        "public ones; with `tls: public`.",
    )
    acme_root: Text | None = Field(
        default=None, description="A file with the roots of that authority, where browsers do not know them yet."
    )


def address_host(address: str) -> str:
    """Return the name or the number in an address."""
    return urlsplit(address).hostname or ""


def address_port(address: str) -> int:
    """Return the port of an address; 443 where it names none."""
    return urlsplit(address).port or 443


_TUNNEL_DOMAINS = (
    "trycloudflare.com", "ts.net", "ngrok.io", "ngrok.app", "ngrok.dev", "ngrok-free.app", "ngrok-free.dev",
    "loca.lt", "lhr.life", "localhost.run", "serveo.net", "pinggy.link",
)  # fmt: skip


def is_tunnelled(address: str) -> bool:
    """Return whether an address is one that a tunnel gives: it ends with the machine at the other end of it."""
    return any(address_host(address).endswith(f".{domain}") for domain in _TUNNEL_DOMAINS)


def is_numeric(address: str) -> bool:
    """Return whether an address names a number in place of a name."""
    try:
        ipaddress.ip_address(address_host(address))
    except ValueError:
        return False
    return True
