"""Fake tunnel programs: cloudflared, tailscale and ngrok as a deployment meets them, on this machine alone.

    install_tunnel(folder, "cloudflared")      # puts a program of that name into a folder for PATH

Each takes the arguments of the real one, prints what it prints, and passes on what comes to its address, which is a
port of this machine with a certificate of `tunnel_authority`. With `ENDS_WITH` in its folder it fails as the real one
does without an account or a network. A start anew gives another address, as at Cloudflare.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import re
import ssl
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

KINDS = ("cloudflared", "tailscale", "ngrok")
CERTIFICATE, KEY, ENDS_WITH = "tunnel.crt", "tunnel.key", "tunnel-fails"
_BLOCK = 1 << 16

_CLOUDFLARED = """2026-11-18T10:00:00Z INF Thank you for trying Cloudflare Tunnel. Doing so, without a Cloudflare \
account, is a quick way to experiment and try it out. (https://www.cloudflare.com/website-terms/)
2026-11-18T10:00:00Z INF Requesting new quick Tunnel on trycloudflare.com...
2026-11-18T10:00:04Z INF +--------------------------------------------------------------------------------------------+
2026-11-18T10:00:04Z INF |  Your quick Tunnel has been created! Visit it at (it may take some time to be reachable):  |
2026-11-18T10:00:04Z INF |  {address}                                                              |
2026-11-18T10:00:04Z INF +--------------------------------------------------------------------------------------------+
2026-11-18T10:00:04Z INF Cannot determine default configuration path. No file [config.yml config.yaml]
2026-11-18T10:00:05Z INF Registered tunnel connection connIndex=0 event=0 location=fra08 protocol=quic
"""
_TAILSCALE = """Available on the internet:

{address}/
|-- proxy {to}

Press Ctrl+C to exit.
"""
_NGROK = """{{"lvl":"info","msg":"no configuration paths supplied","t":"2026-11-18T10:00:00.000Z"}}
{{"lvl":"info","msg":"client session established","obj":"tunnels.session","t":"2026-11-18T10:00:01.000Z"}}
{{"addr":"{to}","lvl":"info","msg":"started tunnel","name":"command_line","obj":"tunnels",\
"t":"2026-11-18T10:00:01.000Z","url":"{address}"}}
{{"addr":"{to}","lvl":"info","msg":"started tunnel","name":"command_line (http)","obj":"tunnels",\
"t":"2026-11-18T10:00:01.000Z","url":"http://127.0.0.1:1"}}
"""
_PRINTED = {"cloudflared": _CLOUDFLARED, "tailscale": _TAILSCALE, "ngrok": _NGROK}
_FAILURES = {
    "cloudflared": "2026-11-18T10:00:00Z ERR Error unmarshaling QuickTunnel response: error code: 1015\n"
    "failed to request quick Tunnel: dial tcp: lookup api.trycloudflare.com: no such host\n",
    "tailscale": "Access denied: serve config denied\n\nUse 'sudo tailscale funnel'.\n"
    "To not require root, use 'sudo tailscale set --operator=$USER' once.\n",
    "ngrok": '{"err":"authentication failed: Usage of ngrok requires a verified account and authtoken. ERR_NGROK_4018"'
    ',"lvl":"eror","msg":"session closing","obj":"tunnels.session","t":"2026-11-18T10:00:01.000Z"}\n',
}


def install_tunnel(folder: Path, kind: str) -> Path:
    """Put a fake tunnel program into a folder, with a certificate to trust; return the certificate."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / CERTIFICATE).is_file():
        tunnel_authority(folder)
    program = folder / kind
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{__file__}' '{folder}' {kind} \"$@\"\n", "utf-8")
    program.chmod(0o755)
    return folder / CERTIFICATE


def tunnel_authority(folder: Path) -> None:
    """Write a certificate for this machine that vouches for itself, and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "A fake tunnel")])
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30)).add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True).sign(key, hashes.SHA256())
    )  # fmt: skip
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / CERTIFICATE).write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / KEY).write_bytes(private)
    (folder / KEY).chmod(0o600)


async def pass_on(folder: Path, to: int, port: int = 0) -> asyncio.Server:
    """Return a server that ends TLS on a port of this machine and passes everything on to another one."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / CERTIFICATE, folder / KEY)

    async def join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ssl.SSLError):
            try:
                there, back = await asyncio.open_connection("127.0.0.1", to)
            except OSError:
                writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            else:
                await asyncio.gather(_copy(reader, back), _copy(there, writer))
        writer.close()

    return await asyncio.start_server(join, "127.0.0.1", port, ssl=context)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, ssl.SSLError):
        while block := await reader.read(_BLOCK):
            writer.write(block)
            await writer.drain()
    with contextlib.suppress(OSError, RuntimeError):
        writer.close()


async def _run(folder: Path, kind: str, arguments: list[str]) -> int:
    to = re.search(r"http://127\.0\.0\.1:(\d+)", " ".join(arguments))
    expected = {"cloudflared": "tunnel", "tailscale": "funnel", "ngrok": "http"}[kind]
    if arguments[:1] != [expected] or to is None:
        sys.stderr.write(f"unknown command: {' '.join(arguments)}\n")
        return 1
    if (folder / ENDS_WITH).exists():
        sys.stderr.write(_FAILURES[kind])
        return 1
    asked = arguments[arguments.index("--url") + 1] if kind == "ngrok" and "--url" in arguments else ""
    server = await pass_on(folder, int(to[1]), int(asked.rpartition(":")[2]) if asked else 0)
    port = server.sockets[0].getsockname()[1]
    words = _PRINTED[kind].format(address=f"https://127.0.0.1:{port}", to=to[0])
    # As the real ones: cloudflared tells on standard error.
    told = sys.stderr if kind == "cloudflared" else sys.stdout
    told.write(words)
    told.flush()
    await server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(_run(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])))
