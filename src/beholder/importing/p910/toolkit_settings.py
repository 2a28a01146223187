"""The configurations of the toolkits (`master.cfg`, `result_parser.cfg`, `trappings.cfg`), as keys of a study."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from beholder.importing.p910.clip_addresses import ClipPattern
from beholder.importing.source_folder import SourceFolder, plain_number
from beholder.importing.source_values import SourceValue

_CURRENCY = "USD"
_MOST_SESSIONS = 50


@dataclass
class ToolkitSettings:
    """What configurations say, as far as it becomes something here."""

    pattern: ClipPattern | None = None
    scale: int | None = None
    trials: int | None = None
    traps: int = 1
    golds: int = 1
    tolerance: float = 1
    """How far from its right answer the answer to a gold clip may be."""
    sessions: int | None = None
    """How many one person may take."""
    is_hidden: bool = True
    """Whether the page hid the right counts of the first matrix by an offset."""
    template: str = ""
    playback: dict[str, Any] = field(default_factory=dict)
    qualification: dict[str, Any] = field(default_factory=dict)
    clean: dict[str, Any] = field(default_factory=dict)
    bonus: dict[str, dict[str, Any]] = field(default_factory=dict)
    recruit: dict[str, Any] = field(default_factory=dict)
    is_read: bool = False


def read_settings(source: SourceFolder) -> ToolkitSettings:
    """Return what all configurations of a source say; the first to name something decides."""
    settings = ToolkitSettings()
    for name in source.ending(".cfg", ".ini"):
        root = source.ini(name)
        for section, keys in root.items():
            for key, value in keys.items():
                _read(settings, section.strip().lower(), key, value, root)
        root.rest("not known to this importer")
        settings.is_read = True
    return settings


def _read(settings: ToolkitSettings, section: str, key: str, value: SourceValue, root: SourceValue) -> None:
    handler = _KEYS.get(f"{section}.{key}") or _KEYS.get(key)
    if handler is not None:
        handler(settings, value, root)
    elif key in _NOTHING:
        value.mapped(f"nothing: {_NOTHING[key]}")
    elif section == "qualification":
        value.mapped("nothing: no program of the toolkit reads this section")
    elif _STORAGE.search(section):
        value.unsupported("stimuli lie in the study; nothing is fetched, and keys to a storage are kept nowhere")
    elif key in _UNSUPPORTED:
        value.unsupported(_UNSUPPORTED[key])


_STORAGE = re.compile(r"storage|keys|sample|questions$|clips$|^store|image")
_NOTHING: Mapping[str, str] = {
    "number_of_questions_in_rating": "as many as answers have", "expected_votes_per_file": "votes are counted",
    "url_found_in": "clips are recognised by their address", "ans_found_in": "answers are recognised by their column",
    "all_video_played_equal": "no program of the toolkit reads it",
    "check_qualification": "no program of the toolkit reads it", "check_setup": "no program of the toolkit reads it",
    "min_average_download_speed_mbps": "no program of the toolkit reads it",
    "number_of_clips_in_rating": "as many as answers have", "debug": "what goes wrong is recorded with the answer",
    "qual_cookie_name": "who has passed a check is known by the store",
    "cookie_name": "people are known by their pseudonyms, not by cookies",
}  # fmt: skip
_UNSUPPORTED: Mapping[str, str] = {
    "contact_email": "write contact in study.yaml: an address is nothing to copy unasked",
    "horizontal_rating": "answers stand as the method has them",
    "message_line1": "trapping clips are there already; `beholder media traps` makes new ones",
    "message_line2": "trapping clips are there already; `beholder media traps` makes new ones",
    "message_duration_in_seconds": "trapping clips are there already; `beholder media traps` makes new ones",
    "scale_min": "trapping clips are there already; `beholder media traps` makes new ones",
    "scale_max": "trapping clips are there already; `beholder media traps` makes new ones",
    "include_from_source_stimuli_in_second": "trapping clips are there already; `beholder media traps` makes new ones",
    "keep_original_duration": "trapping clips are there already; `beholder media traps` makes new ones",
    "avatar_rating_answers": "trapping clips are there already; `beholder media traps` makes new ones",
    "outlier_removal": "write clean: {outliers: true} for a rule that looks at each vote",
    "block_rater_if_acceptance_and_used_rate_below": "nobody is blocked by a rule; the report names them",
    "use_trapping_question": "items with a right answer are imported; write checks: {trap_item: true} for new people",
    "use_repeated_question": "items that come again are left out; write checks: {repeat: true} for new people",
    "gold_ans_format": "right answers of several items are read from their own columns",
    "block_keys": "our plan is balanced over all conditions",
    "min_inter_rater_reliability": "agreement is judged within the study, by `checks.agreement`",
}  # fmt: skip

_Handler = Callable[[ToolkitSettings, SourceValue, SourceValue], None]


def _number(value: SourceValue, low: float, high: float, to: str) -> float | None:
    """Return a number within limits, having said what it became; None of anything else, which is broken."""
    number = value.number()
    if number is None or not low <= number <= high:
        value.broken(f"is {value.text() or 'empty'}, not a number from {low:g} to {high:g}", "taken as not written")
        return None
    value.mapped(to)
    return number


def _whole(name: str, to: str, low: int = 1, high: int = 1000) -> _Handler:
    def read(settings: ToolkitSettings, value: SourceValue, _: SourceValue) -> None:
        number = _number(value, low, high, to)
        if number is not None:
            setattr(settings, name, int(number))

    return read


def _read_pattern(settings: ToolkitSettings, value: SourceValue, root: SourceValue) -> None:
    keys: tuple[str, ...] = ()
    for _, section in root.items():
        if (written := section.get("condition_keys")) is not None:
            keys = tuple(key.strip() for key in written.mapped("conditions").text().split(",") if key.strip())
    if value.text().strip():
        settings.pattern = settings.pattern or ClipPattern(value.text().strip(), keys, value.where)
    value.mapped("conditions and contents")


def _read_keys(_: ToolkitSettings, value: SourceValue, __: SourceValue) -> None:
    value.mapped("conditions")


def _read_sessions(settings: ToolkitSettings, value: SourceValue, _: SourceValue) -> None:
    number = _number(value, 1, 100_000, "design.sessions_per_participant")
    if number is not None and settings.sessions is None:
        settings.sessions = min(int(number), _MOST_SESSIONS)
        if number > _MOST_SESSIONS:
            value.assumed(f"design.sessions_per_participant: {_MOST_SESSIONS}", "nobody may take more here")


def _read_scale(settings: ToolkitSettings, value: SourceValue, _: SourceValue) -> None:
    number = _number(value, 2, 11, "scale of the question")
    if number is not None and settings.scale is None:
        settings.scale = int(number)


def _read_player(settings: ToolkitSettings, value: SourceValue, _: SourceValue) -> None:
    words = value.text().strip().lower().replace(" ", "")
    if percent := re.fullmatch(r"(\d{1,3})%", words):
        settings.playback["size"] = f"{percent[1]}%"
    elif words == "no-scale":
        settings.playback["size"] = "native"
    elif words == "no_scale":
        settings.playback["size"] = "fit"
        value.assumed("playback.size: fit", "the toolkit knows no-scale alone, and fills the page with others")
        return
    elif words == "max-height":
        settings.playback["size"] = "fit"
    else:
        value.broken(f"is {value.text()}, not max-height, no-scale or a percentage", "taken as not written")
        return
    value.mapped("playback.size")


def _read_speed(settings: ToolkitSettings, value: SourceValue, _: SourceValue) -> None:
    number = _number(value, 0.1, 100_000, "qualification.network")
    if number is not None:
        settings.qualification["network"] = {"warn_mbps": plain_number(number)}


def _read_refresh(settings: ToolkitSettings, value: SourceValue, _: SourceValue) -> None:
    number = _number(value, 1, 1000, "qualification.refresh")
    if number is not None:
        settings.qualification["refresh"] = {"min_hz": plain_number(number)}


def _read_resolution(settings: ToolkitSettings, value: SourceValue, _: SourceValue) -> None:
    sides = {key.lower(): int(side) for key, side in re.findall(r"([wh])\W*:\s*(\d{2,5})", value.text(), re.IGNORECASE)}
    if set(sides) != {"w", "h"}:
        value.broken(f"is {value.text()}, not {{w: 1280, h: 720}}", "taken as not written")
        return
    settings.qualification["screen"] = {"min": [sides["w"], sides["h"]]}
    value.assumed(f"qualification.screen: {sides['w']} x {sides['h']}", "the toolkit measured in pixels of CSS")


def _read_devices(settings: ToolkitSettings, value: SourceValue, _: SourceValue) -> None:
    words = set(re.findall(r"[a-z]+", value.text().lower()))
    allowed = [*(["desktop"] if "pc" in words else []), *(["phone", "tablet"] if "mobile" in words else [])]
    if not allowed:
        value.broken(f"is {value.text()}, not a list of PC and MOBILE", "taken as not written")
        return
    settings.qualification["device"] = {"allow": allowed}
    value.mapped("qualification.device")


def _read_packing(_: ToolkitSettings, value: SourceValue, __: SourceValue) -> None:
    value.assumed("a balanced plan", "clips are dealt out anew, evenly over conditions, contents and positions")


def _read_template(settings: ToolkitSettings, value: SourceValue, _: SourceValue) -> None:
    settings.template = value.mapped("questions").text().strip().lower()


def _read_reward(settings: ToolkitSettings, value: SourceValue, _: SourceValue) -> None:
    number = _number(value, 0, 10_000, "recruit.reward")
    if number is not None and number >= 0.01:
        settings.recruit["reward"] = f"{number:.2f} {_CURRENCY}"


def _bonus(rule: str, key: str, *, is_money: bool) -> _Handler:
    def read(settings: ToolkitSettings, value: SourceValue, _: SourceValue) -> None:
        number = _number(value, -1 if key == "min_agreement" else 0, 10_000, f"clean.bonus.{rule}.{key}")
        if number is not None:
            made: Any = f"{number:.2f} {_CURRENCY}" if is_money else plain_number(number)
            settings.bonus.setdefault(rule, {})[key] = made

    return read


def _use(rule: str, option: str, limits: tuple[float, float]) -> _Handler:
    def read(settings: ToolkitSettings, value: SourceValue, _: SourceValue) -> None:
        number = _number(value, *limits, f"clean.use.{rule}")
        if number is not None:
            made: Any = [0.95, number] if option == "range" else plain_number(number)
            settings.clean.setdefault("use", {})[rule] = {option: made}

    return read


def _rater(option: str, share: bool) -> _Handler:
    def read(settings: ToolkitSettings, value: SourceValue, _: SourceValue) -> None:
        number = _number(value, 0, 100, f"clean.rater.{option}")
        if number is not None:
            rater = settings.clean.setdefault("rater", {})
            rater[option] = plain_number(number / 100) if share else int(number)

    return read


def _read_hidden(settings: ToolkitSettings, value: SourceValue, _: SourceValue) -> None:
    settings.is_hidden = value.mapped("how the right counts of the first matrix are read").text().strip() != "0"


def _judged(rule: str) -> _Handler:
    def read(_: ToolkitSettings, value: SourceValue, __: SourceValue) -> None:
        value.assumed(f"our rule {rule}", "it looks at each answer, and its thresholds are those of clean.preset: p910")

    return read


_KEYS: Mapping[str, _Handler] = {
    "number_of_clips_per_session": _whole("trials", "design.trials"),
    "clips_per_session": _whole("trials", "design.trials"),
    "number_of_trapping_per_session": _whole("traps", "checks.trap.per_session", 0, 10),
    "trappings_per_session": _whole("traps", "checks.trap.per_session", 0, 10),
    "number_of_gold_clips_per_session": _whole("golds", "checks.gold.per_session", 0, 10),
    "gold_clips_per_session": _whole("golds", "checks.gold.per_session", 0, 10),
    "condition_pattern": _read_pattern,
    "condition_keys": _read_keys,
    "clip_packing_strategy": _read_packing,
    "scale": _read_scale,
    "video_player": _read_player,
    "internet_speed_mbps": _read_speed,
    "viewing_condition.min_screen_refresh_rate": _read_refresh,
    "viewing_condition.min_device_resolution": _read_resolution,
    "viewing_condition.accepted_device": _read_devices,
    "hit_app_html.min_screen_refresh_rate": _read_refresh,
    "hit_app_html.min_device_resolution": _read_resolution,
    "hit_app_html.accepted_device": _read_devices,
    "template": _read_template,
    "allowed_max_hit_in_project": _read_sessions,
    "allowedmaxhitsinproject": _read_sessions,
    "hit_base_payment": _read_reward,
    "quantity_hits_more_than": _bonus("quantity", "sessions", is_money=False),
    "quantity_bonus": _bonus("quantity", "each", is_money=True),
    "quality_top_percentage": _bonus("quality", "best", is_money=False),
    "quality_bonus": _bonus("quality", "each", is_money=True),
    "quality_min_pcc": _bonus("quality", "min_agreement", is_money=False),
    "variance": lambda settings, value, _: _read_tolerance(settings, value),
    "matrix_ans_obfuscated": _read_hidden,
    "accept_and_use.variance_bigger_equal": _use("variance", "min", (0, 100)),
    "accept_and_use.viewing_duration_over": _use("ratio", "range", (1, 100)),
    "accept_and_use.rater_min_acceptance_rate_current_test": _rater("min_used", share=True),
    "accept_and_use.rater_min_accepted_hits_current_test": _rater("least", share=False),
    "gold_standard_bigger_equal": _judged("gold"),
    "acceptance_criteria.correct_tps_bigger_equal": lambda settings, value, _: _read_pay(settings, value),
    "correct_tps_bigger_equal": _judged("trap"),
    "correct_matrix_bigger_equal": _judged("brightness"),
    "correct_cmp_bigger_equal": _judged("acuity"),
    "correct_math_bigger_equal": _judged("tones"),
    "all_audio_played_equal": _judged("watched"),
    "acceptance_criteria.variance_bigger_equal": _judged("variance"),
    "acceptance_criteria.viewing_duration_over": _judged("ratio"),
    "acceptance_criteria.rater_min_acceptance_rate_current_test": _judged("rater"),
    "acceptance_criteria.rater_min_accepted_hits_current_test": _judged("rater"),
}  # fmt: skip


def _read_pay(settings: ToolkitSettings, value: SourceValue) -> None:
    number = _number(value, 0, 10, "clean.accept.trap")
    if number is not None and number >= 1:
        settings.clean["accept"] = {"trap": {"max_failed": 0}}


def _read_tolerance(settings: ToolkitSettings, value: SourceValue) -> None:
    number = _number(value, 0, 10, "tolerance of gold clips")
    if number is not None:
        settings.tolerance = number


def bonus_keys(settings: ToolkitSettings) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rules of a bonus that are whole: those that lack an amount pay nobody anything."""
    for rule, needed in (("quantity", ("sessions", "each")), ("quality", ("best", "each"))):
        found = settings.bonus.get(rule, {})
        if all(found.get(key) for key in needed) and not str(found["each"]).startswith("0.00"):
            yield rule, found
