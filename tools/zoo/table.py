"""The tables of the zoo: the verdicts on every kind of robot in every preset, and what blind guessing passes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from beholder.checks.agreement import Agreement
from beholder.checks.answer_patterns import Repeat
from beholder.checks.hidden_reference import Postscreen
from beholder.checks.known_answers import Attention, Gold, Trap, TrapItem
from beholder.checks.registry import rules
from beholder.methods import find
from beholder.study.model import Study
from beholder.study.questions import Scale
from zoo.studies import HONEST, REFUSED

Luck = tuple[float, float]
"""Of one answer, and of a whole session."""


_SLIP = 0.03


_QUARTER = 0.25


def lucks(study: Study) -> dict[str, Luck]:
    """Return the luck at every rule of a study that can be passed by guessing."""
    found: dict[str, Luck] = {}
    scale = next(question.scale for question in find(study.method).questions(study) if not question.ticks)
    values, trials = _count(scale), study.design.trials or 1
    for kind, rule in study.checks.rules():
        name = kind.name
        match rule:
            case Attention.Options() | Trap.Options():
                slip = _SLIP * (scale.max - scale.min) if scale.look == "slider" else 0.0
                near = slip if rule.tolerance is None else rule.tolerance
                found[name] = _session(
                    (2 * math.floor(near / scale.step) + 1) / values, rule.per_session, rule.max_failed
                )
            case Gold.Options():
                # What is as good, or as bad, as it gets stands at an end of the scale.
                near = _QUARTER * (scale.max - scale.min) if rule.tolerance is None else rule.tolerance
                found[name] = _session((math.floor(near / scale.step) + 1) / values, rule.per_session, rule.max_failed)
            case TrapItem.Options():
                # The middle is not wrong.
                right = (values // 2 + values % 2) / values
                found[name] = _session(right, rule.per_trial * trials, rule.max_failed)
            case Repeat.Options():
                near = math.floor(_QUARTER * (scale.max - scale.min) / scale.step)
                alike = sum(abs(one - two) <= near for one in range(values) for two in range(values)) / values**2
                many = rule.items_per_trial * trials + rule.trials
                found[name] = _session(alike, many, max(rule.max_failed, math.floor(rule.share * many + 1e-9)))
            case Postscreen.Options():
                top = (100 - rule.hidden_reference[0] + 1) / values
                found[name] = _session(top, trials, math.floor(rule.hidden_reference[1] * trials))
            case Agreement.Options():
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


CAUGHT, SPARED = 0.95, 0.05
"""The aims: of the kinds that a preset is made for at least, and of honest people at most, is not used."""


@dataclass
class Kind:
    """What came of one kind of robot."""

    name: str
    robots: int = 0
    sessions: int = 0
    unused: int = 0
    unpaid: int = 0
    """Sessions for which not paying is proposed."""
    tried: int = 0
    taken: int = 0
    """Requests that should be refused, and those of them that were not."""
    failed: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)

    @property
    def unused_share(self) -> float:
        return self.unused / self.sessions if self.sessions else 0.0


@dataclass(frozen=True)
class Preset:
    """What came of a preset."""

    says: str
    made_for: tuple[str, ...]
    kinds: tuple[Kind, ...]
    study: Study
    otherwise: Mapping[str, tuple[Kind, ...]] = field(default_factory=dict)
    """The same sessions, judged by other rules."""

    @property
    def checks(self) -> tuple[str, ...]:
        """The rules of the study that somebody failed."""
        return tuple(rule.name for rule in rules() if any(kind.failed[rule.name] for kind in self.kinds))

    @property
    def passed(self) -> tuple[str, ...]:
        """The rules that everybody passed who met them."""
        met = (rule.name for rule in rules() if any(kind.judged[rule.name] for kind in self.kinds))
        return tuple(name for name in met if name not in self.checks)

    def missed(self) -> Iterator[str]:
        """Yield every aim that is missed, in words."""
        for kind in self.kinds:
            share = _percent(kind.unused_share)
            if kind.name in self.made_for and kind.unused_share < CAUGHT:
                yield f"`{kind.name}`: {share} caught, under {_percent(CAUGHT)}"
            if kind.name in HONEST and kind.unused_share > SPARED:
                yield f"`{kind.name}`: {share} not used, over {_percent(SPARED)}"
            if kind.name in HONEST and kind.unpaid:
                yield f"`{kind.name}`: {kind.unpaid} of {kind.sessions} would lose their pay"
            if kind.taken:
                yield f"`{kind.name}`: {kind.taken} of {kind.tried} requests were taken that should be refused"


def block(presets: Sequence[Preset], date: str, sessions: int, seed: int) -> str:
    """Return the part of the page that the zoo writes."""
    error = 100 * 1.96 * math.sqrt(0.05 * 0.95 / sessions)
    few = min((kind.robots for preset in presets for kind in preset.kinds if kind.name in REFUSED), default=0)
    lines = [
        f"Run of {date}: {sessions} sessions of each kind in each preset, {few} of those that the server refuses, seed"
        f" {seed}. A share near 5 % or 95 % is known to within {error:.1f} points (95 %, binomial).",
    ]
    for preset in presets:
        lines += ["", f"**{preset.says}**", "", *_table(preset), "", *_aims(preset)]
        if preset.otherwise:
            lines += ["", "The same sessions, judged by other rules; shares that are not used:", "", *_judged(preset)]
    return "\n".join([*lines, "", *_refused(presets)])


def _table(preset: Preset) -> Iterator[str]:
    checks = preset.checks
    yield _row("kind", "not used", "pay in question", *(f"`{check}`" for check in checks))
    yield _row(*["---"] * (3 + len(checks)))
    for kind in preset.kinds:
        if kind.name not in REFUSED:
            name = f"**`{kind.name}`**" if kind.name in preset.made_for else f"`{kind.name}`"
            failed = (_share(kind.failed[check], kind.sessions) for check in checks)
            yield _row(name, _share(kind.unused, kind.sessions), _share(kind.unpaid, kind.sessions), *failed)
    luck = lucks(preset.study)
    for place, words in enumerate(("*luck, once*", "*luck, over a session*")):
        cells = (luck[check][place] if check in luck else None for check in checks)
        yield _row(words, "", "", *("" if one is None else _percent(one) for one in cells))


def _judged(preset: Preset) -> Iterator[str]:
    """Yield the table of what other rules would make of the same sessions."""
    yield _row("kind", "as above", *preset.otherwise)
    yield _row(*["---"] * (2 + len(preset.otherwise)))
    for place, kind in enumerate(preset.kinds):
        if kind.name not in REFUSED:
            others = (kinds[place] for kinds in preset.otherwise.values())
            yield _row(f"`{kind.name}`", *(_share(one.unused, one.sessions) for one in (kind, *others)))


def _aims(preset: Preset) -> Iterator[str]:
    missed = list(preset.missed())
    passed = f" Failed by nobody: {', '.join(f'`{name}`' for name in preset.passed)}." if preset.passed else ""
    yield ("All aims are met." if not missed else f"Missed: {'; '.join(missed)}.") + passed


def _refused(presets: Sequence[Preset]) -> Iterator[str]:
    """Yield the table of what the server refuses, whatever the preset."""
    yield _row("kind", "sessions", "requests that should be refused", "taken")
    yield _row("---", "---", "---", "---")
    for name in REFUSED:
        kinds = [kind for preset in presets for kind in preset.kinds if kind.name == name]
        tried, taken = sum(kind.tried for kind in kinds), sum(kind.taken for kind in kinds)
        yield _row(f"`{name}`", str(sum(kind.robots for kind in kinds)), str(tried), str(taken))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _share(part: int, whole: int) -> str:
    return _percent(part / whole) if part and whole else ""


def _percent(share: float) -> str:
    """Return a share with as many digits as it has: never 0 % or 100 % for what is neither."""
    if share in (0, 1) or 0.1 <= share <= 0.9:
        return f"{100 * share:.0f} %"
    if share < 0.001:
        return "under 0.1 %"
    return f"{100 * share:.1f} %" if share <= 0.999 else "over 99.9 %"
