"""Posing a check and judging its answer: what the server and the robots' oracle do alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
from numpy.random import Generator

from beholder.checks.contract import Attempt, Known, Needs, Posed
from beholder.checks.judging import CANNOT, judge_attempt
from beholder.checks.steps import AnyStep
from beholder.checks.verdict import Say, Verdict
from beholder.errors import Refused
from beholder.serve import tokens
from beholder.serve.devices import device_of
from beholder.serve.script import Planned
from beholder.store.contract import Told
from beholder.types import Json


def known(device: Mapping[str, Json], told: Mapping[str, Told], needs: Needs) -> Known:
    """Return what is known of a person: the device they sit at now, and the last answer to each check.

    `device` is the one the session began with; what was told knows of any other since.
    """
    answers: dict[str, Json] = {}
    latest: dict[str, int] = {}
    for key, one in told.items():
        kind, _, rest = key.partition(":")
        if kind != "check" or not isinstance(one.evidence, Mapping) or "answer" not in one.evidence:
            continue
        number = int(rest.rpartition(":")[2])
        if number >= latest.get(one.check, 0):
            latest[one.check], answers[one.check] = number, one.evidence["answer"]
    return Known(device_of(device, told), answers, needs)


def seed_of(secret: bytes, session: str, key: str) -> bytes:
    """Return what all chance in an attempt comes from."""
    return tokens.keyed(secret, "posed", session, key)


def rng_of(seed: bytes) -> Generator:
    return np.random.default_rng(int.from_bytes(seed, "big"))


def pose(secret: bytes, session: str, step: Planned, known: Known) -> Posed:
    """Return an attempt at a check: the same for the same secret, session and key."""
    return check_of(step).pose(rng_of(seed_of(secret, session, step.key)), known)


def examine(
    check: AnyStep, posed: Posed, answer: Json, known: Known, attempt: int
) -> tuple[Mapping[str, Json], Verdict]:
    """Return the answer as it is kept, and the verdict on it."""
    if not isinstance(answer, Mapping):
        raise Refused("The answer is not an object", where="answer", allowed="a JSON object")
    is_unable = answer == CANNOT and answer["cannot"] is True  # 1 is as good as true to Python, and to nobody else
    read = CANNOT if is_unable else check.read(posed.private, answer)
    return read, judge_attempt(check, Attempt(posed.private, read, known, attempt))


def evidence(verdict: Verdict, answer: Mapping[str, Json], check: AnyStep, step: Planned) -> dict[str, Json]:
    """Return what is kept beside a verdict."""
    kept: dict[str, Json] = {
        "version": check.version, "attempt": step.attempt, "answer": dict(answer), "measured": verdict.measured,
        "needed": verdict.needed, "rule": check.rule.model_dump(mode="json"), "evidence": dict(verdict.evidence),
    }  # fmt: skip
    if verdict.again:
        kept["again"] = True
    if verdict.action is not None:
        kept["action"] = verdict.action
    return kept


def verdict_of(check: AnyStep, told: Told) -> Verdict:
    """Return the verdict that was told, from what was kept beside it."""
    kept = told.evidence if isinstance(told.evidence, Mapping) else {}
    found = kept.get("evidence")
    return Verdict(
        check.name, check.version, cast(Say, told.verdict), told.reason, kept.get("measured"), kept.get("needed"),
        found if isinstance(found, Mapping) else {},
    )  # fmt: skip


def check_of(step: Planned) -> AnyStep:
    """Return the check of a step that has one."""
    assert step.check is not None, step.key
    return step.check
