"""What the command line prints of a study before anybody has come: its stages, its groups, its lists, its cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from beholder.cli.printing import in_range

if TYPE_CHECKING:
    from beholder.check import Checked, Made, Share
    from beholder.plan.model import Plan
    from beholder.study.model import Study
    from beholder.types import Role


def print_checked(found: Checked) -> None:
    """Print what participants meet, how many ratings that gives, and what it costs."""
    click.echo(f"{found.study.title}\n")
    width = max(42, *(len(stage.name) for stage in found.stages))
    for stage in found.stages:
        click.echo(f"  {stage.name:<{width}} {stage.minutes:5.1f} min")
    click.echo(f"  {'together about':<{width}} {found.minutes:5.1f} min\n")
    screens = f"{found.screens_before} screen{'s' * (found.screens_before > 1)}"
    click.echo(f"About {in_minutes(found.minutes_before)} and {screens} before the first rating.")
    conditions = f"{len(found.conditions)} conditions ({', '.join(found.conditions)})"
    click.echo(f"{found.stimuli} stimuli: {found.contents} contents, {conditions}")
    most_pairs = len(found.conditions) * (len(found.conditions) - 1) // 2
    if 0 < found.pairs < most_pairs:
        click.echo(f"{found.pairs} of {most_pairs} pairs of conditions are compared.")
    for line in _gives(found):
        click.echo(line)
    tell_groups(found.groups)
    if cost := _cost(found):
        click.echo(cost)
    tell_asking(found.asking)
    n = len(found.warnings)
    click.echo(f"No errors, {n} warning{'s' * (n > 1)}." if n else "No problems found.")


def print_lists(plan: Plan, study: Study) -> None:
    """Print how many lists there are, and for whom."""
    run = f", run {study.run}" if study.run > 1 else ""
    visits, lists = study.design.sessions_per_participant, len(plan.lists)
    whom = "one for each participant" if visits == 1 else f"{visits} for each of {-(-lists // visits)} participants"
    groups = f", in {len(plan.groups)} groups; differences are within one" if plan.groups else ""
    click.echo(f"{lists} lists, {whom}{groups}; seed {plan.seed}{run}.\n")


def _gives(found: Checked) -> Iterator[str]:
    """Yield how many ratings a stimulus gets, and how many people that takes."""
    design, (low, high) = found.study.design, found.ratings_per_stimulus
    groups, each = (f" in {len(found.groups)} groups", " in each group") if found.groups else ("", "")
    people = f"{found.participants} participants{groups}"
    if design.votes is not None or design.sessions_per_participant > 1:
        given = f"{found.participants} lists of {found.trials} trial{'s' * (found.trials != 1)}{groups} give each"
        votes = in_range(*found.votes)
        yield f"{given} {'pair' if found.is_compared else 'stimulus'} {votes} rating{'s' * (votes != '1')}{each}."
        if (visits := design.sessions_per_participant) > 1:
            few = -(-found.participants // visits)
            yield f"With {visits} sessions each that takes {few} participants; more where some take fewer."
    elif found.is_compared:
        yield f"{people} compare each stimulus {in_range(low, high)} times{each}."
    else:
        yield f"{people} give each stimulus {in_range(low, high)} ratings{each}."


def _cost(found: Checked) -> str:
    """Return what all sessions earn, and what that is for an hour of this study; nothing where nothing is paid."""
    from beholder.study.money import Sum, hourly, money
    from beholder.study.recruiting import told_minutes

    if found.study.recruit.reward is None:
        return ""
    reward = money(found.study.recruit.reward)
    whole = Sum(reward.minor * found.participants, reward.currency)
    minutes = told_minutes(found.study.recruit, found.minutes)
    at = f"the {minutes} minutes that people are told" if found.study.recruit.minutes else f"about {minutes} minutes"
    sessions = f"{found.participants} session{'s' * (found.participants != 1)}"
    pace = f"{hourly(reward, minutes)} an hour at {at}"
    return f"{sessions} at {reward} earn {whole}, {pace}; fees of a platform come on top."


def tell_groups(groups: Sequence[Share]) -> None:
    """Print the groups of participants: how many lists each has, and how long a session takes."""
    from beholder.study.between import named

    names = [named(one.levels) for one in groups]
    for name, one in zip(names, groups, strict=True):
        lists = f"{one.lists} list{'s' * (one.lists != 1)}"
        click.echo(f"  {name:<{max(map(len, names))}}  {lists}, about {one.minutes:.1f} min")


def tell_asking(asking: Mapping[Role, Made]) -> None:
    """Print which stimuli were made to ask for an answer, and which were there already."""
    for role, (there, fresh) in asking.items():
        if not fresh:
            click.echo(f"All {there} {role} clips were there." if there > 1 else f"1 {role} clip was there.")
        elif fresh == there:
            click.echo(f"Made {there} {role} clip{'s' * (there != 1)} in media/.")
        else:
            click.echo(f"Made {fresh} of {there} {role} clips in media/; the others were there.")


def in_minutes(minutes: float) -> str:
    """Return `4 min 30 s`, to ten seconds."""
    whole, seconds = divmod(max(10, 10 * round(6 * minutes)), 60)
    return " ".join(part for part in (f"{whole} min" * (whole > 0), f"{seconds} s" * (seconds > 0)) if part)
