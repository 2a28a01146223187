"""The conformance suite of importers: `check_importer`, for our importers and those of other packages."""

from __future__ import annotations

import configparser
import csv
import io
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from beholder.analysis import analyse
from beholder.cleaning import clean
from beholder.errors import UserError
from beholder.importing import ImportedFolder, import_study
from beholder.importing.contract import ImportOptions
from beholder.importing.import_report import REPORT
from beholder.importing.provenance import FATES
from beholder.importing.registry import find, recognised
from beholder.importing.source_folder import SourceFolder
from beholder.methods import load_study
from beholder.reporting import report
from beholder.simulation import simulate
from beholder.store.contract import Table
from beholder.store.open import read_tables
from beholder.workflow.check import check

_ROBOTS = 3
_FACTS: tuple[Table, ...] = ("stimuli", "lists", "sessions", "claims", "answers", "told", "ends")
_KINDS = ("key", "column", "row")
_MADE = ("store", "media")
"""Folders that are not compared byte by byte: a store has a secret of its own."""


def check_importer(
    name: str,
    source: Path,
    folder: Path,
    *,
    stimuli: Path | None = None,
    partial: bool = False,
    whole: bool = True,
    ratings: int | None = None,
) -> ImportedFolder:
    """Raise AssertionError with a sentence if an importer does not keep the contract on a source; return the import.

    The source is recognised as its own, and every leaf of what was opened has one fate; the same source gives the same
    bytes and the same facts; its sessions go through clean, analyse and report, and give so many `ratings`; the study
    can be checked, planned and simulated with new people; damaged variants of the source are refused with a reason and
    leave nothing. Writes to `folder`. With `whole`, robots come over HTTP and figures are drawn.
    """
    _check_recognised(name, source, stimuli)
    _check_leaves(name, source, stimuli, partial=partial)
    done = import_study(source, folder / "first", stimuli=stimuli, partial=partial)
    _check_report(done, source)
    again = import_study(source, folder / "second", stimuli=stimuli, partial=partial)
    _check_same(done.folder, again.folder)
    shutil.rmtree(again.folder)
    _check_results(done, ratings, whole=whole)
    if not done.missing:
        for study in done.studies:
            _check_new_people(study, whole=whole)
    _check_hostile(source, folder / "hostile", stimuli)
    return done


def _check_recognised(name: str, source: Path, stimuli: Path | None) -> None:
    importer = find(name)
    found, by = recognised(SourceFolder(source, stimuli))
    assert found.name == importer.name, f"{source} is taken for {found.name}, by {by}"


def _check_leaves(name: str, source: Path, stimuli: Path | None, *, partial: bool) -> None:
    """Assert that the four lists hold every leaf of every file that was opened, each in one of them."""
    opened = SourceFolder(source, stimuli)
    for study in find(name).read(opened, ImportOptions(partial=partial)):
        for _ in study.sessions:
            pass
    account = opened.provenance
    account.close()
    lists = {fate: set(account.of(fate)) for fate in FATES}
    assert sum(map(len, lists.values())) == len(account.leaves()), "a leaf has two fates, or none"
    told = {(leaf.file, leaf.kind, leaf.place) for leaves in lists.values() for leaf in leaves}
    files = {name for name, kind, _ in told if kind == "file"}
    assert files >= set(opened.names), f"files are not accounted for: {sorted(set(opened.names) - files)[:5]}"
    for file, path in opened.opened.items():
        missing = set(_leaves(file, path)) - {(kind, place) for there, kind, place in told if there == file}
        assert not missing, f"{file}: not accounted for: {sorted(missing)[:5]}"


def _leaves(name: str, path: Path) -> Iterator[tuple[str, str]]:
    """Yield the leaves of a file as another reader sees them: values of JSON and INI, columns and rows of CSV."""
    text = path.read_bytes().decode("utf-8-sig", errors="replace")
    if name.endswith(".json"):
        yield from (("key", place) for place in _places(json.loads(text)))
    elif name.endswith(".cfg"):
        parser = configparser.ConfigParser(interpolation=None)
        parser.read_string(text)
        yield from (("key", f"{section}.{key}") for section in parser.sections() for key in parser[section])
    elif name.endswith(".csv"):
        first = text.partition("\n")[0]
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count))
        for number, cells in enumerate(reader):
            if number == 0:
                yield from (("column", cell.strip()) for cell in set(cells) if cell.strip())
            elif any(cell.strip() for cell in cells):
                yield "row", str(reader.line_num)


def _places(value: Any, place: str = "") -> Iterator[str]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not parts or not value:
        yield place
    for key, part in parts:
        yield from _places(part, f"{place}.{key}".lstrip("."))


def _check_report(done: ImportedFolder, source: Path) -> None:
    """Assert that the report counts what it lists, and that its page stands beside it."""
    found = json.loads((done.folder / REPORT).read_text("utf-8"))
    for fate in FATES:
        listed = sum(_width(entry) for entry in found[fate] if "file" in entry)
        assert listed >= found["counts"][fate], f"the report counts {found['counts'][fate]} {fate} and lists {listed}"
    page = done.page.read_text("utf-8")
    assert source.name in page, "the page does not say of what it is"
    assert "<script>alert" not in page, "the page lets a script through"


def _width(entry: dict[str, Any]) -> int:
    first, _, last = str(entry.get("row", "")).partition("-")
    return int(last) - int(first) + 1 if last else 1


def _check_same(one: Path, two: Path) -> None:
    """Assert that two imports of a source are the same: all files by their bytes, stores by their facts."""

    def files(folder: Path) -> dict[str, bytes]:
        paths = (path for path in folder.rglob("*") if path.is_file())
        inside = ((path.relative_to(folder), path) for path in paths)
        return {name.as_posix(): path.read_bytes() for name, path in inside if not {*name.parts} & {*_MADE}}

    first, second = files(one), files(two)
    assert first.keys() == second.keys(), f"other files: {sorted(first.keys() ^ second.keys())[:5]}"
    changed = [name for name, content in first.items() if second[name] != content]
    assert not changed, f"other bytes: {changed[:5]}"
    for store in sorted(one.rglob("store")):
        other = two / store.relative_to(one)
        assert read_tables(store, _FACTS) == read_tables(other, _FACTS), f"other facts in {store}"


def _check_results(done: ImportedFolder, ratings: int | None, *, whole: bool) -> None:
    """Assert that imported sessions become ratings with their origin, and go as far as a report."""
    total = 0
    for study in done.studies:
        if not (study.parent / "store").is_dir():
            continue
        cleaned = clean(study)
        total += cleaned.counts["ratings"]
        with (study.parent / "clean" / "ratings.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert rows, f"{study}: sessions give no ratings"
        assert all(row["origin"] for row in rows), f"{study}: a rating does not say where it comes from"
        assert {row["mode"] for row in rows} == {"imported"}, f"{study}: sessions came in another way"
        analyse(study)
        if whole:
            assert report(study).is_file(), f"{study}: no report"
    assert ratings is None or total == ratings, f"{total} ratings, not {ratings}"


def _check_new_people(study: Path, *, whole: bool) -> None:
    """Assert that the study can be repeated with new people: it is checked, planned, simulated and reported."""
    text = study.read_text("utf-8")
    study.write_text(re.sub(r"(?m)^run: .*\n", "", text) + "run: 2\n", "utf-8")
    loaded = load_study(study)
    check(loaded)
    if not whole:
        simulate(loaded, participants=_ROBOTS, memory=True)
        return
    simulate(loaded, participants=_ROBOTS)
    clean(loaded, robots=True)
    analyse(loaded)
    report(loaded)


# Damaged and hostile variants


def _check_hostile(source: Path, folder: Path, stimuli: Path | None) -> None:
    """Assert that every damaged variant is imported with an account, or refused with a reason and leaves nothing."""
    folder.mkdir(parents=True)
    for suffix in ("wav", "mp4", "webm", "png", "txt"):
        (folder / f"outside.{suffix}").write_bytes(_SECRET)
    for number, (what, variant) in enumerate(_variants(source, folder)):
        target = folder / f"import-{number}"
        try:
            done = import_study(variant, target, stimuli=stimuli, partial=True)
        except UserError as error:
            reasons = [problem.what for problem in error.problems]
        else:
            stolen = [path for path in done.folder.rglob("*") if path.is_symlink() or _SECRET in _content(path)]
            assert not stolen, f"{what}: took {stolen[0].name} from outside"
            reasons = ["imported"]
        assert all(reasons), f"{what}: refused without a reason"
        assert reasons == ["imported"] or not target.exists(), f"{what}: refused, and left a folder"
        shutil.rmtree(target, ignore_errors=True)
        shutil.rmtree(folder / "variant", ignore_errors=True)


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def _variants(source: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the source with each text file damaged in each way, one after the other in the same place."""
    names = [source.name] if source.is_file() else [
        path.relative_to(source).as_posix() for path in sorted(source.rglob("*"))
        if path.suffix.lower() in (".yaml", ".yml", ".json", ".csv", ".cfg", ".py")
    ]  # fmt: skip
    for name in names[:_MOST_DAMAGED]:
        for what, damage in _DAMAGES.items():
            copy = folder / "variant"
            shutil.rmtree(copy, ignore_errors=True)
            if source.is_file():
                copy.mkdir(parents=True)
                shutil.copyfile(source, copy / name)
            else:
                shutil.copytree(source, copy)
            path = copy / name
            path.write_bytes(damage(path.read_bytes()))
            yield f"{name} {what}", copy / name if source.is_file() else copy


_MOST_DAMAGED = 4
_SECRET = b"This file is nobody's stimulus."
_Damage = Callable[[bytes], bytes]


def _nested(_: bytes) -> bytes:
    return b"pages: " + b"[" * 5000


def _aliased(text: bytes) -> bytes:
    """Return a text before which nine aliases stand, each of nine of the one before."""
    names = "abcdefgh"
    lines = [f"{names[0]}: &{names[0]} [x,x,x,x,x,x,x,x,x]"]
    lines += [f"{two}: &{two} [{','.join([f'*{one}'] * 9)}]" for one, two in pairwise(names)]
    return "\n".join(lines).encode() + b"\n" + text


def _leading_out(text: bytes) -> bytes:
    return re.sub(rb"[\w./-]+\.(wav|mp4|webm|png|txt)", rb"../outside.\1", text)


_DAMAGES: Mapping[str, _Damage] = {
    "cut in the middle": lambda text: text[: len(text) // 2],
    "emptied": lambda _: b"",
    "with zeros in it": lambda text: text[:20] + b"\0\0" + text[20:],
    "with bytes that are no text": lambda text: text.replace(b"a", b"\xff\xfe\x80"),
    "nested without end": _nested,
    "made of aliases": _aliased,
    "with a tag that runs": lambda text: text + b"\nx: !!python/object/apply:os.getcwd []\n",
    "with paths that lead out": _leading_out,
    "with numbers without end": lambda text: re.sub(rb"\b\d\b", b"9" * 400, text),
}
"""What is done to a file, and how."""
