"""Repeating the study of a bundle with other people: a study folder with a new seed, which turns earlier people away.

Beside it lie the study and the results that it repeats, in original/: `beholder compare original .` tells what was
found again. What belongs to the first study alone does not come along: who published it, its codes, its closing day.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beholder.bundling.facts_files import read_rows_of
from beholder.bundling.holdings import FACTS, MEDIA, STUDY
from beholder.bundling.study_files import STUDY_FILE
from beholder.bundling.verification import OpenedBundle, open_bundle
from beholder.cleaning.texts import text_values
from beholder.errors import Problem, UserError
from beholder.files import link_or_copy, write_atomically
from beholder.formats import first_names, plain_count
from beholder.methods import find, load_study
from beholder.planning import plan_study
from beholder.planning.growth import RATED_ROLES
from beholder.planning.message_trials import load_stimuli
from beholder.result_view import ResultView, ShownResult
from beholder.study.model import Study
from beholder.study.questionnaire import Ask
from beholder.study.serialization import resolved_yaml, yaml_text

ORIGINAL = "original"
_KEPT_RESULTS = ("clean", "analyse", "report")
_ASK = {
    "id": "took_part_before",
    "text": "Have you already taken part in a study in which you rated the same material?",
    "type": "single",
    "options": ["Yes", "No"],
    "correct": ["No"],
}
_SEEDS = 1_000_000
_SHOWN = 3


@dataclass(frozen=True, repr=False)
class Repetition(ShownResult):
    """A study that repeats another one."""

    study: Path
    """Its study.yaml."""
    original: Path
    """The folder of the study that it repeats, with its results."""
    seed: int
    original_seed: int
    lists: int
    excluded: str
    """How people who took part before are kept out, in a sentence."""
    changed: tuple[str, ...]
    """Keys of study.yaml that are others than in the original."""

    @property
    def words(self) -> tuple[str, ...]:
        """What was made, and what comes next."""
        folder = self.study.parent
        return (
            f"{self.study}: {plain_count(self.lists, 'list')}, seed {self.seed} (original: {self.original_seed}).",
            self.excluded,
            f"Other than in the original: {', '.join(self.changed)}.",
            f"Record its plan with `beholder preregister {self.study}`, then `beholder run {self.study}`.",
            f"What was found again: `beholder compare {self.original} {folder}`.",
        )

    def _view(self) -> ResultView:
        return ResultView(self.words)


def repeat_study(
    archive: Path,
    *,
    folder: Path | None,
    new_people: bool,
    seed: int | None,
    stimuli: Path | None,
    earlier: Path | None,
    progress: Callable[[int, int], None] | None,
) -> Repetition:
    """Make the folder; UserError tells what is missing, and then nothing is left behind."""
    if not new_people:
        fix = "`beholder verify` computes the results anew from the same answers."
        raise UserError(Problem("rerun", "has nobody to ask", "--new-people", fix))
    _refuse_paths(stimuli, earlier)
    with tempfile.TemporaryDirectory(prefix="beholder-rerun-") as scratch:
        opened = open_bundle(archive, Path(scratch) / "bundle")
        if opened.faults:
            shown = first_names([one.file for one in opened.faults], _SHOWN)
            raise UserError(Problem(archive.name, f"is not whole: {shown}", "a bundle as it was made", "Get it again."))
        target = folder or archive.parent / f"{opened.about['study']}-rerun"
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise UserError(Problem(str(target), "is there already", "a new or empty folder", "Name another one."))
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".rerun-", dir=target.parent) as draft:
            made = _make(opened, Path(draft) / "study", target, seed, stimuli, earlier, progress)
            if target.exists():
                target.rmdir()
            shutil.move(Path(draft) / "study", target)
        return made


def _refuse_paths(stimuli: Path | None, earlier: Path | None) -> None:
    problems = []
    if stimuli is not None and not stimuli.is_dir():
        problems.append(Problem("--stimuli", f"is {stimuli}, and there is no such folder", "the folder of the stimuli"))
    if earlier is not None and not (earlier / "store").is_dir():
        what = f"is {earlier}, and there is no store/ in it"
        problems.append(Problem("--earlier", what, "the folder of the original study, with who took part"))
    if problems:
        raise UserError(problems)


def _make(
    opened: OpenedBundle, draft: Path, target: Path, seed: int | None, stimuli: Path | None, earlier: Path | None,
    progress: Callable[[int, int], None] | None,
) -> Repetition:  # fmt: skip
    original = opened.study
    shutil.copytree(
        opened.folder / STUDY, draft, ignore=shutil.ignore_patterns(*_KEPT_RESULTS, "plan", "rehearsal", "media")
    )
    rows = read_rows_of(opened.folder / FACTS, ("stimuli", "ledger", "studies"))
    if not opened.about.get("with_stimuli"):
        _bring_stimuli(opened.archive.name, original, draft, stimuli, rows)
    chosen = seed if seed is not None else _seed(opened.digest, original.design.seed)
    postings = [str(row["provider_ref"]) for row in rows["ledger"] if row["kind"] == "draft" and row["provider_ref"]]
    again, changed, excluded = _repeated(original, opened, chosen, postings, earlier, target)
    write_atomically(draft / STUDY_FILE, _head(opened, original).encode() + resolved_yaml(again).encode())
    study = load_study(draft)
    catalogue = load_stimuli(study, find(study.method), progress)
    _refuse_other_stimuli({one.id: one.sha256 for one in catalogue.stimuli}, rows["stimuli"])
    plan = plan_study(study, catalogue=catalogue)
    _keep_original(opened, draft / ORIGINAL)
    if earlier is not None:
        # It is named as seen from the place where the study will be.
        text = yaml_text(_with_excluded(draft / STUDY_FILE, earlier, target))
        write_atomically(draft / STUDY_FILE, f"{_head(opened, original)}{text}".encode())
    return Repetition(
        target / STUDY_FILE, target / ORIGINAL, chosen, original.design.seed, len(plan.lists), excluded, changed
    )  # fmt: skip


def _head(opened: OpenedBundle, original: Study) -> str:
    return (
        f"# {original.name}, repeated with other participants: made by `beholder rerun {opened.archive.name}`.\n"
        f"# The bundle has the digest {opened.digest}.\n\n"
    )


def _seed(digest: str, before: int) -> int:
    """Return another seed, the same for the same bundle."""
    number = int(hashlib.sha256(f"{digest} rerun".encode()).hexdigest()[:12], 16) % _SEEDS
    return number if number != before else number + 1


def _repeated(
    original: Study, opened: OpenedBundle, seed: int, postings: list[str], earlier: Path | None, target: Path
) -> tuple[Study, tuple[str, ...], str]:
    """Return the study with what differs, the keys that do, and how earlier people are kept out."""
    recruit = original.recruit
    fields = type(recruit).model_fields
    changes: dict[str, Any] = {
        name: fields[name].get_default(call_default_factory=True)
        for name in ("closes", "codes", "return_to")
        if name in fields and getattr(recruit, name) != fields[name].get_default(call_default_factory=True)
    }
    before = original.before
    gap = None
    if earlier is not None:
        gap = recruit.source.exclusion_gap(recruit.model_copy(update={"exclude": (str(earlier),)}))
        excluded = f"Whoever began the study in {earlier} is turned away, by their ids there."
    elif postings and "block_studies" in recruit.source.options:
        changes["block_studies"] = tuple(dict.fromkeys([*recruit.block_studies, *postings]))
        excluded = "The platform leaves out who took part in the original, where it is in the same workspace."
    else:
        excluded = (
            "A bundle does not tell who took part, so nobody can be turned away by an id. With the folder of the "
            "original, --earlier knows them."
        )
    if gap is not None or (earlier is None and "block_studies" not in changes):
        if original.language.startswith("en"):
            before = (Ask.model_validate(_ASK), *original.before)
            excluded += " Everybody is asked whether they took part before, and turned away if so."
        else:
            excluded += " Ask for it in `before`, in the language of the study."
    changed = ["name", "design.seed", "source", *(f"recruit.{name}" for name in changes)]
    changed += ["recruit.exclude"] if earlier is not None else []
    changed += ["before"] if before != original.before else []
    default = Study.model_fields["publication"].get_default(call_default_factory=True)
    changed += ["publication"] if original.publication != default else []
    source = dict(original.source) if isinstance(original.source, Mapping) else {}
    source["rerun_of"] = {"study": original.name, "bundle": opened.archive.name, "digest": opened.digest}
    again = original.model_copy(
        update={
            "name": f"{original.name}-rerun", "source": source, "before": before, "run": 1, "publication": default,
            "design": original.design.model_copy(update={"seed": seed}),
            "recruit": recruit.model_copy(update=changes),
        }
    )  # fmt: skip
    return again, tuple(changed), excluded


def _with_excluded(path: Path, earlier: Path, target: Path) -> dict[str, Any]:
    """Return a study file as a map whose `recruit.exclude` names the original as seen from the new folder."""
    values = text_values(path.read_text("utf-8"))
    named = Path(os.path.relpath(earlier.resolve(), target.resolve())).as_posix()
    values.setdefault("recruit", {})["exclude"] = [named]
    return values


# Stimuli


def _bring_stimuli(
    where: str, original: Study, draft: Path, stimuli: Path | None, rows: Mapping[str, list[dict[str, Any]]]
) -> None:
    """Link or copy the files of a folder to where the study has its stimuli, by their places there."""
    if stimuli is None:
        what = "holds the hashes of its stimuli, and not the files"
        raise UserError(Problem(where, what, "", "Give the folder of the stimuli with --stimuli."))
    inside = original.stimuli.folder or ""
    for path in sorted(stimuli.rglob("*")):
        name = path.relative_to(stimuli)
        if path.is_file() and not any(part.startswith(".") for part in name.parts):
            copy = draft / inside / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            if not copy.exists():
                link_or_copy(path.resolve(), copy)


def _refuse_other_stimuli(here: Mapping[str, str], rows: list[dict[str, Any]]) -> None:
    """Raise UserError where a stimulus is missing, or is another file than the one that people rated."""
    there: dict[str, set[str]] = {}
    for row in rows:
        if row["role"] in RATED_ROLES:
            there.setdefault(str(row["stimulus"]), set()).add(str(row["sha256"]))
    missing = [name for name in there if name not in here]
    other = [name for name, hashes in there.items() if name in here and here[name] not in hashes]
    problems = []
    if missing:
        what = f"has no {first_names(missing, _SHOWN)}"
        problems.append(Problem("stimuli", what, f"all {len(there)} stimuli that people rated"))
    if other:
        what = f"has other files for {first_names(other, _SHOWN)} than people rated, by their hashes"
        problems.append(Problem("stimuli", what, "the very files of the original"))
    if problems:
        raise UserError(problems)


def _keep_original(opened: OpenedBundle, folder: Path) -> None:
    """Keep the study that is repeated, with its results and without its stimuli."""
    source = opened.folder / STUDY
    inside = MEDIA.removeprefix(STUDY).strip("/")  # as `beholder new` calls it; others are small enough to keep
    shutil.copytree(source, folder, ignore=lambda at, names: [inside] if Path(at) == source and inside in names else [])
    note = {"repeated_by": "../study.yaml", "digest": opened.digest, "bundle": opened.archive.name}
    write_atomically(folder / "bundle.json", (json.dumps(note, indent=1) + "\n").encode())
