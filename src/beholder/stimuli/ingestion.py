"""From a study to its catalogue: every file is hashed, measured and copied once, then cached."""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from beholder.errors import Problem, StimuliError, did_you_mean
from beholder.formats import first_names, plain_count
from beholder.stimuli.addresses import PublicNetwork, cached_file, fetch
from beholder.stimuli.anchors import (
    anchor_sources,
    condition_roles,
    make_file,
    missing_anchor_recipes,
    recipe_problems,
    stimulus_hash,
)
from beholder.stimuli.catalogue import Catalogue, Probe, Stimulus
from beholder.stimuli.companions import add_mismatched
from beholder.stimuli.copies import put_in_place, served_name, write_copy
from beholder.stimuli.known_answers import training_warnings
from beholder.stimuli.layout import layout_of
from beholder.stimuli.probe import measure, playback_problem
from beholder.stimuli.sources import RATED, StimulusSource, normalised_name, read_sources
from beholder.stimuli.streams import encoders_in
from beholder.stimuli.warnings import catalogue_warnings
from beholder.study.model import Playback, Study
from beholder.types import Medium, Role

_FORMAT = 5
_NETWORK = PublicNetwork()


@dataclass(frozen=True)
class CachedFile:
    """What is cached about a file while its size and time stay the same."""

    size: int
    mtime_ns: int
    sha256: str
    probe: Probe
    served: str
    served_bytes: int
    encoders: tuple[str, ...]
    layout: tuple[str, ...]


def load_catalogue(
    study: Study,
    progress: Callable[[int, int], None] | None = None,
    *,
    network: PublicNetwork = _NETWORK,
) -> Catalogue:
    """Return every stimulus of the study, ready to serve; raise StimuliError with all problems at once.

    `progress(done, total)` is called for files that are new or changed. `network` is how addresses are reached.
    """
    sources = read_sources(study)
    problems, warnings = list(sources.problems), list(sources.warnings)
    examples = [source for source in sources.entries if source.role == "example"]
    others = [source for source in sources.entries if source.role != "example"]
    selected, order, recipes = _select(study, others, problems, warnings)
    problems.extend(recipe_problems(study, recipes, selected))
    root = study.folder.absolute()
    media = root / "media"
    selected += examples
    entries, failures = ingest_files(selected, root, media, progress, network)
    problems.extend(failures)
    if problems:
        raise StimuliError(problems)
    roles = condition_roles(study)
    ingested = [(source, entry) for source, entry in zip(selected, entries, strict=True) if entry is not None]
    if recipes:
        references = [
            (source, _local_path(source, media), entry.sha256)
            for source, entry in ingested
            if (source.role or roles.get(source.condition)) == "reference"
        ]
        anchors = anchor_sources(recipes, references, media)
        entries, failures = ingest_files(anchors, root, media, progress, network)
        if failures:
            raise StimuliError(failures)
        ingested += [(source, entry) for source, entry in zip(anchors, entries, strict=True) if entry is not None]
    rank = {name: place for place, name in enumerate(order)}
    stimuli = [_stimulus(study, source, entry, roles) for source, entry in ingested]
    examples_shown = tuple(stimulus for stimulus in stimuli if stimulus.role == "example")
    stimuli = [stimulus for stimulus in stimuli if stimulus.role != "example"]
    stimuli.sort(key=lambda s: (rank.get(s.condition, len(rank)), s.condition, s.content, s.id))
    contents = tuple(sorted({s.content for s in stimuli if s.role in RATED}))
    catalogue = Catalogue(tuple(stimuli), order, contents, tuple(warnings), examples_shown)

    def ingest(made: Sequence[StimulusSource]) -> list[Stimulus]:
        files, faults = ingest_files(made, root, media, progress, network)
        if faults:
            raise StimuliError(faults)
        return [_stimulus(study, one, file, roles) for one, file in zip(made, files, strict=True) if file is not None]

    catalogue = add_mismatched(study, catalogue, ingest)
    known_answers = [stimulus.known_answer for stimulus in catalogue.training if stimulus.known_answer is not None]
    warnings += training_warnings(study, known_answers)
    return replace(catalogue, warnings=(*warnings, *catalogue_warnings(catalogue, study)))


def _stimulus(study: Study, source: StimulusSource, entry: CachedFile, roles: Mapping[str, Role]) -> Stimulus:
    """Return the stimulus of a source that has been taken in."""
    role = source.role or roles.get(source.condition, "test")
    name = f"{source.condition}/{source.content}"
    return Stimulus(
        id=name if role in RATED else f"{role}:{name}",
        content=source.content,
        condition=source.condition,
        role=role,
        medium=source.medium,
        file=source.file,
        sha256=stimulus_hash(source, entry.sha256),
        probe=_with_viewing_time(source.medium, entry.probe, study.playback),
        served=study.folder.absolute() / "media" / entry.served,
        factors=source.factors,
        served_bytes=entry.served_bytes,
        encoders=entry.encoders,
        layout=entry.layout,
        caption=source.caption,
        known_answer=source.known_answer,
        relations=source.relations,
    )


def _select(
    study: Study, sources: Sequence[StimulusSource], problems: list[Problem], warnings: list[Problem]
) -> tuple[list[StimulusSource], tuple[str, ...], tuple[str, ...]]:
    """Return the sources to use, the conditions in order, and those of them that have to be made.

    Conditions are those that the study lists, or all by code point; anchors that are made and not listed come last.
    """
    listed = [condition.name for condition in study.conditions]
    spelling = {normalised_name(name): name for name in listed}
    sources = [replace(source, condition=spelling.get(source.condition, source.condition)) for source in sources]
    present = sorted({source.condition for source in sources if source.role is None or source.role in RATED})
    medium: Medium = sources[0].medium if sources else "audio"
    recipes = missing_anchor_recipes(
        study, [name for name in present if not listed or name in listed], problems, medium
    )
    if not listed:
        return sources, (*present, *recipes), recipes
    known = {*present, *recipes}
    if sources and len(listed) > 1 and not any(name in known or did_you_mean(name, present) for name in listed):
        what = f"are {first_names(listed, 3)}, and none of them has stimuli"
        fix = f"Write conditions: [{', '.join(present)}], or take the key out."
        problems.append(study.problem("conditions", what, ", ".join(present), fix))
        return sources, tuple(present), recipes
    for place, name in enumerate(listed):
        if name not in present and name not in recipes and sources:
            spare = [other for other in present if other not in listed]
            hint = did_you_mean(name, spare) or did_you_mean(name, present)
            what = f"is {name}, which has no stimuli"
            problems.append(study.problem(f"conditions.{place}", what, ", ".join(present), hint))
    for name in (name for name in present if name not in listed):
        count = sum(source.condition == name for source in sources)
        its = plain_count(count, "stimulus is", "stimuli are")
        warnings.append(Problem(f"condition {name}", f"is not listed in conditions, so its {its} left out"))
    used = [source for source in sources if source.condition in listed or source.role not in (None, *RATED)]
    return used, (*listed, *(name for name in recipes if name not in listed)), recipes


def _with_viewing_time(medium: Medium, probe: Probe, playback: Playback) -> Probe:
    """Return the probe of a stimulus; what stands still lasts as long as it has to be in view."""
    if medium == "image":
        return replace(probe, duration_ms=max(1, round(1000 * playback.look_seconds)))
    if medium == "text":
        return replace(probe, duration_ms=max(1000, round(1000 * probe.words / playback.words_per_second)))
    return probe


def ingest_files(
    sources: Sequence[StimulusSource],
    root: Path,
    media: Path,
    progress: Callable[[int, int], None] | None,
    network: PublicNetwork = _NETWORK,
) -> tuple[list[CachedFile | None], list[Problem]]:
    """Return an entry for each source, from the cache where its file is unchanged, and the problems."""
    cache = _read_cache(media)
    copies = _copy_sizes(media)
    entries: list[CachedFile | None] = [_cached_entry(source, root, media, cache, copies) for source in sources]
    missing = [place for place, entry in enumerate(entries) if entry is None]
    if not missing:
        return entries, []
    media.mkdir(parents=True, exist_ok=True)
    known = {
        (entry.sha256, Path(key).suffix): entry
        for key, entry in cache.items()
        if copies.get(entry.served) == entry.served_bytes
    }
    failures: dict[int, Sequence[Problem]] = {}
    with ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 2)) as pool:
        work: dict[Future[tuple[str, CachedFile]], int] = {
            pool.submit(_ingest, sources[place], root, media, network, known): place for place in missing
        }
        try:
            for done, future in enumerate(as_completed(work), start=1):
                try:
                    key, entry = future.result()
                except StimuliError as error:
                    failures[work[future]] = error.problems
                else:
                    entries[work[future]] = cache[key] = entry
                if progress is not None:
                    progress(done, len(missing))
        finally:
            pool.shutdown(cancel_futures=True)
            _write_cache(media, cache)
    return entries, list(dict.fromkeys(problem for place in sorted(failures) for problem in failures[place]))


def _copy_sizes(media: Path) -> dict[str, int]:
    """Return the finished copies with their sizes; what another process is just writing begins with a dot."""
    if not media.is_dir():
        return {}
    with os.scandir(media) as there:
        return {entry.name: entry.stat().st_size for entry in there if not entry.name.startswith(".")}


def _ingest(
    source: StimulusSource,
    root: Path,
    media: Path,
    network: PublicNetwork,
    known: Mapping[tuple[str, str], CachedFile],
) -> tuple[str, CachedFile]:
    """Return the key of a file and its entry; what is `known` by its hash and suffix was only moved or touched."""
    make_file(source)
    path = source.path or fetch(source.file, media / "cache", source.where, network)
    try:
        state = path.stat()
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise StimuliError(Problem(source.where, f"cannot be opened: {error.strerror or error}")) from error
    same = known.get((sha256, path.suffix))
    if same is not None and served_name(sha256, same.probe, source.medium) == same.served:
        return _cache_key(path, root), replace(same, size=state.st_size, mtime_ns=state.st_mtime_ns)
    measured = measure(path, _location(source), source.medium)
    problem = playback_problem(measured, _location(source), source.medium)
    if problem is not None:
        raise StimuliError(problem)
    served = media / served_name(sha256, measured.probe, source.medium)
    write_copy(path, served, measured, _location(source), source.medium)
    return _cache_key(path, root), CachedFile(
        size=state.st_size,
        mtime_ns=state.st_mtime_ns,
        sha256=sha256,
        probe=measured.probe,
        served=served.name,
        served_bytes=served.stat().st_size,
        encoders=encoders_in(served) if source.medium == "video" else (),
        layout=layout_of(served, measured) if source.medium == "video" else (),
    )


def _local_path(source: StimulusSource, media: Path) -> Path:
    """Return the file of a source that has been taken in."""
    path = source.path or cached_file(source.file, media / "cache")
    assert path is not None
    return path


def _location(source: StimulusSource) -> str:
    """Return the place that problems name: the line of a manifest together with its file."""
    return source.where if source.where == source.file else f"{source.where} {source.file}"


def _cached_entry(
    source: StimulusSource, root: Path, media: Path, cache: Mapping[str, CachedFile], copies: Mapping[str, int]
) -> CachedFile | None:
    path = source.path or cached_file(source.file, media / "cache")
    if path is None:
        return None
    entry = cache.get(_cache_key(path, root))
    if entry is None or copies.get(entry.served) != entry.served_bytes:
        return None
    try:
        state = path.stat()
    except OSError:
        return None
    same = (state.st_size, state.st_mtime_ns) == (entry.size, entry.mtime_ns)
    return entry if same and served_name(entry.sha256, entry.probe, source.medium) == entry.served else None


def _cache_key(path: Path, root: Path) -> str:
    return (
        path.relative_to(os.path.normpath(root)).as_posix()
        if path.is_relative_to(os.path.normpath(root))
        else str(path)
    )


def _read_cache(media: Path) -> dict[str, CachedFile]:
    """Return the entries of catalogue.json; none where it is damaged or of another format."""
    try:
        document: dict[str, Any] = json.loads((media / "catalogue.json").read_text(encoding="utf-8"))
        if document["format"] != _FORMAT:
            return {}
        return {key: _read_entry(row) for key, row in document["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _read_entry(row: dict[str, Any]) -> CachedFile:
    lists = {name: tuple(row[name]) for name in ("encoders", "layout")}
    return CachedFile(**{**row, **lists, "probe": Probe(**row["probe"])})


def _write_cache(media: Path, cache: Mapping[str, CachedFile]) -> None:
    document = {"format": _FORMAT, "files": {key: asdict(cache[key]) for key in sorted(cache)}}
    part = media / f".catalogue.{uuid.uuid4().hex}.part"
    try:
        part.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        put_in_place(part, media / "catalogue.json")
    finally:
        part.unlink(missing_ok=True)
