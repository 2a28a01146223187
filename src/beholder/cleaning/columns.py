"""The columns that many tables of facts and judgements have: each means the same in all of them."""

from __future__ import annotations

from typing import get_args

from beholder.columns import Column
from beholder.study.recruitment import Mode
from beholder.types import Medium, Outcome, Role

ROLES, MEDIA, MODES, OUTCOMES = (get_args(one) for one in (Role, Medium, Mode, Outcome))
VERDICT_VALUES = ("pass", "fail", "unknown")
DEVICES = ("desktop", "tablet", "phone")

SESSION = Column("session", "text", "The visit; a made-up name without meaning.")
PARTICIPANT = Column("participant", "text", "The person, by a pseudonym that only the store can lead back.")
DIGEST = Column("digest", "text", "Hash of the study text and the stimuli with which the session began.")
RUN = Column("run", "integer", "Run of the study.")
MODE = Column("mode", "text", "The way the session came.", MODES)
OUTCOME = Column("outcome", "text", "How it ended; empty where it was left.", OUTCOMES)
MINUTES = Column("minutes", "number", "How long it took, to its end or else to its last answer.")
POSITION = Column("position", "integer", "Place of the trial in its list, from 1; empty of an import without order.")
TRIAL = Column("trial", "text", "Name of the trial in the plan.")
SLOT = Column("slot", "text", "Place on the page: s1, s2, ... in shown order; empty of an import without order.")
CONTENT = Column("content", "text", "The source material.")
CONDITION = Column("condition", "text", "What was done to it: the system or treatment.")
STIMULUS = Column("stimulus", "text", "What was shown: a content under a condition.")
MEDIUM = Column("medium", "text", "What kind of stimulus it is.", MEDIA)
ROLE = Column("role", "text", "What the stimulus is to the method.", ROLES)
QUESTION = Column("question", "text", "Id of the question.")
ACCEPT = Column("accept", "boolean", "Whether it is to be paid; empty where a person has to look.")
USE = Column("use", "boolean", "Whether it is analysed.")
REASONS = Column("reasons", "text", "Everything that it failed, as check:reason, with `; ` between.")
INPUT = Column("input", "text", "What it was answered with.")
