"""Studies in which some stimuli are for one person: of texts on disk, and in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from beholder.stimuli.catalogue import Catalogue
from support.plans import make_catalogue

PEOPLE = "id,group\nann,lab\nbob,lab\ncarl,\ndora,\neve,\nfred,\n"
OWN = {"face-21": "ann; bob=colleague", "face-22": "bob; ann=colleague"}
CONDITIONS = ("plain", "warm")


def write_bound(folder: Path, own: Mapping[str, str] | None = None, **keys: Any) -> Path:
    """Write a study of texts, six contents for everybody and others for whom `own` says, and return its study.yaml."""
    (folder / "texts").mkdir(parents=True, exist_ok=True)
    rows = ["file,content,condition,for"]
    for content, whose in {**{f"face-{n}": "" for n in range(6)}, **(OWN if own is None else own)}.items():
        for condition in CONDITIONS:
            file = folder / "texts" / f"{condition}-{content}.txt"
            file.write_text(f"The text of {content}, told in the {condition} way.", "utf-8")
            rows.append(f"texts/{file.name},{content},{condition},{whose}")
    (folder / "manifest.csv").write_text("\n".join(rows) + "\n", "utf-8")
    (folder / "people.csv").write_text(PEOPLE, "utf-8")
    study: dict[str, Any] = {
        "beholder": 1, "name": "tiny", "title": "Faces in words", "method": "acr",
        "stimuli": {"manifest": "manifest.csv"},
        "questions": [{"id": "quality", "text": "How natural is it?", "scale": "acr5"}],
        "recruit": {"people": "people.csv"}, "contact": "tiny@example.org", "playback": {"words_per_second": 1000},
    }  # fmt: skip
    design = {"participants": 6, "trials": 4, "seed": 3, **keys.pop("design", {})}
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump({**study, **keys, "design": design}, sort_keys=False), "utf-8")
    return path


def bind_contents(catalogue: Catalogue, whose: Mapping[str, Mapping[str, str]]) -> Catalogue:
    """Return a catalogue whose contents are for these people."""
    return replace(
        catalogue,
        stimuli=tuple(replace(one, relations=dict(whose.get(one.content, {}))) for one in catalogue.stimuli),
    )


def bound_catalogue(contents: int, conditions: int, whose: Mapping[str, Mapping[str, str]]) -> Catalogue:
    """Return a catalogue in memory whose contents are for these people."""
    return bind_contents(make_catalogue(contents, conditions), whose)
