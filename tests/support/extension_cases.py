"""Studies of all kinds of designs, to be extended."""

from __future__ import annotations

from typing import Any

from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study, installed_study_model
from support.plans import make_catalogue


def extension_study(method: str = "acr", questions: tuple[str, ...] = ("quality",), **keys: Any) -> Study:
    return installed_study_model().model_validate(
        {
            "beholder": 1, "name": "tiny", "title": "Tiny", "method": method, "stimuli": "stimuli",
            "questions": [{"id": one, "text": "How good?", "scale": SCALE.get(method, "acr5")} for one in questions],
            **keys,
        }
    )  # fmt: skip


SCALE = {"parallel": "cont100", "pair": "pref2", "mushra": "cont100"}


DESIGNS: dict[str, tuple[Study, Catalogue]] = {
    "stimuli": (extension_study(design={"participants": 12, "trials": 6, "seed": 2}), make_catalogue(6, 4)),
    "stimuli once": (
        extension_study(design={"participants": 10, "trials": 5, "contents": "once", "seed": 2}),
        make_catalogue(6, 3),
    ),
    "pages": (
        extension_study(
            "parallel",
            ("quality", "fit"),
            design={
                "participants": 12, "trials": 4, "per_trial": 3, "contents": "once", "always": ["condition0"],
                "breaks": 2,
            },
        ),
        make_catalogue(6, 5),
    ),
    "pairs": (extension_study("pair", design={"participants": 10, "trials": 8, "seed": 4}), make_catalogue(4, 4)),
    "votes": (extension_study(design={"votes": 5, "trials": 6, "seed": 1}), make_catalogue(5, 4)),
    "references": (
        extension_study("acr-hr", design={"participants": 8, "trials": 8}),
        make_catalogue(4, 4, roles={0: "reference"}),
    ),
}  # fmt: skip
