"""Beholder: subjective evaluation, as easy to run as an objective metric.

    import beholder
    results = beholder.run("study.yaml", simulate=True)
    results.conditions

Every verb of the command line is a function here. They have the names of packages, so they are imported all at
once: a function bound later would be replaced by the module of the same name.
"""

from __future__ import annotations

from beholder.analyse import analyse
from beholder.chain import chain
from beholder.check import check
from beholder.clean import clean
from beholder.compare import compare
from beholder.demo import demo
from beholder.dimensions import dimensions
from beholder.errors import BeholderError, Problem, UserError
from beholder.export import export
from beholder.extend import extend
from beholder.metrics import metrics
from beholder.new import new
from beholder.planning import plan
from beholder.power import power
from beholder.recruit import close, decide, forget, launch, monitor, participants, pay, purge
from beholder.report import report
from beholder.run import run
from beholder.serving import serve
from beholder.simulate import simulate
from beholder.study import schema

__all__ = [
    "BeholderError", "Problem", "UserError", "analyse", "chain", "check", "clean", "close", "compare", "decide", "demo",
    "dimensions", "export", "extend", "forget", "launch", "metrics", "monitor", "new", "participants", "pay", "plan",
    "power", "purge", "report", "run", "schema", "serve", "simulate",
]  # fmt: skip
