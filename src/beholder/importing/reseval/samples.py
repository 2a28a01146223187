"""The files that a ReSEval test evaluates: a folder for each condition, or a flat folder with a text for each file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from beholder.errors import Problem, UserError
from beholder.formats import first_names, plain_count
from beholder.importing.contract import ImportedStimulus
from beholder.importing.source_folder import SourceFolder
from beholder.importing.study_folder import distinct, stimulus_name
from beholder.stimuli.media_formats import medium_of

if TYPE_CHECKING:
    from beholder.importing.reseval.experiment import Experiment
    from beholder.importing.reseval.responses import ResultTables

REFERENCE = "reference"
ALL = "all"
"""The one condition of word selection, whose files lie in no folder of a condition."""
_WORDS = "-words.txt"
_MOST_BYTES = 100_000


@dataclass
class Samples:
    """What a test evaluates: its conditions, and the content of each file as results call it."""

    conditions: tuple[str, ...] = ()
    """Without the reference."""
    contents: dict[str, str] = field(default_factory=dict)
    """By what results call a file."""
    stimuli: list[ImportedStimulus] = field(default_factory=list)
    words: dict[str, list[str]] = field(default_factory=dict)
    """The words of each content, of word selection."""
    texts: dict[str, str] = field(default_factory=dict)
    """The transcripts, as files of the study."""
    has_reference: bool = False

    @property
    def condition_keys(self) -> list[Any]:
        """The conditions as study.yaml has them."""
        names: list[Any] = [stimulus_name(name) for name in self.conditions]
        return [*([{"name": REFERENCE, "role": REFERENCE}] if self.has_reference else []), *names]

    def stimulus(self, stem: str, condition: str) -> str | None:
        """Return the id of a file under a condition, by what results call them; None where there is none."""
        content = self.contents.get(stem)
        one = f"{stimulus_name(condition)}/{content}"
        return one if content is not None and condition in self.conditions else None


_Files = Mapping[str, Mapping[str, Path]]
"""By condition, the file of each content, its path in the folder of the condition without its ending."""


def read_samples(source: SourceFolder, experiment: Experiment, tables: ResultTables) -> Samples:
    """Return what a test evaluates; of files that were not found, what its results name."""
    if experiment.test == "wordselect":
        return _flat_samples(source, experiment, tables)
    files = _condition_files(source, experiment, tables)
    names = sorted(files) or [name for name in tables.conditions if name != REFERENCE]
    needs_reference = experiment.test == "abx"
    conditions = [name for name in names if not (needs_reference and name == REFERENCE)]
    if needs_reference and files and REFERENCE not in files:
        raise UserError(
            Problem(source.address, "has no folder called reference", f"a folder {REFERENCE} beside the conditions", "")
        )
    if experiment.test in ("ab", "abx") and conditions and len(conditions) != 2:
        what = f"has {plain_count(len(conditions), 'condition')}: {first_names(conditions, 5)}"
        raise UserError(Problem(source.address, what, "two conditions", "Give a folder with those two."))
    samples = Samples(tuple(conditions), has_reference=needs_reference)
    stems = sorted(files[sorted(files)[0]]) if files else list(tables.stems)
    _name_contents(samples, [*stems, *(stem for stem in tables.stems if stem not in stems)])
    endings = dict(tables.stems)
    for name in ([REFERENCE] if needs_reference else []) + conditions:
        for stem, content in samples.contents.items():
            path = files.get(name, {}).get(stem)
            if path is not None:
                source.use(path)
            suffix = path.suffix if path is not None else endings.get(stem, "") or _ENDINGS[experiment.medium]
            role: Any = REFERENCE if name == REFERENCE and needs_reference else "test"
            samples.stimuli.append(ImportedStimulus(content, stimulus_name(name), path, f"{name}/{stem}{suffix}", role))
    _tell_differences(source, files)
    return samples


_ENDINGS = {"audio": ".wav", "video": ".mp4", "image": ".png", "text": ".txt"}


def _name_contents(samples: Samples, stems: Sequence[str]) -> None:
    used: set[str] = set()
    for stem in stems:
        samples.contents[stem] = distinct(stimulus_name(stem), used)


def _condition_files(source: SourceFolder, experiment: Experiment, tables: ResultTables) -> _Files:
    """Return the files of each condition: those of the folder whose sub-folders fit best; nothing without one."""
    best: tuple[int, _Files] = (0, {})
    for media in source.media_folders():
        by_parent: dict[str, dict[str, dict[str, Path]]] = defaultdict(lambda: defaultdict(dict))
        for name, path in media.items():
            steps = PurePosixPath(name).parts
            if medium_of(name) != experiment.medium:
                continue
            for depth in range(len(steps) - 1):
                stem = PurePosixPath(*steps[depth + 1 :]).with_suffix("").as_posix()
                by_parent["/".join(steps[:depth])][steps[depth]][stem] = path
        for conditions in by_parent.values():
            known = len(set(tables.conditions) & set(conditions)) if tables.conditions else len(conditions)
            shared = set.intersection(*(set(files) for files in conditions.values()))
            fit = known * len(shared) if len(conditions) > 1 else 0
            if fit > best[0]:
                best = fit, conditions
        if best[0]:
            break
    wanted = [name for name in best[1] if not tables.conditions or name in {*tables.conditions, REFERENCE}]
    return {name: best[1][name] for name in wanted}


def _tell_differences(source: SourceFolder, files: _Files) -> None:
    """Tell where conditions do not hold the same files: the tool takes those of the first, and never looks."""
    names = sorted(files)
    if not names:
        return
    first = set(files[names[0]])
    for name in names[1:]:
        if missing := sorted(first - set(files[name])):
            source.provenance.warn(f"Condition {name} lacks {first_names(missing, 5)}, which {names[0]} has.")
        if extra := sorted(set(files[name]) - first):
            source.provenance.warn(f"Condition {name} has {first_names(extra, 5)} besides, which was never shown.")


# Word selection


def _flat_samples(source: SourceFolder, experiment: Experiment, tables: ResultTables) -> Samples:
    """Return the files of a flat folder, each with its words; those that results name where there is none."""
    found: dict[str, Path] = {}
    for media in source.media_folders():
        found = {
            PurePosixPath(name).stem: path
            for name, path in media.items()
            if medium_of(name) == experiment.medium and not name.endswith(_WORDS)
            and path.with_name(f"{path.stem}{_WORDS}").is_file()
        }  # fmt: skip
        if found:
            break
    samples = Samples((ALL,))
    _name_contents(samples, [*sorted(found), *(stem for stem in tables.stems if stem not in found)])
    endings = dict(tables.stems)
    for stem, content in samples.contents.items():
        path = found.get(stem)
        suffix = path.suffix if path is not None else endings.get(stem, "") or _ENDINGS[experiment.medium]
        samples.stimuli.append(ImportedStimulus(content, ALL, path, f"{stem}{suffix}"))
        if path is None:
            continue
        source.use(path)
        listed = path.with_name(f"{path.stem}{_WORDS}")
        source.use(listed)
        if listed.stat().st_size > _MOST_BYTES:
            what = f"has {listed.stat().st_size} bytes"
            raise UserError(Problem(listed.name, what, f"at most {_MOST_BYTES}, the words of one file"))
        words = listed.read_bytes().decode("utf-8-sig", errors="replace").split()
        samples.words[content] = words
        if experiment.medium != "text":
            samples.texts[f"transcripts/{content}.txt"] = " ".join(words) + "\n"
    return samples
