"""What a stimulus asked for, in words: for whoever answered in another way."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.methods.contract import Method, Trial
from beholder.plan.teaching.answering import judged_kinds


def asked_words(method: Method, trial: Trial, where: str, words: Mapping[str, str]) -> str:
    """Return what the stimulus at a question and slot, as `q1.s2`, asked for itself."""
    target = trial.targets[where]
    asked = next(one for one in trial.asked if one.id == where.partition(".")[0])
    if "choice" in judged_kinds(method, trial):
        return words["out_this"]
    label = dict(asked.scale.labels).get(target.value, "")
    way = "out_slider" if asked.scale.look == "slider" else "out_label" if label else "out_value"
    return words[way].format(value=f"{target.value:g}", label=label)


def asking_label(method: Method, trial: Trial, where: str) -> str | None:
    """Return the letter of the stimulus that asked, where several are rated one by one."""
    labels = {slot.id: slot.label for slot in trial.slots if slot.rated}
    # How much better the second is than the first is asked for by the page as a whole.
    is_one = len(labels) > 1 and "diff" not in judged_kinds(method, trial)
    return labels.get(where.partition(".")[2]) if is_one else None
