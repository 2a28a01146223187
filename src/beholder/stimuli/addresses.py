"""Files at https addresses: fetched once, kept in media/cache, and never from a private network.

A manifest may come from a stranger, and the machine that fetches stands inside a university: an address must not reach
what only that machine can reach. Every host is looked up once, all its addresses have to be public, and the connection
goes to an address that was looked at: an answer that changes between the look and the connection changes nothing.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import os
import socket
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from beholder.errors import Problem, StimuliError
from beholder.stimuli.copies import put_in_place

if TYPE_CHECKING:
    import httpx

ALLOWED_HOSTS = "BEHOLDER_PRIVATE_HOSTS"
"""The environment variable that names hosts of private networks from which files may be fetched."""
MOST_FETCHED_BYTES = 4_000_000_000
_MOST_REDIRECTS = 10
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def look_up(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host; raises OSError where it has none."""
    return list(dict.fromkeys(str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))


def allowed_hosts() -> frozenset[str]:
    """Return the hosts of private networks that the environment allows by name."""
    return frozenset(name.strip().lower() for name in os.environ.get(ALLOWED_HOSTS, "").split(",") if name.strip())


@dataclass(frozen=True)
class PublicNetwork:
    """How addresses are reached: by which transport, how hosts are looked up, and how large a file may be."""

    transport: httpx.BaseTransport | None = None
    """None: the network of this machine."""
    resolve: Callable[[str, int], Sequence[str]] = look_up
    most_bytes: int = MOST_FETCHED_BYTES


def is_public(address: str) -> bool:
    """Return whether an IP address belongs to the public internet, also where it wraps another one."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if inner is None and found in _NAT64:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is not None:
            found = inner
    return found.is_global and not found.is_multicast


# Fetching


def fetch(address: str, cache: Path, where: str, network: PublicNetwork) -> Path:
    """Return the file of an https address, fetched unless it is in the cache; raise StimuliError when it fails."""
    import httpx

    known = cached_file(address, cache)
    if known is not None:
        return known
    path = _cache_path(address, cache)
    part = path.with_name(f".{path.stem}.{uuid.uuid4().hex}.part")
    digest = hashlib.sha256()
    size = 0
    try:
        cache.mkdir(parents=True, exist_ok=True)
        client = httpx.Client(
            transport=_public_transport(network), follow_redirects=True, max_redirects=_MOST_REDIRECTS, timeout=30
        )
        with client, client.stream("GET", address) as response, part.open("wb") as file:
            response.raise_for_status()
            _check_size(int(response.headers.get("content-length") or 0), network)
            for piece in response.iter_bytes():
                digest.update(piece)
                size += file.write(piece)
                _check_size(size, network)
        put_in_place(part, path)
        record = {"address": address, "sha256": digest.hexdigest(), "bytes": size}
        _record_path(path).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    except httpx.HTTPStatusError as error:
        raise _fetch_error(where, address, f"the server answers {error.response.status_code}") from error
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        raise _fetch_error(where, address, str(error) or type(error).__name__) from error
    finally:
        part.unlink(missing_ok=True)
    return path


def _check_size(size: int, network: PublicNetwork) -> None:
    if size > network.most_bytes:
        raise OSError(f"it has more than {network.most_bytes} bytes")


def _public_transport(network: PublicNetwork) -> httpx.BaseTransport:
    """Return a transport that refuses every hop which is not https to a public address, before it connects."""
    import httpx

    proxy = getproxies().get("https") if network.transport is None else None
    allowed = allowed_hosts()

    class PublicTransport(httpx.BaseTransport):
        def __init__(self) -> None:
            self._direct = network.transport or httpx.HTTPTransport()
            self._by_proxy = httpx.HTTPTransport(proxy=proxy) if proxy else None

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            url = request.url
            if url.scheme != "https":
                raise httpx.UnsupportedProtocol(f"it leads on to {url.scheme}://{url.host}")
            if self._by_proxy is not None and not proxy_bypass(url.host):
                # The proxy looks names up by itself, perhaps others than this machine can.
                _check_host(url.host, network, allowed, is_known=False)
                return self._by_proxy.handle_request(request)
            target = _check_host(url.host, network, allowed, port=url.port or 443)
            extensions: dict[str, Any] = {**request.extensions, "sni_hostname": url.host}
            # To the address that was looked at; the certificate still has to be that of the host.
            pinned = url.copy_with(host=target)
            return self._direct.handle_request(
                httpx.Request(request.method, pinned, headers=request.headers, extensions=extensions)
            )

        def close(self) -> None:
            self._direct.close()
            if self._by_proxy is not None:
                self._by_proxy.close()

    return PublicTransport()


def _check_host(
    host: str, network: PublicNetwork, allowed: frozenset[str], port: int = 443, *, is_known: bool = True
) -> str:
    """Return the address to connect to, or raise an error of httpx; `is_known` says that the host has to have one."""
    import httpx

    try:
        addresses = list(network.resolve(host, port))
    except OSError as error:
        if not is_known:
            return host
        raise httpx.ConnectError(f"{host} is not known: {error.strerror or error}") from None
    private = [one for one in addresses if not is_public(one)]
    if private and host.lower() not in allowed:
        raise httpx.ConnectError(
            f"{host} is {private[0]}, in a private network; name the host in {ALLOWED_HOSTS} if that is meant"
        )
    if not addresses:
        raise httpx.ConnectError(f"{host} has no address")
    return addresses[0]


# What was fetched


def cached_file(address: str, cache: Path) -> Path | None:
    """Return the fetched file of an address, None when it is not there whole."""
    path = _cache_path(address, cache)
    try:
        record = json.loads(_record_path(path).read_text(encoding="utf-8"))
        return path if record["address"] == address and record["bytes"] == path.stat().st_size else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _cache_path(address: str, cache: Path) -> Path:
    suffix = PurePosixPath(urlsplit(address).path).suffix.lower()
    return cache / (hashlib.sha256(address.encode()).hexdigest()[:32] + suffix)


def _record_path(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def _fetch_error(where: str, address: str, reason: str) -> StimuliError:
    fix = "Check the address, or put the file into the study folder."
    return StimuliError(Problem(where, f"{address} cannot be fetched: {reason}", fix=fix))
