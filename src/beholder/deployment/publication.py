"""How people reach a deployment: the site of Caddy, the lines for a proxy that is there, and the look from outside."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from beholder.deployment.machine.caddy import ACME_ROOTS
from beholder.deployment.machine.places import CADDY
from beholder.deployment.settings import DeploySettings
from beholder.study.deployment import is_numeric

ROOT_FILE = "root.crt"
"""In deploy/: the root of the machine's own authority, for the browsers of a laboratory."""
_PATIENCE_S = 10.0


def site_of(settings: DeploySettings, port: int, root: str = "") -> str:
    """Return the site for Caddy: it ends TLS and passes everything on, without a log of who came.

    `root` is the folder of all deployments there, in which Caddy finds the roots of an authority that is named.
    """
    if settings.tls == "internal":
        tls = ["\ttls internal"]
    elif settings.acme is not None:
        trusted = [f"\t\t\ttrusted_roots {json.dumps(f'{root}/{CADDY}/{ACME_ROOTS}')}"] if settings.acme_root else []
        tls = ["\ttls {", "\t\tissuer acme {", f"\t\t\tdir {settings.acme}", *trusted, "\t\t}", "\t}"]
    elif is_numeric(settings.address):
        # Public authorities vouch for numbers only with certificates of a few days.
        tls = ["\ttls {", "\t\tissuer acme {", "\t\t\tprofile shortlived", "\t\t}", "\t}"]
    else:
        tls = []
    # While the server starts anew, requests wait for it.
    proxy = [f"\treverse_proxy 127.0.0.1:{port} {{", "\t\tlb_try_duration 30s", "\t}"]
    return "\n".join([f"{settings.address} {{", *tls, *proxy, "}", ""])


def proxy_lines(settings: DeploySettings, port: int) -> str:
    """Return what to paste into the configuration of a proxy that is there."""
    return f"""Caddy (in its Caddyfile):

    {settings.host} {{
        reverse_proxy 127.0.0.1:{port}
    }}

nginx (in the server block of {settings.host}):

    location / {{
        proxy_pass http://127.0.0.1:{port};
        proxy_http_version 1.1;
        proxy_set_header Host $host;
        proxy_set_header X-Forwarded-For $remote_addr;
        client_max_body_size 1m;
    }}

Apache (in the VirtualHost of {settings.host}, with mod_proxy_http):

    ProxyPass / http://127.0.0.1:{port}/
    ProxyPassReverse / http://127.0.0.1:{port}/
"""


# From outside


@dataclass(frozen=True)
class OutsideLook:
    """What is seen through the public address, from the researcher's machine."""

    is_reached: bool
    words: str
    certificate_ends: datetime | None = None


def look_from_outside(settings: DeploySettings, study: str, roots: Sequence[Path] = ()) -> OutsideLook:
    """Return whether the public address leads to this study, and until when its certificate is good.

    `roots` are the authorities to trust besides those of the system.
    """
    context = ssl.create_default_context()
    for root in roots:
        context.load_verify_locations(cafile=str(root))
    try:
        with (
            socket.create_connection((settings.host, settings.port), timeout=_PATIENCE_S) as plain,
            context.wrap_socket(plain, server_hostname=settings.host) as connection,
        ):
            certificate = connection.getpeercert() or {}
            answer = _get(connection, settings.host)
    except ssl.SSLCertVerificationError as error:
        return OutsideLook(False, f"has a certificate that is not trusted here ({error.verify_message})")
    except socket.gaierror:
        return OutsideLook(False, "has a name that nobody knows yet")
    except (OSError, ssl.SSLError) as error:
        return OutsideLook(False, f"does not answer ({error.strerror or error})")
    ends = datetime.fromtimestamp(ssl.cert_time_to_seconds(str(certificate["notAfter"])), UTC)
    found = _study(answer)
    if found != study:
        seen = f"leads to the study {found}" if found else "answers, but not as this study: the proxy leads elsewhere"
        return OutsideLook(False, seen, ends)
    return OutsideLook(True, "answers", ends)


def _get(connection: ssl.SSLSocket, host: str) -> bytes:
    request = f"GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nUser-Agent: beholder\r\n\r\n"
    connection.sendall(request.encode())
    blocks: list[bytes] = []
    while len(blocks) < 64 and (block := connection.recv(16384)):
        blocks.append(block)
    return b"".join(blocks)


def _study(answer: bytes) -> str:
    """Return the study that the health page names; empty where it is another page."""
    with contextlib.suppress(ValueError, KeyError, TypeError):
        body = answer[answer.index(b"{") : answer.rindex(b"}") + 1]
        return str(json.loads(body)["study"])
    return ""
