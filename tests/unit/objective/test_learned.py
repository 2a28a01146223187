"""LPIPS, FID and FVD on tiny models: what is pooled, and the libraries as they are called."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import beholder
from beholder.objective.learned import FID, FVD, LPIPS, FrechetInception, frechet_distance
from support.measured_stimuli import film, value, write


def test_the_distance_of_two_clouds_is_that_of_their_normal_distributions() -> None:
    rng = np.random.default_rng(1)
    cloud = rng.normal(size=(400, 3))
    assert frechet_distance(cloud, cloud) == pytest.approx(0, abs=1e-9)
    assert frechet_distance(cloud + np.array([3, 0, 4]), cloud) == pytest.approx(25)
    # Of two of one dimension: the squared differences of their means and of their standard deviations.
    one, other = rng.normal(2, 3, (50, 1)), rng.normal(0, 1, (50, 1))
    expected = (one.mean() - other.mean()) ** 2 + (one.std(ddof=1) - other.std(ddof=1)) ** 2
    assert frechet_distance(one, other) == pytest.approx(expected)


class Tensor:
    """An array with what the adapters ask of a tensor."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> np.ndarray[Any, Any]:
        return self.array


class Inference:
    """What `torch.no_grad` returns."""

    def __enter__(self) -> None: ...
    def __exit__(self, *error: object) -> None: ...


def colours(batch: Tensor) -> np.ndarray[Any, Any]:
    means: np.ndarray[Any, Any] = batch.array.reshape(*batch.array.shape[:2], -1).mean(axis=2)
    return means


class Network:
    """Any of the three networks, as their libraries return it."""

    BLOCK_INDEX_BY_DIM = {2048: 3}  # noqa: RUF012

    def __init__(self, *blocks: object, **how: object) -> None:
        assert blocks in ((), ([3],))
        assert how in ({}, {"net": "alex", "spatial": True, "verbose": False})

    def eval(self) -> Network:
        return self

    def __call__(self, *batches: Tensor, **how: Any) -> Any:
        if how == {"normalize": True}:
            own, other = (batch.array for batch in batches)
            assert 0 <= own.min() <= own.max() <= 1
            return Tensor(abs(own - other).mean(axis=1, keepdims=True))
        if how == {"rescale": True, "resize": True, "return_features": True}:
            assert batches[0].array.shape[:3] == (1, 3, 16)
            return Tensor(colours(batches[0]) / 255)
        assert how == {}
        return [Tensor(colours(batches[0])[:, :, None, None])]


@pytest.fixture
def libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small stand-ins of torch, lpips and pytorch_fid, and a file of an I3D network."""
    (tmp_path / "i3d.pt").write_bytes(b"weights")
    jit = SimpleNamespace(load=lambda path: Network() if Path(path).is_file() else None)
    contents: dict[str, dict[str, Any]] = {
        "torch": {"as_tensor": Tensor, "no_grad": Inference, "jit": jit},
        "lpips": {"LPIPS": Network},
        "pytorch_fid": {},
        "pytorch_fid.inception": {"InceptionV3": Network},
    }
    for name, content in contents.items():
        module = ModuleType(name)
        module.__dict__.update(content, __spec__=SimpleNamespace(name=name), __path__=[])
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setenv("BEHOLDER_FVD_MODEL", str(tmp_path / "i3d.pt"))


@pytest.mark.usefixtures("libraries")
def test_all_three_are_measured_where_their_libraries_are(tmp_path: Path) -> None:
    source = ["-f", "lavfi", "-i", "testsrc2=size=64x64:rate=25", "-frames:v", "33"]
    for condition, crf in (("original", "5"), ("fine", "20"), ("coarse", "48")):
        film(tmp_path / "stimuli" / condition / "city.mp4", *source, "-crf", crf)
    path = write(tmp_path, [{"name": "original", "role": "reference"}, "fine", "coarse"])
    (tmp_path / "regions.csv").write_text("region,x,y,width,height,side\nback,8,8,32,32,outside\n", "utf-8")
    found = beholder.metrics(path, metric=["lpips", "fid", "fvd"], regions=tmp_path / "regions.csv").values
    for region in ("", "back"):
        fine, coarse = (value(found, f"{name}/city", "lpips", region) for name in ("fine", "coarse"))
        assert 0 < fine < coarse
        for metric in ("fid", "fvd"):
            rows = found[(found["metric"] == metric) & (found["region"] == region)].set_index("condition")
            assert list(rows["stimulus"]) == ["", ""], "one value for each condition"
            assert 0 < rows["value"]["fine"] < rows["value"]["coarse"]
    notes = found[found["metric"] == "fvd"]["note"]
    assert notes.str.contains("frames after the last run of 16 are left out").all()


@pytest.mark.usefixtures("libraries")
def test_the_network_of_fvd_is_a_file_that_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert FVD.need() is None
    assert FVD.version().endswith("i3d.pt")
    monkeypatch.setenv("BEHOLDER_FVD_MODEL", str(tmp_path / "gone.pt"))
    need = FVD.need()
    assert need is not None
    assert need.what == f"and BEHOLDER_FVD_MODEL is {tmp_path / 'gone.pt'}, which does not exist"
    monkeypatch.delenv("BEHOLDER_FVD_MODEL")
    need = FVD.need()
    assert need is not None
    assert need.what == "and BEHOLDER_FVD_MODEL is not set"


def test_nothing_is_imported_to_see_what_is_missing() -> None:
    before = set(sys.modules)
    for metric in (LPIPS, FID, FVD, FrechetInception()):
        metric.need()
    assert not {"torch", "lpips", "pytorch_fid"} & (set(sys.modules) - before)
