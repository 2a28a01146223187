"""The rule automation: which signs fail a session, which are only noted, and who is spared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from beholder.checks.automation import SIGNS, Automation, delays_on, rhythm, same_rhythms
from beholder.checks.contract import ComparedSession, OperatedPage, SessionEvidence, Verdict
from beholder.checks.registry import rule_sentence, study_rules
from beholder.testing import check_rule
from support.method_studies import make_study

RULE = Automation(Automation.Options())


def judge(*pages: OperatedPage, rule: Automation = RULE, **keys: Any) -> Verdict:
    return rule.judge(SessionEvidence("completed", "whole", pages=pages, **keys))


def trials(presses: Iterable[Sequence[Mapping[str, Any]]]) -> tuple[OperatedPage, ...]:
    return tuple(OperatedPage(f"trial:{place}", one) for place, one in enumerate(presses, 1))


def person(seed: int, by: str = "mouse", pages: int = 8) -> tuple[OperatedPage, ...]:
    """Return pages with two presses each, at the times of people."""
    rng = np.random.default_rng(seed)
    pressed = []
    for _ in range(pages):
        first, second = rng.lognormal(np.log(1500), 0.45), rng.lognormal(np.log(600), 0.3)
        how: dict[str, Any] = {"by": by}
        if by == "mouse":
            how |= {"moves": int(rng.integers(8, 60)), "gone": 200, "off": int(rng.integers(2, 12))}
        if by == "key":
            how["held"] = round(rng.lognormal(np.log(90), 0.25))
        pressed.append([{"ms": round(first), **how}, {"ms": round(first + second), **how}])
    return trials(pressed)


def jumping(ms: Iterable[Sequence[float]]) -> tuple[OperatedPage, ...]:
    """Return pages on which a pointer jumps to the middle of controls at these times."""
    return trials([[{"ms": at, "by": "mouse", "moves": 1, "gone": 300, "off": 0} for at in page] for page in ms])


def test_the_rule_keeps_the_contract() -> None:
    check_rule("automation")


@pytest.mark.parametrize("by", ["mouse", "touch", "pen", "key", "none"])
def test_people_pass_however_they_operate_a_page(by: str) -> None:
    verdict = judge(*person(1, by))
    assert (verdict.verdict, verdict.measured, verdict.evidence) == ("pass", [], {"presses": 16})


def test_what_no_page_told_is_unknown() -> None:
    assert judge()[2:4] == ("unknown", "no_evidence")
    assert judge(OperatedPage("trial:1"))[2:4] == ("unknown", "no_evidence")


def test_a_browser_that_says_that_it_is_driven_fails_alone() -> None:
    verdict = judge(OperatedPage("text:1", driver=("webdriver",)), *person(1))
    assert (verdict.verdict, verdict.reason, verdict.measured) == ("fail", "driver", ["driver"])
    assert verdict.evidence["driver"] == {"marks": ["webdriver"]}
    spared = Automation(Automation.Options(ignore=("driver",)))
    assert judge(OperatedPage("text:1", driver=("webdriver",)), *person(1), rule=spared).verdict == "pass"


def test_a_control_that_nobody_can_meet_fails_alone() -> None:
    verdict = judge(*person(1), OperatedPage("trial:9", [{"ms": 5, "by": "none", "decoy": True}]))
    assert (verdict.verdict, verdict.reason) == ("fail", "decoy")
    assert verdict.evidence["decoy"] == {"presses": 1}


@pytest.mark.parametrize(
    ("sign", "pages", "numbers"),
    [
        ("pointer", jumping([[700, 1500], [2100, 2600], [900, 3100], [1300, 2200]]), {"jumps": 1.0, "centred": 1.0}),
        ("untrusted", trials([[{"ms": 900, "by": "none", "trusted": False}]]), {"presses": 1}),
        ("keys", trials([[{"ms": 1000 * n * n, "by": "key", "held": 2}] for n in range(1, 10)]), {"brief": 1.0}),
        ("times", trials([[{"ms": 1000 + n, "by": "touch"}] for n in range(12)]), {"spread": 0.003}),
        ("times", trials([[{"ms": 40 * n, "by": "none"} for n in range(9)]]), {"fast": 1.0}),
        ("focus", trials([[{"ms": 900 * n * n, "by": "touch", "away": True} for n in range(4)]]), {"presses": 4}),
        ("paste", trials([[{"ms": 900, "by": "paste", "letters": 60}]]), {"texts": 1}),
    ],
)
def test_a_weaker_sign_is_noted_and_fails_nobody_alone(
    sign: str, pages: tuple[OperatedPage, ...], numbers: Mapping[str, float]
) -> None:
    verdict = judge(*pages)
    assert (verdict.verdict, verdict.measured) == ("pass", [sign])
    assert verdict.evidence[sign] == numbers
    strict = Automation(Automation.Options(least=1))
    assert judge(*pages, rule=strict)[2:4] == ("fail", "several")


def test_two_kinds_of_weaker_signs_fail_together() -> None:
    verdict = judge(*jumping([[1000, 2000]] * 8))
    assert (verdict.verdict, verdict.reason, verdict.measured) == ("fail", "several", ["pointer", "times"])


def test_a_short_word_that_is_pasted_is_no_sign() -> None:
    assert judge(*trials([[{"ms": 900, "by": "paste", "letters": 9}]])).measured == []


def test_few_presses_are_no_habit() -> None:
    assert judge(*jumping([[700, 1900], [2500, 2900]])).measured == []
    assert judge(*trials([[{"ms": 1000, "by": "key", "held": 1}] for _ in range(3)])).measured == []


def test_a_delay_counts_from_the_end_of_a_stimulus_and_from_where_a_key_went_down() -> None:
    played = [{"ms": 500, "by": "mouse", "gone": 80}, {"ms": 5400, "by": "key", "held": 100}, {"ms": 5700, "by": "key"}]
    delays = delays_on(OperatedPage("trial:1", played, ends_ms=(4500,)))
    assert [(one.ms, one.is_next) for one in delays] == [(500, False), (800, False), (300, True)]


def compared(pages: Sequence[tuple[OperatedPage, ...]], people: Sequence[str]) -> list[ComparedSession]:
    return [
        ComparedSession(name, SessionEvidence("completed", "whole", pages=one), ())
        for name, one in zip(people, pages, strict=True)
    ]


def nudged(pages: tuple[OperatedPage, ...]) -> tuple[OperatedPage, ...]:
    """Return the same presses a few milliseconds later or earlier, as another run of a program has them."""
    return tuple(
        page._replace(presses=[{**press, "ms": press["ms"] + 7 * (-1) ** n} for n, press in enumerate(page.presses)])
        for page in pages
    )


def test_the_same_rhythm_in_sessions_of_two_people_fails_both() -> None:
    sessions = compared([person(1), nudged(person(1)), person(2)], ["ada", "bob", "eve"])
    known = RULE.prepare(sessions)
    assert known is not None
    verdicts = [RULE.judge(evidence) for evidence in known]
    assert [one.reason for one in verdicts] == ["identical", "identical", ""]
    assert verdicts[0].evidence["identical"] == {"sessions": 1, "presses": 16, "same": 1.0}


def test_the_same_person_twice_and_other_people_are_no_twins() -> None:
    assert RULE.prepare(compared([person(1), person(1)], ["ada", "ada"])) is None
    assert RULE.prepare(compared([person(1), person(2)], ["ada", "bob"])) is None
    assert RULE.prepare([]) is None


@pytest.mark.long
def test_people_whose_times_vary_as_those_of_people_do_are_not_flagged(whole: bool) -> None:
    many = 4000 if whole else 60
    pages = [person(seed, ("mouse", "key", "touch")[seed % 3]) for seed in range(many)]
    twins = same_rhythms([str(seed) for seed in range(many)], [rhythm(one) for one in pages])
    assert sum(twin.sessions > 0 for twin in twins) == 0
    assert [verdict.measured for one in pages if (verdict := judge(*one)).measured] == []


def test_the_account_counts_every_sign() -> None:
    results = [RULE.evaluate(SessionEvidence("completed", "whole", pages=jumping([[1000, 2000]] * 8)))]
    assert RULE.account(results) == {"signs": {"pointer": 1, "times": 1}}


def test_it_is_only_noted_unless_a_study_says_otherwise_and_says_what_it_asks() -> None:
    (rule,) = [one for one in study_rules(make_study("acr", checks={"automation": True})) if one.name == "automation"]
    assert not rule.is_costly
    assert rule_sentence(rule) == (
        "Nothing says that a program operated the pages: no driver, decoy or identical, and fewer than 2 of untrusted, "
        "pointer, keys, times, focus and paste. Only noted."
    )
    spared = Automation(Automation.Options(ignore=SIGNS[:3]))
    assert spared.sentence().startswith("Nothing says that a program operated the pages: fewer than 2 of untrusted")
