"""All runs of a study, judged each by itself and told together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from beholder.clean.facts import Rows, runs_in
from beholder.clean.judging import Judging, judge_tables
from beholder.study.model import Study


def judge_runs(study: Study, tables: Mapping[str, Rows], *, where: str, robots: bool) -> Judging:
    """Return the sessions of every run in these tables, judged, in the order of arrival."""
    runs = runs_in(tables, robots=robots) or (study.run,)
    each = [judge_tables(study, tables, where=where, robots=robots, run=run) for run in runs]
    if len(each) == 1:
        return each[0]
    judged = sorted(
        (one for judging in each for one in judging.judged), key=lambda one: (one.visit.at, one.visit.session)
    )
    facts = replace(
        each[-1].facts,
        visits=tuple(one.visit for one in judged),
        stimuli={key: shown for judging in each for key, shown in judging.facts.stimuli.items()},
        yaml={digest: text for judging in each for digest, text in judging.facts.yaml.items()},
        other_plans=sum(judging.facts.other_plans for judging in each),
    )
    texts = {digest: text for judging in each for digest, text in judging.texts.items()}
    return replace(each[-1], facts=facts, texts=texts, judged=judged)
