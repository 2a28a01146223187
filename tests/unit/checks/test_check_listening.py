"""Headphones, pitch, tones, sides: what is played, measured back from the samples, and how answers are judged."""

from __future__ import annotations

import io
import json
import wave
from collections.abc import Iterator, Mapping
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from beholder.checks.contract import Verdict
from beholder.checks.listening.headphones import HeadphonesCheck, PitchCheck
from beholder.checks.listening.sides import SidesCheck
from beholder.checks.listening.tones import TonesCheck
from beholder.checks.page_contract import Attempt, CheckContext, CheckTask, DrawnFile, RobotAbilities
from beholder.checks.page_registry import AnyPageCheck
from beholder.errors import Refused
from beholder.study import qualification as rules
from beholder.words import check_words

ALL: tuple[AnyPageCheck, ...] = (
    HeadphonesCheck(rules.Headphones()), PitchCheck(rules.Headphones()), TonesCheck(rules.Tones()),
    SidesCheck(rules.Sides()),
)  # fmt: skip
ANSWERED = {"headphones": "chosen", "pitch": "chosen", "tones": "counts", "sides": "sides"}
every_check = pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)


def pose(check: AnyPageCheck, seed: int = 1) -> CheckTask:
    return check.pose(np.random.default_rng(seed), CheckContext())


def samples(drawn: DrawnFile) -> tuple[NDArray[np.float64], int]:
    """Return what a WAV file holds, read by the standard library: (samples, channels), and the rate."""
    assert drawn.content_type == "audio/wav"
    with wave.open(io.BytesIO(drawn.body)) as file:
        assert file.getsampwidth() == 2
        data = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, file.getnchannels())
        return data / 32768, file.getframerate()


def played(check: AnyPageCheck, posed: CheckTask) -> Iterator[tuple[NDArray[np.float64], int, int]]:
    """Give every sound of an attempt, its rate, and its place from 0."""
    for place, name in enumerate(posed.media):
        yield *samples(check.draw(posed.private, name)), place


def intervals(sound: NDArray[np.float64], rate: int, posed: CheckTask) -> list[NDArray[np.float64]]:
    """Return the three intervals of a sound."""
    times: Any = posed.public["intervals"]
    return [sound[round(begin * rate) : round(end * rate)] for begin, end in times]


def rms(wave: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(wave**2)))


def correlation(part: NDArray[np.float64]) -> float:
    """Return how alike both channels are: 1 the same, -1 in antiphase."""
    left, right = part.T
    return float(np.sum(left * right) / np.sqrt(np.sum(left**2) * np.sum(right**2)))


def decibels(one: float, other: float) -> float:
    return float(20 * np.log10(one / other))


def answer(check: AnyPageCheck, posed: CheckTask, given: Any) -> Verdict:
    """Return the verdict on an answer as its page would send it."""
    read = check.read(posed.private, given)
    return check.judge(Attempt(posed.private, read))


def told(check: AnyPageCheck, verdict: Verdict) -> str:
    return check_words("en")[check.name][f"told.{verdict.reason}"].format_map(check.message_values(verdict))


# What every listening check keeps to


@every_check
def test_the_sounds_of_an_attempt_are_equally_long_and_nothing_is_in_the_file_but_samples(check: AnyPageCheck) -> None:
    sizes = set()
    for seed in range(5):
        posed = pose(check, seed)
        for name in posed.media:
            body = check.draw(posed.private, name).body
            assert (body[:4], body[12:16], body[36:40]) == (b"RIFF", b"fmt ", b"data")
            assert len(body) == 44 + int.from_bytes(body[40:44], "little")
            sizes.add(len(body))
    assert len(sizes) == 1


@every_check
def test_what_the_page_gets_is_the_same_for_everybody(check: AnyPageCheck) -> None:
    first, second = pose(check, 1), pose(check, 2)
    assert (first.public, first.media) == (second.public, second.media)
    assert first.private != second.private


@every_check
def test_no_two_sessions_hear_the_same_and_one_can_be_heard_again(check: AnyPageCheck) -> None:
    first, second = pose(check, 1), pose(check, 2)
    kept = json.loads(json.dumps(first.private))
    for name in first.media:
        assert check.draw(first.private, name) == check.draw(kept, name)
        assert check.draw(first.private, name).body != check.draw(second.private, name).body


@every_check
def test_no_sound_clips_and_none_begins_or_ends_with_a_click(check: AnyPageCheck) -> None:
    posed = pose(check)
    for sound, rate, _ in played(check, posed):
        assert np.max(np.abs(sound)) < 0.5
        assert np.max(np.abs(sound[: rate // 20])) == 0
        assert np.max(np.abs(sound[-rate // 100 :])) == 0


@every_check
def test_a_robot_that_can_passes_and_one_that_cannot_fails(check: AnyPageCheck) -> None:
    rng = np.random.default_rng(0)
    for seed in range(10):
        posed = pose(check, seed)
        assert answer(check, posed, check.respond(posed, RobotAbilities(), rng)).verdict == "pass"
        unable = RobotAbilities(frozenset([check.name]))
        assert answer(check, posed, check.respond(posed, unable, rng)).verdict == "fail"


@every_check
@pytest.mark.parametrize("why", ["start", "decode", "missing", None])
def test_sound_that_does_not_play_is_unknown_and_worth_another_try(check: AnyPageCheck, why: str | None) -> None:
    posed = pose(check)
    read = check.read(posed.private, {"blocked": True, "why": why})
    assert read == {"blocked": True, "why": why}
    verdict = check.judge(Attempt(posed.private, read))
    assert (verdict.verdict, verdict.reason, verdict.again) == ("unknown", "blocked", True)
    assert "does not count against you" in told(check, verdict)


@every_check
@pytest.mark.parametrize("given", [None, [], "1", [1], [True] * 6, [0.5] * 6, [None] * 6, ["up"] * 6])
def test_an_answer_that_no_page_sends_is_refused(check: AnyPageCheck, given: Any) -> None:
    name = ANSWERED[check.name]
    with pytest.raises(Refused) as refused:
        check.read(pose(check).private, {name: given})
    assert refused.value.where == f"answer.{name}"


@every_check
def test_how_often_it_was_played_and_through_what_is_kept_where_it_makes_sense(check: AnyPageCheck) -> None:
    posed = pose(check)
    right: Any = check.respond(posed, RobotAbilities(), np.random.default_rng(0))
    number = len(posed.media)
    read = check.read(posed.private, {**right, "plays": [2] * number, "output": {"channels": 2, "rate": 44100}})
    assert (read["plays"], read["output"]) == ([2] * number, {"channels": 2, "rate": 44100})
    for plays, output in (("x", "x"), ([1], {"channels": -1}), (None, None), ([True] * number, {"rate": 1})):
        read = check.read(posed.private, {**right, "plays": plays, "output": output})
        assert (read["plays"], read["output"]) == (None, None)


@every_check
def test_every_reason_has_words_and_none_is_a_diagnosis(check: AnyPageCheck) -> None:
    words = check_words("en")[check.name]
    reasons = {name for name in words if name.startswith("told.")}
    expected = {
        "headphones": {"speakers", "softest"}, "pitch": {"tone"}, "tones": {"missed", "count"},
        "sides": {"swapped", "mono", "silent", "sides"},
    }  # fmt: skip
    assert reasons == {f"told.{reason}" for reason in expected[check.name] | {"blocked"}}
    assert "You did nothing wrong" in words["out"]
    assert not any(word in text.lower() for text in words.values() for word in ("deaf", "hearing loss", "impair"))


# Headphones


def test_one_tone_is_6_db_softer_and_another_is_in_antiphase() -> None:
    check = HeadphonesCheck(rules.Headphones())
    for seed in range(20):
        posed = pose(check, seed)
        for sound, rate, place in played(check, posed):
            key: Any = posed.private["trials"]
            parts = intervals(sound, rate, posed)
            middles = [part[rate // 10 : -rate // 10] for part in parts]
            levels = [rms(part[:, 0]) for part in middles]
            phases = [correlation(part) for part in middles]
            soft, turned = int(np.argmin(levels)), int(np.argmin(phases))
            assert (soft + 1, turned + 1) == (key[place]["softest"], key[place]["antiphase"])
            assert soft != turned
            for other in range(3):
                assert decibels(levels[other], max(levels)) == pytest.approx(-6 if other == soft else 0, abs=0.1)
                assert phases[other] == pytest.approx(-1 if other == turned else 1, abs=1e-6)
                # In mono, the one in antiphase is gone: to loudspeakers it is the softest of all.
                mono = rms(middles[other].mean(axis=1))
                assert (mono < 1e-4) == (other == turned)


def test_the_tones_are_200_hz_last_a_second_rise_for_a_tenth_and_are_as_loud_as_the_volume_page() -> None:
    check = HeadphonesCheck(rules.Headphones())
    posed = pose(check)
    for sound, rate, _ in played(check, posed):
        assert len(sound) / rate == pytest.approx(4.4)
        parts = intervals(sound, rate, posed)
        loudest = max(rms(part[rate // 10 : -rate // 10, 0]) for part in parts)
        assert 20 * np.log10(loudest * 2**0.5) == pytest.approx(-23, abs=0.05)
        for part in parts:
            assert len(part) == rate
            spectrum = np.abs(np.fft.rfft(part[:, 0]))
            assert np.argmax(spectrum) == 200
            quick = part[:, 0] ** 2
            period = rate // 200
            envelope = np.sqrt(2 * np.convolve(quick, np.ones(period) / period, "same"))
            top = envelope[rate // 2]
            assert envelope[rate // 20] == pytest.approx(top / 2, rel=0.05)
            assert envelope[rate - rate // 20] == pytest.approx(top / 2, rel=0.05)
            assert envelope[rate // 100] < 0.05 * top
            assert envelope[rate // 8 : -rate // 8] == pytest.approx(top, rel=0.02)
        pauses = np.ones(len(sound), bool)
        for begin, end in posed.public["intervals"]:  # type: ignore[union-attr, misc]
            pauses[round(begin * rate) : round(end * rate)] = False  # type: ignore[operator]
        assert not np.any(sound[pauses])


def test_every_place_is_softest_and_in_antiphase_about_equally_often() -> None:
    check = HeadphonesCheck(rules.Headphones(trials=20))
    pairs = list(product((1, 2, 3), repeat=2))
    trials: list[Any] = [one for seed in range(60) for one in pose(check, seed).private["trials"]]  # type: ignore[union-attr]
    counts = [
        sum((one["softest"], one["antiphase"]) == pair for one in trials) for pair in product((1, 2, 3), repeat=2)
    ]
    assert [count == 0 for count in counts] == [one == other for one, other in pairs]
    assert max(counts) - min(count for count in counts if count) < 90


@pytest.mark.parametrize(
    ("wrong", "say"), [(0, ("pass", "")), (1, ("pass", "")), (2, ("fail", "speakers")), (6, ("fail", "speakers"))]
)
def test_five_of_six_pass_and_choosing_what_cancels_is_told_as_loudspeakers(wrong: int, say: tuple[str, str]) -> None:
    check = HeadphonesCheck(rules.Headphones())
    posed = pose(check)
    trials: Any = posed.private["trials"]
    chosen = [one["antiphase"] if place < wrong else one["softest"] for place, one in enumerate(trials)]
    verdict = answer(check, posed, {"chosen": chosen})
    assert (verdict.verdict, verdict.reason) == say
    assert (verdict.measured, verdict.needed) == (6 - wrong, 5)
    assert (verdict.evidence["chosen"], verdict.evidence["antiphase"]) == (chosen, wrong)


def test_other_mistakes_are_told_without_blaming_loudspeakers() -> None:
    check = HeadphonesCheck(rules.Headphones())
    posed = pose(check)
    trials: Any = posed.private["trials"]
    loud = [6 - one["softest"] - one["antiphase"] for one in trials]
    verdict = answer(check, posed, {"chosen": loud})
    assert (verdict.verdict, verdict.reason) == ("fail", "softest")
    assert told(check, verdict).startswith(
        "The softest tone was not found often enough: we counted 0 of 6 right and need 5."
    )


def test_loudspeakers_are_told_with_what_was_found_and_how_to_mend_it() -> None:
    check = HeadphonesCheck(rules.Headphones())
    posed = pose(check)
    robot = check.respond(posed, RobotAbilities(frozenset(["headphones"])), np.random.default_rng(0))
    assert told(check, answer(check, posed, robot)) == (
        "It sounds like loudspeakers or mono. We counted 0 of 6 right and need 5. Plug in headphones, and turn off "
        "mono audio and surround effects."
    )


# Pitch


def test_one_noise_is_turned_by_180_degrees_round_600_hz_and_all_else_is_the_same_in_both_ears() -> None:
    check = PitchCheck(rules.Headphones())
    for seed in range(3):
        posed = pose(check, seed)
        trials: Any = posed.private["trials"]
        for sound, rate, place in played(check, posed):
            for number, part in enumerate(intervals(sound, rate, posed), 1):
                left, right = np.fft.rfft(part, axis=0).T
                hertz = np.arange(len(left))
                cross = left * np.conj(right)
                inside = (hertz > 570) & (hertz < 630)  # away from the edges, which the ramps smear a little
                outside = (hertz > 20) & ((hertz < 558) | (hertz > 642))
                phase = np.angle(cross[inside].sum())
                assert abs(phase) == pytest.approx(np.pi if number == trials[place]["tone"] else 0, abs=0.02)
                assert np.angle(cross[outside].sum()) == pytest.approx(0, abs=0.02)
                if number != trials[place]["tone"]:
                    assert np.array_equal(part[:, 0], part[:, 1])


def test_neither_ear_alone_nor_the_level_tells_which_noise_it_is() -> None:
    check = PitchCheck(rules.Headphones())
    marked: list[float] = []
    plain: list[float] = []
    for seed in range(8):
        posed = pose(check, seed)
        trials: Any = posed.private["trials"]
        for sound, rate, place in played(check, posed):
            parts = intervals(sound, rate, posed)
            levels = [rms(part[rate // 10 : -rate // 10, ear]) for part in parts for ear in (0, 1)]
            assert decibels(max(levels), min(levels)) < 0.3
            for number, part in enumerate(parts, 1):
                for ear in (0, 1):
                    power = np.abs(np.fft.rfft(part[:, ear])) ** 2
                    share = power[564:637].mean() / power[300:1200].mean()
                    (marked if number == trials[place]["tone"] else plain).append(share)
    assert np.mean(marked) == pytest.approx(np.mean(plain), rel=0.05)
    assert np.mean(plain) == pytest.approx(1, rel=0.05)


# Tones


def tones_in(sound: NDArray[np.float64], rate: int) -> list[tuple[int, int]]:
    """Return where tones are, found by their energy alone: the samples at which each begins and ends."""
    window = rate // 100
    energy = np.sqrt(np.convolve(sound**2, np.ones(window) / window, "same"))
    on = np.concatenate([[False], energy > 10 ** (-60 / 20), [False]]).astype(int)
    return list(zip(np.flatnonzero(np.diff(on) == 1), np.flatnonzero(np.diff(on) == -1), strict=True))


def test_the_tones_that_are_heard_are_as_many_as_are_counted() -> None:
    check = TonesCheck(rules.Tones(clips=4))
    seen = set()
    for seed in range(25):
        posed = pose(check, seed)
        clips: Any = posed.private["clips"]
        for sound, rate, place in played(check, posed):
            assert len(sound) == 8 * rate
            found = tones_in(sound[:, 0], rate)
            assert len(found) == len(clips[place])
            seen.add(len(found))
            for (begin, end), (at, _, _) in zip(found, clips[place], strict=True):
                assert begin / rate == pytest.approx(at, abs=0.02)
                assert (end - begin) / rate == pytest.approx(0.3, abs=0.04)
            for (_, end), (begin, _) in pairwise(found):
                assert (begin - end) / rate > 0.3
    assert seen == {4, 5, 6, 7, 8}


def test_pitch_and_level_vary_and_the_softest_is_equally_soft_in_every_clip() -> None:
    check = TonesCheck(rules.Tones())
    for seed in range(10):
        posed = pose(check, seed)
        clips: Any = posed.private["clips"]
        for sound, rate, place in played(check, posed):
            levels, pitches = [], []
            for (begin, end), (_, hertz, _) in zip(tones_in(sound[:, 0], rate), clips[place], strict=True):
                middle = sound[(begin + end) // 2 - rate // 20 : (begin + end) // 2 + rate // 20, 0]
                levels.append(20 * np.log10(rms(middle)))
                spectrum = np.abs(np.fft.rfft(middle * np.hanning(len(middle)), 8 * rate))
                pitches.append(np.argmax(spectrum) / 8)
                assert pitches[-1] == pytest.approx(hertz, abs=3)
            assert 400 <= min(pitches) < max(pitches) <= 2000
            # 4 to 24 dB below the test sound of the volume page, which is 26 dB below full scale in each ear.
            assert (max(levels), min(levels)) == (pytest.approx(-30, abs=0.2), pytest.approx(-50, abs=0.2))


def test_counts_have_to_be_exact_and_too_few_is_told_as_tones_that_were_missed() -> None:
    check = TonesCheck(rules.Tones())
    posed = pose(check)
    right = [len(clip) for clip in posed.private["clips"]]  # type: ignore[union-attr, arg-type]
    assert answer(check, posed, {"counts": right}).verdict == "pass"
    missed = answer(check, posed, {"counts": [right[0] - 1, right[1]]})
    assert (missed.verdict, missed.reason, missed.measured, missed.needed) == (
        "fail", "missed", [right[0] - 1, right[1]], right,
    )  # fmt: skip
    more = answer(check, posed, {"counts": [right[0] - 1, right[1] + 1]})
    assert (more.verdict, more.reason) == ("fail", "count")
    assert not any(str(number) in told(check, one) for number in right for one in (missed, more))


# Sides


def test_a_sound_is_in_the_ear_that_is_asked_for_and_as_strong_wherever_it_is() -> None:
    check = SidesCheck(rules.Sides())
    energies = []
    for seed in range(10):
        posed = pose(check, seed)
        kept: Any = posed.private["sounds"]
        assert {side for side, _ in kept} == {"left", "middle", "right"}
        for sound, _, place in played(check, posed):
            left, right = (sound**2).sum(axis=0)
            side = "middle" if left == right else "left" if right == 0 else "right" if left == 0 else "neither"
            assert side == kept[place][0]
            energies.append(left + right)
    assert max(energies) / min(energies) == pytest.approx(1, abs=0.03)


def mistake(kept: Any, how: Mapping[str, str]) -> list[str]:
    return [how.get(side, side) for side, _ in kept]


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"left": "right", "right": "left"}, "swapped"),
        ({"left": "middle", "right": "middle"}, "mono"),
        ({"left": "nothing", "middle": "right"}, "silent"),
        ({"left": "middle"}, "sides"),
        ({"left": "right"}, "sides"),
    ],
)
def test_what_is_wrong_with_the_sides_is_told_apart(how: dict[str, str], reason: str) -> None:
    check = SidesCheck(rules.Sides())
    posed = pose(check)
    verdict = answer(check, posed, {"sides": mistake(posed.private["sounds"], how)})
    assert (verdict.verdict, verdict.reason) == ("fail", reason)
    assert told(check, verdict)


def test_swapped_headphones_are_told_to_be_turned_round() -> None:
    check = SidesCheck(rules.Sides())
    posed = pose(check)
    robot = check.respond(posed, RobotAbilities(frozenset(["sides:swapped"])), np.random.default_rng(0))
    words = "Left and right are swapped. Turn your headphones round: L goes on the left ear."
    assert told(check, answer(check, posed, robot)) == words


def test_a_robot_in_mono_hears_everything_in_the_middle() -> None:
    check = SidesCheck(rules.Sides())
    posed = pose(check)
    robot = check.respond(posed, RobotAbilities(frozenset(["sides:mono"])), np.random.default_rng(0))
    assert answer(check, posed, robot).reason == "mono"


# Luck


@pytest.mark.parametrize(
    ("check", "luck"),
    [
        (HeadphonesCheck(rules.Headphones()), 13 / 729),
        (HeadphonesCheck(rules.Headphones(trials=1, right=1)), 1 / 3),
        (HeadphonesCheck(rules.Headphones(trials=6, right=6)), 1 / 729),
        (PitchCheck(rules.Headphones()), 13 / 729),
        (TonesCheck(rules.Tones()), 1 / 25),
        (TonesCheck(rules.Tones(clips=1)), 1 / 5),
        (SidesCheck(rules.Sides()), 1 / 540),
        (SidesCheck(rules.Sides(sounds=3)), 1 / 6),
        (SidesCheck(rules.Sides(sounds=2)), 1 / 2),
        (SidesCheck(rules.Sides(sounds=1)), 1 / 3),
    ],
)
def test_the_chance_of_passing_by_luck_is_known_exactly(check: AnyPageCheck, luck: float) -> None:
    assert check.guess_rate() == pytest.approx(luck, rel=1e-12)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_the_luck_of_sides_is_that_of_counting_the_orders_that_are_drawn(number: int) -> None:
    check = SidesCheck(rules.Sides(sounds=number))
    drawn = {tuple(side for side, _ in pose(check, seed).private["sounds"]) for seed in range(400)}  # type: ignore[union-attr, misc]
    assert check.guess_rate() == pytest.approx(1 / len(drawn))


def test_guessing_the_softest_passes_as_often_as_its_luck_says() -> None:
    check = HeadphonesCheck(rules.Headphones(trials=3, right=2))
    rng = np.random.default_rng(5)
    passes = 0
    for seed in range(600):
        posed = pose(check, seed)
        guess = [int(one) for one in rng.integers(1, 4, 3)]
        passes += answer(check, posed, {"chosen": guess}).verdict == "pass"
    assert passes / 600 == pytest.approx(check.guess_rate(), abs=0.06)
