"""Comparisons with an earlier answer, such as `age >= 40`: on which of them a question is asked, and whether they hold.

They are plain values, checked when the study is loaded: nothing that a researcher writes is ever run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from beholder.errors import did_you_mean
from beholder.formats import listed
from beholder.study.parts import Fault
from beholder.types import Json

if TYPE_CHECKING:
    from beholder.study.questionnaire import Ask

SIGNS = ("=", "!=", "<", "<=", ">", ">=", "has", "lacks")
EXAMPLE = "field = no, age >= 40 or devices has phone"
_WRITTEN = re.compile(r"(\S+?)\s*(!=|<=|>=|=|<|>|\s(?:has|lacks)(?=\s))\s*(\S.*)", re.DOTALL)


class AnswerComparison(NamedTuple):
    """An earlier question, a sign, and the value with which its answer is compared."""

    question: str
    sign: str
    value: Json

    def holds(self, answer: Json) -> bool:
        """Return whether it holds of an answer; of none it never does."""
        if answer is None:
            return False
        if self.sign in ("has", "lacks"):
            return isinstance(answer, list | tuple) and (self.value in answer) == (self.sign == "has")
        if self.sign in ("=", "!="):
            return (answer == self.value) == (self.sign == "=")
        if not isinstance(answer, int | float) or not isinstance(self.value, int | float):
            return False
        return {
            "<": answer < self.value, "<=": answer <= self.value, ">": answer > self.value, ">=": answer >= self.value,
        }[self.sign]  # fmt: skip


def written_parts(text: str) -> tuple[str, str, str] | None:
    """Return question, sign and value of a comparison as they are written; None where it is none."""
    match = _WRITTEN.fullmatch(text.strip())
    return (match[1], match[2].strip(), match[3]) if match else None


def read_comparison(text: str, asks: Mapping[str, Ask]) -> AnswerComparison | None:
    """Return the comparison in a text, with its value as an answer to its question; None where nothing asks that."""
    parts = written_parts(text)
    ask = asks.get(parts[0]) if parts else None
    if parts is None or ask is None:
        return None
    return AnswerComparison(parts[0], parts[1], ask.kind.compared_value(ask, parts[2]))


def comparison_faults(
    text: str, earlier: Mapping[str, Ask], later: Sequence[str], on_page: Sequence[str]
) -> Iterator[Fault]:
    """Yield what is wrong with a comparison: `earlier` can have been answered, `on_page` of them on the same page."""
    parts = written_parts(text)
    if parts is None:
        yield Fault(f"is {text!r}, which is not a comparison", f"id, sign and value, as {EXAMPLE}")
        return
    name, sign, value = parts
    ask = earlier.get(name)
    if ask is None:
        if name in later:
            yield Fault(f"compares {name}, which is not asked before it", listed(list(earlier)) or "earlier questions")
        else:
            allowed = listed(list(earlier)) if earlier else "questions that are asked earlier, and there are none"
            yield Fault(f"compares {name}, which no question is called", allowed, did_you_mean(name, list(earlier)))
        return
    if not ask.kind.signs:
        yield Fault(f"compares {name}, an answer in people's own words", "questions of another type")
    elif sign not in ask.kind.signs:
        fix = f"Write {name} {ask.kind.signs[0]} {value}."
        yield Fault(f"compares {name} by {sign}", f"{listed(ask.kind.signs)} with type {ask.type}", fix)
    elif ask.kind.compared_value(ask, value) is None:
        what, fix = f"compares {name} with {value}, which is no answer to it", did_you_mean(value, ask.choices)
        yield Fault(what, ask.kind.compared_words(ask), fix)
    elif name in on_page and ask.correct is not None:
        what = f"compares {name} on the same page, whose right answers no browser may know"
        yield Fault(what, "questions without correct, or of an earlier page", "Take it out: who goes on was right.")


def as_public(comparison: AnswerComparison) -> dict[str, Json]:
    """Return a comparison as a browser gets it, which looks at answers on the same page."""
    return {"question": comparison.question, "sign": comparison.sign, "value": comparison.value}


def is_asked(comparisons: Sequence[Mapping[str, Any]], answers: Mapping[str, Json]) -> bool:
    """Return whether all comparisons, as a browser gets them, hold of the answers above on the page."""
    return all(AnswerComparison(one["question"], one["sign"], one["value"]).holds(answers.get(one["question"]))
               for one in comparisons)  # fmt: skip
