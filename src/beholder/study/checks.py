"""The checks of a study: options that registered kinds of checks bring, and the parts of the study made from them.

`study` knows no check by name. A check is a class under the entry points `beholder.checks`; what a study may write
about it comes from that class: its options in `checks` or `qualification`, and its thresholds in `clean.use`, which are
the options that are marked `After`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType, NoneType
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Optional, Self, TypeVar, cast, get_args

from pydantic import Field, ValidationError, ValidationInfo, create_model, field_validator, model_validator
from pydantic.fields import FieldInfo

from beholder.errors import Problem, StudyError
from beholder.formats import listed, plural
from beholder.study.design import Near, Number
from beholder.study.entry_points import Group, Installation, installation
from beholder.study.parts import FaultsError, StudyPart, Text, raise_faults
from beholder.study.value_kinds import Allowed
from beholder.types import CheckRole

Share = Annotated[float, Field(ge=0, le=1)]
_Options = TypeVar("_Options", bound=StudyPart)
_Part = TypeVar("_Part", bound=StudyPart)
STRANGER = 1000
"""The place of a check of another author, after all of ours."""


@dataclass(frozen=True)
class After:
    """Marks an option that may still change after the last answer, as participants do not meet it while rating."""

    description: str = ""
    """As a threshold of cleaning; that of the option when left out."""
    is_shared: bool = False
    """Thresholds that several rules have come first."""


# What a study knows about a check


class CheckKind:
    """Base of every check: of the rules over a session, and of the checks with a page."""

    name: ClassVar[str]
    """The key of its options in the study."""
    order: ClassVar[int] = STRANGER
    """Its place among the others: of a rule in reports, of a page among the pages."""
    summary: ClassVar[str]
    """One line about it in the reference of study.yaml."""
    is_default: ClassVar[bool] = False
    """Whether a study that says nothing about it has it."""
    is_told_when_off: ClassVar[bool] = True
    """Whether the digest of a study says that it is off: false for one that came when studies had been stored."""
    switch: ClassVar[str] = ""
    """The check whose options also ask for this one; empty where it has its own."""
    unique: ClassVar[tuple[str, str] | None] = None
    """A list among its options, and the key by which each of its items is named once."""

    class Options(StudyPart):
        """Options of the check."""

    @classmethod
    def fault(cls) -> str | None:
        """Return what is wrong with it or its files, where it cannot be used."""
        return None


class GoldItem(StudyPart):
    """One gold stimulus, where there is no manifest with a line for it."""

    file: Text = Field(description="A file in the study folder, or an https address.")
    content: Text | None = Field(default=None, description="What it shows; the name of the file when left out.")
    condition: Text | None = Field(default=None, description="Its condition; `gold` when left out.")
    expected: Number = Field(default=None, description="The right answer, of every question or by question.")
    tolerance: Near = Field(default=None, description="How far from it an answer may be; as the rule when left out.")


class RuleOptions(StudyPart):
    """Options of every rule."""

    action: Literal["flag", "record"] = Field(
        default="flag", description="`flag`: silent, cleaning decides; `record`: only noted, and costs nothing."
    )

    def judged_by(self, thresholds: Mapping[str, Any]) -> Self:
        """Return the options with thresholds of cleaning in place of their own."""
        return self.model_copy(update=thresholds)


class Thresholds(StudyPart):
    """By what a rule is judged afterwards; what is left out is as in `checks`."""

    options: ClassVar[type[RuleOptions]] = RuleOptions
    """Whose thresholds these are."""
    action: Literal["flag", "record"] | None = Field(
        default=None, description="`flag`: costs the use; `record`: only noted. As in `checks` when left out."
    )

    @property
    def written(self) -> dict[str, Any]:
        """The thresholds that are not left out."""
        return {name: value for name, value in self if value is not None}

    @model_validator(mode="after")
    def _fit(self) -> Self:
        """Hold thresholds to what the options demand of each other, such as the lower number first."""
        try:
            self.options.model_validate(self.written)
        except ValidationError as error:
            causes = [detail.get("ctx", {}).get("error") for detail in error.errors(include_url=False)]
            raise_faults([fault for cause in causes if isinstance(cause, FaultsError) for fault in cause.faults])
        return self


class RuleKind(CheckKind):
    """Base of the rules over a session, as far as a study knows them."""

    title: ClassVar[str]
    threshold_summary: ClassVar[str] = ""
    """As `summary`, for its thresholds; the same when left out."""
    threshold_model: ClassVar[tuple[str, str]] = ("", "")
    """Name and description of its thresholds in the JSON Schema; from its own name when left out."""
    role: ClassVar[CheckRole | None] = None
    """Of the stimuli that it adds to the lists, if it does."""
    trial_words: ClassVar[tuple[str, str]] = ("", "")
    """What trials with such stimuli are called, one and many."""
    purpose: ClassVar[Literal["trap", "repeat"] | None] = None
    """Of the statements that it adds to the pages of a survey, if it does."""
    statement_words: ClassVar[tuple[str, str]] = ("", "")
    is_planned: ClassVar[bool] = False
    """Whether it needs something in the lists of a plan."""
    asks_itself: ClassVar[bool] = False
    """Whether its stimuli say themselves which answer to give: only then may a failure cost the pay."""
    looks_at_presses: ClassVar[bool] = False
    """Whether it looks at how pages are operated: only then do pages log that."""
    compares_ratings: ClassVar[bool] = False
    """Whether it judges people by how they rate the stimuli under test. To leave people out by what is measured changes
    the measurement, so such a rule is only noted unless the study says otherwise."""

    class Options(RuleOptions):
        """Options of every rule."""

    Thresholds: ClassVar[type[Thresholds]] = Thresholds

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "Options" in vars(cls) and _shape(cls.Options) != _shape(cls.Thresholds.options):
            cls.Thresholds = _thresholds_model(cls)
            # Under its own name too: so it can be pickled.
            setattr(cls, cls.Thresholds.__name__, cls.Thresholds)

    @classmethod
    def implied(cls, study: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the options that follow from the rest of a study in which none are written; None for the usual."""
        return None

    @classmethod
    def listed_stimuli(cls, options: RuleOptions) -> tuple[GoldItem, ...]:
        """Return the stimuli of its role that the study lists in its options."""
        return ()


def _marked(options: type[StudyPart]) -> list[tuple[str, FieldInfo, After]]:
    """Return the options that may still change after the last answer, with their marks, shared ones first."""
    fields = [(name, one, mark) for name, one in options.model_fields.items() for mark in _marks(one)]
    return sorted(fields, key=lambda part: not part[2].is_shared)


def _marks(one: FieldInfo) -> list[After]:
    return [mark for mark in one.metadata if isinstance(mark, After)]


def _shape(options: type[StudyPart]) -> list[tuple[str, str]]:
    """Return what the thresholds of options depend on: rules with the same ones share a model."""
    return [(name, f"{one.annotation} {one.metadata}") for name, one, _ in _marked(options)]


def _thresholds_model(rule: type[RuleKind]) -> type[Thresholds]:
    """Return the thresholds of a rule: each option that is marked `After`, and may be left out."""
    title, description = rule.__dict__.get("threshold_model", ("", ""))
    fields: dict[str, Any] = {}
    for name, one, mark in _marked(rule.Options):
        kept = [part for part in one.metadata if not isinstance(part, After)]
        plain = Annotated[one.annotation, *kept] if kept else one.annotation
        annotation = plain if NoneType in get_args(one.annotation) else Optional[plain]  # noqa: UP045
        words = f"{mark.description or one.description} As in `checks` when left out."
        fields[name] = (annotation, Field(default=None, description=words))
    model = create_model(
        title or f"Use{rule.__name__}",
        __base__=Thresholds,
        __module__=rule.__module__,
        __doc__=description or f"Thresholds of `{rule.name}`.",
        **fields,
    )
    model.__qualname__ = f"{rule.__qualname__}.{model.__name__}"
    model.options = rule.Options
    return model


# Parts of a study that are made from kinds of checks


class MadePart(StudyPart):
    """A part of a study whose model is made from registered checks. It can be pickled as if it were written here."""

    maker: ClassVar[tuple[Callable[..., type[StudyPart]], tuple[Any, ...]] | None] = None
    """The function that made the model, and its arguments."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self.maker is None:
            return super().__reduce_ex__(protocol)
        return _blank, self.maker, self.__getstate__()


def _blank(maker: Callable[..., type[StudyPart]], arguments: tuple[Any, ...]) -> StudyPart:
    model = maker(*arguments)
    return model.__new__(model)


def make_part(base: type[_Part], maker: Callable[..., type[_Part]], arguments: tuple[Any, ...], **fields: Any) -> Any:
    """Return a model of the name of its base with these fields besides; `maker` and its arguments make it again."""
    model = create_model(base.__name__, __base__=base, __module__=base.__module__, __doc__=base.__doc__, **fields)
    cast("type[MadePart]", model).maker = (maker, arguments)
    return model


class Switches(MadePart):
    """Base of a part with a key for each check: `true`, `false` or its options."""

    kinds: ClassVar[tuple[type[CheckKind], ...]] = ()
    """In their order."""

    @field_validator("*", mode="after")
    @classmethod
    def _filled(cls, value: StudyPart | bool, field: ValidationInfo) -> StudyPart | bool:
        """Return the default options of a check that is switched on by `true`."""
        if value is not True:
            return value
        return next(kind for kind in cls.kinds if kind.name == field.field_name).Options()

    def of(self, options: type[_Options]) -> _Options | None:
        """Return the options of this kind, such as `Gold.Options`, defaults filled; None where it is switched off."""
        return next((value for _, value in self if isinstance(value, options)), None)


_Switches = TypeVar("_Switches", bound=Switches)


@lru_cache(maxsize=32)
def switches_model(base: type[_Switches], kinds: tuple[type[CheckKind], ...]) -> type[_Switches]:
    """Return a part of the study with a key for each of these checks."""
    model: type[_Switches] = make_part(base, switches_model, (base, kinds), **{one.name: _switch(one) for one in kinds})
    model.kinds = kinds
    return model


def _switch(kind: type[CheckKind]) -> tuple[Any, Any]:
    """Return the field of a check; without a default for one of its options it cannot be switched on by `true`."""
    required = [name for name, one in kind.Options.model_fields.items() if one.is_required()]
    default = kind.Options() if kind.is_default else False
    about = Field(default=default, description=kind.summary)
    if required:
        keys = f"{plural(len(required), 'key')} {listed(required, 'and')}"
        return Annotated[kind.Options | Literal[False], Allowed(f"false, or a map with the {keys}")], about
    return kind.Options | bool, about


class Checks(Switches):
    """Rules over what people do while they rate: each `true`, `false` or its options."""

    kinds: ClassVar[tuple[type[RuleKind], ...]] = ()

    def rule(self, name: str) -> RuleOptions | None:
        """Return the options of a rule, defaults filled; None where it is switched off."""
        return getattr(self, name) or None

    def of_role(self, role: CheckRole) -> RuleOptions | None:
        """Return the options of the rule whose stimuli have a role; None where it is switched off."""
        return next((options for kind, options in self.rules() if kind.role == role), None)

    def rules(self) -> Iterator[tuple[type[RuleKind], RuleOptions]]:
        """Yield the rules that are switched on, with their options."""
        for kind in self.kinds:
            options = self.rule(kind.name)
            if options is not None:
                yield kind, options


class Use(MadePart):
    """By which thresholds a session is used: `true`, `false` or options for each rule; as in `checks` when left out."""


@lru_cache(maxsize=32)
def use_model(kinds: tuple[type[RuleKind], ...]) -> type[Use]:
    """Return `clean.use` with a key for each rule."""
    fields: dict[str, Any] = {
        kind.name: (
            kind.Thresholds | bool | None, Field(default=None, description=kind.threshold_summary or kind.summary),
        )
        for kind in kinds
    }  # fmt: skip
    model: type[Use] = make_part(Use, use_model, (kinds,), **fields)
    return model


# Registered checks

CHECKS = Group("beholder.checks", "check", "beholder.checks.contract.SessionRule", of_classes=True)
_REQUIRED = ("name", "summary", "Options")


class CheckKinds(NamedTuple):
    """The checks that are installed, in their order."""

    rules: tuple[type[RuleKind], ...] = ()
    page_checks: tuple[type[CheckKind], ...] = ()
    problems: Mapping[str, Problem] = MappingProxyType({})
    """By name, why a check cannot be used. Only studies that name it have to know."""

    @property
    def planned(self) -> tuple[str, ...]:
        """Names of the rules that need something in the lists of a plan."""
        return tuple(kind.name for kind in self.rules if kind.is_planned)


def installed_checks() -> CheckKinds:
    """Return all registered checks: ours in their order, then those of other authors."""
    return _read_checks(installation())


@lru_cache(maxsize=4)
def _read_checks(_installed: Installation) -> CheckKinds:
    kinds: list[type[CheckKind]] = []
    problems: dict[str, Problem] = {}
    for name in CHECKS.names():
        try:
            kinds.append(_load(name))
        except StudyError as error:
            problems[name] = error.problems[0]
            # Another package with a name of ours takes nothing from studies that do not say it.
            kinds += [entry.load() for entry in CHECKS.entries(name) if entry.module.startswith("beholder.")]
    kinds.sort(key=lambda kind: (kind.order, kind.name))
    rules = tuple(kind for kind in kinds if issubclass(kind, RuleKind))
    return CheckKinds(rules, tuple(kind for kind in kinds if not issubclass(kind, RuleKind)), problems)


def _load(name: str) -> type[CheckKind]:
    entry = CHECKS.entry(name, "checks")
    kind: type[CheckKind] = CHECKS.load(entry, "checks", _REQUIRED)
    if not issubclass(kind, CheckKind):
        what = f"check {name}, entry point {entry.value}, is another class"
        raise StudyError(Problem("checks", what, f"a subclass of {CHECKS.contract}, or of a check with a page"))
    fault = kind.fault()
    if fault is not None:
        what = f"check {name}, entry point {entry.value}, {fault}"
        raise StudyError(Problem("checks", what, "", "Repair, update or uninstall that package."))
    return kind
