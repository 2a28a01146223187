"""Verifying a bundle: whether it is whole, and whether everything that was computed comes out the same once more.

Nothing in a bundle is run. Its files are data: facts and a study text go into our own cleaning, analysis and report, in
a fresh folder, and what comes out is held against what the bundle says.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from beholder.bundling.crate import software_files
from beholder.bundling.criteria import BundleState, Criterion, criteria
from beholder.bundling.facts_files import read_rows_of
from beholder.bundling.holdings import BUNDLE, CHECKSUMS, CRATE, FACTS, FORMAT, SOFTWARE, STUDY
from beholder.bundling.number_checks import FileCheck, check_file, counted
from beholder.bundling.recomputation import BUNDLED, STEPS, output_files, recompute
from beholder.bundling.study_files import stimulus_files
from beholder.bundling.zip_files import file_hash, read_checksums, unpack
from beholder.errors import BeholderError, Problem, UserError
from beholder.formats import plain_count
from beholder.methods import load_study
from beholder.result_view import PagedResult, ResultView
from beholder.study.model import Study

if TYPE_CHECKING:
    from pandas import DataFrame

_OUTPUTS = ("clean", "analyse", "report")
_INTEGRITY, _STEPS = 2, 3 + STEPS
_MOST_JSON = 50_000_000


class BundleFault(NamedTuple):
    """Something that is wrong with the bundle itself."""

    file: str
    what: str


@dataclass(frozen=True, repr=False)
class Verification(PagedResult):
    """What came of verifying a bundle."""

    archive: Path
    digest: str
    """The SHA-256 of its checksums: the bundle is that of a paper if this is the digest there."""
    faults: tuple[BundleFault, ...]
    """Files that were changed, are missing or do not belong, and stimuli that are others."""
    failure: str
    """Why nothing could be computed anew; empty where it was."""
    checks: tuple[FileCheck, ...]
    """Every file of results, held against what was computed here."""
    software: Mapping[str, tuple[str, str]]
    """What is another version here, by name: that of the bundle, and that here."""
    criteria: tuple[Criterion, ...]
    not_checkable: tuple[BundleFault, ...]
    """What nobody can check from a bundle, and why."""
    is_simulated: bool
    page: Path | None = None

    _page_call = "beholder.verify(archive, out=FOLDER)"

    @property
    def is_intact(self) -> bool:
        """Whether every file is as it was when the checksums were made."""
        return not self.faults

    @property
    def is_same(self) -> bool:
        """Whether it is intact, and everything that could be checked came out the same."""
        return self.is_intact and not self.failure and not counted(self.checks)["different"]

    @property
    def words(self) -> tuple[str, ...]:
        """The finding in sentences."""
        lines = [*self._integrity()]
        if self.failure:
            lines.append(f"Nothing could be computed anew: {self.failure}")
        else:
            lines += self._results()
        if self.is_simulated:
            lines.append("Robots answered in place of people: a rehearsal, and no result.")
        if self.software:
            named = ", ".join(f"{name} {here} (bundle: {there})" for name, (there, here) in self.software.items())
            lines.append(f"Other software here: {named}.")
        lines.append(f"Digest: {self.digest}. Compare it with the one that was published.")
        return tuple(lines)

    def _integrity(self) -> list[str]:
        if not self.faults:
            return ["Whole: every file has the bytes that its checksum says."]
        shown = [f"{one.file} {one.what}" for one in self.faults[:_SHOWN]]
        more = f"; and {len(self.faults) - _SHOWN} more" if len(self.faults) > _SHOWN else ""
        return [f"Not whole: {'; '.join(shown)}{more}."]

    def _results(self) -> list[str]:
        numbers = counted(self.checks)
        values = sum(one.values for one in self.checks)
        equal = sum(one.equal for one in self.checks)
        lines = [
            f"{equal:,} of {values:,} values in {plain_count(len(self.checks), 'file')} are equal: "
            f"{numbers['equal']} equal, {numbers['different']} different, {numbers['not checkable']} not checkable."
        ]
        different = sorted((one for one in self.checks if one.different), key=lambda one: _KINDS.index(one.kind))
        for one in different[:_SHOWN_FILES]:
            first = max(one.differences, key=lambda found: found.by or 0.0)
            place = f", {first.place}" if first.place else ""
            by = f", apart by {first.by:g}" if first.by is not None else ""
            more = f" (and {one.different - 1:,} more)" if one.different > 1 else ""
            lines.append(f"{one.file}{place}: {first.bundled} there, {first.computed} here{by}{more}.")
        if len(different) > _SHOWN_FILES:
            lines.append(f"And {plain_count(len(different) - _SHOWN_FILES, 'more file')}.")
        return lines

    @property
    def files(self) -> DataFrame:
        """A row for every file of results."""
        import pandas as pd

        rows = [
            {"file": one.file, "state": one.state, "values": one.values, "equal": one.equal, "different": one.different,
             "largest": one.largest, "why": one.unchecked}
            for one in self.checks
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=["file", "state", "values", "equal", "different", "largest", "why"])

    @property
    def differences(self) -> DataFrame:
        """A row for everything that is not the same."""
        import pandas as pd

        rows = [one._asdict() for check in self.checks for one in check.differences]
        return pd.DataFrame(rows, columns=["file", "place", "bundled", "computed", "by"])

    @property
    def badges(self) -> DataFrame:
        """A row for every criterion of artefact evaluation."""
        import pandas as pd

        return pd.DataFrame([one._asdict() for one in self.criteria])

    def _view(self) -> ResultView:
        more = {"files": self.files, "differences": self.differences}
        return ResultView(self.words, self.badges, more, self.page)


_SHOWN, _SHOWN_FILES = 5, 8
_KINDS = ("text", "table", "record", "figure", "data")
"""In this order differences are told: first what people read."""


def verify_archive(
    archive: Path, *, out: Path | None, progress: Callable[[int, int], None] | None = None
) -> Verification:
    """Unpack a bundle, check it, compute its results anew, and compare; write a page where that is asked for."""
    from beholder.bundling.verification_page import refuse_folder, write_verification

    if out is not None:
        refuse_folder(out)
    done = 0

    def tell() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, _STEPS)

    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="beholder-verify-")))
        opened = open_bundle(archive, scratch / "bundle")
        tell()
        found = _compute(opened, scratch / "fresh", tell)
        while done < _STEPS:
            tell()
        if out is None:
            return found
        return write_verification(found, out, scratch / "fresh" / "study")


# The bundle itself


class OpenedBundle(NamedTuple):
    """An unpacked bundle."""

    archive: Path
    folder: Path
    names: tuple[str, ...]
    about: Mapping[str, Any]
    """bundle.json."""
    digest: str
    faults: tuple[BundleFault, ...]

    @property
    def study(self) -> Study:
        """The study in it; UserError where it cannot be read."""
        return load_study(self.folder / STUDY)


def open_bundle(archive: Path, folder: Path) -> OpenedBundle:
    """Unpack a bundle and check its files against its checksums; UserError where it is none, or hostile."""
    if archive.is_dir():
        raise UserError(Problem(str(archive), "is a folder", "a file that `beholder bundle` wrote"))
    names = unpack(archive, folder)
    missing = [name for name in (BUNDLE, CHECKSUMS, f"{STUDY}study.yaml") if name not in names]
    if missing:
        what = f"has no {missing[0]}"
        raise UserError(
            Problem(archive.name, f"{what}, so it is no bundle of Beholder", "a file that `beholder bundle` wrote")
        )
    about = _about(folder / BUNDLE, archive.name)
    text = (folder / CHECKSUMS).read_bytes()
    listed = read_checksums(text.decode("utf-8", "replace"), CHECKSUMS)
    return OpenedBundle(archive, folder, names, about, sha256(text).hexdigest(), tuple(_faults(folder, names, listed)))


def _about(path: Path, where: str) -> Mapping[str, Any]:
    try:
        about = json.loads(path.read_text("utf-8"))
        if about["kind"] != "beholder bundle":
            raise ValueError
        number = int(about["format"])
        datetime.fromisoformat(about["as_of"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        what = f"has a {BUNDLE} that no Beholder wrote"
        raise UserError(Problem(where, what, "a file that `beholder bundle` wrote")) from None
    if number != FORMAT:
        what = f"has the format {number} of {about.get('software')}, and this Beholder reads {FORMAT}"
        raise UserError(Problem(where, what, "", "Verify it with the Beholder that made it, or a later one."))
    return dict(about)


def _faults(folder: Path, names: Sequence[str], listed: Mapping[str, str]) -> list[BundleFault]:
    faults = [BundleFault(name, "is missing") for name in sorted(set(listed) - set(names))]
    for name in names:
        if name == CHECKSUMS:
            continue
        if name not in listed:
            faults.append(BundleFault(name, "is in no checksum: it was added"))
        elif file_hash(folder / name) != listed[name]:
            faults.append(BundleFault(name, "was changed after its checksum was made"))
    return faults


# Its results


def _compute(opened: OpenedBundle, fresh: Path, tell: Callable[[], None]) -> Verification:
    """Compute everything in a fresh folder and compare it."""
    software = _other_software(opened.folder)
    checks: tuple[FileCheck, ...] = ()
    failure, faults = "", list(opened.faults)
    has_stimuli = bool(opened.about.get("with_stimuli"))
    try:
        shutil.copytree(opened.folder / STUDY, fresh / "study", ignore=shutil.ignore_patterns(*_OUTPUTS, "rehearsal"))
        study = load_study(fresh / "study")
        tables = read_rows_of(opened.folder / FACTS, BUNDLED)
        if has_stimuli:
            faults += _other_stimuli(study, tables["stimuli"])
        as_of = datetime.fromisoformat(opened.about["as_of"])
        computed = recompute(study, tables, robots=bool(opened.about.get("robots")), as_of=as_of, tell=tell)
        checks = _compared(opened, study, computed, {name: here for name, (_, here) in software.items()})
    except BeholderError as error:
        failure = str(error)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        # Facts that no store would have taken: whoever changed them need not have kept their shape.
        failure = f"its facts are not those of a store ({type(error).__name__}: {error})"
    numbers = counted(checks)
    is_simulated = opened.about.get("population") == "robots"
    state = BundleState(
        not faults, not failure, numbers["different"], numbers["not checkable"], has_stimuli,
        f"{SOFTWARE}requirements.txt" in opened.names, _root(opened.folder), is_simulated,
    )  # fmt: skip
    return Verification(
        opened.archive, opened.digest, tuple(faults), failure, checks, software, criteria(state),
        tuple(_beyond(has_stimuli=has_stimuli)), is_simulated,
    )  # fmt: skip


def _compared(
    opened: OpenedBundle, study: Study, computed: Study, versions: Mapping[str, str]
) -> tuple[FileCheck, ...]:
    """Return the check of every file of results that is in the bundle, or was computed here."""
    inside = opened.folder / STUDY
    here = {path.relative_to(study.folder).as_posix() for path in output_files(computed)}
    prefix = computed.outputs.relative_to(study.folder).as_posix()
    base = inside if prefix == "." else inside / prefix
    there = {
        path.relative_to(inside).as_posix()
        for name in _OUTPUTS
        for path in (base / name).rglob("*")
        if path.is_file()
    }  # fmt: skip
    return tuple(check_file(name, inside / name, study.folder / name, versions) for name in sorted(here | there))


def _other_stimuli(study: Study, rows: Sequence[Mapping[str, Any]]) -> list[BundleFault]:
    """Return which stimuli of the bundle were never shown, by the hashes of their files in the facts."""
    known = {str(row["sha256"]) for row in rows}
    return [
        BundleFault(f"{STUDY}{name}", "is no file that was shown to anybody, by its hash")
        for name, path in stimulus_files(study).items()
        if file_hash(path) not in known
    ]


def _root(folder: Path) -> Mapping[str, Any]:
    """Return the root of the metadata; nothing where they cannot be read."""
    try:
        if (folder / CRATE).stat().st_size > _MOST_JSON:
            return {}
        graph = json.loads((folder / CRATE).read_text("utf-8"))["@graph"]
        return next((one for one in graph if one.get("@id") == "./"), {})
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _other_software(folder: Path) -> dict[str, tuple[str, str]]:
    """Return the packages that are of another version here, with both."""
    here = json.loads(software_files()[f"{SOFTWARE}software.json"])
    try:
        there = json.loads((folder / SOFTWARE / "software.json").read_text("utf-8"))
        packages = {str(name): str(version) for name, version in there["packages"].items()}
        packages |= {name: str(there[name]) for name in ("python", "system", "machine")}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    own = {**here["packages"], **{name: here[name] for name in ("python", "system", "machine")}}
    return {
        name: (version, own.get(name, "not installed"))
        for name, version in packages.items()
        if own.get(name) != version
    }  # fmt: skip


def _beyond(*, has_stimuli: bool) -> list[BundleFault]:
    """Return what no bundle can prove."""
    beyond = [
        BundleFault(
            FACTS,
            "That people gave these answers: results are computed from facts, and facts rest on nothing else. The "
            "digest, where it was published before, shows that nobody has changed them since.",
        ),
        BundleFault(f"{FACTS}events.jsonl", "Not used again: what was played was computed from them as they came."),
        BundleFault(f"{STUDY}plan/", "The plan is taken as it was; its balance is in balance.csv."),
    ]
    if not has_stimuli:
        beyond.append(BundleFault(f"{FACTS}stimuli.jsonl", "Hashes of stimuli, without the files that have them."))
    return beyond
