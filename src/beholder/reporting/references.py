"""References: everything that a report can cite, with its BibTeX entry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from beholder.formats import join_names
from beholder.reporting.material import Material

_ITU = "International Telecommunication Union"


class BibliographyEntry(NamedTuple):
    """One source. Braces in its fields keep capitals; everything else is plain text."""

    key: str
    short: str
    """As a sentence names it, such as `Holm, 1979`."""
    cited: str
    """How citations of analyses begin."""
    kind: str
    fields: Mapping[str, str]


def _article(key: str, cited: str, author: str, year: int, title: str, where: str, doi: str = "") -> BibliographyEntry:
    """Return an article; `where` is journal, volume, number and pages, with bars between them."""
    journal, volume, number, pages = where.split("|")
    fields = {
        "author": author, "title": title, "journal": journal, "volume": volume, "number": number, "pages": pages,
        "year": str(year), "doi": doi,
    }  # fmt: skip
    return BibliographyEntry(key, f"{_names(author)}, {year}", cited, "article", _filled(fields))


def _standard(key: str, number: str, edition: str, title: str, note: str = "") -> BibliographyEntry:
    """Return a Recommendation; its edition is month and year, such as 10/2023. Citations may name another edition."""
    fields = {"author": f"{{{_ITU}}}", "title": title, "institution": _ITU, "type": "Recommendation"}
    fields |= {"number": f"{number} ({edition})", "year": edition.partition("/")[2], "note": note}
    return BibliographyEntry(key, f"{number} ({edition})", re.sub(r"-\d+$", "", number), "techreport", _filled(fields))


def _other(key: str, cited: str, kind: str, author: str, **fields: str) -> BibliographyEntry:
    return BibliographyEntry(
        key, f"{_names(author)}, {fields['year']}", cited, kind, _filled({"author": author, **fields})
    )


def _filled(fields: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in fields.items() if text}


def _names(author: str) -> str:
    """Return the family names of up to two, or the first and the others."""
    families = [one.partition(",")[0].strip("{}") for one in author.split(" and ")]
    return " and ".join(families) if len(families) < 3 else f"{families[0]} et al."


REFERENCES = (
    _standard(
        "itu-p910", "ITU-T P.910", "10/2023",
        "Subjective video quality assessment methods for multimedia applications",
        "Took in ITU-T P.911 and ITU-T P.913",
    ),
    _standard(
        "itu-p913", "ITU-T P.913", "06/2021",
        "Methods for the subjective assessment of video quality, audio quality and audiovisual quality of Internet "
        "video and distribution quality television in any environment",
        "Merged into ITU-T P.910 (10/2023)",
    ),
    _standard(
        "itu-bt500", "ITU-R BT.500-15", "05/2023",
        "Methodologies for the subjective assessment of the quality of television images",
    ),
    _standard(
        "itu-p1401", "ITU-T P.1401", "01/2020",
        "Methods, metrics and procedures for statistical evaluation, qualification and comparison of objective quality "
        "prediction models",
    ),
    _standard(
        "itu-p835", "ITU-T P.835", "11/2003",
        "Subjective test methodology for evaluating speech communication systems that include noise suppression "
        "algorithm",
    ),
    _standard(
        "itu-bs1116", "ITU-R BS.1116-3", "02/2015",
        "Methods for the subjective assessment of small impairments in audio systems",
    ),
    _standard(
        "itu-bs1534", "ITU-R BS.1534-3", "10/2015",
        "Method for the subjective assessment of intermediate quality level of audio systems",
    ),
    _other(
        "jonell2021", "Jonell et al. (2021)", "inproceedings",
        "Jonell, Patrik and Yoon, Youngwoo and Wolfert, Pieter and Kucherenko, Taras and Henter, Gustav Eje",
        title="{HEMVIP}: Human evaluation of multiple videos in parallel",
        booktitle="Proceedings of the 2021 International Conference on Multimodal Interaction",
        publisher="Association for Computing Machinery", pages="707–711", year="2021", doi="10.1145/3462244.3479957",
    ),
    _other(
        "mikhailiuk2020", "Mikhailiuk et al. (2020)", "inproceedings",
        "Mikhailiuk, Aliaksei and Wilmot, Clifford and Perez-Ortiz, Maria and Yue, Dingcheng and Mantiuk, Rafal K.",
        title="Active sampling for pairwise comparisons via approximate message passing and information gain "
        "maximization", booktitle="25th International Conference on Pattern Recognition (ICPR)", year="2020",
    ),
    _other(
        "kucherenko2023", "Kucherenko et al. (2023)", "misc",
        "Kucherenko, Taras and Nagy, Rajmund and Yoon, Youngwoo and Woo, Jieyeon and Nikolov, Teodor and Tsakov, "
        "Mihail and Henter, Gustav Eje",
        title="The {GENEA} Challenge 2023: A large-scale evaluation of gesture generation models in monadic and dyadic "
        "settings", year="2023", eprint="2308.12646", archiveprefix="arXiv",
    ),
    _other(
        "kucherenko2024", "Kucherenko et al. (2024)", "misc",
        "Kucherenko, Taras and Wolfert, Pieter and Yoon, Youngwoo and Viegas, Carla and Nikolov, Teodor and Tsakov, "
        "Mihail and Henter, Gustav Eje",
        title="Evaluating gesture generation in a large-scale open challenge: The {GENEA} Challenge 2022", year="2024",
        eprint="2303.08737", archiveprefix="arXiv",
    ),
    _other(
        "naderi2022", "Naderi and Cutler", "misc", "Naderi, Babak and Cutler, Ross",
        title="A crowdsourcing approach to video quality assessment", year="2022", eprint="2204.06784",
        archiveprefix="arXiv",
    ),
    _other(
        "cutler2024", "Cutler et al.", "misc",
        "Cutler, Ross and Naderi, Babak and Gopal, Vishak and Palle, Dharmendar",
        title="A multidimensional measurement of photorealistic avatar quality of experience", year="2024",
        eprint="2411.09066", archiveprefix="arXiv",
    ),
    _other(
        "morrison2022", "Morrison et al.", "inproceedings",
        "Morrison, Max and Tang, Brian and Tan, Gefei and Pardo, Bryan", title="Reproducible subjective evaluation",
        booktitle="ICLR Workshop on ML Evaluation Standards", year="2022",
    ),
    _article(
        "cole2017", "Cole, Mahrt and Roy (2017)", "Cole, Jennifer and Mahrt, Timothy and Roy, Joseph", 2017,
        "Crowd-sourcing prosodic annotation", "Computer Speech & Language|45||300–325",
    ),
    _article(
        "levenshtein1966", "Levenshtein (1966)", "Levenshtein, V. I.", 1966,
        "Binary codes capable of correcting deletions, insertions, and reversals",
        "Soviet Physics Doklady|10|8|707–710",
    ),
    _article(
        "student1908", "Student (1908)", "Student", 1908, "The probable error of a mean", "Biometrika|6|1|1–25",
        "10.1093/biomet/6.1.1",
    ),
    _article(
        "clopper1934", "Clopper and Pearson (1934)", "Clopper, C. J. and Pearson, E. S.", 1934,
        "The use of confidence or fiducial limits illustrated in the case of the binomial", "Biometrika|26|4|404–413",
        "10.1093/biomet/26.4.404",
    ),
    _article(
        "korn1998", "Korn and Graubard (1998)", "Korn, Edward L. and Graubard, Barry I.", 1998,
        "Confidence intervals for proportions with small expected number of positive counts estimated from survey data",
        "Survey Methodology|24|2|193–201",
    ),
    _article(
        "cameron2011", "Cameron, Gelbach and Miller (2011)",
        "Cameron, A. Colin and Gelbach, Jonah B. and Miller, Douglas L.", 2011,
        "Robust inference with multiway clustering", "Journal of Business & Economic Statistics|29|2|238–249",
        "10.1198/jbes.2010.07136",
    ),
    _article(
        "kuznetsova2017", "Kuznetsova, Brockhoff and Christensen (2017)",
        "Kuznetsova, Alexandra and Brockhoff, Per B. and Christensen, Rune H. B.", 2017,
        "{lmerTest} package: tests in linear mixed effects models", "Journal of Statistical Software|82|13|1–26",
        "10.18637/jss.v082.i13",
    ),
    _article(
        "mackinnon2021", "MacKinnon, Nielsen and Webb (2021)",
        "MacKinnon, James G. and Nielsen, Morten Ørregaard and Webb, Matthew D.", 2021,
        "Wild bootstrap and asymptotic inference with multiway clustering",
        "Journal of Business & Economic Statistics|39|2|505–519", "10.1080/07350015.2019.1677473",
    ),
    _article(
        "holm1979", "Holm (1979)", "Holm, Sture", 1979, "A simple sequentially rejective multiple test procedure",
        "Scandinavian Journal of Statistics|6|2|65–70",
    ),
    _article(
        "cumming2001", "Cumming and Finch (2001)", "Cumming, Geoff and Finch, Sue", 2001,
        "A primer on the understanding, use, and calculation of confidence intervals that are based on central and "
        "noncentral distributions", "Educational and Psychological Measurement|61|4|532–574",
        "10.1177/0013164401614002",
    ),
    _article(
        "wilcoxon1945", "Wilcoxon (1945)", "Wilcoxon, Frank", 1945, "Individual comparisons by ranking methods",
        "Biometrics Bulletin|1|6|80–83", "10.2307/3001968",
    ),
    _article(
        "pratt1959", "Pratt (1959)", "Pratt, John W.", 1959,
        "Remarks on zeros and ties in the {Wilcoxon} signed rank procedures",
        "Journal of the American Statistical Association|54|287|655–667", "10.1080/01621459.1959.10501526",
    ),
    _article(
        "spearman1904", "Spearman (1904)", "Spearman, C.", 1904,
        "The proof and measurement of association between two things", "American Journal of Psychology|15|1|72–101",
        "10.2307/1412159",
    ),
    _article(
        "spearman1910", "Spearman (1910)", "Spearman, C.", 1910, "Correlation calculated from faulty data",
        "British Journal of Psychology|3|3|271–295", "10.1111/j.2044-8295.1910.tb00206.x",
    ),
    _article(
        "brown1910", "Brown (1910)", "Brown, William", 1910,
        "Some experimental results in the correlation of mental abilities", "British Journal of Psychology|3|3|296–322",
        "10.1111/j.2044-8295.1910.tb00207.x",
    ),
    _article(
        "thompson1936", "Thompson (1936)", "Thompson, William R.", 1936,
        "On confidence ranges for the median and other expectation distributions for populations of unknown "
        "distribution form", "Annals of Mathematical Statistics|7|3|122–128",
    ),
    _article(
        "bradley1952", "Bradley and Terry (1952)", "Bradley, Ralph Allan and Terry, Milton E.", 1952,
        "Rank analysis of incomplete block designs: {I}. {The} method of paired comparisons",
        "Biometrika|39|3/4|324–345", "10.1093/biomet/39.3-4.324",
    ),
    _article(
        "plackett1975", "Plackett (1975)", "Plackett, R. L.", 1975, "The analysis of permutations",
        "Journal of the Royal Statistical Society: Series C (Applied Statistics)|24|2|193–202", "10.2307/2346567",
    ),
    _other(
        "luce1959", "Luce (1959)", "book", "Luce, R. Duncan",
        title="Individual choice behavior: A theoretical analysis", publisher="Wiley", year="1959",
    ),
    _article(
        "hunter2004", "Hunter (2004)", "Hunter, David R.", 2004,
        "{MM} algorithms for generalized {Bradley}-{Terry} models", "Annals of Statistics|32|1|384–406",
        "10.1214/aos/1079120141",
    ),
    _other(
        "louviere2015", "Louviere et al. (2015)", "book",
        "Louviere, Jordan J. and Flynn, Terry N. and Marley, A. A. J.",
        title="Best-worst scaling: Theory, methods and applications", publisher="Cambridge University Press",
        year="2015", doi="10.1017/CBO9781107337855",
    ),
    _other(
        "marden1995", "Marden (1995)", "book", "Marden, John I.", title="Analyzing and modeling rank data",
        publisher="Chapman and Hall", year="1995",
    ),
    _article(
        "davidson1970", "Davidson (1970)", "Davidson, Roger R.", 1970,
        "On extending the {Bradley}-{Terry} model to accommodate ties in paired comparison experiments",
        "Journal of the American Statistical Association|65|329|317–328", "10.1080/01621459.1970.10481082",
    ),
    _article(
        "davidson1977", "Davidson and Beaver (1977)", "Davidson, Roger R. and Beaver, Robert J.", 1977,
        "On extending the {Bradley}-{Terry} model to incorporate within-pair order effects",
        "Biometrics|33|4|693–702", "10.2307/2529467",
    ),
    _article(
        "thurstone1927", "Thurstone (1927)", "Thurstone, L. L.", 1927, "A law of comparative judgment",
        "Psychological Review|34|4|273–286", "10.1037/h0070288",
    ),
    _article(
        "glenn1960", "Glenn and David (1960)", "Glenn, W. A. and David, H. A.", 1960,
        "Ties in paired-comparison experiments using a modified {Thurstone}-{Mosteller} model",
        "Biometrics|16|1|86–109", "10.2307/2527957",
    ),
    _article(
        "li2020", "Li et al. (2020)",
        "Li, Zhi and Bampis, Christos G. and Krasula, Lukáš and Janowski, Lucjan and Katsavounidis, Ioannis", 2020,
        "A simple model for subject behavior in subjective experiments", "Electronic Imaging|32|11|131-1–131-14",
        "10.2352/ISSN.2470-1173.2020.11.HVEI-131",
    ),
    _article(
        "smyth2004", "Smyth (2004)", "Smyth, Gordon K.", 2004,
        "Linear models and empirical {Bayes} methods for assessing differential expression in microarray experiments",
        "Statistical Applications in Genetics and Molecular Biology|3|1|3", "10.2202/1544-6115.1027",
    ),
    _article(
        "liang1986", "Liang and Zeger (1986)", "Liang, Kung-Yee and Zeger, Scott L.", 1986,
        "Longitudinal data analysis using generalized linear models", "Biometrika|73|1|13–22",
        "10.1093/biomet/73.1.13",
    ),
    _article(
        "mcgraw1996", "McGraw and Wong (1996)", "McGraw, Kenneth O. and Wong, S. P.", 1996,
        "Forming inferences about some intraclass correlation coefficients", "Psychological Methods|1|1|30–46",
        "10.1037/1082-989X.1.1.30",
    ),
    _article(
        "henderson1953", "Henderson (1953)", "Henderson, C. R.", 1953,
        "Estimation of variance and covariance components", "Biometrics|9|2|226–252", "10.2307/3001853",
    ),
    _article(
        "conger1980", "Conger (1980)", "Conger, Anthony J.", 1980,
        "Integration and generalization of kappas for multiple raters", "Psychological Bulletin|88|2|322–328",
        "10.1037/0033-2909.88.2.322",
    ),
    _article(
        "bakeman2009", "Bakeman, Quera and Gnisci (2009)", "Bakeman, Roger and Quera, Vicenç and Gnisci, Augusto", 2009,
        "Observer agreement for timed-event sequential data: A comparison of time-based and event-based algorithms",
        "Behavior Research Methods|41|1|137–147", "10.3758/BRM.41.1.137",
    ),
    _other(
        "silverman1986", "Silverman (1986)", "book", "Silverman, Bernard W.",
        title="Density estimation for statistics and data analysis", publisher="Chapman and Hall", year="1986",
    ),
    _other(
        "iglewicz1993", "Iglewicz and Hoaglin (1993)", "book", "Iglewicz, Boris and Hoaglin, David C.",
        title="How to detect and handle outliers", publisher="ASQC Quality Press", year="1993",
    ),
    _other(
        "krippendorff2011", "Krippendorff (2011)", "misc", "Krippendorff, Klaus",
        title="Computing {Krippendorff's} alpha-reliability", publisher="University of Pennsylvania",
        year="2011",
    ),
    _other(
        "hossfeld2011", "Hossfeld, Schatz and Egger (2011)", "inproceedings",
        "Hoßfeld, Tobias and Schatz, Raimund and Egger, Sebastian", title="{SOS}: The {MOS} is not enough!",
        booktitle="International Workshop on Quality of Multimedia Experience", pages="131–136", year="2011",
        doi="10.1109/QoMEX.2011.6065690",
    ),
    _article(
        "kendall1939", "Kendall and Babington Smith (1939)", "Kendall, M. G. and Babington Smith, B.", 1939,
        "The problem of m rankings", "The Annals of Mathematical Statistics|10|3|275–287", "10.1214/aoms/1177732186",
    ),
    _article(
        "bates2015", "Bates et al. (2015)",
        "Bates, Douglas and Mächler, Martin and Bolker, Ben and Walker, Steve", 2015,
        "Fitting linear mixed-effects models using {lme4}", "Journal of Statistical Software|67|1|1–48",
        "10.18637/jss.v067.i01",
    ),
    _article(
        "patterson1971", "Patterson and Thompson (1971)", "Patterson, H. D. and Thompson, R.", 1971,
        "Recovery of inter-block information when block sizes are unequal", "Biometrika|58|3|545–554",
        "10.1093/biomet/58.3.545",
    ),
    _article(
        "rao1984", "Rao and Scott (1984)", "Rao, J. N. K. and Scott, A. J.", 1984,
        "On chi-squared tests for multiway contingency tables with cell proportions estimated from survey data",
        "Annals of Statistics|12|1|46–60", "10.1214/aos/1176346391",
    ),
    _article(
        "satterthwaite1946", "Satterthwaite (1946)", "Satterthwaite, F. E.", 1946,
        "An approximate distribution of estimates of variance components", "Biometrics Bulletin|2|6|110–114",
        "10.2307/3002019",
    ),
    _article(
        "schuirmann1987", "Schuirmann (1987)", "Schuirmann, Donald J.", 1987,
        "A comparison of the two one-sided tests procedure and the power approach for assessing the equivalence of "
        "average bioavailability", "Journal of Pharmacokinetics and Biopharmaceutics|15|6|657–680",
        "10.1007/BF01068419",
    ),
    _article(
        "cronbach1951", "Cronbach (1951)", "Cronbach, Lee J.", 1951,
        "Coefficient alpha and the internal structure of tests", "Psychometrika|16|3|297–334", "10.1007/BF02310555",
    ),
    _article(
        "feldt1965", "Feldt (1965)", "Feldt, Leonard S.", 1965,
        "The approximate sampling distribution of {Kuder-Richardson} reliability coefficient twenty",
        "Psychometrika|30|3|357–370", "10.1007/BF02289499",
    ),
    _other(
        "mcdonald1999", "McDonald (1999)", "book", "McDonald, Roderick P.", title="Test theory: A unified treatment",
        publisher="Erlbaum", year="1999",
    ),
    _article(
        "horn1965", "Horn (1965)", "Horn, John L.", 1965,
        "A rationale and test for the number of factors in factor analysis", "Psychometrika|30|2|179–185",
        "10.1007/BF02289447",
    ),
    _article(
        "kaiser1958", "Kaiser (1958)", "Kaiser, Henry F.", 1958,
        "The varimax criterion for analytic rotation in factor analysis", "Psychometrika|23|3|187–200",
        "10.1007/BF02289233",
    ),
    _article(
        "lan1983", "Lan and DeMets (1983)", "Lan, K. K. Gordon and DeMets, David L.", 1983,
        "Discrete sequential boundaries for clinical trials", "Biometrika|70|3|659–663", "10.1093/biomet/70.3.659",
    ),
    _article(
        "jennison1989", "Jennison and Turnbull (1989)", "Jennison, Christopher and Turnbull, Bruce W.", 1989,
        "Interim analyses: The repeated confidence interval approach",
        "Journal of the Royal Statistical Society: Series B|51|3|305–361", "10.1111/j.2517-6161.1989.tb01433.x",
    ),
    _article(
        "waudbysmith2024", "Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024)",
        "Waudby-Smith, Ian and Arbour, David and Sinha, Ritwik and Kennedy, Edward H. and Ramdas, Aaditya", 2024,
        "Time-uniform central limit theory and asymptotic confidence sequences",
        "The Annals of Statistics|52|6|2613–2640", "10.1214/24-AOS2408",
    ),
    _article(
        "howard2021", "Howard, Ramdas, McAuliffe and Sekhon (2021)",
        "Howard, Steven R. and Ramdas, Aaditya and McAuliffe, Jon and Sekhon, Jasjeet", 2021,
        "Time-uniform, nonparametric, nonasymptotic confidence sequences",
        "The Annals of Statistics|49|2|1055–1080", "10.1214/20-AOS1991",
    ),
    _article(
        "benjamini1995", "Benjamini and Hochberg (1995)", "Benjamini, Yoav and Hochberg, Yosef", 1995,
        "Controlling the false discovery rate: A practical and powerful approach to multiple testing",
        "Journal of the Royal Statistical Society: Series B|57|1|289–300", "10.1111/j.2517-6161.1995.tb02031.x",
    ),
    _article(
        "wang2022", "Wang and Ramdas (2022)", "Wang, Ruodu and Ramdas, Aaditya", 2022,
        "False discovery rate control with e-values",
        "Journal of the Royal Statistical Society: Series B|84|3|822–852", "10.1111/rssb.12489",
    ),
    _article(
        "mogstad2024", "Mogstad, Romano, Shaikh and Wilhelm (2024)",
        "Mogstad, Magne and Romano, Joseph P. and Shaikh, Azeem M. and Wilhelm, Daniel", 2024,
        "Inference for ranks with applications to mobility across neighbourhoods and academic achievement across "
        "countries",
        "The Review of Economic Studies|91|1|476–518", "10.1093/restud/rdad006",
    ),
    _other(
        "broderick2020", "Broderick, Giordano and Meager (2020)", "misc",
        "Broderick, Tamara and Giordano, Ryan and Meager, Rachael", year="2020",
        title="An automatic finite-sample robustness metric: Can dropping a little data change conclusions?",
        archiveprefix="arXiv", eprint="2011.14999",
    ),
)  # fmt: skip


# Citing


SOURCES: Mapping[str, BibliographyEntry] = {source.key: source for source in REFERENCES}


def find_source(citation: str) -> BibliographyEntry | None:
    """Return the source that an analysis cites; None if it is not listed here."""
    return next((source for source in REFERENCES if citation.startswith(source.cited)), None)


def cited_sources(material: Material, keys: Iterable[str] = ()) -> list[BibliographyEntry]:
    """Return the sources of all analyses of a study, and those with these keys, in alphabetical order."""
    notes = material.results.notes
    citations = [one["citation"] for one in (*notes["analyses"].values(), *notes.get("models", {}).values())]
    cited = {source.key for text in citations for one in text.split("; ") if (source := find_source(one)) is not None}
    return sorted((SOURCES[key] for key in {*cited, *keys}), key=lambda source: (source.short.casefold(), source.key))


def bibtex(sources: Iterable[BibliographyEntry]) -> str:
    """Return the sources as a BibTeX file."""
    return "\n".join(_entry(source) for source in sources)


def _entry(source: BibliographyEntry) -> str:
    lines = [f"  {name} = {{{_escaped(text)}}},\n" for name, text in source.fields.items()]
    return f"@{source.kind}{{{source.key},\n{''.join(lines)}}}\n"


def _escaped(text: str) -> str:
    return text.replace("&", r"\&").replace("–", "--")


def full_reference(source: BibliographyEntry) -> str:
    """Return a source as a list of references prints it."""
    fields = {name: text.replace("{", "").replace("}", "") for name, text in source.fields.items()}
    first, *others = fields["author"].split(" and ")
    who = join_names([first, *(" ".join(reversed(one.split(", "))) for one in others)])
    parts = [f"{who} ({fields['year']}). {fields['title']}."]
    if source.kind == "article":
        number = f"({fields['number']})" if "number" in fields else ""
        parts.append(f"{fields['journal']} {fields['volume']}{number}, {fields['pages']}.")
    elif source.kind == "techreport":
        parts.append(f"{fields['type']} {fields['number']}.")
        parts += [f"{fields['note']}."] if "note" in fields else []
    elif "eprint" in fields:
        parts.append(f"{fields['archiveprefix']}:{fields['eprint']}.")
    else:
        pages = f", {fields['pages']}" if "pages" in fields else ""
        parts.append(f"{fields.get('booktitle') or fields['publisher']}{pages}.")
    return " ".join([*parts, *([f"doi:{fields['doi']}"] if "doi" in fields else [])])
