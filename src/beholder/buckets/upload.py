"""The copies of a study at their place: compared with what it needs, uploaded, verified, and removed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from beholder.buckets.connection import CREDENTIALS, Bucket, BucketAway, BucketError, CopyStore, DiskFolder, Held
from beholder.buckets.disguises import (
    SECRET_FILE,
    Copy,
    DisguisedCopies,
    content_type,
    disguise,
    is_key,
    open_secret,
    read_secret,
)
from beholder.errors import Problem
from beholder.formats import megabytes, plain_count
from beholder.result_view import ResultView, ShownResult
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study

Progress = Callable[[int, int], None]
RECORD = "uploaded.jsonl"
"""In media/: a line for each copy that was verified, so that it is not read again. It can be deleted."""
_AT_ONCE = 8


def open_place(study: Study) -> CopyStore:
    """Return the place that a study names under `media`."""
    assert study.media is not None
    if study.media.is_bucket:
        return Bucket(study.media.to)
    return DiskFolder(study.folder / study.media.to)


@dataclass(frozen=True, repr=False)
class MediaComparison(ShownResult):
    """What a place holds of the copies that a study needs."""

    address: str
    copies: int
    """How many there have to be."""
    bytes: int
    missing: tuple[str, ...]
    """Keys of copies that are not there, or not with the right bytes."""
    surplus: tuple[str, ...]
    """Keys of copies of an earlier version of the stimuli."""
    uploaded: int = 0
    """How many were uploaded now."""

    @property
    def is_whole(self) -> bool:
        """Whether every copy is there."""
        return not self.missing

    @property
    def words(self) -> tuple[str, ...]:
        """It in sentences."""
        there = self.copies - len(self.missing)
        lines = [
            f"{self.address}: {there} of {plain_count(self.copies, 'copy', 'copies')} ({megabytes(self.bytes)} in all)."
        ]
        if self.uploaded:
            lines.append(f"Uploaded and verified: {self.uploaded}.")
        if self.missing:
            lines.append("`beholder media upload` uploads what is missing; so does `beholder serve`, before it begins.")
        if self.surplus:
            old = plain_count(len(self.surplus), "copy", "copies")
            fix = "`beholder media upload --tidy` removes them; do so when nobody is inside who began before."
            lines.append(f"{old} of earlier stimuli: {fix}")
        return tuple(lines)

    def _view(self) -> ResultView:
        return ResultView(self.words)


def compare_copies(study: Study, catalogue: Catalogue, *, by_hash: bool = True) -> MediaComparison:
    """Return what of the copies is at its place; with `by_hash`, also whether they have the right bytes.

    Nothing is written there. A hash costs little where the place tells one of its own; else what was never verified is
    read.
    """
    assert study.media is not None
    place = open_place(study)
    held = place.held()
    secret = read_secret(place, study)
    needed = len({(one.served.name, catalogue.class_sizes[one.id]) for one in catalogue.by_id.values()})
    if secret is None:
        number = needed * study.media.copies
        return MediaComparison(place.address, number, 0, ("",) * number, tuple(filter(is_key, held)))
    copies = disguise(catalogue, secret, study.media.copies)
    if not by_hash:
        return _compared(place, copies, held)
    with _Record(study.folder) as record:
        return _compared(place, copies, held, record)


def _compared(
    place: CopyStore, copies: DisguisedCopies, held: Mapping[str, Held], record: _Record | None = None
) -> MediaComparison:
    def is_there(copy: Copy) -> bool:
        there = held.get(copy.key)
        if there is None or there.size != copy.size:
            return False
        return record is None or _is_verified(place, copy, there, record)

    missing = tuple(key for key, copy in copies.by_key.items() if not is_there(copy))
    surplus = tuple(key for key in held if is_key(key) and key not in copies.by_key)
    return MediaComparison(place.address, len(copies.by_key), copies.size, missing, surplus)


def upload_copies(
    study: Study, catalogue: Catalogue, progress: Progress | None = None, *, by_hash: bool = True, tidy: bool = False
) -> tuple[DisguisedCopies, MediaComparison]:
    """Bring every copy to its place, each verified by its hash, and return all of them and what was done.

    What is there already stays; whoever was killed goes on where they were. With `tidy`, copies of earlier stimuli are
    removed afterwards.
    """
    assert study.media is not None
    place = open_place(study)
    copies = disguise(catalogue, open_secret(place, study), study.media.copies)
    with _Record(study.folder) as record, ThreadPoolExecutor(_AT_ONCE) as pool:
        before = _compared(place, copies, place.held(), record if by_hash else None)
        # By their keys, which are random: the order in which they arrive tells nothing either.
        waiting = {pool.submit(_put, place, copies.by_key[key]): key for key in before.missing}
        try:
            for done, future in enumerate(as_completed(waiting), 1):
                record.add(waiting[future], future.result())
                if progress:
                    progress(done, len(waiting))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    if tidy:
        place.remove(before.surplus)
    surplus = () if tidy else before.surplus
    after = MediaComparison(place.address, before.copies, before.bytes, (), surplus, uploaded=len(before.missing))
    return copies, after


def remove_copies(study: Study) -> int:
    """Remove every copy of a study from its place, and the secret last; return how many copies there were."""
    place = open_place(study)
    if read_secret(place, study) is None:
        return 0
    keys = [key for key in place.held() if is_key(key)]
    place.remove([*keys, SECRET_FILE])
    (study.folder / "media" / RECORD).unlink(missing_ok=True)
    return len(keys)


# Hashes


def _put(place: CopyStore, copy: Copy) -> str:
    """Upload a copy, see that it arrived as it was, and return its mark."""
    tag = place.put(copy.key, copy.file.read(), content_type(copy))
    if tag != _md5(copy.file.read()) and not _is_same(place, copy):
        place.remove([copy.key])
        what = f"gave back {copy.key} otherwise than it was sent"
        raise BucketAway(Problem(place.address, what, "", "Run `beholder media upload` again."))
    return tag


def _is_verified(place: CopyStore, copy: Copy, held: Held, record: _Record) -> bool:
    """Return whether a copy has the right bytes: by the record, by the place's own hash, or by reading it."""
    if held.tag and record.marks.get(copy.key) == held.tag:
        return True
    is_right = (held.tag != "" and held.tag == _md5(copy.file.read())) or _is_same(place, copy)
    if is_right and held.tag:
        record.add(copy.key, held.tag)
    return is_right


def _md5(pieces: Iterator[bytes]) -> str:
    """Return the hash by which S3 marks what came in one piece: against accidents, not against forgery."""
    digest = hashlib.md5(usedforsecurity=False)
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def _sha256(pieces: Iterator[bytes]) -> bytes:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.digest()


def _is_same(place: CopyStore, copy: Copy) -> bool:
    try:
        return _sha256(place.read(copy.key)) == _sha256(copy.file.read())
    except FileNotFoundError:
        return False


# What was verified


class _Record:
    """The marks of the copies that were verified, in a file to which lines are added."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "media" / RECORD
        self.marks: dict[str, str] = {}

    def add(self, key: str, tag: str) -> None:
        self.marks[key] = tag
        self._file.write(f"\n{json.dumps([key, tag])}")  # begins anew, whatever the last line is
        self._file.flush()

    def __enter__(self) -> _Record:
        self._path.parent.mkdir(exist_ok=True)
        self._file = self._path.open("a+", encoding="utf-8")
        self._file.seek(0)
        for line in self._file:
            with contextlib.suppress(ValueError):  # was cut off when somebody was killed
                key, tag = json.loads(line)
                self.marks[str(key)] = str(tag)
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()


def require_media(study: Study) -> None:
    """Raise BucketError where a study names no place for its media."""
    if study.media is None:
        fix = "Write media: s3://bucket/folder; without it, everything comes from this server."
        raise BucketError(Problem(study.where("name"), f"{study.name} names no place for its media", "", fix))


def hosting_variables(study: Study) -> dict[str, str]:
    """Return the variables that a server elsewhere needs for the bucket of a study, from this environment."""
    if study.media is None or not study.media.is_bucket:
        return {}
    names = CREDENTIALS[study.media.to.partition("://")[0]]
    return {name: os.environ[name].strip() for name in names if os.environ.get(name, "").strip()}
