"""From two tables of scores to verdicts: tests of every statistic of a critic, and of its unscored documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from momus.critic import Counted, Critic, Rows, RunningTextCritic, Statistic
from momus.critic.powers import headline_of
from momus.critic.rows import aligned
from momus.critic.scores import LATENT_NLL, Scores
from momus.errors import UsageError
from momus.inference import Method, TestResult, compare_rows, design_of
from momus.inference import Rows as TestRows
from momus.inference.design import Design
from momus.inference.matching import ABOVE, MOST, in_blocks, of_units
from momus.inference.pvalues import Prepared, both_values
from momus.inference.relabelling import FIRST, NOISE, STAGES
from momus.inference.samples import Tables, total
from momus.verdicts.band import HumanBands, with_bands
from momus.verdicts.running_text import judge_laws
from momus.verdicts.settings import Settings, with_options
from momus.verdicts.statistics import UNSCORED, all_statistics, explained, scarce, tested_statistics, wordings
from momus.verdicts.table import with_leading
from momus.verdicts.verdict import Verdict


@dataclass(frozen=True)
class Economy:
    """What a test costs.

    Attributes
    ----------
    above, most
        Documents of a text above which they are put into blocks, and most blocks; see `momus.inference.matching`.
    wide, early, noise
        See `momus.inference.compare_rows`.
    """

    above: int = ABOVE
    most: int = MOST
    wide: tuple[int, int] = (1999, 199)
    early: tuple[int, ...] = STAGES
    noise: int = NOISE


USUAL = Economy()
MANY_PAIRS = Economy(above=512, most=128, wide=(1999, 64), early=(*FIRST, *STAGES), noise=1 << 19)
"""For all pairs of many texts: blocks from fewer documents on, tests without a difference stop earlier, and standard
errors of wide rows take fewer resamples."""


def judge(
    critic: Critic[Any],
    real: Scores,
    generated: Scores,
    settings: Settings | None = None,
    *,
    only_headline: bool = False,
    economy: Economy = USUAL,
    family: int = 1,
    bands: HumanBands | None = None,
    **options: Any,
) -> list[Verdict]:
    """Test every statistic of a critic between real and generated text; p-values are not adjusted yet.

    Parameters
    ----------
    settings, **options
        `Settings`, or its fields one by one: ``paired``, ``permutations``, ``resamples``, ``confidence``, ``seed``
        are read here. For ``paired`` and several documents per prompt see `momus.inference.design_of`.
    only_headline
        Test the headline statistic alone.
    economy
        What the tests cost.
    family
        Number of headline rows in the table whose p-values will be adjusted together, see `compare_rows`.
    bands
        Human bands of the real text; None uses those of the atlas.
    """
    settings = with_options(settings, options)
    if isinstance(critic, RunningTextCritic):
        _check_headline(critic, [*(law.name for law in critic.laws()), LATENT_NLL])
        # a law is of a whole text, so there is no share of unscored documents to test
        results = judge_laws(critic, real, generated, settings, family)
    else:
        results = _judge_documents(critic, real, generated, settings, only_headline, family, economy)
        missing = None if only_headline else missing_result(real, generated, settings, family)
        results += [missing] if missing is not None else []
    verdicts = verdicts_of(critic, results, real, generated, list(real.rows), settings, bands, family)
    return [v for v in verdicts if v.headline or not only_headline]


def verdicts_of(
    critic: Critic[Any],
    results: Sequence[TestResult],
    real: Scores,
    generated: Scores,
    keys: Sequence[str],
    settings: Settings,
    bands: HumanBands | None,
    family: int = 1,
) -> list[Verdict]:
    """Make verdicts of tests, with their words and their human bands.

    Parameters
    ----------
    keys
        Keys of all rows of the critic, of which the scores may lack some.
    family
        Number of axes whose p-values will be adjusted together.
    """
    alpha = 1 - settings.confidence
    # the leading row is chosen by its gap in bands, so bands come before it
    words = {UNSCORED.name: UNSCORED.wording, **wordings(critic, keys)}
    verdicts = [
        replace(Verdict.of(critic, result, real, generated, alpha=alpha), wording=words[result.statistic])
        for result in results
    ]
    verdicts = with_bands(critic, verdicts, real, generated, bands, keys, settings.register)
    return with_leading(verdicts, family)


def _judge_documents(
    critic: Critic[Any],
    real: Scores,
    generated: Scores,
    settings: Settings,
    only_headline: bool,
    family: int,
    economy: Economy,
) -> list[TestResult]:
    statistics = tested_statistics(critic, list(real.rows))
    _check_headline(critic, [s.name for s in statistics])
    if only_headline:
        statistics = [s for s in statistics if s.name == headline_of(critic)]
    if not real.n_scored or not generated.n_scored:
        return [untested(s, real, generated) for s in statistics]
    # each side once: of a text with unscored documents, every call copies the rows of the others
    rows = real.test_rows(), generated.test_rows()
    for statistic in statistics:
        if any(statistic.rows not in side for side in rows):
            raise UsageError(
                f"critic {critic.name!r}: statistic {statistic.name!r} pools rows {statistic.rows!r}, which "
                "sufficient_statistics() does not return",
                hint=f"it returns {', '.join(real.rows) or 'nothing'}",
            )
    design = design_of_scores(real, generated, settings.paired)
    names = real.corpus, generated.corpus
    few = {s.name: result for s in statistics if (result := scarce(s, rows, names)) is not None}
    kept = [s for s in statistics if s.name not in few]
    results = _tested(kept, rows, design, settings, family, economy, headline_of(critic)) if kept else []
    tested = {s.name: explained(s, r, rows, names) for s, r in zip(kept, results, strict=True)}
    return [(few | tested)[s.name] for s in statistics]


def design_of_scores(real: Scores, generated: Scores, paired: bool | None) -> Design:
    """The design of a test of all documents that both texts have scores of."""
    names = real.corpus, generated.corpus
    groups = real.scored_groups, generated.scored_groups
    return design_of(real.scored_prompts, generated.scored_prompts, paired, names, groups=groups)


def _tested(
    statistics: Sequence[Statistic],
    rows: tuple[dict[str, Rows], dict[str, Rows]],
    asked: Design,
    settings: Settings,
    family: int,
    economy: Economy,
    headline: str = "",
) -> list[TestResult]:
    """Test statistics; rows that stay on disk are first summed by the units of the test that are relabelled whole."""
    design = in_blocks(asked, settings.seed, economy.above, economy.most)
    whole = design.kind == "clusters" or design.flips
    # sums by unit fit into memory where documents do not; labels within prompts or bins go to documents,
    # whose rows must then be loaded
    keys = {s.rows for s in statistics}
    tables = {key: [side[key] for side in rows] for key in keys}
    on_disk = {k for k, sides in tables.items() if whole and any(isinstance(t, Counted) and t.on_disk for t in sides)}
    # rows of other statistics are left where they are: reading them costs as much as a test
    sides: list[dict[str, Rows]] = [
        {key: _by_unit(side[key], design, k) if key in on_disk else side[key] for key in side if key in keys}
        for k, side in enumerate(rows)
    ]
    results = compare_rows(
        statistics,
        *same_columns(sides[0], sides[1]),
        design=design,
        designs=dict.fromkeys(on_disk, of_units(design)) if on_disk else None,
        axis=True,
        headline=headline,
        permutations=settings.permutations,
        resamples=settings.resamples,
        confidence=settings.confidence,
        family=family,
        seed=settings.seed,
        wide=economy.wide,
        early=economy.early,
        noise=economy.noise,
    )
    # a test of sums counts units as its documents; readers are told of the documents behind them
    return [_of_documents(r, design) if s.rows in on_disk else r for s, r in zip(statistics, results, strict=True)]


def _by_unit(rows: Rows, design: Design, side: int) -> Counted:
    """Counts of a text, summed by the units of a design with the weights of their documents."""
    assert isinstance(rows, Counted)
    taken = rows if design.rows is None else rows.take(design.rows[side])
    return taken.summed(design.unit_numbers[side], design.units[side], design.weights[side])


def _of_documents(result: TestResult, design: Design) -> TestResult:
    """The result of a test on sums by unit, with the numbers of documents and the design of these."""
    method = replace(
        result.method, design=design.asked.kind, grouped=design.asked.groups is not None, block=design.block
    )
    return replace(
        result,
        n_real=design.n_real,
        n_generated=design.n_generated,
        left_out_real=design.left_out[0],
        left_out_generated=design.left_out[1],
        method=method,
    )


def _check_headline(critic: Critic[Any], names: Sequence[str]) -> None:
    if headline_of(critic) not in names:
        raise UsageError(
            f"critic {critic.name!r}: its headline {headline_of(critic)!r} is none of its statistics",
            hint=f"set `headline` to one of {', '.join(names)}",
        )


def differences(critic: Critic[Any], real: Scores, generated: Scores) -> dict[str, float]:
    """Generated − real of each statistic of documents (of a distance, itself), without a test."""
    if isinstance(critic, RunningTextCritic) or not real.n_scored or not generated.n_scored:
        return {}
    rows = same_columns(real.test_rows(), generated.test_rows())
    values = {}
    for s in all_statistics(critic, list(real.rows)):
        tables = Tables.of(rows[0][s.rows], rows[1][s.rows])
        with np.errstate(divide="ignore", invalid="ignore"):
            left, right = both_values(s, Prepared(total(tables.real), total(tables.generated)))  # (1,) each
        values[s.name] = float(right[0]) if s.kind == "distance" else float(right[0] - left[0])
    return values


def untested(statistic: Statistic, real: Scores, generated: Scores) -> TestResult:
    """The result of a statistic where one text has no scored document."""
    side = real if not real.n_scored else generated
    reasons = ", ".join(f"{reason} ({n})" for reason, n in side.unscored.items())
    reason = f"{side.corpus!r} has no scored document; {reasons or 'it is empty'}"
    return TestResult(
        statistic.name,
        effect_kind=statistic.effect,
        n_real=real.n_scored,
        n_generated=generated.n_scored,
        method=Method(family=statistic.kind, reason=reason),
    )


def same_columns(
    real: Mapping[str, Rows], generated: Mapping[str, Rows]
) -> tuple[dict[str, TestRows], dict[str, TestRows]]:
    """Rows of both texts by key, with the same columns in each."""
    out: tuple[dict[str, TestRows], dict[str, TestRows]] = ({}, {})
    for key, mine in real.items():
        theirs = generated[key]
        if isinstance(mine, Counted) and isinstance(theirs, Counted):
            a, b = aligned([mine, theirs])  # (n, V) and (m, V)
            out[0][key], out[1][key] = a.matrix, b.matrix
        else:
            out[0][key], out[1][key] = np.asarray(mine), np.asarray(theirs)
    return out


def missing_result(
    real: Scores, generated: Scores, settings: Settings | None = None, family: int = 1
) -> TestResult | None:
    """Test whether the share of unscored documents differs, over all documents of both texts.

    Blank or broken documents have no score, so no other row shows them.

    Parameters
    ----------
    settings
        ``paired``, ``permutations``, ``confidence`` and ``seed`` are read.
    family
        Number of rows whose p-values are adjusted together.

    Returns
    -------
    Difference of the shares (generated − real) with its test; None if both texts are scored in full, or have no
    document.

    Raises
    ------
    UsageError
        The scores are of different critics, or pairs were asked for and the texts share fewer than two prompts.
    """
    if real.critic != generated.critic:
        raise UsageError(
            f"scores of {real.critic!r} and of {generated.critic!r} cannot be compared",
            hint="score both texts with one critic",
        )
    settings = settings or Settings()
    if not len(real) or not len(generated) or (real.scored.all() and generated.scored.all()):
        return None
    sides = real, generated
    # [unscored, 1] of every document: (n, 2)
    rows: list[dict[str, Rows]] = [
        {UNSCORED.rows: np.column_stack([~s.scored, np.ones(len(s))]).astype(np.float64)} for s in sides
    ]
    names, groups = (real.corpus, generated.corpus), (real.groups, generated.groups)
    design = design_of(real.prompts, generated.prompts, settings.paired, names, groups=groups)
    # no bootstrap: a share of rows [x, 1] has a jackknife error
    (result,) = _tested([UNSCORED], (rows[0], rows[1]), design, replace(settings, resamples=0), family, USUAL)
    return result
