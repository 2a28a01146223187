"""All rules over a session that a study switches on, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beholder.checks.agreement import Agreement
from beholder.checks.attention import Attention
from beholder.checks.consistency import Consistency
from beholder.checks.focus import Focus
from beholder.checks.gold import Gold
from beholder.checks.postscreen import Postscreen
from beholder.checks.quota import Quota
from beholder.checks.ratio import Ratio
from beholder.checks.repeat import Repeat
from beholder.checks.smooth import Smooth
from beholder.checks.speed import Speed
from beholder.checks.trap import Trap
from beholder.checks.trap_item import TrapItem
from beholder.checks.trust import TrialCheck, TrustCheck
from beholder.checks.variance import Variance
from beholder.checks.verdict import Watch
from beholder.study.checks import CHECKS, TrialRule
from beholder.study.model import Study

AnyCheck = TrustCheck[Any]
RULES: Mapping[str, type[AnyCheck]] = {
    check.name: check
    for check in (
        Attention, Trap, Gold, TrapItem, Repeat, Variance, Ratio, Smooth, Focus, Speed, Agreement, Consistency,
        Postscreen, Quota,
    )
}  # fmt: skip


def trust_checks(study: Study, watch: Watch | None = None) -> tuple[AnyCheck, ...]:
    """Return the rules of a study, each with its options; `watch` in place of what the study asks people to watch."""
    found = ((name, study.checks.rule(name)) for name in CHECKS)
    return tuple(RULES[name](rule, watch or study.playback.watch) for name, rule in found if rule is not None)


def at_once(study: Study, watch: Watch | None = None) -> tuple[TrialCheck[Any], ...]:
    """Return the rules that act while somebody is still rating; `watch` as for `trust_checks`."""
    return tuple(
        check
        for check in trust_checks(study, watch)
        if isinstance(check, TrialCheck) and isinstance(check.rule, TrialRule) and check.rule.is_at_once
    )
