"""The section on devices."""

from __future__ import annotations

from typing import Any

from beholder.cleaning.devices import DEVICES
from beholder.columns import names_of
from beholder.reporting.devices import devices_foot, devices_section
from beholder.reporting.html import render
from beholder.reporting.material import Material
from support.participant_tables import device, put, shown
from support.report_pages import Page


def test_devices_are_counted_and_what_is_not_known_is_counted_as_such(material: Material) -> None:
    wide: dict[str, Any] = {
        "kind": "desktop",
        "screen_width": 1920,
        "screen_height": 1080,
        "dpr": 1,
        "browser": "Chrome",
    }
    rows = [
        device(1, **wide, version=120, refresh_hz=60, ppi=100, diagonal_inches=22.0),
        device(2, **wide, version=118, refresh_hz=144),
        device(3, kind="phone"),
        device(4, use=False),
    ]
    put(material, "devices", names_of(DEVICES), rows)
    text = shown(devices_section(material)).text
    assert text.startswith(
        "3 sessions are used, 2 on a computer and 1 on a phone. The usual screen has 1920 × 1080 device pixels (2). "
        "The refresh rates are 60 and 144 Hz."
    )
    assert "Kind Used % All computer 2 67 % 2 phone 1 33 % 1 not known 0 0 % 1" in text
    assert "Browser Used % All Chrome 118 to 120 2 67 % 2 not known 1 33 % 2" in text
    assert "Refresh rate (Hz) Used All known 2 2 mean ± SD 102.0 ± 59.4 102.0 ± 59.4" in text
    assert "System" not in text
    assert Page(f"<p>{render(devices_foot(material))}</p>").text == (
        "Sessions; used: those that are analysed, all: those that came. Chrome: also browsers built on it that call "
        "themselves so. Checks under qualification that have measured nothing here: network ."
    )


def test_many_screens_are_the_usual_ones_and_the_rest_together(material: Material) -> None:
    rows = [device(n, screen_width=1000 + n, screen_height=900) for n in range(10)]
    put(material, "devices", names_of(DEVICES), rows)
    text = shown(devices_section(material)).text
    assert "1005 × 900 1 10 % 1 4 others 4 40 % 4" in text


def test_no_used_session_and_nothing_known_of_any(material: Material) -> None:
    put(material, "devices", names_of(DEVICES), [device(1, use=False, input="mouse")])
    assert shown(devices_section(material)).text.startswith("No session is used. Answered with Used % All mouse 0 – 1")
    put(material, "devices", names_of(DEVICES), [device(1)])
    assert devices_section(material) is None
