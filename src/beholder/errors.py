"""The error tree. A `Problem` says where something is wrong, what, what is allowed and how to fix it.

    BeholderError
    ├── UserError            yours to fix: one or many problems, exit code 2, never a traceback
    │   ├── StudyError       in study.yaml or the files it names
    │   ├── StimuliError     in the stimuli
    │   ├── PlanError        a plan that cannot be made
    │   ├── StoreError       a store that is locked, foreign, newer, or holds another design
    │   ├── LedgerError      a ledger that is in use, or holds the same debt already
    │   ├── RecruitError     on the recruiting platform, or in what is asked of it
    │   ├── DeployError      on the machine of a deployment, or in what is asked of it
    │   └── BackupError      at the place of backups, in a backup, or in what is asked of it
    └── Refused              a request of a participant's browser that is not accepted (HTTP 4xx)

A traceback means that the bug is ours (exit code 1).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from beholder.formats import listed
from beholder.words import LanguageWords, read_words

ReadTexts = Callable[[str], Mapping[str, str]]
"""Returns texts for participants in a language."""


@dataclass(frozen=True)
class Problem:
    """One thing to fix: where it is, what is wrong, what is allowed, and how to fix it."""

    where: str
    what: str
    allowed: str = ""
    fix: str = ""

    def __str__(self) -> str:
        parts = [self.what.rstrip(".") + "."]
        if self.allowed:
            parts.append(f"Allowed: {self.allowed.rstrip('.')}.")
        if self.fix:
            parts.append(self.fix)
        return f"{self.where}  {' '.join(parts)}"


def no_answers(store: str, otherwise: str = "") -> Problem:
    """Return the problem of a study in which nobody has taken part, and what else may be done about it."""
    fix = f"Run `beholder run` with people or `beholder run --simulate` with robots first{otherwise}."
    return Problem(store, "holds no answers: nobody has taken part in this study yet", "", fix)


class BeholderError(Exception):
    """Anything that Beholder raises on purpose."""


class UserError(BeholderError):
    """Problems that the researcher can fix, all reported at once."""

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class StudyError(UserError):
    """The study file, or a file that it names, has problems."""


class StimuliError(UserError):
    """The stimuli have problems."""


class PlanError(UserError):
    """No plan meets what the study asks for."""


class StoreError(UserError):
    """The store cannot be used as asked."""


class LedgerError(UserError):
    """The ledger cannot be written as asked: another process holds it, or the same debt is there already."""


class RecruitError(UserError):
    """The recruiting platform, or what is asked of it, has problems."""


class DeployError(UserError):
    """The machine of a deployment, or what is asked of it, has problems."""


class BackupError(UserError):
    """The place of backups, a backup, or what is asked of it, has problems."""


_LONGEST_VALUE = 200
"""Characters of a value that a refusal quotes: whoever sends a megabyte does not get it back."""


class _Shortened:
    """The beginning of a long value, as a refusal quotes it."""

    def __init__(self, value: object) -> None:
        self._text = f"{repr(value)[:_LONGEST_VALUE]}…"

    def __repr__(self) -> str:
        return self._text

    def __format__(self, spec: str) -> str:
        return self._text


class Refused(BeholderError):
    """A request that is refused and changes nothing: its code, where, what is wrong, what is allowed.

    `more` is sent as well: `at`, the time that the refusal is about, and `return_url`, where to go back to.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        allowed: str = "",
        code: str = "bad_answer",
        status: int = 422,
        more: Mapping[str, str] | None = None,
    ):
        self.what, self.where, self.allowed, self.code, self.status = what, where, allowed, code, status
        self.more = dict(more or {})
        self._word, self._values = "", dict[str, object]()
        self._texts: ReadTexts = read_words
        super().__init__(what)

    @classmethod
    def because(
        cls,
        word: str,
        *,
        where: str = "",
        allowed: str = "",
        code: str = "bad_answer",
        status: int = 422,
        texts: ReadTexts = read_words,
        **values: object,
    ) -> Refused:
        """Return a refusal with the text `refused.<word>` of our words, or of these, and its values filled in."""
        key = f"refused.{word}"
        values = {
            name: _Shortened(value) if len(repr(value)) > _LONGEST_VALUE else value for name, value in values.items()
        }
        what = _said(texts("en"), key, values)
        refused = cls(what, where=where, allowed=allowed, code=code, status=status)
        refused._word, refused._values, refused._texts = key, values, texts
        return refused

    def text(self, language: str) -> str:
        """Return what is wrong in a language; a text that is no word stays as it is."""
        return _said(self._texts(language), self._word, self._values) if self._word else self.what


def _said(texts: Mapping[str, str], key: str, values: Mapping[str, object]) -> str:
    return texts.say(key, **values) if isinstance(texts, LanguageWords) else texts[key].format(**values)


_AS_NEAR = 0.1
"""Words that are less alike than the nearest by more than this are not meant."""


def closest(word: str, known: Sequence[str], most: int = 1) -> list[str]:
    """Return the known words nearest to a word, best first, whatever the case of either."""
    same = [other for other in known if other.lower() == word.lower()]
    if same:
        return same[:most]
    by_small = {other.lower(): other for other in reversed(known)}
    near = difflib.get_close_matches(word.lower(), by_small, n=most, cutoff=0.6)
    ratios = [difflib.SequenceMatcher(None, other, word.lower()).ratio() for other in near]
    return [by_small[other] for other, ratio in zip(near, ratios, strict=True) if ratio > ratios[0] - _AS_NEAR]


def name_given(given: str, labels: Mapping[str, str]) -> str | None:
    """Return the name that is given by itself or by its label; None where neither is known, or several have the label.

    `labels` are those of all names that there are; a name without one is its own.
    """
    if given in labels:
        return given
    named = [name for name, label in labels.items() if label == given]
    return named[0] if len(named) == 1 else None


def did_you_mean(word: str, known: Sequence[str], most: int = 1) -> str:
    """Return `Did you mean x?` or `Did you mean x or y?`, or an empty string when nothing known is near."""
    near = closest(word, known, most)
    return f"Did you mean {listed(near)}?" if near else ""
