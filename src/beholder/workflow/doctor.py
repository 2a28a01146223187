"""`doctor`: look at the file, store, media, clock, disk and platform of a study, and say how to mend what is wrong."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from beholder.clock import utc_now
from beholder.errors import StoreError, UserError
from beholder.formats import first_names, join_names, plain_count
from beholder.result_view import ResultView, ShownResult

if TYPE_CHECKING:
    from beholder.store.contract import StudyRecord
    from beholder.study.model import Study

State = Literal["fine", "warning", "wrong"]


@dataclass(frozen=True)
class HealthFinding:
    """What was looked at, how it is, and how to mend it."""

    part: str
    """study, store, media, clock, disk, descriptors, versions or platform"""
    state: State
    words: str
    fix: str = ""
    where: str = ""
    """The file or address, where one is at fault."""

    @property
    def line(self) -> str:
        """It in one line."""
        said = f"{self.where}  {self.words}" if self.where else self.words
        return f"{self.part:<12} {self.state:<8} {said.rstrip('.')}{f'. {self.fix}' if self.fix else ''}"


@dataclass(frozen=True, repr=False)
class Diagnosis(ShownResult):
    """Everything that was looked at, in order."""

    findings: tuple[HealthFinding, ...]

    @property
    def is_well(self) -> bool:
        """Whether nothing has to be mended; warnings are left to the researcher."""
        return all(finding.state != "wrong" for finding in self.findings)

    def _view(self) -> ResultView:
        import pandas as pd

        counts = {state: sum(one.state == state for one in self.findings) for state in ("wrong", "warning")}
        wrong, warnings = plain_count(counts["wrong"], "fault"), plain_count(counts["warning"], "warning")
        return ResultView((f"{wrong}, {warnings}.",), pd.DataFrame([vars(one) for one in self.findings]))


def doctor(
    study: str | Path = "study.yaml",
    *,
    store: str | None = None,
    platform: bool = False,
    now: Callable[[], datetime] = utc_now,
) -> Diagnosis:
    """Look at everything that a study needs, and return what is wrong and how to mend it; nothing is changed.

    With `platform`, the recruiting platform is asked whether it answers, knows the token and has the same time.
    """
    findings: list[HealthFinding] = []
    loaded = _load(Path(study), findings)
    folder = loaded.folder if loaded is not None else Path(study) if Path(study).is_dir() else Path(study).parent
    url = store or str(folder / "store")
    record, last = _store(url, findings)
    if loaded is not None:
        findings += _media(loaded, record)
    findings += _clock(folder, last, now())
    findings += _disk(folder, url)
    findings += _descriptors()
    findings += _versions()
    if loaded is not None:
        findings += _platform(loaded, now, is_asked=platform)
    return Diagnosis(tuple(findings))


# Study


def _load(study: Path, findings: list[HealthFinding]) -> Study | None:
    from beholder.methods import load_study

    try:
        loaded = load_study(study)
    except UserError as error:
        for problem in error.problems:
            fix = " ".join(filter(None, [problem.allowed and f"Allowed: {problem.allowed}.", problem.fix]))
            findings.append(HealthFinding("study", "wrong", problem.what, fix, problem.where))
        return None
    findings.append(HealthFinding("study", "fine", f"{loaded.name} can be read ({loaded.method})"))
    return loaded


# Store


def _store(url: str, findings: list[HealthFinding]) -> tuple[StudyRecord | None, datetime | None]:
    """Add what a store is like; return the study that it holds, and when its last fact was stored."""
    from beholder.aio import block_on
    from beholder.store.contract import StoreUnavailable
    from beholder.store.open import display_address, folder_of, is_postgresql

    where = display_address(url)
    if not is_postgresql(url):
        try:
            folder = folder_of(url)
        except StoreError as error:
            findings.append(_wrong("store", error))
            return None, None
        if not folder.is_dir() or not any(folder.iterdir()):
            findings.append(HealthFinding("store", "fine", f"{where} holds nothing yet"))
            return None, None
        found = list(_files(folder))
        findings += found
        if any(one.state == "wrong" for one in found):
            return None, None
    try:
        record, last, is_unfinished = block_on(_facts(url))
    except (StoreError, StoreUnavailable) as error:
        findings.append(_wrong("store", error))
        return None, None
    if is_unfinished:
        words = "bytes of erased answers may still be in its files"
        fix = "Close what reads the store; a running server then removes them, and so does `beholder purge`."
        findings.append(HealthFinding("store", "warning", f"{where}: {words}", fix))
    about = f"the study {record.study}" if record is not None else "no study yet"
    findings.append(HealthFinding("store", "fine", f"{where} can be read, and holds {about}"))
    return record, last


async def _facts(url: str) -> tuple[StudyRecord | None, datetime | None, bool]:
    from beholder.store.open import open_store

    async with open_store(url, write=False) as store:
        return await store.current(), await store.last_fact(), await store.is_wipe_due()


def _files(folder: Path) -> Iterator[HealthFinding]:
    """Yield what is wrong with the files of an SQLite store."""
    from beholder.store.sqlite.database_files import (
        FACTS,
        HOLDER,
        IDENTITY,
        LEDGER,
        check_file,
        check_present,
        exposed_files,
    )

    # Looked at first, as reading makes a log.
    is_log_lost = (folder / HOLDER).is_file() and not (folder / f"{FACTS}-wal").is_file()
    exposed = exposed_files(folder)
    try:
        check_present(folder / FACTS)
        for file, schema in ((FACTS, "sqlite"), (IDENTITY, "sqlite-identity"), (LEDGER, "sqlite-ledger")):
            if (folder / file).is_file():
                check_file(folder / file, schema)
    except StoreError as error:
        yield _wrong("store", error)
        return
    if not (folder / IDENTITY).is_file():
        words = f"{folder / IDENTITY} is missing: who is who is not known"
        yield HealthFinding("store", "warning", words, "Put it back, unless you have deleted it on purpose.")
    if is_log_lost:
        words = f"the last server was killed, and {FACTS}-wal, which held its last answers, is gone"
        yield HealthFinding(
            "store", "warning", words, "Put it back if somebody has moved it; a database browser may have emptied it."
        )
    if exposed:
        words = f"others than their owner may read {join_names([path.name for path in exposed])}"
        yield HealthFinding("store", "warning", words, f"chmod 600 {folder}/*; the next `beholder serve` does it too.")


def _wrong(part: str, error: Exception) -> HealthFinding:
    if isinstance(error, UserError):
        (problem, *_) = error.problems
        return HealthFinding(part, "wrong", problem.what, problem.fix, problem.where)
    return HealthFinding(part, "wrong", str(error), "See that its disk or server is there, and look again.")


# Media


def _media(study: Study, record: StudyRecord | None) -> Iterator[HealthFinding]:
    """Yield which stimuli are missing, or other than those that people were shown."""
    from hashlib import file_digest

    from beholder.stimuli.sources import read_sources

    sources = read_sources(study)
    for problem in sources.problems:
        yield HealthFinding("media", "wrong", problem.what, problem.fix, problem.where)
    served = {str(one["stimulus"]): str(one["sha256"]) for one in record.stimuli} if record is not None else {}
    missing, changed, unchanged = [], [], 0
    for source in sources.entries:
        if source.path is None or source.message is not None:
            continue  # fetched, or made by us
        if not source.path.is_file():
            missing.append(source.file)
            continue
        name = f"{source.condition}/{source.content}"
        expected = served.get(name if source.role is None else f"{source.role}:{name}", served.get(name))
        if expected is not None:
            with source.path.open("rb") as file:
                is_same = file_digest(file, "sha256").hexdigest() == expected
            unchanged += is_same
            changed += [] if is_same else [source.file]
    if missing:
        yield HealthFinding(
            "media", "wrong", f"{_files_named(missing)} missing", "Put the files back, or take them out of the study."
        )
    if changed:
        fix = "Put back the files that people were shown; for other ones begin a new folder, or `beholder extend`."
        yield HealthFinding("media", "wrong", f"{_files_named(changed)} changed since people were served", fix)
    if not missing and not changed and not sources.problems:
        same = f", {unchanged} of them as they were served" if unchanged else ""
        yield HealthFinding("media", "fine", f"{plain_count(len(sources.entries), 'file')} there{same}")


def _files_named(names: list[str]) -> str:
    return f"{plain_count(len(names), 'file')} ({first_names(names, 3)})"


# Clock


_TOLERANCE = timedelta(minutes=2)


def _clock(folder: Path, last: datetime | None, now: datetime) -> Iterator[HealthFinding]:
    """Yield whether the clock is behind what was stored and written."""
    fix = "Set the clock of this machine, best by the network (NTP); leases, retention and reports go by it."
    if last is not None and last > now + _TOLERANCE:
        words = f"it is {now:%Y-%m-%d %H:%M} UTC here, and the last fact was stored at {last:%Y-%m-%d %H:%M} UTC"
        yield HealthFinding("clock", "wrong", words, fix)
        return
    times = [path.stat().st_mtime for path in folder.iterdir()] if folder.is_dir() else []
    newest = datetime.fromtimestamp(max(times), UTC) if times else now
    if newest > now + _TOLERANCE:
        words = f"it is {now:%Y-%m-%d %H:%M} UTC here, and a file of the study is from {newest:%Y-%m-%d %H:%M} UTC"
        yield HealthFinding("clock", "warning", words, fix)
        return
    yield HealthFinding("clock", "fine", f"{now:%Y-%m-%d %H:%M} UTC, later than all that was stored")


# Machine


_LEAST_BYTES, _FEW_BYTES = 200_000_000, 2_000_000_000
_LEAST_FILES, _FEW_FILES = 256, 4096


def _disk(folder: Path, url: str) -> Iterator[HealthFinding]:
    from beholder.store.open import folder_of, is_postgresql

    place = folder if is_postgresql(url) else folder_of(url) if "://" not in url or url.startswith("sqlite") else folder
    while not place.exists() and place != place.parent:
        place = place.parent
    free = shutil.disk_usage(place).free
    state: State = "wrong" if free < _LEAST_BYTES else "warning" if free < _FEW_BYTES else "fine"
    fix = "" if state == "fine" else "Make room, or move the study: answers, reports and erasing need some."
    yield HealthFinding("disk", state, f"{free / 1e9:.1f} GB free at {place.absolute()}", fix)


def _descriptors() -> Iterator[HealthFinding]:
    if sys.platform == "win32":
        yield HealthFinding("descriptors", "fine", "Windows does not limit them")
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # A server asks for as many as it may have, so that the harder limit counts.
    is_unlimited = hard == resource.RLIM_INFINITY
    state: State = "fine" if is_unlimited or hard >= _FEW_FILES else "wrong" if hard < _LEAST_FILES else "warning"
    most = "any number" if is_unlimited else f"{hard:,}"
    words = f"{most} may be open (this shell begins with {soft:,})"
    fix = "" if state == "fine" else "Raise the hard limit, such as by LimitNOFILE=65536 of systemd."
    yield HealthFinding("descriptors", state, words, fix)


# Versions


def _versions() -> Iterator[HealthFinding]:
    from importlib.metadata import PackageNotFoundError, requires, version

    from beholder.errors import StimuliError
    from beholder.simulation import find_chromium
    from beholder.stimuli.ffmpeg import find_ffmpeg, run_ffmpeg

    yield HealthFinding("versions", "fine", f"beholder {version('beholder')}, Python {sys.version.split()[0]}")
    old = []
    for line in requires("beholder") or ():
        name, sign, least = line.partition(";")[0].strip().partition(">=")
        if not sign or ";" in line:
            continue  # without a lowest version, or of an extra
        try:
            present = version(name)
        except PackageNotFoundError:
            present = "0"
        if _numbers(present) < _numbers(least):
            old.append(f"{name} {present} (needs {least})" if present != "0" else f"{name} (missing)")
    if old:
        yield HealthFinding("versions", "wrong", f"too old: {', '.join(old)}", "pip install --upgrade beholder")
    try:
        first = run_ffmpeg(["-version"]).out.decode("utf-8", "replace").partition("\n")[0]
        yield HealthFinding("versions", "fine", f"{first.partition(' Copyright')[0] or 'ffmpeg'} ({find_ffmpeg()})")
    except StimuliError as error:
        yield _wrong("versions", error)
    browser = find_chromium()
    if browser is None or not Path(browser).exists():
        words, fix = "no Chromium was found", "Only `beholder simulate --browser` needs one: install chromium for it."
        yield HealthFinding("versions", "warning", words, fix)
    else:
        yield HealthFinding("versions", "fine", f"Chromium for `simulate --browser` ({browser})")


def _numbers(text: str) -> tuple[int, ...]:
    """Return the numbers that a version begins with."""
    numbers = []
    for part in text.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)


# Platform


def _platform(study: Study, now: Callable[[], datetime], *, is_asked: bool) -> Iterator[HealthFinding]:
    from pkgutil import resolve_name

    source = study.recruit.source
    if not source.token_variable:
        yield HealthFinding("platform", "fine", f"{study.recruit.mode} needs no token")
        return
    token = os.environ.get(source.token_variable, "").strip()
    if not token:
        fix = f"Set it before `launch`, `serve` and `pay`, such as by export {source.token_variable}=… in your shell."
        yield HealthFinding("platform", "warning", f"{source.token_variable} is not set", fix)
        return
    if not is_asked:
        yield HealthFinding(
            "platform", "fine", f"{source.token_variable} is set; `beholder doctor --platform` tries it"
        )
        return
    try:
        answer = resolve_name(source.probe)(token)
    except UserError as error:
        yield _wrong("platform", error)
        return
    if answer.at is not None and abs(answer.at - now()) > _TOLERANCE:
        words = f"the platform has {answer.at:%Y-%m-%d %H:%M} UTC, this machine {now():%Y-%m-%d %H:%M} UTC"
        yield HealthFinding("clock", "wrong", words, "Set the clock of this machine, best by the network (NTP).")
    yield HealthFinding("platform", "fine", f"{answer.address} answers and knows the token")
