"""What strangers need to prove their own parts: conformance suites, shipped with the package."""

from __future__ import annotations

from beholder.testing.checks import check_step
from beholder.testing.methods import check_method
from beholder.testing.stores import STORE_CHECKS, check_store
from beholder.testing.studies import write_study

__all__ = ["STORE_CHECKS", "check_method", "check_step", "check_store", "write_study"]
