"""The hierarchical Pitman–Yor model (Teh 2006): its posterior over seatings, by Gibbs sampling."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Self

import numpy as np

from momus.errors import UsageError
from momus.numeric.ragged import offsets_of
from momus.numeric.types import Ints
from momus.sequences.ngram import Level, NGramModel
from momus.sequences.types import Sequences


@dataclass(frozen=True)
class PitmanYor:
    """Settings of the Gibbs sampler.

    Attributes
    ----------
    sweeps
        Sweeps over all tokens, after tokens were seated one by one.
    seed
        Seed of the sampler.
    discounts, strengths
        d_m in [0, 1) and θ_m > 0 for contexts of m = 0, 1, … symbols; empty to sample them under the priors
        Beta(1, 1) and Gamma(1, 1).
    """

    sweeps: int = 5
    seed: int = 0
    discounts: tuple[float, ...] = ()
    strengths: tuple[float, ...] = ()

    def check(self, order: int) -> None:
        """Raise `UsageError` unless the settings fit a model of this order."""
        if self.sweeps < 0:
            raise UsageError(f"sweeps is {self.sweeps}", hint="give 0 or more")
        for name, values in (("discounts", self.discounts), ("strengths", self.strengths)):
            if values and len(values) != order:
                raise UsageError(f"{name} has {len(values)} values for order {order}", hint="give one per order")
        if not all(0 <= d < 1 for d in self.discounts) or not all(s > 0 for s in self.strengths):
            raise UsageError("discounts must be in [0, 1) and strengths above 0")


@dataclass
class Restaurants:
    """Seating of one context length: a restaurant per context, a dish per seen word of a context.

    Attributes
    ----------
    contexts, words
        Code of each restaurant's context, (H,), ascending; word of each dish, (N,), ascending within a restaurant.
    restaurant, parent
        Restaurant of each dish, and the number of its word's dish in the restaurant of the context without its oldest
        symbol (at the first order: 0).
    customers, tables
        c and t of each dish.
    all_customers, all_tables
        Their sums in each restaurant.
    sizes
        Number of customers at each table of a dish that has several tables.
    """

    contexts: Ints
    words: Ints
    restaurant: list[int]
    parent: list[int]
    customers: list[int]
    tables: list[int]
    all_customers: list[int]
    all_tables: list[int]
    discount: float = 0.5
    strength: float = 1.0
    sizes: dict[int, list[int]] = field(default_factory=dict)

    def table_sizes(self) -> Ints:
        """Number of customers of every table."""
        alone = [c for i, c in enumerate(self.customers) if c and i not in self.sizes]
        return np.array([*alone, *(n for some in self.sizes.values() for n in some)], dtype=np.int64)

    def level(self) -> Level:
        """The predictive probabilities of this seating (Teh 2006): mass (c − d t) / (θ + c··)."""
        row = np.array(self.restaurant)
        total = self.strength + np.array(self.all_customers, dtype=np.float64)
        mass = (np.array(self.customers) - self.discount * np.array(self.tables)) / total[row]
        weight = (self.strength + self.discount * np.array(self.all_tables)) / total
        return Level(self.contexts, weight, offsets_of(np.bincount(row)), self.words, mass)


class PitmanYorModel(NGramModel):
    """The n-gram model of the last seating, in pure Python, about ten seconds per million tokens and sweep.

    Parameters
    ----------
    order
        Order n, at least 1.
    settings
        Those of the Gibbs sampler.
    """

    def __init__(self, order: int, settings: PitmanYor | None = None) -> None:
        super().__init__(order)
        self.settings = settings or PitmanYor()

    def fit(self, sequences: Sequences, symbols: int) -> Self:
        """Count n-grams and seat them at once, so that bad settings are told here."""
        super().fit(sequences, symbols)
        assert self.levels
        return self

    def _levels(self, keys: Ints, counts: Ints) -> list[Level]:
        return Seating(keys, counts, self.order, self.base, self.size, self.settings).fit().levels()


class Seating:
    """Customers of all context lengths: each token sits in the restaurant of its longest context.

    A customer at a new table sends another customer to the restaurant of the context without its oldest symbol; below
    the first order is the uniform distribution over V words. Equal tokens are exchangeable, so the state is the counts
    of customers and tables, and the sizes of tables.

    Parameters
    ----------
    keys, counts
        Distinct n-grams of the highest order: context codes and words, (2, N), and how often each occurs, (N,).
    order, base, size
        n, base of the context codes, V.
    settings
        See `PitmanYor`.

    >>> keys, counts = np.array([[0, 0, 1], [0, 1, 0]]), np.array([3, 1, 2])
    >>> seating = Seating(keys, counts, 2, 10, 4, PitmanYor(sweeps=2)).fit()
    >>> seating.orders[1].all_customers
    [4, 2]
    """

    def __init__(self, keys: Ints, counts: Ints, order: int, base: int, size: int, settings: PitmanYor) -> None:
        settings.check(order)
        self.settings, self.uniform = settings, 1 / size
        self._random = Random(settings.seed)
        self._numpy = np.random.default_rng(settings.seed)
        self.orders: list[Restaurants] = []
        # dishes of the shorter contexts: distinct (context, word) after dropping the oldest symbol
        distinct = [keys[:, np.lexsort((keys[1], keys[0]))]]
        parents: list[Ints] = []
        for m in range(order - 2, -1, -1):
            shorter, parent = np.unique(
                np.stack([distinct[0][0] % base**m, distinct[0][1]]), axis=1, return_inverse=True
            )
            distinct.insert(0, shorter)
            parents.insert(0, parent.ravel())
        parents.insert(0, np.zeros(distinct[0].shape[1], dtype=np.int64))
        for m, (dishes, parent) in enumerate(zip(distinct, parents, strict=True)):
            contexts, row = np.unique(dishes[0], return_inverse=True)
            n, h = dishes.shape[1], len(contexts)
            made = Restaurants(
                contexts, dishes[1], row.ravel().tolist(), parent.tolist(), [0] * n, [0] * n, [0] * h, [0] * h
            )
            if settings.discounts:
                made.discount = settings.discounts[m]
            if settings.strengths:
                made.strength = settings.strengths[m]
            self.orders.append(made)
        # the dish of each token, (tokens,): n-grams as often as they occur
        self._tokens = np.repeat(np.arange(keys.shape[1]), counts[np.lexsort((keys[1], keys[0]))])

    def fit(self) -> Self:
        """Seat all tokens one by one in random order, then sweep."""
        self._tokens = self._numpy.permutation(self._tokens)
        top = len(self.orders) - 1
        for dish in self._tokens.tolist():
            self._add(top, dish)
        self._sample_parameters()
        for _ in range(self.settings.sweeps):
            self.sweep()
        return self

    def sweep(self) -> None:
        """Take each token out and seat it again given all others; then sample discounts and strengths."""
        top = len(self.orders) - 1
        for dish in self._tokens.tolist():
            self._remove(top, dish)
            self._add(top, dish)
        self._sample_parameters()

    def levels(self) -> list[Level]:
        """Levels of an n-gram model that predicts with the present seating."""
        return [r.level() for r in self.orders]

    def _add(self, m: int, dish: int) -> None:
        """Seat one customer: at a table ∝ its size − d, or at a new one ∝ (θ + d T) p(word | shorter context)."""
        orders, random = self.orders, self._random.random
        # the dish at each shorter context, and the probability of its word below each, from the first order up
        path = [dish]
        for k in range(m, 0, -1):
            path.append(orders[k].parent[path[-1]])
        path.reverse()
        below = [self.uniform]
        for k in range(m):
            r, i = orders[k], path[k]
            u = r.restaurant[i]
            d, s = r.discount, r.strength
            below.append(
                (r.customers[i] - d * r.tables[i] + (s + d * r.all_tables[u]) * below[k]) / (s + r.all_customers[u])
            )
        for k in range(m, -1, -1):
            r, i = orders[k], path[k]
            u, c, t = r.restaurant[i], r.customers[i], r.tables[i]
            d = r.discount
            old = c - d * t
            new = (r.strength + d * r.all_tables[u]) * below[k]
            r.customers[i] = c + 1
            r.all_customers[u] += 1
            at = random() * (old + new)
            if c and at < old:
                if t > 1:
                    sizes = r.sizes[i]
                    sizes[_chosen(sizes, at, d)] += 1
                return
            r.tables[i] = t + 1
            r.all_tables[u] += 1
            if t == 1:
                r.sizes[i] = [c, 1]
            elif t > 1:
                r.sizes[i].append(1)

    def _remove(self, m: int, dish: int) -> None:
        """Take one customer of a dish out, each with the same probability; an empty table takes out its own."""
        i = dish
        for k in range(m, -1, -1):
            r = self.orders[k]
            u, c, t = r.restaurant[i], r.customers[i], r.tables[i]
            r.customers[i] = c - 1
            r.all_customers[u] -= 1
            if t > 1:
                sizes = r.sizes[i]
                j = _chosen(sizes, self._random.random() * c, 0.0)
                sizes[j] -= 1
                if sizes[j]:
                    return
                del sizes[j]
                if t == 2:
                    del r.sizes[i]
            elif c > 1:
                return
            r.tables[i] = t - 1
            r.all_tables[u] -= 1
            i = r.parent[i]

    def _sample_parameters(self) -> None:
        """Sample d and θ of each context length by auxiliary variables (Teh 2006, technical report)."""
        for r in self.orders:
            if not self.settings.discounts or not self.settings.strengths:
                d, s = self._drawn(r)
                r.discount = r.discount if self.settings.discounts else d
                r.strength = r.strength if self.settings.strengths else s

    def _drawn(self, r: Restaurants) -> tuple[float, float]:
        """One draw of d and θ given a seating.

        x_u ~ Beta(θ + 1, c_u − 1) and y_ui ~ Bernoulli(θ / (θ + d i)), i < t_u, for restaurants of two tables or more;
        z_j ~ Bernoulli((j − 1) / (j − d)), j < n, for tables of n customers. Equal i, and equal j, share a probability,
        so their sums are binomial.
        """
        rng, d, s = self._numpy, r.discount, r.strength
        customers, tables = np.array(r.all_customers), np.array(r.all_tables)
        several = tables > 1
        log_x = np.log(np.maximum(rng.beta(s + 1, customers[several] - 1), np.finfo(float).tiny)).sum()
        n_i = _exceeding(tables[several])  # restaurants with more than i tables, i = 1, …
        ones = rng.binomial(n_i, s / (s + d * np.arange(1, len(n_i) + 1))).sum()
        n_j = _exceeding(r.table_sizes())  # tables of more than j customers, j = 1, …
        j = np.arange(1, len(n_j) + 1)
        zeros = n_j.sum() - rng.binomial(n_j, (j - 1) / (j - d)).sum()
        discount = rng.beta(1 + n_i.sum() - ones, 1 + zeros)
        strength = rng.gamma(1 + ones) / (1 - log_x)
        return float(min(discount, 1 - 1e-9)), float(max(strength, 1e-9))


def _chosen(sizes: list[int], at: float, less: float) -> int:
    """The table at this place of the line on which table j has the length ``sizes[j] − less``.

    >>> _chosen([2, 3], 1.4, 0.5), _chosen([2, 3], 1.6, 0.5)
    (0, 1)
    """
    for j, n in enumerate(sizes):
        at -= n - less
        if at < 0:
            return j
    return len(sizes) - 1  # only by rounding


def _exceeding(numbers: Ints) -> Ints:
    """Count the numbers above 1, above 2, and so on.

    >>> _exceeding(np.array([1, 2, 4, 4])).tolist()
    [3, 2, 2]
    """
    if not len(numbers):
        return np.zeros(0, dtype=np.int64)
    counts = np.bincount(numbers)
    return np.asarray(len(numbers) - np.cumsum(counts)[1:-1], dtype=np.int64)
