"""Whether `clean` fits the rest of a study: told from the values as they were read, with everything else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from beholder.errors import did_you_mean
from beholder.study.checks import CHECKS, PLACED
from beholder.study.fault import Fault
from beholder.study.kind import listed
from beholder.study.reader import shown

WATCHED = "watched"
"""The rule that everything was watched as asked: of every study, and without options."""


def cleaning_faults(data: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what does not fit, by places from the top of the study."""
    clean, checks = _map(data.get("clean")), _map(data.get("checks"))
    use, accept = _map(clean.get("use")), _map(clean.get("accept"))
    for part, rules in (("accept", accept), ("use", use)):
        for name in rules:
            if name in PLACED and rules[name] not in (None, False) and not checks.get(name):
                what = f"judges by what nobody meets: checks.{name} is off"
                fix = f"Switch checks.{name} on before people come, or take this out."
                yield Fault(what, "rules that the study has", fix, ("clean", part, name))
    for name in accept:
        allowed, refused = _failures(use, checks, name), _map(accept[name]).get("max_failed")
        if isinstance(refused, int) and isinstance(allowed, int) and refused < allowed:
            what = f"is {refused}, below the {allowed} with which a session is used"
            yield Fault(what, f"{allowed} or more", "Who is used is paid.", ("clean", "accept", name, "max_failed"))
    yield from _without(clean.get("without"), use, checks)


def _failures(use: Mapping[str, Any], checks: Mapping[str, Any], name: str) -> Any:
    """Return how many failures a session may have that is used."""
    own = _map(use.get(name)).get("max_failed")
    return _map(checks.get(name)).get("max_failed", 0) if own is None else own


def _without(written: Any, use: Mapping[str, Any], checks: Mapping[str, Any]) -> Iterator[Fault]:
    known = (*CHECKS, WATCHED)
    for index, name in enumerate(written if isinstance(written, list) else ()):
        place = ("clean", "without", index)
        if not isinstance(name, str):
            continue
        if name not in known:
            yield Fault(f"is {shown(name)}, which is not a rule", listed(known), did_you_mean(name, known), place)
        elif use.get(name) not in (None, False):
            yield Fault(f"is {name}, and clean.use.{name} is written", "one of the two", "Take one out.", place)
        elif name in PLACED and not checks.get(name):
            on = [one for one in known if one not in PLACED or checks.get(one)]
            yield Fault(f"is {name}, which this study does not have", listed(on), "Take it out.", place)


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
