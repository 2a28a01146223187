"""What strangers need to prove their own parts: conformance suites, shipped with the package."""

from __future__ import annotations

from beholder.testing.checks import check_step
from beholder.testing.methods import check_method
from beholder.testing.recruiters import RECRUITER_CHECKS, Scene, check_recruiter
from beholder.testing.stores import STORE_CHECKS, check_store
from beholder.testing.studies import write_study

__all__ = [
    "RECRUITER_CHECKS", "STORE_CHECKS", "Scene", "check_method", "check_recruiter", "check_step", "check_store",
    "write_study",
]  # fmt: skip
