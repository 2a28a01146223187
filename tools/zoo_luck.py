"""How far blind luck gets somebody: what passes who clicks anywhere, each answer as likely as any other."""

from __future__ import annotations

import math

from beholder.methods import find
from beholder.study.checks import Agreement, Attention, Gold, Postscreen, Repeat, Trap, TrapItem
from beholder.study.model import Study
from beholder.study.questions import Scale

Luck = tuple[float, float]
"""Of one answer, and of a whole session."""
_SLIP = 0.03
_QUARTER = 0.25


def lucks(study: Study) -> dict[str, Luck]:
    """Return the luck at every rule of a study that can be passed by guessing."""
    found: dict[str, Luck] = {}
    scale = next(question.scale for question in find(study.method).questions(study) if not question.ticks)
    values, trials = _count(scale), study.design.trials or 1
    for name in ("attention", "trap", "gold", "trap_item", "repeat", "agreement", "postscreen"):
        rule = study.checks.rule(name)
        match rule:
            case Attention() | Trap():
                slip = _SLIP * (scale.max - scale.min) if scale.look == "slider" else 0.0
                near = slip if rule.tolerance is None else rule.tolerance
                found[name] = _session(
                    (2 * math.floor(near / scale.step) + 1) / values, rule.per_session, rule.max_failed
                )
            case Gold():
                # What is as good, or as bad, as it gets stands at an end of the scale.
                near = _QUARTER * (scale.max - scale.min) if rule.tolerance is None else rule.tolerance
                found[name] = _session((math.floor(near / scale.step) + 1) / values, rule.per_session, rule.max_failed)
            case TrapItem():
                # The middle is not wrong.
                right = (values // 2 + values % 2) / values
                found[name] = _session(right, rule.per_trial * trials, rule.max_failed)
            case Repeat():
                near = math.floor(_QUARTER * (scale.max - scale.min) / scale.step)
                alike = sum(abs(one - two) <= near for one in range(values) for two in range(values)) / values**2
                many = rule.items_per_trial * trials + rule.trials
                found[name] = _session(alike, many, max(rule.max_failed, math.floor(rule.share * many + 1e-9)))
            case Postscreen():
                top = (100 - rule.hidden_reference[0] + 1) / values
                found[name] = _session(top, trials, math.floor(rule.hidden_reference[1] * trials))
            case Agreement():
                shown = trials * (study.design.per_trial or len(study.conditions) or 1 if study.method != "acr" else 1)
                found[name] = (0.5, _normal_above(rule.min * math.sqrt(max(1, shown - 1))))
    return found


def _session(once: float, many: int, allowed: int) -> Luck:
    """Return the luck of one answer, and that no more than some of many are wrong."""
    wrong = 1 - once
    passed = sum(math.comb(many, k) * wrong**k * once ** (many - k) for k in range(min(allowed, many) + 1))
    return once, passed


def _count(scale: Scale) -> int:
    return round((scale.max - scale.min) / scale.step) + 1


def _normal_above(z: float) -> float:
    return math.erfc(z / math.sqrt(2)) / 2
