"""The licences of what is installed with Beholder, from the metadata of the packages."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
_TEXTS = {"BSD License": "BSD-3-Clause", "MIT License": "MIT", "Apache Software License": "Apache-2.0"}
"""Names of trove classifiers, by the identifiers of SPDX that packages mean by them."""
_LINUX = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"}
_BUILD = {"editables", "hatchling", "pathspec", "pluggy", "tomlkit", "trove-classifiers"}
"""What builds the package: pinned beside the others, and not installed with it."""


def licence_table() -> str:
    """Return every package that is installed with Beholder, with its licence."""
    lines = re.findall(
        r"^[A-Za-z0-9._-]+==[^\\\n]+", (ROOT / "requirements" / "run.txt").read_text("utf-8"), re.MULTILINE
    )
    # On Linux, wherever the page is made: what another system needs beside cannot be asked here.
    pins = [pin for pin in map(Requirement, lines) if pin.marker is None or pin.marker.evaluate(_LINUX)]
    rows = [
        f"| {name} | {licence_of(name)} |" for name in dict.fromkeys(pin.name for pin in pins) if name not in _BUILD
    ]
    return "\n".join(["| package | licence |", "|---|---|", *rows])


def licence_of(name: str) -> str:
    """Return the licence of a package: its expression, a short name, its classifiers, else the title of its file."""
    found = metadata.metadata(name).json
    written = str(found.get("license_expression") or found.get("license") or "")
    if written and len(written) < 60 and "\n" not in written:
        return written
    words = [one.rpartition(" :: ")[2] for one in found.get("classifier") or () if one.startswith("License ::")]
    return ", ".join(_TEXTS.get(word, word) for word in words) or _title_of_file(name)


def _title_of_file(name: str) -> str:
    """Return the licence by the first line of its file; unknown where there is none."""
    files = [file for file in metadata.files(name) or () if file.name.upper().startswith("LICEN")]
    first = files[0].read_text("utf-8").splitlines()[0].strip() if files else ""
    return _TEXTS.get(re.sub(r"^The | \(.*\)$", "", first), first) or "unknown"
