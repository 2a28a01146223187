"""Devices of sessions in clean/devices.csv."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from beholder.cleaning import Cleaned
from beholder.cleaning.tables import clean_tables
from support.store_tables import Tables, add, empty, make_study


def rows_of(cleaned: Cleaned, name: str) -> list[dict[str, str]]:
    with (cleaned.folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def with_device(tables: Tables, name: str, device: Any, **keys: Any) -> None:
    add(tables, name, **keys)
    tables["sessions"][-1]["device"] = device


MAC = {"screen": [1512, 982], "dpr": 2, "pointer": "fine", "touch": False, "platform": "MacIntel", "language": "de-DE",
       "timezone_offset": -60, "browser": "Version 17"}  # fmt: skip


def test_clean_writes_devices_without_what_tells_people_apart(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    tables = empty(study)
    with_device(tables, "mac", MAC)
    with_device(tables, "pad", MAC | {"pointer": "coarse", "touch": True})
    with_device(tables, "pc", MAC | {"platform": "Win32", "browser": "Edg 120"}, scores=(50, 50, 50))
    with_device(tables, "odd", {"screen": [-1, "x"], "dpr": "2", "browser": "=Chrome/120 (all of it)", "platform": 3})
    with_device(tables, "no", MAC, outcome="no_consent", trials=0)
    with_device(tables, "gone", MAC, outcome="withdrawn")
    cleaned = clean_tables(study, tables)
    devices = {row["session"]: row for row in rows_of(cleaned, "devices")}
    mac = devices["mac"]
    assert (mac["kind"], mac["screen_width"], mac["screen_height"], mac["dpr"]) == ("desktop", "3024", "1964", "2")
    assert (mac["system"], mac["browser"], mac["version"], mac["input"]) == ("macOS", "Safari", "17", "mouse")
    assert (devices["pad"]["kind"], devices["pad"]["system"]) == ("tablet", "iOS")
    assert (devices["pc"]["use"], devices["pc"]["system"], devices["pc"]["browser"]) == ("false", "Windows", "Edge")
    assert [value for key, value in devices["odd"].items() if value] == ["odd", "p-odd", "true", "mouse"]
    for name in ("no", "gone"):
        assert [value for value in devices[name].values() if value] == [name, f"p-{name}", "false"]
    assert "de-DE" not in (cleaned.folder / "devices.csv").read_text(encoding="utf-8")


def test_checks_tell_size_and_rate_and_a_zoomed_page_tells_no_size(tmp_path: Path) -> None:
    study = make_study(tmp_path, qualification={"screen": True, "refresh": True, "card": True, "network": False})
    tables = empty(study) | {"posed": []}
    screen = {"screen": [1920, 1080], "inner": [1920, 900], "outer": [1920, 1040], "dpr": 1}
    width = 85.6 * 100 / 25.4
    answers = {
        "check:screen:1": ({"size": None, "zoom": None}, screen),
        "check:refresh:1": ({"fps": None}, {"intervals": [1000 / 120] * 120, "hidden": False}),
        "check:card:1": ({}, {"widths": [width, width], "dpr": 1, "moved": True}),
    }
    for name in ("fits", "zoomed"):
        with_device(tables, name, MAC)
        for key, (private, answer) in answers.items():
            given = answer | {"inner": [960, 450]} if name == "zoomed" and key == "check:screen:1" else answer
            row = next(row for row in tables["answers"] if row["session"] == name and row["key"] == "consent")
            tables["answers"].append(row | {"key": key, "answer": given})
            tables["posed"].append({"session": name, "key": key, "private": private})
    fits, zoomed = rows_of(clean_tables(study, tables), "devices")
    assert (fits["screen_width"], fits["refresh_hz"], fits["ppi"]) == ("1920", "120", "100")
    assert (fits["width_mm"], fits["height_mm"], fits["diagonal_inches"]) == ("488", "274", "22")
    assert (zoomed["screen_width"], zoomed["width_mm"], zoomed["ppi"]) == ("", "", "100")
