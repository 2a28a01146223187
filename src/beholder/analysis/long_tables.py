"""Long tables: one row for each rating, with its condition and content, of any table whose columns are known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pandas as pd

from beholder.analysis.column_roles import KEPT, STATISTICS, ColumnRoles, option_end, plain_name
from beholder.analysis.rating_values import read_times
from beholder.analysis.spreadsheets import Sheet
from beholder.errors import Problem, UserError
from beholder.formats import first_names, plain_count, plural
from beholder.study.patterns import Pattern, PatternTimeout

_FIRST_STATISTICS = frozenset(("mean", "average", "avg", "mittelwert", "median", "sum", "total", "stdev", "std dev"))
"""Those that are the name of nobody: a person may be called Max."""
_MOST_CONDITIONS = 40
"""So many stimuli without a condition can be held against each other."""
_MAX_PROBLEMS = 20


@dataclass(frozen=True)
class LongTable:
    """A table with one row for each rating, all cells text."""

    cells: pd.DataFrame
    """Under our names; `row` is the row of the sheet."""
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = field(default=())


def to_long(sheet: Sheet, roles: ColumnRoles) -> LongTable:
    """Return one row for each rating, without the rows that were computed from the others."""
    raw = sheet.cells
    notes: list[str] = []
    base = pd.DataFrame({"row": range(len(raw))})
    for role, name in roles.single.items():
        base["value" if role == "rank" else role] = raw[name].to_numpy()
    for name in raw.columns:
        is_kept = name in KEPT or str(name).startswith(("factor_", "other_factor_"))
        if is_kept and name not in base and name not in roles.single.values() and name not in roles.wide:
            base[str(name)] = raw[name].to_numpy()
    base, summaries = _without_summaries(base)
    if summaries:
        rows = plain_count(len(summaries), "row")
        notes.append(f"{rows} computed from the others left out ({first_names(summaries, 3)})")
    if roles.wide_role is not None:
        parts = []
        for name in roles.wide:
            part = base.copy()
            part[roles.wide_role], part["value"] = name, raw[name].to_numpy()[base["row"]]
            parts.append(part)
        base = pd.concat(parts).sort_values("row", kind="stable", ignore_index=True)
    if "participant" not in base:
        base["participant"] = [f"row {sheet.lines[row]}" for row in base["row"]]
    elif roles.wide_role == "participant" and not {"condition", "content", "stimulus"} & set(base):
        base["stimulus"] = [f"row {sheet.lines[row]}" for row in base["row"]]
    problems = tuple(_unnamed(sheet, base, roles))
    if "winner" in base and "value" not in base:
        base, chosen, wrong = _choices(sheet, base, roles)
        notes += chosen
        problems += wrong
    base, named = _with_names(base, roles)
    return LongTable(base, (*notes, *named), problems)


def _without_summaries(base: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the table without rows of means and the like, and what these are called."""
    for role in ("participant", "condition", "stimulus", "content"):
        if role not in base:
            continue
        plain = base[role].map(plain_name)
        is_first = plain.isin(_FIRST_STATISTICS)
        is_summary = is_first | (plain.isin(STATISTICS) & is_first.cummax())
        # A condition may be called so throughout; summaries are a few lines.
        if 0 < is_summary.sum() <= max(3, len(base) // 10):
            return base[~is_summary].reset_index(drop=True), base.loc[is_summary, role].tolist()
    return base, []


def _unnamed(sheet: Sheet, base: pd.DataFrame, roles: ColumnRoles) -> Iterator[Problem]:
    for role in ("participant", "condition", "content", "stimulus"):
        name = roles.single.get(role)
        if name is None:
            continue
        rows = base.loc[base[role] == "", "row"].unique()
        for row in rows[:_MAX_PROBLEMS]:
            fix = "If cells were merged, fill each of them in." if 2 * len(rows) > len(sheet.lines) else ""
            yield Problem(sheet.place(int(row)), f"{name} is empty", "a name", fix)


_TIES = frozenset(("tie", "tied", "draw", "equal", "same", "no difference", "no preference", "both", "both good"))
_NEITHER = frozenset(("tie bothbad", "tie both bad", "both bad", "bothbad", "neither", "none"))
"""Both are bad: it says which of the two is better as little as any other tie."""


def _choices(
    sheet: Sheet, base: pd.DataFrame, roles: ColumnRoles
) -> tuple[pd.DataFrame, list[str], tuple[Problem, ...]]:
    """Return votes as choices: of a winner and a loser, or of two options and which of them won."""
    base = base.assign(kind="choice")
    if "loser" in base:
        return base.rename(columns={"winner": "condition", "loser": "other_condition"}).assign(value="1"), [], ()
    if not {"condition", "other_condition"} <= set(base):
        return base, [], ()
    names = [roles.single[role] for role in ("condition", "other_condition")]
    words = [{name.casefold(), plain_name(name), option_end(name)} - {""} for name in names]
    plain, folded = base["winner"].map(plain_name), base["winner"].str.casefold()
    value = pd.Series(index=base.index, dtype=object)
    value[base["winner"] == ""] = ""
    value[plain.isin(_TIES | _NEITHER)] = "0"
    for sign, role, mine in (("-1", "other_condition", words[1]), ("1", "condition", words[0])):
        value[folded.isin(mine) | plain.isin(mine) | (base["winner"] == base[role])] = sign
    notes = []
    if "answered_at" in base:
        base["answered_at"] = read_times(base["answered_at"]).map(lambda at: "" if pd.isna(at) else at.isoformat())
    neither = int(plain.isin(_NEITHER).sum())
    if neither:
        notes.append(f"{plain_count(neither, 'vote')} for neither taken as {plural(neither, 'a tie', 'ties')}")
    unknown = base.index[value.isna()]
    said = f"{roles.single['winner']} is "
    problems = tuple(
        Problem(sheet.place(int(base["row"][at])), f"{said}{base['winner'][at]!r}",
                f"{base['condition'][at]}, {base['other_condition'][at]}, {names[0]}, {names[1]} or tie")
        for at in unknown[:_MAX_PROBLEMS]
    )  # fmt: skip
    return base.assign(value=value.fillna("")).drop(columns="winner"), notes, problems


def _with_names(base: pd.DataFrame, roles: ColumnRoles) -> tuple[pd.DataFrame, list[str]]:
    """Return the table with condition and content of every stimulus, and what was made of the names."""
    if roles.pattern and "stimulus" in base:
        return _matched(base, roles.pattern), []
    has = {role: role in base for role in ("condition", "content", "stimulus")}
    if has["stimulus"] and not has["condition"] and not has["content"]:
        both = base["stimulus"].str.split("/", expand=True)
        if both.shape[1] == 2 and both.notna().all(axis=None) and 1 < both[1].nunique() < len(both.drop_duplicates()):
            return base.assign(condition=both[0], content=both[1]), ["stimuli are named condition/content"]
    if has["condition"] and has["content"]:
        return base, []
    if has["condition"] and has["stimulus"]:
        return _contents_of(base)
    if has["condition"]:
        return base.assign(content="all"), ["no column says the content: ratings of a condition are taken together"]
    named = "stimulus" if has["stimulus"] else "content"
    if base[named].nunique() <= _MOST_CONDITIONS:
        note = f"no column says the condition: each {named} stands for itself"
        return base.assign(condition=base[named], content="all", stimulus=base[named]), [note]
    note = f"no column says the condition: every {named} is a content of one condition"
    if named == "stimulus":
        note += ' (if names have it: --columns "names={content}_{condition}")'
    return base.assign(condition="all", content=base[named], stimulus=base[named]), [note]


def _contents_of(base: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the table with contents: a name that several conditions share, whole or without the condition's name."""
    conditions = base.groupby("stimulus")["condition"].nunique()
    if (conditions > 1).any():
        note = "the same stimulus has several conditions: it is taken for the content"
        return base.rename(columns={"stimulus": "content"}), [note]
    pairs = base[["stimulus", "condition"]].drop_duplicates()
    bare = {
        str(stimulus): re.sub(r"[\W_]+", " ", str(stimulus).replace(str(condition), " ")).strip()
        for stimulus, condition in pairs.itertuples(index=False)
    }
    contents = base["stimulus"].map(bare)
    shared = base.assign(content=contents).groupby("content")["condition"].nunique()
    if (contents != "").all() and (shared > 1).mean() > 0.5:
        return base.assign(content=contents), ["contents are the names of stimuli without their condition"]
    note = "no column says the content: each stimulus is one of its own"
    return base.assign(content=base["stimulus"]), [note]


def _matched(base: pd.DataFrame, pattern: str) -> pd.DataFrame:
    parts = re.split(r"{(\w*)}", pattern)
    groups = [f"(?P<{part}>.+?)" if part else ".*?" for part in parts[1::2]]
    names = Pattern("".join(map("".join, zip(map(re.escape, parts[::2]), [*groups, ""], strict=True))))
    problems = []
    found: dict[str, dict[str, str]] = {}
    for name in base["stimulus"].unique():
        last = re.split(r"[/\\]", str(name))[-1]
        # Where the file is and what it ends in says nothing, unless the pattern has it.
        try:
            matches = (names.match(one) for one in (last.rpartition(".")[0], last, str(name)))
            match = next((one for one in matches if one is not None), None)
        except PatternTimeout:
            what = f"names={pattern} takes too long on the stimulus {name[:40]!r}"
            raise UserError(Problem("--columns", what, "fewer braces, or shorter names")) from None
        if match is None:
            problems.append(Problem("--columns", f"names={pattern} does not fit the stimulus {name!r}", "all of them"))
        else:
            found[str(name)] = {**match}
    if problems:
        raise UserError(problems[:_MAX_PROBLEMS])
    for role in ("condition", "content"):
        if any(role in one for one in found.values()):
            base = base.assign(**{role: [found[name][role] for name in base["stimulus"]]})
        elif role not in base:
            base = base.assign(**{role: "all" if role == "content" else base["stimulus"]})
    return base
