"""One question against another: the table of lines and dips."""

from __future__ import annotations

import pandas as pd
import pytest
from scipy import stats

from beholder.dimensionality.data import Joined
from beholder.dimensionality.relation import relation, spread
from beholder.errors import UserError


def answers(means: dict[str, dict[str, float]]) -> pd.DataFrame:
    """Return ratings of three people, all of the same opinion, with these means by question and condition."""
    return pd.DataFrame([
        {
            "participant": f"p{who}", "stimulus": f"{condition}-1", "content": "one", "condition": condition,
            "question": question, "value": mean, "role": "test",
        }
        for question, by_condition in means.items()
        for condition, mean in by_condition.items()
        for who in range(3)
    ])  # fmt: skip


def test_relation_of_ratings() -> None:
    names = ["no", "01", "NA", "Größe 2", "e", "f", "g", "h"]
    real = dict(zip(names, [1.0, 1.4, 2.2, 2.6, 3.0, 3.4, 4.4, 5.0], strict=True))
    liked = {name: 0.5 * value + 1 + 0.05 * (-1) ** place for place, (name, value) in enumerate(real.items())}
    data = answers({"real": real, "liked": liked})
    for level in ("condition", "stimulus"):
        found = relation(data, "real", "liked", level).table.iloc[0]
        assert (found["x"], found["y"], found["level"], found["n"], found["dip"]) == ("real", "liked", level, 8, "no")
        known = stats.linregress(list(real.values()), list(liked.values()))
        assert found["slope"] == pytest.approx(known.slope)
        assert found["r_squared"] == pytest.approx(known.rvalue**2)
        assert found["note"].startswith("No dip deeper than ")
    svg = relation(data, "real", "liked").plot().to_dict()
    assert "Größe 2" in str(svg)


def test_few_conditions() -> None:
    for count in (1, 4):
        names = "abcd"[:count]
        data = answers({"real": dict(zip(names, range(1, 5), strict=False)), "liked": dict.fromkeys(names, 2.0)})
        result = relation(data, "real", "liked")
        assert result.table["dip"].iloc[0] == "undecided"
        assert result.table["note"].iloc[0] == f"too few for a dip: {count} points, 6 are needed"
        result.plot().to_dict()


def test_a_question_that_is_not_there() -> None:
    data = answers({"real": {"a": 1.0, "b": 2.0}, "liked": {"a": 1.0, "b": 2.0}})
    with pytest.raises(UserError) as caught:
        relation(data, "reel", "nice")
    assert str(caught.value) == (
        "x  reel is not a question with numbers. Allowed: liked, real. Did you mean real?\n"
        "y  nice is not a question with numbers. Allowed: liked, real."
    )


def test_spread_is_over_the_questions_of_the_study_that_asked(joined: Joined) -> None:
    found = spread(joined, "real").table.set_index("condition")
    means = joined.by_condition
    assert found["spread"].to_numpy() == pytest.approx(means.std(axis=1, ddof=1).to_numpy())
    assert found["range"].to_numpy() == pytest.approx((means.max(axis=1) - means.min(axis=1)).to_numpy())
    assert found["x"].to_numpy() == pytest.approx(means["real"].to_numpy())
