"""Beholder: subjective evaluation, as easy to run as an objective metric.

    import beholder
    results = beholder.run("study.yaml", simulate=True)
    results.conditions

Every verb of the command line is a function here. Packages are nouns (`beholder.planning`), verbs are functions
(`beholder.plan`), so that every module can be imported by its name.
"""

from __future__ import annotations

from beholder.analysis import analyse, better
from beholder.backups import backup
from beholder.bundling import bundle, rerun, verify
from beholder.cleaning import clean
from beholder.comparison import compare
from beholder.deployment import deploy
from beholder.dimensionality import dimensions
from beholder.errors import BeholderError, Problem, UserError
from beholder.exporting import export
from beholder.extension import extend
from beholder.importing import import_study
from beholder.leaderboard import board
from beholder.objective import metrics
from beholder.preregistration import preregister
from beholder.recruiting import close, decide, forget, launch, monitor, participants, pay, purge
from beholder.reporting import report
from beholder.sample_size import power
from beholder.simulation import simulate
from beholder.study import schema
from beholder.workflow.arena import arena
from beholder.workflow.chain import chain
from beholder.workflow.check import check
from beholder.workflow.demo import demo
from beholder.workflow.doctor import doctor
from beholder.workflow.new import new
from beholder.workflow.plan import plan
from beholder.workflow.restore import restore
from beholder.workflow.run import run
from beholder.workflow.runs import runs
from beholder.workflow.serve import serve

__all__ = [
    "BeholderError", "Problem", "UserError", "analyse", "arena", "backup", "better", "board", "bundle", "chain",
    "check", "clean", "close", "compare", "decide", "demo", "deploy", "dimensions", "doctor", "export", "extend",
    "forget", "import_study", "launch", "metrics", "monitor", "new", "participants", "pay", "plan", "power",
    "preregister", "purge", "report", "rerun", "restore", "run", "runs", "schema", "serve", "simulate", "verify",
]  # fmt: skip


def __dir__() -> list[str]:
    """Return the public names only, for completion in a notebook: packages can be imported, and are not listed."""
    return sorted(__all__)
