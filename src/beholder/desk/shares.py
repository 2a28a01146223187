"""Shares: read-only links to one study for a co-author or an ethics board, until a date, revocable at any time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from beholder.desk.access_file import AccessFile, as_list, digest, from_list, new_id, new_secret, stored_time
from beholder.desk.logins import DeskSession, begin_session
from beholder.desk.viewer import READS, SCOPE_MEANS
from beholder.errors import Problem, UserError
from beholder.types import Json

LONGEST = timedelta(days=366)
_LONGEST_LABEL = 100


@dataclass(frozen=True)
class Share:
    """A link that somebody has: whom it is for, what it shows, and until when."""

    id: str
    label: str
    scopes: tuple[str, ...]
    study: str
    stays_blinded: bool
    made_by: str
    made_at: datetime
    ends_at: datetime

    def to_json(self) -> dict[str, Json]:
        """Return it as it is listed; the link itself is not kept."""
        return {
            "id": self.id, "name": self.label, "scopes": list(self.scopes), "study": self.study,
            "stays_blinded": self.stays_blinded, "made_by": self.made_by, "made_at": self.made_at.isoformat(),
            "until": self.ends_at.isoformat(),
        }  # fmt: skip


def shareable() -> list[Json]:
    """Return what a share may show, in words: listed before one is made."""
    return [{"scope": scope, "means": SCOPE_MEANS[scope]} for scope in READS]


def make_share(
    file: AccessFile,
    *,
    study: str,
    identity: str,
    label: str,
    scopes: Collection[str],
    until: str,
    made_by: str,
    stays_blinded: bool = False,
) -> tuple[str, Share]:
    """Return the secret of a new share, which is seen once, and the share; raise UserError with all that is wrong."""
    problems = []
    if not label.strip() or len(label) > _LONGEST_LABEL:
        problems.append(Problem("name", "is empty or too long", f"whom it is for, in up to {_LONGEST_LABEL} letters"))
    if not scopes or not set(scopes) <= set(READS):
        shown = ", ".join(sorted(set(scopes) - set(READS))) or "empty"
        problems.append(Problem("scopes", f"are {shown}", ", ".join(READS), "A share shows, and does nothing."))
    ends = end_of(until, file.now(), problems)
    if problems or ends is None:
        raise UserError(problems)
    secret, now = new_secret(), file.now()
    shown_scopes = tuple(scope for scope in READS if scope in scopes)
    share = Share(new_id(), label.strip(), shown_scopes, study, stays_blinded, made_by, now, ends)
    file.insert(
        "shares", id=share.id, digest=digest(secret), label=share.label, scopes=as_list(shown_scopes),
        studies=as_list([identity]), study=study, blinded=int(stays_blinded), made_by=made_by,
        made_at=stored_time(now), ends_at=stored_time(ends), revoked_at=None,
    )  # fmt: skip
    return secret, share


def end_of(until: str, now: datetime, problems: list[Problem]) -> datetime | None:
    """Return the end of a day such as 2026-12-04, in UTC; add a problem where it is no day to come."""
    try:
        day = date.fromisoformat(until[:10])
    except ValueError:
        problems.append(Problem("until", f"is {until or 'empty'}", "a day, such as 2026-12-04"))
        return None
    ends = datetime.combine(day, time(0, tzinfo=UTC)) + timedelta(days=1)
    if not now < ends <= now + LONGEST + timedelta(days=1):
        last = (now + LONGEST).date()
        problems.append(Problem("until", f"is {until}", f"a day from today to {last}, a year from now"))
        return None
    return ends


def open_shares(file: AccessFile, identity: str | None = None) -> list[Share]:
    """Return the shares that hold now, of one study or of all, the newest first."""
    rows = file.rows("select * from shares where revoked_at is null and ends_at > ? order by made_at desc", file.at)
    return [_share(row) for row in rows if identity is None or identity in (from_list(row["studies"]) or ())]


def revoke_share(file: AccessFile, share: str, identity: str | None = None) -> bool:
    """Revoke a share, of one study or of any, with every session that began by it; return whether there was one."""
    known = {one.id for one in open_shares(file, identity)}
    if share not in known:
        return False
    file.write("update shares set revoked_at = ? where id = ?", file.at, share)
    file.write("delete from sessions where share = ?", share)
    return True


def use_share(file: AccessFile, secret: str, browser: str) -> tuple[str, DeskSession] | None:
    """Return the secret of a new session, and the session, for a share that holds; else None."""
    row = file.row(
        "select * from shares where digest = ? and revoked_at is null and ends_at > ?", digest(secret), file.at
    )
    if row is None:
        return None
    share = _share(row)
    return begin_session(
        file, "share", share.label, "viewer", browser, scopes=share.scopes, studies=from_list(row["studies"]),
        share=share.id, ends_at=share.ends_at,
    )  # fmt: skip


def _share(row: dict[str, Any]) -> Share:
    scopes = from_list(row["scopes"]) or frozenset()
    return Share(
        row["id"], row["label"], tuple(scope for scope in READS if scope in scopes), row["study"],
        bool(row["blinded"]), row["made_by"], datetime.fromisoformat(row["made_at"]),
        datetime.fromisoformat(row["ends_at"]),
    )  # fmt: skip
