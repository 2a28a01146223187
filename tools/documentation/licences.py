"""The licences of what is installed with Beholder, from the metadata of the packages."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_TEXTS = {"BSD License": "BSD-3-Clause", "MIT License": "MIT", "Apache Software License": "Apache-2.0"}
"""Names of trove classifiers, by the identifiers of SPDX that packages mean by them."""
_BUILD = {"editables", "hatchling", "pathspec", "pluggy", "tomlkit", "trove-classifiers"}
"""What builds the package: pinned beside the others, and not installed with it."""


def licence_table() -> str:
    """Return every package that is installed with Beholder, with its licence."""
    pins = re.findall(r"^([A-Za-z0-9._-]+)==", (ROOT / "requirements" / "run.txt").read_text("utf-8"), re.MULTILINE)
    rows = [f"| {name} | {licence_of(name)} |" for name in dict.fromkeys(pins) if name not in _BUILD]
    return "\n".join(["| package | licence |", "|---|---|", *rows])


def licence_of(name: str) -> str:
    """Return the licence of an installed package: its expression, else a short name, else its classifiers."""
    found = metadata.metadata(name).json
    written = str(found.get("license_expression") or found.get("license") or "")
    if written and len(written) < 60 and "\n" not in written:
        return written
    words = [one.rpartition(" :: ")[2] for one in found.get("classifier") or () if one.startswith("License ::")]
    return ", ".join(_TEXTS.get(word, word) for word in words) or "unknown"
