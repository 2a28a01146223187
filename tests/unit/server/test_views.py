"""How a pair was looked at, read from the log of its page: nothing in a log is believed that cannot be."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from beholder.server.playback import evidence_to_json, read_playback
from beholder.server.views import ViewUse, is_uncovered
from beholder.simulation.robot import watch_events

LENGTHS = {"s1": 2000, "s2": 2000}
MEDIA = {"medium": "video", "ms": 2000, "width": 64, "height": 36}


def read(*events: list[Any]) -> ViewUse | None:
    return read_playback(list(events), LENGTHS, together=True).page.views


def view(ms: int, name: str, slot: str | None = None, **more: Any) -> list[Any]:
    return [ms, "view", slot, {"view": name, **more}]


def test_time_is_counted_by_view_and_only_while_the_page_is_in_sight() -> None:
    use = read(
        view(100, "wipe", line=50),
        view(1100, "side-by-side"),
        [1600, "visibility", None, {"hidden": True}],
        [9600, "visibility", None, {"hidden": False}],
        [9700, "shown", None, {}],
        view(12000, "wipe", line=50),
        [12400, "click", None, {"what": "next"}],
    )
    assert use is not None
    assert use.view == "wipe"
    assert use.ms == {"wipe": 1000 + 400, "side-by-side": 500}


def test_flips_moves_and_the_magnifier_are_counted() -> None:
    use = read(
        view(0, "flip", "s1", shown=True),
        [100, "view", "s2", {"shown": True}],
        [200, "view", "s1", {"shown": True}],
        [250, "view", None, {"magnifier": True}],
        [650, "view", None, {"magnifier": False}],
        view(700, "wipe", line=50),
        [800, "view", None, {"line": 20, "low": 10, "high": 60}],
    )
    assert use is not None
    assert (use.flips, use.moves, use.magnified, use.magnified_ms) == (2, 1, 1, 400)
    assert use.uncovered == {"s1": 1.0, "s2": 1.0}


def test_a_line_uncovers_as_far_as_it_was_moved() -> None:
    use = read(view(0, "wipe", line=50), [10, "view", None, {"line": 60, "low": 40, "high": 95}])
    assert use is not None
    assert use.uncovered == {"s1": 0.95, "s2": 0.6}
    assert not is_uncovered(use, ["wipe"], LENGTHS)
    moved = read(view(0, "wipe", line=50), [10, "view", None, {"line": 100}], [20, "view", None, {"line": 5}])
    assert is_uncovered(moved, ["wipe"], LENGTHS)


def test_only_the_views_of_the_trial_count() -> None:
    use = read(view(0, "side-by-side"), view(10, "wipe", line=50))
    assert is_uncovered(use, ["wipe", "side-by-side"], LENGTHS)
    assert not is_uncovered(use, ["wipe"], LENGTHS)
    assert not is_uncovered(read([0, "shown", None, {}]), ["wipe"], LENGTHS)


def test_a_page_without_views_stores_nothing_of_them() -> None:
    stored = evidence_to_json(read_playback([[0, "shown", None, {}]], LENGTHS))
    assert "views" not in stored["page"]  # type: ignore[operator]


def test_a_robot_sees_both_in_every_view() -> None:
    for name in ("side-by-side", "flip", "wipe"):
        slots = [{"id": slot, "media": MEDIA} for slot in LENGTHS]
        log = watch_events({"slots": slots, "together": True, "extra": {"views": [name]}})
        evidence = read_playback(log, LENGTHS, together=True)
        assert is_uncovered(evidence.page.views, [name], LENGTHS)
        assert [one.coverage for one in evidence.slots.values()] == [1.0, 1.0]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 200) | st.floats(allow_nan=False) | st.sampled_from(["wipe", "flip"]),
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=3,
)
NAMES = st.sampled_from(["view", "line", "low", "high", "shown", "magnifier", "factor"])


@given(st.lists(st.tuples(st.integers(0, 9000), st.sampled_from(["s1", "s9", None]), st.dictionaries(NAMES, ANYTHING))))
def test_whatever_a_log_says_the_numbers_are_plausible(rows: list[tuple[int, str | None, dict[str, Any]]]) -> None:
    use = read(*([ms, "view", slot, data] for ms, slot, data in rows))
    if use is not None:
        assert all(0 <= share <= 1 for share in use.uncovered.values())
        assert set(use.uncovered) <= set(LENGTHS)
        assert sum(use.ms.values()) <= 9000
        assert use.magnified_ms <= 9000
