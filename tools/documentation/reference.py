"""The reference parts of the docs, made from the study model and the command line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo

import beholder.methods
from beholder.analysis.contract import Analysis
from beholder.analysis.registry import find as find_analysis
from beholder.analysis.registry import installed, is_ours
from beholder.checks.page_contract import PageCheck
from beholder.checks.page_registry import page_check_kinds, page_checks
from beholder.cleaning import (
    devices,
    payouts,
    playback,
    ratings,
    recurring_questions,
    shortfall,
    stimuli,
    tables,
    time_marks,
    views,
)
from beholder.cli import cli
from beholder.columns import Column
from beholder.methods import find, method_folder, names
from beholder.methods.time_marks import TimeMarks
from beholder.stimuli.si_ti import SI_TI
from beholder.study.backup import Backup
from beholder.study.bibliography import Author, Publication
from beholder.study.checks import Checks, installed_checks, switches_model, use_model
from beholder.study.cleaning import (
    AcceptAsking,
    Analyse,
    Bonus,
    MarkAnalysis,
    Quality,
    Quantity,
    Rater,
    accept_model,
    clean_model,
)
from beholder.study.deployment import Deploy
from beholder.study.design import (
    Active,
    ActivePairs,
    Design,
    Endless,
    Level,
    OwnTrials,
    Sparse,
    Star,
    Stop,
    Training,
    TrainingItem,
)
from beholder.study.media import MediaHosting
from beholder.study.model import Condition, LastPage, Playback, Question, Stimuli, study_model
from beholder.study.presets import CLEAN_PRESETS, PRESETS
from beholder.study.qualification import Qualification
from beholder.study.questionnaire import Ask, RecurringAsk
from beholder.study.questions import SCALES, Example, Page, Scale, Texts
from beholder.study.recruitment import Filters, PerOutcome, Recruit, Retention
from beholder.study.value_kinds import field_kind
from documentation.licences import licence_table
from documentation.mistakes import mistake_table

OURS = tuple(name for name in names() if method_folder(name).parent == Path(beholder.methods.__file__).parent)
"""The methods whose options stand in the reference; those of other packages are described there."""

_CHECKS = installed_checks()
_STUDY = study_model(_CHECKS.rules, _CHECKS.page_checks)
_QUALIFYING = tuple(kind for kind in _CHECKS.page_checks if not kind.switch)
"""The checks with a page that have a key of their own."""

PARTS: tuple[tuple[str, str, type[BaseModel]], ...] = (
    ("stimuli", "stimuli", Stimuli),
    ("conditions", "conditions", Condition),
    ("questions", "questions", Question),
    ("scale", "questions: scale", Scale),
    ("playback", "playback", Playback),
    ("design", "design", Design),
    ("pairs", "design: pairs", Star),
    ("sparse pairs", "design: pairs", Sparse),
    ("active pairs", "design: pairs", ActivePairs),
    ("how pairs are chosen", "design: pairs: active", Active),
    ("arena", "design: arena", Endless),
    ("stop", "design: stop", Stop),
    ("levels", "design: between: FACTOR: LEVEL", Level),
    ("own", "design: own", OwnTrials),
    ("texts", "texts", Texts),
    ("pages", "texts: instructions", Page),
    ("examples", "texts: instructions: examples", Example),
    ("before and after", "before, after", Ask),
    ("during", "during", RecurringAsk),
    ("ending", "ending", LastPage),
    ("qualification", "qualification", switches_model(Qualification, _QUALIFYING)),
    ("training", "training", Training),
    ("training items", "training: items", TrainingItem),
    ("checks", "checks", switches_model(Checks, _CHECKS.rules)),
    ("clean", "clean", clean_model(_CHECKS.rules)),
    ("clean: accept", "clean: accept", accept_model(_CHECKS.rules)),
    ("clean: accept of a rule", "clean: accept: attention, trap", AcceptAsking),
    ("clean: use", "clean: use", use_model(_CHECKS.rules)),
    ("clean: rater", "clean: rater", Rater),
    ("clean: bonus", "clean: bonus", Bonus),
    ("clean: bonus for quantity", "clean: bonus: quantity", Quantity),
    ("clean: bonus for quality", "clean: bonus: quality", Quality),
    ("analyse", "analyse", Analyse),
    ("analyse: marks", "analyse: marks", MarkAnalysis),
    ("marks", "options: marks", TimeMarks),
    ("recruit", "recruit", Recruit),
    ("recruit: codes and return_to", "recruit: codes, return_to", PerOutcome),
    ("recruit: filters", "recruit: filters", Filters),
    ("retention", "retention", Retention),
    ("deploy", "deploy", Deploy),
    ("media", "media", MediaHosting),
    ("backup", "backup", Backup),
    ("publication", "publication", Publication),
    ("publication: authors", "publication: authors", Author),
)
"""Heading, where the part stands in study.yaml, and its model."""


def study_keys() -> str:
    """Return the tables of every key of study.yaml."""
    lines = ["## Top level", "", *_fields(_STUDY)]
    for heading, where, model in PARTS:
        lines += ["", f"## {heading}", "", f"`{where}`. {_sentence(model.__doc__)}", "", *_fields(model)]
    return "\n".join(lines)


def method_keys() -> str:
    """Return the options of each built-in method, its scales, and what it fills in where nothing is written."""
    lines: list[str] = []
    for name in OURS:
        method = find(name)
        scales = ", ".join(f"`{scale}`" for scale in method.scales)
        filled = "; ".join(f"`{place}: {value}`" for place, value in _flat(method.defaults)) or "nothing"
        first = f"Scales, the default first: {scales}." if scales else "It has no scales."
        lines += ["", f"### options of {name}", "", f"{first} Fills in: {filled}.", ""]
        lines += _fields(method.Options) if method.Options.model_fields else ["It has no options."]
    return "\n".join(lines[1:])


def scale_table() -> str:
    """Return the scales with a name."""
    rows = []
    for name, scale in SCALES.items():
        labels = ", ".join(f"{value:g} {text}" for value, text in scale.labels)
        rows.append((f"`{name}`", f"{scale.min:g} to {scale.max:g}", f"{scale.step:g}", scale.look, labels))
    return "\n".join(_table(("name", "range", "step", "look", "labels"), rows))


def commands() -> str:
    """Return every verb with its arguments and options."""
    lines: list[str] = []
    for name, command in flat_commands(cli):
        shown = [parameter for parameter in command.params if not getattr(parameter, "hidden", False)]
        words = [f"[{word}]" if not needed else word for word, needed in _arguments(shown)]
        lines += ["", f"## {name}", "", _sentence(command.help), "", "```console"]
        lines += [" ".join(["$ beholder", name, *words, "[OPTIONS]" * any(map(_is_option, shown))]).rstrip(), "```"]
        rows = [_option(option) for option in shown if isinstance(option, click.Option)]
        if rows:
            lines += ["", *_table(("option", "default", "meaning"), rows)]
    return "\n".join(lines[1:])


def flat_commands(group: click.Group, before: str = "") -> Iterable[tuple[str, click.Command]]:
    """Return every command by its full name; a group stands for the commands in it."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from flat_commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def check_table() -> str:
    """Return every check that participants meet, with its defaults, its times and its luck."""
    rows = []
    for step in _steps():
        luck = step.guess_rate()
        over = 1 - (1 - luck) ** step.options.attempts if step.action in ("gate", "warn") else luck
        times = str(step.options.attempts) if step.action in ("gate", "warn") else "1"
        valid = step.options.valid or "this session"
        rows.append(
            (f"`{step.name}`", f"{step.seconds:g} s", f"`{step.action}`", times, valid, _percent(luck), _percent(over))
        )
    heads = ("check", "time", "action", "attempts", "a pass counts", "luck, once", "over all")
    return "\n".join(_table(heads, rows))


def preset_table() -> str:
    """Return what each preset fills in where nothing is written."""
    rows = []
    for name, filled in PRESETS.items():
        cells = [_filled(filled.get(part, {})) for part in _FILLED]
        rows.append((f"`{name}`", *cells))
    return "\n".join(_table(("preset", *(f"`{part}`" for part in _FILLED)), rows))


_FILLED = ("qualification", "training", "checks", "clean", "playback", "recruit")
"""What presets fill in."""


def _filled(value: Any) -> str:
    """Return what a preset fills in at one key; what it only switches on by name alone."""
    if not isinstance(value, Mapping):
        return f"`{_written(value)}`"
    told = [f"`{key}`" if setting == "true" else f"`{key}: {setting}`" for key, setting in _flat(value)]
    return ", ".join(told)


def check_keys() -> str:
    """Return the options of each check that is a step of its own."""
    return _options_of({kind.name: kind.Options for kind in _QUALIFYING})


def rule_keys() -> str:
    """Return the options of each rule over what people do while they rate."""
    return _options_of({rule.name: rule.Options for rule in _CHECKS.rules})


def use_keys() -> str:
    """Return what each rule can be told for cleaning alone."""
    rows = []
    for name, field in use_model(_CHECKS.rules).model_fields.items():
        model = field_kind(field).model
        assert model is not None, name
        rows.append((f"`{name}`", ", ".join(f"`{key}`" for key in model.model_fields)))
    return "\n".join(_table(("rule", "keys"), rows))


def clean_preset_table() -> str:
    """Return what each preset fills in for cleaning alone."""
    rows = []
    for name, filled in CLEAN_PRESETS.items():
        rows.append((f"`{name}`", _filled(filled["use"]) or "nothing", "on" if filled["rater"] else "off"))
    return "\n".join(_table(("`clean.preset`", "`use`", "`rater`"), rows))


def _options_of(rules: Mapping[str, type[BaseModel]]) -> str:
    lines: list[str] = []
    for name, rule in rules.items():
        lines += ["", f"### {name}", "", _sentence(rule.__doc__), "", *_fields(rule)]
        for key, field in rule.model_fields.items():
            item = field_kind(field).item
            if item is not None and item.model is not None:
                part = item.model
                lines += ["", f"Each of `{key}`. {_sentence(part.__doc__)}", "", *_fields(part)]
    return "\n".join(lines[1:])


def _steps() -> tuple[PageCheck, ...]:
    """Return every check there is, with its defaults."""
    asked = {name: kind.example or True for name, kind in page_check_kinds().items() if not kind.switch}
    head = {"beholder": 1, "name": "all", "title": "All", "method": "acr", "stimuli": "stimuli"}
    return page_checks(_STUDY.model_validate({**head, "qualification": asked}))


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share else ""


_TABLES: Mapping[str, Mapping[str, Sequence[Column]]] = {
    "ratings": {"ratings.csv": ratings.COLUMNS},
    "sessions": {"sessions.csv": tables.SESSIONS, "participants.csv": tables.PARTICIPANTS},
    "verdicts": {"verdicts.csv": tables.VERDICTS, "checks.csv": tables.CHECKS, "qualification.csv": tables.ATTEMPTS},
    "playback": {"playback.csv": (*playback.PLAYBACK, playback.INTERRUPTED)},
    "loops": {"loops.csv": playback.LOOPS},
    "foreign": {"foreign.csv": tables.FOREIGN},
    "comments": {"comments.csv": tables.COMMENTS},
    "during": {"during.csv": recurring_questions.DURING},
    "marks": {"marks.csv": time_marks.MARKS, "viewings.csv": time_marks.VIEWINGS},
    "views": {"views.csv": views.VIEW_USE},
    "devices": {"devices.csv": devices.DEVICES},
    "stimuli": {"stimuli.csv": (*stimuli.STIMULI, *SI_TI)},
    "lists": {
        "accept.csv": payouts.ACCEPT, "reject.csv": payouts.REJECT, "look.csv": payouts.LOOK,
        "bonus.csv": payouts.BONUSES, "votes.csv": shortfall.VOTES, "extend.csv": shortfall.EXTEND,
    },
}  # fmt: skip
"""The tables that `clean` writes, by the block of docs/data.md that they stand in."""


def column_table(files: Mapping[str, Sequence[Column]]) -> str:
    """Return the columns of one file, or of several, with their types and meanings; each column once."""
    found: dict[Column, list[str]] = {}
    for file, columns in files.items():
        for column in columns:
            found.setdefault(column, []).append(file)
    is_several = len(files) > 1
    rows = []
    for column, where in found.items():
        places = "all" if len(where) == len(files) else ", ".join(where)
        allowed = ", ".join(f"`{value}`" for value in column.allowed)
        meaning = f"{column.text} One of {allowed}." if allowed else column.text
        rows.append((f"`{column.name}`", *[places] * is_several, column.kind, meaning))
    return "\n".join(_table(("column", *["in"] * is_several, "type", "meaning"), rows))


def analysis_table() -> str:
    """Return every table of analyse/: what it has a row for, and what it holds."""
    rows = [(f"`analyse/{one.file}`", one.row, one.holds) for one in _ours()]
    return "\n".join(_table(("file", "one row for each", "holds"), rows))


def analysis_columns(*names: str) -> str:
    """Return the columns of some tables of analyse/."""
    return column_table({find_analysis(name).file: find_analysis(name).columns for name in names})


def _ours() -> list[Analysis]:
    """Return our analyses; those of other packages are described there."""
    return [one for one in installed()[0] if is_ours(one.name)]


BLOCKS: Mapping[str, Callable[..., str]] = {
    "check-table": check_table,
    "check-keys": check_keys,
    "rule-keys": rule_keys,
    "presets": preset_table,
    "use-keys": use_keys,
    "clean-presets": clean_preset_table,
    "study-keys": study_keys,
    "method-keys": method_keys,
    "scales": scale_table,
    "commands": commands,
    "licences": licence_table,
    "mistakes": mistake_table,
    "analyses": analysis_table,
    "analysis-columns": analysis_columns,
    **{f"{name}-columns": partial(column_table, files) for name, files in _TABLES.items()},
}
"""What stands between `<!-- made: NAME -->`, or `<!-- made: NAME of what -->`, and `<!-- end -->` in a page."""

_BLOCK = re.compile(r"<!-- made: ([a-z-]+)((?: [a-z_]+)*) -->\n.*?<!-- end -->", re.DOTALL)


def renew(page: str) -> str:
    """Return a page with every made block made anew."""

    def made(found: re.Match[str]) -> str:
        return f"<!-- made: {found[1]}{found[2]} -->\n{BLOCKS[found[1]](*found[2].split())}\n<!-- end -->"

    return _BLOCK.sub(made, page)


def _fields(model: type[BaseModel]) -> list[str]:
    rows = []
    for name, field in model.model_fields.items():
        kind = field_kind(field)
        meaning = field.description or _sentence(_model_doc(field))
        rows.append((f"`{field.alias or name}`", _allowed(kind.words()), _default(field), meaning))
    return _table(("key", "allowed", "default", "meaning"), rows)


def _allowed(words: str) -> str:
    """Return what is allowed, without the keys of a part that has its own table."""
    return re.sub(r"a map with the keys [^,]+(, [^,]+)*", "a map, see below", words) or "anything"


def _model_doc(field: FieldInfo) -> str:
    annotation = field.annotation
    return annotation.__doc__ or "" if isinstance(annotation, type) and issubclass(annotation, BaseModel) else ""


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, Scale):
        return "the method's first"
    if value is None or value == () or value == {} or isinstance(value, BaseModel):
        return ""
    return f"`{_written(value)}`"


def _written(value: object) -> str:
    """Return a value as one would write it in study.yaml."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, value))}]"
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def _flat(values: Any, place: str = "") -> Iterable[tuple[str, str]]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{place}{key}.")
        else:
            yield f"{place}{key}", _written(value)


def _is_option(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Option)


def _arguments(parameters: Sequence[click.Parameter]) -> list[tuple[str, bool]]:
    return [
        (
            (parameter.metavar or parameter.name or "").strip("[]").upper(),
            not parameter.metavar.startswith("[") if parameter.metavar else parameter.required,
        )
        for parameter in parameters
        if isinstance(parameter, click.Argument)
    ]


def _option(option: click.Option) -> tuple[str, str, str]:
    value = "" if option.is_flag else f" {option.name.upper() if option.name else ''}"
    default = "required" if option.required else f"`{option.default}`" if option.show_default else ""
    return f"`{', '.join(option.opts)}{value}`", default, option.help or ""


def _sentence(text: str | None) -> str:
    return " ".join((text or "").split())


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *cells)]
