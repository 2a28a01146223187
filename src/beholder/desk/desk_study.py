"""The studies on a desk: each with its key in addresses, its folder, and its store, open for reading."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from beholder.desk.documents.study_facts import StudyFacts
from beholder.errors import Problem, StoreError, UserError
from beholder.methods import find, load_study
from beholder.planning.message_trials import load_stimuli
from beholder.recruiting.context import RecruitContext, open_context
from beholder.stimuli.catalogue import Stimulus
from beholder.store.open import folder_of, is_postgresql
from beholder.study.model import Study


@dataclass(frozen=True)
class DeskStudy:
    """One study of a desk, with its store open: what every document is made of."""

    key: str
    """Its name in addresses."""
    identity: str
    """What credentials are for: a digest of where the study is."""
    context: RecruitContext
    """The study as it was served, its store, its recruiter and the clock."""

    @property
    def study(self) -> Study:
        """The study."""
        return self.context.study

    @property
    def folder(self) -> Path:
        """The folder of the study."""
        return self.context.study.folder

    @cached_property
    def facts(self) -> StudyFacts:
        """What its store holds, judged, and read again when it has changed."""
        return StudyFacts(self.context)

    def media_address(self, stimulus: str) -> str:
        """Return the address on this desk of a stimulus by its id: it tells neither file nor condition."""
        return f"/api/studies/{self.key}/media/{self._media_token(stimulus)}"

    def stimulus_of(self, token: str, stimuli: Iterable[Stimulus]) -> Stimulus | None:
        """Return the stimulus that an address is about; None where there is none."""
        asked = token.encode("utf-8", "replace")
        return next((one for one in stimuli if hmac.compare_digest(self._media_token(one.id).encode(), asked)), None)

    def _media_token(self, stimulus: str) -> str:
        digest = hmac.new(self.context.store.secret, f"desk media {stimulus}".encode(), hashlib.sha256)
        return digest.hexdigest()[:32]


@dataclass(frozen=True)
class StudyPlace:
    """Where a study of a desk is: its file, and its store if that is not beside it."""

    key: str
    identity: str
    file: Path
    store: str | None = None


def study_places(paths: Sequence[str | Path], store: str | None = None) -> tuple[StudyPlace, ...]:
    """Return where these studies are, with a key each; raises UserError with everything that is wrong.

    A path is a study file, its folder, or a folder of such folders.
    """
    problems: list[Problem] = []
    files = list(dict.fromkeys(file for path in paths for file in _study_files(Path(path), problems)))
    if store is not None and len(files) > 1:
        problems.append(Problem("--store", "is one store, for several studies", "one study with --store"))
    if problems:
        raise UserError(problems)
    names: dict[str, int] = {}
    places = []
    for file in files:
        name = load_study(file).name
        names[name] = names.get(name, 0) + 1
        key = name if names[name] == 1 else f"{name}-{names[name]}"
        where = f"{file}\0{store or ''}"
        places.append(StudyPlace(key, hashlib.sha256(where.encode()).hexdigest()[:24], file, store))
    return tuple(places)


def _study_files(path: Path, problems: list[Problem]) -> list[Path]:
    path = path.resolve()
    if path.is_file():
        return [path]
    if (path / "study.yaml").is_file():
        return [path / "study.yaml"]
    below = sorted(path.glob("*/study.yaml")) if path.is_dir() else []
    if not below:
        fix = "Name the folder of a study, or a folder of such folders."
        problems.append(Problem(str(path), "holds no study.yaml", "a study file, or a folder with one", fix))
    return below


class OpenStudies:
    """The studies of a desk by their keys; each is opened when it is first looked at, and anew when it has changed."""

    def __init__(self, places: Iterable[StudyPlace]) -> None:
        self.places = {place.key: place for place in places}
        self._open: dict[str, tuple[object, AsyncExitStack, DeskStudy]] = {}
        self._locks = {key: asyncio.Lock() for key in self.places}
        self._retired: list[AsyncExitStack] = []
        self._catalogues: dict[str, tuple[object, tuple[Stimulus, ...]]] = {}

    async def find(self, key: str) -> DeskStudy | None:
        """Return an open study by its key; None where the desk has no such study."""
        place = self.places.get(key)
        if place is None:
            return None
        async with self._locks[key]:
            state = await asyncio.to_thread(state_of, place)
            known = self._open.get(key)
            if known is not None and known[0] == state:
                return known[2]
            stack = AsyncExitStack()
            try:
                study = await asyncio.to_thread(load_study, place.file)
                context = await stack.enter_async_context(open_context(study, place.store, may_be_new=True))
            except BaseException:
                await stack.aclose()
                raise
            opened = DeskStudy(key, place.identity, context)
            if known is not None:  # somebody may still read from it
                self._retired.append(known[1])
            self._open[key] = (state, stack, opened)
            return opened

    async def stimuli(self, study: DeskStudy) -> tuple[Stimulus, ...]:
        """Return the stimuli of a study, which are looked at once for each state of its file."""
        known = self._catalogues.get(study.key)
        if known is None or known[0] is not study:
            catalogue = await asyncio.to_thread(load_stimuli, study.study, find(study.study.method), None)
            known = self._catalogues[study.key] = (study, tuple(catalogue.stimuli))
        return known[1]

    async def close(self) -> None:
        """Close every store."""
        for stack in (*self._retired, *(stack for _, stack, _ in self._open.values())):
            await stack.aclose()
        self._retired.clear()
        self._open.clear()


def state_of(place: StudyPlace) -> object:
    """Return what changes when a study has to be opened anew: its file was written, or its store appeared."""
    try:
        stat = place.file.stat()
        file: object = (stat.st_mtime_ns, stat.st_size)
    except OSError:
        file = None
    url = place.store or str(place.file.parent / "store")
    if is_postgresql(url):
        return file, True
    try:
        return file, folder_of(url).exists()
    except StoreError:
        return file, False
