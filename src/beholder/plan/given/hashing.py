"""A given plan as a hash: a file that changes is another plan."""

from __future__ import annotations

import hashlib

from beholder.study.model import Study


def given_sha256(study: Study) -> str:
    """Return the hash of the study's own plan; nothing where there is no such file, which is told elsewhere."""
    path = study.folder / str(study.design.plan)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
