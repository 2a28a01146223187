"""`make scaling`: measure what a participant costs (`--measure`), and write tables and diagram of docs/scaling.md."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from bench.crowd import PAUSE_S, PEOPLE, SESSIONS, play, stores, write_crowd_study
from scaling.measured import cost_of, list_kilobytes, read_costs, write_costs
from scaling.page import write_page


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the tables and the diagram of docs/scaling.md.")
    parser.add_argument("--measure", nargs="*", choices=["sqlite", "postgresql"], help="Measure these stores before.")
    parser.add_argument("--people", type=int, default=PEOPLE, help="At once.")
    parser.add_argument("--sessions", type=int, default=SESSIONS, help="In all.")
    asked = parser.parse_args()
    kinds = asked.measure
    if kinds is not None:
        with tempfile.TemporaryDirectory(prefix="beholder-scaling-", ignore_cleanup_errors=True) as name:
            study, list_kb = write_crowd_study(Path(name) / "crowd"), list_kilobytes(Path(name))
            with stores(Path(name)) as urls:
                wanted = [one for one in urls if not kinds or one.startswith("postgresql") == ("postgresql" in kinds)]
                for url in wanted:
                    run = play(study, url, asked.people, asked.sessions)
                    print(
                        f"{run.kind}: {run.waits.completed} sessions, {len(run.waits.faults)} errors",
                        *run.waits.faults[:3],
                    )
                    write_costs([cost_of(run, PAUSE_S, list_kb)])
    costs = read_costs()
    if not costs:
        parser.error("nothing was measured yet: add --measure")
    write_page(costs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
