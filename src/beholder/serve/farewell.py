"""What somebody reads whose session a rule has ended: where it was, what was asked, and whom to write to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from beholder.checks.targets import targets_of
from beholder.checks.trust import Seen
from beholder.methods.contract import Trial
from beholder.plan.teaching.asked import asked_words, asking_label
from beholder.serve.attempts import failures, ruled
from beholder.serve.examiner import Words
from beholder.serve.script import Planned, Script
from beholder.serve.served import Served
from beholder.store.contract import End, SessionFacts
from beholder.study.texts import markdown
from beholder.types import Role

_ASKING: Mapping[str, Role] = {"attention": "attention", "trap": "trap"}
"""Rules whose stimuli said themselves which answer is right. What others expect is never told."""
_MARKS = re.compile(r"([!-/:-@\[-`{-~])")


class Farewell:
    """Writes the last page of sessions that a rule has ended; `own` are our words about each rule."""

    def __init__(self, served: Served, words: Mapping[str, str], own: Words) -> None:
        self._method, self._contact, self._words, self._own = served.method, served.study.contact, words, own

    def text(self, facts: SessionFacts, end: End, script: Script) -> str:
        """Return the page as HTML."""
        name = end.reason.partition(":")[0]
        lines = []
        for told in failures(facts.told, name):
            step, off = script.find(told.key), ruled(told, name).get("measured")
            if step is not None:
                lines += self._lines(script, step, name, off if isinstance(off, Mapping) else ())
        return self._page(name, lines)

    def sample(self, script: Script) -> str:
        """Return what such a page can look like, for a preview; empty where no rule ends a session."""
        for name, rule in script.rules.items():
            if rule.end_after is not None:
                trials = [step for step in script.steps if step.is_rated]
                met = [step for step in trials if _asked(step, name)] or trials
                shown = met[: rule.end_after]
                return self._page(
                    name, [line for one in shown for line in self._lines(script, one, name, _asked(one, name))]
                )
        return ""

    def _page(self, name: str, lines: Iterable[str]) -> str:
        words, contact = self._words, self._contact
        parts = [self._own.get(name, {}).get("out") or words["out"], "\n".join(f"- {line}" for line in lines)]
        parts.append(words["out_end"])
        if contact:
            link = contact if contact.startswith("https:") else f"mailto:{contact}"
            parts.append(words["out_contact"].format(contact=f"[{_plain(contact)}](<{link}>)"))
        return markdown("\n\n".join(part for part in parts if part))

    def _lines(self, script: Script, step: Planned, name: str, off: Iterable[str]) -> list[str]:
        """Return a line for each stimulus of a trial that was not answered as it asked: its page, and what it asked."""
        trial, words = _trial(step), self._words
        page, _ = script.page(script.place(step.key))
        asked = _asked(step, name)
        lines = []
        for where in off:
            if where in asked:
                label = asking_label(self._method, trial, where)
                said = _plain(asked_words(self._method, trial, where, words))
                lines.append(words["out_page_of" if label else "out_page"].format(page=page, label=label, said=said))
        return list(dict.fromkeys(lines)) or [words["out_only_page"].format(page=page)]


def _asked(step: Planned, name: str) -> list[str]:
    """Return what the stimuli of a trial ask for themselves, by question and slot."""
    role = _ASKING.get(name)
    return [] if role is None else list(targets_of(Seen(step.key, _trial(step), None, ()), role))


def _plain(text: str) -> str:
    """Return a text that Markdown leaves as it is."""
    return _MARKS.sub(r"\\\1", text)


def _trial(step: Planned) -> Trial:
    assert step.trial is not None, step.key
    return step.trial
