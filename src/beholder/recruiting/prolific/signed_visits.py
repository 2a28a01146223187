"""Signed visits: Prolific's own signature on the ids in an address, and the keys with which it is read.

Where `recruit.signed_visits` is on, Prolific adds the parameter `prolific_token` to the address: a JSON web token
(RFC 7519) with the ids, good for two minutes. It shows that Prolific sent this visit, without asking for a list.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from beholder.clock import utc_now
from beholder.recruiting.prolific.client import ProlificClient
from beholder.server.entrances import ProlificEntrance
from beholder.server.visits import VisitIds

if TYPE_CHECKING:
    from joserfc.jwk import RSAKey

KEYS = "/.well-known/study/jwks.json"
"""Where Prolific publishes its keys. An address in a token is never asked."""
_ALGORITHM = "RS256"
"""The only one that is taken, whatever a token says."""
_LONGEST = 4096
"""Characters of a token that is looked at; Prolific's have about 1500."""
_LEEWAY = timedelta(seconds=30)
"""How far the clocks of Prolific and of the server may differ."""
_RENEWAL = timedelta(hours=12)
"""The age at which keys are asked for again."""
_EXPIRY = timedelta(days=1)
"""The age from which keys that could not be asked for again are not trusted."""
_INTERVAL = timedelta(minutes=3)
"""The time between two requests for keys, whoever comes with whatever token."""


class SigningKeys:
    """Prolific's public keys by their ids, asked for when they are needed, and seldom."""

    def __init__(self, client: ProlificClient, now: Callable[[], datetime] = utc_now) -> None:
        self._client, self._now = client, now
        self._keys: Mapping[str, RSAKey] = {}
        self._asked: datetime | None = None
        self._answered: datetime | None = None
        self._lock = asyncio.Lock()

    async def find(self, id: str) -> RSAKey | None:
        """Return the key with this id; None where Prolific has none, or has not answered for a day.

        An unknown id is one reason to ask, but strangers who make ids up cannot make us ask more often. Errors of the
        platform are raised by the request that met them.
        """
        if self._is_asked_for(id):
            async with self._lock:
                if self._is_asked_for(id):  # nobody who waited asks again
                    self._asked = self._now()
                    self._keys = _read_keys(await self._client.get(KEYS))
                    self._answered = self._now()
        return self._keys.get(id) if self._has_passed(self._answered, _EXPIRY) is False else None

    def _is_asked_for(self, id: str) -> bool:
        is_wanted = id not in self._keys or self._has_passed(self._answered, _RENEWAL) is not False
        return is_wanted and self._has_passed(self._asked, _INTERVAL) is not False

    def _has_passed(self, since: datetime | None, span: timedelta) -> bool | None:
        """Return whether a span has passed; None if nothing has happened yet. A clock that was set back counts too."""
        return None if since is None else abs(self._now() - since) >= span


def _read_keys(published: Any) -> dict[str, RSAKey]:
    """Return the keys of a key set (RFC 7517) that can be used for the algorithm."""
    from joserfc.errors import JoseError
    from joserfc.jwk import RSAKey

    keys: dict[str, RSAKey] = {}
    for one in (published or {}).get("keys") or ():
        if one.get("kty") != "RSA" or one.get("alg", _ALGORITHM) != _ALGORITHM or not one.get("kid"):
            continue
        try:
            keys[str(one["kid"])] = RSAKey.import_key(one)
        except (JoseError, KeyError, TypeError, ValueError):
            continue  # one broken key is no reason to lose the others
    return keys


class SignedVisits:
    """Reads the signature of a visit. Nothing of a token is kept, logged or shown."""

    def __init__(
        self,
        client: ProlificClient,
        workspace: Callable[[], Awaitable[str]],
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._keys, self._workspace, self._now = SigningKeys(client, now), workspace, now

    async def address(self, visit: VisitIds, token: str) -> str | None:
        """Return the address for which Prolific signed exactly this visit of our workspace; None if it did not.

        The workspace counts too: whoever has an account on Prolific can have any ids signed for any address.
        """
        claims = await self._read(token) if len(token) <= _LONGEST else None
        if claims is None:
            return None
        signed, address = claims.get("prolific"), claims.get("aud")
        ids = dict(zip(ProlificEntrance.PARAMETERS, (visit.participant, visit.posting, visit.submission), strict=True))
        if not isinstance(signed, Mapping) or any(signed.get(name) != id for name, id in ids.items()):
            return None
        if signed.get("workspace_id") != await self._workspace():
            return None
        return address if isinstance(address, str) else None

    async def _read(self, token: str) -> Mapping[str, Any] | None:
        """Return the claims of a token that Prolific signed and that is still good; None for any other."""
        from joserfc import jws, jwt
        from joserfc.errors import JoseError

        try:
            id = jws.extract_compact(token.encode("ascii", "replace")).headers().get("kid")
        except (JoseError, ValueError, TypeError):
            return None
        key = await self._keys.find(id) if isinstance(id, str) else None
        if key is None:
            return None
        rules = jwt.JWTClaimsRegistry(
            now=int(self._now().timestamp()), leeway=int(_LEEWAY.total_seconds()), exp={"essential": True}
        )
        try:
            claims = jwt.decode(token, key, algorithms=[_ALGORITHM]).claims
            rules.validate(claims)
        except (JoseError, ValueError, TypeError):
            return None
        return claims
