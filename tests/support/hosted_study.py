"""Tiny studies whose media are in a bucket."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from beholder.methods import find, load_study
from beholder.planning.message_trials import load_stimuli
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from beholder.testing import write_study

COPIES = 4
STIMULI = 16
ALL = COPIES * STIMULI


def hosted_study(folder: Path, like: Path, to: str, **media: Any) -> tuple[Study, Catalogue]:
    """Return a tiny study with few copies of its media at a place, and its stimuli."""
    study = load_study(write_study(folder, like, media={"to": to, "copies": COPIES, **media}))
    return study, load_stimuli(study, find(study.method))
