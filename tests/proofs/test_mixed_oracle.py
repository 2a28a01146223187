"""Mixed models agree with statsmodels and with R's lmerTest, and are more likely where statsmodels stops early."""

from __future__ import annotations

import json
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from beholder.stats.crossed import fit_crossed
from beholder.stats.runs import run_effect
from support.run_ratings import interacting


def ratings(seed: int, *, content: float = 0.4) -> pd.DataFrame:
    """Return values of 14 people, each on 8 of 15 cells."""
    rng = np.random.default_rng(seed)
    cells = np.concatenate([rng.permutation(15)[:8] for _ in range(14)])
    table = pd.DataFrame({"one": np.repeat(np.arange(14), 8), "group": cells % 3, "other": cells // 3})
    effects = rng.normal(0, 0.5, 14)[table["one"]] + rng.normal(0, content, 5)[table["other"]]
    return table.assign(value=3 + 0.3 * table["group"] + effects + rng.normal(0, 0.7, len(table)), run=table["one"] % 2)


def fitted(table: pd.DataFrame, formula: str, *, is_reml: bool, crossed_with: str = "") -> Any:
    """Return statsmodels' fit, with people as groups or, for two crossed factors, as one of two parts of one group."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from statsmodels.formula.api import mixedlm

        if not crossed_with:
            return mixedlm(formula, table, groups="one").fit(reml=is_reml, method="bfgs", gtol=1e-9)
        parts = {"one": "0 + C(one)", "other": f"0 + C({crossed_with})"}
        model = mixedlm(formula, table.assign(all=1), groups="all", vc_formula=parts)
        return model.fit(reml=is_reml, method="bfgs", gtol=1e-9)


@pytest.mark.parametrize("seed", [1, 2])
def test_two_crossed_factors(seed: int) -> None:
    table = ratings(seed)
    mine = fit_crossed(*(table[name].to_numpy() for name in ("value", "group", "one", "other")))
    assert mine is not None
    theirs = fitted(table, "value ~ C(group) - 1", is_reml=True, crossed_with="other")
    variances = dict(zip(theirs.model.exog_vc.names, theirs.vcomp, strict=True))
    assert mine.reml == pytest.approx(theirs.llf, abs=1e-6)
    assert (mine.one, mine.other, mine.residual) == pytest.approx(
        (variances["one"], variances["other"], theirs.scale), rel=1e-4, abs=1e-5
    )
    assert mine.mean == pytest.approx(theirs.fe_params.to_numpy(), abs=1e-5)


def test_a_variance_of_zero_is_at_least_as_likely() -> None:
    table = ratings(4, content=0.0)
    mine = fit_crossed(*(table[name].to_numpy() for name in ("value", "group", "one", "other")))
    assert mine is not None
    assert mine.reml >= fitted(table, "value ~ C(group) - 1", is_reml=True, crossed_with="other").llf - 1e-6


def test_run_effect() -> None:
    table = ratings(3)
    mine = run_effect(*(table[name].to_numpy() for name in ("value", "other", "run", "one")))
    full = fitted(table, "value ~ C(other) + C(run)", is_reml=False)
    null = fitted(table, "value ~ C(other)", is_reml=False)
    assert (mine.llf_full, mine.llf_null) == pytest.approx((full.llf, null.llf), abs=1e-6)
    assert mine.chi2 == pytest.approx(2 * (full.llf - null.llf), abs=1e-6)
    assert (mine.residual, mine.rater) == pytest.approx((full.scale, float(full.cov_re.iloc[0, 0])), rel=1e-4)
    reml = fitted(table, "value ~ C(other) + C(run)", is_reml=True)
    assert mine.differences[0].difference == pytest.approx(-reml.fe_params["C(run)[T.1]"], abs=1e-6)
    assert mine.differences[0].se == pytest.approx(reml.bse_fe["C(run)[T.1]"], rel=1e-4)


LMERTEST = r"""
if (!suppressMessages(requireNamespace("lmerTest", quietly = TRUE))) quit(status = 3)
d <- read.csv(commandArgs(TRUE)[1])
for (name in c("one", "other", "group")) d[[name]] <- factor(d[[name]])
m <- suppressMessages(suppressWarnings(lmerTest::lmer(
  value ~ 0 + group + (1 | one) + (1 | other) + (1 | one:group) + (1 | other:group), d,
  control = lme4::lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-10)))))
L <- t(contr.helmert(nlevels(d$group)))
f <- lmerTest::contest(m, L / sqrt(rowSums(L^2)))
v <- as.data.frame(lme4::VarCorr(m))
s <- coef(summary(m))
put <- function(x) paste0("[", paste(sprintf("%.10g", x), collapse = ","), "]")
order <- match(c("one", "other", "one:group", "other:group", "Residual"), v$grp)
cat("[", put(logLik(m)), ",", put(v$vcov[order]), ",", put(s[, 1]), ",", put(s[, 2]), ",", put(s[, 3]), ",",
    put(c(f[["F value"]], f[["DenDF"]], f[["Pr(>F)"]])), "]")
"""


def test_interactions_equal_lmertest(tmp_path: Path) -> None:
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("Rscript is not on this system")
    table = interacting(3, people=14, contents=6, groups=3)
    pd.DataFrame(table).to_csv(tmp_path / "ratings.csv", index=False)
    (tmp_path / "fit.R").write_text(LMERTEST, encoding="utf-8")
    done = subprocess.run([program, "fit.R", "ratings.csv"], cwd=tmp_path, capture_output=True, text=True, check=False)
    if done.returncode == 3:
        pytest.skip("R has no lmerTest")
    reml, variances, means, errors, df, test = json.loads(done.stdout)
    mine = fit_crossed(**table, has_interactions=True)
    assert mine is not None
    assert [mine.reml] == pytest.approx(reml, abs=1e-5)
    found = (mine.one, mine.other, mine.one_group, mine.other_group, mine.residual)
    assert found == pytest.approx(variances, rel=1e-3, abs=1e-5)
    assert mine.mean == pytest.approx(means, rel=1e-5)
    assert np.sqrt(np.diag(mine.covariance)) == pytest.approx(errors, rel=1e-4)
    assert mine.df == pytest.approx(df, rel=2e-3)
    assert (mine.test.statistic, mine.test.df_error, mine.test.p) == pytest.approx(test, rel=2e-3)
