"""Headphones and pitch: what three intervals hold, measured in their samples, and how answers are judged."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from beholder.checks.headphones import Headphones, Pitch
from beholder.checks.page_contract import CheckTask, RobotAbilities
from support.listening_checks import answer, message_of, played, pose, rms


def intervals(sound: NDArray[np.float64], rate: int, posed: CheckTask) -> list[NDArray[np.float64]]:
    """Return the three intervals of a sound."""
    times: Any = posed.public["intervals"]
    return [sound[round(begin * rate) : round(end * rate)] for begin, end in times]


def correlation(part: NDArray[np.float64]) -> float:
    """Return how alike both channels are: 1 the same, -1 in antiphase."""
    left, right = part.T
    return float(np.sum(left * right) / np.sqrt(np.sum(left**2) * np.sum(right**2)))


def decibels(one: float, other: float) -> float:
    return float(20 * np.log10(one / other))


def test_one_tone_is_6_db_softer_and_another_is_in_antiphase() -> None:
    check = Headphones(Headphones.Options())
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
    check = Headphones(Headphones.Options())
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
    check = Headphones(Headphones.Options(trials=20))
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
    check = Headphones(Headphones.Options())
    posed = pose(check)
    trials: Any = posed.private["trials"]
    chosen = [one["antiphase"] if place < wrong else one["softest"] for place, one in enumerate(trials)]
    verdict = answer(check, posed, {"chosen": chosen})
    assert (verdict.verdict, verdict.reason) == say
    assert (verdict.measured, verdict.needed) == (6 - wrong, 5)
    assert (verdict.evidence["chosen"], verdict.evidence["antiphase"]) == (chosen, wrong)


def test_other_mistakes_are_told_without_blaming_loudspeakers() -> None:
    check = Headphones(Headphones.Options())
    posed = pose(check)
    trials: Any = posed.private["trials"]
    loud = [6 - one["softest"] - one["antiphase"] for one in trials]
    verdict = answer(check, posed, {"chosen": loud})
    assert (verdict.verdict, verdict.reason) == ("fail", "softest")
    assert message_of(check, verdict).startswith(
        "The softest tone was not found often enough: we counted 0 of 6 right and need 5."
    )


def test_loudspeakers_are_told_with_what_was_found_and_how_to_mend_it() -> None:
    check = Headphones(Headphones.Options())
    posed = pose(check)
    robot = check.respond(posed, RobotAbilities(frozenset(["headphones"])), np.random.default_rng(0))
    assert message_of(check, answer(check, posed, robot)) == (
        "It sounds like loudspeakers or mono. We counted 0 of 6 right and need 5. Plug in headphones, and turn off "
        "mono audio and surround effects."
    )


def test_one_noise_is_turned_by_180_degrees_round_600_hz_and_all_else_is_the_same_in_both_ears() -> None:
    check = Pitch(Headphones.Options())
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
    check = Pitch(Headphones.Options())
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


def test_guessing_the_softest_passes_as_often_as_its_luck_says() -> None:
    check = Headphones(Headphones.Options(trials=3, right=2))
    rng = np.random.default_rng(5)
    passes = 0
    for seed in range(600):
        posed = pose(check, seed)
        guess = [int(one) for one in rng.integers(1, 4, 3)]
        passes += answer(check, posed, {"chosen": guess}).verdict == "pass"
    assert passes / 600 == pytest.approx(check.guess_rate(), abs=0.06)
