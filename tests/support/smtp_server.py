"""A real SMTP server on this machine, which keeps the mail that it gets."""

from __future__ import annotations

import base64
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage


@dataclass
class MailServer:
    """What has come, and how: `logins` are names with passwords, `recipients` as the envelope has them."""

    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    senders: list[str] = field(default_factory=list)
    logins: list[tuple[str, str]] = field(default_factory=list)
    refuses: bool = False
    """Whether it takes no recipient."""


@contextmanager
def mail_server() -> Iterator[MailServer]:
    """Yield an SMTP server that asks nobody to log in, and takes whoever does."""
    kept = MailServer()

    class Conversation(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self._say("220 mail.example.org ESMTP")
            for line in iter(self._line, ""):
                verb, _, rest = line.partition(" ")
                match verb.upper():
                    case "EHLO":
                        self._say("250-mail.example.org\r\n250-SMTPUTF8\r\n250-8BITMIME\r\n250 AUTH PLAIN")
                    case "AUTH":
                        _, name, password = base64.b64decode(rest.split()[1]).decode().split("\0")
                        kept.logins.append((name, password))
                        self._say("235 2.7.0 in")
                    case "MAIL":
                        kept.senders.append(rest[rest.index("<") + 1 : rest.index(">")])
                        self._say("250 2.1.0 yes")
                    case "RCPT" if kept.refuses:
                        self._say("550 5.1.1 nobody of that name")
                    case "RCPT":
                        kept.recipients.append(rest[rest.index("<") + 1 : rest.index(">")])
                        self._say("250 2.1.5 yes")
                    case "DATA":
                        self._say("354 go on")
                        lines = [one.removeprefix(b".") for one in iter(self.rfile.readline, b".\r\n")]
                        kept.mails.append(message_from_bytes(b"".join(lines), EmailMessage, policy=policy.default))
                        self._say("250 2.0.0 kept")
                    case "QUIT":
                        self._say("221 2.0.0 bye")
                        return
                    case _:
                        self._say("250 2.0.0 yes")

        def _line(self) -> str:
            return self.rfile.readline().decode().rstrip("\r\n")

        def _say(self, words: str) -> None:
            self.wfile.write(f"{words}\r\n".encode())

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Conversation) as server:
        server.daemon_threads = True
        kept.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield kept
        finally:
            server.shutdown()
            thread.join()
