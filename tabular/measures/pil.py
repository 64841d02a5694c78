"""PIL: how improbable the statistics of the masked numbers are, if they were another sample of the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from tabular.errors import InvalidInput
from tabular.measures.contract import Measure, Numbers, Reading, far_from_one, measures, numbers_of
from tabular.table import Table

#: The quantiles that are compared.
SHARES = np.arange(1, 20) / 20

#: A standard error or difference below this share of the statistic is rounding.
ROUNDING = 1e-12

#: One group of statistics: those of the original, those of the masked file, and the standard errors.
Group = tuple[Numbers, Numbers, Numbers]


@measures.add(
    "pil",
    cites="Mateo-Sanz, Domingo-Ferrer and Sebe (2005)",
    limits="numbers only, two records or more; a loss of 100 is reached soon in large files, where errors are small",
)
@dataclass(frozen=True, kw_only=True)
class ProbabilisticLoss(Measure):
    """Mean probability that a statistic of another sample would differ less from the original's.

    The mean of five groups: means, variances, covariances, correlations, and the quantiles from 5 to 95 %. With one
    attribute there are no covariances and correlations, and the other groups count.
    """

    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """100 P(|Z| <= |difference| / standard error), as the mean of the means of the groups."""
        before, after = numbers_of(original, masked, attributes)
        if len(before) < 2:
            raise InvalidInput("PIL needs two records or more.")
        far = far_from_one(before, after)
        before, after = np.ldexp(before, -far), np.ldexp(after, -far)
        raw = float(np.mean([np.mean(improbability(*group)) for group in groups_of(before, after)]))
        return Reading(raw=raw, percent=raw)


def groups_of(before: Numbers, after: Numbers) -> list[Group]:
    """The statistics of two files: means, variances, quantiles; of several columns covariances and correlations."""
    groups = [_means(before, after), _variances(before, after), _quantiles(before, after)]
    if before.shape[1] > 1:
        groups += [_covariances(before, after), _correlations(before, after)]
    return groups


def improbability(before: Numbers, after: Numbers, errors: Numbers) -> Numbers:
    """For each statistic 100 P(|Z| <= |difference| / error); without an error 0 if it is the same, else 100."""
    differences = np.abs(after - before)
    scale = ROUNDING * np.maximum(np.abs(before), np.abs(after))
    certain = errors <= scale
    chance = 100 * erf(differences / np.where(certain, 1.0, errors) / np.sqrt(2))
    found: Numbers = np.where(certain, np.where(differences <= scale, 0.0, 100.0), chance)
    return found


def _means(before: Numbers, after: Numbers) -> Group:
    errors = before.std(axis=0, ddof=1) / np.sqrt(len(before))
    return before.mean(axis=0), after.mean(axis=0), errors


def _variances(before: Numbers, after: Numbers) -> Group:
    centred = before - before.mean(axis=0)
    second, fourth = (centred**2).mean(axis=0), (centred**4).mean(axis=0)
    errors = np.sqrt(np.maximum(fourth - second**2, 0) / len(before))
    return before.var(axis=0, ddof=1), after.var(axis=0, ddof=1), errors


def _covariances(before: Numbers, after: Numbers) -> Group:
    centred = before - before.mean(axis=0)
    errors = []
    for one, other in combinations(centred.T, 2):
        mixed = np.mean((one * other) ** 2) - np.mean(one * other) ** 2
        errors.append(np.sqrt(max(mixed, 0) / len(before)))
    return _above_diagonal(np.cov(before.T)), _above_diagonal(np.cov(after.T)), np.array(errors)


def _correlations(before: Numbers, after: Numbers) -> Group:
    found, masked = _above_diagonal(_correlation(before)), _above_diagonal(_correlation(after))
    return found, masked, (1 - found**2) / np.sqrt(len(before))


def _correlation(numbers: Numbers) -> Numbers:
    """Correlations, 0 with a constant column; what is 1 but for rounding is 1."""
    return correlations_of(np.atleast_2d(np.cov(numbers.T)), numbers.max(axis=0) > numbers.min(axis=0))


def correlations_of(covariance: Numbers, varied: NDArray[np.bool_]) -> Numbers:
    """The correlations of columns with this *covariance*, where they are *varied*."""
    deviation = np.sqrt(np.diag(covariance))
    varied = varied & (deviation > 0)
    safe = np.where(varied, deviation, 1.0)
    found = np.where(np.outer(varied, varied), covariance / np.outer(safe, safe), 0.0)
    exact: Numbers = np.where(np.abs(found) >= 1 - ROUNDING, np.sign(found), found)
    return exact


def _quantiles(before: Numbers, after: Numbers) -> Group:
    found, masked = np.quantile(before, SHARES, axis=0), np.quantile(after, SHARES, axis=0)
    errors = np.stack(
        [_quantile_errors(column, quantiles) for column, quantiles in zip(before.T, found.T, strict=True)], axis=1
    )
    return found.ravel(), masked.ravel(), errors.ravel()


def _quantile_errors(numbers: Numbers, quantiles: Numbers) -> Numbers:
    """sqrt(q (1 - q) / n) over the density there, by a Gaussian kernel of Silverman's width."""
    count, deviation = len(numbers), numbers.std(ddof=1)
    if numbers.max() == numbers.min() or deviation == 0:
        return np.zeros(len(quantiles))
    width = deviation * (0.75 * count) ** -0.2
    values, times = np.unique(numbers, return_counts=True)
    density = np.array([np.dot(np.exp(-(((at - values) / width) ** 2) / 2), times) for at in quantiles])
    density /= count * width * np.sqrt(2 * np.pi)
    errors: Numbers = np.sqrt(SHARES * (1 - SHARES) / count) / density
    return errors


def _above_diagonal(matrix: NDArray[np.float64]) -> Numbers:
    upper: Numbers = matrix[np.triu_indices(len(matrix), k=1)]
    return upper
