"""Roles of columns: which column of a table says who rated what and how, one row per rating or one column for each.

Names that others use are recognised in any case; `columns` says what is not evident. Where two readings are possible,
the table is refused with the line that decides between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import pandas as pd

from beholder.analysis.rating_values import evident_scale, read_numbers, read_times
from beholder.analysis.spreadsheets import MISSING_WORDS, Sheet, is_number, leading_number
from beholder.errors import Problem, UserError, did_you_mean
from beholder.formats import first_names, join_names, plain_count
from beholder.study.questions import SCALES

Columns: TypeAlias = "str | Sequence[str] | Mapping[str, str | Sequence[str]] | None"
"""What the columns of a table are: `participant=Subject,value=Score`, or a map from role to column or columns."""
ColumnRole: TypeAlias = str
"""What a column is: one of `_TOLD_ROLES`."""

_USUAL_NAMES: Mapping[ColumnRole, str] = {
    "participant": "participant, subject, subj, rater, listener, viewer, observer, worker, workerid, user, userid, "
    "assessor, person, panelist, panellist, annotator, judge, respondent, evaluator, tester, voter, prolific pid, "
    "session uuid, vp, proband, probandin, versuchsperson, teilnehmer",
    "condition": "condition, system, model, hrc, codec, algorithm, treatment, variant, configuration, rating stimulus, "
    "bedingung, verfahren",
    "content": "content, src, source, scene, sequence, item, sentence, utterance, prompt, excerpt, passage, trial id, "
    "inhalt, szene, satz",
    "stimulus": "stimulus, stimuli, file, filename, file url, clip, video, image, picture, sample, pvs, audio, wav, "
    "track, url, media, datei",
    "value": "value, score, rating, mos, vote, opinion, opinion score, grade, answer, response, rating score, "
    "bewertung, urteil, note",
    "rank": "rank, ranking, place, placing, placement, rang, platz",
    "question": "question, attribute, dimension, criterion, aspect",
    "repetition": "repetition, repeat, rep, replicate, replication",
    "run": "run",
    "winner": "winner, preferred, chosen",
    "loser": "loser, not preferred, not chosen",
    "is_reference": "is reference, is ref, isref",
}
"""What a column is called in tables of others, in lower case, with spaces between words."""
_NAMES: Mapping[str, ColumnRole] = {
    name: role for role, names in _USUAL_NAMES.items() for name in names.split(", ")
}  # fmt: skip
_ENDINGS = (" id", " name", " nr", " no", " number", " code")
STATISTICS = frozenset(
    ("mean", "average", "avg", "mittelwert", "median", "sd", "std", "stdev", "std dev", "variance", "var", "se", "sem",
     "ci", "ci95", "95 ci", "95 ci low", "95 ci high", "min", "max", "sum", "total", "n", "count", "sos")
)  # fmt: skip
"""Names of columns and of rows that were computed from the others."""
_NO_RATINGS = frozenset(
    ("age", "gender", "sex", "time", "duration", "timestamp", "date", "day", "order", "trial", "index", "position",
     "session", "block", "page", "rt", "response time", "response ms", "rating time", "seconds", "ms", "group",
     "batch", "id", "seed", "weight", "width", "height", "fps", "frame rate", "bitrate", "qp", "crf", "stimulus index",
     "winner index", "loser index", "factor")
)  # fmt: skip
"""Names of columns that hold numbers, and no ratings."""
_COUNTERS = ("", "index", "id", "no", "nr", "row", "column 1", "unnamed 0")
"""Names of a column that may only count the rows."""
KEPT = (
    "kind", "method", "role", "other_condition", "other_stimulus", "scale_min", "scale_max", "use", "session",
    "position", "response_ms", "raw_value", "unit", "word", "said", "heard", "answered_at", "draw_probability",
)  # fmt: skip
"""Columns that are taken as they are where they have exactly these names."""
_TOLD_ROLES: tuple[ColumnRole, ...] = (
    "participant", "condition", "content", "stimulus", "value", "rank", "question", "repetition", "run", "winner",
    "loser", "other_condition", "answered_at", "is_reference",
)  # fmt: skip
_OPTIONS = frozenset((*_USUAL_NAMES["condition"].split(", "), "option", "player", "candidate", ""))
"""What the two columns of options of a vote are called, before `a` and `b`."""
_OPTION_ENDS = (("a", "b"), ("1", "2"), ("left", "right"), ("first", "second"), ("one", "two"))
_TIMES = frozenset(("answered at", "timestamp", "tstamp", "created at", "submitted at", "date", "time"))
"""What the time of a vote is called."""
_MOST_QUESTIONS = 20
"""Of more than so many questions about votes, each is what was asked of the options: a content."""
_PLACES = frozenset((*_USUAL_NAMES["rank"].split(", "), "position"))
"""Names of columns in which 1 may be the best, or the first that was shown."""
_WIDE: tuple[ColumnRole, ...] = ("participant", "condition", "content", "stimulus", "question")
"""Roles whose values can be the names of columns."""
_SHOWN = 6
_RATER = re.compile(r"(?i)(s|p|r|o|l|w|vp|sub|subj|subject|rater|listener|observer|viewer|worker|participant|person|"
                    r"user|assessor|judge|annotator|evaluator)[ _.-]*\d+")  # fmt: skip
_LABELS = frozenset(text.casefold() for scale in SCALES.values() for _, text in scale.labels)


@dataclass(frozen=True)
class ColumnRoles:
    """What each column of a table is."""

    single: Mapping[ColumnRole, str]
    """The one column of a role."""
    wide_role: ColumnRole | None = None
    """What the names of the columns are, where every rating of a row has a column of its own."""
    wide: tuple[str, ...] = ()
    pattern: str = ""
    """How stimuli are named, such as `{content}_{condition}`; empty where other columns say what they are."""
    notes: tuple[str, ...] = ()


class ToldColumns(NamedTuple):
    """What the researcher says of the columns."""

    single: Mapping[ColumnRole, str]
    wide: Mapping[ColumnRole, str]
    """As written: `A+B`, `A..F` or `*`."""
    pattern: str = ""


def parse_columns(columns: Columns) -> ToldColumns:
    """Return what is said of the columns, or raise UserError with every problem."""
    problems: list[Problem] = []
    single: dict[ColumnRole, str] = {}
    wide: dict[ColumnRole, str] = {}
    pattern = ""
    allowed = f"{', '.join(_TOLD_ROLES)}, names"
    for key, name in _pairs(columns, problems):
        if key == "names":
            pattern = name
            if not set(re.findall(r"{(\w*)}", name)) & {"condition", "content"} or "}{" in name:
                what = f"names is {name!r}"
                problems.append(Problem("--columns", what, "a pattern such as {condition}_{content}"))
        elif key not in _TOLD_ROLES:
            problems.append(Problem("--columns", f"{key!r} is no role", allowed, did_you_mean(key, _TOLD_ROLES)))
        elif not name:
            problems.append(Problem("--columns", f"{key} has no column", f"{key}=NAME"))
        elif key in _WIDE and (name == "*" or "+" in name or ".." in name):
            wide[key] = name
        else:
            single[key] = name
    if {"value", "rank"} <= {*single}:
        what, fix = "value and rank are both told", "A rank is a value of which 1 is the best."
        problems.append(Problem("--columns", what, "one of the two", fix))
    if len(wide) > 1:
        both = join_names(list(wide))
        problems.append(Problem("--columns", f"{both} have several columns each", "one role with several columns"))
    if problems:
        raise UserError(problems)
    return ToldColumns(single, wide, pattern)


def _pairs(columns: Columns, problems: list[Problem]) -> Iterator[tuple[ColumnRole, str]]:
    """Yield role and column of each part; a comma in a name of a column is no end of it."""
    if isinstance(columns, Mapping):
        for key, name in columns.items():
            yield key, name if isinstance(name, str) else "+".join(name)
        return
    for text in [columns] if isinstance(columns, str) else columns or ():
        for part in re.split(r",(?=\s*\w+\s*=)", text):
            key, sign, name = part.partition("=")
            if sign:
                yield key.strip().lower(), name.strip()
            else:
                problems.append(Problem("--columns", f"is {part!r}", "role=NAME, as participant=Subject,value=Score"))


# Which column is what


def find_roles(sheet: Sheet, told: ToldColumns) -> ColumnRoles:
    """Return what each column is, or raise UserError with what was found and the line that says what it is."""
    names = [str(name) for name in sheet.cells.columns]
    single, unknown = _told(sheet, names, told)
    wide_role, wide = _told_wide(sheet, names, told, single)
    if unknown:
        raise UserError(unknown)
    taken = {*single.values(), *wide}
    recognised: dict[ColumnRole, str] = {}
    for role in _USUAL_NAMES:
        if role in single or role == wide_role or (role in ("value", "rank") and wide_role is not None):
            continue
        if (role == "value" and "rank" in single) or (role == "rank" and {"value", "winner"} & {*single, *recognised}):
            continue
        name = _recognise(sheet, role, [name for name in names if name not in taken], single | recognised)
        if name is not None:
            recognised[role] = name
    found = single | recognised
    if "winner" in found and "loser" not in found:
        found = _with_options(sheet, [name for name in names if name not in taken], found)
    if wide_role is not None:
        found.pop("value", None)
        found.pop("rank", None)
        roles = ColumnRoles(found, wide_role, tuple(wide), told.pattern)
    else:
        roles = _arranged(sheet, ColumnRoles(found, pattern=told.pattern))
    return replace(roles, notes=tuple(_words(roles)))


def _told(sheet: Sheet, names: Sequence[str], told: ToldColumns) -> tuple[dict[ColumnRole, str], list[Problem]]:
    single, problems = {}, []
    for role, name in told.single.items():
        known = _named(name, names)
        if known is None:
            problems.append(no_column(sheet, role, name, names))
        else:
            single[role] = known
    return single, problems


def _told_wide(
    sheet: Sheet, names: Sequence[str], told: ToldColumns, single: Mapping[ColumnRole, str]
) -> tuple[ColumnRole | None, list[str]]:
    problems: list[Problem] = []
    for role, text in told.wide.items():
        if (whole := _named(text, names)) is not None and text != "*":
            return role, [whole]
        if text == "*":
            left = [name for name in names if name not in single.values()]
            return role, [name for name in left if _is_rated(sheet, name)]
        wide: list[str] = []
        for part in text.split("+"):
            first, _, last = part.partition("..")
            ends = [_named(end, names) for end in (first, last or first)]
            if None in ends:
                wrong = first if ends[0] is None else last
                problems.append(no_column(sheet, role, wrong.strip(), names))
                continue
            start, end = (names.index(str(one)) for one in ends)
            wide += names[start : end + 1]
        if problems:
            raise UserError(problems)
        return role, wide
    return None, []


def no_column(sheet: Sheet, role: str, name: str, names: Sequence[str]) -> Problem:
    """Return the problem of a column that is told and not there."""
    what = f"{role}={name}: {sheet.path} has no column {name!r}"
    return Problem("--columns", what, first_names(names, 20), did_you_mean(name, names))


def _named(name: str, names: Sequence[str]) -> str | None:
    """Return the column of a name, in any case where no other column differs in its case only."""
    if name.strip() in names:
        return name.strip()
    near = [one for one in names if one.casefold() == name.strip().casefold()]
    return near[0] if len(near) == 1 else None


def plain_name(name: str) -> str:
    """Return a name in lower case with single spaces between its words: `WorkerId` and `worker_id` are one."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return " ".join(re.findall(r"[^\W_]+", spaced)).lower()


def names_people(names: Sequence[str], told: ToldColumns) -> bool:
    """Return whether a table says who rated: in a column, or with a column for each person."""
    if "participant" in {*told.single, *told.wide}:
        return True
    raters = [name for name in names if _RATER.fullmatch(name)]
    return len(raters) > 1 or any(_role_of(name) == "participant" for name in names)


def _role_of(name: str) -> ColumnRole | None:
    plain = plain_name(name)
    shorter = (plain.removesuffix(end) for end in _ENDINGS if plain.endswith(end))
    return next((_NAMES[one] for one in (plain, *shorter) if one in _NAMES), None)


def _recognise(sheet: Sheet, role: ColumnRole, names: Sequence[str], found: Mapping[ColumnRole, str]) -> str | None:
    """Return the column with a usual name of a role; raise UserError where two have one and differ."""
    mine = [name for name in names if _role_of(name) == role]
    exact = [name for name in mine if plain_name(name) in _NAMES]
    stripped = [name for name in mine if name not in exact]
    if role == "value":
        # A column called so is the value although nothing in it can be read: then that is what is wrong.
        named = [name for name in exact if plain_name(name) in ("value", "score", "rating", "vote")]
        exact, stripped = ([name for name in some if _is_rated(sheet, name)] for some in (exact, stripped))
        exact = exact or (named if len(named) == 1 and not stripped else [])
    possible = exact or stripped
    if role == "value" and (last := [name for name in possible if name == "value"]) and len(possible) > 1:
        possible = [*last, *(name for name in possible if name != "value" and plain_name(name) != "response")]
    if len(possible) < 2 or _are_same(sheet, role, possible):
        return possible[0] if possible else None
    line = _line({**found, role: possible[0]})
    what = f"has {plain_count(len(possible), 'column')} that could be the {role}: {join_names(possible)}"
    fix = f"Say which: {line}"
    if role == "value":
        questions = {key: name for key, name in found.items() if key != "value"}
        fix += f", or all as questions: {_line(questions, 'question', possible)}"
    raise UserError(Problem(str(sheet.path), what, "one", f"{fix}."))


def _with_options(sheet: Sheet, names: Sequence[str], found: Mapping[ColumnRole, str]) -> dict[ColumnRole, str]:
    """Return the roles of a table of votes with the two columns of options, and the time, where they can be told."""
    roles = dict(found)
    ends = {option_end(name): name for name in names}
    pairs = [(ends[one], ends[other]) for one, other in _OPTION_ENDS if {one, other} <= set(ends)]
    if pairs and not {"condition", "other_condition"} & set(roles):
        roles["condition"], roles["other_condition"] = pairs[0]
    times = [name for name in names if plain_name(name) in _TIMES and read_times(sheet.cells[name]).notna().all()]
    if times and "answered_at" not in roles:
        roles["answered_at"] = times[0]
    if roles.get("question") in names and sheet.cells[roles["question"]].nunique() > _MOST_QUESTIONS:
        asked = roles.pop("question")
        roles.setdefault("content", asked)
    return roles


def option_end(name: str) -> str:
    """Return how a column of options ends, as `a` of `model_a`; empty where it is none."""
    stem, _, end = re.sub(r"(?<=[a-z])(?=\d$)", " ", plain_name(name)).rpartition(" ")
    return end if stem in _OPTIONS and any(end in ends for ends in _OPTION_ENDS) else ""


def _are_same(sheet: Sheet, role: ColumnRole, names: Sequence[str]) -> bool:
    """Return whether columns tell the same things apart, as a number and a name of a person do."""
    if role == "value":
        return all(sheet.cells[name].equals(sheet.cells[names[0]]) for name in names)
    first, *others = (pd.factorize(sheet.cells[name])[0].tolist() for name in names)
    return all(other == first for other in others)


def _is_rated(sheet: Sheet, name: str) -> bool:
    """Return whether a column can hold ratings: numbers or words of a scale, at least half of what it has."""
    cells = sheet.cells[name].unique()
    filled = [cell for cell in cells if cell.casefold() not in MISSING_WORDS]
    rated = [cell for cell in filled if is_number(cell) or leading_number(cell) or cell.casefold() in _LABELS]
    return 2 * len(rated) > len(filled)


def _arranged(sheet: Sheet, roles: ColumnRoles) -> ColumnRoles:
    """Return the roles with what is left decided: one row per rating, or one column for each."""
    single = dict(roles.single)
    left = [str(name) for name in sheet.cells.columns if name not in single.values()]
    free = [
        name
        for name in left
        if (plain := plain_name(name)) not in STATISTICS | _NO_RATINGS
        and name not in KEPT
        and not name.startswith(("factor_", "other_factor_"))
        and not _is_row_number(sheet, name)
        and _is_rated(sheet, name)
        and plain
    ]
    has_what = bool({"condition", "stimulus", "content"} & set(single))
    who = single.get("participant")
    rated = _rated_role(single)
    if rated is None and "winner" in single and ("loser" in single or {"condition", "other_condition"} <= set(single)):
        return replace(roles, single=_required(sheet, single, free))
    if rated is not None:
        if who is not None and not has_what and len(free) > 1:
            raise UserError(_wide_or_long(sheet, single, free))
        return replace(roles, single=_required(sheet, single, free))
    if who is not None and not {"condition", "stimulus"} & set(single) and len(free) > 1:
        _refuse_other_scales(sheet, single, "condition", free)
        return replace(roles, wide_role=_crossed(sheet, roles, free), wide=tuple(free))
    if who is None and has_what and len(free) > 1:
        if not all(map(_RATER.fullmatch, free)):
            raise UserError(_rows_of_what(sheet, single, free))
        _refuse_other_scales(sheet, single, "participant", free)
        return replace(roles, wide_role="participant", wide=tuple(free))
    if who is None and len(free) > 1:
        raise UserError(_nobody(sheet, free))
    if len(free) > 1:
        raise UserError(_several_values(sheet, single, free))
    if free:
        single["value"] = free[0]
    return replace(roles, single=_required(sheet, single, free))


def _rated_role(single: Mapping[ColumnRole, str]) -> ColumnRole | None:
    """Return the role of the column that holds what people answered."""
    return next((role for role in ("value", "rank") if role in single), None)


def _is_row_number(sheet: Sheet, name: str) -> bool:
    """Return whether a column counts the rows, as an index that was saved with the table does."""
    cells = sheet.cells[name]
    return plain_name(name) in _COUNTERS and any(
        cells.tolist() == [str(at) for at in range(start, start + len(cells))] for start in (0, 1)
    )


def _required(sheet: Sheet, single: dict[ColumnRole, str], free: Sequence[str]) -> dict[ColumnRole, str]:
    """Return the roles, or raise UserError with every one that is missing."""
    names = [str(name) for name in sheet.cells.columns]
    missing = []
    if "participant" not in single:
        missing.append(("who rated", "participant"))
    if not {"condition", "stimulus", "content", "winner"} & set(single):
        missing.append(("what was rated", "condition"))
    if _rated_role(single) is None and "winner" not in single:
        missing.append(("the rating", "value"))
    if not missing:
        return single
    near: dict[ColumnRole, str] = {}
    whole = dict(single)
    for is_near in (True, False):
        for _, role in missing:
            left = [name for name in names if name not in whole.values()]
            name = _nearest_name(left, role) if is_near else next(iter(left), "NAME")
            if name and role not in whole:
                whole[role] = name
                near |= {role: name} if is_near else {}
    told = {role: whole[role] for role in (*single, *(role for _, role in missing))}
    if plain_name(told.get("value", "")) in _PLACES:
        told["rank"] = told.pop("value")
    line = _line(told)
    problems = []
    for words, role in missing:
        usual = ", ".join(_USUAL_NAMES[role].split(", ")[:_SHOWN])
        fix = f"Did you mean {near[role]}?" if role in near else f"Columns: {first_names(names, 20)}."
        what = f"has no column that says {words}"
        problems.append(Problem(str(sheet.path), what, f"a name such as {usual}", f"{fix} {line}."))
    if {role for _, role in missing} == {"participant"} and _means(names):
        fix = "Means are a side of `beholder compare`; analyse and report need the ratings behind them."
        problems = [Problem(str(sheet.path), "holds means, and no ratings of people", "a row for each rating", fix)]
    raise UserError(problems)


def _nearest_name(names: Sequence[str], role: str) -> str:
    """Return the column whose name is nearly one of a role; empty where none is."""
    usual = _USUAL_NAMES[role].split(", ")
    return next((name for name in names if did_you_mean(plain_name(name), usual)), "")


def _means(names: Sequence[str]) -> bool:
    plain = {plain_name(name) for name in names}
    return bool(plain & {"mean", "mos", "dmos", "average", "avg"}) or bool(plain & {"sd", "std", "n", "ci", "ci95"})


def _crossed(sheet: Sheet, roles: ColumnRoles, names: Sequence[str]) -> ColumnRole:
    """Return what wide columns are: conditions, or stimuli where their names are pairs; which is which must be told."""
    if roles.pattern:
        return "stimulus"
    if "content" in roles.single:
        return "condition"
    for sign in ("/", "__", "_", "-", "|", " ", "."):
        parts = [name.split(sign) for name in names]
        if any(len(part) != 2 or not all(part) for part in parts):
            continue
        firsts, seconds = ({part[at] for part in parts} for at in (0, 1))
        if len(firsts) < 2 or len(seconds) < 2 or len(firsts) * len(seconds) != len(names):
            continue
        if sign == "/":
            return "stimulus"
        lines = [
            f'{_line(roles.single, "stimulus", [f"{names[0]}..{names[-1]}"])[:-1]},names={pattern}"'
            for pattern in (f"{{condition}}{sign}{{content}}", f"{{content}}{sign}{{condition}}")
        ]
        some = first_names(names, 3)
        what = f"has {len(names)} columns named by two things ({some}), and it is open which is the condition"
        fix = f"If {sorted(firsts)[0]!r} is a condition: {lines[0]}. If it is a content: {lines[1]}."
        raise UserError(Problem(str(sheet.path), what, "", fix))
    return "condition"


# Two readings: what was found, and the line that decides


def _refuse_other_scales(
    sheet: Sheet, single: Mapping[ColumnRole, str], role: ColumnRole, names: Sequence[str]
) -> None:
    """Raise UserError where columns of numbers can hardly be ratings, as they are on no usual scale."""
    numbers = read_numbers(pd.concat([sheet.cells[name] for name in names], ignore_index=True)).dropna()
    if numbers.empty or evident_scale(numbers).is_usual:
        return
    what = f"has no column that says the rating, and {first_names(names, _SHOWN)} are on no usual scale together"
    fix = f"If each of them is a {role}: {_line(single, role, names)}. If one holds the ratings: {_line(single)[:-1]}"
    raise UserError(Problem(str(sheet.path), what, "a column value, or columns on one scale", f'{fix},value=NAME".'))


def _line(single: Mapping[ColumnRole, str], wide: ColumnRole | None = None, names: Sequence[str] = ()) -> str:
    """Return what to write: --columns with the columns that are known."""
    parts = [f"{role}={name}" for role, name in single.items() if role in _TOLD_ROLES and role != wide]
    if wide is not None:
        parts.append(f"{wide}={'+'.join(names) if len(names) <= _SHOWN else f'{names[0]}..{names[-1]}'}")
    return f'--columns "{",".join(parts)}"'


def _wide_or_long(sheet: Sheet, single: Mapping[ColumnRole, str], free: Sequence[str]) -> Problem:
    rated = _rated_role(single)
    value = single[rated or "value"]
    others = {role: name for role, name in single.items() if role != rated}
    what = f"has {value}, which could be the ratings, and {first_names(free, _SHOWN)}, which could be conditions"
    fix = (
        f"One column for each condition: {_line(others, 'condition', free)}. One row for each rating: "
        f'{_line(single)[:-1]},condition=NAME".'
    )
    return Problem(str(sheet.path), what, "one of the two", fix)


def _rows_of_what(sheet: Sheet, single: Mapping[ColumnRole, str], free: Sequence[str]) -> Problem:
    what = f"says nowhere who rated: {first_names(free, _SHOWN)} could be people, or means of several questions"
    fix = f"If each of them is a person: {_line(single, 'participant', free)}. Means are a side of `beholder compare`."
    return Problem(str(sheet.path), what, "a column participant, or a column for each person", fix)


def _nobody(sheet: Sheet, free: Sequence[str]) -> Problem:
    what = f"names neither people nor stimuli, only {first_names(free, _SHOWN)}"
    fix = (
        f"If a row is a person and a column a condition: {_line({}, 'condition', free)}. If a row is a stimulus and a "
        f"column a person: {_line({}, 'participant', free)}."
    )
    return Problem(str(sheet.path), what, "a column for who rated or for what was rated", fix)


def _several_values(sheet: Sheet, single: Mapping[ColumnRole, str], free: Sequence[str]) -> Problem:
    what = f"has {plain_count(len(free), 'column')} that could be the value: {first_names(free, _SHOWN)}"
    fix = f"Say which: {_line({**single, 'value': free[0]})}, or all as questions: {_line(single, 'question', free)}."
    return Problem(str(sheet.path), what, "one", fix)


def _words(roles: ColumnRoles) -> Iterator[str]:
    """Yield what was taken for what, where a name is not ours."""
    own = {role: name for role, name in roles.single.items() if name != role}
    if own:
        yield f"{join_names([f'{name} is the {_CALLED.get(role, role)}' for role, name in own.items()])}"
    if plain_name(value := roles.single.get("value", "")) in _PLACES:
        yield f"higher counts as better (--columns rank={value} if 1 is the best)"
    if roles.wide_role is not None:
        columns = f"{plain_count(len(roles.wide), 'column')} ({first_names(roles.wide, 3)})"
        what = {"participant": "a participant", "question": "a question"}.get(roles.wide_role, f"a {roles.wide_role}")
        yield f"each of {columns} is {what}"


_CALLED = {
    "is_reference": "mark of the reference", "other_condition": "other condition", "answered_at": "time of the vote",
}  # fmt: skip
