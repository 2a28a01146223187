"""Contents whose anchors fool many people: nobody is judged by them (ITU-R BS.1534; reference: statistics 4.1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from beholder.checks.postscreen import Page, Postscreen, fooled
from beholder.checks.verdict import Check
from beholder.clean.sessions import Judged

_FEWEST = 2
"""One person alone spares nobody, however few there are."""


def spared(judged: Iterable[Judged], rules: Sequence[Check]) -> frozenset[Page]:
    """Return the contents and questions with anchors that more people than allowed rated as high as a reference."""
    rule = next((rule.rule for rule in rules if isinstance(rule, Postscreen)), None)
    if rule is None:
        return frozenset()
    people: dict[Page, dict[str, bool]] = defaultdict(dict)
    for one in judged:
        for page, is_fooled in fooled(rule, one.evidence).items():
            people[page].setdefault(one.visit.participant, is_fooled)
    return frozenset(
        page
        for page, said in people.items()
        if (count := sum(said.values())) >= _FEWEST and count > rule.spare * len(said)
    )
