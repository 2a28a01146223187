"""Every rule over sessions keeps the contract."""

from __future__ import annotations

import pytest

from beholder.checks.registry import rules
from beholder.testing import check_rule


@pytest.mark.parametrize("name", [rule.name for rule in rules()])
def test_every_rule_keeps_the_contract(name: str) -> None:
    check_rule(name)
