"""QPM: quantization probabilistic mapping (Salamatian et al., 2015)."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_number, check_rng
from attriguard.data.scale import RatingScale
from attriguard.defenses.base import Defense
from attriguard.defenses.cells import ratings_of, users_of
from attriguard.defenses.mapping import Mapping, least_information
from attriguard.errors import ParameterError
from attriguard.mechanism.sampling import draw

# Users whose distances to all centroids are looked at together.
BLOCK = 8192


class QPM(Defense):
    """Releases the centroid of a cluster that is drawn at random, given the user's own cluster.

    The clusters come from k-means; the draw is the map of clusters to clusters with the least mutual information.
    Centroids are rounded to the rating grid. The distortion between two clusters is the number of entries in which
    their rounded centroids differ. That is a metric, so the expected L0 noise of a user is at most the noise of
    quantization alone, plus Δ.

    Parameters
    ----------
    scale
        The rating scale; it is needed.
    clusters
        How many clusters k-means makes; at most the number of training users.
    random_state
        Seeds k-means, and the draws of ``transform``.
    """

    name = "QPM"
    plain_name = "quantized mapping"
    summary = "least mutual information over 200 cluster centroids"
    needs = ("scale",)
    strength = "distortion"
    ladder = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)

    def __init__(
        self,
        *,
        scale: RatingScale | tuple[float, ...] | None = None,
        clusters: int = 200,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        super().__init__(scale=scale)
        self.clusters = clusters
        self.random_state = random_state

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        if not self.levels:
            raise ParameterError(
                "QPM rounds centroids to ratings and needs a scale: pass scale=(lowest, highest, step)"
            )
        clusters = check_number(self.clusters, name="clusters", low=1)
        if clusters != int(clusters) or clusters > X.shape[0]:
            raise ParameterError(
                f"clusters must be a whole number, at most the {X.shape[0]:,} training users who disclose the "
                f"attribute, got {self.clusters!r}"
            )
        self._progress.tell("QPM clusters the users")
        self._centroids = self._cluster(X, int(clusters))
        found, labels = np.unique(self.cluster_of(X), return_inverse=True)  # empty clusters have no use
        self._centroids = self._centroids[found]
        self.releases_ = csr_array(self.on_grid(self._centroids))
        joint = np.zeros((int(codes.max()) + 1, found.size))
        np.add.at(joint, (codes, labels), 1.0)
        self.joint_ = joint / joint.sum()
        self.distortion_ = l0_distances(self.releases_)
        self._solved: dict[float, Mapping] = {}

    def _cluster(self, X: csr_array, clusters: int) -> NDArray[np.float64]:
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning

        seed = int(check_rng(self.random_state).integers(2**31))
        with warnings.catch_warnings():
            # Fewer different users than clusters: some stay empty, and are left out.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = KMeans(clusters, n_init=1, random_state=seed).fit(X)
        return np.asarray(model.cluster_centers_, dtype=np.float64)

    def cluster_of(self, X: csr_array) -> NDArray[np.int64]:
        """The nearest centroid of every user."""
        nearest = np.empty(X.shape[0], dtype=np.int64)
        norms = (self._centroids**2).sum(axis=1)
        for start in range(0, X.shape[0], BLOCK):
            rows = X[start : start + BLOCK]
            nearest[start : start + BLOCK] = np.argmin(norms - 2 * (rows @ self._centroids.T), axis=1)
        return nearest

    def mapping(self, distortion: float) -> Mapping:
        """The solution for this bound; solved once."""
        if distortion not in self._solved:
            self._solved[distortion] = least_information(self.joint_, self.distortion_, distortion)
        return self._solved[distortion]

    def _release(
        self, X: csr_array, strength: float, chance: np.random.Generator, truth: NDArray[np.int64] | None
    ) -> csr_array:
        probabilities, clusters = self.mapping(strength).probabilities, self.cluster_of(X)
        drawn = np.empty(X.shape[0], dtype=np.int64)
        for start in range(0, X.shape[0], BLOCK):
            part = slice(start, start + BLOCK)
            drawn[part] = draw(probabilities[clusters[part]], chance)
        return self.releases_[drawn]


def l0_distances(rows: csr_array) -> NDArray[np.float64]:
    """(n, n): in how many entries two rows differ."""
    users, rated = users_of(rows), ratings_of(rows)
    distances = np.empty((rows.shape[0], rows.shape[0]))
    for one in range(rows.shape[0]):
        entries = rows[[one]].toarray()[0][rows.indices]
        # `rated[one] + rated` counts an item that both have rated twice: once too often, twice where they agree.
        twice = np.bincount(users, weights=(entries > 0) + (entries == rows.data).astype(float), minlength=rated.size)
        distances[one] = rated[one] + rated - twice
    return distances
