"""A study with very many stimuli, made quickly."""

from __future__ import annotations

from pathlib import Path

from beholder.methods import load_study
from beholder.stimuli.ingestion import load_catalogue
from beholder.stimuli.samples import make_samples
from beholder.testing import write_study

NAME = "tiny"
TRIALS = 20


def write_many(folder: Path, *, contents: int = 50, trials: int = TRIALS) -> Path:
    """Write a parallel study of 8 conditions, ingest it, and return its study.yaml. All copies of one tiny clip."""
    conditions = [f"c{number}" for number in range(1, 9)]
    source = folder / "source"
    make_samples(source / "clip", contents=1, conditions=["natural"], seconds=0.4, size=(96, 54))
    clip = next((source / "clip" / "natural").iterdir()).read_bytes()
    (source / "media").mkdir()
    for condition in conditions:
        (source / "stimuli" / condition).mkdir(parents=True)
        for content in range(contents):
            name = f"{condition}-{content}".encode()
            free_box = (8 + len(name)).to_bytes(4, "big") + b"free" + name  # other bytes, the same pictures
            (source / "stimuli" / condition / f"content{content:03}.mp4").write_bytes(clip + free_box)
    design = {"participants": 100, "trials": trials, "per_trial": 8, "seed": 1}
    study = write_study(folder / "study", source, name=NAME, conditions=conditions, design=design)
    load_catalogue(load_study(study))
    return study
