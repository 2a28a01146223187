"""The sections of one question: findings, scores, spread, pairs, and what its method adds.

A report with many questions has an overview of all of them first.
"""

from __future__ import annotations

from itertools import permutations

import pandas as pd

from beholder.analysis.figures.scores import has_nested_interval
from beholder.analysis.means import EXACT_INTERVAL
from beholder.analysis.result import records
from beholder.formats import NONE, count, join_names, number, percent_half_up, plural, span
from beholder.reporting.findings import findings
from beholder.reporting.headline import p_words
from beholder.reporting.html import Child, Markup, matrix, render, scrolling, table, tag
from beholder.reporting.material import Material
from beholder.reporting.question_results import QuestionResults
from beholder.reporting.questionnaire import people_words, short_names, wordings
from beholder.reporting.section import QuestionSection, Section
from beholder.reporting.sheets import TextTable, these_interval, without_empty_columns


def has_narrow_matrix(material: Material) -> bool:
    """Return whether the page has one matrix, with the account next to it."""
    return len(material.parts) == 1 and bool(material.parts[0].tested) and len(material.parts[0].order) <= 12


def findings_section(material: Material, part: QuestionResults) -> Markup:
    """Return the findings of a question in sentences."""
    reference = next((name for name in part.order if part.roles.get(name) == "reference"), None)
    entries = findings(part, material.names, reference, people_words(material))
    title: Child = "What we found" if len(material.parts) == 1 else ["What we found: ", tag("q", part.name)]
    is_first = part is material.parts[0] and len(material.parts) <= MOST_OPEN
    anchor = "findings" if is_first else f"findings-{part.slug}"
    items = [tag("li", tag("b", finding.headline), " ", finding.detail) for finding in entries]
    head = tag("h2", title, id=f"{anchor}-h")
    return tag("section", head, tag("ol", items), class_="findings", id=anchor, aria_labelledby=f"{anchor}-h")


def _scores(material: Material, part: QuestionResults) -> Markup:
    return render([material.figures[f"scores-{part.slug}"], few_contents_warning(part)])


def _scores_foot(material: Material, part: QuestionResults) -> Child:
    kinds = [kind for kind in dict.fromkeys(part.conditions["interval"]) if kind]
    bar = f"Bar: 95 % interval, {' or '.join(kinds)}." if kinds else "One participant for each condition: no interval."
    if any(map(has_nested_interval, records(part.conditions))):
        like = f"for people and contents like these, {' or '.join(kinds)}"
        bar = f"Thick bar: 95 % interval for people like these, with these contents. Thin bar: {like}."
    asked = wordings(part.wordings, people_words(material))
    line = {"correct": " Broken line: guessing.", "diff": " Broken line: no difference."}
    line["choice"] = f" Broken line: {part.words.undecided}."
    if any(kind.startswith(EXACT_INTERVAL) for kind in kinds):
        line["choice"] += (
            " These intervals hold in at least 95 %, and are often wider than needed: what is clear is told by the "
            "tests of pairs."
        )
    dot = f" Dot: mean, every content weighing the same. {bar}{line.get(part.kind, '')}"
    is_sentence = isinstance(asked, str) and asked.rstrip().endswith((".", "?", "!", "…"))
    turned = " Turned round: the higher, the less people agreed." if part.is_turned else None
    return [asked, None if is_sentence else ".", turned, dot]


SCORES = QuestionSection("scores", lambda _, part: part.heading, _scores, foot=_scores_foot)


def _appropriateness(material: Material, part: QuestionResults) -> Markup | None:
    """Return how often what belongs together was found, against chance; None of questions that do not ask for it."""
    whole = material.results.also.get("appropriateness")
    rows = None if whole is None else whole[whole["question"] == part.id]
    if rows is None or rows.empty:
        return None
    lines = [
        (
            material.labels.get(row["condition"], row["condition"]), f"{row['matched']:,.0f}", f"{row['ties']:,.0f}",
            f"{row['mismatched']:,.0f}", percent_half_up(row["share"]),
            f"{number(100 * row['ci_low'], 0)} to {percent_half_up(row['ci_high'])}" if row["verdict"] else NONE,
            row["verdict"] or NONE,
        )
        for row in sorted(records(rows), key=lambda row: -row["share"])
    ]  # fmt: skip
    heads = ("Condition", "Its own", "Equal", "Foreign", "For its own", "95 % interval", "Against chance")
    return table(f"Which of the two was called more fitting: {part.caption}", TextTable(heads, lines))


def _appropriateness_foot(_material: Material, _part: QuestionResults) -> str:
    return (
        "For its own: share of answers for the stimulus with its own companion, answers that both fit equally split, "
        "every content weighing the same; half is what guessing gives. Exact 95 % intervals for people and contents "
        "like these, not corrected for how many conditions there are."
    )


APPROPRIATENESS = QuestionSection(
    "appropriateness", "Do people find what belongs together?", _appropriateness, foot=_appropriateness_foot
)


def _matrix(material: Material, part: QuestionResults) -> Markup | None:
    """Return the differences between conditions; None if none was tested."""
    if not part.tested:
        return None
    _, higher, lower = _matrix_words(part)
    is_open = any(pair not in part.tested for pair in permutations(part.matrix_order, 2))
    pale = "clear on these contents only" if part.claim == "beyond" else "undecided beyond these contents"
    key = tag(
        "p",
        tag("span", tag("i", class_="matrix__above"), higher),
        tag("span", tag("i", class_="matrix__below"), lower),
        tag("span", tag("i", class_="matrix__these"), pale) if part.only_on_these else None,
        tag("span", tag("i", class_="matrix__same"), "= no clear difference"),
        tag("span", "– not asked for" if part.unnamed else "– not tested") if is_open else None,
        class_="key",
    )
    return render([matrix(part, material.labels), key])


def _matrix_foot(_material: Material, part: QuestionResults) -> str:
    unit, _, _ = _matrix_words(part)
    tested, clear, on_these = (len(pairs) // 2 for pairs in (part.tested, part.clear, part.clear_on_these))
    beyond = on_these - len(part.only_on_these) // 2
    first = "best" if part.is_quality else "highest"
    differ, pairs = plural(tested, "differs", "differ"), count(tested, "tested pair")
    if part.contents_words == "this one content":
        counted, over = f"{clear} of {pairs} {differ} on this one content", "participant"
    else:
        counted = f"{on_these} of {pairs} {differ} on {part.contents_words}, {beyond} also beyond them"
        over = "participant and content"
    return (
        f"{unit}, {first} first. {counted}: "
        f"t test clustered by {over}, Holm-corrected{part.correction_note}, α = {part.alpha:g}."
    )


PAIRS = QuestionSection(
    "pairs", "Which differences are clear?", _matrix, foot=_matrix_foot,
    is_wide=lambda material, _: not has_narrow_matrix(material),
)  # fmt: skip


def _matrix_words(part: QuestionResults) -> tuple[str, str, str]:
    """Return the unit of a cell of the matrix, and the words for a row above and below the column."""
    if part.kind == "choice":
        chosen = part.words.chosen
        unit = f"How often the row was {chosen} minus how often the column was, as a share of their comparisons"
        return unit, f"row {chosen} more often", f"column {chosen} more often"
    if part.kind == "pick":
        ticked = part.words.ticked
        return "Row minus column, as shares", f"row {ticked} more often", f"row {ticked} less often"
    unit = "as shares" if part.is_share else f"in {part.words.unit}"
    return f"Row minus column, {unit}", "row scores higher", "row scores lower"


# Overview of many questions


MOST_OPEN = 3
"""The most questions that are shown one after the other, without an overview."""
_WIDTH, _HEIGHT, _EDGE = 96, 14, 7


def is_long(material: Material) -> bool:
    """Return whether there are so many questions that an overview comes first and each is collapsed."""
    return len(material.parts) > MOST_OPEN and any(part.order for part in material.parts)


def overview(material: Material) -> Markup | None:
    """Return a table of the means: a question in each row, a condition in each column, all dots on their scale.

    None if there are few questions.
    """
    if not is_long(material):
        return None
    parts = [part for part in material.parts if part.order]
    rated = {name for part in parts for name in part.order}
    names = [name for name in material.labels if name in rated]
    scales = {(part.scale.min, part.scale.max) for part in parts}
    heads: list[Child] = [tag("th", "Question", scope="col")]
    heads += [tag("th", material.labels[name], scope="col") for name in names]
    shorts = short_names(material)
    rows = [_row(part, shorts[part.id], names, has_span=len(scales) > 1) for part in parts]
    title = "Mean of every condition, by question"
    grid = tag(
        "table",
        tag("caption", title, class_="unseen"),
        tag("thead", tag("tr", heads)),
        tag("tbody", rows),
        class_="table overview",
    )
    return scrolling(title, grid)


def overview_foot(material: Material) -> str:
    """Return how the overview is read."""
    parts = [part for part in material.parts if part.order]
    scales = {(part.scale.min, part.scale.max) for part in parts}
    metrics = " or ".join(dict.fromkeys(part.metric for part in parts))
    line = f"from {span(*scales.pop())}" if len(scales) == 1 else "over the scale of its question"
    turned = " Reversed statements are turned: more is better." if any(part.is_turned for part in parts) else ""
    return f"Dot: {metrics}, on a line {line}.{turned} Intervals and tests stand below."


OVERVIEW = Section("findings", "All questions", overview, foot=overview_foot)


def _unrated(material: Material) -> Markup | None:
    """Return the questions that an overview leaves out; None if there are none."""
    names = [part.name for part in material.parts if not part.order]
    return tag("ul", [tag("li", name) for name in names]) if names and is_long(material) else None


UNRATED = Section("unrated", "Without any rating that could be used", _unrated)


def _row(part: QuestionResults, title: str, names: list[str], *, has_span: bool) -> Markup:
    means = {str(row["condition"]): float(row["mean"]) for row in records(part.conditions)}
    scale = f" ({span(part.scale.min, part.scale.max)})" if has_span else ""
    link = tag("a", title, href=f"#findings-{part.slug}")
    name = tag("th", link, scale, scope="row")
    return tag("tr", name, [_cell(part, means.get(condition)) for condition in names])


def _cell(part: QuestionResults, mean: float | None) -> Markup:
    if mean is None:
        return tag("td", "–")
    return tag("td", tag("span", _strip(part, mean), number(mean, part.decimals), class_="overview__cell"))


def _strip(part: QuestionResults, mean: float) -> Markup:
    """Return a line from end to end of the scale with a dot on it; the cell has the number too."""
    low, high = part.scale.min, part.scale.max
    place = _EDGE + (_WIDTH - 2 * _EDGE) * (mean - low) / (high - low)
    middle = _HEIGHT / 2
    zero = None
    if part.zero is not None:
        at = _EDGE + (_WIDTH - 2 * _EDGE) * (part.zero - low) / (high - low)
        zero = tag("path", d=f"M{at:g} 1V{_HEIGHT - 1}")
    return tag(
        "svg",
        tag("path", d=f"M{_EDGE} {middle:g}H{_WIDTH - _EDGE}"),
        zero,
        tag("circle", cx=f"{place:.1f}", cy=f"{middle:g}", r="5"),
        class_="strip",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        aria_hidden="true",
    )


# DMOS, position and factors


_FEW_CONTENTS = 5
_HEADS = ("Ratings", "Participants", "Mean", "95 % interval", "These contents", "SD")


def few_contents_warning(part: QuestionResults) -> Markup | None:
    """Return a warning if too few contents were rated for an interval over contents; None where nothing has one."""
    contents = int(part.conditions["contents"].min()) if len(part.conditions) else 0
    people = int(part.conditions["participants"].min()) if len(part.conditions) else 0
    if part.is_share or not 1 <= contents < _FEW_CONTENTS or part.conditions["participants"].max() == 1:
        return None
    is_whole = contents == part.contents["content"].nunique()
    if contents == 1:
        whose = "One content was rated: the" if is_whole else "A condition was rated on one content only: its"
        text = f"{whose} intervals are over participants, and say nothing of other contents."
    else:
        least = min(contents, people) - 1
        freedom = f"intervals of scores on {count(least, 'degree')} of freedom{_df_words(part)}, " if least else ""
        freedom = "" if part.has_pair_intervals else freedom
        rated = f"{contents} contents were rated"
        rated = rated if is_whole else f"A condition was rated on {contents} contents only"
        text = (
            f"{rated}: what is to hold for other contents too rests on few of them, "
            f"{freedom}and is wide. More contents "
            "help more than more people; thick bars and what is clear on these contents are for just these."
        )
    return tag("p", tag("b", "Few contents. "), text, class_="notice")


def _df_words(part: QuestionResults) -> str:
    """Return the degrees of freedom of the tests, if there are tests: more than scores have, as pairs are moderated."""
    df = part.inner_pairs["df"].dropna()
    if df.empty:
        return ""
    low, high = number(df.min(), 0), number(df.max(), 0)
    return f" and tests on {low if low == high else f'{low} to {high}'}"


def dmos_table(material: Material, part: QuestionResults) -> Markup | None:
    """Return the differential scores of every condition; None if the method has none."""
    own = _question_rows(material, "dmos", part)
    own = own[own["level"] == "condition"] if len(own) else own
    if own.empty:
        return None
    rows = [
        (material.labels.get(row["condition"], row["condition"]), *_cells(row, part.decimals)) for row in records(own)
    ]
    is_paired = set(own["pairing"]) == {"paired"}
    rests = (
        "each participant's own vote on the reference" if is_paired else "all ratings, people and contents held equal"
    )
    caption = f"{own['metric'].iloc[0]}, from {rests}: {part.caption}"
    return table(caption, without_empty_columns(TextTable(("Condition", *_HEADS), rows)))


DMOS = QuestionSection(
    "dmos",
    "Against the reference",
    dmos_table,
    foot="Higher is closer to the reference; above the highest vote, better than it.",
)


def position_effect(material: Material, part: QuestionResults) -> Markup | None:
    """Return whether the second, or right, stimulus was preferred for its position; None without comparisons."""
    own = _question_rows(material, "position", part)
    if own.empty:
        return None
    row = records(own)[0]
    share, low, high = (100 * row[name] for name in ("second_share", "second_low", "second_high"))
    if share != share:
        return None
    interval = "" if low != low else f" (95 % interval {span(round(low), round(high))} %)"
    # A place is a fault of this study: what is clear on these contents is told.
    p = row["these_p"]
    clear = p == p and p < part.alpha
    verdict = "The place pulls: this is more than chance." if clear else "No pull of the place is shown."
    ties = ", a tie being half" if row["ties"] else ""
    words = f" The second, or right, one was called better in {share:.0f} %{interval} of the comparisons{ties}"
    return tag("p", tag("b", verdict), words, f", {p_words(p)}." if p == p else ".")


POSITION = QuestionSection("position", "Does the place matter?", position_effect)


def factor_tables(material: Material, part: QuestionResults) -> Markup | None:
    """Return the means by every factor of stimuli or participants; None without factors.

    A factor that is the question itself has one level, and no table.
    """
    own = _question_rows(material, "factors", part)
    if own.empty:
        return None
    tables = []
    for factor in dict.fromkeys(own["factor"]):
        if factor in material.study.design.between and (own["factor"] == factor).sum() == 1:
            continue
        mine = records(own[own["factor"] == factor])
        # Within a level conditions were compared with each other: who won there is told.
        has_conditions = any(row["condition"] for row in mine)
        names: list[tuple[str, ...]] = [(row["level"] or NONE,) for row in mine]
        if has_conditions:
            labels = (material.labels.get(row["condition"], row["condition"]) or "all" for row in mine)
            names = [(*name, label) for name, label in zip(names, labels, strict=True)]
        rows = [(*name, *_cells(row, part.decimals)) for name, row in zip(names, mine, strict=True)]
        heads = ("Level", *(("Condition",) if has_conditions else ()), *_HEADS)
        sheet = without_empty_columns(TextTable(heads, rows))
        tables.append(table(f"By {str(factor).removeprefix('factor_')}: {part.caption}", sheet))
    return render(tables) if tables else None


def _factors_foot(material: Material, _part: QuestionResults) -> str:
    """Return how levels of factors can be compared."""
    between = list(material.study.design.between)
    other = "Levels may differ in more than their factor: in contents, or in other factors."
    if not between:
        return f"Columns of the manifest. {other}"
    return f"Each participant has one level of {join_names(between)}: levels are compared between people. {other}"


FACTORS = QuestionSection("factors", "By factor", factor_tables, foot=_factors_foot)


def _question_rows(material: Material, name: str, part: QuestionResults) -> pd.DataFrame:
    frame = material.results.also.get(name)
    return pd.DataFrame() if frame is None else frame[frame["question"] == part.id]


def _cells(row: dict[str, float], decimals: int) -> tuple[str, ...]:
    low, high = (number(row[name], decimals) for name in ("ci_low", "ci_high"))
    return (
        f"{row['n']:,.0f}", f"{row['participants']:,.0f}", number(row["mean"], decimals),
        NONE if low == NONE else f"{low} to {high}", these_interval(row, decimals), number(row["sd"], decimals),
    )  # fmt: skip
