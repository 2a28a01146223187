"""The backups that a server makes: where to, how often, and for whom; from the study, the environment or an option."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from beholder.backups.destinations import Destination, open_destination
from beholder.backups.encryption import default_identity, public_key, recipients
from beholder.backups.seal import SEAL_VARIABLE, known_seal_keys, seal_text
from beholder.errors import BackupError, Problem
from beholder.study.backup import BUCKETS, Backup, place_faults
from beholder.study.model import Study
from beholder.study.parts import duration

PLACE_VARIABLE, KEY_VARIABLE = "BEHOLDER_BACKUP", "BEHOLDER_BACKUP_KEY"
NONE = "none"
"""In place of an address: no backups, whatever the study says."""


@dataclass(frozen=True)
class BackupSettings:
    """Where backups go, how often, how long they stay, and for whom they are encrypted."""

    study: str
    to: str
    folder: Path
    """Of the study: a relative folder is one beside it."""
    every: timedelta
    keep: timedelta
    keys: tuple[str, ...]
    """Public keys; none where somebody said in words that nothing is encrypted."""
    seal_keys: Mapping[str, bytes] = field(default_factory=dict, repr=False, compare=False)
    """By public key, what seals backups: the one secret here, which stays out of all that is printed."""

    def destination(self) -> Destination:
        """Return the destination."""
        return open_destination(self.to, self.folder)

    @property
    def words(self) -> str:
        """It in a sentence."""
        minutes = self.every.total_seconds() / 60
        span = f"{minutes:g} min" if minutes >= 1 else f"{self.every.total_seconds():g} s"
        whom = f"encrypted for {', '.join(self.keys)}" if self.keys else "not encrypted"
        return f"Every {span} to {self.to}, {whom}."


def backup_settings(
    study: Study, place: str | None = None, environment: Mapping[str, str] | None = None
) -> BackupSettings | None:
    """Return the backups of a study, or None where there are none; raise BackupError where they have no key.

    `place` is what was given with --backup; without one, BEHOLDER_BACKUP counts, then the study.
    """
    variables = os.environ if environment is None else environment
    written = study.backup
    to = place or variables.get(PLACE_VARIABLE, "").strip() or (written.to if written is not None else None)
    if not to or to == NONE:
        return None
    if faults := place_faults(to):
        where = "--backup" if place else PLACE_VARIABLE
        raise BackupError([Problem(where, one.what, one.allowed, one.fix) for one in faults])
    rest = written or Backup(to=to)
    keys = _keys(rest, variables)
    if not keys and rest.unencrypted is None:
        fix = (
            "`beholder backup key` makes one, and prints the line for the study. To go without, say why in words: "
            "backup: {to: …, unencrypted: the disk is encrypted itself}."
        )
        what = f"to {to} has no key to encrypt it for"
        raise BackupError(Problem(study.where("backup") if written else "--backup", what, "backup.key", fix))
    recipients(keys)
    seal_keys = known_seal_keys(variables)
    return BackupSettings(study.name, to, study.folder, duration(rest.every), duration(rest.keep), keys, seal_keys)


def _keys(written: Backup, variables: Mapping[str, str]) -> tuple[str, ...]:
    """Return the public keys: of the study, else of the environment, else of the key that is kept on this machine."""
    if written.keys or written.unencrypted is not None:
        return written.keys
    if given := variables.get(KEY_VARIABLE, "").replace(",", " ").split():
        return tuple(given)
    own = default_identity()
    return (public_key(own),) if own.is_file() else ()


def deployed_variables(study: Study) -> dict[str, str]:
    """Return the variables that a server elsewhere needs for the backups of a study, from this environment."""
    from beholder.buckets.connection import CREDENTIALS

    settings = backup_settings(study)
    if settings is None:
        return {}
    scheme = settings.to.partition("://")[0]
    names = (PLACE_VARIABLE, *(CREDENTIALS[scheme] if scheme in BUCKETS else ()))
    found = {name: os.environ[name].strip() for name in names if os.environ.get(name, "").strip()}
    if settings.keys:
        found[KEY_VARIABLE] = ",".join(settings.keys)
    if settings.seal_keys:
        found[SEAL_VARIABLE] = seal_text(settings.seal_keys)
    return found


def needs_obstore(study: Study) -> bool:
    """Return whether a server of this study needs the extra `buckets`."""
    settings = backup_settings(study)
    is_backup = settings is not None and settings.to.partition("://")[0] in BUCKETS
    return is_backup or (study.media is not None and study.media.is_bucket)


def required_settings(study: Study, place: str | None = None) -> BackupSettings:
    """Return the backups of a study, or raise BackupError where it has none."""
    settings = backup_settings(study, place)
    if settings is None:
        fix = "Write backup: s3://bucket/folder, sftp://user@host/folder or a folder in it; or give --to."
        raise BackupError(Problem(study.where("name"), f"{study.name} has no place for backups", "", fix))
    return settings
