"""The parts of a study that are made from registered checks: switches, thresholds, and what is installed."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest
from pydantic import ValidationError

from beholder.checks.answer_patterns import Quota, Repeat, Speed, Variance
from beholder.checks.known_answers import Attention, Gold, Trap
from beholder.checks.playback import Ratio, Smooth
from beholder.errors import StudyError
from beholder.methods import load_study
from beholder.study.checks import Checks, installed_checks, switches_model, use_model
from beholder.study.serialization import study_json, study_schema
from beholder.testing import write_study
from support.installed_packages import install

KINDS = installed_checks()
ALL = switches_model(Checks, KINDS.rules)


def test_true_switches_a_rule_on_with_its_defaults_and_false_off() -> None:
    checks = ALL.model_validate({"ratio": True, "variance": False})
    assert checks.rule("ratio") == checks.of(Ratio.Options) == Ratio.Options()
    assert checks.rule("variance") is None
    assert checks.of(Variance.Options) is None
    assert list(checks.rules()) == [(Ratio, Ratio.Options()), (Quota, Quota.Options())]
    assert set(KINDS.planned) < {rule.name for rule in KINDS.rules} == set(ALL.model_fields)


def test_the_rule_of_a_role_is_found_by_it() -> None:
    checks = ALL.model_validate({"trap": {"clips": 3}})
    assert checks.of_role("trap") == Trap.Options(clips=3)
    assert checks.of_role("gold") is None


def test_a_rule_acts_at_once_when_it_warns_retries_or_ends_a_session() -> None:
    assert not Smooth.Options().is_immediate
    assert all(Smooth.Options(action=action).is_immediate for action in ("warn", "retry"))
    assert Speed.Options(end_after=2).is_immediate


@pytest.mark.parametrize(("keys", "trials"), [({}, 3), ({"items_per_trial": 2}, 0), ({"per_session": 1}, 1)])
def test_trials_are_repeated_unless_items_are(keys: dict[str, int], trials: int) -> None:
    assert Repeat.Options.model_validate(keys).trials == trials


@pytest.mark.parametrize("keys", [{"targets": (95, 5)}, {"words": "Set it to {number}"}])
def test_an_attention_check_that_cannot_be_asked_is_refused(keys: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Attention.Options.model_validate(keys)


# Thresholds of cleaning in place of those of the checks


def test_a_threshold_that_is_left_out_is_that_of_the_check() -> None:
    used = Variance.Thresholds.model_validate({"share": 0.4})
    rule = Variance.Options(min=0.2, share=0.6).judged_by(used.written)
    assert (rule.min, rule.share, rule.action) == (0.2, 0.4, "flag")


def test_a_tolerance_of_gold_counts_for_every_gold_stimulus() -> None:
    assert Gold.Options().judged_by({"tolerance": 5}).within == 5
    assert Gold.Options().judged_by({"action": "record"}).within is None


def test_a_range_has_its_lower_number_first() -> None:
    with pytest.raises(ValidationError, match="the lower number first"):
        Ratio.Thresholds.model_validate({"range": (1.2, 0.9)})


def test_every_rule_has_thresholds_that_its_options_have_too() -> None:
    assert set(use_model(KINDS.rules).model_fields) == {rule.name for rule in KINDS.rules}
    for rule in KINDS.rules:
        assert set(rule.Thresholds.model_fields) <= set(rule.Options.model_fields)


def test_only_options_marked_for_it_are_thresholds_shared_ones_first() -> None:
    assert list(Smooth.Thresholds.model_fields) == ["action", "max_failed", "share", "dropped", "stall_s"]
    assert list(Quota.Thresholds.model_fields) == ["action", "sessions"]
    assert Attention.Thresholds is Trap.Thresholds, "rules with the same ones share a model"


# Studies made of them


def test_a_study_can_be_pickled_and_copied(tmp_path: Path, tiny: Path) -> None:
    keys = {"checks": {"gold": {"tolerance": 1}}, "clean": {"use": {"gold": {"tolerance": 2}, "speed": True}}}
    study = load_study(write_study(tmp_path, tiny, **keys))
    for same in (pickle.loads(pickle.dumps(study)), copy.deepcopy(study), copy.copy(study), study.model_copy()):
        assert same == study
        assert study_json(same) == study_json(study)
        assert type(same) is type(study)
        assert same.where("checks.gold") == study.where("checks.gold")


def test_options_are_called_by_their_check_in_the_schema() -> None:
    parts = study_schema(KINDS)["$defs"]
    assert {"Attention", "Gold", "UseNear", "UseGold", "Checks", "Use"} <= set(parts)
    assert not [name for name in parts if "Options" in name]


# Checks of other packages

RULE = """
from typing import Annotated
from pydantic import Field
from beholder.checks.contract import SessionRule
from beholder.study.checks import After

class Lucky(SessionRule):
    name, title, summary, reasons = "lucky", "Luck", "Nobody is unlucky.", {"unlucky": "Unlucky"}

    class Options(SessionRule.Options):
        least: Annotated[int, After()] = Field(default=7, ge=1, description="Least luck.")

    options: Options

    def sentence(self):
        return "Everybody is lucky."

    def judge(self, evidence):
        return self.verdict("pass")

instance = object()
"""


def bring(
    folder: Path, monkeypatch: pytest.MonkeyPatch, source: str, entry: str = "lucky = stranger_luck:Lucky"
) -> None:
    """Put a distribution with one check on the path."""
    install(folder, monkeypatch, "stranger_luck", source, f"[beholder.checks]\n{entry}\n")


def refusal(path: Path) -> list[str]:
    with pytest.raises(StudyError) as caught:
        load_study(path)
    return str(caught.value).splitlines()


def test_a_strangers_rule_has_a_key_like_ours(tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bring(tmp_path / "site", monkeypatch, RULE)
    assert [rule.name for rule in installed_checks().rules][-1] == "lucky", "after all of ours"
    keys = {"checks": {"lucky": {"least": 3}}, "clean": {"use": {"lucky": {"least": 9}}}}
    study = load_study(write_study(tmp_path / "study", tiny, **keys))
    assert study.checks.rule("lucky").model_dump() == {"action": "flag", "least": 3}  # type: ignore[union-attr]
    assert study.clean.rules(study.checks).rule("lucky").model_dump() == {  # type: ignore[union-attr]
        "action": "flag", "least": 9,
    }  # fmt: skip
    assert study_schema(installed_checks())["$defs"]["UseLucky"]["properties"]["least"]["description"] == (
        "Least luck. As in `checks` when left out."
    )
    wrong = write_study(tmp_path / "wrong", tiny, checks={"lucky": {"least": 0, "most": 1}})
    assert [line.partition("  ")[2] for line in refusal(wrong)] == [
        "checks.lucky.least is 0. Allowed: a whole number, 1 or more.",
        "checks.lucky.most is not a known key. Allowed: action and least.",
    ]


@pytest.mark.parametrize(
    ("source", "entry", "why"),
    [
        ("import nothing_of_this_name", "Lucky",
         "cannot be imported: ModuleNotFoundError: No module named 'nothing_of_this_name'. "
         "Repair, update or uninstall that package."),
        (RULE, "instance", "is an instance. Allowed: its class."),
        (RULE.replace('"lucky", "Luck"', '"other", "Luck"'), "Lucky",
         "calls itself other. Allowed: one name. Register it under its own name."),
        ("class Lucky:\n    name = 'lucky'\n", "Lucky",
         "lacks summary and Options. Allowed: what beholder.checks.contract.SessionRule names. Update that package."),
    ],
)  # fmt: skip
def test_a_check_that_cannot_be_used_breaks_only_studies_that_name_it(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch, source: str, entry: str, why: str
) -> None:
    bring(tmp_path / "site", monkeypatch, source, f"lucky = stranger_luck:{entry}")
    assert load_study(write_study(tmp_path / "plain", tiny)).checks.of(Variance.Options) is not None
    named = write_study(tmp_path / "named", tiny, checks={"lucky": True, "gold": {"per_sesion": 1}})
    line = next(n for n, text in enumerate(named.read_text("utf-8").splitlines(), 1) if "lucky" in text)
    subject = f"check lucky, entry point stranger_luck:{entry} of the package stranger_luck,"
    told = refusal(named)
    assert told[0] == f"study.yaml:{line}  {subject} {why}"
    assert "per_sesion is not a known key" in told[1], "and all other problems at once"
    assert len(told) == 2


def test_a_check_that_cannot_be_used_says_why_where_only_cleaning_names_it(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(tmp_path / "site", monkeypatch, "import nothing_of_this_name")
    named = write_study(tmp_path / "named", tiny, clean={"use": {"lucky": {"least": 9}, "speed": {"most": 1}}})
    line = next(n for n, text in enumerate(named.read_text("utf-8").splitlines(), 1) if "lucky" in text)
    told = refusal(named)
    assert told[0] == (
        f"study.yaml:{line}  check lucky, entry point stranger_luck:Lucky of the package stranger_luck, cannot be "
        "imported: ModuleNotFoundError: No module named 'nothing_of_this_name'. "
        "Repair, update or uninstall that package."
    )
    assert "clean.use.speed.most is not a known key" in told[1], "and all other problems at once"
    assert len(told) == 2


def test_a_package_with_a_name_of_ours_takes_nothing_away(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(tmp_path / "site", monkeypatch, RULE.replace('"lucky"', '"quota"'), "quota = stranger_luck:Lucky")
    assert load_study(write_study(tmp_path / "plain", tiny)).checks.of(Quota.Options) == Quota.Options()
    (told,) = refusal(write_study(tmp_path / "named", tiny, checks={"quota": True}))
    assert told.partition("  ")[2] == (
        "check quota is brought by two packages: beholder.checks.answer_patterns:Quota and stranger_luck:Lucky. "
        "Allowed: one package for each name. Uninstall one of them."
    )
