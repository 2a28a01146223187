"""The text that a server has begun with, beside the one that study.yaml has now."""

from __future__ import annotations

import re

import yaml

from beholder.store.contract import Store
from beholder.study.model import Study
from beholder.study.resolved import resolved_yaml


def met(text: str) -> str:
    """Return what a study's text says to people: what it may cost changes nothing for them."""
    return re.sub(r"^budget: .*\n", "", text, flags=re.MULTILINE)


async def as_served(study: Study, store: Store) -> Study:
    """Return a study with everybody left out whom a chain has left out; study.yaml does not name the studies before it.

    Where anything else is different too, the study is returned as it is.
    """
    record = await store.current()
    served = (yaml.safe_load(record.yaml).get("recruit") or {}).get("exclude") if record is not None else None
    named = study.recruit.exclude
    more = [one for one in served or () if one not in named]
    if record is None or not more:
        return study
    recruit = study.recruit.model_copy(update={"exclude": (*named, *more)})
    wider = study.model_copy(update={"recruit": recruit})
    return wider if met(resolved_yaml(wider)) == met(record.yaml) else study
