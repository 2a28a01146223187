"""A deployment that is there: what is asked of it again and again, and what it is said to cost."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from beholder.deployment import Deployment
from beholder.deployment.access import DeploymentStatus, cost_words
from beholder.deployment.journal import Journal, one_at_a_time
from beholder.deployment.settings import DeploySettings
from beholder.study.recruitment import Sum
from beholder.testing import write_study
from support.system_programs import need_ssh


def test_pulling_goes_on_while_the_machine_is_not_reached_or_busy(tmp_path: Path, tiny: Path) -> None:
    need_ssh()
    study = write_study(tmp_path / "study", tiny)
    config = tmp_path / "config"
    config.write_text("Host machine\n  HostName 127.0.0.1\n  Port 1\n", "utf-8")
    journal = Journal(study.parent)
    settings = DeploySettings("machine", "https://study.example.org", ssh_config=str(config))
    record = journal.begin(settings.facts)
    journal.write(record.id, "claim", "done", {"root": "/srv/ada/.beholder", "python": "/usr/bin/python3"})
    told: list[str] = []

    def leave_after(times: int) -> Callable[[float], None]:
        left = iter(range(times - 1))

        def sleep(_: float) -> None:
            if next(left, None) is None:
                raise KeyboardInterrupt

        return sleep

    with pytest.raises(KeyboardInterrupt):
        next(Deployment(study).keep_pulling(600, told.append, leave_after(2)))
    with one_at_a_time(journal), pytest.raises(KeyboardInterrupt):
        next(Deployment(study).keep_pulling(600, told.append, leave_after(1)))
    assert [words.startswith("machine  does not answer (") for words in told] == [True, True, False]
    assert "another command works on this deployment" in told[2]
    assert all(words.endswith("Trying again in 600 s; the copy before is as it was.") for words in told)


def test_a_machine_that_is_paid_for_has_cost_so_much() -> None:
    began = datetime(2027, 3, 1, 12, tzinfo=UTC)
    words = cost_words(Sum(5, "USD"), began, began + timedelta(hours=30))
    assert words == "1.50 USD for 30.0 h at 0.05 USD an hour"


def status_of(counts: dict[str, int], skew_s: float) -> dict[str, str]:
    began = datetime(2027, 3, 1, 12, tzinfo=UTC)
    return dict(
        DeploymentStatus(
            "faces", "ada@lab", "https://lab/s/faces", True, "", None, True, None, True, "cron", "1234", "0.1.0", True,
            0, counts, 1, 1, 1, "", skew_s, None, None, "", began, "nothing extra",
        ).rows
    )  # fmt: skip


def test_the_status_tells_people_and_clocks_in_words() -> None:
    counts = {"arrived": 7, "live": 1, "completed": 4, "finished": 4, "ended": 2, "answers": 48, "lists": 20}
    status = status_of(counts, 90.4)
    assert status["people"] == "7 arrived, 4 finished, 2 ended otherwise; 48 answers; 4 of 20 lists finished"
    assert status["clock"] == "+90 s beside the one here"
    nobody = status_of({"arrived": 0, "lists": 20}, -0.2)
    assert (nobody["people"], nobody["clock"]) == ("nobody has come", "agrees with the one here")
