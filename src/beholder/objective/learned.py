"""LPIPS, FID and FVD: metrics of neural networks, where their libraries and weights are installed.

Nothing of them is imported before it is measured. Each adapter asks one function of a library for numbers, and all
arithmetic round it is ours: pooling over frames and pixels, and the distance of two clouds of features.
"""

from __future__ import annotations

import math
import os
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from beholder.objective.contract import (
    ComparedPair,
    ConditionMetric,
    FramePair,
    Need,
    PairMetric,
    Picture,
    mean_over_frames,
)

Floats: TypeAlias = NDArray[np.float32]
"""Pictures as (n, colour, lines, columns) from 0 to 1; clips as (n, colour, frames, lines, columns) from 0 to 255."""
DistanceMap: TypeAlias = Callable[[Floats, Floats], NDArray[Any]]
"""From two batches of pictures to the distance at each pixel: (n, 1, lines, columns)."""
Features: TypeAlias = Callable[[Floats], NDArray[Any]]
"""From a batch to a row of features for each."""
Loaded = TypeVar("Loaded")
_BATCH = 16
_OTHERWISE = "or bring the values with --values."


def _missing(packages: Sequence[str], extra: str) -> Need | None:
    """Return which packages are not installed, without importing them."""
    lost = [name for name in packages if not _is_installed(name)]
    if not lost:
        return None
    return Need(f"which needs {' and '.join(lost)}", f"Install it with `pip install 'beholder[{extra}]'`, {_OTHERWISE}")


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ValueError:  # a module that was taken out of use
        return False


def _version(*packages: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    words = []
    for package in packages:
        try:
            words.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            words.append(package)
    return ", ".join(words)


class _Model(Generic[Loaded]):
    """A network that is loaded once, when it is first asked for, and used by one thread at a time."""

    def __init__(self, load: Callable[[], Loaded]) -> None:
        self._load, self._lock = load, threading.Lock()
        self._loaded: Loaded | None = None

    def run(self, use: Callable[[Loaded], NDArray[Any]]) -> NDArray[np.float64]:
        """Return what is made of the network, as numbers of double precision."""
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return np.asarray(use(self._loaded), dtype=np.float64)


# LPIPS


class PerceptualSimilarity(PairMetric):
    """LPIPS (AlexNet, version 0.1), mean over frames; of a mask the mean of its map over the pixels that count."""

    name, title = "lpips", "LPIPS"
    smallest, lower_is_better, order = 64, True, 31
    citation = "Zhang, Isola, Efros, Shechtman and Wang (2018), CVPR"

    def __init__(self, load: Callable[[], DistanceMap] | None = None) -> None:
        self._is_ours = load is None
        self._model = _Model(load or _load_lpips)

    def need(self) -> Need | None:
        return _missing(("lpips", "torch"), "lpips") if self._is_ours else None

    def version(self) -> str:
        return _version("lpips", "torch") if self._is_ours else "stand-in"

    def measure(self, pair: ComparedPair) -> float:
        return mean_over_frames([self._frame(frame) for frame in pair.frames()])

    def _frame(self, frame: FramePair) -> float:
        own, reference = (_batch([picture]) for picture in (frame.own, frame.reference))
        apart = self._model.run(lambda model: model(own, reference))[0, 0]
        return float(apart.mean() if frame.picked is None else apart[frame.picked].mean())


def _load_lpips() -> DistanceMap:
    import lpips
    import torch

    model = lpips.LPIPS(net="alex", spatial=True, verbose=False).eval()

    def distance(own: Floats, reference: Floats) -> NDArray[Any]:
        with torch.no_grad():
            found: NDArray[Any] = model(torch.as_tensor(own), torch.as_tensor(reference), normalize=True).cpu().numpy()
        return found

    return distance


# FID and FVD: how far two clouds of features are from each other


class FrechetMetric(ConditionMetric):
    """The Fréchet distance of two clouds of features, each taken as a normal distribution."""

    lower_is_better = True

    def __init__(self, load: Callable[[], Features]) -> None:
        self._model = _Model(load)

    @abstractmethod
    def batches(self, pairs: Sequence[ComparedPair]) -> Iterator[tuple[Floats, Floats]]:
        """Yield what features are taken of: of the stimuli, and of their references."""

    def measure(self, pairs: Sequence[ComparedPair]) -> float:
        own, reference = [], []
        for one, other in self.batches(pairs):
            own.append(self._features(one))
            reference.append(self._features(other))
        if not own:
            return math.nan
        clouds = np.concatenate(own), np.concatenate(reference)
        n, dimensions = clouds[0].shape
        if n < 2:
            pairs[0].note("one sample has no spread")
            return math.nan
        if n <= dimensions:
            pairs[0].note(f"{n:,} samples of {dimensions:,} features: too few for its absolute size")
        return frechet_distance(*clouds)

    def _features(self, batch: Floats) -> NDArray[np.float64]:
        return self._model.run(lambda model: model(batch)).reshape(len(batch), -1)


def frechet_distance(own: NDArray[np.float64], reference: NDArray[np.float64]) -> float:
    """Return the squared Fréchet distance of two normal distributions that have the moments of two clouds."""
    apart = own.mean(axis=0) - reference.mean(axis=0)
    one, other = (np.atleast_2d(np.cov(cloud, rowvar=False)) for cloud in (own, reference))
    # The trace of the root of a product is that of the roots of its eigenvalues, which are not below zero.
    roots = np.sqrt(np.clip(np.linalg.eigvals(one @ other).real, 0, None)).sum()
    return float(max(0.0, apart @ apart + np.trace(one) + np.trace(other) - 2 * roots))


class FrechetInception(FrechetMetric):
    """FID over all frames of a condition, by the network of pytorch-fid."""

    name, title = "fid", "FID"
    smallest, order = 32, 32
    citation = "Heusel, Ramsauer, Unterthiner, Nessler and Hochreiter (2017), NeurIPS"

    def __init__(self, load: Callable[[], Features] | None = None) -> None:
        self._is_ours = load is None
        super().__init__(load or _load_inception)

    def need(self) -> Need | None:
        return _missing(("pytorch_fid", "torch"), "fid") if self._is_ours else None

    def version(self) -> str:
        return _version("pytorch-fid", "torch") if self._is_ours else "stand-in"

    def batches(self, pairs: Sequence[ComparedPair]) -> Iterator[tuple[Floats, Floats]]:
        for pair in pairs:
            for frames in _grouped(pair.frames(), _BATCH):
                yield _batch([one for one, _ in frames]), _batch([other for _, other in frames])


def _load_inception() -> Features:
    import torch
    from pytorch_fid.inception import InceptionV3

    model = InceptionV3([InceptionV3.BLOCK_INDEX_BY_DIM[2048]]).eval()

    def features(batch: Floats) -> NDArray[Any]:
        with torch.no_grad():
            found: NDArray[Any] = model(torch.as_tensor(batch))[0].cpu().numpy()
        return found

    return features


FVD_MODEL = "BEHOLDER_FVD_MODEL"
"""The variable of the environment that names the I3D network as a file of TorchScript."""
CLIP = 16
"""Frames of a clip, as most papers have it."""


class FrechetVideo(FrechetMetric):
    """FVD over all runs of 16 frames of a condition, by an I3D network in a file of TorchScript."""

    name, title = "fvd", "FVD"
    smallest, order = 32, 33
    citation = "Unterthiner, van Steenkiste, Kurach, Marinier, Michalski and Gelly (2018), arXiv 1812.01717"

    def __init__(self, load: Callable[[], Features] | None = None) -> None:
        self._is_ours = load is None
        super().__init__(load or _load_i3d)

    def need(self) -> Need | None:
        if not self._is_ours:
            return None
        if (lost := _missing(("torch",), "fvd")) is not None:
            return lost
        path = os.environ.get(FVD_MODEL, "")
        if path and Path(path).is_file():
            return None
        what = f"and {FVD_MODEL} is {path}, which does not exist" if path else f"and {FVD_MODEL} is not set"
        return Need(what, f"Set it to the file of an I3D network in TorchScript, {_OTHERWISE}")

    def version(self) -> str:
        return f"{_version('torch')}, {Path(os.environ.get(FVD_MODEL, '')).name}" if self._is_ours else "stand-in"

    def batches(self, pairs: Sequence[ComparedPair]) -> Iterator[tuple[Floats, Floats]]:
        for pair in pairs:
            for frames in _grouped(pair.frames(), CLIP):
                if len(frames) < CLIP:
                    pair.note(f"frames after the last run of {CLIP} are left out")
                    continue
                yield _clip([one for one, _ in frames]), _clip([other for _, other in frames])


def _load_i3d() -> Features:
    import torch

    model = torch.jit.load(os.environ[FVD_MODEL]).eval()

    def features(batch: Floats) -> NDArray[Any]:
        with torch.no_grad():
            found = model(torch.as_tensor(batch), rescale=True, resize=True, return_features=True)
        numbers: NDArray[Any] = found.cpu().numpy()
        return numbers

    return features


# Frames as networks take them


def _grouped(frames: Iterator[FramePair], size: int) -> Iterator[list[tuple[Picture, Picture]]]:
    """Yield frames in groups; what does not count is the same grey in both."""
    group: list[tuple[Picture, Picture]] = []
    for frame in frames:
        group.append(frame.filled())
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


def _batch(pictures: Sequence[Picture]) -> Floats:
    return np.ascontiguousarray(np.stack(pictures).transpose(0, 3, 1, 2), dtype=np.float32) / np.float32(255)


def _clip(pictures: Sequence[Picture]) -> Floats:
    return np.ascontiguousarray(np.stack(pictures).transpose(3, 0, 1, 2)[None], dtype=np.float32)


LPIPS = PerceptualSimilarity()
FID = FrechetInception()
FVD = FrechetVideo()
