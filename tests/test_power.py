"""Power: the analysis of the real study, the exact chance where there is one, and what cannot be asked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

import beholder
from beholder.analyse.conditions import conditions
from beholder.analyse.correction import corrected as corrected_as_told
from beholder.analyse.pairs import pairs
from beholder.analyse.reading import filled
from beholder.analyse.result import records
from beholder.analyse.table import Order, tidy
from beholder.cli import cli
from beholder.errors import UserError
from beholder.methods import find
from beholder.methods.contract import Catalogue, Study
from beholder.power.asking import Asking, ladder
from beholder.power.cost import pay_of, starting
from beholder.power.curve import point_of
from beholder.power.found import Found
from beholder.power.found import find as find_all
from beholder.power.limits import remains
from beholder.power.needed import needed_for
from beholder.power.recast import as_method
from beholder.power.session import Session, session_of
from beholder.power.tables import power_table, sizes_table
from beholder.power.tested import Contents, Judged, judge
from beholder.power.variants import methods_table, variants_of
from beholder.power.words import notes, told
from beholder.power.world import World
from beholder.simulate.answers import simulate_sheet
from beholder.simulate.pilot import from_pilot
from beholder.simulate.population import PUBLIC, Population
from beholder.simulate.sources import Source
from beholder.stats.clustered import Cells, Floats, difference_of, differences_of, mean_of, means_of
from beholder.stats.holm import holm
from rating import catalogue_of, make_study

CONTENTS = ("city", "no", "Größe 2", "01", "sea")


def world_of(
    study: Study,
    catalogue: Catalogue | None = None,
    *,
    difference: float | None = None,
    people: Population = PUBLIC,
    contents: Contents = "random",
    seed: int = 1,
) -> World:
    catalogue = catalogue or catalogue_of(study, contents=CONTENTS)
    method = find(study.method)
    return World(study, catalogue, method, ladder(study, catalogue, method, difference), people, contents, seed)


def table_of(session: Session, values: Floats) -> pd.DataFrame:
    """Return values of a sheet as clean/ratings.csv has them."""
    sheet, world = session.sheet, session.world
    stimuli = world.catalogue.stimuli
    others = [stimuli[row] if row >= 0 else None for row in sheet.other]
    return pd.DataFrame(
        {
            "participant": [f"p{number}" for number in sheet.list],
            "stimulus": [stimuli[row].id for row in sheet.stimulus],
            "content": [sheet.contents[code] for code in sheet.content],
            "condition": [sheet.conditions[code] for code in sheet.condition],
            "role": [
                "hidden_reference" if stimuli[row].role == "reference" else stimuli[row].role for row in sheet.stimulus
            ],
            "other_stimulus": [other.id if other and sheet.is_compared else "" for other in others],
            "other_condition": [other.condition if other and sheet.is_compared else "" for other in others],
            "question": [world.questions[code] for code in sheet.question],
            "kind": sheet.kind,
            "method": world.method.name,
            "value": values,
        }
    )


def both(session: Session) -> tuple[Judged, pd.DataFrame, pd.DataFrame]:
    """Return what power says of two data sets, and the pairs and conditions that `analyse` says of the second."""
    sheet, world = session.sheet, session.world
    truths = [world.drawn(session.truth, row) for row in range(2)]
    values = np.stack([simulate_sheet(sheet, one, PUBLIC, repetition=row).value for row, one in enumerate(truths)])
    roles = {one.condition: one.role for one in world.catalogue.by_cell.values()}
    order = Order(
        conditions=world.catalogue.conditions,
        questions=world.questions,
        references=frozenset(name for name, role in roles.items() if role == "reference"),
        asked=world.study.analyse,
    )
    ratings = tidy(filled(table_of(session, values[1])), order)
    corrected = corrected_as_told(ratings)
    clear = corrected.table[corrected.table["test"] == "clustered t"]["clear"].to_numpy(float)
    return judge(sheet, values, world.rules(sheet)), pairs(ratings).table.assign(clear=clear), conditions(ratings).table


REFERENCE = [{"name": "original", "role": "reference"}, "one", "two", "three"]
TWO = [{"id": "quality", "text": "How good?"}, {"id": "harm", "text": "How bad?"}]
STUDIES: Mapping[str, Study] = {
    "parallel": make_study("parallel", ["a", "b", "c"], design={"participants": 6, "trials": 4, "per_trial": 2}),
    "parallel, named": make_study(
        "parallel", ["a", "b", "c"], design={"trials": 4}, questions=TWO, checks={"attention": {"per_session": 1}},
        analyse={"contrasts": [["c", "a"]], "family": "study"},
    ),
    "acr, few trials": make_study("acr", ["a", "b", "c", "d"], design={"trials": 3}),
    "acr": make_study("acr", ["a", "b"], design={"trials": 8, "sessions_per_participant": 1}),
    "pair": make_study("pair", ["a", "b", "c"], design={"trials": 8}, options={"tie": True}),
    "pair, star": make_study("pair", ["a", "b", "c"], design={"trials": 6, "pairs": {"star": "b"}}),
    "ccr": make_study("ccr", ["a", "b", "c"], design={"trials": 8}),
    "dcr": make_study("dcr", REFERENCE, design={"trials": 8}),
    "mushra": make_study(
        "mushra", [*REFERENCE, "low"], design={"trials": 4}, options={"anchors": ["low"], "strict": False}
    ),
    "likert": make_study(
        "likert", ["a", "b"], design={"trials": 4},
        questions=[{"id": "good", "text": "Good.", "scale": "agree5"},
                   {"id": "bad", "text": "Bad.", "scale": "agree5", "keyed": "-"}],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STUDIES)
def test_power_decides_as_the_analysis_of_the_real_study(name: str) -> None:
    study = STUDIES[name]
    roles = {condition.name: condition.role for condition in study.conditions}
    roles |= {"low": "anchor"} if "low" in roles else {}
    catalogue = catalogue_of(study, contents=CONTENTS)
    if "low" in roles:
        from rating import make_catalogue

        catalogue = make_catalogue(list(roles), contents=CONTENTS, roles=roles)
    session = session_of(world_of(study, catalogue, difference=2 if study.method in ("pair", "ccr") else None), 7)
    judged, table, means = both(session)
    names, questions, row = session.sheet.conditions, session.world.questions, 1
    assert int(table["p"].notna().sum()) == int((~np.isnan(judged.p[row])).sum()) > 0
    for place, test in enumerate(judged.tests):
        key = (questions[test.question], names[test.one], names[test.other])
        mine = table[(table["question"] == key[0]) & (table["condition"] == key[1])]
        expected = mine[mine["other_condition"] == key[2]].iloc[0]
        numbers = [judged.estimate[row, place], judged.p[row, place], judged.p_holm[row, place]]
        wanted = [expected["mean_difference"], expected["p"], expected["p_holm"]]
        np.testing.assert_allclose(numbers, np.array(wanted, float), rtol=1e-9, atol=1e-12)
        np.testing.assert_equal(judged.clear[row, place], expected["clear"])
    for place, (question, condition) in enumerate(judged.groups):
        mine = means[(means["question"] == questions[question]) & (means["condition"] == names[condition])]
        expected = mine.iloc[0]
        half = (expected["ci_high"] - expected["ci_low"]) / 2
        numbers = [judged.mean[row, place], judged.mean_half[row, place]]
        np.testing.assert_allclose(numbers, [expected["mean"], half], rtol=1e-9, atol=1e-12)


@given(st.integers(0, 2**32 - 1))
def test_many_data_sets_at_once_are_each_as_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = (_cells(rng, rows=3) for _ in range(2))
    means, apart = means_of(one), differences_of(one, other)
    for row in range(3):
        alone = [cells._replace(value=cells.value[row]) for cells in (one, other)]
        for many, single in ((means, mean_of(alone[0])), (apart, difference_of(alone[0], alone[1]))):
            found = [float(np.broadcast_to(numbers, 3)[row]) for numbers in many[:7]]
            assert repr(found) == repr([float(number) for number in single[:7]])
            assert many[7:] == single[7:]


def _cells(rng: np.random.Generator, rows: int) -> Cells:
    size = int(rng.integers(1, 30))
    values = np.round(rng.normal(0, 1, (rows, size)), 1) * rng.integers(0, 2, (rows, 1))
    return Cells(values, rng.integers(0, rng.integers(1, 8), size), rng.integers(0, rng.integers(1, 6), size))


def test_holm_takes_every_row_as_a_family() -> None:
    p = np.array([[0.01, 0.04, np.nan, 0.03], [0.5, np.nan, np.nan, 0.2], [np.nan] * 4])
    np.testing.assert_array_equal(holm(p), [holm(row) for row in p])


@pytest.mark.long
@pytest.mark.parametrize("participants", [8, 20])
def test_one_content_and_two_conditions_have_the_power_of_a_paired_t_test(participants: int, whole: bool) -> None:
    repetitions = 4000 if whole else 400
    study = make_study("parallel", ["a", "b"], design={"trials": 1})
    people = Population(bias=0.1, inconsistency=0.08, content=0.0)
    world = world_of(study, catalogue_of(study, contents=["one"]), difference=7, people=people)
    point = point_of(session_of(world, participants), repetitions)
    shift = math.sqrt(participants) * 0.07 / (0.08 * math.sqrt(2))
    edge, df = stats.t.ppf(0.975, participants - 1), participants - 1
    exact = float(stats.nct.sf(edge, df, shift))
    error = math.sqrt(exact * (1 - exact) / repetitions)
    assert point.found.mean() == pytest.approx(exact, abs=3.5 * error + 0.003)
    assert point.alarms.mean() == pytest.approx(0.05, abs=3.5 * math.sqrt(0.05 * 0.95 / repetitions))
    half = 7 * edge / shift  # a little less on average: E[s] < sigma
    assert 0.93 * half < point.half[0] < half
    assert remains(world) != remains(world)


@pytest.mark.long
@pytest.mark.parametrize("contents", ["random", "fixed"])
def test_nothing_is_found_more_often_than_promised_where_nothing_differs(contents: Contents, whole: bool) -> None:
    repetitions = 2000 if whole else 200
    study = make_study("parallel", ["a", "b", "c", "d"], design={"trials": 8})
    catalogue = catalogue_of(study, contents=[f"c{number}" for number in range(16)])
    point = point_of(session_of(world_of(study, catalogue, contents=contents), 24), repetitions)
    assert point.alarms.mean() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / repetitions)
    assert abs(point.estimate - point.true).max() < 3


def test_power_grows_with_participants_and_differences_and_is_the_same_with_the_same_seed() -> None:
    study = make_study("acr", ["a", "b", "c"], design={"trials": 9})
    world = world_of(study, difference=0.3, contents="fixed")
    points = [point_of(session_of(world, size), 60) for size in (6, 12, 30)]
    table = power_table(points, by_pair=False)
    by_size = table[table["target"] == "difference"]
    chances = by_size.pivot(index="difference", columns="participants", values="power")
    wide = chances.to_numpy()
    assert list(chances.index) == [0.3, 0.6]
    assert (np.diff(wide, axis=1) >= -0.05).all()
    assert (np.diff(wide, axis=0) >= 0).all()
    assert wide[1, -1] > 0.9 > 0.5 > wide[0, 0]
    again = power_table([point_of(session_of(world, 12), 60)], by_pair=False)
    pd.testing.assert_frame_equal(again, table[table["participants"] == 12].reset_index(drop=True))
    other = world_of(study, difference=0.3, contents="fixed", seed=2)
    assert not again.equals(power_table([point_of(session_of(other, 12), 60)], by_pair=False))
    sizes = sizes_table(points, pay_of(study, "12.00 GBP", points[0].session))
    assert sizes["difference_half_width"].is_monotonic_decreasing
    assert list(sizes["ratings_low"] <= sizes["ratings_high"]) == [True] * 3
    assert (sizes["cost"] / sizes["hours"]).round(1).tolist() == [12.0] * 3


def test_no_number_of_participants_buys_other_contents() -> None:
    study = make_study("parallel", ["a", "b"], design={"trials": 5})
    people = Population(bias=0.05, inconsistency=0.05, content_condition=0.08)
    random = world_of(study, people=people)
    floor = remains(random)
    assert point_of(session_of(random, 100), 80).half[0] == pytest.approx(floor, rel=0.12)
    fixed = point_of(session_of(world_of(study, people=people, contents="fixed"), 100), 40)
    assert fixed.half[0] < floor / 5
    assert fixed.found.mean() == 1


@given(st.floats(0.05, 0.6), st.sampled_from([0.8, 0.9]))
def test_the_number_needed_is_found_between_those_tried(effect: float, goal: float) -> None:
    sizes = [4, 10, 40, 160, 640, 2560]
    chances = [float(special.ndtr(effect * math.sqrt(size) - 1.96)) for size in sizes]
    exact = ((special.ndtri(goal) + 1.96) / effect) ** 2
    needed = needed_for(sizes, chances, goal, 10**9)
    if exact > sizes[-1]:
        assert needed.note == "more than 2560"
    elif exact <= sizes[0]:
        assert needed == (4, "4 or fewer")
    else:
        assert exact - 1e-6 <= needed.participants <= exact + 1
        assert needed.note == ""


def test_a_number_needed_is_not_made_up() -> None:
    assert needed_for([10, 20], [0.1, 0.79], 0.8, 100).note == "more than 20"
    assert needed_for([10, 20], [math.nan, math.nan], 0.8, 100).note == "not tested"
    assert needed_for([10, 20, 40], [0.7, 0.6, 1.0], 0.8, 100).participants <= 40


def test_methods_are_held_against_each_other_with_sessions_as_long() -> None:
    study = make_study("parallel", ["a", "b", "c"], design={"trials": 4})
    catalogue = catalogue_of(study, contents=CONTENTS, duration_ms=8000)
    world = world_of(study, catalogue, difference=12, contents="fixed")
    own = [point_of(session_of(world, size), 40) for size in (6, 12)]
    found = variants_of(world, own, ["acr", "pair", "mushra"], 40)
    table = records(methods_table(found, pay_of(study, None, own[0].session), 40))
    assert [row["method"] for row in table] == ["parallel", "acr", "pair", "mushra"]
    parallel, acr, pair, mushra = table
    for row in (acr, pair):
        assert 0.6 < row["minutes"] / own[0].session.minutes < 1.2
    assert mushra["note"].startswith("cannot be had: ")
    assert pair["hours"] > parallel["hours"]
    assert {row["currency"] for row in table} == {""}
    assert parallel["difference"] == acr["difference"] == 12


def test_small_studies_are_made_larger_until_a_difference_is_found() -> None:
    """A chance near zero hardly grows at first: only contents set a limit, and these are fixed."""
    study = make_study("acr", ["a", "b"], design={"trials": 4})
    world = world_of(study, difference=0.2, contents="fixed")
    own = [point_of(session_of(world, size), 20, has_null=False) for size in (3, 4)]
    found = variants_of(world, own, [], 20)
    assert [point.participants for point in found[0].points] == [3, 4, 8, 16, 32]


def test_sessions_of_one_person_are_one_person() -> None:
    study = make_study("acr", ["a", "b"], design={"trials": 3, "sessions_per_participant": 2})
    session = session_of(world_of(study), 5)
    assert session.sheet.lists == 5
    assert session.visits == 2
    assert np.bincount(session.sheet.list).tolist() == [6] * 5


def found_of(study: Study, sizes: tuple[int, ...], **keys: Any) -> Found:
    return find_all(world_of(study, **keys), Asking(sizes, repetitions=20), Source(), (), is_ladder=True)


def test_people_who_all_agree_have_intervals_of_no_width() -> None:
    still = Population(bias=0, inconsistency=0, content=0)
    found = found_of(make_study("acr", ["a", "b"], design={"trials": 4}), (4, 8), difference=1, people=still)
    assert found.table("sizes")["difference_half_width"].tolist() == [0, 0]
    assert set(found.table("power")["power"]) <= {0, 1}
    assert found.results["power"].plot().to_dict()
    assert "nan" not in " ".join((*told(found), *notes(found)))


def test_what_nobody_could_test_is_told_and_not_made_up() -> None:
    found = found_of(make_study("acr", ["a", "b", "c", "d"], design={"trials": 1}), (2, 3))
    assert told(found) == (
        "With 3 participants no difference can be tested: too few of them rate the same conditions.",
    )
    assert found.table("power").empty
    assert found.table("needed").empty
    assert found.results["power"].plot().to_dict()


def test_all_at_once_is_all_that_any_number_of_people_can_test() -> None:
    still = Population(bias=0.02, inconsistency=0.02)
    study = make_study("acr", list("abcdef"), design={"trials": 3})
    world = world_of(study, difference=0.8, people=still, contents="fixed")
    points = [point_of(session_of(world, size), 20) for size in (3, 8, 40)]
    table = power_table(points, by_pair=False)
    every = table[table["target"] == "all"]
    assert every[["participants", "pairs", "difference"]].to_numpy().tolist() == [
        [size, 15, 0.8] for size in (3, 8, 40)
    ]
    assert every["power"].tolist()[0] == 0 < every["power"].tolist()[-1]


def test_leavers_and_ends_of_the_scale_are_noted() -> None:
    study = make_study("acr", ["a", "b"], design={"trials": 4}, recruit={"mode": "link", "reward": "2.00 EUR"})
    found = found_of(study, (5,), difference=4, people=Population(leaving=0.1))
    assert notes(found)[2:] == (
        "Pay: 2.00 EUR for a session.",
        "The outermost conditions lie near the ends of the scale, where ratings have no room to spread: differences "
        "are estimated smaller there than they are.",
        "Some leave before the end: for 5 who finish about 8 have to begin. Their lists go to others, and only those "
        "who finish are counted and paid here.",
    )
    assert found.table("sizes")["cost"].tolist() == [10.0]


def test_who_leaves_is_replaced() -> None:
    assert starting(40, 0.0, [10, 10]) == 40
    assert starting(40, 0.02, [10, 10]) == math.ceil(40 / 0.98**10)


def test_a_session_earns_its_reward_whatever_its_list_holds() -> None:
    recruit = {"mode": "link", "reward": "1.50 GBP"}
    study = make_study("acr", ["a", "b"], design={"trials": 3, "sessions_per_participant": 2}, recruit=recruit)
    plain = catalogue_of(study, contents=CONTENTS)
    stimuli = tuple(
        replace(one, probe=replace(one.probe, duration_ms=5000 * (1 + CONTENTS.index(one.content))))
        for one in plain.stimuli
    )
    world = world_of(study, replace(plain, stimuli=stimuli))
    points = [point_of(session_of(world, size), 20) for size in (5, 10)]
    table = sizes_table(points, pay_of(study, None, points[0].session))
    assert table["cost"].tolist() == [15.0, 30.0]
    assert table["minutes"].round(9).nunique() == 1, "of many lists, and not of the first"


def test_a_later_session_is_trials_alone() -> None:
    after = [{"id": "age", "text": "?", "type": "number"}]
    many, one = (
        session_of(world_of(make_study("acr", ["a", "b"], after=after, design={"trials": 3, **more})), 5)
        for more in ({"sessions_per_participant": 3}, {})
    )
    assert many.minutes - one.minutes == pytest.approx(2 * one.rating_minutes)
    assert one.minutes > one.rating_minutes + 0.15


def test_one_content_is_fixed(tmp_path: Path) -> None:
    """What conditions do to a single content is how good they are: there is no other that it could differ from."""
    path = write(tmp_path, design={"participants": 6, "trials": 3, "contents": "free"})
    for name in "bcd":
        for text in tmp_path.rglob(f"{name}.txt"):
            text.unlink()
    found = beholder.power(path, participants=[10], repetitions=60, methods=[])
    assert found.sizes["false_alarms_low"].tolist()[0] < 0.05
    assert found.notes["contents"] == "fixed"
    assert "There is one content: what is found holds for it, and says nothing about others." in found.words


def test_groups_stay_groups_by_another_method() -> None:
    questions = [{"id": name, "text": "?", "scale": "cont100"} for name in ("look", "fit")]
    between: dict[str, Any] = {"asked": {"look": {"questions": ["look"]}, "fit": {"questions": ["fit"]}}}
    study = make_study("parallel", ["a", "b"], questions=questions, design={"trials": 3, "between": between})
    acr = as_method(study, find("acr"), study.checks)
    session = session_of(replace(world_of(study), study=acr, method=find("acr")), 6)
    assert [len({*session.sheet.question[session.sheet.list == person].tolist()}) for person in range(6)] == [1] * 6
    between["asked"]["fit"] = {"options": {"layout": "rows"}}
    study = make_study("parallel", ["a", "b"], questions=questions, design={"trials": 3, "between": between})
    assert as_method(study, find("acr"), study.checks).design.between == {}, "options are those of another method"


def test_a_pilot_says_who_takes_part_and_how_good_conditions_are(tmp_path: Path) -> None:
    path = write(tmp_path)
    beholder.simulate(path, participants=6, people="bias:0.05,inconsistency:0.05", seed=2)
    found = beholder.power(path, source=path, participants=[6], repetitions=20, methods=[])
    pilot = from_pilot(path)
    pairs = found.power[found.power["target"] == "contrast"]
    for row in records(pairs):
        apart = 4 * (pilot.means[row["condition"]] - pilot.means[row["other_condition"]])
        assert row["difference"] == pytest.approx(apart)
    assert len(pairs) == 3
    assert "pilot tiny, robots" in " ".join(found.notes["notes"])


def write(folder: Path, conditions: Sequence[str] = ("no", "01", "Größe 2"), **keys: Any) -> Path:
    """Write a study of texts, which take no time to look at."""
    import yaml

    for condition in conditions:
        for content in ("a", "b", "c", "d"):
            path = folder / "stimuli" / condition / f"{content}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{condition} {content}", "utf-8")
    study = {
        "beholder": 1, "name": "tiny", "title": "Which text?", "method": "acr", "stimuli": "stimuli",
        "questions": [{"id": "quality", "text": "How good?"}], "design": {"participants": 6, "trials": 6},
    }  # fmt: skip
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump({**study, **keys}, allow_unicode=True, sort_keys=False), "utf-8")
    return path


def test_the_verb_writes_tables_a_figure_and_a_page(tmp_path: Path) -> None:
    path = write(tmp_path, recruit={"mode": "link", "reward": "1.50 GBP"}, analyse={"contrasts": [["01", "no"]]})
    seen: list[tuple[int, int]] = []
    found = beholder.power(
        path, participants=[4, 8], repetitions=20, methods=["pair"], progress=lambda *step: seen.append(step)
    )
    assert seen[-1][0] == seen[-1][1]
    assert found.page == tmp_path / "power" / "index.html"
    names = {one.relative_to(found.page.parent).as_posix() for one in found.page.parent.rglob("*") if one.is_file()}
    assert names >= {"power.csv", "sizes.csv", "needed.csv", "methods.csv", "notes.json", "figures/power.svg"}
    page = found.page.read_text("utf-8")
    assert "nan" not in page.lower().replace("finance", "")
    assert "Simulated." in page
    assert found.sizes["cost"].tolist() == [6.0, 12.0]
    pair = found.power[found.power["target"] == "contrast"].iloc[0]
    assert (pair["condition"], pair["other_condition"]) == ("01", "no")
    assert "01 and no" in repr(found)
    assert "01 and no" in found._repr_html_()
    assert found.plot().to_dict()["vconcat"]


def test_the_command_prints_the_table_and_the_advice(tmp_path: Path) -> None:
    path = write(tmp_path)
    asked = [
        "power",
        str(path),
        "--participants",
        "4,8",
        "--repetitions",
        "20",
        "--methods",
        "none",
        "--contents",
        "fixed",
    ]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert lines[0].split() == ["difference", "4", "8"]
    assert lines[2].startswith("0.2 points")
    assert "Contents are fixed: what is found holds for these 4 contents, and says nothing about others." in lines
    assert "No pay rate: write recruit.reward, or give --rate, and cost is told as well." in lines
    assert lines[-1] == f"Page: {tmp_path / 'power' / 'index.html'}"


REFUSED: Mapping[str, tuple[dict[str, Any], str]] = {
    "sizes": (
        {"participants": "10,many,"},
        "--participants  is many, nothing. Allowed: whole numbers of 2 or more with commas between them, such as "
        "10,20,40,80.",
    ),
    "one": (
        {"participants": [1, 20]},
        "--participants  is 1. Allowed: whole numbers of 2 or more with commas between them, such as 10,20,40,80. A "
        "test takes two people.",
    ),
    "everything at once": (
        {"repetitions": 3, "difference": -1.0, "rate": "12 pounds"},
        "--repetitions  is 3. Allowed: 20 to 100,000.\n"
        "--difference  is -1. Allowed: a number above 0, in points of the scale.\n"
        "--rate  is 12 pounds. Allowed: an amount above 0 and a currency of three capital letters, such as "
        "12.00 GBP.",
    ),
    "seed": ({"seed": -1}, "--seed  is -1. Allowed: a whole number of 0 or more."),
    "leaving": (
        {"people": "leaving:1"},
        "--people  leaving is 1, and nobody would finish. Allowed: a number below 1.",
    ),
    "ladder": (
        {"difference": 2.5},
        "--difference  is 2.5: 3 conditions, each 2.5 from the next, take 5 points, and the scale has 4. Allowed: up "
        "to 2. 2.5 in a hundred of this scale are 0.1.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_asked_is_told(tmp_path: Path, name: str) -> None:
    keys, said = REFUSED[name]
    with pytest.raises(UserError) as caught:
        beholder.power(write(tmp_path), **keys)
    assert str(caught.value) == said
    assert not (tmp_path / "power").exists()


def test_one_condition_has_no_differences(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        beholder.power(write(tmp_path, ["only"]))
    said = "study.yaml:5  has 1 condition to compare, and power is about differences. Allowed: two or more."
    assert str(caught.value).endswith(said)


def test_correct_answers_compare_no_conditions(tmp_path: Path) -> None:
    path = write(tmp_path, ["a", "b"], method="abx", options={"mode": "identify"}, design={"trials": 4})
    with pytest.raises(UserError) as caught:
        beholder.power(path, participants=[4], repetitions=20)
    said = (
        "method is abx, of which power cannot be told. Allowed: methods whose answers are one number for each "
        "question: scores, or which of two is better. `beholder simulate` rehearses every method."
    )
    assert str(caught.value).endswith(said)


def test_an_unknown_method_beside_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        beholder.power(write(tmp_path), methods=["paralel"])
    assert str(caught.value).startswith("--methods  method is paralel, which is not a method.")
    assert str(caught.value).endswith("Did you mean parallel?")
