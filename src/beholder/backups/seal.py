"""The seal of a backup: that it was made for whoever holds a key, and not put there by somebody else.

Encryption alone does not tell: the public key is public, and the age format does not sign. So each note is sealed by a
MAC whose key is derived from the identity of a researcher. A server has that derived key and not the identity: with it
backups can be sealed, and none can be read.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from pathlib import Path

from beholder.backups.encryption import default_identity, secret_halves
from beholder.errors import BackupError, Problem

SEAL_VARIABLE = "BEHOLDER_BACKUP_SEAL"
_PURPOSE = b"beholder backup seal 1"


def seal_keys_of(identity: Path) -> dict[str, bytes]:
    """Return the key of the seal for each key in the file of an identity, by its public half."""
    return {
        public: hmac.new(secret.encode(), _PURPOSE, hashlib.sha256).digest()
        for public, secret in secret_halves(identity).items()
    }


def known_seal_keys(variables: Mapping[str, str]) -> dict[str, bytes]:
    """Return the keys with which this machine can seal: those of the environment, and that of an identity kept here."""
    given = variables.get(SEAL_VARIABLE, "").replace(",", " ").split()
    try:
        found = {public: bytes.fromhex(key) for public, key in (one.split(":", 1) for one in given)}
    except ValueError:
        fix = "`beholder deploy up` sets it by itself; on a machine that has your key it is not needed."
        raise BackupError(Problem(SEAL_VARIABLE, "is not what `seal_text` writes", "age1…:HEX", fix)) from None
    own = default_identity()
    return {**(seal_keys_of(own) if own.is_file() else {}), **found}


def seal_text(keys: Mapping[str, bytes]) -> str:
    """Return keys of seals as the variable holds them."""
    return ",".join(f"{public}:{key.hex()}" for public, key in sorted(keys.items()))


def seal(facts: object, key: bytes) -> str:
    """Return the seal of what a note says."""
    text = json.dumps(facts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def fits(facts: object, seals: Mapping[str, str], keys: Mapping[str, bytes]) -> bool:
    """Return whether one of the keys has sealed what a note says."""
    return any(public in seals and hmac.compare_digest(seals[public], seal(facts, key)) for public, key in keys.items())
